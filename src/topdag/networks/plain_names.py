"""Names that every program can read: words of letters, digits and underscores."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
SIGN_WORDS = (("<=", " le "), (">=", " ge "), ("<", " lt "), (">", " gt "), ("+", " plus "), ("%", " percent "))
MINUS = re.compile(r"(?<![\w.])-(?=[\d.])")
KEYWORDS_OF_BIF = frozenset({"network", "variable", "probability", "property", "type", "discrete", "table", "default"})
KEYWORDS_OF_NET = frozenset({"net", "node", "potential", "states", "data", "class", "decision", "utility", "label"})


def plain_words(texts: Iterable[str], first: str) -> list[str]:
    """A plain word for each text, all different even without regard to case; ``first`` leads where no letter does."""
    words: list[str] = []
    taken: set[str] = set()
    for text in texts:
        word, number = plain_word(text, first), 2
        made = word
        while made.casefold() in taken:
            made, number = f"{word}_{number}", number + 1
        taken.add(made.casefold())
        words.append(made)
    return words


def plain_word(text: str, first: str) -> str:
    """Letters, digits and underscores, the first a letter, and no keyword of a file format.

    >>> plain_word("blood pressure", "v"), plain_word("<= 1.5", "s"), plain_word("0", "s"), plain_word("Größe", "v")
    ('blood_pressure', 'le_1_5', 's0', 'Grosse')
    """
    text = MINUS.sub(" minus ", text.replace("ß", "ss"))
    for sign, word in SIGN_WORDS:
        text = text.replace(sign, word)
    letters = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    made = re.sub(r"[^A-Za-z0-9]+", "_", letters).strip("_")
    if not made or not made[0].isalpha():
        made = first + made
    return f"{made}_" if made.lower() in KEYWORDS_OF_BIF | KEYWORDS_OF_NET else made
