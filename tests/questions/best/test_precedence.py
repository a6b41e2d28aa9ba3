"""Orders that variables have in any case, in every lattice and search: against all networks, and engines."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from given_sizes import AS_LISTS, give_sizes
from precedence_truth import agreeing, long_order, some_orders, table
from strategies import sampled_table

import topdag as td
from topdag import _core
from topdag.answers.results import Status


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
        give_sizes(monkeypatch, ideals=few)
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
    give_sizes(monkeypatch, small=2, ideals_of_many=10**6)  # blocks
    assert {tuple(row) for row in td.k_best_networks(scores, 30000).parents.tolist()} == expected


@pytest.mark.parametrize("block_bits", [1, 2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_small_blocks_of_sets(seed: int, block_bits: int) -> None:
    given = some_orders(seed)
    scores = td.score(table(), td.BDeu(), constraints=td.Constraints(**given))
    core = scores.store.core(scores.before)
    lattice = _core.build_block_lattice(core, True, _core.Limits(2), block_bits)
    assert lattice is not None
    found = _core.list_best(lattice, _core.Listed.NETWORKS, 30000, -math.inf, _core.Limits(2)).parents
    assert {tuple(row) for row in found.tolist()} == {tuple(row) for row in agreeing(scores, given)[0].tolist()}


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
    assert first.rest is not None and not first.rest.without_order


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
    near = td.k_best_networks(scores, 40), td.networks_within(scores, 5)
    give_sizes(monkeypatch, small=4, **AS_LISTS)
    listed = td.score(table, td.BIC(), constraints=known)
    for engine in (None, "order search", "branch and cut", "branching"):
        answer = td.best_network(listed, engine=engine, start=best.network if seed % 2 else None)
        assert answer.proof.status is Status.PROVED
        assert answer.score == pytest.approx(best.score, abs=1e-9)
        assert answer.network is not None
        assert known.allows(answer.network)
        assert "parts" not in answer.stats.work or engine is not None
    lists = td.k_best_networks(listed, 40), td.networks_within(listed, 5)
    for found, true in zip(lists, near, strict=True):
        assert "sparse lattice" in found.stats.engine
        assert found.scores == pytest.approx(true.scores, abs=1e-6)
        assert all(known.allows(network) for network in found)
    assert len({tuple(row) for row in lists[1].parents.tolist()}) == len(near[1])
    assert td.count_networks_within(listed, 5) == len(near[1])


def test_a_start_that_disagrees_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    table = sampled_table(9, 150, 2)
    known = long_order(table.names, 2)
    free = td.best_network(td.score(table, td.BIC())).network
    assert free is not None
    assert not known.allows(free)
    give_sizes(monkeypatch, small=4, **AS_LISTS)
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
