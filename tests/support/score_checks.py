"""What tests of scoring share."""

from __future__ import annotations

import numpy as np

from topdag.scoring.scores import Scores


def are_the_same(one: Scores, other: Scores) -> bool:
    """To the last bit."""
    a, b = one.store.listed, other.store.listed
    return (
        np.array_equal(a.lists.offsets, b.lists.offsets)
        and a.lists.masks.tobytes() == b.lists.masks.tobytes()
        and a.rounded.tobytes() == b.rounded.tobytes()
        and one.grid == other.grid
    )
