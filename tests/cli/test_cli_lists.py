"""``topdag list`` and ``topdag within``: what they print and write, how they end, and what they say to wrong input."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from cli_runs import Topdag
from ctrl_c import press_ctrl_c

import topdag as td
from topdag.cli import list_runs as listing
from topdag.cli import list_text
from topdag.cli.command import Exit
from topdag.cli.list_text import factor_text, proof_in_words, share_text, table_lines
from topdag.questions import best as best_question
from topdag.questions import lists as list_questions
from topdag.questions.listing.sources import Wanted
from topdag.questions.plan import bytes_for_all_sets
from topdag.questions.request import Request


def rows_in(text: str) -> list[list[str]]:
    """The cells of the table, changes as one cell, lines that go on joined."""
    lines = text.split("edges: + added")[1].splitlines()[1:]
    rows: list[list[str]] = []
    for line in lines[: next(place for place, line in enumerate(lines) if not line or "more are not shown" in line)]:
        if re.match(r" *\d", line):
            rows.append(re.split(r" {2,}", line.strip()))
        else:
            rows[-1][-1] += " " + line.strip()
    return rows


# What is printed


def test_list_prints_the_best_networks(topdag: Topdag, asia: Path) -> None:
    found = td.k_best_networks(asia, 5)
    ran = topdag("list", asia, "-k", 5)
    assert (ran.code, ran.err) == (0, "")
    rows = rows_in(ran.out)
    assert [row[0] for row in rows] == ["1", "2", "3", "4", "5"]
    assert [row[1] for row in rows] == [f"{network.score:.6f}" for network in found]
    assert [row[2] for row in rows] == [f"{factor:.2f}" for factor in found.factors]
    assert [row[3] for row in rows] == [f"{share:.2%}" for share in found.shares]
    assert rows[0][4] == "the best, shown above"
    assert [row[4] for row in rows[1:]] == [", ".join(td.compare(found[0], item).changes) for item in found[1:]]
    for name, parents in found[0].parents.items():
        assert re.search(rf"^{name}{' <- ' if parents else ' '}{', '.join(parents)}", ran.out.replace("*", ""), re.M)
    assert f"How different are they?\n{td.summary(found)}\n" in ran.out
    assert "Proved: the 5 best networks are listed; no other scores more than the last" in ran.words
    assert "500 rows" in ran.out


def test_ties_of_equivalent_networks_are_named(
    topdag: Topdag, asia: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the number of classes; not where the score or a prior tells networks of a class apart, or nothing ties."""
    classes = {td.EquivalenceClass(network) for network in td.k_best_networks(asia, 12)}
    said = f"The 12 networks are of {len(classes)} equivalence classes"
    assert said in topdag("list", asia, "-k", 12).words
    assert "--classes lists each class once" in topdag("within", asia, "--factor", 3).words
    for options in (["-k", 1], ["-k", 12, "--classes"], ["-k", 12, "--score", "k2"], ["--prior", "order-modular"]):
        assert "equivalence class" not in topdag("list", asia, *options).words
    collider = tmp_path / "collider.csv"
    collider.write_text("a,b,c\n" + "0,0,0\n0,1,1\n1,0,1\n1,1,0\n" * 20)
    assert "equivalence class" not in topdag("list", collider, "-k", 1, "--score", "bic").words
    monkeypatch.setattr(list_text, "CLASSES_COUNTED", 8)
    assert "The first 8 networks are of" in topdag("list", asia, "-k", 12).words


def test_list_of_classes(topdag: Topdag, asia: Path) -> None:
    found = td.k_best_classes(asia, 12)
    ran = topdag("list", asia, "-k", 12, "--classes", "--quiet")
    rows = rows_in(ran.out)
    assert [row[4] for row in rows] == [str(size) for size in found.sizes]
    assert [row[5] for row in rows[1:]] == [", ".join(td.compare(found[0], item).changes) for item in found[1:]]
    assert ran.out.startswith(str(found[0]))
    assert str(td.summary(found)) in ran.out
    assert "Proved: the 12 best classes are listed" in ran.words


def test_within_lists_all(topdag: Topdag, asia: Path) -> None:
    found = td.networks_within(asia, 2)
    ran = topdag("within", asia, "--factor", "2")
    assert ran.code == 0
    assert len(rows_in(ran.out)) == len(found) == 8
    assert "Proved: no network within a Bayes factor of 2 of the best is missing, among all" in ran.words
    few = topdag("within", asia, "--factor", "2", "--at-most", 3, "--classes")
    assert len(rows_in(few.out)) == 3
    assert "Proved: the 3 best classes are listed; no other within a Bayes factor of 2 of the best" in few.words


def test_ten_by_default_and_factor_twenty(topdag: Topdag, asia: Path) -> None:
    assert "Proved: the 10 best networks" in topdag("list", asia).words
    assert "no network within a Bayes factor of 20 of the best is missing" in topdag("within", asia).words


def test_long_lists_are_cut_and_say_so(topdag: Topdag, asia: Path) -> None:
    ran = topdag("list", asia, "-k", 50)
    assert len(rows_in(ran.out)) == 20
    assert "30 more are not shown; --show 50 shows all, -o writes them" in ran.out
    assert "50 networks; " in ran.out
    assert len(rows_in(topdag("list", asia, "-k", 50, "--show", 50).out)) == 50
    none = topdag("list", asia, "-k", 50, "--show", 0)
    assert "50 more are not shown" in none.out
    assert "edges: + added" not in none.out


def test_quiet_leaves_out_table_notes_and_time(topdag: Topdag, tmp_path: Path) -> None:
    path = tmp_path / "constant.csv"
    path.write_text("a,b,c\n0,1,5\n1,0,5\n")
    loud, quiet = topdag("list", path), topdag("list", path, "--quiet")
    assert "note   Column 'c' is constant" in loud.out
    assert re.search("^time ", loud.out, re.MULTILINE)
    assert quiet.out and quiet.out in loud.out and loud.out.startswith("table  2 rows, 3 variables: 3 categories.\n\n")
    assert "note" not in quiet.out
    assert "Proved: no network is missing, among all networks on 2 variables" in quiet.words


def test_options_reach_the_question(topdag: Topdag, asia: Path) -> None:
    given = ("--score", "bic", "--max-parents", "1", "--threads", "1", "--memory-limit", "1GB", "--time-limit", "60")
    head, *items = topdag("list", asia, "-k", 7, *given, "--json").out.splitlines()
    expected = td.k_best_networks(td.score(asia, td.BIC(), max_parents=1), 7)
    content = json.loads(head)
    assert (content["kind"], content["max_parents"], content["stats"]["threads"]) == ({"name": "BIC"}, 1, 1)
    assert content["proof"]["space"] == expected.proof.space
    assert [json.loads(item)["score"] for item in items] == expected.scores.tolist()
    assert "MDL" in topdag("list", asia, "--score", "bic").out


def test_only_constant_columns(topdag: Topdag, tmp_path: Path) -> None:
    path = tmp_path / "constant.csv"
    path.write_text("a,b\n0,1\n0,1\n")
    assert "Proved: no network is missing" in topdag("list", path).words
    assert topdag("within", path, "--count", "--quiet").out == "1\n"
    assert "no edges" in topdag("list", path, "--classes").out


# Counting


def test_a_stopped_count_is_a_least_number(topdag: Topdag, asia: Path) -> None:
    ran = topdag("within", asia, "--count", "--time-limit", "0")
    assert ran.code == Exit.STOPPED
    assert "At least 0 networks within a Bayes factor of 20 of the best, among all networks on 8" in ran.words
    assert topdag("within", asia, "--count", "--quiet", "--time-limit", "0").out == "at least 0\n"
    whole = topdag("within", asia, "--score", "bdeu", "--count", "--quiet", "--time-limit", "1000")
    assert (whole.code, whole.out) == (0, "1808\n")


def test_count(topdag: Topdag, asia: Path) -> None:
    ran = topdag("within", asia, "--score", "bdeu", "--count")
    assert ran.code == 0
    assert "1,808 networks within a Bayes factor of 20 of the best, among all networks on 8" in ran.words
    assert topdag("within", asia, "--factor", "150", "--classes", "--count", "--quiet").out == (
        f"{td.count_classes_within(asia, 150)}\n"
    )
    assert topdag("within", asia, "--count", "--memory-limit", "12kB").code == Exit.TOO_LARGE


# Files


@pytest.mark.parametrize("words", [["list", "-k", "40"], ["list", "--classes"], ["within", "--at-most", "30"]])
def test_json_holds_the_whole_list(topdag: Topdag, asia: Path, tmp_path: Path, words: list[str]) -> None:
    command, *options = words
    for name in ("out.jsonl", "out.jsonl.gz"):
        assert topdag(command, asia, *options, "-o", tmp_path / name).code == 0
    plain, packed = td.io.read_list(tmp_path / "out.jsonl"), td.io.read_list(tmp_path / "out.jsonl.gz")
    printed = topdag(command, asia, *options, "--json").out
    (tmp_path / "printed.jsonl").write_text(printed)
    for found in (packed, td.io.read_list(tmp_path / "printed.jsonl")):
        assert type(found) is type(plain)
        assert np.array_equal(found.scores, plain.scores)
        assert np.array_equal(found.parents, plain.parents)
    assert plain.proof.status is td.types.Status.PROVED


def test_score_files(topdag: Topdag, asia: Path, tmp_path: Path) -> None:
    expected = [f"{network.score:.4f}" for network in td.k_best_networks(asia, 10)]
    for name in ("all.npz", "all.jkl", "all.pss.gz"):
        assert topdag("score", asia, "-o", tmp_path / name, "--keep", "all").code == 0
        words = [] if name.endswith(".npz") else ["--keep", "all"]
        ran = topdag("list", tmp_path / name, *words)
        assert [f"{float(row[1]):.4f}" for row in rows_in(ran.out)] == expected
    assert topdag("list", tmp_path / "all.npz", "--classes").code == 0
    unsaid = topdag("list", tmp_path / "all.jkl")
    assert unsaid.code == Exit.BAD_INPUT
    assert "pruned for the best network only" in unsaid.err
    assert "add --keep all here" in unsaid.err
    assert "keep=" not in unsaid.err
    near = topdag("within", tmp_path / "all.jkl", "--keep", "within(20)", "--factor", "21")
    assert near.code == Exit.BAD_INPUT
    assert "a factor of 20" in near.err
    classes = topdag("list", tmp_path / "all.jkl", "--keep", "all", "--classes")
    assert classes.code == Exit.BAD_INPUT
    assert "--classes needs a score-equivalent score" in classes.err
    said = topdag("list", tmp_path / "all.npz", "--keep", "all")
    assert said.code == Exit.WRONG_USE
    assert "says itself what it holds" in said.err


def test_no_network_allowed(topdag: Topdag, tmp_path: Path) -> None:
    path = tmp_path / "circle.jkl"
    path.write_text("2\nA 1\n-1 1 B\nB 1\n-1 1 A\n")
    ran = topdag("list", path, "--keep", "all", "-o", tmp_path / "none.jsonl")
    assert ran.code == Exit.FAILED
    assert "No network is allowed" in ran.out
    assert len(td.io.read_list(tmp_path / "none.jsonl")) == 0
    counted = topdag("within", path, "--keep", "all", "--count", "--quiet")
    assert (counted.code, counted.out) == (Exit.FAILED, "0\n")


# Limits and Ctrl-C


@pytest.mark.parametrize("words", [["list"], ["list", "--classes"], ["within"], ["within", "--classes"]])
def test_time_limit_zero_gives_a_floor(topdag: Topdag, asia: Path, tmp_path: Path, words: list[str]) -> None:
    best = td.best_network(asia).score
    ran = topdag(words[0], asia, *words[1:], "--time-limit", "0", "-o", tmp_path / "stopped.jsonl")
    assert ran.code == Exit.STOPPED
    assert "Stopped by the time limit: the list begins with the best found, which is not proved" in ran.words
    found = td.io.read_list(tmp_path / "stopped.jsonl")
    printed = re.search(r"may score up to (-\d+\.\d+)", ran.words)
    assert printed
    assert best <= found.floor <= float(printed[1])
    assert (len(found), found.proof.limit) == (1, "time_limit")
    assert isinstance(found, td.types.ClassList) == ("--classes" in words)


def stopped_after(n: int, limit: str) -> Callable[..., td.types.NetworkList]:
    """A question that is stopped when it has found n."""

    def k_best(_make: object, request: Request, *_: object) -> td.types.NetworkList:
        found = td.k_best_networks(request.table, n, request.kind)
        proof = td.types.Proof(td.types.Status.STOPPED, found.proof.bound, 0.0, limit, found.proof.space)
        stopped = td.types.NetworkList(found.source, found.scores, found.parents, found.floor, proof, found.stats)
        if limit == "Ctrl-C":
            raise td.Interrupted("interrupted", stopped)
        return stopped

    return k_best


@pytest.mark.parametrize(
    ("limit", "said", "code"),
    [
        ("time_limit", "the time limit", Exit.STOPPED),
        ("memory_limit", "the memory limit", Exit.STOPPED),
        ("Ctrl-C", "Ctrl-C", Exit.INTERRUPTED),
    ],
)
def test_a_stopped_list_is_complete_above_a_floor(
    topdag: Topdag, asia: Path, monkeypatch: pytest.MonkeyPatch, limit: str, said: str, code: Exit
) -> None:
    monkeypatch.setattr(listing, "list_of", stopped_after(7, limit))
    ran = topdag("list", asia, "-k", 100, "--score", "bdeu")
    assert ran.code == code
    assert len(rows_in(ran.out)) == 7
    assert f"Stopped by {said}: the list is complete above the floor -1164.7" in ran.words
    assert "a factor of 1.03 behind the best; networks that score less may be missing" in ran.words


def test_interrupted_before_anything_was_listed(
    topdag: Topdag, asia: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        press_ctrl_c()

    with monkeypatch.context() as patch:
        patch.setattr(best_question, "scores_of", interrupted)
        ran = topdag("list", asia, "--classes", "-o", tmp_path / "none.jsonl")
        assert ran.code == Exit.INTERRUPTED
        assert "Stopped by Ctrl-C: the list begins with the best found" in ran.words
        assert td.io.read_list(tmp_path / "none.jsonl").proof.limit == "Ctrl-C"
    with monkeypatch.context() as patch:
        patch.setattr(list_questions._core, "build_lattice", interrupted)
        ran = topdag("list", asia)
        assert ran.code == Exit.INTERRUPTED
        assert "Stopped by Ctrl-C: the list begins with the best found" in ran.words
        assert topdag("within", asia, "--count").code == Exit.INTERRUPTED
    with monkeypatch.context() as patch:
        patch.setattr(listing, "request_from", interrupted)
        ran = topdag("list", asia)
        assert (ran.code, ran.out) == (Exit.INTERRUPTED, "")


def test_too_large(topdag: Topdag, asia: Path, tmp_path: Path) -> None:
    for words in (["list"], ["within", "--classes"], ["within", "--count"]):
        ran = topdag(words[0], asia, *words[1:], "--memory-limit", "13kB")  # enough for the best network
        assert (ran.code, ran.out) == (Exit.TOO_LARGE, "")
        assert "allowed by --memory-limit" in ran.err
    wide = tmp_path / "wide.csv"
    wide.write_text("\n".join([",".join(f"v{i}" for i in range(30)), ",".join("0" * 30), ",".join("1" * 30)]))
    assert topdag("list", wide, "--score", "bdeu", "--memory-limit", "8GB").code == Exit.TOO_LARGE


@pytest.mark.parametrize("n", [17, 20])
def test_memory_in_the_help(n: int) -> None:
    set_scores, best, forward, backward, bounds = 2**n, n * 2 ** (n - 1), 2**n, 2**n, 2 * 2 ** (n - 1)
    assert bytes_for_all_sets(n, "list", 3) == 8 * (set_scores + best + forward + backward + 3 * bounds)


# Small parts


def test_numbers_in_the_table() -> None:
    assert [factor_text(f) for f in (1.0, 19.999, 1234.5, 1e7, math.inf)] == [
        *("1.00", "20.00", "1,234.50", "1.0e+07", "over 1e308"),
    ]
    assert [share_text(s) for s in (1.0, 0.12345, 1e-4, 1e-5, 0.0)] == [
        "100.00%",
        "12.35%",
        "0.01%",
        "<0.01%",
        "<0.01%",
    ]


def test_long_changes_go_on_below(asia: Path) -> None:
    found = td.k_best_networks(td.Table({f"a long name {i}": [0, 1, i % 2, 1, i % 3] for i in range(5)}), 30)
    lines = table_lines(found, 30)
    assert len(lines) > 31
    assert all(len(line) <= 100 for line in lines)
    start = lines[0].index("edges")
    assert all(line[start - 1] == " " != line[start] for line in lines)


def test_proof_of_a_single_best(asia: Path) -> None:
    assert proof_in_words(td.k_best_networks(asia, 1), Wanted("A list", most=1)).startswith(
        "Proved: the best network is listed; no other scores more than the last, though some may tie, among all"
    )
    unknown = td.k_best_networks(td.score(asia, td.BDeu()), 1, time_limit=0)
    object.__setattr__(unknown, "floor", math.inf)
    assert "before anything was known" in proof_in_words(unknown, Wanted("A list", most=1))


def test_a_checkpoint_is_left_and_taken_up(topdag: Topdag, tmp_path: Path) -> None:
    table, state = tmp_path / "wide.csv", tmp_path / "state"
    drawn = td.random_network(32, seed=1).sample(60, seed=1)
    lines = [drawn.names, *(row for row, many in drawn.rows() for _ in range(many))]
    table.write_text("".join(",".join(map(str, line)) + "\n" for line in lines))
    asked = ("list", str(table), "-k", "3", "--score", "bic", "--max-parents", "1", "--json")
    first = topdag(*asked, "--checkpoint", str(state))
    assert first.code == 0 and state.read_bytes().startswith(b"topdag-checkpoint")
    again = topdag(*asked, "--checkpoint", str(state))
    assert again.out.count("\n") == first.out.count("\n") and '"resumed": 1' in again.out
    other = topdag("within", str(table), "--score", "bic", "--max-parents", "1", "--checkpoint", str(state))
    assert "belongs to another question" in other.err
