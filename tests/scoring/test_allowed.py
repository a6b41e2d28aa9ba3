"""Families under constraints: those in lists are those that dominance among allowed families leaves of all."""

from __future__ import annotations

import math
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from given_sizes import AS_LISTS, give_sizes
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import sampled_table

import topdag as td
from topdag.scoring.kinds.discrete import ScoreKind
from topdag.search.reach import FIRST_OF_A_SPLIT
from topdag.search.stores import ListStore, SetStore

NAMES = ("V0", "V1", "V2", "V3", "V4", "V5")
KNOWN: dict[str, dict[str, Any]] = {
    "closed": {"forbidden_edges": [("V0", "V1")], "max_parents": {"V2": 1}},
    "required": {"required_edges": [("V0", "V1"), ("V2", "V1"), ("V3", "V4")]},
    "numbers": {"min_parents": {"V1": 1, "V4": 2}, "max_parents": 3},
    "sets": {"allowed_parent_sets": {"V1": [["V0"], ["V0", "V2"], ["V3", "V4", "V5"]]}, "fixed_parents": {"V5": []}},
    "rules": {"rules": ["parents(V1) == 0 or V0->V1", "if V2->V3 then V4->V3"]},
    "tan": {"max_parents": {"V0": 0, "*": 2}, "rules": ["parents(?) == 0 or V0->?"]},
}
KINDS: tuple[ScoreKind, ...] = (td.BIC(), td.AIC(), td.BDeu(), td.qNML(), td.K2())
KEEPS = ("best", "all", td.Within(5.0), td.KBest(3))


@pytest.fixture
def by_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the variables were too many for tables over all sets."""
    give_sizes(monkeypatch, **AS_LISTS)


def families(scores: td.types.Scores) -> dict[tuple[str, tuple[str, ...]], float]:
    return {(x, parents): value for x in scores.names for parents, value in scores.families(x)}


def dominated(every: dict[tuple[str, tuple[str, ...]], float], keep: Any, slack: float) -> tuple[set[Any], set[Any]]:
    """Families that must go, and those that may: decisions within ``slack`` of a tie depend on the grid."""
    must, may = set(), set()
    for (x, parents), value in every.items():
        smaller = [v for (y, own), v in every.items() if y == x and set(own) < set(parents)]
        if isinstance(keep, td.KBest):
            n_clear, n_maybe = (sum(v > value + s for v in smaller) for s in (slack, -slack))
            goes, can_go = n_clear >= keep.k, n_maybe >= keep.k
        else:
            reach = {"best": 0.0, "all": math.inf}.get(str(keep))
            reach = math.log(keep.factor) if reach is None else reach
            goes = any(v > value + reach + slack for v in smaller)
            can_go = any(v > value + reach - slack for v in smaller)
        must |= {(x, parents)} if goes else set()
        may |= {(x, parents)} if can_go else set()
    return must, may


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("known", KNOWN)
@pytest.mark.usefixtures("by_lists")
def test_lists_hold_what_allowed_families_leave(known: str, kind: ScoreKind, monkeypatch: pytest.MonkeyPatch) -> None:
    table = sampled_table(6, 60, 11, states=(2, 3))
    constraints = td.Constraints(**KNOWN[known])
    listed = {keep: families(td.score(table, kind, keep=keep, constraints=constraints)) for keep in KEEPS}
    monkeypatch.undo()
    every = families(td.score(table, kind, keep="all", constraints=constraints))
    for keep in KEEPS:
        must, may = dominated(every, keep, 1e-6)
        kept = listed[keep]
        assert set(every) - may <= set(kept) <= set(every) - must
        assert [kept[f] for f in kept] == pytest.approx([every[f] for f in kept], abs=1e-6)


@pytest.mark.parametrize("known", KNOWN)
@pytest.mark.usefixtures("by_lists")
def test_answers_from_lists(known: str, monkeypatch: pytest.MonkeyPatch) -> None:
    table = sampled_table(6, 80, 5)
    constraints = td.Constraints(**KNOWN[known])
    listed = td.score(table, td.BIC(), constraints=constraints)
    assert listed.automatic
    best = td.best_network(listed, engine="search")
    monkeypatch.undo()
    dense = td.score(table, td.BIC(), constraints=constraints)
    assert best.score == pytest.approx(td.best_network(dense).score, abs=1e-7)
    assert best.network is not None and constraints.allows(best.network)


@pytest.mark.parametrize(
    "known",
    [
        {"required_edges": [("V5", "V0")], "forbidden_edges": [("V1", "*")]},
        {"tiers": [["V0", "V3"], ["V1", "V2", "V4", "V5"]], "max_parents": {"V1": 2}, "min_parents": {"V2": 1}},
        {"precedence": [("V0", "V1"), ("V1", "V4")], "exact_parents": {"V5": 3}},
    ],
    ids=lambda known: next(iter(known)),
)
@pytest.mark.parametrize("max_parents", [None, 3])
def test_limits_on_set_functions_are_rules_about_families(
    known: dict[str, Any], max_parents: int | None, tmp_path: Path
) -> None:
    """No family is stored by itself, and none is there that breaks a rule; also after a file."""
    table = sampled_table(6, 100, 8)
    scores = td.score(table, td.BDeu(), max_parents=max_parents, constraints=td.Constraints(**known))
    free = td.score(table, td.BDeu(), max_parents=max_parents)
    assert isinstance(scores.store, SetStore)
    assert scores.store.limits
    td.io.write_scores(tmp_path / "known.npz", scores)
    read = td.io.read_scores(tmp_path / "known.npz")
    assert scores.compiled is not None
    total = 0
    for x, own in enumerate(scores.compiled.families):
        masks, values = free.store.families_of(x)
        allowed = own.admit(masks)
        for store in (scores.store, read.store):
            found = store.families_of(x)
            assert np.array_equal(found[0], masks[allowed])
            assert np.array_equal(found[1], values[allowed])
        is_allowed = [scores.store.value(x, mask) > -math.inf for mask in masks.tolist()]
        assert is_allowed == allowed.tolist()
        total += int(allowed.sum())
    assert scores.n_families == read.n_families == total


@pytest.mark.parametrize(
    "known",
    [
        {"ancestors": [("V5", "V0"), ("V1", "V3")]},
        {"not_ancestors": [("V0", "V1"), ("V1", "V0")]},
        {"precedence": [("V5", "V0"), ("V4", "V1")]},
        {"rules": ["V5->V0 or V4->V1", "if V0--V1 then parents(V2) >= 1"], "required_edges": [("V3", "V2")]},
    ],
    ids=lambda known: next(iter(known)),
)
@pytest.mark.usefixtures("by_lists")
def test_reaching_further_on_lists(known: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Scores pruned for the best network are made anew as far as constraints push the best one down."""
    table = sampled_table(6, 100, 8)
    constraints = td.Constraints(**known)
    listed = td.score(table, td.BIC(), constraints=constraints)
    answers = td.best_network(listed), td.k_best_networks(listed, 7), td.networks_within(listed, 4)
    monkeypatch.undo()
    dense = td.score(table, td.BIC(), constraints=constraints)
    wanted = td.best_network(dense), td.k_best_networks(dense, 7), td.networks_within(dense, 4)
    assert answers[0].score == pytest.approx(wanted[0].score, abs=1e-7)
    for found, true in zip(answers[1:], wanted[1:], strict=True):
        assert list(found.scores) == pytest.approx(list(true.scores), abs=1e-6)
        assert all(constraints.allows(network) for network in found)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.usefixtures("by_lists")
def test_dear_constraints_on_lists(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the best network that obeys is far behind, the first one found is not taken for it."""
    table = sampled_table(6, 400, seed)
    free = td.best_network(td.score(table, td.BIC(), keep="best"), engine="search")
    assert free.network is not None
    dropped = [pair for parent, child in free.network.edges[:2] for pair in ((parent, child), (child, parent))]
    new = next(pair for pair in permutations(NAMES, 2) if pair not in dropped and pair not in free.network.edges)
    constraints = td.Constraints(not_ancestors=dropped, ancestors=[new])
    found = td.best_network(td.score(table, td.BIC(), constraints=constraints))
    near = td.networks_within(td.score(table, td.BIC(), constraints=constraints), 3)
    monkeypatch.undo()
    dense = td.score(table, td.BIC(), constraints=constraints)
    assert found.score == pytest.approx(td.best_network(dense).score, abs=1e-6)
    assert list(near.scores) == pytest.approx(list(td.networks_within(dense, 3).scores), abs=1e-6)
    assert found.score < free.score - FIRST_OF_A_SPLIT


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1000), st.sampled_from(sorted(KNOWN)), st.sampled_from([td.BIC(), td.BDeu()]))
def test_scores_hold_just_what_is_allowed(seed: int, known: str, kind: ScoreKind) -> None:
    table = sampled_table(6, 40, seed)
    constraints = td.Constraints(**KNOWN[known])
    free, bound = td.score(table, kind), td.score(table, kind, constraints=constraints)
    everything, allowed = families(free), families(bound)
    compiled = bound.compiled
    assert compiled is not None
    for (x, parents), value in everything.items():
        mask = sum(1 << NAMES.index(p) for p in parents)
        assert ((x, parents) in allowed) == compiled.families[NAMES.index(x)].admits(mask)
        assert allowed.get((x, parents), value) == value


def test_parents_that_must_be_are_scored_however_hopeless() -> None:
    """BIC leaves out sets with a hopeless penalty, but not where nothing else is allowed."""
    draw = np.random.default_rng(0)
    wide = {f"W{i}": [str(v) for v in draw.integers(0, 40, 60)] for i in range(8)}
    table = td.Table({**wide, "x": [str(v) for v in draw.integers(0, 2, 60)]})
    required = [(name, "x") for name in list(wide)[:5]]
    free = td.score(table, td.BIC())
    assert free.cutoff < math.inf and not any(len(own) == 5 for own, _ in free.families("x"))
    scores = td.score(table, td.BIC(), constraints=td.Constraints(required_edges=required))
    answer = td.best_network(scores)
    assert answer.network is not None and set(answer.network.parents["x"]) == {a for a, _ in required}
    assert answer.score == pytest.approx(scores.of(answer.network))


@pytest.mark.parametrize("kind", KINDS)
def test_parents_that_must_be_get_no_scores_beyond_max_parents(kind: ScoreKind) -> None:
    table = sampled_table(5, 60, 1)
    a_few = td.Constraints(rules=["*->V1"])  # V1 has some parent
    scores = td.score(table, kind, constraints=a_few, max_parents=1)
    assert max(len(parents) for _, parents in families(scores)) == 1
    for two in ({"min_parents": {"V1": 2}}, {"fixed_parents": {"V1": ["V0", "V2"]}}):
        with pytest.raises(td.ConstraintError, match=r"'V1' .* with at most 1 parents each"):
            td.score(table, kind, constraints=td.Constraints(**two), max_parents=1)


def test_few_of_many_families_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    table, constraints = sampled_table(6, 60, 2), td.Constraints(**KNOWN["tan"])
    dense = td.score(table, td.BDeu(), constraints=constraints)
    give_sizes(monkeypatch, small=4)
    for keep in KEEPS:
        listed = td.score(table, td.BDeu(), constraints=constraints, keep=keep)
        assert isinstance(listed.store, ListStore)
        assert td.best_network(listed).network == td.best_network(dense).network
    every = td.score(table, td.BDeu(), constraints=constraints)
    assert families(every) == families(dense) and list(td.k_best_networks(every, 9)) == list(
        td.k_best_networks(dense, 9)
    )


def test_constant_columns() -> None:
    table = td.Table({"a": ["0", "1", "1"], "b": ["1", "0", "1"], "k": ["x", "x", "x"]})
    for known in ({"required_edges": [("a", "k")]}, {"ancestors": [("k", "b")]}, {"rules": ["a->k or k->b"]}):
        with pytest.raises(td.ConstraintError, match="k is constant and stays without edges"):
            td.score(table, td.BDeu(), constraints=td.Constraints(**known))
    fine = td.Constraints(forbidden_edges=[("*", "k")], max_parents=1, rules=["a->k or a->b", "parents(k) == 0"])
    answer = td.best_network(td.score(table, td.BDeu(), constraints=fine))
    assert answer.network is not None and answer.network.edges == (("a", "b"),)
    kept = td.Table({"a": ["0", "1", "1"], "k": ["x", "x", "x"]}, keep_constant=True)
    answer = td.best_network(td.score(kept, td.BDeu(), constraints=td.Constraints(required_edges=[("a", "k")])))
    assert answer.network is not None and answer.network.edges == (("a", "k"),)


def test_what_scores_say_of_themselves(tmp_path: Path) -> None:
    known = td.Constraints(required_edges=[("smoke", "lung")], ancestors=[("asia", "dysp")])
    scores = td.score(td.example_table(), td.BDeu(), constraints=known)
    assert scores.constraints == known and "smoke->lung" in scores.describe_space()
    td.io.write_scores(tmp_path / "s.npz", scores)
    back = td.io.read_scores(tmp_path / "s.npz")
    assert back.constraints == known
    assert td.best_network(back).network == td.best_network(scores).network
    with pytest.raises(td.FileError, match="asia is an ancestor of dysp"):
        td.io.write_scores(tmp_path / "s.jkl", scores)
    local = td.score(td.example_table(), td.BDeu(), keep="best", constraints=td.Constraints(max_parents=1))
    td.io.write_scores(tmp_path / "l.jkl", local)
    assert td.best_network(td.io.read_scores(tmp_path / "l.jkl")).score == pytest.approx(td.best_network(local).score)
    for keep in ("best", td.KBest(2), td.Within(3)):
        with pytest.raises(td.ScoreError, match="Leave keep= out"):
            td.score(td.example_table(), td.BDeu(), constraints=known, keep=keep)
    with pytest.raises(td.ScoreError, match="constraints must be Constraints"):
        td.score(td.example_table(), td.BDeu(), constraints={"max_parents": 1})  # type: ignore[arg-type]
    with pytest.raises(td.ConstraintError, match="did you mean 'smoke'"):
        td.score(td.example_table(), td.BDeu(), constraints=td.Constraints(roots=["smok"]))
