"""Networks that differ from one in a family or two: how far a list of the best can reach at most."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import islice

import numpy as np

from topdag._util.bitsets import bits, is_acyclic, masks_in
from topdag.search.costs import Families
from topdag.search.partition.listed import Listed, Network

MOST_SINGLE = 2_000
CHANGES_TRIED = 20
"""For each network that is wanted, so many changes are tried."""


def offer_nearby(listed: Listed, families: Families, best: Network, wanted: float) -> None:
    """Networks with one or two other families than this one, the cheapest first, until there are enough."""
    single = _single_changes(families, best)
    tried = (change for change in heapq.merge(((cost, (place,)) for cost, place in single), _pairs(single)))
    own = [int(place) for place in np.flatnonzero(families.places(best))]
    base = float(families.costs[own].sum())
    masks_of = masks_in(families.parents)
    for cost, places in islice(tried, CHANGES_TRIED * int(min(wanted, MOST_SINGLE))):
        if listed.is_full or base + cost > listed.most:
            return
        changed = list(best)
        for place in places:
            changed[families.owners[place]] = masks_of[place]
        if is_acyclic(changed):
            listed.offer(base + cost, changed)


def _single_changes(families: Families, best: Network) -> list[tuple[float, int]]:
    """What another family costs more, and its place, that makes no circle with the others of the network."""
    own = families.costs[families.places(best)]
    more = families.costs - own[families.owners]
    masks_of, below, found = masks_in(families.parents), _descendants(best), []
    for place in np.argsort(more, kind="stable").tolist():
        v = int(families.owners[place])
        if masks_of[place] != best[v] and not masks_of[place] & below[v]:
            found.append((float(more[place]), place))
            if len(found) == MOST_SINGLE:
                break
    return found


def _descendants(network: Network) -> list[int]:
    """Of each variable, itself not among them."""
    below, waiting = [0] * len(network), list(range(len(network)))
    while waiting:
        child = waiting.pop()
        for parent in bits(network[child]):
            reached = below[parent] | 1 << child | below[child]
            if reached != below[parent]:
                below[parent] = reached
                waiting.append(parent)
    return below


def _pairs(single: list[tuple[float, int]]) -> Iterator[tuple[float, tuple[int, ...]]]:
    """Two at once, the cheapest first."""
    waiting = [(single[0][0] + single[1][0], 0, 1)] if len(single) > 1 else []
    while waiting:
        cost, i, j = heapq.heappop(waiting)
        yield cost, (single[i][1], single[j][1])
        if j + 1 < len(single):
            heapq.heappush(waiting, (single[i][0] + single[j + 1][0], i, j + 1))
        if j == i + 1 and j + 1 < len(single):
            heapq.heappush(waiting, (single[i + 1][0] + single[j + 1][0], i + 1, j + 1))
