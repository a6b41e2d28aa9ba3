"""The same table as a score takes it: numbers as states, states as numbers, or without incomplete rows."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from topdag._util.arrays import Floats
from topdag._util.messages import listing
from topdag._util.options import option
from topdag.data.columns import MOST_STATES, Column
from topdag.data.discretize import Quantile, cut_column
from topdag.data.gaps import note_on_dropped
from topdag.data.notes import MANY_STATES
from topdag.data.table import Table, with_rows


def whole_numbers_as_states(table: Table) -> Table:
    """Return the table with whole numbers as states, for a score of categories; decimals stay."""
    values = {name: np.unique(table.numbers[i]) for i, name in enumerate(table.continuous)}
    whole = {name: of for name, of in values.items() if (of == np.floor(of)).all() and len(of) <= MOST_STATES}
    if not whole:
        return table
    codes = table.codes.copy()
    for name, of in whole.items():
        codes[table.index(name)] = np.searchsorted(of, table.numbers[table.continuous.index(name)])
    numbers = table.numbers[[name not in whole for name in table.continuous]]
    states = [
        tuple(map(int, whole[name])) if name in whole else of
        for name, of in zip(table.names, table.states, strict=True)
    ]
    few = [name for name, of in whole.items() if len(of) > MANY_STATES]
    note = f"This score takes {listing(few)} for categories, with a state for each number." if few else ""
    return _replaced(table, states, codes, numbers, note)


def integers_as_numbers(table: Table, names: Collection[str] | None = None) -> Table:
    """Return the table with states that are numbers as such, for a score of numbers; ``names``: only of these."""
    as_numbers = {
        name
        for name, of in zip(table.names, table.states, strict=True)
        if len(of) > 1 and all(map(_is_number, of)) and (names is None or name in names)
    }
    if not as_numbers:
        return table
    codes, numbers = table.codes.copy(), list[Floats]()
    for v, (name, of) in enumerate(zip(table.names, table.states, strict=True)):
        if name in as_numbers:
            numbers.append(np.array(of, dtype=np.float64)[table.codes[v]])
            codes[v] = 0
        elif not of:
            numbers.append(table.numbers[table.continuous.index(name)])
    states = [() if name in as_numbers else of for name, of in zip(table.names, table.states, strict=True)]
    return _replaced(table, states, codes, np.array(numbers), "")


def numbers_binned(table: Table, why: str) -> Table:
    """Return the table with numbers cut at their terciles, and states with an order as plain categories; ``why``: the
    beginning of the note on it."""
    codes, states = table.codes.copy(), list(table.states)
    for name, numbers in zip(table.continuous, table.numbers, strict=True):
        values, at = np.unique(numbers, return_inverse=True)
        cut = cut_column(Column(name, values, at), table.weights.astype(np.int64), Quantile(3))
        codes[table.index(name)], states[table.index(name)] = cut.codes, tuple(cut.values)
    how = "numbers were cut into three states at their quantiles" if table.continuous else "all count as categories"
    note = f"{why}: {how}; {option('columns')} chooses fewer columns."
    plain = _replaced(table, states, codes, table.numbers[:0], note)
    object.__setattr__(plain, "ordered", ())
    return plain


def complete_rows(table: Table) -> Table:
    """Return the table without the rows in which a cell is missing, and without states that only they had."""
    is_complete = np.asarray(~table.is_missing.any(axis=0))
    kept = with_rows(table, is_complete, table.weights[is_complete])
    codes, states = kept.codes.copy(), list(kept.states)
    for v, of in enumerate(kept.states):
        occurs = np.bincount(codes[v], minlength=len(of)) > 0
        if of and not occurs.all() and not is_declared(table, table.names[v]):
            codes[v] = (np.cumsum(occurs) - 1)[codes[v]]
            states[v] = tuple(state for state, has_rows in zip(of, occurs, strict=True) if has_rows)
    note = note_on_dropped(table.n_rows - kept.n_rows, table.n_rows, "missing values")
    return _replaced(kept, states, codes, kept.numbers, *note)


def with_more_states(table: Table, names: Collection[str]) -> Table:
    """Return the table in which each of these columns of states has one more, the last, that no row has."""
    states = [
        (*of, next(label for label in map("new_{}".format, range(len(of) + 1)) if label not in of))
        if name in names
        else of
        for name, of in zip(table.names, table.states, strict=True)
    ]
    return _replaced(table, states, table.codes, table.numbers, "")


def is_declared(table: Table, name: str) -> bool:
    """Return whether the states of a column were declared, so that those without rows count."""
    of = table.types.get(name)
    declared: Mapping[str, Any] = table.reading.get("states", {})
    return name in declared or (of is not None and of.reason == "declared")


def _is_number(state: Any) -> bool:
    return isinstance(state, int | float) and not isinstance(state, bool)


def _replaced(table: Table, states: Sequence[tuple[Any, ...]], codes: Any, numbers: Floats, note: str) -> Table:
    names, _, _, _, weights, targets, chunks, ordered, types, decisions, notes, *rest = table._parts()
    ordered = tuple(name for name, of in zip(names, states, strict=True) if name in ordered and of)
    said = (note,) if note else ()
    about = ((*decisions, *said), (*notes, *said))
    numbers = np.ascontiguousarray(numbers).reshape(-1, len(weights))
    return Table._made(names, tuple(states), codes, numbers, weights, targets, chunks, ordered, types, *about, *rest)
