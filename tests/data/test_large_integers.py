"""Integers that floats do not tell apart: however they come the table is the same, exactly, or they are refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from parquet_folders import ENGINES, only, written

import topdag as td

MIXED = [(7 * i) % 120 for i in range(120)]
INTEGERS: dict[str, list[int]] = {
    "from 2**55 on": [2**55 + i % 60 for i in MIXED],
    "from 2**60 on": [2**60 + i % 60 for i in MIXED],
    "unsigned": [2**63 + i % 60 for i in MIXED],
    "of all sizes": [(-1) ** i * (2**63 - 1 - i % 60) for i in MIXED],
    "one at the limit": [2**53 if i == 7 else i % 30 for i in MIXED],
    "up to the limit": [2**53 - 1 - i % 60 for i in MIXED],
    "few and far": [(0, -(2**63), 2**63 - 1)[i % 3] for i in MIXED],
    "a number for each row": [2**60 + i for i in MIXED],
}
WAYS = (*ENGINES, "file", "csv", "pandas", "polars", "polars-lazy", "arrow", "duckdb-lazy", "dask")
RULES: tuple[Any, ...] = (None, "median", "mean", {"h": [0.5, 2.0**54]}, {"h": None})


def table_by(way: str, columns: Mapping[str, Any], folder: Path, patch: pytest.MonkeyPatch, said: Any) -> td.Table:
    with patch.context() as within:
        if way in ENGINES:
            only(within, [way])
            return td.read_table(folder / "rows", **said)
        if way in ("file", "csv"):
            return td.read_table(folder / ("rows/0.parquet" if way == "file" else "rows.csv"), **said)
        return td.Table(frame_by(way, columns), **said)


def frame_by(way: str, columns: Mapping[str, Any]) -> Any:
    if way == "arrow":
        return pytest.importorskip("pyarrow").table(dict(columns))
    if way == "duckdb-lazy":
        return pytest.importorskip("duckdb").connect().from_arrow(frame_by("arrow", columns))
    if way.startswith("polars"):
        frame = pytest.importorskip("polars").from_arrow(frame_by("arrow", columns))
        return frame.lazy() if way == "polars-lazy" else frame
    frame = pytest.importorskip("pandas").DataFrame(columns)
    return frame if way == "pandas" else pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=1)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("of", INTEGERS)
@pytest.mark.parametrize("gaps", [False, True])
def test_the_same_table_or_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str, of: str, gaps: bool
) -> None:
    pa = pytest.importorskip("pyarrow")
    if gaps and way in ("pandas", "dask"):
        pytest.skip("pandas makes floats of integers where cells are missing, before they come here")
    h = [None if gaps and i % 11 == 0 else number for i, number in enumerate(INTEGERS[of])]
    columns = {"h": h, "a": [i % 2 for i in range(120)]}
    kind = pa.uint64() if of == "unsigned" else pa.int64()
    typed = {"h": pa.array(h, kind), "a": pa.array(columns["a"])}
    written(tmp_path / "rows", typed)
    cells = ("" if number is None else str(number) for number in h)
    (tmp_path / "rows.csv").write_text("\n".join(["h,a", *(f"{cell},{i % 2}" for i, cell in enumerate(cells))]))
    given = columns if way in ("pandas", "dask") else typed
    for rule in RULES:
        if rule == "mean" and of == "up to the limit":  # whoever adds up such numbers rounds in a way of their own
            continue
        said = {"discretize": rule, "missing": "drop", "columns": ["h", "a"]}
        expected = table_or_error(lambda said=said: td.Table(columns, **said))
        found = table_or_error(lambda said=said: table_by(way, given, tmp_path, monkeypatch, said))
        if isinstance(expected, td.Table):
            assert found == expected, rule
            values = expected.states[0] or tuple(np.unique(expected.numbers).astype(int).tolist())
            assert str(values[0]).startswith("<=") or set(values) == {*h} - {None}
        else:
            assert expected.startswith("column 'h' holds integers of 2**53 or more, which cannot be cut exactly")
            assert isinstance(found, str) and found.endswith(expected), rule


def table_or_error(made: Callable[[], td.Table]) -> td.Table | str:
    try:
        return made()
    except td.TableError as error:
        return str(error)


def test_floats_are_cut_whatever_their_size() -> None:
    """They are exact; whole ones count as integers below the limit only."""
    numbers = [2.0**60 + 2.0**12 * i for i in MIXED]
    table = td.Table({"h": numbers, "a": [0, 1] * 60}, discretize={"h": "median"})
    assert np.bincount(table.codes[0], table.weights).tolist() == [60, 60]
    for other, kind in ((2.0**53, float), (2.0**53 - 1, int)):
        states = td.Table({"h": [other, 1.0], "a": [0, 1]}).states[0]
        assert states == (1, other) and {type(state) for state in states} == {kind}


def test_they_name_rows_and_do_not_measure() -> None:
    """Where nothing is said, columns of many of them are left out."""
    for name in ("from 2**60 on", "unsigned", "of all sizes"):
        columns = {"h": INTEGERS[name], "a": [i % 2 for i in range(120)], "b": [i % 3 for i in range(120)]}
        table = td.Table(columns)
        assert table.names == ("a", "b") and table.types["h"].type == "identifier"
    few = td.Table({"h": INTEGERS["few and far"], "a": [i % 2 for i in range(120)]})
    assert few.types["h"].type == "categorical" and few.arities.tolist() == [3, 2]
