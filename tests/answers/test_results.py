"""Answers: what can be asked of one directly, and how statuses compare."""

from __future__ import annotations

import pickle
from dataclasses import replace

import pytest

import topdag as td
from topdag.answers.results import Status


@pytest.fixture(scope="module")
def answer() -> td.types.Answer:
    return td.best_network(td.example_table())


def test_an_answer_speaks_for_its_network(answer: td.types.Answer) -> None:
    assert answer.network is not None
    assert answer.proved
    assert answer.edges == answer.network.edges
    assert set(pytest.importorskip("networkx").DiGraph(answer.to_networkx()).edges) == set(answer.edges)
    plt = pytest.importorskip("matplotlib.pyplot")
    axes = plt.subplots()[1]
    assert answer.plot(axes) is axes
    plt.close("all")


def test_an_answer_without_a_network_says_so(answer: td.types.Answer) -> None:
    none = replace(answer, network=None, proof=replace(answer.proof, status=Status.INFEASIBLE))
    assert not none.proved
    for ask in (lambda: none.edges, none.plot, none.to_networkx):
        with pytest.raises(td.NetworkError, match="There is no network: no network is allowed among"):
            ask()


@pytest.mark.parametrize("status", Status)
def test_a_status_equals_its_name(status: Status) -> None:
    assert status == status.name and status == status.value and status.name == status
    assert {status: 1}[status.value] == 1  # type: ignore[index]
    assert [other for other in Status if other == status] == [status]
    assert status not in ("unknown", 1, None)
    assert pickle.loads(pickle.dumps(status)) is status
    assert str(status) == f"{status}" == f"Status.{status.name}"
