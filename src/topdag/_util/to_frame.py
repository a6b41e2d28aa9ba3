"""Columns as a data frame, of whichever library is installed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any


def frame_of(columns: Mapping[str, Sequence[object]]) -> Any:
    """A pandas or Polars frame with these columns."""
    for library in ("pandas", "polars"):
        try:
            frames = import_module(library)
        except ImportError:
            continue
        return frames.DataFrame(dict(columns))
    raise ImportError("to_frame needs pandas or polars: pip install pandas")


def frame_of_rows(rows: Iterable[Mapping[str, object]], names_without_rows: Sequence[str]) -> Any:
    """The same, with a column for each key."""
    given = list(rows)
    return frame_of({key: [row[key] for row in given] for key in (given[0] if given else names_without_rows)})
