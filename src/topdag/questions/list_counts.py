"""How many networks or classes are within a Bayes factor of the best, and the networks one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Unpack

from topdag import _core
from topdag._util.brief import brief
from topdag._util.run import Run
from topdag.answers.lists import BestList, ClassList, NetworkList, nothing_is_proved
from topdag.answers.results import Status
from topdag.networks.network import Network
from topdag.questions.decide import Question, decide
from topdag.questions.listing.partition import PartitionLists, kind_for
from topdag.questions.listing.sources import Lattices, ManySets, Wanted, within_memory
from topdag.questions.listing.stopped import empty
from topdag.questions.lists import checked_factor, listed, out_of_time, require_score_equivalent, scores_for
from topdag.questions.request import Request, Said, Trail, asked_about
from topdag.scoring.kinds.discrete import KindLike
from topdag.scoring.scores import Scores
from topdag.search.engines import Engine

STREAM_BATCH = 1000


@brief
def count_networks_within(source: Any, factor: float, kind: KindLike = None, **options: Unpack[Said]) -> int:
    """How many networks are within this Bayes factor of the best; none of them is stored.

    When ``time_limit`` comes first, raises OutOfTime, whose ``answer`` is the number found so far; on Ctrl-C,
    Interrupted with the same.
    """
    request, run = asked_about(source, kind, options)
    wanted = Wanted("count_networks_within", factor=checked_factor(factor))
    return count_of(_core.Listed.NETWORKS, Trail(request), wanted, run)


@brief
def count_classes_within(source: Any, factor: float, kind: KindLike = None, **options: Unpack[Said]) -> int:
    """How many classes are within this Bayes factor of the best; none of them is stored. Stopped as for networks."""
    request, run = asked_about(source, kind, options)
    wanted = Wanted("count_classes_within", factor=checked_factor(factor))
    return count_of(_core.Listed.CLASSES, Trail(request), wanted, run)


@brief
def iter_networks_within(
    source: Any, factor: float, kind: KindLike = None, **options: Unpack[Said]
) -> Iterator[Network]:
    """The networks within this Bayes factor of the best, one by one, in no particular order.

    Memory does not grow with their number. When ``time_limit`` comes before the last one, counted from the call on,
    the stream raises OutOfTime, whose ``answer`` is how many it gave.
    """
    request, run = asked_about(source, kind, options)
    wanted = Wanted("iter_networks_within", factor=checked_factor(factor))
    with run.hearing():
        scores = scores_for(request, wanted, run)
    return _streamed(scores, wanted, run)


def count_of(what: _core.Listed, trail: Trail, wanted: Wanted, run: Run) -> int:
    """The count, or OutOfTime or Interrupted with how many there are at least."""
    return run.answer(lambda: _counted(what, trail, wanted, run), lambda found: f"there are {found:,}")


def _counted(what: _core.Listed, trail: Trail, wanted: Wanted, run: Run) -> int:
    if what is _core.Listed.CLASSES:
        require_score_equivalent(trail.request, wanted.asked_by)
    scores = trail.scores = scores_for(trail.request, wanted, run)
    if not scores.columns:
        return 1  # the empty network
    question = Question.CLASSES if what is _core.Listed.CLASSES else Question.LIST
    engine = decide(Request.from_scores(scores), question).engine
    if engine is Engine.CONSTRAINED:
        return _count_listed(what, replace(trail.request, scores=scores), wanted, run)
    if engine is Engine.PARTITION:
        return _count_by_partition(what, scores, wanted, run)
    source = Lattices(scores, wanted, run)
    try:
        prepared = source.next()
    except ManySets:
        return _count_by_partition(what, scores, wanted, run)
    if source.is_infeasible:
        return 0
    if prepared is None:
        raise out_of_time(wanted, run)
    lattice = prepared.lattice
    lowest = wanted.lowest(lattice.best_score, prepared.scores)
    with within_memory(wanted.less):
        finished, counts = _core.count_above(lattice, what, lowest, run.limits)
    if not finished:
        raise out_of_time(wanted, run, counts.found)
    return counts.found


def _count_by_partition(what: _core.Listed, scores: Scores, wanted: Wanted, run: Run) -> int:
    kind = kind_for(scores, of_classes=what is _core.Listed.CLASSES)
    found = PartitionLists(scores, wanted, run, kind).go()
    if found.limit is not None:
        raise out_of_time(wanted, run, found.count)
    return found.count


def _count_listed(what: _core.Listed, request: Request, wanted: Wanted, run: Run) -> int:
    """What can only be counted by listing."""
    make: Callable[..., BestList[Any]] = ClassList if what is _core.Listed.CLASSES else NetworkList
    found = listed(make, request, wanted, run)
    if found.proof.status is Status.STOPPED:
        raise out_of_time(wanted, run, 0 if nothing_is_proved(found) else len(found))
    return len(found)


def _streamed(scores: Scores, wanted: Wanted, run: Run) -> Iterator[Network]:
    if not scores.columns:
        yield scores.network([])
        return
    engine = decide(Request.from_scores(scores), Question.LIST).engine
    if engine is Engine.CONSTRAINED:
        with run.hearing():
            whole = listed(NetworkList, Request.from_scores(scores), wanted, run)
        is_stopped = whole.proof.status is Status.STOPPED
        if is_stopped and nothing_is_proved(whole):
            raise out_of_time(wanted, run)
        yield from whole
        if is_stopped:
            raise out_of_time(wanted, run, len(whole))
        return
    if engine is Engine.PARTITION:
        yield from _streamed_by_partition(scores, wanted, run)
        return
    try:
        yield from _streamed_by_lattice(scores, wanted, run)
    except ManySets:
        yield from _streamed_by_partition(scores, wanted, run)


def _streamed_by_lattice(scores: Scores, wanted: Wanted, run: Run) -> Iterator[Network]:
    """Raises ManySets before the first."""
    source = Lattices(scores, wanted, run)
    with run.hearing():
        stream = _opened(source, wanted, run)
        maker = empty(NetworkList, Trail(Request.from_scores(scores)), run, None)
    if source.is_infeasible:
        return
    if stream is None:
        raise out_of_time(wanted, run)
    given = 0
    while True:
        with run.hearing():
            batch = stream.next(STREAM_BATCH, run.limits)
        for masks in batch.parents.tolist():
            yield maker.network_of(masks)
        given += len(batch.scores)
        if batch.finished:
            return
        if len(batch.scores) < STREAM_BATCH:
            raise out_of_time(wanted, run, given)


def _streamed_by_partition(scores: Scores, wanted: Wanted, run: Run) -> Iterator[Network]:
    """Classes are held, their members are not."""
    with run.hearing():
        found = PartitionLists(scores, wanted, run, kind_for(scores, of_classes=False)).go()
        maker = empty(NetworkList, Trail(Request.from_scores(found.scores)), run, None)
    given = 0
    for _, masks in found.rows() if found.limit is None else ():
        yield maker.network_of(masks)
        given += 1
        if run.is_over:
            break
    if run.is_over or found.limit is not None:
        raise out_of_time(wanted, run, given)


def _opened(source: Lattices, wanted: Wanted, run: Run) -> _core.NetworkStream | None:
    """None when the run is over, or there is no network."""
    prepared = source.next()
    if prepared is None:
        return None
    lowest = wanted.lowest(prepared.lattice.best_score, prepared.scores)
    with within_memory(wanted.less):
        return _core.open_stream(prepared.lattice, lowest, run.limits)
