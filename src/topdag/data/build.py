"""From columns to a table: weights, declared states, missing values, cuts, and the merging of equal rows."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import chain, compress, count
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topdag._util.bitsets import MOST_VARIABLES
from topdag._util.messages import Place, check_known, listing, plural
from topdag._util.options import option
from topdag.data.columns import (
    MISSING,
    MOST_STATES,
    Codes,
    Column,
    Interventions,
    Used,
    as_array,
    column_of_array,
    declare,
    observed_codes,
)
from topdag.data.continuous import (
    Continuous,
    check_continuous,
    continuous_columns,
    continuous_names,
    note_on_continuous,
)
from topdag.data.delimited import TextFormat
from topdag.data.discretize import (
    OTHERS,
    Discretize,
    cut_columns,
    rule_in_words,
    rules_apart,
    rules_by_column,
    stay_numbers,
    whole_as_integers,
)
from topdag.data.notes import (
    States,
    note_on_capitals,
    note_on_constant,
    notes_on_interventions,
    notes_on_many_states,
    notes_on_twins,
)
from topdag.data.troubles import (
    advice_on_gaps,
    check_usable,
    counting_rows,
    note_on_dropped,
    note_on_kept,
    note_on_states_lost,
)
from topdag.errors import TableError

MOST_ROWS = 2**32 - 1

# The fields of a table, in their order.
Numbers: TypeAlias = NDArray[np.float64]
Parts: TypeAlias = tuple[
    tuple[str, ...],
    States,
    NDArray[np.uint16],
    Numbers,
    NDArray[np.uint32],
    tuple[int, ...],
    None,
    tuple[str, ...],
    bool,
    dict[str, Any],
]


@dataclass(frozen=True, slots=True)
class Options:
    """What the user asked for when making a table; see `Table`."""

    discretize: Discretize = None
    missing: str = "error"
    weights: str | ArrayLike | None = None
    states: Mapping[str, Collection[Any]] | None = None
    keep_constant: bool = False
    continuous: Continuous = None
    leave_out: Collection[str] = ()
    interventions: Interventions = None
    columns: Collection[str] | None = None
    or_else: str = field(default_factory=stay_numbers)
    """What can be done with floats instead of cutting them."""
    text: TextFormat | None = None
    """Of a file."""
    memory_limit: int | None = None
    """Rows that need more are read chunk by chunk, where an engine can; None: what is free."""
    first: Options | None = None
    """What was said, where an engine did a part of it."""

    def __post_init__(self) -> None:
        check_continuous(self.continuous)
        for name, given in (("leave_out", self.leave_out), ("columns", self.columns)):
            if isinstance(given, str) or not isinstance(given, Collection | None):
                raise TableError(f"{option(name)} lists names of columns, such as ['id'], not {given!r}")
        if self.missing not in ("error", "drop", "state", "keep"):
            raise TableError(f'{option("missing")} is "error", "drop", "state" or "keep", not {self.missing!r}')
        if not isinstance(self.states, Mapping | None):
            raise TableError("states= is a dict from column names to lists of states")
        for name, states in (self.states or {}).items():
            if isinstance(states, str) or not isinstance(states, Collection):
                raise TableError(f"states= for column {name!r} is not a list: {states!r}")

    @property
    def used(self) -> Used:
        """Which columns are looked at; some say how often a row counts, or what was set in it."""
        about_rows = [given for given in (self.weights, self.interventions) if isinstance(given, str)]
        return Used(self.leave_out, self.columns, about_rows)

    @property
    def needs_every_row(self) -> bool:
        """Whether rows have to come one by one, in their order: numbers hardly ever make equal rows, and what was set
        is said row by row."""
        return self.continuous is not None or self.interventions is not None

    def said(self) -> dict[str, Any]:
        """What differs from what is done without a word, for JSON; weights in an array cannot be told again."""
        if self.first is not None:
            return self.first.said()
        unsaid = Options(text=TextFormat()).told()
        return {name: value for name, value in self.told().items() if value != unsaid[name]}

    def told(self) -> dict[str, Any]:
        for_all, rules = rules_apart(self.discretize)
        rules |= {} if for_all is None else {OTHERS: for_all}
        of_text = {} if self.text is None else {spec.name: getattr(self.text, spec.name) for spec in fields(self.text)}
        return {
            "discretize": {name: None if rule is None else rule_in_words(rule) for name, rule in rules.items()},
            "missing": self.missing,
            "weights": self.weights if isinstance(self.weights, str) else None,
            "states": {name: list(of) for name, of in (self.states or {}).items()},
            "keep_constant": self.keep_constant,
            "continuous": self.continuous if isinstance(self.continuous, str | None) else list(self.continuous),
            "leave_out": list(self.leave_out),
            "columns": None if self.columns is None else list(self.columns),
            "interventions": self.interventions if isinstance(self.interventions, str) else None,
            **of_text,
            **({"missing_values": sorted(of_text["missing_values"])} if of_text else {}),
        }


@dataclass(frozen=True, slots=True)
class Draft:
    """A table in the making: the rows still in it, and what was done so far."""

    columns: Sequence[Column]
    weights: Codes
    place: Place
    notes: tuple[str, ...] = ()
    was_set: Column | None = None
    """What was set in each row."""

    def keep(self, rows: NDArray[np.bool_], why: str, advice: str = "") -> Draft:
        """Without the other rows, and without the values that only they had."""
        kept = np.flatnonzero(rows)
        if len(kept) == len(rows):
            return self
        notes = note_on_dropped(len(rows) - len(kept), len(rows), why, advice)
        columns = [observed(replace(column, codes=column.codes[kept])) for column in self.columns]
        pairs = zip(self.columns, columns, strict=True)
        always = {left.name: left.values[0] for had, left in pairs if len(left.values) == 1 < len(had.values)}
        notes += note_on_states_lost(always, len(rows))
        was_set = None if self.was_set is None else replace(self.was_set, codes=self.was_set.codes[kept])
        place = lambda row: self.place(int(kept[row]))  # noqa: E731
        return Draft(columns, self.weights[kept], place, self.notes + notes, was_set)


def build(columns: Sequence[Column], options: Options, place: Place, notes: Sequence[str]) -> Parts:
    """The parts of the table that columns of equal length make."""
    columns, weights = weights_apart(columns, options.weights, place)
    was_set: Column | None = None
    if options.interventions is not None:
        from topdag.data.interventions import interventions_apart  # few tables have any

        columns, was_set = interventions_apart(columns, options.interventions)
    check_names([column.name for column in columns])
    if not len(weights):
        raise TableError("the table has no rows")
    draft = Draft(columns, weights, place, tuple(notes), was_set).keep(weights > 0, "weight 0")
    draft = with_declared_states(draft, options.states or {})
    require_usable(draft, options)
    draft = without_gaps(draft, options.missing)
    numbers = continuous_columns(draft.columns, options.continuous, options.discretize, draft.place)
    states = [column for column in draft.columns if column.name not in numbers]
    cut, cut_notes = cut_columns(states, draft.weights, options.discretize, draft.place, set(numbers))
    made = numbers | {column.name: column for column in cut}
    notes = (*draft.notes, *cut_notes, *note_on_continuous(list(numbers)))
    columns = [made[column.name] for column in draft.columns]
    return finished(replace(draft, columns=columns, notes=notes), set(numbers), options)


def require_usable(draft: Draft, options: Options) -> None:
    """An error if cells are missing and nothing is said about that, or columns hold floats that are to have states."""
    numbers = continuous_names(draft.columns, options.continuous, options.discretize)
    states = whole_as_integers([column for column in draft.columns if column.name not in numbers], draft.place)
    rules = rules_by_column(options.discretize, states, numbers)
    floats = [column.name for column in states if column.is_float and column.name not in rules]
    gaps = gaps_of(draft) if options.missing == "error" else {}
    check_usable(draft.columns, gaps, floats, options.or_else, draft.place)


def check_names(names: Sequence[str]) -> None:
    if len(names) < 2:
        raise TableError(f"a table needs two or more variables; this one has {listing(names) or 'none'}")
    if len(names) > MOST_VARIABLES:
        raise TableError(
            f"{len(names):,} variables are too many: at most {MOST_VARIABLES:,} can be used; leave out some columns"
        )
    for position, name in enumerate(names):
        if not name.strip():
            row_numbers = ": row numbers tell rows apart and nothing else" if not position else ""
            advice = f"name it, or leave it out with {option('leave_out', [''])}{row_numbers}"
            raise TableError(f"column {position} (counted from 0) has no name; {advice}")
        if name in names[:position]:
            raise TableError(
                f"columns {names.index(name)} and {position} (counted from 0) are both called {name!r}; rename one"
            )


def weights_apart(
    columns: Sequence[Column], weights: str | ArrayLike | None, place: Place
) -> tuple[Sequence[Column], Codes]:
    """The columns that are variables, and the weight of every row."""
    n_rows = len(columns[0].codes) if columns else 0
    if weights is None:
        return columns, np.ones(n_rows, np.int64)
    if isinstance(weights, str):
        check_known(weights, [column.name for column in columns], option("weights"))
        found = next(column for column in columns if column.name == weights)
        return [column for column in columns if column is not found], whole_weights(found, place)
    return columns, whole_weights(weights_column(weights, n_rows), place)


def weights_column(weights: ArrayLike, n_rows: int) -> Column:
    array = as_array(weights)
    if array.shape != (n_rows,):
        raise TableError(f"{option('weights')} has shape {array.shape}, but there are {plural(n_rows, 'row')}")
    return column_of_array("weights", array)


def whole_weights(column: Column, place: Place) -> Codes:
    numbers = np.array([*map(as_number, column.values), np.nan])
    is_whole = (numbers >= 0) & (np.floor(numbers) == numbers) & np.isfinite(numbers)
    wrong = np.flatnonzero(~is_whole[column.codes])
    if len(wrong):
        value = [*column.values, "missing"][column.codes[wrong[0]]]
        raise TableError(f"the weight in {place(int(wrong[0]))} is {value}; weights are whole numbers from 0 on")
    require_rows_countable(numbers[column.codes].sum())
    return numbers[column.codes].astype(np.int64)


def require_rows_countable(total: float) -> None:
    if total > MOST_ROWS:
        raise TableError(f"the weights add up to {total:,.12g}; at most {MOST_ROWS:,} rows can be counted")


def as_number(value: Any) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and abs(value) < 1e18 else np.nan


def with_declared_states(draft: Draft, states: Mapping[str, Collection[Any]]) -> Draft:
    names = [column.name for column in draft.columns]
    for name in states:
        check_known(name, names, "states=")
    declared = {
        column.name: declare(column, states[column.name], draft.place)
        for column in draft.columns
        if column.name in states
    }
    return replace(draft, columns=[declared.get(column.name, column) for column in draft.columns])


def gaps_of(draft: Draft) -> dict[str, NDArray[np.bool_]]:
    """The columns with missing cells, and the rows in which these are."""
    return {column.name: column.codes < 0 for column in draft.columns if (column.codes < 0).any()}


def without_gaps(draft: Draft, missing: str) -> Draft:
    """Without the rows in which a cell is missing, unless missing is to be a state or such cells are kept."""
    gaps = gaps_of(draft)
    if not gaps:
        return draft
    if missing == "state":
        note = f"Missing values are a state of their own in {listing(list(gaps))}."
        return replace(draft, notes=(*draft.notes, note))
    if missing == "keep":
        counts = {name: int(draft.weights[rows].sum()) for name, rows in gaps.items()}
        return replace(draft, notes=(*draft.notes, note_on_kept(counts, len(draft.columns), int(draft.weights.sum()))))
    counts = {name: int(rows.sum()) for name, rows in gaps.items()}
    advice = advice_on_gaps(counts, len(draft.columns), len(draft.weights), counting_rows(gaps))
    return draft.keep(~np.any(list(gaps.values()), axis=0), "missing values", advice)


def observed(column: Column) -> Column:
    """The column without values that no row has, unless they are declared."""
    if column.declared:
        return column
    occurs = observed_codes(column.codes, len(column.values))
    if occurs.all():
        return column
    values = column.values
    values = values[occurs] if isinstance(values, np.ndarray) else tuple(compress(values, occurs))
    return Column(column.name, values, np.append(np.cumsum(occurs) - 1, MISSING)[column.codes])


def with_missing_state(column: Column) -> Column:
    if column.codes.min() >= 0:
        return column
    column = observed(column)
    labels = chain(["missing"], (f"missing_{i}" for i in count(1)))
    label = next(label for label in labels if label not in column.values)
    codes = np.where(column.codes < 0, len(column.values), column.codes)
    return Column(column.name, (*column.values, label), codes, column.declared)


def with_code_for_missing(column: Column) -> Column:
    """A missing cell has the code after the last state."""
    if not len(column.values):
        raise TableError(
            f"column {column.name!r} has no value in any row; leave it out with {option('leave_out', [column.name])}, "
            "or declare its states"
        )
    return replace(column, codes=np.where(column.codes < 0, len(column.values), column.codes))


def finished(draft: Draft, continuous: Collection[str], options: Options) -> Parts:
    coded = with_code_for_missing if options.missing == "keep" else with_missing_state
    columns = [column if column.name in continuous else limited(coded(column)) for column in draft.columns]
    names = tuple(column.name for column in columns)
    was_set = draft.was_set
    apart = [] if was_set is None else [(was_set.codes + 1, len(was_set.values) + 1)]
    keeps_gaps = options.missing == "keep"  # a code more; without it more columns fit into one number
    coded_rows = [(column.codes, len(column.values) + keeps_gaps) for column in columns]
    first, weights = distinct_rows([*coded_rows, *apart], draft.weights)
    states = tuple(() if column.name in continuous else tuple(column.values) for column in columns)
    codes = np.zeros((len(columns), len(first)), np.uint16)
    for row, column, of in zip(codes, columns, states, strict=True):
        if of:
            row[:] = column.codes[first]
    numbers = [column.values[column.codes[first]] for column in columns if column.name in continuous]
    notes = (*draft.notes, *note_on_constant([name for name, of in zip(names, states, strict=True) if len(of) == 1]))
    notes += tuple(chain.from_iterable(map(note_on_capitals, names, states)))
    notes += notes_on_many_states(columns, states, int(draft.weights.sum()))
    notes += notes_on_twins(names, codes, states, int(draft.weights.sum()))
    held = np.array(numbers, np.float64).reshape(len(numbers), len(first))
    targets: tuple[int, ...] = ()
    if was_set is not None:
        from topdag.data.interventions import masks_set

        masks = masks_set(was_set, names, options.used, draft.place)
        targets = tuple(masks[code] for code in was_set.codes[first])
        notes += notes_on_interventions(names, targets, weights)
    if not any(targets):
        targets = ()
    return names, states, codes, held, weights, targets, None, notes, options.keep_constant, options.said()


def limited(column: Column) -> Column:
    """The column, if it has not too many states."""
    if len(column.values) > MOST_STATES:
        many = f"{len(column.values):,} states, more than {MOST_STATES:,}"
        raise TableError(f"column {column.name!r} has {many}; leave it out if it only tells rows apart")
    return column


def distinct_rows(columns: Sequence[tuple[Codes, int]], weights: Codes) -> tuple[Codes, NDArray[np.uint32]]:
    """Where each distinct row occurs first, rows in increasing order, and the sum of the weights of each."""
    rank, n_ranks = np.zeros(len(weights), np.int64), 1
    for codes, arity in columns:
        if n_ranks * arity >= 2**62:
            rank = np.unique(rank, return_inverse=True)[1]
            n_ranks = int(rank.max()) + 1
        rank, n_ranks = rank * arity + codes, n_ranks * arity
    order = np.argsort(rank, kind="stable")
    rank = rank[order]
    begins = np.flatnonzero(np.concatenate([[True], rank[1:] != rank[:-1]])) if len(rank) else order
    return order[begins], np.add.reduceat(weights[order], begins).astype(np.uint32)
