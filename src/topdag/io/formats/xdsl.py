"""XDSL, the format of GeNIe and SMILE. Its names and states are plain words."""

from __future__ import annotations

from topdag.errors import FileError
from topdag.io.formats.hugin_net import require_identifier
from topdag.io.formats.parts import ReadVariable, by_name, declared
from topdag.io.formats.scanner import joined_numbers, numbers_in
from topdag.io.formats.uai import REFUSED_OF_PYAGRUM
from topdag.io.formats.xml_tree import Element, xml_attribute, xml_element, xml_tree
from topdag.networks.fitted import FittedNetwork
from topdag.networks.state_words import words_of

XDSL_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<smile version="1.0" id="network">\n  <nodes>'
MIDDLE = '  </nodes>\n  <extensions>\n    <genie version="1.0" app="topdag" name="network">'
END = "    </genie>\n  </extensions>\n</smile>\n"
NOT_READ = ("DECISION", "UTILITY", "MAU", "EQUATION", "NOISYMAX", "NOISYADDER", "DETERMINISTIC")


def xdsl_text(fitted: FittedNetwork) -> str:
    ordered = fitted.network.order  # a node may only name parents that stand before it
    shown = [_shown_node(place, name) for place, name in enumerate(fitted.names)]
    return "\n".join([XDSL_HEAD, *(_node(name, fitted) for name in ordered), MIDDLE, *shown, END])


def _node(name: str, fitted: FittedNetwork) -> str:
    words = words_of(name, fitted.states[name])
    for text in (name, *words):
        require_identifier(text, "XDSL")
    lines = [f"<state id={xml_attribute(word)} />" for word in words]
    if parents := fitted.network.parents[name]:
        lines.append(xml_element("parents", " ".join(parents)))
    lines.append(xml_element("probabilities", joined_numbers(fitted.tables[name].ravel().tolist(), " ")))
    return "\n".join([f"    <cpt id={xml_attribute(name)}>", *(f"      {line}" for line in lines), "    </cpt>"])


def _shown_node(place: int, name: str) -> str:
    """GeNIe wants a box for each node: here six in a row."""
    left, top = 20 + 140 * (place % 6), 20 + 90 * (place // 6)
    position = xml_element("position", f"{left} {top} {left + 100} {top + 50}")
    return (
        f"      <node id={xml_attribute(name)}>\n        {xml_element('name', name)}\n        {position}\n      </node>"
    )


def read_xdsl(content: bytes) -> dict[str, ReadVariable]:
    tree = xml_tree(content)
    if tree.tag.upper() != "SMILE":
        raise FileError(f"line {tree.line}: expected <smile>, found <{tree.tag}>; this is not XDSL")
    nodes = tree.only("NODES")
    for element in nodes.all(*NOT_READ):
        raise FileError(f"line {element.line}: a <{element.tag}> cannot be read; only <cpt> nodes have plain tables")
    elements = list(nodes.all("CPT"))
    variables = by_name([_variable(element) for element in elements])
    for variable, element in zip(variables.values(), elements, strict=True):
        for parents in element.all("PARENTS"):
            variable.parents = [declared(name, variables, parents.line).name for name in parents.text.split()]
        for table in element.all("PROBABILITIES"):
            variable.numbers, variable.table_line = numbers_in(table.text, table.line), table.line
        if _is_of_pyagrum(tree) and len(variable.parents) > 1 and variable.numbers is not None:
            raise FileError(f"line {variable.table_line}: {REFUSED_OF_PYAGRUM}")
    return {name: variables[name] for name in _order_shown(tree, list(variables))}


def _is_of_pyagrum(tree: Element) -> bool:
    shown = [genie for extensions in tree.all("EXTENSIONS") for genie in extensions.all("GENIE")]
    return any("agrum" in genie.attributes.get("app", "").lower() for genie in shown)


def _order_shown(tree: Element, names: list[str]) -> list[str]:
    """The order in which the boxes stand, where each node has one: that of the columns, if topdag wrote the file."""
    boxes = [
        box.attributes.get("id", "")
        for extensions in tree.all("EXTENSIONS")
        for genie in extensions.all("GENIE")
        for box in genie.all("NODE")
    ]
    return boxes if sorted(boxes) == sorted(names) else names


def _variable(element: Element) -> ReadVariable:
    words = [state.attributes.get("id", "") for state in element.all("STATE")]
    return ReadVariable(element.attributes.get("id", ""), element.line, words)
