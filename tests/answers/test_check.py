"""Checks by second formulas: they agree with the first ones and the reference, and notice what is tampered with."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import ALL_CASES, BDE, Case, families, table_of, tables

import topdag as td
from topdag.answers.check import check_claims, check_network, local_by_definition, regret
from topdag.scoring.kinds.discrete import ScoreKind

every_case = pytest.mark.parametrize("case", ALL_CASES, ids=repr)
KINDS = [td.BDeu(), td.BIC(), td.AIC(), td.K2(), td.fNML(), td.qNML(), td.BDs()]


@every_case
@settings(max_examples=25)
@given(st.data())
def test_second_formulas_agree_with_the_first_and_the_reference(case: Case, data: st.DataObject) -> None:
    cells = {"most_cells": 120} if case is BDE else {}
    drawn = tables(variables=(2, 4), rows=(1, 3, 20, 100), weights=((1,), (1, 2, 17)), **cells)
    table = data.draw(drawn)
    kind = case.make(table)
    truth, scores = case.truth(table, kind), td.score(table, kind)
    for x, mask in families(table.n_variables):
        parents = tuple(table.names[p] for p in reference.members(mask))
        value = local_by_definition(table, kind, table.names[x], parents)
        assert value == pytest.approx(truth(x, mask), rel=1e-9, abs=1e-8)
        assert value == pytest.approx(scores.local(table.names[x], parents), rel=1e-9, abs=1e-8)


@every_case
@settings(max_examples=8)
@given(st.data())
def test_answers_are_found_fine(case: Case, data: st.DataObject) -> None:
    cells = {"most_cells": 120} if case is BDE else {}
    weights = ((1,), (1, 2, 17), (1, 5000)) if "NML" in case.name else ((1,), (1, 2, 17), (1, 5000, 100_000))
    table = data.draw(tables(variables=(2, 5), most_states=3, rows=(1, 3, 20, 100), weights=weights, **cells))
    kind = case.make(table)
    scores = td.score(table, kind)
    for answer in (td.best_network(scores), td.best_network(scores, time_limit=0)):
        check = check_network(answer.network, table, kind)
        assert check.is_fine, check.problems
        assert check.claimed == answer.score
        content = json.loads(json.dumps(answer.to_dict()))
        assert check_claims(content, check.score) == ()


@pytest.mark.parametrize("ess", [1e-100, 1e-5, 1.0, 1e4, 1e7, 1e9])
@pytest.mark.parametrize("kind", [td.BDeu, td.BDs])
def test_right_answers_are_fine_for_every_ess(kind: type, ess: float) -> None:
    """A check that loses digits would accuse the innocent."""
    rng = np.random.default_rng(1)
    for weights in ([1] * 200, [*rng.integers(1, 60_000, 200)]):
        table = table_of(rng.integers(0, 3, (5, 200)), [3] * 5, weights)
        answer = td.best_network(td.score(table, kind(ess)))
        assert check_network(answer.network, table, kind(ess)).problems == ()


@pytest.mark.parametrize("n", [1, 2, 5, 50, 200])
@pytest.mark.parametrize("k", [1, 2, 3, 10, 1000])
def test_the_second_regret(n: int, k: int) -> None:
    assert regret(n, k) == pytest.approx(reference.regret(n, k), rel=1e-11, abs=1e-11)


def test_the_regret_of_very_many_rows_ends() -> None:
    """About half of ln(n pi / 2) for two states."""
    assert regret(4_000_000_000, 2) == pytest.approx(math.log(4e9 * math.pi / 2) / 2, abs=1e-4)


# ---- Tampering


def told(answer: td.types.Answer) -> dict:
    return json.loads(json.dumps(answer.to_dict()))


@pytest.mark.parametrize("kind", KINDS, ids=repr)
def test_another_network_with_the_same_claims_is_noticed(kind: ScoreKind) -> None:
    table = td.example_table()
    answer = td.best_network(td.score(table, kind))
    child = next(name for name, parents in answer.network.parents.items() if parents)
    parents = {**answer.network.parents, child: answer.network.parents[child][1:]}
    forged = td.Network(table.names, parents, answer.network.local_scores)
    check = check_network(forged, table, kind)
    assert not check.is_fine
    assert any(problem.startswith(f"{child}: the answer says") for problem in check.problems)
    assert any(problem.startswith("total: the answer says") for problem in check.problems)


@pytest.mark.parametrize("kind", KINDS, ids=repr)
@pytest.mark.parametrize("change", [1e-4, -1e-4, 5.0])
def test_a_changed_local_score_is_noticed(kind: ScoreKind, change: float) -> None:
    table = td.example_table()
    network = td.best_network(td.score(table, kind)).network
    for name in network.names:
        scores = {**network.local_scores, name: network.local_scores[name] + change}
        problems = check_network(td.Network(network.names, network.parents, scores), table, kind).problems
        assert [problem.split(":")[0] for problem in problems] == [name, "total"]


def test_changes_that_cancel_are_noticed() -> None:
    table = td.example_table()
    network = td.best_network(table, "bdeu").network
    scores = dict(network.local_scores)
    scores["lung"] += 1.0
    scores["xray"] -= 1.0
    problems = check_network(td.Network(network.names, network.parents, scores), table, td.BDeu()).problems
    assert [problem.split(":")[0] for problem in problems] == ["lung", "xray"]


def test_another_score_or_table_is_noticed() -> None:
    table = td.example_table()
    network = td.best_network(table, "bdeu").network
    assert not check_network(network, table, td.BDeu(1.01)).is_fine
    assert not check_network(network, table, td.BIC()).is_fine
    assert not check_network(network, td.example_table(seed=2), td.BDeu()).is_fine
    with pytest.raises(td.FileError, match="only the table has 'V0', 'V1'"):
        check_network(network, table_of(np.array([[0, 1], [1, 1]]), [2, 2]), td.BDeu())


def test_a_network_without_scores_has_nothing_to_compare() -> None:
    check = check_network(td.example_network().network, td.example_table(), td.BIC())
    assert check.is_fine
    assert check.claimed is None
    assert check.score == pytest.approx(td.score(td.example_table(), td.BIC()).of(td.example_network().network))


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"score": -1.0}, "score: the answer says"),
        ({"bound": -1e6}, "is below the score"),
        ({"bound": -1000.0}, "is not the bound less the score"),
        ({"gap": 1.0}, "is not the bound less the score"),
        ({"gap": 1e-3, "bound": "score+gap"}, "PROVED with a gap"),
        ({"gap": None}, "gap is None, not a number"),
        ({"bound": "high"}, "bound is 'high', not a number"),
        ({"score": True}, "score is True, not a number"),
        ({"status": "CERTAIN"}, "no proof with a status"),
        ({"status": None}, "no proof with a status"),
        ({"proof": None}, "no proof with a status"),
        ({"proof": []}, "no proof with a status"),
    ],
    ids=str,
)
def test_claims_that_do_not_hang_together(change: dict, part: str) -> None:
    answer = td.best_network(td.example_table())
    content = told(answer)
    assert check_claims(content, answer.score) == ()
    for key, value in change.items():
        claimed = content["score"] + content["proof"]["gap"] if value == "score+gap" else value
        (content if key in ("score", "proof") else content["proof"])[key] = claimed
    problems = check_claims(content, answer.score)
    assert any(part in problem for problem in problems), problems


def test_a_stopped_answer_may_lack_infinite_numbers() -> None:
    scores = td.score(td.example_table(), td.CustomScore(lambda family: -1.0))
    answer = td.best_network(scores, time_limit=0)
    assert told(answer)["proof"]["bound"] is None
    assert check_claims(told(answer), answer.score) == ()


def test_other_variables_are_named_with_where_they_are() -> None:
    network = td.Network(["lung", "heart"], {})
    table = td.Table({"lung": [0, 1], "<b>": [1, 0]})
    with pytest.raises(td.FileError, match="only the network has 'heart' and only the table has '<b>'"):
        check_network(network, table, td.BIC())
