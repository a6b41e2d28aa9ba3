"""Whatever the number of variables and the form of the scores: no answer leaves the space that it states."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest
from given_sizes import AS_LISTS, give_sizes
from strategies import sampled_table

import topdag as td
from topdag.scoring.kinds.discrete import ScoreKind

SIZES = (6, 20, 21, 22, 23, 24)
"""Scores of all sets, as set functions or family by family, and lists: the form changes between these."""
BEYOND_TWO: dict[str, dict[str, Any]] = {
    "required": {"required_edges": [("V1", "V0"), ("V2", "V0"), ("V3", "V0")]},
    "fixed": {"fixed_parents": {"V0": ["V1", "V2", "V3"]}},
    "number": {"min_parents": {"V0": 3}},
    "exact": {"exact_parents": {"V0": 3}},
    "among": {"allowed_parent_sets": {"V0": [["V1", "V2", "V3"], ["V2", "V3", "V4"]]}},
    "rule": {"rules": ["parents(V0) >= 3"]},
    "rules": {"rules": ["V1->V0 and V2->V0", "V3->V0 or V4->V0"]},
}
WITHIN_TWO: dict[str, dict[str, Any]] = {
    "nothing": {},
    "forbidden": {"forbidden_edges": [("V0", "V1"), ("V2", "V3")]},
    "required": {"required_edges": [("V1", "V0"), ("V2", "V0")]},
    "number": {"min_parents": {"V0": 2}},
    "rule": {"rules": ["V1->V0 or V2->V0", "parents(V3) <= 1"]},
    "path": {"ancestors": [("V1", "V0")], "not_ancestors": [("V3", "V4")]},
}


def table_of(n: int, rows: int = 40) -> td.Table:
    return td.random_network(n, seed=n).sample(rows, seed=n)


@pytest.mark.parametrize("known", BEYOND_TWO)
@pytest.mark.parametrize("kind", [td.BIC(), td.BDeu()], ids=str)
def test_more_parents_than_allowed_are_refused_alike_at_all_sizes(known: str, kind: ScoreKind) -> None:
    constraints = td.Constraints(**BEYOND_TWO[known])
    for n in SIZES:
        with pytest.raises(td.ConstraintError, match=r"'V0' .* with at most 2 parents each"):
            td.score(table_of(n), kind, max_parents=2, constraints=constraints)


@pytest.mark.parametrize("known", BEYOND_TWO)
@pytest.mark.parametrize("keep", [None, "best", "all", td.Within(3), td.KBest(3)], ids=str)
@pytest.mark.parametrize("kind", [td.BIC(), td.AIC(), td.BDeu(), td.K2()], ids=str)
def test_and_in_all_forms(known: str, keep: Any, kind: ScoreKind, monkeypatch: pytest.MonkeyPatch) -> None:
    give_sizes(monkeypatch, **AS_LISTS)
    with pytest.raises(td.ConstraintError, match=r"'V0' .* with at most 2 parents each"):
        td.score(
            sampled_table(6, 40, 1), kind, max_parents=2, keep=keep, constraints=td.Constraints(**BEYOND_TWO[known])
        )


def networks_of(scores: td.types.Scores) -> Iterator[td.Network]:
    best = td.best_network(scores).network
    assert best is not None
    yield best
    yield from td.k_best_networks(scores, 3)


@pytest.mark.parametrize("known", WITHIN_TWO)
@pytest.mark.parametrize("n", [6, 21, 24])
def test_every_network_is_in_the_space(n: int, known: str) -> None:
    constraints = td.Constraints(**WITHIN_TWO[known])
    scores = td.score(table_of(n, rows=150), td.BIC(), max_parents=2, constraints=constraints)
    for network in networks_of(scores):
        assert max(len(own) for own in network.parents.values()) <= 2
        assert constraints.allows(network)


@pytest.mark.parametrize("known", WITHIN_TWO)
@pytest.mark.parametrize("n", SIZES)
def test_every_family_is_in_the_space(n: int, known: str) -> None:
    constraints = td.Constraints(**WITHIN_TWO[known])
    scores = td.score(table_of(n), td.BIC(), max_parents=2, constraints=constraints)
    assert all(len(parents) <= 2 for name in scores.names for parents, _ in scores.families(name))
    assert all(set(parents) >= {"V1", "V2"} for parents, _ in scores.families("V0")) or known != "required"


@pytest.mark.parametrize("n", SIZES)
def test_no_network_has_a_family_outside_the_space(n: int) -> None:
    table = table_of(n)
    scores = td.score(table, td.BIC(), max_parents=2)
    assert scores.family_bound("V0", ["V1", "V2", "V3"]) == -math.inf
    assert -math.inf < scores.family_bound("V0", ["V1", "V2"]) < 0
    known = td.Constraints(forbidden_edges=[("V1", "V0")], max_parents={"V3": 1}, required_edges=[("V4", "V5")])
    limited = td.score(table, td.BIC(), constraints=known)
    for child, parents in (("V0", ["V1"]), ("V3", ["V1", "V2"]), ("V5", ["V1"]), ("V5", [])):
        assert limited.family_bound(child, parents) == -math.inf
    assert limited.family_bound("V5", ["V4"]) > -math.inf
