"""Linear regressions of the numbers of a network on parents of any kind."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from topdag._util.arrays import Floats
from topdag._util.brief import brief
from topdag.data.convert import Reading, as_table
from topdag.data.groups import numbers_of, rows_by_state
from topdag.data.table import Table
from topdag.errors import ScoreError
from topdag.networks.design import Design, cells_of, least_squares
from topdag.networks.logistic import terms

if TYPE_CHECKING:
    from topdag.networks.network import Network


EXACT = 1e-7
"""A residual sd that is so small a share of a column's is rounding."""
ROWS_FOR_EACH = 2
"""A state of discrete parents has a regression of its own from so many rows for each parameter on."""


@dataclass(frozen=True)
class Regression:
    """variable = intercept + coefficients · continuous parents + what the states of discrete ones add + noise.

    Attributes
    ----------
    variable : str
    given : mapping of str to state
        It holds in the rows where discrete parents have these states; empty for all rows.
    intercept : float
    coefficients : mapping of str to float
        For one more of each continuous parent.
    variance : float
        Of the noise.
    n_rows : int
        How many rows there are.
    of_states : mapping of str to mapping of state to float
        What each state of the discrete parents that ``given`` does not name adds, 0 on average over the rows.
    """

    variable: str
    given: Mapping[str, Any]
    intercept: float
    coefficients: Mapping[str, float]
    variance: float
    n_rows: int
    of_states: Mapping[str, Mapping[Any, float]] = field(default_factory=lambda: MappingProxyType({}))

    def __str__(self) -> str:
        where = f" where {', '.join(f'{name}={state}' for name, state in self.given.items())}" if self.given else ""
        added = terms(self.coefficients, self.of_states)
        return f"{self.variable} = {self.intercept:.4g}{added}, sd {math.sqrt(self.variance):.4g}{where}"


@brief
def regressions(network: Network, source: Any, **reading: Unpack[Reading]) -> dict[str, tuple[Regression, ...]]:
    """For each continuous variable its regression on its parents, one for each state of discrete parents that occurs.

    ``source``: a table, or a frame or the path of a file, whose decimals are then continuous.

    >>> from topdag import Network
    >>> table = Table({"a": [0.0, 1.0, 2.0], "b": [1.0, 3.0, 5.5]}, types={"*": "continuous"})
    >>> print(*regressions(Network(("a", "b"), {"b": ["a"]}), table)["b"])
    b = 0.9167 +2.25 a, sd 0.1179
    """
    table = as_table(source, reading)
    table.require_no_experiments("regressions")
    table.require_complete("regressions")
    if set(network.names) != set(table.names):
        raise ScoreError("The network must have the variables of the table: " + ", ".join(table.names) + ".")
    return regressions_in(table, network)


def regressions_in(table: Table, network: Network) -> dict[str, tuple[Regression, ...]]:
    """The same of a table that may have more columns."""
    of = [name for name in network.names if name in table.continuous]
    return {name: by_state(table, name, network.parents[name], 0.0) for name in of}


def by_state(table: Table, name: str, parents: Sequence[str], ess: float) -> tuple[Regression, ...]:
    """Return a regression for each state of the discrete parents that occurs; ``ess``: imaginary rows in each."""
    discrete = [table.index(parent) for parent in parents if parent not in table.continuous]
    continuous = [parent for parent in parents if parent in table.continuous]
    cells, weights = cells_of(table, [*continuous, name]), table.weights.astype(np.float64)
    found = []
    for rows in rows_by_state(table, discrete):
        own = {member: numbers[rows] for member, numbers in cells.items()}
        given = {table.names[v]: table.states[v][table.codes[v, rows[0]]] for v in discrete}
        found.append(_fitted(table, name, continuous, own, weights[rows], ess, given))
    return tuple(found)


def with_main_effects(table: Table, name: str, parents: Sequence[str], ess: float) -> Regression:
    """Return one regression for all rows, to which each state of a discrete parent adds a number."""
    cells = cells_of(table, [*parents, name])
    return _fitted(table, name, parents, cells, table.weights.astype(np.float64), ess, {})


def chosen_form(table: Table, main: Regression, apart: tuple[Regression, ...]) -> tuple[Regression, ...]:
    """Return one regression with main effects, or one for each state of the discrete parents where these have rows
    enough and explain the rows better by more than (ln N) / 2 for each parameter."""
    n_slopes = len(apart[0].coefficients)
    if len(apart) == 1 or min(own.n_rows for own in apart) < ROWS_FOR_EACH * (n_slopes + 2):
        return (main,)
    n_states = sum(len(set(_occurring(table, parent))) - 1 for parent in main.of_states)
    penalty = math.log(main.n_rows) / 2
    together = _log_likelihood(table, [main]) - penalty * (n_slopes + 2 + n_states)
    each = _log_likelihood(table, apart) - penalty * (n_slopes + 2) * len(apart)
    return apart if each > together else (main,)


def _occurring(table: Table, name: str) -> Sequence[int]:
    found: list[int] = table.codes[table.index(name)].tolist()
    return found


def _log_likelihood(table: Table, regressions: Sequence[Regression]) -> float:
    """At the maximum likelihood, by variances alone, none of which counts as less than rounding."""
    numbers = numbers_of(table, [table.index(regressions[0].variable)])[0]
    least = (EXACT * float(numbers.std())) ** 2
    return -sum(own.n_rows / 2 * math.log(max(own.variance, least) or 1.0) for own in regressions)


def _fitted(
    table: Table,
    name: str,
    parents: Sequence[str],
    cells: Mapping[str, Floats],
    weights: Floats,
    ess: float,
    given: Mapping[str, Any],
) -> Regression:
    states = {parent: table.states[table.index(parent)] for parent in parents if parent not in table.continuous}
    design = Design.of(cells, parents, {parent: len(own) for parent, own in states.items()}, weights)
    fitted, variance = least_squares(design.matrix(cells, len(weights)), cells[name], weights, ess)
    intercept, slopes, added = design.in_units(fitted)
    of_states = {
        parent: MappingProxyType(dict(zip(states[parent], own.tolist(), strict=True))) for parent, own in added.items()
    }
    return Regression(
        name,
        MappingProxyType(dict(given)),
        float(intercept),
        MappingProxyType({parent: float(slope) for parent, slope in slopes.items()}),
        variance,
        int(weights.sum()),
        MappingProxyType(of_states),
    )
