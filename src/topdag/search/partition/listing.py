"""The best networks or classes by partition (Lawler, Murty) on branch and cut.

Parts of the space wait in a queue by their bounds. The part with the least is relaxed and cut. If a network of it is
known that costs no more than its bound, that is listed, and what is left of the part without it, or without its class,
makes new parts (``outside``), with bounds from the relaxation's reduced costs; else an edge splits it. So whatever
ends the search, nothing is missing that costs less than the least bound in the queue.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from topdag._util.arrays import Floats, Marks
from topdag._util.run import Run, available_memory
from topdag._util.stop import Stop
from topdag.search.branch_and_cut import OutOfTime, PartSearch, Relaxed
from topdag.search.costs import Families, network_near
from topdag.search.linear_program import Ancestor, Decisions, Joined, Row, Rows
from topdag.search.partition.listed import Kind, Listed
from topdag.search.partition.outside import Inside, Network, class_of, inside_class, inside_network
from topdag.search.relaxation import CLOSE, CLOSE_SHARE, Incumbent, Relaxation, solve_root
from topdag.search.stores import ListStore, candidates_from

BYTES_HELD = 2_000
"""For each part that waits besides its families, and each network found."""


def list_by_partition(
    store: ListStore,
    run: Run,
    listed: Listed,
    best: Incumbent,
    *,
    rows: Rows | None = None,
    first: Relaxation | None = None,
) -> tuple[bool, PartitionSearch]:
    """Whether ``listed`` now holds all that is asked for, from the best network on; False when the time is up first.

    ``rows``: as for ``solve_root``; ``first``: where to take the first cuts from.
    """
    listed.offer(best.cost, best.masks)
    root = solve_root(store, run, known=listed, rows=rows, first_cuts=first)
    search = PartitionSearch(store, run, root, listed, rows)
    if run.is_over:
        search.limit = run.limit
    return not run.is_over and search.list(), search


@dataclass(frozen=True, order=True)
class Part:
    """Networks of allowed families that cost ``bound`` or more, where all this is decided."""

    bound: float
    number: int
    allowed: bytes = field(compare=False)
    decisions: Decisions = field(default=(), compare=False)


class PartitionSearch(PartSearch):
    """``listed`` is true at any moment."""

    def __init__(self, store: ListStore, run: Run, root: Relaxation, listed: Listed, rows: Rows | None = None) -> None:
        super().__init__(store, run, root, listed, rows=rows)
        self.listed = listed
        self.limit: Stop | None = None
        self._waiting: list[Part] = []
        self._n_parts = 0
        self._most_held = _most_held(run, self.families.size)

    def list(self) -> bool:
        """Whether nothing that is asked for is missing; ``limit`` says what came first."""
        if self.root.bound > self.known.cutoff or (np.diff(self.families.offsets) == 0).any():
            self.listed.bound = math.inf
            return True
        self._begin()
        self._wait(self.root.bound, np.ones(self.families.size, dtype=np.bool_), ())
        try:
            while self._waiting and self._waiting[0].bound <= self.known.cutoff:
                self.listed.bound = max(self.listed.bound, self._waiting[0].bound)
                if len(self._waiting) + len(self.listed.costs) > self._most_held:
                    self.limit = Stop.MEMORY_LIMIT
                    return False
                self._look_at(heapq.heappop(self._waiting))
        except OutOfTime:
            self.limit = self.limits.limit
            return False
        self.listed.bound = math.inf
        return True

    def _wait(self, bound: float, allowed: Marks, decisions: Decisions) -> None:
        if bound <= self.known.cutoff:
            self._n_parts += 1
            heapq.heappush(self._waiting, Part(bound, self._n_parts, np.packbits(allowed).tobytes(), decisions))

    def _look_at(self, part: Part) -> None:
        allowed = np.unpackbits(np.frombuffer(part.allowed, dtype=np.uint8), count=self.families.size).view(np.bool_)
        relaxed = self.relaxed(allowed, part.bound, part.decisions)
        if relaxed is None:
            return
        cost, masks = self._network_in(relaxed, part.decisions)
        if masks is not None:
            self.listed.offer(cost, masks)
            if cost - relaxed.bound <= CLOSE + CLOSE_SHARE * cost:
                self._leave_out(masks, relaxed, part.decisions)
                return
        edge = self.edge_to_split(relaxed.allowed, relaxed.solution.weights)
        if edge is None:
            return  # the one network of the part, or none
        parent, child = edge
        is_child = self.families.owners == child
        with_edge = is_child & self._has_parent[:, parent]
        for half in (with_edge | ~is_child, ~with_edge):
            self._wait(self._bound_of(relaxed, half & relaxed.allowed, child), relaxed.allowed & half, part.decisions)

    def _bound_of(self, relaxed: Relaxed, allowed: Marks, child: int) -> float:
        """By the families that one variable has left."""
        own = slice(*self.families.offsets[child : child + 2])
        return float(relaxed.family_bounds[own][allowed[own]].min(initial=math.inf))

    def _network_in(self, relaxed: Relaxed, decisions: Decisions) -> tuple[float, Network | None]:
        """A good network of the part, and what it costs; None: none was found."""
        own = self.families.only(relaxed.allowed)
        candidates = candidates_from(own.n, own.offsets, own.parents, -own.costs)
        cost, masks = network_near(candidates, self.families, relaxed.solution.weights)
        if cost == math.inf or not all(masks[a] >> b & 1 or masks[b] >> a & 1 for a, b in _edges(decisions)):
            return math.inf, None
        return float(self.families.costs[self.families.places(masks)].sum()), tuple(masks)

    def _leave_out(self, masks: Network, relaxed: Relaxed, decisions: Decisions) -> None:
        """Parts by the first variable with another family, those that cost most first: what is left of the others is
        then little; and by the first reversible edge that is not there."""
        if self.listed.kind is Kind.NETWORKS:
            inside = inside_network(self.families, masks)
        else:
            inside = inside_class(self.families, class_of(masks))
        others = np.where(relaxed.allowed & ~inside.families, relaxed.family_bounds, np.inf)
        least = np.minimum.reduceat(others, self.families.offsets[:-1])
        left = relaxed.allowed.copy()
        for v in np.argsort(-least, kind="stable").tolist():
            own = slice(*self.families.offsets[v : v + 2])
            if least[v] <= self.known.cutoff:
                part = left.copy()
                part[own] &= ~inside.families[own]
                self._wait(float(least[v]), part, decisions)
            left[own] &= inside.families[own]
        self._without_an_edge(inside, left, relaxed, decisions)

    def _without_an_edge(self, inside: Inside, left: Marks, relaxed: Relaxed, decisions: Decisions) -> None:
        joined = decisions
        for a, b in inside.edges:
            part = left & ~self._joining(a, b)
            bound = max(self._bound_of(relaxed, part, v) for v in (a, b))
            if Joined(a, b) not in decisions:
                self._wait(bound, part, joined)
                joined = (*joined, Joined(a, b))

    def _joining(self, a: int, b: int) -> Marks:
        """The families that have an edge between the two."""
        owners = self.families.owners
        marks: Marks = ((owners == a) & self._has_parent[:, b]) | ((owners == b) & self._has_parent[:, a])
        return marks

    def rows_under(self, decisions: Decisions) -> Rows | None:
        rows, edges = super().rows_under(decisions), _edges(decisions)
        return _WithEdges(edges, rows) if edges else rows


def _most_held(run: Run, n_families: int) -> int:
    allowance = available_memory() // 2 if run.memory_limit is None else run.memory_limit
    return max(1_000, allowance // (BYTES_HELD + n_families // 8))


def _edges(decisions: Decisions) -> tuple[Joined, ...]:
    return tuple(decision for decision in decisions if isinstance(decision, Joined))


@dataclass(frozen=True)
class _EdgeRow:
    """An edge between two variables, as a row."""

    edge: Joined

    def marks(self, families: Families) -> Marks:
        one, other = self.edge
        bits = np.where(families.owners == one, np.uint64(1 << other), np.uint64(1 << one))
        is_either = (families.owners == one) | (families.owners == other)
        marks: Marks = is_either & (families.parents & bits != 0)
        return marks


@dataclass(frozen=True)
class _WithEdges:
    """Edges that must be there, as rows beside others."""

    edges: tuple[Joined, ...]
    rows: Rows | None

    def broken(self, families: Families, weights: Floats, clusters: Sequence[int]) -> Sequence[Row]:
        own: list[Row] = [row for row in map(_EdgeRow, self.edges) if weights[row.marks(families)].sum() < 1 - 1e-6]
        return own if self.rows is None else [*own, *self.rows.broken(families, weights, clusters)]

    def under(self, decisions: tuple[Ancestor, ...]) -> Rows | None:
        raise NotImplementedError

    def admitted(self, families: Families) -> Marks:
        raise NotImplementedError

    def to_decide(self, families: Families, weights: Floats) -> tuple[int, int] | None:
        return None if self.rows is None else self.rows.to_decide(families, weights)
