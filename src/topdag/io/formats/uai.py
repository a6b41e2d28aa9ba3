"""UAI, the format of the inference competitions: numbers only. Variables become V0, V1, ..., states 0, 1, ..."""

from __future__ import annotations

import math
import re

import numpy as np

from topdag.errors import FileError
from topdag.io.formats.parts import ReadVariable
from topdag.io.formats.scanner import TextScanner, joined_numbers
from topdag.networks.fitted import FittedNetwork

WORD, WHOLE = re.compile(r"\S+"), re.compile(r"\d{1,9}(?=\s|$)")
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?=\s|$)")
REFUSED_OF_PYAGRUM = (
    "this looks written by pyAgrum, which orders the tables of variables with several parents in a way of its own; "
    "save it from there as .bif or .net"
)


def uai_text(fitted: FittedNetwork) -> str:
    """A table for each variable: its parents and, last, itself; the last changes fastest."""
    at = {name: str(place) for place, name in enumerate(fitted.names)}
    families = [(*fitted.network.parents[name], name) for name in fitted.names]
    scopes = [f"{len(family)} {' '.join(at[member] for member in family)}" for family in families]
    tables = [f"{table.size}\n{joined_numbers(table.ravel().tolist(), ' ')}" for table in fitted.tables.values()]
    head = ["BAYES", str(len(at)), " ".join(map(str, fitted.arities)), str(len(at))]
    return "\n".join([*head, *scopes, "", *tables, ""])


def read_uai_text(text: str) -> dict[str, ReadVariable]:
    scanner = TextScanner(text, r"(?:\s+|#[^\n]*)*")
    line = scanner.line
    if (kind := scanner.expect(WORD, "BAYES")[0]) != "BAYES":
        raise FileError(f"line {line}: this is a file of kind {kind!r}; networks are in those that begin with BAYES")
    n = _whole(scanner, "the number of variables")
    arities = [_whole(scanner, "a number of states") for _ in range(n)]
    line = scanner.line
    if (n_tables := _whole(scanner, "the number of tables")) != n:
        raise FileError(f"line {line}: {n} variables need {n} tables, not {n_tables}")
    scopes = [_scope(scanner, n) for _ in range(n)]
    if "#" in text and any(len(scope) > 2 for scope in scopes):
        raise FileError(REFUSED_OF_PYAGRUM)
    if len({scope[-1] for scope in scopes}) < n:
        raise FileError("each variable needs a table of its own, in which it stands last")
    read: dict[int, ReadVariable] = {}
    for *parents, child in scopes:
        line, size = scanner.line, _whole(scanner, "the number of numbers in a table")
        if size != (needed := math.prod(arities[v] for v in (*parents, child))):
            raise FileError(f"line {line}: the table of variable {child} has {size} numbers; its states need {needed}")
        numbers = np.array([float(scanner.expect(NUMBER, "a number")[0]) for _ in range(size)])
        words = [str(state) for state in range(arities[child])]
        read[child] = ReadVariable(f"V{child}", line, words, "", [f"V{v}" for v in parents], numbers, line)
    if not scanner.is_at_end:
        raise scanner.error("the last table is complete, but something follows it")
    return {read[v].name: read[v] for v in range(n)}


def _whole(scanner: TextScanner, what: str) -> int:
    return int(scanner.expect(WHOLE, what)[0])


def _scope(scanner: TextScanner, n: int) -> list[int]:
    line = scanner.line
    scope = [_whole(scanner, "a variable") for _ in range(_whole(scanner, "how many variables a table has"))]
    if not scope or len(set(scope)) < len(scope) or max(scope) >= n:
        raise FileError(f"line {line}: a table has different variables from 0 to {n - 1}, not {scope}")
    return scope
