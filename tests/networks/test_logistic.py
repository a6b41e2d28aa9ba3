"""Multinomial logistic regressions: the optimum against derivatives taken numerically and against scikit-learn."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import topdag as td
from topdag.networks.logistic import MOST_COEFFICIENTS, Logistic, log_softmax, logistic_optimum


def drawn_rows(seed: int, n_rows: int, n_columns: int, n_states: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    design = np.column_stack([np.ones(n_rows), rng.normal(size=(n_rows, n_columns))])
    lines = design @ rng.normal(size=(n_columns + 1, n_states))
    codes = (lines + rng.gumbel(size=lines.shape)).argmax(axis=1)
    return design, codes, rng.integers(1, 4, n_rows).astype(float)


def penalized(
    flat: np.ndarray, design: np.ndarray, codes: np.ndarray, weights: np.ndarray, n_states: int, ridge: float
) -> float:
    """As the docstring says it, row by row."""
    found = flat.reshape(-1, n_states)
    total = sum(
        w * float(log_softmax((row @ found)[np.newaxis])[0, k])
        for row, k, w in zip(design, codes, weights, strict=True)
    )
    imaginary = ridge * log_softmax(found[:1]).mean()
    return float(total + imaginary - ridge / 2 * (found[1:] ** 2).sum())


@pytest.mark.parametrize(("n_columns", "n_states", "ridge"), [(0, 3, 0.1), (2, 2, 0.1), (3, 4, 2.0), (1, 3, 1e-3)])
def test_no_coefficient_can_be_moved_with_gain(n_columns: int, n_states: int, ridge: float) -> None:
    rows = drawn_rows(n_columns + n_states, 30, n_columns, n_states)
    found, curvature = logistic_optimum(*rows, n_states, ridge)
    flat, step = found.ravel(), 1e-4
    best = penalized(flat, *rows, n_states, ridge)
    for place in range(len(flat)):
        ahead, behind = (
            penalized(flat + sign * step * np.eye(len(flat))[place], *rows, n_states, ridge) for sign in (1, -1)
        )
        assert (ahead - behind) / (2 * step) == pytest.approx(0, abs=1e-5)
        column, state = divmod(place, n_states)
        second = (ahead + behind - 2 * best) / step**2
        own = curvature[state * (n_columns + 1) + column, state * (n_columns + 1) + column]
        gauge = (rows[2].sum() + ridge) / n_states if column == 0 else 0.0
        assert -second == pytest.approx(own - gauge, rel=1e-3, abs=1e-3)
    rng = np.random.default_rng(0)
    others = [penalized(flat + rng.normal(size=len(flat)), *rows, n_states, ridge) for _ in range(20)]
    assert max(others) < best
    assert found[0].sum() == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(("n_states", "ridge"), [(3, 0.1), (4, 1.0), (5, 5.0)])
def test_the_optimum_is_that_of_scikit_learn(n_states: int, ridge: float) -> None:
    linear_model = pytest.importorskip("sklearn.linear_model")
    design, codes, weights = drawn_rows(n_states, 120, 3, n_states)
    found, _ = logistic_optimum(design, codes, weights, n_states, ridge)
    rows = np.concatenate([design[:, 1:], np.zeros((n_states, 3))])  # with the imaginary rows
    labels = np.concatenate([codes, np.arange(n_states)])
    counts = np.concatenate([weights, np.full(n_states, ridge / n_states)])
    other = linear_model.LogisticRegression(C=1 / ridge, tol=1e-10, max_iter=10_000).fit(rows, labels, counts)
    assert pytest.approx(other.coef_, abs=1e-4) == found[1:].T
    assert found[0] == pytest.approx(other.intercept_ - other.intercept_.mean(), abs=1e-4)


def test_it_converges_where_parents_tell_states_exactly_and_columns_repeat() -> None:
    x = np.repeat([-1e3, 1.0, 1e3], 10)
    design = np.column_stack([np.ones(30), x, x, np.zeros(30)])
    for ridge in (0.0, 0.1):
        found, curvature = logistic_optimum(design, np.repeat([0, 1, 2], 10), np.ones(30), 4, ridge)
        assert np.isfinite(found).all() and np.isfinite(curvature).all()
        assert (np.argmax(design @ found, axis=1) == np.repeat([0, 1, 2], 10)).all()
    with pytest.raises(td.NetworkError, match="coefficients; at most"):
        logistic_optimum(np.ones((2, MOST_COEFFICIENTS)), np.array([0, 1]), np.ones(2), 2, 0.1)


def test_units_and_the_order_of_states_do_not_matter() -> None:
    rng = np.random.default_rng(5)
    x, g = rng.normal(size=200), rng.choice(["u", "v", "w"], 200)
    s = np.where(x + (g == "u") + rng.normal(size=200) > 0.5, "yes", np.where(rng.random(200) < 0.5, "no", "perhaps"))
    network = td.Network(["x", "g", "s"], {"s": ["x", "g"]})
    plain = network.fit(pd.DataFrame({"x": x, "g": g, "s": s}))
    other = network.fit(pd.DataFrame({"x": 1e6 * x + 1e8, "g": g, "s": s}), states={"s": ["yes", "perhaps", "no"]})
    for state in ("yes", "no", "perhaps"):
        assert other.logistics["s"].coefficients[state]["x"] * 1e6 == pytest.approx(
            plain.logistics["s"].coefficients[state]["x"], rel=1e-6
        )
        added, there = (dict(own.logistics["s"].of_states[state]["g"]) for own in (plain, other))
        assert added == pytest.approx(there, rel=1e-6)
        assert sum(added[own] * (g == own).mean() for own in "uvw") == pytest.approx(0, abs=1e-9)
    assert "log odds of s=yes" in str(plain) and isinstance(plain.logistics["s"], Logistic)
