"""Probabilities given the data: of edges, of paths, of parent sets. Exact sums over all networks make them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from topdag._util.arrays import Floats, Integers
from topdag._util.to_frame import frame_of, frame_of_rows
from topdag.answers.results import Stats
from topdag.errors import NetworkError, ScoreError
from topdag.networks.checks import require_known
from topdag.networks.network import Network

FORMAT, VERSION = "topdag-posteriors", 1
ROWS_SHOWN = 10


@dataclass(frozen=True, eq=False)
class Averaged:
    """What was averaged over, and how well. ``prior``: the weight each network had before the data, in words;
    ``log_evidence``: the natural log of the sum, over all networks, of weight times exp(score); ``space``: the networks
    that count; ``cancellation``: how much larger the terms of a sum were than the sum, at most; ``defect``: by how much
    sums that must be one differed from it, at most; ``notes``: what was done to the table, and what to know of it."""

    prior: str
    log_evidence: float
    space: str
    cancellation: float
    defect: float
    stats: Stats | None
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "stats"} | {"notes": list(self.notes)}


def file_header(what: str, names: tuple[str, ...], averaged: Averaged) -> dict[str, Any]:
    """What a file of posteriors says before the numbers."""
    return {"format": FORMAT, "version": VERSION, "what": what, "names": list(names)} | averaged.to_dict()


@dataclass(frozen=True, eq=False)
class Consensus:
    """The edges that are more probable, or more frequent, than ``threshold``, the first of them first.

    ``network`` is the network of just these edges, or None when they make a circle: for thresholds from a half on that
    is rare, below it is common.
    """

    names: tuple[str, ...]
    threshold: float
    edges: tuple[tuple[str, str], ...]
    network: Network | None
    more: str = "more probable"

    @property
    def is_acyclic(self) -> bool:
        return self.network is not None

    def __str__(self) -> str:
        said = "no circle" if self.is_acyclic else "with a circle, so this is no network"
        lines = [f"{parent} -> {child}" for parent, child in self.edges] or ["no edges"]
        return "\n".join([*lines, f"{len(self.edges)} edges {self.more} than {self.threshold:g}, {said}"])


class FromSums:
    """What all that one sum gave says of the sum."""

    averaged: Averaged

    @property
    def prior(self) -> str:
        """The weight each network had before the data, in words."""
        return self.averaged.prior

    @property
    def log_evidence(self) -> float:
        return self.averaged.log_evidence

    @property
    def cancellation(self) -> float:
        """How much larger the terms of a sum were than the sum, at most."""
        return self.averaged.cancellation

    @property
    def stats(self) -> Stats | None:
        return self.averaged.stats

    @property
    def notes(self) -> tuple[str, ...]:
        """What was done to the table, and what to know of it."""
        return self.averaged.notes


class PairMatrix:
    """A number from 0 to 1 for each pair of variables, and how it is shown: ``matrix[i, j]`` is that of ``names[i]`` to
    ``names[j]``; also ``found["a", "b"]``. The diagonal is zero."""

    WHAT: ClassVar[str] = "pair"
    FIRST: ClassVar[str] = "from"
    SECOND: ClassVar[str] = "to"
    NUMBER: ClassVar[str] = "probability"
    NUMBERS: ClassVar[str] = "probabilities"

    names: tuple[str, ...]
    matrix: Floats

    @property
    def said(self) -> str:
        """Under what, or of what, the numbers are."""
        raise NotImplementedError

    @property
    def notes(self) -> tuple[str, ...]:
        raise NotImplementedError

    def __getitem__(self, pair: tuple[str, str]) -> float:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise ScoreError(f"Ask for a pair of names, such as [{self.names[0]!r}, {self.names[-1]!r}], not {pair!r}.")
        require_known(pair, self.names)
        return float(self.matrix[self.names.index(pair[0]), self.names.index(pair[1])])

    def above(self, threshold: float = 0.0) -> list[tuple[str, str, float]]:
        """Pairs more probable than this, most probable first, ties by column."""
        if isinstance(threshold, bool) or not isinstance(threshold, Real):
            raise ScoreError(f"A threshold is a probability, a number from 0 to 1, not {threshold!r}.")
        found = [
            (-float(self.matrix[i, j]), j, i)
            for i, j in zip(*np.nonzero(self.matrix > threshold), strict=True)
            if i != j
        ]
        return [(self.names[i], self.names[j], -minus) for minus, j, i in sorted(found)]

    def to_dicts(self) -> Iterator[dict[str, Any]]:
        """One row per pair of different variables, most probable first."""
        everything = self.above(-1.0)
        return ({self.FIRST: a, self.SECOND: b, self.NUMBER: p} for a, b, p in everything)

    def to_frame(self) -> Any:
        """The rows of ``to_dicts`` as a pandas or Polars frame, whichever is installed."""
        return frame_of_rows(self.to_dicts(), (self.FIRST, self.SECOND, self.NUMBER))

    def heatmap(self, *, numbers: bool | None = None, axes: Any = None) -> Any:
        """Draws the matrix with matplotlib and returns the axes; ``numbers``: written in, by default where they fit."""
        from topdag.networks.drawing.plots import plot_heat

        return plot_heat(self.names, self.matrix, *self._labels, numbers, axes)

    def _repr_html_(self) -> str:
        from topdag._util.html import notes_html
        from topdag.networks.drawing.svg import heat_html

        return heat_html(self.names, self.matrix.tolist(), *self._labels) + notes_html(self.notes)

    @property
    def _labels(self) -> tuple[str, str, str]:
        return f"{self.NUMBER.capitalize()} of each {self.WHAT}, {self.said}", self.FIRST, self.SECOND

    def matrix_frame(self) -> Any:
        """The matrix as a frame with named columns, and the rows named in the first, which no variable is called."""
        first = self.FIRST
        while first in self.names:
            first += "_"
        rows = {first: list(self.names)}
        return frame_of(rows | {name: self.matrix[:, j].tolist() for j, name in enumerate(self.names)})

    def __str__(self) -> str:
        pairs = self.above()
        width = max((len(f"{a} -> {b}") for a, b, _ in pairs[:ROWS_SHOWN]), default=0)
        lines = [f"{f'{a} -> {b}':<{width}}  {self.shown(a, b, p)}" for a, b, p in pairs[:ROWS_SHOWN]]
        more = [f"... and {len(pairs) - ROWS_SHOWN} more"] if len(pairs) > ROWS_SHOWN else []
        return "\n".join([*lines, *more, f"{self.WHAT} {self.NUMBERS}, {self.said}", *self.notes])

    def shown(self, first: str, second: str, number: float) -> str:
        """A number of the matrix in a line of text."""
        return f"{number:.6f}"

    def __repr__(self) -> str:
        likely = int((self.matrix > 0.5).sum())
        return f"<{self.WHAT} {self.NUMBERS} of {len(self.names)} variables, {likely} above a half, {self.said}>"


class EdgeMatrix(PairMatrix):
    """``matrix[i, j]``: of the edge names[i] -> names[j]."""

    WHAT, FIRST, SECOND = "edge", "parent", "child"
    MORE: ClassVar[str] = "more probable"

    def consensus(self, threshold: float = 0.5) -> Consensus:
        """The edges above ``threshold``; for a half the median-probability network, if it is one."""
        if not isinstance(threshold, Real) or not 0 <= threshold <= 1:
            raise ScoreError(f"The threshold is a {self.NUMBER} from 0 to 1, not {threshold!r}.")
        edges = tuple((a, b) for a, b, _ in self.above(float(threshold)))
        try:
            network = Network.from_edges(self.names, edges)
        except NetworkError:  # a circle
            network = None
        return Consensus(self.names, float(threshold), edges, network, self.MORE)


@dataclass(frozen=True, eq=False, repr=False)
class PairPosteriors(FromSums, PairMatrix):
    """A probability for each pair of variables."""

    names: tuple[str, ...]
    matrix: Floats
    averaged: Averaged

    @property
    def said(self) -> str:
        return self.prior

    def to_dict(self) -> dict[str, Any]:
        """For JSON: what ``write_posteriors`` writes."""
        return file_header(self.WHAT + "s", self.names, self.averaged) | {self.WHAT + "s": self.matrix.tolist()}


@dataclass(frozen=True, eq=False, repr=False)
class EdgePosteriors(EdgeMatrix, PairPosteriors):
    """``matrix[i, j]``: the probability of the edge names[i] -> names[j], given the data."""


@dataclass(frozen=True, eq=False, repr=False)
class PathPosteriors(PairPosteriors):
    """``matrix[i, j]``: the probability that names[i] is an ancestor of names[j], given the data."""

    WHAT, FIRST, SECOND = "path", "ancestor", "descendant"


@dataclass(frozen=True, eq=False, repr=False)
class ParentSetPosteriors(FromSums, Mapping[tuple[str, ...], float]):
    """Every allowed parent set of ``variable`` with its probability, most probable first. Sums are over all of them.

    ``probabilities``: by the parents as bits over ``candidates``.
    """

    variable: str
    candidates: tuple[str, ...]
    probabilities: Floats
    averaged: Averaged

    def __getitem__(self, parents: Sequence[str]) -> float:
        names = (parents,) if isinstance(parents, str) else tuple(parents)
        if any(name not in self.candidates for name in names) or len(set(names)) < len(names):
            raise KeyError(parents)
        return float(self.probabilities[sum(1 << self.candidates.index(name) for name in names)])

    @cached_property
    def _order(self) -> Integers:
        return np.argsort(-self.probabilities, kind="stable")

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        return (self._named(int(place)) for place in self._order)

    def __len__(self) -> int:
        return len(self.probabilities)

    def most_probable(self, k: int = 10) -> dict[tuple[str, ...], float]:
        """The k most probable parent sets."""
        return {self._named(int(place)): float(self.probabilities[place]) for place in self._order[:k]}

    def _named(self, mask: int) -> tuple[str, ...]:
        return tuple(name for i, name in enumerate(self.candidates) if mask >> i & 1)

    def _repr_html_(self) -> str:
        from topdag._util.html import html_table, more

        rows = [(", ".join(parents) or "none", f"{p:.6f}") for parents, p in self.most_probable(ROWS_SHOWN).items()]
        title = f"Parents of {self.variable}, {self.prior}"
        return html_table(("parents", "probability"), rows, title, [*more(len(self) - len(rows)), *self.notes])

    def __repr__(self) -> str:
        (parents, p), *_ = self.most_probable(1).items()
        return f"<{len(self):,} parent sets of {self.variable!r}; ({', '.join(parents)}) has probability {p:.6f}>"


@dataclass(frozen=True, eq=False)
class NetworkPosteriors(FromSums):
    """All that one sum over networks gives. ``paths`` is None where they were not asked for."""

    edges: EdgePosteriors
    paths: PathPosteriors | None
    by_parents: Mapping[str, ParentSetPosteriors]
    averaged: Averaged

    @property
    def names(self) -> tuple[str, ...]:
        return self.edges.names

    def _repr_html_(self) -> str:
        return self.edges._repr_html_()

    def parent_sets(self, variable: str) -> ParentSetPosteriors:
        require_known([variable], self.names)
        if variable not in self.by_parents:
            raise ScoreError(f"The parent sets of {variable!r} were not asked for: see parent_sets_of.")
        return self.by_parents[variable]
