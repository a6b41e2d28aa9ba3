"""Counts of small sets of variables, added up over parts of the rows, against numpy and against counting set by set."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import topdag as td
from topdag import _core
from topdag.scoring.kinds.discrete import as_kind
from topdag.search.engines import sizes_given

LIMITS = _core.Limits(2, None, None)
KINDS: list[Any] = ["bic", "bdeu", td.BDeu(20), "k2", "qnml", "fnml", "aic"]


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 9),
    most=st.integers(1, 9),
    room=st.sampled_from([0, 500, 5_000, 10**7]),
    weighted=st.booleans(),
)
def test_all_small_sets_are_counted(seed: int, n: int, most: int, room: int, weighted: bool) -> None:
    rng = np.random.default_rng(seed)
    arities = rng.integers(1, 6, n).tolist()
    margins = _core.Margins(arities, most, float(room))
    codes = np.zeros((n, 0), np.uint16)
    weights = np.zeros(0, np.uint32)
    for rows in rng.integers(1, 60, 3).tolist():
        part = np.array([rng.integers(0, arity, rows) for arity in arities], np.uint16)
        own = rng.integers(1, 1000, rows).astype(np.uint32) if weighted else np.ones(rows, np.uint32)
        assert margins.add(part, own if weighted else None, LIMITS)
        codes, weights = np.hstack([codes, part]), np.concatenate([weights, own])
    assert margins.n_rows == weights.sum()
    assert margins.most_variables == min(n, most)
    sets = [few for size in range(min(n, most) + 1) for few in combinations(range(n), size)]
    for few in sets:
        order, counts = margins.counts(list(few))
        assert sorted(order) == list(few)
        cells = np.zeros(codes.shape[1], np.int64)
        for v in order:
            cells = cells * arities[v] + codes[v]
        assert np.array_equal(counts, np.bincount(cells, weights, len(counts)))
    masks = np.array([sum(1 << v for v in few) for few in sets], np.uint64)
    for kind, function in {0: lambda c, a: 1.0, 1: lambda c, a: c * math.log(c), 3: _log_rising}.items():
        bits, parameter = (0, 0.0) if kind == 0 else (30, 2.5)
        sums = margins.sums(kind, parameter, kind == 3, bits, masks, LIMITS)
        assert sums is not None
        for few, found in zip(sets, sums.tolist(), strict=True):
            of_set = math.prod(arities[v] for v in few)
            occurring = [c for c in margins.counts(list(few))[1].tolist() if c]
            expected = math.fsum(function(c, parameter / of_set) for c in occurring)
            assert found / 2**bits == pytest.approx(expected, abs=1e-6 if bits else 0.0)


def _log_rising(count: int, a: float) -> float:
    return math.lgamma(a + count) - math.lgamma(a)


def test_few_tables_for_many_sets() -> None:
    margins = _core.Margins([3] * 20, 4, 1e8)
    assert margins.n_tables == 210 and margins.bytes < 1e7
    apart = _core.Margins([3] * 20, 4, 0.0)  # the least there can be: a table for each set of four
    assert apart.n_tables == 4845
    assert _core.Margins([2] * 2_000, 6, 1e9).bytes > 1e15  # known without taking it


def test_what_is_stopped_says_so() -> None:
    margins = _core.Margins([2, 2], 2, 1e6)
    assert not margins.add(np.zeros((2, 5), np.uint16), None, _core.Limits(1, 0.0, None))


@pytest.mark.parametrize(
    ("codes", "weights", "match"),
    [
        (np.full((2, 3), 2, np.uint16), None, "not below its arity"),
        (np.zeros((3, 3), np.uint16), None, "a row of codes for each variable"),
        (np.zeros((2, 3), np.uint16), np.ones(2, np.uint32), "weights must fit"),
        (np.zeros((2, 2), np.uint16), np.full(2, 2**32 - 1, np.uint32), "more than 4,294,967,295 rows"),
    ],
)
def test_what_does_not_fit_is_refused(codes: Any, weights: Any, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        _core.Margins([2, 2], 2, 1e6).add(codes, weights, LIMITS)
    margins = _core.Margins([2, 2, 2], 2, 1e6)
    margins.add(np.zeros((3, 5), np.uint16), None, LIMITS)
    for ask in (lambda: margins.counts([0, 1, 2]), lambda: margins.counts([3])):
        with pytest.raises(ValueError, match=r"more variables than were counted|no such variable"):
            ask()
    with pytest.raises(ValueError, match="more variables than were counted"):
        margins.sums(0, 0.0, False, 0, np.array([7], np.uint64), LIMITS)


@pytest.fixture(scope="module")
def many_rows() -> td.Table:
    """Of so many distinct rows that a limit on parents has them counted by margins."""
    rng = np.random.default_rng(3)
    arities = [4, 5, 3, 4, 4, 3, 5, 4, 2, 1, 3, 3]
    columns: list[Any] = []
    for v, arity in enumerate(arities):
        columns.append((rng.integers(0, arity, 200_000) + (columns[v // 2] if v else 0)) % arity)
    table = td.Table({f"V{v}": column for v, column in enumerate(columns)}, keep_constant=True)
    assert table.n_distinct > 2**17
    return table


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("listed", [False, True])
def test_tables_of_many_rows(many_rows: td.Table, kind: Any, listed: bool) -> None:
    """All sets, and lists: local scores against that of each family by itself."""
    with sizes_given(few=2 if listed else 20, sparse=0):
        scores = td.score(many_rows, kind, max_parents=2, keep="best" if listed else "all")
    assert scores.store.is_listed == listed
    rng = np.random.default_rng(4)
    for x, name in enumerate(many_rows.names):
        families = list(scores.families(name))
        for at in rng.choice(len(families), min(6, len(families)), replace=False).tolist():
            parents, found = families[at]
            alone = as_kind(kind).local(many_rows, x, [many_rows.index(parent) for parent in parents])
            assert found == pytest.approx(alone, abs=2.0 ** (1 - scores.grid))
