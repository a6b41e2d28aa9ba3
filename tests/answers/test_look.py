"""A table at a glance: what each column is, and what will be done with it."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_runs import Topdag

import topdag as td
from topdag.cli.command import Exit

N = 60
RNG = np.random.default_rng(3)
COLUMNS: dict[str, list[Any]] = {
    "id": list(range(1, N + 1)),
    "sex": RNG.choice(["f", "m"], N).tolist(),
    "height": [None if i % 30 == 0 else 160 + i * 7 % 31 / 7 for i in range(N)],
    "score": RNG.integers(0, 9, N).tolist(),
    "country": ["here"] * N,
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    rows = zip(*COLUMNS.values(), strict=True)
    lines = [",".join("" if cell is None else str(cell) for cell in row) for row in rows]
    path.write_text("\n".join([",".join(COLUMNS), *lines]) + "\n")
    return path


def test_types_and_uses() -> None:
    seen = td.look(COLUMNS)
    assert seen.types == {
        "id": "identifier",
        "sex": "categorical",
        "height": "continuous",
        "score": "ordinal",
        "country": "constant",
    }
    uses = {name: (missing, use) for name, _, _, missing, use in seen.rows()}
    assert uses == {
        "id": ("", "left out: row names"),
        "sex": ("", "as a category of 2 states"),
        "height": ("2", "as a number"),
        "score": ("", "as a number"),
        "country": ("", "no edges: one value"),
    }
    assert seen.score == str(td.best_network(COLUMNS).kind)


def test_printed_it_is_a_table_with_what_was_decided() -> None:
    lines = str(td.look(COLUMNS)).splitlines()
    assert lines[0] == "58 rows, 4 variables: 2 numbers, 2 categories; score RankBIC()"
    assert lines[2].split() == ["column", "type", "values", "missing", "use"]
    assert [line.split()[0] for line in lines[3:8]] == list(COLUMNS)
    assert lines[8] == "" and lines[9].startswith("Left out: 'id' (row names)")


def test_every_reader_gives_the_same_view(file: Path) -> None:
    pandas = pytest.importorskip("pandas")
    views = {str(td.look(source)) for source in (COLUMNS, file, pandas.DataFrame(COLUMNS), td.Table(COLUMNS))}
    assert len(views) == 1


def test_types_that_the_user_gives() -> None:
    seen = td.look(COLUMNS, types={"score": "categorical", "height": "identifier"})
    assert seen.types["score"] == "categorical" and seen.types["height"] == "identifier"
    assert ("height", "identifier", "left out: as given") in {(row[0], row[1], row[4]) for row in seen.rows()}


def test_gaps_that_leave_a_column_out() -> None:
    columns = COLUMNS | {"late": [None if i % 5 else i / 7 for i in range(N)]}
    uses = {row[0]: (row[3], row[4]) for row in td.look(columns).rows()}
    assert uses["late"] == ("48", "left out: too many missing cells")


def test_weights_of_a_table_of_counts() -> None:
    cells = {"a": [*"uuvv"], "b": [*"xyxy"], "Freq": [3, 4, 5, 6]}
    seen = td.look(cells)
    assert seen.types["Freq"] == "weight" and seen.table.n_rows == 18
    assert [row[4] for row in seen.rows()][2] == "weight of the row"


def test_a_table_without_a_variable_can_be_looked_at_too() -> None:
    names = {"": [*"abc"], "id": [f"n{i}" for i in range(3)]}
    seen = td.look({"id": list(range(N)), "name": [f"person {i}" for i in range(N)]})
    assert seen.types == {"id": "identifier", "name": "identifier"} and seen.score == "none"
    assert td.look(names).types[""] == "identifier"
    said = (
        r"this one has none, beside columns that are no variables, 'name' \(identifier: .*types={'name': 'categorical'}"
    )
    with pytest.raises(td.TableError, match=said):
        td.best_network({"id": list(range(N)), "name": [f"person {i}" for i in range(N)]})


def test_wide_cells_are_cut_and_all_is_there_for_json() -> None:
    columns = {"word": ["a rather long text " + w for w in "uv" * 30], "x": RNG.normal(size=N).tolist()}
    seen = td.look(columns)
    assert all(len(line) < 120 for line in str(seen).splitlines())
    content = json.loads(json.dumps(seen.to_dict()))
    assert (content["format"], content["version"], content["rows"]) == ("topdag-look", 1, N)
    assert [column["column"] for column in content["columns"]] == ["word", "x"]
    assert "<table" in seen._repr_html_()


def test_the_command(topdag: Topdag, file: Path) -> None:
    ran = topdag("look", file)
    assert ran.code == Exit.FINE and str(td.look(file)).splitlines()[3] in ran.out
    ran = topdag("look", file, "--types", "score=categorical")
    assert ran.code == Exit.FINE and "as a category of 9 states" in ran.out
    ran = topdag("look", file, "--types", "score=number")
    assert ran.code == Exit.BAD_INPUT and "'number' of column 'score' is no type" in ran.err


def test_open_files() -> None:
    assert td.look(io.BytesIO(b"a,b\nx,1\ny,2\n")).types == {"a": "categorical", "b": "categorical"}
