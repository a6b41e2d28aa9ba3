"""How much each item of a list weighs: of the whole posterior where that was summed, else of the list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from topdag.answers.lists import BestList, ClassList
from topdag.networks.equivalence import EquivalenceClass
from topdag.report.gathered import Gathered, Missing

MOST_LOOKED_AT_SINGLY = 5000
"""Members of a class that are looked at one by one."""


@dataclass(frozen=True)
class Weights:
    """``shares``: one for each item, None each where scores do not weigh them; ``covered``: what they have of the whole
    posterior together, None when that was not summed, and then they are shares of the list; ``allowed``: of classes,
    how many networks of each count."""

    shares: tuple[float | None, ...]
    covered: float | None
    allowed: tuple[int, ...] = ()


def weights_of(found: Gathered) -> Weights:
    listed = found.listed
    if isinstance(listed, Missing) or not len(listed):
        return Weights((), None)
    if not listed.are_weighed:
        return Weights((None,) * len(listed), None)
    allowed = _allowed(listed, found.max_parents) if isinstance(listed, ClassList) else ()
    sizes = allowed or (listed.sizes if isinstance(listed, ClassList) else (1,) * len(listed))
    logs = listed.scores + np.log([float(size) for size in sizes])
    if found.log_evidence is not None and (allowed or not isinstance(listed, ClassList)):
        shares = np.exp(logs - found.log_evidence)
        # Where they add up to more, the list and the sum are not of the same scores.
        if shares.sum() <= 1 + 2 * listed.source.tolerance:
            return Weights(tuple(shares.tolist()), min(1.0, float(shares.sum())), allowed)
    shares = np.exp(logs - logs.max())
    return Weights(tuple((shares / shares.sum()).tolist()), None, allowed)


def _allowed(listed: BestList[Any], max_parents: int | None) -> tuple[int, ...]:
    """Per class the members within the limit on parents that satisfy the constraints; nothing when that would
    take long to count."""
    if isinstance(listed, ClassList) and listed.source.compiled is not None:
        return () if np.isnan(listed.shares_if_known).any() else listed.satisfying
    counts = [_members_within(own, max_parents) for own in listed]
    return () if None in counts else tuple(count for count in counts if count is not None)


def _members_within(own: EquivalenceClass, max_parents: int | None) -> int | None:
    parents, neighbours = own.key
    if max_parents is None or _most_parents(parents, neighbours) <= max_parents:
        return own.size
    if own.size > MOST_LOOKED_AT_SINGLY:
        return None
    return sum(all(mask.bit_count() <= max_parents for mask in member.masks) for member in own.members())


def _most_parents(parents: Sequence[int], neighbours: Sequence[int]) -> int:
    """No member gives a variable more: all its undirected edges turned towards it."""
    return max((p.bit_count() + u.bit_count() for p, u in zip(parents, neighbours, strict=True)), default=0)
