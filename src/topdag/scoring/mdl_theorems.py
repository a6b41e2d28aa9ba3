"""How many parents are enough, for BIC (MDL): the tests of Chen, Choi & Darwiche 2016, corrected, one by one.

N rows, c = (log2 N) / 2, |X| states of X, K(X|U) = (|X| - 1) times the product of the parents' states. Parents with one
state change nothing; they are not counted here. Every test is strict, by a margin far above the rounding of scores, so
a bound loses no network of the asked list, ties included. A function that can say nothing returns infinity: with one
row c is 0 and parameters are free. Corrections to the paper are listed in docs/explanation/papers.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from itertools import accumulate
from operator import mul

from topdag._util.bitsets import bits

MARGIN = 1e-7
MOST_SETS_TRIED = 5_000
NBestParents = Callable[[int, int], int]
"""(variable, mask of those available) -> the number of parents in a best family with parents among these."""


def rows_per_parameter(n_rows: int) -> float:
    """N/c."""
    return math.inf if n_rows == 1 else n_rows / (math.log2(n_rows) / 2)


def theorem_2(n_rows: int, epsilon: float = 0.0) -> float:
    """The most parents of any variable in a best network, or in one within ``epsilon`` nats of the best.

    Corrected: ceil(log2(1 + N/c)) - 1. With m parents, more than that, the family without any is better by more than
    epsilon: it loses at most N log2|X| <= N (|X| - 1) bits and saves c (|X| - 1) (2^m - 1). For |X| >= 2.
    """
    return _whole_log2(1 + rows_per_parameter(n_rows) * (1 + epsilon / math.log(2) / n_rows))


def theorem_5(n_rows: int, arity: int, n_parent_states: int) -> bool:
    """Whether all 2^|U| - 1 proper subsets of the parents score strictly more: N log2|X| < c K(X|U) / 2."""
    return theorem_7(n_rows, arity, n_parent_states, ())


def theorem_6(n_rows: int, k: int) -> float:
    """The most parents of any variable in the k best networks or classes: floor(log2(2N/c)), for large k floor(log2 k).

    With m parents, more than both, Theorem 5 holds and its 2^m - 1 subsets are k or more. For |X| >= 2.
    """
    return max(_whole_log2(2 * rows_per_parameter(n_rows)), k.bit_length() - 1)


def theorem_7(n_rows: int, arity: int, n_parent_states: int, other_arities: Sequence[int]) -> bool:
    """Whether X losing some of its parents raises the score, even if the others lose any of theirs.

    N log2|X| + sum of N log2|Y| < c K(X|U) / 2: all that they could explain costs less than half of X's parameters.
    """
    explained = n_rows * sum(math.log2(states) for states in (arity, *other_arities))
    return explained * (1 + MARGIN) < math.log2(n_rows) / 4 * (arity - 1) * n_parent_states


def corollary_8(n_rows: int, arity: int, other_arities: Sequence[int]) -> float:
    """d(Y): when X has so many parents or more, Theorem 7 holds for X and the variables Y with these arities.

    floor(log2(2 alpha (|Y| + 1) N/c)) + 1, where alpha is the least number with log2|Z| <= alpha (|X| - 1) for all Z
    in Y and, which the paper forgot, for X itself.
    """
    if arity == 1:
        return math.inf
    alpha = math.log2(max(arity, *other_arities, 2)) / (arity - 1)
    return _whole_log2(2 * alpha * (len(other_arities) + 1) * rows_per_parameter(n_rows)) + 1


def algorithm_1(
    n_rows: int, arities: Sequence[int], n_best_parents: NBestParents, order: Sequence[int], x: int, k: int
) -> float:
    """The most parents of x in the k best of the networks that follow this order.

    Y takes variables from the end of the order. Each has its best parents, any of which it may lose, until the
    networks so made, with x losing some of d(Y) parents, are k: all are better. Infinite if they never are.
    """
    available, others, n_smaller = sum(1 << v for v in order), list[int](), 1
    d = corollary_8(n_rows, arities[x], others)
    for z in reversed(order):
        if _are_enough(k, n_smaller, d):
            break
        available ^= 1 << z
        if z != x:
            others.append(arities[z])
            n_smaller <<= n_best_parents(z, available)
            d = corollary_8(n_rows, arities[x], others)
    return d - 1 if _are_enough(k, n_smaller, d) else math.inf


def algorithm_2(
    n_rows: int,
    arities: Sequence[int],
    n_best_parents: NBestParents,
    x: int,
    k: int,
    *,
    most_sets: int = MOST_SETS_TRIED,
) -> float:
    """The most parents of x in the k best networks or classes: Algorithm 1 for all orders at once.

    Of all orders that end with the same variables only the one with the fewest smaller networks is followed further.
    Corrected: the result is the largest d(Y) - 1 at which an order was done, not at which one was not, and the empty
    Y is tried too. Infinite when some order never gets there, or when more than ``most_sets`` sets had to be tried.
    """

    @cache
    def d(placed: int) -> float:
        return corollary_8(n_rows, arities[x], [arities[v] for v in bits(placed) if v != x])

    everyone = (1 << len(arities)) - 1
    if _are_enough(k, 1, d(0)):
        return d(0) - 1
    largest, waiting, n_sets = -math.inf, {everyone: 1}, 0
    while waiting:
        n_sets += len(waiting)
        if 0 in waiting or n_sets > most_sets:
            return math.inf
        longer: dict[int, int] = {}
        for available, n_smaller in waiting.items():
            for z in bits(available):
                left = available ^ 1 << z
                n_now = n_smaller if z == x else n_smaller << n_best_parents(z, left)
                reached = d(everyone ^ left)
                if _are_enough(k, n_now, reached):
                    largest = max(largest, reached - 1)
                else:
                    longer[left] = min(n_now, longer.get(left, n_now))
        waiting = longer
    return largest


def cost_bound(
    n_rows: int, entropy: float, arity: int, other_arities: Sequence[int], *, k: int = 1, epsilon: float = 0.0
) -> int:
    """The most parents by X's own entropy (nats per row) and the arities of the others.

    Parents explain N H(X) nats at most. Leaving out j or more of m parents saves (1 - 1/Q_j) of at least
    (|X| - 1) Q_m parameters, Q_j being the product of the j smallest arities; sum of C(m, i), i <= m - j, sets do so. X
    can do without m parents when for some j these sets are k or more and all are better by more than epsilon.
    For k = 1 that is (ln N / 2) K(X|U) > cost(X without parents) + epsilon.
    """
    explained = n_rows * entropy * (1 + MARGIN) + epsilon + MARGIN
    q = list(accumulate(sorted(a for a in other_arities if a > 1), mul, initial=1))
    weight = math.log(n_rows) / 2 * (arity - 1)
    for m in range(1, len(q)):
        n_sets = 0
        for j in range(m, 0, -1):
            n_sets += math.comb(m, m - j)
            if n_sets >= k and weight * (q[m] - q[m] // q[j]) > explained:
                return m - 1
    return len(q) - 1


def _are_enough(k: int, n_smaller: int, d: float) -> bool:
    return d < math.inf and k <= n_smaller * (2 ** int(d) - 1)


def _whole_log2(value: float) -> float:
    """The logarithm rounded down, but never below the true one by rounding errors."""
    return math.floor(math.log2(value * (1 + MARGIN))) if value < math.inf else math.inf
