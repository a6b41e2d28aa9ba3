"""The best network: against the reference, against another DP, and on everything that other packages stumble over."""

from __future__ import annotations

import math

import numpy as np
import pytest
import reference
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from strategies import ALL_CASES, BDE, CASES, Case, list_scores, sampled_table, stored, table_of, tables, tied_lists

import topdag as td
from topdag.scoring.scores import Scores
from topdag.search.family_lists import FamilyLists

every_case = pytest.mark.parametrize("case", ALL_CASES, ids=repr)


def drawn_tables(case: Case, **options) -> st.SearchStrategy[td.Table]:
    if case is BDE:
        options = {**options, "most_cells": 120}
    if case.name in ("fNML", "qNML"):
        options = {"weights": ((1,), (1, 2, 5, 17)), **options}
    return tables(**options)


def assert_sound(answer: td.types.Answer, scores: Scores) -> None:
    """Acyclic (a Network always is), re-adds, within the limit on parents, constants isolated."""
    network = answer.network
    assert network is not None
    assert answer.score == network.score == math.fsum(network.local_scores.values())
    assert answer.score == pytest.approx(scores.of(network), rel=1e-12, abs=1e-12)
    for name in network.names:
        assert network.local_scores[name] == scores.local(name, network.parents[name])
        assert scores.max_parents is None or len(network.parents[name]) <= scores.max_parents
    active = {scores.names[v] for v in scores.columns}
    assert all({parent, child} <= active for parent, child in network.edges)


def assert_proved(answer: td.types.Answer, scores: Scores) -> None:
    assert_sound(answer, scores)
    assert answer.proof.status is td.types.Status.PROVED
    assert answer.proof.bound == answer.score
    assert answer.proof.gap == 0.0
    assert answer.proof.limit is None


def masks_on_columns(network: td.Network, scores: Scores) -> tuple[int, ...]:
    """The parents of the scored columns, as masks over them."""
    place = {scores.names[v]: i for i, v in enumerate(scores.columns)}
    return tuple(sum(1 << place[p] for p in network.parents[name]) for name in place)


def rule_network(local, n: int, slack: float = 0.0) -> tuple[int, ...]:
    """The tie rule of lattice.h, on exact sums: the last variable is the last column that may be last, and its
    parents are dropped from the last column on while the score stays, up to the slack."""
    best = {}

    def best_of(x: int, available: int) -> float:
        if (x, available) not in best:
            best[x, available] = reference.best_parents(local, n, x, available)[0]
        return best[x, available]

    forward = {0: 0.0}
    for placed in range(1, 2**n):
        forward[placed] = max(
            best_of(x, placed & ~(1 << x)) + forward[placed & ~(1 << x)] for x in reference.members(placed)
        )
    parents, placed = [0] * n, 2**n - 1
    while placed:
        x = next(
            x
            for x in reversed(reference.members(placed))
            if best_of(x, placed & ~(1 << x)) + forward[placed & ~(1 << x)] == forward[placed]
        )
        placed &= ~(1 << x)
        parents[x] = placed
        for v in reversed(reference.members(placed)):
            if best_of(x, parents[x] & ~(1 << v)) >= best_of(x, placed) - slack:
                parents[x] &= ~(1 << v)
    return tuple(parents)


# ---- Against the reference


@every_case
@settings(max_examples=15)
@given(st.data())
def test_best_of_random_tables(case: Case, data: st.DataObject) -> None:
    table = data.draw(drawn_tables(case, variables=(2, 5), most_states=3))
    kind = case.make(table)
    scores = td.score(table, kind, max_parents=data.draw(st.none() | st.integers(0, 4)))
    answer = td.best_network(scores)
    assert_proved(answer, scores)
    n = len(scores.columns)
    if n < 5:  # all networks
        best, _ = reference.best_networks(stored(scores), n)
    else:
        best = reference.best_score_by_orders(stored(scores), n)
    found = reference.network_score(stored(scores), masks_on_columns(answer.network, scores))
    assert best - n * scores.slack <= found <= best  # exact but for parents that add no more than rounding can
    assert answer.score == pytest.approx(best, rel=1e-9, abs=1e-6)


@settings(max_examples=150)
@given(tied_lists(variables=(1, 4)))
def test_best_of_lists_with_ties(lists: FamilyLists) -> None:
    scores = list_scores(lists)
    n = len(lists.names)
    local = stored(scores)
    answers = [td.best_network(scores, threads=threads) for threads in (1, 2, 3)]
    best, tied = reference.best_networks(local, n)
    for answer in answers:
        if best == -math.inf:
            assert answer.proof.status is td.types.Status.INFEASIBLE
            assert answer.network is None
            assert answer.score == answer.proof.bound == -math.inf
            assert answer.proof.gap == 0.0
            assert "no network is allowed" in str(answer)
            continue
        assert_proved(answer, scores)
        assert answer.score == best
        assert answer.network.masks in tied
        assert answer.network.masks == answers[0].network.masks == rule_network(local, n, scores.slack)


@settings(max_examples=25)
@given(tied_lists(variables=(5, 7), always_empty_set=True))
def test_best_of_longer_lists_by_orders(lists: FamilyLists) -> None:
    scores = list_scores(lists)
    n = len(lists.names)
    local = stored(scores)
    answers = [td.best_network(scores, threads=threads) for threads in (1, 2, 3)]
    best = reference.best_score_by_orders(local, n)
    for answer in answers:
        assert_proved(answer, scores)
        assert answer.score == best
        assert answer.network.masks == rule_network(local, n, scores.slack)


@every_case
@settings(max_examples=15)
@given(st.data())
def test_ties_are_broken_as_documented(case: Case, data: st.DataObject) -> None:
    table = data.draw(drawn_tables(case, variables=(3, 5), most_states=2, rows=(2, 5, 40)))
    scores = td.score(table, case.make(table))
    expected = rule_network(stored(scores), len(scores.columns), scores.slack)
    for threads in (1, 2, 3):
        answer = td.best_network(scores, threads=threads)
        assert masks_on_columns(answer.network, scores) == expected


@every_case
@settings(max_examples=10)
@given(st.data())
def test_pruning_keeps_the_best_score(case: Case, data: st.DataObject) -> None:
    table = data.draw(drawn_tables(case, variables=(2, 5), most_states=3))
    kind = case.make(table)
    limit = data.draw(st.none() | st.integers(0, 3))
    whole = td.best_network(td.score(table, kind, max_parents=limit))
    n_all = td.score(table, kind, max_parents=limit).n_families
    for keep in ("best", td.Within(1.0), td.Within(20.0)):
        scores = td.score(table, kind, max_parents=limit, keep=keep)
        answer = td.best_network(scores)
        assert_proved(answer, scores)
        assert answer.score == pytest.approx(whole.score, rel=1e-12, abs=1e-7)
        assert scores.n_families <= n_all


@settings(max_examples=25)
@given(tables(variables=(3, 4), most_states=3, rows=(5, 40), weights=((1,),)), st.sampled_from([1.0, 3.0, 50.0]))
def test_within_keeps_every_family_of_every_network_within(table: td.Table, factor: float) -> None:
    everything = td.score(table, td.BDeu())
    kept = td.score(table, td.BDeu(), keep=td.Within(factor))
    n = len(everything.columns)
    for _, masks in reference.networks_within(stored(everything), n, math.log(factor) - 1e-6):
        assert all(kept.store.value(x, mask) > -math.inf for x, mask in enumerate(masks))


@settings(max_examples=15, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(st.data())
def test_column_order_does_not_matter(data: st.DataObject) -> None:
    table = data.draw(tables(variables=(3, 7), rows=(5, 40, 150)))
    order = data.draw(st.permutations(range(table.n_variables)))
    turned = td.Table.from_codes(
        [table.names[v] for v in order],
        table.codes[list(order)],
        weights=table.weights,
        states=[table.states[v] for v in order],
    )
    for kind in (td.BDeu(), td.BIC(), td.BDs()):
        one, other = td.best_network(td.score(table, kind)), td.best_network(td.score(turned, kind))
        assert one.score == pytest.approx(other.score, rel=1e-9, abs=1e-6)


# ---- Larger tables, against a DP of our own


def numpy_best(scores: Scores) -> float:
    """best(x, Y) and F(Y) over all sets, one numpy line each; shares nothing with the core but the stored values."""
    n = len(scores.columns)
    sets = np.arange(2**n)
    best = []
    for x in range(n):
        low = (1 << x) - 1
        masks = np.arange(2 ** (n - 1))
        masks = masks & low | (masks & ~low) << 1
        if hasattr(scores.store, "joint"):
            below = scores.store.joint if scores.store.below[x] is None else scores.store.below[x]
            joint = scores.store.joint[masks | 1 << x]
            local = np.where(np.isneginf(joint), -np.inf, joint - np.where(np.isneginf(joint), 0.0, below[masks]))
        else:
            local = np.array([scores.store.value(x, int(mask)) for mask in masks])
        everywhere = np.full(2**n, -np.inf)
        everywhere[masks] = local
        for v in range(n):
            has = sets[sets >> v & 1 == 1]
            everywhere[has] = np.maximum(everywhere[has], everywhere[has ^ 1 << v])
        best.append(everywhere)
    forward = np.full(2**n, -np.inf)
    forward[0] = 0.0
    sizes = np.bitwise_count(sets)
    for size in range(1, n + 1):
        layer = sets[sizes == size]
        for x in range(n):
            own = layer[layer >> x & 1 == 1]
            forward[own] = np.maximum(forward[own], best[x][own ^ 1 << x] + forward[own ^ 1 << x])
    return float(forward[-1])


@pytest.mark.parametrize(
    ("n", "kind", "limit"),
    [
        (13, td.BDeu(), None),
        (14, td.K2(), None),
        (15, td.BIC(), 2),
        (16, td.BDeu(10), 3),
        (17, td.BIC(), None),
        (18, td.BDeu(), None),
    ],
)
def test_lattices_that_cross_block_sizes(n: int, kind: td.types.ScoreKind, limit: int | None) -> None:
    scores = td.score(sampled_table(n, 200, seed=n, states=(2, 3)), kind, max_parents=limit)
    answer = td.best_network(scores, threads=2)
    assert_proved(answer, scores)
    found = reference.network_score(scores.store.value, masks_on_columns(answer.network, scores))
    assert found == numpy_best(scores)
    assert td.best_network(scores, threads=3).network == answer.network


def test_a_family_store_that_crosses_block_sizes() -> None:
    scores = td.score(sampled_table(13, 60, seed=4), td.BDs())
    answer = td.best_network(scores)
    found = reference.network_score(scores.store.value, masks_on_columns(answer.network, scores))
    assert found == numpy_best(scores)


def test_a_list_that_crosses_block_sizes() -> None:
    table = sampled_table(17, 150, seed=9)
    everything, kept = td.score(table, td.BDeu()), td.score(table, td.BDeu(), keep="best")
    one, other = td.best_network(everything), td.best_network(kept)
    assert kept.n_families < everything.n_families / 100
    assert one.score == pytest.approx(other.score, rel=1e-12)
    found = reference.network_score(everything.store.value, masks_on_columns(other.network, everything))
    assert found == numpy_best(everything)


def test_no_network_scores_more_than_the_best_of_a_sample() -> None:
    """The network that made the data, its neighbours and a thousand random networks."""
    fitted = td.random_network(12, max_parents=3, seed=5)
    scores = td.score(fitted.sample(300, 1), td.BDeu())
    best = td.best_network(scores).score
    assert scores.of(fitted.network) <= best + 1e-9
    for seed in range(300):
        assert scores.of(td.random_network(list(scores.names), max_parents=3, seed=seed).network) <= best + 1e-9


# ---- Small and odd tables


@pytest.mark.parametrize("kind", [td.BDeu(), td.BIC(), td.AIC(), td.K2(), td.fNML(), td.qNML(), td.BDs()], ids=repr)
@pytest.mark.parametrize("keep_constant", [False, True])
def test_all_columns_constant(kind, keep_constant: bool) -> None:
    table = table_of(np.zeros((4, 7), int), [1] * 4, keep_constant=keep_constant)
    scores = td.score(table, kind)
    answer = td.best_network(scores)
    assert answer.proof.status is td.types.Status.PROVED
    assert answer.network.edges == ()
    assert answer.score == 0.0
    assert answer.notes == ("Columns 'V0', 'V1', 'V2', 'V3' are constant: they have one state.",)
    assert scores.n_families == (32 if keep_constant else 0)


@every_case
def test_one_varying_column(case: Case) -> None:
    table = table_of(np.array([[0] * 6, [0, 1, 0, 1, 1, 1], [0] * 6]), [1, 2, 1])
    kind = case.make(table)
    answer = td.best_network(td.score(table, kind))
    assert answer.proof.status is td.types.Status.PROVED
    assert answer.network.edges == ()
    assert answer.score == pytest.approx(case.truth(table, kind)(1, 0))


@every_case
@settings(max_examples=10)
@given(st.data())
def test_two_columns(case: Case, data: st.DataObject) -> None:
    table = data.draw(drawn_tables(case, variables=(2, 2)))
    kind = case.make(table)
    truth = case.truth(table, kind)
    options = [truth(0, 0) + truth(1, 0), truth(0, 0) + truth(1, 1), truth(0, 2) + truth(1, 0)]
    assert td.best_network(td.score(table, kind)).score == pytest.approx(max(options), rel=1e-9, abs=1e-6)


@every_case
def test_one_row(case: Case) -> None:
    table = table_of(np.array([[0], [1], [2], [0]]), [2, 2, 3, 2])
    kind = case.make(table)
    scores = td.score(table, kind)
    answer = td.best_network(scores)
    assert_proved(answer, scores)
    best, _ = reference.best_networks(case.truth(table, kind), 4)
    assert answer.score == pytest.approx(best, abs=1e-9)
    if case.name in ("BIC", "AIC"):  # nothing to explain: no arc, where others give the complete graph
        assert answer.network.edges == ()


def test_one_row_without_declared_states_has_no_arcs() -> None:
    answer = td.best_network(td.Table({"a": ["x"], "b": ["y"], "c": ["z"]}))
    assert answer.network.edges == ()
    assert answer.score == 0.0


@pytest.mark.parametrize("kind", [td.BDeu(), td.BIC(), td.K2()], ids=repr)
def test_constant_columns_stay_isolated(kind) -> None:
    table = td.example_table()
    columns = [table.states[v] for v in range(8)]
    codes = np.vstack([table.codes, np.zeros((2, table.n_distinct), int)])
    wider = td.Table.from_codes(
        [*table.names, "flat", "still"], codes, weights=table.weights, states=[*columns, ["x"], ["y"]]
    )
    plain, answer = td.best_network(td.score(table, kind)), td.best_network(td.score(wider, kind))
    assert answer.network.edges == plain.network.edges
    assert answer.score == pytest.approx(plain.score, rel=1e-12)
    assert "2 constant columns left isolated" in answer.proof.space
    assert any("'flat', 'still' are constant" in note for note in answer.notes)
    kept = td.Table.from_codes(wider.names, wider.codes, weights=wider.weights, states=wider.states, keep_constant=True)
    restored = td.best_network(td.score(kept, kind))
    assert restored.score == pytest.approx(plain.score, rel=1e-12)
    assert restored.network.edges == answer.network.edges  # parents that add nothing are dropped


@pytest.mark.parametrize("states", [2, 3])
def test_independent_columns_get_no_arcs(states: int) -> None:
    """Every combination equally often: independent in the data, not only in the truth."""
    codes = np.array(np.meshgrid(*[range(states)] * 4)).reshape(4, -1)
    table = table_of(codes, [states] * 4, [3] * codes.shape[1])
    for kind in (td.BIC(), td.AIC(), td.BDeu(), td.qNML()):
        assert td.best_network(td.score(table, kind)).network.edges == ()


def test_empty_cells_do_not_win() -> None:
    """0 ln 0 is 0: a parent set with an empty cell once won as NaN elsewhere, and asia became complete."""
    table = td.example_table(1000)
    for kind in (td.BIC(), td.BDeu()):
        network = td.best_network(td.score(table, kind)).network
        assert 4 <= network.n_edges <= 14
    rng = np.random.default_rng(11)
    drawn = table_of(rng.integers(0, 2, (4, 1000)), [2] * 4)
    assert td.best_network(td.score(drawn, td.BIC())).network.n_edges <= 1


def test_copied_columns_are_no_trouble() -> None:
    """A copy explains its original fully; elsewhere this scored minus infinity or gave dense graphs."""
    rng = np.random.default_rng(2)
    column = rng.integers(0, 2, 100)
    table = table_of(np.array([column, column, column, rng.integers(0, 2, 100)]), [2] * 4)
    scores = td.score(table, td.BIC())
    answer = td.best_network(scores)
    assert math.isfinite(answer.score)
    assert answer.network.n_edges == 2
    assert scores.local("V0", ["V1"]) == pytest.approx(-math.log(100))  # two parameters, nothing left to explain


def test_declared_states_that_never_occur_cost_what_they_should() -> None:
    codes = np.array([[0, 1, 0, 1], [0, 1, 1, 1]])
    narrow, wide = table_of(codes, [2, 2]), table_of(codes, [2, 5])
    for kind in (td.BIC(), td.AIC()):
        extra = math.log(4) / 2 if isinstance(kind, td.BIC) else 1.0
        assert td.score(wide, kind).local("V1") == pytest.approx(td.score(narrow, kind).local("V1") - 3 * extra)


# ---- Ways to ask


def test_a_frame_an_array_and_a_table_give_the_same(tmp_path) -> None:
    pandas = pytest.importorskip("pandas")
    table = td.example_table(60)
    rows = [row for row, weight in table.rows() for _ in range(weight)]
    frame = pandas.DataFrame(rows, columns=list(table.names))
    path = tmp_path / "rows.csv"
    frame.to_csv(path, index=False)
    expected = td.best_network(td.Table({name: frame[name].tolist() for name in table.names}))
    for source in (frame, path, str(path)):
        assert td.best_network(source).network == expected.network
        assert td.best_network(source).score == pytest.approx(expected.score)
    codes = table.codes.repeat(table.weights, axis=1).T
    assert td.best_network(codes).score == pytest.approx(expected.score)


def test_a_table_of_categories_is_scored_with_bic() -> None:
    table = td.example_table()
    answer = td.best_network(table)
    assert answer.kind == td.BIC()
    assert answer.network == td.best_network(td.score(table, td.BIC())).network


def test_the_answer_says_what_it_is() -> None:
    answer = td.best_network(td.score(td.example_table(), td.BIC(), max_parents=2))
    text = str(answer)
    assert "proved best among all networks on 8 variables with at most 2 parents each" in text
    assert f"score {answer.score:.6f}, BIC()" in text
    assert text.splitlines()[0] == "500 rows, 8 variables: 8 categories."
    assert answer.stats.sets == 256
    assert answer.stats.families == 8 * (1 + 7 + 21)
    assert answer.stats.engine == "dense lattice"
    assert set(answer.stats.phases) == {"counting", "sweeping", "ordering"}
    assert all(seconds >= 0 for seconds in answer.stats.phases.values())
    assert answer.stats.memory > 0
    assert answer.stats.peak_memory > 1e6


def test_asia_is_learned_as_published_elsewhere() -> None:
    """From many rows the class of the true network is found, but for the rare arc from asia to tub."""
    true = td.example_network().network
    network = td.best_network(td.score(td.example_table(50_000), td.BIC())).network
    skeleton = {frozenset(edge) for edge in network.edges}
    assert skeleton >= {frozenset(edge) for edge in true.edges} - {frozenset(("asia", "tub"))}


@pytest.mark.parametrize("case", CASES[:1], ids=repr)
def test_the_same_question_gives_the_same_answer_again(case: Case) -> None:
    table = sampled_table(10, 100, seed=3)
    answers = [td.best_network(td.score(table, case.make(table))) for _ in range(3)]
    assert len({answer.network for answer in answers}) == 1
    assert len({answer.score for answer in answers}) == 1
