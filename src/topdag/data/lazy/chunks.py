"""Rows too many and too different to be held: an engine reads them chunk by chunk, and counts of few columns add up.

A table of such rows knows the states of its columns. Whatever asks for a few of its columns gets their distinct rows;
the first to ask has all sets of so many columns counted, in one reading of the rows.
"""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain, combinations
from threading import Lock, get_ident
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
    in_order,
    limited,
    require_rows_countable,
    with_declared_states,
    with_missing_state,
    without_useless,
)
from topdag.data.columns import MISSING, MOST_STATES, Codes, Column, plain
from topdag.data.discretize import require_cut, whole_as_integers
from topdag.data.gaps import gaps_of, note_on_state
from topdag.data.guess.types import ColumnType, column_types, described
from topdag.data.notes import may_be_twin, note_on_capitals, note_on_constant, notes_on_many_states, twins_in_words
from topdag.data.series import column_of_series, counted, parts_of_rows, told_of
from topdag.errors import TableError, TooLarge

NOTE = (
    "The memory that is free or allowed does not hold so many different rows: they are read chunk by chunk, and counts "
    "of few columns at a time are added up."
)
ROWS_OF_A_CHUNK = 2**18
SECONDS_A_LOOK = 0.1
PART_FOR_COUNTS = 1 / 4
"""Of the memory; the engine that reads takes half."""

MOST_CELLS_OF_A_TABLE = 2**32
"""Of a table of counts."""
BYTES_OF_A_SUM = 3
"""Of each cell of a table from which others are summed out: half of them, then a quarter, or fewer."""

Stamp = tuple[int, int]
"""How long a file is, and when it was written."""
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
    types: Mapping[str, ColumnType]
    memory_limit: int | None
    files: Mapping[str, Stamp] = field(default_factory=dict)
    """Those it is read from, as they were."""
    _margins: _core.Margins | None = None
    _one_at_a_time: Lock = field(default_factory=Lock)
    _reading: int | None = None
    """The thread that reads."""
    _process: int = field(default_factory=os.getpid)

    def __reduce__(self) -> Any:
        raise self.needed("Another process would need all rows of the table, and")

    def __deepcopy__(self, memo: Any) -> ChunkedRows:
        return self

    def needed(self, why: str) -> TooLarge:
        """What to raise where rows are asked for one by one."""
        return TooLarge(
            f"{why} the memory that is free or allowed does not hold its {self.n_rows:,} rows: they are read chunk by "
            f"chunk, and only counts of few columns at a time are added up. Allow more ({option('memory_limit')}), "
            f"leave out columns ({option('leave_out')}), cut numbers into fewer states ({option('discretize')}), or "
            "take a part of the rows."
        )

    @cached_property
    def n_rows(self) -> int:
        return int(self.alone[0].sum())

    @cached_property
    def varying(self) -> tuple[int, ...]:
        """Columns with several states, the others add nothing to counts; one at least."""
        return tuple(v for v, states in enumerate(self.states) if len(states) > 1) or (0,)

    def margins(self, most: int, run: Run | None = None) -> _core.Margins | None:
        """The counts of all sets of at most so many of the varying columns; None when the time is up."""
        most = min(most, len(self.varying))
        if os.getpid() != self._process:  # engines and locks do not work on in forked processes
            raise self.needed("This process is a fork of the one that read the table, and")
        if self._has(most):
            return self._margins
        if self._reading == get_ident():
            raise TableError("the rows of this table are being read; a function for on_progress cannot ask for more")
        while not self._one_at_a_time.acquire(timeout=SECONDS_A_LOOK):  # engines do not read for two
            if run is not None and run.is_over:
                return None
        self._reading = get_ident()
        try:
            if not self._has(most):
                allowed = available_memory() if run is None else run.allowed_memory
                threads = usable_cores() if run is None else run.threads
                with told_of("the rows", "cannot be read again"):
                    read = self._read(self.planned(most, allowed, threads), run)
                if read is None:
                    return None
                self._margins = read
            return self._margins
        finally:
            self._reading = None
            self._one_at_a_time.release()

    def _has(self, most: int) -> bool:
        return self._margins is not None and self._margins.most_variables >= most

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
        return self._cells_in(margins, columns)

    def _cells_in(self, margins: _core.Margins, columns: Sequence[int]) -> NDArray[np.uint32]:
        order, counts = margins.counts([self.varying.index(v) for v in columns])
        found = [self.varying[place] for place in order]
        return counts.reshape([len(self.states[v]) for v in found]).transpose([found.index(v) for v in columns])

    def planned(self, most: int, allowed: float, threads: int) -> _core.Margins:
        """Without any rows yet. Raises TooLarge where they need more than their part of so many bytes."""
        left = PART_FOR_COUNTS * min(allowed, allowed if self.memory_limit is None else self.memory_limit)

        def needed(margins: _core.Margins) -> float:
            """With what each thread sums out of the largest table."""
            is_countable = margins.most_cells < MOST_CELLS_OF_A_TABLE
            return margins.bytes + threads * BYTES_OF_A_SUM * margins.most_cells if is_countable else math.inf

        def of_size(size: int) -> _core.Margins:
            """The fewest tables that fit, or the smallest."""
            arities = [len(self.states[v]) for v in self.varying]
            plans = [_core.Margins(arities, size, share * left) for share in (1.0, 0.5, 0.25, 0.0)]
            return next((margins for margins in plans if needed(margins) <= left), plans[-1])

        margins = of_size(most)
        if needed(margins) <= left:
            return margins
        fitting = next((size for size in range(most - 1, 1, -1) if needed(of_size(size)) <= left), 1)
        fewer = f"Give {option('max_parents', fitting - 1)} or fewer, leave" if fitting > 1 else "Leave"
        bytes_needed = needed(margins) if needed(margins) < math.inf else margins.bytes
        takes = f"take {shown_bytes(bytes_needed)}, where {shown_bytes(left)} are left for them"
        if bytes_needed <= left:
            takes = f"need a table of {margins.most_cells:.0f} cells, where {MOST_CELLS_OF_A_TABLE} can be counted"
        raise TooLarge(
            f"The rows are read chunk by chunk, and counts of all sets of {most} columns {takes}. {fewer} out columns "
            f"({option('leave_out')}), or cut numbers into fewer states ({option('discretize')})."
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
        """Declared states that no row has tell nothing."""
        if not all(may_be_twin(len(self.states[u]), self.n_rows) for u in (v, w)):
            return False
        occurring, others = (sorted(self.alone[u][self.alone[u] > 0]) for u in (v, w))
        return occurring == others and np.count_nonzero(self._cells([v, w])) == len(occurring)

    def _read(self, margins: _core.Margins, run: Run | None) -> _core.Margins | None:
        """With all rows counted; None when the time is up."""
        self._require_same_files()
        columns = [*self.names, *([] if self.weight is None else [self.weight])]
        for rows in parts_of_rows(self.frame.select(*columns), ROWS_OF_A_CHUNK):
            threads, seconds = (usable_cores(), None) if run is None else (run.threads, run.seconds_left)
            if not margins.add(self._coded(rows), self._weights(rows), _core.Limits(threads, seconds, None)):
                return None
            if run is not None and (run.tick("counting", margins.n_rows, self.n_rows) or run.is_over):
                return None
        self._require_same_files()
        self._require_same_counts(margins)
        return margins

    def _require_same_files(self) -> None:
        """Raises TableError where one was written since; engines keep some of what they knew of it."""
        for file, stamp in self.files.items():
            try:
                is_same = stamps([file])[file] == stamp
            except OSError:
                is_same = False
            if not is_same:
                raise changed(f"{file} was written anew, or is gone")

    def _require_same_counts(self, margins: _core.Margins) -> None:
        """Raises TableError where these rows are others than those read before."""
        if margins.n_rows != self.n_rows:
            raise changed(f"{margins.n_rows:,} rows were read, and {self.n_rows:,} before")
        for v in self.varying:
            if not np.array_equal(self._cells_in(margins, [v]), self.alone[v]):
                raise changed(f"the states of column {self.names[v]!r} occur more or less often")
        if self._margins is not None and self._margins.most_variables > 1:
            for pair in combinations(self.varying, 2):
                if not np.array_equal(self._cells_in(margins, pair), self._cells_in(self._margins, pair)):
                    raise changed(f"columns {self.names[pair[0]]!r} and {self.names[pair[1]]!r} are otherwise related")

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
        codes = np.array([*(code_of.get(value, MISSING) for value in column.values), code_of.get(None, MISSING)])
        coded = codes[column.codes]
        if len(unknown := column.codes[coded == MISSING]):
            shown = "missing values" if unknown[0] < 0 else f"the value {plain(column.values[unknown[0]])!r}"
            raise changed(f"column {column.name!r} has {shown}, which it had not")
        return coded

    def _weights(self, rows: Any) -> NDArray[np.uint32] | None:
        return None if self.weight is None else rows.get_column(self.weight).to_numpy().astype(np.uint32)


def changed(how: str) -> TableError:
    return TableError(f"the rows have changed since they were first read: {how}; read the table again")


def stamps(files: Sequence[str]) -> dict[str, Stamp]:
    """By file how long it is and when it was written; raises OSError where it is gone."""
    found = {file: os.stat(file) for file in files}
    return {file: (of.st_size, of.st_mtime_ns) for file, of in found.items()}


def counted_alone(frame: Any, names: Sequence[str], weight: str | None) -> tuple[list[Column], list[Codes]]:
    """By column its distinct cells, and how often each occurs; an error tells of all that cannot be used."""
    columns, counts, wrong = list[Column](), list[Codes](), list[str]()
    for name in names:
        try:
            column, own = counted(frame, [name], weight, partial(require_few_states, name))
        except TableError as error:
            wrong.append(str(error))
        else:
            columns += column
            counts.append(own)
    if wrong:
        raise TableError("\n".join(wrong))
    return columns, counts


def require_few_states(name: str, n_states: int) -> None:
    if n_states > MOST_STATES + 1:  # a missing cell may become one
        raise TableError(
            f"column {name!r} has more than {MOST_STATES:,} states; leave it out if it only tells rows apart "
            f"({option('leave_out', [name])})"
        )


def types_of_counted(
    columns: Sequence[Column], counts: Sequence[Codes], rules: Collection[str]
) -> dict[str, ColumnType]:
    """The types of columns of distinct cells that occur so often, each by itself."""
    types = dict[str, ColumnType]()
    for column, own in zip(columns, counts, strict=True):
        types |= column_types([column], None, own, [column.name] if column.name in rules else [], has_weights=True)
    return {c.name: described(types[c.name], c, own) for c, own in zip(columns, counts, strict=True)}


def chunked(
    frame: Any,
    weight: str | None,
    given: Sequence[Column],
    cut: Sequence[Column],
    counts: Sequence[Codes],
    options: Options,
    rules: Collection[str],
) -> tuple[ChunkedRows, tuple[str, ...]]:
    """Rows of columns whose distinct cells, as they were ``given`` and ``cut``, occur so often; with notes. ``rules``:
    the columns that were cut."""
    if options.missing == "keep" and any((column.codes < 0).any() for column in cut):
        raise TooLarge(
            f"The memory that is free or allowed does not hold the rows of this table, and {option('missing', 'keep')} "
            f"needs them one by one: leave such rows out ({option('missing', 'drop')}), or take a part of the rows."
        )
    if not len(counts[0]):
        raise TableError("the table has no rows")
    draft = with_declared_states(Draft(cut, counts[0], place_in_lazy_frame), options.states or {})
    with_gaps = [column.name for column in draft.columns if (column.codes < 0).any()]
    if with_gaps and options.missing != "state":  # rows with gaps were left out, or refused, when they were counted
        raise changed(f"column {with_gaps[0]!r} has missing values, which it had not")
    columns = whole_as_integers(draft.columns, draft.place)  # some engines have integers that come here as floats
    require_cut([column.name for column in columns if column.is_float])
    types = types_of_counted(columns, counts, rules)
    draft = without_useless(replace(draft, columns=columns, types=types), options)
    left = [place for place, column in enumerate(columns) if any(column is kept for kept in draft.columns)]
    given, counts = [given[place] for place in left], [counts[place] for place in left]
    notes_on_gaps = tuple(note_on_state(list(gaps)) for gaps in [gaps_of(draft.columns)] if gaps)
    columns = [limited(with_missing_state(in_order(column))) for column in draft.columns]
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
    rows = ChunkedRows(frame, weight, names, states, tuple(codes_of), tuple(alone), types, options.memory_limit)
    require_rows_countable(rows.n_rows)
    constant = [name for name, of in zip(names, states, strict=True) if len(of) == 1]
    notes = (*draft.notes, *notes_on_gaps, *note_on_constant(constant))
    notes += tuple(chain.from_iterable(map(note_on_capitals, names, states)))
    return rows, (*notes, *notes_on_many_states(columns, rows.n_rows), NOTE)
