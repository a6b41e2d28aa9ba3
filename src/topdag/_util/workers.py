"""Work cut into tasks, done here or by any ``concurrent.futures.Executor``: whose business it is where and when.

A crew is opened once, with what all its tasks need, which each worker opens once. A task has a run of its own with what
is left of the limits. There is no scheduler here, and no second try: engines that have one, as Dask does, keep it;
elsewhere a worker that is lost is an error.
"""

from __future__ import annotations

import contextlib
import pickle
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ThreadPoolExecutor,
    wait,
)
from importlib import import_module
from itertools import islice
from threading import Lock
from typing import Any
from uuid import uuid4

from topdag._util.options import option
from topdag._util.run import MOST_THREADS, PROCESSES, Limits, Run, is_whole, usable_cores
from topdag.errors import LostWorker, ScoreError

Work = Callable[[Any, Any, Run], Any]
"""From what all tasks need, a task and its run to a result, or to as much of it as is whole, or None, where that run is
over first. Other processes find it by its name."""
Watch = Callable[[int], object]
"""Is told how many tasks are done; who asked watches the run with it."""
SECONDS_A_LOOK = 0.1
SECONDS_TO_END = 1.0
"""For tasks under way to give what they have, when the run is over."""
SECONDS_TO_ANSWER = 10.0
"""For a scheduler, and for its first worker."""
TASKS_EACH = 4
MANY_TASKS = 1_000
"""That may wait where nobody knows how many workers there are."""


class _Over(Exception):
    """Raised in a task to stop it, since the whole run is over."""


class Crew:
    """What does the tasks. ``work_on`` may be called again and again while it is open."""

    def __init__(self, shared: Any, run: Run) -> None:
        self._shared, self._run = shared, run

    n_workers = 1
    """As far as is known."""

    def work_on(self, work: Work, tasks: Iterable[Any], watch: Watch) -> Iterator[tuple[int, Any]]:
        """The place of each task and its result, as they end; fewer when the run is over first."""
        run, next_look = self._run, 0.0
        for place, task in enumerate(tasks):
            if run.seconds >= next_look:  # short tasks say nothing
                next_look = run.seconds + SECONDS_A_LOOK
                watch(place)
            if run.is_over:
                return

            def tell(_: object, place: int = place) -> None:
                watch(place)
                if run.stopped_by is not None:
                    raise _Over

            own = Run(time_limit=run.seconds_left, memory_limit=run.memory_limit, threads=run.threads, on_progress=tell)
            try:
                yield place, work(self._shared, task, own)
            except (KeyboardInterrupt, _Over) as error:
                if isinstance(error, KeyboardInterrupt) and run.stopped_by is None:
                    raise
                return


class _Afar(Crew):
    """By an executor. ``shared``: in a form that each worker opens once."""

    def __init__(self, shared: Any, run: Run, executor: Executor, engine: str) -> None:
        super().__init__(shared, run)
        self._executor, self._engine = executor, engine
        self.n_workers, self.in_flight = usable_cores(), MANY_TASKS
        self._threads, self._memory = 1, run.memory_limit
        self._stop: Callable[[], object] = lambda: None

    def has(self, n_workers: int) -> _Afar:
        """So many work, and no more tasks wait than keep them busy: what waits must be taken back in the end."""
        self.n_workers, self.in_flight = n_workers, TASKS_EACH * n_workers
        return self

    def on_this_machine(self, n_workers: int, stop: Callable[[], object]) -> _Afar:
        """As ``has``; they share its threads and what the run may take of its memory, and hear ``stop``."""
        self._stop = stop
        self._threads = max(1, self._run.threads // n_workers)
        self._memory = None if self._memory is None else max(1, self._memory // n_workers)
        return self.has(n_workers)

    def work_on(self, work: Work, tasks: Iterable[Any], watch: Watch) -> Iterator[tuple[int, Any]]:
        run, done, given = self._run, 0, enumerate(tasks)
        waiting: dict[Future[Any], int] = {}

        def results(ended: Iterable[Future[Any]]) -> Iterator[tuple[int, Any]]:
            for future in ended:
                with self._late_losses():
                    yield waiting.pop(future), self._result(future)

        try:
            while not run.is_over:
                with self._late_losses():
                    for place, task in islice(given, self.in_flight - len(waiting)):
                        limits = Limits(time_limit=run.seconds_left, memory_limit=self._memory, threads=self._threads)
                        waiting[self._given(work, task, limits)] = place
                if not waiting:
                    return
                watch(done)
                ended = wait(waiting, timeout=SECONDS_A_LOOK, return_when=FIRST_COMPLETED).done
                done += len(ended)
                yield from results(ended)
            self._stop()
            yield from results(wait([own for own in waiting if not own.cancel()], timeout=SECONDS_TO_END).done)
        finally:
            for future in waiting:
                future.cancel()

    @contextlib.contextmanager
    def _late_losses(self) -> Iterator[None]:
        """What a worker that Ctrl-C reached too, or that was told to stop, ends with is no error of a run that is
        over."""
        try:
            yield
        except (KeyboardInterrupt, LostWorker, _Over):
            if not self._run.is_over:
                raise

    def _given(self, work: Work, task: Any, limits: Limits) -> Future[Any]:
        try:
            return self._submitted(work, task, limits)
        except BrokenExecutor as error:
            raise self._lost(error) from error
        except RuntimeError as error:  # it was shut down
            raise _no_answer(self._engine, error) from error

    def _submitted(self, work: Work, task: Any, limits: Limits) -> Future[Any]:
        return self._executor.submit(_do, work, self._shared, task, limits)

    def _result(self, future: Future[Any]) -> Any:
        try:
            return future.result()
        except (BrokenExecutor, CancelledError) as error:
            raise self._lost(error) from error
        except Exception as error:
            if type(error).__module__.partition(".")[0] == "distributed":  # KilledWorker and the like
                raise self._lost(error) from error
            raise

    def _lost(self, error: BaseException) -> LostWorker:
        return LostWorker(
            f"A worker of {self._engine} was lost with a task, and the task was not tried again "
            f"({str(error).strip() or type(error).__name__}). Nothing is half done: ask again. A worker that runs out "
            f"of memory ends so; {option('memory_limit')} has topdag refuse such work before. So does each process of "
            "a program that is a file without 'if __name__ == \"__main__\":' around what it does."
        )


def _no_answer(engine: str, error: BaseException) -> LostWorker:
    return LostWorker(
        f"{engine} takes no work ({str(error).strip() or type(error).__name__}). Is it open, and has it workers?"
    )


class _Processes(_Afar):
    """Of a pool of our own."""

    def _submitted(self, work: Work, task: Any, limits: Limits) -> Future[Any]:
        # Processes begin with a task. They have Ctrl-C blocked before they can ignore it; here it waits.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            return super()._submitted(work, task, limits)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _Threads(_Afar):
    """Of this process, which hear when the run is over."""

    def _submitted(self, work: Work, task: Any, limits: Limits) -> Future[Any]:
        def stop_when_over(_: object) -> None:
            if self._run.is_over:
                raise _Over

        limits["on_progress"] = stop_when_over
        return self._executor.submit(work, self._shared, task, Run(**limits))


def _do(work: Work, shared: Any, task: Any, limits: Limits) -> Any:
    """In a worker."""
    opened = shared.opened() if isinstance(shared, _Parcel) else shared
    limits["on_progress"] = _stops_when_told
    return work(opened, task, Run(**limits))


# ---- What all tasks need, in a worker


class _Parcel:
    """Goes with every task, packed; a process opens it once."""

    def __init__(self, content: Any) -> None:
        try:
            self._bytes, self._name = pickle.dumps(content), uuid4().hex
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise ScoreError(
                f"executor: a part of what is asked cannot be sent to other processes ({error}). A function must stand "
                "in a module under its own name; one inside another function, or without a name, cannot be sent."
            ) from error

    def opened(self) -> Any:
        with _opening:  # a worker may have several threads
            if self._name not in _opened:
                _opened.clear()
                _opened[self._name] = pickle.loads(self._bytes)
            return _opened[self._name]


class _Held:
    """In a process of our own pool, which got it when it began."""

    def __reduce__(self) -> Any:
        return _held, ()


_opened: dict[str, Any] = {}
_opening = Lock()
_own: list[Any] = []  # of a process of our own pool: what all tasks need, and whether to stop


def _held() -> Any:
    return _own[0]


def _begin_worker(shared: _Parcel, stop: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is heard where the question was asked
    _own[:] = shared.opened(), stop


def _stops_when_told(_: object) -> None:
    if _own and _own[1].value:
        raise _Over


# ---- Which executor


@contextlib.contextmanager
def crew(shared: Any, run: Run, executor: Any = None) -> Iterator[Crew]:
    """Who works: None, this process; a number or "processes", so many processes, one for each core; "tcp://..." or a
    Dask client, a Dask cluster; or any ``concurrent.futures.Executor``."""
    if executor is None:
        yield Crew(shared, run)
    elif is_whole(executor, 1, MOST_THREADS) or executor == PROCESSES:
        with _own_processes(shared, run, usable_cores() if executor == PROCESSES else int(executor)) as own:
            yield own
    elif isinstance(executor, ThreadPoolExecutor):
        yield _Threads(shared, run, executor, type(executor).__name__)
    elif isinstance(executor, Executor):
        yield _Afar(_Parcel(shared), run, executor, type(executor).__name__)
    elif isinstance(executor, str):
        with _client_of(executor) as client:
            yield _by_dask(shared, run, client)
    else:
        yield _by_dask(shared, run, executor)


@contextlib.contextmanager
def threads_of(shared: Any, run: Run, n: int) -> Iterator[Crew]:
    """This process, with n threads."""
    if n == 1:
        yield Crew(shared, run)
        return
    with ThreadPoolExecutor(n) as threads:
        yield _Threads(shared, run, threads, "this process").has(n)


@contextlib.contextmanager
def _own_processes(shared: Any, run: Run, n: int) -> Iterator[Crew]:
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    context = get_context("spawn")  # a fork would copy locks that threads of this process hold
    stop = context.RawValue("b", 0)  # no lock, which a worker that dies may hold
    pool = ProcessPoolExecutor(n, mp_context=context, initializer=_begin_worker, initargs=(_Parcel(shared), stop))

    def tell_to_stop() -> None:
        stop.value = 1

    try:
        yield _Processes(_Held(), run, pool, "the process pool").on_this_machine(n, tell_to_stop)
    finally:
        tell_to_stop()
        pool.shutdown(cancel_futures=True)


def _by_dask(shared: Any, run: Run, client: Any) -> Crew:
    """The scheduler gives a task to another worker where one is lost. So it does with the task that has what all others
    need: of data that is scattered it soon keeps one copy, and what the worker with that one held is lost."""
    from dask import config

    left = run.seconds_left
    seconds = SECONDS_TO_ANSWER if left is None else min(left, SECONDS_TO_ANSWER)
    try:
        with config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):  # a table may be large
            held = client.submit(_itself, shared, pure=False)
        if (failed := held.exception(timeout=seconds)) is not None:
            raise failed
        n_workers = max(1, sum(client.nthreads().values()))
    except Exception as error:  # what comes depends on what is closed or missing
        raise _no_answer("Dask", error) from error
    return _Afar(held, run, client.get_executor(pure=False), "Dask").has(n_workers)


def _itself(shared: Any) -> Any:
    return shared


def _client_of(address: str) -> Any:
    try:
        return import_module("distributed").Client(address, set_as_default=False, timeout=SECONDS_TO_ANSWER)
    except ImportError as error:
        raise ImportError("A Dask cluster needs the package distributed: pip install 'topdag[cluster]'.") from error
    except (OSError, ValueError) as error:
        raise LostWorker(f"No Dask scheduler answered at {address}. Is it running, and is this its address?") from error
