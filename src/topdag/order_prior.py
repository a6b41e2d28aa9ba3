"""STUB"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import product

import numpy as np
from numpy.typing import NDArray

from topdag.errors import NetworkError
from topdag.graphs import Network
from topdag.priors import OrderModular
from topdag.runs import Run
from topdag.scores import Scores


@dataclass(frozen=True)
class PriorFound:
    values: NDArray[np.float64]
    parents: NDArray[np.uint64]
    bound: float
    floor: float
    limit: str | None
    work: dict[str, int] = field(default_factory=dict)


def search_order_prior(scores: Scores, prior: OrderModular, *, most: int, factor: float, run: Run) -> PriorFound:
    n = len(scores.columns)
    names = [scores.names[v] for v in scores.columns]
    out = []
    for masks in product(
        *[[m for m in range(1 << n) if not m >> x & 1 and scores.store.value(x, m) > -math.inf] for x in range(n)]
    ):
        try:
            g = Network.from_masks(names, masks)
        except NetworkError:
            continue
        out.append((-(sum(scores.store.value(x, m) for x, m in enumerate(masks)) + prior.log_weight(g)), masks))
    out.sort()
    out = [o for o in out[:most] if -o[0] >= -out[0][0] - math.log(factor)]
    return PriorFound(
        np.array([-v for v, _ in out]),
        np.array([m for _, m in out], dtype=np.uint64).reshape(len(out), n),
        -out[0][0],
        -out[-1][0],
        None,
        {"parts": 1},
    )
