"""Lists on real data that take long: tens of seconds and gigabytes, so not part of the usual run.

Run it by name:  python -m pytest tests/slow_lists.py
"""

from __future__ import annotations

import numpy as np
from list_checks import assert_members_are_the_networks, scores_of

import topdag as td


def test_zoo_within_150() -> None:
    """19,466,471 networks, in a stream and by class too."""
    scores = scores_of("zoo", "BDeu")
    assert td.count_networks_within(scores, 150) == 19_466_471
    classes = td.classes_within(scores, 150)
    assert classes.n_networks == 19_466_471
    assert td.count_classes_within(scores, 150) == len(classes)


def test_a_million_networks() -> None:
    scores = scores_of("zoo", "BDeu")
    found = td.k_best_networks(scores, 1_000_000)
    assert len(np.unique(found.parents, axis=0)) == 1_000_000
    assert (np.diff(found.scores) <= 0).all()
    assert td.count_networks_within(scores, found.factors[-1] * (1 - 1e-9)) < 1_000_000
    assert td.count_networks_within(scores, found.factors[-1] * (1 + 1e-9)) >= 1_000_000


def test_members_of_classes_within_150() -> None:
    assert_members_are_the_networks(scores_of("wine", "BDeu"), 150)
    assert_members_are_the_networks(scores_of("voting", "BDeu"), 150)
