"""Time in tables: rows one after the other become rows that hold their past too, and what is known of such columns.

A dynamic network says how each variable follows from what was before and from what is now; it is the same at all
times, so every moment is a row [Friedman, Murphy & Russell 1998].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from topdag._util.brief import brief
from topdag._util.messages import check_known, place_in_frame, plural
from topdag._util.run import is_whole
from topdag.data.build import Options, observed
from topdag.data.columns import MISSING, Codes, Column
from topdag.data.continuous import as_numbers, is_ordered, stays_number
from topdag.data.discretize import Discretize, cut_columns, rules_by_column, whole_as_integers
from topdag.data.encode import columns_of_rows
from topdag.data.guess.types import LEFT_OUT, column_types
from topdag.data.notes import note_on_left_out
from topdag.data.table import Table, table_of_columns
from topdag.errors import TableError
from topdag.knowledge.constraints import Constraints

MOST_LAGS = 100


@dataclass(frozen=True)
class TimeSlices:
    """``table``: in each row a moment, ``x``, and what was before it, ``x.lag1`` one row before. ``constraints``: what
    is past has no parents here, since it was learned when it was now."""

    table: Table
    constraints: Constraints


@brief
def time_slices(
    source: Any,
    variables: Sequence[str] | None = None,
    lags: int = 1,
    *,
    series: str | None = None,
    within: bool = True,
    discretize: Discretize = None,
    missing: str = "auto",
    types: Mapping[str, str] | None = None,
) -> TimeSlices:
    """A table and constraints that make a dynamic network of rows in the order of time.

    ``source``: a frame, dict of columns, array or list of rows. ``variables``: those to follow, all without it;
    ``lags``: how many rows back a cause may lie. ``series``: the column that tells one series from the next, such as a
    patient; rows of a series follow each other. ``within``: whether what is now may be a cause of what is now.
    ``discretize``, ``missing``, ``types`` as for ``Table``; a variable is cut alike in all slices.

    >>> rain = {"rain": [0, 1, 1, 0, 0, 1, 1, 0, 0], "wet": [0, 0, 1, 1, 0, 0, 1, 1, 0]}
    >>> slices = time_slices(rain, within=False)
    >>> slices.table.names
    ('rain', 'wet', 'rain.lag1', 'wet.lag1')
    """
    if not is_whole(lags, 1, MOST_LAGS):
        raise TableError(f"lags must be a whole number from 1 to {MOST_LAGS}, not {lags!r}")
    if isinstance(source, Table):
        raise TableError("a Table knows no order of its rows; give what it was made of")
    columns = {c.name: c for c in whole_as_integers(columns_of_rows(source, None), place_in_frame)}
    of = column_types(list(columns.values()), types, variables=variables or (), has_weights=True)
    left_out = {name: of[name] for name in columns if of[name].type in LEFT_OUT and name != series}
    if variables is not None or len(left_out) == len(columns):
        left_out = {}
    followed = _followed([name for name in columns if name not in left_out], variables, series)
    weights = np.ones(len(columns[followed[0]].codes), np.int64)
    kept = _with_a_past(weights, int(lags), None if series is None else _series(columns[series]))
    own = [columns[name] for name in followed]
    rules = rules_by_column(discretize, own)
    cut, notes = cut_columns(own, weights, discretize, rules)
    cut = [as_numbers(c) if c.name not in rules and stays_number(c, of[c.name]) else c for c in cut]
    past = [_shifted(column, kept, lag) for lag in range(1, int(lags) + 1) for column in cut]
    now = [_shifted(column, kept, 0) for column in cut]
    note = f"{plural(len(kept), 'row')} of {len(weights):,} have {plural(int(lags), 'row')} before them."
    all_types = {
        f"{name}.lag{lag}" if lag else name: "continuous" if is_float else "ordinal"
        for lag in range(int(lags) + 1)
        for name, is_float in ((c.name, c.is_float) for c in cut if c.is_float or is_ordered(c, of[c.name]))
    }
    options = Options(missing=missing, types=all_types, codes_are_states=True)
    table = table_of_columns(
        [*now, *past], options, lambda row: place_in_frame(int(kept[row])), [*note_on_left_out(left_out), *notes, note]
    )
    before = [column.name for column in past]
    only_before = None if within else dict.fromkeys(followed, before)
    return TimeSlices(table, Constraints(roots=before, allowed_parents=only_before))


def _followed(names: Sequence[str], variables: Sequence[str] | None, series: str | None) -> list[str]:
    if series is not None:
        check_known(series, names, "series=")
    if isinstance(variables, str):
        raise TableError(f"variables is a list of names, such as [{variables!r}]")
    for name in variables or ():
        check_known(name, names, "variables")
    chosen = [name for name in names if name != series and (variables is None or name in variables)]
    if not chosen:
        raise TableError("no variable is left to follow")
    return chosen


def _series(column: Column) -> Codes:
    """Rows of which nobody knows the series follow none."""
    unknown = np.flatnonzero(column.codes == MISSING)
    if len(unknown):
        raise TableError(
            f"series {column.name!r} is missing in {plural(len(unknown), 'row')}, the first is "
            f"{place_in_frame(int(unknown[0]))}; fill it in, or leave these rows out"
        )
    return column.codes


def _with_a_past(rows: Codes, lags: int, series: Codes | None) -> Codes:
    """The rows before which there are enough of the same series."""
    kept = np.arange(lags, len(rows))
    if series is not None:
        kept = kept[np.all([series[kept - lag] == series[kept] for lag in range(1, lags + 1)], axis=0)]
    if not len(kept):
        raise TableError(f"no row has {plural(lags, 'row')} of its series before it")
    return kept


def _shifted(column: Column, kept: Codes, lag: int) -> Column:
    """What it held so many rows before; the states of a variable are the same in all slices."""
    name = f"{column.name}.lag{lag}" if lag else column.name
    moved = replace(column, name=name, codes=column.codes[kept - lag])
    return observed(moved) if column.is_float else replace(moved, declared=True)
