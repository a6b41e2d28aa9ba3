"""Networks held as arrays of parent masks; items are made when asked for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Generic, TypeVar, overload

from topdag._util.arrays import Masks
from topdag._util.bitsets import bits
from topdag._util.class_graph import ClassGraph, class_graph, interventional_graph
from topdag.networks.network import Network

if TYPE_CHECKING:
    from topdag.scoring.scores import Scores

Item = TypeVar("Item")


class HeldNetworks(Sequence[Item], Generic[Item]):
    """``parents``: for each item and each scored variable a bit mask over the scored variables (``scored_names``)."""

    source: Scores
    parents: Masks

    @property
    def names(self) -> tuple[str, ...]:
        return self.source.names

    @property
    def notes(self) -> tuple[str, ...]:
        """What was done to the table, and what to know of it."""
        return self.source.notes

    @property
    def scored_names(self) -> tuple[str, ...]:
        """The variables that the masks speak of: all but the constant ones."""
        return self.source.scored_names

    @property
    def interventions(self) -> tuple[tuple[str, ...], ...]:
        """The sets of variables that experiments set, by name; () where nothing was set."""
        return () if self.source.table is None else self.source.table.experiments

    @cached_property
    def _targets(self) -> tuple[int, ...]:
        """The same, as masks over the scored variables."""
        place = {name: i for i, name in enumerate(self.scored_names)}
        return tuple(sum(1 << place[name] for name in target if name in place) for target in self.interventions)

    def class_of(self, masks: Sequence[int]) -> ClassGraph:
        """The edges of the class of a network, by its row of ``parents``; experiments tell networks apart too."""
        return interventional_graph(masks, self._targets) if self._targets else class_graph(masks)

    def __len__(self) -> int:
        return len(self.parents)

    @overload
    def __getitem__(self, place: int) -> Item: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Item]: ...
    def __getitem__(self, place: int | slice) -> Item | Sequence[Item]:
        if isinstance(place, slice):
            return [self._item(i) for i in range(*place.indices(len(self)))]
        if not hasattr(place, "__index__"):
            raise TypeError(f"a list is asked by place, such as [0] for the best, not {place!r}")
        if not -len(self) <= place < len(self):
            raise IndexError(f"the list has {len(self)} items, counted from 0")
        return self._item(place % len(self))

    def _item(self, place: int) -> Item:
        raise NotImplementedError

    def network(self, place: int) -> Network:
        """The network at this place; for a class, one of its members."""
        return self.network_of(self.parents[place].tolist())

    def network_of(self, scored_masks: Sequence[int]) -> Network:
        masks = self.source.all_masks(scored_masks)
        values = [self._local(x, mask) for x, mask in enumerate(masks)]
        scores = dict(zip(self.names, values, strict=True))
        return Network.from_masks(self.names, masks, scores, self.source.told_apart)

    @cached_property
    def _known(self) -> dict[tuple[int, int], float]:
        return {}

    def _local(self, x: int, mask: int) -> float:
        """The local score of a family; the same families come back in network after network."""
        if (x, mask) not in self._known:
            parents = [self.names[v] for v in bits(mask)]
            self._known[x, mask] = self.source.local(self.names[x], parents)
        return self._known[x, mask]
