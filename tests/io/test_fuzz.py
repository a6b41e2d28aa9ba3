"""A few hundred fixed cases of ``make fuzz``, those that once failed, and that it notices what is wrong."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from slow import fuzz
from slow.mutations import VALUES, of_bytes
from slow.readers import OWN_ERRORS, Reader, Unlike, all_readers

import topdag as td

CASES = 5  # of each reader and seed


@pytest.fixture(scope="module")
def readers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Reader]:
    return {reader.name: reader for reader in all_readers(tmp_path_factory.mktemp("made"))}


@pytest.mark.parametrize("seed", range(4))
def test_changed_files_are_read_or_refused(readers: dict[str, Reader], tmp_path: Path, seed: int) -> None:
    for reader in readers.values():
        for number in range(CASES):
            fuzz.is_read(reader, fuzz.case_of(reader, seed, number), tmp_path)


def test_files_as_they_were_written_are_read(readers: dict[str, Reader], tmp_path: Path) -> None:
    for reader in readers.values():
        for name, content in reader.files.items():
            tries = (fuzz.is_read(reader, fuzz.Case(name, content, str(seed)), tmp_path) for seed in range(50))
            assert any(tries), (reader.name, name)


def test_cases_come_again(readers: dict[str, Reader], tmp_path: Path) -> None:
    again = {reader.name: reader for reader in all_readers(tmp_path)}
    assert list(again) == list(readers)
    for name, reader in readers.items():
        assert [fuzz.case_of(reader, 7, n) for n in range(3)] == [fuzz.case_of(again[name], 7, n) for n in range(3)]


# ---- Once found

ONCE = [
    ("table", "a.csv", b"sep=,\n"),
    ("table", "a.csv", b"sep=;\n\n \n"),
    ("table", "a.csv", "a b c\n\u2028\n1 0 2\n".encode()),
    ("table", "a.csv", "\n".encode("utf-16")),
    ("table", "a.csv", "\n".encode("utf-32")),
    ("network .bif", "a.bif", b"variable a { type discrete [ " + b"9" * 5000 + b" ] { x, y }; }"),
    ("network .net", "a.net", b"net {}\nnode a { states = (0 1); }\npotential (" + b" a" * 8000),
    ("rule", "a.txt", b"a->b or " * 20_000),
    ("constraints", "a.toml", b"max_parents = " + b"9" * 5000),
]


@pytest.mark.parametrize(("name", "file", "content"), ONCE)
def test_what_once_went_wrong(readers: dict[str, Reader], tmp_path: Path, name: str, file: str, content: bytes) -> None:
    for seed in range(10):
        fuzz.is_read(readers[name], fuzz.Case(file, content, str(seed)), tmp_path)


def changed_everywhere(whole: Any) -> Iterator[Any]:
    """JSON with every value put in every place, and each thing left out."""
    for path in places(whole):
        for value in VALUES:
            changed = copy.deepcopy(whole)
            holder = changed
            for key in path[:-1]:
                holder = holder[key]
            holder[path[-1]] = value
            yield changed
        del holder[path[-1]]
        yield changed


def places(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    keys = list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
    for key in keys:
        yield (*path, key)
        yield from places(node[key], (*path, key))


@pytest.mark.parametrize("kind", [td.Network, td.FittedNetwork])
def test_networks_with_any_value_anywhere(kind: type[td.Network] | type[td.FittedNetwork]) -> None:
    scored = td.Network(["rain", "wet"], {"wet": ["rain"]}, {"rain": -1.5, "wet": -2.25})
    network = scored if kind is td.Network else scored.fit({"rain": [0, 1, 1], "wet": ["a", "b", "a"]})
    for content in changed_everywhere(network.to_dict()):
        try:
            found = kind.from_dict(content)
        except td.NetworkError:
            continue
        assert kind.from_dict(found.to_dict()) == found


@pytest.mark.parametrize("encoding", ["utf-7", "punycode", "idna", "rot13", "undefined", "\0", "no such", 5])
def test_odd_encodings(tmp_path: Path, encoding: Any) -> None:
    path = tmp_path / "a.csv"
    for content in (b"a,b\n+2AA-,1\n0,2\n", b"a,b\n\xff,1\n0,2\n"):
        path.write_bytes(content)
        try:
            td.read_table(path, encoding=encoding)
        except td.TableError:
            continue
        assert encoding in ("utf-7", "idna")


HUGE = 10**400  # JSON can hold it, a double cannot


@pytest.mark.parametrize(
    "make",
    [
        lambda: td.EdgePrior({("a", "b"): HUGE}),
        lambda: td.EdgePrior({}, HUGE),
        lambda: td.probabilities.probability("a", "b") <= HUGE,
        lambda: HUGE * td.probabilities.probability("a", "b") <= 1.0,
        lambda: td.random_network(4, seed=1, concentration=HUGE),
        lambda: td.Network(["a"], {}, {"a": HUGE}),
        lambda: td.BDeu(HUGE),
        lambda: td.score(td.example_table(9), td.CustomScore(lambda _: HUGE)),
    ],
)
def test_whole_numbers_that_no_double_can_hold(make: Any) -> None:
    with pytest.raises(OWN_ERRORS):
        make()


def test_sizes_that_no_double_can_hold() -> None:
    with pytest.raises(ValueError, match="memory_limit must be a number of bytes"):
        td.best_network(td.example_table(9), memory_limit="9" * 400)


def test_posteriors_of_parent_sets_are_probabilities_of_known_variables(tmp_path: Path) -> None:
    path = tmp_path / "all.npz"
    found = td.network_posteriors(td.example_network().sample(20, 1), threads=1)
    td.io.write_posteriors(path, found)
    assert set(td.io.read_posteriors(path).by_parents) == set(found.by_parents)
    with np.load(path) as file:
        arrays = dict(file)
    header = json.loads(arrays["header"].tobytes())
    (first, others), *rest = header["parent_sets"]
    unknown = [[["x", others], *rest], [[first, ["x", *others[1:]]], *rest], [[first, [first, *others[1:]]], *rest]]
    wrong = [arrays | {"header": header_with(header, parent_sets=sets)} for sets in unknown]
    wrong += [
        arrays | {"parents_0": arrays["parents_0"].astype(kind)} for kind in (np.bool_, np.complex128, np.float32)
    ]
    wrong += [arrays | {"parents_0": np.r_[2.0, -1.0, np.zeros(arrays["parents_0"].size - 2)]}]
    for claimed in wrong:
        np.savez(path, **claimed)
        with pytest.raises(td.FileError, match="not a file of posteriors"):
            td.io.read_posteriors(path)


def header_with(header: dict[str, Any], **changes: Any) -> Any:
    return np.frombuffer(json.dumps(header | changes).encode(), dtype=np.uint8)


# ---- The fuzzing itself


def read_nothing(path: Path, draw: random.Random) -> None:
    """Right for every file."""


def fail(path: Path, draw: random.Random) -> None:
    raise KeyError("raw")


def refuse(path: Path, draw: random.Random) -> None:
    raise td.FileError("refused")


def differ(path: Path, draw: random.Random) -> None:
    raise Unlike("read, but wrong")


def spin(path: Path, draw: random.Random) -> None:
    while True:
        try:
            sum(range(1000))
        except Exception:  # as readers do that take any error for a damaged file
            continue


def test_what_is_wrong_is_counted_and_written_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(fuzz, "MOST_SECONDS", 0.05)
    reads = [read_nothing, fail, refuse, differ, spin]
    tried = [Reader(read.__name__, of_bytes, {"file": b"some content"}, read) for read in reads]
    found, folder = tmp_path / "found", tmp_path / "folder"
    folder.mkdir()
    fuzzing = fuzz.Fuzzing(tried, 1, found)
    for reader in tried:
        for _ in range(2):
            fuzzing.try_next(reader, folder)
    counts = fuzzing.counts
    assert (counts["read_nothing"].read, counts["refuse"].refused) == (2, 2)
    assert [counts[name].wrong.total() for name in ("fail", "differ", "spin")] == [2, 2, 2]
    assert not fuzzing.is_fine and "3 kinds of findings" in str(fuzzing)
    written = {path.parent.name: path.read_bytes() for path in found.glob("*/file")}
    assert written == {f"1_{name}_0": fuzz.case_of(reader, 1, 0).content for name, reader in wrong_ones(tried)}
    printed = capsys.readouterr().out
    assert all(f"--options '1/{name}/0' --file {found}/1_{name}_0/file" in printed for name, _ in wrong_ones(tried))


def wrong_ones(tried: list[Reader]) -> list[tuple[str, Reader]]:
    return [(reader.name, reader) for reader in tried if reader.name in ("fail", "differ", "spin")]


def test_own_errors_are_those_of_the_package() -> None:
    assert {td.TableError, td.ScoreError, td.FileError, td.NetworkError, td.ConstraintError, td.TooLarge} <= set(
        OWN_ERRORS
    )
    assert not {ValueError, MemoryError, KeyError} & set(OWN_ERRORS)
