"""Scoring in layers keeps what walking over open parent sets keeps, and what scoring everything would keep."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pruning_checks import (
    EPSILONS,
    KINDS,
    every_set,
    families_in,
    pruned,
    same_lists,
    scored_columns,
    tables_that_vary,
    truth,
)
from strategies import sampled_table, table_of

import topdag as td
from topdag._util.run import Run
from topdag.errors import TooLarge
from topdag.scoring.kinds.discrete import SetScore
from topdag.scoring.pruned import ALL_RULES, CUTTING_RULES, PrunedScores, may_be_in_layers, score_pruned
from topdag.scoring.task import Pruning, ScoringTask
from topdag.search.stores import SetStore

by_kind = pytest.mark.parametrize("kind", KINDS, ids=repr)


@by_kind
@settings(max_examples=20)
@given(st.data())
def test_layers_keep_what_scoring_everything_would_keep(kind: SetScore, data: st.DataObject) -> None:
    table = data.draw(tables_that_vary(variables=(2, 7)))
    limit = data.draw(st.sampled_from([None, None, 0, 1, 2, 3]))
    rules = data.draw(st.sampled_from([ALL_RULES, ALL_RULES, 0, *(1 << rule for rule in range(len(CUTTING_RULES)))]))
    keep = Pruning(data.draw(st.sampled_from(EPSILONS)))
    found = pruned(table, kind, keep, max_parents=limit, rules=rules, layers=True)
    grid, kept = truth(table, kind, keep, limit, rules)
    assert (found.grid, families_in(found)) == (grid, kept)
    assert found.limit >= max(mask.bit_count() for _, mask in kept)


@by_kind
@settings(max_examples=10)
@given(st.data())
def test_layers_compare_only_families_that_hold_what_must_be(kind: SetScore, data: st.DataObject) -> None:
    table = data.draw(tables_that_vary(variables=(2, 6)))
    columns, limit = scored_columns(table), data.draw(st.sampled_from([None, None, 1, 2, 3]))
    n = len(columns)
    rules = data.draw(st.sampled_from([ALL_RULES, ALL_RULES, 0]))
    drawn = [data.draw(st.integers(0, 2**n - 1)) & ~(1 << x) for x in range(n)]
    fits = [mask.bit_count() <= (n if limit is None else limit) for mask in drawn]
    task = ScoringTask(table, columns, kind, limit)
    must = [mask if fits[x] and may_be_in_layers(task, x, mask) else 0 for x, mask in enumerate(drawn)]
    for epsilon in EPSILONS:
        keep = Pruning(epsilon)
        found = score_pruned(replace(task, keep=keep), Run(), rules=rules, layers=True, must=must)
        grid, store = every_set(table, kind, keep, limit, rules)
        assert found is not None and found.by_layers
        assert (found.grid, families_in(found)) == (grid, kept_among(store, must, epsilon))


def kept_among(store: SetStore, must: list[int], epsilon: float) -> dict[tuple[int, int], float]:
    """By comparing all families that hold what must be."""
    kept = {}
    for x, least in enumerate(must):
        sets = [mask for mask in range(2**store.n) if not mask >> x & 1 and not least & ~mask]
        scores = {mask: value for mask in sets if (value := store.value(x, mask)) > -math.inf}
        for mask, value in scores.items():
            below = [v for other, v in scores.items() if other != mask and not other & ~mask]
            if not any(v >= value if epsilon < 0 else v > value + epsilon for v in below):
                kept[x, mask] = value
    return kept


@pytest.mark.parametrize("kind", [td.BIC(), td.AIC(), td.BDeu(), td.K2(), td.qNML()], ids=repr)
@pytest.mark.parametrize(("rows", "states"), [(40, (2, 2)), (300, (2, 4)), (900, (2, 3)), (2500, (2, 9))])
def test_both_ways_keep_the_same(kind: SetScore, rows: int, states: tuple[int, int]) -> None:
    """Cells of one word and of several, and two to nine states."""
    table = sampled_table(11, rows, seed=rows, states=states)
    limit = None if isinstance(kind, td.BIC) else 4
    for epsilon in (-1.0, math.log(20)):
        layers, walked = (pruned(table, kind, Pruning(epsilon), max_parents=limit, layers=way) for way in (True, False))
        assert layers.grid == walked.grid
        assert same_lists(layers.store.lists, walked.store.lists)


@settings(max_examples=30)
@given(st.data())
def test_sets_are_left_out_only_where_no_family_of_them_is_kept(data: st.DataObject) -> None:
    """What a set can score follows from its subsets. Columns that are functions of two others, or of one and noise, are
    where this is nearest to what it does score; states that never occur make sets cost more than they can explain."""
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    n, n_rows = data.draw(st.integers(4, 8)), data.draw(st.sampled_from([12, 60, 200]))
    arities = [data.draw(st.sampled_from([2, 2, 2, 3, 5])) for _ in range(n)]
    codes = np.array([rng.integers(0, arity, n_rows) for arity in arities])
    for x in range(2, n):
        made = data.draw(st.sampled_from(["free", "sum", "copy", "noisy", "rare"]))
        if made == "sum":
            codes[x] = (codes[x - 1] + codes[x - 2]) % arities[x]
        elif made in ("copy", "noisy"):
            codes[x] = (codes[x - 2] + (rng.random(n_rows) < (0.1 if made == "noisy" else 0))) % arities[x]
        elif made == "rare":
            codes[x] = rng.random(n_rows) < 0.05
    codes[:, :2] = [[0, 1]] * n
    weights = data.draw(st.sampled_from([None, None, [300] * n_rows, rng.integers(1, 400, n_rows).tolist()]))
    table = table_of(codes, arities, weights)
    kind = data.draw(st.sampled_from([td.BIC(), td.BIC(), td.AIC(), td.AIC()]))
    keep = Pruning(data.draw(st.sampled_from(EPSILONS)))
    found = pruned(table, kind, keep, layers=True)
    grid, kept = truth(table, kind, keep, None, ALL_RULES)
    assert (found.grid, families_in(found)) == (grid, kept)


def test_rows_with_weights() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, [[2], [3], [2], [2], [2], [2], [3]], (7, 4000))
    codes[3] = codes[0] ^ codes[5]
    table = table_of(codes, [2, 3, 2, 2, 2, 2, 3], rng.integers(1, 800, 4000).tolist())
    for kind in (td.BIC(), td.BDeu()):
        layers, walked = (pruned(table, kind, Pruning(), layers=way) for way in (True, False))
        assert same_lists(layers.store.lists, walked.store.lists)


@pytest.mark.parametrize("kind", [td.BIC(), td.AIC(), td.BDeu()], ids=repr)
def test_any_number_of_states(kind: SetScore) -> None:
    """Codes of one bit to more than eight, and cells of many words."""
    arities, rng = [2, 3, 4, 5, 9, 17, 256, 300], np.random.default_rng(4)
    codes = np.array([rng.integers(0, arity, 700) for arity in arities])
    codes[3] = (codes[1] + codes[2] + (rng.random(700) < 0.1)) % 5
    codes[:, :300] = np.array([np.arange(300) % arity for arity in arities])
    table = table_of(codes, arities)
    for keep in (Pruning(), Pruning(2.0)):
        grid, kept = truth(table, kind, keep, 3, ALL_RULES)
        for (x, mask), score in kept.items():
            parents = [v for v in range(len(arities)) if mask >> v & 1]
            assert score == pytest.approx(kind.local(table, x, parents), abs=1e-6)
        for way in (True, False):
            found = pruned(table, kind, keep, max_parents=3, layers=way)
            assert (found.grid, families_in(found)) == (grid, kept)


def test_more_columns_than_are_read_at_once() -> None:
    rng = np.random.default_rng(8)
    codes = rng.integers(0, 5, (150, 300))
    codes[:, :5] = np.arange(5)
    codes[140:] = (codes[:10] + (rng.random((10, 300)) < 0.1)) % 5
    table = table_of(codes, [5] * 150)
    lists = pruned(table, td.BIC(), Pruning(), max_parents=1).store.lists
    for x, name in enumerate(table.names):
        for parents, score in lists.families(name):
            own = [table.names.index(parent) for parent in parents]
            assert score == pytest.approx(td.BIC().local(table, x, own), abs=1e-6)
    assert any(parents == (table.names[0],) for parents, _ in lists.families(table.names[140]))


def test_threads_change_nothing() -> None:
    table = sampled_table(20, 200, seed=5)
    one, other = (pruned(table, td.BIC(), Pruning(1.0), threads=threads, layers=True) for threads in (1, 3))
    assert same_lists(one.store.lists, other.store.lists)
    assert (one.grid, one.limit, one.scored, one.sets) == (other.grid, other.limit, other.scored, other.sets)


def test_layers_are_taken_where_hardly_any_parent_set_is_cut() -> None:
    table = sampled_table(40, 100, seed=1)
    found = pruned(table, td.BIC(), Pruning())
    walked = pruned(table, td.BIC(), Pruning(), layers=False)
    assert set(found.cut.values()) == {0} and walked.cut["penalty"] > 0
    assert same_lists(found.store.lists, walked.store.lists)


# ---- More than 64 variables


def numbered(found: PrunedScores, names: tuple[str, ...]) -> set[tuple[str, frozenset[str], float]]:
    lists = found.store.lists
    return {(x, frozenset(parents), score) for x in names for parents, score in lists.families(x)}


def two_blocks(n: int, seed: int) -> tuple[np.ndarray, list[int]]:
    """Independent columns of which the second half depends on the first."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 2, (n // 2, 200))
    noise = rng.random((n // 2, 200)) < 0.15
    return np.vstack([first, np.roll(first, 1, axis=0) ^ noise]), [2] * n


def test_names_of_columns_do_not_matter_beyond_64() -> None:
    """The same columns in another order: sets cross the words in another way."""
    codes, arities = two_blocks(70, 1)
    table = table_of(codes, arities)
    order = np.random.default_rng(3).permutation(70)
    shuffled = td.Table.from_codes([table.names[v] for v in order], codes[order])
    some, other = (pruned(t, td.BIC(), Pruning(), max_parents=2) for t in (table, shuffled))
    assert numbered(some, table.names) == numbered(other, table.names)


def test_few_columns_beside_many_that_say_nothing() -> None:
    """Of the kept families those within twelve columns are the twelve columns' own."""
    codes, arities = two_blocks(80, 2)
    columns = [0, 1, 40, 41, 62, 63, 64, 65, 66, 70, 78, 79]
    whole = pruned(table_of(codes, arities), td.BIC(), Pruning(), max_parents=3)
    few = pruned(table_of(codes[columns], [2] * len(columns)), td.BIC(), Pruning(), max_parents=3)
    of_few = {(columns[x], sum(1 << columns[p] for p in range(12) if mask >> p & 1)) for x, mask in families_in(few)}
    lists, inside = whole.store.lists, sum(1 << v for v in columns)
    owners = np.repeat(np.arange(80), np.diff(lists.offsets)).tolist()
    masks = [low | high << 64 for low, high in lists.masks.tolist()]
    within = {(x, mask) for x, mask in zip(owners, masks, strict=True) if x in columns and not mask & ~inside}
    assert within == of_few
    assert any(mask >> 64 and mask & (1 << 64) - 1 for mask in masks)


def test_a_hundred_variables_without_a_limit() -> None:
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 2, (100, 30))
    codes[99] = codes[0] ^ codes[65]
    found = pruned(table_of(codes, [2] * 100), td.BIC(), Pruning())
    lists = found.store.lists
    assert next(lists.families(lists.names[99]))[0] == (lists.names[0], lists.names[65])
    assert found.limit == 3


def test_what_is_beyond_the_limits() -> None:
    codes = np.random.default_rng(2).integers(0, 2, (128, 30))
    fewer = table_of(codes[:70], [2] * 70)
    with pytest.raises(TooLarge, match="among up to 64"):
        pruned(fewer, td.BIC(), Pruning(k=3), max_parents=2)
    task = ScoringTask(fewer, scored_columns(fewer), td.BIC(), 6)
    with pytest.raises(TooLarge, match="max_parents"):
        score_pruned(replace(task, keep=Pruning(math.inf)), Run(memory_limit="1MB"), rules=0)
    assert score_pruned(replace(task, keep=Pruning(100.0)), Run(time_limit=0.0)) is None
