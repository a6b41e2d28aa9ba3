"""Columns from frames of any library that narwhals knows.

Lazy frames are checked, cut and grouped into distinct rows by their own engine; only those are collected.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from functools import reduce
from itertools import chain, islice
from numbers import Integral
from operator import add
from os import PathLike
from types import MappingProxyType
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from topdag._util.messages import Place, check_known, listing, place_in_frame, place_in_lazy_frame, plural
from topdag._util.options import option
from topdag.data.build import Grouped, Options, check_names, require_rows_countable
from topdag.data.columns import MISSING, Column, is_missing, left_in
from topdag.data.continuous import MISSING_CODES, missing_code
from topdag.data.discretize import (
    LARGEST_NUMBER,
    MOST_WHOLE,
    Rule,
    cut_points,
    note_on_uncut,
    notes_on_cuts,
    require_cut,
    rules_apart,
    rules_by_column,
    statistics_needed,
    too_large_to_cut,
    with_cuts,
)
from topdag.data.gaps import advice_on_gaps, gaps_refused, note_on_dropped, note_on_states_lost
from topdag.data.guess.types import FEWEST_OF_NUMBERS
from topdag.data.lazy.categories import Categories, categories_in, with_categories
from topdag.data.lazy.chunks import ChunkedRows, chunked, counted_alone, stamps
from topdag.data.lazy.distinct import fits_in_memory, rows_fit
from topdag.data.lazy.parquet_columns import why_not_duckdb
from topdag.data.lazy.parquet_files import frame_of_files, parquet_files
from topdag.data.notes import note_on_missing_codes
from topdag.data.series import columns_of_series, counted, gives_parts, is_of_duckdb, told_of
from topdag.errors import TableError

COLUMNS_AT_ONCE = 8
Parts = tuple[list[Column], Options, Place, tuple[str, ...], ChunkedRows | None]
"""What a table is built from: columns, how, how rows are named in errors, notes, and rows that cannot be held."""


def parts_of_frame(source: Any, options: Options) -> Parts:
    with told_of(f"this {type(source).__name__}"):
        frame = nw.from_native(source)
        names = [name for _, name in left_in(frame.collect_schema().names(), options.used)]
        why_not = why_not_duckdb(names) if is_of_duckdb(source) else ""
        if why_not:
            raise TableError(why_not)
        if not options.used.are_all:
            frame = frame.select(names)
        return parts_of_used(frame, options)


def parts_of_files(path: str | PathLike[str], options: Options) -> Parts:
    """Those of all Parquet files that a folder or a pattern stands for."""
    files = parquet_files(path)
    as_they_were = stamps(files)

    def rows_of(in_order: bool) -> AbstractContextManager[Any]:
        return frame_of_files(files, options.used, in_order=in_order, memory_limit=options.memory_limit)

    with told_of("this file" if len(files) == 1 else "these files"), ExitStack() as opened:
        frame = opened.enter_context(rows_of(options.needs_every_row))
        if not options.needs_every_row and needs_every_row(frame, options):
            frame = opened.enter_context(rows_of(True))
        categories = categories_in(files, frame.collect_schema().names())
        columns, how, place, notes, chunks = parts_of_used(frame, options, categories)
        return columns, how, place, notes, None if chunks is None else replace(chunks, files=as_they_were)


def parts_of_used(frame: Any, options: Options, categories: Categories = MappingProxyType({})) -> Parts:
    """Those of a frame all of whose columns are used; ``categories``: what its engine does not know of them."""
    if isinstance(frame, nw.LazyFrame) and not needs_every_row(frame, options):
        return parts_of_lazy_frame(frame, options, categories)
    schema = frame.collect_schema()
    frame = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    columns = [with_categories(column, categories) for column in columns_of_series(frame.iter_columns())]
    require_integers(columns, schema)
    return columns, options, place_in_frame, (), None


def needs_every_row(frame: Any, options: Options) -> bool:
    """Return whether rows come one by one: decimals that stay numbers hardly ever make equal rows, and few cells are
    read at once. Where memory does not hold the rows, engines group them, and decimals have to be cut."""
    for_all, rules = rules_apart(options.discretize)
    stay = [
        name
        for name, dtype in frame.collect_schema().items()
        if (dtype.is_float() or dtype.is_decimal()) and (rules.get(name) or for_all) is None and name != options.weights
    ]
    n_columns = len(frame.collect_schema())
    return options.needs_every_row or rows_fit(frame, n_columns, options.memory_limit, few=not stay)


def columns_of_frame(source: Any) -> list[Column]:
    """The columns of a frame as they are, row by row; a lazy frame is collected."""
    try:
        frame = nw.from_native(source)
        whole = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
        return columns_of_series(whole.iter_columns())
    except TableError:
        raise
    except Exception as error:  # every library and engine has errors of its own
        raise TableError(f"this {type(source).__name__} cannot be read as rows: {error}") from error


def parts_of_lazy_frame(frame: Any, options: Options, categories: Categories) -> Parts:
    """The columns of a lazy frame: its engine counts gaps, finds cut points, cuts, and counts equal rows."""
    schema = dict(frame.collect_schema())
    weight = options.weights
    if weight is not None and not isinstance(weight, str):
        raise TableError(f"{option('weights')} must be the name of a column here: an engine counts rows in any order")
    names = [name for name in schema if name != weight]
    check_names(names)
    frame, weight_notes = rows_with_weight(frame, weight, schema)
    missing_codes = missing_codes_by_engine(frame, {name: schema[name] for name in names}, options)
    frame = with_columns(
        frame, [nw.when(nw.col(name) != code).then(nw.col(name)).alias(name) for name, code in missing_codes.items()]
    )
    gaps = {name: gap(name, schema[name].is_float()) for name in names}
    whole = frame
    frame, gap_notes = rows_without_gaps(frame, gaps, way_with_gaps(frame, names, options))
    rules, rule_notes, floats = rules_for_lazy(frame, schema, gaps, options, categories)
    require_cut(floats)
    frame = with_columns(frame, [nw.col(name).cast(nw.Float64) for name in rules])
    frame = with_columns(frame, [nw.when(~gaps[name]).then(nw.col(name)).alias(name) for name in rules])
    points = points_by_engine(frame, rules, weight)
    frame = with_columns(frame, [interval(name, points[name], gaps[name]) for name in rules])
    is_held = fits_in_memory(frame, names, options.memory_limit)
    if is_held:
        columns, counts = counted(frame, names, weight)
    else:
        columns, alone = counted_alone(frame, names, weight)
    require_integers([column for column in columns if column.name not in rules], schema)
    made = [
        cut_by_engine(column, rules[column.name], points[column.name])
        if column.name in rules
        else with_categories(column, categories)
        for column in columns
    ]
    cut_notes = notes_on_cuts((column for column in made if column.name in rules), rules)
    if gap_notes:
        gap_notes += states_lost_with_rows(whole, gaps, [column for column in made if column.name not in rules])
    notes = (*weight_notes, *note_on_missing_codes(missing_codes), *gap_notes, *cut_notes, *rule_notes)
    if is_held:
        done = Grouped(options, tuple(rules), notes)
        return made, replace(options, discretize=None, weights=counts, grouped=done), place_in_lazy_frame, (), None
    chunks, notes_on_states = chunked(frame, weight, columns, made, alone, options, rules)
    return made, options, place_in_lazy_frame, (*notes, *notes_on_states), chunks


def require_integers(columns: Sequence[Column], schema: Mapping[str, Any]) -> None:
    """Raise TableError where integers came as floats that do not tell them apart, as the widest ones of DuckDB do."""
    for column in columns:
        is_wide = column.is_float and schema[column.name].is_integer() and len(column.values)
        if is_wide and max(abs(column.values[0]), abs(column.values[-1])) >= MOST_WHOLE:
            raise TableError(
                f"column {column.name!r} holds integers of 2**53 or more, which its engine hands over as floats that "
                f"do not tell them apart: make texts of them, or leave the column out with "
                f"{option('leave_out', [column.name])}"
            )


def with_columns(frame: Any, expressions: Sequence[Any]) -> Any:
    return frame.with_columns(*expressions) if expressions else frame


def answers(frame: Any, expressions: Sequence[Any]) -> list[float]:
    """A number for each expression, computed together; 0 where there was nothing to compute it from. Whole numbers are
    exact."""
    named = [expression.alias(f"answer {i}") for i, expression in enumerate(expressions)]
    row = frame.select(*named).collect().row(0) if named else ()
    return [
        int(number) if isinstance(number, Integral) else 0.0 if is_missing(number) else float(number) for number in row
    ]


def few_at_once(frame: Any, asked: Sequence[Sequence[Any]]) -> list[list[float]]:
    """Answers to what takes memory to answer: of some columns after the others where an engine reads them by
    themselves, all in one reading where that may be long."""
    at_once = COLUMNS_AT_ONCE if gives_parts(frame.to_native()) else max(1, len(asked))
    found = list[list[float]]()
    for begin in range(0, len(asked), at_once):
        some = asked[begin : begin + at_once]
        rest = iter(answers(frame, list(chain.from_iterable(some))))
        found += [list(islice(rest, len(own))) for own in some]
    return found


def gap(name: str, may_be_nan: bool) -> Any:
    """DuckDB takes statistics in Parquet files, which leave NaN out, to say that nothing is NaN; so it is asked what is
    neither finite nor infinite."""
    cell = nw.col(name)
    is_number = cell.is_finite() | (cell == math.inf) | (cell == -math.inf)
    return cell.is_null() | ~is_number if may_be_nan else cell.is_null()


def rows_with_weight(frame: Any, weight: str | None, schema: Mapping[str, Any]) -> tuple[Any, tuple[str, ...]]:
    """The rows that count, and a note on the others."""
    if weight is None:
        return frame, ()
    check_known(weight, list(schema), option("weights"))
    if not schema[weight].is_numeric():  # engines would make numbers of texts
        raise TableError(f"the weights in column {weight!r} are no numbers; weights are whole numbers from 0 on")
    cell = nw.col(weight)
    frame = frame.with_columns(cell.cast(nw.Float64))
    is_wrong = gap(weight, True) | (cell < 0) | (cell.round(0) != cell) | ~cell.is_finite()
    n_wrong, n_zero, n_rows = answers(frame, [is_wrong.sum(), (cell == 0).sum(), nw.len()])
    if n_wrong:
        wrong = plural(int(n_wrong), "weight")
        raise TableError(f"{wrong} in column {weight!r}: missing, negative, infinite or not whole")
    require_rows_countable(*answers(frame, [cell.sum()]))
    return frame.filter(cell > 0), note_on_dropped(int(n_zero), int(n_rows), "weight 0")


def rules_for_lazy(
    frame: Any, schema: Mapping[str, Any], gaps: Mapping[str, Any], options: Options, categories: Categories
) -> tuple[dict[str, Rule], tuple[str, ...], list[str]]:
    """The rules by column, with a note on what they leave, and floats without one, unless their states are declared or
    they are whole numbers. What a rule asks of a column the engine finds out."""
    declared = {*(options.states or {}), *categories}
    numeric = [name for name in gaps if schema[name].is_numeric() and name not in declared]
    floats = [name for name in numeric if schema[name].is_float() or schema[name].is_decimal()]
    check_finite(frame, {name: gaps[name] for name in floats if schema[name].is_float()})
    for_all, _ = rules_apart(options.discretize)
    columns = columns_like(frame, numeric if for_all is not None else floats, floats, gaps)
    others = [name for name in gaps if name not in {column.name for column in columns}]
    rules = rules_by_column(options.discretize, columns, others)
    for name in rules:
        if not schema[name].is_numeric():
            raise TableError(f"{option('discretize')} names column {name!r}, which does not hold numbers")
    check_exact(frame, [name for name in rules if name not in floats])
    uncut = [column for column in columns if column.name not in rules]
    return rules, note_on_uncut(options.discretize, uncut), [column.name for column in uncut if column.is_float]


def columns_like(frame: Any, names: Sequence[str], floats: Sequence[str], gaps: Mapping[str, Any]) -> list[Column]:
    """Columns that rules see as they see those of the frame: of numbers that are not whole one such, of whole numbers
    the least ones, as many as there are, with as many rows."""
    asked = list[list[Any]]()
    for name in names:
        cell = nw.when(~gaps[name]).then(nw.col(name).cast(nw.Float64))
        is_broken = (cell.round(0) != cell) | (cell.abs() >= MOST_WHOLE)
        # How many numbers there are matters of whole ones only; to tell all others apart takes an engine much memory.
        # Integers are told apart as such, as beyond 2**53 floats are not.
        told_apart = nw.when(~is_broken).then(cell) if name in floats else nw.col(name)
        asked.append([gaps[name].sum(), told_apart.n_unique(), is_broken.sum(), told_apart.min(), told_apart.max()])
    (n_rows,) = map(int, answers(frame, [nw.len()]))
    columns = []
    for name, found in zip(names, few_at_once(frame, asked), strict=True):
        n_gaps, n_distinct, n_broken, least, most = map(int, found)
        n_values = n_distinct - (n_gaps > 0)
        numbers = (*range(n_values - 1), most - least) if n_values else ()
        values = np.array([0.5]) if name in floats and n_broken else numbers
        columns.append(Column(name, values, np.broadcast_to(np.int64(0), n_rows)))
    return columns


def check_finite(frame: Any, gaps: Mapping[str, Any]) -> None:
    counts = answers(frame, [(~nw.col(name).is_finite() & ~gaps[name]).sum() for name in gaps])
    for name, count in zip(gaps, counts, strict=True):
        if count:
            where = plural(int(count), "row")
            raise TableError(f"column {name!r} is infinite in {where}; put numbers there or leave them out")


def check_exact(frame: Any, names: Sequence[str]) -> None:
    """Columns of integers that are to be cut, which is done as floats."""
    counts = answers(frame, [(nw.col(name).cast(nw.Float64).abs() >= MOST_WHOLE).sum() for name in names])
    for name, count in zip(names, counts, strict=True):
        if count:
            raise too_large_to_cut(name)


def missing_codes_by_engine(frame: Any, schema: Mapping[str, Any], options: Options) -> dict[str, float]:
    """The codes for missing cells in columns of numbers of which nothing is said; see ``without_missing_codes``."""
    told = {*options.named, *(options.types or ())}
    names = [name for name, dtype in schema.items() if dtype.is_numeric() and name not in told]
    cells = {name: nw.when(~gap(name, schema[name].is_float())).then(nw.col(name)) for name in names}
    ends = answers(frame, [end for cell in cells.values() for end in (cell.min(), cell.max())])
    found = {}
    for name, least, most in zip(names, ends[::2], ends[1::2], strict=True):
        if least not in MISSING_CODES and most not in MISSING_CODES:
            continue
        cell = cells[name]
        inner = [nw.when(cell > least).then(cell).min(), nw.when(cell < most).then(cell).max()]
        asked = [cell.is_null().sum(), cell.n_unique(), *inner]
        n_gaps, n_distinct, next_least, next_most = answers(frame, asked)
        code = missing_code(least, next_least, next_most, most)
        if code is not None and n_distinct - (n_gaps > 0) >= FEWEST_OF_NUMBERS:
            found[name] = code
    return found


def way_with_gaps(frame: Any, names: Sequence[str], options: Options) -> str:
    """Return what an engine does with rows that have gaps: those that may go are kept until types are known, where no
    cut depends on them and all rows are held."""
    if options.missing not in ("auto", "drop"):
        return options.missing
    may_wait = options.discretize is None and fits_in_memory(frame, names, options.memory_limit)
    return "keep" if may_wait else "drop"


def rows_without_gaps(frame: Any, gaps: Mapping[str, Any], missing: str) -> tuple[Any, tuple[str, ...]]:
    """Return the rows that the user wants of those with missing values, and a note on the others."""

    def either(others: Sequence[Any]) -> Any:
        return nw.any_horizontal(*others, ignore_nulls=True)

    any_gap = either(list(gaps.values()))
    asked = [nw.len(), any_gap.sum(), *(is_gap.sum() for is_gap in gaps.values())]
    n_rows, n_with_gaps, *counts = map(int, answers(frame, asked))
    if not n_with_gaps or missing in ("state", "keep"):
        return frame, ()
    n_gaps = {name: n for name, n in zip(gaps, counts, strict=True) if n}
    if missing == "error":
        raise TableError(gaps_refused([f"{name!r} ({plural(n, 'row')})" for name, n in n_gaps.items()]))

    def rows_without(left_out: Sequence[str]) -> int:
        others = [is_gap for name, is_gap in gaps.items() if name not in left_out]
        return n_rows - int(answers(frame, [either(others).sum()])[0]) if others else n_rows

    advice = advice_on_gaps(n_gaps, len(gaps), n_rows, rows_without)
    return frame.filter(~any_gap), note_on_dropped(n_with_gaps, n_rows, "missing values", advice)


def states_lost_with_rows(whole: Any, gaps: Mapping[str, Any], columns: Sequence[Column]) -> tuple[str, ...]:
    """A note on columns that had several states before rows were dropped."""
    constant = [column for column in columns if len(column.values) == 1]
    asked = [of for column in constant for of in (nw.col(column.name).n_unique(), gaps[column.name].any())]
    found = answers(whole, [nw.len(), *asked]) if constant else [0.0]
    had = zip(constant, found[1::2], found[2::2], strict=True)
    always = {column.name: column.values[0] for column, n_unique, has_gap in had if n_unique - has_gap > 1}
    return note_on_states_lost(always, int(found[0]))


def points_by_engine(frame: Any, rules: Mapping[str, Rule], weight: str | None) -> dict[str, tuple[float, ...]]:
    """The cut points of every column that is cut, in one query."""
    needed = {name: statistics_needed(rule) for name, rule in rules.items()}
    asked = [engine_statistic(name, kind, p, weight) for name in needed for kind, p in needed[name]]
    try:
        found = answers(frame, asked)
    except NotImplementedError as error:
        raise TableError(f"this engine cannot find medians or quantiles, give cut points: {error}") from error
    if any(abs(number) > LARGEST_NUMBER for number in found):
        raise TableError(f"numbers beyond {LARGEST_NUMBER:g} in {listing(list(rules))} are too large to cut")
    rest = iter(found)
    return {name: cut_points(rules[name], list(islice(rest, len(needed[name])))) for name in rules}


def engine_statistic(name: str, kind: str, p: float, weight: str | None) -> Any:
    cell = nw.col(name)
    if kind == "quantile":
        if weight is not None:
            raise TableError(f"column {name!r} needs cut points: no engine finds quantiles of rows with weights")
        return cell.quantile(p, interpolation="linear")
    if kind == "mean" and weight is not None:
        return (cell * nw.col(weight)).sum() / nw.when(~cell.is_null()).then(nw.col(weight)).sum()
    return getattr(cell, kind)()


def interval(name: str, points: Sequence[float], is_gap: Any) -> Any:
    """The place of a cell's interval, MISSING if the cell is."""
    above = reduce(add, ((nw.col(name) > point).cast(nw.Int32) for point in points))
    return nw.when(is_gap).then(nw.lit(MISSING)).otherwise(above).alias(name)


def cut_by_engine(column: Column, rule: Rule, points: Sequence[float]) -> Column:
    return with_cuts(column, rule, points, np.array(column.values, dtype=np.int64)[column.codes])
