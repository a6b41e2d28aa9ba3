"""Probabilities of an event under orderings, exactly: pooled rates along a chain and along any partial order.

``hits`` of ``trials`` at each place. The likelihood is greatest at the isotonic regression of the rates with the trials
as weights [Feelders & van der Gaag 2006]. Every rate is a quotient of whole numbers.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np

from topdag._util.arrays import Floats, Integers

Arc = tuple[int, int]


def chain_rates(hits: Integers, trials: Integers) -> tuple[Floats, Floats]:
    """The most likely rates of hits, and of misses, with that of hits not falling along the last axis.

    For many chains at once, by the max-min formula over runs of places, which gives what pooling adjacent violators
    gives; each rate is one rounded quotient of whole numbers. Each chain needs a trial; places without any take a rate
    between their neighbours'.
    """
    length = hits.shape[-1]
    rising, falling = np.full(hits.shape, -math.inf), np.full(hits.shape, math.inf)
    for start in range(length):
        own_hits, own_trials = (np.cumsum(counts[..., start:], axis=-1) for counts in (hits, trials))
        # least[..., k]: the lowest rate of runs from start to start + k or beyond; infinite when these have no trials
        least = _lowest_from_here(own_hits, own_trials)
        most_missed = 0.0 - _lowest_from_here(own_hits - own_trials, own_trials)
        has_any = own_trials[..., -1:] > 0
        rising[..., start:] = np.maximum(rising[..., start:], np.where(has_any, least, -math.inf))
        falling[..., start:] = np.minimum(falling[..., start:], np.where(has_any, most_missed, math.inf))
    return rising, falling


def _lowest_from_here(hits: Integers, trials: Integers) -> Floats:
    rates = np.where(trials > 0, hits / np.maximum(trials, 1), math.inf)
    return np.minimum.accumulate(rates[..., ::-1], axis=-1)[..., ::-1]


def monotone_rates(hits: Sequence[int], trials: Sequence[int], arcs: Sequence[Arc]) -> list[Fraction | None]:
    """The most likely rates with rate[a] <= rate[b] for every arc (a, b), whatever the arcs. None: no trials at all.

    A set of places with one rate is right unless some upper part of it, closed under the arcs, has a larger rate than
    the whole; then the largest excess is split off and both parts are settled by themselves.
    """
    rates: list[Fraction | None] = [None] * len(hits)
    parts = [list(range(len(hits)))]
    while parts:
        part = parts.pop()
        total, of = sum(hits[i] for i in part), sum(trials[i] for i in part)
        if of == 0:
            continue
        excess = {i: hits[i] * of - trials[i] * total for i in part}
        upper = largest_upper_set(excess, [(a, b) for a, b in arcs if a in excess and b in excess])
        if upper:
            parts += [[i for i in part if i in upper], [i for i in part if i not in upper]]
            continue
        for i in part:
            rates[i] = Fraction(total, of)
    return rates


def largest_upper_set(worth: dict[int, int], arcs: Sequence[Arc]) -> set[int]:
    """Of the sets that hold b whenever they hold a, for every arc (a, b), a least one of the largest positive sum.

    A minimum cut: sources pay their worth, sinks take theirs, arcs carry anything [Picard 1976].
    """
    if sum(value for value in worth.values() if value > 0) == 0:
        return set()
    flow = _Flow(worth, arcs)
    while path := flow.path():
        flow.push(path)
    return flow.reached()


class _Flow:
    """What is left to give, to take and to send back."""

    def __init__(self, worth: dict[int, int], arcs: Sequence[Arc]) -> None:
        self.to_give = {i: value for i, value in worth.items() if value > 0}
        self.to_take = {i: -value for i, value in worth.items() if value < 0}
        self.after: dict[int, set[int]] = {i: set() for i in worth}
        self.sent: dict[int, dict[int, int]] = {i: {} for i in worth}  # sent[b][a]: from a to b, can go back
        for a, b in arcs:
            self.after[a].add(b)

    def _came_from(self, start: list[int]) -> dict[int, int]:
        came = {i: i for i in start}
        queue = deque(start)
        while queue:
            here = queue.popleft()
            for there in (*self.after[here], *(a for a, sent in self.sent[here].items() if sent)):
                if there not in came:
                    came[there] = here
                    queue.append(there)
        return came

    def path(self) -> list[int]:
        """Places from one that can give to one that can take; empty when there is none."""
        came = self._came_from([i for i, left in self.to_give.items() if left])
        end = next((i for i in came if self.to_take.get(i, 0)), None)
        if end is None:
            return []
        places = [end]
        while came[places[-1]] != places[-1]:
            places.append(came[places[-1]])
        return places[::-1]

    def push(self, path: list[int]) -> None:
        backwards = [self.sent[a][b] for a, b in pairwise(path) if b not in self.after[a]]
        amount = min(self.to_give[path[0]], self.to_take[path[-1]], *backwards)
        self.to_give[path[0]] -= amount
        self.to_take[path[-1]] -= amount
        for a, b in pairwise(path):
            back = min(amount, self.sent[a].get(b, 0))
            if back:
                self.sent[a][b] -= back
            self.sent[b][a] = self.sent[b].get(a, 0) + amount - back

    def reached(self) -> set[int]:
        return set(self._came_from([i for i, left in self.to_give.items() if left]))
