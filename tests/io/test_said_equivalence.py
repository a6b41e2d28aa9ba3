"""Score files that are said to be score-equivalent: checked against all pairs of networks that tell, told with every
proof, and their classes are those of the table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from brute_force import network_scores, networks, values_of
from cli_runs import Topdag
from hypothesis import given, settings
from strategies import sampled_table, tables

import topdag as td
from topdag._util.class_graph import class_graph
from topdag.io.equivalence import LARGEST_DIFFERENCE, checked_equivalence
from topdag.search.stores import ListStore


def written(path: Path, table: td.Table, kind: Any, **options: Any) -> Path:
    td.io.write_scores(path, td.score(table, kind, **options))
    return path


@pytest.mark.parametrize("ending", [".jkl", ".pss"])
@pytest.mark.parametrize("kind", [td.BIC(), td.BDeu(3.0)], ids=str)
@pytest.mark.parametrize("limit", [None, 2])
def test_classes_are_those_of_the_table(tmp_path: Path, ending: str, kind: Any, limit: int | None) -> None:
    table = sampled_table(5, 60, seed=4)
    path = written(tmp_path / f"scores{ending}", table, kind, max_parents=limit)
    scores = td.io.read_scores(path, keep="all", score_equivalent=True)
    truth = td.score(table, kind, max_parents=limit)
    for ask, asked in ((td.k_best_classes, 30), (td.classes_within, 20.0)):
        found, expected = ask(scores, asked), ask(truth, asked)
        assert np.allclose(found.scores, expected.scores, rtol=0, atol=1e-5)
        assert {class_graph(tuple(row)) for row in found.parents.tolist()} == {
            class_graph(tuple(row)) for row in expected.parents.tolist()
        }
        assert found.proof.status is td.types.Status.PROVED
        assert "said to score the same within a class" in found.proof.space
    assert td.count_classes_within(scores, 20.0) == td.count_classes_within(truth, 20.0)
    assert scores.score_equivalent and "said to" in td.best_network(scores).proof.space


def test_nothing_said_nothing_listed(tmp_path: Path) -> None:
    path = written(tmp_path / "scores.jkl", sampled_table(5, 60, seed=4), td.BIC())
    scores = td.io.read_scores(path, keep="all")
    assert not scores.score_equivalent and "said" not in td.best_network(scores).proof.space
    with pytest.raises(td.ScoreError, match=r"or say that they are: read_scores\(path, score_equivalent=True\)\.$"):
        td.k_best_classes(scores, 3)


def test_what_is_not_so_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "scores.jkl", sampled_table(5, 60, seed=4), td.K2())
    with pytest.raises(
        td.FileError, match=r"score_equivalent: these scores are not\. Networks that differ only in the"
    ):
        td.io.read_scores(path, keep="all", score_equivalent=True)
    npz = written(tmp_path / "scores.npz", sampled_table(5, 60, seed=4), td.BIC())
    with pytest.raises(td.ScoreError, match=r"score_equivalent: a \.npz file says itself what its score is\."):
        td.io.read_scores(npz, score_equivalent=True)


@settings(max_examples=20)
@given(tables(variables=(2, 4), most_states=3, rows=(5, 40), weights=((1,),)))
def test_the_largest_difference_is_found(table: td.Table) -> None:
    """Between two networks of a class that differ in one edge, of all networks of a score that is not equivalent."""
    scores = td.score(table, td.K2(), keep=td.Within(1e300))
    if not isinstance(scores.store, ListStore) or len(scores.columns) < 2:
        return
    values, masks = values_of(scores), networks(len(scores.columns))
    value = dict(zip(map(tuple, masks.tolist()), network_scores(values, masks).tolist(), strict=True))
    of_class: dict[Any, list[tuple[int, ...]]] = {}
    for network in value:
        of_class.setdefault(class_graph(network), []).append(network)
    worst = max(
        (
            abs(value[one] - value[other])
            for members in of_class.values()
            for one in members
            for other in members
            if sum(map(int.bit_count, map(int.__xor__, one, other))) == 2
        ),
        default=0.0,
    )
    if worst > LARGEST_DIFFERENCE + 1e-6:
        with pytest.raises(td.ScoreError, match=f"differ by {worst:.3g}"[:-1]):
            checked_equivalence(scores.store.lists)
    else:
        assert checked_equivalence(scores.store.lists) == pytest.approx(worst, abs=1e-6)


def test_in_a_shell(topdag: Topdag, tmp_path: Path) -> None:
    table = sampled_table(5, 60, seed=4)
    path, k2 = written(tmp_path / "scores.jkl", table, td.BIC()), written(tmp_path / "k2.jkl", table, td.K2())
    asked = ("list", str(path), "--classes", "--keep", "all")
    assert "or say that they are: --score-equivalent." in topdag(*asked).err
    found = topdag(*asked, "--score-equivalent")
    assert found.code == 0 and "said to score the same within a class" in found.words
    assert "these scores are not" in topdag("list", str(k2), "--classes", "--keep", "all", "--score-equivalent").err
    assert "a .npz file says itself" in topdag("list", str(tmp_path / "x.npz"), "--score-equivalent").err
