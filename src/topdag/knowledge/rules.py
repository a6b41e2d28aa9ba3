"""Rules that speak of several edges: edges and numbers of parents, joined by and, or, not, if-then.

In place of a name may stand ``"*"`` or the name of a group. An edge with it holds when some such edge is there; a
number of parents holds when it does for every one. A rule with ``"?"`` holds for each variable put in its place
throughout, but for those that the rule names.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral

from topdag.errors import ConstraintError

ANY_NAME = "*"
EACH_NAME = "?"
WILD_NAMES = (ANY_NAME, EACH_NAME)
KEYWORDS = ("if", "then", "or", "and", "not", "parents")
COMPARISONS: Mapping[str, Callable[[int, int], bool]] = {
    "<=": operator.le,
    "<": operator.lt,
    ">=": operator.ge,
    ">": operator.gt,
    "==": operator.eq,
    "!=": operator.ne,
}
MOST_PARENTS = 10**6
_BARE = re.compile(r"[^\W\d][\w.]*")

Members = Callable[[str], Sequence[str]]


class Rule:
    """Something that a network satisfies or not. Compound by ``&``, ``|`` and ``~``, or by any_of and similar."""

    @property
    def atoms(self) -> tuple[Atom, ...]:
        """The edges, adjacencies and numbers that it is made of, each as often as it occurs."""
        raise NotImplementedError

    def expanded(self, members: Members) -> Rule:
        """The same with every name replaced by those it stands for."""
        raise NotImplementedError

    def __and__(self, other: object) -> Rule:
        return AllOf((*_parts(AllOf, self), *_parts(AllOf, other))) if isinstance(other, Rule) else NotImplemented

    def __or__(self, other: object) -> Rule:
        return AnyOf((*_parts(AnyOf, self), *_parts(AnyOf, other))) if isinstance(other, Rule) else NotImplemented

    def __invert__(self) -> Rule:
        return Not(self)

    def __bool__(self) -> bool:
        raise TypeError("A rule is neither true nor false by itself: join rules with & | ~ or any_of, all_of, not_.")


class Atom(Rule):
    """A rule that is not made of others. ``names`` are the variables it speaks of."""

    names: tuple[str, ...]

    @property
    def atoms(self) -> tuple[Atom, ...]:
        return (self,)


@dataclass(frozen=True)
class Edge(Atom):
    """``parent`` is a parent of ``child``."""

    parent: str
    child: str

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.parent, self.child

    def expanded(self, members: Members) -> Rule:
        pairs = [(a, b) for a in members(self.parent) for b in members(self.child) if a != b or a == ANY_NAME]
        return only_or(AnyOf, [Edge(a, b) for a, b in pairs])

    def __str__(self) -> str:
        return f"{quoted(self.parent)}->{quoted(self.child)}"


@dataclass(frozen=True)
class Adjacent(Atom):
    """There is an edge between the two, in one direction or the other."""

    one: str
    other: str

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.one, self.other

    def expanded(self, members: Members) -> Rule:
        pairs = [(a, b) for a in members(self.one) for b in members(self.other) if a != b or a == ANY_NAME]
        return only_or(AnyOf, [Adjacent(a, b) for a, b in pairs])

    def __str__(self) -> str:
        return f"{quoted(self.one)}--{quoted(self.other)}"


@dataclass(frozen=True)
class NumberOfParents(Atom):
    """The number of parents of ``variable`` compares so with ``number``."""

    variable: str
    comparison: str
    number: int

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        return (self.variable,)

    def expanded(self, members: Members) -> Rule:
        every = [NumberOfParents(name, self.comparison, self.number) for name in members(self.variable)]
        return only_or(AllOf, every)

    def __str__(self) -> str:
        return f"parents({quoted(self.variable)}) {self.comparison} {self.number}"


@dataclass(frozen=True)
class Compound(Rule):
    """Made of several."""

    parts: tuple[Rule, ...]

    @property
    def atoms(self) -> tuple[Atom, ...]:
        return tuple(atom for part in self.parts for atom in part.atoms)

    def expanded(self, members: Members) -> Rule:
        return type(self)(tuple(part.expanded(members) for part in self.parts))


@dataclass(frozen=True)
class AllOf(Compound):
    """Every part holds."""

    def __str__(self) -> str:
        return " and ".join(_bracketed(part, AllOf, AnyOf, IfThen) for part in self.parts)


@dataclass(frozen=True)
class AnyOf(Compound):
    """At least one part holds."""

    def __str__(self) -> str:
        return " or ".join(_bracketed(part, AnyOf, IfThen) for part in self.parts)


@dataclass(frozen=True)
class Not(Rule):
    """The part does not hold."""

    part: Rule

    @property
    def atoms(self) -> tuple[Atom, ...]:
        return self.part.atoms

    def expanded(self, members: Members) -> Rule:
        return Not(self.part.expanded(members))

    def __str__(self) -> str:
        return f"not {_bracketed(self.part, AllOf, AnyOf, IfThen)}"


@dataclass(frozen=True)
class IfThen(Rule):
    """Where the condition holds, the consequence does."""

    condition: Rule
    consequence: Rule

    @property
    def atoms(self) -> tuple[Atom, ...]:
        return (*self.condition.atoms, *self.consequence.atoms)

    def expanded(self, members: Members) -> Rule:
        return IfThen(self.condition.expanded(members), self.consequence.expanded(members))

    def __str__(self) -> str:
        return f"if {_bracketed(self.condition, IfThen)} then {_bracketed(self.consequence, IfThen)}"


def quoted(name: str) -> str:
    """A name as rules write it: in quotes when it is odd."""
    if name in WILD_NAMES or (_BARE.fullmatch(name) and name not in KEYWORDS):
        return name
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


def instances(rule: Rule, names: Sequence[str]) -> list[tuple[str | None, Rule]]:
    """The rules that one with ``"?"`` stands for, each with the variable put there; any other stands for itself."""
    named = {name for atom in rule.atoms for name in atom.names}
    if EACH_NAME not in named:
        return [(None, rule)]
    return [(name, rule.expanded(_Put(name))) for name in names if name not in named]


@dataclass(frozen=True)
class _Put:
    """Puts a name in the place of ``"?"``."""

    name: str

    def __call__(self, given: str) -> Sequence[str]:
        return (self.name if given == EACH_NAME else given,)


def conjuncts(rule: Rule) -> list[Rule]:
    """Rules that together say the same: all parts of what must all hold."""
    return [small for part in rule.parts for small in conjuncts(part)] if isinstance(rule, AllOf) else [rule]


def checked_count(number: object, what: str) -> int:
    if isinstance(number, bool) or not isinstance(number, Integral) or not 0 <= int(number) <= MOST_PARENTS:
        raise ConstraintError(f"{what}: a number of parents is a whole number from 0 on, not {number!r}.")
    return int(number)


def only_or(join: type[AllOf] | type[AnyOf], parts: Sequence[Rule]) -> Rule:
    return parts[0] if len(parts) == 1 else join(tuple(parts))


def _parts(join: type[AllOf] | type[AnyOf], rule: Rule) -> tuple[Rule, ...]:
    return rule.parts if isinstance(rule, join) else (rule,)


def _bracketed(rule: Rule, *kinds: type[Rule]) -> str:
    return f"({rule})" if isinstance(rule, kinds) else str(rule)
