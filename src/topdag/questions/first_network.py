"""A good network of a table straight from its data, for answers that are asked for before the table is scored.

It is looked for while scoring runs, in pieces of a few hundredths of a second whenever scoring says how far it is, so
questions that are answered quickly never wait for it. What is found after so many pieces is always the same; how many
pieces there are by the time a limit comes is not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from topdag import _core
from topdag._util.bitsets import bits
from topdag._util.run import Run
from topdag.errors import NotAllowed, ScoreError, TooLarge
from topdag.knowledge.compiled import free_rules
from topdag.knowledge.facts import transitive
from topdag.networks.network import Network
from topdag.questions.request import SECONDS_FOR_A_LAST_LOOK, scores_of
from topdag.scoring.kinds.base import MatrixScore
from topdag.scoring.kinds.discrete import ScoreKind, SetScore, coded
from topdag.scoring.probability_losses import together
from topdag.scoring.pruned import pruning_question
from topdag.scoring.task import ScoringTask, scored_columns
from topdag.search.costs import SEED

if TYPE_CHECKING:
    from topdag.data.table import Table
    from topdag.knowledge.compiled import CompiledConstraints, FamilyRules
    from topdag.questions.decide import Decision
    from topdag.questions.request import Request, Trail
    from topdag.scoring.scores import Scores

WORK_OF_A_PIECE = 1e7
"""About 0.02 s: additions of 32 counts at once."""
FIRST_PIECES = 10
"""After so many the network is better than a greedy search's, as a rule by far."""
MOST_PIECES = 1_000
SECONDS_BEFORE = 0.25
"""Scoring that is over by then is left alone."""
SHARE_FOR_CLIMBING = 1 / 10
SHARE_FOR_COUNTS = 1 / 8
"""More is not taken for counting; then families are asked for one by one."""
GROWN_BY_A_PIECE = 20
"""Families that get every further parent, where they are asked for one by one."""


def scores_meanwhile(trail: Trail, decision: Decision, run: Run) -> Scores | None:
    """The table scored; None when the time is up, or the memory, as the trail then says. Meanwhile a network is looked
    for."""
    request = trail.request
    trail.first = FirstNetwork(request, run)
    run.meanwhile = trail.first.meanwhile
    try:
        return scores_of(request, run, decision.keep, decision.form)
    except TooLarge as error:
        if _table_of(request).chunks is not None:  # nothing is looked for in rows that are not held
            raise
        trail.too_large = error
        return None
    finally:
        run.meanwhile = None


def look_once_more(trail: Trail) -> None:
    """There is then a network to show, where one is found in a moment."""
    last_look = Run(time_limit=SECONDS_FOR_A_LAST_LOOK)
    trail.first = trail.first or FirstNetwork(trail.request, last_look, trail.scores)
    trail.first.complete(last_look)


class FirstNetwork:
    """``first``: the network after ``FIRST_PIECES``, as masks over the scored columns; None before. ``scores``: where
    families are scored already, these are asked."""

    def __init__(self, request: Request, run: Run, scores: Scores | None = None) -> None:
        self._request, self._run, self._scores = request, run, scores
        self.columns = scored_columns(_table_of(request)) if scores is None else scores.columns
        self.known = request.compiled if scores is None else scores.compiled
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
        """None where there is nothing to look for."""
        if not self.columns or (self._scores is None and _table_of(self._request).chunks is not None):
            return None
        n, known = len(self.columns), self.known
        limit = self._request.max_parents if known is None else known.limit_on_parents(self._request.max_parents)
        most = n if limit is None else limit
        families = free_rules(("",) * n) if known is None else known.families
        rules, before = [_parent_rules(own, most) for own in families], _come_before(known, n)
        if self._scores is None and isinstance(_kind_of(self._request), SetScore):
            table = _table_of(self._request)
            view = coded(table, self.columns)
            if _core.climb_bytes(view) <= SHARE_FOR_COUNTS * self._run.allowed_memory:
                task = ScoringTask(table, self.columns, _kind_of(self._request), limit)
                return _core.DataClimb(view, pruning_question(task, self._run), rules, before, SEED)
        ask = _asked(self._request, self.columns) if self._scores is None else self._scores.store.value
        return _core.DataClimb(ask, WORK_OF_A_PIECE / (GROWN_BY_A_PIECE * n), rules, before, SEED)

    @property
    def masks(self) -> tuple[int, ...] | None:
        """The best network found that satisfies all that is known, over the scored columns; None: none yet."""
        found = () if self._climb is None else tuple(self._climb.parents)
        found = found or (0,) * len(self.columns)
        if self._scores is not None and self._scores.store.value_of(found) == -math.inf:
            return None
        return found if self.known is None or self.known.allows(found) else None

    @property
    def network(self) -> Network | None:
        masks = self.masks
        if masks is None:
            return None
        if self._scores is not None:
            return self._scores.network(masks)
        table, kind = _table_of(self._request), self._request.kind
        assert kind is not None
        names = [table.names[v] for v in self.columns]
        named = {name: [names[p] for p in bits(mask)] for name, mask in zip(names, masks, strict=True)}
        scored_by, _ = together(kind, self._request.constraints)
        return scored_network(table, scored_by, {name: named.get(name, []) for name in table.names})


def _table_of(request: Request) -> Table:
    assert request.table is not None
    return request.table


def _kind_of(request: Request) -> ScoreKind:
    """What families are scored by, but for bounds on probabilities."""
    assert request.kind is not None
    return together(request.kind, request.constraints)[0].unconstrained


def _asked(request: Request, columns: tuple[int, ...]) -> Callable[[int, int], float]:
    """The local score of a family of the scored columns; minus infinity where there is none."""
    table, kind = _table_of(request), _kind_of(request)
    ask: Callable[[int, Sequence[int]], float]
    if isinstance(kind, MatrixScore):
        of_sets = kind.scored_by(table, columns)
        ask = of_sets.local
    else:

        def ask(x: int, parents: Sequence[int]) -> float:
            return kind.local(table, columns[x], [columns[p] for p in parents])

    def local(x: int, mask: int) -> float:
        try:
            value = ask(x, bits(mask))
        except ScoreError:  # of the family, not of the question
            return -math.inf
        return -math.inf if math.isnan(value) else value

    return local


def scored_network(table: Table, kind: ScoreKind, parents: Mapping[str, Sequence[str]]) -> Network | None:
    """With local scores in full precision; None where a family is not allowed."""
    try:
        values = {
            name: kind.local(table, table.index(name), sorted(table.index(p) for p in parents[name]))
            for name in table.names
        }
    except NotAllowed:
        return None
    return Network(table.names, parents, values, kind.tells_apart(table))


def _parent_rules(own: FamilyRules, most: int) -> _core.ParentRules:
    most = min(own.most, most)
    among = [] if own.among is None else [m for m in sorted(own.among) if m.bit_count() <= most and own.admits(m)]
    return _core.ParentRules(own.must, own.may, own.least, most, among)


def _come_before(known: CompiledConstraints | None, n: int) -> list[int]:
    if known is None:
        return [0] * n
    return transitive([early | own.must for early, own in zip(known.before, known.families, strict=True)])
