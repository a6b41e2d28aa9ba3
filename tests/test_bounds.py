"""Every bound, as a property: zero at the goal, never above the truth, consistent where it says so."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from order_truth import Clusters, Problem, clusters, clusters_of, least_cost, problems, random_clusters, random_problem, rest

from topdag import _core


def check_bound(problem: Problem, bound: _core.Bound) -> None:
    truth = rest(problem)
    assert bound.at(problem.everyone) == 0.0
    for placed in range(problem.everyone + 1):
        here, after = bound.at(placed), bound.after_each(placed)
        assert 0.0 <= here <= truth[placed]
        for x in range(problem.n):
            if not placed >> x & 1:
                assert after[x] == bound.at(placed | 1 << x)
                if bound.is_consistent:
                    assert here <= least_cost(problem, x, placed) + after[x]


def plain_cluster_bound(problem: Problem, listed: Clusters, placed: int) -> float:
    """The formula, word by word."""
    is_open = [(int(c), int(k), float(m)) for c, k, m in zip(*listed, strict=True) if (int(c) & placed).bit_count() < k]
    total = sum(m * (k - (c & placed).bit_count()) for c, k, m in is_open)
    for v in range(problem.n):
        if not placed >> v & 1:
            own = [(c, k, m) for c, k, m in is_open if c >> v & 1]
            total += min(
                cost - sum(m for c, k, m in own if (c & parents).bit_count() < k) for cost, parents in problem.costs[v]
            )
    return max(0.0, total)


@given(st.data(), problems())
def test_a_cluster_bound_holds_for_any_multipliers(data: st.DataObject, problem: Problem) -> None:
    listed = data.draw(clusters(problem.n))
    bound = _core.cluster_bound(problem.candidates, *listed)
    check_bound(problem, bound)
    for placed in range(problem.everyone + 1):
        assert bound.at(placed) == pytest.approx(plain_cluster_bound(problem, listed, placed), abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_a_cluster_bound_with_more_clusters_than_a_word_has_bits(seed: int) -> None:
    problem = random_problem(7, seed, families=12)
    listed = random_clusters(7, seed, many=200)
    members, ks, multipliers = listed
    bound = _core.cluster_bound(problem.candidates, members, ks, multipliers / 40)
    check_bound(problem, bound)
    for placed in range(problem.everyone + 1):
        expected = plain_cluster_bound(problem, (members, ks, multipliers / 40), placed)
        assert bound.at(placed) == pytest.approx(expected, abs=1e-9)


def test_a_cluster_bound_sees_a_cycle() -> None:
    """Two variables that both want the other: one has to give up the less it loses."""
    from topdag.family_lists import FamilyLists
    from order_truth import problem_of

    listed = [(0, (), -5.0), (0, (1,), 0.0), (1, (), -3.0), (1, (0,), 0.0)]
    problem = problem_of(FamilyLists.build(["A", "B"], listed))
    assert _core.cluster_bound(problem.candidates, *clusters_of([(3, 1, 3.0)])).at(0) == 3.0
    assert _core.cluster_bound(problem.candidates, *clusters_of([(3, 1, 9.0)])).at(0) == 0.0


@pytest.mark.parametrize(
    ("members", "k", "multiplier"), [(8, 1, 1.0), (3, 0, 1.0), (3, 3, 1.0), (3, 1, -0.5), (3, 1, float("inf"))]
)
def test_clusters_out_of_range_are_refused(members: int, k: int, multiplier: float) -> None:
    problem = random_problem(3, 0, families=2, most_parents=2)
    with pytest.raises(ValueError):
        _core.cluster_bound(problem.candidates, *clusters_of([(members, k, multiplier)]))


@given(problems())
def test_the_simple_bound_holds(problem: Problem) -> None:
    check_bound(problem, _core.simple_bound(problem.candidates))
