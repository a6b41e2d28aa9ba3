"""One computation's clock and limits: how long it may run, how much memory it may take, who watches it."""

from __future__ import annotations

import os
import time
import weakref
from collections.abc import Callable
from numbers import Integral, Real

from topdag._util.memory import available_memory, held_memory, parse_bytes, peak_memory, shown_bytes
from topdag._util.progress import Progress, display_for
from topdag.errors import TooLarge

__all__ = ["MOST_THREADS", "OnProgress", "Run", "available_memory", "is_whole", "parse_bytes", "peak_memory"]
__all__ += ["shown_bytes", "usable_cores"]

MOST_THREADS = 1024
OnProgress = Callable[[Progress], object] | bool
"""A function that is told how things stand, True for a line that shows it, False for none."""


class Run:
    """Made when a question is asked; passed to whatever works on it."""

    def __init__(
        self,
        *,
        time_limit: float | None = None,
        memory_limit: int | str | None = None,
        threads: int | None = None,
        on_progress: OnProgress | None = None,
    ) -> None:
        is_number = isinstance(time_limit, Real) and not isinstance(time_limit, bool)
        if time_limit is not None and not (is_number and time_limit >= 0):
            raise ValueError(f"time_limit must be a number of seconds, not {time_limit!r}.")
        if threads is not None and not is_whole(threads, 1, MOST_THREADS):
            raise ValueError(f"threads must be a whole number from 1 to {MOST_THREADS}, not {threads!r}.")
        if on_progress is not None and not isinstance(on_progress, bool) and not callable(on_progress):
            raise ValueError(
                f"on_progress must be True, False or a function of a Progress, such as print, not {on_progress!r}."
            )
        self.start = time.perf_counter()
        self.time_limit = time_limit
        self.memory_limit = None if memory_limit is None else parse_bytes(memory_limit)
        self.threads = usable_cores() if threads is None else int(threads)
        self.on_progress = on_progress if callable(on_progress) else self._shown(on_progress)
        self.phases: dict[str, float] = {}
        self.memory = 0
        self.best: float | None = None
        self.bound: float | None = None

    def _shown(self, wanted: bool | None) -> Callable[[Progress], object] | None:
        """A line that shows how things stand, wiped when this run is over."""
        line = display_for(wanted)
        if line is None:
            return None
        weakref.finalize(self, line.wipe)
        return line.show

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.start

    @property
    def seconds_left(self) -> float | None:
        return None if self.time_limit is None else max(0.0, self.time_limit - self.seconds)

    @property
    def allowed_memory(self) -> int:
        """Bytes that may be taken: the limit, or what is free now."""
        return available_memory() if self.memory_limit is None else self.memory_limit

    @property
    def is_over(self) -> bool:
        return self.seconds_left == 0.0

    @property
    def on_tick(self) -> Callable[[str, int, int, float | None, float | None], None] | None:
        """What the core calls while it works; None when nobody watches."""
        return None if self.on_progress is None else self.tick

    def tick(self, phase: str, done: int, total: int, best: float | None = None, bound: float | None = None) -> None:
        if self.on_progress is not None:
            fraction = min(1.0, done / total) if total else None
            best = self.best if best is None else best
            bound = self.bound if bound is None else bound
            memory = max(self.memory, held_memory())
            self.on_progress(Progress(phase, self.seconds, fraction, best, bound, memory))

    def timed(self, phase: str, begin: float) -> None:
        """Books the seconds since ``begin`` (a value of ``self.seconds``) under this phase."""
        self.phases[phase] = self.phases.get(phase, 0.0) + self.seconds - begin

    def require_memory(self, needed: float, what: str, advice: str, *, held: int = 0) -> None:
        """Raises TooLarge, before anything is taken, when ``needed`` bytes exceed the limit or the machine.

        ``held`` of them are in use already, which the machine's free memory no longer counts.
        """
        available = available_memory() + held if self.memory_limit is None else self.memory_limit
        if needed > available:
            limit = "are free on this machine" if self.memory_limit is None else "are allowed by memory_limit"
            raise TooLarge(f"{what} needs {shown_bytes(needed)}; {shown_bytes(available)} {limit}. {advice}")
        self.memory = max(self.memory, int(needed))


def is_whole(value: object, least: int, most: int) -> bool:
    """Whether it is a whole number in this range, of Python's or numpy's kind; True and False are none."""
    return isinstance(value, Integral) and not isinstance(value, bool) and least <= int(value) <= most


def usable_cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1
