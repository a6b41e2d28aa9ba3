"""Whether listed scores give all networks of a class the same value, as who reads a file may say of them.

Networks of a class are turned into each other by turning edges x -> y of which y has just the parents of x besides
[Chickering 1995]. So scores do exactly if s(x | U) + s(y | U, x) = s(y | U) + s(x | U, y) for all x, y and U. Where all
four are listed that can be seen; where not, it is taken on trust.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from topdag._util.bitsets import bits, masks_in
from topdag._util.options import option
from topdag.errors import ScoreError
from topdag.search.family_lists import FamilyLists

LARGEST_DIFFERENCE = 0.005
"""Scores that were rounded to three decimals differ by less."""


def checked_equivalence(lists: FamilyLists) -> float:
    """By how much networks of a class differ at most, where they can be compared; an error when that is no rounding."""
    worst, x, y, given = max(_differences(lists), default=(0.0, 0, 0, 0))
    if worst > LARGEST_DIFFERENCE:
        known = [lists.names[v] for v in bits(given)]
        with_parents = f", both with the parents {', '.join(known)}," if known else ""
        raise ScoreError(
            f"{option('score_equivalent')}: these scores are not. Networks that differ only in the direction of the "
            f"edge between {lists.names[x]} and {lists.names[y]}{with_parents} have the same independences, and differ "
            f"by {worst:.6g} nats. Ask for networks instead."
        )
    return worst


def _differences(lists: FamilyLists) -> Iterator[tuple[float, int, int, int]]:
    """Of each edge that can be turned: between networks that have it one way and the other; x, y, and U as a mask."""
    masks, scores = masks_in(lists.masks), lists.scores.tolist()
    own = [dict(zip(masks[a:b], scores[a:b], strict=True)) for a, b in pairwise(lists.offsets.tolist())]
    for y, families in enumerate(own):
        for mask, score in families.items():
            for x in bits(mask & ((1 << y) - 1)):
                given = mask & ~(1 << x)
                others = own[x].get(given), families.get(given), own[x].get(given | 1 << y)
                if None not in others:
                    yield abs(own[x][given] + score - families[given] - own[x][given | 1 << y]), x, y, given
