"""Rules across variables and their text form: what they mean, how they are read, and where reading stops."""

from __future__ import annotations

from collections.abc import Mapping, Set

import numpy as np
import pytest
import reference
from hypothesis import example, given, settings
from hypothesis import strategies as st

import topdag as td
from topdag.constrained.literals import broken_clauses
from topdag.knowledge.compiled import Rest
from topdag.knowledge.facts import Satisfies
from topdag.knowledge.normal_form import holds, normal_form
from topdag.knowledge.rule_builders import adjacent, edge, n_parents
from topdag.knowledge.rules import (
    COMPARISONS,
    MOST_PARENTS,
    Adjacent,
    AllOf,
    AnyOf,
    Edge,
    IfThen,
    Not,
    NumberOfParents,
    Rule,
)

NAMES = ["a", "b", "lung cancer", "if", "é.2", 'quo"te', "back\\slash", "*", "new\nline"]
names = st.sampled_from(NAMES)
pairs = st.tuples(names, names).filter(lambda pair: pair[0] != pair[1] or pair[0] == "*")
atoms = st.one_of(
    pairs.map(lambda pair: Edge(*pair)),
    pairs.map(lambda pair: Adjacent(*pair)),
    st.builds(
        NumberOfParents, names, st.sampled_from(["<=", "<", ">=", ">", "==", "!="]), st.integers(0, MOST_PARENTS)
    ),
)


def joined(parts: st.SearchStrategy[Rule]) -> st.SearchStrategy[Rule]:
    several = st.lists(parts, min_size=2, max_size=3).map(tuple)
    return st.one_of(several.map(AllOf), several.map(AnyOf), parts.map(Not), st.builds(IfThen, parts, parts))


rules = st.recursive(atoms, joined, max_leaves=12)


@given(rules)
def test_what_is_written_is_read_back(rule: Rule) -> None:
    assert td.rules.parse_rule(str(rule)) == rule


@settings(max_examples=300)
@given(st.text(alphabet='ab->< \t-()"\\*?ifthenorandnotparents=!0123456789.é\n', max_size=40))
@example("(" * 5000)
@example("not " * 5000 + "a->b")
@example("if a->b then " * 3000)
@example("parents(a) <= " + "9" * 5000)
@example("a->b or " * 2000 + "a->b")
def test_any_text_is_read_or_refused_with_a_place(text: str) -> None:
    try:
        rule = td.rules.parse_rule(text)
    except td.ConstraintError as error:
        lines = str(error).split("\n")
        assert lines[0].startswith("Rule, character ") and lines[-1].strip() == "^" and len(lines) == 3
        place = int(lines[0].split()[2].rstrip(":"))
        assert 1 <= place <= len(text) + 1
        return
    assert td.rules.parse_rule(str(rule)) == rule


@given(rules, st.data())
def test_damaged_texts(rule: Rule, data: st.DataObject) -> None:
    text = str(rule)
    at = data.draw(st.integers(0, len(text) - 1))
    for damaged in (text[:at] + text[at + 1 :], text[:at] + data.draw(st.characters()) + text[at:], text[:at]):
        test_any_text_is_read_or_refused_with_a_place.hypothesis.inner_test(damaged)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "place", "expected"),
    [
        ("a->b or", 8, "expected an edge"),
        ("a->b c->d", 6, "expected 'and', 'or' or the end"),
        ("a-b", 2, "'-' has no meaning"),
        ("(a->b", 6, "expected ')'"),
        ("parents(a) 2", 12, "expected a comparison"),
        ("parents(a) <= b", 15, "expected a whole number"),
        ("parents a", 9, "expected '('"),
        ("if a->b", 8, "expected 'then'"),
        ("a->a", 1, "not 'a' with itself"),
        ('a->"', 4, "a quote that is not closed"),
        ('a->""', 4, "at least one letter"),
        ("a->or", 4, "expected a name"),
        ("", 1, "the text ends"),
    ],
)
def test_errors_point_at_the_place(text: str, place: int, expected: str) -> None:
    with pytest.raises(td.ConstraintError) as caught:
        td.rules.parse_rule(text)
    lines = str(caught.value).split("\n")
    assert lines[0].startswith(f"Rule, character {place}:") and expected in lines[0]
    assert lines[2].index("^") == 2 + place - 1


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("smoke->lung or not asia->dysp", td.any_of([edge("smoke", "lung"), td.not_(edge("asia", "dysp"))])),
        ("lung <- smoke", edge("smoke", "lung")),
        ("parents(lung) = 2", n_parents("lung") == 2),
        ("parents(lung) < 2", n_parents("lung") < 2),
        ("a--b and c->d", td.all_of([adjacent("a", "b"), edge("c", "d")])),
        ("a->b and c->d or e->f", (edge("a", "b") & edge("c", "d")) | edge("e", "f")),
        ("not a->b and c->d", ~edge("a", "b") & edge("c", "d")),
        ("if a->b then c->d or e->f", td.if_then(edge("a", "b"), edge("c", "d") | edge("e", "f"))),
        ("not (a->b or a->c)", td.none_of([edge("a", "b"), edge("a", "c")])),
        ('"lung cancer"->"if"', edge("lung cancer", "if")),
    ],
)
def test_text_and_functions_say_the_same(text: str, rule: Rule) -> None:
    assert td.rules.parse_rule(text) == rule


def test_what_rules_mean() -> None:
    parents = {"a": set(), "b": {"a"}, "c": {"a", "b"}}
    for text, is_so in {
        "a->b": True,
        "b->a": False,
        "b--a": True,
        "parents(c) == 2": True,
        "parents(c) != 2": False,
        "parents(c) > 1 and parents(b) >= 1": True,
        "if a->b then c->a": False,
        "if b->a then c->a": True,
        "b->a or not c->b": True,
    }.items():
        assert rule_holds(td.rules.parse_rule(text), parents) is is_so, text


def rule_holds(rule: Rule, parents: Mapping[str, Set[str]]) -> bool:  # noqa: PLR0911
    """What a rule means, read off as it is written."""
    match rule:
        case Edge(parent, child):
            return parent in parents[child]
        case Adjacent(one, other):
            return one in parents[other] or other in parents[one]
        case NumberOfParents(variable, comparison, number):
            return COMPARISONS[comparison](len(parents[variable]), number)
        case AllOf(parts):
            return all(rule_holds(part, parents) for part in parts)
        case AnyOf(parts):
            return any(rule_holds(part, parents) for part in parts)
        case Not(part):
            return not rule_holds(part, parents)
        case IfThen(condition, consequence):
            return not rule_holds(condition, parents) or rule_holds(consequence, parents)
    raise AssertionError(rule)


THREE = ("a", "b", "c")
NETWORKS_OF_THREE = list(map(tuple, reference.all_networks(3)))
edges_of_three = st.permutations(THREE).map(lambda order: order[:2])
atoms_of_three = st.one_of(
    edges_of_three.map(lambda pair: Edge(*pair)),
    edges_of_three.map(lambda pair: Adjacent(*pair)),
    st.builds(NumberOfParents, st.sampled_from(THREE), st.sampled_from(sorted(COMPARISONS)), st.integers(0, 3)),
)


@given(st.recursive(atoms_of_three, joined, max_leaves=8))
def test_the_normal_form_means_the_same(rule: Rule) -> None:
    """In every network; where it is broken, a clause of it is too, which networks that satisfy it do not break."""
    place = {name: v for v, name in enumerate(THREE)}
    formula, opposite = normal_form(rule, place), normal_form(rule, place, wanted=False)
    rest = Rest((), (), (), (Satisfies(formula),))
    for masks in NETWORKS_OF_THREE:
        parents = {name: {THREE[v] for v in range(3) if mask >> v & 1} for name, mask in zip(THREE, masks, strict=True)}
        is_so = rule_holds(rule, parents)
        assert holds(formula, masks) is is_so
        assert holds(opposite, masks) is not is_so
        clauses = broken_clauses(rest, masks)
        assert len(clauses) == (not is_so)
        assert not any(holds(literal, masks) for clause in clauses for literal in clause)
        for other in NETWORKS_OF_THREE if clauses else ():
            assert not holds(formula, other) or any(holds(literal, other) for literal in clauses[0])


@given(st.recursive(atoms_of_three, joined, max_leaves=8))
def test_constraints_with_a_rule_allow_what_satisfies_it(rule: Rule) -> None:
    """Also once compiled, whatever of it became a matter of single families."""
    allowed = {masks for masks in NETWORKS_OF_THREE if rule_holds(rule, td.Network.from_masks(THREE, masks).parents)}
    try:
        known = td.Constraints(rules=[rule])
        compiled = known.compiled(THREE, range(3))
    except td.ConstraintError:
        assert not allowed
        return
    assert {masks for masks in NETWORKS_OF_THREE if compiled.allows(masks)} == allowed
    every = compiled.admit(np.array(NETWORKS_OF_THREE, dtype=np.uint64))
    assert {masks for masks, is_allowed in zip(NETWORKS_OF_THREE, every, strict=True) if is_allowed} == allowed


def test_rules_are_made_of_texts_too() -> None:
    assert td.any_of(["a->b", edge("c", "d")]) == td.any_of([edge("a", "b"), edge("c", "d")])
    assert td.if_then("a->b", td.not_("c->d")) == td.rules.parse_rule("if a->b then not c->d")


def test_what_is_no_rule() -> None:
    for make in (
        lambda: td.any_of([]),
        lambda: td.any_of([3]),  # type: ignore[list-item]
        lambda: td.not_("a->"),
        lambda: edge("a", "a"),
        lambda: edge("", "a"),
        lambda: n_parents("a") <= -1,
        lambda: n_parents("a") <= 1.5,  # type: ignore[operator]
        lambda: n_parents(3) <= 1,  # type: ignore[arg-type]
        lambda: td.rules.parse_rule(3),  # type: ignore[arg-type]
    ):
        with pytest.raises(td.ConstraintError):
            make()
    with pytest.raises(TypeError, match="neither true nor false"):
        bool(edge("a", "b"))
