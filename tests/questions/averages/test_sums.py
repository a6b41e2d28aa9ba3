"""Sums over all networks against every network weighed one by one, for every quantity and prior."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from plain_sums import evidence_and_edges
from published import DATA
from strategies import list_scores, stored, tables, tied_lists
from sums_truth import Floats, Truth, networks

import topdag as td
from topdag.knowledge.priors import Prior, log_weight_of
from topdag.scoring.scores import Scores

CLOSE = 1e-9


def logs_of(scores: Scores) -> Floats:
    local, n = stored(scores), len(scores.columns)
    assume(n > 0)  # without any variable there is one network: see test_constant_columns_stay_isolated
    return np.array([[-math.inf if m >> v & 1 else local(v, m) for m in range(1 << n)] for v in range(n)])


def by_slots(slots: list[Floats]) -> Floats:
    """From slots of each variable to masks."""
    n = len(slots)
    found = np.full((n, 1 << n), -math.inf)
    for v, own in enumerate(slots):
        masks = np.array([m for m in range(1 << n) if not m >> v & 1])
        found[v, masks] = own
    return found


def assert_agrees(
    found: td.types.NetworkPosteriors, truth: Truth, columns: tuple[int, ...], log_constants: float = 0.0
) -> None:
    assert found.log_evidence == pytest.approx(truth.log_total + log_constants, abs=CLOSE)
    place = np.ix_(columns, columns)
    assert found.edges.matrix[place] == pytest.approx(truth.edges, abs=CLOSE)
    assert found.paths is not None
    assert found.paths.matrix[place] == pytest.approx(truth.paths, abs=CLOSE)
    assert found.edges.matrix.sum() == pytest.approx(truth.edges.sum(), abs=CLOSE)
    names = found.names
    for v, own in enumerate(truth.parents):
        sets = found.parent_sets(names[columns[v]])
        assert sum(sets.values()) == pytest.approx(1.0, abs=CLOSE)
        for mask in (m for m in range(len(own)) if not m >> v & 1):
            parents = tuple(names[columns[u]] for u in range(len(columns)) if mask >> u & 1)
            assert sets[parents] == pytest.approx(own[mask], abs=CLOSE)


small_tables = tables(variables=(2, 4), most_states=3, rows=(1, 3, 10, 40), weights=((1,), (1, 2, 5)))


@settings(max_examples=20)
@given(small_tables, st.none() | st.integers(0, 3), st.sampled_from([td.BDeu(), td.BIC(), td.K2()]))
def test_all_networks_equally_likely(table: td.Table, limit: int | None, kind: object) -> None:
    scores = td.score(table, kind, max_parents=limit)
    found = td.network_posteriors(scores)
    assert_agrees(found, Truth(logs_of(scores)), scores.columns)
    assert td.log_evidence(scores) == pytest.approx(found.log_evidence, abs=CLOSE)


@settings(max_examples=15)
@given(small_tables, st.none() | st.integers(0, 3), st.floats(-3, 3), st.floats(-3, 3))
def test_priors_over_families(table: td.Table, limit: int | None, odds: float, default: float) -> None:
    scores = td.score(table, td.BDeu(), max_parents=limit)
    named = tuple(scores.names[v] for v in scores.columns)
    logs, edge = logs_of(scores), {(named[0], named[-1]): odds} if len(named) > 1 else {}
    for prior in (td.EdgePrior(edge, default=default), td.FairPrior()):
        weights = by_slots([prior.family_log_weights(named, x) for x in range(len(named))])
        found = td.network_posteriors(scores, prior=prior)
        assert found.prior == str(prior)
        assert_agrees(found, Truth(logs + weights), scores.columns)


@settings(max_examples=15)
@given(small_tables, st.none() | st.integers(0, 3))
def test_orders_all_alike(table: td.Table, limit: int | None) -> None:
    scores = td.score(table, td.BDeu(), max_parents=limit)
    found = td.network_posteriors(scores, prior=td.OrderModular())
    logs = logs_of(scores)
    anywhere = math.lgamma(len(scores.names) + 1) - math.lgamma(len(scores.columns) + 1)
    assert_agrees(found, Truth(logs, np.zeros_like(logs)), scores.columns, log_constants=anywhere)


@settings(max_examples=10)
@given(small_tables, st.integers(0, 2**32 - 1))
def test_orders_with_weights(table: td.Table, seed: int) -> None:
    scores = td.score(table, td.BDeu())
    names = tuple(scores.names[v] for v in scores.columns)
    drawn = np.random.default_rng(seed).integers(1, 9, size=(2, len(names), 1 << len(names)))

    def mask_of(chosen: frozenset[str]) -> int:
        return sum(1 << names.index(name) for name in chosen)

    prior = td.OrderModular(
        order_weight=lambda v, earlier: math.log(drawn[0, names.index(v), mask_of(earlier)]),
        parent_weight=lambda v, parents: math.log(drawn[1, names.index(v), mask_of(parents)]),
    )
    truth = Truth(logs_of(scores) + np.log(drawn[1]), np.log(drawn[0]))
    assert_agrees(td.network_posteriors(scores, prior=prior), truth, scores.columns)


@settings(max_examples=25)
@given(tied_lists(variables=(1, 5)))
def test_listed_families_with_ties(lists: object) -> None:
    """Families that are not listed weigh nothing; some variables have no empty parent set, some lists no network."""
    scores = replace(list_scores(lists), keep="all")
    logs = logs_of(scores)
    for prior, order_logs in ((None, None), (td.OrderModular(), np.zeros_like(logs))):
        truth = Truth(logs, order_logs)
        if not truth.has_any:
            with pytest.raises(td.ScoreError, match="No network is allowed"):
                td.network_posteriors(scores, prior=prior)
            continue
        assert_agrees(td.network_posteriors(scores, prior=prior), truth, scores.columns)


@pytest.mark.parametrize("prior", [None, td.EdgePrior(default=-1.0), td.FairPrior(), td.OrderModular()], ids=str)
def test_a_list_of_all_networks_covers_all_beside_constant_columns(prior: Prior | None) -> None:
    table = td.Table({"a": [0, 1, 0, 1], "k": [0, 0, 0, 0], "b": [0, 1, 1, 1], "l": [1, 1, 1, 1], "c": [0, 0, 1, 1]})
    scores = td.score(table, td.BDeu())
    networks = td.networks_within(scores, 1e9, prior=prior)
    assert len(networks) == 25
    assert td.features.coverage(networks, td.log_evidence(scores, prior=prior)) == pytest.approx(1.0, abs=1e-9)
    weights = [0.0 if prior is None else log_weight_of(prior, network, ("a", "b", "c")) for network in networks]
    assert td.log_prior_total(scores, prior=prior) == pytest.approx(float(np.logaddexp.reduce(weights)), abs=1e-9)


def test_families_that_score_too_little_still_count_before_the_data() -> None:
    """BIC leaves out sets of variables that no good network has: of 13 variables with four states most large ones."""
    rows = np.random.default_rng(0).integers(0, 4, size=(200, 13))
    scores = td.score(td.Table(rows.tolist()), td.BIC(), keep="all")
    assert scores.cutoff < math.inf
    every = td.score(td.Table(rows.tolist()), td.BDeu(), keep="all")
    for prior in (None, td.FairPrior(), td.OrderModular()):
        assert td.log_prior_total(scores, prior=prior) == td.log_prior_total(every, prior=prior)


def test_a_prior_that_favours_what_is_not_held_is_refused() -> None:
    rows = np.random.default_rng(0).integers(0, 4, size=(200, 13))
    scores = td.score(td.Table(rows.tolist()), td.BIC(), keep="all")
    names = scores.names
    required = td.EdgePrior({(name, names[12]): 1e5 for name in names[:3]})
    edges = td.edge_posteriors(scores, prior=required)
    assert all(edges[name, names[12]] == pytest.approx(1.0) for name in names[:3])
    too_many = td.EdgePrior({(name, names[12]): 1e5 for name in names[:6]})
    for ask in (td.edge_posteriors, td.best_network):
        with pytest.raises(td.ScoreError, match="not held"):
            ask(scores, prior=too_many)


@pytest.mark.parametrize(
    "known",
    [td.Constraints(required_edges=[("X1", "X13")]), td.Constraints(min_parents={"X13": 1})],
    ids=["required edge", "least number"],
)
def test_a_prior_is_refused_where_parents_are_required_too(known: td.Constraints) -> None:
    rows = np.random.default_rng(0).integers(0, 4, size=(200, 13))
    table = td.Table({f"X{v + 1}": column for v, column in enumerate(rows.T.tolist())})
    scores = td.score(table, td.BIC(), constraints=known, keep="all")
    assert scores.cutoff < math.inf and scores.store.value(12, 0) == -math.inf
    little = td.EdgePrior({(f"X{v}", "X13"): 1.0 for v in range(1, 7)})
    assert td.best_network(scores, prior=little).proof.status is td.types.Status.PROVED
    much = td.EdgePrior({(f"X{v}", "X13"): 1e5 for v in range(1, 7)})
    with pytest.raises(td.ScoreError, match="'X13' that are not held"):
        td.best_network(scores, prior=much)


def test_a_prior_on_what_is_forbidden_lifts_nothing() -> None:
    rows = np.random.default_rng(0).integers(0, 4, size=(200, 13))
    table = td.Table({f"X{v + 1}": column for v, column in enumerate(rows.T.tolist())})
    pairs = [(f"X{v}", "X13") for v in range(1, 7)]
    scores = td.score(table, td.BIC(), constraints=td.Constraints(forbidden_edges=pairs[2:]), keep="all")
    assert scores.cutoff < math.inf
    assert td.best_network(scores, prior=td.EdgePrior(dict.fromkeys(pairs, 1e5))).proof.status is td.types.Status.PROVED


def test_scores_that_hold_a_prior_are_refused() -> None:
    scores = td.score(td.example_table(), td.BDeu())
    for prior in (td.EdgePrior(default=-1.0), td.OrderModular()):
        held = td.k_best_networks(scores, 2, prior=prior).source
        for ask in (td.log_evidence, td.log_prior_total, td.edge_posteriors, lambda s: td.sample_networks(s, 1)):
            with pytest.raises(td.ScoreError, match="Ask the scores that the list was made from"):
                ask(held)


@pytest.mark.parametrize("n", range(2, 8))
def test_without_data_networks_are_counted(n: int) -> None:
    counts = (1, 3, 25, 543, 29281, 3781503, 1138779265)
    rows = [[i % 2 for _ in range(n)] for i in range(2)]
    scores = td.score(td.Table(rows), td.BDeu())
    assert td.log_prior_total(scores) == pytest.approx(math.log(counts[n - 1]), abs=1e-12)
    orders = math.lgamma(n + 1) + n * (n - 1) / 2 * math.log(2)
    assert td.log_prior_total(scores, prior=td.OrderModular()) == pytest.approx(orders, abs=1e-12)
    if n <= 4:
        limited = td.score(td.Table(rows), td.BDeu(), max_parents=1)
        forests = int((np.bitwise_count(networks(n)) <= 1).all(axis=1).sum())
        assert td.log_prior_total(limited) == pytest.approx(math.log(forests), abs=1e-12)


@pytest.mark.skipif(not DATA.exists(), reason=f"no data in {DATA}")
@pytest.mark.parametrize(
    ("name", "evidence", "best"),
    [
        ("tic_tac_toe", -9418.289140, 0.00840278),
        ("wine", -1244.530716, 1.98484e-5),
        ("voting", -4610.444408, 0.00415262),
        ("zoo", -542.511794, 7.99427e-11),
    ],
)
def test_evidence_of_real_data(name: str, evidence: float, best: float) -> None:
    """Found by others' programs [METHODS 0]."""
    scores = td.score(td.read_table(DATA / f"{name}.csv", types={"*": "categorical"}), td.BDeu())
    found = td.network_posteriors(scores, parent_sets_of=[])
    assert found.log_evidence == pytest.approx(evidence, abs=1e-6)
    assert math.exp(td.best_network(scores).score - found.log_evidence) == pytest.approx(best, rel=1e-5)
    assert found.paths is not None
    assert (found.paths.matrix >= found.edges.matrix - CLOSE).all()


def test_a_list_covers_what_the_sums_say() -> None:
    """P(best network) from the evidence and from a list of all networks within a factor."""
    scores = td.score(td.example_table(), td.BDeu())
    near = td.networks_within(scores, 20)
    covered = np.exp(near.scores - td.log_evidence(scores))
    edges = td.edge_posteriors(scores)
    assert 0.1 < covered.sum() < 1
    for parent, child in near[0].edges:
        share = sum(p for p, network in zip(covered, near, strict=True) if (parent, child) in network.edges)
        assert share <= edges[parent, child] <= share + 1 - covered.sum()


def test_constant_columns_stay_isolated() -> None:
    table = td.Table({"a": [0, 0, 1, 1, 0], "same": [1] * 5, "b": [0, 0, 1, 1, 1]})
    found = td.network_posteriors(table)
    without = td.network_posteriors(td.Table({"a": [0, 0, 1, 1, 0], "b": [0, 0, 1, 1, 1]}))
    assert found.edges["a", "same"] == found.edges["same", "b"] == found.paths["same", "a"] == 0
    assert found.edges["a", "b"] == without.edges["a", "b"]
    assert found.log_evidence == without.log_evidence
    assert dict(found.parent_sets("same")) == {(): 1.0}
    nothing = td.network_posteriors(td.Table({"same": [1] * 5, "too": [2] * 5}))
    assert (nothing.log_evidence, nothing.edges["same", "too"]) == (0.0, 0.0)


@pytest.mark.parametrize("seed", range(3))
def test_edges_of_eight_variables_as_derivatives_of_the_evidence(seed: int) -> None:
    """A way of its own, in plain numpy."""
    table = td.random_network(8, max_parents=3, seed=seed).sample(40, seed=seed)
    scores = td.score(table, td.BDeu())
    evidence, edges = evidence_and_edges(scores)
    found = td.edge_posteriors(scores)
    assert found.log_evidence == pytest.approx(evidence, abs=1e-9)
    assert found.matrix[np.ix_(scores.columns, scores.columns)] == pytest.approx(edges, abs=1e-9)
