"""Networks that obey, found quickly: of a network near some weights what it breaks is mended, family by family."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from topdag import _core
from topdag.closure import bits
from topdag.compiled_constraints import CompiledConstraints, has_cycle
from topdag.family_program import Families, Marks, network_near
from topdag.path_cuts import cheapest_way
from topdag.relaxation import CLIMBS, SEED, Incumbent, Known
from topdag.rule_splits import Literal, Meets, broken_clauses
from topdag.runs import Run
from topdag.statements import transitive
from topdag.stores import Floats, ListStore

MOST_MENDED = 40
"""Of one network; each leaves fewer families."""
MOST_SKIPPED = 64
FEW_CLIMBS = 10  # where an order that fits the weights leaves no network


class Obeying(Known):
    """As ``Known``, of networks that obey what is known of several variables at once; none costs more than ``most``."""

    def __init__(self, store: ListStore, run: Run, known: CompiledConstraints) -> None:
        super().__init__(store, run)
        self.rest, self.names, self.before = known.rest, known.names, known.before
        families = Families.of_store(store)
        self.most = float(np.maximum.reduceat(families.costs, families.offsets[:-1]).sum())
        self._wait, self._skipped = 0, 0

    def offer(self, cost: float, masks: list[int]) -> bool:
        is_better = cost < self.cost or (self.incumbent is None and cost == self.most)
        if not is_better or not self.rest.allows(masks, self.names):
            return False
        self.incumbent = Incumbent(tuple(masks), cost)
        return True

    def climb(self, climbs: int = CLIMBS) -> None:
        """The root mends what it rounds; blind climbs hardly ever obey."""

    def round(self, families: Families, weights: Floats) -> bool:
        """The network of the weights if they are one; else one near them, mended. Now and then only, while it fails."""
        chosen = _heaviest(families, weights)
        masks = families.parents[chosen].tolist()
        is_better = not has_cycle(masks) and self.offer(float(families.costs[chosen].sum()), masks)
        self._skipped += 1
        if self._skipped <= self._wait:
            return is_better
        is_mended = self._mend(families, weights)
        self._skipped = 0
        self._wait = 0 if is_mended else min(MOST_SKIPPED, 2 * self._wait + 1)
        return is_better or is_mended

    def _mend(self, families: Families, weights: Floats) -> bool:
        """Takes families away until the best network found by local search obeys; False when it never does or costs
        too much."""
        allowed = np.ones(families.size, dtype=np.bool_)
        above = list(self.before)
        for _ in range(MOST_MENDED):
            masks = _climbed(families, weights, allowed)
            if masks is None:
                return False
            cost = float(families.costs[families.places(masks)].sum())
            if cost >= self.cost:
                return False
            if self.rest.allows(masks, self.names):
                return self.offer(cost, masks)
            for literal in self._wanted(families, allowed, masks, above):
                own = slice(families.offsets[literal.child], families.offsets[literal.child + 1])
                allowed[own] &= literal.admit(families.parents[own])
                if isinstance(literal, Meets) and not literal.negated and literal.variables.bit_count() == 1:
                    above[literal.child] |= literal.variables
            if not np.logical_or.reduceat(allowed, families.offsets[:-1]).all():
                return False
        return False

    def _wanted(self, families: Families, allowed: Marks, masks: Sequence[int], above: Sequence[int]) -> list[Literal]:
        """A path that must be and is not, as its edges, against none of which something comes ``above`` it already; or
        of something else that is broken the cheapest way out."""
        at_least = transitive(above)
        ancestors = transitive(masks)
        missing = [(a, b) for a, b in self.rest.paths if not ancestors[b] >> a & 1]
        costs = np.where(allowed, families.costs, np.inf)
        if missing:
            lengths = _edge_costs(families, costs, masks)
            for child in range(families.n):
                lengths[child, bits(at_least[child])] = np.inf
            way = cheapest_way(lengths, *missing[0])
            if way is not None:
                return [Meets(child, 1 << parent) for parent, child in pairwise(way)]
        literals = broken_clauses(self.rest, masks, self.names)[0]
        return [min(literals, key=lambda literal: _least(families, costs, literal))]


def _heaviest(families: Families, weights: Floats) -> np.ndarray:
    """Of each variable the first family of most weight."""
    return np.array([begin + int(np.argmax(weights[begin:end])) for begin, end in _spans(families)])


def _spans(families: Families) -> list[tuple[int, int]]:
    return list(zip(families.offsets[:-1].tolist(), families.offsets[1:].tolist(), strict=True))


def _climbed(families: Families, weights: Floats, allowed: Marks) -> list[int] | None:
    left = families.only(allowed)
    candidates = _core.undominated(_core.Candidates(left.n, left.offsets, left.parents, -left.costs))
    cost, masks = network_near(candidates, families, weights)
    if cost == np.inf:
        cost, masks = _core.climb_orders(candidates, FEW_CLIMBS, SEED, None, None)
    return masks if cost < np.inf else None


def _edge_costs(families: Families, costs: Floats, masks: Sequence[int]) -> Floats:
    """By parent and child: what the child's cheapest family with the edge costs more than the one it has."""
    found = np.full((families.n, families.n), np.inf)
    for child, (begin, end) in enumerate(_spans(families)):
        own = costs[begin:end]
        now = own[families.parents[begin:end] == np.uint64(masks[child])].min()
        for parent in range(families.n):
            has_it = families.parents[begin:end] >> np.uint64(parent) & np.uint64(1) == 1
            found[parent, child] = max(0.0, own[has_it].min(initial=np.inf) - now)
        found[bits(masks[child]), child] = 0.0
    return found


def _least(families: Families, costs: Floats, literal: Literal) -> float:
    """The cost of the cheapest family that has it, against the cheapest of all."""
    own = slice(families.offsets[literal.child], families.offsets[literal.child + 1])
    having = costs[own][literal.admit(families.parents[own])]
    return float(having.min(initial=np.inf) - costs[own].min())
