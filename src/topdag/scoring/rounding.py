"""The grid that local scores are rounded to: so coarse that sums are exact, so fine that answers may be called proved.

On it a network that is called best is behind the true best by at most 1e-6 nats (docs/explanation/method.md). Scores
too large for both are refused.
"""

from __future__ import annotations

import math

import numpy as np

from topdag import _core
from topdag._util.options import option
from topdag.errors import ScoreError
from topdag.search.engines import SEARCH_LIMIT
from topdag.search.stores import Store

HOPELESS_NATS = 1000.0
"""Families further below an allowed one with fewer parents are left out where BIC or AIC would spoil the grid."""


def round_store(store: Store, threads: int, *, only_best: bool = False) -> int:
    """Rounds all values in place to one grid; returns k for a grid of 2**-k. ``only_best``: as below."""
    magnitude, grid = _core.round_together(store.arrays, store.n, threads)
    require_fine(store.n, grid, magnitude)
    if not _is_far_below(magnitude, store.n, grid):
        require_exact_sums(store, grid, only_best=only_best)
    return grid


def grid_for(n: int, magnitude: float) -> int:
    """k for the grid 2**-k of n variables with local scores of this size."""
    grid = _core.round_together([np.array([magnitude])], n, 1)[1]
    require_fine(n, grid, magnitude)
    return grid


def require_fine(n: int, grid: int, magnitude: float = math.inf) -> None:
    """Raises ScoreError for a grid on which nothing can be called proved."""
    if n and grid < _core.coarsest_exponent(n):
        raise _too_large(f"of {magnitude:.1e} in size" if magnitude < math.inf else f"rounded to 2^{-grid}")


def require_exact_sums(store: Store, grid: int, *, only_best: bool = False) -> None:
    """Raises ScoreError where networks may score more in size than doubles can tell apart on this grid.

    ``only_best``: listed families that are kept for the best network alone. What finds it, and what lists networks of
    more variables than lattices take, adds up shortfalls, each the best local score of its variable less another one,
    never the scores themselves. All are whole numbers of steps and none is negative. So every sum of them over some
    variables, and every difference of two such sums, is in size at most the sum of the largest shortfall of each
    variable; where that is at most 2**53 steps, doubles hold all of these and nothing is rounded. Only scores that are
    shown are; answers compute theirs from the data.
    """
    adds_shortfalls = only_best or store.n > SEARCH_LIMIT
    if sums_are_exact(store, grid) or (adds_shortfalls and _shortfalls_are_exact(store, grid)):
        return
    raise _too_large(f"that add up to {_total(store):.1e} in a network")


def sums_are_exact(store: Store, grid: int) -> bool:
    """Whether sums over the families of any network are, once their scores are on this grid."""
    largest = max((_core.largest_magnitude(array) for array in store.arrays), default=0.0)
    return _is_far_below(largest, store.n, grid) or _total(store) <= math.ldexp(1.0, _core.EXACT_BITS - grid)


def _is_far_below(magnitude: float, n: int, grid: int) -> bool:
    """Whether sums of values of this size are exact, whatever is summed."""
    return 4 * n * magnitude <= math.ldexp(1.0, _core.EXACT_BITS - grid)


def _shortfalls_are_exact(store: Store, grid: int) -> bool:
    return store.is_listed and store.listed.largest_shortfall <= math.ldexp(1.0, _core.EXACT_BITS + 1 - grid)


def _total(store: Store) -> float:
    return sum(_reach(store, x) for x in range(store.n))


def _reach(store: Store, x: int) -> float:
    """What the local scores of x are at most, in size, and how far apart."""
    low, high = 0.0, 0.0
    for values in store.pieces_of(x):
        allowed = values[values > -math.inf]
        low, high = min(low, allowed.min(initial=0.0)), max(high, allowed.max(initial=0.0))
    return high - low


def _too_large(what: str) -> ScoreError:
    return ScoreError(
        f"Local scores {what} are too large: networks could not be told apart to 1e-6 nats, so nothing could be "
        f"proved. Use a lower {option('max_parents')}, fewer parents that must be, columns with fewer states, or fewer "
        "rows. To rule out families use Constraints, or leave them out of a score file; give them no huge numbers."
    )
