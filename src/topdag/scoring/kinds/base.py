"""What every score can say of itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from topdag._core import CodedTable
from topdag._util.options import worded
from topdag.errors import ScoreError

if TYPE_CHECKING:
    from topdag.data.table import Table
    from topdag.knowledge.probabilities import ParameterConstraint


class ScoreKind:
    """A decomposable score. ``score_equivalent``: networks with the same independences score the same; ``numbers``: the
    columns that are numbers to it: "all", or "auto" for those of a table that are; None: every column has states;
    ``constraints``: what it knows of probabilities; ``is_likelihood``: exp(score) weighs networks against each
    other."""

    score_equivalent: bool = True
    numbers: str | None = None
    constraints: tuple[ParameterConstraint, ...] = ()
    is_likelihood: bool = True

    def local(self, table: Table, x: int, parents: Sequence[int]) -> float:
        """The local score of column ``x`` with these parent columns, in full precision."""
        raise NotImplementedError

    def least_penalty(self, n_rows: int, arity: int) -> float:
        """What any family of a variable loses against its log likelihood, at least; infinite if unknown: -inf."""
        return 0.0

    def require_columns(self, table: Table) -> None:
        """Raises ScoreError where this score is not for such columns."""
        table.require_states(repr(self), "name no score, which takes numbers as they are")
        table.require_complete(repr(self))

    def require_likelihood(self, asked_by: str) -> None:
        """Raises ScoreError where networks cannot be weighed by this score."""
        if not self.is_likelihood:
            raise ScoreError(
                f"{asked_by} would weigh networks by exp(score), and {self!r} is no likelihood: every family has an "
                f"average of its own, over other rows. It finds the best networks; how sure their edges are tells "
                f"{worded('bootstrap()', 'topdag bootstrap')}."
            )

    def tells_apart(self, table: Table) -> tuple[tuple[str, ...], ...]:
        """Sets of variables such that an edge with one end in one of them can point one way only, or is told by
        experiments: ``Network.told_apart``."""
        return ()

    def notes_on(self, table: Table) -> tuple[str, ...]:
        """What the user should know about this score of this table, as sentences."""
        return ()

    def notes_on_weights(self) -> tuple[str, ...]:
        """Return what the user should know of averages that weigh networks by exp(score), as sentences."""
        return ()

    @property
    def unconstrained(self) -> ScoreKind:
        """The score without parameter constraints, which no family exceeds."""
        return self


class MatrixScore(ScoreKind):
    """A score of tables with numbers that is a function of sets, from determinants of a matrix."""

    def scored_by(self, table: Table, columns: Sequence[int]) -> LocalScores:
        """How sets of these columns score."""
        raise NotImplementedError

    def bounds_alone(self, table: Table) -> list[float]:
        """Per variable: what no local score exceeds; infinite where nothing is known."""
        raise NotImplementedError


class LocalScores(Protocol):
    """What knows the local scores of some columns."""

    def local(self, x: int, parents: Sequence[int]) -> float:
        """The local score of a family, by places among the columns; not a number where it has none."""


def coded(table: Table, columns: Sequence[int] | None = None) -> CodedTable:
    """The table as the core sees it, or only some of its columns."""
    own = table if columns is None else table.of_columns(columns)
    if not own.arities.all():
        table.require_states("Counting")
    if own.incomplete:
        table.require_complete("Counting")
    return CodedTable(own.codes, own.arities.tolist(), own.weights)
