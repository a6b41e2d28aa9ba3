"""What a network may have: an edge, a path, a v-structure, an independence, or what any function says of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, TypeAlias

import numpy as np

from topdag._util.class_graph import class_graph
from topdag.answers.class_edges import EdgeCounts
from topdag.errors import NetworkError, ScoreError
from topdag.networks import separation
from topdag.networks.checks import disjoint_sets, require_known
from topdag.networks.network import Network

Names: TypeAlias = Sequence[str]
Parents: TypeAlias = Sequence[Any]
"""The parents of each variable: ints for one network, arrays of uint64 for many at once (see ``separation``)."""
SharesInClasses: TypeAlias = Callable[[Names, Parents, Parents], Any]
"""The share of each class's members with the feature, by arrays of directed and undirected edges; NaN: unknown."""


@dataclass(frozen=True)
class Feature:
    """Something to ask of networks: 1 where a network has it, 0 where not, or any number ``between`` two bounds.

    ``class_invariant``: all networks of a class agree on it. Features are called like functions.

    >>> path("x", "z")(Network(["x", "y", "z"], {"y": ["x"], "z": ["y"]}))
    1.0
    """

    text: str
    values: Callable[[Names, Parents], Any]
    class_invariant: bool
    between: tuple[float, float] = (0.0, 1.0)
    shares_in_classes: SharesInClasses | None = None

    def __call__(self, network: Network) -> float:
        return float(self.values(network.names, network.masks))

    def __str__(self) -> str:
        return self.text


def edge(parent: str, child: str) -> Feature:
    """The edge ``parent`` -> ``child``."""

    def values(names: Names, parents: Parents) -> Any:
        a, b = _places(names, parent, child)
        return parents[b] >> a & 1

    def shares(names: Names, directed: Parents, undirected: Parents) -> Any:
        a, b = _places(names, parent, child)
        found, counts = (directed[b] >> a & 1).astype(np.float64), EdgeCounts()
        for place in np.flatnonzero(undirected[b] >> a & 1):
            found[place] = counts.shares([int(its[place]) for its in undirected], b)[a, b]
        return found

    return Feature(f"edge {parent} -> {child}", values, class_invariant=False, shares_in_classes=shares)


def compelled_edge(parent: str, child: str) -> Feature:
    """The edge ``parent`` -> ``child`` in every network of the class."""

    def values(names: Names, parents: Parents) -> Any:
        a, b = _places(names, parent, child)
        if isinstance(parents[b], int):
            return class_graph(parents)[0][b] >> a & 1
        rows = zip(*(its.tolist() for its in parents), strict=True)
        return np.array([class_graph(row)[0][b] >> a & 1 for row in rows])

    return Feature(f"compelled edge {parent} -> {child}", values, class_invariant=True)


def adjacency(a: str, b: str) -> Feature:
    """An edge between two variables, whichever way it points."""

    def values(names: Names, parents: Parents) -> Any:
        i, j = _places(names, a, b)
        return (parents[i] >> j | parents[j] >> i) & 1

    return Feature(f"edge {a} - {b}", values, class_invariant=True)


def path(a: str, b: str) -> Feature:
    """A directed path from ``a`` to ``b``, of any length: a is an ancestor of b."""

    def values(names: Names, parents: Parents) -> Any:
        return separation.has_path(parents, *_places(names, a, b))

    def shares(names: Names, directed: Parents, undirected: Parents) -> Any:
        """Certain where directed edges alone lead there, impossible where no walk along or across edges does."""
        i, j = _places(names, a, b)
        possible = [above | beside for above, beside in zip(directed, undirected, strict=True)]
        certain = separation.has_path(directed, i, j) == 1
        return np.where(certain, 1.0, np.where(separation.has_path(possible, i, j) == 1, np.nan, 0.0))

    return Feature(f"path {a} -> ... -> {b}", values, class_invariant=False, shares_in_classes=shares)


def v_structure(a: str, c: str, b: str) -> Feature:
    """The edges ``a`` -> ``c`` <- ``b``, and none between ``a`` and ``b``."""

    def values(names: Names, parents: Parents) -> Any:
        i, k, j = _places(names, a, c, b)
        joined = parents[i] >> j | parents[j] >> i
        return parents[k] >> i & parents[k] >> j & 1 & ~joined

    return Feature(f"v-structure {a} -> {c} <- {b}", values, class_invariant=True)


def in_markov_blanket(a: str, b: str) -> Feature:
    """``a`` is in the Markov blanket of ``b``, and so b in that of a: an edge between them, or a common child."""

    def values(names: Names, parents: Parents) -> Any:
        i, j = _places(names, a, b)
        return separation.blanket(parents, j) >> i & 1

    return Feature(f"{a} in the Markov blanket of {b}", values, class_invariant=True)


def d_separation(a: str | Iterable[str], b: str | Iterable[str], given: str | Iterable[str] = ()) -> Feature:
    """``a`` and ``b`` are d-separated by ``given``: each a name or several."""
    groups = [(group,) if isinstance(group, str) else tuple(group) for group in (a, b, given)]

    def values(names: Names, parents: Parents) -> Any:
        return separation.are_separated(parents, *disjoint_sets(names, *groups))

    first, second, third = (", ".join(group) for group in groups)
    text = f"{first} independent of {second}" + (f" given {third}" if third else "")
    return Feature(text, values, class_invariant=True)


def feature(
    function: Callable[[Network], float], *, class_invariant: bool = False, between: tuple[float, float] = (0.0, 1.0)
) -> Feature:
    """Any function of a network as a feature. It gives True or False, or a number ``between`` the bounds.

    With ``class_invariant`` you promise that equivalent networks get the same value: then one of each class is asked.

    >>> sparse = feature(lambda network: network.n_edges <= 1)
    >>> sparse(Network(["x", "y", "z"], {"y": ["x"], "z": ["y"]}))
    0.0
    """
    if not callable(function):
        raise ScoreError(f"A feature is a function of a network, not {function!r}.")
    low, high = _checked_bounds(between)
    text = getattr(function, "__name__", "function")

    def value(names: Names, masks: Iterable[int]) -> float:
        found = function(Network.from_masks(names, masks))
        if not isinstance(found, (Real, np.bool_)) or not low <= found <= high:
            raise ScoreError(f"The feature {text!r} gave {found!r}; it must be a number from {low:g} to {high:g}.")
        return float(found)

    def values(names: Names, parents: Parents) -> Any:
        if all(isinstance(its, int) for its in parents):
            return value(names, parents)
        rows = zip(*(its.tolist() for its in parents), strict=True)
        return np.array([value(names, row) for row in rows])

    return Feature(text, values, class_invariant, (low, high))


def _checked_bounds(between: object) -> tuple[float, float]:
    bounds = tuple(between) if isinstance(between, Sequence) and not isinstance(between, str) else ()
    if len(bounds) == 2 and all(isinstance(bound, Real) for bound in bounds):
        low, high = map(float, bounds)
        if -math.inf < low < high < math.inf:
            return low, high
    raise ScoreError(
        f"between= takes the least and the most that a feature can be, such as between=(0, 3), not {between!r}."
    )


def _places(names: Names, *wanted: str) -> list[int]:
    require_known(wanted, names)
    if len(set(wanted)) < len(wanted):
        raise NetworkError(f"This takes different variables, not {', '.join(map(repr, wanted))}.")
    return [names.index(name) for name in wanted]
