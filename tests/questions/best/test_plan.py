"""What is said before a run: the engine, why, time and memory, and what to change."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_runs import Topdag
from given_sizes import AS_LISTS, give_memory
from strategies import sampled_table

import topdag as td
from topdag._util.run import Run
from topdag.errors import ConstraintError, ScoreError, TooLarge
from topdag.questions import plan as plans
from topdag.questions import request
from topdag.questions.best import best_of
from topdag.questions.decide import Question, decide, decide_again
from topdag.questions.listing.sources import Wanted
from topdag.questions.lists import list_of
from topdag.questions.plan import QUESTIONS, bytes_for_all_sets
from topdag.questions.request import Request, Trail, scores_of
from topdag.questions.sampling import sample_of
from topdag.scoring import score as scoring
from topdag.scoring.choice import affordable_sets, scores_by_lists
from topdag.search.engines import Engine, all_sets_choice, sizes_given


@pytest.mark.parametrize(
    ("n", "rows", "kind", "max_parents", "engine"),
    [
        (5, 100, td.BDeu(), None, Engine.DENSE),
        (20, 100, td.BIC(), None, Engine.DENSE),
        (22, 100, td.BIC(), None, Engine.BLOCKS),
        (23, 200, td.BIC(), None, Engine.SEARCH),
        (25, 5000, td.BIC(), None, Engine.BLOCKS),  # many rows pay for many parents
        (23, 200, td.BDeu(), None, Engine.BLOCKS),
        (30, 200, td.BDeu(), None, Engine.BLOCKS),
        (31, 200, td.BDeu(), None, Engine.SEARCH),
        (29, 200, td.BDeu(), 3, Engine.SEARCH),
        (64, 10**6, td.AIC(), None, Engine.SEARCH),
        (24, 200, td.BDs(), 2, Engine.BLOCKS),
    ],
)
def test_the_engine_follows_size_score_and_limit(
    n: int, rows: int, kind: td.BDeu, max_parents: int | None, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    give_memory(monkeypatch, 24)
    choice = scores_by_lists(n, rows, kind, max_parents, everything=False)
    assert choice.engine is engine
    assert choice.reason
    if engine is not Engine.SEARCH:
        assert all_sets_choice(n, "").engine is engine


@pytest.mark.parametrize("kind", [td.BIC(), td.AIC()], ids=repr)
def test_affordable_sets_are_those_with_few_enough_cells(kind: td.BIC | td.AIC) -> None:
    arities, n_rows = [2, 2, 3, 4, 1, 5, 7, 2], 60
    most = max(r * (1 + n_rows * math.log(r) / kind.least_penalty(n_rows, r)) for r in arities if r > 1)
    sets = itertools.chain.from_iterable(itertools.combinations(arities, size) for size in range(len(arities) + 1))
    few = sum(math.prod(own) <= most for own in sets)
    assert affordable_sets(kind, n_rows, arities) == few < 2 ** len(arities)


def test_many_states_leave_few_sets() -> None:
    few, many = [2] * 27, [2] * 9 + [4] * 18
    found = [scores_by_lists(27, 5000, td.BIC(), None, everything=False, arities=own).engine for own in (few, many)]
    assert found == [Engine.BLOCKS, Engine.SEARCH]


def test_a_long_list_goes_to_a_table_over_all_sets(tmp_path: Path) -> None:
    table = sampled_table(9, 300, seed=3)
    precedence = td.Constraints(precedence=[("V0", "V1"), ("V3", "V2")])
    options: list[dict[str, Any]] = [{}, {"prior": td.FairPrior()}, {"constraints": precedence}]
    with sizes_given(small=2, long_list=10, **AS_LISTS):
        for about in options:
            answer = td.best_network(table, "bic", **about)
            with sizes_given(long_list=10**6):
                searched = td.best_network(table, "bic", **about)
            assert answer.stats.engine == "block lattice" and searched.stats.engine.startswith("search")
            assert answer.score == pytest.approx(searched.score) and answer.proof.status is td.types.Status.PROVED
        for asked in ({"engine": "search"}, {"checkpoint": tmp_path / "file"}):
            assert td.best_network(table, "bic", **asked).stats.engine.startswith("search")


@pytest.mark.parametrize(
    ("limits", "engine"),
    [({}, Engine.BLOCKS), ({"time_limit": 1e-9}, Engine.SEARCH), ({"memory_limit": 10_000}, Engine.SEARCH)],
)
def test_a_table_over_all_sets_must_fit_into_the_limits(limits: dict[str, Any], engine: Engine) -> None:
    with sizes_given(small=2, long_list=10, **AS_LISTS):
        scores = td.score(sampled_table(9, 300, seed=3), "bic")
        asked = request.Request.from_scores(scores)
        first = decide(asked, Question.BEST)
        assert decide_again(first, asked, Question.BEST, scores, Run(**limits)).engine is engine


PRIORS = (None, None, td.OrderModular(), td.EdgePrior({}), td.FairPrior())
CONSTRAINTS: tuple[dict[str, Any], ...] = (
    {},
    {"forbidden_edges": [("V0", "V1")]},
    {"required_edges": [("V0", "V1"), ("V2", "V1")]},
    {"precedence": [("V0", "V1"), ("V1", "V2"), ("V2", "V3"), ("V3", "V4")]},
    {"precedence": [("V0", "V1")]},
    {"ancestors": [("V0", "V3")]},
    {"rules": ["V0->V1 or V2->V3"]},
)
SIZES: tuple[dict[str, int], ...] = ({}, {"small": 3}, {"small": 3, **AS_LISTS}, AS_LISTS)
ASKED: dict[str, Callable[[Request], td.types.Stats]] = {
    "best": lambda asked: best_of(Trail(asked), Run()).stats,
    "list": lambda asked: list_of(td.types.NetworkList, asked, Wanted("A list", most=5), Run()).stats,
    "within": lambda asked: list_of(td.types.NetworkList, asked, Wanted("A list", factor=3.0), Run()).stats,
    "edges": lambda asked: td.edge_posteriors(every_family(asked), prior=asked.prior).stats,
    "paths": lambda asked: td.path_posteriors(every_family(asked), prior=asked.prior).stats,
    "sample": lambda asked: sample_of(asked, 3, 0, Run()).stats,
}


def every_family(asked: Request) -> td.types.Scores:
    scores = scores_of(asked, Run(), "all")
    assert scores is not None
    return scores


@pytest.mark.parametrize("seed", range(100))
def test_a_plan_is_what_is_done(seed: int) -> None:
    """Of any question, score, prior, constraints and sizes."""
    draw = np.random.default_rng(seed)
    table = sampled_table(int(draw.integers(5, 8)), 60, seed=seed)
    kind = [td.BDeu(), td.BIC(), td.K2()][draw.integers(3)]
    question = list(ASKED)[draw.integers(len(ASKED))]
    limit = [None, None, 2][draw.integers(3)]
    prior = PRIORS[draw.integers(len(PRIORS))]
    known = td.Constraints(**CONSTRAINTS[draw.integers(len(CONSTRAINTS))])
    with sizes_given(**SIZES[draw.integers(len(SIZES))]):
        planned = td.plan(table, kind, question=question, max_parents=limit, prior=prior, constraints=known)
        request = Request(table, kind, limit, prior=prior, constraints=known)
        if planned.engine == "none":
            with pytest.raises(td.ConstraintError, match="does not understand"):
                ASKED[question](request)
            return
        stats = ASKED[question](request)
    assert planned.n_rows == 60 and planned.reason and planned.fits
    begins = stats.engine == planned.engine or stats.engine.startswith((f"{planned.engine}:", f"{planned.engine} "))
    assert begins, (planned.engine, stats.engine)


def test_what_does_not_fit_comes_with_advice() -> None:
    planned = td.plan(sampled_table(27, 60, seed=1), "bdeu", memory_limit="1GB")
    assert not planned.fits
    assert planned.memory > 1e9
    assert "max_parents" in planned.advice
    assert "more than is allowed" in str(planned)
    too_many = td.plan(sampled_table(65, 60, seed=1), td.BIC(), question="edges")
    assert not too_many.fits and too_many.engine == "none"
    assert "at most 64" in too_many.reason
    for question in ("best", "list"):
        assert td.plan(sampled_table(65, 60, seed=1), td.BIC(), question=question).fits


def test_lists_take_more_than_the_best_network() -> None:
    table = sampled_table(12, 60, seed=1)
    assert td.plan(table, question="list").memory > td.plan(table).memory
    for n in (8, 23, 29):
        assert bytes_for_all_sets(n, "list", 2) > bytes_for_all_sets(n, "best", 2)
    with pytest.raises(td.ScoreError, match="question must be one of 'best', 'list'"):
        td.plan(table, question="most")


@pytest.mark.parametrize("kind", ["bdeu", "bic", "qnml"])
@pytest.mark.parametrize("limit", [None, 2])
def test_many_different_rows_take_what_the_plan_says(kind: str, limit: int | None) -> None:
    table = sampled_table(14, 20_000, seed=1, states=4)
    for question, ask in {"best": td.best_network, "list": partial(td.k_best_networks, k=5)}.items():
        planned = td.plan(table, kind, question=question, max_parents=limit)
        said: dict[str, Any] = dict(kind=kind, max_parents=limit)
        assert planned.memory > 20_000 * 14 * 8
        assert ask(table, memory_limit=planned.memory + 5_000, **said).proof.status.name == "PROVED"
        with pytest.raises(td.TooLarge, match="different rows"):
            ask(table, memory_limit=planned.memory - 5_000, **said)
        less = td.plan(table, kind, question=question, max_parents=limit, memory_limit=planned.memory - 5_000)
        assert not less.fits and "more than is allowed" in str(less) and "take fewer rows" in less.advice


@pytest.mark.parametrize("kind", ["bdeu", "bic"])
@pytest.mark.parametrize("n", [16, 40])
def test_a_bootstrap_asks_for_the_best_network_again_and_again(n: int, kind: str) -> None:
    table = sampled_table(n, 60, seed=1)
    once, drawn = (td.plan(table, kind, question=question, max_parents=3) for question in ("best", "bootstrap"))
    assert (drawn.engine, drawn.memory, drawn.listed) == (once.engine, once.memory, once.listed)
    for one, many in ((once.scoring, drawn.scoring), (once.search, drawn.search)):
        assert (one is None) == (many is None) and (one is None or one < many <= 201 * one)  # type: ignore[operator]
    assert "200 tables drawn" in str(drawn)


def test_rows_that_are_counted_in_tables_of_several_columns_are_planned_so() -> None:
    """Many different rows and few parents: each set is no longer counted by itself, neither for all sets nor lists."""
    rng = np.random.default_rng(1)
    for n in (14, 24):
        table = td.Table({f"v{i}": rng.integers(0, 4, 140_000) for i in range(n)})
        few = td.Table({f"v{i}": table.codes[i, :100_000] for i in range(n)})  # counted set by set
        planned, by_sets = (td.plan(each, "bic", max_parents=3).scoring for each in (table, few))
        assert planned is not None and by_sets is not None and planned < by_sets / 2


def test_what_is_long_but_fits_is_not_told_to_allow_memory() -> None:
    rng = np.random.default_rng(1)
    table = td.Table({f"v{i}": rng.integers(0, 4, 100_000) for i in range(14)})
    planned = td.plan(table, "bic", question="bootstrap", memory_limit="100GB")
    assert planned.fits
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plans, "LONG", 1.0)
        long = td.plan(table, "bic", question="bootstrap", memory_limit="100GB")
        known = td.plan(table, "bic", question="bootstrap", max_parents=2, memory_limit="100GB")
    assert long.fits and "memory" not in long.advice and "max_parents" in long.advice and "rows" in long.advice
    assert known.fits and known.advice and "memory" not in known.advice and "max_parents" not in known.advice


def test_the_command(topdag: Topdag, tmp_path) -> None:
    path = tmp_path / "wide.csv"
    table = sampled_table(27, 60, seed=2)
    rows = [",".join(map(str, row)) for row, weight in table.rows() for _ in range(weight)]
    path.write_text("\n".join([",".join(table.names), *rows]) + "\n")
    ran = topdag("plan", path, "--score", "bic")
    assert ran.code == 0
    assert "engine     search: the penalty of BIC() rules out most" in ran.out
    orders = ("--max-parents", "2", "--prior", "order-modular", "--memory-limit", "8GB")
    weighed = topdag("plan", path, "--score", "bic", *orders)
    assert weighed.code == 5 and "more than is allowed" in weighed.out
    known = topdag("plan", path, "--score", "bic", "--rule", "V0->V1 or V2->V3")
    assert known.code == 0 and "engine     constrained search: constraints speak of several" in known.out
    refused = topdag("plan", path, "--memory-limit", "10MB", "--json")
    assert refused.code == 5
    assert '"fits": false' in refused.out


def test_a_score_without_rules_is_not_promised() -> None:
    """What scoring refuses, a plan refuses."""
    table = td.random_network(40, seed=1).sample(50, seed=1)
    plan = td.plan(table, td.K2())
    assert not plan.fits
    assert "Give max_parents" in plan.reason
    assert td.plan(table, td.K2(), max_parents=2).engine == "search"
    with pytest.raises(td.TooLarge, match="or use BDeu or BIC"):
        td.score(table, td.BDs(), max_parents=2)


@pytest.mark.parametrize("question", ["edges", "paths", "evidence", "sample"])
def test_sums_and_samples_are_planned(question: str) -> None:
    """Time like 3^n, and the memory that the question itself asks for."""
    small, large = (td.plan(sampled_table(n, 60, seed=1), question=question) for n in (14, 20))
    assert small.seconds is not None and large.seconds is not None and small.search and large.search
    assert 100 < large.search / small.search < 3**6 + 1
    assert small.fits and small.memory < large.memory
    too_many = td.plan(sampled_table(27, 60, seed=1), question=question, memory_limit="4GB")
    assert not too_many.fits and "more than is allowed" in str(too_many)
    assert "average over a list of networks, or leave out" in too_many.advice
    few_parents = td.plan(sampled_table(27, 60, seed=1), question=question, max_parents=2, memory_limit="4GB")
    assert not few_parents.fits and few_parents.memory > 0.8 * too_many.memory  # of all sets, however few families
    assert few_parents.search == too_many.search
    ask, *more = {
        "edges": (td.edge_posteriors,),
        "paths": (td.path_posteriors,),
        "evidence": (td.log_evidence,),
        "sample": (td.sample_networks, 10),
    }[question]
    with pytest.raises(td.TooLarge):
        ask(sampled_table(14, 60, seed=1), *more, memory_limit=f"{int(0.3 * small.memory)}B")  # type: ignore[operator]


@pytest.mark.parametrize("prior", [None, td.OrderModular(), td.FairPrior()])
def test_sums_that_cannot_hold_so_many_rows_are_refused_before_scoring(prior: Any) -> None:
    """In the plan as in the question; what the data do not weigh can be summed."""
    for weight in (3_600_000, 4_000_000):
        table = td.Table({"a": [0, 1], "b": [1, 0]}, weights=[weight] * 2)
        for question, ask in {
            "edges": td.edge_posteriors,
            "paths": td.path_posteriors,
            "evidence": td.log_evidence,
        }.items():
            seen: list[Any] = []
            planned = td.plan(table, "bic", question=question, prior=prior)
            assert planned.fits == (weight < 3_606_000)
            if not planned.fits:
                assert planned.engine == "none" and "samples of networks can be had" in planned.reason
                assert not planned.advice
                with pytest.raises(td.ScoreError, match="samples of networks can be had"):
                    ask(table, "bic", prior=prior, on_progress=seen.append)
                assert not seen
            else:
                ask(table, "bic", prior=prior)
        assert td.plan(table, "bic", question="sample", prior=prior).fits
        assert math.isfinite(td.log_prior_total(table, "bic", prior=prior))
    with pytest.raises(td.ScoreError, match=r"further than 5,000,000 from zero.*samples of networks can be had"):
        td.log_evidence(td.score(table, "bic", keep="all"), prior=prior)  # as the core says


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("kind", ["bic", "bdeu", "k2", "qnml", "fnml", td.BDs()], ids=str)
def test_where_all_columns_are_constant_there_is_a_plan_too(question: str, kind: Any) -> None:
    """Nothing is scored, whatever the limit on parents."""
    for max_parents in (None, 0, 2):
        plan = td.plan(td.Table({"a": [1] * 5, "b": ["x"] * 5}), kind, question=question, max_parents=max_parents)
        assert plan.memory < 1e6 and plan.seconds is not None and plan.seconds < 1


UNSATISFIABLE: dict[str, tuple[td.Constraints, int | None]] = {
    "required from a constant": (td.Constraints(required_edges=[("same", "V1")]), None),
    "required, and no parents": (td.Constraints(required_edges=[("V0", "V1")]), 0),
    "more required than allowed": (td.Constraints(required_edges=[("V0", "V2"), ("V1", "V2")]), 1),
    "more needed than allowed": (td.Constraints(min_parents={"V2": 2}), 1),
}


@pytest.mark.parametrize("case", UNSATISFIABLE)
@pytest.mark.parametrize("question", ["best", "list", "edges", "bootstrap"])
@pytest.mark.parametrize("n", [5, 24])
def test_what_no_network_satisfies_is_refused_in_the_words_of_the_question(
    monkeypatch: pytest.MonkeyPatch, n: int, question: str, case: str
) -> None:
    """Which scores nothing before; and no advice on memory beside them."""
    monkeypatch.setattr(request, "score_within", None)
    constraints, limit = UNSATISFIABLE[case]
    said: dict[str, Any] = {"constraints": constraints, "max_parents": limit}
    drawn = np.random.default_rng(1).integers(0, 2, (n, 60)).tolist()
    table = td.Table({f"V{v}": cells for v, cells in enumerate(drawn)} | {"same": [0] * 60})
    plan = td.plan(table, "bic", question=question, **said)
    with pytest.raises(ConstraintError) as raised:
        td.best_network(table, "bic", **said)
    assert (plan.engine, plan.reason, plan.advice) == ("none", str(raised.value), "")


def test_scores_cost_what_they_count() -> None:
    """More rows and more formulas take longer; a function of yours takes nobody knows how long."""
    few, many = (td.plan(sampled_table(18, rows, seed=1)).scoring for rows in (50, 2000))
    assert few is not None and many is not None and few < many
    table = td.random_network(18, arities=[2, 3] * 9, seed=1).sample(500, seed=1)
    by_kind = [td.plan(table, kind).scoring for kind in (td.BIC(), td.K2(), td.BDs())]
    assert by_kind == sorted(by_kind)  # type: ignore[type-var]
    assert td.plan(table, td.CustomScore(lambda family: 0.0)).seconds is None


def test_what_nothing_limits_is_said_to_be_open() -> None:
    told = str(td.plan(sampled_table(40, 60, seed=1), "bdeu"))
    assert "depends on the data, and may be long; give a time_limit" in told
    assert "on, as the data make it" in told and "max_parents" in told
    limited = td.plan(sampled_table(40, 60, seed=1), "bdeu", max_parents=3)
    assert limited.scoring is not None and limited.seconds is None
    assert "mostly seconds" in str(limited) and "at most" in str(limited)


def test_what_cannot_be_answered_comes_with_advice_that_helps() -> None:
    """No time, no memory, and nothing that has the same limit."""
    wide = sampled_table(65, 60, seed=1)
    told = str(td.plan(wide, td.BIC(), question="edges"))
    assert "memory" not in told and "time " not in told
    assert "or average over a list of networks, or leave out" in told
    for question in ("edges", "paths", "evidence", "sample"):
        assert (
            "OrderModular" not in td.plan(sampled_table(27, 60, seed=1), question=question, memory_limit="8GB").advice
        )
    assert "OrderModular" not in td.plan(sampled_table(20, 60, seed=1), question="paths", memory_limit="1MB").advice
    assert "BIC" not in td.plan(sampled_table(25, 5000, seed=1), td.BIC(), memory_limit="1MB").advice


@pytest.mark.parametrize("question", ["best", "list", "within", "edges", "paths", "evidence", "sample"])
@pytest.mark.parametrize("max_parents", [None, 2])
def test_under_an_order_modular_prior_advice_is_what_helps(question: str, max_parents: int | None) -> None:
    """Tables over all orders are as large with few parents as with many."""
    asked: dict[str, Any] = {"question": question, "prior": td.OrderModular(), "memory_limit": "1GB"}
    asked |= {"max_parents": max_parents}
    planned = td.plan(sampled_table(29, 60, seed=1), td.BIC(), **asked)
    assert not planned.fits and "max_parents" not in planned.advice and "OrderModular" not in planned.advice
    leave_out = re.search(r"leave out (\d+) column", planned.advice)
    assert leave_out is not None
    assert td.plan(sampled_table(29 - int(leave_out[1]), 60, seed=1), td.BIC(), **asked).fits


@pytest.mark.parametrize("kind", [td.BDs(), td.MixedBIC()], ids=str)
def test_scores_of_single_families_are_planned_as_they_are_kept(kind: td.types.ScoreKind) -> None:
    """A number for each family, not for each set; and no more variables than scoring takes."""
    fits, too_many = (sampled_table(n, 20, seed=1) for n in (20, 27))
    if isinstance(kind, td.MixedBIC):
        columns = {f"c{i}": [(i * i + row) % (i + 2) for row in range(20)] for i in range(20)}
        fits = td.Table(columns, types={f"c{i}": "continuous" for i in range(10)})
    assert td.plan(fits, kind).memory > 8 * 20 * 2**19
    planned = td.plan(too_many, kind, max_parents=2, memory_limit="2GB")
    assert not planned.fits and planned.advice.startswith("leave out")
    with pytest.raises(td.TooLarge, match=r"27 variables needs .* Each variable left out halves it"):
        td.score(too_many, kind, max_parents=2, memory_limit="1GB")


@pytest.mark.parametrize("kind", [td.BGe(), td.GaussianBIC(), td.MixedBIC()], ids=str)
def test_scores_of_numbers_take_known_time(kind: td.types.ScoreKind) -> None:
    rng = np.random.default_rng(1)
    small, large = (td.plan({f"c{i}": rng.normal(size=60) for i in range(n)}, kind) for n in (4, 22))
    assert "about a moment" in str(small)
    assert large.scoring is not None and 0.03 < large.scoring < 30


ACROSS = td.Constraints(ancestors=[("V0", "V1")])
EARLIER = td.Constraints(precedence=[("V0", "V1"), ("V2", "V3")])
WIDE, ENOUGH = sampled_table(22, 20, seed=1), "400MB"
REFUSED_FIRST = {
    "classes": (lambda table: td.k_best_classes(table, 2, td.K2()), ScoreError, "score-equivalent"),
    "a count of classes": (lambda table: td.count_classes_within(table, 2, td.K2()), ScoreError, "score-equivalent"),
    "sums": (lambda table: td.log_evidence(table, constraints=ACROSS), ConstraintError, "several variables"),
    "paths": (lambda table: td.path_posteriors(table, constraints=EARLIER), TooLarge, "paths are summed"),
    "samples": (lambda table: td.sample_networks(table, 3, constraints=ACROSS, seed=1), ConstraintError, "several"),
    "search": (lambda table: td.search_networks(table, 3, constraints=ACROSS), ConstraintError, "several"),
    "best, weighed": (lambda _: td.best_network(WIDE, prior=td.FairPrior(), memory_limit=ENOUGH), TooLarge, "Adding"),
    "list, weighed": (
        lambda _: td.k_best_networks(WIDE, 3, prior=td.FairPrior(), memory_limit=ENOUGH),
        TooLarge,
        "Adding",
    ),
}


@pytest.mark.parametrize("case", REFUSED_FIRST)
def test_what_is_refused_is_not_scored(monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    ask, error, words = REFUSED_FIRST[case]

    def fail(*_: object, **__: object) -> None:
        pytest.fail("scoring began")

    for module in (scoring, request):
        monkeypatch.setattr(module, "score_within", fail)
    with pytest.raises(error, match=words):
        ask(sampled_table(15, 50, seed=1))
