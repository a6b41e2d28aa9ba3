"""The best network under the uniform prior over orders, BDeu(1): Table 1 of Chen, Choi & Darwiche 2015, and beyond.

Their figures: seconds on a 2.67 GHz Xeon X5650, scoring not counted; zoo ran out of 64 GB; larger ones were not tried.
"""

from __future__ import annotations

import time
from datetime import date
from typing import Any

from bench.measure import DATA, in_fresh_process, machine

# by data set: seconds in the paper; and how many networks are listed after the best, if any
PAPER: dict[str, tuple[str, int]] = {
    "adult": ("1.29", 0),
    "wine": ("6.82", 100),
    "nltcs": ("8.38", 0),
    "letter": ("32.2", 0),
    "voting": ("61.9", 100),
    "zoo": ("out of 64 GB", 100),
    "statlog": ("-", 0),
    "hepatitis": ("-", 0),
    "image": ("-", 0),
    "imports": ("-", 0),
    "parkinsons": ("-", 0),
}


def measure(name: str, most: int, threads: int) -> dict[str, Any]:
    import math

    import topdag as td
    from topdag import _core
    from topdag._util.run import Run, peak_memory
    from topdag.answers.results import limit_text
    from topdag.questions.order_prior import search_order_prior

    table = td.read_table(DATA / f"{name}.csv")
    begin = time.perf_counter()
    scores = td.score(table, td.BDeu(1.0), keep="all", threads=threads)
    run = Run(threads=threads, time_limit=600)
    found = search_order_prior(scores, td.OrderModular(), most=most, factor=math.inf, run=run)
    seconds = time.perf_counter() - begin
    best = found.parents[0].tolist()
    return {
        "n": len(scores.columns),
        "seconds": seconds,
        "value": float(found.values[0]),
        "last": float(found.values[-1]),
        "gap": found.bound - float(found.values[0]),
        "orders": _core.linear_extensions(best, 10**9),
        "work": found.work,
        "limit": limit_text(found.limit),
        "peak": peak_memory(),
    }


def main(threads: int = 2) -> None:
    print(f"\nOrder-modular prior, BDeu(1), {threads} threads. {date.today()}. {machine()}")
    print("Seconds with scoring; in brackets what the paper printed. A value is a score plus the log of #G.")
    for name, (paper, listed) in PAPER.items():
        if not (DATA / f"{name}.csv").exists():
            print(f"{name:11} skipped: no {name}.csv in ../shared/data")
            continue
        for most in (1, listed) if listed else (1,):
            r = in_fresh_process("bench.order_prior", name=name, most=most, threads=threads)
            work = ", ".join(f"{what} {count:,}" for what, count in r["work"].items())
            proved = "proved" if r["limit"] is None else f"gap {r['gap']:.3f}, stopped by {r['limit']}"
            answer = f"{r['value']:.6f} (#G {r['orders']:,})" if most == 1 else f"{most} best, the last {r['last']:.6f}"
            print(
                f"{name:11} n={r['n']} {r['seconds']:8.3f} s ({paper}) {answer} {proved}; {work}; "
                f"{r['peak'] / 1e6:.0f} MB",
                flush=True,
            )
