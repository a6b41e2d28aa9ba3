"""A linear program over listed families: weights that cost least, cuts that come and go, families that enter.

From a solution only the multipliers of its cuts are believed: ``Families.bound`` makes of them a bound that is right to
the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np

from topdag import _core
from topdag._util.arrays import Floats, Integers, Marks, Masks
from topdag._util.bitsets import has_member
from topdag._util.run import Run
from topdag.search.costs import Families, cluster_arrays

LEAST_VIOLATION = 1e-4  # a row that is broken by less is left out
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


class Row(Protocol):
    """Every network that is asked for has one of some families."""

    def marks(self, families: Families) -> Marks:
        """These."""


class Joined(NamedTuple):
    """There is an edge between these two variables, either way."""

    one: int
    other: int

    def marks(self, families: Families) -> Marks:
        """The families that have it."""
        found: Marks = np.zeros(families.size, dtype=np.bool_)
        found[self.places(families)] = True
        return found

    def places(self, families: Families) -> Integers:
        """Where these stand."""
        found = []
        for child, parent in (self, self[::-1]):
            begin, end = families.offsets[child : child + 2]
            found.append(begin + np.flatnonzero(has_member(families.parents[begin:end], parent)))
        return np.concatenate(found)


Ancestor: TypeAlias = tuple[int, int, bool]
"""Whether the first variable is an ancestor of the second."""
Decision: TypeAlias = Ancestor | Joined
Decisions: TypeAlias = tuple[Decision, ...]


class Rows(Protocol):
    """Rows beside the clusters, too many to add them all."""

    def broken(self, families: Families, weights: Floats, clusters: Sequence[int]) -> Sequence[Row]:
        """Rows that the weights break; ``clusters`` (masks) are broken too."""

    def under(self, decisions: tuple[Ancestor, ...]) -> Rows | None:
        """The rows of a part in which all this is decided; None when nothing can be so."""

    def admitted(self, families: Families) -> Marks:
        """The families that networks which satisfy the constraints may have."""

    def to_decide(self, families: Families, weights: Floats) -> tuple[int, int] | None:
        """Two variables of which the weights leave open whether the first is an ancestor of the second, though it
        matters; None when there are none."""


def cuts_of(families: Families, clusters: Sequence[tuple[int, int]], rows: Sequence[Row]) -> _core.Cuts:
    """First these clusters, then these rows."""
    cuts = families.cuts()
    cuts.add_clusters(*cluster_arrays(clusters, families.n))
    for row in rows:
        cuts.add_clause(row.marks(families).view(np.uint8))
    return cuts


@dataclass(frozen=True)
class Solution:
    """What the linear program says: weights of families and multipliers of cuts. Only a hint."""

    weights: Floats
    multipliers: Floats


@dataclass(frozen=True)
class Standing:
    """Where a program stood, to go on from: its cuts, the families that it had and its basis."""

    cuts: _core.CutList
    rows: tuple[Row | None, ...]  # the last three by cut, as in the program
    scopes: tuple[frozenset[Decision], ...]
    slack_rounds: Integers
    columns: Integers  # families
    basic: Integers  # families, then stopgaps
    is_basic: Marks  # by row: its slack


class Program:
    """The linear program: weights of families, a row for each variable, then one for each cut.

    It begins with few families; ``admit`` brings in others. Each variable has a stopgap besides, a family without
    parents that costs more than any network of interest, so that there always is a solution. ``cost``: of the best
    network known.
    """

    def __init__(self, families: Families, cost: float) -> None:
        import highspy

        self.families = families
        self.cuts = families.cuts()
        self.rows: list[Row | None] = []  # by cut: the row it stands for; None: clusters
        self._scopes: list[frozenset[Decision]] = []  # by cut: what must be decided for it to hold
        self._scope: frozenset[Decision] = frozenset()
        self._holds: Marks = np.zeros(0, dtype=np.bool_)  # by cut: whether it does where the program is now
        self._slack_rounds: Integers = np.zeros(0, dtype=np.int64)
        self._infinity = highspy.kHighsInf
        self._optimal = highspy.HighsModelStatus.kOptimal
        self._basis_of, self._status = highspy.HighsBasis, highspy.HighsBasisStatus
        self._solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        for option, value in SOLVER_OPTIONS.items():
            self._solver.setOptionValue(option, value)
        self._no_limit = self._solver.getOptionValue("simplex_iteration_limit")[1]
        n, size = families.n, families.size
        self._columns: Integers = np.zeros(0, dtype=np.int64)  # the family of each column after the stopgaps
        self._column_of = np.concatenate([np.full(size, -1), np.arange(n)])  # of families, then of stopgaps
        self._open = np.ones(size, dtype=np.bool_)
        ones, nothing = np.ones(n), np.zeros(0, dtype=np.int32)
        self._solver.addRows(n, ones, ones, 0, np.zeros(n, dtype=np.int32), nothing, np.zeros(0))
        self._add_columns(np.full(n, 4.0 * cost + 1.0), np.arange(n), np.arange(n), ones)

    def _add_columns(self, costs: Floats, starts: Integers, rows: Integers, values: Floats) -> None:
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

    def _close(self, columns: Integers) -> None:
        zeros = np.zeros(len(columns))
        self._solver.changeColsBounds(len(columns), columns.astype(np.int32), zeros, zeros)

    def add_clusters(self, members: Masks, ks: Integers) -> int:
        self.cuts.add_clusters(members, ks)
        return self._add_rows()

    def add_cuts(self, clusters: Sequence[tuple[int, int]], rows: Sequence[Row]) -> None:
        if clusters:
            self.add_clusters(*cluster_arrays(clusters, self.families.n))
        if rows:
            self.add_rows(rows)

    def add_rows(self, rows: Sequence[Row], *, only_here: bool = False) -> int:
        """``only_here``: they hold where all is decided that is decided now."""
        for row in rows:
            self.cuts.add_clause(row.marks(self.families).view(np.uint8))
        self.rows += rows
        return self._add_rows(self._scope if only_here else frozenset())

    def add_decided(self, edge: Joined) -> int:
        """Networks have this edge where that is decided; how many cuts that takes."""
        if edge in self.rows:
            return 0
        self.cuts.add_clause(edge.marks(self.families).view(np.uint8))
        self.rows.append(edge)
        return self._add_rows(frozenset((edge,)))

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
        lower = np.where(holds[changed], self.cuts.limits()[changed], -self._infinity)
        for row, least in zip((self.families.n + changed).tolist(), lower.tolist(), strict=True):
            self._solver.changeRowBounds(row, least, self._infinity)
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

    def standing(self) -> Standing:
        """Where it stands, after a solution and cuts."""
        basis, basic = self.basis, self._status.kBasic
        is_basic = np.array([status == basic for status in basis.col_status], dtype=np.bool_)
        places = np.concatenate([self.families.size + np.arange(self.families.n), self._columns])
        return Standing(
            self.cuts.listed(),
            tuple(self.rows),
            tuple(self._scopes),
            self._slack_rounds.astype(np.int8),
            np.flatnonzero(self.is_in & self._open).astype(np.int32),
            places[is_basic].astype(np.int32),
            np.array([status == basic for status in basis.row_status], dtype=np.bool_),
        )

    @classmethod
    def at(cls, standing: Standing, allowed: Marks, families: Families, cost: float) -> Program:
        """One that goes on from there, with those of its families that are ``allowed``; what is decided is to be said
        again."""
        program, n = cls(families, cost), families.n
        wanted = np.isin(np.arange(families.size), standing.columns) & allowed
        program.admit(wanted | np.isin(np.arange(families.size), standing.basic))
        program.cuts.replace(standing.cuts)
        program._add_rows()
        program.rows, program._scopes = list(standing.rows), list(standing.scopes)
        program._slack_rounds = standing.slack_rounds.astype(np.int64)
        if standing.is_basic.size:
            basis, status = program._basis_of(), program._status
            columns = [status.kLower] * (n + len(program._columns))
            for column in program._column_of[standing.basic].tolist():
                columns[column] = status.kBasic
            basis.col_status = columns
            basis.row_status = [status.kBasic if own else status.kLower for own in standing.is_basic.tolist()]
            program._solver.setBasis(basis)
        return program

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

    def tried(self, allowed: Marks, basis: Any, iterations: int, run: Run) -> Floats:
        """Multipliers when only these families may have weight, after so many iterations from this ``basis``."""
        self.allow(allowed)
        self._solver.setBasis(basis)
        self._solver.setOptionValue("simplex_iteration_limit", iterations)
        self._is_solved(run)
        self._solver.setOptionValue("simplex_iteration_limit", self._no_limit)
        return self._multipliers()

    @property
    def basis(self) -> Any:
        """Of the last solution, with cuts that came after it."""
        return self._solver.getBasis()

    def _multipliers(self) -> Floats:
        return np.where(self._holds, self._solver.getSolution().row_dual[self.families.n :], 0.0)

    def solve(self, run: Run) -> Solution | None:
        """None when the clock ran out."""
        if not self._is_solved(run):
            if run.is_over:
                return None
            self._solver.clearSolver()  # a fresh start, should the solver have lost its way
            if not self._is_solved(run):
                return None if run.is_over else Solution(np.zeros(self.families.size), np.zeros(len(self.cuts)))
        found = self._solver.getSolution()
        multipliers = self._multipliers()
        self._slack_rounds = np.where(multipliers > TINY, 0, self._slack_rounds + 1)
        weights = np.zeros(self.families.size)
        weights[self._columns] = found.col_value[self.families.n :]
        return Solution(weights, multipliers)
