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


def test_floats_are_continuous() -> None:
    table = td.Table(FRAME)
    assert table.continuous == ("height",) and table.arities.tolist() == [0, 5, 2]
    assert table.states[0] == () and table.numbers.shape == (1, 6)
    assert table.ordered == ("age",) and [table.is_number(v) for v in range(3)] == [True, True, False]
    assert table.notes == table.decisions == ()
    assert sorted(table.rows())[0] == ((1.5, 30, "f"), 1)
    assert "1 continuous, the others 2 to 5 states" in repr(table)


def test_types_make_columns_continuous_and_rules_cut_them() -> None:
    assert td.Table(FRAME, types={"age": "continuous"}).continuous == ("height", "age")
    cut = td.Table(FRAME, types={"age": "continuous"}, discretize={"height": "median"})
    assert cut.continuous == ("age",) and cut.states[0] == ("<= 1.675", "> 1.675")
    assert td.Table(FRAME, discretize={"height": "median"}).continuous == ()
    assert td.Table(FRAME, types={"height": "categorical"}).states[0] == tuple(sorted(FRAME.height))


def test_whole_numbers_with_many_values_are_continuous_too() -> None:
    frame = pd.DataFrame({"days": [13 * i % 67 for i in range(60)], "few": [i % 17 for i in range(60)]})
    table = td.Table(frame)
    assert table.continuous == ("days",) and table.ordered == ("few",)


def test_the_star_takes_integers_too() -> None:
    table = td.Table(NUMBERS, types={"*": "continuous"})
    assert table.continuous == table.names and "all continuous" in repr(table)
    assert table.constant == ()


def test_equal_rows_are_merged_and_order_does_not_matter() -> None:
    doubled = pd.concat([NUMBERS, NUMBERS.iloc[[2, 0]]])
    table, turned = (td.Table(frame, types={"*": "continuous"}) for frame in (doubled, doubled.iloc[::-1]))
    assert table == turned and table.n_distinct == 6 and table.n_rows == 8
    assert sorted(table.weights.tolist()) == [1, 1, 1, 1, 2, 2]
    assert table != td.Table(NUMBERS, types={"*": "continuous"})
    assert pickle.loads(pickle.dumps(table)) == table


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"types": "height"}, "types= maps names of columns to types, not 'height'"),
        ({"types": {"size": "continuous"}}, "types= names a column 'size' that is not there"),
        ({"types": {"sex": "continuous"}}, "column 'sex' cannot be continuous: it holds 'f', which is no number"),
    ],
)
def test_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(td.TableError, match=message):
        td.Table(FRAME, **options)  # type: ignore[arg-type]


def test_a_rule_cuts_what_is_declared_continuous() -> None:
    """It says how such numbers become states."""
    assert td.Table(FRAME, types={"height": "continuous"}, discretize={"height": "mean"}).continuous == ()


def test_columns_without_numbers_are_named_at_once() -> None:
    table = FRAME.assign(name=[f"n{i}" for i in range(len(FRAME))])
    with pytest.raises(td.ScoreError, match=r"is for continuous variables, but 'sex', 'name' have states.*MixedBIC"):
        td.best_network(table, "gaussian-bic")


@pytest.mark.parametrize(
    ("value", "options", "message"),
    [
        (math.nan, {"missing": "error"}, r"missing values in 1 column: 'height' \(1 row, the first is row 3"),
        (math.nan, {"missing": "state"}, "column 'height' is missing in row 3.*missing cell can neither be a state"),
        (math.inf, {}, "column 'height' is infinite in row 3"),
        (1e101, {}, r"column 'height' has numbers beyond 1e\+100: scale it"),
    ],
)
def test_cells_that_are_no_numbers(value: float, options: dict[str, str], message: str) -> None:
    frame = FRAME.assign(height=[*FRAME.height[:3], value, *FRAME.height[4:]])
    with pytest.raises(td.TableError, match=message):
        td.Table(frame, **options)  # type: ignore[arg-type]
    if math.isnan(value):
        assert td.Table(frame).n_rows == td.Table(frame, missing="drop").n_rows == 5


def test_scores_read_what_they_need() -> None:
    assert td.score(NUMBERS, td.BGe()).table == td.Table(NUMBERS, types={"*": "continuous"})
    assert td.score(FRAME.drop(columns="age"), td.MixedBIC()).table == td.Table(FRAME.drop(columns="age"))
    assert td.score(NUMBERS.to_numpy(), td.GaussianBIC()).names == ("V0", "V1", "V2")
    assert td.plan(NUMBERS, td.BGe()).n_variables == 3


@pytest.mark.parametrize(
    "kind",
    [td.BDeu(), td.BIC(), td.K2(), td.BDs(), td.CustomScore(lambda _: 0.0)],
    ids=lambda kind: type(kind).__name__,
)
def test_discrete_scores_refuse_numbers_and_say_what_to_do(kind: object) -> None:
    with pytest.raises(
        td.ScoreError, match=r"needs states, but 'height' is continuous: cut .* discretize= .*name no score"
    ):
        td.score(td.Table(FRAME), kind)  # type: ignore[arg-type]


def test_discrete_scores_take_whole_numbers_for_states() -> None:
    frame = pd.DataFrame({"days": [13 * i % 67 for i in range(60)], "sex": ["f", "m", "f"] * 20})
    scores = td.score(frame, "bic")
    assert scores.table.arities.tolist() == [60, 2] and td.Table(frame).continuous == ("days",)
    assert any("takes 'days' for categories, with a state for each number" in note for note in scores.table.notes)


def test_questions_answer_about_numbers_without_a_score() -> None:
    for ask in (td.best_network, td.k_best_networks):
        found = ask(FRAME, **({"k": 2} if ask is td.k_best_networks else {}))  # type: ignore[operator]
        kind = found.kind if ask is td.best_network else found.source.kind
        assert type(kind).__name__ == "RankBIC"


def test_continuous_scores_refuse_words() -> None:
    for frame in (td.Table(FRAME), FRAME):
        for kind in (td.BGe(), td.GaussianBIC()):
            with pytest.raises(td.ScoreError, match=r"is for continuous variables, but 'sex' ha.*MixedBIC"):
                td.score(frame, kind)
    assert td.score(FRAME.drop(columns="sex"), td.BGe()).table.continuous == ("height", "age")  # places in an order


@pytest.mark.parametrize("make", [pl.from_pandas, lambda frame: pl.from_pandas(frame).lazy()])
def test_other_frames(make: object) -> None:
    assert td.Table(make(FRAME)) == td.Table(FRAME)  # type: ignore[operator]
    said = {"types": {"age": "continuous"}}
    assert td.Table(make(FRAME), **said) == td.Table(FRAME, **said)  # type: ignore[operator, arg-type]


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
    assert ran.code == Exit.FINE and "6 rows, 3 variables: 3 numbers" in ran.out
    checked = topdag("check", answer, table)
    assert (checked.code, "every score agrees" in checked.out) == (Exit.FINE, True)
    assert topdag("edges", table, "--score", score).code == Exit.FINE


def test_command_line_names_ways_out(topdag: Topdag, tmp_path: Path) -> None:
    table = tmp_path / "people.csv"
    FRAME.to_csv(table, index=False)
    ran = topdag("best", table)
    assert ran.code == Exit.FINE and "6 rows, 3 variables: 2 numbers, 1 category" in ran.out
    ran = topdag("best", table, "--score", "bdeu")
    assert ran.code == Exit.BAD_INPUT and "--discretize when making the table, or name no score" in ran.err
    ran = topdag("best", table, "--score", "bge")
    assert ran.code == Exit.BAD_INPUT and "--score rank-bic or mixed-bic" in ran.err
    answer = tmp_path / "answer.json"
    ran = topdag("best", table, "--score", "mixed-bic", "--types", "age=continuous", "-o", answer)
    assert ran.code == Exit.FINE and '"types": { "age": "continuous" }' in " ".join(answer.read_text().split())


def test_what_counts_states_refuses_numbers() -> None:
    table = td.Table(FRAME)
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
    table = td.Table({"x": x, "s": s, "y": y})
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
