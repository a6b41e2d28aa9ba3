"""How different the items of a list are."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from topdag._util.arrays import Floats, Integers, Masks
from topdag._util.bitsets import bits
from topdag._util.html import html_table, more
from topdag._util.messages import plural
from topdag.answers.compare import NamedEdge, edge_text, shown_name, wrapped
from topdag.answers.lists import BestList, ClassList

WIDEST_PAIR = 50
MOST_LINKS_SHOWN = 20
ALMOST_ALL = math.nextafter(1.0, 0.0)
ITEMS_AT_ONCE = 1 << 16
"""Items of a list that are compared with the first at the same time."""


@dataclass(frozen=True)
class Link:
    """Two variables, in column order, that an edge joins in some items of a list.

    ``share``: the share of the list's weight with any edge between them; ``forward``: with one from the first to the
    second; ``backward``: with one from the second to the first; ``undirected``: of classes, with an undirected one.
    """

    pair: NamedEdge
    share: float
    forward: float
    backward: float
    undirected: float

    def __str__(self) -> str:
        shares = {"->": self.forward, "<-": self.backward, "--": self.undirected}
        return "  ".join(f"{mark} {percent(share):>4}" if share else " " * 7 for mark, share in shares.items()).rstrip()


@dataclass(frozen=True)
class ListSummary:
    """How different the networks or classes of a list are. Shares are of the list's posterior weight (``shares``), or
    all items count alike where their score is no likelihood: then they are not ``are_weighed``.

    ``common``: edges (parent, child) that all items have; ``common_undirected``: of classes, undirected edges that
    all have. ``turning``: variables that an edge joins in all items, but not always the same way. ``varying``:
    variables that an edge joins in some items only, by falling share. ``n_pairs``: how many pairs of variables there
    are. ``n_networks``: how many networks the items stand for. ``half``: how few items hold half the weight.
    ``mean_distance``, ``largest_distance``: structural Hamming distance from the best item, by weight and at most.
    """

    what: str
    n_items: int
    n_networks: int
    n_pairs: int
    common: tuple[NamedEdge, ...]
    common_undirected: tuple[NamedEdge, ...]
    turning: tuple[Link, ...]
    varying: tuple[Link, ...]
    half: int
    mean_distance: float
    largest_distance: int
    are_weighed: bool = True

    def __str__(self) -> str:
        if self.n_items == 0:
            return f"There are no {self.what} in the list."
        common = [edge_text(edge, "->") for edge in self.common]
        common += [edge_text(edge, "--") for edge in self.common_undirected]
        left = self.n_pairs - len(common) - len(self.turning) - len(self.varying)
        return "\n".join(
            [
                *self._head(),
                *_group("in all, the same way", len(common), wrapped(common)),
                *_group("in all, but not the same way", len(self.turning), _link_lines(self.turning)),
                *_group(
                    f"in some, by share of the {'weight' if self.are_weighed else 'list'}",
                    len(self.varying),
                    _link_lines(self.varying),
                ),
                f"in none: {left:,} of {plural(self.n_pairs, 'pair')} of variables",
            ]
        )

    def _repr_html_(self) -> str:
        """For notebooks: a row for each pair of variables that an edge joins."""
        always = [(edge_text(edge, "->"), "100%", "in all, the same way") for edge in self.common]
        always += [(edge_text(edge, "--"), "100%", "in all, the same way") for edge in self.common_undirected]
        links = [
            (edge_text(link.pair, "--"), percent(link.share), str(link)) for link in (*self.turning, *self.varying)
        ]
        rows = [*always, *links]
        notes = [*more(len(rows) - MOST_LINKS_SHOWN), *(self._head() if self.n_items else [str(self)])]
        return html_table(("edge", "share", "which way"), rows[:MOST_LINKS_SHOWN], "How different are they?", notes)

    def _head(self) -> list[str]:
        if self.n_items == 1:
            one = "one network" if self.what == "networks" else f"one class, of {plural(self.n_networks, 'network')}"
            return [f"The list has {one}."]
        stand_for = "" if self.what == "networks" else f", of {self.n_networks:,} networks"
        best = "network" if self.what == "networks" else "class"
        half = "one of them holds" if self.half == 1 else f"{self.half:,} of them hold"
        weight = f"{half} half of the posterior weight" if self.are_weighed else "here all count alike"
        return [
            f"{self.n_items:,} {self.what}{stand_for}; {weight}.",
            f"From the best {best} they differ in {self.mean_distance:.1f} edges on average, "
            f"{self.largest_distance} at most.",
        ]


def summary(found: BestList[Any]) -> ListSummary:
    """How different are they? What all items of a list share, and what varies with which share of the weight.

    Weights are ``found.shares``: posterior probabilities relative to the list, all networks equally likely before;
    where scores are no likelihoods, all count alike.
    """
    if not isinstance(found, BestList):
        raise TypeError(f"summary takes a list of networks or classes, not {type(found).__name__}.")
    of_classes = isinstance(found, ClassList)
    masks = found.edge_masks if isinstance(found, ClassList) else (found.parents,)
    shares = found.shares if found.are_weighed else np.full(len(found), 1 / max(1, len(found)))
    tally = _Tally.of(masks, shares)
    common, common_undirected, turning, varying = [], [], [], []
    for i, j in tally.pairs:
        pair = found.scored_names[i], found.scored_names[j]
        counts, parts = tally.counts(i, j), tally.shares(i, j)
        if sum(counts) < len(found):
            varying.append(Link(pair, min(ALMOST_ALL, sum(parts)), *parts))
        elif max(counts) < len(found):
            turning.append(Link(pair, 1.0, *parts))
        elif counts[2]:
            common_undirected.append(pair)
        else:
            common.append(pair if counts[0] else pair[::-1])
    return ListSummary(
        what="classes" if of_classes else "networks",
        n_items=len(found),
        n_networks=found.n_networks if isinstance(found, ClassList) else len(found),
        n_pairs=math.comb(len(found.names), 2),
        common=tuple(common),
        common_undirected=tuple(common_undirected),
        turning=tuple(turning),
        varying=tuple(sorted(varying, key=lambda link: -link.share)),
        half=_how_few(shares, 0.5),
        mean_distance=float(shares @ tally.distances),
        largest_distance=int(tally.distances.max(initial=0)),
        are_weighed=found.are_weighed,
    )


@dataclass(frozen=True)
class _Tally:
    """How often each edge occurs in a list, and with which share of the weight.

    ``occurs`` and ``weight`` at [kind, child, parent]; kind 0: directed edges, 1: undirected ones. ``distances``: of
    each item from the first.
    """

    occurs: Integers
    weight: Floats
    distances: Integers

    @classmethod
    def of(cls, masks: Sequence[Masks], shares: Floats) -> _Tally:
        n = masks[0].shape[1]
        occurs, weight = np.zeros((2, n, n), dtype=np.int64), np.zeros((2, n, n))
        for kind, own in enumerate(masks):
            for v, column in enumerate(own.T):
                for mask, items in _grouped(column):
                    occurs[kind, v, bits(mask)] += len(items)
                    weight[kind, v, bits(mask)] += shares[items].sum()
        starts = range(0, len(shares), ITEMS_AT_ONCE)
        distances = [
            _distances([own[:1] for own in masks], [own[at : at + ITEMS_AT_ONCE] for own in masks]) for at in starts
        ]
        return cls(occurs, weight, np.concatenate(distances) if distances else np.zeros(0, dtype=np.int64))

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Those with an edge in some item."""
        there = self.occurs.any(axis=0)
        return [(i, j) for i, j in np.argwhere(there | there.T).tolist() if i < j]

    def counts(self, i: int, j: int) -> tuple[int, int, int]:
        """Items with i -> j, with j -> i, and with i - j."""
        return int(self.occurs[0, j, i]), int(self.occurs[0, i, j]), int(self.occurs[1, i, j])

    def shares(self, i: int, j: int) -> tuple[float, float, float]:
        """The shares of the weight that these items have, if none of the three is all."""
        weights = self.weight[0, j, i], self.weight[0, i, j], self.weight[1, i, j]
        forward, backward, undirected = (min(ALMOST_ALL, float(weight)) for weight in weights)
        return forward, backward, undirected


def _grouped(column: Masks) -> Iterator[tuple[int, Integers]]:
    """The masks that occur, each with its places."""
    masks, which, counts = np.unique(column, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    order = np.argsort(which.ravel(), kind="stable")
    for mask, begin, end in zip(masks.tolist(), (ends - counts).tolist(), ends.tolist(), strict=True):
        yield mask, order[begin:end]


def _distances(first: Sequence[Masks], masks: Sequence[Masks]) -> Integers:
    """In how many pairs of variables each item differs from the first."""
    n, found = masks[0].shape[1], [np.zeros(0, dtype=np.int64)]
    for begin, own in zip(first, masks, strict=True):
        for v, column in enumerate((own ^ begin).T):
            for mask, items in _grouped(column):
                found += [items * n * n + min(v, w) * n + max(v, w) for w in bits(mask)]
    differing = np.unique(np.concatenate(found))
    return np.bincount(differing // (n * n), minlength=len(masks[0])) if n else np.zeros(len(masks[0]), dtype=np.int64)


def percent(share: float) -> str:
    """Whole percents; what is not all or nothing is not shown as if it were."""
    if 0 < share < 0.01:
        return "<1%"
    if 0.99 < share < 1:
        return ">99%"
    return f"{share:.0%}"


def _how_few(shares: Floats, part: float) -> int:
    """The smallest number of items that hold this part of the weight."""
    reached = np.cumsum(np.sort(shares)[::-1])
    return min(len(shares), int(np.searchsorted(reached, part - 1e-12)) + 1)


def _group(title: str, count: int, lines: Iterable[str]) -> list[str]:
    return [f"{title} ({count}):", *(f"  {line}" for line in lines)] if count else [f"{title}: none"]


def _link_lines(links: Sequence[Link]) -> list[str]:
    """One line each, with the whole share where that says something."""
    shown, left = links[:MOST_LINKS_SHOWN], links[MOST_LINKS_SHOWN:]
    names = [f"{shown_name(link.pair[0])} - {shown_name(link.pair[1])}" for link in shown]
    width = min(WIDEST_PAIR, max(map(len, names), default=0))
    totals = [f"  {percent(link.share):>4}" if link.share < 1 else "" for link in shown]
    lines = [f"{name:<{width}}{total}  {link}" for name, total, link in zip(names, totals, shown, strict=True)]
    return [*lines, f"and {len(left)} more, each with {percent(left[0].share)} or less"] if left else lines
