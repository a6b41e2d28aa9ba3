"""Searches that were killed and go on, and files that are refused."""

from __future__ import annotations

import io
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ctrl_c import press_ctrl_c
from published import DATA
from strategies import sampled_table

import topdag as td
from topdag._util.run import Run
from topdag.search import best as searching
from topdag.search import checkpoints
from topdag.search import linear_program as family_program
from topdag.search.stores import ListStore

KILLED = """
import sys
import topdag as td
from topdag.search import best, checkpoints, linear_program
checkpoints.SECONDS_BETWEEN = 0.0
linear_program.HALVES_A_ROUND = linear_program.LOCAL_CUTS_A_ROUND = 0
best.FIRST_SETS = 0
scores = td.io.read_scores(sys.argv[1])
td.best_network(scores, engine="search", checkpoint=sys.argv[2])
"""


@pytest.fixture
def branching(monkeypatch: pytest.MonkeyPatch) -> None:
    """Branch and cut at once, without the cuts that make one part of it, and a file after every part."""
    monkeypatch.setattr(searching, "FIRST_SETS", 0)
    monkeypatch.setattr(family_program, "HALVES_A_ROUND", 0)
    monkeypatch.setattr(family_program, "LOCAL_CUTS_A_ROUND", 0)
    monkeypatch.setattr(checkpoints, "SECONDS_BETWEEN", 0.0)


def hard_scores() -> td.types.Scores:
    """Parkinsons: 2,441 families, a few parts."""
    if not (DATA / "parkinsons.csv").exists():
        pytest.skip(f"no data in {DATA}")
    return td.score(td.read_table(DATA / "parkinsons.csv", types={"*": "categorical"}), td.BIC(), keep="best")


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
            press_ctrl_c()

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
    assert done.proof.status is td.types.Status.PROVED
    assert done.score == whole.score
    assert done.stats.work["resumed"] == 1


def test_a_killed_process_leaves_a_file_to_go_on_from(tmp_path: Path) -> None:
    scores, state = tmp_path / "scores.npz", tmp_path / "state.npz"
    td.io.write_scores(scores, hard_scores())
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(scores), str(state)])
    while not state.exists() and process.poll() is None:
        time.sleep(0.01)
    process.kill()
    process.wait()
    assert state.exists()
    resumed = td.best_network(td.io.read_scores(scores), engine="search", checkpoint=state)
    assert resumed.proof.status is td.types.Status.PROVED
    assert resumed.stats.work["resumed"] == 1
    assert resumed.score == td.best_network(td.io.read_scores(scores)).score
    assert not list(tmp_path.glob(".*"))  # no drafts


@pytest.mark.usefixtures("branching")
@pytest.mark.parametrize("seed", range(5))
def test_the_answer_is_the_same_with_and_without(tmp_path: Path, seed: int) -> None:
    scores = td.score(sampled_table(9, 60, seed=seed), td.BIC(), keep="best")
    path = tmp_path / "state.npz"
    for _ in range(2):  # the second begins where the first ended
        found = td.best_network(scores, engine="search", checkpoint=path)
        assert found.proof.status is td.types.Status.PROVED
        assert found.score == pytest.approx(td.best_network(scores).score, abs=1e-9)


def test_another_tables_state_is_refused(tmp_path: Path) -> None:
    first, second = (td.score(sampled_table(7, 60, seed=seed), td.BIC(), keep="best") for seed in (1, 2))
    path = tmp_path / "state.npz"
    td.best_network(first, engine="search", checkpoint=path)
    with pytest.raises(td.FileError, match="belongs to another question, table, score or parent limit"):
        td.best_network(second, engine="search", checkpoint=path)


def small_scores(seed: int = 1) -> td.types.Scores:
    return td.score(sampled_table(6, 60, seed=seed), td.BIC(), keep="best")


def store_of(scores: td.types.Scores) -> ListStore:
    assert isinstance(scores.store, ListStore)
    return scores.store


@pytest.fixture(scope="module")
def half_done(tmp_path_factory: pytest.TempPathFactory) -> tuple[ListStore, bytes]:
    """Listed families, and the file of a search among them with open parts."""
    scores, path = hard_scores(), tmp_path_factory.mktemp("half") / "state"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(searching, "FIRST_SETS", 0)
        patch.setattr(family_program, "HALVES_A_ROUND", 0)
        patch.setattr(family_program, "LOCAL_CUTS_A_ROUND", 0)
        patch.setattr(checkpoints, "SECONDS_BETWEEN", 0.0)
        patch.setattr(checkpoints, "write_whole", stopping_after(2, checkpoints.write_whole))
        with pytest.raises(td.Interrupted):
            td.best_network(scores, checkpoint=path)
    state = checkpoints.Checkpoint(path, store_of(scores)).read()
    assert state is not None and state.parts is not None and state.parts.parts
    return store_of(scores), path.read_bytes()


def stopping_after(times: int, write: Callable[..., None]) -> Callable[..., None]:
    left = [times]

    def write_and_stop(*given: object) -> None:
        write(*given)
        left[0] -= 1
        if not left[0]:
            press_ctrl_c()

    return write_and_stop


def refused(path: Path, store: ListStore, content: bytes) -> bool:
    """Nothing but a FileError that says what to do may come out of reading it."""
    path.write_bytes(content)
    try:
        checkpoints.Checkpoint(path, store).read()
    except td.FileError as error:
        return "delete the file" in str(error)
    return False


def damaged(content: bytes, draw: random.Random) -> bytes:
    """Something else of much the same bytes."""
    start, end = sorted(draw.randrange(len(content) + 1) for _ in range(2))
    near = min(end, start + draw.choice([1, 2, 8, 64]))
    return draw.choice(
        [
            content[:start],
            content[start:],
            content[:start] + content[near:],
            content[:start] + content[start:near] * 2 + content[near:],
            content[:start] + draw.randbytes(near - start) + content[near:],
            content[:start] + bytes(near - start) + content[near:],
            content[:start] + bytes(byte ^ 1 << draw.randrange(8) for byte in content[start:near]) + content[near:],
            content + content[start:near],
        ]
    )


@pytest.mark.parametrize("seed", range(4))
def test_damaged_files_are_refused(tmp_path: Path, half_done: tuple[ListStore, bytes], seed: int) -> None:
    (store, content), draw = half_done, random.Random(seed)
    assert not refused(tmp_path / "state", store, content)
    for _ in range(200):
        other = damaged(content, draw)
        assert other == content or refused(tmp_path / "state", store, other)


def test_every_byte_of_a_small_file_counts(tmp_path: Path) -> None:
    """Every seventh one, so that all fields of the zip inside are hit."""
    scores, path = small_scores(), tmp_path / "state"
    td.best_network(scores, engine="search", checkpoint=path)
    content = path.read_bytes()
    for place in range(0, len(content), 7):
        other = content[:place] + bytes([content[place] ^ 1 << place % 8]) + content[place + 1 :]
        assert refused(path, store_of(scores), other)
    assert not refused(path, store_of(scores), content)


def test_a_damaged_file_is_refused_where_it_is_given(tmp_path: Path) -> None:
    scores, path = small_scores(), tmp_path / "state"
    td.best_network(scores, engine="search", checkpoint=path)
    content = path.read_bytes()
    path.write_bytes(content[:-60] + bytes([content[-60] ^ 1]) + content[-59:])
    with pytest.raises(td.FileError, match=r"state: this checkpoint is damaged; delete the file to begin anew\.$"):
        td.best_network(scores, engine="search", checkpoint=path)


@pytest.mark.parametrize("content", [b"", b"PK", b"not a checkpoint", b"\n\n\n", None])
def test_files_that_are_no_checkpoints_are_refused(tmp_path: Path, content: bytes | None) -> None:
    """None: as the first version wrote them, which carried no digest."""
    path = tmp_path / "state.npz"
    if content is None:
        np.savez(path, format=np.array("topdag-checkpoint"), version=np.array(1))
    else:
        path.write_bytes(content)
    with pytest.raises(td.FileError, match="this is no checkpoint that this version of topdag wrote"):
        td.best_network(small_scores(), engine="search", checkpoint=path)


def test_another_version_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scores, path = small_scores(), tmp_path / "state.npz"
    td.best_network(scores, engine="search", checkpoint=path)
    monkeypatch.setattr(checkpoints, "VERSION", checkpoints.VERSION + 1)
    with pytest.raises(td.FileError, match="written by another version"):
        td.best_network(scores, engine="search", checkpoint=path)


def test_scores_that_differ_in_one_value_only_are_others(tmp_path: Path) -> None:
    scores, path = small_scores(), tmp_path / "state"
    store = store_of(scores)
    td.best_network(scores, engine="search", checkpoint=path)
    content = path.read_bytes()
    for place in range(len(store.rounded)):
        values = store.rounded.copy()
        values[place] -= 2.0**-20
        assert refused(path, replace(store, rounded=values), content)
    assert not refused(path, store, content)


def test_scores_of_the_same_shape_and_names_are_refused_where_they_are_given(tmp_path: Path) -> None:
    """The best family of one variable changes; all else stays."""
    first, path, listed = small_scores(), tmp_path / "state", tmp_path / "scores.jkl"
    td.io.write_scores(listed, first)
    first = td.io.read_scores(listed)
    td.best_network(first, engine="search", checkpoint=path)
    lines = listed.read_text().splitlines()
    score, *family = lines[2].split()
    lines[2] = " ".join([repr(float(score) - 50.0), *family])
    listed.write_text("\n".join([*lines, ""]))
    second = td.io.read_scores(listed)
    assert [store_of(first).lists.names, len(store_of(first).rounded)] == [
        store_of(second).lists.names,
        len(store_of(second).rounded),
    ]
    with pytest.raises(td.FileError, match="belongs to another question, table, score or parent limit"):
        td.best_network(second, engine="search", checkpoint=path)


def other_families(store: ListStore) -> Iterator[ListStore]:
    lists = store.lists
    yield replace(store, lists=replace(lists, names=lists.names[::-1]))
    yield replace(store, lists=replace(lists, names=("".join(lists.names[:2]), "x", *lists.names[2:])))
    masks = lists.masks.copy()
    begin, end = lists.offsets[1:3]
    masks[begin:end] = masks[begin:end][::-1]
    yield replace(store, lists=replace(lists, masks=masks))
    offsets = lists.offsets.copy()
    offsets[1] += 1
    other = object.__new__(type(lists))  # which the constructor would refuse
    vars(other).update(vars(lists), offsets=offsets)
    yield replace(store, lists=other)


def test_other_families_have_another_fingerprint() -> None:
    store = store_of(small_scores())
    others = [checkpoints.fingerprint_of(other) for other in other_families(store)]
    assert len({*others, checkpoints.fingerprint_of(store)}) == len(others) + 1
    assert checkpoints.fingerprint_of(store_of(small_scores())) == checkpoints.fingerprint_of(store)


Arrays = dict[str, np.ndarray[Any, Any]]


def lies(arrays: Arrays) -> Iterator[tuple[str, Arrays]]:
    """What a file could claim; each is false."""

    def told(name: str, change: Callable[[Any], Any]) -> tuple[str, Arrays]:
        return name, arrays | {name: np.asarray(change(arrays[name].copy()))}

    def put(place: Any, value: Any) -> Callable[[Any], Any]:
        def change(array: Any) -> Any:
            array[place] = value
            return array

        return change

    root_bound, _, cost, _ = arrays["costs"].tolist()
    for place, values in enumerate(
        [
            [-1.0, np.nan, np.inf, cost * 2, root_bound + 1.0],
            [np.nan, np.inf, cost / 2],
            [cost - 1.0, cost + 1.0, 0.0, np.nan, -np.inf],
            [cost * 2, root_bound - 1.0, np.nan],
        ]
    ):
        yield from (told("costs", put(place, value)) for value in values)
    yield told("masks", put(0, 1))  # its own parent
    yield told("masks", put(slice(0, 2), [2, 1]))  # a cycle
    yield told("masks", put(0, 2**63))
    yield told("masks", lambda masks: np.roll(masks, 1))
    yield told("masks", np.zeros_like)  # at another cost
    yield told("ks", put(0, 0))
    yield told("ks", put(0, 99))
    yield told("ks", put(0, -1))
    yield told("members", put(0, 0))
    yield told("members", put(0, 2**63))
    yield told("multipliers", np.zeros_like)
    yield told("multipliers", put(0, np.nan))
    yield told("family_bounds", put(slice(None), np.nan))
    yield told("family_bounds", put(slice(None), cost + 1.0))
    yield told("part_kept", np.zeros_like)
    yield told("part_kept", lambda kept: ~kept)
    yield told("part_edges", put((0, 0), 99))
    yield told("part_edges", put((0, 0), -1))
    yield told("part_edges", put(0, 1))
    yield told("part_bounds", put(0, np.nan))
    yield told("part_bounds", put(0, np.inf))
    yield told("part_bounds", put(0, -1.0))
    yield told("part_numbers", put(0, 0))
    yield told("part_numbers", put(-1, 0))
    for name, array in arrays.items():
        yield f"no {name}", {other: value for other, value in arrays.items() if other != name}
        if len(array):
            yield f"short {name}", arrays | {name: array[:-1]}
            yield f"long {name}", arrays | {name: np.concatenate([array, array[-1:]])}
        yield f"axes of {name}", arrays | {name: array[np.newaxis]}
        yield f"flat {name}", arrays | {name: np.array(7, dtype=array.dtype)}
        yield f"texts in {name}", arrays | {name: np.full(array.shape, "x")}
        yield f"small {name}", arrays | {name: array.astype(np.float32)}
    yield "more", arrays | {"more": np.zeros(1)}
    yield "none", {}


def test_false_claims_are_refused_though_the_digests_are_right(
    tmp_path: Path, half_done: tuple[ListStore, bytes]
) -> None:
    store, content = half_done
    fingerprint = checkpoints.fingerprint_of(store)
    with np.load(io.BytesIO(content.split(b"\n", 3)[3])) as file:
        arrays = dict(file)
    path = tmp_path / "state"
    assert not refused(path, store, checkpoints.content_of(arrays, fingerprint))
    for what, claimed in lies(arrays):
        assert refused(path, store, checkpoints.content_of(claimed, fingerprint)), what


def test_digests_over_what_are_no_arrays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = store_of(small_scores())
    for packed in (b"", b"PK", b"PK\x05\x06" + bytes(18), b"\x93NUMPY", b"\x80pickle"):
        monkeypatch.setattr(np, "savez", lambda file, packed=packed: file.write(packed))
        content = checkpoints.content_of({}, checkpoints.fingerprint_of(store))
        assert refused(tmp_path / "state", store, content)


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    scores = td.score(sampled_table(6, 60, seed=1), td.BIC(), keep="best")
    with pytest.raises(td.FileError, match="nothing can be written to the folder, or there is none"):
        td.best_network(scores, engine="search", checkpoint=tmp_path / "none" / "state.npz")


def test_a_file_is_due_every_few_seconds(tmp_path: Path) -> None:
    scores = td.score(sampled_table(5, 60, seed=1), td.BIC(), keep="best")
    checkpoint = checkpoints.Checkpoint(tmp_path / "state.npz", scores.store)
    assert checkpoint.is_due(Run().seconds)
    checkpoint.written_at = 10.0
    assert not checkpoint.is_due(10.0 + checkpoints.SECONDS_BETWEEN / 2)
    assert checkpoint.is_due(10.0 + checkpoints.SECONDS_BETWEEN)
