"""What sums over networks give back: labelled, readable, kept in files; and what is refused."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from ctrl_c import press_ctrl_c

import topdag as td
from topdag._util.run import Run
from topdag.answers.posteriors import Averaged
from topdag.questions import request

CYCLE = np.array([[0, 0.6, 0], [0, 0, 0.7], [0.55, 0, 0]])


@pytest.fixture(scope="module")
def scores() -> td.types.Scores:
    return td.score(td.example_table(), td.BDeu())


@pytest.fixture(scope="module")
def found(scores: td.types.Scores) -> td.types.NetworkPosteriors:
    return td.network_posteriors(scores)


def edges_with(matrix: np.ndarray) -> td.types.EdgePosteriors:
    return td.types.EdgePosteriors(("a", "b", "c"), matrix, Averaged("by hand", 0.0, "three", 1.0, 0.0, None))


def test_each_question_gives_its_part_of_the_whole(scores: td.types.Scores, found: td.types.NetworkPosteriors) -> None:
    assert (td.edge_posteriors(scores).matrix == found.edges.matrix).all()
    assert found.paths is not None
    assert (td.path_posteriors(scores).matrix == found.paths.matrix).all()
    for name in found.names:
        assert dict(td.parent_set_posteriors(scores, name)) == dict(found.parent_sets(name))
    assert td.log_evidence(scores) == found.log_evidence == found.edges.log_evidence
    some = td.network_posteriors(scores, paths=False, parent_sets_of=["dysp"])
    assert some.paths is None
    assert dict(some.parent_sets("dysp")) == dict(found.parent_sets("dysp"))
    with pytest.raises(td.ScoreError, match="parent_sets_of"):
        some.parent_sets("xray")


def test_pairs_by_name_and_by_place(found: td.types.NetworkPosteriors) -> None:
    edges, names = found.edges, found.names
    assert edges[names[2], names[5]] == edges.matrix[2, 5]
    assert not edges.matrix.diagonal().any()
    with pytest.raises(td.NetworkError, match="did you mean 'smoke'"):
        edges["smok", "lung"]
    with pytest.raises(td.ScoreError, match="a pair of names"):
        edges["smoke"]


def test_edges_are_sums_of_parent_sets(found: td.types.NetworkPosteriors) -> None:
    for child in found.names:
        sets = found.parent_sets(child)
        assert sum(sets.values()) == pytest.approx(1, abs=1e-12)
        assert list(sets.values()) == sorted(sets.values(), reverse=True)
        for parent in found.names:
            share = sum(p for parents, p in sets.items() if parent in parents)
            assert found.edges[parent, child] == pytest.approx(share, abs=1e-12)


def test_parent_sets_in_any_order_of_names(found: td.types.NetworkPosteriors) -> None:
    sets = found.parent_sets("dysp")
    assert sets["lung", "bronc"] == sets["bronc", "lung"] == next(iter(sets.values()))
    assert sets["lung"] == sets[("lung",)]
    assert ("dysp",) not in sets
    assert ("nobody",) not in sets
    assert "lung, bronc" in repr(sets)


def test_rows_and_frames(found: td.types.NetworkPosteriors) -> None:
    rows = list(found.edges.to_dicts())
    assert len(rows) == 8 * 7
    assert rows[0] == {"parent": "bronc", "child": "dysp", "probability": found.edges["bronc", "dysp"]}
    frame = found.edges.to_frame()
    assert list(frame.columns) == ["parent", "child", "probability"]
    assert len(frame) == len(rows)
    heat = found.edges.matrix_frame()
    assert list(heat.columns) == ["parent", *found.names]
    assert list(heat["dysp"]) == found.edges.matrix[:, found.names.index("dysp")].tolist()
    assert found.paths is not None
    assert list(found.paths.to_frame().columns) == ["ancestor", "descendant", "probability"]


def test_text(found: td.types.NetworkPosteriors) -> None:
    text = str(found.edges)
    assert text.splitlines()[0].split() == ["bronc", "->", "dysp", f"{found.edges['bronc', 'dysp']:.6f}"]
    assert text.endswith("edge probabilities, all networks equally likely before")
    assert "8 variables" in repr(found.edges)


def test_consensus_says_whether_it_is_a_network() -> None:
    agreed = edges_with(CYCLE).consensus(0.56)
    assert agreed.edges == (("b", "c"), ("a", "b"))
    assert agreed.is_acyclic
    assert agreed.network == td.Network(["a", "b", "c"], {"b": ["a"], "c": ["b"]})
    circle = edges_with(CYCLE).consensus()
    assert (len(circle.edges), circle.network, circle.is_acyclic) == (3, None, False)
    assert "with a circle" in str(circle)


@pytest.mark.parametrize("suffix", ["json", "npz"])
def test_files_keep_what_was_found(found: td.types.NetworkPosteriors, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"found.{suffix}"
    for one in (found.edges, found.paths):
        assert one is not None
        td.io.write_posteriors(path, one)
        again = td.io.read_posteriors(path)
        assert type(again) is type(one)
        assert (again.names, again.prior, again.log_evidence) == (one.names, one.prior, one.log_evidence)
        assert (again.matrix == one.matrix).all()
    td.io.write_posteriors(path, found)
    whole = td.io.read_posteriors(path)
    assert isinstance(whole, td.types.NetworkPosteriors)
    assert (whole.edges.matrix == found.edges.matrix).all()
    assert whole.averaged.space == found.averaged.space
    if suffix == "npz":
        assert dict(whole.parent_sets("dysp")) == dict(found.parent_sets("dysp"))


def test_files_that_are_not_posteriors(found: td.types.NetworkPosteriors, tmp_path: Path) -> None:
    path = tmp_path / "edges.json"
    td.io.write_posteriors(path, found.edges)
    content = json.loads(path.read_text())
    for change in ({"version": 2}, {"edges": [[2.0] * 8] * 8}, {"edges": [[0.5]]}, {"what": "paths"}, {"names": None}):
        path.write_text(json.dumps(content | change))
        with pytest.raises(td.FileError, match="not a file of posteriors"):
            td.io.read_posteriors(path)
    (tmp_path / "x.npz").write_bytes(b"PK nonsense")
    with pytest.raises(td.FileError, match="not a file of posteriors"):
        td.io.read_posteriors(tmp_path / "x.npz")
    with pytest.raises(td.FileError, match=r"\.json or \.npz"):
        td.io.write_posteriors(tmp_path / "x.txt", found.edges)
    with pytest.raises(td.FileError, match="there is no such file"):
        td.io.read_posteriors(tmp_path / "none.json")


# ---- Refusals and limits


def test_pruned_scores_are_refused() -> None:
    for keep in ("best", td.Within(20), td.KBest(10)):
        pruned = td.score(td.example_table(), td.BDeu(), keep=keep)
        for ask in (td.log_evidence, td.edge_posteriors, td.log_prior_total):
            with pytest.raises(td.ScoreError, match="needs more families than these scores hold"):
                ask(pruned)


def test_a_matrix_frame_of_a_variable_called_parent() -> None:
    table = td.Table({"parent": [0, 1, 0], "parent_": [0, 1, 1]})
    frame = td.edge_posteriors(table).matrix_frame()
    assert list(frame.columns) == ["parent__", "parent", "parent_"]
    assert list(frame["parent__"]) == ["parent", "parent_"]


@pytest.mark.parametrize("threshold", [-0.1, 1.1, math.nan, "half", None])
def test_a_threshold_is_a_probability(found: td.types.NetworkPosteriors, threshold: object) -> None:
    with pytest.raises(td.ScoreError, match="from 0 to 1"):
        found.edges.consensus(threshold)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("names", ["lung"] * 8, "occurs twice"),
        ("names", "abcdefgh", "no list of texts"),
        ("log_evidence", math.nan, "not finite"),
        ("edges", [[1.0] * 8] * 8, "to itself"),
    ],
)
def test_files_that_cannot_be_true(
    found: td.types.NetworkPosteriors, tmp_path: Path, name: str, value: object, said: str
) -> None:
    td.io.write_posteriors(tmp_path / "edges.json", found.edges)
    content = json.loads((tmp_path / "edges.json").read_text())
    (tmp_path / "edges.json").write_text(json.dumps({**content, name: value}))
    with pytest.raises(td.FileError, match=said):
        td.io.read_posteriors(tmp_path / "edges.json")


def test_only_posteriors_are_written(found: td.types.NetworkPosteriors, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="not ParentSetPosteriors"):
        td.io.write_posteriors(tmp_path / "sets.npz", found.parent_sets("dysp"))


def test_other_priors_are_refused(scores: td.types.Scores) -> None:
    with pytest.raises(td.ScoreError, match="prior must be"):
        td.edge_posteriors(scores, prior="fair")
    with pytest.raises(td.NetworkError, match="no variable 'nobody'"):
        td.edge_posteriors(scores, prior=td.EdgePrior({("nobody", "lung"): 1.0}))


def test_scores_that_sums_cannot_hold_are_refused() -> None:
    huge = td.score(td.example_table(), td.CustomScore(lambda family: -9e5 * len(family.parents)))
    for prior in (None, td.OrderModular()):
        with pytest.raises(td.ScoreError, match="5,000,000 from zero"):
            td.log_evidence(huge, prior=prior)


def test_unknown_variables_are_refused(scores: td.types.Scores) -> None:
    with pytest.raises(td.NetworkError, match="no variable 'nobody'"):
        td.parent_set_posteriors(scores, "nobody")
    with pytest.raises(td.NetworkError, match="did you mean 'xray'"):
        td.network_posteriors(scores, parent_sets_of=["xrays"])


def test_paths_over_orders_have_a_limit() -> None:
    table = td.Table(np.random.default_rng(1).integers(0, 2, size=(40, 19)))
    with pytest.raises(td.TooLarge, match="at most 18"):
        td.path_posteriors(table, prior=td.OrderModular())


def test_what_cannot_be_summed_is_not_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    def score(*_: object, **__: object) -> None:
        raise AssertionError("scored")

    monkeypatch.setattr(request, "score_within", score)
    wide = td.Table(np.random.default_rng(1).integers(0, 2, size=(40, 28)))
    narrow = td.Table(np.random.default_rng(1).integers(0, 2, size=(40, 20)))
    with pytest.raises(td.TooLarge, match=r"networks of 28 variables needs .* 2\d variables would fit"):
        td.log_evidence(wide, memory_limit="8GB")
    with pytest.raises(td.TooLarge, match=r"networks of 20 variables needs .* 14 variables would fit"):
        td.edge_posteriors(narrow, memory_limit="5MB", threads=2)
    with pytest.raises(td.TooLarge, match="at most 18"):
        td.path_posteriors(narrow, prior=td.OrderModular())
    with pytest.raises(td.ScoreError, match="FairPrior\\(\\) with brackets"):
        td.log_evidence(narrow, prior=td.FairPrior)


def test_no_time(scores: td.types.Scores) -> None:
    for ask in (td.log_evidence, td.edge_posteriors, td.path_posteriors):
        for prior in (None, td.OrderModular()):
            with pytest.raises(td.OutOfTime, match="time_limit came after"):
                ask(scores, prior=prior, time_limit=0)
    with pytest.raises(td.OutOfTime):
        td.log_evidence(td.example_table(), time_limit=0)


def test_no_memory(scores: td.types.Scores) -> None:
    for prior in (None, td.OrderModular()):
        with pytest.raises(td.TooLarge, match=r"The sum over all .* needs .* allowed by memory_limit"):
            td.edge_posteriors(scores, prior=prior, memory_limit=1000)


def test_ctrl_c_stops_it(scores: td.types.Scores, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever it comes, for example while Python asks for memory."""
    monkeypatch.setattr(Run, "require_memory", lambda run, *_, **__: run.is_over or press_ctrl_c())
    with pytest.raises(td.Interrupted, match="no partial answer"):
        td.edge_posteriors(scores)


def test_ctrl_c_stops_the_core() -> None:
    """An exception from on_progress ends the core's work at once, as Ctrl-C does."""
    rng = np.random.default_rng(1)
    table = td.Table(rng.integers(0, 2, size=(60, 18)))
    phases: list[str] = []

    def watch(progress: td.types.Progress) -> None:
        phases.append(progress.phase)
        if progress.phase == "summing":
            raise KeyboardInterrupt

    with pytest.raises(td.Interrupted):
        td.edge_posteriors(table, on_progress=watch)
    assert phases[-1] == "summing"
