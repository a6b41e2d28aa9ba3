"""topdag: exact structure learning of Bayesian networks. The best network of a table, with proof.

>>> import topdag as td
>>> answer = td.best_network(td.example_table())
>>> answer.proof.status.name
'PROVED'

What most programs need is here. More is in ``topdag.features`` (of networks; what lists say of them), ``topdag.rules``
(for constraints), ``topdag.probabilities`` (known, or fitted), ``topdag.io`` (files), ``topdag.estimators`` (for
scikit-learn) and ``topdag.types`` (for annotations).
"""

from __future__ import annotations

from topdag._util.on_demand import opener

TYPE_CHECKING = False  # typing takes 15 ms to load, in which Ctrl-C would not be heard yet; see __main__.py
if TYPE_CHECKING:
    from topdag import estimators, features, io, probabilities, rules, types
    from topdag.answers.compare import compare
    from topdag.answers.summary import summary
    from topdag.data.discretize import Quantile, Uniform
    from topdag.data.files.read import read_table
    from topdag.data.table import Table
    from topdag.errors import (
        ConstraintError,
        FileError,
        Interrupted,
        LostWorker,
        NetworkError,
        NotAllowed,
        OutOfTime,
        ScoreError,
        TableError,
        TooLarge,
    )
    from topdag.io.networks import read_network, write_network
    from topdag.knowledge.constraints import Constraints
    from topdag.knowledge.priors import EdgePrior, FairPrior, OrderModular
    from topdag.knowledge.rule_builders import all_of, any_of, if_then, none_of, not_
    from topdag.knowledge.time_slices import time_slices
    from topdag.networks.equivalence import EquivalenceClass
    from topdag.networks.example import example_network, example_table
    from topdag.networks.fitted import FittedNetwork
    from topdag.networks.network import Network
    from topdag.networks.random import random_network
    from topdag.questions.alternatives import edge_alternatives
    from topdag.questions.best import best_network
    from topdag.questions.bootstrap import bootstrap
    from topdag.questions.effects import causal_effects
    from topdag.questions.list_counts import count_classes_within, count_networks_within, iter_networks_within
    from topdag.questions.lists import classes_within, k_best_classes, k_best_networks, networks_within
    from topdag.questions.look import look
    from topdag.questions.network_search import search_networks
    from topdag.questions.plan import plan
    from topdag.questions.sampling import sample_networks
    from topdag.questions.structural_em import structural_em
    from topdag.questions.sums import (
        edge_posteriors,
        log_evidence,
        log_prior_total,
        network_posteriors,
        parent_set_posteriors,
        path_posteriors,
    )
    from topdag.report.write import write_report
    from topdag.scoring.keep import KBest, Within
    from topdag.scoring.kinds.blocks import DegenerateGaussian, RankBIC
    from topdag.scoring.kinds.discrete import AIC, BIC, K2, NAL, BDe, BDeu, BDs, CustomScore, fNML, qNML
    from topdag.scoring.kinds.gaussian import BGe, GaussianAIC, GaussianBIC, MixedBIC
    from topdag.scoring.parent_bounds import parent_bounds
    from topdag.scoring.score import score

__version__ = "0.1.0"

# Modules are loaded when something of theirs is asked for; those in the first line are asked for themselves.
_PLACES = {
    "": "estimators features io probabilities rules types",
    "answers.compare": "compare",
    "answers.summary": "summary",
    "data.discretize": "Quantile Uniform",
    "data.files.read": "read_table",
    "data.table": "Table",
    "errors": "ConstraintError FileError Interrupted LostWorker NetworkError NotAllowed OutOfTime "
    "ScoreError TableError TooLarge",
    "io.networks": "read_network write_network",
    "knowledge.constraints": "Constraints",
    "knowledge.priors": "EdgePrior FairPrior OrderModular",
    "knowledge.rule_builders": "all_of any_of if_then none_of not_",
    "knowledge.time_slices": "time_slices",
    "networks.equivalence": "EquivalenceClass",
    "networks.example": "example_network example_table",
    "networks.fitted": "FittedNetwork",
    "networks.network": "Network",
    "networks.random": "random_network",
    "questions.alternatives": "edge_alternatives",
    "questions.best": "best_network",
    "questions.bootstrap": "bootstrap",
    "questions.effects": "causal_effects",
    "questions.list_counts": "count_classes_within count_networks_within iter_networks_within",
    "questions.lists": "classes_within k_best_classes k_best_networks networks_within",
    "questions.look": "look",
    "questions.network_search": "search_networks",
    "questions.plan": "plan",
    "questions.sampling": "sample_networks",
    "questions.structural_em": "structural_em",
    "questions.sums": "edge_posteriors log_evidence log_prior_total network_posteriors parent_set_posteriors "
    "path_posteriors",
    "report.write": "write_report",
    "scoring.keep": "KBest Within",
    "scoring.kinds.discrete": "AIC BDe BDeu BDs BIC CustomScore K2 NAL fNML qNML",
    "scoring.kinds.blocks": "DegenerateGaussian RankBIC",
    "scoring.kinds.gaussian": "BGe GaussianAIC GaussianBIC MixedBIC",
    "scoring.parent_bounds": "parent_bounds",
    "scoring.score": "score",
}
__getattr__ = opener(__name__, _PLACES)


def __dir__() -> list[str]:
    return __all__


__all__ = [
    "AIC",
    "BIC",
    "K2",
    "NAL",
    "BDe",
    "BDeu",
    "BDs",
    "BGe",
    "ConstraintError",
    "Constraints",
    "CustomScore",
    "DegenerateGaussian",
    "EdgePrior",
    "EquivalenceClass",
    "FairPrior",
    "FileError",
    "FittedNetwork",
    "GaussianAIC",
    "GaussianBIC",
    "Interrupted",
    "KBest",
    "LostWorker",
    "MixedBIC",
    "Network",
    "NetworkError",
    "NotAllowed",
    "OrderModular",
    "OutOfTime",
    "Quantile",
    "RankBIC",
    "ScoreError",
    "Table",
    "TableError",
    "TooLarge",
    "Uniform",
    "Within",
    "all_of",
    "any_of",
    "best_network",
    "bootstrap",
    "causal_effects",
    "classes_within",
    "compare",
    "count_classes_within",
    "count_networks_within",
    "edge_alternatives",
    "edge_posteriors",
    "estimators",
    "example_network",
    "example_table",
    "fNML",
    "features",
    "if_then",
    "io",
    "iter_networks_within",
    "k_best_classes",
    "k_best_networks",
    "log_evidence",
    "log_prior_total",
    "look",
    "network_posteriors",
    "networks_within",
    "none_of",
    "not_",
    "parent_bounds",
    "parent_set_posteriors",
    "path_posteriors",
    "plan",
    "probabilities",
    "qNML",
    "random_network",
    "read_network",
    "read_table",
    "rules",
    "sample_networks",
    "score",
    "search_networks",
    "structural_em",
    "summary",
    "time_slices",
    "types",
    "write_network",
    "write_report",
]
