"""Networks drawn from the posterior, held as arrays of parent masks; networks are made when asked for."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from topdag._util.arrays import Floats, Integers, Masks
from topdag._util.to_frame import frame_of_rows
from topdag.answers.held import HeldNetworks
from topdag.answers.results import Stats
from topdag.errors import ScoreError, is_finite
from topdag.knowledge.priors import Prior
from topdag.networks.checks import require_known
from topdag.networks.network import Network

if TYPE_CHECKING:
    from topdag.scoring.scores import Scores

STRIDE = 0x9E3779B97F4A7C15


@dataclass(frozen=True, eq=False)
class EdgeFrequencies:
    """``frequencies[i, j]``: the share of the samples with the edge names[i] -> names[j]. ``errors``: the standard
    error of each, which says nothing where no sample or every sample has the edge: with N samples a probability of
    up to 3/N goes unseen one time in twenty."""

    names: tuple[str, ...]
    frequencies: Floats
    errors: Floats

    def of(self, parent: str, child: str) -> tuple[float, float]:
        """The frequency of one edge, and its standard error."""
        require_known([parent, child], self.names)
        place = self.names.index(parent), self.names.index(child)
        return float(self.frequencies[place]), float(self.errors[place])

    def rows(self) -> Iterator[dict[str, Any]]:
        """Every edge that occurs, the most frequent first."""
        for place in np.argsort(-self.frequencies, axis=None, kind="stable").tolist():
            i, j = divmod(place, len(self.names))
            if self.frequencies[i, j] == 0:
                return
            yield {
                "parent": self.names[i],
                "child": self.names[j],
                "frequency": float(self.frequencies[i, j]),
                "error": float(self.errors[i, j]),
            }

    def to_frame(self) -> Any:
        """The rows as a pandas or Polars frame, whichever is installed."""
        return frame_of_rows(self.rows(), ("parent", "child", "frequency", "error"))


@dataclass(frozen=True, eq=False)
class NetworkSample(HeldNetworks[Network]):
    """Independent networks, each drawn with its posterior probability under ``prior`` (None: all networks alike).

    ``parents``: for each sample and each scored variable a bit mask over the scored variables (``scored_names``).
    ``error``: rounding moved at most so much probability, all networks together; what is left is chance. The first
    samples of a longer run with the same seed are the same.
    """

    source: Scores
    parents: Masks
    prior: Prior | None
    seed: int
    error: float
    stats: Stats

    def _item(self, place: int) -> Network:
        return self.network(place)

    @cached_property
    def _groups(self) -> tuple[Integers, Integers]:
        """Where each different network stands first, and how often it occurs, the most frequent first."""
        first, counts = group_rows(self.parents)
        order = np.lexsort([first, -counts])
        return first[order], counts[order]

    @property
    def n_distinct(self) -> int:
        """How many different networks were drawn."""
        return len(self._groups[0])

    def distinct(self) -> Iterator[tuple[Network, int]]:
        """The different networks with how often each was drawn, the most frequent first."""
        first, counts = self._groups
        for place, count in zip(first.tolist(), counts.tolist(), strict=True):
            yield self.network(place), count

    def edge_frequencies(self) -> EdgeFrequencies:
        """The share of samples with each edge: an estimate of its posterior probability."""
        n, m = len(self.names), len(self.source.columns)
        frequencies = np.zeros((n, n))
        for x, child in enumerate(self.source.columns):
            masks, counts = np.unique(self.parents[:, x], return_counts=True)
            for parent in range(m):
                has_it = masks >> np.uint64(parent) & np.uint64(1) == 1
                frequencies[self.source.columns[parent], child] = counts[has_it].sum() / max(1, len(self))
        spread = frequencies * (1 - frequencies)
        return EdgeFrequencies(
            self.names, frequencies, np.sqrt(spread / (len(self) - 1)) if len(self) > 1 else spread * np.nan
        )

    def estimate(self, feature: Callable[[Network], float]) -> tuple[float, float]:
        """The posterior mean of any function of a network (True counts as 1), and the standard error of this estimate.

        Each different network is asked about once. With one sample the error is not a number.
        """
        if not len(self):
            raise ScoreError("There are no samples to estimate anything from; draw some.")
        counts = self._groups[1].astype(np.float64)
        values = np.array([_checked(feature(network)) for network, _ in self.distinct()])
        mean = float((counts * values).sum() / len(self))
        spread = float((counts * (values - mean) ** 2).sum())
        return mean, math.sqrt(spread / (len(self) - 1) / len(self)) if len(self) > 1 else math.nan

    def to_dicts(self) -> Iterator[dict[str, Any]]:
        """One row per different network: how often it was drawn, its share, its score and each variable's parents."""
        for network, count in self.distinct():
            parents = {f"parents of {name}": ", ".join(its) for name, its in network.parents.items()}
            yield {"count": count, "share": count / len(self), "score": network.score, **parents}

    def to_frame(self) -> Any:
        """The rows of ``to_dicts`` as a pandas or Polars frame, whichever is installed."""
        return frame_of_rows(self.to_dicts(), ("count", "share", "score"))

    def _repr_html_(self) -> str:
        """For notebooks: the most frequent edges."""
        from topdag._util.html import html_table, more

        edges = list(self.edge_frequencies().rows())
        rows = [(f"{e['parent']} -> {e['child']}", f"{e['frequency']:.4f}", f"{e['error']:.4f}") for e in edges[:10]]
        notes = [*more(len(edges) - len(rows)), *self.notes]
        return html_table(("edge", "frequency", "standard error"), rows, repr(self).strip("<>"), notes)

    def __repr__(self) -> str:
        prior = "all networks alike before" if self.prior is None else str(self.prior)
        return f"<NetworkSample: {len(self):,} networks, {self.n_distinct:,} different, {prior}, seed {self.seed}>"


def group_rows(rows: Masks) -> tuple[Integers, Integers]:
    """Where each different row stands first, and how often it occurs. Rows are told apart by a number made of them;
    should two different rows have the same one, by themselves, which takes longer."""
    if not rows.shape[1]:
        return np.zeros(min(1, len(rows)), np.int64), np.full(min(1, len(rows)), len(rows))
    keys = np.zeros(len(rows), np.uint64)
    for column in rows.T:
        keys = (keys ^ (keys >> np.uint64(29)) ^ column) * np.uint64(STRIDE)
    _, first, inverse, counts = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    if not np.array_equal(rows[first[inverse]], rows):
        _, first, counts = np.unique(rows, axis=0, return_index=True, return_counts=True)
    return first.astype(np.int64), counts.astype(np.int64)


def _checked(value: object) -> float:
    if not isinstance(value, (Real, np.bool_)) or not is_finite(value):
        raise ScoreError(f"A feature must be True, False or a finite number for every network, not {value!r}.")
    return float(value)
