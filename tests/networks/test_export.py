"""Networks handed to pgmpy and pyAgrum, and files exchanged with them: both sides mean the same probabilities."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from published import DATA

import topdag as td

SMALL = ("asia", "survey", "child", "alarm")
STATES_OF_CHAIN = {"V0": ("p", "q"), "V1": ("r", "s", "t")}
TABLES_OF_CHAIN = {"V0": [0.25, 0.75], "V1": [[0.5, 0.25, 0.25], [0.125, 0.375, 0.5]]}
ODD_STATES = {"a": ("<= 1", "(1, 2]", "> 2"), "b": (0, 1), "c": ('"q"', "it's", "ß")}


@pytest.fixture
def pgmpy() -> Any:
    return pytest.importorskip("pgmpy.readwrite", reason="needs pgmpy: pip install topdag[pgmpy]")


@pytest.fixture
def gum() -> Any:
    return pytest.importorskip("pyagrum", reason="needs pyAgrum: pip install topdag[pyagrum]")


def networks() -> list[td.FittedNetwork]:
    """Different arities and parents in every order, so that no wrong order of axes goes unseen."""
    made = [td.random_network(6, arities=[2, 3, 4, 2, 3, 2], arcs=9, seed=seed) for seed in range(2)]
    return [*made, td.example_network()]


def odd_network() -> td.FittedNetwork:
    names = {"a": "my <first>", "b": "ü, b", "c": 'c "c"'}
    network = td.Network(names.values(), {names["c"]: [names["a"], names["b"]]})
    generator = np.random.default_rng(1)
    shapes = {"a": (3,), "b": (2,), "c": (3, 2, 3)}
    tables = {names[key]: generator.dirichlet(np.ones(shape[-1]), shape[:-1]) for key, shape in shapes.items()}
    return td.FittedNetwork(network, {names[key]: states for key, states in ODD_STATES.items()}, tables)


def of_pgmpy(model: Any, names: tuple[str, ...]) -> td.FittedNetwork:
    """Cell by cell, by the names of states, as pgmpy itself looks them up."""
    network = td.Network(names, {name: model.get_parents(name) for name in names})
    states = {name: tuple(model.get_cpds(name).state_names[name]) for name in names}
    tables = {}
    for name in names:
        family = (*network.parents[name], name)
        table = np.empty([len(states[member]) for member in family])
        for cell in np.ndindex(table.shape):
            chosen = {member: states[member][code] for member, code in zip(family, cell, strict=True)}
            table[cell] = model.get_cpds(name).get_value(**chosen)
        tables[name] = table / table.sum(axis=-1, keepdims=True)  # decimals cut short stay as they are there
    return td.FittedNetwork(network, states, tables)


def of_pyagrum(bayes_net: Any, names: tuple[str, ...]) -> td.FittedNetwork:
    """Cell by cell, by the labels, as pyAgrum itself looks them up."""
    network = td.Network(
        names, {name: [bayes_net.variable(p).name() for p in bayes_net.parents(name)] for name in names}
    )
    states = {name: bayes_net.variable(name).labels() for name in names}
    tables = {}
    for name in names:
        family = (*network.parents[name], name)
        table = np.empty([len(states[member]) for member in family])
        for cell in np.ndindex(table.shape):
            chosen = {member: states[member][code] for member, code in zip(family, cell, strict=True)}
            table[cell] = bayes_net.cpt(name)[chosen]
        tables[name] = table / table.sum(axis=-1, keepdims=True)  # BIF and NET are read in single precision
    return td.FittedNetwork(network, states, tables)


def assert_close(one: td.FittedNetwork, other: td.FittedNetwork, tolerance: float = 1e-12) -> None:
    """The same but for rounding; states are compared as words, which is all that others keep."""
    assert one.network == other.network
    for name in one.names:
        assert list(map(str, one.states[name])) == list(map(str, other.states[name]))
        assert np.abs(one.tables[name] - other.tables[name]).max() <= tolerance


# ---- In memory


def test_to_pgmpy(pgmpy: Any) -> None:
    for fitted in [*networks(), odd_network()]:
        model = fitted.to_pgmpy()
        assert model.check_model()
        again = of_pgmpy(model, fitted.names)
        assert_close(again, fitted)
        assert again.states == fitted.states
    bare = td.example_network().network.to_pgmpy()
    assert set(bare.edges()) == set(td.example_network().network.edges)
    assert set(bare.nodes()) == set(td.example_network().names)


def test_to_pyagrum(gum: Any) -> None:
    for fitted in [*networks(), odd_network()]:
        assert_close(of_pyagrum(fitted.to_pyagrum(), fitted.names), fitted)


def test_they_answer_as_the_joint_table_does(pgmpy: Any, gum: Any) -> None:
    """P(lung | dysp = yes) in the example, by all three."""
    with warnings.catch_warnings():  # pgmpy deprecates parts of itself
        warnings.simplefilter("ignore")
        from pgmpy.inference import VariableElimination
    fitted = td.example_network()
    joint = fitted.joint()
    lung, dysp = fitted.names.index("lung"), fitted.names.index("dysp")
    with_dysp = np.moveaxis(joint, [lung, dysp], [0, 1])[:, 0].reshape(2, -1).sum(axis=1)
    expected = with_dysp / with_dysp.sum()
    theirs = VariableElimination(fitted.to_pgmpy()).query(["lung"], {"dysp": "yes"}, show_progress=False)
    assert theirs.values == pytest.approx(expected)
    assert gum.getPosterior(fitted.to_pyagrum(), target="lung", evs={"dysp": "yes"}).toarray() == pytest.approx(
        expected
    )


def test_to_networkx() -> None:
    networkx = pytest.importorskip("networkx")
    fitted = td.example_network()
    graph = fitted.to_networkx()
    assert networkx.is_directed_acyclic_graph(graph)
    assert graph.nodes["dysp"]["states"] == ("yes", "no")
    assert graph.nodes["dysp"]["table"] is fitted.tables["dysp"]
    assert next(iter(fitted.network.to_networkx().nodes(data=True))) == ("asia", {})


def test_structures_come_back_from_others(pgmpy: Any, gum: Any) -> None:
    """Parents stay parents, variables stay in order; those without edges are there too."""
    for fitted in [*networks(), odd_network()]:
        assert td.Network.from_networkx(fitted.to_networkx()) == fitted.network
        assert td.Network.from_pgmpy(fitted.to_pgmpy()) == fitted.network
        assert td.Network.from_pyagrum(fitted.to_pyagrum()) == fitted.network
    lonely = td.Network(["a", "b", "c"], {"c": ["a"]})
    assert td.Network.from_networkx(lonely.to_networkx()) == lonely


def test_what_is_no_network_is_refused() -> None:
    networkx = pytest.importorskip("networkx")
    for wrong in (networkx.Graph([("a", "b")]), [("a", "b")], None):
        with pytest.raises(td.NetworkError, match="a directed graph of networkx or a model of pgmpy"):
            td.Network.from_networkx(wrong)
    with pytest.raises(td.NetworkError, match="non-empty strings"):
        td.Network.from_networkx(networkx.DiGraph([(1, 2)]))
    with pytest.raises(td.NetworkError, match="form a cycle"):
        td.Network.from_networkx(networkx.DiGraph([("a", "b"), ("b", "a")]))
    with pytest.raises(td.NetworkError, match="a BayesNet of pyAgrum"):
        td.Network.from_pyagrum("model")


def test_classes_to_networkx() -> None:
    pytest.importorskip("networkx")
    own = td.EquivalenceClass(td.example_network().network)
    graph = own.to_networkx()
    assert tuple(graph.nodes) == own.names
    both = {edge for edge in graph.edges if graph.has_edge(*edge[::-1])}
    assert both == {pair for a, b in own.undirected for pair in ((a, b), (b, a))}
    assert set(graph.edges) - both == set(own.directed)


def test_bnlearn_model_strings() -> None:
    network = td.example_network().network
    text = "[asia][smoke][tub|asia][lung|smoke][bronc|smoke][either|tub:lung][xray|either][dysp|bronc:either]"
    assert sorted(network.to_bnlearn().split("]")) == sorted(text.split("]"))
    assert set(td.Network.from_bnlearn(text).edges) == set(network.edges)
    assert td.Network.from_bnlearn("[a b]\n[c|a b]").parents == {"a b": (), "c": ("a b",)}
    for fitted in networks():
        again = td.Network.from_bnlearn(fitted.network.to_bnlearn())
        assert td.Network(fitted.names, again.parents) == fitted.network
    for wrong in ("", "asia", "[a][a]", "[a|b", "[a] or [b]", "[a|z]", "[a|b][b|a]"):
        with pytest.raises(td.NetworkError):
            td.Network.from_bnlearn(wrong)
    with pytest.raises(td.NetworkError, match=r"'a\|b' cannot stand in a model string"):
        td.Network(["a|b"], {}).to_bnlearn()


# ---- In files


@pytest.mark.parametrize("ending", ["bif", "xml", "net", "xdsl"])
def test_pgmpy_reads_what_is_written_and_the_other_way_round(pgmpy: Any, tmp_path: Path, ending: str) -> None:
    reader = {"bif": "BIFReader", "xml": "XMLBIFReader", "net": "NETReader", "xdsl": "XDSLReader"}[ending]
    writer = reader.replace("Reader", "Writer")
    tolerance = 1e-7 if ending == "net" else 1e-12  # pgmpy writes NET with eight digits
    for fitted in networks():
        path = tmp_path / f"ours.{ending}"
        td.write_network(path, fitted)
        model = getattr(pgmpy, reader)(str(path)).get_model()
        assert_close(of_pgmpy(model, fitted.names), fitted)
        theirs = tmp_path / f"theirs.{ending}"
        getattr(pgmpy, writer)(fitted.to_pgmpy()).write(str(theirs))
        read = td.io.read_fitted(theirs)
        assert_close(of_pgmpy(read.to_pgmpy(), fitted.names), fitted, tolerance)


@pytest.mark.parametrize("ending", ["bif", "bifxml", "net"])
def test_pyagrum_reads_what_is_written_and_the_other_way_round(gum: Any, tmp_path: Path, ending: str) -> None:
    for fitted in networks():
        path = tmp_path / f"ours.{ending}"
        td.write_network(path, fitted)
        assert_close(of_pyagrum(gum.loadBN(str(path)), fitted.names), fitted, 1e-12 if ending == "bifxml" else 1e-7)
        theirs = tmp_path / f"theirs.{ending}"
        gum.saveBN(fitted.to_pyagrum(), str(theirs))
        read = td.io.read_fitted(theirs)
        assert_close(of_pyagrum(read.to_pyagrum(), fitted.names), fitted, 1e-12 if ending != "bifxml" else 1e-5)


@pytest.mark.parametrize("ending", ["xdsl", "uai"])
def test_tables_of_pyagrum_in_an_order_of_its_own_are_refused(gum: Any, tmp_path: Path, ending: str) -> None:
    """It has the first parent change fastest, where the formats have the last; with one parent there is one order."""
    path = tmp_path / f"theirs.{ending}"
    for fitted in networks():
        gum.saveBN(fitted.plain_names().to_pyagrum(), str(path))
        with pytest.raises(td.FileError, match=r"this looks written by pyAgrum.*save it from there as \.bif"):
            td.io.read_fitted(path)
    chain = td.FittedNetwork(td.Network(["V0", "V1"], {"V1": ["V0"]}), STATES_OF_CHAIN, TABLES_OF_CHAIN)
    gum.saveBN(chain.to_pyagrum(), str(path))
    read = td.io.read_fitted(path)
    assert read.network == chain.network
    assert all(np.allclose(read.tables[name], chain.tables[name]) for name in chain.names)


def numbered(fitted: td.FittedNetwork) -> td.FittedNetwork:
    """As UAI has it: places for names and states."""
    network = td.Network.from_masks([f"V{v}" for v in range(len(fitted.names))], fitted.network.masks)
    states = {name: range(arity) for name, arity in zip(network.names, fitted.arities, strict=True)}
    return td.FittedNetwork(network, states, dict(zip(network.names, fitted.tables.values(), strict=True)))


def test_uai(tmp_path: Path) -> None:
    path = tmp_path / "network.uai"
    for fitted in [*networks(), odd_network()]:
        td.write_network(path, fitted)
        assert td.io.read_fitted(path) == numbered(fitted)
        assert td.read_network(path) == numbered(fitted).network
    path.write_text("BAYES\n2\n2 3\n2\n2 0 1\n1 0\n\n6\n .1 .2 .7\n .3 .3 .4\n\n2\n 1e-1 9E-1\n")
    assert td.io.read_fitted(path).table("V1") == {(0,): {0: 0.1, 1: 0.2, 2: 0.7}, (1,): {0: 0.3, 1: 0.3, 2: 0.4}}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "line 1: expected BAYES, found the end of the file"),
        ("MARKOV 1 2 1 1 0 2 1 1", "this is a file of kind 'MARKOV'"),
        ("BAYES 1 2 2", "1 variables need 1 tables, not 2"),
        ("BAYES 1 2 1 1 3 2 0.5 0.5", r"different variables from 0 to 0, not \[3\]"),
        ("BAYES 2 2 2 2 1 0 1 0", "each variable needs a table of its own"),
        ("BAYES 1 2 1 1 0 3 0.5 0.5 0", "the table of variable 0 has 3 numbers; its states need 2"),
        ("BAYES 1 2 1 1 0 2 0.5 half", "expected a number, found 'half'"),
        ("BAYES 1 2 1 1 0 2 0.5 0.9", "sum to 1"),
        ("BAYES 0 0", "there is no variable in it"),
    ],
)
def test_damaged_uai(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "damaged.uai").write_text(text)
    with pytest.raises(td.FileError, match=reason):
        td.io.read_fitted(tmp_path / "damaged.uai")


def test_odd_names_travel_as_xmlbif(pgmpy: Any, gum: Any, tmp_path: Path) -> None:
    fitted = odd_network()
    td.write_network(tmp_path / "odd.bifxml", fitted)
    assert_close(of_pgmpy(pgmpy.XMLBIFReader(str(tmp_path / "odd.bifxml")).get_model(), fitted.names), fitted)
    assert_close(of_pyagrum(gum.loadBN(str(tmp_path / "odd.bifxml")), fitted.names), fitted)


@pytest.mark.parametrize("ending", ["bif", "bifxml", "net"])
def test_plain_names_travel_everywhere(pgmpy: Any, gum: Any, tmp_path: Path, ending: str) -> None:
    fitted = odd_network().plain_names()
    assert fitted.names == ("my_lt_first_gt", "u_b", "c_c")
    assert fitted.states["my_lt_first_gt"] == ("le_1", "s1_2", "gt_2")
    td.write_network(tmp_path / f"plain.{ending}", fitted)
    reader = {"bif": pgmpy.BIFReader, "bifxml": pgmpy.XMLBIFReader, "net": pgmpy.NETReader}[ending]
    assert_close(of_pgmpy(reader(str(tmp_path / f"plain.{ending}")).get_model(), fitted.names), fitted)
    assert_close(of_pyagrum(gum.loadBN(str(tmp_path / f"plain.{ending}")), fitted.names), fitted, 1e-7)


@pytest.mark.skipif(not (DATA / "networks").exists(), reason=f"no networks in {DATA / 'networks'}")
@pytest.mark.parametrize("name", SMALL)
def test_networks_of_the_literature_are_read_as_by_others(pgmpy: Any, gum: Any, name: str) -> None:
    path = DATA / "networks" / f"{name}.bif"
    fitted = td.io.read_fitted(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_close(of_pgmpy(pgmpy.BIFReader(str(path)).get_model(), fitted.names), fitted, 1e-6)
    if name != "child":  # pyAgrum reads no name with a slash
        assert_close(of_pyagrum(gum.loadBN(str(path)), fitted.names), fitted, 1e-6)
