"""Lists of classes: against all classes of up to five variables, an older algorithm, and lists of networks."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
import reference
from brute_force import class_numbers, gaps, least_factor, network_scores, networks, values_of, within
from hypothesis import given, settings
from hypothesis import strategies as st
from kbest_oracle import k_best_classes as oracle
from list_checks import (
    INSTANTS,
    assert_complete_above_floor,
    assert_in_order,
    assert_members_are_the_networks,
    interrupted,
    random_lists,
    scores_of,
)
from numpy.typing import NDArray
from strategies import ALL_CASES, BDE, Case, sampled_table, stored, tables

import topdag as td
from topdag.scoring.score import scores_from_lists
from topdag.scoring.scores import Scores
from topdag.search.stores import SetStore

EQUIVALENT = [case for case in ALL_CASES if case.score_equivalent]
OTHERS = [case for case in ALL_CASES if not case.score_equivalent]


def set_scores(n: int, seed: int, *, spread: int, max_parents: int | None = None) -> Scores:
    """A function of sets drawn from 0, -1 ... -spread: score equivalent, as every such function is, and full of ties.

    Adding parents costs a little, so that the best classes are not the densest.
    """
    rng = np.random.default_rng(seed)
    sets = np.arange(2**n)
    joint = -rng.integers(0, spread + 1, 2**n).astype(float) - np.bitwise_count(sets) ** 2 // (2 + seed % 3)
    if max_parents is not None:
        joint[np.bitwise_count(sets) > max_parents + 1] = -math.inf
    joint[0] = 0.0
    names = tuple(f"V{v}" for v in range(n))
    store = SetStore(n, joint, (None,) * n)
    return Scores(names, td.BDeu(), None, max_parents, "all", tuple(range(n)), store, 40)


def ranked_classes(scores: Scores) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Every allowed class with its score, best first, and its number; all members of a class score the same."""
    n = len(scores.columns)
    values, numbers = network_scores(values_of(scores), networks(n)), class_numbers(n)
    _, first, own = np.unique(numbers, return_index=True, return_inverse=True)
    assert np.array_equal(values, values[first][own])
    order = np.argsort(-values[first], kind="stable")
    order = order[np.isfinite(values[first][order])]
    return values[first][order], numbers[first][order]


def numbers_of(found: td.types.ClassList) -> list[int]:
    """The brute-force number of each listed class."""
    places = number_by_masks(found.parents.shape[1])
    return [places[tuple(masks)] for masks in found.parents.tolist()]


@cache
def number_by_masks(n: int) -> dict[tuple[int, ...], int]:
    return dict(zip(map(tuple, networks(n).tolist()), class_numbers(n).tolist(), strict=True))


def assert_classes(found: td.types.ClassList, ranks: tuple[NDArray[np.float64], NDArray[np.int64]], count: int) -> None:
    """The best ``count`` classes, each once: all that score more than the last, and of its ties as many as fit."""
    values, numbers = ranks
    count = min(count, len(values))
    assert np.array_equal(found.scores, values[:count])
    listed = numbers_of(found)
    assert len(set(listed)) == count
    above = int((values > values[count - 1]).sum())
    assert set(listed[:above]) == set(numbers[:above].tolist())
    assert set(listed) <= set(numbers[values >= values[count - 1]].tolist())
    assert_in_order(found)
    assert found.proof.status is td.types.Status.PROVED
    assert (values > found.floor).sum() <= count


def assert_all_questions(scores: Scores, rng: np.random.Generator) -> None:
    """The k best and all within factors on ties and beside them, against all classes; any number of threads."""
    ranks = ranked_classes(scores)
    total = len(ranks[0])
    whole = td.k_best_classes(scores, total + 5)
    assert_classes(whole, ranks, total)
    for k in {1, 2, 3, *rng.integers(1, total + 1, 3).tolist(), max(1, total - 1), total}:
        threads = 1 + k % 3
        found = td.k_best_classes(scores, k, threads=threads)
        assert_classes(found, ranks, k)
        assert np.array_equal(found.parents, whole.parents[:k])
    for gap in rng.choice(gaps(ranks[0]), 3).tolist():
        edge = least_factor(gap, scores.grid)
        for factor in {edge, max(1.0, math.nextafter(edge, 0.0))}:
            count = within(ranks[0], factor, scores.grid)
            found = td.classes_within(scores, factor, threads=1 + count % 3)
            assert_classes(found, ranks, count)
            assert np.array_equal(found.parents, whole.parents[:count])
            assert td.count_classes_within(scores, factor) == count


# ---- Against all classes


@pytest.mark.parametrize("spread", [0, 1, 3, 30])
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_classes_with_ties(n: int, spread: int) -> None:
    for seed in range(8):
        limit = None if seed % 3 else seed % (n + 1)
        assert_all_questions(set_scores(n, seed, spread=spread, max_parents=limit), np.random.default_rng(seed))


@pytest.mark.parametrize("spread", [0, 1, 3, 30])
@pytest.mark.parametrize("seed", [0, 3])
def test_classes_of_five_variables_with_ties(seed: int, spread: int) -> None:
    """All 8,782 classes."""
    scores = set_scores(5, seed, spread=spread, max_parents=2 if seed == 3 else None)
    assert_all_questions(scores, np.random.default_rng(seed))


@pytest.mark.parametrize("case", EQUIVALENT, ids=repr)
@settings(max_examples=12)
@given(st.data())
def test_classes_of_random_tables(case: Case, data: st.DataObject) -> None:
    options = {"most_cells": 120} if case is BDE else {}
    table = data.draw(
        tables(variables=(2, 4), most_states=3, rows=(1, 2, 5, 40), weights=((1,), (1, 2, 17)), **options)
    )
    scores = td.score(table, case.make(table), max_parents=data.draw(st.none() | st.integers(0, 3)))
    if scores.columns:
        assert_all_questions(scores, np.random.default_rng(data.draw(st.integers(0, 2**32))))


@pytest.mark.parametrize("case", EQUIVALENT, ids=repr)
def test_classes_of_a_table_of_five(case: Case) -> None:
    table = sampled_table(5, 60, seed=7, states=(2, 3))
    scores = td.score(table, case.make(table))
    ranks = ranked_classes(scores)
    assert len(ranks[0]) == 8782
    assert_classes(td.k_best_classes(scores, 10**6), ranks, 8782)
    assert_classes(td.k_best_classes(scores, 300), ranks, 300)
    assert_classes(td.classes_within(scores, 1e4), ranks, within(ranks[0], 1e4, scores.grid))


def test_classes_within_of_scores_pruned_for_it() -> None:
    table = sampled_table(6, 40, seed=3)
    everything = td.classes_within(td.score(table, td.BDeu()), 30)
    kept = td.classes_within(td.score(table, td.BDeu(), keep=td.Within(30)), 30)
    assert np.array_equal(kept.parents, everything.parents)
    assert np.array_equal(kept.scores, everything.scores)


# ---- Against Algorithm 1 of [Chen & Tian 2014]


def assert_as_oracle(scores: Scores, k: int) -> None:
    n = len(scores.columns)
    expected = oracle(stored(scores), n, k)
    found = td.k_best_classes(scores, k)
    assert found.scores.tolist() == [score for score, _ in expected]
    keys = [reference.equivalence_key(tuple(masks)) for masks in found.parents.tolist()]
    assert len(set(keys)) == len(keys)
    above = [reference.equivalence_key(masks) for score, masks in expected if score > found.scores[-1]]
    assert set(keys[: len(above)]) == set(above)
    assert_in_order(found)


@pytest.mark.parametrize(("n", "k"), [(1, 3), (2, 5), (3, 11), (4, 60)])
def test_the_oracle_finds_the_best_classes(n: int, k: int) -> None:
    for seed in range(6):
        scores = set_scores(n, seed, spread=1 + seed)
        values, _ = ranked_classes(scores)
        assert [score for score, _ in oracle(stored(scores), n, k)] == values[:k].tolist()
        assert_as_oracle(scores, k)


@pytest.mark.parametrize(
    ("n", "k", "case"),
    [
        (6, 100, EQUIVALENT[0]),
        (6, 60, BDE),
        (7, 40, EQUIVALENT[4]),
        (7, 40, EQUIVALENT[6]),
        (8, 25, EQUIVALENT[2]),
        (8, 25, EQUIVALENT[5]),
        (9, 12, EQUIVALENT[0]),
        (10, 5, EQUIVALENT[4]),
    ],
)
def test_classes_as_the_oracle_finds_them(n: int, k: int, case: Case) -> None:
    table = sampled_table(n, 70, seed=n + k)
    assert_as_oracle(td.score(table, case.make(table)), k)


@pytest.mark.parametrize(("n", "k"), [(6, 40), (7, 20), (8, 8)])
def test_ties_as_the_oracle_finds_them(n: int, k: int) -> None:
    for spread in (1, 4):
        assert_as_oracle(set_scores(n, n, spread=spread), k)
        assert_as_oracle(set_scores(n, n + 1, spread=spread, max_parents=2), k)


# ---- Against lists of networks


def factor_for(scores: Scores, networks: int) -> float:
    """A factor that falls on a tie and lets in fewer networks than this."""
    values = td.k_best_networks(scores, networks).scores
    return least_factor(float(values[0] - values[values > values[-1]][-1]), scores.grid)


@pytest.mark.parametrize("case", EQUIVALENT, ids=repr)
@pytest.mark.parametrize("n", [6, 7])
def test_members_of_listed_classes_are_the_listed_networks(n: int, case: Case) -> None:
    table = sampled_table(n, 60, seed=n, states=2 if case is BDE else (2, 3))
    scores = td.score(table, case.make(table))
    assert_members_are_the_networks(scores, factor_for(scores, 800))


@pytest.mark.parametrize(("n", "seed"), [(8, 1), (8, 2), (9, 3), (9, 4), (13, 5)])
def test_members_of_larger_tables(n: int, seed: int) -> None:
    table = sampled_table(n, 100, seed=seed)
    for scores in (td.score(table, td.BDeu()), td.score(table, td.BIC(), max_parents=2)):
        assert_members_are_the_networks(scores, factor_for(scores, 1000))


@pytest.mark.parametrize("n", [6, 7])
def test_members_with_ties(n: int) -> None:
    for seed in range(3):
        scores = set_scores(n, seed, spread=8, max_parents=3 if seed else None)
        assert_members_are_the_networks(scores, factor_for(scores, 1000))


@pytest.mark.parametrize(
    ("name", "kind", "factor"),
    [
        ("tic_tac_toe", "BDeu", 150),
        ("tic_tac_toe", "BIC", 150),
        ("wine", "BDeu", 10),
        ("wine", "BIC", 3),
        ("voting", "BDeu", 20),
        ("voting", "BIC", 20),
        ("zoo", "BDeu", 3),
        ("zoo", "BIC", 20),
    ],
)
def test_members_on_real_data(name: str, kind: str, factor: float) -> None:
    assert_members_are_the_networks(scores_of(name, kind), factor)


# ---- Real data


@pytest.mark.parametrize(
    ("name", "covered"),
    [
        ("wine", (8, 60, 448, 4142)),
        ("voting", (3, 30, 318, 3665)),
        ("zoo", (5, 52, 524, 5393)),
    ],
)
def test_networks_in_the_best_classes(name: str, covered: tuple[int, ...]) -> None:
    scores = scores_of(name, "BDeu")
    found = td.k_best_classes(scores, 1000)
    assert tuple(sum(found.sizes[:k]) for k in (1, 10, 100, 1000)) == covered
    assert found.n_networks == covered[-1]
    best = td.k_best_networks(scores, covered[-1])
    assert np.array_equal(np.repeat(found.scores, found.sizes), best.scores)
    for k in (1, 10, 100):
        assert np.array_equal(td.k_best_classes(scores, k).parents, found.parents[:k])


def test_tied_classes_of_tic_tac_toe() -> None:
    """The ten best classes are equally probable, and the best network has 0.0084 of all [Chen & Tian 2014, Table 1]"""
    scores = scores_of("tic_tac_toe", "BDeu")
    found = td.k_best_classes(scores, 10)
    assert len(set(found.scores.tolist())) == 1
    assert math.exp(found.scores[0] + 9418.289140) == pytest.approx(0.0084, abs=5e-5)
    assert td.count_classes_within(scores, 1) >= 10


# ---- What is asked


ASK: tuple[Callable[..., object], ...] = (td.k_best_classes, td.classes_within, td.count_classes_within)


@pytest.mark.parametrize("ask", ASK, ids=lambda ask: ask.__name__)
@pytest.mark.parametrize("case", OTHERS, ids=repr)
def test_scores_that_tell_members_apart_are_refused(case: Case, ask: Callable[..., object]) -> None:
    table = sampled_table(4, 30, seed=1)
    name = case.name.split("-")[0]
    with pytest.raises(td.ScoreError, match=rf"{ask.__name__} needs a score-equiv.*{name}.*networks instead"):
        ask(td.score(table, case.make(table)), 2)


@pytest.mark.parametrize("ask", ASK, ids=lambda ask: ask.__name__)
def test_scores_of_unknown_kind_are_refused(ask: Callable[..., object]) -> None:
    scores = scores_from_lists(random_lists(3, 2, spread=3, missing=0.0), keep="all")
    with pytest.raises(td.ScoreError, match="a file that does not say what they are"):
        ask(scores, 2)


@pytest.mark.parametrize("at_most", [1, 2, 7, 10**6])
def test_at_most(at_most: int) -> None:
    scores = td.score(td.example_table(), td.BDeu())
    whole = td.classes_within(scores, 100)
    some = td.classes_within(scores, 100, at_most=at_most)
    assert np.array_equal(some.parents, whole.parents[:at_most])
    assert np.array_equal(some.scores, whole.scores[:at_most])


def test_nothing_varies() -> None:
    table = td.Table({"a": ["x"] * 4, "b": ["y"] * 4})
    for found in (td.k_best_classes(table, 3), td.classes_within(table, 3)):
        assert len(found) == found.n_networks == 1
        assert found[0].size == 1
        assert found.sizes == (1,)
        assert found[0].names == ("a", "b")
    assert td.count_classes_within(table, 3) == 1


def test_constant_columns_stay_isolated() -> None:
    table = td.example_table()
    wider = td.Table.from_codes(
        ["flat", *table.names],
        np.insert(table.codes, 0, 0, axis=0),
        weights=table.weights,
        states=[["x"], *table.states],
    )
    plain, found = td.classes_within(table, 20), td.classes_within(wider, 20)
    assert [(c.directed, c.undirected, c.size) for c in found] == [(c.directed, c.undirected, c.size) for c in plain]
    assert found[0].names == ("flat", *table.names)
    assert found.sizes == plain.sizes


def test_a_list_of_classes() -> None:
    scores = td.score(td.example_table(), td.BDeu())
    found = td.k_best_classes(scores, 12)
    assert len(set(found)) == len(found) == 12
    assert all(isinstance(item, td.EquivalenceClass) for item in found)
    assert found[0] == td.EquivalenceClass(td.best_network(scores).network)
    assert found[2:4] == [found[2], found[3]]
    for item, on_grid in zip(found, found.scores, strict=True):
        assert item.score == pytest.approx(on_grid, abs=1e-9)
        assert all(scores.of(member) == pytest.approx(item.score, abs=1e-8) for member in item.members())
    assert found.shares.sum() == pytest.approx(1)
    assert np.allclose(found.shares * found.factors / found.sizes, found.shares[0] / found.sizes[0])
    assert repr(found).startswith("<ClassList: 12, scores -")


def test_a_table_is_scored_with_bic() -> None:
    table = td.example_table()
    own = td.k_best_classes(td.score(table, td.BIC()), 30)
    assert np.array_equal(td.k_best_classes(table, 30).parents, own.parents)


# ---- Stopped half-way

LONG = 40_000


@cache
def long_scores() -> Scores:
    return td.score(sampled_table(16, 60, seed=8), td.BDeu())


@cache
def whole_list() -> td.types.ClassList:
    return td.k_best_classes(long_scores(), LONG)


def test_stopped_by_the_clock() -> None:
    whole = whole_list()
    for limit in INSTANTS:
        found = td.k_best_classes(long_scores(), LONG, time_limit=limit)
        assert_complete_above_floor(found, whole)
        assert found.proof.limit == (None if found.proof.status is td.types.Status.PROVED else "time_limit")


@pytest.mark.parametrize("ticks", range(6))
def test_stopped_by_ctrl_c(ticks: int) -> None:
    found, _ = interrupted(td.k_best_classes, long_scores(), LONG, ticks=ticks)
    assert_complete_above_floor(found, whole_list())


def test_within_stopped_by_the_clock_and_by_ctrl_c() -> None:
    whole: Any = td.classes_within(long_scores(), 50)
    for limit in INSTANTS[::2]:
        assert_complete_above_floor(td.classes_within(long_scores(), 50, time_limit=limit), whole)
    for ticks in range(3):
        assert_complete_above_floor(interrupted(td.classes_within, long_scores(), 50, ticks=ticks)[0], whole)
