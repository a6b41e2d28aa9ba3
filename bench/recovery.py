"""Edges found again in drawn tables of known networks, cells missing completely at random, by each way with gaps."""

from __future__ import annotations

from typing import Any

from bench.measure import DATA, in_fresh_process

NETWORKS = ("child", "insurance", "alarm")
SHARES = (0.05, 0.1, 0.2)
WAYS = ("whole", "drop", "state", "nal", "nal, bic", "em", "pgmpy")
"""No gaps, complete rows, missing as a state, node averages by two penalties, structural EM, pgmpy's hill climbing."""
N_ROWS, N_TABLES, MOST_PARENTS = 1000, 1, 4


def measure(name: str, share: float, way: str, seed: int) -> dict[str, Any]:
    from time import process_time

    import topdag as td

    truth = td.io.read_bif(DATA / "networks" / f"{name}.bif")
    begin = process_time()
    found = found_by(way, truth, share, seed)
    skeleton, true = ({frozenset(edge) for edge in network.edges} for network in (found, truth.network))
    return {
        "right": len(skeleton & true),
        "wrong": len(skeleton - true),
        "true": len(true),
        "seconds": process_time() - begin,
    }


def found_by(way: str, truth: Any, share: float, seed: int) -> Any:
    import numpy as np

    import topdag as td

    whole = truth.sample(N_ROWS, seed)
    rows = np.repeat(whole.codes.astype(int), whole.weights, axis=1)
    is_gap = np.random.default_rng(seed).random(rows.shape) < share
    states = list(truth.states.values())

    def table(codes: Any, of: Any = states) -> Any:
        return td.Table.from_codes(truth.names, codes, states=of)

    with_gaps = table(np.where(is_gap, -1, rows))
    if way == "em":
        return td.structural_em(with_gaps, max_parents=MOST_PARENTS).network
    if way == "pgmpy":
        return climbed_by_pgmpy(with_gaps)
    left = rows[:, ~is_gap.any(axis=0)]
    if way == "drop" and not left.size:
        return td.Network(truth.names, {})
    made, kind = {
        "whole": lambda: (whole, td.BIC()),
        "drop": lambda: (table(left), td.BIC()),
        "state": lambda: (
            table(np.where(is_gap, [[len(own)] for own in states], rows), [[*own, "missing"] for own in states]),
            td.BIC(),
        ),
        "nal": lambda: (with_gaps, td.NAL()),
        "nal, bic": lambda: (with_gaps, td.NAL(penalty="bic")),
    }[way]()
    return td.best_network(made, kind, max_parents=MOST_PARENTS).network


def climbed_by_pgmpy(table: Any) -> Any:
    """Counts leave out the rows in which a family is not known; nothing else is done about gaps."""
    from pgmpy.estimators import BIC, HillClimbSearch

    import topdag as td

    frame = table.to_frame().map(lambda value: float("nan") if value is None else str(value))
    model = HillClimbSearch(frame).estimate(BIC(frame), max_indegree=MOST_PARENTS, show_progress=False)
    return td.Network.from_edges(table.names, model.edges())


def print_recovery() -> None:
    if not (DATA / "networks").is_dir():
        print("\nRecovery: left out, the networks to draw from are not here.")
        return
    print(f"\nEdges right and wrong, {N_ROWS:,} rows, mean of {N_TABLES} tables, at most {MOST_PARENTS} parents")
    print(f"{'network':10} {'true':>4} {'missing':>7}", *(f"{way:>16}" for way in WAYS))
    for name in NETWORKS:
        for share in SHARES:
            line, true = [], 0
            for way in WAYS:
                try:
                    runs = [
                        in_fresh_process("bench.recovery", name=name, share=share, way=way, seed=seed)
                        for seed in range(N_TABLES)
                    ]
                except Exception:  # pgmpy is not everywhere
                    line.append("-")
                    continue
                right, wrong, seconds = (
                    sum(run[key] for run in runs) / N_TABLES for key in ("right", "wrong", "seconds")
                )
                true = runs[0]["true"]
                line.append(f"{right:.1f} {wrong:.1f} {seconds:.1f}s")
            print(f"{name:10} {true:4} {share:7.0%}", *(f"{cell:>16}" for cell in line), flush=True)
