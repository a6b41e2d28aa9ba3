"""Incomplete tables from the shell."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_runs import Topdag
from table_checks import Incomplete

import topdag as td

KEPT = ("--missing", "keep", "--score", "nal")


@pytest.fixture
def gaps(tmp_path: Path) -> tuple[str, td.Table]:
    drawn = Incomplete(1, n_rows=60)
    path = tmp_path / "gaps.csv"
    rows = [",".join("" if cell is None else str(cell) for cell in row) for row in drawn.rows]
    path.write_text("\n".join([",".join(drawn.names), *rows]) + "\n")
    return str(path), td.read_table(path, missing="keep")


def test_the_best_network_and_its_check(topdag: Topdag, gaps: tuple[str, td.Table], tmp_path: Path) -> None:
    path, table = gaps
    answer = str(tmp_path / "best.json")
    ran = topdag("best", path, *KEPT, "-o", answer)
    assert ran.code == 0 and "missing cells" in ran.words
    assert json.loads(Path(answer).read_text())["score"] == pytest.approx(td.best_network(table, "nal").score)
    assert "fine" in topdag("check", answer, path).out
    assert topdag("score", path, *KEPT, "--network", answer).code == 0
    assert "Cells are missing" in " ".join(topdag("fit", path, answer, "--missing", "keep").err.split())


@pytest.mark.parametrize("command", ["list", "bootstrap", "plan", "report"])
def test_other_questions(topdag: Topdag, gaps: tuple[str, td.Table], command: str, tmp_path: Path) -> None:
    more = ("-k", "4") if command == "bootstrap" else ("-o", str(tmp_path / "r.html")) if command == "report" else ()
    ran = topdag(command, gaps[0], *KEPT, *more)
    assert ran.code == 0, ran.err


@pytest.mark.parametrize("command", ["edges", "paths", "sample", "effects"])
def test_what_would_weigh_networks_is_refused(topdag: Topdag, gaps: tuple[str, td.Table], command: str) -> None:
    ran = topdag(command, gaps[0], *KEPT)
    assert ran.code != 0 and "no likelihood" in ran.err


@pytest.mark.parametrize(
    "command", [("best",), ("plan",), ("list",), ("edges",), ("score", "--family", "a", "b"), ("bootstrap",)]
)
def test_other_scores_refuse_with_what_to_do(
    topdag: Topdag, gaps: tuple[str, td.Table], command: tuple[str, ...]
) -> None:
    name, *more = command
    ran = topdag(name, gaps[0], "--missing", "keep", "--score", "bic", *more)
    assert ran.code != 0
    for word in ("BIC() needs every cell", "--score nal", "topdag em", "--missing drop", "--missing state"):
        assert word in ran.err
