"""Names that speak of a measurement are no identifiers, whatever else they say; rows of totals and row names without a
name."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest

import topdag as td

RNG = np.random.default_rng(3)
N = 200


@pytest.mark.parametrize(
    "name",
    [
        "patient_age",
        "PatientAge",
        "mother_bmi",
        "subject_weight",
        "dog_weight",
        "household_income",
        "family_income",
        "employee_salary",
        "student_score",
        "hospital_days",
        "time_to_treatment",
        "age_at_diagnosis",
        "batch_size",
        "group_mean",
        "tumor_area",
        "uric_acid",
        "lipid",
        "thyroid",
        "fluid",
        "covid",
        "paid",
        "rapid",
    ],
)
def test_measurements_of_whom_is_named(name: str) -> None:
    columns = {name: RNG.integers(20, 90, N), "x": RNG.normal(size=N)}
    assert td.look(columns).types[name] in ("continuous", "count")


@pytest.mark.parametrize(
    "name", ["id", "patient_id", "PatientID", "subject", "subj.nr", "family", "household_no", "caseId", "pidnum"]
)
def test_names_of_whom(name: str) -> None:
    columns = {"x": RNG.normal(size=N), name: RNG.permutation(N) // 2, "y": RNG.normal(size=N)}
    assert td.look(columns).types[name] == "identifier"


def test_a_number_behind_row_names_numbers_rows() -> None:
    number = np.cumsum(RNG.integers(1, 9, N))
    for columns in ({"nummer": number}, {"Unnamed: 0": np.arange(N), "nummer": number}):
        assert td.look(columns | {"x": RNG.normal(size=N)}).types["nummer"] == "identifier"


def test_the_response_of_an_experiment_is_no_weight() -> None:
    cells = [(block, kind) for block in range(1, 5) for kind in "abc"]
    columns = {"block": [c[0] for c in cells], "kind": [c[1] for c in cells], "weight": range(20, 32)}
    assert td.Table(columns).names == ("block", "kind", "weight")


def test_totals_of_a_table_of_counts_are_left_out() -> None:
    counts = {("x", "u"): 10, ("x", "v"): 20, ("y", "u"): 5, ("y", "v"): 7}
    rows = [(a, b, n) for (a, b), n in counts.items()]
    rows += [(a, "Total", sum(n for (c, _), n in counts.items() if c == a)) for a in "xy"]
    rows += [("Total", b, sum(n for (_, c), n in counts.items() if c == b)) for b in "uv"]
    table = td.Table([*rows, ("Total", "Total", 42)], names=["a", "b", "n"])
    assert table.n_rows == 42 and table.states == (("x", "y"), ("u", "v"))
    assert any("5 rows of totals left out" in note for note in table.decisions)


@pytest.mark.parametrize("separator", [",", "\t", " "])
def test_row_names_without_a_name(separator: str) -> None:
    """As R's write.table writes them."""
    lines = [["x", "y"], *([f"r{i}", str(i / 4), "uv"[i % 2]] for i in range(30))]
    text = "\n".join(separator.join(line) for line in lines)
    assert td.read_table(io.BytesIO(text.encode())).names == ("x", "y")


def test_more_words_for_a_missing_cell() -> None:
    cells = [".", "n/a", "#N/A", *(str(i * 7 % 40 + 0.5) for i in range(40))]
    text = "a,b\n" + "\n".join(f"{cell},{i % 2}" for i, cell in enumerate(cells))
    table = td.read_table(io.BytesIO(text.encode()))
    assert table.continuous == ("a",) and table.n_rows == 40


def test_time_slices_leave_out_what_tables_do() -> None:
    frame = pd.DataFrame({"Unnamed: 0": range(60), "date": pd.date_range("2024-01-01", periods=60)})
    frame["level"], frame["dose"] = RNG.normal(size=60), RNG.normal(size=60)
    slices = td.time_slices(frame)
    assert slices.table.names == ("level", "dose", "level.lag1", "dose.lag1")
    assert any("Left out: 'Unnamed: 0'" in note and "'date'" in note for note in slices.table.notes)


def test_a_column_with_a_state_for_each_row_is_refused_in_words() -> None:
    columns = {"code": [f"c{i}" for i in range(2500)], "x": RNG.normal(size=2500)}
    with pytest.raises(
        td.ScoreError, match=r"at most 2,000 states of all categories together, and 'code' alone has 2,5"
    ):
        td.best_network(columns, types={"code": "categorical"})


def test_a_count_beside_a_time_is_no_weight() -> None:
    table = td.look({"t": [float(i) for i in range(30)], "count": RNG.integers(0, 50, 30)})
    assert table.types["count"] == "count"
