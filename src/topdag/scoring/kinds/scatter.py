"""Columns of numbers as the core takes them, and what is wrong with those whose covariance is degenerate."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from topdag._core import Limits, MinorFormula, Scatter, score_minors
from topdag._util.messages import listing
from topdag._util.options import option, worded
from topdag.data.groups import numbers_of

if TYPE_CHECKING:
    from topdag.data.table import Table

MOST_COLUMNS_TRIED = 22
"""Of more columns, not every set of few is tried beforehand."""


def scatter_of(table: Table, columns: Sequence[int]) -> Scatter:
    return Scatter(numbers_of(table, columns), table.weights)


def is_degenerate(scatter: Scatter, variables: Sequence[int]) -> bool:
    """Whether one of them depends on the others. Each is tried, for they vary by sizes and digits of their own: so the
    order of the columns does not matter."""
    return any(math.isnan(scatter.log_determinant([v, *(u for u in variables if u != v)])) for v in variables)


def dependent_columns(
    columns: Sequence[int], most: int, scatter: Scatter, in_order: Callable[[list[int]], Scatter]
) -> list[int]:
    """Some of these columns, at most so many, of which one depends on the others; none where there are none.

    ``scatter``: how the columns vary together; ``in_order``: the same of the columns in another order.
    """
    n = len(columns)
    if not is_degenerate(scatter, range(n)):
        return []
    if most >= n:
        return [columns[i] for i in _fewest(scatter, n)]
    if n > MOST_COLUMNS_TRIED:
        return []  # scoring finds those that matter
    formula = MinorFormula([0.0] * (n + 1), [1.0] * (n + 1))
    for v in columns:
        order = [v, *(u for u in columns if u != v)]  # the first is tried with all sets of the others
        _, found = score_minors(in_order(order), formula, most, Limits())
        if found:
            return sorted(u for i, u in enumerate(order) if found >> i & 1)
    return []


def _fewest(scatter: Scatter, n: int) -> list[int]:
    """Of n variables of which one depends on the others, as few as show it."""
    few = list(range(n))
    for v in range(n):
        fewer = [u for u in few if u != v]
        if is_degenerate(scatter, fewer):
            few = fewer
    return few


def degenerate_in_words(table: Table, columns: Sequence[int]) -> str:
    """What is wrong with columns whose covariance is degenerate, and what to do."""
    few = _fewest(scatter_of(table, columns), len(columns))
    names = [table.names[columns[v]] for v in few]
    bge = worded("BGe()", "--score bge")
    or_bge = f", or use {bge}, which takes any table" if len(table.continuous) == table.n_variables else ""
    if len(few) == 1:
        cells = numbers_of(table, [columns[few[0]]])[0]
        least, most = float(cells.min()), float(cells.max())
        if least < most:
            span = f"from {least!r} to {most!r}"
            return f"{names[0]!r} varies so little, {span}, that its variance is lost. Scale it{or_bge}."
        return f"{names[0]!r} is constant, so its variance is zero. Leave it out{or_bge}."
    if len(few) >= table.n_distinct:
        most = max(0, table.n_distinct - 2)
        return (
            f"{table.n_distinct} different rows are too few for the covariance of {len(few)} variables, "
            f"{listing(names)}. Give {option('max_parents', most)}{' or less' if most else ''}{or_bge}."
        )
    return (
        f"the covariance of {listing(names, at_most=20)} is degenerate: {_equation(table, [columns[v] for v in few])}. "
        f"Leave one of them out{or_bge}."
    )


def _equation(table: Table, columns: Sequence[int]) -> str:
    """The last of these columns from the others."""
    *causes, last = numbers_of(table, columns)
    design = np.vstack([*causes, np.ones(table.n_distinct)]).T
    *slopes, intercept = np.linalg.lstsq(design, last, rcond=None)[0].tolist()
    names = [table.names[v] for v in columns]
    terms = [f"{slope:.4g} {name}" for slope, name in zip(slopes, names, strict=False)]
    if abs(intercept) > 1e-9 * float(np.abs(last).max()):
        terms.append(f"{intercept:.4g}")
    return f"{names[-1]} = " + " + ".join(terms)
