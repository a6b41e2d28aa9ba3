"""Effects among variables with states: P(outcome | do(cause)) by adjustment for the parents of the cause [Pearl 2009].

Given the parents z of the cause x, P(y | do(x)) is the sum over z of P(z) P(y | x, z). The cells of (z, x, y) have a
Dirichlet distribution, so P(z) and P(y | x, z) are independent, and the mean of the sum is the sum of the products of
their means [Pensar et al. 2020].
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from topdag._util.arrays import Floats, Integers, Marks
from topdag.data.table import Table
from topdag.errors import ScoreError

CELLS_AT_ONCE = 1 << 20
"""Draws times cells that are held at the same time."""
DENSE = 4
"""Cells are numbered as they come where there are no more than so many for each row; else those that occur."""
LEAST_LEFT = 1e-12
"""Cells without rows are drawn one by one, in size-biased order, until so little of the probability is left."""
LEAST_PARAMETER = 1e-300
"""Of a beta distribution, in place of zero."""


class ImaginaryRows(Protocol):
    """The parameters of a Dirichlet distribution over the cells of any columns."""

    @property
    def total(self) -> float: ...
    @property
    def is_even(self) -> bool: ...
    def of(self, columns: Sequence[int]) -> Floats:
        """By state of each of the columns, in this order; a single number where they are spread evenly."""
        ...


@dataclass(frozen=True)
class SpreadEvenly:
    """So many imaginary rows, the same in every cell, as BDeu has them."""

    total: float
    arities: tuple[int, ...]
    is_even = True

    def of(self, columns: Sequence[int]) -> Floats:
        return np.array(self.total / math.prod(float(self.arities[v]) for v in columns))


@dataclass(frozen=True)
class AsNetworkSays:
    """So many imaginary rows, in each cell by its probability, as BDe has them."""

    total: float
    joint: Floats
    is_even = False

    def of(self, columns: Sequence[int]) -> Floats:
        others = tuple(v for v in range(self.joint.ndim) if v not in columns)
        kept = sorted(columns)
        return np.asarray(self.total * self.joint.sum(axis=others).transpose([kept.index(v) for v in columns]))


@dataclass(frozen=True)
class Contrast:
    """What the effect on an outcome is read from: ``more``, set in place of ``less``, makes the states ``raised`` more
    probable by the effect, which is the total variation distance of the two distributions. ``supported``: for such a
    share of the cases the table has rows with these states of the cause; else the prior speaks alone."""

    less: int
    more: int
    raised: Marks
    supported: float


@dataclass(frozen=True)
class _Cells:
    """Of the states of parents: the cell of each row, how many cells are numbered, and how many others have no row."""

    of_row: Integers
    n_cells: int
    n_empty: float


@dataclass(frozen=True, eq=False)
class AmongStates:
    """What follows from a table of states. A response has a row for each state of the cause: the probabilities of the
    states of all variables side by side (``part``), and then for each variable how far rows support them."""

    table: Table
    imaginary: ImaginaryRows

    @property
    def n_bytes(self) -> float:
        return 8.0 * self.table.n_distinct * (int(self.table.arities.sum()) + int(self.table.arities.max()) + 8)

    def levels(self, x: int) -> tuple[Any, ...]:
        """What a cause is set to."""
        return self.table.states[x]

    def part(self, y: int) -> slice:
        """Where the states of a variable stand in a response."""
        begin = int(self.table.arities[:y].sum())
        return slice(begin, begin + int(self.table.arities[y]))

    @cached_property
    def _weights(self) -> Floats:
        return self.table.weights.astype(np.float64)

    @cached_property
    def _marks(self) -> Floats:
        """For each row a one at each of its states."""
        arities = self.table.arities
        codes = self.table.codes.T.astype(np.int64) + (np.cumsum(arities) - arities)
        marks = np.zeros((self.table.n_distinct, int(arities.sum())))
        np.put_along_axis(marks, codes, 1.0, axis=1)
        return marks

    @cached_property
    def _alone(self) -> Floats:
        """The probability of each state of each variable, as expected after the table."""
        arities = self.table.arities
        prior = np.concatenate([np.broadcast_to(self.imaginary.of([v]), (arities[v],)) for v in range(len(arities))])
        return np.asarray((self._weights @ self._marks + prior) / self._total)

    @property
    def _total(self) -> float:
        return self.table.n_rows + self.imaginary.total

    def _cells(self, parents: Sequence[int]) -> _Cells:
        arities, codes, n_rows = self.table.arities, self.table.codes, self.table.n_distinct
        n_cells = math.prod(int(arities[v]) for v in parents)
        key = np.zeros(n_rows, dtype=np.int64)
        if n_cells <= DENSE * n_rows or not self.imaginary.is_even:
            for v in parents:
                key = key * int(arities[v]) + codes[v]
            return _Cells(key, n_cells, 0.0)
        largest = 1
        for v in parents:
            if largest * int(arities[v]) >= 2**62:
                key = np.unique(key, return_inverse=True)[1].ravel().astype(np.int64)
                largest = n_rows
            key, largest = key * int(arities[v]) + codes[v], largest * int(arities[v])
        occurring, key = np.unique(key, return_inverse=True)
        return _Cells(key.ravel(), len(occurring), float(n_cells - len(occurring)))

    def mean(self, x: int, parents: Sequence[int]) -> Floats:
        """The response to x that is expected, given its parents; what is among them does not change."""
        cells, arity = self._cells(parents), int(self.table.arities[x])
        with_x = cells.of_row * arity + self.table.codes[x]
        rows = np.bincount(with_x, self._weights, cells.n_cells * arity).reshape(-1, arity)
        shares = (rows.sum(axis=1) + _flat(self.imaginary.of(parents))) / self._total
        below = rows + _flat(self.imaginary.of([*parents, x]), arity)
        if not below.all():
            raise self._impossible(x, parents)
        factors = shares[:, None] / below
        by_state = np.zeros((arity, self.table.n_distinct))
        by_state[self.table.codes[x], np.arange(self.table.n_distinct)] = self._weights * factors.ravel()[with_x]
        n_states = self._marks.shape[1]
        found = np.empty((arity, n_states + self.table.n_variables))
        found[:, :n_states] = by_state @ self._marks
        found[:, n_states:] = (shares @ (rows > 0))[:, None]
        for y, imaginary in self._imaginary(x, parents, factors, cells.n_empty):
            found[:, self.part(y)] += imaginary
        for v in parents:
            found[:, self.part(v)] = self._alone[self.part(v)]
            found[:, n_states + v] = 1.0
        return np.asarray(found)

    def unchanged(self, x: int) -> Floats:
        """The response where nothing follows from x."""
        alone = np.concatenate([self._alone, np.ones(self.table.n_variables)])
        return np.tile(alone, (int(self.table.arities[x]), 1))

    def _imaginary(
        self, x: int, parents: Sequence[int], factors: Floats, n_empty: float
    ) -> Iterator[tuple[int, Floats]]:
        """What imaginary rows add to the states of each outcome, by state of x."""
        arities = self.table.arities
        outcomes = [y for y in range(len(arities)) if y != x and y not in parents]
        if not self.imaginary.is_even:
            for y in outcomes:
                prior = self.imaginary.of([*parents, x, y]).reshape(-1, int(arities[x]), int(arities[y]))
                yield y, np.einsum("zx,zxy->xy", factors, prior)
            return
        with_x = float(self.imaginary.of([*parents, x]))
        empty = n_empty * float(self.imaginary.of(parents)) / self._total  # each has P(y | x, z) = 1 / states of y
        spread = with_x * factors.sum(axis=0) + empty
        for y in outcomes:
            yield y, spread[:, None] / int(arities[y])

    def _impossible(self, x: int, parents: Sequence[int]) -> ScoreError:
        names = ", ".join(self.table.names[v] for v in parents)
        return ScoreError(
            f"The prior network gives probability 0 to a state of {self.table.names[x]!r} for some states of its "
            f"parents ({names}), so that nothing is known of setting it there. Give every state a probability."
        )

    def compared(self, x: int, y: int, response: Floats) -> tuple[float, Contrast]:
        """The two states of x between which y differs most, and by how much."""
        rows = response[:, self.part(y)]
        pairs = [(i, j) for j in range(len(rows)) for i in range(j)]
        apart = [float(np.abs(rows[i] - rows[j]).sum()) / 2 for i, j in pairs]
        less, more = pairs[int(np.argmax(apart))]
        if rows[[less, more]][:, rows[more] > rows[less]].sum() > 1:  # what is rarer is spoken of
            less, more = more, less
        supported = response[[less, more], self._marks.shape[1] + y].min()
        return max(apart), Contrast(less, more, rows[more] > rows[less], float(supported))

    def draws(
        self, x: int, parents: Sequence[int], asked: Mapping[int, tuple[Contrast, np.random.Generator]], count: int
    ) -> Iterator[tuple[int, Floats]]:
        """So many draws of the effect of x on each outcome asked for, given the parents of x."""
        cells = self._cells(parents)
        for y, (contrast, random) in asked.items():
            if y in parents or not contrast.raised.any():
                yield y, np.zeros(count)
                continue
            step = max(1, CELLS_AT_ONCE // cells.n_cells)
            sizes = [min(step, count - begin) for begin in range(0, count, step)]
            parts = [self._drawn(x, y, parents, cells, contrast, size, random) for size in sizes]
            yield y, np.concatenate(parts)

    def _drawn(
        self,
        x: int,
        y: int,
        parents: Sequence[int],
        cells: _Cells,
        contrast: Contrast,
        count: int,
        random: np.random.Generator,
    ) -> Floats:
        rows = np.bincount(cells.of_row, self._weights, cells.n_cells)
        weights = random.standard_gamma(rows + _flat(self.imaginary.of(parents)), (count, cells.n_cells))
        empty = np.zeros(count)
        if cells.n_empty:
            empty = random.standard_gamma(cells.n_empty * float(self.imaginary.of(parents)), count)
        total = weights.sum(axis=1) + empty
        prior = self.imaginary.of([*parents, x, y])
        is_raised = contrast.raised[self.table.codes[y]]
        chances = []
        for state in (contrast.less, contrast.more):
            has_state = self.table.codes[x] == state
            above = _parameter(prior, state, contrast.raised, self.table.arities[[x, y]])
            below = _parameter(prior, state, ~contrast.raised, self.table.arities[[x, y]])
            counted = [
                np.bincount(cells.of_row[marks], self._weights[marks], cells.n_cells)
                for marks in (has_state & is_raised, has_state & ~is_raised)
            ]
            chances.append(
                random.beta(
                    np.maximum(counted[0] + above, LEAST_PARAMETER),
                    np.maximum(counted[1] + below, LEAST_PARAMETER),
                    (count, cells.n_cells),
                )
            )
        found = (weights * (chances[1] - chances[0])).sum(axis=1)
        if cells.n_empty:
            each = float(self.imaginary.of(parents))
            up, down = (float(prior) * marks.sum() for marks in (contrast.raised, ~contrast.raised))
            found += empty * _among_empty(cells.n_empty, each, up, down, random, count)
        return np.asarray(found / total)


def _parameter(prior: Floats, state: int, marks: Marks, arities: Integers) -> Floats:
    """By cell of the parents: imaginary rows in which x has this state and y one of those marked."""
    if not prior.ndim:
        return np.asarray(prior * marks.sum())
    return np.asarray(prior.reshape(-1, *arities)[:, state, marks].sum(axis=1))


def _among_empty(
    n_cells: float, each: float, up: float, down: float, random: np.random.Generator, count: int
) -> Floats:
    """The mean difference of two probabilities over cells without rows, all alike: their shares have a symmetric
    Dirichlet distribution, drawn in size-biased order, which ends soon [Pitman 1996]."""
    found, left = np.zeros(count), np.ones(count)
    place = 1.0
    while place <= n_cells and left.max() > LEAST_LEFT:
        share = left if place == n_cells else left * random.beta(1 + each, (n_cells - place) * each, count)
        found += share * (random.beta(up, down, count) - random.beta(up, down, count))
        left = left - share
        place += 1
    return found


def _flat(imaginary: Floats, *sizes: int) -> Floats:
    """By cell of the parents, then by state of what comes after; a single number stays one."""
    return imaginary.reshape(-1, *sizes) if imaginary.ndim else imaginary
