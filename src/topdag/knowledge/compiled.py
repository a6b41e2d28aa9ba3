"""Knowledge about the scored variables of a table, as scoring and search read it.

What speaks of one variable's parents is a matter of families and never leaves scoring. What is left speaks of several
variables at once: orders, paths and rules; ``Rest`` knows whether a network satisfies it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce

import numpy as np

from topdag._util.arrays import Marks, Masks
from topdag._util.bitsets import NARROW, as_set, bits, is_empty, is_in, set_array, sizes_of
from topdag.knowledge.closure import Closure
from topdag.knowledge.facts import Satisfies, transitive
from topdag.knowledge.normal_form import (
    And,
    Formula,
    Literal,
    Or,
    ParentAmong,
    children_of,
    folded,
    holds,
    holds_with_fewer,
)
from topdag.knowledge.rules import quoted


@dataclass(frozen=True)
class FamilyRules:
    """Which parents one variable may have, as masks over the scored ones: all of ``must``, none outside ``may``, so
    many, one of ``among`` unless None, and as ``rules`` about it say."""

    must: int
    may: int
    least: int
    most: int
    among: frozenset[int] | None
    rules: tuple[Satisfies, ...]
    names: tuple[str, ...]

    @property
    def is_closed_under_removal(self) -> bool:
        """Whether every subset of allowed parents is allowed too, so that smaller parent sets may stand for larger."""
        return self.must == 0 and self.is_closed_above_must

    @property
    def is_closed_above_must(self) -> bool:
        """Whether every subset of allowed parents that holds ``must`` is allowed too."""
        only_less = self.least <= self.must.bit_count() and self.among is None
        return only_less and all(holds_with_fewer(rule.formula) for rule in self.rules)

    @property
    def is_free(self) -> bool:
        """Whether anything goes but a variable being its own parent."""
        everyone = self.may.bit_count() == len(self.names) - 1
        return everyone and self.is_closed_under_removal and self.most >= len(self.names) - 1 and not self.rules

    @property
    def is_an_interval(self) -> bool:
        """Whether any parents between ``must`` and ``may`` are allowed."""
        is_any_number = self.least <= self.must.bit_count() and self.most >= self.may.bit_count()
        return is_any_number and self.among is None and not self.rules

    def admit(self, masks: Masks) -> Marks:
        """Which of these parent sets are allowed."""
        sizes = sizes_of(masks)
        must, may = as_set(self.must, masks), as_set(self.may, masks)
        found = is_empty(must & ~masks) & is_empty(masks & ~may) & (sizes >= self.least) & (sizes <= self.most)
        if self.among is not None:
            found &= is_in(masks, set_array(sorted(self.among), len(self.names)))
        for rule in self.rules:
            found &= folded(rule.formula, lambda literal: literal.admit(masks), _all, _any)
        return np.asarray(found)

    def admits(self, mask: int) -> bool:
        return bool(self.admit(set_array([mask], len(self.names)))[0])


def free_rules(names: tuple[str, ...]) -> tuple[FamilyRules, ...]:
    """For variables of which nothing is known."""
    everyone, most = (1 << len(names)) - 1, len(names) - 1
    return tuple(FamilyRules(0, everyone ^ 1 << x, 0, most, None, (), names) for x in range(len(names)))


@dataclass(frozen=True)
class Rest:
    """What no family tells by itself. ``precedence``: pairs that one order of the network must agree with, all of them;
    ``paths`` and ``no_paths``: from, to; ``rules``: across variables."""

    precedence: tuple[tuple[int, int], ...]
    paths: tuple[tuple[int, int], ...]
    no_paths: tuple[tuple[int, int], ...]
    rules: tuple[Satisfies, ...]

    def __bool__(self) -> bool:
        return bool(self.precedence or self.paths or self.no_paths or self.rules)

    @property
    def without_order(self) -> Rest:
        """What is left where precedence is seen to."""
        return replace(self, precedence=())

    @property
    def is_closed_under_removal(self) -> bool:
        """Whether a network that satisfies it still does with fewer edges."""
        return not self.paths and all(holds_with_fewer(rule.formula) for rule in self.rules)

    @property
    def every_no_path(self) -> frozenset[tuple[int, int]]:
        """What leads from x, by a path that must be, leads no more than x to where x must not."""
        found = set(self.no_paths)
        while True:
            more = {(d, y) for x, y in found for a, d in self.paths if a == x}
            more |= {(x, e) for x, y in found for e, b in self.paths if b == y}
            if more <= found:
                return frozenset(found)
            found |= more

    def lines(self, names: Sequence[str]) -> list[str]:
        """All of it in words."""

        def said(pairs: Sequence[tuple[int, int]], words: str) -> list[str]:
            return [f"{quoted(names[a])} {words} {quoted(names[b])}" for a, b in pairs]

        before = said(self.precedence, "comes before")
        paths = said(self.paths, "is an ancestor of") + said(self.no_paths, "is no ancestor of")
        return [*before, *paths, *(rule.words for rule in self.rules)]

    def allows(self, masks: Sequence[int]) -> bool:
        """Whether the network with these parents satisfies it."""
        if self.paths or self.no_paths:
            ancestors = transitive(masks)
            if any(not ancestors[end] >> begin & 1 for begin, end in self.paths):
                return False
            if any(ancestors[end] >> begin & 1 for begin, end in self.no_paths):
                return False
        if self.precedence and has_cycle(with_pairs(masks, self.precedence)):
            return False
        return all(holds(rule.formula, masks) for rule in self.rules)

    def have_paths(self, parents: Masks) -> Marks:
        """Which of these networks, a row of masks each, have all paths that must be."""
        found = np.ones(len(parents), bool)
        for begin, end in self.paths:
            found &= _reached(parents, begin) >> np.uint64(end) & np.uint64(1) != 0
        return found


@dataclass(frozen=True)
class CompiledConstraints:
    """Over the scored variables: what each may have as parents, which come before it by what is known, and the rest;
    ``is_relaxed``: the rest was left away. ``isolated``: columns that are not scored, for they have no edges, but come
    before or after others."""

    names: tuple[str, ...]
    families: tuple[FamilyRules, ...]
    before: tuple[int, ...]
    rest: Rest
    is_relaxed: bool = False
    isolated: tuple[int, ...] = ()

    @property
    def relaxed(self) -> CompiledConstraints:
        """Without the rest."""
        return replace(self, rest=Rest((), (), (), ()), is_relaxed=True)

    @property
    def is_local(self) -> bool:
        """Whether every network of allowed families satisfies all that is known."""
        return not self.rest

    @property
    def orders_are_limited(self) -> bool:
        """Whether some allowed network may have orders that are not: edges that must be do not tell it all."""
        certain = transitive([own.must for own in self.families])
        return bool(self.isolated) or any(early & ~above for early, above in zip(self.before, certain, strict=True))

    @cached_property
    def places(self) -> tuple[int, ...]:
        """By variable those that may be placed before it: some order of every allowed network has them there.

        Besides ``before``, groups of variables that can be placed one after another: those within a group could be on a
        circle of edges that may be and of what comes before what, no two of different groups.
        """
        reached = transitive([own.may | early for own, early in zip(self.families, self.before, strict=True)])
        groups = [self._group(x, reached) for x in range(len(self.names))]
        found, placed = [0] * len(self.names), 0
        for x in sorted(range(len(self.names)), key=lambda x: (reached[x] | 1 << x).bit_count()):
            if placed >> x & 1:
                continue
            for member in bits(groups[x]):
                found[member] = placed | self.before[member]
            placed |= groups[x]
        return tuple(found) if any(found) else ()

    @staticmethod
    def _group(x: int, reached: Sequence[int]) -> int:
        """The variables on a circle with x, and itself."""
        return 1 << x | sum(1 << y for y in bits(reached[x]) if reached[y] >> x & 1)

    def limit_on_parents(self, asked: int | None) -> int | None:
        """No variable may have more parents; None when any number will do."""
        most = max((own.most for own in self.families), default=0)
        if asked is None:
            return most if most < len(self.names) - 1 else None
        return min(asked, most)

    @property
    def is_closed_under_removal(self) -> bool:
        return self.rest.is_closed_under_removal and all(own.is_closed_under_removal for own in self.families)

    def admit(self, networks: Masks) -> Marks:
        """Which of these networks, a row of masks each, are allowed."""
        if len(self.names) > NARROW:
            return np.array([self.allows(masks) for masks in networks.tolist()], bool)
        found = np.ones(len(networks), bool)
        for x, own in enumerate(self.families):
            found &= own.admit(networks[:, x])
        found[found] = self.rest.have_paths(networks[found])
        found[found] = [self.rest.allows(masks) for masks in networks[found].tolist()]
        return found

    def allows(self, masks: Sequence[int]) -> bool:
        are_admitted = all(own.admits(mask) for own, mask in zip(self.families, masks, strict=True))
        return are_admitted and self.rest.allows(masks)


def compiled(closure: Closure, columns: Sequence[int]) -> CompiledConstraints:
    """For these columns; the others have no edges, as the closure must know."""
    names = tuple(closure.names[v] for v in columns)
    place = {v: i for i, v in enumerate(columns)}

    def own(mask: int) -> int:
        return _at(place, mask)

    rules = [rule for rule in closure.rules if closure.truth(rule.formula) is None]
    families = []
    for x in columns:
        among = closure.among.get(x)
        families.append(
            FamilyRules(
                own(closure.must[x]),
                own(closure.may(x)),
                closure.said_least[x],  # that the end of a path has a parent is told with the path
                min(closure.most[x], len(columns)),
                None if among is None else frozenset(map(own, among)),
                tuple(_placed(rule, place) for rule in rules if children_of(rule.formula) == {x}),
                names,
            )
        )
    across = [_placed(rule, place) for rule in rules if len(children_of(rule.formula)) > 1]
    rest = _rest(closure, across, place)
    before = tuple(own(closure.before[x]) for x in columns)
    return CompiledConstraints(names, tuple(families), before, rest, isolated=_isolated_in_order(closure, place))


def _isolated_in_order(closure: Closure, place: Mapping[int, int]) -> tuple[int, ...]:
    """The other columns that come before or after some column."""
    early = 0
    for own in closure.before:
        early |= own
    return tuple(v for v in range(closure.n) if v not in place and (closure.before[v] or early >> v & 1))


def _rest(closure: Closure, rules: Sequence[Satisfies], place: Mapping[int, int]) -> Rest:
    """Only what allowed families do not make certain."""
    certain = closure.ancestors_by_edges
    possible = transitive([closure.may(x) for x in range(closure.n)])
    paths = [(a, b) for a, b in closure.paths if not certain[b] >> a & 1]
    no_paths = [(a, b) for a, b in closure.no_paths if possible[b] >> a & 1]
    precedence = [] if _order_is_certain(closure) else _order_among(closure, place)

    def own(pairs: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
        return tuple(dict.fromkeys((place[a], place[b]) for a, b in pairs))

    return Rest(own(precedence), own(paths), own(no_paths), tuple(rules))


def _order_among(closure: Closure, place: Mapping[int, int]) -> list[tuple[int, int]]:
    """The precedences of these columns, also those that follow from others of columns which have no edges."""
    if all(v in place for pair in closure.precedence for v in pair):
        return closure.precedence
    early = transitive(with_pairs([0] * closure.n, closure.precedence))
    return [(a, b) for b in place for a in bits(early[b]) if a in place]


def _order_is_certain(closure: Closure) -> bool:
    """Whether any network of edges that may be agrees with an order that has all precedences: no circle of such edges
    and precedences contains one of the latter."""
    everything = with_pairs([closure.may(x) for x in range(closure.n)], closure.precedence)
    reached = transitive(everything)
    return not any(reached[a] >> b & 1 for a, b in closure.precedence)


def _reached(parents: Masks, begin: int) -> Masks:
    """In each of many networks what a variable leads to, and itself."""
    reached = np.full(len(parents), 1 << begin, dtype=np.uint64)
    while True:
        before = reached.copy()
        for x in range(parents.shape[1]):
            reached |= (parents[:, x] & reached != 0).astype(np.uint64) << np.uint64(x)
        if (reached == before).all():
            return reached


def _all(truths: Iterable[Marks]) -> Marks:
    return reduce(np.logical_and, truths, np.array(True))


def _any(truths: Iterable[Marks]) -> Marks:
    return reduce(np.logical_or, truths, np.array(False))


def with_pairs(masks: Sequence[int], pairs: Sequence[tuple[int, int]]) -> list[int]:
    """Parents with the first of each pair as a parent of the second."""
    more = list(masks)
    for first, then in pairs:
        more[then] |= 1 << first
    return more


def has_cycle(masks: Sequence[int]) -> bool:
    return any(reached >> x & 1 for x, reached in enumerate(transitive(masks)))


def _placed(rule: Satisfies, place: Mapping[int, int]) -> Satisfies:
    """The rule for these columns by their new places, with literals of columns that have no edges settled."""

    def of_literal(literal: Literal) -> Formula:
        if isinstance(literal, ParentAmong):
            literal = replace(literal, variables=_at(place, literal.variables))
        is_settled = literal.child not in place or (isinstance(literal, ParentAmong) and not literal.variables)
        if is_settled:
            return And(()) if literal.holds(0, 0) else Or(())
        return replace(literal, child=place[literal.child])

    placed = folded(rule.formula, of_literal, lambda parts: And(tuple(parts)), lambda parts: Or(tuple(parts)))
    return replace(rule, formula=placed)


def _at(place: Mapping[int, int], mask: int) -> int:
    """Of these columns, those that have a place, by it."""
    return sum(1 << place[v] for v in bits(mask) if v in place)
