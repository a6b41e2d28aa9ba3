"""Functions that make rules, of others or of their texts.

>>> print(if_then("smoke->lung", not_("asia->dysp")))
if smoke->lung then not asia->dysp
>>> print(any_of([edge("a", "b"), n_parents("c") <= 2]))
a->b or parents(c) <= 2
"""

from __future__ import annotations

from collections.abc import Iterable

from topdag.errors import ConstraintError
from topdag.knowledge.rule_parser import parse_rule
from topdag.knowledge.rules import (
    ANY_NAME,
    Adjacent,
    AllOf,
    AnyOf,
    Edge,
    IfThen,
    Not,
    NumberOfParents,
    Rule,
    checked_count,
    only_or,
)


class ParentsOf:
    """The number of parents of a variable, to be compared: ``n_parents("lung") <= 2``."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, variable: str) -> None:
        self.variable = _checked_name(variable)

    def __le__(self, number: int) -> Rule:
        return self._compared("<=", number)

    def __lt__(self, number: int) -> Rule:
        return self._compared("<", number)

    def __ge__(self, number: int) -> Rule:
        return self._compared(">=", number)

    def __gt__(self, number: int) -> Rule:
        return self._compared(">", number)

    def __eq__(self, number: object) -> Rule:  # type: ignore[override]
        return self._compared("==", number)

    def __ne__(self, number: object) -> Rule:  # type: ignore[override]
        return self._compared("!=", number)

    def _compared(self, comparison: str, number: object) -> Rule:
        return NumberOfParents(self.variable, comparison, checked_count(number, f"parents({self.variable})"))


def edge(parent: str, child: str) -> Rule:
    """The rule that there is an edge from ``parent`` to ``child``."""
    return Edge(*_checked_pair(parent, child))


def adjacent(one: str, other: str) -> Rule:
    """The rule that there is an edge between the two, in one direction or the other."""
    return Adjacent(*_checked_pair(one, other))


def n_parents(variable: str) -> ParentsOf:
    """The number of parents of a variable, to be compared: ``n_parents("lung") <= 2`` is a rule."""
    return ParentsOf(variable)


def any_of(rules: Iterable[Rule | str]) -> Rule:
    """At least one of these rules holds."""
    return only_or(AnyOf, _checked_rules(rules))


def all_of(rules: Iterable[Rule | str]) -> Rule:
    """Every one of these rules holds."""
    return only_or(AllOf, _checked_rules(rules))


def none_of(rules: Iterable[Rule | str]) -> Rule:
    """None of these rules holds."""
    return Not(any_of(rules))


def not_(rule: Rule | str) -> Rule:
    """This rule does not hold."""
    return Not(_checked_rules([rule])[0])


def if_then(condition: Rule | str, consequence: Rule | str) -> Rule:
    """Where the condition holds, the consequence does."""
    return IfThen(*_checked_rules([condition, consequence]))


def _checked_name(name: object) -> str:
    if not isinstance(name, str) or not name:
        raise ConstraintError(f"A variable is given by its name, not by {name!r}.")
    return name


def _checked_pair(one: object, other: object) -> tuple[str, str]:
    pair = _checked_name(one), _checked_name(other)
    if pair[0] == pair[1] != ANY_NAME:
        raise ConstraintError(f"An edge joins two variables, not {pair[0]!r} with itself.")
    return pair


def _checked_rules(rules: Iterable[Rule | str] | Rule) -> list[Rule]:
    listed = [rules] if isinstance(rules, Rule | str) or not isinstance(rules, Iterable) else list(rules)
    if not listed:
        raise ConstraintError("any_of, all_of and none_of need at least one rule.")
    return [_checked_rule(rule) for rule in listed]


def _checked_rule(rule: object) -> Rule:
    if isinstance(rule, str):
        return parse_rule(rule)
    if not isinstance(rule, Rule):
        raise ConstraintError(f'A rule is a text such as "a->b" or "parents(a) <= 2", or made of such, not {rule!r}.')
    return rule
