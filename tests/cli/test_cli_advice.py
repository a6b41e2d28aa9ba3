"""What a plan knows is said before a long run begins, and refusals advise what the question takes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from cli_runs import Topdag

import topdag as td
from topdag.cli.command import Exit
from topdag.questions.listing.sources import Wanted, within_memory


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
        ran = topdag(command, wide, "--time-limit", 0)
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
