"""Averages over the k best classes and networks: Table 1 and Figure 1 of Chen & Tian 2014, BDeu(1).

A row is everything after scoring: the lattice, the list, class sizes and all edge posteriors. The exact evidence and
edge posteriors it is compared with are sums over all networks, and are not counted.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from datetime import date
from typing import TYPE_CHECKING, Any

from bench.measure import DATA, in_fresh_process, machine

if TYPE_CHECKING:
    from topdag import Table
    from topdag.types import ClassList, NetworkList, Scores

GOAL = 1.0
# Data, numbers of classes, and by number what the paper prints: networks covered, coverage, last factor, and seconds
# for lists after scoring (T_pn + T_e); None where its table does not say which column a number belongs to.
Printed = tuple[int, float, float, float | None]
ROWS: list[tuple[str, dict[int, Printed]]] = [
    (
        "asia500",
        {
            1: (3, 0.011, 1, 0.009),
            10: (43, 0.064, 4.5, 0.07),
            100: (467, 0.225, 17.2, 0.69),
            1000: (4694, 0.525, 129, None),
            10_000: (44_864, 0.805, 1602, 531.8),
        },
    ),
    (
        "tic_tac_toe",
        {
            1: (7, 0.059, 1, 0.04),
            10: (67, 0.563, 1, 0.44),
            100: (673, 0.759, 1005, None),
            1000: (7604, 0.759, 5.1e7, None),
        },
    ),
    ("Syn-1", {1: (4, 1.69e-5, 1, 1.22), 10: (114, 3.34e-4, 1.9, 26.3), 100: (1084, 1.65e-3, 4.4, 497.1)}),
    ("Syn-2", {1: (13, 1.65e-3, 1, 1.0), 10: (185, 0.0129, 2.5, 27.1), 100: (1808, 0.0483, 10.3, 514.3)}),
    ("voting", {1: (3, 0.0125, 1, 6.3), 10: (30, 0.0871, 2.4, None), 100: (318, 0.302, 10.8, 2689.0)}),
]
SYNTHETIC_ROWS = {"Syn-1": 100, "Syn-2": 200}
FIGURE = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]


def table_of(name: str) -> Table:
    """The table of this name; the synthetic ones are samples of our own, of a random network of 15 variables."""
    import topdag as td

    if name in SYNTHETIC_ROWS:
        return td.random_network(15, max_parents=4, seed=2014).sample(SYNTHETIC_ROWS[name], seed=2014)
    return td.read_table(DATA / f"{name}.csv")


def measure(name: str, ks: list[int], threads: int) -> dict[str, Any]:
    import topdag as td
    from topdag._util.run import peak_memory

    table = table_of(name)
    scores = td.score(table, td.BDeu(1.0), threads=threads)
    warm = td.k_best_classes(scores, 1, threads=threads)  # opens all rooms: importing is not counted
    td.features.edge_matrix(warm)
    rows = [row_of(scores, k, threads) for k in ks]
    peak = peak_memory()
    figure = [(k, time_ratio(scores, k, threads)) for k in FIGURE if k <= max(ks)]
    begin = time.perf_counter()
    edges = td.edge_posteriors(scores, threads=threads)
    evidence, exact = edges.log_evidence, edges.matrix
    seconds = time.perf_counter() - begin
    for row in rows:
        for make in ("classes", "networks"):
            found, by_list = row[make].pop("list"), row[make].pop("edges")
            errors = abs(by_list - exact)
            row[make]["coverage"] = td.features.coverage(found, evidence)
            row[make]["largest error"] = float(errors.max())
            row[make]["mean error"] = float(errors.sum() / (len(exact) * (len(exact) - 1)))
    sizes = {"n": table.n_variables, "rows": table.n_rows, "peak": peak}
    return {**sizes, "evidence": evidence, "sums": seconds, "table": rows, "figure": figure}


def row_of(scores: Scores, k: int, threads: int) -> dict[str, Any]:
    import topdag as td

    row: dict[str, Any] = {"k": k}
    asks: dict[str, Callable[..., ClassList | NetworkList]] = {
        "classes": td.k_best_classes,
        "networks": td.k_best_networks,
    }
    for make, ask in asks.items():
        begin = time.perf_counter()
        found = ask(scores, k, threads=threads)
        listed = time.perf_counter() - begin
        edges = td.features.edge_matrix(found)
        row[make] = {
            "list": found,
            "edges": edges,
            "seconds": time.perf_counter() - begin,
            "listing": listed,
            "covered": getattr(found, "n_networks", len(found)),
            "last factor": float(found.factors[-1]),
        }
    return row


def time_ratio(scores: Scores, k: int, threads: int) -> float:
    """How many times longer it takes to list the members of the k best classes as networks than to list the classes."""
    import topdag as td

    covered = td.k_best_classes(scores, k, threads=threads).n_networks
    classes = least_seconds(lambda: td.k_best_classes(scores, k, threads=threads))
    return least_seconds(lambda: td.k_best_networks(scores, covered, threads=threads)) / classes


def least_seconds(ask: Callable[[], object], runs: int = 5) -> float:
    """These are milliseconds: the least of a few runs says most."""
    times = []
    for _ in range(runs):
        begin = time.perf_counter()
        ask()
        times.append(time.perf_counter() - begin)
    return min(times)


def tied_classes(name: str, threads: int) -> dict[str, Any]:
    """The classes that share the best score: how many, what they agree on, and how sure the edges are."""
    import numpy as np

    import topdag as td

    scores = td.score(table_of(name), td.BDeu(1.0), threads=threads)
    tied = td.classes_within(scores, 1.0, threads=threads)
    edges = td.edge_posteriors(scores, threads=threads)
    evidence, exact = edges.log_evidence, edges.matrix
    ten = td.summary(td.k_best_classes(scores, 10, threads=threads))
    every = td.summary(tied)
    return {
        "tied": len(tied),
        "networks": tied.n_networks,
        "coverage": td.features.coverage(tied, evidence),
        "in all of ten": [len(ten.common) + len(ten.common_undirected), len(ten.turning), len(ten.varying)],
        "in all tied": [len(every.common) + len(every.common_undirected), len(every.turning), len(every.varying)],
        "agreed": [*map(list, every.common + every.common_undirected), *(list(link.pair) for link in every.turning)],
        "most probable edges": sorted(exact.ravel().round(4).tolist(), reverse=True)[:5],
        "pairs joined with probability above 0.9, 0.5, 0.1": [
            int((np.triu(exact + exact.T) > least).sum()) for least in (0.9, 0.5, 0.1)
        ],
    }


def shown_row(name: str, result: dict[str, Any], row: dict[str, Any], paper: Printed) -> str:
    classes, networks = row["classes"], row["networks"]
    theirs = "" if paper[3] is None else f"{paper[3]:.3g} s"
    mark = "" if classes["seconds"] <= GOAL else " over the goal"
    return (
        f"{name:11} {result['n']:2} {result['rows']:4} {row['k']:6} {classes['seconds']:8.3f} {classes['covered']:7,} "
        f"{classes['coverage']:9.3g} {classes['last factor']:9.3g} {classes['largest error']:7.4f} "
        f"{classes['mean error']:8.5f} | {networks['seconds']:8.3f} {networks['coverage']:9.3g} "
        f"{networks['last factor']:9.3g} {networks['largest error']:7.4f} {networks['mean error']:8.5f} | "
        f"{paper[0]:6,} {paper[1]:8.3g} {paper[2]:8.3g} {theirs}{mark}"
    )


def main(threads: int = 2) -> None:
    print(
        f"\nChen & Tian 2014, Table 1, BDeu(1), {threads} threads, seconds after scoring. {date.today()}. {machine()}"
    )
    print(f"{'':26} {'k best classes':54} | {'k best networks':45} | the paper's classes")
    measured = f"{'seconds':>8} {'covered':>7} {'coverage':>9} {'last':>9} {'worst':>7} {'mean':>8}"
    print(f"{'data':11} {'n':>2} {'rows':>4} {'k':>6} {measured} |", end=" ")
    print(f"{'seconds':>8} {'coverage':>9} {'last':>9} {'worst':>7} {'mean':>8} | covered coverage     last")
    figures = {}
    for name, paper in ROWS:
        if name not in SYNTHETIC_ROWS and not (DATA / f"{name}.csv").exists():
            print(f"{name:11} skipped: no {name}.csv in ../shared/data")
            continue
        result = in_fresh_process("bench.class_averaging", name=name, ks=list(paper), threads=threads)
        for row in result["table"]:
            print(shown_row(name, result, row, paper[row["k"]]), flush=True)
        print(
            f"{name:11} evidence {result['evidence']:.6f} (sums {result['sums']:.1f} s), "
            f"peak {result['peak'] / 1e6:.0f} MB"
        )
        figures[name] = result["figure"]
    print("\nFigure 1: seconds to list as networks what k classes cover, over seconds to list the k classes")
    print(f"{'log2 k':11}" + "".join(f"{int(math.log2(k)):7}" for k in FIGURE))
    for name, points in figures.items():
        print(f"{name:11}" + "".join(f"{ratio:7.2f}" for _, ratio in points), flush=True)
    if (DATA / "tic_tac_toe.csv").exists():
        print("\nThe best classes of tic_tac_toe")
        for what, value in tied_classes("tic_tac_toe", threads).items():
            print(f"  {what}: {value}")
