"""Tables: states coded as small integers, continuous columns as numbers, equal rows merged."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import compress
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topdag._util.brief import brief
from topdag._util.messages import Place, closest, listing, place_in_frame, plural
from topdag._util.options import option
from topdag.data.build import Options, build
from topdag.data.columns import Column, Interventions, array_columns, as_array, columns_of, with_states
from topdag.data.discretize import Discretize
from topdag.data.gaps import incomplete_refused
from topdag.data.guess.types import ColumnType
from topdag.errors import ScoreError, TableError

if TYPE_CHECKING:
    from topdag.data.lazy.chunks import ChunkedRows

MOST_VARIABLES_SHOWN = 30
"""Variables in a notebook."""


class UnknownVariableError(TableError, KeyError):
    """A name that is not in the table; the message lists close ones."""

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True, slots=True, init=False, eq=False, repr=False)
class Table:
    """Distinct rows of variables with how often each occurs. Nothing in it can be changed.

    ``source`` is a frame of any library that narwhals knows (lazy ones are grouped by their own engine), a
    two-dimensional array (``names`` or V0, V1, ...), a dict of columns, or a list of rows. Columns hold
    strings, integers, booleans or categories; numbers are cut as ``discretize`` says: one rule for all columns of
    floats and of whole numbers with more than 20 values, or a dict from column to rule, "*" for all others and None
    for those to be left. Floats that are all whole numbers count as integers. ``missing`` is "error", "drop" (rows),
    "state" (one of its own) or "keep": such cells stay, for scores that take rows as far as they are complete; "auto"
    decides by how many rows would go.
    ``weights`` are whole numbers, one for each row, or the name of the column that holds them.
    ``states`` declares the states of columns, those without rows too. ``types`` says what a column is where the guess
    is wrong, "*" for all that are not named: "continuous" keeps numbers, which have no states. Columns that
    ``columns`` does not name, where it names any, or that ``leave_out`` names are not looked at. ``interventions``: the
    column that says which variables were set by experiment in each row (names with ; between them, empty for none), or
    these names by row; such rows tell nothing of the causes of what was set.

    >>> table = Table({"rain": ["no", "yes", "no"], "wet": [0, 1, 0]})
    >>> list(table.rows())
    [(('no', 0), 2), (('yes', 1), 1)]
    """

    names: tuple[str, ...]
    states: tuple[tuple[Any, ...], ...]
    # (variables, distinct rows); rows increase, the first variable counting most; a missing cell that was kept has the
    # code after the last state
    _codes: NDArray[np.uint16]
    _numbers: NDArray[np.float64]  # (continuous variables, distinct rows); their codes are 0
    _weights: NDArray[np.uint32]
    targets: tuple[int, ...]  # for each row the variables set in it, as bits; () where none was in any
    chunks: ChunkedRows | None  # the rows, where they are too many to hold; then there are none in the arrays
    ordered: tuple[str, ...]  # variables with states whose order counts, at least five of them
    types: Mapping[str, ColumnType]  # of every column that was read, also of those left out
    decisions: tuple[str, ...]  # how the columns and missing cells were understood, and what changes it; also in notes
    notes: tuple[str, ...]
    keep_constant: bool
    reading: Mapping[str, Any]  # what was said when it was made, as far as JSON can hold it

    @brief
    def __init__(
        self,
        source: Any,
        *,
        names: Sequence[str] | None = None,
        discretize: Discretize = None,
        missing: str = "auto",
        weights: str | ArrayLike | None = None,
        states: Mapping[str, Collection[Any]] | None = None,
        keep_constant: bool = False,
        types: Mapping[str, str] | None = None,
        leave_out: Collection[str] = (),
        interventions: Interventions = None,
        columns: Collection[str] | None = None,
    ) -> None:
        options = Options(discretize, missing, weights, states, keep_constant, types, leave_out, interventions, columns)
        self._set(*table_from(source, names, options)._parts())

    @classmethod
    def from_codes(
        cls,
        names: Sequence[str],
        codes: ArrayLike,
        *,
        weights: ArrayLike | None = None,
        states: Sequence[Sequence[Any]] | None = None,
        keep_constant: bool = False,
        numbers: ArrayLike = (),
    ) -> Table:
        """A table of integers, a row of ``codes`` for each variable.

        With ``states``, codes are places in them, -1 for a missing cell; without, the integers that occur are the
        states. A variable whose
        list of states is empty is continuous: a row of ``numbers`` for each such variable has what it holds.
        """
        columns = array_columns(as_array(codes).T, names)
        if not all(isinstance(value, int) for column in columns for value in column.values):
            raise TableError("codes must be integers, one row of them for each variable")
        if states is not None:
            if len(states) != len(columns):
                raise TableError(f"{len(states)} lists of states for {plural(len(columns), 'variable')}")
            held = iter(array_columns(as_array(numbers).T, None) if any(len(of) == 0 for of in states) else [])
            columns = [
                with_states(column, tuple(of)) if len(of) else replace(next(held), name=column.name)
                for column, of in zip(columns, states, strict=True)
            ]
        pairs = zip(names, states or [], strict=True) if states is not None else ()
        types = {str(name): "continuous" for name, of in pairs if not len(of)}
        missing = "keep" if any((column.codes < 0).any() for column in columns) else "error"
        options = Options(None, missing, weights, None, keep_constant, types, codes_are_states=True)
        return table_of_columns(columns, options, place_in_frame)

    @classmethod
    def _made(cls, *parts: Any) -> Table:
        table = object.__new__(cls)
        table._set(*parts)
        return table

    def _set(self, *parts: Any) -> None:
        for spec, part in zip(fields(self), parts, strict=True):
            if isinstance(part, np.ndarray):
                part.setflags(write=False)
            object.__setattr__(self, spec.name, part)

    def _parts(self) -> tuple[Any, ...]:
        return tuple(getattr(self, spec.name) for spec in fields(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return Table._made, self._parts()

    @property
    def codes(self) -> NDArray[np.uint16]:
        self._require_rows()
        return self._codes

    @property
    def numbers(self) -> NDArray[np.float64]:
        self._require_rows()
        return self._numbers

    @property
    def weights(self) -> NDArray[np.uint32]:
        self._require_rows()
        return self._weights

    def _require_rows(self) -> None:
        if self.chunks is not None:
            raise self.chunks.needed("This needs the rows of the table one by one, and")

    @property
    def n_variables(self) -> int:
        return len(self.names)

    @property
    def n_rows(self) -> int:
        return int(self._weights.sum(dtype=np.int64)) if self.chunks is None else self.chunks.n_rows

    @property
    def n_distinct(self) -> int:
        """How many different rows there are; where they are read chunk by chunk, how many there may be."""
        return len(self._weights) if self.chunks is None else self.chunks.n_rows

    @property
    def arities(self) -> NDArray[np.int64]:
        """How many states each variable has; none if it is continuous."""
        return np.array([len(states) for states in self.states], dtype=np.int64)

    @property
    def constant(self) -> tuple[str, ...]:
        """The variables with a single state."""
        return tuple(name for name, states in zip(self.names, self.states, strict=True) if len(states) == 1)

    @property
    def continuous(self) -> tuple[str, ...]:
        """The variables that are numbers, in the order of ``numbers``."""
        return tuple(name for name, states in zip(self.names, self.states, strict=True) if not states)

    def is_number(self, v: int) -> bool:
        """Return whether scores of numbers take a column for one: it is continuous, or its states have an order."""
        return not self.states[v] or self.names[v] in self.ordered

    @property
    def is_missing(self) -> NDArray[np.bool_]:
        """Which cells are missing, as ``codes``."""
        arities = self.arities[:, None]
        return np.asarray((self.codes == arities) & (arities > 0))

    @property
    def missing(self) -> dict[str, int]:
        """The variables with missing cells, and in how many rows."""
        if not self.incomplete:
            return {}
        counts = self.is_missing @ self.weights.astype(np.int64)
        return {name: n for name, n in zip(self.names, counts.tolist(), strict=True) if n}

    @property
    def incomplete(self) -> bool:
        """Whether any cell is missing."""
        if self.chunks is not None:
            return False
        return bool((self.codes.max(axis=1, initial=0) == self.arities)[self.arities > 0].any())

    def require_complete(self, asked_by: str) -> None:
        """Raises ScoreError where cells are missing, for what cannot do without them."""
        if self.incomplete:
            raise ScoreError(incomplete_refused(asked_by, self.missing))

    @property
    def was_set(self) -> dict[str, int]:
        """The variables that were set by experiment, and in how many rows."""
        counts = {
            name: sum(w for mask, w in zip(self.targets, self.weights.tolist(), strict=True) if mask >> v & 1)
            for v, name in enumerate(self.names)
            if self.targets
        }
        return {name: n for name, n in counts.items() if n}

    @property
    def experiments(self) -> tuple[tuple[str, ...], ...]:
        """The sets of variables that were set together in some row."""
        masks = sorted(set(self.targets) - {0})
        return tuple(tuple(name for v, name in enumerate(self.names) if mask >> v & 1) for mask in masks)

    def require_no_experiments(self, asked_by: str) -> None:
        """Raises ScoreError where variables were set, for what would take all rows alike."""
        if self.targets:
            raise ScoreError(
                f"{asked_by} would take rows of experiments like all others, which would be wrong. Give it a table of "
                "the rows in which nothing was set."
            )

    def rows_telling_of(self, x: int) -> Table:
        """The rows that tell of the causes of a variable: those in which it was not set."""
        found = self._chosen([not mask >> x & 1 for mask in self.targets]) if self.targets else self
        if not found.n_distinct:
            raise ScoreError(f"{self.names[x]!r} was set in every row, so that nothing tells of its causes.")
        return found

    def rows_setting_only(self, x: int) -> Table:
        """The rows in which nothing but x was set, if that: they tell what follows from it."""
        return self._chosen([not mask & ~(1 << x) for mask in self.targets]) if self.targets else self

    def _chosen(self, rows: Sequence[bool]) -> Table:
        """A table of some of the rows, in which nothing counts as set."""
        kept = np.array(rows, dtype=bool)
        chosen = with_rows(self, kept, self.weights[kept])
        object.__setattr__(chosen, "targets", ())
        return chosen

    def of_columns(self, columns: Sequence[int]) -> Table:
        """The table of these columns alone. Equal rows may stand apart, where rows are held."""
        if self.chunks is None:
            codes, weights = np.ascontiguousarray(self._codes[list(columns)]), self._weights
        else:
            codes, weights = self.chunks.counts_of(columns)
        names, states = (tuple(of[v] for v in columns) for of in (self.names, self.states))
        held = {name: numbers for name, numbers in zip(self.continuous, self._numbers, strict=True) if name in names}
        numbers = np.array([held[name] for name in names if name in held]).reshape(len(held), len(weights))
        ordered = tuple(name for name in names if name in self.ordered)
        rest = (None, ordered, self.types, (), (), self.keep_constant, self.reading)
        return Table._made(names, states, codes, numbers, weights, (), *rest)

    def index(self, name: str) -> int:
        """The position of a variable."""
        if name not in self.names:
            raise UnknownVariableError(f"no variable {name!r}; {closest(name, self.names)}")
        return self.names.index(name)

    def require_states(self, asked_by: str, or_else: str = "") -> None:
        """Raises ScoreError where a column is continuous; ``or_else``: what to do with numbers that stay numbers."""
        if not self.continuous:
            return
        hints = [f"cut such columns with {option('discretize')} when making the table"]
        if or_else:
            hints.append(or_else)
        raise ScoreError(
            f"{asked_by} needs states, but {listing(self.continuous)} "
            f"{'is' if len(self.continuous) == 1 else 'are'} continuous: {', or '.join(hints)}."
        )

    def rows(self) -> Iterator[tuple[tuple[Any, ...], int]]:
        """Every distinct row, as states and numbers, with its weight; None for a missing cell."""
        numbers = iter(self.numbers.tolist())
        columns = [
            [*map((*of, None).__getitem__, codes)] if of else next(numbers)
            for of, codes in zip(self.states, self.codes, strict=True)
        ]
        return zip(zip(*columns, strict=True), self.weights.tolist(), strict=True)

    def to_frame(self) -> Any:
        """All rows as a pandas or Polars frame, equal ones beside each other; cut columns hold their states."""
        from topdag._util.to_frame import frame_of

        rows = [row for row, weight in self.rows() for _ in range(weight)]
        columns = zip(*rows, strict=True)
        return frame_of({name: list(cells) for name, cells in zip(self.names, columns, strict=True)})

    def __eq__(self, other: object) -> bool:
        """The same variables, states and rows; notes may differ. Rows that are read chunk by chunk are not compared:
        such a table equals itself alone."""
        if not isinstance(other, Table):
            return NotImplemented
        return (
            self.names == other.names
            and self.states == other.states
            and self.keep_constant == other.keep_constant
            and np.array_equal(self._codes, other._codes)
            and np.array_equal(self._numbers, other._numbers)
            and np.array_equal(self._weights, other._weights)
            and self.targets == other.targets
            and self.chunks is other.chunks
        )

    def __hash__(self) -> int:
        return hash((self.names, self.states, self._weights.tobytes(), self.chunks))

    def __repr__(self) -> str:
        notes = f", {plural(len(self.notes), 'note')}" if self.notes else ""
        return f"<Table: {self.n_variables} variables, {self.rows_in_words}, {self._kinds_of_columns()}{notes}>"

    @property
    def rows_in_words(self) -> str:
        how = f"{self.n_distinct:,} distinct" if self.chunks is None else "read chunk by chunk"
        return f"{plural(self.n_rows, 'row')} ({how})"

    @property
    def summary(self) -> str:
        """How many rows and variables of each kind there are, in words."""
        n_numbers = sum(map(self.is_number, range(self.n_variables)))
        n_categories = self.n_variables - n_numbers
        numbers = [plural(n_numbers, "number")] if n_numbers else []
        categories = [f"{n_categories:,} categor{'y' if n_categories == 1 else 'ies'}"] if n_categories else []
        return (
            f"{plural(self.n_rows, 'row')}, {plural(self.n_variables, 'variable')}: {', '.join(numbers + categories)}"
        )

    def _repr_html_(self) -> str:
        """For notebooks: a row for each variable."""
        from topdag._util.html import html_table, more

        shown = list(zip(self.names, self.states, strict=True))[:MOST_VARIABLES_SHOWN]
        rows = [(name, len(of) or "numbers", listing(of, 5) if of else self._range_of(name)) for name, of in shown]
        notes = [*more(self.n_variables - len(rows)), *self.notes]
        return html_table(("variable", "states", ""), rows, repr(self).strip("<>"), notes)

    def _range_of(self, name: str) -> str:
        numbers = self.numbers[self.continuous.index(name)]
        return f"{numbers.min():g} to {numbers.max():g}"

    def _kinds_of_columns(self) -> str:
        arities, n_continuous = self.arities[self.arities > 0], len(self.continuous)
        if not len(arities):
            return "all continuous"
        fewest, most = arities.min(), arities.max()
        states = f"{fewest} states each" if fewest == most else f"{fewest} to {most} states"
        return f"{n_continuous} continuous, the others {states}" if n_continuous else states


def table_from(source: Any, names: Sequence[str] | None, options: Options) -> Table:
    """The table of any source that is not a file."""
    if isinstance(source, Table):
        return same_table(source, names, options)
    if isinstance(source, str | bytes | PathLike):
        raise TableError("Table() takes what is in memory; read_table() reads files")
    if names is not None and (is_frame(source) or isinstance(source, Mapping)):
        raise TableError("names= is for arrays and lists of rows; this source has names of its own")
    if not is_frame(source):
        return table_of_columns(columns_of(source, names, options.used), options, place_in_frame)
    return table_of_frame(source, options)


def table_of_frame(source: Any, options: Options) -> Table:
    from topdag.data.frames import parts_of_frame  # narwhals takes its time to load

    return table_of_columns(*parts_of_frame(source, options))


def is_frame(source: Any) -> bool:
    """Told by the class, so that nothing is imported or computed for it."""
    return hasattr(type(source), "columns") and not isinstance(source, Mapping)


def same_table(table: Table, names: Sequence[str] | None, options: Options) -> Table:
    given = (names, options.discretize, options.weights, options.states, options.types, options.interventions)
    if any(option is not None for option in given) or options.missing != "auto" or not options.used.are_all:
        raise TableError(f"a Table is coded already: of the options only {option('keep_constant')} can be given again")
    *parts, keep_constant, reading = table._parts()
    is_kept = keep_constant or options.keep_constant
    return Table._made(*parts, is_kept, {**reading, "keep_constant": True} if is_kept else reading)


def with_rows(table: Table, kept: NDArray[np.bool_], weights: NDArray[np.uint32]) -> Table:
    """The same variables and states with some of the distinct rows, which occur so often."""
    names, states, codes, numbers, _, targets, *rest = table._parts()
    rows = (np.ascontiguousarray(values[:, kept]) for values in (codes, numbers))
    return Table._made(names, states, *rows, weights, tuple(compress(targets, kept)), *rest)


def table_of_columns(
    columns: Sequence[Column],
    options: Options,
    place: Place,
    notes: Sequence[str] = (),
    chunks: ChunkedRows | None = None,
) -> Table:
    """The table that columns of equal length make, or that of rows that are read chunk by chunk."""
    if chunks is None:
        return Table._made(*build(columns, options, place, notes))
    no_rows = np.zeros((len(chunks.names), 0), np.uint16), np.zeros((0, 0)), np.zeros(0, np.uint32)
    about: tuple[Any, ...] = (chunks, (), dict(chunks.types), (), notes, options.keep_constant, options.said())
    return Table._made(chunks.names, chunks.states, *no_rows, (), *about)
