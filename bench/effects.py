"""Effects of all pairs: sums, adjustment and draws, as variables grow and rows are few."""

from __future__ import annotations

from datetime import date
from typing import Any

from bench.measure import in_fresh_process, machine

TABLES = ((8, 500), (12, 1000), (15, 100), (17, 500), (20, 200))
SEED = 3


def measure(n: int, n_rows: int, draws: int) -> dict[str, Any]:
    from time import process_time

    import topdag as td

    table = td.random_network(n, seed=SEED).sample(n_rows, seed=1)
    begin = process_time()
    found = td.causal_effects(table, draws=draws)
    return {
        "processor": process_time() - begin,
        "summing": found.stats.phases["summing"],
        "effects": found.stats.phases["effects"],
        "sets": found.stats.work["parent sets"],
        "peak": found.stats.peak_memory,
    }


def main() -> None:
    print(f"\nEffects of all pairs, BDeu, share 0.9999, 1,000 draws. {date.today()}. {machine()}")
    print(f"{'n':>3} {'rows':>6} {'parent sets':>11} {'summing s':>9} {'effects s':>9}", end=" ")
    print(f"{'processor s':>11} {'peak MB':>8}")
    for n, n_rows in TABLES:
        r = in_fresh_process("bench.effects", n=n, n_rows=n_rows, draws=1000)
        print(
            f"{n:3} {n_rows:6} {r['sets']:11,} {r['summing']:9.2f} {r['effects']:9.2f} {r['processor']:11.2f} "
            f"{r['peak'] / 1e6:8.0f}",
            flush=True,
        )
