"""NET, the text format of HUGIN. Its names are plain words; states may be any text.

[HUGIN API Reference Manual, chapter 13: The NET language]
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from topdag._util.options import option, worded
from topdag.errors import FileError, NetworkError
from topdag.io.formats.parts import ReadVariable, by_name, declared
from topdag.io.formats.scanner import QUOTED, TextScanner, joined_numbers, numbers_in, quoted, unquoted
from topdag.networks.fitted import FittedNetwork
from topdag.networks.plain_names import IDENTIFIER
from topdag.networks.state_words import kinds_of, words_of

COMMENT = re.compile(rf"({QUOTED})|%[^\n]*", re.DOTALL)
HUGIN_BLOCK = re.compile(r"(net)\b|(?:discrete\s+)?(node)\b|(potential)\b")
OPEN, CLOSE = re.compile(r"\{"), re.compile(r"\}")
HUGIN_ITEM = re.compile(rf'{QUOTED}|[^\s"{{}}()=;|,]+')
# What is taken is not given back (++, *+): else a bracket that is not closed takes time like the cube of the length.
ATTRIBUTE = re.compile(rf'(\w++)\s*+=\s*+((?:{QUOTED}|[^;"])*+);', re.DOTALL)
FAMILY = re.compile(r"\(\s*+([^\s|()]++)\s*+\|?([^()]*+)\)")
BRACKETS = str.maketrans("()", "  ")


def net_text(fitted: FittedNetwork) -> str:
    for name in fitted.names:
        require_identifier(name, "NET")
    nodes = [_node(name, fitted) for name in fitted.names]
    return "".join(["net\n{\n}\n", *nodes, *(_potential(name, fitted) for name in fitted.names)])


def require_identifier(text: str, format_: str) -> None:
    """Refuses what a format of plain words cannot hold."""
    if not IDENTIFIER.fullmatch(text):
        plain = worded("plain_names()", option("plain_names"))
        raise NetworkError(
            f"{text!r} cannot stand in {format_}, which takes letters, digits and underscores, a letter first; "
            f"{plain} gives such names, and .json, .bif and .xml hold any."
        )


def _node(name: str, fitted: FittedNetwork) -> str:
    states, kinds = fitted.states[name], kinds_of(name, fitted.states[name])
    kinds_line = f'    topdag_kinds = "{kinds}";\n' if kinds else ""
    words = " ".join(map(quoted, words_of(name, states)))
    return f"node {name}\n{{\n    states = ({words});\n{kinds_line}}}\n"


def _potential(name: str, fitted: FittedNetwork) -> str:
    parents, table = fitted.network.parents[name], fitted.tables[name]
    family = f"{name} | {' '.join(parents)}" if parents else name
    return f"potential ({family})\n{{\n    data = {_nested(table.tolist())};\n}}\n"


def _nested(values: list[object]) -> str:
    """Lists in round brackets, one inside the other."""
    if values and isinstance(values[0], list):
        return "(" + "\n     ".join(_nested(inner) for inner in values if isinstance(inner, list)) + ")"
    return f"({joined_numbers([value for value in values if isinstance(value, float)], ' ')})"


def read_net_text(text: str) -> dict[str, ReadVariable]:
    scanner = TextScanner(COMMENT.sub(lambda found: found[1] or "", text), r"\s*")
    variables: list[ReadVariable] = []
    potentials: list[tuple[int, str, list[str], Mapping[str, str]]] = []
    while not scanner.is_at_end:
        line = scanner.line
        found = scanner.expect(HUGIN_BLOCK, "net, node or potential (other kinds of nodes are not read)")
        if found[1]:
            _attributes(scanner)
        elif found[2]:
            variables.append(_variable(scanner))
        else:
            family = scanner.expect(FAMILY, "a family such as (child | parent parent)")
            potentials.append((line, family[1], family[2].split(), _attributes(scanner)))
    found_variables = by_name(variables)
    for line, name, parents, attributes in potentials:
        variable = declared(name, found_variables, line)
        variable.parents = [declared(parent, found_variables, line).name for parent in parents]
        variable.table_line = line
        if "data" in attributes:
            variable.numbers = numbers_in(attributes["data"].translate(BRACKETS), line)
    return found_variables


def _attributes(scanner: TextScanner) -> dict[str, str]:
    scanner.expect(OPEN, "'{'")
    found = {}
    while not scanner.take(CLOSE):
        attribute = scanner.expect(ATTRIBUTE, "'name = value;' or '}'")
        found[attribute[1]] = attribute[2].strip()
    return found


def _variable(scanner: TextScanner) -> ReadVariable:
    line, name = scanner.line, unquoted(scanner.expect(HUGIN_ITEM, "the name of a node")[0])
    attributes = _attributes(scanner)
    words = [unquoted(word) for word in HUGIN_ITEM.findall(attributes.get("states", ""))]
    if not words:
        raise FileError(f'line {line}: node {name!r} has no states; add states = ("yes" "no");')
    return ReadVariable(name, line, words, unquoted(attributes.get("topdag_kinds", "")))
