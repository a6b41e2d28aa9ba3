"""Many Parquet files as one table: an engine reads, cuts and counts them, and only the distinct rows come here.

A folder, or a pattern such as ``rows/*.parquet``, names them. DuckDB is preferred, which needs little memory and uses
the disk where that is not enough; else Polars.
"""

from __future__ import annotations

from glob import glob
from importlib import import_module
from os import PathLike, fspath
from pathlib import Path
from typing import Any

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


def lazy_frame(files: list[str]) -> Any:
    """What narwhals knows as a lazy frame of all their rows."""
    for library, opened in (("duckdb", _by_duckdb), ("polars", _by_polars)):
        try:
            module = import_module(library)
        except ImportError:
            continue
        try:
            return opened(module, files)
        except Exception as error:  # each library has its own
            raise TableError(f"the Parquet files cannot be read together: {error}") from error
    raise TableError("reading many Parquet files needs duckdb or polars: pip install 'topdag[large]'")


def _by_duckdb(duckdb: Any, files: list[str]) -> Any:
    connection = duckdb.connect(config={"preserve_insertion_order": False})  # rows are counted, in any order
    return connection.read_parquet(files)


def _by_polars(polars: Any, files: list[str]) -> Any:
    return polars.scan_parquet(files)
