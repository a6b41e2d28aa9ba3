"""Missing cells: which rows or columns go, what is kept, and what to say about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from topdag._util.messages import first_ones, listing, plural
from topdag._util.options import option, question, worded
from topdag.data.columns import MANY_ROWS, Column
from topdag.errors import TableError

MISSING_WORDS = ("auto", "drop", "state", "keep", "error")
# Measured: docs/develop/mixed_scores.md, section Missing cells.
MOST_LOST = 0.5
"""Incomplete rows go by default as long as they are no more than this share of all,"""
MANY_COMPLETE = 1000
"""or so many rows of categories stay,"""
ENOUGH_COMPLETE = 200
"""or so many rows where numbers are among the columns; else columns with most gaps are left out."""
MUCH_LOST = 0.1
"""The share of rows lost from which the columns that cost most are named."""
MUCH_SAVED = 0.5
"""The share of the lost rows that leaving columns out must save."""
MOST_COSTLY = 3
"""So many columns are named as costly at most."""

Gaps: TypeAlias = Mapping[str, NDArray[np.bool_]]
"""The columns with missing cells, and the rows in which these are."""
Counts: TypeAlias = NDArray[np.int64]
"""How many rows each row of a draft stands for: one, unless an engine has counted equal ones."""
RowsWithout: TypeAlias = Callable[[Sequence[str]], int]
"""How many rows have no gap in other columns than these."""


def gaps_of(columns: Sequence[Column]) -> dict[str, NDArray[np.bool_]]:
    return {column.name: column.codes < 0 for column in columns if (column.codes < 0).any()}


def rows_with_gaps(gaps: Gaps) -> NDArray[np.bool_]:
    return np.asarray(np.any(list(gaps.values()), axis=0))


def choose(gaps: Gaps, counts: Counts, *, has_numbers: bool) -> str:
    """Return "drop" or "keep": incomplete rows go where enough others stay; where not, families of categories are
    scored by the rows in which they are complete, which families with numbers cannot be."""
    n_lost, n_rows = counts[rows_with_gaps(gaps)].sum(), counts.sum()
    is_little = n_lost <= MOST_LOST * n_rows or n_rows - n_lost >= MANY_COMPLETE
    return "drop" if has_numbers or is_little else "keep"


def columns_to_leave_out(gaps: Gaps, counts: Counts, n_columns: int) -> list[str]:
    """Return the columns with most gaps, as few as leave enough complete rows; none where that takes too many."""
    n_rows, rows_without = int(counts.sum()), counting_rows(gaps, counts)
    enough = min(ENOUGH_COMPLETE, (1 - MOST_LOST) * n_rows)
    by_cost = sorted(gaps, key=lambda name: -int(counts[gaps[name]].sum()))
    for n_left_out in range(min(len(by_cost), n_columns - 2) + 1):
        if rows_without(by_cost[:n_left_out]) >= enough:
            return by_cost[:n_left_out]
    return []


def require_none(gaps: Gaps, place: Callable[[int], str]) -> None:
    """Raise TableError where cells are missing."""
    if not gaps:
        return
    found = [
        f"{name!r} ({plural(int(rows.sum()), 'row')}, the first is {place(int(rows.argmax()))})"
        for name, rows in gaps.items()
    ]
    raise TableError(gaps_refused(found))


def gaps_refused(found: Sequence[str]) -> str:
    return f"missing values in {plural(len(found), 'column')}: {first_ones(found)}; {ways_with_gaps()}"


def ways_with_gaps() -> str:
    drop, state, keep = (option("missing", way) for way in ("drop", "state", "keep"))
    nal = worded("NAL()", "--score nal")
    return f"{drop} leaves such rows out, {state} makes missing a state of its own, {keep} keeps the cells for {nal}"


def incomplete_refused(asked_by: str, missing: Mapping[str, int]) -> str:
    """Return the message for a question that needs every cell of a table in which some are missing, by column."""
    drop, state = option("missing", "drop"), option("missing", "state")
    nal, em = worded("NAL()", "--score nal"), question("structural_em")
    return (
        f"{asked_by} needs every cell, but cells are missing in {columns_with_gaps(missing)}. Score with {nal}, which "
        f"takes the rows that are complete in each family; or use {em}, which fills gaps by expected counts; or read "
        f"the table again: {drop} leaves rows with missing cells out, {state} makes missing a state of its own."
    )


def note_on_state(names: Sequence[str]) -> str:
    return f"Missing values are a state of their own in {listing(names)}."


def note_on_kept(missing: Mapping[str, int], n_columns: int, n_rows: int) -> str:
    n_cells = sum(missing.values())
    share = f"{n_cells / (n_columns * n_rows):.1%} of all"
    return f"{plural(n_cells, 'missing cell')} ({share}) kept, in {columns_with_gaps(missing)}."


def columns_with_gaps(missing: Mapping[str, int]) -> str:
    """Return the columns, those with most gaps first, and in how many rows each has one."""
    most = sorted(missing, key=lambda name: -missing[name])
    return first_ones([f"{name!r} ({plural(missing[name], 'row')})" for name in most])


def note_on_dropped(dropped: int, n_rows: int, why: str, advice: str = "") -> tuple[str, ...]:
    """Return a sentence if rows were dropped; raise TableError if none is left."""
    if dropped and dropped == n_rows:
        raise TableError(f"no row is left: all {n_rows:,} were dropped because of {why}.{advice}".removesuffix("."))
    verb = "was" if dropped == 1 else "were"
    return (f"{dropped:,} of {n_rows:,} rows {verb} dropped because of {why}.{advice}",) if dropped else ()


def note_on_states_lost(always: Mapping[str, Any], n_rows: int) -> tuple[str, ...]:
    """Return a sentence on columns that lost all states but one with the dropped rows. Few rows lose states by
    accident."""
    said = ", ".join(f"{name!r} is always {state}" for name, state in always.items())
    return (f"In the rows that are left {said}.",) if said and n_rows >= MANY_ROWS else ()


def advice_on_gaps(n_gaps: Mapping[str, int], n_columns: int, n_rows: int, rows_without: RowsWithout) -> str:
    """Return a sentence on the columns that cost most rows, where dropping loses many."""
    kept = rows_without([])
    if n_rows - kept < MUCH_LOST * n_rows:
        return ""
    named = most_costly(n_gaps, n_columns, n_rows, rows_without)
    saved = rows_without(named) - kept
    if saved < MUCH_SAVED * (n_rows - kept):
        return ""
    cost = ", ".join(f"{name!r} ({plural(n_gaps[name], 'row')})" for name in named)
    return f" Most are missing in {cost}: {option('leave_out', named)} keeps {kept + saved:,} rows instead of {kept:,}."


def most_costly(n_gaps: Mapping[str, int], n_columns: int, n_rows: int, rows_without: RowsWithout) -> list[str]:
    """Return the columns with most gaps, as few as make dropping cheap; two columns are left at least."""
    by_cost = sorted(n_gaps, key=lambda name: -n_gaps[name])[: min(MOST_COSTLY, n_columns - 2)]
    enough = (m for m in range(1, len(by_cost)) if n_rows - rows_without(by_cost[:m]) < MUCH_LOST * n_rows)
    return by_cost[: next(enough, len(by_cost))]


def note_on_left_out_for_gaps(gaps: Gaps, counts: Counts, names: Sequence[str]) -> str:
    n_rows = counts.sum()
    said = ", ".join(f"{name!r} ({counts[gaps[name]].sum():,} of {n_rows:,} cells)" for name in names)
    return (
        f"Left out because most rows would go with their missing cells: {said}; {option('missing', 'drop')} keeps them."
    )


def counting_rows(gaps: Gaps, counts: Counts) -> RowsWithout:
    """Return the function that counts the rows without a gap, asked for columns left out."""
    n_rows = int(counts.sum())

    def rows_without(left_out: Sequence[str]) -> int:
        others = [rows for name, rows in gaps.items() if name not in left_out]
        return n_rows - int(counts[np.any(others, axis=0)].sum()) if others else n_rows

    return rows_without
