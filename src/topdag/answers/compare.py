"""How two networks or two classes differ."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from types import MappingProxyType

from topdag._util.messages import listing
from topdag.errors import NetworkError, ScoreError
from topdag.networks.equivalence import EquivalenceClass
from topdag.networks.network import Network
from topdag.scoring.scores import Scores

NamedEdge = tuple[str, str]
Graph = Network | EquivalenceClass
LINE_WIDTH = 100


@dataclass(frozen=True)
class Comparison:
    """What must change in the first graph to get the second.

    ``added``, ``dropped``: edges between variables that are joined in one of them only. ``reversed``: edges that point
    the other way. Of classes only, ``directed``: edges that were undirected, ``undirected``: edges that were
    directed. Edges are pairs (parent, child) as they stand in the second graph, dropped ones as in the first; pairs
    of undirected edges stand in column order. ``changes``: all of these as texts, + added, - dropped, ~ turned.

    ``score_difference``: the second score less the first, None when one is unknown. ``by_family``: its parts, for the
    variables whose families differ; None for classes, whose members share them out differently.
    """

    added: tuple[NamedEdge, ...]
    dropped: tuple[NamedEdge, ...]
    reversed: tuple[NamedEdge, ...]
    directed: tuple[NamedEdge, ...]
    undirected: tuple[NamedEdge, ...]
    changes: tuple[str, ...]
    score_difference: float | None
    by_family: Mapping[str, float] | None

    @property
    def distance(self) -> int:
        """The structural Hamming distance: how many edges must be added, dropped or turned, each counting 1.

        For classes this is the distance of Tsamardinos, Brown & Aliferis (2006, Machine Learning 65).
        """
        return len(self.changes)

    def __str__(self) -> str:
        lines = [*wrapped(self.changes), f"structural Hamming distance {self.distance}"]
        if self.score_difference is not None:
            lines.append(f"score {self.score_difference:+.6f} (the second less the first)")
        lines += [f"  {shown_name(name)} {part:+.6f}" for name, part in (self.by_family or {}).items()]
        return "\n".join(lines if self.changes else ["no edge differs", *lines])


def compare(a: Graph, b: Graph, scores: Scores | None = None) -> Comparison:
    """Two networks, or two classes, side by side: what must change in ``a`` to get ``b``.

    Scores are compared when both graphs know theirs, or by ``scores``.

    >>> chain = Network(["x", "y", "z"], {"y": ["x"], "z": ["y"]})
    >>> print(compare(chain, Network(["x", "y", "z"], {"x": ["y"], "z": ["x"]})))
    ~ y -> x, + x -> z, - y -> z
    structural Hamming distance 3
    """
    _require_alike(a, b)
    old, new = marks_of(a, a.names), marks_of(b, a.names)
    groups: dict[str, list[NamedEdge]] = {
        name: [] for name in ("added", "dropped", "reversed", "directed", "undirected")
    }
    changes = []
    for pair in combinations(a.names, 2):
        before, after = old.get(pair), new.get(pair)
        if before == after:
            continue
        change, sign = _change(before, after)
        mark = after or before
        assert mark is not None
        groups[change].append(pair[::-1] if mark == "<-" else pair)
        changes.append(f"{sign} {edge_text(pair, mark)}")
    total, by_family = _score_difference(a, b, scores)
    edges = {name: tuple(found) for name, found in groups.items()}
    return Comparison(**edges, changes=tuple(changes), score_difference=total, by_family=by_family)


def marks_of(graph: Graph, names: Sequence[str]) -> dict[NamedEdge, str]:
    """For each two variables, in this order, that an edge joins: "->", "<-" or "--"."""
    column = {name: place for place, name in enumerate(names)}
    directed = graph.edges if isinstance(graph, Network) else graph.directed
    undirected = () if isinstance(graph, Network) else graph.undirected
    forward = {(a, b): "->" for a, b in directed if column[a] < column[b]}
    backward = {(b, a): "<-" for a, b in directed if column[b] < column[a]}
    return forward | backward | {(a, b) if column[a] < column[b] else (b, a): "--" for a, b in undirected}


def edge_text(pair: NamedEdge, mark: str) -> str:
    """``a -> b`` or ``a -- b``, the arrow always to the right."""
    first, second = map(shown_name, pair[::-1] if mark == "<-" else pair)
    return f"{first} {'--' if mark == '--' else '->'} {second}"


def shown_name(name: str) -> str:
    """Quoted when it could not be told from the rest of a line."""
    return name if name.isprintable() and "," not in name else repr(name)


def _require_alike(a: object, b: object) -> None:
    both = (Network, EquivalenceClass)
    if not isinstance(a, both) or not isinstance(b, both) or isinstance(a, Network) != isinstance(b, Network):
        raise TypeError(
            f"compare takes two networks or two classes, not {type(a).__name__} and {type(b).__name__}; "
            "EquivalenceClass(network) is the class of a network."
        )
    for one, other in ((a, b), (b, a)):
        if lacking := [name for name in one.names if name not in other.names]:
            raise NetworkError(f"Both must have the same variables; only one of them has {listing(lacking)}.")


def _change(before: str | None, after: str | None) -> tuple[str, str]:
    """What happened to an edge, and its sign."""
    if before is None:
        return "added", "+"
    if after is None:
        return "dropped", "-"
    return ("directed" if before == "--" else "undirected" if after == "--" else "reversed"), "~"


def _score_difference(a: Graph, b: Graph, scores: Scores | None) -> tuple[float | None, Mapping[str, float] | None]:
    old, new = _local_scores(a, scores), _local_scores(b, scores)
    if old is None or new is None:
        return None, None
    total = math.fsum(new.values()) - math.fsum(old.values())
    if not isinstance(a, Network) or not isinstance(b, Network):
        return total, None
    differing = [name for name in a.names if set(a.parents[name]) != set(b.parents[name]) or old[name] != new[name]]
    return total, MappingProxyType({name: new[name] - old[name] for name in differing})


def _local_scores(graph: Graph, scores: Scores | None) -> Mapping[str, float] | None:
    network = graph if isinstance(graph, Network) else graph.member
    if scores is None:
        return network.local_scores
    if network is not graph and scores.kind is not None and not scores.score_equivalent:
        raise ScoreError(f"{scores.kind} gives no score to a class: its members score differently.")
    return scores.breakdown(network)


def wrapped(pieces: Sequence[str], width: int = LINE_WIDTH - 2) -> list[str]:
    """The pieces with commas between them, in lines that break between pieces only."""
    joined = ", ".join(piece.replace(" ", "\0") for piece in pieces)
    lines = textwrap.wrap(joined, width, break_long_words=False, break_on_hyphens=False)
    return [line.replace("\0", " ") for line in lines]
