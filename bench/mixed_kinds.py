"""The scores that are compared on tables with categories and numbers, and the best network by each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from bench.set_scores import (
    Columns,
    as_it_is,
    blocks_of,
    by_rank,
    degenerate,
    degenerate_corrected,
    normal_scores,
    rank_bic,
    scores_of,
)


def table_of(columns: Columns, states: Sequence[int]) -> Any:
    """A topdag.Table of codes and numbers; numbers are brought to mean 0 and variance 1."""
    import topdag as td

    codes = np.array([c if many else np.zeros(len(c), dtype=int) for c, many in zip(columns, states, strict=True)])
    numbers = [(c - c.mean()) / (c.std() or 1) for c, many in zip(columns, states, strict=True) if not many]
    names = [f"v{i}" for i in range(len(states))]
    labels = [[str(state) for state in range(many)] for many in states]
    return td.Table.from_codes(names, codes, states=labels, numbers=np.array(numbers), keep_constant=True)


def cut(columns: Columns, states: Sequence[int], pieces: int = 3) -> tuple[list[np.ndarray], list[int]]:
    """Numbers as categories of about as many rows each."""
    made, many = list(columns), list(states)
    for i, column in enumerate(columns):
        if not states[i]:
            cuts = np.unique(np.quantile(column, np.arange(1, pieces) / pieces))
            made[i] = np.unique(np.searchsorted(cuts, column), return_inverse=True)[1]
            many[i] = int(made[i].max()) + 1
    return made, many


def by_rank_bic(columns: Columns, states: Sequence[int], most: int | None) -> Any:
    return scores_of(rank_bic(columns, states, _size(most)))


def by_corrected(columns: Columns, states: Sequence[int], most: int | None) -> Any:
    return scores_of(degenerate_corrected(columns, states, _size(most)))


def by_degenerate(number: Callable[[Any], Any], columns: Columns, states: Sequence[int], most: int | None) -> Any:
    return scores_of(degenerate(blocks_of(columns, states, number), _size(most)))


def by_codes(columns: Columns, states: Sequence[int], most: int | None) -> Any:
    """Codes of states taken for numbers."""
    return by_degenerate(as_it_is, columns, [0] * len(states), most)


def by_topdag(kind: str, numbers: str, columns: Columns, states: Sequence[int], most: int | None) -> Any:
    import topdag as td

    columns = list(columns)
    if numbers == "cut":
        columns, states = cut(columns, states)
    if numbers == "ranks":
        columns = [c if many else normal_scores(c) for c, many in zip(columns, states, strict=True)]
    return td.score(table_of(columns, states), getattr(td, kind)(), max_parents=most, threads=1, keep="all")


def _size(most: int | None) -> int | None:
    return None if most is None else most + 1


MIXED: dict[str, Callable[..., Any]] = {
    "RankBIC": by_rank_bic,
    "DG2c": by_corrected,
    "DG, normal scores": partial(by_degenerate, by_rank),
    "DG, as published": partial(by_degenerate, as_it_is),
    "MixedBIC": partial(by_topdag, "MixedBIC", "raw"),
    "three quantiles, BIC": partial(by_topdag, "BIC", "cut"),
    "codes as numbers": by_codes,
}
NUMBERS: dict[str, Callable[..., Any]] = {
    "RankBIC": by_rank_bic,
    "GaussianBIC": partial(by_topdag, "GaussianBIC", "raw"),
    "GaussianBIC, normal scores": partial(by_topdag, "GaussianBIC", "ranks"),
    "three quantiles, BIC": partial(by_topdag, "BIC", "cut"),
}


def best_by(score: Callable[..., Any], columns: Columns, states: Sequence[int], most: int | None = None) -> Any:
    """The network that is proved best."""
    import topdag as td

    answer = td.best_network(score(columns, states, most), threads=1)
    assert answer.proof.gap == 0
    return answer.network
