"""Searches that were killed and go on, and files that are refused."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from published import DATA
from strategies import sampled_table

import topdag as td
from topdag import checkpoints, family_program, searching
from topdag.runs import Run

KILLED = """
import sys
import topdag as td
from topdag import checkpoints, family_program, searching
checkpoints.SECONDS_BETWEEN = 0.0
family_program.HALVES_A_ROUND = family_program.LOCAL_CUTS_A_ROUND = 0
searching.FIRST_SETS = 0
scores = td.read_scores(sys.argv[1])
td.best_network(scores, engine="search", checkpoint=sys.argv[2])
"""


@pytest.fixture
def branching(monkeypatch: pytest.MonkeyPatch) -> None:
    """Branch and cut at once, without the cuts that make one part of it, and a file after every part."""
    monkeypatch.setattr(searching, "FIRST_SETS", 0)
    monkeypatch.setattr(family_program, "HALVES_A_ROUND", 0)
    monkeypatch.setattr(family_program, "LOCAL_CUTS_A_ROUND", 0)
    monkeypatch.setattr(checkpoints, "SECONDS_BETWEEN", 0.0)


def hard_scores() -> td.Scores:
    """Parkinsons: 2,441 families, a few parts."""
    if not (DATA / "parkinsons.csv").exists():
        pytest.skip(f"no data in {DATA}")
    return td.score(td.read_table(DATA / "parkinsons.csv"), td.BIC(), keep="best")


@pytest.mark.usefixtures("branching")
def test_a_search_stopped_at_any_part_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scores, path = hard_scores(), tmp_path / "state.npz"
    whole = td.best_network(scores)
    write = checkpoints.Checkpoint.write
    pressed: list[bool] = []

    def write_and_stop(self: checkpoints.Checkpoint, state: checkpoints.State, seconds: float) -> None:
        write(self, state, seconds)
        if not pressed:  # a second Ctrl-C would not wait for the answer
            pressed.append(True)
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(checkpoints.Checkpoint, "write", write_and_stop)
    stops, done = 0, None
    while done is None:
        pressed.clear()
        try:
            done = td.best_network(scores, checkpoint=path)
        except td.Interrupted as stopped:
            answer = stopped.answer
            assert answer.score <= whole.score <= answer.proof.bound
            stops += 1
    assert stops >= 2
    assert done.proof.status is td.Status.PROVED
    assert done.score == whole.score
    assert done.stats.work["resumed"] == 1


def test_a_killed_process_leaves_a_file_to_go_on_from(tmp_path: Path) -> None:
    scores, state = tmp_path / "scores.npz", tmp_path / "state.npz"
    td.write_scores(scores, hard_scores())
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(scores), str(state)])
    while not state.exists() and process.poll() is None:
        time.sleep(0.01)
    process.kill()
    process.wait()
    assert state.exists()
    resumed = td.best_network(td.read_scores(scores), engine="search", checkpoint=state)
    assert resumed.proof.status is td.Status.PROVED
    assert resumed.stats.work["resumed"] == 1
    assert resumed.score == td.best_network(td.read_scores(scores)).score
    assert not list(tmp_path.glob(".*"))  # no drafts


@pytest.mark.usefixtures("branching")
@pytest.mark.parametrize("seed", range(5))
def test_the_answer_is_the_same_with_and_without(tmp_path: Path, seed: int) -> None:
    scores = td.score(sampled_table(9, 60, seed=seed), td.BIC(), keep="best")
    path = tmp_path / "state.npz"
    for _ in range(2):  # the second begins where the first ended
        found = td.best_network(scores, engine="search", checkpoint=path)
        assert found.proof.status is td.Status.PROVED
        assert found.score == pytest.approx(td.best_network(scores).score, abs=1e-9)


def test_another_tables_state_is_refused(tmp_path: Path) -> None:
    first, second = (td.score(sampled_table(7, 60, seed=seed), td.BIC(), keep="best") for seed in (1, 2))
    path = tmp_path / "state.npz"
    td.best_network(first, engine="search", checkpoint=path)
    with pytest.raises(td.FileError, match="belongs to another table, score or parent limit"):
        td.best_network(second, engine="search", checkpoint=path)


@pytest.mark.parametrize("content", [b"", b"PK", b"not a checkpoint", None])
def test_files_that_are_no_checkpoints_are_refused(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "state.npz"
    if content is None:
        np.savez(path, format=np.array("topdag-scores"))
    else:
        path.write_bytes(content)
    scores = td.score(sampled_table(6, 60, seed=1), td.BIC(), keep="best")
    with pytest.raises(td.FileError, match="this is no checkpoint"):
        td.best_network(scores, engine="search", checkpoint=path)


def test_an_older_version_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scores = td.score(sampled_table(6, 60, seed=1), td.BIC(), keep="best")
    path = tmp_path / "state.npz"
    td.best_network(scores, engine="search", checkpoint=path)
    monkeypatch.setattr(checkpoints, "VERSION", 2)
    with pytest.raises(td.FileError, match="written by another version"):
        td.best_network(scores, engine="search", checkpoint=path)


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    scores = td.score(sampled_table(6, 60, seed=1), td.BIC(), keep="best")
    with pytest.raises(td.FileError, match="there is no folder"):
        td.best_network(scores, engine="search", checkpoint=tmp_path / "none" / "state.npz")


def test_a_file_is_due_every_few_seconds(tmp_path: Path) -> None:
    scores = td.score(sampled_table(5, 60, seed=1), td.BIC(), keep="best")
    checkpoint = checkpoints.Checkpoint(tmp_path / "state.npz", scores.store)
    assert checkpoint.is_due(Run().seconds)
    checkpoint.written_at = 10.0
    assert not checkpoint.is_due(10.0 + checkpoints.SECONDS_BETWEEN / 2)
    assert checkpoint.is_due(10.0 + checkpoints.SECONDS_BETWEEN)
