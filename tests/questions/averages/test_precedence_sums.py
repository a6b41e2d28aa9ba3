"""Sums, samples and priors under orders that variables have in any case: against all networks that agree."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from precedence_truth import NAMES, N, agreeing, log_orders, long_order, path_matrix, some_orders, table
from sampling_truth import FIT, misfit, row_numbers
from strategies import sampled_table

import topdag as td
from topdag import _core
from topdag.knowledge.priors import Prior
from topdag.search.stores import FamilyStore, slots_of


@pytest.mark.parametrize("prior", [None, td.FairPrior(), td.OrderModular()], ids=["none", "fair", "orders"])
@pytest.mark.parametrize("seed", range(6))
def test_sums(seed: int, prior: Prior | None) -> None:
    given = some_orders(seed)
    scores = td.score(table(), td.BDeu(), constraints=td.Constraints(**given))
    masks, values = agreeing(scores, given)
    if isinstance(prior, td.FairPrior):
        values = values + [prior.log_weight(td.Network.from_masks(NAMES, row)) for row in masks.tolist()]
    if isinstance(prior, td.OrderModular):
        values = values + log_orders(masks, given)
    evidence = float(np.logaddexp.reduce(values))
    chances = np.exp(values - evidence)
    found = td.network_posteriors(scores, prior=prior)
    assert td.log_evidence(scores, prior=prior) == pytest.approx(evidence, abs=1e-9)
    for child in range(N):
        for parent in range(N):
            has_edge = (masks[:, child] >> np.uint64(parent) & np.uint64(1)) == 1
            assert found.edges.matrix[parent, child] == pytest.approx(chances[has_edge].sum(), abs=1e-9)
        own = found.parent_sets(NAMES[child])
        for mask in {0, *masks[:, child].tolist()}:
            parents = [name for v, name in enumerate(NAMES) if mask >> v & 1]
            assert own[parents] == pytest.approx(chances[masks[:, child] == mask].sum(), abs=1e-9)
    assert found.paths is not None
    assert found.paths.matrix == pytest.approx(path_matrix(masks, chances), abs=1e-9)
    best = td.best_network(scores, prior=prior)
    assert best.score == pytest.approx(values.max(), abs=1e-9)
    top = td.k_best_networks(scores, 25, prior=prior)
    assert top.scores == pytest.approx(np.sort(values)[::-1][: len(top)], abs=1e-9)
    assert len(top) == min(25, len(values))


@pytest.mark.parametrize("seed", range(4))
def test_sums_of_more_variables_count_what_comes_before_as_parents(seed: int) -> None:
    """The same sum over networks whose families have those parents, with no order: families that then agree add up."""
    table = sampled_table(11, 60, seed)
    scores = td.score(table, td.BDeu(), constraints=long_order(table.names, 2 * seed), max_parents=3)
    assert scores.rest is not None
    n, before = len(table.names), scores.order
    families = np.full((n, 1 << n - 1), -math.inf)
    for x in range(n):
        masks, values = scores.store.families_of(x)
        np.logaddexp.at(families[x], slots_of(masks | np.uint64(before[x]), x), values)
    plain = _core.sum_networks(FamilyStore(n, families.ravel()).core(), True, 0, False, _core.Limits(2))
    found = td.network_posteriors(scores, paths=False, parent_sets_of=[])
    assert found.log_evidence == pytest.approx(plain.log_total, abs=1e-9)
    is_added = np.array([[before[x] >> p & 1 for x in range(n)] for p in range(n)], bool)
    assert found.edges.matrix[~is_added] == pytest.approx(plain.edges()[~is_added], abs=1e-9)


def test_the_networks_on_a_chain_are_counted() -> None:
    table = sampled_table(11, 40, 3)
    chain = td.Constraints(precedence=list(pairwise(table.names)))
    scores = td.score(table, td.BDeu(), constraints=chain)
    assert td.log_prior_total(scores) == pytest.approx(55 * math.log(2), abs=1e-9)
    assert td.log_prior_total(scores, prior=td.OrderModular()) == pytest.approx(55 * math.log(2), abs=1e-9)
    assert len(td.sample_networks(scores, 50, seed=1)) == 50


@pytest.mark.parametrize("prior", [None, td.OrderModular()], ids=["none", "orders"])
@pytest.mark.parametrize("seed", [1, 3, 5, 7])
def test_samples(seed: int, prior: Prior | None) -> None:
    given = some_orders(seed)
    scores = td.score(table(), td.BDeu(), constraints=td.Constraints(**given))
    masks, values = agreeing(scores, given)
    values = values if prior is None else values + log_orders(masks, given)
    sample = td.sample_networks(scores, 20000, seed=seed, prior=prior)
    counts = np.bincount(row_numbers(sample.parents, masks), minlength=len(masks))
    assert misfit(counts, np.exp(values - np.logaddexp.reduce(values))) < FIT


def test_weights_of_orders_count_orders_that_agree() -> None:
    prior = td.OrderModular(order_weight=lambda name, earlier: 0.4 * len(earlier) * (name == "c"))
    given = {"precedence": [("d", "a"), ("c", "b")]}
    scores = td.score(table(), td.BDeu(), constraints=td.Constraints(**given))
    every = td.k_best_networks(scores, 40000, prior=prior)
    masks, values = agreeing(scores, given)
    earlier = {"a": ["d"], "b": ["c"]}
    weights = [prior.log_weight(td.Network.from_masks(NAMES, row), earlier) for row in masks.tolist()]
    assert every.scores == pytest.approx(np.sort(values + weights)[::-1], abs=1e-9)
    assert td.log_evidence(scores, prior=prior) == pytest.approx(np.logaddexp.reduce(values + weights), abs=1e-9)


def test_what_counts_all_orders_refuses_some(tmp_path: Path) -> None:
    """A precedence that edges tell leaves no network out, but does leave out orders."""
    known = td.Constraints(precedence=[("a", "b")], leaves=["b"])
    scores = td.score(table(), td.BDeu(), constraints=known)
    assert scores.rest is None
    prior = td.OrderModular()
    with pytest.raises(td.ConstraintError, match="search_networks counts all orders"):
        td.search_networks(scores, 3, prior=prior)
    few = td.k_best_networks(scores, 3, prior=prior)
    assert few[0] == td.best_network(scores, prior=prior).network
    with pytest.raises(td.ScoreError, match="not tell which orders count"):
        td.io.write_list(tmp_path / "few.jsonl", few)
    required = td.score(table(), td.BDeu(), constraints=td.Constraints(required_edges=["a->b"]))
    td.io.write_list(tmp_path / "few.jsonl", td.k_best_networks(required, 3, prior=prior))
    assert len(td.search_networks(required, 3, prior=prior)) == 3


def test_paths_of_many_variables_in_an_order_are_refused() -> None:
    table = sampled_table(15, 20, 1)
    names = table.names
    some = td.score(table, td.BDeu(), max_parents=1, constraints=td.Constraints(precedence=[(names[0], names[1])]))
    with pytest.raises(td.TooLarge, match=r"comes before.*at most 14"):
        td.path_posteriors(some)
    told = td.Constraints(tiers=[names[:4], names[4:]])
    assert td.path_posteriors(td.score(table, td.BDeu(), max_parents=1, constraints=told))[names[5], names[0]] == 0.0
