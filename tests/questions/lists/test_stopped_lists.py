"""Lists, counts and streams stopped half-way: complete above a floor, or marked as unfinished."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from brute_force import ranked
from ctrl_c import press_ctrl_c
from given_sizes import AS_LISTS, give_sizes
from hypothesis import given, settings
from list_checks import INSTANTS, LONG, all_listed, assert_complete_above_floor, interrupted, long_scores, one_row
from strategies import sampled_table, tied_lists

import topdag as td
from topdag import _core
from topdag._util import run as runs
from topdag.questions import first_network
from topdag.questions.listing import sources
from topdag.search.family_lists import FamilyLists


@cache
def whole_list() -> td.types.NetworkList:
    return td.networks_within(long_scores(), LONG)


def test_stopped_by_the_clock() -> None:
    whole = whole_list()
    assert len(whole) > 100_000
    statuses, lengths = set(), set()
    for threads in (1, 2):
        for limit in INSTANTS:
            found = td.networks_within(long_scores(), LONG, time_limit=limit, threads=threads)
            assert_complete_above_floor(found, whole)
            assert found.proof.limit == (None if found.proof.status is td.types.Status.PROVED else "time_limit")
            statuses.add(found.proof.status)
            lengths.add(len(found))
    assert td.types.Status.STOPPED in statuses
    assert 1 in lengths


@pytest.mark.parametrize("ticks", range(8))
def test_stopped_by_ctrl_c(ticks: int) -> None:
    found, stopped = interrupted(td.networks_within, long_scores(), LONG, ticks=ticks)
    assert_complete_above_floor(found, whole_list())
    if stopped and found.proof.status is td.types.Status.STOPPED:
        assert found.proof.limit == "Ctrl-C"


def test_k_best_stopped_by_the_clock_and_by_ctrl_c() -> None:
    k = 100_000
    whole = td.k_best_networks(long_scores(), k)
    for limit in INSTANTS:
        assert_complete_above_floor(td.k_best_networks(long_scores(), k, time_limit=limit), whole)
    for ticks in range(5):
        assert_complete_above_floor(interrupted(td.k_best_networks, long_scores(), k, ticks=ticks)[0], whole)


def test_what_was_stopped_can_be_asked_again() -> None:
    """A stopped list leaves nothing behind that changes the next one."""
    td.networks_within(long_scores(), LONG, time_limit=0.01)
    again = td.networks_within(long_scores(), 20)
    assert np.array_equal(again.parents, whole_list().parents[: len(again)])


@settings(max_examples=60)
@given(tied_lists(variables=(1, 4)))
def test_stopped_at_once(lists: FamilyLists) -> None:
    scores = all_listed(lists)
    values, masks = ranked(scores)
    for found in (td.networks_within(scores, 20, time_limit=0), td.k_best_networks(scores, 5, time_limit=0)):
        assert found.proof.status is td.types.Status.STOPPED
        assert found.proof.limit == "time_limit"
        assert set(map(tuple, found.parents.tolist())) <= set(map(tuple, masks.tolist()))
        assert (values > found.floor).sum() <= len(found)


def test_stopped_while_scoring() -> None:
    """Of a table nothing is known yet but a network from its rows, and a bound."""
    table = sampled_table(19, 2000, seed=3, states=(2, 4))
    best = td.best_network(table).score
    found, stopped = interrupted(td.k_best_networks, table, 10, ticks=0)
    assert stopped
    limited = td.networks_within(table, 3, time_limit=1e-9)
    for answer, limit in ((found, "Ctrl-C"), (limited, "time_limit")):
        assert len(answer) == 1 and answer[0].n_edges > 0
        assert best - 100 <= answer[0].score == answer.scores[0] <= best + 1e-6
        assert answer.proof.status is td.types.Status.STOPPED
        assert answer.proof.limit == limit
        assert answer.floor >= best
        assert answer.names == table.names


def numbers(n: int, n_with_states: int) -> td.Table:
    """A chain of normal columns, of which the first so many are cut in two."""
    columns = np.cumsum(np.random.default_rng(3).normal(size=(60, n)), axis=1)
    cut = {f"V{v}": ["low" if x < 0 else "high" for x in columns[:, v]] for v in range(n_with_states)}
    return td.Table(cut | {f"V{v}": columns[:, v].tolist() for v in range(n_with_states, n)})


def raising(error: Exception) -> Callable[..., None]:
    def refuse(*_: object) -> None:
        raise error

    return refuse


ASKED_OF = {
    "BIC": (sampled_table(8, 100, seed=1), td.BIC(), {}),
    "BDs": (sampled_table(8, 100, seed=1), td.BDs(), {}),
    "BGe": (numbers(6, 0), td.BGe(), {}),
    "GaussianBIC": (numbers(6, 0), td.GaussianBIC(), {}),
    "MixedBIC": (numbers(6, 3), td.MixedBIC(), {}),
    "an edge": (sampled_table(8, 100, seed=1), td.BDeu(), {"required_edges": [("V7", "V0")]}),
    "a path": (sampled_table(8, 100, seed=1), td.BDeu(), {"ancestors": [("V7", "V0")]}),
}


@pytest.mark.parametrize("as_lists", [False, True])
@pytest.mark.parametrize("asked_of", ASKED_OF)
@pytest.mark.parametrize("prior", [None, td.OrderModular(), td.EdgePrior(default=0.3)], ids=str)
def test_a_list_stopped_while_scoring_begins_with_a_network(
    monkeypatch: pytest.MonkeyPatch, asked_of: str, prior: td.types.Prior | None, as_lists: bool
) -> None:
    if as_lists:
        give_sizes(monkeypatch, **AS_LISTS)
    table, kind, known = ASKED_OF[asked_of]
    about = {"constraints": td.Constraints(**known)} if known else {}
    if prior is not None and "ancestors" in known:
        return  # refused
    stopped = td.k_best_networks(table, 3, kind, prior=prior, time_limit=0, **about)
    best = td.best_network(table, kind, prior=prior, **about)
    assert stopped.proof.status is td.types.Status.STOPPED and stopped.prior == prior
    if "ancestors" in known and not len(stopped):
        return  # a path is not looked for
    assert len(stopped) == 1 and stopped.scores[0] <= best.score + 1e-6 <= stopped.floor + 2e-6
    assert not known or td.Constraints(**known).allows(stopped[0])
    assert stopped[0].n_edges > 0


@pytest.mark.parametrize("ask", [td.k_best_networks, td.k_best_classes], ids=lambda ask: ask.__name__)
def test_scoring_that_takes_too_much_memory_is_a_limit(monkeypatch: pytest.MonkeyPatch, ask) -> None:
    """Where lists of families are made, what they take is seen on the way."""
    give_sizes(monkeypatch, **AS_LISTS)
    table = sampled_table(8, 100, seed=1)
    monkeypatch.setattr(first_network, "scores_of", raising(td.TooLarge("Scoring needs 7 GB. Give max_parents.")))
    found, answer = ask(table, 3, "bic"), td.best_network(table, "bic")
    assert found.proof.limit == answer.proof.limit == "memory_limit" and not answer.proved
    assert len(found) == 1 and answer.network.n_edges > 0
    assert found.notes[-1] == answer.notes[-1] == "Scoring needs 7 GB. Give max_parents."
    with pytest.raises(td.TooLarge, match="7 GB"):
        td.count_networks_within(table, 3, "bic")


def test_progress_is_reported() -> None:
    seen: list[td.types.Progress] = []
    td.networks_within(long_scores(), LONG, on_progress=seen.append)
    assert {progress.phase for progress in seen} <= {"starting", "sweeping", "ordering", "bounding", "listing"}
    assert "listing" in {progress.phase for progress in seen}
    assert all(progress.fraction is None or 0 <= progress.fraction <= 1 for progress in seen)


def test_an_exception_while_reporting_stops_the_work() -> None:
    class EnoughError(Exception):
        pass

    def stop(_: td.types.Progress) -> None:
        raise EnoughError

    for ask in (td.networks_within, td.count_networks_within):
        with pytest.raises(EnoughError):
            ask(long_scores(), 1e5, on_progress=stop)


# All networks of one row tie: more of them than anybody can wait for.


@pytest.mark.parametrize("count", [td.count_networks_within, td.count_classes_within], ids=lambda ask: ask.__name__)
def test_a_stopped_count_says_how_many_there_are_at_least(count: Callable[..., int]) -> None:
    message = rf"{count.__name__}: time_limit came after .* at least 7,000\."
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_core, "count_above", lambda *_: (False, SimpleNamespace(found=7000)))
        with pytest.raises(td.OutOfTime, match=message) as stopped:
            count(one_row(12), 1, time_limit=1000)
    assert stopped.value.answer == 7000
    with pytest.raises(td.OutOfTime, match="nothing is known yet") as at_once:
        count(one_row(12), 1, time_limit=0)
    assert at_once.value.answer == 0
    with pytest.raises(td.Interrupted, match="there are at least") as interruption:
        count(one_row(12), 1, on_progress=interrupt_once_listing())
    assert interruption.value.answer > 0


def interrupt_once_listing() -> Callable[[td.types.Progress], None]:
    """Ctrl-C at the third report of listing."""
    seen: list[td.types.Progress] = []

    def press(progress: td.types.Progress) -> None:
        if progress.phase == "listing":
            seen.append(progress)
        if len(seen) == 3:
            raise KeyboardInterrupt

    return press


def test_a_count_with_time_enough_is_whole() -> None:
    count = td.count_networks_within(long_scores(), 20, time_limit=1000, memory_limit="1GB")
    assert count == len(td.networks_within(long_scores(), 20))
    assert td.count_networks_within(td.example_table(), 20, "bdeu", time_limit=1000) == 1808


def test_a_stopped_stream_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "perf_counter", lambda: 1e6 if given else 0.0)
    given: list[td.Network] = []
    stream = td.iter_networks_within(one_row(12), 1, time_limit=1000)
    with pytest.raises(td.OutOfTime, match="iter_networks_within: time_limit came") as stopped:
        given.extend(stream)
    assert stopped.value.answer == len(given) > 0
    with pytest.raises(td.OutOfTime, match="nothing is known yet"):
        next(td.iter_networks_within(one_row(12), 1, time_limit=0))
    given.clear()
    whole = list(td.iter_networks_within(long_scores(), 3, time_limit=1000))
    assert len(whole) == td.count_networks_within(long_scores(), 3)


def test_a_stream_can_be_interrupted() -> None:
    lattice = _core.build_lattice(one_row(12).store.core(), _core.Limits(2))
    assert lattice is not None
    stream = _core.open_stream(lattice, lattice.best_score, _core.Limits(2))
    ticks = iter(range(10**9))

    def press(*_: object) -> None:
        if next(ticks) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stream.next(10**9, _core.Limits(1, None, press))
    found = stream.next(5, _core.Limits())
    assert not found.finished
    assert len(found.scores) == 5


def test_limits_hold_while_a_table_is_scored() -> None:
    table = sampled_table(19, 2000, seed=3, states=(2, 4))
    for ask in (td.count_networks_within, td.iter_networks_within):
        with pytest.raises(td.OutOfTime, match="the best network found by then scores -"):
            ask(table, 3, time_limit=1e-9)
        with pytest.raises(td.TooLarge):
            ask(table, 3, memory_limit="1kB")


def test_stopped_edge_bounds_are_none() -> None:
    scores = long_scores()
    lattice = _core.build_lattice(scores.store.core(), _core.Limits(2))
    assert _core.edge_bounds(lattice, _core.Limits(2, 0.0)) is None
    assert _core.edge_bounds(lattice, _core.Limits(2)) is not None


def test_a_count_interrupted_before_it_begins_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """While the lattice is made nothing has been counted."""

    monkeypatch.setattr(sources, "lattice_of_all_sets", press_ctrl_c)
    for count in (td.count_networks_within, td.count_classes_within):
        with pytest.raises(td.Interrupted, match="nothing is known yet") as caught:
            count(one_row(3), 3)
        assert caught.value.answer == 0


def test_families_that_memory_does_not_hold_are_refused() -> None:
    """All networks tie, so every family occurs: 22 million, where the tables over all sets take but 90 MB."""
    scores = one_row(21)
    for ask in (td.k_best_networks, td.k_best_classes, td.count_networks_within):
        with pytest.raises(td.TooLarge, match="More families occur in networks so near the best than memory holds"):
            ask(scores, 3, memory_limit="200MB")
    with pytest.raises(td.TooLarge, match="More families"):
        next(td.iter_networks_within(scores, 3, memory_limit="200MB"))


def test_too_little_memory_is_refused() -> None:
    with pytest.raises(td.TooLarge, match="The lattice on 16 variables"):
        td.k_best_networks(long_scores(), 10, memory_limit="1MB")
