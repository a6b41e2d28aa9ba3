"""Scores of continuous variables straight from their definitions: slow, and independent of topdag.

``rows`` is an array with a row for each observation (no weights); ``x`` and ``parents`` are columns.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from scipy.stats import multivariate_t, norm


def bge_of_set(
    rows: np.ndarray, columns: Sequence[int], alpha_mu: float, alpha_w: float, mean: np.ndarray, precision: np.ndarray
) -> float:
    """The chance of some columns: each row given those before it follows a multivariate t distribution.

    Of l of the n variables, the precision matrix has a Wishart distribution with alpha_w - n + l degrees of freedom.
    """
    n, size, chosen = rows.shape[1], len(columns), list(columns)
    if not size:
        return 0.0
    centre, matrix = mean[chosen].astype(float), precision[np.ix_(chosen, chosen)].astype(float)
    weight, degrees, total = alpha_mu, alpha_w - n + size, 0.0
    for row in rows[:, chosen]:
        freedom = degrees - size + 1
        shape = matrix * (weight + 1) / (weight * freedom)
        total += float(multivariate_t.logpdf(row, centre, shape, freedom))
        away = row - centre
        matrix = matrix + weight / (weight + 1) * np.outer(away, away)
        centre = centre + away / (weight + 1)
        weight, degrees = weight + 1, degrees + 1
    return total


def bge(
    rows: np.ndarray,
    x: int,
    parents: Sequence[int],
    alpha_mu: float = 1.0,
    alpha_w: float | None = None,
    mean: np.ndarray | None = None,
    precision: np.ndarray | None = None,
) -> float:
    n = rows.shape[1]
    degrees = n + alpha_mu + 1 if alpha_w is None else alpha_w
    centre = np.zeros(n) if mean is None else mean
    matrix = np.identity(n) * alpha_mu * (degrees - n - 1) / (alpha_mu + 1) if precision is None else precision
    above, below = ([*parents, x], list(parents))
    return bge_of_set(rows, above, alpha_mu, degrees, centre, matrix) - bge_of_set(
        rows, below, alpha_mu, degrees, centre, matrix
    )


def regression(rows: np.ndarray, x: int, parents: Sequence[int]) -> float:
    """The log likelihood of a linear regression at its maximum, as a sum over rows."""
    design = np.column_stack([np.ones(len(rows)), rows[:, list(parents)]])
    fitted = design @ np.linalg.lstsq(design, rows[:, x], rcond=None)[0]
    deviation = math.sqrt(float(np.mean((rows[:, x] - fitted) ** 2)))
    return float(norm.logpdf(rows[:, x], fitted, deviation).sum())


def gaussian_bic(rows: np.ndarray, x: int, parents: Sequence[int]) -> float:
    return regression(rows, x, parents) - math.log(len(rows)) / 2 * (len(parents) + 2)


def gaussian_aic(rows: np.ndarray, x: int, parents: Sequence[int]) -> float:
    return regression(rows, x, parents) - (len(parents) + 2)


def mixed_bic(rows: np.ndarray, arities: Sequence[int], x: int, parents: Sequence[int]) -> float:
    """Arity 0: continuous. Minus infinity where the family is not allowed."""
    discrete = [v for v in parents if arities[v]]
    continuous = [v for v in parents if not arities[v]]
    if arities[x] and continuous:
        return -math.inf
    groups: dict[tuple[float, ...], list[int]] = {}
    for i, row in enumerate(rows):
        groups.setdefault(tuple(row[discrete]), []).append(i)
    states = math.prod(arities[v] for v in discrete)
    penalty = math.log(len(rows)) / 2 * states
    if arities[x]:
        counts = [np.unique(rows[group, x], return_counts=True)[1] for group in groups.values()]
        return sum(float((own * np.log(own / own.sum())).sum()) for own in counts) - penalty * (arities[x] - 1)
    total = 0.0
    for group in groups.values():
        distinct = np.unique(rows[np.ix_(group, [*continuous, x])], axis=0)
        if len(distinct) < len(continuous) + 2 or np.linalg.matrix_rank(distinct - distinct.mean(axis=0)) <= len(
            continuous
        ):
            return -math.inf
        total += regression(rows[group], x, continuous)
    return total - penalty * (len(continuous) + 2)


def exact_scatter(rows: np.ndarray) -> list[list[Fraction]]:
    """Sums of products of deviations, in rational numbers."""
    cells = [[Fraction(float(value)) for value in column] for column in rows.T]
    centred = [[value - sum(column) / len(column) for value in column] for column in cells]
    return [[sum((a * b for a, b in zip(u, v, strict=True)), Fraction(0)) for v in centred] for u in centred]


def exact_log_determinant(matrix: Sequence[Sequence[Fraction]]) -> float:
    """Of a positive definite matrix of rational numbers, by elimination."""
    left, pivots = [list(row) for row in matrix], []
    while left:
        (pivot, *first), *rest = left
        pivots.append(math.log(pivot.numerator) - math.log(pivot.denominator))
        left = [[value - row[0] * u / pivot for value, u in zip(row[1:], first, strict=True)] for row in rest]
    return math.fsum(pivots)
