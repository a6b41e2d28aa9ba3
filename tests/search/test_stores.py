"""Stores of local scores: whatever holds them, the same questions have the same answers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topdag.search.family_lists import FamilyLists
from topdag.search.stores import FamilyStore, ListStore, OwnFamilies, SetStore, Store

N = 4
NAMES = tuple("abcd")
Values = dict[tuple[int, int], float]


@st.composite
def values(draw: st.DrawFn) -> Values:
    """Of some families; each variable without parents, at least."""
    joint = draw(st.lists(st.integers(-40, 0), min_size=1 << N, max_size=1 << N))
    families = [(x, mask) for x in range(N) for mask in range(1 << N) if not mask >> x & 1]
    return {
        (x, mask): joint[mask | 1 << x] - joint[mask] + 0.25 for x, mask in families if mask == 0 or joint[mask] % 3
    }


def of_variable(given: Values, x: int) -> OwnFamilies:
    masks = sorted(mask for y, mask in given if y == x)
    return np.array(masks, np.uint64), np.array([given[x, mask] for mask in masks])


def stores(given: Values) -> list[Store]:
    families = [of_variable(given, x) for x in range(N)]
    return [FamilyStore.of(N, families), ListStore.of(NAMES, families)]


@given(values(), values(), st.sets(st.integers(0, N - 1)))
def test_the_same_questions_have_the_same_answers(given: Values, other: Values, changed: set[int]) -> None:
    mixed = {family: value for family, value in given.items() if family[0] not in changed}
    mixed |= {family: value for family, value in other.items() if family[0] in changed}
    for store in stores(given):
        check(store, given)
        check(store.with_families({x: of_variable(other, x) for x in changed}), mixed)
        check(store, given)


def check(store: Store, given: Values) -> None:
    assert (store.n, store.n_families) == (N, len(given))
    for x in range(N):
        masks, scores = store.families_of(x)
        assert dict(zip(masks.tolist(), scores.tolist(), strict=True)) == {
            m: v for (y, m), v in given.items() if y == x
        }
        pieces = np.concatenate(list(store.pieces_of(x)))
        assert sorted(pieces[pieces > -math.inf]) == sorted(scores)
        for mask in range(1 << N):
            if not mask >> x & 1:
                assert store.value(x, mask) == store.exact_value(x, mask) == given.get((x, mask), -math.inf)
    assert store.value_of([0] * N) == sum(given[x, 0] for x in range(N))
    assert not store.lacks_sets(N)
    assert store.n_bytes == sum(array.nbytes for array in store.arrays)
    if store.is_listed:
        assert store.listed is store
        own = [store.families_of(x)[1] for x in range(N)]
        assert store.listed.best_scores.tolist() == [scores.max() for scores in own]
        assert store.listed.largest_shortfall == sum(np.ptp(scores) for scores in own)
    else:
        with pytest.raises(TypeError, match="not listed"):
            _ = store.listed


@given(values(), st.integers(0, N - 1))
def test_one_family_alone(given: Values, x: int) -> None:
    mask = (1 << N) - 1 ^ 1 << x
    only = stores(given)[1].listed.with_only(x, mask, -7.5)
    assert only.value(x, mask) == -7.5 and only.families_of(x)[0].tolist() == [mask]
    assert all(only.value(*family) == value for family, value in given.items() if family[0] != x)


def test_functions_of_sets_tell_what_they_lack() -> None:
    joint = np.array([0.0, -1, -2, -4, -3, -5, -6, -9])
    whole = SetStore(3, joint, (None,) * 3)
    assert not whole.lacks_sets(2) and whole.value(0, 0b110) == -9 + 6
    dense = whole.with_families({0: (np.array([0], np.uint64), np.array([-1.5]))})
    assert dense.value(0, 0) == -1.5 and dense.value(0, 0b10) == -math.inf and dense.value(1, 0b101) == -9 + 5
    fewer = SetStore(3, np.where(np.arange(8) == 7, -math.inf, joint), (None,) * 3)
    assert fewer.lacks_sets(2) and not fewer.lacks_sets(1)
    assert fewer.families_of(0)[0].tolist() == [0, 2, 4]


def test_lists_are_rounded_beside_what_was_given() -> None:
    lists = FamilyLists.build(NAMES[:2], [(0, (), -1.3), (1, (), -2.2), (1, (0,), -1.0)])
    store = ListStore.on_grid(lists, 1)
    assert (store.value(0, 0), store.exact_value(0, 0)) == (-1.5, -1.3)
    assert ListStore.of_lists(lists).value(1, 0) == -2.2
