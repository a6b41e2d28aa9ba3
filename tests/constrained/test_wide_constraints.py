"""Constraints on more than 64 variables: what fewer of them say, placed among others, and what brute force says."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from constraint_draws import drawn_constraints
from pruning_checks import same_lists
from strategies import sampled_table

import topdag as td
from topdag._util.run import Run
from topdag.scoring import allowed as constrained_scoring
from topdag.scoring.pruned import PrunedScores, score_pruned
from topdag.scoring.task import ScoringTask

N = 68
MOST = 2
SEEN = 7
"""So many columns are of interest; the others stand between them."""


def spread(seed: int) -> list[int]:
    """Where they stand: some in the first word of sets, some in the second."""
    draw = random.Random(seed)
    return sorted([*draw.sample(range(64), SEEN - 3), *draw.sample(range(64, N), 3)])


class Padded:
    """A table alone, and among columns that have no edges."""

    def __init__(self, seed: int, rows: int = 60) -> None:
        drawn = sampled_table(SEEN, rows, seed)
        places = spread(seed)
        wide = np.random.default_rng(seed).integers(0, 2, (N, rows))
        wide[places] = np.repeat(drawn.codes, drawn.weights, axis=1)
        wide[:, :2] = [0, 1]  # both states occur
        names = [f"other {v}" for v in range(N)]
        for place, name in zip(places, drawn.names, strict=True):
            names[place] = name
        self.wide = td.Table(dict(zip(names, wide.astype(str), strict=True)))
        self.alone = td.Table(dict(zip(drawn.names, wide[places].astype(str), strict=True)))
        self.others = [name for name in names if name.startswith("other")]

    def best(self, kind: Any, known: td.Constraints) -> tuple[td.types.Answer, td.types.Answer, float]:
        """Alone, among the others, and what the others score."""
        without = td.Constraints(roots=self.others, leaves=self.others)
        alone = td.best_network(td.score(self.alone, kind, constraints=known, max_parents=MOST))
        wide = td.best_network(td.score(self.wide, kind, constraints=known & without, max_parents=MOST))
        return alone, wide, sum(kind.local(self.wide, self.wide.index(name), []) for name in self.others)


def require_same(padded: Padded, kind: Any, known: td.Constraints) -> td.types.Status:
    alone, wide, others = padded.best(kind, known)
    assert wide.proof.status is alone.proof.status
    if alone.network is not None:
        assert wide.network is not None and known.allows(wide.network)
        assert wide.score == pytest.approx(alone.score + others, abs=1e-6)
    return wide.proof.status


LOCAL: dict[str, dict[str, Any]] = {
    "forbidden": {"forbidden_edges": [("V0", "V1"), ("V5", "V6"), ("V6", "V5")]},
    "required": {"required_edges": [("V0", "V5"), ("V6", "V5"), ("V4", "V1")]},
    "roots and leaves": {"roots": ["V6", "V2"], "leaves": ["V0"]},
    "numbers": {"max_parents": {"V0": 1}, "min_parents": {"V5": 1}, "exact_parents": {"V6": 2}},
    "tiers": {"tiers": [["V6", "V0"], ["V1", "V2", "V5"], ["V3", "V4"]], "edges_within_tiers": False},
    "sets": {"allowed_parent_sets": {"V6": [["V0"], ["V0", "V5"], ["V3"]]}, "fixed_parents": {"V1": ["V4", "V5"]}},
    "allowed": {"allowed_parents": {"V6": ["V0", "V5"]}},
    "groups": {"groups": {"late": ["V5", "V6"]}, "forbidden_edges": [("late", "*")]},
    "rules of one": {"rules": ["parents(V6) == 0 or V0->V6", "if V2->V3 then V4->V3"]},
    "with one's own": {"required_edges": [("V5", "V0")], "max_parents": {"V0": 1}, "min_parents": {"V0": 1}},
}
ACROSS: dict[str, dict[str, Any]] = {
    "precedence": {"precedence": [("V6", "V0"), ("V0", "V5"), ("V5", "V1")]},
    "adjacency": {"required_adjacencies": [("V0", "V6"), ("V1", "V5")], "forbidden_adjacencies": [("V2", "V6")]},
    "ancestors": {"ancestors": [("V6", "V0"), ("V5", "V1")]},
    "not ancestors": {"not_ancestors": [("V0", "V6"), ("V1", "V5"), ("V5", "V0")]},
    "rules": {"rules": ["V0->V6 or V6->V5", "if V2->V3 then parents(V6) == 2", "not (V5->V6 and V1->V0)"]},
    "together": {"ancestors": [("V6", "V2")], "precedence": [("V2", "V0")], "required_edges": [("V5", "V6")]},
}


@pytest.mark.parametrize("known", LOCAL | ACROSS)
def test_each_kind_says_the_same_among_more_columns(known: str) -> None:
    every = LOCAL | ACROSS
    kind = (td.BIC(), td.BDeu())[list(every).index(known) % 2]
    assert require_same(Padded(3), kind, td.Constraints(**every[known])) is td.types.Status.PROVED


@pytest.mark.parametrize("seed", range(8))
def test_random_constraints_say_the_same_among_more_columns(seed: int) -> None:
    padded = Padded(seed)
    require_same(padded, td.BIC(), drawn_constraints(padded.alone.names, 700 + seed))


def edges_of(own: td.Network | td.EquivalenceClass) -> frozenset[object]:
    if isinstance(own, td.Network):
        return frozenset(own.edges)
    return frozenset([*own.directed, *map(frozenset, own.undirected)])


def listed_same(padded: Padded, known: td.Constraints, ask: Any, *asked: Any) -> None:
    """The same networks or classes, by what they are called; of those that tie with the last, any."""
    without = td.Constraints(roots=padded.others, leaves=padded.others)
    alone = ask(td.score(padded.alone, td.BIC(), constraints=known, max_parents=MOST), *asked)
    wide = ask(td.score(padded.wide, td.BIC(), constraints=known & without, max_parents=MOST), *asked)
    assert wide.proof.status is alone.proof.status
    assert np.allclose(np.diff(wide.scores), np.diff(alone.scores), rtol=0, atol=1e-6) and len(wide) == len(alone)
    told = [
        [(score - found.scores[0], edges_of(own)) for score, own in zip(found.scores, found, strict=True)]
        for found in (alone, wide)
    ]
    first, second = ({edges for score, edges in own if score > own[-1][0] + 1e-6} for own in told)
    assert first == second
    assert all(known.allows(wide.network(place)) for place in range(len(wide)))


@pytest.mark.parametrize("known", LOCAL | ACROSS)
def test_lists_say_the_same_among_more_columns(known: str) -> None:
    listed_same(Padded(5, rows=40), td.Constraints(**(LOCAL | ACROSS)[known]), td.k_best_networks, 6)


@pytest.mark.parametrize("known", ["required", "tiers", "ancestors", "rules", "together"])
def test_lists_of_classes_say_the_same_among_more_columns(known: str) -> None:
    padded, constraints = Padded(6, rows=40), td.Constraints(**(LOCAL | ACROSS)[known])
    listed_same(padded, constraints, td.k_best_classes, 4)
    listed_same(padded, constraints, td.networks_within, 1.5)


@pytest.mark.parametrize("seed", range(2))
def test_nothing_is_allowed(seed: int) -> None:
    """Three variables need parents among themselves, in an order that some two of them forbid."""
    known = td.Constraints(
        allowed_parents={"V0": ["V5", "V6"], "V5": ["V0", "V6"], "V6": ["V0", "V5"]},
        rules=["V5->V0 or V6->V0", "V0->V5 or V6->V5", "V0->V6 or V5->V6"],
    )
    assert require_same(Padded(seed), td.BIC(), known) is td.types.Status.INFEASIBLE


@pytest.mark.parametrize("seed", range(3))
def test_parameter_constraints_say_the_same_among_more_columns(seed: int) -> None:
    said = [td.probabilities.influence("V6", "V0", "+"), td.probabilities.influence("V1", "V5", "-")]
    assert require_same(Padded(seed), td.BIC(), td.Constraints(parameters=said)) is td.types.Status.PROVED


def test_engines_for_fewer_variables_say_so_under_constraints_too() -> None:
    scores = td.score(sampled_table(70, 30, 1), td.BIC(), max_parents=1, constraints=td.Constraints(**ACROSS["rules"]))
    for engine in ("branching", "order search"):
        words = f'70 variables: engine="{engine}" takes at most 64.*under constraints'
        with pytest.raises(td.TooLarge, match=words):
            td.best_network(scores, engine=engine)


# ---- All columns may have edges


@pytest.mark.parametrize("keep", ["best", td.Within(8.0)])
def test_allowed_families_are_those_that_dominance_leaves(keep: Any) -> None:
    """Of every parent set, each scored by itself."""
    table = sampled_table(67, 60, 5)
    known = td.Constraints(
        required_edges=[("V66", "V1"), ("V3", "V65")],
        max_parents={"V2": 1},
        rules=["parents(V4) != 1"],
        forbidden_edges=[("V65", "V2")],
        min_parents={"V64": 1},
    )
    scores = td.score(table, td.BIC(), constraints=known, max_parents=MOST, keep=keep)
    reach = 0.0 if keep == "best" else math.log(keep.factor)
    for name in ("V1", "V65", "V2", "V4", "V64"):
        every = allowed_families(table, name, known)
        kept = {frozenset(parents): value for parents, value in scores.families(name)}
        for own, value in every.items():
            below = max((v for other, v in every.items() if other < own), default=-math.inf)
            if abs(below - reach - value) > 1e-6:
                assert (own in kept) is (below < value + reach), (name, own)
            if own in kept:
                assert kept[own] == pytest.approx(value, abs=1e-6)
        assert kept.keys() <= every.keys()


def allowed_families(table: td.Table, name: str, known: td.Constraints) -> dict[frozenset[str], float]:
    columns, x = tuple(range(table.n_variables)), table.index(name)
    rules = known.compiled(table.names, columns).families[x]
    others = [v for v in columns if v != x]
    pairs = [(u, v) for u in others for v in others if u < v]
    sets = [(), *((v,) for v in others), *pairs]
    allowed = [own for own in sets if rules.admits(sum(1 << v for v in own))]
    return {frozenset(table.names[v] for v in own): td.BIC().local(table, x, list(own)) for own in allowed}


def scored_by(
    layers: bool, monkeypatch: pytest.MonkeyPatch, table: td.Table, kind: Any, **more: Any
) -> td.types.Scores:
    def whole(task: ScoringTask, run: Run, must: Sequence[int]) -> PrunedScores | None:
        return score_pruned(task, run, layers=layers, must=must)

    monkeypatch.setattr(constrained_scoring, "score_worth_keeping", whole)
    return td.score(table, kind, **more)


@pytest.mark.parametrize("kind", [td.BIC(), td.AIC(), td.BDeu(), td.K2(), td.qNML()], ids=repr)
@pytest.mark.parametrize("keep", ["best", td.Within(20.0)], ids=str)
def test_layers_that_know_of_required_edges_keep_what_a_walk_keeps(
    kind: Any, keep: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed, states in ((1, (2, 2)), (2, (2, 4))):
        table = sampled_table(24, 150, seed, states=states)
        v = table.names
        required = [(v[0], v[1]), (v[7], v[1]), (v[3], v[2]), (v[20], v[9]), (v[9], v[21]), (v[2], v[23])]
        known = td.Constraints(required_edges=required, max_parents={v[2]: 2}, forbidden_edges=[(v[5], v[1])])
        more = {"constraints": known, "keep": keep, "max_parents": 3}
        layers, walked = (scored_by(way, monkeypatch, table, kind, **more) for way in (True, False))
        assert layers.grid == walked.grid
        assert same_lists(layers.store.lists, walked.store.lists)
        assert layers.report.by_layers and not walked.report.by_layers


def test_required_parents_that_cost_more_than_layers_can_hold() -> None:
    """Sixteen parents of two states: 65,536 cells for 60 rows."""
    table = sampled_table(66, 60, 1)
    known = td.Constraints(
        required_edges=[(f"V{v}", "V65") for v in range(16)], allowed_parents={"V65": table.names[:17]}
    )
    scores = td.score(table, td.BIC(), constraints=known)
    (parents, value), *others = scores.families("V65")
    assert parents == table.names[:16] and not others
    assert value == pytest.approx(td.BIC().local(table, 65, list(range(16))), abs=1e-6)


def test_true_knowledge_of_a_random_network_is_obeyed_and_proved() -> None:
    truth = td.random_network(70, arcs=70, max_parents=2, seed=2)
    edges, order = list(truth.network.edges), truth.network.order
    known = td.Constraints(
        required_edges=edges[:6],
        required_adjacencies=edges[6:9],
        precedence=[(order[0], order[40]), (order[5], order[60])],
    )
    scores = td.score(truth.sample(80, seed=2), td.BIC(), max_parents=MOST, constraints=known)
    answer = td.best_network(scores)
    assert answer.proof.status is td.types.Status.PROVED and known.allows(answer.network)
    early = td.best_network(scores, time_limit=0.0)
    assert early.proof.status is td.types.Status.STOPPED and early.proof.bound >= answer.score


@pytest.mark.parametrize("n", [30, 70])
def test_scores_from_a_file_know_that_constraints_may_need_more_families(n: int, tmp_path: Any) -> None:
    """Lists of the best families lack an edge between these two, which must be."""
    table = td.random_network(n, arcs=n // 2, max_parents=1, seed=3).sample(80, seed=3)
    known = td.Constraints(required_adjacencies=[("V2", f"V{n - 2}")])
    scores = td.score(table, td.BIC(), max_parents=1, constraints=known)
    td.io.write_scores(tmp_path / "scores.npz", scores)
    read = td.best_network(td.io.read_scores(tmp_path / "scores.npz"))
    assert read.proof.status is td.types.Status.PROVED and known.allows(read.network)
    assert read.score == td.best_network(scores).score
    early = td.best_network(scores, start=read.network, time_limit=0.0)
    assert known.allows(early.network) and early.score == pytest.approx(read.score, abs=1e-9)
