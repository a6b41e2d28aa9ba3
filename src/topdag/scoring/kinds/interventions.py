"""Scores of tables with experiments: a family counts the rows in which its variable was not set [Cooper & Yoo 1999]."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from topdag._util.options import option
from topdag.errors import ScoreError
from topdag.scoring.kinds.base import ScoreKind
from topdag.scoring.kinds.discrete import of_columns

if TYPE_CHECKING:
    from topdag.data.table import Table


@dataclass(frozen=True, repr=False)
class WhereNotSet(ScoreKind):
    """Any score, of the rows that tell of a variable's causes. Networks with the same independences need not score the
    same: an experiment tells them apart."""

    base: ScoreKind
    score_equivalent = False

    @property
    def numbers(self) -> str | None:  # type: ignore[override]
        return self.base.numbers

    @property
    def is_likelihood(self) -> bool:  # type: ignore[override]
        return self.base.is_likelihood

    def local(self, table: Table, x: int, parents: Sequence[int]) -> float:
        return self.base.local(table.rows_telling_of(x), x, parents)

    def least_penalty(self, n_rows: int, arity: int) -> float:
        """Fewer rows can have a larger likelihood, so the likelihood of all rows bounds nothing."""
        return -math.inf

    def tells_apart(self, table: Table) -> tuple[tuple[str, ...], ...]:
        return (*self.base.tells_apart(table), *table.experiments)

    def require_columns(self, table: Table) -> None:
        self.base.require_columns(table)

    def notes_on(self, table: Table) -> tuple[str, ...]:
        return self.base.notes_on(table)

    def __repr__(self) -> str:
        return f"{self.base!r} of the rows in which a variable was not set"


def kind_for(table: Table, kind: ScoreKind) -> ScoreKind:
    """The score as it counts the rows and columns of this table."""
    kind = of_columns(kind, table, range(table.n_variables))
    if not table.targets or isinstance(kind, WhereNotSet):
        return kind
    if kind.unconstrained is not kind:
        raise ScoreError(
            f"Constraints on probabilities do not go with {option('interventions')} yet. Leave out one of the two."
        )
    return WhereNotSet(kind)


def without_interventions(kind: ScoreKind | None) -> ScoreKind | None:
    """The score as the user gave it."""
    return kind.base if isinstance(kind, WhereNotSet) else kind
