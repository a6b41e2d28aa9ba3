"""Sums over networks by brute force: every network weighed one by one.

``logs[v, mask]`` is the log weight of variable v with the parents ``mask``, minus infinity where that is not allowed;
``order_logs[v, mask]`` that of v coming right after just ``mask``.
"""

from __future__ import annotations

import math
from functools import cache
from itertools import permutations

import numpy as np
import reference
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@cache
def networks(n: int) -> NDArray[np.int64]:
    """A row of parent masks for each network."""
    return np.array(list(reference.all_networks(n)), dtype=np.int64).reshape(-1, n)


@cache
def ancestors(n: int) -> NDArray[np.int64]:
    """A row of ancestor masks for each network."""
    found = networks(n).copy()
    for _ in range(n):
        for v in range(n):
            for u in range(n):
                found[:, v] |= np.where(found[:, v] >> u & 1, found[:, u], 0)
    return found


def order_weights(n: int, order_logs: Floats) -> Floats:
    """For each network the sum over the orders that agree with it."""
    total = np.zeros(len(networks(n)))
    for order in permutations(range(n)):
        earlier = np.array([sum(1 << u for u in order[: order.index(v)]) for v in range(n)], dtype=np.int64)
        agrees = (networks(n) & ~earlier == 0).all(axis=1)
        total += agrees * math.exp(sum(order_logs[v, earlier[v]] for v in range(n)))
    return total


class Truth:
    """``log_total``, ``edges[p, v]``, ``paths[a, v]`` and ``parents[v, mask]``, by brute force."""

    def __init__(self, logs: Floats, order_logs: Floats | None = None) -> None:
        n = len(logs)
        most = logs.max(axis=1)
        weights = np.exp(logs - np.where(np.isfinite(most), most, 0.0)[:, None])
        own = np.prod([weights[v, networks(n)[:, v]] for v in range(n)], axis=0)
        if order_logs is not None:
            own = own * order_weights(n, order_logs)
        self.has_any = bool(own.any())
        self.log_total = math.log(math.fsum(own)) + math.fsum(most) if self.has_any else -math.inf
        chances = own / math.fsum(own) if self.has_any else own
        self.edges = _pairs(networks(n), chances)
        self.paths = _pairs(ancestors(n), chances)
        self.parents = np.array([np.bincount(networks(n)[:, v], chances, minlength=1 << n) for v in range(n)])


def _pairs(masks: NDArray[np.int64], chances: Floats) -> Floats:
    n = masks.shape[1]
    return np.array([[chances[masks[:, v] >> u & 1 == 1].sum() for v in range(n)] for u in range(n)])
