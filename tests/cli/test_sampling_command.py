"""``topdag sample``: what it prints and writes, and how it ends."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from cli_runs import Topdag

import topdag as td


def test_edges_with_errors(topdag: Topdag, asia: Path) -> None:
    ran = topdag("sample", asia, "-k", 2000, "--seed", 7, "--show", 5)
    assert ran.code == 0
    drawn = td.sample_networks(td.example_table(), 2000, seed=7)
    first = next(drawn.edge_frequencies().rows())
    line = f"{first['parent']} -> {first['child']} {first['frequency']:.4f} +- {first['error']:.4f}"
    assert ran.words.startswith(f"table 500 rows, 8 variables: 8 categories. {line}")
    assert f"2,000 networks, {drawn.n_distinct:,} different, uniform prior, seed 7" in ran.words
    assert "edges that are no more frequent" in ran.out


@pytest.mark.parametrize(
    ("name", "prior"), [("uniform", None), ("fair", td.FairPrior()), ("order-modular", td.OrderModular())]
)
def test_edges_as_json(topdag: Topdag, asia: Path, name: str, prior: td.OrderModular | None) -> None:
    ran = topdag("sample", asia, "-k", 300, "--prior", name, "--json")
    content = json.loads(ran.out)
    drawn = td.sample_networks(td.example_table(), 300, prior=prior)
    assert content["edges"] == list(drawn.edge_frequencies().rows())
    assert (content["samples"], content["prior"], content["seed"]) == (300, name, 0)


def test_networks_as_files(topdag: Topdag, asia: Path, tmp_path: Path) -> None:
    drawn = td.sample_networks(td.score(td.example_table(), td.BIC(), max_parents=2), 400, seed=3)
    words = ("sample", asia, "-k", 400, "--seed", 3, "--score", "bic", "--max-parents", 2, "--quiet", "-o")
    assert topdag(*words, tmp_path / "drawn.csv").code == topdag(*words, tmp_path / "drawn.json").code == 0
    rows = list(csv.DictReader((tmp_path / "drawn.csv").read_text().splitlines()))
    networks = json.loads((tmp_path / "drawn.json").read_text())["networks"]
    assert len(rows) == len(networks) == drawn.n_distinct
    for row, written, (network, count) in zip(rows, networks, drawn.distinct(), strict=True):
        assert int(row["count"]) == written["count"] == count
        assert float(row["score"]) == network.score
        assert td.Network(drawn.names, written["parents"]) == network
        assert {name: row[f"parents of {name}"] for name in drawn.names} == {
            name: ", ".join(network.parents[name]) for name in drawn.names
        }


def test_one_sample_and_none(topdag: Topdag, asia: Path) -> None:
    one = topdag("sample", asia, "-k", 1, "--json")
    assert {edge["error"] for edge in json.loads(one.out)["edges"]} == {None}
    none = topdag("sample", asia, "-k", 0, "--quiet")
    assert (none.code, none.out.strip()) == (0, "")


def test_files_of_scores(topdag: Topdag, asia: Path, tmp_path: Path) -> None:
    scores = td.score(td.example_table(), td.BIC(), max_parents=2)
    for name in ("all.npz", "all.jkl"):
        td.io.write_scores(tmp_path / name, scores)
    expected = topdag("sample", asia, "-k", 50, "--max-parents", 2, "--quiet").out
    assert topdag("sample", tmp_path / "all.npz", "-k", 50, "--quiet").out == expected
    refused = topdag("sample", tmp_path / "all.jkl", "-k", 50)
    assert refused.code == 4
    assert "add --keep all here" in refused.err
    assert topdag("sample", tmp_path / "all.jkl", "-k", 50, "--keep", "all", "--quiet").code == 0


def test_limits_and_wrong_use(topdag: Topdag, asia: Path) -> None:
    stopped = topdag("sample", asia, "--time-limit", 0)
    assert (stopped.code, stopped.out) == (3, "")
    assert "--time-limit came after" in stopped.err
    assert topdag("sample", asia, "--memory-limit", "1KB").code == 5
    for words in (["--prior", "none"], ["-k", "-1"], ["-o", "drawn.txt"], ["--keep", "all"], ["--seed", 2**64]):
        assert topdag("sample", asia, *words).code == 2, words
