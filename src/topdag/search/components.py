"""Variables that can be ordered one group after another: each a smaller question, and their answers put together.

For the best network only: what is left out of a part is what no best network needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from topdag import _core
from topdag._util.arrays import Floats, Integers, Masks
from topdag.search.family_lists import FamilyLists
from topdag.search.stores import ListStore, rows_of, sets_in


@dataclass(frozen=True)
class Component:
    """One component: its variables in column order, and their families with what comes before left out.

    ``before``: all that come before, as a mask, who are always there as parents. ``masks`` number parents by their
    place in ``variables``; ``scores`` are those of the whole families, so a part's costs are costs of the whole
    question.
    """

    variables: tuple[int, ...]
    before: int
    offsets: Integers
    masks: Masks
    scores: Floats

    @property
    def candidates(self) -> _core.Candidates:
        return _core.Candidates(len(self.variables), self.offsets, self.masks, self.scores)

    def store(self, names: Sequence[str]) -> ListStore:
        """The part's families as a list of their own; ``names`` of all variables."""
        own = tuple(names[v] for v in self.variables)
        lists = FamilyLists(own, self.offsets, rows_of(self.masks), self.scores)
        return ListStore.of_lists(lists)

    @property
    def mask(self) -> int:
        """Its variables."""
        return sum(1 << v for v in self.variables)

    def places(self, columns: int) -> int:
        """Those of a mask over all variables that are in the part, as one over the part."""
        return sum(1 << place for place, v in enumerate(self.variables) if columns >> v & 1)

    def columns_of(self, places: int) -> int:
        """A mask over the part as one over all variables."""
        return sum(1 << v for place, v in enumerate(self.variables) if places >> place & 1)

    def allowed_parents(self, mask: int) -> int:
        """Parents in the part, and all that come before, as a mask over all variables."""
        return self.before | self.columns_of(mask)


def parts_of(candidates: _core.Candidates) -> list[Component]:
    """The components, in an order in which they can be placed."""
    parts = []
    for variables, before in _core.components(candidates):
        columns = tuple(v for v in range(candidates.n_variables) if variables >> v & 1)
        offsets, masks, scores = _core.component_families(candidates, variables, before)
        parts.append(Component(columns, before, offsets, sets_in(rows_of(masks)), scores))
    return parts
