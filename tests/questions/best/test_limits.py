"""Limits: a stopped answer is sound and its bound holds; too much memory is refused beforehand; Ctrl-C works."""

from __future__ import annotations

import math
import os
import re
import signal
import subprocess
import sys
import threading
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from ctrl_c import press_ctrl_c
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import ALL_CASES, BDE, CUSTOM, Case, list_scores, sampled_table, table_of, tables, tied_lists

import topdag as td
from topdag import _core
from topdag._util.run import Run, parse_bytes
from topdag._util.stop import Stop
from topdag.answers.results import limit_text
from topdag.questions.best import best_of
from topdag.questions.request import Request, Trail
from topdag.scoring.kinds.discrete import ScoreKind
from topdag.search.family_lists import FamilyLists

every_case = pytest.mark.parametrize("case", ALL_CASES, ids=repr)


def drawn_tables(case: Case) -> st.SearchStrategy[td.Table]:
    options = {"most_cells": 120} if case is BDE else {}
    return tables(variables=(2, 5), most_states=3, rows=(1, 3, 10, 60), weights=((1,), (1, 2, 17)), **options)


def assert_stopped(answer: td.types.Answer, best: td.types.Answer, limit: str = "time_limit") -> None:
    """A sound network, a bound that no network exceeds, and the gap between them."""
    proof, network = answer.proof, answer.network
    assert proof.status is td.types.Status.STOPPED
    assert proof.limit == limit
    assert network is not None
    assert answer.score == network.score == math.fsum(network.local_scores.values())
    assert proof.bound >= best.score
    assert proof.bound >= answer.score
    assert answer.score <= best.score + 1e-9 * abs(best.score)
    assert proof.gap == proof.bound - answer.score
    assert f"stopped by {limit}" in str(answer)


@every_case
@settings(max_examples=15)
@given(st.data())
def test_stopped_while_scoring(case: Case, data: st.DataObject) -> None:
    table = data.draw(drawn_tables(case))
    kind = case.make(table)
    limit = data.draw(st.none() | st.integers(0, 3))
    scores = td.score(table, kind, max_parents=limit)
    answer = best_of(Trail(Request(table, kind, limit)), Run(time_limit=0))
    assert_stopped(answer, td.best_network(scores))
    for name, parents in answer.network.parents.items():
        assert answer.network.local_scores[name] == pytest.approx(scores.local(name, parents), rel=1e-12)
        assert limit is None or len(parents) <= limit
    isolated = set(table.constant)
    assert not any(isolated & set(edge) for edge in answer.network.edges)
    assert math.isinf(answer.proof.bound) == (case is CUSTOM)


@every_case
@settings(max_examples=15)
@given(st.data())
def test_stopped_before_the_lattice(case: Case, data: st.DataObject) -> None:
    table = data.draw(drawn_tables(case))
    keep = data.draw(st.sampled_from(["all", "best", td.Within(3.0)]))
    scores = td.score(table, case.make(table), max_parents=data.draw(st.none() | st.integers(0, 3)), keep=keep)
    answer = td.best_network(scores, time_limit=0)
    assert_stopped(answer, td.best_network(scores))
    assert answer.score == pytest.approx(scores.of(answer.network), rel=1e-12)
    assert scores.max_parents is None or max(map(len, answer.network.parents.values())) <= scores.max_parents


class HalfDone:
    """What the core returns when its time is up between sweeping and ordering."""

    finished = False
    sweep_seconds = order_seconds = 0.01

    def __init__(self, best_alone: list[float]) -> None:
        self.best_alone = best_alone


@every_case
@settings(max_examples=15)
@given(st.data())
def test_stopped_inside_the_lattice(case: Case, data: st.DataObject) -> None:
    table = data.draw(drawn_tables(case))
    scores = td.score(table, case.make(table))
    best = td.best_network(scores)
    if not scores.columns:
        return
    alone = _core.best_network(scores.store.core(), 0.0, _core.Limits()).best_alone
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_core, "best_network", lambda *_: HalfDone(alone))
        answer = td.best_network(scores)
    assert_stopped(answer, best)
    assert math.isfinite(answer.proof.bound)
    assert answer.proof.bound <= math.fsum(alone) + 1e-6 * (1 + abs(best.score))


@pytest.mark.parametrize("value", [-0.1, -0.3, -1 / 3, -0.7, -math.pi, -1e-3, -12345.678])
@pytest.mark.parametrize("keep", ["all", "best"])
def test_rounding_never_brings_a_bound_below_the_best(value: float, keep: str) -> None:
    """Both parents at once are best, and alone they gain nothing: a quick search misses what the bound allows."""

    def local(family: td.types.Family) -> float:
        return value if (family.variable, len(family.parents)) in {("a", 0), ("b", 0), ("c", 2)} else 9 * value

    table = td.Table({"a": [0, 1, 0, 1], "b": [0, 0, 1, 1], "c": [0, 1, 1, 0]})
    scores = td.score(table, td.CustomScore(local), keep=keep)
    best = td.best_network(scores)
    assert best.network.n_edges == 2
    alone = _core.best_network(scores.store.core(), 0.0, _core.Limits()).best_alone
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_core, "best_network", lambda *_: HalfDone(alone))
        assert_stopped(td.best_network(scores), best)
    assert_stopped(td.best_network(scores, time_limit=0), best)


@pytest.mark.parametrize("limit", [0.0, 1e-9, 0.001, 0.003, 0.01, 0.03, 0.1])
def test_tiny_limits_on_a_larger_table(limit: float) -> None:
    table = sampled_table(17, 400, seed=6, states=(2, 4))
    scores = td.score(table, td.BDeu())
    best = td.best_network(scores)
    for source, kind in ((table, "bdeu"), (scores, None)):
        answer = td.best_network(source, kind, time_limit=limit)
        if answer.proof.status is td.types.Status.PROVED:
            assert answer.score == best.score
        else:
            assert_stopped(answer, best)


@settings(max_examples=40)
@given(tied_lists(variables=(1, 5)))
def test_stopped_on_lists(lists: FamilyLists) -> None:
    scores = list_scores(lists)
    best, answer = td.best_network(scores), td.best_network(scores, time_limit=0)
    assert answer.proof.status is td.types.Status.STOPPED
    assert answer.proof.bound >= best.score
    if answer.network is None:  # none was found quickly; perhaps there is none
        assert answer.score == -math.inf
        assert answer.proof.gap == math.inf
        assert "no network" in str(answer)
    else:
        assert_stopped(answer, best)


def test_a_generous_limit_changes_nothing() -> None:
    for limit in (3600, 1e300, math.inf):
        answer = td.best_network(td.example_table(), time_limit=limit, memory_limit="1GB")
        assert answer.proof.status is td.types.Status.PROVED
        assert answer.network == td.best_network(td.example_table()).network


# ---- Memory


def test_too_little_memory_names_what_fits() -> None:
    table = sampled_table(20, 50, seed=1)
    needs = r"The lattice on 20 variables needs .* MB; 10 MB are allowed by memory_limit. 16 variables would fit"
    with pytest.raises(td.TooLarge, match=needs):
        td.best_network(table, memory_limit="10MB")
    scores = td.score(table, td.BDeu())
    with pytest.raises(td.TooLarge, match="16 variables would fit"):
        td.best_network(scores, memory_limit=10_000_000)
    with pytest.raises(td.TooLarge, match="Raise memory_limit"):
        td.best_network(scores, memory_limit=1)


@pytest.mark.parametrize(
    "kind", [td.BDeu(), td.K2(), td.BDs(), td.CustomScore(lambda family: 0.0)], ids=lambda kind: type(kind).__name__
)
def test_scoring_asks_before_it_takes(kind: ScoreKind) -> None:
    with pytest.raises(td.TooLarge, match=r"Scoring all sets of 20 variables needs .* Each variable left out halves"):
        td.score(sampled_table(20, 50, seed=1), kind, memory_limit="1MB")


def test_bde_asks_before_it_takes() -> None:
    fitted = td.random_network(18, max_parents=2, seed=1)
    with pytest.raises(td.TooLarge, match="Scoring all sets of 18 variables"):
        td.score(fitted.sample(20, 1), td.BDe(1.0, fitted), memory_limit="1MB")


def test_what_is_planned_is_enough() -> None:
    """With just the memory it says it needs, an answer comes."""
    table = sampled_table(16, 200, seed=2)
    needed = td.best_network(table).stats.memory
    assert td.best_network(table, memory_limit=needed).proof.status is td.types.Status.PROVED
    with pytest.raises(td.TooLarge):
        td.best_network(table, memory_limit=needed - 1)


REFUSED = """
import resource, topdag as td
table = td.random_network(26, max_parents=2, seed=1).sample(100, 1)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for ask in (lambda: td.best_network(table, "bdeu", memory_limit="1GB"),
            lambda: td.score(table, td.BDs(), memory_limit="1GB"),
            lambda: td.score(table, td.BDeu(), memory_limit="100MB")):
    try:
        ask()
    except td.TooLarge as error:
        print(error)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_nothing_large_is_taken_before_it_is_refused() -> None:
    """In a process of its own, whose peak can be read."""
    done = subprocess.run([sys.executable, "-c", REFUSED], capture_output=True, text=True, check=True)
    *messages, kilobytes = done.stdout.splitlines()
    assert len(messages) == 3
    assert int(kilobytes) < 20_000


@pytest.mark.parametrize("n", [31, 36, 48, 64])
def test_more_variables_than_memory_holds_are_refused(n: int) -> None:
    table, limit = sampled_table(n, 30, seed=1), "16GB"
    with pytest.raises(td.TooLarge, match=rf"Scoring all sets of {n} variables needs .* limit the parents"):
        td.score(table, td.BDeu(), keep="all", memory_limit=limit)
    with pytest.raises(td.TooLarge, match=rf"Scoring all sets of {n} variables needs .* or use BDeu or BIC"):
        td.score(table, td.BDs(), memory_limit=limit)
    for ask in (td.edge_posteriors, td.log_evidence):
        with pytest.raises(td.TooLarge, match=rf"all networks of {n} variables needs .* 2\d variables would fit"):
            ask(table, "bdeu", memory_limit=limit)
    with pytest.raises(td.TooLarge, match=rf"Sampling networks of {n} variables needs"):
        td.sample_networks(table, 1, memory_limit=limit)
    with pytest.raises(td.TooLarge, match=rf"order-modular prior on {n} variables needs .* 2\d variables would fit"):
        td.best_network(table, prior=td.OrderModular(), memory_limit=limit)


def test_lists_beyond_what_memory_holds() -> None:
    with pytest.raises(td.ScoreError, match=r"parent sets of 65 variables .* Give max_parents"):
        td.best_network(sampled_table(65, 30, seed=1), "bdeu")


def test_constant_columns_do_not_count_towards_26() -> None:
    codes = np.vstack([np.zeros((30, 20), int), np.random.default_rng(0).integers(0, 2, (4, 20))])
    answer = td.best_network(table_of(codes, [1] * 30 + [2] * 4))
    assert answer.proof.status is td.types.Status.PROVED


# ---- Progress


def long_scores() -> td.types.Scores:
    """Their lattice takes a while too."""
    return td.score(sampled_table(21, 500, seed=3, states=(2, 4)), td.BDeu())


def long_table() -> td.Table:
    """Takes a second, long enough to be watched and interrupted."""
    return sampled_table(19, 3000, seed=3, states=(2, 4))


def test_progress_is_reported() -> None:
    seen: list[td.types.Progress] = []
    answer = td.best_network(long_table(), on_progress=seen.append)
    assert answer.proof.status is td.types.Status.PROVED
    assert seen
    assert {progress.phase for progress in seen} <= {"starting", "counting", "sweeping", "ordering", "reading back"}
    assert "counting" in {progress.phase for progress in seen}
    assert [progress.seconds for progress in seen] == sorted(progress.seconds for progress in seen)
    for progress in seen:
        assert progress.fraction is None or 0 <= progress.fraction <= 1
        assert progress.memory > 0
        assert progress.gap is None or progress.gap >= 0
        assert 0 < progress.seconds < 1000


def test_a_custom_score_reports_progress() -> None:
    seen: list[td.types.Progress] = []
    td.score(sampled_table(8, 50, seed=1), td.CustomScore(lambda family: 0.0), on_progress=seen.append)
    assert [progress.phase for progress in seen] == ["counting"] * len(seen)
    fractions = [progress.fraction for progress in seen]
    assert fractions == sorted(fractions)
    assert fractions[0] == 0.0


class EnoughError(Exception):
    pass


def stop_it(_: td.types.Progress) -> None:
    raise EnoughError("that will do")


def test_an_exception_while_reporting_stops_the_work() -> None:
    for ask in (
        lambda: td.best_network(long_table(), on_progress=stop_it),
        lambda: td.score(long_table(), td.BDs(), on_progress=stop_it),
    ):
        with pytest.raises(EnoughError, match="that will do") as caught:
            ask()
        assert caught.value.answer is None or caught.value.answer.proof.limit == "on_progress"
    assert td.best_network(td.example_table()).proof.status is td.types.Status.PROVED


# ---- Ctrl-C


def test_ctrl_c_carries_the_answer_so_far() -> None:
    table = long_table()
    with pytest.raises(td.Interrupted, match=r"Interrupted after .* s; stopped by Ctrl-C") as caught:
        td.best_network(table, on_progress=press_ctrl_c)
    answer = caught.value.answer
    assert isinstance(caught.value, KeyboardInterrupt)
    assert answer.proof.status is td.types.Status.STOPPED
    assert math.isfinite(answer.proof.bound)
    assert_stopped(answer, td.best_network(table), "Ctrl-C")


def test_ctrl_c_during_the_lattice() -> None:
    scores, dense = long_scores(), "dense lattice"  # blocks are too fast to be watched
    with pytest.raises(td.Interrupted) as caught:
        td.best_network(
            scores, engine=dense, on_progress=lambda told: told.phase in ("sweeping", "ordering") and press_ctrl_c()
        )
    assert_stopped(caught.value.answer, td.best_network(scores, engine=dense), "Ctrl-C")


def test_ctrl_c_while_scoring_alone() -> None:
    with pytest.raises(td.Interrupted, match="nothing is known yet") as caught:
        td.score(long_table(), td.BDeu(), on_progress=press_ctrl_c)
    assert caught.value.answer is None


def test_a_second_ctrl_c_is_raised_at_once() -> None:
    run, before = Run(), signal.getsignal(signal.SIGINT)
    with run.hearing():
        press_ctrl_c()
        assert run.is_over and run.limit is Stop.INTERRUPT
        with pytest.raises(KeyboardInterrupt):
            press_ctrl_c()
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_stops_a_question_inside_another() -> None:
    outer, inner = Run(), Run()
    with outer.hearing():
        with inner.hearing():
            press_ctrl_c()
        assert inner.is_over and outer.is_over


def test_a_handler_of_ones_own_decides_what_ctrl_c_raises() -> None:
    def own(*_: object) -> None:
        raise EnoughError("by a signal")

    before = signal.signal(signal.SIGINT, own)
    try:
        with pytest.raises(EnoughError, match="by a signal") as caught:
            td.best_network(long_table(), on_progress=press_ctrl_c)
        assert caught.value.answer.proof.status is td.types.Status.STOPPED
        assert signal.getsignal(signal.SIGINT) is own
    finally:
        signal.signal(signal.SIGINT, before)


def test_work_can_go_on_in_a_thread() -> None:
    """Away from the main thread no signals arrive; everything else is the same."""
    found: list[td.types.Answer] = []
    worker = threading.Thread(target=lambda: found.append(td.best_network(td.example_table())))
    worker.start()
    worker.join()
    assert found[0].network == td.best_network(td.example_table()).network


# ---- What is no limit


@pytest.mark.parametrize("threads", [0, -1, True, 1.5, "2", 1025])
def test_threads_are_checked(threads: object) -> None:
    for ask in (
        lambda: td.best_network(td.example_table(), threads=threads),
        lambda: td.score(td.example_table(), td.BIC(), threads=threads),
    ):
        with pytest.raises(ValueError, match="threads must be a whole number from 1 to 1024"):
            ask()


@pytest.mark.parametrize("threads", [1, 2, 7, 64, 1024])
def test_any_number_of_threads_will_do(threads: int) -> None:
    table = sampled_table(12, 100, seed=1)
    assert td.best_network(table, threads=threads).network == td.best_network(table, threads=1).network


FEW_THREADS = """
import resource, topdag as td
scores = td.score(td.random_network(19, max_parents=2, seed=1).sample(100, 1), td.BDeu(), threads=1)
held = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (held + 200_000_000, resource.RLIM_INFINITY))
print(td.best_network(scores, threads=400).proof.status.name)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc")
def test_a_system_that_gives_few_threads() -> None:
    """Where no more threads can be started the work goes on with those there are; the process must not end."""
    done = subprocess.run([sys.executable, "-c", FEW_THREADS], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "PROVED\n"), done.stderr


LITTLE_MEMORY = """
import resource, topdag as td
table = td.random_network(19, max_parents=3, seed=1).sample(300, 1)
td.edge_posteriors(td.example_table(50))
held = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (held + 100_000_000, resource.RLIM_INFINITY))
for limit in (None, "100GB"):
    try:
        td.edge_posteriors(table, memory_limit=limit, threads=1)
    except td.TooLarge as error:
        print(error)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc")
def test_a_system_that_gives_little_memory() -> None:
    """What a process may take counts as free; where more is promised than there is, the core says what it lacks."""
    done = subprocess.run([sys.executable, "-c", LITTLE_MEMORY], capture_output=True, text=True, check=False)
    planned, refused = done.stdout.splitlines()
    assert re.match(
        r"The sum over all networks of 19 variables needs \S+ MB; (9\d|100) MB are free .* would fit", planned
    )
    assert re.match(r"The system did not give .* while \w+; .* memory_limit .* says what would\.", refused)


@pytest.mark.parametrize("limit", [-1, -0.001, math.nan, "5", True, [1]])
def test_time_limits_are_checked(limit: object) -> None:
    with pytest.raises(ValueError, match="time_limit must be a number of seconds"):
        td.best_network(td.example_table(), time_limit=limit)


@pytest.mark.parametrize("limit", [10**400, Fraction(10**400), 1e300, math.inf])
def test_a_time_limit_may_be_longer_than_any_clock_goes(limit: Any) -> None:
    assert td.best_network(td.example_table(), time_limit=limit).proof.status is td.types.Status.PROVED


@pytest.mark.parametrize("limit", [-1, "8XB", "", "GB", "eight", True, math.nan, math.inf, "-3GB", [1]])
def test_memory_limits_are_checked(limit: object) -> None:
    with pytest.raises(ValueError, match="memory_limit must be a number of bytes"):
        td.best_network(td.example_table(), memory_limit=limit)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("8GB", 8 * 10**9),
        ("8 gb", 8 * 10**9),
        ("1.5 MiB", 3 * 2**19),
        (17, 17),
        ("17", 17),
        ("2kB", 2000),
        (1e9, 10**9),
    ],
)
def test_memory_limits_are_read(text: int | str, size: int) -> None:
    assert parse_bytes(text) == size


def test_what_users_read_of_a_stop() -> None:
    """The name of the argument that set the limit, or a sentence; engines compare neither."""
    read = {stop: limit_text(stop) for stop in Stop}
    assert len(set(read.values())) == len(Stop) and limit_text(None) is None
    assert [read[stop] for stop in (Stop.TIME_LIMIT, Stop.MEMORY_LIMIT, Stop.INTERRUPT, Stop.ON_PROGRESS)] == [
        *("time_limit", "memory_limit", "Ctrl-C", "on_progress"),
    ]
    assert read[Stop.FAR_BEHIND_BEST] == "690 nats behind the best"
    assert read[Stop.CUT_OFF] == "the cut-off at 1000 nats below the best"
    proof = td.types.Proof(td.types.Status.STOPPED, 0.0, 0.0, "memory_limit", "all")
    assert proof.limit_in_words == "the memory limit"
