"""One computation's clock and limits: how long it may run, how much memory it may take, who watches and stops it.

There is one way to stop: ``is_over`` turns true, and every engine gives what it knows. Time that is up, Ctrl-C and an
exception in ``on_progress`` all do just that; the latter two are raised when the answer is there, and carry it.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import threading
import weakref
from collections.abc import Callable, Iterator
from numbers import Integral, Real
from time import perf_counter
from types import FrameType
from typing import Any, TypedDict, TypeVar

from topdag import _core
from topdag._util.memory import available_memory, held_memory, parse_bytes, peak_memory, shown_bytes
from topdag._util.options import option, question
from topdag._util.progress import Progress, display_for
from topdag._util.stop import Stop
from topdag.errors import Interrupted, OutOfTime, ScoreError, TooLarge

__all__ = ["MOST_THREADS", "OnProgress", "Run", "available_memory", "is_whole", "parse_bytes", "peak_memory"]
__all__ += ["shown_bytes", "usable_cores"]

MOST_THREADS = 1024
PROCESSES = "processes"
LONGEST = 1e9
"""Seconds, 30 years: a longer time limit is none, and no number that clocks can take."""
OnProgress = Callable[[Progress], object] | bool
"""A function that is told how things stand, True for a line that shows it, False for none."""
Result = TypeVar("Result")


class Limits(TypedDict, total=False):
    """``time_limit``: seconds; ``memory_limit``: bytes, or a text such as "8GB"; ``threads``: all cores without it;
    ``executor``: who works on what can be cut into tasks, this process without one (docs/guides/clusters.md)."""

    time_limit: float | None
    memory_limit: int | str | None
    threads: int | None
    on_progress: OnProgress | None
    executor: Any


class Run:
    """Made when a question is asked; passed to whatever works on it."""

    def __init__(
        self,
        *,
        time_limit: float | None = None,
        memory_limit: int | str | None = None,
        threads: int | None = None,
        on_progress: OnProgress | None = None,
        executor: Any = None,
    ) -> None:
        is_number = isinstance(time_limit, Real) and not isinstance(time_limit, bool)
        if time_limit is not None and not (is_number and time_limit >= 0):
            raise ScoreError(f"{option('time_limit')} must be a number of seconds, not {time_limit!r}.")
        if threads is not None and not is_whole(threads, 1, MOST_THREADS):
            raise ScoreError(f"threads must be a whole number from 1 to {MOST_THREADS}, not {threads!r}.")
        if on_progress is not None and not isinstance(on_progress, bool) and not callable(on_progress):
            raise ScoreError(
                f"on_progress must be True, False or a function of a Progress, such as print, not {on_progress!r}."
            )
        require_executor(executor)
        self.start = perf_counter()
        self.time_limit = None if time_limit is None else float(min(time_limit, LONGEST))
        self.memory_limit = None if memory_limit is None else parse_bytes(memory_limit)
        self.threads = usable_cores() if threads is None else int(threads)
        self.executor = executor
        self.line = None if callable(on_progress) else display_for(on_progress)
        self.on_progress = on_progress if callable(on_progress) else self._shown()
        self.phases: dict[str, float] = {}
        self.memory = 0
        self.best: float | None = None
        self.bound: float | None = None
        self.stopped_by: BaseException | None = None
        self.meanwhile: Callable[[], object] | None = None  # called with each tick

    def _shown(self) -> Callable[[Progress], object] | None:
        """The line that shows how things stand, wiped when this run is over."""
        if self.line is None:
            return None
        weakref.finalize(self, self.line.wipe)
        return self.line.show

    @property
    def seconds(self) -> float:
        return perf_counter() - self.start

    @property
    def seconds_left(self) -> float | None:
        left = None if self.time_limit is None else max(0.0, self.time_limit - self.seconds)
        return left if self.stopped_by is None else 0.0

    @property
    def left(self) -> Limits:
        """What a question within it may take."""
        return Limits(
            time_limit=self.seconds_left,
            memory_limit=self.memory_limit,
            threads=self.threads,
            on_progress=self.on_progress,
            executor=self.executor,
        )

    @property
    def limits(self) -> _core.Limits:
        """What the core may take of it, from now on."""
        return _core.Limits(self.threads, self.seconds_left, self.tick)

    @property
    def allowed_memory(self) -> int:
        """Bytes that may be taken: the limit, or what is free now."""
        return available_memory() if self.memory_limit is None else self.memory_limit

    @property
    def is_over(self) -> bool:
        return self.seconds_left == 0.0

    @property
    def limit(self) -> Stop:
        """What a run that is over was stopped by."""
        if self.stopped_by is None:
            return Stop.TIME_LIMIT
        return Stop.INTERRUPT if isinstance(self.stopped_by, KeyboardInterrupt) else Stop.ON_PROGRESS

    def stop(self, why: BaseException) -> None:
        """From now on it is over; ``why`` is raised when the answer is there."""
        if self.stopped_by is None:
            self.stopped_by = why.with_traceback(None) if isinstance(why, KeyboardInterrupt) else why

    def tick(self, phase: str, done: int, total: int, best: float | None = None, bound: float | None = None) -> bool:
        """Tells who watches; the core calls it while it works. Whether to stop, as when the time is up."""
        if self.on_progress is not None and self.stopped_by is None:
            fraction = min(1.0, done / total) if total else None
            best = self.best if best is None else best
            bound = self.bound if bound is None else bound
            progress = Progress(phase, self.seconds, fraction, best, bound, max(self.memory, held_memory()))
            try:
                self.on_progress(progress)
            except BaseException as error:
                self.stop(error)
        if self.meanwhile is not None and not self.is_over:
            self.meanwhile()
        return self.stopped_by is not None

    def answer(self, find: Callable[[], Result], known: Callable[[Result], str]) -> Result:
        """What ``find`` gives within the limits. Ctrl-C ends it as a time limit does and is then raised as Interrupted,
        with what is ``known`` in words and the answer; so is what ``on_progress`` raised, with the answer."""
        with self.hearing():
            found = find()
        if self.stopped_by is not None:
            raise self._stopped(known(found), found)
        return found

    def cut_short(self, asked_by: str, known: str, answer: int | None = None) -> BaseException:
        """What to raise when the run is over before an answer that must be whole; ``answer``: how many were found."""
        if self.stopped_by is not None:
            return self._stopped(known, answer)
        return OutOfTime(
            f"{question(asked_by)}: {option('time_limit')} came after {self.seconds:.1f} s; {known}.", answer
        )

    def _stopped(self, known: str, answer: Any) -> BaseException:
        why = self.stopped_by
        assert why is not None
        if isinstance(why, KeyboardInterrupt):
            return Interrupted(f"Interrupted after {self.seconds:.1f} s; {known}", answer)
        with contextlib.suppress(AttributeError):  # not every exception has room for it
            why.answer = answer  # type: ignore[attr-defined]
        return why

    @contextlib.contextmanager
    def hearing(self) -> Iterator[None]:
        """Meanwhile what Ctrl-C would raise stops the run instead; a second Ctrl-C is raised at once."""
        handler = signal.getsignal(signal.SIGINT)
        if threading.current_thread() is not threading.main_thread() or not callable(handler):
            yield  # signals go elsewhere, or nowhere
            return
        ears: _Ears = handler if isinstance(handler, _Ears) else _Ears(handler)
        ears.runs.append(self)
        signal.signal(signal.SIGINT, ears)
        try:
            yield
        finally:
            ears.runs.remove(self)
            if not ears.runs:
                signal.signal(signal.SIGINT, ears.before)

    def timed(self, phase: str, begin: float) -> None:
        """Books the seconds since ``begin`` (a value of ``self.seconds``) under this phase."""
        self.phases[phase] = self.phases.get(phase, 0.0) + self.seconds - begin

    def require_memory(self, needed: float, what: str, advice: str, *, held: int = 0) -> None:
        """Raises TooLarge, before anything is taken, when ``needed`` bytes exceed the limit or the machine.

        ``held`` of them are in use already, which the machine's free memory no longer counts.
        """
        available = available_memory() + held if self.memory_limit is None else self.memory_limit
        if needed > available:
            is_free = self.memory_limit is None
            limit = "free on this machine" if is_free else f"allowed by {option('memory_limit')}"
            takes, there_is = shown_bytes(needed), shown_bytes(available)
            takes = f"a little more than {takes}" if takes == there_is else takes
            said = f"{what} needs {takes}; {there_is} are {limit}. {advice}"
            raise TooLarge(said, by_limit=not is_free)
        self.memory = max(self.memory, int(needed))


class _Ears:
    """Hears Ctrl-C for runs, one inside the other. ``before``: who heard it, and decides what it raises."""

    def __init__(self, before: Callable[[int, FrameType | None], Any]) -> None:
        self.before = before
        self.runs: list[Run] = []

    def __call__(self, signum: int, frame: FrameType | None) -> None:
        try:
            self.before(signum, frame)
        except BaseException as error:
            if all(run.stopped_by is not None for run in self.runs):
                raise
            for run in self.runs:
                run.stop(error)


def is_whole(value: object, least: int, most: int) -> bool:
    """Whether it is a whole number in this range, of Python's or numpy's kind; True and False are none."""
    return isinstance(value, Integral) and not isinstance(value, bool) and least <= int(value) <= most


def require_executor(executor: object) -> None:
    """Raises ScoreError where nobody could work."""
    is_name = isinstance(executor, str) and (executor == PROCESSES or is_scheduler(executor))
    is_client = hasattr(executor, "scatter") and hasattr(executor, "get_executor")
    if executor is None or is_name or is_client or is_whole(executor, 1, MOST_THREADS):
        return
    from concurrent.futures import Executor

    if hasattr(executor, "scheduler_address"):
        raise ScoreError(f"executor: {type(executor).__name__} is a cluster; give a client of it, Client(cluster).")
    if isinstance(executor, str) and re.fullmatch(r"[^/:\s]+:\d+", executor):
        raise ScoreError(f"executor: an address begins with how it is reached, so give 'tcp://{executor}'.")
    if not isinstance(executor, Executor):
        raise ScoreError(
            f'executor must be a number of processes up to {MOST_THREADS}, "processes", the address of a Dask '
            'scheduler such as "tcp://10.0.0.1:8786", a Dask client or a concurrent.futures.Executor, '
            f"not {executor!r}."
        )


def is_scheduler(address: str) -> bool:
    """Whether a Dask scheduler may be there."""
    return re.fullmatch(r"(tcp|tls|ucx|ws|wss|inproc)://[^/:\s][^\s]*", address) is not None


def usable_cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1
