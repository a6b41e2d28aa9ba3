"""Probabilities from a table: a network becomes a fitted one, of states or of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from topdag._util.arrays import Floats
from topdag._util.messages import plural
from topdag.data.convert import Reading, as_table
from topdag.data.table import Table
from topdag.networks.checks import check_ess, require_known
from topdag.networks.fitted import FittedNetwork
from topdag.networks.fitted_regressions import FittedRegressions, fit_regressions
from topdag.networks.probability_tables import expected_probabilities, family_counts

if TYPE_CHECKING:
    from topdag.networks.network import Network

NUMBERS_INSTEAD = "fit numbers with network.fit(table) in Python"

Fitted: TypeAlias = FittedNetwork | FittedRegressions


def fit(network: Network, source: Any, ess: float, reading: Reading) -> Fitted:
    """See ``Network.fit``."""
    table = as_table(_own_columns(network, source, reading), reading)
    is_of_states = not set(network.names) & set(table.continuous)
    return fit_network(network, table, ess) if is_of_states else fit_regressions(network, table, ess)


def _own_columns(network: Network, source: Any, reading: Reading) -> Any:
    """Of a frame the columns of the network alone: what is wrong with others is nobody's concern."""
    rules_by_name = isinstance(reading.get("discretize"), dict)
    names_columns = rules_by_name or set(reading) & {"columns", "leave_out", "weights", "types"}
    if names_columns or not hasattr(source, "columns") or isinstance(source, Table):
        return source
    try:
        own = [name for name in source.columns if name in network.names]
        return source[own] if len(own) == len(network.names) else source
    except (TypeError, KeyError, AttributeError):  # a frame of another make
        return source


def fit_network(network: Network, table: Table, ess: float = 1.0) -> FittedNetwork:
    """The network with the probabilities that a table leads to; see ``Network.fit``."""
    check_ess(ess, "fit", or_none=True)
    require_known(network.names, table.names)
    if set(network.names) & set(table.continuous):
        table.require_states("fit", NUMBERS_INSTEAD)
    tables, notes = {}, _note_on_missing(table, network)
    for name in network.names:
        x, parents = table.index(name), [table.index(parent) for parent in network.parents[name]]
        counts = family_counts(table.rows_telling_of(x), x, parents)
        tables[name] = expected_probabilities(counts, ess)
        notes += _note_on_unseen(name, counts, ess)
    states = {name: table.states[table.index(name)] for name in network.names}
    return FittedNetwork(network, states, tables, notes)


def _note_on_missing(table: Table, network: Network) -> list[str]:
    if not set(table.missing) & set(network.names):
        return []
    return ["Cells are missing: probabilities are by the rows in which a variable and its parents are known."]


def _note_on_unseen(name: str, counts: Floats, ess: float) -> list[str]:
    totals = counts.sum(axis=-1)
    unseen = int((totals == 0).sum())
    if not unseen:
        return []
    why = "nothing is known of them" if ess == 0 else "that is the prior's word alone"
    many = plural(int(totals.size), "combination")
    return [f"{name!r}: {unseen:,} of {many} of parent states do not occur; uniform there, {why}."]
