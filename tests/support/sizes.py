"""Engines that else only many variables meet, for few: the sizes at which engines change are given."""

from __future__ import annotations

from dataclasses import replace

import pytest

from topdag.search import engines

AS_LISTS = {"few": -1, "sparse": 0}
"""Every table is scored as lists."""


def give_sizes(monkeypatch: pytest.MonkeyPatch, **changed: int) -> None:
    """Until the test ends, or ``monkeypatch`` undoes it."""
    monkeypatch.setattr(engines, "_sizes", replace(engines.sizes(), **changed))
