"""``columns=`` says which columns are variables, wherever they come from."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import topdag as td

ROWS = {
    "id": [f"n{i}" for i in range(12)],
    "a": [i % 2 for i in range(12)],
    "gaps": [None if i % 2 else "x" for i in range(12)],
    "b": [i // 4 for i in range(12)],
    "often": [1 + i % 3 for i in range(12)],
    "floats": [i / 7 for i in range(12)],
}
CHOSEN = {name: ROWS[name] for name in ("a", "b")}


def of_file(folder: Path, name: str) -> Path:
    frame = pd.DataFrame(ROWS)
    path = folder / name
    if name.endswith(".parquet"):
        frame.to_parquet(path)
    elif name.endswith(".gz"):
        path.write_bytes(gzip.compress(frame.to_csv(index=False).encode()))
    else:
        path.write_text(frame.to_csv(index=False, quoting=1 if "quoted" in name else 0))
    return path


SOURCES: dict[str, Callable[[Path], Any]] = {
    "dict": lambda _: ROWS,
    "dicts": lambda _: pd.DataFrame(ROWS).to_dict("records"),
    "pandas": lambda _: pd.DataFrame(ROWS),
    "polars": lambda _: pytest.importorskip("polars").DataFrame(ROWS),
    "polars-lazy": lambda _: pytest.importorskip("polars").DataFrame(ROWS).lazy(),
    "csv": lambda folder: of_file(folder, "t.csv"),
    "quoted csv": lambda folder: of_file(folder, "quoted.csv"),
    "gzipped csv": lambda folder: of_file(folder, "t.csv.gz"),
    "parquet": lambda folder: of_file(folder, "t.parquet"),
}


@pytest.mark.parametrize("name", SOURCES)
def test_other_columns_are_not_looked_at(tmp_path: Path, name: str) -> None:
    """Neither their gaps nor their floats matter; the order is that of the source."""
    source = SOURCES[name](tmp_path)
    read = td.read_table if isinstance(source, Path) else td.Table
    assert read(source, columns=["b", "a"]) == td.Table(CHOSEN)
    assert read(source, columns=["b", "a", "id"], leave_out=["id"]) == td.Table(CHOSEN)
    assert read(source, columns=["b", "a"], weights="often") == td.Table(CHOSEN, weights=ROWS["often"])
    with pytest.raises(td.TableError, match="columns= names a column 'c' that is not there"):
        read(source, columns=["a", "c"])


def test_arrays_and_experiments() -> None:
    array = np.array([ROWS["a"], ROWS["b"], ROWS["often"]]).T
    chosen = td.Table(array, columns=["V0", "V2"])
    assert chosen.names == ("V0", "V2")
    assert chosen.reading == {"columns": ["V0", "V2"]}
    experiments = {**CHOSEN, "c": ROWS["often"], "set": ["a", "c", "a;c"] * 4}
    assert td.Table(experiments, columns=["a", "b"], interventions="set").names == ("a", "b")
    with pytest.raises(td.TableError, match="columns= lists names of columns"):
        td.Table(ROWS, columns="a")
    with pytest.raises(td.TableError, match="coded already"):
        td.Table(chosen, columns=["V0"])
