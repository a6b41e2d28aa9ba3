"""Sets of more than 64 variables in arrays do what those of fewer do: as numbers, in rules, in paths and in scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import table_of

import topdag as td
from topdag import _core
from topdag._util.bitsets import (
    as_set,
    distinct,
    equals,
    is_empty,
    is_in,
    masks_in,
    meets,
    members_of,
    search_keys,
    set_array,
    sizes_of,
    sorted_sets,
    with_added,
)
from topdag._util.run import Run
from topdag.knowledge.compiled import FamilyRules
from topdag.knowledge.normal_form import ParentAmong, ParentCount
from topdag.scoring.kinds.discrete import coded
from topdag.scoring.pruned import grid_scores, pruning_question
from topdag.scoring.task import ScoringTask

MASKS = st.lists(st.integers(0, 2**128 - 1) | st.integers(0, 2**64 - 1), min_size=1, max_size=12)
ANY_MASK = st.integers(0, 2**128 - 1) | st.integers(0, 2**600 - 1) | st.integers(0, 599).map(lambda v: 1 << v)


@given(st.lists(ANY_MASK, min_size=1, max_size=12), ANY_MASK)
def test_arrays_of_sets_do_what_numbers_do(masks: list[int], one: int) -> None:
    for n in (600, 129, 128, 64):
        own, other = [mask & (1 << n) - 1 for mask in masks], one & (1 << n) - 1
        sets = set_array(own, n)
        assert masks_in(sets) == own
        assert masks_in(with_added(sets, other)) == [mask | other for mask in own]
        assert is_empty(sets & ~as_set(other, sets)).tolist() == [mask & ~other == 0 for mask in own]
        assert meets(sets, other).tolist() == [mask & other != 0 for mask in own]
        assert equals(sets, own[0]).tolist() == [mask == own[0] for mask in own]
        assert sizes_of(sets).tolist() == [mask.bit_count() for mask in own]
        assert members_of(sets, n).tolist() == [[bool(mask >> v & 1) for v in range(n)] for mask in own]
        assert masks_in(sorted_sets(sets)) == sorted(own)
        assert masks_in(distinct(sets)) == sorted(set(own))
        assert is_in(sets, set_array([other, own[0]], n)).tolist() == [mask in (other, own[0]) for mask in own]
        at = np.searchsorted(search_keys(sorted_sets(sets)), search_keys(sets))
        assert masks_in(sorted_sets(sets)[at]) == own


@given(MASKS, st.integers(0, 2**128 - 1), st.integers(0, 5))
def test_literals_read_wide_sets(masks: list[int], one: int, count: int) -> None:
    sets = set_array(masks, 128)
    assert ParentAmong(0, one, negated=True).admit(sets).tolist() == [mask & one == 0 for mask in masks]
    assert ParentCount(0, ">=", count).admit(sets).tolist() == [mask.bit_count() >= count for mask in masks]
    names = tuple(f"V{v}" for v in range(128))
    rules = FamilyRules(one & 3, one | 3, 0, 128, frozenset(masks), (), names)
    assert rules.admit(sets).tolist() == [not (one & 3) & ~mask and not mask & ~(one | 3) for mask in masks]


@settings(max_examples=40)
@given(st.integers(0, 2**32), st.sampled_from([128, 129, 512, 600, 2048]))
def test_paths_on_wide_sets_are_those_on_narrow_ones(seed: int, n: int) -> None:
    """Six variables at other places: the same flow."""
    rng = np.random.default_rng(seed)
    places = sorted(rng.choice(n, 6, replace=False).tolist())
    children, weights = rng.integers(0, 6, 12), rng.random(12)
    parents = [int(rng.integers(0, 64)) & ~(1 << int(x)) for x in children]
    between = int(rng.integers(0, 64)) | 0b100001

    def moved(mask: int) -> int:
        return sum(1 << place for v, place in enumerate(places) if mask >> v & 1)

    narrow = _core.path_flow(6, children, set_array(parents, 6), weights, 0, 5, between, 0.9)
    wide = _core.path_flow(
        n,
        np.array(places)[children],
        set_array([moved(mask) for mask in parents], n),
        weights,
        places[0],
        places[5],
        moved(between),
        0.9,
    )
    assert wide[0] == pytest.approx(narrow[0]) and wide[1] == moved(narrow[1])
    assert [wide[2][place] for place in places] == pytest.approx(narrow[2])


@pytest.mark.parametrize("kind", [td.BIC(), td.BDeu(), td.qNML()], ids=repr)
def test_sets_score_the_same_as_wide_ones(kind: Any) -> None:
    rng = np.random.default_rng(1)
    table = table_of(rng.integers(0, 3, (9, 70)), [3] * 9, rng.integers(1, 4, 70).tolist())
    columns = tuple(range(9))
    question = pruning_question(ScoringTask(table, columns, kind, 3), Run())
    masks = [int(mask) for mask in rng.integers(0, 2**9, 40)]
    narrow, *wider = (
        grid_scores(coded(table, columns), question, kind.joint(table.n_rows), set_array(masks, n))
        for n in (9, 128, 129, 2048)
    )
    for wide in wider:
        assert narrow[0] == wide[0] and narrow[1].tolist() == wide[1].tolist()


def test_families_of_wide_lists_have_all_parents(tmp_path: Any) -> None:
    codes = np.random.default_rng(3).integers(0, 2, (70, 90))
    codes[69] = codes[0] ^ codes[66]
    scores = td.score(table_of(codes, [2] * 70), td.BIC(), max_parents=2)
    best = dict(scores.families("V69"))
    assert max(best, key=best.__getitem__) == ("V0", "V66")
    assert scores.store.families_of(69)[0].shape == (len(best), 2)
    path = tmp_path / "wide.pss"
    td.io.write_scores(path, scores)
    again = dict(td.io.read_scores(path).families("V69"))
    assert again.keys() == best.keys()
