"""The best network under constraints on several variables at once, by branch and cut with their clauses as rows.

A part of the search that has one family for each variable left is looked at; so the answer is exact whatever rows were
found, and rows only make it fast. Which families no network of interest has is told with the rows: they are part of the
bound.
"""

from __future__ import annotations

import math
from itertools import count

from topdag.branch_and_cut import prove_best
from topdag.clauses import Clauses
from topdag.compiled_constraints import CompiledConstraints
from topdag.obeying import Obeying
from topdag.relaxation import solve_root
from topdag.runs import Run
from topdag.search_results import Found, Network
from topdag.stores import ListStore

FEW_PARTS = 50


def search_by_rows(
    store: ListStore,
    known: CompiledConstraints,
    run: Run,
    start: Network | None = None,
    most: float = math.inf,
    wanted: float = -math.inf,
) -> Found:
    """The best network of listed families that obeys; on Ctrl-C or when the time is up, what is known by then.

    ``start``: a network of such families that obeys; ``most``: no network is worth more. While none worth
    ``wanted`` is met, the search ends after a few parts.
    """
    search = _RowSearch(store, known, run, start)
    search.known.raise_bound(search.known.best_score - most)
    try:
        search.found.limit = None if search.is_finished(wanted) else "time_limit"
    except _Enough:
        return search.result(is_proved=False)
    except KeyboardInterrupt:
        search.found.limit = "Ctrl-C"
    return search.result(is_proved=search.found.limit is None)


class _Enough(Exception):
    """Other lists should be looked at."""


class _RowSearch:
    def __init__(self, store: ListStore, known: CompiledConstraints, run: Run, start: Network | None) -> None:
        self.store, self.run = store, run
        self.found = Found()
        self._clauses = Clauses(known)
        self.known = Obeying(store, run, known)
        if start is not None:
            self.known.offer(self.known.best_score - sum(map(store.value, range(store.n), start)), list(start))

    def is_finished(self, wanted: float) -> bool:
        parts = count()

        def on_split(_: object) -> None:
            if next(parts) >= FEW_PARTS and self.known.best_score - self.known.cost < wanted:
                raise _Enough

        root = solve_root(self.store, self.run, known=self.known, rows=self._clauses)
        self.found.rows, self.found.parts = root.cuts, 1
        if self.known.bound > self.known.cutoff:
            return True
        if self.run.is_over:
            return False
        result = prove_best(self.store, self.run, root=root, known=self.known, rows=self._clauses, on_split=on_split)
        self.found.rows, self.found.parts = result.cuts, 1 + result.nodes
        return result.finished

    def result(self, *, is_proved: bool) -> Found:
        found, known, best = self.found, self.known, self.known.incumbent
        if best is not None:
            found.networks[best.masks] = known.best_score - best.cost
        if is_proved:
            found.bound = -math.inf if best is None else known.best_score - best.cost
        else:
            found.bound = known.best_score - min(known.bound, known.cost)
        return found
