"""Sums, samples and priors under constraints, against all networks of four variables that obey them."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from constraint_truth import obeys

import topdag as td
from topdag.knowledge.priors import Prior

NAMES = ("a", "b", "c", "d")
KNOWN: dict[str, dict[str, Any]] = {
    "edges": {"required_edges": [("c", "a")], "forbidden_edges": [("a", "b"), ("b", "a")]},
    "tiers": {"tiers": [["b", "d"], ["a", "c"]]},
    "numbers": {"max_parents": {"a": 1, "d": 0}, "min_parents": {"c": 1}},
    "sets": {"allowed_parents": {"a": ["b", "c"]}, "leaves": ["d"]},
    "before": {"precedence": [("d", "a")], "forbidden_edges": [("a", "b"), ("a", "c"), ("b", "c")]},
}
PRIORS: dict[str, Prior | None] = {
    "none": None,
    "fair": td.FairPrior(),
    "orders": td.OrderModular(),
    "weighted": td.OrderModular(order_weight=lambda name, earlier: 0.4 * len(earlier) * (name == "c")),
}


def table() -> td.Table:
    draw = np.random.default_rng(5)
    first = draw.integers(0, 2, 30)
    columns = [
        first,
        np.where(draw.random(30) < 0.8, first, 1 - first),
        draw.integers(0, 3, 30),
        draw.integers(0, 2, 30),
    ]
    return td.Table({name: [str(v) for v in own] for name, own in zip(NAMES, columns, strict=True)})


def obeying(known: str) -> list[td.Network]:
    found = []
    for masks in product(*[[m for m in range(16) if not m >> x & 1] for x in range(4)]):
        try:
            network = td.Network.from_masks(NAMES, masks)
        except td.NetworkError:
            continue
        if obeys(set(network.edges), NAMES, **KNOWN[known]):
            found.append(network)
    assert 0 < len(found) < 543
    return found


def worth(network: td.Network, scores: td.types.Scores, prior: Prior | None, known: str) -> float:
    """Where orders weigh, those count that agree with what comes before what."""
    if isinstance(prior, td.OrderModular):
        earlier = {after: [before] for before, after in KNOWN[known].get("precedence", ())}
        return scores.of(network) + prior.log_weight(network, earlier)
    return scores.of(network) + (0.0 if prior is None else prior.log_weight(network))


@pytest.mark.parametrize("prior_name", PRIORS)
@pytest.mark.parametrize("known", KNOWN)
def test_sums_and_priors_over_those_that_obey(known: str, prior_name: str) -> None:
    prior = PRIORS[prior_name]
    scores = td.score(table(), td.BDeu(), constraints=td.Constraints(**KNOWN[known]))
    networks = obeying(known)
    values = np.array([worth(network, scores, prior, known) for network in networks])
    evidence = float(np.logaddexp.reduce(values))
    chances = np.exp(values - evidence)
    assert td.log_evidence(scores, prior=prior) == pytest.approx(evidence, abs=1e-9)
    edges, paths = td.edge_posteriors(scores, prior=prior), td.path_posteriors(scores, prior=prior)
    for a, b in product(NAMES, NAMES):
        if a != b:
            has_edge = np.array([network.has_edge(a, b) for network in networks])
            has_path = np.array([network.is_ancestor(a, b) for network in networks])
            assert edges[a, b] == pytest.approx(chances @ has_edge, abs=1e-9)
            assert paths[a, b] == pytest.approx(chances @ has_path, abs=1e-9)
    best = td.best_network(scores, prior=prior)
    assert best.score == pytest.approx(values.max(), abs=1e-9)
    top = td.k_best_networks(scores, 10, prior=prior)
    assert top.scores == pytest.approx(np.sort(values)[::-1][:10], abs=1e-9)


@pytest.mark.parametrize("prior_name", ["none", "orders"])
@pytest.mark.parametrize("known", KNOWN)
def test_samples_obey(known: str, prior_name: str) -> None:
    """Edge frequencies lie within six standard errors, and no sample breaks a rule."""
    prior = PRIORS[prior_name]
    constraints = td.Constraints(**KNOWN[known])
    scores = td.score(table(), td.BDeu(), constraints=constraints)
    sample = td.sample_networks(scores, 4000, seed=3, prior=prior)
    assert all(constraints.allows(network) for network, _ in sample.distinct())
    exact = td.edge_posteriors(scores, prior=prior).matrix
    errors = np.sqrt(exact * (1 - exact) / 4000)
    assert (abs(sample.edge_frequencies().frequencies - exact) <= 6 * errors + 1e-9).all()


@pytest.mark.parametrize("given", [{"ancestors": [("a", "d")]}, {"rules": ["a->b or c->d"]}])
@pytest.mark.parametrize("ask", [td.log_evidence, td.edge_posteriors, lambda scores: td.sample_networks(scores, 5)])
def test_rules_on_several_variables_are_refused_by_sums(ask: Any, given: dict[str, Any]) -> None:
    scores = td.score(table(), td.BDeu(), constraints=td.Constraints(**given))
    with pytest.raises(td.ConstraintError, match=r"does not understand such.*best_network, k_best_networks"):
        ask(scores)


def test_the_evidence_of_what_is_allowed_is_less() -> None:
    free = td.log_evidence(td.score(table(), td.BDeu()))
    for arguments in KNOWN.values():
        known = td.score(table(), td.BDeu(), constraints=td.Constraints(**arguments))
        assert td.log_evidence(known) < free
        assert math.isfinite(td.log_evidence(known))


def test_the_number_of_networks_does_not_depend_on_the_score() -> None:
    """BIC leaves families with a hopeless penalty out, which count before the data all the same."""
    table = td.random_network(13, max_parents=2, seed=1).sample(40, seed=1)
    names = table.names
    known = td.Constraints(required_edges=[(names[0], names[5])], forbidden_edges=[(names[3], names[4])])
    by_bic, by_bdeu = (td.score(table, kind, constraints=known) for kind in (td.BIC(), td.BDeu()))
    assert by_bic.cutoff < math.inf == by_bdeu.cutoff
    assert td.log_prior_total(by_bic) == pytest.approx(td.log_prior_total(by_bdeu), abs=1e-9)
