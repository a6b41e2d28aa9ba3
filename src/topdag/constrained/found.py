"""What a search under constraints on several variables at once knows."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from topdag._util.stop import Stop

ParentMasks = tuple[int, ...]


@dataclass
class Found:
    """``networks``: score of each that was found and is allowed; ``bound``: no other one scores more; ``limit``: what
    stopped it, None when it ended by itself; ``parts`` of the space that were looked at, and ``cuts`` that took;
    ``engine``: what searched, where the others do not tell."""

    networks: dict[ParentMasks, float] = field(default_factory=dict)
    bound: float = math.inf
    limit: Stop | None = None
    parts: int = 0
    cuts: int = 0
    engine: str | None = None

    def best(self, most: int) -> list[tuple[float, ParentMasks]]:
        """Best first; of those that tie, by parents."""
        ordered = sorted(self.networks.items(), key=lambda item: (-item[1], item[0]))
        return [(value, masks) for masks, value in ordered[:most]]
