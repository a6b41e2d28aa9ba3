"""Features of one network and of many at once, against their definitions."""

from __future__ import annotations

from itertools import permutations

import feature_truth as truth
import numpy as np
import pytest
import reference
from brute_force import networks
from feature_truth import NAMES, truth_of
from hypothesis import given
from hypothesis import strategies as st

import topdag as td
from topdag._util.class_graph import components
from topdag.answers import class_edges
from topdag.answers.class_edges import EdgeCounts


def columns_of(masks: np.ndarray) -> list[np.ndarray]:
    return list(np.ascontiguousarray(masks.T))


@pytest.mark.parametrize("n", [2, 3, 4])
def test_features_of_all_networks_are_as_defined(n: int) -> None:
    masks = networks(n)
    rows = [tuple(row) for row in masks.tolist()]
    for feature, definition in truth_of(n):
        many = np.broadcast_to(feature.values(NAMES[:n], columns_of(masks)), len(rows))
        assert many.tolist() == [definition(row) for row in rows], feature


@pytest.mark.parametrize("n", [3, 4])
def test_what_is_called_class_invariant_is(n: int) -> None:
    classes: dict[object, list[int]] = {}
    for place, row in enumerate(networks(n).tolist()):
        classes.setdefault(reference.equivalence_key(row), []).append(place)
    for feature, _ in truth_of(n):
        values = np.broadcast_to(feature.values(NAMES[:n], columns_of(networks(n))), len(networks(n)))
        same = all(len(set(values[places].tolist())) == 1 for places in classes.values())
        assert same == feature.class_invariant, feature


@st.composite
def any_network(draw: st.DrawFn, most: int = 8) -> td.Network:
    n = draw(st.integers(2, most))
    order = draw(st.permutations(range(n)))
    masks = [0] * n
    for place, v in enumerate(order):
        for u in order[:place]:
            masks[v] |= draw(st.booleans()) << u
    return td.Network.from_masks([f"V{v}" for v in range(n)], masks)


@given(any_network(7), st.data())
def test_d_separation_is_path_blocking(network: td.Network, data: st.DataObject) -> None:
    places = data.draw(st.permutations(range(len(network.names))))
    a, b, *rest = places
    z = set(rest[: data.draw(st.integers(0, len(rest)))])
    named = [network.names[v] for v in z]
    assert network.d_separated(network.names[a], network.names[b], named) == truth.separated(network.masks, a, b, z)


@given(any_network(6), st.data())
def test_sets_are_separated_when_all_pairs_are(network: td.Network, data: st.DataObject) -> None:
    groups: list[list[str]] = [[], [], [], []]
    for name in network.names:
        groups[data.draw(st.integers(0, 3))].append(name)
    a, b, given_names, _ = groups
    pairs = all(network.d_separated(x, y, given_names) for x in a for y in b)
    assert network.d_separated(a, b, given_names) == pairs


@given(any_network())
def test_questions_to_one_network(network: td.Network) -> None:
    masks, names = network.masks, network.names
    for i, a in enumerate(names):
        assert network.markov_blanket(a) == tuple(
            b for j, b in enumerate(names) if i != j and truth.in_blanket(masks, i, j)
        )
        for j, b in enumerate(names):
            assert network.has_edge(a, b) == truth.has_edge(masks, i, j)
            assert network.is_ancestor(a, b) == truth.has_path(masks, i, j)
    triples = permutations(range(len(names)), 3)
    expected = {(i, c, j) for i, c, j in triples if i < j and truth.has_v_structure(masks, i, c, j)}
    assert {tuple(names.index(x) for x in found) for found in network.v_structures} == expected
    its_class, pairs = td.EquivalenceClass(network), permutations(range(len(names)), 2)
    assert its_class.v_structures == network.v_structures
    assert all(its_class.adjacent(names[i], names[j]) == truth.joined(masks, i, j) for i, j in pairs)


@given(any_network())
def test_the_blanket_separates_from_all_others(network: td.Network) -> None:
    for name in network.names:
        blanket = network.markov_blanket(name)
        others = [other for other in network.names if other != name and other not in blanket]
        assert network.d_separated(name, others, blanket)


def test_many_variables() -> None:
    names = [f"V{v}" for v in range(100)]
    chain = td.Network(names, {names[v + 1]: [names[v]] for v in range(99)})
    assert chain.d_separated("V0", "V99", "V70")
    assert not chain.d_separated("V0", "V99")
    assert chain.markov_blanket("V80") == ("V79", "V81")
    assert td.features.path("V0", "V99")(chain) == 1.0


@st.composite
def networks_without_v_structures(draw: st.DrawFn, most: int = 8) -> td.Network:
    """Every variable takes an earlier one as its parent, and some of that one's parents: all edges can be turned."""
    n = draw(st.integers(2, most))
    order = draw(st.permutations(range(n)))
    masks = [0] * n
    for place, v in enumerate(order[1:], start=1):
        u = order[draw(st.integers(0, place - 1))]
        masks[v] = 1 << u | masks[u] & draw(st.integers(0, 2**n - 1))
    return td.Network.from_masks([f"V{v}" for v in range(n)], masks)


@given(any_network() | networks_without_v_structures())
def test_edges_of_a_class_are_counted_as_its_members_have_them(network: td.Network) -> None:
    its_class = td.EquivalenceClass(network)
    if its_class.size > 5000:
        return
    members = [member.masks for member in its_class.members()]
    counts, undirected = EdgeCounts(), its_class.key[1]
    for component in components(undirected):
        v = component.bit_length() - 1
        for (a, b), share in counts.shares(undirected, v).items():
            assert share == sum(masks[b] >> a & 1 for masks in members) / len(members)


@pytest.mark.parametrize(("n", "left_out"), [(20, 0), (20, 1), (20, 2), (12, 3)])
def test_large_parts_are_counted(n: int, left_out: int) -> None:
    """A complete graph, and what is left without edges from the last vertex to the first: sizes are known."""
    part = [(2**n - 1) & ~(1 << v) for v in range(n)]
    for v in range(left_out):
        part[v] &= ~(1 << (n - 1))
        part[n - 1] &= ~(1 << v)
    size, counts = EdgeCounts().of(tuple(part))
    member = td.Network.from_masks([f"V{v}" for v in range(n)], [part[v] & ((1 << v) - 1) for v in range(n)])
    assert size == td.EquivalenceClass(member).size
    assert all(counts[i, j] + counts[j, i] == size for i in range(n) for j in range(n) if part[i] >> j & 1)


def test_too_many_parts_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(class_edges, "MOST_CHORDAL_PARTS", 2)
    part = (0b00110, 0b01101, 0b11011, 0b10110, 0b01100)  # triangles in a row
    with pytest.raises(td.TooLarge, match=r"too many undirected edges.*adjacency"):
        class_edges.EdgeCounts().of(part)


def test_any_function_is_a_feature() -> None:
    network = td.Network(["x", "y", "z"], {"y": ["x"], "z": ["x"]})
    assert td.features.feature(lambda g: g.n_edges == 2)(network) == 1.0
    assert td.features.feature(lambda g: g.n_edges, between=(0, 3))(network) == 2.0
    assert str(td.features.edge("x", "y")) == "edge x -> y"
    with pytest.raises(td.ScoreError, match=r"gave 2; it must be a number from 0 to 1"):
        td.features.feature(lambda g: g.n_edges)(network)
    with pytest.raises(td.ScoreError, match="gave 'yes'"):
        td.features.feature(lambda _: "yes")(network)
    with pytest.raises(td.ScoreError, match="function of a network"):
        td.features.feature(3)
    with pytest.raises(td.ScoreError, match="the least and the most"):
        td.features.feature(lambda g: g.n_edges, between=(3, 0))


def test_refusals() -> None:
    network = td.Network(["x", "y", "z"], {"y": ["x"]})
    with pytest.raises(td.NetworkError, match="no variable 'w'"):
        td.features.edge("x", "w")(network)
    with pytest.raises(td.NetworkError, match="different variables"):
        td.features.path("x", "x")(network)
    with pytest.raises(td.NetworkError, match="'x' is named twice"):
        network.d_separated("x", "y", ["x"])
    for ask in (
        network.markov_blanket,
        lambda name: network.is_ancestor("x", name),
        lambda n: network.has_edge(n, "x"),
    ):
        with pytest.raises(td.NetworkError, match="no variable"):
            ask("w")
