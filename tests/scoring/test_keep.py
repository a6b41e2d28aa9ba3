"""Scores kept for the k best: just the families that these need, for no other question."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from brute_force import values_of
from hypothesis import given, settings
from hypothesis import strategies as st
from pruning_checks import KS, kth_best, kth_best_class, occurring, small_tables, totals_of
from strategies import table_of

import topdag as td
from topdag._util.run import Run
from topdag.questions import alternatives
from topdag.questions.network_search import search_networks
from topdag.scoring import dominance as pruning
from topdag.scoring.keep import KBest


@pytest.mark.parametrize("kind", [td.BIC(), td.BDeu(), td.K2(), td.BDs()], ids=repr)
@settings(max_examples=60)
@given(table=small_tables, k=st.sampled_from(KS), limit=st.none() | st.integers(0, 2))
def test_scores_for_the_k_best_hold_just_the_families_these_have(
    kind: object, table: td.Table, k: int, limit: int | None
) -> None:
    """All networks that score at least as the k-th best class (if scores are not equivalent, network), but for
    rounding."""
    everything, kept = (td.score(table, kind, max_parents=limit, keep=keep) for keep in ("all", KBest(k)))
    n = len(everything.columns)
    if n == 0:
        return
    values = values_of(everything)
    totals = totals_of(values)
    if kind.score_equivalent and limit is None:
        wanted = totals >= kth_best_class(totals, n, k) - everything.slack
        needed = occurring(wanted & (totals > -math.inf), n)
        assert np.array_equal(values_of(kept), np.where(needed, values, -math.inf))
    elif not kind.score_equivalent:
        wanted = totals >= kth_best(totals, k) - everything.slack
        needed = occurring(wanted & (totals > -math.inf), n)
        assert np.array_equal(values_of(kept), np.where(needed, values, -math.inf))
    assert kept.keep == KBest(k)
    assert (kept.grid, kept.columns, kept.max_parents) == (everything.grid, everything.columns, limit)


@pytest.mark.parametrize("kind", [td.BIC(), td.BDeu(), td.K2()], ids=repr)
@settings(max_examples=40)
@given(table=small_tables, k=st.sampled_from(KS), limit=st.none() | st.integers(0, 2), data=st.data())
def test_lists_from_scores_for_the_k_best_are_the_same_in_every_place(
    kind: object, table: td.Table, k: int, limit: int | None, data: st.DataObject
) -> None:
    everything, kept = (td.score(table, kind, max_parents=limit, keep=keep) for keep in ("all", KBest(k)))
    fewer = data.draw(st.integers(1, k))
    questions = [td.k_best_networks] + [td.k_best_classes] * everything.score_equivalent
    for ask, amount in itertools.product(questions, (fewer, k)):
        expected, found = ask(everything, amount), ask(kept, amount)
        assert np.array_equal(found.scores, expected.scores)
        assert np.array_equal(found.parents, expected.parents)
        assert found.floor == expected.floor or len(found) < amount
    assert td.best_network(kept).network == td.best_network(everything).network


@settings(max_examples=40)
@given(small_tables, st.sampled_from(KS))
def test_family_bounds_say_the_same(table: td.Table, k: int) -> None:
    """M of every family against the threshold that the list itself shows."""
    scores = td.score(table, td.BIC())
    if len(scores.columns) < 2:
        return
    classes = td.k_best_classes(scores, k)
    threshold = classes.scores[-1] - scores.slack if len(classes) == k else -math.inf
    kept = td.score(table, td.BIC(), keep=KBest(k))
    names = [scores.names[v] for v in scores.columns]
    for name in names:
        reaching = {parents for parents, _ in scores.families(name) if scores.family_bound(name, parents) >= threshold}
        assert {parents for parents, _ in kept.families(name)} == reaching


def test_scores_for_the_k_best_answer_no_other_question() -> None:
    scores = td.score(td.example_table(), td.BDeu(), keep=KBest(20))
    assert len(td.k_best_networks(scores, 20)) == len(td.k_best_classes(scores, 20)) == 20
    assert len(td.networks_within(scores, 3, at_most=20)) <= 20
    assert len(search_networks(scores, 20)) == 20
    refused = [
        lambda: td.k_best_networks(scores, 21),
        lambda: td.k_best_classes(scores, 21),
        lambda: td.networks_within(scores, 1),
        lambda: td.networks_within(scores, 3, at_most=21),
        lambda: td.classes_within(scores, 1),
        lambda: td.count_networks_within(scores, 1),
        lambda: td.count_classes_within(scores, 1),
        lambda: next(td.iter_networks_within(scores, 1)),
        lambda: scores.family_bound("lung"),
        lambda: alternatives.edge_alternatives(scores),
    ]
    for ask in refused:
        with pytest.raises(td.ScoreError, match=r"needs more families .* pruned for the 20 best\. Score again"):
            ask()


@pytest.mark.parametrize("keep", ["best", td.Within(20)])
def test_scores_for_other_questions_do_not_answer_the_k_best(keep: object) -> None:
    scores = td.score(td.example_table(), td.BDeu(), keep=keep)
    kept = "the best network only" if keep == "best" else "networks within a factor of 20"
    for ask in (td.k_best_networks, td.k_best_classes):
        with pytest.raises(td.ScoreError, match=f"pruned for {kept}"):
            ask(scores, 1)


def test_scores_for_the_k_best_of_scores_that_are_not_equivalent_list_no_classes() -> None:
    with pytest.raises(td.ScoreError, match="score-equivalent"):
        td.k_best_classes(td.score(td.example_table(), td.K2(), keep=KBest(5)), 5)


@pytest.mark.parametrize("k", [0, -1, True, 1.0, "3", None, math.inf, 10**9])
def test_bad_k(k: object) -> None:
    with pytest.raises(td.ScoreError, match="KBest takes a whole number from 1 on, below 1,000,000,000"):
        KBest(k)


def test_files_say_that_scores_were_kept_for_the_k_best(tmp_path: Path) -> None:
    scores = td.score(td.example_table(), td.BIC(), keep=KBest(30))
    td.io.write_scores(tmp_path / "kept.npz", scores)
    again = td.io.read_scores(tmp_path / "kept.npz")
    assert again.keep == KBest(30)
    assert np.array_equal(td.k_best_classes(again, 30).parents, td.k_best_classes(scores, 30).parents)
    td.io.write_scores(tmp_path / "kept.jkl", scores)
    listed = td.io.read_scores(tmp_path / "kept.jkl", keep=KBest(30))
    assert np.array_equal(td.k_best_networks(listed, 30).parents, td.k_best_networks(scores, 30).parents)
    with pytest.raises(td.ScoreError, match="pruned for the 30 best"):
        td.k_best_networks(listed, 31)


def test_keeping_for_the_k_best_respects_limits() -> None:
    table = td.random_network(12, seed=3).sample(200, seed=3)
    with pytest.raises(td.TooLarge, match="The lattice on 12 variables needs"):
        td.score(table, td.BIC(), keep=KBest(10), memory_limit="250kB")
    scores = td.score(table, td.BIC())
    assert pruning.store_for_k_best(scores.store, table.names, 10, Run(time_limit=0.0), of_classes=True) is None


def test_all_families_stay_where_k_networks_are_not_to_be_found() -> None:
    table = td.example_table()
    scores = td.score(table, td.BIC())
    kept = pruning.store_for_k_best(scores.store, table.names, 1000, Run(), of_classes=False, furthest=0.5)
    assert kept is scores.store
    pair = td.Table({"a": [0, 1, 1], "b": [1, 0, 1]})
    assert len(td.k_best_networks(td.score(pair, td.BIC(), keep=KBest(4)), 4)) == 3


@pytest.mark.parametrize("k", [1, 100, 10**6])
def test_scores_with_hopeless_sets_left_out_answer_alike(k: int) -> None:
    """Many states: some sets are left out (docs/explanation/method.md), so a list may end at the cut-off."""
    rng = np.random.default_rng(1)
    table = table_of(rng.integers(0, 30, (5, 60)), [30] * 5)
    everything, kept = (td.score(table, td.BIC(), keep=keep) for keep in ("all", KBest(k)))
    assert everything.cutoff < math.inf
    expected, found = td.k_best_networks(everything, k), td.k_best_networks(kept, k)
    assert np.array_equal(found.parents, expected.parents)
    assert found.proof.status is expected.proof.status
