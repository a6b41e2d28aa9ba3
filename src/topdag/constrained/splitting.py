"""Networks that satisfy constraints on several variables at once: the space is split until parts need none of these.

The best network of a part, by its families alone, bounds all that the part holds. If it is allowed, it is the best of
the part; else the part is split into smaller ones that exclude it (``literals``). The part with the largest bound comes
next, so that the bound holds at any moment; until some network is allowed, the first of the smaller parts is taken at
once, so that there is something to show. Where few networks of a part can matter, they are listed and looked at
instead.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count

from topdag._util.run import Run
from topdag._util.stop import Stop
from topdag.constrained.found import Found, ParentMasks
from topdag.constrained.literals import Part, broken_clauses, parts_of
from topdag.constrained.parts import PartBounds, bounds_of, restricted
from topdag.scoring.scores import Scores

FIRST_LISTED = 256
"""So many networks of a part are listed at first, when lists are asked for."""
MORE_LISTED = 4
"""So many times more when all of them are allowed."""
MOST_RANKED = 10**8
"""Lists this long are limited by a factor."""


@dataclass(frozen=True)
class PartList:
    """Networks of one part, best first; ``is_whole``: there are no others that reach what was asked for."""

    values: Sequence[float]
    masks: Sequence[ParentMasks]
    is_whole: bool


List = Callable[[Scores, int, float], PartList | None]
"""Without such constraints, the best so many networks that score at least so much; None when the time is up."""


class ConstrainedSearch:
    """For the best ``most`` networks, none further behind the best than ``epsilon`` nats, none that scores less than
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
        self.rest = scores.compiled.rest
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
                found.limit = Stop.PARTS
                return found
            _, _, part, size = heapq.heappop(self._waiting)
            if self.run.is_over or not self._dive(part, size):
                found.limit = self.run.limit
                return found
        found.bound = self.lowest
        return found

    def _dive(self, part: Part, size: int) -> bool:
        """Looks into a part, and while nothing allowed is found into the first of its own; False when stopped."""
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
        """Whether nothing that scores less than ``lowest`` was asked for."""
        if self.lowest == -math.inf or (self.epsilon < math.inf and self._best - self.epsilon >= self.lowest):
            return True
        return sum(value >= self.lowest for value in self.found.networks.values()) >= self.most

    def needed_reach(self, best: float) -> float:
        """How far behind ``best`` to look at most, by what is known already."""
        return best - self._best + (self.epsilon if self.most > 1 else 0.0)

    @property
    def threshold(self) -> float:
        """What scores less is not asked for."""
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

    def _taken(self, part: Part, size: int, listed: PartList, scores: Scores) -> list[tuple[float, Part, int]] | None:
        """Keeps what is allowed; what may be left comes back as smaller parts. None when the time is up."""
        broken: ParentMasks | None = None
        left = -math.inf  # what is not listed, or not yet taken, scores no more
        for value, masks in zip(listed.values, listed.masks, strict=True):
            if self.rest.allows(masks):
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

    def _split(self, masks: ParentMasks, bounds: PartBounds) -> list[tuple[float, Part]]:
        """By what the network breaks: of several such things the one whose parts can reach least."""
        choices = []
        for clause in broken_clauses(self.rest, masks):
            promising = sorted(clause, key=lambda literal: -bounds.most_with(literal))
            parts = [(min(map(bounds.most_with, part)), part) for part in parts_of(promising)]
            choices.append(sorted(parts, key=lambda item: -item[0]))
        return min(choices, key=lambda parts: [bound for bound, _ in parts])

    def offer(self, masks: ParentMasks, value: float) -> None:
        if masks in self.found.networks:
            return
        self.found.networks[masks] = value
        self._best = max(self._best, value)
        if self.most < MOST_RANKED:
            heapq.heappush(self._ranked, value)
            if len(self._ranked) > self.most:
                heapq.heappop(self._ranked)
