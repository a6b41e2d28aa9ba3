"""Tables: their rows, weights, missing values and limits, and what else can be asked of them."""

import copy
import pickle
import subprocess
import sys
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from table_checks import refused

from topdag.data.table import Table
from topdag.errors import TableError

untimed = settings(deadline=None)
cells = st.one_of(st.sampled_from(["a", "b", "c"]), st.integers(0, 3), st.booleans())
row_lists = st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=30)


def counted(rows):
    """Rows with their types, so that 1 and True are two, and how often each occurs."""
    return Counter(tuple((type(cell), cell) for cell in row) for row in rows)


@untimed
@given(row_lists)
def test_rows_come_back_with_their_counts(rows):
    table = Table(rows, names=["x", "y", "z"])
    back = {tuple((type(cell), cell) for cell in row): weight for row, weight in table.rows()}
    assert back == counted(rows)
    assert table.n_rows == len(rows)


@untimed
@given(row_lists, st.randoms())
def test_order_of_rows_does_not_matter(rows, random):
    shuffled = random.sample(rows, len(rows))
    assert Table(rows) == Table(shuffled)


@untimed
@given(row_lists, st.data())
def test_weights_stand_for_repeated_rows(rows, data):
    weights = data.draw(st.lists(st.integers(1, 3), min_size=len(rows), max_size=len(rows)))
    repeated = [row for row, weight in zip(rows, weights, strict=True) for _ in range(weight)]
    assert Table(rows, weights=weights) == Table(repeated)


@untimed
@given(row_lists)
def test_distinct_rows_increase(rows):
    table = Table(rows)
    listed = [tuple(row) for row in table.codes.T.tolist()]
    assert listed == sorted(set(listed))


def test_merging_where_codes_do_not_fit_one_number():
    rng = np.random.default_rng(5)
    array = np.repeat(rng.integers(0, 1000, (40, 12)), 3, axis=0)
    table = Table(rng.permutation(array), types={"*": "categorical"})
    assert table.n_distinct == 40
    assert set(table.weights) == {3}
    assert [row for row, _ in table.rows()] == sorted(map(tuple, array[::3].tolist()))


def test_shapes_and_types():
    table = Table({"x": ["b", "a", "b"], "y": [2, 10, 2], "z": [True, False, True]})
    assert table.names == ("x", "y", "z")
    assert table.states == (("a", "b"), (2, 10), (False, True))
    assert table.codes.dtype == np.uint16
    assert table.codes.shape == (3, 2)
    assert table.codes.flags.c_contiguous
    assert table.weights.dtype == np.uint32
    assert table.weights.tolist() == [1, 2]
    assert table.arities.dtype == np.int64
    assert table.arities.tolist() == [2, 2, 2]
    assert (table.n_variables, table.n_rows, table.n_distinct) == (3, 3, 2)
    assert table.notes == ()
    assert table.constant == ()
    assert not table.keep_constant


def test_nothing_can_be_changed():
    table = Table(np.eye(3, dtype=int))
    with pytest.raises(AttributeError):
        table.names = ("a", "b", "c")
    with pytest.raises(ValueError, match="read-only"):
        table.codes[0, 0] = 1
    with pytest.raises(ValueError, match="read-only"):
        table.weights[0] = 7


def test_copies_are_equal_and_read_only():
    table = Table({"x": [1, 1], "y": ["a", "b"]}, keep_constant=True)
    for other in (Table(table), copy.deepcopy(table), pickle.loads(pickle.dumps(table))):
        assert other == table
        assert hash(other) == hash(table)
        assert other.notes == table.notes
        assert not other.codes.flags.writeable
    refused(table, "coded already", missing="drop")


def test_repr_is_short():
    assert repr(Table({"x": [1, 1, 1], "y": ["a", "b", "b"]})) == (
        "<Table: 2 variables, 3 rows (2 distinct), 1 to 2 states, 1 note>"
    )


def test_index_lists_close_names():
    table = Table({"smoke": [0, 1], "cough": [1, 0]})
    assert table.index("cough") == 1
    for kind in (KeyError, TableError):
        with pytest.raises(kind, match="no variable 'smokes'; close to it are 'smoke'"):
            table.index("smokes")


def test_from_codes():
    states = [("no", "yes", "never"), (5, 3)]
    table = Table.from_codes(["a", "b"], [[0, 1, 0], [1, 1, 1]], weights=[2, 1, 1], states=states)
    assert table.states == tuple(states)
    assert table.n_rows == 4
    assert list(table.rows()) == [(("no", 3), 3), (("yes", 3), 1)]
    assert Table.from_codes(table.names, table.codes, weights=table.weights, states=table.states) == table
    assert Table.from_codes(["a", "b"], [[0, 2], [1, 1]]).states == ((0, 2), (1,))


@pytest.mark.parametrize(
    ("codes", "states", "part"),
    [
        ([[0, 2], [0, 0]], [("n", "y"), ("u",)], "'a' has 2 in row 1"),
        ([[0, -2], [0, 0]], [("n", "y"), ("u",)], "'a' has -2 in row 1"),
        ([[0, 1], [0, 0]], [("n", "n"), ("u",)], "'a' must be different"),
        ([[0, 1], [0, 0]], [("n", "y")], "1 lists of states for 2 variables"),
        ([[0.5, 1], [0, 0]], None, "must be integers"),
        ([[0, 1]], None, "name for each of 1 column"),
        ([0, 1], None, "two dimensions"),
        ([[0, 1], [0]], None, "cannot make an array"),
    ],
)
def test_from_codes_refuses(codes, states, part):
    with pytest.raises(TableError) as caught:
        Table.from_codes(["a", "b"], codes, states=states)
    assert part in str(caught.value)


def test_missing_is_an_error_that_names_columns_and_rows():
    columns = {"x": ["a", None, "b", None], "y": [1, 2, 3, float("nan")], "z": [0, 0, 1, 1]}
    parts = "2 columns", "'x' (2 rows, the first is row 1", "'y' (1 row, the first is row 3", 'missing="drop"'
    refused(columns, *parts, missing="error")


def test_missing_rows_dropped():
    columns = {"x": ["a", None, "b", "a"], "y": [1, 2, 3, None]}
    table = Table(columns, missing="drop")
    assert table == Table({"x": ["a", "b"], "y": [1, 3]})
    assert table.notes == ("2 of 4 rows were dropped because of missing values.",)
    refused({"x": [None, 1], "y": [1, None]}, "no row is left", missing="drop")


def test_missing_as_a_state():
    columns = {"x": ["a", None, "missing", "missing_1"], "y": [1, 2, 1, None], "z": [0, 1, 1, 0]}
    table = Table(columns, missing="state")
    assert table.states == (("a", "missing", "missing_1", "missing_2"), (1, 2, "missing"), (0, 1))
    assert table.notes == ("Missing values are a state of their own in 'x', 'y'.",)
    only_missing = {"x": [None, None], "y": [0, 1], "z": [0, 1]}
    assert Table(only_missing, missing="state").names == ("y", "z")
    assert Table(only_missing, missing="state", states={"x": ["a"]}).states[0] == ("a", "missing")


def test_weights_by_name_and_by_array():
    columns = {"x": [0, 1, 0, 1], "y": [0, 1, 0, 0]}
    expected = Table(columns, weights=np.array([2, 0, 3.0, 1]))
    assert list(expected.rows()) == [((0, 0), 5), ((1, 0), 1)]
    assert expected.notes[0] == "1 of 4 rows was dropped because of weight 0."
    assert expected.constant == ("y",)
    assert Table({**columns, "n": [2, 0, 3, 1]}, weights="n") == expected


@pytest.mark.parametrize(
    ("weights", "part"),
    [
        ([1, -1, 1], "the weight in row 1 (counted from 0) is -1"),
        ([1, 1, 0.5], "row 2 (counted from 0) is 0.5"),
        ([1, np.nan, 1], "row 1 (counted from 0) is missing"),
        ([np.inf, 1, 1], "row 0 (counted from 0) is inf"),
        (["1", "1", "1"], "row 0 (counted from 0) is 1"),
        ([True, True, True], "row 0 (counted from 0) is True"),
        ([1, 1], "shape (2,)"),
        ([[1], [1, 2], [1]], "array"),
        ([2**31, 2**31, 0], "add up to 4,294,967,296"),
        ([0, 0, 0], "no row is left"),
        ("n", "'n' that is not there"),
    ],
)
def test_weights_refused(weights, part):
    refused({"x": [0, 1, 0], "y": [0, 1, 1]}, part, weights=weights)


def test_largest_weights_add_up():
    table = Table({"x": [0, 1, 0], "y": [0, 1, 0]}, weights=[2**31, 2**30, 2**30 - 1])
    assert table.n_rows == 2**32 - 2**30 - 1 + 2**30
    assert table.weights.max() == 2**31 + 2**30 - 1


def test_rows_are_named_as_the_user_counts_them_when_others_have_no_weight():
    columns = {"x": [1, 1, None], "y": [0, 0, 1]}
    refused(columns, "'x' (1 row, the first is row 2", weights=[0, 1, 1], missing="error")


def test_constant_columns_stay():
    table = Table({"x": [1, 1], "y": [0, 1], "z": ["a", "a"]})
    assert table.constant == ("x", "z")
    assert table.arities.tolist() == [1, 2, 1]
    assert table.notes == ("Columns 'x', 'z' are constant: they have one state.",)
    assert Table(table, keep_constant=True).keep_constant


def test_options_refused():
    array = np.eye(2, dtype=int)
    refused(array, "a name for each of 2 columns", names=["x"])
    refused(array, "a name for each of 2 columns", names="xy")
    refused(array, "both called 'x'", names=["x", "x"])
    refused({"x": [0], "y": [1]}, "names of its own", names=["a", "b"])
    refused(array, '"auto", "drop", "state", "keep" or "error", not \'skip\'', missing="skip")


def test_most_states_and_variables_are_allowed():
    columns = {"id": np.arange(65_535), "y": np.arange(65_535) % 2, "z": np.arange(65_535) % 3}
    table = Table(columns, types={"id": "categorical"})
    assert table.arities[0] == 65_535
    assert Table(columns).names == ("y", "z")
    assert Table(np.eye(128, dtype=int)).n_variables == 128


def test_importing_tables_is_light():
    heavy = "narwhals pandas polars pyarrow duckdb dask csv decimal"
    code = (
        "import sys, topdag.data.table, topdag.data.files.read; topdag.data.table.Table({'x': [0, 1], 'y': [1, 0]}); "
        f"print([name for name in '{heavy}'.split() if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "source",
    [
        {"a": ["x", "y", "x", "x"], "b": [1, 0, 1, 1]},
        {"a": ["x", "y"], "b": [0.5, -2.0], "c": [True, False]},
    ],
)
def test_to_frame_gives_the_rows_back(source: dict[str, list[Any]]) -> None:
    table = Table(source)
    frame = table.to_frame()
    assert list(frame.columns) == list(source)
    assert sorted(frame.itertuples(index=False, name=None)) == sorted(zip(*source.values(), strict=True))
    assert Table(frame) == table


def test_columns_that_say_the_same_are_left_out():
    """A code and what it stands for: one is learned from the other, and nothing else."""
    word = [*"bacabca"] * 3
    code = [{"a": 3, "b": 1, "c": 2}[state] for state in word]
    columns = {"word": word, "code": code, "x": [0, 1, 0, 0, 1, 1, 0] * 3}
    said = "Left out: 'code' (goes one to one with 'word'); types={'code': 'categorical'} uses one."
    assert Table(columns).notes == Table(columns).decisions == (said,) and Table(columns).names == ("word", "x")
    assert Table(columns, types={"code": "categorical"}).names == Table(columns, columns=[*columns]).names
    near = columns | {"code": [*code[:-1], 1]}
    few = {name: column[:7] for name, column in columns.items()}
    turned = {"x": columns["x"], "y": columns["x"][1:] + columns["x"][:1]}
    for others in (near, few, turned, {"y": [1] * 21, "z": ["k"] * 21}):
        assert "duplicate" not in {of.type for of in Table(others).types.values()}
    names = {name: [f"{name}{i}" for i in range(21)] for name in "yz"}
    assert [of.type for of in Table(columns | names).types.values()][3:] == ["identifier", "identifier"]
