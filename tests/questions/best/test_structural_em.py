"""Structural EM against sums over all completions of all rows and over all networks."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
import reference
from ctrl_c import press_ctrl_c
from hypothesis import given, settings
from hypothesis import strategies as st
from stop_cases.counted import counted_clock

import topdag as td
from topdag._util.run import Run
from topdag.answers.expectation import LocalOptimum
from topdag.networks.fitted import FittedNetwork
from topdag.questions import structural_em as module
from topdag.scoring.kinds.in_parts import InParts

N_VARIABLES = 4
NAMES = tuple("abcd")
ARITIES = (2, 3, 2, 2)
STATES = [tuple(range(arity)) for arity in ARITIES]
CLOSE = 0.05
"""Nats by which counts in parts of a row may mislead, of so few rows."""


def table_with_gaps(seed: int, n_rows: int = 40, share: float = 0.15) -> td.Table:
    generator = np.random.default_rng(seed)
    fitted = td.random_network(NAMES, arities=list(ARITIES), concentration=0.5, seed=seed)
    complete = fitted.sample(n_rows, seed)
    codes = np.repeat(complete.codes, complete.weights, axis=1).astype(int)
    return td.Table.from_codes(NAMES, np.where(generator.random(codes.shape) < share, -1, codes), states=STATES)


def completions(table: td.Table, fitted: FittedNetwork) -> tuple[list[tuple[int, ...]], list[float]]:
    """All completions of all rows, weighed by their probability given what was observed."""
    joint, rows, weights = fitted.joint(), [], []
    for codes, weight in zip(table.codes.T.tolist(), table.weights.tolist(), strict=True):
        cells = list(itertools.product(*([c] if c < r else range(r) for c, r in zip(codes, ARITIES, strict=True))))
        total = sum(joint[cell] for cell in cells)
        rows += cells
        weights += [float(weight * joint[cell] / total) for cell in cells]
    return rows, weights


def observed_score(answer: LocalOptimum, table: td.Table) -> float:
    """By the joint table of what was fitted."""
    joint, score = answer.fitted.joint(), 0.0
    for codes, weight in zip(table.codes.T.tolist(), table.weights.tolist(), strict=True):
        cells = tuple(slice(c, c + 1) if c < r else slice(None) for c, r in zip(codes, ARITIES, strict=True))
        score += weight * math.log(joint[cells].sum())
    free = sum(
        reference.free_parameters(ARITIES, x, reference.members(mask)) for x, mask in enumerate(answer.network.masks)
    )
    return score - math.log(table.n_rows) / 2 * free


@settings(max_examples=8)
@given(st.integers(0, 10_000))
def test_it_ends_where_no_network_is_better_for_the_expected_counts(seed: int) -> None:
    table = table_with_gaps(seed)
    answer = td.structural_em(table, draws=1, threads=1)
    assert answer.limit is None and all(climb.is_whole and climb.are_proved for climb in answer.climbs)
    assert answer.score == pytest.approx(observed_score(answer, table), abs=1e-8)
    assert answer.score == max(climb.scores[-1] for climb in answer.climbs)
    for climb in answer.climbs:
        assert list(climb.scores) == sorted(climb.scores)
    local = reference.local_of(reference.bic, *completions(table, answer.fitted), ARITIES)
    best = max(reference.network_score(local, masks) for masks in reference.all_networks(N_VARIABLES))
    assert reference.network_score(local, answer.network.masks) > best - CLOSE


@settings(max_examples=10)
@given(st.integers(0, 10_000))
def test_a_round_finds_the_best_network_for_the_expected_counts(seed: int) -> None:
    """And the network that it finds has no lower score than the one that filled the gaps."""
    table = table_with_gaps(seed)
    task = module._Task(table, td.BIC())
    before, score = module._with_probabilities(task, task.fitted(td.random_network(NAMES, seed=seed).network), Run())
    filled = module._filled(task, before, task.parts, 0, None)
    found = task.best(filled, InParts(td.BIC(), task.parts), Run())
    assert found is not None and found.proved and found.network is not None
    local = reference.local_of(reference.bic, *completions(table, before), ARITIES)
    expected = reference.network_score(local, found.network.masks)
    assert (
        expected > max(reference.network_score(local, masks) for masks in reference.all_networks(N_VARIABLES)) - CLOSE
    )
    assert found.score / task.parts == pytest.approx(expected, abs=CLOSE)
    start = module._fitted_to(found.network, filled, task.parts)
    assert module._with_probabilities(task, start, Run())[1] > score - CLOSE


def test_a_complete_table_gives_its_best_network() -> None:
    table = td.example_table()
    answer, best = td.structural_em(table), td.best_network(table, "bic")
    assert best.network is not None
    assert td.EquivalenceClass(answer.network) == td.EquivalenceClass(best.network)
    assert answer.score == pytest.approx(best.score, abs=1e-6)
    assert [climb.start for climb in answer.climbs] == ["no edges"]


@pytest.mark.parametrize("kind", [td.BIC(), td.AIC()])
def test_scores_of_parts_are_so_many_times_those_of_rows(kind: td.BIC | td.AIC) -> None:
    table = td.example_table()
    more = td.Table.from_codes(table.names, table.codes, weights=64 * table.weights, states=table.states)
    whole, parts = td.best_network(table, kind), td.best_network(more, InParts(kind, 64))
    assert parts.score / 64 == pytest.approx(whole.score, abs=1e-8)
    assert parts.network == whole.network


@settings(max_examples=5)
@given(st.integers(0, 10_000))
def test_constraints_and_limits_on_parents_hold(seed: int) -> None:
    known = td.Constraints(required_edges=[("a", "b")], forbidden_edges=[("c", "d")], ancestors=[("c", "a")])
    answer = td.structural_em(table_with_gaps(seed), "aic", constraints=known, max_parents=2, draws=0)
    assert known.allows(answer.network)
    assert max(map(len, answer.network.parents.values())) <= 2


def test_what_no_network_satisfies_is_an_error() -> None:
    known = td.Constraints(required_edges=[("a", "b"), ("c", "b"), ("d", "b")])
    with pytest.raises(td.ConstraintError, match="at most 2 parents"):
        td.structural_em(table_with_gaps(0), constraints=known, max_parents=2)


def test_networks_can_be_given_to_begin_with() -> None:
    start = td.Network(NAMES, {"b": ["a"]})
    answer = td.structural_em(table_with_gaps(3), starts=[start], draws=0)
    assert "network 0 given" in [climb.start for climb in answer.climbs]
    turned = td.Network(NAMES[::-1], {"b": ["a"]})
    assert td.structural_em(table_with_gaps(3), starts=[turned], draws=0).climbs == answer.climbs
    with pytest.raises(td.ScoreError, match="variables of the table"):
        td.structural_em(table_with_gaps(3), starts=[td.Network(["a"], {})])
    with pytest.raises(td.ScoreError, match="list of Networks"):
        td.structural_em(table_with_gaps(3), starts=start)  # type: ignore[arg-type]


def test_the_answer_does_not_depend_on_threads() -> None:
    answers = [td.structural_em(table_with_gaps(7), threads=threads) for threads in (1, 2)]
    assert answers[0].fitted == answers[1].fitted and answers[0].climbs == answers[1].climbs


@pytest.mark.parametrize("seconds", [0, 3, 30, 200, 1000])
def test_when_the_time_is_up_the_best_so_far_is_the_answer(seconds: float) -> None:
    table = table_with_gaps(1)
    with counted_clock():
        answer = td.structural_em(table, time_limit=seconds)
    assert answer.limit == "time_limit" and "stopped by time limit" in answer.said
    assert answer.score == pytest.approx(observed_score(answer, table), abs=1e-8)
    assert not answer.proved


def test_without_time_no_network_is_made_up() -> None:
    known = td.Constraints(required_edges=[("a", "b")])
    with counted_clock(), pytest.raises(td.OutOfTime, match="no network was found yet"):
        td.structural_em(table_with_gaps(1), constraints=known, time_limit=0)


@pytest.mark.parametrize("at", [1, 4, 12])
def test_ctrl_c_carries_the_best_so_far(at: int) -> None:
    table, heard = table_with_gaps(2), []

    def press(progress: td.types.Progress) -> None:
        heard.append(progress.phase)
        if len(heard) == at:
            press_ctrl_c()

    with pytest.raises(td.Interrupted, match="local optimum") as raised:
        td.structural_em(table, on_progress=press)
    answer = raised.value.answer
    assert answer.score == pytest.approx(observed_score(answer, table), abs=1e-8)


@pytest.mark.parametrize(
    ("source", "kind", "why"),
    [
        (td.example_table(), "bdeu", "takes BIC"),
        ({"a": [0.5, 1.5, 2.5, None], "b": ["x", "y", "x", "y"]}, "bic", "discretize"),
        (td.Table({"a": [0, 1], "b": [0, 1]}, interventions=[[], ["a"]]), "bic", "experiments"),
    ],
)
def test_what_it_is_not_for_is_refused(source: Any, kind: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        td.structural_em(source, kind)


@pytest.mark.parametrize("wrong", [{"draws": -1}, {"seed": -1}, {"draws": True}])
def test_numbers_are_checked(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="must be a whole number"):
        td.structural_em(table_with_gaps(1), **wrong)


def test_a_limit_of_memory_is_kept() -> None:
    with pytest.raises(td.TooLarge, match="100 B"):
        td.structural_em(table_with_gaps(1), memory_limit=100)


def test_it_says_that_nothing_is_proved() -> None:
    answer = td.structural_em(table_with_gaps(5))
    text = str(answer)
    assert "a local optimum, not proved best" in text and "each step exact" in text
    assert all(climb.start in text for climb in answer.climbs)
    content = answer.to_dict()
    assert content["format"] == "topdag-structural-em" and len(content["climbs"]) == len(answer.climbs)
    assert "<svg" in answer._repr_html_()
