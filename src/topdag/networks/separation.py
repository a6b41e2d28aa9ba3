"""Who reaches whom: ancestors, Markov blankets and d-separation, with sets of variables as bits.

Every function speaks of one network, whose parent sets are ints, or of many at once, whose parent sets are arrays of
uint64 with a place for each network. The answer is of the same make; where it is yes or no, 1 or 0 stands for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np

Sets: TypeAlias = Any
"""A set of variables, or an array of them."""


def with_ancestors(parents: Sequence[Sets], start: int) -> Sets:
    """These variables and all that have a directed path to one of them."""
    reached: Sets = start
    before: Sets = None
    while before is None or not np.array_equal(before, reached):
        before = reached
        for v, its in enumerate(parents):
            reached = reached | its * (reached >> v & 1)
    return reached


def has_path(parents: Sequence[Sets], a: int, b: int) -> Sets:
    """Whether a directed path leads from a to b, which is another variable."""
    return with_ancestors(parents, 1 << b) >> a & 1


def blanket(parents: Sequence[Sets], v: int) -> Sets:
    """The parents of v, its children, and their other parents."""
    found = parents[v]
    for child, its in enumerate(parents):
        found = found | (its | 1 << child) * (its >> v & 1)
    return found & _all_but(parents, 1 << v)


def are_separated(parents: Sequence[Sets], a: int, b: int, given: int) -> Sets:
    """Whether ``given`` separates the sets a and b; the three are disjoint.

    By the moral graph of the ancestral set of all three: a walk that does not pass ``given`` [Lauritzen et al. 1990].
    The families of that set are cliques of the graph and hold all its edges.
    """
    kept = with_ancestors(parents, a | b | given)
    families = [(its | 1 << v) * (kept >> v & 1) for v, its in enumerate(parents)]
    passable = _all_but(parents, given)
    reached: Sets = a
    before: Sets = None
    while before is None or not np.array_equal(before, reached):
        before = reached
        for family in families:
            reached = reached | family * ((reached & passable & family) != 0)
    return 1 - ((reached & b) != 0) * 1


def v_structures(parents: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """All (a, c, b) of one network: a -> c <- b, a before b, and no edge between a and b."""
    for c, its in enumerate(parents):
        for a, b in combinations([p for p in range(its.bit_length()) if its >> p & 1], 2):
            if not (parents[a] >> b | parents[b] >> a) & 1:
                yield a, c, b


def _all_but(parents: Sequence[Sets], left_out: int) -> int:
    return ((1 << len(parents)) - 1) & ~left_out
