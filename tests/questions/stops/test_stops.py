"""However a run is stopped, by its time limit, by Ctrl-C or by what ``on_progress`` raises, the answer is the same.

The clock counts how often it is read: that is the work done so far. At one reading or another the time is up, or Ctrl-C
comes, or the run is told to stop.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from ctrl_c import only_a_person_ends_the_run, press_ctrl_c
from given_sizes import AS_LISTS, give_sizes
from strategies import sampled_table

import topdag as td
from topdag._util import run as runs
from topdag._util.run import Run
from topdag.answers.lists import BestList

LIMIT = 1e6
POINTS = 9
ACROSS = td.Constraints(
    ancestors=[("V6", "V0"), ("V5", "V1")], not_ancestors=[("V0", "V3")], rules=["V3->V5 or V4->V6 or parents(V6) >= 2"]
)
ORDER = td.Constraints(precedence=[("V0", "V1"), ("V1", "V2"), ("V2", "V3"), ("V3", "V4")])


class EnoughError(Exception):
    pass


class Clock:
    """Stands still. At its ``last`` reading ``happens`` is called, and says what time it is from then on."""

    def __init__(self, last: int | None = None, happens: Callable[[], float] = lambda: 0.0) -> None:
        self.last, self.happens = last, happens
        self.readings, self.now = 0, 0.0

    def __call__(self) -> float:
        if threading.current_thread() is threading.main_thread():  # where Ctrl-C is heard
            self.readings += 1
            if self.readings == self.last:
                self.now = self.happens()
        return self.now


@cache
def scored(n: int, keep: Any = "all", constraints: td.Constraints | None = None) -> td.types.Scores:
    return td.score(sampled_table(n, 150, seed=n), td.BIC(), keep=keep, constraints=constraints)


@cache
def automatic(constraints: td.Constraints | None = None) -> td.types.Scores:
    """Lists for the best network, made anew where more is asked for, as for many variables."""
    with pytest.MonkeyPatch.context() as patch:
        as_for_many_variables(patch)
        return td.score(sampled_table(8, 100, seed=4), td.BIC(), constraints=constraints)


def as_for_many_variables(patch: pytest.MonkeyPatch) -> None:
    give_sizes(patch, small=0, **AS_LISTS)


QUESTIONS: dict[str, Callable[..., Any]] = {
    "best of a table": lambda **limits: td.best_network(sampled_table(6, 80, seed=1), **limits),
    "best, dense lattice": lambda **limits: td.best_network(scored(7), **limits),
    "best, block lattice": lambda **limits: td.best_network(scored(7), engine="block lattice", **limits),
    "best, search": lambda **limits: td.best_network(scored(9, "best"), engine="search", **limits),
    "best, order search": lambda **limits: td.best_network(scored(9, "best"), engine="order search", **limits),
    "best, patterns": lambda **limits: td.best_network(
        scored(9, "best"), engine="order search", bound="dynamic", **limits
    ),
    "best, branch and cut": lambda **limits: td.best_network(scored(9, "best"), engine="branch and cut", **limits),
    "best, branching": lambda **limits: td.best_network(scored(9, "best"), engine="branching", **limits),
    "best, ideals": lambda **limits: td.best_network(scored(7, "all", ORDER), **limits),
    "best, orders weigh": lambda **limits: td.best_network(scored(6), prior=td.OrderModular(), **limits),
    "best, edges weigh": lambda **limits: td.best_network(scored(6), prior=td.EdgePrior(default=0.3), **limits),
    "best, across": lambda **limits: td.best_network(scored(7, "all", ACROSS), **limits),
    "list of a table": lambda **limits: td.k_best_networks(sampled_table(6, 80, seed=1), 20, **limits),
    "list": lambda **limits: td.networks_within(scored(7), 20, **limits),
    "list, orders weigh": lambda **limits: td.k_best_networks(scored(6), 5, prior=td.OrderModular(), **limits),
    "list, across": lambda **limits: td.k_best_networks(scored(7, "all", ACROSS), 5, **limits),
    "list of classes": lambda **limits: td.k_best_classes(scored(7), 10, **limits),
    "list of classes, across": lambda **limits: td.classes_within(scored(7, "all", ACROSS), 5, **limits),
    "count": lambda **limits: td.count_networks_within(scored(7), 20, **limits),
    "count, across": lambda **limits: td.count_networks_within(scored(7, "all", ACROSS), 3, **limits),
    "count of classes": lambda **limits: td.count_classes_within(sampled_table(6, 80, seed=1), 20, **limits),
    "stream": lambda **limits: list(td.iter_networks_within(scored(7), 20, **limits)),
    "stream, across": lambda **limits: list(td.iter_networks_within(scored(7, "all", ACROSS), 3, **limits)),
    "search": lambda **limits: td.search_networks(scored(7), 5, **limits),
    "search, orders weigh": lambda **limits: td.search_networks(scored(6), 3, prior=td.OrderModular(), **limits),
    "evidence": lambda **limits: td.log_evidence(sampled_table(6, 80, seed=1), **limits),
    "posteriors": lambda **limits: td.network_posteriors(scored(6), **limits),
    "samples": lambda **limits: td.sample_networks(sampled_table(6, 80, seed=1), 5, **limits),
}
AS_FOR_MANY_VARIABLES: dict[str, Callable[..., Any]] = {
    "best": lambda **limits: td.best_network(automatic(), **limits),
    "best, across": lambda **limits: td.best_network(automatic(ACROSS), **limits),
    "best, across, branching": lambda **limits: td.best_network(automatic(ACROSS), engine="branching", **limits),
    "list": lambda **limits: td.k_best_networks(automatic(), 30, **limits),
    "list, across": lambda **limits: td.k_best_networks(automatic(ACROSS), 10, **limits),
    "list of classes, across": lambda **limits: td.k_best_classes(automatic(ACROSS), 5, **limits),
    "search": lambda **limits: td.search_networks(automatic(), 2, **limits),
}


def told(answer: Any) -> Any:
    """What an answer says, but for seconds and the name of its limit."""
    if isinstance(answer, td.types.Answer | BestList):
        proof, work = answer.proof, answer.stats.work
        claims = answer.stats.engine, proof.status, proof.bound, proof.gap, proof.space, work
        if isinstance(answer, td.types.Answer):
            return answer.network, answer.score, *claims
        return answer.scores.tolist(), answer.parents.tolist(), answer.floor, *claims
    return answer if isinstance(answer, int | None) else type(answer)


def stopped_at(ask: Callable[..., Any], clock: Clock, patch: pytest.MonkeyPatch) -> tuple[type | None, Any]:
    """What was raised, and what it carries; None and the answer when nothing was."""
    patch.setattr(runs, "perf_counter", clock)
    try:
        return None, ask(time_limit=LIMIT, threads=2)
    except (td.OutOfTime, td.Interrupted, EnoughError) as error:
        return type(error), error.answer


def n_readings(ask: Callable[..., Any], patch: pytest.MonkeyPatch) -> int:
    clock = Clock()
    stopped_at(ask, clock, patch)
    return clock.readings


def noted_runs(patch: pytest.MonkeyPatch) -> list[Run]:
    """Those that are made from now on."""
    made: list[Run] = []
    begin = Run.__init__

    def noted(self: Run, **options: Any) -> None:
        begin(self, **options)
        made.append(self)

    patch.setattr(Run, "__init__", noted)
    return made


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_stop_carries_the_same_answer(question: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check_stops(QUESTIONS[question], monkeypatch)


@pytest.mark.parametrize("question", AS_FOR_MANY_VARIABLES)
def test_every_stop_on_lists_carries_the_same_answer(question: str, monkeypatch: pytest.MonkeyPatch) -> None:
    as_for_many_variables(monkeypatch)
    check_stops(AS_FOR_MANY_VARIABLES[question], monkeypatch)


def check_stops(ask: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    ask()  # what is cached is there
    last = n_readings(ask, monkeypatch)
    assert last > 3
    made = noted_runs(monkeypatch)

    def told_to_stop() -> float:
        made[0].stop(EnoughError())
        return 0.0

    def interrupted() -> float:
        press_ctrl_c()
        return 0.0

    for at in sorted({2, *np.linspace(2, last, POINTS).astype(int).tolist()}):  # the first reading is the begin
        raised, limited = stopped_at(ask, Clock(at, lambda: 2 * LIMIT), monkeypatch)
        assert raised in (None, td.OutOfTime)
        for error, happens in ((td.Interrupted, interrupted), (EnoughError, told_to_stop)):
            made.clear()
            by, stopped = stopped_at(ask, Clock(at, happens), monkeypatch)
            assert by is error or at == last, f"reading {at} of {last}"
            assert told(stopped) == told(limited), f"reading {at} of {last}, {error.__name__}"


def test_ctrl_c_that_no_question_hears_fails_the_test_and_ends_nothing() -> None:
    with pytest.raises(pytest.fail.Exception, match="KeyboardInterrupt left the test"), only_a_person_ends_the_run():
        press_ctrl_c()
    with pytest.raises(pytest.fail.Exception, match="Interrupted left the test"), only_a_person_ends_the_run():
        raise td.Interrupted("", None)
