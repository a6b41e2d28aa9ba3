"""What keeps a table from being used, told at once, and what to say about it; what rows with gaps cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from topdag._util.messages import Place, first_ones, listing, plural
from topdag._util.options import all_of, option, worded
from topdag.data.columns import MANY_ROWS, Column, tells_rows_apart
from topdag.data.discretize import floats_refused
from topdag.errors import TableError

MUCH_LOST = 0.1
"""The share of rows lost from which columns that cost most are named."""
FEW_COSTLY, MOST_COSTLY = 3, 10
"""So many columns are named as costly at most; more than a few only if each has many gaps."""

RowsWithout: TypeAlias = Callable[[Sequence[str]], int]  # how many rows have no gap in other columns than these


def check_usable(
    columns: Sequence[Column], gaps: Mapping[str, NDArray[np.bool_]], floats: Sequence[str], or_else: str, place: Place
) -> None:
    """An error if there are gaps, or floats that are not states; it names columns that only tell rows apart too."""
    found = [
        f"{name!r} ({plural(int(rows.sum()), 'row')}, the first is {place(int(rows.argmax()))})"
        for name, rows in gaps.items()
    ]
    apart = [column.name for column in columns if tells_rows_apart(column)]
    refuse(found, costly_columns(gaps, len(columns)), floats, apart, or_else)


def refuse(
    gaps: Sequence[str], costly: Sequence[str] | None, floats: Sequence[str], apart: Sequence[str], or_else: str
) -> None:
    """An error if there are gaps (each a column in words) or floats, with all troubles and what settles them.
    ``costly``: columns without which few rows are dropped; None if no few columns are."""
    troubles = [*([gaps_refused(gaps)] if gaps else []), *([floats_refused(floats, or_else)] if floats else [])]
    if not troubles:
        return
    if len(troubles) == 1 and not apart:
        raise TableError(troubles[0])
    if apart:
        tell = "column {} has" if len(apart) == 1 else "columns {} have"
        troubles.append(f"{tell.format(listing(apart))} a state for each row or nearly so, which tells rows apart")
    leave_out = list(dict.fromkeys([*(costly or ()), *apart]))
    settled = [option("missing", "state" if costly is None else "drop")] * bool(gaps)
    settled += [option("discretize", "quantile(3)")] * bool(floats)
    settled += [option("leave_out", leave_out)] * bool(leave_out)
    lines = [f"{len(troubles)} things keep this table from being used:", *(f"- {trouble}" for trouble in troubles)]
    raise TableError("\n".join([*lines, f"All settled at once: {all_of(settled)}"]))


def gaps_refused(found: Sequence[str]) -> str:
    return f"missing values in {plural(len(found), 'column')}: {first_ones(found)}; {what_to_do_with_gaps()}"


def what_to_do_with_gaps() -> str:
    drop, state, keep = (option("missing", what) for what in ("drop", "state", "keep"))
    nal = worded("NAL()", "--score nal")
    return f"{drop} leaves such rows out, {state} makes missing a state of its own, {keep} keeps the cells for {nal}"


def incomplete_refused(asked_by: str, missing: Mapping[str, int]) -> str:
    """For what needs every cell of a table in which some are missing, by column."""
    drop, state = option("missing", "drop"), option("missing", "state")
    nal, em = worded("NAL()", "--score nal"), worded("structural_em()", "topdag em")
    return (
        f"{asked_by} needs every cell, but cells are missing in {columns_with_gaps(missing)}. Score with {nal}, which "
        f"takes the rows that are complete in each family; or take {em}, which fills gaps by what is expected; or make "
        f"the table again: {drop} leaves rows with missing cells out, {state} makes missing a state of its own."
    )


def note_on_kept(missing: Mapping[str, int], n_columns: int, n_rows: int) -> str:
    n_cells = sum(missing.values())
    share = f"{n_cells / (n_columns * n_rows):.1%} of all"
    return f"{plural(n_cells, 'missing cell')} ({share}) kept, in {columns_with_gaps(missing)}."


def columns_with_gaps(missing: Mapping[str, int]) -> str:
    """The columns, those with most gaps first, and in how many rows each has one."""
    most = sorted(missing, key=lambda name: -missing[name])
    return first_ones([f"{name!r} ({plural(missing[name], 'row')})" for name in most])


def note_on_dropped(dropped: int, n_rows: int, why: str, advice: str = "") -> tuple[str, ...]:
    """A sentence if rows were dropped, an error if none is left."""
    if dropped and dropped == n_rows:
        raise TableError(f"no row is left: all {n_rows:,} were dropped because of {why}.{advice}".removesuffix("."))
    verb = "was" if dropped == 1 else "were"
    return (f"{dropped:,} of {n_rows:,} rows {verb} dropped because of {why}.{advice}",) if dropped else ()


def note_on_states_lost(always: Mapping[str, Any], n_rows: int) -> tuple[str, ...]:
    """A sentence on columns of which dropped rows took all states but one: what is asked is asked of these rows only.
    Few rows lose states by accident."""
    said = ", ".join(f"{name!r} is always {state}" for name, state in always.items())
    return (f"In the rows that are left {said}.",) if said and n_rows >= MANY_ROWS else ()


def advice_on_gaps(n_gaps: Mapping[str, int], n_columns: int, n_rows: int, rows_without: RowsWithout) -> str:
    """Where dropping loses much: the columns that cost most, and what leaving them out would save."""
    kept = rows_without([])
    if n_rows - kept < MUCH_LOST * n_rows:
        return ""
    named = most_costly(n_gaps, n_columns, n_rows, rows_without)
    saved = rows_without(named) - kept
    if saved < MUCH_LOST * (n_rows - kept):
        return ""
    cost = ", ".join(f"{name!r} ({plural(n_gaps[name], 'row')})" for name in named)
    return f" Most are missing in {cost}: {option('leave_out', named)} keeps {kept + saved:,} rows instead of {kept:,}."


def most_costly(n_gaps: Mapping[str, int], n_columns: int, n_rows: int, rows_without: RowsWithout) -> list[str]:
    """The columns with most gaps, as few as make dropping cheap; two columns are left at least."""
    n_costly = sum(n >= MUCH_LOST * n_rows for n in n_gaps.values())
    at_most = min(max(FEW_COSTLY, min(n_costly, MOST_COSTLY)), n_columns - 2)
    by_cost = sorted(n_gaps, key=lambda name: -n_gaps[name])[:at_most]
    enough = (m for m in range(1, len(by_cost)) if n_rows - rows_without(by_cost[:m]) < MUCH_LOST * n_rows)
    return by_cost[: next(enough, len(by_cost))]


def costly_columns(gaps: Mapping[str, NDArray[np.bool_]], n_columns: int) -> list[str] | None:
    """Those without which dropping rows costs less than half of them; None if it costs more all the same."""
    if not gaps:
        return []
    rows_without, n_rows = counting_rows(gaps), len(next(iter(gaps.values())))
    if 2 * rows_without([]) >= n_rows:
        return []
    named = most_costly({name: int(rows.sum()) for name, rows in gaps.items()}, n_columns, n_rows, rows_without)
    return named if 2 * rows_without(named) >= n_rows else None


def counting_rows(gaps: Mapping[str, NDArray[np.bool_]]) -> RowsWithout:
    """How many rows have no gap, asked for columns left out."""
    n_rows = len(next(iter(gaps.values())))

    def rows_without(left_out: Sequence[str]) -> int:
        others = [rows for name, rows in gaps.items() if name not in left_out]
        return n_rows - int(np.any(others, axis=0).sum()) if others else n_rows

    return rows_without
