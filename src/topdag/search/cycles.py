"""Branch and bound over cycles on listed families: the best network with a proof, or network and bound at any moment.

As published by de Campos, Zeng & Ji (2009, section 4); the core has the search. Knowledge about single variables'
parents is in the lists already. Rules across variables, paths and orders are looked at in every case: what a case
leaves no choice about is settled in it, one that nothing can satisfy goes, and where the best families break something,
cycles or not, the case is split by it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from topdag import _core
from topdag._util.run import Run
from topdag._util.stop import Stop
from topdag.search.costs import SEED
from topdag.search.engines import SHARE_OF_MEMORY, Outcome
from topdag.search.stores import ListStore

ORDERS = 1_000
"""Random orders that give the first network, which local search then improves."""
FIRST_CLIMBS = 30


def first_network(
    store: ListStore, run: Run, rules: _core.CaseRules | None = None
) -> tuple[float, tuple[int, ...]] | None:
    """Cost and parents of a good network: the best of random orders and of climbs; None when none is found.

    Orders are drawn so that each variable has a family that fits, whatever the families left by constraints are; so
    without ``rules`` there is none at all. With rules, what a network breaks is mended.
    """
    candidates = store.candidates
    if rules is not None:
        cost, parents = _core.sample_satisfying(candidates, rules, ORDERS, FIRST_CLIMBS, SEED, run.limits)
        return None if cost == math.inf else (cost, tuple(parents))
    sampled = _core.sample_orders(candidates, ORDERS, SEED, True, run.limits)
    if sampled[0] == math.inf:
        return None
    climbed = _core.climb_orders(candidates, FIRST_CLIMBS, SEED, run.limits)
    cost, parents = min(sampled, climbed, key=lambda network: network[0])
    return cost, tuple(parents)


def branch_on_cycles(
    store: ListStore,
    run: Run,
    incumbent: tuple[float, Sequence[int]] | None = None,
    *,
    rules: _core.CaseRules | None = None,
    steps: int | None = None,
) -> Outcome:
    """The best network within the limits of ``run``; when memory is short, cases are taken up depth first.

    Its work: cases taken up (``steps``), put into the queue, and those whose best families were a network.

    ``incumbent``: cost and parents of a network to begin with. ``rules``: what the network must satisfy besides
    what its families do. ``steps``: about so many cases are taken up at most.
    """
    first = first_network(store, run, rules)
    if first is None and rules is None:
        return Outcome(True, None, math.inf, math.inf, None, {})
    if incumbent is not None and (first is None or incumbent[0] <= first[0]):
        first = incumbent[0], tuple(incumbent[1])
    cost, masks = (math.inf, None) if first is None else first
    memory = int(SHARE_OF_MEMORY * run.allowed_memory)
    begin = run.seconds
    found = _core.branch_on_cycles(
        store.candidates,
        rules or _core.CaseRules(store.n),
        cost,
        steps,
        memory,
        run.limits,
    )
    run.memory = max(run.memory, found.bytes)
    run.timed("searching", begin)
    limit = None if found.finished else run.limit if run.is_over else Stop.STEPS
    return Outcome(
        found.finished,
        tuple(found.parents) or masks,
        found.cost,
        found.bound,
        limit,
        {"steps": found.steps, "cases": found.made, "networks": found.networks},
    )
