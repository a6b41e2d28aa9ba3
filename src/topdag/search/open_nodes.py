"""The parts of a search that are still open, and how they stand in a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topdag._util.arrays import Marks
from topdag.search.linear_program import Decisions, Joined, Standing


@dataclass(frozen=True, order=True)
class Node:
    """A node of the search: networks of allowed families where all of ``decisions`` holds, none better and below
    ``bound``; ``edge`` splits it, or ``question``: whether one variable is an ancestor of another. Of a list it is not
    known yet what splits it."""

    bound: float
    number: int
    allowed: bytes
    edge: tuple[int, int] | None = None
    decisions: Decisions = ()
    question: tuple[int, int] | None = None
    standing: Standing | None = field(default=None, compare=False)  # of its program; not in files

    def marks(self, n_families: int) -> Marks:
        """The allowed families."""
        bits = np.unpackbits(np.frombuffer(self.allowed, dtype=np.uint8), count=n_families)
        return bits.view(np.bool_)


@dataclass(frozen=True)
class OpenParts:
    """Where a search stands: the parts still open, and the families of the store that any of them may allow."""

    kept: Marks
    parts: tuple[Node, ...]
    n_parts: int  # solved so far

    def arrays(self) -> dict[str, NDArray[Any]]:
        """As they stand in a file; those that an edge splits have no decisions, those of a list no edges."""
        edges = [part.edge for part in self.parts if part.edge is not None]
        joined = [
            (place, *decision)
            for place, part in enumerate(self.parts)
            for decision in part.decisions
            if isinstance(decision, Joined)
        ]
        allowed = np.frombuffer(b"".join(part.allowed for part in self.parts), dtype=np.uint8)
        return {
            "kept": np.packbits(self.kept),
            "bounds": np.array([part.bound for part in self.parts]),
            "numbers": np.array([*(part.number for part in self.parts), self.n_parts], dtype=np.int64),
            "edges": np.array(edges, dtype=np.int64).reshape(-1, 2),
            "joined": np.array(joined, dtype=np.int64).reshape(-1, 3),
            "allowed": allowed.reshape(len(self.parts), -(-int(self.kept.sum()) // 8)),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], n_families: int) -> OpenParts:
        kept = np.unpackbits(arrays["kept"], count=n_families).view(np.bool_)
        *numbers, n_parts = arrays["numbers"].tolist()
        edges: list[tuple[int, int] | None] = [(parent, child) for parent, child in arrays["edges"].tolist()]
        decided: list[list[Joined]] = [[] for _ in numbers]
        for place, one, other in arrays["joined"].tolist():
            decided[place].append(Joined(one, other))
        rows = zip(
            arrays["bounds"].tolist(), numbers, arrays["allowed"], edges or [None] * len(numbers), decided, strict=True
        )
        parts = [Node(bound, number, row.tobytes(), edge, tuple(own)) for bound, number, row, edge, own in rows]
        return cls(kept, tuple(parts), n_parts)
