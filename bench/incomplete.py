"""Tables with missing cells: scoring by the node-average likelihood and the best network, in seconds and memory; how
many edges of known networks are found by each way with gaps."""

from __future__ import annotations

import math
from datetime import date
from typing import Any

from bench.measure import DATA, in_fresh_process, machine
from bench.recovery import print_recovery

CASES = (
    ("random 20", "nal", None, "all"),
    ("random 20", "bic penalty", None, "all"),
    ("random 20", "penalty 0.01", None, "all"),
    ("alarm", "nal", 4, None),
    ("alarm", "nal", None, None),
    ("alarm", "bic penalty", 4, None),
)
"""Table, score, most parents, what is kept."""
SHARE = 0.1
"""Of the cells of each column, missing completely at random."""
SEED = 3


def table_of(name: str) -> Any:
    import numpy as np

    import topdag as td

    if name == "alarm":
        whole = td.read_table(DATA / "alarm1000.csv")
    else:
        whole = td.random_network(20, seed=SEED).sample(1000, seed=1)
    rows = np.repeat(whole.codes.astype(int), whole.weights, axis=1)
    gone = np.random.default_rng(SEED).random(rows.shape) < SHARE
    return td.Table.from_codes(whole.names, np.where(gone, -1, rows), states=whole.states)


def measure(name: str, kind: str, max_parents: int | None, keep: str | None) -> dict[str, Any]:
    from time import perf_counter, process_time

    import topdag as td

    kinds = {"nal": td.NAL(), "bic penalty": td.NAL(penalty="bic"), "penalty 0.01": td.NAL(penalty=0.01)}
    table = table_of(name)
    wall, processor = perf_counter(), process_time()
    scores = td.score(table, kinds[kind], max_parents=max_parents, keep=keep)
    scoring, scoring_processor = perf_counter() - wall, process_time() - processor
    answer = td.best_network(scores)
    n = len(scores.columns)
    n_sets = n * sum(math.comb(n - 1, size) for size in range(n if max_parents is None else max_parents + 1))
    return {
        "sets": n_sets,
        "kept": scores.n_families,
        "scoring": scoring,
        "scoring processor": scoring_processor,
        "all": perf_counter() - wall,
        "proved": answer.proved,
        "peak": answer.stats.peak_memory,
    }


def main() -> None:
    print(f"\nNode-average likelihood, 1,000 rows, {SHARE:.0%} of every column missing. {date.today()}. {machine()}")
    print(
        f"{'table':10} {'score':13} {'parents':>7} {'keep':>5} {'families':>11} {'kept':>10} {'scoring s':>9}", end=" "
    )
    print(f"{'processor s':>11} {'with best s':>11} {'peak MB':>8}")
    for name, kind, max_parents, keep in CASES:
        r = in_fresh_process("bench.incomplete", name=name, kind=kind, max_parents=max_parents, keep=keep)
        print(
            f"{name:10} {kind:13} {max_parents or 'any':>7} {keep or 'best':>5} {r['sets']:11,} {r['kept']:10,} "
            f"{r['scoring']:9.2f} {r['scoring processor']:11.2f} {r['all']:11.2f} {r['peak'] / 1e6:8.0f}"
            f"{'' if r['proved'] else '  not proved'}",
            flush=True,
        )
    print_recovery()
