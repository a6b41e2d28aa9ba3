"""What can go wrong, one class per kind of trouble, so that callers can tell them apart."""

from __future__ import annotations

from typing import Any


class TableError(ValueError):
    """The table cannot be used as it is; the message names the column or row and what to do."""


class ScoreError(ValueError):
    """A score or a family asked for makes no sense here."""


class FileError(ValueError):
    """A file is not what it should be; the message names the line."""


class NetworkError(ValueError):
    """A network is not one: a cycle, an unknown variable, a table that does not fit."""


class ConstraintError(ValueError):
    """Knowledge that cannot be used: a rule that cannot be read, or statements that contradict each other.

    ``conflict``: the statements, each in words, of a smallest set that cannot all hold; empty when it is not that.
    """

    def __init__(self, message: str, conflict: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.conflict = conflict


class TooLarge(MemoryError):
    """The question would need more memory than allowed; the message says what would fit."""


class OutOfTime(TimeoutError):
    """``time_limit`` came before an answer that must be whole.

    ``answer`` is how many were found by then: of a count, there are at least so many; of a stream, so many were given.
    """

    def __init__(self, message: str, answer: int = 0) -> None:
        super().__init__(message)
        self.answer = answer


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a long computation. ``answer`` carries what was known by then, or None."""

    def __init__(self, message: str, answer: Any = None) -> None:
        super().__init__(message)
        self.answer = answer
