"""``--constraints``, ``--require``, ``--forbid`` and ``--rule`` of topdag best, list, within and score."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from cli_runs import Topdag

import topdag as td
from topdag.cli.command import Exit

KNOWN = td.Constraints(
    required_edges=["asia->dysp"], forbidden_adjacencies=["smoke--lung"], rules=["xray->tub or smoke->xray"]
)
OPTIONS = ("--require", "asia->dysp", "--forbid", "smoke--lung", "--rule", "xray->tub or smoke->xray")


def test_best(topdag: Topdag, asia: Path, tmp_path: Path) -> None:
    answer = td.best_network(td.score(td.read_table(asia), td.BIC(), constraints=KNOWN))
    ran = topdag("best", asia, *OPTIONS, "--json")
    content = json.loads(ran.out)
    assert ran.code == 0 and content["score"] == answer.score
    assert td.Network.from_dict(content["network"]) == answer.network
    path = tmp_path / "known.toml"
    path.write_text('required_edges = ["asia->dysp"]\nrules = ["xray->tub or smoke->xray"]\n')
    ran = topdag("best", asia, "--constraints", path, "--forbid", "smoke--lung", "--json")
    assert json.loads(ran.out)["score"] == answer.score
    assert "that satisfy: required edges: asia->dysp" in json.loads(ran.out)["proof"]["space"]


def test_lists(topdag: Topdag, asia: Path) -> None:
    scores = td.score(td.read_table(asia), td.BIC(), constraints=KNOWN)
    ran = topdag("list", asia, "-k", 3, *OPTIONS, "--json")
    assert ran.code == 0 and len(ran.out.splitlines()) >= 3
    assert f"{td.k_best_networks(scores, 3)[2].score:.6f}" in topdag("list", asia, "-k", 3, *OPTIONS).out
    ran = topdag("within", asia, "--factor", 3, "--count", "--quiet", *OPTIONS)
    assert int(ran.out) == td.count_networks_within(scores, 3)
    ran = topdag("within", asia, "--factor", 3, "--classes", "--count", "--quiet", *OPTIONS)
    assert int(ran.out) == td.count_classes_within(scores, 3)


def test_score_files(topdag: Topdag, asia: Path, tmp_path: Path) -> None:
    path = tmp_path / "scores.npz"
    assert topdag("score", asia, "-o", path, *OPTIONS).code == 0
    assert td.io.read_scores(path).constraints == KNOWN
    ran = topdag("best", path, "--require", "asia->dysp")
    assert ran.code == 2 and "--require: this is for tables" in ran.err
    ran = topdag("score", asia, "--family", "lung", "--rule", "a->b")
    assert ran.code == 2 and "--rule: this goes with -o" in ran.err


def test_what_is_wrong(topdag: Topdag, asia: Path, tmp_path: Path) -> None:
    (tmp_path / "odd.toml").write_text("max_parents = -1\n")
    bad = topdag("best", asia, "--require", "nobody->dysp")
    code = bad.code
    assert code not in (0, 2) and "There is no variable 'nobody'" in bad.err
    for options, part in (
        (("--require", "asia->"), "--require, character 7"),
        (("--require", "parents(asia) <= 2"), "is no edge"),
        (("--rule", "asia"), "--rule, character 5"),
        (("--constraints", tmp_path / "none.toml"), "none.toml: there is no such file"),
        (("--constraints", tmp_path / "odd.toml"), "odd.toml: max_parents: a number of parents"),
    ):
        ran = topdag("best", asia, *options)
        assert ran.code == code and part in ran.err, ran.err
    both = topdag("best", asia, "--require", "asia->dysp", "--forbid", "asia->dysp")
    assert both.code == Exit.FAILED and "asia->dysp is required, but asia->dysp is forbidden" in both.err
    triangle = ["asia--tub and tub--lung and asia--lung", "not (asia->tub and tub->lung)"]
    turns = [
        ("tub", "lung", "asia"),
        ("lung", "asia", "tub"),
        ("tub", "asia", "lung"),
        ("asia", "lung", "tub"),
        ("lung", "tub", "asia"),
    ]
    rules = [*triangle, *(f"not ({a}->{b} and {b}->{c})" for a, b, c in turns)]
    ran = topdag("best", asia, *(word for rule in rules for word in ("--rule", rule)))
    assert "No network is allowed" in ran.out and ran.code == 1


def test_sums_and_samples_take_constraints(topdag: Topdag, asia: Path) -> None:
    known = td.Constraints(required_edges=[("smoke", "lung")], forbidden_edges=[("lung", "bronc")])
    scores = td.score(asia, td.BIC(), constraints=known)
    options = ["--require", "smoke->lung", "--forbid", "lung->bronc"]
    evidence = json.loads(topdag("evidence", asia, "--json", *options).out)
    assert evidence["log_evidence"] == pytest.approx(td.log_evidence(scores))
    edges = json.loads(topdag("edges", asia, "--json", *options).out)
    assert np.array(edges["edges"]) == pytest.approx(td.edge_posteriors(scores).matrix)
    drawn = json.loads(topdag("sample", asia, "-k", 200, "--json", *options).out)
    shares = {(row["parent"], row["child"]): row["frequency"] for row in drawn["edges"]}
    assert shares["smoke", "lung"] == 1.0
    assert ("lung", "bronc") not in shares
    refused = topdag("edges", asia, "--rule", "asia->tub or smoke->bronc")
    assert refused.code == 4
    assert "does not understand such constraints on several variables" in refused.err
