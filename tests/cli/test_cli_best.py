"""``topdag best``: what it prints and writes."""

from __future__ import annotations

import gzip
import json
import math
import re
from pathlib import Path

import pytest
from cli_runs import Topdag
from table_checks import numbers_of_all_kinds

import topdag as td
from topdag.cli.command import Exit
from topdag.networks.network import REVERSIBLE
from topdag.scoring.kinds.discrete import KINDS_BY_NAME


def test_best_prints_every_family_the_score_and_the_proof(topdag: Topdag, asia: Path) -> None:
    answer = td.best_network(asia)
    ran, plain = topdag("best", asia, "--scores"), topdag("best", asia)
    assert (ran.code, ran.err) == (0, "")
    assert answer.network is not None
    assert answer.network.local_scores is not None
    for name, parents in answer.network.parents.items():
        marked = [parent + "*" * ((parent, name) in answer.network.reversible) for parent in parents]
        family = re.escape(f"{name} <- {', '.join(marked)}" if parents else name)
        assert re.search(rf"^{family} +{answer.network.local_scores[name]:.6f}$", ran.out, re.MULTILINE)
        assert re.search(rf"^{family}$", plain.out, re.MULTILINE)
    assert f"score  {answer.score:.6f} nats, BIC()" in ran.out and f"score  {answer.score:.6f} nats" in plain.out
    assert "Proved: no network scores more, among all networks on 8 variables" in ran.out
    assert "500 rows" in ran.out
    assert "MDL" not in ran.out
    shown = topdag("best", asia, "--score", "bdeu").out
    assert td.best_network(asia, "bdeu").network.reversible and f"\n* {REVERSIBLE}\n" in shown  # type: ignore[union-attr]


def test_verbose_shows_bic_in_bits_too(topdag: Topdag, asia: Path) -> None:
    value = td.best_network(td.score(asia, td.BIC())).score
    assert f"MDL    {-value / math.log(2):.3f} bits" in topdag("best", asia, "--score", "bic", "--verbose").out


def test_order_search_by_a_bound_of_the_papers(topdag: Topdag, asia: Path) -> None:
    ran = topdag("best", asia, "--engine", "order search", "--bound", "static")
    assert ran.code == 0 and f"score  {td.best_network(asia).score:.6f}" in ran.out
    assert "order search" not in ran.out
    verbose = topdag("best", asia, "--engine", "order search", "--bound", "static", "--verbose")
    assert "order search: best-first search over orders" in verbose.out
    refused = topdag("best", asia, "--bound", "static")
    assert refused.code == Exit.BAD_INPUT and "ask for that, too" in refused.err


def test_quiet_leaves_out_table_notes_and_time(topdag: Topdag, tmp_path: Path) -> None:
    path = tmp_path / "constant.csv"
    path.write_text("a,b,c\n0,1,5\n1,0,5\n")
    loud, verbose, quiet = (topdag("best", path, *words) for words in ([], ["--verbose"], ["--quiet"]))
    assert loud.out.startswith("table  2 rows, 3 variables: 3 categories.\n") and "next topdag edges " in loud.words
    assert "note   Column 'c' is constant" in loud.out and "note   Column 'c' is constant" in verbose.out
    assert re.search("^time ", verbose.out, re.MULTILINE) and not re.search("^time ", loud.out, re.MULTILINE)
    assert quiet.out and quiet.out in loud.out
    assert not re.search("^(table|note|time|next) ", quiet.out, re.MULTILINE)


@pytest.mark.parametrize("name", [name for name, kind in KINDS_BY_NAME.items() if kind.numbers is None])
def test_json_round_trips_through_check(topdag: Topdag, asia: Path, tmp_path: Path, name: str) -> None:
    written = tmp_path / "best.json"
    printed = json.loads(topdag("best", asia, "--score", name, "--json").out)
    assert topdag("best", asia, "--score", name, "-o", written).code == 0
    content = json.loads(written.read_text())
    assert {**printed, "stats": None} == {**content, "stats": None}
    assert content["proof"]["status"] == "PROVED"
    ran = topdag("check", written, asia)
    assert ran.code == 0, ran.out
    assert "fine" in ran.out


def test_options_reach_the_score_and_the_space(topdag: Topdag, asia: Path) -> None:
    given = ("--ess", "10", "--max-parents", "1", "--threads", "1", "--memory-limit", "1GB", "--time-limit", "60")
    content = json.loads(topdag("best", asia, *given, "--json").out)
    expected = td.best_network(td.score(asia, td.BDeu(10.0), max_parents=1))
    assert content["score"] == expected.score
    assert content["proof"]["space"] == expected.proof.space
    assert content["stats"]["threads"] == 1


def test_reading_options(topdag: Topdag, tmp_path: Path) -> None:
    path = tmp_path / "odd.txt"
    path.write_text("0\t1.5\t?\t2\n1\t2.5\t0\t1\n0\t0.5\t1\t3\n1\t3.5\t1\t1\n")
    reading = ("--no-header", "--separator", "tab", "--missing", "state", "--discretize", "quantile(2)")
    ran = topdag("best", path, *reading, "--weights", "V3", "-o", tmp_path / "best.json")
    assert ran.code == 0, ran.err
    assert "7 rows, 3 variables: 3 categories." in ran.out
    assert "Missing values are a state" in ran.out
    assert topdag("check", tmp_path / "best.json", path, *reading, "--weights", "V3").code == 0


def test_keep_constant(topdag: Topdag, tmp_path: Path) -> None:
    path = tmp_path / "constant.csv"
    path.write_text("a,b,c\n0,1,5\n1,0,5\n")
    assert "all networks on 2 variables" in topdag("best", path).out
    assert "all networks on 3 variables" in topdag("best", path, "--keep-constant").out


def test_dot(topdag: Topdag, asia: Path, tmp_path: Path) -> None:
    answer = td.best_network(asia)
    assert topdag("best", asia, "-o", tmp_path / "best.dot").code == 0
    assert answer.network is not None
    assert (tmp_path / "best.dot").read_text() == answer.network.to_dot()


@pytest.mark.parametrize("ending", ["jkl", "pss", "npz", "jkl.gz", "pss.gz"])
def test_best_of_a_score_file(topdag: Topdag, asia: Path, tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"scores.{ending}"
    assert topdag("score", asia, "-o", path).code == 0
    content = json.loads(topdag("best", path, "--json").out)
    assert content["score"] == pytest.approx(td.best_network(asia).score, abs=1e-5)
    assert content["proof"]["status"] == "PROVED"


def test_no_network_allowed(topdag: Topdag, tmp_path: Path) -> None:
    path = tmp_path / "circle.jkl"
    path.write_text("2\nA 1\n-1 1 B\nB 1\n-1 1 A\n")
    ran = topdag("best", path, "-o", tmp_path / "none.dot")
    assert ran.code == Exit.FAILED
    assert "No network is allowed" in ran.out
    assert "there is no network" in ran.err
    assert not (tmp_path / "none.dot").exists()


def test_names_that_promise_gzip_keep_it(topdag: Topdag, tmp_path: Path) -> None:
    table, answer = tmp_path / "asia.csv.gz", tmp_path / "best.json.gz"
    assert topdag("demo", "-o", table).code == Exit.FINE
    assert topdag("best", table, "-o", answer).code == Exit.FINE
    assert gzip.decompress(table.read_bytes()).startswith(b"asia,tub,smoke")
    assert json.loads(gzip.decompress(answer.read_bytes()))["proof"]["status"] == "PROVED"
    assert topdag("check", answer, table).code == Exit.FINE


def test_rules_by_column(topdag: Topdag, tmp_path: Path) -> None:
    columns = {name: numbers_of_all_kinds()[name] for name in ("float", "whole", "above_it", "codes")}
    path = tmp_path / "numbers.csv"
    path.write_text(
        "\n".join([",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))])
    )
    rules = ["median", "whole=uniform(3)", "above_it=none", "codes=0.5,1.5"]
    ran = topdag("best", path, *(word for rule in rules for word in ("--discretize", rule)))
    assert ran.code == 0, ran.err
    said = " ".join(ran.out.split())
    assert "Column 'float' was cut at its median" in said
    assert "Column 'whole' was cut at equal distances into 3 states" in said
    assert "Column 'codes' was cut at the points given into 3 states" in said
    assert "'above_it' was cut" not in said
    assert "60 rows, 4 variables: 1 number, 3 categories." in said
