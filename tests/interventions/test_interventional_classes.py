"""Classes that neither independences nor experiments tell apart: against all networks on four and five variables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import reference

import topdag as td
from topdag._util.class_graph import interventional_graph
from topdag.answers.averages import edge_matrix


def key_of(masks: tuple[int, ...], targets: list[int]) -> object:
    """Skeleton, v-structures, and what a target leaves of the skeleton: edges into it are cut [Hauser & Bühlmann 2012,
    theorem 10]."""
    left = []
    for target in targets:
        cut = [0 if target >> x & 1 else mask for x, mask in enumerate(masks)]
        left.append(reference.equivalence_key(cut)[0])
    return (*reference.equivalence_key(masks), *left)


def targets_of(rng: np.random.Generator, n: int) -> list[int]:
    return [int(mask) for mask in rng.integers(1, 2**n, int(rng.integers(1, 4)))]


@pytest.mark.parametrize(("n", "seed"), [(3, 0), (3, 1), *((4, seed) for seed in range(5)), (5, 7), (5, 8)])
def test_edges_sizes_and_members(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    targets = targets_of(rng, n)
    every = reference.all_networks(n)
    if n == 5:  # what has the same independences as some
        some = (every[i] for i in rng.integers(0, len(every), 100))
        every = tuple({masks for own in some for masks in reference.equivalent_networks(own)})
    classes: dict[object, list[tuple[int, ...]]] = {}
    for masks in every:
        classes.setdefault(key_of(masks, targets), []).append(masks)
    names = [f"V{v}" for v in range(n)]
    by_name = [[names[v] for v in reference.members(target)] for target in targets]
    for members in classes.values():
        directed = tuple(int(np.bitwise_and.reduce([masks[x] for masks in members])) for x in range(n))
        graphs = {interventional_graph(masks, targets) for masks in members}
        assert len(graphs) == 1
        ((parents, neighbours),) = graphs
        assert parents == directed
        assert all(masks[x] & ~parents[x] & ~neighbours[x] == 0 for masks in members for x in range(n))
        found = td.EquivalenceClass(td.Network.from_masks(names, members[0]), by_name)
        assert found.size == len(members)
        assert {network.masks for network in found.members()} == set(members)


def test_members_score_the_same_and_others_do_not() -> None:
    """BDeu of a table with experiments is the same for just the members of an interventional class."""
    rng = np.random.default_rng(3)
    n, targets = 4, [0, 0, 2, 12]
    rows = rng.integers(0, 2, (80, n))
    given = [targets[i % 4] for i in range(80)]
    names = [f"V{v}" for v in range(n)]
    by_row = [[names[v] for v in reference.members(mask)] for mask in given]
    scores = td.score(td.Table(rows, names=names, interventions=by_row), td.BDeu())
    by_class: dict[object, set[float]] = {}
    for masks in reference.all_networks(n):
        value = round(sum(scores.store.value(x, mask) for x, mask in enumerate(masks)), 5)
        by_class.setdefault(key_of(masks, targets), set()).add(value)
    assert all(len(values) == 1 for values in by_class.values())
    assert len({value for values in by_class.values() for value in values}) > 0.9 * len(by_class)


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(td.NetworkError, match="no variable 'x'"):
        td.EquivalenceClass(td.Network(["a", "b"], {}), [["x"]]).size  # noqa: B018


@pytest.mark.parametrize("given", [5, "mek", ["mek"], [5]])
def test_experiments_are_lists_of_names(given: Any) -> None:
    with pytest.raises(td.NetworkError, match=r"a list of their own, such as \[\['raf'\]\]"):
        td.EquivalenceClass(td.Network(["raf", "mek"], {"mek": ["raf"]}), given)


# ---- Lists of such classes


def experiment(n: int, seed: int) -> tuple[td.Table, list[int], Callable[[int, int], float]]:
    """A table of few rows, so with ties, in which some targets were set; and the truth of its scores."""
    rng = np.random.default_rng(seed)
    targets = [0, *targets_of(rng, n)]
    rows = rng.integers(0, 2, (24, n))
    given = [targets[i % len(targets)] for i in range(len(rows))]
    names = [f"V{v}" for v in range(n)]
    by_row = [[names[v] for v in reference.members(mask)] for mask in given]
    table = td.Table(rows, names=names, interventions=by_row, states=dict.fromkeys(names, (0, 1)))
    local = reference.local_where_not_set(reference.bic, rows.tolist(), [1] * len(rows), (2,) * n, given)
    return table, targets, local


@pytest.mark.parametrize("seed", range(4))
def test_lists_of_classes_are_those_of_all_networks_grouped(seed: int) -> None:
    n = 4
    table, targets, local = experiment(n, seed)
    by_class: dict[object, float] = {}
    for masks in reference.all_networks(n):
        by_class[key_of(masks, targets)] = reference.network_score(local, masks)
    truth = sorted(by_class.values(), reverse=True)
    for k in (1, 7, 40):
        found = td.k_best_classes(table, k, "bic")
        assert found.proof.status is td.types.Status.PROVED and len(found) == k
        keys = [key_of(own.member.masks, targets) for own in found]
        assert len(set(keys)) == k
        np.testing.assert_allclose(found.scores, truth[:k], atol=1e-6)
        np.testing.assert_allclose([by_class[key] for key in keys], found.scores, atol=1e-6)
    within = td.classes_within(table, 30, "bic")
    behind = sum(truth[0] - value <= np.log(30) - 1e-6 for value in truth)
    assert behind <= len(within) <= sum(truth[0] - value <= np.log(30) + 1e-6 for value in truth)
    assert td.count_classes_within(table, 30, "bic") == len(within)
    networks = td.networks_within(table, 30, "bic")
    assert sum(within.sizes) == within.n_networks == len(networks)
    assert networks.n_classes(len(networks)) == len(within)
    for own, size in zip(within, within.sizes, strict=True):
        assert own.size == size == len({network.masks for network in own.members()})
    np.testing.assert_allclose(edge_matrix(within), edge_matrix(networks), atol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_classes_of_five_variables_under_constraints(seed: int) -> None:
    """A class counts when some member satisfies them."""
    n = 5
    table, targets, local = experiment(n, seed)
    known = td.Constraints(forbidden_edges=[("V0", "V1"), ("V2", "V3")], ancestors=[("V1", "V4")])
    names = table.names
    best: dict[object, float] = {}
    listed = td.networks_within(table, 20, "bic", constraints=known)
    for network in listed:
        best.setdefault(key_of(network.masks, targets), reference.network_score(local, network.masks))
    found = td.classes_within(table, 20, "bic", constraints=known)
    assert {key_of(own.member.masks, targets) for own in found} == set(best)
    assert all(known.allows(own.member) for own in found)
    assert found.n_networks == len(listed) and names == found.names


def test_a_class_in_a_list_shows_what_experiments_settle() -> None:
    """An edge that independences leave open, one end of which was set."""
    rng = np.random.default_rng(1)
    a = rng.integers(0, 2, 400)
    b = np.where(rng.random(400) < 0.1, 1 - a, a)
    was_set = np.arange(400) % 2 == 1
    b[was_set] = rng.integers(0, 2, int(was_set.sum()))
    columns = {"a": a.tolist(), "b": b.tolist()}
    plain = td.k_best_classes(columns, 1)[0]
    told = td.k_best_classes(columns, 1, interventions=[["b"] * bool(x) for x in was_set])[0]
    assert (plain.directed, plain.undirected) == ((), (("a", "b"),))
    assert (told.directed, told.undirected, told.size) == ((("a", "b"),), (), 1)
