"""The TAN classifier: probabilities by brute force, the best structure of all, unseen states, cuts used again."""

from __future__ import annotations

import contextlib
import pickle
from functools import cache
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topdag as td

pytest.importorskip("sklearn", reason="needs scikit-learn: pip install topdag[sklearn]")


@st.composite
def rows_and_classes(draw: st.DrawFn) -> tuple[list[list[int]], list[str]]:
    n_rows, n_features = draw(st.integers(1, 40)), draw(st.integers(1, 4))
    generator = np.random.default_rng(draw(st.integers(0, 999)))
    labels = generator.integers(0, 3, n_rows)
    rows = [[int((label + generator.integers(0, 2)) % 3) for _ in range(n_features)] for label in labels]
    return rows, [f"c{label}" for label in labels]


@settings(max_examples=40)
@given(rows_and_classes(), st.sampled_from([0, 1, 2]), st.sampled_from(["bic", "bdeu"]), st.sampled_from([0.5, 1, 4]))
def test_probabilities_by_brute_force(given_: tuple[list[list[int]], list[str]], k: int, name: str, ess: float) -> None:
    """P(class | features) is the joint probability of the fitted network, over that of all classes."""
    rows, labels = given_
    classifier = td.estimators.TANClassifier(name, k=k, ess=ess).fit(rows, labels)
    assert classifier.classes_.tolist() == sorted(set(labels))
    fitted, names = classifier.fitted_, classifier.network_.names
    for row, found in zip(rows, classifier.predict_proba(rows), strict=True):
        chances = [np.exp(fitted.log_probability(dict(zip(names, [*row, c], strict=True)))) for c in range(len(found))]
        assert found == pytest.approx(np.array(chances) / sum(chances))
    best = classifier.classes_[np.argmax(classifier.predict_proba(rows), axis=1)]
    assert classifier.predict(rows).tolist() == best.tolist()
    assert np.exp(classifier.predict_log_proba(rows)).sum(axis=1) == pytest.approx(np.ones(len(rows)))


@cache
def networks(names: tuple[str, ...]) -> list[td.Network]:
    found = []
    for masks in product(*[[mask for mask in range(16) if not mask >> x & 1] for x in range(4)]):
        with contextlib.suppress(td.NetworkError):  # a cycle
            found.append(td.Network.from_masks(names, masks))
    assert len(found) == 543
    return found


@pytest.mark.parametrize("k", [0, 1, 2])
@pytest.mark.parametrize("kind", [td.BIC(), td.BDeu(), td.BDeu(10)], ids=str)
def test_no_such_network_scores_more(k: int, kind: td.BIC | td.BDeu) -> None:
    table = td.random_network(4, arities=[2, 3, 2, 2], arcs=5, seed=k).sample(80, seed=1)
    rows = [row for row, weight in table.rows() for _ in range(weight)]
    classifier = td.estimators.TANClassifier(kind, k=k).fit([row[:3] for row in rows], [row[3] for row in rows])
    names = classifier.network_.names
    scores = td.score([dict(zip(names, row, strict=True)) for row in rows], kind)
    obeying = td.rules.k_dependence("class", k)
    every = [scores.of(network) for network in networks(names) if obeying.allows(network)]
    assert classifier.answer_.score == pytest.approx(max(every))
    assert classifier.answer_.proof.status is td.types.Status.PROVED
    assert obeying.allows(classifier.network_)


def dependent() -> tuple[pd.DataFrame, pd.Series]:
    """b follows a and the class together, so that only a tree sees it; c is the class most of the time."""
    generator = np.random.default_rng(5)
    label, a = generator.integers(0, 2, 600), generator.integers(0, 3, 600)
    b = (a + label * generator.integers(0, 2, 600)) % 3
    c = np.where(generator.random(600) < 0.8, label, 1 - label)
    return pd.DataFrame({"a": a, "b": b, "c": c}), pd.Series(label)


def test_unseen_states_tell_nothing() -> None:
    rows, labels = dependent()
    classifier = td.estimators.TANClassifier("bdeu").fit(rows, labels)
    parents = classifier.network_.parents
    child, parent = ("b", "a") if "a" in parents["b"] else ("a", "b")
    assert set(parents[child]) == {parent, "class"}
    assert parents["c"] == ("class",)

    def odds(**changed: int) -> float:
        row = pd.DataFrame([{"a": 0, "b": 1, "c": 1} | changed])
        no, yes = classifier.predict_proba(row)[0]
        return float(yes / no)

    fitted, prior = classifier.fitted_, classifier.fitted_.tables["class"]
    of_c = fitted.table("c")[1,][1] / fitted.table("c")[0,][1]
    alone = classifier.by_class_alone_[["a", "b", "c"].index(child)]
    state = {"a": 0, "b": 1}[child]
    by_child_alone = alone[1, state] / alone[0, state]
    of_nothing = prior[1] / prior[0]
    assert odds(a=9, b=9, c=9) == pytest.approx(of_nothing)
    assert odds(a=9, b=9) == pytest.approx(of_nothing * of_c)
    assert odds(**{parent: 9}) == pytest.approx(of_nothing * of_c * by_child_alone)
    counts = [[((rows[child] == state) & (labels == c)).sum() + 1 / 6, (labels == c).sum() + 1 / 2] for c in (0, 1)]
    assert alone[:, state] == pytest.approx([above / below for above, below in counts])


def test_cuts_are_learned_once() -> None:
    generator = np.random.default_rng(2)
    label = generator.integers(0, 2, 400)
    numbers = np.column_stack([label + generator.normal(size=400), generator.normal(size=400)])
    classifier = td.estimators.TANClassifier().fit(numbers, label)
    coding = classifier.codings_[0]
    assert coding.points == pytest.approx(np.quantile(numbers[:, 0], [0.2, 0.4, 0.6, 0.8]))
    assert len(classifier.fitted_.states["V0"]) == 5
    one_by_one = np.vstack([classifier.predict_proba(row[None]) for row in numbers[:20]])
    assert one_by_one == pytest.approx(classifier.predict_proba(numbers[:20]))
    beyond = classifier.predict_proba([[-100.0, 0.0], [100.0, 0.0]])
    assert beyond[0, 0] > 0.5 > beyond[1, 0]
    assert td.estimators.TANClassifier(discretize=td.Uniform(3)).fit(numbers, label).fitted_.arities[:2] == (3, 3)
    chosen = td.estimators.TANClassifier(discretize={"V0": [0.0, 1.0], "V1": "median"}).fit(numbers, label)
    assert chosen.fitted_.states["V0"] == ("<= 0", "(0, 1]", "> 1")
    with pytest.raises(td.TableError, match="floats, which are not states"):
        td.estimators.TANClassifier(discretize=None).fit(numbers, label)


def test_columns_of_every_type() -> None:
    rows = pd.DataFrame(
        {
            "text": ["a", "b", "a", "b"] * 5,
            "flag": [True, False, True, True] * 5,
            "category": pd.Categorical(["x", "y", "x", "y"] * 5, categories=["z", "y", "x"]),
            "whole": [0.0, 1.0, 2.0, 1.0] * 5,
            "class": [1, 2, 3, 4] * 5,
            "constant": [0.5] * 20,
        }
    )
    classifier = td.estimators.TANClassifier().fit(rows, ["p", "q"] * 10)
    assert classifier.class_name_ == "class_"
    assert dict(list(classifier.fitted_.states.items())[:4]) == {
        "text": ("a", "b"),
        "flag": (False, True),
        "category": ("z", "y", "x"),
        "whole": (0, 1, 2),
    }
    assert classifier.fitted_.states["constant"] == ("any number",)
    assert classifier.predict(rows).tolist() == ["p", "q"] * 10
    again = pickle.loads(pickle.dumps(classifier))
    assert np.array_equal(again.predict_proba(rows), classifier.predict_proba(rows))


def test_one_class_and_wrong_labels() -> None:
    lone = td.estimators.TANClassifier().fit([[0, 1], [1, 0]], ["only", "only"])
    assert lone.predict([[1, 1]]).tolist() == ["only"]
    assert lone.predict_proba([[1, 1]]).tolist() == [[1.0]]
    with pytest.raises(ValueError, match="continuous"):
        td.estimators.TANClassifier().fit([[0, 1], [1, 0]], [0.1, 0.7])
    for gap in (None, np.nan):
        with pytest.raises(ValueError, match=r"Input y contains NaN: the class is missing in row 1"):
            td.estimators.TANClassifier().fit([[0, 1], [1, 0]], np.array(["a", gap], dtype=object))
    with pytest.raises(ValueError, match="2 rows of features but 3 of classes"):
        td.estimators.TANClassifier().fit(pd.DataFrame({"a": [0, 1], "b": [1, 0]}), [0, 1, 1])
    with pytest.raises(td.ScoreError, match="ess must be a positive number"):
        td.estimators.TANClassifier(ess=0).fit([[0, 1], [1, 0]], [0, 1])
    with pytest.raises(td.ConstraintError):
        td.estimators.TANClassifier(k=-1).fit([[0, 1], [1, 0]], [0, 1])


def with_gaps(n: int = 60) -> tuple[pd.DataFrame, list[str]]:
    labels = ["ab"[i % 2] for i in range(n)]
    same = [None if i % 6 == 0 else label for i, label in enumerate(labels)]
    sizes = [None if i % 10 == 3 else i % 2 + i / 100 for i in range(n)]
    return pd.DataFrame({"same": same, "size": sizes, "other": [i % 3 for i in range(n)]}), labels


@pytest.mark.parametrize("missing", ["drop", "state"])
def test_missing_cells(missing: str) -> None:
    features, labels = with_gaps()
    with pytest.raises(td.TableError, match='missing="drop" leaves such rows out'):
        td.estimators.TANClassifier().fit(features, labels)
    classifier = td.estimators.TANClassifier(missing=missing).fit(features, labels)
    assert ("missing" in classifier.fitted_.states["same"]) == (missing == "state")
    kept = features.notna().all(axis=1)
    if missing == "drop":
        expected = td.estimators.TANClassifier().fit(features[kept], np.array(labels)[kept])
        assert classifier.network_ == expected.network_
        assert np.array_equal(classifier.predict_proba(features[kept]), expected.predict_proba(features[kept]))
        assert f"{(~kept).sum()} of 60 rows were dropped" in classifier.answer_.notes[0]
    assert classifier.score(features, labels) > 0.9  # a gap in one feature leaves the others
    gone = pd.DataFrame({"same": [None], "size": [np.nan], "other": [7]}, dtype=object)
    assert classifier.predict_proba(gone).sum() == pytest.approx(1.0)


def test_sample_weights_stand_for_repeated_rows() -> None:
    features, labels = with_gaps()
    features = features.dropna().reset_index(drop=True)
    y = np.array(labels)[: len(features)]
    weights = np.arange(len(features)) % 4
    repeated = td.estimators.TANClassifier().fit(features.loc[features.index.repeat(weights)], np.repeat(y, weights))
    weighted = td.estimators.TANClassifier().fit(features, y, sample_weight=weights)
    assert weighted.network_ == repeated.network_
    assert np.array_equal(weighted.predict_proba(features), repeated.predict_proba(features))
    with pytest.raises(td.TableError, match="weights are whole numbers"):
        td.estimators.TANClassifier().fit(features, y, sample_weight=weights + 0.5)
