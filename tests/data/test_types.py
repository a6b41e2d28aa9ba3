"""What a column is: the traps that tables have, what the user says instead, and what is done with each type."""

from __future__ import annotations

import datetime as dt
import io
from typing import Any

import numpy as np
import pandas as pd
import pytest

import topdag as td
from topdag.data.guess.types import TYPES

N = 120
RNG = np.random.default_rng(7)
FACTORS: dict[str, list[Any]] = {
    "sex": RNG.choice(["f", "m"], N).tolist(),
    "smoker": RNG.choice(["no", "sometimes", "yes"], N).tolist(),
}


def drawn(*choices: Any) -> list[Any]:
    """A value for each row, all of them equally often or nearly so, in no order."""
    return [choices[i] for i in RNG.permutation(N) % len(choices)]


def read(columns: dict[str, Any], **said: Any) -> td.Table:
    return td.Table({**columns, **FACTORS}, **said)


def type_of(cells: list[Any], name: str = "x", **said: Any) -> str:
    return read({name: cells}, **said).types[name].type


# ---- Traps


def test_integers_that_pandas_writes_as_floats_beside_gaps() -> None:
    """As in pbc: codes of treatments and stages stay codes, days stay numbers."""
    gap = [i % 11 == 0 for i in range(N)]
    integers = {"trt": drawn(1, 2), "stage": drawn(1, 2, 3, 4), "time": (41 + 37 * RNG.permutation(N)).tolist()}
    frame = pd.DataFrame({**integers, **FACTORS}).mask(pd.Series(gap))
    text = frame.to_csv(index=False)
    assert "1.0" in text
    for table in (td.Table(frame), td.read_table(io.BytesIO(text.encode()))):
        assert {name: table.types[name].type for name in integers} == {
            "trt": "categorical",
            "stage": "ordinal",
            "time": "continuous",
        }
        assert table.states[0] == (1, 2) and table.continuous == ("time",)


@pytest.mark.parametrize(("cells", "code"), [((*range(20, 60), 999), 999), ((*range(1, 7), -9), -9)])
def test_codes_for_missing_cells(cells: tuple[int, ...], code: int) -> None:
    table = read({"x": drawn(*cells)})
    assert code not in {cell for row, _ in table.rows() for cell in row}
    assert table.types["x"].n_missing == 0 or table.n_rows < N
    (note,) = (note for note in table.decisions if "Taken for missing cells" in note)
    assert f"{code} in 'x'" in note and "types={'x': 'continuous'} keeps it as a number" in note
    kept = read({"x": drawn(*cells)}, types={"x": "continuous"})
    assert code in kept.numbers[0] and kept.n_rows == N


def test_numbers_that_only_look_like_codes_for_missing_cells() -> None:
    for cells in ((97, 98, 99, 100, 101, 103), (-9, -8, -5, -2, 3, 7), (1, 999)):
        assert not any("Taken for missing" in note for note in read({"x": drawn(*cells)}).notes)


def test_numbers_with_few_values_that_are_measurements() -> None:
    assert type_of(drawn(0.5, 1.0, 2.0), "dose") == "continuous"
    table = read({"age": drawn(15, 25, 35, 45, 55, 65, 75)})
    assert table.types["age"].type == "continuous" and table.ordered == ("age",)


def test_large_numbers_are_measurements_where_they_are_no_integers() -> None:
    for scale in (1.0, 1e15, 1e40):
        assert type_of((scale * RNG.normal(5, 1, N)).tolist(), "stars") == "continuous"
    assert type_of([2**60 + int(i) for i in RNG.permutation(N)], "hash") == "identifier"


def test_numbers_with_many_values_that_are_codes() -> None:
    table = read({"region": drawn(*range(11, 28))})
    assert table.types["region"].type == "categorical" and table.arities[0] == 17 and not table.ordered


@pytest.mark.parametrize("name", ["", "Unnamed: 0", "rownames", "row_names", "x"])
def test_row_numbers_with_gaps(name: str) -> None:
    """As in birthwt: 85, 86, 87, 88, 89, 91, 92, ..."""
    numbers = [85 + i + i // 5 for i in range(N)]
    table = read({name: numbers})
    assert table.types[name].type == "identifier" and table.names == tuple(FACTORS)
    assert "Left out: " in table.decisions[0]


def test_dates_as_yymmdd() -> None:
    days = [dt.date(1990, 1, 1) + dt.timedelta(days=13 * i) for i in RNG.permutation(N).tolist()]
    for shape in ("%y%m%d", "%Y%m%d"):
        assert type_of([int(day.strftime(shape)) for day in days], "seen") == "date"
    assert type_of(RNG.integers(10_000, 990_000, N).tolist(), "income") == "continuous"


def test_class_midpoints() -> None:
    for midpoints in ((2.5, 7.5, 15.0, 30.0), (12.5, 17.5, 22.5, 27.5, 32.5)):
        assert type_of(drawn(*midpoints), "hours") == "continuous"
    table = read({"hours": drawn("0-5", "5-10", "10-20", "20-40")})
    assert table.types["hours"].type == "ordinal" and table.states[0] == ("0-5", "5-10", "10-20", "20-40")


def test_none_as_a_category() -> None:
    """pandas makes a gap of it; a file that is read here does not."""
    cells = drawn("None", "Mild", "Severe")
    lines = "\n".join(f"{cell},{sex},{smoker}" for cell, sex, smoker in zip(cells, *FACTORS.values(), strict=True))
    table = td.read_table(io.BytesIO(f"pain,sex,smoker\n{lines}\n".encode()))
    assert "None" in table.states[0] and table.n_rows == N and not table.incomplete
    frame = pd.read_csv(io.StringIO(f"pain,sex,smoker\n{lines}\n"))
    gaps = td.Table(frame)
    assert gaps.n_rows == N - N // 3 and not gaps.incomplete  # left out, and told
    assert f"{N // 3} of {N} rows were dropped because of missing values" in gaps.decisions[0]


def test_a_weight_that_is_a_body_weight() -> None:
    for weights in (RNG.integers(45, 110, N).tolist(), RNG.normal(70, 9, N).round(1).tolist()):
        table = read({"weight": weights})
        assert table.types["weight"].type == "continuous" and table.n_rows == N and "weight" in table.names


def test_free_text() -> None:
    words = ["senior", "junior", "deputy", "head", "nurse", "of", "care", "sales", "and", "driver", "clerk"]
    titles = [" ".join(RNG.choice(words, 5)) + f" {i}" for i in range(N)]
    table = read({"emp_title": titles})
    assert table.types["emp_title"].type == "text" and table.names == tuple(FACTORS)
    assert type_of([f"person {i}" for i in range(N)], "who") == "identifier"


def test_pairs_of_columns_that_determine_each_other() -> None:
    code = drawn(1, 2, 3)
    word = [{1: "north", 2: "east", 3: "west"}[c] for c in code]
    x = RNG.normal(size=N).round(4)
    table = read(
        {"code": code, "word": word, "metres": x, "feet": x * 3.25, "left": -x, "coarse": [c > 1 for c in code]}
    )
    assert {name for name, of in table.types.items() if of.type == "duplicate"} == {"word", "feet", "left"}
    assert table.types["word"].reason == "goes one to one with 'code'" and "coarse" in table.names
    kept = read({"code": code, "word": word}, types={"word": "categorical"})
    assert kept.names[:2] == ("code", "word")


# ---- Tables of counts, panels, row names


def test_tables_of_counts() -> None:
    cells = [(a, b, c) for a in ("u", "v") for b in ("x", "y", "z") for c in (0, 1)]
    columns = {name: [cell[i] for cell in cells] for i, name in enumerate("abc")}
    for name in ("Freq", "count", "n", "Count", "weight"):
        table = td.Table({**columns, name: [i * 3 % 7 for i in range(12)]})
        assert table.names == ("a", "b", "c") and table.n_rows == sum(i * 3 % 7 for i in range(12))
        assert table.types[name].type == "weight"
        assert table.decisions == (
            f"{name!r} says how many rows each row stands for (a table of counts); "
            f"types={{{name!r}: 'count'}} makes it a variable.",
        )
    assert table == td.Table({**columns, name: [i * 3 % 7 for i in range(12)]}, weights=name)
    as_variable = td.Table({**columns, "Freq": [i * 3 % 7 for i in range(12)]}, types={"Freq": "count"})
    assert as_variable.names == ("a", "b", "c", "Freq") and as_variable.n_rows == 12
    assert td.Table({**columns, "other": [i * 3 % 7 for i in range(12)]}).n_rows == 12


def test_few_rows_are_no_table_of_counts() -> None:
    for n_rows in (1, 2, 3):
        assert td.Table({"a": [*"xyz"][:n_rows], "count": [0] * n_rows}).names == ("a", "count")
    assert td.Table({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "count": [0] * 4}).n_rows == 4  # all would go


def test_panels() -> None:
    columns = {
        "firm": [i // 6 + 1 for i in range(N)],
        "year": [1990 + i % 6 for i in range(N)],
        "x": RNG.normal(size=N).tolist(),
        "y": RNG.normal(size=N).tolist(),
    }
    table = td.Table(columns)
    assert table.types["firm"].type == "identifier" and {"x", "y"} <= set(table.names)


def test_row_names() -> None:
    for name in ("", "Unnamed: 0", "rownames"):
        few = {name: ["Mazda", "Datsun", "Hornet"], "a": [0, 1, 1], "b": [1, 1, 0]}
        assert td.Table(few).names == ("a", "b"), name
    assert td.Table({"a": [0, 1, 1], "": [3, 4, 5], "b": [1, 1, 0]}, leave_out=[""]).names == ("a", "b")


def test_quoted_names_and_row_names_of_files() -> None:
    """As R's write.csv and pandas' to_csv write them."""
    text = '"","speed","dist kind"\n"1",4,"short"\n"2",7,"long"\n"3",8,"long"\n'
    table = td.read_table(io.BytesIO(text.encode()))
    assert table.names == ("speed", "dist kind") and table.decisions == ("Left out: the row names.",)
    frame = pd.DataFrame({"speed": [4, 7, 8], "dist kind": ["short", "long", "long"]})
    assert td.read_table(io.BytesIO(frame.to_csv().encode())) == td.Table(frame) == table


# ---- What the user says


def test_the_star_stands_for_all_others() -> None:
    columns = {"a": drawn(1, 2, 3), "b": [float(i) for i in range(N)], "c": drawn(5, 6)}
    table = td.Table(columns, types={"*": "continuous", "c": "categorical"})
    assert table.continuous == ("a", "b") and table.states[2] == (5, 6)
    assert td.Table(columns, types={"*": "categorical"}).arities.tolist() == [3, N, 2]
    with pytest.raises(td.TableError, match="column 'sex' cannot be continuous"):
        read(columns, types={"*": "continuous"})


@pytest.mark.parametrize("type_", TYPES)
def test_every_type_can_be_given(type_: str) -> None:
    cells = drawn(*range(1, 8))
    table = read({"x": cells}, types={"x": type_})
    assert table.types["x"].type == type_ and table.types["x"].given
    out = type_ in ("identifier", "text", "date", "duplicate", "weight")
    assert ("x" in table.names) != out
    assert table.n_rows == (sum(cells) if type_ == "weight" else N)
    assert ("x" in table.continuous) == (type_ in ("continuous", "count"))
    assert ("x" in table.ordered) == (type_ == "ordinal")
    assert table.decisions == ()  # nothing was decided


@pytest.mark.parametrize(
    ("types", "message"),
    [
        ({"siz": "continuous"}, r"types= names a column 'siz' that is not there; close to it are 'size'"),
        ({"size": "number"}, r"types=: 'number' of column 'size' is no type"),
        ({"size": "continous"}, r"close to it are 'continuous'"),
        ({"sex": "continuous"}, r"column 'sex' cannot be continuous: it holds 'f', .*types=\{'sex': 'categorical'\}"),
        ({"sex": "weight"}, r"the weight in row 0 \(counted from 0\) is [fm]; weights are whole numbers"),
        ({"size": "weight", "n": "weight"}, r"types=: a row has one weight, and 'size' and 'n' are both named"),
        (
            {"*": "identifier"},
            r"beside columns that are no variables, 'size', 'n', 'sex', 'smoker' \(identifier: as given\)",
        ),
        (["size"], r"types= maps names of columns to types, not \['size'\]"),
        ("continuous", r"types= maps names of columns to types"),
    ],
)
def test_errors_of_types(types: Any, message: str) -> None:
    columns = {"size": drawn(1, 2, 3, 4, 5, 6), "n": drawn(2, 3, 5, 7), **FACTORS}
    with pytest.raises(td.TableError, match=message):
        td.Table(columns, types=types)


def test_no_column_left() -> None:
    columns = {"id": list(range(N)), "name": [f"person {i}" for i in range(N)], "sex": FACTORS["sex"]}
    with pytest.raises(
        td.TableError, match=r"this one has 'sex', beside columns that are no variables, 'name' \(identifier: "
    ):
        td.Table(columns)
    named = td.Table(columns, types={"name": "categorical"})
    assert named.names == ("name", "sex")
    assert td.Table(columns, columns=["id", "sex"]).names == ("id", "sex")


def test_one_weight_for_a_row() -> None:
    with pytest.raises(td.TableError, match="a row has one weight: types= names 'n' beside weights="):
        read({"n": drawn(2, 3, 5)}, types={"n": "weight"}, weights=[1] * N)


# ---- Dates, and cells of any kind


def days(n: int = N) -> list[dt.date]:
    return [dt.date(2020, 1, 30) + dt.timedelta(days=i) for i in range(n)]


@pytest.mark.parametrize(
    "cells",
    [
        days(),
        pd.to_datetime(pd.Series(days())),
        pd.to_datetime(pd.Series(days())).dt.tz_localize("UTC"),
        [f"{day:%Y-%m-%d}" for day in days()],
        [f"{day:%d/%m/%Y}" for day in days()],
        [f"{day:%d.%m.%y}" for day in days()],
        [f"{day:%d %B %Y}" for day in days()],
        [f"{day:%Y-%m-%d} 10:15:00" for day in days()],
        [f"{day.year} Q{1 + i % 4}" for i, day in enumerate(days())],
        np.array(days(), "M8[D]"),
    ],
    ids=lambda cells: str(cells[0]),
)
def test_dates_are_left_out(cells: Any) -> None:
    table = td.Table(pd.DataFrame({"day": cells, **FACTORS}))
    assert table.types["day"].type == "date" and table.names == tuple(FACTORS)
    assert "Left out: 'day' (dates such as " in table.decisions[0]


def test_texts_that_are_no_dates() -> None:
    assert type_of(drawn("1-2", "3-4", "5-6"), "x") == "ordinal"
    assert type_of(drawn("10.1", "10.2", "10.3a"), "x") == "categorical"


def test_durations_are_numbers_of_seconds() -> None:
    hours = drawn(*range(1, 40))
    lengths = [dt.timedelta(hours=h) for h in hours]
    for table in (read({"took": lengths}), td.Table(pd.DataFrame({"took": lengths, **FACTORS}))):
        assert table.types["took"].type == "continuous" and table.numbers[0].max() == 3600 * 39


def test_cells_of_several_types_are_texts() -> None:
    """As a file of them would be read."""
    cells = drawn("a", 1, 2.5)
    table = read({"x": cells})
    assert table.states[0] == ("1", "2.5", "a") and table == read({"x": [str(cell) for cell in cells]})
    gaps = read({"x": [None if i < 5 else cell for i, cell in enumerate(cells)]})
    assert gaps.n_rows == N - 5


def test_lists_in_cells_are_texts() -> None:
    table = read({"x": drawn([1], [1, 2], [3])})
    assert table.states[0] == ("[1, 2]", "[1]", "[3]")


def test_few_values_are_shown_with_gaps() -> None:
    table = read({"x": [None if i % 20 == 0 else i / 7 for i in range(N)], "y": [f"w{i % 9}" for i in range(N)]})
    assert table.types["x"].values == "0.142857 to 17" and table.types["x"].n_missing == 6
    assert table.types["y"].values == "w0, w1, w2, w3, w4, ... (9)"
