"""Reading a text piece by piece; what does not fit is an error that names the line and what was expected."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from topdag._util.arrays import Floats
from topdag.errors import FileError

QUOTED = r'"(?:[^"\\]|\\.)*"'
ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
SHOWN = 30


class TextScanner:
    """A place in a text. Blanks and comments before a piece are passed over."""

    def __init__(self, text: str, blank: str) -> None:
        self.text = text
        self.place = 0
        self._blank = re.compile(blank, re.DOTALL)
        self._counted, self._line = 0, 1  # lines are counted on from where they last were
        self._skip()

    @property
    def is_at_end(self) -> bool:
        return self.place == len(self.text)

    @property
    def line(self) -> int:
        self._line += self.text.count("\n", self._counted, self.place)
        self._counted = self.place
        return self._line

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """The piece that begins here, if it is such a one."""
        found = pattern.match(self.text, self.place)
        if found:
            self.place = found.end()
            self._skip()
        return found

    def expect(self, pattern: re.Pattern[str], what: str) -> re.Match[str]:
        found = self.take(pattern)
        if found is None:
            raise self.error(f"expected {what}, found {self._shown()}")
        return found

    def error(self, message: str) -> FileError:
        return FileError(f"line {self.line}: {message}")

    def _skip(self) -> None:
        found = self._blank.match(self.text, self.place)
        self.place = found.end() if found else self.place

    def _shown(self) -> str:
        if self.is_at_end:
            return "the end of the file"
        return repr(self.text[self.place : self.place + SHOWN].split("\n")[0])


def numbers_in(text: str, line: int) -> Floats:
    """The numbers of a text, which commas or blanks separate."""
    words = text.replace(",", " ").split()
    try:
        return np.array(words, dtype=np.float64)
    except ValueError:
        wrong = next(word for word in words if not is_number(word))
        raise FileError(f"line {line}: {wrong!r} is not a number; probabilities are decimal numbers") from None


def is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def quoted(text: str) -> str:
    """In double quotes, with a backslash before what could not stand there."""
    text = text.replace("\\", "\\\\").replace('"', '\\"')
    for letter, sign in ESCAPES.items():
        text = text.replace(sign, f"\\{letter}")
    return f'"{text}"'


def unquoted(piece: str) -> str:
    """What ``quoted`` was given; a piece without quotes is itself."""
    if not piece.startswith('"'):
        return piece
    return re.sub(r"\\(.)", lambda found: ESCAPES.get(found[1], found[1]), piece[1:-1], flags=re.DOTALL)


def joined_numbers(row: Sequence[float], separator: str) -> str:
    """As short as they can be while the same doubles are read back."""
    return separator.join(map(repr, row))
