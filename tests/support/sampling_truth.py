"""What samples are compared with: exact posteriors and layers of all networks of a few variables, and a test of fit."""

from __future__ import annotations

import math

import numpy as np
from brute_force import network_scores, networks, values_of
from numpy.typing import NDArray

import topdag as td
from topdag.knowledge.priors import Prior
from topdag.scoring.scores import Scores

Floats = NDArray[np.float64]
FIT = 4.7534
"""A fit this bad has probability 1e-6: the quantile of the normal distribution."""


def posterior(scores: Scores, prior: Prior | None) -> tuple[NDArray[np.uint64], Floats]:
    """Every allowed network, and its posterior probability."""
    masks = networks(len(scores.columns))
    logs = network_scores(values_of(scores), masks)
    masks, logs = masks[np.isfinite(logs)], logs[np.isfinite(logs)]
    if prior is not None:
        logs = logs + [prior.log_weight(td.Network.from_masks(scores.names, row)) for row in masks.tolist()]
    weights = np.exp(logs - logs.max())
    return masks, weights / weights.sum()


def row_numbers(rows: NDArray[np.uint64], known: NDArray[np.uint64]) -> NDArray[np.int64]:
    """For each row which of the known ones it is; all must be known."""
    numbers = {tuple(row): number for number, row in enumerate(known.tolist())}
    return np.array([numbers[tuple(row)] for row in rows.tolist()], dtype=np.int64)


def misfit(counts: Floats, probabilities: Floats) -> float:
    """How many standard deviations chi-square is above what chance gives [Wilson & Hilferty 1931].

    Cells that expect fewer than ten are taken together.
    """
    expected = probabilities * counts.sum()
    few = expected < 10
    counts = np.append(counts[~few], counts[few].sum())
    expected = np.append(expected[~few], expected[few].sum())
    counts, expected = counts[expected > 0], expected[expected > 0]
    freedom = len(counts) - 1
    if freedom == 0:
        return 0.0
    ratio = float(((counts - expected) ** 2 / expected).sum()) / freedom
    return (ratio ** (1 / 3) - (1 - 2 / (9 * freedom))) / math.sqrt(2 / (9 * freedom))


def layers_of(row: list[int]) -> list[int]:
    """The layers of a network from the roots on: each holds what has all its parents in the layers before."""
    layers, placed = [], 0
    while placed != (1 << len(row)) - 1:
        ready = sum(1 << x for x, parents in enumerate(row) if not placed >> x & 1 and parents & ~placed == 0)
        layers.append(ready)
        placed |= ready
    return layers


def layer_truth(scores: Scores) -> dict[tuple[int, int], Floats]:
    """By past and last layer the probability of every set to be the next layer; sums of positive terms only."""
    n = len(scores.columns)
    masks = networks(n)
    logs = network_scores(values_of(scores), masks)
    terms: dict[tuple[int, int], dict[int, list[float]]] = {}
    for row, log in zip(masks.tolist(), logs.tolist(), strict=True):
        past = last = 0
        for layer in layers_of(row) if math.isfinite(log) else ():
            terms.setdefault((past, last), {}).setdefault(layer, []).append(log)
            past, last = past | layer, layer
    return {state: _shares(found, n) for state, found in terms.items()}


def _shares(found: dict[int, list[float]], n: int) -> Floats:
    """Networks with the same past differ in it too, but by the same factor for every next layer."""
    most = max(max(logs) for logs in found.values())
    shares = np.zeros(2**n)
    for layer, logs in found.items():
        shares[layer] = math.fsum(math.exp(log - most) for log in logs)
    return shares / shares.sum()
