"""Tasks done here, by threads, by processes: each once, in whatever order; and what goes wrong with who does them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import topdag as td
from topdag._util.run import Run, is_scheduler
from topdag._util.workers import crew, threads_of


def times(shared: int, task: int, run: Run) -> int:
    return shared * task


def until_over(shared: int, task: int, run: Run) -> list[int]:
    """The first task is done at once; others count until their run is over, and give what they have."""
    done: list[int] = []
    while task and not run.is_over:
        run.tick("", 0, 0)
        done.append(len(done))
    return done or [-1]


def nothing(done: int) -> None:
    """Nobody watches."""


@pytest.mark.parametrize("executor", [None, 1, 2, "threads"])
def test_every_task_is_done_once(executor: Any) -> None:
    with ThreadPoolExecutor(3) as threads, crew(7, Run(), threads if executor == "threads" else executor) as workers:
        for n in (0, 1, 50):
            found = list(workers.work_on(times, range(n), nothing))
            assert sorted(found) == [(place, 7 * place) for place in range(n)]


def test_threads_of_this_process() -> None:
    for n in (1, 3):
        with threads_of(7, Run(), n) as workers:
            assert dict(workers.work_on(times, range(20), nothing)) == {place: 7 * place for place in range(20)}


@pytest.mark.parametrize("executor", [None, 1, 2, "threads"])
def test_tasks_without_end_are_taken_as_they_are_needed(executor: Any) -> None:
    run = Run()

    def stop_at(done: int) -> None:
        if done >= 2_000:
            run.stop(KeyboardInterrupt())

    with ThreadPoolExecutor(2) as threads, crew(1, run, threads if executor == "threads" else executor) as workers:
        found = dict(workers.work_on(times, count(), stop_at))
    assert len(found) >= 2_000 and all(place == result for place, result in found.items())


@pytest.mark.parametrize("executor", [1, 2, "threads"])
def test_what_is_under_way_gives_what_it_has(executor: Any) -> None:
    """Also in other processes, which hear of Ctrl-C from here."""
    run = Run()

    def stop_at(done: int) -> None:
        if done:
            run.stop(KeyboardInterrupt())

    with ThreadPoolExecutor(2) as threads, crew(1, run, threads if executor == "threads" else executor) as workers:
        found = dict(workers.work_on(until_over, [0, 1], stop_at))
    assert found[0] == [-1] and len(found.get(1, [0])) > 0
    assert executor == 1 or 1 in found  # of one worker the second task may not have begun


@pytest.mark.parametrize("address", ["tcp://10.0.0.1:8786", "tls://host:1", "ws://host/path", "inproc://a/b/1"])
def test_addresses(address: str) -> None:
    assert is_scheduler(address)


NOBODY = ["two", "http://localhost:1", "tcp://", "tcp://:8786", "tcp:// here", "x tcp://a:1", 0, -1, True, 2.0]


@pytest.mark.parametrize("executor", [*NOBODY, (2,), np.array([1, 2])], ids=repr)
def test_nobody_could_work(executor: Any) -> None:
    for ask in (td.best_network, td.bootstrap, td.score):
        with pytest.raises(td.ScoreError, match="executor must be a number of processes"):
            ask(td.example_table(), executor=executor)


def test_an_address_begins_with_how_it_is_reached() -> None:
    with pytest.raises(td.ScoreError, match="give 'tcp://localhost:8786'"):
        td.score(td.example_table(), executor="localhost:8786")


def test_a_cluster_has_clients() -> None:
    cluster = SimpleNamespace(scheduler_address="tcp://localhost:8786")
    with pytest.raises(td.ScoreError, match="is a cluster; give a client of it"):
        td.score(td.example_table(), executor=cluster)


@pytest.mark.parametrize("kind", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_who_is_closed_takes_no_work(kind: type[Any]) -> None:
    closed = kind(1)
    closed.shutdown()
    with pytest.raises(td.LostWorker, match=rf"{kind.__name__} takes no work .*shutdown.*Is it open"):
        td.bootstrap(td.example_table(), 3, executor=closed)


def test_what_cannot_be_sent_is_said() -> None:
    def own(table: td.Table, **options: Any) -> Any:
        return td.best_network(table, **options)

    with pytest.raises(td.ScoreError, match=r"cannot be sent to other processes.*under its own name"):
        td.bootstrap(td.example_table(), 3, question=own, executor=1)
    with ThreadPoolExecutor(1) as threads:  # where nothing is sent
        there = td.bootstrap(td.example_table(), 3, question=own, executor=threads)
    assert there.matrix.tolist() == td.bootstrap(td.example_table(), 3, question=own).matrix.tolist()


def test_a_program_without_its_guard_is_told_so(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("import topdag as td\nprint(td.bootstrap(td.example_table(), 2, executor=1).matrix)\n")
    ran = subprocess.run([sys.executable, program], check=False, capture_output=True, text=True)
    assert ran.returncode == 1 and "without 'if __name__ == \"__main__\":' around what it does" in ran.stderr


PROGRAM = """
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
import topdag as td
from topdag.search import branch_and_cut

if __name__ == "__main__":
    branch_and_cut.SECONDS_BEFORE_OTHERS = 0.0
    table = td.random_network(28, arcs=60, max_parents=3, seed=3).sample(60, seed=3)
    scores = td.score(table, "aic", keep="best", max_parents=4)
    own = sys.argv[1] == "own"
    executor = 2 if own else ProcessPoolExecutor(2, mp_context=get_context("spawn"))
    print("begin", flush=True)
    try:
        td.best_network(scores, engine="branch and cut", executor=executor)
    except td.Interrupted as interrupted:
        print("interrupted", interrupted.answer.proof.bound >= interrupted.answer.score)
"""


def children_of(pid: int) -> int:
    """Processes that it has started and that still run."""
    return len(Path(f"/proc/{pid}/task/{pid}/children").read_text().split())


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="there is no /proc to see processes in")
@pytest.mark.parametrize("pool", ["own", "somebody's"])
def test_ctrl_c_in_a_terminal_reaches_workers_too(tmp_path: Path, pool: str) -> None:
    """Even while they start: it is heard here alone."""
    (tmp_path / "program.py").write_text(PROGRAM)
    ran = subprocess.Popen(
        [sys.executable, tmp_path / "program.py", pool],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with ran:
        assert ran.stdout is not None and ran.stdout.readline() == "begin\n"
        while ran.poll() is None and children_of(ran.pid) < 3:  # one of them keeps books
            time.sleep(0.02)
        os.killpg(ran.pid, signal.SIGINT)
        try:
            out, errors = ran.communicate(timeout=300)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(ran.pid, signal.SIGKILL)
    assert out.startswith("interrupted True"), errors
    assert pool != "own" or not errors
