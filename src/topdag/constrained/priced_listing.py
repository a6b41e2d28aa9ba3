"""Networks of some families that satisfy cuts, among the cheapest of all once the cuts are paid for.

A cut says that coefficients of a network's families add up to at least a limit. Its multiplier takes so much for each
off the families' costs, and adds it again for the limit: networks that satisfy it then cost no more than they do, so
those up to a threshold are among all networks up to it at these prices. These are listed from a sparse lattice.
Clusters, which all networks satisfy, stay what bounds the sets of the lattice.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from topdag import _core
from topdag._util.arrays import Floats, Marks, Masks
from topdag._util.run import Run
from topdag.search.costs import Cuts, Families
from topdag.search.order_search import cluster_bound


@dataclass(frozen=True)
class Cheapest:
    """Networks, a row of parents and a cost for each; no other one that satisfies the cuts costs less than ``left``."""

    parents: Masks
    costs: Floats
    left: float


@dataclass(frozen=True)
class Priced:
    """Families at their prices: networks that satisfy the cuts cost at least ``fixed`` and what their families cost.

    ``clusters`` (mask, k) have these ``multipliers``; they are not in the prices.
    """

    families: Families
    prices: Floats
    fixed: float
    clusters: tuple[tuple[int, int], ...]
    multipliers: Floats

    @classmethod
    def by(cls, families: Families, allowed: Marks, cuts: Cuts, multipliers: Floats) -> Priced:
        """The allowed families, by multipliers that are on the grid."""
        plain = {c: cuts[c][0][0] for c in np.flatnonzero(multipliers).tolist() if _is_cluster(cuts, c)}
        own = multipliers[list(plain)]
        paid = multipliers.copy()
        paid[list(plain)] = 0.0
        marks = np.concatenate([allowed, np.zeros(families.n, dtype=np.bool_)]).view(np.uint8)
        of_cut, of_family, coefficients = cuts.entries(0, marks)
        taken = np.bincount(of_family, paid[of_cut] * coefficients, minlength=families.size)
        prices = (families.costs - taken)[allowed]
        return cls(families.only(allowed), prices, float(paid @ cuts.limits()), tuple(plain.values()), own)

    def networks(self, threshold: float, most_sets: int, most: int, run: Run) -> Cheapest | None:
        """Those up to the threshold at these prices, so many at most; None when orders of them pass more than so many
        sets, or the time is up."""
        own = self.families
        least = float(np.minimum.reduceat(self.prices, own.offsets[:-1]).sum())
        reach = threshold - self.fixed - least
        candidates = _core.Candidates(own.n, own.offsets, own.parents, -self.prices)
        bound = cluster_bound(candidates, self.clusters, self.multipliers)
        complete, sets, costs = _core.sets_within(candidates, bound, reach, most_sets, run.limits)
        if not complete:
            return None
        if not len(sets) or int(sets[-1]) != (1 << own.n) - 1:
            return self._told(np.zeros((0, own.n), dtype=np.uint64), math.inf)
        lattice = _core.build_sparse_lattice(candidates, sets, costs, reach, run.limits)
        if lattice is None:
            return None
        found = _core.list_best(lattice, _core.Listed.NETWORKS, most, -least - reach, run.limits)
        if not found.finished:
            return None
        scores = found.scores
        return self._told(found.parents, math.inf if len(scores) < most else self.fixed - float(scores[-1]))

    def _told(self, parents: Masks, left: float) -> Cheapest:
        """With what the families cost where nothing is paid."""
        own, costs = self.families, np.zeros(len(parents))
        for x, (begin, end) in enumerate(own.spans):
            order = begin + np.argsort(own.parents[begin:end])
            costs += own.costs[order[np.searchsorted(own.parents[order], parents[:, x])]]
        return Cheapest(parents, costs, left)


def _is_cluster(cuts: Cuts, c: int) -> bool:
    clusters, once_more = cuts[c]
    return len(clusters) == 1 and not once_more
