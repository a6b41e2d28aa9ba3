"""What tests of pruning share: all networks of up to five variables against the families that are kept."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import numpy as np
from brute_force import class_numbers, networks, values_of
from hypothesis import strategies as st
from strategies import tables

import topdag as td
from topdag import _core
from topdag._util.run import Run
from topdag.answers.lists import grid_epsilon
from topdag.scoring import dominance as pruning
from topdag.scoring import parent_bounds as parent_limits
from topdag.scoring.keep import KBest
from topdag.scoring.kinds.discrete import ScoreKind, SetScore, coded
from topdag.scoring.parent_bounds import ParentBound
from topdag.scoring.pruned import ALL_RULES, PrunedScores, pruning_question, score_pruned
from topdag.scoring.task import Pruning, ScoringTask
from topdag.search.family_lists import FamilyLists
from topdag.search.stores import OwnFamilies, SetStore

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


FEW_ROWS = (1, 2, 3, 4, 5, 6, 8, 12, 20)


KS = (1, 2, 3, 5, 7, 8, 15, 16, 30, 100, 1000)


FACTORS = (1.0, 1.5, 4.0, 20.0, 150.0)


def totals_of(values: np.ndarray) -> np.ndarray:
    """The score of every network."""
    n = len(values)
    return values[np.arange(n), networks(n)].sum(axis=1)


def kth_best(totals: np.ndarray, k: int) -> float:
    """Minus infinity when there are not so many."""
    allowed = np.sort(totals[totals > -math.inf])[::-1]
    return float(allowed[k - 1]) if len(allowed) >= k else -math.inf


def kth_best_class(totals: np.ndarray, n: int, k: int) -> float:
    best = np.full(class_numbers(n).max() + 1, -math.inf)
    np.maximum.at(best, class_numbers(n), totals)
    return kth_best(best, k)


def is_kept(families: list[OwnFamilies]) -> np.ndarray:
    """By variable and parent mask."""
    n = len(families)
    kept = np.zeros((n, 2**n), dtype=bool)
    for x, (masks, _) in enumerate(families):
        kept[x, masks.astype(np.int64)] = True
    return kept


def has_only(kept: np.ndarray) -> np.ndarray:
    """For every network, whether all its families are kept."""
    n = len(kept)
    return kept[np.arange(n), networks(n)].all(axis=1)


def occurring(wanted: np.ndarray, n: int) -> np.ndarray:
    """By variable and parent mask: whether the family occurs in one of the wanted networks."""
    found = np.zeros((n, 2**n), dtype=bool)
    for x in range(n):
        found[x, networks(n)[wanted, x]] = True
    return found


def proper_subsets(mask: int) -> list[int]:
    return [inner for inner in range(mask) if not inner & ~mask]


small_tables = tables(variables=(3, 5), most_states=3, rows=FEW_ROWS, weights=((1,), (1, 1, 2)))


small_tables_with_constants = tables(
    variables=(3, 5), most_states=3, rows=FEW_ROWS, weights=((1,), (1, 1, 2)), keep_constant=True
)


def ratio(n_rows: int) -> float:
    return n_rows / (math.log2(n_rows) / 2)


def bic_values(table: td.Table) -> np.ndarray:
    return values_of(td.score(table, td.BIC()))


def assert_enough(table: td.Table, keep: object) -> Counter[str]:
    """No network of the asked list has more parents than the bounds; for "best", some best network has not."""
    bounds = parent_limits.parent_bounds(table, td.BIC(), keep)
    assert list(bounds) == list(table.names)
    scores = td.score(table, td.BIC())
    n = len(scores.columns)
    assert all(bounds[name].limit <= max(0, n - 1) for name in table.names)
    assert all(
        bounds[name] == ParentBound(0, "constant") for v, name in enumerate(table.names) if v not in scores.columns
    )
    if n == 0:
        return Counter()
    limits = np.array([bounds[scores.names[v]].limit for v in scores.columns])
    totals = totals_of(values_of(scores))
    fits = (np.bitwise_count(networks(n)) <= limits).all(axis=1)
    if keep == "best":
        assert totals[fits].max() >= totals.max() - n * 2.0**-scores.grid
    else:
        if isinstance(keep, KBest):
            threshold = kth_best_class(totals, n, keep.k)
            assert threshold <= kth_best(totals, keep.k)
        else:
            threshold = totals.max() - grid_epsilon(keep.factor, scores.grid)
        assert fits[(totals >= threshold) & (totals > -math.inf)].all()
    return Counter(bounds[scores.names[v]].rule for v in scores.columns)


PENALISED: tuple[SetScore, ...] = (td.BIC(), td.AIC())


DIRICHLET: tuple[SetScore, ...] = (td.BDeu(), td.BDeu(0.01), td.BDeu(10), td.BDeu(777.5))


KINDS: tuple[SetScore, ...] = (*PENALISED, *DIRICHLET, td.K2(), td.fNML(), td.qNML())


EPSILONS = (-1.0, 0.0, 0.5, math.log(20), math.log(1000))


Families = dict[tuple[int, int], float]


def scored_columns(table: td.Table) -> tuple[int, ...]:
    return tuple(v for v in range(table.n_variables) if table.arities[v] > 1)


def pruned(
    table: td.Table,
    kind: ScoreKind,
    keep: Pruning,
    *,
    max_parents: int | None = None,
    rules: int = ALL_RULES,
    threads: int = 2,
    layers: bool | None = None,
) -> PrunedScores:
    run = Run(threads=threads)
    found = score_pruned(
        ScoringTask(table, scored_columns(table), kind, max_parents, keep), run, rules=rules, layers=layers
    )
    assert found is not None
    return found


def families_in(found: PrunedScores) -> Families:
    lists = found.store.lists
    owners = np.repeat(np.arange(found.store.n), np.diff(lists.offsets)).tolist()
    return dict(zip(zip(owners, lists.masks[:, 0].tolist(), strict=True), found.store.rounded.tolist(), strict=True))


def every_set(
    table: td.Table, kind: SetScore, keep: Pruning, max_parents: int | None, rules: int
) -> tuple[int, SetStore]:
    """All sets on the grid that pruned scoring uses."""
    columns = scored_columns(table)
    n, view = len(columns), coded(table, columns)
    question = pruning_question(ScoringTask(table, columns, kind, max_parents, keep), Run(), rules=rules)
    masks = np.arange(2**n, dtype=np.uint64)
    grid, joint = _core.grid_scores(view, question, kind.joint(table.n_rows), masks)
    if max_parents is not None:
        joint = np.where(np.bitwise_count(masks) > max_parents + 1, -math.inf, joint)
    below = []
    for v in columns:
        formula = kind.below(table.n_rows, int(table.arities[v]))
        below.append(None if formula is None else _core.grid_scores(view, question, formula, masks)[1])
    return grid, SetStore(n, joint, tuple(below))


def truth(table: td.Table, kind: SetScore, keep: Pruning, max_parents: int | None, rules: int) -> tuple[int, Families]:
    grid, store = every_set(table, kind, keep, max_parents, rules)
    kept: Families = {}
    for x in range(store.n):
        if keep.k is None:
            masks, scores = _core.families_worth_keeping(store.core(), x, keep.epsilon)
        else:
            masks, scores = pruning.families_by_better_subsets(store, x, keep.k)
        kept |= {(x, mask): value for mask, value in zip(masks.tolist(), scores.tolist(), strict=True)}
    return grid, kept


def tables_that_vary(**options: object) -> st.SearchStrategy[td.Table]:
    drawn = tables(constants=False, **options)  # type: ignore[arg-type]
    return drawn.filter(lambda table: len(scored_columns(table)) > 1)


def same_lists(one: FamilyLists, other: FamilyLists) -> bool:
    """Whether names, families and scores are all equal."""
    arrays = [(one.offsets, other.offsets), (one.masks, other.masks), (one.scores, other.scores)]
    return one.names == other.names and all(np.array_equal(own, its) for own, its in arrays)
