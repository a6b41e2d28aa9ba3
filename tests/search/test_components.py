"""Components: variables that can be placed one group after another, and the optimum put together from theirs."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from order_truth import Problem, problem_of, problems, rest
from strategies import list_scores, tied_lists

import topdag as td
from topdag import _core
from topdag.search.best import listed_network
from topdag.search.components import parts_of
from topdag.search.family_lists import FamilyLists


def best_by_components(problem: Problem) -> tuple[float, list[int]]:
    cost, order = 0.0, []
    for part in parts_of(problem.candidates):
        found = _core.search_orders(
            part.candidates, _core.simple_bound(part.candidates), math.inf, True, None, _core.Limits()
        )
        cost += found.cost
        order += [part.variables[place] for place in found.order]
    return cost, order


@given(problems((1, 5)))
def test_components_together_give_the_optimum(problem: Problem) -> None:
    cost, order = best_by_components(problem)
    assert cost == rest(problem)[0]
    if cost < math.inf:
        again, parents = _core.network_in_order(problem.candidates, order)
        assert again == cost and len(parents) == problem.n


@given(problems((1, 5)))
def test_components_hold_each_variable_once_and_follow_each_other(problem: Problem) -> None:
    placed = 0
    for variables, before in _core.components(problem.candidates):
        assert variables != 0 and before == placed
        placed |= variables
        assert variables & before == 0
    assert placed == problem.everyone


def chained(sizes: list[int], seed: int) -> Problem:
    return problem_of(chained_lists(sizes, seed))


def chained_lists(sizes: list[int], seed: int) -> FamilyLists:
    """Cycles of these sizes; each may use all earlier ones as parents."""
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    names = rng.permutation(n).tolist()  # so that components are not in column order
    listed, begin = [], 0
    for size in sizes:
        for i in range(size):
            x = names[begin + i]
            around = [names[begin + (i + 1) % size]] if size > 1 else []
            earlier = rng.choice(names[:begin], min(2, begin), False).tolist() if begin else []
            listed.append((x, (), -20.0))
            listed.append((x, tuple(sorted({*around, *earlier} or {names[(begin + i + 1) % n]} - {x})), 0.0))
            if around and earlier:
                listed.append((x, tuple(earlier), -float(rng.integers(1, 15))))
        begin += size
    return FamilyLists.build([f"V{v}" for v in range(n)], sorted(set(listed)))


def test_cycles_in_a_chain_are_the_components() -> None:
    problem = chained([4, 3, 4], 1)
    found = _core.components(problem.candidates)
    assert [variables.bit_count() for variables, _ in found] == [4, 3, 4]
    assert best_by_components(problem)[0] == rest(problem)[0]


def test_parts_are_lists_of_their_own_and_their_networks_make_the_whole() -> None:
    lists = chained_lists([4, 1, 3, 4], 5)
    scores = list_scores(lists)
    problem = problem_of(lists)
    allowed = [0] * problem.n
    for part in parts_of(problem.candidates):
        answer = td.best_network(list_scores(part.store(lists.names).lists))
        assert answer.network is not None
        for x, name in zip(part.variables, answer.network.names, strict=True):
            mask = sum(1 << answer.network.names.index(p) for p in answer.network.parents[name])
            allowed[x] = part.allowed_parents(mask)
    whole = listed_network(scores.store, allowed)
    assert whole is not None and whole.cost == rest(problem)[0]


def test_a_component_splits_again_when_what_comes_before_is_free() -> None:
    """B would take C, and C takes B; but with A placed B's best parents are A alone."""
    listed = [(0, (), 0.0), (1, (0,), 0.0), (1, (2,), -1.0), (1, (), -5.0), (2, (1,), 0.0), (2, (), -4.0)]
    problem = problem_of(FamilyLists.build(["A", "B", "C"], listed))
    assert _core.components(problem.candidates) == [(1, 0), (2, 1), (4, 3)]


def test_parts_lose_the_parents_that_come_before_and_what_is_dominated_then() -> None:
    listed = [
        (0, (), 0.0),
        (1, (0,), -1.0),
        (1, (0, 2), 0.0),
        (1, (), -5.0),
        (2, (1,), 0.0),
        (2, (0,), -3.0),
        (2, (), -4.0),
    ]
    problem = problem_of(FamilyLists.build(["A", "B", "C"], listed))
    assert _core.components(problem.candidates) == [(1, 0), (6, 1)]
    offsets, parents, scores = _core.component_families(problem.candidates, 6, 1)
    assert offsets.tolist() == [0, 2, 4]
    assert parents.tolist() == [0b10, 0, 0b01, 0]
    assert scores.tolist() == [0.0, -1.0, 0.0, -3.0]


@given(tied_lists(variables=(1, 5)))
def test_an_order_in_which_no_family_fits_costs_infinitely_much(lists: FamilyLists) -> None:
    problem = problem_of(lists)
    cost, parents = _core.network_in_order(problem.candidates, list(range(problem.n)))
    fits = [any(mask < 1 << x for _, mask in problem.costs[x]) for x in range(problem.n)]
    assert (cost < math.inf) == all(fits) == (len(parents) == problem.n)
