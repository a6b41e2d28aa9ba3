"""Sums over networks by brute force: every network weighed one by one, in whole numbers or fractions where they are."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import permutations

import reference

Weight = Callable[[int, int], Fraction]
"""The weight of a variable with its parents as bits."""


@cache
def networks(n: int) -> tuple[tuple[int, ...], ...]:
    return tuple(reference.all_networks(n))


@cache
def ancestors_of(masks: tuple[int, ...]) -> tuple[int, ...]:
    found = list(masks)
    for _ in masks:
        found = [mask | _union(found, mask) for mask in found]
    return tuple(found)


def _union(found: list[int], mask: int) -> int:
    united = 0
    for v in reference.members(mask):
        united |= found[v]
    return united


@cache
def orders_of(masks: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    n = len(masks)
    agreeing = []
    for order in permutations(range(n)):
        earlier = [sum(1 << u for u in order[: order.index(v)]) for v in range(n)]
        if all(masks[v] & ~earlier[v] == 0 for v in range(n)):
            agreeing.append(tuple(earlier))
    return tuple(agreeing)


class Truth:
    """``total``, ``edges[p][v]``, ``paths[a][v]``, ``parents[v][mask]``, all as fractions of whole weights."""

    def __init__(self, n: int, weight: Weight, order_weight: Weight | None = None) -> None:
        self.total = Fraction(0)
        self.edges = [[Fraction(0)] * n for _ in range(n)]
        self.paths = [[Fraction(0)] * n for _ in range(n)]
        self.parents: list[dict[int, Fraction]] = [{} for _ in range(n)]
        for masks in networks(n):
            own = math.prod((weight(v, mask) for v, mask in enumerate(masks)), start=Fraction(1))
            if order_weight is not None:
                own *= sum(
                    math.prod((order_weight(v, earlier[v]) for v in range(n)), start=Fraction(1))
                    for earlier in orders_of(masks)
                )
            self._add(masks, own)
        if self.total:
            self.edges = [[value / self.total for value in row] for row in self.edges]
            self.paths = [[value / self.total for value in row] for row in self.paths]
            self.parents = [{mask: value / self.total for mask, value in row.items()} for row in self.parents]

    def _add(self, masks: tuple[int, ...], own: Fraction) -> None:
        self.total += own
        for v, (parents, ancestors) in enumerate(zip(masks, ancestors_of(masks), strict=True)):
            self.parents[v][parents] = self.parents[v].get(parents, Fraction(0)) + own
            for u in reference.members(parents):
                self.edges[u][v] += own
            for u in reference.members(ancestors):
                self.paths[u][v] += own
