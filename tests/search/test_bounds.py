"""Every bound, as a property: zero at the goal, never above the truth, consistent where it says so."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from order_truth import (
    Clusters,
    Problem,
    clusters,
    clusters_of,
    least_cost,
    problem_of,
    problems,
    random_clusters,
    random_problem,
    rest,
)

from topdag import _core
from topdag.search.family_lists import FamilyLists


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


# ---- Patterns


def pattern_costs(problem: Problem) -> list[float]:
    """By set of variables: what they cost when all others are placed. The same as the rest without them."""
    truth = rest(problem)
    return [truth[problem.everyone & ~pattern] for pattern in range(problem.everyone + 1)]


def packed(costs: list[float], left: int, k: int) -> float:
    """The most that disjoint patterns of up to k variables inside a set cost together."""
    if not left:
        return 0.0
    lowest = left & -left
    best = packed(costs, left & ~lowest, k)
    for others in range(left + 1):
        pattern = others | lowest
        if others & ~(left & ~lowest) == 0 and pattern.bit_count() <= k:
            best = max(best, costs[pattern] + packed(costs, left & ~pattern, k))
    return best


@st.composite
def partitions(draw: st.DrawFn, n: int) -> list[int]:
    """Disjoint groups; some variables may be in none."""
    places = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    return [sum(1 << v for v in range(n) if places[v] == place) for place in sorted(set(places) - {3})]


@given(st.data(), problems())
def test_a_group_bound_adds_up_the_groups(data: st.DataObject, problem: Problem) -> None:
    groups = data.draw(partitions(problem.n))
    bound, costs = _core.group_bound(problem.candidates, groups), pattern_costs(problem)
    check_bound(problem, bound)
    for placed in range(problem.everyone + 1):
        assert bound.at(placed) == sum(costs[group & ~placed] for group in groups)


@given(st.data(), problems((2, 5)))
def test_a_group_bound_is_tighter_with_larger_groups(data: st.DataObject, problem: Problem) -> None:
    groups = data.draw(partitions(problem.n).filter(lambda found: len(found) > 1))
    small = _core.group_bound(problem.candidates, groups)
    large = _core.group_bound(problem.candidates, [groups[0] | groups[1], *groups[2:]])
    whole = _core.group_bound(problem.candidates, [problem.everyone])
    for placed in range(problem.everyone + 1):
        assert small.at(placed) <= large.at(placed) <= whole.at(placed) == rest(problem)[placed]


def test_groups_beyond_the_eighth_variable() -> None:
    problem = random_problem(11, 3, families=20)
    groups = [0b10110000101, 0b01001111010]
    check_bound(problem, _core.group_bound(problem.candidates, groups))


@pytest.mark.parametrize("groups", [[3, 2], [8], [1 << 40]])
def test_groups_that_overlap_or_are_out_of_range_are_refused(groups: list[int]) -> None:
    problem = random_problem(3, 0, families=2, most_parents=2)
    with pytest.raises(ValueError):
        _core.group_bound(problem.candidates, groups)


@given(problems((1, 5)), st.integers(1, 5))
def test_groups_by_strongest_parents_hold_each_variable_once(problem: Problem, most: int) -> None:
    groups = _core.groups_by_strongest_parents(problem.candidates, most)
    assert sum(groups) == problem.everyone
    assert sum(group.bit_count() for group in groups) == problem.n
    assert max(group.bit_count() for group in groups) <= most


def test_variables_that_want_each_other_are_in_one_group() -> None:
    listed = [(v, (), -9.0) for v in range(6)] + [(v, (v ^ 1,), -float(v % 2)) for v in range(6)]
    problem = problem_of(FamilyLists.build([f"V{v}" for v in range(6)], listed))
    assert sorted(_core.groups_by_strongest_parents(problem.candidates, 2)) == [0b000011, 0b001100, 0b110000]


@given(problems(), st.integers(1, 4))
def test_a_cycle_bound_holds(problem: Problem, k: int) -> None:
    costs = pattern_costs(problem)
    greedy = _core.cycle_bound(problem.candidates, k, False)
    optimal = _core.cycle_bound(problem.candidates, k, True)
    assert optimal.is_consistent
    check_bound(problem, greedy)
    check_bound(problem, optimal)
    for placed in range(problem.everyone + 1):
        assert optimal.at(placed) == packed(costs, problem.everyone & ~placed, k)
        assert greedy.at(placed) <= optimal.at(placed)


@given(problems((2, 5)))
def test_an_optimal_cycle_bound_is_tighter_with_larger_patterns(problem: Problem) -> None:
    bounds = [_core.cycle_bound(problem.candidates, k, True) for k in (1, 2, 3, 4)]
    for placed in range(problem.everyone + 1):
        values = [bound.at(placed) for bound in bounds]
        assert values == sorted(values)


def test_a_cycle_bound_keeps_only_patterns_that_gain() -> None:
    """Two pairs that want each other, and one variable that wants nothing."""
    listed = [(v, (), -float(v + 1)) for v in range(4)] + [(v, (v ^ 1,), 0.0) for v in range(4)] + [(4, (), 0.0)]
    problem = problem_of(FamilyLists.build([f"V{v}" for v in range(5)], listed))
    pairs, fours = (_core.cycle_bound(problem.candidates, k, False) for k in (2, 4))
    assert (pairs.size, pairs.at(0)) == (2, 4.0)
    assert (fours.size, fours.at(0)) == (3, 4.0)  # both pairs together cost more than each
