"""Columns as a data frame, of whichever library is installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
