"""What pruned scoring is asked for: which columns of a table, by which score, and which of their families."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from topdag.data.table import Table
    from topdag.knowledge.compiled import CompiledConstraints, FamilyRules
    from topdag.scoring.kinds.discrete import ScoreKind
    from topdag.scoring.probability_losses import ChildLosses

NO_LOSSES: Mapping[int, ChildLosses] = MappingProxyType({})


@dataclass(frozen=True)
class Pruning:
    """Which families stay.

    ``epsilon``: all but those that a proper subset of their parents beats by more than so many nats; -1.0: by
    anything, ties included, which is enough for one best network. ``k``: all but those that at least k different
    proper subsets beat strictly, which is enough for the k best networks; ``epsilon`` then does not matter.
    """

    epsilon: float = -1.0
    k: int | None = None


@dataclass(frozen=True)
class ScoringTask:
    """``max_parents``: None without a limit. ``rules``: by variable, what its parents satisfy; () where nothing is
    known. ``losses``: what parameter constraints cost families, by variable."""

    table: Table
    columns: tuple[int, ...]
    kind: ScoreKind
    max_parents: int | None = None
    keep: Pruning = Pruning()
    rules: tuple[FamilyRules, ...] = ()
    losses: Mapping[int, ChildLosses] = field(default_factory=lambda: NO_LOSSES)

    def under(self, known: CompiledConstraints) -> ScoringTask:
        """The same, of the families that constraints allow."""
        return replace(self, max_parents=known.limit_on_parents(self.max_parents), rules=known.families)

    @property
    def n(self) -> int:
        return len(self.columns)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.table.names[v] for v in self.columns)

    @property
    def arities(self) -> list[int]:
        return [int(self.table.arities[v]) for v in self.columns]

    @property
    def most_parents(self) -> int:
        """The limit, or what there is."""
        return self.n if self.max_parents is None else self.max_parents
