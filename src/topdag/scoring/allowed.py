"""Scores of just the families that constraints allow: from scores of all families, or by a walk over lists.

Dominance compares a family with allowed subsets of its parents only: a smaller parent set that is forbidden cannot take
the place of a larger one [METHODS.md 2.1].
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from topdag._util.run import Run
from topdag.data.table import Table
from topdag.errors import ConstraintError
from topdag.knowledge.compiled import FamilyRules
from topdag.scoring.all_sets import round_store, round_together
from topdag.scoring.dominance import listed_store
from topdag.scoring.kinds.discrete import ScoreKind
from topdag.scoring.probability_losses import NO_LOSSES, ChildLosses
from topdag.scoring.pruned import PrunedScores, Pruning, may_be_in_layers
from topdag.scoring.pruned_gaussian import score_worth_keeping
from topdag.scoring.walk import FamilyWalk
from topdag.search.engines import BLOCK_LIMIT, SMALL, family_bytes
from topdag.search.family_lists import FamilyLists
from topdag.search.stores import (
    FamilyStore,
    ListStore,
    ParentLimits,
    SetStore,
    Store,
    families_between,
    families_of,
    rows_of,
    slots_of,
)

Families = tuple[NDArray[np.uint64], NDArray[np.float64]]
PART = 1 << 20
FEW_FAMILIES = 50_000
"""Up to so many are listed where there are more than 20 variables: search on lists is faster then."""


def allowed_only(
    store: SetStore | FamilyStore,
    rules: Sequence[FamilyRules],
    table: Table,
    columns: Sequence[int],
    kind: ScoreKind,
    max_parents: int,
    grid: int,
    run: Run,
) -> tuple[Store, int]:
    """The same scores with all other families forbidden, and their grid; as lists where few of many are left.

    Families whose penalty is hopeless have no score (docs/method.md). Where a variable must have parents, one of them
    may be needed all the same, so these get theirs; the grid may become coarser for it. Families with more than
    ``max_parents`` have no score either, and get none.
    """
    if all(own.is_free for own in rules):
        return store, grid
    if isinstance(store, SetStore) and _can_be_limited(store, rules, table, columns):
        return replace(store, limits=tuple(_limits(own, x) for x, own in enumerate(rules))), grid
    n = store.n
    kept: list[Families] = []
    is_rounded = True
    for x, own in enumerate(rules):
        masks, values = families_between(store, x, own.must, own.may)
        if not own.is_an_interval:
            allowed = admitted(own, masks)
            masks, values = masks[allowed], values[allowed]
        may_lack = not table.continuous
        if may_lack and isinstance(store, SetStore) and not _can_do_without(own, store, x, table, columns[x]):
            more = _left_out(own, masks, n, x, max_parents)
            is_rounded &= not more.size
            scores = [kind.local(table, columns[x], [columns[v] for v in _members(int(mask))]) for mask in more]
            masks, values = np.concatenate([masks, more]), np.concatenate([values, scores])
        _require_some(own, masks, x, max_parents)
        kept.append((masks, values))
    if is_rounded and n > SMALL and sum(len(masks) for masks, _ in kept) <= FEW_FAMILIES:
        return listed_store(rules[0].names, kept), grid
    dense = _dense(store, kept, run)
    return dense, grid if is_rounded else round_store(dense, run)


def _can_be_limited(store: SetStore, rules: Sequence[FamilyRules], table: Table, columns: Sequence[int]) -> bool:
    """Whether edges that must or cannot be and numbers of parents say all there is to say, nothing left out for its
    penalty is needed, and many families are left: then no family is stored by itself."""
    if any(own.among is not None or own.rules for own in rules):
        return False
    few = store.n > SMALL and sum(_limits(own, x).n_sets for x, own in enumerate(rules)) <= FEW_FAMILIES
    is_whole = bool(table.continuous)  # nothing is left out for its penalty
    return not few and (
        is_whole or all(_can_do_without(own, store, x, table, columns[x]) for x, own in enumerate(rules))
    )


def _limits(own: FamilyRules, x: int) -> ParentLimits:
    return ParentLimits(own.must, own.may & ~(1 << x), own.least, own.most)


def _dense(store: SetStore | FamilyStore, kept: Sequence[Families], run: Run) -> FamilyStore:
    n = store.n
    run.require_memory(
        family_bytes(n) + sum(array.nbytes for array in store.arrays),
        f"Scores of single families of {n} variables, as constraints need them,",
        "Use fewer variables.",
    )
    families = np.full(n << n - 1, -math.inf)
    for x, (masks, values) in enumerate(kept):
        families[(x << n - 1) + slots_of(masks, x)] = values
    return FamilyStore(n, families)


def score_allowed(
    table: Table,
    columns: tuple[int, ...],
    kind: ScoreKind,
    max_parents: int | None,
    keep: Pruning,
    rules: Sequence[FamilyRules],
    run: Run,
    losses: Mapping[int, ChildLosses] = NO_LOSSES,
) -> PrunedScores | None:
    """As ``score_pruned``, of the allowed families only, less what parameter constraints cost them; None when the time
    limit came first.

    Where every subset of allowed parents is allowed, but for those that must be, what the core keeps is right if it
    knows of the latter. Elsewhere a walk of its own goes over the parents that may be added to those that must be.
    """
    if table.continuous and not all(own.is_closed_under_removal for own in rules):
        raise ConstraintError(
            f"With {kind!r} and {len(columns)} variables, constraints that ask for parents are not understood; up to "
            f"{BLOCK_LIMIT} variables without max_parents they are. Forbid edges, or leave out columns."
        )
    must = [
        own.must if x not in losses and _core_can_begin(own, x, table, columns, kind, max_parents) else 0
        for x, own in enumerate(rules)
    ]
    whole = score_worth_keeping(table, columns, kind, max_parents, keep, run, must)
    if whole is None:
        return None
    kept: list[Families] = []
    for x, own in enumerate(rules):
        begun = must[x] if whole.by_layers else 0
        if own.is_closed_above_must and own.must == begun and x not in losses:
            masks, values = families_of(whole.store, x)
            allowed = admitted(own, masks)
            kept.append((masks[allowed], values[allowed]))
            continue
        found = FamilyWalk(table, columns, kind, max_parents, keep, own, x, run, losses.get(x)).families()
        if found is None:
            return None
        _require_some(own, found[0], x, max_parents)
        kept.append(found)
    return _joined(whole, kept, run)


def _core_can_begin(
    own: FamilyRules, x: int, table: Table, columns: Sequence[int], kind: ScoreKind, max_parents: int | None
) -> bool:
    """Whether families may be compared with the one of just the parents that must be, by the core."""
    if not own.is_closed_above_must or own.must.bit_count() > (len(columns) if max_parents is None else max_parents):
        return False
    return own.must == 0 or may_be_in_layers(table, columns, kind, x, own.must)


def _joined(whole: PrunedScores, kept: Sequence[Families], run: Run) -> PrunedScores:
    """On one grid: that of the core, or a coarser one where parents that must be score far below."""
    masks, scores = (np.concatenate(parts) for parts in zip(*kept, strict=True))
    offsets = np.cumsum([0, *(len(own) for own, _ in kept)])
    rounded = scores.copy()
    grid = min(whole.grid, round_together([rounded], len(kept), run.threads))
    lists = FamilyLists(whole.store.lists.names, offsets, rows_of(masks), rounded if grid < whole.grid else scores)
    store = ListStore(len(kept), lists, lists.scores)
    return replace(whole, store=store, grid=grid, kept=lists.n_families)


def admitted(own: FamilyRules, masks: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Part by part, so that what is made on the way stays small."""
    parts = [own.admit(masks[begin : begin + PART]) for begin in range(0, len(masks), PART)]
    return np.concatenate(parts) if parts else np.zeros(0, bool)


def _left_out(own: FamilyRules, scored: NDArray[np.uint64], n: int, x: int, max_parents: int) -> NDArray[np.uint64]:
    """Allowed parent sets of at most so many that have no score."""
    slots = np.arange(1 << n - 1, dtype=np.uint64)
    low = np.uint64((1 << x) - 1)
    every = slots & low | (slots & ~low) << np.uint64(1)
    every = every[np.bitwise_count(every) <= max_parents]
    return np.setdiff1d(every[admitted(own, every)], scored)


def _can_do_without(own: FamilyRules, store: SetStore | FamilyStore, x: int, table: Table, column: int) -> bool:
    """Whether families left out for their penalty are hopeless still: they score 1,000 nats less than x without parents
    less all that data could explain of x, so also less than the smallest allowed families if these are near enough."""
    if own.admits(0):
        return True
    if own.rules or own.among is not None:
        return False
    smallest = max(own.least, own.must.bit_count())
    others = [v for v in range(store.n) if own.may >> v & 1 and not own.must >> v & 1]
    near = store.value(x, 0) - table.n_rows * math.log(max(2, int(table.arities[column])))
    more = combinations(others, smallest - own.must.bit_count())
    return all(store.value(x, own.must | sum(1 << v for v in chosen)) >= near for chosen in more)


def _require_some(own: FamilyRules, masks: NDArray[np.uint64], x: int, max_parents: int | None) -> None:
    if not masks.size:
        is_limited = max_parents is not None and max_parents < len(own.names) - 1
        limit = f" with at most {max_parents} parents each" if is_limited else ""
        raise ConstraintError(f"No parents of {own.names[x]!r} obey all that is known about them{limit}.")


def _members(mask: int) -> list[int]:
    return [v for v in range(mask.bit_length()) if mask >> v & 1]
