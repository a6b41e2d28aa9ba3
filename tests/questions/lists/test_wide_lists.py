"""Lists, classes and counts of more than 64 variables: those of fewer, placed among variables without edges."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from given_sizes import AS_LISTS, climb_little
from hypothesis import given, settings
from hypothesis import strategies as st
from list_checks import all_listed, assert_in_order, random_lists
from strategies import sampled_table, tied_lists

import topdag as td
from topdag._util.bitsets import bits
from topdag._util.class_graph import class_graph
from topdag.answers.averages import edge_matrix, posterior
from topdag.scoring.rounding import sums_are_exact
from topdag.scoring.score import scores_from_lists
from topdag.scoring.scores import Scores
from topdag.search.engines import sizes_given
from topdag.search.family_lists import FamilyLists

WIDE = (65, 129, 150)
ALONE = -1.0
"""What a variable without edges scores."""


@pytest.fixture(autouse=True, scope="module")
def little_climbing() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        climb_little(patch)
        yield


def among_others(lists: FamilyLists, places: list[int], n: int) -> FamilyLists:
    """The same families at these columns of many; the other variables have no edges."""
    index, families = {name: v for v, name in enumerate(lists.names)}, []
    for v, name in enumerate(lists.names):
        own = lists.families(name)
        families += [(places[v], [places[index[p]] for p in parents], score) for parents, score in own]
    names = [f"other {v}" for v in range(n)]
    for place, name in zip(places, lists.names, strict=True):
        names[place] = name
    return FamilyLists.build(names, [*families, *((v, [], ALONE) for v in range(n) if v not in places)])


def seen_in(row: list[int], places: list[int]) -> tuple[int, ...]:
    """A network of many as one of those at these places; the others have no edges."""
    assert all(not mask for v, mask in enumerate(row) if v not in places)
    return tuple(sum(1 << places.index(p) for p in bits(row[place])) for place in places)


def assert_same(wide: Any, alone: Any, places: list[int], whole: Any) -> None:
    """``whole``: what the list alone may hold; where others tie with the last, any of those may stand there."""
    assert_in_order(wide)
    assert wide.proof.status is alone.proof.status and wide.proof.limit == alone.proof.limit
    shift = ALONE * (len(wide.scored_names) - len(places))
    assert np.allclose(wide.scores - shift, alone.scores, rtol=0, atol=1e-6)
    rows = [seen_in(row, places) for row in wide.parents.tolist()]
    keys = [set(found) for found in (rows, map(tuple, whole.parents.tolist()))]
    if isinstance(wide, td.types.ClassList):
        keys = [set(map(class_graph, found)) for found in keys]
    assert keys[0] <= keys[1]
    assert len(keys[0]) == len(wide)


def drawn_places(n: int, many: int, seed: int) -> list[int]:
    return np.random.default_rng(seed).permutation(many)[:n].tolist()


@settings(max_examples=8)
@given(tied_lists(variables=(1, 4)), st.sampled_from(WIDE), st.integers(0, 9), st.sampled_from([1, 3, 30]))
def test_networks_with_ties(lists: FamilyLists, many: int, seed: int, k: int) -> None:
    places = drawn_places(len(lists.names), many, seed)
    wide, alone = all_listed(among_others(lists, places, many)), all_listed(lists)
    whole = td.k_best_networks(alone, 1000)
    assert_same(td.k_best_networks(wide, k), td.k_best_networks(alone, k), places, whole)
    near = td.networks_within(wide, 3.0)
    assert_same(near, td.networks_within(alone, 3.0), places, whole)
    assert td.count_networks_within(wide, 3.0) == len(near)
    assert len(set(td.iter_networks_within(wide, 3.0))) == len(near)


def equivalent(table: td.Table, many: int, places: list[int]) -> tuple[Scores, Scores]:
    """Scores of a table alone and among others; all networks of a class score the same."""
    with sizes_given(**AS_LISTS):
        lists = td.score(table, td.BIC(), keep=td.Within(1e6)).store.listed.lists
    both = among_others(lists, places, many), lists
    wide, alone = (scores_from_lists(own, kind=td.BIC(), keep="all") for own in both)
    return wide, alone


@pytest.mark.parametrize(("many", "seed"), [(66, 0), (66, 1), (140, 2), (260, 3)])
def test_classes(many: int, seed: int, tmp_path: Path) -> None:
    table = sampled_table(5, 30 if seed % 2 else 200, seed=seed)
    places = drawn_places(5, many, seed)
    wide, alone = equivalent(table, many, places)
    whole = td.classes_within(alone, 1e4)
    found = td.k_best_classes(wide, 12)
    assert_same(found, td.k_best_classes(alone, 12), places, whole)
    near = td.classes_within(wide, 20.0)
    assert_same(near, td.classes_within(alone, 20.0), places, whole)
    assert near.sizes == tuple(own.size for own in near)
    assert td.count_classes_within(wide, 20.0) == len(near)
    assert td.count_networks_within(wide, 20.0) == sum(near.sizes) == td.count_networks_within(alone, 20.0)
    networks = td.networks_within(wide, 20.0)
    assert {network for own in near for network in own.members()} == set(networks)
    for listed in (near, networks):
        td.io.write_list(tmp_path / "list.jsonl.gz", listed)
        again = td.io.read_list(tmp_path / "list.jsonl.gz")
        assert np.array_equal(again.parents, listed.parents) and np.array_equal(again.scores, listed.scores)
    assert_averages_same(near, td.classes_within(alone, 20.0), places)


def assert_averages_same(wide: Any, alone: Any, places: list[int]) -> None:
    names = alone.scored_names
    edges = edge_matrix(wide)
    assert np.allclose(edges[np.ix_(places, places)], edge_matrix(alone))
    assert edges.sum() == pytest.approx(edge_matrix(alone).sum())
    asked = [td.features.edge(names[0], names[1]), td.features.path(names[2], names[3])]
    asked += [td.features.compelled_edge(names[1], names[2]), td.features.adjacency(names[3], names[4])]
    asked += [td.features.d_separation(names[0], names[4], names[2]), td.features.v_structure(*names[:3])]
    for feature in asked:
        assert posterior(wide, feature).value == pytest.approx(posterior(alone, feature).value)
    told, truth = td.summary(wide), td.summary(alone)
    assert (told.half, told.n_networks, told.largest_distance) == (truth.half, truth.n_networks, truth.largest_distance)
    assert told.mean_distance == pytest.approx(truth.mean_distance)
    assert len(told.varying) == len(truth.varying) and len(told.common) == len(truth.common)


@pytest.mark.parametrize("seed", range(3))
def test_scores_too_large_to_add_up_exactly(seed: int) -> None:
    """What is compared are shortfalls, which are small: the list is that of scores which are less in size."""
    many, large = 150, -(2.0**15) - 0.3
    lists = among_others(random_lists(4, seed, spread=4, missing=0.4, unit=0.7), drawn_places(4, many, seed), many)
    moved = FamilyLists(lists.names, lists.offsets, lists.masks, lists.scores + large)
    small, wide = all_listed(lists), all_listed(moved)
    assert not sums_are_exact(wide.store, wide.grid)
    for found, truth in (
        (td.k_best_networks(wide, 25), td.k_best_networks(small, 25)),
        (td.networks_within(wide, 4.1), td.networks_within(small, 4.1)),
    ):
        assert found.proof.status is td.types.Status.PROVED and len(found) == len(truth)
        assert np.allclose(found.scores - found.scores[0], truth.scores - truth.scores[0], rtol=0, atol=1e-6)
        assert found.floor <= found.scores[-1]
    assert td.count_networks_within(wide, 4.1) == td.count_networks_within(small, 4.1)
