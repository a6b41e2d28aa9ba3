"""Costs of sets of placed variables by brute force, and random families and clusters to search."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import brute_force
import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray
from strategies import tied_lists

import topdag as td
from topdag import _core
from topdag.knowledge.priors import OrderModular
from topdag.scoring.scores import Scores
from topdag.search.family_lists import FamilyLists

Clusters = tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.float64]]


@dataclass(frozen=True)
class Problem:
    """Listed families, as the core takes them and as costs by variable."""

    lists: FamilyLists
    candidates: _core.Candidates
    costs: list[list[tuple[float, int]]]

    @property
    def n(self) -> int:
        return len(self.costs)

    @property
    def everyone(self) -> int:
        return (1 << self.n) - 1


def problem_of(lists: FamilyLists) -> Problem:
    n, masks = len(lists.names), np.ascontiguousarray(lists.masks[:, 0])
    costs = []
    for x in range(n):
        own = slice(lists.offsets[x], lists.offsets[x + 1])
        best = lists.scores[own].max()
        costs.append([(float(best - s), int(m)) for m, s in zip(masks[own], lists.scores[own], strict=True)])
    return Problem(lists, _core.Candidates(n, lists.offsets, masks, lists.scores), costs)


@st.composite
def problems(draw: st.DrawFn, variables: tuple[int, int] = (1, 5), *, always_empty_set: bool = False) -> Problem:
    return problem_of(draw(tied_lists(variables=variables, always_empty_set=always_empty_set)))


def random_problem(n: int, seed: int, *, families: int, most_parents: int = 3, levels: int = 40) -> Problem:
    """Larger than hypothesis draws: costs with ties, less with more parents, so that what is wanted makes cycles."""
    rng = np.random.default_rng(seed)
    listed = []
    for x in range(n):
        others = [v for v in range(n) if v != x]
        sets = {tuple(sorted(rng.choice(others, rng.integers(1, most_parents + 1), False))) for _ in range(families)}
        for parents in sorted({(), *sets}):
            cost = rng.integers(0, levels) + levels * (most_parents - len(parents))
            listed.append((x, tuple(map(int, parents)), -float(cost) / 4))
    return problem_of(FamilyLists.build([f"V{v}" for v in range(n)], listed))


def least_cost(problem: Problem, x: int, placed: int) -> float:
    return min((cost for cost, parents in problem.costs[x] if parents & ~placed == 0), default=math.inf)


def forward(problem: Problem) -> list[float]:
    """By set: the least cost of a network on it."""
    costs = [0.0] + [math.inf] * problem.everyone
    for placed in range(1, problem.everyone + 1):
        for x in range(problem.n):
            if placed >> x & 1:
                before = placed & ~(1 << x)
                costs[placed] = min(costs[placed], costs[before] + least_cost(problem, x, before))
    return costs


def rest(problem: Problem) -> list[float]:
    """By set: what placing the other variables costs at least."""
    costs = [math.inf] * problem.everyone + [0.0]
    for placed in range(problem.everyone - 1, -1, -1):
        for x in range(problem.n):
            if not placed >> x & 1:
                costs[placed] = min(costs[placed], costs[placed | 1 << x] + least_cost(problem, x, placed))
    return costs


def clusters_of(drawn: list[tuple[int, int, float]]) -> Clusters:
    members, ks, multipliers = zip(*drawn, strict=True) if drawn else ((), (), ())
    return np.array(members, np.uint64), np.array(ks, np.int64), np.array(multipliers, np.float64)


@cache
def _masks(n: int) -> list[int]:
    return [mask for mask in range(1, 1 << n) if mask.bit_count() > 1 or n == 1]


@st.composite
def clusters(draw: st.DrawFn, n: int) -> Clusters:
    """Any clusters, the same one perhaps twice, with any multipliers that are not negative."""
    drawn = []
    for _ in range(draw(st.integers(0, 2 * n))):
        mask = draw(st.sampled_from(_masks(n)))
        multiplier = draw(st.sampled_from([0.0, 0.25, 0.5, 1.0, 1 / 3, 2.5, 7.0]))
        drawn.append((mask, draw(st.integers(1, mask.bit_count())), multiplier))
    return clusters_of(drawn)


def random_clusters(n: int, seed: int, *, many: int) -> Clusters:
    rng = np.random.default_rng(seed)
    drawn = []
    for _ in range(many):
        members = rng.choice(n, rng.integers(2, min(n, 6) + 1), False)
        drawn.append((sum(1 << int(v) for v in members), 1 + int(rng.random() < 0.2), float(rng.random() * 1.5)))
    return clusters_of(drawn)


ORDERS = OrderModular()


EVERY = 10**6


def ranked(scores: Scores, log_weights: NDArray[np.float64]) -> tuple[list[float], list[list[int]]]:
    """All networks with their values, best first, those that tie by their masks."""
    masks = brute_force.networks(len(scores.columns))
    values = brute_force.network_scores(brute_force.values_of(scores), masks) + log_weights
    kept = np.flatnonzero(np.isfinite(values))
    kept = kept[np.lexsort([*masks[kept].T[::-1], -values[kept]])]
    return values[kept].tolist(), masks[kept].tolist()


def assert_first(found: td.types.NetworkList, truth: tuple[list[float], list[list[int]]], k: int) -> None:
    values, masks = truth
    np.testing.assert_allclose(found.scores, values[:k], rtol=0, atol=1e-9)
    assert found.parents.tolist() == masks[:k]
    assert found.proof.status is (td.types.Status.PROVED if values else td.types.Status.INFEASIBLE)
    assert found.floor <= (found.scores[-1] if len(found) else -math.inf)
