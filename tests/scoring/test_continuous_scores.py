"""BGe and Gaussian BIC against least squares and row-by-row prediction, brute force, and rational arithmetic."""

from __future__ import annotations

import math
from itertools import combinations

import continuous_truth as truth
import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st

import topdag as td
from topdag import _core
from topdag.answers.check import check_network, local_by_definition
from topdag.scoring.kinds.discrete import ScoreKind
from topdag.scoring.kinds.scatter import scatter_of
from topdag.scoring.scores import Scores

KINDS = [td.BGe(), td.GaussianBIC(), td.GaussianAIC()]
TRUTHS = {td.BGe: truth.bge, td.GaussianBIC: truth.gaussian_bic, td.GaussianAIC: truth.gaussian_aic}


def related(seed: int, n: int, n_rows: int, shift: float = 0.0) -> np.ndarray:
    """Columns that lean on those before, of different sizes."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n_rows, n))
    for v in range(1, n):
        rows[:, v] += rows[:, :v] @ (rng.integers(0, 2, v) * rng.normal(size=v))
    return rows * 2.0 ** rng.integers(-1, 2, n) + shift


def table_of(rows: np.ndarray) -> td.Table:
    return td.Table(rows, types={"*": "continuous"})


@st.composite
def tables(draw: st.DrawFn, most: int = 4) -> np.ndarray:
    n = draw(st.integers(2, most))
    n_rows = draw(st.integers(n + 2, 30))
    rows = related(draw(st.integers(0, 2**32)), n, n_rows, draw(st.sampled_from([0.0, 3.0])))
    copies = draw(st.lists(st.integers(0, n_rows - 1), max_size=5))
    return np.vstack([rows, rows[copies]])


def families(n: int) -> list[tuple[int, tuple[int, ...]]]:
    others = {x: [v for v in range(n) if v != x] for x in range(n)}
    return [(x, parents) for x in range(n) for size in range(n) for parents in combinations(others[x], size)]


def stored(scores: Scores, masks: tuple[int, ...]) -> float:
    return math.fsum(scores.store.value(x, mask) for x, mask in enumerate(masks))


@pytest.mark.parametrize("kind", KINDS, ids=repr)
@settings(max_examples=15)
@given(rows=tables())
def test_local_scores_are_what_the_definition_says(kind: ScoreKind, rows: np.ndarray) -> None:
    table = table_of(rows)
    scores = td.score(table, kind)
    for x, parents in families(rows.shape[1]):
        true = TRUTHS[type(kind)](rows, x, parents)
        mask = sum(1 << v for v in parents)
        assert kind.local(table, x, parents) == pytest.approx(true, abs=1e-8)
        assert scores.store.value(x, mask) == pytest.approx(true, abs=1e-8)
        names = tuple(table.names[v] for v in parents)
        assert local_by_definition(table, kind, table.names[x], names) == pytest.approx(true, abs=1e-8)


@settings(max_examples=15)
@given(rows=tables(most=3), alpha_mu=st.floats(0.1, 5), more=st.floats(0.1, 9), seed=st.integers(0, 99))
def test_bge_with_any_prior(rows: np.ndarray, alpha_mu: float, more: float, seed: int) -> None:
    n = rows.shape[1]
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n, n))
    precision, mean = root @ root.T + np.identity(n), rng.normal(size=n)
    precision = (precision + precision.T) / 2
    kind = td.BGe(alpha_mu, n - 1 + more, mean=tuple(mean), precision=tuple(map(tuple, precision)))
    table = table_of(rows)
    scores = td.score(table, kind)
    for x, parents in families(n):
        true = truth.bge(rows, x, parents, alpha_mu, n - 1 + more, mean, precision)
        assert kind.local(table, x, parents) == pytest.approx(true, abs=1e-8)
        assert scores.store.value(x, sum(1 << v for v in parents)) == pytest.approx(true, abs=1e-8)
        names = tuple(table.names[v] for v in parents)
        assert local_by_definition(table, kind, table.names[x], names) == pytest.approx(true, abs=1e-8)


@pytest.mark.parametrize("kind", KINDS, ids=repr)
@settings(max_examples=5)
@given(rows=tables())
def test_equivalent_networks_tie_to_the_bit(kind: ScoreKind, rows: np.ndarray) -> None:
    scores = td.score(table_of(rows), kind)
    values: dict[object, set[float]] = {}
    for masks in reference.all_networks(rows.shape[1]):
        values.setdefault(reference.equivalence_key(masks), set()).add(stored(scores, masks))
    assert {len(own) for own in values.values()} == {1}


@pytest.mark.parametrize("kind", KINDS, ids=repr)
@settings(max_examples=4)
@given(rows=tables())
def test_every_question_against_all_networks(kind: ScoreKind, rows: np.ndarray) -> None:
    scores = td.score(table_of(rows), kind)
    n = rows.shape[1]
    values = {masks: stored(scores, masks) for masks in reference.all_networks(n)}
    ranked = sorted(values.values(), reverse=True)
    assert td.best_network(scores).score == pytest.approx(ranked[0], abs=1e-9)
    assert [network.score for network in td.k_best_networks(scores, 10)] == pytest.approx(ranked[:10], abs=1e-9)
    assert len(td.networks_within(scores, 20)) == sum(value >= ranked[0] - math.log(20) for value in ranked)
    classes = {reference.equivalence_key(masks): value for masks, value in values.items()}
    found = [one.score for one in td.k_best_classes(scores, 5)]
    assert found == pytest.approx(sorted(classes.values(), reverse=True)[: len(found)], abs=1e-9)
    weights = {masks: math.exp(value - ranked[0]) for masks, value in values.items()}
    total = math.fsum(weights.values())
    assert td.log_evidence(scores) == pytest.approx(ranked[0] + math.log(total), abs=1e-7)
    edge = math.fsum(weight for masks, weight in weights.items() if masks[1] & 1) / total
    assert td.edge_posteriors(scores).matrix[0, 1] == pytest.approx(edge, abs=1e-7)
    assert len(td.sample_networks(scores, 7, seed=1)) == 7


def test_constraints_hold() -> None:
    rows = related(5, 5, 80)
    known = td.Constraints(forbidden_edges=[("V0", "V1")], ancestors=[("V4", "V0")], max_parents=2)
    scores = td.score(rows, td.BGe(), constraints=known)
    answer = td.best_network(scores)
    assert answer.network is not None
    every = td.score(rows, td.BGe())
    obeying = [
        stored(every, masks)
        for masks in reference.all_networks(5)
        if not masks[1] & 1 and all(mask.bit_count() <= 2 for mask in masks) and has_path(masks, 4, 0)
    ]
    assert answer.score == pytest.approx(max(obeying), abs=1e-9)


def has_path(masks: tuple[int, ...], begin: int, end: int) -> bool:
    return any(p == begin or has_path(masks, begin, p) for p in reference.members(masks[end]))


def test_twenty_variables_take_each_set_once_whatever_the_threads() -> None:
    table = table_of(related(1, 20, 200))
    one, four = (td.score(table, td.GaussianBIC(), threads=threads) for threads in (1, 4))
    assert one.n_sets == 2**20 == len(one.store.arrays[0])
    assert np.array_equal(one.store.arrays[0], four.store.arrays[0])
    answer = td.best_network(one)
    assert answer.proof.status is td.types.Status.PROVED
    assert answer.network is not None and check_network(answer.network, table, td.GaussianBIC()).is_fine


def test_nearly_dependent_columns_keep_all_digits() -> None:
    """Where a column follows from others up to 1e-7, determinants are right to the last digits."""
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(30, 4)) + 1000.0
    rows[:, 2] = rows[:, 0] + rows[:, 1] + 1e-7 * rows[:, 2]
    scatter, exact = scatter_of(table_of(rows), range(4)), truth.exact_scatter(rows)
    for size in range(1, 5):
        for columns in combinations(range(4), size):
            true = truth.exact_log_determinant([[exact[i][j] for j in columns] for i in columns])
            assert scatter.log_determinant(list(columns)) == pytest.approx(true, rel=1e-14, abs=1e-13)


def test_all_minors_are_those_of_single_sets() -> None:
    n = 16  # more than one block
    scatter = scatter_of(table_of(related(2, n, 40)), range(n))
    formula = _core.MinorFormula([float(size) for size in range(n + 1)], [2.0] * (n + 1))
    scores, degenerate = _core.score_minors(scatter, formula, 5, _core.Limits(2))
    assert degenerate == 0 and scores is not None
    sizes = np.bitwise_count(np.arange(2**n))
    assert np.array_equal(np.isfinite(scores), sizes <= 5)
    for mask in np.random.default_rng(0).choice(np.flatnonzero(sizes <= 5), 200):
        columns = reference.members(int(mask))
        assert scores[mask] == pytest.approx(len(columns) + 2 * scatter.log_determinant(list(columns)), abs=1e-9)


def test_weights_count_rows() -> None:
    rows = related(7, 3, 12)
    heavy = td.Table(rows, types={"*": "continuous"}, weights=np.arange(1, 13))
    repeated = table_of(np.repeat(rows, np.arange(1, 13), axis=0))
    assert heavy == repeated


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows[:, [0, 1, 2, 1]], "covariance of 'V1', 'V3' is degenerate: V3 = 1 V1"),
        (lambda rows: np.c_[rows, rows[:, 0] - 2 * rows[:, 2] + 5], "of 'V0', 'V2', 'V4' is degenerate: V4 = 1 V0"),
        (lambda rows: np.c_[rows, np.full(len(rows), 0.1)], "'V4' is constant"),
        (lambda rows: np.c_[rows, rows[:, 0] * 1e-200], "'V4' varies so little.*Scale it"),
        (lambda rows: rows[:4], "4 different rows are too few for the covariance of 4 variables.*max_parents=2"),
    ],
)
def test_degenerate_tables(change: object, message: str) -> None:
    rows = change(related(4, 4, 20, 100.0))  # type: ignore[operator]
    with pytest.raises(td.ScoreError, match=f"GaussianBIC.*{message}.*BGe"):
        td.score(table_of(rows), td.GaussianBIC())
    scores = td.score(table_of(rows), td.BGe())
    assert np.isfinite(scores.store.arrays[0]).all()
    x = rows.shape[1] - 1
    assert scores.local(f"V{x}", ["V1"]) == pytest.approx(truth.bge(rows, x, [1]), rel=1e-9)


def test_few_rows_do_where_parents_are_few() -> None:
    rows = related(4, 6, 5)
    assert td.best_network(td.score(rows, td.GaussianBIC(), max_parents=3)).proof.status is td.types.Status.PROVED


@pytest.mark.parametrize(
    ("settings_", "message"),
    [
        ({"alpha_mu": 0.0}, "alpha_mu must be a positive number"),
        ({"alpha_w": -1.0}, "alpha_w must be a positive number"),
        ({"mean": "no"}, "mean must be a number or one for each variable"),
        ({"precision": [[1.0, 2.0], [2.0, 1.0]]}, "positive definite"),
        ({"precision": 0.0}, "precision must be a positive number"),
    ],
)
def test_priors_that_are_none(settings_: dict[str, object], message: str) -> None:
    with pytest.raises(td.ScoreError, match=message):
        td.BGe(**settings_)  # type: ignore[arg-type]


def test_priors_that_do_not_fit_the_table() -> None:
    rows = related(1, 3, 9)
    for kind, message in (
        (td.BGe(alpha_w=4), "alpha_w must be more than 4 for 3 variables unless precision= is given"),
        (td.BGe(alpha_w=2, precision=1.0), "alpha_w must be more than 2 for 3 variables, not 2"),
        (td.BGe(mean=(0.0, 1.0)), "mean has 2 numbers, but there are 3"),
        (td.BGe(precision=((1.0, 0.0), (0.0, 1.0))), "precision has 2 rows, but there are 3"),
    ):
        with pytest.raises(td.ScoreError, match=message):
            td.score(rows, kind)


def test_a_note_where_columns_are_far_from_the_prior() -> None:
    rows = related(1, 3, 50)
    assert not any("BGe" in note for note in td.score(rows, td.BGe()).notes)
    rows[:, 1] += 1000
    notes = td.score(rows, td.BGe()).notes
    assert any("'V1' is far from that" in note for note in notes)
    assert any("'V1' is far from that" in note for note in td.best_network(td.score(rows, td.BGe())).notes)
    assert not any("far" in note for note in td.score(rows, td.BGe(mean=(0.0, 1000.0, 0.0))).notes)


def test_a_bound_before_anything_is_scored() -> None:
    rows = related(6, 6, 40)
    for kind in KINDS:
        table = table_of(rows)
        bounds = kind.bounds_alone(table)  # type: ignore[attr-defined]
        scores = td.score(table, kind)
        for x in range(6):
            best = max(value for _, value in scores.families(table.names[x]))
            assert best <= bounds[x] + 1e-9


def test_numbers_too_large_for_the_prior() -> None:
    """Beside numbers of 1e15 the prior's share is lost in 32 digits where a column depends on another."""
    rows = related(6, 3, 30)
    rows[:, 2] = rows[:, 0]
    assert np.isfinite(td.score(table_of(rows * 1e5), td.BGe()).store.arrays[0]).all()
    with pytest.raises(td.ScoreError, match=r"BGe: the matrix of 'V0', 'V2' is not positive definite to 32 digits"):
        td.score(table_of(rows * 1e15), td.BGe())
    with pytest.raises(td.ScoreError, match=r"BGe: the matrix of 'V0', 'V2' is not positive definite to 32 digits"):
        td.BGe().local(table_of(rows * 1e15), 2, [0])


def test_advice_for_mixed_tables_is_not_for_numbers_alone() -> None:
    with pytest.raises(td.ScoreError, match=r"is constant, so its variance is zero\. Leave it out\.$"):
        td.score({"s": ["u", "v", "v"], "x": [1.5, 1.5, 1.5]}, td.MixedBIC(), types={"x": "continuous"})
