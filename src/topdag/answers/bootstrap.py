"""How often edges come back when a table is drawn again from its own rows: frequencies, with the chance in them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from random import Random
from statistics import NormalDist
from typing import Any

import numpy as np

from topdag._util.arrays import Floats
from topdag._util.bitsets import bits
from topdag._util.class_graph import class_graph, components, drawn_member
from topdag._util.messages import plural
from topdag._util.to_frame import frame_of_rows
from topdag.answers.averages import edge_matrix
from topdag.answers.class_edges import EdgeCounts
from topdag.answers.lists import BestList
from topdag.answers.posteriors import EdgeMatrix, NetworkPosteriors
from topdag.answers.results import Answer, Stats, Status
from topdag.answers.samples import NetworkSample
from topdag.data.table import Table
from topdag.errors import ScoreError
from topdag.networks.checks import require_known
from topdag.networks.network import Network
from topdag.scoring.kinds.base import ScoreKind

LEVEL = 0.95
N_DRAWS = 200
"""Where nothing else is said."""
FORMAT, VERSION = "topdag-bootstrap", 1


@dataclass(frozen=True, eq=False)
class Draw:
    """What was answered on one table drawn: ``edges[i, j]``, which share of what was found has the edge; of a class,
    the share of its networks. ``network``: the best one, where that was asked for."""

    edges: Floats
    is_proved: bool = True
    network: Network | None = None

    def to_dict(self) -> dict[str, Any]:
        """The network, which says what the edges are, or these."""
        if self.network is None:
            return {"proved": self.is_proved, "edges": self.edges.tolist()}
        parents = {child: list(own) for child, own in self.network.parents.items() if own}
        return {"proved": self.is_proved, "parents": parents}


@dataclass(frozen=True, eq=False, repr=False)
class BootstrapFrequencies(EdgeMatrix):
    """``matrix[i, j]``: the mean over all draws of how far the answer has the edge names[i] -> names[j]. Where all
    networks of a class score the same, a draw counts by the share of the best class's networks that have the edge: an
    edge whose direction the data cannot tell counts for both.

    ``draws``: what each table drawn gave, in order; ``asked_for``: how many were; ``answer``: the best network of the
    table itself, where that was asked; ``seed``: the first draws of a longer run with the same seed are the same.
    ``limit``: what stopped it, None when all draws were done. ``table``, ``kind``: what was asked about; ``by_class``:
    whether a network stands for its class. These are no probabilities given the data: docs/guides/bootstrap.md says
    what they are.
    """

    NUMBER, NUMBERS, MORE = "frequency", "frequencies", "more frequent"

    names: tuple[str, ...]
    draws: tuple[Draw, ...]
    asked_for: int
    seed: int
    question: str
    answer: Answer | None
    limit: str | None
    stats: Stats | None
    about_table: tuple[str, ...] = ()
    table: Table | None = None
    kind: ScoreKind | None = None
    by_class: bool = False

    def networks(self) -> tuple[Network, ...]:
        """A network for each draw: the best one, or where it stands for its class a member drawn with the seed, each as
        likely as any."""
        chance = Random(self.seed)
        found = [draw.network for draw in self.draws if draw.network is not None]
        if len(found) < len(self.draws):
            raise ScoreError(f"Draws that were asked for {self.question} have no networks; ask for best_network.")
        if not self.by_class:
            return tuple(found)
        return tuple(Network.from_masks(self.names, drawn_member(class_graph(own.masks), chance)) for own in found)

    @cached_property
    def matrix(self) -> Floats:  # type: ignore[override]
        found: Floats = np.minimum(np.mean([draw.edges for draw in self.draws], axis=0), 1.0)
        found.flags.writeable = False
        return found

    @cached_property
    def adjacency(self) -> Floats:
        """At [i, j]: how often an edge joins the two, either way; symmetric."""
        both = [np.minimum(draw.edges + draw.edges.T, 1.0) for draw in self.draws]
        return np.asarray(np.mean(both, axis=0))

    def either_way(self, a: str, b: str) -> float:
        """How often an edge joins these two variables."""
        require_known([a, b], self.names)
        return float(self.adjacency[self.names.index(a), self.names.index(b)])

    def interval(self, parent: str, child: str, level: float = LEVEL) -> tuple[float, float]:
        """Where the frequency of infinitely many draws lies, with this confidence: what the number of draws leaves
        open, and nothing else."""
        return self._interval(self[parent, child], level)

    def _interval(self, frequency: float, level: float = LEVEL) -> tuple[float, float]:
        """Wilson's; shares between 0 and 1 vary less than what it is made for, so it is wide enough for them."""
        if not 0 < level < 1:
            raise ScoreError(f"A level of confidence lies between 0 and 1, not {level!r}.")
        n, z = len(self.draws), NormalDist().inv_cdf((1 + level) / 2)
        middle = (frequency + z * z / (2 * n)) / (1 + z * z / n)
        reach = z / (1 + z * z / n) * math.sqrt(frequency * (1 - frequency) / n + z * z / (4 * n * n))
        low = 0.0 if frequency == 0.0 else max(0.0, middle - reach)
        return low, 1.0 if frequency == 1.0 else min(1.0, middle + reach)

    def to_dicts(self) -> Iterator[dict[str, Any]]:
        """One row per pair of different variables, most frequent first."""
        for parent, child, frequency in self.above(-1.0):
            low, high = self._interval(frequency)
            either = self.either_way(parent, child)
            yield {
                "parent": parent, "child": child, "frequency": frequency, "low": low, "high": high, "either_way": either
            }  # fmt: skip

    def to_frame(self) -> Any:
        """The rows of ``to_dicts`` as a pandas or Polars frame, whichever is installed."""
        return frame_of_rows(self.to_dicts(), ("parent", "child", "frequency", "low", "high", "either_way"))

    @property
    def proved(self) -> bool:
        """Whether all draws were done, and each answer is proved."""
        return self.limit is None and all(draw.is_proved for draw in self.draws)

    @property
    def said(self) -> str:
        return f"{self.question} of {plural(len(self.draws), 'table')} drawn from the rows, seed {self.seed}"

    @property
    def notes(self) -> tuple[str, ...]:
        notes = list(self.about_table)
        if self.limit is not None:
            limit = f"the {self.limit.replace('_', ' ')}" if self.limit.endswith("_limit") else self.limit
            notes.append(f"Stopped by {limit} after {len(self.draws):,} of {self.asked_for:,} draws.")
        not_proved = sum(not draw.is_proved for draw in self.draws)
        if not_proved:
            notes.append(
                f"{plural(not_proved, 'draw')} of {len(self.draws):,} not proved: the best that was found counts."
            )
        return tuple(notes)

    def shown(self, parent: str, child: str, number: float) -> str:
        low, high = self._interval(number)
        return f"{number:.3f}  ({low:.3f} to {high:.3f}; either way {self.either_way(parent, child):.3f})"

    def to_dict(self) -> dict[str, Any]:
        """For JSON: what ``write_bootstrap`` writes."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "names": list(self.names),
            "question": self.question,
            "asked_for": self.asked_for,
            "seed": self.seed,
            "limit": self.limit,
            "by_class": self.by_class,
            "about_table": list(self.about_table),
            "notes": list(self.notes),
            "edges": self.matrix.tolist(),
            "adjacency": self.adjacency.tolist(),
            "draws": [draw.to_dict() for draw in self.draws],
        }


def draw_of(answer: Any, *, by_class: bool) -> Draw:
    """What an answer says of edges. ``by_class``: a network stands for its class."""
    if isinstance(answer, Answer):
        network, is_proved = answer.network, answer.proof.status is not Status.STOPPED
        if network is None:
            raise ScoreError(f"No network was found: {answer.proof}.")
        return draw_of_network(network, is_proved, by_class=by_class)
    if isinstance(answer, NetworkPosteriors):
        return Draw(answer.edges.matrix)
    if isinstance(answer, EdgeMatrix):
        return Draw(answer.matrix)
    if isinstance(answer, BestList):
        return Draw(edge_matrix(answer), answer.proof.status is Status.PROVED)
    if isinstance(answer, NetworkSample):
        return Draw(answer.edge_frequencies().frequencies)
    raise ScoreError(
        "question must be one whose answer tells of edges, such as best_network, k_best_networks or edge_posteriors; "
        f"this one gave {type(answer).__name__}."
    )


def draw_of_network(network: Network, is_proved: bool, *, by_class: bool) -> Draw:
    return Draw(class_shares(network) if by_class else _own_edges(network), is_proved, network)


def _own_edges(network: Network) -> Floats:
    found = np.zeros((len(network.names),) * 2)
    for child, mask in enumerate(network.masks):
        found[bits(mask), child] = 1.0
    return found


def class_shares(network: Network) -> Floats:
    """At [i, j]: which share of the networks of its class has i -> j."""
    directed, undirected = class_graph(network.masks)
    found, counts = np.zeros((len(directed),) * 2), EdgeCounts()
    for child, mask in enumerate(directed):
        found[bits(mask), child] = 1.0
    for part in components(undirected):
        for edge, share in counts.shares(undirected, bits(part)[0]).items():
            found[edge] = share
    return found
