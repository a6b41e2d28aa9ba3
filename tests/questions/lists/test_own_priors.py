"""Any prior with a bound can be searched with: checked against trying all networks."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import brute_force
import numpy as np
import pytest
from ctrl_c import press_ctrl_c
from hypothesis import given, settings
from hypothesis import strategies as st
from order_truth import EVERY, ORDERS, assert_first, ranked
from stop_cases.counted import counted_clock
from strategies import sampled_table, tied_lists

import topdag as td
from topdag.errors import Interrupted
from topdag.questions.network_search import search_networks
from topdag.questions.prior_search import NetworkPrior, PartialNetwork
from topdag.scoring.score import scores_from_lists
from topdag.scoring.scores import Scores
from topdag.search.family_lists import FamilyLists


@dataclass
class ShortPaths:
    """Each edge of the longest directed path costs so much."""

    cost: float = 1.5
    asked: list[PartialNetwork] = field(default_factory=list)

    def log_weight(self, network: PartialNetwork) -> float:
        self.asked.append(network)
        depth: dict[str, int] = {}

        def depth_of(name: str) -> int:
            if name not in depth:
                depth[name] = max((1 + depth_of(parent) for parent in network.parents[name]), default=0)
            return depth[name]

        return -self.cost * max(map(depth_of, network.placed), default=0)

    def log_weight_bound(self, n_placed: int, variables_left: tuple[str, ...]) -> float:
        return 0.0


class FewImmoralities:
    """Each pair of parents that no edge joins costs so much; with ``limit``, no network has more of them."""

    def __init__(self, cost: float, limit: int = EVERY) -> None:
        self.cost, self.limit = cost, limit

    def log_weight(self, network: PartialNetwork) -> float:
        masks, count = network.parent_masks, 0
        for its in masks:
            members = [x for x in range(len(masks)) if its >> x & 1]
            count += sum(not (masks[a] >> b | masks[b] >> a) & 1 for a in members for b in members if a < b)
        return -math.inf if count > self.limit else -self.cost * count

    def log_weight_bound(self, n_placed: int, variables_left: tuple[str, ...]) -> float:
        return 0.0


class ManyOrders:
    """The prior over orders, through the door for all."""

    def log_weight(self, network: PartialNetwork) -> float:
        return td.Network(network.placed, network.parents).log_linear_extensions if network.placed else 0.0

    def log_weight_bound(self, n_placed: int, variables_left: tuple[str, ...]) -> float:
        return math.lgamma(n_placed + len(variables_left) + 1) - math.lgamma(n_placed + 1)


@dataclass
class Constant:
    """Whatever is said, about whatever."""

    weight: object
    bound: object = 0.0

    def log_weight(self, network: PartialNetwork) -> float:
        return self.weight  # type: ignore[return-value]

    def log_weight_bound(self, n_placed: int, variables_left: tuple[str, ...]) -> float:
        return self.bound  # type: ignore[return-value]


def truth(scores: Scores, prior: NetworkPrior) -> tuple[list[float], list[list[int]]]:
    names = tuple(scores.names)
    every = (1 << len(names)) - 1
    masks = brute_force.networks(len(names)).tolist()
    return ranked(scores, np.array([prior.log_weight(PartialNetwork(names, every, tuple(row))) for row in masks]))


PRIORS = [ShortPaths(), FewImmoralities(0.75), FewImmoralities(0.0, limit=1), ManyOrders()]


@pytest.mark.parametrize("prior", PRIORS, ids=lambda prior: type(prior).__name__)
@settings(max_examples=12, deadline=None)
@given(lists=tied_lists(variables=(1, 4)), k=st.sampled_from([1, 2, 7, 60, EVERY]), block=st.integers(1, 12))
def test_any_prior_gives_the_best_networks(prior: NetworkPrior, lists: FamilyLists, k: int, block: int) -> None:
    scores = scores_from_lists(lists, keep="all")
    assert_first(search_networks(scores, k, prior=prior, block=block), truth(scores, prior), k)


def test_five_variables() -> None:
    scores = td.score(sampled_table(5, 80, 4), td.BDeu(1.0))
    for prior in PRIORS[:2]:
        found = search_networks(scores, 25, prior=prior)
        np.testing.assert_allclose(found.scores, truth(scores, prior)[0][:25], rtol=0, atol=1e-9)


def test_the_door_gives_what_the_other_ways_give() -> None:
    scores = td.score(sampled_table(6, 80, 4), td.BDeu(1.0))
    door, orders = (search_networks(scores, 30, prior=prior) for prior in (ManyOrders(), ORDERS))
    assert door.parents.tolist() == orders.parents.tolist()
    assert door.stats.work["weighed"] > orders.stats.work["weighed"]


def test_what_a_prior_is_asked_about() -> None:
    scores = td.score(sampled_table(4, 80, 4), td.BDeu(1.0))
    prior = ShortPaths()
    found = search_networks(scores, 5, prior=prior)
    n = len(scores.columns)  # the bounds are tried on the way to one network first, which is asked about too
    assert len(prior.asked) == found.stats.work["weighed"] + n + 1
    assert len(prior.asked[0].placed) == n
    assert str(prior.asked[1]) == "no variable placed"
    for network in prior.asked:
        assert set(network.parents) == set(network.placed)
        assert all(set(its) <= set(network.placed) for its in network.parents.values())
        assert network.is_complete == (len(network.placed) == 4)
    searched = prior.asked[n + 1 :]
    assert len({(asked.placed_mask, asked.parent_masks) for asked in searched}) == len(searched)


# ---- Priors that go wrong


class TooLow(ManyOrders):
    def log_weight_bound(self, n_placed: int, variables_left: tuple[str, ...]) -> float:
        return 0.5 * super().log_weight_bound(n_placed, variables_left)


def test_a_bound_that_is_too_low_is_caught() -> None:
    scores = td.score(sampled_table(4, 30, 2), td.BDeu(1.0))
    with pytest.raises(td.ScoreError, match=r"partial network \(.*\) with \d variables left it allows .* gained"):
        search_networks(scores, EVERY, prior=TooLow())


@pytest.mark.parametrize("weight", [math.nan, math.inf, None, "much", True])
def test_weights_are_checked(weight: object) -> None:
    with pytest.raises(td.ScoreError, match="log_weight must be a finite number"):
        search_networks(td.example_table(), 1, prior=Constant(weight))
    with pytest.raises(td.ScoreError, match="log_weight_bound must be a finite number"):
        search_networks(td.example_table(), 1, prior=Constant(0.0, bound=weight))


def test_everything_forbidden() -> None:
    found = search_networks(td.example_table(), 3, prior=Constant(-math.inf))
    assert found.proof.status is td.types.Status.INFEASIBLE
    assert len(found) == 0


def test_what_a_prior_raises_comes_out() -> None:
    class Failing(Constant):
        def log_weight(self, network: PartialNetwork) -> float:
            if len(network.placed) == 2:
                raise ZeroDivisionError("mine")
            return 0.0

    with pytest.raises(ZeroDivisionError, match="mine"):
        search_networks(td.example_table(), 1, prior=Failing(0.0))


def test_pruned_scores_are_refused() -> None:
    scores = td.score(sampled_table(5, 50, 3), td.BDeu(1.0), keep=td.KBest(3))
    for prior in (ShortPaths(), ORDERS):
        with pytest.raises(td.ScoreError, match="keep"):
            search_networks(scores, 1, prior=prior)


def test_ctrl_c_gives_what_there_is() -> None:
    scores = td.score(sampled_table(9, 60, 1), td.BDeu(1.0))

    class Counted(ManyOrders):
        asked = 0

        def log_weight(self, network: PartialNetwork) -> float:
            self.asked += 1
            return super().log_weight(network)

    prior = Counted()
    with pytest.raises(Interrupted) as caught:
        search_networks(scores, EVERY, prior=prior, on_progress=lambda _: prior.asked >= 200 and press_ctrl_c())
    stopped = caught.value.answer
    best = search_networks(scores, 1, prior=ORDERS).scores[0]
    assert stopped.proof.limit == "Ctrl-C"
    assert stopped.proof.bound >= best >= stopped.scores[0]


def test_the_clock_stops_a_slow_prior() -> None:
    scores = td.score(sampled_table(9, 60, 1), td.BDeu(1.0))
    with counted_clock():
        found = search_networks(scores, EVERY, prior=ShortPaths(), time_limit=300, threads=1)
    assert found.proof.status is td.types.Status.STOPPED
    assert found.proof.bound >= max(found.scores, default=-math.inf)


class Counting:
    """Every variable placed adds to the weight, which the bound does not foresee."""

    def log_weight(self, network: PartialNetwork) -> float:
        return float(len(network.placed))

    def log_weight_bound(self, n_placed: int, variables_left: tuple[str, ...]) -> float:
        return 0.0


def test_a_bound_that_is_too_low_is_told_before_the_search() -> None:
    with pytest.raises(td.ScoreError, match="log_weight_bound is too low: from the partial network"):
        td.search_networks(td.example_table(), 1, prior=Counting())
