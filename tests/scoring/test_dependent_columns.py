"""Columns that nearly follow from others: refused or not by what they are, not by where they stand."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest

import topdag as td

ROWS = 30
NOISES = (0.0, 1e-16, 1e-15, 4e-15, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-6)


def nearly_dependent(seed: int) -> dict[str, np.ndarray]:
    """One column follows from one or two others up to some noise; scales and offsets differ, so do digits."""
    rng = np.random.default_rng(seed)
    a, b, c = rng.normal(size=(3, ROWS))
    noise = NOISES[seed % len(NOISES)] * rng.normal(size=ROWS)
    follows = (a if seed % 2 else a + 0.5 * b) * 10.0 ** rng.integers(-3, 4) + noise
    return {"a": a + 10.0 ** rng.integers(-1, 5), "b": b, "c": c, "d": follows + rng.integers(0, 2) * 1000.0}


def is_refused(columns: dict[str, Any], kind: Any, **options: Any) -> bool:
    try:
        types = {name: "continuous" for name, column in columns.items() if isinstance(column, np.ndarray)}
        scores = td.score(td.Table(columns, types=types), kind, **options)  # none is left out, as a duplicate
    except td.ScoreError:
        return True
    td.best_network(scores)
    td.k_best_networks(scores, 600)[-1]
    return False


@pytest.mark.parametrize("kind", [td.GaussianBIC(), td.GaussianAIC(), td.BGe(), td.MixedBIC()], ids=repr)
@pytest.mark.parametrize("limit", [None, 1, 2])
def test_refusals_do_not_depend_on_the_order_of_columns(kind: Any, limit: int | None) -> None:
    outcomes = set()
    for seed in range(3 * len(NOISES)):
        columns = nearly_dependent(seed)
        found = {
            is_refused({name: columns[name] for name in order}, kind, max_parents=limit)
            for order in list(permutations(columns))[:: 1 + seed % 5 + 5]
        }
        assert len(found) == 1, seed
        outcomes |= found
    assert outcomes == {True, False} or isinstance(kind, td.BGe)


@pytest.mark.parametrize("seed", range(3 * len(NOISES)))
def test_mixed_tables_that_are_scored_can_be_reported(seed: int) -> None:
    """Also where columns depend on each other in some states only: such families are left out."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 2, ROWS)
    columns = nearly_dependent(seed)
    columns["d"] = np.where(group == 1, columns["d"], rng.normal(size=ROWS))
    mixed: dict[str, Any] = {**columns, "g": [str(v) for v in group]}
    for order in list(permutations(mixed))[:: 1 + 7 * (1 + seed % 3)]:
        assert not is_refused({name: mixed[name] for name in order}, td.MixedBIC(), max_parents=2)
