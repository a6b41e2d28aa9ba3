"""Relaxing parts of a search.

A part is a set of allowed families. Its relaxation is cut until that no longer pays; families that no better network of
the part can have go. What is left says by which edge the part is split best. What becomes of a half depends on nothing
but the half and the best network known, so that anybody can relax it.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from topdag._util.arrays import Floats, Integers, Marks, Masks
from topdag._util.bitsets import has_member, masks_in
from topdag._util.run import Run
from topdag._util.stop import TimeIsUp
from topdag.search.costs import Families
from topdag.search.edges import Edges
from topdag.search.linear_program import LEAST_VIOLATION, Decisions, Joined, Program, Rows, Solution, Standing
from topdag.search.open_nodes import Node, OpenParts
from topdag.search.relaxation import CUTS_A_ROUND, MOST_K, Incumbent, Known, Relaxation
from topdag.search.stores import ListStore

FIRST_COLUMNS = 1_000  # which the program begins with
LEAST_GAIN = 0.01  # a part is split when a round gains less than this share of its gap,
FIRST_PATIENCE = 20  # the first when so many rounds do
EDGES_TRIED, ITERATIONS_TRIED = 8, 50  # before a part is split
LEAST_TRIED_GAIN = 1e-3
TIE = 1e-9
STEPS_AT_A_NODE = 2_000
LEAST_DIFFERENCE = 1e-3
SLACK_SOLVES = 10  # a cut that has been slack for so many solutions is dropped


Edge: TypeAlias = tuple[int, int]
"""From a parent to a child."""


@dataclass(frozen=True)
class Relaxed:
    """A part once its relaxation is cut: no network of its ``allowed`` families costs less than ``bound``, and none
    with a family less than the bound of that."""

    allowed: Marks
    bound: float
    family_bounds: Floats
    solution: Solution


@dataclass(frozen=True)
class Half:
    """A part that is to be relaxed: what is known of it, and where the program of the part stood that it is a half
    of."""

    allowed: Marks
    bound: float
    decisions: Decisions = ()
    standing: Standing | None = None


@dataclass(frozen=True)
class HalfTask:
    """A half to be relaxed anywhere, with the best network known when that was decided."""

    half: Half
    number: int
    incumbent: Incumbent | None


@dataclass(frozen=True)
class Opened:
    """What became of it, and the best network known then."""

    node: Node | None
    incumbent: Incumbent | None
    rounds: int
    cuts: int


@dataclass(frozen=True)
class Whole:
    """What all parts share, made ready once: the families that may be in a better network than is known, what networks
    with each cost at least by the root, and what is known of the whole, of which a part uses what never changes."""

    store: ListStore
    kept: Marks
    root_bounds: Floats
    known: Known
    families: Families
    edges: Edges

    @classmethod
    def of(cls, store: ListStore, kept: Marks, root_bounds: Floats, known: Known) -> Whole:
        families = Families.of_store(store).only(kept)
        return cls(store, kept, root_bounds, known, families, Edges(families))

    def __reduce__(self) -> Any:
        return _whole_again, (self.store, self.kept, self.root_bounds)


def _whole_again(store: ListStore, kept: Marks, root_bounds: Floats) -> Whole:
    """In another process."""
    return Whole.of(store, kept, root_bounds, Known(store, Run()))


def open_half(whole: Whole, task: HalfTask, run: Run) -> Opened | None:
    """In whatever thread or process; None when the time is up."""
    part = PartRelaxation(whole, run, whole.known.within(run, task.incumbent))
    try:
        node = part.opened(task.half, task.number)
    except TimeIsUp:
        return None
    return Opened(node, part.known.incumbent, part.rounds, part.cuts)


class PartRelaxation:
    """One part after another, and a linear program over its families."""

    program: Program

    def __init__(self, whole: Whole, run: Run, known: Known, rows: Rows | None = None) -> None:
        self.families, self.root_bounds, self.edges = whole.families, whole.root_bounds, whole.edges
        self.limits, self.known, self.rows = run, known, rows
        self.parts, self.cuts, self.rounds = 0, 0, 0
        self._no_cuts = self.families.cuts()

    def begin(self, root: Relaxation) -> None:
        """With the cuts of the root."""
        self.program = Program(self.families, self.known.cost)
        self.program.add_cuts(root.clusters, root.rows)
        promising = np.argsort(self.root_bounds, kind="stable")[:FIRST_COLUMNS]
        self.program.admit(np.isin(np.arange(self.families.size), promising))

    def opened(self, half: Half, number: int) -> Node | None:
        """The part with what splits it; None when it holds no better network than is known now."""
        if half.standing is not None:
            self.program = Program.at(half.standing, half.allowed, self.families, self.known.cost)
        self.parts = number - 1
        relaxed = self.relaxed(half.allowed, half.bound, half.decisions)
        if relaxed is None:
            return None
        allowed, weights = relaxed.allowed, relaxed.solution.weights
        edges = self._edges_that_matter(allowed, weights)
        if not len(edges):
            self._offer(allowed)
            return None
        rows = self.rows_under(half.decisions)
        question = None if rows is None else rows.to_decide(self.families, weights)
        marks, standing = np.packbits(allowed).tobytes(), self.program.standing()
        edge = self._best_of(edges[:EDGES_TRIED], relaxed)
        return Node(relaxed.bound, number, marks, edge, half.decisions, question, standing)

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
        return self.families.core.separate(
            solution.weights, MOST_K, CUTS_A_ROUND, LEAST_VIOLATION, STEPS_AT_A_NODE, self.limits.threads
        )

    def edge_to_split(self, allowed: Marks, weights: Floats) -> Edge | None:
        """The edge that is undecided and seems to matter most; None when each variable has one family."""
        edges = self._edges_that_matter(allowed, weights)
        return self._edge(edges[0]) if len(edges) else None

    def _edges_that_matter(self, allowed: Marks, weights: Floats) -> Integers:
        """The places of edges that are undecided, those that seem to matter most first; one at least if there is any.

        What matters is how far apart the cheapest families with and without the edge are; against the edge with
        a weight nearest a half, it took a seventieth of the parts on hailfinder500 (bench/RESULTS.md).
        """
        costs, edges = np.where(allowed, self.families.costs, np.inf), self.edges
        with_edge, without = edges.cheapest_with(costs), edges.cheapest_without(costs)
        places = np.flatnonzero(np.isfinite(with_edge) & np.isfinite(without))
        weight, difference = edges.weights(weights)[places], np.abs(with_edge[places] - without[places])
        merit = np.minimum(weight, 1.0 - weight) * (difference + LEAST_DIFFERENCE)
        found: Integers = places[np.argsort(-merit, kind="stable")][: max(1, np.count_nonzero(merit > 0.0))]
        return found

    def _edge(self, place: int) -> Edge:
        return int(self.edges.parents[place]), int(self.edges.children[place])

    def _best_of(self, places: Integers, relaxed: Relaxed) -> Edge:
        """The edge whose halves gain most after a few iterations, multiplied; against the one that seems to matter most
        a quarter of the parts."""
        basis = self.program.basis
        best, most = self._edge(places[0]), -1.0
        for edge in map(self._edge, places.tolist()):
            gained = [self._gain(half, basis, relaxed.bound) for half in self.halves(relaxed.allowed, edge)]
            if math.prod(gained) > most * (1.0 + TIE):
                best, most = edge, math.prod(gained)
        return best

    def _gain(self, half: Marks, basis: Any, bound: float) -> float:
        """What the bound of a half gains on that of the whole; never nothing, so that the other half counts, too."""
        if self.limits.is_over:
            raise TimeIsUp
        if not self.families.core.propagate(half.view(np.uint8)):
            return self.known.cost - bound + LEAST_TRIED_GAIN
        multipliers = self.program.tried(half, basis, ITERATIONS_TRIED, self.limits)
        # Families that have not entered the program would hide what is gained on those that have.
        reached, _ = self.families.bound(half & self.program.is_in, self.program.cuts, multipliers)
        return max(0.0, min(reached, self.known.cost) - bound) + LEAST_TRIED_GAIN

    def halves(self, allowed: Marks, edge: Edge) -> tuple[Marks, Marks]:
        """The families of networks that have the edge, and of those that do not."""
        parent, child = edge
        own = slice(*self.families.offsets[child : child + 2])
        has_edge = has_member(self.families.parents[own], parent)
        there, absent = allowed.copy(), allowed.copy()
        there[own] &= has_edge
        absent[own] &= ~has_edge
        return there, absent


class OpenSearch(PartRelaxation):
    """Parts that wait, those with the least bounds first; ``resumed``: where an earlier search with this root stood."""

    def __init__(
        self, store: ListStore, run: Run, root: Relaxation, known: Known, resumed: OpenParts | None, rows: Rows | None
    ) -> None:
        kept = root.kept_families(known.cutoff) if resumed is None else resumed.kept
        self.whole = Whole.of(store, kept, root.family_bounds[kept], known)
        super().__init__(self.whole, run, known, rows)
        self.root, self.cuts, self.rounds = root, root.cuts, root.rounds
        self._is_resumed = resumed is not None
        self._open: list[Node] = [] if resumed is None else list(resumed.parts)  # a heap
        heapq.heapify(self._open)
        self.parts = 0 if resumed is None else resumed.n_parts

    def standing(self) -> OpenParts:
        """Where it stands."""
        return OpenParts(self.whole.kept, tuple(self._open), self.parts)
