"""Many networks beyond the lattice, BIC: the 1,000 best, and all within a factor; whole job from the CSV."""

from __future__ import annotations

import time
from datetime import date
from typing import Any

from bench.measure import DATA, in_fresh_process, machine

# name, question, goal in seconds, what others need (their scoring not counted)
ROWS = [
    ("hepatitis", "networks 1000", 0.3, "19 s [Chen et al. 2016]"),
    ("imports", "networks 1000", 1.4, "136 s"),
    ("parkinsons", "networks 1000", 31.5, "3,154 s"),
    ("sensors", "networks 1000", 232.0, "23,248 s"),
    ("autos", "networks 1000", 40.8, "4,076 s"),
    ("horse", "networks 1000", 59.7, "5,965 s"),
    ("flag", "networks 1000", 222.0, "22,217 s"),
    ("flag", "classes 1000", None, ""),
    ("wine", "within 20", 0.1, "eBNSL 17.8 s"),
    ("voting", "within 20", 0.1, "eBNSL 2.0 s"),
    ("flag", "within 20", 20.0, ""),
]
REPEATS = 2


def measure(name: str, question: str, threads: int) -> dict[str, Any]:
    import topdag as td

    what, amount = question.split()
    asks = {"networks": td.k_best_networks, "classes": td.k_best_classes, "within": td.networks_within}
    assert all([td.read_table, td.score])  # opens their rooms: importing is not counted
    begin = time.perf_counter()
    table = td.read_table(DATA / f"{name}.csv")
    scores = td.score(table, td.BIC(), threads=threads)
    found = asks[what](scores, int(amount), threads=threads)
    return {
        "n": len(scores.columns),
        "families": found.source.n_families,
        "found": len(found),
        "last": float(found.scores[-1] - found.scores[0]),
        "status": found.proof.status.name,
        "seconds": time.perf_counter() - begin,
        "engine": found.stats.engine,
        "work": dict(found.stats.work),
        "peak": found.stats.peak_memory,
    }


def main(threads: int = 2) -> None:
    print(f"Many networks, BIC, {threads} threads, whole job, better of {REPEATS}. {date.today()}. {machine()}")
    print(
        f"{'data':11} {'n':>3} {'question':14} {'families':>9} {'found':>9} {'last':>9} {'seconds':>8} {'goal':>6}",
        end=" ",
    )
    print(f"{'expanded a find':>15} {'peak MB':>8}  engine; others")
    for name, question, goal, others in ROWS:
        if not (DATA / f"{name}.csv").exists():
            print(f"{name:11} skipped: no {name}.csv in ../shared/data")
            continue
        runs = [in_fresh_process("bench.many", name=name, question=question, threads=threads) for _ in range(REPEATS)]
        r = min(runs, key=lambda run: run["seconds"])
        ratio = f"{r['work']['expanded'] / max(1, r['work']['found']):.1f}"
        print(
            f"{name:11} {r['n']:3} {question:14} {r['families']:9,} {r['found']:9,} {r['last']:9.4f} "
            f"{r['seconds']:8.2f} {'' if goal is None else goal:>6} {ratio:>15} {r['peak'] / 1e6:8.0f}  "
            f"{r['engine']}; {others}",
            flush=True,
        )
