"""How a question is stopped at counted places, engines are forced, and luck is taken away."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np
from given_sizes import AS_LISTS

from stop_cases.counted import NEVER, Ask, answer_at, stops_among, whole_answer
from topdag import _core
from topdag._util.run import Run
from topdag.constrained import growing_lists as constrained_best
from topdag.constrained import splitting
from topdag.constrained.clause_branch_and_cut import ClauseSearch
from topdag.constrained.repair import SatisfyingKnown
from topdag.search import costs, part_relaxation, reach, relaxation
from topdag.search import cycles as branching
from topdag.search.branch_and_cut import PartSearch
from topdag.search.engines import sizes_given
from topdag.search.linear_program import Program
from topdag.search.partition import listing as partition
from topdag.search.relaxation import Known
from topdag.search.stores import ListStore

STOPS = 8
"""At so many places each question is stopped, and some more."""


def asked(question: Callable[..., Any], *given: Any, **options: Any) -> Ask:
    return partial(_ask, question, given, options)


def _ask(question: Callable[..., Any], given: Any, options: Any, limit: float) -> Any:
    return question(*given, **options, time_limit=limit, threads=1)


def at_every_stop(ask: Ask, seed: int, check: Callable[[Any], None], many: int = STOPS) -> None:
    """Checks the whole answer, and that of each stop on the way to it."""
    whole, readings = whole_answer(ask)
    _check_at(NEVER, whole, check)
    for stop in stops_among(readings, np.random.default_rng(seed), many):
        _check_at(stop, answer_at(ask, stop), check)


def _check_at(stop: float, found: Any, check: Callable[[Any], None]) -> None:
    try:
        check(found)
    except AssertionError as error:
        raise AssertionError(f"stopped after {stop:g} readings: {error}; {found}") from error


# ---- How engines are forced, and luck is taken away


@contextmanager
def lists_for_few() -> Iterator[None]:
    """Few variables are treated as many are: listed families, search and sparse lattices."""
    with sizes_given(small=2, **AS_LISTS):
        yield


@contextmanager
def without_luck(*, near: bool = False) -> Iterator[None]:
    """Searches meet no best network early: climbing and rounding give one network and no other, a poor one, or with
    ``near`` one that is better than most."""

    def one_network(known: Known, *_: Any) -> bool:
        if known.incumbent is not None:
            return False
        met = [_core.network_in_order(known.candidates, order) for order in _some_orders(known)]
        met = sorted((own for own in met if own[0] < math.inf), key=lambda own: own[0], reverse=not near)
        better = [own for own in met if own[0] > met[0][0]] if near else []
        return any(known.offer(*own) for own in better or met)

    mended = SatisfyingKnown.round

    def first_only(known: SatisfyingKnown, *given: Any) -> bool:
        return known.incumbent is None and (one_network(known) or mended(known, *given))

    usual = branching.first_network

    def one_to_begin_with(store: ListStore, run: Run, rules: Any = None) -> tuple[float, tuple[int, ...]] | None:
        known = Known(store, run)
        if rules is not None or not one_network(known) or known.incumbent is None:
            return usual(store, run, rules)
        return known.incumbent.cost, known.incumbent.masks

    with ExitStack() as stack:
        stack.enter_context(patch.object(branching, "first_network", one_to_begin_with))
        stack.enter_context(patch.object(Known, "climb", lambda known, *_: one_network(known)))
        stack.enter_context(patch.object(Known, "climb_longer", one_network))
        stack.enter_context(patch.object(Known, "round", one_network))
        stack.enter_context(patch.object(SatisfyingKnown, "round", first_only))
        stack.enter_context(patch.object(PartSearch, "_dive", lambda *_: None))
        yield


def _some_orders(known: Known) -> Iterator[list[int]]:
    rng = np.random.default_rng(known.candidates.n_variables)
    return (rng.permutation(known.candidates.n_variables).tolist() for _ in range(100))


@contextmanager
def nothing_met() -> Iterator[None]:
    """Under constraints, no network is known until branch and cut comes to one, on lists that reach a little further
    each time."""
    with ExitStack() as stack:
        for known, name in (
            (Known, "climb"),
            (Known, "climb_longer"),
            (Known, "round"),
            (SatisfyingKnown, "round"),
        ):
            stack.enter_context(patch.object(known, name, lambda *_: False))
        for search in (PartSearch, ClauseSearch):
            stack.enter_context(patch.object(search, "_dive", lambda *_: None))
        stack.enter_context(patch.object(reach, "FIRST_BLIND", 0.5))
        yield


@contextmanager
def long_lists(wanted: bool) -> Iterator[None]:
    """Where ``wanted``, all lists are long ones: an ascent comes before the linear program."""
    with patch.object(costs, "LONG_LIST", 0 if wanted else costs.LONG_LIST):
        yield


@contextmanager
def hasty() -> Iterator[None]:
    """Branch and cut splits after a round, so that few variables have many parts."""
    with ExitStack() as stack:
        for module, name, value in (
            (part_relaxation, "LEAST_GAIN", 10.0),
            (part_relaxation, "FIRST_PATIENCE", 0),
            (part_relaxation, "CUTS_A_ROUND", 1),
            (relaxation, "PATIENCE", 1),
            (relaxation, "PATIENCE_GAIN", 10.0),
            (relaxation, "CUTS_A_ROUND", 1),
            (constrained_best, "WEAK", math.inf),
            (partition, "PATIENCE", 1),
        ):
            stack.enter_context(patch.object(module, name, value))
        stack.enter_context(patch.object(Program, "add_local", lambda *_: 0))
        stack.enter_context(patch.object(Program, "add_halves", lambda *_: 0))
        yield


@contextmanager
def on_route(route: str) -> Iterator[None]:
    with ExitStack() as stack:
        if route == "tables":  # one list of a part would hold all networks of so few variables
            stack.enter_context(patch.object(splitting, "FIRST_LISTED", 1))
            stack.enter_context(patch.object(splitting, "MORE_LISTED", 2))
        if route in ("lists", "rows", "nothing met"):
            stack.enter_context(lists_for_few())
        if route in ("rows", "nothing met"):
            stack.enter_context(without_luck() if route == "rows" else nothing_met())
            stack.enter_context(hasty())
            stack.enter_context(sizes_given(small=2))
        yield
