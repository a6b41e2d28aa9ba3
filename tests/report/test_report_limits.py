"""A report always comes out, whatever limit is met; wrong use is refused; the command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_runs import Topdag
from report_pages import SECTIONS, Page, page_of

import topdag as td
from topdag._util.run import Run
from topdag.questions.request import Request
from topdag.report import gathering
from topdag.report.gathered import Missing
from topdag.report.gathering import gather
from topdag.report.write import write_page


@pytest.fixture(scope="module")
def scores() -> td.types.Scores:
    return td.score(td.example_table(), td.BDeu())


# ---- A report always comes out


def test_no_time(tmp_path: Path) -> None:
    page = page_of(tmp_path, td.example_table(), time_limit=0)
    assert "Not proved." in page.text
    assert "There is no list of the best classes" in page.text
    assert "There are no probabilities here" in page.text


def test_no_memory(tmp_path: Path) -> None:
    page = page_of(tmp_path, td.example_table(), memory_limit="1KB")
    assert "There is no best network here, because" in page.text


def test_too_many_variables_for_sums(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bootstrap tells of edges, the list of paths; where too few draws are done, the list of both."""
    table = td.random_network(24, seed=1, arcs=20, max_parents=2).sample(200, seed=1)
    scores = td.score(table, td.BIC(), max_parents=2)
    monkeypatch.setattr(gathering, "N_DRAWS", 3)
    page = page_of(tmp_path, scores, k=5)
    assert "Not exact. These are averages over the 5 best classes only" in page.text
    assert len(page.values["edges"]) == 24
    monkeypatch.setattr(gathering, "FEWEST_DRAWS", 3)
    page = page_of(tmp_path, scores, k=5)
    assert "The frequencies of edges are shares of 3 tables drawn from the rows whose best network has it" in page.text
    assert "The probabilities of paths are averages over the 5 best classes only" in page.text
    assert np.allclose(page.values["edges"], td.bootstrap(scores, 3).matrix, atol=1e-3)


@pytest.mark.parametrize(("n", "best", "listed"), [(8, 500, 500), (30, 500, 1000), (70, 500, 1000)])
def test_time_goes_to_questions_that_can_use_it(
    monkeypatch: pytest.MonkeyPatch, n: int, best: float, listed: float
) -> None:
    """Neither question takes any time here, so each is given its share of all of it."""
    given = {}

    def refused(what: str, run: Run) -> None:
        given[what] = run.time_limit
        raise td.ScoreError(f"no {what}")

    monkeypatch.setattr(gathering, "best_of", lambda _, run: refused("best", run))
    monkeypatch.setattr(gathering, "list_of", lambda *arguments: refused("list", arguments[-1]))
    table = td.Table(np.random.default_rng(1).integers(0, 2, (20, n)))
    found = gather(Request(table, td.BIC(), 2), 5, Run(time_limit=1000))
    assert given == {"best": pytest.approx(best, rel=0.1), "list": pytest.approx(listed, rel=0.1)}
    assert isinstance(found.edges, Missing) == (n > 26)


def test_draws_leave_time_for_effects(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever says how long a report may take gets effects over the list, too."""
    table = td.random_network(24, seed=1, arcs=20, max_parents=2).sample(200, seed=1)
    given: list[float | None] = []

    def refused(*arguments: Any) -> None:
        given.append(arguments[-1].time_limit)
        raise td.ScoreError("no draws")

    monkeypatch.setattr(gathering, "bootstrap_of", refused)
    found = gather(Request(table, td.BIC(), 2), 5, Run(memory_limit=10**8), budget=1000)
    assert given == [pytest.approx(500, rel=0.1)]
    assert not isinstance(found.effects, Missing)


@pytest.mark.parametrize(
    ("n", "time_limit", "budget", "listed"),
    [
        (8, None, None, 30),
        (24, None, None, 60),
        (20, None, 10, 5),
        (24, None, 10, 10),
        (70, None, 10, 10),
        (8, 1000, 10, 5),
        (8, 20, 90, 10),
    ],
)
def test_the_budget_is_for_all_but_the_best_network(
    monkeypatch: pytest.MonkeyPatch, n: int, time_limit: float | None, budget: float | None, listed: float
) -> None:
    """And half of the free memory, unless a limit says otherwise."""
    given: dict[str, Run] = {}

    def refused(what: str, run: Run) -> None:
        given[what] = run
        raise td.ScoreError(f"no {what}")

    monkeypatch.setattr(gathering, "best_of", lambda _, run: refused("best", run))
    monkeypatch.setattr(gathering, "list_of", lambda *arguments: refused("list", arguments[-1]))
    monkeypatch.setattr(gathering._Gathering, "sum_up", lambda _: None)
    monkeypatch.setattr(gathering, "available_memory", lambda: 10**9)
    table = td.Table(np.random.default_rng(1).integers(0, 2, (20, n)))
    gather(Request(table, td.BIC(), 2), 5, Run(time_limit=time_limit), budget=budget)
    best = given["best"]
    assert best.time_limit == (None if time_limit is None else pytest.approx(time_limit / 2, rel=0.1))
    assert best.memory_limit is None
    assert given["list"].time_limit == pytest.approx(listed, rel=0.1)
    assert given["list"].memory_limit == 5 * 10**8
    gather(Request(table, td.BIC(), 2), 5, Run(memory_limit="2GB"), budget=budget)
    assert given["best"].memory_limit == given["list"].memory_limit == 2 * 10**9


def test_what_is_left_out_names_the_option_that_brings_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, topdag: Topdag, asia: Path
) -> None:
    page = page_of(tmp_path, td.example_table(), budget=0)
    assert "Proved." in page.text
    assert "budget= gives the list and the probabilities more than 0 seconds" in page.text
    ran = topdag("report", asia, "--budget", 0, "-o", tmp_path / "page.html")
    assert ran.code == 0 and "--budget gives the list and the probabilities more than 0 seconds" in ran.words
    monkeypatch.setattr(gathering, "available_memory", lambda: 2000)
    ran = topdag("report", asia, "-o", tmp_path / "page.html")
    assert "without --memory-limit a report takes at most half of the free memory for this" in ran.words
    wide = td.Table(np.random.default_rng(1).integers(0, 2, (40, 21)))
    monkeypatch.setattr(gathering, "N_DRAWS", 1)
    page = page_of(tmp_path, td.score(wide, td.BIC(), max_parents=1), k=2, memory_limit="4GB")
    assert "budget= (in seconds) has them tried" in page.text


def test_a_budget_is_a_number_of_seconds(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="must be a number of seconds, not 'long'"):
        td.write_report(tmp_path / "page.html", td.example_table(), budget="long")  # type: ignore[arg-type]


def test_constraints_that_sums_do_not_understand(tmp_path: Path) -> None:
    known = td.Constraints(ancestors=[("asia", "dysp")])
    page = page_of(tmp_path, td.score(td.example_table(), td.BDeu(), constraints=known), k=3)
    assert "Not exact." in page.text and "does not understand" in page.text
    assert page.values["paths"][0][7] == pytest.approx(1.0)


def test_no_network_is_possible(tmp_path: Path) -> None:
    """What contradicts itself is an error, not a page."""
    with pytest.raises(td.ConstraintError):
        page_of(tmp_path, td.score(td.example_table(), td.BDeu(), constraints=td.Constraints(min_parents=1)))


@pytest.mark.parametrize("is_empty", [True, False])
def test_an_interruption_keeps_what_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scores: td.types.Scores, is_empty: bool
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise td.Interrupted("", td.k_best_classes(scores, 3, time_limit=0 if is_empty else None))

    monkeypatch.setattr(gathering, "list_of", interrupted)
    found = gather(Request.about(td.example_table()), 5, Run())
    assert found.is_interrupted and not isinstance(found.best, Missing)
    write_page(tmp_path / "page.html", found, "asia")
    page = Page((tmp_path / "page.html").read_text())
    assert "because it was interrupted" in page.text or "since it was interrupted" in page.text
    assert len(page.values.get("scores", [])) == (0 if is_empty else 3)


def test_what_on_progress_raises_keeps_what_is_known(tmp_path: Path) -> None:
    """A score that is a function of ours tells of itself before it is asked for."""

    def enough(_: td.types.Progress) -> None:
        raise LookupError("enough")

    kind = td.CustomScore(lambda family: -float(len(family.parents)))
    with pytest.raises(LookupError, match="enough"):
        td.write_report(tmp_path / "page.html", td.example_table(), kind=kind, k=3, on_progress=enough)
    assert "it was interrupted" in Page((tmp_path / "page.html").read_text()).text


def test_only_constant_columns(tmp_path: Path) -> None:
    page = page_of(tmp_path, td.Table({"a": [1, 1], "b": ["x", "x"]}))
    assert [own["id"] for own in page.all("section")] == list(SECTIONS)


def test_scores_from_a_file(tmp_path: Path, scores: td.types.Scores) -> None:
    td.io.write_scores(tmp_path / "asia.jkl", scores)
    page = page_of(tmp_path, td.io.read_scores(tmp_path / "asia.jkl"), k=2)
    assert "The scores were read from a file" in page.text


# ---- Wrong use


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ((td.example_table(), "page.html"), {}, "The first argument names the page"),
        (("page.html",), {}, "Give one table or scores"),
        (("page.html", td.example_table(), "asia.csv"), {}, "Give one table or scores"),
        (("page.html", td.example_table()), {"k": 0}, "k must be a whole number"),
        (("page.txt", td.example_table()), {}, "ends in .html"),
    ],
)
def test_wrong_use(content: tuple[Any, ...], options: dict[str, Any], message: str) -> None:
    with pytest.raises(td.ScoreError, match=message):
        td.write_report(*content, **options)


def test_parts_of_different_tables(tmp_path: Path, scores: td.types.Scores) -> None:
    other = td.best_network(td.Table({"a": [0, 1], "b": [1, 0]}))
    with pytest.raises(td.ScoreError, match="same variables"):
        page_of(tmp_path, other, td.edge_posteriors(scores))


# ---- The command


def test_command(topdag: Topdag, asia: Path, tmp_path: Path) -> None:
    ran = topdag("report", asia, "-o", tmp_path / "out.html", "-k", 5)
    assert ran.code == 0 and "out.html" in ran.out
    page = Page((tmp_path / "out.html").read_text())
    assert len(page.values["scores"]) == 5
    assert "asia.csv" in page.words and str(asia.parent) not in page.html


def test_command_under_limits(topdag: Topdag, asia: Path, tmp_path: Path) -> None:
    ran = topdag("report", asia, "-o", tmp_path / "out.html", "--time-limit", 0)
    assert ran.code == 3 and "lacks" in ran.out
    ran = topdag("report", asia, "-o", tmp_path / "out.html", "--memory-limit", "1KB")
    assert ran.code == 5 and (tmp_path / "out.html").exists()


def test_command_with_options(topdag: Topdag, asia: Path, tmp_path: Path) -> None:
    options = ("--score", "bic", "--require", "smoke->lung", "--prior", "fair", "--title", "Mine", "--quiet", "-k", 2)
    ran = topdag("report", asia, "-o", tmp_path / "out.html", *options)
    assert (ran.code, ran.out) == (0, "")
    page = Page((tmp_path / "out.html").read_text())
    assert "Mine" in page.words and "required edges: smoke->lung" in page.text


def test_command_refuses(topdag: Topdag, asia: Path, tmp_path: Path) -> None:
    """What is wrong with the input is an error, not a page without answers."""
    both = ("--require", "smoke->lung", "--forbid", "smoke->lung")
    for words, code in ((("--require", "smok->lung"), 4), (both, 1)):
        assert topdag("report", asia, "-o", tmp_path / "out.html", *words).code == code
    assert not (tmp_path / "out.html").exists()
    assert topdag("report", asia, "-o", tmp_path / "out.pdf").code == 2
    assert topdag("report", asia, "-o", tmp_path / "no" / "out.html").code == 4
    assert topdag("report", tmp_path / "missing.csv", "-o", tmp_path / "out.html").code == 4
