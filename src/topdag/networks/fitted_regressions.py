"""Networks of numbers, or of numbers and states, with what a table says of them: to sample from and to evaluate."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from topdag._util.arrays import Floats
from topdag._util.messages import place_in_frame
from topdag._util.options import option
from topdag.data.columns import Column
from topdag.data.encode import columns_of_rows, known_codes
from topdag.data.table import Table
from topdag.errors import NetworkError, TableError
from topdag.networks.checks import check_ess, require_known
from topdag.networks.probability_tables import drawn_states, expected_probabilities, family_counts, require_rows, seeded
from topdag.networks.regressions import Regression, pooled, regressions_in

if TYPE_CHECKING:
    from topdag.networks.network import Network

LEAST_VARIANCE = 1e-300
EXACT = 1e-7
"""A residual sd that is so small a share of a column's is rounding."""
Cells: TypeAlias = Mapping[str, Any]
"""By variable a number, or the place of a state, for each row."""


@dataclass(frozen=True, eq=False, repr=False)
class FittedRegressions:
    """A network of which some variables are numbers, each with a regression on its parents for each state of discrete
    ones. ``states`` and ``tables`` are those of the discrete variables, as in ``FittedNetwork``; ``others``: the
    regression of each variable for states of its parents that did not occur, over all rows.

    >>> from topdag import Network
    >>> table = Table({"a": [0.0, 1.0, 2.0], "b": [1.0, 3.0, 5.5]}, types={"*": "continuous"})
    >>> fitted = Network(("a", "b"), {"b": ["a"]}).fit(table)
    >>> print(fitted)
    a = 1, sd 0.8165
    b = 0.9167 +2.25 a, sd 0.1179
    >>> fitted.predict("b", {"a": [4.0]}).round(3).tolist()
    [9.917]
    """

    network: Network
    regressions: Mapping[str, tuple[Regression, ...]]
    others: Mapping[str, Regression]
    states: Mapping[str, tuple[Any, ...]]
    tables: Mapping[str, Floats]
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return self.network.names

    def sample(self, rows: int, seed: int = 0) -> Table:
        """A table of independent rows, the same for the same seed."""
        require_rows(rows, len(self.names))
        generator, cells = seeded(seed), dict[str, Any]()
        for name in self.network.order:
            if name in self.tables:
                parents = [cells[parent] for parent in self.network.parents[name]]
                cells[name] = drawn_states(self.tables[name], parents, generator.random(rows))
            else:
                means, variances = self._normal(name, cells, rows)
                cells[name] = means + np.sqrt(variances) * generator.standard_normal(rows)
        codes = [cells[name] if name in self.tables else np.zeros(rows, dtype=np.int64) for name in self.names]
        states = [self.states.get(name, ()) for name in self.names]
        numbers = [cells[name] for name in self.names if name not in self.tables]
        return Table.from_codes(self.names, codes, states=states, numbers=numbers)

    def log_density(self, rows: Any) -> Floats:
        """The natural log of the density of each row, whatever they come in; of a Table, of each distinct row."""
        cells = self._cells(rows, self.names)
        total = np.zeros(len(cells[self.names[0]]))
        for name in self.names:
            if name in self.tables:
                places = tuple(cells[member] for member in (*self.network.parents[name], name))
                with np.errstate(divide="ignore"):
                    total += np.log(self.tables[name][places])
            else:
                means, variances = self._normal(name, cells, len(total))
                total -= 0.5 * (np.log(2 * math.pi * variances) + (cells[name] - means) ** 2 / variances)
        return total

    def log_likelihood(self, rows: Any) -> float:
        """The natural log of the density of all rows together."""
        densities = self.log_density(rows)
        return math.fsum(densities * (rows.weights if isinstance(rows, Table) else 1.0))

    def predict(self, name: str, rows: Any) -> Any:
        """Of each row what its parents say of a variable: the number expected, or the most probable state. The rows
        need just the columns of the parents, and one column where there are none."""
        require_known([name], self.names)
        parents = self.network.parents[name]
        cells = self._cells(rows, parents)
        n_rows = len(next(iter(cells.values()))) if parents else self._n_rows(rows)
        if name not in self.tables:
            return self._normal(name, cells, n_rows)[0]
        table = self.tables[name][tuple(cells[parent] for parent in parents)]
        best = np.broadcast_to(table.argmax(axis=-1), n_rows)
        return np.array(self.states[name], dtype=object)[best]

    def _normal(self, name: str, cells: Cells, n_rows: int) -> tuple[Floats, Floats]:
        """The mean and variance of a variable in each row, given its parents."""
        means, variances = _line(self.others[name], cells, n_rows)
        for own in self.regressions[name]:
            fits = np.ones(n_rows, dtype=bool)
            for parent, state in own.given.items():
                fits &= cells[parent] == self.states[parent].index(state)
            own_means, own_variances = _line(own, cells, n_rows)
            means, variances = np.where(fits, own_means, means), np.where(fits, own_variances, variances)
        return means, variances

    def _cells(self, rows: Any, wanted: Sequence[str]) -> dict[str, Any]:
        columns = {column.name: column for column in columns_of_rows(rows, wanted)} if wanted else {}
        if missing := [name for name in wanted if name not in columns]:
            raise TableError(f"the rows lack the column {missing[0]!r}")
        if isinstance(rows, Table):
            held = dict(zip(rows.continuous, rows.numbers, strict=True))
            numbers = {name: held[name] for name in wanted if name in held}
        else:
            numbers = {name: _numbers(columns[name]) for name in wanted if name not in self.tables}
        return {name: numbers[name] if name in numbers else self._codes(columns[name]) for name in wanted}

    def _codes(self, column: Column) -> Any:
        if column.name not in self.tables:
            raise TableError(f"column {column.name!r} has states, but the network has numbers there")
        return known_codes(column, self.states[column.name])

    def _n_rows(self, rows: Any) -> int:
        return rows.n_distinct if isinstance(rows, Table) else len(columns_of_rows(rows, self.names)[0].codes)

    def __str__(self) -> str:
        lines = [str(own) for name in self.names for own in self.regressions.get(name, ())]
        return "\n".join([*lines, *self.notes])

    def __repr__(self) -> str:
        size = f"{len(self.names)} variables, {self.network.n_edges} edges"
        return f"FittedRegressions({size}, {len(self.regressions)} continuous)"


def fit_regressions(network: Network, table: Table, ess: float) -> FittedRegressions:
    """Of a table with continuous columns."""
    check_ess(ess, "fit", or_none=True)
    require_known(network.names, table.names)
    table.require_no_experiments("fit")
    table.require_complete("fit of continuous variables")
    for name in network.names:
        wrong = [parent for parent in network.parents[name] if parent in table.continuous]
        if name not in table.continuous and wrong:
            raise NetworkError(
                f"{name!r} is discrete, so it cannot have the continuous parent {wrong[0]!r}. "
                f"{option('discretize', 'quantile(3)')} cuts all numbers into states."
            )
    discrete = [name for name in network.names if name not in table.continuous]
    tables = {}
    for name in discrete:
        counts = family_counts(table, table.index(name), [table.index(parent) for parent in network.parents[name]])
        tables[name] = expected_probabilities(counts, ess)
    found, notes = regressions_in(table, network), list[str]()
    for name, own in found.items():
        n_states = math.prod(len(table.states[table.index(p)]) or 1 for p in network.parents[name])
        if len(own) < n_states:
            notes.append(
                f"{name!r}: {n_states - len(own):,} of {n_states:,} combinations of its parents' states do not occur; "
                "there a regression over all rows stands in."
            )
        spread = float(table.numbers[table.continuous.index(name)].std())
        if any(one.coefficients and math.sqrt(one.variance) <= EXACT * spread for one in own):
            notes.append(
                f"{name!r}: its parents tell it exactly (sd near 0), so that densities are without bound; leave it out "
                "if it is computed from them."
            )
    others = {name: pooled(table, name, network.parents[name]) for name in found}
    states = {name: table.states[table.index(name)] for name in discrete}
    return FittedRegressions(network, found, others, states, tables, tuple(notes))


def _line(own: Regression, cells: Cells, n_rows: int) -> tuple[Floats, Floats]:
    means = np.full(n_rows, own.intercept)
    for parent, slope in own.coefficients.items():
        means = means + slope * cells[parent]
    return means, np.full(n_rows, max(own.variance, LEAST_VARIANCE))


def _numbers(column: Column) -> Floats:
    if (column.codes < 0).any():
        raise TableError(f"column {column.name!r} is missing in {place_in_frame(int((column.codes < 0).argmax()))}")
    try:
        return np.array(column.values, dtype=np.float64)[column.codes]
    except (TypeError, ValueError):
        raise TableError(f"column {column.name!r} should hold numbers, not {column.values[0]!r}") from None
