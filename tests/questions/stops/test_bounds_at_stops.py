"""Every engine, stopped at counted places inside its work: network, bound, gap, floor and counts hold wherever it was.

Seeds are fixed; ``tests/slow/compare.py`` tries others for as long as it is given.
"""

from __future__ import annotations

import numpy as np
import pytest
from counted_stops import answer_at, counted_clock, readings_of
from stop_cases import STOP_KINDS

import topdag as td
from topdag import _core

SEEDS = 4


@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("kind", STOP_KINDS)
def test_what_is_said_at_a_stop_holds(kind: str, seed: int) -> None:
    make, check = STOP_KINDS[kind]
    check(**make(np.random.default_rng(seed)))


def test_the_clock_counts_its_readings_and_goes_back_to_seconds() -> None:
    with counted_clock():
        assert [_core.clock_seconds() for _ in range(3)] == [1.0, 2.0, 3.0]
    first = _core.clock_seconds()
    assert 0.0 <= _core.clock_seconds() - first < 60.0


def test_counted_stops_come_at_the_same_place_every_time() -> None:
    scores = td.score(td.example_table(100, seed=1), td.BDeu(), keep="best")

    def ask(limit: float) -> td.Answer:
        return td.best_network(scores, engine="search", time_limit=limit, threads=1)

    assert readings_of(ask) == readings_of(ask)
    for stop in (0, 3, 30, 100):
        first, second = answer_at(ask, stop), answer_at(ask, stop)
        assert (first.network, first.proof) == (second.network, second.proof)
