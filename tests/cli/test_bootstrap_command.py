"""``topdag bootstrap``: what it prints and writes, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli_runs import Topdag
from stop_cases.counted import counted_clock, whole_answer

import topdag as td


def test_the_same_as_the_call(topdag: Topdag, asia: Path, tmp_path: Path) -> None:
    found = td.bootstrap(asia, 7, "bic", seed=3, max_parents=2)
    words = ("bootstrap", asia, "-k", 7, "--seed", 3, "--score", "bic", "--max-parents", 2)
    ran = topdag(*words, "-o", tmp_path / "edges.json")
    assert ran.code == 0
    a, b, p = found.above(0.1)[0]
    assert (
        ran.out.startswith(f"table  500 rows, 8 variables: 8 categories.\n\n{a} -> {b}")
        and found.shown(a, b, p) in ran.out
    )
    assert "7 tables, seed 3; the best network of each, proved" in ran.words
    assert json.loads((tmp_path / "edges.json").read_text()) == json.loads(json.dumps(found.to_dict()))
    assert str(td.io.read_bootstrap(tmp_path / "edges.json")) == str(found)
    assert json.loads(topdag(*words, "--json", "--processes", 1).out)["edges"] == found.matrix.tolist()


def test_quiet_and_nothing_to_print(topdag: Topdag, asia: Path) -> None:
    ran = topdag("bootstrap", asia, "-k", 2, "--threshold", 1, "--quiet")
    assert (ran.code, ran.out.strip()) == (0, "none is more frequent than 1")


def test_a_time_limit_prints_what_is_done_or_says_that_nothing_is(topdag: Topdag, asia: Path) -> None:
    def ask(seconds: float) -> Any:
        return topdag("bootstrap", asia, "-k", 6, "--threads", 1, "--time-limit", seconds)

    whole, readings = whole_answer(ask)
    assert whole.code == 0
    with counted_clock():
        ran = ask(readings - readings // 6)
    assert ran.code == 3 and "Stopped by the time limit after" in ran.words and "->" in ran.out
    none = topdag("bootstrap", asia, "--time-limit", 0)
    assert none.code == 3 and "no draw was done" in none.err and not none.out
    assert none.err.startswith("topdag bootstrap: --time-limit came")


@pytest.mark.parametrize(
    ("words", "said", "code"),
    [
        (("--processes", 2, "--cluster", "tcp://127.0.0.1:9"), "give one of them", 2),
        (("--cluster", "here"), "no address of a Dask scheduler", 2),
        (("-n", 0), "-n", 2),
        (("-o", "edges.csv"), "the name must end in .json", 2),
    ],
)
def test_wrong_use(topdag: Topdag, asia: Path, words: tuple[str, ...], said: str, code: int) -> None:
    for command in ("bootstrap", "best") if words[0] in ("--processes", "--cluster") else ("bootstrap",):
        ran = topdag(command, asia, *words)
        assert ran.code == code and said in ran.err


def test_processes_are_an_option_of_questions_that_can_be_cut(topdag: Topdag, asia: Path, tmp_path: Path) -> None:
    alone = topdag("best", asia, "--quiet")
    assert topdag("best", asia, "--quiet", "--processes", 2).out == alone.out
    assert topdag("list", asia, "-k", 3, "--processes", 2).code == 0
    page = tmp_path / "page.html"
    assert topdag("report", asia, "-o", page, "--processes", 1).code == 0 and page.exists()
    assert "--processes" in topdag("edges", asia, "--processes", 2).err
