"""Features of networks, and what lists and samples say of them.

What a feature can be: ``edge``, ``compelled_edge``, ``adjacency``, ``path``, ``v_structure``, ``in_markov_blanket``,
``d_separation``; ``feature`` makes one of any function; all are a ``Feature``, which is true or false of a network.

What a list or a sample says of it: ``posterior``, its probability; ``edge_matrix``, that of every edge;
``coverage``, how much of all networks the list holds; ``predictive_log_density`` of new rows; ``score_profile``, a
picture of the scores in a list.

>>> import topdag as td
>>> found = td.k_best_networks(td.example_table(), 10)
>>> round(td.features.posterior(found, td.features.adjacency("lung", "either")).value, 6)
1.0
"""

from __future__ import annotations

from topdag.answers.averages import coverage, edge_matrix, posterior
from topdag.answers.features import (
    Feature,
    adjacency,
    compelled_edge,
    d_separation,
    edge,
    feature,
    in_markov_blanket,
    path,
    v_structure,
)
from topdag.answers.prediction import predictive_log_density
from topdag.networks.drawing.plots import score_profile

__all__ = [
    "Feature",
    "adjacency",
    "compelled_edge",
    "coverage",
    "d_separation",
    "edge",
    "edge_matrix",
    "feature",
    "in_markov_blanket",
    "path",
    "posterior",
    "predictive_log_density",
    "score_profile",
    "v_structure",
]
