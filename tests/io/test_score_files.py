"""Family lists and the score files they are read from and written to."""

from __future__ import annotations

import contextlib
import gzip
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pruning_checks import same_lists

from topdag.errors import FileError, ScoreError
from topdag.io.score_text import read_jkl, read_pss, write_jkl, write_pss
from topdag.search.family_lists import FamilyError, FamilyLists

Families = list[tuple[int, tuple[int, ...], float]]
Reader = Callable[[Path], FamilyLists]

SCORES = Path(__file__).resolve().parents[3] / "shared" / "data" / "scores"
N_VARIABLES = {
    **{"alarm": 37, "asia": 8, "barley": 48, "boston": 14, "cancer": 5, "child": 20, "earthquake": 5},
    **{"hailfinder": 56, "hepar2": 70, "pathfinder": 109, "insurance": 27, "mildew": 35, "sachs": 11, "survey": 6},
    **{"water": 32, "wine": 14, "munin1": 186, "diabetes": 413},
}

JKL = "# Method: exact\n# by hand\n2\n# here too\nA 2\n-1.5 1 B\n-2 0\n\nB 1\n  -3e0 0  \n# end\n"
PSS = (
    "META pss_version = 0.1\nMETA input_file=my file.csv\nMETA num_records=9\nMETA parent_limit=1\n"
    "META score_type=bic\nMETA ess=1.000000\n\n"
    "VAR A\nMETA arity=2\nMETA values=<=50K >50K \n-1.500000 B \n-2.000000 \n\n"
    "VAR B\nMETA arity=2\nMETA values=n y \n-3.000000 \n\n"
)
A_AND_B: Families = [(0, (1,), -1.5), (0, (), -2.0), (1, (), -3.0)]

words = st.text(st.characters(exclude_categories=("Cs", "Cc", "Z")), min_size=1, max_size=4)
plain_names = words.filter(lambda name: name[0] != "#")
pss_names = plain_names.filter(lambda name: "meta" not in name.lower() and not name.lower().endswith("var"))
some_scores = st.sampled_from([-1.0, -2.0, 0.0, 1e-300]) | st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def family_lists(draw: st.DrawFn, names: st.SearchStrategy[str] = plain_names) -> FamilyLists:
    n = draw(st.integers(1, 6) | st.sampled_from([63, 64, 65, 128, 129, 600]))
    shown = draw(st.lists(names, min_size=min(n, 4), max_size=min(n, 4), unique=True))
    shown += [f"more{v}" for v in range(len(shown), n)]
    columns = st.sampled_from([*range(min(n, 4)), *range(max(0, n - 4), n)])
    keys = st.tuples(columns, st.frozensets(columns, max_size=4))
    drawn = draw(st.dictionaries(keys.map(lambda key: (key[0], key[1] - {key[0]})), some_scores, max_size=12))
    families = [(v, tuple(parents), score) for (v, parents), score in drawn.items()]
    families += [(v, (), -9.0) for v in set(range(n)) - {v for v, _ in drawn}]
    return FamilyLists.build(shown, families)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("scores")


def written(folder: Path, content: str | bytes, name: str = "file.txt") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def as_columns(lists: FamilyLists) -> Families:
    column = {name: v for v, name in enumerate(lists.names)}
    return [
        (v, tuple(column[parent] for parent in parents), score)
        for v, name in enumerate(lists.names)
        for parents, score in lists.families(name)
    ]


def blocks_of(lists: FamilyLists) -> Iterator[tuple[int, list[tuple[float, tuple[str, ...]]]]]:
    """As the writers take them."""
    for name in lists.names:
        families = [(score, parents) for parents, score in lists.families(name)]
        yield len(families), families


def in_fixed_order(families: Families) -> Families:
    return sorted(families, key=lambda family: (family[0], -family[2], len(family[1]), family[1]))


@given(family_lists())
def test_families_come_best_first_then_smaller_then_by_column(lists: FamilyLists) -> None:
    assert as_columns(lists) == in_fixed_order(as_columns(lists))
    assert lists.n_families == len(as_columns(lists)) == lists.offsets[-1]
    assert lists.masks.shape == (lists.n_families, -(-len(lists.names) // 64))


def test_ties_in_two_words_are_broken_by_parents_in_column_order() -> None:
    sets = [(), (0,), (63,), (64,), (99,), (0, 99), (1, 2), (63, 64), (64, 65)]
    others: Families = [(v, (), 0.0) for v in range(99)]
    names = [f"x{v}" for v in range(100)]
    lists = FamilyLists.build(names, others + [(99, s, 0.0) for s in reversed(sets) if 99 not in s])
    assert [parents for v, parents, _ in as_columns(lists) if v == 99] == [s for s in sets if 99 not in s]


def test_lists_are_read_only_and_compare_by_content() -> None:
    lists, same = FamilyLists.build("AB", A_AND_B), FamilyLists.build("AB", A_AND_B[::-1])
    assert same_lists(lists, same)
    assert not same_lists(lists, FamilyLists.build("AC", A_AND_B))
    assert not same_lists(lists, FamilyLists.build("AB", [*A_AND_B, (1, (0,), -9.0)]))
    for values in (lists.offsets, lists.masks, lists.scores):
        with pytest.raises(ValueError, match="read-only"):
            values[0] = 0
    with pytest.raises(ScoreError, match="no variable is called 'C'"):
        lists.families("C")


@pytest.mark.parametrize(
    ("names", "families", "message"),
    [
        ("AB", [*A_AND_B, (1, (), -4.0)], "'B' has the same parents twice"),
        ("AB", [*A_AND_B, (1, (1,), -4.0)], "'B' has itself as a parent"),
        ("AB", [*A_AND_B, (1, (0,), math.nan)], "'B' has a score that is not finite"),
        ("AB", [*A_AND_B, (1, (0,), math.inf)], "'B' has a score that is not finite"),
        ("AB", [*A_AND_B, (1, (0, 0), -4.0)], "names a parent twice"),
        ("AB", [*A_AND_B, (1, (2,), -4.0)], "outside 0 to 1"),
        ("AB", [*A_AND_B, (2, (), -4.0)], "outside 0 to 1"),
        ("AB", A_AND_B[:2], "'B' has no family"),
        ("AB", [], "'A' has no family"),
        ("AA", A_AND_B, "two variables are called 'A'"),
        ("", [], "0 variables"),
        ([str(v) for v in range(2049)], [], "2,049 variables"),
    ],
)
def test_lists_refuse_what_makes_no_sense(names: str, families: Families, message: str) -> None:
    with pytest.raises(FileError, match=message):
        FamilyLists.build(names, families)


def test_arrays_that_do_not_fit_are_refused() -> None:
    def lists(offsets: list[int], masks: list[list[int]], scores: list[float]) -> FamilyLists:
        return FamilyLists(("A", "B"), np.array(offsets), np.array(masks, dtype=np.uint64), np.array(scores))

    assert lists([0, 1, 2], [[2], [0]], [-1.0, -2.0]).n_families == 2
    with pytest.raises(FileError, match="do not fit"):
        lists([0, 1, 2], [[2, 0], [0, 0]], [-1.0, -2.0])
    with pytest.raises(FileError, match="offsets run"):
        lists([0, 1, 3], [[2], [0]], [-1.0, -2.0])
    with pytest.raises(FamilyError, match="beyond the last variable") as error:
        lists([0, 1, 2], [[2], [4]], [-1.0, -2.0])
    assert error.value.family == 1


@pytest.mark.parametrize("suffix", ["", ".gz"])
@given(data=st.data())
def test_jkl_round_trip(folder: Path, suffix: str, data: st.DataObject) -> None:
    lists = data.draw(family_lists())
    write_jkl(path := folder / f"round.jkl{suffix}", lists.names, blocks_of(lists))
    assert same_lists(read_jkl(path), lists)


@pytest.mark.parametrize("suffix", ["", ".gz"])
@given(data=st.data())
def test_pss_round_trip(folder: Path, suffix: str, data: st.DataObject) -> None:
    lists = data.draw(family_lists(pss_names))
    write_pss(path := folder / f"round.pss{suffix}", lists.names, blocks_of(lists), [("ess", "1")])
    assert same_lists(read_pss(path), lists)


def as_urlearning_reads(text: str) -> dict[str, dict[frozenset[str], float]]:
    """What URLearning's reader takes the lines for, keywords anywhere in a line included."""
    found: dict[str, dict[frozenset[str], float]] = {}
    for line in filter(None, text.split("\n")):
        if "meta" in line.lower():
            assert "var " not in line.lower()
            assert len(re.split("=+", line)) == 2
        elif "var " in line.lower():
            families = found[line.strip().split(" ")[1]] = {}
        else:
            score, *parents = re.split(" +", line.strip())
            families[frozenset(parents)] = float(score)
    return found


@given(lists=family_lists(pss_names))
def test_urlearning_would_read_what_is_written(folder: Path, lists: FamilyLists) -> None:
    write_pss(path := folder / "url.pss", lists.names, blocks_of(lists), [("score_type", "bdeu")])
    expected = {name: {frozenset(u): s for u, s in lists.families(name)} for name in lists.names}
    assert as_urlearning_reads(path.read_bytes().decode()) == expected


def test_samples_read_as_meant(folder: Path) -> None:
    jkl, pss = read_jkl(written(folder, JKL)), read_pss(written(folder, PSS))
    assert as_columns(jkl) == as_columns(pss) == A_AND_B
    assert as_columns(read_jkl(written(folder, JKL.replace("\n", "\r\n")))) == A_AND_B
    assert as_columns(read_pss(written(folder, PSS.replace("META", "meta").replace("VAR", "Var")))) == A_AND_B


def test_files_are_written_as_they_come(folder: Path) -> None:
    def blocks() -> Iterator[tuple[int, Iterator[tuple[float, tuple[str, ...]]]]]:
        yield 2, iter([(np.float64(-0.1), ("B",)), (-2, ())])
        yield 1, iter([(-1e-7, ())])

    write_jkl(path := folder / "out.jkl", ["A", "B"], blocks())
    assert path.read_text() == "2\nA 2\n-0.1 1 B\n-2.0 0\nB 1\n-1e-07 0\n"
    write_pss(path, ["A", "B"], blocks(), [("ess", "1")])
    assert path.read_text() == "META pss_version = 0.1\nMETA ess=1\n\nVAR A\n-0.1 B\n-2.0\n\nVAR B\n-1e-07\n"


BAD_JKL = [
    ("", 1, "expected the number of variables"),
    ("# only\n", 2, "found the end of the file"),
    ("two\nA 1\n-1 0\n", 1, "expected the number of variables"),
    ("2049\n", 1, "2,049 variables; at most 2,048"),
    ("9" * 5000 + "\n", 1, "the number of variables"),
    ("1\nA\n-1 0\n", 2, "expected variable 1 of 1"),
    ("1\nA 0\n", 2, "at least 1"),
    ("1\nA 1_0\n", 2, "at least 1"),
    ("1\nA\x07 1\n-1 0\n", 2, "control characters"),
    ("1\nA\xa0 1\n-1 0\n", 2, "white space"),
    ("2\nA 1\n-1 0\nA 1\n-1 0\n", 4, "does not stand above, as 'A'"),
    ("1\nA 2\n-1 0\n", 4, "expected family 2 of 2 of variable 1 of 1, found the end"),
    ("2\nA 1\n-1 0\n", 4, "expected variable 2 of 2"),
    ("2\nA 2\n-1 0\nB 1\n-1 0\n", 4, "expected family 2 of 2 of variable 1 of 2"),
    ("2\nA 1\n-1 0\n-2 1 B\nB 1\n-1 0\n", 4, "expected variable 2 of 2"),
    ("1\nA 1\n-1 0\n\nB 1\n", 5, "expected the end of the file after 1"),
    ("2\nA 1\n-1 2 B\nB 1\n-1 0\n", 3, "number of parents and as many"),
    ("2\nA 1\n-1 0 B\nB 1\n-1 0\n", 3, "number of parents and as many"),
    ("1\nA 1\nnan 0\n", 3, "finite score of 'A'"),
    ("1\nA 1\n-1e999 0\n", 3, "finite score"),
    ("1\nA 1\n-1_0 0\n", 3, "finite score"),
    ("2\nA 2\n-1 0\n-1 1 C\nB 1\n-1 0\n", 4, "'C' is no variable"),
    ("2\nA 1\n-1 1 \xff\nB 1\n-1 0\n".encode("latin-1"), 3, "is no variable"),
    ("2\n#\nA 2\n-1 0\n-1 1 A\nB 1\n-1 0\n", 5, "itself as a parent"),
    ("3\nA 2\n-1 0\n-1 2 B B\nB 1\n-1 0\nC 1\n-1 0\n", 4, "names a parent twice"),
    ("3\nA 2\n-1 2 B C\n-2 2 C B\nB 1\n-1 0\nC 1\n-1 0\n", 4, "same parents twice"),
    ("1\nA 1\n-1 0", 3, "a line break at its end"),
    (b"1\n# \xff\nA 1\n-1 0\n", 2, "text in UTF-8"),
    (b"1\nA\xff 1\n-1 0\n", 2, "text in UTF-8"),
    (b"\x00\x01\x02", 1, "expected the number of variables"),
]
BAD_PSS = [
    ("", 1, "expected a variable, found the end"),
    ("META a=b\n", 2, "expected a variable"),
    ("-1 A\n", 1, "META key=value or VAR name"),
    ("META a\nVAR A\n-1\n", 1, "META key=value"),
    ("VAR A B\n-1\n", 1, "one name"),
    ("VAR A\nMETA arity\n-1\n", 2, "META key=value"),
    ("VAR A\n\nVAR B\n-1\n", 3, "a family of 'A', which has none"),
    ("VAR A\n-1\nVAR B\n", 4, "expected a family, found the end"),
    ("VAR A\n-1\nVAR A\n-1\n", 3, "does not stand above"),
    ("".join(f"VAR x{v}\n-1\n" for v in range(2049)), 4097, "no more than 2,048"),
    ("VAR A\ninf\n", 2, "finite score of 'A'"),
    ("VAR A\n-1 B\n", 2, "'B' is no variable"),
    ("VAR A\n-1\n-2\n", 3, "same parents twice"),
    ("VAR A\n-1", 2, "a line break at its end"),
    (b"META a=\xff\nVAR A\n-1\n", 1, "text in UTF-8"),
]


@pytest.mark.parametrize(
    ("reader", "content", "line", "message"),
    [*((read_jkl, *case) for case in BAD_JKL), *((read_pss, *case) for case in BAD_PSS)],
)
def test_a_bad_line_is_named(folder: Path, reader: Reader, content: str | bytes, line: int, message: str) -> None:
    path = written(folder, content)
    with pytest.raises(FileError, match=rf"file\.txt, line {line}: .*{message}"):
        reader(path)


@pytest.mark.parametrize("reader", [read_jkl, read_pss])
def test_files_that_cannot_be_read(folder: Path, reader: Reader) -> None:
    with pytest.raises(FileError, match="nowhere: there is no such file"):
        reader(folder / "nowhere")
    with pytest.raises(FileError, match="this is a folder"):
        reader(folder)
    with pytest.raises(FileError, match="line 1: the compressed file is damaged"):
        reader(written(folder, JKL, "plain.gz"))
    packed = gzip.compress(JKL.encode())
    for damaged in (packed[:-1], packed[: len(packed) // 2], packed[:-8] + bytes(8), packed + b"more"):
        with pytest.raises(FileError, match=r"line \d+: "):
            reader(written(folder, damaged, "damaged.gz"))


def reads_or_refuses(reader: Reader, path: Path) -> None:
    """Anything but a FileError goes through and fails the test."""
    with contextlib.suppress(FileError):
        lists = reader(path)
        assert as_columns(lists) == in_fixed_order(as_columns(lists))


@pytest.mark.parametrize("reader", [read_jkl, read_pss])
@pytest.mark.parametrize("suffix", ["", ".gz"])
@given(content=st.binary(max_size=60) | st.text("0123 .-#ABVRMET=\n", max_size=60).map(str.encode))
def test_any_bytes_are_read_or_refused(folder: Path, reader: Reader, suffix: str, content: bytes) -> None:
    reads_or_refuses(reader, written(folder, content, f"fuzz{suffix}"))


@pytest.mark.parametrize(("reader", "sample"), [(read_jkl, JKL), (read_pss, PSS)])
@pytest.mark.parametrize("suffix", ["", ".gz"])
@given(data=st.data())
def test_altered_files_are_read_or_refused(
    folder: Path, reader: Reader, sample: str, suffix: str, data: st.DataObject
) -> None:
    content = gzip.compress(sample.encode()) if suffix else sample.encode()
    start = data.draw(st.integers(0, len(content)))
    end = data.draw(st.integers(start, min(start + 5, len(content))))
    change = data.draw(st.binary(max_size=3) | st.sampled_from([b" ", b"\n", b"0", b"A", b"#"]))
    reads_or_refuses(reader, written(folder, content[:start] + change + content[end:], f"fuzz{suffix}"))


@given(data=st.data(), lists=family_lists(st.integers(0, 9).map(str)))
def test_an_altered_count_or_size_is_always_caught(folder: Path, data: st.DataObject, lists: FamilyLists) -> None:
    write_jkl(path := folder / "count.jkl", lists.names, blocks_of(lists))
    lines = [line.split(" ") for line in path.read_text().splitlines()]
    line = lines[data.draw(st.integers(0, len(lines) - 1))]
    place = min(1, len(line) - 1)
    line[place] = data.draw(st.integers(0, 130).map(str).filter(lambda number: number != line[place]))
    path.write_text("".join(" ".join(line) + "\n" for line in lines))
    with pytest.raises(FileError, match=r"line \d+: (expected|\d+ variables; at most)"):
        read_jkl(path)


@given(data=st.data(), lists=family_lists())
def test_a_jkl_file_cut_short_is_always_caught(folder: Path, data: st.DataObject, lists: FamilyLists) -> None:
    write_jkl(path := folder / "cut.jkl", lists.names, blocks_of(lists))
    content = path.read_bytes()
    with pytest.raises(FileError, match=r"line \d+: "):
        read_jkl(written(folder, content[: data.draw(st.integers(0, len(content) - 1))], "cut.jkl"))


Blocks = list[tuple[int, list[tuple[float, tuple[str, ...]]]]]
GOOD: Blocks = [(1, [(-1.0, ("B",))]), (1, [(-1.0, ())])]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["A b", "B"], "cannot hold the name 'A b'.*rename"),
        (["A\n", "B"], "cannot hold the name"),
        (["#A", "B"], "cannot hold the name '#A'"),
        (["", "B"], "cannot hold the name ''"),
        (["\ud800", "B"], "cannot hold the name"),
        (["B", "B"], "two variables are called 'B'"),
    ],
)
@pytest.mark.parametrize("write", [write_jkl, write_pss])
def test_what_cannot_be_written_leaves_the_old_file(
    tmp_path: Path, write: Callable[..., None], names: list[str], message: str
) -> None:
    path = written(tmp_path, "old")
    with pytest.raises(FileError, match=rf"file\.txt: not written: .*{message}"):
        write(path, names, GOOD)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["Metabolism", "covar", "VAR", "meta"])
def test_names_that_urlearning_misreads_go_to_jkl_only(folder: Path, name: str) -> None:
    write_jkl(folder / "names.jkl", [name, "B"], GOOD)
    with pytest.raises(FileError, match=r"URLearning misreads.*write a \.jkl file"):
        write_pss(folder / "names.pss", [name, "B"], GOOD)


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="this is a folder"):
        write_jkl(tmp_path, ["A", "B"], GOOD)
    with pytest.raises(FileError, match="not written: there is no folder"):
        write_jkl(tmp_path / "nowhere" / "file.jkl", ["A", "B"], GOOD)

    def broken() -> Iterator[tuple[int, list[tuple[float, tuple[str, ...]]]]]:
        yield GOOD[0]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_jkl(tmp_path / "file.jkl.gz", ["A", "B"], broken())
    assert list(tmp_path.iterdir()) == []


def plainly_read(path: Path) -> tuple[list[str], dict[tuple[str, frozenset[str]], float]]:
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    rows = [row.split() for row in content.decode().splitlines() if row.strip() and row[0] != "#"][1:]
    names, families, left = [], {}, 0
    for row in rows:
        if left == 0:
            names.append(row[0])
            left = int(row[1])
        else:
            families[names[-1], frozenset(row[2:])] = float(row[0])
            left -= 1
    return names, families


@pytest.mark.skipif(not SCORES.is_dir(), reason=f"the score files are not there: {SCORES}")
def test_shared_score_files_read_as_a_plain_reader_reads_them() -> None:
    for path in sorted(SCORES.glob("*.jkl*")):
        names, families = plainly_read(path)
        lists = read_jkl(path)
        assert len(lists.names) == N_VARIABLES[re.split("[-_.]", path.name)[0]], path.name
        assert lists.names == tuple(names)
        assert {(v, frozenset(u)): s for v in names for u, s in lists.families(v)} == families, path.name
