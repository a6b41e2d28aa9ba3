"""Averages over lists, against sums over all networks; intervals as properties."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import feature_truth as truth
import numpy as np
import pytest
import reference
from brute_force import class_numbers, network_scores, networks, ranked, values_of
from feature_truth import truth_of
from hypothesis import given, settings
from hypothesis import strategies as st
from list_checks import scores_of
from strategies import sampled_table, table_of, tables

import topdag as td
from topdag.answers import averages as list_averaging
from topdag.answers.held import HeldNetworks
from topdag.answers.lists import BestList

ALL = 10**6


@cache
def scores_with(n: int, seed: int = 3) -> td.types.Scores:
    table = sampled_table(n, 40, seed)
    named = td.Table.from_codes(["a", "b", "c", "d", "e"][:n], table.codes, weights=table.weights)
    return td.score(named, td.BDeu())


def exact(scores: td.types.Scores, feature: td.features.Feature) -> float:
    """The posterior of a feature, by a sum over all networks."""
    values, masks = ranked(scores)
    shares = np.exp(values - truth.log_sum(values.tolist()))
    everywhere = [scores.all_masks(row) for row in masks.tolist()]
    return float(shares @ [feature(td.Network.from_masks(scores.names, row)) for row in everywhere])


def log_evidence(scores: td.types.Scores) -> float:
    return truth.log_evidence(values_of(scores))


@pytest.mark.parametrize("n", [2, 3, 4])
def test_the_list_of_everything_is_exact(n: int) -> None:
    scores, evidence = scores_with(n), log_evidence(scores_with(n))
    values, masks = ranked(scores)
    shares = np.exp(values - truth.log_sum(values.tolist()))
    rows = [tuple(row) for row in masks.tolist()]
    lists: list[BestList[Any]] = [td.k_best_networks(scores, ALL), td.k_best_classes(scores, ALL)]
    assert lists[1].n_networks == len(lists[0]) == len(rows)
    for feature, definition in truth_of(n):
        expected = float(shares @ [definition(row) for row in rows])
        for every in lists:
            found = td.features.posterior(every, feature, evidence=evidence)
            assert found.value == pytest.approx(expected, abs=1e-9), (feature, every)
            assert found.coverage == pytest.approx(1.0, abs=1e-6)
            assert found.lower == pytest.approx(found.upper, abs=1e-6)


def test_five_variables() -> None:
    scores = scores_with(5)
    values = network_scores(values_of(scores), networks(5))
    shares = np.exp(values - truth.log_sum(values.tolist()))
    every = td.k_best_classes(scores, ALL)
    assert (len(every), every.n_networks) == (8782, 29281)
    assert td.features.coverage(every, log_evidence(scores)) == pytest.approx(1.0, abs=1e-6)
    edges = np.array([[float(shares @ (networks(5)[:, b] >> a & 1)) for b in range(5)] for a in range(5)])
    assert td.features.edge_matrix(every) == pytest.approx(edges, abs=1e-9)
    walks = np.array([truth.has_path(row, 0, 4) for row in networks(5).tolist()])
    assert td.features.posterior(every, td.features.path("a", "e")).value == pytest.approx(
        float(shares @ walks), abs=1e-9
    )


def test_probabilities_of_all_classes_sum_to_one() -> None:
    scores = scores_with(4)
    evidence = log_evidence(scores)
    classes = td.k_best_classes(scores, ALL)
    assert len(classes) == 185
    each = [size * math.exp(score - evidence) for size, score in zip(classes.sizes, classes.scores, strict=True)]
    assert math.fsum(each) == pytest.approx(1.0, abs=1e-9)
    values, numbers = network_scores(values_of(scores), networks(4)), class_numbers(4)
    by_class = np.bincount(numbers, np.exp(values - evidence))
    assert sorted(each) == pytest.approx(sorted(by_class.tolist()), abs=1e-12)


@given(tables(variables=(2, 4), most_states=3, rows=(1, 5, 40)), st.data())
@settings(max_examples=40)
def test_intervals_hold_the_exact_posterior(table: td.Table, data: st.DataObject) -> None:
    scores = td.score(table, td.BDeu())
    evidence = truth.log_sum(ranked(scores)[0].tolist())
    k = data.draw(st.integers(1, 60))
    a, b = data.draw(st.permutations(table.names))[:2]
    makes = (
        td.features.edge,
        td.features.path,
        td.features.adjacency,
        td.features.in_markov_blanket,
        td.features.d_separation,
        td.features.compelled_edge,
    )
    feature = data.draw(st.sampled_from(makes))(a, b)
    edges = td.features.feature(lambda network: network.n_edges, between=(0, 6))
    for asked in (feature, edges):
        wanted = exact(scores, asked)
        for found in (td.k_best_networks(scores, k), td.k_best_classes(scores, k)):
            answer = td.features.posterior(found, asked, evidence=evidence)
            assert answer.lower is not None and answer.upper is not None and answer.coverage is not None
            assert answer.lower - 1e-6 <= wanted <= answer.upper + 1e-6
            low, high = asked.between
            assert answer.upper - answer.lower == pytest.approx((1 - answer.coverage) * (high - low))
            assert low <= answer.lower <= answer.upper <= high + 1e-9
            assert answer.last_factor == found.factors[-1]
            assert answer.coverage == pytest.approx(td.features.coverage(found, evidence))


@given(tables(variables=(2, 5), most_states=3, rows=(1, 5, 40)), st.integers(1, 200))
@settings(max_examples=40)
def test_edge_matrix_is_the_posterior_of_each_edge(table: td.Table, k: int) -> None:
    scores = td.score(table, td.BDeu())
    for found in (td.k_best_networks(scores, k), td.k_best_classes(scores, k)):
        matrix = td.features.edge_matrix(found)
        for i, a in enumerate(table.names):
            assert matrix[i, i] == 0
            for j, b in enumerate(table.names):
                if i != j:
                    assert matrix[i, j] == pytest.approx(
                        td.features.posterior(found, td.features.edge(a, b)).value, abs=1e-12
                    )
                    both = td.features.posterior(found, td.features.adjacency(a, b)).value
                    assert matrix[i, j] + matrix[j, i] == pytest.approx(both, abs=1e-9)


@pytest.mark.parametrize("weights", ["networks", "classes"])
def test_a_class_counts_as_its_members_do(weights: str) -> None:
    """Classes against their members one by one, for every feature, with both kinds of weights."""
    scores = scores_with(4, seed=5)
    classes = td.k_best_classes(scores, 30)
    sizes = np.array(classes.sizes, dtype=float)
    each = np.exp(classes.scores - classes.scores[0]) * (sizes if weights == "networks" else 1.0)
    each /= each.sum()
    for feature, definition in truth_of(4):
        rows = [tuple(row) for row in classes.parents.tolist()]
        means = [np.mean([definition(m) for m in reference.equivalent_networks(row)]) for row in rows]
        assert td.features.posterior(classes, feature, weights=weights).value == pytest.approx(
            float(each @ means), abs=1e-12
        )
    for i, a in enumerate(classes.names):
        for j, b in enumerate(classes.names):
            if i != j:
                expected = td.features.posterior(classes, td.features.edge(a, b), weights=weights).value
                assert td.features.edge_matrix(classes, weights=weights)[i, j] == pytest.approx(expected, abs=1e-12)


def test_a_promise_of_invariance_saves_members() -> None:
    classes = td.k_best_classes(scores_with(4), 50)
    asked: list[td.Network] = []

    def n_edges(network: td.Network) -> float:
        asked.append(network)
        return network.n_edges

    one = td.features.posterior(classes, td.features.feature(n_edges, class_invariant=True, between=(0, 6))).value
    assert len(asked) == 50
    every = td.features.posterior(classes, td.features.feature(n_edges, between=(0, 6))).value
    assert len(asked) == 50 + classes.n_networks
    assert one == pytest.approx(every)


def test_constant_columns_take_part() -> None:
    codes = np.array([[0, 1, 0, 1, 1], [0, 0, 0, 0, 0], [0, 1, 0, 1, 0]])
    table = table_of(codes, [2, 1, 2])
    for found in (td.k_best_networks(td.score(table, td.BDeu()), 3), td.k_best_classes(td.score(table, td.BDeu()), 2)):
        assert td.features.posterior(found, td.features.edge("V0", "V1")).value == 0.0
        assert td.features.posterior(found, td.features.path("V1", "V2")).value == 0.0
        assert td.features.posterior(found, td.features.d_separation("V0", "V1", "V2")).value == pytest.approx(1.0)
        joined = td.features.posterior(found, td.features.adjacency("V0", "V2")).value
        assert joined == pytest.approx(td.features.posterior(found, lambda network: network.n_edges == 1).value)
        assert td.features.edge_matrix(found).sum() == pytest.approx(joined)


def test_only_constant_columns() -> None:
    scores = td.score(table_of(np.zeros((2, 3), int), [1, 1]), td.BDeu())
    for found in (td.k_best_networks(scores, 3), td.k_best_classes(scores, 3)):
        assert td.features.posterior(found, td.features.edge("V0", "V1"), evidence=0.0).upper == 0.0
        assert td.features.posterior(found, lambda network: network.n_edges == 0).value == 1.0
        assert td.features.edge_matrix(found).tolist() == [[0, 0], [0, 0]]


def test_more_variables_than_bits() -> None:
    """Constant columns beyond the 64th: parents no longer fit a machine word."""
    codes = np.zeros((70, 6), int)
    codes[3], codes[68] = [0, 1, 0, 1, 1, 0], [0, 1, 0, 1, 1, 0]
    arities = [2 if v in (3, 68) else 1 for v in range(70)]
    found = td.k_best_networks(td.score(table_of(codes, arities), td.BDeu()), 3)
    assert td.features.posterior(found, td.features.edge("V3", "V68")).value == pytest.approx(
        td.features.edge_matrix(found)[3, 68]
    )
    assert td.features.posterior(found, td.features.d_separation("V3", "V69")).value == pytest.approx(1.0)


def test_drawn_networks_count_alike() -> None:
    drawn = [td.Network(["x", "y"], {"y": ["x"]})] * 3 + [td.Network(["x", "y"], {})]
    found = td.features.posterior(drawn, td.features.edge("x", "y"))
    assert (found.value, found.coverage, found.lower, found.last_factor) == (0.75, None, None, None)
    assert found.standard_error == pytest.approx(math.sqrt(0.75 * 0.25 / 3))
    assert td.features.edge_matrix(drawn).tolist() == [[0, 0.75], [0, 0]]
    assert str(found) == "edge x -> y: 0.75 +- 0.25"


class Drawn(HeldNetworks[td.Network]):
    """Networks held as masks, as a sample is; asking for one as a network is too slow for a million."""

    def __init__(self, source: td.types.Scores, parents: np.ndarray) -> None:
        self.source, self.parents = source, parents

    def _item(self, place: int) -> td.Network:
        raise AssertionError("networks were made one by one")


@given(tables(variables=(2, 4), most_states=3, rows=(5, 40)), st.integers(0, 2**32))
@settings(max_examples=20)
def test_networks_drawn_as_masks(table: td.Table, seed: int) -> None:
    scores = td.score(table, td.BDeu())
    every = ranked(scores)[1]
    chosen = every[np.random.default_rng(seed).integers(0, len(every), 20)]
    drawn = Drawn(scores, chosen)
    networks_one_by_one = [drawn.network(place) for place in range(len(drawn))]
    feature = td.features.path(*table.names[:2])
    assert td.features.posterior(drawn, feature) == td.features.posterior(networks_one_by_one, feature)
    assert td.features.edge_matrix(drawn).tolist() == td.features.edge_matrix(networks_one_by_one).tolist()
    densities = [
        td.features.predictive_log_density(networks, table, table) for networks in (drawn, networks_one_by_one)
    ]
    assert densities[0].tolist() == densities[1].tolist()


def test_without_evidence_nothing_is_claimed() -> None:
    found = td.features.posterior(td.k_best_networks(scores_with(3), 4), td.features.edge("a", "b"))
    assert (found.coverage, found.lower, found.upper, found.standard_error) == (None, None, None, None)


def test_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = scores_with(4)
    found, classes = td.k_best_networks(scores, 5), td.k_best_classes(scores, 50)
    with pytest.raises(td.ScoreError, match="more than the evidence"):
        td.features.posterior(found, td.features.edge("a", "b"), evidence=found.scores[0] - 1)
    with pytest.raises(td.ScoreError, match="finite number"):
        td.features.coverage(found, math.nan)
    with pytest.raises(td.ScoreError, match="is for lists of classes"):
        td.features.posterior(found, td.features.edge("a", "b"), weights="classes")
    with pytest.raises(td.ScoreError, match='"networks" or "classes"'):
        td.features.edge_matrix(classes, weights="sizes")
    with pytest.raises(td.NetworkError, match="no variable 'z'"):
        td.features.posterior(classes, td.features.path("a", "z"))
    with pytest.raises(td.NetworkError, match="one or more networks"):
        td.features.edge_matrix([])
    with pytest.raises(td.ScoreError, match="drawn at random"):
        td.features.posterior([found[0]], td.features.edge("a", "b"), evidence=0.0)
    with pytest.raises(td.NetworkError, match="same variables"):
        td.features.posterior([td.Network(["x", "y"], {}), td.Network(["y", "x"], {})], td.features.edge("x", "y"))
    monkeypatch.setattr(list_averaging, "MOST_MEMBERS", 10)
    with pytest.raises(td.TooLarge, match=r"members of classes.*class_invariant=True"):
        td.features.posterior(classes, lambda network: True)


# Evidence and P(best network) by two other programs. For Tic 16 classes of 104 networks tie, by both; what the
# best class and, for Vote, the ten best cover is from Chen & Tian 2014, Table 1.
PUBLISHED = [
    ("tic_tac_toe", -9418.289140, 0.00840278, 0.059, (16, 104 * 0.00840278)),
    ("voting", -4610.444408, 0.00415262, 0.0125, (10, 0.0871)),
]


@pytest.mark.parametrize(("name", "evidence", "best", "one", "more"), PUBLISHED)
def test_published_coverage(name: str, evidence: float, best: float, one: float, more: tuple[int, float]) -> None:
    scores = scores_of(name, "BDeu")
    assert td.features.coverage(td.k_best_networks(scores, 1), evidence) == pytest.approx(best, rel=1e-5)
    assert td.features.coverage(td.k_best_classes(scores, 1), evidence) == pytest.approx(one, rel=5e-3)
    assert td.features.coverage(td.k_best_classes(scores, more[0]), evidence) == pytest.approx(more[1], rel=1e-3)


def test_what_is_no_list_is_refused() -> None:
    networks = td.k_best_networks(td.score(td.example_table(), td.BDeu()), 3)
    for wrong in (networks[0], None, iter(networks)):
        with pytest.raises(td.NetworkError, match="Averages are over"):
            td.features.posterior(wrong, td.features.edge("smoke", "lung"))
    with pytest.raises(td.ScoreError, match="covers a share"):
        td.features.coverage(list(networks), 0.0)
    with pytest.raises(td.ScoreError, match="count alike"):
        td.features.posterior(list(networks), td.features.edge("smoke", "lung"), weights="classes")
    with pytest.raises(td.TableError, match="must be a Table, not dict"):
        td.features.predictive_log_density(networks, {}, {})
