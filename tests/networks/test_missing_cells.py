"""What observed cells say of missing ones, against sums over the joint table of all variables."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from topdag.errors import NetworkError, TooLarge
from topdag.networks import missing_cells
from topdag.networks.fitted import FittedNetwork
from topdag.networks.missing_cells import ExpectedCounts, IncompleteRows, MissingCells
from topdag.networks.network import Network
from topdag.networks.random import random_network

N_ROWS = 12


def rows_with_gaps(fitted: FittedNetwork, share: float, seed: int) -> IncompleteRows:
    generator = np.random.default_rng(seed)
    arities = np.array(fitted.arities)
    codes = generator.integers(0, arities[:, None], (len(arities), N_ROWS))
    is_gap = generator.random(codes.shape) < share
    weights = generator.integers(1, 4, N_ROWS).astype(np.float64)
    return IncompleteRows(np.where(is_gap, arities[:, None], codes).astype(np.uint16), weights, fitted.arities)


def by_the_joint_table(fitted: FittedNetwork, rows: IncompleteRows) -> ExpectedCounts:
    joint, log_likelihood = fitted.joint(), 0.0
    expected = np.zeros_like(joint)
    for codes, weight in zip(rows.codes.T.tolist(), rows.weights.tolist(), strict=True):
        cells = tuple(slice(c, c + 1) if c < r else slice(None) for c, r in zip(codes, fitted.arities, strict=True))
        total = joint[cells].sum()
        log_likelihood += weight * math.log(total)
        expected[cells] += weight * joint[cells] / total
    return ExpectedCounts({name: on_family(fitted, name, expected) for name in fitted.names}, log_likelihood)


def on_family(fitted: FittedNetwork, name: str, joint: NDArray[np.float64]) -> NDArray[np.float64]:
    family = [fitted.names.index(member) for member in (*fitted.network.parents[name], name)]
    summed = joint.sum(axis=tuple(v for v in range(joint.ndim) if v not in family))
    return summed.transpose([sorted(family).index(v) for v in family])


cases = st.tuples(st.integers(1, 7), st.sampled_from([0.0, 0.2, 0.5, 0.9, 1.0]), st.integers(0, 10_000))


@settings(max_examples=60)
@given(cases, st.sampled_from([1, missing_cells.CELLS_AT_ONCE]))
def test_expected_counts_are_sums_over_the_joint_table(case: tuple[int, float, int], at_once: int) -> None:
    n, share, seed = case
    fitted = random_network(n, arities=(1, 3), max_parents=3, seed=seed)
    rows = rows_with_gaps(fitted, share, seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(missing_cells, "CELLS_AT_ONCE", at_once)
        found = MissingCells(fitted.network, rows).expected_counts(fitted)
    truth = by_the_joint_table(fitted, rows)
    assert found.log_likelihood == pytest.approx(truth.log_likelihood, abs=1e-9)
    for name in fitted.names:
        np.testing.assert_allclose(found.counts[name], truth.counts[name], atol=1e-9, rtol=0)


@settings(max_examples=20)
@given(cases)
def test_what_follows_from_part_of_a_row(case: tuple[int, float, int]) -> None:
    n, share, seed = case
    fitted = random_network(n, arities=(1, 3), max_parents=3, seed=seed)
    codes = rows_with_gaps(fitted, share, seed).codes[:, 0].tolist()
    row = {v: of[c] for (v, of), c in zip(fitted.states.items(), codes, strict=True) if c < len(of)}
    cells = tuple(slice(c, c + 1) if c < r else slice(None) for c, r in zip(codes, fitted.arities, strict=True))
    joint = np.zeros_like(fitted.joint())
    joint[cells] = fitted.joint()[cells]
    found = fitted.probabilities_given(row)
    assert list(found) == [name for name in fitted.names if name not in row]
    for name, own in found.items():
        others = tuple(v for v in range(n) if fitted.names[v] != name)
        np.testing.assert_allclose(list(own.values()), joint.sum(axis=others) / joint.sum(), atol=1e-9)
    whole = {name: row.get(name) for name in fitted.names}
    assert fitted.probabilities_given(whole) == found
    assert fitted.log_likelihood([whole]) == pytest.approx(math.log(joint.sum()), abs=1e-9)


@settings(max_examples=40)
@given(cases)
def test_completed_rows_keep_what_is_observed_and_are_divided_by_probability(case: tuple[int, float, int]) -> None:
    n, share, seed = case
    fitted = random_network(n, arities=(1, 3), max_parents=3, seed=seed)
    rows, parts = rows_with_gaps(fitted, share, seed), 2**14
    codes, counts = MissingCells(fitted.network, rows).completed(fitted, parts, seed=0)
    assert (codes < np.array(fitted.arities)[:, None]).all() and (counts > 0).all()
    assert counts.sum() == rows.weights.sum() * parts
    truth = by_the_joint_table(fitted, rows)
    shape = fitted.arities
    joint = np.bincount(np.ravel_multi_index(tuple(codes.astype(int)), shape), counts / parts, math.prod(shape))
    for name in fitted.names:  # each cell of the joint table is off by less than a part for each row and variable
        found = on_family(fitted, name, joint.reshape(shape))
        np.testing.assert_allclose(found, truth.counts[name], atol=0.05, rtol=0)


def test_one_part_of_a_row_is_a_draw_that_favours_nothing() -> None:
    fitted = FittedNetwork(Network(["a"], {}), {"a": (0, 1)}, {"a": [0.3, 0.7]})
    rows = IncompleteRows(np.full((1, 4000), 2, np.uint16), np.ones(4000), (2,))
    codes, counts = MissingCells(fitted.network, rows).completed(fitted, 1, seed=0)
    assert counts.tolist() == [1] * 4000
    assert abs(codes.mean() - 0.7) < 0.03


def test_a_wide_network_without_observed_cells_is_refused_before_memory_is_taken() -> None:
    parents = {f"c{i}{j}": [f"p{i}", f"p{j}"] for i in range(30) for j in range(i)}
    network = Network([*(f"p{i}" for i in range(30)), *parents], parents)
    tables = {name: np.full((2,) * (1 + len(network.parents[name])), 0.5) for name in network.names}
    fitted = FittedNetwork(network, dict.fromkeys(network.names, (0, 1)), tables)
    codes = np.zeros((len(network.names), 1), np.uint16)
    assert MissingCells(network, IncompleteRows(codes, np.ones(1), fitted.arities)).expected_counts(fitted)
    codes[:30] = 2
    with pytest.raises(TooLarge, match="hangs together so closely"):
        MissingCells(network, IncompleteRows(codes, np.ones(1), fitted.arities)).expected_counts(fitted)


def test_an_impossible_row_has_no_likelihood_and_no_completion() -> None:
    network = Network(["a", "b"], {"b": ["a"]})
    fitted = FittedNetwork(network, {"a": (0, 1), "b": (0, 1)}, {"a": [0.5, 0.5], "b": [[1, 0], [1, 0]]})
    cells = MissingCells(network, IncompleteRows(np.array([[2], [1]], np.uint16), np.ones(1), (2, 2)))
    assert cells.expected_counts(fitted).log_likelihood == -math.inf
    with pytest.raises(NetworkError, match="impossible"):
        cells.completed(fitted, 4, seed=0)
    with pytest.raises(NetworkError, match="This row has probability 0"):
        fitted.probabilities_given({"b": 1})


def test_many_missing_variables_in_a_chain_do_not_underflow() -> None:
    names = [f"v{i}" for i in range(600)]
    network = Network(names, {b: [a] for a, b in itertools.pairwise(names)})
    tables = {name: np.full((9,) * (1 + len(network.parents[name])), 1 / 9) for name in names}
    fitted = FittedNetwork(network, dict.fromkeys(names, range(9)), tables)
    codes = np.zeros((600, 1), np.uint16)
    codes[::2] = 9
    found = MissingCells(network, IncompleteRows(codes, np.ones(1), fitted.arities)).expected_counts(fitted)
    assert found.log_likelihood == pytest.approx(-300 * math.log(9))
