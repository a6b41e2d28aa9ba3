"""Fitted networks of numbers and of mixed columns: densities against scores, samples, predictions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

import topdag as td


def mixed_frame(rows: int = 60) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    s, t = rng.choice(["low", "high"], rows), rng.choice([0, 1, 2], rows)
    x = rng.normal(size=rows) + (s == "high")
    y = 2 * x * (t == 1) - x + rng.normal(size=rows) + t
    return pd.DataFrame({"s": s, "x": x, "t": t, "y": y})


MIXED = td.Network(["s", "x", "t", "y"], {"x": ["s"], "t": ["s"], "y": ["x", "t"]})
NUMBERS = td.Network(["a", "b", "c"], {"b": ["a"], "c": ["a", "b"]})


def numbers_frame(rows: int = 40) -> pd.DataFrame:
    rng = np.random.default_rng(4)
    a = rng.normal(3, 2, rows)
    b = 1 - 0.5 * a + rng.normal(0, 0.3, rows)
    return pd.DataFrame({"a": a, "b": b, "c": a * 2 + b - 4 + rng.normal(0, 1.5, rows)})


def test_likelihood_is_the_score_without_its_penalty() -> None:
    """GaussianBIC takes (ln N)/2 off for each parameter of the maximum likelihood."""
    frame = numbers_frame()
    table = td.Table(frame)
    parameters = sum(2 + len(parents) for parents in NUMBERS.parents.values())
    expected = td.score(table, td.GaussianBIC()).of(NUMBERS) + math.log(table.n_rows) / 2 * parameters
    assert_likelihood(NUMBERS, frame, expected)


def test_likelihood_is_the_score_without_its_penalty_where_each_state_has_its_own_line() -> None:
    """MixedBIC has a regression for each state of discrete parents, as this fit where rows ask for it."""
    frame = mixed_frame(300)
    frame["x"] = frame["x"] * np.where(frame["s"] == "high", 3, 1)
    table = td.Table(frame)
    parameters = 1 + 2 * 2 + 2 * 2 + 3 * 3
    expected = td.score(table, td.MixedBIC()).of(MIXED) + math.log(table.n_rows) / 2 * parameters
    assert_likelihood(MIXED, frame, expected)


def assert_likelihood(network: td.Network, frame: pd.DataFrame, expected: float) -> None:
    fitted = network.fit(frame, ess=0)
    assert fitted.log_likelihood(td.Table(frame)) == pytest.approx(expected, rel=1e-9)
    assert fitted.log_likelihood(frame) == pytest.approx(expected, rel=1e-9)
    assert fitted.log_likelihood(frame.to_dict("records")) == pytest.approx(expected, rel=1e-9)
    assert fitted.log_density(frame).sum() == pytest.approx(expected, rel=1e-9)


def test_density_is_that_of_the_normal_distribution() -> None:
    """All edges: the regressions are the covariance of the table in other words."""
    stats = pytest.importorskip("scipy.stats")
    frame = numbers_frame()
    normal = stats.multivariate_normal(frame.mean(), np.cov(frame.to_numpy().T, bias=True))
    found = NUMBERS.fit(frame, ess=0).log_density(frame.head(7))
    assert found == pytest.approx(normal.logpdf(frame.head(7).to_numpy()), rel=1e-9)


@pytest.mark.parametrize(("network", "frame"), [(MIXED, mixed_frame()), (NUMBERS, numbers_frame())])
def test_samples_lead_back_to_what_they_were_drawn_from(network: td.Network, frame: pd.DataFrame) -> None:
    fitted = network.fit(frame)
    sample = fitted.sample(40_000, seed=1)
    assert sample == fitted.sample(40_000, seed=1)
    assert sample != fitted.sample(40_000, seed=2)
    assert sample.names == network.names
    again = network.fit(sample)
    for name, own in fitted.regressions.items():
        theirs = {tuple(one.given.items()): one for one in again.regressions[name]}
        for one in own:
            other = theirs[tuple(one.given.items())]
            assert other.intercept == pytest.approx(one.intercept, abs=0.1)
            assert other.variance == pytest.approx(one.variance, rel=0.1)
            assert dict(other.coefficients) == pytest.approx(dict(one.coefficients), abs=0.1)
            for parent, added in one.of_states.items():
                assert dict(other.of_states[parent]) == pytest.approx(dict(added), abs=0.1)
    for name, table in fitted.tables.items():
        assert np.abs(again.tables[name] - table).max() < 0.03


def test_predictions_are_those_of_the_regression_or_the_table() -> None:
    frame = mixed_frame()
    fitted = MIXED.fit(frame)
    by_state = {own.given["t"]: own for own in fitted.regressions["y"]}
    new = pd.DataFrame({"t": [2, 0, 1], "x": [0.5, -1.0, 3.0]})
    expected = [by_state[t].intercept + by_state[t].coefficients["x"] * x for t, x in zip(new.t, new.x, strict=True)]
    assert fitted.predict("y", new) == pytest.approx(expected)
    table = td.Table(frame).to_frame()
    likely = {s: group.value_counts().idxmax() for s, group in table.groupby("s")["t"]}
    assert fitted.predict("t", {"s": ["high", "low"]}).tolist() == [likely["high"], likely["low"]]
    assert fitted.predict("s", new).tolist() == [frame["s"].value_counts().idxmax()] * 3
    numbers = numbers_frame()
    assert NUMBERS.fit(numbers).predict("a", {"b": [1.0, 2.0]}) == pytest.approx([numbers["a"].mean()] * 2)


def test_states_of_parents_that_do_not_occur_get_a_regression_over_all_rows() -> None:
    frame = {"s": ["p", "p", "q", "q"] * 8, "t": ["u", "v", "u", "u"] * 8}
    frame["x"] = [float(i % 7 + (100 * i if i % 4 > 1 else 0)) for i in range(32)]
    network = td.Network(["s", "t", "x"], {"x": ["s", "t"]})
    fitted = network.fit(frame, ess=0)
    x = np.array(frame["x"])
    assert len(fitted.regressions["x"]) == 3
    design = np.column_stack([np.ones(32), np.array(frame["s"]) == "q", np.array(frame["t"]) == "v"])
    slopes = np.linalg.lstsq(design, x, rcond=None)[0]
    found = fitted.predict("x", {"s": ["q", "q"], "t": ["v", "u"]})
    assert found == pytest.approx([slopes.sum(), x[2::4].sum() / 16 + x[3::4].sum() / 16])
    assert fitted.notes == (
        "'x': 1 of 4 combinations of its parents' states do not occur; there a regression over all rows stands in.",
    )
    assert fitted.sample(50, seed=1).n_rows == 50


def test_a_table_may_have_more_columns() -> None:
    fitted = td.Network(["x", "y"], {"y": ["x"]}).fit(mixed_frame())
    assert (fitted.names, dict(fitted.tables)) == (("x", "y"), {})
    assert "y = " in str(fitted) and "2 variables, 1 edges, 2 continuous" in repr(fitted)
    assert isinstance(td.Network(["s", "t"], {}).fit(mixed_frame()), td.FittedNetwork)


@pytest.mark.parametrize(
    ("ask", "reason"),
    [
        (lambda: td.Network(["x", "z"], {}).fit(mixed_frame()), "There is no variable 'z'"),
        (lambda: MIXED.fit(mixed_frame(), ess=-1), "ess must be 0 or a positive number"),
        (lambda: MIXED.fit(mixed_frame()).predict("z", mixed_frame()), "There is no variable 'z'"),
        (lambda: MIXED.fit(mixed_frame()).predict("y", {"t": [0, 1]}), "the rows lack the column 'x'"),
        (lambda: MIXED.fit(mixed_frame()).predict("x", {"s": ["middle"]}), "middle"),
        (
            lambda: MIXED.fit(mixed_frame()).predict("y", {"t": [0], "x": ["high"]}),
            "'x' should hold numbers",
        ),
        (lambda: MIXED.fit(mixed_frame()).predict("y", {"t": [0, 0], "x": [1.5, None]}), "'x' is missing in row"),
        (lambda: MIXED.fit(mixed_frame()).sample(0, seed=1), "rows should be a whole number from 1 on"),
    ],
)
def test_what_does_not_fit_is_refused(ask: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        ask()


# ---- Numbers and categories in every direction


def any_way_frame(rows: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    x, k = rng.normal(size=rows), rng.integers(0, 8, rows)
    s = np.where(1.5 * x + rng.gumbel(size=rows) > rng.gumbel(size=rows), "high", "low")
    y = x + 0.5 * k + 2 * (s == "high") + rng.normal(size=rows)
    return pd.DataFrame({"x": x, "k": k, "s": s, "y": y, "t": np.where(rng.random(rows) < 0.3, "a", s)})


ANY_WAY = td.Network(["x", "k", "s", "y", "t"], {"s": ["x"], "y": ["x", "k", "s"], "t": ["s"]})


def test_numbers_have_a_regression_with_indicators_and_integers_of_many_values_are_numbers() -> None:
    frame = any_way_frame(300, 1)
    fitted = ANY_WAY.fit(frame, ess=0)
    design = np.column_stack([np.ones(300), frame["x"], frame["k"], frame["s"] == "high"]).astype(float)
    slopes = np.linalg.lstsq(design, frame["y"], rcond=None)[0]
    (own,) = fitted.regressions["y"]
    assert [*own.coefficients.values()] == pytest.approx(slopes[1:3], rel=1e-9)
    assert own.of_states["s"]["high"] - own.of_states["s"]["low"] == pytest.approx(slopes[3], rel=1e-9)
    assert own.variance == pytest.approx(np.mean((frame["y"] - design @ slopes) ** 2), rel=1e-9)
    assert fitted.predict("y", frame) == pytest.approx(design @ slopes, rel=1e-9)
    assert set(fitted.tables) == {"t"} and set(fitted.logistics) == {"s"} and "k" in fitted.regressions
    shrunk = ANY_WAY.fit(frame).regressions["y"][0]
    assert [*shrunk.coefficients.values()] == pytest.approx(slopes[1:3], rel=1e-3)


def test_log_densities_add_up_and_samples_lead_back() -> None:
    frame = any_way_frame(300, 1)
    fitted = ANY_WAY.fit(frame)
    density = fitted.log_density(frame)
    alone = np.log(fitted.logistics["s"].probabilities({"x": frame["x"].to_numpy()}, 300))
    expected = alone[np.arange(300), [fitted.states["s"].index(state) for state in frame["s"]]]
    for name in ("x", "k", "y"):
        (own,) = fitted.regressions[name]
        left = frame[name] - fitted.predict(name, frame)
        expected = expected - np.log(2 * math.pi * own.variance) / 2 - left**2 / own.variance / 2
    shares = pd.crosstab(frame["s"], frame["t"])
    for i, (s, t) in enumerate(zip(frame["s"], frame["t"], strict=True)):
        cell = 1 / shares.size
        expected[i] += math.log((shares.loc[s, t] + cell) / (shares.loc[s].sum() + shares.shape[1] * cell))
    assert density == pytest.approx(expected, rel=1e-9)
    assert fitted.log_likelihood(frame) == pytest.approx(density.sum())
    likely = fitted.predict("s", {"x": [-2.0, 2.0]})
    assert likely.tolist() == ["low", "high"]
    again = ANY_WAY.fit(fitted.sample(40_000, seed=1), ess=0)
    (one,), (other,) = again.regressions["y"], fitted.regressions["y"]
    assert dict(one.coefficients) == pytest.approx(dict(other.coefficients), abs=0.05)
    slopes = [own.logistics["s"].coefficients["high"]["x"] for own in (again, fitted)]
    assert slopes[0] == pytest.approx(slopes[1], abs=0.1)


def test_the_true_network_beats_the_empty_one_on_rows_held_out() -> None:
    learned, held_out = any_way_frame(200, 1), any_way_frame(1000, 2)
    empty = td.Network(ANY_WAY.names, {})
    assert ANY_WAY.fit(learned).log_likelihood(held_out) > empty.fit(learned).log_likelihood(held_out) + 500
    assert empty.fit(learned).log_likelihood(held_out) > -math.inf


def test_each_state_has_its_own_line_only_where_rows_ask_for_it() -> None:
    rng = np.random.default_rng(6)
    s, x = rng.choice(["p", "q"], 200), rng.normal(size=200)
    network = td.Network(["s", "x", "y"], {"y": ["s", "x"]})
    apart = np.where(s == "p", x, -x) + rng.normal(size=200) / 3
    for y, n in ((apart, 2), (x + (s == "p") + rng.normal(size=200), 1)):
        assert len(network.fit({"s": s, "x": x, "y": y}).regressions["y"]) == n
    few = np.concatenate([["q"] * 4, ["p"] * 196])
    assert len(network.fit({"s": few, "x": x, "y": np.where(few == "q", -x, x)}).regressions["y"]) == 1


def test_nothing_degenerate_fails() -> None:
    x = np.array([0.5, 1.5, 2.5, 4.0, 5.5, 6.0] * 2)
    frame = {"x": x, "y": 2 * x, "s": ["a", "b"] * 6, "one": [*"ccccccccccc", "d"], "z": np.arange(12) ** 2 / 7}
    network = td.Network(["x", "y", "s", "one", "z"], {"y": ["x"], "one": ["x", "y", "s"], "z": ["x", "y", "s", "one"]})
    fitted = network.fit(td.Table(frame, types={"y": "continuous"}))
    assert any("its parents tell it exactly" in note for note in fitted.notes)
    held_out = {**frame, "x": x + 1, "one": ["d"] * 12}
    assert np.isfinite(fitted.log_density(held_out)).all()
    wide = {f"v{i}": np.random.default_rng(i).normal(size=6) for i in range(9)}
    fitted = td.Network([*wide], {"v8": [*wide][:8]}).fit(wide)
    assert math.isfinite(fitted.log_likelihood({name: own + 1 for name, own in wide.items()}))


def test_rows_with_gaps_are_left_out_of_the_fit() -> None:
    frame = any_way_frame(60, 3)
    gaps = frame.assign(s=[None, None, *frame["s"][2:]])
    network = td.Network(["x", "s"], {"s": ["x"]})
    fitted = network.fit(td.Table(gaps, missing="keep"))
    assert fitted.notes == ("Of 60 rows 2 with missing cells were left out.",)
    assert fitted.log_likelihood(frame) == pytest.approx(network.fit(frame[2:]).log_likelihood(frame))
    with pytest.raises(td.TableError, match="'s' is missing in row"):
        fitted.log_density(gaps)
