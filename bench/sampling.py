"""Exact samples from the posterior: the tables once, then a million networks; whole job from the CSV, BDeu(1)."""

from __future__ import annotations

import time
from datetime import date
from typing import Any

from bench.measure import DATA, in_fresh_process, machine

# data, prior, samples, goal in seconds
ROWS = [
    ("wine", "uniform", 1_000_000, None),
    ("voting", "uniform", 1_000_000, 60.0),
    ("zoo", "uniform", 1_000_000, None),
    ("hepatitis", "uniform", 10_000, None),
    ("voting", "order-modular", 1_000_000, None),
    ("hepatitis", "order-modular", 1_000_000, None),
]


def measure(name: str, prior: str, samples: int, threads: int) -> dict[str, Any]:
    import topdag as td
    from topdag._util.run import peak_memory

    assert all([td.read_table, td.score, td.sample_networks])  # opens their rooms: importing is not counted
    begin = time.perf_counter()
    scores = td.score(td.read_table(DATA / f"{name}.csv"), td.BDeu(1.0), threads=threads)
    drawn = td.sample_networks(
        scores, samples, prior=td.OrderModular() if prior == "order-modular" else None, threads=threads
    )
    seconds = time.perf_counter() - begin
    peak = peak_memory()
    return {
        "n": len(scores.columns),
        "seconds": seconds,
        "tables": drawn.stats.phases["tables"],
        "drawing": drawn.stats.phases["drawing"],
        "work": dict(drawn.stats.work),
        "distinct": drawn.n_distinct,
        "error": drawn.error,
        "peak": peak,
    }


def main(threads: int = 2) -> None:
    print(f"\nExact samples, BDeu(1), {threads} threads, whole job from the CSV. {date.today()}. {machine()}")
    print(f"{'data':10} {'n':>3} {'prior':14} {'samples':>9} {'seconds':>8} {'goal':>6} {'tables':>8}", end=" ")
    print(f"{'drawing':>8} {'placed sets':>11} {'layer tables':>12} {'redone':>7} {'different':>9}", end=" ")
    print(f"{'rounding':>8} {'peak MB':>8}")
    for name, prior, samples, goal in ROWS:
        if not (DATA / f"{name}.csv").exists():
            print(f"{name:10} skipped: no {name}.csv in ../shared/data")
            continue
        r = in_fresh_process("bench.sampling", name=name, prior=prior, samples=samples, threads=threads)
        work = r["work"]
        print(
            f"{name:10} {r['n']:3} {prior:14} {samples:9,} {r['seconds']:8.2f} {'' if goal is None else goal:>6} "
            f"{r['tables']:8.2f} {r['drawing']:8.2f} {work['placed sets']:11,} {work['layer tables']:12,} "
            f"{work['in higher precision']:7,} {r['distinct']:9,} {r['error']:8.0e} {r['peak'] / 1e6:8.0f}",
            flush=True,
        )
