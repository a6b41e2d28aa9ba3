"""Best networks, lists and classes under constraints, on every route that constraints can take."""

from __future__ import annotations

import math
from functools import partial
from itertools import product

import numpy as np
from random_inputs import (
    Inputs,
    constraints_of,
    demanding_constraints,
    kind_of,
    random_constraints,
    random_table,
    table_of,
)

import topdag as td
from stop_cases.counted import CLOSE, NEVER, check_answer, check_class_list, check_list, n_classes
from stop_cases.forced import asked, at_every_stop, long_lists, on_route
from stop_cases.truths import best_that_obeys, constrained_truth
from topdag.search.engines import sizes_given

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


def check_constrained(table: Inputs, kind: str, constraints: Inputs, route: str, seed: int) -> None:
    made = table_of(**table)
    truth = best_that_obeys(made, kind, constraints)
    with on_route(route), long_lists(seed % 2 == 1):
        try:
            scores = td.score(made, kind_of(kind), constraints=constraints_of(constraints, made.names))
        except td.ConstraintError:
            assert truth.optimum == -math.inf, "constraints are called a contradiction, but some network obeys them"
            return
        engine = "branching" if route == "branching" and scores.rest is not None else None
        at_every_stop(asked(td.best_network, scores, engine=engine), seed, partial(check_answer, truth=truth))


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
            at_every_stop(asked(td.best_network, scores), seed, partial(check_answer, truth=truth), many=5)


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
    most = [1, 3, 20, 60] if route == "tables" else [1, 3, 20]  # partition takes them one by one
    return made | {"k": int(rng.choice(most)), "factor": float(np.exp(rng.choice([0.0, 1.0, 4.0])))}


def check_constrained_lists(
    table: Inputs, kind: str, constraints: Inputs, route: str, k: int, factor: float, seed: int
) -> None:
    made = table_of(**table)
    known, _, ranked = constrained_truth(made, kind, constraints)
    if known is None:
        return
    with on_route(route), long_lists(seed % 2 == 1):
        try:
            scores = td.score(made, kind_of(kind), constraints=known)
        except td.ConstraintError:
            assert not ranked
            return
        near = sum(score >= ranked[0][0] - math.log(factor) - CLOSE for score, _ in ranked)
        edge = any(0 < abs(ranked[0][0] - math.log(factor) - score) < 1e-3 for score, _ in ranked)

        listed = partial(check_list, ranked=ranked, close=CLOSE)
        whole = min(k, len(ranked))
        at_every_stop(asked(td.k_best_networks, scores, k), seed, partial(listed, expected=whole), many=5)
        if not edge:
            at_every_stop(asked(td.networks_within, scores, factor), seed, partial(listed, expected=near), many=5)
        for wanted in sorted({1, k}):  # what is met first stands alone in a stopped list
            check = partial(check_class_list, ranked=ranked, expected=min(wanted, n_classes(ranked)), close=CLOSE)
            at_every_stop(asked(td.k_best_classes, scores, wanted), seed, check, many=4)


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
    best = asked(td.best_network, scores)
    listed = partial(check_list, ranked=ranked, expected=min(k, len(ranked)), close=CLOSE)
    with sizes_given(ideals=1):
        assert "ideals" in best(NEVER).stats.engine
        at_every_stop(best, seed, partial(check_answer, truth=truth))
        at_every_stop(asked(td.k_best_networks, scores, k), seed, listed, many=5)
