"""Lists of families for the best network under constraints that can need edges which cost more than they explain.

Such constraints need edges of some pairs only. A variable in none of them can do with its short list; of the others a
family goes when it loses more to a smaller allowed one than the best network can give up (docs/explanation/method.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from topdag import _core
from topdag._util.arrays import Floats, Masks
from topdag._util.bitsets import bits, distinct, is_in, masks_in, search_keys, sizes_of, with_added
from topdag._util.run import Run
from topdag.knowledge.compiled import CompiledConstraints
from topdag.knowledge.normal_form import ParentCount, edges_of, holds_with_fewer, literals_of
from topdag.scoring.elsewhere import counted_in_chunks
from topdag.scoring.keep import Behind
from topdag.scoring.kinds.discrete import AIC, BIC, SetScore
from topdag.scoring.pruned import grid_scores, pruning_question, view_of
from topdag.scoring.score import scored_again
from topdag.scoring.scores import Scores
from topdag.scoring.task import TIES_GO_TOO, ScoringTask
from topdag.search.engines import sizes
from topdag.search.stores import ListStore, OwnFamilies

MOST_EXTENDED = 64
"""So many families of a variable, the best, get one more parent at first."""


def useful_parents(known: CompiledConstraints, between: Sequence[int]) -> list[int]:
    """By variable: the parents that a network may need to be allowed, whatever they cost. ``between``: for each path
    that must be, what may lie on it."""
    n = len(known.names)
    useful = [0] * n
    for members in between:
        for v in bits(members):
            useful[v] |= members & ~(1 << v)
    for rule in known.rest.rules:
        if holds_with_fewer(rule.formula):
            continue
        for parent, child in edges_of(rule.formula):
            useful[child] |= 1 << parent
        for literal in literals_of(rule.formula):
            if isinstance(literal, ParentCount):
                useful[literal.child] |= (1 << n) - 1
    return [own & known.families[v].may for v, own in enumerate(useful)]


def widened(scores: Scores, reach: float, run: Run, *, listed: bool = False) -> Scores | None:
    """Scores with all families of networks so far behind the best one without constraints on several variables."""
    keep = Behind(reach + scores.tolerance) if reach > 0 else "best"
    wide = scored_again(scores, run, keep, relaxed=True, listed=listed or scores.store.n > sizes().small)
    return None if wide is None else replace(wide, compiled=scores.compiled)


@dataclass(frozen=True)
class NeededFamilies:
    """Lists made from scores, or from their table where that is faster."""

    scores: Scores
    useful: Sequence[int]
    run: Run

    @property
    def names(self) -> tuple[str, ...]:
        return self.scores.scored_names

    @property
    def is_from_table(self) -> bool:
        """Whether families are scored anew: what the store lacks or takes long to look through."""
        scores = self.scores
        is_slow = scores.store.n > sizes().small and isinstance(scores.kind, (BIC, AIC)) and scores.prior is None
        return scores.store.is_listed or (is_slow and scores.table is not None)

    def short(self) -> ListStore | None:
        """What the best network without constraints on several variables can need; None when the time is up."""
        if self.scores.store.is_listed:
            return self.scores.store.listed
        return self._anew(0.0) if self.is_from_table else self._listed([TIES_GO_TOO] * self.scores.store.n)

    def within(self, reach: float, short: ListStore) -> ListStore | None:
        """Besides, all families with a useful parent that lose at most ``reach`` nats; None when the time is up."""
        if self.is_from_table:
            wide = self._anew(reach)
            if wide is None:
                return None
            return ListStore.of(
                self.names, [(wide if own else short).families_of(x) for x, own in enumerate(self.useful)]
            )
        return self._listed([reach if own else TIES_GO_TOO for own in self.useful])

    def for_lists(self, slack: float, reach: float) -> ListStore | None:
        """All families of allowed networks at most ``slack`` nats behind the best of them; none of these
        is further than ``reach`` behind the best of all. None when the time is up."""
        store = self.scores.store
        if self.scores.lists_all:
            return store.listed
        if not self.is_from_table:
            return self._listed([reach if own else slack for own in self.useful])
        near = None if all(self.useful) else self._anew(slack)
        wide = self._anew(reach) if any(self.useful) else near
        if wide is None or (near is None and not all(self.useful)):
            return None
        chosen = [wide if own or near is None else near for own in self.useful]
        return ListStore.of(self.names, [own.families_of(x) for x, own in enumerate(chosen)])

    def with_one_more(self, short: ListStore) -> ListStore:
        """Besides, the best of the short list with one more useful parent each."""
        if self.is_from_table and not isinstance(self.scores.kind, SetScore):
            return short
        own = [short.families_of(x) for x in range(short.n)]
        new = [self._extended(x, *own[x]) for x in range(short.n)]
        joined = zip(own, new, self._values(new), strict=True)
        return ListStore.of(
            self.names,
            [
                _finite(np.concatenate([masks, more]), np.concatenate([values, found]))
                for (masks, values), more, found in joined
            ],
        )

    def _extended(self, x: int, masks: Masks, values: Floats) -> Masks:
        best = masks[np.argsort(-values, kind="stable")[:MOST_EXTENDED]]
        more = [with_added(best, 1 << u) for u in bits(self.useful[x])]
        own = distinct(np.concatenate(more)) if more else masks[:0]
        own = own[~is_in(own, masks)]
        limit = self.scores.max_parents
        own = own if limit is None else own[sizes_of(own) <= limit]
        return own if self.scores.compiled is None else own[self.scores.compiled.families[x].admit(own)]

    def _values(self, families: Sequence[Masks]) -> list[Floats]:
        """Of these parents of each variable."""
        if not self.is_from_table:
            store = self.scores.store
            return [np.array([store.value(x, mask) for mask in masks_in(own)]) for x, own in enumerate(families)]
        kind, table = self.scores.kind, self.scores.table
        assert isinstance(kind, SetScore) and table is not None
        joint = kind.joint(table.n_rows)
        with_child = self._set_scores(joint, [with_added(own, 1 << x) for x, own in enumerate(families)])
        below = [kind.below(table.n_rows, int(table.arities[column])) for column in self.scores.columns]
        without = (
            self._set_scores(joint, families)
            if below[0] is None
            else [
                self._set_scores(formula, [own])[0]
                for formula, own in zip(below, families, strict=True)
                if formula is not None
            ]
        )
        return [above - under for above, under in zip(with_child, without, strict=True)]

    def _set_scores(self, formula: _core.SetFormula, sets: Sequence[Masks]) -> list[Floats]:
        scores = self.scores
        assert scores.table is not None and scores.kind is not None
        limit = scores.max_parents if scores.compiled is None else scores.compiled.limit_on_parents(scores.max_parents)
        total = 0.0 if scores.report is None else scores.report.total
        elsewhere = None
        if scores.table.chunks is not None:
            elsewhere = counted_in_chunks(scores.table, scores.columns, limit, self.run)
        task = ScoringTask(scores.table, scores.columns, scores.kind, limit, elsewhere=elsewhere, total=total)
        question = pruning_question(task, self.run)
        joined = np.concatenate(sets)
        _, first, places = np.unique(search_keys(joined), return_index=True, return_inverse=True)
        values = grid_scores(view_of(task), question, formula, joined[first])[1]
        return np.split(values[places], np.cumsum([len(own) for own in sets])[:-1])

    def _anew(self, reach: float) -> ListStore | None:
        wide = widened(self.scores, reach, self.run, listed=True)
        return None if wide is None else wide.store.listed

    def _listed(self, epsilons: Sequence[float]) -> ListStore | None:
        """From scores of all families."""
        core = self.scores.store.core()

        def own(x: int) -> OwnFamilies | None:
            return None if self.run.is_over else _core.families_worth_keeping(core, x, epsilons[x])

        with ThreadPoolExecutor(self.run.threads) as pool:
            found = [families for families in pool.map(own, range(len(epsilons))) if families is not None]
        return ListStore.of(self.names, found) if len(found) == len(epsilons) else None


def _finite(masks: Masks, values: Floats) -> OwnFamilies:
    is_scored = values > -math.inf
    return masks[is_scored], values[is_scored]
