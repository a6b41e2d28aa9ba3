"""Networks of numbers, or of numbers and states, with what a table says of them: to sample from and to evaluate."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from topdag._util.arrays import Floats
from topdag._util.messages import place_in_frame
from topdag.data.adapt import complete_rows, integers_as_numbers
from topdag.data.columns import Column
from topdag.data.encode import columns_of_rows, known_codes
from topdag.data.groups import numbers_of
from topdag.data.table import Table
from topdag.errors import TableError
from topdag.networks.checks import check_ess, require_known
from topdag.networks.design import Cells, Design, cells_of
from topdag.networks.logistic import RIDGE, Logistic, line_of, logistic_optimum
from topdag.networks.probability_tables import drawn_states, expected_probabilities, family_counts, require_rows, seeded
from topdag.networks.regressions import EXACT, Regression, by_state, chosen_form, with_main_effects

if TYPE_CHECKING:
    from topdag.networks.network import Network

LEAST_VARIANCE = 1e-300


@dataclass(frozen=True, eq=False, repr=False)
class FittedRegressions:
    """A network of which some variables are numbers, with what a table says of each given its parents.

    A number has a linear regression, a category with a parent that is a number a multinomial logistic one, any other
    category a table of probabilities. Integers of five and more values are numbers.

    Attributes
    ----------
    network : Network
    regressions : mapping of str to tuple of Regression
        Of each number: one, to which the states of parents add numbers, or one for each combination of these states,
        where that explains the rows better by BIC.
    others : mapping of str to Regression
        Of each number, the one for combinations of states that did not occur.
    logistics : mapping of str to Logistic
    states : mapping of str to tuple
        Of each category.
    tables : mapping of str to array
        Of the categories without parents that are numbers, as in ``FittedNetwork``.

    >>> from topdag import Network
    >>> table = Table({"a": [0.0, 1.0, 2.0], "b": [1.0, 3.0, 5.5]}, types={"*": "continuous"})
    >>> fitted = Network(("a", "b"), {"b": ["a"]}).fit(table, ess=0)
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
    logistics: Mapping[str, Logistic]
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
            elif name in self.logistics:
                heights = self._probabilities(name, cells, rows).cumsum(axis=1)[:, :-1]
                cells[name] = (generator.random(rows)[:, np.newaxis] >= heights).sum(axis=1).astype(np.uint16)
            else:
                means, variances = self._normal(name, cells, rows)
                cells[name] = means + np.sqrt(variances) * generator.standard_normal(rows)
        codes = [cells[name] if name in self.states else np.zeros(rows, dtype=np.int64) for name in self.names]
        states = [self.states.get(name, ()) for name in self.names]
        numbers = [cells[name] for name in self.names if name not in self.states]
        return Table.from_codes(self.names, codes, states=states, numbers=numbers)

    def log_density(self, rows: Any) -> Floats:
        """The natural log of the density of each row, whatever they come in; of a Table, of each distinct row."""
        cells = self._cells(rows, self.names)
        total = np.zeros(len(cells[self.names[0]]))
        for name in self.names:
            if name in self.states:
                with np.errstate(divide="ignore"):
                    logs = np.log(self._probabilities(name, cells, len(total)))
                total += logs[np.arange(len(total)), cells[name]]
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
        if name not in self.states:
            return self._normal(name, cells, n_rows)[0]
        best = self._probabilities(name, cells, n_rows).argmax(axis=1)
        return np.array(self.states[name], dtype=object)[best]

    def _probabilities(self, name: str, cells: Cells, n_rows: int) -> Floats:
        """Of each row and state of a category, given its parents."""
        if name in self.logistics:
            return self.logistics[name].probabilities(cells, n_rows)
        table = self.tables[name][tuple(cells[parent] for parent in self.network.parents[name])]
        return np.broadcast_to(table, (n_rows, table.shape[-1]))

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
            as_numbers = [name for name in wanted if name not in self.states and _are_numbers(rows, name)]
            found = numbers_of(rows, [rows.index(name) for name in as_numbers])
            numbers = dict(zip(as_numbers, found, strict=True))
        else:
            numbers = {name: numbers_in(columns[name]) for name in wanted if name not in self.states}
        return {name: numbers[name] if name in numbers else self._codes(columns[name]) for name in wanted}

    def _codes(self, column: Column) -> Any:
        if column.name not in self.states:
            raise TableError(f"column {column.name!r} has states, but the network has numbers there")
        return known_codes(column, self.states[column.name])

    def _n_rows(self, rows: Any) -> int:
        return rows.n_distinct if isinstance(rows, Table) else len(columns_of_rows(rows, self.names)[0].codes)

    def __str__(self) -> str:
        regressions = [own for name in self.names for own in self.regressions.get(name, ())]
        logistics = [self.logistics[name] for name in self.names if name in self.logistics]
        return "\n".join([*map(str, [*regressions, *logistics]), *self.notes])

    def __repr__(self) -> str:
        size = f"{len(self.names)} variables, {self.network.n_edges} edges"
        return f"FittedRegressions({size}, {len(self.regressions)} continuous)"


def fit_regressions(network: Network, table: Table, ess: float) -> FittedRegressions:
    """Of a table with continuous columns."""
    check_ess(ess, "fit", or_none=True)
    require_known(network.names, table.names)
    table.require_no_experiments("fit")
    table, notes = _as_numbers(table.of_columns([table.index(name) for name in network.names]))
    regressions, others, tables, logistics = {}, {}, {}, {}
    for name, parents in network.parents.items():
        if name in table.continuous:
            others[name] = with_main_effects(table, name, parents, ess)
            regressions[name] = chosen_form(table, others[name], by_state(table, name, parents, ess))
            notes += _notes_on(table, others[name], regressions[name])
        elif set(parents) & set(table.continuous):
            logistics[name] = _logistic(table, name, parents, ess)
        else:
            counts = family_counts(table, table.index(name), [table.index(parent) for parent in parents])
            tables[name] = expected_probabilities(counts, ess)
    states = {name: of for name, of in zip(table.names, table.states, strict=True) if of}
    return FittedRegressions(network, regressions, others, states, tables, logistics, tuple(notes))


def _as_numbers(table: Table) -> tuple[Table, list[str]]:
    """The rows without gaps, integers of five and more values as numbers; and what was left out."""
    notes = []
    if table.incomplete:
        n_rows, table = table.n_rows, complete_rows(table)
        notes.append(f"Of {n_rows:,} rows {n_rows - table.n_rows:,} with missing cells were left out.")
    return integers_as_numbers(table, table.ordered), notes


def _logistic(table: Table, name: str, parents: Sequence[str], ess: float) -> Logistic:
    cells, weights = cells_of(table, [*parents, name]), table.weights.astype(np.float64)
    of = {parent: table.states[table.index(parent)] for parent in (*parents, name) if parent not in table.continuous}
    own = of.pop(name)
    design = Design.of(cells, parents, {parent: len(states) for parent, states in of.items()}, weights)
    fitted, _ = logistic_optimum(design.matrix(cells, len(weights)), cells[name], weights, len(own), RIDGE * ess)
    intercepts, slopes, added = design.in_units(fitted)
    return Logistic(
        name,
        own,
        dict(zip(own, intercepts.tolist(), strict=True)),
        {state: {parent: float(slopes[parent][k]) for parent in slopes} for k, state in enumerate(own)},
        {
            state: {parent: dict(zip(of[parent], added[parent][:, k].tolist(), strict=True)) for parent in added}
            for k, state in enumerate(own)
        },
        int(weights.sum()),
        ess,
    )


def _notes_on(table: Table, main: Regression, chosen: Sequence[Regression]) -> list[str]:
    """What is to be said of the regressions of a number."""
    notes, name = [], main.variable
    n_states = math.prod(len(own) for own in main.of_states.values())
    if 1 < len(chosen) < n_states:
        notes.append(
            f"{name!r}: {n_states - len(chosen):,} of {n_states:,} combinations of its parents' states do not occur; "
            "there a regression over all rows stands in."
        )
    spread = float(table.numbers[table.continuous.index(name)].std())
    told = by_state(table, name, [*main.coefficients, *main.of_states], 0.0)
    if any(own.coefficients and math.sqrt(own.variance) <= EXACT * spread for own in told):
        notes.append(
            f"{name!r}: its parents tell it exactly (sd near 0), so that its density says little; leave it out if it "
            "is computed from them."
        )
    return notes


def _line(own: Regression, cells: Cells, n_rows: int) -> tuple[Floats, Floats]:
    means = line_of(own.intercept, own.coefficients, own.of_states, cells, n_rows)
    return means, np.full(n_rows, max(own.variance, LEAST_VARIANCE))


def _are_numbers(table: Table, name: str) -> bool:
    """Whether a column of a table is numbers, or has states that are such and no gaps."""
    states = table.states[table.index(name)]
    are_numbers = all(isinstance(state, int | float) and not isinstance(state, bool) for state in states)
    return are_numbers and name not in table.missing


def numbers_in(column: Column) -> Floats:
    """Return the numbers of a column by row; raise TableError where it has others, or gaps."""
    if (column.codes < 0).any():
        raise TableError(f"column {column.name!r} is missing in {place_in_frame(int((column.codes < 0).argmax()))}")
    try:
        return np.array(column.values, dtype=np.float64)[column.codes]
    except (TypeError, ValueError):
        raise TableError(f"column {column.name!r} should hold numbers, not {column.values[0]!r}") from None
