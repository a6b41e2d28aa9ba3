"""``missing="keep"``: cells that stay missing in a table, and what refuses them."""

from __future__ import annotations

import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import topdag as td
from topdag.data.resample import resampled
from topdag.errors import ScoreError, TableError

CELLS: dict[str, list[Any]] = {
    "rain": ["no", "yes", None, "no", None],
    "wet": [0, None, 0, 0, 0],
    "sun": ["a", "b", "a", "a", "a"],
}
ROWS = [(("no", 0, "a"), 2), (("yes", None, "b"), 1), ((None, 0, "a"), 2)]


def kept(cells: Any = CELLS, **options: Any) -> td.Table:
    return td.Table(cells, missing="keep", **options)


def test_the_table_tells_which_cells_are_missing_and_where() -> None:
    table = kept()
    assert list(table.rows()) == ROWS
    assert table.missing == {"rain": 2, "wet": 1} and table.incomplete
    assert table.is_missing.tolist() == [[False, False, True], [False, True, False], [False, False, False]]
    assert table.states[0] == ("no", "yes") and table.arities.tolist() == [2, 1, 2]
    assert "3 missing cells (20.0% of all) kept, in 'rain' (2 rows), 'wet' (1 row)." in table.notes
    assert table.reading["missing"] == "keep"


def test_missing_cells_count_with_their_weights() -> None:
    table = kept(CELLS, weights=[1, 10, 100, 1000, 10000])
    assert table.missing == {"rain": 10100, "wet": 10}


def test_nothing_missing_makes_the_table_that_it_makes_without() -> None:
    cells = {"a": [0, 1, 1], "b": [1, 0, 1]}
    assert kept(cells) == td.Table(cells) and not kept(cells).incomplete and kept(cells).missing == {}


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, lambda cells: pl.DataFrame(cells).lazy()])
def test_frames_make_the_same_table(make: Any) -> None:
    assert kept(make(CELLS)) == kept()


def test_files_make_the_same_table(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("rain,wet,sun\nno,0,a\nyes,,b\n,0,a\nno,0,a\nNA,0,a\n")
    assert td.read_table(path, missing="keep") == kept()


def test_rows_and_frames_lead_back_to_the_table() -> None:
    table = kept()
    assert kept(table.to_frame()) == table
    assert pickle.loads(pickle.dumps(table)) == table
    codes = np.where(table.is_missing, -1, table.codes.astype(int))
    assert td.Table.from_codes(table.names, codes, weights=table.weights, states=table.states) == table


def test_cut_columns_keep_their_gaps() -> None:
    table = kept({"x": [0.5, None, 2.5, 9.5], "y": ["a", "a", "b", "b"]}, discretize="median")
    assert table.missing == {"x": 1} and len(table.states[0]) == 2


def test_rows_differ_by_what_is_missing_alone() -> None:
    assert kept({"a": [0, 0, None, 1], "b": [0, None, None, 1]}).n_distinct == 4


@pytest.mark.parametrize("seed", range(20))
def test_notes_on_columns_take_gaps_for_no_state(seed: int) -> None:
    """Whatever is said of columns while a table is made, gaps are neither states nor a mistake."""
    rng = np.random.default_rng(seed)
    code = rng.integers(0, 3, 60)
    gaps = [rng.random(60) < 0.2 for _ in range(2)]
    words = np.array(["x", "y", "z"], dtype=object)[code]
    cells = {
        "code": [None if gap else int(c) for c, gap in zip(code, gaps[0], strict=True)],
        "word": [None if gap else w for w, gap in zip(words, gaps[0], strict=True)],  # the same in other words
        "other": [None if gap else w for w, gap in zip(words, gaps[1], strict=True)],  # other gaps
        "gap": [None if c == 2 else int(c) for c in code],  # a gap for a state
    }
    table = kept(cells)
    types = {name: of.type for name, of in table.types.items()}
    assert types == {"code": "ordinal", "word": "duplicate", "other": "categorical", "gap": "categorical"}
    for everything in (kept(cells, columns=[*cells]), kept(cells, types={"word": "categorical"})):
        assert everything.missing == {name: sum(cell is None for cell in own) for name, own in cells.items()}


def test_drawn_tables_keep_gaps_and_states() -> None:
    drawn = resampled(kept(), 3, 1)
    assert drawn.states == kept().states and drawn.n_rows == 5
    assert {row for row, _ in drawn.rows()} <= {row for row, _ in ROWS}


def test_a_column_without_any_value_is_left_out_unless_its_states_are_declared() -> None:
    cells = {"a": [None, None], "b": [0, 1]}
    with pytest.raises(
        TableError,
        match=r"has 'b', beside columns that are no variables, 'a' \(constant: no value in any row\)",
    ):
        kept(cells)
    assert kept(cells | {"c": [0, 1]}).names == ("b", "c")
    table = kept(cells, states={"a": [0, 1]})
    assert table.missing == {"a": 2} and table.arities.tolist() == [2, 2]


def test_continuous_columns_have_no_gaps() -> None:
    with pytest.raises(TableError, match="can neither be a state nor be kept"):
        kept({"x": [0.5, None, 2.5, 3.5], "y": [1.5, 2.5, 3.5, 4.5]})


NETWORK = td.Network(("rain", "wet", "sun"), {"wet": ["rain"]})
ANSWERING: dict[str, Any] = {
    "best_network": td.best_network,
    "plan": td.plan,
    "k_best_networks": lambda table: td.k_best_networks(table, 2),
    "networks_within": lambda table: td.networks_within(table, 2),
    "bootstrap": lambda table: td.bootstrap(table, 2),
}
REFUSING: dict[str, Any] = {
    "score": lambda table: td.score(table, "bic"),
    "k_best_networks": lambda table: td.k_best_networks(table, 2, "bic"),
    "networks_within": lambda table: td.networks_within(table, 2, "bic"),
    "classes_within": lambda table: td.classes_within(table, 2, "bic"),
    "edge_posteriors": td.edge_posteriors,
    "sample_networks": lambda table: td.sample_networks(table, 2),
    "causal_effects": td.causal_effects,
    "bootstrap": lambda table: td.bootstrap(table, 2, "bic"),
    "mixed": lambda table: td.best_network(table, "mixed-bic"),
    "own": lambda table: td.best_network(table, td.CustomScore(lambda family: 0.0)),
    "bds": lambda table: td.score(table, "bds"),
    "parent_bounds": lambda table: td.parent_bounds(table, "bic", "best"),
    "local score": lambda table: td.BIC().local(table, 0, [1]),
    "constrained_fit": lambda table: td.probabilities.constrained_fit(NETWORK, table, []),
}


@pytest.mark.parametrize("question", ANSWERING.values(), ids=ANSWERING)
def test_what_takes_rows_as_far_as_they_are_complete_answers_without_a_score(question: Any) -> None:
    question(kept())
    twice_bic = td.NAL(penalty=math.log(kept().n_rows))
    assert td.best_network(kept()).score == td.best_network(kept(), twice_bic).score


@pytest.mark.parametrize("question", REFUSING.values(), ids=REFUSING)
def test_what_needs_every_cell_refuses_and_says_what_to_do(question: Any) -> None:
    with pytest.raises(ScoreError) as refused:
        question(kept())
    for word in (
        "needs every cell",
        "'rain' (2 rows)",
        "NAL()",
        "structural_em",
        'missing="drop"',
        'missing="state"',
    ):
        assert word in str(refused.value)


def test_fitting_takes_the_rows_that_are_complete_in_a_family() -> None:
    fitted = td.Network(("rain", "sun"), {"rain": ["sun"]}).fit(kept(), ess=0)
    assert fitted.tables["rain"].tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert fitted.tables["sun"].tolist() == [0.8, 0.2]
    assert any("Cells are missing" in note for note in fitted.notes)
