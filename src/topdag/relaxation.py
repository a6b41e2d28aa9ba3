"""The linear relaxation over listed families with cluster cuts: a bound, reduced costs and good networks.

Costs are shortfalls: what a family gives up against the best of its variable. A network picks one family for each
variable; for every set C of variables at least k of the families of its members have fewer than k parents in C.
Minimising the cost over weights that add up to one for each variable and obey the violated ones of these cuts gives
multipliers. Nothing else is taken from the linear program: bounds and reduced costs are computed again, exactly, from
multipliers rounded to a grid, and any multipliers from 0 on give a valid bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topdag import _core
from topdag.runs import Run
from topdag.stores import Floats, ListStore

Marks = NDArray[np.bool_]
Masks = NDArray[np.uint64]
Whole = NDArray[np.int64]

CLIMBS = 1_000
SEED = 1
EXACT_BITS = 52  # sums of this many bits are exact in doubles
MOST_K = 3
CUTS_A_ROUND = 200
LEAST_VIOLATION = 1e-4
SEARCH_STEPS = 20_000
SLACK_ROUNDS = 4  # a cut that has been slack for so long is dropped
PATIENCE = 15  # the root ends when in so many rounds the bound has gained less than this share of the gap
PATIENCE_GAIN = 0.01
SECONDS_A_TICK = 0.2
TINY = 1e-9
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
        offsets = np.ascontiguousarray(store.lists.offsets)
        costs = np.repeat(best_scores(store), np.diff(offsets)) - store.rounded
        largest = 4.0 * (np.maximum.reduceat(costs, offsets[:-1]).sum() + 1.0)
        exponent = EXACT_BITS - math.ceil(math.log2(largest))
        return cls.build(offsets, np.ascontiguousarray(store.lists.masks[:, 0]), costs, exponent)

    @classmethod
    def build(cls, offsets: Whole, parents: Masks, costs: Floats, exponent: int) -> Families:
        return cls(len(offsets) - 1, offsets, parents, costs, exponent, _core.ClusterFamilies(offsets, parents))

    @property
    def size(self) -> int:
        return len(self.costs)

    @property
    def owners(self) -> Whole:
        return np.repeat(np.arange(self.n), np.diff(self.offsets))

    @property
    def step(self) -> float:
        """Costs of networks are multiples of it: the largest power of two that divides every family's."""
        fractions, exponents = np.frexp(self.costs[self.costs > 0])
        whole = np.ldexp(fractions, 53).astype(np.int64)
        return float(np.ldexp((whole & -whole).astype(np.float64), exponents - 53).min(initial=1.0))

    def only(self, kept: Marks) -> Families:
        """Just these families; their costs stay what they are."""
        counts = np.concatenate([[0], np.cumsum(kept)])[self.offsets]
        return Families.build(counts, self.parents[kept], self.costs[kept], self.exponent)

    def bound(self, allowed: Marks, cuts: Cuts, multipliers: Floats) -> tuple[float, Floats]:
        """What networks of allowed families cost at least, and those with each family; exact, so always valid."""
        on_grid = self.on_grid(multipliers, cuts.ks)
        bound, excess = self.core.reduced_costs(self.costs, allowed.view(np.uint8), cuts.members, cuts.ks, on_grid)
        return bound, bound + excess

    def on_grid(self, multipliers: Floats, ks: Whole) -> Floats:
        """Multipliers rounded to the grid, none negative; all zero should their sums not be exact."""
        rounded = np.ldexp(np.rint(np.ldexp(np.maximum(multipliers, 0.0), self.exponent)), -self.exponent)
        fits = float(rounded @ ks) < math.ldexp(1.0, EXACT_BITS - 1 - self.exponent)
        return rounded if fits else np.zeros_like(rounded)


def best_scores(store: ListStore) -> Floats:
    """The score of each variable's best family."""
    scores: Floats = np.maximum.reduceat(store.rounded, store.lists.offsets[:-1])
    return scores


def candidates_of(store: ListStore) -> _core.Candidates:
    masks = np.ascontiguousarray(store.lists.masks[:, 0])
    return _core.Candidates(store.n, store.lists.offsets, masks, store.rounded)


class Known:
    """What is known at any moment, also after an interruption: no network costs less than ``bound``.

    ``incumbent`` is the best network met; None: none yet, and none at all once the bound is infinite.
    """

    def __init__(self, store: ListStore, run: Run, incumbent: Incumbent | None = None, bound: float = 0.0) -> None:
        self.incumbent = incumbent
        self.bound = bound
        self.candidates = candidates_of(store)
        self._run = run
        self._best_score = float(best_scores(store).sum())
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

    def raise_bound(self, bound: float) -> None:
        self.bound = max(self.bound, min(bound, self.cost))

    def tick(self, done: int, total: int) -> None:
        """Tells who watches, a few times a second."""
        if self._run.seconds >= self._next_tick:
            self._next_tick = self._run.seconds + SECONDS_A_TICK
            best = None if self.incumbent is None else self._best_score - self.incumbent.cost
            self._run.tick("relaxing", done, total, best, self._best_score - self.bound)


class Cuts:
    """Clusters (members, k), with how many rounds each has been slack."""

    def __init__(self) -> None:
        self.members: Masks = np.zeros(0, dtype=np.uint64)
        self.ks: Whole = np.zeros(0, dtype=np.int64)
        self.slack_rounds: Whole = np.zeros(0, dtype=np.int64)

    def __len__(self) -> int:
        return len(self.ks)

    def add(self, members: Masks, ks: Whole) -> None:
        self.members = np.concatenate([self.members, members])
        self.ks = np.concatenate([self.ks, ks])
        self.slack_rounds = np.concatenate([self.slack_rounds, np.zeros(len(ks), dtype=np.int64)])

    def keep(self, kept: Marks) -> None:
        self.members, self.ks, self.slack_rounds = self.members[kept], self.ks[kept], self.slack_rounds[kept]

    def copy(self) -> Cuts:
        twin = Cuts()
        twin.add(self.members, self.ks)
        return twin

    def pairs(self) -> list[tuple[int, int]]:
        return list(zip(self.members.tolist(), self.ks.tolist(), strict=True))


@dataclass(frozen=True)
class Solution:
    """What the linear program says: weights of families and multipliers of cuts. Only a hint."""

    weights: Floats
    multipliers: Floats


class Program:
    """The linear program: weights of families, a row for each variable, then one for each cut.

    Each variable has a stopgap besides, a family without parents that costs more than any network of interest, so
    that there always is a solution.
    """

    def __init__(self, families: Families, stopgap_cost: float) -> None:
        import highspy

        self.families = families
        self.cuts = Cuts()
        self._infinity = highspy.kHighsInf
        self._optimal = highspy.HighsModelStatus.kOptimal
        self._solver = highspy.Highs()
        for option, value in SOLVER_OPTIONS.items():
            self._solver.setOptionValue(option, value)
        self._open = np.ones(families.size, dtype=np.bool_)
        self._fill(stopgap_cost)

    def _fill(self, stopgap_cost: float) -> None:
        families, n, size = self.families, self.families.n, self.families.size + self.families.n
        nothing = np.zeros(0, dtype=np.int32)
        self._solver.addRows(n, np.ones(n), np.ones(n), 0, np.zeros(n, dtype=np.int32), nothing, np.zeros(0))
        costs = np.concatenate([families.costs, np.full(n, stopgap_cost)])
        rows = np.concatenate([families.owners, np.arange(n)]).astype(np.int32)
        bounds = np.zeros(size), np.full(size, self._infinity)
        self._solver.addCols(size, costs, *bounds, size, np.arange(size, dtype=np.int32), rows, np.ones(size))

    def add_cuts(self, members: Masks, ks: Whole) -> None:
        starts, columns = self.families.core.rows(members, ks)
        lower, upper = ks.astype(np.float64), np.full(len(ks), self._infinity)
        self._solver.addRows(len(ks), lower, upper, len(columns), starts, columns, np.ones(len(columns)))
        self.cuts.add(members, ks)

    def drop_slack_cuts(self, rounds: int = SLACK_ROUNDS) -> None:
        dropped = self.cuts.slack_rounds >= rounds
        if dropped.any():
            rows = (self.families.n + np.flatnonzero(dropped)).astype(np.int32)
            self._solver.deleteRows(len(rows), rows)
            self.cuts.keep(~dropped)

    def allow(self, allowed: Marks) -> None:
        """Only these families may have weight."""
        changed = np.flatnonzero(allowed != self._open).astype(np.int32)
        if len(changed):
            upper = np.where(allowed[changed], self._infinity, 0.0)
            self._solver.changeColsBounds(len(changed), changed, np.zeros(len(changed)), upper)
            self._open = allowed.copy()

    def solve(self, run: Run) -> Solution | None:
        """None when the clock ran out or the solver gave up."""
        if run.seconds_left is not None:
            self._solver.setOptionValue("time_limit", self._solver.getRunTime() + run.seconds_left)
        self._solver.run()
        if self._solver.getModelStatus() != self._optimal:
            return None
        found = self._solver.getSolution()
        multipliers = np.array(found.row_dual[self.families.n :])
        self.cuts.slack_rounds = np.where(multipliers > TINY, 0, self.cuts.slack_rounds + 1)
        return Solution(np.array(found.col_value[: self.families.size]), multipliers)


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
    known = Known(store, run, incumbent) if known is None else known
    root = _Root(Families.of_store(store), known, epsilon)
    if not root.has_network():
        known.bound = math.inf
        return root.relaxation()
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
        self.step = families.step
        self.family_bounds = np.zeros(families.size)
        self.cuts = Cuts()
        self.multipliers: Floats = np.zeros(0)
        self.bound = 0.0
        self.threshold = math.inf
        self.rounds = 0
        self.n_cuts = 0
        self._history: list[float] = []
        self._is_separated = False

    def has_network(self) -> bool:
        return self.families.core.propagate(np.ones(self.families.size, dtype=np.uint8))

    def begin(self) -> None:
        self.program = Program(self.families, 4.0 * self.known.cost + 1.0)
        self._lower_threshold()

    def goes_on(self) -> bool:
        """Until the best network is proved, no cut is violated or the bound hardly moves."""
        if self.bound > self.known.cost - self.step or self._is_separated:
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
        # Families left out make a bound good only up to the threshold they were left out for.
        np.maximum(self.family_bounds, np.minimum(family_bounds, self.threshold + self.step), out=self.family_bounds)
        if bound >= self.bound:
            self.bound = bound
            self.cuts = self.program.cuts.copy()
            self.multipliers = self.families.on_grid(solution.multipliers, self.cuts.ks)
            self.known.raise_bound(bound)
        self._history.append(self.bound)

    def _lower_threshold(self) -> None:
        self.threshold = min(self.threshold, self.known.cost + self.epsilon)

    def _cut(self, solution: Solution) -> None:
        found = self.families.core.separate(solution.weights, MOST_K, CUTS_A_ROUND, LEAST_VIOLATION, SEARCH_STEPS)
        self._is_separated = len(found[0]) == 0
        self.program.drop_slack_cuts()
        if not self._is_separated:
            self.program.add_cuts(*found)
            self.n_cuts += len(found[0])

    def relaxation(self) -> Relaxation:
        used = self.multipliers > 0
        self.cuts.keep(used)
        return Relaxation(
            self.known.bound,
            self.threshold,
            self.cuts.pairs(),
            self.multipliers[used],
            self.family_bounds,
            self.rounds,
            self.n_cuts,
            self.known.incumbent,
        )
