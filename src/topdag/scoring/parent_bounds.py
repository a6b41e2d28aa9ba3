"""How many parents each variable of a table can need, for BIC: the least that any rule of ``mdl_theorems`` proves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from types import MappingProxyType
from typing import Any, Unpack

import numpy as np

from topdag._util.brief import brief
from topdag.data.convert import Reading, as_table
from topdag.data.table import Table
from topdag.errors import ScoreError, TooLarge
from topdag.scoring.keep import KBest, Keep, Within, keep_epsilon
from topdag.scoring.kinds.discrete import BIC, KindLike
from topdag.scoring.kinds.for_table import scored_as
from topdag.scoring.mdl_theorems import NBestParents, algorithm_2, corollary_8, cost_bound, theorem_2, theorem_6
from topdag.scoring.score import score
from topdag.search.family_lists import FamilyLists

MOST_FOR_ALGORITHM_2 = 26
"""It needs the best families of all variables, found by scoring the table: with more variables that takes too long."""


@dataclass(frozen=True)
class ParentBound:
    """No more than ``limit`` parents are needed. ``rule``: what proves it; "none" when nothing does."""

    limit: int
    rule: str


@brief
def parent_bounds(
    table: Any, kind: KindLike, keep: Keep, *, threads: int | None = None, **reading: Unpack[Reading]
) -> Mapping[str, ParentBound]:
    """How many parents each variable needs at most.

    ``keep="best"``: some best network has no more. ``KBest(k)``: no network that scores as much as the k-th best
    network, or class, has more. ``Within(factor)``: no network within this Bayes factor of the best has more. For
    BIC only. Families are scored only where Algorithm 2 may help, up to the size that best families have.

    >>> import topdag as td
    >>> parent_bounds(td.example_table(), td.BIC(), "best")["dysp"]
    ParentBound(limit=6, rule='theorem 2')
    """
    table, scored_by = scored_as(as_table(table, reading), kind or BIC())
    if not isinstance(scored_by, BIC):
        raise ScoreError(f"Bounds on the number of parents are known for BIC() only, not for {scored_by!r}.")
    scored_by.require_columns(table)
    table.require_no_experiments("parent_bounds")
    keep_epsilon(keep)  # checks it
    facts = [VariableFacts.of(table, x) for x in range(table.n_variables)]
    bounds = [bound_before_scoring(fact, keep) for fact in facts]
    if isinstance(keep, KBest):
        bounds = _improved_by_algorithm_2(table, facts, bounds, keep.k, threads)
    return MappingProxyType(dict(zip(table.names, bounds, strict=True)))


@dataclass(frozen=True)
class VariableFacts:
    """What the rules see of a variable. ``entropy``: nats per row; ``others``: the arities of its possible parents."""

    n_rows: int
    arity: int
    entropy: float
    others: tuple[int, ...]
    takes_part: bool

    @classmethod
    def of(cls, table: Table, x: int) -> VariableFacts:
        arities = table.arities.tolist()
        others = tuple(a for v, a in enumerate(arities) if v != x and (table.keep_constant or a > 1))
        own = table.of_columns([x])
        shares = np.bincount(own.codes[0], weights=own.weights) / table.n_rows
        entropy = -math.fsum(p * math.log(p) for p in shares.tolist() if p > 0)
        return cls(table.n_rows, arities[x], entropy, others, table.keep_constant or arities[x] > 1)

    @property
    def n_constant(self) -> int:
        """Parents with one state: in lists, networks with and without them tie, so any number of them is needed."""
        return self.others.count(1)

    def bound(self, limit: float, rule: str) -> ParentBound:
        return ParentBound(int(limit), rule) if limit < len(self.others) else ParentBound(len(self.others), "none")


def bound_before_scoring(fact: VariableFacts, keep: Keep) -> ParentBound:
    """The least bound of the rules that need no scores."""
    if not fact.takes_part:
        return ParentBound(0, "constant")
    if keep == "best" and fact.entropy == 0:
        return ParentBound(0, "constant")  # nothing to explain
    if keep == "all" or fact.arity == 1:
        return fact.bound(math.inf, "none")
    limit, rule = min(_rules(fact, keep), key=lambda found: found[0])
    return fact.bound(limit if keep == "best" else limit + fact.n_constant, rule)


def _rules(fact: VariableFacts, keep: Keep) -> list[tuple[float, str]]:
    """Bounds on the number of parents with two states or more."""
    n_rows, k = fact.n_rows, keep.k if isinstance(keep, KBest) else 1
    epsilon = keep_epsilon(keep) if isinstance(keep, Within) else 0.0
    cost = cost_bound(n_rows, fact.entropy, fact.arity, fact.others, k=k, epsilon=epsilon)
    if not isinstance(keep, KBest):
        return [(theorem_2(n_rows, epsilon), "theorem 2"), (cost, "cost")]
    alone = max(corollary_8(n_rows, fact.arity, ()), k.bit_length()) - 1  # as Theorem 6, with alpha
    return [(theorem_6(n_rows, k), "theorem 6"), (alone, "corollary 8"), (cost, "cost")]


def _improved_by_algorithm_2(
    table: Table, facts: Sequence[VariableFacts], bounds: list[ParentBound], k: int, threads: int | None
) -> list[ParentBound]:
    """What Algorithm 2 finds is never below d of the empty set, so some bounds it cannot improve."""
    columns = [x for x, fact in enumerate(facts) if fact.takes_part]
    arities = [facts[x].arity for x in columns]
    hopeful = [
        x for x in columns if corollary_8(table.n_rows, facts[x].arity, ()) - 1 + facts[x].n_constant < bounds[x].limit
    ]
    if not hopeful or len(columns) > MOST_FOR_ALGORITHM_2:
        return bounds
    enough = max(bound_before_scoring(facts[x], "best").limit for x in columns)
    try:
        store = score(table, BIC(), max_parents=enough, keep="best", threads=threads).store
    except TooLarge:
        return bounds
    n_best_parents = best_family_sizes(store.listed.lists)
    for x in hopeful:
        limit = algorithm_2(table.n_rows, arities, n_best_parents, columns.index(x), k) + facts[x].n_constant
        if limit < bounds[x].limit:
            bounds[x] = facts[x].bound(limit, "algorithm 2")
    return bounds


def best_family_sizes(lists: FamilyLists) -> NBestParents:
    """For Algorithms 1 and 2, from lists that hold what best networks can need."""
    masks: list[list[int]] = [lists.masks[begin:end, 0].tolist() for begin, end in pairwise(lists.offsets.tolist())]

    @cache
    def n_best_parents(z: int, available: int) -> int:
        return next(mask.bit_count() for mask in masks[z] if not mask & ~available)  # they stand best first

    return n_best_parents
