"""A table from whatever a question is given: a table, frame, array or path."""

from __future__ import annotations

import os
from typing import Any

from topdag.data.table import Table


def as_table(source: Any, numbers: str | None = None) -> Table:
    """``numbers``: the columns that stay numbers, as ``continuous=`` of a table says it."""
    if isinstance(source, Table):
        return source
    if isinstance(source, str | os.PathLike):
        from topdag.data.read import read_table

        return read_table(source, continuous=numbers)
    return Table(source, continuous=numbers)
