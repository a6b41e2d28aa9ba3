"""What pruned scoring is asked for: which columns of a table, by which score, and which of their families."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from topdag._util.options import option
from topdag.errors import ConstraintError

if TYPE_CHECKING:
    from topdag import _core
    from topdag._util.run import Run
    from topdag.data.table import Table
    from topdag.knowledge.compiled import CompiledConstraints, FamilyRules
    from topdag.knowledge.constraints import Constraints
    from topdag.scoring.elsewhere import Elsewhere
    from topdag.scoring.kinds.discrete import ScoreKind
    from topdag.scoring.probability_losses import ChildLosses

TIES_GO_TOO = -1.0
MOST_WALKED = 64
"""Beyond so many variables all sets of a size are counted, layer by layer."""
Drawn = Callable[["ScoringTask", "_core.PruningQuestion", "Run"], "_core.PrunedFamilies | None"]
"""The families of a table that is a draw of another, where several draws are scored together."""
NO_LOSSES: Mapping[int, ChildLosses] = MappingProxyType({})


@dataclass(frozen=True)
class Pruning:
    """Which families stay.

    ``epsilon``: all but those that a proper subset of their parents beats by more than so many nats; TIES_GO_TOO: by
    anything, ties included, which is enough for one best network. ``k``: all but those that at least k different
    proper subsets beat strictly, which is enough for the k best networks; ``epsilon`` then does not matter.
    """

    epsilon: float = TIES_GO_TOO
    k: int | None = None


@dataclass(frozen=True)
class ScoringTask:
    """``max_parents``: None without a limit. ``rules``: by variable, what its parents satisfy; () where nothing is
    known. ``losses``: what parameter constraints cost families, by variable. ``elsewhere``: who counts long lists of
    sets, if not this process; ``drawn``: who may have scored this table together with others;
    ``total``: sums that the grid must have room for, where that is known from scoring once already."""

    table: Table
    columns: tuple[int, ...]
    kind: ScoreKind
    max_parents: int | None = None
    keep: Pruning = Pruning()
    rules: tuple[FamilyRules, ...] = ()
    losses: Mapping[int, ChildLosses] = field(default_factory=lambda: NO_LOSSES)
    elsewhere: Elsewhere | None = None
    drawn: Drawn | None = None
    total: float = 0.0

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
        arities: list[int] = self.table.arities[list(self.columns)].tolist()
        return arities

    @property
    def most_parents(self) -> int:
        """The limit, or what there is."""
        return self.n if self.max_parents is None else self.max_parents


def scored_columns(table: Table) -> tuple[int, ...]:
    """Columns with one state can neither gain nor give anything, so they are left isolated unless asked for."""
    return tuple(v for v, arity in enumerate(table.arities.tolist()) if table.keep_constant or arity != 1)


def compiled_for(table: Table, columns: tuple[int, ...], constraints: Constraints | None) -> CompiledConstraints | None:
    """None when nothing is known."""
    if not constraints:
        return None
    for name in constraints.named:
        if name not in table.names and (of := table.types.get(name)):
            why = f"was left out of the table ({of.type}: {of.reason})"
            raise ConstraintError(
                f"Constraints name {name!r}, which {why}; name its type with {option('types')} to keep it."
            )
    return constraints.compiled(table.names, columns)
