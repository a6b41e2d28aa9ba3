"""Every question about a table with missing cells, against all networks and between engines."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import reference
from given_sizes import AS_LISTS, give_sizes
from table_checks import Incomplete

import topdag as td
from topdag.answers.averages import posterior
from topdag.answers.check import check_network
from topdag.answers.summary import summary
from topdag.errors import ScoreError

KINDS = [td.NAL(), td.NAL(penalty="bic"), td.NAL(penalty=0.3)]
CLOSE = 1e-6


@pytest.fixture(params=["all sets", "lists"])
def scored(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "lists":
        give_sizes(monkeypatch, **AS_LISTS)
    return str(request.param)


def totals(drawn: Incomplete, kind: td.NAL, allows: Any = None) -> list[float]:
    """The scores of all networks that are allowed, best first."""
    local = drawn.local(kind)
    every = reference.all_networks(drawn.n)
    return sorted((reference.network_score(local, m) for m in every if allows is None or allows(m)), reverse=True)


@pytest.mark.parametrize("kind", KINDS, ids=repr)
@pytest.mark.parametrize("seed", range(6))
def test_the_best_network(scored: str, seed: int, kind: td.NAL) -> None:
    drawn = Incomplete(seed)
    table, best = drawn.table, totals(drawn, kind)[0]
    answer = td.best_network(table, kind)
    assert answer.proved and answer.score == pytest.approx(best, abs=CLOSE)
    assert check_network(answer.network, table, kind).is_fine


@pytest.mark.parametrize(
    "engine", ["dense lattice", "block lattice", "search", "order search", "branch and cut", "branching"]
)
def test_engines_agree(engine: str) -> None:
    drawn, kind = Incomplete(8, n=5, n_rows=60, share=0.1), td.NAL(penalty="bic")
    scores = td.score(drawn.table, kind, keep="best")
    answer = td.best_network(scores, engine=engine)
    assert answer.score == pytest.approx(td.best_network(drawn.table, kind).score, abs=CLOSE)


@pytest.mark.parametrize("kind", KINDS[:2], ids=repr)
@pytest.mark.parametrize("seed", range(4))
def test_lists(scored: str, seed: int, kind: td.NAL) -> None:
    drawn = Incomplete(seed)
    every = totals(drawn, kind)
    best = td.k_best_networks(drawn.table, 30, kind)
    assert best.proof.status.name == "PROVED"
    assert best.scores.tolist() == pytest.approx(every[:30], abs=CLOSE)
    near = td.networks_within(drawn.table, 50, kind)
    assert len(near) == sum(value >= every[0] - math.log(50) for value in every)
    assert td.count_networks_within(drawn.table, 50, kind) == len(near)


@pytest.mark.parametrize("seed", range(4))
def test_constraints(scored: str, seed: int) -> None:
    drawn, kind = Incomplete(seed), td.NAL()
    known = td.Constraints(required_edges=[("a", "d")], forbidden_edges=[("b", "c")])
    local = totals(drawn, kind, lambda m: m[3] & 1 and not m[2] & 2)
    assert td.best_network(drawn.table, kind, constraints=known).score == pytest.approx(local[0], abs=CLOSE)
    found = td.k_best_networks(drawn.table, 10, kind, constraints=known)
    assert found.scores.tolist() == pytest.approx(local[:10], abs=CLOSE)
    path = td.Constraints(ancestors=[("a", "b")])
    every = totals(drawn, kind, lambda m: reference.descendants(m, 0) >> 1 & 1)
    assert td.best_network(drawn.table, kind, constraints=path).score == pytest.approx(every[0], abs=CLOSE)


def test_parents_that_must_be_count_however_much_they_cost(scored: str) -> None:
    """Where all sets are counted, families without hope beside one without parents are left out; not here."""
    drawn, kind = Incomplete(2, n=5, n_rows=2000, most_states=3), td.NAL(0.1)
    known = td.Constraints(required_edges=[(name, "e") for name in "abcd"])
    own = drawn.local(kind)(4, 15)
    alone = drawn.local(kind)(4, 0)
    assert own < alone - 1000
    answer = td.best_network(drawn.table, kind, constraints=known)
    assert answer.network.local_scores is not None
    assert answer.network.local_scores["e"] == pytest.approx(own, rel=1e-9)


@pytest.mark.parametrize("max_parents", [0, 1, 2])
def test_a_limit_on_parents(scored: str, max_parents: int) -> None:
    drawn, kind = Incomplete(3), td.NAL(penalty=0.3)
    every = totals(drawn, kind, lambda m: max(mask.bit_count() for mask in m) <= max_parents)
    answer = td.best_network(drawn.table, kind, max_parents=max_parents)
    assert answer.score == pytest.approx(every[0], abs=CLOSE)


def test_without_a_penalty_a_limit_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    cells = np.where(rng.random((30, 24)) < 0.1, None, rng.integers(0, 2, (30, 24)).astype(object))
    give_sizes(monkeypatch, **AS_LISTS)
    with pytest.raises(ScoreError, match="Give max_parents"):
        td.best_network(td.Table(cells, missing="keep"), td.NAL(penalty=0))


def test_threads_change_nothing(scored: str) -> None:
    drawn = Incomplete(4, n=6, n_rows=80)
    answers = [td.best_network(drawn.table, "nal", threads=threads) for threads in (1, 2, 3)]
    assert len({(own.score, own.network) for own in answers}) == 1


def test_a_limit_of_time_leaves_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = Incomplete(5, n=8, n_rows=300, share=0.1)
    best = td.best_network(drawn.table, "nal").score
    stopped = td.best_network(drawn.table, "nal", time_limit=1e-9)
    assert not stopped.proved and stopped.proof.bound >= best - CLOSE
    assert stopped.score <= best + CLOSE


def test_interventions_leave_out_rows_too() -> None:
    drawn, kind = Incomplete(13, n=3, n_rows=60, share=0.2), td.NAL(penalty="bic")
    targets = [("b",) if i % 3 == 0 else () for i in range(60)]
    columns = {name: [row[v] for row in drawn.rows] for v, name in enumerate(drawn.names)}
    states = {name: range(arity) for name, arity in zip(drawn.names, drawn.arities, strict=True)}
    weights = drawn.weights
    table = td.Table(columns, missing="keep", weights=weights, states=states, interventions=targets)

    def score(rows: Any, weights: Any, arities: Any, x: int, parents: Any) -> float:
        return reference.node_average_likelihood(rows, weights, arities, x, parents, math.log(sum(weights)) / 2)

    masks = [2 if own else 0 for own in targets]
    local = reference.local_where_not_set(score, drawn.rows, weights, drawn.arities, masks)
    best = max(reference.network_score(local, masks) for masks in reference.all_networks(3))
    assert td.best_network(table, kind).score == pytest.approx(best, abs=CLOSE)


def test_files_of_scores_keep_the_gaps(tmp_path: Path) -> None:
    drawn, path = Incomplete(6), tmp_path / "s.npz"
    scores = td.score(drawn.table, td.NAL(0.3))
    td.io.write_scores(path, scores)
    again = td.io.read_scores(path)
    assert again.table == scores.table and again.kind == scores.kind and again.cutoff == scores.cutoff
    assert td.best_network(again).score == td.best_network(scores).score


def test_a_bootstrap_draws_rows_with_their_gaps() -> None:
    drawn = Incomplete(1)
    found = td.bootstrap(drawn.table, 20, "nal", seed=3)
    assert len(found.draws) == 20
    own = td.bootstrap(drawn.table, 20, "nal", seed=3, threads=1)
    assert (found.matrix == own.matrix).all()


REFUSED: dict[str, Any] = {
    "evidence": td.log_evidence,
    "edges": td.edge_posteriors,
    "paths": td.path_posteriors,
    "parent sets": lambda table, kind: td.parent_set_posteriors(table, "a", kind),
    "samples": lambda table, kind: td.sample_networks(table, 5, kind),
    "effects": lambda table, kind: td.causal_effects(table, "a", "b", kind=kind),
    "of scores": lambda table, kind: td.edge_posteriors(td.score(table, kind, keep="all")),
    "samples of scores": lambda table, kind: td.sample_networks(td.score(table, kind, keep="all"), 5),
    "of a list": lambda table, kind: posterior(td.k_best_networks(table, 5, kind), td.features.edge("a", "b")),
    "effects of a list": lambda table, kind: td.causal_effects(td.k_best_networks(table, 5, kind), "a", "b"),
    "shares": lambda table, kind: td.k_best_networks(table, 5, kind).shares,
}


@pytest.mark.parametrize("share", [0.0, 0.3])
@pytest.mark.parametrize("ask", REFUSED.values(), ids=REFUSED)
def test_what_would_weigh_networks_is_refused_with_the_reason(ask: Any, share: float) -> None:
    with pytest.raises(ScoreError, match="no likelihood"):
        ask(Incomplete(1, share=share).table, td.NAL())


def test_a_list_counts_all_alike() -> None:
    listed = td.k_best_networks(Incomplete(1).table, 4, "nal")
    said = summary(listed)
    assert not said.are_weighed and "all count alike" in str(said)
    assert np.isnan(listed.shares_if_known).all() and "nan" not in str(listed)


def test_classes_are_refused_as_by_other_scores_that_are_not_equivalent() -> None:
    for kind in ("nal", "k2"):
        with pytest.raises(ScoreError, match="equivalent"):
            td.k_best_classes(Incomplete(1, share=0.0).table, 3, kind)
