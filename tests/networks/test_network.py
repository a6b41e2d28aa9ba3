"""Networks: what they refuse, what they derive, and that they come back from every form they go out in."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
import re
import sys

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st

from topdag.errors import NetworkError
from topdag.networks.network import REVERSIBLE, Network

networkx = pytest.importorskip("networkx")

ABC = ("a", "b", "c")
COLLIDER = Network(ABC, {"b": ["c", "a"]}, {"a": -1.5, "b": -2.25, "c": -0.5})


@st.composite
def networks(draw: st.DrawFn, max_variables: int = 7) -> Network:
    n_variables = draw(st.integers(0, max_variables))
    order = draw(st.permutations(range(n_variables)))
    edges = [
        (f"V{parent}", f"V{child}")
        for place, child in enumerate(order)
        for parent in order[:place]
        if draw(st.booleans())
    ]
    scores = {f"V{v}": draw(st.floats(-1e6, 0)) for v in range(n_variables)}
    return Network.from_edges(scores, edges, scores if draw(st.booleans()) else None)


def test_parents_come_in_column_order_and_missing_ones_are_none() -> None:
    assert dict(COLLIDER.parents) == {"a": (), "b": ("a", "c"), "c": ()}
    assert COLLIDER.names == ABC


def test_score_is_the_sum_of_local_scores_or_unknown() -> None:
    assert COLLIDER.score == -4.25
    assert Network(ABC, {}).score is None
    assert Network(ABC, {}).local_scores is None


def test_score_does_not_depend_on_the_order_of_summation() -> None:
    scores = {"a": 1e16, "b": 1.0, "c": -1e16}
    assert Network(ABC, {}, scores).score == 1.0


def test_constructors_agree() -> None:
    assert Network.from_edges(ABC, [("c", "b"), ["a", "b"]]) == COLLIDER
    assert Network.from_masks(ABC, np.array([0, 0b101, 0], dtype=np.uint64)) == COLLIDER


def test_masks_reach_beyond_64_variables() -> None:
    names = [f"V{v}" for v in range(70)]
    network = Network.from_masks(names, [1 << 69] + [0] * 69)
    assert network.edges == (("V69", "V0"),)
    assert network.order[0] == "V1"
    assert network.order[-1] == "V0"


def test_equality_and_hash_ignore_scores() -> None:
    other = Network(ABC, {"b": ["a", "c"]})
    assert other == COLLIDER
    assert hash(other) == hash(COLLIDER)
    assert Network(ABC, {"b": ["a"]}) != COLLIDER
    assert Network(("a", "c", "b"), {"b": ["a", "c"]}) != COLLIDER
    assert COLLIDER != "a network"


def test_nothing_can_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        COLLIDER.names = ("x",)  # type: ignore[misc]
    with pytest.raises(TypeError):
        COLLIDER.parents["a"] = ("b",)  # type: ignore[index]
    with pytest.raises(TypeError):
        COLLIDER.local_scores["a"] = 0.0  # type: ignore[index]


def test_what_was_given_may_change_later() -> None:
    parents = {"b": ["a"]}
    network = Network(ABC, parents)
    parents["b"].append("c")
    assert network.parents["b"] == ("a",)


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([("a", "b"), ("b", "a")], "a -> b -> a"),
        ([("c", "b"), ("b", "a"), ("a", "c")], "a -> c -> b -> a"),
        ([("a", "b"), ("b", "c"), ("c", "b")], "b -> c -> b"),
        ([("b", "b")], "b -> b"),
    ],
)
def test_a_cycle_is_named(edges: list[tuple[str, str]], message: str) -> None:
    with pytest.raises(NetworkError, match=f"cycle: {message}\\."):
        Network.from_edges(ABC, edges)


@pytest.mark.parametrize(
    ("names", "parents", "message"),
    [
        (["smoke", "lung"], {"lung": ["smok"]}, "no variable 'smok'; did you mean 'smoke'"),
        (["smoke", "lung"], {"lnug": ["smoke"]}, "no variable 'lnug'; did you mean 'lung'"),
        (["smoke", "lung"], {"lung": ["zzz"]}, "no variable 'zzz'; the variables are"),
        (["smoke", "lung"], {"lung": ["smoke", "smoke"]}, "'lung' has the same parent twice"),
        (["smoke", "lung"], {"lung": "smoke"}, "should be a list of names, not 'smoke'"),
        (["smoke", "smoke"], {}, "'smoke' occurs more than once"),
        (["smoke", ""], {}, "non-empty strings"),
        (["smoke", 3], {}, "non-empty strings"),
        ("smoke", {}, "list of non-empty strings"),
    ],
)
def test_wrong_names_are_refused(names: list[str], parents: dict[str, list[str]], message: str) -> None:
    with pytest.raises(NetworkError, match=message):
        Network(names, parents)


@pytest.mark.parametrize("edge", ["ab", ("a",), ("a", "b", "c"), (0, 1), 5])
def test_an_edge_is_a_pair_of_names(edge: tuple[str, str]) -> None:
    with pytest.raises(NetworkError, match="is not an edge"):
        Network.from_edges(ABC, [edge])


def test_an_edge_given_twice_or_to_nowhere_is_refused() -> None:
    with pytest.raises(NetworkError, match="twice: a, a"):
        Network.from_edges(ABC, [("a", "b"), ("a", "b")])
    with pytest.raises(NetworkError, match="no variable 'd'"):
        Network.from_edges(ABC, [("a", "d")])


@pytest.mark.parametrize(
    ("masks", "message"),
    [
        ([0, 0], "3 variables but 2 masks"),
        ([0, 0, 8], "'c' has bits beyond"),
        ([-1, 0, 0], "'a' has bits beyond"),
        ([2, 1, 0], "a -> b -> a"),
    ],
)
def test_wrong_masks_are_refused(masks: list[int], message: str) -> None:
    with pytest.raises(NetworkError, match=message):
        Network.from_masks(ABC, masks)


@pytest.mark.parametrize("score", [float("nan"), float("-inf"), None, "3"])
def test_local_scores_are_finite_numbers(score: float) -> None:
    with pytest.raises(NetworkError, match="local score of 'b' should be a finite number"):
        Network(ABC, {}, {"a": 0.0, "b": score, "c": 0.0})


def test_local_scores_are_for_every_variable_and_no_other() -> None:
    with pytest.raises(NetworkError, match="local score of 'c'"):
        Network(ABC, {}, {"a": 0.0, "b": 0.0})
    with pytest.raises(NetworkError, match="no variable 'd'"):
        Network(ABC, {}, {"a": 0.0, "b": 0.0, "c": 0.0, "d": 0.0})


def test_edges_go_by_child_then_parent() -> None:
    network = Network(ABC, {"a": ["c", "b"], "b": ["c"]})
    assert network.edges == (("b", "a"), ("c", "a"), ("c", "b"))
    assert network.n_edges == 3


def test_order_takes_the_first_column_that_is_ready() -> None:
    assert Network(ABC, {}).order == ABC
    assert Network(ABC, {"a": ["b"]}).order == ("b", "a", "c")
    assert Network(ABC, {"a": ["c"]}).order == ("b", "c", "a")


def test_relatives_of_a_variable() -> None:
    chain = Network([*ABC, "d"], {"a": ["b"], "b": ["c"]})
    assert chain.roots == ("c", "d")
    assert chain.leaves == ("a", "d")
    assert chain.children("c") == ("b",)
    assert chain.ancestors("a") == ("b", "c")
    assert chain.descendants("c") == ("a", "b")
    assert chain.descendants("d") == chain.ancestors("d") == ()


@pytest.mark.parametrize("method", ["children", "ancestors", "descendants"])
def test_relatives_of_an_unknown_variable_are_refused(method: str) -> None:
    with pytest.raises(NetworkError, match="no variable 'x'"):
        getattr(COLLIDER, method)("x")


@given(networks())
def test_agrees_with_networkx(network: Network) -> None:
    graph = network.to_networkx()
    assert list(graph.nodes) == list(network.names)
    assert set(graph.edges) == set(network.edges)
    assert networkx.is_directed_acyclic_graph(graph)
    for name in network.names:
        assert set(network.ancestors(name)) == networkx.ancestors(graph, name)
        assert set(network.descendants(name)) == networkx.descendants(graph, name)
        assert set(network.children(name)) == set(graph.successors(name))
    assert set(network.leaves) == {name for name in graph if graph.out_degree(name) == 0}


@given(networks())
def test_order_is_the_least_topological_order(network: Network) -> None:
    by_column = networkx.lexicographical_topological_sort(network.to_networkx(), key=network.names.index)
    assert network.order == tuple(by_column)


@given(networks())
def test_adjacency_holds_the_edges(network: Network) -> None:
    matrix = network.adjacency
    pairs = {(network.names[parent], network.names[child]) for parent, child in np.argwhere(matrix)}
    assert pairs == set(network.edges)
    assert matrix.dtype == np.uint8
    assert matrix.shape == (len(network.names),) * 2


@given(networks())
def test_goes_out_and_comes_back(network: Network) -> None:
    for back in (
        Network.from_dict(json.loads(json.dumps(network.to_dict()))),
        Network.from_masks(network.names, network.masks, network.local_scores),
        pickle.loads(pickle.dumps(network)),
        copy.deepcopy(network),
    ):
        assert back == network
        assert back.local_scores == network.local_scores
        assert back.score == network.score


def test_dict_is_plain() -> None:
    assert COLLIDER.to_dict() == {
        "format": "topdag-network",
        "version": 1,
        "variables": ["a", "b", "c"],
        "edges": [["a", "b"], ["c", "b"]],
        "local_scores": {"a": -1.5, "b": -2.25, "c": -0.5},
        "score": -4.25,
    }
    unscored = Network(ABC, {}).to_dict()
    assert unscored["score"] is None
    assert "local_scores" not in unscored


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "other"}, "not a network in format"),
        ({"version": 2}, "version 1"),
        ({"variables": None}, "'variables' is not of the kind"),
        ({"edges": {"a": "b"}}, "'edges' is not of the kind"),
        ({"local_scores": [1.0]}, "'local_scores' is not of the kind"),
        ({"score": "high"}, "'score' is not of the kind"),
        ({"score": -4.0}, "given as -4.0, but the local scores give -4.25"),
        ({"local_scores": None}, "local scores give None"),
        ({"edges": [["a", "d"]]}, "no variable 'd'"),
    ],
)
def test_wrong_dicts_are_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(NetworkError, match=message):
        Network.from_dict(COLLIDER.to_dict() | change)


def test_without_networkx_the_error_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(ImportError, match="pip install networkx"):
        COLLIDER.to_networkx()


def test_reversible_edges_are_those_on_which_equivalent_networks_differ() -> None:
    for members in reference.equivalence_classes(4).values():
        networks = [Network.from_masks(list("abcd"), masks) for masks in members]
        for network in networks:
            turned = {edge for edge in network.edges if any(edge[::-1] in other.edges for other in networks)}
            assert set(network.reversible) == turned
            text = str(network)
            assert text.count("*") == len(turned) + bool(turned)
            assert text.endswith(f"* {REVERSIBLE}") == bool(turned)
            assert all(re.search(rf"^{b} <- .*{a}\*", text, re.MULTILINE) for a, b in turned)
            assert network.to_dot().count("[arrowhead=empty]") == len(turned)
            assert (REVERSIBLE in network.to_dot()) == bool(turned)


def test_dot() -> None:
    lines = ["digraph {", '  "a";', '  "b";', '  "c";', '  "a" -> "b";', '  "c" -> "b";', "}"]
    assert COLLIDER.to_dot().splitlines() == lines


@pytest.mark.parametrize(
    ("name", "quoted"),
    [
        ('say "hi"', r'"say \"hi\""'),
        ("back\\", r'"back\\"'),
        ("two\nlines", r'"two\nlines"'),
        (r"two\nlines", r'"two\\nlines"'),
        ("a -> b; }", '"a -> b; }"'),
        ("graph", '"graph"'),
        ("größe", '"größe"'),
    ],
)
def test_dot_quotes_names(name: str, quoted: str) -> None:
    assert Network([name], {}).to_dot() == f"digraph {{\n  {quoted};\n}}\n"


@given(st.lists(st.text(alphabet='a\\"\n', min_size=1), min_size=1, max_size=4, unique=True))
def test_dot_names_can_be_read_back(names: list[str]) -> None:
    quoted = re.findall(r'^  "((?:[^"\\]|\\.)*)";$', Network(names, {}).to_dot(), flags=re.MULTILINE)
    letters = {"n": "\n"}
    read = [re.sub(r"\\(.)", lambda found: letters.get(found[1], found[1]), text) for text in quoted]
    assert read == names


def test_prints_families_and_roots() -> None:
    network = Network(["asia", "smoke", "lung"], {"lung": ["smoke", "asia"]}, None)
    assert str(network) == "lung <- asia, smoke\nroots: asia, smoke"
    assert str(Network(ABC, {})) == "roots: a, b, c"


def test_repr_is_short() -> None:
    assert repr(COLLIDER) == "Network(3 variables, 2 edges, score -4.25)"
    assert repr(Network(ABC, {})) == "Network(3 variables, 0 edges)"
