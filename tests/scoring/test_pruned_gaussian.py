"""Families of continuous variables worth keeping, found by leaps and bounds, against those found among all families."""

from __future__ import annotations

import math

import numpy as np
import pytest
from given_sizes import give_memory
from hypothesis import given, settings
from hypothesis import strategies as st

import topdag as td
from topdag import _core
from topdag._util.run import Run
from topdag.answers.check import check_network
from topdag.scoring.choice import scores_by_lists
from topdag.scoring.dominance import families_by_better_subsets
from topdag.scoring.kinds.discrete import ScoreKind
from topdag.scoring.pruned_gaussian import score_worth_keeping
from topdag.scoring.task import Pruning, ScoringTask
from topdag.search.engines import Engine

KINDS = [td.BGe(), td.GaussianBIC(), td.GaussianAIC()]


def sparse(seed: int, n: int, n_rows: int) -> np.ndarray:
    """Columns with one or two parents each."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n_rows, n))
    for v in range(1, n):
        parents = rng.choice(v, min(v, int(rng.integers(0, 3))), replace=False)
        rows[:, v] += rows[:, parents] @ rng.choice([-0.9, 0.4, 0.7], len(parents))
    return rows / rows.std(axis=0)


def table_of(rows: np.ndarray) -> td.Table:
    return td.Table(rows, types={"*": "continuous"})


@pytest.mark.parametrize("kind", KINDS, ids=repr)
@settings(max_examples=6)
@given(
    seed=st.integers(0, 2**32),
    n=st.integers(2, 7),
    limit=st.sampled_from([None, 0, 1, 2]),
    keep=st.sampled_from(
        [Pruning(), Pruning(0.0), Pruning(3.0), Pruning(math.inf), Pruning(math.inf, 1), Pruning(0.0, 4)]
    ),
)
def test_nothing_is_lost(kind: ScoreKind, seed: int, n: int, limit: int | None, keep: Pruning) -> None:
    table = table_of(sparse(seed, n, 25))
    found = score_worth_keeping(ScoringTask(table, tuple(range(n)), kind, limit, keep), Run())
    every = td.score(table, kind, max_parents=limit)
    assert found is not None
    for x in range(n):
        masks, values = found.store.families_of(x)
        if keep.k is None:
            wanted, _ = _core.families_worth_keeping(every.store.core(), x, keep.epsilon)
        else:
            wanted, _ = families_by_better_subsets(every.store, x, keep.k)
        assert set(wanted.tolist()) <= set(masks.tolist())
        assert len(masks) <= len(wanted) + 2  # but for ties within rounding nothing is kept in vain
        for mask, value in zip(masks.tolist(), values.tolist(), strict=True):
            assert value == pytest.approx(every.store.value(x, mask), abs=1e-8)


def test_the_bound_cuts_and_threads_do_not_matter() -> None:
    table = table_of(sparse(3, 14, 200))
    one, four = (
        score_worth_keeping(ScoringTask(table, tuple(range(14)), td.GaussianBIC()), Run(threads=threads))
        for threads in (1, 4)
    )
    assert one is not None and four is not None
    assert one.cut["bound"] > 0 and one.scored < 14 * 2**13 / 4
    assert np.array_equal(one.store.rounded, four.store.rounded)
    assert np.array_equal(one.store.lists.masks, four.store.lists.masks)


def test_nearly_dependent_columns_are_not_cut_by_mistake() -> None:
    """Where doubles run out of digits the bound knows nothing."""
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(60, 6))
    rows[:, 3] = rows[:, 1] + 1e-7 * rows[:, 3]
    rows[:, 0] = (rows[:, 3] - rows[:, 1]) * 1e7 + 0.1 * rows[:, 0]
    table = table_of(rows)
    found = score_worth_keeping(ScoringTask(table, tuple(range(6)), td.GaussianBIC()), Run())
    every = td.score(table, td.GaussianBIC())
    assert found is not None
    for x in range(6):
        wanted, _ = _core.families_worth_keeping(every.store.core(), x, -1.0)
        assert set(wanted.tolist()) <= set(found.store.families_of(x)[0].tolist())
    assert any(mask & 0b1010 == 0b1010 for mask in found.store.families_of(0)[0].tolist())


def test_degenerate_tables_are_refused() -> None:
    rows = sparse(1, 24, 50)
    rows[:, 20] = rows[:, 3] + rows[:, 7]
    with pytest.raises(td.ScoreError, match="covariance of 'V3', 'V7', 'V20' is degenerate"):
        td.score(rows, td.GaussianBIC(), max_parents=2)


def test_wide_tables_are_listed_where_few_sets_are_left() -> None:
    assert scores_by_lists(24, 100, td.BGe(), 3, everything=False).engine is Engine.SEARCH
    assert scores_by_lists(24, 100, td.BGe(), None, everything=False).engine is Engine.BLOCKS
    assert scores_by_lists(40, 100, td.GaussianBIC(), None, everything=False).engine is Engine.SEARCH


def test_wide_tables_without_a_rule() -> None:
    with pytest.raises(td.ScoreError, match=r"nothing proves.*33 variables.*max_parents.*GaussianBIC"):
        td.score(sparse(1, 33, 40), td.BGe())
    with pytest.raises(td.TooLarge, match=r"Give max_parents"):
        td.score(sparse(1, 40, 60), td.GaussianBIC(), memory_limit="1MB")
    with pytest.raises(td.ScoreError, match=r"a matrix as precision= is for tables over all sets"):
        td.score(sparse(1, 24, 40), td.BGe(precision=tuple(map(tuple, np.identity(24)))), max_parents=2)


@pytest.mark.parametrize("kind", [td.BGe(), td.GaussianBIC()], ids=repr)
def test_a_wide_table_is_solved_and_equivalent_networks_tie(kind: ScoreKind) -> None:
    rows = sparse(9, 24, 150)
    scores = td.score(rows, kind, max_parents=2)
    answer = td.best_network(scores)
    assert answer.proof.status is td.types.Status.PROVED and answer.network is not None and scores.table is not None
    assert check_network(answer.network, scores.table, kind).is_fine
    assert answer.stats.engine.startswith("search")
    # Every edge of a class can be turned somewhere: the grid gives both the same score.
    lists = td.score(rows, kind, max_parents=1, keep="all")
    for a, b in (("V0", "V1"), ("V5", "V3"), ("V20", "V2")):
        x, y = lists.names.index(a), lists.names.index(b)
        forward = lists.store.value(x, 0) + lists.store.value(y, 1 << x)
        assert forward == lists.store.value(y, 0) + lists.store.value(x, 1 << y)


def test_constraints_on_wide_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    give_memory(monkeypatch, 24)
    rows = sparse(4, 24, 150)
    free = td.best_network(td.score(rows, td.BGe(), max_parents=2))
    assert free.network is not None
    parent, child = free.network.edges[0]
    known = td.Constraints(forbidden_edges=[(parent, child)])
    kept = td.best_network(td.score(rows, td.BGe(), max_parents=2, constraints=known))
    assert kept.network is not None and (parent, child) not in kept.network.edges and kept.score <= free.score + 1e-9
    with pytest.raises(td.ConstraintError, match="constraints that ask for parents are not understood"):
        td.score(sparse(4, 31, 50), td.BGe(), max_parents=2, constraints=td.Constraints(required_edges=[("V0", "V1")]))
