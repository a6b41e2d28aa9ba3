"""Columns from what is in memory: arrays, dicts, rows, and frames of any library that narwhals knows.

Lazy frames are checked, cut and grouped into distinct rows by their own engine; only those are collected.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from itertools import islice
from operator import add
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .discretize import (
    LARGEST_NUMBER,
    MISSING,
    Rule,
    check_known,
    cut_points,
    listing,
    plain,
    plural,
    refuse_floats,
    rules_by_column,
    statistics_needed,
    with_cuts,
)
from .errors import TableError
from .reading import column_of_array, column_of_objects, is_missing
from .table import (
    Column,
    Options,
    Table,
    build,
    check_names,
    missing_error,
    note_on_dropped,
    place_in_frame,
)


def table_from(source: Any, names: Sequence[str] | None, options: Options) -> Table:
    """The table of any source that is not a file."""
    if isinstance(source, Table):
        return same_table(source, names, options)
    if isinstance(source, str | bytes | PathLike):
        raise TableError("Table() takes what is in memory; read_table() reads files")
    if is_frame(source) or isinstance(source, Mapping):
        if names is not None:
            raise TableError("names= is for arrays and lists of rows; this source has names of its own")
        return (
            table_of_frame(source, options)
            if is_frame(source)
            else build(dict_columns(source), options, place_in_frame)
        )
    columns = row_columns(source, names) if isinstance(source, list | tuple) else array_columns(source, names)
    return build(columns, options, place_in_frame)


def is_frame(source: Any) -> bool:
    """Told by the class, so that nothing is imported or computed for it."""
    return hasattr(type(source), "columns") and not isinstance(source, Mapping)


def same_table(table: Table, names: Sequence[str] | None, options: Options) -> Table:
    given = (names, options.discretize, options.weights, options.states)
    if any(option is not None for option in given) or options.missing != "error":
        raise TableError("a Table is coded already: of the options only keep_constant= can be given again")
    return Table._made(
        table.names, table.states, table.codes, table.weights, table.notes, table.keep_constant or options.keep_constant
    )


def array_columns(source: Any, names: Sequence[str] | None) -> list[Column]:
    """A column for each column of a two-dimensional array."""
    array = as_array(source)
    if array.ndim != 2:
        raise TableError(f"an array must have two dimensions, not {array.ndim}: rows and columns")
    return [column_of_array(name, array[:, j]) for j, name in enumerate(names_for(array.shape[1], names))]


def as_array(source: Any) -> NDArray[Any]:
    try:
        array = np.asanyarray(source)
    except (TypeError, ValueError) as error:
        raise TableError(f"cannot make an array of {type(source).__name__}: {error}") from None
    if not isinstance(array, np.ma.MaskedArray):
        return np.asarray(array)
    cells = np.array(array, dtype=object)
    cells[np.ma.getmaskarray(array)] = None
    return cells


def names_for(count: int, names: Sequence[str] | None) -> list[str]:
    if names is None:
        return [f"V{j}" for j in range(count)]
    if isinstance(names, str) or len(names) != count:
        raise TableError(f"names= must list a name for each of {plural(count, 'column')}, not {names!r}")
    return [str(name) for name in names]


def dict_columns(source: Mapping[Any, Any]) -> list[Column]:
    columns = [column_of_cells(str(name), cells) for name, cells in source.items()]
    for column in columns:
        if len(column.codes) != len(columns[0].codes):
            raise TableError(
                f"column {column.name!r} has {plural(len(column.codes), 'row')}, "
                f"but {columns[0].name!r} has {len(columns[0].codes):,}"
            )
    return columns


def row_columns(rows: Sequence[Any], names: Sequence[str] | None) -> list[Column]:
    """Columns of a list of dicts (a key that a row lacks is missing) or of a list of lists."""
    if not rows:
        raise TableError("the table has no rows")
    if isinstance(rows[0], Mapping):
        return dict_columns(dicts_turned(rows))
    for place, row in enumerate(rows):
        if isinstance(row, str) or not isinstance(row, Sequence | np.ndarray):
            raise TableError(f"{place_in_frame(place)} is not a list of cells but {type(row).__name__}")
        if len(row) != len(rows[0]):
            raise TableError(f"{place_in_frame(place)} has {len(row)} cells, the first one {len(rows[0])}")
    return [column_of_cells(name, [row[j] for row in rows]) for j, name in enumerate(names_for(len(rows[0]), names))]


def dicts_turned(rows: Sequence[Any]) -> dict[Any, list[Any]]:
    names = dict.fromkeys(rows[0])
    for place, row in enumerate(rows):
        if not isinstance(row, Mapping) or not row.keys() <= names.keys():
            raise TableError(f"{place_in_frame(place)} is not a dict with the keys of the first one")
    return {name: [row.get(name) for row in rows] for name in names}


def weights_column(weights: ArrayLike, n_rows: int) -> Column:
    array = as_array(weights)
    if array.shape != (n_rows,):
        raise TableError(f"weights= has shape {array.shape}, but there are {plural(n_rows, 'row')}")
    return column_of_array("weights", array)


def column_of_cells(name: str, cells: Any) -> Column:
    if isinstance(cells, np.ndarray):
        return column_of_array(name, as_array(cells))
    if isinstance(cells, str | bytes) or not isinstance(cells, Iterable):
        raise TableError(f"column {name!r} must be a list or an array, not {type(cells).__name__}")
    return column_of_objects(name, list(cells))


def table_of_frame(source: Any, options: Options) -> Table:
    import narwhals.stable.v2 as nw

    try:
        frame = nw.from_native(source)
        if isinstance(frame, nw.LazyFrame):
            return table_of_lazy_frame(frame, options)
        columns = [column_of_series(series) for series in frame.iter_columns()]
    except TableError:
        raise
    except Exception as error:  # every library and engine has errors of its own
        raise TableError(f"this {type(source).__name__} cannot be read as a table: {error}") from error
    return build(columns, options, place_in_frame)


def column_of_series(series: Any) -> Column:
    name = str(series.name)
    is_null = np.asarray(series.is_null().to_numpy(), dtype=bool)
    present = series.drop_nulls() if is_null.any() else series
    categories = categories_of(series)
    if categories is not None:
        column = column_of_categories(name, categories, present.to_list())
    elif series.dtype.is_integer() or series.dtype.is_float():
        column = column_of_array(name, np.asarray(present.to_numpy()))
    else:
        column = column_of_objects(name, present.to_list())
    codes = np.full(len(is_null), MISSING, np.int64)
    codes[~is_null] = column.codes
    return replace(column, codes=codes)


def categories_of(series: Any) -> Sequence[Any] | None:
    """The categories that a column declares. A Polars Categorical has none of its own: columns share them."""
    import narwhals.stable.v2 as nw

    native = series.to_native()
    if series.dtype == nw.Categorical and hasattr(native, "unify_dictionaries"):
        chunks = native.unify_dictionaries().chunks
        return list(chunks[0].dictionary.to_pylist()) if chunks else []
    if series.dtype == nw.Categorical and hasattr(getattr(native, "cat", None), "categories"):
        return list(native.cat.categories)
    return list(series.dtype.categories) if series.dtype == nw.Enum else None


def column_of_categories(name: str, categories: Sequence[Any], cells: Sequence[Any]) -> Column:
    declared = [plain(category) for category in dict.fromkeys(categories) if not is_missing(category)]
    code_of = {category: code for code, category in enumerate(declared)}
    codes = np.fromiter((code_of.get(cell, MISSING) for cell in cells), np.int64, len(cells))
    states = (state if isinstance(state, str | int | float) else str(state) for state in declared)
    return Column(name, tuple(states), codes, declared=True)


def table_of_lazy_frame(frame: Any, options: Options) -> Table:
    """The table of a lazy frame: its engine counts gaps, finds cut points, cuts, and counts equal rows."""
    import narwhals.stable.v2 as nw

    schema = dict(frame.collect_schema())
    weight = options.weights
    if weight is not None and not isinstance(weight, str):
        raise TableError("weights= of a lazy frame must be the name of a column")
    names = [name for name in schema if name != weight]
    check_names(names)
    frame, weight_notes = rows_with_weight(frame, weight, list(schema))
    rules = rules_for_lazy(names, schema, options)
    frame = with_columns(frame, [nw.col(name).cast(nw.Float64) for name in rules])
    gaps = {name: gap(name, name in rules or schema[name].is_float()) for name in names}
    frame = with_columns(frame, [nw.when(~gaps[name]).then(nw.col(name)).alias(name) for name in rules])
    frame, gap_notes = rows_without_gaps(frame, gaps, options.missing)
    check_finite(frame, {name: gaps[name] for name in rules})
    points = points_by_engine(frame, rules, weight)
    frame = with_columns(frame, [interval(name, points[name], gaps[name]) for name in rules])
    columns, counts = counted(frame, names, weight)
    cuts = [
        cut_by_engine(column, rules[column.name], points[column.name]) if column.name in rules else (column, "")
        for column in columns
    ]
    notes = [*weight_notes, *gap_notes, *(note for _, note in cuts if note)]
    options = replace(options, discretize=None, weights=counts)
    return build([column for column, _ in cuts], options, place_in_lazy_frame, notes)


def place_in_lazy_frame(row: int) -> str:
    return "a row of the lazy frame"


def with_columns(frame: Any, expressions: Sequence[Any]) -> Any:
    return frame.with_columns(*expressions) if expressions else frame


def answers(frame: Any, expressions: Sequence[Any]) -> list[float]:
    """A number for each expression, computed together; 0 where there was nothing to compute it from."""
    named = [expression.alias(f"answer {i}") for i, expression in enumerate(expressions)]
    row = frame.select(*named).collect().row(0) if named else ()
    return [0.0 if is_missing(number) else float(number) for number in row]


def gap(name: str, may_be_nan: bool) -> Any:
    import narwhals.stable.v2 as nw

    cell = nw.col(name)
    return cell.is_null() | cell.is_nan() if may_be_nan else cell.is_null()


def rows_with_weight(frame: Any, weight: str | None, names: Sequence[str]) -> tuple[Any, tuple[str, ...]]:
    """The rows that count, and a note on the others."""
    import narwhals.stable.v2 as nw

    if weight is None:
        return frame, ()
    check_known(weight, names, "weights=")
    cell = nw.col(weight)
    frame = frame.with_columns(cell.cast(nw.Float64))
    is_wrong = gap(weight, True) | (cell < 0) | (cell.round(0) != cell) | ~cell.is_finite()
    n_wrong, n_zero, n_rows = answers(frame, [is_wrong.sum(), (cell == 0).sum(), nw.len()])
    if n_wrong:
        raise TableError(
            f"column {weight!r} has {plural(int(n_wrong), 'weight')} that is missing, negative, infinite or not whole"
        )
    return frame.filter(cell > 0), note_on_dropped(int(n_zero), int(n_rows), "weight 0")


def rules_for_lazy(names: Sequence[str], schema: Mapping[str, Any], options: Options) -> dict[str, Rule]:
    """The rules by column; floats without one are refused unless their states are declared."""
    floats = [
        name
        for name in names
        if (schema[name].is_float() or schema[name].is_decimal()) and name not in (options.states or {})
    ]
    rules = rules_by_column(options.discretize, names, floats)
    refuse_floats([name for name in floats if name not in rules], ())
    for name in rules:
        if not schema[name].is_numeric():
            raise TableError(f"discretize= names column {name!r}, which does not hold numbers")
    return rules


def check_finite(frame: Any, gaps: Mapping[str, Any]) -> None:
    import narwhals.stable.v2 as nw

    counts = answers(frame, [(~nw.col(name).is_finite() & ~gaps[name]).sum() for name in gaps])
    for name, count in zip(gaps, counts, strict=True):
        if count:
            raise TableError(f"column {name!r} is infinite in {plural(int(count), 'row')} of the lazy frame")


def rows_without_gaps(frame: Any, gaps: Mapping[str, Any], missing: str) -> tuple[Any, tuple[str, ...]]:
    """The rows that the user wants of those with missing values, and a note on the others."""
    import narwhals.stable.v2 as nw

    any_gap = nw.any_horizontal(*gaps.values(), ignore_nulls=True)
    asked = [nw.len(), any_gap.sum(), *(is_gap.sum() for is_gap in gaps.values())]
    n_rows, n_with_gaps, *counts = map(int, answers(frame, asked))
    if not n_with_gaps or missing == "state":
        return frame, ()
    if missing == "drop":
        return frame.filter(~any_gap), note_on_dropped(n_with_gaps, n_rows, "missing values")
    raise missing_error([f"{name!r} ({plural(n, 'row')})" for name, n in zip(gaps, counts, strict=True) if n])


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
    import narwhals.stable.v2 as nw

    cell = nw.col(name)
    if kind == "quantile":
        if weight is not None:
            raise TableError(
                f"column {name!r} of a lazy frame with weights needs cut points: its quantiles are not known"
            )
        return cell.quantile(p, interpolation="linear")
    if kind == "mean" and weight is not None:
        return (cell * nw.col(weight)).sum() / nw.when(~cell.is_null()).then(nw.col(weight)).sum()
    return getattr(cell, kind)()


def interval(name: str, points: Sequence[float], is_gap: Any) -> Any:
    """The place of a cell's interval, MISSING if the cell is."""
    import narwhals.stable.v2 as nw

    above = reduce(add, ((nw.col(name) > point).cast(nw.Int32) for point in points))
    return nw.when(is_gap).then(nw.lit(MISSING)).otherwise(above).alias(name)


def counted(frame: Any, names: Sequence[str], weight: str | None) -> tuple[list[Column], list[int]]:
    """The distinct rows, as columns, and the number or weight of each."""
    import narwhals.stable.v2 as nw

    count = "_" + max(names, key=len)  # longer than any other name
    number = nw.len() if weight is None else nw.col(weight).sum()
    rows = frame.group_by(*names).agg(number.alias(count)).collect()
    columns = [column_of_series(rows.get_column(name)) for name in names]
    return columns, [int(n) for n in rows.get_column(count).to_list()]


def cut_by_engine(column: Column, rule: Rule, points: Sequence[float]) -> tuple[Column, str]:
    return with_cuts(column, rule, points, np.array(column.values, dtype=np.int64)[column.codes])
