"""The command line as a whole: demo, help, docs, and its small parts."""

from __future__ import annotations

import math
import subprocess
from pathlib import Path

import pytest
from cli_runs import TIMEOUT, Start, Topdag

import topdag as td
from topdag.cli.command import Exit
from topdag.cli.commands import SUMMARIES
from topdag.cli.commands.demo import comparison
from topdag.cli.docs import commands_page
from topdag.cli.output import answer_text, network_text, progress_line
from topdag.cli.values import keep, score_name, whole
from topdag.search.engines import best_network_bytes

ROOT = Path(__file__).resolve().parents[2]


def test_demo(topdag: Topdag, tmp_path: Path) -> None:
    path = tmp_path / "asia.csv"
    ran = topdag("demo", "--rows", "300", "--seed", "2", "-o", path)
    answer = td.best_network(td.example_table(300, 2))
    assert ran.code == 0
    assert "8 variables, 300 rows" in ran.out
    assert f"score  {answer.score:.6f} nats, BIC()" in ran.out
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
    for name in SUMMARIES:
        ran = topdag(name, "--help")
        assert (ran.code, ran.err) == (0, "")
        assert all(part in ran.out for part in ("exit codes:", "costs:", "example"))


def test_module_is_a_command(start: Start) -> None:
    process = start("--version", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = process.communicate(timeout=TIMEOUT)
    assert (process.returncode, out, err) == (0, f"topdag {td.__version__}\n", "")


def test_docs_page_is_the_help() -> None:
    page, made = ROOT / "docs" / "reference" / "commands.md", commands_page()
    if not page.exists() or page.read_text() != made:
        page.with_name("commands.md.new").write_text(made)
        pytest.fail("docs/reference/commands.md is not the help of the commands; see commands.md.new beside it")


@pytest.mark.parametrize(("n", "megabytes"), [(17, 11), (20, 101), (23, 906), (25, 3892), (26, 8053)])
def test_memory_in_the_help(topdag: Topdag, n: int, megabytes: int) -> None:
    assert best_network_bytes(n) == 8 * (n * 2 ** (n - 1) + 2 * 2**n)
    assert round(best_network_bytes(n) / 1e6) == megabytes


def test_names_that_could_be_mistaken_are_quoted() -> None:
    network = td.Network(["a, b", "c\nd*", "é"], {"é": ["a, b", "c\nd*"]})
    assert network_text(network).splitlines() == ["'a, b'", "'c\\nd*'", "é <- 'a, b', 'c\\nd*'"]
    starred = td.Network(["a*", "b"], {"b": ["a*"]})
    assert network_text(starred).splitlines()[:2] == ["'a*'", "b <- 'a*'*"]


def test_an_unknown_bound_is_said_to_be_unknown() -> None:
    proof = td.types.Proof(td.types.Status.STOPPED, math.inf, math.inf, "time_limit", "all networks on 2 variables")
    answer = td.types.Answer(None, -math.inf, proof, td.best_network(td.example_table(10)).stats)
    assert "no bound is known yet" in answer_text(answer, None)


def test_no_progress_without_a_terminal() -> None:
    with progress_line(quiet=False) as on_progress:  # stderr is captured here
        assert on_progress is False


def test_values() -> None:
    assert keep(" Within(2.5) ") == td.Within(2.5)
    assert keep("KBest(7)") == td.KBest(7)
    assert score_name("fNML") == "fnml"
    assert whole(1, 5)("5") == 5
