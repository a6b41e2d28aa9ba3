"""The penalised node-average likelihood: a score of tables with missing cells [Balov 2013; Bodewes & Scutari 2021]."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from topdag._core import CodedTable, Limits, average_log_likelihoods
from topdag._util.bitsets import set_array
from topdag._util.options import option
from topdag.errors import ScoreError
from topdag.scoring.kinds.base import ScoreKind

if TYPE_CHECKING:
    from topdag.data.table import Table


@dataclass(frozen=True, repr=False)
class NAL(ScoreKind):
    """Node-average likelihood less a penalty: a family counts the rows in which all of it is known.

    N times the average log likelihood of these rows, less ``penalty`` nats for each free parameter: N**(1 - alpha)
    unless it is given as a number, or as "bic" for (ln N)/2 [Balov 2013; Bodewes & Scutari 2021]. A family that no row
    has whole counts as uniform: -N ln r.
    """

    alpha: float = 0.4
    penalty: float | str | None = None
    score_equivalent = False
    is_likelihood = False

    def __post_init__(self) -> None:
        if not _is_number(self.alpha) or not 0 <= self.alpha <= 1:
            raise ScoreError(f"NAL takes alpha from 0 to 1, such as 0.4, not {self.alpha!r}.")
        if self.penalty not in (None, "bic") and not (_is_number(self.penalty) and 0 <= float(self.penalty) < math.inf):
            raise ScoreError(
                'NAL takes as penalty what a free parameter costs in nats, a number from 0 on, or "bic" for (ln N)/2, '
                f"not {self.penalty!r}."
            )

    def __repr__(self) -> str:
        return f"NAL(alpha={self.alpha!r})" if self.penalty is None else f"NAL(penalty={self.penalty!r})"

    def for_a_parameter(self, n_rows: int) -> float:
        """What each free parameter costs, in nats."""
        if self.penalty is None:
            return float(n_rows ** (1 - self.alpha))
        return math.log(n_rows) / 2 if self.penalty == "bic" else float(self.penalty)

    def local(self, table: Table, x: int, parents: Sequence[int]) -> float:
        view = coded_with_gaps(table, [*parents, x])
        own, n = len(parents), len(parents) + 1
        found = average_log_likelihoods(view, own, set_array([(1 << own) - 1], n), Limits())
        assert found is not None  # nothing stops it
        parent_states = math.prod(int(table.arities[v]) for v in parents)
        free = parent_states * (int(table.arities[x]) - 1)
        return table.n_rows * float(found[0]) - self.for_a_parameter(table.n_rows) * free

    def least_penalty(self, n_rows: int, arity: int) -> float:
        """Against the largest average there is: 0."""
        return self.for_a_parameter(n_rows) * (arity - 1)

    def require_columns(self, table: Table) -> None:
        table.require_states(
            repr(self),
            f"with {option('missing', 'drop')} name no score, which takes numbers as they are",
        )


def coded_with_gaps(table: Table, columns: Sequence[int]) -> CodedTable:
    """Columns as the core sees them, where a missing cell is one more state, the last."""
    codes = np.ascontiguousarray(table.codes[list(columns)])
    return CodedTable(codes, [int(table.arities[v]) + 1 for v in columns], table.weights)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
