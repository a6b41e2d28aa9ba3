"""What a report is about: every answer it shows, or why it has none. No limit keeps it from ending."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from topdag._util.run import Run
from topdag.answers.averages import edge_matrix, path_matrix
from topdag.answers.lists import BestList, ClassList, NetworkList
from topdag.answers.posteriors import EdgePosteriors, NetworkPosteriors, PathPosteriors
from topdag.answers.results import Answer, Stats, Status
from topdag.data.table import Table
from topdag.errors import ConstraintError, OutOfTime, ScoreError, TooLarge
from topdag.knowledge.constraints import Constraints
from topdag.knowledge.priors import OrderModular, Prior
from topdag.questions.best import best_of
from topdag.questions.decide import require_summable
from topdag.questions.list_sources import Wanted
from topdag.questions.lists import list_of
from topdag.questions.request import Request, Trail, scores_of
from topdag.questions.sums import network_posteriors
from topdag.scoring.kinds.discrete import ScoreKind
from topdag.scoring.score import compiled_for, scored_columns
from topdag.scoring.scores import Scores
from topdag.search.engines import LATTICE_LIMIT, SEARCH_LIMIT

MOST_TO_SUM, MOST_TO_SUM_ORDERS, MOST_ORDER_PATHS = 20, 23, 15
"""Variables up to which all networks, or all orders for edges, or those for paths, are summed without a time limit:
about ten seconds."""
SHARE_OF_TIME = 0.5
"""Of what is left of the time, for each question but the last that such a table allows."""
INTERRUPTED = "it was interrupted"

Floats = NDArray[np.float64]
Result = TypeVar("Result")


@dataclass(frozen=True)
class Missing:
    """An answer that is not there."""

    reason: str


@dataclass(frozen=True)
class Probabilities:
    """Of edges or paths. ``said``: over what they are averages; ``exact``: over all networks."""

    matrix: Floats
    said: str
    exact: bool


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
    edges: Probabilities | Missing = field(default_factory=lambda: Missing("they were not asked for"))
    paths: Probabilities | Missing = field(default_factory=lambda: Missing("they were not asked for"))
    log_evidence: float | None = None
    sums: Stats | None = None
    is_interrupted: bool = False

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


def gather(request: Request, k: int, run: Run, *, known: Gathered | None = None) -> Gathered:
    """Asks what is not ``known`` yet, within the limits of the run. Knowledge that cannot be used raises."""
    if request.table is not None:
        compiled_for(request.table, scored_columns(request.table), request.constraints)
    found = _about(request) if known is None else known
    gathering = _Gathering(request, k, run, found)
    if isinstance(found.best, Missing):
        found.best = gathering.ask(gathering.best, SHARE_OF_TIME if gathering.n_variables <= SEARCH_LIMIT else 1.0)
    if isinstance(found.listed, Missing):
        found.listed = gathering.ask(gathering.listed, SHARE_OF_TIME if gathering.n_variables <= LATTICE_LIMIT else 1.0)
    if isinstance(found.edges, Missing) or isinstance(found.paths, Missing):
        gathering.sum_up()
    found.is_interrupted = run.stopped_by is not None
    return found


def lists_classes(kind: ScoreKind | None, prior: Prior | None, constraints: Constraints | None) -> bool:
    """Whether all networks of a class count and weigh the same, so that a class can stand for them."""
    return prior is None and kind is not None and kind.score_equivalent and not constraints


def _about(request: Request) -> Gathered:
    names, constraints, prior = request.known_names, request.constraints, request.prior
    return Gathered(names, request.table, request.kind, request.max_parents, constraints, prior)


class _Gathering:
    """Asks one question after the other, each with its share of the time that is left."""

    def __init__(self, request: Request, k: int, run: Run, found: Gathered) -> None:
        self.request, self.k, self.run, self.found = request, k, run, found

    @property
    def n_variables(self) -> int:
        """Those that take part."""
        request = self.request
        if request.scores is not None:
            return len(request.scores.columns)
        return len(self.found.names) if request.table is None else len(scored_columns(request.table))

    def ask(self, question: Callable[[Run], Result], share: float) -> Result | Missing:
        """The answer, or why there is none. Ctrl-C, or what ``on_progress`` raises, stops the whole run."""
        if self.run.stopped_by is not None:
            return Missing(INTERRUPTED)
        left = self.run.seconds_left
        own = Run(
            time_limit=None if left is None else left * share,
            memory_limit=self.run.memory_limit,
            threads=self.run.threads,
            on_progress=self.run.on_progress,
        )
        try:
            return question(own)
        except OutOfTime:
            return Missing("the time limit came first, and exact sums have no partial answer")
        except (TooLarge, ScoreError, ConstraintError) as error:
            return Missing(_as_reason(error))
        except BaseException as error:
            if not isinstance(error, KeyboardInterrupt) and error is not own.stopped_by:
                raise
            self.run.stop(error)
            answer: Any = getattr(error, "answer", None)
            return answer or Missing(INTERRUPTED)  # an empty list tells nothing

    def best(self, run: Run) -> Answer:
        trail = Trail(self.request)
        answer = best_of(trail, run)
        if self.request.prior is None:
            self.request = replace(self.request, scores=trail.scores)  # need not be scored again
        return answer

    def listed(self, run: Run) -> BestList[Any]:
        request = self.request
        make: Any = ClassList if lists_classes(request.kind, request.prior, request.constraints) else NetworkList
        found: BestList[Any] = list_of(make, request, Wanted("The list", most=self.k), run)
        if not len(found) and found.proof.status is Status.STOPPED:
            raise ScoreError("the limit came before the first of them was certain")
        return found

    def sum_up(self) -> None:
        """Edges and paths from one sum; where that cannot be, averages over the list."""
        found = self.ask(self._sums, 1.0)
        if isinstance(found, Missing) and not self.run.stopped_by and isinstance(self.request.prior, OrderModular):
            found = self.ask(lambda run: self._sums(run, paths=False), 1.0)
        if isinstance(found, Missing):
            average_over_list(self.found, found)
        else:
            note_sums(self.found, found)

    def _sums(self, run: Run, *, paths: bool = True) -> NetworkPosteriors:
        n, most = self.n_variables, MOST_TO_SUM
        require_summable(n)
        if isinstance(self.request.prior, OrderModular):
            most = MOST_ORDER_PATHS if paths else MOST_TO_SUM_ORDERS
        if run.time_limit is None and n > most:
            raise TooLarge(
                f"sums over all networks of {n} variables take long; give a time limit to have them tried, or "
                f"use at most {most} variables"
            )
        return network_posteriors(
            self._scores(run),
            prior=self.request.prior,
            paths=paths,
            parent_sets_of=(),
            time_limit=run.seconds_left,
            memory_limit=run.memory_limit,
            threads=run.threads,
            on_progress=run.on_progress,
        )

    def _scores(self, run: Run) -> Scores:
        if self.request.scores is not None:
            return self.request.scores
        with run.hearing():
            scores = scores_of(self.request, run)
        if scores is None:
            raise run.cut_short("The report", "nothing is known yet")
        return scores


def note_sums(found: Gathered, sums: NetworkPosteriors | EdgePosteriors | PathPosteriors) -> None:
    """Keeps what an exact sum gave."""
    found.log_evidence, found.sums = sums.log_evidence, sums.stats
    said = f"averages over all networks, {sums.prior}"
    edges = sums.edges if isinstance(sums, NetworkPosteriors) else sums if isinstance(sums, EdgePosteriors) else None
    paths = sums.paths if isinstance(sums, NetworkPosteriors) else sums if isinstance(sums, PathPosteriors) else None
    if edges is not None:
        found.edges = Probabilities(edges.matrix, said, exact=True)
    if paths is not None:
        found.paths = Probabilities(paths.matrix, said, exact=True)
    elif isinstance(sums, NetworkPosteriors):
        found.paths = Missing("under this prior sums of paths take much longer than sums of edges")


def average_over_list(found: Gathered, why: Missing) -> None:
    """Averages over the list, where all networks cannot be summed."""
    listed = found.listed
    if isinstance(listed, Missing) or not len(listed):
        found.edges = found.paths = why
        return
    several = "classes" if isinstance(listed, ClassList) else "networks"
    said = f"averages over the {len(listed):,} best {several} only, since {why.reason}"
    found.edges = Probabilities(edge_matrix(listed), said, exact=False)
    try:
        found.paths = Probabilities(path_matrix(listed), said, exact=False)
    except TooLarge as error:
        found.paths = Missing(_as_reason(error))


def _as_reason(error: Exception) -> str:
    """The message of an error, to stand after 'because'."""
    text = str(error).strip().rstrip(".")
    is_word = text[:1].isupper() and (text[1:2].islower() or text.startswith("A "))
    return text[0].lower() + text[1:] if is_word else text
