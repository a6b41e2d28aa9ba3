"""Columns of cells, coded: the distinct values of a column, and for every row which of them it holds.

Arrays, dicts and lists of rows become columns here. Files and frames are taken apart in rooms of their own,
but what a cell means is decided here for all.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import compress
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from topdag._util.messages import Place, check_known, listing, place_in_frame, plural
from topdag._util.options import option
from topdag.errors import TableError

MANY_ROWS = 20
"""From so many rows on, a state for each of them is no accident."""
MISSING = -1  # the code of a missing cell until the table is finished; there it is the one after the last state
MOST_STATES = 65_535
SMALL_RANGE = 1 << 16  # integers within such a range are counted rather than sorted
INTEGER = re.compile(r"[+-]?(0|[1-9][0-9]{0,3999})")
WITH_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")
CODE = re.compile(r"0[0-9]+")  # with zeros in front: the number of a street or a patient, not a quantity

Codes: TypeAlias = NDArray[np.int64]
Interventions: TypeAlias = str | Sequence[Collection[str] | str | None] | None
"""The name of a column that says, in each row, which variables were set; or these names by row."""


@dataclass(frozen=True, slots=True)
class Column:
    """The distinct values of a column, and for every row which of them it holds (MISSING for none).

    Values increase unless `declared`: then their order is the user's, and those without rows count too.
    Floats are an array, states a tuple. ``ordered``: the user declared that the order of the states counts.
    """

    name: str
    values: tuple[Any, ...] | NDArray[np.float64]
    codes: Codes
    declared: bool = False
    ordered: bool = False

    @property
    def is_float(self) -> bool:
        return isinstance(self.values, np.ndarray)


def observed_codes(codes: Codes, count: int) -> NDArray[np.bool_]:
    """Which of so many codes rows have."""
    occurs = np.zeros(count + 1, dtype=bool)
    occurs[codes] = True  # the last is for missing cells, whose code is -1
    return occurs[:-1]


def chosen(values: tuple[Any, ...] | NDArray[np.float64], kept: NDArray[np.bool_]) -> Any:
    """Return those of the values that are kept."""
    return values[kept] if isinstance(values, np.ndarray) else tuple(compress(values, kept))


@dataclass(frozen=True, slots=True)
class Used:
    """Which columns of a source are looked at: all, or those of ``columns`` and ``about_rows`` (which are no
    variables), but for those of ``leave_out``."""

    leave_out: Collection[str] = ()
    columns: Collection[str] | None = None
    about_rows: Collection[str] = ()

    @property
    def are_all(self) -> bool:
        return not self.leave_out and self.columns is None

    def __contains__(self, name: str) -> bool:
        return name not in self.leave_out and (self.columns is None or name in self.columns or name in self.about_rows)


ALL_USED = Used()


def columns_of(source: Any, names: Sequence[str] | None, used: Used = ALL_USED) -> list[Column]:
    """The columns of a dict, of a list of rows, or of what numpy can make an array of."""
    if isinstance(source, Mapping):
        return dict_columns(source, used)
    if isinstance(source, list | tuple):
        return row_columns(source, names, used)
    return array_columns(source, names, used)


def left_in(names: Sequence[str], used: Used) -> list[tuple[int, str]]:
    """The names that are used, each with its place."""
    for name in used.leave_out:
        check_known(name, names, option("leave_out"))
    for name in used.columns or ():
        check_known(name, names, option("columns"))
    return [(place, name) for place, name in enumerate(names) if name in used]


def array_columns(source: Any, names: Sequence[str] | None, used: Used = ALL_USED) -> list[Column]:
    """A column for each column of a two-dimensional array."""
    array = as_array(source)
    if array.ndim == 0:
        raise TableError(
            f"a table cannot be made of this {type(source).__name__}; it takes a frame, an array of rows and columns, "
            "a dict of columns or a list of rows, and read_table() reads files"
        )
    if array.ndim != 2:
        raise TableError(f"an array must have two dimensions, not {array.ndim}: rows and columns")
    return [column_of_array(name, array[:, j]) for j, name in left_in(names_for(array.shape[1], names), used)]


def as_array(source: Any) -> NDArray[Any]:
    try:
        array = np.asanyarray(source)
    except (TypeError, ValueError) as error:
        raise TableError(f"cannot make an array of {type(source).__name__}: {error}") from None
    if not isinstance(array, np.ma.MaskedArray):
        return np.asarray(array)
    cells = np.array(array, dtype=object)
    cells[np.ma.getmaskarray(array)] = None
    return cells


def names_for(count: int, names: Sequence[str] | None) -> list[str]:
    if names is None:
        return [f"V{j}" for j in range(count)]
    if isinstance(names, str) or len(names) != count:
        raise TableError(f"names= must list a name for each of {plural(count, 'column')}, not {names!r}")
    return [str(name) for name in names]


def dict_columns(source: Mapping[Any, Any], used: Used = ALL_USED) -> list[Column]:
    cells = list(source.values())
    columns = [column_of_cells(name, cells[j]) for j, name in left_in([str(name) for name in source], used)]
    for column in columns:
        if len(column.codes) != len(columns[0].codes):
            raise TableError(
                f"column {column.name!r} has {plural(len(column.codes), 'row')}, "
                f"but {columns[0].name!r} has {len(columns[0].codes):,}"
            )
    return columns


def row_columns(rows: Sequence[Any], names: Sequence[str] | None, used: Used = ALL_USED) -> list[Column]:
    """Columns of a list of dicts (a key that a row lacks is missing) or of a list of lists."""
    if not rows:
        raise TableError("the table has no rows")
    if isinstance(rows[0], Mapping):
        return dict_columns(dicts_turned(rows), used)
    for place, row in enumerate(rows):
        if isinstance(row, str) or not isinstance(row, Sequence | np.ndarray):
            raise TableError(f"{place_in_frame(place)} is not a list of cells but {type(row).__name__}")
        if len(row) != len(rows[0]):
            raise TableError(f"{place_in_frame(place)} has {len(row)} cells, the first one {len(rows[0])}")
    kept = left_in(names_for(len(rows[0]), names), used)
    return [column_of_cells(name, [row[j] for row in rows]) for j, name in kept]


def dicts_turned(rows: Sequence[Any]) -> dict[Any, list[Any]]:
    names = dict.fromkeys(rows[0])
    for place, row in enumerate(rows):
        if not isinstance(row, Mapping) or not row.keys() <= names.keys():
            raise TableError(f"{place_in_frame(place)} is not a dict with the keys of the first one")
    return {name: [row.get(name) for row in rows] for name in names}


def column_of_cells(name: str, cells: Any) -> Column:
    if isinstance(cells, np.ndarray):
        return column_of_array(name, as_array(cells))
    if isinstance(cells, str | bytes) or not isinstance(cells, Iterable):
        raise TableError(f"column {name!r} must be a list or an array, not {type(cells).__name__}")
    return column_of_objects(name, list(cells))


def column_of_array(name: str, cells: NDArray[Any]) -> Column:
    kind = cells.dtype.kind
    if cells.ndim != 1:
        raise TableError(f"column {name!r} has {cells.ndim} dimensions instead of one")
    if kind in "UO":
        return column_of_objects(name, cells.tolist())
    if kind == "f":
        values, codes = np.unique(cells.astype(np.float64), return_inverse=True)
        n_numbers = len(values) - int(np.isnan(values).sum())
        return Column(name, values[:n_numbers], np.where(codes < n_numbers, codes, MISSING))
    if kind == "m":
        return column_of_array(name, cells / np.timedelta64(1, "s"))
    if kind not in "biu":
        return column_of_objects(name, [None if is_nothing(cell) else str(cell) for cell in cells])
    values, codes = distinct_integers(cells.view(np.uint8) if kind == "b" else cells)
    return Column(name, tuple(values.astype(cells.dtype).tolist()), codes)


def distinct_integers(cells: NDArray[Any]) -> tuple[NDArray[Any], Codes]:
    """The integers that occur, increasing, and the place of every cell among them."""
    if not len(cells) or int(cells.max()) - int(cells.min()) >= SMALL_RANGE:
        return np.unique(cells, return_inverse=True)
    least = cells.min()
    above = (cells - least).astype(np.int64)
    occurs = np.bincount(above) > 0
    return np.flatnonzero(occurs).astype(cells.dtype) + least, (np.cumsum(occurs) - 1)[above]


def column_of_objects(name: str, cells: list[Any]) -> Column:
    """A column of Python values. Types are kept apart, so that 1 and True are two states."""
    is_mixed = len(set(map(type, cells)) - {type(None)}) > 1
    keys = list(zip(map(type, cells), cells, strict=True)) if is_mixed else cells
    try:
        code_of = {key: code for code, key in enumerate(dict.fromkeys(keys))}
    except TypeError:  # lists and the like
        return column_of_objects(name, [None if cell is None else str(cell) for cell in cells])
    codes = np.fromiter(map(code_of.__getitem__, keys), np.int64, len(keys))
    return column_of_values(name, [key[1] for key in code_of] if is_mixed else list(code_of), codes)


def column_of_texts(
    name: str, texts: Sequence[str], codes: Codes, missing_values: Collection[str], as_text: bool, decimal: str = "."
) -> Column:
    cells = [text.strip() for text in texts]
    known = [cell for cell in cells if cell not in missing_values]
    if not as_text and any(map(WITH_COMMA.fullmatch, known)) and are_numbers([c.replace(",", ".") for c in known]):
        if decimal != ",":
            raise numbers_with_commas(name, known)
        cells = [cell if cell in missing_values else cell.replace(",", ".") for cell in cells]
        known = [cell.replace(",", ".") for cell in known]
    if as_text or not are_numbers(known) or any(map(CODE.fullmatch, known)):
        return column_of_states(name, [None if cell in missing_values else cell for cell in cells], codes)
    if all(map(INTEGER.fullmatch, known)):
        return column_of_states(name, [None if cell in missing_values else int(cell) for cell in cells], codes)
    return float_column(name, [math.nan if cell in missing_values else float(cell) for cell in cells], codes)


def numbers_with_commas(name: str, cells: Sequence[str]) -> TableError:
    """Such numbers would become a state each without a word."""
    shown = next(cell for cell in cells if WITH_COMMA.fullmatch(cell))
    return TableError(
        f"column {name!r} holds numbers with commas, such as {shown!r}: {option('decimal', ',')} reads decimal commas; "
        "take out commas that part thousands"
    )


def are_numbers(cells: Sequence[str]) -> bool:
    """Whether all are numbers; those with underscores or other digits than 0 to 9 are not."""
    text = "".join(cells)
    if "_" in text or not text.isascii():
        return False
    try:
        return all(isinstance(float(cell), float) for cell in cells)
    except ValueError:
        return False


def column_of_states(name: str, values: Sequence[Any], codes: Codes) -> Column:
    """A column of codes that are places in values of one kind, some of which may be equal, or None: missing."""
    states = sorted({value for value in values if value is not None})
    code_of = {state: code for code, state in enumerate(states)} | {None: MISSING}
    return Column(name, tuple(states), np.array([code_of[value] for value in values], dtype=np.int64)[codes])


def column_of_values(name: str, values: Sequence[Any], codes: Codes) -> Column:
    """A column of codes that are places in values, some of which may be equal or missing."""
    tagged = [None if is_missing(value) else (kind_of(value), value) for value in map(plain, values)]
    kinds = {tag[0] for tag in tagged if tag}
    if kinds & {"float", "Decimal"} and kinds <= {"float", "Decimal", "int"}:
        return float_column(name, [as_float(tag[1]) if tag else math.nan for tag in tagged], codes)
    if not kinds <= {"str", "int", "bool"}:
        tagged = [None if tag is None else ("str", str(tag[1])) for tag in tagged]  # dates and other objects, as text
    states = sorted({tag for tag in tagged if tag})
    code_of = {state: code for code, state in enumerate(states)}
    recoded = np.array([code_of[tag] if tag else MISSING for tag in tagged], dtype=np.int64)
    return Column(name, tuple(value for _, value in states), recoded[codes])


def float_column(name: str, values: Sequence[float], codes: Codes) -> Column:
    column = column_of_array(name, np.array(values, dtype=np.float64))
    return replace(column, codes=column.codes[codes])


def is_nothing(cell: Any) -> bool:
    """Whether a date or a duration is missing."""
    return isinstance(cell, np.datetime64 | np.timedelta64) and bool(np.isnat(cell))


def as_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


def is_missing(value: Any) -> bool:
    if isinstance(value, float | np.floating):
        return math.isnan(value)
    if value is None or isinstance(value, str | int):
        return value is None
    from decimal import Decimal  # a millisecond that few need

    return math.isnan(value) if isinstance(value, Decimal) else type(value).__name__ in ("NAType", "NaTType")


def kind_of(value: Any) -> str:
    kinds = (kind for kind in (bool, int, float, str) if isinstance(value, kind))
    return next(kinds, type(value)).__name__


def plain(value: Any) -> Any:
    """A numpy scalar as the Python value it stands for, a duration in seconds."""
    if isinstance(value, timedelta):
        return value.total_seconds()
    return value.item() if isinstance(value, np.generic) else value


def declare(column: Column, states: Collection[Any], place: Place) -> Column:
    """The column with the states its user lists, in that order."""
    code_of = codes_of_states(column.name, states)
    given, outside = tuple(code_of), len(code_of)
    codes = np.array([*(code_of.get(value, outside) for value in column.values), MISSING])[column.codes]
    wrong = np.flatnonzero(codes == outside)
    if len(wrong):
        value = plain(column.values[column.codes[wrong[0]]])
        raise TableError(
            f"column {column.name!r} has {value!r} in {place(int(wrong[0]))}, "
            f"which is not one of its declared states: {listing(given)}"
        )
    return replace(column, values=given, codes=codes, declared=True)


def codes_of_states(name: str, states: Collection[Any]) -> dict[Any, int]:
    try:
        code_of = {plain(state): code for code, state in enumerate(states)}
    except TypeError:
        raise TableError(f"the states of column {name!r} cannot be lists or dicts") from None
    if not code_of or len(code_of) < len(states):
        raise TableError(f"the states of column {name!r} must be different ones, not {listing(list(states))}")
    return code_of


def with_states(column: Column, states: tuple[Any, ...]) -> Column:
    """The column with its integers taken as places in the states, -1 for a missing cell."""
    codes_of_states(column.name, states)
    if tuple(column.values[:1]) == (MISSING,):  # values increase
        column = replace(column, values=column.values[1:], codes=column.codes - 1)
    return replace(declare(column, range(len(states)), place_in_frame), values=states)


def holds_numbers(column: Column) -> bool:
    return column.is_float or all(type(value) is int for value in column.values)
