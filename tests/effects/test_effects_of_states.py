"""Effects among states: by sums over parent sets, and by enumeration of all networks."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import reference
from random_inputs import random_table, rows_of, table_of
from scipy.stats import ks_2samp

import topdag as td
from topdag.effects.states import AmongStates, AsNetworkSays, Contrast, SpreadEvenly

SEEDS = range(6)


def drawn_table(seed: int, n: int = 4, rows: tuple[int, ...] = (5, 40, 120)) -> td.Table:
    rng = np.random.default_rng(seed)
    return table_of(**random_table(rng, variables=(n, n), rows=rows, constants=False) | {"keep_constant": True})


def weighed_networks(
    scores: td.types.Scores, allowed: Callable[[tuple[int, ...]], float] = lambda _: 1.0
) -> list[tuple[tuple[int, ...], float]]:
    """Every network with its weight, relative to the best."""
    assert scores.table is not None and scores.kind is not None
    table, kind = scores.table, scores.kind

    def local(x: int, parents: int) -> float:
        return kind.local(table, x, reference.members(parents))

    by_family = {
        (x, mask): local(x, mask) for x in range(len(scores.names)) for mask in range(1 << len(scores.names))
        if not mask >> x & 1
    }  # fmt: skip
    scored = [
        (masks, sum(by_family[x, mask] for x, mask in enumerate(masks)))
        for masks in reference.all_networks(len(scores.names))
    ]
    best = max(score for _, score in scored)
    return [(masks, allowed(masks) * math.exp(score - best)) for masks, score in scored]


def check(
    table: td.Table,
    kind: Any,
    ess: float,
    *,
    joint: Any = None,
    allowed: Callable[[tuple[int, ...]], float] = lambda _: 1.0,
    **asked: Any,
) -> None:
    """All distributions, effects and shares without effect, against enumeration."""
    found = td.causal_effects(table, kind=kind, share=1.0, draws=0, **asked)
    rows, weights, arities = rows_of(table)
    mass = reference.mass_of_cells(rows, weights, arities, ess, joint)
    networks = [(masks, w) for masks, w in weighed_networks(td.score(table, kind), allowed) if w > 0]
    total = sum(weight for _, weight in networks)
    assert found.least_covered == 1.0 and len(found) == len(arities) * (len(arities) - 1)
    shares = [reference.parent_set_shares(networks, x) for x in range(len(arities))]
    reached = [[reference.descendants(masks, x) for masks, _ in networks] for x in range(len(arities))]
    for (cause, outcome), effect in found.items():
        x, y = table.index(cause), table.index(outcome)
        without = sum(w for (_, w), below in zip(networks, reached[x], strict=True) if not below >> y & 1) / total
        sets = shares[x] if without < 1 - 1e-12 else {1 << y: 1.0}  # nothing follows for what comes before
        truth = sum(p * np.array(reference.response(mass, arities, x, mask, y)) for mask, p in sets.items())
        shown = [list(row.values()) for row in effect.distributions.values()]
        assert np.abs(np.array(shown) - truth).max() < 1e-9
        apart = max(np.abs(a - b).sum() / 2 for a in truth for b in truth)
        assert effect.value == pytest.approx(apart, abs=1e-9)
        assert found.matrix[x, y] == effect.value
        less, more = (list(effect.distributions).index(state) for state in (effect.less, effect.more))
        raised = [list(table.states[y]).index(state) for state in effect.raised]
        assert (truth[more] - truth[less])[raised].sum() == pytest.approx(apart, abs=1e-9)
        assert effect.no_effect == pytest.approx(without, abs=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_all_networks_on_four_variables(seed: int) -> None:
    check(drawn_table(seed), td.BDeu(float(seed % 3) + 0.5), seed % 3 + 0.5)


def test_all_networks_on_five_variables() -> None:
    check(td.Table(drawn_table(11, 5, (120,)).codes.T % 2), td.BDeu(2.0), 2.0)


@pytest.mark.parametrize("kind", [td.BIC(), td.AIC(), td.K2(), td.BDs(3.0), td.qNML(), td.fNML()])
def test_scores_with_and_without_imaginary_rows(kind: Any) -> None:
    check(drawn_table(3), kind, getattr(kind, "ess", 1.0))


def test_imaginary_rows_of_a_prior_network() -> None:
    table = drawn_table(5)
    joint = np.random.default_rng(0).dirichlet(np.full(int(np.prod(table.arities)), 2.0)).reshape(table.arities)
    prior = chain_rule(table, joint)
    check(table, td.BDe(4.0, prior), 4.0, joint=joint)


def chain_rule(table: td.Table, joint: np.ndarray) -> td.FittedNetwork:
    """Any distribution is that of the complete network."""
    names = table.names
    tables = {}
    for v, name in enumerate(names):
        with_v = joint.sum(axis=tuple(range(v + 1, len(names))))
        tables[name] = with_v / with_v.sum(axis=v, keepdims=True)
    network = td.Network(names, {name: names[:v] for v, name in enumerate(names)})
    states = dict(zip(names, table.states, strict=True))
    return td.FittedNetwork(network, states, tables)


def test_under_a_limit_an_order_and_priors() -> None:
    table = drawn_table(4)

    def few(masks: tuple[int, ...]) -> float:
        return float(all(mask.bit_count() <= 1 for mask in masks))

    def ordered(masks: tuple[int, ...]) -> float:
        return float(not reference.descendants(masks, 2) & 1)

    def by_orders(masks: tuple[int, ...]) -> float:
        return float(reference.linear_extensions(masks))

    check(table, td.BDeu(), 1.0, allowed=few, max_parents=1)
    check(table, td.BDeu(), 1.0, allowed=ordered, constraints=td.Constraints(precedence=[("V0", "V2")]))
    check(table, td.BDeu(), 1.0, allowed=by_orders, prior=td.OrderModular())


def test_one_known_network_gives_what_follows_by_its_own_probabilities() -> None:
    """Counts in proportion to a network's probabilities, and that network alone: P(y | do(x)) is the product of all
    probabilities but those of x [Pearl 2009, eq. 3.10], a formula in which no parents are adjusted for."""
    names = ("u", "v", "x", "m", "y")
    edges = [("u", "x"), ("v", "x"), ("u", "y"), ("x", "m"), ("m", "y"), ("v", "u")]
    network = td.Network.from_edges(names, edges)
    rng = np.random.default_rng(7)
    shape = {name: (2,) * (len(network.parents[name]) + 1) for name in names}
    tables = {name: (p := rng.uniform(0.2, 0.8, size)) / p.sum(axis=-1, keepdims=True) for name, size in shape.items()}
    cells = np.indices((2,) * 5).reshape(5, -1)

    def factor(name: str) -> np.ndarray:
        return tables[name][tuple(cells[names.index(v)] for v in (*network.parents[name], name))]

    joint = np.prod([factor(name) for name in names], axis=0)
    weights = np.rint(joint * 1e6).astype(int)
    table = td.Table.from_codes(names, cells, weights=weights, states=[[0, 1]] * 5)
    known = td.Constraints(fixed_parents=dict(network.parents))
    found = td.causal_effects(table, kind=td.BDeu(1e-3), constraints=known, draws=0)
    for cause in names:
        kept = np.prod([factor(name) for name in names if name != cause], axis=0)
        for outcome in names:
            if cause == outcome:
                continue
            marks = [(cells[names.index(cause)] == i) & (cells[names.index(outcome)] == 1) for i in (0, 1)]
            truth = [float(kept[mark].sum()) for mark in marks]
            shown = [found[cause, outcome].distributions[i][1] for i in (0, 1)]
            assert shown == pytest.approx(truth, abs=1e-4)
            assert found[cause, outcome].no_effect == pytest.approx(float(not network.is_ancestor(cause, outcome)))


# ---- Draws


def drawn_from_all_cells(
    mass: dict[tuple[int, ...], float], arities: list[int], x: int, parents: list[int], y: int, contrast: Contrast
) -> np.ndarray:
    """Effects by drawing the probability of every cell of the table."""
    rng, count = np.random.default_rng(1), 3000
    alphas = np.array(list(mass.values()))
    joint = rng.standard_gamma(alphas, (count, len(alphas))).reshape(count, *arities)
    joint /= joint.sum(axis=tuple(range(1, joint.ndim)), keepdims=True)
    kept = sorted([*parents, x, y])
    summed = joint.sum(axis=tuple(v + 1 for v in range(len(arities)) if v not in kept))
    order = [0, *(1 + kept.index(v) for v in (*parents, x, y))]
    cells = summed.transpose(order).reshape(count, -1, arities[x], arities[y])
    with np.errstate(invalid="ignore"):
        chances = np.nan_to_num(cells / cells.sum(axis=3, keepdims=True))
    by_state = np.einsum("cz,czxy->cxy", cells.sum(axis=(2, 3)), chances)
    return (by_state[:, contrast.more] - by_state[:, contrast.less])[:, contrast.raised].sum(axis=1)


@pytest.mark.parametrize("n_rows", [3, 30])
@pytest.mark.parametrize("ess", [1.0, 12.0])
def test_draws_are_those_of_the_dirichlet_distribution(n_rows: int, ess: float) -> None:
    """With few rows, most states of the parents have none, and are drawn one by one."""
    rng = np.random.default_rng(n_rows)
    arities = [2, 3, 2, 3, 2]
    table = table_of([rng.integers(0, a, n_rows).tolist() for a in arities], arities, [1] * n_rows, True)
    rows, weights, _ = rows_of(table)
    among = AmongStates(table, SpreadEvenly(ess, tuple(arities)))
    mass = reference.mass_of_cells(rows, weights, arities, ess)
    x, y, parents = 0, 1, [2, 3, 4]
    value, contrast = among.compared(x, y, among.mean(x, parents))
    ((_, drawn),) = among.draws(x, parents, {y: (contrast, np.random.default_rng(0))}, 3000)
    assert drawn.mean() == pytest.approx(value, abs=5 * drawn.std() / math.sqrt(len(drawn)))
    assert ks_2samp(drawn, drawn_from_all_cells(mass, arities, x, parents, y, contrast)).pvalue > 0.001
    alike = AmongStates(table, AsNetworkSays(ess, np.full(arities, 1 / math.prod(arities))))
    assert np.abs(alike.mean(x, parents) - among.mean(x, parents)).max() < 1e-12
    ((_, dense),) = alike.draws(x, parents, {y: (contrast, np.random.default_rng(3))}, 3000)
    assert ks_2samp(drawn, dense).pvalue > 0.001


def test_intervals_hold_the_share_that_was_asked_for() -> None:
    table = td.example_table()
    wide = td.causal_effects(table, "smoke", "bronc", level=0.99)["smoke", "bronc"]
    narrow = td.causal_effects(table, "smoke", "bronc", level=0.5)["smoke", "bronc"]
    assert wide.lower < narrow.lower < narrow.value < narrow.upper < wide.upper
    assert wide.value == narrow.value


def test_the_same_seed_draws_the_same_whatever_else_is_asked() -> None:
    table = td.example_table()
    every = td.causal_effects(table, seed=5, draws=50)
    one = td.causal_effects(table, "lung", "xray", seed=5, draws=50)["lung", "xray"]
    assert (one.lower, one.upper) == (every["lung", "xray"].lower, every["lung", "xray"].upper)
    other = td.causal_effects(table, "lung", "xray", seed=6, draws=50)["lung", "xray"]
    assert other.value == one.value and other.lower != one.lower


# ---- How far rows support it


def test_what_no_row_supports_is_said() -> None:
    rows = [(0, 0, 0), (0, 0, 1), (1, 1, 0), (1, 1, 1)] * 10
    table = td.Table(np.array(rows), names=["z", "x", "y"], types={"x": "categorical"})  # not left out as a duplicate
    known = td.Constraints(fixed_parents={"z": [], "x": ["z"]})
    found = td.causal_effects(table, constraints=known, draws=0)
    assert found["x", "y"].supported == pytest.approx(0.5)  # never x = 1 where z = 0, nor x = 0 where z = 1
    assert found["z", "y"].supported == 1.0
    assert found["x", "z"].supported == 1.0  # z is a parent: nothing is estimated
