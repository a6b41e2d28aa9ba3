"""What holds for all commands: -o and its endings, --json, standard input, answers that say how their table is read."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from cli_runs import Topdag

import topdag as td
from topdag.cli.command import Exit
from topdag.cli.commands import SUMMARIES

NEEDED: dict[str, list[str]] = {
    "score": ["TABLE", "--network", "NET"],
    "fit": ["TABLE", "NET"],
    "check": ["NET", "TABLE", "--score", "bic"],
    "show": ["NET"],
}
OF_TABLES = [
    "best",
    "list",
    "within",
    "edges",
    "paths",
    "evidence",
    "sample",
    "plan",
    "report",
    "score",
    "fit",
    "check",
]
NO_JSON = {"convert", "report", "demo"}  # a file, a page, and a text to read
BEGINNINGS = {
    ".json": b"{",
    ".dot": b"digraph",
    ".svg": b"<svg",
    ".png": b"\x89PNG",
    ".pdf": b"%PDF",
    ".bif": b"network",
    ".xml": b"<?xml",
    ".net": b"net",
    ".xdsl": b"<?xml",
    ".uai": b"BAYES",
}


@pytest.fixture
def places(asia: Path, tmp_path: Path) -> dict[str, Path]:
    td.write_network(tmp_path / "net.json", td.example_network().network)
    return {"TABLE": asia, "NET": tmp_path / "net.json"}


def words_for(command: str, places: dict[str, Path]) -> list[object]:
    return [command, *(places.get(word, word) for word in NEEDED.get(command, ["TABLE"]))]


@pytest.mark.parametrize("command", sorted(SUMMARIES.keys() - NO_JSON))
def test_json_is_printed_instead_of_the_text(topdag: Topdag, places: dict[str, Path], command: str) -> None:
    ran = topdag(*words_for(command, places), "--json")
    assert ran.code in (Exit.FINE, Exit.FAILED), ran.err
    for line in ran.out.splitlines() if command in ("list", "within") else [ran.out]:
        json.loads(line)


@pytest.mark.parametrize("command", OF_TABLES)
def test_a_table_may_come_from_standard_input(
    topdag: Topdag, places: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    more = ["-o", tmp_path / "page.html"] if command == "report" else []
    expected = topdag(*words_for(command, places), *more)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(places["TABLE"].read_bytes())))
    found = topdag(*("-" if word == places["TABLE"] else word for word in words_for(command, places)), *more)
    answers = [ran.out.partition("\nnext ")[0].splitlines() for ran in (found, expected)]
    without_time = [[line for line in lines if not line.startswith("time")] for lines in answers]
    assert without_time[0] == without_time[1]
    assert "\nnext " not in found.out  # no command reads it once more
    assert (found.code, found.err) == (expected.code, expected.err)


@pytest.mark.parametrize("ending", BEGINNINGS)
def test_the_ending_says_what_is_written(topdag: Topdag, asia: Path, tmp_path: Path, ending: str) -> None:
    if ending in (".png", ".pdf"):
        pytest.importorskip("matplotlib")
    commands = [["best", asia, "-o", tmp_path / f"best{ending}"]]
    td.write_network(tmp_path / "net.bif", td.example_network())
    commands += [[word, tmp_path / "net.bif", "-o", tmp_path / f"{word}{ending}"] for word in ("show", "convert")]
    commands.append(["fit", asia, tmp_path / "net.bif", "-o", tmp_path / f"fit{ending}"])
    for words in commands:
        ran = topdag(*words)
        assert ran.code == 0, ran.err
        assert Path(str(words[-1])).read_bytes().lstrip().startswith(BEGINNINGS[ending]), words


def test_several_files_and_others_refused(topdag: Topdag, asia: Path, tmp_path: Path) -> None:
    assert topdag("best", asia, "-o", tmp_path / "a.json", "-o", tmp_path / "a.svg").code == 0
    assert {path.name for path in tmp_path.glob("a.*")} == {"a.json", "a.svg"}
    for command in ("best", "list", "edges", "sample", "report", "show"):
        ran = topdag(command, asia, "-o", tmp_path / "picture.gif")
        assert (ran.code, "the name must end in" in ran.err) == (Exit.WRONG_USE, True)


def test_pictures_say_what_they_need(
    topdag: Topdag, asia: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    ran = topdag("best", asia, "-o", tmp_path / "best.png")
    assert (ran.code, "Pictures need matplotlib: pip install" in ran.err) == (Exit.BAD_INPUT, True)
    assert "proof" in ran.out  # the answer is not lost


def test_answers_say_how_their_table_is_read(topdag: Topdag, tmp_path: Path) -> None:
    table, answer = tmp_path / "odd.txt", tmp_path / "best.json"
    rows = [f"n{i};{i / 2:.1f};{'' if i == 7 else 'ab'[i % 2]};{i % 3};2".replace(".", ",") for i in range(40)]
    table.write_text("\n".join(["größe", *rows]).partition("\n")[2], encoding="latin-1")
    reading = [*("--no-header", "--separator", ";", "--missing", "drop", "--decimal", ",", "--leave-out", "V0")]
    reading += ["--discretize", "median", "--discretize", "V3=none", "--weights", "V4", "--encoding", "latin-1"]
    assert topdag("best", table, *reading, "-o", answer).code == 0
    said = json.loads(answer.read_text())["reading"]
    assert said == {
        "header": False,
        "separator": ";",
        "missing": "drop",
        "decimal": ",",
        "leave_out": ["V0"],
        "discretize": {"V3": None, "*": "quantile(2)"},
        "weights": "V4",
        "encoding": "latin-1",
    }
    for words in (["check", answer, table], ["fit", table, answer], ["score", table, "--network", answer]):
        assert topdag(*words).code == 0
    assert td.best_network(table, **said).to_dict()["reading"] == said
    answer.write_text(json.dumps(json.loads(answer.read_text()) | {"reading": {"unknown": 1}}))
    ran = topdag("check", answer, table)
    assert (ran.code, "'reading' does not say how a table is read" in ran.err) == (Exit.BAD_INPUT, True)


def test_columns_are_chosen_by_name(topdag: Topdag, asia: Path, tmp_path: Path) -> None:
    answer = tmp_path / "best.json"
    assert topdag("best", asia, "--columns", "smoke, lung", "--columns", "dysp", "-o", answer).code == 0
    assert td.read_network(answer).names == ("smoke", "lung", "dysp")
    assert topdag("check", answer, asia).code == 0
    assert "close to it are 'lung'" in topdag("best", asia, "--columns", "smoke,lunk").err


def test_show_says_what_a_file_holds(topdag: Topdag, asia: Path, tmp_path: Path) -> None:
    topdag("best", asia, "-o", tmp_path / "best.json")
    ran = topdag("show", tmp_path / "best.json")
    assert "size   8 variables" in ran.out
    assert "proof  proved, among all networks on 8 variables" in " ".join(ran.out.split(" "))
    td.write_network(tmp_path / "net.bif", td.example_network())
    assert "probabilities" in topdag("show", tmp_path / "net.bif").out


@pytest.mark.parametrize(("size", "n_bytes"), [("8G", 8e9), ("1.5g", 1.5e9), ("500M", 5e8), ("2K", 2e3), ("1T", 1e12)])
def test_sizes_by_a_letter(size: str, n_bytes: float) -> None:
    from topdag._util.memory import parse_bytes

    assert parse_bytes(size) == n_bytes


@pytest.mark.parametrize("command", ["fit", "list", "edges", "report"])
def test_one_file_is_named_once(topdag: Topdag, places: dict[str, Path], tmp_path: Path, command: str) -> None:
    ran = topdag(*words_for(command, places), "-o", tmp_path / "a.json", "-o", tmp_path / "b.json")
    assert ran.code == Exit.WRONG_USE and "argument -o: one file is written here; give it once" in ran.err


@pytest.mark.parametrize("ending", ["json", "bif", "xml", "net", "xdsl", "uai", "bif.gz"])
def test_a_network_may_come_from_standard_input(
    topdag: Topdag, asia: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    """Whatever the format: no name tells it."""
    td.write_network(tmp_path / f"net.{ending}", td.example_network())
    commands: dict[str, list[object]] = {"show": ["NET"], "convert": ["NET", "-o", tmp_path / "out.json"]}
    if ending != "uai":  # it has no names, so it fits no table
        commands |= {"fit": ["TABLE", "NET"], "score": ["TABLE", "--network", "NET"]}
        commands["best"] = ["TABLE", "--start", "NET", "--quiet"]
    for command, words in commands.items():
        named, piped = (
            [{"NET": net, "TABLE": asia}.get(str(word), word) for word in words]
            for net in (tmp_path / f"net.{ending}", "-")
        )
        expected = topdag(command, *named)
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO((tmp_path / f"net.{ending}").read_bytes())))
        found = topdag(command, *piped)
        assert (found.code, found.out, found.err) == (Exit.FINE, expected.out, expected.err), command


def test_an_answer_may_come_from_standard_input(
    topdag: Topdag, asia: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = topdag("best", asia, "--json").out.encode()
    for words, code in ((["show", "-"], Exit.FINE), (["check", "-", asia], Exit.FINE), (["check", "-", "-"], 2)):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(answer)))
        assert topdag(*words).code == code, words
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"{]")))
    assert "standard input: this is not JSON" in topdag("check", "-", asia).err


@pytest.mark.parametrize("command", ["list", "sample", "bootstrap", "effects", "report"])
def test_how_many_is_said_by_the_same_letter(topdag: Topdag, command: str) -> None:
    assert "\n  -k " in topdag(command, "--help").out
