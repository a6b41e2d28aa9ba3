"""What a stopped answer says of itself, for every kind of score, stage and limit: a bound that holds, in plain words
whether it tells anything, and options that bring a proof."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from ctrl_c import press_ctrl_c
from stop_cases.forced import asked, at_every_stop, lists_for_few
from stop_cases.truths import scores_of

import topdag as td
from topdag.questions.plan import plan_of
from topdag.questions.request import Request, Trail, upper_bound

Make = Callable[[np.random.Generator, int, int], td.Table]
HELPS = "For a proof "


def states(rng: np.random.Generator, n: int, rows: int) -> dict[str, np.ndarray]:
    """Each column follows the one before, with noise."""
    columns = [rng.integers(0, 3, rows)]
    for _ in range(n - 1):
        columns.append(np.where(rng.random(rows) < 0.7, columns[-1], rng.integers(0, 3, rows)))
    return {f"V{v}": column for v, column in enumerate(columns)}


def discrete(rng: np.random.Generator, n: int, rows: int) -> td.Table:
    return td.Table(states(rng, n, rows))


def numbers(rng: np.random.Generator, n: int, rows: int) -> td.Table:
    table = states(rng, n, rows)
    return td.Table(
        {name: column + rng.normal(0, 0.3, rows) for name, column in table.items()}, types={"*": "continuous"}
    )


def mixed(rng: np.random.Generator, n: int, rows: int) -> td.Table:
    table: dict[str, Any] = states(rng, n, rows)
    table["V0"] = table["V0"] + rng.normal(0, 0.3, rows)
    return td.Table(table)


def with_gaps(rng: np.random.Generator, n: int, rows: int) -> td.Table:
    table = {name: column.astype(object) for name, column in states(rng, n, rows).items()}
    table["V1"][rng.random(rows) < 0.2] = None
    return td.Table(table, missing="keep")


def with_experiments(rng: np.random.Generator, n: int, rows: int) -> td.Table:
    by_row = [["V0"] if rng.random() < 0.3 else [] for _ in range(rows)]
    return td.Table(states(rng, n, rows), interventions=by_row)


def numbers_with_experiments(rng: np.random.Generator, n: int, rows: int) -> td.Table:
    columns = {name: column + rng.normal(0, 0.3, rows) for name, column in states(rng, n, rows).items()}
    by_row = [["V0"] if rng.random() < 0.3 else [] for _ in range(rows)]
    return td.Table(columns, types={"*": "continuous"}, interventions=by_row)


def above_zero(family: td.types.Family) -> float:
    """No likelihood, so that nothing bounds it beforehand."""
    return 50.0 - family.counts.size


OF_SETS = [td.BDeu(), td.BDeu(50.0), td.BIC(), td.AIC(), td.K2(), td.fNML(), td.qNML()]
KINDS: list[tuple[td.types.ScoreKind, Make]] = [
    *((kind, discrete) for kind in (*OF_SETS, td.BDs(), td.NAL(), td.CustomScore(above_zero))),
    (td.NAL(), with_gaps),
    *((kind, numbers) for kind in (td.BGe(), td.GaussianBIC(), td.GaussianAIC())),
    *((kind, mixed) for kind in (td.MixedBIC(), td.RankBIC(), td.DegenerateGaussian())),
    (td.RankBIC(), numbers),
    *((kind, with_experiments) for kind in (td.BDeu(), td.BIC(), td.K2(), td.BDs(), td.NAL())),
    *((kind, numbers_with_experiments) for kind in (td.BGe(), td.GaussianBIC())),
]


def id_of(kind: td.types.ScoreKind) -> str:
    """Its settings, but for functions, whose place in memory is another in each process."""
    return "CustomScore" if isinstance(kind, td.CustomScore) else str(kind)


every_kind = pytest.mark.parametrize(
    ("kind", "make"), KINDS, ids=[f"{id_of(kind)}, {make.__name__}" for kind, make in KINDS]
)


def empty_score(table: td.Table, kind: td.types.ScoreKind) -> float:
    scored_by = Request.about(table, kind).kind
    assert scored_by is not None
    return sum(scored_by.local(table, x, []) for x in range(table.n_variables))


def check_words(answer: Any, network: td.Network | None, score: float, alone: float) -> None:
    """A bound is called vague exactly where its gap exceeds the gain of all edges and a hundredth of the score; then a
    note names what helps, and never else."""
    proof, said = answer.proof, str(answer)
    notes = [note for note in answer.notes if HELPS in note]
    assert len(notes) == proof.is_vague
    if proof.status is not td.types.Status.STOPPED:
        assert not proof.is_vague
        return
    if network is not None and math.isfinite(proof.gap):
        assert proof.gain == pytest.approx(score - alone, abs=1e-6)
        assert proof.is_vague == (proof.gap > max(proof.gain, 0.01 * abs(score)))
        assert ("too much to tell how good this network is" in said) == proof.is_vague
    if math.isinf(proof.bound):
        assert proof.is_vague and "no bound is known yet" in said
    if proof.is_vague:
        assert "take more time (time_limit)" in notes[0]


@every_kind
@pytest.mark.parametrize("as_lists", [False, True])
def test_a_stopped_answer_holds_and_says_how_much_it_tells(
    kind: td.types.ScoreKind, make: Make, *, as_lists: bool
) -> None:
    seen = set()
    for seed, rows in enumerate((12, 60)):
        table = make(np.random.default_rng(seed), 4, rows)
        with lists_for_few() if as_lists else pytest.MonkeyPatch.context():
            best, alone = td.best_network(table, kind), empty_score(table, kind)
            assert best.proved

            def check(answer: td.types.Answer, best: float = best.score, alone: float = alone) -> None:
                assert answer.proof.bound >= best
                check_words(answer, answer.network, answer.score, alone)
                seen.add((answer.proof.status, answer.proof.is_vague))

            at_every_stop(asked(td.best_network, table, kind), seed, check)
    assert (td.types.Status.PROVED, False) in seen


@every_kind
def test_a_stopped_list_says_it_too(kind: td.types.ScoreKind, make: Make) -> None:
    table = make(np.random.default_rng(3), 4, 30)
    best, alone = td.best_network(table, kind).score, empty_score(table, kind)

    def check(found: td.types.NetworkList) -> None:
        assert found.proof.bound >= best - 1e-6
        if found.proof.is_vague:
            check_words(found, found[0] if len(found) else None, float(found.scores[0]), alone)

    at_every_stop(asked(td.k_best_networks, table, 3, kind), 1, check)
    begun = td.k_best_networks(table, 3, kind, time_limit=0)
    assert len(begun) == 1
    check_words(begun, begun[0], float(begun.scores[0]), alone)


@every_kind
def test_no_network_exceeds_the_bound_before_anything_is_scored(kind: td.types.ScoreKind, make: Make) -> None:
    for seed in range(12):
        rng = np.random.default_rng(seed)
        table = make(rng, int(rng.integers(2, 5)), int(rng.integers(8, 80)))
        best = td.best_network(table, kind).score
        assert best <= upper_bound(Trail(Request.about(table, kind)))


@pytest.mark.parametrize("kind", ["bdeu", "bic", "k2", "nal", "bge"])
def test_experiments_have_a_bound_too(kind: str) -> None:
    """Each variable by the rows that tell of it."""
    make = numbers_with_experiments if kind == "bge" else with_experiments
    stopped = td.best_network(make(np.random.default_rng(1), 4, 40), kind, time_limit=0)
    assert math.isfinite(stopped.proof.bound)


@pytest.mark.parametrize(
    ("gap", "gain", "score", "is_vague"),
    [
        (50.0, 49.0, -1000.0, True),
        (50.0, 51.0, -1000.0, False),
        (9.0, 0.0, -1000.0, False),
        (11.0, 0.0, -1000.0, True),
        (11.0, -5.0, -1000.0, True),
        (11.0, None, -1000.0, False),
        (math.inf, None, -1000.0, True),
        (math.inf, 20.0, -1000.0, True),
    ],
)
def test_vague_is_a_gap_beyond_what_edges_gain(gap: float, gain: float | None, score: float, *, is_vague: bool) -> None:
    proof = td.types.Proof(td.types.Status.STOPPED, score + gap, gap, "time_limit", "all networks", gain)
    assert proof.is_vague == is_vague
    assert not td.types.Proof(td.types.Status.PROVED, score, 0.0, None, "all networks").is_vague


# ---- What helps, where tables are too wide


def wide(n: int = 24) -> td.Table:
    return discrete(np.random.default_rng(2), n, 3000)


helped_by_few_parents = pytest.mark.parametrize("kind", ["bdeu", "k2", "fnml", "qnml"])
MUCH = 2**40


@helped_by_few_parents
@pytest.mark.parametrize("limit", [0, 1, 5, 60, None])
def test_the_limit_on_parents_that_is_named_helps(kind: str, limit: float | None) -> None:
    """With it scoring is planned within the limit, which it is not without."""
    table = wide(28)
    planned = plan_of(Request.about(table, kind), "best", MUCH, time_limit=limit)
    named = re.search(r"max_parents=(\d)", planned.advice)
    assert named, planned
    limited = td.plan(table, kind, max_parents=int(named[1]), memory_limit=MUCH)
    assert limited.scoring is not None and limited.scoring <= max(60 if limit is None else limit, 1.0)
    assert limited.advice == td.plan(table, "bic", memory_limit=MUCH).advice == ""
    assert 'kind="bic"' in planned.advice


@pytest.mark.parametrize("question", ["best", "list", "within"])
def test_every_search_that_will_be_long_is_advised_without_a_time_limit(question: str) -> None:
    for n in (28, 40):
        assert "max_parents=3" in td.plan(wide(n), "bdeu", question=question, memory_limit=MUCH).advice
        assert td.plan(wide(n), question=question, memory_limit=MUCH).advice == ""  # BIC rules out most parent sets


@helped_by_few_parents
def test_a_wide_table_that_is_stopped_names_it(kind: str) -> None:
    table = wide()
    for ask in (td.best_network, partial(td.k_best_networks, k=2), partial(td.networks_within, factor=2.0)):
        stopped: Any = ask(table, kind=kind, time_limit=0)
        assert stopped.proof.is_vague
        [note] = [note for note in stopped.notes if HELPS in note]
        assert note.startswith("The time limit came before all families were scored. For a proof limit the parents")
        assert "max_parents=3" in note and 'use BIC (kind="bic")' in note
        assert "take more time (time_limit): about" in note and note in str(stopped)


def test_ctrl_c_names_it_too() -> None:
    table = wide()
    with pytest.raises(td.Interrupted) as raised:
        td.best_network(table, "bdeu", on_progress=press_ctrl_c)
    answer = raised.value.answer
    assert answer.proof.is_vague
    assert any(note.startswith("Ctrl-C came before all families") and "max_parents=" in note for note in answer.notes)


def test_what_is_soon_scored_needs_more_time_only() -> None:
    table = discrete(np.random.default_rng(1), 8, 200)
    [note] = [note for note in td.best_network(table, "bic", time_limit=0).notes if HELPS in note]
    assert "For a proof take more time (time_limit): about a moment" in note and "max_parents" not in note


def test_a_limit_that_was_given_is_lowered_where_that_helps() -> None:
    table = wide()
    few, many = (td.best_network(table, "bdeu", max_parents=most, time_limit=0) for most in (2, 9))
    assert few.proof.is_vague and "max_parents" not in few.notes[-1]
    assert "max_parents=3" in many.notes[-1]
    assert td.plan(table, "bdeu", max_parents=2).advice == ""
    assert "max_parents=3" in td.plan(wide(28), "bdeu", max_parents=20, memory_limit=MUCH).advice


def test_scores_without_a_table_need_more_time() -> None:
    families = [(x, own, -1e6 + 1e5 * len(own)) for x in range(6) for own in [(), *((p,) for p in range(6) if p != x)]]
    scores = scores_of(6, families)
    stopped = td.best_network(scores, engine="dense lattice", time_limit=0)
    assert stopped.proof.is_vague == (HELPS in " ".join(stopped.notes))
    assert "max_parents" not in " ".join(stopped.notes)


@pytest.mark.parametrize("kind", ["bdeu", "bic"])
@pytest.mark.parametrize("n", [2, 24, 70, 1500])
def test_tables_of_any_width_are_stopped_without_a_mistake(n: int, kind: str) -> None:
    """Constant columns only, and more than sets of bits or numbers hold."""
    rng = np.random.default_rng(n)
    for columns in (rng.integers(0, 2, (30, n)), np.zeros((30, n), dtype=int)):
        table = td.Table(columns, names=[f"v{v}" for v in range(n)])
        stopped = td.best_network(table, kind, max_parents=2, time_limit=0)
        assert stopped.proof.is_vague == (HELPS in " ".join(stopped.notes))
        planned = plan_of(Request.about(table, kind), "best", time_limit=0, was_stopped=True)
        assert planned.n_variables == (n if columns.any() else 0)
