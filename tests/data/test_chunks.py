"""Rows that are read chunk by chunk: what is known of a few columns is what the table in memory knows of them."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import date, time
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from parquet_folders import ENGINES, only, written

import topdag as td
from topdag.data import frames, series
from topdag.data.files import sniff
from topdag.data.lazy import chunks, distinct

pytest.importorskip("pyarrow", reason="Parquet files are written with pyarrow")


@pytest.fixture
def nothing_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "fits_in_memory", lambda *_: False)
    monkeypatch.setattr(frames, "rows_fit", lambda *_, few: False)
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
    {
        "missing": "state",
        "leave_out": ["dose", "age"],
        "states": {"ill": [True, False, "unknown"]},
        "keep_constant": True,
    },
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
        with pytest.raises(td.TooLarge, match="does not hold"):
            asked()
    with pytest.raises(td.TooLarge, match="Another process would need all rows"):
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


@pytest.mark.parametrize("engine", ENGINES)
def test_cells_of_any_type_are_states(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, engine: str
) -> None:
    only(monkeypatch, [engine])
    days = [date(2020, 2, 1), date(2021, 2, 1)]
    columns = {"day": days, "a": [0, 1], "bytes": [b"0", b"1"], "time": [time(1)] * 2}
    folder = written(tmp_path / "rows", columns)
    held = td.read_table(folder)
    assert held.states == (("2020-02-01", "2021-02-01"), (0, 1), ("b'0'", "b'1'"), ("01:00:00",))
    request.getfixturevalue("nothing_fits")
    table = td.read_table(folder)
    assert table.chunks is not None and table.states == held.states


@pytest.mark.usefixtures("nothing_fits")
@pytest.mark.parametrize("engine", ENGINES)
def test_columns_that_are_no_variables_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    only(monkeypatch, [engine])
    day = [date(2020 + i // 12, 1 + i % 12, 1) for i in range(60)]
    columns = {
        "row": list(range(85, 145)),
        "day": day,
        "a": [i % 2 for i in range(60)],
        "name": [f"person {i}" for i in range(60)],
        "b": ["high" if i % 3 else "low" for i in range(60)],
        "empty": [None] * 59 + ["x"],
    }
    table = td.read_table(written(tmp_path / "rows", columns), missing="state")
    assert table.chunks is not None and table.names == ("a", "b", "empty")
    assert [table.types[name].type for name in ("row", "day", "name")] == ["identifier", "date", "identifier"]
    assert any(note.startswith("Left out: 'row' (") for note in table.notes)
    named = td.read_table(tmp_path / "rows", missing="state", columns=["a", "day"])
    assert named.names == ("day", "a") and len(named.states[0]) == 60
    assert td.best_network(table, "bic", max_parents=1).proof.status.name == "PROVED"


@pytest.mark.usefixtures("nothing_fits")
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("how", ["anew", "damaged", "gone"])
def test_files_that_change_are_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str, how: str) -> None:
    only(monkeypatch, [engine])
    folder = written(tmp_path / "rows", {"a": [0, 1, 1, 0], "b": [0, 0, 1, 1]})
    table = td.read_table(folder)
    file = folder / "0.parquet"
    if how == "anew":  # with the same counts of single columns
        written(folder, {"a": [0, 1, 1, 0], "b": [0, 1, 1, 0]})
    elif how == "damaged":
        file.write_bytes(b"PAR1 and what is none")
    else:
        file.unlink()
    for _ in range(2):
        with pytest.raises(td.TableError, match=r"0\.parquet was written anew, or is gone; read the table again"):
            td.best_network(table, max_parents=1)


@pytest.mark.usefixtures("nothing_fits")
@pytest.mark.parametrize(
    ("change", "how"),
    [
        ("update t set a = 2 where b = 1", "column 'a' has the value 2"),
        ("update t set word = 'z' where b = 1", "column 'word' has the value 'z'"),
        ("update t set word = null where b = 1", "column 'word' has missing values"),
        ("delete from t where b = 1", "40 rows were read, and 80 before"),
        ("update t set c = 0 where a = 0", "the states of column 'c' occur more or less often"),
        ("drop table t", "cannot be read again"),
    ],
)
def test_rows_of_a_connection_that_change_are_an_error(change: str, how: str) -> None:
    """Nothing tells when they were written."""
    connection = pytest.importorskip("duckdb").connect()
    connection.sql(TABLE)
    table = td.Table(connection.table("t"))
    connection.sql(change)
    with pytest.raises(td.TableError, match=how):
        td.best_network(table, "bic", max_parents=1)


TABLE = (
    "create table t as select i % 2 as a, i // 2 % 2 as b, i // 4 % 2 as c, chr((97 + i // 8 % 3)::integer) as word "
    "from range(80) r(i)"
)


@pytest.mark.usefixtures("nothing_fits")
def test_pairs_that_change_between_readings_are_an_error() -> None:
    connection = pytest.importorskip("duckdb").connect()
    connection.sql(TABLE)
    table = td.Table(connection.table("t"))
    assert td.best_network(table, "bic", max_parents=1).proof.status.name == "PROVED"
    connection.sql("update t set b = a")
    with pytest.raises(td.TableError, match="columns 'a' and 'b' are otherwise related"):
        td.best_network(table, "bic", max_parents=2)


LARGE = [2**53, 2**62, 2**64, 2**100, 10**30, 2**126]


@pytest.mark.parametrize("missing", ["error", "drop", "state"])
@pytest.mark.parametrize("negative", [False, True])
@pytest.mark.parametrize("least", LARGE)
@pytest.mark.parametrize("engine", ENGINES)
def test_integers_wider_than_floats_are_told_apart_or_refused(
    request: pytest.FixtureRequest, engine: str, least: int, negative: bool, missing: str
) -> None:
    """DuckDB hands HUGEINT over as floats, which make one of what differs by one."""
    pl, duckdb = pytest.importorskip("polars"), pytest.importorskip("duckdb")
    numbers = [(-1) ** negative * (least + step) for step in (0, 1, 2, 1)]

    def read() -> Any:
        rows = f"(values {', '.join(f'({x}::hugeint, {y})' for y, x in enumerate(numbers))}) t(x, y)"
        small = {"x": pl.Series(numbers, dtype=pl.Int128), "y": range(4)}
        source = pl.LazyFrame(small) if engine == "polars" else duckdb.connect().sql(f"select * from {rows}")
        try:
            table = td.Table(source, missing=missing)
        except td.TableError as error:
            return str(error)
        return table.states, cells(table, [0, 1])

    held = read()
    request.getfixturevalue("nothing_fits")
    assert read() == held
    if not isinstance(held, str):
        assert sorted(held[0][0]) == sorted(set(numbers))


@pytest.mark.usefixtures("nothing_fits")
@pytest.mark.parametrize("missing", ["state", "drop"])
def test_declared_states_that_no_row_has(missing: str) -> None:
    pl = pytest.importorskip("polars")
    levels = pl.Series(["s", "l", None, "s"] * 50, dtype=pl.Enum(["s", "m", "l"]))
    frame = pl.DataFrame({"x": [0, 1, 1, 0] * 50, "size": levels})
    held, table = td.Table(frame, missing=missing), td.Table(frame.lazy(), missing=missing)
    assert table.states == held.states
    assert td.best_network(table, "bic").score == pytest.approx(td.best_network(held, "bic").score, abs=1e-9)


@pytest.mark.usefixtures("nothing_fits")
@pytest.mark.parametrize("keep_constant", [False, True])
def test_columns_of_one_state(tmp_path: Path, keep_constant: bool) -> None:
    both = {"a": [0, 1, 1, 0] * 9, "b": [0, 0, 1, 0] * 9}
    for place, columns in enumerate([{"k": [7] * 36, **both}, {"k": [7] * 36, "m": ["x"] * 36}, {"k": [7], "m": [1]}]):
        held = td.Table(columns, keep_constant=keep_constant)
        table = td.read_table(written(tmp_path / str(place), columns), keep_constant=keep_constant)
        for most in (None, 0, 1):
            expected, found = (td.best_network(each, "bdeu", max_parents=most) for each in (held, table))
            assert found.network == expected.network
            assert found.score == pytest.approx(expected.score, abs=1e-9)
            assert found.network.fit(table).tables["k"] == pytest.approx(expected.network.fit(held).tables["k"])


@pytest.mark.usefixtures("nothing_fits")
def test_no_rows_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(td.TableError, match="the table has no rows"):
        td.read_table(written(tmp_path / "rows", {"a": np.zeros(0, int), "b": np.zeros(0, int)}))


PRESSED_IN_A_QUERY = """
import os, signal, threading
import duckdb
from topdag.data.series import told_of

signal.signal(signal.SIGINT, signal.default_int_handler)
connection = duckdb.connect(config={"threads": 1})  # with more, this one may wait for others, deaf to signals
query = "select count(*) from range(200000) s(i), range(200000) t(j) where hash(i) % 7 + hash(j) % 11 = 3"
try:
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    with told_of("this"):
        connection.sql(query).fetchall()
except KeyboardInterrupt:
    print("heard")
"""


def test_an_interrupted_engine_is_ctrl_c() -> None:
    """A real signal in a query that would go on for a minute, in a process of its own."""
    pytest.importorskip("duckdb")
    assert subprocess.check_output([sys.executable, "-c", PRESSED_IN_A_QUERY], text=True) == "heard\n"


def test_an_engine_without_memory_says_what_to_do() -> None:
    duckdb = pytest.importorskip("duckdb")
    small = duckdb.connect(config={"memory_limit": "2MB", "temp_directory": "", "threads": 1})
    with pytest.raises(td.TooLarge, match=r"needs more memory than it was given.*Allow more"), series.told_of("this"):
        small.sql("select count(distinct i) from range(10000000) t(i)").fetchall()


@pytest.mark.usefixtures("nothing_fits")
def test_one_table_in_several_threads(tmp_path: Path) -> None:
    table = td.read_table(written(tmp_path / "rows", columns(1, 2_000)), missing="drop", discretize="mean")
    with ThreadPoolExecutor(4) as pool:
        scores = list(pool.map(lambda most: td.best_network(table, "bic", max_parents=most).score, [1, 2, 3, 2] * 3))
    assert scores == [scores[0], scores[1], scores[2], scores[1]] * 3


@pytest.mark.usefixtures("nothing_fits")
def test_who_is_told_of_progress_cannot_ask_for_rows(tmp_path: Path) -> None:
    """It would wait for itself."""
    table = td.read_table(written(tmp_path / "rows", columns(1, 500)), missing="drop", discretize="mean")
    with pytest.raises(td.TableError, match="on_progress cannot ask for more"):
        td.best_network(table, "bic", max_parents=2, on_progress=lambda _: table.of_columns([0, 1, 2]))
    assert td.best_network(table, "bic", max_parents=2, on_progress=lambda _: table.of_columns([0])).proved


@pytest.mark.usefixtures("nothing_fits")
def test_who_waits_for_another_reading_is_stopped_in_time(tmp_path: Path) -> None:
    table = td.read_table(written(tmp_path / "rows", columns(1, 500)), missing="drop", discretize="mean")
    assert table.chunks is not None
    with table.chunks._one_at_a_time:
        stopped = td.best_network(table, "bic", max_parents=2, time_limit=0.2)
    assert stopped.proof.status.name == "STOPPED"
    assert td.best_network(table, "bic", max_parents=2).proved


NAN = float("nan")
RULES: list[dict[str, Any]] = [
    {"discretize": "mean"},
    {"discretize": {"x": [1.5]}},
    {"states": {"x": [0.0, 1.0, 2.0, 3.0]}},
    {},
]


@pytest.mark.parametrize("held", [True, False])
@pytest.mark.parametrize("kept", [{"missing": "drop"}, {"missing": "state"}, {"missing": "error"}])
@pytest.mark.parametrize(
    "numbers", [[NAN, 0.0, 1.0, 2.0, 3.0, NAN, 1.0, None], [NAN, 0.5, 1.0, 2.25, 3.5, NAN, 1.0, None]]
)
@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("engine", ENGINES)
def test_nan_is_a_gap_whatever_the_statistics_of_files_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str, rule: Any, numbers: list[Any], kept: Any, held: bool
) -> None:
    """They leave NaN out, and DuckDB believes them."""
    only(monkeypatch, [engine])
    folder = written(tmp_path / "rows", {"x": numbers, "y": [v % 2 for v in range(len(numbers))]})

    def read(source: Any) -> Any:
        try:
            table = td.read_table(source, **rule, **kept)
        except td.TableError as error:
            return type(error)
        return table.states, cells(table, [0, 1])

    whole = read(next(folder.glob("*.parquet")))
    if not held:
        monkeypatch.setattr(frames, "fits_in_memory", lambda *_: False)
    assert read(folder) == whole


@pytest.mark.usefixtures("nothing_fits")
def test_copies_and_forks(tmp_path: Path) -> None:
    table = td.read_table(written(tmp_path / "rows", {"a": [0, 1, 1, 0], "b": [0, 0, 1, 1]}))
    assert copy.deepcopy(table) == copy.copy(table) == table
    assert table.chunks is not None
    forked = replace(table.chunks, _process=os.getpid() + 1)
    with pytest.raises(td.TooLarge, match="is a fork of the one that read the table"):
        forked.margins(2)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_file_that_does_not_fit_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str) -> None:
    """Like a folder of one file."""
    monkeypatch.setattr(sniff, "LARGE_FILE", 100)
    only(monkeypatch, [engine])
    rng = np.random.default_rng(6)
    rows = {f"v{i}": rng.integers(0, 4, 5_000) for i in range(12)}
    file = written(tmp_path / "rows", rows) / "0.parquet"
    whole = td.read_table(file)
    assert whole.chunks is None and td.read_table(file, memory_limit="10MB") == whole
    assert td.read_table(file, memory_limit="500kB").chunks is not None
    assert td.read_table(file, memory_limit="500kB", columns=["v1", "v2"]).chunks is None
    with pytest.raises(td.TableError, match="name of a column"):
        td.read_table(file, memory_limit="500kB", weights=[1] * 5_000)
    assert td.read_table(file, weights=[1] * 5_000) == whole
