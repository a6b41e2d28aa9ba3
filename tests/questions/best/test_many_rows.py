"""Tables of ten million rows and more: what is called proved is as near the truth as it says, whatever the question.

The truth: all networks of four variables, with local scores to 40 digits. Two columns follow others, the rest is
noise, so that many networks are a few nats apart.
"""

from __future__ import annotations

import json
import math
from decimal import Decimal
from functools import cache
from pathlib import Path

import numpy as np
import precise
import pytest
import reference
from brute_force import class_numbers, networks
from given_sizes import AS_LISTS, give_sizes

import topdag as td
from topdag._util.bitsets import masks_in
from topdag.answers.check import check_claims, check_network
from topdag.scoring.kinds.discrete import ScoreKind
from topdag.search.stores import ListStore

N = 4
NAMES = tuple(f"V{v}" for v in range(N))
DISCRETE: tuple[ScoreKind, ...] = (td.BIC(), td.AIC(), td.BDeu(), td.K2(), td.BDs(), td.fNML(), td.qNML())
EXPENSIVE = (td.fNML, td.qNML)
"""Their truth takes a sum over the square root of so many rows."""


@cache
def table_of(rows: int, seed: int = 1) -> td.Table:
    """Drawn from V0 -> V1 and V2, V3, which V1 hardly tells anything of."""
    draw, arities = np.random.default_rng(seed), (2, 3, 2, 2)
    codes = np.indices(arities).reshape(N, -1)
    shares = [own / own.sum() for own in (draw.random(arity) + 0.3 for arity in arities)]
    each = np.prod([own[codes[v]] for v, own in enumerate(shares)], axis=0)
    each *= 1 + 0.3 * (codes[1] == codes[0]) + 2.0 / math.sqrt(rows) * ((codes[2] + codes[3]) % 2)
    weights = draw.multinomial(rows, each / each.sum())
    return td.Table.from_codes(NAMES, codes, weights=weights, states=[list(range(own)) for own in arities])


class Truth:
    """Of all networks of a table."""

    def __init__(self, kind: ScoreKind, table: td.Table) -> None:
        self.local = precise.local_scores(kind, table)
        self.scores = {masks: self.of(masks) for masks in map(tuple, networks(N).tolist())}
        self.ranked = sorted(self.scores.values(), reverse=True)

    def of(self, masks: tuple[int, ...]) -> Decimal:
        return sum((self.local(x, mask) for x, mask in enumerate(masks)), Decimal(0))


@cache
def truth_of(kind: ScoreKind, rows: int) -> Truth:
    return Truth(kind, table_of(rows))


def masks_of(network: td.Network) -> tuple[int, ...]:
    return tuple(sum(1 << NAMES.index(p) for p in network.parents[name]) for name in NAMES)


def require_right_list(found: td.types.NetworkList, truth: Truth, behind: float) -> None:
    assert found.proof.status is td.types.Status.PROVED
    for place, (network, score) in enumerate(zip(found, found.scores, strict=True)):
        own = truth.scores[masks_of(network)]
        assert abs(own - truth.ranked[place]) <= Decimal(behind)
        assert abs(own - Decimal(score)) <= Decimal(behind)
        assert network.score is not None and abs(own - Decimal(network.score)) <= Decimal(behind) / 4


def in_form(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if form == "lists":
        give_sizes(monkeypatch, **AS_LISTS)


def cases() -> list[tuple[ScoreKind, int]]:
    return [
        (kind, rows)
        for kind in DISCRETE
        for rows in (10**7, 10**8, 10**9)
        if rows == 10**7 or type(kind) not in EXPENSIVE
    ]


every_form = pytest.mark.parametrize("form", ["sets", "lists"])
IN_FORMS = [(*case, form) for case in cases() for form in ("sets", "lists") if form == "sets" or case[0] != td.BDs()]
every_case = pytest.mark.parametrize(("kind", "rows", "form"), IN_FORMS, ids=str)  # BDs has no lists


@every_case
def test_a_local_score_moves_by_a_step(kind: ScoreKind, rows: int, form: str, monkeypatch) -> None:
    """And a quarter of one, which doubles lose; so answers are behind by no more than they say."""
    in_form(form, monkeypatch)
    scores, truth = td.score(table_of(rows), kind, keep="all"), truth_of(kind, rows)
    assert isinstance(scores.store, ListStore) is (form == "lists")
    assert scores.behind == math.ldexp(5 * N, -scores.grid) <= 1e-11 * rows + 1e-6
    for x in range(N):
        for mask, value in zip(masks_in(scores.store.families_of(x)[0]), scores.store.families_of(x)[1], strict=True):
            assert abs(Decimal(float(value)) - truth.local(x, mask)) <= Decimal(math.ldexp(1.25, -scores.grid))


@every_case
def test_networks(kind: ScoreKind, rows: int, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    in_form(form, monkeypatch)
    table, truth = table_of(rows), truth_of(kind, rows)
    best = td.best_network(table, kind)
    behind = td.score(table, kind, keep="all").behind
    assert best.proof.status is td.types.Status.PROVED and best.proof.bound is not None
    assert truth.ranked[0] - truth.scores[masks_of(best.network)] <= Decimal(behind)
    assert Decimal(best.proof.bound) + Decimal(behind) >= truth.ranked[0]
    require_right_list(td.k_best_networks(table, 30, kind), truth, behind)
    for factor in (1.000001, 20, 1e6):
        near = td.networks_within(table, factor, kind)
        require_right_list(near, truth, behind)
        reach, edge = truth.ranked[0] - Decimal(math.log(factor)), Decimal(behind)
        least = sum(score >= reach + edge for score in truth.ranked)
        assert least <= len(near) <= sum(score >= reach - edge for score in truth.ranked)
        assert near.scores[0] - near.scores[-1] <= math.log(factor)


@every_form
@pytest.mark.parametrize(("kind", "rows"), [own for own in cases() if own[0].score_equivalent], ids=str)
def test_classes(kind: ScoreKind, rows: int, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Equivalent networks tie exactly."""
    in_form(form, monkeypatch)
    table, truth = table_of(rows), truth_of(kind, rows)
    behind = td.score(table, kind, keep="all").behind
    number = dict(zip(map(tuple, networks(N).tolist()), class_numbers(N).tolist(), strict=True))
    of_classes = sorted({own: truth.scores[masks] for masks, own in number.items()}.values(), reverse=True)
    classes = td.k_best_classes(table, 20, kind)
    assert classes.proof.status is td.types.Status.PROVED
    for place, score in enumerate(classes.scores):
        assert abs(Decimal(float(score)) - of_classes[place]) <= Decimal(behind)
    found = td.k_best_networks(table, 60, kind)
    tied: dict[int, set[float]] = {}
    for network, score in zip(found, found.scores.tolist(), strict=True):
        tied.setdefault(number[masks_of(network)], set()).add(score)
    assert all(len(own) == 1 for own in tied.values())
    near = td.classes_within(table, 1e6, kind)
    assert sum(own.size for own in near) == len(td.networks_within(table, 1e6, kind))


@every_form
@pytest.mark.parametrize("kind", [td.BDeu(), td.K2()], ids=str)
@pytest.mark.parametrize("rows", [10**7, 10**8, 10**9])
def test_priors(kind: ScoreKind, rows: int, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    in_form(form, monkeypatch)
    scores, truth = td.score(table_of(rows), kind, keep="all"), truth_of(kind, rows)
    masks = list(truth.scores)
    behind = np.array([float(truth.scores[own] - truth.ranked[0]) for own in masks])
    prior = td.EdgePrior({("V0", "V1"): -3.0, ("V2", "V3"): 1.0}, default=0.5)
    weighed = behind + [prior.log_weight(td.Network.from_masks(NAMES, own)) for own in masks]
    found = td.best_network(scores, prior=prior)
    assert weighed[masks.index(masks_of(found.network))] >= weighed.max() - 2 * scores.behind
    orders = behind + [math.log(reference.linear_extensions(own)) for own in masks]
    found = td.best_network(scores, prior=td.OrderModular())
    assert orders[masks.index(masks_of(found.network))] >= orders.max() - 2 * scores.behind
    with pytest.raises(td.ScoreError, match="sums over all networks cannot hold it"):
        td.log_evidence(scores)


@every_form
@pytest.mark.parametrize("rows", [10**7, 10**8, 10**9])
def test_files_are_read_back_and_answers_checked(rows: int, form: str, tmp_path: Path, monkeypatch) -> None:
    in_form(form, monkeypatch)
    table = table_of(rows)
    scores = td.score(table, td.BIC(), keep="all")
    td.io.write_scores(tmp_path / "s.npz", scores)
    again = td.io.read_scores(tmp_path / "s.npz")
    assert again.grid == scores.grid and again.behind == scores.behind
    assert td.best_network(again).network == td.best_network(scores).network
    td.io.write_scores(tmp_path / "s.jkl", scores)
    read = td.io.read_scores(tmp_path / "s.jkl", keep="all")
    assert truth_of(td.BIC(), rows).ranked[0] - truth_of(td.BIC(), rows).scores[
        masks_of(td.best_network(read).network)
    ] <= Decimal(read.behind)
    answer = td.best_network(scores)
    assert check_network(answer.network, table, td.BIC()).is_fine
    assert check_claims(json.loads(json.dumps(answer.to_dict())), answer.score) == ()
    near = td.networks_within(scores, 1e6)
    td.io.write_list(tmp_path / "list.jsonl", near)
    assert list(td.io.read_list(tmp_path / "list.jsonl").scores) == list(near.scores)


KNOWN = {
    "required": {"required_edges": [("V1", "V0"), ("V2", "V0")]},
    "path": {"ancestors": [("V3", "V0")]},
    "rule": {"rules": ["V1->V0 or V2->V0"]},
    "order": {"precedence": [("V3", "V0")]},
    "number": {"min_parents": {"V0": 2}},
}


@every_form
@pytest.mark.parametrize("known", KNOWN)
@pytest.mark.parametrize("rows", [10**7, 10**9])
def test_constraints(rows: int, known: str, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    in_form(form, monkeypatch)
    constraints, truth = td.Constraints(**KNOWN[known]), truth_of(td.BIC(), rows)
    allowed = {own: s for own, s in truth.scores.items() if constraints.allows(td.Network.from_masks(NAMES, own))}
    ranked = sorted(allowed.values(), reverse=True)
    scores = td.score(table_of(rows), td.BIC(), constraints=constraints)
    best = td.best_network(scores)
    assert best.proof.status is td.types.Status.PROVED
    assert ranked[0] - allowed[masks_of(best.network)] <= Decimal(scores.behind)
    found = td.k_best_networks(scores, 20)
    assert found.proof.status is td.types.Status.PROVED
    for place, network in enumerate(found):
        assert abs(allowed[masks_of(network)] - ranked[place]) <= Decimal(scores.behind)
