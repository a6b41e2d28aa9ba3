"""Local scores of continuous variables by formulas written a second time, for single families.

Shares no arithmetic with the core: least squares and determinants come from numpy, by orthogonal factors of the data
instead of products of deviations.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from topdag._util.arrays import Floats, Integers
from topdag.data.table import Table
from topdag.errors import ScoreError
from topdag.scoring.kinds.gaussian import BGe, MixedBIC, PenalisedGaussian


def local_of_continuous(
    table: Table, kind: BGe | PenalisedGaussian | MixedBIC, x: int, parents: Sequence[int]
) -> float:
    """The local score of a continuous variable, by the definition of the score."""
    if isinstance(kind, BGe):
        return _bge(table, kind, [*parents, x])
    discrete = [v for v in parents if table.states[v]]
    continuous = [v for v in parents if not table.states[v]]
    states = math.prod(len(table.states[v]) for v in discrete)
    log_likelihood = math.fsum(
        _regression(_column(table, x)[rows], [_column(table, v)[rows] for v in continuous], table.weights[rows])
        for rows in _rows_of_states(table, discrete)
    )
    return log_likelihood - kind.penalty(table.n_rows) * states * (len(continuous) + 2)


def _regression(own: Floats, parents: Sequence[Floats], weights: NDArray[np.uint32]) -> float:
    """The largest log likelihood of a linear regression with normal errors."""
    root = np.sqrt(weights.astype(np.float64))
    count = float(weights.sum(dtype=np.int64))
    centred = [(cells - float(np.average(cells, weights=weights))) * root for cells in (own, *parents)]
    target, causes = centred[0], centred[1:]
    scale = [float(np.abs(cells).max()) or 1.0 for cells in causes]
    design = np.array([cells / size for cells, size in zip(causes, scale, strict=True)]).T.reshape(
        len(own), len(causes)
    )
    orthogonal = np.linalg.qr(design)[0]
    residual = target - orthogonal @ (orthogonal.T @ target)
    residual = residual - orthogonal @ (orthogonal.T @ residual)  # once more, for what rounding left
    variance = math.fsum((residual * residual).tolist()) / count
    if variance <= 0:
        raise ScoreError("A regression leaves no residual variance, so its likelihood has no maximum.")
    return -count / 2 * (math.log(2 * math.pi * variance) + 1)


def _bge(table: Table, kind: BGe, columns: Sequence[int]) -> float:
    """Of the last of these columns given the others [Kuipers, Moffa & Heckerman 2014]."""
    n, p, n_rows = table.n_variables, len(columns) - 1, table.n_rows
    a = kind.degrees_of_freedom(n) - n + p + 1
    before = _log_pivots(_prior_root(kind, n, columns))
    after = _log_pivots(_square_root(table, kind, columns))
    return math.fsum(
        [
            -n_rows / 2 * math.log(math.pi) + math.log(kind.alpha_mu / (kind.alpha_mu + n_rows)) / 2,
            math.lgamma((a + n_rows) / 2) - math.lgamma(a / 2),
            a / 2 * before.sum() - (a - 1) / 2 * before[:-1].sum(),
            (a + n_rows - 1) / 2 * after[:-1].sum() - (a + n_rows) / 2 * after.sum(),
        ]
    )


def _square_root(table: Table, kind: BGe, columns: Sequence[int]) -> Floats:
    """A matrix whose square is the posterior's: rows for the prior, the data, and the mean's way from its prior."""
    n, n_rows = table.n_variables, table.n_rows
    cells = np.array([_column(table, v) for v in columns])
    mean = np.average(cells, axis=1, weights=table.weights)
    pull = math.sqrt(kind.alpha_mu * n_rows / (kind.alpha_mu + n_rows))
    away = pull * (mean - kind.prior_mean(n)[list(columns)])
    deviations = ((cells - mean[:, np.newaxis]) * np.sqrt(table.weights)).T
    return np.vstack([_prior_root(kind, n, columns), deviations, away[np.newaxis]])


def _prior_root(kind: BGe, n: int, columns: Sequence[int]) -> Floats:
    return np.asarray(np.linalg.cholesky(kind.prior_precision(n)[np.ix_(columns, columns)]).T, dtype=np.float64)


def _log_pivots(root: Floats) -> Floats:
    """ln of what is left of each variable's share of root'root once those before it are accounted for."""
    pivots: Floats = 2 * np.log(np.abs(np.diagonal(np.linalg.qr(root, mode="r"))))
    return pivots


def _column(table: Table, v: int) -> Floats:
    cells: Floats = table.numbers[table.continuous.index(table.names[v])]
    return cells


def _rows_of_states(table: Table, discrete: Sequence[int]) -> list[Integers]:
    rows: dict[tuple[int, ...], list[int]] = {}
    for row, state in enumerate(zip(*(table.codes[v].tolist() for v in discrete), strict=True) if discrete else ()):
        rows.setdefault(state, []).append(row)
    return [np.array(own) for own in rows.values()] if discrete else [np.arange(table.n_distinct)]
