"""Stops that are counted and not timed, and what every answer must be wherever it was stopped.

Under ``counted_clock`` each reading of the clock, by Python or by the core, moves it on by a second, and loops of the
core look at it at every step. So ``time_limit=100`` stops after a hundred readings: inside any engine, on few
variables, at the same place on any machine. Nothing here needs more than numpy and topdag.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import numpy as np
import reference
from brute_force import network_scores, networks, values_of

import topdag as td
from topdag import _core
from topdag._util import run as runs
from topdag.answers.lists import BestList
from topdag.scoring.scores import Scores

Masks = tuple[int, ...]
Ranked = list[tuple[float, Masks]]
"""Every network that is allowed with its score on the grid, best first."""

NEVER = 1e8
CLOSE = 1e-6
"""The rounding of an answer that is called proved, in nats, at most."""


@contextmanager
def counted_clock() -> Iterator[None]:
    _core.count_readings(True)
    try:
        with patch.object(runs, "perf_counter", _core.clock_seconds):
            yield
    finally:
        _core.count_readings(False)


Ask = Callable[[float], Any]
"""A question with this time limit."""


def whole_answer(ask: Ask) -> tuple[Any, int]:
    """The answer that nothing stops, and how often the clock is read until it is there."""
    with counted_clock():
        return ask(NEVER), int(_core.clock_seconds())


def readings_of(ask: Ask) -> int:
    return whole_answer(ask)[1]


def stops_among(readings: int, rng: np.random.Generator, many: int) -> list[int]:
    """Numbers of readings to stop after: at once, just before the end, and between, early ones more often."""
    drawn = np.exp(rng.uniform(0.0, math.log(readings + 1), many)).astype(int).tolist()
    late = rng.integers(0, readings + 1, max(1, many // 3)).tolist()
    return sorted({0, readings - 1, *drawn, *late})


def answer_at(ask: Ask, stop: float) -> Any:
    """The answer when stopped after so many readings; that of OutOfTime is what it raises."""
    with counted_clock():
        try:
            return ask(float(stop))
        except td.OutOfTime as over:
            return over


# ---- The truth


def all_ranked(scores: Scores, obeys: Callable[[Masks], bool] | None = None) -> Ranked:
    """Of up to five variables; ties in no order."""
    masks = networks(len(scores.columns))
    found = network_scores(values_of(scores), masks)
    order = np.argsort(-found, kind="stable")
    order = order[np.isfinite(found[order])]
    ranked = zip(found[order].tolist(), map(tuple, masks[order].tolist()), strict=True)
    return [(score, own) for score, own in ranked if obeys is None or obeys(own)]


def first_that_obeys(ranked: Ranked, obeys: Callable[[Masks], bool]) -> Ranked:
    """The best ones that obey, and those that nearly tie with them."""
    best = next((score for score, masks in ranked if obeys(masks)), math.inf)
    near = [own for own in ranked if best - CLOSE <= own[0] <= best]
    return [own for own in near if obeys(own[1])]


def full_score(scores: Scores, masks: Masks) -> float:
    """Not rounded to the grid, as answers report it."""
    score = scores.network(masks).score
    assert score is not None
    return score


def best_in_full(scores: Scores, ranked: Ranked) -> float:
    """The best score when nothing is rounded: of those that nearly tie on the grid."""
    near = [masks for score, masks in ranked if score >= ranked[0][0] - CLOSE]
    return max((full_score(scores, masks) for masks in near[:50]), default=-math.inf)


# ---- What must hold


@dataclass(frozen=True)
class BestTruth:
    """``optimum``: no network scores more, in full; minus infinity when there is none. ``value``: what a network is
    worth, minus infinity when it is not allowed."""

    optimum: float
    value: Callable[[td.Network], float]


def check_answer(answer: td.types.Answer, truth: BestTruth) -> None:
    """A network that is allowed and scores what is said, and a bound that the optimum does not exceed."""
    proof = answer.proof
    assert proof.bound >= truth.optimum - (0.0 if proof.status is td.types.Status.STOPPED else CLOSE), (
        proof,
        truth.optimum,
    )
    if answer.network is None:
        assert answer.score == -math.inf
        assert proof.status is td.types.Status.STOPPED or truth.optimum == -math.inf
    else:
        assert proof.status is not td.types.Status.INFEASIBLE
        assert abs(answer.score - truth.value(answer.network)) <= CLOSE
    if proof.status is td.types.Status.STOPPED:
        assert proof.limit is not None
        assert proof.gap == proof.bound - answer.score >= 0.0
    else:
        assert proof.limit is None and proof.gap == 0.0
        assert abs(answer.score - truth.optimum) <= CLOSE or answer.score == truth.optimum
        assert (proof.status is td.types.Status.INFEASIBLE) == (truth.optimum == -math.inf)


def check_list(found: BestList[Any], ranked: Ranked, expected: int, *, close: float = 0.0) -> None:
    """In order, nothing twice, with the scores they have, and all that score above the floor; all ``expected`` when
    the list is called whole. ``close``: how far a score may be from the truth's, and from the floor to be missed."""
    place = {masks: score for score, masks in ranked}
    rows = [tuple(row) for row in found.parents.tolist()]
    assert len(set(rows)) == len(rows) <= max(expected, 0)
    assert (np.diff(found.scores) <= 0).all()
    for masks, score in zip(rows, found.scores.tolist(), strict=True):
        assert masks in place and abs(place[masks] - score) <= close, (masks, score)
    missing = [score for score, _ in ranked if score > found.floor + close]
    assert sum(score > found.floor + close for score in found.scores.tolist()) == len(missing), (found.floor, missing)
    best = ranked[0][0] if ranked else -math.inf
    _check_list_proof(found, best, expected, close)


def check_class_list(found: BestList[Any], ranked: Ranked, expected: int, *, close: float = 0.0) -> None:
    """As ``check_list``, of classes: each stands once, with one of its networks."""
    best_of_class: dict[object, float] = {}
    for score, masks in ranked:
        best_of_class.setdefault(reference.equivalence_key(masks), score)
    keys = [reference.equivalence_key(tuple(row)) for row in found.parents.tolist()]
    assert len(set(keys)) == len(keys) <= expected
    allowed = {masks for _, masks in ranked}
    for row, key, score in zip(found.parents.tolist(), keys, found.scores.tolist(), strict=True):
        assert tuple(row) in allowed and abs(best_of_class[key] - score) <= close
    above = sum(score > found.floor + close for score in best_of_class.values())
    assert sum(score > found.floor + close for score in found.scores.tolist()) == above
    _check_list_proof(found, ranked[0][0] if ranked else -math.inf, expected, close)


def _check_list_proof(found: BestList[Any], best: float, expected: int, close: float) -> None:
    proof = found.proof
    assert proof.bound >= best - close
    if proof.status is td.types.Status.STOPPED:
        assert proof.limit is not None
    else:
        assert proof.limit is None and len(found) == expected, (len(found), expected)
        assert (proof.status is td.types.Status.INFEASIBLE) == (expected == 0)


def n_classes(ranked: Ranked) -> int:
    return len({reference.equivalence_key(masks) for _, masks in ranked})


def within(ranked: Ranked, factor: float, grid: int) -> int:
    """How many are within this factor of the best: ln(factor) counts in whole steps of the grid."""
    if not ranked:
        return 0
    reach = math.ldexp(math.floor(math.ldexp(math.log(factor), grid)), -grid)
    return sum(score >= ranked[0][0] - reach for score, _ in ranked)
