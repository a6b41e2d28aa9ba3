"""How far a network is from the true one, by what data can tell: the marks of their classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def marks_of(names: Sequence[str], edges: Sequence[tuple[str, str]]) -> np.ndarray:
    """True at [a, b] where some network of the class has a -> b: both ways for an edge that is reversible."""
    import topdag as td

    network = td.Network.from_edges(names, edges)
    marks = network.adjacency.astype(bool)
    place = {name: i for i, name in enumerate(network.names)}
    for a, b in network.reversible:
        marks[place[b], place[a]] = True
    return marks


def true_edges(matrix: np.ndarray) -> list[tuple[str, str]]:
    return [(f"v{a}", f"v{b}") for a, b in np.argwhere(matrix)]


def distance(true: np.ndarray, found: Any) -> dict[str, int]:
    """Counts of pairs: ``shd`` have different marks; edges that are right, false and missed; ``right way`` and ``wrong
    way`` among arrows found on true edges. An arrow that the score's own rule forces, as MixedBIC's, counts as one."""
    names = [f"v{i}" for i in range(len(true))]
    truth, marks = marks_of(names, true_edges(true)), marks_of(names, found.edges)
    upper = np.triu(np.ones_like(true), 1)
    differ = (truth != marks) | (truth != marks).T
    has, gets = (truth | truth.T) & upper, (marks | marks.T) & upper
    reversible = set(found.reversible)
    arrows = [(int(a[1:]), int(b[1:])) for a, b in found.edges if (a, b) not in reversible]
    on_true = [(a, b) for a, b in arrows if true[a, b] or true[b, a]]
    right = sum(bool(true[a, b]) for a, b in on_true)
    counts = {"shd": differ & upper, "right": has & gets, "false": gets & ~has, "missed": has & ~gets}
    return {name: int(where.sum()) for name, where in counts.items()} | {
        "right way": right,
        "wrong way": len(on_true) - right,
    }
