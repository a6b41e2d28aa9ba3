"""The Asia network: its published probabilities and some well-known consequences."""

from __future__ import annotations

import numpy as np
import pytest

from topdag.networks.example import example_network, example_table

NAMES = ("asia", "tub", "smoke", "lung", "bronc", "either", "xray", "dysp")
YES, NO = 0, 1


def probability_of_yes(name: str) -> float:
    others = tuple(v for v, other in enumerate(NAMES) if other != name)
    return float(example_network().joint().sum(axis=others)[YES])


def test_structure() -> None:
    network = example_network().network
    assert network.names == NAMES
    assert set(network.edges) == {
        ("asia", "tub"),
        ("smoke", "lung"),
        ("smoke", "bronc"),
        ("tub", "either"),
        ("lung", "either"),
        ("either", "xray"),
        ("either", "dysp"),
        ("bronc", "dysp"),
    }
    assert set(example_network().states.values()) == {("yes", "no")}


@pytest.mark.parametrize(
    ("name", "given", "yes"),
    [
        ("asia", (), 0.01),
        ("tub", (YES,), 0.05),
        ("tub", (NO,), 0.01),
        ("smoke", (), 0.5),
        ("lung", (YES,), 0.1),
        ("lung", (NO,), 0.01),
        ("bronc", (YES,), 0.6),
        ("bronc", (NO,), 0.3),
        ("either", (YES, YES), 1.0),
        ("either", (YES, NO), 1.0),
        ("either", (NO, YES), 1.0),
        ("either", (NO, NO), 0.0),
        ("xray", (YES,), 0.98),
        ("xray", (NO,), 0.05),
        ("dysp", (YES, YES), 0.9),
        ("dysp", (YES, NO), 0.8),
        ("dysp", (NO, YES), 0.7),
        ("dysp", (NO, NO), 0.1),
    ],
)
def test_published_probabilities(name: str, given: tuple[int, ...], yes: float) -> None:
    assert example_network().tables[name][given][YES] == yes


@pytest.mark.parametrize(
    ("name", "yes"),
    [
        ("tub", 0.0104),
        ("lung", 0.055),
        ("bronc", 0.45),
        ("either", 0.064828),
        ("xray", 0.11029),
        ("dysp", 0.43597),
    ],
)
def test_known_marginals(name: str, yes: float) -> None:
    assert probability_of_yes(name) == pytest.approx(yes, abs=5e-6)


def test_table() -> None:
    table = example_table()
    assert table.names == NAMES
    assert table.n_rows == 500
    assert [tuple(states) for states in table.states] == [("yes", "no")] * 8


def test_table_is_the_same_for_the_same_seed() -> None:
    first, again, other = example_table(), example_table(500, 1), example_table(500, 2)
    np.testing.assert_array_equal(first.codes, again.codes)
    np.testing.assert_array_equal(first.weights, again.weights)
    assert not (np.array_equal(first.codes, other.codes) and np.array_equal(first.weights, other.weights))


def test_small_tables_still_have_both_states() -> None:
    assert tuple(example_table(rows=1).arities) == (2,) * 8
