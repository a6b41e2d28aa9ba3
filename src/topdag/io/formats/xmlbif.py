"""XMLBIF, also called BIFXML: holds any name that XML holds, and networks without probabilities.

[Cozman 1998, The Interchange Format for Bayesian Networks, XML version 0.3]
"""

from __future__ import annotations

from topdag.errors import FileError
from topdag.io.formats.parts import ReadVariable, by_name, declared
from topdag.io.formats.scanner import joined_numbers, numbers_in
from topdag.io.formats.xml_tree import Element, xml_element, xml_tree
from topdag.networks.fitted import FittedNetwork
from topdag.networks.network import Network
from topdag.networks.state_words import kinds_of, words_of

XMLBIF_HEAD = """\
<?xml version="1.0" encoding="UTF-8"?>
<BIF VERSION="0.3">
<NETWORK>
<NAME>unknown</NAME>
"""
KINDS_BEGIN = "topdag_kinds = "


def xmlbif_text(written: Network | FittedNetwork) -> str:
    fitted = written if isinstance(written, FittedNetwork) else None
    network = written.network if isinstance(written, FittedNetwork) else written
    variables = [_variable_lines(name, fitted) for name in network.names]
    definitions = [_definition_lines(name, network, fitted) for name in network.names]
    return "\n".join([XMLBIF_HEAD.rstrip(), *variables, *definitions, "</NETWORK>", "</BIF>", ""])


def _variable_lines(name: str, fitted: FittedNetwork | None) -> str:
    lines = [xml_element("NAME", name)]
    if fitted is not None:
        lines += [xml_element("OUTCOME", word) for word in words_of(name, fitted.states[name])]
        if kinds := kinds_of(name, fitted.states[name]):
            lines.append(xml_element("PROPERTY", KINDS_BEGIN + kinds))
    return "\n".join(['<VARIABLE TYPE="nature">', *(f"  {line}" for line in lines), "</VARIABLE>"])


def _definition_lines(name: str, network: Network, fitted: FittedNetwork | None) -> str:
    lines = [xml_element("FOR", name), *(xml_element("GIVEN", parent) for parent in network.parents[name])]
    if fitted is not None:
        lines.append(xml_element("TABLE", joined_numbers(fitted.tables[name].ravel().tolist(), " ")))
    return "\n".join(["<DEFINITION>", *(f"  {line}" for line in lines), "</DEFINITION>"])


def read_xmlbif(content: bytes) -> dict[str, ReadVariable]:
    tree = xml_tree(content)
    if tree.tag.upper() != "BIF":
        raise FileError(f"line {tree.line}: expected <BIF>, found <{tree.tag}>; this is not XMLBIF")
    network = tree.only("NETWORK")
    variables = by_name([_variable(element) for element in network.all("VARIABLE")])
    for element in network.all("DEFINITION", "PROBABILITY"):
        name = element.only("FOR")
        variable = declared(name.text, variables, name.line)
        parents = list(element.all("GIVEN"))
        variable.parents = [declared(parent.text, variables, parent.line).name for parent in parents]
        variable.table_line = element.line
        for table in element.all("TABLE"):
            variable.numbers, variable.table_line = numbers_in(table.text, table.line), table.line
    return variables


def _variable(element: Element) -> ReadVariable:
    words = [outcome.text for outcome in element.all("OUTCOME", "VALUE")]
    said = [
        found.text.removeprefix(KINDS_BEGIN) for found in element.all("PROPERTY") if found.text.startswith(KINDS_BEGIN)
    ]
    return ReadVariable(element.only("NAME").text, element.line, words, said[0] if said else "")
