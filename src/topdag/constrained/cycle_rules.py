"""Branching on cycles under what is known of several variables at once: trees of facts, paths, orders."""

from __future__ import annotations

import math

from topdag import _core
from topdag._util.bitsets import NARROW, bits
from topdag._util.run import Run
from topdag._util.stop import Stop
from topdag.constrained.found import Found, ParentMasks
from topdag.knowledge.compiled import CompiledConstraints
from topdag.knowledge.normal_form import Literal, ParentCount, folded
from topdag.search.cycles import branch_on_cycles
from topdag.search.stores import ListStore

FEW_STEPS = 20_000
"""Until a network that scores enough must have been found, where longer lists can be had."""
ENGINE = "branching on cycles and rules"


def case_rules(n: int, known: CompiledConstraints) -> _core.CaseRules:
    """Of n variables."""
    rules = _core.CaseRules(n)
    rules.put_before([(early, x) for x, mask in enumerate(known.before) for early in bits(mask)])
    rules.put_before(known.rest.precedence)
    rules.require_paths(known.rest.paths)
    rules.forbid_paths(sorted(known.rest.every_no_path))

    def put(literal: Literal) -> int:
        if isinstance(literal, ParentCount):
            counts = sum(1 << count for count in range(NARROW) if literal.admits(count))
            return rules.count_in(literal.child, counts)
        return (rules.none_of if literal.negated else rules.some_of)(literal.child, literal.variables)

    for rule in known.rest.rules:
        rules.require(
            folded(rule.formula, put, lambda own: rules.all_of(list(own)), lambda own: rules.any_of(list(own)))
        )
    return rules


def search_by_cycles(
    store: ListStore,
    known: CompiledConstraints,
    run: Run,
    start: ParentMasks | None = None,
    most: float = math.inf,
    wanted: float = -math.inf,
) -> Found:
    """The best allowed network of listed families; when the run is over, what is known by then.

    ``start``: an allowed network of such families; ``most``: no network scores more. While none that scores ``wanted``
    is found, the search ends after a few steps.
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
