"""Types of columns: a statistician's guess from the name, the values and the order of the rows, with its reason.

The rules were derived from labelled columns of public tables (bench/tables); ``python -m bench tables`` measures them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from topdag._util.messages import check_known, closest
from topdag._util.options import option
from topdag.data.columns import MANY_ROWS, Column, holds_numbers
from topdag.data.discretize import MOST_WHOLE, OTHERS
from topdag.data.guess.words import CLOCKS, COUNTS, DATES, DESIGN, IDENTIFIERS, MEASURES, NOMINAL, RATED, WEIGHTS
from topdag.errors import TableError

TYPES = (
    "categorical", "ordinal", "continuous", "count", "identifier", "weight", "text", "date", "constant", "duplicate",
)  # fmt: skip
LEFT_OUT = ("identifier", "text", "date", "duplicate")
"""Columns of these types are no variables."""
FEWEST_OF_NUMBERS = 5
"""A column of whole numbers or ordered states with fewer values counts as one of categories."""
FEWEST_CELLS = 4
"""A table of counts has so many rows at least: two factors of two levels."""
MOST_SHOWN = 5
"""Values of a column in the view of a table."""
ROWS_OF_A_CODE = 100
"""A code of more than 30 groups is a category where each of them has so many rows."""
MOST_CODES, MOST_UNITS = 30, 10
"""Whole numbers with more values are no codes of categories, and those that number subjects are identifiers."""
MOST_STATES_OF_ORDERED = 20
"""Whole numbers with more values are held as numbers rather than states."""

NUMBERS_WHOM, NAMES_WHOM = "numbers whom the rows belong to", "names whom the rows belong to"
NUMBERS_GROUPS = "numbers groups of rows"
OF_SEVERAL_ROWS = (NUMBERS_WHOM, NAMES_WHOM, NUMBERS_GROUPS)
"""Reasons for identifiers of subjects with several rows."""

ROW_NAMES = re.compile(
    r"|unnamed: ?\d+|row\.?_?names?|row\.?_?(id|num|number|no)|_?c?index_?|id|nr|no|obs", re.IGNORECASE
)
INDEX_AGAIN = re.compile(r"unnamed: ?\d+|row\.?_?names?", re.IGNORECASE)
"""Row names that were written as a column, and have the index of a frame before them."""
NUMBER_OF = frozenset({"no", "nr", "num", "number", "code"})
"""Last words of a name that numbers subjects."""
ALLELE = re.compile(r"[._]a[12]$|^loc\w*\d+$|^d\d+s\d+", re.I)
DATE_TEXT = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([ T]\d{1,2}:\d{2}.*)?|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2})( \d{1,2}:\d{2}.*)?"
    r"|\d{1,2}[- ]?[A-Za-z]{3,9}[- ]?(\d{4}|\d{2})|[A-Za-z]{3,9} \d{1,2},? \d{4}|\d{4}[-: ]?Q[1-4]|\d{4}-\d{2}"
)  # fmt: skip
MONTH_TEXT = re.compile(rf"{DATE_TEXT.pattern}|(0?[1-9]|1[0-2])/(\d{{4}}|\d{{2}})")
"""A date, or a month of a year."""


@dataclass(frozen=True, slots=True)
class ColumnType:
    """The type of a column, and the reason for it; ``given``: by the user."""

    type: str
    reason: str
    given: bool = False
    values: str = ""
    """Some of them, or their range."""
    n_missing: int = 0
    """Rows without a value."""


@dataclass(frozen=True)
class Facts:
    """What the rules look at: a column, its numbers if it holds such, and the words of its name."""

    column: Column
    place: int
    n_rows: int
    numbers: NDArray[np.float64] | None
    words: frozenset[str]
    n_by_value: NDArray[np.int64]
    """In how many rows each value is."""
    has_order: bool
    """Whether the rows are those of the source, in their order, rather than counted by an engine."""
    leads: bool = False
    """Whether it is the first column, but for row names."""

    @property
    def n_values(self) -> int:
        return len(self.column.values)

    @property
    def is_whole(self) -> bool:
        return self.numbers is not None and not self.column.is_float

    @property
    def known(self) -> NDArray[np.int64]:
        """The codes of the rows that are filled."""
        return self.column.codes[self.column.codes >= 0]

    @property
    def n_filled(self) -> int:
        return int(self.n_by_value.sum())

    @property
    def differs_in_every_row(self) -> bool:
        return self.n_values == self.n_filled >= MANY_ROWS

    @property
    def increases(self) -> bool:
        """Whether no row holds less than the row before it, as far as the order is known."""
        return self.has_order and bool(np.all(np.diff(self.known) >= 0))

    @property
    def runs_on(self) -> bool:
        """Whether the numbers are those from the first to the last, in order if that is known."""
        assert self.numbers is not None
        is_run = self.numbers[-1] - self.numbers[0] == self.n_values - 1
        return bool(is_run) and (self.increases or not self.has_order)

    def named(self, words: frozenset[str]) -> bool:
        """Return whether one of the words of the name is among these."""
        return not self.words.isdisjoint(words)

    def called(self, words: frozenset[str]) -> bool:
        """Return whether the whole name, or its last word, is among these: patient_age is no patient."""
        parts = parts_of(self.column.name)
        is_whole = bool({self.column.name.lower(), letters_of(self.column.name)} & words)
        return is_whole or (bool(parts) and parts[-1] in words and not MEASURES & set(parts))


Rule: TypeAlias = Callable[[Facts], ColumnType | None]


def check_types(types: Any) -> None:
    """Raise TableError where ``types=`` is no mapping to known types."""
    if types is None:
        return
    if not isinstance(types, Mapping):
        raise TableError(f"{option('types')} maps names of columns to types, not {types!r}")
    for name, type_ in types.items():
        if type_ not in TYPES:
            raise TableError(
                f"{option('types')}: {type_!r} of column {name!r} is no type; {closest(str(type_), TYPES)}"
            )


def column_types(
    columns: Sequence[Column],
    types: Mapping[str, str] | None = None,
    counts: NDArray[np.int64] | None = None,
    cut: Collection[str] = (),
    *,
    variables: Collection[str] = (),
    has_weights: bool = False,
) -> dict[str, ColumnType]:
    """Return the type of every column by its name, as given or by the first rule that applies. ``counts``: how many
    rows an engine found like each of these, in whatever order; ``cut``: columns that it has cut;
    ``variables``: columns that the user names as such, which are no identifiers or the like; ``has_weights``: whether
    the weights of rows are known already."""
    types = type_by_column(types, [column.name for column in columns])
    facts = [facts_of(column, place, counts) for place, column in enumerate(columns) if column.name not in cut]
    n_row_names = int(bool(facts) and row_names(facts[0]) is not None)
    facts = [replace(each, leads=each.place <= n_row_names) for each in facts]
    found = {name: ColumnType("continuous", "numbers that were cut") for name in cut}
    found |= {
        each.column.name: guess(each, RULES_FOR_VARIABLES if each.column.name in variables else RULES) for each in facts
    }
    found |= {name: ColumnType(type_, "as given", given=True) for name, type_ in types.items()}
    for refine in (with_duplicates,) if has_weights else (with_weight, with_duplicates):
        refined = refine(facts, found)
        found |= {name: of for name, of in refined.items() if not found[name].given and name not in variables}
    require_one_weight(found)
    return found


def described(of: ColumnType, column: Column, counts: NDArray[np.int64]) -> ColumnType:
    """Return the type with what the column holds, whose rows stand for so many."""
    n, values = len(column.values), column.values
    is_range = holds_numbers(column) and n > MOST_SHOWN
    words = [" ".join(str(value).split()) for value in values[:MOST_SHOWN]]
    shown = f"{short(values[0])} to {short(values[-1])}" if is_range else ", ".join(words)
    more = f", ... ({n:,})" if n > MOST_SHOWN and not is_range else ""
    return replace(of, values=shown + more, n_missing=int(counts[column.codes < 0].sum()))


def short(number: Any) -> str:
    """Return a whole number in full unless it is very large, any other with six digits."""
    if abs(number) < MOST_WHOLE:
        return str(int(number)) if number == int(number) else f"{number:.6g}"
    from decimal import Decimal  # a millisecond that few need

    return f"{Decimal(number):.6g}"


def type_by_column(types: Mapping[str, str] | None, names: Sequence[str]) -> dict[str, str]:
    """Return the types that are given, by column; ``"*"`` stands for all columns that are not named."""
    given = dict(types or {})
    others = given.pop(OTHERS, None)
    for name in given:
        check_known(name, names, option("types"))
    return given if others is None else {name: given.get(name, others) for name in names}


def facts_of(column: Column, place: int, counts: NDArray[np.int64] | None = None) -> Facts:
    numbers = None
    if holds_numbers(column) and len(column.values):
        is_exact = column.is_float or -MOST_WHOLE < column.values[0] <= column.values[-1] < MOST_WHOLE
        numbers = np.array(column.values, dtype=np.float64) if is_exact else None
    n_rows = len(column.codes) if counts is None else int(counts.sum())
    n_by_value = np.bincount(column.codes + 1, counts, len(column.values) + 1)[1:].astype(np.int64)
    return Facts(column, place, n_rows, numbers, words_of(column.name), n_by_value, has_order=counts is None)


def words_of(name: str) -> frozenset[str]:
    """The words of a name in lower case: of "caseId_2" case, id and caseid."""
    letters = letters_of(name)
    whole = {letters} if len(letters) > 1 else set[str]()
    return frozenset(part for part in parts_of(name) if len(part) > 1) | whole | {name.lower()}


def parts_of(name: str) -> list[str]:
    """The words of a name in lower case, one after the other, without numbers."""
    return [part.lower() for part in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)]


def letters_of(name: str) -> str:
    """The name in lower case, without a number at its end."""
    return re.sub(r"[\d._ ]+$", "", name).lower()


def guess(facts: Facts, rules: Sequence[Rule]) -> ColumnType:
    for rule in rules:
        if found := rule(facts):
            return found
    return ColumnType("categorical", "words")


def constant(facts: Facts) -> ColumnType | None:
    if facts.n_values > 1 or facts.column.declared:
        return None
    return ColumnType("constant", "the same value in every row" if facts.n_values else "no value in any row")


def declared(facts: Facts) -> ColumnType | None:
    if not facts.column.declared:
        return None
    return ColumnType("ordinal" if facts.column.ordered else "categorical", "declared")


def row_names(facts: Facts) -> ColumnType | None:
    name = facts.column.name.strip()
    if not (INDEX_AGAIN if facts.place else ROW_NAMES).fullmatch(name):
        return None
    if name and (facts.n_values < facts.n_rows or (facts.numbers is not None and not facts.is_whole)):
        return None
    return ColumnType("identifier", "row names")


def date(facts: Facts) -> ColumnType | None:
    values = facts.column.values
    if facts.numbers is None:
        texts = [str(value) for value in values[:: 1 + len(values) // 50]]
        form = MONTH_TEXT if facts.named(CLOCKS | DATES) else DATE_TEXT
        is_date = facts.n_values > 2 and all(map(form.fullmatch, texts))
        return ColumnType("date", f"dates such as {texts[0]}") if is_date else None
    if facts.is_whole and facts.n_values >= FEWEST_OF_NUMBERS and are_dates(facts.numbers, facts.named(DATES)):
        return ColumnType("date", f"dates such as {int(values[0])}")
    return None


def are_dates(numbers: NDArray[np.float64], named: bool) -> bool:
    """Whether all are dates such as 20071231 or, with a name that says so or many of them, 71231."""
    low, high = numbers[0], numbers[-1]
    long = low >= 1_700_01_01 and high <= 2_100_12_31
    if not long and not (low >= 1_01_01 and high <= 99_12_31 and (named or len(numbers) >= MANY_ROWS)):
        return False
    month, day = numbers // 100 % 100, numbers % 100
    return bool(np.all((month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)))


def clock(facts: Facts) -> ColumnType | None:
    """A running index of time: equal steps from row to row."""
    if facts.numbers is None or not facts.differs_in_every_row or not facts.named(CLOCKS):
        return None
    return ColumnType("date", "increases from row to row") if facts.increases else None


def large(facts: Facts) -> ColumnType | None:
    """Whole numbers that doubles do not tell apart."""
    if facts.numbers is not None or not holds_numbers(facts.column) or facts.n_values <= MOST_STATES_OF_ORDERED:
        return None
    return ColumnType("identifier", "numbers too large to measure anything")


def identifier(facts: Facts) -> ColumnType | None:
    if facts.numbers is None:
        return identifying_words(facts)
    if not facts.is_whole or (facts.n_values <= MOST_UNITS and not facts.differs_in_every_row):
        return None
    if facts.differs_in_every_row:
        counts = facts.runs_on or (facts.increases and facts.leads)
        return ColumnType("identifier", "numbers the rows") if counts or is_named_identifier(facts) else None
    if is_named_identifier(facts):
        return ColumnType("identifier", NUMBERS_WHOM)
    is_many = facts.n_values > MOST_STATES_OF_ORDERED and not facts.named(CLOCKS)
    if is_many and facts.increases and is_balanced(facts):
        return ColumnType("identifier", NUMBERS_GROUPS)
    return None


def many_codes(facts: Facts) -> ColumnType | None:
    """Numbers of more groups than a category may have for so many rows."""
    n_rows = len(facts.known)
    if not facts.is_whole or facts.n_values <= MOST_CODES or 2 * facts.n_values > n_rows or not facts.called(NOMINAL):
        return None
    type_ = "categorical" if n_rows >= ROWS_OF_A_CODE * facts.n_values else "identifier"
    return ColumnType(type_, "codes of groups, by the name of the column")


def is_named_identifier(facts: Facts) -> bool:
    """Whether the name says so: one of the usual words, or an ending such as that of choiceid."""
    is_number_of = bool(NUMBER_OF & {parts[-1] for parts in [parts_of(facts.column.name)] if parts})
    if facts.called(IDENTIFIERS) or (is_number_of and facts.named(IDENTIFIERS)):
        return True
    return re.search(r"[a-z0-9](Id|ID)$|[._ -](id|nr)$", facts.column.name) is not None


def is_balanced(facts: Facts) -> bool:
    """Whether most values have as many rows as others: the subjects of repeated measurements."""
    counts = facts.n_by_value
    return bool(counts.min() > 1 and np.mean(counts == np.median(counts)) > 0.5)


def identifying_words(facts: Facts) -> ColumnType | None:
    if holds_numbers(facts.column) and facts.n_values > MOST_STATES_OF_ORDERED:
        return ColumnType("identifier", "numbers too large to measure anything")
    n_filled = facts.n_filled
    if facts.n_rows < MANY_ROWS or 2 * facts.n_values <= n_filled:
        named = facts.called(IDENTIFIERS) and facts.n_values > MOST_STATES_OF_ORDERED
        return ColumnType("identifier", NAMES_WHOM) if named else long_words(facts)
    alone = np.count_nonzero(facts.n_by_value == 1)
    if 2 * alone <= n_filled:
        return long_words(facts)
    if mean_words(facts) > 3:
        return ColumnType("text", "a text of its own in most rows")
    return ColumnType("identifier", "a name of its own in most rows")


def long_words(facts: Facts) -> ColumnType | None:
    """Text that repeats: many values with few rows each."""
    few = facts.n_rows >= MANY_ROWS and facts.n_values > 50 and facts.n_filled < 5 * facts.n_values
    return ColumnType("text", f"{facts.n_values:,} texts") if few else None


def mean_words(facts: Facts) -> float:
    texts = [str(value) for value in facts.column.values]
    return sum(text.count(" ") + 1 for text in texts) / len(texts)


def numbers(facts: Facts) -> ColumnType | None:
    if facts.numbers is None:
        return None
    if facts.n_values == 2:
        return ColumnType("categorical", "two values")
    if not facts.is_whole:
        return ColumnType("continuous", "numbers with decimals")
    return whole_numbers(facts, facts.numbers)


def whole_numbers(facts: Facts, numbers: NDArray[np.float64]) -> ColumnType:
    is_coded = facts.called(NOMINAL) or ALLELE.search(facts.column.name)
    if facts.n_values <= (MOST_CODES if is_coded else MOST_UNITS * (facts.column.name.lower() in IDENTIFIERS)):
        return ColumnType("categorical", "codes, by the name of the column")
    if is_counted(facts):
        return ColumnType("count", "whole numbers of things counted")
    is_scale = facts.n_values <= 7 and numbers[0] in (0, 1) and numbers[-1] - numbers[0] == facts.n_values - 1
    if is_scale or facts.n_values < FEWEST_OF_NUMBERS or (facts.named(RATED) and facts.n_values <= 10):
        return ColumnType("ordinal", f"{facts.n_values} whole numbers")
    return ColumnType("continuous", f"{facts.n_values:,} whole numbers")


def is_counted(facts: Facts) -> bool:
    """Whether the name says so and small numbers, from 0 or 1 on, are there."""
    assert facts.numbers is not None
    name = facts.column.name.lower()
    says_so = facts.named(COUNTS) or re.match(r"(n|num|nb|no)(?=[._]?[a-z]{3})", name) is not None
    return says_so and bool(0 <= facts.numbers[0] <= 2) and facts.n_values > 2


def words(facts: Facts) -> ColumnType | None:
    from topdag.data.guess.words import order_of_words  # numbers need no words

    if order_of_words(tuple(facts.column.values)) is not None:
        return ColumnType("ordinal", "words with an order")
    return None


RULES_FOR_VARIABLES: Sequence[Rule] = (constant, declared, numbers, words)
RULES: Sequence[Rule] = (
    row_names, constant, declared, date, clock, large, identifier, many_codes, numbers, words,
)  # fmt: skip


def with_weight(facts: Sequence[Facts], found: Mapping[str, ColumnType]) -> dict[str, ColumnType]:
    """The column that says how often each row of a table of counts occurs."""
    if any(of.type == "weight" for of in found.values()):
        return {}
    if any(each.called(DESIGN) for each in facts):  # one row for each cell of an experiment
        return {}
    for each in facts:
        may_be = each.numbers is not None and each.is_whole and each.called(WEIGHTS) and counts_rows(each.numbers)
        if may_be and are_cells([other for other in facts if is_variable(other, each, found)], each.n_rows):
            return {each.column.name: ColumnType("weight", "every row is a cell of a table of counts")}
    return {}


def counts_rows(numbers: NDArray[np.float64]) -> bool:
    """Whether weights can be so: from 0 on, and not all 0."""
    return bool(numbers[0] >= 0 and numbers[-1] > 0)


def is_variable(other: Facts, weight: Facts, found: Mapping[str, ColumnType]) -> bool:
    return other is not weight and found[other.column.name].reason != "row names"


def are_cells(others: Sequence[Facts], n_rows: int) -> bool:
    """Whether these columns differ in every row, and take a good part of the combinations of their values."""
    if n_rows < FEWEST_CELLS or not others or not all(each.n_values for each in others):
        return False
    if len(others) == 1 and others[0].n_values > MOST_STATES_OF_ORDERED:
        return False  # a measurement or a time of each row
    combinations = np.prod([float(each.n_values) for each in others])
    return bool(n_rows > combinations / 3) and n_distinct([each.column.codes for each in others]) == n_rows


def n_distinct(codes: Sequence[NDArray[Any]]) -> int:
    return len(np.unique(np.array(codes), axis=1)[0]) if len(codes) else 0


def with_duplicates(facts: Sequence[Facts], found: Mapping[str, ColumnType]) -> dict[str, ColumnType]:
    """Columns that repeat an earlier one, or whose values go with its values one to one."""
    measured, coded, named = dict[bytes, Facts](), dict[bytes, Facts](), dict[bytes, Facts]()
    repeated = dict[str, ColumnType]()
    for each in facts:
        if found[each.column.name].type in (*LEFT_OUT, "weight", "constant") or not may_repeat(each):
            continue
        key = by_appearance(each.column.codes, each.n_values)
        if has_many_numbers(each):  # among numbers only what rises or falls together is the same
            earlier = measured.setdefault(by_order(each), each)
            earlier = named.get(key, each) if earlier is each else earlier
            coded.setdefault(key, each)
        else:
            earlier = named.setdefault(key, each)
            earlier = coded.get(key, each) if earlier is each and each.numbers is None else earlier
        if earlier is not each:
            is_copy = list(each.column.values) == list(earlier.column.values)
            how = "repeats" if is_copy else "goes one to one with"
            repeated[each.column.name] = ColumnType("duplicate", f"{how} {earlier.column.name!r}")
    return repeated


def may_repeat(facts: Facts) -> bool:
    """With few rows, or a category for most rows, two columns agree by accident; and two columns of two values each may
    agree and yet be different variables, which an edge then shows."""
    if facts.n_rows < MANY_ROWS or facts.n_values <= 2:
        return False
    return facts.numbers is not None or facts.n_values <= facts.n_rows // 2


def has_many_numbers(facts: Facts) -> bool:
    """Whether these are numbers, so many that those of two columns go with each other by accident."""
    many = facts.n_values > MOST_STATES_OF_ORDERED or 2 * facts.n_values > facts.n_rows
    return facts.numbers is not None and many


def by_order(facts: Facts) -> bytes:
    """The same for numbers of which one rises where the other rises, or falls."""
    codes = facts.column.codes
    turned = codes if len(facts.known) and facts.known[0] < facts.n_values / 2 else facts.n_values - 1 - codes
    return np.where(codes < 0, -1, turned).tobytes()


def by_appearance(codes: NDArray[np.int64], n_values: int) -> bytes:
    """Return the codes numbered in the order of the rows: the same for columns whose values go one to one."""
    first = np.full(n_values + 1, len(codes))
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    rank = np.argsort(np.argsort(first[:n_values], kind="stable"))
    return np.append(rank, -1)[codes].tobytes()


def require_one_weight(found: Mapping[str, ColumnType]) -> None:
    weights = [name for name, of in found.items() if of.type == "weight"]
    if len(weights) > 1:
        raise TableError(
            f"{option('types')}: a row has one weight, and {weights[0]!r} and {weights[1]!r} are both named"
        )
