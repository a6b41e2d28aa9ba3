"""Nothing that belongs to an asked list is lost by pruning: every rule against all networks of up to five variables.

Lists are compared as sets of networks, ties at their ends included, never only by their scores.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from brute_force import networks, values_of
from hypothesis import given, settings
from hypothesis import strategies as st
from pruning_checks import (
    FACTORS,
    KS,
    has_only,
    is_kept,
    kth_best,
    kth_best_class,
    proper_subsets,
    small_tables,
    totals_of,
)
from strategies import list_scores, tied_lists

import topdag as td
from topdag.answers.lists import grid_epsilon
from topdag.scoring import dominance as pruning
from topdag.search.family_lists import FamilyLists


@given(tied_lists())
def test_dominance_keeps_the_best_networks_without_superfluous_parents(lists: FamilyLists) -> None:
    scores = list_scores(lists)
    values, totals = values_of(scores), totals_of(values_of(scores))
    kept = is_kept([pruning.families_for_best(scores.store, x) for x in range(len(values))])
    best = (totals == totals.max()) & (totals > -math.inf)
    is_lean = [
        all(values[x, inner] < values[x, mask] for x, mask in enumerate(masks) for inner in proper_subsets(mask))
        for masks in networks(len(values))[best].tolist()
    ]
    assert has_only(kept)[best].tolist() == is_lean
    assert any(is_lean) == best.any()


@given(tied_lists(), st.integers(0, 12))
def test_the_factor_safe_rule_loses_no_network_within_the_factor(lists: FamilyLists, epsilon: int) -> None:
    scores = list_scores(lists)
    totals = totals_of(values_of(scores))
    families = [pruning.families_within(scores.store, x, float(epsilon)) for x in range(scores.store.n)]
    within = (totals >= totals.max() - epsilon) & (totals > -math.inf)
    assert has_only(is_kept(families))[within].all()
    for x, (masks, values) in enumerate(families):
        assert values.tolist() == [scores.store.value(x, mask) for mask in masks.tolist()]


@given(tied_lists(), st.sampled_from(KS))
def test_theorem_3_loses_none_of_the_k_best_networks(lists: FamilyLists, k: int) -> None:
    scores = list_scores(lists)
    values, totals = values_of(scores), totals_of(values_of(scores))
    families = [pruning.families_by_better_subsets(scores.store, x, k) for x in range(len(values))]
    wanted = (totals >= kth_best(totals, k)) & (totals > -math.inf)
    assert has_only(is_kept(families))[wanted].all()


@given(tied_lists(), st.sampled_from(KS[:6]), st.integers(0, 3))
def test_each_rule_drops_just_what_its_definition_says(lists: FamilyLists, k: int, epsilon: int) -> None:
    scores = list_scores(lists)
    values = values_of(scores)
    for x in range(len(values)):
        rules = {
            "best": pruning.families_for_best(scores.store, x),
            "within": pruning.families_within(scores.store, x, float(epsilon)),
            "k best": pruning.families_by_better_subsets(scores.store, x, k),
        }
        kept = {name: set(masks.tolist()) for name, (masks, _) in rules.items()}
        for mask in np.flatnonzero(values[x] > -math.inf).tolist():
            below = values[x, proper_subsets(mask)]
            own = values[x, mask]
            assert (mask in kept["best"]) == (not (below >= own).any())
            assert (mask in kept["within"]) == (not (below > own + epsilon).any())
            assert (mask in kept["k best"]) == ((below > own).sum() < k)


@settings(max_examples=60)
@given(small_tables, st.sampled_from(KS), st.sampled_from(FACTORS))
def test_classes_lose_nothing_either(table: td.Table, k: int, factor: float) -> None:
    """Theorem 3 for the k best classes and the factor-safe rule for classes: all members keep all their families."""
    scores = td.score(table, td.BIC())
    n, store = len(scores.columns), scores.store
    if n == 0:
        return
    totals = totals_of(values_of(scores))
    by_subsets = is_kept([pruning.families_by_better_subsets(store, x, k) for x in range(n)])
    assert has_only(by_subsets)[(totals >= kth_best_class(totals, n, k)) & (totals > -math.inf)].all()
    epsilon = grid_epsilon(factor, scores.grid)
    factor_safe = is_kept([pruning.families_within(store, x, epsilon) for x in range(n)])
    assert has_only(factor_safe)[totals >= totals.max() - epsilon].all()


def test_a_network_exactly_on_the_edge_is_kept() -> None:
    """With "at least epsilon better" the family {b} would go, and the network within the factor with it."""
    scores = list_scores(FamilyLists.build(["a", "b"], [(0, [], 0.0), (0, [1], -1.0), (1, [], 0.0)]))
    assert pruning.families_within(scores.store, 0, 1.0)[0].tolist() == [0, 2]
    assert pruning.families_within(scores.store, 0, math.nextafter(1.0, 0.0))[0].tolist() == [0]


def test_dominance_is_for_the_best_network_only() -> None:
    """The second best network has a dominated family, and so has one that ties with the best."""
    scores = list_scores(FamilyLists.build(["a", "b"], [(0, [], 0.0), (0, [1], 0.0), (1, [], 0.0), (1, [0], -1.0)]))
    assert [pruning.families_for_best(scores.store, x)[0].tolist() for x in (0, 1)] == [[0], [0]]
    assert pruning.families_within(scores.store, 0, 0.0)[0].tolist() == [0, 2]
    assert pruning.families_by_better_subsets(scores.store, 1, 1)[0].tolist() == [0]
    assert pruning.families_by_better_subsets(scores.store, 1, 2)[0].tolist() == [0, 1]


@pytest.mark.parametrize("epsilon", [-1.0, -0.5, math.nan])
def test_bad_epsilons(epsilon: float) -> None:
    with pytest.raises(ValueError, match="epsilon, the logarithm of a Bayes factor, is a number from 0 on"):
        pruning.families_within(list_scores(FamilyLists.build(["a"], [(0, [], 0.0)])).store, 0, epsilon)


def test_bad_k_for_theorem_3() -> None:
    with pytest.raises(ValueError, match="k must be a whole number from 1 on"):
        pruning.families_by_better_subsets(list_scores(FamilyLists.build(["a"], [(0, [], 0.0)])).store, 0, 0)
