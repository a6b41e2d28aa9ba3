"""The edges that families have, and the cheapest families with and without each.

By lists of edges, not by tables over all pairs of variables for each family: those of 100,000 families of 1,000
variables would take 800 MB for every sum.
"""

from __future__ import annotations

import numpy as np

from topdag._util.arrays import Floats, Integers, Marks
from topdag._util.bitsets import member_pairs
from topdag.search.costs import Families


class Edges:
    """Every edge that some family has, by ``children``, then by ``parents``."""

    def __init__(self, families: Families) -> None:
        self.families = families
        own, parents = member_pairs(families.parents, families.n)
        keys = families.owners[own] * families.n + parents
        order = np.argsort(keys, kind="stable")
        self.keys, self._starts = np.unique(keys[order], return_index=True)
        self.children, self.parents = np.divmod(self.keys, families.n)
        self._having = own[order]  # the families that have the first edge, then those that have the second, ...
        self._edge_of = np.repeat(np.arange(len(self.keys)), np.diff([*self._starts, len(own)]))

    def __len__(self) -> int:
        return len(self.keys)

    def weights(self, weights: Floats) -> Floats:
        """Of each edge the weight of the families that have it, added up."""
        found: Floats = np.add.reduceat(weights[self._having], self._starts) if len(self) else np.zeros(0)
        return found

    def cheapest_with(self, costs: Floats) -> Floats:
        """Of each edge what the cheapest family costs that has it."""
        found: Floats = np.minimum.reduceat(costs[self._having], self._starts) if len(self) else np.zeros(0)
        return found

    def cheapest_without(self, costs: Floats) -> Floats:
        """Of each edge what the cheapest family of its child costs that does not have it; infinite: there is none.

        With the families of a child by growing cost, that is the first which is missing among those that have it.
        """
        offsets, owners = self.families.offsets, self.families.owners
        order = np.lexsort((costs, owners))
        ranks = np.empty(len(order), dtype=np.int64)
        ranks[order] = np.arange(len(order)) - offsets[owners]
        by_edge = self._edge_of * len(order) + ranks[self._having]
        by_edge.sort()
        is_next = by_edge - self._edge_of * len(order) == np.arange(len(by_edge)) - self._starts[self._edge_of]
        first_missing = offsets[self.children] + np.bincount(self._edge_of[is_next], minlength=len(self))
        return np.append(costs[order], np.inf)[
            np.where(first_missing < offsets[self.children + 1], first_missing, len(order))
        ]

    def places(self, keys: Integers) -> tuple[Integers, Marks]:
        """Of edges, as child times number of variables plus parent: their places, and which of them there are."""
        places = np.minimum(np.searchsorted(self.keys, keys), max(0, len(self) - 1))
        return places, self.keys[places] == keys if len(self) else np.zeros(keys.shape, dtype=np.bool_)
