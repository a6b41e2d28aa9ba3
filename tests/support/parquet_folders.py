"""What tests of folders of Parquet files share: which engine reads them, and how they are written."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

ENGINES = ("duckdb", "polars")


def only(monkeypatch: pytest.MonkeyPatch, engines: Sequence[str]) -> None:
    for engine in ENGINES:
        if engine in engines:
            pytest.importorskip(engine)
        else:
            monkeypatch.setitem(sys.modules, engine, None)


def written(folder: Path, *parts: Mapping[str, Any]) -> Path:
    """The folder with a file for each part."""
    import pyarrow as pa
    from pyarrow import parquet

    folder.mkdir(exist_ok=True)
    for place, part in enumerate(parts):
        parquet.write_table(pa.table(dict(part)), folder / f"{place}.parquet")
    return folder
