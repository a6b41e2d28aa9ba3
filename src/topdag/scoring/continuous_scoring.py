"""From a table with continuous columns to the local scores of all families: plans memory, asks the core."""

from __future__ import annotations

import numpy as np

from topdag import _core
from topdag._util.run import Run, shown_bytes
from topdag.data.table import Table
from topdag.errors import ScoreError
from topdag.scoring.kinds.base import coded
from topdag.scoring.kinds.gaussian import GaussianScore, MixedBIC
from topdag.scoring.kinds.scatter import degenerate_in_words, dependent_columns, numbers_of, scatter_of
from topdag.search.engines import family_bytes, set_bytes
from topdag.search.stores import Floats, MixedStore, SetStore


def fill_minors(
    table: Table, columns: tuple[int, ...], kind: GaussianScore, max_parents: int, run: Run
) -> SetStore | None:
    """Scores of all sets, in full precision; None when the time limit came first."""
    n = len(columns)
    score = kind.scored_by(table, columns)
    kind.require_independent(table, columns, score, max_parents)
    _require_memory(len(score.parts) * set_bytes(n), n, run)
    joint: Floats | None = None
    for scatter, formula in score.parts:
        part, degenerate = _core.score_minors(scatter, formula, min(n, max_parents + 1), run.limits)
        if part is None:
            return None
        if degenerate:
            raise kind.degenerate(table, [v for i, v in enumerate(columns) if degenerate >> i & 1])
        joint = part if joint is None else np.add(joint, part, out=joint)
    assert joint is not None
    return SetStore(n, joint, (None,) * n)


def fill_mixed(table: Table, columns: tuple[int, ...], kind: MixedBIC, max_parents: int, run: Run) -> MixedStore | None:
    """Scores of all families, in full precision; None when the time limit came first."""
    n = len(columns)
    discrete = [v for v in columns if table.states[v]]
    continuous = [v for v in columns if not table.states[v]]
    _require_memory(
        family_bytes(n) + set_bytes(len(discrete)) + 3 * (run.threads + 1) * set_bytes(len(continuous)), n, run
    )
    _require_covariance(table, continuous, kind, max_parents)
    families, degenerate, hopeless = _core.score_mixed_families(
        coded(table, discrete),
        numbers_of(table, continuous),
        [columns.index(v) for v in continuous],
        kind.penalty(table.n_rows),
        max_parents,
        run.limits,
    )
    return None if families is None else MixedStore(n, families, degenerate, hopeless)


def note_on_degenerate(store: MixedStore) -> str:
    """A sentence on the families that have no score."""
    return (
        f"{store.degenerate:,} families of continuous variables are not allowed: in some state of the discrete parents "
        "there are too few rows for a regression, or nothing varies."
    )


def _require_covariance(table: Table, continuous: list[int], kind: MixedBIC, max_parents: int) -> None:
    """Columns that depend on each other in all rows are an error; where in some, families are left out."""
    scatter = scatter_of(table, continuous)
    found = dependent_columns(continuous, max_parents + 1, scatter, lambda order: scatter_of(table, order))
    if found:
        raise ScoreError(f"{kind!r}: {degenerate_in_words(table, found)}")


def _require_memory(needed: float, n: int, run: Run) -> None:
    run.require_memory(
        needed,
        f"Scoring all sets of {n} variables",
        f"Each variable left out halves it: {shown_bytes(needed / 2)}.",
    )
