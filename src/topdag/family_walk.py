"""The allowed families of one variable that must have parents, or obeys rules, scored size by size.

Parent sets are walked upwards from those that must be. A set is cut off with all its supersets when a bound says that
none of them can matter beside an allowed subset.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from topdag import _core
from topdag.compiled_constraints import FamilyRules
from topdag.errors import ScoreError
from topdag.parameter_scoring import ChildLosses
from topdag.pruned_scoring import Pruning, pruning_question
from topdag.runs import Run
from topdag.score_kinds import BDeu, ScoreKind, SetScore, coded
from topdag.table import Table

Masks = NDArray[np.uint64]
Values = NDArray[np.float64]

MOST_SETS = 5_000_000
"""So many parent sets of one variable are scored at most."""
SLACK_STEPS = 8
"""Bounds hold for exact scores; so many grid steps cover what rounding can do."""


class FamilyWalk:
    """One walk for variable x; ``max_parents`` as for all variables; ``losses``: what parameter constraints cost it."""

    def __init__(
        self,
        table: Table,
        columns: tuple[int, ...],
        kind: ScoreKind,
        max_parents: int | None,
        keep: Pruning,
        rules: FamilyRules,
        x: int,
        run: Run,
        losses: ChildLosses | None = None,
    ) -> None:
        assert isinstance(kind, SetScore)
        self.table, self.columns, self.kind, self.keep, self.rules, self.x, self.run, self.losses = (
            table, columns, kind, keep, rules, x, run, losses,
        )  # fmt: skip
        self.limit = rules.most if max_parents is None else min(max_parents, rules.most)
        self.view = coded(table, columns)
        self.question = pruning_question(table, columns, kind, max_parents, keep, run)
        self.arities = [int(table.arities[v]) for v in columns]
        self.kept_masks, self.kept_scores = np.empty(0, np.uint64), np.empty(0)
        self.n_scored = 0
        self.most_likely = self._most_likely()

    def families(self) -> tuple[Masks, Values] | None:
        """The families to keep, by growing mask; None when the time is up."""
        if self.rules.among is not None:
            self._choose(np.array(sorted(self.rules.among), dtype=np.uint64))
        elif not self._walk():
            return None
        order = np.argsort(self.kept_masks)
        return self.kept_masks[order], self.kept_scores[order]

    def _choose(self, masks: Masks) -> None:
        """Of sets that are given."""
        masks = masks[self.rules.admit(masks) & (np.bitwise_count(masks) <= self.limit)]
        for size in sorted(set(np.bitwise_count(masks).tolist())):
            own = masks[np.bitwise_count(masks) == size]
            below = np.array([self.kept_scores[self.kept_masks & ~mask == 0].max(initial=-math.inf) for mask in own])
            self._keep(own, below)

    def _walk(self) -> bool:
        """False when the time is up."""
        level, below = np.array([self.rules.must], dtype=np.uint64), np.array([-math.inf])
        while level.size:
            if self.run.is_over:
                return False
            allowed = self.rules.admit(level)
            best = below.copy()
            best[allowed] = np.maximum(below[allowed], self._keep(level[allowed], below[allowed]))
            self.run.tick("counting", self.n_scored, 0)
            if int(np.bitwise_count(level[0])) >= self.limit:
                return True
            level, below = self._next(level, best)
        return True

    def _next(self, level: Masks, best: Values) -> tuple[Masks, Values]:
        """The sets with one more parent all of whose subsets of this size are in the level, and that may matter; and
        the most that an allowed subset of each scores, from the same of the level."""
        added = [v for v in range(len(self.columns)) if self.rules.may >> v & 1 and not self.rules.must >> v & 1]
        must = np.uint64(self.rules.must)
        larger = [level[_highest_below(level & ~must, v)] | np.uint64(1 << v) for v in added]
        candidates = np.sort(np.concatenate(larger)) if larger else np.empty(0, np.uint64)
        is_open, below = np.ones(len(candidates), bool), np.full(len(candidates), -math.inf)
        for v in added:
            bit = np.uint64(1 << v)
            has = np.flatnonzero(candidates & bit != 0)
            subsets = candidates[has] & ~bit
            at = np.minimum(np.searchsorted(level, subsets), len(level) - 1)
            is_open[has] &= level[at] == subsets
            below[has] = np.maximum(below[has], best[at])
        candidates, below = candidates[is_open], below[is_open]
        stay = ~self._beaten(candidates, self._most_beyond(candidates) + self._slack, below)
        return candidates[stay], below[stay]

    # ---- What a set or its supersets can reach

    def _most_beyond(self, sets: Masks) -> Values:
        """No family with these parents or more scores more; infinite where nothing is known."""
        q = np.ones(len(sets))
        for v, arity in enumerate(self.arities):
            q *= np.where(sets & np.uint64(1 << v) != 0, float(arity), 1.0)
        if isinstance(self.kind, BDeu):
            return -self._occurring(sets) * math.log(self.arities[self.x])
        weight = self.kind.least_penalty(self.table.n_rows, 2)  # of one free parameter
        if weight <= 0:
            return np.full(len(sets), math.inf)
        return self.most_likely - weight * (self.arities[self.x] - 1) * q

    def _most_likely(self) -> float:
        formula = _core.SetFormula(_core.CellKind.N_LOG_N)
        everything = list(range(len(self.columns)))
        others = [v for v in everything if v != self.x]
        return _core.score_set(self.view, formula, everything) - _core.score_set(self.view, formula, others)

    def _occurring(self, sets: Masks) -> Values:
        """How many states the variables of a set and x take together; the first row of each has at most probability
        1/r, in every superset too [Cussens 2012]."""
        codes = self.table.codes[list(self.columns)].astype(np.int64)

        def count(parents: int) -> int:
            if self.run.is_over:
                return 0  # no bound; the walk ends
            return len(_distinct([codes[v] for v in _members(parents | 1 << self.x)]))

        return np.array([count(int(parents)) for parents in sets], dtype=np.float64)

    @property
    def _slack(self) -> float:
        return math.ldexp(float(SLACK_STEPS), -self._grid)

    # ---- Scoring and dominance

    def _keep(self, sets: Masks, below: Values) -> Values:
        """Scores allowed sets, all of one size, and keeps those that allowed subsets leave a use for; the scores.

        ``below``: the most that such a subset of each scores.
        """
        self.n_scored += len(sets)
        if self.n_scored > MOST_SETS:
            raise ScoreError(
                f"More than {MOST_SETS:,} parent sets of {self.rules.names[self.x]!r} obey the constraints. Give "
                "max_parents, such as max_parents=3, or allowed_parents of it."
            )
        if not sets.size:
            return np.empty(0)
        scores = self._scored(sets)
        stay = ~self._beaten(sets, scores, below)
        if self.losses is not None:
            scores = self._less_losses(sets, scores, stay)
            stay &= ~self._beaten(sets, scores, below)
        self.kept_masks = np.concatenate([self.kept_masks, sets[stay]])
        self.kept_scores = np.concatenate([self.kept_scores, scores[stay]])
        return scores

    def _beaten(self, sets: Masks, scores: Values, below: Values) -> NDArray[np.bool_]:
        """Which families with such scores can go for the sake of allowed ones with fewer parents."""
        if self.keep.k is None:
            return below >= scores if self.keep.epsilon < 0 else below > scores + self.keep.epsilon
        better = [
            np.count_nonzero(self.kept_scores[self.kept_masks & ~s == 0] > v) for s, v in zip(sets, scores, strict=True)
        ]
        return np.array(better, dtype=int) >= self.keep.k

    def _less_losses(self, sets: Masks, scores: Values, needed: NDArray[np.bool_]) -> Values:
        """The score without constraints is the most a family can reach, so only those that it leaves are optimised; the
        others count as worth nothing, which is safe since something smaller beats them."""
        assert self.losses is not None
        found = np.full(len(sets), -math.inf)
        for at in np.flatnonzero(needed):
            if self.run.is_over:
                break  # the walk ends
            exact = scores[at] - self.losses.of(int(sets[at]))
            found[at] = math.ldexp(round(math.ldexp(exact, self._grid)), -self._grid)
        return found

    def _scored(self, sets: Masks) -> Values:
        """Local scores on the grid that pruned scoring of the same question uses."""
        below = self.kind.below(self.table.n_rows, self.arities[self.x])
        joint = self.kind.joint(self.table.n_rows)
        _, with_x = self._grid_scores(joint, sets | np.uint64(1 << self.x))
        _, without = self._grid_scores(joint if below is None else below, sets)
        return np.asarray(with_x - without)

    @property
    def _grid(self) -> int:
        return self._grid_scores(self.kind.joint(self.table.n_rows), np.empty(0, np.uint64))[0]

    def _grid_scores(self, formula: _core.SetFormula, sets: Masks) -> tuple[int, Values]:
        return _core.grid_scores(self.view, self.question, formula, np.ascontiguousarray(sets))


def _highest_below(added: Masks, v: int) -> NDArray[np.bool_]:
    """Whose members all come before v: so each larger set is made once."""
    return added < np.uint64(1 << v)


def _distinct(columns: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """The states that these columns take together, as numbers."""
    numbers = columns[0]
    for column in columns[1:]:
        numbers = np.unique(numbers, return_inverse=True)[1] * (int(column.max()) + 1) + column
    return np.unique(numbers)


def _members(mask: int) -> Iterator[int]:
    return (v for v in range(mask.bit_length()) if mask >> v & 1)
