"""How the members of a class direct its undirected edges, counted without listing them.

The undirected edges of a class fall into connected parts, chordal graphs that are directed independently of each other:
each so that it has one source and no v-structure. Once the source is chosen, some edges are implied and the rest falls
into smaller parts of the same kind [He, Jia & Yu 2015, JMLR 16].
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topdag.errors import TooLarge

ChordalPart = tuple[int, ...]
"""A connected chordal graph: the neighbours of each of its vertices, as bits."""
Counts = NDArray[Any]
"""At [u, v]: how many ways of directing a part have u -> v; whole numbers of any size."""
MOST_CHORDAL_PARTS = 20_000


class EdgeCounts:
    """Counts of parts, remembered: the same few come back in class after class, whatever their variables are called."""

    def __init__(self) -> None:
        self._known: dict[ChordalPart, tuple[int, Counts]] = {}

    def shares(self, neighbours: Sequence[int], v: int) -> dict[tuple[int, int], float]:
        """For the part of the class with v in it: which share of the members has u -> w, for all its edges."""
        vertices = list(bits(connected(neighbours, v)))
        size, counts = self.of(part_among(neighbours, vertices))
        return {
            (u, w): counts[i, j] / size
            for i, u in enumerate(vertices)
            for j, w in enumerate(vertices)
            if neighbours[u] >> w & 1
        }

    def of(self, part: ChordalPart) -> tuple[int, Counts]:
        """In how many ways a part can be directed, and how many of them direct each edge each way."""
        if part not in self._known:
            self._known[part] = self._of_complete(len(part)) if is_complete(part) else self._by_sources(part)
            if len(self._known) > MOST_CHORDAL_PARTS:
                raise TooLarge(
                    "A class has too many undirected edges to count in how many of its networks each points which way. "
                    "Ask for adjacency, or draw networks and average over them."
                )
        return self._known[part]

    def _of_complete(self, n: int) -> tuple[int, Counts]:
        """Every order of the vertices is one way, and half of them have u before v."""
        size = math.factorial(n)
        counts = np.full((n, n), size // 2, dtype=object)
        np.fill_diagonal(counts, 0)
        return size, counts

    def _by_sources(self, part: ChordalPart) -> tuple[int, Counts]:
        """Twins, which have the same neighbours and each other, count alike as sources."""
        total, counts = 0, np.zeros((len(part), len(part)), dtype=object)
        twins: dict[int, list[int]] = {}
        for v, its in enumerate(part):
            twins.setdefault(its | 1 << v, []).append(v)
        for first, *others in twins.values():
            size, with_source = self._with_source(part, first)
            total += size * (1 + len(others))
            counts += with_source
            for other in others:
                swapped = np.arange(len(part))
                swapped[[first, other]] = other, first
                counts += with_source[np.ix_(swapped, swapped)]
        return total, counts

    def _with_source(self, part: ChordalPart, source: int) -> tuple[int, Counts]:
        parents, undirected = directed_from(part, source)
        pieces = [list(bits(piece)) for piece in components(undirected)]
        solved = [self.of(part_among(undirected, piece)) for piece in pieces]
        total = math.prod(size for size, _ in solved)
        counts = np.array([[total * (its >> u & 1) for its in parents] for u in range(len(part))], dtype=object)
        for piece, (size, inner) in zip(pieces, solved, strict=True):
            counts[np.ix_(piece, piece)] += inner * (total // size)
        return total, counts


def directed_from(part: ChordalPart, source: int) -> tuple[list[int], list[int]]:
    """Parents and remaining neighbours when all edges leave the source: a -> b - c without a - c makes b -> c."""
    parents, undirected = [0] * len(part), list(part)
    waiting = [(source, v) for v in bits(part[source])]
    while waiting:
        a, b = waiting.pop()
        if parents[b] >> a & 1:
            continue
        parents[b] |= 1 << a
        undirected[a] &= ~(1 << b)
        undirected[b] &= ~(1 << a)
        waiting += [(b, c) for c in bits(undirected[b] & ~part[a])]
    return parents, undirected


def part_among(neighbours: Sequence[int], vertices: Sequence[int]) -> ChordalPart:
    """The graph on these vertices, with numbers of its own."""
    return tuple(sum((neighbours[v] >> u & 1) << i for i, u in enumerate(vertices)) for v in vertices)


def connected(neighbours: Sequence[int], start: int) -> int:
    """All vertices that a walk from this one reaches."""
    reached, waiting = 1 << start, [start]
    while waiting:
        fresh = neighbours[waiting.pop()] & ~reached
        reached |= fresh
        waiting += bits(fresh)
    return reached


def components(neighbours: Sequence[int]) -> Iterator[int]:
    """The connected parts with an edge in them."""
    left = sum(1 << v for v, its in enumerate(neighbours) if its)
    while left:
        component = connected(neighbours, (left & -left).bit_length() - 1)
        left &= ~component
        yield component


def is_complete(part: ChordalPart) -> bool:
    everything = (1 << len(part)) - 1
    return all(its | 1 << v == everything for v, its in enumerate(part))


def bits(mask: int) -> Iterator[int]:
    while mask:
        yield (mask & -mask).bit_length() - 1
        mask &= mask - 1
