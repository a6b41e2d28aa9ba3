"""What keeps a table from being used is told at once, with what settles it; what dropped rows cost."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import topdag as td

ROWS = 40
FLOATS = [i + 0.5 for i in range(ROWS)]
GAPS = [None if i % 8 == 0 else "ab"[i % 2] for i in range(ROWS)]
NAMES = [f"n{i}" for i in range(ROWS)]
STATES = [i % 3 for i in range(ROWS)]
APART = "has a state for each row or nearly so, which tells rows apart"
TROUBLES = {
    "gaps": (GAPS, "missing values in 1 column: 'gaps' (5 rows", 'missing="drop"'),
    "floats": (FLOATS, "column 'floats' holds floats, which are not states", 'discretize="quantile(3)"'),
    "id": (NAMES, f"column 'id' {APART}", "leave_out=['id']"),
    "row": (
        list(range(ROWS)),
        f"column 'row' {APART}",
        "leave_out=['row']",
    ),
}


@pytest.mark.parametrize("names", [["gaps", "floats"], ["gaps", "id"], ["floats", "row"], ["gaps", "floats", "id"]])
@pytest.mark.parametrize("source", [dict, pd.DataFrame])
def test_all_troubles_are_told_with_what_settles_them(names: list[str], source: type) -> None:
    columns = {name: TROUBLES[name][0] for name in names} | {"a": STATES, "b": STATES}
    with pytest.raises(td.TableError) as caught:
        td.Table(source(columns))
    first, *lines, last = str(caught.value).splitlines()
    assert first == f"{len(names)} things keep this table from being used:"
    for name, line in zip(names, lines, strict=True):
        assert line.startswith(f"- {TROUBLES[name][1]}")
    settled = ", ".join(TROUBLES[name][2] for name in names)
    assert last == f"All settled at once: {settled}"
    td.Table(source(columns), **eval(f"dict({settled})"))


@pytest.mark.parametrize("name", ["gaps", "floats"])
def test_one_trouble_is_told_alone(name: str) -> None:
    with pytest.raises(td.TableError) as caught:
        td.Table({name: TROUBLES[name][0], "a": STATES, "b": STATES})
    assert str(caught.value).startswith(TROUBLES[name][1])
    assert "at once" not in str(caught.value)


def with_gaps(n_gaps: dict[str, range]) -> dict[str, list[object]]:
    columns = {name: [None if i in rows else i % 3 for i in range(100)] for name, rows in n_gaps.items()}
    return columns | {"a": [i % 2 for i in range(100)], "b": [i % 3 for i in range(100)]}


@pytest.mark.parametrize(
    ("n_gaps", "advice"),
    [
        ({"x": range(90)}, " Most are missing in 'x' (90 rows): leave_out=['x'] keeps 100 rows instead of 10."),
        (
            {"x": range(5), "y": range(3, 90)},
            " Most are missing in 'y' (87 rows): leave_out=['y'] keeps 95 rows instead of 10.",
        ),
        (
            {"x": range(50), "y": range(50), "z": range(60, 61)},  # each alone saves nothing
            " Most are missing in 'x' (50 rows), 'y' (50 rows): leave_out=['x', 'y'] keeps 99 rows instead of 49.",
        ),
        (  # more columns than a few, each with many gaps
            {name: range(90) for name in "uvwx"} | {"y": range(90, 92)},
            " Most are missing in 'u' (90 rows), 'v' (90 rows), 'w' (90 rows), 'x' (90 rows): "
            "leave_out=['u', 'v', 'w', 'x'] keeps 98 rows instead of 8.",
        ),
        ({"x": range(9)}, ""),
    ],
)
@pytest.mark.parametrize("library", ["dict", "polars-lazy"])
def test_columns_that_cost_most_rows_are_named(n_gaps: dict[str, range], advice: str, library: str) -> None:
    columns = with_gaps(n_gaps)
    source = columns if library == "dict" else pytest.importorskip("polars").DataFrame(columns).lazy()
    dropped = len(set().union(*n_gaps.values()))
    table = td.Table(source, missing="drop")
    assert table.notes[0] == f"{dropped} of 100 rows were dropped because of missing values.{advice}"


def test_no_row_left_names_them_too() -> None:
    with pytest.raises(td.TableError, match=r"no row is left: all 100 .* leave_out=\['x'\] keeps 99 rows instead of 0"):
        td.Table(with_gaps({"x": range(99), "y": range(99, 100)}), missing="drop")


def test_dropping_most_rows_is_not_what_settles_gaps() -> None:
    columns = with_gaps({"x": range(90)}) | {"f": np.linspace(0, 1, 100).tolist()}
    with pytest.raises(td.TableError, match='missing="drop", discretize="quantile\\(3\\)", leave_out=\\[\'x\'\\]'):
        td.Table(columns)


def test_gaps_all_over_the_table_are_not_settled_by_dropping_rows() -> None:
    """No column has many, and yet most rows have one."""
    gaps = {f"x{k}": range(8 * k, 8 * k + 8) for k in range(12)}
    columns = with_gaps(gaps) | {"f": np.linspace(0, 1, 100).tolist()}
    with pytest.raises(td.TableError, match=r'at once: missing="state", discretize="quantile\(3\)"$') as caught:
        td.Table(columns)
    assert "'x9' (8 rows, the first is row 72 (counted from 0)) and 2 more; " in str(caught.value)


def test_a_column_that_dropped_rows_make_constant_is_named() -> None:
    """Where only women answered, women are left: a network of them is not one of all."""
    columns = {
        "sex": [i % 2 for i in range(60)],
        "births": [None if i % 2 else i % 6 for i in range(60)],
        "a": [*"xyz"] * 20,
    }
    for library in ("dict", "polars", "polars-lazy"):
        polars = pytest.importorskip("polars") if library != "dict" else None
        source = columns if polars is None else polars.DataFrame(columns)
        notes = td.Table(source.lazy() if library == "polars-lazy" else source, missing="drop").notes
        assert notes[1] == "In the rows that are left 'sex' is always 0.", library
    few = {name: column[:10] for name, column in columns.items()}
    assert not any("always" in note for note in td.Table(few, missing="drop").notes)
