"""Networks for other programs: pgmpy, pyAgrum, networkx, and the model strings of R's bnlearn."""

from __future__ import annotations

import importlib
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from topdag.errors import NetworkError
from topdag.networks.state_words import words_of

if TYPE_CHECKING:
    from topdag.networks.equivalence import EquivalenceClass
    from topdag.networks.fitted import FittedNetwork
    from topdag.networks.network import Network

SPECIAL = re.compile(r"[\[\]|:]")
MODEL_PIECE = re.compile(r"\[([^\[\]|]+)(?:\|([^\[\]|]*))?\]")


def to_pgmpy(structure: Network, fitted: FittedNetwork | None = None) -> Any:
    """A ``pgmpy.models.DiscreteBayesianNetwork``, with tables of a fitted network."""
    models = _imported("pgmpy.models", "to_pgmpy", "pgmpy")
    model = models.DiscreteBayesianNetwork()
    model.add_nodes_from(structure.names)
    model.add_edges_from(structure.edges)
    if fitted is not None:
        factors = _imported("pgmpy.factors.discrete", "to_pgmpy", "pgmpy")
        model.add_cpds(*(_pgmpy_table(factors, name, fitted) for name in structure.names))
    return model


def _pgmpy_table(factors: Any, name: str, fitted: FittedNetwork) -> Any:
    """A column for each combination of parent states, the last parent's changing fastest."""
    parents, table = fitted.network.parents[name], fitted.tables[name]
    return factors.TabularCPD(
        name,
        table.shape[-1],
        np.ascontiguousarray(table.reshape(-1, table.shape[-1]).T),
        evidence=list(parents) or None,
        evidence_card=list(table.shape[:-1]) or None,
        state_names={member: list(fitted.states[member]) for member in (*parents, name)},
    )


def to_pyagrum(fitted: FittedNetwork) -> Any:
    """A ``pyagrum.BayesNet``; its labels are the states as words."""
    gum = _imported("pyagrum", "to_pyagrum", "pyagrum")
    made = gum.BayesNet("topdag")
    for name in fitted.names:
        made.add(gum.LabelizedVariable(name, name, words_of(name, fitted.states[name])))
    for parent, child in fitted.network.edges:
        made.addArc(parent, child)
    for name in fitted.names:
        made.cpt(name)[:] = _in_pyagrum_order(fitted, name, made.cpt(name).names)
    return made


def _in_pyagrum_order(fitted: FittedNetwork, name: str, axes: tuple[str, ...]) -> Any:
    """pyAgrum names the axes of an array from the last to the first."""
    own = (*fitted.network.parents[name], name)
    return np.ascontiguousarray(fitted.tables[name].transpose([own.index(axis) for axis in reversed(axes)]))


def to_networkx(structure: Network, fitted: FittedNetwork | None = None) -> Any:
    """A ``networkx.DiGraph`` with every variable as a node; of a fitted network with ``states`` and ``table`` each."""
    networkx = _imported("networkx", "to_networkx", "networkx")
    graph = networkx.DiGraph()
    graph.add_nodes_from(structure.names)
    graph.add_edges_from(structure.edges)
    if fitted is not None:
        for name, attributes in graph.nodes.items():
            attributes.update(states=fitted.states[name], table=fitted.tables[name])
    return graph


def class_to_networkx(own: EquivalenceClass) -> Any:
    """A ``networkx.DiGraph`` in which an undirected edge is a pair of arrows, one each way."""
    networkx = _imported("networkx", "to_networkx", "networkx")
    graph = networkx.DiGraph()
    graph.add_nodes_from(own.names)
    graph.add_edges_from(own.directed)
    graph.add_edges_from(pair for a, b in own.undirected for pair in ((a, b), (b, a)))
    return graph


def edges_of_networkx(graph: Any) -> tuple[list[str], list[tuple[str, str]]]:
    """Names and edges of a directed graph of networkx, or of a model of pgmpy, which is one."""
    nodes, edges = getattr(graph, "nodes", None), getattr(graph, "edges", None)
    if nodes is None or edges is None or not getattr(graph, "is_directed", lambda: False)():
        raise NetworkError(f"A network is made from a directed graph of networkx or a model of pgmpy, not {graph!r}.")
    return list(nodes), [(edge[0], edge[1]) for edge in edges]


def edges_of_pyagrum(model: Any) -> tuple[list[str], list[tuple[str, str]]]:
    """Names and arcs of a ``pyagrum.BayesNet``."""
    if not hasattr(model, "arcs") or not hasattr(model, "variable"):
        raise NetworkError(f"from_pyagrum takes a BayesNet of pyAgrum, not {model!r}.")
    names = {node: model.variable(node).name() for node in sorted(model.nodes())}
    return list(names.values()), [(names[a], names[b]) for a, b in model.arcs()]


def to_bnlearn(network: Network) -> str:
    """The model string of R's bnlearn: ``[smoke][lung|smoke]``."""
    for name in network.names:
        if SPECIAL.search(name):
            raise NetworkError(f"{name!r} cannot stand in a model string of bnlearn: it has one of [ ] | :")
    parents = {name: ":".join(own) for name, own in network.parents.items()}
    return "".join(f"[{name}|{parents[name]}]" if parents[name] else f"[{name}]" for name in network.order)


def families_of_bnlearn(text: str) -> dict[str, list[str]]:
    """The parents of each variable in a model string, in the order of the string."""
    families: dict[str, list[str]] = {}
    place = 0
    for found in MODEL_PIECE.finditer("".join(text.split("\n"))):
        name = found[1].strip()
        if found.start() != place or name in families:
            break
        families[name] = [parent.strip() for parent in (found[2] or "").split(":") if parent.strip()]
        place = found.end()
    rest = "".join(text.split("\n"))[place:].strip()
    if rest or not families:
        raise NetworkError(f"This is not a model string such as [smoke][lung|smoke]: {rest[:40] or text!r}.")
    return families


def _imported(module: str, asked_by: str, package: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as missing:
        raise ImportError(f"{asked_by} needs {package}: pip install {package}") from missing
