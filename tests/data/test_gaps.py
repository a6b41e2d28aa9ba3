"""Missing cells: what happens to them where nothing is said, and what dropped rows cost."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

import topdag as td

ROWS = 200
RNG = np.random.default_rng(11)
WORDS = {name: RNG.choice([*"uvw"], ROWS).tolist() for name in "abc"}
NUMBERS = {name: RNG.normal(size=ROWS).round(3).tolist() for name in ("x", "y", "z")}


def without(columns: dict[str, list[Any]], **rows: range) -> dict[str, list[Any]]:
    """The columns with gaps in these rows of some."""
    return {
        name: [None if i in rows.get(name, ()) else cell for i, cell in enumerate(cells)]
        for name, cells in columns.items()
    }


@pytest.mark.parametrize("columns", [WORDS, NUMBERS, {**WORDS, **NUMBERS}])
def test_few_incomplete_rows_are_dropped(columns: dict[str, list[Any]]) -> None:
    name = next(iter(columns))
    table = td.Table(without(columns, **{name: range(20)}))
    assert table.n_rows == ROWS - 20 and not table.incomplete
    assert table.decisions[0].startswith("20 of 200 rows were dropped because of missing values.")


def test_cells_of_categories_are_kept_where_more_rows_would_go() -> None:
    assert td.Table(without(WORDS, a=range(100))).n_rows == 100
    table = td.Table(without(WORDS, a=range(101)))
    assert table.n_rows == ROWS and table.missing == {"a": 101}
    assert "101 missing cells (16.8% of all) kept, in 'a' (101 rows)." in table.decisions
    assert td.best_network(table).kind == td.NAL(penalty=math.log(ROWS))  # twice BIC's
    dropped = td.Table(without(WORDS, a=range(101)), missing="drop")
    assert td.best_network(table, "bic").score == td.best_network(dropped, "bic").score  # which needs every cell


@pytest.mark.parametrize("columns", [NUMBERS, {**WORDS, **NUMBERS}])
def test_with_numbers_complete_rows_are_used(columns: dict[str, list[Any]]) -> None:
    table = td.Table(without(columns, x=range(50), y=range(40, 100)))
    assert table.n_rows == ROWS - 100 and table.names == tuple(columns)


def test_ordered_states_count_as_numbers_and_cut_columns_as_categories() -> None:
    columns = WORDS | {"score": [i % 9 for i in range(ROWS)]}
    gaps = without(columns, a=range(101))
    assert td.Table(gaps).names == ("b", "c", "score")  # of numbers complete rows are wanted, so the column goes
    assert td.Table(gaps, discretize={"score": "median"}).missing == {"a": 101}


def test_a_column_with_most_gaps_is_left_out_before_most_rows_go() -> None:
    columns = without({**WORDS, **NUMBERS}, x=range(150), a=range(160, 170))
    table = td.Table(columns)
    assert table.n_rows == ROWS - 10 and "x" not in table.names
    (note,) = (note for note in table.decisions if note.startswith("Left out because most rows would go"))
    assert "'x' (150 of 200 cells); missing=\"drop\" keeps them." in note
    assert td.Table(columns, missing="drop").n_rows == 40  # rows 170 to 199 and 150 to 159


def test_columns_named_by_the_user_are_left_out_for_gaps_too_but_said() -> None:
    columns = without({**WORDS, **NUMBERS}, x=range(150), y=range(120))
    table = td.Table(columns)
    assert {"x", "y"}.isdisjoint(table.names) and table.n_rows == ROWS
    assert "'x' (150 of 200 cells), 'y' (120 of 200 cells)" in " ".join(table.decisions)


def test_gaps_of_columns_that_are_no_variables_do_not_count() -> None:
    names = [f"person {i}" for i in range(ROWS)]
    table = td.Table(without({"name": names, **WORDS}, name=range(150)))
    assert table.n_rows == ROWS and not table.incomplete and table.types["name"].n_missing == 150


def test_what_is_said_is_done() -> None:
    columns = without(WORDS, a=range(5))
    assert td.Table(columns, missing="keep").missing == {"a": 5}
    assert td.Table(columns, missing="state").states[0] == ("u", "v", "w", "missing")
    with pytest.raises(td.TableError, match=r"'a' \(5 rows, the first is row 0 \(counted from 0\)\)"):
        td.Table(columns, missing="error")
    many = without(WORDS, a=range(100))
    assert td.Table(many, missing="drop").n_rows == 100


def test_weights_and_gaps() -> None:
    """Missing cells count with their weights; which way is chosen does not depend on them."""
    columns = without(WORDS, a=range(101))
    table = td.Table(columns, weights=[2] * ROWS)
    assert table.missing == {"a": 202} and table.n_rows == 2 * ROWS


@pytest.mark.parametrize("library", ["pandas", "polars", "polars-lazy"])
def test_every_library_does_the_same(library: str) -> None:
    for columns in (
        without(WORDS, a=range(20)),
        without(WORDS, a=range(100)),
        without({**WORDS, **NUMBERS}, x=range(150), a=range(160, 170)),
        without(WORDS | {"score": [i % 9 for i in range(ROWS)]}, a=range(50)),
        without(WORDS | {"many": [i * 7 % 150 for i in range(ROWS)]}, a=range(50), many=range(120)),
    ):
        if library == "pandas":
            frame: Any = pd.DataFrame(columns)
        else:
            frame = pytest.importorskip("polars").DataFrame(columns)
        expected = td.Table(columns)
        table = td.Table(frame.lazy() if library == "polars-lazy" else frame)
        assert table == expected and table.decisions == expected.decisions


# ---- What dropped rows cost


def with_gaps(n_gaps: dict[str, range]) -> dict[str, list[object]]:
    columns = {
        name: [None if i in rows else (i + i // (k + 2)) % 3 for i in range(100)]
        for k, (name, rows) in enumerate(n_gaps.items())
    }
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
        (
            {name: range(90) for name in "uvw"} | {"y": range(90, 92)},
            " Most are missing in 'u' (90 rows), 'v' (90 rows), 'w' (90 rows): "
            "leave_out=['u', 'v', 'w'] keeps 98 rows instead of 8.",
        ),
        ({name: range(90) for name in "uvwx"} | {"y": range(90, 92)}, ""),  # more columns than a few
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


def test_gaps_all_over_a_table_of_categories_are_kept() -> None:
    """No column has many, and yet most rows have one."""
    table = td.Table(with_gaps({f"x{k}": range(8 * k, 8 * k + 8) for k in range(12)}))
    assert table.n_rows == 100 and len(table.missing) == 12
    assert td.best_network(table, max_parents=1).kind == td.NAL(penalty=math.log(100))


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
