"""Parameter constraints: what they cost beside the same question without them, on real tables and random networks.

The random networks follow Table 4 of de Campos, Zeng & Ji 2009: at most 3n arcs, about n/2 constraints that are true of
the network the rows are drawn from (there structural ones too; here only bounds and orderings of probabilities). Their
figures: seconds and families kept without constraints, and the share of each that constraints saved.
"""

from __future__ import annotations

import random
import time
from datetime import date
from typing import Any

from bench.measure import DATA, in_fresh_process, machine

# name: influences as columns (parent, child, sign)
REAL: dict[str, list[tuple[int, int, str]]] = {
    "adult15": [(3, 4, "+")],
    "nltcs": [(0, 2, "+"), (1, 2, "-")],
    "child20": [(0, 2, "+"), (1, 2, "-")],
    "insurance20": [(0, 2, "+"), (1, 2, "-")],
    "insurance1000": [(0, 2, "+"), (1, 2, "-")],
    "alarm1000": [(3, 4, "+")],
}
# variables, rows: seconds, families kept, seconds saved and families saved in the paper
PAPER = {
    (30, 100): (0.06, 125, "67%", "11.6%"),
    (30, 500): (2.7, 143, "47.5%", "26.5%"),
    (50, 100): (0.26, 310, "31.4%", "16.1%"),
    (50, 500): (20.66, 231, "57.2%", "29.8%"),
    (70, 100): (4.58, 1205, "36.9%", "18.8%"),
    (100, 100): (9.05, 2201, "47.5%", "23.5%"),
}
SECONDS = 120.0


def measure(name: str, constrained: bool, threads: int, rows: int = 0, seed: int = 1) -> dict[str, Any]:
    import topdag as td

    table, known = _random(int(name), rows, seed) if rows else _real(name)
    kind = td.probabilities.Constrained(td.BIC(), known) if constrained else td.BIC()
    begin = time.perf_counter()
    scores = td.score(table, kind, threads=threads)
    scored = time.perf_counter()
    answer = td.best_network(scores, threads=threads, time_limit=SECONDS)
    return {
        "scoring": scored - begin,
        "search": time.perf_counter() - scored,
        "families": scores.n_families,
        "score": answer.score,
        "gap": answer.proof.gap,
        "status": answer.proof.status.name,
        "constraints": len(known),
        "peak": answer.stats.peak_memory,
    }


def _real(name: str) -> tuple[Any, list[Any]]:
    import topdag as td

    table = td.read_table(DATA / f"{name}.csv")
    return table, [td.probabilities.influence(table.names[a], table.names[x], sign) for a, x, sign in REAL[name]]


def _random(n: int, rows: int, seed: int) -> tuple[Any, list[Any]]:
    """A table, and for about n/4 children with parents a true bound and a true ordering of two probabilities."""
    import topdag as td

    truth = td.random_network(n, arcs=2 * n, max_parents=3, seed=seed)
    network, draw = truth.network, random.Random(seed)
    children = [name for name in network.names if network.parents[name]]
    known = []
    for child in draw.sample(children, min(len(children), n // 4)):
        parents, table = network.parents[child], truth.tables[child]
        first, second = draw.sample(range(2 ** len(parents)), 2)
        cells = [tuple(place >> i & 1 for i in range(len(parents))) for place in (first, second)]
        low, high = sorted(cells, key=lambda cell: float(table[(*cell, 1)]))
        p, q = (_probability(child, parents, cell) for cell in (low, high))
        known += [p <= q, p <= min(0.99, float(table[(*low, 1)]) + 0.05)]
    return truth.sample(rows, seed), known


def _probability(child: str, parents: tuple[str, ...], cell: tuple[int, ...]) -> Any:
    import topdag as td

    return td.probabilities.probability(
        child, "s1", {name: f"s{code}" for name, code in zip(parents, cell, strict=True)}
    )


def main(threads: int = 2) -> None:
    print(f"\nBest networks under parameter constraints, BIC, {threads} threads. {date.today()}. {machine()}")
    print("Without and with them: seconds to score and to search, families kept, score, gap, peak memory.")
    for name in REAL:
        if not (DATA / f"{name}.csv").exists():
            print(f"{name} skipped: no {name}.csv in ../shared/data")
            continue
        _report(name, threads)
    for (n, rows), paper in PAPER.items():
        seconds, families, *saved = paper
        print(f"  paper: {seconds} s, {families} families; constraints saved {saved[0]} and {saved[1]}")
        _report(str(n), threads, rows=rows)


def _report(name: str, threads: int, **more: int) -> None:
    rows = f", {more['rows']} rows" if more else ""
    for constrained in (False, True):
        found = in_fresh_process(
            "bench.parameter_constraints", name=name, constrained=constrained, threads=threads, **more
        )
        said = f"{found['constraints']} constraints" if constrained else "none"
        print(
            f"{name + rows:16} {said:15} scoring {found['scoring']:6.2f} s  search {found['search']:6.2f} s  "
            f"{found['families']:7,} families  {found['score']:.3f}  {found['status']} gap {found['gap']:g}  "
            f"{found['peak'] / 1e6:.0f} MB",
            flush=True,
        )


if __name__ == "__main__":
    main()
