"""The relaxation: every cut holds for every network, and no bound or reduced cost ever says too much."""

from __future__ import annotations

import math
from functools import cache
from itertools import pairwise
from unittest.mock import patch

import numpy as np
import pytest
import strategies
from hypothesis import given, settings
from hypothesis import strategies as st
from random_inputs import families_with_cycles
from search_checks import HALF_CIRCLES, all_families, check_network, left_side, networks_of, store_of

import topdag as td
from topdag import _core
from topdag._util.run import Run
from topdag.search import costs, relaxation
from topdag.search.ascent import Ascent
from topdag.search.costs import Families
from topdag.search.family_lists import FamilyLists
from topdag.search.relaxation import Incumbent, Known, Relaxation, solve_root
from topdag.search.stores import ListStore, common_step


def costs_of_networks(store: ListStore) -> list[tuple[float, tuple[int, ...]]]:
    """Every network of listed families with its cost."""
    best, value = store.best_scores.sum(), cache(store.value)
    scored = ((sum(value(v, mask) for v, mask in enumerate(masks)), masks) for masks in networks_of(store.n))
    return [(best - score, masks) for score, masks in scored if score > -math.inf]


def all_clusters(n: int) -> list[tuple[int, int]]:
    return [(members, k) for members in range(1, 2**n) for k in range(1, members.bit_count() + 1)]


def cuts_of(families: Families, clusters: list[tuple[int, int]]) -> _core.Cuts:
    cuts = families.cuts()
    members, ks = [m for m, _ in clusters], [k for _, k in clusters]
    cuts.add_clusters(np.array(members, dtype=np.uint64), np.array(ks, dtype=np.int64))
    return cuts


def count_for(members: int, k: int, masks: tuple[int, ...]) -> int:
    return sum(members >> v & 1 and (mask & members).bit_count() < k for v, mask in enumerate(masks))


@pytest.mark.parametrize("n", [2, 3, 4])
def test_every_network_meets_every_cluster(n: int) -> None:
    for members, k in all_clusters(n):
        assert min(count_for(members, k, masks) for masks in networks_of(n)) >= k


@given(strategies.tied_lists(variables=(2, 4)), st.integers(0, 2**32 - 1))
def test_cuts_found_are_violated_and_hold_for_networks(lists: FamilyLists, seed: int) -> None:
    families = Families.of_store(store_of(lists))
    rng = np.random.default_rng(seed)
    drawn = rng.random(families.size) ** rng.integers(1, 30)
    sums = np.add.reduceat(drawn, families.offsets[:-1])
    weights = drawn / np.repeat(sums, np.diff(families.offsets))
    members, ks = families.core.separate(weights, 3, 50, 1e-6, 100_000, 1)
    found = list(zip(members.tolist(), ks.tolist(), strict=True))
    assert len(set(found)) == len(found)
    for cluster, k in found:
        assert count_weight(families, weights, cluster, k) < k
        assert min(count_for(cluster, k, masks) for masks in networks_of(families.n)) >= k
    if not found:
        for cluster, k in all_clusters(families.n):
            assert k > 3 or count_weight(families, weights, cluster, k) > k - 2e-6


@pytest.mark.parametrize("n", [18, 70])
def test_threads_find_the_same_cuts_and_multipliers(n: int) -> None:
    """However many share the pairs that clusters grow from, and the clusters that an ascent prepares."""
    rng = np.random.default_rng(n)
    drawn_sets = {
        (v, tuple(sorted(rng.choice([p for p in range(n) if p != v], size, replace=False).tolist())))
        for v in range(n)
        for size in rng.integers(2, 5, 12)
    }
    listed = [(v, parents, -float(rng.integers(1, 40))) for v, parents in sorted(drawn_sets)]
    families = Families.of_store(store_of(FamilyLists.build([f"v{v}" for v in range(n)], listed)))
    drawn = rng.random(families.size) ** 4
    weights = drawn / np.repeat(np.add.reduceat(drawn, families.offsets[:-1]), np.diff(families.offsets))
    for most in (20, 150):
        members, ks = families.core.separate(weights, 3, most, 1e-3, 1_000, 1)
        assert 20 <= len(ks) <= most
        for threads in (2, 3, 7):
            others, other_ks = families.core.separate(weights, 3, most, 1e-3, 1_000, threads)
            assert np.array_equal(members, others) and np.array_equal(ks, other_ks)
    everything, excess = np.ones(families.size, dtype=np.uint8), families.costs
    ascended = [
        families.core.ascend(members, ks, excess, everything, np.zeros(len(ks)), 1.0, 3, threads)
        for threads in (1, 2, 7)
    ]
    totals = np.add.reduceat(ascended[0][1], families.offsets[:-1])
    assert (ascended[0][0] > 0).any() and totals == pytest.approx(np.ones(n))  # however often they were scaled
    assert all(np.array_equal(one, other) for own in ascended[1:] for one, other in zip(ascended[0], own, strict=True))


def count_weight(families: Families, weights: np.ndarray, members: int, k: int) -> float:
    listed = zip(families.owners.tolist(), families.parents.tolist(), weights.tolist(), strict=True)
    return sum(w for v, mask, w in listed if members >> v & 1 and (mask & members).bit_count() < k)


@given(st.sampled_from([3, 4]), st.integers(0, 2**32 - 1))
def test_halved_cuts_are_violated_and_hold_for_networks(n: int, seed: int) -> None:
    """Two families of weight a half for each variable: there clusters are tight and sums of them odd."""
    families, rng = all_families(n), np.random.default_rng(seed)
    weights = np.zeros(families.size)
    for v in range(n):
        np.add.at(weights, rng.integers(families.offsets[v], families.offsets[v + 1], 2), 0.5)
    cuts = cuts_of(families, all_clusters(n))
    before = len(cuts)
    assert cuts.add_halves(weights, 20, 0.05) == len(cuts) - before
    limits = cuts.limits()
    for cut in range(before, len(cuts)):
        clusters, variables = cuts[cut]
        assert limits[cut] == math.ceil((sum(k for _, k in clusters) + variables.bit_count()) / 2)
        assert left_side(families, cuts, cut, weights) <= limits[cut] - 0.05 + 1e-9
        for masks in networks_of(n):
            assert left_side(families, cuts, cut, families.places(masks).astype(np.float64)) >= limits[cut]


def test_what_no_cluster_sees_a_halved_sum_cuts() -> None:
    lists = FamilyLists.build("abcd", [(v, parents, 0.0) for v, parents in HALF_CIRCLES])
    families = Families.of_store(store_of(lists))
    weights = np.full(families.size, 0.5)
    assert len(families.core.separate(weights, 3, 50, 1e-6, 100_000, 1)[0]) == 0
    cuts = cuts_of(families, all_clusters(4))
    before, added = len(cuts), cuts.add_halves(weights, 20, 0.05)
    assert added > 0
    assert all(left_side(families, cuts, cut, weights) < cuts.limits()[cut] for cut in range(before, before + added))


@given(strategies.tied_lists(variables=(1, 4)), st.data())
def test_any_multipliers_give_a_valid_bound(lists: FamilyLists, data: st.DataObject) -> None:
    store = store_of(lists)
    families = Families.of_store(store)
    clusters = data.draw(st.lists(st.sampled_from(all_clusters(store.n)), max_size=6))
    multipliers = np.array(data.draw(st.lists(st.floats(-1, 5), min_size=len(clusters), max_size=len(clusters))))
    cuts = cuts_of(families, clusters)
    allowed = np.array(data.draw(st.lists(st.booleans(), min_size=families.size, max_size=families.size)))
    bound, family_bounds = families.bound(allowed, cuts, multipliers)
    for cost, masks in costs_of_networks(store):
        used = families.places(masks)
        if (allowed | ~used).all():
            assert bound <= cost
            assert (family_bounds[used] <= cost).all()


@given(strategies.tied_lists(variables=(1, 4)), st.data())
def test_costs_under_multipliers_of_clusters_are_those_of_the_pool(lists: FamilyLists, data: st.DataObject) -> None:
    """To the last bit, with more than 64 clusters of a kind too."""
    families = Families.of_store(store_of(lists))
    clusters = data.draw(st.lists(st.sampled_from(all_clusters(families.n)), max_size=6)) * data.draw(
        st.sampled_from([1, 30])
    )
    drawn = st.lists(st.floats(0, 5), min_size=len(clusters), max_size=len(clusters))
    allowed = np.array(data.draw(st.lists(st.booleans(), min_size=families.size, max_size=families.size)))
    cuts = cuts_of(families, clusters)
    multipliers = families.on_grid(np.array(data.draw(drawn)), cuts.limits())
    sets = np.array([members for members, _ in clusters], dtype=np.uint64)
    ks = np.array([k for _, k in clusters], dtype=np.int64)
    bound, excess = families.core.costs_under(sets, ks, families.costs, allowed.view(np.uint8), multipliers, 2)
    pool_bound, family_bounds = families.bound(allowed, cuts, multipliers)
    assert bound == pool_bound
    if bound < math.inf:
        assert (bound + excess == family_bounds).all()


@given(st.sampled_from([4, 5]), st.integers(0, 2**32 - 1))
def test_coefficients_that_are_not_kept_are_made_alike(n: int, seed: int) -> None:
    """Clusters, halves of sums of them, local cuts and clauses: the same entries, bound and bounds of families."""
    families, rng = all_families(n), np.random.default_rng(seed)
    weights = np.zeros(families.size)
    for v in range(n):
        np.add.at(weights, rng.integers(families.offsets[v], families.offsets[v + 1], 2), 0.5)
    clusters = [all_clusters(n)[i] for i in rng.choice(len(all_clusters(n)), 12)]
    seen = []
    for long_list in (costs.LONG_LIST, 0):
        with patch.object(costs, "LONG_LIST", long_list):
            cuts = cuts_of(families, clusters)
        cuts.add_clause((np.arange(families.size) % 3 == 0).view(np.uint8))
        cuts.add_halves(weights, 20, 0.05)
        cuts.add_local(weights, n, 20, 0.02)
        marks = np.arange(families.size + n) % 2 == 0
        multipliers = np.random.default_rng(seed).random(len(cuts))
        found = families.bound(np.ones(families.size, dtype=np.bool_), cuts, multipliers)
        seen.append(
            (len(cuts), found[0], *(part.tolist() for part in (found[1], *cuts.entries(2, marks.view(np.uint8)))))
        )
    assert seen[0] == seen[1]


@given(strategies.tied_lists(variables=(2, 4)), st.floats(0.1, 5.0))
def test_an_ascent_raises_the_smooth_bound(lists: FamilyLists, temperature: float) -> None:
    families = Families.of_store(store_of(lists))
    clusters = all_clusters(families.n)
    sets = np.array([members for members, _ in clusters], dtype=np.uint64)
    ks = np.array([k for _, k in clusters], dtype=np.int64)
    every, multipliers = np.ones(families.size, dtype=np.uint8), np.zeros(len(clusters))
    smooth_bounds = []
    for _ in range(4):
        bound, excess = families.core.costs_under(sets, ks, families.costs, every, multipliers, 1)
        counts = np.add.reduceat(np.exp(-excess / temperature), families.offsets[:-1])
        smooth_bounds.append(bound - temperature * np.log(counts).sum())
        multipliers, weights = families.core.ascend(sets, ks, excess, every, multipliers, temperature, 1, 1)
        assert (multipliers >= 0).all()
        assert np.add.reduceat(weights, families.offsets[:-1]) == pytest.approx(np.ones(families.n))
    assert all(b >= a - 1e-6 * (1 + abs(a)) for a, b in pairwise(smooth_bounds))


@pytest.mark.parametrize("time_limit", [None, 0.0])
def test_weights_of_an_ascent_add_up_however_many_families_tie(time_limit: float | None) -> None:
    """Also before the first sweep, should the clock run out before it."""
    pairs = [(x, (y, z), 0.0) for x in range(50) for y in range(50) for z in range(y) if x not in (y, z)]
    store = store_of(FamilyLists.build([f"v{x}" for x in range(50)], [(x, (), -1.0) for x in range(50)] + pairs))
    families = Families.of_store(store)
    ascent = Ascent(families, 1.0)
    for _ in range(2):
        ascent.climb(np.ones(families.size, dtype=np.bool_), Run(time_limit=time_limit))
        assert np.add.reduceat(ascent.shares(), families.offsets[:-1]) == pytest.approx(np.ones(families.n))
        ascent.replace_idle([(2**50 - 1, 1)])


def check_relaxation(store: ListStore, found: Relaxation, epsilon: float) -> None:
    every = costs_of_networks(store)
    families = Families.of_store(store)
    if not every:
        assert found.incumbent is None and found.bound == math.inf
        return
    optimum = min(cost for cost, _ in every)
    assert found.incumbent is not None
    check_network(store, found.incumbent.cost, list(found.incumbent.masks))
    assert found.bound <= optimum <= found.incumbent.cost
    assert (found.multipliers >= 0).all()
    for cost, masks in every:
        assert (found.family_bounds[families.places(masks)] <= cost).all()
    for threshold in (optimum - 0.5, optimum, optimum + epsilon, optimum + epsilon + 2):
        kept = found.kept_families(threshold)
        for cost, masks in every:
            assert cost > threshold or (kept | ~families.places(masks)).all()
    kept = found.kept_families(found.threshold)
    assert families.bound(kept, cuts_of(families, found.clusters), found.multipliers)[0] >= found.bound


@pytest.mark.parametrize("long_list", [costs.LONG_LIST, 0])
@settings(max_examples=50, deadline=None)
@given(strategies.tied_lists(variables=(1, 4)), st.sampled_from([0.0, 1.0, 2.5]))
def test_the_root_never_says_too_much(long_list: int, lists: FamilyLists, epsilon: float) -> None:
    store = store_of(lists)
    with patch.object(costs, "LONG_LIST", long_list):
        check_relaxation(store, solve_root(store, Run(), epsilon=epsilon), epsilon)


@settings(max_examples=25, deadline=None)
@given(strategies.tables(variables=(3, 4), rows=(10, 40, 150), constants=False), st.sampled_from([0.0, math.log(20)]))
def test_the_root_of_a_table(table: td.Table, epsilon: float) -> None:
    store = td.score(table, td.BIC(), keep=td.Within(20)).store
    assert isinstance(store, ListStore)
    check_relaxation(store, solve_root(store, Run(), epsilon=epsilon), epsilon)


@pytest.mark.parametrize("long_list", [costs.LONG_LIST, 0])
def test_bounds_of_families_that_others_were_left_out_for(long_list: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A network with left out families costs more than the threshold, and may cost less than a bound without them."""
    monkeypatch.setattr(costs, "LONG_LIST", long_list)
    for seed in range(150):
        rng = np.random.default_rng(seed)
        families = families_with_cycles(rng, 4, parts=1, levels=int(rng.choice([3, 12, 40])))
        store = store_of(FamilyLists.build("ABCD", families))
        check_relaxation(store, solve_root(store, Run()), 0.0)


def test_a_given_network_is_where_it_starts() -> None:
    lists = FamilyLists.build(["a", "b"], [(0, [], -3.0), (0, [1], 0.0), (1, [], -2.0), (1, [0], 0.0)])
    store = store_of(lists)
    found = solve_root(store, Run(), incumbent=Incumbent((0, 1), 3.0))
    assert found.incumbent == Incumbent((2, 0), 2.0)
    assert found.bound == 2.0
    assert found.clusters == [(3, 1)] and found.multipliers.tolist() == pytest.approx([2.0])
    assert found.kept_families(2.0).tolist() == [True, False, True, True]  # a without parents costs 3
    assert found.kept_families(3.0).tolist() == [True, True, True, True]


def test_no_time_leaves_a_valid_answer() -> None:
    store = td.score(strategies.sampled_table(10, 300, 4), td.BIC(), keep="best").store
    assert isinstance(store, ListStore)
    proved = solve_root(store, Run())
    hurried = solve_root(store, Run(time_limit=0.0))
    assert hurried.bound <= proved.bound and hurried.incumbent is not None
    check_network(store, hurried.incumbent.cost, list(hurried.incumbent.masks))


def test_progress_reports_scores_on_either_side(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("topdag.search.relaxation.SECONDS_A_TICK", 0.0)
    store = td.score(strategies.sampled_table(12, 400, 2), td.BIC(), keep="best").store
    assert isinstance(store, ListStore)
    seen: list[td.types.Progress] = []
    found = solve_root(store, Run(on_progress=seen.append))
    assert found.incumbent is not None
    best = store.best_scores.sum() - found.incumbent.cost
    told = [(p.best, p.bound) for p in seen if p.phase == "relaxing"]
    assert len(told) == found.rounds
    assert all(low is not None and high is not None and low <= best <= high + 1e-9 for low, high in told)


@given(st.lists(st.integers(0, 2**40), max_size=5), st.integers(-30, 10))
def test_the_step_divides_all_costs(whole: list[int], exponent: int) -> None:
    costs = np.ldexp(np.array(whole, dtype=np.float64), exponent)
    step = common_step(costs)
    assert step <= 1.0 and math.frexp(step)[0] == 0.5
    assert (costs / step == np.rint(costs / step)).all()
    assert step == 1.0 or (costs / (2 * step) != np.rint(costs / (2 * step))).any()


@given(strategies.tied_lists(variables=(1, 4)), st.data())
def test_propagation_keeps_every_network(lists: FamilyLists, data: st.DataObject) -> None:
    store = store_of(lists)
    families = Families.of_store(store)
    before = np.array(data.draw(st.lists(st.booleans(), min_size=families.size, max_size=families.size)))
    after = before.copy()
    is_possible = families.core.propagate(after.view(np.uint8))
    assert not (after & ~before).any()
    inside = [used for _, m in costs_of_networks(store) if (before | ~(used := families.places(m))).all()]
    assert is_possible == bool(inside)
    assert all((after | ~used).all() for used in inside)


def test_known_starts_from_nothing() -> None:
    store = store_of(FamilyLists.build(["a"], [(0, [], -1.0)]))
    known = Known(store, Run())
    assert (known.cost, known.bound, known.cutoff) == (math.inf, 0.0, math.inf)
    assert known.offer(0.0, [0]) and not known.offer(0.0, [0])


@pytest.mark.parametrize(("time_limit", "most"), [(None, None), (1000.0, 250.0)])
def test_climbing_leaves_time_for_the_bound(
    time_limit: float | None, most: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 100 variables with 26,000 families it would take twelve seconds, while no bound is known."""
    given_seconds: list[float | None] = []
    climb = _core.climb_orders

    def watched(candidates: _core.Candidates, climbs: int, seed: int, limits: _core.Limits) -> object:
        given_seconds.append(limits.seconds)
        return climb(candidates, climbs, seed, limits)

    monkeypatch.setattr(_core, "climb_orders", watched)
    known = Known(store_of(FamilyLists.build(["a"], [(0, [], -1.0)])), Run(time_limit=time_limit))
    known.climb()
    (seconds,) = given_seconds
    assert known.cost == 0.0
    assert seconds is most is None or (seconds is not None and most is not None and 0 < seconds <= most)


def test_many_families_are_climbed_fewer_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a search that is stopped after some seconds, without a time limit to share out, would have no bound yet."""
    asked = []
    monkeypatch.setattr(_core, "climb_orders", lambda _, climbs, *__: (asked.append(climbs), (math.inf, []))[1])
    known = Known(td.score(strategies.sampled_table(7, 60, seed=1), td.BIC(), keep="best").store, Run())
    for work in (10**9, 300 * max(known.candidates.size, 7**2), 0):
        monkeypatch.setattr(relaxation, "CLIMBING_WORK", work)
        known.climb()
    assert asked == [relaxation.CLIMBS, 300, relaxation.FEWEST_CLIMBS]
