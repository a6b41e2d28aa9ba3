"""Branch and bound over cycles: the optimum, the same with any threads, a bound that holds whenever it stops."""

from __future__ import annotations

import math
from itertools import product

import pytest
import reference
from constraint_draws import some_constraints
from given_sizes import AS_LISTS, give_sizes
from hypothesis import given, settings
from hypothesis import strategies as st
from order_truth import Problem, forward, problems, random_problem
from strategies import list_scores, sampled_table, tied_lists

import topdag as td
from topdag import _core
from topdag._util.run import Run
from topdag._util.stop import Stop
from topdag.answers.results import Status
from topdag.scoring.score import scores_from_lists
from topdag.search.cycles import branch_on_cycles, first_network
from topdag.search.family_lists import FamilyLists
from topdag.search.stores import ListStore


def branched(
    problem: Problem,
    *,
    upper: float = math.inf,
    steps: int | None = None,
    memory: int | None = None,
    threads: int = 1,
) -> _core.BranchingResult:
    rules = _core.CaseRules(problem.n)
    return _core.branch_on_cycles(problem.candidates, rules, upper, steps, memory, _core.Limits(threads))


def cost_of(problem: Problem, masks: list[int]) -> float:
    pairs = zip(problem.costs, masks, strict=True)
    return sum(min(cost for cost, parents in own if parents == mask) for own, mask in pairs)


def listed_networks(problem: Problem) -> list[tuple[int, ...]]:
    """Every network of listed families."""
    chosen = product(*({parents for _, parents in own} for own in problem.costs))
    return [masks for masks in chosen if reference.is_acyclic(masks)]


@settings(max_examples=150)
@given(problems((1, 6)), st.integers(1, 2))
def test_the_optimum_is_found_and_proved(problem: Problem, threads: int) -> None:
    found = branched(problem, threads=threads)
    best = forward(problem)[-1]
    assert found.finished
    assert found.cost == found.bound == best
    if best < math.inf:
        assert reference.is_acyclic(found.parents)
        assert cost_of(problem, found.parents) == best
    else:
        assert not found.parents


@settings(max_examples=60)
@given(problems((1, 4)))
def test_every_network_lies_in_just_one_case(problem: Problem) -> None:
    cases = _core.finished_cases(problem.candidates, _core.CaseRules(problem.n))
    for masks in listed_networks(problem):
        holding = [
            case
            for case, facts in cases
            if not facts
            and all(
                must & ~mask == 0 and without & mask == 0 for (must, without), mask in zip(case, masks, strict=True)
            )
        ]
        assert len(holding) == 1


@pytest.mark.parametrize("seed", range(6))
def test_threads_change_nothing(seed: int) -> None:
    problem = random_problem(9, seed, families=25)
    one, two = (branched(problem, threads=threads) for threads in (1, 2))
    assert one.finished and one.cost == forward(problem)[-1]
    assert (one.cost, one.parents, one.steps, one.made) == (two.cost, two.parents, two.steps, two.made)


@pytest.mark.parametrize("seed", range(4))
def test_the_bound_holds_wherever_it_stops(seed: int) -> None:
    problem = random_problem(8, seed, families=25)
    best = forward(problem)[-1]
    whole = branched(problem)
    bounds = []
    for steps in (0, 1, 2, 5, 20, 100, 1000):
        found = branched(problem, steps=steps)
        assert found.bound <= best <= found.cost
        assert found.finished is (found.bound == found.cost)
        assert found.steps <= max(steps, whole.steps)
        bounds.append(found.bound)
    assert bounds[0] == 0.0 and bounds[-1] > 0.0


@pytest.mark.parametrize("seed", range(4))
def test_little_memory_means_depth_first_not_another_answer(seed: int) -> None:
    problem = random_problem(8, seed, families=25)
    found = branched(problem, memory=2000)
    free = branched(problem)
    assert found.finished and found.cost == forward(problem)[-1]
    assert found.bytes < free.bytes


def test_what_is_known_is_only_bettered() -> None:
    problem = random_problem(8, 1, families=25)
    best = forward(problem)[-1]
    proved = branched(problem, upper=best)
    assert proved.finished and proved.cost == best and not proved.parents
    assert branched(problem, upper=best + 0.25).cost == best


@settings(max_examples=60)
@given(problems((1, 6)))
def test_every_sampled_order_gives_a_network_where_there_is_one(problem: Problem) -> None:
    best = forward(problem)[-1]
    for climbs in (False, True):
        cost, parents = _core.sample_orders(problem.candidates, 1, 3, climbs, _core.Limits())
        assert cost >= best and (cost == math.inf) is (best == math.inf)
        if best < math.inf:
            assert reference.is_acyclic(parents) and cost_of(problem, parents) == cost


@settings(max_examples=100)
@given(tied_lists(variables=(1, 6)))
def test_the_engine_agrees_with_the_others(lists: FamilyLists) -> None:
    scores = scores_from_lists(lists, keep="all")
    found, dense, searched = (
        td.best_network(scores, engine=engine) for engine in ("branching", "dense lattice", "search")
    )
    assert found.proof.status is dense.proof.status is searched.proof.status
    assert found.score == dense.score == searched.score
    if found.network is not None:
        assert scores.of(found.network) == found.score


@settings(max_examples=40)
@given(tied_lists(always_empty_set=True))
def test_without_time_there_is_a_network_and_a_bound(lists: FamilyLists) -> None:
    scores = list_scores(lists)
    best = td.best_network(scores, engine="dense lattice").score
    stopped = td.best_network(scores, engine="branching", time_limit=0.0)
    assert stopped.proof.status is Status.STOPPED
    assert stopped.score <= best <= stopped.proof.bound


def test_what_stopped_it_and_what_it_counted() -> None:
    scores = td.score(sampled_table(12, 60, 3), td.AIC(), keep="best")
    assert isinstance(scores.store, ListStore)
    stopped = branch_on_cycles(scores.store, Run(), steps=1)
    whole = branch_on_cycles(scores.store, Run())
    assert (stopped.finished, stopped.limit) == (False, Stop.STEPS)
    assert whole.finished and whole.limit is None and whole.work["steps"] > 1
    assert stopped.bound <= whole.bound == whole.cost <= stopped.cost
    first = first_network(scores.store, Run())
    assert first is not None and first[0] >= whole.cost


def test_ctrl_c_leaves_network_and_bound() -> None:
    scores = scores_from_lists(random_problem(16, 0, families=150, most_parents=4).lists)

    def interrupt(progress: td.types.Progress) -> None:
        if progress.phase == "searching" and progress.bound is not None:
            raise KeyboardInterrupt

    with pytest.raises(td.Interrupted) as stopped:
        td.best_network(scores, engine="branching", on_progress=interrupt)
    answer = stopped.value.answer
    assert answer.proof.limit == "Ctrl-C"
    assert answer.score <= td.best_network(scores, engine="dense lattice").score <= answer.proof.bound


def as_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables are scored as those of many variables are."""
    give_sizes(monkeypatch, small=4, **AS_LISTS)


@pytest.mark.parametrize("seed", range(12))
def test_engines_agree_under_constraints(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Local ones are in the lists; paths, orders and rules across variables split the space around the search."""
    table = sampled_table(8, 150, seed)
    known = some_constraints(table.names, seed)
    truth = td.best_network(td.score(table, td.BIC(), constraints=known))
    as_lists(monkeypatch)
    found = td.best_network(td.score(table, td.BIC(), constraints=known), engine="branching")
    assert found.proof.status is truth.proof.status is Status.PROVED
    assert found.score == pytest.approx(truth.score, abs=1e-6)
    assert found.network is not None and known.allows(found.network)


@pytest.mark.parametrize("k", [0, 1, 2])
def test_classifiers(k: int) -> None:
    table = sampled_table(9, 200, k)
    known = td.rules.k_dependence("V0", k)
    scores = td.score(table, td.BIC(), keep="best", constraints=known)
    found = td.best_network(scores, engine="branching")
    assert found.proof.status is Status.PROVED
    assert found.score == pytest.approx(td.best_network(td.score(table, td.BIC(), constraints=known)).score, abs=1e-6)
