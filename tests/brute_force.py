"""All networks of up to five variables as arrays, with their scores and ranks: what lists are compared with."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import reference
from numpy.typing import NDArray

from topdag.scores import Scores

Ranked = tuple[NDArray[np.float64], NDArray[np.uint64]]


@cache
def networks(n: int) -> NDArray[np.uint64]:
    """One row of parent masks per network, sorted by them variable by variable: the order in which ties stand."""
    masks = np.array(reference.all_networks(n), dtype=np.uint64).reshape(-1, n)
    return masks[np.lexsort(masks.T[::-1])] if n else masks


def values_of(scores: Scores) -> NDArray[np.float64]:
    """values[x, mask]: the stored local scores; those with x among its own parents are minus infinity."""
    n = len(scores.columns)
    own = [[-math.inf if mask >> x & 1 else scores.store.value(x, mask) for mask in range(2**n)] for x in range(n)]
    return np.array(own).reshape(n, 2**n)


def network_scores(values: NDArray[np.float64], masks: NDArray[np.uint64]) -> NDArray[np.float64]:
    """The score of each row; sums of values on the grid are exact in any order."""
    return sum((values[x][masks[:, x]] for x in range(len(values))), start=np.zeros(len(masks)))


def ranked(scores: Scores) -> Ranked:
    """Every allowed network with its score on the grid, best first, ties variable by variable."""
    masks = networks(len(scores.columns))
    found = network_scores(values_of(scores), masks)
    order = np.argsort(-found, kind="stable")
    order = order[np.isfinite(found[order])]
    return found[order], masks[order]


@cache
def class_numbers(n: int) -> NDArray[np.int64]:
    """For each row of ``networks(n)`` the number of its class; the same for equivalent networks only."""
    numbers: dict[object, int] = {}
    rows = [tuple(masks) for masks in networks(n).tolist()]
    return np.array([numbers.setdefault(reference.equivalence_key(masks), len(numbers)) for masks in rows])


def within(best_first: NDArray[np.float64], factor: float, grid: int) -> int:
    """How many are within this factor of the best: ln(factor) counts in whole steps of the grid."""
    steps = math.floor(math.ldexp(math.log(factor), grid))
    return int((best_first >= best_first[0] - math.ldexp(steps, -grid)).sum()) if len(best_first) else 0


def least_factor(gap: float, grid: int) -> float:
    """The least factor that reaches this far behind the best; the double below it does not."""

    def reaches(factor: float) -> bool:
        return math.floor(math.ldexp(math.log(factor), grid)) >= math.ldexp(gap, grid)

    factor = math.exp(gap)
    while not reaches(factor):
        factor = math.nextafter(factor, math.inf)
    while factor > 1 and reaches(math.nextafter(factor, 0.0)):
        factor = math.nextafter(factor, 0.0)
    return factor


def gaps(best_first: NDArray[np.float64], most: float = 40.0) -> list[float]:
    """The different distances from the best, up to ``most``."""
    behind = best_first[0] - best_first if len(best_first) else best_first
    return np.unique(behind[behind <= most]).tolist()
