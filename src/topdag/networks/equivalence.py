"""Markov equivalence classes: networks that state the same independences, which data cannot tell apart."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import or_
from typing import TYPE_CHECKING, Any

from topdag._util.class_graph import ClassGraph, class_graph, class_size, directions, interventional_graph
from topdag.errors import NetworkError
from topdag.networks.checks import require_known
from topdag.networks.network import Network, dot_quoted, named_in

if TYPE_CHECKING:
    from topdag.networks.drawing.svg import GraphToDraw


@dataclass(frozen=True, eq=False)
class EquivalenceClass:
    """A class of networks, known by one member.

    ``directed``: the edges (parent, child) on which all members agree; ``undirected``: the others, each once, in
    column order. ``size``: how many networks it has. ``score``: the data's log score of every member.
    ``interventions``: sets of variables that experiments set, by name; then a class has the networks that these do not
    tell apart either, which are fewer (Hauser & Bühlmann 2012).

    >>> chain = Network(["a", "b", "c"], {"b": ["a"], "c": ["b"]})
    >>> EquivalenceClass(chain).size, EquivalenceClass(chain, [["b"]]).size
    (3, 1)
    """

    member: Network
    interventions: Sequence[Collection[str]] = ()

    def __post_init__(self) -> None:
        given = self.interventions
        if not isinstance(given, Collection) or any(isinstance(t, str) or not isinstance(t, Collection) for t in given):
            raise NetworkError(
                "EquivalenceClass: the variables that an experiment set stand in a list of their own, such as "
                f"[[{self.names[0]!r}]], not {given!r}."
            )

    @property
    def names(self) -> tuple[str, ...]:
        return self.member.names

    @property
    def score(self) -> float | None:
        return self.member.score

    @cached_property
    def key(self) -> ClassGraph:
        """The same for all members, different for different classes."""
        if not self.interventions:
            return class_graph(self.member.masks)
        together = [name for target in self.interventions for name in target]
        require_known(together, self.names)
        targets = [sum(1 << self.names.index(name) for name in set(target)) for target in self.interventions]
        return interventional_graph(self.member.masks, targets)

    @property
    def directed(self) -> tuple[tuple[str, str], ...]:
        return tuple(
            (parent, child)
            for child, mask in zip(self.names, self.key[0], strict=True)
            for parent in named_in(self.names, mask)
        )

    @property
    def undirected(self) -> tuple[tuple[str, str], ...]:
        return tuple(
            (a, b)
            for i, (a, mask) in enumerate(zip(self.names, self.key[1], strict=True))
            for b in named_in(self.names, mask >> (i + 1) << (i + 1))
        )

    def adjacent(self, a: str, b: str) -> bool:
        """Whether an edge joins them, directed or not."""
        return self.member.has_edge(a, b) or self.member.has_edge(b, a)

    @property
    def v_structures(self) -> tuple[tuple[str, str, str], ...]:
        """All (a, c, b) with edges a -> c <- b and none between a and b: the same in all members."""
        return self.member.v_structures

    @cached_property
    def size(self) -> int:
        """How many networks the class has, exactly; up to n! for n variables."""
        return class_size(self.key[1])

    def members(self) -> Iterator[Network]:
        """The networks of the class, one by one, each once."""
        directed, undirected = self.key
        for parents in directions(undirected):
            yield Network.from_masks(self.names, map(or_, directed, parents))

    def __len__(self) -> int:
        return self.size

    def __bool__(self) -> bool:
        return True  # even when there are more than len() can say

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, EquivalenceClass):
            return NotImplemented
        return self.names == other.names and self.key == other.key

    def __hash__(self) -> int:
        return hash((self.names, self.key))

    def __str__(self) -> str:
        lines = [f"{a} -> {b}" for a, b in self.directed] + [f"{a} -- {b}" for a, b in self.undirected]
        return "\n".join(lines) or "no edges"

    def __repr__(self) -> str:
        edges = f"{len(self.directed)} directed and {len(self.undirected)} undirected edges"
        return f"<class with {edges}, {self.size:,} networks>"

    def to_dot(self) -> str:
        """The class in the DOT language of Graphviz; edges that members turn either way have no arrow."""
        variables = [f"  {dot_quoted(name)};" for name in self.names]
        directed = [f"  {dot_quoted(a)} -> {dot_quoted(b)};" for a, b in self.directed]
        undirected = [f"  {dot_quoted(a)} -> {dot_quoted(b)} [dir=none];" for a, b in self.undirected]
        return "\n".join(["digraph {", *variables, *directed, *undirected, "}", ""])

    def to_svg(self) -> str:
        """A picture: arrows where all members agree, lines where they do not. Notebooks show it by themselves."""
        from topdag.networks.drawing.svg import graph_svg

        return graph_svg(self._drawn)

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def plot(self, axes: Any = None) -> Any:
        """Draws the class with matplotlib, on ``axes`` or a new figure, and returns the axes."""
        from topdag.networks.drawing.plots import plot_graph

        return plot_graph(self._drawn, axes)

    @property
    def _drawn(self) -> GraphToDraw:
        from topdag.networks.drawing.svg import GraphToDraw, by_place

        directed, undirected = by_place(self.names, self.directed), by_place(self.names, self.undirected)
        return GraphToDraw(self.names, by_place(self.names, self.member.edges), directed, undirected)

    def to_networkx(self) -> Any:
        """A ``networkx.DiGraph`` in which an undirected edge is a pair of arrows, one each way."""
        from topdag.networks.export import class_to_networkx

        return class_to_networkx(self)

    def to_dict(self) -> dict[str, Any]:
        return {
            "format": "topdag-class",
            "version": 1,
            "variables": list(self.names),
            "directed": [list(edge) for edge in self.directed],
            "undirected": [list(edge) for edge in self.undirected],
            "size": self.size,
            "score": self.score,
        }
