"""Fitted networks: probabilities that fit, samples that follow them, and the joint table."""

from __future__ import annotations

import dataclasses
import itertools
import math
import pickle
from collections.abc import Hashable, Iterable

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topdag.data.table import Table
from topdag.errors import NetworkError
from topdag.networks.example import example_network
from topdag.networks.fitted import FittedNetwork
from topdag.networks.network import Network
from topdag.networks.random import random_network

NETWORK = Network(["wet", "rain", "hose"], {"wet": ["hose", "rain"]})
STATES: dict[str, Iterable[Hashable]] = {
    "wet": ("yes", "no"),
    "rain": ("none", "some", "much"),
    "hose": (True, False),
}
TABLES: dict[str, npt.ArrayLike] = {
    "wet": [[[0.5, 0.5], [0.0, 1.0]], [[0.9, 0.1], [0.25, 0.75]], [[1.0, 0.0], [1.0, 0.0]]],
    "rain": [0.5, 0.25, 0.25],
    "hose": [0.2, 0.8],
}
GARDEN = FittedNetwork(NETWORK, STATES, TABLES)

small_networks = st.builds(
    random_network,
    st.integers(1, 5),
    arities=st.sampled_from([1, 2, 3, (1, 4)]),
    concentration=st.sampled_from([0.05, 1.0, 20.0]),
    seed=st.integers(0, 2**32),
)


def all_rows(fitted: FittedNetwork) -> list[dict[str, Hashable]]:
    return [dict(zip(fitted.names, states, strict=True)) for states in itertools.product(*fitted.states.values())]


def frequencies(table: Table) -> npt.NDArray[np.float64]:
    counts = np.zeros(tuple(table.arities))
    np.add.at(counts, tuple(table.codes), table.weights)
    return counts


def assert_follows(counts: npt.NDArray[np.float64], probabilities: npt.NDArray[np.float64]) -> None:
    """No row where none can be, and a chi-square statistic within ten standard deviations of its mean."""
    assert counts[probabilities == 0].sum() == 0
    expected = probabilities * counts.sum()
    common = expected > 5
    statistic = ((counts - expected)[common] ** 2 / expected[common]).sum()
    assert statistic < common.sum() + 10 * math.sqrt(2 * common.sum())


def test_axes_follow_the_parents_in_column_order() -> None:
    assert GARDEN.tables["wet"].shape == (3, 2, 2)
    assert GARDEN.arities == (2, 3, 2)
    assert GARDEN.log_probability({"wet": "yes", "rain": "some", "hose": True}) == pytest.approx(
        math.log(0.9 * 0.25 * 0.2)
    )


def test_nothing_can_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        GARDEN.tables["rain"][0] = 1.0
    with pytest.raises(TypeError):
        GARDEN.tables["rain"] = np.ones(3)  # type: ignore[index]
    with pytest.raises(TypeError):
        GARDEN.states["rain"] = ("dry",)  # type: ignore[index]
    with pytest.raises(dataclasses.FrozenInstanceError):
        GARDEN.network = NETWORK  # type: ignore[misc]


def test_tables_are_copies() -> None:
    rain = np.array([0.5, 0.25, 0.25])
    fitted = FittedNetwork(NETWORK, STATES, TABLES | {"rain": rain})
    rain[:] = 0
    assert fitted == GARDEN


def test_equality_and_hash() -> None:
    same = FittedNetwork(NETWORK, STATES, TABLES)
    assert same == GARDEN
    assert hash(same) == hash(GARDEN)
    assert FittedNetwork(NETWORK, STATES, TABLES | {"hose": [0.3, 0.7]}) != GARDEN
    assert FittedNetwork(NETWORK, STATES | {"hose": (1, 2)}, TABLES) != GARDEN
    assert GARDEN != NETWORK


def test_survives_pickling() -> None:
    back = pickle.loads(pickle.dumps(GARDEN))
    assert back == GARDEN
    assert not back.tables["wet"].flags.writeable


def test_repr_is_short() -> None:
    assert repr(GARDEN) == "FittedNetwork(3 variables, 2 edges, 9 free parameters)"


@pytest.mark.parametrize(
    ("states", "message"),
    [
        ({"hose": ("on", "on")}, "'hose' has a state twice: on, on"),
        ({"hose": ()}, "'hose' has 0 states"),
        ({"hose": range(2**16 + 1)}, "'hose' has 65537 states"),
        ({"hose": "on"}, "states of 'hose' should be a list"),
        ({"hsoe": (1, 2)}, "no variable 'hsoe'; did you mean 'hose'"),
    ],
)
def test_wrong_states_are_refused(states: dict[str, Iterable[Hashable]], message: str) -> None:
    with pytest.raises(NetworkError, match=message):
        FittedNetwork(NETWORK, STATES | states, TABLES)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"hose": [1.0]}, r"'hose' has shape \(1,\), but its axes \(hose\) need \(2,\)"),
        (
            {"wet": np.full((2, 3, 2), 0.5)},
            r"shape \(2, 3, 2\), but its axes \(rain, hose, wet\) need \(3, 2, 2\)",
        ),
        ({"hose": [0.2, 0.7]}, r"'hose' are \[0.2, 0.7\] with sum 0.8999"),
        ({"hose": [1.2, -0.2]}, r"'hose' are \[1.2, -0.2\]"),
        ({"hose": [math.nan, 1.0]}, "finite"),
        ({"hose": [math.inf, -math.inf]}, "finite"),
        ({"hose": [0.5, 0.5 + 1e-8]}, "sum to 1"),
        ({"hose": [[1.0], [0.5, 0.5]]}, "'hose' is not an array of numbers"),
        ({"hose": ["x", "y"]}, "'hose' is not an array of numbers"),
        ({"hosepipe": [0.5, 0.5]}, "no variable 'hosepipe'; did you mean 'hose'"),
    ],
)
def test_wrong_tables_are_refused(table: dict[str, npt.ArrayLike], message: str) -> None:
    with pytest.raises(NetworkError, match=message):
        FittedNetwork(NETWORK, STATES, TABLES | table)


def test_a_wrong_row_is_named_by_its_parents() -> None:
    wet = np.array(TABLES["wet"])
    wet[1, 1] = [0.25, 0.5]
    with pytest.raises(NetworkError, match=r"'wet' given rain=some, hose=False are \[0.25, 0.5\] with sum 0.75"):
        FittedNetwork(NETWORK, STATES, TABLES | {"wet": wet})


def test_what_is_missing_is_named() -> None:
    with pytest.raises(NetworkError, match="No table given for rain, hose"):
        FittedNetwork(NETWORK, STATES, {"wet": TABLES["wet"]})
    with pytest.raises(NetworkError, match="No states given for wet, hose"):
        FittedNetwork(NETWORK, {"rain": STATES["rain"]}, TABLES)


def test_rounding_in_the_sum_is_accepted() -> None:
    FittedNetwork(NETWORK, STATES, TABLES | {"rain": [1 / 3, 1 / 3, 1 / 3 + 1e-10]})


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"wet": "yes", "rain": "some"}, "No state given for hose"),
        (
            {"wet": "maybe", "rain": "some", "hose": True},
            "'wet' has no state 'maybe'; its states are yes, no",
        ),
        ({"wet": "yes", "rain": "some", "hose": True, "sun": 1}, "no variable 'sun'"),
    ],
)
def test_wrong_rows_are_refused(row: dict[str, Hashable], message: str) -> None:
    with pytest.raises(NetworkError, match=message):
        GARDEN.log_probability(row)


def test_the_impossible_has_log_probability_minus_infinity() -> None:
    assert GARDEN.log_probability({"wet": "yes", "rain": "none", "hose": False}) == -math.inf


@settings(deadline=None)
@given(small_networks)
def test_log_probabilities_sum_to_one_and_are_the_joint(fitted: FittedNetwork) -> None:
    probabilities = [math.exp(fitted.log_probability(row)) for row in all_rows(fitted)]
    assert math.fsum(probabilities) == pytest.approx(1.0)
    joint = fitted.joint()
    assert joint.shape == fitted.arities
    np.testing.assert_allclose(joint.ravel(), probabilities, rtol=1e-12, atol=1e-300)


def test_joint_refuses_to_grow_too_large() -> None:
    coins = random_network(27, arcs=0, seed=0)
    with pytest.raises(NetworkError, match="134217728 cells; at most 67108864"):
        coins.joint()


def test_sample_follows_the_joint() -> None:
    for fitted in (GARDEN, example_network(), random_network(6, arcs=8, arities=(2, 4), seed=3)):
        counts = frequencies(fitted.sample(100_000, seed=5))
        assert counts.sum() == 100_000
        assert_follows(counts, fitted.joint())


def test_sample_is_the_same_for_the_same_seed_only() -> None:
    first, again, other = GARDEN.sample(200, 1), GARDEN.sample(200, 1), GARDEN.sample(200, 2)
    np.testing.assert_array_equal(frequencies(first), frequencies(again))
    assert (frequencies(first) != frequencies(other)).any()


def test_sample_declares_all_states() -> None:
    table = GARDEN.sample(1, seed=0)
    assert table.names == GARDEN.names
    assert [tuple(states) for states in table.states] == list(STATES.values())
    assert tuple(table.arities) == (2, 3, 2)


def test_sample_never_draws_what_has_probability_zero() -> None:
    states = {"wet": ("a", "b", "c", "d", "e"), "rain": ("dry",), "hose": ("on", "off")}
    wet = [[[0.0, 0.1, 0.0, 0.9, 0.0], [0.0, 0.0, 1.0, 0.0, 0.0]]]
    fitted = FittedNetwork(NETWORK, states, {"wet": wet, "rain": [1.0], "hose": [0.5, 0.5]})
    assert_follows(frequencies(fitted.sample(50_000, seed=2)), fitted.joint())


@pytest.mark.parametrize("rows", [0, -1])
def test_sample_needs_rows(rows: int) -> None:
    with pytest.raises(ValueError, match="from 1 on"):
        GARDEN.sample(rows, seed=0)
