"""Lists that end among networks that tie: they end, and always with the same ones."""

from __future__ import annotations

import numpy as np
import pytest
from list_checks import all_listed, one_row, random_lists
from strategies import sampled_table, table_of

import topdag as td
from topdag.questions.network_search import search_networks
from topdag.scoring.kinds.discrete import ScoreKind


def test_lists_grow_at_their_end_only() -> None:
    """The k best are the beginning of the k + 1 best, ties included, whatever passes it took to find them."""
    scores = td.score(sampled_table(9, 60, seed=2), td.BDeu())
    long = td.k_best_networks(scores, 20_000)
    for k in (1, 2, 3, 5, 17, 100, 511, 512, 513, 1024, 5000, 19_999):
        for threads in (1, 2, 3):
            short = td.k_best_networks(scores, k, threads=threads)
            assert np.array_equal(short.scores, long.scores[:k])
            assert np.array_equal(short.parents, long.parents[:k])
    assert np.unique(long.parents, axis=0).shape == long.parents.shape


@pytest.mark.parametrize("max_parents", [None, 1, 2])
@pytest.mark.parametrize("n", [8, 11, 14])
def test_a_list_ends_however_many_tie_with_its_last(n: int, max_parents: int | None) -> None:
    scores = one_row(n, max_parents)
    for ask in (td.k_best_networks, td.k_best_classes, search_networks):
        found = ask(scores, 10)
        assert found.proof.status is td.types.Status.PROVED
        assert len(set(found)) == 10
        assert set(found.scores.tolist()) == {found.floor}
    assert np.array_equal(search_networks(scores, 200).parents, td.k_best_networks(scores, 200).parents)


@pytest.mark.parametrize("kind", [td.qNML(), td.BDeu(), td.BIC()], ids=repr)
def test_lists_of_columns_with_many_states_end(kind: ScoreKind) -> None:
    """Every row has a state of its own, so nearly all families of one size tie."""
    table = table_of(np.random.default_rng(0).integers(0, 1000, (13, 6)), [1000] * 13)
    scores = td.score(table, kind)
    found = td.k_best_networks(scores, 25)
    assert np.array_equal(found.parents, search_networks(scores, 25).parents)
    for kept in (td.score(table, kind, keep=td.KBest(25)), td.score(table, kind, keep=td.KBest(40))):
        assert np.array_equal(td.k_best_networks(kept, 25).parents, found.parents)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_the_choice_among_ties_does_not_depend_on_threads_or_length(threads: int) -> None:
    """On sets of few different scores, so that every list ends among thousands that tie."""
    rng = np.random.default_rng(5)
    lists = random_lists(7, 5, spread=1, missing=0.5, unit=float(rng.integers(1, 5)))
    scores = all_listed(lists)
    long = td.k_best_networks(scores, 30_000, threads=1)
    assert np.array_equal(search_networks(scores, 500, block=3).parents, long.parents[:500])
    for k in (1, 100, 600, 3000, 29_999):
        assert np.array_equal(td.k_best_networks(scores, k, threads=threads).parents, long.parents[:k])
