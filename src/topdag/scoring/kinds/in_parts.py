"""BIC and AIC of rows that are divided into parts: how expected counts, which are not whole, are scored."""

from __future__ import annotations

from dataclasses import dataclass

from topdag._core import SetFormula
from topdag.scoring.kinds.discrete import BIC, ScoreKind, penalised


@dataclass(frozen=True, repr=False)
class InParts(BIC):
    """The score of a table in which ``parts`` rows stand for one. All that is computed is so many times what it would
    be for the rows, and nothing else differs: c ln c summed over cells is that of a table of the parts, the penalty is
    raised as much. It is a BIC to all who know how to leave out families for their penalty."""

    base: ScoreKind  # BIC or AIC
    parts: int

    def joint(self, n_rows: int) -> SetFormula:
        return penalised(self.least_penalty(n_rows, 2))

    def least_penalty(self, n_rows: int, arity: int) -> float:
        return self.parts * self.base.least_penalty(n_rows // self.parts, arity)

    def __repr__(self) -> str:
        return f"{self.base!r} of rows in {self.parts:,} parts"
