"""Rows that hold their past: which rows, which states, and what a dynamic network may say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import topdag as td


def test_rows_and_states() -> None:
    source = {"a": [0, 1, 2, 1, 0], "b": ["x", "y", "x", "x", "y"]}
    slices = td.time_slices(source, lags=2)
    assert slices.table.names == ("a", "b", "a.lag1", "b.lag1", "a.lag2", "b.lag2")
    assert slices.table.states[::2] == ((0, 1, 2),) * 3 and slices.table.states[1::2] == (("x", "y"),) * 3
    rows = [row for row, weight in slices.table.rows() for _ in range(weight)]
    truth = [
        (source["a"][t], source["b"][t], source["a"][t - 1], source["b"][t - 1], source["a"][t - 2], source["b"][t - 2])
        for t in (2, 3, 4)
    ]
    assert sorted(rows) == sorted(truth)
    assert "3 rows of 5 have 2 rows before them." in slices.table.notes


def test_series_do_not_run_into_each_other() -> None:
    source = {"who": ["p", "p", "p", "q", "q", "r"], "a": [0, 1, 0, 1, 1, 0], "b": [1, 1, 0, 0, 1, 0]}
    table = td.time_slices(source, ["a"], series="who").table
    assert table.names == ("a", "a.lag1")
    assert sorted(row for row, weight in table.rows() for _ in range(weight)) == [(0, 1), (1, 0), (1, 1)]
    with pytest.raises(td.TableError, match="no row has 3 rows of its series before it"):
        td.time_slices(source, lags=3, series="who")


@pytest.mark.parametrize("unknown", [None, float("nan")])
def test_rows_of_no_known_series_are_refused(unknown: Any) -> None:
    rows = {"a": [0, 1, 0, 1], "b": [0, 0, 1, 1], "who": ["x", unknown, unknown, "y"]}
    with pytest.raises(td.TableError, match="series 'who' is missing in 2 rows, the first is row 1"):
        td.time_slices(rows, series="who")


def test_numbers_are_cut_alike_in_all_slices_or_stay() -> None:
    numbers = np.random.default_rng(0).normal(size=(50, 2))
    cut = td.time_slices(numbers, discretize="quantile(3)").table
    assert cut.states[0] == cut.states[2] and len(cut.states[0]) == 3
    kept = td.time_slices(numbers)
    assert kept.table.continuous == kept.table.names and kept.table.n_rows == 49
    assert td.best_network(kept.table, "gaussian-bic", constraints=kept.constraints).proved
    with pytest.raises(td.TableError, match=r"'V0' cannot be continuous: it holds 'x'"):
        td.time_slices([["x", 1], ["y", 2], ["x", 1]], types={"*": "continuous"})


def process(n_rows: int) -> dict[str, list[int]]:
    """a follows itself, b follows a with a delay, c follows b at once."""
    rng = np.random.default_rng(4)
    noise = rng.random((3, n_rows)) < 0.15
    a, b, c = (np.zeros(n_rows, int) for _ in range(3))
    for t in range(1, n_rows):
        a[t] = a[t - 1] ^ noise[0, t]
        b[t] = a[t - 1] ^ noise[1, t]
        c[t] = b[t] ^ noise[2, t]
    return {"a": a.tolist(), "b": b.tolist(), "c": c.tolist()}


def test_a_process_is_found_and_the_past_has_no_parents() -> None:
    slices = td.time_slices(process(600), lags=2)
    answer = td.best_network(slices.table, "bic", constraints=slices.constraints)
    assert answer.proved and answer.network is not None
    assert {("a.lag1", "a"), ("a.lag1", "b")} <= set(answer.edges)
    assert ("b", "c") in answer.edges or ("c", "b") in answer.edges
    assert all(not answer.network.parents[name] for name in slices.table.names if ".lag" in name)
    before = td.time_slices(process(600), within=False)
    only = td.best_network(before.table, "bic", constraints=before.constraints)
    assert all(parent.endswith(".lag1") and not child.endswith(".lag1") for parent, child in only.edges)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"lags": 0}, "lags must be a whole number from 1"),
        ({"series": "who"}, "series= names a column 'who'"),
        ({"variables": ["z"]}, "variables names a column 'z'"),
        ({"variables": "a"}, r"list of names, such as \['a'\]"),
        ({"variables": []}, "no variable is left"),
        ({"missing": "guess"}, "missing"),
    ],
)
def test_mistakes(given: dict[str, Any], said: str) -> None:
    with pytest.raises(td.TableError, match=said):
        td.time_slices({"a": [0, 1, 0], "b": [1, 1, 0]}, **given)


def test_a_table_has_no_order() -> None:
    with pytest.raises(td.TableError, match="knows no order"):
        td.time_slices(td.example_table())


def test_gaps_are_kept_or_dropped() -> None:
    source = {"a": [0, None, 1, 1, 0, 1], "b": [1, 0, 1, 0, 0, 1]}
    assert td.time_slices(source, missing="drop").table.n_rows == 3
    assert td.time_slices(source, missing="keep").table.missing == {"a": 1, "a.lag1": 1}
