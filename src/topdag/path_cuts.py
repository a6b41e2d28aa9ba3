"""Paths in weighted families: the set that a path leaves with least weight, and walks that are nearly there."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from topdag.closure import bits
from topdag.family_program import Families
from topdag.stores import Floats

TINY = 1e-9
LEAST_STEP = 1e-6  # so that no walk goes round in circles


@dataclass(frozen=True)
class Support:
    """The families that have weight: child, parents, weight."""

    n: int
    children: list[int]
    parents: list[int]
    weights: list[float]

    @classmethod
    def of(cls, families: Families, weights: Floats) -> Support:
        used = np.flatnonzero(weights > TINY)
        owners, parents = families.owners[used].tolist(), families.parents[used].tolist()
        return cls(families.n, owners, parents, weights[used].tolist())


def least_way_out(support: Support, begin: int, end: int, between: int, enough: float) -> int | None:
    """A set of ``between`` with ``begin`` and without ``end`` of which the families of other members with a parent in
    it weigh less than ``enough``, as little as can be; None when there is none."""
    flow = _Flow(support, begin, end, between)
    total = 0.0
    while total < enough:
        pushed = flow.push()
        if pushed == 0.0:
            return flow.reached
        total += pushed
    return None


class _Flow:
    """From ``begin`` to ``end``: from parents to families without limit, from families to their children by weight.
    Places are variables, then families."""

    def __init__(self, support: Support, begin: int, end: int, between: int) -> None:
        self.n, self.begin, self.end = support.n, begin, end
        self.reached = 0
        self._left: list[dict[int, float]] = [{} for _ in range(support.n + len(support.children))]
        for i, (child, parents, weight) in enumerate(
            zip(support.children, support.parents, support.weights, strict=True)
        ):
            if between >> child & 1 and child != begin and parents & between:
                place = support.n + i
                self._left[place][child] = weight
                self._left[child][place] = 0.0
                for parent in bits(parents & between & ~(1 << end)):
                    self._left[parent][place] = np.inf
                    self._left[place][parent] = 0.0

    def push(self) -> float:
        """Along a shortest way; 0 when there is none, and then ``reached`` has what is."""
        came_from = {self.begin: self.begin}
        waiting = deque([self.begin])
        while waiting and self.end not in came_from:
            at = waiting.popleft()
            for to, left in self._left[at].items():
                if left > TINY and to not in came_from:
                    came_from[to] = at
                    waiting.append(to)
        if self.end not in came_from:
            self.reached = sum(1 << place for place in came_from if place < self.n)
            return 0.0
        way, at = [], self.end
        while at != self.begin:
            way.append((came_from[at], at))
            at = came_from[at]
        pushed = min(self._left[a][b] for a, b in way)
        for a, b in way:
            self._left[a][b] -= pushed
            self._left[b][a] += pushed
        return float(pushed)


@dataclass(frozen=True)
class Walks:
    """Shortest walks between all variables."""

    lengths: Floats
    nexts: NDArray[np.int64]

    def between(self, begin: int, end: int, less_than: float) -> list[int] | None:
        """None when it is no shorter than that."""
        if not self.lengths[begin, end] < less_than:
            return None
        walk = [begin]
        while walk[-1] != end:
            walk.append(int(self.nexts[walk[-1], end]))
        return walk


def shortest_walks(lengths: Floats) -> Walks:
    """By lengths >= 0 of single steps."""
    n = len(lengths)
    best, nexts = np.maximum(lengths, LEAST_STEP), np.tile(np.arange(n), (n, 1))
    np.fill_diagonal(best, 0.0)
    for middle in range(n):
        through = best[:, middle, np.newaxis] + best[middle]
        shorter = through < best - TINY
        best[shorter] = through[shorter]
        nexts = np.where(shorter, nexts[:, middle, np.newaxis], nexts)
    return Walks(best, nexts)


def cheapest_way(lengths: Floats, begin: int, end: int) -> Sequence[int] | None:
    """The shortest walk by these lengths; None when it has a step without end."""
    return shortest_walks(lengths).between(begin, end, np.inf)
