"""Scores of all families, or of those worth keeping, under parameter constraints.

Only variables that are constrained are scored anew; the families of the others are those of the score without
constraints. That score bounds the constrained one from above, so it decides what need not be optimised.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from topdag import _core
from topdag.constrained_scores import ChildKnowledge, Constrained, knowledge_of
from topdag.engines import FEW, family_bytes, set_bytes
from topdag.errors import ScoreError
from topdag.family_lists import FamilyLists
from topdag.pruned_scoring import RULES, PrunedScores, Pruning, score_pruned
from topdag.pruning import listed_store
from topdag.runs import Run
from topdag.score_kinds import coded
from topdag.scoring import fill_store, round_store, round_together
from topdag.stores import FamilyStore, Floats, ListStore, SetStore, families_of, slots_of
from topdag.table import Table

SLACK = 1e-9
"""Rules that cut leave so much, as a share, for rounding."""


def fill_constrained(
    table: Table, columns: tuple[int, ...], kind: Constrained, max_parents: int, run: Run
) -> FamilyStore | None:
    """Every family's score; None when the time limit came first."""
    known = scored_knowledge(table, columns, kind, max_parents)
    n = len(columns)
    advice = 'Use fewer variables, or keep="best".'
    run.require_memory(
        family_bytes(n) + 3 * set_bytes(n), f"Constrained scores of all families of {n} variables", advice
    )
    base = fill_store(table, columns, kind.base, max_parents, run)
    if base is None:
        return None
    begin, families = run.seconds, np.full(n << n - 1, -math.inf)
    total, done = sum(_n_supersets(n, child, max_parents) for child in known.values()), 0
    for x in range(n):
        if x not in known:
            masks, values = families_of(base, x)
            families[(x << n - 1) + slots_of(masks, x)] = values
            continue
        child = replace(known[x], base=base)
        for mask in _supersets(n, x, child.needed, max_parents):
            if run.is_over:
                return None
            if done % 64 == 0:
                run.tick("counting", done, total)
            done += 1
            slot = int(slots_of(np.array([mask], np.uint64), x)[0])
            families[(x << n - 1) + slot] = child.score(mask)
    run.timed("counting", begin)
    return FamilyStore(n, families)


def score_pruned_constrained(
    table: Table, columns: tuple[int, ...], kind: Constrained, max_parents: int | None, keep: Pruning, run: Run
) -> PrunedScores | None:
    """The families that ``keep`` asks for; None when the time limit came first."""
    n = len(columns)
    limit = n - 1 if max_parents is None else min(max_parents, n - 1)
    known = scored_knowledge(table, columns, kind, limit)
    base, every = _base_lists(table, columns, kind, max_parents, keep, run)
    if base is None:
        return None
    known = {x: replace(child, base=every) for x, child in known.items()}
    lists, offsets = base.store.lists, base.store.lists.offsets
    masks = [lists.masks[begin:end, 0] for begin, end in itertools.pairwise(offsets)]
    scores = [lists.scores[begin:end] for begin, end in itertools.pairwise(offsets)]
    begin, work = run.seconds, []
    for x, child in known.items():
        found = _walked(child, n, limit, keep, run)
        if found is None:
            return None
        masks[x], scores[x] = found.arrays
        work.append(found)
    run.timed("counting", begin)
    together = FamilyLists(
        lists.names,
        np.cumsum([0, *(len(own) for own in scores)]),
        np.concatenate(masks)[:, np.newaxis],
        np.concatenate(scores),
    )
    rounded = together.scores.copy()
    grid = round_together([rounded], n, run.threads)
    return replace(
        base,
        store=ListStore(n, replace(together, scores=rounded), rounded),
        grid=grid,
        limit=max([base.limit, *(found.largest for found in work)]),
        scored=base.scored + sum(found.scored for found in work),
        kept=together.n_families,
    )


def _base_lists(
    table: Table, columns: tuple[int, ...], kind: Constrained, max_parents: int | None, keep: Pruning, run: Run
) -> tuple[PrunedScores | None, SetStore | FamilyStore | None]:
    """What the score without constraints keeps, and all its values where that is quick; None when time is up."""
    n = len(columns)
    if n > FEW or keep.k is not None:
        return score_pruned(table, columns, kind.base, max_parents, keep, run), None
    limit = n if max_parents is None else min(max_parents, n)
    every = fill_store(table, columns, kind.base, limit, run)
    if every is None:
        return None, None
    grid = round_store(every, run)
    core = every.core()
    names = tuple(table.names[v] for v in columns)
    store = listed_store(names, [_core.families_worth_keeping(core, x, keep.epsilon) for x in range(n)])
    uncut = MappingProxyType(dict.fromkeys(RULES, 0))
    return PrunedScores(store, grid, min(limit, n - 1), every.n_families, 2**n, uncut, store.n_families), every


@dataclass(frozen=True, eq=False)
class ScoredChild:
    """A constrained variable among the scored columns; ``needed``: its named parents as a mask over them.

    ``base``: the scores without constraints, where all of them are at hand.
    """

    known: ChildKnowledge
    table: Table
    kind: Constrained
    columns: tuple[int, ...]
    needed: int
    base: SetStore | FamilyStore | None = None

    def parents(self, mask: int) -> list[int]:
        return [v for i, v in enumerate(self.columns) if mask >> i & 1]

    def unconstrained(self, mask: int) -> float:
        """Sets so hopeless that no table holds them are scored too: with named parents they may be needed."""
        held = -math.inf if self.base is None else self.base.value(self.columns.index(self.known.x), mask)
        return self._from_counts(self.parents(mask)) if held == -math.inf else held

    def _from_counts(self, parents: list[int]) -> float:
        """``kind.base.local`` without a view of the table for each family, which takes longer than counting it."""
        view, joint = self._view
        return _core.score_set(view, joint, [*parents, self.known.x]) - _core.score_set(view, joint, parents)

    @cached_property
    def _view(self) -> tuple[_core.CodedTable, _core.SetFormula]:
        return coded(self.table), self.kind.base.joint(self.table.n_rows)

    def score(self, mask: int) -> float:
        return self.unconstrained(mask) - self.loss(mask)

    def loss(self, mask: int) -> float:
        return self.known.loss(self.table, self.parents(mask))

    def penalty(self, mask: int) -> float:
        """What a family pays for its parameters; more parents never pay less."""
        return self.unit_penalty * math.prod(arity for i, arity in enumerate(self.arities) if mask >> i & 1)

    @cached_property
    def arities(self) -> tuple[int, ...]:
        return tuple(len(self.table.states[v]) for v in self.columns)

    @cached_property
    def unit_penalty(self) -> float:
        """What each parent configuration costs."""
        return self.kind.base.least_penalty(self.table.n_rows, len(self.table.states[self.known.x]))

    def most_likely(self) -> float:
        """The log likelihood given all other variables, which no parents exceed."""
        view, formula = coded(self.table), _core.SetFormula(_core.CellKind.N_LOG_N)
        every = list(range(self.table.n_variables))
        others = [v for v in every if v != self.known.x]
        return _core.score_set(view, formula, every) - _core.score_set(view, formula, others)


def scored_knowledge(
    table: Table, columns: tuple[int, ...], kind: Constrained, max_parents: int
) -> dict[int, ScoredChild]:
    """By place among the columns; refused where columns or the limit leave out what constraints name."""
    found = {}
    for x, child in knowledge_of(kind.constraints, table).items():
        if left_out := [table.names[v] for v in (x, *child.named) if v not in columns]:
            raise ScoreError(
                f"Parameter constraints name {left_out[0]!r}, a constant column, which stays isolated; read the table "
                "with keep_constant=True."
            )
        if len(child.named) > max_parents:
            raise ScoreError(
                f"The constraints on {table.names[x]!r} name {len(child.named)} parents, more than the {max_parents} "
                "that max_parents allows."
            )
        needed = sum(1 << columns.index(v) for v in child.named)
        found[columns.index(x)] = ScoredChild(child, table, kind, columns, needed)
    return found


def _supersets(n: int, x: int, needed: int, max_parents: int) -> Iterator[int]:
    """The parent sets of x that hold the needed ones, small ones first."""
    others = [v for v in range(n) if v != x and not needed >> v & 1]
    for size in range(max_parents - needed.bit_count() + 1):
        for more in itertools.combinations(others, size):
            yield needed | sum(1 << v for v in more)


def _n_supersets(n: int, child: ScoredChild, max_parents: int) -> int:
    free = n - 1 - child.needed.bit_count()
    return sum(math.comb(free, size) for size in range(max_parents - child.needed.bit_count() + 1))


@dataclass
class _Walk:
    """The families of one variable kept so far."""

    keep: Pruning
    masks: list[int] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    scored: int = 0
    largest: int = 0
    _held: NDArray[np.uint64] = field(default_factory=lambda: np.zeros(1024, np.uint64))
    _values: Floats = field(default_factory=lambda: np.zeros(1024))

    @property
    def arrays(self) -> tuple[NDArray[np.uint64], Floats]:
        return np.array(self.masks, np.uint64), np.array(self.scores)

    def add(self, mask: int, score: float) -> None:
        count = len(self.masks)
        if count == len(self._held):
            self._held = np.concatenate([self._held, np.zeros_like(self._held)])
            self._values = np.concatenate([self._values, np.zeros_like(self._values)])
        self._held[count], self._values[count] = mask, score
        self.masks.append(mask)
        self.scores.append(score)

    def beats(self, mask: int, most: float) -> bool:
        """Whether the kept subsets show that a family worth ``most`` or less, or a larger one, is not needed."""
        count = len(self.masks)
        inner = self._values[:count][(self._held[:count] & ~np.uint64(mask)) == 0]
        if self.keep.k is not None:
            return int((inner > most).sum()) >= self.keep.k
        margin = max(self.keep.epsilon, 0.0)
        return bool((inner > most + margin).any() if self.keep.epsilon >= 0 else (inner >= most).any())


def _walked(child: ScoredChild, n: int, max_parents: int, keep: Pruning, run: Run) -> _Walk | None:
    """Layer by layer from the needed parents up; sets whose penalty rules out all larger ones end there."""
    walk, x = _Walk(keep), child.columns.index(child.known.x)
    most_likely, total = child.most_likely(), _n_supersets(n, child, max_parents)
    others = [v for v in range(n) if v != x and not child.needed >> v & 1]
    growth = min((child.arities[v] for v in others), default=1)  # one more parent multiplies the penalty by so much
    layer = {child.needed}
    while layer:
        alive: set[int] = set()
        for mask in sorted(layer):
            if run.is_over:
                return None
            if walk.scored % 64 == 0:
                run.tick("counting", walk.scored, total)
            _consider(walk, child, mask)
            if not walk.beats(mask, _raised(most_likely - growth * child.penalty(mask))):
                alive.add(mask)
        layer = _next_layer(alive, others, child.needed) if _size_of(alive) < max_parents else set()
    return walk


def _consider(walk: _Walk, child: ScoredChild, mask: int) -> None:
    """Adds a family unless its score without constraints, or then its score, shows that it is not needed."""
    walk.scored += 1
    most = child.unconstrained(mask)
    if walk.beats(mask, _raised(most)):
        return
    score = most - child.loss(mask)
    if not walk.beats(mask, score):
        walk.add(mask, score)
        walk.largest = max(walk.largest, mask.bit_count())


def _next_layer(alive: set[int], others: list[int], needed: int) -> set[int]:
    """Sets with one variable more, all of whose sets with one less are alive, needed variables apart."""
    found = set()
    for mask in alive:
        highest = (mask & ~needed).bit_length()
        for v in others:
            larger = mask | 1 << v
            if v >= highest and all(larger ^ 1 << w in alive for w in others if larger >> w & 1):
                found.add(larger)
    return found


def _size_of(layer: set[int]) -> int:
    return next(iter(layer)).bit_count() if layer else 0


def _raised(bound: float) -> float:
    return bound + SLACK * (1 + abs(bound))
