"""Tables of discrete variables: columns of any source coded as small integers, equal rows merged.

Every source becomes a list of `Column`; `build` turns columns into a `Table`: weights, declared states,
missing values, cuts of float columns, and at last the merging of equal rows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import chain, count
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .discretize import (
    MISSING,
    MOST_STATES,
    Discretize,
    Place,
    check_known,
    closest,
    codes_of_states,
    cut_columns,
    declare,
    listing,
    plural,
)
from .errors import TableError

MOST_VARIABLES = 128
MOST_ROWS = 2**32 - 1

Codes: TypeAlias = NDArray[np.int64]


class UnknownVariableError(TableError, KeyError):
    """A name that is not in the table; the message lists close ones."""

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True, slots=True)
class Options:
    """What the user asked for when making a table; see `Table`."""

    discretize: Discretize = None
    missing: str = "error"
    weights: str | ArrayLike | None = None
    states: Mapping[str, Collection[Any]] | None = None
    keep_constant: bool = False

    def __post_init__(self) -> None:
        if self.missing not in ("error", "drop", "state"):
            raise TableError(f'missing= is "error", "drop" or "state", not {self.missing!r}')
        if not isinstance(self.states, Mapping | None):
            raise TableError("states= is a dict from column names to lists of states")
        for name, states in (self.states or {}).items():
            if isinstance(states, str) or not isinstance(states, Collection):
                raise TableError(f"states= for column {name!r} is not a list: {states!r}")


@dataclass(frozen=True, slots=True)
class Column:
    """The distinct values of a column, and for every row which of them it holds (MISSING for none).

    Values increase unless `declared`: then their order is the user's, and those without rows count too.
    Floats are an array, states a tuple.
    """

    name: str
    values: tuple[Any, ...] | NDArray[np.float64]
    codes: Codes
    declared: bool = False

    @property
    def is_float(self) -> bool:
        return isinstance(self.values, np.ndarray)


@dataclass(frozen=True, slots=True, init=False, eq=False, repr=False)
class Table:
    """Distinct rows of discrete variables with how often each occurs. Nothing in it can be changed.

    ``source`` is a frame of any library that narwhals knows (lazy ones are grouped by their own engine), a
    two-dimensional array (``names`` or V0, V1, ...), a dict of columns, or a list of rows. Columns hold
    strings, integers, booleans or categories; floats are cut as ``discretize`` says: one rule for all of
    them or a dict from column to rule. ``missing`` is "error", "drop" (the rows) or "state" (one of its own).
    ``weights`` are whole numbers, one for each row, or the name of the column that holds them.
    ``states`` declares the states of columns, those without rows too.

    >>> table = Table({"rain": ["no", "yes", "no"], "wet": [0, 1, 0]})
    >>> list(table.rows())
    [(('no', 0), 2), (('yes', 1), 1)]
    """

    names: tuple[str, ...]
    states: tuple[tuple[Any, ...], ...]
    codes: NDArray[np.uint16]  # (variables, distinct rows); rows increase, the first variable counting most
    weights: NDArray[np.uint32]
    notes: tuple[str, ...]
    keep_constant: bool

    def __init__(
        self,
        source: Any,
        *,
        names: Sequence[str] | None = None,
        discretize: Discretize = None,
        missing: str = "error",
        weights: str | ArrayLike | None = None,
        states: Mapping[str, Collection[Any]] | None = None,
        keep_constant: bool = False,
    ) -> None:
        from .frames import table_from

        options = Options(discretize, missing, weights, states, keep_constant)
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
    ) -> Table:
        """A table of integers, a row of ``codes`` for each variable.

        With ``states``, codes are places in them; without, the integers that occur are the states.
        """
        from .frames import array_columns, as_array

        columns = array_columns(as_array(codes).T, names)
        if not all(isinstance(value, int) for column in columns for value in column.values):
            raise TableError("codes must be integers, one row of them for each variable")
        if states is not None:
            if len(states) != len(columns):
                raise TableError(f"{len(states)} lists of states for {plural(len(columns), 'variable')}")
            columns = [with_states(column, tuple(of)) for column, of in zip(columns, states, strict=True)]
        return build(columns, Options(weights=weights, keep_constant=keep_constant), place_in_frame)

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
    def n_variables(self) -> int:
        return len(self.names)

    @property
    def n_rows(self) -> int:
        return int(self.weights.sum(dtype=np.int64))

    @property
    def n_distinct(self) -> int:
        return len(self.weights)

    @property
    def arities(self) -> NDArray[np.int64]:
        return np.array([len(states) for states in self.states], dtype=np.int64)

    @property
    def constant(self) -> tuple[str, ...]:
        """The variables with a single state."""
        return tuple(name for name, states in zip(self.names, self.states, strict=True) if len(states) == 1)

    def index(self, name: str) -> int:
        """The position of a variable."""
        if name not in self.names:
            raise UnknownVariableError(f"no variable {name!r}; {closest(name, self.names)}")
        return self.names.index(name)

    def rows(self) -> Iterator[tuple[tuple[Any, ...], int]]:
        """Every distinct row, as states, with its weight."""
        columns = [[of[code] for code in codes] for of, codes in zip(self.states, self.codes, strict=True)]
        return zip(zip(*columns, strict=True), self.weights.tolist(), strict=True)

    def __eq__(self, other: object) -> bool:
        """The same variables, states and rows; notes may differ."""
        if not isinstance(other, Table):
            return NotImplemented
        return (
            self.names == other.names
            and self.states == other.states
            and self.keep_constant == other.keep_constant
            and np.array_equal(self.codes, other.codes)
            and np.array_equal(self.weights, other.weights)
        )

    def __hash__(self) -> int:
        return hash((self.names, self.states, self.weights.tobytes()))

    def __repr__(self) -> str:
        fewest, most = self.arities.min(), self.arities.max()
        states = f"{fewest} states each" if fewest == most else f"{fewest} to {most} states"
        notes = f", {plural(len(self.notes), 'note')}" if self.notes else ""
        return (
            f"<Table: {self.n_variables} variables, {plural(self.n_rows, 'row')} "
            f"({self.n_distinct:,} distinct), {states}{notes}>"
        )


@dataclass(frozen=True, slots=True)
class Draft:
    """A table in the making: the rows still in it, and what was done so far."""

    columns: Sequence[Column]
    weights: Codes
    place: Place
    notes: tuple[str, ...] = ()

    def keep(self, rows: NDArray[np.bool_], why: str) -> Draft:
        """Without the other rows, and without the values that only they had."""
        kept = np.flatnonzero(rows)
        if len(kept) == len(rows):
            return self
        notes = note_on_dropped(len(rows) - len(kept), len(rows), why)
        columns = [observed(replace(column, codes=column.codes[kept])) for column in self.columns]
        return Draft(columns, self.weights[kept], lambda row: self.place(int(kept[row])), self.notes + notes)


def build(columns: Sequence[Column], options: Options, place: Place, notes: Sequence[str] = ()) -> Table:
    """The table that columns of equal length make."""
    columns, weights = weights_apart(columns, options.weights, place)
    check_names([column.name for column in columns])
    if not len(weights):
        raise TableError("the table has no rows")
    draft = Draft(columns, weights, place, tuple(notes)).keep(weights > 0, "weight 0")
    draft = with_declared_states(draft, options.states or {})
    draft = without_gaps(draft, options.missing)
    cut, cut_notes = cut_columns(draft.columns, draft.weights, options.discretize, draft.place)
    return finished(replace(draft, columns=cut, notes=(*draft.notes, *cut_notes)), options.keep_constant)


def note_on_dropped(dropped: int, n_rows: int, why: str) -> tuple[str, ...]:
    """A sentence if rows were dropped, an error if none is left."""
    if dropped == n_rows:
        raise TableError(f"no row is left: all {n_rows:,} were dropped because of {why}")
    verb = "was" if dropped == 1 else "were"
    return (f"{dropped:,} of {n_rows:,} rows {verb} dropped because of {why}.",) if dropped else ()


def place_in_frame(row: int) -> str:
    return f"row {row} (counted from 0)"


def check_names(names: Sequence[str]) -> None:
    if len(names) < 2:
        raise TableError(f"a table needs two or more variables; this one has {listing(names) or 'none'}")
    if len(names) > MOST_VARIABLES:
        raise TableError(f"{len(names):,} variables are too many: at most {MOST_VARIABLES} can be used")
    for position, name in enumerate(names):
        if not name.strip():
            raise TableError(f"column {position} (counted from 0) has no name")
        if name in names[:position]:
            raise TableError(f"columns {names.index(name)} and {position} (counted from 0) are both called {name!r}")


def weights_apart(
    columns: Sequence[Column], weights: str | ArrayLike | None, place: Place
) -> tuple[Sequence[Column], Codes]:
    """The columns that are variables, and the weight of every row."""
    n_rows = len(columns[0].codes) if columns else 0
    if weights is None:
        return columns, np.ones(n_rows, np.int64)
    if isinstance(weights, str):
        check_known(weights, [column.name for column in columns], "weights=")
        found = next(column for column in columns if column.name == weights)
        return [column for column in columns if column is not found], whole_weights(found, place)
    from .frames import weights_column

    return columns, whole_weights(weights_column(weights, n_rows), place)


def whole_weights(column: Column, place: Place) -> Codes:
    numbers = np.array([*map(as_number, column.values), np.nan])
    is_whole = (numbers >= 0) & (np.floor(numbers) == numbers) & np.isfinite(numbers)
    wrong = np.flatnonzero(~is_whole[column.codes])
    if len(wrong):
        value = [*column.values, "missing"][column.codes[wrong[0]]]
        raise TableError(
            f"the weight in {place(int(wrong[0]))} is {value}; weights are whole numbers, "
            "and rows with weight 0 are dropped"
        )
    if (total := numbers[column.codes].sum()) > MOST_ROWS:
        raise TableError(f"the weights add up to {total:,.0f}; at most {MOST_ROWS:,} rows can be counted")
    return numbers[column.codes].astype(np.int64)


def as_number(value: Any) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and abs(value) < 1e18 else np.nan


def with_declared_states(draft: Draft, states: Mapping[str, Collection[Any]]) -> Draft:
    names = [column.name for column in draft.columns]
    for name in states:
        check_known(name, names, "states=")
    return replace(
        draft,
        columns=[
            declare(column, states[column.name], draft.place) if column.name in states else column
            for column in draft.columns
        ],
    )


def with_states(column: Column, states: tuple[Any, ...]) -> Column:
    """The column with its integers taken as places in the states."""
    codes_of_states(column.name, states)
    return replace(declare(column, range(len(states)), place_in_frame), values=states)


def without_gaps(draft: Draft, missing: str) -> Draft:
    """Without the rows in which a cell is missing, unless missing is to be a state or an error."""
    gaps = {column.name: column.codes < 0 for column in draft.columns if (column.codes < 0).any()}
    if not gaps:
        return draft
    if missing == "drop":
        return draft.keep(~np.any(list(gaps.values()), axis=0), "missing values")
    if missing == "state":
        note = f"Missing values are a state of their own in {listing(list(gaps))}."
        return replace(draft, notes=(*draft.notes, note))
    found = [
        f"{name!r} ({plural(int(rows.sum()), 'row')}, the first is {draft.place(int(rows.argmax()))})"
        for name, rows in gaps.items()
    ]
    raise missing_error(found)


def missing_error(found: Sequence[str]) -> TableError:
    return TableError(
        f"missing values in {plural(len(found), 'column')}: {', '.join(found)}; "
        'missing="drop" leaves such rows out, missing="state" makes missing a state of its own'
    )


def observed(column: Column) -> Column:
    """The column without values that no row has, unless they are declared."""
    if column.declared:
        return column
    occurs = np.bincount(column.codes + 1, minlength=len(column.values) + 1)[1:] > 0
    if occurs.all():
        return column
    values = (
        column.values[occurs]
        if isinstance(column.values, np.ndarray)
        else tuple(value for value, has_rows in zip(column.values, occurs, strict=True) if has_rows)
    )
    return Column(column.name, values, np.append(np.cumsum(occurs) - 1, MISSING)[column.codes])


def with_missing_state(column: Column) -> Column:
    if column.codes.min() >= 0:
        return column
    column = observed(column)
    labels = chain(["missing"], (f"missing_{i}" for i in count(1)))
    label = next(label for label in labels if label not in column.values)
    codes = np.where(column.codes < 0, len(column.values), column.codes)
    return Column(column.name, (*column.values, label), codes, column.declared)


def finished(draft: Draft, keep_constant: bool) -> Table:
    columns = [with_missing_state(column) for column in draft.columns]
    for column in columns:
        if len(column.values) > MOST_STATES:
            raise TableError(
                f"column {column.name!r} has {len(column.values):,} states, more than "
                f"{MOST_STATES:,}; leave it out if it only tells rows apart"
            )
    states = tuple(tuple(column.values) for column in columns)
    columns_of_codes = [column.codes.astype(np.uint16) for column in columns]
    codes, weights = merge_equal_rows(columns_of_codes, [*map(len, states)], draft.weights)
    names = tuple(column.name for column in columns)
    constant = [name for name, of in zip(names, states, strict=True) if len(of) == 1]
    notes = (*draft.notes, *(f"Column {name!r} is constant: it has one state." for name in constant))
    return Table._made(names, states, codes, weights, notes, keep_constant)


def merge_equal_rows(
    columns: Sequence[NDArray[np.uint16]], arities: Sequence[int], weights: Codes
) -> tuple[NDArray[np.uint16], NDArray[np.uint32]]:
    """Distinct rows in increasing order, and the sum of the weights of each."""
    rank, n_ranks = np.zeros(len(weights), np.int64), 1
    for codes, arity in zip(columns, arities, strict=True):
        if n_ranks * arity >= 2**62:
            rank = np.unique(rank, return_inverse=True)[1]
            n_ranks = int(rank.max()) + 1
        rank, n_ranks = rank * arity + codes, n_ranks * arity
    _, first, group = np.unique(rank, return_index=True, return_inverse=True)
    merged = np.bincount(group, weights=weights).astype(np.uint32)
    return np.stack([codes[first] for codes in columns]), merged
