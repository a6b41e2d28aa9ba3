"""Lists of networks: against all networks of up to five variables, against published counts, and stopped half-way."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
import reference
from brute_force import gaps, least_factor, network_scores, ranked, values_of, within
from hypothesis import given, settings
from hypothesis import strategies as st
from published import DATA
from strategies import ALL_CASES, BDE, Case, sampled_table, table_of, tables, tied_lists

import topdag as td
from topdag.family_lists import FamilyLists
from topdag.lists import BestList
from topdag.network_search import search_networks
from topdag.score_kinds import ScoreKind
from topdag.scores import Scores, scores_from_lists

every_case = pytest.mark.parametrize("case", ALL_CASES, ids=repr)


def all_listed(lists: FamilyLists) -> Scores:
    """Scores in which the families listed are all there are, for every question."""
    return scores_from_lists(lists, keep="all")


def random_lists(n: int, seed: int, *, spread: int, missing: float, unit: float = 1.0) -> FamilyLists:
    """Every family but some missing ones, with scores 0, -1 ... -spread in these units."""
    rng = np.random.default_rng(seed)
    listed = [
        (x, reference.members(mask), float(-rng.integers(0, spread + 1)) * unit)
        for x in range(n)
        for mask in range(2**n)
        if not mask >> x & 1 and (rng.random() >= missing or (mask == 0 and seed % 2 == 0))
    ]
    listed += [(x, (), -spread * unit) for x in range(n) if not any(family[0] == x for family in listed)]
    return FamilyLists.build([f"V{v}" for v in range(n)], listed)


def assert_best(found: td.NetworkList, scores: Scores, expected: tuple[np.ndarray, np.ndarray]) -> None:
    """These networks in this order, each with its score."""
    values, masks = expected
    assert np.array_equal(found.scores, values)
    assert np.array_equal(found.parents, masks)
    assert len(found) == len(values)
    assert found.scored_names == tuple(scores.names[v] for v in scores.columns)


def assert_complete(found: td.NetworkList, scores: Scores, ranks: tuple[np.ndarray, np.ndarray], count: int) -> None:
    """The first ``count`` networks, and a floor above which there are no others."""
    values, masks = ranks
    count = min(count, len(values))
    assert_best(found, scores, (values[:count], masks[:count]))
    assert found.proof.limit is None
    assert found.proof.gap == 0.0
    if not len(values):
        assert found.proof.status is td.Status.INFEASIBLE
        return
    assert found.proof.status is td.Status.PROVED
    assert found.proof.bound == values[0]
    assert (values > found.floor).sum() <= count


def interesting_counts(total: int, rng: np.random.Generator) -> list[int]:
    some = rng.integers(1, total + 2, 3).tolist()
    return sorted({1, 2, 3, 10, *some, max(1, total - 1), max(1, total), total + 1, 10 * total + 7})


# ---- Against all networks: lists with ties


@settings(max_examples=80)
@given(tied_lists(variables=(1, 4)), st.integers(0, 2**32))
def test_k_best_of_lists_with_ties(lists: FamilyLists, seed: int) -> None:
    scores = all_listed(lists)
    ranks = ranked(scores)
    for k in interesting_counts(len(ranks[0]), np.random.default_rng(seed)):
        for threads in (1, 2, 3):
            assert_complete(td.k_best_networks(scores, k, threads=threads), scores, ranks, k)


@settings(max_examples=35)
@given(tied_lists(variables=(1, 4)))
def test_within_a_factor_of_lists_with_ties(lists: FamilyLists) -> None:
    """At the least factor that reaches a tie, its neighbours on both sides, and between ties."""
    scores = all_listed(lists)
    values, masks = ranked(scores)
    for gap in gaps(values):
        edge = least_factor(gap, scores.grid)
        for factor in {max(1.0, math.nextafter(edge, 0.0)), edge, math.nextafter(edge, math.inf), edge * 1.3}:
            count = within(values, factor, scores.grid)
            assert count == (values >= values[0] - gap).sum() or factor < edge
            for threads in (1, 2, 3):
                assert_complete(td.networks_within(scores, factor, threads=threads), scores, (values, masks), count)
            assert td.count_networks_within(scores, factor) == count


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("spread", [0, 1, 3, 1000])
def test_lists_of_five_variables(seed: int, spread: int) -> None:
    """All 29,281 networks, with families missing in half of the tables and none but ties in a quarter."""
    scores = all_listed(random_lists(5, seed, spread=spread, missing=0.3 * (seed % 4)))
    ranks = ranked(scores)
    total = len(ranks[0])
    assert total == 29_281 or seed % 4
    threads = 1 + seed % 3
    for k in interesting_counts(total, np.random.default_rng(seed)):
        assert_complete(td.k_best_networks(scores, k, threads=threads), scores, ranks, k)
    for gap in gaps(ranks[0])[:6]:
        edge = least_factor(gap, scores.grid)
        for factor in {edge, max(1.0, math.nextafter(edge, 0.0))}:
            count = within(ranks[0], factor, scores.grid)
            assert_complete(td.networks_within(scores, factor, threads=threads), scores, ranks, count)


def test_a_network_on_the_edge_is_within() -> None:
    """a -> b is exactly a factor of e behind; so is b -> a, by another rounding."""
    lists = FamilyLists.build(["a", "b"], [(0, (), 0.0), (1, (), 0.0), (1, (0,), -1.0), (0, (1,), -1.0)])
    scores = all_listed(lists)
    edge = least_factor(1.0, scores.grid)
    assert math.log(edge) >= 1.0
    assert edge == pytest.approx(math.e)
    assert len(td.networks_within(scores, edge)) == 3
    assert len(td.networks_within(scores, math.nextafter(edge, 0.0))) == 1
    assert len(td.networks_within(scores, 1)) == 1


# ---- Against all networks: tables


def drawn_tables(case: Case, **options: Any) -> st.SearchStrategy[td.Table]:
    more = {"most_cells": 120} if case is BDE else {}
    return tables(most_states=3, rows=(1, 2, 5, 40), weights=((1,), (1, 2, 17)), **options, **more)


@every_case
@settings(max_examples=6)
@given(st.data())
def test_lists_of_random_tables(case: Case, data: st.DataObject) -> None:
    table = data.draw(drawn_tables(case, variables=(2, 4)))
    scores = td.score(table, case.make(table), max_parents=data.draw(st.none() | st.integers(0, 3)))
    ranks = ranked(scores)
    k = data.draw(st.integers(1, len(ranks[0]) + 1))
    factor = data.draw(st.sampled_from([1, 1.5, 3, 20.0, 150, 1e6]))
    gap = data.draw(st.sampled_from(gaps(ranks[0])))
    for threads in (1, 2, 3):
        assert_complete(td.k_best_networks(scores, k, threads=threads), scores, ranks, k)
        for reach in (factor, least_factor(gap, scores.grid)):
            count = within(ranks[0], reach, scores.grid)
            assert_complete(td.networks_within(scores, reach, threads=threads), scores, ranks, count)
            assert td.count_networks_within(scores, reach, threads=threads) == count


@pytest.mark.parametrize("case", ALL_CASES, ids=repr)
def test_all_networks_of_a_table_of_five(case: Case) -> None:
    table = sampled_table(5, 60, seed=7, states=(2, 3))
    scores = td.score(table, case.make(table))
    ranks = ranked(scores)
    assert_complete(td.k_best_networks(scores, 10**6), scores, ranks, 29_281)
    assert_complete(td.k_best_networks(scores, 1000), scores, ranks, 1000)
    assert_complete(td.networks_within(scores, 1e4), scores, ranks, within(ranks[0], 1e4, scores.grid))


@settings(max_examples=15)
@given(tables(variables=(3, 4), most_states=3, rows=(5, 40), weights=((1,),)), st.sampled_from([1.0, 3.0, 50.0, 1e5]))
def test_pruned_for_a_factor_lists_the_same(table: td.Table, factor: float) -> None:
    """Every network on the edge is still there when families that no such network has are not."""
    everything = td.score(table, td.BDeu())
    ranks = ranked(everything)
    gap = max(gap for gap in gaps(ranks[0]) if gap <= math.log(factor))
    factor = least_factor(gap, everything.grid)
    kept = td.score(table, td.BDeu(), keep=td.Within(factor))
    count = within(ranks[0], factor, everything.grid)
    assert_complete(td.networks_within(kept, factor), kept, ranks, count)
    assert td.count_networks_within(kept, factor) == count


@pytest.mark.parametrize("kind", [td.BIC(), td.AIC()], ids=repr)
@pytest.mark.parametrize("wide", [20, 100])
def test_columns_with_many_states_and_few_rows(wide: int, kind: td.BIC | td.AIC) -> None:
    """Families that cost more than any data could explain make networks too, for who asks for that many."""
    table = table_of(np.random.default_rng(0).integers(0, wide, (3, 6)), [wide] * 3)
    scores = td.score(table, kind)
    assert len(ranked(scores)[0]) == 25
    assert_complete(td.k_best_networks(scores, 30), scores, ranked(scores), 25)


@pytest.mark.parametrize("kind", [td.BIC(), td.AIC()], ids=repr)
@pytest.mark.parametrize(("n", "wide"), [(3, 60_000), (13, 1000)])
def test_columns_with_far_too_many_states(n: int, wide: int, kind: td.BIC | td.AIC) -> None:
    """Where such families are left out, the list says how far down it is complete."""
    table = table_of(np.random.default_rng(0).integers(0, wide, (n, 6)), [wide] * n)
    scores = td.score(table, kind)
    found = td.k_best_networks(scores, 25)
    assert [network.edges for network in found] == [()]
    assert found.proof.status is td.Status.STOPPED
    assert "cut-off" in found.proof.limit
    assert found.floor >= found.scores[0] - 1000
    assert scores.local("V0", ["V1"]) < scores.local("V0") - 1000
    assert td.networks_within(scores, 1e300).proof.status is td.Status.PROVED


# ---- Streams, counts and limits on length


@every_case
@settings(max_examples=5)
@given(st.data())
def test_a_stream_gives_each_network_once(case: Case, data: st.DataObject) -> None:
    table = data.draw(drawn_tables(case, variables=(2, 4)))
    scores = td.score(table, case.make(table))
    factor = data.draw(st.sampled_from([1, 3.0, 1e3, 1e9]))
    listed = td.networks_within(scores, factor)
    streamed = list(td.iter_networks_within(scores, factor))
    assert len(streamed) == len(listed) == td.count_networks_within(scores, factor)
    assert {(network, network.score) for network in streamed} == {(network, network.score) for network in listed}


def test_streams_as_long_as_their_batches() -> None:
    """Without ties, so that a stream can end with a full batch, or just beside it."""
    scores = all_listed(random_lists(5, 2, spread=10**6, missing=0.0, unit=1e-6))
    values, masks = ranked(scores)
    for count in (1, 999, 1000, 1001, 2000, 3001):
        assert values[count - 1] > values[count]
        factor = least_factor(values[0] - values[count - 1], scores.grid)
        streamed = [network.masks for network in td.iter_networks_within(scores, factor)]
        assert sorted(streamed) == sorted(map(tuple, masks[:count].tolist()))


def test_a_stream_can_be_left() -> None:
    scores = td.score(td.example_table(), td.BDeu())
    stream = td.iter_networks_within(scores, 1e6)
    first = [next(stream) for _ in range(5)]
    stream.close()
    assert len(set(first)) == 5
    assert all(scores.of(network) == pytest.approx(network.score) for network in first)


def test_streams_side_by_side() -> None:
    """Two streams of two tables, taken in turn, do not mix."""
    one = td.score(td.example_table(), td.BDeu())
    other = td.score(td.example_table(500), td.BIC())
    turns = zip(td.iter_networks_within(one, 30), td.iter_networks_within(other, 30), strict=False)
    for a, b in list(turns):
        assert one.of(a) == pytest.approx(a.score)
        assert other.of(b) == pytest.approx(b.score)


@pytest.mark.parametrize("at_most", [1, 2, 7, 100, 10**6])
def test_at_most(at_most: int) -> None:
    scores = td.score(td.example_table(), td.BDeu())
    whole = td.networks_within(scores, 100)
    some = td.networks_within(scores, 100, at_most=at_most)
    assert some.proof.status is td.Status.PROVED
    assert np.array_equal(some.scores, whole.scores[:at_most])
    assert np.array_equal(some.parents, whole.parents[:at_most])
    assert (whole.scores > some.floor).sum() <= len(some)


def test_lists_grow_at_their_end_only() -> None:
    """The k best are the beginning of the k + 1 best, ties included, whatever passes it took to find them."""
    scores = td.score(sampled_table(9, 60, seed=2), td.BDeu())
    long = td.k_best_networks(scores, 20_000)
    for k in (1, 2, 3, 5, 17, 100, 511, 512, 513, 1024, 5000, 19_999):
        for threads in (1, 2, 3):
            short = td.k_best_networks(scores, k, threads=threads)
            assert np.array_equal(short.scores, long.scores[:k])
            assert np.array_equal(short.parents, long.parents[:k])
    assert np.unique(long.parents, axis=0).shape == long.parents.shape


def one_row(n: int, max_parents: int | None = None) -> Scores:
    """All networks of these tie."""
    return td.score(table_of(np.zeros((n, 1), int), [2] * n), td.BDeu(), max_parents=max_parents)


@pytest.mark.parametrize("max_parents", [None, 1, 2])
@pytest.mark.parametrize("n", [8, 11, 14])
def test_a_list_ends_however_many_tie_with_its_last(n: int, max_parents: int | None) -> None:
    scores = one_row(n, max_parents)
    for ask in (td.k_best_networks, td.k_best_classes, search_networks):
        found = ask(scores, 10)
        assert found.proof.status is td.Status.PROVED
        assert len(set(found)) == 10
        assert set(found.scores.tolist()) == {found.floor}
    assert np.array_equal(search_networks(scores, 200).parents, td.k_best_networks(scores, 200).parents)


@pytest.mark.parametrize("kind", [td.qNML(), td.BDeu(), td.BIC()], ids=repr)
def test_lists_of_columns_with_many_states_end(kind: ScoreKind) -> None:
    """Every row has a state of its own, so nearly all families of one size tie."""
    table = table_of(np.random.default_rng(0).integers(0, 1000, (13, 6)), [1000] * 13)
    scores = td.score(table, kind)
    found = td.k_best_networks(scores, 25)
    assert np.array_equal(found.parents, search_networks(scores, 25).parents)
    for kept in (td.score(table, kind, keep=td.KBest(25)), td.score(table, kind, keep=td.KBest(40))):
        assert np.array_equal(td.k_best_networks(kept, 25).parents, found.parents)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_the_choice_among_ties_does_not_depend_on_threads_or_length(threads: int) -> None:
    """On sets of few different scores, so that every list ends among thousands that tie."""
    rng = np.random.default_rng(5)
    lists = random_lists(7, 5, spread=1, missing=0.5, unit=float(rng.integers(1, 5)))
    scores = all_listed(lists)
    long = td.k_best_networks(scores, 30_000, threads=1)
    assert np.array_equal(search_networks(scores, 500, block=3).parents, long.parents[:500])
    for k in (1, 100, 600, 3000, 29_999):
        assert np.array_equal(td.k_best_networks(scores, k, threads=threads).parents, long.parents[:k])


@pytest.mark.parametrize("n", [6, 7, 8, 9])
def test_larger_lists_are_sound(n: int) -> None:
    """Sorted, each network once, acyclic, with its score; the same for any number of threads."""
    scores = td.score(sampled_table(n, 50, seed=n, states=(2, 3)), td.BDeu())
    lists = [td.networks_within(scores, 200, threads=threads) for threads in (1, 2, 3)]
    found = lists[0]
    for other in lists[1:]:
        assert np.array_equal(other.scores, found.scores)
        assert np.array_equal(other.parents, found.parents)
        assert other.floor == found.floor
    assert_in_order(found)
    assert np.array_equal(network_scores(values_of(scores), found.parents), found.scores)
    assert found[0].score == pytest.approx(td.best_network(scores).score, rel=1e-12)
    assert all(reference.is_acyclic(masks) for masks in found.parents.tolist())


def assert_in_order(found: BestList[Any]) -> None:
    """Scores fall, and nothing stands twice."""
    assert (np.diff(found.scores) <= 0).all()
    assert np.unique(found.parents, axis=0).shape == found.parents.shape


# ---- What is asked


@pytest.mark.parametrize("k", [0, -1, True, 1.0, 2.5, "3", None, [1], 10**9 + 1, math.nan])
def test_k_is_checked(k: object) -> None:
    scores = td.score(td.example_table(), td.BIC())
    for ask in (td.k_best_networks, td.k_best_classes):
        with pytest.raises(ValueError, match=r"How many to list must be a whole number from 1 to 1,000,000,000"):
            ask(scores, k)
    if k is not None:
        for ask in (td.networks_within, td.classes_within):
            with pytest.raises(ValueError, match="How many to list must be a whole number"):
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
    td.write_scores(path, everything)
    with pytest.raises(td.ScoreError, match=r'read_scores\(path, keep="all"\)'):
        td.k_best_networks(td.read_scores(path), 2)
    read = td.k_best_networks(td.read_scores(path, keep="all"), 200)
    assert np.array_equal(read.parents, td.k_best_networks(everything, 200).parents)


def test_a_table_is_scored_with_bdeu_1(tmp_path) -> None:
    table = td.example_table()
    scores = td.score(table, td.BDeu())
    assert np.array_equal(td.k_best_networks(table, 50).parents, td.k_best_networks(scores, 50).parents)
    assert td.count_networks_within(table, 20) == len(td.networks_within(table, 20))
    assert td.k_best_networks(table, 1)[0] == td.networks_within(table, 1)[0]


# ---- Small and odd tables


@pytest.mark.parametrize("keep_constant", [False, True])
def test_all_columns_constant(keep_constant: bool) -> None:
    """Nothing varies: without keep_constant the empty network is the only one; with it all networks tie."""
    scores = td.score(table_of(np.zeros((3, 7), int), [1] * 3, keep_constant=keep_constant), td.BDeu())
    count = 25 if keep_constant else 1
    for found in (td.k_best_networks(scores, 30), td.networks_within(scores, 3)):
        assert len(found) == count
        assert found.proof.status is td.Status.PROVED
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
        assert found.proof.status is td.best_network(scores).proof.status is td.Status.INFEASIBLE
        assert found.factors.shape == found.shares.shape == (0,)
        assert "empty" in repr(found)
    assert td.count_networks_within(scores, 3) == 0
    assert list(td.iter_networks_within(scores, 3)) == []


# ---- The list itself


def test_a_list_is_a_sequence() -> None:
    found = td.k_best_networks(td.score(td.example_table(), td.BDeu()), 12)
    networks = list(found)
    assert len(found) == len(networks) == 12
    assert networks[0] == found[0] == found[-12] == found.network(0)
    assert found[-1] == networks[11]
    assert found[2:5] == networks[2:5]
    assert found[::-1] == networks[::-1]
    assert found[20:] == []
    assert networks[3] in found
    assert found.index(networks[3]) == 3
    for place in (12, -13):
        with pytest.raises(IndexError, match="12 items"):
            found[place]


def test_networks_of_a_list_carry_their_scores() -> None:
    scores = td.score(td.example_table(), td.BIC())
    found = td.networks_within(scores, 50)
    for network, on_grid in zip(found, found.scores, strict=True):
        assert network.score == pytest.approx(on_grid, abs=1e-9)
        assert network.score == pytest.approx(scores.of(network), rel=1e-12)
        assert dict(network.local_scores) == dict(scores.breakdown(network))


def test_factors_and_shares() -> None:
    found = td.networks_within(td.score(td.example_table(), td.BDeu()), 50)
    assert found.factors[0] == 1
    assert np.allclose(np.log(found.factors), found.scores[0] - found.scores)
    assert found.factors.max() <= 50
    assert found.shares.sum() == pytest.approx(1)
    assert np.allclose(found.shares * found.factors, found.shares[0])


def test_rows_of_a_list() -> None:
    found = td.k_best_networks(td.score(td.example_table(), td.BDeu()), 5)
    rows = list(found.to_dicts())
    assert [row["rank"] for row in rows] == [1, 2, 3, 4, 5]
    for place, row in enumerate(rows):
        network = found[place]
        assert row["score"] == network.score
        assert row["factor"] == found.factors[place]
        assert row["share"] == found.shares[place]
        assert {name: row[f"parents of {name}"] for name in network.names} == {
            name: ", ".join(parents) for name, parents in network.parents.items()
        }
    assert json.loads(json.dumps(rows)) == rows


def test_frames_of_a_list() -> None:
    pytest.importorskip("pandas")
    pyarrow = pytest.importorskip("pyarrow")
    found = td.k_best_networks(td.score(td.example_table(), td.BDeu()), 5)
    rows = list(found.to_dicts())
    assert found.to_frame().to_dict("records") == rows
    assert isinstance(found.to_arrow(), pyarrow.Table)
    assert found.to_arrow().to_pylist() == rows


def test_a_list_says_what_it_is() -> None:
    scores = td.score(td.example_table(), td.BIC(), max_parents=2)
    found = td.k_best_networks(scores, 3, threads=2)
    assert repr(found).startswith("<NetworkList: 3, scores -")
    assert "PROVED" in repr(found)
    assert "all networks on 8 variables with at most 2 parents each" in found.proof.space
    assert found.stats.threads == 2
    assert found.stats.memory > 0
    assert found.stats.seconds >= found.stats.phases["listing"] >= 0
    assert found.names == td.example_table().names


# ---- Real data [METHODS.md 0]

NETWORKS_WITHIN = {
    ("tic_tac_toe", "BDeu"): {3: 104, 20: 152, 150: 152},
    ("tic_tac_toe", "BIC"): {3: 192, 20: 192, 150: 544},
    ("wine", "BDeu"): {3: 222, 20: 8734, 150: 282_774},
    ("wine", "BIC"): {3: 308, 20: 3449, 150: 26_153},
    ("voting", "BDeu"): {3: 45, 20: 621, 150: 4359},
    ("voting", "BIC"): {3: 27, 20: 441, 150: 2222},
    ("zoo", "BDeu"): {3: 404, 20: 145_838},  # 150: slow_lists.py
    ("zoo", "BIC"): {3: 49, 20: 1111, 150: 21_679},
}


@cache
def scores_of(name: str, kind: str) -> Scores:
    path = DATA / f"{name}.csv"
    if not path.exists():
        pytest.skip(f"no {path}: counts on real data are not checked")
    return td.score(td.read_table(path), td.BIC() if kind == "BIC" else td.BDeu())


@pytest.mark.parametrize(("name", "kind"), NETWORKS_WITHIN)
def test_networks_within_a_factor_on_real_data(name: str, kind: str) -> None:
    scores = scores_of(name, kind)
    for factor, count in NETWORKS_WITHIN[name, kind].items():
        assert td.count_networks_within(scores, factor) == count
        if count < 30_000:
            found = td.networks_within(scores, factor)
            assert len(found) == count
            assert_in_order(found)
            assert np.array_equal(found.parents, td.k_best_networks(scores, count).parents)
            assert np.array_equal(found.parents, td.networks_within(scores, 1e3, at_most=count).parents)


def test_a_long_list_of_real_data() -> None:
    scores = scores_of("zoo", "BDeu")
    found = td.networks_within(scores, 20)
    assert len(found) == 145_838
    assert np.unique(found.parents, axis=0).shape == found.parents.shape
    assert (np.diff(found.scores) <= 0).all()
    assert found.scores[0] == pytest.approx(-565.761505, abs=1e-6)
    assert found.factors[-1] <= 20


def test_a_pruned_file_of_others_has_the_same_networks() -> None:
    """Scores that another program wrote and pruned for a factor of 3 [Liao et al. 2019]"""
    path = DATA / "scores" / "wine.bic.gap3.jkl"
    if not path.exists():
        pytest.skip(f"no {path}: the list of another program is not checked")
    scores = td.read_scores(path, keep=td.Within(3))
    found = td.networks_within(scores, 3)
    assert len(found) == td.count_networks_within(scores, 3) == 308
    assert found.scores[0] == pytest.approx(-1258.445909, abs=2e-6)
    own = td.networks_within(scores_of("wine", "BIC"), 3)
    place = [found.names.index(name) for name in own.names] if set(own.names) == set(found.names) else range(14)
    assert edge_sets(found, list(place)) == edge_sets(own, list(range(14)))
    with pytest.raises(td.ScoreError, match="within a factor of 3"):
        td.networks_within(scores, 3.01)


def edge_sets(found: td.NetworkList, place: list[int]) -> set[frozenset[tuple[int, int]]]:
    """The edges of each network by column; ``place``: where each column stands in the list."""
    column = {at: v for v, at in enumerate(place)}
    return {
        frozenset((column[p], column[x]) for x, mask in enumerate(masks) for p in reference.members(mask))
        for masks in found.parents.tolist()
    }


# ---- Stopped half-way


@cache
def long_scores() -> Scores:
    return td.score(sampled_table(16, 60, seed=8), td.BDeu())


LONG = 50.0


@cache
def whole_list() -> td.NetworkList:
    return td.networks_within(long_scores(), LONG)


def assert_complete_above_floor(found: BestList[Any], whole: BestList[Any]) -> None:
    """All that score above the floor, and below it nothing that is not in the whole list, nothing twice."""
    above = int((whole.scores > found.floor).sum())
    assert np.array_equal(found.parents[:above], whole.parents[:above])
    assert np.array_equal(found.scores[:above], whole.scores[:above])
    place = {row.tobytes(): i for i, row in enumerate(whole.parents[above:])} if len(found) > above else {}
    rest = [above + place[row.tobytes()] for row in found.parents[above:]]
    assert rest == sorted(set(rest))
    assert np.array_equal(found.scores[above:], whole.scores[rest])
    if found.proof.status is td.Status.STOPPED:
        assert found.proof.bound >= whole.scores[0]
    else:
        assert len(found) == len(whole)


INSTANTS = (0.0, 1e-9, 0.002, 0.005, 0.01, 0.02, 0.04, 0.08, 0.12, 0.17, 0.25, 0.35, 0.5)


def test_stopped_by_the_clock() -> None:
    whole = whole_list()
    assert len(whole) > 100_000
    statuses, lengths = set(), set()
    for threads in (1, 2):
        for limit in INSTANTS:
            found = td.networks_within(long_scores(), LONG, time_limit=limit, threads=threads)
            assert_complete_above_floor(found, whole)
            assert found.proof.limit == (None if found.proof.status is td.Status.PROVED else "time_limit")
            statuses.add(found.proof.status)
            lengths.add(len(found))
    assert td.Status.STOPPED in statuses
    assert 0 in lengths


def interrupt_after(ticks: int) -> Callable[[td.Progress], None]:
    """Ctrl-C at the given report of progress, and again at every later one."""
    seen = iter(range(10**9))

    def press(_: td.Progress) -> None:
        if next(seen) >= ticks:
            raise KeyboardInterrupt

    return press


def interrupted(ask: Callable[..., Any], *asked: Any, ticks: int) -> tuple[Any, bool]:
    """The list when Ctrl-C is pressed after so many ticks, and whether it came to that."""
    try:
        return ask(*asked, on_progress=interrupt_after(ticks)), False
    except td.Interrupted as caught:
        return caught.answer, True


@pytest.mark.parametrize("ticks", range(8))
def test_stopped_by_ctrl_c(ticks: int) -> None:
    found, stopped = interrupted(td.networks_within, long_scores(), LONG, ticks=ticks)
    assert_complete_above_floor(found, whole_list())
    if stopped and found.proof.status is td.Status.STOPPED:
        assert found.proof.limit == "Ctrl-C"


def test_k_best_stopped_by_the_clock_and_by_ctrl_c() -> None:
    k = 100_000
    whole = td.k_best_networks(long_scores(), k)
    for limit in INSTANTS:
        assert_complete_above_floor(td.k_best_networks(long_scores(), k, time_limit=limit), whole)
    for ticks in range(5):
        assert_complete_above_floor(interrupted(td.k_best_networks, long_scores(), k, ticks=ticks)[0], whole)


def test_what_was_stopped_can_be_asked_again() -> None:
    """A stopped list leaves nothing behind that changes the next one."""
    td.networks_within(long_scores(), LONG, time_limit=0.01)
    again = td.networks_within(long_scores(), 20)
    assert np.array_equal(again.parents, whole_list().parents[: len(again)])


@settings(max_examples=60)
@given(tied_lists(variables=(1, 4)))
def test_stopped_at_once(lists: FamilyLists) -> None:
    scores = all_listed(lists)
    values, masks = ranked(scores)
    for found in (td.networks_within(scores, 20, time_limit=0), td.k_best_networks(scores, 5, time_limit=0)):
        assert found.proof.status is td.Status.STOPPED
        assert found.proof.limit == "time_limit"
        assert set(map(tuple, found.parents.tolist())) <= set(map(tuple, masks.tolist()))
        assert (values > found.floor).sum() <= len(found)


def test_stopped_while_scoring() -> None:
    """Of a table nothing is known yet but a bound from its rows."""
    table = sampled_table(19, 2000, seed=3, states=(2, 4))
    best = td.best_network(table).score
    found, stopped = interrupted(td.k_best_networks, table, 10, ticks=0)
    assert stopped
    limited = td.networks_within(table, 3, time_limit=1e-9)
    for answer, limit in ((found, "Ctrl-C"), (limited, "time_limit")):
        assert len(answer) == 0
        assert answer.proof.status is td.Status.STOPPED
        assert answer.proof.limit == limit
        assert answer.floor >= best
        assert answer.names == table.names
        assert list(answer) == []


def test_progress_is_reported() -> None:
    seen: list[td.Progress] = []
    td.networks_within(long_scores(), LONG, on_progress=seen.append)
    assert {progress.phase for progress in seen} <= {"starting", "sweeping", "ordering", "bounding", "listing"}
    assert "listing" in {progress.phase for progress in seen}
    assert all(progress.fraction is None or 0 <= progress.fraction <= 1 for progress in seen)


def test_an_exception_while_reporting_stops_the_work() -> None:
    class EnoughError(Exception):
        pass

    def stop(_: td.Progress) -> None:
        raise EnoughError

    for ask in (td.networks_within, td.count_networks_within):
        with pytest.raises(EnoughError):
            ask(long_scores(), 1e5, on_progress=stop)


def test_counting_can_be_interrupted() -> None:
    with pytest.raises(KeyboardInterrupt):
        td.count_networks_within(long_scores(), 1e5, on_progress=interrupt_after(1))


def test_too_little_memory_is_refused() -> None:
    with pytest.raises(td.TooLarge, match="The lattice on 16 variables"):
        td.k_best_networks(long_scores(), 10, memory_limit="1MB")
