"""Comparing two graphs, and summing up a list: against definitions written out pair by pair, item by item."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter, defaultdict
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import tables, tied_lists

import topdag as td
from topdag.answers.compare import wrapped
from topdag.answers.lists import BestList
from topdag.answers.summary import percent
from topdag.scoring.score import scores_from_lists
from topdag.search.family_lists import FamilyLists

ABC = ("a", "b", "c")
Pair = tuple[str, str]


@st.composite
def networks(draw: st.DrawFn, n: int, names: list[str] | None = None) -> td.Network:
    order = draw(st.permutations(range(n)))
    names = names or [f"V{v}" for v in range(n)]
    edges = [
        (names[parent], names[child])
        for place, child in enumerate(order)
        for parent in order[:place]
        if draw(st.booleans())
    ]
    scores = {name: float(draw(st.integers(-9, 0))) for name in names}
    return td.Network.from_edges(names, edges, scores)


pairs_of_networks = st.integers(1, 6).flatmap(lambda n: st.tuples(networks(n), networks(n)))


def joined(graph: td.Network | td.EquivalenceClass) -> dict[frozenset[str], Pair | None]:
    """Of every two variables with an edge: the edge, None when it is undirected."""
    directed = graph.edges if isinstance(graph, td.Network) else graph.directed
    undirected = () if isinstance(graph, td.Network) else graph.undirected
    return {frozenset(edge): edge for edge in directed} | {frozenset(edge): None for edge in undirected}


def slow_distance(a: td.Network | td.EquivalenceClass, b: td.Network | td.EquivalenceClass) -> int:
    ours, theirs = joined(a), joined(b)
    return sum(
        (frozenset(pair) in ours) != (frozenset(pair) in theirs)
        or ours.get(frozenset(pair)) != theirs.get(frozenset(pair))
        for pair in combinations(a.names, 2)
    )


# Two graphs


@given(pairs_of_networks)
def test_changes_lead_from_the_first_network_to_the_second(both: tuple[td.Network, td.Network]) -> None:
    a, b = both
    found = td.compare(a, b)
    edges = set(a.edges) - set(found.dropped) - {(child, parent) for parent, child in found.reversed}
    assert edges | set(found.added) | set(found.reversed) == set(b.edges)
    assert not found.directed
    assert not found.undirected
    assert found.distance == len(found.added) + len(found.dropped) + len(found.reversed) == slow_distance(a, b)
    assert len(found.changes) == found.distance


@given(pairs_of_networks)
def test_comparing_the_other_way_undoes_the_changes(both: tuple[td.Network, td.Network]) -> None:
    there, back = td.compare(*both), td.compare(*both[::-1])
    assert (there.added, there.dropped) == (back.dropped, back.added)
    assert set(there.reversed) == {(child, parent) for parent, child in back.reversed}
    assert there.score_difference == -back.score_difference
    assert td.compare(both[0], both[0]).distance == 0


@given(pairs_of_networks)
def test_scores_are_compared_family_by_family(both: tuple[td.Network, td.Network]) -> None:
    a, b = both
    found = td.compare(a, b)
    assert found.score_difference == b.score - a.score == sum(found.by_family.values())
    for name in a.names:
        if a.parents[name] != b.parents[name]:
            assert found.by_family[name] == b.local_scores[name] - a.local_scores[name]


@given(pairs_of_networks)
def test_classes_are_compared_by_their_edges(both: tuple[td.Network, td.Network]) -> None:
    a, b = (td.EquivalenceClass(network) for network in both)
    found = td.compare(a, b)
    assert found.distance == slow_distance(a, b)
    assert (found.distance == 0) == (a == b)
    assert set(found.directed) == {e for e in b.directed if frozenset(e) in map(frozenset, a.undirected)}
    assert set(found.undirected) == {e for e in b.undirected if frozenset(e) in map(frozenset, a.directed)}
    turned = len(found.reversed) + len(found.directed) + len(found.undirected)
    assert found.distance == len(found.added) + len(found.dropped) + turned
    assert found.by_family is None
    assert found.score_difference == b.score - a.score


def test_columns_may_stand_in_another_order() -> None:
    a = td.Network(["x", "y", "z"], {"y": ["x"], "z": ["y"]}, {"x": -1, "y": -2, "z": -3})
    b = td.Network(["z", "y", "x"], {"y": ["x"], "z": ["y"]}, {"x": -1, "y": -2, "z": -4})
    assert td.compare(a, b).distance == 0
    assert td.compare(a, b).by_family == {"z": -1.0}
    assert td.compare(td.EquivalenceClass(a), td.EquivalenceClass(b)).distance == 0


def test_scores_from_outside() -> None:
    scores = td.score(td.example_table(), td.BDeu())
    bare = td.example_network().network
    best = td.best_network(scores).network
    assert td.compare(best, bare).score_difference is None
    assert td.compare(best, bare).by_family is None
    found = td.compare(best, bare, scores)
    assert found.score_difference == pytest.approx(scores.of(bare) - best.score)
    assert set(found.by_family) == {name for name in bare.names if set(bare.parents[name]) != set(best.parents[name])}
    classes = td.compare(td.EquivalenceClass(best), td.EquivalenceClass(bare), scores)
    assert classes.score_difference == pytest.approx(found.score_difference)
    with pytest.raises(td.ScoreError, match=r"K2\(\) gives no score to a class"):
        td.compare(td.EquivalenceClass(best), td.EquivalenceClass(bare), td.score(td.example_table(), td.K2()))


def test_what_cannot_be_compared() -> None:
    a = td.Network(ABC, {})
    with pytest.raises(td.NetworkError, match="same variables; only one of them has 'c'"):
        td.compare(a, td.Network(["a", "b"], {}))
    with pytest.raises(td.NetworkError, match="only one of them has 'd'"):
        td.compare(a, td.Network([*ABC, "d"], {}))
    with pytest.raises(TypeError, match=r"two networks or two classes, not Network and EquivalenceClass; Equi"):
        td.compare(a, td.EquivalenceClass(a))
    with pytest.raises(TypeError, match="not str and Network"):
        td.compare("a", a)  # type: ignore[arg-type]


def test_comparison_in_words() -> None:
    a = td.Network(["x", "y, z", "w"], {"y, z": ["x"]}, {"x": -1, "y, z": -2, "w": -3})
    b = td.Network(["x", "y, z", "w"], {"x": ["y, z"], "w": ["x"]}, {"x": -1.5, "y, z": -2, "w": -2})
    assert str(td.compare(a, b)).splitlines() == [
        "~ 'y, z' -> x, + x -> w",
        "structural Hamming distance 2",
        "score +0.500000 (the second less the first)",
        "  x -0.500000",
        "  'y, z' +0.000000",
        "  w +1.000000",
    ]
    assert str(td.compare(a, a)).startswith("no edge differs\nstructural Hamming distance 0\n")
    collider, chain = td.Network(ABC, {"b": ["a", "c"]}), td.Network(ABC, {"b": ["a"], "c": ["b"]})
    classes = td.compare(td.EquivalenceClass(collider), td.EquivalenceClass(chain))
    assert classes.changes == ("~ a -- b", "~ b -- c")
    assert classes.undirected == (("a", "b"), ("b", "c"))
    with pytest.raises(dataclasses.FrozenInstanceError):
        classes.added = ()  # type: ignore[misc]


def test_lines_break_between_edges() -> None:
    assert wrapped(["+ a b -> c", "- d -> e"], 14) == ["+ a b -> c,", "- d -> e"]
    assert wrapped(["+ a much too long name -> c"], 5) == ["+ a much too long name -> c"]
    assert wrapped([]) == []


# Lists


def slow_summary(found: BestList) -> dict[str, object]:
    """Item by item, with graphs and dictionaries."""
    seen: dict[Pair, Counter[str]] = defaultdict(Counter)
    weight: dict[Pair, Counter[str]] = defaultdict(Counter)
    for item, share in zip(found, found.shares.tolist(), strict=True):
        for pair in combinations(found.names, 2):
            if frozenset(pair) in joined(item):
                edge = joined(item)[frozenset(pair)]
                mark = "--" if edge is None else "->" if edge == pair else "<-"
                seen[pair][mark] += 1
                weight[pair][mark] += share
    in_all = [pair for pair in seen if seen[pair].total() == len(found)]
    fixed = [pair for pair in in_all if len(seen[pair]) == 1]
    return {
        "common": {p if "->" in seen[p] else p[::-1] for p in fixed if "--" not in seen[p]},
        "common_undirected": {p for p in fixed if "--" in seen[p]},
        "turning": {p: weight[p] for p in in_all if p not in fixed},
        "varying": {p: weight[p] for p in seen if p not in in_all},
        "distances": [slow_distance(found[0], item) for item in found],
    }


def check_summary(found: BestList) -> None:
    summary, slow = td.summary(found), slow_summary(found)
    assert summary.n_items == len(found)
    assert set(summary.common) == slow["common"]
    assert set(summary.common_undirected) == slow["common_undirected"]
    for links, expected in ((summary.turning, slow["turning"]), (summary.varying, slow["varying"])):
        assert {link.pair for link in links} == set(expected)
        for link in links:
            parts = {"->": link.forward, "<-": link.backward, "--": link.undirected}
            assert all(math.isclose(parts[mark], expected[link.pair][mark], abs_tol=1e-9) for mark in parts)
            assert math.isclose(link.share, sum(parts.values()), abs_tol=1e-9)
    assert all(link.share == 1 for link in summary.turning)
    assert [link.share for link in summary.varying] == sorted((k.share for k in summary.varying), reverse=True)
    assert summary.largest_distance == max(slow["distances"])
    assert math.isclose(summary.mean_distance, float(np.dot(found.shares, slow["distances"])), abs_tol=1e-9)
    shares = sorted(found.shares.tolist(), reverse=True)
    assert sum(shares[: summary.half]) >= 0.5 - 1e-9
    assert sum(shares[: summary.half - 1]) < 0.5 + 1e-9
    assert str(summary).count("\n") >= 4 - (len(found) == 1)


@settings(max_examples=40)
@given(tables(variables=(2, 4)), st.sampled_from([1, 2, 7, 100]))
def test_summary_of_networks(table: td.Table, k: int) -> None:
    check_summary(td.k_best_networks(table, k))


@settings(max_examples=40)
@given(tables(variables=(2, 4)), st.sampled_from([1, 2, 7, 100]))
def test_summary_of_classes(table: td.Table, k: int) -> None:
    found = td.k_best_classes(table, k)
    check_summary(found)
    assert found.sizes == tuple(item.size for item in found)
    assert td.summary(found).n_networks == found.n_networks


@settings(max_examples=40)
@given(tied_lists(variables=(1, 4)))
def test_summary_of_tied_networks(lists: FamilyLists) -> None:
    found = td.k_best_networks(scores_from_lists(lists, keep="all"), 50)
    if len(found):
        check_summary(found)
    else:
        assert str(td.summary(found)) == "There are no networks in the list."


def test_summary_crosses_the_borders_of_batches() -> None:
    found = td.k_best_networks(td.random_network(5, seed=3).sample(50, 3), 5000)
    assert len(found) == 5000
    check_summary(found)


def test_an_edge_that_all_but_one_have_is_not_common() -> None:
    """However little weight the one has; weights may even vanish."""

    def local(family: td.types.Family) -> float:
        return 0.0 if family.variable == "a" or family.parents else -900.0

    table = td.Table({"a": [0, 1], "b": [0, 1]})
    found = td.k_best_networks(td.score(table, td.CustomScore(local), max_parents=1), 10)
    summary = td.summary(found)
    assert found.factors[-1] == math.inf
    assert not summary.common
    assert [link.pair for link in summary.varying] == [("a", "b")]
    assert 0.99 < summary.varying[0].share < 1
    assert ">99%" in str(summary)


def test_summary_in_words() -> None:
    found = td.networks_within(td.example_table(), 20, "bdeu")
    text = str(td.summary(found)).splitlines()
    assert text[0] == "1,808 networks; 449 of them hold half of the posterior weight."
    assert "in all, the same way (1):" in text
    assert text[-1] == "in none: 4 of 28 pairs of variables"
    many = dataclasses.replace(td.summary(found), varying=td.summary(found).varying * 2)
    assert "  and 20 more, each with 97% or less" in str(many).splitlines()
    one = td.k_best_classes(td.example_table(), 1, "bdeu")
    assert str(td.summary(one)).startswith("The list has one class, of 3 networks.\nin all, the same way (7):\n")


def test_shares_are_never_shown_as_all_or_nothing() -> None:
    shown = [percent(share) for share in (0.0, 1e-300, 0.0099, 0.01, 0.5, 0.99, 0.991, math.nextafter(1, 0), 1.0)]
    assert shown == ["0%", "<1%", "<1%", "1%", "50%", "99%", ">99%", ">99%", "100%"]


def test_constant_columns_are_pairs_too() -> None:
    summary = td.summary(td.k_best_networks({"a": [0, 1, 0, 1], "b": [0, 1, 0, 1], "c": [5, 5, 5, 5]}, 2))
    assert summary.n_pairs == 3
    nothing = td.summary(td.k_best_classes({"a": [1, 1], "b": [2, 2]}, 3))
    assert (nothing.n_items, nothing.n_networks, nothing.n_pairs) == (1, 1, 1)
