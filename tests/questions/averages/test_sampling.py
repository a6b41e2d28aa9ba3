"""Samples of networks against exact posteriors. Seeds are fixed; a right sampler would fail once in a million seeds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from brute_force import networks
from ctrl_c import press_ctrl_c
from hypothesis import given, settings
from hypothesis import strategies as st
from sampling_truth import FIT, misfit, posterior, row_numbers
from stop_cases.counted import counted_clock
from strategies import list_scores, sampled_table, tied_lists

import topdag as td
from topdag.answers.samples import group_rows
from topdag.knowledge.priors import Prior
from topdag.scoring.score import scores_from_lists
from topdag.scoring.scores import Scores
from topdag.search.family_lists import FamilyLists

MANY = 100_000


def later_is_heavier(variable: str, earlier: frozenset[str]) -> float:
    return 0.7 * len(earlier) * (variable == "V1") - 0.4 * ("V0" in earlier)


def few_parents(variable: str, parents: frozenset[str]) -> float:
    return -0.8 * len(parents) + 0.5 * (variable in {"V0", "V2"})


PRIORS: list[Prior | None] = [
    None,
    td.EdgePrior({("V0", "V1"): 1.5, ("V2", "V0"): -2.0}, default=-0.5),
    td.FairPrior(),
    td.OrderModular(),
    td.OrderModular(order_weight=later_is_heavier),
    td.OrderModular(order_weight=later_is_heavier, parent_weight=few_parents),
]


def assert_samples_fit(scores: Scores, prior: Prior | None, *, seed: int = 1, n_samples: int = MANY) -> None:
    """Whole networks occur as often as their posterior probability says."""
    masks, probabilities = posterior(scores, prior)
    drawn = td.sample_networks(scores, n_samples, prior=prior, seed=seed)
    counts = np.bincount(row_numbers(drawn.parents, masks), minlength=len(masks))
    assert misfit(counts.astype(float), probabilities) < FIT
    assert drawn.error < 1e-9


@pytest.mark.parametrize("prior", PRIORS, ids=str)
@pytest.mark.parametrize("n", [3, 4])
def test_networks_of_a_table(prior: Prior | None, n: int) -> None:
    assert_samples_fit(td.score(sampled_table(n, 20, seed=n), td.BDeu()), prior)


@pytest.mark.parametrize("prior", PRIORS, ids=str)
def test_networks_with_few_parents(prior: Prior | None) -> None:
    assert_samples_fit(td.score(sampled_table(4, 30, seed=9, states=3), td.BDeu(), max_parents=1), prior)


@pytest.mark.parametrize("prior", PRIORS, ids=str)
def test_all_networks_alike(prior: Prior | None) -> None:
    """Scores that all tie: the samples show the prior alone."""
    listed = [(x, tuple(v for v in range(3) if m >> v & 1), -4.0) for x in range(3) for m in range(8) if not m >> x & 1]
    lists = FamilyLists.build(["V0", "V1", "V2"], listed)
    assert_samples_fit(scores_from_lists(lists, keep="all"), prior, seed=5)


def test_a_wrong_prior_would_be_noticed() -> None:
    scores = td.score(sampled_table(3, 20, seed=3), td.BDeu())
    masks, probabilities = posterior(scores, td.OrderModular())
    counts = np.bincount(row_numbers(td.sample_networks(scores, MANY).parents, masks), minlength=len(masks))
    assert misfit(counts.astype(float), probabilities) > 10 * FIT


@settings(max_examples=25)
@given(tied_lists(variables=(1, 4)), st.sampled_from([None, td.OrderModular()]), st.integers(0, 2**64 - 1))
def test_networks_of_lists_with_ties(lists: FamilyLists, prior: Prior | None, seed: int) -> None:
    scores = scores_from_lists(lists, keep="all")
    if not any(np.isfinite(list_values(scores))):
        with pytest.raises(td.ScoreError, match="No network is allowed"):
            td.sample_networks(scores, 5, prior=prior)
        return
    assert_samples_fit(scores, prior, seed=seed, n_samples=2000)


def list_values(scores: Scores) -> list[float]:
    rows = networks(len(scores.columns)).tolist()
    return [sum(scores.store.value(x, mask) for x, mask in enumerate(row)) for row in rows]


@pytest.mark.parametrize("prior", [None, td.FairPrior(), td.OrderModular()], ids=str)
def test_edges_of_five_variables(prior: Prior | None) -> None:
    scores = td.score(sampled_table(5, 50, seed=3), td.BDeu())
    masks, probabilities = posterior(scores, prior)
    found = td.sample_networks(scores, MANY, prior=prior, seed=2).edge_frequencies()
    for j in range(5):
        for i in range(5):
            truth = float(probabilities[masks[:, j] >> np.uint64(i) & np.uint64(1) == 1].sum())
            spread = math.sqrt(truth * (1 - truth) / MANY)
            assert abs(found.frequencies[i, j] - truth) <= 5.5 * spread + 1e-12  # 1e-6 over 20 edges
            assert found.errors[i, j] == pytest.approx(spread, rel=0.1, abs=1e-4)


def test_scores_far_apart() -> None:
    """Thousands of nats between families neither overflow nor vanish: the few good networks share everything."""
    listed = []
    for x in range(4):
        for mask in (m for m in range(16) if not m >> x & 1):
            parents = tuple(v for v in range(4) if mask >> v & 1)
            listed.append((x, parents, -30_000.0 * (x + 1) + 9_000.0 * len(parents) - (x * mask % 3)))
    scores = scores_from_lists(FamilyLists.build([f"V{v}" for v in range(4)], listed), keep="all")
    for prior in (None, td.OrderModular()):
        assert_samples_fit(scores, prior, n_samples=20_000)


@pytest.mark.parametrize("prior", [None, td.OrderModular()], ids=str)
def test_threads_and_numbers_do_not_matter(prior: Prior | None) -> None:
    scores = td.score(td.example_table(), td.BDeu())
    one = td.sample_networks(scores, 3000, prior=prior, seed=4, threads=1)
    two = td.sample_networks(scores, 3000, prior=prior, seed=4, threads=2)
    few = td.sample_networks(scores, 700, prior=prior, seed=4)
    other = td.sample_networks(scores, 3000, prior=prior, seed=5)
    assert np.array_equal(one.parents, two.parents)
    assert np.array_equal(one.parents[:700], few.parents)
    assert not np.array_equal(one.parents, other.parents)
    for threads in (2, 3, 5):  # so many that threads share the sorting
        many = td.sample_networks(scores, 25_000, prior=prior, seed=4, threads=threads)
        assert np.array_equal(many.parents[:3000], one.parents) and len(many) == 25_000
        assert np.array_equal(many.parents, td.sample_networks(scores, 25_000, prior=prior, seed=4, threads=1).parents)


def test_a_sample_is_a_sequence_of_networks() -> None:
    scores = td.score(td.example_table(), td.BDeu(), max_parents=2)
    drawn = td.sample_networks(scores, 500, seed=3)
    assert len(drawn) == len(list(drawn)) == 500
    assert drawn[-1] == drawn[499] == drawn[490:][-1]
    for network in drawn:  # that it is one says that there is no cycle
        assert max(map(len, network.parents.values())) <= 2
    assert drawn[7].score == pytest.approx(scores.of(drawn[7]))
    with pytest.raises(IndexError):
        _ = drawn[500]


def test_features_and_different_networks() -> None:
    drawn = td.sample_networks(td.example_table(), 2000, seed=8)
    asked = []

    def edges(network: td.Network) -> float:
        asked.append(network)
        return network.n_edges

    mean, error = drawn.estimate(edges)
    values = [network.n_edges for network in drawn]
    assert mean == pytest.approx(np.mean(values))
    assert error == pytest.approx(np.std(values, ddof=1) / math.sqrt(2000))
    assert len(asked) == len(set(asked)) == drawn.n_distinct
    has_edge = drawn.estimate(lambda network: ("lung", "either") in network.edges)
    assert has_edge == pytest.approx(drawn.edge_frequencies().of("lung", "either"))
    counts = [count for _, count in drawn.distinct()]
    assert sum(counts) == 2000
    assert counts == sorted(counts, reverse=True)
    frame = drawn.to_frame()
    assert frame["count"].tolist() == counts
    assert frame["share"].sum() == pytest.approx(1.0)
    edge_frame = drawn.edge_frequencies().to_frame()
    assert edge_frame["frequency"].is_monotonic_decreasing
    with pytest.raises(td.ScoreError, match="a finite number"):
        drawn.estimate(lambda _: math.nan)


def test_no_sample_and_one() -> None:
    none = td.sample_networks(td.example_table(), 0)
    assert len(none) == none.n_distinct == len(none.to_frame()) == 0
    assert not none.edge_frequencies().frequencies.any()
    with pytest.raises(td.ScoreError, match="no samples"):
        none.estimate(lambda network: network.n_edges)
    one = td.sample_networks(td.example_table(), 1)
    mean, error = one.estimate(lambda network: network.n_edges)
    assert mean == one[0].n_edges
    assert math.isnan(error)


def test_one_variable() -> None:
    scores = list_scores(FamilyLists.build(["V0"], [(0, (), -1.0)]))
    for prior in (None, td.OrderModular()):
        drawn = td.sample_networks(scores_from_lists(scores.store.lists, keep="all"), 3, prior=prior)
        assert drawn.parents.tolist() == [[0]] * 3


def test_constant_columns_stay_isolated() -> None:
    columns = {"a": [0, 1, 0, 1, 1, 0], "b": [7] * 6, "c": [0, 1, 0, 1, 0, 0]}
    drawn = td.sample_networks(td.Table(columns), 200, seed=1)
    assert drawn.names == ("a", "b", "c")
    assert drawn.scored_names == ("a", "c")
    assert {edge for network in drawn for edge in network.edges} == {("a", "c"), ("c", "a")}
    assert not drawn.edge_frequencies().frequencies[1].any()
    nothing = td.sample_networks(td.Table({"a": [1, 1], "b": [2, 2]}), 4)
    assert [network.n_edges for network in nothing] == [0] * 4


def test_rows_with_equal_numbers_are_told_apart() -> None:
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 3, (500, 3)).astype(np.uint64)
    first, counts = group_rows(rows)
    known, truth = np.unique(rows, axis=0, return_counts=True)
    assert sorted(map(tuple, rows[first].tolist())) == list(map(tuple, known.tolist()))
    assert dict(zip(map(tuple, rows[first].tolist()), counts.tolist(), strict=True)) == dict(
        zip(map(tuple, known.tolist()), truth.tolist(), strict=True)
    )


# ---- Limits and refusals


def test_nothing_is_given_when_time_is_up() -> None:
    table = sampled_table(16, 200, seed=1)
    with pytest.raises(td.OutOfTime, match="those that end first are not typical"):
        td.sample_networks(table, 10, time_limit=0)
    scores = td.score(table, td.BDeu())
    for prior in (None, td.OrderModular()):
        with counted_clock(), pytest.raises(td.OutOfTime, match="no samples are given"):
            td.sample_networks(scores, 10**6, prior=prior, time_limit=50, threads=1)


@pytest.mark.parametrize("phase", ["ordering", "listing"])
def test_control_c_gives_nothing(phase: str) -> None:
    def press(progress: td.types.Progress) -> None:
        if progress.phase == phase:
            press_ctrl_c()

    scores = td.score(sampled_table(15, 200, seed=1), td.BDeu())
    with pytest.raises(td.Interrupted, match="not typical"):
        td.sample_networks(scores, 10**6, on_progress=press)


def test_what_cannot_fit_is_refused() -> None:
    with pytest.raises(td.TooLarge, match="Sampling networks of 8 variables needs"):
        td.sample_networks(td.example_table(), 10**6, memory_limit="1MB")
    with pytest.raises(td.TooLarge, match="Sampling networks of 27 variables needs"):
        td.sample_networks(sampled_table(27, 10, seed=1), 1, memory_limit="8GB")


def test_pruned_scores_are_refused() -> None:
    scores = td.score(td.example_table(), td.BDeu(), keep="best")
    with pytest.raises(td.ScoreError, match='keep="all"'):
        td.sample_networks(scores, 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_samples": -1}, "n_samples"),
        ({"n_samples": 1.5}, "n_samples"),
        ({"n_samples": True}, "n_samples"),
        ({"n_samples": 1, "seed": -1}, "seed"),
        ({"n_samples": 1, "seed": 2**64}, "seed"),
        ({"n_samples": 1, "prior": "fair"}, "prior"),
        (
            {"n_samples": 1, "prior": td.OrderModular(order_weight=lambda _, earlier: 1e7)},
            "order_weight",
        ),
    ],
)
def test_wrong_values_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        td.sample_networks(td.example_table(), **options)


def test_scores_chosen_for_the_best_network_are_made_anew() -> None:
    """With BIC and 23 variables ``score`` keeps what the best network needs; other questions score again."""
    table = td.Table(np.random.default_rng(1).integers(0, 2, size=(60, 23)))
    scores = td.score(table, td.BIC())
    assert scores.automatic and not scores.is_kept()
    with pytest.raises(td.OutOfTime):
        td.sample_networks(scores, 1, time_limit=0)


@pytest.mark.parametrize("value", [None, "5", 1j, math.inf])
def test_estimates_are_of_numbers(value: object) -> None:
    drawn = td.sample_networks(td.example_table(), 3)
    with pytest.raises(td.ScoreError, match="a finite number"):
        drawn.estimate(lambda network: value)
