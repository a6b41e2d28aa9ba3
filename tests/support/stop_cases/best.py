"""The best network: of listed families by every engine, over orders with each bound, and from a table on."""

from __future__ import annotations

import math
from contextlib import ExitStack, nullcontext
from functools import partial
from typing import Any

import numpy as np
import reference
from random_inputs import (
    Families,
    Inputs,
    families_with_cycles,
    families_with_ties,
    kind_of,
    near_or_far,
    random_kind,
    random_table,
    rounded_families,
    table_of,
)

import topdag as td
from stop_cases.counted import BestTruth, all_ranked, best_in_full, check_answer
from stop_cases.forced import asked, at_every_stop, hasty, lists_for_few, long_lists, without_luck
from stop_cases.truths import best_of_families, scores_of, truth_of
from topdag import _core
from topdag._util.run import Run
from topdag.questions.best import best_of
from topdag.questions.request import Request, Trail
from topdag.search import engines
from topdag.search.branch_and_cut import prove_best
from topdag.search.order_search import search_orders

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
    ask = asked(td.best_network, scores, engine=engine, bound=bound)
    with ExitStack() as stack:
        stack.enter_context(long_lists(seed % 2 == 1))
        if luck != "as ever":
            stack.enter_context(without_luck(near=luck == "near"))
        if luck == "none":
            stack.enter_context(hasty())
        at_every_stop(ask, seed, partial(check_answer, truth=truth))


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
            ask = asked(td.best_network, scores, engine=engine)
            with without_luck():
                at_every_stop(ask, seed, partial(check_answer, truth=truth), many=4)


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

    with without_luck(near=near), hasty(), long_lists(seed % 2 == 1):
        at_every_stop(ask, seed, check)


# ---- Search over orders with each of its bounds


def make_orders(rng: np.random.Generator) -> Inputs:
    n = int(rng.integers(5, 9))
    families = near_or_far(rng, families_with_cycles(rng, n, parts=1))
    return {"n": n, "families": families, "seed": int(rng.integers(2**31))}


def bounds_for(candidates: _core.Candidates, n: int, rng: np.random.Generator) -> dict[str, _core.Bound]:
    members = np.array([int(rng.integers(1, 2**n)) | 1 << int(rng.integers(n)) for _ in range(n)], np.uint64)
    ks = np.ones(n, np.int64)
    return {
        "simple": _core.simple_bound(candidates),
        "clusters": _core.cluster_bound(candidates, members, ks, rng.integers(0, 5, n) / 4.0),
        "groups": _core.group_bound(candidates, [(1 << n // 2) - 1, (1 << n) - (1 << n // 2)]),
        "cycles": _core.cycle_bound(candidates, 2, bool(rng.random() < 0.5)),
    }


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
            return _core.search_in_layers(candidates, bound, upper, extends, None, _core.Limits(1, limit))

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


def check_table(table: Inputs, kind: str, engine: str, seed: int) -> None:
    made = table_of(**table)
    truth, _ = truth_of(td.score(made, kind_of(kind), keep="all"))
    every = td.score(made, kind_of(kind), keep="best") if engine in BEST_ENGINES[2:] else None
    wanted = engine if engine in BEST_ENGINES else None

    def ask(limit: float) -> td.types.Answer:
        own = None if wanted is None else engines.named_engine(wanted)
        is_scored = every is not None and not seed % 2
        request = Request.from_scores(every, engine=own) if is_scored else Request(made, kind_of(kind), engine=own)
        return best_of(Trail(request), Run(time_limit=limit, threads=1))

    with lists_for_few() if engine == "lists" else nullcontext():
        at_every_stop(ask, seed, partial(check_answer, truth=truth))
