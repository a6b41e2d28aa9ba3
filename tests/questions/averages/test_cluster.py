"""A real Dask cluster of two worker processes: the same answers as one process, also when a worker is killed midway."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from strategies import sampled_table

import topdag as td
from topdag.scoring import elsewhere
from topdag.search import branch_and_cut
from topdag.types import Progress

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed", reason="a Dask cluster needs the package distributed")
pytestmark = pytest.mark.filterwarnings("ignore")  # what others warn of is not ours


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    options = dict(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50)
    with distributed.LocalCluster(**options) as local:
        yield local


@pytest.fixture
def client(cluster: Any) -> Iterator[Any]:
    """Of two workers that answer: one that a test has killed counts until the scheduler hears of it."""
    with distributed.Client(cluster, set_as_default=False) as own:
        while len(own.run(os.getpid, on_error="ignore")) < 2:
            time.sleep(0.1)
        yield own


class Watched:
    """Counts the tasks that a client is given; with the third so many workers are killed."""

    def __init__(self, client: Any, kills: int) -> None:
        self.n_tasks = 0
        self._submit, self._pids = client.submit, list(client.run(os.getpid).values())[:kills]

    def submit(self, *task: Any, **options: Any) -> Any:
        self.n_tasks += 1
        if self.n_tasks == 3:
            for pid in self._pids:
                os.kill(pid, signal.SIGKILL)
        return self._submit(*task, **options)


@pytest.fixture
def watched(client: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Watched]:
    def watch(kills: int) -> Watched:
        own = Watched(client, kills)
        monkeypatch.setattr(client, "submit", own.submit)
        return own

    return watch


def same_draws(one: Any, other: Any) -> bool:
    return [draw.edges.tobytes() for draw in one.draws] == [draw.edges.tobytes() for draw in other.draws]


def test_draws_by_a_client_its_address_and_its_executor(client: Any) -> None:
    here = td.bootstrap(td.example_table(), 10, "bic")
    for executor in (client, client.scheduler.address, client.get_executor()):
        assert same_draws(here, td.bootstrap(td.example_table(), 10, "bic", executor=executor))


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
@pytest.mark.parametrize("kills", [1, 2])
def test_workers_killed_midway_change_nothing(client: Any, watched: Callable[..., Watched], kills: int) -> None:
    table, work = td.random_network(14, seed=2).sample(400, seed=2), watched(kills)
    here = td.bootstrap(table, 160, "bdeu")
    there = td.bootstrap(table, 160, "bdeu", executor=client)
    assert work.n_tasks > 3 and same_draws(here, there) and there.limit is None


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
@pytest.mark.parametrize("kills", [1, 2])
def test_scores_with_workers_killed_midway(
    client: Any, watched: Callable[..., Watched], monkeypatch: pytest.MonkeyPatch, kills: int
) -> None:
    monkeypatch.setattr(elsewhere, "LEAST_WORK", 1e5)
    table, work = td.random_network(30, seed=4, arities=3).sample(500, seed=4), watched(kills)
    here = td.score(table, "bic").store.listed
    there = td.score(table, "bic", executor=client).store.listed
    assert work.n_tasks > 3
    assert there.lists.masks.tobytes() == here.lists.masks.tobytes()
    assert there.rounded.tobytes() == here.rounded.tobytes()


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
@pytest.mark.parametrize("kills", [0, 1, 2])
def test_a_best_network_by_parts(
    client: Any, watched: Callable[..., Watched], monkeypatch: pytest.MonkeyPatch, kills: int
) -> None:
    monkeypatch.setattr(branch_and_cut, "SECONDS_BEFORE_OTHERS", 0.0)
    scores, work = td.score(sampled_table(16, 60, 2), "aic", keep="best"), watched(kills)
    here = td.best_network(scores, engine="branch and cut")
    there = td.best_network(scores, engine="branch and cut", executor=client)
    assert work.n_tasks > 3 and here.stats.work["parts"] > 8
    assert (there.network, there.score, there.proof) == (here.network, here.score, here.proof)
    assert there.stats.work == here.stats.work


def test_no_scheduler_there() -> None:
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "1s"}),
        pytest.raises(td.LostWorker, match="No Dask scheduler answered at tcp:"),
    ):
        td.bootstrap(td.example_table(), 2, executor="tcp://127.0.0.1:9")


def test_a_cluster_without_workers_or_a_client_that_is_closed(cluster: Any) -> None:
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=None) as empty,
        empty.get_client() as client,
        pytest.raises(td.LostWorker, match=r"Dask takes no work .*has it workers"),
    ):
        td.bootstrap(td.example_table(), 2, executor=client, time_limit=5)
    client = distributed.Client(cluster, set_as_default=False)
    client.close()
    with pytest.raises(td.LostWorker, match="Dask takes no work"):
        td.bootstrap(td.example_table(), 2, executor=client)


def test_what_stops_it_leaves_the_first_draws(client: Any) -> None:
    def stop(progress: Progress) -> None:
        if progress.phase == "drawing" and (progress.fraction or 0.0) > 0:
            raise KeyboardInterrupt

    with pytest.raises(td.Interrupted) as raised:
        td.bootstrap(td.example_table(), 5_000, "bic", executor=client, on_progress=stop)
    found = raised.value.answer
    if found:  # the first draw may not be among those that were done
        assert found.limit == "Ctrl-C" and 0 < len(found.draws) < 5_000
        assert np.array_equal(found.matrix, td.bootstrap(td.example_table(), len(found.draws), "bic").matrix)
