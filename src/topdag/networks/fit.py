"""Probabilities from a table: a network becomes a fitted one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from topdag._util.arrays import Floats
from topdag._util.messages import plural
from topdag.data.convert import Reading, as_table
from topdag.data.table import Table
from topdag.errors import NetworkError
from topdag.networks.checks import check_ess, require_known
from topdag.networks.fitted import MOST_CELLS, FittedNetwork
from topdag.networks.network import Network

NUMBERS_INSTEAD = "fit numbers with network.fit(table) in Python"


def fit_network(network: Network, source: Any, ess: float = 1.0, reading: Reading | None = None) -> FittedNetwork:
    """The network with the probabilities that a table leads to; see ``Network.fit``."""
    if ess != 0:
        check_ess(ess, "fit")
    table = as_table(source, None, reading, NUMBERS_INSTEAD)
    require_known(network.names, table.names)
    if set(network.names) & set(table.continuous):
        table.require_states("fit", NUMBERS_INSTEAD)
    tables, notes = {}, []
    for name in network.names:
        counts = family_counts(table, table.index(name), [table.index(parent) for parent in network.parents[name]])
        tables[name] = expected_probabilities(counts, ess)
        notes += _note_on_unseen(name, counts, ess)
    states = {name: table.states[table.index(name)] for name in network.names}
    return FittedNetwork(network, states, tables, notes)


def family_counts(table: Table, x: int, parents: Sequence[int]) -> Floats:
    """How many rows have each combination of states: an axis for each parent, in order, then one for the variable."""
    family = [*parents, x]
    shape = tuple(int(table.arities[v]) for v in family)
    if (cells := math.prod(shape)) > MOST_CELLS:
        raise NetworkError(f"The table of {table.names[x]!r} would have {cells:,} cells; at most {MOST_CELLS:,} fit.")
    places = np.ravel_multi_index([table.codes[v].astype(np.intp) for v in family], shape)
    return np.bincount(places, table.weights.astype(np.float64), cells).astype(np.float64).reshape(shape)


def expected_probabilities(counts: Floats, ess: float) -> Floats:
    """The posterior mean when ``ess`` imaginary rows are spread evenly; frequencies for 0. Unseen rows are uniform."""
    raised = counts + ess / counts.size
    totals = raised.sum(axis=-1, keepdims=True)
    return np.where(totals > 0, raised / np.where(totals > 0, totals, 1.0), 1.0 / counts.shape[-1])


def _note_on_unseen(name: str, counts: Floats, ess: float) -> list[str]:
    totals = counts.sum(axis=-1)
    unseen = int((totals == 0).sum())
    if not unseen:
        return []
    why = "nothing is known of them" if ess == 0 else "that is the prior's word alone"
    many = plural(int(totals.size), "combination")
    return [f"{name!r}: {unseen:,} of {many} of parent states do not occur; uniform there, {why}."]
