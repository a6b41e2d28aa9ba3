"""Arrays of sets of variables: a word for each of up to 64 variables, rows of two words for more.

What is written with these functions, and with the operators of numpy on sets from ``as_set``, holds for both.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topdag._util.arrays import Integers, Marks, Masks

Sets = Masks

NARROW = 64
"""So many variables fit a machine word."""
MOST_VARIABLES = 128
"""So many a set holds at most."""
_WORD = (1 << NARROW) - 1


def bits(mask: int) -> list[int]:
    """The members of one set, in order."""
    return [v for v in range(mask.bit_length()) if mask >> v & 1]


def set_array(masks: Sequence[int], n: int) -> Sets:
    """Sets of n variables as an array of the core's kind."""
    if n <= NARROW:
        return np.array(masks, dtype=np.uint64)
    return np.array([(mask & _WORD, mask >> NARROW) for mask in masks], dtype=np.uint64).reshape(-1, 2)


def masks_in(sets: Sets) -> list[int]:
    """The sets of such an array, or rows of words, as numbers."""
    if sets.ndim == 1:
        masks: list[int] = sets.tolist()
        return masks
    return [sum(word << NARROW * place for place, word in enumerate(row)) for row in sets.tolist()]


def as_set(mask: int, sets: Sets) -> Any:
    """The set as numpy takes it together with each of ``sets``."""
    return np.uint64(mask) if sets.ndim == 1 else np.array([mask & _WORD, mask >> NARROW], dtype=np.uint64)


def with_added(sets: Sets, mask: int) -> Sets:
    """Each with the members of this one."""
    return np.asarray(sets | as_set(mask, sets))


def is_empty(sets: Sets) -> Marks:
    """Which of the sets have no member."""
    return np.asarray((sets if sets.ndim == 1 else sets[:, 0] | sets[:, 1]) == 0)


def meets(sets: Sets, mask: int) -> Marks:
    """Which of the sets have a member in common with this one."""
    if sets.ndim == 2 and not mask >> NARROW:
        return np.asarray(sets[:, 0] & np.uint64(mask) != 0)
    if sets.ndim == 2 and not mask & _WORD:
        return np.asarray(sets[:, 1] & np.uint64(mask >> NARROW) != 0)
    return ~is_empty(sets & as_set(mask, sets))


def equals(sets: Sets, mask: int) -> Marks:
    """Which of the sets are this one."""
    return is_empty(sets ^ as_set(mask, sets))


def sizes_of(sets: Sets) -> Integers:
    """How many members each has."""
    counts = np.bitwise_count(sets).astype(np.int64)
    return counts if sets.ndim == 1 else np.asarray(counts[:, 0] + counts[:, 1])


def members_of(sets: Sets, n: int) -> Marks:
    """By set and variable: whether it is a member."""
    words, places = sets.reshape(len(sets), sets.ndim), np.arange(n)
    shifted = words[:, places // NARROW] >> (places % NARROW).astype(np.uint64)
    return (shifted & np.uint64(1)).astype(np.bool_)


def sort_keys(sets: Sets) -> tuple[Sets, ...]:
    """For ``np.lexsort``, which takes the last key first: the sets as numbers, growing."""
    return (sets,) if sets.ndim == 1 else (sets[:, 0], sets[:, 1])


def search_keys(sets: Sets) -> NDArray[Any]:
    """For ``np.searchsorted``, ``isin`` and ``unique``: one thing for each set that compares as sets do as numbers."""
    if sets.ndim == 1:
        return sets
    return np.ascontiguousarray(sets[:, ::-1].astype(">u8")).view("S16").ravel()


def sorted_sets(sets: Sets) -> Sets:
    """By growing number."""
    return sets[np.lexsort(sort_keys(sets))]


def is_in(sets: Sets, others: Sets) -> Marks:
    """Which of the sets stand among the others."""
    return np.isin(search_keys(sets), search_keys(others))


def distinct(sets: Sets) -> Sets:
    """Each once, by growing number."""
    return sets[np.unique(search_keys(sets), return_index=True)[1]]


def is_acyclic(masks: Iterable[int]) -> bool:
    """Whether a network with these parents has no circle."""
    left = dict(enumerate(masks))
    while left:
        waiting = sum(1 << x for x in left)
        ready = [x for x, mask in left.items() if not mask & waiting]
        if not ready:
            return False
        for x in ready:
            del left[x]
    return True
