"""Lists on disk: everything comes back, and whatever is not a whole list is refused with the number of the line."""

from __future__ import annotations

import contextlib
import copy
import gzip
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import tables, tied_lists

import topdag as td
from topdag.answers.lists import BestList
from topdag.io.lists import list_lines
from topdag.io.lists_read import is_acyclic
from topdag.scoring.score import scores_from_lists
from topdag.search.family_lists import FamilyLists

SUFFIXES = st.sampled_from([".jsonl", ".jsonl.gz"])
Lines = list[dict[str, Any]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("lists")


def same(a: BestList, b: BestList) -> bool:
    return (
        type(a) is type(b)
        and np.array_equal(a.scores, b.scores)
        and np.array_equal(a.parents, b.parents)
        and a.parents.dtype == b.parents.dtype
        and (a.names, a.scored_names, a.floor, a.proof, a.stats) == (b.names, b.scored_names, b.floor, b.proof, b.stats)
    )


def check_round_trip(path: Path, found: BestList) -> BestList:
    td.io.write_list(path, found)
    again = td.io.read_list(path)
    assert same(found, again)
    for ours, theirs in zip(found[:20], again[:20], strict=True):
        assert ours == theirs
        assert ours.score == theirs.score
    assert again.source.grid == found.source.grid
    assert again.source.notes == found.source.notes
    td.io.write_list(path, again)
    assert same(found, td.io.read_list(path))
    return again


def written(folder: Path, content: str | bytes, name: str = "list.jsonl") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


# There and back


@pytest.mark.parametrize("n", [32, 33, 64])
def test_as_many_variables_as_can_be_listed_come_back(folder: Path, n: int) -> None:
    """Chains, with the same score in each direction."""
    pairs = [(x, x + 1) for x in range(n - 1)]
    families = [(x, (y,), 0.0) for pair in pairs for x, y in (pair, pair[::-1])] + [(x, (), -1.0) for x in range(n)]
    scores = scores_from_lists(FamilyLists.build([f"V{v}" for v in range(n)], families), kind=td.BIC(), keep="all")
    found = td.k_best_networks(scores, n)
    assert (found.parents[:, n - 2] == 1 << n - 1).any() and found.scores.tolist() == [-1.0] * n
    check_round_trip(folder / "wide.jsonl", found)
    check_round_trip(folder / "wide.jsonl", td.k_best_classes(scores, 1))


@settings(max_examples=40)
@given(tables(variables=(2, 5)), SUFFIXES, st.sampled_from([1, 3, 40]))
def test_networks_come_back(folder: Path, table: td.Table, suffix: str, k: int) -> None:
    again = check_round_trip(folder / f"networks{suffix}", td.k_best_networks(table, k))
    assert again.source.kind == td.BIC()
    assert td.best_network(again.source).score == pytest.approx(again[0].score)


@settings(max_examples=40)
@given(tables(variables=(2, 5)), SUFFIXES, st.sampled_from([1, 3, 40]))
def test_classes_come_back(folder: Path, table: td.Table, suffix: str, k: int) -> None:
    found = td.k_best_classes(td.score(table, td.BIC(), max_parents=2), k)
    again = check_round_trip(folder / f"classes{suffix}", found)
    assert isinstance(again, td.types.ClassList)
    assert again.sizes == found.sizes
    assert again.source.max_parents == 2


@settings(max_examples=40)
@given(tied_lists(), SUFFIXES)
def test_lists_from_score_files_come_back(folder: Path, lists: FamilyLists, suffix: str) -> None:
    """Also those in which no network is allowed, or not every variable can do without parents."""
    check_round_trip(folder / f"tied{suffix}", td.k_best_networks(scores_from_lists(lists, keep="all"), 25))


def test_other_kinds_of_score_come_back(folder: Path) -> None:
    table = td.example_table()
    prior = td.BDe(2.0, td.FittedNetwork(td.Network(table.names, {}), *uniform(table)))
    own = td.CustomScore(lambda family: -float(len(family.parents)) / 3, score_equivalent=True)
    for kind in (td.K2(), td.BDs(2.0), prior, own):
        again = check_round_trip(folder / "kinds.jsonl", td.k_best_networks(td.score(table, kind), 30))
        assert again.source.kind == (kind if kind not in (prior, own) else None)


def uniform(table: td.Table) -> tuple[dict[str, Any], dict[str, Any]]:
    states = dict(zip(table.names, table.states, strict=True))
    return states, {name: np.full(len(its), 1 / len(its)) for name, its in states.items()}


def test_lists_that_were_stopped_come_back(folder: Path) -> None:
    for k_best in (td.k_best_networks, td.k_best_classes):
        found = k_best(td.score(td.example_table(), td.BDeu()), 10, time_limit=0)
        again = check_round_trip(folder / "stopped.jsonl", found)
        assert len(again) == 1 and again.proof.status is td.types.Status.STOPPED and again.proof.gap == found.proof.gap


def test_the_gain_of_a_stopped_proof_comes_back_and_may_be_absent(folder: Path) -> None:
    """Files written before it was known have none."""
    found = td.k_best_networks(td.score(td.example_table(), td.BDeu()), 3, time_limit=0)
    assert found.proof.gain is not None
    header, *items = list_lines(found)
    content = json.loads(header)
    for gain, expected in ((found.proof.gain, found.proof.gain), (None, None)):
        content["proof"]["gain"] = gain
        path = written(folder, "\n".join([json.dumps(content), *(item.strip() for item in items), ""]))
        assert td.io.read_list(path).proof.gain == expected
    del content["proof"]["gain"]
    assert td.io.read_list(written(folder, "\n".join([json.dumps(content), *items]))).proof.gain is None
    content["proof"]["gain"] = "much"
    with pytest.raises(td.FileError, match="'gain' should be a number, not \"much\""):
        td.io.read_list(written(folder, "\n".join([json.dumps(content), *items])))


def test_only_constant_columns(folder: Path) -> None:
    table = td.Table({"a": [1, 1], "b": [2, 2]})
    assert check_round_trip(folder / "one.jsonl", td.k_best_networks(table, 5)).floor == -math.inf
    check_round_trip(folder / "one.jsonl", td.k_best_classes(table, 5))


def test_names_of_every_kind(folder: Path) -> None:
    names = ["größe", 'say "a"', "new\nline", "\ud800", "a, b", "{}"]
    columns = {name: [0, 1, 1, 0, i % 2, 1] for i, name in enumerate(names)}
    check_round_trip(folder / "names.jsonl", td.k_best_networks(td.Table(columns), 50))
    assert (folder / "names.jsonl").read_bytes().isascii()


def test_what_is_written(folder: Path) -> None:
    found = td.k_best_classes(td.example_table(), 3)
    td.io.write_list(folder / "three.jsonl", found)
    lines = [json.loads(line) for line in (folder / "three.jsonl").read_text().splitlines()]
    assert (lines[0]["format"], lines[0]["version"], lines[0]["what"], lines[0]["items"]) == (
        *("topdag-list", 1, "classes", 3),
    )
    assert lines[0]["kind"] == {"name": "BIC"}
    assert lines[0]["proof"]["status"] == "PROVED"
    for line, item in zip(lines[1:], found, strict=True):
        assert line["score"] == pytest.approx(item.score)
        assert line["size"] == item.size
        assert td.EquivalenceClass(td.Network(found.names, line["parents"])) == item
        assert all(line["parents"].values())


def test_compressed_files_depend_on_the_list_only(folder: Path) -> None:
    found = td.k_best_networks(td.example_table(), 20)
    for name in ("a.jsonl.gz", "b.jsonl.gz"):
        td.io.write_list(folder / name, found)
    assert (folder / "a.jsonl.gz").read_bytes() == (folder / "b.jsonl.gz").read_bytes()


# What is refused


@pytest.fixture(scope="module")
def networks() -> str:
    return "\n".join(list_lines(td.k_best_networks(td.example_table(), 6))) + "\n"


@pytest.fixture(scope="module")
def classes() -> str:
    return "\n".join(list_lines(td.k_best_classes(td.example_table(), 6))) + "\n"


def cyclic(lines: Lines) -> None:
    for child, parent in (("asia", "dysp"), ("dysp", "asia")):
        lines[0]["families"][child].append([-1.0, parent])
        lines[1]["parents"][child] = [parent]


Change = Callable[[Lines], object]
BAD: dict[str, tuple[Change, int, str]] = {
    "another format": (lambda f: f[0].update(format="topdag-network"), 1, "expected the head of a list"),
    "another version": (lambda f: f[0].update(version=2), 1, "version 1"),
    "no header": (lambda f: f.pop(0), 1, "expected the head of a list"),
    "a missing entry": (lambda f: f[0].pop("floor"), 1, "expected format, .* found"),
    "an unknown entry": (lambda f: f[0].update(more=1), 1, "expected format"),
    "other items": (lambda f: f[0].update(what="edges"), 1, "'what' should be one of networks, classes"),
    "items in a list": (lambda f: f[0].update(what=["networks"]), 1, "'what' should be"),
    "no count": (lambda f: f[0].update(items="six"), 1, "'items' should be a whole number"),
    "a truth for a count": (lambda f: f[0].update(items=True), 1, "'items' should be a whole number"),
    "fewer items": (lambda f: f[0].update(items=7), 8, "ends after 6 of 7 items"),
    "more items": (lambda f: f[0].update(items=5), 7, "expected the end of the file after 5 items"),
    "names that are none": (lambda f: f[0].update(names="asia"), 1, "'names' should be a list of texts"),
    "a name twice": (lambda f: f[0]["names"].__setitem__(0, "tub"), 1, "'tub' occurs more than once"),
    "a column too far": (lambda f: f[0].update(columns=[0, 8]), 1, "'columns' should be"),
    "columns in disorder": (lambda f: f[0]["columns"].reverse(), 1, "'columns' should be"),
    "an unknown score": (lambda f: f[0].update(kind={"name": "best"}), 1, "no score is called 'best'"),
    "a score in words": (lambda f: f[0].update(kind="BDeu"), 1, "'kind' should be a score"),
    "an odd grid": (lambda f: f[0].update(grid=1.5), 1, "'grid' should be"),
    "a fine grid": (lambda f: f[0].update(grid=10**9), 1, "'grid' should be"),
    "an odd limit": (lambda f: f[0].update(max_parents=-1), 1, "'max_parents' should be"),
    "a floor in words": (lambda f: f[0].update(floor="low"), 1, "'floor' should be a number"),
    "no floor": (lambda f: f[0].update(floor=None), 1, "'floor' should be a number"),
    "no proof": (lambda f: f[0].update(proof=None), 1, "expected status, bound"),
    "another status": (lambda f: f[0]["proof"].update(status="SURE"), 1, "'status' should be one of PROVED"),
    "a list of statuses": (lambda f: f[0]["proof"].update(status=["PROVED"]), 1, "'status' should be one of"),
    "a bound in words": (lambda f: f[0]["proof"].update(bound="nan"), 1, "'bound' should be a number"),
    "a limit in numbers": (lambda f: f[0]["proof"].update(limit=3), 1, "should be texts"),
    "odd stats": (lambda f: f[0]["stats"].update(seconds="long"), 1, "'seconds' should be"),
    "odd phases": (lambda f: f[0]["stats"].update(phases={"listing": None}), 1, "'phases' should be"),
    "an odd engine": (lambda f: f[0]["stats"].update(engine=1), 1, "'engine' should be"),
    "fewer stats": (lambda f: f[0]["stats"].pop("threads"), 1, "expected seconds, phases"),
    "odd notes": (lambda f: f[0].update(notes=[1]), 1, "'notes' should be"),
    "no families": (lambda f: f[0]["families"].pop("asia"), 1, "'families' should have the scored variables"),
    "a variable without": (lambda f: f[0]["families"].update(asia=[]), 1, "'asia' has no family"),
    "families in words": (lambda f: f[0]["families"].update(asia="none"), 1, "a family of 'asia' should be"),
    "an odd family": (lambda f: f[0]["families"]["asia"].append(["tub"]), 1, "a family of 'asia' should be"),
    "an empty family": (lambda f: f[0]["families"]["asia"].append([]), 1, "a family of 'asia' should be"),
    "an unknown parent": (lambda f: f[0]["families"]["asia"].append([-1, "Asien"]), 1, "was not scored"),
    "a list of parents": (lambda f: f[0]["families"]["asia"].append([-1, ["tub"]]), 1, "was not scored"),
    "itself as a parent": (lambda f: f[0]["families"]["asia"].append([-1, "asia"]), 1, "itself as a parent"),
    "a family twice": (lambda f: f[0]["families"]["asia"].append([-1]), 1, "same parents twice"),
    "a parent twice": (lambda f: f[0]["families"]["asia"].append([-1, "tub", "tub"]), 1, "a parent twice"),
    "a large local score": (lambda f: f[0]["families"]["asia"][0].__setitem__(0, -(10**400)), 1, "should be its local"),
    "a score beyond the grid": (
        lambda f: f[0]["families"]["asia"].append([-1e299, "xray"]),
        1,
        "too large for the grid",
    ),
    "a score in a text": (lambda f: f[3].update(score="-1"), 4, "'score' should be a finite number"),
    "no score": (lambda f: f[3].pop("score"), 4, "expected score, parents.*, found parents"),
    "a truth for a score": (lambda f: f[3].update(score=True), 4, "'score' should be a finite number"),
    "an item with more": (lambda f: f[3].update(rank=3), 4, "expected score, parents"),
    "another score": (lambda f: f[3].update(score=f[3]["score"] - 1), 4, "not the sum of the local scores"),
    "parents in a list": (lambda f: f[3].update(parents=[]), 4, "'parents' should give"),
    "an unknown child": (lambda f: f[3]["parents"].update(Asien=["tub"]), 4, "'parents' should give"),
    "a parent unknown": (lambda f: f[3]["parents"].update(asia=["Asien"]), 4, "should be scored variables"),
    "a parent in a text": (lambda f: f[3]["parents"].update(asia="tub"), 4, "should be scored variables"),
    "a parent in numbers": (lambda f: f[3]["parents"].update(asia=[1]), 4, "should be scored variables"),
    "a parent in lists": (lambda f: f[3]["parents"].update(asia=[["tub"]]), 4, "should be scored variables"),
    "no list of parents": (lambda f: f[3]["parents"].update(asia=5), 4, "should be scored variables"),
    "an unlisted family": (lambda f: f[3]["parents"].update(asia=["dysp"]), 4, "no such family of 'asia'"),
    "two of one parent": (lambda f: f[3]["parents"].update(bronc=["smoke", "smoke"]), 4, "no such family of 'bronc'"),
    "a cycle": (cyclic, 2, "the edges form a cycle"),
    "an item twice": (lambda f: f.__setitem__(2, copy.deepcopy(f[1])), 3, "stands above already"),
    "items in disorder": (lambda f: f.insert(1, f.pop()), 3, "above the one before"),
}


@pytest.mark.parametrize("what", BAD)
@pytest.mark.parametrize("which", ["networks", "classes"])
def test_a_bad_line_is_named(folder: Path, request: pytest.FixtureRequest, which: str, what: str) -> None:
    change, line, message = BAD[what]
    lines = [json.loads(text) for text in request.getfixturevalue(which).splitlines()]
    change(lines)
    path = written(folder, "".join(f"{json.dumps(content)}\n" for content in lines))
    with pytest.raises(td.FileError, match=rf"list\.jsonl, line {line}: .*{message}"):
        td.io.read_list(path)


def test_sizes_of_classes_are_checked(folder: Path, classes: str) -> None:
    for size in ("99", "null", "-1", "1.5"):
        changed = classes.replace('"size": 3', f'"size": {size}', 1)
        with pytest.raises(td.FileError, match=r"another size|'size' should be"):
            td.io.read_list(written(folder, changed))


def test_a_class_by_another_member_is_the_same_class(folder: Path) -> None:
    """Equal parents are not the only way to list a class twice."""
    found = td.k_best_networks(td.example_table(), 2, "bdeu")
    assert td.EquivalenceClass(found[0]) == td.EquivalenceClass(found[1])
    lines = [json.loads(line) for line in list_lines(found)]
    lines[0]["what"] = "classes"
    for line in lines[1:]:
        line["size"] = 3
    path = written(folder, "".join(f"{json.dumps(line)}\n" for line in lines))
    with pytest.raises(td.FileError, match="line 3: this item stands above already"):
        td.io.read_list(path)


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        ("", 1, "expected the head of a list, found the end"),
        ("\n", 1, "this is not JSON"),
        ("[]\n", 1, r"expected a JSON object, found \[\]"),
        ("{}\n", 1, "expected the head of a list"),
        ("[" * 100_000, 1, "this is not JSON"),
        (b"\xff\xfe\n", 1, "this is not JSON"),
        (b"\xef\xbb\xbf{}\n", 1, "this is not JSON"),
        ('{"a": 1, "a": 1}\n', 1, "a name stands twice"),
        ('{"a": NaN}\n', 1, "NaN is no number"),
        ('{"a": ' + "9" * 5000 + "}\n", 1, "this is not JSON"),
    ],
)
def test_other_files(folder: Path, content: str | bytes, line: int, message: str) -> None:
    with pytest.raises(td.FileError, match=rf"list\.jsonl, line {line}: .*{message}"):
        td.io.read_list(written(folder, content))


def test_bad_lines_below_the_first(folder: Path, networks: str) -> None:
    with pytest.raises(td.FileError, match="line 8: this is not JSON"):
        td.io.read_list(written(folder, networks + "\n"))
    with pytest.raises(td.FileError, match="line 8: expected the end of the file after 6 items"):
        td.io.read_list(written(folder, networks + "{}"))
    assert len(td.io.read_list(written(folder, networks.rstrip()))) == 6
    assert len(td.io.read_list(written(folder, networks.replace("\n", "\r\n")))) == 6


def test_files_that_cannot_be_read_or_written(tmp_path: Path, networks: str) -> None:
    found = td.k_best_networks(td.example_table(), 2)
    with pytest.raises(td.FileError, match=r"list\.json: the name must end in \.jsonl or \.jsonl\.gz"):
        td.io.write_list(tmp_path / "list.json", found)
    with pytest.raises(td.FileError, match="the name must end in"):
        td.io.read_list(tmp_path / "list")
    with pytest.raises(td.FileError, match="there is no such file"):
        td.io.read_list(tmp_path / "none.jsonl")
    with pytest.raises(td.FileError, match="there is no folder"):
        td.io.write_list(tmp_path / "none" / "list.jsonl", found)
    with pytest.raises(TypeError, match="A list of networks or classes is needed, not list"):
        td.io.write_list(tmp_path / "list.jsonl", list(found))  # type: ignore[arg-type]
    with pytest.raises(td.FileError, match="line 1: the compressed file is damaged"):
        td.io.read_list(written(tmp_path, networks, "plain.jsonl.gz"))
    packed = gzip.compress(networks.encode())
    for damaged in (packed[:-1], packed[: len(packed) // 2], packed[:-8] + bytes(8), packed + b"more"):
        with pytest.raises(td.FileError, match=r"line \d+: "):
            td.io.read_list(written(tmp_path, damaged, "damaged.jsonl.gz"))


def test_a_failure_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, "old")
    found = td.k_best_networks(td.example_table(), 2)

    def broken(_: object) -> Any:
        yield "{}"
        raise KeyboardInterrupt

    monkeypatch.setattr("topdag.io.lists._item_lines", broken)
    with pytest.raises(KeyboardInterrupt):
        td.io.write_list(path, found)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def reads_or_refuses(path: Path) -> None:
    """Anything but a FileError goes through and fails the test."""
    with contextlib.suppress(td.FileError):
        found = td.io.read_list(path)
        assert [item.score for item in found] == pytest.approx(found.scores.tolist(), abs=1e-5)


@given(content=st.binary(max_size=60) | st.text('{}[]",:0123 enull\n', max_size=60).map(str.encode), suffix=SUFFIXES)
def test_any_bytes_are_read_or_refused(folder: Path, content: bytes, suffix: str) -> None:
    reads_or_refuses(written(folder, content, f"fuzz{suffix}"))


@settings(max_examples=150)
@given(data=st.data(), packed=st.booleans())
def test_altered_files_are_read_or_refused(
    folder: Path, networks: str, classes: str, data: st.DataObject, packed: bool
) -> None:
    content = data.draw(st.sampled_from([networks, classes])).encode()
    content = gzip.compress(content) if packed else content
    start = data.draw(st.integers(0, len(content)))
    end = data.draw(st.integers(start, min(start + 5, len(content))))
    change = data.draw(st.binary(max_size=3) | st.sampled_from([b" ", b"\n", b"0", b'"', b"{}", b"[]", b"null", b"-"]))
    reads_or_refuses(written(folder, content[:start] + change + content[end:], f"fuzz.jsonl{'.gz' * packed}"))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 10**30) | st.floats() | st.sampled_from(["asia", "tub", "inf", ""]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["asia", "tub"]), inner, max_size=2),
    max_leaves=5,
)


@settings(max_examples=200)
@given(data=st.data())
def test_altered_entries_are_read_or_refused(folder: Path, networks: str, classes: str, data: st.DataObject) -> None:
    lines = [json.loads(line) for line in data.draw(st.sampled_from([networks, classes])).splitlines()]
    place: Any = lines[data.draw(st.sampled_from([0, 0, 0, 1, 3]))]
    while True:
        key = data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
        if not isinstance(place[key], (dict, list)) or not place[key] or data.draw(st.booleans()):
            break
        place = place[key]
    place[key] = data.draw(JSON)
    reads_or_refuses(written(folder, "".join(f"{json.dumps(line)}\n" for line in lines), "fuzz.jsonl"))


@given(data=st.data())
def test_a_file_cut_short_is_always_caught(folder: Path, networks: str, data: st.DataObject) -> None:
    cut = networks[: data.draw(st.integers(0, len(networks) - 2))]
    with pytest.raises(td.FileError, match=r"line \d+: "):
        td.io.read_list(written(folder, cut))


@given(st.integers(1, 6).flatmap(lambda n: st.lists(st.integers(0, 2**n - 1), min_size=n, max_size=n)))
def test_cycles_are_found(masks: list[int]) -> None:
    names = [f"V{v}" for v in range(len(masks))]
    try:
        td.Network.from_masks(names, masks)
        expected = True
    except td.NetworkError:
        expected = False
    assert is_acyclic(np.array([masks, [0] * len(masks)], dtype=np.uint64)).tolist() == [expected, True]
