"""The best network by rows on lists that grow: the lists have what it needs, and it is the one that splitting finds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import reference
from constraint_draws import compiled, drawn_constraints, listed
from given_sizes import AS_LISTS, give_sizes
from stop_cases.forced import lists_for_few
from strategies import sampled_table, stored, table_of

import topdag as td
from topdag._util.run import Run
from topdag.answers.results import Status
from topdag.constrained import dispatch, growing_lists
from topdag.constrained.clause_branch_and_cut import search_by_clauses
from topdag.constrained.clauses import Clauses
from topdag.constrained.needed_families import NeededFamilies, useful_parents
from topdag.constrained.repair import Repair
from topdag.knowledge.compiled import CompiledConstraints
from topdag.knowledge.facts import NoPath, Path
from topdag.knowledge.narrow import narrowed
from topdag.search.best import search_beyond
from topdag.search.costs import Families

NETWORKS_OF_FOUR = list(map(tuple, reference.all_networks(4)))


def best_of(scores: td.types.Scores, known: CompiledConstraints) -> float:
    local = stored(scores)
    values = [reference.network_score(local, masks) for masks in NETWORKS_OF_FOUR if known.allows(masks)]
    return max(values, default=-math.inf)


@pytest.mark.parametrize("seed", range(20))
def test_lists_have_what_the_best_network_needs(seed: int) -> None:
    """Short lists for variables without useful parents, and families that lose at most what the best one gives up."""
    table = sampled_table(4, 60, seed)
    statements = drawn_constraints(table.names, 300 + seed)
    known = compiled(statements, table.names)
    scores = td.score(table, td.BIC(), constraints=statements)
    true, most = best_of(scores, known), best_of(scores, known.relaxed)
    if true == -math.inf:
        return
    useful = useful_parents(known, Clauses(known).between)
    lists = NeededFamilies(scores, useful, Run())
    short = lists.short()
    assert short is not None
    wide = lists.within(most - true, short)
    assert wide is not None and wide.n_families <= scores.n_families
    found = search_by_clauses(wide, known, Run())
    assert found.bound == pytest.approx(true, abs=1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_rows_on_growing_lists_and_splitting_agree(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    table = sampled_table(8 + seed % 4, 150, seed)
    known = drawn_constraints(table.names, 400 + seed)
    scores = td.score(table, td.BDeu() if seed % 2 else td.BIC(), constraints=known)
    true = td.best_network(scores)
    monkeypatch.setattr(dispatch, "FIRST_PARTS_OF", 0)
    answer = td.best_network(scores)
    assert answer.proof.status is true.proof.status and answer.score == pytest.approx(true.score, abs=1e-6)
    assert answer.network is None or known.allows(answer.network)


@pytest.mark.parametrize("engine", [None, "branching"])
def test_constraints_may_cost_any_number_of_nats(engine: str | None) -> None:
    """Many rows make a constraint as costly as one likes: e to the power of so many nats is no number."""
    costly = 0
    for seed in range(30):
        few = sampled_table(4, 60, seed)
        table = table_of(few.codes, few.arities.tolist(), (few.weights * 10_000).tolist())
        known = drawn_constraints(table.names, 300 + seed)
        with lists_for_few():
            scores = td.score(table, td.BDeu(), constraints=known)
            answer = td.best_network(scores, engine=engine)
        every, whole = td.score(table, td.BDeu(), keep="all", constraints=known), compiled(known, table.names)
        true, most = (best_of(every, own) for own in (whole, whole.relaxed))
        assert answer.score == pytest.approx(true, abs=1e-5) if true > -math.inf else answer.network is None
        assert answer.proof.status is (Status.PROVED if true > -math.inf else Status.INFEASIBLE)
        costly += most - 800 > true > -math.inf
    assert costly > 4


def test_ancestors_are_decided_where_halves_of_paths_leave_it_open(monkeypatch: pytest.MonkeyPatch) -> None:
    decided = []
    own = Clauses.under

    def under(clauses: Clauses, decisions: tuple) -> Clauses | None:
        decided.extend(decisions)
        return own(clauses, decisions)

    monkeypatch.setattr(Clauses, "under", under)
    for seed in range(12):
        table = sampled_table(10, 200, seed)
        v = table.names
        pairs = [(v[-1 - seed % 3], v[0]), (v[5], v[1]), (v[-2], v[2])]
        scores = td.score(table, td.BIC(), constraints=td.Constraints(ancestors=pairs))
        true = td.best_network(scores)
        assert true.proof.status is Status.PROVED
        found = search_by_clauses(listed(scores), scores.compiled, Run())
        assert found.bound == pytest.approx(true.score, abs=1e-6)
    assert {is_so for _, _, is_so in decided} == {True, False}


@pytest.mark.parametrize("seed", range(20))
def test_a_decision_parts_the_networks_that_obey(seed: int) -> None:
    known = compiled(drawn_constraints(("V0", "V1", "V2", "V3"), seed), ("V0", "V1", "V2", "V3"))
    a, b = seed % 4, (seed + 1 + seed // 4 % 3) % 4
    parts = [narrowed(known, [fact]) for fact in (Path(a, b), NoPath(a, b))]
    for masks in NETWORKS_OF_FOUR:
        allowed = [part is not None and part.allows(masks) for part in parts]
        assert sum(allowed) == known.allows(masks)


def test_what_is_repaired_satisfies_the_constraints() -> None:
    n_repaired = 0
    for seed in range(10):
        table = sampled_table(7, 100, seed)
        known = drawn_constraints(table.names, 500 + seed)
        families = Families.of_store(listed(td.score(table, td.BIC(), constraints=known)))
        found = Repair(families, compiled(known, table.names)).repaired(np.zeros(families.size), math.inf)
        if found is not None:
            assert known.allows(td.Network.from_masks(table.names, found.masks))
            assert found.cost == families.costs[families.places(found.masks)].sum()
            n_repaired += 1
    assert n_repaired >= 5


def test_what_the_best_of_all_satisfies_is_proved_without_constraints(monkeypatch: pytest.MonkeyPatch) -> None:
    """Though the relaxation alone does not tell which network is best."""
    give_sizes(monkeypatch, small=0, split=0, **AS_LISTS)
    beyond = []

    def search(*given: Any, **options: Any) -> bool:
        beyond.append(given)
        return search_beyond(*given, **options)

    def fail(*_: object, **__: object) -> None:
        pytest.fail("constraints were searched")

    for seed in range(12):
        table = sampled_table(9, 40, seed=seed, states=(2, 3))
        free = td.best_network(table, "aic")
        first, *_ = free.network.edges
        known = td.Constraints(ancestors=[first])
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(growing_lists, "search_beyond", search)
            patch.setattr(growing_lists, "ClauseSearch", fail)
            answer = td.best_network(table, "aic", constraints=known)
        assert answer.proved and answer.score == free.score and known.allows(answer.network)
    assert beyond
