"""What is true of the inputs of a case, by brute force."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import brute_force
import numpy as np
from random_inputs import Families, Inputs, constraints_of, kind_of, obeys_of

import topdag as td
from stop_cases.counted import BestTruth, Masks, Ranked, all_ranked, best_in_full, first_that_obeys
from topdag.knowledge.priors import log_weight_of
from topdag.scoring.score import scores_from_lists
from topdag.scoring.scores import Scores
from topdag.search.family_lists import FamilyLists


def scores_of(n: int, families: Families, **known: Any) -> Scores:
    return scores_from_lists(FamilyLists.build([f"V{v}" for v in range(n)], families), **known)


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


def truth_of(scores: Scores, obeys: Callable[[Masks], bool] | None = None) -> tuple[BestTruth, Ranked]:
    """Of scores with all families."""
    ranked = all_ranked(scores, obeys)
    place = {masks: score for score, masks in ranked}

    def value(network: td.Network) -> float:
        return place.get(tuple(scores.masks_of(network)), -math.inf)

    return BestTruth(best_in_full(scores, ranked), value), ranked


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


def best_that_obeys(made: td.Table, kind: str, constraints: Inputs) -> BestTruth:
    scores = td.score(made, kind_of(kind), keep="all")
    obeys, ranked = obeys_of(constraints, made.names), all_ranked(scores)
    place = {masks: score for score, masks in ranked}

    def value(network: td.Network) -> float:
        masks = tuple(scores.masks_of(network))
        return place[masks] if obeys(masks) else -math.inf

    best = first_that_obeys(ranked, obeys)
    return BestTruth(best_in_full(scores, best) if best else -math.inf, value)


def weighed(scores: Scores, prior: Any) -> Ranked:
    """Score plus log weight of every network, best first."""
    found = []
    for score, masks in all_ranked(scores):
        network = scores.network(masks)
        found.append((score + log_weight_of(prior, network, scores.scored_names, {}), masks))
    return sorted(found, reverse=True)
