"""What is compared on random inputs: every question with brute force on few variables, engines with each other on more.

Each kind makes plain inputs from a random generator and checks them; see ``tests/slow/compare.py``. What needs no
more than numpy and topdag's own dependencies.
"""

from __future__ import annotations

import math
from typing import Any

import brute_force
import numpy as np
import reference
from random_inputs import (
    Families,
    Inputs,
    constraints_of,
    demanding_constraints,
    families_with_cycles,
    families_with_ties,
    kind_of,
    obeys_of,
    random_constraints,
    random_kind,
    random_table,
    reference_local,
    table_of,
)
from stop_cases import STOP_KINDS, Kind
from stop_cases.best import BEST_ENGINES
from stop_cases.counted import CLOSE, Ranked, all_ranked, best_in_full, check_class_list, check_list, n_classes, within
from stop_cases.forced import lists_for_few
from stop_cases.truths import constrained_truth, scores_of, weighed

import topdag as td
from topdag.scoring.scores import Scores

EQUIVALENT = ("BDeu", "BIC", "AIC", "qNML")


def _close(one: float, other: float, most: float = CLOSE) -> bool:
    return one == other or abs(one - other) <= most


# ---- Scores of a table


def make_scored(rng: np.random.Generator) -> Inputs:
    table, kind = random_table(rng, variables=(2, 4), most_states=5), random_kind(rng)
    if "NML" in kind:  # whose truth is in fractions
        table["weights"] = [1] * len(table["weights"])
    return {"table": table, "kind": kind}


def check_scored(table: Inputs, kind: str) -> None:
    """Every local score, and the optimum in two ways."""
    made = table_of(**table)
    scores, local = td.score(made, kind_of(kind), keep="all"), reference_local(kind, made)
    columns, names = scores.columns, scores.names
    # A local score is a difference of sums as large as N ln N, here and in the reference.
    lost = 1e-9 + 8 * math.ulp(made.n_rows * math.log(made.n_rows))
    for x in range(len(columns)):
        for mask in range(2 ** len(columns)):
            if not mask >> x & 1:
                parents = [columns[p] for p in reference.members(mask)]
                true = local(columns[x], sum(map(reference.only, parents)))
                told = scores.local(names[columns[x]], [names[p] for p in parents])
                assert _close(told, true, 1e-9 * max(1.0, abs(true)) + lost), (x, mask, told, true)
    best = td.best_network(made_scores := td.score(made, kind_of(kind)))
    assert best.proof.status is td.types.Status.PROVED and best.network is not None
    n = len(names)
    true_best = reference.best_score_by_orders(local, n)
    masks = [sum(1 << names.index(p) for p in best.network.parents[name]) for name in names]
    assert _close(best.score, true_best) and _close(reference.network_score(local, masks), true_best)
    assert _close(made_scores.of(best.network), best.score, 1e-9 * max(1.0, abs(best.score)))


def make_engines(rng: np.random.Generator) -> Inputs:
    n = int(rng.integers(2, 10))
    families = families_with_ties(rng, n) if n <= 5 else families_with_cycles(rng, n, parts=int(rng.integers(1, 4)))
    return {"n": n, "families": families}


def check_engines(n: int, families: Families) -> None:
    """The same optimum, whoever finds it."""
    scores = scores_of(n, families)
    optimum = float(brute_force.best_rest(brute_force.best_within(brute_force.values_of(scores)))[0])
    for engine in BEST_ENGINES:
        answer = td.best_network(scores, engine=engine)
        assert answer.score == optimum, (engine, answer.score, optimum)
        assert (answer.network is None) == (optimum == -math.inf), engine
        assert answer.network is None or scores.of(answer.network) == optimum, engine


def make_larger(rng: np.random.Generator) -> Inputs:
    n = int(rng.integers(8, 25))
    kind = str(rng.choice(["BDeu(1.0)", "BIC()", "AIC()"])) if n <= 16 else "BIC()"
    return {
        "n": n,
        "rows": int(rng.choice([60, 150, 400])),
        "kind": kind,
        "max_parents": 3 if n > 16 else int(rng.choice([2, 3, n])),
        "seed": int(rng.integers(2**31)),
    }


def check_larger(n: int, rows: int, kind: str, max_parents: int, seed: int) -> None:
    """Engines against each other on rows of a random network."""
    table = td.random_network(n, arities=(2, 3), max_parents=3, seed=seed).sample(rows, seed)
    listed = td.score(table, kind_of(kind), max_parents=max_parents, keep="best")
    told = {engine: td.best_network(listed, engine=engine) for engine in ("search", "order search", "branch and cut")}
    if n <= 18:
        told["dense lattice"] = td.best_network(td.score(table, kind_of(kind), max_parents=max_parents, keep="all"))
    if n <= 14:
        told["block lattice"] = td.best_network(listed, engine="block lattice")
    values = {engine: answer.score for engine, answer in told.items()}
    assert all(answer.proof.status is td.types.Status.PROVED for answer in told.values()), told
    assert max(values.values()) - min(values.values()) <= CLOSE, values


# ---- Lists, classes, counts


def make_lists(rng: np.random.Generator) -> Inputs:
    n = int(rng.integers(1, 5))
    return {
        "n": n,
        "families": families_with_ties(rng, n),
        "k": int(rng.choice([1, 2, 10, 100, 1000])),
        "factor": float(np.exp(rng.choice([0.0, 1.0, 2.0, 9.0]))),
        "sparse": bool(rng.random() < 0.5),
    }


def check_lists(n: int, families: Families, k: int, factor: float, sparse: bool) -> None:
    scores = scores_of(n, families, keep="all")
    ranked = all_ranked(scores)
    near = within(ranked, factor, scores.grid)
    if sparse:
        with lists_for_few():
            _check_lists(scores, ranked, near, k, factor)
        return
    _check_lists(scores, ranked, near, k, factor)
    values, masks = brute_force.ranked(scores)
    found = td.k_best_networks(scores, k)
    assert np.array_equal(found.scores, values[:k]) and np.array_equal(found.parents, masks[:k])


def _check_lists(scores: Scores, ranked: Ranked, near: int, k: int, factor: float) -> None:
    check_list(td.k_best_networks(scores, k), ranked, min(k, len(ranked)))
    check_list(td.networks_within(scores, factor), ranked, near)
    assert td.count_networks_within(scores, factor) == near
    assert len(list(td.iter_networks_within(scores, factor))) == near


def make_classes(rng: np.random.Generator) -> Inputs:
    made = make_lists(rng)
    kind = str(rng.choice(["BDeu(1.0)", "BIC()", "AIC()", "qNML()"]))
    table = random_table(rng, variables=(2, 4), constants=False)
    return {"table": table, "kind": kind, "k": made["k"], "factor": made["factor"], "sparse": made["sparse"]}


def check_classes(table: Inputs, kind: str, k: int, factor: float, sparse: bool) -> None:
    scores = td.score(table_of(**table), kind_of(kind), keep="all")
    ranked = all_ranked(scores)
    near = n_classes(ranked[: within(ranked, factor, scores.grid)])
    check_class_list(td.k_best_classes(scores, k), ranked, min(k, n_classes(ranked)))
    check_class_list(td.classes_within(scores, factor), ranked, near)
    assert td.count_classes_within(scores, factor) == near
    for one in td.k_best_classes(scores, min(k, 5)):
        members = list(one.members())
        key = {reference.equivalence_key(tuple(scores.masks_of(member))) for member in members}
        assert len(key) == 1 and len(members) == one.size
    if sparse:
        with lists_for_few():
            listed = td.score(table_of(**table), kind_of(kind))
            found = td.k_best_classes(listed, k)
            truth = sorted({key: score for score, key in reversed(_class_scores(ranked))}.values(), reverse=True)
            assert np.allclose(found.scores, truth[: len(found)], atol=CLOSE)
            assert len(found) == min(k, n_classes(ranked)) or found.proof.status is td.types.Status.STOPPED


def _class_scores(ranked: Ranked) -> list[tuple[float, object]]:
    return [(score, reference.equivalence_key(masks)) for score, masks in ranked]


# ---- Sums and samples


def make_sums(rng: np.random.Generator) -> Inputs:
    prior = str(
        rng.choice(["None", "OrderModular()", "FairPrior()", "EdgePrior({('V0', 'V1'): 0.7, ('V1', 'V0'): -1.5})"])
    )
    constraints = random_constraints(rng, 4) if rng.random() < 0.4 else None
    table = random_table(rng, variables=(4, 4) if constraints else (2, 4), constants=constraints is None)
    return {"table": table, "kind": random_kind(rng), "prior": prior, "constraints": constraints}


def check_sums(table: Inputs, kind: str, prior: str, constraints: Inputs | None) -> None:
    """Evidence, edges and paths as sums over all networks; samples are networks that may be."""
    made = table_of(**table)
    obeys = None if constraints is None else obeys_of(constraints, made.names)
    scores = td.score(made, kind_of(kind), keep="all")
    weighing = None if prior == "None" else eval(f"td.{prior}", {"td": td})
    orders_matter = constraints is not None and ("precedence" in constraints or "tiers" in constraints)
    if orders_matter and prior == "OrderModular()":
        return  # orders that agree weigh; checked by its own tests
    ranked = all_ranked(scores) if weighing is None else weighed(scores, weighing)
    ranked = [own for own in ranked if obeys is None or obeys(own[1])]
    known = _constrained_scores(made, kind, constraints, bool(ranked))
    if known is None:
        return
    try:
        edges, paths = td.edge_posteriors(known, prior=weighing), td.path_posteriors(known, prior=weighing)
        samples = list(td.sample_networks(known, 30, prior=weighing, seed=1))
    except (td.ScoreError, td.ConstraintError) as refused:
        if constraints is None or not _is_refusal(refused):
            raise
        return
    values = np.array([value for value, _ in ranked])
    chances = np.exp(values - values.max())
    chances /= chances.sum()
    n_all, columns = len(scores.names), scores.columns
    true_edges, true_paths = np.zeros((n_all, n_all)), np.zeros((n_all, n_all))
    for chance, (_, masks) in zip(chances, ranked, strict=True):
        for x, above in enumerate(_ancestors(masks)):
            for p in reference.members(masks[x]):
                true_edges[columns[p], columns[x]] += chance
            for p in reference.members(above):
                true_paths[columns[p], columns[x]] += chance
    assert np.allclose(edges.matrix, true_edges, atol=1e-9), np.abs(edges.matrix - true_edges).max()
    assert np.allclose(paths.matrix, true_paths, atol=1e-9), np.abs(paths.matrix - true_paths).max()
    if weighing is None:
        true = float(values.max() + math.log(np.exp(values - values.max()).sum()))
        assert _close(td.log_evidence(known), true, 1e-7 * max(1.0, abs(true)))
    possible = {masks for _, masks in ranked}
    assert all(tuple(scores.masks_of(network)) in possible for network in samples)


def _is_refusal(error: Exception) -> bool:
    """Sums are refused under some constraints, in words that say so."""
    return "constraints" in str(error) or "satisfy" in str(error) or "at once" in str(error)


def _ancestors(masks: tuple[int, ...]) -> list[int]:
    above = list(masks)
    for _ in masks:
        for x, own in enumerate(above):
            for p in reference.members(own):
                above[x] |= above[p]
    return above


def _constrained_scores(made: td.Table, kind: str, constraints: Inputs | None, some: bool, **options: Any) -> Any:
    """None where nothing obeys, and that is what is said."""
    try:
        known = None if constraints is None else constraints_of(constraints, made.names)
        scores = td.score(made, kind_of(kind), constraints=known, **options)
    except td.ConstraintError:
        assert not some, "constraints are called a contradiction, but some network obeys them"
        return None
    return scores if some else None


# ---- Constraints


def make_constrained(rng: np.random.Generator) -> Inputs:
    table = random_table(rng, variables=(3, 4), constants=False)
    return {
        "table": table,
        "kind": random_kind(rng),
        "constraints": (random_constraints if rng.random() < 0.6 else demanding_constraints)(
            rng, len(table["arities"])
        ),
        "max_parents": None if rng.random() < 0.7 else int(rng.integers(1, 4)),
        "k": int(rng.choice([1, 4, 60])),
        "listed": bool(rng.random() < 0.5),
    }


def check_constrained(
    table: Inputs, kind: str, constraints: Inputs, max_parents: int | None, k: int, listed: bool
) -> None:
    """The best network, a list, classes and a count."""
    made = table_of(**table)
    known, _, ranked = constrained_truth(made, kind, constraints)
    if max_parents is not None:
        ranked = [own for own in ranked if all(mask.bit_count() <= max_parents for mask in own[1])]
    if known is None:
        return
    if listed and kind_of(kind).score_equivalent:
        with lists_for_few():
            _check_constrained(made, kind, constraints, max_parents, k, ranked)
        return
    _check_constrained(made, kind, constraints, max_parents, k, ranked)


def _check_constrained(
    made: td.Table, kind: str, constraints: Inputs, max_parents: int | None, k: int, ranked: Ranked
) -> None:
    scores = _constrained_scores(made, kind, constraints, bool(ranked), max_parents=max_parents)
    if scores is None:
        return
    best = td.best_network(scores)
    assert best.proof.status is td.types.Status.PROVED and best.network is not None
    every = td.score(made, kind_of(kind), keep="all")
    assert _close(best.score, best_in_full(every, ranked)), (best.score, ranked[0])
    assert tuple(every.masks_of(best.network)) in {masks for _, masks in ranked}
    check_list(td.k_best_networks(scores, k), ranked, min(k, len(ranked)), close=CLOSE)
    if not any(1e-9 < abs(score - ranked[0][0] + 1.0) < 1e-3 for score, _ in ranked):
        near = [own for own in ranked if own[0] >= ranked[0][0] - 1.0 - 1e-9]
        assert td.count_networks_within(scores, math.e) == len(near)
    if kind_of(kind).score_equivalent:
        check_class_list(td.k_best_classes(scores, k), ranked, min(k, n_classes(ranked)), close=CLOSE)


def make_asking_for_parents(rng: np.random.Generator) -> Inputs:
    n, states = int(rng.integers(8, 15)), int(rng.choice([5, 10, 20]))
    asks = [
        {"required_edges": [("V1", "V0"), ("V2", "V0")]},
        {"min_parents": {"V0": 2}},
        {"clauses": [[("edge", True, "V1", "V0"), ("edge", True, "V2", "V0")]]},
    ]
    return {
        "n": n,
        "states": states,
        "rows": int(rng.choice([60, 200])),
        "kind": str(rng.choice(["BIC()", "AIC()"])),
        "constraints": asks[int(rng.integers(3))],
        "seed": int(rng.integers(2**31)),
    }


def check_asking_for_parents(n: int, states: int, rows: int, kind: str, constraints: Inputs, seed: int) -> None:
    """Many states, hopeless families: what is called proved is no worse than the best with few parents, which needs no
    hopeless ones; and no better than what it says of itself."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, states, (n, rows))
    for v in range(3, n):
        copied = rng.random(rows) < 0.6
        codes[v, copied] = codes[v - 1, copied]
    made = table_of(codes.tolist(), [states] * n, [1] * rows, False)
    known = constraints_of(constraints, made.names)
    few = td.best_network(td.score(made, kind_of(kind), constraints=known, max_parents=2))
    free = td.best_network(td.score(made, kind_of(kind), constraints=known))
    assert few.proof.status is free.proof.status is td.types.Status.PROVED
    assert free.score >= few.score - CLOSE, (free.score, few.score)
    assert free.network is not None and known.allows(free.network)
    names = made.names
    own = [kind_of(kind).local(made, x, [names.index(p) for p in free.network.parents[v]]) for x, v in enumerate(names)]
    assert _close(math.fsum(own), free.score)


# ---- What is kept


def make_kept(rng: np.random.Generator) -> Inputs:
    table = random_table(rng, variables=(2, 5))
    k, nats = int(rng.choice([1, 3, 20])), float(rng.choice([0, 1, 3]))
    return {"table": table, "kind": random_kind(rng), "k": k, "nats": nats}


def check_kept(table: Inputs, kind: str, k: int, nats: float) -> None:
    """Scores that were kept for a question answer it as all families do."""
    made, scoring = table_of(**table), kind_of(kind)
    every = td.score(made, scoring, keep="all")
    best, best_k = td.best_network(every).score, td.k_best_networks(every, k).scores
    factor = math.exp(nats)
    near = td.networks_within(every, factor)
    assert _close(td.best_network(td.score(made, scoring, keep="best")).score, best)
    kept = td.score(made, scoring, keep=td.KBest(k))
    assert np.allclose(td.k_best_networks(kept, k).scores, best_k, atol=CLOSE)
    if kind_of(kind).score_equivalent:
        wanted = td.k_best_classes(every, k).scores
        assert np.allclose(td.k_best_classes(kept, k).scores, wanted, atol=CLOSE)
    narrow = td.score(made, scoring, keep=td.Within(factor * 1.001))
    further = td.networks_within(every, factor * 1.01).scores
    is_at_edge = nats > 0 and any(abs(near.scores[0] - nats - score) < 1e-3 for score in further)
    found = td.networks_within(narrow, factor)
    assert is_at_edge or len(found) == len(near), (len(found), len(near))


# ---- Priors


def make_priors(rng: np.random.Generator) -> Inputs:
    prior = str(rng.choice(["OrderModular()", "FairPrior()", "EdgePrior({('V0', 'V1'): 0.7, ('V1', 'V0'): -1.5})"]))
    table = random_table(rng, variables=(2, 4))
    return {"table": table, "kind": random_kind(rng), "prior": prior, "k": int(rng.choice([1, 3, 40]))}


def check_priors(table: Inputs, kind: str, prior: str, k: int) -> None:
    """Weights counted from what a prior says: an order-modular one counts orders of all variables, constant or not."""
    made = table_of(**table)
    scores = td.score(made, kind_of(kind), keep="all")
    weighing = eval(f"td.{prior}", {"td": td})
    ranked = weighed(scores, weighing)
    if prior == "OrderModular()":
        ranked = sorted(((s, m) for s, m in _by_orders(scores)), reverse=True)
    assert _close(td.best_network(scores, prior=weighing).score, ranked[0][0])
    for found in (td.k_best_networks(scores, k, prior=weighing), td.search_networks(scores, k, prior=weighing)):
        check_list(found, ranked, min(k, len(ranked)), close=CLOSE)


def _by_orders(scores: Scores) -> Ranked:
    found = []
    for score, masks in all_ranked(scores):
        whole = [0] * len(scores.names)
        for x, column in enumerate(scores.columns):
            whole[column] = sum(1 << scores.columns[p] for p in reference.members(masks[x]))
        found.append((score + math.log(reference.linear_extensions(tuple(whole))), masks))
    return found


# ---- Constraints on parameters


def make_parameters(rng: np.random.Generator) -> Inputs:
    table = random_table(rng, variables=(3, 3), most_states=2, rows=(20, 60), constants=False)
    said = str(rng.choice(["P(V0=1 | V1=1) >= 0.4", "influence(V1, V0, +)", "influence(V1, V0, -)"]))
    return {"table": table, "kind": str(rng.choice(["BIC()", "AIC()"])), "said": said}


def check_parameters(table: Inputs, kind: str, said: str) -> None:
    """Under a bound on probabilities: networks of all families, the optimum by brute force; never above the likelihood
    without the bound."""
    made = table_of(**table)
    free = td.score(made, kind_of(kind), keep="all")
    known = td.Constraints(parameters=[said])
    scores = td.score(made, kind_of(kind), constraints=known, keep="all")
    values, loose = brute_force.values_of(scores), brute_force.values_of(free)
    assert (values <= loose + CLOSE).all()
    ranked = all_ranked(scores)
    best = td.best_network(scores)
    assert _close(best.score, best_in_full(scores, ranked))
    assert best.network is not None and "V1" in best.network.parents["V0"]


COMPARED: dict[str, Kind] = {
    "local scores and optima": (make_scored, check_scored),
    "engines on lists": (make_engines, check_engines),
    "engines on 8 to 24 variables": (make_larger, check_larger),
    "lists and counts": (make_lists, check_lists),
    "classes": (make_classes, check_classes),
    "sums and samples": (make_sums, check_sums),
    "constraints": (make_constrained, check_constrained),
    "many states with parents asked for": (make_asking_for_parents, check_asking_for_parents),
    "scores kept for a question": (make_kept, check_kept),
    "priors": (make_priors, check_priors),
    "constraints on parameters": (make_parameters, check_parameters),
}
KINDS: dict[str, Kind] = COMPARED | STOP_KINDS
