"""Other sizes at which engines change: so that few variables show what else only many do."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from topdag.search import engines, relaxation

if TYPE_CHECKING:
    import pytest

AS_LISTS = {"few": -1, "sparse": 0}
"""Sizes at which every table is scored as lists."""


def give_sizes(monkeypatch: pytest.MonkeyPatch, **changed: int) -> None:
    """The sizes at which engines change, until the test ends or ``monkeypatch`` undoes it."""
    monkeypatch.setattr(engines, "_sizes", replace(engines.sizes(), **changed))


def give_memory(monkeypatch: pytest.MonkeyPatch, gigabytes: int) -> None:
    """A machine with so much memory, where it is asked how many variables have all their sets held."""
    monkeypatch.setattr("topdag.search.lattice.whole_memory", lambda: gigabytes * 2**30)


def climb_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search begins with a few climbs instead of thousands, which take seconds with more than 50 variables."""
    monkeypatch.setattr(relaxation, "CLIMBS", 30)
    monkeypatch.setattr(relaxation, "WIDE_CLIMBS", 30)
