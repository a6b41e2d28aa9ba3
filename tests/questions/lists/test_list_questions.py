"""What may be asked of which scores, and lists of small and odd tables."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from list_checks import all_listed
from strategies import table_of

import topdag as td
from topdag.search.family_lists import FamilyLists


@pytest.mark.parametrize("k", [0, -1, True, 1.0, 2.5, "3", None, [1], 10**9 + 1, math.nan])
def test_k_is_checked(k: object) -> None:
    scores = td.score(td.example_table(), td.BIC())
    for ask in (td.k_best_networks, td.k_best_classes):
        with pytest.raises(ValueError, match=r"k must be a whole number from 1 to 1,000,000,000"):
            ask(scores, k)
    if k is not None:
        for ask in (td.networks_within, td.classes_within):
            with pytest.raises(ValueError, match="at_most must be a whole number"):
                ask(scores, 3, at_most=k)


WITHIN = (
    td.networks_within,
    td.classes_within,
    td.count_networks_within,
    td.count_classes_within,
    td.iter_networks_within,
)


@pytest.mark.parametrize("factor", [0, 0.999, -3, True, "3", None, math.nan, math.inf, -math.inf, [2]])
@pytest.mark.parametrize("ask", WITHIN, ids=lambda ask: ask.__name__)
def test_factors_are_checked(factor: object, ask: Callable[..., object]) -> None:
    with pytest.raises(ValueError, match="A Bayes factor is a number from 1 on"):
        ask(td.score(td.example_table(), td.BIC()), factor)


@pytest.mark.parametrize("ask", WITHIN, ids=lambda ask: ask.__name__)
def test_pruned_scores_are_refused_where_they_do_not_suffice(ask: Callable[..., object]) -> None:
    table = td.example_table()
    with pytest.raises(td.ScoreError, match=rf"{ask.__name__} needs more .* pruned for the best network only.*keep="):
        ask(td.score(table, td.BDeu(), keep="best"), 1)
    kept = td.score(table, td.BDeu(), keep=td.Within(20))
    for factor in (1, 3, 20):
        assert ask(kept, factor) is not None
    for factor in (math.nextafter(20, 21), 150):
        with pytest.raises(td.ScoreError, match=r"pruned for networks within a factor of 20"):
            ask(kept, factor)


@pytest.mark.parametrize("ask", [td.k_best_networks, td.k_best_classes], ids=lambda ask: ask.__name__)
@pytest.mark.parametrize("keep", ["best", td.Within(1000)])
def test_the_k_best_need_everything(ask: Callable[..., object], keep: object) -> None:
    """Nobody knows beforehand how far behind the k-th will be."""
    with pytest.raises(td.ScoreError, match=f"{ask.__name__} needs more families"):
        ask(td.score(td.example_table(), td.BDeu(), keep=keep), 2)


def test_a_file_that_does_not_say_is_good_for_the_best_only(tmp_path) -> None:
    path = tmp_path / "all.jkl"
    everything = td.score(td.example_table(), td.BDeu())
    td.io.write_scores(path, everything)
    with pytest.raises(td.ScoreError, match=r'read_scores\(path, keep="all"\)'):
        td.k_best_networks(td.io.read_scores(path), 2)
    read = td.k_best_networks(td.io.read_scores(path, keep="all"), 200)
    assert np.array_equal(read.parents, td.k_best_networks(everything, 200).parents)


def test_a_table_is_scored_with_bic(tmp_path) -> None:
    table = td.example_table()
    scores = td.score(table, td.BIC())
    assert np.array_equal(td.k_best_networks(table, 50).parents, td.k_best_networks(scores, 50).parents)
    assert td.count_networks_within(table, 20) == len(td.networks_within(table, 20))
    assert td.k_best_networks(table, 1)[0] == td.networks_within(table, 1)[0]


@pytest.mark.parametrize("keep_constant", [False, True])
def test_all_columns_constant(keep_constant: bool) -> None:
    """Nothing varies: without keep_constant the empty network is the only one; with it all networks tie."""
    scores = td.score(table_of(np.zeros((3, 7), int), [1] * 3, keep_constant=keep_constant), td.BDeu())
    count = 25 if keep_constant else 1
    for found in (td.k_best_networks(scores, 30), td.networks_within(scores, 3)):
        assert len(found) == count
        assert found.proof.status is td.types.Status.PROVED
        assert set(found.scores.tolist()) == {0.0}
        assert found[0].edges == ()
        assert found[0].score == 0.0
        assert len(set(found)) == count
        assert found.shares.sum() == pytest.approx(1)
    assert td.count_networks_within(scores, 3) == count
    assert len(set(td.iter_networks_within(scores, 3))) == count


def test_one_varying_column() -> None:
    scores = td.score(table_of(np.array([[0] * 6, [0, 1, 0, 1, 1, 1], [0] * 6]), [1, 2, 1]), td.BDeu())
    found = td.k_best_networks(scores, 10)
    assert len(found) == 1
    assert found.parents.shape == (1, 1)
    assert found[0].edges == ()
    assert found[0].score == td.best_network(scores).score
    assert td.count_networks_within(scores, 100) == 1
    assert [network.edges for network in td.iter_networks_within(scores, 100)] == [()]


def test_one_listed_variable() -> None:
    scores = all_listed(FamilyLists.build(["alone"], [(0, (), -2.5)]))
    found = td.networks_within(scores, 5)
    assert [(network.names, network.score) for network in found] == [(("alone",), -2.5)]
    assert found.scores.tolist() == [-2.5]


def test_constant_columns_stay_isolated() -> None:
    table = td.example_table()
    codes = np.insert(table.codes, [0, 3], 0, axis=0)
    names = [*table.names[:0], "flat", *table.names[:3], "still", *table.names[3:]]
    states = [["x"], *table.states[:3], ["y"], *table.states[3:]]
    wider = td.Table.from_codes(names, codes, weights=table.weights, states=states)
    plain, found = td.networks_within(table, 20), td.networks_within(wider, 20)
    assert found.scored_names == table.names
    assert np.array_equal(found.parents, plain.parents)
    assert [network.edges for network in found] == [network.edges for network in plain]
    assert all(network.names == tuple(names) for network in found)
    assert td.count_networks_within(wider, 20) == len(plain)
    assert {network.edges for network in td.iter_networks_within(wider, 20)} == {network.edges for network in plain}


def test_no_network_is_allowed() -> None:
    """Each needs the other as a parent."""
    scores = all_listed(FamilyLists.build(["a", "b"], [(0, (1,), -1.0), (1, (0,), -1.0)]))
    for found in (td.k_best_networks(scores, 3), td.networks_within(scores, 3)):
        assert len(found) == 0
        assert list(found) == list(found.to_dicts()) == []
        assert found.proof.status is td.best_network(scores).proof.status is td.types.Status.INFEASIBLE
        assert found.factors.shape == found.shares.shape == (0,)
        assert "empty" in repr(found)
    assert td.count_networks_within(scores, 3) == 0
    assert list(td.iter_networks_within(scores, 3)) == []
