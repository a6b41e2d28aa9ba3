"""A good network of a table straight from its data, for answers that are asked for before the table is scored.

It is looked for while scoring runs, in pieces of a few hundredths of a second whenever scoring says how far it is, so
questions that are answered quickly never wait for it. What is found after so many pieces is always the same; how many
pieces there are by the time a limit comes is not.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from topdag import _core
from topdag._util.bitsets import bits
from topdag._util.run import Run
from topdag.errors import NotAllowed
from topdag.knowledge.compiled import free_rules
from topdag.knowledge.facts import transitive
from topdag.networks.network import Network
from topdag.scoring.kinds.discrete import ScoreKind, coded
from topdag.scoring.probability_losses import together
from topdag.scoring.pruned import pruning_question
from topdag.scoring.task import ScoringTask, compiled_for, scored_columns
from topdag.search.costs import SEED

if TYPE_CHECKING:
    from topdag.data.table import Table
    from topdag.knowledge.compiled import CompiledConstraints, FamilyRules
    from topdag.questions.request import Request

WORK_OF_A_PIECE = 1e7
"""About 0.02 s: additions of 32 counts at once."""
FIRST_PIECES = 10
"""After so many the network is better than a greedy search's, as a rule by far."""
MOST_PIECES = 1_000
SECONDS_BEFORE = 0.25
"""Scoring that is over by then is left alone."""
SHARE_FOR_CLIMBING = 1 / 10
SHARE_FOR_COUNTS = 1 / 8
"""More is not taken for counting; then only the edges that gain most are added."""


class FirstNetwork:
    """``first``: the network after ``FIRST_PIECES``, as masks over the scored columns; None before."""

    def __init__(self, request: Request, run: Run) -> None:
        assert request.table is not None and request.kind is not None
        self._request, self._run = request, run
        self.table, self.columns = request.table, scored_columns(request.table)
        self.kind, constraints = together(request.kind, request.constraints)
        self.known = compiled_for(self.table, self.columns, constraints)
        self.first: tuple[int, ...] | None = None
        self.n_pieces = 0
        self._climb: _core.DataClimb | None = None
        self._next = run.seconds + SECONDS_BEFORE

    def meanwhile(self) -> None:
        """A piece of work, as long as no more than its share of the time is taken."""
        begin = self._run.seconds
        if begin < self._next or self.n_pieces >= MOST_PIECES:
            return
        self.go_on()
        self._next = begin + (self._run.seconds - begin) / SHARE_FOR_CLIMBING

    def complete(self, run: Run) -> None:
        """Up to the first network, unless that takes too long; a piece at least."""
        while self.n_pieces < FIRST_PIECES:
            self.go_on()
            if run.is_over:
                return

    def go_on(self) -> None:
        try:
            self._climb = self._climb or self._begun()
            if self._climb is not None:
                self._climb.go_on(WORK_OF_A_PIECE)
        except MemoryError:
            self.n_pieces = MOST_PIECES
        self.n_pieces += 1
        if self.n_pieces == FIRST_PIECES:
            self.first = self.masks

    def _begun(self) -> _core.DataClimb | None:
        """None where there is nothing to look for, or counting would take too much memory."""
        if not self.columns:
            return None
        kind, known = self.kind.unconstrained, self.known
        limit = self._request.max_parents if known is None else known.limit_on_parents(self._request.max_parents)
        task = ScoringTask(self.table, self.columns, kind, limit)
        view = coded(self.table, self.columns)
        if _core.climb_bytes(view) > SHARE_FOR_COUNTS * self._run.allowed_memory:
            return None
        families = free_rules(task.names) if known is None else known.families
        rules = [_parent_rules(own, task.most_parents) for own in families]
        before = _come_before(known, task.n)
        return _core.DataClimb(view, pruning_question(task, self._run), rules, before, SEED)

    @property
    def masks(self) -> tuple[int, ...] | None:
        """The best network found that satisfies all that is known, over the scored columns; None: none yet."""
        if self._climb is None or self._climb.score == -math.inf:
            return None
        found = tuple(self._climb.parents)
        return found if self.known is None or self.known.allows(found) else None

    @property
    def network(self) -> Network | None:
        masks = self.masks
        if masks is None:
            return None
        names = [self.table.names[v] for v in self.columns]
        named = {name: [names[p] for p in bits(mask)] for name, mask in zip(names, masks, strict=True)}
        return scored_network(self.table, self.kind, {name: named.get(name, []) for name in self.table.names})


def scored_network(table: Table, kind: ScoreKind, parents: Mapping[str, Sequence[str]]) -> Network | None:
    """With local scores in full precision; None where a family is not allowed."""
    try:
        values = {
            name: kind.local(table, table.index(name), sorted(table.index(p) for p in parents[name]))
            for name in table.names
        }
    except NotAllowed:
        return None
    return Network(table.names, parents, values)


def _parent_rules(own: FamilyRules, most: int) -> _core.ParentRules:
    most = min(own.most, most)
    among = [] if own.among is None else [m for m in sorted(own.among) if m.bit_count() <= most and own.admits(m)]
    return _core.ParentRules(own.must, own.may, own.least, most, among)


def _come_before(known: CompiledConstraints | None, n: int) -> list[int]:
    if known is None:
        return [0] * n
    return transitive([early | own.must for early, own in zip(known.before, known.families, strict=True)])
