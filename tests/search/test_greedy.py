"""The quick network of a stopped search: sound, no worse than no arcs, and at a peak when it had time."""

from __future__ import annotations

import math

import pytest
import reference
from greedy import climb
from hypothesis import given, settings
from strategies import list_scores, sampled_table, stored, tables, tied_lists

import topdag as td
from topdag.search.family_lists import FamilyLists


def never() -> bool:
    return False


def assert_peak(local, parents: list[int], n: int, most: int) -> None:
    """Acyclic, within the limit, no arc missing that would gain."""
    assert reference.is_acyclic(tuple(parents))
    for x in range(n):
        assert parents[x].bit_count() <= most
        if parents[x].bit_count() == most:
            continue
        for p in range(n):
            more = [*parents]
            more[x] |= 1 << p
            if p != x and more != parents and reference.is_acyclic(tuple(more)):
                assert local(x, more[x]) <= local(x, parents[x])


@settings(max_examples=60)
@given(tables(variables=(2, 6), rows=(1, 5, 40)))
def test_on_tables(table: td.Table) -> None:
    scores = td.score(table, td.BDeu())
    n, local = len(scores.columns), stored(scores)
    for most in (0, 1, 2, n):
        parents = climb(local, n, most, never)
        assert parents is not None
        assert_peak(local, parents, n, most)
        assert reference.network_score(local, parents) >= reference.network_score(local, [0] * n)


@settings(max_examples=100)
@given(tied_lists())
def test_on_lists(lists: FamilyLists) -> None:
    scores = list_scores(lists)
    n, local = len(lists.names), stored(scores)
    parents = climb(local, n, n, never)
    if parents is None:
        assert any(local(x, 0) == -math.inf for x in range(n))
        return
    assert_peak(local, parents, n, n)
    assert reference.network_score(local, parents) > -math.inf


def test_no_time_means_no_arcs() -> None:
    scores = td.score(sampled_table(6, 100, seed=1), td.BIC())
    assert climb(scores.store.value, 6, 6, lambda: True) == [0] * 6


@pytest.mark.parametrize("steps", range(6))
def test_it_may_stop_after_any_arc(steps: int) -> None:
    scores = td.score(sampled_table(6, 300, seed=1), td.BIC())
    asked = iter([False] * steps + [True] * 100)
    parents = climb(scores.store.value, 6, 6, lambda: next(asked))
    assert sum(mask.bit_count() for mask in parents) == steps
    assert reference.is_acyclic(tuple(parents))


def test_it_finds_a_chain() -> None:
    fitted = td.FittedNetwork(
        td.Network(["a", "b", "c"], {"b": ["a"], "c": ["b"]}),
        dict.fromkeys("abc", (0, 1)),
        {"a": [0.5, 0.5], "b": [[0.9, 0.1], [0.1, 0.9]], "c": [[0.8, 0.2], [0.2, 0.8]]},
    )
    scores = td.score(fitted.sample(500, 1), td.BDeu())
    parents = climb(scores.store.value, 3, 3, never)
    assert scores.of(scores.network(parents)) == pytest.approx(td.best_network(scores).score)
