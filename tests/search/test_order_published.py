"""Known optima of real data by search over orders, component by component."""

from __future__ import annotations

import math

import numpy as np
import pytest
from published import DATA, Optimum, grouped, optima

import topdag as td
from topdag import _core
from topdag.search.components import parts_of
from topdag.search.stores import ListStore

FOUND = [lines for lines in grouped(optima(1, 20)) if lines[0].file.startswith("scores/") or lines[0].score == "BIC"]
SMALL = [lines for lines in FOUND if lines[0].file.startswith("scores/") or lines[0].path.stat().st_size < 30_000]


def store_of(optimum: Optimum) -> ListStore:
    if optimum.file.startswith("scores/"):
        store = td.io.read_scores(optimum.path).store
    else:
        table = td.read_table(optimum.path)
        store = td.score(table, optimum.kind, max_parents=optimum.max_parents, keep="best").store
    assert isinstance(store, ListStore)
    return store


def best_order(candidates: _core.Candidates) -> list[int]:
    """Best first without any network known, then by layers with the optimum: both must agree."""
    groups = _core.groups_by_strongest_parents(candidates, 12)
    bound = _core.group_bound(candidates, groups)
    found = _core.search_orders(candidates, bound, math.inf, True, None, _core.Limits())
    again = _core.search_in_layers(candidates, bound, found.cost, True, None, _core.Limits(2))
    assert found.finished and again.finished
    assert found.cost == again.cost
    return found.order


@pytest.mark.skipif(not DATA.exists(), reason=f"no data in {DATA}: known optima are not checked")
def test_there_are_known_optima() -> None:
    assert len(SMALL) >= 25


@pytest.mark.parametrize("lines", SMALL, ids=lambda lines: repr(lines[0]))
def test_known_optimum_by_search_over_orders(lines: list[Optimum]) -> None:
    store = store_of(lines[0])
    masks = np.ascontiguousarray(store.lists.masks[:, 0])
    candidates = _core.Candidates(store.n, store.lists.offsets, masks, store.rounded)
    parts = parts_of(candidates)
    order = [part.variables[place] for part in parts for place in best_order(part.candidates)]
    cost, parents = _core.network_in_order(candidates, order)
    best = np.maximum.reduceat(store.rounded, store.lists.offsets[:-1]).sum()
    score = sum(store.exact_value(x, mask) for x, mask in enumerate(parents))
    assert score == pytest.approx(best - cost, abs=1e-6)
    for line in lines:
        assert abs(score - line.optimum) <= line.tolerance, line
