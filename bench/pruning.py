"""Bounds on the number of parents for BIC, by rule, and the families they and the exact rule leave for the k best.

Beside them Table 1 of Chen, Choi & Darwiche 2016: their bound p, by Algorithm 2 as printed. ``python -m bench.pruning``.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Iterator
from datetime import date
from typing import Any

from bench.measure import DATA, in_fresh_process, machine

KS = (10, 100, 1000)
# p in the paper for k = 10, 100, 1,000
PAPER: dict[str, tuple[int, ...]] = {
    "wine": (),
    "voting": (),
    "zoo": (),
    "hepatitis": (6, 6, 7),
    "imports": (6, 6, 7),
    "parkinsons": (6, 6, 8),
    "sensors": (10, 10, 10),
    "autos": (6, 6, 8),
    "horse": (7, 7, 8),
    "flag": (6, 6, 7),
}
LARGEST_LATTICE = 23  # variables up to which families are pruned exactly here


def best_lists(table: Any, most: int) -> Any:
    """What best networks can need, for tables of any number of variables: all sets up to a size, scored one by one."""
    from topdag import _core
    from topdag.family_lists import FamilyLists
    from topdag.score_kinds import BIC, coded

    view, formula = coded(table), BIC().joint(table.n_rows)
    n = table.n_variables
    sets = {
        members: _core.score_set(view, formula, list(members))
        for size in range(most + 2)
        for members in itertools.combinations(range(n), size)
    }
    return FamilyLists.build(table.names, _undominated(sets, n, most))


def _undominated(sets: dict[tuple[int, ...], float], n: int, most: int) -> Iterator[tuple[int, tuple[int, ...], float]]:
    for x in range(n):
        best: dict[tuple[int, ...], float] = {}  # over the set and its subsets
        others = [v for v in range(n) if v != x]
        for size in range(most + 1):
            for parents in itertools.combinations(others, size):
                own = sets[tuple(sorted((*parents, x)))] - sets[parents]
                below = max((best[parents[:i] + parents[i + 1 :]] for i in range(size)), default=-math.inf)
                best[parents] = max(own, below)
                if own > below:
                    yield x, parents, own


def measure(name: str, threads: int) -> dict[str, Any]:
    import topdag as td
    from topdag import mdl_pruning as rules
    from topdag.parent_bounds import Facts, best_family_sizes, bound_before_scoring, parent_bounds
    from topdag.scores import KBest

    table = td.read_table(DATA / f"{name}.csv")
    n, n_rows, arities = table.n_variables, table.n_rows, table.arities.tolist()
    facts = [Facts.of(table, x) for x in range(n)]
    result: dict[str, Any] = {"n": n, "rows": n_rows, "best": [b.limit for b in map(_for_best, facts)], "k": {}}
    sizes = None
    for k in KS:
        begin = time.perf_counter()
        algorithm_2 = [rules.algorithm_2(n_rows, [a], lambda z, available: 0, 0, k) for a in arities]  # Y empty
        if math.inf in algorithm_2:
            sizes = sizes or best_family_sizes(best_lists(table, max(result["best"])))
            algorithm_2 = [rules.algorithm_2(n_rows, arities, sizes, x, k) for x in range(n)]
        bounds = [bound_before_scoring(fact, KBest(k)).limit for fact in facts]
        limits = [int(min(pair)) for pair in zip(bounds, algorithm_2, strict=True)]
        result["k"][k] = {
            "theorem 6": min(n - 1, int(rules.theorem_6(n_rows, k))),
            "algorithm 2": int(min(n - 1, max(algorithm_2))),
            "cost": max(rules.cost_bound(n_rows, f.entropy, f.arity, f.others, k=k) for f in facts),
            "p": max(limits),
            "left": sum(math.comb(n - 1, size) for limit in limits for size in range(limit + 1)),
            "seconds": time.perf_counter() - begin,
        }
        if n <= LARGEST_LATTICE:
            assert [b.limit for b in parent_bounds(table, td.BIC(), KBest(k)).values()] == limits
            begin = time.perf_counter()
            result["k"][k]["exact"] = td.score(table, td.BIC(), keep=KBest(k), threads=threads).n_families
            result["k"][k]["exact seconds"] = time.perf_counter() - begin
    if n <= LARGEST_LATTICE:
        result["undominated"] = td.score(table, td.BIC(), keep="best", threads=threads).n_families
        result["factor 20"] = td.score(table, td.BIC(), keep=td.Within(20), threads=threads).n_families
    return result


def _for_best(fact: Any) -> Any:
    from topdag.parent_bounds import bound_before_scoring

    return bound_before_scoring(fact, "best")


def main(threads: int = 2) -> None:
    print(f"\nPruning for BIC, {threads} threads. {date.today()}. {machine()}")
    print("p: the most parents any variable needs, by rule; left: families with no more parents than the least bounds;")
    print("exact: families that occur in networks scoring as much as the k-th best class (keep=KBest(k)).")
    columns = ("data", "n", "rows", "k", "theorem 6", "algorithm 2", "cost", "p", "paper", "all families", "left")
    print("{:11} {:>3} {:>5} {:>5} {:>9} {:>11} {:>5} {:>3} {:>5} {:>13} {:>12}".format(*columns), end=" ")
    print(f"{'s':>6} {'exact':>6} {'s':>6}")
    for name, paper in PAPER.items():
        if not (DATA / f"{name}.csv").exists():
            print(f"{name:11} skipped: no {name}.csv in ../shared/data")
            continue
        r = in_fresh_process("bench.pruning", name=name, threads=threads)
        for place, (k, row) in enumerate(r["k"].items()):
            print(
                f"{name:11} {r['n']:3} {r['rows']:5} {int(k):5} {row['theorem 6']:9} {row['algorithm 2']:11} "
                f"{row['cost']:5} {row['p']:3} {paper[place] if paper else '':>5} {r['n'] << r['n'] - 1:13,} "
                f"{row['left']:12,} {row['seconds']:6.2f} {row.get('exact', ''):>6} {row.get('exact seconds', 0.0):6.2f}",
                flush=True,
            )
        best = f"{name:11} best network: {max(r['best'])} parents"
        others = f", {r['undominated']:,} undominated families, {r['factor 20']:,} within factor 20"
        print(best + (others if "undominated" in r else ""), flush=True)


if __name__ == "__main__":
    main()
