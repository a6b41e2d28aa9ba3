"""The best network under constraints on several variables at once, by a search of lists that are scored ever wider.

For searches that take lists as they are; branch and cut makes its own grow (``constrained_best``).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from topdag._util.run import Run
from topdag.constrained.feasibility import nothing_obeys
from topdag.constrained.found import Found, Network
from topdag.constrained.growing_lists import FURTHER, LARGEST_REACH, NEAR_REACH, TOO_FAR, can_be_listed
from topdag.scoring.keep import Within
from topdag.scoring.score import scored_again
from topdag.scoring.scores import Scores
from topdag.search.engines import SMALL

FAR_REACH = 128.0
"""So far, at most, lists reach at first where a network that obeys is known."""
OnLists = Callable[..., Found]
"""The best network of listed families that obeys, as ``search_by_cycles`` finds it."""


def can_be_scored_wider(scores: Scores) -> bool:
    """Whether the families that matter stand in lists, or can be put there from the table."""
    is_from_table = scores.table is not None and scores.kind is not None and scores.prior is None
    return can_be_listed(scores) and (scores.store.is_listed or is_from_table)


def best_on_lists(scores: Scores, relaxed: tuple[float, Network] | None, run: Run, on_lists: OnLists) -> Found:
    """On lists as they stand, where smaller families may stand for larger ones or all were kept.

    Else on lists for networks ever further behind, as far as a network that obeys has been met. ``relaxed``: the best
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
    if scores.compiled.rest.allows(masks, scores.compiled.names):
        return Found({masks: best}, best, parts=1)
    return _ever_wider(scores, listed, best, run, on_lists)


def _ever_wider(scores: Scores, listed: Scores | None, best: float, run: Run, on_lists: OnLists) -> Found:
    """On these lists and then on longer ones, until what they lack is worse than a network found; ``best``: what the
    best network without constraints is worth."""
    found, reach = Found(bound=best, parts=1), 0.0
    while listed is not None:
        met = found.best(1)
        wanted = best - reach if reach < LARGEST_REACH else -math.inf
        own = _searched(on_lists, listed, run, met[0][1] if met else None, best, wanted)
        value = max(own.networks.values(), default=-math.inf)
        found.networks |= own.networks
        found.parts, found.rows, found.limit = found.parts + own.parts, found.rows + own.rows, own.limit
        found.engine = own.engine
        found.bound = max(own.bound, best - reach)
        if found.limit is not None or value >= best - reach:
            return found
        if reach == 0 and not found.networks and nothing_obeys(scores, run):
            return replace(found, bound=-math.inf)
        if reach == LARGEST_REACH:
            return replace(found, limit=TOO_FAR)
        reach = _next_reach(reach, best - value)
        listed = widened(scores, reach, run, listed=True)
    return replace(found, limit=run.limit)


def _searched(on_lists: OnLists, listed: Scores, run: Run, start: Network | None = None, *bounds: float) -> Found:
    assert listed.compiled is not None
    return on_lists(listed.store.listed, listed.compiled, run, start, *bounds)


def _next_reach(reach: float, needed: float) -> float:
    """As far as a network that was met asks for, if that is not much further."""
    far = max(FAR_REACH, FURTHER * reach) if needed < math.inf else max(NEAR_REACH, FURTHER * reach)
    return min(LARGEST_REACH, far, needed)


def widened(scores: Scores, reach: float, run: Run, *, listed: bool = False) -> Scores | None:
    """Scores with all families of networks so far behind the best one without constraints on several variables."""
    keep = Within(math.exp(reach) * (1 + 1e-9)) if reach > 0 else "best"
    wide = scored_again(scores, run, keep, relaxed=True, listed=listed or scores.store.n > SMALL)
    return None if wide is None else replace(wide, compiled=scores.compiled)


def nothing(run: Run) -> Found:
    """Where there is no network at all, unless the time is up."""
    return Found(bound=math.inf, limit=run.limit) if run.is_over else Found(bound=-math.inf)
