"""The regressions of a network's continuous variables, at their maximum likelihood."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from topdag._util.arrays import Integers
from topdag._util.brief import brief
from topdag.data.convert import Reading, as_table
from topdag.data.groups import numbers_of, rows_by_state
from topdag.data.table import Table
from topdag.errors import ScoreError

if TYPE_CHECKING:
    from topdag.networks.network import Network


@dataclass(frozen=True)
class Regression:
    """variable = intercept + coefficients · continuous parents + noise, in the rows where discrete parents have the
    states ``given``. ``variance``: of the noise, at the maximum likelihood; ``n_rows``: how many rows there are."""

    variable: str
    given: Mapping[str, Any]
    intercept: float
    coefficients: Mapping[str, float]
    variance: float
    n_rows: int

    def __str__(self) -> str:
        terms = "".join(f" {value:+.4g} {name}" for name, value in self.coefficients.items())
        where = f" where {', '.join(f'{name}={state}' for name, state in self.given.items())}" if self.given else ""
        return f"{self.variable} = {self.intercept:.4g}{terms}, sd {math.sqrt(self.variance):.4g}{where}"


@brief
def regressions(network: Network, source: Any, **reading: Unpack[Reading]) -> dict[str, tuple[Regression, ...]]:
    """For each continuous variable its regression on its parents, one for each state of discrete parents that occurs.

    ``source``: a table, or a frame or the path of a file, whose columns of floats are then continuous.

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
    return {name: _of_variable(table, table.index(name), network.parents[name]) for name in of}


def _of_variable(table: Table, x: int, parents: tuple[str, ...]) -> tuple[Regression, ...]:
    columns = [table.index(name) for name in parents]
    discrete = [v for v in columns if table.states[v]]
    continuous = [v for v in columns if not table.states[v]]
    return tuple(_fitted(table, x, discrete, continuous, rows) for rows in rows_by_state(table, discrete))


def pooled(table: Table, name: str, parents: tuple[str, ...]) -> Regression:
    """The regression on the continuous parents in all rows, whatever the discrete ones are."""
    continuous = [table.index(parent) for parent in parents if parent in table.continuous]
    return _fitted(table, table.index(name), [], continuous, np.arange(table.n_distinct))


def _fitted(table: Table, x: int, discrete: list[int], continuous: list[int], rows: Integers) -> Regression:
    *causes, own = numbers_of(table, [*continuous, x])[:, rows]
    weights = table.weights[rows].astype(np.float64)
    means = [float(np.average(cells, weights=weights)) for cells in (*causes, own)]
    centred = [(cells - mean) * np.sqrt(weights) for cells, mean in zip((*causes, own), means, strict=True)]
    design = np.array(centred[:-1]).T.reshape(len(rows), len(causes))
    slopes = np.linalg.lstsq(design, centred[-1], rcond=None)[0]
    residual = centred[-1] - design @ slopes
    return Regression(
        table.names[x],
        MappingProxyType({table.names[v]: table.states[v][table.codes[v, rows[0]]] for v in discrete}),
        means[-1] - math.fsum(slope * mean for slope, mean in zip(slopes.tolist(), means, strict=False)),
        MappingProxyType({table.names[v]: slope for v, slope in zip(continuous, slopes.tolist(), strict=True)}),
        float(residual @ residual) / float(weights.sum()),
        int(weights.sum()),
    )
