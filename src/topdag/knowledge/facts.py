"""What knowledge comes down to once the variables are known: statements in words, each with its facts.

A fact speaks of variables by their place among the names. Everything else is made of facts: which families are allowed,
what follows, what contradicts what, and what a network breaks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

from topdag._util.bitsets import bits
from topdag.errors import ConstraintError, NetworkError
from topdag.knowledge.normal_form import Formula, holds, normal_form
from topdag.knowledge.probabilities import ParameterConstraint
from topdag.knowledge.rules import ANY_NAME, Adjacent, Rule, conjuncts, instances, quoted
from topdag.networks.checks import require_known
from topdag.networks.network import Network

if TYPE_CHECKING:
    from topdag.knowledge.constraints import Constraints


@dataclass(frozen=True)
class Seen:
    """A network as facts look at it: parents and ancestors as masks."""

    masks: Sequence[int]
    ancestors: Sequence[int]

    @classmethod
    def of(cls, network: Network) -> Seen:
        return cls(network.masks, transitive(network.masks))


@dataclass(frozen=True)
class Must:
    """parent -> child is there."""

    parent: int
    child: int

    def holds(self, network: Seen) -> bool:
        return bool(network.masks[self.child] >> self.parent & 1)


@dataclass(frozen=True)
class Cannot:
    """parent -> child is not there."""

    parent: int
    child: int

    def holds(self, network: Seen) -> bool:
        return not network.masks[self.child] >> self.parent & 1


@dataclass(frozen=True)
class Before:
    """Some order of the variables in which parents come first has ``first`` before ``then``; one for all such facts."""

    first: int
    then: int

    def holds(self, network: Seen) -> bool:
        return not network.ancestors[self.first] >> self.then & 1


@dataclass(frozen=True)
class Least:
    """The child has at least so many parents."""

    child: int
    number: int

    def holds(self, network: Seen) -> bool:
        return network.masks[self.child].bit_count() >= self.number


@dataclass(frozen=True)
class Most:
    """The child has at most so many parents."""

    child: int
    number: int

    def holds(self, network: Seen) -> bool:
        return network.masks[self.child].bit_count() <= self.number


@dataclass(frozen=True)
class Among:
    """The parents of the child are just those of one of these masks."""

    child: int
    masks: frozenset[int]

    def holds(self, network: Seen) -> bool:
        return network.masks[self.child] in self.masks


@dataclass(frozen=True)
class Path:
    """A directed path leads from ``begin`` to ``end``."""

    begin: int
    end: int

    def holds(self, network: Seen) -> bool:
        return bool(network.ancestors[self.end] >> self.begin & 1)


@dataclass(frozen=True)
class NoPath:
    """No directed path leads from ``begin`` to ``end``."""

    begin: int
    end: int

    def holds(self, network: Seen) -> bool:
        return not network.ancestors[self.end] >> self.begin & 1


@dataclass(frozen=True)
class Satisfies:
    """The network satisfies a rule, which is said in these words."""

    formula: Formula
    words: str = field(default="", compare=False)

    def holds(self, network: Seen) -> bool:
        return holds(self.formula, network.masks)


def transitive(direct: Sequence[int]) -> list[int]:
    """All that lead to each, from those that lead to it directly."""
    reached = list(direct)
    for middle in range(len(reached)):
        for x in range(len(reached)):
            if reached[x] >> middle & 1:
                reached[x] |= reached[middle]
    return reached


Fact: TypeAlias = Must | Cannot | Before | Least | Most | Among | Path | NoPath | Satisfies


@dataclass(frozen=True)
class Statement:
    """One thing said, in words, and what it means."""

    words: str
    facts: tuple[Fact, ...]


def statements_of(known: Constraints, names: Sequence[str]) -> list[Statement]:
    """All that is said, about these variables."""
    return list(_Speaker(known, names).all())


class _Speaker:
    def __init__(self, known: Constraints, names: Sequence[str]) -> None:
        self.known, self.names = known, names
        self.place = {name: v for v, name in enumerate(names)}

    def all(self) -> Iterator[Statement]:
        known = self.known
        yield from self._edges(known.required_edges, Must, "is required")
        yield from self._edges(known.forbidden_edges, Cannot, "is forbidden")
        yield from self._adjacencies()
        yield from self._ends()
        yield from self._numbers()
        yield from self._tiers()
        yield from self._parents()
        for pairs, make, words in (
            (known.precedence, Before, "must come before"),
            (known.ancestors, Path, "must be an ancestor of"),
            (known.not_ancestors, NoPath, "must not be an ancestor of"),
        ):
            for a, b in self._pairs(pairs):
                yield Statement(f"{self._shown(a)} {words} {self._shown(b)}", (make(a, b),))
        for rule in known.rules:
            for name, own in instances(rule, self.names):
                about = "" if name is None else f" for {quoted(name)}"
                meant = conjuncts(own.expanded(self._members))
                yield Statement(f"the rule '{rule}'{about}", tuple(self._satisfies(part) for part in meant))

        for said in known.parameters:
            yield Statement(f"{said} (which requires the parents that it names)", self._named(said))

    # ---- Names

    def _members(self, name: str) -> Sequence[str]:
        if name == ANY_NAME:
            return self.names
        try:
            require_known([name], self.names)
        except NetworkError as error:
            raise ConstraintError(str(error)) from None
        return (name,)

    def _places(self, name: str) -> list[int]:
        return [self.place[member] for member in self._members(name)]

    def _pairs(self, pairs: Sequence[tuple[str, str]]) -> Iterator[tuple[int, int]]:
        """Each once; a variable makes no pair with itself."""
        every = [(a, b) for one, other in pairs for a in self._places(one) for b in self._places(other) if a != b]
        yield from dict.fromkeys(every)

    def _shown(self, v: int) -> str:
        return quoted(self.names[v])

    def _mask(self, names: Sequence[str], child: int) -> int:
        return sum(1 << v for v in {v for name in names for v in self._places(name)} if v != child)

    def _satisfies(self, rule: Rule) -> Satisfies:
        return Satisfies(normal_form(rule, self.place), str(rule))

    # ---- Kinds of statements

    def _named(self, said: ParameterConstraint) -> tuple[Must, ...]:
        """Variables are called as they are here: no group, no ``*``."""
        (child,) = self._places(said.child)
        return tuple(Must(parent, child) for name in said.parents for parent in self._places(name))

    def _edges(
        self, pairs: Sequence[tuple[str, str]], make: type[Must] | type[Cannot], words: str
    ) -> Iterator[Statement]:
        for a, b in self._pairs(pairs):
            yield Statement(f"{self._shown(a)}->{self._shown(b)} {words}", (make(a, b),))

    def _adjacencies(self) -> Iterator[Statement]:
        for a, b in self._pairs(self.known.required_adjacencies):
            words = f"an edge between {self._shown(a)} and {self._shown(b)} is required"
            yield Statement(words, (self._satisfies(Adjacent(self.names[a], self.names[b])),))
        for a, b in self._pairs(self.known.forbidden_adjacencies):
            words = f"an edge between {self._shown(a)} and {self._shown(b)} is forbidden"
            yield Statement(words, (Cannot(a, b), Cannot(b, a)))

    def _ends(self) -> Iterator[Statement]:
        for name in self.known.roots:
            for x in self._places(name):
                yield Statement(f"{self._shown(x)} has no parents (roots)", (Most(x, 0),))
        for name in self.known.leaves:
            for x in self._places(name):
                children = [v for v in range(len(self.names)) if v != x]
                yield Statement(f"{self._shown(x)} has no children (leaves)", tuple(Cannot(x, v) for v in children))

    def _numbers(self) -> Iterator[Statement]:
        known = self.known
        for limits, words, makes in (
            (known.max_parents, "at most", (Most,)),
            (known.min_parents, "at least", (Least,)),
            (known.exact_parents, "exactly", (Least, Most)),
        ):
            for name, number in limits:
                for x in self._places(name):
                    shown = f"{self._shown(x)} has {words} {number} parent{'s' * (number != 1)}"
                    yield Statement(shown, tuple(make(x, number) for make in makes))

    def _tiers(self) -> Iterator[Statement]:
        for tiers in self.known.tiers:
            levels = [self._tier(level, tiers.levels) for level in tiers.levels]
            for earlier, later in combinations(levels, 2):
                for a in earlier:
                    for b in later:
                        yield Statement(f"{self._shown(a)} comes before {self._shown(b)} (tiers)", (Cannot(b, a),))
            for level in [] if tiers.edges_within else levels:
                for a, b in combinations(level, 2):
                    words = f"{self._shown(a)} and {self._shown(b)} are in one tier, without edges"
                    yield Statement(words, (Cannot(a, b), Cannot(b, a)))

    def _tier(self, level: Sequence[str], levels: Sequence[Sequence[str]]) -> list[int]:
        """Its variables; * stands for those that no tier names."""
        named = {v for own in levels for name in own if name != ANY_NAME for v in self._places(name)}
        own = [v for name in level if name != ANY_NAME for v in self._places(name)]
        return own + [v for v in range(len(self.names)) if v not in named and ANY_NAME in level]

    def _parents(self) -> Iterator[Statement]:
        full = (1 << len(self.names)) - 1
        for name, allowed in self.known.allowed_parents:
            for x in self._places(name):
                out = full & ~self._mask(allowed, x) & ~(1 << x)
                words = f"{self._shown(x)} has parents only among ({', '.join(map(quoted, allowed))})"
                yield Statement(words, _cannots(out, x))
        for name, fixed in self.known.fixed_parents:
            for x in self._places(name):
                mask = self._mask(fixed, x)
                words = f"the parents of {self._shown(x)} are ({', '.join(map(quoted, fixed))})"
                musts = tuple(Must(v, x) for v in bits(mask))
                yield Statement(words, (*musts, *_cannots(full & ~mask & ~(1 << x), x)))
        for name, sets in self.known.allowed_parent_sets:
            for x in self._places(name):
                masks = frozenset(self._mask(own, x) for own in sets)
                words = f"{self._shown(x)} has one of {len(masks)} parent set{'s' * (len(masks) != 1)}"
                yield Statement(words, (Among(x, masks),))


def _cannots(mask: int, child: int) -> tuple[Cannot, ...]:
    return tuple(Cannot(v, child) for v in bits(mask))
