"""Effects among continuous variables: by sums over parent sets, and by enumeration of all networks."""

from __future__ import annotations

import math

import numpy as np
import pytest
import reference
from scipy.stats import invwishart, ks_2samp
from test_effects_of_states import weighed_networks

import topdag as td
from topdag.effects.numbers import AmongNumbers


def drawn_numbers(seed: int, n: int, n_rows: int = 30) -> np.ndarray:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n_rows, n)) + rng.normal(size=n)
    for v in range(1, n):
        rows[:, v] += rng.normal() * rows[:, v - 1]
    return rows


def posterior_matrix(rows: np.ndarray, alpha_mu: float, mean: float, precision: np.ndarray) -> np.ndarray:
    """The matrix of the normal-Wishart distribution after each row, one by one [DeGroot 1970]."""
    weight, centre, matrix = alpha_mu, np.full(rows.shape[1], mean), precision.copy()
    for row in rows:
        away = row - centre
        matrix = matrix + weight / (weight + 1) * np.outer(away, away)
        centre = centre + away / (weight + 1)
        weight += 1
    return matrix


def slope(matrix: np.ndarray, x: int, parents: tuple[int, ...], y: int) -> float:
    causes = [x, *parents]
    return float((np.linalg.inv(matrix[np.ix_(causes, causes)]) @ matrix[causes, y])[0])


@pytest.mark.parametrize(("seed", "n"), [(0, 4), (1, 4), (2, 5)])
def test_all_networks_with_the_prior_of_bge(seed: int, n: int) -> None:
    rows = drawn_numbers(seed, n)
    kind = td.BGe(alpha_mu=2.0, mean=0.5)
    matrix = posterior_matrix(rows, 2.0, 0.5, np.identity(n) * 2.0 * 2.0 / 3.0)
    check(td.Table(rows, types={"*": "continuous"}), kind, matrix)


def test_all_networks_by_least_squares() -> None:
    rows = drawn_numbers(3, 4)
    check(td.Table(rows, types={"*": "continuous"}), td.GaussianBIC(), np.cov(rows.T))


def check(table: td.Table, kind: td.types.ScoreKind, matrix: np.ndarray) -> None:
    found = td.causal_effects(table, kind=kind, share=1.0, draws=0)
    networks = weighed_networks(td.score(table, kind))
    shares = [reference.parent_set_shares(networks, x) for x in range(len(matrix))]
    for (cause, outcome), effect in found.items():
        x, y = table.index(cause), table.index(outcome)
        sets = [(reference.members(mask), p) for mask, p in shares[x].items() if not mask >> y & 1]
        truth = sum(p * slope(matrix, x, parents, y) for parents, p in sets)
        assert effect.value == pytest.approx(truth, abs=1e-9, rel=1e-9)
        assert effect.supported == 1.0 and not effect.distributions
    deviations = table.numbers.std(axis=1)
    sizes = np.abs(found.matrix) * deviations[:, None] / deviations
    assert found.ranked[0].size == pytest.approx(sizes.max())


def test_draws_are_those_of_the_covariance() -> None:
    """Of s of n variables the covariance has an inverse Wishart distribution with alpha_w + N - n + s degrees."""
    n, n_rows = 4, 9
    rows = drawn_numbers(5, n, n_rows)
    table = td.Table(rows, types={"*": "continuous"})
    among = AmongNumbers.by_prior(table, td.BGe())
    matrix = posterior_matrix(rows, 1.0, 0.0, np.identity(n) * 0.5)
    ((_, drawn),) = among.draws(0, [2], {3: (None, np.random.default_rng(0))}, 4000)
    everything = invwishart(n + 2 + n_rows, matrix).rvs(4000, random_state=1)
    assert ks_2samp(drawn, [slope(covariance, 0, (2,), 3) for covariance in everything]).pvalue > 0.001


def test_draws_by_least_squares_have_the_usual_error() -> None:
    """The standard error of a coefficient, as every program prints it."""
    rows = drawn_numbers(6, 3, 40)
    design = np.column_stack([rows[:, 0], rows[:, 1], np.ones(40)])
    fitted = np.linalg.lstsq(design, rows[:, 2], rcond=None)[0]
    residual = rows[:, 2] - design @ fitted
    error = math.sqrt(residual @ residual / 37 * np.linalg.inv(design.T @ design)[0, 0])
    among = AmongNumbers.by_least_squares(td.Table(rows, types={"*": "continuous"}))
    ((_, drawn),) = among.draws(0, [1], {2: (None, np.random.default_rng(0))}, 20000)
    assert drawn.mean() == pytest.approx(fitted[0], abs=5 * error / math.sqrt(20000))
    assert drawn.std() == pytest.approx(error * math.sqrt(37 / 35), rel=0.02)


def test_units_do_not_matter() -> None:
    rows = drawn_numbers(7, 4, 50)
    units = np.array([1.0, 1000.0, 1e-6, 1e8])
    plain = td.causal_effects(td.Table(rows, types={"*": "continuous"}), kind="gaussian-bic", draws=0, share=1)
    scaled = td.causal_effects(td.Table(rows * units, types={"*": "continuous"}), kind="gaussian-bic", draws=0, share=1)
    for pair, effect in plain.items():
        x, y = int(pair[0][1:]), int(pair[1][1:])
        assert scaled[pair].value * units[x] / units[y] == pytest.approx(effect.value, abs=1e-6)
        assert scaled[pair].size == pytest.approx(effect.size, abs=1e-6)
