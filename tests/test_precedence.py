"""Orders that variables have in any case, in every table: against all networks of five variables, and engines."""

from __future__ import annotations

import math
import random
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import reference
from brute_force import network_scores, networks, values_of
from numpy.typing import NDArray
from sampling_truth import FIT, misfit, row_numbers
from strategies import sampled_table

import topdag as td
from topdag import _core, engines, ideal_lattices, list_lattices, score_making
from topdag.engines import Choice, Engine
from topdag.priors import Prior
from topdag.results import Status
from topdag.scores import Scores
from topdag.stores import FamilyStore, families_of, slots_of

Floats = NDArray[np.float64]
N = 5
NAMES = ("a", "b", "c", "d", "e")


def some_orders(seed: int) -> dict[str, Any]:
    """Pairs of a random order, few or many or all of it, with rules about single variables now and then."""
    draw = random.Random(seed)
    order = list(NAMES)
    draw.shuffle(order)
    pairs = [(a, b) for i, a in enumerate(order) for b in order[i + 1 :]]
    given: dict[str, Any] = {"precedence": draw.sample(pairs, draw.choice([1, 2, 3, 5]))}
    if seed % 7 == 0:
        given["precedence"] = list(pairwise(order))  # a total order
    if seed % 3 == 0:
        given["max_parents"] = 2
    if seed % 4 == 1:
        given["required_edges"] = [draw.choice(pairs)]
    if seed % 5 == 2:
        given["tiers"] = [order[:2], order[2:4]]
    return given


@cache
def table() -> td.Table:
    draw = np.random.default_rng(11)
    columns = [draw.integers(0, 2, 60), draw.integers(0, 3, 60)]
    columns += [np.where(draw.random(60) < 0.7, columns[i % 2] % 2, draw.integers(0, 2, 60)) for i in range(3)]
    return td.Table({name: [str(v) for v in own] for name, own in zip(NAMES, columns, strict=True)})


def early(given: dict[str, Any]) -> list[int]:
    found = [0] * N
    for a, b in given["precedence"]:
        found[NAMES.index(b)] |= 1 << NAMES.index(a)
    return found


def agreeing(scores: Scores, given: dict[str, Any]) -> tuple[NDArray[np.uint64], Floats]:
    """Every network of allowed families that has no circle with the order, and its score."""
    masks = networks(N)
    values = network_scores(values_of(scores), masks)
    masks, values = masks[np.isfinite(values)], values[np.isfinite(values)]
    both = masks | np.array(early(given), np.uint64)
    agrees = np.array([reference.is_acyclic(row) for row in both.tolist()], bool)
    assert 0 < agrees.sum() < 29281
    return masks[agrees], values[agrees]


def log_orders(masks: NDArray[np.uint64], given: dict[str, Any]) -> Floats:
    """Of how many orders each network is one that agrees."""
    both = masks | np.array(early(given), np.uint64)
    known: dict[tuple[int, ...], float] = {}
    for row in map(tuple, both.tolist()):
        if row not in known:
            known[row] = math.log(reference.linear_extensions(row))
    return np.array([known[tuple(row)] for row in both.tolist()])


def path_matrix(masks: NDArray[np.uint64], chances: Floats) -> Floats:
    """P(s is an ancestor of t) at [s, t]."""
    has_edge = np.stack([masks >> np.uint64(s) & np.uint64(1) for s in range(N)], axis=1) == 1  # network, s, t
    reached = has_edge
    for _ in range(N):
        reached = reached | (reached @ has_edge)
    return np.einsum("k,kst->st", chances, reached.astype(float))


@pytest.mark.parametrize("seed", range(12))
def test_the_best_and_all_networks(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """From tables over all sets, over blocks of sets, and over ideals alone."""
    given = some_orders(seed)
    scores = td.score(table(), td.BDeu(), constraints=td.Constraints(**given))
    masks, values = agreeing(scores, given)
    best_first = np.sort(values)[::-1]
    expected = {tuple(row) for row in masks.tolist()}
    answers = [td.best_network(scores, engine=engine) for engine in (None, "dense lattice", "block lattice")]
    for few in (1, 10**6):
        monkeypatch.setattr(ideal_lattices, "FEW", few)
        answers.append(td.best_network(scores))
        assert answers[-1].stats.engine == ("lattice of ideals" if few == 1 else "dense lattice")
        every = td.k_best_networks(scores, 30000)
        assert {tuple(row) for row in every.parents.tolist()} == expected
        assert len(every) == len(expected)
        assert every.scores == pytest.approx(best_first, abs=1e-9)
        assert [tuple(row) for row in td.k_best_networks(scores, 7).parents.tolist()] == [
            tuple(row) for row in every.parents[:7].tolist()
        ]
        near = int((values >= best_first[0] - math.log(30) - 1e-9).sum())
        assert td.count_networks_within(scores, 30) == near == len(list(td.iter_networks_within(scores, 30)))
    for answer in answers:
        assert answer.proof.status is Status.PROVED
        assert answer.score == pytest.approx(best_first[0], abs=1e-9)
        assert answer.network == answers[0].network
    monkeypatch.setattr(list_lattices, "SMALL", 2)  # blocks
    monkeypatch.setattr(ideal_lattices, "FEW", 10**6)
    assert {tuple(row) for row in td.k_best_networks(scores, 30000).parents.tolist()} == expected


@pytest.mark.parametrize("block_bits", [1, 2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_small_blocks_of_sets(seed: int, block_bits: int) -> None:
    given = some_orders(seed)
    scores = td.score(table(), td.BDeu(), constraints=td.Constraints(**given))
    core = scores.store.core(scores.before)
    lattice = _core.build_block_lattice(core, True, 2, None, None, block_bits)
    assert lattice is not None
    found = _core.list_best(lattice, _core.Listed.NETWORKS, 30000, -math.inf, 2, None, None)[4]
    assert {tuple(row) for row in found.tolist()} == {tuple(row) for row in agreeing(scores, given)[0].tolist()}


@pytest.mark.parametrize("seed", range(4))
def test_sums_of_more_variables_count_what_comes_before_as_parents(seed: int) -> None:
    """The same sum over networks whose families have those parents, with no order: families that then agree add up."""
    table = sampled_table(11, 60, seed)
    scores = td.score(table, td.BDeu(), constraints=long_order(table.names, 2 * seed), max_parents=3)
    assert scores.rest is not None
    n, before = len(table.names), scores.order
    families = np.full((n, 1 << n - 1), -math.inf)
    for x in range(n):
        masks, values = families_of(scores.store, x)
        np.logaddexp.at(families[x], slots_of(masks | np.uint64(before[x]), x), values)
    plain = _core.sum_networks(FamilyStore(n, families.ravel()).core(), True, 0, False, 2, None, None)
    found = td.network_posteriors(scores, paths=False, parent_sets_of=[])
    assert found.log_evidence == pytest.approx(plain.log_total, abs=1e-9)
    is_added = np.array([[before[x] >> p & 1 for x in range(n)] for p in range(n)], bool)
    assert found.edges.matrix[~is_added] == pytest.approx(plain.edges()[~is_added], abs=1e-9)


def test_the_networks_on_a_chain_are_counted() -> None:
    table = sampled_table(11, 40, 3)
    chain = td.Constraints(precedence=list(pairwise(table.names)))
    scores = td.score(table, td.BDeu(), constraints=chain)
    assert td.log_prior_total(scores) == pytest.approx(55 * math.log(2), abs=1e-9)
    assert td.log_prior_total(scores, prior=td.OrderModular()) == pytest.approx(55 * math.log(2), abs=1e-9)
    assert len(td.sample_networks(scores, 50, seed=1)) == 50


@pytest.mark.parametrize("prior", [None, td.FairPrior(), td.OrderModular()], ids=["none", "fair", "orders"])
@pytest.mark.parametrize("seed", range(10))
def test_sums(seed: int, prior: Prior | None) -> None:
    given = some_orders(seed)
    scores = td.score(table(), td.BDeu(), constraints=td.Constraints(**given))
    masks, values = agreeing(scores, given)
    if isinstance(prior, td.FairPrior):
        values = values + [prior.log_weight(td.Network.from_masks(NAMES, row)) for row in masks.tolist()]
    if isinstance(prior, td.OrderModular):
        values = values + log_orders(masks, given)
    evidence = float(np.logaddexp.reduce(values))
    chances = np.exp(values - evidence)
    found = td.network_posteriors(scores, prior=prior)
    assert td.log_evidence(scores, prior=prior) == pytest.approx(evidence, abs=1e-9)
    for child in range(N):
        for parent in range(N):
            has_edge = (masks[:, child] >> np.uint64(parent) & np.uint64(1)) == 1
            assert found.edges.matrix[parent, child] == pytest.approx(chances[has_edge].sum(), abs=1e-9)
        own = found.parent_sets(NAMES[child])
        for mask in {0, *masks[:, child].tolist()}:
            parents = [name for v, name in enumerate(NAMES) if mask >> v & 1]
            assert own[parents] == pytest.approx(chances[masks[:, child] == mask].sum(), abs=1e-9)
    assert found.paths is not None
    assert found.paths.matrix == pytest.approx(path_matrix(masks, chances), abs=1e-9)
    best = td.best_network(scores, prior=prior)
    assert best.score == pytest.approx(values.max(), abs=1e-9)
    top = td.k_best_networks(scores, 25, prior=prior)
    assert top.scores == pytest.approx(np.sort(values)[::-1][: len(top)], abs=1e-9)
    assert len(top) == min(25, len(values))


@pytest.mark.parametrize("prior", [None, td.OrderModular()], ids=["none", "orders"])
@pytest.mark.parametrize("seed", [1, 3, 5, 7])
def test_samples(seed: int, prior: Prior | None) -> None:
    given = some_orders(seed)
    scores = td.score(table(), td.BDeu(), constraints=td.Constraints(**given))
    masks, values = agreeing(scores, given)
    values = values if prior is None else values + log_orders(masks, given)
    sample = td.sample_networks(scores, 20000, seed=seed, prior=prior)
    counts = np.bincount(row_numbers(sample.parents, masks), minlength=len(masks))
    assert misfit(counts, np.exp(values - np.logaddexp.reduce(values))) < FIT


def test_weights_of_orders_count_orders_that_agree() -> None:
    prior = td.OrderModular(order_weight=lambda name, earlier: 0.4 * len(earlier) * (name == "c"))
    given = {"precedence": [("d", "a"), ("c", "b")]}
    scores = td.score(table(), td.BDeu(), constraints=td.Constraints(**given))
    every = td.k_best_networks(scores, 40000, prior=prior)
    masks, values = agreeing(scores, given)
    earlier = {"a": ["d"], "b": ["c"]}
    weights = [prior.log_weight(td.Network.from_masks(NAMES, row), earlier) for row in masks.tolist()]
    assert every.scores == pytest.approx(np.sort(values + weights)[::-1], abs=1e-9)
    assert td.log_evidence(scores, prior=prior) == pytest.approx(np.logaddexp.reduce(values + weights), abs=1e-9)


def test_what_no_order_allows() -> None:
    """Nothing can come first: each needs one of two that need it, and only a search sees that."""
    with pytest.raises(td.ConstraintError, match="cannot all hold"):
        td.Constraints(precedence=[("a", "b"), ("b", "c")], required_edges=["c->a"])
    rules = ["c->a or d->a", "a->c or b->c", "a->d or b->d"]
    given = td.Constraints(precedence=[("a", "b")], rules=rules)
    scores = td.score(table(), td.BDeu(), constraints=given)
    for engine in (None, "dense lattice", "block lattice"):
        assert td.best_network(scores, engine=engine).proof.status is Status.INFEASIBLE
    assert len(td.k_best_networks(scores, 5)) == 0
    assert td.best_network(scores, prior=td.OrderModular()).proof.status is Status.INFEASIBLE
    for ask in (td.log_evidence, td.edge_posteriors, lambda own: td.sample_networks(own, 3)):
        with pytest.raises(td.ScoreError, match="No network is allowed"):
            ask(scores)


def test_one_order_said_twice_is_the_same() -> None:
    once = td.Constraints(precedence=[("a", "b"), ("b", "c")])
    again = td.Constraints(precedence=[("a", "b"), ("b", "c"), ("a", "c"), ("a", "b")], not_ancestors=[("c", "a")])
    first, second = (td.score(table(), td.BDeu(), constraints=known) for known in (once, again))
    assert td.best_network(first).network == td.best_network(second).network
    assert first.beyond_order is None


def test_constant_columns_pass_an_order_on() -> None:
    columns = {name: list(column) for name, column in zip("abc", ("0110100", "0101100", "0011011"), strict=True)}
    with_constant = td.Table({**columns, "k": ["1"] * 7})
    passed = td.Constraints(precedence=[("b", "k"), ("k", "a")])
    said = td.Constraints(precedence=[("b", "a")])
    scores = td.score(with_constant, td.BDeu(), constraints=passed)
    assert scores.rest is not None
    assert scores.rest.lines(scores.scored_names) == ["b comes before a"]
    without = td.log_evidence(td.score(td.Table(columns), td.BDeu(), constraints=said))
    assert td.log_evidence(scores) == pytest.approx(without, abs=1e-9)


def long_order(names: tuple[str, ...], seed: int) -> td.Constraints:
    draw = random.Random(seed)
    order = list(names)
    draw.shuffle(order)
    pairs = [(a, b) for i, a in enumerate(order) for b in order[i + 1 :]]
    return td.Constraints(precedence=draw.sample(pairs, 4 + seed % 9), max_parents=3 if seed % 2 else None)


@pytest.mark.parametrize("seed", range(8))
def test_engines_agree(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables over sets and searches on lists, where what comes before a variable counts as a parent of it."""
    table = sampled_table(8 + seed % 5, 150, seed)
    known = long_order(table.names, seed)
    scores = td.score(table, td.BIC(), constraints=known)
    best = td.best_network(scores)
    assert best.network is not None
    assert known.allows(best.network)
    assert td.best_network(scores, engine="block lattice").network == best.network
    assert td.best_network(scores, engine="dense lattice").network == best.network
    for room in (engines, list_lattices):
        monkeypatch.setattr(room, "SMALL", 4)
    monkeypatch.setattr(score_making, "scores_by_lists", lambda *_, **__: Choice(Engine.SEARCH, "asked for"))
    listed = td.score(table, td.BIC(), constraints=known)
    for engine in (None, "order search", "branch and cut", "branching"):
        answer = td.best_network(listed, engine=engine, start=best.network if seed % 2 else None)
        assert answer.proof.status is Status.PROVED
        assert answer.score == pytest.approx(best.score, abs=1e-9)
        assert answer.network is not None
        assert known.allows(answer.network)
        assert "parts" not in answer.stats.work or engine is not None


def test_a_start_that_disagrees_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    table = sampled_table(9, 150, 2)
    known = long_order(table.names, 2)
    free = td.best_network(td.score(table, td.BIC())).network
    assert free is not None
    assert not known.allows(free)
    monkeypatch.setattr(engines, "SMALL", 4)
    monkeypatch.setattr(score_making, "scores_by_lists", lambda *_, **__: Choice(Engine.SEARCH, "asked for"))
    answer = td.best_network(td.score(table, td.BIC(), constraints=known), start=free)
    assert answer.proof.status is Status.PROVED
    assert answer.network is not None
    assert known.allows(answer.network)


def test_fewer_sets_are_visited() -> None:
    table = sampled_table(14, 100, 5)
    names = table.names
    for size in (2, 7):
        tiers = [list(names[i : i + 14 // size]) for i in range(0, 14, 14 // size)]
        scores = td.score(table, td.BIC(), constraints=td.Constraints(tiers=tiers))
        answer = td.best_network(scores)
        assert answer.stats.work["sets visited"] == size * (2 ** (14 // size) - 1) + 1
        assert answer.network == td.best_network(scores, engine="dense lattice").network
    chain = td.Constraints(precedence=list(pairwise(names)))
    assert td.best_network(td.score(table, td.BIC(), constraints=chain)).stats.work["sets visited"] == 15


def test_ideals_are_counted_up_to_a_limit() -> None:
    core = td.score(table(), td.BDeu()).store.core([0, 1, 3, 0, 0])
    assert _core.count_ideals(core, 1000) == 16
    assert _core.count_ideals(core, 5) == 5
    with pytest.raises(ValueError, match="comes before x"):
        td.score(table(), td.BDeu()).store.core([0, 1, 2, 0, 0])
    with pytest.raises(ValueError, match="before itself"):
        td.score(table(), td.BDeu()).store.core([1, 0, 0, 0, 0])
