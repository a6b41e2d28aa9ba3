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

    from topdag.alternatives import EdgeAlternatives, edge_alternatives
    from topdag.classes import EquivalenceClass
    from topdag.classifiers import k_dependence, naive_bayes, tan
    from topdag.comparing import Comparison, compare
    from topdag.constrained_scores import Constrained, constrained_fit
    from topdag.constraint_files import constraints_from, read_constraints
    from topdag.constraints import Constraints
    from topdag.continuous_kinds import BGe, GaussianAIC, GaussianBIC, MixedBIC
    from topdag.discretize import Quantile, Uniform
    from topdag.displays import Progress
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
    from topdag.example import example_network, example_table
    from topdag.features import (
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
    from topdag.files import read_scores, write_scores
    from topdag.fitted_regressions import Regression, regressions
    from topdag.graphs import Network
    from topdag.keeping import KBest, Within
    from topdag.list_averaging import ListPosterior, coverage, edge_matrix, posterior
    from topdag.list_files import read_list, write_list
    from topdag.list_questions import (
        classes_within,
        count_classes_within,
        count_networks_within,
        iter_networks_within,
        k_best_classes,
        k_best_networks,
        networks_within,
    )
    from topdag.lists import ClassList, NetworkList
    from topdag.network_files import read_bif, read_fitted, read_network, write_network
    from topdag.network_search import search_networks
    from topdag.parameter_constraints import ParameterConstraint, influence, probability, synergy
    from topdag.parameter_text import parse_parameter
    from topdag.parameters import FittedNetwork
    from topdag.parent_limits import ParentBound, parent_bounds
    from topdag.planning import Plan, plan
    from topdag.plots import score_profile
    from topdag.posterior_files import read_posteriors, write_posteriors
    from topdag.posteriors import (
        Consensus,
        EdgePosteriors,
        NetworkPosteriors,
        ParentSetPosteriors,
        PathPosteriors,
    )
    from topdag.prediction import predictive_log_density
    from topdag.priors import EdgePrior, FairPrior, OrderModular
    from topdag.questions import best_network
    from topdag.random_networks import random_network
    from topdag.reading import read_table
    from topdag.report import write_report
    from topdag.results import Answer, Proof, Stats, Status
    from topdag.rule_making import all_of, any_of, if_then, none_of, not_
    from topdag.rule_text import parse_rule
    from topdag.rules import Rule
    from topdag.samples import EdgeFrequencies, NetworkSample
    from topdag.sampling import sample_networks
    from topdag.score_kinds import AIC, BIC, K2, BDe, BDeu, BDs, CustomScore, Family, fNML, qNML
    from topdag.score_making import score
    from topdag.scores import Scores
    from topdag.structure_learner import StructureLearner
    from topdag.summaries import ListSummary, summary
    from topdag.sums import (
        edge_posteriors,
        log_evidence,
        log_prior_total,
        network_posteriors,
        parent_set_posteriors,
        path_posteriors,
    )
    from topdag.table import Table
    from topdag.tan_classifier import TANClassifier

__version__ = "0.1.0"

# Rooms are opened when something of theirs is asked for: importing topdag costs next to nothing.
_PLACES = {
    "alternatives": "EdgeAlternatives edge_alternatives",
    "classes": "EquivalenceClass",
    "classifiers": "k_dependence naive_bayes tan",
    "comparing": "Comparison compare",
    "constraint_files": "constraints_from read_constraints",
    "constraints": "Constraints",
    "constrained_scores": "Constrained constrained_fit",
    "continuous_kinds": "BGe GaussianAIC GaussianBIC MixedBIC",
    "displays": "Progress",
    "discretize": "Quantile Uniform",
    "errors": "ConstraintError FileError Interrupted NetworkError OutOfTime ScoreError TableError TooLarge",
    "example": "example_network example_table",
    "features": "Feature adjacency compelled_edge d_separation edge feature in_markov_blanket path v_structure",
    "files": "read_scores write_scores",
    "fitted_regressions": "Regression regressions",
    "graphs": "Network",
    "keeping": "KBest Within",
    "list_averaging": "ListPosterior coverage edge_matrix posterior",
    "list_files": "read_list write_list",
    "list_questions": "classes_within count_classes_within count_networks_within iter_networks_within k_best_classes "
    "k_best_networks networks_within",
    "lists": "ClassList NetworkList",
    "network_files": "read_bif read_fitted read_network write_network",
    "network_search": "search_networks",
    "parameter_constraints": "ParameterConstraint influence probability synergy",
    "parameter_text": "parse_parameter",
    "parameters": "FittedNetwork",
    "parent_limits": "ParentBound parent_bounds",
    "planning": "Plan plan",
    "plots": "score_profile",
    "prediction": "predictive_log_density",
    "posterior_files": "read_posteriors write_posteriors",
    "posteriors": "Consensus EdgePosteriors NetworkPosteriors ParentSetPosteriors PathPosteriors",
    "priors": "EdgePrior FairPrior OrderModular",
    "questions": "best_network",
    "random_networks": "random_network",
    "reading": "read_table",
    "report": "write_report",
    "results": "Answer Proof Stats Status",
    "samples": "EdgeFrequencies NetworkSample",
    "sampling": "sample_networks",
    "rule_making": "all_of any_of if_then none_of not_",
    "rule_text": "parse_rule",
    "rules": "Rule",
    "score_kinds": "AIC BDe BDeu BDs BIC CustomScore Family K2 fNML qNML",
    "score_making": "score",
    "scores": "Scores",
    "structure_learner": "StructureLearner",
    "summaries": "ListSummary summary",
    "sums": "edge_posteriors log_evidence log_prior_total network_posteriors parent_set_posteriors path_posteriors",
    "table": "Table",
    "tan_classifier": "TANClassifier",
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
