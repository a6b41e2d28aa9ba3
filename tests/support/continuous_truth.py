"""Scores of continuous variables straight from their definitions: slow, and independent of topdag.

``rows`` is an array with a row for each observation (no weights); ``x`` and ``parents`` are columns.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

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


def normal_scores(column: np.ndarray) -> np.ndarray:
    """The normal quantile of each place among the sorted numbers; equal ones share the place in their middle."""
    return norm.ppf([(np.sum(column < value) + np.sum(column <= value)) / 2 / len(column) for value in column])


def uncorrelated(columns: Sequence[np.ndarray]) -> np.ndarray:
    """Columns that span the same, with mean 0 and variance 1 and uncorrelated; those without variance are left out."""
    varying = [column - column.mean() for column in columns if len(set(column.tolist())) > 1]
    varying = [column / column.std() for column in varying if column.std() > 1e-10]
    if not varying:
        return np.zeros((len(columns[0]) if columns else 0, 0))
    left, sizes, _ = np.linalg.svd(np.column_stack(varying), full_matrices=False)
    return left[:, sizes > 1e-8 * sizes[0]] * math.sqrt(len(left))


def block(column: np.ndarray, arity: int, *, ranks: bool) -> np.ndarray:
    """Arity 0: a number, by its normal scores and their squares or as it is."""
    if arity:
        return uncorrelated([(column == state).astype(float) for state in sorted(set(column.tolist()))[1:]] or [column])
    if len(set(column.tolist())) == 1:
        return np.zeros((len(column), 0))
    if not ranks:
        return uncorrelated([(column - column[0]) / np.abs(column).max()])
    scores = normal_scores(column)
    return uncorrelated([scores, scores**2])


def correlations(blocks: Sequence[np.ndarray]) -> np.ndarray:
    """As with one more row in which all blocks are uncorrelated."""
    n = len(blocks[0])
    parts = [
        [np.identity(a.shape[1]) if i == j else a.T @ b / n * (n / (n + 1)) for j, b in enumerate(blocks)]
        for i, a in enumerate(blocks)
    ]
    return np.block(parts)


def log_determinant(matrix: np.ndarray) -> float:
    return float(np.linalg.slogdet(matrix)[1]) if matrix.size else 0.0


def degenerate_gaussian_of_set(
    rows: np.ndarray, arities: Sequence[int], columns: Sequence[int], *, ranks: bool = False
) -> float:
    """[Andrews, Ramsey & Cooper 2019], less what is the same in every network; by ``ranks`` with squares, and without
    what these say twice in the Gaussian case."""
    if not columns:
        return 0.0
    n = len(rows)
    blocks = [block(rows[:, v], arities[v], ranks=ranks) for v in columns]
    sizes = [own.shape[1] for own in blocks]
    pairs = sum(a * b for a, b in combinations(sizes, 2))
    score = -n / 2 * log_determinant(correlations(blocks)) - math.log(n) / 2 * pairs
    with_squares = [v for v in columns if not arities[v] and len(np.unique(rows[:, v])) > 2]
    numbers = [uncorrelated([normal_scores(rows[:, v])]) for v in with_squares]
    if ranks and any(own.shape[1] for own in numbers):
        score += n / 2 * log_determinant(correlations(numbers) ** 2)
    return score


def rank_bic(rows: np.ndarray, arities: Sequence[int], x: int, parents: Sequence[int]) -> float:
    """A network of categories alone is scored by BIC; what numbers add, by the degenerate Gaussian score."""

    def of_numbers(columns: Sequence[int]) -> float:
        categories = [v for v in columns if arities[v]]
        return degenerate_gaussian_of_set(rows, arities, columns, ranks=True) - degenerate_gaussian_of_set(
            rows, arities, categories, ranks=True
        )

    score = of_numbers([*parents, x]) - of_numbers(list(parents))
    return score + mixed_bic(rows, arities, x, [v for v in parents if arities[v]]) if arities[x] else score


def degenerate_gaussian(rows: np.ndarray, arities: Sequence[int], x: int, parents: Sequence[int]) -> float:
    return degenerate_gaussian_of_set(rows, arities, [*parents, x]) - degenerate_gaussian_of_set(rows, arities, parents)
