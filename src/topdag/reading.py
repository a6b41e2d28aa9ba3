"""Reading: what the cells of a column mean, and files of cells (CSV and its kin, Parquet) as tables.

A file is cut into cells and every column into its distinct texts first; all that costs more is done on those.
"""

from __future__ import annotations

import csv
import gzip
import io
import math
import re
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .discretize import MISSING, Discretize, plain, plural
from .errors import TableError
from .table import Codes, Column, Options, Table, build

MISSING_VALUES = ("", "NA", "N/A", "NaN", "nan", "null", "?")
SEPARATORS = (",", ";", "\t", "|")
BLOCK = 1 << 20  # bytes that are cut into cells at a time
SMALL_RANGE = 1 << 16  # integers within such a range are counted rather than sorted
CONVERT = "convert it to strings, integers, booleans or categories, or leave it out"
INTEGER = re.compile(r"[+-]?[0-9]{1,4000}")
NUMBER = re.compile(r"[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?|inf|infinity|nan)", re.IGNORECASE)

Texts: TypeAlias = tuple[list[str], Codes]  # the distinct texts of a column, and which of them a row has
Cells: TypeAlias = tuple[list[str], list[Texts], Sequence[int] | Codes]  # first row, columns, lines of rows


def read_table(
    path: str | PathLike[str],
    *,
    separator: str | None = None,
    header: bool = True,
    missing_values: Collection[str] = MISSING_VALUES,
    discretize: Discretize = None,
    missing: str = "error",
    weights: str | ArrayLike | None = None,
    states: Mapping[str, Collection[Any]] | None = None,
    keep_constant: bool = False,
) -> Table:
    """The table in a file: CSV, TSV or the like, which may be gzipped, or Parquet.

    The separator (comma, semicolon, tab, bar or white space) is that of the first line unless given; " "
    stands for any white space. Without a ``header`` the variables are V0, V1, ... Blanks around cells do not
    count. A column of integers has them as states; with other numbers among them it is of floats; any other
    column is of strings. The other arguments are those of `Table`.
    """
    options = Options(discretize, missing, weights, states, keep_constant)
    try:
        gaps = {missing_values} if isinstance(missing_values, str) else frozenset(missing_values)
        return table_of_file(Path(path), separator, header, gaps, options)
    except TableError as error:
        error.args = (f"{path}: {error}",)
        raise


def table_of_file(
    path: Path, separator: str | None, header: bool, missing_values: Collection[str], options: Options
) -> Table:
    content = file_content(path)
    if content.startswith(b"PAR1"):
        return table_of_parquet(path, options)
    content = text_content(content)
    separator = sniffed_separator(content) if separator is None else checked_separator(separator)
    cut_into_cells = quoted_cells if b'"' in content else plain_cells
    first, columns, lines = cut_into_cells(content, separator, header)
    names = [text.strip() for text in first] if header else [f"V{j}" for j in range(len(first))]
    if not len(lines):
        raise TableError("the file has a header but no rows")
    as_text = {name for name, of in (options.states or {}).items() if all(isinstance(s, str) for s in of)}
    made = [
        column_of_texts(name, *texts, missing_values, name in as_text)
        for name, texts in zip(names, columns, strict=True)
    ]
    return build(made, options, lambda row: f"line {lines[row]} of the file")


def file_content(path: Path) -> bytes:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise TableError("there is no such file") from None
    except IsADirectoryError:
        raise TableError("this is a directory, not a file") from None
    except (OSError, ValueError) as error:
        raise TableError(f"the file cannot be read: {error}") from None
    if path.suffix.lower() != ".gz" and not content.startswith(b"\x1f\x8b"):
        return content
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        raise TableError(f"the gzip file is damaged: {error}") from None


def text_content(content: bytes) -> bytes:
    """UTF-8 without its mark, every line ended by a newline; an error if it is not text."""
    content = content.removeprefix(b"\xef\xbb\xbf")
    if b"\0" in content:
        raise TableError("this is not a text file in UTF-8: it has zero bytes")
    try:
        content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise TableError(f"this is not a text file in UTF-8: see line {line}") from None
    if not content.strip():
        raise TableError("the file is empty")
    return content.replace(b"\r\n", b"\n").replace(b"\r", b"\n").rstrip(b"\n") + b"\n"


def table_of_parquet(path: Path, options: Options) -> Table:
    from .frames import table_of_frame

    for read in (with_pyarrow, with_polars, with_pandas):
        try:
            frame = read(path)
        except ImportError:
            continue
        except Exception as error:  # each library has its own
            raise TableError(f"the Parquet file cannot be read: {error}") from error
        return table_of_frame(frame, options)
    raise TableError("reading Parquet needs one of pyarrow, polars or pandas: pip install pyarrow")


def with_pyarrow(path: Path) -> Any:
    from pyarrow import parquet

    return parquet.read_table(path)


def with_polars(path: Path) -> Any:
    import polars

    return polars.read_parquet(path)


def with_pandas(path: Path) -> Any:
    import pandas

    return pandas.read_parquet(path)


def first_line(content: bytes) -> tuple[int, int]:
    """Where the first line that is not blank begins and ends."""
    begin = content.rfind(b"\n", 0, len(content) - len(content.lstrip())) + 1
    return begin, content.index(b"\n", begin)


def sniffed_separator(content: bytes) -> str:
    """The separator that the first line has most often, outside quotes; without any, white space."""
    begin, end = first_line(content)
    first = re.sub(r'"[^"]*"', "", content[begin:end].decode())
    return max(SEPARATORS, key=first.count) if any(mark in first for mark in SEPARATORS) else " "


def checked_separator(separator: str) -> str:
    if len(separator) != 1 or not separator.isascii() or separator.isalnum() or separator in '"\n\r\0':
        raise TableError(f"separator= is one character such as , ; | tab or space, not {separator!r}")
    return separator


def check_width(first: Sequence[str]) -> None:
    if len(first) < 2:
        raise TableError(
            f"there is only one column: {first[0].strip()[:100]!r}; a table needs two or more. "
            "separator= tells what separates cells"
        )


def ragged(line: int, cells: int, width: int, separator: str) -> TableError:
    between = "white space" if separator == " " else repr(separator)
    return TableError(
        f"line {line} of the file has {plural(cells, 'cell')}, but the first line has {width}; "
        f"cells are taken to be separated by {between}, separator= changes that"
    )


def quoted_cells(content: bytes, separator: str, header: bool) -> Cells:
    """The first row, the distinct texts of every column, and the line of every row; cells may be quoted."""
    lines, rows = [], []
    text = io.StringIO(content.decode(), newline="")
    reader = csv.reader(
        map(squeezed, text) if separator == " " else text, delimiter=separator, skipinitialspace=True, strict=True
    )
    line = 1
    try:
        for row in reader:
            if len(row) > 1 or "".join(row).strip():
                lines.append(line)
                rows.append(row)
            line = reader.line_num + 1
    except csv.Error as error:
        raise TableError(f"line {line} of the file: {error}") from None
    check_width(rows[0] if rows else [""])
    for line, row in zip(lines, rows, strict=True):
        if len(row) != len(rows[0]):
            raise ragged(line, len(row), len(rows[0]), separator)
    body = rows[header:]
    return rows[0], [distinct_texts(list(cells)) for cells in zip(*body, strict=True)], lines[header:]


def squeezed(line: str) -> str:
    return re.sub(r"[ \t]+", " ", line.strip(" \t\n")) + "\n"


def distinct_texts(cells: Sequence[Any]) -> tuple[list[Any], Codes]:
    code_of = {text: code for code, text in enumerate(dict.fromkeys(cells))}
    return list(code_of), np.fromiter(map(code_of.__getitem__, cells), np.int64, len(cells))


def plain_cells(content: bytes, separator: str, header: bool) -> Cells:
    """The same as `quoted_cells` for files without quotes, many times faster."""
    if separator == " ":
        content = re.sub(rb" ?\n ?", b"\n", re.sub(rb"[ \t]+", b" ", content)).lstrip(b" ")
    begin, end = first_line(content)
    first = content[begin:end].decode().split(separator)
    check_width(first)
    place = end + 1 if header else begin
    lines = [np.arange(0)]
    codes: list[list[Codes]] = [[np.arange(0)] for _ in first]
    code_of: list[dict[bytes, int]] = [{} for _ in first]
    line = content.count(b"\n", 0, place) + 1
    for block in blocks(content, place):
        starts, ends, block_lines = cell_bounds(block, separator, len(first), line)
        lines.append(block_lines)
        for j, of in enumerate(code_of):
            texts, places = distinct_cells(block, starts[:, j], ends[:, j])
            known = [of.setdefault(text, len(of)) for text in texts]
            codes[j].append(np.array(known, dtype=np.int64)[places])
        line += block.count(b"\n")
    texts_of = [[text.decode() for text in of] for of in code_of]
    return first, list(zip(texts_of, map(np.concatenate, codes), strict=True)), np.concatenate(lines)


def blocks(content: bytes, place: int) -> Iterator[bytes]:
    """Whole lines, about BLOCK bytes of them at a time."""
    while place < len(content):
        end = content.find(b"\n", min(place + BLOCK, len(content) - 1)) + 1
        yield content[place:end]
        place = end


def cell_bounds(block: bytes, separator: str, width: int, line: int) -> tuple[Codes, Codes, Codes]:
    """Where every cell starts and ends, a row for each line that is not blank, and the lines' numbers."""
    text = np.frombuffer(block, np.uint8)
    ends = np.flatnonzero((text == ord(separator)) | (text == ord("\n")))
    starts = np.append(0, ends[:-1] + 1)
    last = np.flatnonzero(text[ends] == ord("\n"))
    cells_in_line = np.diff(last, prepend=-1)
    is_row = cells_in_line == width
    for i in np.flatnonzero(~is_row):
        if cells_in_line[i] > 1 or block[starts[last[i]] : ends[last[i]]].strip():
            raise ragged(line + int(i), int(cells_in_line[i]), width, separator)
    is_cell = np.repeat(is_row, cells_in_line)
    return starts[is_cell].reshape(-1, width), ends[is_cell].reshape(-1, width), line + np.flatnonzero(is_row)


def distinct_cells(block: bytes, starts: Codes, ends: Codes) -> tuple[list[bytes], Codes]:
    """The distinct texts of a column, and which of them each of its cells is."""
    lengths = ends - starts
    width = int(lengths.max(initial=0))
    if width > 8:
        bounds = zip(starts.tolist(), ends.tolist(), strict=True)
        return distinct_texts([block[start:end] for start, end in bounds])
    text, keys = np.frombuffer(block, np.uint8), np.zeros(len(starts), np.uint64)
    for i in range(width):
        letters = np.where(i < lengths, text.take(starts + i, mode="clip"), 0)
        keys |= letters.astype(np.uint64) << np.uint64(8 * i)
    distinct, codes = distinct_integers(keys)
    return [int(key).to_bytes(8, "little").rstrip(b"\0") for key in distinct], codes


def column_of_texts(
    name: str, texts: Sequence[str], codes: Codes, missing_values: Collection[str], as_text: bool
) -> Column:
    cells = [text.strip() for text in texts]
    read = str if as_text else reader_of([cell for cell in cells if cell not in missing_values])
    return column_of_values(name, [None if cell in missing_values else read(cell) for cell in cells], codes)


def reader_of(cells: Sequence[str]) -> Callable[[str], Any]:
    """What turns such cells into values: int, float or str."""
    if all(map(INTEGER.fullmatch, cells)):
        return int
    return float if all(map(NUMBER.fullmatch, cells)) else str


def column_of_array(name: str, cells: NDArray[Any]) -> Column:
    kind = cells.dtype.kind
    if cells.ndim != 1:
        raise TableError(f"column {name!r} has {cells.ndim} dimensions instead of one")
    if kind in "UO":
        return column_of_objects(name, cells.tolist())
    if kind == "f":
        values, codes = np.unique(cells.astype(np.float64), return_inverse=True)
        n_numbers = len(values) - int(np.isnan(values).sum())
        return Column(name, values[:n_numbers], np.where(codes < n_numbers, codes, MISSING))
    if kind not in "biu":
        raise TableError(f"column {name!r} holds {cells.dtype}; {CONVERT}")
    values, codes = distinct_integers(cells.view(np.uint8) if kind == "b" else cells)
    return Column(name, tuple(values.astype(cells.dtype).tolist()), codes)


def distinct_integers(cells: NDArray[Any]) -> tuple[NDArray[Any], Codes]:
    """The integers that occur, increasing, and the place of every cell among them."""
    if not len(cells) or int(cells.max()) - int(cells.min()) >= SMALL_RANGE:
        return np.unique(cells, return_inverse=True)
    least = cells.min()
    above = (cells - least).astype(np.int64)
    occurs = np.bincount(above) > 0
    return np.flatnonzero(occurs).astype(cells.dtype) + least, (np.cumsum(occurs) - 1)[above]


def column_of_objects(name: str, cells: list[Any]) -> Column:
    """A column of Python values. Types are kept apart, so that 1 and True are two states."""
    is_mixed = len(set(map(type, cells)) - {type(None)}) > 1
    keys = list(zip(map(type, cells), cells, strict=True)) if is_mixed else cells
    try:
        code_of = {key: code for code, key in enumerate(dict.fromkeys(keys))}
    except TypeError:
        raise TableError(f"column {name!r} holds lists or the like; {CONVERT}") from None
    codes = np.fromiter(map(code_of.__getitem__, keys), np.int64, len(keys))
    return column_of_values(name, [key[1] for key in code_of] if is_mixed else list(code_of), codes)


def column_of_values(name: str, values: Sequence[Any], codes: Codes) -> Column:
    """A column of codes that are places in values, some of which may be equal or missing."""
    tagged = [None if is_missing(value) else (kind_of(value), value) for value in map(plain, values)]
    kinds = {tag[0] for tag in tagged if tag}
    if kinds & {"float", "Decimal"} and kinds <= {"float", "Decimal", "int"}:
        return float_column(name, tagged, codes)
    if not kinds <= {"str", "int", "bool"}:
        raise TableError(f"column {name!r} holds values of type {' and '.join(sorted(kinds))}; {CONVERT}")
    states = sorted({tag for tag in tagged if tag})
    code_of = {state: code for code, state in enumerate(states)}
    recoded = np.array([code_of[tag] if tag else MISSING for tag in tagged], dtype=np.int64)
    return Column(name, tuple(value for _, value in states), recoded[codes])


def float_column(name: str, tagged: Sequence[tuple[str, Any] | None], codes: Codes) -> Column:
    cells = np.array([as_float(tag[1]) if tag else math.nan for tag in tagged])
    column = column_of_array(name, cells)
    return replace(column, codes=column.codes[codes])


def as_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


def is_missing(value: Any) -> bool:
    if isinstance(value, float | np.floating | Decimal):
        return math.isnan(value)
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def kind_of(value: Any) -> str:
    kinds = (kind for kind in (bool, int, float, str) if isinstance(value, kind))
    return next(kinds, type(value)).__name__
