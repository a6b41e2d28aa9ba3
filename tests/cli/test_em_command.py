"""``topdag em``: what it prints and writes, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_runs import Topdag
from stop_cases.counted import counted_clock

import topdag as td


@pytest.fixture
def gaps(tmp_path: Path) -> Path:
    rows = ["rain,wet,cold", *["yes,yes,no", "no,no,no", ",yes,", "no,,yes"] * 20]
    path = tmp_path / "gaps.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


def test_the_same_as_the_call(topdag: Topdag, gaps: Path, tmp_path: Path) -> None:
    found = td.structural_em(gaps, "aic", draws=1, seed=3, max_parents=1)
    words = ("em", gaps, "--draws", 1, "--seed", 3, "--max-parents", 1, "--score", "aic")
    ran = topdag(*words, "-o", tmp_path / "em.json", "-o", tmp_path / "em.bif")
    assert ran.code == 0
    assert f"{found.score:.6f} nats of what was observed, AIC()" in ran.words
    assert "None. A local optimum, not proved best: the highest of 4 climbs, each step exact" in ran.words
    assert all(text in ran.words for text in found.climbs_in_words)
    written = json.loads((tmp_path / "em.json").read_text())
    assert written["network"] == found.network.to_dict() and written["score"] == found.score
    assert td.read_network(tmp_path / "em.json") == found.network
    shown = topdag("show", tmp_path / "em.json")
    assert shown.code == 0 and "none: a local optimum, not proved best" in shown.words
    assert td.io.read_bif(tmp_path / "em.bif").network == found.network
    assert json.loads(topdag(*words, "--json").out)["climbs"] == written["climbs"]


def test_a_network_to_start_from(topdag: Topdag, gaps: Path, tmp_path: Path) -> None:
    td.write_network(tmp_path / "start.json", td.Network(["rain", "wet", "cold"], {"cold": ["wet"]}))
    ran = topdag("em", gaps, "--start", tmp_path / "start.json", "--draws", 0)
    assert ran.code == 0 and "from network 0 given" in ran.words


def test_when_the_time_is_up_the_best_so_far_is_printed(topdag: Topdag, gaps: Path) -> None:
    with counted_clock():
        ran = topdag("em", gaps, "--time-limit", 40, "--quiet")
    assert ran.code == 3 and "stopped by time limit" in ran.words
    none = topdag("em", gaps, "--time-limit", 0, "--require", "rain -> wet")
    assert none.code == 3 and "no network was found yet" in none.err and not none.out


def test_other_scores_are_refused(topdag: Topdag, gaps: Path) -> None:
    ran = topdag("em", gaps, "--score", "k2")
    assert ran.code == 4 and "topdag em takes BIC() or AIC(), not K2()" in ran.err
