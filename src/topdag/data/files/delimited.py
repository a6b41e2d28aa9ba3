"""Text cut into cells: every column as its distinct texts, since all that costs more is done on those."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from topdag import _core
from topdag._util.messages import plural
from topdag._util.options import option
from topdag._util.run import usable_cores
from topdag.data.columns import ALL_USED, Codes, Used
from topdag.data.files.sniff import UTF_8, marked_encoding
from topdag.errors import TableError

SEPARATORS = (",", ";", "\t", "|")
SEPARATOR_LINE = re.compile(rb'"?sep=(.)"?\n', re.IGNORECASE)  # which Excel understands, and some programs write
LARGE = 1 << 22  # bytes from which on threads pay
MISSING_VALUES = ("", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "null", "?", ".")
ROW_NAMES = "rownames"
MOST_LOOKED_AT = 20
"""Lines from which it is seen whether row names have a name."""

Texts: TypeAlias = Callable[[], tuple[list[str], Codes]]  # the distinct texts of a column, and which of them a row has
Cells: TypeAlias = tuple[list[str], list[Texts], Sequence[int] | Codes]  # first row, columns, lines of rows


@dataclass(frozen=True)
class TextFormat:
    """How a file of text is cut into cells. ``separator`` and ``encoding``: None where the file is to show them."""

    separator: str | None = None
    header: bool = True
    encoding: str | None = None
    decimal: str = "."
    missing_values: Collection[str] = frozenset(MISSING_VALUES)


def cells_of(content: bytes, how: TextFormat, used: Used = ALL_USED) -> Cells:
    """Columns that are not used may come without texts."""
    content = text_content(content, how.encoding)
    if told := SEPARATOR_LINE.match(content):  # left blank, so that lines keep their numbers
        content = content[told.end() - 1 :]
    if content.isspace():
        raise TableError("the file is empty; a table has names in its first line and a row in each further one")
    separator = how.separator if how.separator is not None or told is None else told[1].decode()
    separator = sniffed_separator(content) if separator is None else checked_separator(separator)
    if how.header:
        content = with_a_name_for_row_names(content, separator)
    return quick_cells(content, separator, how.header, used) or quoted_cells(content, separator, how.header)


def with_a_name_for_row_names(content: bytes, separator: str) -> bytes:
    """Return the text with one more name where the first line has a cell less than each of the next: R's write.table
    writes row names so."""
    lines = content.lstrip().split(b"\n", MOST_LOOKED_AT)[:MOST_LOOKED_AT]
    texts = [line.decode().strip() for line in lines if line.strip()]
    lengths = [len(text.split() if separator == " " else first_cells(text, separator)) for text in texts]
    is_so = len(lengths) > 2 and lengths[0] > 1 and all(length == lengths[0] + 1 for length in lengths[1:])
    return (ROW_NAMES + separator).encode() + content.lstrip() if is_so else content


def quick_cells(content: bytes, separator: str, header: bool, used: Used = ALL_USED) -> Cells | None:
    """The same as `quoted_cells`, many times faster; None where a line needs a closer look."""
    if separator == " ":
        if b'"' in content:
            return None
        content = re.sub(rb" ?\n ?", b"\n", re.sub(rb"[ \t]+", b" ", content)).lstrip(b" ")
    begin, end = first_line(content)
    first = first_cells(content[begin:end].decode(), separator)
    if len(first) < 2:
        return None
    place = end + 1 if header else begin
    wanted = [not header or name.strip() in used for name in first]
    threads = usable_cores() if len(content) >= LARGE else 1
    found = _core.cut_into_cells(content, place, separator, wanted, threads)
    if found is None:
        return None
    columns, lines = found
    return first, [partial(texts_between, content, *column) for column in columns], lines


def first_cells(line: str, separator: str) -> list[str]:
    """The cells of the first line; none if it ends inside a quote."""
    if '"' not in line:
        return line.split(separator)
    import csv

    try:
        return next(csv.reader([line], delimiter=separator, skipinitialspace=True, strict=True))
    except csv.Error:
        return []


def texts_between(content: bytes, codes: NDArray[np.int32], begins: Codes, ends: Codes) -> tuple[list[str], Codes]:
    """The texts that stand at these places; in quotes, a quote is doubled."""
    texts = [content[begin:end].decode() for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)]
    return [text.replace('""', '"') for text in texts], codes.astype(np.int64)


def text_content(content: bytes, encoding: str | None) -> bytes:
    """The text in UTF-8 without a mark, every line ended by a newline; an error if it is not text."""
    encoding = encoding or marked_encoding(content)
    if encoding == UTF_8 and b"\0" in content:
        line = content.count(b"\n", 0, content.index(b"\0")) + 1
        raise TableError(
            f"this is not a file of text: it has zero bytes, the first in line {line}; save the table as CSV, or if it "
            f"is one, try {option('encoding', 'utf-16-le')}"
        )
    content = content if encoding == UTF_8 and content.isascii() else in_utf_8(content, encoding)
    if b"\r" in content:
        content = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    is_ended = content.endswith(b"\n") and not content.endswith(b"\n\n")  # as a rule, and then nothing is copied
    return content if is_ended else content.rstrip(b"\n") + b"\n"


def in_utf_8(content: bytes, encoding: str) -> bytes:
    try:
        return decoded(content, encoding).replace("\0", "").encode()
    except UnicodeEncodeError as error:  # some encodings let halves of characters pass
        raise TableError(f"this is not a text in {encoding}: {error.reason}, character {error.start:,}") from None


def decoded(content: bytes, encoding: str) -> str:
    try:
        return content.decode(encoding)
    except UnicodeError as error:
        if encoding != UTF_8 or not isinstance(error, UnicodeDecodeError):  # some encodings do not say where
            where = f"{error.reason}, byte {error.start:,}" if isinstance(error, UnicodeDecodeError) else str(error)
            raise TableError(f"this is not a text in {encoding}: {where}") from None
        line = content.count(b"\n", 0, error.start) + 1
        shown = content[: error.start].rpartition(b"\n")[2][-20:].decode("utf-8", "replace")
        where = f"line {line}, after {shown!r}" if shown else f"line {line}"
        raise TableError(
            f"this is not a text in UTF-8: see {where}; older programs write other encodings, try "
            f"{option('encoding', 'latin-1')}"
        ) from None
    except (LookupError, TypeError, ValueError):
        raise TableError(f'{option("encoding")} is a name such as "utf-8" or "latin-1", not {encoding!r}') from None


def first_line(content: bytes) -> tuple[int, int]:
    """Where the first line that is not blank begins and ends."""
    begin = content.rfind(b"\n", 0, len(content) - len(content.lstrip())) + 1
    end = content.find(b"\n", begin)
    return begin, len(content) if end < 0 else end


def sniffed_separator(content: bytes) -> str:
    """The separator that the first line has most often, outside quotes; without any, white space."""
    begin, end = first_line(content)
    first = re.sub(r'"[^"]*"', "", content[begin:end].decode())
    return max(SEPARATORS, key=first.count) if any(mark in first for mark in SEPARATORS) else " "


def checked_separator(separator: str) -> str:
    if (
        not isinstance(separator, str)
        or len(separator) != 1
        or not separator.isascii()
        or separator.isalnum()
        or separator in '"\n\r\0'
    ):
        raise TableError(f"{option('separator')} is one character such as , ; | tab or space, not {separator!r}")
    return separator


def check_width(first: Sequence[str]) -> None:
    if len(first) < 2:
        raise TableError(
            f"there is only one column: {first[0].strip()[:100]!r}; a table needs two or more. If there are more, "
            f"{option('separator')} tells what separates cells"
        )


def ragged(line: int, cells: int, width: int, separator: str) -> TableError:
    between = "white space" if separator == " " else repr(separator)
    more = ". A first column of row names needs a name too" if cells == width + 1 else ""
    if separator == " ":
        more += ". A title above the header must be deleted"  # its words look like names
    return TableError(
        f"line {line} of the file has {plural(cells, 'cell')}, but the first line has {width}; "
        f"cells are taken to be separated by {between}, {option('separator')} changes that{more}"
    )


QUOTING = {
    "unexpected end of data": 'a quote (") opens in or after this line and is never closed; close it or take it out',
    "expected after": 'a quote (") inside a quoted cell must be doubled ("")',
}


def quoting_error(line: int, message: str) -> TableError:
    """What the reader of quoted cells complains of, in our words."""
    said = next((ours for theirs, ours in QUOTING.items() if theirs in message), message)
    return TableError(f"line {line} of the file: {said}")


def quoted_cells(content: bytes, separator: str, header: bool) -> Cells:
    """The first row, the distinct texts of every column, and the line of every row; cells may be quoted."""
    import csv

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
        raise quoting_error(line, str(error)) from None
    check_width(rows[0] if rows else [""])
    for line, row in zip(lines, rows, strict=True):
        if len(row) != len(rows[0]):
            raise ragged(line, len(row), len(rows[0]), separator)
    body = rows[header:]
    return rows[0], [partial(distinct_texts, cells) for cells in zip(*body, strict=True)], lines[header:]


def squeezed(line: str) -> str:
    return re.sub(r"[ \t]+", " ", line.strip(" \t\n")) + "\n"


def distinct_texts(cells: Sequence[str]) -> tuple[list[str], Codes]:
    code_of = {text: code for code, text in enumerate(dict.fromkeys(cells))}
    return list(code_of), np.fromiter(map(code_of.__getitem__, cells), np.int64, len(cells))
