"""Network files as other programs write them: dialects that mean the same, and errors that name the line."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from published import DATA

import topdag as td
from topdag.errors import FileError
from topdag.io.formats.bif import bif_text

NETWORKS = sorted((DATA / "networks").glob("*.bif*"))
BIF = bif_text(td.example_network())
HEAD = """network x { property author me; property "a;b" ; }
variable a { type discrete [ 2 ] { yes, no }; property "position = (1, 2)" ; }
variable b { type discrete[3]{0 1 2}; }
variable c { type discrete [ 2 ] { very high, low }; }
probability ( a ) { table 0.2, 0.8; }
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("networks")


def read(folder: Path, text: str, ending: str = ".bif") -> td.FittedNetwork:
    path = folder / f"net{ending}"
    path.write_text(text)
    return td.io.read_fitted(path)


@pytest.mark.skipif(not NETWORKS, reason=f"no networks in {DATA / 'networks'}")
@pytest.mark.parametrize("path", NETWORKS, ids=lambda path: path.name.split(".")[0])
def test_the_networks_of_the_literature(path: Path, folder: Path) -> None:
    """All variables and parents of the file, and rows that sum to 1; small ones go there and back."""
    fitted = td.io.read_bif(path)
    content = path.read_bytes()
    text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode()
    assert len(fitted.names) == text.count("\nvariable ")
    heads = [line for line in text.splitlines() if line.startswith("probability")]
    assert fitted.network.n_edges == sum(head.count(",") + 1 for head in heads if "|" in head)
    assert all(abs(table.sum(axis=-1) - 1).max() <= 1e-9 for table in fitted.tables.values())
    if len(content) < 60_000:
        assert td.read_network(path) == fitted.network
        td.write_network(folder / "again.bif", fitted)
        assert td.io.read_fitted(folder / "again.bif") == fitted


@pytest.mark.skipif(not NETWORKS, reason=f"no networks in {DATA / 'networks'}")
def test_asia_is_the_example() -> None:
    assert td.io.read_fitted(DATA / "networks" / "asia.bif") == td.example_network()


# ---- Dialects of BIF


@pytest.mark.parametrize(
    "body",
    [
        "probability ( b | a ) { (yes) .1, .2, .7; (no) 0.3, 0.3, 0.4; }",
        "probability(b|a){(no)0.3 0.3 0.4;(yes)1e-1 2e-1 7e-1;} // a comment\n",
        "probability ( b | a ) { table 0.1, 0.3, 0.2, 0.3, 0.7, 0.4; }",
        "probability ( b | a ) { default 0.3, 0.3, 0.4; /* but */ (yes) 0.1, 0.2, 0.7; }",
        "probability ( b a ) { (yes) 0.1, 0.2, 0.7; (no) 0.3, 0.3, 0.4; property x; }",
        'probability ( "b" | "a" ) { ("yes") 0.1, 0.2, 0.7; ("no") 0.3, 0.3, 0.4; }',
    ],
)
def test_bif_dialects(folder: Path, body: str) -> None:
    end = "probability ( c | a, b ) { default 0.5, 0.5; ( no, 1 ) 0.25, 0.75; }"
    fitted = read(folder, HEAD + body + end)
    assert fitted.states == {"a": ("yes", "no"), "b": (0, 1, 2), "c": ("very high", "low")}
    assert fitted.tables["b"].tolist() == [[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]]
    assert fitted.table("c")["no", 1] == {"very high": 0.25, "low": 0.75}


def test_names_of_several_words_without_quotes(folder: Path) -> None:
    """As pgmpy writes them."""
    text = """network x {
}
variable my first { type discrete [ 2 ] { a b, c }; }
variable second { type discrete [ 2 ] { x, y }; }
probability ( my first | second ) { ( x ) 0.1, 0.9; ( y ) 0.2, 0.8; }
probability ( second ) { table 0.5, 0.5; }
"""
    fitted = read(folder, text)
    assert fitted.network.parents["my first"] == ("second",)
    assert fitted.states["my first"] == ("a b", "c")


def test_variables_may_come_after_probabilities(folder: Path) -> None:
    text = "probability ( a ) { table 0.25, 0.75; } variable a { type discrete [ 2 ] { x, y }; }"
    assert read(folder, text).table("a") == {(): {"x": 0.25, "y": 0.75}}


def test_decimals_cut_short_are_scaled(folder: Path) -> None:
    text = "variable a { type discrete [ 3 ] { x, y, z }; } probability ( a ) { table 0.333, 0.333, 0.333; }"
    assert read(folder, text).tables["a"].tolist() == pytest.approx([1 / 3] * 3, abs=1e-15)


def test_latin_1_and_a_byte_order_mark(folder: Path) -> None:
    text = "variable größe { type discrete [ 2 ] { x, y }; } probability ( größe ) { table 0.5, 0.5; }"
    for encoding in ("latin-1", "utf-8-sig"):
        (folder / "coded.bif").write_bytes(text.encode(encoding))
        assert td.io.read_fitted(folder / "coded.bif").names == ("größe",)


# ---- Other formats


def test_hugin_files(folder: Path) -> None:
    text = """net { name = "x"; node_size = (50 50); }  % a comment
node a { label = "A; the first"; position = (1 2); states = ("yes" "no way"); }
discrete node b { states = (0 1 2 ); HR_Group = "0"; }
potential (a) { data = ( 0.2 0.8 ); }
potential ( b | a ) { data = ((0.1 0.2 0.7)  % yes; no comma
                             (0.3 0.3 0.4)); }
"""
    fitted = read(folder, text, ".net")
    assert fitted.states == {"a": ("yes", "no way"), "b": (0, 1, 2)}
    assert fitted.tables["b"].tolist() == [[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]]


def test_xmlbif_with_blanks_and_comments(folder: Path) -> None:
    text = """<?xml version="1.0"?>
<!DOCTYPE BIF [ <!ELEMENT BIF ( NETWORK )*> ]>
<BIF VERSION="0.3"><NETWORK><NAME>x</NAME>
<VARIABLE TYPE="nature"><NAME> a </NAME><OUTCOME>yes</OUTCOME><OUTCOME> no</OUTCOME></VARIABLE>
<VARIABLE TYPE="nature"><NAME>b</NAME><VALUE>0</VALUE><VALUE>1</VALUE><PROPERTY>position = (0,0)</PROPERTY></VARIABLE>
<DEFINITION><FOR>b</FOR><GIVEN>a</GIVEN><TABLE>0.1 0.9 <!-- no --> 0.4 0.6</TABLE></DEFINITION>
<PROBABILITY><FOR>a</FOR><TABLE>0.5 0.5</TABLE></PROBABILITY>
</NETWORK></BIF>"""
    fitted = read(folder, text, ".xml")
    assert fitted.table("b") == {("yes",): {0: 0.1, 1: 0.9}, ("no",): {0: 0.4, 1: 0.6}}


# ---- What is wrong, and where


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("variable tub {", "variabel tub {", "line 6: expected network, variable or probability, found 'variabel tub"),
        ("network unknown {\n}", "network unknown {", "line 2: expected a property or '}', found 'variable asia"),
        ("[ 2 ] { yes, no };\n}\nvariable tub", "[ 3 ] { yes, no };\n}\nvariable tub", "line 4: 'asia' should have 3"),
        ("type discrete [ 2 ] { yes, no };\n}\nvariable tub", "}\nvariable tub", "line 3: 'asia' has no states"),
        ("type discrete", "type continuous", r"line 4: expected 'discrete \[ n \] \{' \(other types are not read\)"),
        ("variable tub", "variable asia", "line 6: 'asia' is declared twice"),
        ("( tub | asia )", "( tub | asai )", "line 30: There is no variable 'asai'; did you mean 'asia'"),
        ("( tub | asia )", "( tup | asia )", "line 30: There is no variable 'tup'; did you mean 'tub'"),
        ("0.05, 0.95", "0.05, 0.95, 0.0", "line 31: 3 probabilities, but 'tub' has 2 states"),
        ("0.05, 0.95", "0.05, O.95", "line 31: 'O.95' is not a number"),
        ("0.05, 0.95", "0.05, 0.85", r"line 30: the probabilities of 'tub' given asia=yes are \[0.05, 0.85\]"),
        ("0.05, 0.95", "-0.05, 1.05", r"line 30: the probabilities of 'tub' given asia=yes"),
        ("0.05, 0.95", "nan, 0.95", "line 30: 'tub' has no row for|line 30: the probabilities of 'tub'"),
        ("(yes) 0.05", "(yep) 0.05", "line 31: 'asia' has no state 'yep'; its states are yes, no"),
        ("(yes) 0.05", "(yes, no) 0.05", "line 31: a row of 'tub' names a state for each of 1 parents"),
        ("  (yes) 0.05, 0.95;\n", "", r"line 30: 'tub' has no row for \(yes\); add it or a default"),
        ("  table 0.01, 0.99;", "  table 0.01, 0.09, 0.9;", "line 27: 3 numbers for 'asia', but .* need 2 = 2"),
        ("  table 0.01, 0.99;\n", "", "line 3: 'asia' has no probabilities"),
        ("probability ( tub | asia )", "probability ( asia | tub )", "line 30: the probabilities of 'asia' .* second"),
        ("probability ( asia )", "probability ( asia | smoke )", "line 27: 2 numbers for 'asia', .* need 2 x 2 = 4"),
    ],
)
def test_bif_errors_name_the_line(folder: Path, old: str, new: str, reason: str) -> None:
    assert old in BIF
    with pytest.raises(FileError, match=rf"net\.bif: {reason}"):
        read(folder, BIF.replace(old, new, 1))


def test_a_table_beyond_any_memory(folder: Path) -> None:
    names = [f"v{i}" for i in range(60)]
    variables = "".join(f"variable {name} {{ type discrete [ 2 ] {{ x, y }}; }}\n" for name in names)
    text = f"{variables}probability ( v0 | {', '.join(names[1:])} ) {{ default 0.5, 0.5; }}"
    with pytest.raises(FileError, match=r"net\.bif: line 61: 'v0' has too many parents"):
        read(folder, text)


def test_a_cycle_in_a_file(folder: Path) -> None:
    text = HEAD.replace("( a ) { table 0.2, 0.8; }", "( a | b ) { default 0.2, 0.8; }")
    with pytest.raises(FileError, match=r"net\.bif: The edges form a cycle: a -> b -> a"):
        read(folder, text + "probability ( b | a ) { default 0.2, 0.4, 0.4; }")


@pytest.mark.parametrize(
    ("ending", "text", "reason"),
    [
        (".net", "net { }\nutility u { }", r"line 2: expected net, node or potential \(other kinds"),
        (".net", "node a { label = 3; }", "line 1: node 'a' has no states"),
        (".net", 'node a { states = ("x"); }\npotential (a | b) { }', "line 2: There is no variable 'b'"),
        (".net", 'node a { states = ("x) }', "line 1: expected 'name = value;' or"),
        (".xml", "<BIF>\n<NETWORK>\n</BIF>", "line 3: this is not XML: mismatched tag"),
        (".xml", "<html></html>", "line 1: expected <BIF>, found <html>"),
        (".xml", "", "this is not XML: no element found"),
        (".xml", "<BIF>\n</BIF>", "line 1: <BIF> has no <NETWORK>"),
        (".xml", "<BIF><NETWORK>\n<DEFINITION></DEFINITION></NETWORK></BIF>", "line 2: <DEFINITION> has no <FOR>"),
        (".xml", "<x>" * 1000 + "</x>" * 1000, "nested deeper"),
        (".xdsl", "<smile><nodes>\n<noisymax/></nodes></smile>", "line 2: a <noisymax> cannot be read"),
        (".xdsl", "<BIF></BIF>", "line 1: expected <smile>, found <BIF>"),
        (".json", "[]", "expected a JSON object, found list"),
    ],
)
def test_other_errors(folder: Path, ending: str, text: str, reason: str) -> None:
    with pytest.raises(FileError, match=rf"net\{ending}: .*({reason})"):
        read(folder, text, ending)


def test_files_that_are_not_there_or_damaged(folder: Path) -> None:
    with pytest.raises(FileError, match=r"absent\.bif: there is no such file"):
        td.io.read_fitted(folder / "absent.bif")
    (folder / "cut.bif.gz").write_bytes(gzip.compress(BIF.encode())[:-20])
    with pytest.raises(FileError, match=r"cut\.bif\.gz: the gzip file is damaged"):
        td.read_network(folder / "cut.bif.gz")
    with pytest.raises(FileError, match="must end in"):
        td.read_network(folder / "net.txt")


@pytest.mark.parametrize("ending", [".bif", ".net", ".xml", ".xdsl", ".json"])
@settings(max_examples=60)
@given(st.data())
def test_damage_is_refused_by_name_or_harmless(folder: Path, ending: str, data: st.DataObject) -> None:
    path = folder / f"damaged{ending}"
    td.write_network(path, td.example_network())
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(content) - 1))
        content[start : start + data.draw(st.integers(0, 30))] = data.draw(st.binary(max_size=3))
    path.write_bytes(content)
    try:
        said, fitted = "", td.io.read_fitted(path)
    except FileError as error:
        said, fitted = str(error), None
    assert said.startswith(str(path)) if fitted is None else isinstance(fitted, td.FittedNetwork)
