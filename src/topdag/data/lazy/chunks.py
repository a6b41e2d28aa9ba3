"""Rows too many and too different to be held: an engine reads them chunk by chunk, and counts of few columns add up.

A table of such rows knows the states of its columns. Whatever asks for a few of its columns gets their distinct rows;
the first to ask has all sets of so many columns counted, in one reading of the rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from topdag import _core
from topdag._util.memory import available_memory, shown_bytes
from topdag._util.messages import place_in_lazy_frame
from topdag._util.options import option
from topdag._util.run import Run, usable_cores
from topdag.data.build import (
    Draft,
    Options,
    limited,
    require_rows_countable,
    with_declared_states,
    with_missing_state,
    without_gaps,
)
from topdag.data.columns import MISSING, MOST_STATES, Codes, Column
from topdag.data.discretize import cut_columns
from topdag.data.notes import may_be_twin, note_on_capitals, note_on_constant, notes_on_many_states, twins_in_words
from topdag.data.series import column_of_series, counted, parts_of_rows
from topdag.errors import TableError, TooLarge

NOTE = (
    "The rows are too different to be held in memory: they are read chunk by chunk, and counts of few columns at a "
    "time are added up."
)
ROWS_OF_A_CHUNK = 2**18
SHARE_FOR_COUNTS = 1 / 4
"""Of the memory; the engine that reads takes half."""

CodeOf = Mapping[Any, int]
"""The code of each value of a column as its engine gives it, None for a missing cell."""


@dataclass(eq=False)
class ChunkedRows:
    """``frame``: the rows, lazily, with numbers cut, a column by each of ``names``; ``weight``: the column that says
    how often each counts. ``alone``: by variable, how often each state occurs."""

    frame: Any
    weight: str | None
    names: tuple[str, ...]
    states: tuple[tuple[Any, ...], ...]
    codes: tuple[CodeOf, ...]
    alone: tuple[Codes, ...]
    memory_limit: int | None
    _margins: _core.Margins | None = None

    def __reduce__(self) -> Any:
        raise TableError(
            "rows that are read chunk by chunk cannot be sent to other processes: give those the files to read"
        )

    @property
    def n_rows(self) -> int:
        return int(self.alone[0].sum())

    @property
    def varying(self) -> tuple[int, ...]:
        """Columns with several states; the others add nothing to counts."""
        return tuple(v for v, states in enumerate(self.states) if len(states) > 1)

    def margins(self, most: int, run: Run | None = None) -> _core.Margins | None:
        """The counts of all sets of at most so many of the varying columns; None when the time is up."""
        most = min(most, len(self.varying))
        if self._margins is None or self._margins.most_variables < most:
            allowed = available_memory() if run is None else run.allowed_memory
            read = self._read(self.planned(most, allowed), run)
            if read is None:
                return None
            self._margins = read
        return self._margins

    def counts_of(self, columns: Sequence[int]) -> tuple[NDArray[np.uint16], NDArray[np.uint32]]:
        """The distinct rows of these columns, and how often each occurs."""
        varying = [v for v in columns if v in self.varying]
        cells = self._cells(varying)
        codes = np.zeros((len(columns), np.count_nonzero(cells)), np.uint16)
        for v, own in zip(varying, np.argwhere(cells).T, strict=True):
            codes[list(columns).index(v)] = own
        return codes, cells[cells > 0].astype(np.uint32)

    def _cells(self, columns: Sequence[int]) -> NDArray[Any]:
        """How often each combination of states occurs, an axis for each column."""
        if len(columns) < 2:
            return self.alone[columns[0]] if columns else np.array(self.n_rows)
        margins = self.margins(len(columns))
        assert margins is not None  # nothing limits the time
        order, counts = margins.counts([self.varying.index(v) for v in columns])
        found = [self.varying[place] for place in order]
        return counts.reshape([len(self.states[v]) for v in found]).transpose([found.index(v) for v in columns])

    def planned(self, most: int, allowed: float) -> _core.Margins:
        """Without any rows yet. Raises TooLarge where they need more than their part of so many bytes."""
        left = SHARE_FOR_COUNTS * min(allowed, allowed if self.memory_limit is None else self.memory_limit)

        def of_size(size: int) -> _core.Margins:
            return _core.Margins([len(self.states[v]) for v in self.varying], size, left)

        margins = of_size(most)
        if margins.bytes <= left:
            return margins
        fitting = next((size for size in range(most - 1, 1, -1) if of_size(size).bytes <= left), 1)
        raise TooLarge(
            f"The rows are read chunk by chunk, and counts of all sets of {most} columns take "
            f"{shown_bytes(margins.bytes)}, where {shown_bytes(left)} are left for them. Give "
            f"{option('max_parents', fitting - 1)} or fewer, leave out columns ({option('leave_out')}), or cut numbers "
            f"into fewer states ({option('discretize')})."
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What pairs of columns tell, once they were counted: which say the same."""
        if self._margins is None or self._margins.most_variables < 2:
            return ()
        groups = list[list[int]]()
        for v in self.varying:
            own = next((group for group in groups if self._are_twins(group[0], v)), None)
            groups.append([v]) if own is None else own.append(v)
        return tuple(twins_in_words([self.names[v] for v in group]) for group in groups if len(group) > 1)

    def _are_twins(self, v: int, w: int) -> bool:
        n_states = len(self.states[v])
        if n_states != len(self.states[w]) or not may_be_twin(n_states, self.n_rows):
            return False
        return sorted(self.alone[v]) == sorted(self.alone[w]) and np.count_nonzero(self._cells([v, w])) == n_states

    def _read(self, margins: _core.Margins, run: Run | None) -> _core.Margins | None:
        """With all rows counted; None when the time is up."""
        columns = [*self.names, *([] if self.weight is None else [self.weight])]
        for rows in parts_of_rows(self.frame.select(*columns), ROWS_OF_A_CHUNK):
            threads, seconds = (usable_cores(), None) if run is None else (run.threads, run.seconds_left)
            if not margins.add(self._coded(rows), self._weights(rows), _core.Limits(threads, seconds, None)):
                return None
            if run is not None and (run.tick("counting", margins.n_rows, self.n_rows) or run.is_over):
                return None
        if margins.n_rows != self.n_rows:
            raise self._changed(f"{margins.n_rows:,} rows were read, and {self.n_rows:,} before")
        return margins

    def _coded(self, rows: Any) -> NDArray[np.uint16]:
        coded = np.empty((len(self.varying), len(rows)), np.uint16)
        for own, v in zip(coded, self.varying, strict=True):
            own[:] = self._codes_of(rows.get_column(self.names[v]), self.codes[v])
        return coded

    def _codes_of(self, series: Any, code_of: CodeOf) -> Codes:
        if not series.dtype.is_numeric() and not series.null_count():
            with suppress(Exception):  # each library has its own for what is not there
                known = {value: code for value, code in code_of.items() if value is not None}
                return np.asarray(series.replace_strict(known, return_dtype=nw.Int32).to_numpy())
        return self._codes_of_column(column_of_series(series), code_of)

    def _codes_of_column(self, column: Column, code_of: CodeOf) -> Codes:
        try:
            codes = [code_of[value] for value in column.values]
        except KeyError as error:
            raise self._changed(f"column {column.name!r} has the value {error.args[0]!r}, which it had not") from None
        has_gaps = bool(column.codes.min(initial=0) < 0)
        if has_gaps and None not in code_of:
            raise self._changed(f"column {column.name!r} has missing values, which it had not")
        return np.array([*codes, code_of.get(None, MISSING)])[column.codes]

    def _weights(self, rows: Any) -> NDArray[np.uint32] | None:
        return None if self.weight is None else rows.get_column(self.weight).to_numpy().astype(np.uint32)

    def _changed(self, how: str) -> TableError:
        return TableError(f"the rows have changed while they were read: {how}")


def counted_alone(frame: Any, names: Sequence[str], weight: str | None) -> tuple[list[Column], list[Codes]]:
    """By column its distinct cells, and how often each occurs."""
    columns, counts = list[Column](), list[Codes]()
    for name in names:
        column, own = counted(frame, [name], weight, partial(require_few_states, name))
        columns += column
        counts.append(own)
    return columns, counts


def require_few_states(name: str, n_states: int) -> None:
    if n_states > MOST_STATES + 1:  # a missing cell may become one
        raise TableError(
            f"column {name!r} has more than {MOST_STATES:,} states; leave it out if it only tells rows apart "
            f"({option('leave_out', [name])})"
        )


def chunked(
    frame: Any,
    weight: str | None,
    given: Sequence[Column],
    cut: Sequence[Column],
    counts: Sequence[Codes],
    options: Options,
) -> tuple[ChunkedRows, tuple[str, ...]]:
    """Rows of columns whose distinct cells, as they were ``given`` and ``cut``, occur so often; with notes."""
    if options.missing == "keep" and any((column.codes < 0).any() for column in cut):
        raise TooLarge(
            f"The rows of this table are too different to be held in memory, and {option('missing', 'keep')} needs "
            f"them one by one: leave such rows out ({option('missing', 'drop')}), or take a part of the rows."
        )
    draft = with_declared_states(Draft(cut, counts[0], place_in_lazy_frame), options.states or {})
    draft = without_gaps(draft, options.missing)
    columns, whole_notes = cut_columns(draft.columns, counts[0], None, place_in_lazy_frame)
    columns = [limited(with_missing_state(column)) for column in columns]
    codes_of = []
    for before, column in zip(given, columns, strict=True):
        values = [*before.values, None]  # which is the last, as a missing cell's code says
        codes_of.append(dict(zip((values[code] for code in before.codes), column.codes.tolist(), strict=True)))
    states = tuple(tuple(column.values) for column in columns)
    alone = [
        np.bincount(column.codes, own, len(of)).astype(np.int64)
        for column, own, of in zip(columns, counts, states, strict=True)
    ]
    names = tuple(column.name for column in columns)
    rows = ChunkedRows(frame, weight, names, states, tuple(codes_of), tuple(alone), options.memory_limit)
    require_rows_countable(rows.n_rows)
    constant = [name for name, of in zip(names, states, strict=True) if len(of) == 1]
    notes = (*draft.notes, *whole_notes, *note_on_constant(constant))
    notes += tuple(chain.from_iterable(map(note_on_capitals, names, states)))
    return rows, (*notes, *notes_on_many_states(columns, states, rows.n_rows), NOTE)
