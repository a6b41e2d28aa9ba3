"""Every question takes a frame with all that is to be said about reading and scoring it."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import topdag as td
from topdag.questions.request import Said

ROWS = 60
FRAME = pd.DataFrame(
    {
        "id": [f"n{i}" for i in range(ROWS)],
        "size": [(i * 7 % ROWS) + 0.5 for i in range(ROWS)],
        "price": [3 * (i * i * 7 % ROWS) for i in range(ROWS)],
        "kind": [None if i % 20 == 0 else "ab"[i * 7 % ROWS > 30] for i in range(ROWS)],
        "other": [i % 3 for i in range(ROWS)],
    }
)
READING: dict[str, Any] = {"missing": "drop", "discretize": "quantile(3)", "leave_out": ["id"]}
KNOWN = td.Constraints(forbidden_edges=[("size", "price")])
SCORING: dict[str, Any] = {"constraints": KNOWN, "max_parents": 2}
SCORES = td.score(td.Table(FRAME, **READING), td.BIC(), **SCORING, keep="all")
QUESTIONS: dict[str, tuple[Callable[..., Any], tuple[Any, ...], Callable[[Any], Any]]] = {
    "best_network": (td.best_network, (), lambda found: found.network),
    "k_best_networks": (td.k_best_networks, (3,), list),
    "networks_within": (td.networks_within, (3,), list),
    "k_best_classes": (td.k_best_classes, (3,), list),
    "classes_within": (td.classes_within, (3,), list),
    "count_networks_within": (td.count_networks_within, (3,), int),
    "count_classes_within": (td.count_classes_within, (3,), int),
    "iter_networks_within": (td.iter_networks_within, (3,), lambda found: sorted(map(str, found))),
    "search_networks": (td.search_networks, (3,), list),
    "log_evidence": (td.log_evidence, (), float),
    "log_prior_total": (td.log_prior_total, (), float),
    "edge_posteriors": (td.edge_posteriors, (), lambda found: found.matrix.tolist()),
    "path_posteriors": (td.path_posteriors, (), lambda found: found.matrix.tolist()),
    "parent_set_posteriors": (td.parent_set_posteriors, ("kind",), dict),
    "network_posteriors": (td.network_posteriors, (), lambda found: found.edges.matrix.tolist()),
    "sample_networks": (td.sample_networks, (5,), list),
    "edge_alternatives": (td.edge_alternatives, (), lambda found: found.with_edge.tolist()),
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_frame_with_options_is_asked_as_its_scores_are(name: str) -> None:
    ask, given, said = QUESTIONS[name]
    assert said(ask(FRAME, *given, "bic", **READING, **SCORING)) == said(ask(SCORES, *given))


@pytest.mark.parametrize("name", QUESTIONS)
def test_who_works_changes_nothing(name: str) -> None:
    ask, given, said = QUESTIONS[name]
    with ThreadPoolExecutor(2) as executor:
        assert said(ask(SCORES, *given, executor=executor)) == said(ask(SCORES, *given))


@pytest.mark.parametrize("kind", ["bic", "BIC", "bic-d", td.BIC()])
def test_scores_by_name_or_object(tmp_path: Path, kind: Any) -> None:
    FRAME.to_csv(tmp_path / "frame.csv", index=False)
    assert td.best_network(tmp_path / "frame.csv", kind, **READING).kind == td.BIC()
    assert td.score(FRAME, kind, **READING).kind == td.BIC()
    assert td.plan(FRAME, kind, **READING).kind == td.BIC()
    assert td.parent_bounds(FRAME, kind, "best", **READING)["kind"].limit < 4


def test_a_report_and_a_fit_take_the_same(tmp_path: Path) -> None:
    td.write_report(tmp_path / "page.html", FRAME, kind="bic", k=2, **READING, **SCORING)
    assert "quantiles" in (tmp_path / "page.html").read_text()
    network = td.best_network(FRAME, "bic", **READING).network
    assert network is not None
    assert network.fit(FRAME, **READING).states["size"] == SCORES.table.states[0]  # type: ignore[union-attr]


def test_numbers_stay_numbers_where_the_score_takes_them() -> None:
    numbers = pd.DataFrame({"x": np.arange(30) / 7, "y": np.arange(30) % 5 + 0.5, "n": np.arange(30) % 4})
    assert td.best_network(numbers, "bge").kind == td.BGe()
    assert td.best_network(numbers, "mixed-bic", types={"n": "continuous"}).kind == td.MixedBIC()


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_question_takes_the_same_arguments(name: str) -> None:
    ask, given, _ = QUESTIONS[name]
    names = list(inspect.signature(ask).parameters)  # as help() shows them
    assert names[1 + len(given)] == "kind"
    assert set(Said.__annotations__) <= set(names)


@pytest.mark.parametrize(
    "wrong",
    [{"threads": 0}, {"memory_limit": "8XB"}, {"on_progress": 3}, {"time_limit": "1"}, {"executor": "two"}],
)
@pytest.mark.parametrize("name", QUESTIONS)
def test_limits_that_are_none_are_refused_alike(name: str, wrong: dict[str, Any]) -> None:
    ask, given, _ = QUESTIONS[name]
    with pytest.raises(td.ScoreError, match=next(iter(wrong))):
        ask(SCORES, *given, **wrong)


@pytest.mark.parametrize("seed", [-1, 1.5, "x", True, 2**64])
@pytest.mark.parametrize(
    "ask", [partial(td.sample_networks, n_samples=3), td.bootstrap, td.causal_effects, td.structural_em]
)
def test_seeds_are_refused_alike(ask: Callable[..., Any], seed: Any) -> None:
    with pytest.raises(td.ScoreError, match="seed must be a whole number from 0 on"):
        ask(td.example_table(), seed=seed)


@pytest.mark.parametrize("count", [-1, 1.5, "x", True, 10**12])
@pytest.mark.parametrize(
    ("ask", "name"),
    [
        (td.sample_networks, "n_samples"),
        (td.bootstrap, "n"),
        (td.causal_effects, "draws"),
        (td.structural_em, "draws"),
        (td.k_best_networks, "k"),
        (td.k_best_classes, "k"),
        (td.search_networks, "k"),
        (partial(td.networks_within, factor=3), "at_most"),
        (partial(td.classes_within, factor=3), "at_most"),
        (partial(td.search_networks, k=3), "block"),
        (partial(td.write_report, "page.html"), "k"),
    ],
)
def test_counts_are_refused_alike(ask: Callable[..., Any], name: str, count: Any) -> None:
    with pytest.raises(td.ScoreError, match=f"{name} must be a whole number from"):
        ask(td.example_table(), **{name: count})


@pytest.mark.parametrize(
    "mistake",
    [
        lambda: td.Table(FRAME, missing="error"),
        lambda: td.read_table("nowhere.csv"),
        lambda: td.score(FRAME, missing="error"),
        lambda: td.best_network(FRAME, missing="error"),
        lambda: td.best_network(FRAME, "bicc", **READING),
        lambda: td.edge_posteriors(FRAME, **READING, discretise=3),
        lambda: td.k_best_networks(FRAME, 3, constraints=3, **READING),
        lambda: td.plan(FRAME, missing="error"),
        lambda: td.Network(["a", "b"], {}).fit(FRAME),
    ],
)
def test_tracebacks_of_mistakes_are_short(mistake: Callable[[], Any]) -> None:
    with pytest.raises((ValueError, TypeError)) as caught:
        mistake()
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert len(frames) <= 3, frames  # this one, the lambda and one of topdag's
    assert caught.value.__cause__ is None


def test_all_of_a_traceback_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOPDAG_TRACEBACK", "1")
    with pytest.raises(td.TableError) as caught:
        td.best_network(FRAME, missing="error")
    assert len(traceback.extract_tb(caught.value.__traceback__)) > 4
