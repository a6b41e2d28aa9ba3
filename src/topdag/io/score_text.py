"""Score files: the .jkl format of GOBNILP and the .pss format of URLearning, read and written.

Both hold natural-log local scores, larger is better, in UTF-8; a name ending in .gz means compressed. A file
is read line by line and either understood to its last line or refused with the number of the bad one. The
last line must end in a line break: without it a file cut short can look whole ("12" for "123").

jkl, also called Jaakkola's format. The number of variables; then for each variable a line "name count" and
count lines "score size parent ...". The order of the variables is the column order; parents are names, also
of variables further down. Lines that begin with # are comments. None are written: pygobnilp expects the number
in the first line.

pss, as bmmalone/urlearning-cpp writes it (urlearning/score/score_main.cpp) and reads it
(urlearning/score_cache/score_cache.cpp). Lines "META key=value" about the file: pss_version (0.1),
input_file, num_records, parent_limit, score_type, ess. Then for each variable "VAR name", "META arity=r",
"META values=a b c " and a line "score parent parent ... " per family, and a blank line. Keywords in any case,
comments begin with #. There are no counts, so a file cut between two lines looks whole. The program keeps
single precision, negates scores as it reads and needs neither arity nor values. It takes any line with "meta"
in it for META and any with "var " in it for a new variable, so that names such as "Metabolism" or "covar"
would silently cost families: they are not written. META is not kept on reading.
"""

from __future__ import annotations

import gzip
import io
import math
import os
import re
import zlib
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from topdag._util.atomic_write import FilePath, write_as_named
from topdag._util.bitsets import MOST_VARIABLES
from topdag.errors import FileError, why_not_opened
from topdag.search.family_lists import FamilyError, FamilyLists, NamedFamilies, check_names

Pair = tuple[str, str]
ScoredParents = tuple[float, tuple[str, ...]]
Block = tuple[int, Iterable[ScoredParents]]

_NOT_IN_A_NAME = re.compile(r"[\s\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def read_jkl(path: FilePath) -> FamilyLists:
    """The family lists in a .jkl or .jkl.gz file; anything else is a FileError that names the line."""
    file = _ScoreFile(path)
    n_variables = _read_n_variables(file)
    for place in range(1, n_variables + 1):
        _read_block(file, f"variable {place} of {n_variables}")
    for _ in file.lines:
        raise file.error(f"the end of the file after {n_variables} variables")
    return file.finish()


def read_pss(path: FilePath) -> FamilyLists:
    """The family lists in a .pss or .pss.gz file; anything else is a FileError that names the line."""
    file = _ScoreFile(path)
    for words in file.lines:
        keyword = words[0].upper()
        if keyword == b"META":
            _check_meta(file)
        elif keyword == b"VAR":
            file.begin(words[1:])
        elif file.families.names:
            file.add(words[0], words[1:])
        else:
            raise file.error("META key=value or VAR name")
    return file.finish()


def write_jkl(path: FilePath, names: Sequence[str], families: Iterable[Block]) -> None:
    """Write a .jkl or .jkl.gz file, whole or not at all.

    ``families`` gives per variable, in the order of ``names``, how many families there are and each as
    (score, parents); they are written as they come.
    """

    require_names_fit(path, names)

    def lines() -> Iterator[str]:
        yield f"{len(names)}\n"
        for name, (count, rows) in zip(names, families, strict=True):
            yield f"{name} {count}\n"
            for score, parents in rows:
                yield f"{' '.join((repr(float(score)), str(len(parents)), *parents))}\n"

    _write(path, lines())


def write_pss(
    path: FilePath, names: Sequence[str], families: Iterable[Block], information: Iterable[Pair] = ()
) -> None:
    """Write a .pss or .pss.gz file that URLearning can read; like ``write_jkl``, with META lines on top."""

    require_names_fit(path, names, by_urlearning=True)

    def lines() -> Iterator[str]:
        yield "META pss_version = 0.1\n"
        yield from (f"META {key}={value}\n" for key, value in information)
        for name, (_, rows) in zip(names, families, strict=True):
            yield f"\nVAR {name}\n"
            for score, parents in rows:
                yield f"{' '.join((repr(float(score)), *parents))}\n"

    _write(path, lines())


def _write(path: FilePath, lines: Iterator[str]) -> None:
    write_as_named(path, lambda file: file.writelines(line.encode() for line in lines))


class _ScoreFile:
    """A score file being read: its lines that say something, as words, and the families found so far."""

    def __init__(self, path: FilePath) -> None:
        self.path = Path(path)
        self.number = 0
        self.line = b""
        self.lines = self._read()
        self.families = NamedFamilies()
        self.family_lines = array("q")

    def _read(self) -> Iterator[list[bytes]]:
        try:
            with _open_to_read(self.path) as file:
                for self.number, self.line in enumerate(file, 1):
                    words = self.line.split()
                    if words and words[0][:1] != b"#":
                        yield words
                    else:
                        self.text()  # comments are UTF-8 too
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise self.error_at(self.number + 1, f"the compressed file is damaged here: {error}") from None
        except OSError as error:
            raise FileError(f"{self.path}: {why_not_opened(error)}") from None
        if self.number and not self.line.endswith(b"\n"):
            raise self.error("a line break at its end (add it if nothing is missing)")

    def next_words(self, expected: str) -> list[bytes]:
        words = next(self.lines, None)
        if words is None:
            raise self.error_at_end(expected)
        return words

    def text(self) -> str:
        try:
            return self.line.decode()
        except UnicodeDecodeError:
            raise self.error("text in UTF-8") from None

    def begin(self, words: list[bytes]) -> None:
        if len(words) != 1 or _NOT_IN_A_NAME.search(self.text() and words[0].decode()):
            raise self.error("one name without white space and control characters")
        if self.families.lacks_family():
            raise self.error(f"a family of {_shown(self.families.names[-1])}, which has none")
        if words[0] in self.families.names:
            raise self.error(f"a variable that does not stand above, as {_shown(words[0])} does")
        if len(self.families.names) == MOST_VARIABLES:
            raise self.error(f"no more than {MOST_VARIABLES:,} variables")
        self.families.begin(words[0])

    def add(self, score: bytes, parents: list[bytes]) -> None:
        value = _as_score(score)
        if value is None:
            raise self.error(f"a finite score of {_shown(self.families.names[-1])}")
        self.families.add(value, parents)
        self.family_lines.append(self.number)

    def finish(self) -> FamilyLists:
        if self.families.lacks_family() or not self.families.names:
            raise self.error_at_end("a family" if self.families.names else "a variable")
        try:
            return self.families.finish()
        except FamilyError as error:
            raise self.error_at(self.family_lines[error.family], str(error)) from None

    def error(self, expected: str) -> FileError:
        return self.error_at(self.number, f"expected {expected}, found {_shown(self.line)}")

    def error_at_end(self, expected: str) -> FileError:
        return self.error_at(self.number + 1, f"expected {expected}, found the end of the file")

    def error_at(self, number: int, message: str) -> FileError:
        return FileError(f"{self.path}, line {number}: {message}")


def _read_n_variables(file: _ScoreFile) -> int:
    expected = "the number of variables"
    words = file.next_words(expected)
    if len(words) != 1 or (n_variables := _as_count(words[0])) < 1:
        raise file.error(expected)
    if n_variables > MOST_VARIABLES:
        raise file.error_at(file.number, f"{n_variables:,} variables; at most {MOST_VARIABLES:,} can be searched")
    return n_variables


def _read_block(file: _ScoreFile, variable: str) -> None:
    expected = f"{variable}: its name and its number of families, at least 1"
    words = file.next_words(expected)
    if len(words) != 2 or not (count := _as_count(words[1])):
        raise file.error(expected)
    file.begin(words[:1])
    place = 0
    for place, words in enumerate(islice(file.lines, count), 1):
        if len(words) < 2 or words[1] != b"%d" % (len(words) - 2):
            family = f"family {place} of {count} of {variable}"
            raise file.error(f"{family}: its score, number of parents and as many parents")
        file.add(words[0], words[2:])
    if place < count:
        raise file.error_at_end(f"family {place + 1} of {count} of {variable}")


def _check_meta(file: _ScoreFile) -> None:
    key, equals, _ = file.text().lstrip()[len("META") :].partition("=")
    if not equals or not key.strip():
        raise file.error("META key=value")


def _as_count(word: bytes) -> int:
    """A plain number of up to 18 digits, else 0, which no count may be."""
    return int(word) if word.isdigit() and len(word) <= 18 else 0


def _as_score(word: bytes) -> float | None:
    try:
        score = float(word)
    except ValueError:
        return None
    return score if math.isfinite(score) and b"_" not in word else None


def _shown(found: bytes) -> str:
    text = found.strip().decode(errors="backslashreplace")
    return repr(text if len(text) <= 60 else text[:57] + "...")


def _is_compressed(path: Path) -> bool:
    return path.suffix.lower() == ".gz"


def _open_to_read(path: Path) -> io.BufferedReader:
    return io.BufferedReader(gzip.open(path)) if _is_compressed(path) else open(path, "rb")


def require_names_fit(path: FilePath, names: Sequence[str], *, by_urlearning: bool = False) -> None:
    """Raises FileError where a file of families cannot hold them, or URLearning, which is to read it, misreads them."""
    try:
        check_names(names)
    except FileError as error:
        raise _not_written(path, str(error)) from None
    for name in names:
        if not name or name.startswith("#") or _NOT_IN_A_NAME.search(name):
            said = f"a list of families cannot hold the name {name!r}, which is empty, begins with # or has white space"
            raise _not_written(path, f"{said} or control characters in it; rename the variable or write a .npz file")
        if by_urlearning and ("meta" in name.lower() or name.lower().endswith("var")):
            said = f"URLearning misreads names with 'meta' in them or 'var' at the end, such as {name!r}"
            raise _not_written(path, f"{said}; rename the variable or write a .jkl file")


def _not_written(path: FilePath, why: str) -> FileError:
    return FileError(f"{os.fspath(path)}: not written: {why}")
