"""An answer called proved is right to 1e-6 nats, whatever the scores, their form and the question; or it is refused.

Where doubles cannot tell that, to a 1e-11th of the score, as ``proof.space`` says (see test_many_rows.py).

The truth: all networks of four variables, with local scores in full precision.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import reference
from brute_force import class_numbers, networks
from given_sizes import AS_LISTS, give_sizes
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from random_inputs import table_of as weighted_table

import topdag as td
from topdag import _core
from topdag._util.run import Run
from topdag.scoring.kinds.discrete import ScoreKind
from topdag.scoring.rounding import least_size, require_exact_sums, round_store
from topdag.scoring.score import scores_from_lists
from topdag.search.best import begin, search_best
from topdag.search.engines import Engine
from topdag.search.family_lists import FamilyLists
from topdag.search.stores import FamilyStore, ListStore, SetStore, Store

MOST = 1e-6
LARGEST_SUM = 5e6
"""Sums refuse what is larger."""
N = 4
NAMES = tuple(f"V{v}" for v in range(N))
TOO_LARGE = "are too large: networks could not be told apart"
KNOWN: dict[str, dict[str, Any]] = {
    "nothing": {},
    "forbidden": {"forbidden_edges": [("V1", "V0"), ("V2", "V3")]},
    "required": {"required_edges": [("V1", "V0"), ("V2", "V0")]},
    "number": {"min_parents": {"V0": 2}},
    "rule": {"rules": ["V1->V0 or V2->V0"]},
    "among": {"allowed_parent_sets": {"V0": [["V1", "V2"], ["V1", "V2", "V3"], ["V3"]]}},
    "path": {"ancestors": [("V3", "V0")]},
    "order": {"precedence": [("V3", "V0")]},
}
DISCRETE: tuple[ScoreKind, ...] = (td.BIC(), td.AIC(), td.BDeu(), td.K2(), td.fNML(), td.qNML(), td.BDs())


@cache
def table_with(states: tuple[int, ...], rows: int = 60, weight: int = 1) -> td.Table:
    """Columns that follow the one before, where they can."""
    draw = np.random.default_rng(sum(states))
    codes = np.array([draw.integers(0, own, rows) for own in states])
    for v in range(1, len(states)):
        codes[v] = np.where(draw.random(rows) < 0.6, codes[v - 1] % states[v], codes[v])
    declared = [list(range(own)) for own in states]
    weights = weight * draw.integers(1, 4, rows)
    return td.Table.from_codes(NAMES[: len(states)], codes, weights=weights, states=declared)


def numbers(scale: float, rows: int = 40) -> td.Table:
    draw = np.random.default_rng(3)
    values = draw.normal(size=(N, rows)) * scale
    values[2] += 2 * values[1]
    return td.Table(dict(zip(NAMES, values.tolist(), strict=True)), types={"*": "continuous"})


def in_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the variables were too many for tables over all sets."""
    give_sizes(monkeypatch, **AS_LISTS)


def true_scores(scores: td.types.Scores, known: td.Constraints) -> tuple[NDArray[np.uint64], NDArray[np.float64]]:
    """Of all networks that obey, from local scores in full precision."""

    @cache
    def local(x: int, mask: int) -> float:
        parents = [name for v, name in enumerate(NAMES) if mask >> v & 1]
        if scores.max_parents is not None and len(parents) > scores.max_parents:
            return -math.inf
        try:
            return scores.local(NAMES[x], parents)
        except td.NotAllowed:
            return -math.inf
        except td.ScoreError:
            assert scores.table is None
            return -math.inf

    every = networks(N)
    values = np.array([math.fsum(local(x, mask) for x, mask in enumerate(own)) for own in every.tolist()])
    obeys = np.array([not known or known.allows(td.Network.from_masks(NAMES, own)) for own in every.tolist()])
    return every[obeys & (values > -math.inf)], values[obeys & (values > -math.inf)]


def require_right(scores: td.types.Scores, known: td.Constraints = td.Constraints()) -> None:  # noqa: B008
    """Every question about them."""
    masks, values = true_scores(scores, known)
    ranked = np.sort(values)[::-1]
    _require_right_networks(scores, ranked)
    if scores.keep != "all":
        return
    if scores.score_equivalent:
        numbers_of = class_numbers(N)[[_place(own) for own in masks.tolist()]]
        of_classes = sorted((values[numbers_of == number].max() for number in set(numbers_of.tolist())), reverse=True)
        _require_right_list(td.k_best_classes(scores, 8), of_classes)
    if scores.rest is None or not scores.rest.without_order:
        orders = [math.log(reference.linear_extensions(own)) for own in masks.tolist()]
        answer = td.best_network(scores, prior=td.OrderModular())
        if scores.rest is None and not scores.orders_are_limited:
            assert answer.score == pytest.approx(max(values + orders), abs=MOST, rel=0)
    if scores.rest is None and abs(values.min()) < LARGEST_SUM:
        total = math.log(np.exp(values - values.max()).sum())
        assert td.log_evidence(scores) - values.max() == pytest.approx(total, abs=MOST, rel=0)


def _require_right_networks(scores: td.types.Scores, ranked: NDArray[np.float64]) -> None:
    best = td.best_network(scores)
    assert best.proof.status is td.types.Status.PROVED or "cut-off" in (best.proof.limit or "")
    assert best.score == pytest.approx(ranked[0], abs=MOST, rel=0)
    if scores.is_kept(most=10) or scores.automatic:
        _require_right_list(td.k_best_networks(scores, 10), ranked)
    if scores.is_kept(factor=20) or scores.automatic:
        near = td.networks_within(scores, 20)
        lowest = ranked[0] - math.log(20)
        is_whole = near.proof.status is td.types.Status.PROVED
        assert (ranked >= lowest + MOST).sum() * is_whole <= len(near) <= (ranked >= lowest - MOST).sum()
        _require_right_list(near, ranked)


def _require_right_list(found: Any, ranked: Any) -> None:
    """As far as it claims to be whole; it may end where families left out for their penalty could come."""
    assert found.proof.status is td.types.Status.PROVED or "cut-off" in found.proof.limit
    assert list(found.scores) == pytest.approx(list(ranked[: len(found)]), abs=MOST, rel=0)
    assert [item.score for item in found] == pytest.approx(list(ranked[: len(found)]), abs=MOST, rel=0)


def _place(masks: list[int]) -> int:
    return int(np.flatnonzero((networks(N) == np.array(masks, dtype=np.uint64)).all(axis=1))[0])


@pytest.mark.parametrize("known", KNOWN)
@pytest.mark.parametrize("kind", DISCRETE, ids=str)
def test_tables(kind: ScoreKind, known: str) -> None:
    """Every score under every constraint, and each of them with few, many and very many states."""
    constraints = td.Constraints(**KNOWN[known])
    states = in_turn(((2, 3, 2, 3), (2, 40, 60, 50), (70, 80, 90, 60)), DISCRETE.index(kind), known)
    require_right(td.score(table_with(states), kind, constraints=constraints or None), constraints)


def in_turn(values: Sequence[Any], place: int, known: str) -> Any:
    """Another value for the next place and for the next constraint, so that each pair of the three occurs."""
    return values[(place + list(KNOWN).index(known)) % len(values)]


KEEPS = (None, "best", td.Within(20), td.KBest(10))


@pytest.mark.parametrize("keep", KEEPS, ids=str)
@pytest.mark.parametrize("known", ["nothing", "forbidden", "required", "number", "rule", "among"])
def test_tables_in_lists(known: str, keep: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    in_lists(monkeypatch)
    constraints = td.Constraints(**KNOWN[known])
    kind = in_turn((td.BIC(), td.BDeu(), td.qNML()), KEEPS.index(keep), known)
    for states in ((2, 3, 2, 3), (2, 40, 60, 50)):
        scores = td.score(table_with(states), kind, keep=keep, constraints=constraints or None)
        assert isinstance(scores.store, ListStore)
        require_right(scores, constraints)


@pytest.mark.parametrize("by_lists", [False, True])
@pytest.mark.parametrize("kind", DISCRETE[:-1], ids=str)
def test_a_million_rows(kind: ScoreKind, by_lists: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if by_lists:
        in_lists(monkeypatch)
    require_right(td.score(table_with((2, 3, 4, 3), weight=10_000), kind))


CONTINUOUS: tuple[ScoreKind, ...] = (td.GaussianBIC(), td.GaussianAIC(), td.BGe())


@pytest.mark.parametrize("kind", CONTINUOUS, ids=str)
@pytest.mark.parametrize("known", ["nothing", "forbidden", "required", "number", "path"])
def test_continuous_tables(kind: ScoreKind, known: str) -> None:
    constraints, scale = td.Constraints(**KNOWN[known]), in_turn((1e-9, 1.0, 1e12), CONTINUOUS.index(kind), known)
    require_right(td.score(numbers(scale), kind, constraints=constraints or None), constraints)


@pytest.mark.parametrize("kind", [td.BIC(), td.AIC()], ids=str)
def test_parameter_constraints(kind: ScoreKind) -> None:
    known = td.Constraints(parameters=["P(V0=1 | V1=1) >= 0.7"])
    require_right(td.score(table_with((2, 2, 3, 40)), kind, constraints=known), known)


def own_score(size: float) -> td.CustomScore:
    def function(family: td.types.Family) -> float:
        x, parents = NAMES.index(family.variable), [NAMES.index(name) for name in family.parents]
        noise = math.sin(1 + 7 * x + sum(3**v for v in parents))
        return -size * (1 + len(parents) * (x == 1)) + 3 * noise

    return td.CustomScore(function)


SIZES = {1e-3: True, 1.0: True, 1e4: True, 1e6: True, 1e7: True, 1e9: False, 1e12: False, 1e100: False, 1e299: False}
"""Whether scores of this size can be told apart to 1e-6 nats."""


def scored_or_refused(make: Callable[[], td.types.Scores], size: float, error: type[Exception] = td.ScoreError) -> None:
    if SIZES[size]:
        require_right(make())
        return
    with pytest.raises(error, match=TOO_LARGE):
        make()


@pytest.mark.parametrize("size", SIZES)
def test_own_scores(size: float) -> None:
    """All of them are of this size, so a 1e-11th of it will do, up to a tenth of a nat."""
    if size == 1e9:
        scores = td.score(table_with((2, 2, 2, 2)), own_score(size))
        best = max(true_scores(scores, td.Constraints())[1])
        assert td.best_network(scores).score == pytest.approx(best, abs=scores.behind, rel=0)
        assert scores.behind < 0.01
        return
    scored_or_refused(lambda: td.score(table_with((2, 2, 2, 2)), own_score(size)), size)


@pytest.mark.parametrize("size", SIZES)
def test_score_files(size: float, tmp_path: Path) -> None:
    """Text with one hopeless family; the file of scores that are held says the same again."""
    draw = np.random.default_rng(5)
    families = [
        (x, [v for v in range(N) if mask >> v & 1]) for x in range(N) for mask in range(16) if not mask >> x & 1
    ]
    listed = [(x, own, -float(size) if len(own) == 3 else -20 * draw.random()) for x, own in families]
    lists = FamilyLists.build(NAMES, listed)
    scored_or_refused(lambda: scores_from_lists(lists, keep="all"), size)
    if SIZES[size]:
        td.io.write_scores(tmp_path / "s.jkl", scores_from_lists(lists, keep="all"))
        td.io.write_scores(tmp_path / "s.npz", scores_from_lists(lists, keep="all"))
        require_right(td.io.read_scores(tmp_path / "s.npz"))
        require_right(td.io.read_scores(tmp_path / "s.jkl", keep="all"))


@pytest.mark.parametrize("odds", [3.0, -1e5, 1e5, 1e12])
def test_priors(odds: float) -> None:
    """Log odds of edges are part of what is rounded."""
    scores = td.score(table_with((2, 2, 3, 2)), td.BDeu())
    prior = td.EdgePrior({("V0", "V1"): odds}, default=1.0)
    if odds == 1e12:
        with pytest.raises(td.ScoreError, match=TOO_LARGE):
            td.best_network(scores, prior=prior)
        return
    masks, values = true_scores(scores, td.Constraints())
    weighed = values + [prior.log_weight(td.Network.from_masks(NAMES, own)) for own in masks.tolist()]
    assert td.best_network(scores, prior=prior).score == pytest.approx(max(weighed), abs=MOST, rel=0)


def test_coarse_scores_cannot_be_made_or_read(tmp_path: Path) -> None:
    scores = td.score(table_with((2, 2, 3, 2)), td.BDeu())
    coarsest = _core.coarsest_exponent(N)
    assert math.ldexp(5 * N, -coarsest) <= MOST < math.ldexp(5 * N, 1 - coarsest)
    of_any_size = _core.coarsest_exponent(N, math.inf)
    assert math.ldexp(5 * N, -of_any_size) <= 0.1 < math.ldexp(5 * N, 1 - of_any_size)
    replace(scores, grid=of_any_size)
    with pytest.raises(td.ScoreError, match=TOO_LARGE):
        replace(scores, grid=of_any_size - 1)
    td.io.write_scores(tmp_path / "s.npz", scores)
    with np.load(tmp_path / "s.npz") as content:
        arrays = dict(content)
    header = arrays["header"].tobytes().decode().replace(f'"grid": {scores.grid}', f'"grid": {coarsest - 1}')
    np.savez(tmp_path / "coarse.npz", **{**arrays, "header": np.frombuffer(header.encode(), dtype=np.uint8)})
    with pytest.raises(td.FileError, match=TOO_LARGE):
        td.io.read_scores(tmp_path / "coarse.npz")
    np.savez(tmp_path / "large.npz", **{**arrays, "joint": arrays["joint"] * 1e6})
    with pytest.raises(td.FileError, match=TOO_LARGE):
        td.io.read_scores(tmp_path / "large.npz")


def stores_of(n: int, values: NDArray[np.float64]) -> list[Store]:
    """The same numbers in every form."""
    sets, families = values[: 1 << n].copy(), values[: n << n - 1].copy()
    listed = [(x, [], float(families[x])) for x in range(n)] + [
        (x, [(x + 1) % n], float(families[-1])) for x in range(n)
    ]
    lists = FamilyLists.build([f"V{v}" for v in range(n)], listed)
    return [SetStore(n, sets, (None,) * n), FamilyStore(n, families), ListStore(n, lists, lists.scores.copy())]


@settings(max_examples=150, deadline=None)
@given(st.integers(2, 6), st.integers(0, 10**6), st.floats(-3, 14), st.integers(0, 2))
def test_what_is_not_refused_is_fine_and_its_sums_are_exact(n: int, seed: int, size: float, form: int) -> None:
    draw = np.random.default_rng(seed)
    values = draw.normal(size=max(1 << n, n << n - 1)) * 10 ** (size * draw.random(max(1 << n, n << n - 1)))
    store, given_store = stores_of(n, values)[form], stores_of(n, values)[form]
    if max(float(np.abs(array).max()) for array in given_store.arrays) > 1e6:
        try:
            grid = round_store(store, 1)
        except td.ScoreError:
            return
    else:
        grid = round_store(store, 1)
    most = max(MOST, 1e-11 * least_size(given_store))
    assert math.ldexp(5 * n, -grid) <= min(0.1, most)
    for array, exact in zip(store.arrays, given_store.arrays, strict=True):
        assert np.abs(array - exact).max() <= math.ldexp(0.5, -grid)
    rng = np.random.default_rng(seed + 1)
    for _ in range(5):
        chosen = [store.value(x, 0 if rng.random() < 0.5 else 1 << (x + 1) % n) for x in rng.permutation(n).tolist()]
        assert Fraction(sum(chosen)) == sum(map(Fraction, chosen))


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 4), st.integers(0, 10**6), st.sampled_from(["search", "order search", "branch and cut"]))
def test_the_best_network_needs_exact_shortfalls_only(n: int, seed: int, engine: str) -> None:
    """However large the scores of networks are: these are sums that doubles would round."""
    draw = np.random.default_rng(seed)
    grid = 28
    levels = draw.integers(2**50, 2**51, n) * 2 + 1
    behind = 2 * draw.integers(0, int(draw.choice([3, 2**30])), (n, 1 << n))  # few steps, so that a bit less would tell
    listed = [
        (x, [p for p in range(n) if mask >> p & 1], -math.ldexp(int(levels[x] + behind[x, mask]), -grid))
        for x in range(n)
        for mask in range(1 << n)
        if not mask >> x & 1
    ]
    lists = FamilyLists.build([f"V{v}" for v in range(n)], listed)
    store = ListStore(n, lists, lists.scores)
    require_exact_sums(store, grid, only_best=True)
    with pytest.raises(td.ScoreError, match=TOO_LARGE):
        require_exact_sums(store, grid)
    with pytest.raises(td.ScoreError, match="by search, without a prior"):
        store.core()
    run = Run()
    known = begin(store, run)
    assert search_best(known, run, engine=Engine(engine)) and known.masks is not None

    def exact(masks: Sequence[int]) -> Fraction:
        return sum((Fraction(store.value(x, mask)) for x, mask in enumerate(masks)), Fraction(0))

    assert exact(known.masks) == max(exact(masks) for masks in networks(n).tolist())


def test_a_table_of_a_million_rows_is_searched_though_its_sums_are_too_large(tmp_path: Path) -> None:
    """The truth: with one parent each and a score-equivalent score, a heaviest forest."""
    n = 37
    draw = np.random.default_rng(5)
    codes = draw.integers(0, 4, (n, 100))
    for v in range(1, n):
        copied = draw.random(100) < 0.3
        codes[v, copied] = codes[draw.integers(0, v), copied]
    table = weighted_table(codes.tolist(), [4] * n, [10_000] * 100, False)
    for keep in ("all", td.KBest(2), td.Within(2)):  # which add up scores themselves, on a coarser grid
        coarser = td.score(table, td.BIC(), max_parents=1, keep=keep)
        assert MOST < coarser.behind < 1e-5
    scores = td.score(table, td.BIC(), max_parents=1)
    td.io.write_scores(tmp_path / "s.npz", scores)
    alone = [td.BIC().local(table, x, []) for x in range(n)]
    gains = {(x, p): td.BIC().local(table, x, [p]) - alone[x] for x in range(n) for p in range(x)}
    best, part = math.fsum(alone), list(range(n))
    for x, p in sorted((pair for pair in gains if gains[pair] > 0), key=gains.__getitem__, reverse=True):
        if part[x] != part[p]:
            best += gains[x, p]
            part = [part[p] if own == part[x] else own for own in part]
    for source in (scores, td.io.read_scores(tmp_path / "s.npz")):
        answer = td.best_network(source)
        assert answer.proof.status is td.types.Status.PROVED
        assert answer.score == pytest.approx(best, abs=MOST, rel=0)
    with pytest.raises(td.ScoreError, match="pruned"):
        td.k_best_networks(td.io.read_scores(tmp_path / "s.npz"), 2)
    assert td.k_best_networks(scores, 2)[0].score == pytest.approx(best, abs=MOST, rel=0)  # scored again


DEAR = {
    "two edges": (12, 20, 200, td.AIC(), {"required_edges": ["v1->v0", "v2->v0"]}),
    "number": (12, 20, 200, td.BIC(), {"min_parents": {"v0": 2}}),
    "rule": (15, 10, 200, td.BIC(), {"rules": ["v1->v0 or v2->v0"]}),
    "few rows": (18, 5, 60, td.BIC(), {"required_edges": ["v1->v0", "v2->v0"]}),
}


@pytest.mark.parametrize("case", DEAR)
def test_parents_that_must_be_spoil_no_grid(case: str) -> None:
    """More than four parents are hopeless here, so a limit on them changes nothing."""
    n, states, rows, kind, known = DEAR[case]
    draw = np.random.default_rng(1)
    codes = draw.integers(0, states, (rows, n))
    for v in range(3, n):
        copied = draw.random(rows) < 0.6
        codes[copied, v] = codes[copied, v - 1]
    table = td.Table({f"v{v}": codes[:, v].tolist() for v in range(n)})
    scores, limited = (
        td.score(table, kind, constraints=td.Constraints(**known), max_parents=limit) for limit in (None, 4)
    )
    assert td.best_network(scores).score == pytest.approx(td.best_network(limited).score, abs=MOST, rel=0)
    near = td.networks_within(scores, 3)
    assert list(near.scores) == pytest.approx(list(td.networks_within(limited, 3).scores), abs=MOST, rel=0)
