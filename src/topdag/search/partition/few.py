"""All networks of few families, one by one: what is left of a part is often so little that no program is needed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from operator import or_

import numpy as np

from topdag._util.arrays import Marks
from topdag._util.bitsets import bits, masks_in
from topdag.search.costs import Families
from topdag.search.partition.listed import Network

MOST_CHOICES = 10_000
"""Of a family for each variable; where there are more, the linear program knows which are not worth a look."""


def networks_of_few(families: Families, allowed: Marks, most: float) -> list[tuple[float, Network]] | None:
    """All that cost at most so much, the cheapest first; None when the families are not few."""
    counts = np.add.reduceat(allowed.astype(np.int64), families.offsets[:-1])
    if not counts.all():
        return []
    if np.log(counts).sum() > math.log(MOST_CHOICES):
        return None
    places = np.split(np.flatnonzero(allowed), np.cumsum(counts)[:-1])
    return sorted(_networks(families, places, most))


def _networks(families: Families, places: Sequence[np.ndarray], most: float) -> list[tuple[float, Network]]:
    """Variable by variable, those with one family first; a variable is never to be above itself."""
    order = sorted(range(families.n), key=lambda v: len(places[v]))
    rest = sum(float(families.costs[own].min()) for own in places)
    begun = [(0.0, (0,) * families.n, (0,) * families.n)]  # cost, parents, and all variables above each
    for v in order:
        costs, masks = families.costs[places[v]].tolist(), masks_in(families.parents[places[v]])
        rest -= min(costs)
        begun = [
            (cost + more, _with(parents, v, mask), _below(above, v, up))
            for cost, parents, above in begun
            for more, mask in zip(costs, masks, strict=True)
            if cost + more + rest <= most and not (up := reduce(or_, (above[p] for p in bits(mask)), mask)) >> v & 1
        ]
    return [(cost, parents) for cost, parents, _ in begun]


def _with(parents: Network, v: int, mask: int) -> Network:
    return (*parents[:v], mask, *parents[v + 1 :])


def _below(above: Network, v: int, up: int) -> Network:
    """With these above the variable, and above all that it is above."""
    return tuple(own | up if w == v or own >> v & 1 else own for w, own in enumerate(above)) if up else above
