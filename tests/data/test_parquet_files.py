"""Folders and patterns of Parquet files: the table of all their rows, whichever engine reads them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import topdag as td

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


def test_a_question_takes_them(folder: Path) -> None:
    said: dict[str, Any] = {"missing": "drop", "discretize": "mean", "leave_out": ["often"]}
    assert td.best_network(folder, "bic", **said).score == td.best_network(all_rows(2), "bic", **said).score


def test_what_cannot_be_read(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "words.csv").write_text("a,b\n1,2\n")
    pq.write_table(pa.table({"other": [1, 2]}), folder / "d.parquet")
    for path, words in (
        (tmp_path / "empty", "no Parquet files in it"),
        (f"{tmp_path}/none*.parquet", "no file has a name like this"),
        (f"{tmp_path}/*.csv", "a pattern is for Parquet files"),
        (folder, "cannot be read"),
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
