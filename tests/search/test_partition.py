"""Lists by partition are the truth's: networks, classes, and classes counted by their networks, with ties."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from brute_force import network_scores, networks, values_of
from hypothesis import given, settings
from hypothesis import strategies as st
from list_checks import all_listed, random_lists
from strategies import tables, tied_lists

import topdag as td
from topdag._util.bitsets import is_acyclic, masks_in
from topdag._util.class_graph import class_graph
from topdag._util.run import Run
from topdag.scoring.scores import Scores
from topdag.search.best import begin, search_best
from topdag.search.costs import Families
from topdag.search.family_lists import FamilyLists
from topdag.search.partition.few import MOST_CHOICES, networks_of_few
from topdag.search.partition.listed import MOST_TIED, Kind, Listed, size_of
from topdag.search.partition.listing import list_by_partition
from topdag.search.partition.nearby import offer_nearby
from topdag.search.relaxation import Incumbent
from topdag.search.stores import ListStore


def listed(scores: Scores, kind: Kind, wanted: int, reach: float, *, nearby: bool = False) -> Listed | None:
    """None when there is no network."""
    store, run = scores.store, Run(threads=1)
    assert isinstance(store, ListStore)
    standing = begin(store, run)
    assert search_best(standing, run)
    if standing.masks is None:
        return None
    best = Incumbent(tuple(standing.masks), standing.cost)
    found = Listed(store, run, kind, wanted, best.cost + reach)
    if nearby:
        offer_nearby(found, Families.of_store(store), best.masks, wanted)
    is_done = list_by_partition(store, run, found, best).limit is None
    assert is_done and found.bound == math.inf
    return found


def costs_of(scores: Scores) -> tuple[np.ndarray, np.ndarray]:
    """Networks of listed families, a row each, and what they cost, the cheapest first."""
    values, masks = values_of(scores), networks(len(scores.columns))
    costs = values.max(axis=1).sum() - network_scores(values, masks)
    order = np.argsort(costs, kind="stable")
    order = order[np.isfinite(costs[order])]
    return costs[order], masks[order]


def assert_found(found: Listed, expected: dict[Any, float], highest: float) -> None:
    """All these, none of which costs more than ``highest``; where very many tie with the last, enough of them."""
    near = {key: cost for key, cost in found.costs.items() if cost <= highest}
    if found.is_full and sum(cost == highest for cost in expected.values()) > MOST_TIED:
        assert near.items() <= expected.items()
        near, expected = ({key: cost for key, cost in own.items() if cost < highest} for own in (near, expected))
    assert near == expected


def assert_networks(scores: Scores, wanted: int, reach: float, *, nearby: bool) -> None:
    """Those wanted, and all that tie with the last."""
    found = listed(scores, Kind.NETWORKS, wanted, reach, nearby=nearby)
    costs, masks = costs_of(scores)
    if found is None:
        assert not len(costs)
        return
    highest = min(costs[0] + reach, costs[min(wanted, len(costs)) - 1])
    expected = {tuple(own): cost for own, cost in zip(masks.tolist(), costs.tolist(), strict=True) if cost <= highest}
    assert_found(found, expected, highest)
    assert found.is_full == (len(expected) >= wanted)


@settings(max_examples=50)
@given(tied_lists(), st.sampled_from([1, 2, 7, 60, 10_000]), st.sampled_from([0.0, 1.0, 3.0, 1e6]), st.booleans())
def test_networks_with_ties(lists: FamilyLists, wanted: int, reach: float, nearby: bool) -> None:
    if wanted > 60 and len(lists.names) == 5:
        wanted, reach = 60, min(reach, 1.0)
    assert_networks(all_listed(lists), wanted, reach, nearby=nearby)


@pytest.mark.parametrize("seed", range(6))
def test_networks_of_few_different_scores(seed: int) -> None:
    """Where the relaxation is far from the best network, and parts are split by edges."""
    scores = all_listed(random_lists(5, seed, spread=6, missing=0.5))
    assert_networks(scores, 40, math.inf if seed % 2 else 2.0, nearby=False)


def assert_classes(scores: Scores, wanted: int, reach: float) -> None:
    costs, masks = costs_of(scores)
    of_class: dict[object, tuple[float, int]] = {}
    for cost, own in zip(costs.tolist(), map(tuple, masks.tolist()), strict=True):
        least, size = of_class.get(class_graph(own), (cost, 0))
        assert least == cost  # score-equivalent
        of_class[class_graph(own)] = (cost, size + 1)
    ranked = sorted(of_class.values())
    by_size = np.cumsum([size for _, size in ranked])
    for kind, last in ((Kind.CLASSES, wanted - 1), (Kind.MEMBERS, int(np.searchsorted(by_size, wanted)))):
        found = listed(scores, kind, wanted, reach)
        assert found is not None
        highest = min(costs[0] + reach, ranked[min(last, len(ranked) - 1)][0])
        expected = {key: cost for key, (cost, _) in of_class.items() if cost <= highest}
        assert_found(found, expected, highest)
        assert all(class_graph(found.networks[key]) == key for key in found.costs)
        assert all(size_of(key) == of_class[key][1] for key in found.costs)


@settings(max_examples=12)
@given(
    tables(variables=(2, 4), most_states=3, rows=(1, 5, 40), weights=((1,),)),
    st.sampled_from([1, 2, 9, 40]),
    st.sampled_from([0.0, 1.0, 3.0]),
)
def test_classes_with_ties(table: td.Table, wanted: int, reach: float) -> None:
    for kind in (td.BDeu(), td.BIC()):
        scores = td.score(table, kind, keep=td.Within(1e300))
        if isinstance(scores.store, ListStore) and len(scores.columns) > 1:
            assert_classes(scores, wanted, reach)


@given(tied_lists(), st.sampled_from([0.0, 2.0, 1e6]), st.integers(0, 99))
def test_networks_of_few_families_are_all_there_are(lists: FamilyLists, reach: float, seed: int) -> None:
    """Of any of the families; more than a few are left to others."""
    store = all_listed(lists).store
    assert isinstance(store, ListStore)
    families = Families.of_store(store)
    allowed = np.random.default_rng(seed).random(families.size) < 0.4
    found = networks_of_few(families, allowed, reach)
    own = [np.flatnonzero(allowed[begin:end]) + begin for begin, end in families.spans]
    n_choices = math.prod(map(len, own))
    assert (found is None) == (n_choices > MOST_CHOICES)
    if found is not None:
        masks = masks_in(families.parents)
        choices = [(sum(families.costs[list(at)]), tuple(masks[place] for place in at)) for at in product(*own)]
        expected = [(cost, chosen) for cost, chosen in choices if cost <= reach and is_acyclic(chosen)]
        assert found == sorted(expected)
