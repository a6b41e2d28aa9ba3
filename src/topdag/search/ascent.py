"""Multipliers of clusters by ascent: a bound of long lists, near which their linear program then begins.

With the cheapest family of each variable replaced by a soft minimum at some temperature the bound is smooth, and the
core climbs it cluster by cluster; the temperature falls round by round. Most families are never near the cheapest: only
those that have been are looked at, and what the others cost is computed again after every few sweeps. As with the
linear program, bounds come from multipliers on a grid, exactly, and hold whatever made these.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from topdag._util.arrays import Floats, Integers, Marks, Masks
from topdag._util.bitsets import is_empty
from topdag._util.run import Run
from topdag.search.costs import Cluster, Families, cluster_arrays

FIRST_TEMPERATURE = 0.05  # times what the best network costs for each variable
LAST_TEMPERATURE = 0.002
COOLING = 0.92  # each round
PASSES = 6  # of a round: sweeps, then what all families cost
SWEEPS = 3
FIRST_LOOKED = 50  # families of each variable
NEAR = 5.0  # temperatures above the cheapest: there a family comes to be looked at
LEAST_SHARE = 1e-3  # of a variable's weight: families with less are left out when clusters are looked for


class Ascent:
    """Clusters with multipliers, and weights of families that go with them. ``scale``: what the best network costs for
    each variable, above 0."""

    def __init__(self, families: Families, scale: float) -> None:
        self.families = families
        self.multipliers: dict[Cluster, float] = {}
        self.weights: Floats = families.first(1).astype(np.float64)
        self.near: Marks = np.zeros(families.size, dtype=np.bool_)  # families that may soon be the cheapest
        self._temperature, self._last = FIRST_TEMPERATURE * scale, LAST_TEMPERATURE * scale
        self._looked_at = families.first(FIRST_LOOKED) | is_empty(families.parents)

    @property
    def is_cold(self) -> bool:
        return self._temperature <= self._last

    def climb(self, allowed: Marks, run: Run) -> tuple[float, Floats]:
        """One round: the bound on networks of allowed families, and on those with each family."""
        members, ks = cluster_arrays(self.multipliers, self.families.n)
        multipliers = np.array(list(self.multipliers.values()))
        bound, excess = self._bound(allowed, members, ks, multipliers, run)
        for _ in range(PASSES):
            if run.is_over or bound == np.inf:
                break
            self.near = excess < NEAR * self._temperature
            self._looked_at |= self.near
            marks = (self._looked_at & allowed).view(np.uint8)
            climbed = self.families.core.ascend(
                members, ks, excess, marks, multipliers, self._temperature, SWEEPS, run.threads
            )
            self.weights = climbed[1]
            multipliers = self.families.on_grid(climbed[0], ks)
            bound, excess = self._bound(allowed, members, ks, multipliers, run)
        self.multipliers = dict(zip(self.multipliers, multipliers.tolist(), strict=True))
        self._temperature = max(self._last, COOLING * self._temperature)
        return bound, bound + excess

    def replace_idle(self, clusters: Iterable[Cluster]) -> int:
        """Drops clusters without a multiplier and takes these instead; how many of them are new."""
        self.multipliers = {cluster: by for cluster, by in self.multipliers.items() if by > 0}
        before = len(self.multipliers)
        for cluster in clusters:
            self.multipliers.setdefault(cluster, 0.0)
        return len(self.multipliers) - before

    def shares(self) -> Floats:
        """The weights without those that hardly count; the heaviest do, however many are alike."""
        begins, counts = self.families.offsets[:-1], np.diff(self.families.offsets)
        least = np.minimum(LEAST_SHARE, np.maximum.reduceat(self.weights, begins))
        kept = np.where(self.weights < np.repeat(least, counts), 0.0, self.weights)
        shares: Floats = kept / np.repeat(np.add.reduceat(kept, begins), counts)
        return shares

    def _bound(
        self, allowed: Marks, members: Masks, ks: Integers, multipliers: Floats, run: Run
    ) -> tuple[float, Floats]:
        costs, marks = self.families.costs, allowed.view(np.uint8)
        return self.families.core.costs_under(members, ks, costs, marks, multipliers, run.threads)
