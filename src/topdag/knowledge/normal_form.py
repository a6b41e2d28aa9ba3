"""Rules in negation normal form: and, or, and literals about one variable's parents, by the variables' places.

A rule is brought into this form once, when the variables are known. All that reads it later is a fold over it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import numpy as np

from topdag._util.arrays import Marks, Masks
from topdag._util.bitsets import bits, meets, sizes_of
from topdag.knowledge.rules import COMPARISONS, Adjacent, AllOf, AnyOf, Edge, IfThen, Not, NumberOfParents, Rule

T = TypeVar("T")

OPPOSITES = {"<=": ">", ">": "<=", "<": ">=", ">=": "<", "==": "!=", "!=": "=="}


@dataclass(frozen=True)
class ParentAmong:
    """Some of ``variables`` (a mask) is a parent of ``child``; with ``negated``, none is."""

    child: int
    variables: int
    negated: bool = False

    def holds(self, parents: int, count: int) -> bool:
        """With these parents of the child, and so many in all."""
        return bool(parents & self.variables) is not self.negated

    def admit(self, masks: Masks) -> Marks:
        """Of many parent sets of the child, those with which it holds."""
        return meets(masks, self.variables) ^ self.negated

    @property
    def opposite(self) -> ParentAmong:
        return ParentAmong(self.child, self.variables, not self.negated)

    @property
    def holds_with_fewer(self) -> bool:
        """Whether it still holds with fewer parents, wherever it does."""
        return self.negated


@dataclass(frozen=True)
class ParentCount:
    """The number of parents of ``child`` compares so with ``number``."""

    child: int
    comparison: str
    number: int

    def admits(self, count: int) -> bool:
        return COMPARISONS[self.comparison](count, self.number)

    def holds(self, parents: int, count: int) -> bool:
        return self.admits(count)

    def admit(self, masks: Masks) -> Marks:
        sizes = sizes_of(masks)
        table = np.array([self.admits(count) for count in range(int(sizes.max(initial=0)) + 1)])
        return np.asarray(table[sizes])

    @property
    def opposite(self) -> ParentCount:
        return ParentCount(self.child, OPPOSITES[self.comparison], self.number)

    @property
    def holds_with_fewer(self) -> bool:
        return self.comparison in ("<=", "<")


@dataclass(frozen=True)
class And:
    """Every part holds."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True)
class Or:
    """At least one part holds."""

    parts: tuple[Formula, ...]


Literal: TypeAlias = ParentAmong | ParentCount
Formula: TypeAlias = And | Or | Literal


def normal_form(rule: Rule, place: Mapping[str, int], *, wanted: bool = True) -> Formula:
    """The rule, or its opposite unless it is ``wanted``; it names variables that have a place, nothing else."""
    match rule:
        case Edge(parent, child):
            return ParentAmong(place[child], 1 << place[parent], not wanted)
        case Adjacent(one, other):
            return normal_form(AnyOf((Edge(one, other), Edge(other, one))), place, wanted=wanted)
        case NumberOfParents(variable, comparison, number):
            return ParentCount(place[variable], comparison if wanted else OPPOSITES[comparison], number)
        case Not(part):
            return normal_form(part, place, wanted=not wanted)
        case IfThen(condition, consequence):
            return normal_form(AnyOf((Not(condition), consequence)), place, wanted=wanted)
        case AllOf(parts) | AnyOf(parts):
            join = And if isinstance(rule, AllOf) is wanted else Or
            return join(tuple(normal_form(part, place, wanted=wanted) for part in parts))
    raise TypeError(f"{rule!r} is no rule")


def folded(
    formula: Formula,
    of_literal: Callable[[Literal], T],
    of_all: Callable[[Iterable[T]], T],
    of_any: Callable[[Iterable[T]], T],
) -> T:
    """What becomes of the formula when its literals and then what joins them are replaced; parts come one by one, and
    only as far as they are asked for."""
    match formula:
        case And(parts):
            return of_all(folded(part, of_literal, of_all, of_any) for part in parts)
        case Or(parts):
            return of_any(folded(part, of_literal, of_all, of_any) for part in parts)
    return of_literal(formula)


def holds(formula: Formula, masks: Sequence[int]) -> bool:
    """In the network with these parents."""
    return folded(formula, lambda literal: literal.holds(own := masks[literal.child], own.bit_count()), all, any)


def holds_with_fewer(formula: Formula) -> bool:
    """Whether a network that satisfies the formula does so with fewer edges too, as far as its form tells."""
    return all(literal.holds_with_fewer for literal in literals_of(formula))


def literals_of(formula: Formula) -> Iterator[Literal]:
    """Each as often as it occurs."""
    if isinstance(formula, And | Or):
        for part in formula.parts:
            yield from literals_of(part)
    else:
        yield formula


def children_of(formula: Formula) -> set[int]:
    """The variables of whose parents it speaks."""
    return {literal.child for literal in literals_of(formula)}


def edges_of(formula: Formula) -> list[tuple[int, int]]:
    """The edges (parent, child) of which it speaks, each once."""
    named = (literal for literal in literals_of(formula) if isinstance(literal, ParentAmong))
    return list(dict.fromkeys((parent, literal.child) for literal in named for parent in bits(literal.variables)))
