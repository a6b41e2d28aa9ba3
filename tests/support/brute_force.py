"""All networks of up to five variables as arrays, with their scores and ranks: what lists are compared with."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import reference
from numpy.typing import NDArray

from topdag.scoring.scores import Scores

Ranked = tuple[NDArray[np.float64], NDArray[np.uint64]]


@cache
def networks(n: int) -> NDArray[np.uint64]:
    """One row of parent masks per network, sorted by them variable by variable."""
    found = reference.all_networks(n)
    masks = np.array(found, dtype=np.uint64).reshape(len(found), n)
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
    """Every allowed network with its score on the grid, best first, ties in the order of the walk."""
    masks, values = networks(len(scores.columns)), values_of(scores)
    found = network_scores(values, masks)
    masks, found = masks[np.isfinite(found)], found[np.isfinite(found)]
    if not found.size or not masks.shape[1]:
        return found, masks
    order = np.lexsort([*reversed(path_columns(values, masks)), -found])
    return found[order], masks[order]


def path_columns(values: NDArray[np.float64], masks: NDArray[np.uint64]) -> list[NDArray[Any]]:
    """The paths on which networks are built, as columns to sort by: how ties stand [docs/explanation/method.md].

    A path takes, of the variables whose parents are placed, always the first in the order of the best network. Of two
    steps from the same set the one comes first whose local score and best rest are more, then the lower variable,
    then the lower mask.
    """
    n = len(values)
    best = best_within(values)
    rest = best_rest(best)
    placed, columns = np.zeros(len(masks), np.uint64), []
    for _ in range(n):
        chosen = np.full(len(masks), -1)
        for x in best_order(best):
            can_come = (placed >> x & 1 == 0) & (masks[:, x] & ~placed == 0) & (chosen < 0)
            chosen[can_come] = x
        parents = masks[np.arange(len(masks)), chosen]
        placed = placed | np.uint64(1) << chosen.astype(np.uint64)
        columns += [-(values[chosen, parents] + rest[placed]), chosen, parents]
    return columns


def best_within(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """best[x, set]: the best local score of x with parents in the set."""
    best, sets = values.copy(), np.arange(values.shape[1])
    for bit in range(len(values)):
        larger = sets[sets >> bit & 1 == 1]
        best[:, larger] = np.maximum(best[:, larger], best[:, larger ^ 1 << bit])
    return best


def best_rest(best: NDArray[np.float64]) -> NDArray[np.float64]:
    """H: the most that the variables outside a set can add."""
    n = len(best)
    rest = np.zeros(2**n)
    for placed in range(2**n - 2, -1, -1):
        rest[placed] = max(best[x, placed] + rest[placed | 1 << x] for x in range(n) if not placed >> x & 1)
    return rest


def best_order(best: NDArray[np.float64]) -> list[int]:
    """The order of the best network: the last column that may be last is, and so on."""
    n = len(best)
    most = np.zeros(2**n)  # F
    for placed in range(1, 2**n):
        most[placed] = max(best[x, placed ^ 1 << x] + most[placed ^ 1 << x] for x in range(n) if placed >> x & 1)
    order: list[int] = []
    placed = 2**n - 1
    while placed:
        last = [x for x in range(n) if placed >> x & 1]
        order.append(max(x for x in last if best[x, placed ^ 1 << x] + most[placed ^ 1 << x] == most[placed]))
        placed ^= 1 << order[-1]
    return order[::-1]


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
