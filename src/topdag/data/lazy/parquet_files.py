"""Many Parquet files as one table: an engine reads, cuts and counts them, and only the distinct rows come here.

A folder, or a pattern such as ``rows/*.parquet``, names them. DuckDB is preferred, which needs little memory and uses
the disk where that is not enough; else Polars.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from glob import escape, glob
from importlib import import_module
from itertools import groupby
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw

from topdag._util.memory import available_memory
from topdag._util.options import option
from topdag._util.run import usable_cores
from topdag.data.columns import Used, left_in
from topdag.data.discretize import MOST_WHOLE
from topdag.data.files.sniff import PARQUET_ENDINGS
from topdag.data.lazy.distinct import BYTES_OF_A_CELL
from topdag.data.lazy.parquet_columns import FileColumn, Schema, joint_type, names_in_all, why_not_duckdb
from topdag.errors import TableError


def parquet_files(path: str | PathLike[str]) -> list[str]:
    """The files that a name, a folder or a pattern stands for, in order."""
    name = fspath(path)
    if Path(name).is_file():
        return [name]
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


MEMORY_OF_A_THREAD = 2**26
LEAST_MEMORY = 2**26
"""Bytes that an engine takes to work at all."""


@contextmanager
def frame_of_files(files: list[str], used: Used, *, in_order: bool, memory_limit: int | None = None) -> Iterator[Any]:
    """The used columns of all their rows, as a lazy frame of narwhals, while their engine is open; ``in_order``: file
    by file, row by row, as a whole frame. To count rows any order will do."""
    memory = available_memory() if memory_limit is None else min(memory_limit, available_memory())
    why_not = ""
    for open_engine in (_duckdb, _polars):
        try:
            engine = open_engine(in_order, max(LEAST_MEMORY, memory // 2))  # the distinct rows find room beside it
        except ImportError:
            continue
        schemas = {file: _schema(engine, file) for file in files}
        names = names_in_all(schemas, used)
        why_not = engine.why_not(names)
        if not why_not:
            yield _joined(engine, schemas, names, in_order)
            return
    if why_not:
        raise TableError(f"{why_not}, or pip install polars")
    raise TableError("reading many Parquet files needs duckdb and pyarrow, or polars: pip install 'topdag[large]'")


def bytes_of_whole(path: str | PathLike[str], used: Used) -> float | None:
    """What the used columns of a file take where it is read whole; None where no engine can read it otherwise."""
    for open_engine in (_duckdb, _polars):
        try:
            engine = open_engine(False, LEAST_MEMORY)
        except ImportError:
            continue
        with suppress(Exception):  # what cannot be read is told where it is read
            rows = nw.from_native(engine.rows_of([fspath(path)]))
            n_columns = len(left_in([name for name, _ in engine.columns_of(fspath(path))], used))
            return float(BYTES_OF_A_CELL * n_columns * int(rows.select(nw.len()).collect().item()))
    return None


@dataclass(frozen=True, slots=True)
class ParquetReader:
    columns_of: Callable[[str], list[tuple[str, FileColumn]]]
    """Those of a file, with their names in it."""
    rows_of: Callable[[list[str]], Any]
    """Those of files with the same columns of the same types."""
    why_not: Callable[[Sequence[str]], str]
    """Which names it does not take, in words."""


def _duckdb(in_order: bool, memory: int) -> ParquetReader:
    duckdb, parquet = import_module("duckdb"), import_module("pyarrow.parquet")
    threads = max(1, min(usable_cores(), memory // MEMORY_OF_A_THREAD))
    limits = {"memory_limit": f"{memory // 2**20}MiB", "threads": threads}
    connection = duckdb.connect(config={"preserve_insertion_order": in_order, **limits})
    connection.execute("SET enable_progress_bar = false")  # it would stand in what is printed

    def rows_of(files: list[str]) -> Any:  # it takes names for patterns
        return connection.read_parquet([escape(file) for file in files])

    def columns_of(file: str) -> list[tuple[str, FileColumn]]:
        rows = rows_of([file])
        written = parquet.read_schema(file)  # DuckDB makes A_1 of A beside a; up to 1.5 integers of nulls
        types = ["NULL" if str(field.type) == "null" else of for field, of in zip(written, rows.types, strict=True)]
        return list(zip(written.names, _columns(rows, types), strict=True))

    return ParquetReader(columns_of, rows_of, why_not_duckdb)


def _polars(in_order: bool, memory: int) -> ParquetReader:  # it keeps the order, and takes what it needs
    polars = import_module("polars")

    def rows_of(files: list[str]) -> Any:
        return polars.scan_parquet(files, glob=False)

    def columns_of(file: str) -> list[tuple[str, FileColumn]]:
        types = polars.read_parquet_schema(file)
        return list(zip(types, _columns(rows_of([file]), types.values()), strict=True))

    return ParquetReader(columns_of, rows_of, lambda names: "")


def _columns(rows: Any, types: Iterable[Any]) -> list[FileColumn]:
    schema = nw.from_native(rows).collect_schema()
    return [FileColumn(name, str(of), dtype) for (name, dtype), of in zip(schema.items(), types, strict=True)]


def _schema(engine: ParquetReader, file: str) -> Schema:
    try:
        columns = engine.columns_of(file)
    except Exception as error:  # each library has its own
        raise TableError(f"{file} cannot be read: {error}") from error
    schema = dict(columns)
    if len(schema) < len(columns):
        names = [name for name, _ in columns]
        twice = next(name for name in names if names.count(name) > 1)
        raise TableError(f"{file} has more than one column called {twice!r}; rename one")
    return schema


def _joined(engine: ParquetReader, schemas: Mapping[str, Schema], names: Sequence[str], in_order: bool) -> Any:
    """All rows; files that are alike are read at once, which is what engines are fast at."""
    types = {name: joint_type(name, schemas) for name in names}

    def columns(file: str) -> list[tuple[str, str, str]]:
        return [(name, column.called, column.type_name) for name, column in schemas[file].items()]

    def rows(files: list[str]) -> Any:
        own = schemas[files[0]]
        found = nw.from_native(engine.rows_of(files))
        for name, joint in types.items():
            if joint == nw.Float64 and own[name].dtype.is_integer():
                _require_floats(found.select(nw.col(own[name].called).cast(nw.Float64)), name, files)
        cells = {name: nw.col(own[name].called) for name in names}
        cells |= {name: cell.cast(types[name]) for name, cell in cells.items() if types[name] is not None}
        return found.select(*(cell.alias(name) for name, cell in cells.items()))

    parts = [rows(list(alike)) for _, alike in groupby(schemas if in_order else sorted(schemas, key=columns), columns)]
    if in_order:  # then all rows come into memory anyhow, and engines limit how many parts a query may have
        parts = [part.collect() for part in parts]
    return nw.concat(parts, how="vertical") if len(parts) > 1 else parts[0]


def _require_floats(integers: Any, name: str, files: Sequence[str]) -> None:
    """Raises TableError where integers, beside floats in other files, are so large that floats do not tell them
    apart."""
    most = integers.select(nw.all().abs().max()).collect().row(0)[0]
    if most is not None and most >= MOST_WHOLE:
        raise TableError(
            f"column {name!r} has integers of 2^53 and more in {files[0]} or files like it, and floats in others, "
            f"which do not tell such numbers apart: write the files with the same type, or leave the column out with "
            f"{option('leave_out', [name])}"
        )
