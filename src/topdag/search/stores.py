"""Three ways to hold local scores of all families: as set functions, family by family, or as lists.

Masks are bit sets over the scored variables, in column order; a *slot* is a mask with the variable's own bit left
out. All values lie on one grid (see docs/explanation/method.md), so sums of them are exact.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from topdag import _core
from topdag._util.arrays import Floats, Integers, Masks
from topdag._util.bitsets import equals, set_array, sort_keys
from topdag.errors import ScoreError
from topdag.search.family_lists import FamilyLists

OwnFamilies = tuple[Masks, Floats]
"""Of one variable: parent sets, and local scores on the grid."""
PART = 1 << 20


class ParentLimits(NamedTuple):
    """The parents that one variable may have: all of ``must``, none outside ``may``, so many."""

    must: int
    may: int
    least: int
    most: int

    def admits(self, mask: int) -> bool:
        is_between = not self.must & ~mask and not mask & ~self.may
        return is_between and self.least <= mask.bit_count() <= self.most

    @property
    def n_sets(self) -> int:
        free, n_must = (self.may & ~self.must).bit_count(), self.must.bit_count()
        return sum(math.comb(free, k - n_must) for k in range(max(self.least, n_must), self.most + 1))


class Store(ABC):
    """What every question asks of local scores, however they are held.

    ``core(before)``: as the core reads them, with the variables that always come before each, as masks.
    """

    n: int
    is_listed: ClassVar[bool]

    @abstractmethod
    def core(self, before: Sequence[int] = ()) -> _core.LocalScores: ...

    @abstractmethod
    def value(self, x: int, mask: int) -> float:
        """The local score on the grid; minus infinity: not allowed."""

    def exact_value(self, x: int, mask: int) -> float:
        """As it was given, where that is still known."""
        return self.value(x, mask)

    def value_of(self, masks: Sequence[int]) -> float:
        """Of a network."""
        return math.fsum(self.value(x, mask) for x, mask in enumerate(masks))

    @abstractmethod
    def families_of(self, x: int) -> OwnFamilies:
        """All allowed families of x: parent masks by growing bits, and local scores on the grid."""

    @abstractmethod
    def pieces_of(self, x: int) -> Iterator[Floats]:
        """The local scores of x piece by piece, minus infinity for what is not allowed."""

    @abstractmethod
    def with_families(self, own: Mapping[int, OwnFamilies]) -> Store:
        """The same, but with these families for some variables."""

    @property
    @abstractmethod
    def listed(self) -> ListStore:
        """Itself, where families are listed."""

    def lacks_sets(self, max_parents: int) -> bool:
        """Whether sets with so many parents or fewer were left out for their penalty."""
        return False

    @property
    @abstractmethod
    def n_families(self) -> int: ...

    @property
    @abstractmethod
    def arrays(self) -> list[Floats]:
        """Each array of scores once."""

    @property
    def n_bytes(self) -> int:
        return sum(array.nbytes for array in self.arrays)


class DenseStore(Store):
    """A score, or minus infinity, for every family."""

    is_listed = False

    @abstractmethod
    def values(self, x: int, masks: Masks) -> Floats: ...

    def families_of(self, x: int) -> OwnFamilies:
        return _core.families_worth_keeping(self.core(), x, math.inf)

    def families_between(self, x: int, must: int, may: int) -> OwnFamilies:
        """Of the allowed families of x those with all parents of ``must`` and none outside ``may``, likewise."""
        masks = self._sets_between(must, may)
        values = self.values(x, masks)
        allowed = values > -math.inf
        return (masks, values) if allowed.all() else (masks[allowed], values[allowed])

    def unscored_between(self, x: int, must: int, may: int) -> Masks:
        """The other parent sets with all of ``must`` and none outside ``may``."""
        masks = self._sets_between(must, may & ~(1 << x))
        return masks[np.isneginf(self.values(x, masks))]

    def _sets_between(self, must: int, may: int) -> Masks:
        masks = np.array([must], dtype=np.uint64)
        for v in range(self.n):
            if (may & ~must) >> v & 1:
                masks = np.concatenate([masks, masks | np.uint64(1 << v)])
        return masks

    def pieces_of(self, x: int) -> Iterator[Floats]:
        low = np.uint64((1 << x) - 1)
        for begin in range(0, 1 << self.n - 1, PART):
            slots: Masks = np.arange(begin, min(begin + PART, 1 << self.n - 1), dtype=np.uint64)
            yield self.values(x, slots & low | (slots & ~low) << np.uint64(1))

    def with_families(self, own: Mapping[int, OwnFamilies]) -> FamilyStore:
        return FamilyStore.of(self.n, (own.get(x) or self.families_of(x) for x in range(self.n)))

    @property
    def listed(self) -> ListStore:
        raise TypeError("the families are not listed")


@dataclass(frozen=True)
class SetStore(DenseStore):
    """local(x | U) = joint[U + x] - below[x][U]; below None: joint itself. Minus infinity: not allowed. ``limits``: nor
    are families beyond those of their variable; () where there are none."""

    n: int
    joint: Floats
    below: tuple[Floats | None, ...]
    limits: tuple[ParentLimits, ...] = ()

    def core(self, before: Sequence[int] = ()) -> _core.LocalScores:
        below = [self.joint if b is None else b for b in self.below]
        return _core.difference_scores(self.n, self.joint, below, before, self.limits)

    def value(self, x: int, mask: int) -> float:
        if self.limits and not self.limits[x].admits(mask):
            return -math.inf
        joint = float(self.joint[mask | 1 << x])
        below = self.below[x]
        return joint if joint == -math.inf else joint - float((self.joint if below is None else below)[mask])

    def values(self, x: int, masks: Masks) -> Floats:
        """Whatever the limits."""
        below = self.below[x]
        found: Floats = self.joint[masks | np.uint64(1 << x)]
        np.subtract(found, (self.joint if below is None else below)[masks], out=found, where=found > -math.inf)
        return found

    def lacks_sets(self, max_parents: int) -> bool:
        if self.limits:
            return False
        allowed = sum(math.comb(self.n, size) for size in range(min(self.n, max_parents + 1) + 1))
        return sum(int(np.isfinite(part).sum()) for part in _parts(self.joint)) != allowed

    @cached_property
    def n_families(self) -> int:
        """Without limits every allowed set is a family of each of its members."""
        if float(self.joint.min()) > -math.inf:
            return sum(own.n_sets for own in self.limits) if self.limits else self.n << self.n - 1 if self.n else 0
        if self.limits:
            return _core.count_families(self.core())
        sizes = np.bitwise_count(np.arange(min(PART, len(self.joint)), dtype=np.uint64)).astype(np.int64)
        total = 0
        for place, part in enumerate(_parts(self.joint)):
            finite = np.isfinite(part)
            total += int(sizes[finite].sum()) + place.bit_count() * int(finite.sum())
        return total

    @property
    def arrays(self) -> list[Floats]:
        return [self.joint, *{id(b): b for b in self.below if b is not None}.values()]


@dataclass(frozen=True)
class FamilyStore(DenseStore):
    """families[x * 2**(n-1) + slot]; minus infinity: not allowed."""

    n: int
    families: Floats

    @classmethod
    def of(cls, n: int, families: Iterable[OwnFamilies]) -> FamilyStore:
        """Of just these families, one entry for each variable."""
        made = cls(n, np.full(n << n - 1, -math.inf))
        for x, own in enumerate(families):
            made._put(x, own)
        return made

    def _put(self, x: int, own: OwnFamilies) -> None:
        self.families[(x << self.n - 1) + slots_of(own[0], x)] = own[1]

    def with_families(self, own: Mapping[int, OwnFamilies]) -> FamilyStore:
        made = FamilyStore(self.n, self.families.copy())
        for x, families in own.items():
            made.families[x << self.n - 1 : (x + 1) << self.n - 1] = -math.inf
            made._put(x, families)
        return made

    def core(self, before: Sequence[int] = ()) -> _core.LocalScores:
        return _core.family_scores(self.n, self.families, before)

    def value(self, x: int, mask: int) -> float:
        low = (1 << x) - 1
        return float(self.families[(x << (self.n - 1)) + (mask & low | mask >> 1 & ~low)])

    def values(self, x: int, masks: Masks) -> Floats:
        return self.families[(x << (self.n - 1)) + slots_of(masks, x)]

    @property
    def n_families(self) -> int:
        return sum(int(np.isfinite(part).sum()) for part in _parts(self.families))

    @property
    def arrays(self) -> list[Floats]:
        return [self.families]


@dataclass(frozen=True)
class MixedStore(FamilyStore):
    """Families of a table with discrete and continuous variables, or one in which variables were set by experiment,
    with how many have no score for another reason than their variables: ``degenerate``, since their likelihood has no
    maximum; ``hopeless``, for their penalty."""

    degenerate: int
    hopeless: int


@dataclass(frozen=True)
class ListStore(Store):
    """Some families listed; no other is allowed. ``lists`` has the scores as given, ``rounded`` those on the grid."""

    n: int
    lists: FamilyLists
    rounded: Floats
    is_listed = True

    @classmethod
    def of(cls, names: Sequence[str], families: Iterable[OwnFamilies]) -> ListStore:
        """Of just these families, one entry for each variable; ``rounded`` can still be rounded in place."""
        own = list(families)
        masks, scores = (np.concatenate(parts) for parts in zip(*own, strict=True))
        offsets = np.cumsum([0, *(len(sets) for sets, _ in own)])
        lists = FamilyLists(tuple(names), offsets, rows_of(masks), scores)
        return cls(len(lists.names), lists, lists.scores.copy())

    @classmethod
    def of_lists(cls, lists: FamilyLists) -> ListStore:
        """Of lists whose scores are on the grid already."""
        return cls(len(lists.names), lists, lists.scores)

    @classmethod
    def on_grid(cls, lists: FamilyLists, grid: int) -> ListStore:
        """Rounded to 2**-grid."""
        return cls(len(lists.names), lists, np.ldexp(np.rint(np.ldexp(lists.scores, grid)), -grid))

    def core(self, before: Sequence[int] = ()) -> _core.LocalScores:
        """For what adds up scores themselves, not shortfalls."""
        if not self._sums_are_exact:
            raise ScoreError(
                "Local scores of this size cannot be added up to 1e-6 nats, so there are no tables over sets of them. "
                "Ask for the best network by search, without a prior, or use fewer rows."
            )
        return _core.listed_scores(self.n, self.lists.offsets, self.parents, self.rounded, before)

    @property
    def listed(self) -> ListStore:
        return self

    def families_of(self, x: int) -> OwnFamilies:
        begin, end = self.lists.offsets[x : x + 2]
        masks = sets_in(self.lists.masks[begin:end])
        order = np.lexsort(sort_keys(masks))
        return masks[order], self.rounded[begin:end][order]

    def pieces_of(self, x: int) -> Iterator[Floats]:
        yield self.rounded[slice(*self.lists.offsets[x : x + 2])]

    def with_families(self, own: Mapping[int, OwnFamilies]) -> ListStore:
        return ListStore.of(self.lists.names, (own.get(x) or self.families_of(x) for x in range(self.n)))

    def with_only(self, x: int, mask: int, score: float) -> ListStore:
        """The same, but with one family for x."""
        return self.with_families({x: (set_array([mask], self.n), np.array([score]))})

    @property
    def parents(self) -> Masks:
        """The parent sets as an array of the core's kind."""
        return sets_in(self.lists.masks)

    @property
    def candidates(self) -> _core.Candidates:
        """The families as costs."""
        return _core.Candidates(self.n, self.lists.offsets, self.parents, self.rounded)

    @property
    def best_scores(self) -> Floats:
        """The best local score of each variable."""
        best: Floats = np.maximum.reduceat(self.rounded, self.lists.offsets[:-1])
        return best

    @property
    def largest_shortfall(self) -> float:
        """No network is further behind the best families of all variables."""
        return float((self.best_scores - np.minimum.reduceat(self.rounded, self.lists.offsets[:-1])).sum())

    @property
    def _sums_are_exact(self) -> bool:
        sizes = np.maximum.reduceat(np.abs(self.rounded), self.lists.offsets[:-1])
        return bool(sizes.sum() <= math.ldexp(common_step(self.rounded), _core.EXACT_BITS))

    def find(self, x: int, mask: int) -> int | None:
        """Where a family stands in the list."""
        begin, end = self.lists.offsets[x : x + 2]
        found = np.flatnonzero(equals(sets_in(self.lists.masks[begin:end]), mask))
        return int(begin + found[0]) if found.size else None

    def value(self, x: int, mask: int) -> float:
        at = self.find(x, mask)
        return -math.inf if at is None else float(self.rounded[at])

    def exact_value(self, x: int, mask: int) -> float:
        at = self.find(x, mask)
        return -math.inf if at is None else float(self.lists.scores[at])

    @property
    def n_families(self) -> int:
        return self.lists.n_families

    @property
    def arrays(self) -> list[Floats]:
        return [self.rounded]


def common_step(values: Floats) -> float:
    """The largest power of two, up to 1, that divides all values; so it divides those of networks."""
    fractions, exponents = np.frexp(np.abs(values[values != 0]))
    whole = np.ldexp(fractions, 53).astype(np.int64)
    return float(np.ldexp((whole & -whole).astype(np.float64), exponents - 53).min(initial=1.0))


def sets_in(rows: Masks) -> Masks:
    """Rows of words, as lists have them, as an array of the core's kind."""
    return np.ascontiguousarray(rows[:, 0] if rows.shape[1] == 1 else rows)


def rows_of(sets: Masks) -> Masks:
    """The other way round."""
    return sets if sets.ndim == 2 else sets.reshape(-1, 1)


def _parts(values: Floats) -> Iterator[Floats]:
    """A long array piece by piece, so that what is made of it stays small."""
    return (values[begin : begin + PART] for begin in range(0, len(values), PART))


def slots_of(masks: Masks, x: int) -> Integers:
    """Sets without x as numbers with its bit left out."""
    low = np.uint64((1 << x) - 1)
    return ((masks & low) | (masks >> np.uint64(1) & ~low)).astype(np.int64)
