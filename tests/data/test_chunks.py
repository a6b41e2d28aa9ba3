"""Rows that are read chunk by chunk: what is known of a few columns is what the table in memory knows of them."""

from __future__ import annotations

import pickle
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from parquet_folders import ENGINES, only, written

import topdag as td
from topdag.data import frames
from topdag.data.lazy import chunks, distinct

pytest.importorskip("pyarrow", reason="Parquet files are written with pyarrow")


@pytest.fixture
def nothing_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "fits_in_memory", lambda *_: False)
    monkeypatch.setattr(chunks, "ROWS_OF_A_CHUNK", 13)


def columns(seed: int, n: int = 200) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    dose: list[float | None] = rng.normal(size=n).round(3).tolist()
    word: list[str | None] = rng.choice(["no", "yes", "Yes", "perhaps"], n).tolist()
    for place in rng.choice(n, 12, replace=False).tolist():
        dose[place] = word[-1 - place] = None
    return {
        'a "quoted" word': word,
        "age": rng.integers(0, 90, n).tolist(),
        "dose": dose,
        "ill": rng.choice([True, False], n).tolist(),
        "often": rng.integers(0, 4, n).tolist(),
        "whole": rng.integers(0, 3, n).astype(float).tolist(),
        "always": ["here"] * n,
    }


SAID: list[dict[str, Any]] = [
    {"missing": "drop", "discretize": "mean"},
    {"missing": "state", "discretize": {"dose": [-0.5, 0.5], "*": "median"}},
    {"missing": "drop", "discretize": {"dose": [0.0], "age": "uniform(3)"}, "weights": "often"},
    {"missing": "state", "leave_out": ["dose"], "states": {"ill": [True, False, "unknown"]}, "keep_constant": True},
]


def cells(table: td.Table, variables: list[int]) -> Counter[tuple[Any, ...]]:
    found: Counter[tuple[Any, ...]] = Counter()
    for row, weight in table.of_columns(variables).rows():
        found[row] += weight
    return found


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("said", SAID)
def test_few_columns_are_as_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, engine: str, said: dict[str, Any]
) -> None:
    parts = [columns(seed) for seed in range(3)]
    held = td.Table({name: [cell for part in parts for cell in part[name]] for name in parts[0]}, **said)
    only(monkeypatch, [engine])
    folder = written(tmp_path / "rows", *parts)
    notes = td.read_table(folder, **said).notes
    request.getfixturevalue("nothing_fits")
    table = td.read_table(folder, **said)
    assert table.chunks is not None and held.chunks is None
    assert (table.names, table.states, table.n_rows) == (held.names, held.states, held.n_rows)
    assert (table.constant, table.keep_constant, table.reading) == (held.constant, held.keep_constant, held.reading)
    assert table.notes == (*notes, chunks.NOTE)
    for size in (1, 3, 2):
        for few in combinations(range(table.n_variables), size):
            for variables in (list(few), list(few)[::-1]):
                assert cells(table, variables) == cells(held, variables)


@pytest.mark.usefixtures("nothing_fits")
def test_lazy_frames_of_both_engines() -> None:
    pl, duckdb = pytest.importorskip("polars"), pytest.importorskip("duckdb")
    frame = pl.DataFrame(columns(4)).drop_nulls().drop("dose")
    held = td.Table(frame)
    for lazy in (frame.lazy(), duckdb.from_arrow(frame.to_arrow())):
        table = td.Table(lazy)
        assert table.chunks is not None
        assert cells(table, [0, 1]) == cells(held, [0, 1])


def test_it_is_for_rows_that_do_not_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    different = {f"v{i}": rng.integers(0, 4, 5_000) for i in range(12)}
    alike = {f"v{i}": rng.integers(0, 2, 5_000) for i in range(4)}
    for engine in ENGINES:
        with monkeypatch.context() as without:
            only(without, [engine])
            for place, (rows, is_held) in enumerate([(different, False), (alike, True)]):
                folder = written(tmp_path / f"{engine}{place}", rows)
                assert td.read_table(folder, memory_limit="1GB").chunks is None
                assert (td.read_table(folder, memory_limit="500kB").chunks is None) == is_held
    with monkeypatch.context() as small:
        small.setattr(distinct, "available_memory", lambda: 500_000)
        assert td.read_table(tmp_path / "duckdb0").chunks is not None


@pytest.mark.parametrize("engine", ENGINES)
def test_distinct_rows_are_counted_roughly(engine: str) -> None:
    pl, duckdb = pytest.importorskip("polars"), pytest.importorskip("duckdb")
    rng = np.random.default_rng(6)
    frame = pl.DataFrame({"a": rng.integers(0, 50, 20_000), 'b"': rng.integers(0, 60, 20_000)})
    native = frame.lazy() if engine == "polars" else duckdb.from_arrow(frame.to_arrow())
    true = len(frame.unique())
    assert 0.85 * true < distinct.n_distinct_about(native) < 1.15 * true


@pytest.mark.usefixtures("nothing_fits")
def test_what_needs_rows_is_refused(tmp_path: Path) -> None:
    table = td.read_table(written(tmp_path / "rows", {"a": [0, 1, 1, 0], "b": [0, 0, 1, 1], "c": [0, 1, 2, 0]}))
    assert "4 rows (read chunk by chunk)" in repr(table) and "read chunk by chunk" in table._repr_html_()
    for asked in (
        lambda: list(table.rows()),
        table.to_frame,
        lambda: table.codes,
        lambda: table.weights,
        lambda: td.bootstrap(table, n=2),
        lambda: td.score(table, td.BDs()),
        lambda: td.score(table, td.NAL()),
        lambda: td.score(table, td.CustomScore(lambda family: 0.0)),
    ):
        with pytest.raises(td.TooLarge, match="too different to be held in memory"):
            asked()
    with pytest.raises(td.TableError, match="cannot be sent to other processes"):
        pickle.dumps(table)


@pytest.mark.usefixtures("nothing_fits")
def test_missing_cells_that_are_kept_need_rows(tmp_path: Path) -> None:
    folder = written(tmp_path / "rows", {"a": [0, 1, None], "b": [0, 0, 1]})
    with pytest.raises(td.TooLarge, match="one by one"):
        td.read_table(folder, missing="keep")
    whole = written(tmp_path / "whole", {"a": [0, 1, 1], "b": [0, 0, 1]})
    assert td.read_table(whole, missing="keep").n_rows == 3


@pytest.mark.usefixtures("nothing_fits")
def test_a_column_that_tells_rows_apart_is_named(tmp_path: Path) -> None:
    folder = written(tmp_path / "rows", {"id": list(range(70_000)), "b": [0, 1] * 35_000})
    with pytest.raises(td.TableError, match=r"'id' has more than 65,535 states; leave it out"):
        td.read_table(folder)


@pytest.mark.usefixtures("nothing_fits")
@pytest.mark.parametrize(
    ("later", "how"),
    [
        ({"a": [0, 1, 2, 2], "b": ["x", "y", "x", "y"]}, "column 'a' has the value 2"),
        ({"a": [0, 1, 0, 0], "b": ["x", "y", "x", "z"]}, "column 'b' has the value 'z'"),
        ({"a": [0, 1, None, 0], "b": ["x", "y", "x", "y"]}, "column 'a' has missing values"),
        ({"a": [0, 1, 0], "b": ["x", "y", "x"]}, "3 rows were read, and 4 before"),
    ],
)
def test_files_that_change_are_an_error(tmp_path: Path, later: dict[str, Any], how: str) -> None:
    folder = written(tmp_path / "rows", {"a": [0, 1, 1, 0], "b": ["x", "x", "y", "y"]})
    table = td.read_table(folder)
    written(folder, later)
    with pytest.raises(td.TableError, match=how):
        td.score(table, max_parents=1)
