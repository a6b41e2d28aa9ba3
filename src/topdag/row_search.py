"""The best network under constraints on several variables at once, by branch and cut with their clauses as rows.

A part of the search that has one family for each variable left is looked at; so the answer is exact whatever rows were
found, and rows only make it fast. Which families no network of interest has is told with the rows: they are part of the
bound.
"""

from __future__ import annotations

import math

from topdag.branch_and_cut import prove_best
from topdag.clauses import Clauses
from topdag.compiled_constraints import CompiledConstraints
from topdag.obeying import Obeying
from topdag.relaxation import solve_root
from topdag.runs import Run
from topdag.search_results import Found
from topdag.stores import ListStore


class RowSearch:
    """For the best network of listed families that obeys and is worth at least ``lowest``."""

    def __init__(self, store: ListStore, known: CompiledConstraints, run: Run, lowest: float = -math.inf) -> None:
        self.store, self.run, self.lowest = store, run, lowest
        self.found = Found()
        self._clauses = Clauses(known)
        self.known = Obeying(store, run, known, None)
        if lowest > -math.inf:
            self.known.most = min(self.known.most, self.known.best_score - lowest)

    def go(self) -> Found:
        """Until all is known or a limit comes; on Ctrl-C with what is known by then."""
        found, known = self.found, self.known
        finished = False
        try:
            finished = self._is_finished()
            found.limit = None if finished else "time_limit"
        except KeyboardInterrupt:
            found.limit = "Ctrl-C"
        best = known.incumbent
        if best is not None:
            found.networks[best.masks] = known.best_score - best.cost
        if not finished:
            found.bound = known.best_score - min(known.bound, known.cost)
        else:
            found.bound = self.lowest if best is None else known.best_score - best.cost
        return found

    def _is_finished(self) -> bool:
        root = solve_root(self.store, self.run, known=self.known, rows=self._clauses)
        self.found.rows, self.found.parts = root.cuts, 1
        if self.known.bound == math.inf or self.known.bound > self.known.cutoff:
            return True
        if self.run.is_over:
            return False
        result = prove_best(self.store, self.run, root=root, known=self.known, rows=self._clauses)
        self.found.rows, self.found.parts = result.cuts, 1 + result.nodes
        return result.finished

    @property
    def has_all(self) -> bool:
        """Whether the best network is not worth less than ``lowest``."""
        return self.lowest == -math.inf or self.known.incumbent is not None

    @property
    def best_met(self) -> float:
        """What some network that obeys is worth, perhaps less than was asked for."""
        return self.known.best_score - self.known.least_met
