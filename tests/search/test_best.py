"""The engine for listed families: the same answers as the lattice, whatever stops it and whatever it begins with."""

from __future__ import annotations

import math

import numpy as np
import pytest
import reference
from brute_force import network_scores, networks, values_of
from given_sizes import climb_little, give_sizes
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import sampled_table, tied_lists

import topdag as td
from topdag._util.bitsets import is_acyclic
from topdag._util.run import Run
from topdag.scoring.score import scores_from_lists
from topdag.scoring.scores import Scores
from topdag.search import best as searching
from topdag.search.best import _offer_parts, begin, best_score_of, listed_network, search_best
from topdag.search.components import parts_of
from topdag.search.family_lists import FamilyLists
from topdag.search.stores import ListStore

NAMES = [f"V{v}" for v in range(64)]
ORDER_BOUNDS = ("simple", "static", "dynamic", "cluster")


def as_scores(lists: FamilyLists) -> Scores:
    return scores_from_lists(lists, keep="all")


@settings(max_examples=150, deadline=None)
@given(tied_lists(), st.sampled_from(["search", "order search", "branch and cut"]))
def test_the_best_network_is_that_of_the_lattice(lists: FamilyLists, engine: str) -> None:
    scores = as_scores(lists)
    found = td.best_network(scores, engine=engine)
    truth = td.best_network(scores, engine="dense lattice")
    assert found.proof.status is truth.proof.status
    assert found.score == truth.score
    assert found.proof.gap == 0.0
    if found.network is not None:
        assert scores.of(found.network) == found.score


@settings(max_examples=100, deadline=None)
@given(tied_lists(), st.booleans())
def test_every_bound_of_order_search_proves_the_same(lists: FamilyLists, limited: bool) -> None:
    scores = as_scores(lists)
    truth = td.best_network(scores, engine="dense lattice")
    for bound in ORDER_BOUNDS:
        found = td.best_network(scores, engine="order search", bound=bound, memory_limit="1kB" if limited else None)
        if limited and found.proof.limit == "memory_limit":
            assert found.score <= truth.score <= found.proof.bound
            continue
        assert found.proof.status is truth.proof.status
        assert found.score == truth.score
        if found.network is not None:
            assert scores.of(found.network) == found.score


def test_patterns_leave_out_sets_that_the_simple_bound_expands() -> None:
    """Twelve variables with random parents, so that many cycles must be broken."""
    rng = np.random.default_rng(1)
    families: list[tuple[int, tuple[int, ...], float]] = [(x, (), -100.0) for x in range(12)]
    for x in range(12):
        threes = {tuple(sorted({*rng.choice(12, 3).tolist()} - {x})) for _ in range(12)} - {()}
        families += [(x, own, -float(rng.integers(0, 90))) for own in sorted(threes)]
    scores = as_scores(FamilyLists.build(NAMES[:12], families))
    found = {bound: td.best_network(scores, engine="order search", bound=bound) for bound in ORDER_BOUNDS}
    assert len({answer.score for answer in found.values()}) == 1
    assert all(answer.stats.engine.startswith("order search: best-first") for answer in found.values())
    expanded = {bound: answer.stats.work["sets expanded"] for bound, answer in found.items()}
    assert expanded["cluster"] < expanded["static"] < expanded["simple"] and expanded["dynamic"] < expanded["simple"]
    assert [bound for bound, answer in found.items() if "rounds" in answer.stats.work] == ["cluster"]


@pytest.mark.parametrize("bound", ["simple", "static", "dynamic", "cluster"])
def test_bounds_are_asked_for_of_tables_and_under_constraints(bound: str) -> None:
    table = sampled_table(6, 80, seed=2)
    answers = [
        td.best_network(table, engine=engine, bound=own) for engine, own in ((None, None), ("order search", bound))
    ]
    assert answers[0].network is not None and answers[1].score == answers[0].score
    child, parents = next((x, own) for x, own in answers[0].network.parents.items() if own)
    known = td.Constraints(not_ancestors=[(parents[0], child)])
    scores = td.score(table, td.BDeu(), keep="best", constraints=known)
    wanted = td.best_network(td.score(table, td.BDeu(), constraints=known))
    assert td.best_network(scores, engine="order search", bound=bound).score == wanted.score


@settings(max_examples=60, deadline=None)
@given(tied_lists(always_empty_set=True), st.integers(0, 3))
def test_a_search_that_is_stopped_has_a_valid_bound(lists: FamilyLists, sets: int) -> None:
    scores = as_scores(lists)
    best = float(np.max(network_scores(values_of(scores), networks(len(scores.columns)))))
    stopped = td.best_network(scores, engine="search", time_limit=0.0)
    assert stopped.proof.status is td.types.Status.STOPPED
    assert stopped.score <= best <= stopped.proof.bound
    assert stopped.proof.gap == stopped.proof.bound - stopped.score
    assert isinstance(scores.store, ListStore)
    known = begin(scores.store, Run())
    root = searching.solve_root(scores.store, Run(), known=known)
    searching._by_orders(known, root, Run(), sets)
    assert known.score_bound >= best


def test_components_are_searched_one_after_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two circles of three, the second fed by the first, and a variable at the end."""
    circle = [(x, (), -4.0) for x in range(7)] + [(x, ((x + 1) % 3,), -1.0) for x in range(3)]
    circle += [(x, (3 + (x - 2) % 3,), -1.0) for x in range(3, 6)] + [(3, (0, 4), -0.5), (6, (1, 5), -2.0)]
    scores = as_scores(FamilyLists.build(NAMES[:7], circle))
    calls: list[int] = []
    whole = searching._search_whole
    monkeypatch.setattr(searching, "_search_whole", lambda s, *how: calls.append(s.store.n) or whole(s, *how))
    found = td.best_network(scores, engine="search")
    assert sorted(calls) == [1, 3, 3]
    assert found.score == td.best_network(scores, engine="dense lattice").score


@settings(max_examples=60, deadline=None)
@given(tied_lists(always_empty_set=True), st.data())
def test_a_network_to_begin_with_is_never_lost(lists: FamilyLists, data: st.DataObject) -> None:
    scores = as_scores(lists)
    n = len(lists.names)
    masks = data.draw(st.sampled_from(reference.all_networks(n)))
    assert isinstance(scores.store, ListStore)
    listed = listed_network(scores.store, masks)
    assert listed is not None
    given_network = td.Network.from_masks(scores.names, list(masks))
    stopped = td.best_network(scores, engine="search", start=given_network, time_limit=0.0)
    assert stopped.score >= sum(scores.store.best_scores) - listed.cost
    assert td.best_network(scores, engine="search", start=given_network).score == td.best_network(scores).score


def test_a_start_of_other_variables_is_refused() -> None:
    scores = td.score(sampled_table(4, 50, seed=1), td.BIC(), keep="best")
    with pytest.raises(td.ScoreError, match="must have the variables of the scores"):
        td.best_network(scores, engine="search", start=td.Network(("A",), {"A": ()}))


def test_engines_are_asked_for_by_name() -> None:
    table = sampled_table(5, 80, seed=2)
    with pytest.raises(td.ScoreError, match="There is no engine 'lattice'; there are 'dense lattice', 'block lattice'"):
        td.best_network(table, engine="lattice")
    names = ["dense lattice", "block lattice", "search", "order search", "branch and cut"]
    answers = [td.best_network(table, engine=name) for name in names]
    assert len({round(answer.score, 9) for answer in answers}) == 1
    assert [answer.stats.engine.split(":")[0] for answer in answers] == names
    assert {answer.stats.reason for answer in answers} == {"asked for"}


@pytest.fixture
def sparse(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists from the sparse lattice, however few variables there are."""
    give_sizes(monkeypatch, small=0)


@pytest.mark.usefixtures("sparse")
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", [td.BIC(), td.BDeu()], ids=str)
def test_lists_from_few_sets_are_those_of_all(seed: int, kind: td.BIC | td.BDeu) -> None:
    table = sampled_table(6, 60, seed=seed)
    every = td.score(table, kind)
    for factor in (1.0, 3.0, 50.0):
        kept = td.score(table, kind, keep=td.Within(factor))
        found, truth = td.networks_within(kept, factor), td.networks_within(every, factor)
        assert found.stats.engine.startswith("sparse lattice")
        assert found.proof.status is truth.proof.status is td.types.Status.PROVED
        assert {tuple(row) for row in found.parents.tolist()} == {tuple(row) for row in truth.parents.tolist()}
        assert np.allclose(found.scores, truth.scores, rtol=0, atol=1e-6)
        assert td.count_classes_within(kept, factor) == td.count_classes_within(every, factor)
        assert len(list(td.iter_networks_within(kept, factor))) == len(truth)


@pytest.mark.usefixtures("sparse")
@pytest.mark.parametrize("k", [1, 7, 200])
def test_a_list_of_k_reaches_as_far_as_it_must(k: int) -> None:
    table = sampled_table(6, 60, seed=5)
    best_only = td.score(table, td.BIC(), keep="best")
    scores = Scores(**{**vars(best_only), "automatic": True})  # as if chosen for a larger table
    for ask in (td.k_best_networks, td.k_best_classes):
        found, truth = ask(scores, k), ask(td.score(table, td.BIC()), k)
        assert found.proof.status is td.types.Status.PROVED
        assert np.allclose(found.scores, truth.scores, rtol=0, atol=1e-6)
        assert found.floor == pytest.approx(truth.floor, abs=1e-6)


@pytest.mark.parametrize("unit", [0.0, 1.0, 1e4])
def test_a_list_ends_with_the_last_network_there_is(unit: float) -> None:
    """Three edges that may be left out, on more variables than the dense lattice takes, however much is lost."""
    n = 24
    families = [(x, (x - 1,), 0.0) for x in range(1, n)] + [(x, (), -unit * x) for x in (0, 5, 9, 23)]
    scores = as_scores(FamilyLists.build(NAMES[:n], families))
    found = td.k_best_networks(scores, 100)
    assert found.stats.engine.startswith("sparse lattice")
    assert found.scores.tolist() == [-unit * lost for lost in (0, 5, 9, 14, 23, 28, 32, 37)]
    assert (found.proof.status, found.floor) == (td.types.Status.PROVED, -math.inf)


def test_lists_without_any_network_say_so() -> None:
    """A ring in which every variable has the next one as its parent."""
    n = 24
    scores = as_scores(FamilyLists.build(NAMES[:n], [(x, ((x + 1) % n,), 0.0) for x in range(n)]))
    for found in (td.k_best_networks(scores, 3), td.networks_within(scores, 20)):
        assert (len(found), found.proof.status, found.proof.limit) == (0, td.types.Status.INFEASIBLE, None)
    assert td.count_networks_within(scores, 20) == 0
    assert list(td.iter_networks_within(scores, 20)) == []


@pytest.mark.usefixtures("sparse")
def test_lists_too_large_for_memory_say_so() -> None:
    kept = td.score(sampled_table(8, 40, seed=5), td.BIC(), keep=td.Within(1e6))
    found = td.networks_within(kept, 1e6, memory_limit=2000)
    assert (found.proof.status, found.proof.limit) == (td.types.Status.STOPPED, "memory_limit")
    in_order = td.Constraints(precedence=[("V0", "V1"), ("V1", "V2")])
    kept = td.score(sampled_table(8, 40, seed=5), td.BIC(), keep=td.Within(1e6), constraints=in_order)
    with pytest.raises(td.TooLarge, match="sets of variables lie on the way to networks so near the best"):
        td.networks_within(kept, 1e6, memory_limit=2000)


def test_sixty_variables_with_few_families(monkeypatch: pytest.MonkeyPatch) -> None:
    """A ring: every variable wants the next one as its parent, so one edge must go."""
    climb_little(monkeypatch)
    n = 60
    ring = [(x, (), -3.0 - x / 64) for x in range(n)] + [(x, ((x + 1) % n,), -1.0) for x in range(n)]
    scores = as_scores(FamilyLists.build(NAMES[:n], ring))
    answer = td.best_network(scores)
    assert answer.proof.status is td.types.Status.PROVED
    assert answer.score == -(n - 1) - 3.0
    assert answer.network is not None and answer.network.parents["V0"] == ()
    near = td.networks_within(scores, math.exp(1 / 64) * (1 + 1e-9))
    assert sorted(near.scores.tolist(), reverse=True) == [-(n + 2.0), -(n + 2.0) - 1 / 64]


def test_what_is_known_is_kept_up_to_date() -> None:
    scores = td.score(sampled_table(8, 100, seed=3), td.BIC(), keep="best")
    assert isinstance(scores.store, ListStore)
    known = begin(scores.store, Run())
    assert search_best(known, Run())
    assert known.is_proved and known.masks is not None
    assert known.work["rounds"] >= 0


@pytest.mark.parametrize("seed", range(4))
def test_the_best_network_with_a_family_by_search(seed: int) -> None:
    table = sampled_table(6, 60, seed=seed)
    every, best_only = td.score(table, td.BIC()), td.score(table, td.BIC(), keep="best")
    scores = Scores(**{**vars(best_only), "automatic": True})
    for variable, parents in (("V0", ()), ("V1", ("V0", "V3")), ("V5", ("V2",))):
        assert scores.family_bound(variable, parents) == pytest.approx(every.family_bound(variable, parents), abs=1e-6)
    with pytest.raises(td.ScoreError, match="family_bound needs more families"):
        best_only.family_bound("V0")


def chain_of(n: int, first: list[int], last: tuple[int, list[int], float] | None = None) -> Scores:
    """Each variable has its predecessor as its parent, the first one these."""
    families = [(x, [x - 1] if x else first, -1.0) for x in range(n)]
    lists = FamilyLists.build([f"v{x}" for x in range(n)], families + ([last] if last else []))
    return scores_from_lists(lists, keep="all")


def test_fewer_networks_than_asked_for() -> None:
    """However far behind the best they are."""
    assert len(td.k_best_networks(chain_of(24, []), 10)) == 1
    found = td.k_best_networks(chain_of(24, [], (23, [0, 1, 2], -2000.0)), 10)
    assert found.proof.status is td.types.Status.PROVED
    assert [network.score for network in found] == [-24.0, -2023.0]


def test_lists_where_no_network_is_allowed() -> None:
    for n in (5, 24):
        scores = chain_of(n, [n - 1])
        for found in (td.k_best_networks(scores, 3), td.networks_within(scores, 20)):
            assert len(found) == 0
            assert found.proof.status is td.types.Status.INFEASIBLE
            assert found.proof.limit is None
        assert td.count_networks_within(scores, 20) == 0
        assert not list(td.iter_networks_within(scores, 20))


def test_a_start_outside_the_space_is_not_an_answer() -> None:
    rows = [(a, b, a ^ b) for a in (0, 1) for b in (0, 1)] * 50
    table = td.Table(dict(zip("abc", map(list, zip(*rows, strict=True)), strict=True)))
    start = td.Network(list("abc"), {"a": [], "b": [], "c": ["a", "b"]})
    answer = td.best_network(td.score(table, td.AIC(), max_parents=1), start=start, time_limit=0.0)
    assert answer.network is not None
    assert max(map(len, answer.network.parents.values())) <= 1


@pytest.mark.parametrize("keep", [None, "best"])
def test_a_start_is_checked(keep: str | None) -> None:
    scores = td.score(td.example_table(), td.BIC(), keep=keep)  # type: ignore[arg-type]
    with pytest.raises(td.ScoreError, match="variables of the scores"):
        td.best_network(scores, start=td.Network(["x", "y"], {"x": [], "y": ["x"]}))
    with pytest.raises(td.ScoreError, match="must be a Network, not str"):
        td.best_network(scores, start="x")  # type: ignore[arg-type]


@pytest.mark.parametrize("engine", ["dense lattice", "block lattice"])
def test_an_engine_that_cannot_answer_says_so_at_once(engine: str) -> None:
    table = td.random_network(40, seed=1).sample(50, seed=1)
    for source in (table, td.score(table, td.BIC(), max_parents=1)):
        with pytest.raises(td.TooLarge, match=r"The lattice on 40 variables needs [0-9.]+ TB; 8 GB are allowed"):
            td.best_network(source, engine=engine, memory_limit="8GB")


def test_order_search_that_runs_out_of_memory_says_so() -> None:
    """By a bound that no linear program tightens: one might prove the optimum before."""
    rng = np.random.default_rng(22)
    families = [
        (x, parents, float(-rng.integers(0, 50) - (0 if parents else 60)))
        for x in range(12)
        for parents in [[], *([y] for y in range(12) if y != x), *([y, (y + 1) % 12] for y in range(12))]
        if x not in parents
    ]
    scores = scores_from_lists(FamilyLists.build([f"v{x}" for x in range(12)], families))
    answer = td.best_network(scores, engine="order search", bound="simple", memory_limit=1)
    assert answer.proof.status is td.types.Status.STOPPED
    assert answer.proof.limit == "memory_limit"


@settings(max_examples=100, deadline=None)
@given(tied_lists(), st.data())
def test_cuts_to_begin_with_change_no_answer(lists: FamilyLists, data: st.DataObject) -> None:
    """Whatever clusters they are: every network satisfies them."""
    store, run = as_scores(lists).store.listed, Run()
    plain = begin(store, run)
    is_proved = search_best(plain, run)
    some = st.integers(1, 2**store.n - 1).flatmap(
        lambda mask: st.tuples(st.just(mask), st.integers(1, mask.bit_count()))
    )
    known = begin(store, run, clusters=[*plain.clusters, *data.draw(st.lists(some, max_size=8))])
    assert search_best(known, run) == is_proved
    assert (known.masks is None) == (plain.masks is None)
    assert known.cost == plain.cost and known.bound == plain.bound


@settings(max_examples=40)
@given(tied_lists(variables=(2, 6), always_empty_set=True), st.integers(0, 6))
def test_a_search_that_is_stopped_keeps_what_its_parts_found(lists: FamilyLists, n_done: int) -> None:
    store = as_scores(lists).store.listed
    known = begin(store, Run())
    known.climb(1)
    assert known.masks is not None
    before, parts = known.cost, parts_of(store.candidates)
    allowed = list(known.masks)
    for part in parts[:n_done]:
        own = begin(part.store(lists.names), Run())
        assert search_best(own, Run()) and own.masks is not None
        for x, mask in zip(part.variables, own.masks, strict=True):
            allowed[x] = part.allowed_parents(mask)
    _offer_parts(known, parts, allowed)
    assert known.cost <= before and is_acyclic(known.masks)
    assert known.cost == sum(store.best_scores[x] - store.value(x, mask) for x, mask in enumerate(known.masks))
    if n_done >= len(parts):
        assert store.value_of(known.masks) == best_score_of(store)
