"""Parts of a table: the numbers of continuous columns, and the rows that have the same states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from topdag._util.arrays import Floats, Integers

if TYPE_CHECKING:
    from topdag.data.table import Table


def numbers_of(table: Table, columns: Sequence[int]) -> Floats:
    """The numbers of these continuous columns."""
    place = {table.index(name): i for i, name in enumerate(table.continuous)}
    return np.ascontiguousarray(table.numbers[[place[v] for v in columns]])


def rows_by_state(table: Table, discrete: Sequence[int]) -> list[Integers]:
    """The distinct rows of each state of these columns that occurs."""
    key = np.zeros(table.n_distinct, dtype=np.int64)
    for v in discrete:
        key = np.unique(key * int(table.arities[v]) + table.codes[v], return_inverse=True)[1]
    order = np.argsort(key, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(key[order])) + 1)
