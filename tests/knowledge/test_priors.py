"""Priors: linear extensions and weights of networks against brute force and known values."""

from __future__ import annotations

import math
import random
from contextlib import suppress
from dataclasses import replace
from itertools import permutations, product

import numpy as np
import pytest

import topdag as td
from topdag._util.run import Run
from topdag.scoring.with_prior import scores_with


def network_on(masks: list[int]) -> td.Network:
    return td.Network.from_masks([f"V{v}" for v in range(len(masks))], masks)


def random_masks(n: int, density: float, draw: random.Random) -> list[int]:
    order = draw.sample(range(n), n)
    masks = [0] * n
    for place, v in enumerate(order):
        masks[v] = sum(1 << u for u in order[:place] if draw.random() < density)
    return masks


def agreeing_orders(network: td.Network) -> list[tuple[str, ...]]:
    orders = permutations(network.names)
    return [o for o in orders if all(o.index(p) < o.index(c) for p, c in network.edges)]


@pytest.mark.parametrize("seed", range(40))
def test_linear_extensions_are_the_orders_that_agree(seed: int) -> None:
    draw = random.Random(seed)
    network = network_on(random_masks(draw.randint(1, 7), draw.choice([0.1, 0.3, 0.6]), draw))
    assert network.linear_extensions == len(agreeing_orders(network))


@pytest.mark.parametrize("seed", range(2))
def test_linear_extensions_of_eight_variables(seed: int) -> None:
    network = network_on(random_masks(8, 0.25, random.Random(seed)))
    assert network.linear_extensions == len(agreeing_orders(network))


def crown(width: int) -> td.Network:
    """Each of the lower row has all but one of the upper row as parents."""
    upper = (1 << width) - 1
    return network_on([0] * width + [upper & ~(1 << v) for v in range(width)])


def complete_tree(depth: int) -> td.Network:
    return network_on([0] + [1 << (v - 1) // 2 for v in range(1, 2**depth - 1)])


@pytest.mark.parametrize(
    ("network", "count"),
    [
        (network_on([0] * 64), math.factorial(64)),
        (network_on([0] + [1 << v for v in range(63)]), 1),
        (network_on([0] + [1] * 63), math.factorial(63)),
        (network_on([0] * 63 + [(1 << 63) - 1]), math.factorial(63)),
        # n! over the product of the sizes of all subtrees
        (complete_tree(5), math.factorial(31) // (31 * 15**2 * 7**4 * 3**8)),
        # two chains of 20: one of (40 choose 20) interleavings
        (network_on([0] + [1 << v for v in range(19)] + [0] + [1 << v for v in range(20, 39)]), math.comb(40, 20)),
        # the zigzag of n variables has as many as alternating permutations: Euler's numbers
        (network_on([0, 0b101, 0, 0b10100, 0, 0b1010000, 0]), 272),
        (crown(3), 48),
    ],
)
def test_known_numbers_of_linear_extensions(network: td.Network, count: int) -> None:
    assert network.linear_extensions == count
    assert network.log_linear_extensions == math.log(count)


def test_no_variables_have_one_order() -> None:
    assert td.Network([], {}).linear_extensions == 1


def test_more_than_64_variables_are_refused() -> None:
    with pytest.raises(td.TooLarge, match="up to 64 variables, not 65"):
        _ = network_on([0] * 65).linear_extensions


@pytest.mark.parametrize("seed", range(20))
def test_the_weight_of_a_network_is_the_sum_over_its_orders(seed: int) -> None:
    draw = random.Random(seed)
    network = network_on(random_masks(draw.randint(1, 5), 0.4, draw))
    table = {}

    def weight(name: str, others: frozenset[str]) -> float:
        return table.setdefault((name, others), draw.uniform(-2, 2))

    def order_weight(order: tuple[str, ...]) -> float:
        return math.exp(sum(weight(name, frozenset(order[:place])) for place, name in enumerate(order)))

    total = math.log(sum(map(order_weight, agreeing_orders(network))))
    assert td.OrderModular(order_weight=weight).log_weight(network) == pytest.approx(total)
    parents = sum(weight(name, frozenset(its)) for name, its in network.parents.items())
    both = td.OrderModular(order_weight=weight, parent_weight=weight)
    assert both.log_weight(network) == pytest.approx(total + parents)
    only_parents = td.OrderModular(parent_weight=weight)
    assert only_parents.log_weight(network) == pytest.approx(parents + math.log(network.linear_extensions))


@pytest.mark.parametrize(
    "prior",
    [
        td.EdgePrior({("V0", "V2"): 1.5, ("V3", "V1"): -0.25}, default=-0.5),
        td.FairPrior(),
        td.OrderModular(parent_weight=lambda name, parents: len(name) + 0.5 * len(parents)),
    ],
)
def test_weights_of_families_add_up_to_that_of_the_network(
    prior: td.EdgePrior | td.FairPrior | td.OrderModular,
) -> None:
    network = network_on([0b1000, 0b1001, 0b0001, 0])
    slots = [mask & (1 << v) - 1 | mask >> 1 & ~((1 << v) - 1) for v, mask in enumerate(network.masks)]
    tables = [prior.family_log_weights(network.names, v) for v in range(4)]
    assert all(len(table) == 8 for table in tables)
    expected = prior.log_weight(network)
    if isinstance(prior, td.OrderModular):
        expected -= network.log_linear_extensions
    assert sum(table[slot] for table, slot in zip(tables, slots, strict=True)) == pytest.approx(expected)
    every = np.arange(16, dtype=np.uint64)[:, None]
    listed = [prior.listed_log_weights(network.names, v, every[every[:, 0] >> v & 1 == 0]) for v in range(4)]
    assert np.concatenate(listed) == pytest.approx(np.concatenate(tables))


def test_weights_of_orders_by_slots() -> None:
    prior = td.OrderModular(order_weight=lambda name, earlier: float(sum(int(e[1:]) + 1 for e in earlier)))
    assert np.array_equal(prior.order_log_weights(["V0", "V1", "V2"], 1), [0.0, 1.0, 3.0, 4.0])
    assert not td.OrderModular().order_log_weights(["V0", "V1"], 0).any()


def test_weights_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(td.ScoreError, match=r"log odds of \('a', 'b'\) must be a finite number.*not inf"):
        td.EdgePrior({("a", "b"): math.inf})
    for no_edge in ("ab", ("a", "b", "c"), ("a", "a")):
        with pytest.raises(td.ScoreError, match=r"those of edges, \(parent, child\), not of"):
            td.EdgePrior({no_edge: 1.0})  # type: ignore[dict-item]
    with pytest.raises(td.ScoreError, match=r"a dictionary by \(parent, child\)"):
        td.EdgePrior([("a", "b")])  # type: ignore[arg-type]
    with pytest.raises(td.ScoreError, match="order_weight must be a function of a variable and a set of others, not 3"):
        td.OrderModular(3)  # type: ignore[arg-type]
    with pytest.raises(td.ScoreError, match="order_weight of 'V0' must be a finite number"):
        td.OrderModular(order_weight=lambda name, earlier: math.nan).order_log_weights(["V0"], 0)
    with pytest.raises(td.NetworkError, match=r"no variable 'smoek'.*'smoke'"):
        td.best_network(td.example_table(20), prior=td.EdgePrior({("smoek", "lung"): 1.0}))


@pytest.mark.parametrize("listed", [False, True])
def test_scores_with_a_prior_hold_both(listed: bool) -> None:
    table = td.Table({name: [f"{(row * (v + 3)) % (v + 2)}" for row in range(12)] for v, name in enumerate("abc")})
    scores = td.score(table, td.BIC())
    if listed:
        scores = td.score(table, td.BIC(), keep=td.Within(1e300))
        scores = replace(scores, keep="all")
    prior = td.EdgePrior({("a", "c"): 3.25}, default=-1.0)
    weighed = scores_with(scores, prior, Run())
    for x, child in enumerate("abc"):
        for mask in range(8):
            if mask >> x & 1 or scores.store.value(x, mask) == -math.inf:
                continue
            edges = [name for v, name in enumerate("abc") if mask >> v & 1]
            added = sum(prior.log_odds.get((parent, child), -1.0) for parent in edges)
            assert weighed.store.value(x, mask) == pytest.approx(scores.store.value(x, mask) + added)
            assert weighed.local(child, edges) == scores.local(child, edges)


def test_pruned_scores_take_no_prior() -> None:
    with pytest.raises(td.ScoreError, match=r'With the fair prior all families count.*keep="all"'):
        scores_with(td.score(td.example_table(), td.BIC(), keep="best"), td.FairPrior(), Run())


def test_prior_probabilities_of_all_networks_add_up_to_one() -> None:
    total = 0.0
    for masks in product(*[[m for m in range(16) if not m >> x & 1] for x in range(4)]):
        with suppress(td.NetworkError):
            total += math.exp(td.OrderModular().log_probability(network_on(list(masks))))
    assert total == pytest.approx(1.0, abs=1e-12)
    with pytest.raises(td.ScoreError, match="known only for the uniform"):
        td.OrderModular(order_weight=lambda name, earlier: 0.0).log_probability(network_on([0]))
