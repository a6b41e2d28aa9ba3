"""Folders and patterns of Parquet files: the table of all their rows, whichever engine reads them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_runs import Topdag

import topdag as td
from topdag.data import series

pa = pytest.importorskip("pyarrow", reason="Parquet files are written with pyarrow")
pq = pytest.importorskip("pyarrow.parquet", reason="Parquet files are written with pyarrow")
ENGINES = ("duckdb", "polars")


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


def only(monkeypatch: pytest.MonkeyPatch, engines: Sequence[str]) -> None:
    for engine in ENGINES:
        if engine in engines:
            pytest.importorskip(engine)
        else:
            monkeypatch.setitem(sys.modules, engine, None)


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
    rows = duckdb.connect().sql(
        "select i % 5 as few, i as many, chr((97 + i % 26)::integer) as letter, (i % 3 = 0) as third, "
        "(i % 4)::double as whole, if(i < 20, null, i % 2) as late, (case i % 3 when 0 then 'high' when 1 then 'low' "
        "end)::enum('low', 'high', 'none') as level from range(40) t(i)"
    )
    for missing in ("state", "keep"):
        monkeypatch.setattr(series, "ROWS_OF_A_PART", 1_000)
        whole = td.Table(rows, missing=missing)
        assert whole.states[1] == tuple(range(40)) and whole.states[6][:3] == ("low", "high", "none")
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
        {"continuous": ["age"], "weights": [row % 3 for row in range(8_000)]},
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
    with pytest.raises(td.TableError, match="needs duckdb or polars"):
        td.read_table(folder)


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
