"""From a table to the local scores of all families: picks the form a score allows, plans memory, asks the core."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from topdag import _core
from topdag._util.arrays import Floats
from topdag._util.messages import plural
from topdag._util.options import option
from topdag._util.run import Run, shown_bytes
from topdag.data.groups import numbers_of
from topdag.data.table import Table
from topdag.errors import ScoreError, TooLarge
from topdag.scoring.kinds.base import MatrixScore
from topdag.scoring.kinds.blocks import BlockKind
from topdag.scoring.kinds.discrete import BIC, NAL, BDe, BDs, CustomScore, ScoreKind, SetScore, coded, of_columns
from topdag.scoring.kinds.gaussian import GaussianPart, GaussianScore, MixedBIC
from topdag.scoring.kinds.interventions import WhereNotSet, without_interventions
from topdag.scoring.kinds.scatter import degenerate_in_words, dependent_columns, scatter_of
from topdag.scoring.rounding import HOPELESS_NATS
from topdag.search.engines import family_bytes, set_bytes
from topdag.search.stores import DenseStore, FamilyStore, MixedStore, SetStore, slots_of

# Summing counts and probabilities out of the full table, for BDe, costs the product of (arity + 1) steps.
MOST_BDE_STEPS = 2.0**36


def fill_store(
    table: Table, columns: tuple[int, ...], kind: ScoreKind, max_parents: int, run: Run
) -> DenseStore | None:
    """Scores on the grid for these columns of the table; None when the time limit came first."""
    kind.require_columns(table)
    begin = run.seconds
    fill = _fill_where_not_set if isinstance(kind, WhereNotSet) else _fill
    store = fill(table, columns, without_interventions(kind) or kind, max_parents, run)
    if store is not None:
        _require_finite(store, table, columns, run.threads)
    run.timed("counting", begin)
    return store


def _fill(table: Table, columns: tuple[int, ...], kind: ScoreKind, max_parents: int, run: Run) -> DenseStore | None:
    kind = within_columns(kind, table, columns) if isinstance(kind, MixedBIC) else of_columns(kind, table, columns)
    for own, fill in _FILLS.items():
        if isinstance(kind, own):
            return fill(table, columns, kind, max_parents, run)
    raise ScoreError(f"kind must be a score such as BDeu() or BIC(), not {kind!r}.")


def within_columns(kind: MixedBIC, table: Table, columns: tuple[int, ...]) -> ScoreKind:
    """The same score by its plainer name, where all these columns are of one sort."""
    n_continuous = sum(not table.states[v] for v in columns)
    if n_continuous == len(columns):
        return GaussianPart()
    return kind if n_continuous else BIC()


def bytes_to_count(
    table: Table, columns: Sequence[int], kind: SetScore, max_parents: int, threads: int
) -> tuple[int, float]:
    """What scores of all sets take, and what counting takes beside them, which grows with the distinct rows."""
    arities = {int(table.arities[v]) for v in columns}
    n_arrays = 1 + sum(kind.below(table.n_rows, arity) is not None for arity in arities)
    n = len(columns)
    view, formula = coded(table, columns), kind.joint(table.n_rows)
    return n_arrays * set_bytes(n), _core.scoring_bytes(view, formula, min(n, max_parents + 1), threads)


def _fill_sets(table: Table, columns: tuple[int, ...], kind: SetScore, max_parents: int, run: Run) -> SetStore | None:
    view = coded(table, columns)
    arities = [int(table.arities[v]) for v in columns]
    joint_formula = kind.joint(table.n_rows)
    formulas = {arity: kind.below(table.n_rows, arity) for arity in sorted(set(arities))}
    held, working = bytes_to_count(table, columns, kind, max_parents, run.threads)
    _require_memory(held + working, len(columns), kind, run, None if held > working else table.n_distinct)

    def fill(formula: _core.SetFormula, size: int) -> Floats | None:
        return _core.score_all_sets(view, formula, size, run.limits)

    joint = fill(joint_formula, max_parents + 1)
    below: dict[int, Floats | None] = {}
    for arity, formula in formulas.items():
        if joint is None:
            return None
        below[arity] = None if formula is None else fill(formula, max_parents)
        if formula is not None and below[arity] is None:
            return None
    return None if joint is None else SetStore(len(columns), joint, tuple(below[arity] for arity in arities))


def _fill_bde(table: Table, columns: tuple[int, ...], kind: BDe, max_parents: int, run: Run) -> SetStore | None:
    view = coded(table, columns)
    prior = kind.joint_prior(table)
    others = tuple(v for v in range(table.n_variables) if v not in columns)
    prior = np.ascontiguousarray(prior.sum(axis=others))
    steps = math.prod(float(table.arities[v]) + 1 for v in columns)
    if steps > MOST_BDE_STEPS:
        raise TooLarge(
            f"BDe sums out the full table of {prior.size} cells, {steps:.1e} steps; at most {MOST_BDE_STEPS:.1e}."
        )
    _require_memory(set_bytes(len(columns)) + 24.0 * prior.size * run.threads, len(columns), kind, run)
    joint = _core.score_all_sets_bde(view, kind.ess, prior.ravel(), max_parents + 1, run.limits)
    return None if joint is None else SetStore(len(columns), joint, (None,) * len(columns))


def _fill_bds(table: Table, columns: tuple[int, ...], kind: BDs, max_parents: int, run: Run) -> FamilyStore | None:
    n = len(columns)
    _require_memory(family_bytes(n) + 2 * set_bytes(n), n, kind, run)
    families = _core.score_families_bds(coded(table, columns), kind.ess, max_parents, run.limits)
    return None if families is None else FamilyStore(n, families)


def _fill_node_averages(
    table: Table, columns: tuple[int, ...], kind: NAL, max_parents: int, run: Run
) -> MixedStore | None:
    """All families but those whose penalty leaves them hopeless, since no average exceeds 0."""
    from topdag.scoring.node_averages import NodeAverages  # small questions open only what they need

    n = len(columns)
    _require_memory(family_bytes(n) + 4 * set_bytes(n), n, kind, run)
    n_each = sum(math.comb(n - 1, size) for size in range(min(n - 1, max_parents) + 1))
    families, hopeless = np.full(n << n - 1, -math.inf), 0
    averages = NodeAverages(table, columns, kind)
    for x in range(n):
        alone = averages.scores(x, np.zeros(1, np.uint64), run)
        if alone is None:
            return None
        least = alone[0] - table.n_rows * math.log(averages.arities[x]) - HOPELESS_NATS  # as by all other penalties
        sets = averages.sets_up_to(x, max_parents, averages.most_cells(x, least))
        scores = averages.scores(x, sets, run)
        if scores is None:
            return None
        families[(x << n - 1) + slots_of(sets, x)] = scores
        hopeless += n_each - len(sets)
    return MixedStore(n, families, 0, hopeless)


def _fill_custom(
    table: Table, columns: tuple[int, ...], kind: CustomScore, max_parents: int, run: Run
) -> FamilyStore | None:
    n = len(columns)
    _require_memory(family_bytes(n), n, kind, run)
    families = np.full(n << n - 1, -math.inf)
    total = n * sum(math.comb(n - 1, size) for size in range(min(n - 1, max_parents) + 1))
    for done, (x, parents) in enumerate(_all_families(n, max_parents)):
        if run.is_over:
            return None
        if done % 256 == 0:
            run.tick("counting", done, total)
        low = (1 << x) - 1
        mask = sum(1 << v for v in parents)
        slot = mask & low | mask >> 1 & ~low
        families[(x << n - 1) + slot] = kind.local(table, columns[x], [columns[v] for v in parents])
    return FamilyStore(n, families)


def _fill_minors(
    table: Table, columns: tuple[int, ...], kind: GaussianScore, max_parents: int, run: Run
) -> SetStore | None:
    """Scores of all sets, in full precision; None when the time limit came first."""
    n = len(columns)
    score = kind.scored_by(table, columns)
    kind.require_independent(table, columns, score, max_parents)
    _require_memory(len(score.parts) * set_bytes(n), n, kind, run)
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


def _fill_blocks(
    table: Table, columns: tuple[int, ...], kind: BlockKind, max_parents: int, run: Run
) -> SetStore | None:
    """Scores of all sets, in full precision; None when the time limit came first."""
    n, most = len(columns), min(len(columns), max_parents + 1)
    _require_memory(bytes_of_blocks(table, columns, kind, run.threads), n, kind, run)
    scored = kind.scored_by(table, columns)
    added = np.zeros(0)
    if scored.states is not None and scored.formula is not None:
        by_states = _core.score_all_sets(
            scored.states, scored.formula, min(scored.states.n_variables, most), run.limits
        )
        if by_states is None:
            return None
        added = _finite(by_states, table, columns, kind)
    joint = _core.score_block_sets(scored.score, added, most, run.limits)
    return None if joint is None else SetStore(n, joint, (None,) * n)


def bytes_of_blocks(table: Table, columns: Sequence[int], kind: BlockKind, threads: int) -> float:
    """What scores of all sets take, with what is summed for sets of numbers and of categories, while they are made."""
    n, n_numbers = len(columns), sum(map(table.is_number, columns))
    parts = kind.has_squares * set_bytes(n_numbers) + 2 * kind.counts_states * set_bytes(n - n_numbers)
    return set_bytes(n) + parts + (threads + 2) * kind.walk_bytes(table, columns)


def _finite(by_states: Floats, table: Table, columns: Sequence[int], kind: BlockKind) -> Floats:
    """The scores of sets of categories, with numbers for those that have none, for their penalty is hopeless: numbers
    may have them as parents all the same.

    Each category more costs so much that any family of a category in such a set, with numbers among its parents or not,
    is further than ``HOPELESS_NATS`` below the category without parents: these score at least -N ln r less their
    penalty, and numbers explain no more than all columns together.
    """
    hopeless = np.isneginf(by_states)
    if not hopeless.any():
        return by_states
    n_rows, most_states = table.n_rows, max(int(table.arities[v]) for v in columns)
    alone = n_rows * math.log(most_states) + BIC().least_penalty(n_rows, most_states)
    each = HOPELESS_NATS + alone + max(kind.explained(table))
    sizes = np.bitwise_count(np.arange(len(by_states), dtype=np.uint64))
    least = float(by_states[~hopeless].min())
    return np.where(hopeless, least - each * sizes, by_states)


def _fill_mixed(
    table: Table, columns: tuple[int, ...], kind: MixedBIC, max_parents: int, run: Run
) -> MixedStore | None:
    """Scores of all families, in full precision; None when the time limit came first."""
    n = len(columns)
    discrete = [v for v in columns if table.states[v]]
    continuous = [v for v in columns if not table.states[v]]
    _require_memory(
        family_bytes(n) + set_bytes(len(discrete)) + 3 * (run.threads + 1) * set_bytes(len(continuous)), n, kind, run
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


def _fill_where_not_set(
    table: Table, columns: tuple[int, ...], kind: ScoreKind, max_parents: int, run: Run
) -> MixedStore | None:
    """Variables that were set in the same rows, or in none, share a table of scores; each keeps its own families."""
    n = len(columns)
    _require_memory(family_bytes(n) + 2 * set_bytes(n), n, WhereNotSet(kind), run)
    families, degenerate, hopeless = np.full(n << n - 1, -math.inf), 0, 0
    alike: dict[tuple[int, ...], list[int]] = {}
    for x, v in enumerate(columns):
        alike.setdefault(tuple(mask >> v & 1 for mask in table.targets), []).append(x)
    for group in alike.values():
        filled = _fill(table.rows_telling_of(columns[group[0]]), columns, kind, max_parents, run)
        if filled is None:
            return None
        for x in group:
            families[x << n - 1 : (x + 1) << n - 1] = np.concatenate(list(filled.pieces_of(x)))
        if isinstance(filled, MixedStore):
            degenerate, hopeless = degenerate + filled.degenerate, hopeless + filled.hopeless
        hopeless += filled.lacks_sets(max_parents)
    return MixedStore(n, families, degenerate, hopeless)


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


_FILLS: dict[type[ScoreKind], Callable[[Table, tuple[int, ...], Any, int, Run], DenseStore | None]] = {
    SetScore: _fill_sets,
    GaussianScore: _fill_minors,
    BlockKind: _fill_blocks,
    MixedBIC: _fill_mixed,
    BDe: _fill_bde,
    BDs: _fill_bds,
    NAL: _fill_node_averages,
    CustomScore: _fill_custom,
}


def _all_families(n: int, max_parents: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    for x in range(n):
        others = [v for v in range(n) if v != x]
        for size in range(min(n - 1, max_parents) + 1):
            yield from ((x, parents) for parents in itertools.combinations(others, size))


def _require_memory(needed: float, n: int, kind: ScoreKind, run: Run, distinct: int | None = None) -> None:
    """``distinct``: rows that take most of it."""
    advice = f"Each variable left out halves it: {shown_bytes(needed / 2)}; or {_otherwise(kind)}."
    if distinct is not None:
        advice = f"Most of it is for {distinct:,} different rows, by each of {plural(run.threads, 'thread')}: " + (
            f"take fewer threads ({option('threads', 1)}), or fewer rows." if run.threads > 1 else "take fewer rows."
        )
    run.require_memory(needed, f"Scoring all sets of {n} variables", advice)


def _otherwise(kind: ScoreKind) -> str:
    if isinstance(kind, WhereNotSet):
        return f"leave out the rows in which variables were set, and {option('interventions')}"
    if isinstance(kind, MixedBIC):
        return f"cut the numbers into states with {option('discretize')} and use BIC"
    if isinstance(kind, SetScore | MatrixScore | NAL):
        return f"limit the parents with {option('max_parents')}"
    return "use BDeu or BIC"


def _require_finite(store: DenseStore, table: Table, columns: tuple[int, ...], threads: int) -> None:
    """No score may be NaN or plus infinity; minus infinity marks what is not allowed."""
    for array in store.arrays:
        at = _core.first_not_finite(array, threads)
        if at < array.size:
            names = [table.names[v] for i, v in enumerate(columns) if at >> i & 1]
            raise ScoreError(f"A score is not finite (at the variables {', '.join(names)}); choose other settings.")
