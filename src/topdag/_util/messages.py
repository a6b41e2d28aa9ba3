"""How messages speak: of a row, of a name that is not there, of many things."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from topdag.errors import TableError

Place: TypeAlias = Callable[[int], str]  # how messages call a row


def place_in_frame(row: int) -> str:
    return f"row {row} (counted from 0)"


def place_in_lazy_frame(row: int) -> str:
    return "a row"  # which engines do not number


def check_known(name: Any, names: Sequence[str], asked_by: str) -> None:
    if name not in names:
        raise TableError(f"{asked_by} names a column {name!r} that is not there; {closest(name, names)}")


def closest(name: Any, names: Sequence[str]) -> str:
    """The names most like this one, as the end of a message."""
    import difflib

    close = difflib.get_close_matches(str(name), names, n=3, cutoff=0.5)
    return f"close to it are {listing(close)}" if close else f"the names are {listing(names)}"


def listing(items: Sequence[Any], at_most: int = 10) -> str:
    """The items for a message, the first ones if they are many."""
    return first_ones([repr(item) for item in items], at_most)


def first_ones(texts: Sequence[str], at_most: int = 10) -> str:
    """The same of what is text already."""
    more = f" and {len(texts) - at_most:,} more" if len(texts) > at_most else ""
    return ", ".join(texts[:at_most]) + more


def plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
