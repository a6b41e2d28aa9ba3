"""The scikit-learn way in: ``StructureLearner`` and ``TANClassifier``, with ``fit`` and ``predict``.

Comes in: a frame or array. Goes out: fitted estimators. Knows: ``questions`` and all below them.
"""

from __future__ import annotations

from topdag.estimators.structure_learner import StructureLearner
from topdag.estimators.tan_classifier import TANClassifier

__all__ = [
    "StructureLearner",
    "TANClassifier",
]
