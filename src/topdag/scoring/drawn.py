"""Several draws of a table scored in one walk over parent sets: the rows that agree on a set are the same in all of
them, and only the weights differ. What is kept of each is the same to the last bit as where it is scored by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from topdag import _core
from topdag.data.resample import drawn_weights
from topdag.scoring.kinds.discrete import coded

if TYPE_CHECKING:
    from topdag._util.run import Run
    from topdag.data.table import Table
    from topdag.scoring.task import ScoringTask

MOST = _core.DRAWS_AT_ONCE
LEAST = MOST // 4
"""Fewer draws are scored sooner one by one: a walk takes about as long for few as for many."""


class DrawnTogether:
    """Draws that are scored when the first of them is asked for; at most ``MOST`` of them."""

    def __init__(self, table: Table, seed: int, draws: Sequence[int]) -> None:
        self._table, self._seed, self._draws = table, seed, draws
        self._asked: Any = None
        self._found: dict[int, _core.PrunedFamilies] = {}

    def families(
        self, draw: int, task: ScoringTask, question: _core.PruningQuestion, run: Run
    ) -> _core.PrunedFamilies | None:
        """Those of one draw, given once; None where it must be scored by itself."""
        asked = (task.columns, task.kind, task.max_parents, task.keep)
        if self._asked is None and len(self._draws) >= LEAST:
            self._asked = asked
            weights = np.array([drawn_weights(self._table, self._seed, own) for own in self._draws])
            found = _core.score_drawn(coded(self._table, task.columns), weights, question, run.limits)
            self._found = dict(zip(self._draws, found or (), strict=False))
        return self._found.pop(draw, None) if asked == self._asked else None
