"""The effects on a page: the numbers of the question, below what is assumed; or why there are none."""

from __future__ import annotations

from pathlib import Path

import pytest
from report_pages import NASTY, page_of

import topdag as td
from topdag.report import gathering


def test_the_largest_effects_stand_below_what_is_assumed(tmp_path: Path) -> None:
    scores = td.score(td.example_table(), td.BDeu())
    page = page_of(tmp_path, scores, k=2)
    found = td.causal_effects(scores, draws=gathering.EFFECTS.draws)
    assert page.values["effects"] == [[e.cause, e.outcome, round(e.value, 6)] for e in found.ranked]
    begin = page.text.index("What would follow if a variable were set?")
    assert found.assumed in page.text[begin:]
    assert page.text.index(found.assumed) < page.text.index(found.ranked[0].meaning)
    assert "Averaged over all networks, all networks equally likely before" in page.text


def test_over_the_list_where_sums_take_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gathering, "MOST_TO_SUM", 7)
    page = page_of(tmp_path, td.example_table(), k=3)
    found = td.causal_effects(td.k_best_classes(td.example_table(), 3), draws=0)
    assert page.values["effects"][0][:2] == [found.ranked[0].cause, found.ranked[0].outcome]
    assert "Averaged over the 3 best classes, by their weights; what is not in the list does not count" in page.text


def test_of_numbers_in_standard_deviations(tmp_path: Path) -> None:
    rows = [[float(i), i * 2.5 + i % 3, float(i * i % 7)] for i in range(20)]
    page = page_of(tmp_path, td.Table(rows, types={"*": "continuous"}), kind="gaussian-bic", k=2)
    assert "The largest effects, in standard deviations" in page.text


def test_without_a_table_the_page_says_why(tmp_path: Path) -> None:
    path = tmp_path / "scores.jkl"
    td.io.write_scores(path, td.score(td.example_table(), td.BDeu()))
    page = page_of(tmp_path, td.io.read_scores(path, keep="all"), k=2)
    assert "There are no effects here, because effects are estimated from the table" in page.text


@pytest.mark.parametrize("kind", [None, "mixed-bic"])
def test_states_beside_numbers_have_effects_too(tmp_path: Path, kind: str | None) -> None:
    mixed = td.Table({"a": [0.5, 1.5, 2.5, 2.0, 7.0] * 4, "b": ["x", "y", "x", "y", "x"] * 4})
    page = page_of(tmp_path, mixed, kind=kind, k=2)
    assert "There are no effects here" not in page.text
    assert {own[0] for own in page.values["effects"]} <= {"a", "b"} and page.values["effects"]


def test_effects_that_are_there_are_shown(tmp_path: Path) -> None:
    found = td.causal_effects(td.example_table(), "smoke", draws=0)
    page = page_of(tmp_path, td.best_network(td.example_table()), found)
    assert [own[0] for own in page.values["effects"]] == ["smoke"] * 7


def test_names_stay_text(tmp_path: Path) -> None:
    columns = {name: [(row >> place) & 1 for row in (0, 3, 5, 6, 7, 7)] for place, name in enumerate(NASTY[:3])}
    page_of(tmp_path, td.Table(columns), k=2)  # raises where an element is not closed
