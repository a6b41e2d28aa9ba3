"""Branching on cycles under rules across variables, paths and orders: looked at in every case, exact, disjoint."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pytest
import reference
from constraint_draws import compiled, drawn_constraints, listed
from given_sizes import AS_LISTS, give_sizes
from strategies import sampled_table, stored

import topdag as td
from topdag import _core
from topdag._util.run import Run
from topdag.answers.results import Status
from topdag.constrained.clause_branch_and_cut import search_by_clauses
from topdag.constrained.cycle_rules import case_rules, search_by_cycles
from topdag.constrained.found import Found
from topdag.knowledge.compiled import CompiledConstraints, FamilyRules
from topdag.search.cycles import branch_on_cycles, first_network
from topdag.search.stores import ListStore

Search = Callable[[ListStore, CompiledConstraints, Run], Found]
SEARCHES: list[Search] = [search_by_cycles, search_by_clauses]
NETWORKS_OF_FOUR = list(map(tuple, reference.all_networks(4)))
NAMES_OF_FOUR = ("V0", "V1", "V2", "V3")


def constrained(n: int, rows: int, seed: int, kinds: int) -> tuple[ListStore, CompiledConstraints, td.Constraints]:
    table = sampled_table(n, rows, seed)
    known = drawn_constraints(table.names, kinds)
    scores = td.score(table, td.BIC(), constraints=known)
    return listed(scores), compiled(known, table.names), known


@pytest.mark.parametrize("seed", range(30))
def test_the_core_reads_what_is_known_as_python_does(seed: int) -> None:
    known = compiled(drawn_constraints(NAMES_OF_FOUR, seed), NAMES_OF_FOUR)
    rules = case_rules(4, known)
    possible = [masks for masks in NETWORKS_OF_FOUR if all(map(FamilyRules.admits, known.families, masks))]
    for masks in possible:
        without_orders = replace(known.rest, precedence=())
        if known.rest.allows(masks):
            assert rules.allow(list(masks))
        if rules.allow(list(masks)):
            assert without_orders.allows(masks)


def lies_in(masks: tuple[int, ...], case: tuple[list[tuple[int, int]], list[tuple[int, str, int]]]) -> bool:
    marks, facts = case
    if any(must & ~mask or without & mask for (must, without), mask in zip(marks, masks, strict=True)):
        return False
    holds = {
        "some_of": lambda mask, bits: mask & bits != 0,
        "none_of": lambda mask, bits: mask & bits == 0,
        "count_in": lambda mask, bits: bits >> mask.bit_count() & 1 == 1,
    }
    return all(holds[kind](masks[child], bits) for child, kind, bits in facts)


@pytest.mark.parametrize("seed", range(30))
def test_every_network_that_obeys_lies_in_just_one_case(seed: int) -> None:
    store, known, _ = constrained(4, 40, seed, seed)
    cases = _core.finished_cases(store.candidates, case_rules(4, known))
    for masks in NETWORKS_OF_FOUR:
        if known.allows(masks):
            assert sum(lies_in(masks, case) for case in cases) == 1


@pytest.mark.parametrize("seed", range(40))
def test_the_best_that_obeys_by_brute_force(seed: int) -> None:
    n = 4 + seed % 2
    table = sampled_table(n, 60, seed)
    known = drawn_constraints(table.names, seed)
    found = search_by_cycles(listed(td.score(table, td.BIC(), constraints=known)), compiled(known, table.names), Run())
    local = stored(td.score(table, td.BIC()))
    best_first = sorted(reference.all_networks(n), key=lambda masks: -reference.network_score(local, masks))
    allowed = (masks for masks in best_first if known.allows(td.Network.from_masks(table.names, masks)))
    best = next(allowed, None)
    true = -math.inf if best is None else reference.network_score(local, best)
    assert found.limit is None and found.bound == pytest.approx(true, abs=1e-6)
    assert len(found.networks) == (best is not None)
    for masks in found.networks:
        assert known.allows(td.Network.from_masks(table.names, masks))


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("seed", range(15))
def test_it_agrees_with_the_engine_that_is_chosen(seed: int, search: Search) -> None:
    n = 8 + seed % 5
    table = sampled_table(n, 120, seed)
    known = drawn_constraints(table.names, 300 + seed)
    scores = td.score(table, td.BIC(), constraints=known)
    true = td.best_network(scores)
    found = search(listed(scores), compiled(known, table.names), Run())
    assert found.limit is None
    if true.proof.status is Status.INFEASIBLE:
        assert not found.networks and found.bound == -math.inf
    else:
        assert true.proof.status is Status.PROVED and found.bound == pytest.approx(true.score, abs=1e-6)
        assert all(known.allows(td.Network.from_masks(table.names, masks)) for masks in found.networks)


@pytest.mark.parametrize("search", SEARCHES)
def test_nothing_is_allowed(search: Search) -> None:
    table = sampled_table(9, 100, 1)
    known = td.Constraints(
        ancestors=[("V0", "V1"), ("V1", "V2")],
        max_parents=1,
        rules=["not V0->V1", "parents(V1) == 0 or V3->V1", "if V3->V1 then parents(V3) == 0 or V4->V3", "not V4->V3"],
    )
    scores = td.score(table, td.BIC(), constraints=known, keep="all")
    found = search(listed(scores), compiled(known, table.names), Run())
    assert found.limit is None and not found.networks and found.bound == -math.inf


@pytest.mark.parametrize("seed", range(8))
def test_threads_change_nothing_and_bounds_hold_wherever_it_stops(seed: int) -> None:
    store, known, _ = constrained(9, 150, seed, 400 + seed)
    rules = case_rules(store.n, known)

    def branched(threads: int, steps: int | None = None) -> _core.BranchingResult:
        return _core.branch_on_cycles(store.candidates, rules, math.inf, steps, None, _core.Limits(threads))

    one, two = branched(1), branched(2)
    assert one.finished and one.cost == one.bound
    assert (one.cost, one.parents, one.steps, one.made) == (two.cost, two.parents, two.steps, two.made)
    for steps in (0, 1, 3, 10, 100):
        stopped = branched(1, steps)
        assert stopped.bound <= one.cost <= stopped.cost
        assert not stopped.parents or known.allows(stopped.parents)


@pytest.mark.parametrize("seed", range(15))
def test_the_first_network_obeys_and_is_near_the_best(seed: int) -> None:
    store, known, _ = constrained(8 + seed % 5, 150, seed, 500 + seed)
    best = branch_on_cycles(store, Run(), rules=case_rules(store.n, known))
    first = first_network(store, Run(), case_rules(store.n, known))
    assert best.finished and (best.masks is None) == (best.cost == math.inf)
    assert first is None or best.masks is not None
    if first is not None:
        assert known.allows(first[1]) and first[0] >= best.cost
        costs = [b - store.value(x, mask) for x, (b, mask) in enumerate(zip(store.best_scores, first[1], strict=True))]
        assert first[0] == pytest.approx(sum(costs), abs=1e-9)


@pytest.fixture
def on_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    """As for many variables."""
    give_sizes(monkeypatch, small=4, **AS_LISTS)


@pytest.mark.parametrize("seed", range(15))
def test_lists_that_were_pruned_are_made_again(seed: int, on_lists: None) -> None:
    table = sampled_table(7, 150, seed)
    known = drawn_constraints(table.names, 600 + seed)
    every = td.score(table, td.BIC(), constraints=known, keep="all")
    true = search_by_clauses(listed(every), compiled(known, table.names), Run())
    answer = td.best_network(td.score(table, td.BIC(), constraints=known), engine="branching")
    if not true.networks:
        assert answer.network is None and answer.proof.status is Status.INFEASIBLE
        return
    assert answer.proof.status is Status.PROVED
    assert answer.score == pytest.approx(true.bound, abs=1e-6)
    assert answer.network is not None and known.allows(answer.network)


def test_stopped_with_a_bound_that_holds(on_lists: None) -> None:
    table = sampled_table(10, 300, 3)
    free = td.best_network(td.score(table, td.BIC())).network
    assert free is not None
    a, b, c = [(x, y) for x in table.names for y in table.names if x < y and (x, y) not in free.edges][:3]
    known = td.Constraints(rules=[f"{a[0]}->{a[1]} or {b[0]}->{b[1]} or {c[0]}->{c[1]}"])
    scores = td.score(table, td.BIC(), constraints=known)
    best = td.best_network(scores, engine="branching")
    assert (
        best.proof.status is Status.PROVED and best.stats.engine == "constrained search: branching on cycles and rules"
    )
    stopped = td.best_network(scores, engine="branching", time_limit=0)
    assert stopped.proof.status is Status.STOPPED and stopped.proof.bound >= best.score - 1e-9

    def interrupt(progress: td.types.Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(td.Interrupted) as caught:
        td.best_network(scores, engine="branching", on_progress=interrupt)
    answer = caught.value.answer
    assert answer.proof.bound >= best.score - 1e-9
    assert answer.network is None or known.allows(answer.network)


def test_rules_out_of_range_are_refused() -> None:
    rules = _core.CaseRules(3)
    for wrong in (
        lambda: rules.some_of(3, 1),
        lambda: rules.any_of([0]),
        lambda: rules.require(7),
        lambda: rules.require_paths([(0, 3)]),
        lambda: rules.forbid_paths([(1, 1)]),
        lambda: rules.allow([0, 0]),
        lambda: _core.CaseRules(65),
    ):
        with pytest.raises(ValueError, match=r"."):
            wrong()


@pytest.mark.parametrize("seed", range(12))
def test_few_variables_are_listed_for_it(seed: int) -> None:
    table = sampled_table(7, 150, seed)
    known = drawn_constraints(table.names, 700 + seed)
    scores = td.score(table, td.BIC(), constraints=known)
    true, found = td.best_network(scores), td.best_network(scores, engine="branching")
    assert not isinstance(scores.store, ListStore)
    assert found.proof.status is true.proof.status
    assert found.score == true.score == -math.inf or found.score == pytest.approx(true.score, abs=1e-6)
    assert found.network is None or known.allows(found.network)
