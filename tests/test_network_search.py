"""The published search over partial networks gives the lists that listing gives, for any block size."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import tables

import topdag as td
from topdag.network_search import search_networks
from topdag.score_kinds import ScoreKind

KINDS: list[ScoreKind] = [td.BDeu(1.0), td.BIC(), td.K2()]


@pytest.mark.parametrize("kind", KINDS, ids=repr)
@settings(max_examples=25)
@given(table=tables(), k=st.integers(1, 200), block=st.integers(1, 12))
def test_search_and_listing_agree(kind: ScoreKind, table: td.Table, k: int, block: int) -> None:
    scores = td.score(table, kind)
    listed = td.k_best_networks(scores, k)
    found = search_networks(scores, k, block=block)
    assert found.scores.tolist() == listed.scores.tolist()
    assert found.parents.tolist() == listed.parents.tolist()
    assert found.proof.status is td.Status.PROVED


def test_counts_are_those_of_the_search() -> None:
    scores = td.score(td.example_table(), td.BDeu(1.0))
    work = search_networks(scores, 50).stats.work
    assert work["generated"] >= work["expanded"] >= 50
    assert 1 <= work["oracle calls"] <= 2 ** len(scores.columns)
    one = search_networks(scores, 1).stats.work
    assert one["oracle calls"] < work["oracle calls"]


def test_every_successor_at_once_means_no_second_look() -> None:
    scores = td.score(td.example_table(), td.BDeu(1.0))
    assert search_networks(scores, 50, block=10**6).stats.work["re-expanded"] == 0
    assert search_networks(scores, 50, block=1).stats.work["re-expanded"] > 0


@pytest.mark.parametrize("block", [0, -1, 2.5, True])
def test_block_is_checked(block: object) -> None:
    with pytest.raises(ValueError, match="block"):
        search_networks(td.example_table(), 1, block=block)  # type: ignore[arg-type]
