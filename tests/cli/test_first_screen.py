"""The first screen of ``topdag best``: how the table was read, the network, the proof, doubts, and the next command."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli_runs import Topdag

import topdag as td
from topdag.cli.command import Exit
from topdag.cli.streams import WIDTH

MOST_LINES = 25


def flowers() -> pd.DataFrame:
    """As in iris: four measurements and a species."""
    rng = np.random.default_rng(1)
    species = np.repeat(["setosa", "versicolor", "virginica"], 40)
    size = np.repeat([0.0, 1.0, 2.0], 40) + rng.normal(0, 0.3, 120)
    columns = {name: (size * k + rng.normal(3, 0.3, 120)).round(1) for k, name in enumerate(["sw", "sl", "pw", "pl"])}
    return pd.DataFrame(columns).assign(Species=species)


def births() -> pd.DataFrame:
    """As in birthwt: codes, a weight column that is a body weight, and numbers of rows with gaps among them."""
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(
        {
            "low": np.repeat([0, 1], 95),
            "age": rng.integers(14, 40, 190),
            "lwt": rng.integers(80, 250, 190),
            "race": rng.integers(1, 4, 190),
            "smoke": rng.integers(0, 2, 190),
        }
    ).assign(bwt=lambda own: 3200 - 900 * own.low - 150 * own.smoke + rng.normal(0, 200, 190).round())
    return frame.set_index(np.arange(190) + 85 + np.arange(190) // 7)


def passengers() -> pd.DataFrame:
    """As in Titanic: each row a cell of a table of counts."""
    rows = [
        (c, s, a, v) for v in ("No", "Yes") for a in ("Child", "Adult") for s in ("M", "F") for c in ("1", "2", "3")
    ]
    freq = [0, 0, 35, 0, 0, 17, 118, 154, 387, 4, 13, 89, 5, 11, 13, 1, 13, 14, 57, 14, 75, 140, 80, 76]
    return pd.DataFrame(rows, columns=["Class", "Sex", "Age", "Survived"]).assign(Freq=freq)


TABLES: dict[str, tuple[Callable[[], pd.DataFrame], str, str]] = {
    "flowers": (flowers, "120 rows, 5 variables: 4 numbers, 1 category.", "RankBIC()"),
    "births": (births, "190 rows, 6 variables: 3 numbers, 3 categories.", "RankBIC()"),
    "passengers": (passengers, "1,316 rows, 4 variables: 4 categories.", "BIC()"),
}


@pytest.fixture(params=TABLES)
def case(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Path]:
    path = tmp_path / f"{request.param}.csv"
    TABLES[request.param][0]().to_csv(path)
    return request.param, path


def test_it_fits_and_says_what_matters(topdag: Topdag, case: tuple[str, Path]) -> None:
    name, path = case
    ran = topdag("best", path)
    lines = ran.out.splitlines()
    assert (ran.code, ran.err) == (Exit.FINE, "")
    assert len(lines) <= MOST_LINES and all(len(line) <= max(WIDTH, len(str(path)) + 8) for line in lines)
    assert lines[0] == f"table  {TABLES[name][1]}"
    assert "Left out: the row names." in ran.words
    labels = [line.split(" ", 1)[0] for line in lines if line[:7] in ("score  ", "proof  ", "note   ", "next   ")]
    n_notes = labels.count("note")
    assert labels == ["score", "proof", *["note"] * n_notes, "next"] and n_notes <= 3
    assert ran.words.rpartition(" next topdag ")[2].endswith(f"{path} tells how sure each edge is")
    assert f"nats, {TABLES[name][2]}" in ran.out
    for detail in ("rounded to 2^", "planned", "lattice", " bits"):
        assert detail not in ran.out


def test_every_family_stands_there_without_its_score(topdag: Topdag, case: tuple[str, Path]) -> None:
    name, path = case
    answer = td.best_network(path)
    assert answer.network is not None and answer.network.local_scores is not None
    assert set(answer.network.names) == set(TABLES[name][0]().columns) - {"Freq"}
    plain, scored = topdag("best", path).out, topdag("best", path, "--scores").out
    families = plain.split("\n\n")[1].splitlines()
    assert [line.split(" <- ")[0] for line in families[: len(answer.network.names)]] == list(answer.network.names)
    for value in answer.network.local_scores.values():
        assert f"{value:.6f}" in scored
    assert plain.splitlines()[0] == scored.splitlines()[0]


def test_details_on_request(topdag: Topdag, case: tuple[str, Path]) -> None:
    ran = topdag("best", case[1], "--verbose")
    assert "local scores rounded to 2^-" in ran.words and "planned" in ran.words and "lattice" in ran.words
    assert ("bits" in ran.words) == (case[0] == "passengers")


def test_the_command_that_is_named_next_answers(topdag: Topdag, case: tuple[str, Path]) -> None:
    asked = topdag("best", case[1]).words.rpartition(" next topdag ")[2].removesuffix(" tells how sure each edge is")
    assert topdag(*asked.split(" ", 1)).code == Exit.FINE


def test_types_that_are_given_decide(topdag: Topdag, tmp_path: Path) -> None:
    path = tmp_path / "births.csv"
    births().to_csv(path)
    given = {"race": "categorical", "bwt": "text", "age": "categorical"}
    words = ["--types", ",".join(f"{name}={of}" for name, of in given.items())]
    ran = topdag("best", path, *words)
    table = td.read_table(path, types=given)
    assert ran.code == Exit.FINE and table.names == ("low", "age", "lwt", "race", "smoke")
    assert table.continuous == ("lwt",) and "age" not in table.ordered
    assert json.loads(topdag("best", path, *words, "--json").out)["score"] == td.best_network(path, types=given).score
    freq = tmp_path / "passengers.csv"
    passengers().to_csv(freq)
    assert "Freq" in topdag("best", freq, "--types", "Freq=count").out.split("\n\n")[1]
    wrong = topdag("best", path, "--types", "rase=categorical")
    assert wrong.code == Exit.BAD_INPUT and "close to it are 'race'" in wrong.err


def test_a_table_too_large_for_sums_is_answered_by_the_bootstrap(topdag: Topdag, tmp_path: Path) -> None:
    numbers = np.random.default_rng(3).normal(size=(60, 30)).round(2)
    path = tmp_path / "wide.csv"
    pd.DataFrame(numbers, columns=[f"x{v}" for v in range(30)]).to_csv(path, index=False)
    for command in ("edges", "evidence", "sample", "effects"):
        ran = topdag(command, path, "--memory-limit", "1GB")
        assert ran.code == Exit.TOO_LARGE, command
        assert "30 variables" in ran.err and "topdag bootstrap" in ran.err, command
    assert "next topdag bootstrap " in topdag("best", path, "--max-parents", "1").words
