"""Engines agree under random constraints: tables over all sets, and search on lists as for many variables."""

from __future__ import annotations

import pytest
from constraint_draws import some_constraints
from given_sizes import AS_LISTS, give_sizes
from strategies import sampled_table

import topdag as td
from topdag.answers.results import Status


@pytest.mark.parametrize("seed", range(12))
def test_lists_and_tables_agree(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    table = sampled_table(8 + seed % 3, 150, seed)
    known = some_constraints(table.names, seed)
    dense = td.score(table, td.BIC(), constraints=known)
    true = td.best_network(dense), td.k_best_networks(dense, 12), td.networks_within(dense, 3)
    give_sizes(monkeypatch, small=4, **AS_LISTS)
    listed = td.score(table, td.BIC(), constraints=known)
    assert listed.automatic
    answer = td.best_network(listed)
    assert answer.proof.status is true[0].proof.status is Status.PROVED
    assert answer.score == pytest.approx(true[0].score, abs=1e-6)
    assert answer.network is not None and known.allows(answer.network)
    for found, wanted in zip((td.k_best_networks(listed, 12), td.networks_within(listed, 3)), true[1:], strict=True):
        assert found.proof.status is Status.PROVED and all(known.allows(network) for network in found)
        assert list(found.scores) == pytest.approx(list(wanted.scores), abs=1e-6)
