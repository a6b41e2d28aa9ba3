"""Branching on cycles under what is known of several variables at once: trees of facts, paths, orders."""

from __future__ import annotations

import math
from collections.abc import Sequence

from topdag import _core
from topdag._util.run import Run
from topdag._util.stop import Stop
from topdag.constrained.found import Found, Network
from topdag.knowledge.closure import bits
from topdag.knowledge.compiled import CompiledConstraints
from topdag.knowledge.rules import (
    Adjacent,
    AllOf,
    AnyOf,
    Edge,
    IfThen,
    Not,
    NumberOfParents,
    Rule,
)
from topdag.search.cycles import branch_on_cycles
from topdag.search.stores import ListStore

MOST_VARIABLES = 64
FEW_STEPS = 20_000
"""Until a network worth enough must have been met, where longer lists can be had."""
ENGINE = "branching on cycles and rules"


def case_rules(n: int, known: CompiledConstraints) -> _core.CaseRules:
    """Of n variables."""
    rules = _core.CaseRules(n)
    rules.put_before([(early, x) for x, mask in enumerate(known.before) for early in bits(mask)])
    rules.put_before(known.rest.precedence)
    rules.require_paths(known.rest.paths)
    rules.forbid_paths(sorted(known.rest.every_no_path))
    writer = _Writer(rules, known.names)
    for rule in known.rest.rules:
        rules.require(writer.number_of(rule, wanted=True))
    return rules


class _Writer:
    """Puts rules down without negations: these go to the facts."""

    def __init__(self, rules: _core.CaseRules, names: Sequence[str]) -> None:
        self.rules = rules
        self.place = {name: v for v, name in enumerate(names)}

    def number_of(self, rule: Rule, *, wanted: bool) -> int:
        """The number of the rule, or of its opposite unless it is ``wanted``."""
        match rule:
            case Edge(parent, child):
                return self._edge(parent, child, wanted)
            case Adjacent(one, other):
                return self._joined([self._edge(one, other, wanted), self._edge(other, one, wanted)], any_=wanted)
            case NumberOfParents(variable):
                counts = sum(1 << count for count in range(MOST_VARIABLES) if rule.admits(count) is wanted)
                return self.rules.count_in(self.place[variable], counts)
            case Not(part):
                return self.number_of(part, wanted=not wanted)
            case IfThen(condition, consequence):
                return self.number_of(AnyOf((Not(condition), consequence)), wanted=wanted)
            case AnyOf(parts) | AllOf(parts):
                own = [self.number_of(part, wanted=wanted) for part in parts]
                return self._joined(own, any_=isinstance(rule, AnyOf) is wanted)
        raise TypeError(f"{rule!r} is no rule")

    def _edge(self, parent: str, child: str, wanted: bool) -> int:
        put = self.rules.some_of if wanted else self.rules.none_of
        return put(self.place[child], 1 << self.place[parent])

    def _joined(self, parts: list[int], *, any_: bool) -> int:
        return self.rules.any_of(parts) if any_ else self.rules.all_of(parts)


def search_by_cycles(
    store: ListStore,
    known: CompiledConstraints,
    run: Run,
    start: Network | None = None,
    most: float = math.inf,
    wanted: float = -math.inf,
) -> Found:
    """The best network of listed families that obeys; when the run is over, what is known by then.

    ``start``: a network of such families that obeys; ``most``: no network is worth more. While none worth ``wanted`` is
    met, the search ends after a few steps.
    """
    best = float(sum(store.best_scores))
    value = -math.inf if start is None else sum(map(store.value, range(store.n), start))
    incumbent = None if start is None else (best - value, start)
    rules = case_rules(store.n, known)
    found = branch_on_cycles(store, run, incumbent, rules=rules, steps=FEW_STEPS if wanted > -math.inf else None)
    if found.limit is Stop.STEPS and found.masks is not None and best - found.cost >= wanted:
        found = branch_on_cycles(store, run, (found.cost, found.masks), rules=rules)
    networks = {} if found.masks is None else {found.masks: best - found.cost}
    limit = None if found.limit is Stop.STEPS else found.limit
    return Found(networks, min(most, best - found.bound), limit, parts=found.work["steps"], engine=ENGINE)
