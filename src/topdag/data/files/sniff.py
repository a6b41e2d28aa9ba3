"""What a file is, told by its name or by how it begins; and what to do with one that holds no table in text."""

from __future__ import annotations

import codecs
from os import PathLike
from pathlib import Path

from topdag._util.atomic_write import is_score_file
from topdag._util.options import worded

PARQUET_ENDINGS = (".parquet", ".pq")
PARQUET = b"PAR1"
LARGE_FILE = 2**20
"""Bytes; such a file may have millions of rows."""
BEGINNINGS = (
    (b"PK\x03\x04", "an Excel workbook or a zip file; save the sheet as CSV, or unpack the file"),
    (b"\xd0\xcf\x11\xe0", "an old Excel or Word file; save the sheet as CSV"),
    (b"SQLite format 3", "an SQLite database; read a table of it with pandas or DuckDB {as_frame}"),
    (b"ARROW1", "an Arrow or Feather file; read it with pyarrow, pandas or Polars {as_frame}"),
    (b"\x93NUMPY", "a numpy array; read it with numpy.load {as_frame}"),
    (b"\x89HDF", "an HDF5 file; read it with pandas {as_frame}"),
    (b"\x80", "a Python pickle; load it with the program that wrote it {as_frame}"),
    (b"%PDF", "a PDF file; a table has a line for each row"),
    (b"\x89PNG", "a picture; a table has a line for each row"),
    (b"\xff\xd8\xff", "a picture; a table has a line for each row"),
    (b"<", "a web page or XML, perhaps an error page saved in place of the table; look at it in a text editor"),
    (b'{\n  "format": "topdag-', "an answer or a network that topdag wrote; give the table it was made from"),
    (b'{"format": "topdag-', "a list of networks that topdag wrote; give the table it was made from"),
    (b"{", "JSON; read it with pandas or Polars {as_frame}"),
    (b"[", "JSON; read it with pandas or Polars {as_frame}"),
    (b"@relation", "an ARFF file; read it with scipy.io.arff {as_frame}"),
    (b"@RELATION", "an ARFF file; read it with scipy.io.arff {as_frame}"),
    (b"#", "a text that begins with a comment; delete the lines above the header"),
)
UTF_8 = "utf-8-sig"  # with or without a mark
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def no_table(content: bytes, path: object) -> str | None:
    """What this file seems to be, asked once it could not be read as a table; None: nothing known."""
    if is_score_file(path):
        to_do = worded("topdag.io.read_scores() reads it, for any question", "topdag best and topdag list take it")
        return f"this is a file of scores by its name; {to_do}"
    start = content[:100].lstrip()
    as_frame = worded("and give that to topdag.Table()", "and save it as CSV")
    found = next((what for beginning, what in BEGINNINGS if start.startswith(beginning)), None)
    return None if found is None else f"this looks like {found.format(as_frame=as_frame)}"


def marked_encoding(content: bytes) -> str:
    """The encoding that the first bytes tell; UTF-8 unless they say otherwise."""
    return "utf-16" if content.startswith(UTF_16) else UTF_8


def stands_for_many(path: str | PathLike[str]) -> bool:
    """Whether it is a folder, or a pattern and not the name of a file."""
    place = Path(path)
    try:
        return place.is_dir() or (any(mark in str(place) for mark in "*?[") and not place.is_file())
    except (OSError, ValueError):  # a name that no file can have
        return False


def may_be_large_parquet(path: str | PathLike[str]) -> bool:
    """Whether it is a Parquet file that may take much memory."""
    place = Path(path)
    try:
        if place.suffix.lower() not in PARQUET_ENDINGS or place.stat().st_size < LARGE_FILE:
            return False
        with place.open("rb") as file:
            return file.read(len(PARQUET)) == PARQUET
    except (OSError, ValueError):
        return False
