"""Networks that satisfy the constraints, made from ones that do not: what is broken is repaired by families that must,
or must not, have some parents, and the best network of the others is looked for again.

Each repaired thing is then given up in turn and repaired anew, now that the others hold: that often costs less.
``SatisfyingKnown`` repairs the networks that a search rounds its weights to.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from topdag import _core
from topdag._util.arrays import Floats, Masks
from topdag._util.bitsets import bits, equals, is_empty, masks_in, members_of, sizes_of
from topdag._util.run import Run
from topdag.constrained.literals import broken_clauses
from topdag.constrained.path_cuts import Support, shortest_walks
from topdag.knowledge.compiled import CompiledConstraints, has_cycle
from topdag.knowledge.facts import transitive
from topdag.knowledge.normal_form import Literal, ParentAmong
from topdag.search.costs import SEED, Families, network_near
from topdag.search.relaxation import Incumbent, Known
from topdag.search.stores import ListStore

MOST_REPAIRED = 40
"""Of one network; each leaves fewer families."""
REPAIR_CLIMBS = 30
MOST_SKIPPED = 64
"""While repairs fail, so many weights at most are passed over between two."""
LEAST_COST_OF_AN_EDGE = 1e-6  # no edge is free of cost for its weight

Repairs = dict[Hashable, tuple[Literal, ...]]
"""What each thing that was broken asks of families."""


@dataclass(frozen=True)
class Repaired:
    cost: float
    masks: tuple[int, ...]
    wanted: Repairs


class Repair:
    """For listed families; ``weights`` of families say which networks to look near."""

    def __init__(self, families: Families, known: CompiledConstraints) -> None:
        self.families, self.known = families, known
        self._own = [slice(*span) for span in families.spans]
        self._left: dict[tuple[int, frozenset[Literal]], tuple[Masks, Floats]] = {}

    def repaired(self, weights: Floats, less_than: float) -> Repaired | None:
        """An allowed network that costs less; None when none is found."""
        best = self._repaired_with({}, weights, less_than)
        if best is None:
            return None
        for thing in list(best.wanted):
            others = {other: literals for other, literals in best.wanted.items() if other != thing}
            again = self._repaired_with(others, weights, best.cost)
            best = best if again is None else again
        return best

    def _repaired_with(self, wanted: Repairs, weights: Floats, less_than: float) -> Repaired | None:
        wanted = dict(wanted)
        for _ in range(MOST_REPAIRED):
            found = self._climbed(wanted, weights)
            if found is None or found[0] >= less_than:
                return None
            if self.known.rest.allows(found[1]):
                return Repaired(*found, wanted)
            more = self._next(wanted, found[1], weights)
            if more is None:
                return None
            wanted |= more
        return None

    def _climbed(self, wanted: Repairs, weights: Floats) -> tuple[float, tuple[int, ...]] | None:
        """The best network found that has all that is wanted."""
        lists = [self._undominated(v, self._of(wanted, v)) for v in range(self.families.n)]
        if any(not len(masks) for masks, _ in lists):
            return None
        offsets = np.cumsum([0, *(len(masks) for masks, _ in lists)])
        masks, costs = (np.concatenate(part) for part in zip(*lists, strict=True))
        candidates = _core.Candidates(self.families.n, offsets, masks, -costs)
        found = [
            network_near(candidates, self.families, weights),
            _core.climb_orders(candidates, REPAIR_CLIMBS, SEED, _core.Limits()),
        ]
        cost, parents = min(found, key=lambda network: network[0])
        return (self._cost(parents), tuple(parents)) if cost < np.inf else None

    def _cost(self, masks: Sequence[int]) -> float:
        return float(self.families.costs[self.families.places(masks)].sum())

    def _of(self, wanted: Repairs, v: int) -> frozenset[Literal]:
        return frozenset(literal for literals in wanted.values() for literal in literals if literal.child == v)

    def _admitted(self, v: int, literals: frozenset[Literal]) -> tuple[Masks, Floats]:
        masks, costs = self.families.parents[self._own[v]], self.families.costs[self._own[v]]
        stays = np.ones(len(masks), dtype=np.bool_)
        for literal in literals:
            stays &= literal.admit(masks)
        return masks[stays], costs[stays]

    def _undominated(self, v: int, literals: frozenset[Literal]) -> tuple[Masks, Floats]:
        """Without families that cost as much as a smaller one that is wanted too."""
        if (v, literals) not in self._left:
            masks, costs = self._admitted(v, literals)
            order = np.lexsort((sizes_of(masks), costs))
            kept: list[int] = []
            taken = np.empty_like(masks)
            for at in order.tolist():
                if not is_empty(taken[: len(kept)] & ~masks[at]).any():
                    taken[len(kept)] = masks[at]
                    kept.append(at)
            self._left[v, literals] = masks[kept], costs[kept]
        return self._left[v, literals]

    # ---- What to do about something broken

    def _next(self, wanted: Repairs, masks: Sequence[int], weights: Floats) -> Repairs | None:
        """The cheapest way to have a path that is missing, as edges that must be; or of something else that is broken
        the cheapest way out."""
        ancestors, rest = transitive(masks), self.known.rest
        missing = [(a, b) for a, b in rest.paths if not ancestors[b] >> a & 1]
        if missing:
            lengths, above = self._lengths(wanted, masks, weights), self._above(wanted)
            ways = [way for pair in missing if (way := self._way(pair, lengths, above)) is not None]
            if not ways:
                return None
            _, pair, walk = min(ways)
            return {pair: tuple(ParentAmong(child, 1 << parent) for parent, child in pairwise(walk))}
        literals = broken_clauses(rest, masks)[0]
        extra = [(self._least(wanted, literal), i) for i, literal in enumerate(literals)]
        cost, i = min(extra)
        return None if cost == np.inf else {("clause", len(wanted)): (literals[i],)}

    def _way(
        self, pair: tuple[int, int], lengths: Floats, above: Sequence[int]
    ) -> tuple[float, tuple[int, int], list[int]] | None:
        """Against nothing that must come before."""
        begin, end = pair
        lengths = lengths.copy()
        for v in range(self.families.n):
            lengths[v, bits(above[v])] = np.inf
            if above[begin] >> v & 1 or above[v] >> end & 1:
                lengths[v, :] = lengths[:, v] = np.inf
        walks = shortest_walks(lengths)
        walk = walks.between(begin, end, np.inf)
        return None if walk is None else (float(walks.lengths[begin, end]), pair, walk)

    def _lengths(self, wanted: Repairs, masks: Sequence[int], weights: Floats) -> Floats:
        """What edges cost, less where they have weight."""
        present = Support.of(self.families, weights).edges
        return (self._edge_costs(wanted, masks) + 1.0) * np.clip(1.0 - present, LEAST_COST_OF_AN_EDGE, 1.0)

    def _above(self, wanted: Repairs) -> list[int]:
        above = list(self.known.before)
        for literals in wanted.values():
            for literal in literals:
                if isinstance(literal, ParentAmong) and not literal.negated and literal.variables.bit_count() == 1:
                    above[literal.child] |= literal.variables
        return transitive(above)

    def _edge_costs(self, wanted: Repairs, masks: Sequence[int]) -> Floats:
        """By parent and child: what the child's cheapest family with the edge costs more than the one it has."""
        n = self.families.n
        found = np.full((n, n), np.inf)
        for child in range(n):
            own, costs = self._admitted(child, self._of(wanted, child))
            now = costs[equals(own, masks[child])].min(initial=np.inf)
            least = np.where(members_of(own, n), costs[:, np.newaxis], np.inf).min(axis=0, initial=np.inf)
            found[:, child] = np.maximum(0.0, least - now)
            found[bits(masks[child]), child] = 0.0
        return found

    def _least(self, wanted: Repairs, literal: Literal) -> float:
        """What having it costs at least, against the cheapest of what is wanted so far."""
        own = self._of(wanted, literal.child)
        costs = self._admitted(literal.child, own | {literal})[1]
        return float(costs.min(initial=np.inf) - self._admitted(literal.child, own)[1].min(initial=np.inf))


class SatisfyingKnown(Known):
    """As ``Known``, of networks that satisfy the constraints; none costs more than ``most``."""

    def __init__(self, store: ListStore, run: Run, known: CompiledConstraints) -> None:
        super().__init__(store, run)
        self.known, self.rest = known, known.rest
        self._repair: Repair | None = None
        self.most = store.largest_shortfall
        self._wait, self._skipped = 0, 0

    def offer(self, cost: float, masks: list[int]) -> bool:
        is_better = cost < self.cost or (self.incumbent is None and cost == self.most)
        if not is_better or not self.rest.allows(masks):
            return False
        self.incumbent = Incumbent(tuple(masks), cost)
        return True

    def _climb(self, climbs: int) -> None:
        """The root repairs what it rounds; what blind climbs find is hardly ever allowed."""

    def round(self, families: Families, weights: Floats) -> bool:
        """The network of the weights if they are one; else one near them, repaired (seldom, while that fails)."""
        chosen = _heaviest(families, weights)
        masks = masks_in(families.parents[chosen])
        is_better = not has_cycle(masks) and self.offer(float(families.costs[chosen].sum()), masks)
        self._skipped += 1
        if self._skipped <= self._wait:
            return is_better
        is_repaired = self._repaired_with(families, weights)
        self._skipped = 0
        self._wait = 0 if is_repaired else min(MOST_SKIPPED, 2 * self._wait + 1)
        return is_better or is_repaired

    def _repaired_with(self, families: Families, weights: Floats) -> bool:
        if self._repair is None or self._repair.families is not families:
            self._repair = Repair(families, self.known)
        found = self._repair.repaired(weights, self.cost)
        return found is not None and self.offer(found.cost, list(found.masks))


def _heaviest(families: Families, weights: Floats) -> np.ndarray:
    """Of each variable the first family of most weight."""
    return np.array([begin + int(np.argmax(weights[begin:end])) for begin, end in families.spans])
