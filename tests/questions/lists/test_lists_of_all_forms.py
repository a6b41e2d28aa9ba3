"""The same list of the same table, whatever form its scores take: which one depends on the number of variables only."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import topdag as td
from topdag.constrained import needed_families as row_lists
from topdag.constrained import rescored_lists as wider_lists
from topdag.constrained import splitting as constrained_search
from topdag.questions import list_sources as list_lattices
from topdag.scoring import allowed as constrained_scoring
from topdag.scoring import choice
from topdag.scoring import score as score_making
from topdag.scoring.kinds.discrete import ScoreKind
from topdag.search import engines
from topdag.search import lattice as lattices

THAT_ASK = (
    *(constrained_scoring, constrained_search, engines, lattices),
    *(list_lattices, row_lists, score_making, wider_lists),
)
FORMS = {"all sets": (20, 22, 16), "lists made of all sets": (4, 22, 16), "lists": (4, 4, 0)}
"""Up to how many variables tables are dense, and all sets are counted; how rare sets that matter must be for lists."""
KNOWN: dict[str, dict[str, Any]] = {
    "nothing": {},
    "forbidden": {"forbidden_edges": [("B0", "B1"), ("B2", "B3")]},
    "required": {"required_edges": [("B0", "B1")]},
    "number": {"min_parents": {"B1": 1}, "max_parents": {"B2": 2}},
    "rule": {"rules": ["B0->B1 or B3->B1"]},
    "path": {"ancestors": [("B0", "B3")]},
    "order": {"precedence": [("B0", "B3"), ("B2", "B1")]},
}


def table_with_hopeless_families() -> td.Table:
    """Four columns that depend on each other, and four with so many states that penalties of some sets are hopeless."""
    draw = np.random.default_rng(4)
    narrow = draw.integers(0, 2, (5, 80))
    for v in range(1, 4):
        narrow[v] = np.where(draw.random(80) < 0.7, narrow[v - 1], narrow[v])
    columns = {f"B{v}": narrow[v].tolist() for v in range(4)}
    return td.Table(columns | {f"W{v}": draw.integers(0, 60, 80).tolist() for v in range(4)})


def in_form(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    small, few, sparse = FORMS[form]
    for module in THAT_ASK:
        monkeypatch.setattr(module, "SMALL", small)
    monkeypatch.setattr(choice, "FEW", few)
    monkeypatch.setattr(choice, "SPARSE", sparse)


@pytest.mark.parametrize("known", KNOWN)
@pytest.mark.parametrize("kind", [td.BIC(), td.AIC()], ids=str)
def test_lists_do_not_depend_on_the_form(kind: ScoreKind, known: str, monkeypatch: pytest.MonkeyPatch) -> None:
    table = table_with_hopeless_families()
    assert td.score(table, kind).cutoff < math.inf
    found = {}
    for form in FORMS:
        in_form(form, monkeypatch)
        scores = td.score(table, kind, constraints=td.Constraints(**KNOWN[known]) if known != "nothing" else None)
        best, near = td.k_best_networks(scores, 40), td.networks_within(scores, 20)
        assert best.proof.status is near.proof.status is td.Status.PROVED
        assert len(best) == 40
        found[form] = [*best.scores, *near.scores]
    for form in FORMS:
        assert found[form] == pytest.approx(found["all sets"], abs=1e-6)


def test_a_list_of_22_variables_ends_for_no_false_reason() -> None:
    table = td.random_network(22, seed=21).sample(150, seed=21)
    known = td.Constraints(forbidden_edges=[("V0", "V1"), ("V2", "V3")])
    found = td.k_best_networks(td.score(table, td.BIC(), constraints=known), 40)
    near = td.networks_within(td.score(table, td.BIC(), constraints=known, keep=td.Within(2)), 2)
    assert found.proof.status is td.Status.PROVED
    assert len(found) == 40
    assert list(found.scores) == pytest.approx(list(near.scores[:40]), abs=1e-6)
