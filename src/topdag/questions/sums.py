"""Exact sums over all networks: the evidence, and the probability of every edge, path and parent set."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from topdag import _core
from topdag._util.arrays import Floats, Masks
from topdag._util.brief import brief
from topdag._util.run import Result, Run
from topdag._util.stop import TimeIsUp
from topdag.answers.posteriors import Averaged, EdgePosteriors, NetworkPosteriors, ParentSetPosteriors, PathPosteriors
from topdag.answers.results import Stats
from topdag.errors import ScoreError, TooLarge
from topdag.knowledge.priors import EdgePrior, FairPrior, OrderModular, Prior
from topdag.questions.decide import Question, decide, plan_prior
from topdag.questions.request import Request, Said, asked_about, run_stats, scores_of
from topdag.questions.sum_sizes import TOTAL, Purpose, require_memory, require_not_too_far_from_zero, require_room
from topdag.scoring.allowed import admitted
from topdag.scoring.kinds.discrete import KindLike
from topdag.scoring.scores import Scores
from topdag.scoring.task import scored_columns
from topdag.scoring.with_prior import log_weight_of_constants, scores_of_orders, scores_with
from topdag.search.stores import FamilyStore

UNIFORM = "all networks equally likely before"
MOST_CANCELLATION = 1e7
"""Terms this many times larger than their sum cost a double seven of its sixteen digits; then 32 digits are used."""
SAFE_DEFECT = 1e-11
"""Sums along different ways that differ by more have lost too many digits as well."""
LARGEST_DEFECT = 1e-9
MOST_FOR_ORDERED_PATHS = 14
"""Above this many variables, paths of networks that agree with an order, 5**(n - 1) steps for each ancestor without it,
take too long."""


@brief
def log_evidence(source: Any, kind: KindLike = None, *, prior: Prior | None = None, **options: Unpack[Said]) -> float:
    """The natural log of the sum over all networks of exp(score): every network has weight one, or that of ``prior``.

    Weights are not normalised: subtract ``log_prior_total`` for the evidence under a prior that sums to one. Exact sums
    have no partial answer: OutOfTime when ``time_limit`` comes first.
    """
    request, run = asked_about(source, kind, options, prior, weighs=True)
    return asked("log_evidence", run, lambda: log_total(scored_for(request, TOTAL, run), prior, run))


@brief
def log_prior_total(
    source: Any, kind: KindLike = None, *, prior: Prior | None = None, **options: Unpack[Said]
) -> float:
    """The natural log of the weight of all allowed networks before the data: without a prior, of their number."""
    request, run = asked_about(source, kind, options, prior, weighs=True)

    def total() -> float:
        return log_total(without_data(scored_for(request, TOTAL, run, without_data=True), run), prior, run)

    return asked("log_prior_total", run, total)


@brief
def edge_posteriors(
    source: Any, kind: KindLike = None, *, prior: Prior | None = None, **options: Unpack[Said]
) -> EdgePosteriors:
    """The probability of every edge, averaged over all networks: ``edges["smoke", "lung"]``, ``edges.matrix``."""
    return _summed_up("edge_posteriors", Purpose(), *asked_about(source, kind, options, prior, weighs=True)).edges


@brief
def path_posteriors(
    source: Any, kind: KindLike = None, *, prior: Prior | None = None, **options: Unpack[Said]
) -> PathPosteriors:
    """The probability, for every pair, that the first is an ancestor of the second, averaged over all networks."""
    found = _summed_up("path_posteriors", Purpose(paths=True), *asked_about(source, kind, options, prior, weighs=True))
    assert found.paths is not None
    return found.paths


@brief
def parent_set_posteriors(
    source: Any, variable: str, kind: KindLike = None, *, prior: Prior | None = None, **options: Unpack[Said]
) -> ParentSetPosteriors:
    """The probability of every parent set of one variable, most probable first. For several: ``network_posteriors``."""
    wanted = Purpose(parent_sets_of=(variable,))
    found = _summed_up("parent_set_posteriors", wanted, *asked_about(source, kind, options, prior, weighs=True))
    return found.parent_sets(variable)


@brief
def network_posteriors(
    source: Any,
    kind: KindLike = None,
    *,
    prior: Prior | None = None,
    paths: bool = True,
    parent_sets_of: Sequence[str] | None = None,
    **options: Unpack[Said],
) -> NetworkPosteriors:
    """Evidence, edges, paths and parent sets from one sum: ``.edges``, ``.paths``, ``.parent_sets("lung")``.

    ``parent_sets_of``: the variables whose parent sets are kept, 4 * 2**n bytes each; without it those of all.
    """
    wanted = Purpose(paths=paths, parent_sets_of=None if parent_sets_of is None else tuple(parent_sets_of))
    return _summed_up("network_posteriors", wanted, *asked_about(source, kind, options, prior, weighs=True))


def asked(asked_by: str, run: Run, answer: Callable[[], Result]) -> Result:
    try:
        return run.answer(answer, lambda _: "the sum was done")
    except TimeIsUp:
        raise run.cut_short(asked_by, "exact sums have no partial answer") from None


def scored_for(request: Request, wanted: Purpose, run: Run, *, without_data: bool = False) -> Scores:
    """All families of what is asked about. What cannot be summed is not scored either."""
    scores, prior = request.scores, request.prior
    _require_few_for_paths(request, wanted)
    plan_prior(request, decide(request, Question.SUM), run)
    if scores is None or (scores.automatic and request.table is not None and not scores.is_kept()):
        assert request.table is not None and request.kind is not None
        if not without_data:
            require_not_too_far_from_zero(request.table, request.kind)
        columns = scored_columns(request.table)
        require_room(request.table.names, columns, prior, wanted, run, scored=8.0 * 2 ** len(columns))
        scores = scores_of(request, run, "all")
    else:
        scores.require_kept("A sum over all networks")
        held = scores.store.n_bytes
        require_room(scores.names, scores.columns, prior, wanted, run, held=held)
    if scores is None:
        raise TimeIsUp
    return scores


def _require_few_for_paths(request: Request, wanted: Purpose) -> None:
    known, n = request.compiled, len(request.scored_names)
    has_order = known is not None and not known.is_local and not isinstance(request.prior, OrderModular)
    if wanted.paths and has_order and n > MOST_FOR_ORDERED_PATHS:
        assert known is not None
        raise TooLarge(
            f"{n} variables: where edges do not tell that "
            f"{'; '.join(known.rest.lines(known.names))}, paths are summed for at most "
            f"{MOST_FOR_ORDERED_PATHS}. Ask for edges, sample networks, or average over a list of them."
        )


def without_data(scores: Scores, run: Run) -> Scores:
    """The same families, all with score zero; also those that were left out because they score so little."""
    n = len(scores.columns)
    if n == 0:
        return scores
    run.require_memory(8.0 * n * 2 ** (n - 1), f"The families of {n} variables", "Use fewer variables.")
    allowed = (_allowed_parents(scores, x) for x in range(n))
    store = FamilyStore.of(n, ((masks, np.zeros(len(masks))) for masks in allowed))
    return replace(scores, store=store, automatic=False)


def _allowed_parents(scores: Scores, x: int) -> Masks:
    """All allowed parent sets of a scored variable, also those left out for their score."""
    if scores.cutoff == math.inf:
        return scores.store.families_of(x)[0]
    every = np.arange(1 << len(scores.columns), dtype=np.uint64)
    limit = len(scores.columns) if scores.max_parents is None else scores.max_parents
    sets: Masks = every[((every >> np.uint64(x) & np.uint64(1)) == 0) & (np.bitwise_count(every) <= limit)]
    return sets if scores.compiled is None else sets[admitted(scores.compiled.families[x], sets)]


def log_total(scores: Scores, prior: Prior | None, run: Run) -> float:
    ordered = scores_of_orders(scores, prior, run)
    return _summed(ordered, prior, TOTAL, run).log_total + log_weight_of_constants(ordered, prior)


def _summed(scores: Scores, prior: Prior | None, wanted: Purpose, run: Run) -> _core.Posteriors | _Nothing:
    """The core's sums for the scored variables."""
    if not scores.columns:
        return _Nothing()
    weighted = scores
    if isinstance(prior, EdgePrior | FairPrior) or (prior is not None and prior.parent_weight is not None):
        weighted = scores_with(scores, prior, run)
    begin = run.seconds
    try:
        if isinstance(prior, OrderModular):
            found = _over_orders(weighted, prior, wanted, run)
        else:
            found = _over_networks(weighted, wanted, run)
    except ValueError as error:  # the core's: a weight it cannot hold
        raise ScoreError(str(error)) from None
    run.timed("summing", begin)
    _check(found, scores)
    return found


class _Nothing:
    """No variable is scored: the only network has no edges."""

    log_total, cancellation, defect = 0.0, 1.0, 0.0


def _over_networks(scores: Scores, wanted: Purpose, run: Run) -> _core.Posteriors:
    found = _networks_with(scores, wanted, run, extended=False)
    if found.cancellation <= MOST_CANCELLATION and found.defect <= SAFE_DEFECT:
        return found
    return _networks_with(scores, wanted, run, extended=True)


def _networks_with(scores: Scores, wanted: Purpose, run: Run, *, extended: bool) -> _core.Posteriors:
    n, kept = len(scores.columns), wanted.parent_sets(scores.names, scores.columns)
    everything = wanted.edges or wanted.paths
    require_memory(_core.network_sums_bytes(n, everything, kept, extended, run.threads), scores, run, "networks")
    core = scores.store.core(() if wanted.paths and scores.rest is None else scores.before)
    return _finished(_core.sum_networks(core, everything, kept, extended, run.limits))


def _over_orders(scores: Scores, prior: OrderModular, wanted: Purpose, run: Run) -> _core.Posteriors:
    n, kept = len(scores.columns), wanted.parent_sets(scores.names, scores.columns)
    needed = _core.order_sums_bytes(n, wanted.edges, wanted.paths, kept, run.threads)
    require_memory(needed, scores, run, "orders")
    weights = None
    if prior.order_weight is not None:
        names = scores.scored_names
        weights = np.concatenate([prior.order_log_weights(names, x) for x in range(n)])
    core = scores.store.core(scores.order)
    return _finished(_core.sum_orders(core, weights, wanted.edges, wanted.paths, kept, run.limits))


def _finished(found: _core.Posteriors) -> _core.Posteriors:
    if not found.finished:
        raise TimeIsUp
    return found


def _check(found: _core.Posteriors, scores: Scores) -> None:
    """A wrong number must not pass as a probability."""
    if found.log_total == -math.inf:
        raise ScoreError(f"No network is allowed among {scores.describe_space()}.")
    _require_small(found.defect, found.cancellation)


def _require_small(defect: float, cancellation: float) -> None:
    if not defect <= LARGEST_DEFECT:
        raise ArithmeticError(
            f"Rounding errors are too large: sums that must be one differ from it by {defect:.1e}, with terms "
            f"that cancel by a factor of {cancellation:.1e}. Please report this."
        )


def _summed_up(asked_by: str, wanted: Purpose, request: Request, run: Run) -> NetworkPosteriors:
    return asked(asked_by, run, lambda: posteriors_of(scored_for(request, wanted, run), request.prior, wanted, run))


def posteriors_of(scores: Scores, prior: Prior | None, wanted: Purpose, run: Run) -> NetworkPosteriors:
    """Of scores that hold all families."""
    ordered = scores_of_orders(scores, prior, run)
    found = _summed(ordered, prior, wanted, run)
    averaged = Averaged(
        UNIFORM if prior is None else str(prior),
        found.log_total + log_weight_of_constants(ordered, prior),
        scores.describe_space(),
        found.cancellation,
        found.defect,
        _stats(scores, prior, run),
        scores.notes_on_weights,
    )
    n = len(scores.names)
    edges, paths = np.zeros((n, n)), np.zeros((n, n)) if wanted.paths else None
    if isinstance(found, _core.Posteriors):
        place = np.ix_(ordered.columns, ordered.columns)
        edges[place] = found.edges()
        if paths is not None:
            paths[place] = _paths(ordered, prior, found, run)
    return NetworkPosteriors(
        EdgePosteriors(scores.names, edges, averaged),
        None if paths is None else PathPosteriors(scores.names, paths, averaged),
        _parent_sets(scores, ordered.columns, found, wanted, averaged),
        averaged,
    )


def _paths(scores: Scores, prior: Prior | None, found: _core.Posteriors, run: Run) -> Floats:
    """Those of the sum are paths of networks where every network of scored families agrees with the order; else what
    comes before a variable counts as its parent there (src/core/averages/network_sums.h)."""
    if scores.rest is None or isinstance(prior, OrderModular):
        return found.paths()
    begin = run.seconds
    weighted = scores if prior is None else scores_with(scores, prior, run)
    needed = _core.ordered_paths_bytes(len(scores.columns), run.threads)
    require_memory(needed, weighted, run, "networks")
    summed = _core.ordered_paths(weighted.store.core(scores.before), run.limits)
    if summed is None:
        raise TimeIsUp
    paths, defect = summed
    _require_small(defect, found.cancellation)
    run.timed("paths", begin)
    return np.clip(paths, 0.0, 1.0)


def _parent_sets(
    scores: Scores,
    columns: tuple[int, ...],
    found: _core.Posteriors | _Nothing,
    wanted: Purpose,
    averaged: Averaged,
) -> dict[str, ParentSetPosteriors]:
    """``columns``: the variables of the sum."""
    kept = wanted.parent_sets(scores.names, columns)
    chosen = scores.names if wanted.parent_sets_of is None else wanted.parent_sets_of
    by_name = {name: ParentSetPosteriors(name, (), np.ones(1), averaged) for name in chosen}  # constant columns
    for x, v in enumerate(columns):
        if kept >> x & 1 and v in scores.columns and isinstance(found, _core.Posteriors):
            others = tuple(scores.names[u] for u in scores.columns if u != v)
            sets = _without(found.take_parent_sets(x), [u in scores.columns for u in columns if u != v])
            by_name[scores.names[v]] = ParentSetPosteriors(scores.names[v], others, sets, averaged)
    return by_name


def _without(by_set: Floats, stays: Sequence[bool]) -> Floats:
    """The numbers of sets of the variables that stay; variables are bits of a set, the first the lowest."""
    for place in reversed(range(len(stays))):
        if not stays[place]:
            by_set = by_set.reshape(-1, 2, 1 << place)[:, 0].ravel()
    return by_set


def _stats(scores: Scores, prior: Prior | None, run: Run) -> Stats:
    decision = decide(Request.from_scores(scores, prior=prior), Question.SUM)
    return run_stats(scores, run, decision.engine.value, reason=decision.reason)
