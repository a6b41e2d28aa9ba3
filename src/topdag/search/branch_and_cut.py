"""Branch and cut on listed families: the best network with a proof, or a bound at any moment.

A part of the search is a set of allowed families. Its relaxation is cut until no cluster is violated; families that no
better network of the part can have go. Where weights stay fractional the part is split in two by an edge: one half has
it, the other does not. The part with the least bound comes next, so that bound holds for all networks.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from topdag._util.arrays import Floats, Integers, Marks, Masks
from topdag._util.bitsets import has_member, masks_in
from topdag._util.run import Run, available_memory
from topdag._util.stop import TimeIsUp
from topdag.search.costs import Families
from topdag.search.edges import Edges
from topdag.search.engines import Outcome
from topdag.search.linear_program import LEAST_VIOLATION, Decisions, Joined, Program, Rows, Solution
from topdag.search.open_nodes import Node, OpenParts
from topdag.search.relaxation import (
    CUTS_A_ROUND,
    MOST_K,
    Incumbent,
    Known,
    Relaxation,
    known_from,
    solve_root,
)
from topdag.search.stores import ListStore

LEAST_GAIN = 0.01  # a part is split when a round gains less than this share of its gap,
FIRST_PATIENCE = 20  # the first when so many rounds do
STEPS_AT_A_NODE = 2_000
LEAST_DIFFERENCE = 1e-3
SLACK_SOLVES = 10  # a cut that has been slack for so many solutions is dropped
NEARLY_WHOLE = 0.999
PART_BYTES = 400  # an open part besides its marks
FIRST_COLUMNS = 1_000  # which the program begins with


def prove_best(
    store: ListStore,
    run: Run,
    *,
    incumbent: Incumbent | None = None,
    root: Relaxation | None = None,
    known: Known | None = None,
    resumed: OpenParts | None = None,
    on_split: Callable[[Callable[[], OpenParts]], None] | None = None,
    rows: Rows | None = None,
    dives: bool = False,
) -> Outcome:
    """The best network with a proof, or as much as the limits of ``run`` allow; ``known`` is kept up to date.

    When finished, the bound equals the cost, or nearly where costs lie too close together to tell them apart (see
    ``Known.cutoff``). Its work: ``parts`` whose relaxation was solved, none when the root is the proof, ``rounds`` and
    ``cuts``, those of the root among them.

    ``resumed``: where an earlier search with this root stood; ``on_split`` is called again and again with a function
    that says where this one stands. ``rows``: as for ``solve_root``; ``known`` then takes only networks that satisfy
    them. ``dives``: the newest part comes next, which meets good networks sooner and proves later.
    """
    known = known_from(store, run, known, incumbent)
    root = solve_root(store, run, known=known, rows=rows) if root is None else root
    known = known_from(store, run, known, root.incumbent)
    known.raise_bound(root.bound)
    if known.incumbent is None and known.most == math.inf:
        work = {"parts": 0, "rounds": root.rounds, "cuts": root.cuts}
        is_infeasible = known.bound == math.inf
        return Outcome(is_infeasible, None, math.inf, known.bound, None if is_infeasible else run.limit, work)
    search = PartSearch(store, run, root, known, resumed, rows)
    search.dives = dives
    finished = search.run(on_split)
    if finished:
        known.raise_bound((math.floor(known.cutoff / known.step) + 1) * known.step)
    best = known.incumbent
    masks, cost = (None, math.inf) if best is None else (best.masks, best.cost)
    work = {"parts": search.parts, "rounds": search.rounds, "cuts": search.cuts}
    return Outcome(finished, masks, cost, known.bound, None if finished else run.limit, work)


@dataclass(frozen=True)
class Relaxed:
    """A part once its relaxation is cut: no network of its ``allowed`` families costs less than ``bound``, and none
    with a family less than the bound of that."""

    allowed: Marks
    bound: float
    family_bounds: Floats
    solution: Solution


class PartSearch:
    """The parts still open, and the one linear program they share."""

    def __init__(
        self,
        store: ListStore,
        run: Run,
        root: Relaxation,
        known: Known,
        resumed: OpenParts | None = None,
        rows: Rows | None = None,
    ) -> None:
        self.rows = rows
        everything = Families.of_store(store)
        may_improve = root.kept_families(known.cutoff) if resumed is None else resumed.kept
        self._may_improve = may_improve
        self.limits = run
        self.known = known
        self.families = everything.only(may_improve)
        self.root_bounds = root.family_bounds[may_improve]
        self.root = root
        self.parts, self.cuts, self.rounds = 0, root.cuts, root.rounds
        self._open: list[Node] = []  # a heap
        if resumed is not None:
            self._open, self.parts = list(resumed.parts), resumed.n_parts
            heapq.heapify(self._open)
        self._is_resumed = resumed is not None
        self._newest: list[Node] = []  # a stack, used when the heap is full
        self.dives = False
        self._most_open = most_held(run, self.families.size)
        self.edges = Edges(self.families)
        self._no_cuts = self.families.cuts()

    def run(self, on_split: Callable[[Callable[[], OpenParts]], None] | None = None) -> bool:
        """Whether the best network is proved."""
        if self.root.bound > self.known.cutoff or (np.diff(self.families.offsets) == 0).any():
            return True
        self._begin()
        try:
            if not self._is_resumed:
                self._open_part(np.ones(self.families.size, dtype=np.bool_), self.root.bound)
            while self._open or self._newest:
                n_newest = len(self._newest) - 1
                self._split(self._next_part())
                self._newest[max(0, n_newest) :] = sorted(
                    self._newest[max(0, n_newest) :], key=lambda part: -part.bound
                )
                if on_split is not None:
                    on_split(self.standing)
        except TimeIsUp:
            return False
        return True

    def standing(self) -> OpenParts:
        return OpenParts(self._may_improve, (*self._open, *self._newest), self.parts)

    def _begin(self) -> None:
        self.program = Program(self.families, 4.0 * self.known.cost + 1.0)
        self.program.add_cuts(self.root.clusters, self.root.rows)
        promising = np.argsort(self.root_bounds, kind="stable")[:FIRST_COLUMNS]
        self.program.admit(np.isin(np.arange(self.families.size), promising))

    def _next_part(self) -> Node:
        """The part with the least bound; when memory is short the newest, so that few are open."""
        self.known.raise_bound(min(part.bound for part in [*self._open[:1], *self._newest]))
        return self._newest.pop() if self._newest else heapq.heappop(self._open)

    def _keep(self, part: Node) -> None:
        if len(self._open) < self._most_open and not self.dives:
            heapq.heappush(self._open, part)
        else:
            self._newest.append(part)

    def _split(self, part: Node) -> None:
        if part.bound > self.known.cutoff:
            return
        allowed = np.unpackbits(np.frombuffer(part.allowed, dtype=np.uint8), count=self.families.size).view(np.bool_)
        if part.question is not None:
            self._decide(part, allowed, part.question)
            return
        assert part.edge is not None
        for half in self.halves(allowed, part.edge):
            self._open_part(half, part.bound, part.decisions)

    def _decide(self, part: Node, allowed: Marks, question: tuple[int, int]) -> None:
        for answer in (True, False):
            decisions = (*part.decisions, (*question, answer))
            rows = self.rows_under(decisions)
            if rows is not None:
                self._open_part(allowed & rows.admitted(self.families), part.bound, decisions)

    def _open_part(self, allowed: Marks, bound: float, decisions: Decisions = ()) -> None:
        """Cuts the part's relaxation; keeps it unless it holds no better network."""
        relaxed = self.relaxed(allowed, bound, decisions)
        if relaxed is None or self.is_settled(relaxed.allowed, relaxed.solution):
            return
        allowed, weights = relaxed.allowed, relaxed.solution.weights
        edge = self.edge_to_split(allowed, weights)
        if edge is None:
            self._offer(allowed)
            return
        rows = self.rows_under(decisions)
        question = None if rows is None else rows.to_decide(self.families, weights)
        if self.parts == 1 and rows is None:
            self._dive(allowed.copy())
        self._keep(Node(relaxed.bound, self.parts, np.packbits(allowed).tobytes(), edge, decisions, question))

    def relaxed(self, allowed: Marks, bound: float, decisions: Decisions = ()) -> Relaxed | None:
        """The part's relaxation with cuts, as long as they pay; None when it holds no better network. ``bound``: what
        is known of it already."""
        self.program.decide(decisions)
        rows = self.rows_under(decisions)
        self.parts += 1
        patience = FIRST_PATIENCE if self.parts == 1 else 1
        bounds = [bound]
        while True:
            self.known.tick(self.parts, 0)
            allowed = allowed & (self.root_bounds <= self.known.cutoff)
            if not self.families.core.propagate(allowed.view(np.uint8)):
                return None
            solution = self._solve(allowed)
            bound, family_bounds = self._bounds(allowed, solution, bound)
            self.known.round(self.families, solution.weights)
            if self.parts == 1:  # it is all there is; a clock that runs out in it must not lose what its cuts gained
                self.known.raise_bound(min(bound, self.known.cutoff))
            if bound > self.known.cutoff:
                return None
            is_priced = self.program.price(family_bounds) == 0
            allowed = allowed & (family_bounds <= self.known.cutoff)
            if is_priced:
                bounds.append(bound)
            is_cut = self._cut(solution, rows, is_narrower=bool(decisions))
            if is_priced and not (is_cut and self._still_gains(bounds, patience)):
                return Relaxed(allowed, bound, family_bounds, solution)

    def rows_under(self, decisions: Decisions) -> Rows | None:
        """What holds where all this is decided, beside the clusters."""
        ancestors = tuple(decision for decision in decisions if not isinstance(decision, Joined))
        return None if self.rows is None else self.rows.under(ancestors)

    def _offer(self, allowed: Marks) -> None:
        """One family for each variable: a network, unless they make a cycle that no cut has ruled out yet."""
        if self.families.core.propagate(allowed.view(np.uint8)):
            self.known.offer(float(self.families.costs[allowed].sum()), masks_in(self.families.parents[allowed]))

    def _dive(self, allowed: Marks) -> None:
        """Fixes families by their weights until a network stands or none can be better; a good network on the way, of
        100 variables 1.7 nats better than what climbing found, makes every part smaller."""
        while self.families.core.propagate(allowed.view(np.uint8)):
            if allowed.sum() == self.families.n:
                self._offer(allowed)
                return
            solution = self._solve(allowed)
            bound, family_bounds = self._bounds(allowed, solution, 0.0)
            self.known.round(self.families, solution.weights)
            self.known.tick(self.parts, 0)
            if bound > self.known.cutoff:
                return
            if self.program.price(family_bounds):
                continue
            self.program.drop_slack_cuts(SLACK_SOLVES)
            self.cuts += self.program.add_clusters(*self._broken_clusters(solution))
            allowed = self._with_fixed(allowed & (family_bounds <= self.known.cutoff), solution.weights)

    def _with_fixed(self, allowed: Marks, weights: Floats) -> Marks:
        """Leaves variables their heaviest family only: those of which it is nearly whole, and the nearest to that."""
        offsets, owners = self.families.offsets, self.families.owners
        heights = np.where(allowed, weights, -1.0)
        top = np.maximum.reduceat(heights, offsets[:-1])
        is_open = np.add.reduceat(allowed.astype(np.int64), offsets[:-1]) > 1
        is_fixed = is_open & (top > NEARLY_WHOLE)
        if (is_open & ~is_fixed).any():
            is_fixed[np.argmax(np.where(is_open & ~is_fixed, top, -1.0))] = True
        heaviest = np.zeros(self.families.size, dtype=np.bool_)
        for v in np.flatnonzero(is_fixed).tolist():
            heaviest[offsets[v] + np.argmax(heights[offsets[v] : offsets[v + 1]])] = True
        kept: Marks = allowed & (heaviest | ~is_fixed[owners])
        return kept

    def is_settled(self, allowed: Marks, solution: Solution) -> bool:
        """Whether all that is asked for of these families is known, so that they need not be split."""
        return False

    def _still_gains(self, bounds: list[float], patience: int) -> bool:
        """Whether the last rounds closed enough of the gap."""
        if len(bounds) <= patience:
            return True
        return bounds[-1] - bounds[-1 - patience] >= LEAST_GAIN * (self.known.cost - bounds[-1])

    def _solve(self, allowed: Marks) -> Solution:
        self.program.allow(allowed)
        solution = self.program.solve(self.limits)
        if solution is None or self.limits.is_over:
            raise TimeIsUp
        self.rounds += 1
        return solution

    def _bounds(self, allowed: Marks, solution: Solution, inherited: float) -> tuple[float, Floats]:
        """With the multipliers and with none, which is right to the last bit when few families are left."""
        bound, family_bounds = self.families.bound(allowed, self.program.cuts, solution.multipliers)
        plain, plain_bounds = self.families.bound(allowed, self._no_cuts, np.zeros(0))
        return max(bound, plain, inherited), np.maximum(family_bounds, plain_bounds)

    def _cut(self, solution: Solution, own: Rows | None, *, is_narrower: bool) -> bool:
        """Adds violated clusters; when there are none, and always for the first part, halves of sums of them (of
        100 variables two nats of ten in five seconds, where forty parts gained less) and local cuts (of
        70 variables with 500 rows one part, not a thousand); with rows, local cuts pay in the first part only. ``own``:
        the rows that hold in this part, of all parts only unless it ``is_narrower``."""
        members, ks = self._broken_clusters(solution)
        rows = [] if own is None else own.broken(self.families, solution.weights, masks_in(members))
        self.program.drop_slack_cuts(SLACK_SOLVES)
        added = self.program.add_rows(rows, only_here=is_narrower) if rows else 0
        added += self.program.add_clusters(members, ks)
        if not rows and (self.parts == 1 or not len(ks)):
            added += self.program.add_halves(solution.weights)
        if self.parts == 1 or (own is None and not len(ks)):
            added += self.program.add_local(solution.weights)
        self.cuts += added
        return added > 0

    def _broken_clusters(self, solution: Solution) -> tuple[Masks, Integers]:
        """Members and k of clusters that the weights violate."""
        return self.families.core.separate(solution.weights, MOST_K, CUTS_A_ROUND, LEAST_VIOLATION, STEPS_AT_A_NODE)

    def edge_to_split(self, allowed: Marks, weights: Floats) -> tuple[int, int] | None:
        """The edge that is undecided and matters most; None when each variable has one family.

        What matters is how far apart the cheapest families with and without the edge are; against the edge with
        a weight nearest a half, it took a seventieth of the parts on hailfinder500 (bench/RESULTS.md).
        """
        costs, edges = np.where(allowed, self.families.costs, np.inf), self.edges
        with_edge, without = edges.cheapest_with(costs), edges.cheapest_without(costs)
        is_open = np.isfinite(with_edge) & np.isfinite(without)
        if not is_open.any():
            return None
        difference = np.abs(np.subtract(with_edge, without, where=is_open, out=np.zeros_like(with_edge)))
        weight = edges.weights(weights)
        merit = np.where(is_open, np.minimum(weight, 1.0 - weight) * (difference + LEAST_DIFFERENCE), -np.inf)
        best = int(np.argmax(merit))
        return int(edges.parents[best]), int(edges.children[best])

    def halves(self, allowed: Marks, edge: tuple[int, int]) -> tuple[Marks, Marks]:
        """The families of networks that have the edge, and of those that do not."""
        parent, child = edge
        own = slice(*self.families.offsets[child : child + 2])
        has_edge = has_member(self.families.parents[own], parent)
        there, absent = allowed.copy(), allowed.copy()
        there[own] &= has_edge
        absent[own] &= ~has_edge
        return there, absent


def most_held(run: Run, n_families: int, besides: int = PART_BYTES) -> int:
    """Parts with a mark for each family, and so many bytes each besides."""
    allowance = available_memory() // 2 if run.memory_limit is None else run.memory_limit
    return max(1_000, allowance // (besides + n_families // 8))
