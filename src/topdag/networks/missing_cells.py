"""What the observed cells of a row say of its missing ones, exactly: expected counts, likelihoods, completed rows.

Given the observed cells, the missing ones of a row fall into parts that do not depend on each other: two belong
together if a family has both. What is said of a part depends only on the observed cells of its families, so all rows
that share these are looked at once. In a part one variable after the other is summed out, and then given back
[Dechter 1999, bucket elimination]; the arrays have a place for each such row, then an axis for each variable.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from topdag._util.arrays import Floats, Integers
from topdag._util.bitsets import bits
from topdag._util.class_graph import connected
from topdag._util.memory import available_memory, shown_bytes
from topdag._util.messages import listing
from topdag.errors import NetworkError, TooLarge
from topdag.networks.probability_tables import Codes

if TYPE_CHECKING:
    from topdag.networks.fitted import FittedNetwork
    from topdag.networks.network import Network

MOST_CELLS_OF_A_ROW = 2**24
"""Numbers that are held for the missing cells of one row."""
CELLS_AT_ONCE = 2**21
"""About so many for all rows that are looked at together."""
LESS_MISSING = "Leave out columns or rows with many missing cells, or limit the number of parents."


@dataclass(frozen=True)
class IncompleteRows:
    """Rows over the variables of a network; a missing cell has the code after the last state."""

    codes: Codes  # (variables, rows)
    weights: Floats
    arities: tuple[int, ...]

    @cached_property
    def patterns(self) -> dict[int, Integers]:
        """By set of missing variables, as bits, the rows that lack just these."""
        is_missing = self.codes == np.array(self.arities)[:, None]
        distinct, where = np.unique(is_missing, axis=1, return_inverse=True)
        masks = [sum(1 << int(v) for v in np.flatnonzero(column)) for column in distinct.T]
        order = np.argsort(where.ravel(), kind="stable")
        ends = np.cumsum(np.bincount(where.ravel(), minlength=len(masks)))
        return dict(zip(masks, np.split(order, ends[:-1]), strict=True))


@dataclass(frozen=True)
class ExpectedCounts:
    """Of each family how many rows have each combination of states, missing cells by their probabilities; and the log
    likelihood of what was observed."""

    counts: Mapping[str, Floats]
    log_likelihood: float


class MissingCells:
    """The missing cells of rows, as a network joins them; what it says of them depends on its probabilities."""

    def __init__(self, network: Network, rows: IncompleteRows, memory: int | None = None) -> None:
        """``memory``: bytes that may be taken; None: what is free."""
        self.names, self.rows = network.names, rows
        self.memory = available_memory() if memory is None else memory
        place = {name: v for v, name in enumerate(network.names)}
        self.families = [(*(place[p] for p in network.parents[name]), place[name]) for name in network.names]
        self.neighbours = [0] * len(network.names)
        for family in self.families:
            for v in family:
                self.neighbours[v] |= sum(1 << w for w in family if w != v)

    def expected_counts(self, fitted: FittedNetwork) -> ExpectedCounts:
        tables = list(fitted.tables.values())
        counts = [np.zeros(table.shape) for table in tables]
        log_likelihood = [self._count_observed(x, tables[x], counts[x]) for x in range(len(tables))]
        for seen in self._seen.values():
            for begin, end in seen.pieces():
                posterior = seen.posterior(tables, begin, end)
                log_likelihood.append(float(seen.weights[begin:end] @ posterior.log_likelihoods))
                for x in seen.families:
                    seen.add_family(counts[x], x, posterior, begin, end)
        return ExpectedCounts(dict(zip(self.names, counts, strict=True)), math.fsum(log_likelihood))

    def log_likelihoods(self, tables: Sequence[Floats]) -> Floats:
        """Of what was observed, for each row, by the probabilities of each variable given its parents."""
        found = np.zeros(self.rows.codes.shape[1])
        for family, table in zip(self.families, tables, strict=True):
            own = self.rows.codes[list(family)]
            whole = np.flatnonzero((own != np.array(table.shape)[:, None]).all(axis=0))
            with np.errstate(divide="ignore"):
                found[whole] += np.log(table[tuple(own[:, whole].astype(np.intp))])
        for seen in self._seen.values():
            pieces = [seen.posterior(tables, begin, end).log_likelihoods for begin, end in seen.pieces()]
            found[seen.rows] += np.concatenate(pieces)[seen.places_of(seen.rows)]
        return found

    def completed(self, fitted: FittedNetwork, parts: int, seed: int) -> tuple[Codes, Integers]:
        """Rows without gaps in place of these, each ``parts`` times: in so many parts a row is divided among its
        completions by their probabilities. What does not come out whole is left to chance, evenly."""
        generator, tables = np.random.Generator(np.random.PCG64(seed)), list(fitted.tables.values())
        self._require_memory(8.0 * sum(its.n_distinct * its.cells_of_a_row for its in self._seen.values()))
        posteriors = {part: its.posterior(tables, 0, its.n_distinct) for part, its in self._seen.items()}
        if any(np.isneginf(own.log_likelihoods).any() for own in posteriors.values()):
            raise NetworkError("A row is impossible by this network: nothing is known of its missing cells.")
        codes, counts = [], []
        for missing, rows in self.rows.patterns.items():
            own = _Divided(self.rows.codes[:, rows], np.round(self.rows.weights[rows] * parts).astype(np.int64), rows)
            for part in self._parts_of(missing):
                own.divide(posteriors[part], self._seen[part], generator)
            codes.append(own.codes)
            counts.append(own.counts)
        return np.concatenate(codes, axis=1), np.concatenate(counts)

    @cached_property
    def _seen(self) -> dict[int, _SeenBesides]:
        """By part what its rows have observed besides."""
        found: dict[int, list[Integers]] = {}
        for missing, rows in self.rows.patterns.items():
            for part in self._parts_of(missing):
                found.setdefault(part, []).append(rows)
        seen = {part: _SeenBesides(self, part, np.sort(np.concatenate(rows))) for part, rows in found.items()}
        n_cells = [min(its.cells_of_a_row * its.n_distinct, its.cells_at_once) for its in seen.values()]
        self._require_memory(4.0 * 8 * max(n_cells, default=0))
        return seen

    def _require_memory(self, needed: float) -> None:
        if needed > self.memory:
            raise TooLarge(
                f"Summing over missing cells needs {shown_bytes(needed)}; {shown_bytes(self.memory)} may be taken. "
                f"{LESS_MISSING}"
            )

    def _parts_of(self, missing: int) -> Iterator[int]:
        among = [mask & missing for mask in self.neighbours]
        while missing:
            part = connected(among, (missing & -missing).bit_length() - 1)
            missing &= ~part
            yield part

    def _count_observed(self, x: int, table: Floats, counts: Floats) -> float:
        """Adds the rows in which the whole family is observed; their log likelihood."""
        family = list(self.families[x])
        own = self.rows.codes[family]
        whole = np.flatnonzero((own != np.array(counts.shape)[:, None]).all(axis=0))
        cells = np.ravel_multi_index(tuple(own[:, whole].astype(np.intp)), counts.shape)
        counts += np.bincount(cells, self.rows.weights[whole], counts.size).reshape(counts.shape)
        occurring = counts > 0
        with np.errstate(divide="ignore"):
            return float(counts[occurring] @ np.log(table[occurring]))


@dataclass(frozen=True)
class _Posterior:
    """Of the missing variables of a part, for some observed rows. ``given``: by variable those that are summed out
    later and tell of it, and its probabilities given their states: (rows, their states ..., its own)."""

    given: dict[int, tuple[tuple[int, ...], Floats]]
    log_likelihoods: Floats

    @cached_property
    def joint(self) -> dict[int, Floats]:
        """By variable the probability of its states together with those ``given``; the last one comes first."""
        found: dict[int, Floats] = {}
        for v in reversed(self.given):
            others, probabilities = self.given[v]
            found[v] = probabilities * self.of(others, found)[..., None] if others else probabilities
        return found

    def of(self, variables: tuple[int, ...], joint: Mapping[int, Floats]) -> Floats:
        """The joint probability of variables that some family has, in the order in which they are summed out."""
        first = variables[0]
        scope = (*self.given[first][0], first)
        others = tuple(1 + i for i, v in enumerate(scope) if v not in variables)
        left = [v for v in scope if v in variables]
        return np.asarray(joint[first].sum(axis=others)).transpose(0, *(1 + left.index(v) for v in variables))


class _SeenBesides:
    """The rows that have a part, as far as they matter for it: the distinct cells observed in its families."""

    def __init__(self, cells: MissingCells, part: int, rows: Integers) -> None:
        self.part, self.cells = part, cells
        self.families = [x for x, family in enumerate(cells.families) if any(part >> v & 1 for v in family)]
        members = {v for x in self.families for v in cells.families[x]}
        self.observed = sorted(v for v in members if not part >> v & 1)
        self.order = self._order_of_summing()
        self.codes, where = np.zeros((0, 1), np.uint16), np.zeros(len(rows), np.intp)
        if self.observed:
            own = cells.rows.codes[self.observed][:, rows]
            self.codes, where = np.unique(own, axis=1, return_inverse=True)
        self.n_distinct = self.codes.shape[1]
        self.weights = np.bincount(where.ravel(), cells.rows.weights[rows], self.n_distinct)
        self.rows, self._places = rows, where.ravel()

    def _order_of_summing(self) -> list[int]:
        """Next comes the variable that makes the smallest array; what it is joined with then hangs together."""
        neighbours = {v: self.cells.neighbours[v] & self.part for v in bits(self.part)}
        order, total = [], 0

        def size(v: int) -> int:
            return math.prod(self.cells.rows.arities[w] for w in (v, *bits(neighbours[v])))

        while neighbours:
            v = min(neighbours, key=lambda v: (size(v), v))
            total += size(v)
            order.append(v)
            joined = neighbours.pop(v)
            for w in bits(joined):
                neighbours[w] = (neighbours[w] | joined) & ~(1 << w) & ~(1 << v)
        self.cells_of_a_row = total
        self._require_few()
        return order

    def _require_few(self) -> None:
        if self.cells_of_a_row > MOST_CELLS_OF_A_ROW:
            missing = listing([self.cells.names[v] for v in bits(self.part)])
            raise TooLarge(
                f"In a row without {missing}, what is missing hangs together so closely that it would be summed over "
                f"{self.cells_of_a_row:.1e} cells; at most {MOST_CELLS_OF_A_ROW:.1e} are. {LESS_MISSING}"
            )

    def places_of(self, rows: Integers) -> NDArray[np.intp]:
        """Where such rows stand among the distinct ones."""
        return self._places[np.searchsorted(self.rows, rows)]

    @property
    def cells_at_once(self) -> int:
        """For as many rows as are looked at together, one at least."""
        return max(CELLS_AT_ONCE, self.cells_of_a_row)

    def pieces(self) -> Iterator[tuple[int, int]]:
        """Of the distinct rows, so that not too much is held at once."""
        step = self.cells_at_once // self.cells_of_a_row
        for begin in range(0, self.n_distinct, step):
            yield begin, min(begin + step, self.n_distinct)

    def posterior(self, tables: Sequence[Floats], begin: int, end: int) -> _Posterior:
        waiting = [self._factor(x, tables[x], begin, end) for x in self.families]
        given: dict[int, tuple[tuple[int, ...], Floats]] = {}
        log_likelihoods = np.zeros(end - begin)
        for v in self.order:
            its = [factor for factor in waiting if v in factor[0]]
            waiting = [factor for factor in waiting if v not in factor[0]]
            others = tuple(w for w in self.order if w != v and any(w in scope for scope, _ in its))
            product = np.ones((end - begin, *(1,) * (1 + len(others))))
            for scope, values in its:
                product = product * _on_axes(values, scope, (*others, v))
            summed = product.sum(axis=-1)
            given[v] = (
                others,
                np.divide(product, summed[..., None], out=np.zeros_like(product), where=summed[..., None] > 0),
            )
            largest = summed.max(axis=tuple(range(1, summed.ndim)), keepdims=True)  # keeps products of many from 0
            with np.errstate(divide="ignore"):
                log_likelihoods += np.log(largest.reshape(-1))
            summed = np.divide(summed, largest, out=np.zeros_like(summed), where=largest > 0)
            if others:
                waiting.append((others, summed))
        return _Posterior(given, log_likelihoods)

    def _factor(self, x: int, table: Floats, begin: int, end: int) -> tuple[tuple[int, ...], Floats]:
        """The table of a family where the observed cells are as they are: its missing members, and the values."""
        family = self.cells.families[x]
        seen, missing = self._axes(family)
        table = table.transpose(*seen, *missing)
        values = table[self._codes_of(family, seen, begin, end)] if seen else table[None]
        return tuple(family[i] for i in missing), values

    def _axes(self, family: Sequence[int]) -> tuple[list[int], list[int]]:
        """Those of the observed members, and of the missing ones in the order of summing."""
        missing = [family.index(v) for v in self.order if v in family]
        return [i for i in range(len(family)) if i not in missing], missing

    def _codes_of(
        self, family: Sequence[int], axes: Sequence[int], begin: int, end: int
    ) -> tuple[NDArray[np.intp], ...]:
        return tuple(self.codes[self.observed.index(family[i]), begin:end].astype(np.intp) for i in axes)

    def add_family(self, counts: Floats, x: int, posterior: _Posterior, begin: int, end: int) -> None:
        """Adds to the counts of a family what these rows are expected to have."""
        family = self.cells.families[x]
        seen, missing = self._axes(family)
        probabilities = posterior.of(tuple(family[i] for i in missing), posterior.joint)
        weighted = probabilities * self.weights[begin:end].reshape(-1, *(1,) * len(missing))
        into = counts.transpose(*seen, *missing)
        if seen:
            np.add.at(into, self._codes_of(family, seen, begin, end), weighted)
        else:
            into += weighted.sum(axis=0)


def _on_axes(values: Floats, scope: tuple[int, ...], axes: tuple[int, ...]) -> Floats:
    """With an axis for each of these variables, of length 1 for those not in scope."""
    present = [v for v in axes if v in scope]
    values = values.transpose(0, *(1 + scope.index(v) for v in present))
    lengths = iter(values.shape[1:])
    return values.reshape(len(values), *(next(lengths) if v in scope else 1 for v in axes))


class _Divided:
    """Rows that lack the same cells, divided among their completions."""

    def __init__(self, codes: Codes, counts: Integers, rows: Integers) -> None:
        self.codes, self.counts, self.rows = codes, counts, rows

    def divide(self, posterior: _Posterior, seen: _SeenBesides, generator: np.random.Generator) -> None:
        for v in reversed(posterior.given):
            others, probabilities = posterior.given[v]
            places = (seen.places_of(self.rows), *(self.codes[w].astype(np.intp) for w in others))
            heights = probabilities[places].cumsum(axis=-1)
            heights /= heights[:, -1:]
            upto = np.floor(heights * self.counts[:, None] + generator.random((len(self.rows), 1))).astype(np.int64)
            shares = np.diff(upto, axis=1, prepend=0)
            which, states = np.nonzero(shares)
            self.codes, self.rows, self.counts = self.codes[:, which], self.rows[which], shares[which, states]
            self.codes[v] = states


def log_likelihoods_of_rows(network: Network, tables: Sequence[Floats], codes: NDArray[np.int64]) -> Floats:
    """Of every row, by the probabilities of each variable given its parents; a negative code is a missing cell."""
    arities = tuple(table.shape[-1] for table in tables)
    coded = np.where(codes < 0, np.array(arities)[:, None], codes).astype(np.uint16)
    rows = IncompleteRows(coded, np.ones(coded.shape[1]), arities)
    return MissingCells(network, rows).log_likelihoods(tables)
