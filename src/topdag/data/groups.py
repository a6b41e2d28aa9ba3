"""Parts of a table: the numbers of continuous columns, and the rows that have the same states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from topdag._util.arrays import Floats, Integers

if TYPE_CHECKING:
    from topdag.data.table import Table


def numbers_of(table: Table, columns: Sequence[int]) -> Floats:
    """Return the numbers of these columns: of states with an order, what they are, or their places in it."""
    place = {table.index(name): i for i, name in enumerate(table.continuous)}
    rows = [table.numbers[place[v]] if v in place else values_of(table.states[v])[table.codes[v]] for v in columns]
    return np.array(rows, dtype=np.float64).reshape(len(columns), table.n_distinct)


def values_of(states: Sequence[Any]) -> Floats:
    """Return the states as numbers, or their places where they are none."""
    are_numbers = all(isinstance(state, int | float) for state in states)
    return np.array(states if are_numbers else range(len(states)), dtype=np.float64)


def rows_by_state(table: Table, discrete: Sequence[int]) -> list[Integers]:
    """The distinct rows of each state of these columns that occurs."""
    key = np.zeros(table.n_distinct, dtype=np.int64)
    for v in discrete:
        key = np.unique(key * int(table.arities[v]) + table.codes[v], return_inverse=True)[1]
    order = np.argsort(key, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(key[order])) + 1)
