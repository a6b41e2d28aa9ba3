"""``Constraints`` as an object: what it holds, joins, writes and refuses; contradictions named in words."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topdag as td
from topdag.knowledge.closure import Closure
from topdag.knowledge.conflicts import smallest_conflict
from topdag.knowledge.rule_builders import edge

SOME = td.Constraints(
    required_edges=["a->b", ("b", "lung cancer")],
    forbidden_edges=[("*", "a")],
    required_adjacencies=["d--c"],
    forbidden_adjacencies=[("e", "a")],
    roots=["a"],
    leaves=["e"],
    max_parents={"*": 3, "c": 2},
    min_parents={"c": 1},
    exact_parents={"b": 1},
    tiers=[["a"], ["b", "c"]],
    precedence=[("a", "e")],
    allowed_parents={"c": ["a", "b", "d"]},
    fixed_parents={"b": ["a"]},
    allowed_parent_sets={"c": [["a"], ["b", "a"]]},
    ancestors=[("a", "c")],
    not_ancestors=[("e", "b")],
    rules=["if a->c then b->c", edge("d", "c") | edge("c", "d")],
)
NAMES = ("a", "b", "c", "d", "e", "lung cancer")


def test_written_and_read_back() -> None:
    for known in (
        SOME,
        td.Constraints(),
        td.rules.tan("a"),
        td.Constraints(tiers=[["x"], ["y"]], edges_within_tiers=False),
    ):
        assert td.Constraints.from_dict(json.loads(json.dumps(known.to_dict()))) == known
        assert pickle.loads(pickle.dumps(known)) == known
        assert hash(pickle.loads(pickle.dumps(known))) == hash(known)


@pytest.mark.parametrize(
    ("tiers", "same"),
    [
        ([["a"], ["*"]], [["a"], ["b", "c", "d"]]),
        ([["*"], ["d"]], [["a", "b", "c"], ["d"]]),
        ([["a"], ["*"], ["d"]], [["a"], ["b", "c"], ["d"]]),
        ([["a"], ["b", "*"]], [["a"], ["b", "c", "d"]]),
        ([["*"]], [["a", "b", "c", "d"]]),
        ([["group"], ["*"]], [["a", "c"], ["b", "d"]]),
        ([["a", "b"], ["c", "d"], ["*"]], [["a", "b"], ["c", "d"]]),
    ],
)
@pytest.mark.parametrize("within", [True, False])
def test_a_star_in_tiers_is_every_variable_in_no_other(
    tiers: list[list[str]], same: list[list[str]], within: bool
) -> None:
    names, groups = ["a", "b", "c", "d"], {"group": ["a", "c"]}
    one = td.Constraints(tiers=tiers, edges_within_tiers=within, groups=groups)
    other = td.Constraints(tiers=same, edges_within_tiers=within)
    for a in names:
        for b in names:
            if a != b:
                network = td.Network(names, {b: [a]})
                assert bool(one.violations(network)) == bool(other.violations(network))
    assert td.Constraints.from_dict(json.loads(json.dumps(one.to_dict()))) == one


def test_order_of_saying_does_not_matter() -> None:
    one = td.Constraints(required_edges=[("a", "b"), ("c", "d")], roots=["c", "a"], required_adjacencies=["a--x"])
    other = td.Constraints(required_edges=["c->d", "a->b", "a->b"], roots=("a", "c"), required_adjacencies=["x--a"])
    assert one == other and hash(one) == hash(other) and one != td.Constraints()


def test_in_words() -> None:
    lines = str(SOME).splitlines()
    assert 'required edges: a->b, b->"lung cancer"' in lines
    assert "tiers: (a) < (b, c)" in lines and "rule: if a->c then b->c" in lines
    assert "allowed parent sets of c: (a) | (a, b)" in lines and "fixed parents of b: (a)" in lines
    assert "max parents: * 3, c 2" in lines and "precedence: a before e" in lines and "ancestors: a of c" in lines
    assert str(td.Constraints()) == "no constraints" and not td.Constraints() and SOME
    assert repr(td.Constraints(roots=["a"])) == "<Constraints: roots: a>"


def test_joined() -> None:
    one, other = td.Constraints(max_parents=2, tiers=[["a"], ["b"]]), td.Constraints(roots=["c"], tiers=[["c"], ["a"]])
    both = one & other
    assert both == td.Constraints.from_dict(both.to_dict()) and len(both.tiers) == 2
    network = td.Network(["a", "b", "c"], {"a": ["b"], "c": ["a"]})
    assert set(both.violations(network)) == {*one.violations(network), *other.violations(network)}
    assert one & td.Constraints() == one
    with pytest.raises(td.ConstraintError, match="a->b is required, but a->b is forbidden"):
        td.Constraints(required_edges=["a->b"]) & td.Constraints(forbidden_edges=["a->b"])


def test_groups() -> None:
    grouped = td.Constraints(
        groups={"early": ["a", "b"]},
        forbidden_edges=[("*", "early")],
        max_parents={"early": 1},
        tiers=[["early"], ["c"]],
        rules=["early->c", "parents(early) == 0"],
    )
    plain = td.Constraints(
        forbidden_edges=["*->a", "*->b"],
        max_parents={"a": 1, "b": 1},
        tiers=[["a", "b"], ["c"]],
        rules=["a->c or b->c", "parents(a) == 0 and parents(b) == 0"],
    )
    assert grouped == plain
    with pytest.raises(td.ConstraintError, match="both a group and a variable"):
        grouped.allows(td.Network(["a", "b", "c", "early"], {}))


def test_violations_are_sentences() -> None:
    known = td.Constraints(
        required_edges=["a->b"], max_parents={"c": 1}, precedence=["c->a", ("d", "b")], rules=["b->c or c->d"]
    )
    network = td.Network(["a", "b", "c", "d"], {"c": ["a", "b"], "d": ["c"]})
    assert known.violations(network) == [
        "a->b is required",
        "c has at most 1 parent",
        "c must come before a",
        "d must come before b",
    ]
    across = td.Constraints(precedence=[("a", "b"), ("c", "d")])
    assert across.violations(td.Network(["a", "b", "c", "d"], {"c": ["b"], "a": ["d"]})) == [
        "no order of the variables agrees with the network and with all of precedence"
    ]


@pytest.mark.parametrize(
    ("given", "part"),
    [
        ({"required_edges": "a->b"}, "required_edges: give a list"),
        ({"required_edges": [("a",)]}, "is no pair"),
        ({"required_edges": [("a", "a")]}, "with itself"),
        ({"required_edges": ["a--b"]}, "write 'a->b'"),
        ({"required_edges": ["a->"]}, "character 4"),
        ({"roots": "a"}, "roots: give a list of names"),
        ({"roots": [1]}, "by its name"),
        ({"max_parents": -1}, "whole number"),
        ({"max_parents": {"a": 1.5}}, "whole number"),
        ({"max_parents": "3"}, "max_parents: give a list"),
        ({"tiers": ["ab"]}, "tiers: give a list of names"),
        ({"tiers": [["a"], ["a"]]}, "'a' can be in one tier only"),
        ({"tiers": [["*"], ["*"]]}, "'*' can be in one tier only"),
        ({"tiers": [["a"]], "edges_within_tiers": 1}, "True or False"),
        ({"allowed_parents": {"a": "b"}}, "allowed_parents: give a list of names"),
        ({"allowed_parents": ["ab"]}, "give a mapping"),
        ({"rules": [3]}, "neither a rule nor the text"),
        ({"rules": "a->"}, "character 4"),
        ({"groups": {"*": ["a"]}}, "call the group otherwise"),
        ({"groups": {"g": ["h"], "h": ["a"]}}, "which is a group"),
        ({"groups": {"g": ["a"]}, "rules": ["g->a"]}, "joins a group with itself"),
    ],
)
def test_what_cannot_be_understood(given: dict[str, Any], part: str) -> None:
    with pytest.raises(td.ConstraintError) as caught:
        td.Constraints(**given)
    assert part in str(caught.value)


@pytest.mark.parametrize(
    ("given", "conflict"),
    [
        ({"required_edges": ["smoke->lung"], "tiers": [["lung"], ["smoke"]]}, 2),
        ({"required_edges": ["a->b", "b->c", "x->y"], "precedence": ["c->a"]}, 3),
        ({"required_edges": ["a->b", "c->b", "d->b"], "max_parents": 2}, 4),
        ({"ancestors": ["a->b", "b->c"], "not_ancestors": ["a->c"]}, 3),
        ({"min_parents": {"a": 2}, "allowed_parent_sets": {"a": [["b"], []]}}, 2),
        ({"required_adjacencies": ["a--b"], "roots": ["a", "b"]}, 3),
        ({"rules": ["a->b or c->d", "not c->d"], "forbidden_edges": ["*->b"]}, 3),
        ({"rules": ["a->b and b->a"]}, 1),
        ({"precedence": ["a->b", "b->c", "c->a"], "roots": ["z"]}, 3),
    ],
)
def test_contradictions_are_reported_at_once(given: dict[str, Any], conflict: int) -> None:
    with pytest.raises(td.ConstraintError) as caught:
        td.Constraints(**given)
    assert len(caught.value.conflict) == conflict
    assert all(words in str(caught.value) for words in caught.value.conflict)


def test_what_shows_with_the_variables() -> None:
    table = td.Table({"a": ["0", "1"], "b": ["1", "0"], "c": ["0", "0"]}, keep_constant=True)
    for said in ({"min_parents": 1}, {"min_parents": {"a": 3}}, {"rules": ["not parents(*) <= 2"]}):
        known = td.Constraints(**said)
        with pytest.raises(td.ConstraintError):
            td.score(table, td.BDeu(), constraints=known)


KINDS = ("required_edges", "forbidden_edges", "precedence", "ancestors", "not_ancestors", "required_adjacencies")
pairs = st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd")).filter(lambda pair: pair[0] != pair[1])


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(KINDS), pairs), min_size=3, max_size=9))
def test_conflicts_are_smallest(said: list[tuple[str, tuple[str, str]]]) -> None:
    """Without any one of its statements a conflict is none."""
    joined: dict[str, list[tuple[str, str]]] = {}
    for kind, pair in said:
        joined.setdefault(kind, []).append(pair)
    try:
        td.Constraints(**joined)  # type: ignore[arg-type]
    except td.ConstraintError as error:
        parts = [td.Constraints(**{kind: [pair]}) for kind, pair in said]  # type: ignore[arg-type]
        statements = {s.words: s for part in parts for s in part.statements("abcd")}
        conflict = [statements[words] for words in error.conflict]
        assert smallest_conflict("abcd", conflict, is_open=True) == conflict
        for left in conflict:
            facts = [fact for statement in conflict if statement is not left for fact in statement.facts]
            assert Closure.of("abcd", facts, is_open=True) is not None
