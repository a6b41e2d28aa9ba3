"""Many Parquet files as one table: an engine reads, cuts and counts them, and only the distinct rows come here.

A folder, or a pattern such as ``rows/*.parquet``, names them. DuckDB is preferred, which needs little memory and uses
the disk where that is not enough; else Polars.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from glob import glob
from importlib import import_module
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from topdag._util.memory import available_memory
from topdag._util.messages import listing
from topdag.data.sniff import PARQUET_ENDINGS
from topdag.errors import TableError


def parquet_files(path: str | PathLike[str]) -> list[str]:
    """The files that a folder or a pattern stands for, in order."""
    name = fspath(path)
    if Path(name).is_dir():
        found = [fspath(file) for file in Path(name).iterdir() if file.suffix.lower() in PARQUET_ENDINGS]
        if not found:
            raise TableError("this is a folder, not a file, and there are no Parquet files in it")
        return sorted(found)
    found = sorted(file for file in glob(name, recursive=True) if Path(file).is_file())
    if not found:
        raise TableError("no file has a name like this")
    others = [file for file in found if not file.lower().endswith(PARQUET_ENDINGS)]
    if others:
        raise TableError(f"a pattern is for Parquet files, and {others[0]} is none by its name")
    return found


def lazy_frame(files: list[str], *, in_order: bool) -> Any:
    """What narwhals knows as a lazy frame of all their rows; ``in_order``: file by file, row by row. To count rows any
    order will do."""
    for library, opened in (("duckdb", _by_duckdb), ("polars", _by_polars)):
        try:
            module = import_module(library)
        except ImportError:
            continue
        return opened(module, files, in_order)
    raise TableError("reading many Parquet files needs duckdb or polars: pip install 'topdag[large]'")


def _by_duckdb(duckdb: Any, files: list[str], in_order: bool) -> Any:
    most = f"{max(1, available_memory() // 2**21)}MiB"  # half: the distinct rows must find room beside it
    connection = duckdb.connect(config={"preserve_insertion_order": in_order, "memory_limit": most})
    _require_same_columns(files, lambda file: connection.read_parquet(file).columns)
    return connection.read_parquet(files)


def _by_polars(polars: Any, files: list[str], in_order: bool) -> Any:  # it keeps the order
    _require_same_columns(files, polars.read_parquet_schema)
    return polars.scan_parquet(files)


def _require_same_columns(files: list[str], columns_of: Callable[[str], Iterable[str]]) -> None:
    """Whatever an engine makes of it: some leave out, without a word, what the first file does not have."""
    first: set[str] | None = None
    for file in files:
        try:
            columns = set(columns_of(file))
        except Exception as error:  # each library has its own
            raise TableError(f"{file} cannot be read: {error}") from error
        first = columns if first is None else first
        if differing := sorted(first ^ columns):
            only = "is in one of them only" if len(differing) == 1 else "are in one of them only"
            raise TableError(
                f"{file} has other columns than {files[0]}: {listing(differing)} {only}. Write them with the same "
                "columns, or name those that have them by a pattern"
            )
