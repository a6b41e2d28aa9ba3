"""How much networks of a part can be worth when they have a literal: what tells which way of splitting it is best."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from topdag import _core
from topdag._util.run import Run
from topdag.constrained.literals import Literal, Meets
from topdag.errors import TooLarge
from topdag.search.engines import SMALL
from topdag.search.lattice import lattice_of
from topdag.search.stores import Store

MOST_WITH_TABLES = 23
"""Up to this many variables tables over all sets tell the bounds in a few seconds."""


class PartBounds(Protocol):
    """Bounds of one part."""

    def most_with(self, literal: Literal) -> float:
        """No network of the part that has the literal is worth more."""


@dataclass(frozen=True)
class EdgeBounds:
    """The best network with and without each edge (parent, child), exactly."""

    there: NDArray[np.float64]
    absent: NDArray[np.float64]

    def most_with(self, literal: Literal) -> float:
        if not isinstance(literal, Meets):
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
    if n > (SMALL if store.is_listed else MOST_WITH_TABLES):
        return NoBounds()
    try:
        lattice = lattice_of(store, run)
    except TooLarge:
        return NoBounds()
    found = None if lattice is None else _core.edge_bounds(lattice, run.threads, run.seconds_left, run.tick)
    return None if found is None else EdgeBounds(found[0].reshape(n, n), found[1].reshape(n, n))
