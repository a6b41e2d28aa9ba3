"""The k best equivalence classes by Algorithm 1 of [Chen & Tian 2014]: k lists for every set of variables.

Slow and independent of topdag: for up to ten variables and small k. ``local(x, parent mask)`` must be score equivalent
and its sums exact, so that equal scores are equal numbers.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable

from reference import equivalence_key, members, only

Local = Callable[[int, int], float]
Network = tuple[int, ...]  # parent masks; variables outside the set at hand have none
Scored = tuple[float, Network]


def k_best_classes(local: Local, n: int, k: int) -> list[Scored]:
    """One network of each of the k best classes, best first; fewer when there are not so many."""
    best_parents = [k_best_parent_sets(local, n, x, k) for x in range(n)]
    best: dict[int, list[Scored]] = {0: [(0.0, (0,) * n)]}
    for placed in range(1, 2**n):  # lines 7-13
        found: dict[object, Scored] = {}
        for sink in members(placed):
            before = placed & ~only(sink)
            for score, network in k_best_with_sink(best[before], best_parents[sink][before], sink, k):
                found.setdefault(equivalence_key(network), (score, network))
        best[placed] = sorted(found.values(), key=lambda entry: -entry[0])[:k]
    return best[2**n - 1]


def k_best_parent_sets(local: Local, n: int, x: int, k: int) -> dict[int, list[tuple[float, int]]]:
    """For every set of candidates the k best parent sets inside it (lines 4-6): itself, or one of a smaller set."""
    best: dict[int, list[tuple[float, int]]] = {}
    for candidates in range(2**n):
        if candidates & only(x):
            continue
        found = {(local(x, candidates), candidates)}
        for left_out in members(candidates):
            found.update(best[candidates & ~only(left_out)])
        best[candidates] = sorted(found, reverse=True)[:k]
    return best


def k_best_with_sink(networks: list[Scored], parent_sets: list[tuple[float, int]], sink: int, k: int) -> list[Scored]:
    """The k best ways to add the sink (line 10): best first from (0, 0) to (i + 1, j) and (i, j + 1)."""

    def entry(i: int, j: int) -> tuple[float, int, int]:
        return -(networks[i][0] + parent_sets[j][0]), i, j

    queue, seen, found = [entry(0, 0)], {(0, 0)}, []
    while queue and len(found) < k:
        cost, i, j = heapq.heappop(queue)
        masks = list(networks[i][1])
        masks[sink] = parent_sets[j][1]
        found.append((-cost, tuple(masks)))
        for child in ((i + 1, j), (i, j + 1)):
            if child[0] < len(networks) and child[1] < len(parent_sets) and child not in seen:
                seen.add(child)
                heapq.heappush(queue, entry(*child))
    return found
