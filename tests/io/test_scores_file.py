"""Files of scores, networks and answers: what is written comes back, and what is damaged is refused by name."""

from __future__ import annotations

import io
import json
import math
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import ALL_CASES, BDE, CUSTOM, Case, list_scores, sampled_table, table_of, tables, tied_lists

import topdag as td
from topdag.scoring.scores import Scores
from topdag.search.family_lists import FamilyLists
from topdag.search.stores import FamilyStore, ListStore, SetStore

every_case = pytest.mark.parametrize("case", ALL_CASES, ids=repr)
HEAD = b'{"format": "topdag-network", "version": 1'
KEEPS = ["all", "best", td.Within(3.0)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("files")


def there_and_back(scores: Scores, path: Path) -> Scores:
    td.io.write_scores(path, scores)
    return td.io.read_scores(path)


def assert_same_store(one: Scores, other: Scores) -> None:
    assert type(one.store) is type(other.store)
    assert one.grid == other.grid
    for a, b in zip(one.store.arrays, other.store.arrays, strict=True):
        assert a.tobytes() == b.tobytes()


def assert_npz_keeps(scores: Scores, path: Path) -> Scores:
    again = there_and_back(scores, path)
    assert_same_store(scores, again)
    assert (again.names, again.columns, again.max_parents, again.keep) == (
        scores.names,
        scores.columns,
        scores.max_parents,
        scores.keep,
    )
    assert again.notes == scores.notes
    assert again.n_families == scores.n_families
    return again


# ---- Scores in .npz


@every_case
@pytest.mark.parametrize("keep", KEEPS, ids=str)
@settings(max_examples=4)
@given(st.data())
def test_npz_keeps_everything(folder: Path, case: Case, keep: object, data: st.DataObject) -> None:
    cells = {"most_cells": 120} if case is BDE else {}
    table = data.draw(tables(variables=(2, 5), most_states=3, rows=(1, 5, 30), weights=((1,), (1, 2, 17)), **cells))
    scores = td.score(table, case.make(table), keep=keep, max_parents=data.draw(st.none() | st.integers(0, 3)))
    again = assert_npz_keeps(scores, folder / "scores.npz")
    one, other = td.best_network(scores), td.best_network(again)
    assert one.network == other.network
    if case in (CUSTOM, BDE):  # a function or a network cannot be written, so scores come back as they are stored
        assert (again.kind, again.table) == (None, None)
        assert other.score == pytest.approx(one.score, rel=1e-9, abs=1e-6)
    else:
        assert (again.kind, again.table) == (scores.kind, scores.table)
        assert other.score == one.score


def test_every_form_of_store_was_met() -> None:
    table = sampled_table(4, 30, seed=1)
    forms = {type(td.score(table, kind, keep=keep).store) for kind in (td.BIC(), td.BDs()) for keep in KEEPS}
    assert forms == {SetStore, FamilyStore, ListStore}


def test_npz_keeps_states_of_any_plain_type(folder: Path) -> None:
    columns = {"text": ["ä", "b", "ä"], "number": [3, 1, 3], "truth": [True, False, False], "flat": ["x"] * 3}
    table = td.Table(columns, types={"number": "categorical"})
    again = assert_npz_keeps(td.score(table, td.BDeu(2.5)), folder / "states.npz")
    assert again.table == table
    assert again.table.states == table.states
    assert again.kind == td.BDeu(2.5)
    assert again.local("text", ["number"]) == td.score(table, td.BDeu(2.5)).local("text", ["number"])


def test_npz_of_constants_only(folder: Path) -> None:
    table = table_of(np.zeros((3, 4), int), [1, 1, 1])
    again = assert_npz_keeps(td.score(table, td.BIC()), folder / "flat.npz")
    assert td.best_network(again).score == 0.0


@settings(max_examples=30)
@given(tied_lists(), st.sampled_from([1.0, 1 / 3, math.pi]))
def test_npz_keeps_lists_as_given_and_as_rounded(folder: Path, lists: FamilyLists, unit: float) -> None:
    """Scores read from a list: local scores come back as they stood there, searching stays on the grid."""
    scaled = FamilyLists(lists.names, lists.offsets, lists.masks, lists.scores * unit)
    scores = list_scores(scaled)
    again = assert_npz_keeps(scores, folder / "lists.npz")
    assert np.array_equal(again.store.lists.scores, scaled.scores)
    one, other = td.best_network(scores), td.best_network(again)
    assert (one.network, one.score, one.proof) == (other.network, other.score, other.proof)


# ---- Scores in .jkl and .pss


@pytest.mark.parametrize("suffix", [".jkl", ".jkl.gz", ".pss", ".pss.gz"])
@every_case
@settings(max_examples=3)
@given(st.data())
def test_lists_keep_the_best_network(folder: Path, case: Case, suffix: str, data: st.DataObject) -> None:
    cells = {"most_cells": 120} if case is BDE else {}
    table = data.draw(tables(variables=(2, 5), most_states=3, rows=(1, 5, 30), weights=((1,), (1, 2, 17)), **cells))
    scores = td.score(table, case.make(table), keep=data.draw(st.sampled_from(KEEPS)))
    again = there_and_back(scores, folder / f"scores{suffix}")
    assert again.names == scores.names
    assert (again.kind, again.table, again.keep) == (None, None, "best")
    for name in scores.names:
        listed = dict(scores.families(name))
        assert dict(again.store.lists.families(name)) == listed
    best = td.best_network(scores)
    found = td.best_network(again)
    assert found.score == pytest.approx(best.score, rel=1e-9, abs=1e-6)
    assert scores.of(found.network) == pytest.approx(best.score, rel=1e-9, abs=1e-6)


def test_pss_says_what_it_holds(folder: Path) -> None:
    scores = td.score(td.example_table(), td.BDeu(2), max_parents=2)
    td.io.write_scores(folder / "told.pss", scores)
    head = (folder / "told.pss").read_text().split("VAR")[0]
    for line in ("num_records=500", "parent_limit=2", "score_type=BDeu", "ess=2"):
        assert f"META {line}\n" in head


def test_what_a_list_was_kept_for_can_be_said(folder: Path) -> None:
    scores = td.score(td.example_table(), td.BIC(), keep=td.Within(20))
    td.io.write_scores(folder / "kept.jkl", scores)
    assert td.io.read_scores(folder / "kept.jkl", keep=td.Within(20)).keep == td.Within(20)
    with pytest.raises(td.ScoreError, match="keep must be"):
        td.io.read_scores(folder / "kept.jkl", keep="some")


def test_numbers_too_large_for_sums_are_refused_with_the_file(folder: Path) -> None:
    path = folder / "large.jkl"
    path.write_text("2\na 1\n-1e308 0\nb 1\n-1.0 0\n")
    with pytest.raises(td.FileError, match=r"large\.jkl.*too large"):
        td.io.read_scores(path)


# ---- Damaged .npz


def npz_of(case: str) -> bytes:
    table = sampled_table(3, 10, seed=1)
    kind, keep = {"sets": (td.K2(), "all"), "families": (td.BDs(), "all"), "lists": (td.BIC(), "best")}[case]
    file = io.BytesIO()
    scores = td.score(table, kind, keep=keep)
    from topdag.io.scores import _arrays_of

    np.savez(file, **_arrays_of(scores))
    return file.getvalue()


WHOLE = {case: npz_of(case) for case in ("sets", "families", "lists")}


def read_or_refused(path: Path, content: bytes) -> Scores | None:
    """Scores that can be asked, or a FileError that names the file; anything else is a bug."""
    path.write_bytes(content)
    try:
        scores = td.io.read_scores(path)
    except td.FileError as error:
        message = str(error)
    else:
        message = None
    if message is not None:
        assert message.startswith(str(path))
        return None
    td.best_network(scores)
    repr(scores)
    return scores


@pytest.mark.parametrize("case", WHOLE)
@settings(max_examples=300)
@given(st.data())
def test_bytes_changed(folder: Path, case: str, data: st.DataObject) -> None:
    content = bytearray(WHOLE[case])
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    read_or_refused(folder / "damaged.npz", bytes(content))


@pytest.mark.parametrize("case", WHOLE)
def test_every_single_bit_of_the_directory(folder: Path, case: str) -> None:
    """The zip directory at the end and the first local header: every bit in turn, of others one in each byte."""
    whole, is_first = WHOLE[case], case == next(iter(WHOLE))
    places = [*range(0, 60), *range(whole.rindex(b"PK\x05\x06") - 120, len(whole))]
    for place in places:
        for bit in range(8) if is_first else (place % 8,):
            content = bytearray(whole)
            content[place] ^= 1 << bit
            read_or_refused(folder / "damaged.npz", bytes(content))


@pytest.mark.parametrize("case", WHOLE)
def test_cut_short_anywhere(folder: Path, case: str) -> None:
    whole = WHOLE[case]
    for end in range(0, len(whole), 7):
        assert read_or_refused(folder / "damaged.npz", whole[:end]) is None


@settings(max_examples=100)
@given(st.binary(max_size=200))
def test_any_bytes(folder: Path, content: bytes) -> None:
    read_or_refused(folder / "damaged.npz", content)


def with_header(case: str, path: Path, **changes: object) -> None:
    """The file with some entries of its header changed; None takes one out, and all sums are right again."""
    with np.load(io.BytesIO(WHOLE[case])) as content:
        arrays = dict(content)
    header = json.loads(arrays.pop("header").tobytes())
    header = {key: value for key, value in {**header, **changes}.items() if value is not ...}
    np.savez(path, header=np.frombuffer(json.dumps(header).encode(), np.uint8), **arrays)


@pytest.mark.parametrize(
    "change",
    [
        {"format": "other"},
        {"version": 2},
        {"version": ...},
        {"names": ...},
        {"names": ["V0", "V1"]},
        {"names": ["V0", "V1", "V1"]},
        {"names": ["V0", "V1", ""]},
        {"names": [0, 1, 2]},
        {"names": "abc"},
        {"names": [["V0"], "V1", "V2"]},
        {"names": None},
        {"columns": [0, 1]},
        {"columns": [2, 1, 0]},
        {"columns": [0, 1, 7]},
        {"columns": [0, 0, 1]},
        {"columns": "012"},
        {"columns": [0.0, 1.0, 2.0]},
        {"columns": [-1, 0, 1]},
        {"keep": "most"},
        {"keep": 3},
        {"keep": {"factor": 0.5}},
        {"keep": {"factor": "x"}},
        {"keep": {}},
        {"max_parents": -1},
        {"max_parents": "x"},
        {"max_parents": True},
        {"grid": "x"},
        {"grid": 10**6},
        {"grid": -(10**6)},
        {"grid": None},
        {"grid": ...},
        {"grid": 0.5},
        {"kind": {"name": "BIC", "ess": 1}},
        {"kind": {"name": "other"}},
        {"kind": {"name": "BDeu", "ess": -1}},
        {"kind": 5},
        {"kind": []},
        {"notes": 3},
        {"notes": [3]},
        {"states": [[0, 1]]},
        {"states": 3},
        {"states": ...},
        {"states": [[0, 1], [0, 1], [0, [1]]]},
    ],
    ids=str,
)
@pytest.mark.parametrize("case", WHOLE)
def test_headers_that_do_not_fit(folder: Path, case: str, change: dict[str, object]) -> None:
    path = folder / "header.npz"
    with_header(case, path, **change)
    with pytest.raises(td.FileError, match=r"header\.npz: "):
        td.io.read_scores(path)


def test_the_header_changed_back_is_fine(folder: Path) -> None:
    for case in WHOLE:
        with_header(case, folder / "header.npz")
        assert isinstance(td.io.read_scores(folder / "header.npz"), Scores)


@pytest.mark.parametrize(
    "values",
    [
        np.full(8, np.nan),
        np.full(8, np.inf),
        np.zeros(7),
        np.zeros((8, 1)),
        np.zeros(8, np.float32),
        np.full(8, "x"),
        np.full(8, -1e308),
        np.zeros(8, ">f8"),
    ],
    ids=str,
)
def test_arrays_that_do_not_fit(folder: Path, values: np.ndarray) -> None:
    with np.load(io.BytesIO(WHOLE["sets"])) as content:
        arrays = dict(content)
    path = folder / "arrays.npz"
    for name in ("joint", "below0"):
        np.savez(path, **{**arrays, name: values})
        with pytest.raises(td.FileError, match=r"arrays\.npz: "):
            td.io.read_scores(path)


def test_nothing_is_unpickled(folder: Path) -> None:
    path = folder / "pickled.npz"
    np.savez(path, header=np.array([{"a": 1}], dtype=object))
    with pytest.raises(td.FileError, match=r"pickled\.npz"):
        td.io.read_scores(path)
    bare = io.BytesIO()
    np.save(bare, np.zeros(3))
    assert read_or_refused(folder / "bare.npz", bare.getvalue()) is None


def test_a_zip_of_something_else(folder: Path) -> None:
    path = folder / "other.npz"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("header.npy", "hello")
        file.writestr("letter.txt", "hello")
    with pytest.raises(td.FileError, match=r"other\.npz"):
        td.io.read_scores(path)


# ---- Paths


def unwritable(folder: Path, name: str) -> list[Path]:
    (folder / "plain").write_text("a file")
    (folder / f"folder-{name}").mkdir(exist_ok=True)
    return [folder / "absent" / name, folder / "plain" / name, folder / f"folder-{name}", folder / ("x" * 300 + name)]


@pytest.mark.parametrize("name", ["s.npz", "s.jkl", "s.pss", "s.jkl.gz"])
def test_scores_cannot_be_written_here(folder: Path, name: str) -> None:
    scores = td.score(td.example_table(), td.BIC(), max_parents=1)
    for path in unwritable(folder, name):
        before = sorted(folder.rglob("*"))
        with pytest.raises(td.FileError, match=name.replace(".", r"\.")):
            td.io.write_scores(path, scores)
        assert sorted(folder.rglob("*")) == before  # nothing half written is left


@pytest.mark.parametrize("name", ["n.json", "n.dot"])
def test_networks_cannot_be_written_here(folder: Path, name: str) -> None:
    for path in unwritable(folder, name):
        before = sorted(folder.rglob("*"))
        with pytest.raises(td.FileError, match=name.replace(".", r"\.")):
            td.write_network(path, td.example_network().network)
        assert sorted(folder.rglob("*")) == before


def test_a_failed_write_leaves_what_was_there(folder: Path) -> None:
    path = folder / "kept.jkl"
    path.write_text("as it was")
    lists = FamilyLists.build(["has blank", "b"], [(0, [], -1.0), (1, [], -2.0)])
    with pytest.raises(td.FileError, match="cannot hold the name 'has blank'"):
        td.io.write_scores(path, list_scores(lists))
    assert path.read_text() == "as it was"


def test_links_stay_links(folder: Path) -> None:
    scores = td.score(td.example_table(), td.BIC(), max_parents=1)
    for name in ("linked.npz", "linked.jkl"):
        link, target = folder / name, folder / f"real-{name}"
        link.symlink_to(target)
        td.io.write_scores(link, scores)
        assert link.is_symlink()
        assert td.io.read_scores(target).n_families == scores.n_families
    loop = folder / "loop.npz"
    loop.symlink_to(loop)
    with pytest.raises(td.FileError, match=r"loop\.npz"):
        td.io.read_scores(loop)


def test_writing_replaces(folder: Path) -> None:
    path = folder / "twice.json"
    for network in (td.example_network().network, td.Network(["a", "b"], {"b": ["a"]})):
        td.write_network(path, network)
        assert td.read_network(path) == network


@pytest.mark.parametrize("name", ["s.csv", "s", "npz", "s.npz.zip", "s.json"])
def test_wrong_suffix_for_scores(folder: Path, name: str) -> None:
    scores = td.score(td.example_table(), td.BIC(), max_parents=1)
    for call in (lambda: td.io.write_scores(folder / name, scores), lambda: td.io.read_scores(folder / name)):
        with pytest.raises(td.FileError, match=r"the name must end in \.jkl, \.pss, \.npz to hold scores"):
            call()


@pytest.mark.parametrize("name", ["s.NPZ", "s.Jkl", "S.PSS.GZ"])
def test_suffixes_in_capitals(folder: Path, name: str) -> None:
    scores = td.score(td.example_table(), td.BIC(), max_parents=1)
    assert there_and_back(scores, folder / name).n_families == scores.n_families


@pytest.mark.parametrize("name", ["n.txt", "n", "n.json.zip"])
def test_wrong_suffix_for_networks(folder: Path, name: str) -> None:
    with pytest.raises(td.FileError, match=r"the name must end in \.json, \.bif, .*\.pdf to hold a network"):
        td.write_network(folder / name, td.example_network().network)


@pytest.mark.parametrize("name", ["absent.npz", "absent.jkl", "absent.pss", "absent.jkl.gz"])
def test_files_that_are_not_there(folder: Path, name: str) -> None:
    with pytest.raises(td.FileError, match=rf"{name}.*there is no such file"):
        td.io.read_scores(folder / name)
    with pytest.raises(td.FileError, match="there is no such file"):
        td.read_network(folder / "absent.json")


def test_texts_and_paths_are_taken(folder: Path) -> None:
    scores = td.score(td.example_table(), td.BIC(), max_parents=1)
    for path in (folder / "p.npz", os.fspath(folder / "t.npz")):
        assert there_and_back(scores, path).names == scores.names


# ---- Networks and answers


@pytest.mark.parametrize(
    "network",
    [
        td.Network(["a"], {}),
        td.Network(["a b", 'q"uote', "ünï", "back\\slash"], {"ünï": ["a b", 'q"uote'], "a b": ["back\\slash"]}),
        td.Network(["a", "b"], {"b": ["a"]}, {"a": -1 / 3, "b": -1e-300}),
    ],
)
def test_networks_come_back(folder: Path, network: td.Network) -> None:
    path = folder / "network.json"
    td.write_network(path, network)
    again = td.read_network(path)
    assert again == network
    assert again.local_scores == network.local_scores
    assert again.score == network.score
    td.write_network(folder / "network.dot", network)
    assert (folder / "network.dot").read_text() == network.to_dot()


def answers() -> dict[str, td.types.Answer]:
    table = td.example_table()
    lists = FamilyLists.build(["a", "b"], [(0, [1], -1.0), (1, [0], -1.0)])
    return {
        "proved": td.best_network(table),
        "stopped": td.best_network(table, time_limit=0),
        "stopped without a bound": td.best_network(td.score(table, td.CustomScore(lambda family: -1.0)), time_limit=0),
        "infeasible": td.best_network(list_scores(lists)),
    }


@pytest.mark.parametrize("which", ["proved", "stopped", "stopped without a bound", "infeasible"])
def test_answers_are_json(folder: Path, which: str) -> None:
    answer = answers()[which]
    path = folder / "answer.json"
    path.write_text(json.dumps(answer.to_dict(), allow_nan=False))
    content = json.loads(path.read_text())
    assert (content["format"], content["version"]) == ("topdag-answer", 1)
    assert content["proof"]["status"] == answer.proof.status.name
    assert content["score"] == (answer.score if math.isfinite(answer.score) else None)
    assert content["proof"]["bound"] == (answer.proof.bound if math.isfinite(answer.proof.bound) else None)
    assert set(content["stats"]) == set(vars(answer.stats))
    if answer.network is None:
        with pytest.raises(td.FileError, match=r"answer\.json"):
            td.read_network(path)
    else:
        assert td.read_network(path) == answer.network
        assert td.read_network(path).score == answer.score


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"3",
        b"null",
        b'"text"',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"format": "other"}',
        b"{}",
        b'{"format": "topdag-answer"}',
        b'{"format": "topdag-answer", "network": 5}',
        b'{"format": "topdag-answer", "network": [1]}',
        b'{"format": "topdag-answer", "network": "x"}',
        HEAD + b"}",
        HEAD + b', "variables": ["a", "b"], "edges": [["a", "b"], ["b", "a"]], "score": null}',
        HEAD + b', "variables": [1], "edges": [], "score": null}',
        HEAD + b', "variables": ["a"], "edges": [5], "score": null}',
        HEAD + b', "variables": ["a"], "edges": [], "local_scores": {"a": 1}, "score": 9}',
        HEAD + b', "variables": ["a"], "edges": [], "local_scores": {"a": NaN}}',
    ],
    ids=lambda content: content[:60].decode(errors="replace"),
)
def test_files_that_hold_no_network(folder: Path, content: bytes) -> None:
    path = folder / "broken.json"
    path.write_bytes(content)
    with pytest.raises(td.FileError, match=r"broken\.json: "):
        td.read_network(path)
