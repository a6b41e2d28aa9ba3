"""Scores with a prior that factors over families added to them: every question about scores then counts both."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from topdag._util.arrays import Floats, Masks
from topdag._util.options import option
from topdag._util.run import Run
from topdag.errors import ScoreError
from topdag.knowledge.priors import EdgePrior, OrderModular, Prior
from topdag.scoring.keep import how_to_keep_all, kept_as
from topdag.scoring.rounding import round_store
from topdag.scoring.score import scored_again
from topdag.scoring.scores import Scores
from topdag.search.stores import FamilyStore, ListStore, slots_of

FAR_BEHIND = 50.0
"""Nats by which a family must lose to count for nothing."""


def scores_with(scores: Scores, prior: Prior, run: Run) -> Scores:
    """The same scores with the log weight of every family added in ``store``, on a grid of their own.

    ``network.score`` and ``scores.local`` stay what the data say. Pruned scores are refused: what they lack may be what
    the prior prefers.
    """
    if not scores.is_kept():
        raise ScoreError(
            f"With the {prior} all families count, but these scores were pruned ({kept_as(scores.keep)}). "
            f"{how_to_keep_all()}"
        )
    if isinstance(prior, EdgePrior):
        prior.require_names(scores.names)
    names = scores.scored_names
    if scores.store.is_listed:
        store, grid = _listed_with(scores.store.listed, scores.grid, names, prior, run)
        return replace(scores, store=store, grid=grid, automatic=False, prior=prior)
    if not names:
        return replace(scores, prior=prior)
    n = len(names)
    require_room_for(n, prior, run)
    families = np.full(n << n - 1, -math.inf)
    for x in range(n):
        masks, values = scores.store.families_of(x)
        slots = slots_of(masks, x)
        weights = prior.family_log_weights(names, x)
        own = families[x << n - 1 : (x + 1) << n - 1]
        own[slots] = values + weights[slots]
        _require_nothing_lifted(scores, prior, x, own, weights)
    dense = FamilyStore(n, families)
    return replace(
        scores, store=dense, grid=round_store(dense, run.threads, finest=scores.grid), automatic=False, prior=prior
    )


def weighed(scores: Scores, prior: Prior, run: Run) -> Scores | None:
    """With the prior; where lists were made for the best network by the data alone, the table is scored again. None
    when the time is up."""
    is_enough = scores.is_kept() or not scores.automatic or scores.table is None
    every = scores if is_enough else scored_again(scores, run, "all")
    return None if every is None else scores_with(every, prior, run)


def require_room_for(n: int, prior: Prior | None, run: Run) -> None:
    """For the log weight of every family of n variables."""
    if n:
        what = f"Adding the {prior} to the families of {n} variables"
        run.require_memory(weighed_bytes(n), what, "Use fewer variables, or no prior.")


def weighed_bytes(n: int) -> float:
    """What families of n variables take with their log weights."""
    return 8.0 * (n + 3) * 2.0 ** (n - 1)


def _require_nothing_lifted(scores: Scores, prior: Prior, x: int, own: Floats, weights: Floats) -> None:
    """Families left out score less by the cut-off than no parents, or where there must be some, than the best that is
    held and has some of their parents; the prior must not make up for that.

    Each must stay far behind one that is held and has some of its parents, so fits into every network it fits into.
    """
    left_out = np.isneginf(own)
    if scores.max_parents is not None:
        left_out &= np.bitwise_count(np.arange(len(own), dtype=np.uint64)) <= scores.max_parents
    if scores.cutoff == math.inf or not left_out.any():
        return
    by_data = own - weights
    alone = by_data[0] if by_data[0] > -math.inf else _best_of_subsets(by_data)
    lifted = left_out & (alone - scores.cutoff + weights + FAR_BEHIND > _best_of_subsets(own))
    if scores.compiled is not None:
        slots = np.flatnonzero(lifted).astype(np.uint64)
        low = np.uint64((1 << x) - 1)
        lifted[lifted] = scores.compiled.families[x].admit(slots & low | (slots & ~low) << np.uint64(1))
    if lifted.any():
        raise ScoreError(
            f"The {prior} may favour parent sets of {scores.scored_names[x]!r} that are not held, since they score "
            f"{scores.cutoff:g} nats less than others. Use smaller weights, or a lower {option('max_parents')}."
        )


def _best_of_subsets(values: Floats) -> Floats:
    """By set of parents the most that it or a subset has."""
    best = values.copy()
    for bit in range(len(values).bit_length() - 1):
        halves = best.reshape(-1, 2, 1 << bit)
        np.maximum(halves[:, 1], halves[:, 0], out=halves[:, 1])
    return best


def scores_of_orders(scores: Scores, prior: Prior | None, run: Run) -> Scores:
    """Scores of all variables whose places in an order matter where the prior counts orders.

    Beside those that are scored, constant columns that come before or after others by what is known: how many places
    they can have depends on the network. They have no parents and no children.
    """
    known = scores.known_of_orders
    if not isinstance(prior, OrderModular) or not prior.is_uniform or known is None or known is scores.compiled:
        return scores
    columns = tuple(scores.names.index(name) for name in known.names)
    n = len(columns)
    run.require_memory(8.0 * n * 2 ** (n - 1), f"The orders of {n} variables", "Use fewer variables, or no prior.")
    families = np.full((n, 1 << n - 1), -math.inf)
    families[:, 0] = 0.0  # of constant columns; those of the others follow
    place = _places_in(scores, columns)
    for x, at in enumerate(place):
        masks, values = scores.store.families_of(x)
        moved = _moved(masks, range(len(place)), place)
        families[at, 0] = -math.inf
        families[at, slots_of(moved, at)] = values
    return replace(
        scores,
        columns=columns,
        store=FamilyStore(n, families.ravel()),
        compiled=known,
        automatic=False,
        left_out=scores.cutoff < math.inf,
    )


def _places_in(scores: Scores, columns: Sequence[int]) -> list[int]:
    """Where the scored variables stand among these columns."""
    return [columns.index(v) for v in scores.columns]


def among_scored(parents: Masks, columns: Sequence[int], scores: Scores) -> Masks:
    """Networks on these columns, a row of masks each, as networks on the scored ones, which have all the edges."""
    place = list(_places_in(scores, columns))
    are_the_same = place == list(range(parents.shape[1]))
    return parents if are_the_same else _moved(parents[:, place], place, range(len(place)))


def _moved(masks: Masks, begin: Sequence[int], end: Sequence[int]) -> Masks:
    """Each bit of ``begin`` at its place in ``end``."""
    found = np.zeros_like(masks)
    for one, other in zip(begin, end, strict=True):
        found |= (masks >> np.uint64(one) & np.uint64(1)) << np.uint64(other)
    return found


def log_weight_of_constants(scores: Scores, prior: Prior | None) -> float:
    """What the columns that are not among these scores add to the log weight of every network: they can stand anywhere
    in an order."""
    if not isinstance(prior, OrderModular) or not prior.is_uniform:
        return 0.0
    return math.lgamma(len(scores.names) + 1) - math.lgamma(len(scores.columns) + 1)


def _listed_with(store: ListStore, grid: int, names: tuple[str, ...], prior: Prior, run: Run) -> tuple[ListStore, int]:
    weighed = store.rounded.copy()
    for x in range(store.n):
        begin, end = store.lists.offsets[x : x + 2]
        weighed[begin:end] += prior.listed_log_weights(names, x, store.lists.masks[begin:end])
    listed = ListStore(store.n, store.lists, weighed)
    return listed, round_store(listed, run.threads, finest=grid)
