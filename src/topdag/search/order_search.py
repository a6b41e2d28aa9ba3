"""The best network by search over orders of the variables, best first or layer by layer.

Costs are shortfalls: what families give up against the best of their variable (``_core.Candidates``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from topdag import _core
from topdag._util.arrays import Floats
from topdag._util.run import Run
from topdag._util.stop import Stop
from topdag.search.costs import Cluster, cluster_arrays
from topdag.search.engines import OrderBound, Outcome

SHARE_OF_FREE_MEMORY = 0.8
LARGEST_GROUP = 15
"""Of static patterns, each with a number for every subset: the largest of the paper."""
LARGEST_CYCLE = 3
"""Of dynamic patterns: those of 4 are chosen worse."""


@dataclass(frozen=True)
class OrderOutcome(Outcome):
    """Of a search over orders: a network is known only when it is finished, and none when none costs up to ``upper``.

    ``method``: what searched; ``layers``: by number of placed variables, sets expanded and sets found but not expanded.
    """

    method: str
    layers: tuple[tuple[int, int], ...]


def cluster_bound(candidates: _core.Candidates, clusters: Sequence[Cluster], multipliers: Floats) -> _core.Bound:
    """The bound from clusters (mask, k) with multipliers, as the relaxation gives them for these families."""
    arrays = cluster_arrays(clusters, candidates.n_variables)
    return _core.cluster_bound(candidates, *arrays, np.ascontiguousarray(multipliers, dtype=np.float64))


def pattern_bound(candidates: _core.Candidates, kind: OrderBound) -> _core.Bound:
    """The bound that needs nothing but the families [Yuan & Malone 2013, sections 5.2 to 5.4]."""
    if kind is OrderBound.SIMPLE:
        return _core.simple_bound(candidates)
    if kind is OrderBound.DYNAMIC:
        return _core.cycle_bound(candidates, LARGEST_CYCLE, optimal=False)
    half = (candidates.n_variables + 1) // 2
    groups = _core.groups_by_strongest_parents(candidates, min(half, LARGEST_GROUP))
    return _core.group_bound(candidates, groups)


def search_orders(
    candidates: _core.Candidates,
    bound: _core.Bound,
    run: Run,
    *,
    upper: float = math.inf,
    extend_paths: bool = True,
    memory: int | None = None,
) -> OrderOutcome:
    """Best first; layer by layer when the sets do not fit in memory. With ``memory``, best first in so many bytes only.

    Only networks that cost up to ``upper`` are looked for: give the cost of one that is known. ``extend_paths``: where
    a variable's best family of all fits it is placed at once.
    """
    most = int(run.allowed_memory * (SHARE_OF_FREE_MEMORY if run.memory_limit is None else 1.0))
    begin = run.seconds
    found = _core.search_orders(candidates, bound, upper, extend_paths, most if memory is None else memory, run.limits)
    proved, method = found.bound, "best-first search over orders"
    run.memory = max(run.memory, found.bytes)
    if found.memory_hit and memory is None:
        found = _core.search_in_layers(candidates, bound, upper, extend_paths, most, run.limits)
        method = "search over orders by layers"
        run.memory = max(run.memory, found.bytes)
    run.timed("searching", begin)
    return OrderOutcome(
        found.finished,
        tuple(found.parents) or None,
        found.cost,
        max(proved, found.bound),
        None if found.finished else Stop.MEMORY_LIMIT if found.memory_hit else run.limit,
        {"expanded": found.expanded, "generated": found.generated, "reopened": found.reopened},
        method,
        tuple(found.layers),
    )
