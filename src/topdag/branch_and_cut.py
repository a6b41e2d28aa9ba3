"""Branch and cut on listed families: the best network with a proof, or a bound at any moment.

A part of the search is a set of allowed families. Its relaxation is cut until no cluster is violated; families that no
better network of the part can have go. Where weights stay fractional the part is split in two by an edge: one half has
it, the other does not. The part with the least bound comes next, so that bound holds for all networks.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass

import numpy as np

from topdag.relaxation import (
    CUTS_A_ROUND,
    LEAST_VIOLATION,
    MOST_K,
    Cuts,
    Families,
    Floats,
    Incumbent,
    Known,
    Marks,
    Program,
    Relaxation,
    Solution,
    Whole,
    solve_root,
)
from topdag.runs import Run, available_memory
from topdag.stores import ListStore

ROUNDS_A_PART = 20
LEAST_GAIN = 0.02  # a part is split when a round gains less than this share of its gap
SEARCH_STEPS = 2_000
SLACK_SOLVES = 40  # a cut that has been slack for so many solutions is dropped
PART_BYTES = 400  # an open part besides its marks


@dataclass(frozen=True)
class BranchResult:
    """``finished``: the network is proved to be best (None: there is none). Else ``bound`` holds, ``masks`` is the
    best network met, and the cost of no network is below the bound."""

    finished: bool
    masks: tuple[int, ...] | None
    cost: float
    bound: float
    parts: int
    cuts: int
    rounds: int
    root: Relaxation


@dataclass(frozen=True, order=True)
class Part:
    """Networks of allowed families: no better one costs less than ``bound``. The half with the edge comes next."""

    bound: float
    number: int
    allowed: bytes
    edge: tuple[int, int]


def prove_best(
    store: ListStore,
    run: Run,
    *,
    incumbent: Incumbent | None = None,
    root: Relaxation | None = None,
    known: Known | None = None,
) -> BranchResult:
    """The best network with a proof, or as much as the limits of ``run`` allow; ``known`` is kept up to date."""
    known = Known(store, run, incumbent) if known is None else known
    root = solve_root(store, run, known=known) if root is None else root
    known.raise_bound(root.bound)
    if root.incumbent is not None:
        known.offer(root.incumbent.cost, list(root.incumbent.masks))
    if known.incumbent is None:
        return BranchResult(known.bound == math.inf, None, math.inf, known.bound, 0, root.cuts, root.rounds, root)
    search = _Search(store, run, root, known)
    finished = search.run()
    masks, cost = known.incumbent.masks, known.incumbent.cost
    bound = cost if finished else known.bound
    return BranchResult(finished, masks, cost, bound, search.parts, search.cuts, search.rounds, root)


class _Stopped(Exception):
    """The clock ran out."""


class _Search:
    def __init__(self, store: ListStore, run: Run, root: Relaxation, known: Known) -> None:
        everything = Families.of_store(store)
        self.run_limits = run
        self.known = known
        self.step = everything.step
        self.root_bounds = root.family_bounds
        self.families = everything.only(self.root_bounds <= self._cutoff)
        self.root_bounds = self.root_bounds[self.root_bounds <= self._cutoff]
        self.owners: Whole = self.families.owners
        self.root = root
        self.parts, self.cuts, self.rounds = 0, root.cuts, root.rounds
        self.open: list[Part] = []

    @property
    def _cutoff(self) -> float:
        """What a better network may cost at most."""
        return self.known.cost - self.step

    def run(self) -> bool:
        """Whether the best network is proved."""
        if self.root.bound > self._cutoff or (np.diff(self.families.offsets) == 0).any():
            return True
        self.program = Program(self.families, 4.0 * self.known.cost + 1.0)
        if self.root.clusters:
            members, ks = zip(*self.root.clusters, strict=True)
            self.program.add_cuts(np.array(members, dtype=np.uint64), np.array(ks, dtype=np.int64))
        everything = np.ones(self.families.size, dtype=np.bool_)
        try:
            self._open_part(everything, self.root.bound)
            while self.open:
                self._split(self._next_part())
        except _Stopped:
            return False
        return True

    def _next_part(self) -> Part:
        """The part with the least bound; when memory is short, the newest, whose halves end soonest."""
        self.known.raise_bound(self.open[0].bound)
        return heapq.heappop(self.open)

    def _split(self, part: Part) -> None:
        if part.bound > self._cutoff:
            return
        allowed = np.unpackbits(np.frombuffer(part.allowed, dtype=np.uint8), count=self.families.size).view(np.bool_)
        parent, child = part.edge
        with_edge = (self.families.parents >> np.uint64(parent) & np.uint64(1)).astype(np.bool_)
        is_child = self.owners == child
        try:
            self._open_part(allowed & (with_edge | ~is_child), part.bound)
            self._open_part(allowed & ~(with_edge & is_child), part.bound)
        except (_Stopped, KeyboardInterrupt):
            heapq.heappush(self.open, part)
            raise

    def _open_part(self, allowed: Marks, bound: float) -> None:
        """Cuts the part's relaxation; keeps it unless it holds no better network."""
        self.parts += 1
        self.known.tick(self.parts, 0)
        for _ in range(ROUNDS_A_PART):
            allowed = allowed & (self.root_bounds <= self._cutoff)
            if not self.families.core.propagate(allowed.view(np.uint8)):
                return
            solution = self._solve(allowed)
            before, (bound, family_bounds) = bound, self._bounds(allowed, solution, bound)
            self.known.round(self.families, solution.weights)
            if bound > self._cutoff:
                return
            allowed = allowed & (family_bounds <= self._cutoff)
            if not self._cut(solution) or bound - before < LEAST_GAIN * (self.known.cost - bound):
                break
        packed = np.packbits(allowed).tobytes()
        edge = self._edge_to_split(allowed, solution)
        if edge is not None:
            heapq.heappush(self.open, Part(bound, self.parts, packed, edge))

    def _solve(self, allowed: Marks) -> Solution:
        self.program.allow(allowed)
        solution = self.program.solve(self.run_limits)
        if solution is None or self.run_limits.is_over:
            raise _Stopped
        self.rounds += 1
        return solution

    def _bounds(self, allowed: Marks, solution: Solution, inherited: float) -> tuple[float, Floats]:
        bound, family_bounds = self.families.bound(allowed, self.program.cuts, solution.multipliers)
        plain, plain_bounds = self.families.bound(allowed, Cuts(), np.zeros(0))
        return max(bound, plain, inherited), np.maximum(family_bounds, plain_bounds)

    def _cut(self, solution: Solution) -> bool:
        members, ks = self.families.core.separate(
            solution.weights, MOST_K, CUTS_A_ROUND, LEAST_VIOLATION, SEARCH_STEPS
        )
        self.program.drop_slack_cuts(SLACK_SOLVES)
        if len(ks):
            self.program.add_cuts(members, ks)
            self.cuts += len(ks)
        return len(ks) > 0

    def _edge_to_split(self, allowed: Marks, solution: Solution) -> tuple[int, int] | None:
        """The edge whose weight is nearest a half; None when every variable has one family, so nothing is open."""
        n = self.families.n
        bits = (self.families.parents[:, np.newaxis] >> np.arange(n, dtype=np.uint64) & np.uint64(1)).astype(np.float64)
        weight = np.zeros((n, n))  # child, parent
        np.add.at(weight, self.owners, bits * solution.weights[:, np.newaxis])
        some, every = np.zeros((n, n)), np.zeros((n, n))
        np.add.at(some, self.owners[allowed], bits[allowed])
        np.add.at(every, self.owners[allowed], 1.0 - bits[allowed])
        distance = np.where((some > 0) & (every > 0), np.abs(weight - 0.5), np.inf)
        child, parent = divmod(int(np.argmin(distance)), n)
        return None if distance[child, parent] == np.inf else (parent, child)
