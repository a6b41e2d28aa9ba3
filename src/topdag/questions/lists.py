"""Questions whose answer is a list: the k best, all within a Bayes factor, of networks or of classes."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import replace
from numbers import Real
from typing import Any, Generic, Unpack, cast

import numpy as np

from topdag import _core
from topdag._util.bitsets import words_for
from topdag._util.brief import brief
from topdag._util.options import question, worded
from topdag._util.run import Run, available_memory
from topdag._util.stop import Stop
from topdag.answers.lists import BestList, ClassList, NetworkList, nothing_is_proved
from topdag.answers.results import Status, limit_text, proof_of
from topdag.errors import ScoreError, TooLarge
from topdag.knowledge.priors import OrderModular, Prior
from topdag.questions.best import checked_path, scored_table
from topdag.questions.decide import Decision, Question, decide, decide_again, plan_scores
from topdag.questions.listing.partition import Partitioned, PartitionLists, kind_for
from topdag.questions.listing.sources import Lattices, ManySets, Prepared, Wanted, plan_lists, within_memory
from topdag.questions.listing.stopped import AnyList, begun, best_found, empty, no_network
from topdag.questions.order_prior import list_by_orders
from topdag.questions.request import Request, Said, Trail, asked_about, checked_count, run_stats
from topdag.scoring.keep import MOST_IN_A_LIST, Within
from topdag.scoring.kinds.discrete import KindLike
from topdag.scoring.kinds.interventions import without_interventions
from topdag.scoring.probability_losses import together
from topdag.scoring.scores import Scores
from topdag.scoring.task import scored_columns
from topdag.scoring.with_prior import weighed
from topdag.search.engines import Engine
from topdag.search.reach import first_slack

LARGEST_FACTOR = 1e300
SCORED_FOR, SCORED_FACTOR = 10, 1e3
"""Families reach at first as far as a list of so many may: of longer lists many tie, and reach little further. Of
larger factors the best network comes first, as families may be very many."""
READ_FROM_LISTS = (Engine.PARTITION, Engine.SPARSE)
LISTING = f"{Engine.DENSE.value} and depth-first listing"


@brief
def k_best_networks(
    source: Any,
    k: int,
    kind: KindLike = None,
    *,
    prior: Prior | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    **options: Unpack[Said],
) -> NetworkList:
    """The k networks with the highest scores, best first; fewer only when there are not so many.

    Complete when ``proof.status`` is PROVED; when stopped early, still complete above ``floor``. With a ``prior``
    (see ``best_network``) the list's scores are data score plus log weight; ``network.score`` stays the data's. Where
    several networks are best, the first need not be the one that ``best_network`` gives (docs/explanation/method.md).

    ``checkpoint``: where a list is made by partition, as of more than 30 variables, a file in which it leaves how it
    stands every few seconds, and from which it goes on when asked the same again.
    """
    request, run = _asked(source, kind, options, checkpoint, prior)
    return list_of(NetworkList, request, Wanted("k_best_networks", most=checked_k(k)), run)


@brief
def networks_within(
    source: Any,
    factor: float,
    kind: KindLike = None,
    *,
    at_most: int | None = None,
    prior: Prior | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    **options: Unpack[Said],
) -> NetworkList:
    """All networks at least 1/factor as probable as the best one, by the data; with ``at_most``, the best of them.

    With a ``prior`` (see ``best_network``) by data and prior. ``checkpoint``: see ``k_best_networks``.
    """
    request, run = _asked(source, kind, options, checkpoint, prior)
    wanted = Wanted("networks_within", most=_checked_at_most(at_most), factor=checked_factor(factor))
    return list_of(NetworkList, request, wanted, run)


@brief
def k_best_classes(
    source: Any,
    k: int,
    kind: KindLike = None,
    *,
    checkpoint: str | os.PathLike[str] | None = None,
    **options: Unpack[Said],
) -> ClassList:
    """The k Markov equivalence classes with the highest scores, best first. For score-equivalent scores only.

    Of a table with experiments, networks of a class are those that these do not tell apart either. ``checkpoint``: see
    ``k_best_networks``.
    """
    request, run = _asked(source, kind, options, checkpoint)
    return list_of(ClassList, request, Wanted("k_best_classes", most=checked_k(k)), run)


@brief
def classes_within(
    source: Any,
    factor: float,
    kind: KindLike = None,
    *,
    at_most: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    **options: Unpack[Said],
) -> ClassList:
    """All classes at least 1/factor as probable as the best one, network for network; with ``at_most``, the best.

    ``checkpoint``: see ``k_best_networks``.
    """
    request, run = _asked(source, kind, options, checkpoint)
    wanted = Wanted("classes_within", most=_checked_at_most(at_most), factor=checked_factor(factor))
    return list_of(ClassList, request, wanted, run)


def _asked(
    source: Any, kind: KindLike, options: Said, checkpoint: object, prior: Prior | None = None
) -> tuple[Request, Run]:
    request, run = asked_about(source, kind, options, prior)
    return replace(request, checkpoint=checked_path(checkpoint)), run


def list_of(make: Callable[..., AnyList], request: Request, wanted: Wanted, run: Run) -> AnyList:
    """The list, or when the time is up what there is of it; on Ctrl-C raises Interrupted with the same."""
    return run.answer(lambda: listed(make, request, wanted, run), in_words)


def in_words(found: BestList[Any]) -> str:
    if len(found) and nothing_is_proved(found):
        return f"{len(found):,} found, none of them proved; others may score up to {found.floor}"
    return f"{len(found):,} found, complete above {found.floor}"


def listed(
    make: Callable[..., AnyList], request: Request, wanted: Wanted, run: Run, *, kept_for: Wanted | None = None
) -> AnyList:
    """The list, or when the run is over what there is of it. ``kept_for``: what scores must have been kept for, where
    that is less than the list."""
    reading = _Reading(make, request, wanted, run, kept_for or wanted)
    found = reading.whole()
    if found is None:
        found = reading.so_far(reading.trail.limit(run))
    return found if len(found) or found.proof.status is not Status.STOPPED else begun(found, reading.trail, run)


class _Reading(Generic[AnyList]):
    """A list while it is read from one lattice after another."""

    def __init__(
        self, make: Callable[..., AnyList], request: Request, wanted: Wanted, run: Run, kept_for: Wanted
    ) -> None:
        self.make, self.request, self.wanted, self.run, self.kept_for = make, request, wanted, run, kept_for
        self.trail = Trail(request)
        self.found: AnyList | None = None

    def so_far(self, limit: Stop) -> AnyList:
        """Complete above its floor, but a limit came before it was whole."""
        if self.found is None:
            return empty(self.make, self.trail, self.run, limit)
        return replace(self.found, proof=replace(self.found.proof, status=Status.STOPPED, limit=limit_text(limit)))

    def whole(self) -> AnyList | None:
        """None when the time is up first."""
        question = Question.CLASSES if self.make is ClassList else Question.LIST
        if question is Question.CLASSES:
            require_score_equivalent(self.request, self.wanted.asked_by)
        decision = decide(self.request, question)
        self.trail.engine, self.trail.reason = decision.engine.value, decision.reason
        scores = self.trail.scores = _scored(self.trail, decision, self.wanted, self.run)
        if scores is None:
            return None
        decision = decide_again(decision, self.request, question, scores, self.run)
        self.kept_for.require_kept(scores)
        if isinstance(self.request.prior, OrderModular):
            return self._by_orders()
        if not scores.columns:
            return only_the_empty_network(self.make, scores, self.run)
        if decision.engine is Engine.CONSTRAINED:
            if self.request.checkpoint is not None:
                raise ScoreError(f"checkpoint does not go with this list: {decision.reason}.")
            return self._constrained(scores)
        if decision.engine is Engine.PARTITION:
            return self._by_partition(scores)
        return self._by_lattices(scores)

    def _by_lattices(self, scores: Scores) -> AnyList | None:
        source = Lattices(scores, self.wanted, self.run)
        while True:
            try:
                prepared = source.next(0 if self.found is None else len(self.found))
            except ManySets:
                return self._by_partition(scores)
            except TooLarge:
                if self.found is None:
                    raise
                return self.so_far(Stop.MEMORY_LIMIT)
            if prepared is None:
                self.trail.standing, self.trail.placed = source.standing, source.placed
                return no_network(self.make, self.trail, self.run) if source.is_infeasible else None
            self.found = _read_from(prepared, self.make, self.wanted, self.run)
            if not _asks_for_more(self.found, prepared, self.wanted):
                return self.found

    def _by_partition(self, scores: Scores) -> AnyList:
        kind = kind_for(scores, of_classes=self.make is ClassList)
        source = PartitionLists(scores, self.wanted, self.run, kind, self.request.checkpoint)
        found = source.go()
        self.trail.standing = source.standing
        if found.is_infeasible:
            return no_network(self.make, self.trail, self.run)
        return _from_partition(found, self.make, self.wanted, self.run, self.trail)

    def _constrained(self, scores: Scores) -> AnyList:
        """Of classes, those of networks that satisfy the constraints."""
        from topdag.questions.listing.constrained import list_classes, list_constrained

        if self.make is not ClassList:
            return cast(AnyList, list_constrained(scores, self.wanted, self.run))

        def list_networks(wanted: Wanted) -> NetworkList:
            # Scores kept for so many classes have all networks of these, however many they are.
            request = replace(self.request, scores=scores)
            return listed(NetworkList, request, wanted, self.run, kept_for=self.wanted)

        return cast(AnyList, list_classes(scores, list_networks, self.wanted, self.run))

    def _by_orders(self) -> AnyList:
        if self.make is not NetworkList:
            raise ScoreError("Under an order-modular prior networks of a class weigh differently; ask for networks.")
        return cast(AnyList, list_by_orders(self.trail, self.wanted.most, self.wanted.factor, self.run))


def _scored(trail: Trail, decision: Decision, wanted: Wanted, run: Run) -> Scores | None:
    """None when the time is up before all families are scored."""
    request = trail.request
    scores = request.scores if request.scores is not None else _scored_table(trail, decision, wanted, run)
    if scores is None or request.prior is None or scores.prior is not None or isinstance(request.prior, OrderModular):
        return scores
    return weighed(scores, request.prior, run)


def _scored_table(trail: Trail, decision: Decision, wanted: Wanted, run: Run) -> Scores | None:
    """What cannot be listed is not scored either. Lists of families reach as far as the list of networks is likely to
    go, so that most tables are scored once; if it goes further, they are scored again."""
    request = trail.request
    assert request.table is not None and decision.form is not None
    n = len(scored_columns(request.table))
    plan_scores(request, decision, run)
    plan_lists(n, decision.form.engine, run)
    factor = wanted.factor if wanted.factor < math.inf else math.exp(first_slack(min(wanted.most, SCORED_FOR)))
    is_from_lists = decision.scores_lists and decision.keep is None and decision.engine in READ_FROM_LISTS
    if not is_from_lists or factor > SCORED_FACTOR:
        return scored_table(trail, decision, run)
    scores = scored_table(trail, replace(decision, keep=Within(factor * (1 + 1e-12))), run)
    return None if scores is None else replace(scores, automatic=True)


def _asks_for_more(found: BestList[Any], prepared: Prepared, wanted: Wanted) -> bool:
    """Whether a lattice that reaches further may hold more of what is wanted."""
    is_whole = found.proof.status is Status.PROVED and len(found) < wanted.most
    return is_whole and math.log(wanted.factor) > prepared.reach


def _read_from(prepared: Prepared, make: Callable[..., AnyList], wanted: Wanted, run: Run) -> AnyList:
    """The list that this lattice gives; when the run is over, what there is of it."""
    scores, lattice, best = prepared.scores, prepared.lattice, prepared.lattice.best_score
    lowest = wanted.lowest(best, scores)
    begin = run.seconds
    most = min(wanted.most, _room_for(len(scores.columns), run))
    what = _core.Listed.CLASSES if make is ClassList else _core.Listed.NETWORKS
    with within_memory(wanted.less):
        found = _core.list_best(lattice, what, most, lowest, run.limits)
    run.timed("listing", begin)
    values, floor, counts = found.scores, found.floor, found.counts
    if found.finished and len(values) < most and lowest == -math.inf and prepared.reach == math.inf:
        floor = -math.inf  # all there are, however few sets the lattice has
    limit: Stop | None = None
    if not found.finished:
        limit = run.limit
    elif len(values) == most < wanted.most:
        limit = Stop.MEMORY_LIMIT
    elif len(values) < wanted.most and scores.cutoff < min(math.log(wanted.factor), prepared.reach):
        limit = Stop.CUT_OFF
    proof = proof_of(limit, best, best, scores.describe_space())
    work = {"found": counts.found, "expanded": counts.expanded, "dead ends": counts.dead_ends}
    engine = f"{prepared.engine} and depth-first listing"
    return make(scores, values, found.parents, floor, proof, run_stats(scores, run, engine, work))


def _from_partition(
    found: Partitioned, make: Callable[..., AnyList], wanted: Wanted, run: Run, trail: Trail
) -> AnyList:
    """Whole, or when the run is over what there is of it: the best network found stands first, proved or not."""
    scores = found.scores
    most = min(wanted.most, _room_for(len(scores.columns), run))
    values, parents, is_cut = found.rows_in_time(most, run)
    if not len(values):
        return empty(make, trail, run, found.limit)
    limit = found.limit if len(values) == wanted.most or len(values) < most else Stop.MEMORY_LIMIT
    limit = run.limit if is_cut else limit
    is_shorter = is_cut or (len(values) == most and found.limit is None)
    floor = max(found.floor, float(values[-1])) if is_shorter else found.floor
    proof = proof_of(limit, float(values[0]), found.most, scores.describe_space())
    engine = f"{Engine.PARTITION.value} on branch and cut"
    return make(scores, values, parents, floor, proof, run_stats(scores, run, engine, found.work, trail.reason))


def only_the_empty_network(make: Callable[..., AnyList], scores: Scores, run: Run) -> AnyList:
    proof = proof_of(None, 0.0, 0.0, scores.describe_space())
    return make(scores, np.zeros(1), np.empty((1, 0), np.uint64), -math.inf, proof, run_stats(scores, run, LISTING, {}))


def _room_for(n: int, run: Run) -> int:
    """How many networks memory has room for, while they are sorted too; at least one."""
    available = available_memory() if run.memory_limit is None else run.memory_limit - run.memory
    return max(1, int(0.8 * available) // (4 * (8 * n * words_for(n) + 16)))


def scores_for(request: Request, wanted: Wanted, run: Run) -> Scores:
    """Scores that will do, or OutOfTime: for answers that must be whole."""
    trail = Trail(request)
    scores = _scored(trail, decide(request, Question.LIST), wanted, run)
    if trail.too_large is not None:
        raise trail.too_large
    if scores is None:
        network = best_found(trail)
        raise out_of_time(wanted, run, best=None if network is None else trail.score_of(network))
    wanted.require_kept(scores)
    return scores


def out_of_time(wanted: Wanted, run: Run, found: int = 0, *, best: float | None = None) -> BaseException:
    known = f"the best network found by then scores {best:.6f}" if best is not None else "nothing is known yet"
    return run.cut_short(wanted.asked_by, f"there are at least {found:,}" if found else known, found)


def require_score_equivalent(request: Request, asked_by: str) -> None:
    """Without experiments; where variables at both ends of an edge were set in the same rows, so are their scores."""
    if request.scores is not None and request.scores.score_equivalent:
        return
    given = without_interventions(request.kind)
    kind = None if given is None else together(given, request.constraints)[0]
    if kind is None or not kind.score_equivalent:
        name = "scores from a file that does not say what they are" if kind is None else f"{kind}"
        said = worded("read_scores(path, score_equivalent=True)", "--score-equivalent")
        raise ScoreError(
            f"{question(asked_by)} needs a score-equivalent score, one that gives all networks of a class the same "
            f"value, such as BDeu, BIC, AIC, qNML or BDe; {name} are not known to be. Ask for networks instead"
            + (f", or say that they are: {said}." if kind is None else ".")
        )


def checked_k(k: int) -> int:
    return checked_count("k", k, 1, MOST_IN_A_LIST)


def _checked_at_most(at_most: int | None) -> int:
    return MOST_IN_A_LIST if at_most is None else checked_count("at_most", at_most, 1, MOST_IN_A_LIST)


def checked_factor(factor: float) -> float:
    if isinstance(factor, bool) or not isinstance(factor, Real) or not 1 <= factor <= LARGEST_FACTOR:
        raise ScoreError(f"A Bayes factor is a number from 1 on, at most {LARGEST_FACTOR:g}, not {factor!r}.")
    return float(factor)
