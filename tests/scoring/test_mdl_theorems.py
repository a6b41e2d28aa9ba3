"""Bounds on the number of parents [Chen et al. 2016]: their formulas, and the theorems and algorithms on data."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import reference
from brute_force import networks
from hypothesis import given, settings
from hypothesis import strategies as st
from pruning_checks import (
    KS,
    bic_values,
    kth_best,
    kth_best_class,
    proper_subsets,
    ratio,
    small_tables_with_constants,
    totals_of,
)
from strategies import table_of

import topdag as td
from topdag.scoring import mdl_theorems as mdl_pruning
from topdag.scoring.mdl_theorems import (
    algorithm_1,
    algorithm_2,
    corollary_8,
    cost_bound,
    theorem_2,
    theorem_5,
    theorem_6,
    theorem_7,
)
from topdag.scoring.parent_bounds import best_family_sizes


def test_theorem_2_is_the_corrected_formula() -> None:
    for n_rows in range(2, 20_000):
        assert theorem_2(n_rows) == math.ceil(math.log2(1 + ratio(n_rows))) - 1
        bits = math.log2(20) * ratio(n_rows) / n_rows
        assert theorem_2(n_rows, math.log(20)) == math.floor(math.log2(1 + ratio(n_rows) + bits))


def test_theorem_6_is_the_printed_formula_and_goes_on_for_larger_k() -> None:
    for n_rows in range(2, 5000):
        d = math.floor(math.log2(2 * ratio(n_rows)))
        assert theorem_6(n_rows, 1) == theorem_6(n_rows, 2 ** (d + 1) - 1) == d
        assert theorem_6(n_rows, 2 ** (d + 1)) == d + 1
        assert theorem_6(n_rows, 2 ** (d + 3) - 1) == d + 2


@given(st.integers(2, 3000), st.integers(2, 9), st.lists(st.integers(1, 9), max_size=5))
def test_corollary_8_follows_from_theorem_7(n_rows: int, arity: int, others: list[int]) -> None:
    d = corollary_8(n_rows, arity, others)
    assert theorem_7(n_rows, arity, 2 ** int(d), others)
    assert theorem_7(n_rows, arity, 2 ** int(d), others[1:])
    assert corollary_8(n_rows, arity, ()) - 1 <= theorem_6(n_rows, 1)


def test_corollary_8_needs_alpha_for_the_variable_itself() -> None:
    """As printed, alpha looks at Y only: eight states explain three bits where it reckons with one."""
    n_rows, arity, others = 1000, 8, [2]
    alpha = math.log2(2) / (arity - 1)
    printed = math.ceil(math.log2(2 * alpha * (len(others) + 1) * ratio(n_rows)))
    assert not theorem_7(n_rows, arity, 2**printed, others)
    assert theorem_7(n_rows, arity, 2 ** int(corollary_8(n_rows, arity, others)), others)


def test_one_row_and_one_state_give_no_bound() -> None:
    assert theorem_2(1) == theorem_6(1, 5) == corollary_8(1, 2, [2]) == corollary_8(50, 1, [2]) == math.inf
    assert not theorem_5(1, 2, 2**20)
    assert not theorem_5(50, 1, 2**20)
    assert cost_bound(1, 0.0, 2, [2, 2, 2]) == cost_bound(50, 0.0, 1, [2, 2, 2]) == 3
    assert algorithm_2(1, [2, 2], lambda z, available: 0, 0, 1) == math.inf


@given(small_tables_with_constants)
def test_theorem_5_on_data(table: td.Table) -> None:
    values, arities = bic_values(table), table.arities
    for x, mask in ((x, mask) for x in range(len(values)) for mask in range(2 ** len(values)) if not mask >> x & 1):
        states = math.prod(int(arities[v]) for v in reference.members(mask))
        if theorem_5(table.n_rows, int(arities[x]), states):
            fewer = [m for m in proper_subsets(mask) if math.prod(arities[list(reference.members(m))]) < states]
            assert (values[x, fewer] > values[x, mask]).all()
            n_parents = sum(int(arities[v]) > 1 for v in reference.members(mask))
            assert len(fewer) >= 2**n_parents - 1


@settings(max_examples=60)
@given(small_tables_with_constants, st.data())
def test_theorem_7_on_data(table: td.Table, data: st.DataObject) -> None:
    values, arities, n = bic_values(table), table.arities.tolist(), table.n_variables
    x = data.draw(st.integers(0, n - 1))
    others = data.draw(st.sets(st.sampled_from([v for v in range(n) if v != x])))
    for masks in data.draw(st.lists(st.sampled_from(reference.all_networks(n)), min_size=5, max_size=5)):
        n_states = math.prod(arities[v] for v in reference.members(masks[x]))
        if not theorem_7(table.n_rows, arities[x], n_states, [arities[v] for v in others]):
            continue
        fewer = [m for m in proper_subsets(masks[x]) if math.prod(arities[v] for v in reference.members(m)) < n_states]
        losing = [[*proper_subsets(masks[v]), masks[v]] for v in others]
        best_after = max(values[x, fewer], default=-math.inf)
        worst_after = min(values[x, fewer], default=math.inf) + sum(
            min(values[v, m] for m in sets) for v, sets in zip(others, losing, strict=True)
        )
        assert best_after > values[x, masks[x]]
        assert worst_after > values[x, masks[x]] + sum(values[v, masks[v]] for v in others)


def test_ties_need_the_strict_form() -> None:
    """x equals c; a and b tell nothing. H_max = 4 = c K / 2 for the parents a, b, c, which tie with a and b."""
    table = table_of(np.array([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 0, 1]]), [2, 2, 2, 2])
    values = bic_values(table)
    assert values[3, 0b111] == pytest.approx(values[3, 0b011], abs=1e-11)  # a step of the grid apart
    assert not theorem_5(4, 2, 8)
    assert theorem_5(4, 2, 9)
    assert theorem_6(4, 7) == 3  # three parents are not excluded


def follows(order: list[int]) -> np.ndarray:
    """Which networks have every parent before its child."""
    n = len(order)
    before = {x: sum(1 << v for v in order[:place]) for place, x in enumerate(order)}
    return ((networks(n) & ~np.array([before[x] for x in range(n)], dtype=np.uint64)) == 0).all(axis=1)


def n_counted(arities: list[int]) -> np.ndarray:
    """For every network and variable the number of parents with two states or more."""
    counted = sum(1 << v for v, arity in enumerate(arities) if arity > 1)
    return np.bitwise_count(networks(len(arities)) & counted)


def sizes_for(table: td.Table) -> mdl_pruning.NBestParents:
    return best_family_sizes(td.score(table, td.BIC(), keep="best").store.lists)


@given(small_tables_with_constants, st.sampled_from(KS), st.data())
def test_algorithm_1_loses_none_of_the_k_best_that_follow_the_order(
    table: td.Table, k: int, data: st.DataObject
) -> None:
    order = data.draw(st.permutations(range(table.n_variables)))
    totals = np.where(follows(order), totals_of(bic_values(table)), -math.inf)
    wanted = (totals >= kth_best(totals, k)) & (totals > -math.inf)
    arities, sizes = table.arities.tolist(), sizes_for(table)
    for x in range(table.n_variables):
        limit = algorithm_1(table.n_rows, arities, sizes, order, x, k)
        assert n_counted(arities)[wanted, x].max() <= limit


@given(small_tables_with_constants, st.sampled_from(KS))
def test_algorithm_2_loses_none_of_the_k_best(table: td.Table, k: int) -> None:
    totals, arities, sizes = totals_of(bic_values(table)), table.arities.tolist(), sizes_for(table)
    n = table.n_variables
    wanted = (totals >= kth_best_class(totals, n, k)) & (totals > -math.inf)
    for x in range(n):
        limit = algorithm_2(table.n_rows, arities, sizes, x, k)
        assert n_counted(arities)[wanted, x].max() <= limit
        by_orders = [
            algorithm_1(table.n_rows, arities, sizes, order, x, k) for order in itertools.permutations(range(n))
        ]
        assert limit == max(by_orders)  # orders that end alike are followed together
        assert algorithm_2(table.n_rows, arities, sizes, x, k, most_sets=0) in (limit, math.inf)
