"""Classifier structures: the constraints mean what they should, and the best network is the best of them."""

from __future__ import annotations

from itertools import product

import pytest
from strategies import sampled_table

import topdag as td

NAMES = ("V0", "V1", "V2", "V3")


def networks() -> list[td.Network]:
    found = []
    for masks in product(*[[m for m in range(16) if not m >> x & 1] for x in range(4)]):
        try:
            found.append(td.Network.from_masks(NAMES, masks))
        except td.NetworkError:
            continue
    return found


def is_k_dependence(network: td.Network, class_: str, k: int) -> bool:
    """The class has no parents; any other none, or the class and at most k others."""
    others = [own for name, own in network.parents.items() if name != class_]
    return not network.parents[class_] and all(not own or (class_ in own and len(own) <= k + 1) for own in others)


@pytest.mark.parametrize("class_", ["V0", "V2"])
@pytest.mark.parametrize("k", [0, 1, 2])
def test_the_best_classifier(class_: str, k: int) -> None:
    known = td.rules.k_dependence(class_, k)
    table = sampled_table(4, 60, k)
    scores = td.score(table, td.BIC(), constraints=known)
    assert scores.rest is None  # nothing is left to search
    every = [network for network in networks() if is_k_dependence(network, class_, k)]
    assert [network for network in networks() if known.allows(network)] == every
    assert td.best_network(scores).score == pytest.approx(max(scores.of(network) for network in every))


def test_names_of_old() -> None:
    assert td.rules.tan("V1") == td.rules.k_dependence("V1", 1)
    bayes, zero = td.rules.naive_bayes("V1"), td.rules.k_dependence("V1", 0)
    assert all(bayes.allows(network) == zero.allows(network) for network in networks())
    for make in (lambda: td.rules.tan("*"), lambda: td.rules.tan(3), lambda: td.rules.k_dependence("V0", -1)):  # type: ignore[arg-type]
        with pytest.raises(td.ConstraintError):
            make()
    with pytest.raises(td.ConstraintError, match="did you mean 'V1'"):
        td.score(sampled_table(4, 20, 0), td.BIC(), constraints=td.rules.tan("V11"))
