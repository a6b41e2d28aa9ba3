"""The categories that Parquet files declare, which engines forget: they are states, with rows or without."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from topdag.data.columns import MISSING, Column, plain

Categories = Mapping[str, Sequence[str | int]]
"""Of some columns, in their order."""


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
            for group in range(opened.num_row_groups if found else 0):  # each has its own, which stand before the rows
                for batch in opened.iter_batches(batch_size=1, row_groups=[group], columns=list(found)):
                    for name in found:
                        found[name].update(dict.fromkeys(batch.column(name).dictionary.to_pylist()))
                    break
    known = {name: [plain(each) for each in own if each is not None] for name, own in found.items()}
    return {name: own for name, own in known.items() if own and all(type(each) in (str, int) for each in own)}


def with_categories(column: Column, categories: Categories) -> Column:
    """The column, its states in the order of its categories, if it has any."""
    if column.name not in categories:
        return column
    values = tuple(dict.fromkeys((*categories[column.name], *column.values)))
    places = {value: place for place, value in enumerate(values)}
    codes = np.array([*(places[value] for value in column.values), MISSING])
    return Column(column.name, values, codes[column.codes], declared=True)
