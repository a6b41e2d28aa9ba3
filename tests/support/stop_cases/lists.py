"""Lists, classes, counts and streams; priors and search over partial networks; sums and samples."""

from __future__ import annotations

import math
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import reference
from random_inputs import (
    Families,
    Inputs,
    families_with_ties,
    kind_of,
    random_kind,
    random_table,
    rounded_families,
    table_of,
)

import topdag as td
from stop_cases.counted import (
    CLOSE,
    BestTruth,
    all_ranked,
    check_answer,
    check_class_list,
    check_list,
    n_classes,
    within,
)
from stop_cases.forced import asked, at_every_stop, lists_for_few
from stop_cases.truths import scores_of, weighed
from topdag.scoring.scores import Scores
from topdag.search.engines import sizes_given
from topdag.search.stores import FamilyStore, ListStore

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
            scores = replace(scores, store=FamilyStore.of(n, map(scores.store.families_of, range(n))))
        listed, whole = partial(check_list, ranked=ranked), min(k, len(ranked))
        at_every_stop(asked(td.k_best_networks, scores, k), seed, partial(listed, expected=whole), many=5)
        at_every_stop(asked(td.networks_within, scores, factor), seed, partial(listed, expected=near), many=5)
        _check_counts(scores, factor, near, seed)


def _check_counts(scores: Scores, factor: float, near: int, seed: int) -> None:
    def stream(limit: float) -> Any:
        given, told = [], None
        try:
            given.extend(td.iter_networks_within(scores, factor, time_limit=limit, threads=1))
        except td.OutOfTime as over:
            told = over.answer
        assert len(given) == (near if told is None else told) <= near
        assert len({tuple(scores.masks_of(network)) for network in given}) == len(given)
        return given

    at_every_stop(asked(td.count_networks_within, scores, factor), seed, partial(_check_count, near), many=5)
    at_every_stop(stream, seed, lambda _: None, many=4)


def _check_count(near: int, found: Any) -> None:
    assert found.answer <= near if isinstance(found, td.OutOfTime) else found == near, (found, near)


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
        own = map(scores.store.families_of, range(len(scores.columns)))
        scores = replace(scores, store=ListStore.of(scores.scored_names, own))
    ranked = all_ranked(scores)
    near = n_classes(ranked[: within(ranked, factor, scores.grid)])
    total, listed = n_classes(ranked), partial(check_class_list, ranked=ranked)
    with ExitStack() as stack:
        if lattice != "dense":
            stack.enter_context(lists_for_few())
        if lattice == "partition":
            stack.enter_context(sizes_given(partition=0))
        at_every_stop(asked(td.k_best_classes, scores, k), seed, partial(listed, expected=min(k, total)), many=5)
        at_every_stop(asked(td.classes_within, scores, factor), seed, partial(listed, expected=near), many=5)
        at_every_stop(asked(td.count_classes_within, scores, factor), seed, partial(_check_count, near), many=5)


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


def check_priors(table: Inputs, kind: str, prior: str, k: int, factor: float, seed: int) -> None:
    made = table_of(**table)
    scores = td.score(made, kind_of(kind), keep="all")
    weighing = eval(f"td.{prior}", {"td": td})
    ranked = weighed(scores, weighing)
    place = {masks: value for value, masks in ranked}
    truth = BestTruth(ranked[0][0] - CLOSE / 2, lambda network: place[tuple(scores.masks_of(network))])
    searched = partial(asked, td.search_networks, scores, k, prior=weighing)

    def check(found: Any) -> None:
        if not isinstance(found, td.OutOfTime):
            check_list(found, ranked, min(k, len(ranked)), close=CLOSE)

    at_every_stop(asked(td.best_network, scores, prior=weighing), seed, partial(check_answer, truth=truth), many=5)
    at_every_stop(asked(td.k_best_networks, scores, k, prior=weighing), seed, check, many=5)
    at_every_stop(searched(), seed, check)
    if prior == "OrderModular()":
        at_every_stop(searched(published=True), seed, check)
    reach = ranked[0][0] - math.log(factor)
    if all(abs(value - reach) > 1e-3 for value, _ in ranked):
        near = sum(value >= reach for value, _ in ranked)

        def check_near(found: Any) -> None:
            """Stopped early, networks are within the factor of the best found, which need not be the best."""
            is_stopped = found.proof.status is td.types.Status.STOPPED
            check_list(found, ranked, len(ranked) if is_stopped else near, close=CLOSE)

        at_every_stop(asked(td.networks_within, scores, factor, prior=weighing), seed, check_near, many=5)


def make_search(rng: np.random.Generator) -> Inputs:
    n = int(rng.integers(2, 5))
    families = families_with_ties(rng, n, empty=True) if rng.random() < 0.6 else rounded_families(rng, n)
    listed, k = bool(rng.random() < 0.5), int(rng.choice([1, 5, 50]))
    return {"n": n, "families": families, "listed": listed, "k": k, "seed": int(rng.integers(2**31))}


def check_search(n: int, families: Families, listed: bool, k: int, seed: int) -> None:
    """Best-first search over partial networks: with the lattice as its oracle, or with orders."""
    scores = scores_of(n, families, keep="all")
    ranked = all_ranked(scores)

    def check(found: Any) -> None:
        if not isinstance(found, td.OutOfTime):
            check_list(found, ranked, min(k, len(ranked)))

    with lists_for_few() if listed else nullcontext():
        at_every_stop(asked(td.search_networks, scores, k), seed, check)


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

    def check_posteriors(found: Any) -> None:
        assert isinstance(found, td.OutOfTime) or np.allclose(found.matrix, edges, atol=1e-9)

    def check_samples(found: Any) -> None:
        assert isinstance(found, td.OutOfTime) or len(list(found)) == 20

    at_every_stop(asked(td.edge_posteriors, scores, prior=weighing), seed, check_posteriors, many=5)
    at_every_stop(asked(td.sample_networks, scores, 20, prior=weighing, seed=seed % 1000), seed, check_samples, many=3)
