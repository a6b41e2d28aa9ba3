"""Scores of a part of the space: a store with only the families that the part has."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from topdag.constrained.literals import Part
from topdag.knowledge.normal_form import Literal
from topdag.scoring.dominance import listed_store
from topdag.search.stores import (
    FamilyStore,
    ListStore,
    SetStore,
    Store,
    families_of,
    slots_of,
)

Families = tuple[NDArray[np.uint64], NDArray[np.float64]]


def restricted(store: Store, part: Part) -> Store | None:
    """The store with only the families that a part has; None when some variable has none left."""
    by_child: dict[int, list[Literal]] = {}
    for literal in part:
        by_child.setdefault(literal.child, []).append(literal)
    own = {x: _left(store, x, literals) for x, literals in by_child.items()}
    if any(not masks.size for masks, _ in own.values()):
        return None
    if not own:
        return store
    return _listed(store, own) if isinstance(store, ListStore) else _dense(store, own)


def _left(store: Store, x: int, literals: Sequence[Literal]) -> Families:
    masks, values = families_of(store, x)
    stays = np.ones(len(masks), bool)
    for literal in literals:
        stays &= literal.admit(masks)
    return masks[stays], values[stays]


def _dense(store: SetStore | FamilyStore, own: dict[int, Families]) -> FamilyStore:
    n = store.n
    families = np.full(n << n - 1, -math.inf)
    for x in range(n):
        begin = x << n - 1
        if x not in own and isinstance(store, FamilyStore):
            families[begin : begin + (1 << n - 1)] = store.families[begin : begin + (1 << n - 1)]
            continue
        masks, values = own.get(x) or families_of(store, x)
        families[begin + slots_of(masks, x)] = values
    return FamilyStore(n, families)


def _listed(store: ListStore, own: dict[int, Families]) -> ListStore:
    return listed_store(store.lists.names, [own.get(x) or families_of(store, x) for x in range(store.n)])
