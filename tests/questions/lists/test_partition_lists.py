"""Lists by partition, on few variables: the same lists, counts and streams as from lattices, but for the order of
ties, and the same for every number of threads."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from ctrl_c import press_ctrl_c
from given_sizes import AS_LISTS
from hypothesis import given, settings
from hypothesis import strategies as st
from list_checks import all_listed, assert_in_order, random_lists
from stop_cases.counted import answer_at, readings_of
from strategies import sampled_table, tables, tied_lists

import topdag as td
from topdag._util.bitsets import is_acyclic
from topdag._util.class_graph import class_graph, class_members
from topdag.answers.lists import BestList
from topdag.cli.list_text import proof_in_words
from topdag.questions.decide import Question, decide
from topdag.questions.listing import partition
from topdag.questions.listing.sources import Wanted
from topdag.questions.request import Request
from topdag.scoring.keep import MOST_IN_A_LIST
from topdag.search.engines import Engine, sizes_given
from topdag.search.family_lists import FamilyLists
from topdag.search.reach import LARGEST_REACH

PARTITION = {"partition": 0, "small": 0, **AS_LISTS}
FACTORS = (1.0, 1.5, 20.0)


def by_partition(scores: td.types.Scores, ask: Callable[..., Any], *asked: Any, **options: Any) -> Any:
    with sizes_given(**PARTITION):
        engine = decide(Request.from_scores(scores), Question.LIST).engine
        assert engine is Engine.PARTITION
        return ask(scores, *asked, **options)


def as_lists(table: td.Table, kind: Any, **options: Any) -> td.types.Scores:
    """Lists for the best network, made anew where more is asked for, as of many variables."""
    with sizes_given(**PARTITION):
        return td.score(table, kind, **options)


def keys(found: BestList[Any]) -> set[object]:
    rows = found.parents.tolist()
    return (
        set(map(tuple, rows)) if isinstance(found, td.types.NetworkList) else {class_graph(tuple(row)) for row in rows}
    )


def assert_same(found: BestList[Any], truth: BestList[Any], whole: BestList[Any]) -> None:
    """The same scores, and of what does not tie with the last the same networks or classes; all of ``whole``."""
    assert_in_order(found)
    assert found.proof.status is truth.proof.status and found.proof.limit is None
    assert np.allclose(found.scores, truth.scores, rtol=0, atol=1e-6) and len(found) == len(truth)
    assert keys(found) <= keys(whole)
    if len(found):
        assert found.proof.gap == 0.0 and found.proof.bound == found.scores[0]
        assert (whole.scores > found.floor + 1e-6).sum() <= len(found)


def assert_all_same(listed: td.types.Scores, every: td.types.Scores, k: int, factor: float) -> None:
    asks = [(td.k_best_networks, td.networks_within)]
    asks += [(td.k_best_classes, td.classes_within)] if listed.score_equivalent else []
    for best, near in asks:
        found = by_partition(listed, best, k)
        whole = best(every, 3_000)
        assert_same(found, best(every, k), whole)
        again = by_partition(listed, best, k, threads=3)
        assert np.array_equal(again.parents, found.parents)
        assert_same(by_partition(listed, near, factor), near(every, factor), whole)
        assert_same(by_partition(listed, near, factor, at_most=3), near(every, factor, at_most=3), whole)
    n_near = td.count_networks_within(every, factor)
    assert by_partition(listed, td.count_networks_within, factor) == n_near
    assert len(set(by_partition(listed, lambda *asked: list(td.iter_networks_within(*asked)), factor))) == n_near
    if listed.score_equivalent:
        assert by_partition(listed, td.count_classes_within, factor) == td.count_classes_within(every, factor)


@settings(max_examples=4)
@given(
    tables(variables=(3, 4), most_states=3, rows=(5, 40), weights=((1,),)),
    st.sampled_from([1, 2, 10]),
    st.sampled_from(FACTORS),
)
def test_tables_with_ties(table: td.Table, k: int, factor: float) -> None:
    for kind, limit in ((td.BIC(), None), (td.BDeu(), 2), (td.K2(), 2)):
        listed, every = as_lists(table, kind, max_parents=limit), td.score(table, kind, max_parents=limit)
        if len(listed.columns) > 2:  # with fewer there are no ten classes
            assert listed.automatic
            assert_all_same(listed, every, k, factor)


@settings(max_examples=25)
@given(tied_lists(variables=(1, 4)), st.sampled_from([1, 3, 30, 1000]), st.sampled_from(FACTORS))
def test_given_lists(lists: FamilyLists, k: int, factor: float) -> None:
    """Not score-equivalent: networks are listed one by one."""
    assert_all_same(all_listed(lists), all_listed(lists), k, factor)


@pytest.mark.parametrize("seed", range(3))
def test_six_variables(seed: int) -> None:
    table = sampled_table(6, 25 if seed else 400, seed=seed)
    assert_all_same(as_lists(table, td.BIC()), td.score(table, td.BIC()), 30, 3.0)


KNOWN = [
    {"forbidden_edges": [("V0", "V1"), ("V2", "V1"), ("V3", "V0")]},
    {"required_edges": [("V1", "V0")], "forbidden_edges": [("V3", "V4")]},
    {"max_parents": {"V0": 1, "V3": 0}, "required_edges": [("V3", "V2")]},
    {"tiers": [["V0", "V1"], ["V2"], ["V3", "V4"]]},
]


@pytest.mark.parametrize("known", KNOWN, ids=str)
def test_what_is_known_of_families(known: dict[str, Any]) -> None:
    """A class is listed when some member satisfies it, and stands with such a member."""
    constraints = td.Constraints(**known)
    table = sampled_table(5, 60, seed=len(known))
    every, listed = (make(table, td.BIC(), constraints=constraints) for make in (td.score, as_lists))
    assert every.compiled is not None and every.compiled.is_local
    assert_all_same(listed, every, 5, 50.0)
    found = by_partition(listed, td.classes_within, 50.0)
    assert every.compiled.admit(found.parents).all()


@pytest.mark.parametrize("seed", range(3))
def test_priors_of_families(seed: int) -> None:
    prior = td.EdgePrior({("V0", "V1"): 0.9, ("V2", "V3"): 0.2})
    table = sampled_table(5, 60, seed=seed)
    listed, every = as_lists(table, td.BIC(), keep="all"), td.score(table, td.BIC())
    with sizes_given(**PARTITION):
        found = td.k_best_networks(listed, 20, prior=prior)
    truth = td.k_best_networks(every, 20, prior=prior)
    assert_same(found, truth, td.k_best_networks(every, 29_281, prior=prior))
    assert found.stats.engine.startswith("partition")


def test_ten_best_begin_the_hundred_best() -> None:
    scores = as_lists(sampled_table(7, 60, seed=3), td.BIC())
    for ask in (td.k_best_networks, td.k_best_classes):
        long = by_partition(scores, ask, 100)
        for k in (1, 2, 10, 37):
            short = by_partition(scores, ask, k)
            assert np.array_equal(short.scores, long.scores[:k])
            assert np.array_equal(short.parents, long.parents[:k])


def test_a_stopped_list_begins_with_the_best_network_found() -> None:
    """Once any network is known; and it says up to where it is complete."""
    scores = as_lists(sampled_table(6, 60, seed=3), td.BIC())
    for ask in (td.k_best_networks, td.k_best_classes):
        whole = by_partition(scores, ask, 40)

        def asked(limit: float, ask: Any = ask) -> Any:
            return by_partition(scores, ask, 40, time_limit=limit, threads=1)

        found = [answer_at(asked, stop) for stop in np.geomspace(1, readings_of(asked) // 2, 12).astype(int).tolist()]
        known = [len(early) > 0 for early in found]
        assert known == sorted(known) and sum(known) > 6
        for early in found:
            assert early.proof.status is td.types.Status.STOPPED and early.proof.bound >= whole.scores[0]
            assert len(early) <= 1 or early.floor <= early.scores[-1]
            words = proof_in_words(early, Wanted("A list", 40))
            assert ("not proved" in words) == (len(early) > 0 and early.floor > early.scores[0])
            assert (whole.scores > early.floor).sum() == (early.scores > early.floor).sum()


def test_crowded_lists_are_read_from_a_lattice() -> None:
    """Once they are scored; before, nobody knows how crowded they will be."""
    table = sampled_table(6, 400, seed=1)
    with sizes_given(**(PARTITION | {"crowded": 1})):
        found = td.k_best_networks(table, 10, td.BIC())
    assert found.stats.engine.startswith("sparse lattice")
    assert np.allclose(found.scores, by_partition(as_lists(table, td.BIC()), td.k_best_networks, 10).scores)


def test_no_network_at_all() -> None:
    lists = FamilyLists.build(["a", "b"], [(0, [1], -1.0), (1, [0], -1.0)])
    found = by_partition(all_listed(lists), td.k_best_networks, 3)
    assert len(found) == 0 and found.proof.status is td.types.Status.INFEASIBLE
    assert by_partition(all_listed(lists), td.count_networks_within, 20) == 0


def test_so_does_a_list_that_is_read_from_a_sparse_lattice() -> None:
    with sizes_given(small=0, **AS_LISTS):
        scores = td.score(sampled_table(6, 60, seed=3), td.BIC())

        def asked(limit: float) -> Any:
            return td.k_best_networks(scores, 40, time_limit=limit, threads=1)

        assert "sparse" in asked(100.0).stats.engine
        stops = np.linspace(1, readings_of(asked) // 2, 12).astype(int).tolist()
        found = [answer_at(asked, stop) for stop in stops]
    best = max(early.scores[0] for early in found if len(early))
    known = [len(early) > 0 for early in found]
    assert known == sorted(known) and sum(known) > 6
    assert all(early.floor >= best - 1e-6 or early.scores[0] == pytest.approx(best) for early in found)


@pytest.mark.parametrize("seed", range(2))
def test_where_too_many_sets_matter_partition_takes_over(seed: int) -> None:
    """Lists, counts and streams that begin with a sparse lattice, as of up to 30 variables."""
    table = sampled_table(6, 25 if seed else 400, seed=seed)
    with sizes_given(small=0, **AS_LISTS):
        listed, truth = td.score(table, td.BIC()), td.k_best_classes(table, 12, td.BIC())
        assert td.k_best_classes(listed, 12).stats.engine.startswith("sparse lattice")
        n_near = td.count_networks_within(listed, 5.0)
    with sizes_given(small=0, few_sets=1, sets_for_an_item=0, **AS_LISTS):
        found = td.k_best_classes(listed, 12)
        assert found.stats.engine.startswith("partition")
        assert np.allclose(found.scores, truth.scores, rtol=0, atol=1e-6)
        assert td.count_networks_within(listed, 5.0) == n_near == len(set(td.iter_networks_within(listed, 5.0)))
        assert td.count_classes_within(listed, 5.0) == len(td.classes_within(listed, 5.0))
        assert len(td.networks_within(listed, 5.0)) == n_near


@pytest.fixture(scope="module")
def pairs() -> td.types.Scores:
    """Of 68 variables of which two and two hang together: each of the best classes has more networks than a list."""
    rng = np.random.default_rng(5)
    causes = rng.integers(0, 2, (34, 20_000))
    columns = [*causes, *(causes ^ (rng.random(causes.shape) < 0.3))]
    return td.score({f"v{i}": column for i, column in enumerate(columns)}, td.BIC(), max_parents=1)


def test_counts_are_exact_beyond_what_a_list_holds(pairs: td.types.Scores) -> None:
    best = td.k_best_classes(pairs, 3)
    factor = float(best.factors[-1]) * (1 + 1e-9)
    assert best[0].size > MOST_IN_A_LIST
    assert td.count_networks_within(pairs, factor) == sum(own.size for own in td.classes_within(pairs, factor))


def test_members_of_a_class_are_listed_as_long_as_there_is_time(
    pairs: td.types.Scores, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A list that is stopped among networks that tie is complete above their score, and has some of them."""
    whole = td.networks_within(pairs, 1.0, at_most=5_000)
    assert whole.proof.status is td.types.Status.PROVED and len(whole) == 5_000

    def stopped_by_the_user(key: Any) -> Any:
        for place, masks in enumerate(class_members(key)):
            if place == 2_500:
                press_ctrl_c()
            yield masks

    monkeypatch.setattr(partition, "class_members", stopped_by_the_user)
    with pytest.raises(td.Interrupted) as stopped:
        td.networks_within(pairs, 1.0, at_most=5_000)
    early = stopped.value.answer
    assert early.proof.status is td.types.Status.STOPPED and early.floor == early.scores[-1] == whole.scores[0]
    assert len(early) == 2_000 and np.array_equal(early.parents, whole.parents[:2_000])


def drawn_edges(seed: int) -> list[tuple[str, str]]:
    """A few among six of many variables."""
    rng = np.random.default_rng(seed)
    pairs = [(f"V{a}", f"V{b}") for a in range(6) for b in range(6) if a != b]
    return [pairs[place] for place in rng.choice(len(pairs), 7, replace=False)]


def networks_of(edges: list[tuple[str, str]], allows: Callable[[td.Network], bool], names: Sequence[str]) -> set[Any]:
    """All networks of some of these edges."""
    found = set()
    for chosen in range(1 << len(edges)):
        own = [edge for place, edge in enumerate(edges) if chosen >> place & 1]
        masks = tuple(sum(1 << names.index(a) for a, b in own if b == name) for name in names)
        if is_acyclic(masks) and allows(td.Network.from_edges(names, own)):
            found.add(masks)
    return found


@pytest.mark.parametrize(("rule", "seed"), [(None, 0), ("ancestors", 0), ("not_ancestors", 1)])
def test_more_than_there_are(rule: str | None, seed: int) -> None:
    """Of many variables of which constraints leave few families; the list is proved to be all there are."""
    table, edges = td.random_network(32, seed=seed).sample(50, seed=seed), drawn_edges(seed)
    forbidden = [(a, b) for a in table.names for b in table.names if a != b and (a, b) not in edges]
    more = {} if rule is None else {rule: edges[:1]}
    known = td.Constraints(forbidden_edges=forbidden, **more)
    truth = networks_of(edges, td.Constraints(**more).allows, table.names)
    for found, expected in (
        (td.k_best_networks(table, len(truth) + 1, "bic", constraints=known), truth),
        (td.k_best_classes(table, len(truth) + 1, "bic", constraints=known), set(map(class_graph, truth))),
    ):
        assert "partition" in found.stats.engine
        assert keys(found) == expected and len(found) == len(expected)
        assert found.proof.status is td.types.Status.PROVED and found.proof.limit is None
        assert found.floor == -math.inf


def test_more_than_there_are_however_far_behind() -> None:
    """By thousands of nats, which no Bayes factor can say."""
    scores = all_listed(random_lists(4, 2, spread=6, missing=0.5, unit=1000.0))
    truth = td.k_best_networks(scores, 1_000)
    assert truth.scores[0] - truth.scores[-1] > 2 * LARGEST_REACH and truth.floor == -math.inf
    found = by_partition(scores, td.k_best_networks, 1_000)
    assert np.array_equal(found.scores, truth.scores) and keys(found) == keys(truth)
    assert found.proof.status is td.types.Status.PROVED and found.floor == -math.inf
