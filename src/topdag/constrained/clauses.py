"""Constraints on several variables at once as clauses, and which of them weights of families break.

A clause says that one of some literals about single variables' parents holds, so families that have one of theirs weigh
at least one together: a row of a linear program, here called a cut. Some clauses are too many to write down; they are
found when broken.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from topdag._util.arrays import Floats, Marks
from topdag._util.bitsets import bits, is_empty, masks_in, set_array
from topdag.constrained.literals import broken_clauses
from topdag.constrained.path_cuts import Support, least_way_out, shortest_walks
from topdag.knowledge.compiled import CompiledConstraints, Rest, has_cycle
from topdag.knowledge.facts import NoPath, Path
from topdag.knowledge.narrow import narrowed
from topdag.knowledge.normal_form import Literal, ParentAmong, ParentCount, folded
from topdag.search.costs import Families
from topdag.search.linear_program import LEAST_VIOLATION, Ancestor

LEAST_OPEN = 0.2
MOST_CLAUSES = 256
"""A rule that comes to more is read only where a network breaks it."""
WHOLE = 1e-6


@dataclass(frozen=True)
class Clause:
    """One of these must hold."""

    literals: tuple[Literal, ...]

    def marks(self, families: Families) -> Marks:
        """The families with which one of them does."""
        marks = self._with_parents(families)
        for literal in self.literals:
            if isinstance(literal, ParentCount) or literal.negated:
                own = slice(families.offsets[literal.child], families.offsets[literal.child + 1])
                marks[own] |= literal.admit(families.parents[own])
        return marks

    def _with_parents(self, families: Families) -> Marks:
        """Those that have some of the parents that would do, all at once."""
        would_do = [0] * families.n
        for literal in self.literals:
            if isinstance(literal, ParentAmong) and not literal.negated:
                would_do[literal.child] |= literal.variables
        return ~is_empty(families.parents & set_array(would_do, families.n)[families.owners])


class Clauses:
    """All clauses that allowed networks satisfy."""

    def __init__(self, known: CompiledConstraints) -> None:
        self.known = known
        self.rest, self.names, self.before = known.rest, known.names, known.before
        self._narrower: dict[tuple[Ancestor, ...], Clauses | None] = {(): self}
        self._rules = _rule_clauses(self.rest)
        self._no_paths = self.rest.every_no_path
        self._ways = {pair: self._may_be_between(*pair) for pair in self.rest.paths}

    @property
    def between(self) -> list[int]:
        """Of each path that must be, what may lie on it, both ends with it."""
        return list(self._ways.values())

    def under(self, decisions: tuple[Ancestor, ...]) -> Clauses | None:
        """Where all this is decided; None when nothing can be so."""
        if decisions not in self._narrower:
            facts = [Path(a, b) if is_so else NoPath(a, b) for a, b, is_so in decisions]
            known = narrowed(self.known, facts)
            self._narrower[decisions] = None if known is None else Clauses(known)
        return self._narrower[decisions]

    def admitted(self, families: Families) -> Marks:
        """By what is known of single variables' parents."""
        spans = zip(self.known.families, families.spans, strict=True)
        return np.concatenate([own.admit(families.parents[slice(*span)]) for own, span in spans])

    def to_decide(self, families: Families, weights: Floats) -> tuple[int, int] | None:
        """Where half of a path leads through a variable that only half of a path leads to, weights are of networks none
        of which need have the path: then a decision makes both parts dearer."""
        support = Support.of(families, weights)
        found = [(LEAST_OPEN, -1, -1)]
        for (begin, end), between in self._ways.items():
            _, _, through = support.flow(begin, end, between, 1.0)
            for x in bits(between & ~(1 << begin | 1 << end)):
                if through[x] > LEAST_OPEN and (begin, x) not in self._ways and (begin, x) not in self._no_paths:
                    there = support.flow(begin, x, between & ~(1 << end), 1.0)[0]
                    found.append((min(through[x], 1.0 - there), begin, x))
        merit, begin, x = max(found, key=lambda own: own[0])
        return (begin, x) if merit > LEAST_OPEN else None

    def broken(self, families: Families, weights: Floats, clusters: Sequence[int]) -> list[Clause]:
        """Those that the weights break, as far as they are found; always some when the weights are those of a network
        that breaks a constraint. ``clusters``: sets that the weights put in circles."""
        there = [
            *self._rules,
            *self._paths(families, weights),
            *self._missing_paths(families, weights),
            *(clause for members in clusters if (clause := self.first_of(members)) is not None),
        ]
        found = [clause for clause in dict.fromkeys(there) if self._is_broken(clause, families, weights)]
        return found or self._broken_by_network(families, weights)

    def _is_broken(self, clause: Clause, families: Families, weights: Floats) -> bool:
        return float(weights[clause.marks(families)].sum()) < 1.0 - LEAST_VIOLATION

    def first_of(self, members: int) -> Clause | None:
        """The first of these in the order has none of them as a parent, and none of them must come before it.
        None when nothing is known of their order."""
        first = [v for v in bits(members) if not self.before[v] & members]
        if len(first) == members.bit_count():
            return None
        return Clause(tuple(ParentAmong(v, members, negated=True) for v in first))

    def _may_be_between(self, begin: int, end: int) -> int:
        """What may lie on a path, both ends with it."""
        between = 0
        for v in range(len(self.names)):
            is_early = bool(self.before[begin] >> v & 1) or (begin, v) in self._no_paths
            is_late = bool(self.before[v] >> end & 1) or (v, end) in self._no_paths
            between |= 0 if is_early or is_late else 1 << v
        return between | 1 << begin | 1 << end

    def _paths(self, families: Families, weights: Floats) -> list[Clause]:
        """A path leaves every set that holds its beginning and not its end."""
        support, found = Support.of(families, weights), []
        for (begin, end), between in self._ways.items():
            inside = least_way_out(support, begin, end, between, 1.0 - LEAST_VIOLATION)
            if inside is not None:
                found.append(Clause(tuple(ParentAmong(v, inside) for v in bits(between & ~inside))))
        return found

    def _missing_paths(self, families: Families, weights: Floats) -> list[Clause]:
        """Of a path that must not be, some member has no parent among those before it; circles of edges and of what
        comes before what are sets whose first member is not there."""
        if not self._no_paths and not any(self.before):
            return []
        absent = np.clip(1.0 - Support.of(families, weights).edges, 0.0, 1.0)
        np.fill_diagonal(absent, 0.0)
        walks = shortest_walks(absent)
        found = []
        for begin, end in self._no_paths:
            walk = walks.between(begin, end, 1.0 - LEAST_VIOLATION)
            if walk is not None:
                found.append(Clause(tuple(ParentAmong(v, _mask(walk[:i]), True) for i, v in enumerate(walk) if i)))
        for b, early in enumerate(self.before):
            for a in bits(early):
                absent[a, b] = 0.0
        walks = shortest_walks(absent) if any(self.before) else walks
        for b, early in enumerate(self.before):
            circles = [walks.between(b, a, 1.0 - LEAST_VIOLATION) for a in bits(early)]
            found += [own for circle in circles if circle and (own := self.first_of(_mask(circle))) is not None]
        return found

    def _broken_by_network(self, families: Families, weights: Floats) -> list[Clause]:
        masks = network_of(families, weights)
        if masks is None or has_cycle(masks):
            return []
        return [Clause(tuple(literals)) for literals in broken_clauses(self.rest, masks)]


def network_of(families: Families, weights: Floats) -> list[int] | None:
    """The network whose families have all the weight; None when weights are fractions."""
    chosen = np.flatnonzero(weights > 1.0 - WHOLE)
    is_whole = len(chosen) == families.n and (families.owners[chosen] == np.arange(families.n)).all()
    return masks_in(families.parents[chosen]) if is_whole else None


def _rule_clauses(rest: Rest) -> list[Clause]:
    found = [folded(rule.formula, _one_clause, _all_clauses, _any_clauses) for rule in rest.rules]
    return [Clause(literals) for own in found if own is not None for literals in own]


Written = list[tuple[Literal, ...]] | None
"""Clauses that together say what a formula does; None when it takes too many."""


def _one_clause(literal: Literal) -> Written:
    return [(literal,)]


def _all_clauses(parts: Iterable[Written]) -> Written:
    known = _known(parts)
    joined = None if known is None else [clause for part in known for clause in part]
    return None if joined is None or len(joined) > MOST_CLAUSES else joined


def _any_clauses(parts: Iterable[Written]) -> Written:
    known = _known(parts)
    if known is None or math.prod(map(len, known)) > MOST_CLAUSES:
        return None
    return [tuple(dict.fromkeys(literal for clause in chosen for literal in clause)) for chosen in product(*known)]


def _known(parts: Iterable[Written]) -> list[list[tuple[Literal, ...]]] | None:
    """None when some part takes too many."""
    found = list(parts)
    known = [part for part in found if part is not None]
    return known if len(known) == len(found) else None


def _mask(variables: Sequence[int]) -> int:
    return sum(1 << v for v in variables)
