"""The greatest likelihood under parameter constraints: closed forms, the convex solver and plain grids agree."""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import topdag as td
from topdag.scoring.kinds.constrained_likelihood import _convex, fitted_probabilities, losses_of, settled, total_loss
from topdag.scoring.kinds.isotonic import chain_rates, largest_upper_set, monotone_rates
from topdag.scoring.kinds.regions import Region, Way, region_of

pytest.importorskip("clarabel", reason="the extra 'parameters' is not installed")

TWO = {"a": (0, 1), "b": (0, 1), "x": (0, 1)}
THREE = {"a": (0, 1, 2), "b": (0, 1), "x": (0, 1, 2)}
COUNTS = (0, 0, 1, 2, 3, 7, 40, 1000)


def region(said: Sequence[td.probabilities.ParameterConstraint], states: dict[str, tuple[int, ...]]) -> Region:
    return region_of("x", sorted({parent for constraint in said for parent in constraint.parents}), said, states)


def least_loss_on_a_grid(of: Region, counts: np.ndarray, steps: int) -> float:
    """The least loss over all probabilities that are multiples of 1 / steps and satisfy the rows."""
    one = [
        np.array(shares) / steps for shares in itertools.product(range(steps + 1), repeat=of.r) if sum(shares) == steps
    ]
    allowed = (np.array(p) for p in itertools.product(one, repeat=of.q))
    return min(losses_of(counts, p) for p in allowed if of.rows.excess(p.ravel()) < 1e-9)


# ---- Closed forms

totals = st.integers(1, 5).flatmap(lambda n: st.lists(st.integers(0, 6), min_size=n, max_size=n))


@st.composite
def trials(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    of = draw(totals)
    return [draw(st.integers(0, n)) for n in of], of


def log_likelihood(hits: Sequence[int], of: Sequence[int], rates: Sequence[Fraction | float]) -> float:
    total = 0.0
    for k, n, rate in zip(hits, of, rates, strict=True):
        for count, p in ((k, float(rate)), (n - k, 1 - float(rate))):
            total += 0.0 if count == 0 else (count * math.log(p) if p > 0 else -math.inf)
    return total


def pooled_rates(hits: Sequence[int], of: Sequence[int]) -> list[Fraction]:
    """Pool adjacent violators, as it is told."""
    blocks: list[tuple[int, int, int]] = []  # hits, trials, places
    for k, n in zip(hits, of, strict=True):
        block = (k, n, 1)
        while blocks and block[0] * blocks[-1][1] <= blocks[-1][0] * block[1]:
            last = blocks.pop()
            block = (last[0] + block[0], last[1] + block[1], last[2] + block[2])
        blocks.append(block)
    return [Fraction(k, n) for k, n, places in blocks for _ in range(places)]


@given(trials())
def test_pooled_rates_are_the_best_of_all_poolings(data: tuple[list[int], list[int]]) -> None:
    """The optimum is constant on runs of places, so the best monotone way to cut into runs is the truth."""
    hits, of = data
    assume(any(of))
    found = pooled_rates(hits, of)
    assert len(found) == len(of) and found == sorted(found)
    best = -math.inf
    for cuts in itertools.product([False, True], repeat=len(of) - 1):
        run_of = list(itertools.accumulate((int(cut) for cut in cuts), initial=0))
        sums = [
            (
                sum(k for k, r in zip(hits, run_of, strict=True) if r == run),
                sum(n for n, r in zip(of, run_of, strict=True) if r == run),
            )
            for run in range(run_of[-1] + 1)
        ]
        if all(n for _, n in sums):
            shares = [Fraction(k, n) for k, n in sums]
            if shares == sorted(shares):
                best = max(best, log_likelihood(hits, of, [shares[run] for run in run_of]))
    assert log_likelihood(hits, of, found) == pytest.approx(best, abs=1e-9)


@given(trials())
def test_three_ways_along_a_chain(data: tuple[list[int], list[int]]) -> None:
    """Pooling, the max-min formula and the cuts of a partial order; the formula's rates are rounded once."""
    hits, of = data
    assume(any(of))
    pooled = pooled_rates(hits, of)
    cut = monotone_rates(hits, of, list(itertools.pairwise(range(len(of)))))
    rising, falling = (rates[0] for rates in chain_rates(np.array([hits]), np.array([of])))
    for place in np.flatnonzero(of):
        assert cut[place] == pooled[place]
        assert rising[place] == float(pooled[place])
        assert falling[place] == float(1 - pooled[place])
    assert (np.diff(rising) >= 0).all() and (np.diff(falling) <= 0).all()
    assert rising + falling == pytest.approx(np.ones(len(of)), abs=1e-15)
    assert all(a <= b for a, b in itertools.pairwise(cut) if a is not None and b is not None)


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=6), st.sets(st.tuples(st.integers(0, 5), st.integers(0, 5))))
def test_largest_upper_set_by_looking_at_all(worth: list[int], drawn: set[tuple[int, int]]) -> None:
    arcs = [(a, b) for a, b in drawn if a != b and max(a, b) < len(worth)]
    values = dict(enumerate(worth))
    found = largest_upper_set(values, arcs)
    closed = [
        chosen
        for size in range(len(worth) + 1)
        for chosen in map(set, itertools.combinations(values, size))
        if all(b in chosen for a, b in arcs if a in chosen)
    ]
    assert found in closed
    assert sum(values[i] for i in found) == max(sum(values[i] for i in chosen) for chosen in closed)


BINARY = {
    "chain": [td.probabilities.influence("a", "x", "+")],
    "falling": [td.probabilities.influence("a", "x", "-")],
    "two signs": [td.probabilities.influence("a", "x", "+"), td.probabilities.influence("b", "x", "-")],
    "one sign, one pooled": [td.probabilities.influence("a", "x", "+"), td.probabilities.influence("b", "x", "0")],
    "pooled": [td.probabilities.influence("a", "x", "0")],
    "bounds": [
        td.probabilities.probability("x", 1, {"a": 1}) <= 0.3,
        td.probabilities.probability("x", 0, {"a": 0}) >= 0.25,
    ],
    "signed and bounded": [td.probabilities.influence("a", "x", "+"), td.probabilities.probability("x", 1) <= 0.4],
    "fixed": [td.probabilities.probability("x", 1, {"a": 1}).equals(0.25)],
}


@pytest.mark.parametrize("said", BINARY.values(), ids=BINARY)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_closed_forms_against_the_convex_solver(
    said: list[td.probabilities.ParameterConstraint], data: st.DataObject
) -> None:
    of = region(said, {**TWO, "a": (0, 1, 2)})
    for part in of.parts:
        assert part.way is not Way.CONVEX
        shape = (len(part.configurations), 2)
        counts = np.array(data.draw(st.lists(st.sampled_from(COUNTS), min_size=shape[0] * 2, max_size=shape[0] * 2)))
        counts = counts.reshape(shape)
        if not counts.any():
            continue
        exact, convex = (losses_of(counts, way(part, counts)) for way in (settled, _convex))
        assert exact <= convex + 1e-12
        assert convex == pytest.approx(exact, abs=1e-6 * (1 + exact))


# ---- What a convex solver is needed for

GENERAL = {
    "dominance": ([td.probabilities.influence("a", "x", "+")], {**THREE, "a": (0, 1)}, 12),
    "synergy": ([td.probabilities.synergy(["a", "b"], "x", "-")], TWO, 12),
    "influences and synergy": (
        [td.probabilities.influence("a", "x", "+"), td.probabilities.synergy(["a", "b"], "x", "+")],
        TWO,
        12,
    ),
    "the paper's example": (
        [
            td.probabilities.probability("x", 1, {"a": 1, "b": 1})
            + 2 * td.probabilities.probability("x", 1, {"a": 1, "b": 0})
            <= 1
        ],
        TWO,
        12,
    ),
    "ratio": (
        [td.probabilities.probability("x", 2, {"a": 0}) >= 2 * td.probabilities.probability("x", 1, {"a": 1})],
        {**THREE, "a": (0, 1)},
        12,
    ),
    "pinned": (
        [td.probabilities.probability("x", 2, {"a": 0}).equals(td.probabilities.probability("x", 0, {"a": 1}))],
        {**THREE, "a": (0, 1)},
        12,
    ),
}


@pytest.mark.parametrize("case", GENERAL.values(), ids=GENERAL)
@pytest.mark.parametrize("seed", [1, 2])
def test_no_point_of_a_grid_is_better(
    case: tuple[list[td.probabilities.ParameterConstraint], dict[str, tuple[int, ...]], int], seed: int
) -> None:
    said, states, steps = case
    of = region(said, states)
    counts = np.random.default_rng(seed).integers(0, 30, (of.q, of.r))
    p = fitted_probabilities(of, counts)
    loss = total_loss(of, counts[np.newaxis])
    assert of.rows.excess(p.ravel()) <= 1e-9
    assert loss == pytest.approx(losses_of(counts, p), abs=1e-12)
    on_grid = least_loss_on_a_grid(of, counts, steps)
    assert loss <= on_grid + 1e-7 * (1 + on_grid)
    assert on_grid - loss < 0.02 * counts.sum()  # the grid comes near, so the constraints are the same


@st.composite
def constraints(draw: st.DrawFn) -> list[td.probabilities.ParameterConstraint]:
    """Some of each kind; they may contradict each other."""
    sign = st.sampled_from(["+", "-", "0"])
    given_both = st.fixed_dictionaries({"a": st.sampled_from(THREE["a"]), "b": st.sampled_from(THREE["b"])})
    p = st.builds(td.probabilities.probability, st.just("x"), st.sampled_from(THREE["x"]), given_both)
    number = st.sampled_from([0.05, 0.2, 0.5, 0.9])
    kinds = st.one_of(
        st.builds(td.probabilities.influence, st.sampled_from(["a", "b"]), st.just("x"), sign),
        st.builds(td.probabilities.synergy, st.just(["a", "b"]), st.just("x"), sign),
        st.builds(lambda q, bound: q <= bound, p, number),
        st.builds(lambda q, bound: q >= bound, p, number),
        st.builds(lambda q, other: q <= other, p, p),
        st.builds(lambda q, other, bound: 2 * q + other <= 1 + bound, p, p, number),
    )
    return draw(st.lists(kinds, min_size=1, max_size=3))


@settings(max_examples=60, deadline=None)
@given(constraints(), st.lists(st.sampled_from(COUNTS), min_size=18, max_size=18))
def test_fitted_probabilities_are_distributions_that_satisfy_everything(
    said: list[td.probabilities.ParameterConstraint], drawn: list[int]
) -> None:
    try:
        of = region(said, THREE)
    except td.ScoreError:
        assume(False)  # they contradict each other
    counts = np.array(drawn)[: of.q * of.r].reshape(of.q, of.r)
    p = fitted_probabilities(of, counts)
    assert of.rows.excess(p.ravel()) <= 1e-8
    assert (p >= 0).all() and np.abs(p.sum(axis=1) - 1).max() <= 1e-12
    loss = total_loss(of, counts[np.newaxis])
    assert 0 <= loss < math.inf
    assert loss == pytest.approx(losses_of(counts, p), abs=1e-9)
    # What satisfies the constraints already is left as it is, whatever the way.
    again = fitted_probabilities(of, np.rint(p * 1e6).astype(np.int64))
    assert of.rows.excess(again.ravel()) <= 1e-8


@pytest.mark.parametrize("name", ["dominance", "synergy", "influences and synergy"])
def test_unseen_configurations_cost_nothing(name: str) -> None:
    """Any frequencies of one configuration alone can be kept; the others follow."""
    said, states, _ = GENERAL[name]
    of = region(said, states)
    for place in range(of.q):
        counts = np.zeros((1, of.q, of.r), dtype=np.int64)
        assert total_loss(of, counts) == 0.0
        counts[0, place] = np.arange(of.r) + 3
        assert total_loss(of, counts) == 0.0
        assert of.rows.excess(fitted_probabilities(of, counts[0]).ravel()) <= 1e-9


@pytest.mark.parametrize("bound", [1e-3, 1e-4, 1e-5, 1e-6])
def test_bounds_near_zero_that_the_data_break(bound: float) -> None:
    """The other two states share what is left, in the order the sign asks for; the bound is reached."""
    said = [td.probabilities.influence("a", "x", "+"), td.probabilities.probability("x", 2, {"a": 2}) <= bound]
    counts = np.array([[30, 20, 50], [10, 40, 50], [60, 20, 20]])
    of = region(said, THREE)
    p = fitted_probabilities(of, counts)
    assert p[:, 2] == pytest.approx([bound] * 3, rel=1e-6)
    assert p[0, 0] == pytest.approx((1 - bound) * 30 / 50, rel=1e-6)
    assert p[1:, 0] == pytest.approx([(1 - bound) * 70 / 130] * 2, rel=1e-6)
    assert of.rows.excess(p.ravel()) <= 1e-9


def test_redundant_constraints_change_nothing() -> None:
    said = [td.probabilities.influence("a", "x", "+"), td.probabilities.probability("x", 2, {"a": 1}) <= 0.4]
    more = [
        *said,
        said[0],
        td.probabilities.probability("x", 2, {"a": 1}) <= 0.7,
        td.probabilities.probability("x", 2, {"a": 0}) <= 0.4,
    ]
    counts = np.array([[3, 9, 8], [11, 4, 2], [5, 5, 5]])
    once, twice = (total_loss(region(each, THREE), counts[np.newaxis]) for each in (said, more))
    assert once > 1
    assert twice == pytest.approx(once, abs=1e-6)


def test_without_the_solver_closed_forms_still_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "clarabel", None)
    counts = np.array([[[3, 9], [11, 4]]])
    assert total_loss(region([td.probabilities.influence("a", "x", "+")], TWO), counts) > 1
    with pytest.raises(ImportError, match=r"topdag\[parameters\]"):
        total_loss(
            region(
                [
                    td.probabilities.probability("x", 1, {"a": 0}) + 0.1
                    <= td.probabilities.probability("x", 1, {"a": 1})
                ],
                TWO,
            ),
            counts,
        )
