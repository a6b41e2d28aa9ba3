"""The allowed families of one variable that must have parents, or satisfies rules, scored size by size.

Parent sets are walked upwards from those that must be. A set is cut off with all its supersets when a bound says that
none of them can matter beside an allowed subset.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from topdag import _core
from topdag._util.arrays import Floats, Marks
from topdag._util.bitsets import (
    Sets,
    as_set,
    is_empty,
    masks_in,
    meets,
    search_keys,
    set_array,
    sizes_of,
    sort_keys,
    sorted_sets,
    with_added,
)
from topdag._util.options import option
from topdag._util.run import Run
from topdag.errors import ScoreError
from topdag.scoring.kinds.discrete import BDeu, SetScore
from topdag.scoring.pruned import grid_scores, pruning_question, view_of
from topdag.scoring.task import ScoringTask

Values = Floats

MOST_SETS = 5_000_000
"""So many parent sets of one variable are scored at most."""
SLACK_STEPS = 8
"""Bounds hold for exact scores; so many grid steps cover what rounding can do."""


class FamilyWalk(ABC):
    """One walk for variable x of a task, on a grid. ``largest``: no set that was looked at has more parents."""

    _grid: int  # its exponent

    def __init__(self, task: ScoringTask, x: int, run: Run) -> None:
        self.table, self.columns, self.keep = task.table, task.columns, task.keep
        self.x, self.run, self.rules, self.losses = x, run, task.rules[x], task.losses.get(x)
        self.limit = min(task.most_parents, self.rules.most)
        self.arities = task.arities
        self.kept_masks, self.kept_scores = self._sets([]), np.empty(0)
        self.n_scored, self.largest = 0, 0
        self._everyone = (1 << task.n) - 1

    def families(self) -> tuple[Sets, Values] | None:
        """The families to keep, by growing mask; None when the time is up."""
        if self.rules.among is not None:
            self._choose(self._sets(sorted(self.rules.among)))
        else:
            self._walk()
        if self.run.is_over:  # what was looked at last may lack its score
            return None
        order = np.lexsort(sort_keys(self.kept_masks))
        return self.kept_masks[order], self.kept_scores[order]

    def _sets(self, masks: Sequence[int]) -> Sets:
        return set_array(masks, len(self.columns))

    def _choose(self, masks: Sets) -> None:
        """Of sets that are given."""
        masks = masks[self.rules.admit(masks) & (sizes_of(masks) <= self.limit)]
        for size in sorted(set(sizes_of(masks).tolist())):
            own = masks[sizes_of(masks) == size]
            below = np.array([self._kept_below(mask).max(initial=-math.inf) for mask in own])
            self._keep(own, below)

    def _kept_below(self, mask: Sets) -> Values:
        """The scores of kept families with no other parents."""
        return self.kept_scores[is_empty(self.kept_masks & ~mask)]

    def _walk(self) -> None:
        """Until the time is up."""
        if self.rules.must.bit_count() > self.limit:
            return
        level, below = self._sets([self.rules.must]), np.array([-math.inf])
        while level.size and not self.run.is_over:
            allowed = self.rules.admit(level)
            best = below.copy()
            best[allowed] = np.maximum(below[allowed], self._keep(level[allowed], below[allowed]))
            self.run.tick("counting", self.n_scored, 0)
            if int(sizes_of(level[:1])[0]) >= self.limit:
                return
            level, below = self._next(level, best)

    def _next(self, level: Sets, best: Values) -> tuple[Sets, Values]:
        """The sets with one more parent all of whose subsets of this size are in the level, and that may matter; and
        the most that an allowed subset of each scores, from the same of the level."""
        added = [v for v in range(len(self.columns)) if self.rules.may >> v & 1 and not self.rules.must >> v & 1]
        slack = self._slack
        growing = level[self._may_grow(level, best, slack)]
        larger = [self._with_one_more(growing, v) for v in added]
        self._require_few(self.n_scored + sum(map(len, larger)))
        candidates = sorted_sets(np.concatenate(larger)) if larger else self._sets([])
        keys = search_keys(level)
        is_open, below = np.ones(len(candidates), bool), np.full(len(candidates), -math.inf)
        for v in added:
            has = np.flatnonzero(meets(candidates, 1 << v))
            subsets = candidates[has] & ~as_set(1 << v, level)
            at = np.minimum(np.searchsorted(keys, search_keys(subsets)), len(level) - 1)
            is_open[has] &= is_empty(level[at] ^ subsets)
            below[has] = np.maximum(below[has], best[at])
        candidates, below = candidates[is_open], below[is_open]
        stay = ~self._beaten(candidates, self._most_beyond(candidates) + slack, below)
        return candidates[stay], below[stay]

    def _may_grow(self, level: Sets, best: Values, slack: float) -> Marks:
        """Which sets get more parents: not those that with any other cost more than they can explain."""
        if self.keep.k is not None:
            return np.ones(len(level), bool)
        least = min((arity for v, arity in enumerate(self.arities) if v != self.x), default=1)
        return ~self._beaten(level, self._most_for(self._cells(level) * least) + slack, best)

    def _with_one_more(self, sets: Sets, v: int) -> Sets:
        """Those that have been given none after v, with v: so each larger set is made once."""
        has_later = meets(sets & ~as_set(self.rules.must, sets), -1 << v & self._everyone)
        return with_added(sets[~has_later], 1 << v)

    # ---- What a set or its supersets can reach

    @abstractmethod
    def _most_beyond(self, sets: Sets) -> Values:
        """No family with these parents or more scores more; infinite where nothing is known."""

    @abstractmethod
    def _most_for(self, cells: Values) -> Values:
        """No family whose parents have so many cells, or more, scores more, by its penalty."""

    @abstractmethod
    def _scored(self, sets: Sets) -> Values:
        """Local scores on the grid."""

    def _cells(self, sets: Sets) -> Values:
        return cells_of(sets, self.arities)

    @property
    def _slack(self) -> float:
        return math.ldexp(float(SLACK_STEPS), -self._grid)

    # ---- Scoring and dominance

    def _keep(self, sets: Sets, below: Values) -> Values:
        """Scores allowed sets, all of one size, and keeps those that allowed subsets leave a use for; the scores.

        ``below``: the most that such a subset of each scores.
        """
        self.n_scored += len(sets)
        self._require_few(self.n_scored)
        if not sets.size:
            return np.empty(0)
        self.largest = int(sizes_of(sets[:1])[0])
        scores = self._scored(sets)
        stay = ~self._beaten(sets, scores, below)
        if self.losses is not None:
            scores = self._less_losses(sets, scores, stay)
            stay &= ~self._beaten(sets, scores, below)
        self.kept_masks = np.concatenate([self.kept_masks, sets[stay]])
        self.kept_scores = np.concatenate([self.kept_scores, scores[stay]])
        return scores

    def _require_few(self, n_sets: int) -> None:
        if n_sets > MOST_SETS:
            raise ScoreError(
                f"More than {MOST_SETS:,} parent sets of {self.rules.names[self.x]!r} satisfy the constraints. Give "
                f"{option('max_parents')}, such as {option('max_parents', 3)}, or allowed_parents of it."
            )

    def _beaten(self, sets: Sets, scores: Values, below: Values) -> Marks:
        """Which families with such scores can go for the sake of allowed ones with fewer parents."""
        if self.keep.k is None:
            return below >= scores if self.keep.epsilon < 0 else below > scores + self.keep.epsilon
        better = [np.count_nonzero(self._kept_below(own) > value) for own, value in zip(sets, scores, strict=True)]
        return np.array(better, dtype=int) >= self.keep.k

    def _less_losses(self, sets: Sets, scores: Values, needed: Marks) -> Values:
        """The score without constraints is the most a family can reach, so only those that it leaves are optimised; the
        others count as scoring nothing, which is safe since something smaller beats them."""
        assert self.losses is not None
        found = np.full(len(sets), -math.inf)
        for at in np.flatnonzero(needed):
            if self.run.is_over:
                break  # the walk ends
            exact = scores[at] - self.losses.of(masks_in(sets[at : at + 1])[0])
            found[at] = math.ldexp(round(math.ldexp(exact, self._grid)), -self._grid)
        return found


class SetScoreWalk(FamilyWalk):
    """Of a score that is a difference of functions of sets, on the grid that pruned scoring of the same question
    uses."""

    def __init__(self, task: ScoringTask, x: int, run: Run) -> None:
        assert isinstance(task.kind, SetScore)
        super().__init__(task, x, run)
        self.kind = task.kind
        self.view = view_of(task)
        self.question = pruning_question(task, run)
        self.most_likely = self._most_likely()
        self._grid = self._grid_scores(self.kind.joint(self.table.n_rows), self._sets([]))[0]

    def _most_beyond(self, sets: Sets) -> Values:
        if isinstance(self.kind, BDeu):
            return -self._occurring(sets) * math.log(self.arities[self.x])
        return self._most_for(self._cells(sets))

    def _most_for(self, cells: Values) -> Values:
        weight = self.kind.least_penalty(self.table.n_rows, 2)  # of one free parameter
        if weight <= 0 or isinstance(self.kind, BDeu):
            return np.full(len(cells), math.inf)
        return self.most_likely - weight * (self.arities[self.x] - 1) * cells

    def _most_likely(self) -> float:
        if isinstance(self.view, _core.RowsElsewhere):
            return 0.0  # no log likelihood is more
        formula = _core.SetFormula(_core.CellKind.N_LOG_N)
        everything = list(range(len(self.columns)))
        others = [v for v in everything if v != self.x]
        return _core.score_set(self.view, formula, everything) - _core.score_set(self.view, formula, others)

    def _occurring(self, sets: Sets) -> Values:
        """How many states the variables of a set and x take together; the first row of each has at most probability
        1/r, in every superset too [Cussens 2012]."""
        return self._grid_scores(_core.SetFormula(_core.CellKind.ONE), with_added(sets, 1 << self.x))[1]

    def _scored(self, sets: Sets) -> Values:
        below = self.kind.below(self.table.n_rows, self.arities[self.x])
        joint = self.kind.joint(self.table.n_rows)
        _, with_x = self._grid_scores(joint, with_added(sets, 1 << self.x))
        _, without = self._grid_scores(joint if below is None else below, sets)
        return np.asarray(with_x - without)

    def _grid_scores(self, formula: _core.SetFormula, sets: Sets) -> tuple[int, Values]:
        return grid_scores(self.view, self.question, formula, sets)


def cells_of(sets: Sets, arities: Sequence[int]) -> Values:
    """How many states the variables of each set can take together."""
    cells = np.ones(len(sets))
    for arity in sorted(set(arities)):
        alike = sum(1 << v for v, own in enumerate(arities) if own == arity)
        cells *= np.power(float(arity), sizes_of(sets & as_set(alike, sets)))
    return cells
