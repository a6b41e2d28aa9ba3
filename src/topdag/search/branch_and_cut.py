"""Branch and cut on listed families: the best network with a proof, or a bound at any moment.

A part of the search is a set of allowed families. Its relaxation is cut until no cluster is violated; families that no
better network of the part can have go. Where weights stay fractional the part is split in two by an edge: one half has
it, the other does not. The part with the least bound comes next, so that bound holds for all networks.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from copy import copy

import numpy as np

from topdag import _core
from topdag._util.arrays import Floats, Marks
from topdag._util.run import Run, available_memory
from topdag._util.stop import TimeIsUp
from topdag.search.costs import Families
from topdag.search.engines import Outcome
from topdag.search.linear_program import Program, Rows
from topdag.search.open_nodes import Node, OpenParts
from topdag.search.part_relaxation import SLACK_SOLVES, Half, PartRelaxation
from topdag.search.relaxation import SECONDS_A_TICK, Incumbent, Known, Relaxation, known_from, solve_root
from topdag.search.stores import ListStore

NEARLY_WHOLE = 0.999
PART_BYTES = 20_000  # an open part besides its marks, and cuts that others share
FIRST_COLUMNS = 1_000  # which the program begins with
AT_ONCE = 8  # parts that are split together
PARTS_BEFORE_CLIMBING = 16


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


class PartSearch(PartRelaxation):
    """The parts still open. It relaxes the first itself; the halves of some others are relaxed side by side."""

    def __init__(
        self,
        store: ListStore,
        run: Run,
        root: Relaxation,
        known: Known,
        resumed: OpenParts | None = None,
        rows: Rows | None = None,
    ) -> None:
        self._may_improve = root.kept_families(known.cutoff) if resumed is None else resumed.kept
        families = Families.of_store(store).only(self._may_improve)
        super().__init__(families, run, known, root.family_bounds[self._may_improve], rows)
        self.root = root
        self.cuts, self.rounds = root.cuts, root.rounds
        self._open: list[Node] = []  # a heap
        if resumed is not None:
            self._open, self.parts = list(resumed.parts), resumed.n_parts
            heapq.heapify(self._open)
        self._is_resumed = resumed is not None
        self._newest: list[Node] = []  # a stack, used when the heap is full
        self.dives = False
        self._most_open = most_held(run, self.families.size)
        self._workers: list[PartRelaxation] = []
        self._climbs_at = PARTS_BEFORE_CLIMBING

    def run(self, on_split: Callable[[Callable[[], OpenParts]], None] | None = None) -> bool:
        """Whether the best network is proved."""
        if self.root.bound > self.known.cutoff or (np.diff(self.families.offsets) == 0).any():
            return True
        self._begin()
        try:
            with ThreadPoolExecutor(min(self.limits.threads, 2 * AT_ONCE)) as threads:
                if not self._is_resumed:
                    self._open_first()
                while self._open or self._newest:
                    self._split(self._next_parts(), threads)
                    if on_split is not None:
                        on_split(self.standing)
        except TimeIsUp:
            return False
        return True

    def standing(self) -> OpenParts:
        return OpenParts(self._may_improve, (*self._open, *self._newest), self.parts)

    def _begin(self) -> None:
        self.program = self._first_program()

    def _first_program(self) -> Program:
        program = Program(self.families, 4.0 * self.known.cost + 1.0)
        program.add_cuts(self.root.clusters, self.root.rows)
        promising = np.argsort(self.root_bounds, kind="stable")[:FIRST_COLUMNS]
        program.admit(np.isin(np.arange(self.families.size), promising))
        return program

    def _open_first(self) -> None:
        whole = self.opened(Half(np.ones(self.families.size, dtype=np.bool_), self.root.bound), 1)
        if whole is not None:
            if self.rows is None:
                self._dive(whole.marks(self.families.size))
            self._keep([whole])

    def _next_parts(self) -> list[Node]:
        """The parts with the least bounds; when memory is short the newest, so that few are open. How many does not
        depend on how many threads share them, so that nothing else does."""
        self.known.raise_bound(min(part.bound for part in [*self._open[:1], *self._newest]))
        most = AT_ONCE if self.rows is None and not self.dives else 1
        if self._newest:
            return [self._newest.pop() for _ in range(min(most, len(self._newest)))]
        return [heapq.heappop(self._open) for _ in range(min(most, len(self._open)))]

    def _keep(self, parts: Sequence[Node]) -> None:
        for part in sorted(parts, key=lambda part: -part.bound):
            is_room = len(self._open) < self._most_open and _core.bytes_of_cuts() < memory_for_parts(self.limits)
            if is_room and not self.dives:
                heapq.heappush(self._open, part)
            else:
                self._newest.append(part)

    def _split(self, parts: Sequence[Node], threads: ThreadPoolExecutor) -> None:
        halves = [half for part in parts if part.bound <= self.known.cutoff for half in self._halves_of(part)]
        if self.rows is None:
            opened = self._opened_side_by_side(halves, threads)
            self._climb()
        else:  # what is known of networks that satisfy rows is learned from one part after another
            opened = [self.opened(half, self.parts + 1) for half in halves]
        self._keep([part for part in opened if part is not None])

    def _halves_of(self, part: Node) -> Iterator[Half]:
        allowed = part.marks(self.families.size)
        if part.question is not None:
            for answer in (True, False):
                decisions = (*part.decisions, (*part.question, answer))
                rows = self.rows_under(decisions)
                if rows is not None:
                    yield Half(allowed & rows.admitted(self.families), part.bound, decisions, part.standing)
            return
        assert part.edge is not None
        for half in self.halves(allowed, part.edge):
            yield Half(half, part.bound, part.decisions, part.standing)

    def _opened_side_by_side(self, halves: Sequence[Half], threads: ThreadPoolExecutor) -> list[Node | None]:
        """Each with a linear program of its own, the same one whoever works on it, and with what is known now."""
        workers = [self._worker(place) for place in range(len(halves))]
        tasks = list(zip(workers, halves, range(self.parts + 1, self.parts + 1 + len(halves)), strict=True))
        try:
            if self.limits.threads == 1:
                return [worker.opened(half, number) for worker, half, number in tasks]
            futures = [threads.submit(worker.opened, half, number) for worker, half, number in tasks]
            while wait(futures, SECONDS_A_TICK).not_done:
                self.known.tick(self.parts, 0)
            return [future.result() for future in futures]
        finally:
            self._learn_from(workers)

    def _worker(self, place: int) -> PartRelaxation:
        if place == len(self._workers):
            worker = PartRelaxation(self.families, self.limits, self.known, self.root_bounds, None, self.edges)
            worker.program = self._first_program()
            worker.program.admit(self.program.is_in)
            worker.tells = self.limits.threads == 1
            self._workers.append(worker)
        worker = self._workers[place]
        worker.known = copy(self.known)
        worker.parts, worker.cuts, worker.rounds = self.parts, 0, 0
        return worker

    def _learn_from(self, workers: Sequence[PartRelaxation]) -> None:
        for worker in workers:
            self.cuts += worker.cuts
            self.rounds += worker.rounds
            if worker.known.incumbent is not None:
                self.known.offer(worker.known.incumbent.cost, list(worker.known.incumbent.masks))
        self.parts += len(workers)

    def _climb(self) -> None:
        """Once more whenever there are twice as many parts: what it costs stays small beside them, and a
        better network, of 100 variables by up to four nats, makes all of them smaller."""
        if self.parts >= self._climbs_at:
            self.known.climb()
            self._climbs_at = 2 * self.parts

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


def memory_for_parts(run: Run) -> int:
    """Bytes."""
    return available_memory() // 2 if run.memory_limit is None else run.memory_limit


def most_held(run: Run, n_families: int, besides: int = PART_BYTES) -> int:
    """Parts with a mark for each family, and so many bytes each besides."""
    return max(1_000, memory_for_parts(run) // (besides + n_families // 8))
