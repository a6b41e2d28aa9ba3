"""Every kind of constraint in every question, against all networks of four variables."""

from __future__ import annotations

import math
import random
from functools import cache
from itertools import product
from typing import Any

import constraint_truth as truth
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topdag as td
from topdag.answers.results import Status

NAMES = ("a", "b", "c", "d")
FACTOR = 8.0
# How constraint_truth.py takes rules: with a function that says what they mean.
OR = ("a->b or d->c", lambda e: ("a", "b") in e or ("d", "c") in e)
IF = ("if b->a then parents(d) >= 2", lambda e: ("b", "a") not in e or len(truth.parents(e, "d")) >= 2)
NONE = ("not (a--b or c->*)", lambda e: not ({("a", "b"), ("b", "a")} & e or any(x == "c" for x, _ in e)))
OWN = ("parents(c) != 1 and (parents(c) == 0 or a->c)", lambda e: _own(truth.parents(e, "c")))
EACH = ("parents(?) == 0 or d->?", lambda e: all("d" in truth.parents(e, x) or not truth.parents(e, x) for x in "abc"))


def _own(parents: set[str]) -> bool:
    return len(parents) != 1 and (not parents or "a" in parents)


KINDS: dict[str, dict[str, Any]] = {
    "nothing": {},
    "required": {"required_edges": [("c", "a"), ("d", "b")]},
    "forbidden": {"forbidden_edges": [("a", "b"), ("b", "a"), ("a", "d")]},
    "adjacent": {"required_adjacencies": [("c", "d")]},
    "not adjacent": {"forbidden_adjacencies": [("a", "b")]},
    "roots": {"roots": ["b"]},
    "leaves": {"leaves": ["a"]},
    "at most": {"max_parents": 1},
    "at most, by name": {"max_parents": {"b": 0, "c": 1}},
    "at least": {"min_parents": {"a": 2}},
    "exactly": {"exact_parents": {"a": 1, "d": 2}},
    "tiers": {"tiers": [["c", "d"], ["a"]]},
    "closed tiers": {"tiers": [["c", "d"], ["a", "b"]], "edges_within_tiers": False},
    "an order": {"precedence": [("b", "a")]},
    "an order across": {"precedence": [("b", "a"), ("d", "c")]},
    "allowed parents": {"allowed_parents": {"b": ["c", "d"], "a": []}},
    "fixed parents": {"fixed_parents": {"b": ["c", "d"]}},
    "parent sets": {"allowed_parent_sets": {"b": [["c"], ["a", "c", "d"]]}},
    "ancestor": {"ancestors": [("d", "a")]},
    "ancestors": {"ancestors": [("d", "a"), ("c", "d")]},
    "no ancestor": {"not_ancestors": [("a", "b"), ("b", "a")]},
    "or": {"rules": [OR]},
    "if": {"rules": [IF]},
    "none": {"rules": [NONE]},
    "own": {"rules": [OWN]},
    "each": {"rules": [EACH]},
    "all at once": {"required_edges": [("c", "a")], "ancestors": [("d", "a")], "max_parents": 2, "rules": [OR]},
    "redundant": {"required_edges": [("c", "a")], "ancestors": [("c", "a")], "precedence": [("c", "a")]},
    "of no effect": {"max_parents": 3, "min_parents": 0, "rules": [("a->b or not a->b", lambda e: True)]},
    "only search can tell": {
        "rules": [
            ("a--b and b--c and a--c", lambda e: all({p, p[::-1]} & e for p in (("a", "b"), ("b", "c"), ("a", "c")))),
            ("not (a->b and b->c)", lambda e: not {("a", "b"), ("b", "c")} <= e),
            ("not (b->c and c->a)", lambda e: not {("b", "c"), ("c", "a")} <= e),
            ("not (c->a and a->b)", lambda e: not {("c", "a"), ("a", "b")} <= e),
            ("not (b->a and a->c)", lambda e: not {("b", "a"), ("a", "c")} <= e),
            ("not (a->c and c->b)", lambda e: not {("a", "c"), ("c", "b")} <= e),
            ("not (c->b and b->a)", lambda e: not {("c", "b"), ("b", "a")} <= e),
        ]
    },
}


def table_of(seed: int) -> td.Table:
    draw = np.random.default_rng(seed)
    first = draw.integers(0, 2, 30)
    columns = {
        "a": first,
        "b": np.where(draw.random(30) < 0.8, first, 1 - first),
        "c": draw.integers(0, 3, 30),
        "d": np.where(draw.random(30) < 0.6, first, draw.integers(0, 2, 30)),
    }
    return td.Table({name: [str(v) for v in own] for name, own in columns.items()})


@cache
def every_network() -> tuple[td.Network, ...]:
    found = []
    for masks in product(*[[m for m in range(16) if not m >> x & 1] for x in range(4)]):
        try:
            found.append(td.Network.from_masks(NAMES, masks))
        except td.NetworkError:
            continue
    assert len(found) == 543
    return tuple(found)


def constraints(given: dict[str, Any]) -> td.Constraints:
    return td.Constraints(**{**given, "rules": [text for text, _ in given.get("rules", ())]})


def best_first(scores: td.types.Scores, given: dict[str, Any]) -> list[tuple[float, td.Network]]:
    """All networks that obey, with their scores."""
    found = [(scores.of(g), g) for g in every_network() if truth.obeys(set(g.edges), NAMES, **given)]
    return sorted(found, key=lambda item: -item[0])


def check_questions(scores: td.types.Scores, given: dict[str, Any], ks: tuple[int, ...] = (1, 5, 600)) -> None:
    every = best_first(scores, given)
    values, networks = [value for value, _ in every], {g for _, g in every}
    answer = td.best_network(scores)
    if not every:
        assert answer.network is None and answer.proof.status is Status.INFEASIBLE
        for found in (td.k_best_networks(scores, 3), td.networks_within(scores, FACTOR)):
            assert len(found) == 0 and found.proof.status is Status.INFEASIBLE
        return
    assert answer.proof.status is Status.PROVED and answer.network in networks
    assert answer.score == pytest.approx(values[0], abs=1e-7)
    for k in ks:
        top = td.k_best_networks(scores, k)
        assert top.proof.status is Status.PROVED and len(top) == min(k, len(every)) == len(set(top))
        assert set(top) <= networks
        assert [g.score for g in top] == pytest.approx(values[:k], abs=1e-7)
    near = td.networks_within(scores, FACTOR)
    reached = [g for value, g in every if value >= values[0] - math.log(FACTOR) - 1e-9]
    assert set(near) == set(reached) and len(near) == len(reached) == td.count_networks_within(scores, FACTOR)
    assert set(td.iter_networks_within(scores, FACTOR)) == set(reached)
    for most in {1, len(reached) - 1, len(reached), len(reached) + 1} - {0}:
        some = td.networks_within(scores, FACTOR, at_most=most)
        assert [g.score for g in some] == pytest.approx(values[: min(most, len(reached))], abs=1e-7)
        assert set(some) <= set(reached)
    classes = {td.EquivalenceClass(g) for g in reached}
    for most in (len(classes), len(classes) + 1):
        assert set(td.classes_within(scores, FACTOR, at_most=most)) == classes
    assert set(td.classes_within(scores, FACTOR)) == classes
    assert td.count_classes_within(scores, FACTOR) == len(classes)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(2))
def test_questions_are_about_networks_that_obey(kind: str, seed: int) -> None:
    scores = td.score(table_of(seed), td.BDeu() if seed else td.BIC(), constraints=constraints(KINDS[kind]))
    check_questions(scores, KINDS[kind])


@pytest.mark.parametrize("kind", KINDS)
def test_allows_means_the_same(kind: str) -> None:
    known = constraints(KINDS[kind])
    for network in every_network():
        is_allowed = truth.obeys(set(network.edges), NAMES, **KINDS[kind])
        assert known.allows(network) == is_allowed == (not known.violations(network))


@pytest.mark.parametrize("kind", [name for name in KINDS if name not in ("only search can tell", "nothing")])
def test_k_best_classes(kind: str) -> None:
    scores = td.score(table_of(3), td.BDeu(), constraints=constraints(KINDS[kind]))
    values = {td.EquivalenceClass(g): value for value, g in best_first(scores, KINDS[kind])}
    top = td.k_best_classes(scores, 4)
    assert [c.score for c in top] == pytest.approx(sorted(values.values(), reverse=True)[:4], abs=1e-7)
    assert set(top) <= set(values)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.lists(st.sampled_from(sorted(KINDS)), min_size=2, max_size=3, unique=True))
def test_constraints_joined(seed: int, kinds: list[str]) -> None:
    """A contradiction is reported only where no network obeys."""
    try:
        joined = td.Constraints()
        for kind in kinds:
            joined &= constraints(KINDS[kind])
        scores = td.score(table_of(seed), td.BDeu(), constraints=joined)
    except td.ConstraintError:
        assert not any(all(truth.obeys(set(g.edges), NAMES, **KINDS[k]) for k in kinds) for g in every_network())
        return
    everything = {"rules": [("", lambda e: all(truth.obeys(e, NAMES, **KINDS[kind]) for kind in kinds))]}
    check_questions(scores, everything, ks=(random.Random(seed).choice([1, 3, 40]),))


@pytest.mark.parametrize("kind", ["required", "an order across", "ancestor", "or", "own"])
@pytest.mark.parametrize("prior", [td.FairPrior(), td.EdgePrior({("a", "b"): 2.0}, default=-0.3)], ids=["fair", "edge"])
def test_with_a_prior(kind: str, prior: Any) -> None:
    scores = td.score(table_of(5), td.BDeu(), constraints=constraints(KINDS[kind]))
    values = sorted((value + prior.log_weight(g) for value, g in best_first(scores, KINDS[kind])), reverse=True)
    assert td.best_network(scores, prior=prior).score == pytest.approx(values[0], abs=1e-7)
    assert list(td.k_best_networks(scores, 9, prior=prior).scores) == pytest.approx(values[:9], abs=1e-7)


def test_what_is_not_understood_is_refused() -> None:
    scores = td.score(table_of(0), td.BDeu(), constraints=td.Constraints(ancestors=[("d", "a")]))
    for ask in (
        lambda: td.best_network(scores, prior=td.OrderModular()),
        lambda: td.k_best_networks(scores, 2, prior=td.OrderModular()),
        lambda: td.search_networks(scores, 2),
        lambda: td.edge_alternatives(scores),
        lambda: scores.family_bound("a", ["d"]),
    ):
        with pytest.raises(td.ConstraintError, match="d is an ancestor of a"):
            ask()
    with pytest.raises(td.ScoreError, match="engine does not go"):
        td.best_network(scores, engine="block lattice")
