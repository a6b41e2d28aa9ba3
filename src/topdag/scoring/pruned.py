"""From a table to the families worth keeping, without tables over all sets of variables."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from topdag import _core
from topdag._util.arrays import Floats
from topdag._util.bitsets import Sets, bits, set_array
from topdag._util.options import option
from topdag._util.run import Run, available_memory, shown_bytes
from topdag.errors import ScoreError, TooLarge
from topdag.scoring.kinds.blocks import BlockKind
from topdag.scoring.kinds.discrete import AIC, BIC, NAL, BDeu, ScoreKind, SetScore, coded
from topdag.scoring.kinds.gaussian import GaussianScore, PenalisedGaussian
from topdag.scoring.rounding import require_exact_sums
from topdag.scoring.task import MOST_WALKED, Pruning, ScoringTask
from topdag.search.family_lists import FamilyLists
from topdag.search.stores import ListStore

MOST_WITHOUT_A_RULE = 20
"""Up to so many variables all parent sets are scored where no rule can cut any."""

CUTTING_RULES = ("max_parents", "penalty", "entropy", "cells", "atoms")
"""What can cut parent sets with all their supersets, in the core's order
(docs/explanation/order_search_and_pruning.md)."""

ALL_RULES = (1 << len(CUTTING_RULES)) - 1

COUNTED = 0.6
"""The part of what is held that the core counts: its lists keep room to grow."""


@dataclass(frozen=True)
class PrunedScores:
    """The families kept, with how they were found.

    ``limit``: no family kept or left out undecided has more parents; proven when no limit was asked for. ``scored``:
    families scored; ``sets``: sets of variables counted for them; ``cut``: by rule, parent sets cut off together with
    all their supersets, none where all sets of a size were counted. Values in ``store`` are multiples of 2**-grid.
    ``by_layers``: all sets of a size were counted; ``total``: what the grid was made for, where it was coarsened.
    """

    store: ListStore
    grid: int
    limit: int
    scored: int
    sets: int
    cut: Mapping[str, int]
    by_layers: bool = False
    total: float = 0.0

    @property
    def kept(self) -> int:
        """How many families ``store`` has."""
        return self.store.n_families


def score_pruned(
    task: ScoringTask, run: Run, *, rules: int = ALL_RULES, layers: bool | None = None, must: Sequence[int] = ()
) -> PrunedScores | None:
    """The families that are worth keeping, whatever the task's rules and losses; None when the time limit came first.

    ``rules``: those that may cut. ``layers``: whether all sets of a size are counted; None: where hardly any can be
    left out, or sets are too wide.
    ``must``: by variable parents that it always has, as masks; heeded where all sets of a size are counted, as
    ``PrunedScores.by_layers`` says, if ``may_be_in_layers``.
    """
    n, keep = task.n, task.keep
    if n > MOST_WALKED and keep.k is not None:
        raise TooLarge(f"{n} variables: families for the k best networks are found among up to {MOST_WALKED}.")
    require_rule(task.kind, n, task.max_parents)
    begin = run.seconds
    view, question = view_of(task), pruning_question(task, run, rules=rules)

    def in_layers() -> _core.PrunedFamilies | None:
        assert isinstance(view, _core.CodedTable)
        return _core.score_layers(view, question, set_array(must, n), run.limits)

    def walked(*, stop_when_dense: bool) -> _core.PrunedFamilies | None:
        if isinstance(view, _core.RowsElsewhere):
            return _core.score_pruned(view, question, run.limits)
        return _core.score_pruned(view, question, stop_when_dense, run.limits)

    by_layers = layers or n > MOST_WALKED
    found = None if by_layers or task.drawn is None else task.drawn(task, question, run)
    if by_layers:
        found = in_layers()
    elif found is None:
        # Layers are counted here, all at once: where others count, sets are walked as long as memory allows.
        found = walked(stop_when_dense=layers is None and keep.k is None and task.elsewhere is None)
        if found is not None and found.is_dense:
            found, by_layers = in_layers(), True
            if found is not None and found.memory_needed:
                found, by_layers = walked(stop_when_dense=False), False
        if found is None and task.elsewhere is not None:
            task.elsewhere.raise_error()
    run.timed("counting", begin)
    run.tick("listing", 0, 0)
    if found is None:
        return None
    if found.memory_needed:
        or_nearer = "" if task.keep == Pruning() else ", or ask for networks nearer the best"
        advice = f"Give {option('max_parents')} or fewer columns{or_nearer}."
        raise_too_large(found.memory_needed / COUNTED, n, run, advice)
    cut = dict(zip(CUTTING_RULES, found.n_cut, strict=True))
    return pruned_scores(found, task, found.n_sets, cut, by_layers=by_layers)


def view_of(task: ScoringTask) -> _core.CodedTable | _core.RowsElsewhere:
    """What the core has to know of a table: its rows, unless these are read chunk by chunk."""
    if task.table.chunks is None:
        return coded(task.table, task.columns)
    return _core.RowsElsewhere(task.arities, task.table.n_rows)


def may_be_in_layers(task: ScoringTask, x: int, must: int) -> bool:
    """Whether the penalty of x with these parents is no larger than what the numbers of a layer can hold."""
    cells, n_rows = math.prod(task.arities[v] for v in bits(must | 1 << x)), task.table.n_rows
    return task.kind.least_penalty(n_rows, 2) * cells <= n_rows * math.log(n_rows + 2)


def pruning_question(task: ScoringTask, run: Run, *, rules: int = ALL_RULES) -> _core.PruningQuestion:
    """What the core is asked."""
    kind, n_rows, arities = task.kind, task.table.n_rows, task.arities
    if not isinstance(kind, SetScore):
        raise ScoreError(
            f"{kind!r} is no difference of functions of sets, so it cannot be scored with pruning; "
            "leave out columns until tables over all sets fit, or use BDeu, BIC, AIC, qNML, K2 or fNML."
        )
    formulas = {arity: kind.below(n_rows, arity) for arity in sorted(set(arities))}
    below = [formula for formula in formulas.values() if formula is not None]
    places = {arity: place for place, arity in enumerate(formulas)}
    return _core.PruningQuestion(
        kind.joint(n_rows),
        below,
        [places[arity] for arity in arities] if below else [],
        min(task.n, task.most_parents),
        task.keep.epsilon,
        task.keep.k or 0,
        rules,
        COUNTED * float(min(available_memory() if run.memory_limit is None else run.memory_limit, sys.maxsize)),
        task.total,
        task.elsewhere,
        0.0 if task.elsewhere is None else task.elsewhere.least_work,
    )


def grid_scores(
    view: _core.CodedTable | _core.RowsElsewhere, question: _core.PruningQuestion, formula: _core.SetFormula, sets: Sets
) -> tuple[int, Floats]:
    """The grid's exponent, and the scores of sets on the grid of this question."""
    return _core.grid_scores(view, question, formula, np.ascontiguousarray(sets))


def require_rule(kind: ScoreKind, n: int, max_parents: int | None) -> None:
    """Raises ScoreError where every parent set would have to be scored."""
    is_narrow = n <= MOST_WALKED
    has_rule = isinstance(kind.unconstrained, BIC | AIC | PenalisedGaussian | BlockKind) or (
        is_narrow and isinstance(kind, BDeu)
    )
    has_rule = has_rule or (isinstance(kind, NAL) and kind.penalty != 0)
    if max_parents is None and n > MOST_WITHOUT_A_RULE and not has_rule:
        discrete = "BIC, AIC or BDeu" if is_narrow else "BIC or AIC"
        raise ScoreError(
            f"With {kind!r} nothing proves that parent sets of {n} variables can be left out. Give "
            f"{option('max_parents')}, or use {'GaussianBIC' if isinstance(kind, GaussianScore) else discrete}."
        )


def raise_too_large(needed: float, n: int, run: Run, advice: str) -> None:
    run.require_memory(needed, f"Scoring the parent sets of {n} variables", advice)
    raise TooLarge(f"Scoring the parent sets of {n} variables needs {shown_bytes(needed)} or more. {advice}")


def pruned_scores(
    found: _core.KeptLists, task: ScoringTask, sets: int, cut: dict[str, int], *, by_layers: bool = False
) -> PrunedScores:
    store = ListStore.of_lists(FamilyLists(task.names, found.offsets, found.parents, found.scores))
    require_exact_sums(store, found.grid, only_best=task.keep == Pruning())
    counts = found.limit, found.n_scored, sets, MappingProxyType(cut)
    return PrunedScores(store, found.grid, *counts, by_layers, task.total)
