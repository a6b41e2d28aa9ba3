"""The network that is found from the data while a table is scored: sound, allowed, the same however work is cut into
pieces, at least as good as a greedy search, and shown where nothing better is known."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import reference
from ctrl_c import press_ctrl_c
from given_sizes import AS_LISTS, give_sizes
from greedy import climb
from random_inputs import constraints_of, demanding_constraints, obeys_of, random_constraints, random_table, table_of
from strategies import CASES, Case, sampled_table

import topdag as td
from topdag._util.run import Run
from topdag.questions import best, first_network
from topdag.questions.best import best_of
from topdag.questions.decide import Question, decide
from topdag.questions.first_network import FirstNetwork
from topdag.questions.request import Request, Trail
from topdag.scoring.task import scored_columns


def allowed_networks(n: int, most: int) -> list[tuple[int, ...]]:
    return [masks for masks in reference.all_networks(n) if all(own.bit_count() <= most for own in masks)]


def found_after(request: Request, pieces: int = 1) -> FirstNetwork:
    first = FirstNetwork(request, Run())
    for _ in range(pieces):
        first.go_on()
    return first


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_no_better_than_the_best_no_worse_than_none(case: Case) -> None:
    rng = np.random.default_rng(CASES.index(case))
    for _ in range(8):
        table = table_of(**random_table(rng, variables=(2, 4)))
        most = rng.choice([None, 0, 1, 2])
        kind = case.make(table)
        network = found_after(Request(table, kind, most)).network
        if network is None:
            assert not scored_columns(table)
            continue
        local = cache(case.truth(table, kind))
        n = table.n_variables
        limit = n if most is None else most
        assert reference.is_acyclic(network.masks) and all(own.bit_count() <= limit for own in network.masks)
        assert network.score == pytest.approx(reference.network_score(local, network.masks), abs=1e-6, rel=1e-12)
        optimum = max(reference.network_score(local, masks) for masks in allowed_networks(n, limit))
        assert network.score <= optimum + 1e-6 + 1e-12 * abs(optimum)
        assert network.score >= reference.network_score(local, [0] * n) - 1e-6


@pytest.mark.parametrize("make", [random_constraints, demanding_constraints])
def test_satisfies_what_is_known_or_is_not_shown(make) -> None:
    rng, n_shown = np.random.default_rng(1), 0
    for _ in range(60):
        table = table_of(**random_table(rng, variables=(4, 5), constants=False))
        given = make(rng, table.n_variables)
        try:
            known = constraints_of(given, table.names)
        except td.ConstraintError:
            continue
        network = found_after(Request(table, td.BIC(), constraints=known)).network
        if network is not None:
            n_shown += 1
            assert reference.is_acyclic(network.masks) and obeys_of(given, table.names)(network.masks)
    assert n_shown > 10


@pytest.mark.parametrize(
    "known",
    [
        {"required_edges": [("V6", "V0"), ("V5", "V6")]},
        {"forbidden_edges": [("V0", "V1"), ("V1", "V0"), ("V2", "V3")]},
        {"tiers": [["V4", "V5", "V6"], ["V0", "V1"], ["V2", "V3"]]},
        {"precedence": [("V6", "V5"), ("V5", "V4"), ("V0", "V6")]},
        {"max_parents": 1},
        {"min_parents": {"V3": 2, "V0": 1}},
        {"exact_parents": {"V2": 0, "V4": 2}},
        {"allowed_parent_sets": {"V1": [["V2", "V3"], ["V6"]], "V5": [[], ["V0"]]}},
    ],
    ids=lambda known: next(iter(known)),
)
def test_what_families_and_an_order_tell_is_seen_to(known) -> None:
    table, constraints = sampled_table(7, 300, seed=5), td.Constraints(**known)
    network = found_after(Request(table, td.BDeu(), constraints=constraints)).network
    assert network is not None and constraints.allows(network)
    optimum = td.best_network(td.score(table, td.BDeu(), constraints=constraints)).score
    assert optimum - 10.0 <= network.score <= optimum + 1e-6


@pytest.mark.parametrize("seed", range(6))
def test_at_least_as_good_as_greedy(seed: int) -> None:
    table, kind = sampled_table(12, 400, seed=seed, states=(2, 3)), (td.BIC(), td.BDeu(), td.K2())[seed % 3]
    n = table.n_variables

    @cache
    def local(x: int, mask: int) -> float:
        return kind.local(table, x, reference.members(mask))

    greedy = climb(local, n, n, lambda: False)
    assert greedy is not None
    network = found_after(Request(table, kind)).network
    assert network is not None and network.score >= reference.network_score(local, greedy) - 1e-6


def test_the_same_however_work_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    table = sampled_table(25, 500, seed=3)
    monkeypatch.setattr(first_network, "WORK_OF_A_PIECE", 2e6)
    whole = found_after(Request(table, td.BIC()), 1).masks
    assert found_after(Request(table, td.BIC()), 1).masks == whole
    monkeypatch.setattr(first_network, "WORK_OF_A_PIECE", 2e5)
    assert found_after(Request(table, td.BIC()), 10).masks == whole


def test_where_counting_takes_too_much_memory_families_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    request = Request(sampled_table(8, 300, seed=1), td.BIC())
    counted = found_after(request).network
    monkeypatch.setattr(first_network, "SHARE_FOR_COUNTS", 0.0)
    asked = found_after(request, first_network.FIRST_PIECES).network
    assert counted is not None and asked is not None and asked.n_edges > 0
    assert asked.score == pytest.approx(counted.score, abs=5.0)


def test_families_with_too_many_cells_are_left_out() -> None:
    rng = np.random.default_rng(1)
    few = rng.integers(0, 2, 3000)
    codes = np.array([rng.permutation(3000), rng.permutation(3000), few, few])
    network = found_after(Request(td.Table.from_codes(list("abcd"), codes), td.BIC()), 20).network
    assert network is not None and {tuple(sorted(edge)) for edge in network.edges} == {("c", "d")}


# ---- In answers


def trail_of(table: td.Table, **asked) -> Trail:
    return Trail(Request(table, td.BIC(), **asked))


def test_only_lists_are_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    request = Request(sampled_table(8, 100, seed=1), td.BIC())
    assert not decide(request, Question.BEST).climbs
    give_sizes(monkeypatch, **AS_LISTS)
    assert all(decide(request, asked).climbs for asked in (Question.BEST, Question.LIST, Question.CLASSES))
    assert not decide(replace(request, scores=td.score(request.table, td.BIC())), Question.BEST).climbs


@pytest.mark.parametrize("listed", [False, True])
def test_a_limit_while_scoring(monkeypatch: pytest.MonkeyPatch, listed: bool) -> None:
    if listed:
        give_sizes(monkeypatch, **AS_LISTS)
    table = sampled_table(10, 300, seed=4)
    proved = td.best_network(td.score(table, td.BIC(), keep="all"))
    monkeypatch.setattr(first_network if listed else best, "scores_of", lambda *_: None)
    answer = best_of(trail_of(table), Run(time_limit=0.0))
    assert answer.proof.status is td.types.Status.STOPPED and answer.proof.limit is not None
    assert answer.network is not None and answer.network.n_edges > 0
    assert answer.score == answer.network.score
    assert proved.score - 20.0 <= answer.score <= proved.score + 1e-6 <= answer.proof.bound + 2e-6


def test_ctrl_c_while_scoring(monkeypatch: pytest.MonkeyPatch) -> None:
    give_sizes(monkeypatch, **AS_LISTS)
    monkeypatch.setattr(first_network, "SECONDS_BEFORE", 0.0)

    def press(request: Request, run: Run, *_: object) -> None:
        run.tick("counting", 0, 1)
        press_ctrl_c()
        assert run.tick("counting", 0, 1)

    monkeypatch.setattr(first_network, "scores_of", press)
    trail = trail_of(sampled_table(10, 300, seed=4))
    with pytest.raises(td.Interrupted) as stopped:
        best_of(trail, Run())
    assert stopped.value.answer.network.n_edges > 0
    assert trail.first is not None and trail.first.n_pieces >= 1


def test_it_goes_on_while_scoring_says_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_network, "SECONDS_BEFORE", 0.0)
    run = Run()
    first = FirstNetwork(Request(sampled_table(10, 300, seed=4), td.BIC()), run)
    run.meanwhile = first.meanwhile
    run.tick("counting", 0, 1)
    assert first.n_pieces == 1
    monkeypatch.setattr(first, "_next", math.inf)  # its share of the time is taken
    run.tick("counting", 0, 1)
    assert first.n_pieces == 1


def test_a_search_begins_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    give_sizes(monkeypatch, small=2, **AS_LISTS)
    table = sampled_table(10, 300, seed=4)
    starts: list[list[tuple[int, ...]]] = []
    begin = best._starts
    monkeypatch.setattr(best, "_starts", lambda *given: starts.append(begin(*given)) or starts[-1])
    quick = best_of(trail_of(table), Run())
    monkeypatch.setattr(best, "MANY_FAMILIES", 0)
    trail = trail_of(table)
    answer = best_of(trail, Run())
    assert trail.first is not None and starts == [[], [trail.first.first]]
    assert answer.proof.status is quick.proof.status is td.types.Status.PROVED and answer.score == quick.score
