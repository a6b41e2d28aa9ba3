"""Scores, networks and fitted probabilities under parameter constraints, against brute force."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import brute_force
import numpy as np
import pytest
from given_sizes import give_sizes
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import table_of

import topdag as td
from topdag._util.run import Run
from topdag.answers.check import check_network
from topdag.scoring.keep import Keep
from topdag.scoring.score import score_within

pytest.importorskip("clarabel", reason="the extra 'parameters' is not installed")


def drawn_table(seed: int, arities: Sequence[int] = (2, 2, 3, 2), rows: int = 60) -> td.Table:
    """Columns that follow the one before, half of them backwards, so that signs are often broken."""
    rng = np.random.default_rng(seed)
    codes = np.array([rng.integers(0, arity, rows) for arity in arities])
    for v in range(1, len(arities)):
        copied = rng.random(rows) < 0.4
        turned = codes[v - 1, copied] if v % 2 else arities[v - 1] - 1 - codes[v - 1, copied]
        codes[v, copied] = turned % arities[v]
    return table_of(codes, arities)


SETS = {
    "influence": [td.probabilities.influence("V0", "V1", "-")],
    "two children": [td.probabilities.influence("V0", "V1", "-"), td.probabilities.influence("V1", "V2", "+")],
    "two signs": [td.probabilities.influence("V0", "V3", "+"), td.probabilities.influence("V2", "V3", "-")],
    "bounds and synergy": [
        td.probabilities.synergy(["V0", "V1"], "V3", "+"),
        td.probabilities.probability("V2", 0) <= 0.3,
    ],
    "nothing": [],
}


def all_values(kind: td.probabilities.Constrained, table: td.Table) -> np.ndarray:
    """values[x, mask] from the definition: minus infinity without the named parents."""
    n = table.n_variables
    values = np.full((n, 2**n), -math.inf)
    for x, mask in itertools.product(range(n), range(2**n)):
        if not mask >> x & 1:
            values[x, mask] = kind.local(table, x, [v for v in range(n) if mask >> v & 1])
    return values


@pytest.fixture(params=[False, True], ids=["tables", "lists"])
def listed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Small tables are scored family by family; with lists, as large ones are."""
    if request.param:
        give_sizes(monkeypatch, few_with_parameters=1)
    return bool(request.param)


@pytest.mark.parametrize("said", SETS.values(), ids=SETS)
@pytest.mark.parametrize("base", [td.BIC(), td.AIC()], ids=repr)
@pytest.mark.parametrize("keep", [None, "best", td.Within(20), td.KBest(4), "all"], ids=repr)
@pytest.mark.usefixtures("listed")
def test_best_networks_by_brute_force(
    said: list[td.probabilities.ParameterConstraint], base: object, keep: Keep | None
) -> None:
    table = drawn_table(len(said) + 3)
    kind = td.probabilities.Constrained(base, said)  # type: ignore[arg-type]
    values = all_values(kind, table)
    truth = np.sort(brute_force.network_scores(values, brute_force.networks(4)))[::-1]
    scores = td.score(table, kind, keep=keep)
    answer = td.best_network(scores)
    assert answer.proof.status is td.types.Status.PROVED
    assert answer.network.score == pytest.approx(truth[0], abs=1e-8)
    assert all(name in answer.network.parents[rule.child] for rule in said for name in rule.parents)
    assert check_network(answer.network, table, kind).problems == ()
    if scores.automatic or scores.is_kept(most=4):
        assert [found.score for found in td.k_best_networks(scores, 4)] == pytest.approx(truth[:4].tolist(), abs=1e-8)
    if scores.automatic or scores.is_kept(factor=20):
        found = td.networks_within(scores, 20)
        assert len(found) == int((truth >= truth[0] - math.log(20)).sum())


@pytest.mark.parametrize("said", SETS.values(), ids=SETS)
@pytest.mark.usefixtures("listed")
def test_all_questions_see_the_same_networks(said: list[td.probabilities.ParameterConstraint]) -> None:
    """Scores chosen for the table serve every question, by scoring again where that needs more."""
    table = drawn_table(9)
    kind = td.probabilities.Constrained(td.BIC(), said)
    scores = td.score(table, kind)
    values = brute_force.network_scores(all_values(kind, table), brute_force.networks(4))
    values = np.sort(values[np.isfinite(values)])[::-1]
    many = min(30, len(values))
    assert td.search_networks(scores, many).scores == pytest.approx(values[:many].tolist(), abs=1e-8)
    assert td.k_best_networks(scores, many).scores == pytest.approx(values[:many].tolist(), abs=1e-8)
    assert td.count_networks_within(scores, 1e3) == int((values >= values[0] - math.log(1e3)).sum())
    assert td.log_evidence(scores) == pytest.approx(float(np.logaddexp.reduce(values)), abs=1e-6)
    orders = td.best_network(scores, prior=td.OrderModular())
    assert orders.score == pytest.approx(
        td.best_network(td.score(table, kind, keep="all"), prior=td.OrderModular()).score
    )
    edges = td.edge_posteriors(scores)
    assert all(edges[parent, rule.child] == pytest.approx(1.0) for rule in said for parent in rule.parents)


@pytest.mark.usefixtures("listed")
def test_family_bounds() -> None:
    scores = td.score(drawn_table(9), td.probabilities.Constrained(td.BIC(), SETS["two signs"]))
    best = td.best_network(scores).network
    for name in best.names:
        assert scores.family_bound(name, best.parents[name]) == pytest.approx(best.score, abs=1e-8)
    assert scores.family_bound("V3", ["V0"]) == -math.inf


@pytest.mark.parametrize("keep", ["all", "best"])
def test_few_allowed_families_are_listed_with_what_they_lose(keep: Keep, monkeypatch: pytest.MonkeyPatch) -> None:
    """As with more than 20 variables, where structure leaves few families of all that were scored."""
    table = drawn_table(11, (2, 3, 2, 2, 3, 2), rows=120)
    about = [td.probabilities.influence("V1", "V4", "+"), td.probabilities.influence("V0", "V2", "-")]
    kind = td.probabilities.Constrained(td.BIC(), about)
    known = td.Constraints(forbidden_edges=[("V5", "*")])
    whole = td.score(table, kind, constraints=known, keep=keep)
    give_sizes(monkeypatch, small=0)
    listed = td.score(table, kind, constraints=known, keep=keep)
    assert listed.store.is_listed
    for name in table.names:
        assert dict(listed.families(name)) == dict(whole.families(name))
    assert td.best_network(listed).score == td.best_network(whole).score


@pytest.mark.parametrize("seed", [11, 12])
def test_lists_hold_what_tables_hold(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    table = drawn_table(seed, (2, 3, 2, 2, 3, 2), rows=120)
    kind = td.probabilities.Constrained(
        td.BIC(), [td.probabilities.influence("V1", "V4", "+"), td.probabilities.influence("V0", "V2", "-")]
    )
    for keep in ("best", td.Within(50)):
        whole = td.score(table, kind, keep=keep)
        give_sizes(monkeypatch, few_with_parameters=1)
        listed = td.score(table, kind, keep=keep)
        monkeypatch.undo()
        assert listed.report is not None and whole.report is None
        for name in table.names:
            own, other = dict(whole.families(name)), dict(listed.families(name))
            assert own.keys() == other.keys()
            assert other == pytest.approx(own, abs=1e-8)


def test_limits_on_parents(listed: bool) -> None:
    table = drawn_table(5)
    kind = td.probabilities.Constrained(td.BIC(), SETS["two signs"])
    best = td.best_network(td.score(table, kind, max_parents=2)).network
    assert set(best.parents["V3"]) == {"V0", "V2"}
    with pytest.raises(td.ScoreError, match="name 2 parents, more than the 1"):
        td.score(table, kind, max_parents=1)
    assert listed == (td.score(table, kind).report is not None)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(sorted(SETS)), st.integers(0, 7))
def test_constraints_never_raise_a_score(seed: int, name: str, further: int) -> None:
    table, said = drawn_table(seed, rows=25), SETS[name]
    kind = td.probabilities.Constrained(td.BIC(), said)
    for child in sorted({rule.child for rule in said}):
        x = table.names.index(child)
        others = [v for v in range(4) if v != x]
        named = {table.names.index(parent) for rule in said if rule.child == child for parent in rule.parents}
        parents = [v for i, v in enumerate(others) if further >> i & 1 or v in named]
        assert -math.inf < kind.local(table, x, parents) <= td.BIC().local(table, x, parents)
        lacking = [v for v in others if v not in named]
        assert (kind.local(table, x, lacking) == -math.inf) == bool(named)


def test_satisfied_constraints_cost_nothing_bit_for_bit() -> None:
    """Signs read off the counts, so that every configuration of the others agrees with them."""
    rng = np.random.default_rng(2)
    codes = np.array([rng.integers(0, 2, 4000), rng.integers(0, 3, 4000), np.zeros(4000, dtype=np.int64)])
    codes[2] = rng.random(4000) < 0.2 + 0.3 * codes[0] + 0.15 * codes[1]
    table = table_of(codes, (2, 3, 2))
    said = [
        td.probabilities.influence("V0", "V2", "+"),
        td.probabilities.influence("V1", "V2", "+"),
        td.probabilities.probability("V2", 1) >= 0.1,
    ]
    kind = td.probabilities.Constrained(td.BIC(), said)
    assert kind.local(table, 2, [0, 1]) == td.BIC().local(table, 2, [0, 1])
    one = td.probabilities.Constrained(td.AIC(), said[:1])
    for parents in ([0], [0, 1]):
        assert one.local(table, 2, parents) == td.AIC().local(table, 2, parents)


def test_further_parents_are_fitted_configuration_by_configuration() -> None:
    """A chain under each state of another parent, by hand."""
    rows = [(0, 0, 1, 3), (0, 0, 0, 1), (0, 1, 1, 1), (0, 1, 0, 3), (1, 0, 1, 1), (1, 0, 0, 4), (1, 1, 1, 5)]
    codes = np.array([row[:3] for row in rows]).T
    table = table_of(codes, (2, 2, 2), weights=[row[3] for row in rows])
    said = [td.probabilities.influence("V1", "V2", "+")]
    network = td.Network(table.names, {"V2": ["V1", "V0"]})
    fitted = td.probabilities.constrained_fit(network, table, said)
    axes = list(network.parents["V2"])
    p = fitted.tables["V2"][..., 1].transpose([axes.index("V0"), axes.index("V1")])
    assert p == pytest.approx(np.array([[0.5, 0.5], [0.2, 1.0]]))
    loss = 3 * math.log(0.75 / 0.5) + math.log(0.25 / 0.5) + math.log(0.25 / 0.5) + 3 * math.log(0.75 / 0.5)
    local = td.probabilities.Constrained(td.BIC(), said).local(table, 2, [0, 1])
    assert local == pytest.approx(td.BIC().local(table, 2, [0, 1]) - loss, abs=1e-12)


@pytest.mark.parametrize("said", SETS.values(), ids=SETS)
def test_fitted_tables_reach_the_score(said: list[td.probabilities.ParameterConstraint]) -> None:
    table = drawn_table(8)
    kind = td.probabilities.Constrained(td.BIC(), said)
    network = td.best_network(td.score(table, kind)).network
    fitted = td.probabilities.constrained_fit(network, table, said)
    names = table.names
    reached = math.fsum(
        weight * fitted.log_probability(dict(zip(names, row, strict=True))) for row, weight in table.rows()
    )
    free = sum(fitted.tables[name].size - fitted.tables[name][..., 0].size for name in names)
    assert reached - math.log(table.n_rows) / 2 * free == pytest.approx(network.score, abs=1e-6)
    for rule in said:
        further = [name for name in network.parents[rule.child] if name not in rule.parents]
        axes = [*network.parents[rule.child], rule.child]
        p = fitted.tables[rule.child].transpose([axes.index(name) for name in (*further, *rule.parents, rule.child)])
        for slice_ in p.reshape(-1, *p.shape[len(further) :]):
            for row in rule.rows(fitted.states):
                total = sum(weight * slice_[cell] for cell, weight in row.terms)
                assert total <= row.bound + 1e-8 and (not row.is_equal or total >= row.bound - 1e-8)


def test_what_cannot_be_is_refused() -> None:
    table = drawn_table(3)
    kind = td.probabilities.Constrained(td.BIC(), SETS["influence"])
    with pytest.raises(td.ScoreError, match="Ask for networks instead"):
        td.k_best_classes(td.score(table, kind), 2)
    with pytest.raises(td.NetworkError, match="must have in the network: V0"):
        td.probabilities.constrained_fit(td.Network(table.names, {}), table, SETS["influence"])
    constant = td.Table({"a": [0, 0, 0], "b": [0, 1, 1]}, states={"a": [0]})
    with pytest.raises(td.ScoreError, match="'a', a constant column"):
        td.score(constant, td.probabilities.Constrained(td.BIC(), [td.probabilities.influence("a", "b", "+")]))


@pytest.mark.usefixtures("listed")
def test_a_time_limit_is_kept() -> None:
    table, kind = drawn_table(4), td.probabilities.Constrained(td.BIC(), SETS["two children"])
    assert score_within(table, kind, Run(time_limit=0)) is None
    scores = td.score(table, kind)
    answer = td.best_network(scores, time_limit=0)
    assert answer.proof.status is td.types.Status.STOPPED
    assert answer.proof.bound >= td.best_network(scores).network.score


STRUCTURES = {
    "forbidden": td.Constraints(forbidden_edges=[("V2", "V3")], max_parents=2),
    "required": td.Constraints(required_edges=[("V3", "V2")]),
    "path": td.Constraints(ancestors=[("V0", "V2")]),
    "rule": td.Constraints(rules=["V0->V3 or V3->V2"]),
}


@pytest.mark.parametrize("known", STRUCTURES.values(), ids=STRUCTURES)
@pytest.mark.usefixtures("listed")
def test_structural_constraints_beside_them(known: td.Constraints) -> None:
    table, said = drawn_table(21), SETS["influence"]
    kind = td.probabilities.Constrained(td.BIC(), said)
    every = brute_force.networks(4)
    networks = [td.Network.from_masks(table.names, [int(mask) for mask in row]) for row in every]
    obeys = np.array([known.allows(network) for network in networks])
    truth = np.sort(brute_force.network_scores(all_values(kind, table), every)[obeys])[::-1]
    scores = td.score(table, kind, constraints=known)
    answer = td.best_network(scores)
    assert answer.proof.status is td.types.Status.PROVED
    assert answer.score == pytest.approx(truth[0], abs=1e-8)
    assert td.k_best_networks(scores, 5).scores == pytest.approx(truth[:5].tolist(), abs=1e-8)
    assert "influence(V0, V1, -)" in answer.proof.space and "parameter constraints" in answer.proof.space


def test_named_parents_that_structure_forbids() -> None:
    kind = td.probabilities.Constrained(td.BIC(), SETS["influence"])
    with pytest.raises(td.ConstraintError, match=r"V0->V1 is forbidden, but influence\(V0, V1, -\)"):
        td.score(drawn_table(3), kind, constraints=td.Constraints(forbidden_edges=[("V0", "V1")]))
