"""Set functions of tables with categories and numbers, in numpy: an independent way to compute scores such as RankBIC.

A set function gives B(S) for sets S of columns, as bits; the local score of x with parents U is B(U + x) - B(U). So
all networks of a class score the same. ``columns`` are arrays of one length; ``states`` says how many states each has,
whose codes count from 0, and 0 for numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

Columns = Sequence[np.ndarray]
NO_DIRECTION = 1e-8
"""Directions of a block with less of the largest singular value are left out."""


class OfSets(NamedTuple):
    """B of all sets of at most so many columns, by growing masks."""

    n: int
    sets: np.ndarray
    values: np.ndarray


def rank_bic(columns: Columns, states: Sequence[int], largest: int | None = None) -> OfSets:
    """RankBIC: categories among themselves by BIC, numbers by their normal scores and the squares of these.

    The degenerate Gaussian score of the blocks, less what squares say where all is Gaussian; the part of the
    categories alone is replaced by their BIC.
    """
    corrected = degenerate_corrected(columns, states, largest)
    categories = sum(1 << i for i, many in enumerate(states) if many)
    of_categories = corrected.sets & categories
    at = np.searchsorted(corrected.sets, of_categories)
    own = np.flatnonzero(of_categories == corrected.sets)
    bic = np.zeros(len(corrected.sets))
    bic[own] = [_bic(columns, states, int(one)) for one in corrected.sets[own]]
    return OfSets(corrected.n, corrected.sets, corrected.values - corrected.values[at] + bic[at])


def degenerate_corrected(columns: Columns, states: Sequence[int], largest: int | None = None) -> OfSets:
    """The degenerate Gaussian score of normal scores and their squares, less what squares say where all is Gaussian.

    There the correlations of squares are the squared correlations P o P, so (N/2) ln det (P o P) is added. Only
    numbers that have a square count in it: that of two values is a function of the number.
    """
    blocks = blocks_of(columns, states, _with_square)
    plain = degenerate(blocks, largest)
    n_rows = len(columns[0])
    squared = [i for i, many in enumerate(states) if not many and blocks[i].shape[1] == 2]
    ranks = [white(normal_scores(columns[i])[:, None]) for i in squared]
    correlations = _shrunk(np.hstack([np.zeros((n_rows, 0)), *ranks]), np.array(squared, dtype=int)) ** 2
    added = log_determinants(correlations, np.array(squared, dtype=int), len(columns), largest)
    return OfSets(plain.n, plain.sets, plain.values + n_rows / 2 * added.values)


def degenerate(blocks: Sequence[np.ndarray], largest: int | None = None) -> OfSets:
    """The degenerate Gaussian score of blocks that are white: -(N/2) ln det R - (ln N / 2) x products of their widths.

    Correlations between blocks are shrunk as by one imaginary row in which all are independent.
    """
    n, n_rows = len(blocks), len(blocks[0])
    widths = np.array([block.shape[1] for block in blocks])
    owner = np.repeat(np.arange(n), widths)
    found = log_determinants(_shrunk(np.hstack(list(blocks)), owner), owner, n, largest)
    inside = (found.sets[:, None] >> np.arange(n)) & 1
    products = ((inside @ widths) ** 2 - inside @ widths**2) / 2
    return OfSets(n, found.sets, -n_rows / 2 * found.values - np.log(n_rows) / 2 * products)


def log_determinants(matrix: np.ndarray, owner: np.ndarray, n: int, largest: int | None = None) -> OfSets:
    """Of the part of the matrix that each set of columns owns; every column in turn is left out or eliminated."""
    largest = n if largest is None else largest
    sets, values, rest = np.zeros(1, dtype=np.int64), np.zeros(1), matrix[None]
    for v in range(n):
        width = int((owner == v).sum())
        small = np.bitwise_count(sets) < largest
        own, beside, without = rest[small, :width, :width], rest[small, :width, width:], rest[:, width:, width:]
        eliminated = without[small]
        gain = np.zeros(len(own))
        if width:
            gain = np.linalg.slogdet(own)[1]
            eliminated = eliminated - beside.transpose(0, 2, 1) @ np.linalg.solve(own, beside)
        sets = np.concatenate([sets, sets[small] | 1 << v])
        values = np.concatenate([values, values[small] + gain])
        rest = np.concatenate([without, eliminated])
    return OfSets(n, sets, values)


def blocks_of(columns: Columns, states: Sequence[int], number: Callable[[np.ndarray], np.ndarray]) -> list[np.ndarray]:
    """White blocks: the indicators of a category but one, and what ``number`` makes of a number."""
    return [
        white(indicators(column) if many else number(np.asarray(column, dtype=float)))
        for column, many in zip(columns, states, strict=True)
    ]


def indicators(codes: np.ndarray) -> np.ndarray:
    return (codes[:, None] == np.unique(codes)[None, 1:]).astype(float)


def white(block: np.ndarray) -> np.ndarray:
    """The block centred, uncorrelated and of variance 1; directions in which nothing varies are left out."""
    centred = block - block.mean(axis=0)
    spread = centred.std(axis=0)
    varies = spread > 1e-12 * (1 + np.abs(block).max(axis=0, initial=0))
    if not varies.any():
        return np.zeros((len(block), 0))
    left, size, _ = np.linalg.svd(centred[:, varies] / spread[varies], full_matrices=False)
    return left[:, size > NO_DIRECTION * size[0]] * np.sqrt(len(block))


def normal_scores(numbers: np.ndarray) -> np.ndarray:
    return ndtri((rankdata(numbers) - 0.5) / len(numbers))


def as_it_is(numbers: np.ndarray) -> np.ndarray:
    return numbers[:, None]


def by_rank(numbers: np.ndarray) -> np.ndarray:
    return normal_scores(numbers)[:, None]


def _with_square(numbers: np.ndarray) -> np.ndarray:
    ranks = normal_scores(numbers)
    return np.column_stack([ranks, ranks**2])


def _shrunk(white_columns: np.ndarray, owner: np.ndarray) -> np.ndarray:
    """Correlations times N / (N + 1) between blocks; within blocks the identity."""
    found = white_columns.T @ white_columns / (len(white_columns) + 1)
    found[owner[:, None] == owner[None, :]] = 0
    np.fill_diagonal(found, 1)
    return found


def _bic(columns: Columns, states: Sequence[int], one: int) -> float:
    """Of a set of categories: its log likelihood less (ln N)/2 for every cell but one."""
    inside = [i for i in range(len(states)) if one >> i & 1]
    if not inside:
        return 0.0
    cell, cells = np.zeros(len(columns[0]), dtype=np.int64), 1
    for i in inside:
        cell, cells = cell * states[i] + columns[i], cells * states[i]
    counts = np.bincount(cell, minlength=1) if cells < 1 << 16 else np.unique(cell, return_counts=True)[1]
    counts = counts[counts > 0]
    n_rows = len(columns[0])
    return float(counts @ np.log(counts / n_rows) - np.log(n_rows) / 2 * (cells - 1))


def scores_of(found: OfSets) -> Any:
    """What topdag's questions take: scores of all families whose sets are there."""
    from topdag.scoring.rounding import round_store
    from topdag.scoring.scores import Scores
    from topdag.search.stores import SetStore

    joint = np.full(1 << found.n, -np.inf)
    joint[found.sets] = found.values
    store = SetStore(found.n, joint, (None,) * found.n)
    names = tuple(f"v{i}" for i in range(found.n))
    most = int(np.bitwise_count(found.sets).max()) - 1
    limit = most if most < found.n - 1 else None
    grid = round_store(store, 1)
    return Scores(names, None, None, limit, "all", tuple(range(found.n)), store, grid)
