"""What a report shows: every answer, or why there is none."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from topdag._util.arrays import Floats
from topdag._util.stop import Stop
from topdag.answers.effects import CausalEffects
from topdag.answers.lists import BestList, ClassList
from topdag.answers.results import Answer, Proof, Stats, limit_text
from topdag.data.table import Table
from topdag.knowledge.constraints import Constraints
from topdag.knowledge.priors import Prior
from topdag.questions.request import lists_classes
from topdag.scoring.kinds.discrete import ScoreKind


@dataclass(frozen=True)
class Missing:
    """An answer that is not there."""

    reason: str


@dataclass(frozen=True)
class AveragedMatrix:
    """Of edges or paths. ``said``: over what they are averages; ``exact``: over all networks; ``warning``: what to keep
    in mind where they are not; ``number``: what the matrix holds."""

    matrix: Floats
    said: str
    exact: bool
    warning: str = ""
    number: str = "probability"

    @property
    def numbers(self) -> str:
        return f"{self.number[:-1]}ies"


@dataclass
class Gathered:
    """All that a report shows. What was not asked for is missing with a reason."""

    names: tuple[str, ...]
    table: Table | None
    kind: ScoreKind | None
    max_parents: int | None = None
    constraints: Constraints | None = None
    prior: Prior | None = None
    best: Answer | Missing = field(default_factory=lambda: Missing("it was not asked for"))
    listed: BestList[Any] | Missing = field(default_factory=lambda: Missing("it was not asked for"))
    edges: AveragedMatrix | Missing = field(default_factory=lambda: Missing("they were not asked for"))
    paths: AveragedMatrix | Missing = field(default_factory=lambda: Missing("they were not asked for"))
    effects: CausalEffects | Missing = field(default_factory=lambda: Missing("they were not asked for"))
    log_evidence: float | None = None
    sums: Stats | None = None
    is_interrupted: bool = False
    more_time: str = ""
    more_memory: str = ""
    """What brings more where the budget of a report, or its share of the memory, did not do."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What was done to the table, and what to know of it."""
        known = self.table if isinstance(self.best, Missing) else self.best
        return () if known is None else known.notes

    @property
    def what(self) -> str:
        """What the list holds, or would hold."""
        if not isinstance(self.listed, Missing):
            return "class" if isinstance(self.listed, ClassList) else "network"
        return "class" if lists_classes(self.kind, self.prior, self.constraints) else "network"


def limit_in_words(proof: Proof) -> str:
    """What ended a search, for readers who did not see it run."""
    return "an interruption" if proof.limit == limit_text(Stop.INTERRUPT) else proof.limit_in_words
