"""What constraints mean, said a second time: slow, obvious, from the arguments alone, without topdag's own reading.

``obeys(edges, names, **arguments)`` takes the arguments of ``Constraints``; rules are given as (text, function).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from typing import Any

Edges = set[tuple[str, str]]
Truth = Callable[[Edges], bool]


def parents(edges: Edges, child: str) -> set[str]:
    return {a for a, b in edges if b == child}


def reaches(edges: Edges, begin: str, end: str) -> bool:
    seen: set[str] = set()
    waiting = [begin]
    while waiting:
        at = waiting.pop()
        for a, b in edges:
            if a == at and b not in seen:
                seen.add(b)
                waiting.append(b)
    return end in seen


def has_an_order(edges: Edges, names: tuple[str, ...], pairs: list[tuple[str, str]]) -> bool:
    both = [*edges, *pairs]
    return any(all(order.index(a) < order.index(b) for a, b in both) for order in permutations(names))


def by_variable(given: Any, names: tuple[str, ...]) -> dict[str, Any]:
    if given is None:
        return {}
    return dict.fromkeys(names, given) if isinstance(given, int) else given


def obeys(edges: Edges, names: tuple[str, ...], **given: Any) -> bool:
    checks = []
    checks += [edge in edges for edge in given.get("required_edges", ())]
    checks += [edge not in edges for edge in given.get("forbidden_edges", ())]
    checks += [(a, b) in edges or (b, a) in edges for a, b in given.get("required_adjacencies", ())]
    checks += [(a, b) not in edges and (b, a) not in edges for a, b in given.get("forbidden_adjacencies", ())]
    checks += [not parents(edges, x) for x in given.get("roots", ())]
    checks += [all(a != x for a, _ in edges) for x in given.get("leaves", ())]
    checks += [len(parents(edges, x)) <= k for x, k in by_variable(given.get("max_parents"), names).items()]
    checks += [len(parents(edges, x)) >= k for x, k in by_variable(given.get("min_parents"), names).items()]
    checks += [len(parents(edges, x)) == k for x, k in by_variable(given.get("exact_parents"), names).items()]
    tier_of = {x: level for level, tier in enumerate(given.get("tiers", ())) for x in tier}
    for a, b in edges:
        if a in tier_of and b in tier_of:
            within = given.get("edges_within_tiers", True)
            checks.append(tier_of[a] < tier_of[b] or (within and tier_of[a] == tier_of[b]))
    if "precedence" in given:
        checks.append(has_an_order(edges, names, given["precedence"]))
    checks += [parents(edges, x) <= set(own) for x, own in given.get("allowed_parents", {}).items()]
    checks += [parents(edges, x) == set(own) for x, own in given.get("fixed_parents", {}).items()]
    checks += [
        any(parents(edges, x) == set(own) for own in sets) for x, sets in given.get("allowed_parent_sets", {}).items()
    ]
    checks += [reaches(edges, a, b) for a, b in given.get("ancestors", ())]
    checks += [not reaches(edges, a, b) for a, b in given.get("not_ancestors", ())]
    checks += [truth(edges) for _, truth in given.get("rules", ())]
    return all(checks)
