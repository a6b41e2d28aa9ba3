"""What can go wrong, one class per kind of trouble, so that callers can tell them apart."""

from __future__ import annotations

import os
import sys
from typing import Any


def why_not_opened(error: OSError) -> str:
    """What keeps a file from being read or written, in plain words."""
    path = error.filename
    if isinstance(error, FileNotFoundError):
        folder = os.path.dirname(os.path.abspath(path)) if isinstance(path, str | os.PathLike) else ""
        return f"there is no folder {folder}" if folder and not os.path.isdir(folder) else "there is no such file"
    if isinstance(error, IsADirectoryError):
        return "this is a folder, not a file"
    if isinstance(error, PermissionError):
        return "you have no permission to open it; look at its rights, or choose another place"
    return error.strerror or str(error)


def is_finite(number: Any) -> bool:
    """Whether a double can hold the number; ``math.isfinite`` fails on whole numbers that are too large for one."""
    return bool(abs(number) <= sys.float_info.max)


class TableError(ValueError):
    """The table cannot be used as it is; the message names the column or row and what to do."""


class ScoreError(ValueError):
    """A score or a family asked for makes no sense here."""


class NotAllowed(ScoreError):
    """A family that the score does not allow."""


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
    """The question would need more memory than allowed; the message says what would fit.

    ``by_limit``: more than ``memory_limit``, not more than there is.
    """

    def __init__(self, message: str, *, by_limit: bool = False) -> None:
        super().__init__(message)
        self.by_limit = by_limit


class OutOfTime(TimeoutError):
    """``time_limit`` came before an answer that must be whole.

    ``answer`` is how many were found by then: of a count, there are at least so many; of a stream, so many were given.
    """

    def __init__(self, message: str, answer: int = 0) -> None:
        super().__init__(message)
        self.answer = answer


class LostWorker(RuntimeError):
    """A worker of an executor was lost with a task that was not tried again, or none answers; there is no answer."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a long computation. ``answer`` carries what was known by then, or None."""

    def __init__(self, message: str, answer: Any = None) -> None:
        super().__init__(message)
        self.answer = answer
