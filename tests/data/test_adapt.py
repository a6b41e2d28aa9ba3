"""The same table as a score takes it: whole numbers as states, states as numbers, complete rows; words in order."""

from __future__ import annotations

import numpy as np
import pytest

import topdag as td
from topdag.data.adapt import complete_rows, integers_as_numbers, is_declared, whole_numbers_as_states
from topdag.data.guess.words import lower_end, order_of_words

DAYS = [13 * i % 67 for i in range(60)]
COLUMNS = {
    "days": DAYS,
    "height": [1.5 + 7 * i % 31 / 10 for i in range(60)],
    "score": [i % 9 for i in range(60)],
    "sex": ["f", "m", "f"] * 20,
}


def test_whole_numbers_as_states() -> None:
    table = td.Table(COLUMNS)
    assert table.continuous == ("days", "height")
    taken = whole_numbers_as_states(table)
    assert taken.continuous == ("height",) and taken.states[0] == tuple(sorted(set(DAYS)))
    assert all(type(state) is int for state in taken.states[0])
    assert sorted(taken.rows()) == sorted(table.rows()) and taken.ordered == ("score",)
    assert taken.notes[-1] == "This score takes 'days' for categories, with a state for each number."
    assert taken.decisions[-1] == taken.notes[-1]
    assert whole_numbers_as_states(taken) is taken


def test_integers_as_numbers() -> None:
    table = td.Table(COLUMNS)
    taken = integers_as_numbers(table)
    assert taken.continuous == ("days", "height", "score") and taken.ordered == ()
    assert sorted(taken.rows()) == sorted(table.rows()) and taken.states[3] == ("f", "m")
    assert integers_as_numbers(taken) is taken
    flags = td.Table({"a": [True, False] * 10, "b": [0.5 * i for i in range(20)]})
    assert integers_as_numbers(flags) is flags


def test_complete_rows() -> None:
    columns = {"a": ["u", "v", "w", "u"], "b": [None, "x", "y", "x"], "c": ["p", "q", "p", "p"]}
    table = td.Table(columns, missing="keep")
    taken = complete_rows(table)
    assert taken.states == (("u", "v", "w"), ("x", "y"), ("p", "q")) and taken.n_rows == 3 and not taken.incomplete
    assert sorted(taken.rows()) == [(("u", "x", "p"), 1), (("v", "x", "q"), 1), (("w", "y", "p"), 1)]
    assert taken.notes[-1] == "1 of 4 rows was dropped because of missing values."


def test_states_that_only_incomplete_rows_had_go_unless_they_are_declared() -> None:
    columns = {"a": ["u", "v", "w", "u"], "b": ["x", "x", None, "y"]}
    assert complete_rows(td.Table(columns, missing="keep")).states[0] == ("u", "v")
    declared = td.Table(columns, missing="keep", states={"a": ["u", "v", "w"]})
    assert is_declared(declared, "a") and not is_declared(declared, "b")
    assert complete_rows(declared).states[0] == ("u", "v", "w")
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({**columns, "a": pandas.Categorical(columns["a"])})
    assert complete_rows(td.Table(frame, missing="keep")).states[0] == ("u", "v", "w")


def test_no_complete_row_is_an_error() -> None:
    table = td.Table({"a": [None, 1, 0], "b": [1, None, None], "c": [0, 1, 1]}, missing="keep")
    with pytest.raises(td.TableError, match="no row is left: all 3 were dropped because of missing values"):
        complete_rows(table)


def test_scores_take_tables_so() -> None:
    table = td.Table(COLUMNS, leave_out=["height"])
    assert td.score(table, "bic").table.arities.tolist() == [60, 9, 2]
    numbers = td.Table(COLUMNS, leave_out=["sex"])
    assert td.score(numbers, "gaussian-bic").table.continuous == ("days", "height", "score")
    gaps = COLUMNS | {"sex": [None if i < 40 else s for i, s in enumerate(COLUMNS["sex"])]}
    kept = td.Table({name: gaps[name] for name in ("sex",)} | {"b": ["x", "y"] * 30})
    assert kept.missing == {"sex": 40} and td.score(kept, "bic").table.n_rows == 20


# ---- Words in order


@pytest.mark.parametrize(
    "words",
    [
        ["low", "medium", "high"],
        ["Never", "Sometimes", "Often", "Always"],
        ["strongly disagree", "Disagree", "neutral", "agree", "Strongly Agree"],
        ["1st", "2nd", "3rd"],
        ["Jan", "Feb", "Mar", "Dec"],
        ["Assistant", "Associate", "Full"],
        ["<18", "18-24", "25-34", "35+"],
        ["[0,10)", "[10,20)", "[20,30]"],
        ["under 5", "5 to 10", "over 10"],
        ["$0-$999", "$1,000-$1,999", "$2,000+"],
        ["0-9g/day", "10-19", "20-29", "30+"],
        ["poor", "fair", "good", "very_good", "excellent"],
    ],
    ids=lambda words: words[0],
)
def test_scales_and_intervals_have_an_order(words: list[str]) -> None:
    rng = np.random.default_rng(5)
    for _ in range(5):
        mixed = rng.permutation(words).tolist()
        order = order_of_words(mixed)
        assert order is not None and [mixed[i] for i in order] == words


@pytest.mark.parametrize(
    "words", [["red", "green", "blue"], ["low", "high"], ["low", "red", "high"], ["a1", "b2", "c3"], [1, 2, 3], []]
)
def test_other_words_have_none(words: list[object]) -> None:
    assert order_of_words(words) is None


def test_where_intervals_begin() -> None:
    assert lower_end("18-24") == (18.0, 0) and lower_end("<18") == (18.0, -1) and lower_end(">65") == (65.0, 1)
    assert lower_end("$1,000+") == (1000.0, 0) and lower_end("many") is None


def test_tables_hold_ordered_states_in_their_order() -> None:
    table = td.Table({"size": ["large", "small", "medium", "small"], "age": ["35+", "<18", "18-34", "<18"]})
    assert table.states == (("small", "medium", "large"), ("<18", "18-34", "35+"))
    assert {of.type for of in table.types.values()} == {"ordinal"} and table.ordered == ()  # too few for numbers
    months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun"]
    assert td.Table({"month": months, "x": [0, 1] * 3}).ordered == ("month",)
    declared = td.Table({"month": months, "x": [0, 1] * 3}, states={"month": sorted(months)})
    assert declared.states[0] == tuple(sorted(months))
