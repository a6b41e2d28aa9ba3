"""Questions under a prior, against all networks of few variables: best, k best, within; files, limits, refusals."""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

import topdag as td
from topdag.knowledge.priors import Prior
from topdag.scoring.score import scores_from_lists
from topdag.search.family_lists import FamilyLists

PRIORS: dict[str, Prior] = {
    "order-modular": td.OrderModular(),
    "weighted": td.OrderModular(
        order_weight=lambda name, earlier: 0.3 * len(earlier) * (name < "c") - 0.2 * ("d" in earlier),
        parent_weight=lambda name, parents: 0.8 * len(parents) * (name == "b"),
    ),
    "fair": td.FairPrior(),
    "edge": td.EdgePrior({("a", "b"): 2.5, ("d", "a"): -1.0}, default=0.25),
}


def table_of(seed: int, *, constant: bool = False) -> td.Table:
    draw = np.random.default_rng(seed)
    first = draw.integers(0, 2, 25)
    columns = {
        "a": first,
        "b": np.where(draw.random(25) < 0.8, first, 1 - first),
        "c": draw.integers(0, 3, 25),
        "d": draw.integers(0, 2, 25),
    }
    if constant:
        columns["e"] = np.zeros(25, int)
    return td.Table({name: [str(v) for v in own] for name, own in columns.items()})


def all_networks(scores: td.types.Scores, prior: Prior) -> list[tuple[float, td.Network]]:
    """Every network of four variables with its worth, best first."""
    names = scores.names
    found = []
    for masks in product(*[[m for m in range(16) if not m >> x & 1] for x in range(4)]):
        try:
            bare = td.Network.from_masks(names, masks)
        except td.NetworkError:
            continue
        found.append((scores.of(bare) + prior.log_weight(bare), bare))
    assert len(found) == 543
    return sorted(found, key=lambda item: -item[0])


@pytest.mark.parametrize("name", PRIORS)
@pytest.mark.parametrize("seed", range(3))
def test_the_best_are_those_of_all_networks(name: str, seed: int) -> None:
    prior = PRIORS[name]
    scores = td.score(table_of(seed), td.BDeu() if seed else td.BIC())
    every = all_networks(scores, prior)
    answer = td.best_network(scores, prior=prior)
    assert answer.network is not None
    assert answer.proof.status is td.types.Status.PROVED
    assert answer.score == pytest.approx(every[0][0], abs=1e-9)
    assert answer.network.score == pytest.approx(scores.of(answer.network))
    assert answer.network.score + prior.log_weight(answer.network) == pytest.approx(answer.score, abs=1e-9)
    top = td.k_best_networks(scores, 40, prior=prior)
    assert top.scores == pytest.approx([value for value, _ in every[:40]], abs=1e-9)
    worth = [scores.of(network) + prior.log_weight(network) for network in top]
    assert worth == pytest.approx(top.scores, abs=1e-9)
    assert len({network.masks for network in top}) == 40
    factor = 7.0
    near = td.networks_within(scores, factor, prior=prior)
    lowest = every[0][0] - math.log(factor)
    expected = {network.masks for value, network in every if value > lowest + 1e-9}
    tied = {network.masks for value, network in every if value > lowest - 1e-9}
    assert expected <= {network.masks for network in near} <= tied
    assert near.prior is prior


@pytest.mark.parametrize("name", ["order-modular", "fair", "edge"])
def test_constant_columns_stay_out_of_it(name: str) -> None:
    """They get no edges; only the number of orders counts them."""
    prior = PRIORS[name]
    told = td.EdgePrior({("a", "b"): 2.5, ("d", "a"): -1.0, ("e", "a"): 9.0}, 0.25) if name == "edge" else prior
    with_constant = td.best_network(table_of(1, constant=True), prior=told)
    without = td.best_network(table_of(1), prior=prior)
    assert with_constant.network is not None and without.network is not None
    assert with_constant.network.edges == without.network.edges
    added = math.log(5) if name == "order-modular" else 0.0
    assert with_constant.score == pytest.approx(without.score + added)
    if name == "order-modular":
        assert with_constant.network.score is not None
        extensions = with_constant.network.log_linear_extensions
        assert with_constant.score == pytest.approx(with_constant.network.score + extensions)
    top = td.k_best_networks(table_of(1, constant=True), 3, prior=prior)
    assert top.scores[0] == pytest.approx(with_constant.score)


@pytest.mark.parametrize("name", ["order-modular", "fair", "edge"])
def test_lists_under_a_prior_are_written_and_read(name: str, tmp_path: Path) -> None:
    top = td.k_best_networks(table_of(2, constant=True), 20, prior=PRIORS[name])
    td.io.write_list(tmp_path / "top.jsonl", top)
    again = td.io.read_list(tmp_path / "top.jsonl")
    assert again.prior == top.prior
    assert np.array_equal(again.scores, top.scores)
    assert np.array_equal(again.shares, top.shares)
    rows = list(again.to_dicts())
    assert rows[0]["score"] == top.scores[0]
    assert rows[0]["data score"] == pytest.approx(top[0].score)
    lines = (tmp_path / "top.jsonl").read_text().replace('"score": -', '"score": -1', 2).splitlines()
    (tmp_path / "wrong.jsonl").write_text("\n".join(lines))
    with pytest.raises(td.FileError, match="line 2: the score is not the sum of the local scores and the weight"):
        td.io.read_list(tmp_path / "wrong.jsonl")


def test_weights_that_are_functions_are_not_written(tmp_path: Path) -> None:
    top = td.k_best_networks(table_of(0), 2, prior=PRIORS["weighted"])
    with pytest.raises(td.ScoreError, match="functions of your own cannot be written"):
        td.io.write_list(tmp_path / "top.jsonl", top)


@pytest.mark.parametrize("name", PRIORS)
def test_no_time_still_gives_a_network_and_a_bound(name: str) -> None:
    table, prior = table_of(0), PRIORS[name]
    best = td.best_network(table, prior=prior)
    early = td.best_network(table, prior=prior, time_limit=0)
    assert early.proof.status is td.types.Status.STOPPED
    assert early.network is not None
    assert early.proof.bound >= best.score - 1e-9
    assert early.score <= best.score + 1e-9
    top = td.k_best_networks(table, 5, prior=prior, time_limit=0)
    assert top.proof.status is td.types.Status.STOPPED
    assert top.floor >= best.score - 1e-9 or len(top)


@pytest.mark.parametrize("keep", ["all", "best"])
def test_without_time_the_bound_counts_orders_of_constant_columns(keep: Literal["all", "best"]) -> None:
    coins = {
        name: [str(v) for v in np.random.default_rng(place).integers(0, 2, 8)] for place, name in enumerate("abcd")
    }
    table = td.Table(coins | {name: ["x"] * 8 for name in "efgh"})
    scores = td.score(table, td.BDeu(), keep=keep)
    best = td.best_network(scores, prior=td.OrderModular())
    early = td.best_network(scores, prior=td.OrderModular(), time_limit=0)
    assert early.proof.bound >= max(best.score, math.lgamma(9) + scores.of(td.Network(table.names, {}))) - 1e-9


@pytest.mark.parametrize("prior", [td.FairPrior(), td.EdgePrior({("v30", "v0"): 3.0}, default=-1.0)])
def test_more_variables_than_a_table_over_sets_could_have(prior: Prior) -> None:
    """Listed families get their weights one by one: 2^39 sets of parents would fit in no memory."""
    names = [f"v{v}" for v in range(40)]
    families: list[tuple[int, list[int], float]] = [(v, [], -5.0) for v in range(40)]
    families += [(0, [30], -7.5), (1, [0], -1.0), (2, [0, 1], 8.0)]
    scores = scores_from_lists(FamilyLists.build(names, families), keep="all")
    answer = td.best_network(scores, prior=prior)
    assert answer.network is not None and answer.network.score is not None
    assert answer.proof.status is td.types.Status.PROVED
    assert answer.network.has_edge("v30", "v0") == isinstance(prior, td.EdgePrior)
    assert answer.score == pytest.approx(answer.network.score + prior.log_weight(answer.network))


def test_too_many_variables_for_orders_are_refused_before_they_are_scored() -> None:
    draw = np.random.default_rng(0)
    table = td.Table({f"v{v}": [str(value) for value in draw.integers(0, 2, 40)] for v in range(27)})
    with pytest.raises(td.TooLarge, match="The order-modular prior on 27 variables needs"):
        td.best_network(table, prior=td.OrderModular(), time_limit=0, memory_limit="8GB")
    with pytest.raises(td.TooLarge, match="The order-modular prior on 27 variables needs"):
        td.k_best_networks(table, 2, prior=td.OrderModular(), time_limit=0, memory_limit="8GB")


@pytest.mark.parametrize("name", PRIORS)
def test_the_source_of_a_list_is_not_asked_again(name: str) -> None:
    source = td.k_best_networks(table_of(0), 3, prior=PRIORS[name]).source
    for ask in (
        td.best_network,
        lambda scores: td.k_best_networks(scores, 3),
        lambda scores: td.sample_networks(scores, 3),
    ):
        with pytest.raises(td.ScoreError, match="Ask the scores that the list was made from, with prior="):
            ask(source)


def test_what_does_not_go_together_is_refused() -> None:
    table = table_of(0)
    with pytest.raises(td.ScoreError, match=r"write OrderModular\(\) with brackets"):
        td.best_network(table, prior=td.OrderModular)  # type: ignore[arg-type]
    with pytest.raises(td.ScoreError, match=r"prior must be OrderModular\(\), .* not 'order-modular'"):
        td.k_best_networks(table, 3, prior="order-modular")  # type: ignore[arg-type]
    with pytest.raises(td.NetworkError, match="no variable 'q'"):  # before any time is spent on scores
        td.best_network(table, prior=td.EdgePrior({("q", "a"): 1.0}), time_limit=0)
    with pytest.raises(td.ScoreError, match="engine does not go with an order-modular prior"):
        td.best_network(table, prior=td.OrderModular(), engine="dense lattice")
    with pytest.raises(td.ScoreError, match=r"pruned .keep=\"best\".*keep=\"all\""):
        td.best_network(td.score(table, td.BIC(), keep="best"), prior=td.FairPrior())
    with pytest.raises(td.ScoreError, match="needs more families than these scores hold"):
        td.k_best_networks(td.score(table, td.BIC(), keep="best"), 5, prior=td.OrderModular())


def test_scores_kept_for_the_best_will_do_for_the_best_under_orders() -> None:
    table = table_of(1)
    pruned = td.best_network(td.score(table, td.BIC(), keep="best"), prior=td.OrderModular())
    assert pruned.score == pytest.approx(td.best_network(td.score(table, td.BIC()), prior=td.OrderModular()).score)


def test_the_answer_says_what_is_the_data_s_and_what_the_prior_s() -> None:
    answer = td.best_network(table_of(0), prior=td.OrderModular())
    assert "by the data and" in str(answer)
    assert "order-modular prior" in str(answer)
    assert answer.to_dict()["prior"] == "order-modular prior"
