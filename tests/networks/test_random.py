"""Random networks: exactly the arcs asked for, within the limits, the same for the same seed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topdag.errors import NetworkError
from topdag.networks.random import random_network

networkx = pytest.importorskip("networkx")

seeds = st.integers(0, 2**40)


@settings(deadline=None)
@given(st.data(), st.integers(1, 9), st.none() | st.integers(0, 9), seeds)
def test_arcs_are_exact_and_limits_kept(
    data: st.DataObject, n_variables: int, max_parents: int | None, seed: int
) -> None:
    limit = n_variables if max_parents is None else max_parents
    most = sum(min(place, limit) for place in range(n_variables))
    arcs = data.draw(st.integers(0, most))
    network = random_network(n_variables, arcs=arcs, max_parents=max_parents, seed=seed).network
    assert network.n_edges == arcs
    assert max(map(len, network.parents.values())) <= limit
    assert networkx.is_directed_acyclic_graph(network.to_networkx())


@given(st.integers(1, 9), st.integers(0, 3), seeds)
def test_one_arc_too_many_is_refused(n_variables: int, max_parents: int, seed: int) -> None:
    most = sum(min(place, max_parents) for place in range(n_variables))
    with pytest.raises(NetworkError, match=f"{most + 1} arcs is impossible: .* room for 0 to {most}"):
        random_network(n_variables, arcs=most + 1, max_parents=max_parents, seed=seed)


@settings(deadline=None)
@given(st.integers(1, 6), seeds)
def test_same_seed_same_network(n_variables: int, seed: int) -> None:
    first, again = (random_network(n_variables, arities=(2, 3), seed=seed) for _ in range(2))
    assert first == again


def test_other_seeds_give_other_networks() -> None:
    assert len({random_network(8, seed=seed).network for seed in range(20)}) == 20


def test_names_are_numbered_or_given() -> None:
    assert random_network(3, seed=0).names == ("V0", "V1", "V2")
    assert random_network(["b", "a"], seed=0).names == ("b", "a")
    counted: Any = np.int64(2)
    assert random_network(counted, seed=0).names == ("V0", "V1")


def test_the_default_number_of_arcs_fits() -> None:
    assert random_network(10, seed=0).network.n_edges == 15
    assert random_network(10, max_parents=1, seed=0).network.n_edges == 9
    assert random_network(1, seed=0).network.n_edges == 0


def test_every_pair_and_direction_is_as_likely() -> None:
    edges = Counter(random_network(3, arcs=1, seed=seed).network.edges for seed in range(1200))
    assert len(edges) == 6
    assert all(120 < count < 280 for count in edges.values())


@pytest.mark.parametrize(
    ("arities", "expected"),
    [(3, (3, 3, 3, 3)), ([2, 3, 4, 5], (2, 3, 4, 5)), ((2, 3, 4, 5), (2, 3, 4, 5)), ((4, 4), (4, 4, 4, 4))],
)
def test_arities_as_asked(arities: int | Sequence[int], expected: tuple[int, ...]) -> None:
    fitted = random_network(4, arities=arities, seed=1)
    assert fitted.arities == expected
    assert fitted.states["V0"][:2] == ("s0", "s1")


def test_arities_are_drawn_from_the_whole_range() -> None:
    assert set(random_network(100, arcs=0, arities=(2, 4), seed=0).arities) == {2, 3, 4}


def test_concentration_spreads_or_evens_out() -> None:
    peaked, even = (random_network(20, concentration=c, seed=0) for c in (1e-3, 1e6))
    assert np.mean([table.max(axis=-1).mean() for table in peaked.tables.values()]) > 0.95
    assert all(np.allclose(table, 0.5, atol=0.01) for table in even.tables.values())


@pytest.mark.parametrize("concentration", [1e-10, 0.09, 0.11, 1e100])
def test_extreme_concentrations_still_give_probabilities(concentration: float) -> None:
    random_network(6, arities=5, max_parents=2, concentration=concentration, seed=0)


@pytest.mark.parametrize(
    ("variables", "wrong", "message"),
    [
        (0, {}, "at least one variable"),
        (-1, {}, "at least one variable"),
        (5001, {}, "at most 5,000 variables"),
        (10**400, {}, "at most 5,000 variables"),
        ([f"V{v}" for v in range(5001)], {}, "at most 5,000 variables"),
        (["a", "a"], {}, "'a' occurs more than once"),
        (3, {"arcs": -1}, "impossible"),
        (3, {"max_parents": -1}, "max_parents should not be negative"),
        (3, {"arities": 0}, "1 or more for each of 3"),
        (3, {"arities": 10**400}, "Lower max_parents, arcs or arities"),
        (3, {"arities": [2, 2]}, "1 or more for each of 3"),
        (3, {"arities": (0, 0)}, "1 or more for each of 3"),
        (3, {"concentration": 0.0}, "concentration should be a positive number"),
        (3, {"concentration": float("inf")}, "concentration should be a positive number"),
        (40, {"arcs": 780}, "alone 1099511627776; .* Lower max_parents"),
    ],
)
def test_the_impossible_is_refused(variables: Any, wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(NetworkError, match=message):
        random_network(variables, **wrong, seed=0)
