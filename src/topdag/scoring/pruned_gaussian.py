"""The families worth keeping of up to 64 continuous columns, without tables over all sets of variables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from topdag import _core
from topdag._util.options import option
from topdag._util.run import Run
from topdag.errors import ScoreError
from topdag.scoring.kinds.gaussian import GaussianScore, PenalisedGaussian
from topdag.scoring.pruned import PrunedScores, pruned_scores, raise_too_large, require_rule, score_pruned
from topdag.scoring.task import ScoringTask


def score_worth_keeping(task: ScoringTask, run: Run, must: Sequence[int] = ()) -> PrunedScores | None:
    """As ``score_pruned``, of continuous columns too, where some more may stay and ``must`` is not heeded."""
    kind, table, columns, keep = task.kind, task.table, task.columns, task.keep
    if not isinstance(kind, GaussianScore):
        return score_pruned(task, run, must=must)
    n = task.n
    require_rule(kind, n, task.max_parents)
    score = kind.scored_by(table, columns)
    if len(score.parts) > 1:
        raise ScoreError(f"BGe with a matrix as precision= is for tables over all sets; {n} variables take a number.")
    kind.require_independent(table, columns, score, task.most_parents)
    begin = run.seconds
    scatter, formula = score.parts[0]
    found = _core.score_gaussian_families(
        scatter,
        formula,
        isinstance(kind, PenalisedGaussian),
        task.most_parents,
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
        raise_too_large(found.memory_needed, n, run, f"Give {option('max_parents')} or fewer columns.")
    return pruned_scores(found, task, found.n_scored, {"bound": found.n_cut})


def _slack(formula: _core.MinorFormula, scatter: _core.Scatter, n: int) -> float:
    """Far more than rounding to the grid can move a local score."""
    alone = [formula.constants[1] + formula.factors[1] * scatter.log_determinant([v]) for v in range(n)]
    return 1e-6 + 1e-11 * n * float(np.abs(alone).sum())
