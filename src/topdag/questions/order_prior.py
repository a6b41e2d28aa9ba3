"""The best networks when orders weigh too: what a network is worth is its score plus the log of its weight.

Branch and bound over lists of families, bounded by sums over all orders of the variables (order_prior in the core).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from topdag import _core
from topdag._util.arrays import Floats, Masks
from topdag._util.options import option
from topdag._util.run import Run, shown_bytes
from topdag._util.stop import Stop
from topdag.answers.lists import NetworkList
from topdag.answers.results import Answer, proof_of
from topdag.errors import ScoreError
from topdag.knowledge.priors import OrderModular
from topdag.questions.request import Trail, answer_of, stats_of
from topdag.scoring.scores import Scores
from topdag.scoring.with_prior import among_scored, log_weight_of_constants, scores_of_orders, scores_with
from topdag.search.engines import most_that_fit


@dataclass(frozen=True)
class PriorFound:
    """Networks on the scored variables, and what is proved about the others.

    ``values``: score on the grid plus log weight, best first, equal ones by growing parents, those of variable 0 first.
    ``parents``: masks over the scored variables, a row for each network. ``bound``: no network is worth more.
    ``floor``: all networks worth more are here. ``limit``: what stopped it, memory or the limit of the run.
    ``work``: parts of the space looked at, sweeps over sets and how many of
    them over few, families left at the root, networks counted.

    Orders are those of the scored variables: constant columns, which stay isolated, multiply the weight of every
    network alike.
    """

    values: Floats
    parents: Masks
    bound: float
    floor: float
    limit: Stop | None
    work: dict[str, int]


def search_order_prior(scores: Scores, prior: OrderModular, *, most: int, factor: float, run: Run) -> PriorFound:
    """The ``most`` best networks, of those at least 1/factor as probable as the best.

    ``scores`` must hold all families that can matter: for the best network those kept for it, for lists within a factor
    those kept for that factor, else all; with weights of parents always all. Those weights are added here, on a grid
    of their own, and then count in ``values``.
    """
    scores.require_kept_where_orders_weigh(most=most, factor=factor)
    if prior.parent_weight is not None:
        scores = scores_with(scores, prior, run)
    n = len(scores.columns)
    if n == 0:
        return PriorFound(np.zeros(1), np.zeros((1, 0), np.uint64), 0.0, 0.0, None, {})
    held = scores.store.n_bytes
    require_room(n, prior, run, held)
    names = scores.scored_names
    weights = [] if prior.order_weight is None else [prior.order_log_weights(names, x) for x in range(n)]
    log_factor = math.inf if most == 1 or factor == math.inf else math.log(factor)
    left = run.allowed_memory - order_prior_bytes(n, prior, run.threads) - (held if run.memory_limit is not None else 0)
    begin = run.seconds
    found = _core.search_order_prior(scores.store.core(scores.order), weights, most, log_factor, left, run.limits)
    run.timed("searching", begin)
    return PriorFound(
        found.scores,
        found.parents,
        found.bound,
        found.floor,
        None if found.finished else Stop.MEMORY_LIMIT if found.memory_hit else run.limit,
        {
            "parts": found.parts,
            "sweeps": found.sweeps,
            "sparse sweeps": found.sparse_sweeps,
            "families at the root": found.root_families,
            "networks counted": found.counted,
        },
    )


def order_prior_bytes(n: int, prior: OrderModular, threads: int) -> float:
    """What the search takes beside the scores, before it keeps parts and networks."""
    return _core.order_prior_bytes(n, threads) + (0 if prior.order_weight is None else 8.0 * n * 2 ** (n - 1))


def require_room(n: int, prior: OrderModular, run: Run, held: int = 0) -> None:
    """What cannot be searched is not scored either."""
    allowed = run.allowed_memory - (held if run.memory_limit is not None else 0)
    fits = most_that_fit(lambda m: order_prior_bytes(m, prior, run.threads), allowed)
    run.require_memory(
        order_prior_bytes(n, prior, run.threads) + held,
        f"The {prior} on {n} variables",
        f"{fits} variables would fit ({shown_bytes(order_prior_bytes(fits, prior, run.threads))} beside the scores)."
        if fits
        else f"Raise {option('memory_limit')}.",
        held=held,
    )


def best_by_orders(trail: Trail, run: Run) -> Answer | None:
    """The network worth most; None when nothing is known when the time is up."""
    found, added = _search(trail, 1, 1.0, run)
    scores, some = trail.scores, len(found.values) > 0
    assert scores is not None
    if not some and found.limit is not None:
        return None
    network = scores.network(found.parents[0].tolist()) if some else None
    value = -math.inf if network is None else trail.score_of(network)
    proof = proof_of(found.limit, value, found.bound + added + scores.rounding, _space(trail))
    return answer_of(trail, run, network, value, proof)


def list_by_orders(trail: Trail, most: int, factor: float, run: Run) -> NetworkList:
    """The networks worth most, best first; when the run is over, what there is."""
    found, added = _search(trail, most, factor, run)
    scores = trail.scores
    assert scores is not None
    best = float(found.values[0]) + added if len(found.values) else -math.inf
    proof = proof_of(found.limit, best, found.bound + added + scores.rounding, _space(trail))
    source = replace(scores, prior=trail.request.prior)
    return NetworkList(source, found.values + added, found.parents, found.floor + added, proof, stats_of(trail, run))


def _search(trail: Trail, most: int, factor: float, run: Run) -> tuple[PriorFound, float]:
    """What was found on the scored variables, and what those that can stand anywhere add to every log weight."""
    for what in ("start", "engine", "checkpoint"):
        if getattr(trail.request, what) is not None:
            raise ScoreError(f"{what} does not go with an order-modular prior, which has a search of its own.")
    scores, prior = trail.scores, trail.request.prior
    assert scores is not None and isinstance(prior, OrderModular)
    ordered = scores_of_orders(scores, prior, run)
    added = log_weight_of_constants(ordered, prior)
    if not ordered.columns:
        only = np.zeros(1), np.empty((1, 0), np.uint64)
        return PriorFound(*only, bound=0.0, floor=-math.inf, limit=None, work={}), added
    found = search_order_prior(ordered, prior, most=most, factor=factor, run=run)
    trail.counted = found.work
    return replace(found, parents=among_scored(found.parents, ordered.columns, scores)), added


def _space(trail: Trail) -> str:
    assert trail.scores is not None
    return replace(trail.scores, prior=trail.request.prior).describe_space()
