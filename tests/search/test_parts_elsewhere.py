"""Parts of branch and cut that threads, other processes or another machine relax: the same search, to the last part."""

from __future__ import annotations

import math
import pickle
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from functools import cache
from typing import Any

import pytest
from search_checks import check_network
from strategies import sampled_table

import topdag as td
from topdag._util.run import Run
from topdag._util.stop import Stop
from topdag.search import branch_and_cut
from topdag.search.branch_and_cut import prove_best
from topdag.search.engines import Outcome
from topdag.search.relaxation import Known
from topdag.search.stores import ListStore
from topdag.types import Progress

SEED = 2  # 15 parts


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """However short the search is."""
    monkeypatch.setattr(branch_and_cut, "SECONDS_BEFORE_OTHERS", 0.0)


@cache
def store() -> ListStore:
    return td.score(sampled_table(16, 60, SEED), td.AIC(), keep="best").store.listed


@cache
def alone() -> Outcome:
    found = prove_best(store(), Run(threads=1))
    assert found.finished and found.work["parts"] > 8
    return found


class Sending(Executor):
    """Does all at once, with what would be sent to a process and back. Loses the n-th task."""

    def __init__(self, lost: float = math.inf) -> None:
        self.lost, self.n_tasks, self.sent = lost, 0, 0

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.n_tasks += 1
        if self.n_tasks > self.lost:
            future.set_exception(BrokenExecutor("it died"))
            return future
        packed = pickle.dumps((fn, args, kwargs))
        self.sent = max(self.sent, len(packed))
        work, given, named = pickle.loads(packed)
        future.set_result(pickle.loads(pickle.dumps(work(*given, **named))))
        return future


def test_sent_there_and_back() -> None:
    executor = Sending()
    assert prove_best(store(), Run(executor=executor)) == alone()
    assert executor.n_tasks == alone().work["parts"] - 1


def test_threads_that_somebody_else_has() -> None:
    with ThreadPoolExecutor(3) as executor:
        assert prove_best(store(), Run(executor=executor)) == alone()


@pytest.mark.parametrize("threads", [2, 5])
def test_threads(threads: int) -> None:
    assert prove_best(store(), Run(threads=threads)) == alone()


def test_processes() -> None:
    assert prove_best(store(), Run(executor=2)) == alone()


def test_a_short_search_stays_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(branch_and_cut, "SECONDS_BEFORE_OTHERS", math.inf)
    executor = Sending(lost=0)
    assert prove_best(store(), Run(executor=executor)) == alone()
    assert executor.n_tasks == 0


@pytest.mark.parametrize("is_a_path", [False, True])
def test_questions_under_constraints(is_a_path: bool) -> None:
    """What is known of several variables at once is learned part after part, here."""
    table = sampled_table(22, 40, 4)
    a, *_, z = table.names
    known = td.Constraints(ancestors=[(z, a)]) if is_a_path else td.Constraints(forbidden_edges=[(a, z)])
    asked: dict[str, Any] = dict(kind="bic", constraints=known, max_parents=3)
    here, there = (td.best_network(table, **asked, executor=executor) for executor in (None, Sending()))
    assert here.proof.status is there.proof.status is td.types.Status.PROVED
    assert here.network == there.network and here.stats.work == there.stats.work


@pytest.mark.parametrize("lost", [0, 5])
def test_a_lost_worker_is_an_error(lost: int) -> None:
    scores = td.score(sampled_table(16, 60, SEED), "aic", keep="best")
    with pytest.raises(td.LostWorker, match=r"Sending was lost with a task.*it died"):
        td.best_network(scores, engine="branch and cut", executor=Sending(lost))


@pytest.mark.parametrize("executor", [None, 2, Sending()])
@pytest.mark.parametrize("after", [1, 6])
def test_whatever_stops_it_the_bound_holds(after: int, executor: Any) -> None:
    run = Run(threads=2, executor=executor)
    known, told = Known(store(), run), 0

    def stop(progress: Progress) -> None:
        nonlocal told
        told += progress.phase == "relaxing"
        if told > after:
            raise KeyboardInterrupt

    run.on_progress = stop
    found = prove_best(store(), run, known=known)
    assert found.masks is not None and known.bound <= alone().cost + 1e-9 <= known.cost + 2e-9
    check_network(store(), found.cost, list(found.masks))
    assert found.finished or found.limit is Stop.INTERRUPT


def test_a_time_limit_there() -> None:
    for seconds in (0.2, 0.4, 0.6):
        found = prove_best(store(), Run(time_limit=seconds, executor=Sending()))
        assert found.bound <= alone().cost + 1e-9 <= found.cost + 2e-9
        assert found == alone() if found.finished else found.limit is Stop.TIME_LIMIT
