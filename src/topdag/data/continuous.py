"""Columns that stay numbers: which ones, and that they can be scored."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from topdag._util.messages import Place, check_known, listing
from topdag._util.options import option, worded
from topdag.data.columns import Column, holds_numbers
from topdag.data.discretize import Discretize, check_finite, rules_apart
from topdag.errors import TableError

LARGEST = 1e100  # squares of such numbers, and sums of 2**32 of them, stay far from what a double can hold
WHICH = '"auto" (columns of floats), "all" (integers too) or a list of columns besides those of floats'

Continuous: TypeAlias = str | Collection[str] | None


def check_continuous(given: Continuous) -> None:
    is_names = isinstance(given, Collection) and not isinstance(given, str | bytes | Mapping)
    if given is not None and given not in ("auto", "all") and not is_names:
        raise TableError(f"{option('continuous')} is {WHICH}, not {given!r}")


def continuous_columns(
    columns: Sequence[Column], given: Continuous, discretize: Discretize, place: Place
) -> dict[str, Column]:
    """The columns that stay numbers, by name, with floats as values."""
    names = continuous_names(columns, given, discretize)
    chosen = [column for column in columns if column.name in names]
    check_numbers([column for column in chosen if column.declared or not holds_numbers(column)])
    return {column.name: numbers_of(column, place) for column in chosen}


def check_numbers(others: Sequence[Column]) -> None:
    """An error that names all columns without numbers at once."""
    if not others:
        return
    names = [column.name for column in others]
    do, they, them = ("column {} does", "it", "it") if len(names) == 1 else ("columns {} do", "they", "them")
    raise TableError(
        f"{do.format(listing(names))} not hold numbers, such as {others[0].values[0]!r}, so {they} cannot be "
        f"continuous; leave {them} out with {option('leave_out', names)}, or score with "
        f"{worded('MixedBIC()', '--score mixed-bic')}, which takes columns of states beside continuous ones"
    )


def continuous_names(columns: Sequence[Column], given: Continuous, discretize: Discretize) -> set[str]:
    """A column that discretize= or states= names has states, and so have all that one rule cuts; but what continuous=
    names stays numbers."""
    if given is None:
        return set()
    named = set() if isinstance(given, str) else set(given)
    for name in named:
        check_known(name, [column.name for column in columns], option("continuous"))
    for_all, rules = rules_apart(discretize)
    if for_all is not None and not named:
        raise TableError(
            f"{option('discretize')} cuts every column of floats, and {option('continuous', given)} keeps them all; "
            "name columns in one of the two"
        )
    cut = {name for name, rule in rules.items() if rule is not None}
    if cut & named:
        raise TableError(
            f"{option('discretize')} and {option('continuous')} both name {listing(sorted(cut & named))}; choose one"
        )
    stays = {column.name for column in columns if (column.is_float and for_all is None) or given == "all"}
    return named | stays - cut - {column.name for column in columns if column.declared}


def numbers_of(column: Column, place: Place) -> Column:
    if (column.codes < 0).any():
        row = int((column.codes < 0).argmax())
        raise TableError(
            f"column {column.name!r} is missing in {place(row)}; in a continuous column a missing cell can neither be "
            f"a state nor be kept: use {option('missing', 'drop')}, or cut the column with "
            f"{option('discretize', {column.name: 'median'})}"
        )
    if any(LARGEST < abs(value) < np.inf for value in column.values):
        raise TableError(f"column {column.name!r} has numbers beyond {LARGEST:g}: scale it")
    numbers = Column(column.name, np.array(column.values, dtype=np.float64), column.codes)
    check_finite(numbers, place)
    return numbers


def note_on_continuous(names: Sequence[str]) -> tuple[str, ...]:
    if not names:
        return ()
    return (f"Column{'s' * (len(names) > 1)} {listing(names)} {'is' if len(names) == 1 else 'are'} continuous.",)
