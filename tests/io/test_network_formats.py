"""Fitted networks written and read back: names and states of all kinds survive, or are refused with a reason."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topdag as td
from topdag.errors import FileError, NetworkError
from topdag.io.formats.bif import bif_text
from topdag.networks.plain_names import IDENTIFIER, plain_words

ANY_NAME = (".json", ".bif", ".xml")
PLAIN_NAMES = (".net", ".xdsl")
ODD = ["a b", '"', "it's", "a,b", "<b>", "&amp;", "é", "日本", "table", "variable", "default", "a|b", "(x)", "{y}"]
ODD += [
    "a;b",
    "//",
    "/*",
    "%",
    "\\",
    "\\n",
    " lead",
    "trail ",
    "two\nlines",
    "tab\t",
    "\r",
    "[1]",
    "#",
    "-",
    ".",
    "a=b",
]
ODD += ["probability ( x )", "property x;", "xml:space", "]]>", "'", "0", "007", "+1", "1.0", "-3", "null", "True"]
STATES = [*ODD, 0, 1, -3, 10**20, True, False, 1.0, 0.5, 1e-9, float("inf")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("networks")


def there_and_back(fitted: td.FittedNetwork, path: Path) -> td.FittedNetwork:
    td.write_network(path, fitted)
    assert td.read_network(path) == fitted.network
    return td.io.read_fitted(path)


def assert_same(one: td.FittedNetwork, other: td.FittedNetwork) -> None:
    assert one == other
    for name in one.names:  # 1, 1.0 and True are equal, but not the same
        assert list(map(type, one.states[name])) == list(map(type, other.states[name]))


@st.composite
def odd_networks(draw: st.DrawFn) -> td.FittedNetwork:
    texts = st.sampled_from(ODD) | st.text(st.characters(exclude_categories=["Cc", "Cs", "Cn", "Co"]), min_size=1)
    names = draw(st.lists(texts, min_size=1, max_size=4, unique=True))
    made = td.random_network(names, arities=(1, 3), seed=draw(st.integers(0, 99)))
    kinds = st.sampled_from(STATES) | texts
    states = {
        name: draw(st.lists(kinds, min_size=len(own), max_size=len(own), unique_by=(str, lambda s: s)))
        for name, own in made.states.items()
    }
    return td.FittedNetwork(made.network, states, made.tables)


@pytest.mark.parametrize("ending", ANY_NAME)
@settings(max_examples=80)
@given(odd_networks())
def test_any_name_and_state_survives(folder: Path, ending: str, fitted: td.FittedNetwork) -> None:
    if ending == ".json" and any(float("inf") in own for own in fitted.states.values()):
        with pytest.raises(FileError, match="not JSON compliant"):
            td.write_network(folder / "odd.json", fitted)
        return
    assert_same(there_and_back(fitted, folder / f"odd{ending}"), fitted)


@settings(max_examples=40)
@given(odd_networks())
def test_plain_names_fit_every_format(folder: Path, fitted: td.FittedNetwork) -> None:
    plain = fitted.plain_names()
    assert all(map(IDENTIFIER.fullmatch, plain.names))
    assert all(IDENTIFIER.fullmatch(str(state)) for own in plain.states.values() for state in own)
    assert [own.tolist() for own in plain.tables.values()] == [own.tolist() for own in fitted.tables.values()]
    for ending in (*ANY_NAME, *PLAIN_NAMES):
        assert_same(there_and_back(plain, folder / f"plain{ending}"), plain)


@settings(max_examples=60)
@given(odd_networks())
def test_net_holds_any_state(folder: Path, fitted: td.FittedNetwork) -> None:
    network = td.Network.from_masks(plain_words(fitted.names, "v"), fitted.network.masks)
    states = dict(zip(network.names, fitted.states.values(), strict=True))
    tables = dict(zip(network.names, fitted.tables.values(), strict=True))
    renamed = td.FittedNetwork(network, states, tables)
    assert_same(there_and_back(renamed, folder / "states.net"), renamed)


@pytest.mark.parametrize("ending", PLAIN_NAMES)
@pytest.mark.parametrize("name", [name for name in ODD if not IDENTIFIER.fullmatch(name)])
def test_formats_of_plain_names_refuse_others(folder: Path, ending: str, name: str) -> None:
    path = folder / f"refused{ending}"
    with pytest.raises(FileError, match=r"letters, digits and underscores.*plain_names\(\)"):
        td.write_network(path, td.random_network([name, "b"], seed=1))
    assert not path.exists()


def test_xdsl_refuses_states_that_are_no_words(folder: Path) -> None:
    network = td.Network(["a", "b"], {})
    with pytest.raises(FileError, match="'0' cannot stand in XDSL"):
        td.write_network(folder / "states.xdsl", network.fit({"a": [0, 1], "b": ["x", "y"]}))


def test_control_characters_are_for_bif_and_json(folder: Path) -> None:
    fitted = td.random_network(["bell\x07", "b"], seed=1)
    for ending in (".bif", ".json"):
        assert there_and_back(fitted, folder / f"bell{ending}") == fitted
    with pytest.raises(FileError, match=r"'bell\\x07' cannot stand in XML"):
        td.write_network(folder / "bell.xml", fitted)


@pytest.mark.parametrize("ending", [*ANY_NAME, *PLAIN_NAMES, ".xmlbif", ".bifxml"])
@pytest.mark.parametrize("seed", range(2))
def test_numbers_come_back_as_the_same_doubles(folder: Path, ending: str, seed: int) -> None:
    fitted = td.random_network(6, arities=(1, 4), arcs=8, concentration=0.05, seed=seed)
    assert there_and_back(fitted, folder / f"doubles{ending}") == fitted
    assert there_and_back(fitted, folder / f"doubles{ending}.gz") == fitted
    assert gzip.decompress((folder / f"doubles{ending}.gz").read_bytes()) == (folder / f"doubles{ending}").read_bytes()


def test_states_that_differ_in_type_only(folder: Path) -> None:
    fitted = td.FittedNetwork(td.Network(["a"], {}), {"a": (1, "1")}, {"a": [0.5, 0.5]})
    assert_same(there_and_back(fitted, folder / "types.json"), fitted)
    with pytest.raises(NetworkError, match="'a' has states that differ in type only"):
        bif_text(fitted)
    strange = td.FittedNetwork(td.Network(["a"], {}), {"a": ((1, 2), None)}, {"a": [0.5, 0.5]})
    with pytest.raises(FileError, match=r"state \(1, 2\) of type tuple"):
        td.write_network(folder / "strange.json", strange)


def test_a_network_without_probabilities(folder: Path) -> None:
    network = td.example_network().network
    for ending in (".json", ".xml"):
        td.write_network(folder / f"bare{ending}", network)
        assert td.read_network(folder / f"bare{ending}") == network
    for ending in (".bif", ".net", ".xdsl"):
        with pytest.raises(FileError, match=r"holds probabilities, which network\.fit\(table\) or topdag fit gives"):
            td.write_network(folder / f"bare{ending}", network)
    with pytest.raises(FileError, match=r"bare\.xml: line 5: 'asia' has no probabilities"):
        td.io.read_fitted(folder / "bare.xml")
    with pytest.raises(FileError, match=r"bare\.json: This is not a fitted network"):
        td.io.read_fitted(folder / "bare.json")
    td.write_network(folder / "fitted.dot", td.example_network())
    assert (folder / "fitted.dot").read_text() == network.to_dot()


def test_scores_and_notes_survive_in_json(folder: Path) -> None:
    table = td.example_table()
    answer = td.best_network(table)
    fitted = answer.network.fit(table)
    again = there_and_back(fitted, folder / "scored.json")
    assert again.network.score == answer.score
    assert again.notes == fitted.notes


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"version": 2}, "not a fitted network"),
        ({"states": []}, "'states' is not of the kind"),
        ({"states": {"a": "xy"}}, "should hold a list"),
        ({"states": {"a": [[1], 2]}}, "of type list; files hold texts"),
        ({"tables": {"a": [0.5, 0.6]}}, "sum to 1"),
        ({"tables": {"a": "half"}}, "not an array of numbers"),
        ({"tables": {}}, "No table given for a"),
        ({"network": {}}, "not a network in format"),
    ],
)
def test_damaged_json(folder: Path, change: dict[str, object], reason: str) -> None:
    content = td.FittedNetwork(td.Network(["a"], {}), {"a": ("x", "y")}, {"a": [0.5, 0.5]}).to_dict()
    (folder / "damaged.json").write_text(json.dumps(content | change))
    with pytest.raises(FileError, match=rf"damaged\.json: .*{reason}"):
        td.io.read_fitted(folder / "damaged.json")


@pytest.mark.parametrize("ending", [".bif", ".net"])
def test_a_file_without_variables_is_no_network(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"empty{ending}"
    path.write_text("")
    with pytest.raises(td.FileError, match="there is no variable in it"):
        td.read_network(path)
