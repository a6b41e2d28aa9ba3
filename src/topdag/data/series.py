"""Columns from the series of a frame: of its rows, or of its distinct rows, part after part."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from topdag._util.memory import available_memory, shown_bytes
from topdag._util.options import option
from topdag.data.columns import MISSING, Column, column_of_array, column_of_objects, is_missing, plain
from topdag.errors import TableError, TooLarge

ROWS_OF_A_PART = 100_000
BYTES_OF_A_CODE = 4
"""Of a distinct row and a column, where the rows found are sorted into a table: a code on either side."""
BYTES_OF_A_ROW = 48
"""For its rank, its place and its weight, old and new."""


@contextmanager
def told_of(source: str, what: str = "cannot be read as a table") -> Iterator[None]:
    """What fails meanwhile is an error of the table; every library and engine has errors of its own."""
    try:
        yield
    except (TableError, TooLarge):
        raise
    except Exception as error:
        if str(error) == "Query interrupted":  # what DuckDB makes of Ctrl-C
            raise KeyboardInterrupt from error
        if type(error).__name__ == "OutOfMemoryException":
            raise TooLarge(
                f"{source} {what}: their engine needs more memory than it was given, half of what is free or of "
                f"{option('memory_limit')}. Allow more, or leave out columns ({option('leave_out')})."
            ) from error
        raise TableError(f"{source} {what}: {error}") from error


def columns_of_series(all_series: Iterable[Any]) -> list[Column]:
    """The columns; an error tells of all that cannot be used."""
    columns, wrong = list[Column](), list[str]()
    for series in all_series:
        try:
            columns.append(column_of_series(series))
        except TableError as error:
            wrong.append(str(error))
    if wrong:
        raise TableError("\n".join(wrong))
    return columns


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


def counted(
    frame: Any, names: Sequence[str], weight: str | None, check: Callable[[int], None] | None = None
) -> tuple[list[Column], NDArray[np.int64]]:
    """The distinct rows, as columns, and the number or weight of each. ``check`` is told how many were found so far; it
    raises where these are too many: for the memory, if nothing else is said."""
    count = "_" + max(names, key=len)  # longer than any other name
    number = nw.len() if weight is None else nw.col(weight).sum()
    parts, counts, n_distinct = list[list[Column]](), list[NDArray[np.int64]](), 0
    for rows in parts_of_rows(frame.group_by(*names).agg(number.alias(count))):
        parts.append([narrowed(column) for column in columns_of_series(rows.get_column(name) for name in names)])
        counts.append(np.asarray(rows.get_column(count).to_numpy()).astype(np.int64))
        n_distinct += len(rows)
        if check is None:
            require_memory_for(n_distinct, len(names))
        else:
            check(n_distinct)
    return [joined([part[v] for part in parts]) for v in range(len(names))], np.concatenate(counts)


def parts_of_rows(rows: Any, at_once: int = ROWS_OF_A_PART) -> Iterator[Any]:
    """Some rows after the other where the engine can, so that only their codes are held; else all of them."""
    native, is_any = rows.to_native(), False
    for part in native_parts(native, at_once):
        is_any = True
        yield nw.from_native(part, eager_only=True)
    if not is_any:
        yield rows.collect()


def native_parts(native: Any, at_once: int) -> Iterator[Any]:
    """Nothing where the engine does not give its rows so."""
    if is_of_duckdb(native):
        from pyarrow import Table

        yield from (Table.from_batches([batch]) for batch in native.to_arrow_reader(at_once))
    elif hasattr(native, "collect_batches"):  # of Polars
        yield from native.collect_batches(chunk_size=at_once, maintain_order=False)


def gives_parts(native: Any) -> bool:
    """Whether this is a lazy frame whose rows come part after part."""
    return is_of_duckdb(native) or hasattr(native, "collect_batches")


def is_of_duckdb(native: Any) -> bool:
    return hasattr(native, "to_arrow_reader")


def require_memory_for(n_distinct: int, n_columns: int) -> None:
    """Before so many rows are put together. Raises TooLarge."""
    needed, there_is = n_distinct * (BYTES_OF_A_CODE * n_columns + BYTES_OF_A_ROW), available_memory()
    if needed > there_is:
        raise TooLarge(
            f"The rows of this table are too different: {n_distinct:,} distinct rows of {n_columns} columns were found "
            f"so far, and a table of them takes {shown_bytes(needed)} more, where {shown_bytes(there_is)} are left. "
            f"Leave out columns ({option('leave_out')}), cut numbers into fewer states ({option('discretize')}), or "
            "take a part of the rows."
        )


def narrowed(column: Column) -> Column:
    """The same in as few bytes as its codes need; operations on codes may add one or two."""
    least = np.int16 if len(column.values) < np.iinfo(np.int16).max - 2 else np.int32
    return replace(column, codes=column.codes.astype(least))


def joined(parts: Sequence[Column]) -> Column:
    """One column of the rows of all parts, each of which has values of its own."""
    first = parts[0]
    if len(parts) == 1:
        return first
    if first.is_float:
        whole = column_of_array(first.name, np.concatenate([part.values for part in parts]))
    elif first.declared:
        states = list(chain.from_iterable(part.values for part in parts))
        whole = column_of_categories(first.name, states, states)
    else:
        whole = column_of_objects(first.name, list(chain.from_iterable(part.values for part in parts)))
    whole = narrowed(whole)
    begins = np.cumsum([0, *(len(part.values) for part in parts)])
    codes = [
        np.append(whole.codes[begin:end], whole.codes.dtype.type(MISSING))[part.codes]  # which is the last
        for part, begin, end in zip(parts, begins, begins[1:], strict=False)
    ]
    return replace(whole, codes=np.concatenate(codes))
