"""Each next reach is further than the one before, never beyond what is needed or the largest one."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from topdag.search.reach import (
    FIRST_OF_A_LIST,
    FIRST_OF_A_SPLIT,
    FIRST_RESCORED,
    FURTHEST,
    LARGEST_REACH,
    doubled_reach,
    first_slack,
    further_reach,
    further_slack,
    reach_to,
)

needed = st.one_of(st.just(math.inf), st.floats(0.0, 2 * FURTHEST))
MANY_STEPS = 20


@given(needed, st.sampled_from([math.inf, FIRST_RESCORED]))
def test_lists_reach_what_is_needed_in_a_few_steps(needed: float, first: float) -> None:
    reach, end = 0.0, min(needed, FURTHEST)
    for _ in range(MANY_STEPS):
        further = reach_to(needed, reach, first)
        assert reach < further <= end or further == end
        reach = further
    assert reach == end


@given(needed)
def test_splitting_doubles_its_reach_up_to_what_is_needed(needed: float) -> None:
    reach = FIRST_OF_A_SPLIT
    while reach < min(needed, FURTHEST):
        further = doubled_reach(reach, needed)
        assert reach < further <= min(2 * reach, FURTHEST)
        reach = further
    assert reach == min(max(needed, FIRST_OF_A_SPLIT), FURTHEST)


@given(st.just(0.0) | st.floats(FIRST_OF_A_LIST, LARGEST_REACH), st.integers(0, 10**6), st.integers(1, 10**9))
def test_lists_of_k_go_on(reach: float, found: int, most: int) -> None:
    assert reach < further_reach(reach, found, most)
    assert first_slack(most) >= 1.0
    assert reach < further_slack(reach, found, most) or reach == 0.0
