"""The best network under constraints on several variables at once, by branch and cut on lists that grow as needed.

Where fewer edges never break the constraints, the lists for the best network without them will do. Else families with
parents that explain too little may be needed: first each list gets some with one more parent; what satisfies the
constraints among those tells how far behind the best network without constraints families may lead, and then the lists
get all that no bound rules out.

The one difference to ``rescored_lists``: here only lists of variables that the constraints can need edges of grow, and
a relaxation says which families stay. That takes a search that shares its relaxation; there whole lists are scored
again, for a search that takes lists as they are.
"""

from __future__ import annotations

import math
from dataclasses import replace

from topdag._util.arrays import Marks
from topdag._util.run import Run
from topdag._util.stop import Stop
from topdag.constrained.clause_branch_and_cut import ClauseSearch
from topdag.constrained.clauses import Clauses
from topdag.constrained.feasibility import nothing_is_allowed
from topdag.constrained.found import Found, ParentMasks
from topdag.constrained.needed_families import NeededFamilies, useful_parents
from topdag.scoring.kinds.discrete import SetScore
from topdag.scoring.scores import Scores
from topdag.search.best import search_beyond
from topdag.search.costs import Families
from topdag.search.engines import sizes
from topdag.search.reach import FURTHEST, reach_to
from topdag.search.relaxation import Known, Relaxation, bounds_by, solve_root
from topdag.search.stores import ListStore

FEW_CLIMBS = 100
WEAK = 20.0
"""A relaxation so many nats from a network it found is weak."""


def can_be_listed(scores: Scores) -> bool:
    """Whether the families that matter stand in lists, or can be put there."""
    if scores.store.is_listed:
        return scores.automatic or scores.cutoff == math.inf
    return scores.keep == "all"


def best_on_growing_lists(scores: Scores, run: Run, first: Found | None = None, *, may_be_split: bool = True) -> Found:
    """The best allowed network; when stopped, what is known by then. ``first``: what is known already;
    ``may_be_split``: a weak relaxation is a limit, where there are few variables."""
    search = GrowingLists(scores, run, may_be_split=may_be_split)
    if first is not None:
        search.found = replace(first, limit=None)
    return search.go()


class _Unconstrained(Known):
    """Of all networks of allowed families."""

    def climb(self, climbs: int | None = None) -> None:
        super().climb(climbs or FEW_CLIMBS)


class GrowingLists:
    """``found`` is true at any moment. ``most``: networks that need not be allowed score no more, infinite where
    nobody asks; ``root``: the last relaxation of those that are allowed, or of all, None before there is one.
    ``proves``: else a first allowed network will do, where longer lists would have to prove that it is the best."""

    def __init__(self, scores: Scores, run: Run, *, may_be_split: bool = True, proves: bool = True) -> None:
        assert scores.compiled is not None
        self.scores, self.known, self.run = scores, scores.compiled, run
        has_tables = not scores.store.is_listed or isinstance(scores.kind, SetScore)
        self.may_be_split = may_be_split and has_tables and scores.store.n <= sizes().split
        self._proves = proves
        self.found = Found()
        self.clauses = Clauses(self.known)
        self.root: Relaxation | None = None
        self.most = math.inf
        self.lists = NeededFamilies(scores, useful_parents(self.known, self.clauses.between), run)

    def go(self) -> Found:
        """Until it is proved or a limit comes."""
        short = self.lists.short()
        if short is None:
            return replace(self.found, limit=self.run.limit)
        is_whole = self.scores.lists_all
        if is_whole or self.known.rest.is_closed_under_removal:
            if self.may_be_split and not is_whole and self._is_weak(self._without_constraints(short)[0]):
                return replace(self.found, limit=Stop.WEAK_RELAXATION)
            search = ClauseSearch(short, self.known, self.clauses, self.run)
            found = search.go()
            self.root = search.root
            self._take(found)
            return replace(self.found, bound=max(found.bound, self._value), limit=found.limit)
        return self._on_growing_lists(short)

    def _on_growing_lists(self, short: ListStore) -> Found:
        relaxed, most = self._without_constraints(short)
        self.root, self.most = relaxed, most
        self.found.bound = min(self.found.bound, most)
        if self.found.bound in (-math.inf, self._value):  # there is no network, or the best of all is allowed
            return self.found
        is_weak = self.may_be_split and self._is_weak(relaxed)
        root = self._first_look(short, relaxed, most, dives=not is_weak)
        if is_weak and self.found.limit is None:
            return replace(self.found, limit=Stop.WEAK_RELAXATION)
        if not self.found.networks and self.found.limit is None:
            if nothing_is_allowed(self.scores, self.run):
                return replace(self.found, bound=-math.inf)
            if not self.lists.is_from_table:
                return replace(self.found, limit=Stop.NOTHING_FOUND)
        if self.found.networks and self.found.limit is None and not self._proves:
            return self.found
        return self._on_longer_lists(short, root, most)

    def _is_weak(self, relaxed: Relaxation) -> bool:
        best = relaxed.incumbent
        return best is not None and best.cost - relaxed.bound > WEAK and not self.run.is_over

    def _on_longer_lists(self, short: ListStore, root: Relaxation, most: float) -> Found:
        """``most``: what networks that need not be allowed score at most; lists reach so far behind that."""
        reach = 0.0
        while not self.run.is_over and self.found.limit is None:
            reach = reach_to(most - self._value, reach)
            wide = self.lists.within(reach, short)
            if wide is None:
                break
            self._search(wide, root, most, most - reach)
            if self._value >= most - reach:
                return self.found
            if reach == FURTHEST:
                return replace(self.found, limit=self.found.limit or Stop.TOO_FAR)
        return replace(self.found, limit=self.found.limit or self.run.limit)

    @property
    def _value(self) -> float:
        return max(self.found.networks.values(), default=-math.inf)

    def _without_constraints(self, short: ListStore) -> tuple[Relaxation, float]:
        """The relaxation of all networks, and a bound on their scores. Where the best network found is allowed, it is
        likely that the best of all is, and that is proved sooner without constraints."""
        known = _Unconstrained(short, self.run)
        relaxed = solve_root(short, self.run, known=known)
        self.found.parts += 1
        best, is_weak = known.incumbent, self.may_be_split and self._is_weak(relaxed)
        is_open = best is not None and not known.is_proved and not self.run.is_over
        if is_open and best is not None and not is_weak and self.known.rest.allows(best.masks):
            search_beyond(relaxed, known, self.run)
            best = known.incumbent
        if best is not None and self.known.rest.allows(best.masks):
            self.found.networks[best.masks] = known.best_score - best.cost
        return relaxed, known.best_score - known.bound

    def _first_look(self, short: ListStore, relaxed: Relaxation, most: float, *, dives: bool) -> Relaxation:
        """For an allowed network, and for cuts."""
        store = self.lists.with_one_more(short)
        search = ClauseSearch(store, self.known, self.clauses, self.run, self._start, most)
        found = search.look(relaxed, dives=dives)
        self._take(found)
        self.found.limit = found.limit
        self.root = relaxed if search.root is None else search.root
        return self.root

    @property
    def _start(self) -> ParentMasks | None:
        return self.found.best(1)[0][1] if self.found.networks else None

    def _search(self, wide: ListStore, root: Relaxation, most: float, wanted: float) -> None:
        """On the families of these lists that a better network than the best one found may have."""
        start = self._start
        store = wide if start is None else _left(wide, root, start, self._value)
        search = ClauseSearch(store, self.known, self.clauses, self.run, start, most)
        found = search.go(wanted, root)
        self.root = search.root or root
        self._take(found)
        self.found.limit = found.limit
        self.found.bound = max(found.bound, wanted, self._value)

    def _take(self, found: Found) -> None:
        self.found.networks |= found.networks
        self.found.parts, self.found.cuts = self.found.parts + found.parts, self.found.cuts + found.cuts


def _left(wide: ListStore, root: Relaxation, start: ParentMasks, value: float) -> ListStore:
    """Without families that no network at least as good as ``start`` has, by the multipliers of a relaxation."""
    families = Families.of_store(wide)
    own = families.places(start)
    is_listed = own.sum() == families.n
    cost = families.costs[own].sum() if is_listed else wide.best_scores.sum() - value
    return _only(wide, families, own | (bounds_by(root, families) <= cost))


def families_left(wide: ListStore, root: Relaxation, lowest: float) -> ListStore:
    """Without families that no network that scores ``lowest`` has, by the multipliers of a relaxation."""
    families = Families.of_store(wide)
    return _only(wide, families, bounds_by(root, families) <= wide.best_scores.sum() - lowest)


def _only(wide: ListStore, families: Families, kept: Marks) -> ListStore:
    """All of them when some variable would have none."""
    if not all(kept[a:b].any() for a, b in families.spans):
        return wide
    lists = [(families.parents[a:b][kept[a:b]], wide.rounded[a:b][kept[a:b]]) for a, b in families.spans]
    return ListStore.of(wide.lists.names, lists)
