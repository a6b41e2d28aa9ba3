"""Scores of tables of categories and numbers as one function of sets, from correlations of blocks of columns; formulas
in docs/reference/scores.md.

A category with c states that occur is a block of c - 1 columns, a number one of its rank or value and perhaps the
square. Blocks are whitened, so that only correlations between them count, and these are shrunk by N / (N + 1), as if
there were one more row in which all are independent: no set of columns is degenerate.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from topdag._core import BlockScore, CellKind, CodedTable, Penalty, Scatter, SetFormula, score_set
from topdag._util.arrays import Floats
from topdag._util.messages import first_ones
from topdag._util.options import option, question
from topdag.data.groups import numbers_of
from topdag.errors import ScoreError
from topdag.scoring.kinds.base import MatrixScore, coded

if TYPE_CHECKING:
    from topdag.data.table import Table

LEAST_DIRECTION = 1e-8
"""A square that deviates by less from a linear function of its number, relatively, tells nothing of its own."""

MOST_STATES = 2000
"""Of all categories of a table: each is a row of a matrix whose determinants are taken."""
FEW_ROWS = 20
"""Edges at states with fewer rows come and go with single rows: docs/develop/mixed_scores.md."""
MOST_NAMED = 4

ROWS_AT_ONCE = 1 << 16
"""Products are summed for so many rows at a time, which bounds what all columns of all blocks take."""


@dataclass(frozen=True)
class Blocks:
    """Some columns of a table, numbers before categories. ``places``: where each stands among the columns; ``begins``:
    where its rows of ``correlations`` begin, and the last ones end: of a number the first is that of itself."""

    n_rows: int
    places: tuple[int, ...]
    n_numbers: int
    begins: tuple[int, ...]
    correlations: Floats

    def squared(self) -> Floats:
        """Return the squares of the correlations of those numbers that have a square: others repeat nothing."""
        found = np.identity(self.n_numbers)
        varying = [v for v in range(self.n_numbers) if self.begins[v] + 1 < self.begins[v + 1]]
        first = [self.begins[v] for v in varying]
        found[np.ix_(varying, varying)] = self.correlations[np.ix_(first, first)] ** 2
        return found


@dataclass(frozen=True)
class ScoredBlocks:
    """How sets of the columns score. ``states``: the categories, where sets of these score by ``formula``."""

    blocks: Blocks
    score: BlockScore
    states: CodedTable | None
    formula: SetFormula | None

    def local(self, x: int, parents: Sequence[int]) -> float:
        """The local score of a family, by places among the columns."""
        by_rows = self.score.of([*parents, x]) - self.score.of(list(parents))
        if self.states is None or x not in self._at:
            return by_rows
        above = sorted(self._at[v] for v in parents if v in self._at)
        assert self.formula is not None
        by_states = score_set(self.states, self.formula, sorted([*above, self._at[x]]))
        return by_states - score_set(self.states, self.formula, above) + by_rows

    @cached_property
    def _at(self) -> dict[int, int]:
        """Where the categories stand among themselves."""
        return {place: at for at, place in enumerate(self.blocks.places[self.blocks.n_numbers :])}


class BlockKind(MatrixScore):
    """A score of tables of categories and numbers, as a function of sets."""

    numbers = "auto"
    score_equivalent = True
    has_squares: bool
    """Whether numbers are blocks of themselves and their squares, and what squares say in the Gaussian case is taken
    away again."""
    counts_states: bool
    """Whether sets of categories score as BIC says, which counts their states."""

    def values_of(self, number: Floats, counts: Floats) -> Floats:
        """What stands for a number, by rows, each of which occurs so often."""
        raise NotImplementedError

    def require_columns(self, table: Table) -> None:
        """Any column will do, if it is complete and the states of all categories together are not too many."""
        table.require_complete(repr(self))
        n_states = [0 if table.is_number(v) else len(states) for v, states in enumerate(table.states)]
        if sum(n_states) > MOST_STATES:
            most = table.names[n_states.index(max(n_states))]
            raise ScoreError(
                f"{self!r} takes at most {MOST_STATES:,} states of all categories together, and {most!r} alone has "
                f"{max(n_states):,}. Leave it out with {option('leave_out', [most])}, or, if it holds numbers, say so "
                f"with {option('types', {most: 'continuous'})}."
            )

    def notes_on(self, table: Table) -> tuple[str, ...]:
        """Return a sentence on states with few rows, whose relations to numbers are uncertain."""
        rare = [
            f"{table.names[v]}={table.states[v][code]} ({int(count)})"
            for v in range(table.n_variables)
            if len(table.states[v]) > 1 and not table.is_number(v)
            for code, count in enumerate(np.bincount(table.codes[v], table.weights, len(table.states[v])))
            if 0 < count < FEW_ROWS
        ]
        if not rare or table.n_rows < 2 * FEW_ROWS:
            return ()
        return (f"States with fewer than {FEW_ROWS} rows, whose edges are uncertain: {first_ones(rare, MOST_NAMED)}.",)

    def notes_on_weights(self) -> tuple[str, ...]:
        check = question("bootstrap")
        return (
            f"Networks weigh by exp({self!r}), a quasi-likelihood: on simulated tables as well calibrated as BIC, and "
            f"both are too sure; compare {check}.",
        )

    def local(self, table: Table, x: int, parents: Sequence[int]) -> float:
        self.require_columns(table)
        columns = sorted([*parents, x])
        place = columns.index(x)
        return self.scored_by(table, columns).local(place, [i for i in range(len(columns)) if i != place])

    def scored_by(self, table: Table, columns: Sequence[int]) -> ScoredBlocks:
        """How sets of these columns score."""
        blocks = self.blocks_of(table, columns)
        n, n_rows, n_numbers = len(columns), table.n_rows, blocks.n_numbers
        by_states = self.counts_states and n_numbers < n
        formula = SetFormula(CellKind.N_LOG_N, penalty=Penalty.PER_CELL, penalty_weight=math.log(n_rows) / 2)
        score = BlockScore(
            Scatter.plain(blocks.correlations),
            blocks.begins,
            blocks.places,
            n_numbers if by_states else n,
            -n_rows / 2,
            math.log(n_rows) / 2,
            Scatter.plain(blocks.squared()) if self.has_squares and n_numbers else None,
            n_rows / 2,
            1 / (n_rows + 1),
        )
        categories = [columns[place] for place in blocks.places[n_numbers:]]
        states = coded(table, categories) if by_states else None
        return ScoredBlocks(blocks, score, states, formula if by_states else None)

    def walk_bytes(self, table: Table, columns: Sequence[int]) -> float:
        """What walking over sets of these columns takes at most, for each thread: for each variable what is left of the
        matrix once it is eliminated, two doubles an entry."""
        widths = [len(table.states[v]) - 1 if table.states[v] else 1 + self.has_squares for v in columns]
        return 8.0 * float((np.cumsum(widths, dtype=np.float64) ** 2).sum())

    def blocks_of(self, table: Table, columns: Sequence[int]) -> Blocks:
        """The columns as blocks, and their correlations."""
        numbers = [place for place, v in enumerate(columns) if table.is_number(v)]
        places = [*numbers, *(place for place, v in enumerate(columns) if not table.is_number(v))]
        counts = table.weights.astype(np.float64)
        weights = counts / table.n_rows
        rows: list[_Rows] = [
            _Rows(self._of_number(number, counts, weights))
            for number in numbers_of(table, [columns[p] for p in numbers])
        ]
        for place in places[len(numbers) :]:
            codes = table.codes[columns[place]]
            of_state = np.bincount(codes, counts, int(table.arities[columns[place]]))
            rows.append(_Rows(_contrasts(of_state / table.n_rows), codes))
        begins = tuple(np.cumsum([0, *(own.n for own in rows)]).tolist())
        shrunk = _sums_of_products(rows, begins[-1], weights) * (table.n_rows / (table.n_rows + 1))
        for begin, end in pairwise(begins):
            shrunk[begin:end, begin:end] = np.identity(end - begin)
        return Blocks(table.n_rows, tuple(places), len(numbers), begins, shrunk)

    def _of_number(self, number: Floats, counts: Floats, weights: Floats) -> Floats:
        """The block of a number: nothing for a constant; its square where that is no linear function of it."""
        if number.min() == number.max():
            return np.zeros((0, len(number)))
        alone = _standardised(self.values_of(number, counts), weights)
        if not self.has_squares or len(np.unique(number)) < 3:
            return alone[np.newaxis]
        square = _centred(alone * alone, weights)
        rest = square
        for _ in range(2):  # once more, for what rounding left
            rest = _centred(rest - alone * float(weights @ (alone * rest)), weights)
        if _deviation(rest, weights) <= LEAST_DIRECTION * _deviation(square, weights):
            return alone[np.newaxis]
        return np.stack([alone, _standardised(rest, weights)])

    def explained(self, table: Table) -> list[float]:
        """Return in nats, for each variable, what all others explain of its block, which no parents can exceed."""
        n, n_rows = table.n_variables, table.n_rows
        blocks = self.blocks_of(table, range(n))
        matrix, floor = Scatter.plain(blocks.correlations), 1 / (n_rows + 1)
        explained = BlockScore(matrix, blocks.begins, blocks.places, n, -n_rows / 2, 0.0, None, 0.0, floor)
        whole = explained.of(list(range(n)))
        return [whole - explained.of([v for v in range(n) if v != x]) for x in range(n)]

    def bounds_alone(self, table: Table) -> list[float]:
        """Return for each variable what no family exceeds: for a number what all others explain, for a category that
        beside a log likelihood of 0."""
        n_rows, bounds = table.n_rows, self.explained(table)
        if not self.counts_states:
            return bounds
        least = [
            0.0 if table.is_number(v) else math.log(n_rows) / 2 * max(0, len(states) - 1)
            for v, states in enumerate(table.states)
        ]
        return [bound - penalty for bound, penalty in zip(bounds, least, strict=True)]


@dataclass(frozen=True)
class RankBIC(BlockKind):
    """Score tables of categories, numbers or both, in every direction, by one equivalent score.

    Categories among themselves score as :class:`BIC` does. Numbers count by the normal scores of their ranks and the
    squares of these, in regressions on each other and on the states of categories. Any family is allowed, none is
    degenerate, and a monotone transformation of a number changes nothing. It is the default for tables with numbers.

    See Also
    --------
    GaussianBIC : for linear effects among numbers, with noise that is not normal and many rows.
    MixedBIC : for tables in which no category depends on a number.

    Notes
    -----
    A quasi-likelihood: differences compare networks, but exp(score) is no probability of the rows. A network without
    edges scores 0 for its numbers. Formulas: docs/reference/scores.md; comparisons: docs/develop/mixed_scores.md.

    Examples
    --------
    >>> import topdag as td
    >>> columns = {"dose": [i / 7 for i in range(40)], "ill": ["no"] * 20 + ["yes"] * 20}
    >>> td.best_network(columns, td.RankBIC()).edges
    (('dose', 'ill'),)
    """

    has_squares = True
    counts_states = True

    def values_of(self, number: Floats, counts: Floats) -> Floats:
        return normal_scores(number, counts)


@dataclass(frozen=True)
class DegenerateGaussian(BlockKind):
    """Score tables of categories, numbers or both by linear regressions, as published.

    Each category stands for hidden normal columns, one for each state but one; numbers count as they are, and all is
    linear. Without edges the score is 0.

    See Also
    --------
    RankBIC : finds fewer false edges where relations are not linear, or tails are long.

    References
    ----------
    Andrews, Ramsey and Cooper 2019, Learning high-dimensional directed acyclic graphs with mixed data-types.
    """

    has_squares = False
    counts_states = False

    def values_of(self, number: Floats, counts: Floats) -> Floats:
        largest = float(np.abs(number).max())
        scaled = number / largest
        found: Floats = scaled - scaled[0]
        return found


def normal_scores(number: Floats, counts: Floats) -> Floats:
    """The normal quantiles of (rank - 1/2) / N, middle ranks for ties, of rows that occur so often."""
    from statistics import NormalDist  # no other score needs it

    values, at = np.unique(number, return_inverse=True)
    of_value = np.bincount(at, counts, len(values))
    up_to = np.cumsum(of_value)
    quantile = NormalDist().inv_cdf
    scores = np.array([quantile(share) for share in ((up_to - of_value / 2) / up_to[-1]).tolist()])
    found: Floats = scores[at]
    return found


@dataclass(frozen=True)
class _Rows:
    """Columns of a block: ``values`` by row of the table, or by code."""

    values: Floats
    codes: np.ndarray[tuple[int], np.dtype[np.uint16]] | None = None

    @property
    def n(self) -> int:
        return len(self.values)

    def among(self, rows: slice) -> Floats:
        return self.values[:, rows] if self.codes is None else self.values[:, self.codes[rows]]


def _contrasts(shares: Floats) -> Floats:
    """Columns by state, uncorrelated and of variance 1: each state that occurs against all that follow it."""
    occurring = np.flatnonzero(shares)
    found = np.zeros((len(occurring) - 1, len(shares)))
    for i, state in enumerate(occurring[:-1]):
        later = occurring[i + 1 :]
        own, rest = float(shares[state]), float(shares[later].sum())
        found[i, state] = math.sqrt(rest / (own * (own + rest)))
        found[i, later] = -math.sqrt(own / (rest * (own + rest)))
    return found


def _sums_of_products(blocks: Sequence[_Rows], n: int, weights: Floats) -> Floats:
    total = np.zeros((n, n))
    for rows in _parts(len(weights)):
        columns = np.concatenate([own.among(rows) for own in blocks])
        total += (columns * weights[rows]) @ columns.T
    return total


def _parts(n: int) -> Iterator[slice]:
    return (slice(begin, min(n, begin + ROWS_AT_ONCE)) for begin in range(0, n, ROWS_AT_ONCE))


def _centred(column: Floats, weights: Floats) -> Floats:
    found: Floats = column - float(weights @ column)
    return found


def _deviation(column: Floats, weights: Floats) -> float:
    return math.sqrt(float(weights @ (column * column)))


def _standardised(column: Floats, weights: Floats) -> Floats:
    centred = _centred(_centred(column, weights), weights)
    found: Floats = centred / _deviation(centred, weights)
    return found
