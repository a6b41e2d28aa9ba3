"""What was done to a table is said by every answer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import topdag as td

TABLE = td.Table(
    {"size": [0.5, 1.5, 2.5, 3.5, None], "kind": ["a", "a", "b", "b", "b"]}, missing="drop", discretize="median"
)
ANSWERS: list[Callable[[Any], Any]] = [
    td.best_network,
    lambda source: td.best_network(source, prior=td.OrderModular()),
    lambda source: td.k_best_networks(source, 2),
    lambda source: td.networks_within(source, 2),
    lambda source: td.k_best_classes(source, 2),
    lambda source: td.classes_within(source, 2),
    lambda source: td.search_networks(source, 2),
    td.edge_posteriors,
    td.path_posteriors,
    td.network_posteriors,
    lambda source: td.parent_set_posteriors(source, "kind"),
    lambda source: td.sample_networks(source, 3),
    lambda source: td.edge_alternatives(source if isinstance(source, td.types.Scores) else td.score(source, td.BDeu())),
    lambda source: td.plan(source if isinstance(source, td.Table) else TABLE),
    lambda source: td.score(TABLE, td.BDeu()),
]


@pytest.mark.parametrize("ask", ANSWERS)
@pytest.mark.parametrize("source", [TABLE, td.score(TABLE, td.BIC())], ids=["table", "scores"])
def test_every_answer_says_what_was_done_to_the_table(ask: Callable[[Any], Any], source: Any) -> None:
    assert len(TABLE.notes) == 2
    assert ask(source).notes[:2] == TABLE.notes


def test_posteriors_keep_it_in_files(tmp_path: Path) -> None:
    for name in ("edges.json", "edges.npz"):
        td.io.write_posteriors(tmp_path / name, td.edge_posteriors(TABLE))
        assert td.io.read_posteriors(tmp_path / name).notes == TABLE.notes


@pytest.mark.parametrize(
    "ask",
    [
        lambda source: td.best_network(source, "bge", time_limit=0),
        lambda source: td.best_network(source, "bge", prior=td.OrderModular(), time_limit=0),
        lambda source: td.k_best_networks(source, 2, "bge", time_limit=0),
        lambda source: td.networks_within(source, 2, "bge", time_limit=0),
        lambda source: td.bootstrap(source, 2, "bge"),
        lambda source: td.plan(source, "bge"),
    ],
)
def test_what_the_score_says_of_the_table_too_though_nothing_was_scored(ask: Callable[[Any], Any]) -> None:
    rows = [[i % 7 + 1000.0, i % 5 / 3] for i in range(40)]
    assert any("BGe: the prior expects" in note and "'V0' is far" in note for note in ask(rows).notes)
