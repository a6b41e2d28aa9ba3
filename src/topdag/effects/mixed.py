"""Effects in tables of categories and numbers: regressions on the cause and its parents, standardised over the rows.

In the regression of an outcome on the cause and its parents, the cause is set to a level in every row; the mean of what
is expected then is what follows from setting it (g-computation [Robins 1986]). The regression is linear for a number,
multinomial logistic for a category; states of categories have main effects.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from topdag._util.arrays import Floats
from topdag.data.adapt import integers_as_numbers
from topdag.data.table import Table
from topdag.effects.states import Contrast
from topdag.networks.design import Cells, Design, cells_of, least_squares
from topdag.networks.logistic import RIDGE, log_softmax, logistic_optimum

ESS = 1.0
QUARTILES = 0.25, 0.75
Levels = tuple[Any, ...]


class AmongAll:
    """What follows from a table of categories and numbers.

    A response has a row for each level of the cause, its states or the quartiles of a number: the probabilities of the
    states of all categories, and the means of numbers, side by side (``part``).

    Parameters
    ----------
    table : Table
        Without gaps. Integers of five and more values count as numbers.
    outcomes : sequence of str, optional
        For these alone responses are estimated; default: all.
    """

    def __init__(self, table: Table, outcomes: Sequence[str] | None = None) -> None:
        self.table = integers_as_numbers(table, table.ordered)
        names = self.table.names if outcomes is None else outcomes
        self._outcomes = [self.table.index(name) for name in names]
        self._found: dict[tuple[int, tuple[int, ...], int], tuple[Floats, Floats]] = {}

    @property
    def n_bytes(self) -> float:
        return 8.0 * self.table.n_distinct * int(np.maximum(self.table.arities, 1).sum())

    def part(self, y: int) -> slice:
        """Where the states, or the mean, of a variable stand in a response."""
        sizes = np.maximum(self.table.arities, 1)
        begin = int(sizes[:y].sum())
        return slice(begin, begin + int(sizes[y]))

    def levels(self, x: int) -> Levels:
        """What a cause is set to: the states of a category, two numbers otherwise."""
        if self.table.states[x]:
            return self.table.states[x]
        return self._quartiles[x]

    @cached_property
    def _weights(self) -> Floats:
        return self.table.weights.astype(np.float64)

    @cached_property
    def _cells(self) -> Cells:
        return cells_of(self.table, self.table.names)

    @cached_property
    def _quartiles(self) -> dict[int, tuple[float, float]]:
        """The least and the greatest number where both quartiles are the same."""
        found = {}
        for v in (self.table.index(name) for name in self.table.continuous):
            numbers = self._cells[self.table.names[v]]
            order = np.argsort(numbers, kind="stable")
            up_to = np.cumsum(self._weights[order])
            places = np.searchsorted(up_to, np.array(QUARTILES) * up_to[-1])
            low, high = numbers[order[places]].tolist()
            found[v] = (low, high) if low < high else (float(numbers.min()), float(numbers.max()))
        return found

    def mean(self, x: int, parents: Sequence[int]) -> Floats:
        """The response to x, given its parents; what is among them does not change."""
        found = self.unchanged(x)
        for y in self._outcomes:
            if y != x and y not in parents:
                found[:, self.part(y)] = self._response(x, tuple(parents), y)[0]
        return found

    def unchanged(self, x: int) -> Floats:
        """The response where nothing follows from x."""
        alone = []
        for v, name in enumerate(self.table.names):
            cells, arity = self._cells[name], int(self.table.arities[v])
            if arity:
                alone.append(np.bincount(cells, self._weights, arity) / self._weights.sum())
            else:
                alone.append(np.array([np.average(cells, weights=self._weights)]))
        return np.tile(np.concatenate(alone), (len(self.levels(x)), 1))

    def compared(self, x: int, y: int, response: Floats) -> tuple[float, Contrast]:
        """The effect, and the two levels of x between which it is read: of a category those that make y differ most.

        For a number y it is the difference of its means, for one more of x where that is a number too.
        """
        rows = response[:, self.part(y)]
        pairs = [(i, j) for j in range(len(rows)) for i in range(j)]
        apart = [float(np.abs(rows[i] - rows[j]).sum()) / 2 for i, j in pairs]
        less, more = pairs[int(np.argmax(apart))]
        if not self.table.states[y]:
            if self.table.states[x] and rows[more, 0] < rows[less, 0]:
                less, more = more, less
            difference = float(rows[more, 0] - rows[less, 0])
            return difference / self._step(x), Contrast(less, more, np.ones(1, dtype=bool), 1.0)
        if self.table.states[x] and rows[[less, more]][:, rows[more] > rows[less]].sum() > 1:  # what is rarer
            less, more = more, less
        return max(apart), Contrast(less, more, rows[more] > rows[less], 1.0)

    def _step(self, x: int) -> float:
        if self.table.states[x]:
            return 1.0
        low, high = self._quartiles[x]
        return high - low or 1.0

    def draws(
        self, x: int, parents: Sequence[int], asked: Mapping[int, tuple[Contrast, np.random.Generator]], count: int
    ) -> Iterator[tuple[int, Floats]]:
        """So many draws of the effect of x on each outcome asked for, as normal as large samples make it."""
        for y, (contrast, random) in asked.items():
            if y in parents or not contrast.raised.any():
                yield y, np.zeros(count)
                continue
            response, covariance = self._response(x, tuple(parents), y)
            signs = np.zeros(response.shape)
            signs[contrast.more, contrast.raised] = 1.0
            signs[contrast.less, contrast.raised] -= 1.0
            value = float((signs * response).sum())
            variance = float(signs.ravel() @ covariance @ signs.ravel())
            step = 1.0 if self.table.states[y] else self._step(x)
            yield y, (value + math.sqrt(max(0.0, variance)) * random.standard_normal(count)) / step

    def _response(self, x: int, parents: tuple[int, ...], y: int) -> tuple[Floats, Floats]:
        """By level of x what is expected of y, and the covariance of these numbers, level by level."""
        if (x, parents, y) not in self._found:
            self._found[x, parents, y] = self._estimated(x, parents, y)
        return self._found[x, parents, y]

    def _estimated(self, x: int, parents: tuple[int, ...], y: int) -> tuple[Floats, Floats]:
        table, n_rows = self.table, self.table.n_distinct
        causes = [table.names[v] for v in (x, *parents)]
        arities = {table.names[v]: int(table.arities[v]) for v in (x, *parents) if table.states[v]}
        design = Design.of(self._cells, causes, arities, self._weights)
        rows, outcome = design.matrix(self._cells, n_rows), self._cells[table.names[y]]
        shares = self._weights / self._weights.sum()
        set_to = [self._set(design, x, level) for level in range(len(self.levels(x)))]
        if not table.states[y]:
            slopes, variance = least_squares(rows, outcome, self._weights, ESS)
            left = max(1.0, self._weights.sum() - np.linalg.matrix_rank(rows))
            precision = (rows * self._weights[:, np.newaxis]).T @ rows + ESS / len(shares) * np.identity(rows.shape[1])
            means = np.array([shares @ own for own in set_to])
            spread = means @ np.linalg.solve(precision, means.T) * variance * self._weights.sum() / left
            return (means @ slopes)[:, np.newaxis], spread
        n_states = int(table.arities[y])
        fitted, curvature = logistic_optimum(rows, outcome, self._weights, n_states, RIDGE * ESS)
        expected, gradients = [], []
        for own in set_to:
            chances = np.exp(log_softmax(own @ fitted))
            expected.append(shares @ chances)
            for k in range(n_states):
                by_line = shares[:, np.newaxis] * chances[:, [k]] * ((np.arange(n_states) == k) - chances)
                gradients.append((by_line.T @ own).ravel())
        gradient = np.array(gradients)
        return np.array(expected), gradient @ np.linalg.solve(curvature, gradient.T)

    def _set(self, design: Design, x: int, level: int) -> Floats:
        """The rows of the design with x at this level."""
        value = level if self.table.states[x] else self._quartiles[x][level]
        cells = {**self._cells, self.table.names[x]: np.full(self.table.n_distinct, value)}
        return design.matrix(cells, self.table.n_distinct)
