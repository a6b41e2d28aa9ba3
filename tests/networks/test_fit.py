"""Probabilities from a table: counts by hand, what unseen parents get, and agreement with the predictive density."""

from __future__ import annotations

import math
from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import tables

import topdag as td
from topdag.errors import NetworkError, ScoreError, TableError


@st.composite
def networks_on(draw: st.DrawFn, table: td.Table) -> td.Network:
    order = draw(st.permutations(table.names))
    parents = {name: draw(st.sets(st.sampled_from(order[:i]))) if i else set() for i, name in enumerate(order)}
    return td.Network(table.names, parents)


def counted(table: td.Table, names: tuple[str, ...]) -> Counter[tuple[object, ...]]:
    columns = [table.index(name) for name in names]
    counts: Counter[tuple[object, ...]] = Counter()
    for row, weight in table.rows():
        counts[tuple(row[v] for v in columns)] += weight
    return counts


@settings(max_examples=40)
@given(st.data(), st.sampled_from([0, 0.5, 1, 10]))
def test_every_probability_is_the_posterior_mean(data: st.DataObject, ess: float) -> None:
    table = data.draw(tables(variables=(2, 4), most_states=3, rows=(1, 5, 30), weights=((1,), (1, 2, 17))))
    network = data.draw(networks_on(table))
    fitted = network.fit(table, ess)
    states = dict(zip(table.names, table.states, strict=True))
    for name, parents in network.parents.items():
        above, below = counted(table, (*parents, name)), counted(table, parents)
        q = math.prod(len(states[parent]) for parent in parents)
        for case, state in product(product(*(states[parent] for parent in parents)), states[name]):
            total = below[case] + ess / q
            r = len(states[name])
            expected = (above[*case, state] + ess / q / r) / total if total else 1 / r
            assert fitted.table(name)[case][state] == pytest.approx(expected, rel=1e-12)
        unseen = q - len(below)
        assert bool(unseen) == any(note.startswith(f"{name!r}: {unseen} of ") for note in fitted.notes)


@settings(max_examples=30)
@given(st.data(), st.sampled_from([0.5, 1, 10]))
def test_fitted_rows_are_as_likely_as_predicted(data: st.DataObject, ess: float) -> None:
    table = data.draw(tables(variables=(2, 4), most_states=3, rows=(1, 5, 30)))
    network = data.draw(networks_on(table))
    fitted = network.fit(table, ess)
    densities = td.features.predictive_log_density(network, table, table, ess=ess)
    for (row, _), density in zip(table.rows(), densities, strict=True):
        assert fitted.log_probability(dict(zip(table.names, row, strict=True))) == pytest.approx(density)
    assert fitted.log_likelihood(table) == pytest.approx(float(densities @ table.weights))


def test_without_a_prior_the_likelihood_is_the_greatest() -> None:
    """BIC is that likelihood less its penalty."""
    table = td.example_table()
    answer = td.best_network(td.score(table, td.BIC()))
    fitted = answer.network.fit(table, ess=0)
    free = sum(own.size - own.size // own.shape[-1] for own in fitted.tables.values())
    assert fitted.log_likelihood(table) - math.log(500) / 2 * free == pytest.approx(answer.score)
    assert fitted.log_likelihood(table) > answer.network.fit(table, ess=1).log_likelihood(table)


def test_unseen_parents_are_mentioned() -> None:
    table = td.Table({"a": [0, 1, 1], "b": [0, 1, 1], "c": ["x", "y", "x"]})
    network = td.Network(["a", "b", "c"], {"c": ["a", "b"]})
    assert network.fit(table, 0).notes == (
        "'c': 2 of 4 combinations of parent states do not occur; uniform there, nothing is known of them.",
    )
    assert network.fit(table, 0).table("c")[0, 1] == {"x": 0.5, "y": 0.5}
    assert "the prior's word alone" in network.fit(table).notes[0]


def test_declared_states_count() -> None:
    table = td.Table({"a": [0, 1], "b": [0, 1]}, states={"a": [0, 1, 2]})
    fitted = td.Network(["a", "b"], {}).fit(table, ess=3)
    assert fitted.tables["a"].tolist() == pytest.approx([2 / 5, 2 / 5, 1 / 5])


def test_frames_paths_and_further_columns(asia: Path) -> None:
    frame = pd.DataFrame({"a": [0, 0, 1], "b": ["x", "y", "y"], "left out": [1, 2, 3]})
    fitted = td.Network(["b", "a"], {"b": ["a"]}).fit(frame, 0)
    assert fitted.table("b") == {(0,): {"x": 0.5, "y": 0.5}, (1,): {"x": 0.0, "y": 1.0}}
    network = td.example_network().network
    assert network.fit(asia) == network.fit(pd.read_csv(asia))


def test_tables_as_frames() -> None:
    frame = td.example_network().to_frame("dysp")
    assert list(frame.columns) == ["bronc", "either", "dysp=yes", "dysp=no"]
    assert frame["dysp=yes"].tolist() == [0.9, 0.8, 0.7, 0.1]
    assert frame["either"].tolist() == ["yes", "no", "yes", "no"]


def test_log_likelihood_of_rows_from_anywhere() -> None:
    fitted = td.example_network()
    table = fitted.sample(200, seed=3)
    rows = [row for row, weight in table.rows() for _ in range(weight)]
    frame = pd.DataFrame(rows, columns=table.names)
    assert fitted.log_likelihood(frame) == pytest.approx(fitted.log_likelihood(table))
    impossible = dict.fromkeys(fitted.names, "yes") | {"either": "no"}
    assert fitted.log_likelihood([impossible]) == -np.inf
    with pytest.raises(TableError, match="'perhaps'"):
        fitted.log_likelihood([impossible | {"asia": "perhaps"}])


def test_what_cannot_be_fitted() -> None:
    network = td.Network(["rain", "wet"], {"wet": ["rain"]})
    table = td.Table({"rain": [0, 1], "wett": [0, 1]})
    with pytest.raises(NetworkError, match="no variable 'wet'; did you mean 'wett'"):
        network.fit(table)
    with pytest.raises(ScoreError, match="ess must be 0 or a positive number"):
        network.fit(table, ess=-1)
    names = [f"V{i}" for i in range(27)]
    wide = td.Table({name: [0, 1] for name in names})
    with pytest.raises(NetworkError, match="would have 134,217,728 cells"):
        td.Network(names, {"V26": names[:26]}).fit(wide)
