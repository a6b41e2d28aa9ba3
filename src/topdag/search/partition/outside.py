"""What is left of a part without one network, or without the networks of one Markov equivalence class.

A class is told by its edges: v has parents by directed ones, D(v), and neighbours by reversible ones, U(v). The
families that v has in members of the class are D(v) with any clique of U(v). A network whose families are all such, and
that has all reversible edges, is a member (docs/explanation/method.md); so a network outside has a first variable with
another family, or a first reversible edge that it lacks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from topdag import _core
from topdag._util.arrays import Marks
from topdag._util.bitsets import bits
from topdag.search.costs import Families

Network: TypeAlias = tuple[int, ...]
Class: TypeAlias = tuple[Network, Network]
"""Parents by directed edges, and neighbours by reversible ones."""
Edge: TypeAlias = tuple[int, int]


@dataclass(frozen=True)
class Inside:
    """The families of a network, or of members of a class, and the reversible ``edges`` of the class."""

    families: Marks
    edges: tuple[Edge, ...] = ()


def class_of(masks: Network) -> Class:
    graph = _core.class_of(list(masks))
    return tuple(graph.parents), tuple(graph.neighbours)


def inside_network(families: Families, masks: Network) -> Inside:
    return Inside(families.places(masks))


def inside_class(families: Families, known: Class) -> Inside:
    directed, neighbours = (np.array(own, dtype=np.uint64)[families.owners] for own in known)
    others = families.parents & ~directed
    marks = (families.parents & directed == directed) & (others & ~neighbours == 0)
    for w, own in enumerate(known[1]):
        bit, joined = np.uint64(1 << w), np.uint64(own | 1 << w)
        marks &= (others & bit == 0) | (others & ~joined == 0)
    return Inside(marks, tuple((a, b) for a, own in enumerate(known[1]) for b in bits(own) if a < b))
