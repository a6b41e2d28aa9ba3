"""The evidence and all edge posteriors in plain numpy: a way of its own to check sums by.

The weight of all networks on a set follows from those on smaller sets by taking off every set of variables that have no
children in it [Robinson 1973; Tian & He 2009]; posteriors of edges are derivatives of its log, taken backwards.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from topdag.scoring.scores import Scores

Floats = NDArray[np.float64]


def evidence_and_edges(scores: Scores) -> tuple[float, Floats]:
    """The log of the sum over all networks of exp(score), and at [i, j] the posterior of the edge from i to j."""
    local = np.array([every_family(scores, x) for x in range(len(scores.columns))])
    inside = np.array([over_subsets(own, np.logaddexp) for own in local])
    best = best_within(np.array([over_subsets(own, np.maximum) for own in local]))
    weight, pull = np.zeros(len(best)), np.zeros_like(local)
    weight[0] = 1.0
    for placed in range(len(best)):  # weights are divided by exp(best of the set)
        larger, factor = steps(placed, inside, best)
        weight[larger[1:]] += weight[placed] * factor[1:]
    upward = np.zeros(len(best))
    upward[-1] = 1.0 / weight[-1]
    for placed in range(len(best) - 2, -1, -1):
        larger, factor = steps(placed, inside, best)
        terms = upward[larger[1:]] * factor[1:]
        upward[placed] = terms.sum()
        for x in range(len(local)):
            if not placed >> x & 1:
                pull[x, placed] = weight[placed] * terms[(larger[1:] >> x & 1) == 1].sum()
    return float(best[-1] + np.log(weight[-1])), edges(local, inside, pull)


def every_family(scores: Scores, x: int) -> Floats:
    """Local scores of x by parent mask; minus infinity for those with x in them."""
    masks, values = scores.store.families_of(x)
    found = np.full(1 << len(scores.columns), -np.inf)
    found[masks] = values
    return found


def over_subsets(values: Floats, merge: np.ufunc) -> Floats:
    """At each set, what all its subsets give together."""
    found = values.copy()
    for v in range(len(values).bit_length() - 1):
        pairs = found.reshape(-1, 2, 1 << v)
        pairs[:, 1] = merge(pairs[:, 0], pairs[:, 1])
    return found


def best_within(best_parents: Floats) -> Floats:
    """The score of the best network on each set."""
    n, size = best_parents.shape
    sets = np.arange(size)
    counts = np.bitwise_count(sets.astype(np.uint64))
    best = np.full(size, -np.inf)
    best[0] = 0.0
    for count in range(1, n + 1):
        layer = sets[counts == count]
        for x in range(n):
            with_x = layer[layer >> x & 1 == 1]
            rest = with_x ^ 1 << x
            best[with_x] = np.maximum(best[with_x], best[rest] + best_parents[x, rest])
    return best


def steps(placed: int, inside: Floats, best: Floats) -> tuple[NDArray[np.int64], Floats]:
    """Every larger set with its signed factor: what taking the new variables as childless adds to its weight."""
    larger, logs, signs = np.array([placed]), np.array([best[placed]]), np.array([-1.0])
    for x in range(len(inside)):
        if not placed >> x & 1:
            larger = np.concatenate([larger, larger | 1 << x])
            logs = np.concatenate([logs, logs + inside[x, placed]])
            signs = np.concatenate([signs, -signs])
    return larger, signs * np.exp(logs - best[larger])


def edges(local: Floats, inside: Floats, pull: Floats) -> Floats:
    """From the pull on each log of a sum over subsets to that on each family, and so to edges."""
    n, size = local.shape
    sets = np.arange(size)
    found = np.zeros((n, n))
    for x in range(n):
        outside = sets >> x & 1 == 0
        with np.errstate(divide="ignore"):
            signed = [np.log(np.maximum(part, 0.0)) - inside[x] for part in (pull[x], -pull[x])]
        logs = [over_subsets(part[::-1], np.logaddexp)[::-1][outside] + local[x, outside] for part in signed]
        families = np.exp(logs[0]) - np.exp(logs[1])
        for parent in range(n):
            found[parent, x] = families[sets[outside] >> parent & 1 == 1].sum()
    return found
