"""Columns from arrays, dicts and rows: what cells mean, which states they have, and every refusal."""

from decimal import Decimal

import numpy as np
import pytest
from table_checks import refused

from topdag.data.table import Table


def test_sources_agree():
    array = np.array([[0, 1], [1, 1], [0, 0]])
    expected = Table(array, names=["x", "y"])
    assert expected == Table({"x": array[:, 0], "y": array[:, 1].tolist()})
    assert expected == Table([{"x": 0, "y": 1}, {"y": 1, "x": 1}, {"x": 0, "y": 0}])
    assert expected == Table(array.tolist(), names=["x", "y"])
    assert expected == Table(array.astype(object), names=["x", "y"])
    assert expected == Table(array.astype(np.uint64), names=["x", "y"])
    assert expected == Table.from_codes(["x", "y"], array.T)
    assert Table(array).names == ("V0", "V1")


def test_array_kinds():
    assert Table(np.array([["b", "a"], ["c", "a"]])).states == (("b", "c"), ("a",))
    assert Table(np.array([[True, False], [False, False]])).states == ((False, True), (False,))
    assert Table(np.array([[-5, 2**63 - 1], [-(2**63), 0]])).states == ((-(2**63), -5), (0, 2**63 - 1))
    masked = np.ma.array([[1, 2], [3, 4]], mask=[[False, True], [False, False]])
    refused(masked, "'V1' (1 row, the first is row 0", missing="error")
    days = np.array(["2020-01-01", "2020-01-02", "2020-01-05", "NaT"], "M8[D]")
    dated = Table({"when": days, "y": [1, 1, 0, 1], "z": [0, 1, 1, 1]})
    assert dated.types["when"].type == "date" and dated.n_rows == 4
    refused(np.arange(3), "two dimensions")


@pytest.mark.parametrize("gap", [None, float("nan"), np.float32("nan"), Decimal("NaN")])
def test_what_is_missing(gap):
    assert Table({"x": ["a", gap, "b"], "y": [0, 1, 1]}, missing="state").states[0] == ("a", "b", "missing")


def test_decimals_and_whole_numbers_among_floats_are_numbers():
    columns = {"x": [Decimal("0.5"), 1, 2.5], "y": [0, 1, 1]}
    assert Table(columns).numbers.tolist() == [[0.5, 1.0, 2.5]]
    assert Table(columns, discretize="mean").states[0] == ("<= 1.33333", "> 1.33333")


def test_states_of_mixed_types_are_sorted_by_type_then_value():
    table = Table({"x": ["b", 1, True, "a", 0], "y": [0, 1, 0, 1, 0]})
    assert list(map(repr, table.states[0])) == ["True", "0", "1", "'a'", "'b'"]


def test_declared_states():
    table = Table({"x": ["b", "a", "b"], "y": [0, 1, 1]}, states={"x": ["c", "b", "a"], "y": range(3)})
    assert table.states == (("c", "b", "a"), (0, 1, 2))
    assert table.codes.tolist() == [[1, 1, 2], [0, 1, 1]]
    doses = Table({"dose": [0.5, 2.0], "y": [0, 1]}, states={"dose": [0.5, 1.0, 2.0]})
    assert doses.arities.tolist() == [3, 2]
    with_missing = Table({"x": ["a", None], "y": [0, 1]}, states={"x": ["a", "b"]}, missing="state")
    assert with_missing.states[0] == ("a", "b", "missing")


@pytest.mark.parametrize(
    ("states", "part"),
    [
        ({"x": ["a"]}, "'x' has 'b' in row 1 (counted from 0), which is not one of its declared states: 'a'"),
        ({"x": ["a", "a"]}, "different ones"),
        ({"x": []}, "different ones"),
        ({"x": "ab"}, "not a list"),
        ({"x": 3}, "not a list"),
        ({"x": [["a"], ["b"]]}, "cannot be lists"),
        ({"xx": ["a"]}, "'xx' that is not there; close to it are 'x'"),
        (["a", "b"], "is a dict"),
    ],
)
def test_declared_states_refused(states, part):
    refused({"x": ["a", "b"], "y": [0, 1]}, part, states=states)


@pytest.mark.parametrize(
    ("source", "part"),
    [
        ({"x": [0, 1]}, "two or more variables; this one has 'x'"),
        ({}, "two or more variables; this one has none"),
        ({"x": [], "y": []}, "no rows"),
        ([], "no rows"),
        ({"x": [0], " ": [1]}, "column 1 (counted from 0) has no name"),
        ({"1": [0], 1: [1]}, "columns 0 and 1 (counted from 0) are both called '1'"),
        ({"x": [0, 1], "y": [0]}, "'y' has 1 row, but 'x' has 2"),
        ({"x": "ab", "y": [0, 1]}, "column 'x' must be a list"),
        ([[0, 1], [0]], "row 1 (counted from 0) has 1 cells, the first one 2"),
        ([[0, 1], 5], "row 1 (counted from 0) is not a list"),
        ([{"x": 0, "y": 1}, {"z": 1}], "row 1 (counted from 0) is not a dict with the keys"),
        (np.zeros((2, 2049), int), "2,049 variables are too many: at most 2,048"),
        ("table.csv", "read_table"),
        (object(), "cannot be made of this object"),
        (None, "cannot be made of this NoneType"),
    ],
)
def test_sources_refused(source, part):
    refused(source, part)


def test_too_many_states_refused():
    columns = {"id": [f"p{i}" for i in range(65_536)], "y": np.arange(65_536) % 2}
    refused(columns, "'id' has 65,536 states, more than 65,535", columns=["id", "y"])


def test_states_that_differ_in_capitals_are_mentioned():
    table = Table({"sex": ["M", "m", "f", "f"], "ill": ["yes", "no", "yes", "no"]})
    assert table.notes == ("Column 'sex' has the states 'M' and 'm': capitals count, so these are two.",)
    assert table.states[0] == ("M", "f", "m")
