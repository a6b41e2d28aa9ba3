"""Knowledge about probabilities, and the probabilities of a network.

What can be known: ``probability``, ``influence`` and ``synergy`` make a ``ParameterConstraint``, ``parse_parameter``
reads one. ``Constrained`` is a score under such constraints, ``constrained_fit`` the likeliest probabilities of a
given network under them. ``regressions`` fits a network of numbers: a ``Regression`` for each variable.

>>> import topdag as td
>>> print(td.probabilities.probability("lung", "yes", {"smoke": "no"}) <= 0.1)
P(lung=yes | smoke=no) <= 0.1
"""

from __future__ import annotations

from topdag.knowledge.probabilities import ParameterConstraint, influence, probability, synergy
from topdag.knowledge.probability_parser import parse_parameter
from topdag.networks.regressions import Regression, regressions
from topdag.scoring.kinds.constrained import Constrained, constrained_fit

__all__ = [
    "Constrained",
    "ParameterConstraint",
    "Regression",
    "constrained_fit",
    "influence",
    "parse_parameter",
    "probability",
    "regressions",
    "synergy",
]
