"""Every engine stopped at counted places, on few variables: what it says there must hold for the true optimum.

A kind of case makes plain inputs from a random generator and checks them, so that inputs can be written down and
tried again. Engines are forced where few variables would not choose them, and good luck is taken away where it would
hide a wrong bound: an early optimal network makes every bound that is capped by it right.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any
from unittest.mock import patch

import brute_force
import numpy as np
import reference
from counted_stops import (
    CLOSE,
    NEVER,
    Ask,
    BestTruth,
    Masks,
    Ranked,
    all_ranked,
    answer_at,
    best_in_full,
    check_answer,
    check_class_list,
    check_list,
    first_that_obeys,
    n_classes,
    stops_of,
    within,
)
from given_sizes import AS_LISTS
from random_inputs import (
    Families,
    Inputs,
    constraints_of,
    demanding_constraints,
    families_with_cycles,
    families_with_ties,
    kind_of,
    near_or_far,
    obeys_of,
    random_constraints,
    random_kind,
    random_table,
    rounded_families,
    table_of,
)

import topdag as td
from topdag import _core
from topdag._util.run import Run
from topdag.constrained import growing_lists as constrained_best
from topdag.constrained import listing as row_listing
from topdag.constrained import splitting
from topdag.constrained.clause_branch_and_cut import ClauseSearch
from topdag.constrained.repair import SatisfyingKnown
from topdag.questions import decide
from topdag.scoring.score import scores_from_lists
from topdag.scoring.scores import Scores
from topdag.search import branch_and_cut, engines, reach, relaxation
from topdag.search import cycles as branching
from topdag.search.branch_and_cut import PartSearch, prove_best
from topdag.search.engines import sizes_given
from topdag.search.family_lists import FamilyLists
from topdag.search.order_search import consecutive_blocks, search_orders
from topdag.search.relaxation import Known
from topdag.search.stores import ListStore

STOPS = 8
"""At so many places each question is stopped, and some more."""


def scores_of(n: int, families: Families, **known: Any) -> Scores:
    return scores_from_lists(FamilyLists.build([f"V{v}" for v in range(n)], families), **known)


def at_every_stop(ask: Ask, seed: int, check: Callable[[Any], None], many: int = STOPS) -> None:
    for stop in (*stops_of(ask, np.random.default_rng(seed), many), NEVER):
        found = answer_at(ask, stop)
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
        for known, name in ((Known, "climb"), (Known, "round"), (SatisfyingKnown, "round")):
            stack.enter_context(patch.object(known, name, lambda *_: False))
        for search in (PartSearch, ClauseSearch):
            stack.enter_context(patch.object(search, "_dive", lambda *_: None))
        stack.enter_context(patch.object(reach, "FIRST_BLIND", 0.5))
        yield


@contextmanager
def hasty() -> Iterator[None]:
    """Branch and cut splits after a round, so that few variables have many parts."""
    with ExitStack() as stack:
        for module, name, value in (
            (branch_and_cut, "LEAST_GAIN", 10.0),
            (branch_and_cut, "FIRST_PATIENCE", 0),
            (branch_and_cut, "CUTS_A_ROUND", 1),
            (relaxation, "PATIENCE", 1),
            (relaxation, "PATIENCE_GAIN", 10.0),
            (relaxation, "CUTS_A_ROUND", 1),
            (constrained_best, "WEAK", math.inf),
            (row_listing, "MOST_SETS", 60),
            (row_listing, "MOST_LISTED", 40),
        ):
            stack.enter_context(patch.object(module, name, value))
        stack.enter_context(patch.object(branch_and_cut.Program, "add_local", lambda *_: 0))
        stack.enter_context(patch.object(branch_and_cut.Program, "add_halves", lambda *_: 0))
        yield


# ---- The best network of listed families


def best_of_families(scores: Scores) -> BestTruth:
    """By tables over all sets; exact where sums of scores are."""
    lists = scores.store.lists
    table = {(x, mask): value for x, mask, value in _families_of(lists)}
    values = np.full((len(lists.names), 2 ** len(lists.names)), -math.inf)
    for (x, mask), value in table.items():
        values[x, mask] = value

    def value_of(network: td.Network) -> float:
        masks = scores.masks_of(network)
        return math.fsum(table.get((x, mask), -math.inf) for x, mask in enumerate(masks))

    return BestTruth(float(brute_force.best_rest(brute_force.best_within(values))[0]), value_of)


def _families_of(lists: FamilyLists) -> Iterator[tuple[int, int, float]]:
    for x in range(len(lists.names)):
        for place in range(lists.offsets[x], lists.offsets[x + 1]):
            yield x, int(lists.masks[place, 0]), float(lists.scores[place])


BEST_ENGINES = ("dense lattice", "block lattice", "search", "order search", "branch and cut", "branching")
ORDER_BOUNDS = ("simple", "static", "dynamic", "cluster")


LUCK = ("as ever", "near", "none")


def make_best(engine: str, rng: np.random.Generator) -> Inputs:
    way = rng.choice(["ties", "cycles", "parts"])
    n = int(rng.integers(2, 6)) if way == "ties" else int(rng.integers(4, 8))
    parts = int(rng.integers(2, 4)) if way == "parts" else 1
    families = families_with_ties(rng, n) if way == "ties" else families_with_cycles(rng, n, parts=parts)
    luck, seed = str(rng.choice(LUCK)), int(rng.integers(2**31))
    return {"engine": engine, "n": n, "families": near_or_far(rng, families), "seed": seed, "luck": luck}


def make_components(rng: np.random.Generator) -> Inputs:
    """Two that cost something each, so that what is proved of the first counts while the second is searched."""
    n, engine = int(rng.integers(6, 8)), str(rng.choice(["search", "order search", "branch and cut"]))
    families = near_or_far(rng, families_with_cycles(rng, n, parts=2))
    return {"engine": engine, "n": n, "families": families, "seed": int(rng.integers(2**31)), "luck": "none"}


def check_best(engine: str, n: int, families: Families, seed: int, luck: str) -> None:
    scores = scores_of(n, families)
    truth = best_of_families(scores)
    bound = ORDER_BOUNDS[seed % 4] if engine == "order search" else None

    def ask(limit: float) -> td.types.Answer:
        return td.best_network(scores, engine=engine, bound=bound, time_limit=limit, threads=1)

    with ExitStack() as stack:
        if luck != "as ever":
            stack.enter_context(without_luck(near=luck == "near"))
        if luck == "none":
            stack.enter_context(hasty())
        at_every_stop(ask, seed, lambda answer: check_answer(answer, truth))


def make_rounding(rng: np.random.Generator) -> Inputs:
    n, many = int(rng.integers(3, 6)), []
    for _ in range(2):
        shifts = rng.uniform(1e5, 1e6, n).tolist()
        wanted = families_with_cycles(rng, n, parts=1)
        many += [
            rounded_families(rng, n),
            [(x, own, 4 * value - shifts[x] - float(rng.random())) for x, own, value in wanted],
        ]
    return {"n": n, "many": many, "seed": int(rng.integers(2**31))}


def check_rounding(n: int, many: list[Families], seed: int) -> None:
    """Scores that the grid cannot hold: a stopped bound has slack for that, also where it is tight."""
    for families in many:
        scores = scores_of(n, families)
        place = best_of_families(scores)
        truth = BestTruth(best_in_full(scores, all_ranked(scores)), place.value)
        for engine in BEST_ENGINES:
            ask = partial(_best_by, scores, engine)
            with without_luck():
                at_every_stop(ask, seed, lambda answer, truth=truth: check_answer(answer, truth), many=4)


def _best_by(scores: Scores, engine: str | None, limit: float) -> td.types.Answer:
    return td.best_network(scores, engine=engine, time_limit=limit, threads=1)


def make_rounding_constrained(rng: np.random.Generator) -> Inputs:
    tables = [random_table(rng, variables=(4, 4), rows=(40,), constants=False) for _ in range(4)]
    for table in tables:
        table["weights"] = rng.integers(1000, 100_000, 40).tolist()
    return {"tables": tables, "seed": int(rng.integers(2**31))}


def check_rounding_constrained(tables: list[Inputs], seed: int) -> None:
    """The same under constraints that the best networks obey, so that bounds are tight."""
    for table, route in product(tables, ("tables", "rows")):
        made, given = table_of(**table), {"clauses": [[("edge", False, "V0", "V1"), ("edge", False, "V1", "V2")]]}
        truth = best_that_obeys(made, "BDeu(1.0)", given)
        with on_route(route):
            scores = td.score(made, td.BDeu(), constraints=constraints_of(given, made.names))
            at_every_stop(partial(_best_by, scores, None), seed, lambda a, t=truth: check_answer(a, t), many=5)


def make_branch_and_cut(rng: np.random.Generator) -> Inputs:
    n = int(rng.integers(6, 8))
    families = near_or_far(rng, families_with_cycles(rng, n, parts=1, levels=int(rng.choice([3, 12, 40]))))
    return {"n": n, "families": families, "seed": int(rng.integers(2**31)), "near": bool(rng.random() < 0.5)}


def check_branch_and_cut(n: int, families: Families, seed: int, near: bool) -> None:
    """As costs, inside the engine, with many parts and a poor network to begin with."""
    scores = scores_of(n, families)
    store = scores.store
    optimum = float(store.best_scores.sum()) - best_of_families(scores).optimum

    def ask(limit: float) -> Any:
        return prove_best(store, Run(time_limit=limit, threads=1), dives=seed % 3 == 0)

    def check(found: Any) -> None:
        assert found.bound <= optimum <= found.cost, (found.bound, optimum, found.cost)
        assert not found.finished or found.cost == optimum
        assert found.masks is not None and reference.is_acyclic(found.masks)
        assert store.best_scores.sum() - found.cost == sum(map(store.value, range(n), found.masks))

    with without_luck(near=near), hasty():
        at_every_stop(ask, seed, check)


# ---- Search over orders with each of its bounds


def make_orders(rng: np.random.Generator) -> Inputs:
    n = int(rng.integers(5, 9))
    families = near_or_far(rng, families_with_cycles(rng, n, parts=1))
    return {"n": n, "families": families, "seed": int(rng.integers(2**31))}


def bounds_for(candidates: _core.Candidates, n: int, rng: np.random.Generator) -> dict[str, _core.Bound]:
    members = np.array([int(rng.integers(1, 2**n)) | 1 << int(rng.integers(n)) for _ in range(n)], np.uint64)
    ks = np.ones(n, np.int64)
    made = {
        "simple": _core.simple_bound(candidates),
        "clusters": _core.cluster_bound(candidates, members, ks, rng.integers(0, 5, n) / 4.0),
        "groups": _core.group_bound(candidates, consecutive_blocks([n // 2, n - n // 2])),
        "cycles": _core.cycle_bound(candidates, 2, bool(rng.random() < 0.5)),
    }
    return made | {"largest": _core.largest_bound(list(made.values()))}


def check_orders(n: int, families: Families, seed: int) -> None:
    scores = scores_of(n, families)
    store, rng = scores.store, np.random.default_rng(seed)
    optimum = float(store.best_scores.sum()) - best_of_families(scores).optimum
    candidates = store.candidates

    def check(found: Any) -> None:
        assert found.bound <= optimum
        assert not found.finished or found.cost == found.bound == optimum
        assert found.finished or found.cost == math.inf or found.cost >= optimum

    for bound in bounds_for(candidates, n, rng).values():
        extends, upper = bool(rng.random() < 0.5), math.inf if rng.random() < 0.5 else optimum

        def best_first(limit: float, bound: _core.Bound = bound, extends: bool = extends, upper: float = upper) -> Any:
            return search_orders(candidates, bound, Run(time_limit=limit, threads=1), upper=upper, extend_paths=extends)

        def by_layers(limit: float, bound: _core.Bound = bound, extends: bool = extends, upper: float = upper) -> Any:
            return _core.search_in_layers(candidates, bound, upper, extends, None, 1, limit, None)

        at_every_stop(best_first, seed, check, many=4)
        at_every_stop(by_layers, seed, check, many=4)
        for memory in rng.integers(0, 20_000, 3).tolist():
            check(search_orders(candidates, bound, Run(), upper=upper, extend_paths=extends, memory=memory))
            check(search_orders(candidates, bound, Run(memory_limit=memory, threads=1), upper=upper))


# ---- From a table on, scoring included


def make_table(rng: np.random.Generator) -> Inputs:
    engine = str(rng.choice([*BEST_ENGINES, "chosen", "lists"]))
    table = random_table(rng, variables=(2, 5))
    kind = "BIC()" if engine == "lists" else random_kind(rng)  # not every score can be listed while it is counted
    return {"table": table, "kind": kind, "engine": engine, "seed": int(rng.integers(2**31))}


def truth_of(scores: Scores, obeys: Callable[[Masks], bool] | None = None) -> tuple[BestTruth, Ranked]:
    """Of scores with all families."""
    ranked = all_ranked(scores, obeys)
    place = {masks: score for score, masks in ranked}

    def value(network: td.Network) -> float:
        return place.get(tuple(scores.masks_of(network)), -math.inf)

    return BestTruth(best_in_full(scores, ranked), value), ranked


def check_table(table: Inputs, kind: str, engine: str, seed: int) -> None:
    made = table_of(**table)
    truth, _ = truth_of(td.score(made, kind_of(kind), keep="all"))
    every = td.score(made, kind_of(kind), keep="best") if engine in BEST_ENGINES[2:] else None
    wanted = engine if engine in BEST_ENGINES else None

    def ask(limit: float) -> td.types.Answer:
        run = Run(time_limit=limit, threads=1)
        from topdag.questions.best import best_of
        from topdag.questions.request import Request, Trail

        own = None if wanted is None else engines.named_engine(wanted)
        is_scored = every is not None and not seed % 2
        request = Request.from_scores(every, engine=own) if is_scored else Request(made, kind_of(kind), engine=own)
        return best_of(Trail(request), run)

    with ExitStack() as stack:
        if engine == "lists":
            stack.enter_context(lists_for_few())
        at_every_stop(ask, seed, lambda answer: check_answer(answer, truth))


# ---- Under constraints

ROUTES = ("tables", "lists", "rows", "nothing met", "branching")


def make_constrained(route: str, rng: np.random.Generator) -> Inputs:
    table = random_table(rng, variables=(3, 5), rows=(5, 40, 120), constants=False)
    n = len(table["arities"])
    return {
        "table": table,
        "kind": str(rng.choice(["BDeu(1.0)", "BIC()", "AIC()"])),
        "constraints": demanding_constraints(rng, n) if n > 3 else random_constraints(rng, n),
        "route": route,
        "seed": int(rng.integers(2**31)),
    }


def constrained_truth(
    made: td.Table, kind: str, constraints: Inputs
) -> tuple[td.Constraints | None, BestTruth, Ranked]:
    """The constraints are None where they contradict each other."""
    obeys = obeys_of(constraints, made.names)
    truth, ranked = truth_of(td.score(made, kind_of(kind), keep="all"), obeys)
    try:
        return constraints_of(constraints, made.names), truth, ranked
    except td.ConstraintError:
        assert not ranked, "constraints are called a contradiction, but some network obeys them"
        return None, truth, ranked


@contextmanager
def on_route(route: str) -> Iterator[None]:
    with ExitStack() as stack:
        if route == "tables":  # one list of a part would hold all networks of so few variables
            stack.enter_context(patch.object(splitting, "FIRST_LISTED", 1))
            stack.enter_context(patch.object(splitting, "MORE_LISTED", 2))
        if route in ("lists", "rows", "nothing met", "partition"):
            stack.enter_context(lists_for_few())
        if route == "partition":
            stack.enter_context(sizes_given(partition=0))
        if route in ("rows", "nothing met"):
            stack.enter_context(without_luck() if route == "rows" else nothing_met())
            stack.enter_context(hasty())
            stack.enter_context(sizes_given(small=2))
        yield


def best_that_obeys(made: td.Table, kind: str, constraints: Inputs) -> BestTruth:
    scores = td.score(made, kind_of(kind), keep="all")
    obeys, ranked = obeys_of(constraints, made.names), all_ranked(scores)
    place = {masks: score for score, masks in ranked}

    def value(network: td.Network) -> float:
        masks = tuple(scores.masks_of(network))
        return place[masks] if obeys(masks) else -math.inf

    best = first_that_obeys(ranked, obeys)
    return BestTruth(best_in_full(scores, best) if best else -math.inf, value)


def check_constrained(table: Inputs, kind: str, constraints: Inputs, route: str, seed: int) -> None:
    made = table_of(**table)
    truth = best_that_obeys(made, kind, constraints)
    with on_route(route):
        try:
            scores = td.score(made, kind_of(kind), constraints=constraints_of(constraints, made.names))
        except td.ConstraintError:
            assert truth.optimum == -math.inf, "constraints are called a contradiction, but some network obeys them"
            return
        engine = "branching" if route == "branching" and scores.rest is not None else None

        def ask(limit: float) -> td.types.Answer:
            return td.best_network(scores, engine=engine, time_limit=limit, threads=1)

        at_every_stop(ask, seed, lambda answer: check_answer(answer, truth))


# ---- Lists, classes, counts and streams


LATTICES = ("dense", "blocks", "sparse", "partition")


def make_lists(lattice: str, rng: np.random.Generator) -> Inputs:
    n = int(rng.integers(2, 5))
    families = families_with_ties(rng, n) if rng.random() < 0.6 else rounded_families(rng, n)
    return {
        "n": n,
        "families": families,
        "lattice": lattice,
        "k": int(rng.choice([1, 2, 7, 30, 1000])),
        "factor": float(np.exp(rng.choice([0.0, 1.0, 2.0, 5.0]))),
        "seed": int(rng.integers(2**31)),
    }


def check_lists(n: int, families: Families, lattice: str, k: int, factor: float, seed: int) -> None:
    scores = scores_of(n, families, keep="all")
    ranked = all_ranked(scores)
    near = within(ranked, factor, scores.grid)
    with ExitStack() as stack:
        if lattice in ("sparse", "partition"):
            stack.enter_context(lists_for_few())
        if lattice == "partition":
            stack.enter_context(sizes_given(partition=0))
        if lattice == "blocks":
            stack.enter_context(sizes_given(small=0))
            stack.enter_context(patch.object(decide, "ListStore", type("NoList", (), {})))

        def k_best(limit: float) -> Any:
            return td.k_best_networks(scores, k, time_limit=limit, threads=1)

        def near_best(limit: float) -> Any:
            return td.networks_within(scores, factor, time_limit=limit, threads=1)

        at_every_stop(k_best, seed, lambda found: check_list(found, ranked, min(k, len(ranked))), many=5)
        at_every_stop(near_best, seed, lambda found: check_list(found, ranked, near), many=5)
        _check_counts(scores, factor, near, seed)


def _check_counts(scores: Scores, factor: float, near: int, seed: int) -> None:
    def count(limit: float) -> Any:
        return td.count_networks_within(scores, factor, time_limit=limit, threads=1)

    def stream(limit: float) -> Any:
        given, told = [], None
        try:
            given.extend(td.iter_networks_within(scores, factor, time_limit=limit, threads=1))
        except td.OutOfTime as over:
            told = over.answer
        assert len(given) == (near if told is None else told) <= near
        assert len({tuple(scores.masks_of(network)) for network in given}) == len(given)
        return given

    def check(found: Any) -> None:
        assert found.answer <= near if isinstance(found, td.OutOfTime) else found == near, (found, near)

    at_every_stop(count, seed, check, many=5)
    at_every_stop(stream, seed, lambda _: None, many=4)


def make_classes(lattice: str, rng: np.random.Generator) -> Inputs:
    return {
        "table": random_table(rng, variables=(2, 4), constants=False),
        "kind": str(rng.choice(["BDeu(1.0)", "BIC()"])),
        "lattice": lattice,
        "k": int(rng.choice([1, 3, 11, 500])),
        "factor": float(np.exp(rng.choice([0.0, 1.0, 4.0]))),
        "seed": int(rng.integers(2**31)),
    }


def check_classes(table: Inputs, kind: str, lattice: str, k: int, factor: float, seed: int) -> None:
    made = table_of(**table)
    scores = td.score(made, kind_of(kind), keep="all")
    if lattice == "partition":
        with lists_for_few(), sizes_given(partition=0):
            _check_classes(_all_in_lists(scores), k, factor, seed)
    else:
        _check_classes(scores, k, factor, seed)


def _all_in_lists(scores: Scores) -> Scores:
    n, value = len(scores.columns), scores.store.value
    families = [(x, reference.members(m), value(x, m)) for x in range(n) for m in range(2**n) if not m >> x & 1]
    lists = FamilyLists.build(scores.scored_names, [own for own in families if own[2] > -math.inf])
    return replace(scores_from_lists(lists, keep="all"), kind=scores.kind, grid=scores.grid)


def _check_classes(scores: Scores, k: int, factor: float, seed: int) -> None:
    ranked = all_ranked(scores)
    near = n_classes(ranked[: within(ranked, factor, scores.grid)])
    total = n_classes(ranked)

    def count(limit: float) -> Any:
        return td.count_classes_within(scores, factor, time_limit=limit, threads=1)

    def check_count(found: Any) -> None:
        assert found.answer <= near if isinstance(found, td.OutOfTime) else found == near, (found, near)

    def k_best(limit: float) -> Any:
        return td.k_best_classes(scores, k, time_limit=limit, threads=1)

    def near_best(limit: float) -> Any:
        return td.classes_within(scores, factor, time_limit=limit, threads=1)

    at_every_stop(k_best, seed, lambda found: check_class_list(found, ranked, min(k, total)), many=5)
    at_every_stop(near_best, seed, lambda found: check_class_list(found, ranked, near), many=5)
    at_every_stop(count, seed, check_count, many=5)


def make_constrained_lists(route: str, rng: np.random.Generator) -> Inputs:
    table = random_table(rng, variables=(3, 4), rows=(5, 40, 120), constants=False)
    n = len(table["arities"])
    made: Inputs = {
        "table": table,
        "kind": str(rng.choice(["BDeu(1.0)", "BIC()", "AIC()"])),
        "constraints": demanding_constraints(rng, n) if rng.random() < 0.7 else random_constraints(rng, n),
        "route": route,
        "seed": int(rng.integers(2**31)),
    }
    k = int(rng.choice([1, 3, 20, 200]))
    k = min(k, 20) if route == "partition" else k  # which takes them one by one
    return made | {"k": k, "factor": float(np.exp(rng.choice([0.0, 1.0, 4.0])))}


def check_constrained_lists(
    table: Inputs, kind: str, constraints: Inputs, route: str, k: int, factor: float, seed: int
) -> None:
    made = table_of(**table)
    known, _, ranked = constrained_truth(made, kind, constraints)
    if known is None:
        return
    with on_route(route):
        try:
            scores = td.score(made, kind_of(kind), constraints=known)
        except td.ConstraintError:
            assert not ranked
            return
        near = sum(score >= ranked[0][0] - math.log(factor) - CLOSE for score, _ in ranked)
        edge = any(0 < abs(ranked[0][0] - math.log(factor) - score) < 1e-3 for score, _ in ranked)

        def k_best(limit: float) -> Any:
            return td.k_best_networks(scores, k, time_limit=limit, threads=1)

        def near_best(limit: float) -> Any:
            return td.networks_within(scores, factor, time_limit=limit, threads=1)

        expected = min(k, len(ranked))
        at_every_stop(k_best, seed, lambda found: check_list(found, ranked, expected, close=CLOSE), many=5)
        if not edge:
            at_every_stop(near_best, seed, lambda found: check_list(found, ranked, near, close=CLOSE), many=5)

        for wanted in sorted({1, k}):  # what is met first stands alone in a stopped list
            most = min(wanted, n_classes(ranked))

            def classes(limit: float, wanted: int = wanted) -> Any:
                return td.k_best_classes(scores, wanted, time_limit=limit, threads=1)

            def check(found: Any, most: int = most) -> None:
                check_class_list(found, ranked, most, close=CLOSE)

            at_every_stop(classes, seed, check, many=4)


# ---- Orders that weigh, and search over partial networks


PRIORS = ("OrderModular()", "FairPrior()", "EdgePrior({('V0', 'V1'): 0.7, ('V1', 'V0'): -1.5})")


def make_priors(prior: str, rng: np.random.Generator) -> Inputs:
    return {
        "table": random_table(rng, variables=(2, 4)),
        "kind": random_kind(rng),
        "prior": prior,
        "k": int(rng.choice([1, 4, 40])),
        "factor": float(np.exp(rng.choice([0.0, 1.0, 3.0]))),
        "seed": int(rng.integers(2**31)),
    }


def weighed(scores: Scores, prior: Any) -> Ranked:
    """Score plus log weight of every network, best first."""
    from topdag.knowledge.priors import log_weight_of

    found = []
    for score, masks in all_ranked(scores):
        network = scores.network(masks)
        found.append((score + log_weight_of(prior, network, scores.scored_names, {}), masks))
    return sorted(found, reverse=True)


def check_priors(table: Inputs, kind: str, prior: str, k: int, factor: float, seed: int) -> None:
    made = table_of(**table)
    scores = td.score(made, kind_of(kind), keep="all")
    weighing = eval(f"td.{prior}", {"td": td})
    ranked = weighed(scores, weighing)
    place = {masks: value for value, masks in ranked}
    truth = BestTruth(ranked[0][0] - CLOSE / 2, lambda network: place[tuple(scores.masks_of(network))])
    expected = min(k, len(ranked))

    def best(limit: float) -> Any:
        return td.best_network(scores, prior=weighing, time_limit=limit, threads=1)

    def k_best(limit: float) -> Any:
        return td.k_best_networks(scores, k, prior=weighing, time_limit=limit, threads=1)

    def searched(limit: float, published: bool = False) -> Any:
        return td.search_networks(scores, k, prior=weighing, published=published, time_limit=limit, threads=1)

    def check(found: Any) -> None:
        if not isinstance(found, td.OutOfTime):
            check_list(found, ranked, expected, close=CLOSE)

    at_every_stop(best, seed, lambda answer: check_answer(answer, truth), many=5)
    at_every_stop(k_best, seed, check, many=5)
    at_every_stop(searched, seed, check)
    if prior == "OrderModular()":
        at_every_stop(partial(searched, published=True), seed, check)
    reach = ranked[0][0] - math.log(factor)
    if all(abs(value - reach) > 1e-3 for value, _ in ranked):
        near = sum(value >= reach for value, _ in ranked)

        def near_best(limit: float) -> Any:
            return td.networks_within(scores, factor, prior=weighing, time_limit=limit, threads=1)

        def check_near(found: Any) -> None:
            """Stopped early, networks are within the factor of the best found, which need not be the best."""
            is_stopped = found.proof.status is td.types.Status.STOPPED
            check_list(found, ranked, len(ranked) if is_stopped else near, close=CLOSE)

        at_every_stop(near_best, seed, check_near, many=5)


def make_search(rng: np.random.Generator) -> Inputs:
    n = int(rng.integers(2, 5))
    families = families_with_ties(rng, n, empty=True) if rng.random() < 0.6 else rounded_families(rng, n)
    listed, k = bool(rng.random() < 0.5), int(rng.choice([1, 5, 50]))
    return {"n": n, "families": families, "listed": listed, "k": k, "seed": int(rng.integers(2**31))}


def check_search(n: int, families: Families, listed: bool, k: int, seed: int) -> None:
    """Best-first search over partial networks: with the lattice as its oracle, or with orders."""
    scores = scores_of(n, families, keep="all")
    ranked = all_ranked(scores)

    def ask(limit: float) -> Any:
        return td.search_networks(scores, k, time_limit=limit, threads=1)

    def check(found: Any) -> None:
        if not isinstance(found, td.OutOfTime):
            check_list(found, ranked, min(k, len(ranked)))

    with ExitStack() as stack:
        if listed:
            stack.enter_context(lists_for_few())
        at_every_stop(ask, seed, check)


# ---- Sums and samples: whole, or none


def make_sums(rng: np.random.Generator) -> Inputs:
    prior = str(rng.choice(["None", "OrderModular()"]))
    return {"table": random_table(rng, variables=(2, 4)), "prior": prior, "seed": int(rng.integers(2**31))}


def check_sums(table: Inputs, prior: str, seed: int) -> None:
    scores = td.score(table_of(**table), td.BDeu(), keep="all")
    weighing = None if prior == "None" else td.OrderModular()
    ranked = all_ranked(scores) if weighing is None else weighed(scores, weighing)
    values = np.array([value for value, _ in ranked])
    chances = np.exp(values - values.max())
    chances /= chances.sum()
    n, columns = len(scores.columns), scores.columns
    edges = np.zeros((len(scores.names), len(scores.names)))
    for chance, (_, masks) in zip(chances, ranked, strict=True):
        for x in range(n):
            for p in reference.members(masks[x]):
                edges[columns[p], columns[x]] += chance

    def posteriors(limit: float) -> Any:
        return td.edge_posteriors(scores, prior=weighing, time_limit=limit, threads=1)

    def samples(limit: float) -> Any:
        return td.sample_networks(scores, 20, prior=weighing, seed=seed % 1000, time_limit=limit, threads=1)

    def check_posteriors(found: Any) -> None:
        assert isinstance(found, td.OutOfTime) or np.allclose(found.matrix, edges, atol=1e-9)

    def check_samples(found: Any) -> None:
        assert isinstance(found, td.OutOfTime) or len(list(found)) == 20

    at_every_stop(posteriors, seed, check_posteriors, many=5)
    at_every_stop(samples, seed, check_samples, many=3)


# ---- Few sets that can come first


def make_ideals(rng: np.random.Generator) -> Inputs:
    table = random_table(rng, variables=(3, 4), constants=False)
    n = len(table["arities"])
    order = rng.permutation(n).tolist()
    pairs = [(f"V{order[i]}", f"V{order[i + 1]}") for i in range(n - 1)]
    return {
        "table": table,
        "pairs": pairs,
        "k": int(rng.choice([1, 6, 300])),
        "seed": int(rng.integers(2**31)),
    }


def check_ideals(table: Inputs, pairs: list[tuple[str, str]], k: int, seed: int) -> None:
    made = table_of(**table)
    known = {"precedence": [tuple(pair) for pair in pairs]}
    constraints, truth, ranked = constrained_truth(made, "BDeu(1.0)", known)
    scores = td.score(made, td.BDeu(), constraints=constraints)

    def best(limit: float) -> Any:
        return td.best_network(scores, time_limit=limit, threads=1)

    def k_best(limit: float) -> Any:
        return td.k_best_networks(scores, k, time_limit=limit, threads=1)

    with sizes_given(ideals=1):
        assert "ideals" in best(NEVER).stats.engine
        at_every_stop(best, seed, lambda answer: check_answer(answer, truth))
        at_every_stop(k_best, seed, lambda found: check_list(found, ranked, min(k, len(ranked)), close=CLOSE), many=5)


Kind = tuple[Callable[[np.random.Generator], Inputs], Callable[..., None]]
STOP_KINDS: dict[str, Kind] = {
    **{f"stops: {engine}": (partial(make_best, engine), check_best) for engine in BEST_ENGINES},
    "stops: components": (make_components, check_best),
    "stops: branch and cut inside": (make_branch_and_cut, check_branch_and_cut),
    "stops: orders with each bound": (make_orders, check_orders),
    "stops: rounding": (make_rounding, check_rounding),
    "stops: rounding under constraints": (make_rounding_constrained, check_rounding_constrained),
    "stops: from a table on": (make_table, check_table),
    **{f"stops: constrained, {route}": (partial(make_constrained, route), check_constrained) for route in ROUTES},
    **{f"stops: lists, {lattice}": (partial(make_lists, lattice), check_lists) for lattice in LATTICES},
    "stops: classes": (partial(make_classes, "dense"), check_classes),
    "stops: classes, partition": (partial(make_classes, "partition"), check_classes),
    **{
        f"stops: constrained lists, {route}": (partial(make_constrained_lists, route), check_constrained_lists)
        for route in (*ROUTES[:3], "partition")
    },
    **{f"stops: {prior}": (partial(make_priors, prior), check_priors) for prior in PRIORS},
    "stops: partial networks": (make_search, check_search),
    "stops: sums and samples": (make_sums, check_sums),
    "stops: ideals": (make_ideals, check_ideals),
}
