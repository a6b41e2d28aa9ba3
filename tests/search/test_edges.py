"""The cheapest families with and without an edge are those of the definition."""

from __future__ import annotations

import math

import numpy as np
import pytest

from topdag._util.bitsets import members_of
from topdag.search.costs import Families
from topdag.search.edges import Edges
from topdag.search.family_lists import FamilyLists
from topdag.search.stores import ListStore


def families_of(n: int, seed: int) -> Families:
    """Every variable has from 1 to 12 families of at most 4 parents."""
    rng = np.random.default_rng(seed)
    listed = []
    for x in range(n):
        others = [v for v in range(n) if v != x]
        sets = {tuple(sorted(rng.choice(others, rng.integers(0, min(5, n))))) for _ in range(rng.integers(1, 13))}
        sets = {own for own in sets if len(set(own)) == len(own)} or {()}
        listed += [(x, own, float(rng.integers(-6, 0))) for own in sorted(sets)]
    lists = FamilyLists.build([f"V{v}" for v in range(n)], listed)
    return Families.of_store(ListStore.of_lists(lists))


@pytest.mark.parametrize(("n", "seed"), [(1, 0), (2, 1), (6, 2), (6, 3), (70, 4), (200, 5)])
def test_each_edge_by_definition(n: int, seed: int) -> None:
    families, rng = families_of(n, seed), np.random.default_rng(seed)
    edges, has = Edges(families), members_of(families.parents, n)
    costs = np.where(rng.random(families.size) < 0.3, math.inf, families.costs)
    weights = rng.random(families.size)
    there = {(x, p) for f, x in enumerate(families.owners.tolist()) for p in np.flatnonzero(has[f]).tolist()}
    assert sorted(there) == list(zip(edges.children.tolist(), edges.parents.tolist(), strict=True))
    for place, (x, p) in enumerate(sorted(there)):
        own = slice(families.offsets[x], families.offsets[x + 1])
        assert edges.cheapest_with(costs)[place] == min(costs[own][has[own, p]], default=math.inf)
        assert edges.cheapest_without(costs)[place] == min(costs[own][~has[own, p]], default=math.inf)
        assert edges.weights(weights)[place] == pytest.approx(weights[own][has[own, p]].sum())
    asked = np.arange(n * n)
    places, known = edges.places(asked)
    assert np.array_equal(known, np.isin(asked, edges.keys))
    assert np.array_equal(edges.keys[places[known]] if len(edges) else [], asked[known])
