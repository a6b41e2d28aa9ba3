"""Rows that are not independent: panels, groups of rows and series, found from names, values and the order of rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from topdag._util.messages import listing
from topdag._util.options import worded
from topdag.data.columns import MANY_ROWS, Column
from topdag.data.guess.types import OF_SEVERAL_ROWS, ColumnType, Facts, facts_of
from topdag.data.guess.words import IDENTIFIERS, NOMINAL, OCCASIONS

CHANCE_PAIRS = 10
"""A column tells the rows of units apart for a reason where by chance so many pairs of rows would agree in both."""
MOST_CLOCKS = 4
"""Columns that together say when, such as year, month, day and hour."""
MOST_UNITS = 0.8
"""There are at most so many units for each row."""
IN_ORDER = 0.9
"""The share of rows of a series that are not before the row before them."""
YEARS = (1700, 2100)
TOO_SURE = "edges seem surer than they are"


def note_on_repeated(columns: Sequence[Column], types: Mapping[str, ColumnType]) -> tuple[str, ...]:
    """Return a sentence if several rows belong to one subject, or rows follow each other in time: what that does to
    edges, and what takes it into account."""
    n_rows = len(columns[0].codes) if columns else 0
    if n_rows < MANY_ROWS or any(of.type == "weight" for of in types.values()):
        return ()
    facts = [facts_of(column, place) for place, column in enumerate(columns) if len(column.values) > 1]
    clocks = [each for each in facts if is_clock(each, types[each.column.name])]
    others = [each for each in facts if not is_clock(each, types[each.column.name])]
    units = [each for each in others if may_be_unit(each, types[each.column.name])]
    for clock in clocks:
        if is_series_of_dates(clock, types[clock.column.name]):
            return (series_in_words([clock.column.name]),)
    for unit in units:
        for clock in clocks:
            if is_panel(unit, clock):
                return (panel_in_words(unit.column.name, clock.column.name),)
    for unit in units:
        if types[unit.column.name].reason in OF_SEVERAL_ROWS:
            return (group_in_words(unit.column.name),)
    for several in series_clocks(clocks):
        return (series_in_words([each.column.name for each in several]),)
    return ()


def panel_in_words(unit: str, clock: str) -> str:
    return (
        f"Rows with the same {unit!r} follow each other in {clock!r}, and are not independent, as the score takes them "
        f"to be: {TOO_SURE}, and some only say that units differ or that all change with time. {slices(unit)}."
    )


def group_in_words(unit: str) -> str:
    return (
        f"Several rows have the same {unit!r}, and are not independent, as the score takes them to be: {TOO_SURE}. "
        f"Take one row of each or their mean. Where they follow each other in time: {slices(unit)}."
    )


def series_in_words(clocks: Sequence[str]) -> str:
    when = listing([name or "row names" for name in clocks])
    return (
        f"Rows follow each other in time ({when}), and are not independent, as the score takes them to be: {TOO_SURE}, "
        f"and columns with a common trend are joined. {slices()}."
    )


def slices(unit: str = "") -> str:
    """What learns from rows in their order; there is no command for it."""
    of_unit = f', series="{unit}"' if unit else ""
    how = f"time_slices(frame{of_unit}) makes a table and constraints"
    return f"{worded('', 'In Python, ')}{how} that let best_network learn from each row and the one before"


def is_clock(facts: Facts, of: ColumnType) -> bool:
    """Whether a column says when: by its type or its name, or as row names that are years."""
    if of.type == "date":
        return True
    if of.reason == "row names":
        is_whole = facts.numbers is not None and facts.is_whole
        return is_whole and YEARS[0] <= facts.column.values[0] <= facts.column.values[-1] <= YEARS[1]
    return facts.numbers is not None and facts.named(OCCASIONS)


def may_be_unit(facts: Facts, of: ColumnType) -> bool:
    """Whether the rows with a value may be those of one subject: numbers of one kind or names."""
    if facts.n_values > MOST_UNITS * len(facts.known) or (facts.numbers is not None and not facts.is_whole):
        return False
    is_nominal = facts.called(IDENTIFIERS | NOMINAL) or (of.type == "categorical" and facts.numbers is None)
    return is_identifier(of) or is_nominal or numbers_units(facts)


def numbers_units(facts: Facts) -> bool:
    """Whether a column holds 1, 2, ..., each in as many rows."""
    counts = np.bincount(facts.known)
    is_numbered = facts.numbers is not None and facts.numbers[[0, -1]].tolist() == [1, facts.n_values]
    return is_numbered and len(set(counts)) == 1


def is_identifier(of: ColumnType) -> bool:
    return of.type == "identifier" and of.reason != "row names"


def is_panel(unit: Facts, clock: Facts) -> bool:
    """Whether the clock tells the rows of each unit apart, which chance would not do."""
    both = (unit.column.codes >= 0) & (clock.column.codes >= 0)
    units, times = unit.column.codes[both], clock.column.codes[both]
    if n_agreeing(units * clock.n_values + times):
        return False
    all_pairs = len(units) * (len(units) - 1) / 2
    return n_agreeing(units) * n_agreeing(times) >= CHANCE_PAIRS * max(all_pairs, 1)


def n_agreeing(codes: NDArray[np.int64]) -> float:
    """Return how many pairs of rows have the same code."""
    counts = np.unique(codes, return_counts=True)[1].astype(float)
    return float((counts * (counts - 1)).sum() / 2)


def series_clocks(clocks: Sequence[Facts]) -> Iterator[Sequence[Facts]]:
    """Yield the clock by which the rows are in order, each at another time; or the few that together are one, such as
    year and month."""
    yield from ([clock] for clock in clocks if clock.differs_in_every_row and is_monotonic(clock.column.codes))
    few = list(clocks[:MOST_CLOCKS])
    for several in (few, few[::-1]):
        place = np.zeros(len(several[0].column.codes) if several else 0, np.int64)
        for clock in several:
            place = place * clock.n_values + clock.column.codes
        is_filled = all(len(clock.known) == clock.n_rows for clock in several)
        if len(several) > 1 and is_filled and is_monotonic(place):
            yield several


def is_series_of_dates(facts: Facts, of: ColumnType) -> bool:
    """Whether the rows have dates, most of them different, and are in their order but for a few."""
    if of.type != "date" or 2 * facts.n_values < len(facts.known):
        return False
    forward = np.mean(np.diff(facts.known) >= 0)
    return bool(max(forward, 1 - forward) >= IN_ORDER)


def is_monotonic(codes: NDArray[np.int64]) -> bool:
    """Whether each row holds more than the one before, or each less."""
    steps = np.diff(codes[codes >= 0])
    return bool(np.all(steps > 0) or np.all(steps < 0))
