"""The linear relaxation over listed families with cluster cuts: a bound, reduced costs and good networks.

Costs are shortfalls: what a family gives up against the best of its variable. A network picks one family for each
variable; for every set C of variables at least k of the families of its members have fewer than k parents in C.
Minimising the cost over weights that add up to one for each variable and obey the violated ones of these cuts gives
multipliers. Nothing else is taken from the linear program: bounds and reduced costs are computed again, exactly, from
multipliers rounded to a grid, and any multipliers from 0 on give a valid bound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topdag import _core
from topdag.errors import TooLarge
from topdag.runs import Run
from topdag.stores import Floats, ListStore

Marks = NDArray[np.bool_]
Masks = NDArray[np.uint64]
Whole = NDArray[np.int64]

MOST_VARIABLES = 64
CLIMBS = 1_000
SEED = 1
EXACT_BITS = 52  # sums of this many bits are exact in doubles
HEADROOM = 16.0  # multipliers may add up to so many times what the worst families cost
MOST_K = 3
CUTS_A_ROUND = 200
LEAST_VIOLATION = 1e-4
SEARCH_STEPS = 20_000
HALVES_A_ROUND = 50
LEAST_HALF_VIOLATION = 0.05  # of a half at most
SLACK_ROUNDS = 4  # a cut that has been slack for so long is dropped
PATIENCE = 15  # the root ends when in so many rounds the bound has gained less than this share of the gap
PATIENCE_GAIN = 0.01
FIRST_FAMILIES = 10  # of each variable, which the program begins with
MOST_ADMITTED = 500  # families that enter at a time
SECONDS_A_TICK = 0.2
TINY = 1e-9
CLOSE, CLOSE_SHARE = 1e-9, 1e-12  # networks that cost this much less, and this share of the cost, count as equal
SOLVER_OPTIONS: dict[str, Any] = {
    "output_flag": False,
    "threads": 1,
    "presolve": "off",
    "solver": "simplex",
    "dual_feasibility_tolerance": 1e-9,
}


@dataclass(frozen=True)
class Incumbent:
    """A network, as a parent mask for each variable, and its cost."""

    masks: tuple[int, ...]
    cost: float


@dataclass(frozen=True)
class Families:
    """Listed families as costs, by variable, in the order of the list they come from."""

    n: int
    offsets: Whole
    parents: Masks
    costs: Floats
    exponent: int  # costs are multiples of 2**-exponent, and so are multipliers
    core: _core.ClusterFamilies

    @classmethod
    def of_store(cls, store: ListStore) -> Families:
        offsets, costs = np.ascontiguousarray(store.lists.offsets), costs_of(store)
        largest = HEADROOM * (np.maximum.reduceat(costs, offsets[:-1]).sum() + 1.0)
        exponent = max(-exponent_of(common_step(costs)), EXACT_BITS - exponent_of(largest))
        return cls.build(offsets, parents_of(store), costs, exponent)

    @classmethod
    def build(cls, offsets: Whole, parents: Masks, costs: Floats, exponent: int) -> Families:
        return cls(len(offsets) - 1, offsets, parents, costs, exponent, _core.ClusterFamilies(offsets, parents))

    @property
    def size(self) -> int:
        return len(self.costs)

    @property
    def owners(self) -> Whole:
        return np.repeat(np.arange(self.n), np.diff(self.offsets))

    def places(self, masks: Sequence[int]) -> Marks:
        """Marks the families of a network."""
        marks: Marks = self.parents == np.array(masks, dtype=np.uint64)[self.owners]
        return marks

    def first(self, most: int) -> Marks:
        """The first families of each variable, so many at most."""
        return np.arange(self.size) - np.repeat(self.offsets[:-1], np.diff(self.offsets)) < most

    def only(self, kept: Marks) -> Families:
        """Just these families; their costs stay what they are."""
        counts = np.concatenate([[0], np.cumsum(kept)])[self.offsets]
        return Families.build(counts, self.parents[kept], self.costs[kept], self.exponent)

    def bound(self, allowed: Marks, cuts: _core.Cuts, multipliers: Floats) -> tuple[float, Floats]:
        """What networks of allowed families cost at least, and those with each family; exact, so always valid."""
        on_grid = self.on_grid(multipliers, cuts)
        bound, excess = cuts.bound(self.costs, allowed.view(np.uint8), on_grid)
        return bound, bound + excess

    def on_grid(self, multipliers: Floats, cuts: _core.Cuts) -> Floats:
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


def parents_of(store: ListStore) -> Masks:
    if store.n > MOST_VARIABLES:
        raise TooLarge(f"{store.n} variables: the relaxation takes at most {MOST_VARIABLES}. Leave some out.")
    return np.ascontiguousarray(store.lists.masks[:, 0])


def candidates_of(store: ListStore) -> _core.Candidates:
    """The families that orders use."""
    return _core.undominated(_core.Candidates(store.n, store.lists.offsets, parents_of(store), store.rounded))


class Known:
    """What is known at any moment, also after an interruption: no network costs less than ``bound``.

    ``incumbent`` is the best network met; None: none yet, and none at all once the bound is infinite.
    """

    def __init__(self, store: ListStore, run: Run) -> None:
        self.incumbent: Incumbent | None = None
        self.bound = 0.0
        self.candidates = candidates_of(store)
        self.step = common_step(costs_of(store))
        self._run = run
        self.best_score = float(best_scores(store).sum())
        self.elsewhere = 0.0  # what variables outside the store add to the scores told to who watches
        self._next_tick = 0.0

    @property
    def cost(self) -> float:
        return math.inf if self.incumbent is None else self.incumbent.cost

    def offer(self, cost: float, masks: list[int]) -> bool:
        """Takes a network that is better than the best so far."""
        if cost < self.cost:
            self.incumbent = Incumbent(tuple(masks), cost)
            return True
        return False

    def climb(self, climbs: int = CLIMBS) -> None:
        self.offer(*_core.climb_orders(self.candidates, climbs, SEED, self._run.seconds_left, self._run.on_tick))

    def round(self, families: Families, weights: Floats) -> bool:
        """Looks for a network near the weights of a solution."""
        return self.offer(*_core.climb_from_weights(self.candidates, families.core, weights))

    @property
    def cutoff(self) -> float:
        """What a better network may cost at most; nearer ones count as equally good."""
        return self.cost - max(self.step, CLOSE + CLOSE_SHARE * self.cost) if self.incumbent else math.inf

    def raise_bound(self, bound: float) -> None:
        self.bound = max(self.bound, min(bound, self.cost))

    def tick(self, done: int, total: int) -> None:
        """Tells who watches, a few times a second."""
        if self._run.seconds >= self._next_tick:
            self._next_tick = self._run.seconds + SECONDS_A_TICK
            most = self.elsewhere + self.best_score
            best = None if self.incumbent is None else most - self.incumbent.cost
            self._run.tick("relaxing", done, total, best, most - self.bound)


@dataclass(frozen=True)
class Solution:
    """What the linear program says: weights of families and multipliers of cuts. Only a hint."""

    weights: Floats
    multipliers: Floats


def known_from(store: ListStore, run: Run, known: Known | None, incumbent: Incumbent | None) -> Known:
    """What is known at the start, with the network given."""
    known = Known(store, run) if known is None else known
    if incumbent is not None:
        known.offer(incumbent.cost, list(incumbent.masks))
    return known


class Program:
    """The linear program: weights of families, a row for each variable, then one for each cut.

    It begins with few families; ``admit`` brings in others. Each variable has a stopgap besides, a family without
    parents that costs more than any network of interest, so that there always is a solution.
    """

    def __init__(self, families: Families, stopgap_cost: float) -> None:
        import highspy

        self.families = families
        self.cuts = _core.Cuts(families.core)
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

    def add_halves(self, weights: Floats) -> int:
        """Adds halved sums of tight clusters that the weights violate; how many that were."""
        self.cuts.add_halves(weights, HALVES_A_ROUND, LEAST_HALF_VIOLATION)
        return self._add_rows()

    def _add_rows(self) -> int:
        """For the cuts that have none yet."""
        first, last = len(self._slack_rounds), len(self.cuts)
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
        multipliers = np.array(found.row_dual[self.families.n :])
        self._slack_rounds = np.where(multipliers > TINY, 0, self._slack_rounds + 1)
        weights = np.zeros(self.families.size)
        weights[self._columns] = found.col_value[self.families.n :]
        return Solution(weights, multipliers)


@dataclass(frozen=True)
class Relaxation:
    """What the relaxation says; costs, for families in the order of the store.

    ``bound``: no network costs less. ``family_bounds``: no network with the family costs less. Families whose bound is
    above ``threshold`` were left out of the program; on the others ``clusters`` (mask, k) with ``multipliers`` give a
    bound of at least ``bound``. ``incumbent`` is None when there is no network, and the bound infinite.
    """

    bound: float
    threshold: float
    clusters: list[tuple[int, int]]
    multipliers: Floats
    family_bounds: Floats
    rounds: int
    cuts: int
    incumbent: Incumbent | None

    @property
    def reduced_costs(self) -> Floats:
        """By how much networks with a family cost more than the bound, at least."""
        return np.maximum(self.family_bounds - self.bound, 0.0)

    def kept_families(self, threshold: float) -> Marks:
        """Marks the families that some network of at most this cost may have."""
        return self.family_bounds <= threshold


def solve_root(
    store: ListStore,
    run: Run,
    *,
    incumbent: Incumbent | None = None,
    epsilon: float = 0.0,
    known: Known | None = None,
) -> Relaxation:
    """The relaxation with cuts added until none is violated, the bound meets the best network or the clock runs out.

    Keeps all families of networks that cost up to ``epsilon`` more than the best network met. ``known`` is kept up to
    date all the while.
    """
    known = known_from(store, run, known, incumbent)
    root = _Root(Families.of_store(store), known, epsilon)
    if not root.has_network():
        known.bound = math.inf
        return root.relaxation()
    known.round(root.families, np.zeros(root.families.size))
    known.climb()
    root.begin()
    while root.goes_on() and not run.is_over and root.solve(run):
        known.tick(root.rounds, 0)
    return root.relaxation()


class _Root:
    """The root while it is solved."""

    def __init__(self, families: Families, known: Known, epsilon: float) -> None:
        self.families = families
        self.known = known
        self.epsilon = epsilon
        self.family_bounds = np.zeros(families.size)
        self.clusters: list[tuple[int, int]] = []
        self.multipliers: Floats = np.zeros(0)
        self.bound = 0.0
        self.threshold = math.inf
        self.rounds = 0
        self.n_cuts = 0
        self._history: list[float] = []
        self._is_separated = self._is_priced = False

    def has_network(self) -> bool:
        return self.families.core.propagate(np.ones(self.families.size, dtype=np.uint8))

    def begin(self) -> None:
        self.program = Program(self.families, 4.0 * self.known.cost + 1.0)
        # With the families of a network there is a solution without stopgaps.
        no_weights = np.zeros(self.families.size)
        _, masks = _core.climb_from_weights(self.known.candidates, self.families.core, no_weights)
        self.program.admit(self.families.places(masks) | self.families.first(FIRST_FAMILIES))
        self._lower_threshold()

    def goes_on(self) -> bool:
        """Until the best network is proved, no cut is violated or the bound hardly moves."""
        if self.bound > self.known.cutoff or (self._is_separated and self._is_priced):
            return False
        if len(self._history) <= PATIENCE:
            return True
        gained = self.bound - self._history[-1 - PATIENCE]
        return gained > PATIENCE_GAIN * (self.known.cost - self.bound)

    def solve(self, run: Run) -> bool:
        """One round: solve, bound, look for a network, cut. False when the solver stopped."""
        allowed = self.family_bounds <= self.threshold
        self.program.allow(allowed)
        solution = self.program.solve(run)
        if solution is None:
            return False
        self.rounds += 1
        self._learn(allowed, solution)
        if self.known.round(self.families, solution.weights):
            self._lower_threshold()
        self._cut(solution)
        return True

    def _learn(self, allowed: Marks, solution: Solution) -> None:
        bound, family_bounds = self.families.bound(allowed, self.program.cuts, solution.multipliers)
        self._is_priced = self.program.price(family_bounds) == 0
        # Families left out make a bound good only up to the threshold they were left out for.
        np.maximum(
            self.family_bounds, np.minimum(family_bounds, self.threshold + self.known.step), out=self.family_bounds
        )
        if bound >= self.bound:
            self.bound = bound
            multipliers = self.families.on_grid(solution.multipliers, self.program.cuts)
            self.clusters = [self.program.cuts[c][0][0] for c in np.flatnonzero(multipliers).tolist()]
            self.multipliers = multipliers[multipliers > 0]
            self.known.raise_bound(bound)
        if self._is_priced or self.bound > 0:  # before that, families come in and the bound must wait
            self._history.append(self.bound)

    def _lower_threshold(self) -> None:
        self.threshold = min(self.threshold, self.known.cost + self.epsilon)

    def _cut(self, solution: Solution) -> None:
        found = self.families.core.separate(solution.weights, MOST_K, CUTS_A_ROUND, LEAST_VIOLATION, SEARCH_STEPS)
        self._is_separated = len(found[0]) == 0
        self.program.drop_slack_cuts()
        if not self._is_separated:
            self.n_cuts += self.program.add_clusters(*found)

    def relaxation(self) -> Relaxation:
        known = self.known
        described = self.clusters, self.multipliers, self.family_bounds, self.rounds, self.n_cuts
        return Relaxation(known.bound, self.threshold, *described, known.incumbent)
