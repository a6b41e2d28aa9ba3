"""How many distinct rows a lazy frame has, about, and whether they can be held."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals.stable.v2 as nw

from topdag._util.memory import available_memory
from topdag.data.series import BYTES_OF_A_CODE, BYTES_OF_A_ROW, gives_parts, is_of_duckdb

FEW_CELLS = 2**22
"""A table with at most so many is read as it is: the order of its rows tells more than how often each occurs."""
BYTES_OF_A_CELL = 17
"""Of rows that are collected: 5 million rows of 20 columns take 1.7 GB."""


def rows_fit(frame: Any, n_columns: int, memory_limit: int | None, *, few: bool) -> bool:
    """Whether all rows of a lazy frame can be collected; ``few``: whether they are few besides."""
    allowed = available_memory() if memory_limit is None else min(memory_limit, available_memory())
    most = min(FEW_CELLS if few else allowed, allowed // BYTES_OF_A_CELL)
    return int(frame.select(nw.len()).collect().item()) * n_columns <= most


def fits_in_memory(frame: Any, names: Sequence[str], memory_limit: int | None) -> bool:
    """Whether the distinct rows of these columns can be held while they are made a table. True, too, where an engine
    gives neither their number nor its rows chunk by chunk: then they have to be. The engine itself takes half."""
    allowed = available_memory() if memory_limit is None else min(memory_limit, available_memory())
    most = allowed / 2 / (2 * BYTES_OF_A_CODE * len(names) + BYTES_OF_A_ROW)
    if not gives_parts(frame.to_native()) or int(frame.select(nw.len()).collect().item()) <= most:
        return True
    return n_distinct_about(frame.select(*names).to_native()) <= most


def n_distinct_about(native: Any) -> int:
    """Counted by an engine in one reading and little memory, a few hundredths too many or too few."""
    if is_of_duckdb(native):
        quoted = ", ".join('"' + name.replace('"', '""') + '"' for name in native.columns)
        return int(native.aggregate(f"approx_count_distinct(hash({quoted}))").fetchall()[0][0])
    import polars

    return int(native.select(polars.struct(polars.all()).hash().approx_n_unique()).collect(engine="streaming").item())
