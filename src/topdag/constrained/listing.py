"""Lists of networks under constraints on several variables at once, by branch and cut with their clauses as cuts.

The best allowed network comes first (``growing_lists``): its score tells which families can matter to the others.
Then the space is split as for the best network, down to what is asked for; a part of which few networks can matter is
listed (``priced_listing``) instead.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Hashable, Iterable
from dataclasses import replace

import numpy as np

from topdag import _core
from topdag._util.arrays import Floats, Marks
from topdag._util.run import Run
from topdag._util.stop import Stop
from topdag.constrained.found import Found, ParentMasks
from topdag.constrained.growing_lists import GrowingLists, families_left
from topdag.constrained.priced_listing import Cheapest, Priced
from topdag.knowledge.compiled import CompiledConstraints
from topdag.scoring.keep import MOST_IN_A_LIST
from topdag.scoring.scores import Scores
from topdag.search.branch_and_cut import PartSearch
from topdag.search.costs import Families
from topdag.search.engines import sizes
from topdag.search.linear_program import Solution
from topdag.search.partition.listed import Kind, Listed
from topdag.search.partition.listing import list_by_partition
from topdag.search.reach import FURTHEST, first_slack, further_reach
from topdag.search.relaxation import Incumbent, Known, solve_root
from topdag.search.stores import ListStore

NEAR_BEST = 1.5
"""A part is listed when its bound is no more than so many nats below what the best network costs,"""
MOST_SETS_PASSED = 200_000
"""orders of its networks that are in question pass no more sets than this,"""
MOST_LISTED = 20_000
"""and there are no more of them."""
SCORE_ROUNDING = 1e-6
"""Scores of a network from different lists differ by less."""
BY_CLAUSES = "branch and cut with clauses and listing"


def list_by_clauses(
    scores: Scores, run: Run, *, most: int, epsilon: float = math.inf, of_classes: bool = False
) -> Found:
    """The best ``most`` allowed networks, none more than ``epsilon`` nats behind the best; when stopped, what is
    known by then. ``of_classes``: networks of the best ``most`` classes, some of each."""
    return _ClauseListing(scores, run, most, epsilon, of_classes).go()


class AllowedList(Known):
    """Allowed ``networks`` with their costs; once ``wanted`` are known, or so many classes, only what is better than
    the last of these is asked for."""

    def __init__(
        self, store: ListStore, run: Run, known: CompiledConstraints, wanted: int, lowest: float, *, of_classes: bool
    ) -> None:
        super().__init__(store, run)
        self.most = self.best_score - lowest
        self.networks: dict[ParentMasks, float] = {}
        self._known, self._wanted, self._of_classes = known, wanted, of_classes
        self._keys: set[Hashable] = set()
        self._last: list[float] = []  # the least costs of networks or classes, negated: the dearest first

    @property
    def is_full(self) -> bool:
        return len(self._last) >= self._wanted

    @property
    def found(self) -> Iterable[tuple[ParentMasks, float]]:
        return self.networks.items()

    def offer(self, cost: float, masks: list[int]) -> bool:
        own = tuple(masks)
        if cost > self.most or own in self.networks or not self._known.rest.allows(own):
            return False
        self.networks[own] = cost
        self._count(_class_of(own) if self._of_classes else own, cost)
        return True

    def _count(self, key: Hashable, cost: float) -> None:
        if key in self._keys:
            return
        self._keys.add(key)
        heapq.heappush(self._last, -cost)
        if len(self._last) > self._wanted:
            heapq.heappop(self._last)
        if self.is_full:
            self.most = min(self.most, -self._last[0] - self.step)

    def take(self, found: Cheapest) -> None:
        """Those that are allowed, the cheapest first."""
        order = np.argsort(found.costs, kind="stable")
        order = order[found.costs[order] <= self.most]
        order = order[self._known.rest.have_paths(found.parents[order])]
        for masks, cost in zip(found.parents[order].tolist(), found.costs[order].tolist(), strict=True):
            self.offer(cost, masks)

    def climb(self, climbs: int | None = None) -> None:
        """The best network is known, and the others are listed."""

    def round(self, families: Families, weights: Floats) -> bool:
        return False


def _class_of(masks: ParentMasks) -> Hashable:
    graph = _core.class_of(list(masks))
    return tuple(graph.parents), tuple(graph.neighbours)


class ListingSearch(PartSearch):
    """Parts are listed where that is little work. The root and the clauses are those of the search for the best
    network, which scores ``value``."""

    def __init__(self, store: ListStore, run: Run, listed: AllowedList, best: GrowingLists, value: float) -> None:
        root = solve_root(store, run, known=listed, rows=best.clauses, first_cuts=best.root)
        super().__init__(store, run, root, listed, rows=best.clauses)
        self._listed, self._best_cost = listed, listed.best_score - value

    def is_settled(self, allowed: Marks, solution: Solution) -> bool:
        last, cuts = self._solve(allowed), self.program.cuts  # cuts have come since the solution
        multipliers = self.families.on_grid(last.multipliers, cuts)
        if self.families.bound(allowed, cuts, multipliers)[0] < self._best_cost - NEAR_BEST:
            return False
        priced = Priced.by(self.families, allowed, cuts, multipliers)
        found = priced.networks(self._listed.cutoff, MOST_SETS_PASSED, MOST_LISTED, self.limits)
        if found is None:
            return False
        self._listed.take(found)
        return found.left > self._listed.cutoff


class _ClauseListing:
    """``found`` is true at any moment."""

    def __init__(self, scores: Scores, run: Run, most: int, epsilon: float, of_classes: bool) -> None:
        self.scores, self.run = scores, run
        self.most, self.epsilon, self.of_classes = most, epsilon, of_classes
        self.best = GrowingLists(scores, run)
        self.found = self.best.found
        self.value = self.behind = 0.0
        self.limit: Stop | None = None

    def go(self) -> Found:
        """Until the list is whole or a limit comes."""
        self.found = replace(self.best.go(), engine=BY_CLAUSES)
        if self.found.limit is not None or not self.found.networks:
            return self.found
        self.value = max(self.found.networks.values())
        self.behind = self.best.most - self.value if self.best.most < math.inf else 0.0
        furthest = min(self.epsilon, self._spread, FURTHEST - self.behind)
        slack = furthest if self.most >= MOST_IN_A_LIST else first_slack(self.most)
        while True:
            slack = min(slack, furthest)
            is_full = self._list(slack)
            if is_full is None:
                return replace(self.found, limit=self.limit or self.run.limit)
            if is_full or slack == min(self.epsilon, self._spread):
                return self.found
            if slack == furthest:
                return replace(self.found, limit=Stop.TOO_FAR)
            slack = further_reach(slack, len(self.found.networks), self.most)

    @property
    def _spread(self) -> float:
        """No network is further behind the best; infinite when not all families are listed."""
        store = self.scores.store
        return store.listed.largest_shortfall if self.scores.lists_all else math.inf

    def _list(self, slack: float) -> bool | None:
        """All networks so far behind the best: whether as many as wanted are among them; None when the time is up."""
        lowest = self.value - slack - SCORE_ROUNDING
        store = self.best.lists.for_lists(slack + SCORE_ROUNDING, self.behind + slack + SCORE_ROUNDING)
        if store is None:
            return None
        assert self.best.root is not None and self.scores.compiled is not None
        store = families_left(store, self.best.root, lowest)
        if store.n > sizes().partition:
            return self._list_by_partition(store, lowest)
        listed = AllowedList(store, self.run, self.scores.compiled, self.most, lowest, of_classes=self.of_classes)
        search = ListingSearch(store, self.run, listed, self.best, self.value)
        is_done = search.run()
        self.found.parts, self.found.cuts = self.found.parts + search.parts, self.found.cuts + search.cuts
        self._take(listed, is_done=is_done)
        return listed.is_full if is_done else None

    def _list_by_partition(self, store: ListStore, lowest: float) -> bool | None:
        """The same where more sets matter than a lattice of a part holds."""
        assert self.scores.compiled is not None
        kind = Kind.CLASSES if self.of_classes else Kind.NETWORKS
        most = math.fsum(store.best_scores) - lowest
        listed = Listed(store, self.run, kind, self.most, most, self.scores.compiled.rest.allows)
        best = max(self.found.networks, key=lambda masks: self.found.networks[masks])
        start = Incumbent(best, listed.best_score - self.value)
        search = list_by_partition(store, self.run, listed, start, rows=self.best.clauses, first=self.best.root)
        is_done = search.limit is None
        self.found.parts, self.found.cuts = self.found.parts + search.parts, self.found.cuts + search.cuts
        self.limit = search.limit
        self._take(listed, is_done=is_done)
        return listed.is_full if is_done else None

    def _take(self, listed: AllowedList | Listed, *, is_done: bool) -> None:
        """What was known before goes only when all that counts was listed again."""
        networks = {masks: listed.best_score - cost for masks, cost in listed.found}
        self.found.networks = networks if is_done else {**self.found.networks, **networks}
        self.found.bound = min(self.found.bound, listed.best_score - (listed.most if is_done else listed.bound))
