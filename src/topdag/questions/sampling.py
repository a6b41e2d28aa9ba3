"""Exact, independent samples of networks from the posterior."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from topdag import _core
from topdag._util.brief import brief
from topdag._util.run import Run
from topdag.answers.samples import NetworkSample
from topdag.errors import ScoreError
from topdag.knowledge.priors import OrderModular, Prior
from topdag.questions.decide import Question, decide, plan_prior
from topdag.questions.request import Request, Said, asked_about, checked_count, checked_seed, run_stats, scores_of
from topdag.scoring.keep import MOST_IN_A_LIST
from topdag.scoring.kinds.discrete import KindLike
from topdag.scoring.scores import Scores
from topdag.scoring.with_prior import among_scored, scores_of_orders, scores_with

LARGEST_SHIFT = 1e-9
"""Where rounding may move more of a layer's probability than this, it is worked out in higher precision."""
LARGEST_ERROR = 1e-6
LARGEST_LOG_WEIGHT = 1e6


@brief
def sample_networks(
    source: Any,
    n_samples: int,
    kind: KindLike = None,
    *,
    seed: int = 0,
    prior: Prior | None = None,
    **options: Unpack[Said],
) -> NetworkSample:
    """Independent networks, each drawn with exactly its posterior probability: no chain, nothing to wait for.

    ``prior``: None, all networks alike; an EdgePrior or FairPrior; or OrderModular, where an order is drawn first. The
    same seed gives the same samples whatever ``threads`` is, and the first k are those of ``n_samples=k``. When
    ``time_limit`` comes first, raises OutOfTime: the samples that end first are not typical, so none are given.
    """
    request, run = asked_about(source, kind, options, prior, weighs=True)
    scores = request.scores
    if scores is not None and scores.automatic and request.table is not None and not scores.is_kept():
        request = replace(request, scores=None)  # the table is scored again
    return sample_of(request, n_samples, seed, run)


def sample_of(request: Request, n_samples: int, seed: int, run: Run) -> NetworkSample:
    """Draws within the run's limits; OutOfTime or Interrupted when they come first."""
    n_samples, seed = checked_count("n_samples", n_samples, 0, MOST_IN_A_LIST), checked_seed(seed)

    def draw() -> NetworkSample:
        return _drawn(_scored(request, n_samples, run), n_samples, seed, request.prior, run)

    return run.answer(draw, lambda drawn: f"{len(drawn):,} samples were drawn")


def _scored(request: Request, n_samples: int, run: Run) -> Scores:
    scores, prior = request.scores, request.prior
    if scores is not None:
        scores.require_local("sample_networks", order=True)
        scores.require_kept("sample_networks")
        scores.require_no_prior()
        if scores.kind is not None:
            scores.kind.require_likelihood("sample_networks")
        _require_room(len(scores.columns), prior, n_samples, run)
        return scores
    decision = decide(request, Question.SAMPLE)
    _require_room(len(request.scored_names), prior, n_samples, run)
    plan_prior(request, decision, run)
    scores = scores_of(request, run, decision.keep, decision.form)
    if scores is None:
        raise _out_of_time(run)
    return scores


def _require_room(n: int, prior: Prior | None, n_samples: int, run: Run) -> None:
    """What cannot be sampled is not scored either."""
    if n == 0:
        return
    tables = _core.sampling_bytes(n, isinstance(prior, OrderModular)) + (60.0 * run.threads + 8) * 2**n
    samples = n_samples * (8.0 * n + 12)
    run.require_memory(tables + samples, f"Sampling networks of {n} variables", "Use fewer variables or samples.")


def _drawn(scores: Scores, n_samples: int, seed: int, prior: Prior | None, run: Run) -> NetworkSample:
    n, scores = len(scores.columns), replace(scores, notes=scores.notes_on_weights)
    if n == 0:  # the empty network is the only one
        return NetworkSample(
            scores, np.zeros((n_samples, 0), np.uint64), prior, seed, 0.0, run_stats(scores, run, "none", {})
        )
    ordered = scores_of_orders(scores, prior, run)
    before = ordered.order if isinstance(prior, OrderModular) else ordered.before
    core = _weighted(ordered, prior, run).store.core(before)
    if isinstance(prior, OrderModular):
        known, parents = _core.sample_ordered_networks(core, _order_weights(scores, prior), n_samples, seed, run.limits)
    else:
        known, parents = _core.sample_networks(core, n_samples, seed, LARGEST_SHIFT, run.limits)
    if not known.is_possible:
        raise ScoreError("No network is allowed: every choice of listed families has a cycle. List more families.")
    if not known.finished:
        raise _out_of_time(run)
    if not known.error <= LARGEST_ERROR:
        raise ArithmeticError(
            f"Rounding may have moved {known.error:.1e} of the probability, so these would not be exact samples."
        )
    run.phases |= {"tables": known.table_seconds, "drawing": known.draw_seconds}
    decision = decide(Request.from_scores(scores, prior=prior), Question.SAMPLE)
    work = {
        "samples": n_samples,
        "placed sets": known.pasts,
        "layer tables": known.places,
        "in higher precision": known.redone,
        "cancellation": round(known.cancellation),
    }
    stats = run_stats(scores, run, decision.engine.value, work, decision.reason)
    drawn = among_scored(parents, ordered.columns, scores)
    return NetworkSample(scores, drawn, prior, seed, known.error, stats)


def _weighted(scores: Scores, prior: Prior | None, run: Run) -> Scores:
    if prior is None or (isinstance(prior, OrderModular) and prior.parent_weight is None):
        return scores
    return scores_with(scores, prior, run)


def _order_weights(scores: Scores, prior: OrderModular) -> np.ndarray[Any, np.dtype[np.float64]] | None:
    if prior.order_weight is None:
        return None
    names = scores.scored_names
    weights = np.concatenate([prior.order_log_weights(names, x) for x in range(len(names))])
    if np.abs(weights).max() > LARGEST_LOG_WEIGHT:
        raise ScoreError(f"order_weight must be a natural log between plus and minus {LARGEST_LOG_WEIGHT:g}.")
    return weights


def _out_of_time(run: Run) -> BaseException:
    return run.cut_short(
        "sample_networks",
        "no samples are given, since those that end first are not typical. Ask for fewer, or allow more time",
    )
