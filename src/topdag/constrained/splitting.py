"""Networks that obey constraints on several variables at once: the space is split until parts need no such constraints.

The best network of a part, by its families alone, bounds all that the part holds. If it obeys, it is the best of the
part; else the part is split into smaller ones that exclude it (``rule_splits``). The part with the largest bound comes
next, so that the bound holds at any moment; until some network obeys, the first of the smaller parts is taken at once,
so that there is something to show. Where few networks of a part can matter, they are listed and looked at instead.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count

from topdag._util.run import Run
from topdag.constrained.feasibility import nothing_obeys
from topdag.constrained.found import Found, Network
from topdag.constrained.growing_lists import (
    LARGEST_REACH,
    NOTHING_MET,
    TOO_FAR,
    WEAK_RELAXATION,
    best_by_rows,
    can_be_listed,
)
from topdag.constrained.listing import list_by_rows
from topdag.constrained.literals import Part, broken_clauses, parts_of
from topdag.constrained.part_bounds import PartBounds, bounds_of
from topdag.constrained.parts import restricted
from topdag.constrained.rescored_lists import OnLists, best_on_lists, can_be_scored_wider, nothing, widened
from topdag.errors import TooLarge
from topdag.scoring.score import scored_again
from topdag.scoring.scores import Scores
from topdag.search.engines import SMALL

FIRST_LISTED = 256
"""So many networks of a part are listed at first, when lists are asked for."""
MORE_LISTED = 4
"""So many times more when all of them obey."""
MOST_RANKED = 10**8
"""Lists this long are limited by a factor."""
FIRST_REACH = 2.0
"""How far behind the best network without constraints the first look goes, in nats."""
FIRST_PARTS_OF = 19
"""For the best network with tables over all sets, one part is looked at by splitting before branch and cut is tried,
twice as many for each variable less than so many: about as much work as branch and cut takes at least."""
MANY_PARTS = "parts"


@dataclass(frozen=True)
class Listed:
    """Networks of one part, best first; ``is_whole``: there are no others that reach what was asked for."""

    values: Sequence[float]
    masks: Sequence[Network]
    is_whole: bool


List = Callable[[Scores, int, float], Listed | None]
"""Of scores without such constraints the best so many networks worth at least so much; None when the time is up."""


class ConstrainedSearch:
    """For the best ``most`` networks, none further behind the best than ``epsilon`` nats, none worth less than
    ``lowest`` or further behind the best without constraints than ``cutoff``. Ends after ``most_parts``."""

    def __init__(
        self,
        scores: Scores,
        list_part: List,
        run: Run,
        *,
        most: int,
        epsilon: float = math.inf,
        lowest: float = -math.inf,
        cutoff: float = math.inf,
        most_parts: float = math.inf,
    ) -> None:
        assert scores.compiled is not None
        self.scores, self.list_part, self.run = scores, list_part, run
        self.rest, self.names = scores.compiled.rest, scores.compiled.names
        self.most, self.epsilon, self.most_parts = most, epsilon, most_parts
        self.lowest, self.cutoff = lowest, cutoff
        self.found = Found()
        self._best = -math.inf
        self._ranked: list[float] = []  # the best ``most`` values, the least of them first
        self._numbers = count()
        self._waiting: list[tuple[float, int, Part, int]] = []

    def go(self) -> Found:
        """Until all is known or a limit comes."""
        found = self.found
        self._push(math.inf, (), self._first_size)
        while self._waiting:
            found.bound = -self._waiting[0][0]
            if self._is_enough(found.bound):
                return found
            if found.parts >= self.most_parts:
                found.limit = MANY_PARTS
                return found
            _, _, part, size = heapq.heappop(self._waiting)
            if self.run.is_over or not self._dive(part, size):
                found.limit = self.run.limit
                return found
        found.bound = self.lowest
        return found

    def _dive(self, part: Part, size: int) -> bool:
        """Looks into a part, and while nothing is found that obeys into the first of its own; False when stopped."""
        next_part: Part | None = part
        while next_part is not None:
            smaller = self._look_into(next_part, size)
            if smaller is None:
                return False
            is_first_wanted = not self.found.networks and len(smaller) > 0 and self.found.parts < self.most_parts
            next_part, size = (smaller[0][1], self._first_size) if is_first_wanted else (None, size)
            for bound, own, own_size in smaller[is_first_wanted:]:
                self._push(bound, own, own_size)
        return True

    @property
    def has_all(self) -> bool:
        """Whether nothing worth less than ``lowest`` was asked for."""
        if self.lowest == -math.inf or (self.epsilon < math.inf and self._best - self.epsilon >= self.lowest):
            return True
        return sum(value >= self.lowest for value in self.found.networks.values()) >= self.most

    def next_reach(self, best: float, reach: float) -> float:
        """How far behind ``best`` to look next: twice as far, but no further than what is known already asks for."""
        if self.most > 1 and self.epsilon == math.inf:
            return 2 * reach
        needed = best - self._best + (self.epsilon if self.most > 1 else 0.0)
        return needed if reach < needed <= 2 * reach else 2 * reach

    @property
    def threshold(self) -> float:
        """What is worth less is not asked for."""
        asked = self.lowest
        if self.epsilon < math.inf:
            asked = max(asked, self._best - self.epsilon)
        if len(self._ranked) >= self.most:
            asked = max(asked, self._ranked[0])
        return asked

    def _is_enough(self, bound: float) -> bool:
        """Whether parts with this bound need not be looked at: with a full list those that tie need not be either."""
        threshold = self.threshold
        return bound < threshold or (bound == threshold and len(self.found.networks) >= self.most)

    @property
    def _first_size(self) -> int:
        return 1 if self.most == 1 else FIRST_LISTED

    def _push(self, bound: float, part: Part, size: int) -> None:
        heapq.heappush(self._waiting, (-bound, next(self._numbers), part, size))

    def _look_into(self, part: Part, size: int) -> list[tuple[float, Part, int]] | None:
        """What of the part must be looked at more closely: bounds, parts, and how many to list; None when stopped."""
        self.found.parts += 1
        self.run.tick("splitting", self.found.parts, 0)
        store = restricted(self.scores.store, part)
        if store is None:
            return []
        scores = replace(self.scores.relaxed, store=store, automatic=False, keep="all")
        listed = self.list_part(scores, size, self.threshold)
        if listed is not None and not part and len(listed.values):  # the best without constraints
            self.lowest = max(self.lowest, listed.values[0] - self.cutoff)
        return None if listed is None else self._taken(part, size, listed, scores)

    def _taken(self, part: Part, size: int, listed: Listed, scores: Scores) -> list[tuple[float, Part, int]] | None:
        """Keeps what obeys; what may be left comes back as smaller parts. None when the time is up."""
        broken: Network | None = None
        left = -math.inf  # what is not listed, or not yet taken, is worth no more
        for value, masks in zip(listed.values, listed.masks, strict=True):
            if self.rest.allows(masks, self.names):
                self.offer(masks, value)
            elif broken is None:
                broken, left = masks, value
        if listed.is_whole or (broken is None and len(listed.values) >= self.most):
            return []
        if broken is None:
            return [(listed.values[-1], part, MORE_LISTED * size)]
        if self.found.parts >= self.most_parts:
            return [(left, part, size)]  # no more parts are looked into, so bounds of smaller ones would be for nothing
        bounds = bounds_of(scores.store, self.run)
        if bounds is None:
            return None
        split = [(min(left, bound), (*part, *own), self._first_size) for bound, own in self._split(broken, bounds)]
        return [own for own in split if own[0] > -math.inf]

    def _split(self, masks: Network, bounds: PartBounds) -> list[tuple[float, Part]]:
        """By what the network breaks: of several such things the one whose parts can reach least."""
        choices = []
        for clause in broken_clauses(self.rest, masks, self.names):
            promising = sorted(clause, key=lambda literal: -bounds.most_with(literal))
            parts = [(min(map(bounds.most_with, part)), part) for part in parts_of(promising)]
            choices.append(sorted(parts, key=lambda item: -item[0]))
        return min(choices, key=lambda parts: [bound for bound, _ in parts])

    def offer(self, masks: Network, value: float) -> None:
        if masks in self.found.networks:
            return
        self.found.networks[masks] = value
        self._best = max(self._best, value)
        if self.most < MOST_RANKED:
            heapq.heappush(self._ranked, value)
            if len(self._ranked) > self.most:
                heapq.heappop(self._ranked)


def search_constrained(
    scores: Scores,
    list_part: List,
    run: Run,
    *,
    most: int,
    epsilon: float = math.inf,
    on_lists: OnLists | None = None,
) -> Found:
    """The best ``most`` networks within ``epsilon`` nats of the best that obey; ``on_lists`` searches lists of families
    for the best one, however few variables there are.

    Scores that were pruned for the best network are made anew, each time with the families of networks further behind
    the best one without constraints.
    """
    assert scores.compiled is not None
    if most == 1 and on_lists is not None and can_be_scored_wider(scores):
        found = best_on_lists(scores, _relaxed(scores, list_part), run, on_lists)
        is_settled = bool(found.networks) or found.limit in (None, run.limit)
        if is_settled or scores.store.is_listed:
            return found  # else no list has a network that obeys, but all families are at hand
    elif most == 1 and can_be_listed(scores):
        found = _best(scores, list_part, run)
        if found.limit == WEAK_RELAXATION:
            return _best_by_splitting(scores, list_part, run, found)
        if found.limit != NOTHING_MET:
            return found
    elif most > 1:
        listed = listed_by_rows(scores, run, most=most, epsilon=epsilon)
        if listed is not None and listed.limit == WEAK_RELAXATION:
            listed = _on_all_sets(scores, list_part, run, listed, most=most, epsilon=epsilon)
        if listed is not None:
            return listed
    if not scores.automatic or (most == 1 and scores.compiled.rest.is_closed_under_removal):
        return _split(scores, list_part, run, most=most, epsilon=epsilon)
    return _ever_further(scores, list_part, run, most=most, epsilon=epsilon)


def _best_by_splitting(scores: Scores, list_part: List, run: Run, first: Found) -> Found:
    """Where the relaxation is weak: other engines may know at once that the best network of all obeys. ``first``: what
    was met already."""
    assert scores.compiled is not None
    relaxed = _relaxed(scores, list_part)
    if relaxed is not None:
        value, masks = relaxed
        if scores.compiled.rest.allows(masks, scores.compiled.names):
            first.networks[masks] = value
        if max(first.networks.values(), default=-math.inf) >= value:
            return replace(first, bound=value, limit=None)
    if scores.compiled.rest.is_closed_under_removal:
        return _split(scores, list_part, run, most=1, met=tuple(first.networks))
    split = _on_all_sets(scores, list_part, run, first, most=1)
    return split or best_by_rows(scores, run, first, may_be_split=False)


def _on_all_sets(
    scores: Scores, list_part: List, run: Run, first: Found, *, most: int, epsilon: float = math.inf
) -> Found | None:
    """By splitting on tables over all sets; None where these do not fit. ``first``: what was met already."""
    try:
        every = scored_again(scores, run, "all") if scores.store.is_listed else scores
    except TooLarge:
        return None
    if every is None:
        return replace(first, limit=run.limit)
    return _split(every, list_part, run, most=most, epsilon=epsilon, met=tuple(first.networks))


def listed_by_rows(
    scores: Scores, run: Run, *, most: int, epsilon: float = math.inf, of_classes: bool = False
) -> Found | None:
    """As ``list_by_rows``; None where splitting is faster, or knows of families that are in no list."""
    if scores.store.n <= SMALL or not can_be_listed(scores):
        return None
    found = list_by_rows(scores, run, most=most, epsilon=epsilon, of_classes=of_classes)
    is_whole = scores.store.is_listed or found.limit not in (NOTHING_MET, TOO_FAR)
    return found if is_whole else None


def _best(scores: Scores, list_part: List, run: Run) -> Found:
    """By splitting where a few parts are enough, else by branch and cut."""
    if scores.store.is_listed or scores.store.n > SMALL:
        return best_by_rows(scores, run)
    most_parts = 1 << max(0, FIRST_PARTS_OF - scores.store.n)
    found = _split(scores, list_part, run, most=1, most_parts=most_parts)
    return best_by_rows(scores, run, found) if found.limit == MANY_PARTS else found


def _split(
    scores: Scores,
    list_part: List,
    run: Run,
    *,
    most: int,
    epsilon: float = math.inf,
    most_parts: float = math.inf,
    met: Sequence[Network] = (),
) -> Found:
    """On the scores as they are; ``met``: networks that obey."""
    search = ConstrainedSearch(
        scores, list_part, run, most=most, epsilon=epsilon, cutoff=scores.cutoff, most_parts=most_parts
    )
    for masks in met:
        search.offer(masks, math.fsum(map(scores.store.value, range(scores.store.n), masks)))
    found = search.go()
    if found.limit is None and not search.has_all:
        found.limit = f"the cut-off at {scores.cutoff:g} nats below the best"
    return found


def _ever_further(scores: Scores, list_part: List, run: Run, *, most: int, epsilon: float) -> Found:
    """On scores made anew, each time with networks further behind."""
    best, reach = _relaxed_best(scores, list_part), FIRST_REACH
    if best == -math.inf or nothing_obeys(scores, run):
        return nothing(run)
    while True:
        wide = widened(scores, reach, run)
        if wide is None:
            return Found(bound=best, limit=run.limit)
        search = ConstrainedSearch(wide, list_part, run, most=most, epsilon=epsilon, lowest=best - reach)
        found = search.go()
        found.bound = min(found.bound, best)  # a search that was stopped at once knows none
        if found.limit is not None or search.has_all:
            return found
        if reach == LARGEST_REACH:
            return replace(found, limit=TOO_FAR)
        reach = min(LARGEST_REACH, search.next_reach(best, reach))


def _relaxed_best(scores: Scores, list_part: List) -> float:
    """Minus infinity when there is no network, or no time."""
    found = _relaxed(scores, list_part)
    return -math.inf if found is None else found[0]


def _relaxed(scores: Scores, list_part: List) -> tuple[float, Network] | None:
    """The best network without constraints on several variables at once; None when there is none, or no time."""
    listed = list_part(scores.relaxed, 1, -math.inf)
    return (listed.values[0], listed.masks[0]) if listed is not None and len(listed.values) else None
