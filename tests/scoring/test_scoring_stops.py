"""Scoring that is stopped gives nothing; what it gives is whole, wherever the time was up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from given_sizes import AS_LISTS, give_sizes
from stop_cases.counted import answer_at, readings_of
from table_checks import Incomplete

import topdag as td
from topdag._util.run import Run
from topdag.scoring.keep import Keep
from topdag.scoring.score import score_within

WHOLE, GAPS = Incomplete(1, share=0.0).table, Incomplete(4).table
INFLUENCE = td.Constraints(parameters=[td.probabilities.influence("a", "d", "-")])
CASES: dict[str, tuple[td.Table, Any, td.Constraints | None]] = {
    "bic": (WHOLE, td.BIC(), None),
    "bdeu, parents that must be": (WHOLE, td.BDeu(), td.Constraints(required_edges=[("a", "b")])),
    "bic, a rule": (WHOLE, td.BIC(), td.Constraints(rules=["parents(d) >= 1"])),
    "bic, probabilities": (WHOLE, td.BIC(), INFLUENCE),
    "nal": (GAPS, td.NAL(penalty="bic"), None),
    "nal, parents that must be": (GAPS, td.NAL(penalty="bic"), td.Constraints(required_edges=[("a", "b")])),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@pytest.mark.parametrize("keep", ["best", "all", td.Within(5)], ids=repr)
@pytest.mark.parametrize("scored", ["all sets", "lists"])
def test_every_stop(case: Any, keep: Keep, scored: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if scored == "lists":
        give_sizes(monkeypatch, few_with_parameters=-1, **AS_LISTS)
    table, kind, known = case

    def ask(limit: float) -> Any:
        return score_within(table, kind, Run(time_limit=limit, threads=1), keep=keep, max_parents=1, constraints=known)

    whole, readings = answer_at(ask, 1e8), readings_of(ask)
    for stop in range(0, readings, max(1, readings // 60)):
        found = answer_at(ask, stop)
        if found is not None:
            for x in range(table.n_variables):
                for own, expected in zip(found.store.families_of(x), whole.store.families_of(x), strict=True):
                    assert np.array_equal(own, expected)
