"""Rows in memory, of whatever source, as codes of known states: what is learned from one table, used on others."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from topdag._util.messages import listing, place_in_frame
from topdag.data.columns import MISSING, Codes, Column, columns_of, declare
from topdag.data.table import Table, is_frame
from topdag.errors import TableError


def coded_rows(names: Sequence[str], states: Sequence[Collection[Any]], rows: Any) -> Codes:
    """A row of codes for each name, MISSING where a cell is; the rows must have just these columns, and only these
    states."""
    columns = {column.name: column for column in columns_of_rows(rows, names)}
    if differing := sorted(set(columns) ^ set(names)):
        raise TableError(f"new rows must have the columns of the table; not in both: {listing(differing)}")
    coded = [declare(columns[name], own, place_in_frame).codes for name, own in zip(names, states, strict=True)]
    return np.array(coded, dtype=np.int64)


def columns_of_rows(rows: Any, names: Sequence[str] | None) -> list[Column]:
    """The columns of any source, row by row; of a Table, its distinct rows. Names are for sources without."""
    if isinstance(rows, Table):
        parts = zip(rows.names, rows.states, rows.codes.astype(np.int64), rows.is_missing, strict=True)
        return [Column(name, states, np.where(gaps, MISSING, codes)) for name, states, codes, gaps in parts]
    if is_frame(rows):
        from topdag.data.frames import columns_of_frame

        return columns_of_frame(rows)
    has_names = isinstance(rows, Mapping) or (
        isinstance(rows, list | tuple) and len(rows) > 0 and isinstance(rows[0], Mapping)
    )
    return columns_of(rows, None if has_names else names)


def known_codes(column: Column, states: Collection[Any]) -> Codes:
    """The places of a column's values among these states; others, and missing ones, are refused."""
    codes = declare(column, states, place_in_frame).codes
    missing = np.flatnonzero(codes == MISSING)
    if len(missing):
        raise TableError(
            f"column {column.name!r} is missing in {place_in_frame(int(missing[0]))}; "
            "a regression needs the states of all parents"
        )
    return codes
