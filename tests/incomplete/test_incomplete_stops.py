"""Wherever a question about an incomplete table is stopped, what it says is true: at every reading of the clock."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import reference
from given_sizes import AS_LISTS, give_sizes
from stop_cases.counted import Ask, BestTruth, answer_at, check_answer, check_list, readings_of, stops_among
from table_checks import Incomplete

import topdag as td

KIND = td.NAL(penalty="bic")
SCORING = 120
"""Readings of the clock after which these small tables are scored."""
KNOWN = td.Constraints(required_edges=[("a", "b")])


def allowed_networks(drawn: Incomplete, known: td.Constraints | None, max_parents: int) -> list[tuple[int, ...]]:
    every = reference.all_networks(drawn.n)
    few = [masks for masks in every if max(mask.bit_count() for mask in masks) <= max_parents]
    return few if known is None else [masks for masks in few if masks[1] & 1]


def while_scoring_and_later(ask: Ask) -> list[int]:
    readings = readings_of(ask)
    return [*range(0, min(readings, SCORING), 5), *stops_among(readings, np.random.default_rng(1), 2)]


@pytest.mark.parametrize("scored", ["all sets", "lists"])
@pytest.mark.parametrize("known", [None, KNOWN], ids=["free", "known"])
@pytest.mark.parametrize("max_parents", [1, 3])
def test_every_stop(scored: str, known: Any, max_parents: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if scored == "lists":
        give_sizes(monkeypatch, **AS_LISTS)
    drawn = Incomplete(2)
    table, local = drawn.table, drawn.local(KIND)
    ranked = sorted(
        ((reference.network_score(local, m), m) for m in allowed_networks(drawn, known, max_parents)), reverse=True
    )
    said: dict[str, Any] = dict(constraints=known, max_parents=max_parents, threads=1)
    place = {masks: score for score, masks in ranked}
    truth = BestTruth(ranked[0][0], lambda network: place.get(network.masks, float("-inf")))

    def best(limit: float) -> Any:
        return td.best_network(table, KIND, time_limit=limit, **said)

    def listed(limit: float) -> Any:
        return td.k_best_networks(table, 6, KIND, time_limit=limit, **said)

    for stop in while_scoring_and_later(best):
        check_answer(answer_at(best, stop), truth)
    for stop in while_scoring_and_later(listed):
        check_list(answer_at(listed, stop), ranked, 6, close=1e-6)
