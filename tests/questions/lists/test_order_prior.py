"""The best networks under a prior over orders: all networks of up to five variables as the truth."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import brute_force
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from list_checks import INSTANTS, interrupt_after
from published import DATA
from strategies import list_scores, sampled_table, tables, tied_lists

import topdag as td
from topdag import _core
from topdag._util.run import Run
from topdag._util.stop import Stop
from topdag.questions.order_prior import Floats, Masks, PriorFound, order_prior_bytes, search_order_prior
from topdag.scoring.scores import Scores
from topdag.scoring.with_prior import scores_with

UNIFORM = td.OrderModular()


def log_sums_over_orders(masks: Masks, log_step: Callable[[int, int], float]) -> Floats:
    """For each row of parents the log of the sum, over the orders that agree, of all steps (x, those before x)."""
    n = masks.shape[1]
    sums = [np.zeros(len(masks))] + [np.full(len(masks), -math.inf) for _ in range(2**n - 1)]
    for placed in range(2**n):
        for x in range(n):
            if not placed >> x & 1:
                fits = (masks[:, x] & ~np.uint64(placed)) == 0
                terms = np.where(fits, sums[placed] + log_step(x, placed), -math.inf)
                sums[placed | 1 << x] = np.logaddexp(sums[placed | 1 << x], terms)
    return sums[-1]


@cache
def log_extensions(n: int) -> Floats:
    """Sums of so few orders are whole numbers but for rounding."""
    counts = np.exp(log_sums_over_orders(brute_force.networks(n), lambda x, placed: 0.0)).round()
    return np.array([math.log(count) for count in counts])


def truth(scores: Scores, prior: td.OrderModular = UNIFORM) -> tuple[Floats, Masks]:
    """Every network and what it is worth, best first, equal ones by growing parents."""
    n = len(scores.columns)
    masks = brute_force.networks(n)
    names = [scores.names[v] for v in scores.columns]
    tables = [prior.order_log_weights(names, x) for x in range(n)]
    weights = log_extensions(n) if prior.order_weight is None else log_sums_over_orders(masks, step_of(tables))
    values = brute_force.network_scores(brute_force.values_of(scores), masks) + weights
    masks, values = masks[np.isfinite(values)], values[np.isfinite(values)]
    order = np.lexsort([*masks.T[::-1], -values])
    return values[order], masks[order]


def step_of(tables: list[Floats]) -> Callable[[int, int], float]:
    return lambda x, placed: tables[x][placed & (1 << x) - 1 | placed >> 1 & ~((1 << x) - 1)]


def wanted(values: Floats, most: int, factor: float) -> int:
    """How many networks of a list belong to an answer."""
    if not len(values):
        return 0
    return min(most, int((values >= values[0] - math.log(factor)).sum()))


def search(
    scores: Scores, prior: td.OrderModular = UNIFORM, most: int = 1, factor: float = math.inf, **run
) -> PriorFound:
    return search_order_prior(scores, prior, most=most, factor=factor, run=Run(**run))


def assert_is(found: PriorFound, values: Floats, masks: Masks, most: int, factor: float) -> None:
    assert found.limit is None
    k = wanted(values, most, factor if most > 1 else math.inf)
    assert np.array_equal(found.values, values[:k])
    assert np.array_equal(found.parents, masks[:k])
    if k:
        assert found.bound == values[0]
        assert (values[k:] <= found.floor).all()


questions = st.tuples(st.sampled_from([1, 1, 2, 5, 30, 10**9]), st.sampled_from([1.0, 2.0, 20.0, 1e6, math.inf]))


@settings(max_examples=150)
@given(tied_lists(), questions)
def test_listed_families_full_of_ties(lists, question) -> None:
    most, factor = question
    scores = replace(list_scores(lists), keep="all")
    assert_is(search(scores, most=most, factor=factor), *truth(scores), most, factor)


@settings(max_examples=60)
@given(
    tables(variables=(2, 5), most_states=3, constants=False), questions, st.sampled_from([td.BDeu(), td.BIC(), td.K2()])
)
def test_tables(table, question, kind) -> None:
    most, factor = question
    scores = td.score(table, kind, keep="all")
    assert_is(search(scores, most=most, factor=factor), *truth(scores), most, factor)


@settings(max_examples=30)
@given(tables(variables=(2, 5), most_states=3, constants=False))
def test_families_kept_for_the_best_network_are_enough(table) -> None:
    pruned = td.score(table, td.BDeu(), keep="best")
    assert_is(search(pruned), *truth(td.score(table, td.BDeu(), keep="all")), 1, math.inf)


@settings(max_examples=30)
@given(tables(variables=(2, 4), most_states=3, constants=False), st.sampled_from([1.0, 3.0, 20.0]))
def test_families_kept_for_a_factor_are_enough(table, factor) -> None:
    pruned = td.score(table, td.BDeu(), keep=td.Within(factor))
    found = search(pruned, most=10**9, factor=factor)
    assert_is(found, *truth(td.score(table, td.BDeu(), keep="all")), 10**9, factor)


@pytest.mark.parametrize(("keep", "most"), [("best", 2), (td.Within(3), 5), (td.KBest(9), 1)])
def test_families_pruned_for_something_else_are_refused(keep, most: int) -> None:
    scores = td.score(td.example_table(), td.BDeu(), keep=keep)
    with pytest.raises(td.ScoreError, match=r'were pruned .keep=.*keep="all"'):
        search(scores, most=most)


def drawn_weights(seed: int, spread: float) -> Callable[[str, frozenset[str]], float]:
    rng = np.random.default_rng(seed)
    known: dict[tuple[str, frozenset[str]], float] = {}
    return lambda name, others: known.setdefault((name, others), rng.uniform(-spread, spread))


@settings(max_examples=80)
@given(tied_lists(), questions, st.integers(0, 2**32), st.sampled_from([0.5, 5.0, 300.0]), st.sampled_from("qrb"))
def test_weighted_orders_and_parents(lists, question, seed, spread, which) -> None:
    most, factor = question
    scores = replace(list_scores(lists), keep="all")
    weight = drawn_weights(seed, spread)
    prior = td.OrderModular(weight if which in "qb" else None, weight if which in "rb" else None)
    weighed = scores_with(scores, prior, Run()) if which in "rb" else scores
    values, masks = truth(weighed, prior)
    found = search(scores, prior, most, factor)
    k = wanted(values, most, factor if most > 1 else math.inf)
    if which == "r":
        return assert_is(found, values, masks, most, factor)
    assert len(found.values) == k or abs(values[max(k, len(found.values)) - 1] - values[k - 1]) < 1e-9
    assert found.values == pytest.approx(values[: len(found.values)], rel=1e-12, abs=1e-9)
    own = {row.tobytes(): value for row, value in zip(masks, values, strict=True)}
    assert found.values == pytest.approx([own[row.tobytes()] for row in found.parents], rel=1e-12, abs=1e-9)
    return None


def test_scores_far_apart_lose_nothing() -> None:
    """Local scores thousands of nats apart, where plain sums over orders underflow."""
    table = sampled_table(4, 40_000, 3)
    scores = td.score(table, td.BDeu(), keep="all")
    values, masks = truth(scores)
    assert values[0] - values[-1] > 2000
    for most in (1, 100, len(values)):
        assert_is(search(scores, most=most), values, masks, most, math.inf)


@pytest.mark.parametrize(("n", "rows", "seed"), [(6, 40, 1), (7, 200, 2), (8, 1000, 3), (9, 3000, 4)])
def test_against_all_networks_that_score_enough(n: int, rows: int, seed: int) -> None:
    """No network is worth more than its score and the log of n!, so a list by score has all that are worth as much as
    the best score."""
    scores = td.score(sampled_table(n, rows, seed), td.BDeu(), keep="all")
    listed = td.networks_within(scores, math.factorial(n) * 1.001)
    masks = listed.parents
    grid = brute_force.network_scores(brute_force.values_of(scores), masks)
    weights = np.array([math.log(_core.linear_extensions(row.tolist(), 10**6)) for row in masks])
    order = np.lexsort([*masks.T[::-1], -(grid + weights)])
    values = (grid + weights)[order]
    sure = int((values >= grid.max()).sum())
    assert sure > 1
    for most in {1, 2, min(sure, 40), min(sure, 300)}:
        found = search(scores, most=most)
        assert np.array_equal(found.values, values[:most])
        assert np.array_equal(found.parents, masks[order][:most])


def test_one_variable_and_none() -> None:
    one = td.score(td.Table({"a": ["x", "y", "y"], "b": ["x"] * 3}), td.BDeu(), keep="all")
    assert search(one).parents.tolist() == [[0]]
    none = td.score(td.Table({"a": ["x", "x"], "b": ["x"] * 2}), td.BDeu(), keep="all")
    assert search(none).values.tolist() == [0.0]


@pytest.mark.parametrize("most", [1, 20])
def test_the_number_of_threads_changes_nothing(most: int) -> None:
    """But the work: parts are taken side by side."""
    scores = td.score(sampled_table(16, 150, 5), td.BDeu(), keep="all")
    one, *others = (search(scores, most=most, threads=threads) for threads in (1, 2, 3, 16))
    for other in others:
        assert np.array_equal(one.values, other.values)
        assert np.array_equal(one.parents, other.parents)
        assert (one.bound, one.floor, one.limit) == (other.bound, other.floor, other.limit)


def test_ties_at_the_end_of_a_list_do_not_depend_on_threads() -> None:
    """Neighbours may be parents of each other, all alike: many networks are worth the same, and some are listed."""
    n, most = 16, 30
    families = np.full((n, 1 << n - 1), -math.inf)
    families[:, 0] = 0.0
    for x in range(n):
        families[x, 1 << (x if x % 2 == 0 else x - 1)] = 3.0  # the other one of a pair, as a slot
    core = _core.family_scores(n, families.ravel())
    one, *others = (_core.search_order_prior(core, [], most, math.inf, math.inf, _core.Limits(t)) for t in (1, 2, 5))
    assert one.finished and one.scores[0] == one.scores[-1]
    for other in others:
        assert other.finished
        assert np.array_equal(one.scores, other.scores) and np.array_equal(one.parents, other.parents)


def assert_sound(found: PriorFound, whole: PriorFound, scores: Scores) -> None:
    """What a stopped search claims holds."""
    assert found.bound >= whole.values[0]
    assert found.bound >= found.values[0]
    above = int((whole.values > found.floor).sum())
    assert np.array_equal(found.parents[:above], whole.parents[:above])
    for value, row in zip(found.values[:5], found.parents[:5], strict=True):
        masks = row.tolist()
        score = sum(scores.store.value(x, mask) for x, mask in enumerate(masks))
        assert value == score + math.log(_core.linear_extensions(masks, 10**9))


@pytest.mark.parametrize("most", [1, 50])
def test_stopped_by_the_clock(most: int) -> None:
    scores = td.score(sampled_table(15, 60, 8), td.BDeu(), keep="all")
    whole = search(scores, most=most)
    for instant in INSTANTS:
        found = search(scores, most=most, time_limit=instant)
        assert found.limit in {None, Stop.TIME_LIMIT}
        assert_sound(found, whole, scores)
    assert search(scores, most=most, time_limit=0).limit is Stop.TIME_LIMIT


@pytest.mark.parametrize("most", [1, 30])
def test_stopped_by_ctrl_c(most: int) -> None:
    scores = td.score(sampled_table(16, 60, 8), td.BDeu(), keep="all")
    whole = search(scores, most=most)
    stopped = [search(scores, most=most, on_progress=interrupt_after(ticks)) for ticks in (0, 1, 2)]
    assert stopped[0].limit is Stop.INTERRUPT
    for found in stopped:
        assert_sound(found, whole, scores)


def test_memory_is_asked_for_beforehand() -> None:
    scores = td.score(sampled_table(12, 60, 8), td.BDeu(), keep="all")
    with pytest.raises(td.TooLarge, match=r"order-modular prior on 12 variables needs .* variables would fit"):
        search(scores, memory_limit="300kB")


def test_stopped_by_memory() -> None:
    scores = td.score(sampled_table(10, 60, 8), td.BDeu(), keep="all")
    held = sum(array.nbytes for array in scores.store.arrays)
    needed = int(order_prior_bytes(10, UNIFORM, 1) + held)
    found = search(scores, most=10**6, threads=1, memory_limit=needed + 200_000)
    assert found.limit is Stop.MEMORY_LIMIT
    assert_sound(found, search(scores, most=200), scores)


KNOWN = {"wine": (-1238.637533, 274285440), "voting": (-4600.434934, 433024200), "zoo": (-553.428531, 1841589)}


@pytest.mark.parametrize("name", KNOWN)
def test_known_optima(name: str) -> None:
    if not (DATA / f"{name}.csv").exists():
        pytest.skip("no ../shared/data")
    value, count = KNOWN[name]
    found = search(td.score(td.read_table(DATA / f"{name}.csv"), td.BDeu(), keep="all"))
    assert found.values[0] == pytest.approx(value, abs=1e-6)
    assert _core.linear_extensions(found.parents[0].tolist(), 10**9) == count
