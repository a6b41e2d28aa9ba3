"""A list by partition that is killed again and again goes on from its file, and is the list that it would have been."""

from __future__ import annotations

import io
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from given_sizes import AS_LISTS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from list_checks import all_listed
from strategies import sampled_table, tied_lists

import topdag as td
from topdag._util.run import Run
from topdag.answers.lists import BestList
from topdag.questions.listing.partition import PartitionLists, kind_for
from topdag.questions.listing.sources import Wanted
from topdag.search import checkpoints
from topdag.search.engines import sizes_given
from topdag.search.family_lists import FamilyLists
from topdag.search.partition import few

PARTITION = {"partition": 0, "small": 0, **AS_LISTS}
Ask = Callable[..., BestList[Any]]


class Killed(Exception):
    """As by the system, right after the file was written."""


@pytest.fixture(autouse=True)
def partition(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Of every table, in many parts, with the file written after each."""
    monkeypatch.setattr(few, "MOST_CHOICES", 2)
    monkeypatch.setattr(checkpoints, "SECONDS_BETWEEN", 0.0)
    with sizes_given(**PARTITION):
        yield


def killed_after(writes: int, ask: Callable[[], Any]) -> Any:
    """What is asked for; None when it was killed before."""
    left, write = [writes], checkpoints.write_whole

    def write_and_die(*given: Any) -> None:
        write(*given)
        left[0] -= 1
        if not left[0]:
            raise Killed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoints, "write_whole", write_and_die)
        try:
            return ask()
        except Killed:
            return None


def resumed(ask: Ask, scores: td.types.Scores, asked: Any, path: Path, writes: int) -> tuple[BestList[Any], int]:
    """The list that is killed after so many writes each time, and how often that was."""
    path.unlink(missing_ok=True)
    n_killed = 0
    while True:
        found = killed_after(writes, lambda: ask(scores, asked, checkpoint=path))
        if found is not None:
            return found, n_killed
        n_killed += 1


def assert_same(found: BestList[Any], whole: BestList[Any]) -> None:
    assert np.array_equal(found.scores, whole.scores)
    assert np.array_equal(found.parents, whole.parents)
    assert found.floor == whole.floor and found.proof == whole.proof


def assert_resumes(ask: Ask, scores: td.types.Scores, asked: Any, path: Path, writes: int = 3) -> int:
    """How often it was killed."""
    whole = ask(scores, asked)
    found, n_killed = resumed(ask, scores, asked, path, writes)
    assert_same(found, whole)
    again = ask(scores, asked, checkpoint=path)  # from the last file
    assert_same(again, whole)
    assert again.stats.work["resumed"] == 1
    return n_killed


ASKS: list[tuple[Ask, float]] = [
    (td.k_best_networks, 40),
    (td.k_best_classes, 25),
    (td.networks_within, 6.0),
    (td.classes_within, 8.0),
]


@pytest.mark.parametrize(("ask", "asked"), ASKS)
@pytest.mark.parametrize("kind", [td.BIC(), td.BDeu(2.0)], ids=str)
def test_tables(ask: Ask, asked: Any, kind: Any, tmp_path: Path) -> None:
    table = sampled_table(7, 60, seed=3)
    assert assert_resumes(ask, td.score(table, kind, max_parents=2), asked, tmp_path / "state") > 2


def test_networks_one_by_one(tmp_path: Path) -> None:
    """As the score is not equivalent."""
    scores = td.score(sampled_table(6, 40, seed=5), td.K2(), max_parents=2)
    assert assert_resumes(td.k_best_networks, scores, 60, tmp_path / "state") > 2


@pytest.mark.parametrize("ask", [td.k_best_networks, td.k_best_classes])
def test_what_is_known_of_families(ask: Ask, tmp_path: Path) -> None:
    known = td.Constraints(required_edges=[("V1", "V0")], forbidden_edges=[("V3", "V4"), ("V2", "V5")])
    scores = td.score(sampled_table(6, 60, seed=2), td.BIC(), constraints=known)
    assert assert_resumes(ask, scores, 20, tmp_path / "state") > 2


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tied_lists(variables=(2, 4)), st.sampled_from([1, 3, 30, 90]), st.sampled_from([1, 2, 5]))
def test_ties(tmp_path: Path, lists: FamilyLists, k: int, writes: int) -> None:
    scores = all_listed(lists)
    whole = td.k_best_networks(scores, k)
    if len(whole):
        assert_same(resumed(td.k_best_networks, scores, k, tmp_path / "state", writes)[0], whole)


def test_beyond_a_machine_word(tmp_path: Path) -> None:
    scores = td.score(td.random_network(70, seed=1).sample(60, seed=1), td.BIC(), max_parents=1)
    assert assert_resumes(td.k_best_classes, scores, 6, tmp_path / "state") > 2


def test_another_question_refuses_the_file(tmp_path: Path) -> None:
    scores, path = td.score(sampled_table(6, 60, seed=2), td.BIC()), tmp_path / "state"
    assert killed_after(4, lambda: td.k_best_networks(scores, 10, checkpoint=path)) is None
    content = path.read_bytes()
    others: list[Callable[[], Any]] = [
        lambda: td.k_best_networks(scores, 11, checkpoint=path),
        lambda: td.k_best_classes(scores, 10, checkpoint=path),
        lambda: td.networks_within(scores, 10, checkpoint=path),
        lambda: td.networks_within(scores, 20, at_most=10, checkpoint=path),
        lambda: td.k_best_networks(td.score(sampled_table(6, 60, seed=3), td.BIC()), 10, checkpoint=path),
        lambda: td.best_network(scores, engine="search", checkpoint=path),
    ]
    for other in others:
        with pytest.raises(td.FileError, match="belongs to another question, table, score or parent limit"):
            other()
    assert path.read_bytes() == content


def test_where_no_partition_lists(tmp_path: Path) -> None:
    table, path = sampled_table(6, 60, seed=2), tmp_path / "state"
    scores = td.score(table, td.BIC(), constraints=td.Constraints(ancestors=[("V0", "V3")]))
    with pytest.raises(td.ScoreError, match="checkpoint does not go with this list: constraints speak of several"):
        td.k_best_networks(scores, 3, checkpoint=path)
    with pytest.raises(td.ScoreError, match="checkpoint does not go with an order-modular prior"):
        td.k_best_networks(table, 3, prior=td.OrderModular(), checkpoint=path)
    with pytest.raises(td.ScoreError, match="checkpoint must be the name of a file, not 5"):
        td.k_best_networks(table, 3, checkpoint=5)  # type: ignore[arg-type]


@pytest.fixture
def half_done(tmp_path: Path) -> tuple[PartitionLists, Path]:
    """A list of classes, and its file with parts that have edges decided."""
    scores, path = td.score(sampled_table(7, 60, seed=3), td.BIC(), max_parents=2), tmp_path / "state"
    assert killed_after(8, lambda: td.k_best_classes(scores, 25, checkpoint=path)) is None
    wanted = Wanted("k_best_classes", most=25)
    return PartitionLists(scores, wanted, Run(), kind_for(scores, of_classes=True), path), path


def is_refused(lists: PartitionLists, path: Path, content: bytes) -> bool:
    path.write_bytes(content)
    checkpoint = lists._checkpoint
    assert checkpoint is not None
    try:
        checkpoint.read(lists._store_within)
    except td.FileError as error:
        return "delete the file" in str(error)
    return False


def arrays_of(content: bytes) -> dict[str, np.ndarray[Any, Any]]:
    with np.load(io.BytesIO(content.split(b"\n", 3)[3])) as file:
        return dict(file)


def test_damaged_files_are_refused(half_done: tuple[PartitionLists, Path]) -> None:
    lists, path = half_done
    content, draw = path.read_bytes(), random.Random(0)
    assert not is_refused(lists, path, content)
    for _ in range(60):
        place = draw.randrange(len(content))
        other = content[:place] + bytes([content[place] ^ 1 << draw.randrange(8)]) + content[place + 1 :]
        assert is_refused(lists, path, draw.choice([other, content[:place], content + content[:1]]))


def lies(arrays: dict[str, np.ndarray[Any, Any]]) -> Iterator[tuple[str, dict[str, np.ndarray[Any, Any]]]]:
    """What a file could claim of a list; each is false."""

    def told(name: str, place: Any, value: Any) -> tuple[str, dict[str, np.ndarray[Any, Any]]]:
        changed = arrays[name].copy()
        changed[place] = value
        return f"{name} {place} {value}", arrays | {name: changed}

    yield from (told("list_reach", 0, value) for value in (-1.0, np.nan, np.inf, 1e9, arrays["list_reach"][0] / 2))
    yield told("list_families", 0, arrays["list_families"][0] ^ 1)
    yield told("list_networks", 0, 1)
    yield told("list_networks", slice(0, 2), [2, 1])
    yield told("list_networks", slice(None), arrays["list_networks"][::-1])
    yield told("costs", 3, np.nan)
    yield told("costs", 3, -1.0)
    yield told("costs", 2, arrays["costs"][2] + 1.0)
    yield told("part_joined", (0, 0), len(arrays["part_bounds"]))
    yield told("part_joined", (0, 0), -1)
    yield told("part_joined", (0, 1), 99)
    yield told("part_joined", (0, 1), arrays["part_joined"][0, 2])
    yield told("part_numbers", 0, 0)
    yield told("part_bounds", 0, np.inf)
    for name, array in arrays.items():
        yield f"no {name}", {other: value for other, value in arrays.items() if other != name}
        if len(array) and name != "part_joined":
            yield f"short {name}", arrays | {name: array[:-1]}
        yield f"flat {name}", arrays | {name: np.array(7, dtype=array.dtype)}
        yield f"texts in {name}", arrays | {name: np.full(array.shape, "x")}
    own = {name: value for name, value in arrays.items() if not name.startswith("part_")}
    yield "no parts", own


def test_false_claims_are_refused_though_the_digests_are_right(half_done: tuple[PartitionLists, Path]) -> None:
    lists, path = half_done
    arrays, checkpoint = arrays_of(path.read_bytes()), lists._checkpoint
    assert checkpoint is not None and len(arrays["part_joined"]) and len(arrays["list_networks"]) > 7
    assert not is_refused(lists, path, checkpoints.content_of(arrays, checkpoint.fingerprint))
    for what, claimed in lies(arrays):
        assert is_refused(lists, path, checkpoints.content_of(claimed, checkpoint.fingerprint)), what
