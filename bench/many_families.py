"""Scoring wide tables of which many families stay, or many sets are counted: processor seconds and memory.

BIC. Two published networks sampled with 5,000 rows, two real tables that are dense, and lists of all families with at
most three parents. ``python -m bench many_families``.
"""

from __future__ import annotations

import resource
import time
from datetime import date
from typing import Any

from bench.measure import DATA, in_fresh_process, machine

# table, rows to sample if it is a network, limit on parents, what is kept
CASES: list[tuple[str, int | None, int | None, str]] = [
    ("plants_valid.csv.gz", None, 2, "best"),
    ("plants_valid.csv.gz", None, 3, "best"),
    ("alarm1000.csv", None, 3, "all"),
    ("hailfinder500.csv", None, 3, "all"),
    ("networks/insurance.bif", 5000, None, "best"),
    ("networks/hailfinder.bif", 2000, None, "best"),
    ("networks/hailfinder.bif", 5000, None, "best"),
]


def measure(name: str, rows: int | None, max_parents: int | None, keep: str) -> dict[str, Any]:
    import topdag as td

    source = DATA / name if rows is None else td.io.read_fitted(DATA / name).sample(rows, seed=1)
    begin = time.process_time()
    scores = td.score(source, "bic", max_parents=max_parents, keep=keep)
    return {
        "seconds": time.process_time() - begin,
        "sets": scores.report.sets,
        "families": scores.n_families,
        "by_layers": scores.report.by_layers,
        "peak": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
    }


def main() -> None:
    print(f"\nScoring where many families stay, BIC, processor seconds of two threads. {date.today()}. {machine()}")
    for name, rows, limit, keep in CASES:
        r = in_fresh_process("bench.many_families", name=name, rows=rows, max_parents=limit, keep=keep)
        sampled = "" if rows is None else f"{rows:,} rows"
        print(
            f"  {name:24s} {sampled:11s} at most {limit or 'any'} parents, keep {keep:4s}: "
            f"{r['sets']:>11,} sets, {r['families']:>8,} families, {r['seconds']:6.1f} s, {r['peak'] / 1e6:5,.0f} MB, "
            f"{'layers' if r['by_layers'] else 'walk'}",
            flush=True,
        )


if __name__ == "__main__":
    main()
