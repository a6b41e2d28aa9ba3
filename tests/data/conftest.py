"""Lazy frames are counted by their engines here, however few rows they have."""

from __future__ import annotations

import pytest

from topdag.data.lazy import distinct


@pytest.fixture(autouse=True)
def engines_count_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Such small tables would be collected; what that changes is the matter of test_readers_agree.py."""
    monkeypatch.setattr(distinct, "FEW_CELLS", 0)
