"""The families worth keeping of up to 64 continuous columns, without tables over all sets of variables."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

import numpy as np

from topdag import _core
from topdag._util.run import Run, shown_bytes
from topdag.data.table import Table
from topdag.errors import ScoreError, TooLarge
from topdag.scoring.kinds.discrete import ScoreKind
from topdag.scoring.kinds.gaussian import GaussianScore, PenalisedGaussian
from topdag.scoring.pruned import MOST_VARIABLES, PrunedScores, Pruning, require_rule, score_pruned
from topdag.scoring.rounding import require_exact_sums
from topdag.search.family_lists import FamilyLists
from topdag.search.stores import ListStore

ADVICE = "Give max_parents, such as max_parents=3, or fewer columns."


def score_worth_keeping(
    table: Table,
    columns: tuple[int, ...],
    kind: ScoreKind,
    max_parents: int | None,
    keep: Pruning,
    run: Run,
    must: Sequence[int] = (),
) -> PrunedScores | None:
    """The families of these columns that ``keep`` asks for, or some more; None when the time limit came first.
    ``must``: as for ``score_pruned``; not heeded for continuous ones."""
    if not isinstance(kind, GaussianScore):
        return score_pruned(table, columns, kind, max_parents, keep, run, must=must)
    n = len(columns)
    if n > MOST_VARIABLES:
        raise TooLarge(f"{n} variables: at most {MOST_VARIABLES}. Leave out {n - MOST_VARIABLES} columns.")
    require_rule(kind, n, max_parents)
    score = kind.scored_by(table, columns)
    if len(score.parts) > 1:
        raise ScoreError(f"BGe with a matrix as precision= is for tables over all sets; {n} variables take a number.")
    most_parents = n if max_parents is None else max_parents
    kind.require_independent(table, columns, score, most_parents)
    begin = run.seconds
    scatter, formula = score.parts[0]
    found = _core.score_gaussian_families(
        scatter,
        formula,
        kind.penalty(table.n_rows) if isinstance(kind, PenalisedGaussian) else 0.0,
        most_parents,
        keep.epsilon,
        keep.k or 0,
        _slack(formula, scatter, n),
        float(run.allowed_memory),
        run.limits,
    )
    run.timed("counting", begin)
    if found is None:
        return None
    if found.degenerate:
        raise kind.degenerate(table, [v for i, v in enumerate(columns) if found.degenerate >> i & 1])
    if found.memory_needed:
        _raise_too_large(found.memory_needed, n, run)
    return _listed(found, tuple(table.names[v] for v in columns), only_best=keep == Pruning())


def _slack(formula: _core.MinorFormula, scatter: _core.Scatter, n: int) -> float:
    """Far more than rounding to the grid can move a local score."""
    alone = [formula.constants[1] + formula.factors[1] * scatter.log_determinant([v]) for v in range(n)]
    return 1e-6 + 1e-11 * n * float(np.abs(alone).sum())


def _raise_too_large(needed: float, n: int, run: Run) -> None:
    run.require_memory(needed, f"Scoring the parent sets of {n} variables", ADVICE)
    raise TooLarge(f"Scoring the parent sets of {n} variables needs {shown_bytes(needed)} or more. {ADVICE}")


def _listed(found: _core.GaussianFamilies, names: tuple[str, ...], *, only_best: bool) -> PrunedScores:
    lists = FamilyLists(names, found.offsets, found.parents, found.scores)
    store = ListStore(len(names), lists, lists.scores)
    require_exact_sums(store, found.grid, only_best=only_best)
    cut = MappingProxyType({"bound": found.n_cut})
    return PrunedScores(store, found.grid, found.limit, found.n_scored, found.n_scored, cut, lists.n_families)
