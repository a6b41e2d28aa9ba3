"""Every engine, stopped at counted places inside its work: network, bound, gap, floor and counts hold wherever it was.

Seeds are fixed; ``tests/slow/compare.py`` tries others for as long as it is given.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from random_inputs import families_with_cycles, rounded_families
from stop_cases import STOP_KINDS, forced
from stop_cases.counted import CLOSE, all_ranked, answer_at, check_list, counted_clock, readings_of
from stop_cases.forced import without_luck
from stop_cases.truths import best_of_families, scores_of

import topdag as td
from topdag import _core
from topdag._util.run import Run
from topdag.questions.request import Request, Trail, upper_bound
from topdag.search.best import _by_orders, begin, kept_candidates
from topdag.search.branch_and_cut import PartSearch
from topdag.search.relaxation import Known, solve_root

SEEDS = 3
EDGES = "EdgePrior({('V0', 'V1'): 0.7, ('V1', 'V0'): -1.5})"


@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("kind", STOP_KINDS)
def test_what_is_said_at_a_stop_holds(kind: str, seed: int) -> None:
    make, check = STOP_KINDS[kind]
    check(**make(np.random.default_rng(seed)))


@pytest.mark.parametrize("kind", [kind for kind in STOP_KINDS if kind.endswith("partition")])
@pytest.mark.parametrize("seed", [4, 6])
def test_no_place_to_stop_is_taken_for_the_end(kind: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Time that runs out between two questions about it is the same to both: each of the first places is tried."""
    monkeypatch.setattr(forced, "stops_among", lambda readings, *_: range(min(readings, 80)))
    make, check = STOP_KINDS[kind]
    check(**make(np.random.default_rng(seed)))


@pytest.mark.parametrize("kind", ["BIC()", "BDeu(1.0)"])
@pytest.mark.parametrize("keep_constant", [True, False])
@pytest.mark.parametrize("states", [[1, 1], [3, 3], [3, 2, 3]])
def test_a_floor_holds_where_columns_are_constant(states: list[int], keep_constant: bool, kind: str) -> None:
    """What the likelihood allows is then what networks score: rounding and priors have nothing left to hide in."""
    rng = np.random.default_rng(len(states))
    made = {"codes": [[0]] * len(states), "arities": states, "weights": [4096], "keep_constant": keep_constant}
    for name in ("classes, dense", "classes, sparse", EDGES):
        make, check = STOP_KINDS[f"stops: {name}"]
        check(**make(rng) | {"table": made, "kind": kind})


def test_a_floor_holds_where_scores_are_above_zero() -> None:
    """Nothing found yet is no reason to say that nothing scores more than 0."""
    families = [(x, parents, 5.0 + len(parents)) for x in range(3) for parents in ((), ((x + 1) % 3,))]
    scores = scores_of(3, families, keep="all")
    ranked = all_ranked(scores)
    for ask in (td.k_best_networks, td.search_networks):

        def asked(limit: float, ask: Any = ask) -> Any:
            return ask(scores, 4, time_limit=limit, threads=1)

        for stop in range(readings_of(asked) + 1):
            found = answer_at(asked, stop)
            if not isinstance(found, td.OutOfTime):
                check_list(found, ranked, 4, close=CLOSE)


def test_the_clock_counts_its_readings_and_goes_back_to_seconds() -> None:
    with counted_clock():
        assert [_core.clock_seconds() for _ in range(3)] == [1.0, 2.0, 3.0]
    first = _core.clock_seconds()
    assert 0.0 <= _core.clock_seconds() - first < 60.0


def test_counted_stops_come_at_the_same_place_every_time() -> None:
    scores = td.score(td.example_table(100, seed=1), td.BDeu(), keep="best")

    def ask(limit: float) -> td.types.Answer:
        return td.best_network(scores, engine="search", time_limit=limit, threads=1)

    assert readings_of(ask) == readings_of(ask)
    for stop in (0, 3, 30, 100):
        first, second = answer_at(ask, stop), answer_at(ask, stop)
        assert (first.network, first.proof) == (second.network, second.proof)


@pytest.mark.parametrize("known", ["most", "standing", "best_alone", "lists"])
def test_every_bound_from_the_grid_has_slack_for_the_rounding(known: str) -> None:
    scores = scores_of(5, rounded_families(np.random.default_rng(1), 5))
    trail, on_grid = Trail(Request.from_scores(scores)), float(scores.store.best_scores.sum())
    assert scores.rounding > 0.0
    if known == "most":
        trail.most = on_grid
    if known == "standing":
        trail.standing = begin(scores.store, Run())
    if known == "best_alone":
        trail.best_alone = scores.store.best_scores.tolist()
    assert math.isclose(upper_bound(trail) - on_grid, scores.rounding, rel_tol=0.1)


def test_order_search_that_is_stopped_counts_what_the_best_families_left_cost_once() -> None:
    """Families that a good network rules out may be the best of their variables: all costs then begin higher."""
    shifted = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(4, 8))
        scores = scores_of(n, families_with_cycles(rng, n, parts=1, levels=int(rng.choice([3, 12, 40]))))
        standing = begin(scores.store, Run())
        with without_luck(near=True):
            root = solve_root(scores.store, Run(), known=standing)
        shifted += kept_candidates(scores.store, root, standing.cost)[1] > 0.0
        _by_orders(standing, root, Run(), most_sets=1)
        assert standing.score_bound >= best_of_families(scores).optimum
    assert shifted


def test_families_in_a_circle_are_no_network() -> None:
    """Branch and cut that has one family left for each variable may not have cut the circle that they make."""
    scores = scores_of(3, [(0, (), -5.0), (0, (1,), 0.0), (1, (), -4.0), (1, (0,), 0.0), (2, (), 0.0)])
    store, run = scores.store, Run()
    known = Known(store, run)
    known.offer(9.0, [0, 0, 0])
    search = PartSearch(store, run, solve_root(store, run, known=Known(store, run)), known)
    search._offer(search.families.places([0b010, 0b001, 0]))
    assert known.incumbent is not None and known.incumbent.masks == (0, 0, 0)


def test_what_algorithm_1_met_stands_once_with_all_its_orders() -> None:
    """When it is stopped, paths of a network that it met may not have been counted."""
    scores = td.score(td.example_table(30, seed=2), td.BIC(), keep="all")

    def ask(limit: float) -> td.types.NetworkList:
        return td.search_networks(scores, 5, prior=td.OrderModular(), published=True, time_limit=limit, threads=1)

    whole = readings_of(ask)
    for stop in range(whole // 2, whole, max(1, whole // 40)):
        found = answer_at(ask, stop)
        rows = [tuple(row) for row in found.parents.tolist()]
        assert len(set(rows)) == len(rows)
        for masks, value in zip(rows, found.scores.tolist(), strict=True):
            network = scores.network(masks)
            assert value == pytest.approx(network.score + math.log(network.linear_extensions), abs=1e-6)
