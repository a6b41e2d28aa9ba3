"""What is known with more facts about ancestors: some variable leads to another in a part of a search, or does not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from topdag._util.bitsets import bits
from topdag.knowledge.closure import Closure
from topdag.knowledge.compiled import CompiledConstraints, FamilyRules, compiled
from topdag.knowledge.facts import Among, Before, Cannot, Fact, Least, Most, Must, NoPath, Path


def narrowed(known: CompiledConstraints, facts: Sequence[Fact]) -> CompiledConstraints | None:
    """With all that follows; None when the facts contradict what is known."""
    closure = Closure.of(known.names, [*_facts_of(known), *facts])
    return None if closure is None else compiled(closure, range(len(known.names)))


def _facts_of(known: CompiledConstraints) -> Iterator[Fact]:
    for x, own in enumerate(known.families):
        yield from _facts_about(x, own)
    rest = known.rest
    yield from (Before(first, then) for first, then in rest.precedence)
    yield from (Path(begin, end) for begin, end in rest.paths)
    yield from (NoPath(begin, end) for begin, end in rest.no_paths)
    yield from rest.rules


def _facts_about(x: int, own: FamilyRules) -> Iterator[Fact]:
    n = len(own.names)
    yield from (Must(parent, x) for parent in bits(own.must))
    yield from (Cannot(parent, x) for parent in range(n) if parent != x and not own.may >> parent & 1)
    yield Least(x, own.least)
    yield Most(x, own.most)
    if own.among is not None:
        yield Among(x, own.among)
    yield from own.rules
