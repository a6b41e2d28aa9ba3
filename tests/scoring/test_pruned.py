"""Pruned scoring keeps exactly what scoring every family and then pruning keeps, whichever rules cut.

The truth: all sets scored on the same grid, one by one, and the rules of ``pruning`` on all families of them.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pruning_checks import (
    DIRICHLET,
    EPSILONS,
    KINDS,
    PENALISED,
    every_set,
    families_in,
    pruned,
    same_lists,
    scored_columns,
    tables_that_vary,
    truth,
)
from strategies import sampled_table, table_of

import topdag as td
from topdag import _core
from topdag._util.run import Run
from topdag.errors import ScoreError, TooLarge
from topdag.scoring.kinds.discrete import SetScore, coded
from topdag.scoring.pruned import ALL_RULES, CUTTING_RULES, PrunedScores, score_pruned
from topdag.scoring.task import Pruning, ScoringTask

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
KS = (1, 2, 3, 7, 8, 30)
by_kind = pytest.mark.parametrize("kind", KINDS, ids=repr)


def assert_true(
    table: td.Table, kind: SetScore, keep: Pruning, max_parents: int | None = None, rules: int = ALL_RULES
) -> PrunedScores:
    found = pruned(table, kind, keep, max_parents=max_parents, rules=rules)
    grid, kept = truth(table, kind, keep, max_parents, rules)
    assert found.grid == grid
    assert families_in(found) == kept
    assert found.kept == len(kept)
    assert found.limit >= max(mask.bit_count() for _, mask in kept)
    return found


# ---- The families kept


@by_kind
@settings(max_examples=15)
@given(st.data())
def test_what_is_kept_is_what_scoring_everything_would_keep(kind: SetScore, data: st.DataObject) -> None:
    table = data.draw(tables_that_vary(variables=(2, 8)))
    limit = data.draw(st.sampled_from([None, None, 0, 1, 2, 3]))
    for epsilon in EPSILONS:
        assert_true(table, kind, Pruning(epsilon), limit)


@by_kind
@settings(max_examples=8)
@given(st.data())
def test_families_with_k_better_subsets_go_and_no_others(kind: SetScore, data: st.DataObject) -> None:
    table = data.draw(tables_that_vary(variables=(2, 6)))
    limit = data.draw(st.sampled_from([None, 2]))
    for k in KS:
        assert_true(table, kind, Pruning(k=k), limit)


@pytest.mark.parametrize("rule", CUTTING_RULES)
@settings(max_examples=25)
@given(st.data())
def test_no_rule_alone_cuts_what_is_needed(rule: str, data: st.DataObject) -> None:
    kinds = DIRICHLET if rule in ("cells", "atoms") else PENALISED
    table = data.draw(tables_that_vary(variables=(2, 7)))
    kind = data.draw(st.sampled_from(kinds))
    keep = data.draw(st.sampled_from([*map(Pruning, EPSILONS), *(Pruning(k=k) for k in KS)]))
    found = assert_true(table, kind, keep, rules=1 << CUTTING_RULES.index(rule))
    assert all(found.cut[other] == 0 for other in CUTTING_RULES if other != rule)


@pytest.mark.parametrize("kind", [td.BIC(), td.BDeu(), td.K2()], ids=repr)
@pytest.mark.parametrize("seed", range(3))
def test_twelve_variables(kind: SetScore, seed: int) -> None:
    table = sampled_table(12, 80, seed=seed, states=(2, 4))
    for keep in (Pruning(), Pruning(math.log(20)), Pruning(k=10)):
        assert_true(table, kind, keep, None if seed else 4)


@settings(max_examples=10)
@given(tables_that_vary(variables=(2, 6)))
def test_without_rules_every_family_is_scored(table: td.Table) -> None:
    n = len(scored_columns(table))
    found = pruned(table, td.BIC(), Pruning(math.inf), rules=0)
    assert found.scored == found.kept == n << n - 1
    assert found.sets == 2**n
    assert set(found.cut.values()) == {0}
    assert found.limit == n - 1


@pytest.mark.parametrize("rule", CUTTING_RULES)
def test_every_rule_cuts_something(rule: str) -> None:
    table = sampled_table(10, 400 if rule == "atoms" else 60, seed=3, states=(2, 3))
    kind: SetScore = td.BDeu() if rule in ("cells", "atoms") else td.BIC()
    limit = 2 if rule == "max_parents" else None
    found = pruned(table, kind, Pruning(), max_parents=limit, rules=1 << CUTTING_RULES.index(rule))
    everything = 10 * sum(math.comb(9, size) for size in range((limit or 9) + 1))
    assert found.cut[rule] > 0
    assert found.scored == everything if limit else found.scored < everything


# ---- Counting


@by_kind
@settings(max_examples=15)
@given(st.data())
def test_listed_sets_score_as_all_sets_do(kind: SetScore, data: st.DataObject) -> None:
    """Both ways of counting: rows as bits, and rows with weights when these are large."""
    table = data.draw(tables_that_vary(variables=(2, 7)))
    grid, store = every_set(table, kind, Pruning(), None, 0)
    n = store.n
    dense = _core.score_all_sets(coded(table, scored_columns(table)), kind.joint(table.n_rows), n, _core.Limits())
    assert np.allclose(store.joint, dense, rtol=1e-13, atol=2.0**-grid + 1e-9)
    assert np.array_equal(np.ldexp(store.joint, grid) % 1, np.zeros(2**n))


def test_many_rows_with_and_without_weights() -> None:
    """5,000 rows stand apart, two million are counted by weight."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, [[2], [3], [2], [4], [5], [2], [3]], (7, 5000))
    codes[3] = (codes[0] + codes[1]) % 4
    for weights in (None, rng.integers(1, 800, 5000).tolist()):
        table = table_of(codes, [2, 3, 2, 4, 5, 2, 3], weights)
        for kind in (td.BIC(), td.BDeu()):
            assert_true(table, kind, Pruning())


def test_threads_change_nothing() -> None:
    table = sampled_table(14, 300, seed=5, states=(2, 3))
    for kind in (td.BIC(), td.BDeu()):
        one, other = (pruned(table, kind, Pruning(1.0), max_parents=5, threads=threads) for threads in (1, 3))
        assert same_lists(one.store.lists, other.store.lists)
        assert (one.grid, one.limit, one.scored, one.sets) == (other.grid, other.limit, other.scored, other.sets)
        assert dict(one.cut) == dict(other.cut)


# ---- Real tables, against the lattice's own scores


@pytest.mark.skipif(not DATA.exists(), reason="no ../shared/data")
@pytest.mark.parametrize("name", ["wine", "voting", "zoo", "hepatitis"])
@pytest.mark.parametrize("keep", ["best", td.Within(20)], ids=str)
def test_real_tables_as_the_lattice_has_them(name: str, keep: str | td.Within) -> None:
    table = td.read_table(DATA / f"{name}.csv", types={"*": "categorical"})
    dense = td.score(table, td.BIC(), keep=keep).store
    epsilon = -1.0 if keep == "best" else math.log(20)
    found = pruned(table, td.BIC(), Pruning(epsilon)).store
    assert np.array_equal(found.lists.offsets, dense.lists.offsets)
    for x in range(found.n):
        for mask in found.lists.masks[found.lists.offsets[x] : found.lists.offsets[x + 1], 0].tolist():
            assert found.value(x, mask) == pytest.approx(dense.value(x, mask), abs=1e-6)


# ---- What cannot be done, or not in time


def test_scores_without_rules_ask_for_a_limit() -> None:
    table = sampled_table(24, 50, seed=1)
    with pytest.raises(ScoreError, match="max_parents"):
        pruned(table, td.qNML(), Pruning())
    assert pruned(table, td.qNML(), Pruning(), max_parents=2).limit == 2


def test_scores_that_are_no_set_functions_are_refused() -> None:
    table = sampled_table(5, 50, seed=1)
    with pytest.raises(ScoreError, match="BDs"):
        pruned(table, td.BDs(), Pruning(), max_parents=2)


def test_the_memory_limit_is_kept() -> None:
    table = sampled_table(40, 100, seed=1)
    with pytest.raises(TooLarge, match="max_parents"):
        score_pruned(ScoringTask(table, scored_columns(table), td.BDeu()), Run(memory_limit="1MB"))


def test_the_time_limit_is_kept_and_progress_told() -> None:
    """Counting takes far longer than until it tells of itself, and then it is enough."""
    table = sampled_table(60, 400, seed=1, states=(2, 4))
    phases = []

    def told(progress: td.types.Progress) -> None:
        phases.append(progress.phase)
        if progress.phase == "counting":
            raise KeyboardInterrupt

    for run in (Run(time_limit=0), Run(on_progress=told)):
        assert score_pruned(ScoringTask(table, scored_columns(table), td.BDeu(), 6), run) is None
    assert phases[-1] == "counting"
