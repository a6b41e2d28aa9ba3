"""Constant columns have a place in orders: a precedence through them, against all networks and all orders."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from functools import cache
from itertools import combinations, pairwise, permutations
from typing import Any

import numpy as np
import pytest
import reference
from numpy.typing import NDArray
from sampling_truth import FIT, misfit
from strategies import rows_of

import topdag as td
from topdag.knowledge.priors import Prior

Floats = NDArray[np.float64]
ROWS = 25
CASES = [(n, constants) for n, m in ((3, 1), (4, 1), (5, 2), (3, 2), (2, 2)) for constants in combinations(range(n), m)]


def weight_of_place(name: str, earlier: frozenset[str]) -> float:
    return 0.3 * len(earlier) * (name in "ac")


PRIORS: dict[str, Prior | None] = {
    "none": None,
    "edges": td.EdgePrior({("a", "b"): 1.0, ("b", "a"): -0.5}, -0.25),
    "fair": td.FairPrior(),
    "orders": td.OrderModular(),
    "weighted orders": td.OrderModular(order_weight=weight_of_place),
}


@dataclass(frozen=True)
class Case:
    table: td.Table
    pairs: tuple[tuple[int, int], ...]
    scored: tuple[int, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return self.table.names

    @property
    def scores(self) -> td.types.Scores:
        pairs = [(self.names[a], self.names[b]) for a, b in self.pairs]
        return td.score(self.table, td.BDeu(), constraints=td.Constraints(precedence=pairs))


def case_of(n: int, constants: tuple[int, ...], seed: int, *, keep_constant: bool = False) -> Case:
    """Some pairs of a random order; for every third seed a chain through all."""
    draw = random.Random(seed)
    order = draw.sample(range(n), n)
    pairs = (
        list(pairwise(order)) if seed % 3 == 0 else draw.sample(list(combinations(order, 2)), min(n - 1, 1 + seed % 3))
    )
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 2, (n, ROWS))
    for v in range(1, n):
        codes[v] = np.where(rng.random(ROWS) < 0.4, codes[v - 1], codes[v])
    codes[list(constants)] = 0
    states = [[0] if v in constants else [0, 1] for v in range(n)]
    table = td.Table.from_codes(list("abcde"[:n]), codes, states=states, keep_constant=keep_constant)
    scored = tuple(v for v in range(n) if keep_constant or v not in constants)
    return Case(table, tuple(pairs), scored)


@cache
def orders_of(masks: tuple[int, ...], pairs: tuple[tuple[int, int], ...]) -> list[tuple[int, ...]]:
    """Of all variables, with parents first and with the first of each pair first."""
    both = [*pairs, *_edges(masks)]
    return [order for order, place in _orders(len(masks)) if all(place[a] < place[b] for a, b in both)]


@cache
def _orders(n: int) -> list[tuple[tuple[int, ...], list[int]]]:
    """Each with the place of every variable."""
    return [(order, [order.index(v) for v in range(n)]) for order in permutations(range(n))]


def _edges(masks: tuple[int, ...]) -> list[tuple[int, int]]:
    return [(p, x) for x, mask in enumerate(masks) for p in reference.members(mask)]


def log_weight(case: Case, prior: Prior | None, masks: tuple[int, ...], orders: list[tuple[int, ...]]) -> float:
    if prior is None:
        return 0.0
    if not isinstance(prior, td.OrderModular):
        names = [case.names[v] for v in case.scored]
        network = td.Network.from_masks(case.names, masks)
        return prior.log_weight(td.Network(names, {name: network.parents[name] for name in names}))
    if prior.is_uniform:
        return math.log(len(orders))
    told_apart = {tuple(v for v in order if v in case.scored) for order in orders}  # orders of what is scored
    return math.log(sum(math.exp(_weight_of(case, order)) for order in told_apart))


def _weight_of(case: Case, order: tuple[int, ...]) -> float:
    earlier = [frozenset(case.names[u] for u in order[:place]) for place in range(len(order))]
    return sum(weight_of_place(case.names[x], before) for x, before in zip(order, earlier, strict=True))


@cache
def networks_on(scored: tuple[int, ...], n: int) -> list[tuple[int, ...]]:
    """Every network of n variables in which the others have no edges."""
    found = []
    for network in reference.all_networks(len(scored)):
        masks = [0] * n
        for x, mask in zip(scored, network, strict=True):
            masks[x] = sum(1 << scored[p] for p in reference.members(mask))
        found.append(tuple(masks))
    return found


def truth(case: Case, prior: Prior | None) -> tuple[list[tuple[int, ...]], Floats]:
    """Every network that has an order, with its score and log weight."""
    local = reference.local_of(reference.bdeu, *rows_of(case.table))
    found: list[tuple[int, ...]] = []
    values: list[float] = []
    for masks in networks_on(case.scored, len(case.names)):
        orders = orders_of(masks, case.pairs)
        if orders:
            found.append(masks)
            values.append(reference.network_score(local, masks) + log_weight(case, prior, masks, orders))
    return found, np.array(values)


def check(case: Case, prior: Prior | None, seed: int) -> None:
    scores = case.scores
    masks, values = truth(case, prior)
    evidence = float(np.logaddexp.reduce(values))
    chances = np.exp(values - evidence)
    way: dict[str, Any] = {"prior": prior}
    assert td.best_network(scores, **way).score == pytest.approx(values.max(), abs=1e-8)
    every = td.k_best_networks(scores, 1000, **way)
    assert every.scores == pytest.approx(np.sort(values)[::-1], abs=1e-8)
    by_network = dict(zip(masks, values.tolist(), strict=True))
    assert {network.masks: value for network, value in zip(every, every.scores, strict=True)} == pytest.approx(
        by_network, abs=1e-8
    )
    near = td.networks_within(scores, 3.0, **way)
    assert len(near) == np.count_nonzero(values >= values.max() - math.log(3.0) - 1e-9)
    assert td.log_evidence(scores, **way) == pytest.approx(evidence, abs=1e-8)
    found = td.network_posteriors(scores, **way)
    assert found.paths is not None
    n = len(case.names)
    edges, paths = np.zeros((n, n)), np.zeros((n, n))
    for network, chance in zip(masks, chances, strict=True):
        for parent, child in _edges(network):
            edges[parent, child] += chance
        for child, above in enumerate(ancestors(network)):
            for parent in reference.members(above):
                paths[parent, child] += chance
    assert found.edges.matrix == pytest.approx(edges, abs=1e-9)
    assert found.paths.matrix == pytest.approx(paths, abs=1e-9)
    for x, name in enumerate(case.names):
        own = found.parent_sets(name)
        assert sum(own.values()) == pytest.approx(1.0)
        for mask in {network[x] for network in masks}:
            expected = sum(chance for network, chance in zip(masks, chances, strict=True) if network[x] == mask)
            assert own[[case.names[p] for p in reference.members(mask)]] == pytest.approx(expected, abs=1e-9)
    sample = td.sample_networks(scores, 1000, seed=seed, **way)
    place = {network: i for i, network in enumerate(masks)}
    counts = np.bincount([place[network.masks] for network in sample], minlength=len(masks))
    assert misfit(counts, chances) < FIT


def ancestors(masks: tuple[int, ...]) -> list[int]:
    above = list(masks)
    for _ in masks:
        for x in range(len(masks)):
            for p in reference.members(above[x]):
                above[x] |= above[p]
    return above


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize(("n", "constants"), CASES)
def test_every_question_counts_orders_of_all_variables(n: int, constants: tuple[int, ...], prior: str) -> None:
    seed = 1 + 3 * sum(constants)
    check(case_of(n, constants, seed), PRIORS[prior], seed)


@pytest.mark.parametrize("prior", ["none", "orders", "weighted orders"])
@pytest.mark.parametrize("seed", range(3))
def test_constants_that_take_part(seed: int, prior: str) -> None:
    check(case_of(4, (seed,), seed, keep_constant=True), PRIORS[prior], seed)


def test_weights_before_the_data() -> None:
    case = case_of(4, (1,), 4)
    masks, _ = truth(case, None)
    counts = [len(orders_of(network, case.pairs)) for network in masks]
    assert td.log_prior_total(case.scores, prior=td.OrderModular()) == pytest.approx(math.log(sum(counts)))


def test_what_counts_all_orders_refuses_some(tmp_path: Any) -> None:
    scores = case_of(3, (2,), 1).scores
    assert scores.orders_are_limited
    with pytest.raises(td.ConstraintError, match="search_networks counts all orders"):
        td.search_networks(scores, 3, prior=td.OrderModular())
    with pytest.raises(td.ScoreError, match="not tell which orders count"):
        td.io.write_list(tmp_path / "few.jsonl", td.k_best_networks(scores, 3, prior=td.OrderModular()))
