"""The grid that local scores are rounded to: so coarse that sums are exact, so fine that answers may be called proved.

On it a network that is called best is behind the true best by at most 1e-6 nats or, where doubles cannot tell that of
scores so large, by at most a 1e-11th of its score and never more than a tenth of a nat
(docs/explanation/method.md). Scores too large for both are refused.
"""

from __future__ import annotations

import math

from topdag import _core
from topdag._util.options import option
from topdag.errors import ScoreError
from topdag.search.engines import SEARCH_LIMIT
from topdag.search.stores import Store

HOPELESS_NATS = 1000.0
"""Families further below an allowed one with fewer parents are left out where BIC or AIC would spoil the grid."""


ROOM = 1.25
"""Sums may be so much larger when families are scored again on a coarser grid."""


class SumsTooLarge(ScoreError):
    """Sums for whole networks are not exact on this grid; on one that is made for ``total`` they are."""

    def __init__(self, message: str, most: float) -> None:
        super().__init__(message)
        self.total = ROOM * most


def round_store(store: Store, threads: int, *, only_best: bool = False, finest: float = math.inf) -> int:
    """Rounds all values in place to one grid; returns k for a grid of 2**-k. ``only_best``: as below. ``finest``: no
    larger k, since the values are not exact enough for it."""
    magnitude = _largest(store, threads)
    grid = _core.grid_exponent(store.n, magnitude)
    if not _is_far_below(magnitude, store.n, grid):
        most = ROOM * _largest_sum(store, only_best=only_best)
        grid = _core.grid_exponent(store.n, magnitude, most)
    grid = int(min(grid, finest))
    _core.round_together(store.arrays, grid, threads)
    require_exact_sums(store, grid, only_best=only_best)
    return grid


def finest_for(n: int, n_rows: int) -> int:
    """The largest k for local scores that are differences of sums over so many rows, each up to N ln N in size."""
    return _core.finest_exponent(n, n_rows * math.log(n_rows + 2))


def grid_for(n: int, magnitude: float, n_rows: int) -> int:
    """k for the grid 2**-k of n variables with local scores of this size, of so many rows."""
    grid = min(_core.grid_exponent(n, magnitude), finest_for(n, n_rows))
    require_fine(n, grid)
    return grid


def is_fine(n: int, grid: int) -> bool:
    """Whether what is called best is at most 1e-6 nats behind."""
    return grid >= _core.coarsest_exponent(n)


def require_fine(n: int, grid: int, size: float = math.inf, largest: float = math.inf) -> None:
    """Raises ScoreError for a grid on which nothing can be called proved of networks that score ``size`` or more, in
    size; infinite: not known."""
    if n and grid < _core.coarsest_exponent(n, size):
        raise ScoreError(_too_large(f"of {largest:.1e} in size" if largest < math.inf else f"rounded to 2^{-grid}"))


def require_exact_sums(store: Store, grid: int, *, only_best: bool = False) -> None:
    """Raises ScoreError for a grid on which nothing can be called proved, and where networks may score more in size
    than doubles can tell apart on it.

    ``only_best``: listed families that are kept for the best network alone. What finds it, and what lists networks of
    more variables than lattices take, adds up shortfalls, each the best local score of its variable less another one,
    never the scores themselves. All are whole numbers of steps and none is negative. So every sum of them over some
    variables, and every difference of two such sums, is in size at most the sum of the largest shortfall of each
    variable; where that is at most 2**53 steps, doubles hold all of these and nothing is rounded. Only scores that are
    shown are; answers compute theirs from the data.
    """
    if store.n and not is_fine(store.n, grid):
        require_fine(store.n, grid, least_size(store), _largest(store))
    if sums_are_exact(store, grid):
        return
    most = _largest_sum(store, only_best=only_best)
    if most > math.ldexp(1.0, _core.EXACT_BITS - grid):
        raise SumsTooLarge(_too_large(f"that add up to {most:.1e} in a network"), most)


def sums_are_exact(store: Store, grid: int) -> bool:
    """Whether sums over the families of any network are, once their scores are on this grid."""
    return _is_far_below(_largest(store), store.n, grid) or _total(store) <= math.ldexp(1.0, _core.EXACT_BITS - grid)


def least_size(store: Store) -> float:
    """How far below 0 every network scores: log likelihoods do, the further the more rows there are. What scores little
    beside it, however far below it is, does not make the grid coarse."""
    return max(
        0.0, -sum(max(float(piece.max(initial=-math.inf)) for piece in store.pieces_of(x)) for x in range(store.n))
    )


def _largest(store: Store, threads: int = 1) -> float:
    return max((_core.largest_magnitude(array, threads) for array in store.arrays), default=0.0)


def _is_far_below(magnitude: float, n: int, grid: int) -> bool:
    """Whether sums of values of this size are exact, whatever is summed."""
    return 4 * n * magnitude <= math.ldexp(1.0, _core.EXACT_BITS - grid)


def _largest_sum(store: Store, *, only_best: bool) -> float:
    """In size, of what is added up; of shortfalls, half, since none is negative."""
    if store.is_listed and (only_best or store.n > SEARCH_LIMIT):
        return min(_total(store), store.listed.largest_shortfall / 2)
    return _total(store)


def _total(store: Store) -> float:
    return sum(_reach(store, x) for x in range(store.n))


def _reach(store: Store, x: int) -> float:
    """What the local scores of x are at most, in size, and how far apart."""
    low, high = 0.0, 0.0
    for values in store.pieces_of(x):
        allowed = values[values > -math.inf]
        low, high = min(low, float(allowed.min(initial=0.0))), max(high, float(allowed.max(initial=0.0)))
    return high - low


def _too_large(what: str) -> str:
    return (
        f"Local scores {what} are too large: networks could not be told apart to 1e-6 nats, nor to a 1e-11th of their "
        f"scores, so nothing could be proved. Use a lower {option('max_parents')}, fewer parents that must be, columns "
        "with fewer states, or fewer rows. To rule out families use Constraints, or leave them out of a score file; "
        "give them no huge numbers."
    )
