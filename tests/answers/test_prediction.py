"""Predictive densities, against ratios of marginal likelihoods: P(table and row) / P(table), network by network."""

from __future__ import annotations

import math
from typing import Any

import feature_truth as truth
import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import rows_of, table_of, tables

import topdag as td
from topdag.answers import prediction

KNOWN = td.Table({"rain": ["no", "yes", "no", "no"], "wet": [0, 1, 0, 1]}, states={"rain": ["no", "yes", "snow"]})
NETWORK = td.Network(["rain", "wet"], {"wet": ["rain"]})


def log_likelihood(table: td.Table, extra: list[tuple[int, ...]], masks: list[int], ess: float) -> float:
    """ln P(rows | network) of a table and rows after it, from the definition of BDeu."""
    rows, weights, arities = rows_of(table)
    seen, often = [*rows, *extra], [*weights, *[1] * len(extra)]
    return math.fsum(
        reference.bdeu(seen, often, arities, x, reference.members(mask), ess) for x, mask in enumerate(masks)
    )


def drawn_rows(table: td.Table, data: st.DataObject, count: int) -> list[tuple[int, ...]]:
    cells = st.tuples(*(st.integers(0, int(arity) - 1) for arity in table.arities))
    return data.draw(st.lists(cells, min_size=count, max_size=count))


small_tables = tables(variables=(2, 4), most_states=3, rows=(1, 3, 10, 40), weights=((1,), (1, 2, 17)))


@given(small_tables, st.data(), st.sampled_from([0.1, 1.0, 7.5]))
@settings(max_examples=60)
def test_one_network_is_a_ratio_of_likelihoods(table: td.Table, data: st.DataObject, ess: float) -> None:
    networks = reference.all_networks(len(table.names))
    masks = list(data.draw(st.sampled_from(networks)))
    network = td.Network.from_masks(table.names, masks)
    rows = drawn_rows(table, data, 5)
    before = log_likelihood(table, [], masks, ess)
    expected = [log_likelihood(table, [row], masks, ess) - before for row in rows]
    found = td.features.predictive_log_density(network, table, [list(row) for row in rows], ess=ess)
    assert found.tolist() == pytest.approx(expected, abs=1e-8)


@given(small_tables, st.data())
@settings(max_examples=40)
def test_a_list_is_averaged_by_its_shares(table: td.Table, data: st.DataObject) -> None:
    rows = drawn_rows(table, data, 3)
    scores = td.score(table, td.BDeu())
    k = data.draw(st.integers(1, 40))
    for found in (td.k_best_networks(scores, k), td.k_best_classes(scores, k)):
        each = [found.network(place) for place in range(len(found))]
        alone = np.array([td.features.predictive_log_density(network, table, rows) for network in each])
        expected = [truth.log_sum((np.log(found.shares) + alone[:, i]).tolist()) for i in range(len(rows))]
        assert td.features.predictive_log_density(found, table, rows).tolist() == pytest.approx(expected, abs=1e-9)


def test_all_networks_together_foresee_as_the_evidence_says() -> None:
    """Averaged over all networks, the density is P(table and row) / P(table): the prior over networks is the same."""
    rng = np.random.default_rng(4)
    table = table_of(rng.integers(0, 2, (3, 12)), [2, 2, 2])
    row = (1, 0, 1)
    every = reference.all_networks(3)
    after = truth.log_sum([log_likelihood(table, [row], list(masks), 1.0) for masks in every])
    before = truth.log_sum([log_likelihood(table, [], list(masks), 1.0) for masks in every])
    for found in (
        td.k_best_networks(td.score(table, td.BDeu()), 100),
        td.k_best_classes(td.score(table, td.BDeu()), 99),
    ):
        assert td.features.predictive_log_density(found, table, [row])[0] == pytest.approx(after - before, abs=1e-7)


@given(small_tables)
@settings(max_examples=30)
def test_densities_of_all_rows_sum_to_one(table: td.Table) -> None:
    every = [list(row) for row in np.ndindex(*table.arities.tolist())]
    found = td.features.predictive_log_density(td.k_best_classes(td.score(table, td.BDeu()), 20), table, every)
    assert math.fsum(np.exp(found)) == pytest.approx(1.0, abs=1e-9)


def test_members_of_a_class_foresee_alike() -> None:
    table = td.example_table()
    best = td.k_best_classes(td.score(table, td.BDeu()), 1)[0]
    densities = [td.features.predictive_log_density(member, table, table) for member in best.members()]
    assert len(densities) == best.size > 1
    assert all(density == pytest.approx(densities[0], abs=1e-12) for density in densities)


def test_expected_probabilities_are_those_of_a_fitted_network() -> None:
    """(count + 1/6) / (count of the parent + 1/3) in each cell of wet, with three states of rain and ess 1."""
    rain = (np.array([3, 1, 0]) + 1 / 3) / 5
    wet = (np.array([[2, 1], [0, 1], [0, 0]]) + 1 / 6) / (np.array([[3], [1], [0]]) + 1 / 3)
    states = dict(zip(KNOWN.names, KNOWN.states, strict=True))
    fitted = td.FittedNetwork(NETWORK, states, {"rain": rain, "wet": wet})
    rows = [{"rain": sky, "wet": ground} for sky in ("no", "yes", "snow") for ground in (0, 1)]
    expected = [fitted.log_probability(row) for row in rows]
    assert td.features.predictive_log_density(NETWORK, KNOWN, rows).tolist() == pytest.approx(expected)


@pytest.mark.parametrize(
    "new_rows",
    [
        [{"wet": 1, "rain": "snow"}, {"rain": "no", "wet": 0}],
        [["snow", 1], ["no", 0]],
        {"wet": [1, 0], "rain": ["snow", "no"]},
        {"wet": np.array([1, 0]), "rain": np.array(["snow", "no"])},
    ],
    ids=["dicts", "lists", "columns", "arrays"],
)
def test_rows_of_any_make_keep_their_order(new_rows: Any) -> None:
    expected = [math.log(1 / 15 / 2), math.log((10 / 15) * (13 / 20))]
    assert td.features.predictive_log_density(NETWORK, KNOWN, new_rows).tolist() == pytest.approx(expected)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames(library: str) -> None:
    frames = pytest.importorskip(library)
    content = {"wet": [1, 0], "rain": ["snow", "no"]}
    expected = td.features.predictive_log_density(NETWORK, KNOWN, content).tolist()
    assert td.features.predictive_log_density(NETWORK, KNOWN, frames.DataFrame(content)).tolist() == expected


def test_a_table_gives_a_number_for_each_distinct_row() -> None:
    rows = [row for row, _ in KNOWN.rows()]
    expected = td.features.predictive_log_density(NETWORK, KNOWN, [list(row) for row in rows])
    assert td.features.predictive_log_density(NETWORK, KNOWN, KNOWN).tolist() == expected.tolist()


def test_blocks_of_networks_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    table = td.example_table()
    found = td.k_best_networks(td.score(table, td.BDeu()), 50)
    whole = td.features.predictive_log_density(found, table, table)
    monkeypatch.setattr(prediction, "DENSITIES_AT_ONCE", 7 * table.n_distinct)
    assert td.features.predictive_log_density(found, table, table) == pytest.approx(whole, abs=1e-12)


def test_many_states_of_many_parents() -> None:
    """The cells of a family may be more than any integer can number."""
    rng = np.random.default_rng(1)
    n, arity = 30, 200
    codes = rng.integers(0, arity, (n, 50))
    table = table_of(codes, [arity] * n)
    names = table.names
    network = td.Network(names, {names[0]: names[1:]})
    seen, new = td.features.predictive_log_density(network, table, [codes[:, 0].tolist(), [0] * n])
    share = 1.0 / float(arity) ** 29
    agree = [(codes[1:] == row[1:, None]).sum(axis=1) for row in (codes[:, 0], np.zeros(n, int))]
    of_parents = [float(np.log((counts + 1 / arity) / 51).sum()) for counts in agree]
    assert seen == pytest.approx(of_parents[0] + math.log((1 + share / arity) / (1 + share)))
    assert new == pytest.approx(of_parents[1] + math.log(1 / arity))


REFUSALS = [
    ({"rain": ["no", "hail"], "wet": [0, 1]}, r"'rain' has 'hail' in row 1 .*not one of its declared states"),
    ({"rain": ["no"]}, r"not in both: 'wet'"),
    ({"rain": ["no"], "wet": [0], "wind": [1]}, r"not in both: 'wind'"),
    ([["no", 0, 1]], r"names="),
    ({"rain": ["no"], "wet": [0.5]}, r"'wet' has 0.5 in row 0"),
]


@pytest.mark.parametrize(("new_rows", "message"), REFUSALS)
def test_refusals(new_rows: Any, message: str) -> None:
    with pytest.raises(td.TableError, match=message):
        td.features.predictive_log_density(NETWORK, KNOWN, new_rows)


def test_refusals_of_the_rest() -> None:
    with pytest.raises(td.TableError, match="not in both: 'rain', 'sun'"):
        td.features.predictive_log_density(td.Network(["sun", "wet"], {}), KNOWN, [["no", 0]])
    with pytest.raises(td.ScoreError, match="ess must be a positive number"):
        td.features.predictive_log_density(NETWORK, KNOWN, [["no", 0]], ess=0)
    with pytest.raises(td.NetworkError, match="one or more networks"):
        td.features.predictive_log_density([], KNOWN, [["no", 0]])
