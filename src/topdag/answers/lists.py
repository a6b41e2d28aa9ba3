"""Lists of networks or classes, best first, held as arrays of parent masks; items are made when asked for."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from topdag._util.arrays import Floats, Integers, Masks
from topdag._util.bitsets import network_rows
from topdag._util.class_graph import class_members, class_size
from topdag._util.html import html_table, more
from topdag._util.options import question
from topdag._util.to_frame import frame_of_rows
from topdag.answers.compare import compare
from topdag.answers.held import HeldNetworks, Item
from topdag.answers.results import Proof, Stats
from topdag.errors import TooLarge
from topdag.knowledge.priors import Prior
from topdag.networks.equivalence import EquivalenceClass
from topdag.networks.network import Network

if TYPE_CHECKING:
    from topdag.scoring.scores import Scores

ITEMS_SHOWN = 10
"""Items in a notebook."""
MEMBERS_AT_ONCE = 1 << 16
"""Members of classes that are looked at together."""
MOST_MEMBERS_SEEN = 500_000
"""Members of classes under constraints."""


@dataclass(frozen=True, eq=False)
class BestList(HeldNetworks[Item]):
    """A sequence, best first, ties in a fixed order.

    ``floor``: everything that scores above it is in the list, even when the search was stopped early. ``scores``: the
    scores on the grid, on which ties are exact; under a ``prior`` with its log weights. ``parents``: for each item and
    each scored variable a bit mask over the scored variables (see ``scored_names``).
    """

    source: Scores
    scores: Floats
    parents: Masks
    floor: float
    proof: Proof
    stats: Stats

    @property
    def prior(self) -> Prior | None:
        """What counts in ``scores`` beside the data."""
        return self.source.prior

    @property
    def factors(self) -> Floats:
        """How many times less probable each is than the best, by the data and any prior; infinite beyond 1e308."""
        with np.errstate(over="ignore"):
            return np.exp(self.scores[0] - self.scores) if len(self) else np.empty(0)

    @property
    def shares(self) -> Floats:
        """The posterior probability of each, given that it is one of the list: without a prior all structures are
        equally likely before."""
        if self.source.kind is not None:
            self.source.kind.require_likelihood("The share of a network")
        weights = self._weights()
        return np.asarray(weights / weights.sum()) if len(self) else weights

    @property
    def are_weighed(self) -> bool:
        """Whether scores tell how probable one is beside another; else all count alike where they are counted."""
        return self.source.kind is None or self.source.kind.is_likelihood

    def _weights(self) -> Floats:
        return np.exp(self.scores - self.scores[0]) if len(self) else np.empty(0)

    @property
    def shares_if_known(self) -> Floats:
        """As ``shares``; NaN where too much would have to be counted, or scores are no weights."""
        if not self.are_weighed:
            return np.full(len(self), np.nan)
        try:
            return self.shares
        except TooLarge:
            return np.full(len(self), np.nan)

    def to_dicts(self) -> Iterator[dict[str, Any]]:
        """One row per item: rank, score, factor behind the best, share, and each variable's parents by name.

        Under a prior ``score`` counts it, and ``data score`` does not. The share is NaN where it is not known.
        """
        factors, shares = self.factors, self.shares_if_known
        for place in range(len(self)):
            network = self.network(place)
            parents = {f"parents of {name}": ", ".join(its) for name, its in network.parents.items()}
            yield {
                "rank": place + 1,
                **self._scores_of(place, network),
                "factor": float(factors[place]),
                "share": float(shares[place]),
                **parents,
            }

    def _scores_of(self, place: int, network: Network) -> dict[str, float | None]:
        if self.prior is None:
            return {"score": network.score}
        return {"score": float(self.scores[place]), "data score": network.score}

    def to_frame(self) -> Any:
        """The rows of ``to_dicts`` as a pandas or Polars frame, whichever is installed."""
        return frame_of_rows(self.to_dicts(), ("rank", "score", "factor", "share"))

    def to_arrow(self) -> Any:
        """The rows of ``to_dicts`` as an Arrow table."""
        try:
            import pyarrow
        except ImportError as missing:
            raise ImportError("to_arrow needs pyarrow: pip install pyarrow") from missing
        return pyarrow.Table.from_pylist(list(self.to_dicts()))

    def _repr_html_(self) -> str:
        """For notebooks: the first items, each with what differs from the best."""
        head, *rows = self._shown()
        return html_table(head, rows, repr(self).strip("<>"), self._said(len(rows)))

    def __str__(self) -> str:
        rows = self._shown()
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]) - 1)]
        lines = ["  ".join([*(cell.rjust(w) for cell, w in zip(row, widths, strict=False)), row[-1]]) for row in rows]
        best = [str(self[0]), ""] if len(self) else []
        return "\n".join([*best, *lines, *self._said(len(rows) - 1)])

    def _said(self, shown: int) -> list[str]:
        return [*more(len(self) - shown), str(self.proof), *self.notes]

    def _shown(self) -> list[list[str]]:
        """The first items in columns, below the names of these."""
        shown = min(ITEMS_SHOWN, len(self))
        sizes = [f"{size:,}" for size in self.sizes[:shown]] if isinstance(self, ClassList) else []
        items: Sequence[Any] = self[:shown]
        rows = []
        for place in range(shown):
            score, factor, share = self.scores[place], self.factors[place], self.shares_if_known[place]
            changes = ", ".join(compare(items[0], items[place]).changes) if place else "the best"
            known = "?" if np.isnan(share) else f"{share:.2%}"
            numbers = [str(place + 1), f"{score:.6f}", f"{factor:,.2f}", known]
            rows.append([*numbers, *sizes[place : place + 1], changes])
        head = ["rank", "score", "factor", "share", *(["size"] if sizes else []), "+ added, - dropped, ~ turned"]
        return [head, *rows]

    def __repr__(self) -> str:
        what = type(self).__name__
        state = self.proof.status.name
        if not len(self):
            return f"<{what}: empty, {state}>"
        return f"<{what}: {len(self):,}, scores {self.scores[0]:.6f} to {self.scores[-1]:.6f}, {state}>"


def nothing_is_proved(found: BestList[Any]) -> bool:
    """Whether others may score more than all it holds."""
    return len(found) == 0 or found.floor > found.scores[0]


class NetworkList(BestList[Network]):
    """Networks, best first."""

    def _item(self, place: int) -> Network:
        return self.network(place)

    def n_classes(self, most: int) -> int:
        """To how many equivalence classes the first so many networks belong."""
        return len({self.class_of(masks) for masks in self.parents[:most].tolist()})


class ClassList(BestList[EquivalenceClass]):
    """Equivalence classes, best first; of a table with experiments those that these do not tell apart either."""

    def _item(self, place: int) -> EquivalenceClass:
        return EquivalenceClass(self.network(place), self.interventions)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many networks each class has, whether they satisfy constraints or not."""
        return self._classes[2]

    @cached_property
    def satisfying(self) -> tuple[int, ...]:
        """How many networks of each class satisfy the constraints; without constraints, all of them.

        They are looked at one by one; raises TooLarge where there are more than a few hundred thousand.
        """
        if self.source.compiled is None or not self.parents.shape[1]:
            return self.sizes
        counts = np.zeros(len(self), dtype=np.int64)
        for places, _ in self.members(range(len(self))):
            counts += np.bincount(places, minlength=len(self))
        return tuple(counts.tolist())

    def members(self, places: Sequence[int]) -> Iterator[tuple[Integers, Masks]]:
        """The networks of the classes at these places that satisfy the constraints, a row of ``parents`` each, many at
        a time, with the place of each."""
        if self.source.compiled is not None:
            self._require_few(sum(self.sizes[place] for place in places))
        directed, undirected = self.edge_masks
        of, rows = list[int](), list[Sequence[int]]()
        for place in places:
            for masks in class_members((directed[place].tolist(), undirected[place].tolist())):
                of.append(place)
                rows.append(masks)
                if len(rows) == MEMBERS_AT_ONCE:
                    yield self._satisfying_only(of, rows)
                    of, rows = [], []
        if rows:
            yield self._satisfying_only(of, rows)

    def _satisfying_only(self, places: list[int], rows: list[Sequence[int]]) -> tuple[Integers, Masks]:
        of, networks = np.array(places, dtype=np.int64), network_rows(rows, self.parents.shape[1])
        known, most = self.source.compiled, self.source.max_parents
        if known is None:
            return of, networks
        satisfying = known.admit(networks)
        if most is not None:
            satisfying &= np.array([all(mask.bit_count() <= most for mask in row) for row in rows], dtype=np.bool_)
        return of[satisfying], networks[satisfying]

    def _require_few(self, members: int) -> None:
        if members > MOST_MEMBERS_SEEN:
            raise TooLarge(
                f"Which of {members:,} members of these classes satisfy the constraints would have to be seen one by "
                f"one; at most {MOST_MEMBERS_SEEN:,} are. Shorten the list, or ask for networks: "
                f"{question('networks_within')} lists just those that satisfy them."
            )

    @property
    def edge_masks(self) -> tuple[Masks, Masks]:
        """As ``parents``, but of the classes: parents by directed edges, and neighbours by undirected ones."""
        return self._classes[:2]

    @cached_property
    def _classes(self) -> tuple[Masks, Masks, tuple[int, ...]]:
        if not self.parents.shape[1]:  # only constant columns: the one class without edges
            return self.parents, self.parents, (1,) * len(self)
        directed, undirected, sizes = np.empty_like(self.parents), np.empty_like(self.parents), []
        for place, masks in enumerate(self.parents.tolist()):
            directed[place], undirected[place] = graph = self.class_of(masks)
            sizes.append(class_size(graph[1]))
        return directed, undirected, tuple(sizes)

    @property
    def n_networks(self) -> int:
        """How many networks the list covers; under constraints those that satisfy them."""
        return sum(self.satisfying)

    def _weights(self) -> Floats:
        """All networks equally likely before: a class counts for each of its members, under constraints for each that
        satisfies them."""
        return np.asarray(super()._weights() * np.array([float(size) for size in self.satisfying]))


def grid_epsilon(factor: float, grid: int) -> float:
    """ln(factor), down to the grid, so that 'within' has a sharp edge."""
    return math.ldexp(math.floor(math.ldexp(math.log(factor), grid)), -grid)
