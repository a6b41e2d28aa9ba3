"""What scores are kept for: all questions, the best network, networks within a factor, the k best."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real

from topdag._util.options import option, worded
from topdag._util.run import is_whole
from topdag.errors import ScoreError
from topdag.scoring.task import TIES_GO_TOO, Pruning

MOST_IN_A_LIST = 10**9
FEW_FAMILIES = 50_000
"""Up to so many are listed where there are more than 20 variables: search on lists is faster then."""


@dataclass(frozen=True)
class Within:
    """For ``keep=``: all that networks within this Bayes factor of the best can need."""

    factor: float

    def __post_init__(self) -> None:
        is_number = isinstance(self.factor, Real) and not isinstance(self.factor, bool)
        if not is_number or not 1 <= self.factor < math.inf:
            raise ScoreError(f"A Bayes factor is a number from 1 on, not {self.factor!r}.")


@dataclass(frozen=True)
class KBest:
    """For ``keep=``: all that the k best networks can need; for score-equivalent scores, the k best classes too."""

    k: int

    def __post_init__(self) -> None:
        if not is_whole(self.k, 1, MOST_IN_A_LIST - 1):
            raise ScoreError(f"KBest takes a whole number from 1 on, below {MOST_IN_A_LIST:,}, not {self.k!r}.")


@dataclass(frozen=True)
class Behind:
    """All that networks so many nats behind the best can need: constraints may cost more than a factor can say."""

    nats: float


Keep = str | Within | KBest | Behind


def kept_as(keep: Keep) -> str:
    """What was asked for."""
    shell = None if isinstance(keep, str) else f"{type(keep).__name__.lower()}({next(iter(vars(keep).values())):g})"
    return option("keep", keep, shell=shell)


def how_to_keep_all() -> str:
    return worded(
        'Score again with keep="all"; for a score file that was never pruned, read_scores(path, keep="all").',
        "Score again with topdag score --keep all; for a .jkl or .pss file that was never pruned, add --keep all here.",
    )


def keep_epsilon(keep: Keep) -> float:
    """How much worse than a subset of its parents a family may be and stay; infinite: any stays; -1: ties go too."""
    if keep == "all" or isinstance(keep, KBest):
        return math.inf
    if keep == "best":
        return TIES_GO_TOO
    if isinstance(keep, Within):
        return math.log(keep.factor)
    if isinstance(keep, Behind):
        return keep.nats
    raise ScoreError(f'keep must be "all", "best" or Within(factor) or KBest(k), not {keep!r}.')


def pruning_for(keep: Keep) -> Pruning:
    """The rule of pruned scoring that leaves what is asked for."""
    if isinstance(keep, KBest):
        return Pruning(epsilon=math.inf, k=keep.k)
    return Pruning(epsilon=keep_epsilon(keep), k=None)
