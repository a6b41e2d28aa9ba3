"""Local search over orders: what it finds is a network, its cost is right, and it is no matter of chance."""

from __future__ import annotations

import math

import numpy as np
import pytest
import reference
import strategies
from hypothesis import given, settings
from hypothesis import strategies as st
from search_checks import check_network, store_of

from topdag import _core
from topdag.search.costs import Families, candidates_of
from topdag.search.family_lists import FamilyLists


@given(strategies.tied_lists(variables=(1, 6), always_empty_set=True), st.integers(0, 2**64 - 1))
def test_a_climb_ends_at_a_network_of_its_cost(lists: FamilyLists, seed: int) -> None:
    store = store_of(lists)
    candidates = candidates_of(store)
    cost, masks = _core.climb_orders(candidates, 3, seed, _core.Limits())
    check_network(store, cost, masks)
    assert _core.climb_orders(candidates, 3, seed, _core.Limits()) == (cost, masks)
    assert _core.climb_orders(candidates, 6, seed, _core.Limits())[0] <= cost


@settings(max_examples=50)
@given(strategies.tied_lists(variables=(1, 4)))
def test_many_climbs_find_the_best_of_few_variables(lists: FamilyLists) -> None:
    store = store_of(lists)
    best = reference.best_score_by_orders(store.value, store.n)
    cost, masks = _core.climb_orders(candidates_of(store), 400, 1, _core.Limits())
    if best == -math.inf:
        assert cost == math.inf
    else:
        check_network(store, cost, masks)
        assert cost == store.best_scores.sum() - best


@given(strategies.tied_lists(variables=(1, 5)), st.integers(0, 2**32 - 1))
def test_an_order_from_weights_gives_a_network_whenever_there_is_one(lists: FamilyLists, seed: int) -> None:
    store = store_of(lists)
    families = Families.of_store(store)
    exists = families.core.propagate(np.ones(families.size, dtype=np.uint8))
    cost, masks = _core.climb_from_weights(candidates_of(store), families.core, np.zeros(families.size))
    assert (cost < math.inf) == exists
    weights = np.random.default_rng(seed).random(families.size)
    other, other_masks = _core.climb_from_weights(candidates_of(store), families.core, weights)
    for found, parents in ((cost, masks), (other, other_masks)):
        if found < math.inf:
            check_network(store, found, parents)


@given(strategies.tied_lists(variables=(2, 4), always_empty_set=True))
def test_the_weights_of_a_best_network_lead_back_to_its_cost(lists: FamilyLists) -> None:
    store = store_of(lists)
    families = Families.of_store(store)
    best, masks = max(
        (reference.network_score(store.value, list(masks)), tuple(masks)) for masks in reference.all_networks(store.n)
    )
    weights = families.places(masks).astype(np.float64)
    cost, _ = _core.climb_from_weights(candidates_of(store), families.core, weights)
    assert cost == store.best_scores.sum() - best


@pytest.mark.parametrize("seed", range(3))
def test_threads_find_the_same_network(seed: int) -> None:
    """With families enough that threads are used at all."""
    rng = np.random.default_rng(seed)
    n = 30
    families = [(x, (), 0.0) for x in range(n)]
    for x in range(n):
        others = [v for v in range(n) if v != x]
        drawn = {tuple(sorted(rng.choice(others, rng.integers(1, 4), replace=False).tolist())) for _ in range(90)}
        families += [(x, parents, float(rng.integers(1, 9))) for parents in sorted(drawn)]
    candidates = candidates_of(store_of(FamilyLists.build([f"V{v}" for v in range(n)], families)))
    assert candidates.size >= 1000
    one = _core.climb_orders(candidates, 60, seed, _core.Limits(1))
    assert all(_core.climb_orders(candidates, 60, seed, _core.Limits(threads)) == one for threads in (2, 3, 16))
