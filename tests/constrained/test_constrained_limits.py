"""Questions under constraints that are stopped: what they show is allowed, and their bounds hold."""

from __future__ import annotations

import math

import pytest
from given_sizes import AS_LISTS, give_sizes
from strategies import sampled_table

import topdag as td
from topdag._util.progress import Progress
from topdag.answers.results import Status

KNOWN = td.Constraints(
    ancestors=[("V7", "V0"), ("V5", "V1"), ("V6", "V2")],
    not_ancestors=[("V0", "V3"), ("V1", "V4")],
    rules=["V3->V5 or V4->V6 or parents(V7) >= 2"],
)
LOCAL = td.Constraints(required_edges=["V7->V0", "V6->V1"], max_parents=2)


def stop_at(part: int):
    """Ctrl-C when so many parts were begun."""
    met = {"splitting": 0}

    def on_progress(progress: Progress) -> None:
        if progress.phase == "splitting":
            met["splitting"] += 1
            if met["splitting"] == part:
                raise KeyboardInterrupt

    return on_progress


@pytest.fixture(scope="module")
def scores() -> td.types.Scores:
    return td.score(sampled_table(8, 200, 3), td.BDeu(), constraints=KNOWN)


@pytest.fixture(scope="module")
def best(scores: td.types.Scores) -> td.types.Answer:
    answer = td.best_network(scores)
    assert answer.proof.status is Status.PROVED and answer.stats.work["parts"] > 8
    return answer


@pytest.mark.parametrize("part", [1, 2, 3, 5, 8])
def test_interrupted(scores: td.types.Scores, best: td.types.Answer, part: int) -> None:
    with pytest.raises(td.Interrupted) as caught:
        td.best_network(scores, on_progress=stop_at(part))
    answer = caught.value.answer
    assert answer.proof.status is Status.STOPPED and answer.proof.limit == "Ctrl-C"
    assert answer.proof.bound >= best.score >= answer.score
    assert answer.network is None or KNOWN.allows(answer.network)
    assert answer.proof.gap == answer.proof.bound - answer.score


@pytest.mark.parametrize("part", [1, 4, 12])
def test_interrupted_lists(scores: td.types.Scores, part: int) -> None:
    whole = td.k_best_networks(scores, 2000)
    with pytest.raises(td.Interrupted) as caught:
        td.k_best_networks(scores, 2000, on_progress=stop_at(part))
    found = caught.value.answer
    assert found.proof.status is Status.STOPPED and all(KNOWN.allows(network) for network in found)
    above = [score for score in whole.scores if score > found.floor]
    assert list(found.scores[found.scores > found.floor]) == above


@pytest.mark.parametrize("known", [KNOWN, LOCAL], ids=["across", "local"])
def test_no_time_at_all(known: td.Constraints) -> None:
    table = sampled_table(8, 200, 3)
    scores = td.score(table, td.BIC(), constraints=known)
    best = td.best_network(scores)
    answer = td.best_network(scores, time_limit=0)
    assert answer.proof.status is Status.STOPPED and answer.proof.bound >= best.score - 1e-9
    assert answer.network is None or known.allows(answer.network)
    assert (known is KNOWN) or answer.network is not None
    listed = td.k_best_networks(scores, 5, time_limit=0)
    assert listed.proof.status is Status.STOPPED and listed.floor >= best.score - 1e-9
    with pytest.raises(td.OutOfTime):
        td.count_networks_within(scores, 3, time_limit=0)


def test_lists_stopped_at_their_first_part_are_bounded_by_the_best_network_of_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    give_sizes(monkeypatch, **AS_LISTS)
    table = sampled_table(8, 200, 3)
    free = td.best_network(td.score(table, td.BIC()))
    scores = td.score(table, td.BIC(), constraints=KNOWN)
    with pytest.raises(td.Interrupted) as caught:
        td.k_best_networks(scores, 2, on_progress=stop_at(1))
    assert caught.value.answer.proof.bound == pytest.approx(free.score, abs=1e-6)


def test_a_start_that_obeys_is_never_made_worse() -> None:
    scores = td.score(sampled_table(8, 200, 3), td.BIC(), constraints=KNOWN)
    best = td.best_network(scores)
    assert best.network is not None
    stopped = td.best_network(scores, time_limit=0, start=best.network)
    assert stopped.network == best.network
    wrong = td.Network(scores.names, {})
    assert not KNOWN.allows(wrong)
    assert td.best_network(scores, time_limit=0, start=wrong).network != wrong


def test_lists_of_constrained_networks_are_written_and_read(tmp_path, scores: td.types.Scores) -> None:
    found = td.k_best_networks(scores, 20)
    td.io.write_list(tmp_path / "top.jsonl", found)
    back = td.io.read_list(tmp_path / "top.jsonl")
    assert list(back) == list(found) and "that satisfy" in back.proof.space
    assert math.isclose(back.floor, found.floor)
