"""Scores of tables with continuous variables, alone or beside discrete ones; formulas in docs/guides/continuous.md.

Natural logs, larger is better. Where every variable is continuous, a set S of l variables scores
constant(l) + factor(l) * ln det of a matrix of S, and a local score is the difference of two sets.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from topdag._core import CellKind, MinorFormula, Penalty, Scatter, SetFormula, score_set
from topdag._util.arrays import Floats, Integers
from topdag._util.messages import listing
from topdag._util.options import worded
from topdag.data.groups import numbers_of, rows_by_state
from topdag.errors import NotAllowed, ScoreError
from topdag.scoring.kinds.base import MatrixScore, ScoreKind, coded
from topdag.scoring.kinds.scatter import degenerate_in_words, dependent_columns, scatter_of

if TYPE_CHECKING:
    from topdag.data.table import Table

LARGEST_PRIOR = 1e100
FAR = 10.0
"""So many standard deviations, or times them, are far from what a prior expects."""


@dataclass(frozen=True)
class MinorScore:
    """What a set of the columns scores, as the core computes it: sums of parts, each a formula of a matrix."""

    parts: tuple[tuple[Scatter, MinorFormula], ...]

    def local(self, x: int, parents: Sequence[int]) -> float:
        """The local score of a family, by places among the columns; not a number where its matrix is degenerate."""
        return self._of(sorted([*parents, x])) - self._of(sorted(parents))

    def _of(self, places: Sequence[int]) -> float:
        return math.fsum(
            formula.constants[len(places)] + formula.factors[len(places)] * scatter.log_determinant(list(places))
            for scatter, formula in self.parts
        )


class GaussianScore(MatrixScore):
    """A score of tables whose columns all are continuous, as a function of sets."""

    numbers = "all"

    def require_columns(self, table: Table) -> None:
        discrete = [name for name in table.names if name not in table.continuous]
        if discrete:
            mixed = worded("RankBIC() or MixedBIC()", "--score rank-bic or mixed-bic")
            raise ScoreError(
                f"{self!r} is for continuous variables, but {listing(discrete)} "
                f"{'has' if len(discrete) == 1 else 'have'} states. Leave out such columns or use {mixed}."
            )

    def scored_by(self, table: Table, columns: Sequence[int]) -> MinorScore:
        """How sets of these columns score."""
        raise NotImplementedError

    def degenerate(self, table: Table, columns: Sequence[int]) -> ScoreError:
        """The error for columns whose matrix has no determinant."""
        raise NotImplementedError

    def require_independent(self, table: Table, columns: Sequence[int], score: MinorScore, max_parents: int) -> None:
        """Refuses columns of which one depends on others, no more than it may have as parents.

        Decided once, before anything is scored, and whatever the order of the columns.
        """
        for part, (scatter, _) in enumerate(score.parts):

            def in_order(order: list[int], part: int = part) -> Scatter:
                return self.scored_by(table, order).parts[part][0]

            found = dependent_columns(columns, max_parents + 1, scatter, in_order)
            if found:
                raise self.degenerate(table, found)

    def local(self, table: Table, x: int, parents: Sequence[int]) -> float:
        self.require_columns(table)
        columns = sorted([*parents, x])
        place = columns.index(x)
        value = self.scored_by(table, columns).local(place, [i for i in range(len(columns)) if i != place])
        if math.isnan(value):
            raise self.degenerate(table, columns)
        return value

    def bounds_alone(self, table: Table) -> list[float]:
        """Per variable: the log likelihood given all others, which no local score exceeds: those here are averages of
        likelihoods, or likelihoods less a penalty."""
        scatter, n, n_rows = scatter_of(table, range(table.n_variables)), table.n_variables, table.n_rows
        whole = scatter.log_determinant(list(range(n)))
        rest = [scatter.log_determinant([v for v in range(n) if v != x]) for x in range(n)]
        bounds = [_log_likelihood(whole - less, 1, n_rows) for less in rest]
        return [math.inf if math.isnan(bound) else bound for bound in bounds]


class PenalisedGaussian(GaussianScore):
    """The log likelihood less a penalty for each coefficient, intercept and variance."""

    def penalty(self, n_rows: int) -> float:
        """For each free parameter."""
        raise NotImplementedError

    def scored_by(self, table: Table, columns: Sequence[int]) -> MinorScore:
        n_rows, weight = table.n_rows, self.penalty(table.n_rows)
        sizes = range(len(columns) + 1)
        constants = [_log_likelihood(0.0, size, n_rows) - weight * size * (size + 3) / 2 for size in sizes]
        formula = MinorFormula(constants, [-n_rows / 2 for _ in sizes])
        return MinorScore(((scatter_of(table, columns), formula),))

    def degenerate(self, table: Table, columns: Sequence[int]) -> ScoreError:
        return ScoreError(f"{self!r}: {degenerate_in_words(table, columns)}")


@dataclass(frozen=True)
class GaussianBIC(PenalisedGaussian):
    """Log likelihood of regressions less (ln N)/2 for each coefficient, intercept and variance [Schwarz 1978]."""

    score_equivalent = True

    def penalty(self, n_rows: int) -> float:
        return math.log(n_rows) / 2


@dataclass(frozen=True)
class GaussianAIC(PenalisedGaussian):
    """Log likelihood of regressions less 1 for each coefficient, intercept and variance [Akaike 1974]."""

    score_equivalent = True

    def penalty(self, n_rows: int) -> float:
        return 1.0


@dataclass(frozen=True, repr=False)
class BGe(GaussianScore):
    """Bayesian Gaussian score with a normal-Wishart prior [Geiger & Heckerman 2002; Kuipers, Moffa & Heckerman 2014].

    ``alpha_mu``: imaginary rows of the prior mean; ``alpha_w``: degrees of freedom of the Wishart distribution, by
    default n + alpha_mu + 1 for n variables; ``mean``: a number for all variables or one for each; ``precision``: the
    parameter T of the Wishart distribution, a number t for t times the identity or a matrix; by default
    t = alpha_mu (alpha_w - n - 1) / (alpha_mu + 1).
    """

    alpha_mu: float = 1.0
    alpha_w: float | None = None
    mean: float | tuple[float, ...] = 0.0
    precision: float | tuple[tuple[float, ...], ...] | None = None
    score_equivalent = True

    def __post_init__(self) -> None:
        _require_positive(self.alpha_mu, "alpha_mu")
        if self.alpha_w is not None:
            _require_positive(self.alpha_w, "alpha_w")
        object.__setattr__(self, "mean", _plain(self.mean, "mean", 1))
        if self.precision is not None:
            object.__setattr__(self, "precision", _plain(self.precision, "precision", 2))
        if isinstance(self.precision, float):
            _require_positive(self.precision, "precision")

    def __repr__(self) -> str:
        """What is not as usual, and the imaginary rows."""
        given = [f"alpha_mu={self.alpha_mu}"]
        given += [f"alpha_w={self.alpha_w}"] if self.alpha_w is not None else []
        given += [f"mean={self.mean}"] if self.mean != 0.0 else []
        given += [f"precision={self.precision}"] if self.precision is not None else []
        return f"BGe({', '.join(given)})"

    def degrees_of_freedom(self, n: int) -> float:
        alpha_w = n + self.alpha_mu + 1 if self.alpha_w is None else self.alpha_w
        least = n + 1 if self.precision is None else n - 1
        if not alpha_w > least:
            reason = " unless precision= is given" if self.precision is None else ""
            raise ScoreError(f"BGe: alpha_w must be more than {least} for {n} variables{reason}, not {alpha_w:g}.")
        return alpha_w

    def prior_mean(self, n: int) -> Floats:
        if isinstance(self.mean, tuple) and len(self.mean) != n:
            raise ScoreError(f"BGe: mean has {len(self.mean)} numbers, but there are {n} variables.")
        return np.full(n, self.mean) if isinstance(self.mean, float) else np.array(self.mean)

    def prior_precision(self, n: int) -> Floats:
        if isinstance(self.precision, tuple):
            matrix = np.array(self.precision)
            if matrix.shape != (n, n):
                raise ScoreError(f"BGe: precision has {len(matrix)} rows, but there are {n} variables.")
            return matrix
        t = self.precision
        if t is None:
            t = self.alpha_mu * (self.degrees_of_freedom(n) - n - 1) / (self.alpha_mu + 1)
        return np.identity(n) * t

    def scored_by(self, table: Table, columns: Sequence[int]) -> MinorScore:
        n, n_rows, chosen = table.n_variables, table.n_rows, list(columns)
        before = np.ascontiguousarray(self.prior_precision(n)[np.ix_(chosen, chosen)])
        mean = np.ascontiguousarray(self.prior_mean(n)[chosen])
        after = Scatter.posterior(numbers_of(table, chosen), table.weights, before, mean, self.alpha_mu)
        freedom = [self.degrees_of_freedom(n) - n + size for size in range(len(chosen) + 1)]
        constants = [self._constant(size, degrees, n_rows) for size, degrees in enumerate(freedom)]
        factors = [-(n_rows + degrees) / 2 for degrees in freedom]
        if isinstance(self.precision, tuple):
            prior = MinorFormula([0.0 for _ in freedom], [degrees / 2 for degrees in freedom])
            return MinorScore(((after, MinorFormula(constants, factors)), (Scatter.plain(before), prior)))
        log_t = math.log(before[0, 0])
        constants = [
            c + degrees / 2 * size * log_t for size, (c, degrees) in enumerate(zip(constants, freedom, strict=True))
        ]
        return MinorScore(((after, MinorFormula(constants, factors)),))

    def _constant(self, size: int, degrees: float, n_rows: int) -> float:
        """All but the determinants, for so many variables [Kuipers, Moffa & Heckerman 2014, eq. 4]."""
        gammas = math.fsum(
            math.lgamma((n_rows + degrees - i) / 2) - math.lgamma((degrees - i) / 2) for i in range(size)
        )
        return size / 2 * (math.log(self.alpha_mu / (self.alpha_mu + n_rows)) - n_rows * math.log(math.pi)) + gammas

    def notes_on(self, table: Table) -> tuple[str, ...]:
        """The usual prior expects columns near its mean, with variances near 1."""
        shares = table.weights / table.n_rows
        means = table.numbers @ shares
        deviations = np.sqrt(((table.numbers - means[:, np.newaxis]) ** 2) @ shares)
        away = np.abs(means - self.prior_mean(table.n_variables)) > FAR * deviations
        odd = away | (self.precision is None) & ((deviations > FAR) | (deviations < 1 / FAR))
        if not odd.any():
            return ()
        names = [name for name, is_odd in zip(table.names, odd, strict=True) if is_odd]
        mean = f"{self.mean:g}" if isinstance(self.mean, float) else "those given"
        variances = " and variances near 1" if self.precision is None else ""
        given = worded(" or give mean= and precision=", "")
        return (
            f"BGe: the prior expects means near {mean}{variances}; {listing(names)} "
            f"{'is' if len(names) == 1 else 'are'} far from that. Standardise them{given}; or score with "
            f"{worded('GaussianBIC()', '--score gaussian-bic')}, which finds the same network on any scale.",
        )

    def degenerate(self, table: Table, columns: Sequence[int]) -> ScoreError:
        names = [table.names[v] for v in columns]
        return ScoreError(
            f"BGe: the matrix of {listing(names)} is not positive definite to 32 digits. Scale the columns to "
            "variances near 1, or give another precision=."
        )


@dataclass(frozen=True)
class MixedBIC(ScoreKind):
    """BIC of tables with discrete and continuous variables: conditional Gaussian networks [Lauritzen & Wermuth 1989].

    A discrete variable has discrete parents only, with a table of probabilities; a continuous one has a linear
    regression on its continuous parents for each state of its discrete parents. Other families are not allowed, nor
    are those whose likelihood has no maximum: with too few rows in some state, or no residual variance.
    """

    numbers = "auto"
    score_equivalent = False

    def penalty(self, n_rows: int) -> float:
        return math.log(n_rows) / 2

    def require_columns(self, table: Table) -> None:
        """Any column will do, if it is complete."""
        table.require_complete(repr(self))

    def tells_apart(self, table: Table) -> tuple[tuple[str, ...], ...]:
        return (table.continuous,) if 0 < len(table.continuous) < table.n_variables else ()

    def local(self, table: Table, x: int, parents: Sequence[int]) -> float:
        discrete = [v for v in sorted(parents) if table.states[v]]
        continuous = [v for v in sorted(parents) if not table.states[v]]
        if not table.states[x]:
            return self._regressions(table, x, discrete, continuous)
        if continuous:
            raise NotAllowed(
                f"MixedBIC: {table.names[x]!r} is discrete, so it cannot have the continuous parent "
                f"{table.names[continuous[0]]!r}."
            )
        formula = SetFormula(CellKind.N_LOG_N, penalty=Penalty.PER_CELL, penalty_weight=self.penalty(table.n_rows))
        view = coded(table, [*discrete, x])
        n = len(discrete)
        return score_set(view, formula, list(range(n + 1))) - score_set(view, formula, list(range(n)))

    def _regressions(self, table: Table, x: int, discrete: list[int], continuous: list[int]) -> float:
        """One for each state of the discrete parents that occurs; every state that could has parameters."""
        family = sorted([*continuous, x])  # in the order of columns, in which scoring tells what depends on what
        numbers, others = numbers_of(table, family), [i for i, v in enumerate(family) if v != x]
        n, parts = len(continuous), []
        for rows in rows_by_state(table, discrete):
            scatter = Scatter.of_rows(numbers, table.weights, rows.tolist())
            log_ratio = scatter.log_determinant(list(range(n + 1))) - scatter.log_determinant(others)
            if math.isnan(log_ratio):
                raise self.degenerate(table, x, discrete, continuous, rows)
            parts.append(_log_likelihood(log_ratio, 1, int(table.weights[rows].sum(dtype=np.int64))))
        states = math.prod(int(table.arities[v]) for v in discrete)
        return math.fsum(parts) - self.penalty(table.n_rows) * states * (n + 2)

    def degenerate(
        self, table: Table, x: int, discrete: list[int], continuous: list[int], rows: Integers
    ) -> ScoreError:
        if not discrete:
            return ScoreError(f"{self!r}: {degenerate_in_words(table, [*continuous, x])}")
        where = ", ".join(f"{table.names[v]}={table.states[v][table.codes[v, rows[0]]]}" for v in discrete)
        return NotAllowed(
            f"MixedBIC: where {where} there are too few different rows ({len(rows)}) for a regression of "
            f"{table.names[x]!r} on {len(continuous)} continuous parents, or nothing varies, so that the likelihood "
            "has no maximum; this family is not allowed."
        )


@dataclass(frozen=True, repr=False)
class GaussianPart(GaussianBIC):
    """MixedBIC where every column is continuous: computed as GaussianBIC, and called what the user called it."""

    def __repr__(self) -> str:
        return repr(MixedBIC())


def _log_likelihood(log_det: float, size: int, n_rows: int) -> float:
    """At its maximum, of variables whose scatter has this log determinant."""
    return -n_rows / 2 * (size * (math.log(2 * math.pi) + 1 - math.log(n_rows)) + log_det)


def _require_positive(value: Any, name: str) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 1e-100 <= value <= LARGEST_PRIOR:
        raise ScoreError(f"BGe: {name} must be a positive number, not {value!r}.")


def _plain(value: Any, name: str, dimensions: int) -> Any:
    """A number as a float, numbers as tuples of floats; finite, and a matrix symmetric."""
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.array(math.nan)
    fits = array.ndim in (0, dimensions) and array.size and bool((np.abs(array) <= LARGEST_PRIOR).all())
    if not fits or isinstance(value, bool):
        what = "a number or one for each variable" if dimensions == 1 else "a number or a matrix"
        raise ScoreError(f"BGe: {name} must be {what}, not {value!r}.")
    if array.ndim == 2:
        is_square = array.shape[0] == array.shape[1]
        if not is_square or (array != array.T).any() or np.linalg.eigvalsh(array)[0] <= 0:
            raise ScoreError("BGe: precision must be a symmetric, positive definite matrix.")
        return tuple(map(tuple, array.tolist()))
    return tuple(array.tolist()) if array.ndim else float(array)
