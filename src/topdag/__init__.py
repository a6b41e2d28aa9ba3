"""topdag: exact structure learning of Bayesian networks. The best network of a table, with proof.

>>> import topdag as td
>>> answer = td.best_network(td.example_table())
>>> answer.proof.status.name
'PROVED'
"""

from topdag.classes import EquivalenceClass
from topdag.comparing import Comparison, ListSummary, compare, summary
from topdag.discretize import Quantile, Uniform
from topdag.errors import FileError, Interrupted, NetworkError, ScoreError, TableError, TooLarge
from topdag.example import example_network, example_table
from topdag.files import read_network, read_scores, write_network, write_scores
from topdag.graphs import Network
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
from topdag.parameters import FittedNetwork
from topdag.questions import best_network
from topdag.random_networks import random_network
from topdag.reading import read_table
from topdag.results import Answer, Progress, Proof, Stats, Status
from topdag.score_kinds import AIC, BIC, K2, BDe, BDeu, BDs, CustomScore, Family, fNML, qNML
from topdag.scores import Scores, Within, score
from topdag.table import Table

__version__ = "0.1.0"

__all__ = [
    "AIC",
    "BIC",
    "K2",
    "Answer",
    "BDe",
    "BDeu",
    "BDs",
    "ClassList",
    "Comparison",
    "CustomScore",
    "EquivalenceClass",
    "Family",
    "FileError",
    "FittedNetwork",
    "Interrupted",
    "ListSummary",
    "Network",
    "NetworkError",
    "NetworkList",
    "Progress",
    "Proof",
    "Quantile",
    "ScoreError",
    "Scores",
    "Stats",
    "Status",
    "Table",
    "TableError",
    "TooLarge",
    "Uniform",
    "Within",
    "best_network",
    "classes_within",
    "compare",
    "count_classes_within",
    "count_networks_within",
    "example_network",
    "example_table",
    "fNML",
    "iter_networks_within",
    "k_best_classes",
    "k_best_networks",
    "networks_within",
    "qNML",
    "random_network",
    "read_list",
    "read_network",
    "read_scores",
    "read_table",
    "score",
    "summary",
    "write_list",
    "write_network",
    "write_scores",
]
