"""``--prior`` of ``topdag best``, ``list`` and ``within``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_runs import Topdag

import topdag as td
from topdag.cli.values import PRIORS


@pytest.mark.parametrize("name", ["order-modular", "fair"])
def test_best_says_what_the_prior_adds(topdag: Topdag, asia: Path, name: str) -> None:
    answer = td.best_network(asia, prior=PRIORS[name])
    assert answer.network is not None and answer.network.score is not None
    ran = topdag("best", asia, "--prior", name)
    assert (ran.code, ran.err) == (0, "")
    added = answer.score - answer.network.score
    assert f"score {answer.score:.6f} nats: {answer.network.score:.6f} by the data (BIC())" in ran.words
    assert f"{added:+.6f} by the {name} prior" in ran.words
    orders = f"orders {answer.network.linear_extensions:,} agree with the network"
    assert (orders in ran.words) == (name == "order-modular")
    content = json.loads(topdag("best", asia, "--prior", name, "--json").out)
    assert content["score"] == answer.score
    assert content["prior"] == f"{name} prior"


@pytest.mark.parametrize("name", ["order-modular", "fair"])
def test_lists_show_both_scores(topdag: Topdag, asia: Path, tmp_path: Path, name: str) -> None:
    found = td.k_best_networks(asia, 4, prior=PRIORS[name])
    ran = topdag("list", asia, "-k", 4, "--prior", name, "-o", tmp_path / "top.jsonl")
    assert (ran.code, ran.err) == (0, "")
    for score, network in zip(found.scores, found, strict=True):
        assert f"{score:.6f} {network.score:.6f}" in ran.words
    assert td.io.read_list(tmp_path / "top.jsonl").prior == PRIORS[name]
    near = topdag("within", asia, "--factor", 2, "--prior", name, "--json")
    lines = near.out.splitlines()
    assert len(lines) - 1 == len(td.networks_within(asia, 2.0, prior=PRIORS[name]))


def test_uniform_is_no_prior(topdag: Topdag, asia: Path) -> None:
    asked, plain = (topdag("best", asia, *options, "--quiet") for options in (["--prior", "uniform"], []))
    assert asked == plain


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["best", "--prior", "orders"], "no prior is called 'orders'; there are uniform, fair, order-modular"),
        (["list", "--classes", "--prior", "fair"], "--classes: under the fair prior networks of a class weigh"),
        (["within", "--count", "--prior", "order-modular"], "--count: under an order-modular prior networks are"),
    ],
)
def test_wrong_use_is_explained(topdag: Topdag, asia: Path, options: list[str], message: str) -> None:
    command, *others = options
    ran = topdag(command, asia, *others)
    assert ran.code == 2
    assert message in " ".join(ran.err.split())


def test_a_score_file_that_was_never_pruned_takes_a_prior(topdag: Topdag, asia: Path, tmp_path: Path) -> None:
    scores = td.score(asia, td.BDeu(), max_parents=2)
    td.io.write_scores(tmp_path / "all.jkl", scores)
    refused = topdag("best", tmp_path / "all.jkl", "--prior", "fair")
    assert refused.code == 4
    assert "add --keep all here" in refused.err
    ran = topdag("best", tmp_path / "all.jkl", "--prior", "fair", "--keep", "all")
    assert ran.code == 0
    assert f"score {td.best_network(scores, prior=td.FairPrior()).score:.6f} nats" in ran.words
    assert "--keep: a .npz file says itself" in topdag("best", "all.npz", "--keep", "all").err
    assert "--keep: this is for files of scores" in topdag("best", asia, "--keep", "all").err
