"""Parts of a split space: the store of a part, with only the families that it has, and bounds on the networks of a part
that have a literal, which tell how to split it best."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from topdag import _core
from topdag._util.arrays import Floats
from topdag._util.run import Run
from topdag.constrained.literals import Part
from topdag.errors import TooLarge
from topdag.knowledge.normal_form import Literal, ParentAmong
from topdag.search.engines import sizes
from topdag.search.lattice import lattice_of
from topdag.search.stores import OwnFamilies, Store

MOST_WITH_TABLES = 23
"""Up to this many variables tables over all sets tell the bounds in a few seconds."""


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


def _left(store: Store, x: int, literals: Sequence[Literal]) -> OwnFamilies:
    masks, values = store.families_of(x)
    stays = np.ones(len(masks), bool)
    for literal in literals:
        stays &= literal.admit(masks)
    return masks[stays], values[stays]


class PartBounds(Protocol):
    """Bounds of one part."""

    def most_with(self, literal: Literal) -> float:
        """No network of the part that has the literal scores more."""


@dataclass(frozen=True)
class EdgeBounds:
    """The best network with and without each edge (parent, child), exactly."""

    there: Floats
    absent: Floats

    def most_with(self, literal: Literal) -> float:
        if not isinstance(literal, ParentAmong):
            return math.inf
        parents = [parent for parent in range(len(self.there)) if literal.variables >> parent & 1]
        if literal.negated:
            return float(self.absent[parents, literal.child].min(initial=math.inf))
        return float(self.there[parents, literal.child].max(initial=-math.inf))


@dataclass(frozen=True)
class NoBounds:
    """Where bounds would cost more than they save."""

    def most_with(self, literal: Literal) -> float:
        return math.inf


def bounds_of(store: Store, run: Run) -> PartBounds | None:
    """From the lattice where that is small; None when the time is up.

    On longer lists bounds by the relaxation were tried: they cost more than the parts they saved.
    """
    n = store.n
    if n > (sizes().small if store.is_listed else MOST_WITH_TABLES):
        return NoBounds()
    try:
        lattice = lattice_of(store, run)
    except TooLarge:
        return NoBounds()
    found = None if lattice is None else _core.edge_bounds(lattice, run.limits)
    return None if found is None else EdgeBounds(found[0].reshape(n, n), found[1].reshape(n, n))
