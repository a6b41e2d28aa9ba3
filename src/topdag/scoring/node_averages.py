"""Families scored by the rows that are complete in them: all of a table, or those worth keeping, as lists.

No average log likelihood exceeds 0, so no family with these parents or more scores more than minus its penalty: that is
the bound by which parent sets are cut off (docs/explanation/order_search_and_pruning.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from topdag import _core
from topdag._util.arrays import Floats
from topdag._util.bitsets import Sets, set_array
from topdag._util.run import Run
from topdag._util.workers import crew
from topdag.data.table import Table
from topdag.scoring.allowed import listed_on_one_grid, require_some
from topdag.scoring.kinds.node_average import NAL, coded_with_gaps
from topdag.scoring.pruned import PrunedScores, require_rule
from topdag.scoring.rounding import grid_for
from topdag.scoring.task import Pruning, ScoringTask
from topdag.scoring.walk import FamilyWalk, cells_of
from topdag.search.stores import OwnFamilies

if TYPE_CHECKING:
    from topdag.knowledge.compiled import FamilyRules


class NodeAverages:
    """Local scores of columns of a table, parents as sets of these columns."""

    def __init__(self, table: Table, columns: tuple[int, ...], kind: NAL) -> None:
        self.arities = [int(table.arities[v]) for v in columns]
        self.n_rows, self._view = table.n_rows, coded_with_gaps(table, columns)
        self._cost = kind.for_a_parameter(table.n_rows)

    def scores(self, x: int, sets: Sets, run: Run) -> Floats | None:
        """In full precision; None when the time is up."""
        if not len(sets):
            return np.empty(0)
        averages = _core.average_log_likelihoods(self._view, x, np.ascontiguousarray(sets), run.limits)
        return None if averages is None else self.n_rows * averages + self.most_for(x, cells_of(sets, self.arities))

    def most_for(self, x: int, cells: Floats) -> Floats:
        """Minus the penalty of x with parents of so many cells: no such family scores more."""
        return -self._cost * (self.arities[x] - 1) * cells

    def most_cells(self, x: int, least: float) -> float:
        """Parents with more cells leave x less than this score."""
        for_a_cell = self._cost * (self.arities[x] - 1)
        return -least / for_a_cell if for_a_cell else math.inf

    def sets_up_to(self, x: int, most: int, most_cells: float) -> Sets:
        """All parent sets of x, ascending, with at most so many parents and cells; of up to 64 columns."""
        sets, cells = np.zeros(1, np.uint64), np.ones(1)
        for v, arity in enumerate(self.arities):
            if v != x:
                grow = (cells * arity <= most_cells) & (np.bitwise_count(sets) < most)
                sets = np.concatenate([sets, sets[grow] | np.uint64(1 << v)])
                cells = np.concatenate([cells, cells[grow] * arity])
        return sets


class NodeAverageWalk(FamilyWalk):
    """The families of x that are allowed and worth keeping."""

    def __init__(self, task: ScoringTask, x: int, averages: NodeAverages, grid: int, run: Run) -> None:
        super().__init__(task, x, run)
        self._averages, self._grid = averages, grid

    def _most_beyond(self, sets: Sets) -> Floats:
        return self._most_for(self._cells(sets))

    def _most_for(self, cells: Floats) -> Floats:
        return self._averages.most_for(self.x, cells)

    def _scored(self, sets: Sets) -> Floats:
        scores = self._averages.scores(self.x, sets, self.run)
        if scores is None:
            return np.zeros(len(sets))  # the walk ends
        return np.ldexp(np.rint(np.ldexp(scores, self._grid)), -self._grid)


def score_node_averages(task: ScoringTask, run: Run) -> PrunedScores | None:
    """The allowed families that are worth keeping; None when the time limit came first."""
    kind = task.kind
    assert isinstance(kind, NAL)
    require_rule(kind, task.n, task.max_parents)
    begin = run.seconds
    walks = _Walks(task.table, task.columns, kind, task.max_parents, task.keep, task.rules)
    found = _walked(walks, run)
    run.timed("counting", begin)
    if found is None:
        return None
    kept: list[OwnFamilies] = []
    for x, (own, walked) in enumerate(zip(task.rules, found, strict=True)):
        require_some(walked.families[0].size > 0, own, x, task.max_parents)
        kept.append(walked.families)
    n_scored = sum(walked.n_scored for walked in found)
    store, grid = listed_on_one_grid(task.names, kept, walks.grid, task.keep, run)
    largest = max((walked.largest for walked in found), default=0)
    return PrunedScores(store, grid, largest, n_scored, n_scored, MappingProxyType({}))


@dataclass(frozen=True)
class _Walked:
    """Of one variable."""

    families: OwnFamilies
    n_scored: int
    largest: int


@dataclass(frozen=True)
class _Walks:
    """What the walk of every variable needs, wherever it is made."""

    table: Table
    columns: tuple[int, ...]
    kind: NAL
    max_parents: int | None
    keep: Pruning
    rules: tuple[FamilyRules, ...]

    def __reduce__(self) -> Any:
        return _Walks, (self.table, self.columns, self.kind, self.max_parents, self.keep, self.rules)

    @cached_property
    def task(self) -> ScoringTask:
        return ScoringTask(self.table, self.columns, self.kind, self.max_parents, self.keep, self.rules)

    @cached_property
    def averages(self) -> NodeAverages:
        return NodeAverages(self.table, self.columns, self.kind)

    @cached_property
    def grid(self) -> int:
        return _grid(self.task, self.averages)


def _walk_of(walks: _Walks, x: int, run: Run) -> _Walked | None:
    """In whatever process; None when the time is up."""
    walk = NodeAverageWalk(walks.task, x, walks.averages, walks.grid, run)
    found = walk.families()
    return None if found is None else _Walked(found, walk.n_scored, walk.largest)


def _walked(walks: _Walks, run: Run) -> list[_Walked] | None:
    """A variable is a task."""
    n = len(walks.columns)

    def watch(done: int) -> None:
        run.tick("counting", done, n)

    with crew(walks, run, run.executor) as workers:
        found = dict(workers.work_on(_walk_of, range(n), watch))
    known = [own for own in (found.get(x) for x in range(n)) if own is not None]
    return known if len(known) == n else None


def _grid(task: ScoringTask, averages: NodeAverages) -> int:
    """For families that score no less than those of just the parents that must be, whatever these explain."""
    must = set_array([own.must for own in task.rules], task.n)
    penalties = [
        -averages.most_for(x, cells).max() for x, cells in enumerate(cells_of(must, averages.arities)[:, np.newaxis])
    ]
    explained = task.table.n_rows * math.log(max(averages.arities, default=1))
    return grid_for(
        task.n, explained + max(penalties, default=0.0) + max(0.0, min(task.keep.epsilon, 1e3)), task.table.n_rows
    )
