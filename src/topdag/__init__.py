"""topdag: exact structure learning of Bayesian networks. The best network of a table, with proof.

>>> import topdag as td
>>> answer = td.best_network(td.example_table())
>>> answer.proof.status.name
'PROVED'
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # typing takes 15 ms to load, in which Ctrl-C would not be heard yet; see __main__.py
if TYPE_CHECKING:
    from typing import Any

    from topdag._util.progress import Progress
    from topdag.answers.averages import ListPosterior, coverage, edge_matrix, posterior
    from topdag.answers.compare import Comparison, compare
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
    from topdag.answers.lists import ClassList, NetworkList
    from topdag.answers.posteriors import (
        Consensus,
        EdgePosteriors,
        NetworkPosteriors,
        ParentSetPosteriors,
        PathPosteriors,
    )
    from topdag.answers.prediction import predictive_log_density
    from topdag.answers.regressions import Regression, regressions
    from topdag.answers.results import Answer, Proof, Stats, Status
    from topdag.answers.samples import EdgeFrequencies, NetworkSample
    from topdag.answers.summary import ListSummary, summary
    from topdag.data.discretize import Quantile, Uniform
    from topdag.data.read import read_table
    from topdag.data.table import Table
    from topdag.errors import (
        ConstraintError,
        FileError,
        Interrupted,
        NetworkError,
        OutOfTime,
        ScoreError,
        TableError,
        TooLarge,
    )
    from topdag.estimators.structure_learner import StructureLearner
    from topdag.estimators.tan_classifier import TANClassifier
    from topdag.io.constraints import constraints_from, read_constraints
    from topdag.io.lists import read_list, write_list
    from topdag.io.networks import read_bif, read_fitted, read_network, write_network
    from topdag.io.posteriors import read_posteriors, write_posteriors
    from topdag.io.scores import read_scores, write_scores
    from topdag.knowledge.classifiers import k_dependence, naive_bayes, tan
    from topdag.knowledge.constraints import Constraints
    from topdag.knowledge.priors import EdgePrior, FairPrior, OrderModular
    from topdag.knowledge.probabilities import ParameterConstraint, influence, probability, synergy
    from topdag.knowledge.probability_parser import parse_parameter
    from topdag.knowledge.rule_builders import all_of, any_of, if_then, none_of, not_
    from topdag.knowledge.rule_parser import parse_rule
    from topdag.knowledge.rules import Rule
    from topdag.networks.drawing.plots import score_profile
    from topdag.networks.equivalence import EquivalenceClass
    from topdag.networks.example import example_network, example_table
    from topdag.networks.fitted import FittedNetwork
    from topdag.networks.network import Network
    from topdag.networks.random import random_network
    from topdag.questions.alternatives import EdgeAlternatives, edge_alternatives
    from topdag.questions.best import best_network
    from topdag.questions.lists import (
        classes_within,
        count_classes_within,
        count_networks_within,
        iter_networks_within,
        k_best_classes,
        k_best_networks,
        networks_within,
    )
    from topdag.questions.network_search import search_networks
    from topdag.questions.plan import Plan, plan
    from topdag.questions.sampling import sample_networks
    from topdag.questions.sums import (
        edge_posteriors,
        log_evidence,
        log_prior_total,
        network_posteriors,
        parent_set_posteriors,
        path_posteriors,
    )
    from topdag.report import write_report
    from topdag.scoring.keep import KBest, Within
    from topdag.scoring.kinds.constrained import Constrained, constrained_fit
    from topdag.scoring.kinds.discrete import (
        AIC,
        BIC,
        K2,
        BDe,
        BDeu,
        BDs,
        CustomScore,
        Family,
        fNML,
        qNML,
    )
    from topdag.scoring.kinds.gaussian import BGe, GaussianAIC, GaussianBIC, MixedBIC
    from topdag.scoring.parent_bounds import ParentBound, parent_bounds
    from topdag.scoring.score import score
    from topdag.scoring.scores import Scores

__version__ = "0.1.0"

# Rooms are opened when something of theirs is asked for: importing topdag costs next to nothing.
_PLACES = {
    "questions.alternatives": "EdgeAlternatives edge_alternatives",
    "networks.equivalence": "EquivalenceClass",
    "knowledge.classifiers": "k_dependence naive_bayes tan",
    "answers.compare": "Comparison compare",
    "io.constraints": "constraints_from read_constraints",
    "knowledge.constraints": "Constraints",
    "scoring.kinds.constrained": "Constrained constrained_fit",
    "scoring.kinds.gaussian": "BGe GaussianAIC GaussianBIC MixedBIC",
    "_util.progress": "Progress",
    "data.discretize": "Quantile Uniform",
    "errors": "ConstraintError FileError Interrupted NetworkError OutOfTime ScoreError TableError TooLarge",
    "networks.example": "example_network example_table",
    "answers.features": "Feature adjacency compelled_edge d_separation edge feature in_markov_blanket path v_structure",
    "io.scores": "read_scores write_scores",
    "answers.regressions": "Regression regressions",
    "networks.network": "Network",
    "scoring.keep": "KBest Within",
    "answers.averages": "ListPosterior coverage edge_matrix posterior",
    "io.lists": "read_list write_list",
    "questions.lists": "classes_within count_classes_within count_networks_within iter_networks_within k_best_classes "
    "k_best_networks networks_within",
    "answers.lists": "ClassList NetworkList",
    "io.networks": "read_bif read_fitted read_network write_network",
    "questions.network_search": "search_networks",
    "knowledge.probabilities": "ParameterConstraint influence probability synergy",
    "knowledge.probability_parser": "parse_parameter",
    "networks.fitted": "FittedNetwork",
    "scoring.parent_bounds": "ParentBound parent_bounds",
    "questions.plan": "Plan plan",
    "networks.drawing.plots": "score_profile",
    "answers.prediction": "predictive_log_density",
    "io.posteriors": "read_posteriors write_posteriors",
    "answers.posteriors": "Consensus EdgePosteriors NetworkPosteriors ParentSetPosteriors PathPosteriors",
    "knowledge.priors": "EdgePrior FairPrior OrderModular",
    "questions.best": "best_network",
    "networks.random": "random_network",
    "data.read": "read_table",
    "report": "write_report",
    "answers.results": "Answer Proof Stats Status",
    "answers.samples": "EdgeFrequencies NetworkSample",
    "questions.sampling": "sample_networks",
    "knowledge.rule_builders": "all_of any_of if_then none_of not_",
    "knowledge.rule_parser": "parse_rule",
    "knowledge.rules": "Rule",
    "scoring.kinds.discrete": "AIC BDe BDeu BDs BIC CustomScore Family K2 fNML qNML",
    "scoring.score": "score",
    "scoring.scores": "Scores",
    "estimators.structure_learner": "StructureLearner",
    "answers.summary": "ListSummary summary",
    "questions.sums": "edge_posteriors log_evidence log_prior_total network_posteriors parent_set_posteriors "
    "path_posteriors",
    "data.table": "Table",
    "estimators.tan_classifier": "TANClassifier",
}
_ROOM_OF = {name: room for room, names in _PLACES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _ROOM_OF:
        from difflib import get_close_matches

        close = get_close_matches(name, __all__, n=1)
        hint = f"; did you mean {close[0]}?" if close else ""
        raise AttributeError(f"module 'topdag' has no attribute {name!r}{hint}")
    value = getattr(import_module(f"topdag.{_ROOM_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__


__all__ = [
    "AIC",
    "BIC",
    "K2",
    "Answer",
    "BDe",
    "BDeu",
    "BDs",
    "BGe",
    "ClassList",
    "Comparison",
    "Consensus",
    "Constrained",
    "ConstraintError",
    "Constraints",
    "CustomScore",
    "EdgeAlternatives",
    "EdgeFrequencies",
    "EdgePosteriors",
    "EdgePrior",
    "EquivalenceClass",
    "FairPrior",
    "Family",
    "Feature",
    "FileError",
    "FittedNetwork",
    "GaussianAIC",
    "GaussianBIC",
    "Interrupted",
    "KBest",
    "ListPosterior",
    "ListSummary",
    "MixedBIC",
    "Network",
    "NetworkError",
    "NetworkList",
    "NetworkPosteriors",
    "NetworkSample",
    "OrderModular",
    "OutOfTime",
    "ParameterConstraint",
    "ParentBound",
    "ParentSetPosteriors",
    "PathPosteriors",
    "Plan",
    "Progress",
    "Proof",
    "Quantile",
    "Regression",
    "Rule",
    "ScoreError",
    "Scores",
    "Stats",
    "Status",
    "StructureLearner",
    "TANClassifier",
    "Table",
    "TableError",
    "TooLarge",
    "Uniform",
    "Within",
    "adjacency",
    "all_of",
    "any_of",
    "best_network",
    "classes_within",
    "compare",
    "compelled_edge",
    "constrained_fit",
    "constraints_from",
    "count_classes_within",
    "count_networks_within",
    "coverage",
    "d_separation",
    "edge",
    "edge_alternatives",
    "edge_matrix",
    "edge_posteriors",
    "example_network",
    "example_table",
    "fNML",
    "feature",
    "if_then",
    "in_markov_blanket",
    "influence",
    "iter_networks_within",
    "k_best_classes",
    "k_best_networks",
    "k_dependence",
    "log_evidence",
    "log_prior_total",
    "naive_bayes",
    "network_posteriors",
    "networks_within",
    "none_of",
    "not_",
    "parent_bounds",
    "parent_set_posteriors",
    "parse_parameter",
    "parse_rule",
    "path",
    "path_posteriors",
    "plan",
    "posterior",
    "predictive_log_density",
    "probability",
    "qNML",
    "random_network",
    "read_bif",
    "read_constraints",
    "read_fitted",
    "read_list",
    "read_network",
    "read_posteriors",
    "read_scores",
    "read_table",
    "regressions",
    "sample_networks",
    "score",
    "score_profile",
    "search_networks",
    "summary",
    "synergy",
    "tan",
    "v_structure",
    "write_list",
    "write_network",
    "write_posteriors",
    "write_report",
    "write_scores",
]
