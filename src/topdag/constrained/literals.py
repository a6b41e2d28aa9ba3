"""How a network that breaks what is known splits the space in disjoint parts, each of which excludes it.

A broken rule, path or order is put as a clause: of some things about single variables' parents at least one must be,
and in this network none is. Part i has the i-th of them and none before: families are restricted, nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TypeAlias

from topdag._util.bitsets import bits
from topdag.knowledge.compiled import Rest, with_pairs
from topdag.knowledge.facts import transitive
from topdag.knowledge.normal_form import Formula, Literal, ParentAmong, folded, holds

Part: TypeAlias = tuple[Literal, ...]


def parts_of(clause: Sequence[Literal]) -> list[Part]:
    """Disjoint parts that together hold every network with at least one of these."""
    return [(literal, *(earlier.opposite for earlier in clause[:i])) for i, literal in enumerate(clause)]


def broken_clauses(rest: Rest, masks: Sequence[int]) -> list[list[Literal]]:
    """One for each thing that the network breaks: one of these literals must be, and in this network none is."""
    ancestors = transitive(masks)
    clauses = [_ways_out(masks, a, b, ancestors) for a, b in rest.paths if not ancestors[b] >> a & 1]
    clauses += [_edges_missing(_path(masks, a, b), masks) for a, b in rest.no_paths if ancestors[b] >> a & 1]
    cycle = _cycle(with_pairs(masks, rest.precedence)) if rest.precedence else None
    clauses += [] if cycle is None else [_edges_missing(cycle, masks)]
    broken = [rule.formula for rule in rest.rules if not holds(rule.formula, masks)]
    return [*clauses, *(_falsified(formula, masks) for formula in broken)]


def _ways_out(masks: Sequence[int], begin: int, end: int, ancestors: Sequence[int]) -> list[Literal]:
    """A path leaves the descendants of its beginning: some other variable, the end first of all, has one of them, or
    the beginning itself, as a parent."""
    below = 1 << begin | sum(1 << v for v in range(len(masks)) if ancestors[v] >> begin & 1)
    others = [child for child in range(len(masks)) if not below >> child & 1 and child != end]
    return [ParentAmong(child, below) for child in (end, *others)]


def _edges_missing(walk: Sequence[int], masks: Sequence[int]) -> list[Literal]:
    """One of the network's edges on this walk is not there."""
    edges = [(parent, child) for parent, child in pairwise(walk) if masks[child] >> parent & 1]
    return [ParentAmong(child, 1 << parent, negated=True) for parent, child in edges]


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


def _falsified(formula: Formula, masks: Sequence[int]) -> list[Literal]:
    """Of a formula that the network breaks, a clause that follows from it and that the network breaks too."""

    def of_literal(literal: Literal) -> list[Literal] | None:
        """None where it holds."""
        return None if holds(literal, masks) else [literal]

    def of_any(parts: Iterable[list[Literal] | None]) -> list[Literal] | None:
        broken = list(parts)
        return None if None in broken else [literal for part in broken if part is not None for literal in part]

    def of_all(parts: Iterable[list[Literal] | None]) -> list[Literal] | None:
        return next((part for part in parts if part is not None), None)  # one that is wrong makes the whole wrong

    clause = folded(formula, of_literal, of_all, of_any)
    return list(dict.fromkeys(clause or ()))
