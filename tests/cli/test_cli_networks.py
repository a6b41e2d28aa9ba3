"""``topdag fit``, ``topdag convert`` and ``topdag best --fit``: networks for other programs."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_runs import Topdag

import topdag as td
from topdag.cli.command import Exit
from topdag.io.formats.bif import bif_text

ENDINGS = ("bif", "xml", "bifxml", "net", "xdsl", "json", "bif.gz")


@pytest.fixture
def best(topdag: Topdag, asia: Path, tmp_path: Path) -> Path:
    assert topdag("best", asia, "-o", tmp_path / "best.json").code == 0
    return tmp_path / "best.json"


@pytest.mark.parametrize("ending", ENDINGS)
def test_fit_writes_what_the_library_fits(topdag: Topdag, asia: Path, tmp_path: Path, best: Path, ending: str) -> None:
    out = tmp_path / f"fitted.{ending}"
    ran = topdag("fit", asia, best, "-o", out, "--ess", "2")
    assert (ran.code, ran.out.startswith(f"{out}: FittedNetwork(8 variables")) == (0, True)
    network = td.read_network(best)
    assert td.io.read_fitted(out) == network.fit(asia, 2)


def test_fit_prints_bif_and_mentions_unseen_parents(topdag: Topdag, asia: Path, best: Path) -> None:
    fitted = td.read_network(best).fit(asia)
    ran = topdag("fit", asia, best)
    assert ran.out == bif_text(fitted)
    assert [line.startswith("note") for line in ran.err.splitlines()][:1] == [True] * bool(fitted.notes)
    assert topdag("fit", asia, best, "--quiet").err == ""


def test_best_can_fit_at_once(topdag: Topdag, asia: Path, tmp_path: Path) -> None:
    ran = topdag("best", asia, "-o", tmp_path / "asia.bif")
    assert ran.code == 0
    assert td.io.read_fitted(tmp_path / "asia.bif") == td.best_network(asia).network.fit(asia)
    topdag("score", asia, "-o", tmp_path / "asia.jkl")
    assert topdag("best", tmp_path / "asia.jkl", "-o", tmp_path / "again.bif").code == Exit.WRONG_USE
    for wrong in ("-", tmp_path / "asia.txt", asia):
        assert topdag("best", asia, "-o", wrong).code in (Exit.WRONG_USE, Exit.BAD_INPUT)


@pytest.mark.parametrize("ending", ENDINGS)
def test_convert_keeps_the_network(topdag: Topdag, tmp_path: Path, ending: str) -> None:
    fitted = td.example_network()
    td.write_network(tmp_path / "first.bif", fitted)
    assert topdag("convert", tmp_path / "first.bif", "-o", tmp_path / f"second.{ending}").code == 0
    assert topdag("convert", tmp_path / f"second.{ending}", "-o", tmp_path / "third.json").code == 0
    assert td.io.read_fitted(tmp_path / "third.json") == fitted


def test_convert_bare_networks_and_answers(topdag: Topdag, tmp_path: Path, best: Path) -> None:
    assert topdag("convert", best, "-o", tmp_path / "bare.xml").code == 0
    assert topdag("convert", tmp_path / "bare.xml", "-o", tmp_path / "bare.dot").code == 0
    assert (tmp_path / "bare.dot").read_text() == td.read_network(best).to_dot()
    ran = topdag("convert", best, "-o", tmp_path / "bare.bif")
    assert ran.code == Exit.BAD_INPUT
    assert "topdag fit gives" in ran.err
    assert not (tmp_path / "bare.bif").exists()


def test_plain_names(topdag: Topdag, tmp_path: Path) -> None:
    (tmp_path / "odd.csv").write_text('blood pressure,"a,b"\n0,x y\n1,z\n0,z\n')
    network = td.Network(["blood pressure", "a,b"], {"a,b": ["blood pressure"]})
    td.write_network(tmp_path / "odd.json", network)
    refused = topdag("fit", tmp_path / "odd.csv", tmp_path / "odd.json", "-o", tmp_path / "odd.net")
    assert refused.code == Exit.BAD_INPUT
    assert "--plain-names" in refused.err
    ran = topdag("fit", tmp_path / "odd.csv", tmp_path / "odd.json", "-o", tmp_path / "odd.net", "--plain-names")
    assert ran.code == 0
    fitted = td.io.read_fitted(tmp_path / "odd.net")
    assert fitted.states == {"blood_pressure": ("s0", "s1"), "a_b": ("x_y", "z")}
    assert topdag("convert", tmp_path / "odd.json", "-o", tmp_path / "plain.json", "--plain-names").code == 0
    assert td.read_network(tmp_path / "plain.json").edges == (("blood_pressure", "a_b"),)


def test_refusals(topdag: Topdag, asia: Path, tmp_path: Path, best: Path) -> None:
    assert topdag("fit", asia, best, "--ess", "-1").code == Exit.WRONG_USE
    assert topdag("fit", asia, best, "--ess", "nan").code == Exit.WRONG_USE
    assert topdag("convert", best).code == Exit.WRONG_USE
    assert topdag("convert", best, "-o", best).code == Exit.BAD_INPUT
    assert topdag("fit", asia, best, "-o", asia).code == Exit.BAD_INPUT
    td.write_network(tmp_path / "other.json", td.Network(["asia", "smoek"], {}))
    ran = topdag("fit", asia, tmp_path / "other.json")
    assert (ran.code, "did you mean 'smoke'" in ran.err) == (Exit.BAD_INPUT, True)
    (tmp_path / "broken.bif").write_text("network x {\n}\nvariable a\n")
    ran = topdag("convert", tmp_path / "broken.bif", "-o", tmp_path / "out.xml")
    assert (ran.code, "broken.bif: line 4: expected '{'" in ran.err) == (Exit.BAD_INPUT, True)


def test_other_commands_read_these_networks(topdag: Topdag, asia: Path, tmp_path: Path) -> None:
    td.write_network(tmp_path / "start.bif", td.example_network())
    assert topdag("score", asia, "--network", tmp_path / "start.bif").code == 0
    assert topdag("best", asia, "--start", tmp_path / "start.bif").code == 0
