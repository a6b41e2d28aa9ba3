"""Networks that obey, found quickly: of a network near some weights what it breaks is mended, family by family."""

from __future__ import annotations

import numpy as np

from topdag._util.bitsets import masks_in
from topdag._util.run import Run
from topdag.constrained.repair import Mending
from topdag.knowledge.compiled import CompiledConstraints, has_cycle
from topdag.search.costs import Families
from topdag.search.relaxation import Incumbent, Known
from topdag.search.stores import Floats, ListStore

MOST_SKIPPED = 64


class Obeying(Known):
    """As ``Known``, of networks that obey what is known of several variables at once; none costs more than ``most``."""

    def __init__(self, store: ListStore, run: Run, known: CompiledConstraints) -> None:
        super().__init__(store, run)
        self.known, self.rest, self.names = known, known.rest, known.names
        self._mending: Mending | None = None
        self.most = store.spread
        self._wait, self._skipped = 0, 0

    def offer(self, cost: float, masks: list[int]) -> bool:
        is_better = cost < self.cost or (self.incumbent is None and cost == self.most)
        if not is_better or not self.rest.allows(masks, self.names):
            return False
        self.incumbent = Incumbent(tuple(masks), cost)
        return True

    def climb(self, climbs: int | None = None) -> None:
        """The root mends what it rounds; blind climbs hardly ever obey."""

    def round(self, families: Families, weights: Floats) -> bool:
        """The network of the weights if they are one; else one near them, mended. Now and then only, while it fails."""
        chosen = _heaviest(families, weights)
        masks = masks_in(families.parents[chosen])
        is_better = not has_cycle(masks) and self.offer(float(families.costs[chosen].sum()), masks)
        self._skipped += 1
        if self._skipped <= self._wait:
            return is_better
        is_mended = self._mend(families, weights)
        self._skipped = 0
        self._wait = 0 if is_mended else min(MOST_SKIPPED, 2 * self._wait + 1)
        return is_better or is_mended

    def _mend(self, families: Families, weights: Floats) -> bool:
        if self._mending is None or self._mending.families is not families:
            self._mending = Mending(families, self.known)
        found = self._mending.mended(weights, self.cost)
        return found is not None and self.offer(found.cost, list(found.masks))


def _heaviest(families: Families, weights: Floats) -> np.ndarray:
    """Of each variable the first family of most weight."""
    return np.array([begin + int(np.argmax(weights[begin:end])) for begin, end in _spans(families)])


def _spans(families: Families) -> list[tuple[int, int]]:
    return list(zip(families.offsets[:-1].tolist(), families.offsets[1:].tolist(), strict=True))
