"""Panels, groups of rows and series: one doubt that says what follows, and what takes it into account."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import topdag as td

DRAWN = np.random.default_rng(7)
SENSE = "are not independent"


def doubts(columns: dict[str, Any], **reading: Any) -> list[str]:
    return [note for note in td.look(columns, **reading).table.notes if SENSE in note]


def panel(unit: Any, n_times: int, clock: str = "year") -> dict[str, Any]:
    """Every unit at each of the times."""
    n_rows = len(unit) * n_times
    return {
        "unit": np.repeat(unit, n_times),
        clock: np.tile(np.arange(n_times) + 1990, len(unit)),
        "x": DRAWN.normal(size=n_rows),
        "y": DRAWN.normal(size=n_rows),
    }


@pytest.mark.parametrize("unit", [np.arange(1, 7), np.array(list("abcdef")), np.array(["Ann", "Bob"])])
def test_units_with_a_clock_that_tells_their_rows_apart_are_a_panel(unit: Any) -> None:
    (said,) = doubts(panel(unit, 25))
    assert "'unit'" in said
    assert "'year'" in said
    assert 'time_slices(frame, series="unit")' in said
    assert "surer than they are" in said


def test_the_order_of_rows_of_a_panel_does_not_matter() -> None:
    columns = panel(np.array(list("abcdef")), 15)
    order = DRAWN.permutation(90)
    assert doubts({name: cells[order] for name, cells in columns.items()}) == doubts(columns)


def test_a_panel_may_lack_rows_of_some_units() -> None:
    columns = panel(np.array(list("abcdef")), 15)
    kept = DRAWN.permutation(90)[:60]
    assert "'unit'" in doubts({name: cells[kept] for name, cells in columns.items()})[0]


def test_two_rows_of_a_unit_at_one_time_are_no_panel() -> None:
    columns = panel(np.array(list("abcdef")), 15)
    columns["year"] = columns["year"].copy()
    columns["year"][1] = columns["year"][0]
    assert not doubts(columns)


def test_a_time_of_its_own_in_each_row_tells_nothing_of_units() -> None:
    """Survival times differ by chance."""
    columns = {"treatment": np.repeat(["a", "b", "c"], 30), "time": DRAWN.permutation(90) * 1.5 + 0.25}
    assert not doubts(columns | {"x": DRAWN.normal(size=90)})


def test_few_rows_may_be_told_apart_by_chance() -> None:
    columns = {"group": list("abcdefgh") * 3, "week": DRAWN.permutation(24) // 2, "x": DRAWN.normal(size=24)}
    assert not doubts(columns)


def test_subjects_with_several_rows_are_named_where_no_clock_is_there() -> None:
    columns = {"subject": DRAWN.permutation(np.repeat(np.arange(30), 4)), "x": DRAWN.normal(size=120)}
    (said,) = doubts(columns | {"y": DRAWN.normal(size=120)})
    assert "Several rows have the same 'subject'" in said
    assert "their mean" in said


def test_subjects_with_a_row_each_are_independent() -> None:
    columns = {"subject": np.arange(1, 121), "x": DRAWN.normal(size=120), "y": DRAWN.normal(size=120)}
    assert not doubts(columns)


def test_names_that_occur_twice_by_chance_are_no_subjects() -> None:
    """Counties of different states, for example."""
    names = [f"county {i}" for i in range(100)] + [f"county {i}" for i in range(30)]
    assert not doubts({"county": names, "x": DRAWN.normal(size=130), "y": DRAWN.normal(size=130)})


def test_rows_in_the_order_of_dates_are_a_series() -> None:
    days = [f"2020-01-{day:02}" for day in range(1, 31)]
    (said,) = doubts({"day": days, "x": DRAWN.normal(size=30), "y": DRAWN.normal(size=30)})
    assert "'day'" in said
    assert "common trend" in said
    assert "time_slices(frame)" in said


def test_dates_in_no_order_are_no_series() -> None:
    """Births, for example."""
    days = DRAWN.permutation([f"2020-01-{day:02}" for day in range(1, 31)])
    assert not doubts({"birth": days, "x": DRAWN.normal(size=30), "y": DRAWN.normal(size=30)})


@pytest.mark.parametrize("step", [1, -1])
def test_rows_with_a_running_year_are_a_series(step: int) -> None:
    years = np.arange(1950, 2000)[::step]
    assert "'year'" in doubts({"year": years, "x": DRAWN.normal(size=50), "y": DRAWN.normal(size=50)})[0]


def test_year_and_month_are_one_clock() -> None:
    months = {"year": np.repeat([2001, 2002, 2003], 12), "month": np.tile(np.arange(1, 13), 3)}
    (said,) = doubts(months | {"x": DRAWN.normal(size=36), "y": DRAWN.normal(size=36)})
    assert "'year', 'month'" in said


def test_row_names_that_are_years_are_a_clock() -> None:
    years = np.arange(1950, 1980)
    assert "row names" in doubts({"": years, "x": DRAWN.normal(size=30), "y": DRAWN.normal(size=30)})[0]
    assert not doubts({"": years - 1949, "x": DRAWN.normal(size=30), "y": DRAWN.normal(size=30)})


def test_a_table_of_counts_has_no_order() -> None:
    counts = {"year": np.tile(np.arange(2000, 2010), 3), "group": np.repeat(["a", "b", "c"], 10)}
    assert td.look(counts | {"Freq": np.arange(30) + 1}).types["Freq"] == "weight"
    assert not doubts(counts | {"Freq": np.arange(30) + 1})


def test_weights_that_are_given_say_that_rows_have_no_order() -> None:
    columns = panel(np.array(list("abcdef")), 15)
    assert not doubts(columns | {"w": np.full(90, 2)}, weights="w")


def test_few_rows_are_not_judged() -> None:
    assert not doubts({"year": np.arange(1990, 2005), "x": DRAWN.normal(size=15), "y": DRAWN.normal(size=15)})


def test_the_doubt_is_no_decision_and_stands_first_among_the_doubts() -> None:
    table = td.look(panel(np.array(list("abcdef")), 15) | {"same": ["always"] * 90}).table
    assert not any(SENSE in decision for decision in table.decisions)
    doubted = [note for note in table.notes if note not in table.decisions]
    assert SENSE in doubted[0]
    assert len(doubted) > 1
