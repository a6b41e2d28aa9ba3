"""Scores of a part of the space: a store with only the families that the part has."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from topdag.constrained.literals import Literal, Part
from topdag.search.stores import Families, Store


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
    return store.with_families(own)


def _left(store: Store, x: int, literals: Sequence[Literal]) -> Families:
    masks, values = store.families_of(x)
    stays = np.ones(len(masks), bool)
    for literal in literals:
        stays &= literal.admit(masks)
    return masks[stays], values[stays]
