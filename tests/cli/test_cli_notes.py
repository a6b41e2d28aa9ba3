"""What was done to a table is said by every command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_runs import Topdag

import topdag as td

READING = ["--missing", "drop", "--discretize", "median"]
SAID = [
    "1 of 41 rows was dropped because of missing values",
    "Column 'size' was cut at its median into 2 states",
    "Left out: 'id' (row names).",
]
COMMANDS = [
    ["best", "TABLE"],
    ["list", "TABLE", "-k", "2"],
    ["within", "TABLE"],
    ["within", "TABLE", "--count"],
    ["edges", "TABLE"],
    ["paths", "TABLE"],
    ["evidence", "TABLE"],
    ["sample", "TABLE", "-k", "5"],
    ["fit", "TABLE", "NET"],
    ["score", "TABLE", "--family", "size"],
    ["score", "TABLE", "--network", "NET"],
    ["score", "TABLE", "-o", "scores.npz"],
    ["plan", "TABLE"],
    ["report", "TABLE", "-o", "page.html"],
    ["check", "NET", "TABLE", "--score", "bic"],
]


@pytest.fixture
def places(tmp_path: Path) -> dict[str, Path]:
    rows = [f"n{i},{i + 0.5},{'ab'[i % 2]}" for i in range(40)]
    (tmp_path / "table.csv").write_text("\n".join(["id,size,kind", *rows, "n40,,a"]))
    td.write_network(tmp_path / "net.json", td.Network(["size", "kind"], {"size": ["kind"]}))
    outputs = {name: tmp_path / name for name in ("scores.npz", "page.html")}
    return {"TABLE": tmp_path / "table.csv", "NET": tmp_path / "net.json"} | outputs


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_says_what_was_done_to_the_table(
    topdag: Topdag, places: dict[str, Path], words: list[str]
) -> None:
    ran = topdag(*(places.get(word, word) for word in words), *READING)
    assert ran.code == 0, ran.err
    said = " ".join((ran.out + ran.err).split())
    for sentence in SAID:
        assert sentence in said


@pytest.mark.parametrize("command", ["edges", "paths", "evidence", "sample", "plan"])
def test_json_says_it_too(topdag: Topdag, places: dict[str, Path], command: str) -> None:
    content = json.loads(topdag(command, places["TABLE"], *READING, "--json").out)
    for sentence in SAID:
        assert any(sentence in note for note in content["notes"])


def test_advice_is_in_words_of_the_shell(topdag: Topdag, places: dict[str, Path]) -> None:
    ran = topdag("best", places["TABLE"], "--missing", "error")
    assert ran.code == 4
    assert "--missing drop leaves such rows out" in ran.err
    settled = ["--missing", "drop", "--discretize", "quantile(3)", "--types", "id=categorical"]
    assert topdag("best", places["TABLE"], *settled).code == 0
