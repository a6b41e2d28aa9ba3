"""The types of what questions answer with, for annotations and for comparing; none of them is made by hand.

Answers: ``Answer``, ``Proof``, ``Stats``, ``Status``; lists: ``NetworkList``, ``ClassList``, ``ListSummary``,
``ListPosterior``; averages: ``EdgePosteriors``, ``PathPosteriors``, ``ParentSetPosteriors``, ``NetworkPosteriors``,
``Consensus``; effects: ``CausalEffects``, ``Effect``; samples: ``NetworkSample``, ``EdgeFrequencies``; of tables drawn
from a table: ``BootstrapFrequencies``; of incomplete rows: ``LocalOptimum``, ``Climb``; others: ``Comparison``,
``EdgeAlternatives``, ``ParentBound``, ``Plan``, ``FittedRegressions``, ``TimeSlices``; ``Scores``, which
``topdag.score`` gives; ``ScoreKind``, of which all scores are; ``Family``, which ``topdag.CustomScore`` calls its
function with; ``Progress``, which ``on_progress=`` is called with.

>>> import topdag as td
>>> answer = td.best_network(td.example_table())
>>> answer.proof.status is td.types.Status.PROVED
True
"""

from __future__ import annotations

from topdag._util.progress import Progress
from topdag.answers.averages import ListPosterior
from topdag.answers.bootstrap import BootstrapFrequencies
from topdag.answers.compare import Comparison
from topdag.answers.effects import CausalEffects, Effect
from topdag.answers.expectation import Climb, LocalOptimum
from topdag.answers.lists import ClassList, NetworkList
from topdag.answers.posteriors import Consensus, EdgePosteriors, NetworkPosteriors, ParentSetPosteriors, PathPosteriors
from topdag.answers.results import Answer, Proof, Stats, Status
from topdag.answers.samples import EdgeFrequencies, NetworkSample
from topdag.answers.summary import ListSummary
from topdag.knowledge.time_slices import TimeSlices
from topdag.networks.fitted_regressions import FittedRegressions
from topdag.questions.alternatives import EdgeAlternatives
from topdag.questions.plan import Plan
from topdag.scoring.kinds.base import ScoreKind
from topdag.scoring.kinds.discrete import Family
from topdag.scoring.parent_bounds import ParentBound
from topdag.scoring.scores import Scores

__all__ = [
    "Answer",
    "BootstrapFrequencies",
    "CausalEffects",
    "ClassList",
    "Climb",
    "Comparison",
    "Consensus",
    "EdgeAlternatives",
    "EdgeFrequencies",
    "EdgePosteriors",
    "Effect",
    "Family",
    "FittedRegressions",
    "ListPosterior",
    "ListSummary",
    "LocalOptimum",
    "NetworkList",
    "NetworkPosteriors",
    "NetworkSample",
    "ParentBound",
    "ParentSetPosteriors",
    "PathPosteriors",
    "Plan",
    "Progress",
    "Proof",
    "ScoreKind",
    "Scores",
    "Stats",
    "Status",
    "TimeSlices",
]
