"""Where several networks are best: what each question and each engine may answer [docs/explanation/method.md, ties]."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from strategies import WAYS, table_of

import topdag as td

TIED = 1 + 1e-6
TABLES = ("dense lattice", "block lattice")
SEARCHES = ("search", "order search", "branch and cut", "branching")
PRIORS = {"none": None, "fair": td.FairPrior(), "orders": td.OrderModular()}


def some_table(seed: int) -> td.Table:
    """Few rows, columns alike or nearly so: most of these tables have several best networks."""
    rng = np.random.default_rng(seed)
    arities = rng.integers(2, 4, 5).tolist()
    return table_of(WAYS[seed % len(WAYS)](rng, (5, int(rng.choice([8, 15, 40]))), arities), arities)


def best_by(scores: td.types.Scores, **way: Any) -> td.Network:
    answer = td.best_network(scores, **way)
    assert answer.proof.status is td.types.Status.PROVED and answer.network is not None
    return answer.network


def has_superfluous_parent(scores: td.types.Scores, network: td.Network) -> bool:
    return any(
        scores.local(name, [p for p in parents if p != parent]) >= scores.local(name, parents)
        for name, parents in network.parents.items()
        for parent in parents
    )


@pytest.mark.parametrize("kind", [td.BDeu(), td.BIC(), td.K2()], ids=repr)
@pytest.mark.parametrize("part", range(4))
def test_every_engine_gives_one_of_those_that_tie(kind: Any, part: int) -> None:
    for seed in range(4 * part, 4 * part + 4):
        table = some_table(seed)
        scores, listed = td.score(table, kind), td.score(table, kind, keep="best")
        tied = td.networks_within(scores, TIED)
        every = set(tied)
        by_tables = {engine: best_by(scores, engine=engine) for engine in TABLES}
        by_search = {engine: best_by(listed, engine=engine) for engine in SEARCHES}
        assert len(set(by_tables.values())) == 1
        for network in (*by_tables.values(), *by_search.values()):
            assert network in every, (seed, network)
        for network in by_tables.values():
            assert not has_superfluous_parent(scores, network)
        assert td.k_best_networks(scores, 1)[0] == tied[0] == td.search_networks(scores, 1)[0]


@pytest.mark.parametrize("prior", PRIORS)
def test_the_first_of_a_list_scores_as_the_best(prior: str) -> None:
    differ = 0
    for seed in range(30):
        scores = td.score(some_table(seed), td.BDeu())
        best, again = (td.best_network(scores, prior=PRIORS[prior], threads=threads) for threads in (1, 2))
        top, more = (td.k_best_networks(scores, k, prior=PRIORS[prior], threads=k) for k in (1, 2))
        assert best.network == again.network
        assert top[0] == more[0]
        assert top.scores[0] == pytest.approx(best.score, abs=1e-7)
        tied = td.networks_within(scores, TIED, prior=PRIORS[prior])
        assert best.network in set(tied) and top[0] == tied[0]
        differ += best.network != top[0]
    assert differ or prior != "none"  # else say that they are the same
