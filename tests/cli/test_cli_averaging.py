"""``topdag edges``, ``paths`` and ``evidence``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_runs import Topdag

import topdag as td

PRIORS = {"uniform": None, "fair": td.FairPrior(), "order-modular": td.OrderModular()}


@pytest.mark.parametrize("prior", PRIORS)
def test_edges(topdag: Topdag, asia: Path, prior: str) -> None:
    ran = topdag("edges", asia, "--prior", prior, "--threshold", "0.5")
    edges = td.edge_posteriors(td.read_table(asia), prior=PRIORS[prior])
    expected = [f"{a} -> {b} {p:.6f}" for a, b, p in edges.above(0.5)]
    assert ran.code == 0
    table, shown, *_ = ran.out.split("\n\n")
    assert table == "table  500 rows, 8 variables: 8 categories."
    assert [" ".join(line.split()) for line in shown.splitlines()] == expected
    assert edges.prior in ran.out
    assert "sums that must be 1 differ" in ran.words


def test_paths_as_json(topdag: Topdag, asia: Path) -> None:
    ran = topdag("paths", asia, "--json", "--max-parents", "2", "--score", "bic")
    paths = td.path_posteriors(td.score(td.read_table(asia), td.BIC(), max_parents=2))
    content = json.loads(ran.out)
    assert (ran.code, content["paths"]) == (0, paths.matrix.tolist())
    assert content["log_evidence"] == paths.log_evidence


def test_evidence(topdag: Topdag, asia: Path) -> None:
    scores = td.score(td.read_table(asia), td.BIC())
    value, total = td.log_evidence(scores), td.log_prior_total(scores)
    assert topdag("evidence", asia, "--quiet").out.strip() == f"{value:.6f}"
    ran = topdag("evidence", asia)
    assert f"{value:.6f} nats" in ran.out
    assert f"{value - total:.6f} nats with a prior that sums to one" in ran.out
    content = json.loads(topdag("evidence", asia, "--json", "--prior", "fair").out)
    assert content["log_evidence"] == td.log_evidence(scores, prior=td.FairPrior())


def test_output(topdag: Topdag, asia: Path, tmp_path: Path) -> None:
    ran = topdag("edges", asia, "-o", tmp_path / "edges.npz", "--quiet", "--threshold", "1")
    assert (ran.code, ran.out.strip()) == (0, "none is more probable than 1")
    again = td.io.read_posteriors(tmp_path / "edges.npz")
    assert isinstance(again, td.types.EdgePosteriors)
    assert (again.matrix == td.edge_posteriors(td.read_table(asia)).matrix).all()
    assert topdag("edges", asia, "-o", tmp_path / "edges.txt").code == 2


def test_files_of_scores(topdag: Topdag, asia: Path, tmp_path: Path) -> None:
    scores = td.score(td.read_table(asia), td.BDeu())
    for name, options in (("all.npz", ()), ("all.jkl", ("--keep", "all"))):
        td.io.write_scores(tmp_path / name, scores)
        ran = topdag("evidence", tmp_path / name, "--quiet", *options)
        assert (ran.code, ran.out.strip()) == (0, f"{td.log_evidence(scores):.6f}")
    ran = topdag("evidence", tmp_path / "all.jkl")
    assert ran.code == 4
    assert "never pruned, add --keep all here" in ran.err
    assert topdag("evidence", tmp_path / "all.npz", "--score", "bic").code == 2
    assert topdag("evidence", asia, "--keep", "all").code == 2


def test_limits(topdag: Topdag, asia: Path) -> None:
    ran = topdag("edges", asia, "--time-limit", "0")
    assert (ran.code, ran.out) == (3, "")
    assert "no partial answer" in ran.err
    assert topdag("edges", asia, "--memory-limit", "1kB").code == 5
    assert topdag("edges", asia, "--threshold", "2").code == 2
    assert topdag("edges", asia, "--prior", "none").code == 2


@pytest.mark.parametrize("command", ["edges", "paths", "evidence", "sample"])
def test_the_exit_codes_promise_no_partial_answer(topdag: Topdag, command: str) -> None:
    codes = topdag(command, "--help").out.split("exit codes:")[1]
    assert "3    stopped by the time limit; nothing was printed" in codes
    assert "130  Ctrl-C; nothing was printed" in codes
    assert "a bound" not in codes


def test_what_cannot_be_summed_is_refused_at_once(topdag: Topdag, tmp_path: Path) -> None:
    names = [f"v{i}" for i in range(28)]
    rows = [",".join(str(i >> j & 1) for j in range(28)) for i in (0, 2**28 - 1, 12345)]
    (tmp_path / "wide.csv").write_text("\n".join([",".join(names), *rows]) + "\n")
    for command in ("edges", "paths", "evidence"):
        ran = topdag(command, tmp_path / "wide.csv", "--memory-limit", "1MB")
        assert (ran.code, ran.out) == (5, "")
        assert "would fit" in ran.err


def test_what_is_printed_as_json_is_what_is_written(topdag: Topdag, asia: Path, tmp_path: Path) -> None:
    ran = topdag("edges", asia, "--json", "-o", tmp_path / "edges.json")
    assert json.loads(ran.out) == json.loads((tmp_path / "edges.json").read_text())
    (tmp_path / "printed.json").write_text(ran.out)
    again = td.io.read_posteriors(tmp_path / "printed.json")
    assert isinstance(again, td.types.EdgePosteriors)
    assert again.matrix.tolist() == td.edge_posteriors(asia).matrix.tolist()
