"""The published search over partial networks gives the lists that listing gives, for any block size."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from order_truth import Problem, clusters, forward, problems, random_problem, rest
from stop_cases.counted import counted_clock
from strategies import tables

import topdag as td
from topdag import _core
from topdag.questions.network_search import search_networks
from topdag.scoring.kinds.discrete import ScoreKind
from topdag.scoring.score import scores_from_lists
from topdag.scoring.scores import Scores
from topdag.search.family_lists import FamilyLists

DATA = Path(__file__).resolve().parents[4] / "shared" / "data"
NO_LIMIT = 2**63

KINDS: list[ScoreKind] = [td.BDeu(1.0), td.BIC(), td.K2()]


@pytest.mark.parametrize("kind", KINDS, ids=repr)
@settings(max_examples=25)
@given(table=tables(), k=st.integers(1, 200), block=st.integers(1, 12))
def test_search_and_listing_agree(kind: ScoreKind, table: td.Table, k: int, block: int) -> None:
    scores = td.score(table, kind)
    listed = td.k_best_networks(scores, k)
    found = search_networks(scores, k, block=block)
    assert found.scores.tolist() == listed.scores.tolist()
    assert found.parents.tolist() == listed.parents.tolist()
    assert found.proof.status is td.types.Status.PROVED


def test_counts_are_those_of_the_search() -> None:
    scores = td.score(td.example_table(), td.BDeu(1.0))
    work = search_networks(scores, 50).stats.work
    assert work["generated"] >= work["expanded"] >= 50
    assert 1 <= work["oracle calls"] <= 2 ** len(scores.columns)
    one = search_networks(scores, 1).stats.work
    assert one["oracle calls"] < work["oracle calls"]


def test_every_successor_at_once_means_no_second_look() -> None:
    scores = td.score(td.example_table(), td.BDeu(1.0))
    assert search_networks(scores, 50, block=10**6).stats.work["re-expanded"] == 0
    assert search_networks(scores, 50, block=1).stats.work["re-expanded"] > 0


@pytest.mark.parametrize("block", [0, -1, 2.5, True])
def test_block_is_checked(block: object) -> None:
    with pytest.raises(ValueError, match="block"):
        search_networks(td.example_table(), 1, block=block)  # type: ignore[arg-type]


# ---- Orders as the oracle


@st.composite
def bounded(draw: st.DrawFn) -> tuple[Problem, _core.Bound]:
    """A problem and a bound for it."""
    problem = draw(problems())
    if draw(st.booleans()):
        return problem, _core.simple_bound(problem.candidates)
    return problem, _core.cluster_bound(problem.candidates, *draw(clusters(problem.n)))


def searched(
    problem: Problem, bound: _core.Bound, k: int, epsilon: float, block: int
) -> tuple[list[float], set[bytes]]:
    """Scores, and the networks, each a row of parents."""
    found = _core.search_listed_networks(problem.candidates, bound, k, epsilon, block, NO_LIMIT, _core.Limits())
    assert found.finished and not found.memory_hit
    assert not found.scores.size or found.floor <= found.scores[-1]
    rows = {row.tobytes() for row in found.parents}
    assert len(rows) == len(found.scores)
    return found.scores.tolist(), rows


@settings(max_examples=100)
@given(asked=bounded(), seed=st.integers(0, 1000))
def test_orders_give_the_values_of_the_lattice(asked: tuple[Problem, _core.Bound], seed: int) -> None:
    """H of every set, asked in any order."""
    problem, bound = asked
    sets = np.random.default_rng(seed).permutation(problem.everyone + 1).astype(np.uint64)
    values, calls = _core.completion_values(problem.candidates, bound, math.inf, sets)
    truth = rest(problem)
    assert values.tolist() == [-truth[placed] for placed in sets]
    assert calls <= len(sets)


@settings(max_examples=100)
@given(asked=bounded(), epsilon=st.sampled_from([0.0, 1.0, 3.0]))
def test_near_the_best_orders_give_the_values_of_the_lattice(
    asked: tuple[Problem, _core.Bound], epsilon: float
) -> None:
    problem, bound = asked
    values, _ = _core.completion_values(
        problem.candidates, bound, epsilon, np.arange(problem.everyone + 1, dtype=np.uint64)
    )
    before, after = forward(problem), rest(problem)
    for placed, value in enumerate(values.tolist()):
        may_be_left = before[placed] + after[placed] > after[0] + epsilon
        assert value == -after[placed] or (may_be_left and value == -math.inf)


def test_a_completion_tells_the_values_on_its_way() -> None:
    problem = random_problem(8, 3, families=12)
    best = _core.search_orders(
        problem.candidates, _core.simple_bound(problem.candidates), math.inf, True, NO_LIMIT, _core.Limits()
    )
    way = np.cumsum([0, *(1 << x for x in best.order)]).astype(np.uint64)
    values, calls = _core.completion_values(problem.candidates, _core.simple_bound(problem.candidates), math.inf, way)
    truth = rest(problem)
    assert values.tolist() == [-truth[placed] for placed in way]
    assert calls == 1


@settings(max_examples=60)
@given(asked=bounded(), k=st.integers(1, 200), block=st.integers(1, 12))
def test_with_orders_the_list_is_the_same(asked: tuple[Problem, _core.Bound], k: int, block: int) -> None:
    problem, bound = asked
    listed = td.k_best_networks(scores_from_lists(problem.lists, keep="all"), k)
    scores, networks = searched(problem, bound, k, math.inf, block)
    assert scores == listed.scores.tolist()
    above = [row.tobytes() for row, score in zip(listed.parents, listed.scores, strict=True) if score > listed.floor]
    assert networks >= set(above)  # of those that tie with the last, others may be in


@settings(max_examples=40)
@given(asked=bounded(), epsilon=st.sampled_from([0.0, 1.0, 2.0]))
def test_none_is_further_behind_than_asked(asked: tuple[Problem, _core.Bound], epsilon: float) -> None:
    problem, bound = asked
    scores, _ = searched(problem, bound, 10**6, epsilon, 5)
    every = td.k_best_networks(scores_from_lists(problem.lists, keep="all"), 10**6).scores
    assert scores == [score for score in every.tolist() if score >= every.max(initial=-math.inf) - epsilon]


def chain(n: int) -> Scores:
    """Each variable much likes the one before it, some also the one before that, or another in its place."""
    rng = np.random.default_rng(7)
    families = [(0, (), 0.0)]
    for x in range(1, n):
        families += [(x, (), -50.0), (x, (x - 1,), 0.0), (x, ((x + 3) % n,), -float(rng.integers(20, 30)))]
        if x > 1:
            families.append((x, (x - 2, x - 1), -float(rng.integers(1, 6)) / 2))
    return scores_from_lists(FamilyLists.build([f"V{v}" for v in range(n)], families), keep="all")


def test_more_than_32_variables() -> None:
    scores = chain(40)
    found, listed = search_networks(scores, 300), td.k_best_networks(scores, 300)
    assert found.proof.status is td.types.Status.PROVED
    assert found.scores.tolist() == listed.scores.tolist()
    assert found.floor == found.scores[-1] < found.scores[0]
    assert {network for network in found if network.score > found.floor} <= set(listed)


def test_lists_without_a_network() -> None:
    names = [f"V{v}" for v in range(21)]
    circle = FamilyLists.build(names, [(x, ((x + 1) % 21,), -1.0) for x in range(21)])
    found = search_networks(scores_from_lists(circle, keep="all"), 5)
    assert found.proof.status is td.types.Status.INFEASIBLE
    assert len(found) == 0


def test_fewer_networks_than_asked_for() -> None:
    names = [f"V{v}" for v in range(21)]
    line = [(x, tuple({x - 1} - {-1}), -1.0) for x in range(21)]
    two = FamilyLists.build(names, [*line, (20, (17,), -800.0)])
    found = search_networks(scores_from_lists(two, keep="all"), 5)
    assert found.proof.status is td.types.Status.PROVED
    assert found.scores.tolist() == [-21.0, -820.0]


def test_stopped_by_the_clock_it_is_complete_above_its_floor() -> None:
    scores = scores_from_lists(random_problem(40, 5, families=3, most_parents=2).lists, keep="all")
    with counted_clock():
        found = search_networks(scores, 10**6, time_limit=2000, threads=1)
    assert found.proof.status is td.types.Status.STOPPED
    assert found.proof.limit == "time_limit"
    best = td.best_network(scores).score
    assert found.proof.bound >= best
    assert found.floor >= best if len(found) == 0 else found.scores[0] == best


@pytest.mark.skipif(not DATA.exists(), reason="no ../shared/data")
def test_parkinsons() -> None:
    """23 variables, scored again with more families until the list is whole."""
    scores = td.score(td.read_table(DATA / "parkinsons.csv", types={"*": "categorical"}), td.BIC())
    found = search_networks(scores, 20)
    listed = td.k_best_networks(scores, 20)
    assert found.scores.tolist() == listed.scores.tolist()
    assert found.stats.engine == "best-first search over partial networks, orders as its oracle"
    assert found.stats.work["generated"] >= found.stats.work["expanded"] >= 20
