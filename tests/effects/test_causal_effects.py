"""The question: of what it averages, what it says, what it refuses, and how it is stopped."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest
from ctrl_c import press_ctrl_c
from stop_cases.counted import counted_clock, stops_among, whole_answer
from test_effects_of_states import drawn_table

import topdag as td
from topdag.knowledge.priors import FairPrior


@pytest.fixture(scope="module")
def effects() -> td.types.CausalEffects:
    return td.causal_effects(td.example_table(), draws=100)


def distributions(found: td.types.CausalEffects) -> np.ndarray:
    return np.array([p for pair in sorted(found) for row in found[pair].distributions.values() for p in row.values()])


# ---- Of what


def test_a_list_of_all_networks_or_classes_gives_what_sums_give() -> None:
    scores = td.score(drawn_table(1), td.BDeu())
    exact = td.causal_effects(scores, share=1, draws=0)
    for listed in (td.k_best_networks(scores, 543), td.k_best_classes(scores, 185)):
        found = td.causal_effects(listed, share=1, draws=0)
        assert np.abs(distributions(found) - distributions(exact)).max() < 1e-6
        assert all(found[pair].no_effect == pytest.approx(exact[pair].no_effect, abs=1e-6) for pair in exact)
    assert "does not count" in found.over


def test_a_list_that_was_stopped_says_so() -> None:
    stopped = td.k_best_networks(drawn_table(1), 5, time_limit=0)
    found = td.causal_effects(stopped, draws=0)
    assert found.over.startswith("the 1 best networks found before the time limit came")


def test_networks_drawn_give_nearly_that() -> None:
    scores = td.score(drawn_table(1), td.BDeu())
    exact = td.causal_effects(scores, share=1, draws=0)
    found = td.causal_effects(td.sample_networks(scores, 20_000, seed=1), share=1, draws=0)
    assert np.abs(distributions(found) - distributions(exact)).max() < 0.03
    assert all(found[pair].no_effect == pytest.approx(exact[pair].no_effect, abs=0.02) for pair in exact)
    assert found.over == "20,000 networks drawn, which count alike"


def test_a_bootstrap_counts_a_member_of_the_best_class_of_each_draw() -> None:
    """As a list of just these networks would, all of one weight."""
    table = drawn_table(1)
    drawn = td.bootstrap(table, 20, seed=3)
    found = td.causal_effects(drawn, share=1, draws=0)
    networks = drawn.networks()
    assert networks == drawn.networks() and len(networks) == 20
    for draw, network in zip(drawn.draws, networks, strict=True):
        assert draw.network is not None
        assert td.EquivalenceClass(draw.network) == td.EquivalenceClass(network)
    assert "no probabilities of networks given the data" in found.over
    for (cause, outcome), effect in found.items():
        n_paths = sum(network.is_ancestor(cause, outcome) for network in networks)
        assert effect.no_effect == pytest.approx(1 - n_paths / 20, abs=1e-9)
        if n_paths:
            alone = [adjusted(table, cause, outcome, network.parents[cause]) for network in networks]
            assert effect.distributions[1][1] == pytest.approx(np.mean(alone), abs=1e-9)


def adjusted(table: td.Table, cause: str, outcome: str, parents: tuple[str, ...]) -> float:
    """The probability of state 1 if the cause is 1, where it has these parents in all networks."""
    known = td.Constraints(fixed_parents={cause: parents})
    found = td.causal_effects(table, cause, outcome, constraints=known, share=1, draws=0)
    return found[cause, outcome].distributions[1][1]


def test_a_bootstrap_of_another_question_has_no_networks() -> None:
    drawn = td.bootstrap(drawn_table(1), 3, question=td.edge_posteriors)
    with pytest.raises(td.ScoreError, match="edge_posteriors have no networks; ask for best_network"):
        td.causal_effects(drawn)
    with pytest.raises(td.ScoreError, match="kind= goes with a table"):
        td.causal_effects(drawn, kind="bic")
    with pytest.raises(td.ScoreError, match="NAL"):
        td.causal_effects(drawn_table(1), kind="nal")
    by_nal = td.causal_effects(td.bootstrap(drawn_table(1), 2, "nal"), draws=0)  # its networks count alike
    assert by_nal.over.startswith("the best network of each of 2 tables")


def test_a_list_under_constraints_counts_members_that_satisfy_them() -> None:
    known = td.Constraints(forbidden_edges=[("V0", "V1")])
    scores = td.score(drawn_table(2), td.BDeu(), constraints=known)
    exact = td.causal_effects(scores, share=1, draws=0)
    found = td.causal_effects(td.k_best_classes(scores, 185), share=1, draws=0)
    assert np.abs(distributions(found) - distributions(exact)).max() < 1e-6
    assert "V0->V1" in exact.over


@pytest.mark.parametrize("share", [0.5, 0.9, 0.999])
def test_what_is_left_out_is_told_and_bounds_the_error(share: float) -> None:
    table = td.example_table()
    exact = td.causal_effects(table, share=1, draws=0)
    found = td.causal_effects(table, share=share, draws=0)
    assert exact.least_covered == 1.0 and "left out" not in str(exact)
    assert share <= found.least_covered < 1.0
    assert f"{1 - found.least_covered:.2g} of the weight" in str(found)
    for pair, effect in found.items():
        left = 1 - found.covered[pair[0]]
        for state, row in effect.distributions.items():
            for outcome, p in row.items():
                assert abs(p - exact[pair].distributions[state][outcome]) <= left + 1e-12
    assert found.stats.work["parent sets"] < exact.stats.work["parent sets"]


def test_where_paths_are_not_summed_the_rest_is_still_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("topdag.questions.sum_sizes.MOST_FOR_ORDER_PATHS", 3)
    found = td.causal_effects(drawn_table(1), prior=td.OrderModular(), share=1, draws=0)
    assert found["V0", "V1"].no_effect is None
    assert "is not known" in str(found) and "order-modular prior" in found.over
    monkeypatch.undo()
    with_paths = td.causal_effects(drawn_table(1), prior=td.OrderModular(), share=1, draws=0)
    assert (distributions(found) == distributions(with_paths)).all()


def test_constant_columns_neither_cause_nor_follow() -> None:
    table = td.Table({"a": [0, 1, 0, 1], "b": [0, 1, 1, 1], "c": ["x"] * 4})
    assert set(td.causal_effects(table, draws=0)) == {("a", "b"), ("b", "a")}
    with pytest.raises(td.ScoreError, match="'c' is constant"):
        td.causal_effects(table, "c")


# ---- What it says


def test_a_pair_in_words(effects: td.types.CausalEffects) -> None:
    effect = effects["bronc", "dysp"]
    assert effect.meaning == "probability of dysp = yes, if bronc = yes and not no"
    assert effect.lower <= effect.value <= effect.upper
    assert "bronc -> dysp: +0.6607" in str(effect)
    assert "whatever led both to a cause and to an outcome" in str(effects)
    assert effects.matrix.shape == (8, 8)
    assert effects.ranked[0].size == effects.matrix.max()
    assert "1 imaginary row, spread evenly, since BIC() has none" in effects.estimated
    assert "1 imaginary row of BDeu" in td.causal_effects(td.example_table(), kind="bdeu", draws=0).estimated
    assert "... and 46 more" in str(effects)
    assert "bronc" in effects._repr_html_()


def test_what_does_not_hold_for_the_probabilities_is_said() -> None:
    known = td.Constraints(parameters=[td.probabilities.influence("smoke", "bronc", "+")])
    found = td.causal_effects(td.example_table(), "smoke", "bronc", "bic", constraints=known, draws=0)
    assert "without the constraints on probabilities" in found.estimated


def test_rows_frames_and_json(effects: td.types.CausalEffects) -> None:
    rows = list(effects.to_dicts())
    assert len(rows) == 56 and rows[0]["effect"] == effects.ranked[0].value
    assert len(effects.to_frame()) == 56
    content = json.loads(json.dumps(effects.to_dict(), allow_nan=False))
    assert content["effects"][0]["cause"] == effects.ranked[0].cause
    without = td.causal_effects(td.example_table(), "smoke", draws=0)
    assert json.loads(json.dumps(without.to_dict(), allow_nan=False))["effects"][0]["lower"] is None


def test_the_picture(effects: td.types.CausalEffects) -> None:
    plots = pytest.importorskip("topdag.networks.drawing.plots")
    axes = effects.plot(5)
    assert next(tick.get_text() for tick in axes.get_yticklabels()) == "lung → xray"
    plots.pyplot().close(axes.figure)


# ---- Refusals


def test_mistakes_are_refused() -> None:
    table = td.example_table()
    with pytest.raises(td.NetworkError, match="did you mean 'smoke'"):
        td.causal_effects(table, "smok")
    with pytest.raises(td.NetworkError, match="did you mean 'lung'"):
        td.causal_effects(table, "smoke", "lungs")
    with pytest.raises(td.ScoreError, match="share= is a share"):
        td.causal_effects(table, share=0)
    with pytest.raises(td.ScoreError, match="draws must be a whole number"):
        td.causal_effects(table, draws=-1)
    with pytest.raises(td.ScoreError, match="level= is a share"):
        td.causal_effects(table, level=2)
    with pytest.raises(td.ScoreError, match="seed must be a whole number"):
        td.causal_effects(table, seed=0.5)  # type: ignore[arg-type]
    found = td.causal_effects(table, "smoke", ["lung", "bronc"], draws=0)
    assert set(found) == {("smoke", "lung"), ("smoke", "bronc")}
    with pytest.raises(td.ScoreError, match="a cause and an outcome"):
        found["smoke"]  # type: ignore[index]
    with pytest.raises(td.NetworkError, match="Not among the outcomes asked for: 'xray'; the outcomes asked for are"):
        found["smoke", "xray"]
    listed = td.k_best_networks(table, 3)
    with pytest.raises(td.ScoreError, match="prior= goes with a table"):
        td.causal_effects(listed, prior=FairPrior())
    with pytest.raises(td.ScoreError, match="constraints= goes with a table"):
        td.causal_effects(listed, constraints=td.Constraints())
    wanted = td.Constraints(ancestors=[("smoke", "dysp")])
    with pytest.raises(td.ConstraintError, match="averages over their lists"):
        td.causal_effects(table, constraints=wanted)


@pytest.mark.parametrize(
    ("cause", "outcome", "said"),
    [
        (0, None, "cause= is the name of a variable or several, not 0."),
        (None, 2.5, "outcome= is the name of a variable or several, not 2.5."),
        ([], None, "cause= names no variable"),
        ("smoke", (), "outcome= names no variable"),
        ("smoke", "smoke", "'smoke' is both cause and outcome"),
        (["smoke"], ["smoke", "smoke"], "'smoke' is both cause and outcome"),
        ("smoke", "lungs", "did you mean 'lung'"),
        ("smoke", "k", "'k' is constant"),
    ],
)
def test_names_are_checked_before_anything_is_scored(
    cause: Any, outcome: Any, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("topdag.questions.effects.scored_for", None)
    table = td.Table({**td.example_table(50).to_frame(), "k": ["same"] * 50})
    with pytest.raises((td.ScoreError, td.NetworkError), match=re.escape(said)):
        td.causal_effects(table, cause, outcome)


def test_scores_without_a_table_are_refused(tmp_path: object) -> None:
    path = f"{tmp_path}/scores.jkl"
    td.io.write_scores(path, td.score(drawn_table(1), td.BDeu()))
    with pytest.raises(td.ScoreError, match="Ask with the table"):
        td.causal_effects(td.io.read_scores(path, keep="all"))


def test_a_prior_network_without_some_states_is_refused() -> None:
    table = td.Table({"z": [0, 0, 1], "x": [0, 1, 0], "y": [0, 1, 1]})
    network = td.Network(("z", "x", "y"), {"x": ["z"]})
    tables = {"z": [0.5, 0.5], "x": [[0.5, 0.5], [1.0, 0.0]], "y": [0.5, 0.5]}
    prior = td.FittedNetwork(network, dict.fromkeys(network.names, (0, 1)), tables)
    with pytest.raises(td.ScoreError, match="probability 0 to a state of 'x'"):
        td.causal_effects(table, "x", "y", td.BDe(1.0, prior))


# ---- Stops


def test_no_time_gives_no_answer_and_ctrl_c_is_heard() -> None:
    scores = td.score(td.example_table(), td.BDeu())
    with pytest.raises(td.OutOfTime, match="causal_effects"):
        td.causal_effects(scores, time_limit=0)
    phases = []

    def press(progress: td.types.Progress) -> None:
        phases.append(progress.phase)
        if progress.phase == "adjusting for parents":
            press_ctrl_c()

    with pytest.raises(td.Interrupted):
        td.causal_effects(scores, on_progress=press)
    assert "adjusting for parents" in phases

    def stop(progress: td.types.Progress) -> None:
        if progress.phase == "adjusting for parents":
            raise LookupError

    with pytest.raises(LookupError):
        td.causal_effects(scores, on_progress=stop)


def test_wherever_it_is_stopped_there_is_the_whole_answer_or_none() -> None:
    scores = td.score(drawn_table(1), td.BDeu())

    def ask(limit: float) -> np.ndarray | None:
        try:
            return td.causal_effects(scores, draws=20, time_limit=limit, threads=1).matrix
        except td.OutOfTime:
            return None

    whole, readings = whole_answer(ask)
    assert whole is not None
    stops = stops_among(readings, np.random.default_rng(0), 12)
    found = []
    for stop in stops:
        with counted_clock():
            found.append(ask(stop))
    assert all(own is None or (own == whole).all() for own in found) and any(own is None for own in found)


def test_memory_is_asked_for_before_it_is_taken() -> None:
    with pytest.raises(td.TooLarge, match="memory_limit"):
        td.causal_effects(td.example_table(), memory_limit="1 kB")


@pytest.mark.parametrize("numbers", [False, True])
def test_what_nothing_may_follow_from_has_no_effect(numbers: bool) -> None:
    """Whatever the rows show: here both are the same."""
    draw = np.random.default_rng(3).normal(size=300)
    columns = {"x": draw, "y": draw + np.random.default_rng(4).normal(size=300) / 9, "z": draw[::-1]}
    table = td.Table(columns, **({"types": {"*": "continuous"}} if numbers else {"discretize": "median"}))
    known = td.Constraints(forbidden_edges=["x->*"])
    found = td.causal_effects(table, kind="bge" if numbers else "bdeu", constraints=known)
    for outcome in "yz":
        effect = found["x", outcome]
        assert (effect.value, effect.lower, effect.upper, effect.no_effect) == pytest.approx((0, 0, 0, 1), abs=1e-12)
    assert found["y", "x"].size > 0.5


def test_where_rows_and_networks_disagree_a_note_says_which_counts() -> None:
    """The outcome has one parent at most, which is the better cause: the other differs by rows alone."""
    rng = np.random.default_rng(2)
    x, z = rng.integers(0, 2, (2, 2000))
    y = (rng.random(2000) < 0.2 + 0.4 * z + 0.2 * x).astype(int)
    found = td.causal_effects(
        {"x": x, "z": z, "y": y}, "x", "y", max_parents=1, constraints=td.Constraints(leaves=["y"])
    )
    assert found["x", "y"].no_effect > 0.9 and found["x", "y"].lower > 0.1
    assert any("x -> y." in note and '"no effect" counts more' in note for note in found.notes)
    told = td.causal_effects({"x": x, "z": z, "y": y}, "x", "y", constraints=td.Constraints(leaves=["y"]))
    assert told["x", "y"].no_effect < 0.01 and not any("counts more" in note for note in told.notes)
