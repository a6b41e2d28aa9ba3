"""Variables that can be ordered one group after another: each a smaller question, and their answers put together.

For the best network only: what is left out of a part is what no best network needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from topdag import _core
from topdag.family_lists import FamilyLists
from topdag.stores import Floats, ListStore


@dataclass(frozen=True)
class Part:
    """One component: its variables in column order, and their families with what comes before left out.

    ``masks`` number parents by their place in ``variables``; ``scores`` are those of the whole families, so a part's
    costs are costs of the whole question.
    """

    variables: tuple[int, ...]
    offsets: NDArray[np.int64]
    masks: NDArray[np.uint64]
    scores: Floats

    @property
    def candidates(self) -> _core.Candidates:
        return _core.Candidates(len(self.variables), self.offsets, self.masks, self.scores)

    def store(self, names: Sequence[str]) -> ListStore:
        """The part's families as a list of their own; ``names`` of all variables."""
        own = tuple(names[v] for v in self.variables)
        lists = FamilyLists(own, self.offsets, self.masks.reshape(-1, 1), self.scores)
        return ListStore(len(own), lists, self.scores)

    def as_columns(self, order: Sequence[int]) -> list[int]:
        """Places in the part as columns of the whole."""
        return [self.variables[place] for place in order]


def parts_of(candidates: _core.Candidates) -> list[Part]:
    """The components, in an order in which they can be placed."""
    parts = []
    for variables, before in _core.components(candidates):
        columns = tuple(v for v in range(candidates.n_variables) if variables >> v & 1)
        parts.append(Part(columns, *_core.component_families(candidates, variables, before)))
    return parts


def put_together(
    candidates: _core.Candidates, parts: Sequence[Part], orders: Sequence[Sequence[int]]
) -> tuple[float, tuple[int, ...], tuple[int, ...]]:
    """Cost, order and parents of the network from an order for each part."""
    whole = [column for part, order in zip(parts, orders, strict=True) for column in part.as_columns(order)]
    cost, parents = _core.network_in_order(candidates, whole)
    return cost, tuple(whole), tuple(parents)
