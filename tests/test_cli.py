"""The command line: what each command prints, how it ends, and what it says to wrong input."""

from __future__ import annotations

import json
import math
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cli_runs import TIMEOUT, Topdag

import topdag as td
from topdag.cli import in_options
from topdag.commands import ALL, best
from topdag.commands.command import Exit
from topdag.commands.demo import comparison, csv_text
from topdag.commands.docs import commands_page
from topdag.commands.show import ProgressLine, answer_text, network_text, progress_in_words, progress_line
from topdag.commands.values import keep, score_name, whole
from topdag.engines import best_network_bytes
from topdag.score_kinds import KINDS_BY_NAME

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table that takes far longer than any test waits: many variables, many distinct rows."""
    path = tmp_path_factory.mktemp("large") / "large.csv"
    path.write_text(csv_text(td.random_network(22, arities=3, seed=1).sample(10_000, seed=1)))
    return path


Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts a command in a process of its own, which does not outlive the test."""
    processes = []

    def started(*words: object, **streams: Any) -> subprocess.Popen[str]:
        here = {"PYTHONPATH": str(Path(td.__file__).parents[1]), "TERM": "xterm", "COLUMNS": "100"}
        command = [sys.executable, "-m", "topdag", *map(str, words)]
        processes.append(subprocess.Popen(command, text=True, env=os.environ | here, **streams))
        return processes[-1]

    yield started
    for process in processes:
        if process.poll() is None:
            process.kill()
            process.communicate()


def bound_in(text: str) -> float:
    found = re.search(r"above the\s+bound\s+(-\d+\.\d+)", text)
    assert found, text
    return float(found[1])


# The best network


def test_best_prints_every_family_the_score_and_the_proof(topdag: Topdag, asia: Path) -> None:
    answer = td.best_network(asia)
    ran = topdag("best", asia)
    assert (ran.code, ran.err) == (0, "")
    assert answer.network is not None
    assert answer.network.local_scores is not None
    for name, parents in answer.network.parents.items():
        family = f"{name} <- {', '.join(parents)}" if parents else name
        assert re.search(rf"^{family} +{answer.network.local_scores[name]:.6f}$", ran.out, re.MULTILINE)
    assert f"score  {answer.score:.6f} nats, BDeu(ess=1.0)" in ran.out
    assert "Proved: no network scores more, among all networks on 8 variables" in ran.out
    assert "500 rows" in ran.out
    assert "MDL" not in ran.out


def test_best_shows_bic_in_bits_too(topdag: Topdag, asia: Path) -> None:
    value = td.best_network(td.score(asia, td.BIC())).score
    assert f"MDL    {-value / math.log(2):.3f} bits" in topdag("best", asia, "--score", "bic").out


def test_quiet_leaves_out_table_notes_and_time(topdag: Topdag, tmp_path: Path) -> None:
    path = tmp_path / "constant.csv"
    path.write_text("a,b,c\n0,1,5\n1,0,5\n")
    loud, quiet = topdag("best", path), topdag("best", path, "--quiet")
    assert "note   Column 'c' is constant" in loud.out
    assert re.search("^time ", loud.out, re.MULTILINE)
    assert quiet.out and loud.out.startswith(quiet.out)
    assert "note" not in quiet.out


@pytest.mark.parametrize("name", KINDS_BY_NAME)
def test_json_round_trips_through_check(topdag: Topdag, asia: Path, tmp_path: Path, name: str) -> None:
    written = tmp_path / "best.json"
    printed = json.loads(topdag("best", asia, "--score", name, "--json", "-").out)
    assert topdag("best", asia, "--score", name, "--json", written).code == 0
    content = json.loads(written.read_text())
    assert {**printed, "stats": None} == {**content, "stats": None}
    assert content["proof"]["status"] == "PROVED"
    ran = topdag("check", written, asia)
    assert ran.code == 0, ran.out
    assert "fine" in ran.out


def test_options_reach_the_score_and_the_space(topdag: Topdag, asia: Path) -> None:
    given = ("--ess", "10", "--max-parents", "1", "--threads", "1", "--memory-limit", "1GB", "--time-limit", "60")
    content = json.loads(topdag("best", asia, *given, "--json", "-").out)
    expected = td.best_network(td.score(asia, td.BDeu(10.0), max_parents=1))
    assert content["score"] == expected.score
    assert content["proof"]["space"] == expected.proof.space
    assert content["stats"]["threads"] == 1


def test_reading_options(topdag: Topdag, tmp_path: Path) -> None:
    path = tmp_path / "odd.txt"
    path.write_text("0\t1.5\t?\t2\n1\t2.5\t0\t1\n0\t0.5\t1\t3\n1\t3.5\t1\t1\n")
    reading = ("--no-header", "--separator", "tab", "--missing", "state", "--discretize", "quantile(2)")
    ran = topdag("best", path, *reading, "--weights", "V3", "--json", tmp_path / "best.json")
    assert ran.code == 0, ran.err
    assert "3 variables, 7 rows" in ran.out
    assert "Missing values are a state" in ran.out
    assert topdag("check", tmp_path / "best.json", path, *reading, "--weights", "V3").code == 0


def test_keep_constant(topdag: Topdag, tmp_path: Path) -> None:
    path = tmp_path / "constant.csv"
    path.write_text("a,b,c\n0,1,5\n1,0,5\n")
    assert "all networks on 2 variables" in topdag("best", path).out
    assert "all networks on 3 variables" in topdag("best", path, "--keep-constant").out


def test_dot(topdag: Topdag, asia: Path, tmp_path: Path) -> None:
    answer = td.best_network(asia)
    assert topdag("best", asia, "--dot", tmp_path / "best.dot").code == 0
    assert answer.network is not None
    assert (tmp_path / "best.dot").read_text() == answer.network.to_dot()


@pytest.mark.parametrize("ending", ["jkl", "pss", "npz", "jkl.gz", "pss.gz"])
def test_best_of_a_score_file(topdag: Topdag, asia: Path, tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"scores.{ending}"
    assert topdag("score", asia, "-o", path).code == 0
    content = json.loads(topdag("best", path, "--json", "-").out)
    assert content["score"] == pytest.approx(td.best_network(asia).score, abs=1e-5)
    assert content["proof"]["status"] == "PROVED"


def test_no_network_allowed(topdag: Topdag, tmp_path: Path) -> None:
    path = tmp_path / "circle.jkl"
    path.write_text("2\nA 1\n-1 1 B\nB 1\n-1 1 A\n")
    ran = topdag("best", path, "--dot", tmp_path / "none.dot")
    assert ran.code == Exit.FAILED
    assert "No network is allowed" in ran.out
    assert "there is no network" in ran.err
    assert not (tmp_path / "none.dot").exists()


# Limits, Ctrl-C and closed pipes


def test_time_limit_zero_gives_a_valid_bound(topdag: Topdag, asia: Path, tmp_path: Path) -> None:
    optimum = td.best_network(asia).score
    ran = topdag("best", asia, "--time-limit", "0", "--json", tmp_path / "stopped.json")
    assert ran.code == Exit.STOPPED
    assert "Stopped by the time limit" in ran.out
    content = json.loads((tmp_path / "stopped.json").read_text())
    assert content["score"] <= optimum <= content["proof"]["bound"] <= bound_in(ran.out)
    assert topdag("check", tmp_path / "stopped.json", asia).code == 0


def test_too_large(topdag: Topdag, asia: Path, tmp_path: Path) -> None:
    ran = topdag("best", asia, "--memory-limit", "1kB")
    assert (ran.code, ran.out) == (Exit.TOO_LARGE, "")
    assert "allowed by --memory-limit" in ran.err
    wide = tmp_path / "wide.csv"
    wide.write_text("\n".join([",".join(f"v{i}" for i in range(30)), ",".join("0" * 30), ",".join("1" * 30)]))
    assert topdag("best", wide).code == Exit.TOO_LARGE
    assert topdag("score", wide, "-o", tmp_path / "wide.jkl").code == Exit.TOO_LARGE


def test_ctrl_c_prints_what_is_known(start: Start, large: Path, tmp_path: Path) -> None:
    """The signal is sent once the progress line has appeared, so this tests that line too."""
    ours, theirs = pty.openpty()
    json_file = tmp_path / "stopped.json"
    process = start("best", large, "--threads", 1, "--json", json_file, stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    seen = ""
    while "counting" not in seen:
        seen += os.read(ours, 1024).decode()
    assert re.search(r"counting \d+%, \d+ s, .* planned", seen)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=TIMEOUT)
    os.close(ours)
    assert process.returncode == Exit.INTERRUPTED
    assert "Stopped by Ctrl-C" in out
    content = json.loads(json_file.read_text())
    assert content["score"] <= content["proof"]["bound"] <= bound_in(out)


def test_ctrl_c_without_a_terminal(start: Start, large: Path) -> None:
    process = start("best", large, "--threads", 1, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with pytest.raises(subprocess.TimeoutExpired):
        process.communicate(timeout=3)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=TIMEOUT)
    assert process.returncode == Exit.INTERRUPTED
    assert "Traceback" not in err
    assert "counting" not in err


def test_ctrl_c_before_anything_is_known(topdag: Topdag, asia: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(best, "table_from", interrupted)
    ran = topdag("best", asia)
    assert (ran.code, ran.out) == (Exit.INTERRUPTED, "")
    assert "interrupted" in ran.err


@pytest.mark.parametrize("words", [["best", "FILE"], ["demo"], ["best", "--help"]])
def test_nobody_reads_the_output(start: Start, asia: Path, words: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    process = start(*(asia if word == "FILE" else word for word in words), stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    _, err = process.communicate(timeout=TIMEOUT)
    assert (process.returncode, err) == (Exit.NO_READER, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_stdout_is_full(start: Start, asia: Path) -> None:
    with open("/dev/full", "w") as full:
        process = start("best", asia, stdout=full, stderr=subprocess.PIPE)
        _, err = process.communicate(timeout=TIMEOUT)
    assert process.returncode == Exit.BAD_INPUT
    assert err.startswith("topdag: standard output: ")
    assert "Traceback" not in err


def test_names_that_stdout_cannot_encode(start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "names.csv"
    path.write_text("größe,b\n0,1\n1,0\n", encoding="utf-8")
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    for words in (["best", path], ["best", path, "--json", "-"]):
        out, err = start(*words, stdout=subprocess.PIPE, stderr=subprocess.PIPE).communicate(timeout=TIMEOUT)
        assert err == ""
        assert "gr" in out
    assert "größe" in json.loads(out)["network"]["variables"]


# Scores


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
    topdag: Topdag, asia: Path, tmp_path: Path, words: list[str], kept: td.scores.Keep, purpose: str
) -> None:
    ran = topdag("score", asia, "-o", tmp_path / "out.jkl", "--max-parents", "3", *words)
    expected = td.score(asia, td.K2() if "k2" in words else td.BDeu(), max_parents=3, keep=kept)
    assert ran.code == 0
    assert f"{expected.n_families:,} families of 8 variables with at most 3 parents" in ran.out
    assert purpose in ran.out
    assert td.read_scores(tmp_path / "out.jkl").n_families == expected.n_families


def test_npz_keeps_all_unless_told(topdag: Topdag, asia: Path, tmp_path: Path) -> None:
    assert topdag("score", asia, "-o", tmp_path / "out.npz").code == 0
    assert td.read_scores(tmp_path / "out.npz").keep == "all"


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


# Check


@pytest.fixture
def answer(topdag: Topdag, asia: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(topdag("best", asia, "--json", "-").out)
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
    "a cycle": (lambda a: a["network"]["edges"].append(["lung", "smoke"]), "cycle: smoke -> lung -> smoke"),
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
    topdag("best", asia, "--json", tmp_path / "best.json")
    ran = topdag("check", tmp_path / "best.json", asia, "--ess", "2")
    assert ran.code == Exit.BAD_INPUT
    assert "the score is BDeu(ess=1.0), not BDeu(ess=2.0)" in ran.err


# Demo, help, docs


def test_demo(topdag: Topdag, tmp_path: Path) -> None:
    path = tmp_path / "asia.csv"
    ran = topdag("demo", "--rows", "300", "--seed", "2", "--csv", path)
    answer = td.best_network(td.example_table(300, 2))
    assert ran.code == 0
    assert "8 variables, 300 rows" in ran.out
    assert f"score  {answer.score:.6f}" in ran.out
    assert "need not recover" in ran.out
    assert "Try next" in ran.out
    assert len(path.read_text().splitlines()) == 301


def test_demo_table_written_and_read_is_the_same(topdag: Topdag, asia: Path) -> None:
    written, sampled = td.best_network(asia), td.best_network(td.example_table())
    assert written.score == pytest.approx(sampled.score, abs=1e-9)


def test_comparison_in_words() -> None:
    truth = td.Network(["a", "b", "c", "d"], {"b": ["a"], "c": ["b"], "d": ["c"]})
    found = td.Network(["a", "b", "c", "d"], {"b": ["a"], "c": ["d"], "d": ["b"]})
    lines = comparison(found, truth).splitlines()
    assert [" ".join(line.split()) for line in lines[1:5]] == [
        "1 found a -> b",
        "1 reversed c -> d",
        "1 missing b -> c",
        "1 added b -> d",
    ]


def test_version_and_help(topdag: Topdag) -> None:
    assert topdag("--version").out == f"topdag {td.__version__}\n"
    assert topdag("--help").code == 0
    bare = topdag()
    assert (bare.code, bare.out) == (Exit.WRONG_USE, "")
    assert "topdag demo" in bare.err
    for command in ALL:
        ran = topdag(command.name, "--help")
        assert (ran.code, ran.err) == (0, "")
        assert all(part in ran.out for part in ("exit codes:", "costs:", "example"))


def test_module_is_a_command(start: Start) -> None:
    process = start("--version", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = process.communicate(timeout=TIMEOUT)
    assert (process.returncode, out, err) == (0, f"topdag {td.__version__}\n", "")


def test_docs_page_is_the_help() -> None:
    page, made = ROOT / "docs" / "commands.md", commands_page()
    if not page.exists() or page.read_text() != made:
        page.with_name("commands.md.new").write_text(made)
        pytest.fail("docs/commands.md is not the help of the commands; see docs/commands.md.new")


@pytest.mark.parametrize(("n", "megabytes"), [(17, 11), (20, 101), (23, 906), (25, 3892), (26, 8053)])
def test_memory_in_the_help(topdag: Topdag, n: int, megabytes: int) -> None:
    assert best_network_bytes(n) == 8 * (n * 2 ** (n - 1) + 2 * 2**n)
    assert round(best_network_bytes(n) / 1e6) == megabytes


# Wrong input


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["bst"], "best"),
        (["best"], "FILE"),
        (["best", "FILE", "--score", "bdue"], "there are bdeu, bic, aic, k2, fnml, qnml, bds; did you mean bdeu?"),
        (["best", "FILE", "--score", "bic", "--ess", "2"], "bic has no --ess; bdeu and bds have"),
        (["best", "FILE", "--ess", "-1"], "ess must be a positive number"),
        (["best", "FILE", "--ess", "nan"], "ess must be a positive number"),
        (["best", "FILE", "--ess", "one"], "'one' is not a number"),
        (["best", "FILE", "--max-parents", "-1"], "not a whole number from 0 on"),
        (["best", "FILE", "--max-parents", "2.5"], "not a whole number from 0 on"),
        (["best", "FILE", "--threads", "0"], "not a whole number from 1 to 1,024"),
        (["best", "FILE", "--time-limit", "-1"], "not a number of seconds"),
        (["best", "FILE", "--time-limit", "nan"], "not a number of seconds"),
        (["best", "FILE", "--memory-limit", "8 apples"], "such as 500MB or 8GB"),
        (["best", "FILE", "--missing", "ignore"], "drop"),
        (["best", "FILE", "--discretize", "thirds"], "mean, median, quantile(3) or uniform(4)"),
        (["best", "FILE", "--discretize", "quantile(1)"], "from 2 to"),
        (["best", "FILE", "--separator", "::"], "one character"),
        (["best", "FILE", "--json", "X", "--dot", "X"], "files of their own"),
        (["best", "FILE", "--dot", "-"], "name of a file"),
        (["best", "FILE", "--scor", "bic"], "unrecognized"),
        (["best", "some.jkl", "--score", "bic", "--no-header"], "--score, --no-header: this is for tables"),
        (["best", "some.jkl", "--max-parents", "0"], "--max-parents: this is for tables"),
        (["score", "FILE"], "required"),
        (["score", "FILE", "-o", "out.txt"], ".jkl, .pss, .npz"),
        (["score", "FILE", "-o", "x.jkl", "--family", "lung"], "not allowed with"),
        (["score", "FILE", "-o", "x.jkl", "--keep", "within"], "all, best, within(20)"),
        (["score", "FILE", "-o", "x.jkl", "--keep", "within(0.5)"], "all, best, within(20)"),
        (["score", "FILE", "-o", "x.jkl", "--keep", "kbest(0)"], "and kbest(100) with any whole number"),
        (["score", "FILE", "-o", "x.jkl", "--keep", "kbest(2.5)"], "and kbest(100) with any whole number"),
        (["score", "FILE", "-o", "x.jkl", "--keep", "kbest(3"], "and kbest(100) with any whole number"),
        (["score", "FILE", "--family", "lung", "--max-parents", "2"], "--max-parents: this goes with -o"),
        (["demo", "--rows", "0"], "from 1 to"),
        (["demo", "--seed", "x"], "whole number"),
    ],
)
def test_wrong_use(topdag: Topdag, asia: Path, words: list[str], message: str) -> None:
    ran = topdag(*(asia if word == "FILE" else word for word in words))
    assert (ran.code, ran.out) == (Exit.WRONG_USE, "")
    assert message in ran.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["best", "none.csv"], "there is no such file"),
        (["best", "none.jkl"], "none.jkl"),
        (["best", "none.npz"], "none.npz"),
        (["best", "FILE", "--weights", "wieght"], "--weights names a column 'wieght' that is not there"),
        (["best", "FILE", "--separator", ";"], "--separator"),
        (["best", "FILE", "--json", "FILE"], "this is the input"),
        (["best", "FILE", "--json", "no/such/folder/best.json"], "there is no folder"),
        (["best", "FILE", "--dot", "."], "not a file"),
        (["best", "FILE", "--dot", "d" * 300], "too long"),
        (["score", "FILE", "--family", "lunk", "smoke"], "'lung'"),
        (["score", "FILE", "--family", "lung", "smoke", "smoke"], "each variable once"),
        (["score", "FILE", "--network", "none.json"], "none.json"),
        (["score", "FILE", "--network", "FILE"], "this is not JSON"),
        (["score", "some.npz", "--family", "lung"], "holds scores already"),
        (["score", "FILE", "-o", "no/such/folder/out.jkl"], "there is no folder"),
        (["check", "none.json", "FILE"], "none.json"),
        (["check", "FILE", "FILE"], "this is not JSON"),
        (["demo", "--csv", "no/such/folder/asia.csv"], "there is no folder"),
    ],
)
def test_bad_input(topdag: Topdag, asia: Path, words: list[str], message: str) -> None:
    ran = topdag(*(asia if word == "FILE" else word for word in words))
    assert (ran.code, ran.out) == (Exit.BAD_INPUT, "")
    assert ran.err.startswith("topdag: ")
    assert message in ran.err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b\n1.5,0\n2.5,1\n", ["--discretize: mean, median, quantile(3) or uniform(4)"]),
        ("a,b\n?,0\n1,1\n", ["--missing drop", "--missing state"]),
        ("a,b\n0,0\n1\n", ["line 3", "--separator"]),
        ("a\n0\n1\n", ["--separator"]),
        ("", ["empty"]),
    ],
)
def test_messages_about_tables_name_the_options(topdag: Topdag, tmp_path: Path, text: str, words: list[str]) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(text)
    ran = topdag("best", path)
    assert ran.code == Exit.BAD_INPUT
    assert all(word in ran.err for word in words), ran.err
    assert re.search(r"\b(missing|discretize|separator)=", ran.err) is None


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[]", "expected a JSON object"),
        ("{}", "neither an answer nor a network"),
        ('{"format": "topdag-answer", "kind": "BIC"}', "'kind' is not a score"),
        ('{"format": "topdag-answer", "kind": {"name": "best"}}', "no score is called"),
        ('{"format": "topdag-answer", "kind": {"name": "bic", "ess": 1}}', "other settings"),
    ],
)
def test_check_of_other_files(topdag: Topdag, asia: Path, tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "odd.json").write_text(content)
    ran = topdag("check", tmp_path / "odd.json", asia)
    assert ran.code == Exit.BAD_INPUT
    assert message in ran.err


def test_other_variables(topdag: Topdag, asia: Path, tmp_path: Path) -> None:
    td.write_network(tmp_path / "net.json", td.Network(["lung", "heart"], {}))
    for words in (["check", tmp_path / "net.json", asia], ["score", asia, "--network", tmp_path / "net.json"]):
        ran = topdag(*words, "--score", "bic")
        assert ran.code == Exit.BAD_INPUT
        assert "different variables" in ran.err
        assert "heart" in ran.err


def test_output_that_is_stdout_already(start: Start, asia: Path, tmp_path: Path) -> None:
    printed = tmp_path / "printed.txt"
    for name in (printed, "/dev/stdout"):
        with printed.open("w") as out:
            process = start("best", asia, "--json", name, stdout=out, stderr=subprocess.PIPE)
            _, err = process.communicate(timeout=TIMEOUT)
        assert process.returncode == Exit.BAD_INPUT
        assert "stdout or stderr goes already" in err


def test_answer_is_printed_even_if_it_cannot_be_written(
    topdag: Topdag, asia: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise td.FileError("the disk is full")

    monkeypatch.setattr(best, "write_text", full)
    ran = topdag("best", asia, "--json", tmp_path / "best.json")
    assert ran.code == Exit.BAD_INPUT
    assert "Proved" in ran.out
    assert "the disk is full" in ran.err


# Small parts


def test_names_that_could_be_mistaken_are_quoted() -> None:
    network = td.Network(["a, b", "c\nd", "é"], {"é": ["a, b", "c\nd"]})
    assert network_text(network).splitlines() == ["'a, b'", "'c\\nd'", "é <- 'a, b', 'c\\nd'"]


def test_an_unknown_bound_is_said_to_be_unknown() -> None:
    proof = td.Proof(td.Status.STOPPED, math.inf, math.inf, "time_limit", "all networks on 2 variables")
    answer = td.Answer(None, -math.inf, proof, td.best_network(td.example_table(10)).stats)
    assert "no bound is known yet" in answer_text(answer, None)


def test_progress_in_words() -> None:
    begun = td.Progress("counting", 2.4, None, None, None, 0)
    assert progress_in_words(begun) == "counting, 2 s"
    later = td.Progress("ordering", 65.0, 0.25, -10.5, -10.0, 2_000_000)
    assert progress_in_words(later) == "ordering 25%, 65 s, 2 MB planned, best -10.500, bound -10.000, gap 0.500"


def test_no_progress_line_within_the_first_second_or_without_a_terminal() -> None:
    line = ProgressLine()
    line.show(td.Progress("counting", 0.9, 0.5, None, None, 0))
    assert vars(line) == {"_live": None}
    with progress_line(quiet=False) as on_progress:  # stderr is captured here
        assert on_progress is None


def test_values() -> None:
    assert keep(" Within(2.5) ") == td.Within(2.5)
    assert keep("KBest(7)") == td.KBest(7)
    assert score_name("fNML") == "fnml"
    assert whole(1, 5)("5") == 5


def test_messages_in_options() -> None:
    assert in_options('missing="drop" leaves such rows out') == "--missing drop leaves such rows out"
    assert in_options("weights= names a column") == "--weights names a column"
