"""Bounds on the number of parents for BIC, by rule, and the families they and the exact rule leave for the k best.

Beside them p in Table 1 of Chen, Choi & Darwiche 2016, by Algorithm 2 as printed. ``python -m bench.pruning``.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterator
from datetime import date
from functools import cache
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
    from topdag.scoring.kinds.discrete import BIC, coded
    from topdag.search.family_lists import FamilyLists

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
    from topdag.scoring.keep import KBest
    from topdag.scoring.parent_bounds import VariableFacts, best_family_sizes, bound_before_scoring

    table = td.read_table(DATA / f"{name}.csv")
    facts = [VariableFacts.of(table, x) for x in range(table.n_variables)]
    most = max(bound_before_scoring(fact, "best").limit for fact in facts)
    sizes = cache(lambda: best_family_sizes(best_lists(table, most)))
    result: dict[str, Any] = {"n": table.n_variables, "rows": table.n_rows, "best": most, "kept": {}}
    result["k"] = {k: bounds_for(facts, k, sizes) for k in KS}
    if table.n_variables <= LARGEST_LATTICE:
        for keep in ("best", td.Within(20), *map(KBest, KS)):
            begin = time.perf_counter()
            n_families = td.score(table, td.BIC(), keep=keep, threads=threads).n_families
            result["kept"][str(keep)] = n_families, time.perf_counter() - begin
    return result


def bounds_for(facts: list[Any], k: int, sizes: Callable[[], Any]) -> dict[str, Any]:
    """By rule the largest bound of any variable; how many families the least bound of each variable leaves."""
    from topdag.scoring import mdl_theorems as rules
    from topdag.scoring.keep import KBest
    from topdag.scoring.parent_bounds import bound_before_scoring

    begin = time.perf_counter()
    n, n_rows, arities = len(facts), facts[0].n_rows, [fact.arity for fact in facts]
    alone = [rules.corollary_8(n_rows, arity, ()) for arity in arities]
    needs_scores = any(k > 2**d - 1 for d in alone if d < math.inf)
    by_orders = [rules.algorithm_2(n_rows, arities, sizes() if needs_scores else no_parents, x, k) for x in range(n)]
    limits = [int(min(bound_before_scoring(f, KBest(k)).limit, b)) for f, b in zip(facts, by_orders, strict=True)]
    return {
        "theorem 6": min(n - 1, int(rules.theorem_6(n_rows, k))),
        "algorithm 2": int(min(n - 1, max(d for d, f in zip(by_orders, facts, strict=True) if f.takes_part))),
        "cost": max(rules.cost_bound(n_rows, f.entropy, f.arity, f.others, k=k) for f in facts if f.takes_part),
        "p": max(limits),
        "left": sum(math.comb(n - 1, size) for limit in limits for size in range(limit + 1)),
        "seconds": time.perf_counter() - begin,
    }


def no_parents(z: int, available: int) -> int:
    return 0


def main(threads: int = 2) -> None:
    print(f"\nPruning for BIC, {threads} threads. {date.today()}. {machine()}")
    print("p: the most parents any variable needs, by rule; left: families with no more parents than the least bounds;")
    print("occur: families of networks that score as much as the k-th best class (keep=KBest(k)).")
    columns = ("data", "n", "rows", "k", "theorem 6", "algorithm 2", "cost", "p", "paper", "all families", "left")
    print("{:11} {:>3} {:>5} {:>5} {:>9} {:>11} {:>5} {:>3} {:>5} {:>13} {:>12}".format(*columns), end=" ")
    print(f"{'s':>6} {'occur':>6} {'s':>6}")
    for name, paper in PAPER.items():
        if not (DATA / f"{name}.csv").exists():
            print(f"{name:11} skipped: no {name}.csv in ../shared/data")
            continue
        show(name, in_fresh_process("bench.pruning", name=name, threads=threads), paper)


def show(name: str, r: dict[str, Any], paper: tuple[int, ...]) -> None:
    for place, (k, row) in enumerate(r["k"].items()):
        occur = "{:6,} {:6.2f}".format(*r["kept"][f"KBest(k={k})"]) if r["kept"] else ""
        print(
            f"{name:11} {r['n']:3} {r['rows']:5} {int(k):5} {row['theorem 6']:9} {row['algorithm 2']:11} "
            f"{row['cost']:5} {row['p']:3} {paper[place] if paper else '':>5} {r['n'] << r['n'] - 1:13,} "
            f"{row['left']:12,} {row['seconds']:6.2f} {occur}"
        )
    kept = ", ".join(f"{r['kept'][keep][0]:,} families for {keep}" for keep in r["kept"] if "KBest" not in keep)
    print(f"{name:11} for one best network {r['best']} parents are enough{'; kept: ' * bool(kept)}{kept}", flush=True)


if __name__ == "__main__":
    main()
