"""Local scores to 40 digits, from tables with any number of rows: what doubles lose shows beside them.

Counts and notation as in ``reference``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal, getcontext
from fractions import Fraction
from functools import cache

import reference

import topdag as td

getcontext().prec = 40
HALF_LN_2_PI = (2 * Decimal("3.14159265358979323846264338327950288419716939937510")).ln() / 2
BERNOULLI = [
    Fraction(*own) for own in ((1, 6), (-1, 30), (1, 42), (-1, 30), (5, 66), (-691, 2730), (7, 6), (-3617, 510))
]
SERIES_FROM = 400  # there the series is good to 40 digits


def exactly(value: Fraction | int) -> Decimal:
    return Decimal(Fraction(value).numerator) / Fraction(value).denominator


@cache
def ln(value: Fraction | int) -> Decimal:
    return exactly(value).ln()


@cache
def log_gamma(a: Fraction) -> Decimal:
    """ln of Γ(a + m) by Stirling's series, less the m factors that lead there."""
    factors = max(0, math.ceil(SERIES_FROM - a))
    x = exactly(a + factors)
    total = (x - Decimal("0.5")) * x.ln() - x + HALF_LN_2_PI
    for i, number in enumerate(BERNOULLI, 1):
        total += exactly(number) / (2 * i * (2 * i - 1) * x ** (2 * i - 1))
    return total - sum((ln(a + i) for i in range(factors)), Decimal(0))


@cache
def regret(n: int, k: int) -> Decimal:
    """ln of ``reference.complexity``, its first sum in falling factorials [Silander et al. 2018]."""
    term = two = Decimal(1)
    for j in range(1, n + 1):
        term = term * (n - j + 1) / n
        two += term
        if term < Decimal("1e-40"):
            break
    before, value = Decimal(1), two
    for i in range(1, k - 1):
        before, value = value, value + before * n / i
    return value.ln() if k > 1 else Decimal(0)


def local_scores(kind: td.types.ScoreKind, table: td.Table) -> Callable[[int, int], Decimal]:
    """By variable and mask of its parents."""
    rows, weights = list(zip(*table.codes.tolist(), strict=True)), table.weights.tolist()
    arities = table.arities.tolist()
    name, n_rows = type(kind).__name__, sum(weights)

    def log_likelihood(counts: list[list[int]]) -> Decimal:
        return sum((c * (ln(c) - ln(sum(own))) for own in counts for c in own if c), Decimal(0))

    def dirichlet(counts: list[list[int]], alpha: Fraction) -> Decimal:
        total = Decimal(0)
        for own in counts:
            total += log_gamma(alpha * len(own)) - log_gamma(alpha * len(own) + sum(own))
            total += sum((log_gamma(alpha + c) - log_gamma(alpha) for c in own if c), Decimal(0))
        return total

    @cache
    def local(x: int, mask: int) -> Decimal:
        parents = reference.members(mask)
        counts = list(reference.family_counts(rows, weights, arities, x, parents).values())
        r, q = arities[x], reference.parent_states(arities, parents)
        if name == "BIC":
            return log_likelihood(counts) - ln(n_rows) / 2 * (r - 1) * q
        if name == "AIC":
            return log_likelihood(counts) - (r - 1) * q
        if name == "fNML":
            return log_likelihood(counts) - sum((regret(sum(own), r) for own in counts), Decimal(0))
        if name == "qNML":
            return log_likelihood(counts) - regret(n_rows, r * q) + regret(n_rows, q)
        if name == "K2":
            return dirichlet(counts, Fraction(1))
        return dirichlet(counts, Fraction(kind.ess) / (r * (q if name == "BDeu" else len(counts))))

    return local
