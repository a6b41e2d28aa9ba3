"""BIF, the text format that most programs share.

[Cozman 1998, The Interchange Format for Bayesian Networks, version 0.15]. Names that are no plain words stand in
quotes, which not every program reads.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from topdag._util.arrays import Floats
from topdag.errors import FileError
from topdag.io.formats.parts import ReadVariable, Variables, by_name, configurations, declared, shape_of
from topdag.io.formats.scanner import QUOTED, TextScanner, joined_numbers, numbers_in, quoted, unquoted
from topdag.networks.fitted import FittedNetwork
from topdag.networks.plain_names import KEYWORDS_OF_BIF
from topdag.networks.probability_tables import MOST_CELLS
from topdag.networks.state_words import kinds_of, words_of

PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*|-[0-9]+")
BLANK = r"(?:\s+|//[^\n]*|/\*.*?\*/)*"
KEYWORD = re.compile(r"(network|variable|probability)\b")
ITEM = re.compile(rf'{QUOTED}|[^\s"{{}}()\[\],;|]+')
ENTRY = re.compile(r"(property|table|default)\b|(?=\()")
TYPE = re.compile(r"(type)\b|(property)\b")
PROPERTY_WORD = re.compile(r"property\b")
COUNT = re.compile(r"discrete\s*\[\s*(\d{1,9})\s*\]\s*\{")
PROPERTY = re.compile(rf'(?:{QUOTED}|[^;"])*;', re.DOTALL)
KINDS_COMMENT = re.compile(r"topdag_kinds\s*=\s*(\w+)\s*;")
NUMBERS = re.compile(r"([^;]*);")
OPEN, CLOSE = re.compile(r"\{"), re.compile(r"\}")
OPEN_ROUND, CLOSE_ROUND = re.compile(r"\("), re.compile(r"\)")
COMMA, BAR, SEMICOLON = re.compile(","), re.compile(r"\|"), re.compile(";")

Groups = list[list[str]]
"""Between commas, the pieces that only blanks separate."""


# ---- Writing


def bif_text(fitted: FittedNetwork) -> str:
    words = {name: words_of(name, states) for name, states in fitted.states.items()}
    variables = [_variable_block(name, words[name], kinds_of(name, fitted.states[name])) for name in fitted.names]
    tables = [_probability_block(name, fitted, words) for name in fitted.names]
    return "".join(["network unknown {\n}\n", *variables, *tables])


def _variable_block(name: str, words: Sequence[str], kinds: str) -> str:
    kinds_line = f"  property topdag_kinds = {kinds} ;\n" if kinds else ""
    states = ", ".join(map(_item, words))
    return f"variable {_item(name)} {{\n  type discrete [ {len(words)} ] {{ {states} }};\n{kinds_line}}}\n"


def _probability_block(name: str, fitted: FittedNetwork, words: Mapping[str, Sequence[str]]) -> str:
    parents = fitted.network.parents[name]
    rows = fitted.tables[name].reshape(-1, len(words[name])).tolist()
    if not parents:
        return f"probability ( {_item(name)} ) {{\n  table {joined_numbers(rows[0], ', ')};\n}}\n"
    labels = [", ".join(map(_item, case)) for case in configurations([words[parent] for parent in parents])]
    lines = [f"  ({label}) {joined_numbers(row, ', ')};\n" for label, row in zip(labels, rows, strict=True)]
    return f"probability ( {_item(name)} | {', '.join(map(_item, parents))} ) {{\n{''.join(lines)}}}\n"


def _item(text: str) -> str:
    return text if PLAIN.fullmatch(text) and text not in KEYWORDS_OF_BIF else quoted(text)


# ---- Reading


@dataclass
class _Probabilities:
    """A block of probabilities before the variables are known."""

    line: int
    own: list[str]
    parents: Groups
    table: Floats | None = None
    default: Floats | None = None
    rows: list[tuple[int, Groups, Floats]] = field(default_factory=list)


def read_bif_text(text: str) -> dict[str, ReadVariable]:
    scanner = TextScanner(text, BLANK)
    variables: list[ReadVariable] = []
    blocks: list[_Probabilities] = []
    while not scanner.is_at_end:
        keyword = scanner.expect(KEYWORD, "network, variable or probability")[0]
        if keyword == "network":
            _skip_network(scanner)
        elif keyword == "variable":
            variables.append(_variable(scanner))
        else:
            blocks.append(_probabilities(scanner))
    found = by_name(variables)
    for block in blocks:
        _settle(block, found)
    return found


def _skip_network(scanner: TextScanner) -> None:
    _items(scanner)
    scanner.expect(OPEN, "'{'")
    while not scanner.take(CLOSE):
        scanner.expect(PROPERTY_WORD, "a property or '}'")
        scanner.expect(PROPERTY, "';' at the end of a property")


def _items(scanner: TextScanner) -> list[str]:
    found = []
    while item := scanner.take(ITEM):
        found.append(unquoted(item[0]))
    return found


def _groups(scanner: TextScanner) -> Groups:
    groups = [_items(scanner)]
    while scanner.take(COMMA):
        groups.append(_items(scanner))
    return [group for group in groups if group]


def _variable(scanner: TextScanner) -> ReadVariable:
    made = ReadVariable(" ".join(_items(scanner)), scanner.line)
    if not made.name:
        raise scanner.error("expected the name of a variable")
    scanner.expect(OPEN, f"'{{' after variable {made.name}")
    while not scanner.take(CLOSE):
        if scanner.expect(TYPE, f"'type discrete [ n ] {{ ... }};', a property or '}}' of variable {made.name!r}")[1]:
            made.words = _states(scanner, made.name)
        elif kinds := KINDS_COMMENT.fullmatch(scanner.expect(PROPERTY, "';' at the end of a property")[0]):
            made.kinds = kinds[1]
    if not made.words:
        raise FileError(f"line {made.line}: {made.name!r} has no states; add 'type discrete [ n ] {{ ... }};'")
    return made


def _states(scanner: TextScanner, name: str) -> list[str]:
    count = int(scanner.expect(COUNT, f"'discrete [ n ] {{' (other types are not read) for {name!r}")[1])
    groups = _groups(scanner)
    words = _as_many(groups, count)
    if words is None:
        raise scanner.error(f"{name!r} should have {count} states, but {len(groups)} are listed")
    scanner.expect(CLOSE, "'}' after the states")
    scanner.expect(SEMICOLON, "';' after the states")
    return words


def _as_many(groups: Groups, count: int) -> list[str] | None:
    """As many words as there should be: what is between commas, or, where these were left out, between blanks."""
    if len(groups) == count:
        return [" ".join(group) for group in groups]
    pieces = [piece for group in groups for piece in group]
    return pieces if len(pieces) == count else None


def _probabilities(scanner: TextScanner) -> _Probabilities:
    scanner.expect(OPEN_ROUND, "'(' after probability")
    block = _Probabilities(scanner.line, _items(scanner), [])
    if scanner.take(BAR):
        block.parents = _groups(scanner)
    elif scanner.take(COMMA) or len(block.own) > 1:  # version 0.15 allows to leave out the bar
        block.parents = [[piece] for piece in block.own[1:]] + _groups(scanner)
        block.own = block.own[:1]
    scanner.expect(CLOSE_ROUND, "')' after the parents")
    scanner.expect(OPEN, "'{' before the probabilities")
    while not scanner.take(CLOSE):
        _entry(scanner, block)
    return block


def _entry(scanner: TextScanner, block: _Probabilities) -> None:
    line = scanner.line
    kind = scanner.expect(ENTRY, "table, default, a row '(states) numbers;' or '}'")[1]
    if kind == "property":
        scanner.expect(PROPERTY, "';' at the end of a property")
        return
    label: Groups = []
    if kind is None:
        scanner.expect(OPEN_ROUND, "'('")
        label = _groups(scanner)
        scanner.expect(CLOSE_ROUND, "')' after the states of the parents")
    numbers = numbers_in(scanner.expect(NUMBERS, "numbers and ';'")[1], line)
    if kind is None:
        block.rows.append((line, label, numbers))
    else:
        setattr(block, kind, numbers)


def _settle(block: _Probabilities, variables: Variables) -> None:
    """Gives the variable of a block its parents and numbers."""
    if " ".join(block.own) not in variables and len(block.own) > 1:
        block.own, block.parents = block.own[:1], [[piece] for piece in block.own[1:]] + block.parents
    variable = declared(" ".join(block.own), variables, block.line)
    if variable.table_line:
        raise FileError(f"line {block.line}: the probabilities of {variable.name!r} are given a second time")
    variable.table_line = block.line
    variable.parents = [name for group in block.parents for name in _declared_names(group, variables, block.line)]
    if block.table is not None:
        shape = shape_of(variable, variables)
        fits = block.table.size == math.prod(shape)  # else the error is told where all sizes are checked
        own_first = block.table.reshape(shape[-1:] + shape[:-1]) if fits else block.table
        variable.numbers = np.moveaxis(own_first, 0, -1).ravel() if fits else own_first
    elif block.rows or block.default is not None:
        variable.numbers = _filled(block, variable, variables)


def _declared_names(group: list[str], variables: Variables, line: int) -> list[str]:
    """One name, or several that only blanks separate."""
    if " ".join(group) in variables:
        return [" ".join(group)]
    return [declared(name, variables, line).name for name in group]


def _filled(block: _Probabilities, variable: ReadVariable, variables: Variables) -> Floats:
    *shape, own = shape_of(variable, variables)
    if math.prod(shape) * own > MOST_CELLS:
        raise FileError(
            f"line {block.line}: {variable.name!r} has too many parents: its table is beyond {MOST_CELLS:,}"
        )
    table = np.full((math.prod(shape), own), np.nan)
    if block.default is not None:
        table[:] = _row(block.default, own, variable, block.line)
    code_of = [{word: code for code, word in enumerate(variables[parent].words)} for parent in variable.parents]
    for line, label, numbers in block.rows:
        words = _as_many(label, len(shape))
        if words is None:
            raise FileError(f"line {line}: a row of {variable.name!r} names a state for each of {len(shape)} parents")
        place = 0
        for parent, codes, arity, word in zip(variable.parents, code_of, shape, words, strict=True):
            if word not in codes:
                raise FileError(f"line {line}: {parent!r} has no state {word!r}; its states are {', '.join(codes)}")
            place = place * arity + codes[word]
        table[place] = _row(numbers, own, variable, line)
    if np.isnan(table).any():
        case = configurations([variables[parent].words for parent in variable.parents])
        missing = case[int(np.isnan(table).any(axis=1).argmax())]
        raise FileError(
            f"line {block.line}: {variable.name!r} has no row for ({', '.join(missing)}); add it or a default"
        )
    return table.ravel()


def _row(numbers: Floats, own: int, variable: ReadVariable, line: int) -> Floats:
    if numbers.size != own:
        raise FileError(f"line {line}: {numbers.size} probabilities, but {variable.name!r} has {own} states")
    return numbers
