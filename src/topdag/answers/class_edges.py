"""How the members of a class direct its undirected edges, counted without listing them: part by part, and for each by
its source (see ``_util/class_graph.py``)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topdag._util.bitsets import bits
from topdag._util.class_graph import ChordalPart, components, connected, directed_from, is_complete, part_among
from topdag.errors import TooLarge

Counts = NDArray[Any]
"""At [u, v]: how many ways of directing a part have u -> v; whole numbers of any size."""
MOST_CHORDAL_PARTS = 20_000


class EdgeCounts:
    """Counts of parts, remembered: the same few come back in class after class, whatever their variables are called."""

    def __init__(self) -> None:
        self._known: dict[ChordalPart, tuple[int, Counts]] = {}

    def shares(self, neighbours: Sequence[int], v: int) -> dict[tuple[int, int], float]:
        """For the part of the class with v in it: which share of the members has u -> w, for all its edges."""
        vertices = bits(connected(neighbours, v))
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
        pieces = [bits(piece) for piece in components(undirected)]
        solved = [self.of(part_among(undirected, piece)) for piece in pieces]
        total = math.prod(size for size, _ in solved)
        counts = np.array([[total * (its >> u & 1) for its in parents] for u in range(len(part))], dtype=object)
        for piece, (size, inner) in zip(pieces, solved, strict=True):
            counts[np.ix_(piece, piece)] += inner * (total // size)
        return total, counts
