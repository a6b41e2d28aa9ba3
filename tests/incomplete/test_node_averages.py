"""The penalised node-average likelihood against the reference, on random tables with ties and missing cells."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import reference
from given_sizes import AS_LISTS, give_sizes
from table_checks import Incomplete

import topdag as td
from topdag._util.run import Run
from topdag.answers.check import local_by_definition
from topdag.errors import ScoreError
from topdag.scoring.node_averages import NodeAverages
from topdag.scoring.walk import cells_of

KINDS = [td.NAL(), td.NAL(0.25), td.NAL(penalty="bic"), td.NAL(penalty=0.5), td.NAL(penalty=0)]


def families(n: int) -> list[tuple[int, int]]:
    return [(x, mask) for x in range(n) for mask in reference.all_subsets([v for v in range(n) if v != x])]


@pytest.mark.parametrize("kind", KINDS, ids=repr)
@pytest.mark.parametrize("seed", range(6))
def test_local_scores_are_those_of_the_definition(seed: int, kind: td.NAL) -> None:
    drawn = Incomplete(seed)
    table, local = drawn.table, drawn.local(kind)
    for x, mask in families(drawn.n):
        parents = reference.members(mask)
        assert kind.local(table, x, parents) == pytest.approx(local(x, mask), abs=1e-9)
        named = tuple(drawn.names[p] for p in parents)
        assert local_by_definition(table, kind, drawn.names[x], named) == pytest.approx(local(x, mask), abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_nothing_missing_is_bic_with_its_penalty(seed: int) -> None:
    table = Incomplete(1 + 6 * seed, share=0.0).table
    assert not table.incomplete
    for x, mask in families(4):
        parents = reference.members(mask)
        own, bic = td.NAL(penalty="bic").local(table, x, parents), td.BIC().local(table, x, parents)
        assert own == pytest.approx(bic, abs=1e-9)
    assert td.best_network(table, td.NAL(penalty="bic")).score == pytest.approx(td.best_network(table, "bic").score)


def test_rows_and_columns_in_any_order_score_the_same() -> None:
    drawn, rng = Incomplete(7), np.random.default_rng(0)
    order, columns = rng.permutation(len(drawn.rows)), rng.permutation(drawn.n).tolist()
    rows = [[drawn.rows[i][v] for v in columns] for i in order]
    names = [drawn.names[v] for v in columns]
    states = {name: range(arity) for name, arity in zip(drawn.names, drawn.arities, strict=True)}
    other = td.Table(rows, names=names, missing="keep", weights=[drawn.weights[i] for i in order], states=states)
    for x, mask in families(drawn.n):
        parents = reference.members(mask)
        moved = [names.index(drawn.names[p]) for p in parents]
        assert td.NAL().local(drawn.table, x, parents) == td.NAL().local(other, names.index(drawn.names[x]), moved)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_many_families_at_once_are_the_same_with_any_number_of_threads(threads: int) -> None:
    drawn, kind = Incomplete(11, n=8, n_rows=60, share=0.1), td.NAL()
    averages = NodeAverages(drawn.table, tuple(range(8)), kind)
    sets = averages.sets_up_to(3, 8, math.inf)
    assert len(sets) == 2**7 and (np.diff(sets.astype(np.int64)) > 0).all()
    found = averages.scores(3, sets, Run(threads=threads))
    assert found is not None
    each = [kind.local(drawn.table, 3, reference.members(mask)) for mask in sets.tolist()]
    assert found.tolist() == each


def test_sets_of_more_than_64_columns() -> None:
    rng = np.random.default_rng(5)
    cells = np.where(rng.random((50, 70)) < 0.2, None, rng.integers(0, 2, (50, 70)).astype(object))
    table = td.Table(cells, missing="keep")
    answer = td.best_network(table, "nal", max_parents=1)
    assert answer.proof.status.name == "PROVED"
    for name in table.names:
        parents = answer.network.parents[name]
        assert answer.network.local_scores is not None
        own = td.NAL().local(table, table.index(name), [table.index(p) for p in parents])
        assert answer.network.local_scores[name] == pytest.approx(own, abs=1e-9)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("kind", [td.NAL(penalty="bic"), td.NAL(penalty=0.5)], ids=repr)
def test_bound_holds_for_every_superset(seed: int, kind: td.NAL) -> None:
    """No family scores more than minus its penalty, and penalties only grow with parents."""
    drawn = Incomplete(seed)
    local, averages = drawn.local(kind), NodeAverages(drawn.table, (0, 1, 2, 3), kind)
    for x, mask in families(drawn.n):
        most = averages.most_for(x, cells_of(np.array([mask], np.uint64), averages.arities))[0]
        larger = [local(x, mask | more) for more in reference.all_subsets([v for v in range(drawn.n) if v != x])]
        assert max(larger) <= most + 1e-9


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("kind", KINDS[2:], ids=repr)
@pytest.mark.parametrize("keep", ["best", td.Within(20), td.KBest(2)], ids=repr)
def test_lists_hold_what_is_worth_keeping(seed: int, kind: td.NAL, keep: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A family goes only where subsets of its parents beat it: one by the factor, or k of them."""
    give_sizes(monkeypatch, **AS_LISTS)
    drawn = Incomplete(seed)
    local, scores = drawn.local(kind), td.score(drawn.table, kind, keep=keep)
    assert scores.store.is_listed
    slack = math.log(20) if isinstance(keep, td.Within) else 0.0
    for x, mask in families(drawn.n):
        own, named = local(x, mask), {drawn.names[p] for p in reference.members(mask)}
        subsets = [local(x, less) for less in reference.all_subsets(reference.members(mask)) if less != mask]
        n_better = sum(value > own + slack - 1e-6 for value in subsets)
        found = [value for parents, value in scores.families(drawn.names[x]) if set(parents) == named]
        assert len(found) == 1 or n_better >= (keep.k if isinstance(keep, td.KBest) else 1)
        assert found == [] or found[0] == pytest.approx(own, abs=1e-6)


@pytest.mark.parametrize(
    "settings", [{"alpha": 2}, {"alpha": "x"}, {"penalty": -1}, {"penalty": "aic"}, {"alpha": True}]
)
def test_settings_that_make_no_sense(settings: dict[str, Any]) -> None:
    with pytest.raises(ScoreError, match="NAL takes"):
        td.NAL(**settings)
