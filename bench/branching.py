"""Tables 1 to 4 of de Campos, Zeng & Ji 2009 (MDL = BIC): lists, branch and bound over cycles, TAN, random networks.

``python -m bench branching``, or ``python -m bench.branching 2 3 --seconds 20`` for some of them. In brackets the
paper's figures: seconds of 2009, ten million steps for a search, gaps in per cent of the score; in Table 4 n parallel
tasks. "branching" is their method, "topdag" what topdag does by itself.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from datetime import date
from itertools import pairwise
from typing import Any

from bench.measure import DATA, in_fresh_process, machine

STEPS = 10**7
SECONDS = 60.0
"""For one search; the paper gave none, but its longest took 907 s."""
MEMORY = 2 * 10**9
MOST_BRANCHED = 64
"""Branching on cycles takes so many variables."""
ORDERS = 1000
# data set: paper's steps, seconds, scores kept
TABLE_1 = {
    "adult15_cat": (30058, 182.09, 672),
    "car": (335, 0.09, 24),
    "letter": (534230, 2321.46, 41562),
    "lung": (43592, 1.33, 3753),
    "mushroom1868": (140694, 72.13, 8217),
    "nursery": (1905, 3.94, 49),
    "wdbc": (1692158, 351.04, 7482),
    "zoo": (9118, 0.31, 1875),
}
# data set: paper's reduced space (log2), score, gap in %, seconds: branch and bound, dynamic programming, orders
TABLE_2 = {
    "adult15_cat": (71, -286902.8, 5.5, 150.3, 0.77, 0.17),
    "car": (10, -13100.5, 0.0, 0.01, 0.01, 0.01),
    "letter": (188, -173716.2, 8.1, 574.1, 22.8, 0.75),
    "lung": (330, -1146.9, 2.5, 907.1, None, 0.13),
    "mushroom1868": (180, -12834.9, 15.3, 239.8, None, 0.12),
    "nursery": (17, -126283.2, 0.0, 0.04, 0.04, 0.04),
    "wdbc": (216, -3053.1, 13.6, 333.5, None, 0.13),
    "zoo": (111, -773.4, 0.0, 5.2, 3.5, 0.03),
}
# data set: class, paper's seconds, scores kept, space (log2)
TABLE_3 = {
    "adult15_cat": ("class", 0.26, 114, 39.0),
    "car": ("class", 0.01, 14, 6.2),
    "letter": ("lettr", 0.32, 233, 61.0),
    "lung": ("class", 0.26, 136, 51.0),
    "mushroom1868": ("class", 0.71, 398, 88.0),
    "nursery": ("class", 0.06, 26, 12.0),
    "wdbc": ("class", 361.64, 361, 99.0),
}
# variables, rows: paper's gap in %, seconds, scores kept, gains in % of seconds and scores kept; None: not in the paper
TABLE_4: dict[tuple[int, int], tuple[float, float, int, float, float] | None] = {
    (30, 100): (0.0, 0.06, 125, 67.0, 11.6),
    (30, 500): (0.0, 2.7, 143, 47.5, 26.5),
    (40, 100): None,
    (40, 500): None,
    (50, 100): (0.0, 0.26, 310, 31.4, 16.1),
    (50, 500): (0.0, 20.66, 231, 57.2, 29.8),
    (60, 100): None,
    (60, 500): None,
    (70, 100): (0.0, 4.58, 1205, 36.9, 18.8),
    (70, 500): (1.1, 356.9, 666, 38.4, 21.9),
    (100, 100): (0.5, 9.05, 2201, 47.5, 23.5),
    (100, 500): (1.4, 1370.4, 726, 50.2, 33.0),
}
RANDOM_SECONDS = 120.0
LIMITS = {(70, 500): 5, (100, 500): 4}
"""On parents, by variables and rows, where counting all sets that can pay would take minutes or more memory."""
MOST_PARENTS = 3
"""Of random networks: with at most 3n arcs, as in the paper, and tables that 500 rows say something about."""


def measure(what: str, **given: Any) -> dict[str, Any]:
    return {"scoring": scoring, "search": search, "tan": tan, "random": random_network}[what](**given)


def pruned(table: Any, **known: Any) -> Any:
    """Families worth keeping for the best network, in lists, whatever the number of variables."""
    import topdag as td

    return td.score(table, td.BIC(), keep="best", **known)


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    begin = time.perf_counter()
    found = work()
    return found, time.perf_counter() - begin


def space_of(store: Any) -> float:
    """log2 of the number of choices of one listed family for each variable."""
    offsets = store.lists.offsets
    return sum(math.log2(end - begin) for begin, end in pairwise(offsets))


def scoring(name: str) -> dict[str, Any]:
    """By rules that leave out families before they are scored, as for many variables."""
    import topdag as td
    from topdag._util.run import Run
    from topdag.scoring.pruned import score_pruned
    from topdag.scoring.task import ScoringTask, scored_columns

    table = td.read_table(DATA / f"{name}.csv")
    found, seconds = timed(lambda: score_pruned(ScoringTask(table, scored_columns(table), td.BIC()), Run()))
    n = table.n_variables
    full = math.log2(n) + n - 1
    return {"steps": found.scored, "sets": found.sets, "kept": found.kept, "seconds": seconds, "full": full}


def branched(store: Any, most: float, seconds: float) -> dict[str, Any]:
    from topdag._util.run import Run
    from topdag.search.cycles import branch_on_cycles

    run = Run(time_limit=seconds, memory_limit=MEMORY)
    found, seconds = timed(lambda: branch_on_cycles(store, run, steps=STEPS))
    score = most - found.cost
    gap = 100 * (found.cost - found.bound) / abs(score)
    steps = found.work.get("steps", 0)
    return {"score": score, "gap": gap, "seconds": seconds, "steps": steps, "proved": found.finished}


def proved(scores: Any, engine: str | None = None, most_seconds: float = 600.0) -> dict[str, Any]:
    import topdag as td

    answer, seconds = timed(lambda: td.best_network(scores, engine=engine, time_limit=most_seconds))
    status, used = answer.proof.status.name, answer.stats.engine
    found = {"score": answer.score, "gap": answer.proof.gap, "status": status, "engine": used, "seconds": seconds}
    return found | {"peak": answer.stats.peak_memory}


def search(name: str, most_seconds: float = SECONDS) -> dict[str, Any]:
    import topdag as td
    from topdag import _core

    scores = pruned(td.read_table(DATA / f"{name}.csv"))
    most = sum(scores.store.best_scores)
    (sampled, _), seconds = timed(
        lambda: _core.sample_orders(scores.store.candidates, ORDERS, 1, False, _core.Limits())
    )
    n = len(scores.columns)
    return {
        "n": n,
        "space": space_of(scores.store),
        "orders": {"score": most - sampled, "seconds": seconds},
        "branching": branched(scores.store, most, most_seconds),
        "lattice": proved(scores, "dense lattice") if n <= 22 else None,
        "search": proved(scores),
    }


def tan(name: str, class_: str, most_seconds: float = SECONDS) -> dict[str, Any]:
    import topdag as td

    table = td.read_table(DATA / f"{name}.csv")
    scores, scored = timed(lambda: pruned(table, constraints=td.rules.tan(class_)))
    tree = chow_liu_tan(table, class_)
    return {
        "kept": scores.n_families,
        "space": space_of(scores.store),
        "scored": scored,
        "branching": branched(scores.store, sum(scores.store.best_scores), most_seconds),
        "search": proved(scores),
        "chow_liu": sum(td.BIC().local(table, x, own) for x, own in tree.items()),
    }


def chow_liu_tan(table: Any, class_: str) -> dict[int, list[int]]:
    """Parents by column in the tree of most likelihood: a maximum spanning tree by mutual information given the class,
    which is a parent of every variable [Friedman, Geiger & Goldszmidt 1997]."""
    import topdag as td

    c = table.index(class_)
    others = [x for x in range(table.n_variables) if x != c and table.arities[x] > 1]

    def likelihood(x: int, parents: list[int]) -> float:
        free = (int(table.arities[x]) - 1) * math.prod(int(table.arities[p]) for p in parents)
        return td.AIC().local(table, x, sorted(parents)) + free

    gain = {(a, b): likelihood(b, [a, c]) - likelihood(b, [c]) for a in others for b in others if a < b}
    parents: dict[int, list[int]] = {x: [] for x in range(table.n_variables)}
    placed = others[:1]
    parents[placed[0]] = [c]
    while len(placed) < len(others):
        pairs = [(a, b) for a in placed for b in others if b not in placed]
        a, b = max(pairs, key=lambda pair: gain[min(pair), max(pair)])
        parents[b] = sorted([a, c])
        placed.append(b)
    return parents


def random_network(n: int, rows: int, seed: int = 1, most_seconds: float = SECONDS) -> dict[str, Any]:
    """The same with and without n/2 things that are true of the network: edges that are there, and that are not."""
    import topdag as td

    most = sum(min(place, MOST_PARENTS) for place in range(n))
    fitted = td.random_network(n, arcs=min(2 * n, most), max_parents=MOST_PARENTS, seed=seed)
    table, limit = fitted.sample(rows, seed=seed), LIMITS.get((n, rows))
    result = {}
    for way, known in (("free", None), ("known", true_constraints(fitted.network, n // 2, seed))):
        scores, scored = timed(lambda known=known: pruned(table, constraints=known, max_parents=limit))
        most = sum(scores.store.best_scores)
        own = branched(scores.store, most, most_seconds) if n <= MOST_BRANCHED else None
        best = proved(scores, most_seconds=RANDOM_SECONDS)
        result[way] = {"kept": scores.n_families, "scored": scored, "branching": own, "search": best}
    return result


def true_constraints(network: Any, count: int, seed: int) -> Any:
    import random

    import topdag as td

    draw = random.Random(seed)
    edges = [(parent, child) for child in network.names for parent in sorted(network.parents[child])]
    missing = [
        (a, b) for a in network.names for b in network.names if a != b and (a, b) not in edges and (b, a) not in edges
    ]
    required = draw.sample(edges, count // 2)
    return td.Constraints(required_edges=required, forbidden_edges=draw.sample(missing, count - count // 2))


def shown(own: dict[str, Any]) -> str:
    ended = "proved" if own["proved"] else f"gap {own['gap']:.2f} %"
    return f"{own['score']:.1f}, {ended}, {own['seconds']:.2f} s, {own['steps']:,} steps"


def branching_shown(own: dict[str, Any]) -> str:
    return "" if own["branching"] is None else f"branching {shown(own['branching'])}; "


def table_1(_: float) -> None:
    print("\nTable 1: families scored, kept, seconds; in brackets the paper's steps, scores kept and seconds")
    for name, (steps, seconds, kept) in TABLE_1.items():
        r = in_fresh_process("bench.branching", what="scoring", name=name)
        print(
            f"  {name:13} scored {r['steps']:,} ({steps:,})  kept {r['kept']:,} ({kept:,})  {r['seconds']:.2f} s "
            f"({seconds:.2f})  sets counted {r['sets']:,}  all 2^{r['full']:.1f}",
            flush=True,
        )


def table_2(seconds: float) -> None:
    print(f"\nTable 2: at most {STEPS:,} steps and {seconds:.0f} s of branching; in brackets the paper's")
    for name, (space, score, gap, took, lattice, orders) in TABLE_2.items():
        r = in_fresh_process("bench.branching", what="search", name=name, most_seconds=seconds)
        best = r["search"]["score"]
        dense, sampled = r["lattice"], r["orders"]
        behind = max(0.0, 100 * (best - sampled["score"]) / abs(best))
        by_lattice = "none" if dense is None else f"{dense['score']:.1f}, {dense['seconds']:.2f} s"
        print(
            f"  {name:13} n {r['n']} space 2^{r['space']:.0f} (2^{space})\n"
            f"    branching {shown(r['branching'])} ({score:.1f}, {gap} %, {took} s)\n"
            f"    lattice {by_lattice} ({'fail' if lattice is None else f'{lattice} s'}); {ORDERS:,} orders "
            f"{behind:.2f} % behind, {sampled['seconds']:.2f} s ({orders} s)\n"
            f"    topdag {best:.1f}, {r['search']['status']}, {r['search']['seconds']:.2f} s, {r['search']['engine']}",
            flush=True,
        )


def table_3(seconds: float) -> None:
    print("\nTable 3: the best TAN, proved; in brackets the paper's")
    for name, (class_, took, kept, space) in TABLE_3.items():
        r = in_fresh_process("bench.branching", what="tan", name=name, class_=class_, most_seconds=seconds)
        best = r["search"]
        print(
            f"  {name:13} kept {r['kept']} ({kept}) space 2^{r['space']:.1f} (2^{space:.1f}) scored in "
            f"{r['scored']:.2f} s\n    branching {shown(r['branching'])} ({took} s)\n"
            f"    topdag {best['score']:.1f}, {best['status']}, {best['seconds']:.2f} s, {best['engine']}; "
            f"Chow-Liu TAN {r['chow_liu']:.1f}, {best['score'] - r['chow_liu']:.1f} nats behind",
            flush=True,
        )


def table_4(seconds: float) -> None:
    print("\nTable 4: random networks, 2 edges a variable, two states; free, and with n/2 true constraints on edges.")
    print("The paper's, with parameter constraints too, in brackets.")
    for (n, rows), paper in TABLE_4.items():
        theirs = "" if paper is None else " ({} %, {} s, {} kept; gain {} % of time, {} % kept)".format(*paper)
        limit = f", at most {LIMITS[n, rows]} parents" if (n, rows) in LIMITS else ""
        print(f"  {n} variables, {rows} rows{limit}{theirs}", flush=True)
        r = in_fresh_process("bench.branching", what="random", n=n, rows=rows, most_seconds=seconds)
        for way in ("free", "known"):
            own, best = r[way], r[way]["search"]
            print(
                f"    {way:5} kept {own['kept']:,} scored in {own['scored']:.2f} s; "
                f"{branching_shown(own)}topdag {best['score']:.1f}, {best['status']}, "
                f"gap {100 * best['gap'] / abs(best['score']):.2f} %, {best['seconds']:.2f} s, "
                f"{best['peak'] / 1e6:,.0f} MB",
                flush=True,
            )
        print(f"    gain  {gains(r)}", flush=True)


def gains(r: dict[str, Any]) -> str:
    """By how much less constraints make of it, in per cent; times of searches that did not end say little."""

    def gain(count: Callable[[dict[str, Any]], float]) -> str:
        return f"{100 * (1 - count(r['known']) / max(count(r['free']), 1e-9)):.1f} %"

    kept, topdag = gain(lambda own: own["kept"]), gain(lambda own: own["search"]["seconds"])
    if r["free"]["branching"] is None:
        return f"{topdag} of topdag's time, {kept} kept"
    steps, branching = gain(lambda own: own["branching"]["steps"]), gain(lambda own: own["branching"]["seconds"])
    return f"{branching} of branching's time, {steps} of its steps, {topdag} of topdag's time, {kept} kept"


def main(tables: list[str] | None = None, seconds: float = SECONDS) -> None:
    print(f"\nBIC, two threads. {date.today()}. {machine()}")
    for number, table in enumerate((table_1, table_2, table_3, table_4), 1):
        if not tables or str(number) in tables:
            table(seconds)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for one search by branching")
    asked = parser.parse_args()
    main(asked.tables, asked.seconds)
