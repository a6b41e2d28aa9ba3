"""Constraints as rows of branch and cut: every row is right, what a network breaks is found, answers are the best."""

from __future__ import annotations

import math

import numpy as np
import pytest
import reference
from constraint_draws import compiled, drawn_constraints, listed
from given_sizes import AS_LISTS, give_sizes
from strategies import sampled_table, stored

import topdag as td
from topdag._util.run import Run
from topdag.answers.results import Status
from topdag.constrained.clause_branch_and_cut import search_by_clauses
from topdag.constrained.clauses import Clauses
from topdag.constrained.path_cuts import Support, least_way_out, shortest_walks
from topdag.knowledge.compiled import FamilyRules
from topdag.search.costs import Families

NETWORKS_OF_FOUR = list(map(tuple, reference.all_networks(4)))


def everything(n: int) -> Families:
    table = sampled_table(n, 20, 1)
    return Families.of_store(listed(td.score(table, td.BIC())))


@pytest.mark.parametrize("seed", range(25))
def test_rows_hold_in_networks_that_obey_and_find_what_others_break(seed: int) -> None:
    families = everything(4)
    names = ("V0", "V1", "V2", "V3")
    known = compiled(drawn_constraints(names, seed), names)
    clauses = Clauses(known)
    draw = np.random.default_rng(seed)
    places = {masks: families.places(masks) for masks in NETWORKS_OF_FOUR}
    possible = [masks for masks in NETWORKS_OF_FOUR if all(map(FamilyRules.admits, known.families, masks))]
    allowed = [masks for masks in possible if known.allows(masks)]
    found = set()
    for masks in possible:
        broken = clauses.broken(families, places[masks].astype(float), [])
        assert bool(broken) == (not known.allows(masks))
        found.update(broken)
    for _ in range(20):
        some = draw.choice(len(possible), 3)
        weights = sum(places[possible[i]] * share for i, share in zip(some, (0.5, 0.3, 0.2), strict=True))
        broken = clauses.broken(families, weights, [0b1111, 0b0111, 0b1010])
        assert all(weights[clause.marks(families)].sum() < 1 for clause in broken)
        found.update(broken)
    for clause in found:
        marks = clause.marks(families)
        assert all((marks & places[masks]).any() for masks in allowed)


@pytest.mark.parametrize("seed", range(20))
def test_the_best_that_obeys_by_brute_force(seed: int) -> None:
    table = sampled_table(4 + seed % 2, 60, seed)
    known = drawn_constraints(table.names, seed)
    scores, free = td.score(table, td.BIC(), constraints=known), td.score(table, td.BIC())
    found = search_by_clauses(listed(scores), compiled(known, table.names), Run())
    local = stored(free)
    best_first = sorted(reference.all_networks(table.n_variables), key=lambda m: -reference.network_score(local, m))
    allowed = (masks for masks in best_first if known.allows(td.Network.from_masks(table.names, masks)))
    best = next(allowed, None)
    true = -math.inf if best is None else reference.network_score(local, best)
    assert found.limit is None and found.bound == pytest.approx(true, abs=1e-6)
    assert len(found.networks) == (best is not None)
    for masks in found.networks:
        assert known.allows(td.Network.from_masks(table.names, masks))


@pytest.fixture
def on_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    """As for many variables."""
    give_sizes(monkeypatch, small=4, **AS_LISTS)


@pytest.mark.parametrize("seed", range(15))
def test_lists_that_were_pruned_are_made_again(seed: int, on_lists: None) -> None:
    """The best network under constraints may need families that are dropped for the best one without."""
    table = sampled_table(7, 150, seed)
    known = drawn_constraints(table.names, 200 + seed)
    every = td.score(table, td.BIC(), constraints=known, keep="all")
    found = search_by_clauses(listed(every), compiled(known, table.names), Run())
    scores = td.score(table, td.BIC(), constraints=known)
    answer = td.best_network(scores)
    if not found.networks:
        assert answer.network is None
        return
    assert answer.proof.status is Status.PROVED
    assert answer.stats.engine == "constrained search: branch and cut with clauses" or not (
        scores.rest and scores.rest.without_order
    )
    assert answer.score == pytest.approx(found.bound, abs=1e-6)
    assert answer.network is not None and known.allows(answer.network)


def test_stopped_with_a_bound_that_holds(on_lists: None) -> None:
    table = sampled_table(10, 300, 3)
    known = td.Constraints(ancestors=[("V7", "V0"), ("V5", "V1"), ("V6", "V2")], not_ancestors=[("V0", "V3")])
    scores = td.score(table, td.BIC(), constraints=known)
    best = td.best_network(scores)
    assert best.proof.status is Status.PROVED
    stopped = td.best_network(scores, time_limit=0)
    assert stopped.proof.status is Status.STOPPED and stopped.proof.bound >= best.score - 1e-9

    def interrupt(progress: td.types.Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(td.Interrupted) as caught:
        td.best_network(scores, on_progress=interrupt)
    answer = caught.value.answer
    assert answer.proof.bound >= best.score - 1e-9
    assert answer.network is None or known.allows(answer.network)


@pytest.mark.parametrize("seed", range(20))
def test_least_way_out_of_the_beginning(seed: int) -> None:
    """Against every set."""
    draw = np.random.default_rng(seed)
    n = 5
    children = [int(v) for v in draw.integers(n, size=12)]
    parents = [int(mask) & ~(1 << child) for mask, child in zip(draw.integers(1 << n, size=12), children, strict=True)]
    weights = [float(w) for w in draw.integers(1, 5, size=12) / 16]
    support = Support(n, np.array(children), np.array(parents, dtype=np.uint64), np.array(weights))
    between = 0b11111 if seed % 2 else 0b11011

    def leaving(inside: int) -> float:
        families = zip(children, parents, weights, strict=True)
        return sum(w for v, own, w in families if between >> v & 1 and not inside >> v & 1 and own & inside)

    sets = [own for own in range(1 << n) if own & 1 and not own >> 4 & 1 and not own & ~between]
    least = min(map(leaving, sets))
    found = least_way_out(support, 0, 4, between, 1.0)
    assert (found is None) == (least >= 1.0)
    if found is not None:
        assert found in sets and leaving(found) == pytest.approx(least)


def test_shortest_walks_take_the_steps_that_are_there() -> None:
    lengths = np.ones((4, 4))
    lengths[0, 1] = lengths[1, 2] = lengths[2, 3] = 0.25
    walks = shortest_walks(lengths)
    assert walks.between(0, 3, 0.9) == [0, 1, 2, 3]
    assert walks.between(0, 3, 0.7) is None and walks.between(3, 0, 0.9) is None
