"""The lattice made block by block: the same answers as the lattice that keeps all tables, whatever the blocks."""

from __future__ import annotations

import math

import numpy as np
import pytest
from brute_force import class_numbers, network_scores, networks
from given_sizes import give_memory
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import families, sampled_table, tied_lists

import topdag as td
from topdag import _core
from topdag._util.run import Run
from topdag.errors import TooLarge
from topdag.scoring.choice import scores_by_lists
from topdag.scoring.score import scores_from_lists
from topdag.search.engines import Engine
from topdag.search.family_lists import FamilyLists
from topdag.search.lattice import block_lattice_bytes, build_block_lattice, most_held, plan_block_lattice
from topdag.search.stores import FamilyStore, SetStore

Found = dict[tuple[int, int], tuple[float, float]]


def block_lattice_of(
    scores: _core.LocalScores, block_bits: int, *, backward: bool = True, threads: int = 1
) -> _core.BlockLattice:
    lattice = _core.build_block_lattice(scores, backward, _core.Limits(threads), block_bits)
    assert lattice is not None
    return lattice


def tied_store(n: int, seed: int, *, values: int, allowed: float = 1.0) -> FamilyStore:
    """Whole scores with many ties; the empty set is always allowed."""
    rng = np.random.default_rng(seed)
    scores = -rng.integers(0, values, (n, 2 ** (n - 1))).astype(float)
    forbidden = rng.random(scores.shape) > allowed
    forbidden[:, 0] = False
    scores[forbidden] = -math.inf
    return FamilyStore(n, scores.ravel())


def noisy_store(n: int, seed: int) -> SetStore:
    """Set functions on a coarse grid that favour large sets, as data do."""
    rng = np.random.default_rng(seed)
    sizes = np.array([mask.bit_count() for mask in range(2**n)])
    joint = np.round(8 * (np.sqrt(sizes) + rng.random(2**n))) / 8
    return SetStore(n, joint, (None,) * n)


def sets_without(n: int, x: int) -> list[int]:
    return [mask for mask in range(2**n) if not mask >> x & 1]


def by_family(found: list[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> Found:
    return {
        (x, int(parents)): (float(score), float(bound))
        for x, own in enumerate(found)
        for parents, score, bound in zip(*own, strict=True)
    }


def all_bounds(scores: _core.LocalScores, n: int) -> dict[tuple[int, int], float]:
    """M of every family, one by one from the lattice that keeps all tables."""
    lattice = _core.build_lattice(scores, _core.Limits())
    assert lattice is not None
    return {family: lattice.family_bound(*family) for family in families(n)}


def assert_same_best(scores: _core.LocalScores, block_bits: int, threads: int, slack: float) -> None:
    expected = _core.best_network(scores, slack, _core.Limits())
    lattice = block_lattice_of(scores, block_bits, backward=False, threads=threads)
    assert lattice.best_score == expected.score
    assert lattice.best_alone == expected.best_alone
    assert lattice.best_parents(slack) == expected.parents


@settings(max_examples=100)
@given(tied_lists(variables=(1, 5)), st.integers(1, 6), st.integers(1, 3), st.sampled_from([0.0, 1.0]))
def test_best_network_of_lists_with_ties(lists: FamilyLists, block_bits: int, threads: int, slack: float) -> None:
    assert_same_best(scores_from_lists(lists).store.core(), block_bits, threads, slack)


@pytest.mark.parametrize("n", range(1, 15))
def test_best_network_with_many_blocks(n: int) -> None:
    stores = [tied_store(n, n, values=3), tied_store(n, n, values=1000, allowed=0.1), noisy_store(n, n)]
    for store in stores:
        for block_bits in (1, 3, 7, 14) if n < 12 else (4, 7, 9):
            assert_same_best(store.core(), block_bits, 2, 0.0)
            assert_same_best(store.core(), block_bits, 1, 0.25)


@settings(max_examples=60)
@given(st.integers(2, 7), st.integers(0, 99), st.integers(1, 4), st.integers(1, 6))
def test_slots_of_more_than_one_part(n: int, seed: int, block_bits: int, narrow_bits: int) -> None:
    """As with more than 33 variables, whose slots are not looked through at once: what is read is the same."""
    for store in (tied_store(n, seed, values=3), tied_store(n, seed, values=1000, allowed=0.3), noisy_store(n, seed)):
        core = store.core()
        whole = block_lattice_of(core, block_bits)
        parted = _core.build_block_lattice(core, True, _core.Limits(2), block_bits, narrow_bits=narrow_bits)
        assert parted is not None
        assert [parted.best(*family) for family in families(n)] == [whole.best(*family) for family in families(n)]
        assert parted.best_parents(0.25) == whole.best_parents(0.25)
        threshold = whole.best_score - 2
        expected, found = (_core.families_reaching(x, threshold, _core.Limits()) for x in (whole, parted))
        assert expected is not None and found is not None and by_family(found) == by_family(expected)


@settings(max_examples=30)
@given(tied_lists(variables=(1, 5)), st.integers(1, 6))
def test_best_parents_and_forward_scores_of_every_set(lists: FamilyLists, block_bits: int) -> None:
    store = scores_from_lists(lists).store
    lattice = block_lattice_of(store.core(), block_bits)
    n = store.n
    best = {
        (x, mask): max(store.value(x, part) for part in sets_without(n, x) if part & ~mask == 0)
        for x, mask in families(n)
    }
    forward = {0: 0.0}
    for mask in range(1, 2**n):
        before = ((x, mask & ~(1 << x)) for x in range(n) if mask >> x & 1)
        forward[mask] = max(best[x, rest] + forward[rest] for x, rest in before)
    assert {family: lattice.best(*family) for family in families(n)} == best
    assert {mask: lattice.forward(mask) for mask in range(2**n)} == forward


@pytest.mark.parametrize("block_bits", [1, 4, 6, 8, 10])
def test_only_undominated_parent_sets_are_kept(block_bits: int) -> None:
    for store in (tied_store(10, 1, values=4), tied_store(10, 2, values=500, allowed=0.3), noisy_store(10, 3)):
        scores = store.core()
        expected = [len(_core.families_worth_keeping(scores, x, -1.0)[0]) for x in range(10)]
        assert block_lattice_of(scores, block_bits, backward=False).kept_sets == expected


def assert_families(scores: _core.LocalScores, n: int, block_bits: int, threads: int) -> None:
    """At every kind of threshold, exactly the families that reach it, with their bounds."""
    bounds = all_bounds(scores, n)
    finite = sorted(bound for bound in bounds.values() if bound > -math.inf)
    lattice = block_lattice_of(scores, block_bits, threads=threads)
    for threshold in {-math.inf, *(finite[len(finite) * part // 4] for part in range(4) if finite), *finite[-1:]}:
        found = by_family(_core.families_reaching(lattice, threshold, _core.Limits(threads)) or [])
        expected = {family: bound for family, bound in bounds.items() if bound >= threshold and bound > -math.inf}
        assert {family: bound for family, (_, bound) in found.items()} == expected


@settings(max_examples=60)
@given(tied_lists(variables=(1, 5)), st.integers(1, 6), st.integers(1, 2))
def test_families_that_reach_a_threshold(lists: FamilyLists, block_bits: int, threads: int) -> None:
    store = scores_from_lists(lists).store
    assert_families(store.core(), store.n, block_bits, threads)


@pytest.mark.parametrize("block_bits", [1, 3, 7, 9])
def test_families_of_more_variables(block_bits: int) -> None:
    assert_families(tied_store(8, 5, values=20).core(), 8, block_bits, 2)
    assert_families(noisy_store(8, 6).core(), 8, block_bits, 1)


def test_families_come_best_first_with_their_local_scores() -> None:
    store = noisy_store(7, 8)
    lattice = block_lattice_of(store.core(), 3)
    for x, own in enumerate(_core.families_reaching(lattice, -math.inf, _core.Limits()) or []):
        rows = [(-score, parents) for parents, score, _ in zip(*own, strict=True)]
        assert rows == sorted(rows)
        assert [-score for score, _ in rows] == [store.value(x, int(parents)) for _, parents in rows]


def all_scores(store: FamilyStore | SetStore, *, of_classes: bool) -> list[float]:
    """The scores of all networks, or of all classes, best first."""
    own = [[-math.inf if mask >> x & 1 else store.value(x, mask) for mask in range(2**store.n)] for x in range(store.n)]
    scores = network_scores(np.array(own), networks(store.n))
    firsts = np.unique(class_numbers(store.n), return_index=True)[1] if of_classes else slice(None)
    return sorted(scores[firsts].tolist(), reverse=True)


@pytest.mark.parametrize("of_classes", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_families_for_the_k_best(seed: int, of_classes: bool) -> None:
    """All families that reach a floor, which k networks reach, though it is not far below the k-th."""
    store = noisy_store(5, seed) if of_classes or seed else tied_store(5, seed, values=30)
    bounds = all_bounds(store.core(), 5)
    every = all_scores(store, of_classes=of_classes)
    lattice = block_lattice_of(store.core(), 2)
    for k in (1, 2, 10, 1000, len(every), len(every) + 1):
        floor, found = _core.block_families_for_k_best(lattice, k, of_classes, _core.Limits(2))
        expected = {family: bound for family, bound in bounds.items() if bound >= floor}
        assert {family: bound for family, (_, bound) in by_family(found or []).items()} == expected
        if k > len(every):
            assert floor == -math.inf
        else:
            assert every[0] - max(1.0, 2 * (every[0] - every[k - 1])) <= floor <= every[k - 1]


@pytest.mark.parametrize("what", [_core.Listed.NETWORKS, _core.Listed.CLASSES])
@pytest.mark.parametrize("store", [noisy_store(7, 2), noisy_store(9, 3)], ids=["7", "9"])
def test_lists_are_those_of_the_lattice(store: SetStore, what: _core.Listed) -> None:
    """Scores, and networks in the same order: ties too are listed alike."""
    scores = store.core()
    dense = _core.build_lattice(scores, _core.Limits())
    blocks = block_lattice_of(scores, 3, threads=2)
    assert dense is not None
    for most, depth in ((1, math.inf), (50, math.inf), (5000, 1.0)):
        lowest = dense.best_score - depth
        expected = _core.list_best(dense, what, most, lowest, _core.Limits())
        found = _core.list_best(blocks, what, most, lowest, _core.Limits(2))
        assert found.finished and expected.finished and len(expected.scores) > 0
        assert found.scores.tolist() == expected.scores.tolist()
        assert found.parents.tolist() == expected.parents.tolist()
        counts = [
            _core.count_above(t, what, dense.best_score - 0.5, _core.Limits(2))[-1].found for t in (dense, blocks)
        ]
        assert counts[0] == counts[1] > 0


@pytest.mark.parametrize("kind", [td.BDeu(1.0), td.BIC(), td.K2()], ids=repr)
@pytest.mark.parametrize("max_parents", [None, 2])
def test_tables(kind: td.BDeu | td.BIC | td.K2, max_parents: int | None) -> None:
    scores = td.score(sampled_table(12, 200, 3), kind, max_parents=max_parents)
    core = scores.store.core()
    for block_bits in (5, 14):
        assert_same_best(core, block_bits, 2, scores.slack)


def test_a_stopped_lattice_is_none() -> None:
    scores = noisy_store(10, 1).core()
    assert _core.build_block_lattice(scores, True, _core.Limits(2, 0.0), 3) is None
    lattice = block_lattice_of(scores, 3)
    assert _core.families_reaching(lattice, -math.inf, _core.Limits(2, 0.0)) is None
    assert _core.block_families_for_k_best(lattice, 5, False, _core.Limits(2, 0.0))[1] is None
    assert build_block_lattice(scores, Run(time_limit=0), backward=False) is None


def test_memory_is_planned_before_it_is_taken() -> None:
    assert block_lattice_bytes(30, backward=False, threads=2) < 10.5e9
    assert block_lattice_bytes(29, backward=True, threads=2) < 10.5e9
    run = Run(memory_limit="100MB")
    plan_block_lattice(20, run, backward=True)
    assert 24 * 2**20 < run.memory <= 100e6
    with pytest.raises(TooLarge, match="The lattice on 24 variables needs"):
        plan_block_lattice(24, run, backward=False)


def test_sets_and_families_out_of_range_are_refused() -> None:
    lattice = block_lattice_of(noisy_store(4, 1).core(), 2)
    for x, within in ((-1, 0), (4, 0), (1, 2), (0, 16)):
        with pytest.raises(ValueError, match="no such"):
            lattice.best(x, within)
    with pytest.raises(ValueError, match="no such set"):
        lattice.forward(16)
    with pytest.raises(ValueError, match="no such block"):
        _core.build_block_lattice(noisy_store(4, 1).core(), False, _core.Limits(), 0)


@pytest.mark.parametrize(("gigabytes", "most"), [(8, 30), (24, 30), (128, 32), (256, 33), (2048, 36)])
def test_memory_decides_how_many_variables_have_all_sets(
    gigabytes: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    give_memory(monkeypatch, gigabytes)
    assert most_held() == most
    held, beyond = (scores_by_lists(n, 100, td.BDeu(), None, everything=False) for n in (most, most + 1))
    assert held.engine is Engine.BLOCKS and beyond.engine is Engine.SEARCH
