"""Scores of just the families that constraints allow: from scores of all families, or by a walk over lists.

Dominance compares a family with allowed subsets of its parents only: a smaller parent set that is forbidden cannot take
the place of a larger one (docs/explanation/order_search_and_pruning.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from topdag import _core
from topdag._util.arrays import Marks, Masks
from topdag._util.bitsets import as_set, bits, is_empty, sizes_of
from topdag._util.options import option
from topdag._util.run import Run
from topdag.errors import ConstraintError
from topdag.scoring.keep import FEW_FAMILIES
from topdag.scoring.kinds.discrete import SetScore, coded
from topdag.scoring.kinds.interventions import WhereNotSet
from topdag.scoring.pruned import PrunedScores, may_be_in_layers
from topdag.scoring.pruned_gaussian import score_worth_keeping
from topdag.scoring.rounding import HOPELESS_NATS, round_store, sums_are_exact
from topdag.scoring.task import Pruning, ScoringTask
from topdag.scoring.walk import SetScoreWalk
from topdag.search.engines import family_bytes, sizes
from topdag.search.lattice import most_held
from topdag.search.stores import PART, DenseStore, FamilyStore, ListStore, OwnFamilies, ParentLimits, SetStore, Store

if TYPE_CHECKING:
    from topdag.knowledge.compiled import FamilyRules

MOST_SCORED_SINGLY = 20_000
"""Some seconds."""


def allowed_only(
    store: DenseStore, task: ScoringTask, grid: int, run: Run, *, is_whole: bool
) -> tuple[Store, int] | None:
    """The same scores with all other families forbidden, and their grid; as lists where few of many are left. None when
    the time is up.

    Families whose penalty is hopeless have no score (docs/explanation/method.md), unless the store ``is_whole``. Where
    a variable must have parents, one of them may be needed all the same: it gets its score, unless it is hopeless
    beside what is allowed. Families with more than ``max_parents`` have no score either, and get none.
    """
    rules = task.rules
    if all(own.is_free for own in rules):
        return store, grid
    require_enough_parents(rules, task.max_parents)
    if isinstance(store, SetStore) and _can_be_limited(store, task, is_whole=is_whole):
        return replace(store, limits=tuple(_limits(own, x) for x, own in enumerate(rules))), grid
    n = store.n
    kept: list[OwnFamilies] = []
    is_longer = False
    for x, own in enumerate(rules):
        masks, values = store.families_between(x, own.must, own.may)
        if not own.is_an_interval:
            allowed = admitted(own, masks)
            masks, values = masks[allowed], values[allowed]
        may_lack = isinstance(store, SetStore) or isinstance(task.kind, WhereNotSet)
        if not is_whole and may_lack and not _can_do_without(store, task, x):
            by_sets = isinstance(store, SetStore)
            more = _needed(task, x, masks, grid, run) if by_sets else _scored_singly(store, task, x, grid, run)
            if more is None:
                return None
            is_longer |= more[0].size > 0
            masks, values = np.concatenate([masks, more[0]]), np.concatenate([values, more[1]])
        require_some(masks.size > 0, own, x, task.max_parents)
        kept.append((masks, values))
    if is_longer:
        kept, grid = _on_one_grid(rules[0].names, kept, grid, run)
    if n > sizes().small and sum(len(masks) for masks, _ in kept) <= FEW_FAMILIES:
        return ListStore.of(rules[0].names, kept), grid
    return _dense(store, kept, run), grid


def _needed(task: ScoringTask, x: int, scored: Masks, grid: int, run: Run) -> OwnFamilies | None:
    """Allowed families of x that have no score, with theirs, but for those that one with some of their parents beats by
    more than any question asks for; None when the time is up."""
    kind, n_rows = task.kind, task.table.n_rows
    assert isinstance(kind, SetScore)  # the others leave nothing out
    found = SetScoreWalk(replace(task, keep=Pruning(epsilon=HOPELESS_NATS)), x, run).families()
    if found is None:
        return None
    masks = np.setdiff1d(found[0], scored)
    view, joint = coded(task.table, task.columns), kind.joint(n_rows)
    below = kind.below(n_rows, task.arities[x]) or joint

    def rounded(formula: _core.SetFormula, mask: int) -> float:
        return math.ldexp(round(math.ldexp(_core.score_set(view, formula, bits(mask)), grid)), -grid)

    values = [rounded(joint, mask | 1 << x) - rounded(below, mask) for mask in masks.tolist()]
    return masks, np.array(values)


def _scored_singly(store: DenseStore, task: ScoringTask, x: int, grid: int, run: Run) -> OwnFamilies | None:
    """All allowed families of x that have no score, with theirs; None when the time is up."""
    own, table = task.rules[x], task.table
    masks = store.unscored_between(x, own.must, own.may)
    masks = masks[admitted(own, masks) & (sizes_of(masks) <= task.most_parents)]
    if len(masks) > MOST_SCORED_SINGLY:
        raise ConstraintError(
            f"{own.names[x]!r} must have parents so costly that {len(masks):,} families would be scored one by one, "
            f"with {option('interventions')}; at most {MOST_SCORED_SINGLY:,} are. Give {option('max_parents')}, or ask "
            "for fewer parents."
        )
    values = np.empty(len(masks))
    for at, mask in enumerate(masks.tolist()):
        if run.is_over:
            return None
        exact = task.kind.local(table, task.columns[x], [task.columns[v] for v in bits(mask)])
        values[at] = math.ldexp(round(math.ldexp(exact, grid)), -grid)
    return masks, values


def _on_one_grid(
    names: tuple[str, ...], kept: Sequence[OwnFamilies], grid: int, run: Run, *, are_near: bool = True
) -> tuple[list[OwnFamilies], int]:
    """Where families are so far below others that their sums need a coarser grid, all are rounded again; before that
    those go that are in no network near an allowed one, if ``are_near`` are all that count."""
    listed = ListStore.of(names, kept)
    if sums_are_exact(listed, grid):
        return list(kept), grid
    listed = ListStore.of(names, _with_hope(kept) if are_near else kept)
    grid = round_store(listed, run.threads, finest=grid)
    return [listed.families_of(x) for x in range(listed.n)], grid


def _with_hope(kept: Sequence[OwnFamilies]) -> list[OwnFamilies]:
    """Those that leave any network, with the best families for all other variables, in reach of one that is allowed."""
    best = [values.max() for _, values in kept]
    some = _some_network(kept)
    least = some - HOPELESS_NATS - math.fsum(best)
    return [
        (masks[values - most >= least], values[values - most >= least])
        for (masks, values), most in zip(kept, best, strict=True)
    ]


def _some_network(kept: Sequence[OwnFamilies]) -> float:
    """The score of a network of these families, variables placed by how little they lose; minus infinity: none."""
    placed, losses = 0, [math.inf] * len(kept)
    while placed.bit_count() < len(kept):
        for x, (masks, values) in enumerate(kept):
            if not placed >> x & 1:
                losses[x] = values.max() - values[is_empty(masks & ~as_set(placed, masks))].max(initial=-math.inf)
        waiting = [x for x in range(len(kept)) if not placed >> x & 1]
        chosen = min(waiting, key=lambda x: losses[x])
        if losses[chosen] == math.inf:
            return -math.inf
        placed |= 1 << chosen
    return math.fsum(values.max() - loss for (_, values), loss in zip(kept, losses, strict=True))


def _can_be_limited(store: SetStore, task: ScoringTask, *, is_whole: bool) -> bool:
    """Whether edges that must or cannot be and numbers of parents say all there is to say, nothing left out for its
    penalty is needed, and many families are left: then no family is stored by itself."""
    if any(own.among is not None or own.rules for own in task.rules):
        return False
    return not are_few(task.rules) and (is_whole or all(_can_do_without(store, task, x) for x in range(task.n)))


def are_few(rules: Sequence[FamilyRules]) -> bool:
    """Whether rules leave so few families of many variables that all scores of a table become lists."""
    if len(rules) <= sizes().small or all(own.is_free for own in rules):
        return False
    return sum(_limits(own, x).n_sets for x, own in enumerate(rules)) <= FEW_FAMILIES


def can_list_all(rules: Sequence[FamilyRules], max_parents: int | None) -> bool:
    """Whether so few families are allowed that all of them can stand in lists."""
    most = len(rules) if max_parents is None else max_parents
    limits = [_limits(own, x) for x, own in enumerate(rules)]
    return sum(own._replace(most=min(own.most, most)).n_sets for own in limits) <= FEW_FAMILIES


def _limits(own: FamilyRules, x: int) -> ParentLimits:
    return ParentLimits(own.must, own.may & ~(1 << x), own.least, own.most)


def _dense(store: DenseStore, kept: Sequence[OwnFamilies], run: Run) -> FamilyStore:
    n = store.n
    run.require_memory(
        family_bytes(n) + store.n_bytes,
        f"Scores of single families of {n} variables, as constraints need them,",
        "Use fewer variables.",
    )
    return FamilyStore.of(n, kept)


def score_allowed(task: ScoringTask, run: Run) -> PrunedScores | None:
    """As ``score_pruned``, of the allowed families only, less what parameter constraints cost them; None when the time
    limit came first.

    Where every subset of allowed parents is allowed, but for those that must be, what the core keeps is right if it
    knows of the latter. Elsewhere a walk of its own goes over the parents that may be added to those that must be.
    """
    if task.table.continuous and not all(own.is_closed_under_removal for own in task.rules):
        raise ConstraintError(
            f"With {task.kind!r} and {task.n} variables, constraints that ask for parents are not understood; up to "
            f"{most_held()} variables without {option('max_parents')} they are. Forbid edges, or leave out columns."
        )
    must = [own.must if x not in task.losses and _core_can_begin(task, x) else 0 for x, own in enumerate(task.rules)]
    whole = score_worth_keeping(task, run, must)
    if whole is None:
        return None
    kept: list[OwnFamilies] = []
    for x, own in enumerate(task.rules):
        begun = must[x] if whole.by_layers else 0
        if own.is_closed_above_must and own.must == begun and x not in task.losses:
            masks, values = whole.store.families_of(x)
            allowed = admitted(own, masks)
            kept.append((masks[allowed], values[allowed]))
            continue
        found = SetScoreWalk(task, x, run).families()
        if found is None:
            return None
        require_some(found[0].size > 0, own, x, task.max_parents)
        kept.append(found)
    return _joined(whole, kept, task.keep, run)


def _core_can_begin(task: ScoringTask, x: int) -> bool:
    """Whether families may be compared with the one of just the parents that must be, by the core."""
    own = task.rules[x]
    if not own.is_closed_above_must or own.must.bit_count() > task.most_parents:
        return False
    return own.must == 0 or may_be_in_layers(task, x, own.must)


def _joined(whole: PrunedScores, kept: Sequence[OwnFamilies], keep: Pruning, run: Run) -> PrunedScores:
    store, grid = listed_on_one_grid(whole.store.lists.names, kept, whole.grid, keep, run)
    return replace(whole, store=store, grid=grid)


def listed_on_one_grid(
    names: tuple[str, ...], kept: Sequence[OwnFamilies], grid: int, keep: Pruning, run: Run
) -> tuple[ListStore, int]:
    """The grid is the one given, or a coarser one where parents that must be score far below."""
    are_near = keep.k is None and keep.epsilon <= HOPELESS_NATS  # the networks that are asked for
    kept, grid = _on_one_grid(names, kept, grid, run, are_near=are_near)
    return ListStore.of(names, kept), grid


def admitted(own: FamilyRules, masks: Masks) -> Marks:
    """Part by part, so that what is made on the way stays small."""
    parts = [own.admit(masks[begin : begin + PART]) for begin in range(0, len(masks), PART)]
    return np.concatenate(parts) if parts else np.zeros(0, bool)


def _can_do_without(store: DenseStore, task: ScoringTask, x: int) -> bool:
    """Whether families left out for their penalty are hopeless still: they score 1,000 nats less than x without parents
    less all that data could explain of x, so also less than the smallest allowed families if these are near enough."""
    own = task.rules[x]
    if own.admits(0):
        return True
    if own.rules or own.among is not None:
        return False
    smallest = max(own.least, own.must.bit_count())
    others = [v for v in range(store.n) if own.may >> v & 1 and not own.must >> v & 1]
    n_rows = task.table.rows_telling_of(task.columns[x]).n_rows
    near = store.value(x, 0) - n_rows * math.log(max(2, task.arities[x]))
    more = combinations(others, smallest - own.must.bit_count())
    return all(store.value(x, own.must | sum(1 << v for v in chosen)) >= near for chosen in more)


def require_enough_parents(rules: Sequence[FamilyRules], max_parents: int | None) -> None:
    """Raises ConstraintError where a variable must have more parents than the limit."""
    most = len(rules) if max_parents is None else max_parents
    for x, own in enumerate(rules):
        require_some(most >= max(own.least, own.must.bit_count()), own, x, max_parents)


def require_some(has_some: bool, own: FamilyRules, x: int, max_parents: int | None) -> None:
    if not has_some:
        is_limited = max_parents is not None and max_parents < len(own.names) - 1
        limit = f" with at most {max_parents} parents each" if is_limited else ""
        raise ConstraintError(f"No parents of {own.names[x]!r} satisfy all that is known about them{limit}.")
