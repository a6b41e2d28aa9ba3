"""The lattice on the sets that matter: the same lists and counts as the dense one, above its threshold."""

from __future__ import annotations

import math

import numpy as np
import pytest
from brute_force import network_scores, networks, values_of
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import tied_lists

from topdag import _core
from topdag.scoring.score import scores_from_lists
from topdag.scoring.scores import Scores
from topdag.search.family_lists import FamilyLists
from topdag.search.stores import ListStore


def candidates_of(scores: Scores) -> _core.Candidates:
    store = scores.store
    assert isinstance(store, ListStore)
    return _core.Candidates(store.n, store.lists.offsets, np.ascontiguousarray(store.lists.masks[:, 0]), store.rounded)


def least_costs(scores: Scores) -> dict[int, float]:
    """Of every set of variables the cost of its best network: slow and obvious."""
    n, values = len(scores.columns), values_of(scores)
    best = values.max(axis=1)
    costs = {0: 0.0}
    for placed in range(1, 2**n):
        options = [
            costs[placed ^ 1 << x] + best[x] - max(values[x][u] for u in range(2**n) if u & ~(placed ^ 1 << x) == 0)
            for x in range(n)
            if placed >> x & 1
        ]
        costs[placed] = min(options)
    return costs


def sparse_lattice(scores: Scores, epsilon: float) -> tuple[_core.SparseLattice, float]:
    """From all sets that cost no more than the best network and epsilon; and that threshold as a score."""
    costs = least_costs(scores)
    threshold = costs[2 ** len(scores.columns) - 1] + epsilon
    sets = sorted((s for s in costs if costs[s] <= threshold), key=lambda s: (s.bit_count(), s))
    built = _core.build_sparse_lattice(
        candidates_of(scores), np.array(sets, np.uint64), np.array([costs[s] for s in sets]), threshold, _core.Limits(2)
    )
    assert built is not None
    return built, built.lowest


@settings(max_examples=40, deadline=None)
@given(tied_lists(), st.sampled_from([0.0, 0.5, 1.0, 3.0]), st.sampled_from([1, 3]))
@pytest.mark.parametrize("what", [_core.Listed.NETWORKS, _core.Listed.CLASSES])
def test_lists_and_counts_equal_the_dense_ones(
    what: _core.Listed, lists: FamilyLists, epsilon: float, most: int
) -> None:
    scores = scores_from_lists(lists, keep="all")
    dense = _core.build_lattice(scores.store.core(), _core.Limits())
    assert dense is not None
    if dense.best_score == -math.inf:
        return
    sparse, lowest = sparse_lattice(scores, epsilon)
    assert sparse.best_score == dense.best_score
    assert lowest == dense.best_score - epsilon
    for k in (most, 10**6):
        found = _core.list_best(sparse, what, k, -math.inf, _core.Limits(2))
        truth = _core.list_best(dense, what, k, lowest, _core.Limits())
        assert np.array_equal(found.scores, truth.scores)
        assert np.array_equal(found.parents, truth.parents)
    assert _core.count_above(sparse, what, lowest, _core.Limits(2))[1].found == len(truth.scores)


@settings(max_examples=40, deadline=None)
@given(tied_lists(variables=(1, 4)))
def test_all_networks_are_there_when_nothing_is_left_out(lists: FamilyLists) -> None:
    scores = scores_from_lists(lists, keep="all")
    found = network_scores(values_of(scores), networks(len(scores.columns)))
    allowed = found[np.isfinite(found)]
    if not len(allowed):
        return
    sparse, _ = sparse_lattice(scores, float(allowed.max() - allowed.min()))
    assert _core.count_above(sparse, _core.Listed.NETWORKS, -math.inf, _core.Limits())[1].found == len(allowed)


def test_sixty_four_variables_fit() -> None:
    n = 64
    lists = FamilyLists.build(
        [f"V{v}" for v in range(n)], [(x, (), -1.0) for x in range(n)] + [(x, (x - 1,), 0.0) for x in range(1, n)]
    )
    scores = scores_from_lists(lists, keep="all")
    chain = [(1 << size) - 1 for size in range(n + 1)]
    threshold = 0.5  # only the chain, in its own order
    built = _core.build_sparse_lattice(
        candidates_of(scores), np.array(chain, np.uint64), np.zeros(n + 1), threshold, _core.Limits(2)
    )
    assert built is not None and built.best_score == -1.0
    found = _core.list_best(built, _core.Listed.NETWORKS, 5, -math.inf, _core.Limits(2))
    assert found.finished and found.scores.tolist() == [-1.0]
    assert found.parents[0].tolist() == [0, *(1 << x - 1 for x in range(1, n))]


def test_a_stream_gives_each_network_once() -> None:
    lists = FamilyLists.build(["a", "b", "c"], [(x, p, -float(len(p))) for x in range(3) for p in ((), ((x + 1) % 3,))])
    scores = scores_from_lists(lists, keep="all")
    built, lowest = sparse_lattice(scores, 2.0)
    stream = _core.open_stream(built, -math.inf, _core.Limits())
    found = stream.next(100, _core.Limits())
    assert found.finished and min(found.scores) >= lowest
    networks_found = [tuple(row) for row in found.parents.tolist()]
    assert (
        len(networks_found) == len(set(networks_found)) == len(found.scores) == 7
    )  # any two of the three edges at most
