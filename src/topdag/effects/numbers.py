"""Effects among continuous variables: the regression coefficient of the cause beside its parents.

If x is set one higher, the mean of y grows by the coefficient of x in the regression of y on x and the parents of x.
Under a normal-Wishart distribution it has a t distribution [Geiger & Heckerman 2002; Pensar et al. 2020].
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from topdag._util.arrays import Floats
from topdag._util.options import option
from topdag.data.groups import numbers_of
from topdag.data.table import Table
from topdag.errors import ScoreError
from topdag.scoring.kinds.gaussian import BGe


@dataclass(frozen=True, eq=False)
class AmongNumbers:
    """What follows from a table of numbers. A response has a slope for each variable.

    ``matrix``: the scatter of the columns with what the prior adds, scaled to a diagonal of ones; ``deviations``: by
    which it was scaled. A regression with s variables has ``freedom`` + ``per_variable`` * s degrees of freedom.
    """

    table: Table
    matrix: Floats
    deviations: Floats
    freedom: float
    per_variable: int

    @property
    def n_bytes(self) -> float:
        return 8.0 * self.matrix.size

    @classmethod
    def by_prior(cls, table: Table, kind: BGe) -> AmongNumbers:
        """Under the prior of BGe [Kuipers, Moffa & Heckerman 2014]. Of s of n variables, the covariance has an inverse
        Wishart distribution with alpha_w + N - n + s degrees of freedom."""
        n, n_rows = table.n_variables, table.n_rows
        scatter, means = _scatter(table)
        away = means - kind.prior_mean(n)
        between = kind.alpha_mu * n_rows / (kind.alpha_mu + n_rows) * np.outer(away, away)
        matrix = kind.prior_precision(n) + scatter + between
        return cls(table, *_to_ones(matrix), kind.degrees_of_freedom(n) + n_rows - n, 1)

    @classmethod
    def by_least_squares(cls, table: Table) -> AmongNumbers:
        """Without a prior, or under a flat one over coefficients and the logs of deviations."""
        return cls(table, *_to_ones(_scatter(table)[0]), table.n_rows, -1)

    def levels(self, x: int) -> tuple[()]:
        """A cause is set to no level in particular."""
        return ()

    def part(self, y: int) -> int:
        """Where the slope of a variable stands in a response."""
        return y

    def mean(self, x: int, parents: Sequence[int]) -> Floats:
        """The response to x that is expected, given its parents; what is among them does not change."""
        causes = [x, *parents]
        slopes = np.linalg.solve(self.matrix[np.ix_(causes, causes)], self.matrix[causes])[0]
        slopes *= self.deviations / self.deviations[x]
        slopes[causes] = 0.0
        return np.asarray(slopes)

    def unchanged(self, x: int) -> Floats:
        """The response where nothing follows from x."""
        return np.zeros(len(self.deviations))

    def compared(self, x: int, y: int, response: Floats) -> tuple[float, None]:
        return float(response[y]), None

    def draws(
        self, x: int, parents: Sequence[int], asked: Mapping[int, tuple[None, np.random.Generator]], count: int
    ) -> Iterator[tuple[int, Floats]]:
        """So many draws of the effect of x on each outcome asked for, given the parents of x."""
        causes = [x, *parents]
        freedom = self.freedom + self.per_variable * (len(causes) + 1)
        if freedom <= 0:
            raise ScoreError(
                f"{self.table.n_rows} rows are too few for a regression on {len(causes)} variables, so there are no "
                f"intervals: ask with {option('draws', 0)}, or with {option('max_parents')} for fewer parents."
            )
        inverse = np.linalg.inv(self.matrix[np.ix_(causes, causes)])
        for y, (_, random) in asked.items():
            if y in parents:
                yield y, np.zeros(count)
                continue
            slopes = inverse @ self.matrix[causes, y]
            left = max(0.0, float(self.matrix[y, y] - self.matrix[causes, y] @ slopes))
            error = math.sqrt(left / freedom * float(inverse[0, 0]))
            drawn = slopes[0] + error * random.standard_t(freedom, count)
            yield y, np.asarray(drawn * self.deviations[y] / self.deviations[x])


def _scatter(table: Table) -> tuple[Floats, Floats]:
    """Sums of products of deviations from the means, and the means."""
    numbers, weights = numbers_of(table, range(table.n_variables)), table.weights.astype(np.float64)
    means = numbers @ weights / weights.sum()
    centred = (numbers - means[:, None]) * np.sqrt(weights)
    return centred @ centred.T, means


def _to_ones(matrix: Floats) -> tuple[Floats, Floats]:
    deviations = np.sqrt(matrix.diagonal())
    return matrix / np.outer(deviations, deviations), deviations
