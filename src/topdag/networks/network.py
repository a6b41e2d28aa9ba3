"""Networks: which variables are the parents of which, checked once and never changed after."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import numpy.typing as npt

from topdag import _core
from topdag._util.bitsets import bits
from topdag._util.brief import brief
from topdag._util.class_graph import class_graph, interventional_graph
from topdag.errors import NetworkError, TooLarge
from topdag.networks.checks import (
    checked_edge,
    checked_names,
    checked_scores,
    checked_sets,
    disjoint_sets,
    is_score,
    parent_masks,
    require_known,
    topological_order,
)

if TYPE_CHECKING:
    from topdag.data.convert import Reading
    from topdag.networks.drawing.svg import GraphToDraw
    from topdag.networks.fit import Fitted

FORMAT, VERSION = "topdag-network", 1
CONTENT = {"variables": list, "edges": list, "local_scores": dict | None, "score": float | int | None}
REVERSIBLE = "reversible: networks with the same independences have it the other way"
"""Said below every network that has such edges: after a star in texts, of open heads in pictures."""
MOST_TO_ORDER = 64
MOST_SETS_TO_ORDER = 10_000_000
"""Sets whose counts are kept while orders are counted: about a gigabyte."""

LocalScores = Mapping[str, float] | None
ToldApart = Iterable[Collection[str]]


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Network:
    """The structure of a Bayesian network. Equal when names and parents are; scores are not compared.

    Variables left out of ``parents`` have none. Names come back in column order unless said otherwise.

    >>> network = Network(["asia", "smoke", "lung"], {"lung": ["smoke"]})
    >>> network.edges
    (('smoke', 'lung'),)
    >>> print(network)
    lung <- smoke*
    roots: asia, smoke
    * reversible: networks with the same independences have it the other way
    """

    names: tuple[str, ...]
    parents: Mapping[str, tuple[str, ...]]
    local_scores: LocalScores
    """What each variable adds to ``score``, or None when unknown."""
    told_apart: tuple[tuple[str, ...], ...]
    """Sets of variables: an edge with one end in such a set is not ``reversible``, since an experiment that set these
    variables, or the kinds of columns, settle its direction. Not compared."""
    score: float | None = field(init=False)
    """The natural log score of the data, without any prior: the sum of ``local_scores``."""
    masks: tuple[int, ...] = field(init=False)
    """Per variable its parents as bits; bit v stands for ``names[v]``."""
    order: tuple[str, ...] = field(init=False)
    """Every variable after its parents; of those ready, always the first in column order."""

    def __init__(
        self,
        names: Iterable[str],
        parents: Mapping[str, Iterable[str]],
        local_scores: LocalScores = None,
        told_apart: ToldApart = (),
    ) -> None:
        names = checked_names(names)
        self._fill(names, parent_masks(names, parents), local_scores, told_apart)

    def _fill(
        self, names: tuple[str, ...], masks: tuple[int, ...], local_scores: LocalScores, told_apart: ToldApart
    ) -> None:
        scores = None if local_scores is None else checked_scores(names, local_scores)
        parents = {name: named_in(names, mask) for name, mask in zip(names, masks, strict=True)}
        vars(self).update(
            names=names,
            parents=MappingProxyType(parents),
            local_scores=None if scores is None else MappingProxyType(scores),
            score=None if scores is None else math.fsum(scores.values()),
            told_apart=checked_sets(names, told_apart),
            masks=masks,
            order=topological_order(names, masks),
        )

    @classmethod
    def from_edges(
        cls,
        names: Iterable[str],
        edges: Iterable[Sequence[str]],
        local_scores: LocalScores = None,
        told_apart: ToldApart = (),
    ) -> Network:
        """The network with these edges, each a pair (parent, child)."""
        names = checked_names(names)
        parents: dict[str, list[str]] = {name: [] for name in names}
        if isinstance(edges, str) or not isinstance(edges, Iterable):
            raise NetworkError(f"Edges should be a list of pairs of names (parent, child), not {edges!r}.")
        for edge in edges:
            parent, child = checked_edge(edge)
            parents.setdefault(child, []).append(parent)
        return cls(names, parents, local_scores, told_apart)

    @classmethod
    def from_masks(
        cls,
        names: Iterable[str],
        masks: Iterable[int],
        local_scores: LocalScores = None,
        told_apart: ToldApart = (),
    ) -> Network:
        """The network in which bit p of ``masks[v]`` makes ``names[p]`` a parent of ``names[v]``."""
        names, masks = checked_names(names), tuple(map(operator.index, masks))
        if len(masks) != len(names):
            raise NetworkError(f"There are {len(names)} variables but {len(masks)} masks; give one each.")
        for name, mask in zip(names, masks, strict=True):
            if mask < 0 or mask >> len(names):
                raise NetworkError(f"Mask {mask} of {name!r} has bits beyond the {len(names)} variables.")
        network = cls.__new__(cls)
        network._fill(names, masks, local_scores, told_apart)
        return network

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Network:
        """The network that ``to_dict`` wrote."""
        if (content.get("format"), content.get("version")) != (FORMAT, VERSION):
            raise NetworkError(f"This is not a network in format {FORMAT!r}, version {VERSION}.")
        for key, kind in CONTENT.items():
            if not isinstance(content.get(key), kind):
                raise NetworkError(f"{key!r} is not of the kind to_dict writes: {content.get(key)!r}.")
        told_apart = content.get("told_apart", [])
        if not isinstance(told_apart, list):
            raise NetworkError(f"'told_apart' is not of the kind to_dict writes: {told_apart!r}.")
        network = cls.from_edges(content["variables"], content["edges"], content.get("local_scores"), told_apart)
        score = content.get("score")
        if score is not None and (network.score is None or not is_score(score, network.score)):
            raise NetworkError(f"The score is given as {score}, but the local scores give {network.score}.")
        return network

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """All pairs (parent, child), by the column of the child, then of the parent."""
        return tuple((parent, child) for child in self.names for parent in self.parents[child])

    @cached_property
    def reversible(self) -> tuple[tuple[str, str], ...]:
        """The edges that point the other way in some network with the same independences, which data cannot tell."""
        at = {name: place for place, name in enumerate(self.names)}
        sets = [sum(1 << at[name] for name in own) for own in self.told_apart]
        turning = (interventional_graph(self.masks, sets) if sets else class_graph(self.masks))[1]
        return tuple((parent, child) for parent, child in self.edges if turning[at[child]] >> at[parent] & 1)

    def marked_parents(self, name: str, shown: Callable[[str], str] = str) -> list[str]:
        """Its parents as texts, with a star where the edge is reversible."""
        return [shown(parent) + "*" * ((parent, name) in self.reversible) for parent in self.parents[name]]

    @property
    def n_edges(self) -> int:
        return len(self.edges)

    @property
    def roots(self) -> tuple[str, ...]:
        """Variables without parents."""
        return tuple(name for name in self.names if not self.parents[name])

    @property
    def leaves(self) -> tuple[str, ...]:
        """Variables without children."""
        return self._in_column_order(set(self.names).difference(*self.parents.values()))

    def children(self, name: str) -> tuple[str, ...]:
        """Every variable that has this one as a parent."""
        require_known([name], self.names)
        return tuple(child for child in self.names if name in self.parents[child])

    def ancestors(self, name: str) -> tuple[str, ...]:
        """Every variable with a directed path to this one."""
        require_known([name], self.names)
        reached = set(self.parents[name])
        for other in reversed(self.order):
            if other in reached:
                reached.update(self.parents[other])
        return self._in_column_order(reached)

    def descendants(self, name: str) -> tuple[str, ...]:
        """Every variable with a directed path from this one."""
        require_known([name], self.names)
        reached = {name}
        for other in self.order:
            if not reached.isdisjoint(self.parents[other]):
                reached.add(other)
        return self._in_column_order(reached - {name})

    def has_edge(self, parent: str, child: str) -> bool:
        require_known([parent, child], self.names)
        return parent in self.parents[child]

    def is_ancestor(self, a: str, b: str) -> bool:
        """Whether a directed path leads from ``a`` to ``b``; no variable is its own ancestor."""
        require_known([a, b], self.names)
        return a in self.ancestors(b)

    def markov_blanket(self, name: str) -> tuple[str, ...]:
        """Its parents, its children, and their other parents: given these, the rest says nothing more about it."""
        from topdag.networks import separation  # only now, as below: few questions need it

        require_known([name], self.names)
        return named_in(self.names, separation.blanket(self.masks, self.names.index(name)))

    @property
    def v_structures(self) -> tuple[tuple[str, str, str], ...]:
        """All (a, c, b) with edges a -> c <- b and none between a and b; a before b in column order."""
        from topdag.networks import separation

        return tuple((self.names[a], self.names[c], self.names[b]) for a, c, b in separation.v_structures(self.masks))

    def d_separated(self, a: str | Iterable[str], b: str | Iterable[str], given: str | Iterable[str] = ()) -> bool:
        """Whether the network says that ``a`` and ``b`` are independent given ``given``; each a name or several.

        >>> Network(["x", "y", "z"], {"y": ["x"], "z": ["y"]}).d_separated("x", "z", "y")
        True
        """
        from topdag.networks import separation

        return bool(separation.are_separated(self.masks, *disjoint_sets(self.names, a, b, given)))

    @cached_property
    def linear_extensions(self) -> int:
        """How many orders of all variables have every parent before its children; up to 64 variables."""
        if len(self.names) > MOST_TO_ORDER:
            raise TooLarge(f"Orders are counted for up to {MOST_TO_ORDER} variables, not {len(self.names)}.")
        count = _core.linear_extensions(self.masks, MOST_SETS_TO_ORDER) if self.names else 1
        if count is None:
            raise TooLarge("Counting the orders that agree with this network would take more than 1 GB of memory.")
        return count

    @property
    def log_linear_extensions(self) -> float:
        """The natural log of ``linear_extensions``."""
        return math.log(self.linear_extensions)

    @property
    def adjacency(self) -> npt.NDArray[np.uint8]:
        """A new matrix with 1 at [parent, child] for every edge, 0 elsewhere."""
        width = len(self.names)
        bits = [mask >> parent & 1 for parent in range(width) for mask in self.masks]
        return np.array(bits, dtype=np.uint8).reshape(width, width)

    @brief
    def fit(self, table: Any, ess: float = 1.0, **reading: Unpack[Reading]) -> Fitted:
        """The network with probabilities from a table, frame, array or path that has its variables.

        They are those expected after the table under the prior of BDeu: ``ess`` imaginary rows, spread evenly over the
        cells of each family. With ``ess=0`` they are frequencies. Combinations of parent states that do not occur get
        equal probabilities, which ``notes`` mention. ``constrained_fit`` honours constraints on probabilities. How a
        frame, array or path is read is said as for ``Table`` and ``read_table``.

        Gives a ``FittedNetwork``; where a column is numbers a ``FittedRegressions``: a linear regression for each
        number, a multinomial logistic one for each category with parents that are numbers. Imaginary rows keep slopes
        and deviations from what no row shows (docs/guides/continuous.md); ``ess=0`` gives the maximum likelihood.

        >>> from topdag import Table
        >>> table = Table({"rain": ["no", "yes", "no"], "wet": ["no", "yes", "yes"]})
        >>> Network(["rain", "wet"], {"wet": ["rain"]}).fit(table, ess=0).table("wet")
        {('no',): {'no': 0.5, 'yes': 0.5}, ('yes',): {'no': 0.0, 'yes': 1.0}}
        """
        from topdag.networks.fit import fit

        return fit(self, table, ess, reading)

    def plain_names(self) -> Network:
        """The same under names that every program reads: letters, digits and underscores, a letter first."""
        from topdag.networks.plain_names import plain_words

        names = plain_words(self.names, "v")
        scores = None if self.local_scores is None else dict(zip(names, self.local_scores.values(), strict=True))
        plain = dict(zip(self.names, names, strict=True))
        told_apart = [[plain[name] for name in own] for own in self.told_apart]
        return Network.from_masks(names, self.masks, scores, told_apart)

    @classmethod
    def from_bnlearn(cls, text: str) -> Network:
        """The network that a model string of R's bnlearn describes, variables in the order of the string.

        >>> Network.from_bnlearn("[smoke][lung|smoke]").edges
        (('smoke', 'lung'),)
        """
        from topdag.networks.export import families_of_bnlearn

        families = families_of_bnlearn(text)
        return cls(families, families)

    @classmethod
    def from_networkx(cls, graph: Any) -> Network:
        """The network of a ``networkx.DiGraph`` whose nodes are names."""
        from topdag.networks.export import edges_of_networkx

        return cls.from_edges(*edges_of_networkx(graph))

    @classmethod
    def from_pgmpy(cls, model: Any) -> Network:
        """The structure of a model of pgmpy."""
        return cls.from_networkx(model)

    @classmethod
    def from_pyagrum(cls, model: Any) -> Network:
        """The structure of a ``pyagrum.BayesNet``."""
        from topdag.networks.export import edges_of_pyagrum

        return cls.from_edges(*edges_of_pyagrum(model))

    def to_bnlearn(self) -> str:
        """The model string of R's bnlearn, for its ``model2network``.

        >>> Network(["lung", "smoke"], {"lung": ["smoke"]}).to_bnlearn()
        '[smoke][lung|smoke]'
        """
        from topdag.networks.export import to_bnlearn

        return to_bnlearn(self)

    def to_pgmpy(self) -> Any:
        """A ``pgmpy.models.DiscreteBayesianNetwork`` without probabilities; a fitted network's has them."""
        from topdag.networks.export import to_pgmpy

        return to_pgmpy(self)

    def to_networkx(self) -> Any:
        """A ``networkx.DiGraph`` with every variable as a node, also the isolated ones."""
        from topdag.networks.export import to_networkx

        return to_networkx(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, strings and numbers, ready for JSON; ``from_dict`` reads them back."""
        scores = {} if self.local_scores is None else {"local_scores": dict(self.local_scores)}
        edges = [list(edge) for edge in self.edges]
        structure = {"format": FORMAT, "version": VERSION, "variables": list(self.names), "edges": edges}
        told_apart = {"told_apart": [list(own) for own in self.told_apart]} if self.told_apart else {}
        return structure | scores | told_apart | {"score": self.score}

    def to_dot(self) -> str:
        """The network in the DOT language of Graphviz; reversible edges have open heads."""
        variables = [f"  {dot_quoted(name)};" for name in self.names]
        turning = [f"  {dot_quoted(a)} -> {dot_quoted(b)} [arrowhead=empty];" for a, b in self.reversible]
        fixed = [f"  {dot_quoted(a)} -> {dot_quoted(b)};" for a, b in self.edges if (a, b) not in self.reversible]
        said = [f"  label={dot_quoted(f'open head: {REVERSIBLE}')};"] if turning else []
        return "\n".join(["digraph {", *variables, *fixed, *turning, *said, "}", ""])

    def to_svg(self) -> str:
        """A picture: variables in boxes, parents above children, reversible edges with open heads. Notebooks show it
        by themselves."""
        from topdag.networks.drawing.svg import graph_svg

        return graph_svg(self._drawn)

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def plot(self, axes: Any = None) -> Any:
        """Draws the network with matplotlib, on ``axes`` or a new figure, and returns the axes."""
        from topdag.networks.drawing.plots import plot_graph

        return plot_graph(self._drawn, axes)

    @property
    def _drawn(self) -> GraphToDraw:
        from topdag.networks.drawing.svg import GraphToDraw, by_place

        edges, turning = by_place(self.names, self.edges), by_place(self.names, self.reversible)
        said = f"Open head: {REVERSIBLE}." if turning else ""
        return GraphToDraw(self.names, edges, edges, turning=turning, said=said)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Network):
            return NotImplemented
        return self.names == other.names and self.masks == other.masks

    def __hash__(self) -> int:
        return hash((self.names, self.masks))

    def __reduce__(self) -> tuple[Any, ...]:
        scores = None if self.local_scores is None else dict(self.local_scores)
        return Network, (self.names, dict(self.parents), scores, self.told_apart)

    def __str__(self) -> str:
        families = [f"{name} <- {', '.join(self.marked_parents(name))}" for name in self.names if self.parents[name]]
        said = [f"* {REVERSIBLE}"] if self.reversible else []
        return "\n".join([*families, f"roots: {', '.join(self.roots)}", *said])

    def __repr__(self) -> str:
        score = "" if self.score is None else f", score {self.score:.6g}"
        return f"Network({len(self.names)} variables, {self.n_edges} edges{score})"

    def _in_column_order(self, wanted: set[str]) -> tuple[str, ...]:
        return tuple(name for name in self.names if name in wanted)


def named_in(names: tuple[str, ...], mask: int) -> tuple[str, ...]:
    return tuple([names[v] for v in bits(mask)])


def dot_quoted(name: str) -> str:
    """Different names stay different, and Graphviz shows them as they are."""
    escaped = name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
