"""The best network under constraints on several variables at once, by a search of lists that are scored ever wider.

The one difference to ``growing_lists``: the search is given, and takes lists as they are (branching on cycles), so all
lists are scored again for each step; branch and cut makes only those grow that the constraints can need.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from topdag._util.run import Run
from topdag._util.stop import Stop
from topdag.constrained.feasibility import nothing_is_allowed
from topdag.constrained.found import Found, ParentMasks
from topdag.constrained.growing_lists import can_be_listed
from topdag.constrained.needed_families import widened
from topdag.scoring.scores import Scores
from topdag.search.reach import FIRST_RESCORED, FURTHEST, reach_to

OnLists = Callable[..., Found]
"""The best allowed network of listed families, as ``search_by_cycles`` finds it."""


def can_be_scored_wider(scores: Scores) -> bool:
    """Whether the families that matter stand in lists, or can be put there from the table."""
    is_from_table = scores.table is not None and scores.kind is not None and scores.prior is None
    return can_be_listed(scores) and (scores.store.is_listed or is_from_table)


def best_on_lists(scores: Scores, relaxed: tuple[float, ParentMasks] | None, run: Run, on_lists: OnLists) -> Found:
    """On lists as they stand, where smaller families may stand for larger ones or all were kept.

    Else on lists for networks ever further behind, as far as an allowed network has been found. ``relaxed``: the best
    network without such constraints, None when there is none or no time.
    """
    assert scores.compiled is not None
    listed = scores if scores.store.is_listed else widened(scores, 0.0, run, listed=True)
    if listed is None:
        return Found(limit=run.limit)
    if scores.lists_all or scores.compiled.rest.is_closed_under_removal:
        return _searched(on_lists, listed, run)
    if relaxed is None:
        return nothing(run)
    best, masks = relaxed
    if scores.compiled.rest.allows(masks):
        return Found({masks: best}, best, parts=1)
    return _ever_wider(scores, listed, best, run, on_lists)


def _ever_wider(scores: Scores, listed: Scores | None, best: float, run: Run, on_lists: OnLists) -> Found:
    """On these lists and then on longer ones, until what they lack is worse than a network found; ``best``: the
    score of the best network without constraints."""
    found, reach = Found(bound=best, parts=1), 0.0
    while listed is not None:
        known = found.best(1)
        wanted = best - reach if reach < FURTHEST else -math.inf
        own = _searched(on_lists, listed, run, known[0][1] if known else None, best, wanted)
        value = max(own.networks.values(), default=-math.inf)
        found.networks |= own.networks
        found.parts, found.cuts, found.limit = found.parts + own.parts, found.cuts + own.cuts, own.limit
        found.engine = own.engine
        found.bound = max(own.bound, best - reach)
        if found.limit is not None or value >= best - reach:
            return found
        if reach == 0 and not found.networks and nothing_is_allowed(scores, run):
            return replace(found, bound=-math.inf)
        if reach == FURTHEST:
            return replace(found, limit=Stop.TOO_FAR)
        reach = reach_to(best - value, reach, FIRST_RESCORED)
        listed = widened(scores, reach, run, listed=True)
    return replace(found, limit=run.limit)


def _searched(on_lists: OnLists, listed: Scores, run: Run, start: ParentMasks | None = None, *bounds: float) -> Found:
    assert listed.compiled is not None
    return on_lists(listed.store.listed, listed.compiled, run, start, *bounds)


def nothing(run: Run) -> Found:
    """Where there is no network at all, unless the time is up."""
    return Found(bound=math.inf, limit=run.limit) if run.is_over else Found(bound=-math.inf)
