"""The scikit-learn way in: scikit-learn's own checks, pipelines, clones, and the same answers as the functions."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from table_checks import numbers_of_all_kinds

import topdag as td

sklearn = pytest.importorskip("sklearn", reason="needs scikit-learn: pip install topdag[sklearn]")

from sklearn.base import clone  # noqa: E402
from sklearn.model_selection import GridSearchCV  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import KBinsDiscretizer, OrdinalEncoder  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

CANNOT_APPLY: dict[str, str] = {}
"""scikit-learn's checks that fail, with the reason why they must; there are none."""


@parametrize_with_checks(
    [td.estimators.StructureLearner(discretize="median"), td.estimators.TANClassifier()],
    expected_failed_checks=lambda _: CANNOT_APPLY,
)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_is_content(estimator, check) -> None:  # type: ignore[no-untyped-def]
    check(estimator)


def frame_of(table: td.Table) -> pd.DataFrame:
    rows = [row for row, weight in table.rows() for _ in range(weight)]
    return pd.DataFrame(rows, columns=table.names)


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return frame_of(td.example_table())


def test_the_same_answers_as_the_functions(frame: pd.DataFrame) -> None:
    known = td.Constraints(forbidden_edges=[("smoke", "lung")])
    learner = td.estimators.StructureLearner(td.BIC(), constraints=known, max_parents=2, k=5, posteriors=True).fit(
        frame
    )
    scores = td.score(td.Table(frame), td.BIC(), constraints=known, max_parents=2)
    best = td.best_network(scores)
    assert (learner.network_, learner.answer_.score, learner.answer_.proof) == (best.network, best.score, best.proof)
    assert list(learner.networks_) == list(td.k_best_networks(scores, 5))
    assert np.array_equal(learner.edge_posteriors_.matrix, td.edge_posteriors(scores).matrix)
    assert learner.n_features_in_ == 8
    assert tuple(learner.feature_names_in_) == learner.table_.names == tuple(frame.columns)


def test_without_being_asked_nothing_costly_is_done(frame: pd.DataFrame) -> None:
    learner = td.estimators.StructureLearner().fit(frame)
    assert learner.network_ == td.best_network(frame).network
    assert not hasattr(learner, "edge_posteriors_")
    assert not hasattr(learner, "networks_")


def test_a_time_limit_that_does_not_come_changes_nothing(frame: pd.DataFrame) -> None:
    asked = dict(k=5, posteriors=True)
    for prior in (None, td.OrderModular()):
        free = td.estimators.StructureLearner(td.BIC(), prior=prior, **asked).fit(frame)
        limited = td.estimators.StructureLearner(td.BIC(), prior=prior, time_limit=3600, **asked).fit(frame)
        assert limited.network_ == free.network_
        assert limited.answer_.proved
        assert list(limited.networks_) == list(free.networks_)
        assert np.allclose(limited.edge_posteriors_.matrix, free.edge_posteriors_.matrix)


def test_a_time_limit_holds_while_the_table_is_scored() -> None:
    """No limit is so large that all families of so many numbers are scored before it."""
    numbers = np.random.default_rng(1).normal(size=(200, 60))
    learner = td.estimators.StructureLearner(time_limit=0.01).fit(pd.DataFrame(numbers).add_prefix("x"))
    assert not learner.answer_.proved
    assert learner.scores_ is None
    assert learner.network_.names == tuple(learner.feature_names_in_)


def test_under_a_prior(frame: pd.DataFrame) -> None:
    learner = td.estimators.StructureLearner(prior=td.OrderModular()).fit(frame)
    assert learner.answer_.score == td.best_network(frame, prior=td.OrderModular()).score


@pytest.mark.parametrize("name", ["bic", "BIC", "bic-d", "mdl", "aic", "aic-d", "bdeu", "k2", "fnml", "qnml", "bds"])
def test_scores_by_name(frame: pd.DataFrame, name: str) -> None:
    kind = {"bic-d": "bic", "mdl": "bic", "aic-d": "aic"}.get(name, name).lower()
    assert type(td.estimators.StructureLearner(name).fit(frame).answer_.kind).__name__.lower() == kind


def test_clones_and_parameters(frame: pd.DataFrame) -> None:
    known = td.Constraints(required_edges=[("smoke", "lung")], tiers=[["smoke"], ["lung"]])
    learner = td.estimators.StructureLearner(
        td.BDeu(5), constraints=known, prior=td.FairPrior(), discretize={"a": [1.0]}, k=3
    )
    again = clone(learner)
    assert again.get_params() == learner.get_params()
    assert repr(again) == repr(learner)
    assert not hasattr(again.set_params(k=None, discretize=None), "network_")
    assert again.fit(frame).network_.has_edge("smoke", "lung")


def test_a_rule_cuts_the_same_columns_in_tables_and_estimators() -> None:
    """One rule for all: floats and whole numbers with many values, whatever they are stored as."""
    columns = numbers_of_all_kinds()
    expected = td.Table(columns, discretize=td.Quantile(3))
    learner = td.estimators.StructureLearner("bic", max_parents=1, discretize=td.Quantile(3))
    assert learner.fit(pd.DataFrame(columns)).table_ == expected
    assert learner.table_.notes == expected.notes
    labels = [i // 5 % 2 for i in range(len(columns["flag"]))]
    classifier = td.estimators.TANClassifier(discretize=td.Quantile(3)).fit(pd.DataFrame(columns), labels)
    states = {name: states for name, states in classifier.fitted_.states.items() if name != "class"}
    assert states == dict(zip(expected.names, expected.states, strict=True))
    assert classifier.answer_.notes == expected.notes


def test_in_a_pipeline() -> None:
    """Encoders and binners give floats that are all whole numbers: these are states."""
    generator = np.random.default_rng(1)
    first = generator.normal(size=300)
    numbers = np.column_stack([first, first + generator.normal(size=300) / 3, generator.normal(size=300)])
    bins = KBinsDiscretizer(3, encode="ordinal", quantile_method="averaged_inverted_cdf")
    pipeline = make_pipeline(bins, td.estimators.StructureLearner("bic")).fit(numbers)
    assert len(pipeline[-1].network_.edges) == 1
    assert {"V0", "V1"} == set(pipeline[-1].network_.edges[0])
    assert pipeline[-1].table_.arities.tolist() == [3, 3, 3]
    texts = np.array([["a", "x"], ["b", "y"]] * 20, dtype=object)
    encoded = make_pipeline(OrdinalEncoder(), td.estimators.StructureLearner()).fit(texts)
    assert encoded[-1].table_.states == ((0, 1), (0, 1))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_of_two_libraries(frame: pd.DataFrame, library: str) -> None:
    columns = {name: frame[name].tolist() for name in frame.columns}
    given = pytest.importorskip(library).DataFrame(columns)
    assert (
        td.estimators.StructureLearner("bic").fit(given).network_ == td.best_network(td.score(frame, td.BIC())).network
    )
    classifier = td.estimators.TANClassifier().fit(
        given.select(["lung", "smoke"]) if library == "polars" else given[["lung", "smoke"]], columns["bronc"]
    )
    assert classifier.network_.names == ("lung", "smoke", "class")


def test_refusals(frame: pd.DataFrame) -> None:
    with pytest.raises(ValueError, match="scoring_method='bicc' is not known; close to it are 'bic'"):
        td.estimators.StructureLearner("bicc").fit(frame)
    with pytest.raises(td.TableError, match="floats, which are not states: cut them with discretize="):
        td.estimators.TANClassifier(discretize=None).fit([[0.5, 0.1], [0.2, 0.3]], [0, 1])
    with pytest.raises(td.TableError, match=r"missing values in 1 column: 'asia'.*missing=.drop. leaves"):
        td.estimators.StructureLearner(missing="error").fit(frame.assign(asia=[None, *frame["asia"][1:]]))
    dropped = td.estimators.StructureLearner(missing="drop").fit(frame.assign(asia=[None, *frame["asia"][1:]]))
    assert dropped.table_.n_rows == 499
    assert td.estimators.StructureLearner(missing="drop").fit([[0, 1], [1, 0], [np.nan, 1]]).table_.n_rows == 2
    with pytest.raises(td.ConstraintError, match="did you mean 'lung'"):
        td.estimators.StructureLearner(constraints=td.Constraints(required_edges=[("smoke", "lunk")])).fit(frame)
    with pytest.raises(td.TableError, match=r"contains missing values .* in 'asia'; missing=.drop. leaves"):
        td.estimators.TANClassifier().fit(frame.assign(asia=[None, *frame["asia"][1:]]), frame["lung"])
    with pytest.raises(ValueError, match="feature names should match"):
        td.estimators.TANClassifier().fit(frame, frame["lung"]).predict(frame[list(reversed(frame.columns))])


def test_grid_search_over_classifiers(frame: pd.DataFrame) -> None:
    rows, labels = frame.drop(columns="dysp"), frame["dysp"]
    search = GridSearchCV(td.estimators.TANClassifier(), {"k": [0, 1], "scoring_method": ["bic", "bdeu"]}, cv=3).fit(
        rows, labels
    )
    assert search.best_score_ > 0.7
    assert list(search.best_estimator_.classes_) == ["no", "yes"]


def test_without_scikit_learn() -> None:
    program = """
import sys
sys.modules["sklearn"] = None
import topdag as td
assert td.estimators.StructureLearner.__doc__ and td.estimators.TANClassifier.__doc__
for make in (td.estimators.StructureLearner, lambda: td.estimators.TANClassifier(k=2)):
    try:
        make()
    except ImportError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    needs = "needs scikit-learn: pip install 'topdag[sklearn]'"
    assert done.stdout.splitlines() == [f"StructureLearner {needs}", f"TANClassifier {needs}"]


@pytest.mark.parametrize("estimator", [td.estimators.StructureLearner(), td.estimators.TANClassifier()], ids=repr)
def test_equal_names_are_refused_as_tables_refuse_them(estimator) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(td.TableError, match="'a' 2 times"):
        estimator.fit(pd.DataFrame([[0, 1, 0], [1, 0, 1]], columns=["a", "a", "b"]), [0, 1])


def test_a_frame_of_everything_is_taken_as_it_is() -> None:
    columns = pd.DataFrame(numbers_of_all_kinds()).assign(id=[f"n{i}" for i in range(60)])
    columns.loc[5, "float"] = np.nan
    learner = td.estimators.StructureLearner(max_parents=1).fit(columns)
    assert (learner.n_features_in_, learner.table_.n_rows) == (11, 59)
    assert (
        learner.answer_.kind == td.RankBIC()
        and learner.answer_.network == td.best_network(columns, max_parents=1).network
    )
    assert set(columns) - set(learner.table_.names) == {
        name for name, of in td.look(columns).types.items() if of in ("identifier", "duplicate")
    }
    settled = {"missing": "drop", "discretize": "quantile(3)", "leave_out": ["row", "id"]}
    assert td.estimators.StructureLearner("bic", max_parents=1, **settled).fit(columns).table_.n_variables == 9
    classifier = td.estimators.TANClassifier(**settled).fit(columns, columns["flag"])
    assert classifier.predict(columns).tolist() == columns["flag"].tolist()
    assert (classifier.n_features_in_, len(classifier.fitted_.names)) == (11, 10)


def test_the_score_is_the_mean_log_probability_of_rows(frame: pd.DataFrame) -> None:
    learner = td.estimators.StructureLearner("bic").fit(frame)
    fitted = learner.network_.fit(frame)
    assert learner.score(frame) == pytest.approx(fitted.log_likelihood(frame) / len(frame))


@pytest.mark.parametrize("missing", ["drop", "state"])
def test_the_score_of_rows_with_new_states_gaps_and_numbers(missing: str) -> None:
    columns = pd.DataFrame(numbers_of_all_kinds()).drop(columns=["row", "word"])
    columns.loc[5, "float"] = np.nan
    learner = td.estimators.StructureLearner("bic", discretize="median", missing=missing, max_parents=1).fit(columns)
    inside = learner.score(columns)
    assert -20 < inside < 0
    strange = columns.assign(**{next(name for name in learner.table_.names if name in ("codes", "at_the_limit")): 99.0})
    assert -20 < learner.score(strange) < inside


def test_the_score_serves_a_grid_search(frame: pd.DataFrame) -> None:
    mixed = frame.sample(frac=1.0, random_state=1)
    search = GridSearchCV(td.estimators.StructureLearner("bic"), {"max_parents": [0, 2]}, cv=3).fit(mixed)
    assert search.best_params_ == {"max_parents": 2}


def mixed_frame(rows: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=rows)
    s = np.where(x + rng.normal(size=rows) / 2 > 0, "high", "low")
    return pd.DataFrame({"x": x, "s": s, "y": 2 * (s == "high") + rng.normal(size=rows), "z": rng.normal(size=rows)})


def test_the_score_of_numbers_is_the_mean_log_density_of_rows_held_out() -> None:
    learned, held_out = mixed_frame(300, 1), mixed_frame(200, 2)
    learner = td.estimators.StructureLearner().fit(learned)
    fitted = learner.network_.fit(learned)
    assert {"x", "s"} in map(set, learner.network_.edges) and {"s", "y"} in map(set, learner.network_.edges)
    assert learner.score(held_out) == pytest.approx(fitted.log_likelihood(held_out) / 200)
    gap = held_out.assign(y=held_out["y"].where(held_out.index != 3))
    assert learner.score(gap) == pytest.approx(fitted.log_likelihood(held_out.drop(3)) / 199)
    new = learner.score(held_out.assign(s=["new", *held_out["s"][1:]]))
    assert -5 < new < learner.score(held_out)
    assert learner.score(held_out) > td.estimators.StructureLearner(max_parents=0).fit(learned).score(held_out) + 0.3
    numbers = learned[["x", "y", "z"]]
    by_numbers = td.estimators.StructureLearner("gaussian-bic").fit(numbers)
    expected = by_numbers.network_.fit(numbers).log_likelihood(held_out[["x", "y", "z"]]) / 200
    assert by_numbers.score(held_out[["x", "y", "z"]]) == pytest.approx(expected)
    search = GridSearchCV(td.estimators.StructureLearner(), {"max_parents": [0, 2]}, cv=3).fit(learned)
    assert search.best_params_ == {"max_parents": 2}


def test_the_score_with_numbers_cut_and_states_of_all_sorts() -> None:
    learned, held_out = mixed_frame(300, 1), mixed_frame(200, 2)
    for said in ({"discretize": {"x": "median"}}, {"types": {"s": "categorical"}, "discretize": {"y": "quantile(3)"}}):
        learner = td.estimators.StructureLearner(max_parents=1, **said).fit(learned)
        assert -5 < learner.score(held_out) < 0
    whole = learned.assign(w=np.arange(300) % 6, d=np.arange(300) % 3 / 2)
    learner = td.estimators.StructureLearner(types={"d": "categorical"}).fit(whole)
    assert learner.score(whole) == pytest.approx(learner.network_.fit(learner.table_).log_likelihood(whole) / 300)


def test_rows_with_gaps_where_nothing_is_said_of_them(frame: pd.DataFrame) -> None:
    rng = np.random.default_rng(1)
    few, many = (frame.mask(rng.random(frame.shape) < share) for share in (0.002, 0.1))
    learner = td.estimators.StructureLearner().fit(few)
    complete = few.dropna()
    assert learner.score(few) == pytest.approx(learner.network_.fit(complete).log_likelihood(complete) / len(complete))
    learner = td.estimators.StructureLearner().fit(many)
    assert learner.table_.incomplete
    assert learner.score(many) == pytest.approx(learner.network_.fit(learner.table_).log_likelihood(many) / len(many))


def test_a_mixed_frame_with_gaps_and_row_names_is_fitted_and_scored() -> None:
    rng = np.random.default_rng(5)
    sex = rng.choice(["f", "m"], 120)
    height = 160 + 12 * (sex == "m") + rng.normal(0, 5, 120)
    weight = height - 100 + rng.normal(0, 4, 120)
    rows = pd.DataFrame({"name": [f"p{i}" for i in range(120)], "sex": sex, "height": height, "weight": weight})
    rows["visits"] = rng.integers(0, 7, 120)
    rows.loc[3, "height"] = np.nan
    learner = td.estimators.StructureLearner().fit(rows[:100])
    assert learner.table_.names == ("sex", "height", "weight", "visits") and learner.table_.n_rows == 99
    assert learner.answer_.kind == td.RankBIC() and learner.network_ == td.best_network(rows[:100]).network
    assert {frozenset(edge) for edge in learner.network_.edges} >= {frozenset(("height", "weight"))}
    held_out = rows[100:]
    empty = td.estimators.StructureLearner(max_parents=0).fit(rows[:100])
    assert learner.score(held_out) > empty.score(held_out)
    by_name = rows.set_index("name")
    assert td.estimators.StructureLearner().fit(by_name[:100]).network_ == learner.network_
