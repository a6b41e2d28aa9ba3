"""What follows from facts: edges that must or cannot be, which variables come before which, and contradictions.

Everything here is implied by the facts, but not all that is implied is found: that would take a search.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import product

from topdag.knowledge.facts import (
    Among,
    Before,
    Cannot,
    Fact,
    Least,
    Most,
    Must,
    NoPath,
    Obeys,
    Path,
    transitive,
)
from topdag.knowledge.rules import (
    Adjacent,
    AllOf,
    AnyOf,
    Atom,
    Edge,
    IfThen,
    Not,
    NumberOfParents,
    Rule,
)

MOST_NAMED_PARENTS = 10
MOST_PARENTS = 128
"""Up to so many parents named by rules about one variable, all subsets of them are tried."""


class Contradiction(Exception):
    """The facts cannot all hold."""


@dataclass
class Closure:
    """Facts about n variables with what follows. Masks are over all of them; ``before[x]``: those that come before x
    in every order that will do; ``must``, ``cannot``: parents of x; ``least``, ``most``: how many, and ``said_least``
    without what follows from paths. ``is_open``: there may be further variables, so that nothing follows from there
    being no others."""

    names: Sequence[str]
    is_open: bool = False
    must: list[int] = field(init=False)
    cannot: list[int] = field(init=False)
    before: list[int] = field(init=False)
    least: list[int] = field(init=False)
    said_least: list[int] = field(init=False)
    most: list[int] = field(init=False)
    among: dict[int, frozenset[int]] = field(default_factory=dict)
    paths: list[tuple[int, int]] = field(default_factory=list)
    no_paths: list[tuple[int, int]] = field(default_factory=list)
    precedence: list[tuple[int, int]] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)

    def __post_init__(self) -> None:
        n = len(self.names)
        self.place = {name: v for v, name in enumerate(self.names)}
        self.must, self.before, self.least, self.said_least = ([0] * n for _ in range(4))
        self.cannot = [1 << x for x in range(n)]
        self.most = [10**9 if self.is_open else n] * n

    @classmethod
    def of(cls, names: Sequence[str], facts: Iterable[Fact], *, is_open: bool = False) -> Closure | None:
        """None when the facts contradict each other."""
        closure = cls(names, is_open)
        try:
            for fact in facts:
                closure._add(fact)
            closure._settle()
        except Contradiction:
            return None
        return closure

    @property
    def n(self) -> int:
        return len(self.names)

    @property
    def full(self) -> int:
        return (1 << self.n) - 1

    def may(self, x: int) -> int:
        return self.full & ~self.cannot[x]

    @property
    def ancestors(self) -> list[int]:
        """Those that are ancestors of x for certain."""
        certain = list(self.must)
        for begin, end in self.paths:
            certain[end] |= 1 << begin
        return transitive(certain)

    @property
    def ancestors_by_edges(self) -> list[int]:
        """The same, by edges that must be."""
        return transitive(self.must)

    def _add(self, fact: Fact) -> None:
        match fact:
            case Must(parent, child):
                self.must[child] |= 1 << parent
            case Cannot(parent, child):
                self.cannot[child] |= 1 << parent
            case Before(first, then):
                self.precedence.append((first, then))
            case Least(child, number):
                self.least[child] = max(self.least[child], number)
                self.said_least[child] = max(self.said_least[child], number)
            case Most(child, number):
                self.most[child] = min(self.most[child], number)
            case Among(child, masks):
                self.among[child] = masks & self.among.get(child, masks)
            case Path(begin, end):
                self.paths.append((begin, end))
            case NoPath(begin, end):
                self.no_paths.append((begin, end))
            case Obeys(rule):
                self.rules.append(rule)

    def _settle(self) -> None:
        """Draws conclusions until there are none left."""
        state: object = None
        while state != (state := (tuple(self.must), tuple(self.cannot), tuple(self.least), tuple(self.most))):
            self._order()
            self._forbid_paths()
            for x in range(self.n):
                self._count(x)
                self._pick_sets(x)
            for rule in self.rules:
                self._obey(rule)
        for x in range(self.n):
            self._require_family(x)
        if not self.is_open:
            self._require_order()
            self._require_paths()

    # ---- Orders and paths

    def _order(self) -> None:
        direct = list(self.must)
        for first, then in (*self.precedence, *self.paths):
            direct[then] |= 1 << first
        self.before = transitive(direct)
        for x in range(self.n):
            if self.before[x] >> x & 1:
                raise Contradiction
            for earlier in bits(self.before[x]):
                self.cannot[earlier] |= 1 << x

    def _forbid_paths(self) -> None:
        for _, end in self.paths:
            self.least[end] = max(self.least[end], 1)
        ancestors = self.ancestors
        for begin, end in self.no_paths:
            from_begin = 1 << begin | sum(1 << v for v in range(self.n) if ancestors[v] >> begin & 1)
            to_end = 1 << end | ancestors[end]
            if from_begin & to_end:
                raise Contradiction
            for x in bits(to_end):
                self.cannot[x] |= from_begin

    def _require_paths(self) -> None:
        """A wanted path must be possible with edges that may be."""
        reached = transitive([self.may(x) for x in range(self.n)])
        if any(not reached[end] >> begin & 1 for begin, end in self.paths):
            raise Contradiction

    def _require_order(self) -> None:
        """Some order must do: variables are placed as soon as some family of theirs may be."""
        placed = 0
        while ready := [x for x in bits(self.full & ~placed) if self._can_follow(x, placed)]:
            placed |= sum(1 << x for x in ready)
        if placed != self.full:
            raise Contradiction

    def _can_follow(self, x: int, placed: int) -> bool:
        if (self.must[x] | self.before[x]) & ~placed or (self.may(x) & placed).bit_count() < self.least[x]:
            return False
        return x not in self.among or any(not mask & ~placed for mask in self.among[x])

    # ---- Numbers and sets of parents

    def _count(self, x: int) -> None:
        n_must = self.must[x].bit_count()
        self.least[x] = max(self.least[x], n_must)
        if self.must[x] & self.cannot[x] or self.least[x] > self.most[x]:
            raise Contradiction
        if n_must == self.most[x]:
            self.cannot[x] |= self.full & ~self.must[x]
        if self.is_open:
            return
        n_may = self.may(x).bit_count()
        if n_may < self.least[x]:
            raise Contradiction
        if n_may == self.least[x]:
            self.must[x] |= self.may(x)
        self.most[x] = min(self.most[x], n_may)

    def _pick_sets(self, x: int) -> None:
        if x not in self.among:
            return
        self.among[x] = frozenset(mask for mask in self.among[x] if self._fits(x, mask))
        if not self.among[x]:
            raise Contradiction
        some, every = 0, self.full
        for mask in self.among[x]:
            some, every = some | mask, every & mask
        self.must[x] |= every
        self.cannot[x] |= self.full & ~some

    def _fits(self, x: int, mask: int) -> bool:
        is_between = not self.must[x] & ~mask and not mask & self.cannot[x]
        return is_between and self.least[x] <= mask.bit_count() <= self.most[x]

    # ---- Rules

    def truth(self, rule: Rule) -> bool | None:
        """Whether the rule holds in all networks (True), in none (False), or is not settled."""
        match rule:
            case Edge(parent, child):
                return self._edge(self.place[parent], self.place[child])
            case Adjacent(one, other):
                a, b = self.place[one], self.place[other]
                return _some([self._edge(a, b), self._edge(b, a)])
            case NumberOfParents():
                return self._number(rule)
            case Not(part):
                return _negated(self.truth(part))
            case AllOf(parts):
                return _negated(_some([_negated(self.truth(part)) for part in parts]))
        return _some([self.truth(part) for part in alternatives(rule)])

    def _number(self, rule: NumberOfParents) -> bool | None:
        x = self.place[rule.variable]
        counts = range(self.least[x], min(self.most[x], self.n + rule.number + 2) + 1)
        truths = {rule.admits(count) for count in counts}
        return truths.pop() if len(truths) == 1 else None

    def _edge(self, parent: int, child: int) -> bool | None:
        if self.must[child] >> parent & 1:
            return True
        return False if self.cannot[child] >> parent & 1 else None

    def _obey(self, rule: Rule) -> None:
        """An edge without which, or with which, the rule could not hold, must or cannot be."""
        truth = self.truth(rule)
        if truth is False:
            raise Contradiction
        if truth is True:
            return
        for parent, child in edges_of(rule, self.place):
            if self._edge(parent, child) is not None:
                continue
            if self._breaks(rule, parent, child, there=True):
                self.cannot[child] |= 1 << parent
            elif self._breaks(rule, parent, child, there=False):
                self.must[child] |= 1 << parent

    def _breaks(self, rule: Rule, parent: int, child: int, *, there: bool) -> bool:
        masks = self.must if there else self.cannot
        before, least = masks[child], self.least[child]
        masks[child] |= 1 << parent
        self.least[child] = max(least, self.must[child].bit_count())
        truth = self.truth(rule)
        masks[child], self.least[child] = before, least
        return truth is False

    def _require_family(self, x: int) -> None:
        """Some parents of x must obey all rules that speak of no other variable's parents."""
        own = [rule for rule in self.rules if children_of(rule) == {self.names[x]}]
        named = sorted({parent for rule in own for parent, _ in edges_of(rule, self.place)})
        if not own or len(named) > MOST_NAMED_PARENTS:
            return
        others = self.must[x] & ~sum(1 << v for v in named)
        free = self.may(x) & ~self.must[x] & ~sum(1 << v for v in named)
        more = MOST_PARENTS if self.is_open else free.bit_count()
        for chosen in product((0, 1), repeat=len(named)):
            mask = sum(bit << v for v, bit in zip(named, chosen, strict=True))
            if mask & self.cannot[x] or self.must[x] & ~mask & ~others:
                continue
            smallest = (mask | others).bit_count()
            parents = {self.names[v] for v in bits(mask)}
            for count in range(max(smallest, self.least[x]), min(smallest + more, self.most[x]) + 1):
                if all(_holds_locally(rule, parents, count) for rule in own):
                    return
        raise Contradiction


def alternatives(rule: Rule) -> tuple[Rule, ...]:
    """Of which one must hold."""
    if isinstance(rule, IfThen):
        return Not(rule.condition), rule.consequence
    assert isinstance(rule, AnyOf)
    return rule.parts


def bits(mask: int) -> list[int]:
    return [v for v in range(mask.bit_length()) if mask >> v & 1]


def children_of(rule: Rule) -> set[str]:
    """The variables of whose parents the rule speaks."""
    found: set[str] = set()
    for atom in rule.atoms:
        found |= _children(atom)
    return found


def edges_of(rule: Rule, place: dict[str, int]) -> list[tuple[int, int]]:
    """The edges that the rule names, each once."""
    found: dict[tuple[int, int], None] = {}
    for atom in rule.atoms:
        if isinstance(atom, Edge):
            found[place[atom.parent], place[atom.child]] = None
        if isinstance(atom, Adjacent):
            a, b = place[atom.one], place[atom.other]
            found |= {(a, b): None, (b, a): None}
    return list(found)


def _children(atom: Atom) -> set[str]:
    if isinstance(atom, Edge):
        return {atom.child}
    return set(atom.names)


def _holds_locally(rule: Rule, parents: set[str], count: int) -> bool:
    """For a rule about one variable's parents: these of the named ones, and so many in all."""
    match rule:
        case Edge(parent):
            return parent in parents
        case NumberOfParents():
            return rule.admits(count)
        case Not(part):
            return not _holds_locally(part, parents, count)
        case IfThen(condition, consequence):
            return not _holds_locally(condition, parents, count) or _holds_locally(consequence, parents, count)
        case AllOf(parts):
            return all(_holds_locally(part, parents, count) for part in parts)
        case AnyOf(parts):
            return any(_holds_locally(part, parents, count) for part in parts)
    raise TypeError(f"{rule!r} is no rule about one variable")


def _some(truths: Sequence[bool | None]) -> bool | None:
    if any(truth is True for truth in truths):
        return True
    return None if None in truths else False


def _negated(truth: bool | None) -> bool | None:
    return None if truth is None else not truth
