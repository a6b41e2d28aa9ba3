"""Paths in weighted families: the set that a path leaves with least weight, and walks that are nearly there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from topdag import _core
from topdag._util.arrays import Floats, Integers, Masks
from topdag._util.bitsets import members_of
from topdag.search.costs import Families
from topdag.search.linear_program import TINY


@dataclass(frozen=True)
class Support:
    """The families that have weight: child, parents, weight."""

    n: int
    children: Integers
    parents: Masks
    weights: Floats

    @classmethod
    def of(cls, families: Families, weights: Floats) -> Support:
        used = np.flatnonzero(weights > TINY)
        return cls(families.n, families.owners[used], families.parents[used], weights[used])

    @property
    def edges(self) -> Floats:
        """By parent and child: the weight of families with the edge."""
        found = np.zeros((self.n, self.n))
        has = members_of(self.parents, self.n)
        np.add.at(found, self.children, has * self.weights[:, np.newaxis])
        return found.T.copy()

    def flow(self, begin: int, end: int, between: int, enough: float) -> tuple[float, int, list[float]]:
        """How much of a path there is through members of ``between``; if less than ``enough``, the set that is left
        with least weight; and by variable how much enters it."""
        return _core.path_flow(self.n, self.children, self.parents, self.weights, begin, end, between, enough)


def least_way_out(support: Support, begin: int, end: int, between: int, enough: float) -> int | None:
    """A set of ``between`` with ``begin`` and without ``end`` of which the families of other members with a parent in
    it weigh less than ``enough``, as little as can be; None when there is none."""
    total, reached, _ = support.flow(begin, end, between, enough)
    return reached if total < enough else None


@dataclass(frozen=True)
class Walks:
    """Shortest walks between all variables."""

    lengths: Floats
    nexts: Integers

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
    best, nexts = _core.shortest_walks(n, np.ascontiguousarray(lengths).ravel())
    return Walks(best.reshape(n, n), np.array(nexts).reshape(n, n))
