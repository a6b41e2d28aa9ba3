"""Which way a search under constraints on several variables at once takes: branch and cut on lists that grow, other
searches on lists that are scored again, or splitting the space.

Each way takes scores and gives what it found; where one gives up for a reason that another need not fear, the other
goes on from there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from topdag._util.run import Run
from topdag._util.stop import Stop
from topdag.constrained.feasibility import nothing_is_allowed
from topdag.constrained.found import Found, ParentMasks
from topdag.constrained.growing_lists import best_on_growing_lists, can_be_listed
from topdag.constrained.listing import list_by_clauses
from topdag.constrained.needed_families import widened
from topdag.constrained.rescored_lists import OnLists, best_on_lists, can_be_scored_wider, nothing
from topdag.constrained.splitting import ConstrainedSearch, List
from topdag.errors import TooLarge
from topdag.scoring.score import scored_again
from topdag.scoring.scores import Scores
from topdag.search.engines import sizes
from topdag.search.reach import FIRST_OF_A_SPLIT, FURTHEST, doubled_reach

FIRST_PARTS_OF = 19
"""For the best network with tables over all sets, one part is looked at by splitting before branch and cut is tried,
twice as many for each variable less than so many: about as much work as branch and cut takes at least."""


def search_constrained(
    scores: Scores,
    list_part: List,
    run: Run,
    *,
    most: int,
    epsilon: float = math.inf,
    on_lists: OnLists | None = None,
) -> Found:
    """The best ``most`` allowed networks within ``epsilon`` nats of the best; ``on_lists`` searches lists of families
    for the best one, however few variables there are.

    Scores that were pruned for the best network are made anew, each time with the families of networks further behind
    the best one without constraints.
    """
    assert scores.compiled is not None
    if most == 1 and on_lists is not None and can_be_scored_wider(scores):
        found = best_on_lists(scores, _relaxed(scores, list_part), run, on_lists)
        is_settled = bool(found.networks) or found.limit in (None, run.limit)
        if is_settled or scores.store.is_listed:
            return found  # else no list has an allowed network, but all families are at hand
    elif most == 1 and can_be_listed(scores):
        found = _best(scores, list_part, run)
        if found.limit is Stop.WEAK_RELAXATION:
            return _best_by_splitting(scores, list_part, run, found)
        if found.limit is not Stop.NOTHING_FOUND:
            return found
    elif most > 1:
        listed = listed_by_clauses(scores, run, most=most, epsilon=epsilon)
        if listed is not None and listed.limit is Stop.WEAK_RELAXATION:
            listed = _on_all_sets(scores, list_part, run, listed, most=most, epsilon=epsilon)
        if listed is not None:
            return listed
    if not scores.automatic or (most == 1 and scores.compiled.rest.is_closed_under_removal):
        return _split(scores, list_part, run, most=most, epsilon=epsilon)
    return _ever_further(scores, list_part, run, most=most, epsilon=epsilon)


def _best_by_splitting(scores: Scores, list_part: List, run: Run, first: Found) -> Found:
    """Where the relaxation is weak: other engines may know at once that the best network of all is allowed. ``first``:
    what was found already."""
    assert scores.compiled is not None
    relaxed = _relaxed(scores, list_part)
    if relaxed is not None:
        value, masks = relaxed
        if scores.compiled.rest.allows(masks):
            first.networks[masks] = value
        if max(first.networks.values(), default=-math.inf) >= value:
            return replace(first, bound=value, limit=None)
    if scores.compiled.rest.is_closed_under_removal:
        return _split(scores, list_part, run, most=1, known=tuple(first.networks))
    split = _on_all_sets(scores, list_part, run, first, most=1)
    return split or best_on_growing_lists(scores, run, first, may_be_split=False)


def _on_all_sets(
    scores: Scores, list_part: List, run: Run, first: Found, *, most: int, epsilon: float = math.inf
) -> Found | None:
    """By splitting on tables over all sets; None where these do not fit. ``first``: what was found already."""
    try:
        every = scored_again(scores, run, "all") if scores.store.is_listed else scores
    except TooLarge:
        return None
    if every is None:
        return replace(first, limit=run.limit)
    return _split(every, list_part, run, most=most, epsilon=epsilon, known=tuple(first.networks))


def listed_by_clauses(
    scores: Scores, run: Run, *, most: int, epsilon: float = math.inf, of_classes: bool = False
) -> Found | None:
    """As ``list_by_clauses``; None where splitting is faster, or knows of families that are in no list."""
    if scores.store.n <= sizes().small or not can_be_listed(scores):
        return None
    found = list_by_clauses(scores, run, most=most, epsilon=epsilon, of_classes=of_classes)
    is_whole = scores.store.is_listed or found.limit not in (Stop.NOTHING_FOUND, Stop.TOO_FAR)
    return found if is_whole else None


def _best(scores: Scores, list_part: List, run: Run) -> Found:
    """By splitting where a few parts are enough, else by branch and cut."""
    if scores.store.is_listed or scores.store.n > sizes().small:
        return best_on_growing_lists(scores, run)
    most_parts = 1 << max(0, FIRST_PARTS_OF - scores.store.n)
    found = _split(scores, list_part, run, most=1, most_parts=most_parts)
    return best_on_growing_lists(scores, run, found) if found.limit is Stop.PARTS else found


def _split(
    scores: Scores,
    list_part: List,
    run: Run,
    *,
    most: int,
    epsilon: float = math.inf,
    most_parts: float = math.inf,
    known: Sequence[ParentMasks] = (),
) -> Found:
    """On the scores as they are; ``known``: allowed networks."""
    search = ConstrainedSearch(
        scores, list_part, run, most=most, epsilon=epsilon, cutoff=scores.cutoff, most_parts=most_parts
    )
    for masks in known:
        search.offer(masks, scores.store.value_of(masks))
    found = search.go()
    if found.limit is None and not search.has_all:
        found.limit = Stop.CUT_OFF
    return found


def _ever_further(scores: Scores, list_part: List, run: Run, *, most: int, epsilon: float) -> Found:
    """On scores made anew, each time with networks further behind."""
    relaxed, reach = _relaxed(scores, list_part), FIRST_OF_A_SPLIT
    if relaxed is None or nothing_is_allowed(scores, run):
        return nothing(run)
    best = relaxed[0]
    while True:
        wide = widened(scores, reach, run)
        if wide is None:
            return Found(bound=best, limit=run.limit)
        search = ConstrainedSearch(wide, list_part, run, most=most, epsilon=epsilon, lowest=best - reach)
        found = search.go()
        found.bound = min(found.bound, best)  # a search that was stopped at once knows none
        if found.limit is not None or search.has_all:
            return found
        if reach == FURTHEST:
            return replace(found, limit=Stop.TOO_FAR)
        reach = doubled_reach(reach, search.needed_reach(best))


def _relaxed(scores: Scores, list_part: List) -> tuple[float, ParentMasks] | None:
    """The best network without constraints on several variables at once; None when there is none, or no time."""
    listed = list_part(scores.relaxed, 1, -math.inf)
    return (listed.values[0], listed.masks[0]) if listed is not None and len(listed.values) else None
