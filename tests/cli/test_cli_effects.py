"""``topdag effects``."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from cli_runs import Topdag

import topdag as td


def test_the_largest_effects_are_printed_with_what_is_assumed(topdag: Topdag, asia: Path) -> None:
    ran = topdag("effects", asia, "--cause", "smoke", "--show", "2", "--draws", "100", "--seed", "3")
    found = td.causal_effects(td.read_table(asia), "smoke", draws=100, seed=3)
    assert ran.code == 0
    table, _, told = ran.out.partition("\n\n")
    lines = told.splitlines()
    assert table == "table  500 rows, 8 variables: 8 categories." and lines[0].split()[:3] == [
        "cause",
        "outcome",
        "effect",
    ]
    assert lines[1].split()[:5] == [cell for line in found.lines(1)[1:] for cell in line.split()[:5]]
    assert lines[3] == "and 5 that are no larger (--show)"
    assert "whatever led both to a cause and to an outcome" in ran.words
    assert "all networks, all networks equally likely before" in ran.words
    assert "1 imaginary row of BDeu" in topdag("effects", asia, "--cause", "smoke", "--score", "bdeu").words


def test_json_and_files(topdag: Topdag, asia: Path, tmp_path: Path) -> None:
    options = ("--cause", "smoke", "--outcome", "lung", "--outcome", "bronc", "--draws", "50")
    found = td.causal_effects(td.read_table(asia), "smoke", ["lung", "bronc"], draws=50)
    ran = topdag("effects", asia, *options, "--json", "-o", tmp_path / "effects.csv")
    assert json.loads(ran.out) == json.loads(json.dumps(found.to_dict()))
    rows = list(csv.DictReader((tmp_path / "effects.csv").read_text().splitlines()))
    assert [float(row["effect"]) for row in rows] == [effect.value for effect in found.ranked]
    assert topdag("effects", asia, *options, "--quiet", "-o", tmp_path / "effects.json").code == 0
    assert json.loads((tmp_path / "effects.json").read_text()) == json.loads(ran.out)


def test_a_picture(topdag: Topdag, asia: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    assert topdag("effects", asia, "--cause", "smoke", "--draws", "9", "-o", tmp_path / "effects.png").code == 0
    assert (tmp_path / "effects.png").read_bytes().startswith(b"\x89PNG")


def test_over_a_list(topdag: Topdag, asia: Path) -> None:
    ran = topdag("effects", asia, "-k", "20", "--draws", "0", "--score", "bic", "--json")
    found = td.causal_effects(td.k_best_networks(td.read_table(asia), 20, "bic"), draws=0)
    assert json.loads(ran.out)["effects"] == json.loads(json.dumps(found.to_dict()))["effects"]
    assert "20 best networks" in json.loads(ran.out)["over"]


def test_over_a_bootstrap(topdag: Topdag, asia: Path, tmp_path: Path) -> None:
    options = ("--bootstrap", "6", "--draws", "20", "--seed", "5")
    ran = topdag("effects", asia, *options, "--score", "bic", "--max-parents", "2", "--json")
    drawn = td.bootstrap(td.read_table(asia), 6, "bic", seed=5, max_parents=2)
    found = td.causal_effects(drawn, draws=20, seed=5)
    assert json.loads(ran.out)["effects"] == json.loads(json.dumps(found.to_dict()))["effects"]
    assert "of each of 6 tables drawn from the rows" in json.loads(ran.out)["over"]
    assert topdag("score", asia, "-o", tmp_path / "best.npz", "--keep", "best").code == 0
    assert topdag("effects", tmp_path / "best.npz", *options).code == 0
    assert topdag("effects", asia, "--bootstrap", "6", "-k", "3").code == 2
    ran = topdag("effects", asia, "--bootstrap", "6", "--time-limit", "0")
    assert ran.code == 3 and ran.out == "" and ran.err


def test_wrong_use_and_limits(topdag: Topdag, asia: Path) -> None:
    ran = topdag("effects", asia, "--cause", "smok")
    assert ran.code != 0 and "did you mean 'smoke'" in ran.err
    ran = topdag("effects", asia, "--cause", "smoke", "--outcome", "smoke")
    assert ran.code == 4 and "'smoke' is both cause and outcome" in ran.err
    assert topdag("effects", asia, "--share", "0").code == 2
    ran = topdag("effects", asia, "--time-limit", "0")
    assert "no partial answer" in ran.err and ran.out == ""


@pytest.mark.parametrize("options", [(), ("-k", "5")])
def test_scores_without_their_table_are_refused_at_once(
    topdag: Topdag, asia: Path, tmp_path: Path, options: tuple[str, ...]
) -> None:
    scores = td.score(td.read_table(asia), keep="all")
    td.io.write_scores(tmp_path / "asia.jkl", scores)
    ran = topdag("effects", tmp_path / "asia.jkl", *options)
    assert ran.code == 4 and "Ask with the table" in ran.err and "keep" not in ran.err
    td.io.write_scores(tmp_path / "asia.npz", scores)
    assert topdag("effects", tmp_path / "asia.npz", "--draws", "0", *options).code == 0
