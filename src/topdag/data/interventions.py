"""Rows of experiments: which variables were set by hand in each row, and so tell nothing of their own causes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from topdag._util.messages import Place, check_known, closest, place_in_frame
from topdag._util.options import option
from topdag.data.columns import MISSING, Column, Interventions, Used
from topdag.errors import TableError

NOTHING = ("", "none", "-")
BETWEEN = re.compile(r"[;,|+&]")


def interventions_apart(columns: Sequence[Column], given: Interventions) -> tuple[Sequence[Column], Column]:
    """The columns that are variables, and what was set in each row."""
    if isinstance(given, str):
        check_known(given, [column.name for column in columns], option("interventions"))
        found = next(column for column in columns if column.name == given)
        return [column for column in columns if column is not found], found
    return columns, _by_row(given, len(columns[0].codes) if columns else 0)


def _by_row(given: Any, n_rows: int) -> Column:
    if not isinstance(given, Iterable):
        raise TableError(f"{option('interventions')} names a column, or gives what was set in each row, not {given!r}")
    rows = [_plain(row, number) for number, row in enumerate(given)]
    if len(rows) != n_rows:
        raise TableError(f"{option('interventions')} has {len(rows):,} entries, but there are {n_rows:,} rows")
    values = list(dict.fromkeys(row for row in rows if row))
    places = {row: place for place, row in enumerate(values)} | {(): MISSING}
    return Column("interventions", tuple(values), np.array([places[row] for row in rows], dtype=np.int64))


def _plain(row: Any, number: int) -> Any:
    if row is None or isinstance(row, str):
        return (row,) if row else ()
    if not isinstance(row, Iterable):
        raise TableError(
            f"{option('interventions')} gives a name, several or none for each row, not {row!r} as for "
            f"{place_in_frame(number)}"
        )
    return tuple(sorted(map(str, row)))


def masks_set(column: Column, names: Sequence[str], used: Used, place: Place) -> list[int]:
    """By value of the column the variables that it says were set, as bits over the names; none for a missing cell.
    What was left out of the table may be named, too: nothing is asked of its causes."""
    masks, known = [], [*names, *used.leave_out]
    for code, value in enumerate(column.values):
        wanted = [part for own in (value if isinstance(value, tuple) else (value,)) for part in _names_in(own, known)]
        for name in wanted:
            if name not in known and used.columns is None:
                row = int((column.codes == code).argmax())
                raise TableError(
                    f"{option('interventions')} says that {name!r} was set in {place(row)}, which is no variable; "
                    f"{closest(name, names)}. Several names go with ; between them, none with an empty cell"
                )
        masks.append(sum(1 << v for v, name in enumerate(names) if name in wanted))
    return [*masks, 0]


def _names_in(value: Any, names: Sequence[str]) -> list[str]:
    text = str(value).strip()
    if text in names:
        return [text]
    if text.lower() in NOTHING:
        return []
    return [part.strip() for part in BETWEEN.split(text) if part.strip()]
