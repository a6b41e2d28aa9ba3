"""How a long computation stands, shown while it runs: a line in a terminal, an output of its own in a notebook."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass, replace
from html import escape
from threading import Event, Thread
from time import perf_counter
from typing import Any, Protocol

from topdag._util.memory import held_memory, shown_bytes

SECONDS_OF_SILENCE = 2.0
"""Quick answers come without flicker."""
SECONDS_A_LOOK = 0.2
LEAST_DONE = 0.05
"""Of a phase, before anybody says how long the rest takes."""
COLUMNS = 80
"""Of a terminal that does not say how wide it is."""
NOTEBOOK_SHELL = "ZMQInteractiveShell"


@dataclass(frozen=True)
class Progress:
    """How a computation stands: given to ``on_progress`` several times a second. Unknown numbers are None.

    ``fraction``: of this phase; ``memory``: bytes planned for, or held where that is more.
    """

    phase: str
    seconds: float
    fraction: float | None
    best: float | None
    bound: float | None
    memory: int

    @property
    def gap(self) -> float | None:
        return None if self.best is None or self.bound is None else self.bound - self.best


class Display(Protocol):
    """Where progress is shown, until it is wiped."""

    def show(self, progress: Progress) -> None: ...

    def wipe(self) -> None: ...


def display_for(wanted: bool | None) -> Display | None:
    """Where to show progress. None: a notebook or a person at a prompt sees it, a program or a pipe does not."""
    if wanted is False:
        return None
    if is_notebook():
        return NotebookLine()
    at_a_prompt = hasattr(sys, "ps1") or _shell() is not None
    return TerminalLine() if is_terminal() and (wanted or at_a_prompt) else None


@contextmanager
def shown_meanwhile(phase: str, line: Display | None) -> Iterator[None]:
    """Time and memory of what nobody hears from while it runs, such as an engine that reads a table."""
    if line is None:
        yield
        return
    begin, is_over = perf_counter(), Event()

    def look() -> None:
        while not is_over.wait(SECONDS_A_LOOK):
            line.show(Progress(phase, perf_counter() - begin, None, None, None, held_memory()))

    watcher = Thread(target=copy_context().run, args=(look,), daemon=True)  # a notebook knows its cell by the context
    try:
        watcher.start()  # Ctrl-C may come before it returns, and the thread runs all the same
        yield
    finally:
        is_over.set()
        if watcher.is_alive():
            watcher.join()
        line.wipe()


def is_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


def is_notebook() -> bool:
    return type(_shell()).__name__ == NOTEBOOK_SHELL


def _shell() -> Any:
    """IPython's shell, if it runs; a program without IPython does not load it for this."""
    ipython = sys.modules.get("IPython")
    return None if ipython is None else getattr(ipython, "get_ipython", lambda: None)()


class Course:
    """What is shown goes forward only. The clock runs on where one computation follows another, each with a clock of
    its own, and a phase that falls back, since there is more to do than was known, shows no part of it any more."""

    def __init__(self) -> None:
        self._before = self._seconds = self._began = 0.0
        self._phase: str | None = None
        self._reached: float | None = 0.0

    def on(self, progress: Progress) -> tuple[Progress, float | None]:
        """How it stands on this course, and how many seconds are left of the phase; None where nobody knows."""
        if progress.seconds < self._seconds:
            self._before += self._seconds
        self._seconds = progress.seconds
        seconds = self._before + progress.seconds
        if progress.phase != self._phase:
            self._phase, self._began, self._reached = progress.phase, seconds, 0.0
        done = progress.fraction
        self._reached = None if self._reached is None or done is None or done < self._reached else done
        known = self._reached is not None and self._reached >= LEAST_DONE and seconds - self._began >= 1.0
        left = (seconds - self._began) * (1 / self._reached - 1) if known and self._reached else None
        return replace(progress, seconds=seconds, fraction=self._reached), left


class TerminalLine:
    """One line on stderr, overwritten; nothing of it stays."""

    def __init__(self) -> None:
        self._shown = ""
        self._course = Course()

    def show(self, progress: Progress) -> None:
        progress, left = self._course.on(progress)
        if progress.seconds >= SECONDS_OF_SILENCE:
            self._write(in_words(progress, left)[: _columns() - 1])  # a full line would move the cursor to the next

    def wipe(self) -> None:
        if self._shown:
            self._write("")
            print(end="\r", file=sys.stderr, flush=True)

    def _write(self, text: str) -> None:
        print(f"\r{text:<{len(self._shown)}}", end="", file=sys.stderr, flush=True)
        self._shown = text


def _columns() -> int:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or COLUMNS
    except OSError:
        return COLUMNS


class NotebookLine:
    """An output of its own under the cell, emptied in the end."""

    def __init__(self) -> None:
        self._handle: Any = None
        self._course = Course()

    def show(self, progress: Progress) -> None:
        progress, left = self._course.on(progress)
        if progress.seconds < SECONDS_OF_SILENCE:
            return
        line = _Line(in_words(progress, left), progress.fraction)
        if self._handle is None:
            from IPython.display import display

            self._handle = display(line, display_id=True)
        elif self._handle is not None:
            self._handle.update(line)

    def wipe(self) -> None:
        if self._handle is not None:
            self._handle.update(_Line("", None))
            self._handle = None


class _Line:
    """A text with a bar, as IPython shows it."""

    def __init__(self, text: str, fraction: float | None) -> None:
        self.text, self.fraction = text, fraction

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        bar = "" if self.fraction is None else f'<progress value="{self.fraction:.3f}"></progress> '
        return f"<div>{bar}<code>{escape(self.text)}</code></div>" if self.text else "<div></div>"


def in_words(progress: Progress, left: float | None = None) -> str:
    """Phase, with the seconds ``left`` of it, time and memory, and best, bound and gap where they are known."""
    percent = "" if progress.fraction is None else f" {progress.fraction:.0%}"
    about = "" if left is None else f" (about {max(1.0, left):.0f} s left)"
    words = [f"{progress.phase}{percent}{about}", f"{progress.seconds:.0f} s"]
    if progress.memory:
        words.append(shown_bytes(progress.memory))
    known = {"best": progress.best, "bound": progress.bound, "gap": progress.gap}
    words += [f"{label} {value:.3f}" for label, value in known.items() if value is not None]
    return ", ".join(words)
