"""MixedBIC: regressions for each state of discrete parents, against least squares group by group."""

from __future__ import annotations

import math
from itertools import combinations
from pathlib import Path

import continuous_truth as truth
import numpy as np
import pandas as pd
import pytest
import reference
from cli_runs import Topdag
from hypothesis import given, settings
from hypothesis import strategies as st

import topdag as td
from topdag import _core
from topdag.answers.check import check_network, local_by_definition
from topdag.cli.command import Exit
from topdag.scoring.scores import Scores
from topdag.search.stores import MixedStore


def drawn(seed: int, arities: tuple[int, ...], n_rows: int) -> np.ndarray:
    """Arity 0: continuous. Continuous columns lean on discrete and continuous ones before them."""
    rng = np.random.default_rng(seed)
    columns: list[np.ndarray] = []
    for arity in arities:
        before = sum((rng.normal() * column for column in columns if rng.random() < 0.6), np.zeros(n_rows))
        columns.append(rng.normal(size=n_rows) + before if arity == 0 else rng.integers(0, arity, n_rows).astype(float))
    return np.column_stack(columns)


def table_of(rows: np.ndarray, arities: tuple[int, ...]) -> td.Table:
    columns = {f"V{v}": rows[:, v] if arity == 0 else rows[:, v].astype(int) for v, arity in enumerate(arities)}
    states = {f"V{v}": range(arity) for v, arity in enumerate(arities) if arity}
    return td.Table(columns, states=states)


mixed = st.lists(st.sampled_from([0, 2, 3]), min_size=2, max_size=4).map(tuple).filter(lambda arities: 0 in arities)


def stored(scores: Scores, masks: tuple[int, ...]) -> float:
    return math.fsum(scores.store.value(x, mask) for x, mask in enumerate(masks))


@settings(max_examples=40)
@given(arities=mixed, n_rows=st.integers(6, 40), seed=st.integers(0, 2**32))
def test_every_family(arities: tuple[int, ...], n_rows: int, seed: int) -> None:
    rows = drawn(seed, arities, n_rows)
    table, kind = table_of(rows, arities), td.MixedBIC()
    scores = td.score(table, kind)
    for x in range(len(arities)):
        for size in range(len(arities)):
            for parents in combinations([v for v in range(len(arities)) if v != x], size):
                true = truth.mixed_bic(rows, arities, x, parents)
                assert scores.store.value(x, sum(1 << v for v in parents)) == pytest.approx(true, abs=1e-8)
                if true == -math.inf:
                    with pytest.raises(td.ScoreError, match="MixedBIC"):
                        kind.local(table, x, parents)
                    continue
                assert kind.local(table, x, parents) == pytest.approx(true, abs=1e-8)
                names = tuple(table.names[v] for v in parents)
                assert local_by_definition(table, kind, table.names[x], names) == pytest.approx(true, abs=1e-8)


@settings(max_examples=6)
@given(arities=mixed.filter(lambda arities: len(arities) > 2), seed=st.integers(0, 2**32))
def test_questions_against_all_networks(arities: tuple[int, ...], seed: int) -> None:
    n = len(arities)
    scores = td.score(table_of(drawn(seed, arities, 40), arities), td.MixedBIC())
    values = {masks: stored(scores, masks) for masks in reference.all_networks(n)}
    ranked = sorted((value for value in values.values() if value > -math.inf), reverse=True)
    answer = td.best_network(scores)
    assert answer.score == pytest.approx(ranked[0], abs=1e-9) and answer.network is not None
    assert scores.table is not None and check_network(answer.network, scores.table, td.MixedBIC()).is_fine
    assert [one.score for one in td.k_best_networks(scores, 8)] == pytest.approx(ranked[:8], abs=1e-9)
    total = math.fsum(math.exp(value - ranked[0]) for value in ranked)
    assert td.log_evidence(scores) == pytest.approx(ranked[0] + math.log(total), abs=1e-7)
    edges = td.edge_posteriors(scores).matrix
    for u, v in combinations(range(n), 2):
        assert arities[u] or not arities[v] or edges[u, v] == 0  # never from a continuous to a discrete variable
        assert arities[v] or not arities[u] or edges[v, u] == 0


def test_no_classes_since_some_members_are_not_allowed() -> None:
    scores = td.score(table_of(drawn(1, (2, 0, 0), 30), (2, 0, 0)), td.MixedBIC())
    with pytest.raises(td.ScoreError, match="MixedBIC"):
        td.k_best_classes(scores, 3)


@pytest.mark.parametrize("arities", [(0, 0, 0), (2, 3, 2)])
def test_tables_of_one_sort_score_as_with_the_plain_score(arities: tuple[int, ...]) -> None:
    table = table_of(drawn(3, arities, 50), arities)
    plain = td.GaussianBIC() if not any(arities) else td.BIC()
    mine, theirs = (td.score(table, kind) for kind in (td.MixedBIC(), plain))
    assert td.best_network(mine).score == pytest.approx(td.best_network(theirs).score, abs=1e-9)


def test_families_without_a_maximum_are_not_allowed_and_a_note_says_so() -> None:
    rng = np.random.default_rng(5)
    sex = ["m"] * 10 + ["f"] * 10
    children = np.concatenate([np.zeros(10), rng.normal(size=10)])
    frame = {"sex": sex, "children": children, "age": rng.normal(size=20)}
    scores = td.score(frame, td.MixedBIC())
    assert isinstance(scores.store, MixedStore) and scores.store.degenerate == 3
    assert any("3 families of continuous variables are not allowed" in note for note in scores.notes)
    assert any("3 families" in note for note in td.best_network(scores).notes)
    assert ("sex",) not in [parents for parents, _ in scores.families("children")]
    with pytest.raises(td.ScoreError, match=r"where sex=m there are too few different rows.*or nothing varies"):
        scores.local("children", ["sex"])


def test_dependent_columns_are_an_error() -> None:
    rows = drawn(2, (2, 0, 0), 20)
    columns = {"s": rows[:, 0].astype(int), "b": rows[:, 1], "c": 2 * rows[:, 1]}
    with pytest.raises(td.ScoreError, match=r"MixedBIC\(\): the covariance of 'b', 'c' is degenerate: c = 2 b"):
        td.score(columns, td.MixedBIC(), types={"c": "continuous"})  # else it is left out, as a duplicate


def test_hopeless_penalties_are_left_out_and_said() -> None:
    """So many states that no family with them as parents can matter; the grid stays fine."""
    rng = np.random.default_rng(8)
    columns: dict[str, object] = {f"d{i}": np.repeat([0, 1], 20) for i in range(4)}
    states = {name: range(40) for name in columns}
    columns["x"] = rng.normal(size=40)
    scores = td.score(td.Table(columns, states=states), td.MixedBIC())
    assert isinstance(scores.store, MixedStore) and scores.store.hopeless > 0
    assert scores.cutoff == 1000 and "1000 nats" in td.best_network(scores).proof.space
    assert scores.grid >= 30


def test_threads_do_not_matter() -> None:
    arities = (2, 0, 3, 0, 2, 0)
    table = table_of(drawn(4, arities, 60), arities)
    one, four = (td.score(table, td.MixedBIC(), threads=threads).store.arrays[0] for threads in (1, 4))
    assert np.array_equal(one, four)


def test_a_limit_on_parents() -> None:
    arities = (2, 0, 2, 0)
    table = table_of(drawn(9, arities, 60), arities)
    few, every = (td.score(table, td.MixedBIC(), max_parents=k) for k in (1, None))
    for x, name in enumerate(table.names):
        listed = {parents for parents, _ in few.families(name)}
        assert listed == {parents for parents, _ in every.families(name) if len(parents) <= 1}
        assert few.store.value(x, 0) == pytest.approx(every.store.value(x, 0), abs=1e-8)


def test_time_can_run_out() -> None:
    arities = (2, 0, 2, 0)
    table = table_of(drawn(9, arities, 60), arities)
    families, _, _ = _core.score_mixed_families(
        _core.CodedTable(np.ascontiguousarray(table.codes[[0, 2]]), [2, 2], table.weights),
        table.numbers,
        [1, 3],
        1.0,
        3,
        _core.Limits(1, 0.0),
    )
    assert families is None


def test_a_stopped_question_shows_an_allowed_network(tmp_path: Path, topdag: Topdag) -> None:
    """Nothing is scored yet, so families are tried one by one; some are not allowed."""
    rng = np.random.default_rng(5)
    a = rng.normal(size=40)
    frame = pd.DataFrame({"a": a, "s": np.where(a > 0, "y", "n"), "b": a + rng.normal(size=40)})
    frame.to_csv(tmp_path / "mixed.csv", index=False)
    ran = topdag("best", tmp_path / "mixed.csv", "--score", "mixed-bic", "--time-limit", "0", "--quiet")
    assert ran.code == Exit.STOPPED and "s <- " not in ran.out and "b <- " in ran.out


def test_bounds_of_families_that_are_not_allowed() -> None:
    scores = td.score(table_of(drawn(1, (2, 0, 0), 30), (2, 0, 0)), td.MixedBIC())
    assert scores.family_bound("V0", ["V1"]) == -math.inf
    assert scores.family_bound("V1", ["V0"]) > -math.inf
