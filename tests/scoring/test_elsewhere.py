"""Counting by other processes gives the scores that this one gives, to the last bit; what is lost is an error."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from score_checks import are_the_same

import topdag as td
from topdag.scoring import elsewhere
from topdag.types import Progress


@pytest.fixture(scope="module")
def threads() -> Iterator[Executor]:
    with ThreadPoolExecutor(3) as pool:
        yield pool


@pytest.fixture(autouse=True)
def all_is_counted_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elsewhere, "LEAST_WORK", 0.0)


def wide_table(rows: int = 120) -> td.Table:
    return td.random_network(23, seed=4, arities=3).sample(rows, seed=4)


@pytest.mark.parametrize(
    ("kind", "keep", "most"),
    [
        ("bic", None, None),
        ("aic", td.Within(20), 2),
        ("bic", td.KBest(3), 2),
        ("bdeu", "best", 3),
        ("qnml", "best", 2),
        ("fnml", "best", 2),
        ("k2", "best", 2),
    ],
)
def test_the_same_scores(threads: Executor, kind: str, keep: Any, most: int | None) -> None:
    table = wide_table()
    here = td.score(table, kind, keep=keep, max_parents=most)
    assert are_the_same(here, td.score(table, kind, keep=keep, max_parents=most, executor=threads))


@pytest.mark.parametrize("executor", [2, None])
def test_the_same_scores_of_rows_with_gaps(threads: Executor, executor: int | None) -> None:
    rng = np.random.default_rng(3)
    cells = rng.integers(0, 3, (80, 9)).astype(object)
    cells[rng.random(cells.shape) < 0.1] = None
    table = td.Table(dict(zip("abcdefghi", cells.T.tolist(), strict=True)), missing="keep")
    known = td.Constraints(required_edges=[("a", "b")], forbidden_edges=[("c", "d")])
    asked: dict[str, Any] = dict(kind=td.NAL(), keep="best", constraints=known, max_parents=2)
    here = td.score(table, **asked)
    assert here.store.is_listed
    assert are_the_same(here, td.score(table, **asked, executor=executor or threads))


@pytest.mark.parametrize("seed", range(12))
def test_the_same_scores_with_ties_and_weights(threads: Executor, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, rng.choice([2, 4]), (int(rng.choice([6, 40])), 24))
    table = td.Table(rows, weights=rng.choice([1, 1, 3000], len(rows)), keep_constant=bool(seed % 2))
    here = td.score(table, "bic", keep="best", max_parents=2)
    assert are_the_same(here, td.score(table, "bic", keep="best", max_parents=2, executor=threads))


def test_processes_and_constraints() -> None:
    table = wide_table()
    a, b, c, d, *_ = table.names
    known = td.Constraints(forbidden_edges=[(a, b)], required_edges=[(c, d)])
    here = td.score(table, "bic", constraints=known)
    there = td.score(table, "bic", constraints=known, executor=2)
    assert are_the_same(here, there) and td.best_network(here).score == td.best_network(there).score


def test_small_work_opens_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elsewhere, "LEAST_WORK", 1e9)
    assert are_the_same(td.score(wide_table(), "bic"), td.score(wide_table(), "bic", executor=_Broken()))
    assert td.score(td.example_table(), executor=_Broken()).n_families > 0


def test_what_a_worker_has_made_ready_can_be_sent_on() -> None:
    """As Dask does when another worker needs it."""
    counted = elsewhere._Counted(wide_table())
    assert counted.counter is not None
    assert pickle.loads(pickle.dumps(counted)).table == counted.table


class _Broken(Executor):
    """Loses its worker with the n-th task."""

    def __init__(self, after: int = 0) -> None:
        self.left = after

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.left -= 1
        if self.left < 0:
            future.set_exception(BrokenExecutor("it died"))
        else:
            future.set_result(fn(*args, **kwargs))
        return future


@pytest.mark.parametrize("after", [0, 3])
def test_a_lost_worker_is_an_error_and_nothing_is_half_done(after: int) -> None:
    with pytest.raises(td.LostWorker, match=r"_Broken was lost with a task.*it died"):
        td.score(wide_table(), "bic", executor=_Broken(after))


def test_what_watches_can_stop_it(threads: Executor) -> None:
    def stop(_: Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(td.Interrupted):
        td.score(wide_table(2_000), "bic", executor=threads, on_progress=stop)


def test_an_executor_is_one() -> None:
    for wrong in (0, -1, True, "cluster", object()):
        with pytest.raises(ValueError, match="executor must be"):
            td.score(td.example_table(), executor=wrong)
