"""Tables from files: separators, quotes, types of columns, what is missing, and every refusal."""

import contextlib
import csv
import gzip
import io
import pathlib

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from topdag.data.convert import as_table
from topdag.data.files import delimited as text_cells
from topdag.data.files import read as reading
from topdag.data.files.read import read_table
from topdag.data.table import Table
from topdag.errors import TableError

DATA = pathlib.Path(__file__).resolve().parents[3] / "shared" / "data"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the shared data are not here")

blank_free = st.text(st.characters(exclude_characters="\0\r", codec="utf-8"), max_size=12).map(str.strip)
words = blank_free.filter(lambda text: text and text not in reading.MISSING_VALUES)
plain_words = st.text("abcxyz-.é", min_size=1, max_size=12).filter(lambda text: not set(text) <= set("-."))
same_folder = settings(deadline=None, max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def read(tmp_path):
    """Writes text or bytes to a file and reads it as a table."""

    def read_content(content, name="table.csv", **options):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_table(path, **options)

    return read_content


@pytest.fixture
def refused(read):
    def check(content, *parts, **options):
        with pytest.raises(TableError) as caught:
            read(content, **options)
        for part in (options.get("name", "table.csv"), *parts):
            assert part in str(caught.value)

    return check


def tables_of(cells):
    """Lists of rows of up to four cells each."""
    return st.integers(2, 4).flatmap(
        lambda width: st.lists(st.lists(cells, min_size=width, max_size=width), min_size=1, max_size=12)
    )


@same_folder
@given(tables_of(words))
def test_quoted_cells_come_back(read, rows):
    text = io.StringIO(newline="")
    csv.writer(text, quoting=csv.QUOTE_ALL).writerows([[f"v{j}" for j in range(len(rows[0]))], *rows])
    names = [f"v{j}" for j in range(len(rows[0]))]
    as_text = {name: sorted({row[j] for row in rows}) for j, name in enumerate(names)}
    assert read(text.getvalue(), states=as_text) == Table(rows, names=names, states=as_text)


@same_folder
@given(tables_of(plain_words), st.sampled_from([",", ";", "\t", "|", " "]), st.booleans(), st.booleans())
def test_plain_cells_come_back(read, rows, separator, header, quoted):
    """The same when quoted."""
    names = [f"V{j}" for j in range(len(rows[0]))]
    lines = [names, *rows] if header else rows
    if quoted:
        lines = [[f'"{cell}"' for cell in line] for line in lines]
    assert read("\n".join(map(separator.join, lines)), header=header) == Table(rows, names=names)


def cells_by_row(found):
    first, columns, lines = found
    cells = [[texts[code].strip() for code in codes] for texts, codes in (column() for column in columns)]
    return [text.strip() for text in first], cells if len(lines) else [], list(lines)


odd_lines = st.lists(
    st.lists(st.sampled_from(["a", "b c", ' "q"', '"x,y"', '"x""y"', '"l\nm"', "", " ", 'u"v', "é", '""']), max_size=3),
    min_size=1,
    max_size=6,
).map(lambda lines: "\n".join(map(",".join, lines)))


@same_folder
@given(st.one_of(odd_lines, st.text('ab,"\n \t\x0b\x1c', max_size=30)), st.sampled_from(",\t "), st.booleans())
def test_what_is_read_fast_is_what_is_read_slowly(text, separator, header):
    """Or a closer look is asked for; what is refused slowly is never read fast. Also by several threads."""
    content = text_cells.text_content(text.encode(), None)
    found = text_cells.quick_cells(content, separator, header) if content.strip() else None
    if found is not None:
        assert cells_by_row(found) == cells_by_row(text_cells.quoted_cells(content, separator, header))


def test_good_files_need_no_closer_look():
    for text in ("a,b\n1,2\n\n  \n3,4\n", 'a,"b ""c"""\n"1\n2",x\n , "y"\n', "a;b\n1;2\n"):
        assert text_cells.quick_cells(text.encode(), ";" if ";" in text else ",", header=True) is not None


@same_folder
@given(st.lists(st.tuples(st.integers(-(10**12), 10**12), st.integers(0, 9), st.integers(0, 99)), min_size=1))
def test_integers_come_back(read, rows):
    array = np.array(rows)
    text = "a,b,c\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows)
    assert read(text) == Table(array, names=["a", "b", "c"])


@same_folder
@given(st.binary(max_size=60))
def test_any_bytes_are_a_table_or_refused(read, content):
    for name in ("table.csv", "table.csv.gz", "table.parquet"):
        with contextlib.suppress(TableError):
            assert isinstance(read(content, name), Table)


@same_folder
@given(
    st.text("ab1.,;\t| \n\r\"'?e-\x0c\x1féNn\0", max_size=40),
    st.fixed_dictionaries(
        {
            "header": st.booleans(),
            "separator": st.sampled_from([None, ",", " ", "'", "."]),
            "missing": st.sampled_from(["error", "drop", "state"]),
            "discretize": st.sampled_from([None, "mean", "quantile(3)", "uniform(2)"]),
        }
    ),
)
def test_any_text_is_a_table_or_refused(read, text, options):
    try:
        table = read(text, **options)
    except TableError:
        return
    assert table.n_rows >= 1
    assert table.n_variables >= 2


def test_types_of_columns(read):
    table = read("s,i,m,b\nb,10,1,True\na,9,x,False\nb,-3,2,True\n")
    assert table.states == (("a", "b"), (-3, 9, 10), ("1", "2", "x"), ("False", "True"))
    assert read("a,b\n-7,+1\n0,1\n").states == ((-7, 0), (1,))
    assert read("a,b\n007,1\n7,2\n").states == (("007", "7"), (1, 2))  # a code, not a quantity
    assert read("a,b\n١,1_0\n2,3\n").states == (("2", "١"), ("1_0", "3"))


@pytest.mark.parametrize("cells", ["1.5,2", "1e3,2.5", ".5,-.5", "1.,.2", "1E-3,4"])
def test_floats_are_numbers_unless_cut(read, cells):
    first, second = cells.split(",")
    text = f"x,y\n{first},0\n{second},1\n"
    assert sorted(read(text, types={"x": "continuous"}).numbers[0]) == sorted(map(float, (first, second)))
    assert read(text, discretize="mean").arities.tolist() == [2, 2]


@pytest.mark.parametrize("cells", ["1.0,2", "1e3,2", "1.,2.0"])
def test_floats_that_are_all_whole_numbers_are_states(read, cells):
    first, second = cells.split(",")
    states = read(f"x,y\n{first},0\n{second},1\n").states[0]
    assert states == tuple(sorted((int(float(first)), 2)))


def test_infinite_and_nan(read, refused):
    refused("x,y\n1.5,0\ninf,1\n", "column 'x' is infinite in line 3 of the file", discretize="mean")
    refused("x,y\n1.5,0\n1e999,1\n", "column 'x' is infinite in line 3 of the file", discretize="mean")
    for nan in ("nan", "NAN"):
        text = f"x,y\n1.5,0\n{nan},1\n"
        refused(text, "'x' (1 row, the first is line 3 of the file)", discretize="mean", missing="error")
    assert read("x,y\ninf,0\nbig,1\n").states[0] == ("big", "inf")


def test_what_is_missing_in_files(read, refused):
    cells = ["a", *reading.MISSING_VALUES, "b"]
    text = "x,y\n" + "".join(f"{cell},{i % 2}\n" for i, cell in enumerate(cells))
    n_missing = len(reading.MISSING_VALUES)
    refused(text, f"'x' ({n_missing} rows, the first is line 3 of the file)", missing="error")
    assert read(text, missing="drop").n_rows == 2
    assert read(text, missing="state").states[0] == ("a", "b", "missing")
    assert read("x,y\n?,1\nNA,2\n", missing_values=()).states[0] == ("?", "NA")
    refused("x,y\n-9,1\n3,2\n", "'x' (1 row, the first is line 2", missing_values=["-9"], missing="error")
    refused("x,y\nNA,1\nb,2\n", "'x' (1 row, the first is line 2", missing_values="NA", missing="error")


def test_separators_are_sniffed(read):
    expected = Table([[0, 1], [1, 0]], names=["a", "b"])
    for text in (
        "a,b\n0,1\n1,0",
        "a;b\n0;1\n1;0",
        "a\tb\n0\t1\n1\t0",
        "a|b\n0|1\n1|0",
        "a b\n0 1\n1 0\n",
        "  a   b\n 0\t 1 \n\n1    0\n",
        "a, b\r\n0 , 1\r\n1,0\r\n",
        "a,b\r0,1\r1,0",
    ):
        assert read(text) == expected
    assert read("a:b\n0:1\n1:0\n", separator=":") == expected
    assert read('"x, y";z\n0;1\n1;0\n').names == ("x, y", "z")
    assert read("x,y;z;w\n0;1;2\n", header=True).names == ("x,y", "z", "w")


def test_white_space_with_quotes(read):
    table = read('a  "b c"\n"x y"\t1\n z  2 \n')
    assert table.names == ("a", "b c")
    assert table.states == (("x y", "z"), (1, 2))


def test_header_quotes_and_marks(read):
    assert read(b"\xef\xbb\xbfa,b\n0,1\n").names == ("a", "b")
    assert read('a,b\n"x, ""y""",1\n"two\nlines",2\n').states[0] == ("two\nlines", 'x, "y"')
    assert read("0,1\n1,1\n", header=False) == Table([[0, 1], [1, 1]])
    assert read("\n \na,b\n0,1\n\n  \n1,1\n\n") == Table([[0, 1], [1, 1]], names=["a", "b"])
    assert read("größe,b\nklein,1\nweiß,2\n").states[0] == ("klein", "weiß")


def test_gzip(read, refused):
    packed = gzip.compress(b"a,b\n0,1\n1,1\n")
    expected = Table([[0, 1], [1, 1]], names=["a", "b"])
    assert read(packed, "table.csv.gz") == expected == read(packed, "table.dat")
    refused(packed[:-9], "gzip file is damaged", name="table.gz")
    refused(packed[:12] + b"damage" + packed[18:], "gzip file is damaged", name="table.gz")
    refused(b"a,b\n0,1\n", "gzip file is damaged", name="table.gz")


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("", ["the file is empty"]),
        (" \n\n", ["the file is empty"]),
        ("a,b\n", ["a header but no rows"]),
        ("a,b", ["a header but no rows"]),
        ('"a","b"\n', ["a header but no rows"]),
        ('""', ["only one column"]),
        ("abc\n1\n2\n", ["only one column: 'abc'", "separator="]),
        ("a,b\n0,1\n0,1,2\n", ["line 3 of the file has 3 cells, but the first line has 2", "','", "separator="]),
        ("a,b\n0,1\n\n0\n", ["line 4 of the file has 1 cell"]),
        ('a,b\n"0",1\n\n0\n', ["line 4 of the file has 1 cell"]),
        ("a b\n0 1\n0 1 2\n", ["line 3 of the file has 3 cells", "white space"]),
        ("a,b\n0,1\n0;1\n", ["line 3 of the file has 1 cell"]),
        ("a,b,a\n0,1,2\n", ["columns 0 and 2 (counted from 0) are both called 'a'"]),
        ("a,,b\n0,1,2\n", ["column 1 (counted from 0) has no name"]),
        ('a,b\n"0,1\n', ["line 2 of the file"]),
        ('a,b\n"0"x,1\n', ["line 2 of the file"]),
        (b"a,b\n0,\xff\n", ["not a text in UTF-8: see line 2, after '0,'", 'encoding="latin-1"']),
        (b"\x7fELF\0\0\1", ["not a file of text"]),
        (b"PAR1 this is not Parquet", ["Parquet file cannot be read"]),
        (",".join(f"v{j}" for j in range(2049)) + "\n" + ",".join("0" * 2049), ["2,049 variables are too many"]),
    ],
)
def test_files_refused(refused, content, parts):
    refused(content, *parts)


def test_paths_refused(tmp_path):
    with pytest.raises(TableError, match=r"nothing\.csv: there is no such file"):
        read_table(tmp_path / "nothing.csv")
    with pytest.raises(TableError, match="this is a folder"):
        read_table(tmp_path)
    with pytest.raises(TableError, match="cannot be read"):
        read_table("a\0b")


@pytest.mark.parametrize("separator", ["", "::", "é", "a", '"', "\n"])
def test_separators_refused(refused, separator):
    refused("a,b\n0,1\n", "separator= is one character", separator=separator)


def test_ragged_lines_are_numbered(refused):
    refused("a,b\n" + "0,1\n" * 50 + "0,1,2\n", "line 52 of the file has 3 cells")


def test_states_and_weights_of_files(read, refused):
    text = "a,b,n\n1,x,2\n2,y,0\n1,x,3\n"
    table = read(text, weights="n", states={"a": [0, 1, 2], "b": ["y", "x"]})
    assert table.states == ((0, 1, 2), ("y", "x"))
    assert list(table.rows()) == [((1, "x"), 5)]
    assert read(text, states={"a": ["2", "1"]}).states[0] == ("2", "1")
    refused(text, "'a' has 2 in line 3 of the file", states={"a": [1]})
    refused(text, "'a' has '2' in line 3 of the file", states={"a": ["1"]})
    refused("a,b,n\n1,2,1\n\n3,4,-1\n", "the weight in line 4 of the file is -1", weights="n")
    refused("a,b,n\n1,2,1\n3,4,x\n", "the weight in line 2 of the file is 1", weights="n")
    refused(text, "'m' that is not there", weights="m")


def test_parquet(read, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    pyarrow = pytest.importorskip("pyarrow")
    columns = {"a": ["x", "y", "x"], "b": [1, 2, 1], "c": [True, False, None]}
    kinds = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0, 1, 0]), pyarrow.array(["z", "q", "r"]))
    parquet.write_table(pyarrow.table({**columns, "d": kinds}), tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.parquet", missing="state")
    assert table.states == (("x", "y"), (1, 2), (False, True, "missing"), ("z", "q", "r"))
    with pytest.raises(TableError, match=r"t\.parquet: missing values in 1 column: .c. \(1 row, the first"):
        read_table(tmp_path / "t.parquet", missing="error")


def test_parquet_by_each_library(tmp_path, monkeypatch):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "t.parquet"
    parquet.write_table(pyarrow.table({"a": ["x", "y"], "b": [1, 2]}), path)
    for library, reader in reading.PARQUET_READERS:
        pytest.importorskip(library)
        monkeypatch.setattr(reading, "PARQUET_READERS", [("no_such_library", "read"), (library, reader)])
        assert read_table(path) == Table({"a": ["x", "y"], "b": [1, 2]})
    monkeypatch.setattr(reading, "PARQUET_READERS", [("no_such_library", "read")])
    with pytest.raises(TableError, match="needs one of pyarrow, polars or pandas"):
        read_table(path)


@needs_data
@pytest.mark.parametrize(
    ("name", "n_rows", "arities"),
    [
        ("adult15_cat", 30162, [2, 7, 2, 16, 2, 7, 14, 6, 5, 2, 2, 2, 2, 41, 2]),
        ("letter", 20000, [2] * 17),
        ("tic_tac_toe", 958, [3] * 9 + [2]),
        ("autos", 159, [2] * 8 + [1] + [2] * 17),
    ],
)
def test_shared_data(name, n_rows, arities):
    table = read_table(DATA / f"{name}.csv", types={"*": "categorical"})
    assert table.n_rows == n_rows
    assert table.arities.tolist() == arities
    with open(DATA / f"{name}.csv", encoding="utf-8", newline="") as file:
        names, *rows = csv.reader(file)
    assert table == Table(np.array(rows).astype(int), names=names, types={"*": "categorical"})
    guessed = Table(np.array(rows).astype(int), names=names)
    assert read_table(DATA / f"{name}.csv") == guessed and guessed.n_rows == n_rows
    assert table.constant == (("engine_location",) if name == "autos" else ())


@pytest.mark.parametrize(
    ("cells", "part"),
    [
        (["0.1", "0.2", "k/A"], "because of 'k/A' in line 4 of the file: all else"),
        (["<5", "0.2", "1", "0.1", "lost", "<5"], "because of '<5' in line 2 of the file and 1 other text: all else"),
        (['"0,1"', '"0,2"', "k.A."], "because of 'k.A.' in line 4"),
    ],
)
def test_a_word_among_numbers_is_mentioned(read, cells, part):
    table = read("dose,ill\n" + "".join(f"{cell},{i % 2}\n" for i, cell in enumerate(cells)), discretize="mean")
    assert len(table.states[0]) == len(set(cells))
    assert [part in note for note in table.notes] == [True]


@pytest.mark.parametrize("cells", [["1", "2", "3", "more"], ["0.5", "a", "b"], ["007", "1.5", "2"], ["a", "b", "c"]])
def test_words_and_codes_are_not_mentioned(read, cells):
    assert read("x,y\n" + "".join(f"{cell},{i % 2}\n" for i, cell in enumerate(cells))).notes == ()


def test_the_separator_that_a_first_line_tells(read, refused):
    for first in ("sep=;", '"sep=;"', "SEP=;"):
        assert read(f"{first}\na,x;b\n0;1\n1;0\n").names == ("a,x", "b")
    assert read("sep=;\na|b\n0|1\n1|0\n", separator="|").names == ("a", "b")
    refused("sep=;\na;b\n0;1\n1\n", "line 4 of the file has 1 cell")


def test_zero_bytes_and_titles_come_with_what_to_do(read, refused):
    content = "a,b\n0,1\n1,0\n".encode("utf-16-le")
    refused(content, 'the first in line 1; save the table as CSV, or if it is one, try encoding="utf-16-le"')
    assert read(content, encoding="utf-16-le").names == ("a", "b")
    refused("Our study 2024\n\na,b\n0,1\n", "line 3 of the file has 1 cell", "A title above the header must be deleted")


def test_files_that_are_open(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("read,b\n0,1\n1,0\n")
    with path.open("rb") as file:
        assert read_table(file) == read_table(path)
    assert read_table(io.BytesIO(gzip.compress(path.read_bytes()))) == read_table(path)
    with path.open() as file, pytest.raises(TableError, match="open it in binary mode"):
        read_table(file)
    with pytest.raises(TableError, match="the file: there is only one column"):
        read_table(io.BytesIO(b"a\n1\n"))


def test_a_frame_with_a_column_called_read_is_no_file():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"read": [0, 1, 0, 1], "name": ["a", "b", "a", "b"]})
    assert as_table(frame) == Table(frame)
