"""Arrays of sets of variables: a word for each set of up to 64 variables, rows of words for more.

What is written with these functions, and with the operators of numpy on sets from ``as_set``, holds for both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topdag._util.arrays import Integers, Marks, Masks

Sets = Masks

NARROW = 64
"""So many variables fit a machine word."""
MOST_VARIABLES = 2048
"""So many a set holds at most."""
SETS_AT_ONCE = 1 << 14
"""Whose members are looked at together, so that few bytes are taken."""


def bits(mask: int) -> list[int]:
    """The members of one set, in order."""
    found = []
    while mask:
        first = mask & -mask
        found.append(first.bit_length() - 1)
        mask ^= first
    return found


def words_for(n: int) -> int:
    """How many words a set of n variables takes."""
    return max(1, -(-n // NARROW))


def set_array(masks: Sequence[int], n: int) -> Sets:
    """Sets of n variables as an array of the core's kind."""
    if n <= NARROW:
        return np.array(masks, dtype=np.uint64)
    words = words_for(n)
    packed = b"".join(mask.to_bytes(8 * words, "little") for mask in masks)
    return np.frombuffer(packed, dtype="<u8").astype(np.uint64).reshape(-1, words)


def masks_in(sets: Sets) -> list[int]:
    """The sets of such an array, or rows of words, as numbers."""
    if sets.ndim == 1:
        masks: list[int] = sets.tolist()
        return masks
    size, packed = 8 * sets.shape[1], np.ascontiguousarray(sets, dtype="<u8").tobytes()
    return [int.from_bytes(packed[at : at + size], "little") for at in range(0, len(packed), size)]


def as_set(mask: int, sets: Sets) -> Any:
    """The set as numpy takes it together with each of ``sets``."""
    return np.uint64(mask) if sets.ndim == 1 else set_array([mask], NARROW * sets.shape[1]).reshape(-1)


def with_added(sets: Sets, mask: int) -> Sets:
    """Each with the members of this one."""
    return np.asarray(sets | as_set(mask, sets))


def is_empty(sets: Sets) -> Marks:
    """Which of the sets have no member."""
    return np.asarray(sets == 0 if sets.ndim == 1 else ~sets.any(axis=1))


def meets(sets: Sets, mask: int) -> Marks:
    """Which of the sets have a member in common with this one."""
    if sets.ndim == 1:
        return ~is_empty(sets & as_set(mask, sets))
    words = as_set(mask, sets)
    used = np.flatnonzero(words)  # mostly one
    return np.asarray((sets[:, used] & words[used]).any(axis=1))


def equals(sets: Sets, mask: int) -> Marks:
    """Which of the sets are this one."""
    return is_empty(sets ^ as_set(mask, sets))


def sizes_of(sets: Sets) -> Integers:
    """How many members each has."""
    counts = np.bitwise_count(sets).astype(np.int64)
    return counts if sets.ndim == 1 else np.asarray(counts.sum(axis=1))


def has_member(sets: Sets, v: int) -> Marks:
    """Which of the sets have this variable."""
    words = sets if sets.ndim == 1 else sets[:, v // NARROW]
    return (words >> np.uint64(v % NARROW) & np.uint64(1)).astype(np.bool_)


def members_of(sets: Sets, n: int) -> Marks:
    """By set and variable: whether it is a member."""
    as_bytes = np.ascontiguousarray(sets, dtype="<u8").reshape(len(sets), words_for(n)).view(np.uint8)
    return np.unpackbits(as_bytes, axis=1, count=n, bitorder="little").view(np.bool_)


def member_pairs(sets: Sets, n: int) -> tuple[Integers, Integers]:
    """Every member of every set: the set's place and the variable, by growing place and variable."""
    blocks = range(0, len(sets), SETS_AT_ONCE)
    found = [np.nonzero(members_of(sets[begin : begin + SETS_AT_ONCE], n)) for begin in blocks]
    if not found:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    places = [begin + own for begin, (own, _) in zip(blocks, found, strict=True)]
    return np.concatenate(places), np.concatenate([members for _, members in found])


def network_rows(networks: Sequence[Sequence[int]], n: int) -> Masks:
    """Networks of n variables, a row of parent sets each: numbers of 64 bits, of more variables Python's own."""
    return np.array(networks, dtype=np.uint64 if n <= NARROW else object).reshape(len(networks), n)


def sort_keys(sets: Sets) -> tuple[Sets, ...]:
    """For ``np.lexsort``, which takes the last key first: the sets as numbers, growing."""
    return (sets,) if sets.ndim == 1 else tuple(sets.T)


def search_keys(sets: Sets) -> NDArray[Any]:
    """For ``np.searchsorted``, ``isin`` and ``unique``: one thing for each set that compares as sets do as numbers."""
    if sets.ndim == 1:
        return sets
    return np.ascontiguousarray(sets[:, ::-1].astype(">u8")).view(f"S{8 * sets.shape[1]}").ravel()


def sorted_sets(sets: Sets) -> Sets:
    """By growing number."""
    return sets[np.lexsort(sort_keys(sets))]


def is_in(sets: Sets, others: Sets) -> Marks:
    """Which of the sets stand among the others."""
    return np.isin(search_keys(sets), search_keys(others))


def distinct(sets: Sets) -> Sets:
    """Each once, by growing number."""
    return sets[np.unique(search_keys(sets), return_index=True)[1]]


def parents_first(masks: Sequence[int]) -> list[int]:
    """The variables of a network with these parents, each after its own; without those on a circle or below one."""
    order, left, placed, before = list[int](), list(range(len(masks))), 0, -1
    while placed != before:
        before, waiting = placed, []
        for x in left:
            if masks[x] & ~placed:
                waiting.append(x)
            else:
                order.append(x)
                placed |= 1 << x
        left = waiting[::-1]  # those that stand before their parents come after them this time
    return order


def is_acyclic(masks: Sequence[int]) -> bool:
    """Whether a network with these parents has no circle."""
    return len(parents_first(masks)) == len(masks)
