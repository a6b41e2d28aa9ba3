"""Features by their definitions, on parent masks, slow and obvious; nothing here knows topdag's ways."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations, permutations

import feature_truth as truth
import numpy as np
import reference

import topdag as td

Masks = Sequence[int]


def has_edge(masks: Masks, a: int, b: int) -> bool:
    return bool(masks[b] >> a & 1)


def joined(masks: Masks, a: int, b: int) -> bool:
    return has_edge(masks, a, b) or has_edge(masks, b, a)


def has_path(masks: Masks, a: int, b: int) -> bool:
    return any(has_edge(masks, a, v) and (v == b or has_path(masks, v, b)) for v in range(len(masks)))


def has_v_structure(masks: Masks, a: int, c: int, b: int) -> bool:
    return has_edge(masks, a, c) and has_edge(masks, b, c) and not joined(masks, a, b)


def in_blanket(masks: Masks, a: int, b: int) -> bool:
    common = any(has_edge(masks, a, c) and has_edge(masks, b, c) for c in range(len(masks)))
    return joined(masks, a, b) or common


def is_compelled(masks: Masks, a: int, b: int) -> bool:
    return all(has_edge(member, a, b) for member in reference.equivalent_networks(masks))


def simple_paths(masks: Masks, walk: list[int], b: int) -> Iterator[list[int]]:
    """Every way from the end of the walk to b along edges of any direction, no variable twice."""
    if walk[-1] == b:
        yield walk
        return
    for v in range(len(masks)):
        if v not in walk and joined(masks, walk[-1], v):
            yield from simple_paths(masks, [*walk, v], b)


def is_blocked(masks: Masks, walk: list[int], given: set[int]) -> bool:
    """A collider blocks unless it or a descendant is given; any other variable blocks when it is given [Pearl 1988]."""
    for before, v, after in zip(walk, walk[1:], walk[2:], strict=False):
        if has_edge(masks, before, v) and has_edge(masks, after, v):
            if not any(v == z or has_path(masks, v, z) for z in given):
                return True
        elif v in given:
            return True
    return False


def separated(masks: Masks, a: int, b: int, given: set[int]) -> bool:
    return all(is_blocked(masks, walk, given) for walk in simple_paths(masks, [a], b))


def log_sum(values: Sequence[float]) -> float:
    most = max(values)
    return most + math.log(math.fsum(math.exp(value - most) for value in values))


def log_evidence(values: np.ndarray) -> float:
    """The log of the sum over all networks of exp(score), by the recurrence over sets of roots [Robinson 1973].

    ``values[x, mask]``: local scores; the weight of all networks on U is the sum, over the non-empty sets R of U whose
    parents lie in the rest, of (-1)^(|R|+1) weight(U - R) prod_{x in R} sum_{S in U - R} w(x, S).
    """
    n = len(values)
    shift = values.max(axis=1)
    inside = np.where(np.isfinite(values), np.exp(values - shift[:, None]), 0.0)
    for x in range(n):
        for v in range(n):
            for mask in range(2**n):
                if mask >> v & 1:
                    inside[x, mask] += inside[x, mask ^ 1 << v]
    weight = [1.0] + [0.0] * (2**n - 1)
    for u in range(1, 2**n):
        roots, terms = u, []
        while roots:
            product = math.prod(inside[x, u ^ roots] for x in reference.members(roots))
            terms.append((-1.0) ** (roots.bit_count() + 1) * weight[u ^ roots] * product)
            roots = (roots - 1) & u
        weight[u] = math.fsum(terms)
    return math.log(weight[-1]) + float(shift.sum())


NAMES = ("a", "b", "c", "d", "e")


def truth_of(n: int) -> list[tuple[td.features.Feature, object]]:
    """Every ready feature of n variables, with its definition as a function of masks."""
    names = NAMES[:n]
    found: list[tuple[td.features.Feature, object]] = []
    for i, j in permutations(range(n), 2):
        pair = names[i], names[j]
        found += [
            (td.features.edge(*pair), lambda m, i=i, j=j: truth.has_edge(m, i, j)),
            (td.features.adjacency(*pair), lambda m, i=i, j=j: truth.joined(m, i, j)),
            (td.features.path(*pair), lambda m, i=i, j=j: truth.has_path(m, i, j)),
            (td.features.in_markov_blanket(*pair), lambda m, i=i, j=j: truth.in_blanket(m, i, j)),
            (td.features.compelled_edge(*pair), lambda m, i=i, j=j: truth.is_compelled(m, i, j)),
        ]
        others = [v for v in range(n) if v not in (i, j)]
        for c in others:
            feature = td.features.v_structure(names[i], names[c], names[j])
            found.append((feature, lambda m, i=i, j=j, c=c: truth.has_v_structure(m, i, c, j)))
        for size in range(n - 1):
            for z in combinations(others, size):
                feature = td.features.d_separation(*pair, [names[v] for v in z])
                found.append((feature, lambda m, i=i, j=j, z=z: truth.separated(m, i, j, set(z))))
    return found
