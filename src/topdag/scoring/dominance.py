"""Which families a question can do without, on scores that are known: one rule per function.

Each function takes a store (or a lattice of one) and a variable and returns the families to keep as two arrays, parent
masks and local scores on the grid. What "keep" promises is said for the asked list as a set of networks, ties
included, not only for its scores. See docs/explanation/order_search_and_pruning.md; bounds on the number of parents
that need no scores are in ``mdl_theorems``.
"""

from __future__ import annotations

import math

import numpy as np

from topdag import _core
from topdag._util.run import Run
from topdag.scoring.task import TIES_GO_TOO
from topdag.search.lattice import lattice_of
from topdag.search.stores import ListStore, OwnFamilies, Store


def families_for_best(store: Store, x: int) -> OwnFamilies:
    """Dominance: a family goes when a proper subset of its parents scores at least as much [Teyssier & Koller 2005].

    Keeps every best network that has no superfluous parent, so at least one. For no other question: second-best
    networks, ties and sums may need what goes.
    """
    return _core.families_worth_keeping(store.core(), x, TIES_GO_TOO)


def families_within(store: Store, x: int, epsilon: float) -> OwnFamilies:
    """Factor-safe: a family goes only when a proper subset of its parents scores more than ``epsilon`` better.

    Keeps every network, and every class, within ``epsilon`` = ln(factor) of the best, those exactly on the edge too:
    with "at least epsilon better" they would be lost.
    """
    if not epsilon >= 0:
        raise ValueError(f"epsilon, the logarithm of a Bayes factor, is a number from 0 on, not {epsilon!r}.")
    return _core.families_worth_keeping(store.core(), x, epsilon)


def families_by_better_subsets(store: Store, x: int, k: int) -> OwnFamilies:
    """Theorem 3: a family goes when k different proper subsets of its parents score strictly more [Chen et al. 2016].

    Keeps the k best networks and all that tie with the last of them; also the k best classes, because networks that
    differ by removed edges differ in skeleton. Counting among the kept subsets is enough: a better subset that went
    has k better ones of its own, so it is not among the k best. Takes (families) x (families kept) steps.
    """
    if k < 1:
        raise ValueError(f"k must be a whole number from 1 on, not {k!r}.")
    masks, scores = _core.families_worth_keeping(store.core(), x, math.inf)
    kept = np.empty_like(masks)  # best first
    places: list[int] = []
    n_strictly_better, last = 0, math.inf
    for place in np.argsort(-scores, kind="stable").tolist():
        if scores[place] < last:
            n_strictly_better, last = len(places), scores[place]
        is_subset = (kept[:n_strictly_better] & ~masks[place]) == 0
        if np.count_nonzero(is_subset) < k:
            kept[len(places)] = masks[place]
            places.append(place)
    places.sort()
    return masks[places], scores[places]


def store_for_k_best(
    store: Store,
    names: tuple[str, ...],
    k: int,
    run: Run,
    *,
    of_classes: bool,
    slack: float = 0.0,
    furthest: float = math.inf,
) -> Store | None:
    """Theorem 4 made exact: just the families of networks that score at least as the k-th best, less ``slack``.

    With ``of_classes``, as the k-th best class, which is never more: k classes are k networks or more. Keeps these
    lists with all ties at their ends. Networks more than ``furthest`` behind the best are not looked for: when fewer
    than k are nearer, all families stay. None when the time is up. Needs the lattice.
    """
    begin = run.seconds
    lattice = lattice_of(store, run)
    threshold = None if lattice is None else _kth_best_score(lattice, k, run, of_classes=of_classes, furthest=furthest)
    if lattice is None or threshold is None:
        return None
    if threshold == -math.inf:
        return store
    families = _core.families_reaching(lattice, threshold - slack, run.limits)
    run.timed("pruning", begin)
    return None if families is None else ListStore.of(names, [own[:2] for own in families])


def _kth_best_score(lattice: _core.Lattice, k: int, run: Run, *, of_classes: bool, furthest: float) -> float | None:
    """Minus infinity when there are not so many; None when the time is up."""
    what = _core.Listed.CLASSES if of_classes else _core.Listed.NETWORKS
    found = _core.list_best(lattice, what, k, lattice.best_score - furthest, run.limits)
    if not found.finished:
        return None
    return float(found.scores[-1]) if len(found.scores) == k else -math.inf
