"""What a plan knows is said before a long run begins, and refusals advise what the question takes."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from cli_runs import Topdag

import topdag as td
from topdag._util.options import in_shell
from topdag._util.run import Run
from topdag.cli.advice import mention_advice
from topdag.cli.command import Exit
from topdag.cli.commands.demo import csv_text
from topdag.cli.output import proof_in_words
from topdag.questions.listing.sources import Wanted, within_memory
from topdag.questions.request import Request


@pytest.fixture
def wide(tmp_path: Path) -> Path:
    rows = np.random.default_rng(1).integers(0, 3, (100, 40)).astype(str)
    path = tmp_path / "wide.csv"
    path.write_text("\n".join([",".join(f"v{v}" for v in range(40)), *map(",".join, rows)]) + "\n")
    return path


@pytest.mark.parametrize("command", [["best"], ["list", "-k", 2], ["within", "--factor", 2]])
def test_what_does_not_fit_is_said_before_it_is_tried(topdag: Topdag, wide: Path, command: list[object]) -> None:
    """Families are listed until memory is up: a limit, with a network from the data."""
    options = ["--score", "bic", "--memory-limit", "100KB"]
    ran = topdag(command[0], wide, *command[1:], *options)
    assert ran.code == Exit.STOPPED
    assert "more than is allowed" in ran.err and "limit the parents (--max-parents)" in ran.err
    said = " ".join(ran.out.split())
    assert "v0" in said and "memory" in said and "Scoring the parent sets of 40 variables needs" in said
    assert "--max-parents" in said and "max_parents" not in said
    quiet = topdag(command[0], wide, *command[1:], *options, "--quiet")
    assert quiet.err == "" and quiet.code == Exit.STOPPED


@pytest.mark.parametrize("command", ["edges", "paths", "evidence", "sample", "effects"])
def test_sums_begin_with_advice_too(topdag: Topdag, tmp_path: Path, command: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text("\n".join([",".join(f"v{v}" for v in range(24)), *(",".join("ab" * 12) for _ in range(3))]) + "\n")
    ran = topdag(command, path, "--keep-constant", "--time-limit", 0)
    assert ran.err.startswith("plan   Memory about") and "a list of" in ran.err
    assert "plan" not in topdag(command, path, "--keep-constant", "--time-limit", 0, "--quiet").err


def test_a_run_that_may_be_long_begins_with_advice(topdag: Topdag, wide: Path) -> None:
    for command in ("best", "bootstrap"):
        ran = topdag(command, wide, "--score", "bdeu", "--time-limit", 0)
        assert ran.err.startswith("plan   Memory from")
        assert "may be long" in " ".join(ran.err.split()) and "use BIC" in " ".join(ran.err.split())


def test_the_way_out_of_sums_is_a_command(topdag: Topdag, wide: Path) -> None:
    for command in ("edges", "effects"):
        said = " ".join(topdag(command, wide).err.split())
        assert "more than there is, time about years" in said
        assert said.count("come back (topdag bootstrap), or average over a list of networks (topdag list, topdag") == 2


def test_where_all_is_well_nothing_is_said(topdag: Topdag, wide: Path, asia: Path) -> None:
    assert topdag("best", wide, "--max-parents", 1).err == ""
    assert topdag("best", asia).err == ""


def test_what_cannot_be_answered_is_refused_once(topdag: Topdag, wide: Path) -> None:
    ran = topdag("best", wide, "--prior", "order-modular")
    assert ran.code == Exit.TOO_LARGE and ran.err.count("topdag: ") == 1


def test_advice_names_what_the_question_takes(wide: Path) -> None:
    """A factor is for lists."""
    with pytest.raises(td.TooLarge, match=r"needs .* Give max_parents or fewer columns\."):
        td.score(wide, td.BIC(), keep="best", memory_limit="100KB")
    with pytest.raises(td.TooLarge, match=r"Give max_parents or fewer columns, or ask for networks nearer the best\."):
        td.score(wide, td.BIC(), keep=td.Within(20), memory_limit="100KB")


@pytest.mark.parametrize(
    ("wanted", "less"),
    [
        (Wanted("k_best_networks", most=10), "fewer networks"),
        (Wanted("networks_within", factor=20.0), "a smaller factor"),
        (Wanted("networks_within", most=10, factor=20.0), "a smaller factor or fewer networks"),
    ],
)
def test_what_is_too_much_of_a_list_is_told_by_what_was_asked(wanted: Wanted, less: str) -> None:
    with pytest.raises(td.TooLarge, match=rf"Ask for {less}, set max_parents, or leave"), within_memory(wanted.less):
        raise MemoryError


# A survey of 24 columns and 2,000 rows: minutes for all sets, a moment with few parents


@pytest.fixture(scope="module")
def survey(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = np.random.default_rng(1).integers(0, 6, (2000, 24))
    rows[:, 1:12] = np.where(rows[:, 1:12] > 2, rows[:, :11], rows[:, 1:12])
    path = tmp_path_factory.mktemp("survey") / "survey.csv"
    path.write_text(csv_text(td.Table(rows, names=[f"v{v}" for v in range(24)])))
    return path


WAYS = "limit the parents (--max-parents 3), which leaves few sets, or use BIC (--score bic)"


@pytest.mark.parametrize("score", ["bdeu", "k2", "fnml", "qnml"])
@pytest.mark.parametrize("command", [["best"], ["list"], ["within"], ["list", "--classes"], ["report"]])
def test_a_stop_while_scoring_names_what_helps(
    topdag: Topdag, survey: Path, tmp_path: Path, command: list[str], score: str
) -> None:
    """Before it runs, and after it was stopped."""
    if "--classes" in command and score in ("k2", "fnml"):
        return
    output = ["-o", tmp_path / "page.html"] if command == ["report"] else []
    ran = topdag(command[0], survey, *command[1:], "--score", score, "--time-limit", 0, *output)
    assert ran.code == Exit.STOPPED
    assert ran.err.startswith("plan   Memory about") and f"If that is too much: {WAYS}" in " ".join(ran.err.split())
    assert f"note The time limit came before all families were scored. For a proof {WAYS}" in ran.words
    assert "or take more time (--time-limit): about" in ran.words
    if output:
        page = (tmp_path / "page.html").read_text()
        assert "That bound is too far away to tell how good this network is." in page
    else:
        assert "(too much to tell how good this network is: all its edges together gain" in ran.words


@pytest.mark.parametrize("command", ["best", "list"])
def test_a_quiet_command_still_says_that_its_bound_tells_nothing(topdag: Topdag, survey: Path, command: str) -> None:
    ran = topdag(command, survey, "--time-limit", 0, "--quiet")
    assert ran.err == "" and "note" not in ran.out
    assert "too much to tell how good this network is" in ran.words


def test_json_holds_what_helps(topdag: Topdag, survey: Path) -> None:
    content = json.loads(topdag("best", survey, "--score", "bdeu", "--time-limit", 0, "--json").out)
    assert WAYS in content["notes"][-1]


@pytest.mark.parametrize("question", ["best", "list", "within"])
def test_a_long_run_is_advised_without_a_time_limit_too(question: str, capsys: pytest.CaptureFixture[str]) -> None:
    table = td.Table(np.random.default_rng(1).integers(0, 6, (2000, 28)), names=[f"v{v}" for v in range(28)])
    with in_shell(str):
        for run in (Run(), Run(time_limit=1e6)):
            mention_advice(Request.about(table, td.BDeu()), question, run, quiet=False)
            assert WAYS in " ".join(capsys.readouterr().err.split())


def test_few_columns_are_advised_too_where_there_are_many_rows(capsys: pytest.CaptureFixture[str]) -> None:
    table = td.Table(np.random.default_rng(1).integers(0, 6, (40_000, 19)), names=[f"v{v}" for v in range(19)])
    with in_shell(str):
        mention_advice(Request.about(table, td.BDs()), "best", Run(), quiet=False)
        assert "use BIC (--score bic)" in " ".join(capsys.readouterr().err.split())
        mention_advice(Request.about(table, "bic"), "best", Run(), quiet=False)
        assert capsys.readouterr().err == ""


def test_no_network_yet_is_said_so() -> None:
    proof = td.types.Proof(td.types.Status.STOPPED, -7.0, math.inf, "time_limit", "all networks on 2 variables")
    assert "no network was found yet; none scores above the bound -7.000000, among all" in proof_in_words(proof)
    assert "inf" not in proof_in_words(proof) and "inf" not in str(proof)
