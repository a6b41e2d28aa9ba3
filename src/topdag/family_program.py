"""A linear program over listed families: weights that cost least, cuts that come and go, families that enter.

Families are held as costs on a grid. From a solution only the multipliers of its cuts are believed: ``Families.bound``
makes of them a bound that is right to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from topdag import _core
from topdag.runs import Run
from topdag.set_arrays import set_array
from topdag.stores import Candidates, Floats, ListStore

Marks = NDArray[np.bool_]
Masks = NDArray[np.uint64]
Whole = NDArray[np.int64]
Cuts = _core.Cuts | _core.WideCuts

EXACT_BITS = 52  # sums of this many bits are exact in doubles
HEADROOM = 16.0  # multipliers may add up to so many times what the worst families cost
HALVES_A_ROUND = 50
LEAST_HALF_VIOLATION = 0.05  # of a half at most
LOCAL_MEMBERS = 10
LOCAL_CUTS_A_ROUND = 100
LEAST_LOCAL_VIOLATION = 0.02  # of coefficients up to 1
SLACK_ROUNDS = 4  # a cut that has been slack for so long is dropped
MOST_ADMITTED = 500  # families that enter at a time
TINY = 1e-9
SOLVER_OPTIONS: dict[str, Any] = {
    "output_flag": False,
    "threads": 1,
    "presolve": "off",
    "solver": "simplex",
    "dual_feasibility_tolerance": 1e-9,
}


@dataclass(frozen=True)
class Families:
    """Listed families as costs, by variable, in the order of the list they come from."""

    n: int
    offsets: Whole
    parents: Masks
    costs: Floats
    exponent: int  # costs are multiples of 2**-exponent, and so are multipliers
    core: _core.ClusterFamilies | _core.WideClusterFamilies

    @classmethod
    def of_store(cls, store: ListStore) -> Families:
        offsets, costs = np.ascontiguousarray(store.lists.offsets), costs_of(store)
        largest = HEADROOM * (np.maximum.reduceat(costs, offsets[:-1]).sum() + 1.0)
        exponent = max(-exponent_of(common_step(costs)), EXACT_BITS - exponent_of(largest))
        return cls.build(offsets, store.parents, costs, exponent)

    @classmethod
    def build(cls, offsets: Whole, parents: Masks, costs: Floats, exponent: int) -> Families:
        kind = _core.ClusterFamilies if parents.ndim == 1 else _core.WideClusterFamilies
        return cls(len(offsets) - 1, offsets, parents, costs, exponent, kind(offsets, parents))

    def no_cuts(self) -> Cuts:
        """A place for cuts on these families."""
        kind = _core.Cuts if self.parents.ndim == 1 else _core.WideCuts
        return kind(self.core)

    @property
    def size(self) -> int:
        return len(self.costs)

    @cached_property
    def owners(self) -> Whole:
        return np.repeat(np.arange(self.n), np.diff(self.offsets))

    def places(self, masks: Sequence[int]) -> Marks:
        """Marks the families of a network."""
        same = self.parents == set_array(masks, self.n)[self.owners]
        marks: Marks = same.reshape(self.size, same.ndim).all(axis=1)
        return marks

    def first(self, most: int) -> Marks:
        """The first families of each variable, so many at most."""
        return np.arange(self.size) - np.repeat(self.offsets[:-1], np.diff(self.offsets)) < most

    def only(self, kept: Marks) -> Families:
        """Just these families; their costs stay what they are."""
        counts = np.concatenate([[0], np.cumsum(kept)])[self.offsets]
        return Families.build(counts, self.parents[kept], self.costs[kept], self.exponent)

    def bound(self, allowed: Marks, cuts: Cuts, multipliers: Floats) -> tuple[float, Floats]:
        """What networks of allowed families cost at least, and those with each family; exact, so always valid."""
        on_grid = self.on_grid(multipliers, cuts)
        bound, excess = cuts.bound(self.costs, allowed.view(np.uint8), on_grid)
        return bound, bound + excess

    def on_grid(self, multipliers: Floats, cuts: Cuts) -> Floats:
        """Multipliers rounded to the grid, none negative; all zero should their sums not be exact."""
        rounded = np.ldexp(np.rint(np.ldexp(np.maximum(multipliers, 0.0), self.exponent)), -self.exponent)
        fits = float(rounded @ cuts.limits()) < math.ldexp(1.0, EXACT_BITS - self.exponent)
        return rounded if fits else np.zeros_like(rounded)


def common_step(costs: Floats) -> float:
    """The largest power of two, up to 1, that divides all costs; so it divides those of networks."""
    fractions, exponents = np.frexp(costs[costs > 0])
    whole = np.ldexp(fractions, 53).astype(np.int64)
    return float(np.ldexp((whole & -whole).astype(np.float64), exponents - 53).min(initial=1.0))


def exponent_of(size: float) -> int:
    """The least e with 2**e >= size."""
    return math.ceil(math.log2(size))


def best_scores(store: ListStore) -> Floats:
    """The score of each variable's best family."""
    scores: Floats = np.maximum.reduceat(store.rounded, store.lists.offsets[:-1])
    return scores


def costs_of(store: ListStore) -> Floats:
    costs: Floats = np.repeat(best_scores(store), np.diff(store.lists.offsets)) - store.rounded
    return costs


def spread_of(store: ListStore) -> float:
    """No network is further behind the best: how far the families of each variable lie apart, in sum."""
    return float(np.maximum.reduceat(costs_of(store), store.lists.offsets[:-1]).sum())


def candidates_of(store: ListStore) -> Candidates:
    """The families that orders use."""
    return _core.undominated(store.any_candidates)


def network_near(candidates: Candidates, families: Families, weights: Floats) -> tuple[float, list[int]]:
    """Cost and parents of the local optimum from an order that fits these weights."""
    core = families.core
    if isinstance(candidates, _core.Candidates) and isinstance(core, _core.ClusterFamilies):
        return _core.climb_from_weights(candidates, core, weights)
    assert isinstance(candidates, _core.WideCandidates) and isinstance(core, _core.WideClusterFamilies)
    return _core.climb_from_weights(candidates, core, weights)


class Row(Protocol):
    """Every network that is asked for has one of some families."""

    def marks(self, families: Families) -> Marks:
        """These."""


Decision: TypeAlias = tuple[int, int, bool]
"""Whether the first variable is an ancestor of the second."""
Decisions: TypeAlias = tuple[Decision, ...]


class Rows(Protocol):
    """Rows beside the clusters, too many to add them all."""

    def broken(self, families: Families, weights: Floats, clusters: Sequence[int]) -> Sequence[Row]:
        """Rows that the weights break; ``clusters`` (masks) are broken too."""

    def under(self, decisions: Decisions) -> Rows | None:
        """The rows of a part in which all this is decided; None when nothing can be so."""

    def admitted(self, families: Families) -> Marks:
        """The families that networks which obey may have."""

    def to_decide(self, families: Families, weights: Floats) -> tuple[int, int] | None:
        """Two variables of which the weights leave open whether the first is an ancestor of the second, though it
        matters; None when there are none."""


def cuts_of(families: Families, clusters: Sequence[tuple[int, int]], rows: Sequence[Row]) -> Cuts:
    """First these clusters, then these rows."""
    cuts = families.no_cuts()
    if clusters:
        members, ks = zip(*clusters, strict=True)
        cuts.add_clusters(set_array(members, families.n), np.array(ks, dtype=np.int64))
    for row in rows:
        cuts.add_clause(row.marks(families).view(np.uint8))
    return cuts


@dataclass(frozen=True)
class Solution:
    """What the linear program says: weights of families and multipliers of cuts. Only a hint."""

    weights: Floats
    multipliers: Floats


class Program:
    """The linear program: weights of families, a row for each variable, then one for each cut.

    It begins with few families; ``admit`` brings in others. Each variable has a stopgap besides, a family without
    parents that costs more than any network of interest, so that there always is a solution.
    """

    def __init__(self, families: Families, stopgap_cost: float) -> None:
        import highspy

        self.families = families
        self.cuts = families.no_cuts()
        self.rows: list[Row | None] = []  # by cut: the row it stands for; None: clusters
        self._scopes: list[frozenset[Decision]] = []  # by cut: what must be decided for it to hold
        self._scope: frozenset[Decision] = frozenset()
        self._holds: Marks = np.zeros(0, dtype=np.bool_)  # by cut: whether it does where the program is now
        self._slack_rounds: Whole = np.zeros(0, dtype=np.int64)
        self._infinity = highspy.kHighsInf
        self._optimal = highspy.HighsModelStatus.kOptimal
        self._solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        for option, value in SOLVER_OPTIONS.items():
            self._solver.setOptionValue(option, value)
        n, size = families.n, families.size
        self._columns: Whole = np.zeros(0, dtype=np.int64)  # the family of each column after the stopgaps
        self._column_of = np.concatenate([np.full(size, -1), np.arange(n)])  # of families, then of stopgaps
        self._open = np.ones(size, dtype=np.bool_)
        ones, nothing = np.ones(n), np.zeros(0, dtype=np.int32)
        self._solver.addRows(n, ones, ones, 0, np.zeros(n, dtype=np.int32), nothing, np.zeros(0))
        self._add_columns(np.full(n, stopgap_cost), np.arange(n), np.arange(n), ones)

    def _add_columns(self, costs: Floats, starts: Whole, rows: Whole, values: Floats) -> None:
        size, bounds = len(costs), (np.zeros(len(costs)), np.full(len(costs), self._infinity))
        self._solver.addCols(size, costs, *bounds, len(rows), starts.astype(np.int32), rows.astype(np.int32), values)

    @property
    def is_in(self) -> Marks:
        """Which families have a column."""
        return self._column_of[: self.families.size] >= 0

    def admit(self, wanted: Marks) -> int:
        """Brings in these families where they are not in already; how many that were."""
        new = wanted & ~self.is_in
        places = np.flatnonzero(new)
        if len(places):
            n, size = self.families.n, len(places)
            column = np.cumsum(new) - 1
            marks = np.concatenate([new, np.zeros(n, dtype=np.bool_)])
            cuts, counted, values = self.cuts.entries(0, marks.view(np.uint8))
            # Of each new column: its variable's row, then the cuts it is in.
            columns = np.concatenate([np.arange(size), column[counted]])
            rows = np.concatenate([self.families.owners[places], n + cuts])
            order = np.argsort(columns, kind="stable")
            starts = np.searchsorted(columns[order], np.arange(size))
            values = np.concatenate([np.ones(size), values])
            self._add_columns(self.families.costs[places], starts, rows[order], values[order])
            self._column_of[places] = n + len(self._columns) + np.arange(size)
            self._columns = np.concatenate([self._columns, places])
            self._close(self._column_of[places[~self._open[places]]])
        return len(places)

    def price(self, family_bounds: Floats) -> int:
        """Brings in families that would lower the solution's value, the strongest first; how many that were."""
        inside, outside = self._open & self.is_in, self._open & ~self.is_in
        least = np.minimum.reduceat(np.where(inside, family_bounds, np.inf), self.families.offsets[:-1])
        gain = np.repeat(least, np.diff(self.families.offsets)) - family_bounds
        places = np.flatnonzero(outside & (gain > TINY))
        strongest = places[np.argsort(-gain[places], kind="stable")[:MOST_ADMITTED]]
        return self.admit(np.isin(np.arange(self.families.size), strongest))

    def _close(self, columns: Whole) -> None:
        zeros = np.zeros(len(columns))
        self._solver.changeColsBounds(len(columns), columns.astype(np.int32), zeros, zeros)

    def add_clusters(self, members: Masks, ks: Whole) -> int:
        self.cuts.add_clusters(members, ks)
        return self._add_rows()

    def add_cuts(self, clusters: Sequence[tuple[int, int]], rows: Sequence[Row]) -> None:
        if clusters:
            members, ks = zip(*clusters, strict=True)
            self.add_clusters(set_array(members, self.families.n), np.array(ks, dtype=np.int64))
        if rows:
            self.add_rows(rows)

    def add_rows(self, rows: Sequence[Row], *, only_here: bool = False) -> int:
        """``only_here``: they hold where all is decided that is decided now."""
        for row in rows:
            self.cuts.add_clause(row.marks(self.families).view(np.uint8))
        self.rows += rows
        return self._add_rows(self._scope if only_here else frozenset())

    def add_halves(self, weights: Floats) -> int:
        """Adds halved sums of tight clusters that the weights violate; how many that were. They may be sums of rows
        that hold here only."""
        self.cuts.add_halves(weights, HALVES_A_ROUND, LEAST_HALF_VIOLATION)
        return self._add_rows(self._scope)

    def add_local(self, weights: Floats) -> int:
        """Adds cuts from the networks of few variables that the weights violate; how many that were."""
        self.cuts.add_local(weights, LOCAL_MEMBERS, LOCAL_CUTS_A_ROUND, LEAST_LOCAL_VIOLATION)
        return self._add_rows()

    def decide(self, decisions: Decisions) -> None:
        """Only cuts that hold where all this is decided count from now on."""
        self._scope = frozenset(decisions)
        holds = np.array([scope <= self._scope for scope in self._scopes], dtype=np.bool_)
        changed = np.flatnonzero(holds != self._holds)
        if len(changed):
            lower = np.where(holds[changed], self.cuts.limits()[changed], -self._infinity)
            rows, upper = (self.families.n + changed).astype(np.int32), np.full(len(changed), self._infinity)
            self._solver.changeRowsBounds(len(changed), rows, lower, upper)
        self._holds = holds

    def _add_rows(self, scope: frozenset[Decision] = frozenset()) -> int:
        """For the cuts that have none yet."""
        first, last = len(self._slack_rounds), len(self.cuts)
        self.rows += [None] * (last - len(self.rows))
        self._scopes += [scope] * (last - first)
        self._holds = np.concatenate([self._holds, np.ones(last - first, dtype=np.bool_)])
        marks = np.concatenate([self.is_in, np.ones(self.families.n, dtype=np.bool_)]).view(np.uint8)
        cuts, counted, values = self.cuts.entries(first, marks)
        starts = np.searchsorted(cuts, np.arange(first, last)).astype(np.int32)
        columns = self._column_of[counted].astype(np.int32)
        lower, upper = self.cuts.limits()[first:], np.full(last - first, self._infinity)
        self._solver.addRows(last - first, lower, upper, len(columns), starts, columns, values)
        self._slack_rounds = np.concatenate([self._slack_rounds, np.zeros(last - first, dtype=np.int64)])
        return last - first

    def drop_slack_cuts(self, rounds: int = SLACK_ROUNDS) -> None:
        kept = self._slack_rounds < rounds
        if not kept.all():
            rows = (self.families.n + np.flatnonzero(~kept)).astype(np.int32)
            self._solver.deleteRows(len(rows), rows)
            self.cuts.keep(kept.view(np.uint8))
            self._slack_rounds = self._slack_rounds[kept]
            self.rows = [row for row, stays in zip(self.rows, kept.tolist(), strict=True) if stays]
            self._scopes = [scope for scope, stays in zip(self._scopes, kept.tolist(), strict=True) if stays]
            self._holds = self._holds[kept]

    def allow(self, allowed: Marks) -> None:
        """Only these families may have weight."""
        changed = np.flatnonzero((allowed != self._open) & self.is_in)
        if len(changed):
            upper = np.where(allowed[changed], self._infinity, 0.0)
            columns = self._column_of[changed].astype(np.int32)
            self._solver.changeColsBounds(len(changed), columns, np.zeros(len(changed)), upper)
        self._open = allowed.copy()

    def _is_solved(self, run: Run) -> bool:
        if run.seconds_left is not None:
            self._solver.setOptionValue("time_limit", self._solver.getRunTime() + run.seconds_left)
        self._solver.run()
        return bool(self._solver.getModelStatus() == self._optimal)

    def solve(self, run: Run) -> Solution | None:
        """None when the clock ran out."""
        if not self._is_solved(run):
            if run.is_over:
                return None
            self._solver.clearSolver()  # a fresh start, should the solver have lost its way
            if not self._is_solved(run):
                return None if run.is_over else Solution(np.zeros(self.families.size), np.zeros(len(self.cuts)))
        found = self._solver.getSolution()
        multipliers = np.where(self._holds, found.row_dual[self.families.n :], 0.0)
        self._slack_rounds = np.where(multipliers > TINY, 0, self._slack_rounds + 1)
        weights = np.zeros(self.families.size)
        weights[self._columns] = found.col_value[self.families.n :]
        return Solution(weights, multipliers)
