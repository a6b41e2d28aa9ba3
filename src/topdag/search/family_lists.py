"""Family lists: for every variable its candidate parent sets with their local scores, as in a score file.

Scores are natural logs, larger is better. A parent set is a row of 64-bit words; bit v of the row set means
that the variable in column v is a parent.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np

from topdag._util.arrays import Floats, Integers, Marks, Masks
from topdag._util.bitsets import MOST_VARIABLES, bits, masks_in, words_for
from topdag.errors import FileError, ScoreError

_REVERSED_BYTE = np.array([int(f"{byte:08b}"[::-1], 2) for byte in range(256)], dtype=np.uint8)


class FamilyError(FileError):
    """A family that cannot stand in a list; ``family`` is its place among those given, from 0."""

    def __init__(self, message: str, family: int) -> None:
        super().__init__(message)
        self.family = family


@dataclass(frozen=True, eq=False)
class FamilyLists:
    """The families of every variable, checked and in a fixed order.

    Families of variable v are ``offsets[v]:offsets[v + 1]``, best score first; equal scores by number of
    parents, then by parents in column order. Every variable has a family and none has the same one twice.
    The arrays are copies and read-only.

    >>> lists = FamilyLists.build(["a", "b"], [(0, [], -3.0), (1, [], -2.0), (1, [0], -1.0)])
    >>> list(lists.families("b"))
    [(('a',), -1.0), ((), -2.0)]
    """

    names: tuple[str, ...]
    offsets: Integers
    masks: Masks
    scores: Floats

    def __post_init__(self) -> None:
        names = tuple(self.names)
        offsets = np.array(self.offsets, dtype=np.int64)
        masks = np.array(self.masks, dtype=np.uint64)
        scores = np.array(self.scores, dtype=np.float64)
        check_names(names)
        _check_shapes(names, offsets, masks, scores)
        variables = np.repeat(np.arange(len(names)), np.diff(offsets))
        _check_families(names, variables, masks, scores)
        order = _fixed_order(variables, masks, scores)
        kept = {"names": names, "offsets": offsets, "masks": masks[order], "scores": scores[order]}
        for field, value in kept.items():
            object.__setattr__(self, field, value)
        for array_kept in (self.offsets, self.masks, self.scores):
            array_kept.flags.writeable = False

    @classmethod
    def build(cls, names: Sequence[str], families: Iterable[tuple[int, Iterable[int], float]]) -> FamilyLists:
        """Family lists from (variable, parents, score), variables and parents as columns, in any order."""
        check_names(names)
        owners, sizes, parents, scores = array("q"), array("q"), array("q"), array("d")
        for variable, given, score in families:
            columns = list(given)
            if not all(0 <= column < len(names) for column in (variable, *columns)):
                place = len(scores)
                raise FamilyError(f"family {place} has a column outside 0 to {len(names) - 1}", place)
            owners.append(variable)
            sizes.append(len(columns))
            parents.extend(columns)
            scores.append(score)
        variables = np.array(owners, dtype=np.int64)
        masks = pack_masks(np.array(sizes), np.array(parents), len(names))
        order = np.argsort(variables, kind="stable")
        offsets = np.searchsorted(variables[order], np.arange(len(names) + 1))
        return cls(tuple(names), offsets, masks[order], np.array(scores)[order])

    @property
    def n_families(self) -> int:
        return len(self.scores)

    def families(self, name: str) -> Iterator[tuple[tuple[str, ...], float]]:
        """The parent sets of a variable as names in column order, each with its score, best first."""
        if name not in self.names:
            raise ScoreError(f"no variable is called {name!r}; there are {', '.join(self.names)}")
        variable = self.names.index(name)
        place = slice(int(self.offsets[variable]), int(self.offsets[variable + 1]))
        families = zip(masks_in(self.masks[place]), self.scores[place].tolist(), strict=True)
        return ((tuple(self.names[v] for v in bits(mask)), score) for mask, score in families)


class NamedFamilies:
    """Families gathered variable by variable; parents are names, also of variables still to come.

    Names are the bytes of a file. Parents are numbered as they turn up and become columns at the end.
    """

    def __init__(self) -> None:
        self.names: list[bytes] = []
        self._starts = array("q")
        self._scores = array("d")
        self._sizes = array("q")
        self._parents = array("q")
        self._numbers: defaultdict[bytes, int] = defaultdict(count().__next__)

    def begin(self, name: bytes) -> None:
        self.names.append(name)
        self._starts.append(len(self._scores))

    def add(self, score: float, parents: list[bytes]) -> None:
        """A further family of the variable begun last."""
        self._parents.extend(map(self._numbers.__getitem__, parents))
        self._scores.append(score)
        self._sizes.append(len(parents))

    def lacks_family(self) -> bool:
        """Whether the variable begun last has no family yet."""
        return bool(self.names) and self._starts[-1] == len(self._scores)

    def finish(self) -> FamilyLists:
        """The lists; what is wrong with one family is a FamilyError."""
        names = tuple(name.decode() for name in self.names)
        masks = pack_masks(np.array(self._sizes), self._parent_columns(), len(names))
        offsets = np.array([*self._starts, len(self._scores)])
        return FamilyLists(names, offsets, masks, np.array(self._scores))

    def _parent_columns(self) -> Integers:
        column_of = {name: column for column, name in enumerate(self.names)}
        column_of_number = np.array([column_of.get(name, -1) for name in self._numbers], dtype=np.int64)
        columns: Integers = column_of_number[np.array(self._parents)]
        for place in np.flatnonzero(columns < 0).tolist():
            family = int(np.searchsorted(np.cumsum(self._sizes), place, side="right"))
            stranger = list(self._numbers)[self._parents[place]].decode(errors="backslashreplace")
            raise FamilyError(f"the parent {stranger!r} is no variable", family)
        return columns


def check_names(names: Sequence[str]) -> None:
    if not 1 <= len(names) <= MOST_VARIABLES:
        raise FileError(f"{len(names):,} variables; family lists hold from 1 to {MOST_VARIABLES:,}")
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise FileError(f"two variables are called {name!r}; rename one")
        seen.add(name)


def pack_masks(sizes: Integers, columns: Integers, n_variables: int) -> Masks:
    """Bit sets of families whose parents stand one after the other in ``columns``, ``sizes`` at a time."""
    words = words_for(n_variables)
    first_word = np.repeat(np.arange(len(sizes)) * words, sizes)
    bits = np.left_shift(np.uint64(1), (columns & 63).astype(np.uint64))
    masks = np.zeros(len(sizes) * words, dtype=np.uint64)
    np.bitwise_or.at(masks, first_word + (columns >> 6), bits)
    sets = masks.reshape(len(sizes), words)
    for family in np.flatnonzero(_set_sizes(sets) < sizes):
        raise FamilyError(f"family {family} names a parent twice", int(family))
    return sets


def _set_sizes(masks: Masks) -> Integers:
    sizes: Integers = np.bitwise_count(masks).sum(axis=1, dtype=np.int64)
    return sizes


def _check_shapes(names: Sequence[str], offsets: Integers, masks: Masks, scores: Floats) -> None:
    n, m, words = len(names), scores.size, words_for(len(names))
    if (offsets.shape, masks.shape, scores.shape) != ((n + 1,), (m, words), (m,)):
        raise FileError(
            f"arrays that do not fit {n} variables and {m} families: offsets {offsets.shape}, masks "
            f"{masks.shape}, scores {scores.shape}; expected ({n + 1},), ({m}, {words}) and ({m},)"
        )
    for variable in np.flatnonzero(np.diff(offsets) < 1).tolist():
        raise FileError(f"variable {names[variable]!r} has no family; give it at least one")
    if offsets[0] != 0 or offsets[-1] != m:
        raise FileError(f"offsets run from {offsets[0]} to {offsets[-1]}; expected 0 to {m}")


def _check_families(names: Sequence[str], variables: Integers, masks: Masks, scores: Floats) -> None:
    troubles = (
        ("a score that is not finite", ~np.isfinite(scores)),
        ("a parent beyond the last variable", _has_stray_bit(masks, len(names))),
        ("itself as a parent", _is_own_parent(variables, masks)),
        ("the same parents twice", _stands_again(variables, masks)),
    )
    for trouble, is_bad in troubles:
        for family in np.flatnonzero(is_bad):
            parents = ", ".join(names[v] for v in bits(*masks_in(masks[family : family + 1])) if v < len(names))
            message = f"variable {names[variables[family]]!r} has {trouble} (parents: {parents or 'none'})"
            raise FamilyError(message, int(family))


def _has_stray_bit(masks: Masks, n_variables: int) -> Marks:
    everyone = pack_masks(np.array([n_variables]), np.arange(n_variables), n_variables)
    strays = masks & ~everyone
    marks: Marks = np.asarray(strays.any(axis=1))
    return marks


def _is_own_parent(variables: Integers, masks: Masks) -> Marks:
    own_words = masks[np.arange(len(masks)), variables >> 6]
    own_bits = np.left_shift(np.uint64(1), (variables & 63).astype(np.uint64))
    marks: Marks = np.not_equal(own_words & own_bits, 0)
    return marks


def _stands_again(variables: Integers, masks: Masks) -> Marks:
    """Marks every family that equals an earlier one."""
    order = np.lexsort((*masks.T, variables))
    repeats = (np.diff(variables[order]) == 0) & (masks[order[1:]] == masks[order[:-1]]).all(axis=1)
    marks = np.zeros(len(masks), dtype=np.bool_)
    marks[order[1:][repeats]] = True
    return marks


def _fixed_order(variables: Integers, masks: Masks, scores: Floats) -> Integers:
    """By variable, then score downwards, number of parents, parents in column order.

    Of two sets of one size, the one holding the first column they differ in comes first: read with column 0
    as the highest bit, it is the larger number.
    """
    as_bytes = np.ascontiguousarray(masks, dtype="<u8").view(np.uint8)
    column_0_highest = _REVERSED_BYTE[as_bytes].view(">u8").astype(np.uint64)
    return np.lexsort((*(~column_0_highest).T[::-1], _set_sizes(masks), -scores, variables))
