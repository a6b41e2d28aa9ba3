"""How a network that breaks what is known splits the space in disjoint parts, each of which excludes it.

A broken rule, path or order is put as a clause: of some things about single variables' parents at least one must be,
and in this network none is. Part i has the i-th of them and none before: families are restricted, nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from topdag._util.bitsets import meets, sizes_of
from topdag.knowledge.closure import bits
from topdag.knowledge.compiled import Rest, named_parents, with_pairs
from topdag.knowledge.facts import transitive
from topdag.knowledge.rules import (
    Adjacent,
    AllOf,
    AnyOf,
    Edge,
    IfThen,
    Not,
    NumberOfParents,
    Rule,
)

Masks = NDArray[np.uint64]


@dataclass(frozen=True)
class Meets:
    """Some of ``variables`` (a mask) is a parent of ``child``; with ``negated``, none is."""

    child: int
    variables: int
    negated: bool = False

    def admit(self, masks: Masks) -> NDArray[np.bool_]:
        return meets(masks, self.variables) ^ self.negated

    @property
    def opposite(self) -> Meets:
        return Meets(self.child, self.variables, not self.negated)


@dataclass(frozen=True)
class Counts:
    """The number of parents of ``child`` is as the rule says; with ``negated``, it is not."""

    child: int
    rule: NumberOfParents
    negated: bool = False

    def admit(self, masks: Masks) -> NDArray[np.bool_]:
        sizes = sizes_of(masks)
        table = np.array([self.rule.admits(count) for count in range(int(sizes.max(initial=0)) + 1)])
        return np.asarray(table[sizes] ^ self.negated)

    @property
    def opposite(self) -> Counts:
        return Counts(self.child, self.rule, not self.negated)


Literal: TypeAlias = Meets | Counts
Part: TypeAlias = tuple[Literal, ...]


def parts_of(clause: Sequence[Literal]) -> list[Part]:
    """Disjoint parts that together hold every network with at least one of these."""
    return [(literal, *(earlier.opposite for earlier in clause[:i])) for i, literal in enumerate(clause)]


def broken_clauses(rest: Rest, masks: Sequence[int], names: Sequence[str]) -> list[list[Literal]]:
    """One for each thing that the network breaks: one of these literals must be, and in this network none is."""
    ancestors, parents = transitive(masks), named_parents(masks, names)
    place = {name: v for v, name in enumerate(names)}
    falsified = _Falsified(masks, parents, place)
    clauses = [_ways_out(masks, a, b, ancestors) for a, b in rest.paths if not ancestors[b] >> a & 1]
    clauses += [_edges_missing(_path(masks, a, b), masks) for a, b in rest.no_paths if ancestors[b] >> a & 1]
    cycle = _cycle(with_pairs(masks, rest.precedence)) if rest.precedence else None
    clauses += [] if cycle is None else [_edges_missing(cycle, masks)]
    rules = [rule for rule in rest.rules if not rule.holds(parents)]
    return [*clauses, *(list(dict.fromkeys(falsified.clause(rule, wanted=True))) for rule in rules)]


def _ways_out(masks: Sequence[int], begin: int, end: int, ancestors: Sequence[int]) -> list[Literal]:
    """A path leaves the descendants of its beginning: some other variable, the end first of all, has one of them, or
    the beginning itself, as a parent."""
    below = 1 << begin | sum(1 << v for v in range(len(masks)) if ancestors[v] >> begin & 1)
    others = [child for child in range(len(masks)) if not below >> child & 1 and child != end]
    return [Meets(child, below) for child in (end, *others)]


def _edges_missing(walk: Sequence[int], masks: Sequence[int]) -> list[Literal]:
    """One of the network's edges on this walk is not there."""
    edges = [(parent, child) for parent, child in pairwise(walk) if masks[child] >> parent & 1]
    return [Meets(child, 1 << parent, negated=True) for parent, child in edges]


def _path(masks: Sequence[int], begin: int, end: int) -> list[int]:
    """A shortest directed path; from begin to itself when they are the same."""
    next_of: dict[int, int] = {}
    waiting, at = [end], 0
    while at < len(waiting):
        child = waiting[at]
        at += 1
        for parent in bits(masks[child]):
            if parent not in next_of:
                next_of[parent] = child
                waiting.append(parent)
    walk = [begin]
    while walk[-1] != end or len(walk) == 1:
        walk.append(next_of[walk[-1]])
    return walk


def _cycle(masks: Sequence[int]) -> list[int] | None:
    """A shortest one among those through each variable; None when there is none."""
    reached = transitive(masks)
    cycles = [_path(masks, v, v) for v in range(len(masks)) if reached[v] >> v & 1]
    return min(cycles, key=len, default=None)


class _Falsified:
    """Reads from a rule that a network breaks a clause that follows from the rule and that it breaks too."""

    def __init__(self, masks: Sequence[int], parents: dict[str, set[str]], place: dict[str, int]) -> None:
        self.masks, self.parents, self.place = masks, parents, place

    def clause(self, rule: Rule, *, wanted: bool) -> list[Literal]:
        """The rule should be ``wanted``, and is not."""
        match rule:
            case Edge(parent, child):
                return [Meets(self.place[child], 1 << self.place[parent], not wanted)]
            case Adjacent(one, other):
                a, b = self.place[one], self.place[other]
                ways = [(a, b), (b, a)] if wanted else [(a, b)] if self.masks[b] >> a & 1 else [(b, a)]
                return [Meets(child, 1 << parent, not wanted) for parent, child in ways]
            case NumberOfParents(variable):
                return [Counts(self.place[variable], rule, not wanted)]
            case Not(part):
                return self.clause(part, wanted=not wanted)
            case IfThen(condition, consequence):
                return self.clause(AnyOf((Not(condition), consequence)), wanted=wanted)
            case AnyOf(parts) | AllOf(parts):
                wrong = [part for part in parts if part.holds(self.parents) is not wanted]
                if isinstance(rule, AnyOf) is not wanted:
                    wrong = wrong[:1]  # one that is wrong makes the whole wrong
                return [literal for part in wrong for literal in self.clause(part, wanted=wanted)]
        raise TypeError(f"{rule!r} is no rule")
