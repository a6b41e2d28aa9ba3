"""Lists of networks against all networks of up to five variables, ties in their order."""

from __future__ import annotations

import math

import numpy as np
import pytest
import reference
from brute_force import gaps, least_factor, network_scores, ranked, values_of, within
from hypothesis import given, settings
from hypothesis import strategies as st
from list_checks import (
    all_listed,
    assert_complete,
    assert_in_order,
    drawn_tables,
    every_case,
    interesting_counts,
    random_lists,
)
from strategies import ALL_CASES, Case, sampled_table, table_of, tables, tied_lists

import topdag as td
from topdag.search.family_lists import FamilyLists


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
    assert found.proof.status is td.types.Status.STOPPED
    assert "cut-off" in found.proof.limit
    assert found.floor >= found.scores[0] - 1000
    assert scores.local("V0", ["V1"]) < scores.local("V0") - 1000
    assert td.networks_within(scores, 1e300).proof.status is td.types.Status.PROVED


@pytest.mark.parametrize("at_most", [1, 2, 7, 100, 10**6])
def test_at_most(at_most: int) -> None:
    scores = td.score(td.example_table(), td.BDeu())
    whole = td.networks_within(scores, 100)
    some = td.networks_within(scores, 100, at_most=at_most)
    assert some.proof.status is td.types.Status.PROVED
    assert np.array_equal(some.scores, whole.scores[:at_most])
    assert np.array_equal(some.parents, whole.parents[:at_most])
    assert (whole.scores > some.floor).sum() <= len(some)


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
