"""Lists of networks under constraints on several variables at once, by branch and cut with their clauses as cuts.

An allowed network comes first (``growing_lists``), best or not: its score tells which families can matter to others.
Then the space is cut into parts, each without what is listed already (``search.partition``), with the clauses as cuts.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property

from topdag._util.run import Run
from topdag._util.stop import Stop
from topdag.constrained.found import Found
from topdag.constrained.growing_lists import GrowingLists, families_left
from topdag.scoring.keep import MOST_IN_A_LIST
from topdag.scoring.score import scored_whole
from topdag.scoring.scores import Scores
from topdag.search.partition.listed import Kind, Listed
from topdag.search.partition.listing import list_by_partition
from topdag.search.reach import FURTHEST, first_slack, further_slack
from topdag.search.relaxation import Incumbent

BY_CLAUSES = "partition on branch and cut with clauses"


def list_by_clauses(
    scores: Scores, run: Run, *, most: int, epsilon: float = math.inf, of_classes: bool = False
) -> Found:
    """The best ``most`` allowed networks, none more than ``epsilon`` nats behind the best; when stopped, what is
    known by then. ``of_classes``: networks of the best ``most`` classes, some of each."""
    return _ClauseListing(scores, run, most, epsilon, of_classes).go()


class _ClauseListing:
    """``found`` is true at any moment."""

    def __init__(self, scores: Scores, run: Run, most: int, epsilon: float, of_classes: bool) -> None:
        self.scores, self.run = scores, run
        self.most, self.epsilon, self.of_classes = most, epsilon, of_classes
        self.best = GrowingLists(scores, run, proves=False)
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
        furthest = min(self.epsilon, FURTHEST - self.behind)
        slack = furthest if self.most >= MOST_IN_A_LIST else first_slack(self.most)
        before = 0
        while True:
            slack = min(slack, furthest)
            is_full = self._list(slack)
            if is_full is None:
                return replace(self.found, limit=self.limit or self.run.limit)
            if is_full or slack == self.epsilon or slack >= self._spread:
                return self.found
            if slack == furthest:
                return replace(self.found, limit=Stop.TOO_FAR)
            n_found = len(self.found.networks)
            slack, before = min(further_slack(slack, n_found, before), self._spread), n_found

    @cached_property
    def _spread(self) -> float:
        """No network is further behind the best; infinite when that is not known: not all families can be listed."""
        every = self.scores if self.scores.lists_all else scored_whole(self.scores, self.run, relaxed=True)
        return math.inf if every is None else every.store.listed.largest_shortfall

    def _list(self, slack: float) -> bool | None:
        """All networks so far behind the best: whether as many as wanted are among them; None when the time is up."""
        rounding = self.scores.tolerance
        lowest = self.value - slack - rounding
        store = self.best.lists.for_lists(slack + rounding, self.behind + slack + rounding)
        if store is None:
            return None
        assert self.best.root is not None and self.scores.compiled is not None
        store = families_left(store, self.best.root, lowest)
        kind = Kind.CLASSES if self.of_classes else Kind.NETWORKS
        most = math.fsum(store.best_scores) - lowest
        listed = Listed(store, self.run, kind, self.most, most, self.scores.compiled.rest.allows)
        best, value = max(self.found.networks.items(), key=lambda found: found[1])  # better than the first, maybe
        start = Incumbent(best, listed.best_score - value)
        search = list_by_partition(store, self.run, listed, start, rows=self.best.clauses, first=self.best.root)
        self.limit = search.limit
        self.found.parts, self.found.cuts = self.found.parts + search.parts, self.found.cuts + search.cuts
        self._take(listed, is_done=search.limit is None)
        return listed.is_full if search.limit is None else None

    def _take(self, listed: Listed, *, is_done: bool) -> None:
        """What was known before goes only when all that counts was listed again."""
        networks = {masks: listed.best_score - cost for masks, cost in listed.found}
        self.found.networks = networks if is_done else {**self.found.networks, **networks}
        self.found.bound = min(self.found.bound, listed.best_score - (listed.most if is_done else listed.bound))
