"""The best networks or classes by partition (Lawler, Murty) on branch and cut.

Parts of the space wait in a queue by their bounds. The part with the least is relaxed and cut. If a network of it is
known that costs no more than its bound, that is listed, and the rest of the part, without it or without its class, is
cut into parts by the first difference; each gets a bound from the linear program and waits. Else an edge splits the
part. So whatever ends the search, nothing is missing that costs less than the least bound in the queue.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np

from topdag import _core
from topdag._util.arrays import Floats, Integers, Marks
from topdag._util.bitsets import bits, has_member, is_acyclic, masks_in
from topdag._util.run import Run
from topdag._util.stop import Stop, TimeIsUp
from topdag.search.branch_and_cut import most_held
from topdag.search.checkpoints import ListState
from topdag.search.costs import network_near
from topdag.search.linear_program import LEAST_VIOLATION, Decisions, Joined, Rows, Solution
from topdag.search.open_nodes import Node, OpenParts
from topdag.search.part_relaxation import OpenSearch, Relaxed
from topdag.search.partition.few import networks_of_few
from topdag.search.partition.listed import Kind, Listed, Network
from topdag.search.relaxation import CLOSE, CLOSE_SHARE, Incumbent, Relaxation, solve_root
from topdag.search.stores import ListStore

REWARD_OF_AN_EDGE = 100.0
"""For each edge that must be there, networks that have it are taken for so much cheaper while one is looked for."""
PATIENCE = 8
"""A part is halved when so many rounds of cuts gain little; with fewer, many a part whose next round had given its best
network was halved instead, and what was halved held classes twice."""
BYTES_HELD = 2_000
"""For each part that waits besides its families, and each network found,"""
BYTES_OF_A_SET = 40
"""and for each parent set of a network and of its class, besides its bits."""
NOWHERE: Integers = np.zeros(0, dtype=np.int64)


def list_by_partition(
    store: ListStore,
    run: Run,
    listed: Listed,
    best: Incumbent,
    *,
    rows: Rows | None = None,
    first: Relaxation | None = None,
    resumed: ListState | None = None,
    on_part: Callable[[PartitionSearch], None] | None = None,
) -> PartitionSearch:
    """Until ``listed`` holds all that is asked for, from the best network on, or ``limit`` says what came first.

    ``rows``: as for ``solve_root``; ``first``: where to take the first cuts from; ``resumed``: where an earlier search
    for the same stood; ``on_part`` is called with this one after each part.
    """
    listed.offer(best.cost, best.masks)
    if resumed is None:
        root = solve_root(store, run, known=listed, rows=rows, first_cuts=first)
        search = PartitionSearch(store, run, root, listed, rows)
    else:
        for network in resumed.networks:
            listed.offer(network.cost, network.masks)
        listed.bound = resumed.bound
        search = PartitionSearch(store, run, resumed.root, listed, rows, resumed.parts)
    search.go(on_part)
    return search


@dataclass(frozen=True)
class _Difference:
    """Networks that differ so have none of the families at the places ``lacks`` and have the edge ``here``; others have
    none of those of ``has`` and have the edge ``elsewhere``. ``bound``: what they cost at least. ``apart``: with this
    edge some networks of a class would differ so and others not; those that have it are left out before."""

    bound: float
    lacks: Integers
    has: Integers
    here: tuple[Joined, ...] = ()
    elsewhere: tuple[Joined, ...] = ()
    apart: Joined | None = None


class PartitionSearch(OpenSearch):
    """``listed`` is true at any moment."""

    def __init__(
        self,
        store: ListStore,
        run: Run,
        root: Relaxation,
        listed: Listed,
        rows: Rows | None = None,
        resumed: OpenParts | None = None,
    ) -> None:
        super().__init__(store, run, root, listed, resumed, rows)
        self.listed = listed
        self.limit: Stop | None = None
        self._edges: tuple[Joined, ...] = ()  # that must be there in the part that is looked at
        self._joining_families: dict[Joined, Integers] = {}
        self._has_solution = True
        self._n_parts = max((part.number for part in self._open), default=0)
        bytes_of_network = 3 * self.families.n * (BYTES_OF_A_SET + self.families.n // 8)
        self._most_held = most_held(run, self.families.size, BYTES_HELD + bytes_of_network)

    def go(self, on_part: Callable[[PartitionSearch], None] | None = None) -> None:
        """Until nothing that is asked for is missing, or ``limit`` says what came first."""
        if self.limits.is_over:  # the root may not be cut to its end
            self.limit = self.limits.limit
            return
        if self.root.bound > self.known.cutoff or (np.diff(self.families.offsets) == 0).any():
            self.listed.bound = math.inf
            return
        self.begin(self.root)
        if not self._is_resumed:
            self._wait(self.root.bound, np.ones(self.families.size, dtype=np.bool_), ())
        try:
            while self._open and self._open[0].bound <= self.known.cutoff:
                self.listed.bound = max(self.listed.bound, self._open[0].bound)
                if len(self._open) + len(self.listed.costs) > self._most_held:
                    self.limit = Stop.MEMORY_LIMIT
                    return
                self._look_at(heapq.heappop(self._open))
                if on_part is not None:
                    on_part(self)
        except TimeIsUp:
            self.limit = self.limits.limit
            return
        self.listed.bound = math.inf

    def _wait(self, bound: float, allowed: Marks, decisions: Decisions) -> None:
        if bound <= self.known.cutoff:
            self._n_parts += 1
            part = Node(bound, self._n_parts, np.packbits(allowed).tobytes(), decisions=decisions)
            heapq.heappush(self._open, part)

    def _look_at(self, part: Node) -> None:
        allowed = part.marks(self.families.size)
        if self._is_listed_whole(allowed, part.decisions):
            return
        self._edges = _edges(part.decisions)
        relaxed = self.relaxed(allowed, part.bound, part.decisions)
        if relaxed is None or not self._has_families(relaxed.allowed):
            return
        cost, masks = self._network_in(relaxed, part.decisions)
        if masks is not None:
            self.listed.offer(cost, masks)
            if cost - relaxed.bound <= CLOSE + CLOSE_SHARE * cost:
                self._leave_out(masks, relaxed, part.decisions)
                return
        self._halve(relaxed, part.decisions)

    def _is_listed_whole(self, allowed: Marks, decisions: Decisions) -> bool:
        """Whether the families are so few that all networks of them are looked at, and listed."""
        self.known.tick(self.parts, 0)
        if self.limits.is_over:
            raise TimeIsUp
        found = networks_of_few(self.families, allowed & (self.root_bounds <= self.known.cutoff), self.known.cutoff)
        for cost, masks in found or ():
            if cost <= self.known.cutoff and _has_edges(masks, decisions):
                self.listed.offer(cost, masks)
        return found is not None

    def _halve(self, relaxed: Relaxed, decisions: Decisions) -> None:
        """By a path that is there or not, where that is open, or by an edge; the one network of a part is known."""
        rows, weights = self.rows_under(decisions), relaxed.solution.weights
        question = None if rows is None else rows.to_decide(self.families, weights)
        if question is not None:
            for answer in (True, False):
                decided = (*decisions, (*question, answer))
                rows = self.rows_under(decided)
                if rows is not None:
                    self._wait(relaxed.bound, relaxed.allowed & rows.admitted(self.families), decided)
            return
        edge = self.edge_to_split(relaxed.allowed, weights)
        if edge is None:
            return
        for half in self.halves(relaxed.allowed, edge):
            self._wait(self._bound_of(relaxed, half, edge[1]), half, decisions)

    def _has_families(self, allowed: Marks) -> bool:
        """Whether every variable has one."""
        return bool(np.logical_or.reduceat(allowed, self.families.offsets[:-1]).all())

    def _bound_of(self, relaxed: Relaxed, allowed: Marks, child: int) -> float:
        """By the families that one variable has left."""
        own = slice(*self.families.offsets[child : child + 2])
        return float(relaxed.family_bounds[own][allowed[own]].min(initial=math.inf))

    def _network_in(self, relaxed: Relaxed, decisions: Decisions) -> tuple[float, Network | None]:
        """A good network of the part that is asked for, and what it costs; None: none was found."""
        for masks in (self._climbed(relaxed, decisions), self._heaviest(relaxed)):
            if masks and _has_edges(masks, decisions) and self.listed.allows(masks):
                return float(self.families.costs[self.families.places(masks)].sum()), masks
        return math.inf, None

    def _climbed(self, relaxed: Relaxed, decisions: Decisions) -> Network:
        """From an order that fits the weights; () when no order fits."""
        own = self.families.only(relaxed.allowed)
        prices = self.families.costs.copy()
        for edge in _edges(decisions):
            prices[self._joining(edge)] -= REWARD_OF_AN_EDGE
        candidates = _core.Candidates(own.n, own.offsets, own.parents, -prices[relaxed.allowed])
        cost, masks = network_near(candidates, self.families, relaxed.solution.weights)
        return () if cost == math.inf else tuple(masks)

    def _heaviest(self, relaxed: Relaxed) -> Network:
        """Of each variable the family with most weight; () where these make a circle."""
        weights = np.where(relaxed.allowed, relaxed.solution.weights, -1.0)
        places = [a + int(np.argmax(weights[a:b])) for a, b in pairwise(self.families.offsets.tolist())]
        masks = tuple(masks_in(self.families.parents[places]))
        return masks if is_acyclic(masks) else ()

    def _leave_out(self, masks: Network, relaxed: Relaxed, decisions: Decisions) -> None:
        """Parts by the first difference; those that cost most first, so that little is left of the others. What costs
        too much is settled for all of them, and for all parts of them."""
        left = relaxed.allowed
        found = self._differences(masks, relaxed, decisions)
        probed = [(self._probed(_without(left, own.lacks), own.bound, decisions, own.here), own) for own in found]
        for bound, own in _in_order(probed):
            self._wait(bound, _without(left, own.lacks), (*decisions, *own.here))
            left = _without(left, own.has)
            decisions = (*decisions, *own.elsewhere)

    def _probed(self, allowed: Marks, bound: float, decisions: Decisions, edges: tuple[Joined, ...]) -> float:
        """What networks of these families with these edges cost at least, by one more solution."""
        if not self.families.core.propagate(allowed.view(np.uint8)):
            return math.inf
        self.program.decide((*decisions, *edges))
        self.cuts += sum(map(self.program.add_decided, edges))
        return self._bounds(allowed, self._solve(allowed), bound)[0]

    def _differences(self, masks: Network, relaxed: Relaxed, decisions: Decisions) -> list[_Difference]:
        """A network is told by its families; a class by which variables are joined, and by which parents of the same
        variable are not [Verma & Pearl 1990]. What costs too much by itself, or is decided, is left out."""
        bounds = np.where(relaxed.allowed, relaxed.family_bounds, np.inf)
        if self.listed.kind is Kind.NETWORKS:
            return list(self._other_families(bounds, self.families.places(masks)))
        joined = _joined(masks)
        return [
            *self._edges_less(bounds, joined, _edges(decisions)),
            *self._edges_more(bounds, joined),
            *self._other_parents(bounds, joined, masks),
        ]

    def _other_families(self, bounds: Floats, chosen: Marks) -> Iterator[_Difference]:
        least = np.minimum.reduceat(np.where(chosen, np.inf, bounds), self.families.offsets[:-1])
        for v in np.flatnonzero(least <= self.known.cutoff).tolist():
            begin, end = self.families.offsets[v : v + 2]
            is_chosen = chosen[begin:end]
            yield _Difference(float(least[v]), begin + np.flatnonzero(is_chosen), begin + np.flatnonzero(~is_chosen))

    def _edges_less(self, bounds: Floats, joined: Network, decided: tuple[Joined, ...]) -> Iterator[_Difference]:
        """Neither variable has the other as a parent."""
        pairs = [(a, b) for a, its in enumerate(joined) for b in bits(its) if a < b and (a, b) not in decided]
        if not pairs:
            return
        ways = np.array([pairs, [(b, a) for a, b in pairs]])
        places, known = self.edges.places(ways[..., 0] * self.families.n + ways[..., 1])
        cheapest = np.minimum.reduceat(bounds, self.families.offsets[:-1])[ways[..., 0]]
        without = np.where(known, self.edges.cheapest_without(bounds)[places], cheapest)
        for edge, least in zip(pairs, without.max(axis=0).tolist(), strict=True):
            if least <= self.known.cutoff:
                yield _Difference(least, self._joining(Joined(*edge)), NOWHERE, elsewhere=(Joined(*edge),))

    def _edges_more(self, bounds: Floats, joined: Network) -> Iterator[_Difference]:
        """Either way in one part, so that classes stay whole."""
        with_edge = self.edges.cheapest_with(bounds)
        least: dict[Joined, float] = {}
        for place in np.flatnonzero(with_edge <= self.known.cutoff).tolist():
            child, parent = int(self.edges.children[place]), int(self.edges.parents[place])
            if not joined[child] >> parent & 1:
                edge = Joined(min(child, parent), max(child, parent))
                least[edge] = min(float(with_edge[place]), least.get(edge, math.inf))
        for edge in sorted(least):
            yield _Difference(least[edge], NOWHERE, self._joining(edge), here=(edge,))

    def _other_parents(self, bounds: Floats, joined: Network, masks: Network) -> Iterator[_Difference]:
        """Of two neighbours that are not joined, both are parents where they are not, or the other way round."""
        open_families = np.split(*self._open_families(bounds))
        for c, own in enumerate(open_families):
            if len(own) < 2 or joined[c].bit_count() < 2:
                continue
            sets = self.families.parents[own]
            has = {a: has_member(sets, a) for a in bits(joined[c])}
            for a, b in combinations(has, 2):
                if joined[a] >> b & 1:
                    continue
                are_parents = bool(masks[c] >> a & masks[c] >> b & 1)
                others = (has[a] & has[b]) != are_parents
                if others.any():
                    bound = float(bounds[own[others]].min())
                    yield _Difference(bound, own[~others], own[others], apart=Joined(a, b))

    def _open_families(self, bounds: Floats) -> tuple[Integers, Integers]:
        """Where the families stand that cost no more than is asked for, and where among them each variable's begin."""
        places = np.flatnonzero(bounds <= self.known.cutoff)
        return places, np.searchsorted(places, self.families.offsets[1:-1])

    def _joining(self, edge: Joined) -> Integers:
        """Where the families stand that have it."""
        if edge not in self._joining_families:
            self._joining_families[edge] = edge.places(self.families)
        return self._joining_families[edge]

    def _still_gains(self, bounds: list[float], patience: int) -> bool:
        return super()._still_gains(bounds, max(patience, PATIENCE) if self._has_solution else patience)

    def _cut(self, solution: Solution, own: Rows | None, *, is_narrower: bool) -> bool:
        self._has_solution = bool(solution.weights.sum() > self.families.n - LEAST_VIOLATION)  # without stopgaps
        missing = [edge for edge in self._edges if solution.weights[self._joining(edge)].sum() < 1.0 - LEAST_VIOLATION]
        n_added = sum(map(self.program.add_decided, missing))
        self.cuts += n_added
        return super()._cut(solution, own, is_narrower=is_narrower) or n_added > 0


def _in_order(probed: list[tuple[float, _Difference]]) -> list[tuple[float, _Difference]]:
    """Those that cost most first, but each edge before what it is to be apart from."""
    least: dict[Joined, float] = {}
    for bound, own in probed:
        if own.apart is not None:
            least[own.apart] = max(bound, least.get(own.apart, -math.inf))
    last = [max([bound, *(least.get(edge, bound) for edge in own.here)]) for bound, own in probed]
    order = sorted(range(len(probed)), key=lambda place: (-last[place], not probed[place][1].here))
    return [probed[place] for place in order]


def _without(allowed: Marks, places: Integers) -> Marks:
    left = allowed.copy()
    left[places] = False
    return left


def _joined(masks: Network) -> Network:
    """Of each variable those that an edge joins it with."""
    found = list(masks)
    for child, its in enumerate(masks):
        for parent in bits(its):
            found[parent] |= 1 << child
    return tuple(found)


def _edges(decisions: Decisions) -> tuple[Joined, ...]:
    return tuple(decision for decision in decisions if isinstance(decision, Joined))


def _has_edges(masks: Network, decisions: Decisions) -> bool:
    return all(masks[a] >> b & 1 or masks[b] >> a & 1 for a, b in _edges(decisions))
