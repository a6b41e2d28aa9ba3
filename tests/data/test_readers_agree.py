"""The same rows make the same table, whatever library or file holds them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import topdag as td
from topdag.data.lazy import distinct

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

N = 150
RNG = np.random.default_rng(21)


def gaps(cells: list[Any], every: int) -> list[Any]:
    return [None if i % every == 3 else cell for i, cell in enumerate(cells)]


CODE = RNG.integers(0, 3, N).tolist()
COLUMNS: dict[str, list[Any]] = {
    "case": [7 + i + i // 9 for i in range(N)],
    "name": [f"person {i}" for i in range(N)],
    "seen": [dt.date(2020, 1, 1) + dt.timedelta(days=i) for i in range(N)],
    "trt": gaps(RNG.integers(1, 3, N).tolist(), 40),
    "stage": gaps(RNG.integers(1, 5, N).tolist(), 50),
    "time": gaps(RNG.integers(30, 4000, N).tolist(), 60),
    "score": RNG.integers(0, 9, N).tolist(),
    "code": CODE,
    "word": [("low", "medium", "high")[c] for c in CODE],
    "size": [("small", "large", "medium")[c] for c in RNG.integers(0, 3, N).tolist()],
    "age": [99 * 101 if i % 30 == 0 else a for i, a in enumerate(RNG.integers(18, 80, N).tolist())],
    "height": gaps(RNG.normal(170, 9, N).round(1).tolist(), 70),
    "sick": (RNG.random(N) < 0.4).tolist(),
}
COLUMNS["age"] = [9999 if a == 99 * 101 else a for a in COLUMNS["age"]]
WHOLE = [name for name in COLUMNS if name not in ("height",)]


def file_of(columns: dict[str, list[Any]], way: str, folder: Path) -> Path:
    if way == "csv":
        pd.DataFrame(columns).to_csv(folder / "rows.csv", index=False)
        return folder / "rows.csv"
    (folder / "rows").mkdir()
    table, ends = pa.table(columns), [0, 60, N * 100] if way == "folder" else [0, N * 100]
    for part, (begin, end) in enumerate(pairwise(ends)):
        parquet.write_table(table[begin:end], folder / "rows" / f"{part}.parquet")
    return folder / "rows" if way == "folder" else folder / "rows" / "0.parquet"


FRAMES: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "dicts": lambda columns: pa.table(columns).to_pylist(),
    "arrow": pa.table,
    "pandas": pd.DataFrame,
    "nullable": lambda columns: pd.DataFrame(columns).convert_dtypes(),
    "polars": lambda columns: pytest.importorskip("polars").from_arrow(pa.table(columns)),
    "polars-lazy": lambda columns: pytest.importorskip("polars").from_arrow(pa.table(columns)).lazy(),
    "duckdb": lambda columns: pytest.importorskip("duckdb").connect().from_arrow(pa.table(columns)),
    "dask": lambda columns: pytest.importorskip("dask.dataframe").from_pandas(pd.DataFrame(columns), npartitions=2),
}


def table_by(way: str, rows_by_name: dict[str, list[Any]], folder: Path, **said: Any) -> td.Table:
    if way in FRAMES:
        return td.Table(FRAMES[way](rows_by_name), **said)
    return td.read_table(file_of(rows_by_name, way, folder), **said)


SAID: list[dict[str, Any]] = [
    {},
    {"missing": "state", "leave_out": ["time", "height", "age"]},
    {"discretize": "median", "missing": "drop"},
    {"types": {"code": "categorical", "word": "ordinal", "score": "continuous", "case": "categorical"}},
    {"columns": ["trt", "stage", "code", "name"]},
]


def known(of: td.data.types.ColumnType) -> tuple[Any, ...]:
    return of.type, of.reason, of.given, of.n_missing


@pytest.mark.parametrize("way", [*FRAMES, "csv", "parquet", "folder"])
@pytest.mark.parametrize("said", SAID, ids=str)
def test_small_tables(way: str, said: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Types, what is left out, gaps, and what is said of them."""
    monkeypatch.setattr(distinct, "FEW_CELLS", 2**22)
    expected = td.Table(COLUMNS, **said)
    flags = {"sick"} if way == "csv" else set()  # a file has the words True and False
    table = table_by(way, COLUMNS, tmp_path, **said)
    assert {name: known(of) for name, of in table.types.items()} == {
        name: known(of) for name, of in expected.types.items()
    }
    assert (table.names, table.n_rows, table.ordered) == (expected.names, expected.n_rows, expected.ordered)
    assert table.decisions == expected.decisions
    if not flags & set(table.names):
        assert table == expected


@pytest.mark.parametrize("way", ["polars-lazy", "duckdb", "dask", "folder"])
@pytest.mark.parametrize("said", SAID[:3], ids=str)
def test_rows_that_an_engine_groups(way: str, said: dict[str, Any], tmp_path: Path) -> None:
    """What depends on the order of rows alone, as that numbers with gaps count them, cannot be known there."""
    if way == "dask" and "discretize" in said:
        pytest.skip("dask knows no medians")
    columns = {name: COLUMNS[name] for name in WHOLE if name != "case"}
    said = said | ({"leave_out": ["time", "age"]} if "leave_out" in said else {})
    expected, table = td.Table(columns, **said), table_by(way, columns, tmp_path, **said)
    assert {name: of.type for name, of in table.types.items()} == {name: of.type for name, of in expected.types.items()}
    assert table == expected and table.ordered == expected.ordered
    if "discretize" not in said:  # else cuts come first, and what is left out is told of the rows that are left
        assert table.decisions == expected.decisions


@pytest.mark.parametrize("way", ["polars-lazy", "duckdb"])
def test_equal_rows_count_for_what_they_stand(way: str, tmp_path: Path) -> None:
    """Few different rows of many: neither a name for each of them nor few rows."""
    towns = [f"town {i}" for i in range(24)]
    columns = {
        "town": towns * 100,
        "north": [i < 12 for i in range(24)] * 100,
        "code": [100 + i * i for i in range(24)] * 100,
        "sex": ["f", "m"] * 1200,
    }
    expected = td.Table(columns)
    table = table_by(way, columns, tmp_path)
    assert table == expected and table.n_distinct == 24
    assert table.types["town"].type == "categorical" and table.types["code"].type == "duplicate"
    some = columns | {"town": [None if i % 100 < 5 else town for i, town in enumerate(columns["town"])]}
    assert table_by(way, some, tmp_path).decisions == td.Table(some).decisions
