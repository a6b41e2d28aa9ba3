"""Folders and patterns of Parquet files: the table of all their rows, whichever engine reads them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_runs import Topdag
from parquet_folders import ENGINES, only, written

import topdag as td
from topdag.data import series

pa = pytest.importorskip("pyarrow", reason="Parquet files are written with pyarrow")
pq = pytest.importorskip("pyarrow.parquet", reason="Parquet files are written with pyarrow")


def columns(seed: int, n: int = 400) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    dose: list[float | None] = rng.normal(size=n).round(3).tolist()
    for place in rng.choice(n, 12, replace=False).tolist():
        dose[place] = None
    return {
        "sex": rng.choice(["f", "m"], n).tolist(),
        "age": rng.integers(0, 90, n).tolist(),
        "dose": dose,
        "ill": rng.choice([True, False], n).tolist(),
        "often": rng.integers(0, 4, n).tolist(),
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Rows in several files, one of them deeper, which only a pattern finds."""
    (tmp_path / "rows" / "more").mkdir(parents=True)
    for part, name in enumerate(["rows/a.parquet", "rows/b.parquet", "rows/more/c.pq"]):
        pq.write_table(pa.table(columns(part)), tmp_path / name)
    return tmp_path / "rows"


def all_rows(files: int = 3) -> dict[str, Any]:
    parts = [columns(part) for part in range(files)]
    return {name: [cell for part in parts for cell in part[name]] for name in parts[0]}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "said",
    [
        {"missing": "drop", "discretize": "mean", "leave_out": ["often"]},
        {"missing": "state", "discretize": {"dose": [-0.5, 0.5], "*": "median"}, "leave_out": ["often"]},
        {"missing": "drop", "discretize": {"dose": [0.0], "age": "uniform(3)"}, "weights": "often"},
        {"missing": "drop", "leave_out": ["dose"]},
    ],
)
def test_the_table_of_all_rows(
    folder: Path, monkeypatch: pytest.MonkeyPatch, engine: str, said: dict[str, Any]
) -> None:
    in_folder, below = td.Table(all_rows(2), **said), td.Table(all_rows(), **said)
    only(monkeypatch, [engine])
    assert td.read_table(folder, **said) == in_folder
    assert td.read_table(f"{folder}/**/*.p*q*", **said) == below
    monkeypatch.setattr(series, "ROWS_OF_A_PART", 7)
    assert td.read_table(folder, **said) == in_folder
    assert td.read_table(f"{folder}/**/*.p*q*", **said) == below


def test_parts_of_the_distinct_rows_are_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each has values of its own, and some have none: of numbers, words, declared states, and missing cells."""
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()  # some versions close it with its last name
    rows = connection.sql(
        "select i % 5 as few, i * 7 % 41 as many, chr((97 + i % 26)::integer) as letter, (i % 3 = 0) as third, "
        "(i % 4)::double as whole, if(i < 20, null, i % 2) as late, (case i % 3 when 0 then 'high' when 1 then 'low' "
        "end)::enum('low', 'high', 'none') as level from range(40) t(i)"
    )
    for missing in ("state", "keep"):
        monkeypatch.setattr(series, "ROWS_OF_A_PART", 1_000)
        whole = td.Table(rows, missing=missing)
        assert sorted(whole.numbers[0]) == sorted(i * 7 % 41 for i in range(40)) and whole.states[6][:3] == (
            "low",
            "high",
            "none",
        )
        monkeypatch.setattr(series, "ROWS_OF_A_PART", 3)
        assert td.Table(rows, missing=missing) == whole


def test_rows_that_do_not_fit_are_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("duckdb")
    monkeypatch.setattr(series, "available_memory", lambda: 10_000)
    with pytest.raises(td.TooLarge, match=r"are too different: \d+ distinct rows of 4 columns .* takes .* more"):
        td.read_table(folder, missing="state", leave_out=["dose"])


def test_a_question_takes_them(folder: Path) -> None:
    said: dict[str, Any] = {"missing": "drop", "discretize": "mean", "leave_out": ["often"]}
    assert td.best_network(folder, "bic", **said).score == td.best_network(all_rows(2), "bic", **said).score


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "said",
    [
        {"interventions": [["sex"] * (row % 5 < 2) + ["ill"] * (row % 7 < 3) for row in range(8_000)]},
        {"types": {"age": "continuous"}, "weights": [row % 3 for row in range(8_000)]},
    ],
)
def test_what_is_said_of_each_row_stays_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str, said: dict[str, Any]
) -> None:
    """Engines that work on several files at once finish them in any order."""
    for part in range(20):
        pq.write_table(pa.table(columns(part)), tmp_path / f"{part:02}.parquet", row_group_size=50)
    known = {"missing": "drop", "leave_out": ["dose", "often"], **said}
    expected = td.Table(all_rows(20), **known)
    only(monkeypatch, [engine])
    for _ in range(3):
        assert td.read_table(tmp_path, **known) == expected


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("other", [{"a": [1, 0]}, {"a": [1, 0], "b": [1, 1], "c": [0, 0]}, {"a": [1, 0], "c": [0, 0]}])
def test_files_with_other_columns_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str, other: dict[str, Any]
) -> None:
    only(monkeypatch, [engine])
    for name, content in (("1", {"a": [0, 1], "b": [0, 1]}), ("2", {"b": [0, 1], "a": [0, 1]}), ("3", other)):
        pq.write_table(pa.table(content), tmp_path / f"{name}.parquet")
    with pytest.raises(td.TableError, match=r"3\.parquet has other columns than .*1\.parquet: '[bc]'") as raised:
        td.read_table(tmp_path)
    assert "union_by_name" not in str(raised.value)
    (tmp_path / "3.parquet").write_bytes(b"not at all")
    with pytest.raises(td.TableError, match=r"3\.parquet cannot be read"):
        td.read_table(tmp_path)


def test_what_cannot_be_read(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "words.csv").write_text("a,b\n1,2\n")
    pq.write_table(pa.table({"other": [1, 2]}), folder / "d.parquet")
    for path, words in (
        (tmp_path / "empty", "no Parquet files in it"),
        (f"{tmp_path}/none*.parquet", "no file has a name like this"),
        (f"{tmp_path}/*.csv", "a pattern is for Parquet files"),
        (folder, "has other columns than"),
    ):
        with pytest.raises(td.TableError, match=words):
            td.read_table(path)
    only(monkeypatch, [])
    with pytest.raises(td.TableError, match="needs duckdb and pyarrow, or polars"):
        td.read_table(folder)


def test_duckdb_without_what_it_gives_rows_with_is_not_there(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("duckdb")
    only(monkeypatch, ["duckdb"])
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(td.TableError, match="needs duckdb and pyarrow, or polars"):
        td.read_table(folder)


@pytest.mark.parametrize("engine", ENGINES)
def test_names_of_files_and_folders_are_taken_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    """Engines take a[1] for a pattern that a1 has, and year=2020 for a column."""
    only(monkeypatch, [engine])
    below = tmp_path / "year=2020"
    written(below, {"a": [0, 1], "b": [0, 1]}, {"a": [2, 3], "b": [0, 1]}, {"a": [4, 5], "b": [0, 1]})
    for old, new in (("0", "a[1]"), ("1", "a1"), ("2", "w*")):
        if new != "w*" or sys.platform != "win32":
            (below / f"{old}.parquet").rename(below / f"{new}.parquet")
    for path in (below, f"{tmp_path}/*/*.parquet"):
        assert td.read_table(path) == td.Table({"a": range(6), "b": [0, 1] * 3})


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([1, None], "1 weight in column 'w': missing, negative, infinite or not whole"),
        ([1, -1], "1 weight in column 'w': missing"),
        ([1.0, 0.5], "1 weight in column 'w': missing"),
        ([1.0, float("inf")], "1 weight in column 'w': missing"),
        ([1.0, float("nan")], "1 weight in column 'w': missing"),
        (["1", "2"], "the weights in column 'w' are no numbers"),
        ([True, False], "the weights in column 'w' are no numbers"),
        ([None, None], "(the|2) weights in column 'w'"),  # of no type, or of one that the engine chose
        ([1.0, 1e300], r"the weights add up to 1e\+300; at most 4,294,967,295 rows"),
        ([2**62, 2**62], "the weights add up to 9.223"),
        ([0, 0], "no row is left"),
    ],
)
def test_weights_that_are_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str, weights: list[Any], words: str
) -> None:
    columns = {"a": [0, 1], "b": [1, 1], "w": weights}
    with pytest.raises(td.TableError):
        td.Table(columns, weights="w")
    only(monkeypatch, [engine])
    with pytest.raises(td.TableError, match=f"^{tmp_path}: {words}"):
        td.read_table(written(tmp_path, columns), weights="w")


@pytest.mark.parametrize("engine", ENGINES)
def test_errors_name_the_folder_and_no_thing_of_the_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    only(monkeypatch, [engine])
    folder = written(tmp_path, {"a": [0.5, float("inf")], "b": ["u", "v"]})
    file = folder / "0.parquet"
    damaged = bytearray(file.read_bytes())
    for said, words in (
        ({"discretize": "mean"}, "column 'a' is infinite in 1 row;"),
        ({"leave_out": ["a"], "columns": ["b"]}, "a table needs two or more variables"),
        ({"discretize": "mean", "columns": ["a", "c"]}, "columns= names a column 'c' that is not there"),
        ({"discretize": [1.0], "states": {"b": ["u"]}}, "column 'a' is infinite"),
        ({"states": {"a": [0.5], "b": ["u"]}}, "column 'a' is infinite in row 1 (counted from 0)"),
        ({"weights": [1, 2], "discretize": "mean"}, "weights= must be the name of a column here"),
    ):
        with pytest.raises(td.TableError) as raised:
            td.read_table(folder, **said)
        assert str(raised.value).startswith(f"{folder}: {words}"), str(raised.value)
        assert not any(word in str(raised.value) for word in ("lazy", "Lazy", "DuckDB", "Relation"))
    damaged[4:40] = b"x" * 36
    file.write_bytes(damaged)
    with pytest.raises(td.TableError) as raised:
        td.read_table(folder, discretize="mean")
    assert str(raised.value).startswith(f"{folder}: this file cannot be read as a table: ")


def test_a_file_whose_name_looks_like_a_pattern_is_a_file(tmp_path: Path) -> None:
    path = tmp_path / "rows[1].csv"
    path.write_text("a,b\n1,2\n0,1\n")
    assert td.read_table(path).n_rows == 2


@pytest.mark.parametrize(
    ("said", "option"),
    [
        ({"separator": ";"}, ["--separator", ";"]),
        ({"encoding": "latin-1"}, ["--encoding", "latin-1"]),
        ({"decimal": ","}, ["--decimal", ","]),
        ({"header": False}, ["--no-header"]),
        ({"missing_values": ["-9"]}, []),
    ],
)
def test_what_is_said_of_text_is_refused(folder: Path, topdag: Topdag, said: dict[str, Any], option: list[str]) -> None:
    """It would be ignored, of one file and of many."""
    for path in (folder / "a.parquet", folder):
        with pytest.raises(td.TableError, match=f"{next(iter(said))}.* is for files of text, and this is Parquet"):
            td.read_table(path, **said)
        with pytest.raises(td.TableError, match="is for files of text"):
            td.best_network(path, **said)
        if option:
            ran = topdag("plan", path, *option)
            assert ran.code == 4 and f": {option[0]} is for files of text, and this is Parquet; leave it out" in ran.err
