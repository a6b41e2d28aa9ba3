"""Types that 399 real tables showed to be wrong once (docs/develop/any_table.md)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import topdag as td

DRAWN = np.random.default_rng(3)
N_ROWS = 120
OTHERS = {"x": DRAWN.normal(size=N_ROWS), "y": DRAWN.normal(size=N_ROWS)}


def type_of(name: str, values: Any) -> str:
    return td.look({"first": OTHERS["x"], name: values, "y": OTHERS["y"]}).types[name]


def test_the_least_of_large_numbers_is_no_code_for_missing() -> None:
    heights = np.append(99, DRAWN.integers(100, 150, N_ROWS - 1))
    assert td.look(OTHERS | {"height": heights}).table.n_rows == N_ROWS


@pytest.mark.parametrize("code", [-9, 999])
def test_a_number_far_from_all_others_is(code: int) -> None:
    ages = np.append(code, DRAWN.integers(1, 90, N_ROWS - 1))
    assert td.look(OTHERS | {"age": ages}).table.n_rows == N_ROWS - 1


def test_an_index_before_row_names_hides_them_not() -> None:
    numbers = np.sort(DRAWN.permutation(2 * N_ROWS)[:N_ROWS])
    types = td.look({"": np.arange(N_ROWS), "Unnamed: 0": numbers} | OTHERS).types
    assert [types[""], types["Unnamed: 0"]] == ["identifier", "identifier"]


@pytest.mark.parametrize("name", ["A1", "A2", "N3"])
def test_a_letter_and_a_digit_say_nothing(name: str) -> None:
    assert type_of(name, DRAWN.integers(1, 7, N_ROWS)) == type_of("answer", DRAWN.integers(1, 7, N_ROWS)) == "ordinal"


@pytest.mark.parametrize("name", ["apoe.a1", "D12S839_a2"])
def test_alleles_are_codes(name: str) -> None:
    assert type_of(name, DRAWN.integers(1, 9, N_ROWS)) == "categorical"


def test_numbers_of_few_subjects_are_codes_and_of_many_identifiers() -> None:
    assert type_of("firm", DRAWN.integers(1, 9, N_ROWS)) == "categorical"
    assert type_of("firm", DRAWN.integers(1, 40, N_ROWS)) == "identifier"
    assert type_of("patient.height", DRAWN.integers(1, 9, N_ROWS) * 10) == "continuous"


def test_codes_of_groups_are_categories_while_they_are_few() -> None:
    assert type_of("state", DRAWN.integers(11, 30, N_ROWS)) == "categorical"
    assert type_of("state", DRAWN.integers(11, 60, N_ROWS)) == "identifier"


def test_years_of_a_pooled_table_are_no_identifier() -> None:
    assert type_of("year", np.repeat(np.arange(1960, 2000), 3)) == "continuous"


def test_months_are_dates_where_the_name_says_so() -> None:
    months = [f"{1 + i % 12}/{80 + i // 12}" for i in range(N_ROWS)]
    assert type_of("month", months) == "date"
    assert type_of("ratio", months) != "date"


def test_what_goes_one_to_one_is_told_from_a_copy() -> None:
    rooms = DRAWN.integers(1, 30, N_ROWS)
    table = td.look(OTHERS | {"rooms": rooms, "again": rooms, "log": np.log(rooms)}).table
    assert table.types["again"].reason == "repeats 'rooms'"
    assert table.types["log"].reason == "goes one to one with 'rooms'"


def test_a_column_without_any_value_is_not_offered() -> None:
    (said,) = td.look(OTHERS | {"sex": [None] * N_ROWS}).table.decisions
    assert "'sex' (no value in any row)" in said
    assert "types=" not in said


def test_where_no_two_variables_are_left_the_reason_of_each_column_is_named() -> None:
    rows = {"": range(40), "id": range(40), "mother": np.arange(40) // 3 + 100, "sex": ["f", "m"] * 20}
    with pytest.raises(td.TableError, match=r"this one has 'sex', beside columns that are no variables, 'id' \("):
        td.best_network(rows)


@pytest.mark.parametrize(("n_columns", "score"), [(64, "RankBIC()"), (65, "BIC()")])
def test_more_ordered_columns_than_rank_bic_takes_are_categories(n_columns: int, score: str) -> None:
    answers = DRAWN.integers(1, 7, (N_ROWS, n_columns))
    assert td.look({f"item {v}": answers[:, v] for v in range(n_columns)}).score == score
