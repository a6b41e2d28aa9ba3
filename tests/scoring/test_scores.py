"""The Scores object and everything that can be wrong with what is asked of it."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pytest
from strategies import CASES, Case, families, list_scores, prior_for, sampled_table, table_of

import topdag as td
from topdag.scoring.scores import Scores
from topdag.search.family_lists import FamilyLists

KINDS = [td.BDeu(), td.BIC(), td.AIC(), td.K2(), td.fNML(), td.qNML(), td.BDs()]
NOT_NUMBERS = [0, -1, 0.0, -0.5, math.nan, math.inf, -math.inf, True, "1", None, [1.0], 1e-101, 1e13]


@pytest.fixture(scope="module")
def table() -> td.Table:
    return td.example_table()


@pytest.fixture(scope="module")
def scores(table: td.Table) -> Scores:
    return td.score(table, td.BDeu())


@pytest.fixture(scope="module")
def listed() -> Scores:
    return list_scores(
        FamilyLists.build(
            ["a", "b", "c"],
            [
                (0, [], -3.25),
                (0, [1], -1.1),
                (1, [], -2.0),
                (2, [0, 1], -0.5),
                (2, [], -7.0),
            ],
        )
    )


# ---- Local scores


def test_parents_may_come_in_any_order(scores: Scores) -> None:
    expected = scores.local("dysp", ["bronc", "either", "smoke"])
    for order in itertools.permutations(["bronc", "either", "smoke"]):
        assert scores.local("dysp", order) == expected
        assert scores.local("dysp", list(order)) == expected
    assert scores.local("dysp") == scores.local("dysp", []) == scores.local("dysp", ())


def test_breakdown_and_sum_of_a_network(scores: Scores, table: td.Table) -> None:
    network = td.example_network().network
    parts = scores.breakdown(network)
    assert list(parts) == list(table.names)
    assert parts["lung"] == scores.local("lung", ["smoke"])
    assert scores.of(network) == math.fsum(parts.values())
    turned = td.Network(reversed(table.names), network.parents)
    assert scores.of(turned) == scores.of(network)
    with pytest.raises(TypeError):
        parts["lung"] = 0.0


def test_a_network_of_other_variables_is_refused(scores: Scores) -> None:
    for network in (td.Network(["asia"], {}), td.Network([*scores.names, "more"], {})):
        with pytest.raises(td.ScoreError, match="The network must have the variables of the scores: asia, tub"):
            scores.of(network)


@pytest.mark.parametrize(
    ("family", "message"),
    [
        (("lng", []), "There is no variable 'lng'; did you mean 'lung'"),
        (("lung", ["smok"]), "There is no variable 'smok'; did you mean 'smoke'"),
        (("lung", "smoke"), r"parents must be a list of names, such as \['smoke'\], not a text"),
        (("lung", ["smoke", "smoke"]), "A family names each variable once, not lung, smoke, smoke"),
        (("lung", ["lung"]), "A family names each variable once, not lung, lung"),
        (("lung", [0]), "There is no variable 0"),
        ((3, []), "There is no variable 3"),
    ],
)
def test_families_that_make_no_sense(scores: Scores, family: tuple, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        scores.local(*family)


def test_constant_columns_score_nothing() -> None:
    rows = table_of(np.array([[0, 1, 1], [0, 0, 0], [1, 1, 0]]), [2, 1, 2])
    for kind in KINDS:
        scores = td.score(rows, kind)
        assert scores.columns == (0, 2)
        assert scores.local("V1") == pytest.approx(0.0, abs=1e-12)
        assert scores.local("V1", ["V0"]) == pytest.approx(0.0, abs=1e-12)
        assert scores.local("V0", ["V1"]) == pytest.approx(scores.local("V0"))
        assert list(scores.families("V1")) == [((), 0.0)]


# ---- Families


@pytest.mark.parametrize("case", CASES, ids=repr)
@pytest.mark.parametrize("limit", [None, 0, 1, 2, 9])
def test_families_are_all_that_is_allowed(case: Case, limit: int | None) -> None:
    rows = sampled_table(5, 60, seed=2)
    scores = td.score(rows, case.make(rows), max_parents=limit)
    most = 4 if limit is None else min(limit, 4)
    allowed = sum(math.comb(4, size) for size in range(most + 1))
    assert scores.n_families == 5 * allowed
    for name in scores.names:
        found = list(scores.families(name))
        assert len(found) == len({parents for parents, _ in found}) == allowed
        for parents, value in found:
            assert name not in parents
            assert value == pytest.approx(scores.local(name, parents), rel=1e-9, abs=1e-8)


def test_families_of_an_unknown_variable(scores: Scores) -> None:
    with pytest.raises(ValueError, match="There is no variable 'xra'; did you mean 'xray'"):
        list(scores.families("xra"))


@pytest.mark.parametrize("keep", ["best", td.Within(1), td.Within(3.0), td.Within(1e300)])
def test_what_is_kept(table: td.Table, keep: object) -> None:
    """By definition: no proper subset of the parents scores (by more than epsilon) better."""
    everything, kept = td.score(table, td.BDeu()), td.score(table, td.BDeu(), keep=keep)
    epsilon = -1.0 if keep == "best" else math.log(keep.factor)
    for x, mask in families(len(table.names)):
        own = everything.store.value(x, mask)
        below = max(
            (everything.store.value(x, inner) for inner in range(mask) if inner & ~mask == 0), default=-math.inf
        )
        goes = below >= own if epsilon < 0 else below > own + epsilon
        assert kept.store.value(x, mask) == (-math.inf if goes else own)
    assert kept.keep == keep
    assert kept.n_families <= everything.n_families
    assert (kept.n_families == everything.n_families) == (keep == td.Within(1e300))


# ---- What it says about itself


def test_repr(scores: Scores, table: td.Table, listed: Scores) -> None:
    assert repr(scores) == "<BDeu(ess=1.0) scores of 8 variables, 1,024 families, kept for 'all'>"
    kept = td.score(table, td.BIC(), max_parents=1, keep=td.Within(20))
    assert "BIC() scores of 8 variables" in repr(kept)
    assert "kept for Within(factor=20)" in repr(kept)
    assert repr(listed) == "<scores from a file of 3 variables, 5 families, kept for 'best'>"


def test_the_space_is_described(table: td.Table, listed: Scores) -> None:
    space = td.score(table, td.BIC(), max_parents=2).describe_space()
    assert space.startswith("all networks on 8 variables with at most 2 parents each; local scores rounded to 2^-")
    assert "parents from 5 listed families" in listed.describe_space()


@pytest.mark.parametrize("kind", [td.BIC(), td.BDeu()])
def test_the_space_says_the_guarantee_that_the_grid_is_chosen_for(kind: td.BIC | td.BDeu) -> None:
    """5 n steps of the grid (docs/explanation/method.md), never more than 1e-6 nats."""
    for scores in (td.score(td.example_table(), kind), td.score(td.example_table(), kind, keep="best")):
        behind = float(scores.describe_space().split()[-2])
        assert behind == pytest.approx(5 * len(scores.columns) * 2.0**-scores.grid, rel=0.1) and behind <= 1e-6


def test_score_equivalence_is_known(table: td.Table, listed: Scores) -> None:
    known = {kind: td.score(table, kind).score_equivalent for kind in KINDS}
    assert [type(kind).__name__ for kind, holds in known.items() if holds] == ["BDeu", "BIC", "AIC", "qNML"]
    assert td.score(table, td.BDe(1.0, td.example_network())).score_equivalent
    assert not td.CustomScore(lambda family: 0.0).score_equivalent
    assert td.CustomScore(lambda family: 0.0, score_equivalent=True).score_equivalent
    assert not listed.score_equivalent


def test_scores_cannot_be_changed(scores: Scores) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        scores.keep = "best"
    with pytest.raises(dataclasses.FrozenInstanceError):
        scores.kind.ess = 2.0


def test_listed_scores(listed: Scores) -> None:
    assert listed.local("a", ["b"]) == -1.1  # as it stands in the file, not rounded
    assert listed.local("c", ["b", "a"]) == -0.5
    assert listed.n_families == 5
    with pytest.raises(td.ScoreError, match=r"The scores have no family 'b' with parents \(a\)"):
        listed.local("b", ["a"])
    answer = td.best_network(listed)
    assert answer.network.edges == (("b", "a"), ("a", "c"), ("b", "c"))
    assert answer.score == math.fsum([-1.1, -2.0, -0.5])


# ---- Settings


@pytest.mark.parametrize("ess", NOT_NUMBERS)
@pytest.mark.parametrize("kind", [td.BDeu, td.BDs, lambda ess: td.BDe(ess, td.example_network())])
def test_bad_equivalent_sample_sizes(kind, ess: object) -> None:
    with pytest.raises(td.ScoreError, match="ess must be a positive number"):
        kind(ess)


@pytest.mark.parametrize("ess", [1, 1.0, 1e-100, 1e12, np.float64(0.5)])
def test_good_equivalent_sample_sizes(table: td.Table, ess: float) -> None:
    assert math.isfinite(td.best_network(td.score(table, td.BDeu(ess))).score)


@pytest.mark.parametrize("kind", [td.BIC, td.BDeu, 3])
def test_bad_kinds(table: td.Table, kind: object) -> None:
    hint = rf".*; write {kind.__name__}\(\)" if isinstance(kind, type) else ""
    with pytest.raises(
        td.ScoreError, match=rf"kind must be a score such as BDeu\(\) or BIC\(\), or its name, .* not {hint}"
    ):
        td.score(table, kind)


@pytest.mark.parametrize("keep", ["most", 20, td.Within, ""])
def test_bad_keep(table: td.Table, keep: object) -> None:
    with pytest.raises(td.ScoreError, match='keep must be "all", "best" or Within'):
        td.score(table, td.BIC(), keep=keep)


@pytest.mark.parametrize("factor", [0.5, 0, -3, math.nan, math.inf, "20", None, True])
def test_bad_factors(factor: object) -> None:
    with pytest.raises(td.ScoreError, match="A Bayes factor is a number from 1 on"):
        td.Within(factor)


@pytest.mark.parametrize("limit", [-1, True, 1.0, "2", math.inf])
def test_bad_max_parents(table: td.Table, limit: object) -> None:
    with pytest.raises(td.ScoreError, match="max_parents must be a whole number from 0 on, or None"):
        td.score(table, td.BIC(), max_parents=limit)


# ---- BDe


def test_the_prior_of_bde_may_list_everything_in_another_order(table: td.Table) -> None:
    prior = prior_for(table, 3)
    names = tuple(reversed(prior.names))
    turned_network = td.Network(names, prior.network.parents)
    states = {name: tuple(reversed(prior.states[name])) for name in names}
    tables = {}
    for name in names:
        before, after = (*prior.network.parents[name], name), (*turned_network.parents[name], name)
        tables[name] = np.flip(prior.tables[name]).transpose([before.index(axis) for axis in after])
    turned = td.FittedNetwork(turned_network, states, tables)
    one, other = (td.score(table, td.BDe(5.0, p)) for p in (prior, turned))
    assert one.local("dysp", ["asia", "lung"]) == pytest.approx(other.local("dysp", ["asia", "lung"]), rel=1e-12)
    assert td.best_network(one).score == pytest.approx(td.best_network(other).score, rel=1e-12)


def test_bde_answers_have_local_scores_without_parents(table: td.Table) -> None:
    answer = td.best_network(td.score(table, td.BDe(1.0, prior_for(table, 1))))
    assert answer.network.roots
    assert answer.score == math.fsum(answer.network.local_scores.values())


def test_priors_that_do_not_fit_are_refused(table: td.Table) -> None:
    expert = td.example_network()
    with pytest.raises(td.ScoreError, match="BDe needs a prior, a FittedNetwork, not Network"):
        td.BDe(1.0, expert.network)
    other_states = td.FittedNetwork(expert.network, {**expert.states, "lung": ("y", "n")}, expert.tables)
    with pytest.raises(td.ScoreError, match="'lung' differs"):
        td.score(table, td.BDe(1.0, other_states))
    wider = td.random_network([*table.names, "more"], arcs=0, seed=1)
    named = td.FittedNetwork(wider.network, dict.fromkeys(wider.names, ("yes", "no")), wider.tables)
    with pytest.raises(td.ScoreError, match="has variables that the table has not"):
        td.score(table, td.BDe(1.0, named))
    impossible = td.Table(
        {**{name: ["yes", "no"] for name in table.names}, "either": ["no", "yes"]},
        states={name: ["yes", "no"] for name in table.names},
    )
    with pytest.raises(td.ScoreError, match=r"gives probability 0 to a row that occurs \(asia=.*either="):
        td.score(impossible, td.BDe(1.0, expert))


# ---- Custom scores


def test_a_custom_score_sees_each_family_once(table: td.Table) -> None:
    seen = []

    def function(family: td.types.Family) -> float:
        seen.append((family.variable, family.parents))
        assert family.counts.sum() == family.n_rows == 500
        assert family.counts.shape[1] == 2
        assert 1 <= family.counts.shape[0] <= family.n_parent_states == 2 ** len(family.parents)
        assert (family.counts.sum(axis=1) > 0).all()
        return -1.0

    scores = td.score(table, td.CustomScore(function), max_parents=2)
    assert len(seen) == len(set(seen)) == scores.n_families == 8 * (1 + 7 + 21)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, "x", None, [1.0], 1j])
def test_custom_scores_must_be_numbers(table: td.Table, value: object) -> None:
    kind = td.CustomScore(lambda family: value if family.parents == ("smoke",) else -1.0)
    with pytest.raises(td.ScoreError, match=r"custom score .* for 'asia' with parents \(smoke\)"):
        td.score(table, kind)


def test_what_a_custom_function_raises_comes_out(table: td.Table) -> None:
    def function(family: td.types.Family) -> float:
        raise ZeroDivisionError("in the function")

    with pytest.raises(ZeroDivisionError, match="in the function"):
        td.score(table, td.CustomScore(function))
    with pytest.raises(td.ScoreError, match="CustomScore needs a function"):
        td.CustomScore(3)


@pytest.mark.parametrize("size", [1e-300, 1e-12, 1.0, 1e6])
def test_numbers_of_any_size_are_told_apart(table: td.Table, size: float) -> None:
    """The grid follows the largest score, as long as it tells networks apart (see test_rounding.py)."""
    scores = td.score(table, td.CustomScore(lambda family: -size * (1 + len(family.parents))), max_parents=1)
    answer = td.best_network(scores)
    assert answer.network.edges == ()
    assert answer.score == pytest.approx(-8 * size)


@pytest.mark.parametrize("size", [1e13, 1e100, 1e301, 1e308])
def test_numbers_too_large_to_be_told_apart_are_refused(table: td.Table, size: float) -> None:
    with pytest.raises(td.ScoreError, match="too large"):
        td.score(table, td.CustomScore(lambda family: -size), max_parents=1)
    with pytest.raises(td.ScoreError, match="too large"):
        list_scores(FamilyLists.build(["a", "b"], [(0, [], -size), (1, [], -1.0)]))
