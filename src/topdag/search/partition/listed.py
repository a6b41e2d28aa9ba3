"""What a partition has found: networks, or classes by one of their networks, with their costs."""

from __future__ import annotations

import enum
import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from topdag._util.arrays import Floats
from topdag._util.class_graph import ClassGraph, class_graph, class_size
from topdag._util.run import Run
from topdag.search.costs import Families
from topdag.search.relaxation import Known
from topdag.search.stores import ListStore

Network: TypeAlias = tuple[int, ...]
Key: TypeAlias = Network | ClassGraph

MOST_TIED = 100
"""All that tie with the last one are found, so that the choice among them does not depend on the search; unless more
than so many do."""


class Kind(enum.Enum):
    """What is listed and counted: networks; classes; or classes, each as many as it has networks."""

    NETWORKS = enum.auto()
    CLASSES = enum.auto()
    MEMBERS = enum.auto()


class Listed(Known):
    """The networks, or one network of each class, found so far that cost at most ``most``.

    None is missing that costs less than ``bound``. Once there are ``wanted``, none is asked for that costs more than
    the last of these.
    """

    def __init__(
        self,
        store: ListStore,
        run: Run,
        kind: Kind,
        wanted: float,
        most: float,
        allows: Callable[[Network], bool] | None = None,
    ) -> None:
        super().__init__(store, run)
        self.kind, self.most = kind, most
        self.costs: dict[Key, float] = {}
        self.networks: dict[Key, Network] = {}
        self.allows = (lambda _: True) if allows is None else allows
        self._wanted = wanted
        self._best: list[tuple[float, int]] = []  # those wanted: costs, negated, and how many each counts for; a heap
        self._n_best = 0
        self._n_that_cost: Counter[float] = Counter()

    @property
    def is_full(self) -> bool:
        return self._n_best >= self._wanted

    def offer(self, cost: float, masks: Sequence[int]) -> bool:
        network = tuple(masks)
        if cost > self.most or not self.allows(network):
            return False
        key = network if self.kind is Kind.NETWORKS else class_graph(network)
        if key in self.costs:
            return False
        self.costs[key], self.networks[key] = cost, network
        self._count(cost, size_of(key) if self.kind is Kind.MEMBERS else 1)
        return True

    def _count(self, cost: float, size: int) -> None:
        heapq.heappush(self._best, (-cost, size))
        self._n_best += size
        self._n_that_cost[cost] += 1
        while self._n_best - self._best[0][1] >= self._wanted:
            self._n_best -= heapq.heappop(self._best)[1]
        if self.is_full:
            last = -self._best[0][0]
            self.most = min(self.most, last if self._n_that_cost[last] <= MOST_TIED else last - self.step)

    @property
    def found(self) -> Iterable[tuple[Network, float]]:
        """The networks with their costs."""
        return ((self.networks[key], cost) for key, cost in self.costs.items())

    def in_order(self) -> list[tuple[float, Key]]:
        """The cheapest first; those that tie by their masks."""
        return sorted((cost, key) for key, cost in self.costs.items())

    def climb(self, climbs: int | None = None) -> None:
        """Networks are looked for part by part."""

    def round(self, families: Families, weights: Floats) -> bool:
        return False


def size_of(key: Key) -> int:
    """How many networks a class has."""
    _, undirected = key
    return class_size(undirected)  # type: ignore[arg-type]
