"""Whether any network is allowed, whatever it scores: against brute force, and beyond 20 variables."""

from __future__ import annotations

import random

import pytest
import reference
from constraint_draws import drawn_constraints
from strategies import sampled_table

import topdag as td
from topdag._util.run import Run
from topdag.answers.results import Status
from topdag.constrained.feasibility import some_network

NETWORKS_OF_FOUR = list(map(tuple, reference.all_networks(4)))
NAMES = ("V0", "V1", "V2", "V3")


def tight_constraints(seed: int) -> td.Constraints:
    """Several at once with few parents each, so that often nothing is allowed."""
    draw = random.Random(seed)
    found = drawn_constraints(NAMES, seed)
    for more in (
        td.Constraints(max_parents=1),
        drawn_constraints(NAMES, 1000 + seed),
        td.Constraints(not_ancestors=[draw.sample(NAMES, 2)]),
        td.Constraints(rules=["if V0->V1 then V2->V3 or V3->V2", "parents(V3) >= 1 or V0->V2"]),
    ):
        try:
            (found & more).compiled(NAMES, range(4))
        except td.ConstraintError:
            continue
        found &= more
    return found


@pytest.mark.parametrize("seed", range(60))
def test_as_brute_force_says(seed: int) -> None:
    known = tight_constraints(seed).compiled(NAMES, range(4))
    found = some_network(known, Run())
    assert found.is_settled
    assert (found.network is not None) == any(known.allows(masks) for masks in NETWORKS_OF_FOUR)
    assert found.network is None or known.allows(found.network)


def test_both_answers_are_met() -> None:
    answers = {
        some_network(tight_constraints(seed).compiled(NAMES, range(4)), Run()).network is None for seed in range(60)
    }
    assert answers == {True, False}


IMPOSSIBLE = {
    "a chain of single parents has comparable ancestors": td.Constraints(
        ancestors=[("V0", "V2"), ("V1", "V2")], max_parents=1, not_ancestors=[("V0", "V1"), ("V1", "V0")]
    ),
    "no parents for the only parent": td.Constraints(
        ancestors=[("V0", "V1")],
        rules=["parents(V1) == 0 or V3->V1", "not V0->V1", "parents(V1) <= 1", "if V3->V1 then parents(V3) == 0"],
    ),
}


@pytest.mark.parametrize("known", IMPOSSIBLE.values(), ids=list(IMPOSSIBLE))
def test_beyond_20_variables_it_is_proved_that_nothing_is_allowed(known: td.Constraints) -> None:
    scores = td.score(sampled_table(21, 100, 1), td.BIC(), constraints=known)
    answer = td.best_network(scores)
    assert answer.proof.status is Status.INFEASIBLE and answer.network is None
    assert td.k_best_networks(scores, 3).proof.status is Status.INFEASIBLE


def test_left_open_when_there_are_too_many_parts() -> None:
    known = IMPOSSIBLE["a chain of single parents has comparable ancestors"]
    names = [f"V{i}" for i in range(30)]
    found = some_network(known.compiled(names, range(30)), Run(), most_parts=3)
    assert found.network is None and not found.is_settled and found.parts == 3
