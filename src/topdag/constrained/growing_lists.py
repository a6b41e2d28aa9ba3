"""The best network under constraints on several variables at once, by branch and cut on lists that grow as needed.

Where networks that obey do so with fewer edges too, the lists for the best network without these constraints will do.
Else families with parents that explain too little may be needed: first each list gets some with one more parent; what
obeys among those tells how far behind the best network without constraints families may lead, and then the lists get
all that no bound rules out.
"""

from __future__ import annotations

import math
from dataclasses import replace

from topdag._util.run import Run
from topdag.constrained.clause_branch_and_cut import RowSearch
from topdag.constrained.clauses import Clauses
from topdag.constrained.feasibility import nothing_obeys
from topdag.constrained.found import Found, Network
from topdag.constrained.needed_families import RowLists, useful_parents
from topdag.scoring.kinds.discrete import SetScore
from topdag.scoring.scores import Scores
from topdag.search.costs import Families, Marks
from topdag.search.relaxation import Known, Relaxation, bounds_by, solve_root
from topdag.search.stores import ListStore

LARGEST_REACH = 690.0
"""How far behind the best network without constraints families are looked for, in nats."""
TOO_FAR = f"{LARGEST_REACH:g} nats behind the best network without constraints"
NEAR_REACH, FURTHER = 8.0, 4.0
"""Where no network that obeys is known: so far at first, and then so many times further."""
FEW_CLIMBS = 100
NOTHING_MET = "no network that obeys was met"
"""A limit after which tables over all sets can still be searched by splitting."""
WEAK_RELAXATION = "the relaxation is weak"
"""A limit like that, after a first look: the relaxation without constraints is so many nats from a network it met."""
WEAK = 20.0
MOST_SPLIT = 23
"""Up to this many variables; with more, parts on tables over all sets take longer than some seconds each."""


def can_be_listed(scores: Scores) -> bool:
    """Whether the families that matter stand in lists, or can be put there."""
    if scores.store.is_listed:
        return scores.automatic or scores.cutoff == math.inf
    return scores.keep == "all"


def best_by_rows(scores: Scores, run: Run, first: Found | None = None, *, may_be_split: bool = True) -> Found:
    """The best network that obeys; when stopped, what is known by then. ``first``: what is known already;
    ``may_be_split``: a weak relaxation is a limit, where there are few variables."""
    search = BestByRows(scores, run, may_be_split=may_be_split)
    if first is not None:
        search.found = replace(first, limit=None)
    return search.go()


class _Unconstrained(Known):
    """Of all networks of allowed families."""

    def climb(self, climbs: int | None = None) -> None:
        super().climb(climbs or FEW_CLIMBS)


class BestByRows:
    """``found`` is true at any moment. ``most``: networks that need not obey are worth no more, infinite where nobody
    asks; ``root``: the last relaxation of those that obey, or of all, None before there is one."""

    def __init__(self, scores: Scores, run: Run, *, may_be_split: bool = True) -> None:
        assert scores.compiled is not None
        self.scores, self.known, self.run = scores, scores.compiled, run
        has_tables = not scores.store.is_listed or isinstance(scores.kind, SetScore)
        self.may_be_split = may_be_split and has_tables and scores.store.n <= MOST_SPLIT
        self.found = Found()
        self.clauses = Clauses(self.known)
        self.root: Relaxation | None = None
        self.most = math.inf
        self.lists = RowLists(scores, useful_parents(self.known, self.clauses.between), run)

    def go(self) -> Found:
        """Until it is proved or a limit comes."""
        short = self.lists.short()
        if short is None:
            return replace(self.found, limit=self.run.limit)
        is_whole = self.scores.lists_all
        if is_whole or self.known.rest.is_closed_under_removal:
            if self.may_be_split and not is_whole and self._is_weak(self._without_constraints(short)[0]):
                return replace(self.found, limit=WEAK_RELAXATION)
            search = RowSearch(short, self.known, self.clauses, self.run)
            found = search.go()
            self.root = search.root
            self._take(found)
            return replace(self.found, bound=max(found.bound, self._value), limit=found.limit)
        return self._on_growing_lists(short)

    def _on_growing_lists(self, short: ListStore) -> Found:
        relaxed, most = self._without_constraints(short)
        self.root, self.most = relaxed, most
        self.found.bound = min(self.found.bound, most)
        if self.found.bound in (-math.inf, self._value):  # there is no network, or the best of all obeys
            return self.found
        is_weak = self.may_be_split and self._is_weak(relaxed)
        root = self._first_look(short, relaxed, most, dives=not is_weak)
        if is_weak and self.found.limit is None:
            return replace(self.found, limit=WEAK_RELAXATION)
        if not self.found.networks and self.found.limit is None:
            if nothing_obeys(self.scores, self.run):
                return replace(self.found, bound=-math.inf)
            if not self.lists.is_from_table:
                return replace(self.found, limit=NOTHING_MET)
        return self._on_longer_lists(short, root, most)

    def _is_weak(self, relaxed: Relaxation) -> bool:
        met = relaxed.incumbent
        return met is not None and met.cost - relaxed.bound > WEAK and not self.run.is_over

    def _on_longer_lists(self, short: ListStore, root: Relaxation, most: float) -> Found:
        """``most``: what networks that need not obey are worth at most; lists reach so and so far behind that."""
        reach = 0.0
        while not self.run.is_over and self.found.limit is None:
            reach = self._next_reach(most, reach)
            wide = self.lists.within(reach, short)
            if wide is None:
                break
            self._search(wide, root, most, most - reach)
            if self._value >= most - reach:
                return self.found
            if reach == LARGEST_REACH:
                return replace(self.found, limit=self.found.limit or TOO_FAR)
        return replace(self.found, limit=self.found.limit or self.run.limit)

    @property
    def _value(self) -> float:
        return max(self.found.networks.values(), default=-math.inf)

    def _next_reach(self, most: float, reach: float) -> float:
        """As far as the best network that was met; ever further while there is none."""
        if self.found.networks:
            return min(LARGEST_REACH, most - self._value)
        return min(LARGEST_REACH, max(NEAR_REACH, FURTHER * reach))

    def _without_constraints(self, short: ListStore) -> tuple[Relaxation, float]:
        """The relaxation of all networks, and a bound on their scores."""
        known = _Unconstrained(short, self.run)
        relaxed = solve_root(short, self.run, known=known)
        self.found.parts += 1
        best = known.incumbent
        if best is not None and self.known.rest.allows(best.masks, self.known.names):
            self.found.networks[best.masks] = known.best_score - best.cost
        return relaxed, known.best_score - known.bound

    def _first_look(self, short: ListStore, relaxed: Relaxation, most: float, *, dives: bool) -> Relaxation:
        """For a network that obeys, and for cuts."""
        store = self.lists.with_one_more(short)
        search = RowSearch(store, self.known, self.clauses, self.run, self._start, most)
        found = search.look(relaxed, dives=dives)
        self._take(found)
        self.found.limit = found.limit
        self.root = relaxed if search.root is None else search.root
        return self.root

    @property
    def _start(self) -> Network | None:
        return self.found.best(1)[0][1] if self.found.networks else None

    def _search(self, wide: ListStore, root: Relaxation, most: float, wanted: float) -> None:
        """On the families of these lists that a better network than the best one met may have."""
        start = self._start
        store = wide if start is None else _left(wide, root, start, self._value)
        search = RowSearch(store, self.known, self.clauses, self.run, start, most)
        found = search.go(wanted, root)
        self.root = search.root or root
        self._take(found)
        self.found.limit = found.limit
        self.found.bound = max(found.bound, wanted, self._value)

    def _take(self, found: Found) -> None:
        self.found.networks |= found.networks
        self.found.parts, self.found.rows = self.found.parts + found.parts, self.found.rows + found.rows


def _left(wide: ListStore, root: Relaxation, start: Network, value: float) -> ListStore:
    """Without families that no network at least as good as ``start`` has, by the multipliers of a relaxation."""
    families = Families.of_store(wide)
    own = families.places(start)
    is_listed = own.sum() == families.n
    cost = families.costs[own].sum() if is_listed else wide.best_scores.sum() - value
    return _only(wide, families, own | (bounds_by(root, families) <= cost))


def families_left(wide: ListStore, root: Relaxation, lowest: float) -> ListStore:
    """Without families that no network worth ``lowest`` has, by the multipliers of a relaxation."""
    families = Families.of_store(wide)
    return _only(wide, families, bounds_by(root, families) <= wide.best_scores.sum() - lowest)


def _only(wide: ListStore, families: Families, kept: Marks) -> ListStore:
    """All of them when some variable would have none."""
    spans = list(zip(families.offsets[:-1].tolist(), families.offsets[1:].tolist(), strict=True))
    if not all(kept[a:b].any() for a, b in spans):
        return wide
    lists = [(families.parents[a:b][kept[a:b]], wide.rounded[a:b][kept[a:b]]) for a, b in spans]
    return ListStore.of(wide.lists.names, lists)
