"""Sets that networks within a threshold pass through, against brute force over all sets."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from order_truth import Problem, clusters, forward, problems, random_clusters, random_problem, rest

from topdag import _core


def check_sets(problem: Problem, bound: _core.Bound, threshold: float, threads: int = 1) -> None:
    complete, sets, costs = _core.sets_within(problem.candidates, bound, threshold, 1 << 20, _core.Limits(threads))
    truth = forward(problem)
    expected = [s for s in range(problem.everyone + 1) if truth[s] < math.inf and truth[s] + bound.at(s) <= threshold]
    assert complete
    assert sets.tolist() == sorted(expected, key=lambda s: (s.bit_count(), s))
    assert costs.tolist() == [truth[s] for s in sets.tolist()]


@given(st.data(), problems(), st.sampled_from([0.0, 0.25, 1.0, 3.0, 10.0, math.inf]))
def test_sets_are_exactly_those_within(data: st.DataObject, problem: Problem, margin: float) -> None:
    bound = _core.cluster_bound(problem.candidates, *data.draw(clusters(problem.n)))
    best = rest(problem)[0]
    if best < math.inf:
        check_sets(problem, bound, best + margin)


@pytest.mark.parametrize("threads", [1, 3])
def test_layers_too_large_for_one_block(threads: int) -> None:
    problem = random_problem(13, 5, families=40)
    members, ks, multipliers = random_clusters(13, 5, many=30)
    bound = _core.cluster_bound(problem.candidates, members, ks, multipliers)
    check_sets(problem, bound, rest(problem)[0] + 12.0, threads)


def test_stops_when_there_are_more_than_asked_for() -> None:
    problem = random_problem(8, 1, families=10)
    bound = _core.simple_bound(problem.candidates)
    whole = _core.sets_within(problem.candidates, bound, math.inf, 256, _core.Limits())
    assert whole[0] and len(whole[1]) == 256
    complete, sets, _ = _core.sets_within(problem.candidates, bound, math.inf, 255, _core.Limits())
    assert not complete
    assert np.isin(sets, whole[1]).all()


def test_stops_at_once_without_time() -> None:
    problem = random_problem(8, 1, families=10)
    complete, _, _ = _core.sets_within(
        problem.candidates, _core.simple_bound(problem.candidates), 9.0, 99, _core.Limits(1, 0.0)
    )
    assert not complete
