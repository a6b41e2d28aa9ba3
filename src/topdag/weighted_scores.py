"""Scores with a prior that factors over families added to them: every question about scores then counts both."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from topdag.errors import ScoreError
from topdag.priors import EdgePrior, Prior
from topdag.runs import Run
from topdag.scores import Scores
from topdag.scoring import round_store, round_together
from topdag.stores import FamilyStore, ListStore, families_of, slots_of


def scores_with(scores: Scores, prior: Prior, run: Run) -> Scores:
    """The same scores with the log weight of every family added in ``store``, on a grid of their own.

    ``network.score`` and ``scores.local`` stay what the data say. Pruned scores are refused: what they lack may be what
    the prior prefers.
    """
    if not scores.is_kept():
        raise ScoreError(
            f"With the {prior} all families count, but these scores were pruned, keep={scores.keep!r}. "
            'Score again with keep="all", or with max_parents.'
        )
    if isinstance(prior, EdgePrior):
        prior.require_names(scores.names)
    names = tuple(scores.names[v] for v in scores.columns)
    if isinstance(scores.store, ListStore):
        store, grid = _listed_with(scores.store, names, prior, run)
        return replace(scores, store=store, grid=grid, automatic=False, prior=prior)
    if not names:
        return replace(scores, prior=prior)
    n = len(names)
    needed = 8.0 * (n + 3) * 2 ** (n - 1)
    run.require_memory(
        needed, f"Adding the {prior} to the families of {n} variables", "Use fewer variables, or no prior."
    )
    families = np.full(n << n - 1, -math.inf)
    for x in range(n):
        masks, values = families_of(scores.store, x)
        slots = slots_of(masks, x)
        families[(x << n - 1) + slots] = values + prior.family_log_weights(names, x)[slots]
    dense = FamilyStore(n, families)
    return replace(scores, store=dense, grid=round_store(dense, run), automatic=False, prior=prior)


def _listed_with(store: ListStore, names: tuple[str, ...], prior: Prior, run: Run) -> tuple[ListStore, int]:
    weighed = store.rounded.copy()
    for x in range(store.n):
        begin, end = store.lists.offsets[x : x + 2]
        weighed[begin:end] += prior.family_log_weights(names, x)[slots_of(store.lists.masks[begin:end, 0], x)]
    grid = round_together([weighed], store.n, run.threads)
    return ListStore(store.n, store.lists, weighed), grid
