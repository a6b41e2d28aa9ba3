"""Where commands print: answers on stdout, all else on stderr."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

from topdag.errors import FileError

WIDTH = 100
"""Of what is printed."""


class NotAllPrinted(KeyboardInterrupt):
    """Ctrl-C while an answer was printed."""


@contextlib.contextmanager
def printing() -> Iterator[None]:
    """An answer is there: from now on Ctrl-C costs no more than that not all of it is printed."""
    try:
        yield
    except KeyboardInterrupt:
        discard_stdout()
        raise NotAllPrinted from None


def say(text: str) -> None:
    """Prints an answer; what the encoding of stdout cannot say is escaped."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        with printing():
            print(text.encode(encoding, "backslashreplace").decode(encoding), flush=True)
    except BrokenPipeError:
        discard_stdout()
        raise
    except OSError as error:
        discard_stdout()
        raise FileError(f"standard output: {error.strerror or error}") from error


def mention(text: str) -> None:
    """Prints what is no answer."""
    print(text, file=sys.stderr, flush=True)


def discard_stdout() -> None:
    """It takes no more: what Python still wants to write there at its end goes nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
