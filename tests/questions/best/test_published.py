"""Known optima of real data with at most 20 variables: the larger ones are in slow_published.py."""

from __future__ import annotations

import pytest
from published import DATA, Optimum, assert_met, grouped, optima

FOUND = grouped(optima(1, 20))


@pytest.mark.skipif(not DATA.exists(), reason=f"no data in {DATA}: known optima are not checked")
def test_no_known_optimum_is_forgotten() -> None:
    """Both lists were read: at least the data sets and score files that were there when this was written."""
    files = {lines[0].file for lines in FOUND}
    assert len({file for file in files if not file.startswith("scores/")}) >= 25
    assert len({file for file in files if file.startswith("scores/")}) >= 15
    assert {line.source for lines in FOUND for line in lines} >= {"checked", "GOBNILP", "CPBayes", "A*"}


@pytest.mark.parametrize("lines", FOUND, ids=lambda lines: repr(lines[0]))
def test_known_optimum(lines: list[Optimum]) -> None:
    assert_met(lines)
