"""The best network that has a family, and the best with and without each edge: against all networks."""

from __future__ import annotations

import math

import numpy as np
import pytest
from brute_force import network_scores, networks, values_of
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from strategies import ALL_CASES, BDE, Case, families, sampled_table, table_of, tables, tied_lists

import topdag as td
from topdag import _core
from topdag.scoring.score import scores_from_lists
from topdag.scoring.scores import Scores
from topdag.search.family_lists import FamilyLists
from topdag.search.stores import FamilyStore


def lattice_of(scores: Scores, threads: int = 1) -> _core.Lattice:
    lattice = _core.build_lattice(scores.store.core(), _core.Limits(threads))
    assert lattice is not None
    return lattice


def edge_bounds(lattice: _core.Lattice, n: int, threads: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    with_edge, without = _core.edge_bounds(lattice, _core.Limits(threads))
    return with_edge.reshape(n, n), without.reshape(n, n)


def best_where(values: NDArray[np.float64], chosen: NDArray[np.bool_]) -> float:
    return float(values[chosen].max(initial=-math.inf))


def assert_bounds(scores: Scores) -> None:
    """Every family and every edge, for several numbers of threads."""
    n = len(scores.columns)
    masks = networks(n)
    values = network_scores(values_of(scores), masks)
    for threads in (1, 2, 3):
        lattice = lattice_of(scores, threads)
        assert lattice.best_score == values.max()
        for x, parents in families(n):
            assert lattice.family_bound(x, parents) == best_where(values, masks[:, x] == parents)
        with_edge, without = edge_bounds(lattice, n, threads)
        for p in range(n):
            assert with_edge[p, p] == without[p, p] == -math.inf
            for x in set(range(n)) - {p}:
                has_edge = masks[:, x] >> p & 1 == 1
                assert with_edge[p, x] == best_where(values, has_edge)
                assert without[p, x] == best_where(values, ~has_edge)


@settings(max_examples=100)
@given(tied_lists(variables=(1, 4)))
def test_bounds_of_lists_with_ties(lists: FamilyLists) -> None:
    assert_bounds(scores_from_lists(lists))


@settings(max_examples=6)
@given(tied_lists(variables=(5, 5)))
def test_bounds_of_five_variables(lists: FamilyLists) -> None:
    assert_bounds(scores_from_lists(lists))


@pytest.mark.parametrize("case", ALL_CASES, ids=repr)
@settings(max_examples=4)
@given(st.data())
def test_bounds_of_random_tables(case: Case, data: st.DataObject) -> None:
    options = {"most_cells": 120} if case is BDE else {}
    table = data.draw(
        tables(variables=(2, 4), most_states=3, rows=(2, 5, 40), weights=((1,), (1, 2, 17)), constants=False, **options)
    )
    assert_bounds(td.score(table, case.make(table), max_parents=data.draw(st.none() | st.integers(0, 3))))


def test_a_family_is_in_a_listed_network_exactly_when_its_bound_says_so() -> None:
    """M(x, U) is the score of the first listed network that has the family."""
    scores = td.score(sampled_table(7, 40, seed=5), td.BDeu())
    found = td.k_best_networks(scores, 30_000)
    lattice = lattice_of(scores)
    for x, parents in families(7):
        places = np.flatnonzero(found.parents[:, x] == parents)
        bound = lattice.family_bound(x, parents)
        assert bound == found.scores[places[0]] if places.size else bound <= found.floor


def restricted(scores: Scores, parent: int, child: int, *, has_edge: bool) -> td.types.Answer:
    """The best network with or without an edge, in another way: the other families are not allowed."""
    n = len(scores.columns)
    slots = np.arange(2 ** (n - 1))
    low = (1 << child) - 1
    parents = slots & low | (slots & ~low) << 1
    allowed = np.concatenate([values_by_slot(scores, x) for x in range(n)])
    own = allowed[child << n - 1 : child + 1 << n - 1]
    own[(parents >> parent & 1 == 1) != has_edge] = -math.inf
    limited = Scores(scores.names, None, None, None, "all", scores.columns, FamilyStore(n, allowed), scores.grid)
    return td.best_network(limited)


def values_by_slot(scores: Scores, x: int) -> NDArray[np.float64]:
    n = len(scores.columns)
    slots = np.arange(2 ** (n - 1))
    low = (1 << x) - 1
    masks = slots & low | (slots & ~low) << 1
    return np.asarray(scores.store.joint[masks | 1 << x] - scores.store.joint[masks])


@pytest.mark.parametrize("n", [14, 16, 17])
def test_edges_of_tables_that_cross_block_sizes(n: int) -> None:
    scores = td.score(sampled_table(n, 80, seed=n, states=(2, 3)), td.BDeu())
    with_edge, without = edge_bounds(lattice_of(scores, 2), n, 2)
    best = td.k_best_networks(scores, 1).scores[0]
    others = ~np.eye(n, dtype=bool)
    assert (np.maximum(with_edge, without)[others] == best).all()
    for parent, child in ((0, n - 1), (n - 1, 0), (3, 4), (n // 2, 1)):
        for has_edge, bound in ((True, with_edge), (False, without)):
            assert restricted(scores, parent, child, has_edge=has_edge).score == bound[parent, child]


@pytest.mark.parametrize(("x", "parents"), [(-1, 0), (3, 0), (0, 1), (1, 3), (0, 8), (2, 1 << 40)])
def test_what_is_no_family_is_refused(x: int, parents: int) -> None:
    lattice = lattice_of(td.score(sampled_table(3, 20, seed=1), td.BDeu()))
    with pytest.raises((ValueError, TypeError)):
        lattice.family_bound(x, parents)


# ---- By name


def test_alternatives_by_name() -> None:
    """Against all networks, with a constant column in between that has no edges."""
    codes = np.insert(np.random.default_rng(4).integers(0, 2, (4, 30)), 2, 0, axis=0)
    codes[4] = codes[0] ^ (codes[1] & codes[3])
    scores = td.score(table_of(codes, [2, 2, 1, 2, 2]), td.BDeu())
    masks = networks(4)
    values = network_scores(values_of(scores), masks)
    found = td.edge_alternatives(scores)
    assert found.names == scores.names
    assert found.best == values.max()
    place = {scores.names[v]: i for i, v in enumerate(scores.columns)}
    for parent, p in place.items():
        for child in set(place) - {parent}:
            has_edge = masks[:, place[child]] >> p & 1 == 1
            assert found.loss_with(parent, child) == found.best - values[has_edge].max()
            assert found.loss_without(parent, child) == found.best - values[~has_edge].max()
            bound = scores.family_bound(child, [parent])
            assert bound == best_where(values, masks[:, place[child]] == 1 << p)
        assert scores.family_bound(parent) == best_where(values, masks[:, p] == 0)
        assert found.loss_with("V2", parent) == found.loss_with(parent, "V2") == math.inf
        assert found.loss_without("V2", parent) == found.loss_without(parent, "V2") == 0.0
        with pytest.raises(td.ScoreError, match="Constant columns stay isolated"):
            scores.family_bound(parent, ["V2"])


def test_alternatives_to_the_edges_of_the_best_network() -> None:
    scores = td.score(td.example_table(), td.BDeu())
    found = td.edge_alternatives(scores, threads=2)
    listed = {(row["parent"], row["child"]): row for row in found.rows()}
    assert set(listed) >= set(td.best_network(scores).network.edges)
    for (parent, child), row in listed.items():
        assert found.loss_with(parent, child) == 0
        assert row["loss without"] == found.loss_without(parent, child) >= 0
        assert row["loss reversed"] == found.loss_with(child, parent) >= 0
    assert len(str(found).splitlines()) == len(listed)
    ties = td.networks_within(scores, 1)
    assert set(listed) == {edge for network in ties for edge in network.edges}


def test_alternatives_where_nothing_varies() -> None:
    found = td.edge_alternatives(td.score(table_of(np.zeros((3, 5), int), [1] * 3), td.BDeu()))
    assert found.best == 0.0
    assert found.loss_with("V0", "V1") == math.inf
    assert found.loss_without("V0", "V1") == 0.0
    assert list(found.rows()) == []


@pytest.mark.parametrize("keep", ["best", td.Within(1000)])
def test_alternatives_need_everything(keep: object) -> None:
    scores = td.score(td.example_table(), td.BDeu(), keep=keep)
    for ask in (td.edge_alternatives, lambda scores: scores.family_bound("lung", ["smoke"])):
        with pytest.raises(td.ScoreError, match="needs more families than these scores hold"):
            ask(scores)


def test_alternatives_name_what_is_unknown() -> None:
    scores = td.score(td.example_table(), td.BDeu())
    with pytest.raises(ValueError, match="smok"):
        scores.family_bound("lung", ["smok"])
    with pytest.raises(ValueError, match="smok"):
        td.edge_alternatives(scores).loss_with("smok", "lung")
    with pytest.raises(td.ScoreError, match="joins two variables"):
        td.edge_alternatives(scores).loss_with("lung", "lung")


def test_alternatives_are_known_all_at_once() -> None:
    for source in (td.example_table(), td.score(td.example_table(), td.BDeu())):
        with pytest.raises(td.OutOfTime, match=r"edge_alternatives: time_limit came after .* nothing is known yet"):
            td.edge_alternatives(source, time_limit=0.0)
