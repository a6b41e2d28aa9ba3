"""The categories that Parquet files declare, which engines forget: they are states, with rows or without."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from topdag.data.columns import MISSING, Column, plain

Categories = Mapping[str, Sequence[str | int]]
"""Of some columns, in their order."""
ROWS_AT_ONCE = 2**17


def categories_in(files: Sequence[str], names: Collection[str]) -> Categories:
    """Those of the columns that are texts or integers with categories in every file; none without pyarrow, as where a
    file is read whole."""
    try:
        parquet = import_module("pyarrow.parquet")
    except ImportError:
        return {}
    found: dict[str, dict[Any, None]] = {name: {} for name in names}
    for file in files:
        with parquet.ParquetFile(file) as opened:
            own = [field.name for field in opened.schema_arrow if hasattr(field.type, "index_type")]
            found = {name: found[name] for name in own if name in found}
            for name, own_of_rows in dictionaries_in(opened, list(found)):
                found[name].update(dict.fromkeys(own_of_rows.to_pylist()))
    known = {name: [plain(each) for each in own if each is not None] for name, own in found.items()}
    return {name: own for name, own in known.items() if own and all(type(each) in (str, int) for each in own)}


def dictionaries_in(file: Any, names: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """Those of these columns, each with its name. Groups of rows have their own, and where a writer gave a dictionary
    up, cells stand as they are, so that all rows are looked at."""
    last: dict[str, Any] = {}
    for group in range(file.num_row_groups if names else 0):
        for rows in file.iter_batches(ROWS_AT_ONCE, row_groups=[group], columns=names, use_threads=False):
            for name in names:
                found = rows.column(name).dictionary
                if name not in last or not found.equals(last[name]):
                    yield name, found
                last[name] = found


def with_categories(column: Column, categories: Categories) -> Column:
    """The column, its states in the order of its categories, if it has any."""
    if column.name not in categories:
        return column
    values = tuple(dict.fromkeys((*categories[column.name], *column.values)))
    places = {value: place for place, value in enumerate(values)}
    codes = np.array([*(places[value] for value in column.values), MISSING])
    return Column(column.name, values, codes[column.codes], declared=True)
