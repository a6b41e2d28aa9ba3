"""The linear relaxation over listed families with cluster cuts: a bound, reduced costs and good networks.

Costs are shortfalls: what a family gives up against the best of its variable. A network picks one family for each
variable; for every set C of variables at least k of the families of its members have fewer than k parents in C.
Minimising the cost over weights that add up to one for each variable and satisfy the violated ones of these cuts gives
multipliers. Nothing else is taken from the linear program: bounds and reduced costs are computed again, exactly, from
multipliers rounded to a grid, and any multipliers from 0 on give a valid bound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field

import numpy as np

from topdag import _core
from topdag._util.arrays import Floats, Marks
from topdag._util.bitsets import NARROW, masks_in
from topdag._util.run import Run
from topdag._util.stop import Stop
from topdag.search.ascent import Ascent
from topdag.search.costs import SEED, Cluster, Families, candidates_of, costs_of, network_near
from topdag.search.linear_program import LEAST_VIOLATION, Program, Row, Rows, Solution, cuts_of
from topdag.search.stores import ListStore, common_step

CLIMBS = 1_000
FEWEST_CLIMBS = 100
WIDE_CLIMBS = 4_000  # with more than 64 variables, where a nat more at the start costs minutes later
LONGER_CLIMBS = 1_000
CLIMBING_WORK = 100_000_000  # climbs times families or pairs of variables, at most: a bound is to come soon
CLIMBING_SHARE = 0.25  # of the time left, at most: climbing says nothing about the bound
MOST_K = 3
CUTS_A_ROUND = 200
SEARCH_STEPS = 20_000
PATIENCE = 8  # the root ends when in so many rounds the bound has gained less than this share of the gap
PATIENCE_GAIN = 0.01
ASCENT_FROM = 5_000  # families: the linear program then begins near its end, with a quarter of the columns
ASCENT_ROUNDS = 20  # of lists that are not long; what is left the linear program does more quickly
ASCENT_PATIENCE = 5
LEAST_ASCENT_VIOLATION = 0.05  # by clusters: what its weights violate by less is as likely the temperature
FIRST_FAMILIES = 10  # of each variable, which the program begins with
SECONDS_A_TICK = 0.2

CLOSE, CLOSE_SHARE = 1e-9, 1e-12  # networks that cost this much less, and this share of the cost, count as equal


@dataclass(frozen=True)
class Incumbent:
    """A network, as a parent mask for each variable, and its cost."""

    masks: tuple[int, ...]
    cost: float


class Known:
    """What is known at any moment, also after an interruption: no network costs less than ``bound``.

    ``incumbent`` is the best network found; None: none yet, and none at all once the bound is infinite. No network
    costs more than ``most``. ``method``: what was at work last; ``work``: counts; ``limit``: what stopped it, if not
    the run. ``clusters``: cuts (members, k) to begin with, in the end those that gave the bound: where they come from
    a search on much the same scores, climbing is short too.
    """

    most = math.inf

    def __init__(self, store: ListStore, run: Run) -> None:
        self.store = store
        self.incumbent: Incumbent | None = None
        self.bound = 0.0
        self.method = "climbing over orders"
        self.work: dict[str, int] = {}
        self.limit: Stop | None = None
        self.clusters: list[Cluster] = []
        self.candidates = candidates_of(store)
        self.step = common_step(costs_of(store))
        self._run = run
        self.best_score = math.fsum(store.best_scores)  # shown; what is compared are costs
        self.elsewhere = 0.0  # what variables outside the store add to the scores told to who watches
        self._next_tick = 0.0
        self._n_climbed = 0

    def within(self, run: Run, incumbent: Incumbent | None) -> Known:
        """The same with this network, for a part of the work, which has a run of its own."""
        own = copy(self)
        own.incumbent, own._run, own._next_tick = incumbent, run, 0.0
        return own

    @property
    def cost(self) -> float:
        return self.most if self.incumbent is None else self.incumbent.cost

    @property
    def masks(self) -> list[int] | None:
        return None if self.incumbent is None else list(self.incumbent.masks)

    @property
    def score_bound(self) -> float:
        """No network scores more."""
        return self.best_score - self.bound

    @property
    def is_proved(self) -> bool:
        return self.bound >= self.cost

    def counted(self, **numbers: int) -> None:
        for name, number in numbers.items():
            what = name.replace("_", " ")
            self.work[what] = self.work.get(what, 0) + number

    def offer(self, cost: float, masks: list[int]) -> bool:
        """Takes a network that is better than the best so far."""
        if cost < self.cost:
            self.incumbent = Incumbent(tuple(masks), cost)
            return True
        return False

    def climb(self, climbs: int | None = None) -> None:
        """Over orders, so many times; not at all where nothing can be cheaper, as in a part of one variable."""
        if self.is_proved:
            return
        if climbs is None:
            climbs = CLIMBS if self.candidates.n_variables <= NARROW else WIDE_CLIMBS
            climbs = FEWEST_CLIMBS if self.clusters else climbs
        self._climb(min(climbs, max(FEWEST_CLIMBS, CLIMBING_WORK // max(self.candidates.size, self.store.n**2))))

    def climb_longer(self) -> None:
        """Where a linear program takes minutes, a better network costs little."""
        if not self.is_proved:
            self._climb(LONGER_CLIMBS)

    def _climb(self, climbs: int) -> None:
        """With other draws each time."""
        seed = SEED + (self._n_climbed << 32)
        self._n_climbed += 1
        left = self._run.seconds_left
        limits = _core.Limits(self._run.threads, None if left is None else CLIMBING_SHARE * left, self._run.tick)
        self.offer(*_core.climb_orders(self.candidates, climbs, seed, limits))

    def round(self, families: Families, weights: Floats) -> bool:
        """Looks for a network near the weights of a solution."""
        return self.offer(*network_near(self.candidates, families, weights))

    @property
    def cutoff(self) -> float:
        """What a better network may cost at most; nearer ones count as equally good."""
        return self.cost - max(self.step, CLOSE + CLOSE_SHARE * self.cost) if self.incumbent else self.most

    def raise_bound(self, bound: float) -> None:
        self.bound = max(self.bound, bound if self.incumbent is None else min(bound, self.incumbent.cost))

    def tick(self, done: int, total: int) -> None:
        """Tells who watches, a few times a second."""
        if self._run.seconds >= self._next_tick:
            self._next_tick = self._run.seconds + SECONDS_A_TICK
            most = self.elsewhere + self.best_score
            best = None if self.incumbent is None else most - self.incumbent.cost
            self._run.tick("relaxing", done, total, best, most - self.bound)


def known_from(store: ListStore, run: Run, known: Known | None, incumbent: Incumbent | None) -> Known:
    """What is known at the start, with the network given."""
    known = Known(store, run) if known is None else known
    if incumbent is not None:
        known.offer(incumbent.cost, list(incumbent.masks))
    return known


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
    rows: tuple[Row, ...] = ()  # other cuts that have multipliers,
    row_multipliers: Floats = field(default_factory=lambda: np.zeros(0))  # and these

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
    rows: Rows | None = None,
    first_cuts: Relaxation | None = None,
) -> Relaxation:
    """The relaxation with cuts added until none is violated, the bound meets the best network or the clock runs out.

    Keeps all families of networks that cost up to ``epsilon`` more than the best network found. ``known`` is kept up to
    date all the while. ``rows``: further cuts that networks must satisfy to be asked for. ``first_cuts``: where to take
    the first cuts from, which may be of other families of the same variables.
    """
    known = known_from(store, run, known, incumbent)
    root = _Root(Families.of_store(store), known, epsilon, rows)
    if not root.has_network():
        known.bound = math.inf
        return root.relaxation()
    known.round(root.families, np.zeros(root.families.size))
    known.climb()
    if root.families.is_long or (rows is None and root.families.size >= ASCENT_FROM):
        root.ascend(first_cuts, run)
    root.begin(first_cuts)
    while root.goes_on() and not run.is_over and root.solve(run):
        known.tick(root.rounds, 0)
    return root.relaxation()


class _Root:
    """The root while it is solved."""

    def __init__(self, families: Families, known: Known, epsilon: float, more: Rows | None) -> None:
        self.families = families
        self.more = more
        self.rows: tuple[Row, ...] = ()
        self.row_multipliers: Floats = np.zeros(0)
        self.known = known
        self.epsilon = epsilon
        self.family_bounds = np.zeros(families.size)
        self.clusters: list[tuple[int, int]] = []
        self.multipliers: Floats = np.zeros(0)
        self.bound = 0.0
        self.threshold = math.inf
        self.rounds = 0
        self.n_cuts = 0
        self._near: Marks = families.first(FIRST_FAMILIES)  # families to begin with,
        self._bound_before = 0.0  # and the bound then
        self._history: list[float] = []
        self._is_separated = self._is_priced = False

    def has_network(self) -> bool:
        return self.families.core.propagate(np.ones(self.families.size, dtype=np.uint8))

    def ascend(self, first_cuts: Relaxation | None, run: Run) -> None:
        """Clusters with multipliers, a bound and the families near it, without a linear program: for a few rounds, of
        long lists until the bound hardly moves."""
        self._lower_threshold()
        ascent = Ascent(self.families, (self._some_network()[0] or 1.0) / self.families.n)
        ascent.replace_idle([*self.known.clusters, *([] if first_cuts is None else first_cuts.clusters)])
        bounds = [0.0]
        most_rounds = math.inf if self.families.is_long else ASCENT_ROUNDS
        while self.rounds < most_rounds and self.bound <= self.known.cutoff and not run.is_over:
            allowed = self.family_bounds <= self.threshold
            bound, family_bounds = ascent.climb(allowed, run)
            self.rounds += 1
            if self._learn(bound, family_bounds):
                used = {cluster: by for cluster, by in ascent.multipliers.items() if by > 0}
                self.clusters, self.multipliers = list(used), np.array(list(used.values()))
            bounds.append(self.bound)
            self.known.tick(self.rounds, 0)
            if ascent.is_cold and not self._gained(bounds, ASCENT_PATIENCE):
                break
            weights = ascent.shares()
            if self.known.round(self.families, weights):
                self._lower_threshold()
            found = self.families.core.separate(
                weights, MOST_K, CUTS_A_ROUND, LEAST_ASCENT_VIOLATION, SEARCH_STEPS, run.threads
            )
            self.n_cuts += ascent.replace_idle(zip(masks_in(found[0]), found[1].tolist(), strict=True))
        if self.families.is_long:
            self.known.climb_longer()
        self._near = ascent.near
        self._bound_before = self.bound

    def begin(self, first_cuts: Relaxation | None) -> None:
        self.program = Program(self.families, self.known.cost)
        self.program.add_cuts(self.clusters or self.known.clusters, ())
        if first_cuts is not None:
            self.program.add_cuts(first_cuts.clusters, first_cuts.rows)
        # With the families of a network there is a solution without stopgaps.
        self.program.admit(self.families.places(self._some_network()[1]) | self._near)
        self._lower_threshold()

    def _some_network(self) -> tuple[float, list[int]]:
        return network_near(self.known.candidates, self.families, np.zeros(self.families.size))

    def goes_on(self) -> bool:
        """Until the best network is proved, no cut is violated or the bound hardly moves."""
        if max(self.bound, self.known.bound) > self.known.cutoff or (self._is_separated and self._is_priced):
            return False
        return self._gained(self._history, PATIENCE)

    def _gained(self, bounds: Sequence[float], patience: int) -> bool:
        """Whether in so many rounds the bound has gained enough, or there were not so many yet."""
        return len(bounds) <= patience or self.bound - bounds[-1 - patience] > PATIENCE_GAIN * (
            self.known.cost - self.bound
        )

    def solve(self, run: Run) -> bool:
        """One round: solve, bound, look for a network, cut. False when the solver stopped."""
        allowed = self.family_bounds <= self.threshold
        self.program.allow(allowed)
        solution = self.program.solve(run)
        if solution is None:
            return False
        self.rounds += 1
        self._learn_from(allowed, solution)
        if self.known.round(self.families, solution.weights):
            self._lower_threshold()
        self._cut(solution, run)
        return True

    def _learn_from(self, allowed: Marks, solution: Solution) -> None:
        bound, family_bounds = self.families.bound(allowed, self.program.cuts, solution.multipliers)
        self._is_priced = self.program.price(family_bounds) == 0
        if self._learn(bound, family_bounds):
            multipliers = self.families.on_grid(solution.multipliers, self.program.cuts.limits())
            used = np.flatnonzero(multipliers)
            is_row = np.array([self.program.rows[c] is not None for c in used], dtype=np.bool_)
            self.rows = tuple(row for c in used[is_row] if (row := self.program.rows[c]) is not None)
            self.clusters = [self.program.cuts[c][0][0] for c in used[~is_row].tolist()]
            self.row_multipliers, self.multipliers = multipliers[used[is_row]], multipliers[used[~is_row]]
        if self._is_priced or self.bound > self._bound_before:  # before that, families come in and the bound must wait
            self._history.append(self.bound)

    def _learn(self, bound: float, family_bounds: Floats) -> bool:
        """Whether the bound is none the worse for this one."""
        # Families left out make a bound good only up to the threshold they were left out for.
        np.maximum(
            self.family_bounds, np.minimum(family_bounds, self.threshold + self.known.step), out=self.family_bounds
        )
        if bound < self.bound:
            return False
        self.bound = bound
        self.known.raise_bound(bound)
        return True

    def _lower_threshold(self) -> None:
        self.threshold = min(self.threshold, self.known.cost + self.epsilon)

    def _cut(self, solution: Solution, run: Run) -> None:
        found = self.families.core.separate(
            solution.weights, MOST_K, CUTS_A_ROUND, LEAST_VIOLATION, SEARCH_STEPS, run.threads
        )
        rows = [] if self.more is None else self.more.broken(self.families, solution.weights, masks_in(found[0]))
        self._is_separated = len(found[0]) == 0 and not rows
        self.program.drop_slack_cuts()
        if len(found[0]):
            self.n_cuts += self.program.add_clusters(*found)
        if rows:
            self.n_cuts += self.program.add_rows(rows)

    def relaxation(self) -> Relaxation:
        known = self.known
        described = self.clusters, self.multipliers, self.family_bounds, self.rounds, self.n_cuts
        return Relaxation(known.bound, self.threshold, *described, known.incumbent, self.rows, self.row_multipliers)


def bounds_by(root: Relaxation, families: Families) -> Floats:
    """What networks with each family cost at least, by the cuts and multipliers of a relaxation of other families of
    the same variables."""
    cuts = cuts_of(families, root.clusters, root.rows)
    multipliers = np.concatenate([root.multipliers, root.row_multipliers])
    return families.bound(np.ones(families.size, dtype=np.bool_), cuts, multipliers)[1]


def gives_its_bound(root: Relaxation, store: ListStore) -> bool:
    """Whether the cuts and multipliers give the bound that is claimed, on the families that are not left out."""
    is_cut = all(0 < members < 1 << store.n and 0 < k <= members.bit_count() for members, k in root.clusters)
    if not is_cut or not np.isfinite(root.multipliers).all() or np.isnan(root.family_bounds).any():
        return False
    families = Families.of_store(store)
    allowed = root.kept_families(root.threshold)
    return families.bound(allowed, cuts_of(families, root.clusters, root.rows), root.multipliers)[0] >= root.bound
