"""How well new rows were foreseen: their posterior predictive density, averaged over networks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topdag._util.arrays import Floats, Integers, Marks
from topdag._util.bitsets import bits
from topdag._util.messages import listing
from topdag.answers.averages import ToAverage, weighted_networks
from topdag.data.columns import MISSING, Codes
from topdag.data.encode import coded_rows
from topdag.data.table import Table
from topdag.errors import TableError
from topdag.networks.missing_cells import log_likelihoods_of_rows
from topdag.networks.network import Network
from topdag.networks.probability_tables import expected_probabilities, family_counts
from topdag.scoring.kinds.discrete import BDeu

DENSITIES_AT_ONCE = 1 << 22
"""Densities, of networks times rows, that are held at the same time."""


def predictive_log_density(
    averaged: Network | ToAverage, table: Table, new_rows: Any, *, ess: float = 1.0, weights: str = "networks"
) -> Floats:
    """The log probability of each new row after a table was seen, by a network or averaged over many.

    Probabilities of states are those expected after the table, with the prior of BDeu: ``ess`` imaginary rows, spread
    evenly over the cells of each family. ``new_rows`` is a frame, a dict of columns, a list of rows, an array or a
    Table (then there is one number for each of its distinct rows); states that the table declares may be new,
    others may not. Where cells of the table are missing, a family counts the rows in which it is known; missing cells
    of new rows are summed out exactly, network by network.

    >>> table = Table({"rain": ["no", "yes", "no"], "wet": ["no", "yes", "no"]})
    >>> network = Network(["rain", "wet"], {"wet": ["rain"]})
    >>> predictive_log_density(network, table, [{"rain": "no", "wet": "no"}]).round(3).tolist()
    [-0.575]
    """
    if not isinstance(table, Table):
        raise TableError(f"the table that was seen must be a Table, not {type(table).__name__}")
    table.require_states("predictive_log_density")
    table.require_no_experiments("predictive_log_density")
    BDeu(ess)  # refuses what is not an equivalent sample size
    names, masks, shares = weighted_networks([averaged] if isinstance(averaged, Network) else averaged, weights)
    order = _same_variables(names, table)
    new = coded_rows(table.names, table.states, new_rows)[order]
    is_whole = (new != MISSING).all(axis=0)
    families = _Families(table.codes[order], table.weights, table.arities[order], new[:, is_whole], ess)
    chosen = [np.unique(column, return_inverse=True) for column in masks.T]
    densities = [families.densities(x, found.tolist()) for x, (found, _) in enumerate(chosen)]
    places = [which.ravel() for _, which in chosen]
    found = np.empty(new.shape[1])
    found[is_whole] = _averaged(densities, places, np.log(shares))
    if not is_whole.all():
        found[~is_whole] = _with_gaps(table, names, masks, np.log(shares), new[:, ~is_whole], ess)
    return found


def _with_gaps(
    table: Table, names: Sequence[str], masks: NDArray[Any], log_shares: Floats, new: Codes, ess: float
) -> Floats:
    """The same of rows in which cells are missing: families do not tell these apart, networks do."""
    total, tables = np.full(new.shape[1], -np.inf), dict[tuple[int, int], Floats]()
    columns = [table.index(name) for name in names]
    for own, log_share in zip(masks.tolist(), log_shares.tolist(), strict=True):
        for x, mask in enumerate(own):
            if (x, mask) not in tables:
                counts = family_counts(table, columns[x], [columns[p] for p in bits(mask)])
                tables[x, mask] = expected_probabilities(counts, ess)
        probabilities = [tables[x, mask] for x, mask in enumerate(own)]
        logs = log_likelihoods_of_rows(Network.from_masks(names, own), probabilities, new)
        total = np.logaddexp(total, log_share + logs)
    return total


def _averaged(densities: Sequence[Floats], places: Sequence[NDArray[np.intp]], log_shares: Floats) -> Floats:
    """The log of the weighted mean over networks; network g has ``densities[x][places[x][g]]`` for variable x."""
    n_rows = densities[0].shape[1]
    total = np.full(n_rows, -np.inf)
    step = max(1, DENSITIES_AT_ONCE // max(1, n_rows))
    for begin in range(0, len(log_shares), step):
        block = np.repeat(log_shares[begin : begin + step, None], n_rows, axis=1)
        for of_variable, place in zip(densities, places, strict=True):
            block += of_variable[place[begin : begin + step]]
        total = np.logaddexp(total, np.logaddexp.reduce(block, axis=0))
    return total


@dataclass(frozen=True)
class _Families:
    """Rows seen, each with its weight, some with missing cells, and new rows: a row of codes for each variable."""

    seen: NDArray[np.uint16]
    weights: NDArray[np.uint32]
    arities: Integers
    new: Codes
    ess: float

    def densities(self, x: int, parent_sets: Sequence[int]) -> Floats:
        """For each parent set and each new row: the log probability of the state of x given its parents."""
        return np.array([self._density(x, parents) for parents in parent_sets])

    def _density(self, x: int, mask: int) -> Floats:
        parents = [v for v in range(len(self.arities)) if mask >> v & 1]
        imaginary = self.ess / float(np.prod(self.arities[parents], dtype=np.float64))
        arity = int(self.arities[x])
        family = [*parents, x]
        known = np.all(self.seen[family] < self.arities[family, None], axis=0)
        below, above = self._counts(parents, known), self._counts(family, known)
        return np.asarray(np.log((above + imaginary / arity) / (below + imaginary)))

    def _counts(self, variables: Sequence[int], known: Marks) -> Floats:
        """For each new row: how many of these rows seen agree with it on these variables."""
        n_seen = int(np.count_nonzero(known))
        key = np.zeros(n_seen + self.new.shape[1], dtype=np.int64)
        for v in variables:
            key = key * self.arities[v] + np.concatenate([self.seen[v, known], self.new[v]])
            if key.max(initial=0) >= len(key):  # cells that occur, numbered anew: no more than there are rows
                key = np.unique(key, return_inverse=True)[1].ravel()
        return np.asarray(np.bincount(key[:n_seen], self.weights[known], minlength=len(key))[key[n_seen:]])


def _same_variables(names: Sequence[str], table: Table) -> list[int]:
    """The columns of the table in the order of the networks' variables."""
    if sorted(names) != sorted(table.names):
        differing = sorted(set(names) ^ set(table.names))
        raise TableError(f"the networks and the table must have the same variables; not in both: {listing(differing)}")
    return [table.index(name) for name in names]
