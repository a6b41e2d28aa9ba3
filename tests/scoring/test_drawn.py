"""Draws of a table scored in one walk: to the last bit what each of them gives scored by itself, whoever asks."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pruning_checks import PENALISED, Families, families_in, pruned, scored_columns, truth
from strategies import tables

import topdag as td
from topdag import _core
from topdag._util.run import Run
from topdag.data.resample import drawn_weights, resampled
from topdag.scoring.drawn import MOST, DrawnTogether
from topdag.scoring.kinds.discrete import SetScore, coded
from topdag.scoring.pruned import ALL_RULES, pruning_question
from topdag.scoring.task import Pruning, ScoringTask

SEED = 4


def together(
    table: td.Table, kind: SetScore, draws: Sequence[int], *, max_parents: int | None = None, threads: int = 2
) -> list[tuple[int, Families]] | None:
    """The grid and the families of each draw, scored in one walk."""
    task, run = ScoringTask(table, scored_columns(table), kind, max_parents), Run(threads=threads)
    weights = np.array([drawn_weights(table, SEED, draw) for draw in draws])
    found = _core.score_drawn(coded(table, task.columns), weights, pruning_question(task, run), run.limits)
    return None if found is None else [(own.grid, listed(own, task.n)) for own in found]


def listed(found: _core.PrunedFamilies, n: int) -> Families:
    owners = np.repeat(np.arange(n), np.diff(found.offsets)).tolist()
    return dict(zip(zip(owners, found.parents[:, 0].tolist(), strict=True), found.scores.tolist(), strict=True))


def by_itself(table: td.Table, kind: SetScore, draw: int, max_parents: int | None = None) -> tuple[int, Families]:
    found = pruned(resampled(table, SEED, draw), kind, Pruning(), max_parents=max_parents)
    return found.grid, families_in(found)


some_tables = tables(variables=(2, 7), most_states=4, rows=(1, 2, 3, 8, 20, 60), weights=((1,), (1, 1, 2, 9)))


@given(some_tables, st.sampled_from(PENALISED), st.integers(1, MOST), st.sampled_from((None, 0, 1, 2)))
def test_every_draw_keeps_what_it_keeps_by_itself(
    table: td.Table, kind: SetScore, n: int, max_parents: int | None
) -> None:
    if not scored_columns(table):
        return
    assert together(table, kind, range(n), max_parents=max_parents) == [
        by_itself(table, kind, draw, max_parents) for draw in range(n)
    ]


@given(tables(variables=(2, 5), most_states=3, rows=(2, 4, 8, 20), weights=((1,), (1, 2))), st.sampled_from(PENALISED))
def test_every_draw_keeps_what_is_best_among_all(table: td.Table, kind: SetScore) -> None:
    """All families of each draw were scored for it."""
    if scored_columns(table):
        assert together(table, kind, range(3)) == [
            truth(resampled(table, SEED, draw), kind, Pruning(), None, ALL_RULES) for draw in range(3)
        ]


def wide_table(n: int = 24, rows: int = 300) -> td.Table:
    """Too many variables for tables over all sets, so that families are listed."""
    arities = [2 + v % 3 for v in range(n)]
    return td.random_network(n, arcs=n, arities=arities, max_parents=3, seed=1).sample(rows, seed=2)


def test_many_variables_and_any_number_of_threads() -> None:
    table = wide_table()
    found = together(table, td.BIC(), range(5), threads=1)
    assert found == [by_itself(table, td.BIC(), draw) for draw in range(5)]
    assert found == together(table, td.BIC(), range(5), threads=2)
    assert found == (together(table, td.BIC(), range(3)) or []) + (together(table, td.BIC(), range(3, 5)) or [])


def test_what_must_be_scored_by_itself() -> None:
    """Where grids depend on the rows drawn, or counts are too large."""
    table = wide_table()
    assert together(table, td.BDeu(), range(2), max_parents=1) is None
    many = td.Table({"a": ["x", "y"], "b": ["x", "y"]}, weights=[65_535, 1])
    assert together(many, td.BIC(), range(2)) is None
    few = td.Table({"a": ["x", "y"], "b": ["x", "y"]}, weights=[65_534, 1])
    assert together(few, td.BIC(), range(2)) == [by_itself(few, td.BIC(), draw) for draw in range(2)]


def answers(found: td.types.BootstrapFrequencies) -> list[Any]:
    return [(draw.network, draw.network.score, draw.edges.tolist()) for draw in found.draws if draw.network]


def test_answers_are_those_of_draws_scored_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    table = wide_table()
    asked: list[int] = []
    scored = _core.score_drawn

    def counted(view: Any, weights: Any, *rest: Any) -> Any:
        asked.append(len(weights))
        return scored(view, weights, *rest)

    monkeypatch.setattr(_core, "score_drawn", counted)
    found = answers(td.bootstrap(table, 35, "bic", max_parents=1))
    assert asked == [32] and len(found) == 35  # the last few are scored one by one
    assert found == answers(td.bootstrap(table, 35, "bic", max_parents=1, threads=1))
    assert found == answers(td.bootstrap(table, 35, "bic", max_parents=1, executor=2))
    with ThreadPoolExecutor(3) as threads:
        assert found == answers(td.bootstrap(table, 35, "bic", max_parents=1, executor=threads))
    asked.clear()
    assert found == answers(td.bootstrap(table, 35, "bic", max_parents=1, time_limit=1_000))
    assert asked == [8, 16]  # the first draws one by one: a limit should find some done
    monkeypatch.setattr(DrawnTogether, "families", lambda *_: None)
    assert found == answers(td.bootstrap(table, 35, "bic", max_parents=1))


def test_constraints_hold_in_draws_scored_together() -> None:
    table = wide_table()
    a, b, c = table.names[:3]
    known = td.Constraints(required_edges=[(a, b)], forbidden_edges=[(b, c)])
    for draw, (network, score, _) in enumerate(
        answers(td.bootstrap(table, 8, "bic", seed=SEED, constraints=known, max_parents=2))
    ):
        one = td.best_network(resampled(table, SEED, draw), "bic", constraints=known, max_parents=2)
        assert score == one.score and a in network.parents[b] and b not in network.parents[c]
