"""How many networks real tables have within a factor."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from list_checks import assert_in_order, scores_of
from published import DATA

import topdag as td

NETWORKS_WITHIN = {
    ("tic_tac_toe", "BDeu"): {3: 104, 20: 152, 150: 152},
    ("tic_tac_toe", "BIC"): {3: 192, 20: 192, 150: 544},
    ("wine", "BDeu"): {3: 222, 20: 8734, 150: 282_774},
    ("wine", "BIC"): {3: 308, 20: 3449, 150: 26_153},
    ("voting", "BDeu"): {3: 45, 20: 621, 150: 4359},
    ("voting", "BIC"): {3: 27, 20: 441, 150: 2222},
    ("zoo", "BDeu"): {3: 404, 20: 145_838},  # 150: slow_lists.py
    ("zoo", "BIC"): {3: 49, 20: 1111, 150: 21_679},
}


@pytest.mark.parametrize(("name", "kind"), NETWORKS_WITHIN)
def test_networks_within_a_factor_on_real_data(name: str, kind: str) -> None:
    scores = scores_of(name, kind)
    for factor, count in NETWORKS_WITHIN[name, kind].items():
        assert td.count_networks_within(scores, factor) == count
        if count < 30_000:
            found = td.networks_within(scores, factor)
            assert len(found) == count
            assert_in_order(found)
            assert np.array_equal(found.parents, td.k_best_networks(scores, count).parents)
            assert np.array_equal(found.parents, td.networks_within(scores, 1e3, at_most=count).parents)


def test_a_long_list_of_real_data() -> None:
    scores = scores_of("zoo", "BDeu")
    found = td.networks_within(scores, 20)
    assert len(found) == 145_838
    assert np.unique(found.parents, axis=0).shape == found.parents.shape
    assert (np.diff(found.scores) <= 0).all()
    assert found.scores[0] == pytest.approx(-565.761505, abs=1e-6)
    assert found.factors[-1] <= 20


def test_a_pruned_file_of_others_has_the_same_networks() -> None:
    """Scores that another program wrote and pruned for a factor of 3 [Liao et al. 2019]"""
    path = DATA / "scores" / "wine.bic.gap3.jkl"
    if not path.exists():
        pytest.skip(f"no {path}: the list of another program is not checked")
    scores = td.io.read_scores(path, keep=td.Within(3))
    found = td.networks_within(scores, 3)
    assert len(found) == td.count_networks_within(scores, 3) == 308
    assert found.scores[0] == pytest.approx(-1258.445909, abs=2e-6)
    own = td.networks_within(scores_of("wine", "BIC"), 3)
    place = [found.names.index(name) for name in own.names] if set(own.names) == set(found.names) else range(14)
    assert edge_sets(found, list(place)) == edge_sets(own, list(range(14)))
    with pytest.raises(td.ScoreError, match="within a factor of 3"):
        td.networks_within(scores, 3.01)


def edge_sets(found: td.types.NetworkList, place: list[int]) -> set[frozenset[tuple[int, int]]]:
    """The edges of each network by column; ``place``: where each column stands in the list."""
    column = {at: v for v, at in enumerate(place)}
    return {
        frozenset((column[p], column[x]) for x, mask in enumerate(masks) for p in reference.members(mask))
        for masks in found.parents.tolist()
    }
