"""Columns that stay numbers, and columns of numbers whose states are few."""

from __future__ import annotations

import numpy as np

from topdag._util.messages import Place
from topdag._util.options import option
from topdag.data.columns import MISSING, Column, chosen, holds_numbers
from topdag.data.discretize import MOST_WHOLE, check_finite
from topdag.data.guess.types import FEWEST_OF_NUMBERS, MOST_STATES_OF_ORDERED, ColumnType
from topdag.errors import TableError

LARGEST = 1e100  # squares of such numbers, and sums of 2**32 of them, stay far from what a double can hold
NUMERIC = ("continuous", "count", "ordinal")
MISSING_CODES = (-9.0, -99.0, -999.0, -9999.0, 99.0, 999.0, 9999.0, 99999.0)
"""Numbers that stand for a missing cell in many files."""
FAR = 3
"""A missing code is so many times larger than any other number of its column, or the only one below 0."""


def stays_number(column: Column, of: ColumnType) -> bool:
    """Whether a column is held as numbers: decimals, whole numbers with many values, and what the user calls
    continuous. Others have states."""
    is_given = of.given and of.type in ("continuous", "count")
    if of.type not in NUMERIC or column.declared or not holds_numbers(column):
        return is_given and not column.declared  # and refused, where its numbers are asked for
    is_exact = column.is_float or (abs(column.values[0]) < MOST_WHOLE and abs(column.values[-1]) < MOST_WHOLE)
    has_many = of.type != "ordinal" and len(column.values) > MOST_STATES_OF_ORDERED
    return column.is_float or is_given or (has_many and is_exact)


def is_ordered(column: Column, of: ColumnType) -> bool:
    """Whether a column has states whose order counts: scores of numbers take their places for numbers."""
    return of.type in NUMERIC and len(column.values) >= FEWEST_OF_NUMBERS


def numbers_of(column: Column, place: Place) -> Column:
    """Return the column with floats as values; raise TableError where a cell is missing, infinite or too large."""
    if holds_numbers(column) and any(LARGEST < abs(value) < np.inf for value in column.values):
        raise TableError(f"column {column.name!r} has numbers beyond {LARGEST:g}: scale it")
    numbers = as_numbers(column)
    if (column.codes < 0).any():
        row = int((column.codes < 0).argmax())
        raise TableError(
            f"column {column.name!r} is missing in {place(row)}; in a continuous column a missing cell can neither be "
            f"a state nor be kept: use {option('missing', 'drop')}, or cut the column with "
            f"{option('discretize', {column.name: 'median'})}"
        )
    check_finite(numbers, place)
    return numbers


def as_numbers(column: Column) -> Column:
    """Return the column with floats as values; raise TableError where it holds anything else."""
    if not holds_numbers(column):
        wrong = next(value for value in column.values if type(value) is not int)
        raise TableError(
            f"column {column.name!r} cannot be continuous: it holds {wrong!r}, which is no number; "
            f"{option('types', {column.name: 'categorical'})}, or {option('leave_out', [column.name])}"
        )
    return Column(column.name, np.array(column.values, dtype=np.float64), column.codes)


def as_states(column: Column) -> Column:
    """Return the column with its numbers, decimals included, as states."""
    if not isinstance(column.values, np.ndarray):
        return column
    return Column(column.name, tuple(column.values.tolist()), column.codes)


def without_missing_codes(column: Column) -> tuple[Column, float | None]:
    """Return the column with a code such as -9 or 999 counted as missing, and the code; None where there is none."""
    if column.declared or not holds_numbers(column) or len(column.values) < FEWEST_OF_NUMBERS:
        return column, None
    code = missing_code(column.values[0], column.values[1], column.values[-2], column.values[-1])
    if code is None:
        return column, None
    is_code = np.array([*(value == code for value in column.values), False])
    kept = ~is_code[:-1]
    codes = np.where(is_code[column.codes], MISSING, np.append(np.cumsum(kept) - 1, MISSING)[column.codes])
    return Column(column.name, chosen(column.values, kept), codes), code


def missing_code(least: float, next_least: float, next_most: float, most: float) -> float | None:
    """Return the number that stands apart from the others and is one of those that mean missing."""
    if least < 0 <= next_least and least in MISSING_CODES:
        return float(least)
    is_apart = most in MISSING_CODES and least >= 0 and FAR * next_most < most
    return float(most) if is_apart else None
