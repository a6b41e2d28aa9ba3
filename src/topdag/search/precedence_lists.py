"""Listed families under a precedence: whatever always comes before a variable counts as a parent of it.

Networks of families with such parents have no circle just when the network and the precedence together have none, so
every search on lists finds the best network that agrees, with no rows and no splitting.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topdag import _core
from topdag._util.bitsets import is_empty, masks_in, sort_keys, with_added
from topdag.search.stores import ListStore


@dataclass(frozen=True)
class PlacedLists:
    """``listed``: the families as they are. ``store``: of those that then have the same parents the best, of ties the
    one with the lowest mask; ``parents``: by variable, of each of them the true ones."""

    listed: ListStore
    store: ListStore
    before: tuple[int, ...]
    parents: tuple[dict[int, int], ...]

    def without(self, masks: Sequence[int]) -> list[int]:
        """The true parents of a network found in ``store``."""
        return [own[mask] for own, mask in zip(self.parents, masks, strict=True)]

    def within(self, masks: Sequence[int]) -> list[int]:
        """A network as ``store`` has it."""
        return [mask | early for mask, early in zip(masks, self.before, strict=True)]

    def candidates(self, kept: NDArray[Any]) -> _core.Candidates:
        """The families as they are that stand behind these of ``store``; for up to 64 variables."""
        is_kept = np.zeros(self.store.n_families, bool)
        is_kept[kept] = True
        offsets, masks, scores = [0], [], []
        for x, early in enumerate(self.before):
            begin, end = self.store.lists.offsets[x : x + 2]
            own, values = self.listed.families_of(x)
            stays = np.isin(own | np.uint64(early), self.store.lists.masks[begin:end, 0][is_kept[begin:end]])
            offsets.append(offsets[-1] + int(stays.sum()))
            masks.append(own[stays])
            scores.append(values[stays])
        return _core.Candidates(self.store.n, np.array(offsets), np.concatenate(masks), np.concatenate(scores))


def placed_lists(store: ListStore, before: tuple[int, ...]) -> PlacedLists:
    """No family may have a parent that always comes later."""
    families, parents = [], []
    for x, early in enumerate(before):
        own, values = store.families_of(x)
        placed = with_added(own, early)
        best = np.lexsort((*sort_keys(own), -values, *sort_keys(placed)))
        best = best[np.append(True, ~is_empty(placed[best[1:]] ^ placed[best[:-1]]))]
        families.append((placed[best], values[best]))
        parents.append(dict(zip(masks_in(placed[best]), masks_in(own[best]), strict=True)))
    return PlacedLists(store, ListStore.of(store.lists.names, families), before, tuple(parents))
