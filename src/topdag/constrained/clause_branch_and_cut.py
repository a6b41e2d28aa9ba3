"""The best network under constraints on several variables at once, by branch and cut with their clauses as cuts.

A part of the search that has one family for each variable left is looked at; so the answer is exact whatever clauses
were found, and clauses only make it fast. Which families no network of interest has is told with them: they are part of
the bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from itertools import count

from topdag._util.run import Run
from topdag._util.stop import Stop
from topdag.constrained.clauses import Clauses
from topdag.constrained.found import Found, ParentMasks
from topdag.constrained.repair import SatisfyingKnown
from topdag.knowledge.compiled import CompiledConstraints
from topdag.search.branch_and_cut import prove_best
from topdag.search.engines import Outcome
from topdag.search.relaxation import Relaxation, solve_root
from topdag.search.stores import ListStore

FEW_PARTS = 50
NEAR_BOUND = 10.0
"""A network so many nats from the bound is good enough to tell which families can matter."""


def search_by_clauses(store: ListStore, known: CompiledConstraints, run: Run) -> Found:
    """The best allowed network of listed families; when the run is over, what is known by then."""
    return ClauseSearch(store, known, Clauses(known), run).go()


class _Enough(Exception):
    """Other lists should be looked at."""


class ClauseSearch:
    """As ``search_by_clauses``, step by step; ``root`` is the relaxation of all networks, None before it is solved."""

    def __init__(
        self,
        store: ListStore,
        known: CompiledConstraints,
        clauses: Clauses,
        run: Run,
        start: ParentMasks | None = None,
        most: float = math.inf,
    ) -> None:
        self.store, self.run = store, run
        self.root: Relaxation | None = None
        self._clauses = clauses
        self._cuts = self._parts = 0
        self.known = SatisfyingKnown(store, run, known)
        self.known.raise_bound(self.known.best_score - most)
        if start is not None:
            self.known.offer(self.known.best_score - sum(map(store.value, range(store.n), start)), list(start))

    def go(self, wanted: float = -math.inf, first_cuts: Relaxation | None = None) -> Found:
        """To the end."""
        try:
            self.solve_root(first_cuts)
            is_finished = self.branch(wanted)
        except _Enough:
            return self.result(None, is_proved=False)
        return self.result(None if is_finished else self.run.limit, is_proved=is_finished)

    def look(self, first_cuts: Relaxation | None = None, *, dives: bool = True) -> Found:
        """At the root, and if it ``dives`` a little further while no allowed network is near its bound; nothing is
        proved."""
        with suppress(_Enough):
            self.solve_root(first_cuts)
            if dives:
                self._dive()
        return self.result(None, is_proved=False)

    def solve_root(self, first_cuts: Relaxation | None = None) -> None:
        root = solve_root(self.store, self.run, known=self.known, rows=self._clauses, first_cuts=first_cuts)
        self.root, self._cuts, self._parts = root, root.cuts, 1

    def branch(self, wanted: float) -> bool:
        """Whether the best network is proved."""
        if self.known.bound > self.known.cutoff:
            return True
        if self.run.is_over:
            return False
        parts = count()

        def on_split(_: object) -> None:
            is_poor = self.known.incumbent is None or self.known.best_score - self.known.cost < wanted
            if next(parts) >= FEW_PARTS and is_poor and wanted > -math.inf:
                raise _Enough

        result = self._prove(on_split)
        self._cuts, self._parts = result.work["cuts"], 1 + result.work["parts"]
        return result.finished

    def _prove(self, on_split: Callable[[object], None], *, dives: bool = False) -> Outcome:
        return prove_best(
            self.store,
            self.run,
            root=self.root,
            known=self.known,
            rows=self._clauses,
            on_split=on_split,
            dives=dives,
        )

    def _dive(self) -> None:
        parts = count()

        def on_split(_: object) -> None:
            if next(parts) >= FEW_PARTS or self._is_near:
                raise _Enough

        if not self._is_near and not self.run.is_over:
            self._prove(on_split, dives=True)

    @property
    def _is_near(self) -> bool:
        return self.known.incumbent is not None and self.known.cost - self.known.bound <= NEAR_BOUND

    def result(self, limit: Stop | None, *, is_proved: bool) -> Found:
        known, best = self.known, self.known.incumbent
        found = Found(limit=limit, parts=self._parts, cuts=self._cuts)
        if best is not None:
            found.networks[best.masks] = known.best_score - best.cost
        if is_proved:
            found.bound = -math.inf if best is None else known.best_score - best.cost
        else:
            found.bound = known.best_score - min(known.bound, known.cost)
        return found
