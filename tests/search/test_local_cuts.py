"""Local cuts: they hold for every network, the weights they are made from break them, mixtures of networks never do."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from hypothesis import example, given
from hypothesis import strategies as st
from search_checks import HALF_CIRCLES, all_families, left_side, networks_of, store_of

from topdag import _core
from topdag.search.costs import Families
from topdag.search.family_lists import FamilyLists

LEAST = 0.02


def scattered(families: Families, rng: np.random.Generator, most: int) -> np.ndarray:
    """Weights on a few families of each variable, multiples of a twelfth, as a linear program may give them."""
    weights = np.zeros(families.size)
    for v in range(families.n):
        shares = rng.multinomial(12, np.ones(most) / most)
        np.add.at(weights, rng.integers(families.offsets[v], families.offsets[v + 1], most), shares / 12)
    return weights


def local_cuts(families: Families, weights: np.ndarray, members: int = 5) -> _core.Cuts:
    cuts = families.cuts()
    assert cuts.add_local(weights, members, 50, LEAST) == len(cuts)
    return cuts


@given(st.sampled_from([3, 4]), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_local_cuts_are_violated_and_hold_for_networks(n: int, most: int, seed: int) -> None:
    families = all_families(n)
    weights = scattered(families, np.random.default_rng(seed), most)
    cuts = local_cuts(families, weights)
    limits = cuts.limits()
    for cut in range(len(cuts)):
        assert left_side(families, cuts, cut, weights) < limits[cut]
        for masks in networks_of(n):
            assert left_side(families, cuts, cut, families.places(masks).astype(np.float64)) >= limits[cut]


@given(st.sampled_from([3, 4]), st.integers(1, 4), st.integers(0, 2**32 - 1))
@example(n=3, most=2, seed=1)
def test_weights_with_no_local_cut_are_nearly_a_mixture(n: int, most: int, seed: int) -> None:
    """What the cuts say is complete: with all variables looked at, the nearest mixture is as near as they say."""
    families = all_families(n)
    weights = scattered(families, np.random.default_rng(seed), most)
    found = len(local_cuts(families, weights)) > 0
    distance = distance_from_mixtures(families, weights)
    assert not (found and distance < 1e-9)
    assert found or distance < LEAST + 1e-6


def distance_from_mixtures(families: Families, weights: np.ndarray) -> float:
    """By a linear program: how much of the variables a mixture of networks must leave out so as to use no family more
    than it weighs, where a network may use any family with some of its parents instead."""
    import highspy

    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    support = np.flatnonzero(weights > 0)
    infinity = highspy.kHighsInf
    # Rows: the support, no more than its weight; one for the mixture.
    upper = np.append(weights[support], 1.0)
    lower = np.append(np.full(len(support), -infinity), 1.0)
    solver.addRows(len(upper), lower, upper, 0, np.zeros(len(upper), np.int32), np.zeros(0, np.int32), np.zeros(0))
    for uses in sorted(uses_of_orders(families, support)):
        missing = families.n - len(uses)
        entries = np.array([*uses, len(support)], dtype=np.int32)
        solver.addCol(float(missing), 0.0, infinity, len(entries), entries, np.ones(len(entries)))
    for row in range(len(support)):
        solver.addCol(1.0, 0.0, infinity, 1, np.array([row], dtype=np.int32), np.array([-1.0]))
    solver.run()
    return float(solver.getInfo().objective_function_value)


def uses_of_orders(families: Families, support: np.ndarray) -> set[tuple[int, ...]]:
    """The families of the support that the variables of a network can use, in every way; none is a way, too."""
    found: set[tuple[int, ...]] = set()
    for masks in networks_of(families.n):
        ways: list[tuple[int, ...]] = [()]
        for v, mask in enumerate(masks):
            own = [
                row
                for row, i in enumerate(support.tolist())
                if families.owners[i] == v and int(families.parents[i]) & ~mask == 0
            ]
            ways = [*ways, *((*way, row) for way in ways for row in own)]
        found.update(ways)
    return found


@given(st.sampled_from([3, 4]), st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_mixtures_of_networks_break_no_local_cut(n: int, size: int, seed: int) -> None:
    families, rng = all_families(n), np.random.default_rng(seed)
    shares = rng.dirichlet(np.ones(size))
    drawn = [networks_of(n)[i] for i in rng.integers(0, len(networks_of(n)), size)]
    weights = sum(share * families.places(masks) for share, masks in zip(shares, drawn, strict=True))
    assert len(local_cuts(families, np.asarray(weights))) == 0


def test_what_no_cluster_sees_a_local_cut_does() -> None:
    lists = FamilyLists.build("abcd", [(v, parents, 0.0) for v, parents in HALF_CIRCLES])
    families = Families.of_store(store_of(lists))
    assert len(families.core.separate(np.full(families.size, 0.5), 3, 50, 1e-6, 100_000, 1)[0]) == 0
    assert len(local_cuts(families, np.full(families.size, 0.5))) > 0
    assert len(local_cuts(families, np.full(families.size, 0.5), members=3)) == 0


def test_a_circle_breaks_the_cluster_of_its_variables() -> None:
    """A local cut of few variables is the cluster itself: at least one has no parent among them."""
    circle = [(0, [1]), (1, [2]), (2, [0]), (0, []), (1, []), (2, [])]
    families = Families.of_store(store_of(FamilyLists.build("abc", [(v, parents, 0.0) for v, parents in circle])))
    weights = np.array([float(mask != 0) for mask in families.parents.tolist()])
    cuts = local_cuts(families, weights)
    assert cuts.limits().tolist() == [1.0]
    for i in range(families.size):
        only = np.eye(families.size)[i]
        assert left_side(families, cuts, 0, only) == float(families.parents[i] == 0)


@pytest.mark.parametrize("n", [4, 70])
def test_many_variables_have_the_cuts_of_few(n: int) -> None:
    """The same families beside others, with sets of one word and of two."""
    far = n - 4
    families = [(v + far, [p + far for p in parents], 0.0) for v, parents in HALF_CIRCLES]
    lists = FamilyLists.build([f"V{v}" for v in range(n)], [*((v, [], 0.0) for v in range(far)), *families])
    listed = Families.of_store(store_of(lists))
    weights = np.append(np.ones(far), np.full(len(HALF_CIRCLES), 0.5))
    cuts = listed.cuts()
    assert cuts.add_local(weights, 4, 50, LEAST) > 0
    rows, counted, values = cuts.entries(0, np.ones(listed.size + n, dtype=np.uint8))
    own = [(int(c) - far, int(x)) for r, c, x in zip(rows, counted, values, strict=True) if r == 0 and c < listed.size]
    assert all(place >= 0 for place, _ in own)
    assert sum(x for _, x in own) / 2 < cuts.limits()[0]
    assert own == narrow_cut()


def narrow_cut() -> list[tuple[int, int]]:
    listed = Families.of_store(store_of(FamilyLists.build("abcd", [(v, p, 0.0) for v, p in HALF_CIRCLES])))
    cuts = local_cuts(listed, np.full(listed.size, 0.5), members=4)
    rows, counted, values = cuts.entries(0, np.ones(listed.size + 4, dtype=np.uint8))
    return [(int(c), int(x)) for r, c, x in zip(rows, counted, values, strict=True) if r == 0 and c < listed.size]


def test_families_with_more_parents_count_for_no_more() -> None:
    """Coefficients fall with parents, so that a network never breaks a cut by having more of them."""
    families = all_families(4)
    cuts = local_cuts(families, scattered(families, np.random.default_rng(5), 3))
    assert len(cuts) > 0
    for cut in range(len(cuts)):
        own = [left_side(families, cuts, cut, row) for row in np.eye(families.size)]
        for i, more in enumerate(families.parents.tolist()):
            for j in range(families.offsets[families.owners[i]], families.offsets[families.owners[i] + 1]):
                fewer = int(families.parents[j])
                if reference.members(fewer) != reference.members(more) and fewer & ~int(more) == 0:
                    assert own[i] <= own[j]
