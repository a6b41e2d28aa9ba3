"""Numbers that hold: the algebra in whole numbers, digits lost and won back, the same bits for any threads."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from strategies import sampled_table
from sums_truth import networks

import topdag as td
from topdag import _core
from topdag.questions import sums


def drawn_weights(n: int, seed: int, *, largest: int) -> list[list[int]]:
    """Whole weights of all families, by variable and parent mask; zero where a variable would be its own parent."""
    rng = np.random.default_rng(seed)
    drawn = (2 ** rng.uniform(0, math.log2(largest), size=(n, 1 << n))).astype(np.int64).tolist()
    return [[0 if mask >> v & 1 else own[mask] for mask in range(1 << n)] for v, own in enumerate(drawn)]


def subsets(mask: int) -> list[int]:
    found, sub = [], mask
    while True:
        found.append(sub)
        if sub == 0:
            return found
        sub = (sub - 1) & mask


class Recurrences:
    """The formulas of prefix_sums.h, suffix_sums.h and network_sums.h, word for word, in whole numbers."""

    def __init__(self, weights: list[list[int]]) -> None:
        self.weights, self.n = weights, len(weights)
        self.everything = (1 << self.n) - 1
        self.within = [[sum(own[s] for s in subsets(u)) for u in range(1 << self.n)] for own in weights]
        self.alpha = cache(self._alpha)
        self.beta = cache(self._beta)

    def product(self, joined: int, past: int) -> int:
        return math.prod(self.within[v][past] for v in range(self.n) if joined >> v & 1)

    def _alpha(self, u: int) -> int:
        if u == 0:
            return 1
        return sum(-((-1) ** r.bit_count()) * self.alpha(u & ~r) * self.product(r, u & ~r) for r in subsets(u) if r)

    def _beta(self, e: int) -> int:
        if e == 0:
            return 1
        past = self.everything & ~e
        return sum(-((-1) ** r.bit_count()) * self.beta(e & ~r) * self.product(r, past) for r in subsets(e) if r)

    def gamma(self, v: int, u: int) -> int:
        d = self.everything & ~u & ~(1 << v)
        return sum((-1) ** r.bit_count() * self.beta(d & ~r) * self.product(r, u) for r in subsets(d))

    def edge(self, p: int, v: int) -> Fraction:
        total = 0
        for u in subsets(self.everything & ~(1 << v)):
            own = sum(self.weights[v][s] for s in subsets(u) if s >> p & 1)
            total += self.alpha(u) * self.gamma(v, u) * own
        return Fraction(total, self.alpha(self.everything))

    def path(self, a: int, d: int) -> Fraction:
        past = self.everything & ~(1 << a) & ~(1 << d)
        total = sum(self.alpha(u) * self.within[a][u] * self.gamma(a, u) for u in subsets(past))
        return Fraction(total, self.alpha(self.everything))


def core_of(weights: list[list[int]]) -> _core.LocalScores:
    n = len(weights)
    logs = [
        math.log(w) if w else -math.inf for v, own in enumerate(weights) for m, w in enumerate(own) if not m >> v & 1
    ]
    return _core.family_scores(n, np.array(logs))


def summed(weights: list[list[int]], *, extended: bool = False, threads: int = 1) -> _core.Posteriors:
    n = len(weights)
    return _core.sum_networks(core_of(weights), True, (1 << n) - 1, extended, _core.Limits(threads))


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("seed", range(3))
def test_the_formulas_in_whole_numbers(n: int, seed: int) -> None:
    weights = drawn_weights(n, seed, largest=50)
    formulas = Recurrences(weights)
    own = {tuple(m): math.prod(weights[v][p] for v, p in enumerate(m)) for m in networks(n).tolist()}
    total = sum(own.values())
    assert formulas.alpha(formulas.everything) == formulas.beta(formulas.everything) == total
    for v in range(n):
        for p in (p for p in range(n) if p != v):
            assert formulas.edge(p, v) == Fraction(sum(w for m, w in own.items() if m[v] >> p & 1), total)


@pytest.mark.parametrize("n", [6, 7])
@pytest.mark.parametrize("extended", [False, True])
def test_the_core_follows_the_formulas(n: int, extended: bool) -> None:
    """With enough variables for rows and columns."""
    formulas = Recurrences(weights := drawn_weights(n, n, largest=10**6))
    found = summed(weights, extended=extended)
    assert found.log_total == pytest.approx(math.log(formulas.alpha(formulas.everything)), rel=1e-14)
    for v in range(0, n, 3):
        for p in (p for p in range(n) if p != v):
            assert found.edges()[p, v] == pytest.approx(float(formulas.edge(p, v)), abs=1e-13)
            assert found.paths()[p, v] == pytest.approx(float(formulas.path(p, v)), abs=1e-13)


def test_evidence_of_more_variables_follows_the_formula() -> None:
    """With enough variables for rows, columns and blocks."""
    formulas = Recurrences(weights := drawn_weights(11, 3, largest=1000))
    total = formulas.alpha(formulas.everything)
    assert summed(weights, threads=2).log_total == pytest.approx(math.log(total), rel=1e-14)


def sparse_weights(n: int) -> list[list[int]]:
    """Edges are a billion times less likely than none: each of the 2**n - 1 terms of a sum is as large as the sum."""
    return [[0 if m >> v & 1 else 10 ** (9 * (n - m.bit_count())) + m for m in range(1 << n)] for v in range(n)]


def test_cancellation_is_seen_and_bounded() -> None:
    for n in (4, 8):
        found = summed(sparse_weights(n))
        assert 2 ** (n - 1) < found.cancellation <= 2**n
        exact = Recurrences(sparse_weights(n)) if n == 4 else None
        assert found.defect < 1e-12
        if exact is not None:
            assert found.edges()[0, 1] == pytest.approx(float(exact.edge(0, 1)), rel=1e-6, abs=1e-16)


def test_more_digits_step_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """When terms cancel more than is safe, or sums along two ways differ, all is done again with 32 digits."""
    asked: list[bool] = []
    plain = sums._networks_with

    def watched(*args: object, extended: bool) -> _core.Posteriors:
        asked.append(extended)
        return plain(*args, extended=extended)

    monkeypatch.setattr(sums, "_networks_with", watched)
    first = td.edge_posteriors(td.example_table())
    assert asked == [False]
    monkeypatch.setattr(sums, "MOST_CANCELLATION", 1.5)
    second = td.edge_posteriors(td.example_table())
    assert asked == [False, False, True]
    assert second.matrix == pytest.approx(first.matrix, abs=1e-13)
    monkeypatch.setattr(sums, "MOST_CANCELLATION", 1e7)
    monkeypatch.setattr(sums, "SAFE_DEFECT", -1.0)
    td.log_evidence(td.example_table())
    assert asked[3:] == [False, True]


def test_what_is_wrong_does_not_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sums, "LARGEST_DEFECT", -1.0)
    with pytest.raises(ArithmeticError, match="differ from it by"):
        td.edge_posteriors(td.example_table())


def test_more_digits_are_more_exact() -> None:
    """Where doubles lose digits, those of 32 do not: against whole numbers of hundreds of digits."""
    n = 10
    formulas = Recurrences(weights := sparse_weights(n))
    total = formulas.alpha(formulas.everything)
    plain, more = summed(weights), summed(weights, extended=True)
    assert more.defect <= plain.defect
    assert more.defect < 1e-14
    assert more.log_total == pytest.approx(math.log(total), rel=1e-15)
    assert plain.edges() == pytest.approx(more.edges(), abs=1e-12)


def test_numbers_beyond_doubles() -> None:
    """Scores that span hundreds of thousands of nats, where exp of any difference is zero or infinite."""
    n = 7
    weights = drawn_weights(n, 5, largest=100)
    logs = np.array([math.log(w) for v, own in enumerate(weights) for m, w in enumerate(own) if not m >> v & 1])
    shift = np.repeat(np.array([-3e5, -1e3, 0.0, 2e5, -7e4, 12.0, -1e6]), 1 << n - 1)
    before = _core.sum_networks(_core.family_scores(n, logs), True, 0, False, _core.Limits())
    after = _core.sum_networks(_core.family_scores(n, logs + shift), True, 0, False, _core.Limits())
    assert after.log_total - before.log_total == pytest.approx(shift[:: 1 << n - 1].sum(), rel=1e-12)
    assert after.edges() == pytest.approx(before.edges(), abs=1e-8)  # logs + shift have lost digits themselves
    strong = np.where(np.arange(n << n - 1) % 7 == 0, 4e5, 0.0)
    steep = _core.sum_networks(_core.family_scores(n, logs + strong), True, 0, False, _core.Limits())
    assert steep.defect < 1e-12
    assert np.isfinite(steep.edges()).all()


@pytest.mark.parametrize("prior", [None, td.OrderModular()], ids=str)
def test_threads_do_not_matter(prior: object) -> None:
    table = sampled_table(12 if prior is None else 9, 300, 1)
    one, two = (td.network_posteriors(table, prior=prior, threads=threads) for threads in (1, 2))
    assert (one.edges.matrix == two.edges.matrix).all()
    assert (one.paths.matrix == two.paths.matrix).all()
    assert one.log_evidence == two.log_evidence


@pytest.mark.parametrize(("n", "extended", "ordered"), [(15, False, False), (16, False, True), (15, True, True)])
def test_more_threads_than_blocks_do_not_matter(n: int, extended: bool, ordered: bool) -> None:
    """With many threads sets fall into more blocks, each filled as soon as those it needs are: the same bits."""
    table = sampled_table(n, 60, 1)
    pairs = list(zip(table.names[n - 6 :], table.names[:6], strict=True)) if ordered else []
    scores = td.score(table, td.BDeu(), constraints=td.Constraints(precedence=pairs), max_parents=2)
    core = scores.store.core(scores.order)
    one, *others = (_core.sum_networks(core, True, 0, extended, _core.Limits(threads)) for threads in (1, 3, 16))
    for other in others:
        assert other.log_total == one.log_total and other.cancellation == one.cancellation
        assert np.array_equal(other.edges(), one.edges()) and np.array_equal(other.paths(), one.paths())
