"""The best network and lists of networks under an order-modular prior."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from topdag._util.run import Run
from topdag.answers.lists import NetworkList
from topdag.answers.results import Answer, Proof, Status, limit_text
from topdag.errors import ScoreError
from topdag.knowledge.priors import OrderModular
from topdag.questions.order_prior import PriorFound, search_order_prior
from topdag.questions.request import Trail, stats_of
from topdag.scoring.with_prior import among_scored, log_weight_of_constants, scores_of_orders


def best_by_orders(trail: Trail, run: Run) -> Answer | None:
    """The network worth most; None when nothing is known when the time is up."""
    for what in ("start", "engine", "checkpoint"):
        if getattr(trail.request, what) is not None:
            raise ScoreError(f"{what} does not go with an order-modular prior, which has a search of its own.")
    found, added = _search(trail, 1, 1.0, run)
    if not len(found.values):
        if found.limit is None:
            return _infeasible(trail, run)
        return None
    assert trail.scores is not None
    network = trail.scores.network(found.parents[0].tolist())
    value = trail.score_of(network)
    status = Status.PROVED if found.limit is None else Status.STOPPED
    bound = value if status is Status.PROVED else max(value, found.bound + added + trail.scores.rounding)
    proof = Proof(status, bound, bound - value, limit_text(found.limit), _space(trail))
    stats = replace(stats_of(trail, run), work=found.work)
    return Answer(network, value, proof, stats, trail.request.kind, trail.notes, trail.request.prior, trail.reading)


def list_by_orders(trail: Trail, most: int, factor: float, run: Run) -> NetworkList:
    """The networks worth most, best first; when the run is over, what there is."""
    found, added = _search(trail, most, factor, run)
    scores = trail.scores
    assert scores is not None
    some = len(found.values) > 0
    status = Status.STOPPED if found.limit is not None else Status.PROVED if some else Status.INFEASIBLE
    best = float(found.values[0]) + added if some else -math.inf
    bound = best if status is not Status.STOPPED else max(best, found.bound + added + scores.rounding)
    proof = Proof(status, bound, bound - best if some else math.inf, limit_text(found.limit), _space(trail))
    stats = replace(stats_of(trail, run), work=found.work)
    source = replace(scores, prior=trail.request.prior)
    return NetworkList(source, found.values + added, found.parents, found.floor + added, proof, stats)


def _search(trail: Trail, most: int, factor: float, run: Run) -> tuple[PriorFound, float]:
    """What was found on the scored variables, and what those that can stand anywhere add to every log weight."""
    scores, prior = trail.scores, trail.request.prior
    assert scores is not None and isinstance(prior, OrderModular)
    ordered = scores_of_orders(scores, prior, run)
    added = log_weight_of_constants(ordered, prior)
    if not ordered.columns:
        only = np.zeros(1), np.empty((1, 0), np.uint64)
        return PriorFound(*only, bound=0.0, floor=-math.inf, limit=None, work={}), added
    found = search_order_prior(ordered, prior, most=most, factor=factor, run=run)
    return replace(found, parents=among_scored(found.parents, ordered.columns, scores)), added


def _space(trail: Trail) -> str:
    assert trail.scores is not None
    return replace(trail.scores, prior=trail.request.prior).describe_space()


def _infeasible(trail: Trail, run: Run) -> Answer:
    proof = Proof(Status.INFEASIBLE, -math.inf, 0.0, None, _space(trail))
    return Answer(
        None,
        -math.inf,
        proof,
        stats_of(trail, run),
        trail.request.kind,
        trail.notes,
        trail.request.prior,
        trail.reading,
    )
