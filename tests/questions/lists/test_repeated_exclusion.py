"""Listing, the published search and repeated exclusion give the same lists: find the best, forbid it, find the next.

Exclusion is slow and obvious and shares nothing with the others but the scores: families are fixed variable by
variable, and the network found last splits what is left into the networks that first differ from it at each variable.
"""

from __future__ import annotations

import numpy as np
import pytest
import reference
from brute_force import path_columns, values_of
from hypothesis import given, settings
from hypothesis import strategies as st
from list_checks import all_listed, random_lists
from numpy.typing import NDArray
from strategies import tables, tied_lists

import topdag as td
from topdag.questions.network_search import search_networks
from topdag.scoring.scores import Scores
from topdag.search.family_lists import FamilyLists

Family = tuple[float, int]  # score and parent mask
Masks = tuple[int, ...]
Found = tuple[float, Masks]


def families_of(scores: Scores) -> list[list[Family]]:
    """The allowed families of each variable, best first."""
    values = values_of(scores)
    allowed = [[(float(own[mask]), mask) for mask in np.flatnonzero(np.isfinite(own)).tolist()] for own in values]
    return [sorted(own, reverse=True) for own in allowed]


def best_of(families: list[list[Family]], allowed: list[set[int]]) -> Found | None:
    """The best acyclic network with families of these sets only: all choices, but for those that cannot be better."""
    n = len(families)
    own = [[(score, mask) for score, mask in families[x] if mask in allowed[x]] for x in range(n)]
    if not all(own):
        return None
    most = [sum(choices[0][0] for choices in own[x:]) for x in range(n + 1)]
    best: Found | None = None

    def choose(x: int, score: float, masks: Masks) -> None:
        nonlocal best
        if x == n:
            best = (score, masks)
            return
        for value, mask in own[x]:
            if best is not None and score + value + most[x + 1] <= best[0]:
                return
            rest = (0,) * (n - x - 1)
            if reference.is_acyclic((*masks, mask, *rest)):
                choose(x + 1, score + value, (*masks, mask))

    choose(0, 0.0, ())
    return best


def by_repeated_exclusion(scores: Scores, k: int) -> list[Found]:
    """The best networks one after the other; those that tie with the k-th are all among them."""
    families = families_of(scores)
    everything = [{mask for _, mask in own} for own in families]
    waiting = [(best_of(families, everything), everything)]
    found: list[Found] = []
    while True:
        waiting = [(best, spaces) for best, spaces in waiting if best is not None]
        if not waiting:
            return found
        (score, masks), spaces = max(waiting, key=lambda entry: entry[0][0])
        if len(found) >= k and score < found[k - 1][0]:
            return found
        waiting = [entry for entry in waiting if entry[1] is not spaces]
        found.append((score, masks))
        for x, mask in enumerate(masks):  # as it up to x, another family at x
            others = [*({m} for m in masks[:x]), spaces[x] - {mask}, *spaces[x + 1 :]]
            waiting.append((best_of(families, others), others))


def in_order(scores: Scores, found: list[Found]) -> tuple[list[float], NDArray[np.uint32]]:
    """Best first, ties in the order of the walk."""
    values = np.array([score for score, _ in found])
    masks = np.array([masks for _, masks in found], dtype=np.uint32)
    order = np.lexsort([*reversed(path_columns(values_of(scores), masks)), -values])
    return values[order].tolist(), masks[order]


def assert_all_agree(scores: Scores, k: int, block: int) -> None:
    excluded = by_repeated_exclusion(scores, k)
    assert len({masks for _, masks in excluded}) == len(excluded)
    listed, searched = td.k_best_networks(scores, k), search_networks(scores, k, block=block)
    assert searched.parents.tolist() == listed.parents.tolist()
    assert searched.scores.tolist() == listed.scores.tolist()
    assert searched.proof.status is listed.proof.status
    if not excluded:
        assert len(listed) == 0
        return
    values, masks = in_order(scores, excluded)
    assert listed.scores.tolist() == values[:k]
    assert listed.parents.tolist() == masks[:k].tolist()


@settings(max_examples=60)
@given(tied_lists(variables=(1, 4)), st.integers(1, 60), st.integers(1, 12))
def test_lists_with_ties(lists: FamilyLists, k: int, block: int) -> None:
    assert_all_agree(all_listed(lists), k, block)


@settings(max_examples=20)
@given(tables(variables=(2, 4), most_states=3, rows=(1, 5, 40), weights=((1,),)), st.integers(1, 40))
def test_tables(table: td.Table, k: int) -> None:
    for kind in (td.BDeu(), td.BIC(), td.K2()):
        assert_all_agree(td.score(table, kind), k, block=3)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("n", [5, 6])
def test_more_variables(n: int, seed: int) -> None:
    """With few different scores and many families missing."""
    scores = all_listed(random_lists(n, 2 * seed, spread=4 + 4 * (seed % 2), missing=0.5))
    assert_all_agree(scores, 25, block=1 + seed)


def test_the_slow_way_finds_all_networks() -> None:
    scores = all_listed(random_lists(4, 0, spread=3, missing=0.0))
    found = by_repeated_exclusion(scores, 10**6)
    assert len(found) == 543
    assert {masks for _, masks in found} == set(map(tuple, reference.all_networks(4)))
