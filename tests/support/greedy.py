"""A quick network with no claim to be the best: what a stopped search can still show."""

from __future__ import annotations

import math
from collections.abc import Callable

Local = Callable[[int, int], float]


def climb(
    local: Local, n: int, max_parents: int, is_over: Callable[[], bool], start: list[int] | None = None
) -> list[int] | None:
    """Adds the arc that gains most until none gains, or the time is over; None if that allows no network.

    ``local(x, mask)`` is the local score of x with these parents, minus infinity where not allowed. ``start``: parents
    to begin with, which form no cycle; default: none.
    """
    parents = [0] * n if start is None else list(start)
    scores = [local(x, parents[x]) for x in range(n)]
    better = {x: _better(local, x, parents[x], scores[x], n, max_parents) for x in range(n)}
    while not is_over():
        open_arcs = [
            (value - scores[x], -x, -p)
            for x in range(n)
            for p, value in better[x].items()
            if not _reaches(parents, x, p)
        ]
        if not open_arcs:
            break
        _, minus_x, minus_p = max(open_arcs)
        x, p = -minus_x, -minus_p
        parents[x] |= 1 << p
        scores[x] = better[x][p]
        better[x] = _better(local, x, parents[x], scores[x], n, max_parents)
    return None if -math.inf in scores else parents


def _better(local: Local, x: int, mask: int, score: float, n: int, max_parents: int) -> dict[int, float]:
    """The local score of x with each further parent that improves it."""
    if mask.bit_count() >= max_parents:
        return {}
    with_one_more = {p: local(x, mask | 1 << p) for p in range(n) if p != x and not mask >> p & 1}
    return {p: value for p, value in with_one_more.items() if value > score}


def _reaches(parents: list[int], start: int, goal: int) -> bool:
    """Whether a directed path leads from start to goal."""
    waiting, seen = [goal], 0
    while waiting:
        at = waiting.pop()
        if at == start:
            return True
        fresh = parents[at] & ~seen
        seen |= fresh
        waiting += [v for v in range(len(parents)) if fresh >> v & 1]
    return False
