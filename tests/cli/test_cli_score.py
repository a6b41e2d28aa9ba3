"""``topdag score`` and ``topdag check``."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli_runs import Topdag

import topdag as td
from topdag.cli.command import Exit
from topdag.cli.commands import score as score_command
from topdag.scoring.keep import Keep


@pytest.mark.parametrize(
    ("words", "kept", "purpose"),
    [
        ([], "best", "kept for the best network"),
        (["--keep", "all"], "all", "kept for every question"),
        (["--keep", "within(20)"], td.Within(20), "kept for networks within a Bayes factor of 20"),
        (["--keep", "kbest(50)"], td.KBest(50), "kept for the 50 best networks or classes"),
        (["--keep", "kbest(50)", "--score", "k2"], td.KBest(50), "kept for the 50 best networks\n"),
    ],
)
def test_score_says_what_was_kept(
    topdag: Topdag, asia: Path, tmp_path: Path, words: list[str], kept: Keep, purpose: str
) -> None:
    ran = topdag("score", asia, "-o", tmp_path / "out.jkl", "--max-parents", "3", *words)
    expected = td.score(asia, td.K2() if "k2" in words else td.BIC(), max_parents=3, keep=kept)
    assert ran.code == 0
    assert f"{expected.n_families:,} families of 8 variables with at most 3 parents" in ran.out
    assert purpose in ran.out
    assert td.io.read_scores(tmp_path / "out.jkl").n_families == expected.n_families


def test_npz_keeps_all_unless_told(topdag: Topdag, asia: Path, tmp_path: Path) -> None:
    assert topdag("score", asia, "-o", tmp_path / "out.npz").code == 0
    assert td.io.read_scores(tmp_path / "out.npz").keep == "all"


@pytest.mark.parametrize(("name", "file"), [("a b", "s.jkl"), ("a b", "s.pss.gz"), ("covar", "s.pss")])
def test_names_that_a_file_cannot_hold_are_told_before_scoring(
    topdag: Topdag, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, file: str
) -> None:
    table = tmp_path / "table.csv"
    table.write_text(f"{name},b\n0,1\n1,0\n")
    assert topdag("score", table, "-o", tmp_path / "s.npz").code == Exit.FINE
    monkeypatch.setattr(score_command, "score", None)
    ran = topdag("score", table, "-o", tmp_path / file)
    assert (
        ran.code == Exit.BAD_INPUT
        and f"{file}: not written: " in ran.err
        and "rename the variable or write a ." in ran.err
    )


def test_score_of_a_family(topdag: Topdag, asia: Path) -> None:
    ran = topdag("score", asia, "--family", "lung", "smoke", "asia", "--score", "bic")
    expected = td.score(asia, td.BIC()).local("lung", ["smoke", "asia"])
    assert ran.out == f"lung <- smoke, asia  {expected:.6f}\n"


def test_score_of_a_network(topdag: Topdag, asia: Path, tmp_path: Path) -> None:
    network = td.example_network().network
    td.write_network(tmp_path / "net.json", network)
    ran = topdag("score", asia, "--network", tmp_path / "net.json", "--score", "qnml")
    scores = td.score(asia, td.qNML())
    assert ran.code == 0
    assert f"score  {scores.of(network):.6f} nats, qNML()" in ran.out
    for value in scores.breakdown(network).values():
        assert f"{value:.6f}" in ran.out


@pytest.fixture
def answer(topdag: Topdag, asia: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(topdag("best", asia, "--json").out)
    return found


def raise_everything(answer: dict[str, Any]) -> None:
    answer["network"]["local_scores"]["lung"] += 1
    for part, name in ((answer["network"], "score"), (answer, "score"), (answer["proof"], "bound")):
        part[name] += 1


TAMPERED: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "a local score": (raise_everything, "lung: the answer says"),
    "the answer's score": (lambda a: a.update(score=a["score"] + 1), "score: the answer says"),
    "score and bound": (
        lambda a: (a.update(score=a["score"] + 1), a["proof"].update(bound=a["score"])),
        "score: the answer says",
    ),
    "the network's score": (lambda a: a["network"].update(score=-1.0), "The score is given as -1.0"),
    "an edge": (lambda a: a["network"]["edges"].pop(), "the data give"),
    "a cycle": (lambda a: a["network"]["edges"].append(["either", "lung"]), "cycle: lung -> either -> lung"),
    "a low bound": (lambda a: a["proof"].update(bound=-1e6, gap=0.0), "below the score"),
    "a gap": (lambda a: a["proof"].update(gap=1.0), "gap"),
    "no bound": (lambda a: a["proof"].update(bound=None), "the bound is None"),
    "a bound in words": (lambda a: a["proof"].update(bound="high"), "the bound is 'high'"),
    "a bound of NaN": (lambda a: a["proof"].update(status="STOPPED", bound=math.nan, gap=math.nan), "not a number"),
    "a bound without end": (lambda a: a["proof"].update(bound=10**400), "not a number"),
    "a list of statuses": (lambda a: a["proof"].update(status=["PROVED"]), "no proof with a status"),
    "no proof": (lambda a: a.pop("proof"), "no proof"),
    "another status": (lambda a: a["proof"].update(status="SURE"), "no proof with a status"),
    "no network": (lambda a: a.update(network=None), "no network"),
}


@pytest.mark.parametrize("what", TAMPERED)
def test_check_finds_tampering(topdag: Topdag, asia: Path, tmp_path: Path, answer: dict[str, Any], what: str) -> None:
    tamper, message = TAMPERED[what]
    tamper(answer)
    (tmp_path / "tampered.json").write_text(json.dumps(answer))
    ran = topdag("check", tmp_path / "tampered.json", asia)
    assert ran.code == Exit.FAILED, ran.err
    assert "wrong" in ran.out
    assert message in " ".join(ran.out.split())
    assert "fine" not in ran.out


def test_check_needs_the_score_of_a_bare_network(topdag: Topdag, asia: Path, tmp_path: Path) -> None:
    path = tmp_path / "net.json"
    td.write_network(path, td.example_network().network)
    unsaid = topdag("check", path, asia)
    assert unsaid.code == Exit.WRONG_USE
    assert "add --score: bdeu, bic" in unsaid.err
    ran = topdag("check", path, asia, "--score", "bic")
    assert ran.code == 0
    assert "the file claims no score" in ran.out


def test_check_with_another_score_than_the_file_says(topdag: Topdag, asia: Path, tmp_path: Path) -> None:
    topdag("best", asia, "-o", tmp_path / "best.json")
    ran = topdag("check", tmp_path / "best.json", asia, "--ess", "2")
    assert ran.code == Exit.BAD_INPUT
    assert "the score is BIC(), not BDeu(ess=2.0)" in ran.err
    topdag("best", asia, "--score", "bdeu", "-o", tmp_path / "best.json")
    ran = topdag("check", tmp_path / "best.json", asia, "--ess", "2")
    assert ran.code == Exit.BAD_INPUT
    assert "the score is BDeu(ess=1.0), not BDeu(ess=2.0)" in ran.err
