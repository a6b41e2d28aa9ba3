"""Scores of rows that are read chunk by chunk are those of the table in memory, and so are answers."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ctrl_c import press_ctrl_c
from parquet_folders import written
from score_checks import are_the_same

import topdag as td
from topdag.answers.check import check_network
from topdag.data import frames
from topdag.data.lazy import chunks, distinct
from topdag.data.notes import twins_in_words
from topdag.scoring.kinds.discrete import as_kind
from topdag.search.engines import sizes_given
from topdag.types import Progress

pytest.importorskip("pyarrow", reason="Parquet files are written with pyarrow")
pytest.importorskip("duckdb", reason="it reads Parquet files")

Both = tuple[td.Table, td.Table]
KINDS: list[Any] = ["bic", "aic", "bdeu", td.BDeu(10), "k2", "qnml", "fnml"]


@pytest.fixture
def nothing_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "fits_in_memory", lambda *_: False)
    monkeypatch.setattr(chunks, "ROWS_OF_A_CHUNK", 50)
    monkeypatch.setattr(distinct, "FEW_CELLS", 0)


@pytest.fixture
def both(tmp_path: Path, nothing_fits: None) -> Callable[..., Both]:
    """A table in memory, and the same read chunk by chunk."""

    def made(n: int, rows: int, seed: int, arities: int = 3) -> Both:
        sampled = td.random_network(n, seed=seed, arities=arities).sample(rows, seed=seed)
        rows_of = [row for row, weight in sampled.rows() for _ in range(weight)]
        columns = {name: [row[v] for row in rows_of] for v, name in enumerate(sampled.names)}
        columns["same"] = ["always"] * rows
        folder = written(tmp_path / f"{n}-{rows}-{seed}", columns)
        table = td.read_table(folder)
        assert table.chunks is not None
        return td.Table(columns), table

    return made


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("keep", ["best", td.Within(20), td.KBest(3)])
def test_families_are_the_same_to_the_last_bit(both: Callable[..., Both], kind: Any, keep: Any) -> None:
    """Rows of 23 variables are all different, so that the grid is the same too."""
    held, table = both(23, 150, seed=4)
    assert are_the_same(td.score(held, kind, keep=keep, max_parents=2), td.score(table, kind, keep=keep, max_parents=2))


CONSTRAINTS = [
    {"required_edges": [("V0", "V1"), ("V2", "V1")]},
    {"forbidden_edges": [("V0", "V1")], "max_parents": {"V3": 1}},
    {"ancestors": [("V0", "V4")]},
    {"rules": ["V1 -> V0 or V2 -> V0"]},
]


@pytest.mark.parametrize("kind", ["bic", "bdeu", "qnml"])
@pytest.mark.parametrize("said", range(len(CONSTRAINTS)))
def test_under_constraints(both: Callable[..., Both], kind: str, said: int) -> None:
    held, table = both(7, 300, seed=5)
    known = td.Constraints(**CONSTRAINTS[said])
    with sizes_given(few=2):  # so that both are scored as lists
        asked: dict[str, Any] = dict(constraints=known, max_parents=3)
        expected, found = td.best_network(held, kind, **asked), td.best_network(table, kind, **asked)
        assert found.proof.status.name == "PROVED" and found.network == expected.network
        assert found.score == pytest.approx(expected.score, abs=1e-9)
        many, few = (td.networks_within(each, 20, kind, **asked) for each in (held, table))
        assert list(many) == list(few)


SEVERAL: list[dict[str, Any]] = [
    {"not_ancestors": [("V1", "V0")]},
    {"ancestors": [("V0", "V3")]},
    {"rules": ["V1 -> V0 or not V2 -> V3"]},
    {"precedence": [("V3", "V0")]},
]


@pytest.mark.parametrize("most", [0, 1, None])
@pytest.mark.parametrize("said", SEVERAL, ids=lambda said: next(iter(said)))
def test_lists_under_constraints_end_alike(both: Callable[..., Both], said: dict[str, Any], most: int | None) -> None:
    """Also where fewer networks or classes are allowed than were asked for."""
    tables, known = both(4, 60, seed=6, arities=2), td.Constraints(**said)
    asked: dict[str, Any] = dict(constraints=known, max_parents=most)
    for ask in (
        partial(td.k_best_networks, k=100_000),
        partial(td.k_best_classes, k=3),
        partial(td.k_best_classes, k=500),
    ):
        many, few = (ask(each, kind="bic", **asked) for each in tables)
        assert (many.proof.status, len(many)) == (few.proof.status, len(few))
        assert few.scores == pytest.approx(many.scores, abs=1e-9)
    held, counted = (td.count_networks_within(each, 1e30, "bic", **asked) for each in tables)
    assert held == counted


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_answers_are_the_same(both: Callable[..., Both], kind: Any, seed: int) -> None:
    held, table = both(5 + seed, 100 + 300 * seed, seed, arities=2 + seed % 3)
    asked: dict[str, Any] = {} if seed == 0 else {"max_parents": seed}
    expected, found = td.best_network(held, kind, **asked), td.best_network(table, kind, **asked)
    assert found.proof.status.name == "PROVED"
    assert found.score == pytest.approx(expected.score, abs=1e-9)
    assert found.notes[:1] == expected.notes[:1]
    is_equivalent = found.kind.score_equivalent
    for ask in (td.k_best_networks, *([td.k_best_classes] if is_equivalent else [])):
        several = [[each.score for each in ask(table_of, 6, kind, **asked)] for table_of in (held, table)]
        assert several[0] == pytest.approx(several[1], abs=1e-9)
    scores = [td.score(each, kind, keep="all", **asked) for each in (held, table)]
    edges = [td.edge_posteriors(each).matrix for each in scores]
    assert edges[0] == pytest.approx(edges[1], abs=1e-9)
    assert check_network(found.network, table, as_kind(kind)).score == pytest.approx(expected.score, abs=1e-6)
    fitted = [found.network.fit(each) for each in (held, table)]
    for name in held.names:
        assert np.array_equal(fitted[0].tables[name], fitted[1].tables[name])


def test_columns_that_say_the_same_are_told(tmp_path: Path, nothing_fits: None) -> None:
    code = [0, 1, 2, 0, 2, 1, 1, 0] * 20
    columns = {
        "code": code,
        "other": [1, 0] * 80,
        "word": ["abc"[c] for c in code],
        "unlike": [0, 1, 2, 0, 2, 1, 1, 2] * 20,
    }
    table = td.read_table(written(tmp_path / "rows", columns))
    said = [twins_in_words(["code", "word"])]
    assert any(
        "'word' (goes one to one with 'code')" in note for note in td.Table(columns).notes
    )  # held, it is left out
    assert [note for note in td.score(table, max_parents=1).notes if "say the same" in note] == said
    assert td.best_network(table, max_parents=2).notes == (*table.notes, *said)


def test_states_that_no_row_has_do_not_hide_columns_that_say_the_same(tmp_path: Path, nothing_fits: None) -> None:
    code = [0, 1, 2, 0, 2, 1, 1, 0] * 20
    columns: dict[str, Any] = {"code": code, "word": ["abc"[c] for c in code], "unlike": [0, 1, 2, 0, 2, 1, 1, 2] * 20}
    folder = written(tmp_path / "rows", columns)
    for states in ({"word": ["d", "c", "b", "a"]}, {"word": list("abc"), "code": [0, 1, 2, 8, 9]}):
        said = [twins_in_words(["code", "word"])]
        table = td.read_table(folder, states=states)
        assert [note for note in td.score(table, max_parents=1).notes if "say the same" in note] == said


def test_the_answer_does_not_depend_on_threads(both: Callable[..., Both]) -> None:
    _, table = both(8, 500, seed=9)
    several = [td.score(table, "bdeu", max_parents=3, threads=threads) for threads in (1, 2, 5)]
    assert are_the_same(several[0], several[1]) and are_the_same(several[0], several[2])


def test_more_parents_than_were_counted_are_read_again(both: Callable[..., Both]) -> None:
    held, table = both(7, 300, seed=6)
    for most in (1, 3, 2):
        expected, found = td.best_network(held, max_parents=most), td.best_network(table, max_parents=most)
        assert found.score == pytest.approx(expected.score, abs=1e-9)


def test_counts_that_do_not_fit_are_refused(both: Callable[..., Both]) -> None:
    _, table = both(30, 200, seed=7)
    with pytest.raises(td.TooLarge, match=r"counts of all sets of \d+ columns take .*max_parents=[1-9]"):
        td.best_network(table, "bic")
    with pytest.raises(td.TooLarge, match=r"counts of all sets of 4 columns take .*max_parents=[12] or fewer"):
        td.best_network(table, "bic", max_parents=3, memory_limit="4MB")
    assert "max_parents=" in td.plan(table, "bic").reason


@pytest.mark.parametrize("most_cells", [2**32, 1_000])
def test_what_counts_are_said_to_take_is_more_than_there_is(
    both: Callable[..., Both], monkeypatch: pytest.MonkeyPatch, most_cells: int
) -> None:
    """With what each thread takes beside the counts, and where one table has more cells than can be counted."""
    monkeypatch.setattr(chunks, "MOST_CELLS_OF_A_TABLE", most_cells)
    monkeypatch.setattr(chunks, "shown_bytes", str)
    _, table = both(12, 200, seed=7)
    assert table.chunks is not None
    refused = list[str]()
    for most, allowed, threads in product((3, 5, 7), np.geomspace(1e3, 1e8, 40).tolist(), (1, 16)):
        try:
            table.chunks.planned(most, allowed, threads)
        except td.TooLarge as error:
            refused.append(str(error))
    assert len(refused) > 50
    for words in refused:
        said = re.search(r"(?:take|a table of) ([\d.e+]+).*?, where ([\d.e+]+)", words)
        assert said and float(said[1]) > float(said[2]), words


def test_counts_are_refused_only_where_they_do_not_fit(tmp_path: Path, nothing_fits: None) -> None:
    """What their tables and threads take beside cells is heeded when they are planned."""
    rng = np.random.default_rng(1)
    table = td.read_table(written(tmp_path / "rows", {f"v{i}": rng.integers(0, 2, 50) for i in range(30)}))
    assert table.chunks is not None
    least = next(room for room in range(200_000, 40_000_000, 200_000) if _fits(table, room))
    assert all(_fits(table, room) for room in range(least, 4 * least, 300_000))


def _fits(table: td.Table, room: int) -> bool:
    assert table.chunks is not None
    try:
        return table.chunks.planned(4, room, 2).bytes <= room / 4
    except td.TooLarge:
        return False


def test_counts_with_too_many_cells_are_refused(tmp_path: Path, nothing_fits: None) -> None:
    """However much memory there is."""
    many = np.arange(4_000) % 2_000
    table = td.read_table(written(tmp_path / "rows", {"a": many, "b": many[::-1].copy(), "c": (many + 7) % 2_000}))
    assert table.chunks is not None
    with pytest.raises(td.TooLarge, match="max_parents=1 or fewer"):
        table.chunks.planned(3, 1e15, 1)
    assert table.chunks.planned(2, 1e15, 1).most_cells == 4e6


def test_too_many_columns_are_refused(both: Callable[..., Both]) -> None:
    _, table = both(65, 40, seed=8)
    with pytest.raises(td.TooLarge, match=r"at most 64\. Leave out 1 columns"):
        td.best_network(table, "bic", max_parents=1)


def test_every_place_can_stop_it(both: Callable[..., Both], monkeypatch: pytest.MonkeyPatch) -> None:
    held, table = both(6, 400, seed=3)
    best = td.best_network(held, max_parents=2)
    stopped = td.best_network(table, max_parents=2, time_limit=0)
    assert stopped.proof.status.name == "STOPPED" and stopped.score <= best.score <= stopped.proof.bound
    seen: list[Progress] = []

    def stop(progress: Progress) -> None:
        seen.append(progress)
        if len(seen) == 3:
            press_ctrl_c()

    with pytest.raises(td.Interrupted) as raised:
        td.best_network(table, max_parents=2, on_progress=stop)
    assert raised.value.answer.score <= best.score <= raised.value.answer.proof.bound
    assert [each.phase for each in seen[:3]] == ["counting"] * 3
    fractions = [each.fraction for each in seen[:3]]
    assert fractions == sorted(fractions) and 0 < fractions[0] < fractions[2] <= 1  # type: ignore[operator, type-var]
    assert td.best_network(table, max_parents=2).score == pytest.approx(best.score, abs=1e-9)


def test_the_plan_speaks_of_reading(both: Callable[..., Both]) -> None:
    _, table = both(6, 400, seed=3)
    plan = td.plan(table, max_parents=2)
    assert plan.fits and plan.scoring is not None and plan.seconds is not None and 0 < plan.scoring <= plan.seconds < 1
    assert not td.plan(table, td.BDs()).fits
    small = td.plan(table, max_parents=4, memory_limit="20kB")
    assert not small.fits and "Give max_parents=" in small.reason
    fewer = int(small.reason.split("max_parents=")[1][0])
    assert td.plan(table, max_parents=fewer, memory_limit="20kB").engine != "none"
    least = td.plan(table, max_parents=4, memory_limit="1kB")
    assert not least.fits and "Leave out columns (leave_out)" in least.reason


def test_a_bootstrap_is_refused_before_anything_is_counted(both: Callable[..., Both]) -> None:
    """In the plan as in the question, whatever is asked of each draw."""
    _, table = both(6, 400, seed=3)
    said = r"draws the rows of the table one by one.*Allow more \(memory_limit\)"
    for question in (td.best_network, td.edge_posteriors):
        seen: list[Progress] = []
        with pytest.raises(td.TooLarge, match=said):
            td.bootstrap(table, 3, max_parents=2, question=question, on_progress=seen.append)
        assert seen == []
    plan = td.plan(table, question="bootstrap", max_parents=2)
    assert not plan.fits and plan.engine == "none" and not plan.advice
    with pytest.raises(td.TooLarge, match=said):
        raise td.TooLarge(plan.reason)


def test_what_constraints_leave_of_parents_is_planned(tmp_path: Path, nothing_fits: None) -> None:
    rng = np.random.default_rng(2)
    table = td.read_table(written(tmp_path / "rows", {f"V{v}": rng.integers(0, 3, 90) for v in range(24)}))
    assert not td.plan(table, "bic").fits
    for known in (td.Constraints(max_parents=2), td.Constraints(tiers=[["V0", "V1"], ["*"]], edges_within_tiers=False)):
        plan, answer = td.plan(table, "bic", constraints=known), td.best_network(table, "bic", constraints=known)
        assert plan.fits and answer.proved and answer.stats.engine.startswith(plan.engine)


def test_where_all_columns_are_constant_there_is_a_plan_too(tmp_path: Path, nothing_fits: None) -> None:
    table = td.read_table(written(tmp_path / "rows", {"a": [1] * 5, "b": ["x"] * 5}))
    for most in (None, 0, 2):
        assert td.plan(table, max_parents=most).fits and td.best_network(table, max_parents=most).proved


def test_commands_and_the_report(both: Callable[..., Both], tmp_path: Path, topdag: Any) -> None:
    both(6, 400, seed=3)
    folder = str(tmp_path / "6-400-3")
    ran = topdag("best", folder, "--max-parents", "2")
    assert ran.code == 0 and "read chunk by chunk" in ran.words
    best = tmp_path / "best.json"
    assert topdag("best", folder, "--max-parents", "2", "-o", str(best)).code == 0
    for command in (["fit", folder, best], ["check", best, folder], ["score", folder, "--family", "V0", "V1"]):
        ran = topdag(*command, "--memory-limit", "1GB")
        assert ran.code == 0 and "read chunk by chunk" in " ".join((ran.out + ran.err).split()), ran
    page = tmp_path / "page.html"
    ran = topdag("report", folder, "--max-parents", "2", "-o", str(page))
    assert ran.code == 0 and "read chunk by chunk" in page.read_text()
