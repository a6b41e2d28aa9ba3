"""What tests of lists share: scores to list from, and what a list must be."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
import reference
from hypothesis import strategies as st
from published import DATA
from strategies import ALL_CASES, BDE, Case, sampled_table, table_of, tables

import topdag as td
from topdag.answers.lists import BestList
from topdag.scoring.score import scores_from_lists
from topdag.scoring.scores import Scores
from topdag.search.family_lists import FamilyLists

every_case = pytest.mark.parametrize("case", ALL_CASES, ids=repr)


def all_listed(lists: FamilyLists) -> Scores:
    """Scores in which the families listed are all there are, for every question."""
    return scores_from_lists(lists, keep="all")


def random_lists(n: int, seed: int, *, spread: int, missing: float, unit: float = 1.0) -> FamilyLists:
    """Every family but some missing ones, with scores 0, -1 ... -spread in these units."""
    rng = np.random.default_rng(seed)
    listed = [
        (x, reference.members(mask), float(-rng.integers(0, spread + 1)) * unit)
        for x in range(n)
        for mask in range(2**n)
        if not mask >> x & 1 and (rng.random() >= missing or (mask == 0 and seed % 2 == 0))
    ]
    listed += [(x, (), -spread * unit) for x in range(n) if not any(family[0] == x for family in listed)]
    return FamilyLists.build([f"V{v}" for v in range(n)], listed)


def assert_best(found: td.types.NetworkList, scores: Scores, expected: tuple[np.ndarray, np.ndarray]) -> None:
    """These networks in this order, each with its score."""
    values, masks = expected
    assert np.array_equal(found.scores, values)
    assert np.array_equal(found.parents, masks)
    assert len(found) == len(values)
    assert found.scored_names == tuple(scores.names[v] for v in scores.columns)


def assert_complete(
    found: td.types.NetworkList, scores: Scores, ranks: tuple[np.ndarray, np.ndarray], count: int
) -> None:
    """The first ``count`` networks, and a floor above which there are no others."""
    values, masks = ranks
    count = min(count, len(values))
    assert_best(found, scores, (values[:count], masks[:count]))
    assert found.proof.limit is None
    assert found.proof.gap == 0.0
    if not len(values):
        assert found.proof.status is td.types.Status.INFEASIBLE
        return
    assert found.proof.status is td.types.Status.PROVED
    assert found.proof.bound == values[0]
    assert (values > found.floor).sum() <= count


def interesting_counts(total: int, rng: np.random.Generator) -> list[int]:
    some = rng.integers(1, total + 2, 3).tolist()
    return sorted({1, 2, 3, 10, *some, max(1, total - 1), max(1, total), total + 1, 10 * total + 7})


def drawn_tables(case: Case, **options: Any) -> st.SearchStrategy[td.Table]:
    more = {"most_cells": 120} if case is BDE else {}
    return tables(most_states=3, rows=(1, 2, 5, 40), weights=((1,), (1, 2, 17)), **options, **more)


def assert_in_order(found: BestList[Any]) -> None:
    """Scores fall, and nothing stands twice."""
    assert (np.diff(found.scores) <= 0).all()
    assert len(set(map(tuple, found.parents.tolist()))) == len(found)


@cache
def scores_of(name: str, kind: str) -> Scores:
    path = DATA / f"{name}.csv"
    if not path.exists():
        pytest.skip(f"no {path}: counts on real data are not checked")
    return td.score(td.read_table(path, types={"*": "categorical"}), td.BIC() if kind == "BIC" else td.BDeu())


@cache
def long_scores() -> Scores:
    return td.score(sampled_table(16, 60, seed=8), td.BDeu())


LONG = 50.0


def assert_complete_above_floor(found: BestList[Any], whole: BestList[Any]) -> None:
    """All that score above the floor, and below it nothing that is not in the whole list, nothing twice; or just the
    best network found, where nothing is proved."""
    assert len(found) > 0
    if found.floor > found.scores[0]:
        assert len(found) == 1 and found.scores[0] <= whole.scores[0] <= found.floor
        assert found.proof.status is td.types.Status.STOPPED and found.proof.gap == found.proof.bound - found.scores[0]
        assert found.network(0).score == pytest.approx(found.scores[0], abs=1e-6)
        return
    above = int((whole.scores > found.floor).sum())
    assert np.array_equal(found.parents[:above], whole.parents[:above])
    assert np.array_equal(found.scores[:above], whole.scores[:above])
    place = {row.tobytes(): i for i, row in enumerate(whole.parents[above:])} if len(found) > above else {}
    rest = [above + place[row.tobytes()] for row in found.parents[above:]]
    assert rest == sorted(set(rest))
    assert np.array_equal(found.scores[above:], whole.scores[rest])
    if found.proof.status is td.types.Status.STOPPED:
        assert found.proof.bound >= whole.scores[0]
    else:
        assert len(found) == len(whole)


INSTANTS = (0.0, 1e-9, 0.005, 0.02, 0.08, 0.17, 0.35)


def interrupt_after(ticks: int) -> Callable[[td.types.Progress], None]:
    """Ctrl-C at the given report of progress, and again at every later one."""
    seen = iter(range(10**9))

    def press(_: td.types.Progress) -> None:
        if next(seen) >= ticks:
            raise KeyboardInterrupt

    return press


def interrupted(ask: Callable[..., Any], *asked: Any, ticks: int) -> tuple[Any, bool]:
    """The list when Ctrl-C is pressed after so many ticks, and whether it came to that."""
    try:
        return ask(*asked, on_progress=interrupt_after(ticks)), False
    except td.Interrupted as caught:
        return caught.answer, True


def one_row(n: int, max_parents: int | None = None) -> Scores:
    """All networks of these tie."""
    return td.score(table_of(np.zeros((n, 1), int), [2] * n), td.BDeu(), max_parents=max_parents)


def assert_members_are_the_networks(scores: Scores, factor: float) -> None:
    """The members of the listed classes are the listed networks, each in one class."""
    classes, single = td.classes_within(scores, factor), td.networks_within(scores, factor)
    members = [network.masks for found in classes for network in found.members()]
    assert len(members) == len(set(members)) == classes.n_networks == len(single)
    assert set(members) == {network.masks for network in single}
    assert td.count_classes_within(scores, factor) == len(classes)
    covered = np.repeat(classes.scores, classes.sizes)
    assert np.array_equal(covered, single.scores)
    assert classes.sizes == tuple(found.size for found in classes)
    assert_in_order(classes)
