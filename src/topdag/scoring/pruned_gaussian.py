"""The families worth keeping of up to 64 columns with numbers among them, without tables over all sets of variables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from topdag import _core
from topdag._util.options import option
from topdag._util.run import Run
from topdag.errors import ScoreError
from topdag.scoring.kinds.blocks import BlockKind
from topdag.scoring.kinds.discrete import of_columns
from topdag.scoring.kinds.gaussian import GaussianScore, PenalisedGaussian
from topdag.scoring.pruned import PrunedScores, pruned_scores, raise_too_large, require_rule, score_pruned
from topdag.scoring.task import ScoringTask


def score_worth_keeping(task: ScoringTask, run: Run, must: Sequence[int] = ()) -> PrunedScores | None:
    """As ``score_pruned``, of columns of numbers too, where some more may stay and ``must`` is not heeded."""
    kind = of_columns(task.kind, task.table, task.columns)
    if not isinstance(kind, GaussianScore | BlockKind):
        return score_pruned(replace(task, kind=kind), run, must=must)
    require_rule(kind, task.n, task.max_parents)
    begin = run.seconds
    found = _of_gaussian(task, kind, run) if isinstance(kind, GaussianScore) else _of_blocks(task, kind, run)
    run.timed("counting", begin)
    if found is None:
        return None
    if found.memory_needed:
        raise_too_large(found.memory_needed, task.n, run, f"Give {option('max_parents')} or fewer columns.")
    return pruned_scores(found, task, found.n_scored, {"bound": found.n_cut})


def _of_gaussian(task: ScoringTask, kind: GaussianScore, run: Run) -> _core.GaussianFamilies | None:
    table, columns, keep = task.table, task.columns, task.keep
    score = kind.scored_by(table, columns)
    if len(score.parts) > 1:
        raise ScoreError(
            f"BGe with a matrix as precision= is for tables over all sets; {task.n} variables take a number."
        )
    kind.require_independent(table, columns, score, task.most_parents)
    scatter, formula = score.parts[0]
    alone = [formula.constants[1] + formula.factors[1] * scatter.log_determinant([v]) for v in range(task.n)]
    found = _core.score_gaussian_families(
        scatter,
        formula,
        isinstance(kind, PenalisedGaussian),
        task.most_parents,
        keep.epsilon,
        keep.k or 0,
        _slack(task.n, float(np.abs(alone).sum())),
        float(run.allowed_memory),
        run.limits,
    )
    if found is not None and found.degenerate:
        raise kind.degenerate(table, [v for i, v in enumerate(columns) if found.degenerate >> i & 1])
    return found


def _of_blocks(task: ScoringTask, kind: BlockKind, run: Run) -> _core.GaussianFamilies | None:
    table, columns, keep = task.table, task.columns, task.keep
    run.require_memory(
        (run.threads + 2) * kind.walk_bytes(table, columns),
        f"Eliminating the states of {task.n} variables",
        "Leave out columns with many states.",
    )
    scored = kind.scored_by(table, columns)
    states = sum(math.log(max(2, arity)) for arity in task.arities) * table.n_rows
    return _core.score_block_families(
        scored.score,
        scored.states,
        scored.formula,
        task.most_parents,
        keep.epsilon,
        keep.k or 0,
        _slack(task.n, states + abs(scored.score.of(list(range(task.n))))),
        float(run.allowed_memory),
        run.limits,
    )


def _slack(n: int, size: float) -> float:
    """Far more than rounding to the grid can move a local score, where networks score so much in size."""
    return 1e-6 + 1e-11 * n * size
