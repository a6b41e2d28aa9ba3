"""Lists by branch and cut with clauses: all allowed networks and classes, as brute force and splitting find them."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import reference
from constraint_draws import drawn_constraints
from given_sizes import AS_LISTS, give_sizes
from stop_cases.forced import without_luck
from strategies import sampled_table, stored

import topdag as td
from topdag import _core
from topdag._util.run import Run
from topdag._util.stop import Stop
from topdag.answers.results import Status
from topdag.constrained import growing_lists as constrained_best
from topdag.constrained import listing
from topdag.constrained.found import Found
from topdag.constrained.listing import BY_CLAUSES, list_by_clauses
from topdag.search.engines import sizes_given
from topdag.search.partition.listing import PartitionSearch
from topdag.search.stores import ListStore

NETWORKS_OF_FOUR = list(map(tuple, reference.all_networks(4)))


@pytest.fixture
def by_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few variables are listed as many are."""
    give_sizes(monkeypatch, small=0)


@pytest.fixture
def on_lists(by_rows: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """And their families stand in lists that were pruned for the best network."""
    give_sizes(monkeypatch, **AS_LISTS)


def all_that_obey(scores: td.types.Scores) -> dict[tuple[int, ...], float]:
    assert scores.compiled is not None
    local = stored(scores)
    values = {m: reference.network_score(local, m) for m in NETWORKS_OF_FOUR if scores.compiled.allows(m)}
    return {masks: value for masks, value in values.items() if value > -math.inf}


def best_values(values: dict[tuple[int, ...], float], most: int) -> list[float]:
    return sorted(values.values(), reverse=True)[:most]


def class_values(values: dict[tuple[int, ...], float]) -> dict[object, float]:
    graphs = {masks: _core.class_of(list(masks)) for masks in values}
    return {(tuple(g.parents), tuple(g.neighbours)): values[m] for m, g in graphs.items()}


@pytest.mark.usefixtures("by_rows")
@pytest.mark.parametrize("seed", range(10))
def test_lists_are_those_of_brute_force(seed: int) -> None:
    table = sampled_table(4, 60, seed)
    known = drawn_constraints(table.names, 900 + seed)
    with sizes_given(small=20):  # all families get their score
        scores = td.score(table, td.BDeu() if seed % 2 else td.BIC(), constraints=known)
    true = all_that_obey(scores)
    by_class = class_values(true)
    one_by_one = seed % 5  # that there are no more takes seconds to prove
    fewer = (max(1, len(true)), max(1, len(by_class))) if one_by_one else (7, 5)
    k_best, near = td.k_best_networks(scores, min(7, fewer[0])), td.networks_within(scores, 50)
    assert list(k_best.scores) == pytest.approx(best_values(true, 7), abs=1e-6)
    within = {m: value for m, value in true.items() if value >= max(true.values()) - math.log(50)}
    assert {tuple(masks) for masks in near.parents.tolist()} == set(within)
    assert k_best.proof.status is near.proof.status is (Status.PROVED if true else Status.INFEASIBLE)
    classes = td.k_best_classes(scores, min(5, fewer[1]))
    assert list(classes.scores) == pytest.approx(sorted(by_class.values(), reverse=True)[:5], abs=1e-6)
    if one_by_one:
        return
    every = td.k_best_networks(scores, 10**6)
    assert every.proof.status is k_best.proof.status and every.floor == -math.inf
    assert {tuple(masks) for masks in every.parents.tolist()} == set(true)


@pytest.mark.usefixtures("on_lists")
@pytest.mark.parametrize("seed", range(10))
def test_lists_that_grow_from_a_poor_network(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Better ones are found while they grow, with other scores than it has."""
    table = sampled_table(4, 60, seed)
    known = drawn_constraints(table.names, 900 + seed)
    true = all_that_obey(td.score(table, td.BIC(), keep="all", constraints=known))
    by_class = class_values(true)
    monkeypatch.setattr(listing, "first_slack", lambda _: 0.1)
    scores = td.score(table, td.BIC(), constraints=known)
    with without_luck():
        most = min(12, len(true))
        k_best, classes = td.k_best_networks(scores, max(1, most)), td.k_best_classes(scores, max(1, most // 2))
    found = zip(map(tuple, k_best.parents.tolist()), k_best.scores.tolist(), strict=True)
    assert dict(found) == pytest.approx({tuple(masks): true[tuple(masks)] for masks in k_best.parents.tolist()})
    assert list(k_best.scores) == pytest.approx(best_values(true, most), abs=1e-6)
    assert list(classes.scores) == pytest.approx(sorted(by_class.values(), reverse=True)[: most // 2], abs=1e-6)


@pytest.mark.usefixtures("on_lists")
@pytest.mark.parametrize("seed", range(10))
def test_lists_for_the_best_network_grow(seed: int) -> None:
    table = sampled_table(4, 60, seed)
    known = drawn_constraints(table.names, 700 + seed)
    true = all_that_obey(td.score(table, td.BIC(), keep="all", constraints=known))
    scores = td.score(table, td.BIC(), constraints=known)
    assert scores.automatic
    found = list_by_clauses(scores, Run(), most=9)
    assert best_values(found.networks, 9) == pytest.approx(best_values(true, 9), abs=1e-6)
    assert found.limit is None and found.networks.keys() <= true.keys()


@pytest.mark.usefixtures("by_rows")
@pytest.mark.parametrize("seed", range(6))
def test_lists_with_many_ties_are_as_long_as_asked_for(seed: int) -> None:
    """Whole scores, so that most networks tie; all families are listed."""
    table = sampled_table(4, 60, seed)
    known = drawn_constraints(table.names, 800 + seed)
    with sizes_given(small=20):
        dense = td.score(table, td.BIC(), constraints=known)
    own = [dense.store.families_of(x) for x in range(4)]
    store = ListStore.of(table.names, [(masks, np.rint(values / 4)) for masks, values in own])
    scores = replace(dense, store=store)
    true = all_that_obey(scores)
    for most in (1, 2, 5, 20):
        found = list_by_clauses(scores, Run(), most=most)
        assert found.limit is None and found.networks.items() <= true.items()
        assert best_values(found.networks, most) == best_values(true, most)
    assert list_by_clauses(scores, Run(), most=10**6).networks == true


@pytest.mark.usefixtures("on_lists")
@pytest.mark.parametrize("seed", range(4))
def test_rows_and_splitting_agree(seed: int) -> None:
    table = sampled_table(8 + seed % 4, 150, seed)
    known = drawn_constraints(table.names, 500 + seed)
    ask = [
        lambda scores: td.k_best_networks(scores, 12),
        lambda scores: td.networks_within(scores, 4),
        lambda scores: td.k_best_classes(scores, 5),
    ]
    with sizes_given(small=20, few=22, sparse=16):
        dense = td.score(table, td.BIC(), constraints=known)
        true = [question(dense) for question in ask]
    listed = td.score(table, td.BIC(), constraints=known)
    assert listed.automatic
    for question, wanted in zip(ask, true, strict=True):
        for scores in (dense, listed):
            found = question(scores)
            assert found.proof.status is wanted.proof.status
            assert list(found.scores) == pytest.approx(list(wanted.scores), abs=1e-6)
            assert all(known.allows(found.network(place)) for place in range(len(found)))
        assert found.stats.engine == f"constrained search: {BY_CLAUSES}"
        assert not len(found) or found.floor == pytest.approx(wanted.floor, abs=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_classes_count_for_their_members_that_obey(seed: int) -> None:
    """So that averages over all classes are those over all allowed networks."""
    table = sampled_table(4, 60, seed)
    known = drawn_constraints(table.names, 600 + seed)
    scores = td.score(table, td.BDeu(), constraints=known)
    classes, networks = td.classes_within(scores, 1e12), td.networks_within(scores, 1e12)
    assert classes.n_networks == len(networks) and sum(classes.sizes) >= len(networks)
    allowed = [sum(known.allows(member) for member in own.members()) for own in classes]
    assert list(classes.satisfying) == allowed and min(allowed, default=1) >= 1
    if not len(networks):
        return
    weights = np.exp(classes.scores) * allowed
    assert classes.shares == pytest.approx(weights / weights.sum())
    assert td.features.edge_matrix(classes) == pytest.approx(td.features.edge_matrix(networks))
    for a, b in known.ancestors:
        assert td.features.posterior(classes, td.features.path(a, b)).value == pytest.approx(1.0)
    a, b = table.names[:2]
    assert td.features.posterior(classes, td.features.edge(a, b)).value == pytest.approx(
        td.features.posterior(networks, td.features.edge(a, b)).value
    )


def test_shares_of_classes_are_not_told_where_members_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    table = sampled_table(4, 60, 1)
    scores = td.score(table, td.BDeu(), constraints=td.Constraints(ancestors=[table.names[:2]]))
    classes = td.k_best_classes(scores, 20)
    monkeypatch.setattr("topdag.answers.lists.MOST_MEMBERS_SEEN", 5)
    with pytest.raises(td.TooLarge, match="members of these classes satisfy"):
        _ = classes.shares
    assert all(math.isnan(row["share"]) for row in classes.to_dicts())


@pytest.mark.parametrize("seed", range(4))
def test_where_the_relaxation_is_weak_tables_are_split(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same best network and list, from families in lists too."""
    table = sampled_table(7 + seed % 3, 150, seed)
    known = drawn_constraints(table.names, 650 + seed)
    dense = td.score(table, td.BIC(), constraints=known)
    best, true = td.best_network(dense), td.k_best_networks(dense, 8)
    monkeypatch.setattr(constrained_best, "WEAK", -1.0)
    give_sizes(monkeypatch, small=0)
    listed = replace(dense, store=td.score(table, td.BIC(), keep="best").store, automatic=True, keep="best")
    for scores in (dense, listed):
        found = td.best_network(scores)
        assert found.proof.status is best.proof.status and found.score == pytest.approx(best.score, abs=1e-6)
        near = td.k_best_networks(scores, 8)
        assert near.proof.status is true.proof.status
        assert list(near.scores) == pytest.approx(list(true.scores), abs=1e-6)


def costly_path(n: int = 8) -> td.types.Scores:
    table = sampled_table(n, 150, 3)
    pairs = [(table.names[-1], table.names[0]), (table.names[4], table.names[1])]
    return td.score(table, td.BIC(), constraints=td.Constraints(ancestors=pairs))


@pytest.mark.usefixtures("by_rows")
def test_a_list_that_is_stopped_has_the_best_network(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = costly_path()
    best = td.best_network(scores)
    monkeypatch.setattr(PartitionSearch, "go", lambda search, _: setattr(search, "limit", Stop.TIME_LIMIT))
    for found in (td.k_best_networks(scores, 5), td.networks_within(scores, 20), td.k_best_classes(scores, 5)):
        assert found.proof.status is Status.STOPPED and found.proof.limit == "time_limit"
        assert len(found) == 1 and found.scores[0] == pytest.approx(best.score, abs=1e-6)
        assert found.floor == pytest.approx(best.score, abs=1e-6) and found.proof.gap == 0.0


@pytest.mark.usefixtures("by_rows")
def test_a_list_that_is_stopped_has_what_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Below the floor, so that nothing is claimed of it."""
    scores = costly_path()
    best = td.k_best_networks(scores, 1)
    masks, value = tuple(best.parents[0].tolist()), float(best.scores[0])
    met = Found({masks: value}, value + 5.0, Stop.TIME_LIMIT)
    monkeypatch.setattr(constrained_best.GrowingLists, "go", lambda _: met)
    for found in (td.k_best_networks(scores, 3), td.classes_within(scores, 2), td.classes_within(scores, 2, at_most=1)):
        assert found.proof.status is Status.STOPPED and len(found) == 1
        assert found.floor == found.proof.bound == value + 5.0 and found.proof.gap == 5.0
