"""Tables from frames: every library gives the same table, and lazy ones are counted by their own engine."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from table_checks import numbers_of_all_kinds, refused

from topdag.data.discretize import Quantile, Uniform
from topdag.data.table import Table

pandas = pytest.importorskip("pandas")

EAGER = ("pandas", "polars", "pyarrow")
LAZY = ("polars-lazy", "duckdb", "dask")
RNG = np.random.default_rng(3)
COLUMNS = {
    "word": RNG.choice(["a", "b", "c"], 60).tolist(),
    "count": RNG.integers(-2, 3, 60).tolist(),
    "flag": (RNG.random(60) < 0.5).tolist(),
    "size": RNG.normal(size=60).round(1).tolist(),
    "weight": RNG.integers(0, 4, 60).tolist(),
}
DISCRETE = {name: COLUMNS[name] for name in ("word", "count", "flag")}


def frame_of(columns, library, partitions=2):
    """The columns as a frame of a library, which must be installed."""
    if library == "pandas":
        return pandas.DataFrame(columns)
    if library.startswith("polars"):
        frame = pytest.importorskip("polars").DataFrame(columns, strict=False)
        return frame.lazy() if library == "polars-lazy" else frame
    if library == "pyarrow":
        return pytest.importorskip("pyarrow").table(columns)
    if library == "duckdb":
        duckdb = pytest.importorskip("duckdb")
        return duckdb.connect().from_arrow(frame_of(columns, "pyarrow"))
    dask = pytest.importorskip("dask.dataframe")
    return dask.from_pandas(pandas.DataFrame(columns), npartitions=partitions)


@pytest.mark.parametrize("library", EAGER + LAZY)
@pytest.mark.parametrize("missing", ["error", "drop"])
def test_a_rule_for_all_columns_cuts_the_same_ones(library, missing):
    columns = numbers_of_all_kinds()
    if missing == "drop":  # without the row of the gap a value is gone; some libraries make floats of the others
        columns["above_it"] = [None if value == 20 else float(value) for value in columns["above_it"]]
    expected = Table(columns, discretize="mean", missing=missing)
    table = Table(frame_of(columns, library), discretize="mean", missing=missing)
    assert table == expected
    assert set(table.notes) == set(expected.notes)


@pytest.mark.parametrize("library", EAGER + LAZY)
def test_discrete_columns(library):
    table = Table(frame_of(DISCRETE, library))
    assert table == Table(DISCRETE)
    assert [type(states[0]) for states in table.states] == [str, int, bool]


rows_with_gaps = st.lists(
    st.tuples(st.sampled_from(["a", "b", None]), st.integers(0, 2), st.booleans()), min_size=1, max_size=8
)


@settings(deadline=None, max_examples=40)
@given(rows_with_gaps, st.sampled_from(EAGER + LAZY))
def test_any_rows_with_gaps_as_states(rows, library):
    columns = {name: [row[j] for row in rows] for j, name in enumerate(["word", "count", "flag"])}
    if all(word is None for word in columns["word"]):
        columns["word"][0] = "a"  # a column without any value is left out
    assert Table(frame_of(columns, library), missing="state") == Table(columns, missing="state")


@pytest.mark.parametrize("library", EAGER + LAZY)
@pytest.mark.parametrize(
    "rule", ["mean", Uniform(3), [-0.5, 0.5], {"size": "mean", "count": [0], "weight": Uniform(2)}]
)
def test_cuts(library, rule):
    expected = Table(COLUMNS, discretize=rule)
    table = Table(frame_of(COLUMNS, library), discretize=rule)
    assert table == expected
    assert table.notes == expected.notes


SAID = [
    {"discretize": "mean"},
    {"discretize": {"size": [0.0], "count": [0, 1]}, "weights": "weight"},
    {"discretize": {"size": "uniform(3)", "weight": None}, "missing": "drop", "keep_constant": True},
    {"leave_out": ["size"], "weights": "weight", "missing": "state"},
    {"columns": ["word", "flag"], "states": {"word": ["a", "b", "c", "d"]}},
]


@pytest.mark.parametrize("library", ["polars-lazy", "duckdb"])
@pytest.mark.parametrize("said", SAID)
def test_what_was_said_is_remembered_for_lazy_frames_too(library, said):
    """Whoever reads rows again, for an answer that was saved, reads them so."""
    assert Table(frame_of(COLUMNS, library), **said).reading == Table(frame_of(COLUMNS, "pyarrow"), **said).reading


@pytest.mark.parametrize("library", [*EAGER, "polars-lazy", "duckdb"])
@pytest.mark.parametrize("rule", ["median", Quantile(3)])
def test_quantiles(library, rule):
    assert Table(frame_of(COLUMNS, library), discretize=rule) == Table(COLUMNS, discretize=rule)


def test_quantiles_that_an_engine_does_not_know():
    refused(frame_of(COLUMNS, "dask", partitions=3), "give cut points", discretize="median")
    whole = frame_of(COLUMNS, "dask", partitions=1)
    assert Table(whole, discretize="median") == Table(COLUMNS, discretize="median")


@pytest.mark.parametrize("library", EAGER + LAZY)
def test_weights(library):
    expected = Table(COLUMNS, discretize="mean", weights="weight")
    table = Table(frame_of(COLUMNS, library), discretize="mean", weights="weight")
    assert table == expected
    assert table.notes == expected.notes
    assert "because of weight 0" in table.notes[0]


@pytest.mark.parametrize("library", LAZY)
def test_lazy_weights_refused(library):
    frame = frame_of(COLUMNS, library)
    refused(frame, "needs cut points", discretize="median", weights="weight")
    refused(frame, "must be the name of a column", discretize="mean", weights=[1] * 60)
    refused(frame, "'wait' that is not there", discretize="mean", weights="wait")
    for wrong in (-1, 0.5, None):
        columns = {**DISCRETE, "n": [wrong, *[1.0] * 59]}
        refused(frame_of(columns, library), "1 weight in column 'n': missing, negative", weights="n")
    refused(frame_of({**DISCRETE, "n": [0] * 60}, library), "no row is left", weights="n")
    refused(frame, "'word' are no numbers", discretize="mean", weights="word")


GAPS = {"word": ["a", None, "b", "b"], "size": [0.5, 1.5, None, 4.0], "flag": [True, False, True, True]}


@pytest.mark.parametrize("library", EAGER)
def test_missing_is_an_error_that_names_rows(library):
    refused(
        frame_of(GAPS, library),
        "'word' (1 row, the first is row 1 (counted from 0))",
        "'size' (1 row, the first is row 2",
        discretize="mean",
        missing="error",
    )


@pytest.mark.parametrize("library", LAZY)
def test_missing_is_an_error_that_counts_rows(library):
    message = "missing values in 2 columns: 'word' (1 row), 'size' (1 row)"
    refused(frame_of(GAPS, library), message, discretize="mean", missing="error")


@pytest.mark.parametrize("library", EAGER + LAZY)
@pytest.mark.parametrize("missing", ["drop", "state"])
@pytest.mark.parametrize("rule", ["mean", [1.0], Uniform(2)])
def test_missing_dropped_or_a_state(library, missing, rule):
    expected = Table(GAPS, discretize=rule, missing=missing)
    table = Table(frame_of(GAPS, library), discretize=rule, missing=missing)
    assert table == expected
    assert set(table.notes) == set(expected.notes)


@pytest.mark.parametrize("library", EAGER + LAZY)
def test_nan_is_missing(library):
    frame = frame_of({"size": [0.5, float("nan"), 2.0], "flag": [True, False, False]}, library)
    refused(frame, "'size' (1 row", discretize="mean", missing="error")
    assert Table(frame, discretize="mean", missing="state").states[0] == ("<= 1.25", "> 1.25", "missing")


@pytest.mark.parametrize("library", EAGER + LAZY)
def test_infinite_is_refused(library):
    place = "row 1 (counted from 0)" if library in EAGER else "1 row;"
    frame = frame_of({"size": [0.5, float("-inf"), 2.0], "flag": [True, False, False]}, library)
    refused(frame, f"column 'size' is infinite in {place}", discretize="mean")


@pytest.mark.parametrize("library", EAGER + LAZY)
def test_floats_stay_numbers_without_a_rule(library):
    table = Table(frame_of(COLUMNS, library))
    assert table == Table(COLUMNS) and table.types == Table(COLUMNS).types
    assert table.continuous == ("size",) and table.ordered == ("count",)
    refused(
        frame_of(COLUMNS, library), "'word', which does not hold numbers", discretize={"word": "mean", "size": "mean"}
    )


@pytest.mark.parametrize("library", EAGER + LAZY)
def test_declared_states(library):
    states = {"word": ["c", "b", "a", "d"], "size": [0.5, 1.0, 2.0]}
    columns = {"word": ["a", "b", "c"], "size": [1.0, 2.0, 1.0]}
    assert Table(frame_of(columns, library), states=states) == Table(columns, states=states)
    refused(
        frame_of(columns, library),
        "'word' has 'c' in ",
        "declared states: 'a', 'b'",
        states={**states, "word": ["a", "b"]},
    )


@pytest.mark.parametrize("library", EAGER + LAZY)
def test_no_rows_and_one_column(library):
    nw = pytest.importorskip("narwhals")
    frame = nw.from_native(frame_of({"a": ["x"], "b": [1]}, library))
    refused(frame.filter(nw.col("b") > 1).to_native(), "no rows")
    assert Table(frame).n_rows == 1
    refused(frame_of({"a": ["x", "y"]}, library), "two or more variables; this one has 'a'")


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "polars-lazy", "duckdb", "dask"])
def test_categories_count_without_rows(library):
    cells, categories = ["u", "v", "u"], ["w", "v", "u"]
    if library in ("polars", "polars-lazy"):
        polars = pytest.importorskip("polars")
        column = polars.Series(cells, dtype=polars.Enum(categories))
    elif library in ("pandas", "dask"):
        column = pandas.Categorical(cells, categories=categories)
    else:
        pyarrow = pytest.importorskip("pyarrow")
        column = pyarrow.DictionaryArray.from_arrays(pyarrow.array([2, 1, 2]), pyarrow.array(categories))
    if library == "duckdb":
        kind = ", ".join(f"'{category}'" for category in categories)
        frame = frame_of({"a": cells, "b": [0, 1, 1]}, library).project(f"a::ENUM({kind}) AS a, b")
    else:
        frame = frame_of({"a": column, "b": [0, 1, 1]}, library)
    table = Table(frame)
    assert table.states == (("w", "v", "u"), (0, 1))
    assert table.codes.tolist() == [[1, 2, 2], [1, 0, 1]]


def test_pandas_categories_of_any_kind():
    frame = pandas.DataFrame(
        {
            "ordered": pandas.Categorical(["b", None], categories=["c", "b"], ordered=True),
            "integer": pandas.Categorical([3, 1]),
            "interval": pandas.cut([1.0, 5.0], [0, 2, 4, 6]),
        }
    )
    table = Table(frame, missing="state")
    assert table.states == (("c", "b", "missing"), (1, 3), ("(0, 2]", "(2, 4]", "(4, 6]"))


def test_polars_categories_are_those_that_occur():
    polars = pytest.importorskip("polars")
    polars.Series(["elsewhere"], dtype=polars.Categorical)
    column = polars.Series(["v", "u", "v"], dtype=polars.Categorical)
    assert Table(polars.DataFrame({"a": column, "b": [0, 1, 1]})).states == (("u", "v"), (0, 1))


def test_pandas_columns_of_many_types():
    frame = pandas.DataFrame(
        {
            "nullable": pandas.array([1, None, 2**60 + 1], dtype="Int64"),
            "boolean": pandas.array([True, None, False], dtype="boolean"),
            "object": [1, "a", None],
            "string": pandas.array(["x", None, "y"], dtype="string"),
            7: [0, 1, 1],
        }
    )
    table = Table(frame, missing="state")
    assert table.names == ("nullable", "boolean", "object", "string", "7")
    assert table.states == (
        (1, 2**60 + 1, "missing"),
        (False, True, "missing"),
        (1, "a", "missing"),
        ("x", "y", "missing"),
        (0, 1),
    )


def test_arrow_dictionaries_in_several_chunks():
    pyarrow = pytest.importorskip("pyarrow")
    chunks = [pyarrow.array(["b", "a"]).dictionary_encode(), pyarrow.array(["c", None]).dictionary_encode()]
    table = Table(pyarrow.table({"a": pyarrow.chunked_array(chunks), "b": [0, 1, 0, 1]}), missing="state")
    assert table.states[0] == ("b", "a", "c", "missing")
    assert table.n_rows == 4


def test_frames_refused():
    refused(pandas.DataFrame([[1, 2]], columns=["a", "a"]), "'a'")
    refused(pandas.Series([1, 2]), "two dimensions")
    refused(pandas.DataFrame(DISCRETE), "names of its own", names=["a", "b", "c"])


def test_decimals_are_numbers():
    polars = pytest.importorskip("polars")
    column = polars.Series(["0.5", "1.5", "4"]).str.to_decimal(scale=1)
    eager = polars.DataFrame({"a": column, "b": [0, 1, 1]})
    for frame in (eager, eager.lazy()):
        assert Table(frame).continuous == ("a",) and Table(frame).numbers.tolist() == [[0.5, 1.5, 4.0]]
        assert Table(frame, discretize="mean").states[0] == ("<= 2", "> 2")


def test_lazy_frames_collect_distinct_rows_only(monkeypatch):
    """Of 3,000 rows with six different ones, at most six rows are ever collected."""
    nw = pytest.importorskip("narwhals.stable.v2")
    collected = []
    collect = nw.LazyFrame.collect

    def counting(self, *args, **kwargs):
        frame = collect(self, *args, **kwargs)
        collected.append(len(frame))
        return frame

    monkeypatch.setattr(nw.LazyFrame, "collect", counting)
    columns = {"a": [0, 1, 1] * 1000, "b": ["x", "y"] * 1500, "c": [0.25, 0.5, 0.75] * 1000}
    table = Table(frame_of(columns, "duckdb"), discretize="mean")
    assert table.n_rows == 3000
    assert table.n_distinct == 6
    assert collected
    assert max(collected) <= 6
