"""Branch and cut on listed families: the best network with a proof, or a bound at any moment.

A part of the search is a set of allowed families. Its relaxation is cut until no cluster is violated; families that no
better network of the part can have go. Where weights stay fractional the part is split in two by an edge: one half has
it, the other does not. The part with the least bound comes next, so that bound holds for all networks.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack

import numpy as np

from topdag import _core
from topdag._util.arrays import Floats, Marks
from topdag._util.run import Run, available_memory
from topdag._util.stop import TimeIsUp
from topdag._util.workers import Crew, crew, threads_of
from topdag.search.engines import Outcome
from topdag.search.linear_program import Rows
from topdag.search.open_nodes import Node, OpenParts
from topdag.search.part_relaxation import SLACK_SOLVES, Half, HalfTask, Opened, OpenSearch, Whole, open_half
from topdag.search.relaxation import Known, Relaxation, known_from, solve_root
from topdag.search.stores import ListStore

NEARLY_WHOLE = 0.999
PART_BYTES = 50_000  # an open part with some hundred cuts, besides its marks and the cuts themselves
AT_ONCE = 8  # parts that are split together
PARTS_BEFORE_CLIMBING = 16
SECONDS_BEFORE_OTHERS = 2.0
"""Of relaxing parts side by side; a search that takes less does not pay for starting processes, or sending all that is
needed."""


def prove_best(
    store: ListStore,
    run: Run,
    *,
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
    known = Known(store, run) if known is None else known
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


class PartSearch(OpenSearch):
    """It relaxes the first part itself; the halves of some others are relaxed side by side."""

    def __init__(
        self,
        store: ListStore,
        run: Run,
        root: Relaxation,
        known: Known,
        resumed: OpenParts | None = None,
        rows: Rows | None = None,
    ) -> None:
        super().__init__(store, run, root, known, resumed, rows)
        self._newest: list[Node] = []  # a stack, used when the heap is full
        self.dives = False
        self._most_open = most_held(run, self.families.size)
        self._climbs_at = PARTS_BEFORE_CLIMBING

    def run(self, on_split: Callable[[Callable[[], OpenParts]], None] | None = None) -> bool:
        """Whether the best network is proved."""
        if self.root.bound > self.known.cutoff or (np.diff(self.families.offsets) == 0).any():
            return True
        self.begin(self.root)
        self._first = self.program.standing()
        try:
            with Crews(self.whole, self.limits) as crews:
                if not self._is_resumed:
                    self._open_first()
                while self._open or self._newest:
                    self._split(self._next_parts(), crews)
                    if on_split is not None:
                        on_split(self.standing)
        except TimeIsUp:
            return False
        return True

    def standing(self) -> OpenParts:
        return OpenParts(self.whole.kept, (*self._open, *self._newest), self.parts)

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

    def _split(self, parts: Sequence[Node], crews: Crews) -> None:
        halves = [half for part in parts if part.bound <= self.known.cutoff for half in self._halves_of(part)]
        if self.rows is None:
            opened = self._opened_side_by_side(halves, crews)
            self._climb()
        else:  # what is known of networks that satisfy rows is learned from one part after another
            opened = [self.opened(half, self.parts + 1) for half in halves]
        self._keep([part for part in opened if part is not None])

    def _halves_of(self, part: Node) -> Iterator[Half]:
        allowed, standing = part.marks(self.families.size), part.standing or self._first
        if part.question is not None:
            for answer in (True, False):
                decisions = (*part.decisions, (*part.question, answer))
                rows = self.rows_under(decisions)
                if rows is not None:
                    yield Half(allowed & rows.admitted(self.families), part.bound, decisions, standing)
            return
        assert part.edge is not None
        for half in self.halves(allowed, part.edge):
            yield Half(half, part.bound, part.decisions, standing)

    def _opened_side_by_side(self, halves: Sequence[Half], crews: Crews) -> list[Node | None]:
        """All with what is known now; what they find counts afterwards."""
        before, incumbent = self.parts, self.known.incumbent
        tasks = [HalfTask(half, before + 1 + place, incumbent) for place, half in enumerate(halves)]
        found = dict(crews.now.work_on(open_half, tasks, lambda done: self.known.tick(before + done, 0)))
        opened = [found.get(place) for place in range(len(tasks))]
        for own in opened:
            if own is not None:
                self._learn_from(own)
        if None in opened:
            raise TimeIsUp
        return [own.node for own in opened if own is not None]

    def _learn_from(self, opened: Opened) -> None:
        self.parts += 1
        self.cuts += opened.cuts
        self.rounds += opened.rounds
        if opened.incumbent is not None:
            self.known.offer(opened.incumbent.cost, list(opened.incumbent.masks))

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


class Crews(ExitStack):
    """Who relaxes halves: the threads of this process, and when that has taken a while whoever the run names."""

    def __init__(self, whole: Whole, run: Run) -> None:
        super().__init__()
        self._whole, self._run, self._begin = whole, run, run.seconds
        self._here: Crew = self.enter_context(threads_of(whole, run, min(run.threads, 2 * AT_ONCE)))
        self._others: Crew | None = None

    @property
    def now(self) -> Crew:
        executor, is_long = self._run.executor, self._run.seconds - self._begin >= SECONDS_BEFORE_OTHERS
        if self._others is None and executor is not None and is_long:
            self._others = self.enter_context(crew(self._whole, self._run, executor))
        return self._others or self._here


def memory_for_parts(run: Run) -> int:
    """Bytes."""
    return available_memory() // 2 if run.memory_limit is None else run.memory_limit


def most_held(run: Run, n_families: int, besides: int = PART_BYTES) -> int:
    """Parts with a mark for each family, and so many bytes each besides."""
    return max(1_000, memory_for_parts(run) // (besides + n_families // 8))
