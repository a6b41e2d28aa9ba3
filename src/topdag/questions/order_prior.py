"""The best networks when orders weigh too: what a network is worth is its score plus the log of its weight.

Branch and bound over lists of families, bounded by sums over all orders of the variables (order_prior in the core).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from topdag import _core
from topdag._util.run import Run, shown_bytes
from topdag._util.stop import Stop
from topdag.errors import TooLarge
from topdag.knowledge.priors import OrderModular
from topdag.scoring.scores import Scores
from topdag.scoring.with_prior import scores_with
from topdag.search.engines import LATTICE_LIMIT

Floats = NDArray[np.float64]
Masks = NDArray[np.uint64]


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
    held = sum(array.nbytes for array in scores.store.arrays)
    _require_room(n, prior, held, run)
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


def require_few(n: int, prior: OrderModular) -> None:
    if n > LATTICE_LIMIT:
        raise TooLarge(
            f"{n} variables: the {prior} takes at most {LATTICE_LIMIT}. Leave out {n - LATTICE_LIMIT}, or use no prior."
        )


def _require_room(n: int, prior: OrderModular, held: int, run: Run) -> None:
    require_few(n, prior)
    allowed = run.allowed_memory - (held if run.memory_limit is not None else 0)
    fits = max((m for m in range(1, n) if order_prior_bytes(m, prior, run.threads) <= allowed), default=0)
    run.require_memory(
        order_prior_bytes(n, prior, run.threads) + held,
        f"The {prior} on {n} variables",
        f"{fits} variables would fit ({shown_bytes(order_prior_bytes(fits, prior, run.threads))} beside the scores)."
        if fits
        else "Raise memory_limit.",
        held=held,
    )
