"""Equivalence classes: edges, size and members of all small networks, of known graphs and of random chordal ones."""

from __future__ import annotations

import json
import math
from collections import Counter
from itertools import accumulate, combinations, islice, permutations
from pathlib import Path
from random import Random

import numpy as np
import pytest
import reference

import topdag as td
from topdag._util import class_graph
from topdag.scoring.score import scores_from_lists
from topdag.search.family_lists import FamilyLists


def names_of(n: int) -> list[str]:
    return [f"V{v}" for v in range(n)]


def class_of(masks: tuple[int, ...]) -> td.EquivalenceClass:
    return td.EquivalenceClass(td.Network.from_masks(names_of(len(masks)), masks))


def acyclic(n: int, edges: list[tuple[int, int]]) -> tuple[int, ...]:
    """The network on a graph in which every edge goes to the larger number."""
    masks = [0] * n
    for edge in edges:
        masks[max(edge)] |= 1 << min(edge)
    return tuple(masks)


def number(name: str) -> int:
    return int(name.removeprefix("V"))


def edge_numbers(edges: tuple[tuple[str, str], ...]) -> list[tuple[int, int]]:
    return [(number(a), number(b)) for a, b in edges]


def assert_class(found: td.EquivalenceClass, members: set[tuple[int, ...]]) -> None:
    """Its edges are those on which these members agree and those on which they do not; its members are these."""
    edge_sets = [{(p, x) for x, mask in enumerate(m) for p in reference.members(mask)} for m in members]
    common, every = set.intersection(*edge_sets), set.union(*edge_sets)
    directed, undirected = edge_numbers(found.directed), edge_numbers(found.undirected)
    assert set(directed) == common
    assert len(directed) == len(common)
    assert set(undirected) == {(a, b) for a, b in every - common if a < b}
    assert undirected == sorted(undirected)
    assert found.size == len(found) == len(members)
    enumerated = [network.masks for network in found.members()]
    assert len(enumerated) == len(members)
    assert set(enumerated) == members


# ---- Against all networks


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_all_classes_of_few_variables(n: int) -> None:
    """1, 2, 11 and 185 classes [Gillispie & Perlman 2001]"""
    groups = reference.equivalence_classes(n)
    assert len(groups) == [1, 2, 11, 185][n - 1]
    keys = set()
    for members in groups.values():
        classes = [class_of(masks) for masks in members]
        assert len(set(classes)) == 1
        assert len({found.key for found in classes}) == 1
        keys.add(classes[0].key)
        for found in classes:
            assert_class(found, set(members))
            assert reference.equivalent_networks(found.member.masks) == set(members)
    assert len(keys) == len(groups)


def test_members_are_drawn_alike() -> None:
    """A tree and a v-structure beside it: no member is drawn much more often than another."""
    found, chance = class_of((0, 1, 2, 2, 0, 0, 16 | 32)), Random(1)
    counts = Counter(tuple(class_graph.drawn_member(found.key, chance)) for _ in range(300 * found.size))
    assert set(counts) == {own.masks for own in found.members()} and found.size == 4
    assert all(230 < count < 370 for count in counts.values())


def test_all_classes_of_five_variables_differ() -> None:
    """8,782 classes, the same by key as by skeleton and v-structures; a sample of them in full."""
    groups = reference.equivalence_classes(5)
    assert len(groups) == 8782
    keys = {}
    for members in groups.values():
        keys.setdefault(class_of(members[0]).key, []).append(members)
        assert class_of(members[-1]).key == class_of(members[0]).key
    assert len(keys) == 8782
    for members in list(groups.values())[::23]:
        assert_class(class_of(members[len(members) // 2]), set(members))


def random_network(rng: np.random.Generator, n: int, density: float) -> tuple[int, ...]:
    order = rng.permutation(n).tolist()
    masks = [0] * n
    for a, b in combinations(order, 2):
        if rng.random() < density:
            masks[b] |= 1 << a
    return tuple(masks)


@pytest.mark.parametrize("n", [6, 7, 8])
def test_random_networks(n: int) -> None:
    """Members are what reversing covered edges reaches."""
    rng = np.random.default_rng(n)
    for density in (0.15, 0.3, 0.3, 0.5, 0.7, 0.9):
        for _ in range(6):
            masks = random_network(rng, n, density)
            if class_of(masks).size <= 1000:
                assert_class(class_of(masks), reference.equivalent_networks(masks))


@pytest.mark.parametrize("n", [12, 20, 40, 64])
def test_many_variables(n: int) -> None:
    """Members in many variables: each once, each of the class, of the number that size says."""
    rng = np.random.default_rng(n)
    for _ in range(6):
        found = class_of(random_network(rng, n, 2.0 / n))
        masks = {network.masks for network in islice(found.members(), 100)}
        assert len(masks) == min(100, found.size)
        assert {class_of(member) for member in masks} == {found}


# ---- Known sizes


def complete(n: int) -> list[tuple[int, int]]:
    return list(combinations(range(n), 2))


@pytest.mark.parametrize("n", range(1, 21))
def test_a_complete_graph_has_as_many_members_as_orders(n: int) -> None:
    assert class_of(acyclic(n, complete(n))).size == math.factorial(n)


@pytest.mark.parametrize("n", [2, 3, 4, 9, 30, 64])
def test_a_tree_has_one_member_for_each_root(n: int) -> None:
    rng = np.random.default_rng(n)
    path = [(v, v + 1) for v in range(n - 1)]
    star = [(0, v) for v in range(1, n)]
    random = [(int(rng.integers(v)), v) for v in range(1, n)]
    for tree in (path, star, random):
        found = class_of(acyclic(n, tree))
        assert found.size == n
        assert found.directed == ()
        assert sorted(edge_numbers(found.undirected)) == sorted(tree)
        assert len({network.masks for network in found.members()}) == n


@pytest.mark.parametrize("n", [3, 4, 5, 8, 20, 64])
def test_a_triangle_with_tails_has_two_for_each_variable(n: int) -> None:
    edges = [(0, 1), (0, 2), (1, 2)] + [(v - 1, v) for v in range(3, n)]
    assert class_of(acyclic(n, edges)).size == 2 * n


@pytest.mark.parametrize("n", range(3, 20))
def test_a_complete_graph_without_an_edge(n: int) -> None:
    """Between the last two, so that no v-structure arises; then with other names."""
    masks = acyclic(n, [edge for edge in complete(n) if edge != (n - 2, n - 1)])
    for shift in (0, 1, n // 2):
        order = [(v + shift) % n for v in range(n)]
        assert class_of(turned(masks, order)).size == (2 * n - 3) * math.factorial(n - 2)


@pytest.mark.parametrize("n", range(4, 19))
def test_a_complete_graph_without_two_edges_at_a_variable(n: int) -> None:
    edges = [edge for edge in complete(n) if edge not in ((n - 2, n - 1), (n - 3, n - 1))]
    assert class_of(acyclic(n, edges)).size == (n * n - n - 4) * math.factorial(n - 3)


def test_separators_outside_the_clique_do_not_count() -> None:
    """With all separators on the way to the root some roots give a wrong count"""
    masks = acyclic(5, [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 4)])
    assert len(reference.equivalent_networks(masks)) == 12
    for order in permutations(range(5)):
        assert class_of(turned(masks, list(order))).size == 12


def turned(masks: tuple[int, ...], order: list[int]) -> tuple[int, ...]:
    """The same network with variable v called order[v]."""
    result = [0] * len(masks)
    for x, parents in enumerate(masks):
        result[order[x]] = sum(1 << order[p] for p in reference.members(parents))
    return tuple(result)


def test_parts_multiply() -> None:
    """A triangle, a path of four and a v-structure with nothing to choose: 6 · 4 · 1."""
    edges = [(0, 1), (0, 2), (1, 2), (3, 4), (4, 5), (5, 6), (7, 9), (8, 9)]
    found = class_of(acyclic(10, edges))
    assert found.size == 24
    assert sorted(edge_numbers(found.directed)) == [(7, 9), (8, 9)]
    assert_class(found, reference.equivalent_networks(found.member.masks))


# ---- Random chordal graphs


def chordal(rng: np.random.Generator, n: int, width: int) -> list[tuple[int, int]]:
    """Each variable joins some of a clique that is there, so that every cycle has a chord."""
    cliques: list[list[int]] = [[0]]
    edges = []
    for v in range(1, n):
        clique = cliques[rng.integers(len(cliques))]
        joined = rng.permutation(clique)[: rng.integers(1, width + 1)].tolist()
        edges += [(p, v) for p in joined]
        cliques.append([*joined, v])
    return edges


@pytest.mark.parametrize("n", [7, 8, 9])
@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_random_chordal_graphs(n: int, width: int) -> None:
    rng = np.random.default_rng(10 * n + width)
    for _ in range(12):
        edges = chordal(rng, n, width)
        masks = turned(acyclic(n, edges), rng.permutation(n).tolist())
        found = class_of(masks)
        assert found.directed == ()
        assert len(found.undirected) == len(edges)
        enumerated = [network.masks for network in found.members()]
        assert len(set(enumerated)) == len(enumerated) == found.size
        key = reference.equivalence_key(masks)
        assert all(reference.equivalence_key(member) == key for member in enumerated[:: 1 + len(enumerated) // 40])
        if found.size <= 600:
            assert set(enumerated) == reference.equivalent_networks(masks)


@pytest.mark.parametrize("seed", range(15))
def test_sizes_do_not_depend_on_names(seed: int) -> None:
    """Larger chordal graphs under several orders of their variables: another root, another tree of cliques."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(10, 25))
    edges = chordal(rng, n, int(rng.integers(2, 7)))
    sizes = {class_of(turned(acyclic(n, edges), rng.permutation(n).tolist())).size for _ in range(12)}
    assert len(sizes) == 1


# ---- More than 2**64


@pytest.mark.parametrize("n", [20, 21, 22, 35, 64])
def test_sizes_of_complete_graphs(n: int) -> None:
    found = class_of(acyclic(n, complete(n)))
    assert found.size == math.factorial(n)
    assert found.to_dict()["size"] == found.size
    assert json.loads(json.dumps(found.to_dict()))["size"] == found.size
    assert f"{found.size:,} networks" in repr(found)


@pytest.mark.parametrize("parts", [(20, 7), (20, 8), (12, 12, 12), (30, 34), (8,) * 8, (2,) * 32, (5, 21, 17, 21)])
def test_sizes_multiply_over_parts(parts: tuple[int, ...]) -> None:
    """Complete graphs side by side."""
    starts = list(accumulate(parts, initial=0))
    edges = [(a + start, b + start) for start, size in zip(starts, parts, strict=False) for a, b in complete(size)]
    found = class_of(turned(acyclic(sum(parts), edges), np.random.default_rng(1).permutation(sum(parts)).tolist()))
    assert found.size == math.prod(map(math.factorial, parts))


@pytest.mark.parametrize("shared", [1, 5, 19])
def test_sizes_of_two_cliques_that_overlap(shared: int) -> None:
    """First one clique in any order, then the rest of the other, less the orders that both begin with."""
    size = 25
    edges = complete(size) + [(a, b) for b in range(size, 2 * size - shared) for a in (*range(shared), *range(size, b))]
    found = class_of(acyclic(2 * size - shared, edges))
    rest = math.factorial(size - shared)
    assert found.size == 2 * math.factorial(size) * rest - math.factorial(shared) * rest**2


def test_lists_of_classes_with_large_sizes(tmp_path: Path) -> None:
    """Scores that make the densest network the best."""
    n = 21
    names = [f"V{v}" for v in range(n)]
    lists = FamilyLists.build(names, [(x, tuple(range(x)), 0.0) for x in range(n)])
    scores = scores_from_lists(lists, kind=td.BDeu(), keep="all")
    found = td.k_best_classes(scores, 1)
    assert found.sizes == (math.factorial(n),)
    assert found.n_networks == math.factorial(n)
    td.io.write_list(tmp_path / "one.jsonl", found)
    read = td.io.read_list(tmp_path / "one.jsonl")
    assert read.sizes == found.sizes


def test_large_classes_are_classes_still() -> None:
    found = class_of(acyclic(22, complete(22)))
    assert len(found.undirected) == 231
    assert found == class_of(turned(acyclic(22, complete(22)), list(range(21, -1, -1))))
    assert found  # a class is never empty
    assert "231 undirected" in repr(found)
    first = [network.masks for network in islice(found.members(), 20)]
    assert len(set(first)) == 20
    assert {class_of(masks) for masks in first} == {found}


# ---- More than 64 variables, where the core has no say


@pytest.mark.parametrize("narrow", [0, 3])
def test_what_holds_for_the_core_holds_without_it(monkeypatch: pytest.MonkeyPatch, narrow: int) -> None:
    """All classes of up to four variables, random ones of more, and known sizes, as if a word had few bits."""
    monkeypatch.setattr(class_graph, "NARROW", narrow)
    class_graph._ways.cache_clear()
    for n in (1, 2, 3, 4):
        for members in reference.equivalence_classes(n).values():
            assert_class(class_of(members[-1]), set(members))
    rng = np.random.default_rng(narrow)
    for density in (0.2, 0.4, 0.7):
        for _ in range(6):
            masks = random_network(rng, 7, density)
            if class_of(masks).size <= 300:
                assert_class(class_of(masks), reference.equivalent_networks(masks))
    assert class_of(acyclic(9, complete(9))).size == math.factorial(9)
    class_graph._ways.cache_clear()


@pytest.mark.parametrize("seed", range(4))
def test_variables_without_edges_change_no_class(seed: int) -> None:
    """A network of 40 variables, scattered among 150."""
    rng = np.random.default_rng(seed)
    masks = random_network(rng, 40, 0.06)
    places = sorted(rng.choice(150, 40, replace=False).tolist())
    wide = [0] * 150
    for x, parents in enumerate(masks):
        wide[places[x]] = sum(1 << places[p] for p in reference.members(parents))
    small, large = class_of(masks), class_of(tuple(wide))
    assert edge_numbers(large.directed) == [(places[a], places[b]) for a, b in edge_numbers(small.directed)]
    assert edge_numbers(large.undirected) == [(places[a], places[b]) for a, b in edge_numbers(small.undirected)]
    assert large.size == small.size
    some = list(islice(large.members(), 30))
    assert len(set(some)) == min(30, large.size)
    assert {td.EquivalenceClass(member) for member in some} == {large}


@pytest.mark.parametrize("n", [65, 80])
def test_wide_parts(n: int) -> None:
    tree = class_of(acyclic(n, [(v // 2, v) for v in range(1, n)]))
    assert (tree.size, tree.directed) == (n, ())
    assert len({network.masks for network in tree.members()}) == n
    edges = [(0, 1), (0, 2), (1, 2)] + [(v - 1, v) for v in range(3, n)]
    assert class_of(acyclic(n, edges)).size == 2 * n
    assert class_of(acyclic(n, complete(n))).size == math.factorial(n)


# ---- The class itself


def test_a_class_of_the_example() -> None:
    network = td.example_network().network
    found = td.EquivalenceClass(network)
    assert found == td.EquivalenceClass(next(found.members()))
    assert found.names == network.names
    assert found.score is None
    members = list(found.members())
    assert network in members
    assert len(members) == found.size == len(found)
    assert len({td.EquivalenceClass(member) for member in members}) == 1
    assert str(found).count("\n") + 1 == len(found.directed) + len(found.undirected) == network.n_edges
    assert f"{found.size} networks" in repr(found)


def test_classes_with_other_names_differ() -> None:
    one = td.EquivalenceClass(td.Network(["a", "b"], {"b": ["a"]}))
    other = td.EquivalenceClass(td.Network(["a", "c"], {"c": ["a"]}))
    assert one != other
    assert one == td.EquivalenceClass(td.Network(["a", "b"], {"a": ["b"]}))
    assert one != "a -- b"
    assert one.directed == ()
    assert one.undirected == (("a", "b"),)


def test_the_empty_network_is_alone() -> None:
    found = class_of((0, 0, 0))
    assert found.size == 1
    assert str(found) == "no edges"
    assert [network.masks for network in found.members()] == [(0, 0, 0)]


def test_a_class_as_json() -> None:
    network = td.best_network(td.example_table()).network
    found = td.EquivalenceClass(network)
    content = json.loads(json.dumps(found.to_dict()))
    assert content["format"] == "topdag-class"
    assert content["variables"] == list(found.names)
    assert content["size"] == found.size
    assert content["score"] == found.score == network.score
    assert [tuple(edge) for edge in content["directed"]] == list(found.directed)
    assert [tuple(edge) for edge in content["undirected"]] == list(found.undirected)
