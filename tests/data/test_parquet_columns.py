"""Files whose columns differ: types that keep all values are joined, others refused, and names are those written."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from parquet_folders import ENGINES, only, written

import topdag as td
from topdag.data import frames

pa = pytest.importorskip("pyarrow", reason="Parquet files are written with pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

KINDS: dict[str, list[Any]] = {
    "whole": [
        pa.array([0, 1], pa.int8()),
        pa.array([300, 2**53 + 1], pa.int64()),
        pa.array([200, 1], pa.uint8()),
        pa.array([2**53, 1], pa.uint64()),
        pa.array([3, 4]).dictionary_encode(),
    ],
    "float": [pa.array([0.5, 1], pa.float32()), pa.array([0.4, 2.0**53])],
    "decimal": [pa.array([Decimal("1.4"), Decimal("1.6")]), pa.array([Decimal("1.44"), Decimal("21.6")])],
    "text": [
        pa.array(["01", " 2"]),
        pa.array(["false", "t"], pa.large_string()),
        pa.array(["u", "01"]).dictionary_encode(),
    ],
    "bool": [pa.array([True, False]), pa.array([True, True])],
    "null": [pa.nulls(2)],
    "date": [pa.array([1, 2], pa.date32())],
}
COLUMNS = [(kind, column) for kind, columns in KINDS.items() for column in columns if kind != "date"]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("first", COLUMNS, ids=lambda first: str(first[1].type))
def test_types_are_joined_or_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str, first: tuple[str, Any]
) -> None:
    """What comes of two files is what comes of all their cells, or an error."""
    only(monkeypatch, [engine])
    kind, column = first
    for other_kind, other in [*COLUMNS, ("date", KINDS["date"][0])]:
        folder = written(tmp_path, {"x": column, "b": [0, 1]}, {"b": [1, 0], "x": other})
        is_cut = {"float", "decimal"} & {kind, other_kind}
        said: dict[str, Any] = {"missing": "state", "discretize": {"x": [0.45, 1.42]} if is_cut else None}
        are_numbers = {kind, other_kind} == {"whole", "float"}
        cells = {"x": column.to_pylist() + other.to_pylist(), "b": [0, 1, 1, 0]}
        said["states"] = {"x": [0]} if kind == other_kind == "null" else None
        if are_numbers and max((column if kind == "whole" else other).to_pylist()) >= 2**53:
            with pytest.raises(td.TableError, match=r"column 'x' has integers of 2\^53 and more in .*parquet"):
                td.read_table(folder, **said)
        elif are_numbers or (other_kind != "date" and (kind == other_kind or "null" in (kind, other_kind))):
            is_declared = all(pa.types.is_dictionary(each.type) for each in (column, other))
            expected = said | ({"states": {"x": list(dict.fromkeys(cells["x"]))}} if is_declared else {})
            assert td.read_table(folder, **said) == td.Table(cells, **expected), (column.type, other.type)
        elif other_kind != "date" or kind != "null":  # a date in all files is refused as in one
            with pytest.raises(td.TableError, match=r"column 'x' is .*0\.parquet and .*1\.parquet: no type has") as e:
                td.read_table(folder, **said)
            assert "leave the column out with leave_out=['x']" in str(e.value)


@pytest.mark.parametrize("engine", ENGINES)
def test_integers_that_pandas_wrote_as_floats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str) -> None:
    """Because of a gap in one file: they are the same states."""
    only(monkeypatch, [engine])
    folder = written(tmp_path, {"x": [1, 2, 3], "b": [0, 1, 0]}, {"x": [3.0, None, 1.0], "b": [0, 0, 1]})
    expected = td.Table({"x": [1, 2, 3, 3, None, 1], "b": [0, 1, 0, 0, 0, 1]}, missing="drop")
    assert td.read_table(folder, missing="drop") == expected and expected.states[0] == (1, 2, 3)


@pytest.mark.parametrize("engine", ENGINES)
def test_more_than_two_types_and_files_in_their_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    """Files of several types, and with their columns in any order, one after the other."""
    only(monkeypatch, [engine])
    types = [pa.int8(), pa.null(), pa.int64(), pa.uint16()]
    cells = [[1, 2, 3], [None] * 3, [5, None, 700], [8, 9, 10]]
    parts = [{"x": pa.array(cells[i % 4], types[i % 4]), "i": [i, i + 0.5, i]} for i in range(40)]
    parts = [dict(reversed(part.items())) if i % 3 else part for i, part in enumerate(parts)]
    whole = {
        "i": [number for part in parts for number in part["i"]],
        "x": [cell for part in parts for cell in pa.array(part["x"]).to_pylist()],
    }
    folder = written(tmp_path, *parts)
    for old in folder.iterdir():
        old.rename(old.with_name(old.name.zfill(10)))
    was_set = [["x"] * (row % 7 < 3) for row in range(120)]
    for said in (
        {"missing": "state", "discretize": {"i": "mean"}},
        {"missing": "drop", "discretize": "mean", "interventions": was_set},
        {"missing": "drop", "types": {"i": "continuous"}, "weights": [row % 3 for row in range(120)]},
    ):
        options: dict[str, Any] = {"columns": ["x", "i"], **said}
        expected = td.Table({name: whole[name] for name in td.read_table(folder, **options).names}, **options)
        assert td.read_table(folder, **options) == expected


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_left_out_may_differ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str) -> None:
    only(monkeypatch, [engine])
    folder = written(
        tmp_path,
        {"a": [0, 1], "b": [0, 0], "c": [1, 2], "d": [1, 2]},
        {"d": ["u", "v"], "b": [1, 1], "a": [0, 1]},
    )
    expected = td.Table({"a": [0, 1, 0, 1], "b": [0, 0, 1, 1]})
    assert td.read_table(folder, leave_out=["c", "d"]) == td.read_table(folder, columns=["a", "b"]) == expected
    for left_out, words in ((["c"], "column 'd' is Int64 in"), (["d"], "has other columns than .*: 'c' is in one")):
        with pytest.raises(td.TableError, match=words):
            td.read_table(folder, leave_out=left_out)


@pytest.mark.parametrize("engine", ENGINES)
def test_weights_of_several_types(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str) -> None:
    only(monkeypatch, [engine])
    cells = {"a": [0, 1], "b": [1, 1]}
    folder = written(tmp_path, {**cells, "w": [1, 2]}, {**cells, "w": [1.5, 2.0]})
    with pytest.raises(td.TableError, match=r"1 weight in column 'w': missing, negative, infinite or not whole"):
        td.read_table(folder, weights="w")
    written(tmp_path, {**cells, "w": pa.array([1, 2], pa.int8())}, {**cells, "w": [300, 2]})
    assert td.read_table(folder, weights="w").weights.tolist() == [301, 4]


@pytest.mark.parametrize("engine", ENGINES)
def test_names_that_differ_in_capitals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str) -> None:
    """DuckDB would call them a, A_1, b and a_1_1, in the order of each file."""
    rows = {"a": [0, 1, 1], "A": [2, 2, 5], "b": [0, 1, 0], "a_1": [7, 8, 7], "é": [0, 0, 1], "É": [1, 0, 1]}
    folder = written(tmp_path, rows, {name: rows[name] for name in ("a_1", "A", "b", "a", "É", "é")})
    twice = {name: cells * 2 for name, cells in rows.items()}
    wanted: list[dict[str, Any]] = [
        {"columns": ["A", "b", "a_1"]},
        {"leave_out": ["a"], "discretize": {"A": [3.0]}},
        {"leave_out": ["A"], "weights": "a"},
        {"leave_out": ["A"]},
    ]
    everything: list[dict[str, Any]] = [{}, {"leave_out": ["b"], "discretize": {"A": [3.0]}}, {"weights": "A"}]
    for said in (*wanted, *everything):  # another engine is asked where there is one
        pytest.importorskip("polars")
        assert td.read_table(folder, **said) == td.Table(twice, **said)
    only(monkeypatch, [engine])
    for said in (*wanted, *(everything if engine == "polars" else ())):
        assert td.read_table(folder, **said) == td.Table(twice, **said)
    for said in everything if engine == "duckdb" else ():
        with pytest.raises(td.TableError, match=r"the names 'a', 'A' differ in capitals only.* leave_out=\['A'\]"):
            td.read_table(folder, **said)


def test_names_with_dots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As R writes them; DuckDB takes what stands before the dot for a table."""
    pytest.importorskip("polars")
    content = {"Sepal.Length": [0, 1, 1, 0], "Species": [0, 0, 1, 1], "Year": [1, 0, 1, 0]}
    others = td.Table({name: content[name] for name in ("Species", "Year")})
    folder = written(tmp_path / "rows", content)
    assert td.read_table(folder) == td.Table(content)
    only(monkeypatch, ["duckdb"])
    with pytest.raises(td.TableError, match=r"names with dots, such as 'Sepal\.Length': rename them, or pip install"):
        td.read_table(folder)
    assert td.read_table(folder, leave_out=["Sepal.Length"]) == others
    rows = pytest.importorskip("duckdb").read_parquet(f"{folder}/*.parquet")
    with pytest.raises(td.TableError, match=r"names with dots, such as 'Sepal\.Length': rename them"):
        td.Table(rows)
    assert td.Table(rows, columns=["Species", "Year"]) == others


@pytest.mark.parametrize("engine", ENGINES)
def test_names_that_cannot_be_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str) -> None:
    from pyarrow import parquet

    only(monkeypatch, [engine])
    parquet.write_table(pa.table([[1], [2], [3]], names=["a", "a", "b"]), tmp_path / "0.parquet")
    with pytest.raises(td.TableError, match=r"0\.parquet.*more than one.*"):
        td.read_table(tmp_path)
    folder = written(tmp_path, {"": [1, 2], "a": [0, 1], "b": [1, 1]})
    with pytest.raises(td.TableError, match=r"column 0 .* has no name"):
        td.read_table(folder)
    assert td.read_table(folder, leave_out=[""]).names == ("a", "b")


# ---- Categories


def categories(cells: Sequence[Any], declared: Sequence[Any]) -> Any:
    codes = [None if cell is None else list(declared).index(cell) for cell in cells]
    return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), pa.array(declared))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("is_held", [True, False])
def test_categories_are_those_of_a_file_read_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str, is_held: bool
) -> None:
    """In their order, without rows too; however much memory is free."""
    columns: dict[str, Any] = {
        "text": categories(["lo", "hi", None, "lo"], ["lo", "hi", "never"]),
        "number": categories([30, 2, 2, 30], [30, 2, *range(100, 125)]),
        "empty": categories([None] * 4, ["x", "y"]),
        "a.b": categories(["", "q", "q", ""], ["q", ""]),
        "plain": ["b", "a", "a", "b"],
    }
    columns |= {} if engine == "polars" else {"AB": columns.pop("a.b")}  # DuckDB finds no names with dots
    folder = written(tmp_path / "rows", columns)
    said: Any = dict(missing="state", discretize="mean")
    whole = td.read_table(folder / "0.parquet", **said)
    assert whole.states[whole.index("text")] == ("lo", "hi", "never", "missing")
    only(monkeypatch, [engine])
    monkeypatch.setattr(frames, "fits_in_memory", lambda *_: is_held)
    table = td.read_table(folder, **said)
    assert table.names == whole.names and table.states == whole.states
    assert td.best_network(table, "bdeu", max_parents=1).score == pytest.approx(
        td.best_network(whole, "bdeu", max_parents=1).score
    )
    every_row = td.read_table(folder, missing="state", types={"plain": "categorical"})
    assert every_row.states == whole.states


@pytest.mark.parametrize("engine", ENGINES)
def test_categories_of_several_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str) -> None:
    """All of them where every file has some; the states that occur where one has texts."""
    only(monkeypatch, [engine])
    first = {"a": categories(["v"], ["w", "v"]), "b": categories(["v"], ["w", "v"])}
    second = {"a": categories(["u"], ["v", "u", "t"]), "b": ["u"]}
    table = td.read_table(written(tmp_path / "rows", first, second))
    assert table.states == (("w", "v", "u", "t"), ("u", "v"))


@pytest.mark.parametrize("engine", ENGINES)
def test_categories_of_groups_of_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str) -> None:
    """Each has its own; more than a dictionary of the file holds stand at the end."""
    only(monkeypatch, [engine])
    own = [categories(["v", "u"], ["w", "v", "u"]), categories(["t", "u"], ["u", "t", "s"])]
    (tmp_path / "rows").mkdir()
    parquet.write_table(
        pa.table({"a": pa.chunked_array(own), "b": [0, 1, 0, 1]}),
        file := tmp_path / "rows" / "0.parquet",
        row_group_size=2,
    )
    assert parquet.ParquetFile(file).num_row_groups == 2
    assert td.read_table(tmp_path / "rows").states == td.read_table(file).states
    many = [f"state {i:03}" for i in range(400)]
    table = pa.table({"a": categories(many, many[::-1]), "b": [0, 1] * 200})
    parquet.write_table(table, file, dictionary_pagesize_limit=1_000, data_page_size=500, write_batch_size=10)
    read = td.read_table(tmp_path / "rows")
    assert sorted(read.states[0]) == many and read.n_rows == 400


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("missing", ["drop", "state"])
@pytest.mark.parametrize(
    "how",
    [{"use_dictionary": False}, {"dictionary_pagesize_limit": 1, "data_page_size": 1, "write_batch_size": 1}, {}],
    ids=["no dictionary", "a short dictionary", "a dictionary of the first rows"],
)
def test_categories_beside_the_dictionary_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str, how: dict[str, Any], missing: str
) -> None:
    """Writers end a dictionary that becomes too long, or other than the first: what follows are cells as they are,
    some of them in rows that are dropped."""
    own = [categories(["v", "s"], ["v", "s"]), categories(["u", "a", "t", "s", "b"], list("btsau"))]
    columns = {
        "x": pa.chunked_array(own),
        "y": [0, 1, 1, 0, None, 0, 1],
        "z": categories(list("nmnmlkn"), list("klmn")),
    }
    (tmp_path / "rows").mkdir()
    parquet.write_table(pa.table(columns), file := tmp_path / "rows" / "0.parquet", **how)
    whole = td.read_table(file, missing=missing)
    assert set(whole.states[0]) == set("vsuatb")
    only(monkeypatch, [engine])
    read = td.read_table(tmp_path / "rows", missing=missing)
    assert read == whole and read.states == whole.states
    monkeypatch.setattr(frames, "fits_in_memory", lambda *_: False)
    assert td.read_table(tmp_path / "rows", missing=missing).states == whole.states
