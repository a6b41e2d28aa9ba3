"""Local scores of every family, stored and in full precision, against the reference and against themselves."""

from __future__ import annotations

import math

import numpy as np
import pytest
import reference
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from strategies import (
    ALL_CASES,
    BDE,
    CASES,
    CUSTOM,
    LARGE_WEIGHTS,
    SMALL_WEIGHTS,
    WAYS,
    Case,
    families,
    large_regret,
    sampled_table,
    table_of,
    tables,
)

import topdag as td
from topdag import _core
from topdag._util.run import Run
from topdag.scoring.all_sets import fill_store
from topdag.scoring.kinds.discrete import SetScore, coded
from topdag.scoring.scores import Scores

GRID_STEPS = 4
NO_SHRINKING = (Phase.explicit, Phase.reuse, Phase.generate)  # large tables shrink too slowly


def noise(table: td.Table) -> float:
    """What doubles lose in sums over all rows, whose terms add up to N ln N and largely cancel."""
    return 1e-9 + 3e-15 * table.n_rows * math.log(table.n_rows + 2)


MIDDLING_WEIGHTS = ((1,), SMALL_WEIGHTS, (1, 17, 4095, 4096, 5000))
"""With many rows, larger ones give scores that no grid holds to 1e-6 nats."""

every_case = pytest.mark.parametrize("case", ALL_CASES, ids=repr)
equivalent_cases = pytest.mark.parametrize("case", [c for c in ALL_CASES if c.score_equivalent], ids=repr)


def drawn_tables(case: Case, **options) -> st.SearchStrategy[td.Table]:
    """Tables that the truth of a case can afford: BDe's goes through all cells for every family, and
    regrets of large totals take long to compute to many digits."""
    if case is BDE:
        options = {"variables": (2, 4), "most_cells": 120, **options}
    if case.name in ("fNML", "qNML"):
        options = {"weights": MIDDLING_WEIGHTS, **options}
    return tables(**options)


def assert_stored(scores: Scores, truth: reference.cache, x: int, mask: int) -> None:
    """The stored value of one family; ``x`` and ``mask`` count the scored columns only."""
    columns = scores.columns
    all_mask = sum(1 << columns[i] for i in reference.members(mask))
    value, true = scores.store.value(x, mask), truth(columns[x], all_mask)
    if scores.max_parents is not None and mask.bit_count() > scores.max_parents:
        assert value == -math.inf
    elif value == -math.inf:  # BIC and AIC leave out what nothing can save
        assert true < truth(columns[x], 0) - 1000
    else:
        assert abs(value - true) <= GRID_STEPS * 2.0**-scores.grid + noise(scores.table)
        assert math.ldexp(value, scores.grid).is_integer()


def assert_all_stored(scores: Scores, truth) -> None:
    for x, mask in families(len(scores.columns)):
        assert_stored(scores, truth, x, mask)


def assert_local(scores: Scores, truth, x: int, mask: int) -> None:
    parents = [scores.names[p] for p in reference.members(mask)]
    expected = truth(x, mask)
    assert scores.local(scores.names[x], parents) == pytest.approx(expected, rel=1e-9, abs=noise(scores.table))


@every_case
@settings(max_examples=25)
@given(st.data())
def test_every_family_agrees_with_the_reference(case: Case, data: st.DataObject) -> None:
    table = data.draw(drawn_tables(case))
    kind = case.make(table)
    truth = case.truth(table, kind)
    scores = td.score(table, kind)
    assert_all_stored(scores, truth)
    for x, mask in families(table.n_variables):
        assert_local(scores, truth, x, mask)


@every_case
@settings(max_examples=6)
@given(st.data())
def test_constant_columns_can_be_kept(case: Case, data: st.DataObject) -> None:
    table = data.draw(drawn_tables(case, variables=(2, 5), keep_constant=True))
    kind = case.make(table)
    scores = td.score(table, kind)
    assert scores.columns == tuple(range(table.n_variables))
    assert_all_stored(scores, case.truth(table, kind))


@pytest.mark.parametrize("case", CASES, ids=repr)
@pytest.mark.parametrize("constants", [1, 4, 7])
def test_constant_columns_count_as_nothing_beside_many_others(case: Case, constants: int) -> None:
    """Constants come last in the core's order, where sets are counted in another way than before."""
    rng = np.random.default_rng(constants)
    codes = rng.integers(0, 2, (6 + constants, 60))
    codes[3 : 3 + constants] = 0
    arities = [1 if 3 <= v < 3 + constants else 2 for v in range(6 + constants)]
    names = [f"V{v}" for v in range(len(arities))]
    states = [list(range(arity)) for arity in arities]
    table = td.Table.from_codes(names, codes, states=states, keep_constant=True)
    plain = table_of(codes[np.array(arities) > 1], [2] * 6)
    if case is CUSTOM:
        return  # its own function sees names and numbers of parents
    kept, without = td.score(table, case.make(table)), td.score(plain, case.make(plain))
    active = [v for v in range(len(arities)) if arities[v] > 1]
    for _ in range(200):
        x = int(rng.integers(6))
        mask = int(rng.integers(2**6)) & ~(1 << x)
        wide = sum(1 << active[i] for i in reference.members(mask))
        wide |= int(rng.integers(2 ** len(arities))) & ~sum(1 << v for v in active)
        expected = without.store.value(x, mask)
        assert kept.store.value(active[x], wide) == pytest.approx(expected, rel=1e-9, abs=1e-7)


@every_case
@settings(max_examples=6, phases=NO_SHRINKING)
@given(st.data())
def test_many_rows_fill_every_kind_of_cell(case: Case, data: st.DataObject) -> None:
    """Enough rows for dense and large cells, skewed so that small, settled and heavy ones stand beside them."""
    options = {"weights": ((1,), SMALL_WEIGHTS) if case.name == "fNML" else MIDDLING_WEIGHTS}
    drawn = drawn_tables(case, variables=(5, 6), most_states=3, rows=(400, 1200), constants=False, **options)
    table = data.draw(drawn)
    kind = case.make(table)
    truth = case.truth(table, kind)
    scores = td.score(table, kind)
    assert_all_stored(scores, truth)


@pytest.mark.parametrize("case", [c for c in CASES if c is not CUSTOM], ids=repr)
@settings(max_examples=10, phases=NO_SHRINKING)
@given(st.data())
def test_random_families_of_wider_tables(case: Case, data: st.DataObject) -> None:
    most = data.draw(st.sampled_from([2, 4]))
    rows, weights = (5, 30, 100, 300), MIDDLING_WEIGHTS
    table = data.draw(drawn_tables(case, variables=(9, 12), most_states=most, rows=rows, weights=weights))
    kind = case.make(table)
    truth = case.truth(table, kind)
    scores = td.score(table, kind)
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    n = len(scores.columns)
    for _ in range(40 if n else 0):
        x = int(rng.integers(n))
        size_bias = int(rng.integers(2**n)) if rng.random() < 0.5 else 2**n - 1  # small and middling sets
        assert_stored(scores, truth, x, int(rng.integers(2**n)) & size_bias & ~(1 << x))


@pytest.mark.parametrize("arities", [(90, 85, 100), (300, 2, 2, 2, 2, 2), (81, 80, 79, 2, 2), (2, 1000, 3, 5)])
@pytest.mark.parametrize("case", [CASES[0], CASES[4], CASES[6], CASES[9]], ids=repr)
def test_columns_with_many_states(case: Case, arities: tuple[int, ...]) -> None:
    rng = np.random.default_rng(7)
    codes = np.array([rng.integers(0, arity, 400) for arity in arities])
    table = table_of(codes, arities)
    kind = case.make(table)
    assert_all_stored(td.score(table, kind), case.truth(table, kind))


@every_case
@settings(max_examples=6)
@given(st.data())
def test_max_parents_is_honoured(case: Case, data: st.DataObject) -> None:
    table = data.draw(drawn_tables(case, variables=(2, 5)))
    kind = case.make(table)
    limit = data.draw(st.integers(0, 5))
    scores = td.score(table, kind, max_parents=limit)
    n = len(scores.columns)
    assert_all_stored(scores, case.truth(table, kind))
    if table.n_rows < 10_000:  # hardly anything is hopeless then
        allowed = n * sum(math.comb(n - 1, size) for size in range(min(limit, n - 1) + 1)) if n else 0
        assert scores.n_families <= allowed
        assert sum(scores.store.value(x, mask) > -math.inf for x, mask in families(n)) == scores.n_families


# ---- The same bits however it is computed


@every_case
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_threads_change_no_bit(case: Case, way) -> None:
    rng = np.random.default_rng(3)
    arities = [2, 3, 2, 4, 2, 2, 3] if case in (CUSTOM, BDE) else [2, 3, 2, 4, 2, 2, 3, 2, 5, 2]
    codes = way(rng, (len(arities), 300), arities)
    table = table_of(codes, arities, rng.choice([1, 2, 5, 40, 5000], 300))
    kind = case.make(table)
    one, other = (td.score(table, kind, threads=threads) for threads in (1, 3))
    assert other.grid == one.grid
    for a, b in zip(one.store.arrays, other.store.arrays, strict=True):
        assert a.tobytes() == b.tobytes()


def set_sums(kind: SetScore, codes: np.ndarray, arities: list[int], weights: np.ndarray) -> np.ndarray:
    view = _core.CodedTable(np.ascontiguousarray(codes, dtype=np.uint16), arities, weights.astype(np.uint32))
    formula = kind.joint(int(weights.sum()))
    found = _core.score_all_sets(view, formula, len(arities), _core.Limits(2))
    assert found is not None
    return found


@pytest.mark.parametrize("kind", [td.BDeu(), td.BIC(), td.K2(), td.fNML(), td.qNML()], ids=repr)
@settings(max_examples=25)
@given(st.data())
def test_row_order_changes_no_bit_and_merging_hardly_any(kind: SetScore, data: st.DataObject) -> None:
    """Straight from the core, before any rounding; rows of a Table are always merged and sorted."""
    n = data.draw(st.integers(3, 9))
    arities = data.draw(st.lists(st.integers(2, 4), min_size=n, max_size=n))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    rows = data.draw(st.sampled_from([4, 30, 200]))
    codes = data.draw(st.sampled_from(WAYS))(rng, (n, rows), arities)
    weights = rng.choice([1, 1, 2, 3, 20], rows)
    plain = set_sums(kind, codes, arities, weights)
    order = rng.permutation(rows)
    assert np.array_equal(set_sums(kind, codes[:, order], arities, weights[order]), plain)
    repeated = set_sums(kind, codes.repeat(weights, axis=1), arities, np.ones(int(weights.sum()), dtype=int))
    assert np.allclose(repeated, plain, rtol=1e-12, atol=1e-9)


@every_case
@settings(max_examples=5)
@given(st.data())
def test_weights_count_as_repeated_rows(case: Case, data: st.DataObject) -> None:
    table = data.draw(drawn_tables(case, variables=(2, 4), rows=(1, 5, 20), weights=((1, 2, 5, 30),)))
    shuffled = np.random.default_rng(0).permutation(table.n_rows)
    repeated = table_of(table.codes.repeat(table.weights, axis=1)[:, shuffled], table.arities.tolist())
    kind = case.make(table)
    one, other = td.score(table, kind), td.score(repeated, kind)
    assert table == repeated
    for a, b in zip(one.store.arrays, other.store.arrays, strict=True):
        assert a.tobytes() == b.tobytes()


@equivalent_cases
@settings(max_examples=5)
@given(st.data())
def test_equivalent_networks_tie_bit_for_bit(case: Case, data: st.DataObject) -> None:
    table = data.draw(drawn_tables(case, variables=(4, 4), most_states=3, constants=False))
    scores = td.score(table, case.make(table))
    n = len(scores.columns)
    for networks in reference.equivalence_classes(n).values():
        found = {reference.network_score(scores.store.value, masks) for masks in networks}
        assert len(found) == 1


# ---- Numbers at the edge of what doubles hold


def log_rising(a: float, count: int) -> float:
    return (
        math.fsum(math.log(a) + math.log1p(i / a) for i in range(count))
        if a > 1
        else math.fsum(math.log(a + i) for i in range(count))
    )


@pytest.mark.parametrize("ess", [1e-100, 1e-9, 1e-3, 1.0, 1e3, 1e6, 1e9, 1e12])
@pytest.mark.parametrize("weight", [1, 31, 32, 33, 1000, 4096, 4097, 20_000])
def test_dirichlet_scores_are_accurate_for_every_ess(ess: float, weight: int) -> None:
    """A plain sum of logs is the truth here: lgamma(1e12) has no digit behind the point."""
    table = table_of(np.array([[0, 0, 1], [0, 1, 1]]), [2, 2], [weight, 3, 2])
    cells = {(): [weight + 5], (0,): [weight + 3, 2], (1,): [weight, 5], (0, 1): [weight, 3, 2]}
    true = {key: sum(log_rising(ess / 2 ** len(key), c) for c in of) for key, of in cells.items()}
    view = coded(table)
    formula = td.BDeu(ess).joint(table.n_rows)
    stored = _core.score_all_sets(view, formula, 2, _core.Limits())
    for key, value in true.items():
        tolerance = 2e-14 * max(abs(v) for v in true.values()) + 1e-13
        assert abs(_core.score_set(view, formula, list(key)) - value) <= tolerance
        assert abs(stored[sum(1 << v for v in key)] - value) <= tolerance


def core_regret(n: int, k: int) -> float:
    """From C(n, k) itself: counts of n in one cell, less n ln n, would lose digits."""
    table = table_of(np.array([[0], [0]]), [1, 1], [n])
    formula = _core.SetFormula(_core.CellKind.ONE, penalty=_core.Penalty.REGRET)
    view = _core.CodedTable(np.zeros((1, 1), np.uint16), [k], table.weights)
    return 1.0 - _core.score_set(view, formula, [0])


@pytest.mark.parametrize("k", [1, 2, 3, 5, 40, 10_000])
@pytest.mark.parametrize("n", [1, 2, 3, 10, 50, 200])
def test_the_regret_is_right(n: int, k: int) -> None:
    exact = reference.regret(n, k)
    assert core_regret(n, k) == pytest.approx(exact, rel=1e-13, abs=1e-13)
    assert large_regret(n, k) == pytest.approx(exact, rel=1e-13, abs=1e-13)


@pytest.mark.parametrize("k", [2, 3, 10, 1024, 2**26])
@pytest.mark.parametrize("n", [1000, 20_000, 1_000_000])
def test_the_regret_is_right_for_many_rows(n: int, k: int) -> None:
    if n * k <= 2e10:
        assert core_regret(n, k) == pytest.approx(large_regret(n, k), rel=1e-12)


def test_the_regret_of_the_paper() -> None:
    assert round(core_regret(50, 10), 4) == 13.2376  # docs/reference/scores.md


@pytest.mark.parametrize("kind", [td.BDeu(), td.BIC(), td.K2()], ids=repr)
def test_weights_up_to_the_limit(kind: SetScore) -> None:
    """Counts near 2^32 fit; nothing large is allocated for few distinct rows."""
    weights = [2**32 - 1 - 6000, 5000, 700, 300]
    table = table_of(np.array([[0, 0, 1, 1] * 1, [0, 1, 0, 1], [0, 1, 1, 0]] + [[0, 1, 1, 1]] * 15), [2] * 18, weights)
    columns = tuple(range(18))
    store = fill_store(table, columns, kind, 18, Run(memory_limit="100MB"))
    assert store is not None
    for parents in ([], [1], [1, 17], list(range(1, 18))):
        mask = sum(1 << v for v in parents)
        assert store.value(0, mask) == pytest.approx(kind.local(table, 0, parents), rel=1e-9, abs=1e-4)
    with pytest.raises(td.ScoreError, match="too large: networks could not be told apart to 1e-6 nats"):
        td.score(table, kind, memory_limit="100MB")


def test_large_weights_and_few_rows_score_as_fast_as_few_rows_alone() -> None:
    """Dense tables are chosen by distinct rows: 18 variables with 20 rows must not become 2^18 cells a set."""
    rng = np.random.default_rng(5)
    codes = rng.integers(0, 2, (18, 20))
    arities = [2] * 18
    light, heavy = (_core.CodedTable(codes.astype(np.uint16), arities, np.full(20, w, np.uint32)) for w in (1, 10**7))
    formula = td.BIC().joint(20)
    assert _core.scoring_bytes(light, formula, 3, 2) * 1000 > _core.scoring_bytes(heavy, formula, 3, 2)
    table = table_of(codes, arities, rng.choice(LARGE_WEIGHTS, 20))
    scores = td.score(table, td.BDeu(), max_parents=3)
    assert scores.store.value(0, 0b1110) == pytest.approx(scores.local("V0", ["V1", "V2", "V3"]), rel=1e-9)


def test_sampled_tables_of_sixteen_variables() -> None:
    """More variables than the first decisions that make the threads' tasks, and a tail behind them."""
    table = sampled_table(16, 500, seed=2, states=(2, 4))
    rng = np.random.default_rng(1)
    for kind, case in ((td.BDeu(), CASES[0]), (td.BIC(), CASES[4]), (td.qNML(), CASES[8])):
        scores, truth = td.score(table, kind), case.truth(table, kind)
        for _ in range(60):
            x = int(rng.integers(16))
            assert_stored(scores, truth, x, int(rng.integers(2**16)) & int(rng.integers(2**16)) & ~(1 << x))


@pytest.mark.parametrize("name", ["BDeu", "BIC", "K2", "fNML"])
@settings(max_examples=15, phases=NO_SHRINKING)
@given(st.data())
def test_masks_that_hold_a_part_of_the_variables(name: str, data: st.DataObject) -> None:
    """As with more than 32 variables: cells of few rows wait until masks hold all variables still to come."""
    case = next(case for case in CASES if case.name.split("-")[0] == name)
    table = data.draw(drawn_tables(case, variables=(2, 9)))
    kind, n = case.make(table), table.n_variables
    assert isinstance(kind, SetScore)
    view, formula = coded(table, tuple(range(n))), kind.joint(table.n_rows)
    masked, threads = data.draw(st.integers(0, n)), data.draw(st.integers(1, 3))
    whole = _core.score_all_sets(view, formula, n, _core.Limits())
    found = _core.score_all_sets(view, formula, n, _core.Limits(threads), masked=masked)
    assert whole is not None and found is not None
    np.testing.assert_allclose(found, whole, rtol=1e-12, atol=noise(table))
