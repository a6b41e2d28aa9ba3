"""Networks and cuts checked one by one, for tests of search."""

from __future__ import annotations

from functools import cache

import numpy as np
import reference
import strategies

from topdag import _core
from topdag.search.costs import Families
from topdag.search.family_lists import FamilyLists
from topdag.search.stores import ListStore


def store_of(lists: FamilyLists) -> ListStore:
    store = strategies.list_scores(lists).store
    assert isinstance(store, ListStore)
    return store


def check_network(store: ListStore, cost: float, masks: list[int]) -> None:
    assert reference.is_acyclic(masks)
    total = sum(store.value(v, mask) for v, mask in enumerate(masks))
    assert cost == store.best_scores.sum() - total


@cache
def networks_of(n: int) -> list[tuple[int, ...]]:
    return [tuple(masks) for masks in reference.all_networks(n)]


def left_side(families: Families, cuts: _core.Cuts, cut: int, weights: np.ndarray) -> float:
    marks = np.ones(families.size + families.n, dtype=np.uint8)
    rows, counted, values = cuts.entries(cut, marks)
    own = (rows == cut) & (counted < families.size)
    return float(values[own] @ weights[counted[own]])


def all_families(n: int) -> Families:
    """Every parent set of every variable."""
    listed = [(v, reference.members(mask), 0.0) for v, mask in strategies.families(n)]
    return Families.of_store(store_of(FamilyLists.build([f"V{v}" for v in range(n)], listed)))


HALF_CIRCLES = [
    *((0, []), (0, [3])),
    *((1, []), (1, [0, 2])),
    *((2, []), (2, [3])),
    *((3, [0, 1]), (3, [1, 2])),
]
