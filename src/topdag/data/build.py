"""From columns to a table: types, weights, missing cells, numbers, states, and the merging of equal rows."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import chain, count
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topdag._util.bitsets import MOST_VARIABLES
from topdag._util.messages import Place, check_known, listing, plural
from topdag._util.options import option
from topdag.data.columns import (
    MANY_ROWS,
    MISSING,
    MOST_STATES,
    Codes,
    Column,
    Interventions,
    Used,
    as_array,
    chosen,
    column_of_array,
    declare,
    holds_numbers,
    observed_codes,
)
from topdag.data.continuous import as_states, is_ordered, numbers_of, stays_number, without_missing_codes
from topdag.data.discretize import (
    OTHERS,
    Discretize,
    cut_columns,
    rule_in_words,
    rules_apart,
    rules_by_column,
    whole_as_integers,
)
from topdag.data.files.delimited import TextFormat
from topdag.data.gaps import (
    MISSING_WORDS,
    advice_on_gaps,
    choose,
    columns_to_leave_out,
    counting_rows,
    gaps_of,
    note_on_dropped,
    note_on_kept,
    note_on_left_out_for_gaps,
    note_on_state,
    note_on_states_lost,
    require_none,
    rows_with_gaps,
)
from topdag.data.guess.types import LEFT_OUT, ColumnType, check_types, column_types, described, type_by_column
from topdag.data.notes import (
    States,
    note_on_capitals,
    note_on_constant,
    note_on_left_out,
    note_on_margins,
    note_on_missing_codes,
    note_on_weight,
    notes_on_interventions,
    notes_on_many_states,
    notes_on_twins,
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
    dict[str, ColumnType],
    tuple[str, ...],
    tuple[str, ...],
    bool,
    dict[str, Any],
]


@dataclass(frozen=True, slots=True)
class Grouped:
    """What an engine did before it handed its distinct rows over: as the user ``said``, it ``cut`` columns."""

    said: Options
    cut: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Options:
    """What the user asked for when making a table; see `Table`."""

    discretize: Discretize = None
    missing: str = "auto"
    weights: str | ArrayLike | None = None
    states: Mapping[str, Collection[Any]] | None = None
    keep_constant: bool = False
    types: Mapping[str, str] | None = None
    leave_out: Collection[str] = ()
    interventions: Interventions = None
    columns: Collection[str] | None = None
    text: TextFormat | None = None
    """Of a file."""
    memory_limit: int | None = None
    """Rows that need more are read chunk by chunk, where an engine can; None: what is free."""
    grouped: Grouped | None = None
    """Where an engine did a part of it; weights are then those of distinct rows."""
    codes_are_states: bool = False
    """Whether nothing is guessed: every column has states unless ``types`` says otherwise."""
    mentioned: Collection[str] = ()
    """Columns that constraints name, which are variables."""
    fewest: int = 2
    """So few variables are an error."""

    def __post_init__(self) -> None:
        check_types(self.types)
        for name, given in (("leave_out", self.leave_out), ("columns", self.columns)):
            if isinstance(given, str) or not isinstance(given, Collection | None):
                raise TableError(f"{option(name)} lists names of columns, such as ['id'], not {given!r}")
        if self.missing not in MISSING_WORDS:
            ways = ", ".join(f'"{way}"' for way in MISSING_WORDS[:-1])
            raise TableError(f'{option("missing")} is {ways} or "{MISSING_WORDS[-1]}", not {self.missing!r}')
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
    def named(self) -> set[str]:
        """The columns that the user names as variables, which are not left out."""
        _, rules = rules_apart(self.discretize)
        return {*(self.columns or ()), *(self.states or ()), *rules, *self.cut, *self.mentioned}

    @property
    def cut(self) -> tuple[str, ...]:
        """The columns that an engine has cut."""
        return () if self.grouped is None else self.grouped.cut

    @property
    def needs_every_row(self) -> bool:
        """Whether rows have to come one by one, in their order: what was set is said row by row."""
        return self.types is not None or self.interventions is not None

    def said(self) -> dict[str, Any]:
        """What differs from what is done without a word, for JSON; weights in an array cannot be told again."""
        if self.grouped is not None:
            return self.grouped.said.said()
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
            "types": dict(self.types or {}),
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
    types: Mapping[str, ColumnType] = field(default_factory=dict)
    """Of every column that was read."""
    is_grouped: bool = False
    """Whether the weights say how many rows an engine has found equal, in whatever order."""

    @property
    def counts(self) -> Codes:
        """How many rows of the source each row stands for."""
        return self.weights if self.is_grouped else np.ones(len(self.weights), np.int64)

    def keep(self, rows: NDArray[np.bool_], why: str, advice: str = "") -> Draft:
        """Without the other rows, and without the values that only they had."""
        kept = np.flatnonzero(rows)
        if len(kept) == len(rows):
            return self
        n_rows, n_dropped = int(self.counts.sum()), int(self.counts[~rows].sum())
        notes = note_on_dropped(n_dropped, n_rows, why, advice)
        columns = [observed(replace(column, codes=column.codes[kept])) for column in self.columns]
        pairs = zip(self.columns, columns, strict=True)
        always = {left.name: left.values[0] for had, left in pairs if len(left.values) == 1 < len(had.values)}
        notes += note_on_states_lost(always, n_rows)
        was_set = None if self.was_set is None else replace(self.was_set, codes=self.was_set.codes[kept])
        place = lambda row: self.place(int(kept[row]))  # noqa: E731
        return replace(
            self, columns=columns, weights=self.weights[kept], place=place, notes=self.notes + notes, was_set=was_set
        )


def build(columns: Sequence[Column], options: Options, place: Place, notes: Sequence[str]) -> Parts:
    """Return the parts of the table that columns of equal length make."""
    columns, weights = weights_apart(columns, options.weights, place)
    was_set: Column | None = None
    if options.interventions is not None:
        from topdag.data.interventions import interventions_apart  # few tables have any

        columns, was_set = interventions_apart(columns, options.interventions)
    if not columns:
        check_names([], options.fewest)
    if not len(weights):
        raise TableError("the table has no rows")
    check_different([column.name for column in columns])
    done = () if options.grouped is None else options.grouped.notes
    is_grouped = options.grouped is not None
    draft = Draft(whole_as_integers(columns, place), weights, place, done, was_set, is_grouped=is_grouped)
    draft = typed(draft, options)
    if len(weights) >= MANY_ROWS and options.weights is None and not options.codes_are_states and not is_grouped:
        from topdag.data.guess.repeated import note_on_repeated  # small tables open only what they need

        notes = (*note_on_repeated(draft.columns, draft.types), *notes)
    draft = draft.keep(draft.weights > 0, "weight 0")
    draft = with_own_weights(draft, options)
    draft = without_useless(draft, options)
    check_names([column.name for column in draft.columns], options.fewest)
    draft = with_declared_states(draft, options.states or {})
    rules = rules_by_column(options.discretize, draft.columns)
    draft = without_gaps(draft, options.missing, {*rules, *options.cut})
    return finished(*with_states_and_numbers(draft, options), options, notes)


def typed(draft: Draft, options: Options) -> Draft:
    """Return the draft with the type of every column, codes for missing cells taken out of numbers."""
    type_by_name = type_by_column(options.types, [column.name for column in draft.columns])
    if options.codes_are_states:
        types = {column.name: ColumnType("categorical", "coded") for column in draft.columns}
        given = {name: ColumnType(of, "as given", given=True) for name, of in type_by_name.items()}
        return replace(draft, types=types | given)
    columns, missing_codes = list[Column](), dict[str, float]()
    for column in draft.columns:
        is_told = column.name in options.named or column.name in type_by_name
        own, code = (column, None) if is_told else without_missing_codes(column)
        columns.append(own)
        missing_codes |= {} if code is None else {column.name: code}
    counts = draft.weights if draft.is_grouped else None
    weighed = has_weights(options, draft)
    types = column_types(columns, options.types, counts, options.cut, variables=options.named, has_weights=weighed)
    types = {column.name: described(types[column.name], column, draft.counts) for column in columns}
    return replace(draft, columns=columns, types=types, notes=draft.notes + note_on_missing_codes(missing_codes))


def has_weights(options: Options, draft: Draft) -> bool:
    """Whether the weights of rows are known: the user gave them, or an engine found equal rows."""
    if options.grouped is None:
        return options.weights is not None
    return options.grouped.said.weights is not None or bool(draft.weights.max() > 1)


def with_own_weights(draft: Draft, options: Options) -> Draft:
    """Return the draft with the weights that one of its columns holds, without that column."""
    name = next((name for name, of in draft.types.items() if of.type == "weight"), None)
    if name is None or (name in options.named and not draft.types[name].given):
        return draft
    if has_weights(options, draft):
        raise TableError(f"a row has one weight: {option('types')} names {name!r} beside {option('weights')}")
    columns, weights = weights_apart(draft.columns, name, draft.place)
    weighted = replace(draft, columns=columns, weights=weights, is_grouped=False)
    if draft.types[name].given:
        return weighted.keep(weights > 0, "weight 0")
    is_margin = margins_of(columns, weights)
    counted = weighted.keep((weights > 0) & ~is_margin, "count 0")  # empty cells of a table of counts are no loss
    return replace(counted, notes=draft.notes + note_on_weight(name) + note_on_margins(int(is_margin.sum())))


def margins_of(columns: Sequence[Column], weights: Codes) -> NDArray[np.bool_]:
    """Return the rows of a table of counts that add up others: those with a state such as Total, where these count as
    much as all other rows together."""
    from topdag.data.guess.words import MARGINS  # few tables are tables of counts

    is_margin = np.zeros(len(weights), bool)
    for column in columns:
        is_total = np.array([*(isinstance(v, str) and v.lower() in MARGINS for v in column.values), False])[
            column.codes
        ]
        if is_total.any() and weights[is_total].sum() == weights[~is_total].sum():
            is_margin |= is_total
    return is_margin


def without_useless(draft: Draft, options: Options) -> Draft:
    """Return the draft without identifiers, text, dates, repetitions and columns without any value."""
    useless = {
        column.name: draft.types[column.name]
        for column in draft.columns
        if (draft.types[column.name].type in LEFT_OUT and column.name not in options.named)
        or (not len(column.values) and column.name not in (options.states or {}))
    }
    columns = [column for column in draft.columns if column.name not in useless]
    if len(columns) < options.fewest:  # where nothing else is there, that one column repeats another is the answer
        useless = {name: of for name, of in useless.items() if of.type != "duplicate"}
        columns = [column for column in draft.columns if column.name not in useless]
    if len(columns) < options.fewest:
        raise TableError(too_few_in_words(draft, [column.name for column in columns], useless))
    said = {name: of for name, of in useless.items() if not of.given}
    return replace(draft, columns=columns, notes=draft.notes + note_on_left_out(said))


def too_few_in_words(draft: Draft, names: Sequence[str], useless: Mapping[str, ColumnType]) -> str:
    few = f"a table needs two or more variables; this one has {listing(names) or 'none'}"
    by_reason: dict[str, list[str]] = {}
    variables = {name: of for name, of in useless.items() if of.reason != "row names"}
    for name, of in variables.items():
        by_reason.setdefault(f"{of.type}: {of.reason}", []).append(name)
    if not by_reason:
        return few
    said = "; ".join(f"{listing(own)} ({reason})" for reason, own in by_reason.items())
    few = f"{few}, beside columns that are no variables, {said}"
    may_vary = next((c.name for c in draft.columns if c.name and c.name in variables and len(c.values)), None)
    if may_vary is None:
        return few
    return f"{few}. If one is a variable after all, say so: {option('types', {may_vary: 'categorical'})}"


def with_states_and_numbers(draft: Draft, options: Options) -> tuple[Draft, set[str], tuple[str, ...]]:
    """Return the draft with cut columns, the names of those that stay numbers, and of those with ordered states."""
    rules = rules_by_column(options.discretize, draft.columns)
    stay = {
        column.name
        for column in draft.columns
        if column.name not in rules and stays_number(column, draft.types[column.name])
    }
    cut, notes = cut_columns(draft.columns, draft.weights, options.discretize, rules)
    made = {column.name: column for column in cut if column.name in rules}
    columns, ordered = list[Column](), list[str]()
    for column in draft.columns:
        of = draft.types[column.name]
        if column.name in stay:
            columns.append(numbers_of(column, draft.place))
            continue
        own = made.get(column.name) or in_order(as_states(column))
        columns.append(own)
        if column.name not in made and column.name not in options.cut and is_ordered(own, of):
            ordered.append(column.name)
    return replace(draft, columns=columns, notes=(*draft.notes, *notes)), stay, tuple(ordered)


def in_order(column: Column) -> Column:
    """Return the column with states of a known scale, such as low, medium and high, in their order."""
    if column.declared or holds_numbers(column):
        return column
    from topdag.data.guess.words import order_of_words  # numbers need no words

    order = order_of_words(tuple(column.values))
    if order is None:
        return column
    place = np.append(np.argsort(order), MISSING)
    return replace(column, values=tuple(column.values[i] for i in order), codes=place[column.codes])


def check_different(names: Sequence[str]) -> None:
    for position, name in enumerate(names):
        if name in names[:position]:
            raise TableError(
                f"columns {names.index(name)} and {position} (counted from 0) are both called {name!r}; rename one"
            )


def check_names(names: Sequence[str], fewest: int = 2) -> None:
    if len(names) < fewest:
        raise TableError(f"a table needs two or more variables; this one has {listing(names) or 'none'}")
    if len(names) > MOST_VARIABLES:
        raise TableError(
            f"{len(names):,} variables are too many: at most {MOST_VARIABLES:,} can be used; leave out some columns"
        )
    for position, name in enumerate(names):
        if not name.strip():
            advice = f"name it, or leave it out with {option('leave_out', [''])}"
            raise TableError(f"column {position} (counted from 0) has no name; {advice}")


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


def without_gaps(draft: Draft, missing: str, cut: Collection[str]) -> Draft:
    """Return the draft with missing cells treated as is said, or, where nothing is, as their share suggests; ``cut``:
    columns that are, or will be, states rather than numbers."""
    gaps = gaps_of(draft.columns)
    if not gaps:
        return draft
    n_columns, row_counts = len(draft.columns), draft.counts
    if missing == "auto":
        has_numbers = any(
            column.name not in cut
            and (stays_number(column, draft.types[column.name]) or is_ordered(column, draft.types[column.name]))
            for column in draft.columns
        )
        missing = choose(gaps, row_counts, has_numbers=has_numbers)
        if missing == "drop" and (left_out := columns_to_leave_out(gaps, row_counts, n_columns)):
            columns = [column for column in draft.columns if column.name not in left_out]
            notes = (*draft.notes, note_on_left_out_for_gaps(gaps, row_counts, left_out))
            return without_gaps(replace(draft, columns=columns, notes=notes), "drop", cut)
    if missing == "error":
        require_none(gaps, draft.place)
    if missing == "state":
        return replace(draft, notes=(*draft.notes, note_on_state(list(gaps))))
    if missing == "keep":
        counts = {name: int(draft.weights[rows].sum()) for name, rows in gaps.items()}
        return replace(draft, notes=(*draft.notes, note_on_kept(counts, n_columns, int(draft.weights.sum()))))
    counts = {name: int(row_counts[rows].sum()) for name, rows in gaps.items()}
    advice = advice_on_gaps(counts, n_columns, int(row_counts.sum()), counting_rows(gaps, row_counts))
    return draft.keep(~rows_with_gaps(gaps), "missing values", advice)


def observed(column: Column) -> Column:
    """The column without values that no row has, unless they are declared."""
    if column.declared:
        return column
    occurs = observed_codes(column.codes, len(column.values))
    if occurs.all():
        return column
    return Column(column.name, chosen(column.values, occurs), np.append(np.cumsum(occurs) - 1, MISSING)[column.codes])


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


def finished(
    draft: Draft, continuous: Collection[str], ordered: tuple[str, ...], options: Options, others: Sequence[str]
) -> Parts:
    """Return the parts of the table; ``others``: notes from reading."""
    keeps_gaps = options.missing in ("keep", "auto") and bool(gaps_of(draft.columns))
    coded = with_code_for_missing if keeps_gaps else with_missing_state
    columns = [column if column.name in continuous else limited(coded(column)) for column in draft.columns]
    names = tuple(column.name for column in columns)
    was_set = draft.was_set
    apart = [] if was_set is None else [(was_set.codes + 1, len(was_set.values) + 1)]
    # Where gaps are kept there is a code more; without it more columns fit into one number.
    coded_rows = [(column.codes, len(column.values) + keeps_gaps) for column in columns]
    first, weights = distinct_rows([*coded_rows, *apart], draft.weights)
    states = tuple(() if column.name in continuous else tuple(column.values) for column in columns)
    codes = np.zeros((len(columns), len(first)), np.uint16)
    for row, column, of in zip(codes, columns, states, strict=True):
        if of:
            row[:] = column.codes[first]
    numbers = [column.values[column.codes[first]] for column in columns if column.name in continuous]
    n_rows = int(draft.weights.sum())
    notes = (
        *draft.notes,
        *others,
        *note_on_constant([name for name, of in zip(names, states, strict=True) if len(of) == 1]),
    )
    notes += tuple(chain.from_iterable(map(note_on_capitals, names, states)))
    notes += notes_on_many_states([c for c in columns if c.name not in (*continuous, *ordered)], n_rows)
    notes += notes_on_twins([column for column in draft.columns if column.name not in continuous])
    held = np.array(numbers, np.float64).reshape(len(numbers), len(first))
    targets: tuple[int, ...] = ()
    if was_set is not None:
        from topdag.data.interventions import masks_set

        masks = masks_set(was_set, names, options.used, draft.place)
        targets = tuple(masks[code] for code in was_set.codes[first])
        notes += notes_on_interventions(names, targets, weights)
    if not any(targets):
        targets = ()
    types, decisions = dict(draft.types), draft.notes
    said = options.said()
    return (
        names,
        states,
        codes,
        held,
        weights,
        targets,
        None,
        ordered,
        types,
        decisions,
        notes,
        options.keep_constant,
        said,
    )


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
