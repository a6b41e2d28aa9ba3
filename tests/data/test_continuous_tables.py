"""Tables with continuous columns: which columns stay numbers, what is refused, files and the command line."""

from __future__ import annotations

import math
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from cli_runs import Topdag

import topdag as td
from topdag.cli.command import Exit

FRAME = pd.DataFrame(
    {
        "height": [1.5, 1.7, 1.6, 1.9, 1.8, 1.65],
        "age": [30, 41, 25, 41, 60, 33],
        "sex": ["f", "m", "f", "m", "m", "f"],
    }
)
NUMBERS = FRAME[["height", "age"]].assign(weight=[50.0, 72.5, 60.0, 80.0, 77.0, 58.0])


def test_auto_takes_floats() -> None:
    table = td.Table(FRAME, continuous="auto")
    assert table.continuous == ("height",) and table.arities.tolist() == [0, 5, 2]
    assert table.states[0] == () and table.numbers.shape == (1, 6)
    assert "Column 'height' is continuous." in table.notes
    assert sorted(table.rows())[0] == ((1.5, 30, "f"), 1)
    assert "1 continuous, the others 2 to 5 states" in repr(table)


def test_names_are_taken_besides_floats() -> None:
    assert td.Table(FRAME, continuous=["age"]).continuous == ("height", "age")
    cut = td.Table(FRAME, continuous=["age"], discretize="median")
    assert cut.continuous == ("age",) and cut.states[0] == ("<= 1.675", "> 1.675")
    assert td.Table(FRAME, continuous="auto", discretize={"height": "median"}).continuous == ()


def test_all_takes_integers_too() -> None:
    table = td.Table(NUMBERS, continuous="all")
    assert table.continuous == table.names and "all continuous" in repr(table)
    assert table.constant == ()


def test_equal_rows_are_merged_and_order_does_not_matter() -> None:
    doubled = pd.concat([NUMBERS, NUMBERS.iloc[[2, 0]]])
    table, turned = (td.Table(frame, continuous="all") for frame in (doubled, doubled.iloc[::-1]))
    assert table == turned and table.n_distinct == 6 and table.n_rows == 8
    assert sorted(table.weights.tolist()) == [1, 1, 1, 1, 2, 2]
    assert table != td.Table(NUMBERS, continuous="all")
    assert pickle.loads(pickle.dumps(table)) == table


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"continuous": "height"}, 'continuous= is "auto"'),
        ({"continuous": ["size"]}, "continuous= names a column 'size' that is not there"),
        ({"continuous": ["sex"]}, "column 'sex' does not hold numbers, such as 'f'"),
        ({"continuous": "auto", "discretize": "mean"}, "cuts every column of floats.*keeps them all"),
        ({"continuous": ["height"], "discretize": {"height": "mean"}}, "both name 'height'"),
        ({}, r"column 'height' holds floats.*keep such columns as numbers, by scoring with BGe\(\) or GaussianBIC\(\)"),
    ],
)
def test_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(td.TableError, match=message):
        td.Table(FRAME, **options)  # type: ignore[arg-type]


def test_columns_without_numbers_are_named_at_once() -> None:
    table = FRAME.assign(name=[f"n{i}" for i in range(len(FRAME))])
    message = (
        r"columns 'sex', 'name' do not hold numbers, such as 'f', .* leave them out with leave_out=\['sex', 'name'\]"
    )
    with pytest.raises(td.TableError, match=message):
        td.best_network(table, "gaussian-bic")


@pytest.mark.parametrize(
    ("value", "options", "message"),
    [
        (math.nan, {}, r"missing values in 1 column: 'height' \(1 row, the first is row 3"),
        (math.nan, {"missing": "state"}, "column 'height' is missing in row 3.*missing cell can neither be a state"),
        (math.inf, {}, "column 'height' is infinite in row 3"),
        (1e101, {}, r"column 'height' has numbers beyond 1e\+100: scale it"),
    ],
)
def test_cells_that_are_no_numbers(value: float, options: dict[str, str], message: str) -> None:
    frame = FRAME.assign(height=[*FRAME.height[:3], value, *FRAME.height[4:]])
    with pytest.raises(td.TableError, match=message):
        td.Table(frame, continuous="auto", **options)  # type: ignore[arg-type]
    if math.isnan(value):
        assert td.Table(frame, continuous="auto", missing="drop").n_rows == 5


def test_scores_read_what_they_need() -> None:
    assert td.score(NUMBERS, td.BGe()).table == td.Table(NUMBERS, continuous="all")
    assert td.score(FRAME.drop(columns="age"), td.MixedBIC()).table == td.Table(
        FRAME.drop(columns="age"), continuous="auto"
    )
    assert td.score(NUMBERS.to_numpy(), td.GaussianBIC()).names == ("V0", "V1", "V2")
    assert td.plan(NUMBERS, td.BGe()).n_variables == 3


@pytest.mark.parametrize(
    "kind",
    [td.BDeu(), td.BIC(), td.K2(), td.BDs(), td.CustomScore(lambda _: 0.0)],
    ids=lambda kind: type(kind).__name__,
)
def test_discrete_scores_refuse_numbers_and_say_what_to_do(kind: object) -> None:
    with pytest.raises(td.ScoreError, match=r"needs states, but 'height' is continuous.*discretize=.*BGe.*MixedBIC"):
        td.score(td.Table(FRAME, continuous="auto"), kind)  # type: ignore[arg-type]


def test_questions_refuse_numbers_without_a_score() -> None:
    for ask in (td.best_network, td.edge_posteriors, td.log_evidence):
        with pytest.raises(td.ScoreError, match=r"needs states.*BGe"):
            ask(td.Table(FRAME, continuous="auto"))  # type: ignore[operator]


def test_continuous_scores_refuse_states() -> None:
    with pytest.raises(td.ScoreError, match=r"is for continuous variables, but 'age', 'sex' have states.*MixedBIC"):
        td.score(td.Table(FRAME, continuous="auto"), td.BGe())
    with pytest.raises(td.TableError, match=r"column .sex. does not hold numbers.*MixedBIC"):
        td.score(FRAME, td.GaussianBIC())


@pytest.mark.parametrize("make", [pl.from_pandas, lambda frame: pl.from_pandas(frame).lazy()])
def test_other_frames(make: object) -> None:
    assert td.Table(make(FRAME), continuous="auto") == td.Table(FRAME, continuous="auto")  # type: ignore[operator]


def test_files_of_scores_keep_numbers(tmp_path: Path) -> None:
    for frame, kind in (
        (NUMBERS, td.BGe(alpha_mu=2.0, mean=(1.0, 40.0, 60.0), precision=np.diag([1.0, 2.0, 3.0]))),  # type: ignore[arg-type]
        (NUMBERS, td.GaussianAIC()),
        (FRAME[["height", "sex"]].assign(weight=NUMBERS.weight), td.MixedBIC()),
    ):
        scores = td.score(frame, kind)  # type: ignore[arg-type]
        path = tmp_path / "scores.npz"
        td.io.write_scores(path, scores)
        back = td.io.read_scores(path)
        assert (back.table, back.kind, back.grid) == (scores.table, scores.kind, scores.grid)
        assert td.best_network(back).score == td.best_network(scores).score


def test_lists_keep_their_score(tmp_path: Path) -> None:
    found = td.k_best_networks(td.score(NUMBERS, td.BGe()), 4)
    td.io.write_list(tmp_path / "list.jsonl", found)
    back = td.io.read_list(tmp_path / "list.jsonl")
    assert back.source.kind == td.BGe() and [one.score for one in back] == [one.score for one in found]


@pytest.mark.parametrize("score", ["bge", "gaussian-bic", "gaussian-aic", "mixed-bic"])
def test_command_line(score: str, topdag: Topdag, tmp_path: Path) -> None:
    table, answer = tmp_path / "numbers.csv", tmp_path / "answer.json"
    NUMBERS.drop(columns="age").assign(extra=[0.1, 0.5, 0.2, 0.9, 0.3, 0.4]).to_csv(table, index=False)
    ran = topdag("best", table, "--score", score, "-o", answer)
    assert ran.code == Exit.FINE and "are continuous" in ran.out
    checked = topdag("check", answer, table)
    assert (checked.code, "every score agrees" in checked.out) == (Exit.FINE, True)
    assert topdag("edges", table, "--score", score).code == Exit.FINE


def test_command_line_names_ways_out(topdag: Topdag, tmp_path: Path) -> None:
    table = tmp_path / "people.csv"
    FRAME.to_csv(table, index=False)
    ran = topdag("best", table)
    assert ran.code == Exit.BAD_INPUT and "--score bge or gaussian-bic, or mixed-bic" in ran.err
    ran = topdag("best", table, "--score", "bge")
    assert ran.code == Exit.BAD_INPUT and "--score mixed-bic" in ran.err
    ran = topdag("best", table, "--score", "mixed-bic", "--continuous", "age")
    assert ran.code == Exit.FINE and "'height', 'age' are continuous" in ran.out


def test_what_counts_states_refuses_numbers() -> None:
    table = td.Table(FRAME, continuous="auto")
    network = td.Network(table.names, {})
    for ask in (
        lambda: td.features.predictive_log_density(network, table, FRAME),
        lambda: td.probabilities.constrained_fit(network, table, []),
        lambda: td.parent_bounds(table, td.BIC(), "best"),
    ):
        with pytest.raises(td.ScoreError, match="needs states, but 'height' is continuous"):
            ask()


def test_regressions_of_a_network() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=50)
    s = np.array(["u", "v"] * 25)
    y = np.where(s == "u", 1 + 2 * x, 3 - x) + 0.1 * rng.normal(size=50)
    table = td.Table({"x": x, "s": s, "y": y}, continuous="auto")
    found = td.probabilities.regressions(td.Network(table.names, {"y": ["x", "s"]}), table)
    assert sorted(found) == ["x", "y"] and len(found["x"]) == 1 and len(found["y"]) == 2
    for one in found["y"]:
        rows = s == one.given["s"]
        slope, intercept = np.polyfit(x[rows], y[rows], 1)
        assert (one.coefficients["x"], one.intercept, one.n_rows) == pytest.approx((slope, intercept, 25))
        assert one.variance == pytest.approx(np.mean((y[rows] - slope * x[rows] - intercept) ** 2))
    assert "where s=u" in str(found["y"][0])
    assert td.probabilities.regressions(td.Network(table.names, {"y": ["x", "s"]}), {"x": x, "s": s, "y": y}) == found
    with pytest.raises(td.ScoreError, match="must have the variables of the table"):
        td.probabilities.regressions(td.Network(("x", "y"), {}), table)


@pytest.mark.parametrize("score", ["bge", "mixed-bic"])
def test_report(score: str, topdag: Topdag, tmp_path: Path) -> None:
    table, page = tmp_path / "numbers.csv", tmp_path / "report.html"
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(30, 2)), columns=["a", "b"])
    if score == "mixed-bic":
        frame["s"] = ["x", "y", "z"] * 10
    frame.to_csv(table, index=False)
    assert topdag("report", table, "--score", score, "-o", page).code == Exit.FINE
    assert "standard deviation" in page.read_text()


def test_estimator() -> None:
    pytest.importorskip("sklearn")
    rng = np.random.default_rng(1)
    a = rng.normal(size=60)
    frame = pd.DataFrame({"a": a, "b": a + 0.5 * rng.normal(size=60), "s": np.arange(60) % 2})
    learner = td.estimators.StructureLearner("mixed-bic").fit(frame)
    assert learner.table_.continuous == ("a", "b") and learner.network_.n_edges == 1
    assert td.estimators.StructureLearner(td.BGe()).fit(frame[["a", "b"]]).network_.n_edges == 1
