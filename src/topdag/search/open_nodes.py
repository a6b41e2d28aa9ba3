"""The parts of a search for the best network that are still open, and how they stand in a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topdag._util.arrays import Marks
from topdag.search.linear_program import Decisions


@dataclass(frozen=True, order=True)
class Node:
    """A node of the search: networks of allowed families, none better and below ``bound``; ``edge`` splits it, or
    ``question``: whether one variable is an ancestor of another, as others are by ``decisions``."""

    bound: float
    number: int
    allowed: bytes
    edge: tuple[int, int]
    decisions: Decisions = ()
    question: tuple[int, int] | None = None


@dataclass(frozen=True)
class OpenParts:
    """Where a search stands: the parts still open, and the families of the store that any of them may allow."""

    kept: Marks
    parts: tuple[Node, ...]
    n_parts: int  # solved so far

    def arrays(self) -> dict[str, NDArray[Any]]:
        """As they stand in a file."""
        allowed = np.frombuffer(b"".join(part.allowed for part in self.parts), dtype=np.uint8)
        return {
            "kept": np.packbits(self.kept),
            "bounds": np.array([part.bound for part in self.parts]),
            "numbers": np.array([*(part.number for part in self.parts), self.n_parts], dtype=np.int64),
            "edges": np.array([part.edge for part in self.parts], dtype=np.int64).reshape(-1, 2),
            "allowed": allowed.reshape(len(self.parts), -(-int(self.kept.sum()) // 8)),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], n_families: int) -> OpenParts:
        kept = np.unpackbits(arrays["kept"], count=n_families).view(np.bool_)
        *numbers, n_parts = arrays["numbers"].tolist()
        rows = zip(arrays["bounds"].tolist(), numbers, arrays["allowed"], arrays["edges"].tolist(), strict=True)
        parts = [Node(bound, number, row.tobytes(), (parent, child)) for bound, number, row, (parent, child) in rows]
        return cls(kept, tuple(parts), n_parts)
