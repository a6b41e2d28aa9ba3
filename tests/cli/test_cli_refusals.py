"""What the command line says to wrong use and wrong input."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from cli_runs import TIMEOUT, Start, Topdag

import topdag as td
from topdag.cli.command import Exit


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["bst"], "best"),
        (["best"], "FILE"),
        (
            ["best", "FILE", "--score", "bdue"],
            "mixed-bic, rank-bic, degenerate-gaussian; did you mean bdeu?",
        ),
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
        (["best", "FILE", "-o", "x.json", "-o", "x.json"], "give each file once"),
        (["best", "FILE", "-o", "-"], "name of a file"),
        (["best", "FILE", "--scor", "bic"], "unrecognized"),
        (["best", "some.jkl", "--score", "bic", "--no-header"], "--score, --no-header: this is for tables"),
        (["best", "some.jkl", "--max-parents", "0"], "--max-parents: this is for tables"),
        (["score", "FILE"], "required"),
        (["score", "FILE", "-o", "out.txt"], ".jkl, .pss or .npz"),
        (["score", "FILE", "-o", "x.jkl", "--family", "lung"], "not allowed with"),
        (["score", "FILE", "-o", "x.jkl", "--keep", "within"], "all, best, within(20)"),
        (["score", "FILE", "-o", "x.jkl", "--keep", "within(0.5)"], "all, best, within(20)"),
        (["score", "FILE", "-o", "x.jkl", "--keep", "kbest(0)"], "and kbest(100) with any whole number"),
        (["score", "FILE", "-o", "x.jkl", "--keep", "kbest(2.5)"], "and kbest(100) with any whole number"),
        (["score", "FILE", "-o", "x.jkl", "--keep", "kbest(3"], "and kbest(100) with any whole number"),
        (["score", "FILE", "--family", "lung", "--max-parents", "2"], "--max-parents: this goes with -o"),
        (["fit", "FILE", "--score", "bic"], "unrecognized arguments: --score\n"),  # nothing is alike
        (["fit", "FILE", "NET", "--encodin", "latin-1"], "did you mean --encoding?"),
        (["bootstrap", "FILE", "--k", "5"], "did you mean -k?"),
        (["check", "FILE", "best.json"], "best.json is no table, going by its name; the other way round?"),
        (["fit", "net.bif", "FILE"], "The order is topdag fit TABLE NET"),
        (["demo", "--rows", "0"], "from 1 to"),
        (["demo", "--seed", "x"], "whole number"),
        (["list"], "FILE"),
        (["list", "FILE", "-k", "0"], "not a whole number from 1 to 1,000,000,000"),
        (["list", "FILE", "-k", "many"], "not a whole number from 1"),
        (["list", "FILE", "--factor", "2"], "unrecognized"),
        (["list", "FILE", "--count"], "unrecognized"),
        (["list", "FILE", "-o", "out.json"], "the name must end in .jsonl or .jsonl.gz"),
        (["list", "FILE", "--show", "-1"], "not a whole number from 0 on"),
        (["list", "FILE", "--classes", "--score", "k2"], "bdeu, bic, rank-bic, aic, qnml, bge and gaussian-bic do"),
        (["list", "FILE", "--keep", "all"], "this is for files of scores, and FILE is a table"),
        (["list", "some.jkl", "--score", "bic"], "--score: this is for tables"),
        (["list", "FILE", "--time-limit", "-1"], "not a number of seconds"),
        (["within", "FILE", "--factor", "0.5"], "not a Bayes factor, a number from 1 on"),
        (["within", "FILE", "--factor", "1e301"], "not a Bayes factor, a number from 1 on, at most 1e+300"),
        (["within", "FILE", "--factor", "inf"], "not a Bayes factor"),
        (["within", "FILE", "--factor", "nan"], "not a Bayes factor"),
        (["within", "FILE", "--factor", "twenty"], "'twenty' is not a number"),
        (["within", "FILE", "--at-most", "0"], "not a whole number from 1"),
        (["within", "FILE", "-k", "3"], "unrecognized"),
        (["within", "FILE", "--count", "--json", "--show", "0"], "--show, --json: this is for lists"),
        (["within", "FILE", "--count", "--at-most", "5", "--show", "1"], "--at-most, --show: this"),
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
        (["best", "FILE", "-o", "FILE"], "this is the input"),
        (["best", "FILE", "-o", "no/such/folder/best.json"], "there is no folder"),
        (["best", "FILE", "-o", "."], "not a file"),
        (["best", "FILE", "-o", "d" * 300], "too long"),
        (["score", "FILE", "--family", "lunk", "smoke"], "'lung'"),
        (["score", "FILE", "--family", "lung", "smoke", "smoke"], "each variable once"),
        (["score", "FILE", "--network", "none.json"], "none.json"),
        (["score", "FILE", "--network", "FILE"], "the name must end in .json, .bif"),
        (["score", "some.npz", "--family", "lung"], "holds scores already"),
        (["score", "FILE", "-o", "no/such/folder/out.jkl"], "there is no folder"),
        (["check", "none.json", "FILE"], "none.json"),
        (["check", "FILE", "FILE"], "this is not JSON"),
        (["plan", "some.jkl"], "this is a file of scores, going by its name; give the table"),
        (["demo", "-o", "no/such/folder/asia.csv"], "there is no folder"),
        (["list", "none.csv"], "there is no such file"),
        (["within", "none.npz"], "none.npz"),
        (["list", "FILE", "-o", "no/such/folder/out.jsonl"], "there is no folder"),
        (["within", "FILE", "--weights", "wieght"], "--weights names a column 'wieght' that is not there"),
    ],
)
def test_bad_input(topdag: Topdag, asia: Path, words: list[str], message: str) -> None:
    ran = topdag(*(asia if word == "FILE" else word for word in words))
    assert (ran.code, ran.out) == (Exit.BAD_INPUT, "")
    assert ran.err.startswith("topdag: ")
    assert message in ran.err


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("a,b\nx,0\ny,1\n", ["--types", "a=continuous"], ["--types a=categorical, or --leave-out a"]),
        ("a,b\n1.5,0\n2.5,1\n", ["--types", "a=number"], ["--types: 'number' of column 'a' is no type"]),
        ("a,b\n?,0\n1,1\n", ["--missing", "error"], ["--missing drop", "--missing state"]),
        ("a,b\n0,0\n1\n", [], ["line 3", "--separator"]),
        ("a\n0\n1\n", [], ["--separator"]),
        ("", [], ["empty"]),
    ],
)
def test_messages_about_tables_name_the_options(
    topdag: Topdag, tmp_path: Path, text: str, options: list[str], words: list[str]
) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(text)
    ran = topdag("best", path, *options)
    assert ran.code == Exit.BAD_INPUT
    assert all(word in ran.err for word in words), ran.err
    assert re.search(r"\b(missing|discretize|separator|types|leave_out)=", ran.err) is None


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


def test_an_answer_for_a_table(topdag: Topdag, asia: Path, tmp_path: Path) -> None:
    assert topdag("best", asia, "-o", tmp_path / "best.json").code == Exit.FINE
    ran = topdag("best", tmp_path / "best.json")
    assert ran.code == Exit.BAD_INPUT
    assert "an answer or a network that topdag wrote; give the table it was made from" in ran.err


def test_a_pipe_is_no_file_to_replace(start: Start, asia: Path) -> None:
    process = start("best", asia, "-o", "/dev/stdout", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = process.communicate(timeout=TIMEOUT)
    assert (process.returncode, out) == (Exit.BAD_INPUT, "")
    assert err.startswith("topdag: /dev/stdout: this is not a file that can be replaced")


def test_a_report_says_what_it_lacks_in_options(topdag: Topdag, asia: Path, tmp_path: Path) -> None:
    assert topdag("score", asia, "-o", tmp_path / "asia.jkl").code == Exit.FINE
    ran = topdag("report", tmp_path / "asia.jkl", "-o", tmp_path / "asia.html")
    assert ran.code == Exit.FINE
    assert "topdag score --keep all" in " ".join(ran.out.split())
    assert "keep=" not in ran.out


def test_output_that_is_stdout_already(start: Start, asia: Path, tmp_path: Path) -> None:
    printed = tmp_path / "printed.txt"
    for name in (printed, "/dev/stdout"):
        with printed.open("w") as out:
            process = start("best", asia, "-o", name, stdout=out, stderr=subprocess.PIPE)
            _, err = process.communicate(timeout=TIMEOUT)
        assert process.returncode == Exit.BAD_INPUT
        assert "stdout or stderr goes already" in err


@pytest.mark.parametrize(
    ("question", "to", "writer"),
    [("best", "best.json", "commands.best.write_text"), ("list", "out.jsonl", "list_runs.write_list")],
)
def test_answer_is_printed_even_if_it_cannot_be_written(
    topdag: Topdag, asia: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, question: str, to: str, writer: str
) -> None:
    def full(*_: object) -> None:
        raise td.FileError("the disk is full")

    monkeypatch.setattr(f"topdag.cli.{writer}", full)
    ran = topdag(question, asia, "-o", tmp_path / to)
    assert ran.code == Exit.BAD_INPUT
    assert "Proved" in ran.out
    assert "the disk is full" in ran.err
