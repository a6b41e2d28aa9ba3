"""Listed families as costs on a grid, and the bound that multipliers of cuts give, right to the last bit."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from topdag import _core
from topdag._util.arrays import Floats, Integers, Marks, Masks
from topdag._util.bitsets import set_array
from topdag.search.stores import ListStore, common_step

SEED = 1
"""Orders that searches begin with are drawn alike every time."""
Cluster: TypeAlias = tuple[int, int]
"""Members, as a mask, and k: at least k of them have fewer than k parents among the members."""
LONG_LIST = 50_000
"""So many families are a long list: a linear program takes minutes, and coefficients of its cuts gigabytes."""
HEADROOM = 16.0  # multipliers may add up to so many times what the worst families cost


@dataclass(frozen=True)
class Families:
    """Listed families as costs, by variable, in the order of the list they come from."""

    n: int
    offsets: Integers
    parents: Masks
    costs: Floats
    exponent: int  # costs are multiples of 2**-exponent, and so are multipliers
    core: _core.ClusterFamilies

    @classmethod
    def of_store(cls, store: ListStore) -> Families:
        offsets, costs = np.ascontiguousarray(store.lists.offsets), costs_of(store)
        largest = HEADROOM * (np.maximum.reduceat(costs, offsets[:-1]).sum() + 1.0)
        exponent = max(-exponent_of(common_step(costs)), _core.EXACT_BITS - exponent_of(largest))
        return cls.build(offsets, store.parents, costs, exponent)

    @classmethod
    def build(cls, offsets: Integers, parents: Masks, costs: Floats, exponent: int) -> Families:
        core = _core.ClusterFamilies(offsets, parents)
        return cls(len(offsets) - 1, offsets, parents, costs, exponent, core)

    @property
    def size(self) -> int:
        return len(self.costs)

    @property
    def is_long(self) -> bool:
        return self.size >= LONG_LIST

    def cuts(self) -> _core.Cuts:
        """None yet."""
        return _core.Cuts(self.core, not self.is_long)

    @cached_property
    def owners(self) -> Integers:
        return np.repeat(np.arange(self.n), np.diff(self.offsets))

    @property
    def spans(self) -> list[tuple[int, int]]:
        """Of each variable where its families begin and end."""
        return list(pairwise(self.offsets.tolist()))

    def places(self, masks: Sequence[int]) -> Marks:
        """Marks the families of a network."""
        same = self.parents == set_array(masks, self.n)[self.owners]
        marks: Marks = same if same.ndim == 1 else same.all(axis=1)
        return marks

    def first(self, most: int) -> Marks:
        """The first families of each variable, so many at most."""
        return np.arange(self.size) - np.repeat(self.offsets[:-1], np.diff(self.offsets)) < most

    def only(self, kept: Marks) -> Families:
        """Just these families; their costs stay what they are."""
        counts = np.concatenate([[0], np.cumsum(kept)])[self.offsets]
        return Families.build(counts, self.parents[kept], self.costs[kept], self.exponent)

    def bound(self, allowed: Marks, cuts: _core.Cuts, multipliers: Floats) -> tuple[float, Floats]:
        """What networks of allowed families cost at least, and those with each family; exact, so always valid."""
        on_grid = self.on_grid(multipliers, cuts.limits())
        bound, excess = cuts.bound(self.costs, allowed.view(np.uint8), on_grid)
        return bound, bound + excess

    def on_grid(self, multipliers: Floats, limits: Floats | Integers) -> Floats:
        """Multipliers of cuts with these limits, rounded to the grid, none negative; all zero should their sums not be
        exact."""
        rounded = np.ldexp(np.rint(np.ldexp(np.maximum(multipliers, 0.0), self.exponent)), -self.exponent)
        fits = float(rounded @ limits) < math.ldexp(1.0, _core.EXACT_BITS - self.exponent)
        return rounded if fits else np.zeros_like(rounded)


def cluster_arrays(clusters: Collection[Cluster], n: int) -> tuple[Masks, Integers]:
    """Members and k of each, as the core takes them."""
    return set_array([members for members, _ in clusters], n), np.array([k for _, k in clusters], dtype=np.int64)


def exponent_of(size: float) -> int:
    """The least e with 2**e >= size."""
    return math.ceil(math.log2(size))


def costs_of(store: ListStore) -> Floats:
    costs: Floats = np.repeat(store.best_scores, np.diff(store.lists.offsets)) - store.rounded
    return costs


def candidates_of(store: ListStore) -> _core.Candidates:
    """The families that orders use."""
    return _core.undominated(store.candidates)


def network_near(candidates: _core.Candidates, families: Families, weights: Floats) -> tuple[float, list[int]]:
    """Cost and parents of the local optimum from an order that fits these weights."""
    return _core.climb_from_weights(candidates, families.core, weights)
