"""Classes that neither independences nor experiments tell apart: against all networks on four and five variables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import reference

import topdag as td
from topdag._util.class_graph import interventional_graph


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
