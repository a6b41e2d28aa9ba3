"""What an order that variables have in any case means: all networks of five variables that agree with it."""

from __future__ import annotations

import math
import random
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import reference
from brute_force import network_scores, networks, values_of
from numpy.typing import NDArray

import topdag as td
from topdag.scoring.scores import Scores

Floats = NDArray[np.float64]
N = 5
NAMES = ("a", "b", "c", "d", "e")


def some_orders(seed: int) -> dict[str, Any]:
    """Pairs of a random order, few or many or all of it, with rules about single variables now and then."""
    draw = random.Random(seed)
    order = list(NAMES)
    draw.shuffle(order)
    pairs = [(a, b) for i, a in enumerate(order) for b in order[i + 1 :]]
    given: dict[str, Any] = {"precedence": draw.sample(pairs, draw.choice([1, 2, 3, 5]))}
    if seed % 7 == 0:
        given["precedence"] = list(pairwise(order))  # a total order
    if seed % 3 == 0:
        given["max_parents"] = 2
    if seed % 4 == 1:
        given["required_edges"] = [draw.choice(pairs)]
    if seed % 5 == 2:
        given["tiers"] = [order[:2], order[2:4]]
    return given


def long_order(names: tuple[str, ...], seed: int) -> td.Constraints:
    draw = random.Random(seed)
    order = list(names)
    draw.shuffle(order)
    pairs = [(a, b) for i, a in enumerate(order) for b in order[i + 1 :]]
    return td.Constraints(precedence=draw.sample(pairs, 4 + seed % 9), max_parents=3 if seed % 2 else None)


@cache
def table() -> td.Table:
    draw = np.random.default_rng(11)
    columns = [draw.integers(0, 2, 60), draw.integers(0, 3, 60)]
    columns += [np.where(draw.random(60) < 0.7, columns[i % 2] % 2, draw.integers(0, 2, 60)) for i in range(3)]
    return td.Table({name: [str(v) for v in own] for name, own in zip(NAMES, columns, strict=True)})


def early(given: dict[str, Any]) -> list[int]:
    found = [0] * N
    for a, b in given["precedence"]:
        found[NAMES.index(b)] |= 1 << NAMES.index(a)
    return found


def agreeing(scores: Scores, given: dict[str, Any]) -> tuple[NDArray[np.uint64], Floats]:
    """Every network of allowed families that has no circle with the order, and its score."""
    masks = networks(N)
    values = network_scores(values_of(scores), masks)
    masks, values = masks[np.isfinite(values)], values[np.isfinite(values)]
    both = masks | np.array(early(given), np.uint64)
    agrees = np.array([reference.is_acyclic(row) for row in both.tolist()], bool)
    assert 0 < agrees.sum() < 29281
    return masks[agrees], values[agrees]


def log_orders(masks: NDArray[np.uint64], given: dict[str, Any]) -> Floats:
    """Of how many orders each network is one that agrees."""
    both = masks | np.array(early(given), np.uint64)
    known: dict[tuple[int, ...], float] = {}
    for row in map(tuple, both.tolist()):
        if row not in known:
            known[row] = math.log(reference.linear_extensions(row))
    return np.array([known[tuple(row)] for row in both.tolist()])


def path_matrix(masks: NDArray[np.uint64], chances: Floats) -> Floats:
    """P(s is an ancestor of t) at [s, t]."""
    has_edge = np.stack([masks >> np.uint64(s) & np.uint64(1) for s in range(N)], axis=1) == 1  # network, s, t
    reached = has_edge
    for _ in range(N):
        reached = reached | (reached @ has_edge)
    return np.einsum("k,kst->st", chances, reached.astype(float))
