"""Networks one by one, and counted."""

from __future__ import annotations

import pytest
from brute_force import least_factor, ranked
from hypothesis import given, settings
from hypothesis import strategies as st
from list_checks import all_listed, drawn_tables, every_case, random_lists
from strategies import Case

import topdag as td


@every_case
@settings(max_examples=5)
@given(st.data())
def test_a_stream_gives_each_network_once(case: Case, data: st.DataObject) -> None:
    table = data.draw(drawn_tables(case, variables=(2, 4)))
    scores = td.score(table, case.make(table))
    factor = data.draw(st.sampled_from([1, 3.0, 1e3, 1e9]))
    listed = td.networks_within(scores, factor)
    streamed = list(td.iter_networks_within(scores, factor))
    assert len(streamed) == len(listed) == td.count_networks_within(scores, factor)
    assert {(network, network.score) for network in streamed} == {(network, network.score) for network in listed}


def test_streams_as_long_as_their_batches() -> None:
    """Without ties, so that a stream can end with a full batch, or just beside it."""
    scores = all_listed(random_lists(5, 2, spread=10**6, missing=0.0, unit=1e-6))
    values, masks = ranked(scores)
    for count in (1, 999, 1000, 1001, 2000, 3001):
        assert values[count - 1] > values[count]
        factor = least_factor(values[0] - values[count - 1], scores.grid)
        streamed = [network.masks for network in td.iter_networks_within(scores, factor)]
        assert sorted(streamed) == sorted(map(tuple, masks[:count].tolist()))


def test_a_stream_can_be_left() -> None:
    scores = td.score(td.example_table(), td.BDeu())
    stream = td.iter_networks_within(scores, 1e6)
    first = [next(stream) for _ in range(5)]
    stream.close()
    assert len(set(first)) == 5
    assert all(scores.of(network) == pytest.approx(network.score) for network in first)


def test_streams_side_by_side() -> None:
    """Two streams of two tables, taken in turn, do not mix."""
    one = td.score(td.example_table(), td.BDeu())
    other = td.score(td.example_table(500), td.BIC())
    turns = zip(td.iter_networks_within(one, 30), td.iter_networks_within(other, 30), strict=False)
    for a, b in list(turns):
        assert one.of(a) == pytest.approx(a.score)
        assert other.of(b) == pytest.approx(b.score)
