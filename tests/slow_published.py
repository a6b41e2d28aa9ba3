"""Known optima of real data with 21 to 23 variables: a gigabyte, so not part of the usual run.

Run it by name:  python -m pytest tests/slow_published.py
"""

from __future__ import annotations

import pytest
from published import Optimum, assert_met, grouped, optima


@pytest.mark.parametrize("lines", grouped(optima(21, 23)), ids=lambda lines: repr(lines[0]))
def test_known_optimum(lines: list[Optimum]) -> None:
    assert_met(lines)
