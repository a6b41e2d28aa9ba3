"""Listed families under a precedence: whatever comes before a variable in any case counts as a parent of it.

Networks of families with such parents have no circle just when the network and the precedence together have none, so
every search on lists finds the best network that agrees, with no rows and no splitting.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from topdag.family_lists import FamilyLists
from topdag.stores import ListStore, families_of


@dataclass(frozen=True)
class PlacedLists:
    """``store``: of the families that then have the same parents the best, of ties the one with the lowest mask;
    ``parents``: by variable, of each of them the true ones."""

    store: ListStore
    before: tuple[int, ...]
    parents: tuple[dict[int, int], ...]

    def without(self, masks: Sequence[int]) -> list[int]:
        """The true parents of a network found in ``store``."""
        return [own[mask] for own, mask in zip(self.parents, masks, strict=True)]

    def within(self, masks: Sequence[int]) -> list[int]:
        """A network as ``store`` has it."""
        return [mask | early for mask, early in zip(masks, self.before, strict=True)]


def placed_lists(store: ListStore, before: tuple[int, ...]) -> PlacedLists:
    """For up to 64 variables; no family may have a parent that comes later in any case."""
    masks, scores, parents = [], [], []
    for x, early in enumerate(before):
        own, values = families_of(store, x)
        placed = own | np.uint64(early)
        best = np.lexsort((own, -values, placed))
        best = best[np.append(True, np.diff(placed[best]) != 0)]
        masks.append(placed[best])
        scores.append(values[best])
        parents.append(dict(zip(placed[best].tolist(), own[best].tolist(), strict=True)))
    offsets = np.cumsum([0, *map(len, masks)])
    lists = FamilyLists(store.lists.names, offsets, np.concatenate(masks)[:, np.newaxis], np.concatenate(scores))
    return PlacedLists(ListStore(store.n, lists, lists.scores), before, tuple(parents))
