"""Cutting numbers: the rules by which columns of numbers become states, and what such states are called.

Floats that are all whole numbers are integers here, however they were stored: encoders and gaps make floats of those.

A cut point belongs to the state below it: cuts at 1 and 2 make the states "<= 1", "(1, 2]" and "> 2".
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from topdag._util.messages import Place, check_known, listing, plural
from topdag._util.options import option, worded
from topdag.data.columns import (
    MISSING,
    MOST_STATES,
    Codes,
    Column,
    holds_numbers,
    observed_codes,
)
from topdag.errors import TableError

LARGEST_NUMBER = 1e290  # sums of up to 2**32 such numbers stay finite
FEWEST_DIGITS = 6  # significant digits of a cut point in a label; more where two labels would be alike
MANY_VALUES = 20
"""A rule for all columns cuts whole numbers that have more values than this; fewer are taken for states."""
MOST_APART = 4
"""More columns cut alike are told of in one sentence, with the first ``MOST_NAMED`` of them."""
MOST_NAMED = 10
MOST_WHOLE = 2.0**53
"""From it on every float is a whole number, and integers are not told apart as floats."""
OTHERS = "*"  # in a dict of rules: all columns that it does not name
RULES = '"mean", "median", Quantile(k), Uniform(k) or a list of cut points'
RULES_IN_SHELL = "mean, median, quantile(3) or uniform(4) with any number of states, or cut points such as 1,2.5"


@dataclass(frozen=True)
class Quantile:
    """k states of about as many rows each: cuts at the i/k quantiles, interpolated linearly."""

    k: int

    def __post_init__(self) -> None:
        check_number_of_states(self)


@dataclass(frozen=True)
class Uniform:
    """k states of equal width between the least and the largest value."""

    k: int

    def __post_init__(self) -> None:
        check_number_of_states(self)


@dataclass(frozen=True)
class Mean:
    """Two states: up to the mean and above it."""


@dataclass(frozen=True)
class CutPoints:
    """States between the points given. All of them count, those without rows too."""

    points: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.points or not all(map(math.isfinite, self.points)):
            raise TableError(f"cut points are one or more finite numbers, not {list(self.points)}")
        if any(low >= high for low, high in pairwise(self.points)):
            raise TableError(f"cut points must increase, and these do not: {list(self.points)}")
        if len(self.points) >= MOST_STATES:
            raise TableError(f"{len(self.points):,} cut points make more than {MOST_STATES:,} states")


Rule: TypeAlias = Mean | Quantile | Uniform | CutPoints
RuleLike: TypeAlias = str | Rule | Sequence[float] | NDArray[Any]
Discretize: TypeAlias = RuleLike | Mapping[str, RuleLike | None] | None
Statistic: TypeAlias = tuple[str, float]  # ("mean", 0), ("min", 0), ("max", 0) or ("quantile", p)


def check_number_of_states(rule: Quantile | Uniform) -> None:
    if isinstance(rule.k, bool) or not isinstance(rule.k, int) or not 2 <= rule.k <= MOST_STATES:
        raise TableError(f"{type(rule).__name__}(k) needs a number of states from 2 to {MOST_STATES:,}, not {rule.k!r}")


def parse_rule(given: Any) -> Rule:
    """The rule a user means: a rule, "mean", "median", "quantile(3)", "uniform(4)", "1, 2.5", or cut points."""
    if isinstance(given, Rule):
        return given
    if isinstance(given, str):
        return named_rule(given)
    if not isinstance(given, Sequence | np.ndarray):
        raise TableError(f"{option('discretize')} takes {_rules()}, not {given!r}")
    try:
        points = tuple(map(float, given))
    except (TypeError, ValueError, OverflowError):
        raise TableError(f"cut points are numbers, not {given!r}") from None
    return CutPoints(points)


def named_rule(text: str) -> Rule:
    name = text.strip().lower()
    if name == "mean":
        return Mean()
    if name == "median":
        return Quantile(2)
    if "," in name or name[:1] in set("0123456789.+-"):
        return parse_rule([part.strip() for part in name.split(",")])
    found = re.fullmatch(r"(quantile|uniform)\s*\(\s*(\d{1,9})\s*\)", name, re.ASCII)
    if not found:
        raise TableError(f"unknown rule {text!r}; {option('discretize')} takes {_rules()}")
    return (Quantile if found[1] == "quantile" else Uniform)(int(found[2]))


def _rules() -> str:
    return worded(RULES, RULES_IN_SHELL)


def rule_in_words(rule: Rule) -> str:
    """The text that stands for a rule; see `named_rule`."""
    if isinstance(rule, CutPoints):
        return ", ".join(map(repr, rule.points))
    return "mean" if isinstance(rule, Mean) else f"{type(rule).__name__.lower()}({rule.k})"


def rules_apart(discretize: Discretize) -> tuple[Rule | None, dict[str, Rule | None]]:
    """The rule for every column that has none of its own, and those by column; None leaves numbers as they are."""
    by_column = discretize if isinstance(discretize, Mapping) else {OTHERS: discretize}
    rules = {name: None if rule is None else parse_rule(rule) for name, rule in by_column.items()}
    return rules.pop(OTHERS, None), rules


def rules_by_column(discretize: Discretize, columns: Sequence[Column], others: Collection[str] = ()) -> dict[str, Rule]:
    """Which columns are cut and how; ``others``: names of columns left as numbers."""
    for_all, rules = rules_apart(discretize)
    for name in rules:
        check_known(name, [*(column.name for column in columns), *others], option("discretize"))
    for column in columns:
        if has_many_numbers(column):
            rules.setdefault(column.name, for_all)
    return {name: rule for name, rule in rules.items() if rule is not None}


def has_many_numbers(column: Column) -> bool:
    """Return whether a rule for all columns is for this one: floats, or many whole numbers."""
    return not column.declared and holds_numbers(column) and (column.is_float or len(column.values) > MANY_VALUES)


def cut_columns(
    columns: Sequence[Column], weights: Codes, discretize: Discretize, rules: Mapping[str, Rule]
) -> tuple[list[Column], list[str]]:
    """Return the columns, those with a rule cut into states, and notes; ``rules``: those that ``discretize`` means."""
    cuts = {column.name: cut_column(column, weights, rules[column.name]) for column in columns if column.name in rules}
    made = [cuts.get(column.name, column) for column in columns]
    return made, [*notes_on_cuts(cuts.values(), rules), *note_on_uncut(discretize, made)]


def whole_as_integers(columns: Sequence[Column], place: Place) -> list[Column]:
    """The columns, floats that are all whole numbers as integers."""
    for column in columns:
        if column.is_float:
            check_finite(column, place)
    return [replace(each, values=tuple(map(int, each.values))) if is_whole(each) else each for each in columns]


def note_on_uncut(discretize: Discretize, columns: Sequence[Column]) -> tuple[str, ...]:
    """A sentence on whole numbers that a rule for all columns has left as they are."""
    for_all, rules = rules_apart(discretize)
    few = [
        column.name
        for column in columns
        if 2 < len(column.values) <= MANY_VALUES
        and not (column.name in rules or column.declared)
        and holds_numbers(column)
    ]
    if for_all is None or not few:
        return ()
    return (f"Whole numbers with few values were left as states, not cut: {listing(few)}.",)


def check_finite(column: Column, place: Place) -> None:
    infinite = np.flatnonzero(np.isinf(column.values))
    if len(infinite):
        where = place(int(np.isin(column.codes, infinite).argmax()))
        raise TableError(f"column {column.name!r} is infinite in {where}; put a number there or leave the row out")


def is_whole(column: Column) -> bool:
    """Whether these are floats, and all of them whole numbers."""
    values = column.values
    return isinstance(values, np.ndarray) and bool(np.all((np.floor(values) == values) & (np.abs(values) < MOST_WHOLE)))


def require_cut(floats: Sequence[str]) -> None:
    """Raise TableError where columns hold decimals and no rule cuts them, for what takes states only."""
    if floats:
        rules = worded(f"discretize={RULES}", f"--discretize: {RULES_IN_SHELL}")
        hold = "column {} holds" if len(floats) == 1 else "columns {} hold"
        raise TableError(
            f"{hold.format(listing(floats))} floats, which are not states: cut {'it' if len(floats) == 1 else 'them'} "
            f"with {rules}"
        )


def cut_column(column: Column, weights: Codes, rule: Rule) -> Column:
    points = points_by_rule(column, weights, rule)
    return with_cuts(column, rule, points, interval_codes(column, points))


def learned_points(column: Column, weights: Codes, rule: Rule) -> tuple[float, ...]:
    """Where the rule cuts this column, to cut others alike; none when all rows fall into one interval."""
    points = points_by_rule(column, weights, rule)
    return points if isinstance(rule, CutPoints) else joined(points, interval_codes(column, points))[0]


def points_by_rule(column: Column, weights: Codes, rule: Rule) -> tuple[float, ...]:
    values = numbers_of(column)
    each = weights if weights.max(initial=0) > 1 else None  # counting ones is faster
    counts = np.bincount(column.codes + 1, each, len(values) + 1)[1:].astype(np.float64)
    return cut_points(rule, [statistic(asked, values, counts) for asked in statistics_needed(rule)])


def interval_codes(column: Column, points: Sequence[float]) -> Codes:
    """The place of the interval of every row, MISSING where a cell is."""
    return np.append(np.searchsorted(points, numbers_of(column), side="left"), MISSING)[column.codes]


def numbers_of(column: Column) -> NDArray[np.float64]:
    """The values of a column that may be cut, increasing."""
    if column.declared or not holds_numbers(column):
        raise TableError(f"{option('discretize')} names column {column.name!r}, which does not hold numbers")
    if any(abs(value) > LARGEST_NUMBER for value in column.values):
        raise TableError(f"column {column.name!r} has numbers beyond {LARGEST_NUMBER:g}, too large to cut")
    if not column.is_float and any(abs(value) >= MOST_WHOLE for value in column.values):
        raise too_large_to_cut(column.name)
    return np.array(column.values, dtype=np.float64)


def too_large_to_cut(name: str) -> TableError:
    return TableError(
        f"column {name!r} holds integers of 2**53 or more, which cannot be cut exactly: subtract a number from all of "
        f"them, or leave the column out with {option('leave_out', [name])}"
    )


def statistics_needed(rule: Rule) -> tuple[Statistic, ...]:
    """What must be known of a column before its cut points are."""
    if isinstance(rule, CutPoints):
        return ()
    if isinstance(rule, Mean):
        return (("mean", 0.0),)
    if isinstance(rule, Uniform):
        return ("min", 0.0), ("max", 0.0)
    return tuple(("quantile", i / rule.k) for i in range(1, rule.k))


def cut_points(rule: Rule, statistics: Sequence[float]) -> tuple[float, ...]:
    """The cut points, increasing, from the statistics that the rule needs."""
    if isinstance(rule, CutPoints):
        return rule.points
    if isinstance(rule, Uniform):
        low, high = statistics
        statistics = [low + (high - low) * (i / rule.k) for i in range(1, rule.k)]
    return tuple(sorted(set(statistics)))


def statistic(asked: Statistic, values: NDArray[np.float64], counts: NDArray[np.float64]) -> float:
    """A statistic of a column given as increasing values and how often each occurs; 0 if there are none."""
    kind, p = asked
    if not len(values):
        return 0.0
    if kind == "quantile":
        return weighted_quantile(values, counts, p)
    low, high = float(values[0]), float(values[-1])
    if kind == "mean":
        return min(max(math.fsum(values * counts) / math.fsum(counts), low), high)
    return low if kind == "min" else high


def weighted_quantile(values: NDArray[np.float64], counts: NDArray[np.float64], p: float) -> float:
    """numpy's default quantile of the values, each repeated as often as it occurs."""
    rows_up_to = np.cumsum(counts)
    rank = p * (rows_up_to[-1] - 1)
    low, high = values[np.searchsorted(rows_up_to, [math.floor(rank), math.ceil(rank)], side="right")]
    return float(min(low + (high - low) * (rank - math.floor(rank)), high))


def with_cuts(column: Column, rule: Rule, points: Sequence[float], codes: Codes) -> Column:
    """The column with intervals as states. Codes tell the interval, -1 a missing cell.

    Intervals without rows join the next one, unless the user gave the cut points.
    """
    if not isinstance(rule, CutPoints):
        points, codes = joined(points, codes)
    return replace(column, values=interval_labels(points), codes=codes, declared=isinstance(rule, CutPoints))


def joined(points: Sequence[float], codes: Codes) -> tuple[tuple[float, ...], Codes]:
    """The cut points and codes when each interval without rows joins the next one."""
    occupied = observed_codes(codes, len(points) + 1)
    if occupied.all():
        return tuple(points), codes
    kept = tuple(point for point, has_rows in zip(points, occupied, strict=False) if has_rows)
    codes = np.append(np.cumsum(occupied) - 1, MISSING)[codes]
    return kept if occupied[-1] else kept[:-1], codes


def interval_labels(points: Sequence[float]) -> tuple[str, ...]:
    """Readable states for increasing cut points, all different."""
    if not points:
        return ("any number",)
    tries = ([short_number(point, digits) for point in points] for digits in range(FEWEST_DIGITS, 18))
    texts = next(texts for texts in tries if len(set(texts)) == len(texts))
    between = [f"({low}, {high}]" for low, high in pairwise(texts)]
    return (f"<= {texts[0]}", *between, f"> {texts[-1]}")


def short_number(value: float, digits: int) -> str:
    """All digits of whole numbers that are not large, otherwise the first significant ones."""
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.{digits}g}"


def notes_on_cuts(cut: Iterable[Column], rules: Mapping[str, Rule]) -> list[str]:
    """What was done to these columns: a sentence for each, or one for all that were cut alike where they are many."""
    alike: dict[str, list[Column]] = {}
    for column in cut:
        alike.setdefault(cut_in_words(rules[column.name], len(column.values)), []).append(column)
    notes = []
    for how, columns in alike.items():
        if len(columns) <= MOST_APART:
            notes += [f"Column {column.name!r} was cut {how}: {listing(tuple(column.values))}." for column in columns]
        else:
            each = [f"{column.name!r} at {upper_ends(tuple(column.values))}" for column in columns[:MOST_NAMED]]
            more = f"; and {len(columns) - len(each):,} more" if len(columns) > len(each) else ""
            notes.append(f"{len(columns):,} columns were cut, each {how}: {'; '.join(each)}{more}.")
    return notes


def cut_in_words(rule: Rule, n_states: int) -> str:
    asked, where = described(rule)
    fewer = f" instead of {asked}, because of equal values or empty intervals" if n_states < asked else ""
    return f"{where} into {plural(n_states, 'state')}{fewer}"


def upper_ends(states: Sequence[str]) -> str:
    """The cut points, as ``interval_labels`` writes them; "any number" has none."""
    ends = [state.split()[-1].removesuffix("]") for state in states[:-1]] or list(states)
    return ", ".join([*ends[:MOST_NAMED], *(["..."] if len(ends) > MOST_NAMED else [])])


def described(rule: Rule) -> tuple[int, str]:
    """How many states the rule asks for, and where it cuts."""
    if isinstance(rule, CutPoints):
        return len(rule.points) + 1, "at the points given"
    if isinstance(rule, Mean):
        return 2, "at its mean"
    if isinstance(rule, Uniform):
        return rule.k, "at equal distances"
    return rule.k, "at its median" if rule.k == 2 else "at its quantiles"
