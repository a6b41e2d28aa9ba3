"""How far behind the best network to look, in nats, when the last look was not far enough."""

from __future__ import annotations

import math

LARGEST_REACH = 690.0
"""No family is looked for that leads further behind the best network; beyond, factors are no numbers any more."""
FIRST_REACH = 0.5
"""How far behind the best the first lattice for a list of k reaches, in nats."""
SMALLEST_STEP, LARGEST_STEP = 1.2, 2.0
"""How many times further the next one reaches."""


def further_reach(reach: float, found: int, most: int) -> float:
    """How far behind the best to look next, when so many of ``most`` were found within ``reach``.

    Numbers of networks grow about exponentially with the reach.
    """
    if reach == 0.0:
        return FIRST_REACH
    growth = math.log(2.0 * most) / math.log(max(2.0, found))
    return reach * min(LARGEST_STEP, max(SMALLEST_STEP, growth))
