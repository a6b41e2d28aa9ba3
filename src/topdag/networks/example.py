"""The chest clinic, known as Asia: the classic small network, with its published probabilities.

[Lauritzen and Spiegelhalter 1988, Local computations with probabilities on graphical structures and their
application to expert systems, Journal of the Royal Statistical Society B 50(2), table 1]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy.typing as npt

from topdag.networks.fitted import FittedNetwork
from topdag.networks.network import Network

if TYPE_CHECKING:
    from topdag.data.table import Table

PARENTS = {
    "asia": (),
    "tub": ("asia",),
    "smoke": (),
    "lung": ("smoke",),
    "bronc": ("smoke",),
    "either": ("tub", "lung"),
    "xray": ("either",),
    "dysp": ("bronc", "either"),
}
TABLES: dict[str, npt.ArrayLike] = {  # yes before no, in every axis
    "asia": [0.01, 0.99],
    "tub": [[0.05, 0.95], [0.01, 0.99]],
    "smoke": [0.5, 0.5],
    "lung": [[0.1, 0.9], [0.01, 0.99]],
    "bronc": [[0.6, 0.4], [0.3, 0.7]],
    "either": [[[1.0, 0.0], [1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]],
    "xray": [[0.98, 0.02], [0.05, 0.95]],
    "dysp": [[[0.9, 0.1], [0.8, 0.2]], [[0.7, 0.3], [0.1, 0.9]]],
}


def example_network() -> FittedNetwork:
    """Shortness of breath (dysp) and what may cause it: 8 variables with states yes and no, 8 edges.

    ``either`` says whether the patient has tuberculosis (tub) or lung cancer (lung).

    >>> print(example_network().network)
    tub <- asia*
    lung <- smoke*
    bronc <- smoke*
    either <- tub, lung
    xray <- either
    dysp <- bronc, either
    roots: asia, smoke
    * reversible: networks with the same independences have it the other way
    """
    return FittedNetwork(Network(PARENTS, PARENTS), dict.fromkeys(PARENTS, ("yes", "no")), TABLES)


def example_table(rows: int = 500, seed: int = 1) -> Table:
    """Patients drawn from ``example_network``, the same for the same seed."""
    return example_network().sample(rows, seed)
