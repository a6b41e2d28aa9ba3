"""The columns of a regression on numbers and states, in units in which one imaginary row counts alike for each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from topdag._util.arrays import Floats
from topdag.data.groups import numbers_of
from topdag.data.table import Table

OF_CONSTANT = 1e-7
"""What a constant varies by in imaginary rows, relatively."""
Cells: TypeAlias = Mapping[str, Any]
"""By variable a number, or the place of a state, for each row."""


def cells_of(table: Table, names: Sequence[str]) -> dict[str, Any]:
    """Return the cells of a table without gaps: numbers of what is continuous, else places of states."""
    continuous = [name for name in names if name in table.continuous]
    numbers = dict(zip(continuous, numbers_of(table, [table.index(name) for name in continuous]), strict=True))
    return {name: numbers[name] if name in numbers else table.codes[table.index(name)] for name in names}


@dataclass(frozen=True, eq=False)
class Design:
    """A column of ones, then each parent centred: a number by its deviation, states by an indicator for each.

    The indicator of a state with the share p of the rows is divided by the root of p: such columns are, beside one
    direction without length, uncorrelated and of variance 1, as the blocks of ``RankBIC``.

    Attributes
    ----------
    numbers : mapping of str to (float, float)
        Mean and deviation of each number; a deviation of 0 for a constant.
    shares : mapping of str to array
        How often each state of a category occurs.
    """

    parents: tuple[str, ...]
    numbers: Mapping[str, tuple[float, float]]
    shares: Mapping[str, Floats]

    @classmethod
    def of(cls, cells: Cells, parents: Sequence[str], arities: Mapping[str, int], weights: Floats) -> Design:
        """Return the design for rows of these weights; ``arities``: of the parents that are categories."""
        numbers, shares, total = {}, {}, weights.sum()
        for name in parents:
            if name in arities:
                shares[name] = np.bincount(cells[name], weights, arities[name]) / total
                continue
            mean = float(np.average(cells[name], weights=weights))
            deviation = math.sqrt(float(np.average((cells[name] - mean) ** 2, weights=weights)))
            numbers[name] = mean, deviation if deviation > 1e-14 * abs(mean) else 0.0
        return cls(tuple(parents), numbers, shares)

    @property
    def n_columns(self) -> int:
        return 1 + len(self.numbers) + sum(map(len, self.shares.values()))

    def matrix(self, cells: Cells, n_rows: int) -> Floats:
        """Return a row of the design for each row of cells."""
        columns: list[Floats] = [np.ones((n_rows, 1))]
        for name in self.parents:
            if name in self.shares:
                columns.append(_indicators(self.shares[name])[cells[name]])
            else:
                mean, deviation = self.numbers[name]
                columns.append(((cells[name] - mean) / (deviation or math.inf)).reshape(n_rows, 1))
        return np.concatenate(columns, axis=1)

    def in_units(self, fitted: Floats) -> tuple[Any, dict[str, Any], dict[str, Floats]]:
        """Return intercept, slopes and what each state adds, in the units of the table; ``fitted`` has an entry, or a
        row, for each column of the design. What states add is 0 on average over the rows."""
        intercept, slopes, of_states, begin = fitted[0], dict[str, Any](), dict[str, Floats](), 1
        for name in self.parents:
            if name in self.shares:
                end = begin + len(self.shares[name])
                of_states[name] = _indicators(self.shares[name]) @ fitted[begin:end]
                begin = end
            else:
                mean, deviation = self.numbers[name]
                slopes[name] = fitted[begin] / (deviation or math.inf)
                intercept = intercept - slopes[name] * mean
                begin += 1
        return intercept, slopes, of_states


def _indicators(shares: Floats) -> Floats:
    """By state and column; a state without rows has none of its own, and is as the average of all rows."""
    occurs = shares > 0
    scales = np.where(occurs, 1 / np.sqrt(np.where(occurs, shares, 1.0)), 0.0)
    found = (np.identity(len(shares)) - shares) * scales
    found[~occurs] = 0.0
    return np.asarray(found)


def least_squares(design: Floats, outcome: Floats, weights: Floats, ess: float) -> tuple[Floats, float]:
    """Return the coefficients and the variance of what is left, as if there were ``ess`` / N of a row more.

    In that row the parents and the outcome vary as in the others and nothing is correlated, so that the deviation of
    what is left is never 0, but about 1 / N of the outcome's. (A whole row, as in scores, would leave 1 / N of the
    variance: where parents tell an outcome nearly, rows held out lose up to 1.6 nats each. docs/guides/continuous.md)
    With ``ess=0`` both are of the maximum likelihood; where columns determine each other, slopes are the shortest.
    """
    total = float(weights.sum())
    more = ess / total
    mean = float(np.average(outcome, weights=weights))
    centred, roots = outcome - mean, np.sqrt(weights)
    ridge = math.sqrt(more) * np.identity(design.shape[1] - 1)
    columns = np.concatenate([design[:, 1:] * roots[:, np.newaxis], ridge])
    target = np.concatenate([centred * roots, np.zeros(len(ridge))])
    slopes = np.linalg.lstsq(columns, target, rcond=None)[0] if columns.size else np.zeros(len(ridge))
    left = target - columns @ slopes
    alone = float(np.average(centred**2, weights=weights)) or (OF_CONSTANT * max(1.0, abs(mean))) ** 2
    return np.concatenate([[mean], slopes]), (float(left @ left) + more * alone) / (total + more)
