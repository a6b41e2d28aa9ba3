"""Parameter constraints as they are said: names, states, rows, messages."""

from __future__ import annotations

import itertools
import math
import pickle

import numpy as np
import pytest

import topdag as td
from topdag.knowledge.probabilities import Linear, Probabilities, Restriction
from topdag.scoring.kinds.regions import Way, region_of

STATES = {"age": ("young", "middle", "old"), "smoke": ("no", "yes"), "lung": ("no", "yes"), "grade": (0, 1, 2)}


def is_allowed(constraint: td.probabilities.ParameterConstraint, p: np.ndarray) -> bool:
    """Row by row, with p[parents' codes..., own code]."""
    for row in constraint.rows(STATES):
        total = sum(weight * p[cell] for cell, weight in row.terms)
        if total > row.bound + 1e-12 or (row.is_equal and total < row.bound - 1e-12):
            return False
    return True


def dominates(higher: np.ndarray, lower: np.ndarray) -> bool:
    """First-order stochastic dominance by its definition."""
    return all(higher[k:].sum() >= lower[k:].sum() - 1e-12 for k in range(len(higher)))


@pytest.mark.parametrize("sign", ["+", "-", "0"])
def test_influence_is_stochastic_dominance(sign: str) -> None:
    said = td.probabilities.influence("age", "grade", sign)
    shares = np.array([[0.6, 0.3, 0.1], [0.5, 0.4, 0.1], [0.5, 0.3, 0.2], [0.2, 0.2, 0.6]])
    for places in itertools.product(range(len(shares)), repeat=3):
        p = shares[list(places)]
        rises = all(dominates(p[i + 1], p[i]) for i in range(2))
        falls = all(dominates(p[i], p[i + 1]) for i in range(2))
        assert is_allowed(said, p) == {"+": rises, "-": falls, "0": rises and falls}[sign]


def test_orders_of_states_can_be_said() -> None:
    p = np.array([[0.5, 0.5], [0.2, 0.8], [0.9, 0.1]])
    assert not is_allowed(td.probabilities.influence("age", "lung", "+"), p)
    assert is_allowed(td.probabilities.influence("age", "lung", "+", parent_order=["old", "young", "middle"]), p)
    assert is_allowed(
        td.probabilities.influence(
            "age", "lung", "+", parent_order=["middle", "young", "old"], child_order=["yes", "no"]
        ),
        p,
    )


@pytest.mark.parametrize(("sign", "holds"), [("+", (0.5, 0.6, 0.4)), ("-", (0.5, 0.4, 0.6)), ("0", (0.5, None, 0.4))])
def test_synergy_compares_gains(sign: str, holds: tuple[float, float | None, float]) -> None:
    """P(lung=yes) is 0.1, and 0.3 with either parent raised: together 0.5 is just the sum."""
    equal, more, other = holds
    said = td.probabilities.synergy(["smoke", "age2"], "lung", sign)
    states = {**STATES, "age2": ("low", "high")}
    rows = said.rows(states)
    assert len(rows) == 1

    def total(both: float) -> float:
        rate = {(0, 0): 0.1, (0, 1): 0.3, (1, 0): 0.3, (1, 1): both}
        return sum(weight * rate[cell[0], cell[1]] for cell, weight in rows[0].terms if cell[2] == 1)

    assert rows[0].is_equal == (sign == "0")
    assert total(equal) == pytest.approx(0.0)
    if more is not None:
        assert total(more) < 0 < total(other)


def test_comparisons_make_linear_rows() -> None:
    ill, well = (td.probabilities.probability("lung", "yes", {"smoke": state}) for state in ("yes", "no"))
    said = 2 * ill - well + 0.5 >= 1 - well
    assert isinstance(said, Linear)
    assert said.rows(STATES) == [Restriction((((0, 1), 0.0), ((1, 1), -2.0)), -0.5)]
    assert (ill <= 0.25).rows(STATES) == [Restriction((((1, 1), 1.0),), 0.25)]
    assert ill.__ge__(0.25) == (0.25 <= ill)  # noqa: SIM300
    assert ill.equals(well).rows(STATES)[0].is_equal
    assert str(ill - well <= 0.1) == "P(lung=yes | smoke=yes) - P(lung=yes | smoke=no) <= 0.1"
    assert td.probabilities.probability("lung", "yes").equals(0.5).parents == ()


def test_constraints_are_values() -> None:
    said = td.probabilities.influence("smoke", "lung", "+")
    assert said == td.probabilities.influence("smoke", "lung", "+") != td.probabilities.influence("smoke", "lung", "-")
    assert len({said, td.probabilities.influence("smoke", "lung", "+")}) == 1
    kind = td.probabilities.Constrained(
        td.BIC(), [said, td.probabilities.probability("lung", "yes", {"smoke": "no"}) <= 0.2]
    )
    assert pickle.loads(pickle.dumps(kind)) == kind
    assert repr(kind) == "BIC() under 2 parameter constraints"


def refused(*parts: str):
    return pytest.raises(td.ScoreError, match=".*".join(parts))


def test_nonsense_is_refused() -> None:
    p = td.probabilities.probability("lung", "yes", {"smoke": "no"})
    with refused('"\\+", "-" or "0"'):
        td.probabilities.influence("smoke", "lung", "positive")
    with refused("each variable once"):
        td.probabilities.influence("lung", "lung", "+")
    with refused("two parents"):
        td.probabilities.synergy(["smoke"], "lung", "+")
    with refused("orders names 'smoek'"):
        td.probabilities.synergy(["smoke", "age"], "lung", "+", orders={"smoek": ("no", "yes")})
    with refused("one variable", "lung", "xray"):
        _ = p <= td.probabilities.probability("xray", "yes", {"smoke": "no"})
    with refused("same parents"):
        _ = p <= td.probabilities.probability("lung", "yes")
    with refused("finite numbers"):
        _ = p * math.inf
    with refused("needs a probability"):
        _ = Probabilities(()) <= 1.0
    with refused("write two"):
        _ = 0.1 <= p <= 0.3
    with refused("as a list"):
        td.probabilities.Constrained(td.BIC(), p <= 0.3)  # type: ignore[arg-type]
    with refused("no parameter constraint"):
        td.probabilities.Constrained(td.BIC(), [p])  # type: ignore[list-item]
    with refused("no network"):
        td.probabilities.Constrained(
            td.BIC(), [td.probabilities.influence("a", "b", "+"), td.probabilities.influence("b", "a", "+")]
        )


@pytest.mark.parametrize(
    "kind",
    [td.BDeu(), td.K2(), td.fNML(), td.qNML(), td.BDs(), td.CustomScore(lambda family: 0.0)],
    ids=lambda kind: type(kind).__name__,
)
def test_other_scores_are_refused_with_a_reason(kind: object) -> None:
    with refused("BIC\\(\\) and AIC\\(\\)", "averages over all probabilities"):
        td.probabilities.Constrained(kind, [])  # type: ignore[arg-type]


def test_unknown_names_and_states_name_the_nearest() -> None:
    table = td.example_table()
    with refused("smoek", "did you mean 'smoke'"):
        td.score(table, td.probabilities.Constrained(td.BIC(), [td.probabilities.influence("smoek", "lung", "+")]))
    with refused("no state 'yess'", "close to it are 'yes'"):
        td.score(
            table,
            td.probabilities.Constrained(
                td.BIC(), [td.probabilities.probability("lung", "yess", {"smoke": "no"}) <= 0.1]
            ),
        )
    with refused("each of its states once"):
        td.score(
            table,
            td.probabilities.Constrained(
                td.BIC(), [td.probabilities.influence("smoke", "lung", "+", parent_order=["yes"])]
            ),
        )


def test_contradictions_are_named_and_no_more() -> None:
    p = td.probabilities.probability("lung", "yes", {"smoke": "yes"})
    harmless, low, high = td.probabilities.influence("asia", "lung", "+"), p <= 0.2, p >= 0.3
    with refused("No probabilities of 'lung' satisfy") as caught:
        td.score(td.example_table(), td.probabilities.Constrained(td.AIC(), [low, harmless, high]))
    assert str(low) in str(caught.value) and str(high) in str(caught.value)
    assert "asia" not in str(caught.value)
    with refused("No probabilities of 'lung' satisfy", "0 P"):
        td.score(td.example_table(), td.probabilities.Constrained(td.AIC(), [p - p <= -1]))


def test_rows_that_occur_must_stay_possible() -> None:
    with refused("probability 0 to rows that occur"):
        td.score(
            td.example_table(),
            td.probabilities.Constrained(
                td.BIC(), [td.probabilities.probability("lung", "yes", {"smoke": "yes"}) <= 0]
            ),
        )


WAYS = {
    Way.CHAIN: [td.probabilities.influence("age", "lung", "-")],
    Way.ORDER: [td.probabilities.influence("age", "lung", "-"), td.probabilities.influence("smoke", "lung", "+")],
    Way.POOLED: [td.probabilities.influence("age", "grade", "0")],
    Way.BOX: [td.probabilities.probability("lung", "no", {"age": "old"}) <= 0.4],
    Way.CONVEX: [td.probabilities.influence("age", "grade", "+")],
}


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
def test_the_simplest_exact_way_is_taken(way: Way) -> None:
    said = WAYS[way]
    named = sorted({parent for constraint in said for parent in constraint.parents})
    assert {part.way for part in region_of(said[0].child, named, said, STATES).parts} == {way}
