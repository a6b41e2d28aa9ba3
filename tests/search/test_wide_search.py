"""The best network of more than 64 variables: known from parts, from other numberings, and from brute force inside."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from given_sizes import climb_little
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import list_scores, sampled_table, table_of, tied_lists

import topdag as td
from topdag import _core
from topdag._util.bitsets import masks_in, set_array
from topdag.scoring.score import scores_from_lists
from topdag.search.family_lists import FamilyLists
from topdag.search.stores import ListStore

Listed = list[tuple[int, list[int], float]]


@pytest.fixture(autouse=True, scope="module")
def little_climbing() -> Iterator[None]:
    """Thousands of climbs would take most of the time; what is proved does not depend on them."""
    with pytest.MonkeyPatch.context() as patch:
        climb_little(patch)
        yield


def families_in(lists: FamilyLists) -> Listed:
    index = {name: v for v, name in enumerate(lists.names)}
    found = []
    for v, name in enumerate(lists.names):
        found += [(v, [index[p] for p in parents], score) for parents, score in lists.families(name)]
    return found


def placed(lists: FamilyLists, places: list[int], n: int) -> FamilyLists:
    """The same families at other columns; the variables that are new have no parents."""
    names = [f"V{v}" for v in range(n)]
    families: Listed = [(places[x], [places[p] for p in parents], score) for x, parents, score in families_in(lists)]
    return FamilyLists.build(names, families + [(v, [], -1.0) for v in range(n) if v not in places])


@settings(max_examples=8)
@given(tied_lists(variables=(1, 5)), st.randoms(use_true_random=False))
def test_a_small_question_anywhere_among_many_variables(lists: FamilyLists, draw: object) -> None:
    n = draw.choice([70, 128, 129, 512, 600])  # type: ignore[attr-defined]
    places = draw.sample(range(n), len(lists.names))  # type: ignore[attr-defined]
    narrow = td.best_network(list_scores(lists), engine="search")
    wide = td.best_network(list_scores(placed(lists, places, n)), engine="search")
    assert wide.proof.status is narrow.proof.status
    if narrow.proof.status is td.types.Status.PROVED:
        assert wide.score == pytest.approx(narrow.score - (n - len(places)), abs=1e-9)


def ring(n: int) -> FamilyLists:
    """Every variable wants the next; one must do without, and the first loses least."""
    alone = [(x, [], -3.0 - x / 1024) for x in range(n)]
    return FamilyLists.build([f"V{v}" for v in range(n)], alone + [(x, [(x + 1) % n], -1.0) for x in range(n)])


@pytest.mark.parametrize(("n", "engine"), [(66, "search"), (80, "branch and cut"), (150, "search")])
def test_one_component_of_more_than_64_variables(n: int, engine: str) -> None:
    answer = td.best_network(list_scores(ring(n)), engine=engine)
    assert answer.proof.status is td.types.Status.PROVED
    assert answer.score == -3.0 - (n - 1)
    assert answer.network.parents["V0"] == ()
    assert all(answer.network.parents[f"V{v}"] == (f"V{(v + 1) % n}",) for v in range(1, n))


def tangled(n: int, seed: int) -> FamilyLists:
    """Families of neighbours in a circle, so that all variables hang together."""
    rng = np.random.default_rng(seed)
    families: Listed = []
    for x in range(n):
        families.append((x, [], -float(rng.integers(8, 20))))
        for away in (1, 2, n - 1):
            families.append((x, [(x + away) % n], -float(rng.integers(4, 16))))
        families.append((x, sorted(((x + 1) % n, (x - 1) % n)), -float(rng.integers(2, 8))))
    return FamilyLists.build([f"V{v}" for v in range(n)], families)


@pytest.mark.parametrize("seed", range(3))
def test_wide_sets_find_what_narrow_ones_find(seed: int) -> None:
    """Forty variables in one component: alone, and at columns up to the last beside variables without parents."""
    lists = tangled(40, seed)
    places = sorted(np.random.default_rng(seed).choice(128, 40, replace=False).tolist())
    narrow = td.best_network(list_scores(lists))
    # A ring of all others would keep the component narrow; hang them on it, so that nothing can be split off.
    others = [v for v in range(128) if v not in places]
    families: Listed = [(places[x], [places[p] for p in parents], s) for x, parents, s in families_in(lists)]
    families += [(v, [], -2.0) for v in others]
    wide = list_scores(FamilyLists.build([f"V{v}" for v in range(128)], families))
    answer = td.best_network(wide)
    assert answer.proof.status is td.types.Status.PROVED
    assert answer.score == narrow.score - 2.0 * len(others)


@pytest.mark.parametrize("seed", range(2))
def test_a_numbering_does_not_matter(seed: int) -> None:
    lists = tangled(70, seed)
    places = np.random.default_rng(seed).permutation(70).tolist()
    one, other = (td.best_network(list_scores(own)) for own in (lists, placed(lists, places, 70)))
    assert one.proof.status is other.proof.status is td.types.Status.PROVED
    assert one.score == other.score
    assert one.proof.bound == one.score


def test_two_blocks_of_one_table_have_their_own_optima() -> None:
    """Rows of one block cross all rows of the other, so no edge between them can pay."""
    left, right = sampled_table(33, 8, seed=1), sampled_table(33, 9, seed=2)
    rows = [(a, b) for a in range(8) for b in range(9)]
    crossed = zip((left, right), zip(*rows, strict=True), strict=True)
    codes = np.vstack([[own[at] for at in places] for part, places in crossed for own in coded(part)])
    table = table_of(codes, [2] * 66)
    whole = td.best_network(td.score(table, td.BIC(), max_parents=2))
    parts = (table_of(codes[:33], [2] * 33), table_of(codes[33:], [2] * 33))
    best = [td.best_network(td.score(part, td.BIC(), max_parents=2)) for part in parts]
    assert whole.proof.status is td.types.Status.PROVED
    assert whole.score == pytest.approx(sum(answer.score for answer in best), abs=1e-6)
    assert all((int(p[1:]) < 33) == (int(x[1:]) < 33) for x, own in whole.network.parents.items() for p in own)


def coded(table: td.Table) -> np.ndarray:
    return np.repeat(table.codes, table.weights, axis=1)


def test_an_answer_at_any_moment(tmp_path: Path) -> None:
    scores = list_scores(tangled(70, 7))
    early = td.best_network(scores, time_limit=0.0)
    checkpoint = tmp_path / "state.npz"
    whole = td.best_network(scores, checkpoint=checkpoint)
    assert early.score <= whole.score <= early.proof.bound
    assert td.best_network(scores, checkpoint=checkpoint).score == whole.score
    assert td.best_network(scores, start=whole.network, time_limit=0.0).score == whole.score


@pytest.mark.parametrize("n", [65, 128, 129, 512, 513, 2048])
def test_a_search_stopped_at_once_has_a_network_and_a_bound(n: int) -> None:
    """Families are then asked for one by one, whatever the width of sets."""
    early = td.best_network(list_scores(ring(n)), time_limit=0.0)
    assert early.proof.status is td.types.Status.STOPPED and early.network is not None
    assert early.score <= -3.0 - (n - 1) <= early.proof.bound


# ---- Tables of more than 128 columns


def chained_table(n: int, rows: int) -> td.Table:
    """Every second column copies the one before it, but for a few rows."""
    rng = np.random.default_rng(n)
    codes = rng.integers(0, 2, (n, rows))
    for v in range(1, n, 2):
        codes[v] = codes[v - 1] ^ (rng.random(rows) < 0.05)
    return table_of(codes, [2] * n)


def test_a_wide_table_from_data_to_proof() -> None:
    n, table = 132, chained_table(132, 40)
    scores = td.score(table, td.BIC(), max_parents=1)
    answer = td.best_network(scores)
    assert answer.proof.status is td.types.Status.PROVED
    families = {name: dict(scores.families(name)) for name in table.names}
    assert answer.score == pytest.approx(sum(families[x][own] for x, own in answer.network.parents.items()), abs=1e-6)
    pairs = {frozenset((f"V{v}", f"V{v - 1}")) for v in range(1, n, 2)}
    assert pairs <= {frozenset(edge) for edge in answer.network.edges}
    known = td.Constraints(forbidden_edges=[("V0", "V1"), ("V1", "V0")], required_edges=[("V2", f"V{n - 1}")])
    held = td.best_network(table, max_parents=1, constraints=known)
    assert held.proof.status is td.types.Status.PROVED and held.score < answer.score
    assert ("V2", f"V{n - 1}") in held.network.edges
    assert frozenset(("V0", "V1")) not in {frozenset(edge) for edge in held.network.edges}


# ---- What does not go beyond 64


@pytest.mark.parametrize("engine", ["dense lattice", "block lattice", "order search", "branching"])
def test_engines_for_fewer_variables_say_what_to_use(engine: str) -> None:
    with pytest.raises(td.TooLarge, match=rf'70 variables: engine="{engine}" takes at most 64.*up to 2,048'):
        td.best_network(list_scores(ring(70)), engine=engine)


def test_questions_for_fewer_variables_say_what_works() -> None:
    scores, table = scores_from_lists(ring(70), keep="all"), sampled_table(70, 30, seed=1)
    prior = td.EdgePrior({("V0", "V1"): 0.9})
    for what, ask in (
        ("edge prior", lambda: td.k_best_networks(table, 2, prior=prior)),
        ("edge prior", lambda: td.best_network(table, "bic", prior=prior)),
        ("a list of networks", lambda: td.search_networks(scores, 2)),
        ('keep="all"', lambda: td.score(table, td.BIC(), keep="all")),
        ("BDs", lambda: td.score(table, td.BDs(), max_parents=2)),
    ):
        with pytest.raises(td.TooLarge, match=r"at most 64\. With more, up to 2,048, the best networks") as refused:
            ask()
        assert what in str(refused.value)
    with pytest.raises(td.ScoreError, match="BIC or AIC"):
        td.score(table, td.BDeu())


# ---- Arrays of wide sets


@given(st.lists(st.integers(0, 2**128 - 1) | st.integers(0, 2**2048 - 1)))
def test_masks_survive_arrays(masks: list[int]) -> None:
    assert masks_in(set_array(masks, 2048)) == masks
    low = [mask & 2**64 - 1 for mask in masks]
    assert masks_in(set_array(low, 64)) == low


@settings(max_examples=30)
@given(tied_lists(variables=(2, 8), always_empty_set=True), st.integers(0, 2**32), st.integers(1, 32))
def test_climbing_is_the_same_on_wide_sets(lists: FamilyLists, seed: int, words: int) -> None:
    """Wide sets for few variables: the same orders are met, so the same network is found."""
    store = list_scores(lists).store
    assert isinstance(store, ListStore)
    rows = np.zeros((len(store.parents), words), dtype=np.uint64)
    rows[:, 0] = store.parents
    weights = np.full(len(store.rounded), 0.5)
    narrow, wide = store.candidates, _core.Candidates(store.n, store.lists.offsets, rows, store.rounded)
    assert (wide.n_variables, wide.size) == (narrow.n_variables, narrow.size)
    assert _core.climb_orders(wide, 5, seed, _core.Limits()) == _core.climb_orders(narrow, 5, seed, _core.Limits())
    assert _core.undominated(wide).size == _core.undominated(narrow).size
    assert _core.components(wide) == _core.components(narrow)
    for variables, before in _core.components(narrow):
        for one, other in zip(
            _core.component_families(wide, variables, before),
            _core.component_families(narrow, variables, before),
            strict=True,
        ):
            assert one.tolist() == other.tolist()
    families, rows_of_families = (_core.ClusterFamilies(store.lists.offsets, sets) for sets in (store.parents, rows))
    cuts, found = (of.separate(weights, 2, 20, 1e-4, 1000, 1) for of in (families, rows_of_families))
    assert [part.tolist() for part in found] == [part.tolist() for part in cuts]
    near, wide_near = (_core.climb_from_weights(of, families, weights) for of in (narrow, wide))
    assert near == wide_near


def test_sets_have_at_most_32_words() -> None:
    rows = np.zeros((1, 33), dtype=np.uint64)
    with pytest.raises(ValueError, match="too many variables"):
        _core.Candidates(1, np.array([0, 1]), rows, np.zeros(1))
    wide = _core.Candidates(1, np.array([0, 1]), rows[:, :2].copy(), np.zeros(1))
    with pytest.raises(TypeError):
        _core.simple_bound(wide)
