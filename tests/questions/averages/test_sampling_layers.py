"""The probabilities of layers, from which networks are drawn, against brute force; also where digits are lost."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sampling_truth import layer_truth
from strategies import families, list_scores, tables, tied_lists

import topdag as td
from topdag import _core
from topdag.scoring.score import scores_from_lists
from topdag.scoring.scores import Scores
from topdag.search.family_lists import FamilyLists

TOLERANCE = 1e-9


def assert_layers_hold(scores: Scores, tolerance: float, slack: float) -> None:
    """No further from the truth than it says."""
    core = scores.store.core()
    for (past, last), truth in layer_truth(scores).items():
        given_, error, _ = _core.next_layers(core, past, last, tolerance)
        assert np.abs(given_ - truth).sum() / 2 <= min(1.0, error) + slack, (past, last)


@settings(max_examples=30)
@given(tables(variables=(2, 4), rows=(1, 5, 40), constants=False))
def test_layers_of_tables(table: td.Table) -> None:
    if (table.arities > 1).all():
        assert_layers_hold(td.score(table, td.BDeu()), TOLERANCE, 1e-11)


@settings(max_examples=40)
@given(tied_lists(variables=(1, 4), always_empty_set=True), st.sampled_from([TOLERANCE, 0.0]))
def test_layers_of_lists_with_ties(lists: FamilyLists, tolerance: float) -> None:
    assert_layers_hold(list_scores(lists), tolerance, 1e-11)


def costly_edges(n: int, cost: float) -> Scores:
    """Every edge costs so much, and a little more or less by family, so that sums nearly agree and digits are lost."""
    names = [f"V{v}" for v in range(n)]
    listed = []
    for x, mask in families(n):
        parents = [v for v in range(n) if mask >> v & 1]
        listed.append((x, tuple(parents), -cost * len(parents) + ((7 * x + 3 * mask) % 5) / 8))
    return scores_from_lists(FamilyLists.build(names, listed), keep="all")


@pytest.mark.parametrize("cost", [2.0, 6.0, 10.0, 14.0, 20.0, 40.0])
def test_lost_digits_are_noticed(cost: float) -> None:
    """Places that are reached once in e^80 samples are right too, or are said not to be."""
    assert_layers_hold(costly_edges(4, cost), TOLERANCE, 1e-10)


def test_lost_digits_are_won_back() -> None:
    """Doubles would not do at this place, long doubles do."""
    scores = costly_edges(4, 10.0)
    core, place = scores.store.core(), (0b0001, 0b0001)
    in_doubles, wrong, _ = _core.next_layers(core, *place, 1.0)
    won_back, right, is_redone = _core.next_layers(core, *place, TOLERANCE)
    truth = layer_truth(scores)[place]
    assert is_redone
    assert wrong > 50 * right > TOLERANCE
    assert np.abs(won_back - truth).sum() < TOLERANCE < np.abs(in_doubles - truth).sum()


def test_likely_places_keep_their_digits() -> None:
    scores = costly_edges(4, 1.0)
    for past, last in layer_truth(scores):
        _, error, is_redone = _core.next_layers(scores.store.core(), past, last, TOLERANCE)
        assert error < 1e-11
        assert not is_redone


def test_a_past_must_be_one() -> None:
    core = costly_edges(3, 1.0).store.core()
    for past, last in [(0b111, 0b1), (0b1, 0b10)]:
        with pytest.raises(ValueError, match="no such past"):
            _core.next_layers(core, past, last, TOLERANCE)
