"""What the tests draw: random tables, kinds of scores with their truth, and score lists full of ties.

Tables are made from a drawn seed, so that a thousand rows cost one draw; arities, weights and the way rows are
made are drawn one by one, so that a failure shrinks to few variables, few rows and small weights.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from functools import cache

import numpy as np
import reference
from hypothesis import strategies as st
from random_inputs import rows_of

import topdag as td
from topdag.scoring.kinds.discrete import ScoreKind
from topdag.scoring.score import scores_from_lists
from topdag.scoring.scores import Scores
from topdag.search.family_lists import FamilyLists

Local = Callable[[int, int], float]

# ---- Tables

SMALL_WEIGHTS = (1, 1, 1, 2, 3, 4, 5, 15, 16, 17)
LARGE_WEIGHTS = (1, 2, 17, 4095, 4096, 5000, 100_000)


def uniform_rows(rng: np.random.Generator, shape: tuple[int, int], states: Sequence[int]) -> np.ndarray:
    """Independent columns, every state as likely: many small cells."""
    n, rows = shape
    return np.array([rng.integers(0, states[v], rows) for v in range(n)])


def noisy_rows(rng: np.random.Generator, shape: tuple[int, int], states: Sequence[int]) -> np.ndarray:
    """Columns that follow the one before, with noise: dense and large cells beside empty ones."""
    codes = uniform_rows(rng, shape, states)
    for v in range(1, shape[0]):
        copied = rng.random(shape[1]) < 0.8
        codes[v, copied] = codes[v - 1, copied] % states[v]
    return codes


def skewed_rows(rng: np.random.Generator, shape: tuple[int, int], states: Sequence[int]) -> np.ndarray:
    """A few prototypes again and again: heavy rows beside settled ones."""
    codes = uniform_rows(rng, shape, states)
    prototypes = uniform_rows(rng, (shape[0], 3), states)
    chosen = rng.random(shape[1]) < 0.7
    codes[:, chosen] = prototypes[:, rng.integers(0, 3, int(chosen.sum()))]
    return codes


def doubled_rows(rng: np.random.Generator, shape: tuple[int, int], states: Sequence[int]) -> np.ndarray:
    """Columns that equal each other, so that scores tie."""
    codes = uniform_rows(rng, shape, states)
    for v in range(1, shape[0]):
        if states[v] == states[v - 1] and rng.random() < 0.6:
            codes[v] = codes[v - 1]
    return codes


WAYS = (uniform_rows, noisy_rows, skewed_rows, doubled_rows)


def table_of(
    codes: np.ndarray,
    arities: Sequence[int],
    weights: Sequence[int] | None = None,
    *,
    keep_constant: bool = False,
) -> td.Table:
    """A table with names V0, V1, ... and all states declared."""
    names = [f"V{v}" for v in range(len(arities))]
    states = [list(range(arity)) for arity in arities]
    return td.Table.from_codes(names, codes, weights=weights, states=states, keep_constant=keep_constant)


@st.composite
def tables(
    draw: st.DrawFn,
    *,
    variables: tuple[int, int] = (2, 6),
    most_states: int = 5,
    rows: Sequence[int] = (1, 2, 3, 5, 10, 40, 150),
    weights: Sequence[Sequence[int]] = ((1,), SMALL_WEIGHTS, LARGE_WEIGHTS),
    most_cells: float = math.inf,
    constants: bool = True,
    keep_constant: bool = False,
) -> td.Table:
    n = draw(st.integers(*variables))
    arities = draw(st.lists(st.integers(2, most_states), min_size=n, max_size=n))
    while math.prod(arities) > most_cells:
        arities[arities.index(max(arities))] -= 1
    n_rows = draw(st.sampled_from(rows))
    way = draw(st.sampled_from(WAYS))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    observed = [draw(st.sampled_from([arity, arity, max(1, arity - 1)])) for arity in arities]
    if constants:
        for v in range(n):
            kind = draw(st.sampled_from(["varies"] * 8 + ["constant", "one of its states"]))
            if kind != "varies":
                observed[v] = 1
            if kind == "constant":
                arities[v] = 1
    codes = way(rng, (n, n_rows), observed)
    drawn = rng.choice(draw(st.sampled_from(weights)), n_rows)
    return table_of(codes, arities, drawn, keep_constant=keep_constant)


def sampled_table(n: int, rows: int, seed: int, *, states: int | tuple[int, int] = 2) -> td.Table:
    """Rows drawn from a random network: what real tables look like, without chance in the tests."""
    return td.random_network(n, arities=states, max_parents=3, seed=seed).sample(rows, seed)


# ---- Kinds of scores


@cache
def large_regret(n: int, k: int) -> float:
    """ln C(n, k) to many digits, for totals that are too large for reference.py's fractions.

    The sum over j of (n falling j)(k-1 rising j) / (n^j j!) [Silander et al. 2018], with 40 digits.
    """
    with localcontext(prec=40):
        term = total = Decimal(1)
        for j in range(1, n + 1):
            ratio = Decimal((n - j + 1) * (k - 2 + j)) / (n * j)
            term *= ratio
            total += term
            if ratio < 1 and term < total * Decimal("1e-30"):
                break
        return float(total.ln())


def _regret(n: int, k: int) -> float:
    return reference.regret(n, k) if n <= 200 else large_regret(n, k)


def fnml(rows, weights, arities, x, parents) -> float:
    counts = reference.family_counts(rows, weights, arities, x, parents)
    penalty = sum(_regret(sum(c), arities[x]) for c in counts.values())
    return reference.log_likelihood(rows, weights, arities, x, parents) - penalty


def qnml(rows, weights, arities, x, parents) -> float:
    n, q = sum(weights), reference.parent_states(arities, parents)
    difference = _regret(n, q * arities[x]) - _regret(n, q)
    return reference.log_likelihood(rows, weights, arities, x, parents) - difference


def own_function(family: td.types.Family) -> float:
    """A score no kind has: log likelihood with a penalty on parents that depends on the names."""
    counts = family.counts.astype(float)
    totals = np.broadcast_to(counts.sum(axis=1, keepdims=True), counts.shape)
    occurs = counts > 0
    named = sum(map(len, family.parents)) + len(family.parents) * len(family.variable)
    return float((counts[occurs] * np.log(counts[occurs] / totals[occurs])).sum()) - 0.75 * named


def own_truth(rows, weights, arities, x, parents) -> float:
    # Names are V0, V1, ...: two letters each as long as there are at most ten variables.
    return reference.log_likelihood(rows, weights, arities, x, parents) - 0.75 * 4 * len(parents)


def prior_for(table: td.Table, seed: int) -> td.FittedNetwork:
    """A random network over the table's variables and states in which nothing is impossible."""
    drawn = td.random_network(table.names, arities=table.arities.tolist(), max_parents=2, concentration=2.0, seed=seed)
    mixed = {name: 0.9 * t + 0.1 / t.shape[-1] for name, t in drawn.tables.items()}
    states = dict(zip(table.names, table.states, strict=True))
    return td.FittedNetwork(drawn.network, states, mixed)


@dataclass(frozen=True)
class Case:
    """A kind of score: how to make one for a table, and its truth. Prints as its name in test reports."""

    name: str
    make: Callable[[td.Table], ScoreKind]
    truth: Callable[[td.Table, ScoreKind], Local]

    @property
    def score_equivalent(self) -> bool:
        return self.name.split("-")[0] in {"BDeu", "BIC", "AIC", "qNML", "BDe"}

    def __repr__(self) -> str:
        return self.name


def _fixed(kind: ScoreKind, formula: Callable[..., float], *settings: float) -> Case:
    name = "-".join([type(kind).__name__, *(f"{s:g}" for s in settings)])
    return Case(name, lambda _: kind, lambda t, _: reference.local_of(formula, *rows_of(t), *settings))


def _bde_truth(table: td.Table, kind: ScoreKind) -> Local:
    assert isinstance(kind, td.BDe)
    return reference.local_of(reference.bde, *rows_of(table), kind.ess, kind.prior.joint())


BDE = Case("BDe", lambda t: td.BDe(2.5, prior_for(t, len(t.names) + t.n_distinct)), _bde_truth)
CUSTOM = _fixed(td.CustomScore(own_function), own_truth)
CASES = (
    _fixed(td.BDeu(), reference.bdeu, 1.0),
    _fixed(td.BDeu(0.01), reference.bdeu, 0.01),
    _fixed(td.BDeu(10), reference.bdeu, 10.0),
    _fixed(td.BDeu(777.5), reference.bdeu, 777.5),
    _fixed(td.BIC(), reference.bic),
    _fixed(td.AIC(), reference.aic),
    _fixed(td.K2(), reference.k2),
    _fixed(td.fNML(), fnml),
    _fixed(td.qNML(), qnml),
    _fixed(td.BDs(), reference.bds, 1.0),
    _fixed(td.BDs(20.0), reference.bds, 20.0),
    CUSTOM,
)
ALL_CASES = (*CASES, BDE)


def families(n: int) -> Iterator[tuple[int, int]]:
    """Every (variable, parent mask)."""
    return ((x, mask) for x in range(n) for mask in range(2**n) if not mask >> x & 1)


# ---- Scores on the grid, as the reference sees them


def stored(scores: Scores) -> Local:
    """The stored values as a function for reference.py."""
    return cache(scores.store.value)


@st.composite
def tied_lists(draw: st.DrawFn, *, variables: tuple[int, int] = (1, 5), always_empty_set: bool = False) -> FamilyLists:
    """Families with small whole scores, so that ties abound; some allow no network at all."""
    n = draw(st.integers(*variables))
    values = st.integers(-draw(st.sampled_from([1, 3, 9])), 0).map(float)
    listed = []
    for x in range(n):
        masks = draw(st.sets(st.integers(0, 2 ** (n - 1) - 1), min_size=1, max_size=2 ** (n - 1)))
        if always_empty_set:
            masks.add(0)
        for slot in sorted(masks):
            low = (1 << x) - 1
            mask = slot & low | (slot & ~low) << 1
            listed.append((x, reference.members(mask), draw(values)))
    return FamilyLists.build([f"V{v}" for v in range(n)], listed)


def list_scores(lists: FamilyLists) -> Scores:
    return scores_from_lists(lists)
