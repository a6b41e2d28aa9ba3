"""Rows and lists by rows, one claim at a time: rows hold for allowed networks, lists take what comes in any order."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from constraint_draws import compiled, drawn_constraints, listed
from strategies import sampled_table

import topdag as td
from topdag._util.run import Run
from topdag.constrained.clauses import Clause, Clauses
from topdag.search.costs import Families
from topdag.search.partition.listed import Kind, Listed

NETWORKS_OF_FOUR = list(map(tuple, reference.all_networks(4)))


@pytest.mark.parametrize("seed", range(30))
def test_rows_hold_for_every_allowed_network(seed: int) -> None:
    """Those that any weights break, and those of every set of variables."""
    rng = np.random.default_rng(seed)
    scores = td.score(sampled_table(4, 60, seed), td.BIC(), keep="all")
    known = compiled(drawn_constraints(scores.names, 300 + seed), scores.names)
    families, clauses = Families.of_store(listed(scores)), Clauses(known)
    sets = range(1, 16)
    rows: set[Clause] = {row for members in sets if (row := clauses.first_of(members)) is not None}
    for _ in range(20):
        weights = rng.dirichlet(np.full(8, 0.2), 4).reshape(-1)  # of the eight families of each variable
        rows.update(clauses.broken(families, weights, sets))
    own = np.array([families.places(masks) for masks in NETWORKS_OF_FOUR if known.allows(masks)])
    for row in rows:
        assert (own & row.marks(families)).any(axis=1).all(), row


@pytest.mark.parametrize("seed", range(20))
def test_a_list_takes_networks_in_any_order(seed: int) -> None:
    """Ties at its end may be lost, better ones never."""
    rng = np.random.default_rng(seed)
    scores = td.score(sampled_table(4, 20, seed), td.BIC(), keep="all")
    store = listed(scores)
    known = compiled(drawn_constraints(scores.names, 300 + seed), scores.names)
    families, wanted, of_classes = Families.of_store(store), int(rng.integers(1, 30)), bool(rng.random() < 0.5)
    own, allowed = {masks: families.places(masks) for masks in NETWORKS_OF_FOUR}, Clauses(known).admitted(families)
    costs = {masks: float(families.costs[at].sum()) for masks, at in own.items() if allowed[at].all()}
    kind = Kind.CLASSES if of_classes else Kind.NETWORKS
    found = Listed(store, Run(), kind, wanted, np.inf, known.rest.allows)
    for place in rng.permutation(len(costs)).tolist():
        masks = list(costs)[place]
        found.offer(costs[masks], list(masks))
    satisfying = {masks: cost for masks, cost in costs.items() if known.allows(masks)}
    assert best_costs(dict(found.found), of_classes, wanted) == pytest.approx(
        best_costs(satisfying, of_classes, wanted)
    )


def best_costs(networks: dict[tuple[int, ...], float], of_classes: bool, wanted: int) -> list[float]:
    best: dict[object, float] = {}
    for masks, cost in sorted(networks.items(), key=lambda own: own[1]):
        best.setdefault(reference.equivalence_key(masks) if of_classes else masks, cost)
    return sorted(best.values())[:wanted]
