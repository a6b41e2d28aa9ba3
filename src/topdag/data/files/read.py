"""Reading files as tables: CSV and similar, gzipped or not, and Parquet."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, replace
from importlib import import_module
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import IO, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from topdag._util.brief import brief
from topdag._util.memory import available_memory, parse_bytes
from topdag._util.messages import plural
from topdag._util.options import all_of, option
from topdag._util.progress import display_for, shown_meanwhile
from topdag.data.build import Options
from topdag.data.columns import Codes, Column, Interventions, are_numbers, column_of_texts, left_in, names_for
from topdag.data.discretize import Discretize
from topdag.data.files.delimited import MISSING_VALUES, TextFormat, cells_of
from topdag.data.files.sniff import PARQUET, PARQUET_ENDINGS, may_be_large_parquet, no_table, stands_for_many
from topdag.data.table import Table, table_of_columns, table_of_frame
from topdag.errors import TableError, why_not_opened

DECIMAL = re.compile(r"[+-]?[0-9]*\.[0-9]+")
PARQUET_READERS = (("pyarrow.parquet", "read_table"), ("polars", "read_parquet"), ("pandas", "read_parquet"))
Source: TypeAlias = str | PathLike[str] | IO[bytes]


@brief
def read_table(
    path: Source,
    *,
    separator: str | None = None,
    header: bool = True,
    encoding: str | None = None,
    decimal: str = ".",
    columns: Collection[str] | None = None,
    leave_out: Collection[str] = (),
    missing_values: Collection[str] = MISSING_VALUES,
    discretize: Discretize = None,
    missing: str = "auto",
    weights: str | ArrayLike | None = None,
    states: Mapping[str, Collection[Any]] | None = None,
    keep_constant: bool = False,
    types: Mapping[str, str] | None = None,
    interventions: Interventions = None,
    memory_limit: int | str | None = None,
) -> Table:
    """The table in a file, by its name or open in binary mode: CSV, TSV or the like, which may be gzipped, or Parquet.
    A folder or a pattern ("rows/*.parquet") stands for all its Parquet files, which may exceed memory: DuckDB or
    Polars reads, cuts and counts them (docs/guides/large_tables.md). Where even the distinct rows exceed it, or
    ``memory_limit``, they are read chunk by chunk when something is asked.

    The separator (comma, semicolon, tab, bar or white space) is that of the first line unless given; " "
    stands for any white space. Without a ``header`` the variables are V0, V1, ... The text is UTF-8, or UTF-16 with
    its mark, unless ``encoding`` names another, such as "latin-1". Blanks around cells do not count. Numbers
    are written with the ``decimal`` point or comma; ``types`` says what a column is where the guess is wrong (see
    ``look``). Columns that ``columns`` does not name, or
    ``leave_out`` names, are not looked at. The other arguments
    are those of `Table`.
    """
    options = Options(discretize, missing, weights, states, keep_constant, types, leave_out, interventions, columns)
    options = replace(options, memory_limit=None if memory_limit is None else parse_bytes(memory_limit))
    with shown_meanwhile("reading", display_for(None)):
        return table_at(path, text_format(separator, header, encoding, decimal, missing_values), options)


def text_format(
    separator: str | None = None,
    header: bool = True,
    encoding: str | None = None,
    decimal: str = ".",
    missing_values: Collection[str] = MISSING_VALUES,
) -> TextFormat:
    """What was said of a file of text, as far as that can be checked before it is read."""
    try:
        gaps = {missing_values} if isinstance(missing_values, str) else frozenset(missing_values)
    except TypeError:
        raise TableError(
            f"{option('missing_values')} lists the texts that mean missing, not {missing_values!r}"
        ) from None
    if decimal not in (".", ","):
        raise TableError(f'{option("decimal")} is "." or ",", not {decimal!r}')
    return TextFormat(separator, bool(header), encoding, decimal, gaps)


def table_at(path: Source, how: TextFormat, options: Options) -> Table:
    """The table in a file; what is wrong is told with its name."""
    is_open = hasattr(type(path), "read")
    if not isinstance(path, str | PathLike) and not is_open:
        raise TableError(f"read_table() takes the name of a file, not {path!r}; Table() takes what is in memory")
    try:
        return table_of_file(path, how, replace(options, text=how))
    except TableError as error:
        error.args = (f"{getattr(path, 'name', 'the file') if is_open else path}: {error}",)
        raise


def table_of_file(path: Source, how: TextFormat, options: Options) -> Table:
    if isinstance(path, str | PathLike) and (stands_for_many(path) or is_too_large(path, options)):
        from topdag.data.frames import parts_of_files  # narwhals takes its time to load

        require_no_text(how)
        return table_of_columns(*parts_of_files(path, options))
    content = file_content(path)
    if content.startswith(PARQUET):
        require_no_text(how)
        return table_of_parquet(content, options)
    if isinstance(path, str | PathLike) and Path(path).suffix.lower() in PARQUET_ENDINGS:
        raise TableError("this is no Parquet file, though its name says so; if it holds text, name it .csv")
    try:
        first, columns, lines = cells_of(content, how, options.used)
    except TableError:
        if (instead := no_table(content, path)) is None:
            raise
        raise TableError(instead) from None
    names = [text.strip() for text in first] if how.header else names_for(len(first), None)
    if not len(lines):
        raise TableError(
            f"the file has a header but no rows; if its only line is a row, read it with {option('header', False)}"
        )
    as_text = {name for name, of in (options.states or {}).items() if all(isinstance(s, str) for s in of)}
    made = [
        column_of_texts(name, *columns[j](), how.missing_values, name in as_text, how.decimal)
        for j, name in left_in(names, options.used)
    ]
    notes = [
        *(notes_on_names(names) if how.header else ()),
        *(note for column in made if column.name not in as_text for note in note_on_words(column, lines)),
    ]
    return table_of_columns(made, options, lambda row: f"line {lines[row]} of the file", notes)


def is_too_large(path: str | PathLike[str], options: Options) -> bool:
    """Whether it is a Parquet file that would not fit into memory whole, and an engine is there that reads it."""
    if not may_be_large_parquet(path):
        return False
    from topdag.data.lazy.parquet_files import bytes_of_whole

    memory = available_memory() if options.memory_limit is None else min(options.memory_limit, available_memory())
    needed = bytes_of_whole(path, options.used)
    return needed is not None and needed > memory


def require_no_text(how: TextFormat) -> None:
    """Parquet has cells and names of its own: what is said of text would be ignored."""
    usual = TextFormat()
    said = [field.name for field in fields(how) if getattr(how, field.name) != getattr(usual, field.name)]
    if said:
        given = all_of([option(name, False if name == "header" else None) for name in said])
        raise TableError(f"{given} is for files of text, and this is Parquet; leave it out")


def note_on_words(column: Column, lines: Sequence[int] | Codes) -> tuple[str, ...]:
    """A sentence if a few words have made texts of what looks like a column of decimal numbers."""
    if column.is_float or not any(isinstance(value, str) for value in column.values):
        return ()
    texts = [value.replace(",", ".") for value in column.values]
    if not any(map(DECIMAL.fullmatch, texts)):
        return ()
    words = [code for code, text in enumerate(texts) if not are_numbers([text])]
    if not words or len(words) >= len(texts) / 2:
        return ()
    first = int(np.isin(column.codes, words).argmax())
    more = f" and {plural(len(words) - 1, 'other text')}" if len(words) > 1 else ""
    return (
        f"Column {column.name!r} has a state for each text, because of {column.values[column.codes[first]]!r} in line "
        f"{lines[first]} of the file{more}: all else in it is numbers. For numbers, empty such cells or mend them.",
    )


def notes_on_names(names: Sequence[str]) -> tuple[str, ...]:
    """A sentence if the header may be a row: names that are all numbers."""
    if not are_numbers(names):
        return ()
    if len(set(names)) < len(names):
        raise TableError(
            f"the first line holds only numbers ({', '.join(names[:5])}{', ...' * (len(names) > 5)}), some of them "
            f"more than once, so they are no names; if it is a row, read the file with {option('header', False)}"
        )
    return (f"All names in the first line are numbers; if it is a row, it takes {option('header', False)}.",)


def file_content(path: Source) -> bytes:
    try:
        content = Path(path).read_bytes() if isinstance(path, str | PathLike) else path.read()
    except OSError as error:
        raise TableError(why_not_opened(error)) from None
    except ValueError as error:  # a name that no file can have
        raise TableError(f"the file cannot be read: {error}") from None
    if not isinstance(content, bytes):
        raise TableError("the file is open for text; open it in binary mode")
    is_named_so = isinstance(path, str | PathLike) and Path(path).suffix.lower() == ".gz"
    if not is_named_so and not content.startswith(b"\x1f\x8b"):
        return content
    import gzip
    import zlib

    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        raise TableError(f"the gzip file is damaged: {error}") from None


def table_of_parquet(content: bytes, options: Options) -> Table:
    for library, reader in PARQUET_READERS:
        try:
            frame = getattr(import_module(library), reader)(BytesIO(content))
        except ImportError:
            continue
        except Exception as error:  # each library has its own
            raise TableError(f"the Parquet file cannot be read: {error}") from error
        return table_of_frame(frame, options)
    raise TableError("reading Parquet needs one of pyarrow, polars or pandas: pip install pyarrow")
