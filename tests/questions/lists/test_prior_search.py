"""Best-first search under the prior over orders: two ways, the same answers as trying all networks."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import brute_force
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from order_truth import EVERY, ORDERS, assert_first, ranked
from strategies import list_scores, sampled_table, tables, tied_lists

import topdag as td
from topdag import _core
from topdag._util.run import Run
from topdag.knowledge.priors import EdgePrior, FairPrior, OrderModular
from topdag.questions.network_search import search_networks
from topdag.scoring.score import scores_from_lists
from topdag.scoring.scores import Scores
from topdag.search.family_lists import FamilyLists
from topdag.search.lattice import lattice_of

DATA = Path(__file__).resolve().parents[4] / "shared" / "data"

# ---- The truth


def orders_of(parents: Sequence[int], placed: int) -> int:
    """How many orders of the placed variables agree with the network: all are tried."""
    those = [x for x in range(len(parents)) if placed >> x & 1]
    return sum(
        all(parents[x] & ~sum(1 << y for y in order[:i]) == 0 for i, x in enumerate(order))
        for order in itertools.permutations(those)
    )


@cache
def all_orders(n: int) -> NDArray[np.int64]:
    """By row of ``brute_force.networks(n)``: tested by trying all orders."""
    masks = brute_force.networks(n)
    total = np.zeros(len(masks), np.int64)
    for order in itertools.permutations(range(n)):
        agrees, before = np.ones(len(masks), bool), 0
        for x in order:
            agrees &= masks[:, x] & ~np.uint64(before) == 0
            before |= 1 << x
        total += agrees
    return total


def by_orders(scores: Scores) -> tuple[list[float], list[list[int]]]:
    return ranked(scores, np.log(all_orders(len(scores.columns)).astype(float)))


# ---- Both ways and the truth


@settings(max_examples=60, deadline=None)
@given(lists=tied_lists(), k=st.sampled_from([1, 1, 2, 7, 60, EVERY]), block=st.integers(1, 12))
def test_both_ways_give_the_best_networks(lists: FamilyLists, k: int, block: int) -> None:
    scores = scores_from_lists(lists, keep="all")
    truth = by_orders(scores)
    for published in (False, True):
        found = search_networks(scores, k, prior=ORDERS, published=published, block=block)
        if k > 1:
            assert_first(found, truth, k)
        else:  # of those that tie, any: who cannot be better is not looked at
            assert len(found) == min(1, len(truth[0]))
            assert all(abs(value - truth[0][0]) <= 1e-9 for value in found.scores)


@settings(max_examples=20, deadline=None)
@given(table=tables(variables=(2, 4)), k=st.integers(1, 50))
def test_values_are_scores_and_log_weights(table: td.Table, k: int) -> None:
    """With constant columns too, which can stand anywhere in an order."""
    scores = td.score(table, td.BDeu(1.0))
    found = search_networks(scores, k, prior=ORDERS)
    assert len(found) >= 1
    for network, value in zip(found, found.scores, strict=True):
        assert network.score + ORDERS.log_weight(network) == pytest.approx(value, abs=1e-6)
    published = search_networks(scores, k, prior=ORDERS, published=True)
    np.testing.assert_allclose(found.scores, published.scores, rtol=0, atol=1e-9)


def test_ways_agree_on_more_variables() -> None:
    scores = td.score(sampled_table(9, 200, 3), td.BDeu(1.0))
    for k in (1, 40):
        tree = search_networks(scores, k, prior=ORDERS)
        paths = search_networks(scores, k, prior=ORDERS, published=True)
        assert tree.parents.tolist() == paths.parents.tolist()
        assert tree.scores.tolist() == paths.scores.tolist()
        assert tree.stats.work["expanded"] < paths.stats.work["expanded"]


@given(lists=tied_lists(variables=(1, 4), always_empty_set=True))
@settings(max_examples=25, deadline=None)
def test_dominated_families_are_not_missed(lists: FamilyLists) -> None:
    """Scores kept for the best will do for the best under this prior: fewer edges never mean fewer orders."""
    every = scores_from_lists(lists, keep="all")
    best = search_networks(every, 1, prior=ORDERS)
    undominated = {
        (x, mask): every.store.value(x, mask)
        for x in range(every.store.n)
        for mask in range(1 << every.store.n)
        if not mask >> x & 1 and every.store.value(x, mask) > -math.inf
        if all(every.store.value(x, sub) < every.store.value(x, mask) for sub in range(mask) if sub & ~mask == 0)
    }
    few = FamilyLists.build(
        lists.names, [(x, [v for v in range(8) if m >> v & 1], s) for (x, m), s in undominated.items()]
    )
    assert search_networks(scores_from_lists(few, keep="all"), 1, prior=ORDERS).scores == pytest.approx(
        best.scores, abs=1e-9
    )


@settings(max_examples=40, deadline=None)
@given(lists=tied_lists(), block=st.integers(1, 5))
def test_whatever_is_left_out_the_best_is_found(lists: FamilyLists, block: int) -> None:
    """Dominated families, and all but the best of the networks with the same paths between variables."""
    scores = scores_from_lists(lists, keep="all")
    lattice = lattice_of(scores.store, Run())
    assert lattice is not None
    best = by_orders(scores)[0][:1]
    found = _core.search_uniform_orders(lattice, 1, block, 10**9, _core.Limits())
    np.testing.assert_allclose(found.scores, best, rtol=0, atol=1e-9)
    assert len(best) == 0 or found.counts.expanded >= scores.store.n + 1


@settings(max_examples=25, deadline=None)
@given(lists=tied_lists(variables=(1, 4)))
def test_the_bound_on_orders_never_falls_short(lists: FamilyLists) -> None:
    """Of any network and any set that can come first in one of its orders: what the rest adds is within the bound. And
    no step promises less than what it leads to: the bound is consistent."""
    scores = list_scores(lists)
    n, value = scores.store.n, scores.store.value
    lattice = lattice_of(scores.store, Run())
    assert lattice is not None
    bounds = _core.order_bounds(lattice, _core.Limits())
    assert bounds[-1] == 0.0
    for parents in brute_force.networks(n).tolist():
        locals_ = [value(x, parents[x]) for x in range(n)]
        if -math.inf in locals_:
            continue
        worth = {}
        for placed in range(1 << n):
            members = [x for x in range(n) if placed >> x & 1]
            if all(parents[x] & ~placed == 0 for x in members):
                worth[placed] = sum(locals_[x] for x in members) + math.log(orders_of(parents, placed))
        for placed, part in worth.items():
            assert worth[(1 << n) - 1] - part <= bounds[placed] + 1e-9
            for x in (x for x in range(n) if placed | 1 << x != placed and placed | 1 << x in worth):
                grown = worth[placed | 1 << x] - part
                assert grown + bounds[placed | 1 << x] <= bounds[placed] + 1e-9


# ---- Algorithm 1 as published


@settings(max_examples=60, deadline=None)
@given(lists=tied_lists(variables=(1, 5)), block=st.integers(1, 12))
def test_what_algorithm_1_takes_from_its_queue(lists: FamilyLists, block: int) -> None:
    """Lemma 1: all networks that one is made from are expanded before it is taken, and its place in the queue is score,
    log count and bound together. Theorem 3: its count is then that of its orders."""
    scores = list_scores(lists)
    n = scores.store.n
    lattice = lattice_of(scores.store, Run())
    assert lattice is not None
    rest = brute_force.best_rest(brute_force.best_within(brute_force.values_of(scores)))
    taken: set[tuple[int, tuple[int, ...]]] = set()
    last = math.inf
    for placed, parents, count, place, is_first in _core.count_paths_takings(lattice, block, 1500):
        assert place <= last + 1e-12  # sums of the same logarithms
        last = place
        members = [x for x in range(n) if placed >> x & 1]
        if is_first:
            assert count == orders_of(parents, placed)
            score = sum(scores.store.value(x, parents[x]) for x in members)
            bound = rest[placed] + sum(math.log(i) for i in range(len(members) + 1, n + 1))
            assert place == pytest.approx(score + math.log(count) + bound, abs=1e-8)
            for leaf in (x for x in members if not any(parents[y] >> x & 1 for y in members)):
                maker = placed ^ 1 << leaf
                assert (maker, tuple(0 if x == leaf else its for x, its in enumerate(parents))) in taken
            assert (placed, tuple(parents)) not in taken
            taken.add((placed, tuple(parents)))
        else:
            assert (placed, tuple(parents)) in taken


def test_published_counts_do_not_count_a_network_twice() -> None:
    scores = td.score(sampled_table(8, 100, 5), td.BDeu(1.0))
    small, large = (search_networks(scores, 3, prior=ORDERS, published=True, block=b) for b in (2, 10**6))
    assert small.scores.tolist() == large.scores.tolist()
    assert small.stats.work["re-expanded"] > 0 == large.stats.work["re-expanded"]
    assert small.stats.work["generated"] < large.stats.work["generated"]


# ---- Limits


@pytest.mark.parametrize("published", [False, True])
def test_stopped_it_gives_a_network_and_a_bound(published: bool) -> None:
    scores = td.score(sampled_table(10, 60, 1), td.BDeu(1.0))
    best = search_networks(scores, 1, prior=ORDERS)
    for limits in ({"memory_limit": 3_000_000}, {"time_limit": 0.5}):
        found = search_networks(scores, EVERY, prior=ORDERS, published=published, **limits)  # type: ignore[arg-type]
        assert found.proof.status is td.types.Status.STOPPED
        assert found.proof.limit == next(iter(limits))
        assert len(found) >= 1
        assert found.proof.bound >= best.scores[0] >= found.scores[0]
        assert found.proof.gap == pytest.approx(found.proof.bound - found.scores[0])
        assert (np.diff(found.scores) <= 0).all()
        assert found.scores[0] == best.scores[0] or found.floor >= best.scores[0]


def test_a_modular_prior_shifts_the_scores() -> None:
    scores = td.score(sampled_table(4, 50, 2), td.BDeu(1.0))
    for prior in (EdgePrior({("X0", "X1"): 3.0}, default=-1.0) if "X0" in scores.names else EdgePrior(), FairPrior()):
        found = search_networks(scores, 10, prior=prior)
        masks = brute_force.networks(4)
        weights = np.array([prior.log_weight(scores.network(row)) for row in masks.tolist()])
        np.testing.assert_allclose(found.scores, ranked(scores, weights)[0][:10], rtol=0, atol=1e-6)


def test_what_is_refused() -> None:
    table = sampled_table(3, 20, 1)
    with pytest.raises(ValueError, match="published"):
        search_networks(table, 1, published=True)
    with pytest.raises(ValueError, match="published"):
        search_networks(table, 1, published=True, prior=FairPrior())
    with pytest.raises(td.ScoreError, match="log_weight_bound"):
        search_networks(table, 1, prior=object())  # type: ignore[arg-type]
    with pytest.raises(td.ScoreError, match="without weights"):
        search_networks(table, 1, prior=OrderModular(parent_weight=lambda _, parents: -float(len(parents))))


def test_too_many_variables() -> None:
    families = [(x, parents, -1.0) for x in range(27) for parents in ((), ((x + 1) % 27,))]
    scores = scores_from_lists(FamilyLists.build([f"V{v}" for v in range(27)], families), keep="all")
    with pytest.raises(td.TooLarge, match="26"):
        search_networks(scores, 1, prior=ORDERS)


# ---- Real data


@pytest.mark.skipif(not DATA.exists(), reason="no ../shared/data")
def test_wine() -> None:
    """The optimum, and the counts of Table 1 of Chen, Choi & Darwiche 2015."""
    scores = td.score(td.read_table(DATA / "wine.csv"), td.BDeu(1.0))
    tree = search_networks(scores, 1, prior=ORDERS)
    paths = search_networks(scores, 1, prior=ORDERS, published=True)
    assert tree.scores[0] == pytest.approx(-1238.637533, abs=1e-6)
    assert tree[0] == paths[0]
    assert tree[0].linear_extensions == 274285440
    assert dict(paths.stats.work) | {"weighed": 0} == {
        "generated": 1_559_900,
        "expanded": 244_694,
        "re-expanded": 57_259,
        "weighed": 0,
    }
    assert tree.stats.work["expanded"] < 45_864
