"""Multinomial logistic regressions, of categories with parents that are numbers, by Newton's method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from topdag._util.arrays import Floats, Integers
from topdag.errors import NetworkError
from topdag.networks.design import Cells

RIDGE = 0.1
"""For each imaginary row, on the squares of slopes for a standard deviation; rows of eight tables held out were most
probable with 0.03 to 0.3."""
LEAST_RIDGE = 1e-6
"""Without any, states that parents tell exactly would have coefficients without bound."""
MOST_COEFFICIENTS = 4000
"""Newton's method needs a matrix of the square of it."""
MOST_STEPS = 200
CLOSE = 1e-11
"""Newton's method ends where a step would gain less of the penalized log likelihood, for each row."""


@dataclass(frozen=True)
class Logistic:
    """The log odds of a category given parents of any kind: P(state) is exp(line of the state), divided by their sum.

    Of all rows, ``ess`` imaginary ones have each state alike, so that no state is impossible anywhere.

    Attributes
    ----------
    variable : str
    states : tuple
    intercepts : mapping of state to float
    coefficients : mapping of state to mapping of str to float
        For one more of each parent that is a number.
    of_states : mapping of state to mapping of str to mapping of state to float
        What each state of a parent that is a category adds, 0 on average over the rows.
    n_rows : int
    ess : float
    """

    variable: str
    states: tuple[Any, ...]
    intercepts: Mapping[Any, float]
    coefficients: Mapping[Any, Mapping[str, float]]
    of_states: Mapping[Any, Mapping[str, Mapping[Any, float]]]
    n_rows: int
    ess: float

    def probabilities(self, cells: Cells, n_rows: int) -> Floats:
        """Return the probability of each state in each row."""
        lines = [
            line_of(self.intercepts[state], self.coefficients[state], self.of_states[state], cells, n_rows)
            for state in self.states
        ]
        share = self.ess / (self.n_rows + self.ess)
        return np.asarray((1 - share) * np.exp(log_softmax(np.array(lines).T)) + share / len(self.states))

    def __str__(self) -> str:
        return "\n".join(
            f"log odds of {self.variable}={state}: {self.intercepts[state]:.4g}"
            f"{terms(self.coefficients[state], self.of_states[state])}"
            for state in self.states
        )


def line_of(
    intercept: float,
    slopes: Mapping[str, float],
    of_states: Mapping[str, Mapping[Any, float]],
    cells: Cells,
    n_rows: int,
) -> Floats:
    """Return the value of a linear function in each row."""
    found = np.full(n_rows, intercept)
    for name, slope in slopes.items():
        found = found + slope * cells[name]
    for name, added in of_states.items():
        found = found + np.array([*added.values()])[cells[name]]
    return found


def terms(slopes: Mapping[str, float], of_states: Mapping[str, Mapping[Any, float]]) -> str:
    """Return the terms after the intercept as a text."""
    numbers = [f" {slope:+.4g} {name}" for name, slope in slopes.items()]
    states = [f" {value:+.4g} [{name}={state}]" for name, own in of_states.items() for state, value in own.items()]
    return "".join(numbers + states)


def log_softmax(lines: Floats) -> Floats:
    away = lines - lines.max(axis=1, keepdims=True)
    return np.asarray(away - np.log(np.exp(away).sum(axis=1, keepdims=True)))


def logistic_optimum(
    design: Floats, codes: Integers, weights: Floats, n_states: int, ridge: float
) -> tuple[Floats, Floats]:
    """Return the coefficients of most penalized likelihood, a column for each state, and the curvature there.

    Maximizes the log likelihood, with ``ridge`` more rows spread evenly over the states at the mean of all parents,
    less ridge / 2 times the squares of all slopes. That is strictly concave but for a number added to all intercepts,
    whose sum is kept at 0; steps of Newton's method are halved until they gain, so that it converges from anywhere.

    Parameters
    ----------
    design : array
        By row and column, the first of ones, as of ``Design``.
    codes, weights : array
        Of each row, the state and how often it occurs.

    Returns
    -------
    coefficients : array
        By column of the design and state.
    curvature : array
        Minus the second derivatives, by state and column, in this order.
    """
    n_columns, ridge = design.shape[1], max(ridge, LEAST_RIDGE)
    if n_columns * n_states > MOST_COEFFICIENTS:
        raise NetworkError(
            f"A logistic regression would have {n_columns * n_states:,} coefficients; at most {MOST_COEFFICIENTS:,} "
            "fit. Join states, or search with fewer parents."
        )
    mean_row = np.zeros((1, n_columns))
    mean_row[0, 0] = 1.0
    rows, counts = np.concatenate([design, mean_row]), np.append(weights, ridge)
    wanted = np.zeros((len(rows), n_states))
    wanted[np.arange(len(codes)), codes] = weights
    wanted[-1] = ridge / n_states
    found, size = np.zeros((n_columns, n_states)), float(counts.sum())
    value, logs = _penalized(rows, wanted, found, ridge)
    for _ in range(MOST_STEPS):
        chances = np.exp(logs)
        slope = rows.T @ (wanted - counts[:, np.newaxis] * chances)
        slope[1:] -= ridge * found[1:]
        curvature = _curvature(rows, counts, chances, ridge)
        step = np.linalg.solve(curvature, slope.T.ravel()).reshape(n_states, n_columns).T
        gain = float((slope * step).sum())
        if gain <= CLOSE * size:
            found = found + step
            break
        share = 1.0
        while share > 1e-10:
            ahead, logs_ahead = _penalized(rows, wanted, found + share * step, ridge)
            if ahead >= value + 0.1 * share * gain:
                break
            share /= 2
        else:  # rounding hides what is left to gain
            break
        found, value, logs = found + share * step, ahead, logs_ahead
    found[0] -= found[0].mean()
    return found, _curvature(rows, counts, np.exp(log_softmax(rows @ found)), ridge)


def _penalized(rows: Floats, wanted: Floats, found: Floats, ridge: float) -> tuple[float, Floats]:
    logs = log_softmax(rows @ found)
    return float((wanted * logs).sum()) - ridge / 2 * float((found[1:] ** 2).sum()), logs


def _curvature(rows: Floats, counts: Floats, chances: Floats, ridge: float) -> Floats:
    n_columns, n_states = rows.shape[1], chances.shape[1]
    found = np.zeros((n_states, n_columns, n_states, n_columns))
    for k in range(n_states):
        for j in range(k + 1):
            factor = counts * chances[:, k] * ((j == k) - chances[:, j])
            found[k, :, j] = found[j, :, k] = (rows * factor[:, np.newaxis]).T @ rows
        own = np.einsum("ii->i", found[k, :, k])
        own[1:] += ridge
    found[:, 0, :, 0] += float(counts.sum()) / n_states  # the sum of the intercepts, which tells nothing
    return found.reshape(n_states * n_columns, n_states * n_columns)
