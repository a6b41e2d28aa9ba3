"""Parameter constraints as text, in files, on the command line and within Constraints."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topdag as td
from topdag.cli.main import main

SAID = [
    td.probabilities.influence("smoke", "lung", "+"),
    td.probabilities.influence(
        "dose", "pain", "-", parent_order=["low", "mid", "high"], child_order=["no", "a little"]
    ),
    td.probabilities.synergy(["a", "b"], "x", "0"),
    td.probabilities.synergy(["a", "b"], "x", "-", orders={"x": ["s", "t"]}),
    td.probabilities.probability("tub", "yes", {"asia": "no"}) <= 0.02,
    td.probabilities.probability("tub", "1", {"a": "2", "b": "x y"}) * 2
    + td.probabilities.probability("tub", "0", {"a": "1", "b": "z"})
    >= 0.125,
    td.probabilities.probability("odd name", 'a "quoted" \\ state').equals(1 / 3),
]


@pytest.mark.parametrize("said", SAID, ids=str)
def test_what_is_written_is_read_back(said: td.probabilities.ParameterConstraint) -> None:
    assert td.probabilities.parse_parameter(str(said)) == said


PIECES = [*"P()=|,<+-*2ab:!", '"', "<=", ">=", "0.5", "yes", "influence", "synergy"]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=12))
def test_any_text_is_read_or_refused(pieces: list[str]) -> None:
    try:
        said = td.probabilities.parse_parameter(" ".join(pieces))
    except td.ConstraintError:
        return
    assert td.probabilities.parse_parameter(str(said)) == said


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("P(lung=yes | smoke) <= 0.1", "character 19: expected '=' and a state, but there is '\\)'"),
        ("influence(a, b, *)", "character 17: expected a sign"),
        ("P(a=1) < 0.3", "character 8: expected <=, >= or ="),
        ("P(a=1) <= 0.3 0.4", "character 15: expected the end"),
        ("2 <= 3", "needs a probability"),
        ("P(a=1) + P(b=1) <= 1", "of one variable, not of 'a', 'b'"),
        ("P(a=1) <= 10", "P\\(a=1\\) <= 10 says nothing: a probability is a number from 0 to 1"),
        ("P(a=1) >= -0.1", "says nothing"),
        ("influence(a, a, +)", "names each variable once"),
        ("", "but the text ends"),
    ],
)
def test_errors_point_at_the_place(text: str, message: str) -> None:
    with pytest.raises(td.ConstraintError, match=message):
        td.probabilities.parse_parameter(text)


def test_constraints_hold_them_and_the_parents_they_name() -> None:
    known = td.Constraints(parameters=["influence(smoke, lung, +)"], required_edges=["smoke->bronc"])
    assert known.named == ("bronc", "lung", "smoke")
    assert td.Constraints.from_dict(known.to_dict()) == known
    assert known & td.Constraints(parameters=known.parameters) == known
    free = td.Network(["smoke", "lung", "bronc"], {"bronc": ["smoke"]})
    assert known.violations(free) == ["influence(smoke, lung, +) (which requires the parents that it names)"]
    with pytest.raises(td.ConstraintError, match="smoke->lung is forbidden, but influence"):
        td.Constraints(parameters=["influence(smoke, lung, +)"], forbidden_edges=["smoke->lung"])


def test_both_ways_to_say_it_are_one(tmp_path: Path) -> None:
    table, said = td.example_table(), ["influence(smoke: no < yes, lung: no < yes, -)", "P(tub=yes) <= 0.02"]
    scores = td.score(table, td.BIC(), constraints=td.Constraints(parameters=said))
    other = td.score(
        table, td.probabilities.Constrained(td.BIC(), [td.probabilities.parse_parameter(text) for text in said])
    )
    assert scores.kind == other.kind and scores.constraints == other.constraints
    best = td.best_network(scores)
    assert best.score == td.best_network(other).score < td.best_network(td.score(table, td.BIC())).score
    path = tmp_path / "scores.npz"
    td.io.write_scores(path, scores)
    again = td.io.read_scores(path)
    assert again.kind == scores.kind and again.constraints == scores.constraints
    assert td.best_network(again).score == pytest.approx(best.score, abs=1e-9)


def test_numbers_may_be_written() -> None:
    table = td.Table({"dose": [0, 0, 1, 1, 2, 2], "cured": [0, 1, 0, 0, 1, 1]})
    network = td.Network(["dose", "cured"], {"cured": ["dose"]})
    said = [td.probabilities.parse_parameter("P(cured=1 | dose=0) <= 0.25")]
    assert td.probabilities.constrained_fit(network, table, said).tables["cured"][0] == pytest.approx([0.75, 0.25])


def test_other_scores_refuse() -> None:
    with pytest.raises(td.ScoreError, match="go with BIC"):
        td.score(td.example_table(), td.BDeu(), constraints=td.Constraints(parameters=["P(tub=yes) <= 0.02"]))


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [("a", "b", "c")] + [(i % 2, (i + i // 3) % 2, i // 5 % 2) for i in range(40)]
    (tmp_path / "t.csv").write_text("\n".join(",".join(map(str, row)) for row in rows) + "\n")
    (tmp_path / "known.toml").write_text('parameters = ["influence(a, c, +)"]\n')
    options = ["--score", "bic", "--constraints", str(tmp_path / "known.toml"), "--parameter", "P(b=1 | a=0) >= 0.9"]
    assert main(["best", str(tmp_path / "t.csv"), *options]) == 0
    shown = capsys.readouterr().out
    assert "b <- a" in shown and "c <- a" in shown
    assert main(["best", str(tmp_path / "t.csv"), "--score", "bic", "--parameter", "P(b=2 | a=0) >= 0.9"]) == 4
    assert "'b' has no state '2'" in capsys.readouterr().err
