"""What else fits: the best network that has a given family, and with or without each edge."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from topdag import _core
from topdag._util.arrays import Floats
from topdag._util.brief import brief
from topdag._util.run import Run
from topdag.errors import ScoreError
from topdag.networks.checks import require_known
from topdag.questions.request import Request, Said, asked_about, scores_of
from topdag.scoring.kinds.discrete import KindLike
from topdag.search.lattice import lattice_of


@dataclass(frozen=True, eq=False)
class EdgeAlternatives:
    """``with_edge[i, j]``: the score of the best network with the edge names[i] -> names[j]; ``without_edge``: of the
    best network without it; minus infinity where there is none. ``best``: the score of the best network of all;
    ``notes``: what was done to the table."""

    names: tuple[str, ...]
    best: float
    with_edge: Floats
    without_edge: Floats
    notes: tuple[str, ...] = ()

    def loss_without(self, parent: str, child: str) -> float:
        """How much worse the best network without this edge is."""
        return self.best - float(self.without_edge[self._place(parent, child)])

    def loss_with(self, parent: str, child: str) -> float:
        """How much worse the best network with this edge is."""
        return self.best - float(self.with_edge[self._place(parent, child)])

    def rows(self) -> Iterator[dict[str, object]]:
        """Every edge of some best network: what leaving it out costs, and what turning it round costs."""
        for i, parent in enumerate(self.names):
            for j, child in enumerate(self.names):
                if i != j and self.with_edge[i, j] == self.best:
                    yield {
                        "parent": parent,
                        "child": child,
                        "loss without": self.loss_without(parent, child),
                        "loss reversed": self.loss_with(child, parent),
                    }

    def __str__(self) -> str:
        return "\n".join(
            f"the best network without {row['parent']} -> {row['child']} is {row['loss without']:.2f} worse, "
            f"with it reversed {row['loss reversed']:.2f}"
            for row in self.rows()
        )

    def _place(self, parent: str, child: str) -> tuple[int, int]:
        require_known([parent, child], self.names)
        if parent == child:
            raise ScoreError(f"An edge joins two variables, not {parent!r} with itself.")
        return self.names.index(parent), self.names.index(child)


@brief
def edge_alternatives(source: Any, kind: KindLike = None, **options: Unpack[Said]) -> EdgeAlternatives:
    """For every pair of variables the best network with and without an edge from one to the other.

    They are known all at once: OutOfTime when ``time_limit`` comes first.
    """
    request, run = asked_about(source, kind, options)
    return run.answer(lambda: _alternatives(request, run), lambda _: "all bounds are known")


def _alternatives(request: Request, run: Run) -> EdgeAlternatives:
    scores = request.scores or scores_of(request, run, "all")
    if scores is None:
        raise run.cut_short("edge_alternatives", "nothing is known yet")
    scores.require_kept("edge_alternatives")
    scores.require_local("edge_alternatives", order=True)
    n, m = len(scores.names), len(scores.columns)
    with_edge, without_edge = np.full((n, n), -math.inf), np.full((n, n), -math.inf)
    if not scores.columns:  # the empty network is the only one
        np.copyto(without_edge, 0.0, where=~np.eye(n, dtype=bool))
        return EdgeAlternatives(scores.names, 0.0, with_edge, without_edge, scores.notes)
    lattice = lattice_of(scores.store, run, scores.before)
    found = None if lattice is None else _core.edge_bounds(lattice, run.limits)
    if lattice is None or found is None:
        raise run.cut_short("edge_alternatives", "nothing is known yet")
    place = np.ix_(scores.columns, scores.columns)
    without_edge[:] = lattice.best_score  # an edge at a constant column is never there
    with_edge[place], without_edge[place] = (bounds.reshape(m, m) for bounds in found)
    np.fill_diagonal(without_edge, -math.inf)
    return EdgeAlternatives(scores.names, lattice.best_score, with_edge, without_edge, scores.notes)
