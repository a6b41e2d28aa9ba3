"""A table from whatever a question is given: a table, frame, array or path, with what is said about reading it."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from typing import Any, TypedDict

from numpy.typing import ArrayLike

from topdag._util.brief import UnknownArgument
from topdag.data.build import Options
from topdag.data.columns import Interventions
from topdag.data.discretize import Discretize
from topdag.data.files.delimited import TextFormat
from topdag.data.table import Table, table_from
from topdag.errors import TableError


class Reading(TypedDict, total=False):
    """What can be said wherever a table, frame, array or path is taken: see ``Table``, and of files ``read_table``."""

    names: Sequence[str]
    discretize: Discretize
    missing: str
    weights: str | ArrayLike
    states: Mapping[str, Collection[Any]]
    keep_constant: bool
    types: Mapping[str, str]
    columns: Collection[str]
    leave_out: Collection[str]
    interventions: Interventions
    separator: str | None
    header: bool
    encoding: str | None
    decimal: str
    missing_values: Collection[str]


OF_FILES = tuple(field.name for field in fields(TextFormat))


def as_table(source: Any, reading: Reading | None = None, memory_limit: int | None = None, **more: Any) -> Table:
    """Return the table that a source holds, read as is said; ``memory_limit``: of the question about it."""
    said: dict[str, Any] = dict(reading or {})
    check_arguments(said, Reading.__annotations__)
    if isinstance(source, Table):
        if said:
            raise TableError(f"a Table is coded already: give {_listed(said)} when it is made")
        return source
    of_file = {name: said.pop(name) for name in OF_FILES if name in said}
    names = said.pop("names", None)
    options = Options(**said, memory_limit=memory_limit, **more)
    if isinstance(source, str | os.PathLike) or hasattr(type(source), "read"):  # a frame may have such a column
        from topdag.data.files.read import table_at, text_format

        return table_at(source, text_format(**of_file), options)
    if of_file:
        raise TableError(f"{_listed(of_file)} is for files, and this is a {type(source).__name__}")
    return table_from(source, names, options)


def check_arguments(said: Mapping[str, Any], known: Collection[str]) -> None:
    """An error for what cannot be said, as Python does for any argument that a function does not take."""
    for name in said:
        if name not in known:
            raise UnknownArgument(name, known)


def _listed(said: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}=" for name in said)
