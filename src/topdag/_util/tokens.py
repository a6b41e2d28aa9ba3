"""Short texts read from left to right, token by token; errors point at the place."""

from __future__ import annotations

import re
from dataclasses import dataclass

from topdag.errors import ConstraintError

MOST_NESTED = 100
MOST_CHARACTERS = 100_000
SPACE = re.compile(r"\s*")


@dataclass(frozen=True)
class Token:
    """A piece of the text, and where it begins."""

    kind: str
    text: str
    place: int


class TokenReader:
    """Reads one token ahead. ``what``: where the text stands, as errors call it; ``TOKENS``: a group for each kind."""

    TOKENS: re.Pattern[str]

    def __init__(self, text: str, what: str) -> None:
        if len(text) > MOST_CHARACTERS:
            raise ConstraintError(f"{what}: {len(text):,} characters; at most {MOST_CHARACTERS:,} are read.")
        self.text, self.what = text, what
        self.tokens = self._tokens()
        self.at = 0
        self.depth = 0

    @property
    def _next(self) -> Token:
        return self.tokens[self.at]

    def _take(self) -> Token:
        self.at += 1
        return self.tokens[self.at - 1]

    def _takes(self, text: str) -> bool:
        """Whether a keyword or bracket comes next; it is taken then."""
        is_next = self._next.text == text and self._next.kind in ("name", "bracket", "sign")
        self.at += is_next
        return is_next

    def _enter(self) -> None:
        self.depth += 1
        if self.depth > MOST_NESTED:
            raise self._error(self._next.place, f"brackets are nested at most {MOST_NESTED} deep")

    def _tokens(self) -> list[Token]:
        found: list[Token] = []
        place = 0
        while True:
            blank = SPACE.match(self.text, place)
            place = place if blank is None else blank.end()
            if place == len(self.text):
                return [*found, Token("end", "", place)]
            match = self.TOKENS.match(self.text, place)
            if match is None or match.lastgroup is None:
                what = "a quote that is not closed" if self.text[place] == '"' else f"{self.text[place]!r}"
                advice = "names with other signs than letters, digits, _ and . stand in double quotes"
                raise self._error(place, f"{what} has no meaning here; {advice}")
            found.append(Token(match.lastgroup, match.group(), place))
            place = match.end()

    def _wrong(self, expected: str) -> ConstraintError:
        found = "the text ends" if self._next.kind == "end" else f"there is {self._next.text!r}"
        return self._error(self._next.place, f"expected {expected}, but {found}")

    def _error(self, place: int, what: str) -> ConstraintError:
        """With the text around the place, and a mark below it."""
        begin = max(0, place - 60)
        shown = "".join(c if c.isprintable() else " " for c in self.text[begin : place + 40])
        return ConstraintError(f"{self.what}, character {place + 1}: {what}.\n  {shown}\n  {' ' * (place - begin)}^")

    def _unquoted(self) -> str:
        """What stands in quotes; it is taken."""
        return re.sub(r"\\(.)", r"\1", self._take().text[1:-1], flags=re.DOTALL)
