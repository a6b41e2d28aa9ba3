"""Effects in tables of categories and numbers: against regressions standardised row by row, and against truth."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest

import topdag as td
from topdag.effects.mixed import AmongAll


def drawn_frame(rows: int, seed: int = 1) -> pd.DataFrame:
    """z leads to x and to y, x to y and to s."""
    rng = np.random.default_rng(seed)
    z = rng.choice(["a", "b", "c"], rows)
    x = 3 * (z == "a") + rng.normal(size=rows)
    y = 2 * x + 4 * (z == "a") - (z == "b") + rng.normal(size=rows)
    s = np.where(rng.random(rows) < 1 / (1 + np.exp(1 - x)), "yes", "no")
    return pd.DataFrame({"z": z, "x": x, "y": y, "s": s})


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return drawn_frame(400)


def place(frame: pd.DataFrame, name: str) -> int:
    return frame.columns.get_loc(name)


def test_a_number_on_a_number_is_the_slope_beside_the_parents(frame: pd.DataFrame) -> None:
    among = AmongAll(td.Table(frame))
    z, x, y = (place(frame, name) for name in "zxy")
    design = np.column_stack([frame["x"], *(frame["z"] == state for state in "abc")]).astype(float)
    slopes, squares = np.linalg.lstsq(design, frame["y"], rcond=None)[:2]
    value, contrast = among.compared(x, y, among.mean(x, [z]))
    assert value == pytest.approx(slopes[0], rel=1e-4)
    error = math.sqrt(squares[0] / (400 - 4) * np.linalg.inv(design.T @ design)[0, 0])
    ((_, drawn),) = among.draws(x, [z], {y: (contrast, np.random.default_rng(0))}, 20_000)
    assert drawn.mean() == pytest.approx(value, abs=5 * error / math.sqrt(20_000))
    assert drawn.std() == pytest.approx(error, rel=0.03)


def test_states_on_a_number_are_differences_of_means(frame: pd.DataFrame) -> None:
    among = AmongAll(td.Table(frame))
    z, y = (place(frame, name) for name in "zy")
    response = among.mean(z, [])
    assert response[:, among.part(y)].ravel() == pytest.approx(frame.groupby("z")["y"].mean().to_numpy(), rel=1e-4)
    value, contrast = among.compared(z, y, response)
    means = frame.groupby("z")["y"].mean()
    assert value == pytest.approx(means.max() - means.min(), rel=1e-4)
    assert "abc"[contrast.more] == means.idxmax() and "abc"[contrast.less] == means.idxmin()


def test_states_as_outcome_are_standardised_over_the_rows(frame: pd.DataFrame) -> None:
    """As the fitted network predicts each row, with the cause set in all of them; and draws by the delta method."""
    among = AmongAll(td.Table(frame))
    z, x, s = (place(frame, name) for name in "zxs")
    response = among.mean(x, [z])[:, among.part(s)]
    fitted = td.Network(["z", "x", "s"], {"s": ["z", "x"]}).fit(frame).logistics["s"]
    codes = np.array(["abc".index(state) for state in frame["z"]])
    for level, own in zip(among.levels(x), response, strict=True):
        assert own.sum() == pytest.approx(1)
        lines = [
            fitted.intercepts[state]
            + fitted.coefficients[state]["x"] * level
            + np.array([*fitted.of_states[state]["z"].values()])[codes]
            for state in fitted.states
        ]
        assert own[1] == pytest.approx(np.mean(1 / (1 + np.exp(lines[0] - lines[1]))), rel=1e-9)
    value, contrast = among.compared(x, s, response=among.mean(x, [z]))
    ((_, drawn),) = among.draws(x, [z], {s: (contrast, np.random.default_rng(0))}, 4000)
    again = []
    for seed in range(60):
        rows = frame.sample(400, replace=True, random_state=seed)
        other = AmongAll(td.Table(rows))
        other._quartiles[x] = among._quartiles[x]
        again.append(other.compared(x, s, other.mean(x, [z]))[0])
    assert drawn.mean() == pytest.approx(value, abs=0.003)
    assert drawn.std() == pytest.approx(np.std(again), rel=0.35)


def test_effects_of_the_best_network_come_near_the_truth() -> None:
    known = td.Constraints(tiers=[["z"], ["x"], ["y", "s"]])
    found = td.causal_effects(td.k_best_networks(drawn_frame(3000), 1, constraints=known))
    assert found.over == "the best network alone" and "logistic" in found.estimated
    assert found["x", "y"].value == pytest.approx(2, abs=0.1)
    assert found["x", "y"].lower < 2 < found["x", "y"].upper
    effect = found["z", "y"]
    assert effect.value == pytest.approx(2 * 3 + 5, abs=0.3)
    assert effect.meaning == "mean of y, if z = a and not b"
    assert effect.means["a"] - effect.means["b"] == pytest.approx(effect.value)
    low, high = found["x", "s"].less, found["x", "s"].more
    rise = 1 / (1 + math.exp(1 - high)) - 1 / (1 + math.exp(1 - low))
    assert found["x", "s"].value == pytest.approx(rise, abs=0.05)
    assert found["x", "s"].raised == ("yes",) and "probability of s = yes, if x = " in found["x", "s"].meaning
    assert found["y", "x"].value == 0 and found["y", "x"].no_effect == 1
    content = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert any("means" in own for own in content["effects"])
    assert "z -> y" in str(effect) and "mean of y" in found._repr_html_()


def test_a_bootstrap_counts_its_networks_alike(frame: pd.DataFrame) -> None:
    drawn = td.bootstrap(frame, 10)
    found = td.causal_effects(drawn, "x", draws=0, share=1)
    alone = AmongAll(td.Table(frame))
    values = []
    x, y = place(frame, "x"), place(frame, "y")
    for network in drawn.networks():
        parents = [place(frame, name) for name in network.parents["x"]]
        values.append(alone.compared(x, y, alone.mean(x, parents))[0])
    assert found["x", "y"].value == pytest.approx(np.mean(values))
    by_outcome = td.causal_effects(drawn, "x", "y", draws=50)
    assert by_outcome["x", "y"].value == pytest.approx(found["x", "y"].value)


def test_sums_take_mixed_tables_and_quasi_likelihoods_name_the_bootstrap(frame: pd.DataFrame) -> None:
    found = td.causal_effects(frame, "z", kind="mixed-bic", draws=0)
    assert found["z", "y"].value > 5 and found.over.startswith("all networks")
    ranks = td.causal_effects(frame, "z", draws=0)
    assert ranks["z", "y"].value > 2 and ranks.over.startswith("all networks")
    assert any("exp(RankBIC()), a quasi-likelihood" in note and "bootstrap" in note for note in ranks.notes)
    few = td.causal_effects(td.k_best_networks(frame, 2), "z", draws=0)
    assert few["z", "y"].value > 2


def test_columns_that_tell_each_other_and_integers(frame: pd.DataFrame) -> None:
    """Integers of many values are numbers; a column that others determine is nothing special."""
    more = frame.assign(k=np.arange(400) % 7, w=2 * frame["x"] + 1, t=frame["s"])
    among = AmongAll(td.Table(more.drop(columns="t"), types={"w": "continuous"}))
    assert "k" in among.table.continuous
    x, w = place(more, "x"), place(more, "w")
    assert np.isfinite(among.mean(x, [w])).all()
