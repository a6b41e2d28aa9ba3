"""States as words and back: files of networks hold words only, while states may be numbers or booleans too."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from topdag.data.columns import CODE, INTEGER, plain
from topdag.errors import NetworkError

LETTERS = {bool: "b", int: "i", float: "f", str: "t"}  # bool first: it is an int too
BOOLEANS = {"True": True, "False": False}


def plain_states(name: str, states: Sequence[Hashable]) -> list[Any]:
    """The states as Python's own texts, numbers and booleans, which files can hold; others are refused."""
    return [_plain_state(name, state) for state in states]


def words_of(name: str, states: Sequence[Hashable]) -> list[str]:
    """The states of a variable as different words."""
    words = list(map(str, plain_states(name, states)))
    for place, word in enumerate(words):
        if word in words[:place]:
            raise NetworkError(
                f"{name!r} has states that differ in type only ({word}), which no file of words can hold; "
                "give one of them another name."
            )
    return words


def kinds_of(name: str, states: Sequence[Hashable]) -> str:
    """A letter for each state, where its word alone would be taken for another state; otherwise nothing."""
    meant = plain_states(name, states)
    if _same(states_of(words_of(name, states)), meant):
        return ""
    return "".join(map(_letter, meant))


def states_of(words: Sequence[str], kinds: str = "") -> tuple[Any, ...]:
    """The states that words stand for: as their kinds say, else whole numbers where all are such."""
    if kinds:
        if len(kinds) != len(words):
            raise NetworkError(f"{len(kinds)} kinds of states ({kinds}) for {len(words)} states.")
        return tuple(_state_of(word, kind) for word, kind in zip(words, kinds, strict=True))
    if all(INTEGER.fullmatch(word) and not CODE.fullmatch(word) and str(int(word)) == word for word in words):
        return tuple(map(int, words))
    return tuple(words)


def _plain_state(name: str, state: Hashable) -> Any:
    state = plain(state)
    if not isinstance(state, tuple(LETTERS)):
        raise NetworkError(
            f"{name!r} has the state {state!r} of type {type(state).__name__}; files hold texts, numbers and booleans."
        )
    return state


def _letter(state: object) -> str:
    return next(letter for kind, letter in LETTERS.items() if isinstance(state, kind))


def _same(states: Sequence[Any], others: Sequence[Any]) -> bool:
    return [(_letter(state), state) for state in states] == [(_letter(other), other) for other in others]


def _state_of(word: str, kind: str) -> Any:
    readers: dict[str, Callable[[str], Any]] = {"b": BOOLEANS.__getitem__, "i": int, "f": float, "t": str}
    try:
        return readers[kind](word)
    except (KeyError, ValueError):
        raise NetworkError(f"The state {word!r} is not of the kind {kind!r} that the file says.") from None
