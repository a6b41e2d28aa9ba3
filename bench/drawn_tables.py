"""Tables of categories and numbers drawn from random networks of eight kinds, for the comparisons of scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

KINDS = (
    "conditional Gaussian",
    "latent, cut",
    "logistic",
    "other noise",
    "nonlinear",
    "distorted",
    "counts",
    "noise",
)
"""Without categories "logistic" is linear with normal noise, and the first two are the same but for their effects."""

PARENTS = (0.22, 0.38, 0.28, 0.12)
"""Chances of no, one, two and three parents."""


@dataclass(frozen=True)
class Drawn:
    """A table and its network: ``states`` is 0 for numbers; ``edges[p, c]`` says that p is a parent of c."""

    columns: list[np.ndarray]
    states: list[int]
    edges: np.ndarray


@dataclass
class _Draw:
    """What is known while columns are drawn one by one; ``seen`` is what children see of a column."""

    kind: str
    states: list[int]
    network: np.random.Generator
    rows: np.random.Generator
    n_rows: int
    least: float
    values: dict[int, np.ndarray]
    seen: dict[int, np.ndarray]


def draw(
    kind: str,
    n_categories: int,
    n_numbers: int,
    n_rows: int,
    seed: int,
    *,
    least: float = 0.5,
    chances: Sequence[float] | None = PARENTS,
) -> Drawn:
    """A table of this kind. The network depends on the seed alone; effects are ``least`` to 1 in size.

    ``chances`` of no, one, two, ... parents. With None all directed acyclic graphs are equally likely; for few columns.
    """
    n = n_categories + n_numbers
    network = np.random.default_rng([KINDS.index(kind) if kind in KINDS else 99, n_categories, n_numbers, seed])
    is_category = network.permutation(n) < n_categories
    states = [int(network.integers(2, 5)) if one else 0 for one in is_category]
    first = is_category if kind == "conditional Gaussian" else np.zeros(n, dtype=bool)
    edges, order = random_dag(network, first, chances) if chances else uniform_dag(network, first)
    if kind == "noise":
        edges[:] = False
    rows = np.random.default_rng([seed, n_rows, n])
    state = _Draw(kind, states, network, rows, n_rows, least, {}, {})
    for x in order:
        _add(state, int(x), np.flatnonzero(edges[:, x]))
    return Drawn([state.values[x] for x in range(n)], states, edges)


def random_dag(
    rng: np.random.Generator, first: np.ndarray, chances: Sequence[float] = PARENTS
) -> tuple[np.ndarray, np.ndarray]:
    """A network with these chances of no, one, two, ... parents, and an order of it.

    The ``first`` columns have parents among themselves only.
    """
    n = len(first)
    order = rng.permutation(n)
    order = np.concatenate([order[first[order]], order[~first[order]]])
    edges = np.zeros((n, n), dtype=bool)
    for place in range(1, n):
        many = min(place, rng.choice(len(chances), p=chances))
        edges[rng.choice(order[:place], many, replace=False), order[place]] = True
    return edges, order


def uniform_dag(rng: np.random.Generator, first: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Every directed acyclic graph with the same probability, if no other column is a parent of a ``first`` one."""
    n = len(first)
    while True:
        edges = rng.integers(0, 3, (n, n))  # each pair: none, forward, backward
        edges = np.triu(edges == 1, 1) | np.triu(edges == 2, 1).T
        if (edges & ~first[:, None] & first[None, :]).any():
            continue
        order: list[int] = []
        while True:
            ready = [x for x in range(n) if x not in order and not np.delete(edges[:, x], order).any()]
            if not ready:
                break
            order.append(ready[0])
        if len(order) == n:
            return edges, np.array(order)


def _add(draw: _Draw, x: int, parents: np.ndarray) -> None:
    if draw.kind == "noise":
        draw.values[x] = _noise(draw, draw.states[x])
        return
    how = {"conditional Gaussian": _by_cell, "latent, cut": _by_latent, "categories": _by_cell}.get(draw.kind, _by_sums)
    how(draw, x, parents)


def _effect(draw: _Draw) -> float:
    return float(draw.network.uniform(draw.least, 1.0) * draw.network.choice([-1, 1]))


def _by_cell(draw: _Draw, x: int, parents: np.ndarray) -> None:
    """A distribution for each combination of the parents' states; numbers have regressions in each."""
    cell, cells = np.zeros(draw.n_rows, dtype=int), 1
    for p in parents:
        if draw.states[p]:
            cell, cells = cell * draw.states[p] + draw.values[p], cells * draw.states[p]
    if draw.states[x]:
        chances = 0.85 * draw.network.dirichlet(np.ones(draw.states[x]), cells) + 0.15 / draw.states[x]
        draw.values[x] = _drawn_from(draw, chances[cell])
        return
    value = draw.network.normal(0, 0.9, cells)[cell]
    value = value + draw.network.uniform(0.7, 1.4, cells)[cell] * draw.rows.normal(size=draw.n_rows)
    for p in parents:
        if not draw.states[p]:
            slopes = _effect(draw) * draw.network.uniform(0.6, 1.4, cells)
            value = value + slopes[cell] * draw.seen[p]
    draw.values[x], draw.seen[x] = value, _standard(value)


def _by_latent(draw: _Draw, x: int, parents: np.ndarray) -> None:
    """Linear and normal; categories are cut of their number, which children see whole."""
    value = sum((_effect(draw) * draw.seen[p] for p in parents), draw.rows.normal(size=draw.n_rows))
    draw.values[x] = draw.seen[x] = _standard(value)
    if draw.states[x]:
        shares = 0.1 + (1 - 0.1 * draw.states[x]) * draw.network.dirichlet(np.full(draw.states[x], 3.0))
        cuts = np.quantile(value, np.cumsum(shares)[:-1])
        draw.values[x] = np.searchsorted(cuts, value)


def _by_sums(draw: _Draw, x: int, parents: np.ndarray) -> None:
    """Effects of parents add up; categories are drawn by multinomial logits, numbers have noise added."""
    many = draw.states[x]
    sums = np.zeros((draw.n_rows, max(1, many - 1)))
    for p in parents:
        for j in range(sums.shape[1]):
            sums[:, j] += (1.7 if many else 1.0) * _signal(draw, p)
    if many:
        logits = np.column_stack([np.zeros(draw.n_rows), sums + draw.network.normal(0, 0.4, many - 1)])
        weights = np.exp(logits - logits.max(axis=1, keepdims=True))
        draw.values[x] = _drawn_from(draw, weights / weights.sum(axis=1, keepdims=True))
    elif draw.kind == "counts":
        counts = draw.rows.poisson(np.exp(np.clip(0.9 + 0.7 * sums[:, 0], -3, 6)))
        draw.values[x], draw.seen[x] = counts.astype(float), _standard(np.log1p(counts))
    else:
        value = sums[:, 0] + _residual(draw)
        draw.seen[x] = _standard(value)
        draw.values[x] = _distorted(draw, draw.seen[x]) if draw.kind == "distorted" else value


def _signal(draw: _Draw, p: int) -> np.ndarray:
    """What a parent adds, of variance about 1 before its effect."""
    if draw.states[p]:
        levels = draw.network.normal(size=draw.states[p])
        return abs(_effect(draw)) * ((levels - levels.mean()) / levels.std())[draw.values[p]]
    shape = int(draw.network.integers(5))
    seen = draw.seen[p]
    if draw.kind == "nonlinear":
        curves = (seen, (seen**2 - 1) / 1.4, 1.6 * (np.abs(seen) - 0.8), 1.4 * np.sin(2 * seen), np.sign(seen - 0.4))
        seen = curves[shape]
    return _effect(draw) * seen


def _residual(draw: _Draw) -> np.ndarray:
    shape, n = int(draw.network.integers(4)), draw.n_rows
    if draw.kind != "other noise":
        return draw.rows.normal(size=n)
    return (
        lambda: draw.rows.standard_t(3, n) / np.sqrt(3),
        lambda: draw.rows.exponential(size=n) - 1,
        lambda: draw.rows.uniform(-np.sqrt(3), np.sqrt(3), n),
        lambda: draw.rows.laplace(size=n) / np.sqrt(2),
    )[shape]()


def _distorted(draw: _Draw, value: np.ndarray) -> np.ndarray:
    curves = (np.exp(1.3 * value), value**3, np.sinh(2 * value), -np.exp(-value), value)
    return curves[int(draw.network.integers(5))]


def _noise(draw: _Draw, many: int) -> np.ndarray:
    """Of nothing else: rare states, heavy tails, many zeros."""
    n, shape = draw.n_rows, int(draw.network.integers(5))
    if many:
        chances = np.maximum(draw.network.dirichlet(np.full(many, 0.5)), 0.01)
        return draw.rows.choice(many, n, p=chances / chances.sum())
    return (
        lambda: draw.rows.standard_t(2, n),
        lambda: np.exp(1.5 * draw.rows.normal(size=n)),
        lambda: draw.rows.standard_cauchy(n),
        lambda: draw.rows.poisson(0.4, n).astype(float),
        lambda: draw.rows.normal(size=n),
    )[shape]()


def _drawn_from(draw: _Draw, chances: np.ndarray) -> np.ndarray:
    return (draw.rows.random(draw.n_rows)[:, None] > np.cumsum(chances, axis=1)[:, :-1]).sum(axis=1)


def _standard(value: np.ndarray) -> np.ndarray:
    return (value - value.mean()) / (value.std() or 1.0)
