"""What readers of network files find, put together: checked against each other, in column order, rows summing to 1."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from topdag._util.arrays import Floats
from topdag._util.messages import plural
from topdag.errors import FileError, NetworkError
from topdag.networks.checks import require_known
from topdag.networks.fitted import SUM_TOLERANCE, FittedNetwork
from topdag.networks.network import Network
from topdag.networks.state_words import states_of

DECIMALS_CUT_SHORT = 1e-3
"""Rows of decimals cut short sum to nearly 1; those within this are divided by their sum."""


@dataclass
class ReadVariable:
    """A variable as a file has it: its states as words, parents in the order of the file, numbers in the order of its
    table, which has an axis for each parent, then one for the variable. Without ``numbers`` it has no table."""

    name: str
    line: int
    words: Sequence[str] = ()
    kinds: str = ""
    parents: Sequence[str] = ()
    numbers: Floats | None = field(default=None, repr=False)
    table_line: int = 0


Variables = Mapping[str, ReadVariable]


def by_name(variables: Sequence[ReadVariable]) -> dict[str, ReadVariable]:
    found: dict[str, ReadVariable] = {}
    for variable in variables:
        if variable.name in found:
            raise FileError(f"line {variable.line}: {variable.name!r} is declared twice; give one another name")
        found[variable.name] = variable
    return found


def declared(name: str, variables: Variables, line: int) -> ReadVariable:
    try:
        require_known([name], list(variables))
    except NetworkError as error:
        raise FileError(f"line {line}: {error}") from None
    return variables[name]


def network_of(variables: Variables) -> Network:
    """The structure alone."""
    return Network(variables, {variable.name: variable.parents for variable in variables.values()})


def fitted_of(variables: Variables) -> FittedNetwork:
    network = network_of(variables)
    states = {name: states_of(variable.words, variable.kinds) for name, variable in variables.items()}
    tables = {name: _table_of(variable, variables, network) for name, variable in variables.items()}
    return FittedNetwork(network, states, tables)


def shape_of(variable: ReadVariable, variables: Variables) -> tuple[int, ...]:
    """The lengths of the axes of its table."""
    return tuple(len(variables[name].words) for name in (*variable.parents, variable.name))


def _table_of(variable: ReadVariable, variables: Variables, network: Network) -> Floats:
    if variable.numbers is None:
        raise FileError(
            f"line {variable.line}: {variable.name!r} has no probabilities; read_network reads the structure alone"
        )
    shape = shape_of(variable, variables)
    if variable.numbers.size != math.prod(shape):
        axes = " x ".join(map(str, shape))
        raise FileError(
            f"line {variable.table_line}: {plural(variable.numbers.size, 'number')} for {variable.name!r}, but its "
            f"parents' states and its own need {axes} = {math.prod(shape)}"
        )
    table = _summing_to_one(variable, variable.numbers.reshape(shape), variables)
    order = [list(variable.parents).index(parent) for parent in network.parents[variable.name]]
    return table.transpose([*order, len(order)])


def _summing_to_one(variable: ReadVariable, table: Floats, variables: Variables) -> Floats:
    sums = table.sum(axis=-1, keepdims=True)
    off = np.abs(sums - 1)
    wrong = ~(off <= DECIMALS_CUT_SHORT)[..., 0] | ~(table >= 0).all(axis=-1)
    if wrong.any():
        case = tuple(np.argwhere(wrong)[0])
        words = zip(variable.parents, case, strict=True)
        given = ", ".join(f"{parent}={variables[parent].words[code]}" for parent, code in words)
        raise FileError(
            f"line {variable.table_line}: the probabilities of {variable.name!r}{' given ' * bool(given)}{given} are "
            f"{table[case].tolist()}; they should not be negative and sum to 1"
        )
    return np.where(off <= SUM_TOLERANCE, table, table / sums)


def configurations(words: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """All combinations of parent states, the last parent's changing fastest."""
    return list(product(*words))
