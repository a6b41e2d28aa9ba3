"""Frequencies of edges over tables drawn from a table: draws, answers, executors, and what stops them."""

from __future__ import annotations

import json
import os
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import reference
from stop_cases.counted import counted_clock, whole_answer

import topdag as td
from topdag.answers.bootstrap import class_shares
from topdag.data.resample import resampled
from topdag.questions import bootstrap
from topdag.scoring.keep import MOST_IN_A_LIST
from topdag.search import best
from topdag.types import BootstrapFrequencies, Progress


@pytest.fixture(scope="module")
def table() -> td.Table:
    rng = np.random.default_rng(5)
    a = rng.integers(0, 2, 90)
    b = np.where(rng.random(90) < 0.75, a, 1 - a)
    c = np.where(rng.random(90) < 0.7, b, rng.integers(0, 3, 90))
    return td.Table({"a": a, "b": b, "c": c, "d": rng.integers(0, 2, 90)})


def same(one: BootstrapFrequencies, other: BootstrapFrequencies) -> bool:
    return all(np.array_equal(a.edges, b.edges) for a, b in zip(one.draws, other.draws, strict=True))


# ---- Draws


def test_a_draw_has_as_many_rows_each_of_them_one_of_the_table(table: td.Table) -> None:
    counts = dict(table.rows())
    for draw in range(20):
        drawn = resampled(table, 7, draw)
        assert drawn.n_rows == table.n_rows and drawn.states == table.states and drawn.names == table.names
        rows = dict(drawn.rows())
        assert set(rows) <= set(counts) and min(rows.values()) > 0
        assert drawn == resampled(table, 7, draw) and drawn != resampled(table, 8, draw)


def test_rows_are_drawn_as_often_as_they_occur(table: td.Table) -> None:
    """Within five standard errors of the mean of a multinomial, and as far apart as one."""
    n, draws = table.n_rows, 2_000
    counts: dict[Any, list[int]] = {row: [] for row, _ in table.rows()}
    for draw in range(draws):
        rows = dict(resampled(table, 1, draw).rows())
        for row, own in counts.items():
            own.append(rows.get(row, 0))
    for row, weight in table.rows():
        spread = weight * (1 - weight / n)
        assert abs(np.mean(counts[row]) - weight) < 5 * (spread / draws) ** 0.5
        assert 0.8 * spread < np.var(counts[row]) < 1.25 * spread


def test_experiments_stay_with_their_rows() -> None:
    rng = np.random.default_rng(2)
    rows, was_set = rng.integers(0, 2, (60, 3)), rng.choice(["", "a", "b;c"], 60).tolist()
    table = td.Table(rows, names=["a", "b", "c"], interventions=was_set)
    known = {(row, mask) for (row, _), mask in zip(table.rows(), table.targets, strict=True)}
    drawn = resampled(table, 0, 1)
    assert {(row, mask) for (row, _), mask in zip(drawn.rows(), drawn.targets, strict=True)} < known
    found = td.bootstrap(table, 4, "bic")
    for place, draw in enumerate(found.draws):
        assert draw.network is not None
        assert draw.network.score == td.best_network(resampled(table, 0, place), "bic").score


# ---- Answers


@pytest.mark.parametrize("kind", ["bic", "bdeu", "k2"])
def test_every_draw_is_answered_as_the_reference_does(table: td.Table, kind: str) -> None:
    found = td.bootstrap(table, 12, kind, seed=3)
    score = {"bic": reference.bic, "bdeu": reference.bdeu, "k2": reference.k2}[kind]
    for place, draw in enumerate(found.draws):
        drawn = resampled(table, 3, place)
        local = reference.local_of(score, drawn.codes.T.tolist(), drawn.weights.tolist(), drawn.arities.tolist())
        _, best = reference.best_networks(local, 4)
        if kind == "k2":  # networks of a class differ
            allowed = [shares_of([masks]) for masks in best]
        else:
            allowed = [shares_of(reference.equivalent_networks(masks)) for masks in best]
        assert any(np.allclose(draw.edges, shares) for shares in allowed)
        assert draw.is_proved and draw.network is not None
    assert np.allclose(found.matrix, np.mean([draw.edges for draw in found.draws], axis=0))
    assert found.proved and found.answer is not None and found.answer.proved


def shares_of(networks: Any) -> np.ndarray[Any, Any]:
    found = np.zeros((4, 4))
    for masks in networks:
        for child, parents in enumerate(masks):
            for parent in reference.members(parents):
                found[parent, child] += 1 / len(networks)
    return found


def test_shares_of_a_class_are_those_of_its_members() -> None:
    for seed in range(30):
        network = td.random_network(5, arcs=6, seed=seed).network
        members = list(td.EquivalenceClass(network).members())
        shares = np.zeros((5, 5))
        for member in members:
            for parent, child in member.edges:
                shares[member.names.index(parent), member.names.index(child)] += 1 / len(members)
        assert np.allclose(class_shares(network), shares)


def test_more_draws_begin_with_the_same(table: td.Table) -> None:
    few, many = td.bootstrap(table, 5, "bic", seed=2), td.bootstrap(table, 9, "bic", seed=2)
    assert [d.edges.tolist() for d in few.draws] == [d.edges.tolist() for d in many.draws[:5]]
    assert not same(few, td.bootstrap(table, 5, "bic", seed=4))


def test_listed_families_give_what_tables_over_all_sets_give() -> None:
    """Where searches begin with the network and the cuts of the table itself."""
    table = td.example_network().sample(150, seed=3)
    by_lists = td.bootstrap(table, 6, "bic", question=partial(td.best_network, engine="search"))
    listed = td.bootstrap(td.score(table, "bic", keep="best"), 6)
    whole = td.bootstrap(table, 6, "bic")
    for a, b, c in zip(by_lists.draws, listed.draws, whole.draws, strict=True):
        assert a.network is not None and b.network is not None and c.network is not None
        assert a.network.score == pytest.approx(c.network.score) == b.network.score


def test_draws_take_the_engine_that_proved_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where search over orders was in vain it is not tried again, and the scores are the same."""
    monkeypatch.setattr(best, "FIRST_SETS", 1)
    tried: list[int] = []
    search_orders = best.search_orders

    def counted(*args: Any, **options: Any) -> Any:
        tried.append(1)
        return search_orders(*args, **options)

    monkeypatch.setattr(best, "search_orders", counted)
    table = td.random_network(23, arcs=30, max_parents=3, seed=8).sample(800, seed=8)
    found = td.bootstrap(table, 2, "bic", max_parents=2)
    assert found.answer is not None and found.answer.stats.engine == "search: branch and cut" and len(tried) == 1
    for place, draw in enumerate(found.draws):
        assert draw.network is not None and draw.is_proved
        assert draw.network.score == td.best_network(resampled(table, 0, place), "bic", max_parents=2).score


def test_other_questions(table: td.Table) -> None:
    sums = td.bootstrap(table, 3, "bic", question=td.edge_posteriors)
    for place, draw in enumerate(sums.draws):
        assert np.array_equal(draw.edges, td.edge_posteriors(resampled(table, 0, place), "bic").matrix)
    assert sums.answer is None and "edge_posteriors" in str(sums)
    lists = td.bootstrap(table, 3, "bic", question=partial(td.k_best_networks, k=2), max_parents=1)
    assert lists.draws[0].edges.sum() <= 3 and "k_best_networks" in str(lists)


def test_constraints_and_limits_hold_in_every_draw(table: td.Table) -> None:
    known = td.Constraints(required_edges=[("d", "a")], forbidden_edges=[("a", "b")])
    found = td.bootstrap(table, 8, "bic", constraints=known, max_parents=1)
    assert found["d", "a"] == 1.0 and found["a", "b"] == 0.0
    assert all(len(own) <= 1 for draw in found.draws for own in draw.network.parents.values())  # type: ignore[union-attr]


def test_what_is_shown(table: td.Table) -> None:
    found = td.bootstrap(table, 40, "bic")
    low, high = found.interval("a", "b")
    assert 0 <= low <= found["a", "b"] <= high <= 1
    assert found.either_way("a", "b") == pytest.approx(found["a", "b"] + found["b", "a"])
    rows = list(found.to_dicts())
    assert len(rows) == 12 and rows[0]["frequency"] >= rows[-1]["frequency"]
    assert set(rows[0]) == {"parent", "child", "frequency", "low", "high", "either_way"}
    assert "40 tables" in str(found) and "frequency" in found._repr_html_().lower()
    assert found.consensus().threshold == 0.5 and len(found.to_dict()["draws"]) == 40


def test_an_interval_narrows_with_draws(table: td.Table) -> None:
    """Wilson's, as tables have it: 8 of 10 from 0.490 to 0.943, 10 of 10 from 0.722 on."""
    found = td.bootstrap(table, 10, "bic")
    assert found._interval(0.8) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert found._interval(1.0) == pytest.approx((0.7225, 1.0), abs=1e-4)
    assert found._interval(0.0)[0] == 0.0


# ---- Files


QUESTIONS = {"networks": td.best_network, "sums": td.edge_posteriors, "lists": partial(td.k_best_networks, k=3)}


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
@pytest.mark.parametrize("kind", ["bdeu", "k2"])
def test_files_are_read_back(table: td.Table, tmp_path: Path, kind: str, question: Any) -> None:
    """With a score that tells the networks of a class apart and one that does not."""
    found = td.bootstrap(table, 12, kind, question=question, seed=4)
    td.io.write_bootstrap(tmp_path / "a.json", found)
    read = td.io.read_bootstrap(tmp_path / "a.json")
    assert np.allclose(read.matrix, found.matrix, atol=1e-12) and read.proved == found.proved
    assert (str(read), read.notes, read.seed, read.by_class) == (str(found), found.notes, 4, kind == "bdeu")
    assert [draw.network for draw in read.draws] == [draw.network for draw in found.draws]
    assert read.interval("a", "b") == pytest.approx(found.interval("a", "b"))
    assert (read.table, read.kind, read.answer, read.stats) == (None, None, None, None)
    if question is td.best_network:
        assert read.networks() == found.networks()
        with pytest.raises(td.ScoreError, match="Ask with the table"):
            td.causal_effects(read, "a", "b")


def test_a_file_of_a_stopped_bootstrap(table: td.Table, tmp_path: Path) -> None:
    found = replace(td.bootstrap(table, 3, "bic"), asked_for=7, limit="time_limit")
    td.io.write_bootstrap(tmp_path / "a.json", found)
    read = td.io.read_bootstrap(tmp_path / "a.json")
    assert not read.proved and "Stopped by the time limit after 3 of 7 draws." in read.notes


CHANGES: dict[str, Any] = {
    "seed": -1,
    "version": 2,
    "names": ["a", "a", "b", "c"],
    "by_class": "yes",
    "asked_for": 2,
    "limit": 3,
    "draws": [],
    "edges": [[0.0] * 4] * 4,
    "adjacency": [[0.0] * 4] * 4,
}


@pytest.mark.parametrize("name", CHANGES)
def test_changed_files_are_refused(table: td.Table, tmp_path: Path, name: str) -> None:
    path = tmp_path / "a.json"
    content = json.loads(json.dumps(td.bootstrap(table, 3, "bic").to_dict())) | {name: CHANGES[name]}
    path.write_text(json.dumps(content))
    with pytest.raises(td.FileError, match="not a file of a bootstrap that topdag wrote"):
        td.io.read_bootstrap(path)


def test_other_files_and_names(table: td.Table, tmp_path: Path) -> None:
    found = td.bootstrap(table, 2, "bic")
    with pytest.raises(td.FileError, match=r"the name must end in \.json"):
        td.io.write_bootstrap(tmp_path / "a.npz", found)
    with pytest.raises(TypeError, match="Only what bootstrap gave"):
        td.io.write_bootstrap(tmp_path / "a.json", found.answer)  # type: ignore[arg-type]
    with pytest.raises(td.FileError, match=r"none\.json"):
        td.io.read_bootstrap(tmp_path / "none.json")


# ---- Executors


def test_the_same_answer_on_every_executor(table: td.Table) -> None:
    here = td.bootstrap(table, 6, "bic", threads=1)
    assert same(here, td.bootstrap(table, 6, "bic", threads=2))
    assert same(here, td.bootstrap(table, 6, "bic", executor=2))
    with ThreadPoolExecutor(2) as threads:
        assert same(here, td.bootstrap(table, 6, "bic", executor=threads))


def lost_in_the_third(table: td.Table, **_: object) -> td.types.Answer:
    if table == resampled(td.example_table(), 0, 2):
        os._exit(9)
    return td.best_network(table)


def refused(table: td.Table, **_: object) -> td.types.Answer:
    raise td.TooLarge("This is too large.")


def test_a_lost_worker_is_an_error_that_says_so() -> None:
    with pytest.raises(td.LostWorker, match="process pool was lost"):
        td.bootstrap(td.example_table(), 6, question=lost_in_the_third, executor=1)


def test_what_a_draw_raises_is_raised_from_every_executor() -> None:
    for executor in (None, 1):
        with pytest.raises(td.TooLarge, match="too large") as raised:
            td.bootstrap(td.example_table(), 3, question=refused, executor=executor)
        assert any("of a bootstrap" in note for note in raised.value.__notes__)


# ---- Stops


@pytest.mark.parametrize("executor", [None, 1])
def test_what_stops_it_leaves_the_draws_done(table: td.Table, executor: Any) -> None:
    done: list[float] = []

    def stop(progress: Progress) -> None:
        done.append(progress.fraction or 0.0)
        if progress.phase == "drawing" and (progress.fraction or 0.0) > 0:
            raise KeyboardInterrupt

    with pytest.raises(td.Interrupted) as raised:
        td.bootstrap(table, 4_000, "bic", executor=executor, on_progress=stop)
    found = raised.value.answer
    assert isinstance(found, BootstrapFrequencies) and 0 < len(found.draws) < 4_000
    assert found.limit == "Ctrl-C" and not found.proved and "of 4,000 draws" in found.notes[-1]
    assert same(found, td.bootstrap(table, len(found.draws), "bic"))


def test_a_time_limit_gives_the_first_draws(table: td.Table) -> None:
    """Wherever it comes."""

    def ask(seconds: float) -> BootstrapFrequencies:
        return td.bootstrap(table, 5, "bic", threads=1, time_limit=seconds)

    whole, readings = whole_answer(ask)
    assert whole.limit is None and whole.proved
    done = set()
    for limit in range(0, readings, max(1, readings // 40)):
        with counted_clock():
            try:
                found = ask(limit)
            except td.OutOfTime:
                continue  # no draw was done
        assert found.limit == (None if len(found.draws) == 5 else "time_limit") and found.proved == (
            found.limit is None
        )
        assert [draw.edges.tolist() for draw in found.draws] == [
            draw.edges.tolist() for draw in whole.draws[: len(found.draws)]
        ]
        done.add(len(found.draws))
    assert done >= {1, 2, 3, 4}


# ---- Wrong use


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"n": 0}, "n must be a whole number"),
        ({"n": 2.5}, "n must be a whole number"),
        ({"seed": -1}, "seed must be a whole number"),
        ({"question": "best"}, "question must be a function"),
        ({"question": td.log_evidence}, "tells of edges"),
        ({"executor": 0}, "executor must be"),
        ({"executor": "cluster"}, "executor must be"),
    ],
)
def test_wrong_use(table: td.Table, said: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        td.bootstrap(table, **({"n": 2} | said))


def test_an_order_modular_prior(table: td.Table) -> None:
    prior = td.OrderModular()
    found = td.bootstrap(table, 3, "bic", prior=prior, seed=5)
    for place, draw in enumerate(found.draws):
        alone = td.best_network(resampled(table, 5, place), "bic", prior=prior)
        assert draw.network is not None and alone.network is not None
        assert draw.network.edges == alone.network.edges


@pytest.mark.parametrize("executor", [None, 1])
def test_draws_without_end_can_be_stopped(table: td.Table, executor: int | None) -> None:
    """They are made as they are needed; those done are the answer."""

    def stop(progress: Progress) -> None:
        if progress.phase == "drawing" and (progress.fraction or 0.0) > 0.0:
            raise KeyboardInterrupt

    with pytest.raises(td.Interrupted) as raised:
        td.bootstrap(table, MOST_IN_A_LIST, "bic", executor=executor, on_progress=stop)
    found = raised.value.answer
    assert found is not None and found.limit == "Ctrl-C" and 0 < len(found.draws) < 10_000
    assert same(found, td.bootstrap(table, len(found.draws), "bic"))


def test_under_a_time_limit_the_first_blocks_are_small() -> None:
    blocks = bootstrap._blocks(10**12, 32, are_growing=True)
    assert [len(next(blocks)) for _ in range(8)] == [1, 2, 4, 8, 16, 32, 32, 32]


def test_a_draw_that_cannot_be_scored_is_named() -> None:
    rows = np.random.default_rng(0).normal(size=(8, 4))
    with pytest.raises(td.ScoreError, match=r"In draw \d+, a table of rows drawn from yours: .*\d different rows"):
        td.bootstrap(dict(zip("uvwx", rows.T.tolist(), strict=True)), 200, "gaussian-bic")


def test_a_question_that_needs_more_is_told_how_to_give_it(table: td.Table) -> None:
    with pytest.raises(td.ScoreError, match=r"k_best_networks needs k: give functools\.partial\(k_best_networks, k="):
        td.bootstrap(table, 3, question=td.k_best_networks)


@pytest.mark.parametrize("question", [partial(td.sample_networks, n=5), partial(td.best_network, 1, 2, 3, 4), dict])
def test_a_question_that_cannot_be_asked_so_is_told_before_any_draw(table: td.Table, question: Any) -> None:
    """Arguments that the function does not have, and what Python itself does not know the arguments of."""
    with pytest.raises(td.ScoreError, match=r"^question: "):
        td.bootstrap(table, 3, question=question)


def test_a_question_that_does_not_take_what_is_said_is_told_before_any_draw(table: td.Table) -> None:
    def takes_none(table: td.Table) -> Any:
        return td.best_network(table)

    def takes_few(table: td.Table, kind: Any = None, threads: Any = None) -> Any:
        return td.best_network(table, kind, threads=threads)

    def takes_all(table: td.Table, **said: Any) -> Any:
        return td.best_network(table, **said)

    for ask in (takes_none, takes_few):
        with pytest.raises(
            td.ScoreError, match=r"asked with .*on_progress=.*, which this function does not take.*said"
        ):
            td.bootstrap(table, 3, question=ask, on_progress=print)
    assert td.bootstrap(table, 2, question=takes_all).proved


@pytest.mark.parametrize("kind", ["bic", td.BIC()])
@pytest.mark.parametrize("ask", [td.bootstrap, td.k_best_networks, td.sample_networks])
def test_a_score_in_the_place_of_how_many_is_told_where_it_belongs(table: td.Table, ask: Any, kind: Any) -> None:
    with pytest.raises(td.ScoreError, match=rf"not {re.escape(repr(kind))}\. .* kind={re.escape(repr(kind))}"):
        ask(table, kind)


def test_what_holds_a_bootstrap_is_no_network(table: td.Table, tmp_path: Path) -> None:
    path = tmp_path / "found.json"
    td.io.write_bootstrap(path, td.bootstrap(table, 2))
    with pytest.raises(td.FileError, match=r"no network or answer with one.*topdag\.io\.read_bootstrap reads it"):
        td.read_network(path)


def test_what_was_found_cannot_be_written_over(table: td.Table) -> None:
    with pytest.raises(ValueError, match="read-only"):
        td.bootstrap(table, 2, "bic").matrix[0, 1] = 1.0
