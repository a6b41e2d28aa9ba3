"""Whether names, parents, scores and sample sizes make a network: what is not one is refused with the reason."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from heapq import heappop, heappush
from numbers import Real

from topdag._util.bitsets import bits
from topdag.errors import NetworkError, ScoreError

NAMES_SHOWN = 10
"""How many names a message lists."""
LARGEST_SCORE = 10**300  # JSON can hold whole numbers that no double can


def require_known(wanted: Iterable[str], names: Sequence[str], *, what: str = "variables") -> None:
    """Refuses a name that is not among the variables, and says which one was perhaps meant."""
    for name in wanted:
        if name not in names:
            close = get_close_matches(str(name), names)
            first = ", ".join(names[:NAMES_SHOWN]) + (", ..." if len(names) > NAMES_SHOWN else "")
            hint = f"did you mean {' or '.join(map(repr, close))}?" if close else f"the {what} are {first}."
            missing = "There is no variable" if what == "variables" else f"Not among the {what}:"
            raise NetworkError(f"{missing} {name!r}; {hint}")


def disjoint_sets(names: Sequence[str], *groups: str | Iterable[str]) -> list[int]:
    """Each group of variables, a name or several, as bits; refused when two of them share a variable."""
    listed = [[group] if isinstance(group, str) else list(group) for group in groups]
    together = [name for group in listed for name in dict.fromkeys(group)]
    require_known(together, names)
    if shared := [name for name in names if together.count(name) > 1]:
        raise NetworkError(f"d-separation is between different variables; {shared[0]!r} is named twice.")
    return [sum(1 << names.index(name) for name in set(group)) for group in listed]


def checked_names(names: Iterable[str]) -> tuple[str, ...]:
    """Strings, none empty, no two alike."""
    checked = tuple(names) if isinstance(names, Iterable) else ()
    if (
        isinstance(names, str)
        or not isinstance(names, Iterable)
        or not all(isinstance(name, str) and name for name in checked)
    ):
        raise NetworkError(f"Names should be a list of non-empty strings, not {names!r}.")
    if len(set(checked)) < len(checked):
        repeated = next(name for name in checked if checked.count(name) > 1)
        raise NetworkError(f"Every variable needs its own name; {repeated!r} occurs more than once.")
    return checked


def checked_edge(edge: Sequence[str]) -> tuple[str, str]:
    """Two names: parent and child."""
    pair = tuple(edge) if isinstance(edge, Iterable) and not isinstance(edge, str) else ()
    if len(pair) != 2 or not all(isinstance(name, str) for name in pair):
        raise NetworkError(f"{edge!r} is not an edge; give pairs of names (parent, child).")
    return pair


def checked_scores(names: tuple[str, ...], scores: Mapping[str, float]) -> dict[str, float]:
    """A finite number for each name."""
    require_known(scores, names)
    for name in names:
        score = scores.get(name)
        if not isinstance(score, float | Real) or not abs(score) < math.inf or abs(score) > LARGEST_SCORE:
            raise NetworkError(f"The local score of {name!r} should be a finite number, not {score!r}.")
    return {name: float(scores[name]) for name in names}


def checked_sets(names: tuple[str, ...], given: Iterable[Collection[str]]) -> tuple[tuple[str, ...], ...]:
    """Sets of variables, each in column order, no two alike."""
    found = []
    for own in given:
        if isinstance(own, str) or not isinstance(own, Collection):
            raise NetworkError(f"A set of variables is a list of names, not {own!r}.")
        require_known(own, names)
        found.append(tuple(name for name in names if name in own))
    return tuple(dict.fromkeys(found))


def check_ess(ess: object, asked_by: str, *, or_none: bool = False) -> None:
    """An equivalent sample size is a positive number, not so small or large that doubles run out; ``or_none``: or 0."""
    is_number = isinstance(ess, int | float) and not isinstance(ess, bool)
    if not (is_number and (1e-100 <= ess <= 1e12 or (or_none and ess == 0))):  # type: ignore[operator]
        zero = "0 or " * or_none
        raise ScoreError(f"{asked_by}: ess must be {zero}a positive number (1e-100 to 1e12), not {ess!r}.")


def is_score(given: float, score: float) -> bool:
    """Whether a number from a file, which may be a whole one that no double can hold, is this score."""
    return abs(given) <= LARGEST_SCORE and math.isclose(given, score)


def parent_masks(names: tuple[str, ...], parents: Mapping[str, Iterable[str]]) -> tuple[int, ...]:
    """The parents of each variable as bits."""
    masks = dict.fromkeys(names, 0)
    if not isinstance(parents, Mapping):
        raise NetworkError(f"Parents should be a dict from names to lists of names, not {parents!r}.")
    for child, its_parents in parents.items():
        if isinstance(its_parents, str) or not isinstance(its_parents, Iterable):
            raise NetworkError(f"The parents of {child!r} should be a list of names, not {its_parents!r}.")
        listed = tuple(its_parents)
        require_known([child, *listed], names)
        if len(set(listed)) < len(listed):
            raise NetworkError(f"{child!r} has the same parent twice: {', '.join(listed)}.")
        masks[child] = sum(1 << names.index(parent) for parent in listed)
    return tuple(masks.values())


def topological_order(names: tuple[str, ...], masks: tuple[int, ...]) -> tuple[str, ...]:
    """Parents before children, by column where both can come; a cycle is refused."""
    parents = [bits(mask) for mask in masks]
    children: list[list[int]] = [[] for _ in names]
    for v, own in enumerate(parents):
        for p in own:
            children[p].append(v)
    n_unplaced = list(map(len, parents))
    ready, order = [v for v, many in enumerate(n_unplaced) if not many], list[int]()  # a heap
    while ready:
        placed = heappop(ready)
        order.append(placed)
        for v in children[placed]:
            n_unplaced[v] -= 1
            if not n_unplaced[v]:
                heappush(ready, v)
    if len(order) < len(names):
        cycle = _cycle_within([v for v, many in enumerate(n_unplaced) if many], names, masks)
        raise NetworkError(f"The edges form a cycle: {cycle}. Drop one of them.")
    return tuple([names[v] for v in order])


def _cycle_within(waiting: list[int], names: tuple[str, ...], masks: tuple[int, ...]) -> str:
    """One cycle, from its first column on. Every waiting variable has a parent that waits too."""
    walk = [waiting[0]]
    while walk[-1] not in walk[:-1]:
        walk.append(next(p for p in waiting if masks[walk[-1]] >> p & 1))
    cycle = walk[: walk.index(walk[-1]) : -1]
    start = cycle.index(min(cycle))
    return " -> ".join(names[v] for v in [*cycle[start:], *cycle[: start + 1]])
