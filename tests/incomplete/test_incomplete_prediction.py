"""Probabilities from incomplete tables, and of incomplete rows: sums over all ways to complete them."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from table_checks import Incomplete

import topdag as td
from topdag.errors import TableError

NETWORK = td.Network(list("abcd"), {"b": ["a"], "d": ["a", "c"]})
OTHER = td.Network(list("abcd"), {"a": ["d", "b"], "c": ["b"]})


def completions(drawn: Incomplete, row: tuple[Any, ...]) -> list[tuple[int, ...]]:
    cells = (range(arity) if cell is None else [cell] for cell, arity in zip(row, drawn.arities, strict=True))
    return list(itertools.product(*cells))


def named(drawn: Incomplete, rows: Any) -> list[dict[str, Any]]:
    return [dict(zip(drawn.names, row, strict=True)) for row in rows]


@pytest.mark.parametrize("seed", range(6))
def test_frequencies_are_of_the_rows_in_which_a_family_is_known(seed: int) -> None:
    drawn = Incomplete(seed)
    fitted = NETWORK.fit(drawn.table, ess=0)
    pairs = list(zip(drawn.rows, drawn.weights, strict=True))
    for j, k in itertools.product(range(drawn.arities[0]), range(drawn.arities[1])):
        given = sum(w for row, w in pairs if row[0] == j and row[1] is not None)
        both = sum(w for row, w in pairs if row[0] == j and row[1] == k)
        expected = both / given if given else 1 / drawn.arities[1]
        assert fitted.tables["b"][j, k] == pytest.approx(expected)
    assert any("Cells are missing" in note for note in fitted.notes)


@pytest.mark.parametrize("seed", range(6))
def test_likelihoods_of_incomplete_rows_sum_over_their_completions(seed: int) -> None:
    drawn = Incomplete(seed, n_rows=12)
    fitted = NETWORK.fit(drawn.table)
    logs = []
    for row in drawn.rows:
        whole = [fitted.log_probability(own) for own in named(drawn, completions(drawn, row))]
        logs.append(math.log(math.fsum(map(math.exp, whole))))
        assert fitted.log_probability(named(drawn, [row])[0]) == pytest.approx(logs[-1])
    assert fitted.log_likelihood(named(drawn, drawn.rows)) == pytest.approx(sum(logs))
    weighted = float(np.dot(logs, drawn.weights))
    assert fitted.log_likelihood(drawn.table) == pytest.approx(weighted)


@pytest.mark.parametrize("seed", range(6))
def test_densities_of_incomplete_rows_sum_over_their_completions(seed: int) -> None:
    drawn, table = Incomplete(seed, n_rows=12), Incomplete(seed).table
    assert table.arities.tolist() == drawn.arities
    for averaged in (NETWORK, [NETWORK, OTHER]):
        density = td.features.predictive_log_density(averaged, table, named(drawn, drawn.rows), ess=2.0)
        for row, found in zip(drawn.rows, density, strict=True):
            every = named(drawn, completions(drawn, row))
            whole = td.features.predictive_log_density(averaged, table, every, ess=2.0)
            assert found == pytest.approx(math.log(np.exp(whole).sum()))


@pytest.mark.parametrize("seed", range(3))
def test_densities_after_an_incomplete_table_are_those_of_the_fitted_network(seed: int) -> None:
    drawn = Incomplete(seed)
    fitted = NETWORK.fit(drawn.table, ess=1.5)
    every = named(drawn, completions(drawn, (None,) * 4))
    density = td.features.predictive_log_density(NETWORK, drawn.table, every, ess=1.5)
    assert density.tolist() == pytest.approx([fitted.log_probability(row) for row in every])
    assert np.exp(density).sum() == pytest.approx(1.0)


def test_regressions_need_every_cell() -> None:
    rows = {"x": [0.5, 1.5, 2.5, 0.1], "y": [1.0, 2.5, 3.0, 0.3], "s": ["a", "b", "a", "b"]}
    fitted = td.Network(("x", "y", "s"), {"y": ["x", "s"]}).fit(rows, ess=1)
    with pytest.raises(TableError, match="needs the states of all parents"):
        fitted.log_likelihood({"x": [0.5], "y": [1.0], "s": [None]})


@pytest.mark.parametrize("seed", range(3))
def test_the_estimator_sums_out_missing_cells(seed: int) -> None:
    """And a state that was not there in ``fit`` counts as one without rows, beside gaps too."""
    drawn = Incomplete(1 + 6 * seed)
    columns = {name: [row[v] for row in drawn.rows] for v, name in enumerate(drawn.names)}
    frame = pd.DataFrame(columns).astype("Int64")
    learner = td.estimators.StructureLearner("nal", missing="keep", max_parents=2).fit(frame)
    assert learner.table_.incomplete
    fitted = learner.network_.fit(learner.table_)
    logs = [fitted.log_probability(row) for row in named(drawn, drawn.rows)]
    assert learner.score(frame) == pytest.approx(np.mean(logs))

    new = pd.DataFrame({name: [9 if name == "b" else None] for name in drawn.names}).astype("Int64")
    every = pd.DataFrame([{**row, "b": 9} for row in named(drawn, completions(drawn, (None, 0, None, None)))])
    each = [learner.score(every.iloc[[i]].astype("Int64")) for i in range(len(every))]
    assert learner.score(new) == pytest.approx(math.log(np.exp(each).sum()))
