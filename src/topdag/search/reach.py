"""How far lists of families or networks reach: so many nats behind the best network, and how far next when that was not
far enough.

Every search that looks at what is near first, and then ever further, takes its steps from here.
"""

from __future__ import annotations

import math

LARGEST_REACH = 690.0
"""No list by a Bayes factor reaches further: beyond about 700 nats a factor e^reach is no number any more."""
FURTHEST = 2.0**30
"""Under constraints no search goes further: scores in which more nats than that tell networks apart are refused."""
FIRST_OF_A_LIST = 0.5
SMALLEST_STEP, LARGEST_STEP = 1.2, 2.0
"""For a list of k: how far the first lattice reaches, and how many times further the next one does."""
SLACK_STEP = 1.5
"""For a list by partition, how many times further the next one reaches."""
FIRST_OF_A_SPLIT = 2.0
"""Behind the best network without constraints, where the space is split; then twice as far each time."""
FIRST_BLIND, BLIND_STEP = 8.0, 4.0
"""Where no network that satisfies the constraints is known, or no other than before: so far at first, and then so many
times further."""
FIRST_RESCORED = 128.0
"""Where one is known and each step scores the table again: no further than this at first."""


def further_reach(reach: float, found: int, most: int) -> float:
    """For a list, when so many of ``most`` were found within ``reach``: their numbers grow about exponentially."""
    if reach == 0.0:
        return FIRST_OF_A_LIST
    growth = math.log(2.0 * most) / math.log(max(2.0, found))
    return reach * min(LARGEST_STEP, max(SMALLEST_STEP, growth))


def first_slack(most: int) -> float:
    """For a list of ``most`` by partition, once the best network is known. What costs more than the last of those
    wanted is not looked at, so too far costs less than too near."""
    return 1.0 + 0.75 * math.log(most)


def further_slack(slack: float, found: int, before: int) -> float:
    """When so many were found, and so many the time before."""
    return slack * (SLACK_STEP if found > before else BLIND_STEP)


def doubled_reach(reach: float, needed: float) -> float:
    """Twice as far, but no further than what is ``needed``; the first is ``FIRST_OF_A_SPLIT``."""
    return min(FURTHEST, needed if reach < needed <= 2 * reach else 2 * reach)


def reach_to(needed: float, reach: float, first: float = math.inf) -> float:
    """As far as a known network asks for (``needed``; infinite: none is known), but at most ``first`` at first."""
    far = FIRST_BLIND if needed == math.inf else first
    return min(FURTHEST, max(far, BLIND_STEP * reach), needed)
