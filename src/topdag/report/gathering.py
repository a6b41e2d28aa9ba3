"""Asks what a report shows. No limit keeps it from ending."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from topdag._util.memory import available_memory
from topdag._util.options import option
from topdag._util.run import Result, Run
from topdag.answers.averages import edge_matrix, path_matrix
from topdag.answers.bootstrap import N_DRAWS, BootstrapFrequencies
from topdag.answers.effects import CausalEffects
from topdag.answers.lists import BestList, ClassList, NetworkList, nothing_is_proved
from topdag.answers.posteriors import EdgePosteriors, NetworkPosteriors, PathPosteriors
from topdag.answers.results import Answer, Status
from topdag.errors import ConstraintError, OutOfTime, ScoreError, TooLarge
from topdag.knowledge.priors import OrderModular
from topdag.questions.best import best_of
from topdag.questions.bootstrap import bootstrap_of
from topdag.questions.effects import WantedEffects, effects_of_list, effects_of_sums
from topdag.questions.listing.sources import Wanted
from topdag.questions.lists import list_of
from topdag.questions.plan import bytes_for_all_sets
from topdag.questions.request import Request, Trail, lists_classes
from topdag.questions.sum_sizes import Purpose
from topdag.questions.sums import asked, posteriors_of, scored_for
from topdag.report.gathered import AveragedMatrix, Gathered, Missing
from topdag.scoring.scores import Scores
from topdag.scoring.task import compiled_for, scored_columns
from topdag.search.engines import most_that_fit

MOST_TO_SUM, MOST_TO_SUM_ORDERS, MOST_ORDER_PATHS = 20, 23, 15
"""Variables up to which all networks, or all orders for edges, or those for paths, are summed without a time limit:
about ten seconds."""
SHARE_OF_TIME = 0.5
"""Of what is left of the time, for each question but the last that such a table allows."""
DEFAULT_BUDGET = 60.0
"""Seconds for the list and the probabilities together, where no limit is given."""
EFFECTS = WantedEffects(draws=400)
SHARE_FOR_DRAWS = 1 / 3
"""Of what is left of the time for a bootstrap, where nobody said how long a report may take."""
FEWEST_DRAWS = 20
"""Of a bootstrap; fewer say less than the list."""
OF_LISTS = "They look surer than they are: networks outside the list do not count. A longer list (-k) helps."
OF_DRAWS = (
    "They say how far edges hang on just these rows, and are no probabilities given the data; rows drawn twice lean "
    "towards more edges."
)
WAS_INTERRUPTED = "it was interrupted"


def gather(
    request: Request, k: int, run: Run, *, budget: float | None = None, known: Gathered | None = None
) -> Gathered:
    """Asks what is not ``known`` yet, within the limits of the run. Knowledge that cannot be used raises.

    ``budget``: seconds for all but the best network; without one, and without a time limit, a minute.
    """
    if request.table is not None:
        compiled_for(request.table, scored_columns(request.table), request.constraints)
    found = _about(request) if known is None else known
    gathering = _Gathering(request, k, run, found)
    if isinstance(found.best, Missing):
        found.best = gathering.ask(gathering.best, SHARE_OF_TIME)
    gathering.limit_rest(budget)
    if isinstance(found.listed, Missing):
        found.listed = gathering.ask(gathering.listed, SHARE_OF_TIME if gathering.is_last_but_one else 1.0)
    if isinstance(found.edges, Missing) or isinstance(found.paths, Missing):
        gathering.sum_up()
    if isinstance(found.effects, Missing):
        found.effects = gathering.ask(gathering.effects, 1.0)
    found.is_interrupted = run.stopped_by is not None
    return found


def _about(request: Request) -> Gathered:
    names, constraints, prior = request.known_names, request.constraints, request.prior
    return Gathered(names, request.table, request.kind, request.max_parents, constraints, prior)


class _Gathering:
    """Asks one question after the other, each with its share of the time that is left."""

    def __init__(self, request: Request, k: int, run: Run, found: Gathered) -> None:
        self.request, self.k, self.run, self.found = request, k, run, found
        self.clock, self.memory_limit = run, run.memory_limit
        self.is_default = False
        self.summed: tuple[Scores, NetworkPosteriors] | None = None

    def limit_rest(self, budget: float | None) -> None:
        """From now on the budget counts, and half of the memory that is free where no limit was given."""
        left = self.run.seconds_left
        self.is_default = budget is None and left is None
        own = DEFAULT_BUDGET if self.is_default else budget
        if own is not None and (left is None or own < left):
            self.clock = Run(time_limit=own)
            self.found.more_time = f"{option('budget')} gives the list and the probabilities more than {own:g} seconds"
        if self.memory_limit is None:
            self.memory_limit = available_memory() // 2
            limit = option("memory_limit")
            self.found.more_memory = f"without {limit} a report takes at most half of the free memory for this"

    @property
    def most_to_sum(self) -> int:
        """Variables up to which sums over all networks are tried."""
        if not self.is_default:
            memory = available_memory() if self.memory_limit is None else self.memory_limit
            threads, prior = self.run.threads, self.request.prior
            return most_that_fit(lambda n: bytes_for_all_sets(n, "edges", threads, prior), memory)
        return MOST_TO_SUM_ORDERS if isinstance(self.request.prior, OrderModular) else MOST_TO_SUM

    @property
    def tries_sums(self) -> bool:
        return self.n_variables <= self.most_to_sum

    @property
    def is_last_but_one(self) -> bool:
        """Whether something is asked after the list."""
        return self.tries_sums or self.can_be_drawn

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
            return Missing(WAS_INTERRUPTED)
        left = self.clock.seconds_left
        own = Run(
            time_limit=None if left is None else left * share,
            memory_limit=self.memory_limit,
            threads=self.run.threads,
            on_progress=self.run.on_progress,
            executor=self.run.executor,
        )
        try:
            return question(own)
        except OutOfTime:
            return Missing(
                _joined("the time limit came first, and exact sums have no partial answer", self.found.more_time)
            )
        except TooLarge as error:
            return Missing(_joined(_as_reason(error), self.found.more_memory if error.by_limit else ""))
        except (ScoreError, ConstraintError) as error:
            return Missing(_as_reason(error))
        except BaseException as error:
            if not isinstance(error, KeyboardInterrupt) and error is not own.stopped_by:
                raise
            self.run.stop(error)
            answer: Any = getattr(error, "answer", None)
            return Missing(WAS_INTERRUPTED) if answer is None or tells_nothing(answer) else answer

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
        if tells_nothing(found):
            raise ScoreError(_joined("the limit came before the first of them was certain", self.found.more_time))
        return found

    def sum_up(self) -> None:
        """Edges and paths from one sum; where that cannot be, averages over the list."""
        found = self.ask(self._sums, 1.0)
        if isinstance(found, Missing) and not self.run.stopped_by and isinstance(self.request.prior, OrderModular):
            found = self.ask(lambda run: self._sums(run, paths=False), 1.0)
        if not isinstance(found, Missing):
            note_sums(self.found, found)
            return
        average_over_list(self.found, found)
        share = SHARE_FOR_DRAWS if self.is_default else SHARE_OF_TIME  # effects come after it
        drawn = self.ask(self._bootstrap, share) if self.can_be_drawn else found
        if not isinstance(drawn, Missing):
            self.found.edges = frequencies_of(drawn, found)

    @property
    def can_be_drawn(self) -> bool:
        """Whether the best network, which each draw asks for anew, was found and proved."""
        best = self.found.best
        return self.request.table is not None and not isinstance(best, Missing) and best.proved

    def _bootstrap(self, run: Run) -> BootstrapFrequencies:
        found = bootstrap_of(self.request, N_DRAWS, 0, run)
        if len(found.draws) < FEWEST_DRAWS:
            raise ScoreError(f"only {len(found.draws)} draws of a bootstrap were done in time")
        return found

    def _sums(self, run: Run, *, paths: bool = True) -> NetworkPosteriors:
        n, most = self.n_variables, self.most_to_sum
        if paths and isinstance(self.request.prior, OrderModular):
            most = MOST_ORDER_PATHS
        if self.is_default and n > most:
            raise TooLarge(
                f"sums over all networks of {n} variables take long; {option('budget')} (in seconds) has them "
                f"tried, or use at most {most} variables"
            )
        wanted = Purpose(paths=paths, parent_sets_of=None if n <= MOST_TO_SUM else ())
        return asked("The report", run, lambda: self._summed(wanted, run))

    def _summed(self, wanted: Purpose, run: Run) -> NetworkPosteriors:
        scores = scored_for(self.request, wanted, run)
        sums = posteriors_of(scores, self.request.prior, wanted, run)
        self.summed = (scores, sums) if sums.by_parents else None
        return sums

    def effects(self, run: Run) -> CausalEffects:
        """From the sums, or over the list where there are none."""
        listed = self.found.listed
        if self.summed is not None:
            scores, sums = self.summed
            return asked("The report", run, lambda: effects_of_sums(scores, sums, EFFECTS, run))
        if isinstance(listed, Missing):
            raise ScoreError("There are neither sums over all networks nor a list to average over")
        return asked("The report", run, lambda: effects_of_list(listed, EFFECTS, run))


def note_sums(found: Gathered, sums: NetworkPosteriors | EdgePosteriors | PathPosteriors) -> None:
    """Keeps what an exact sum gave."""
    found.log_evidence, found.sums = sums.log_evidence, sums.stats
    said = f"averages over all networks, {sums.prior}"
    edges = sums.edges if isinstance(sums, NetworkPosteriors) else sums if isinstance(sums, EdgePosteriors) else None
    paths = sums.paths if isinstance(sums, NetworkPosteriors) else sums if isinstance(sums, PathPosteriors) else None
    if edges is not None:
        found.edges = AveragedMatrix(edges.matrix, said, exact=True)
    if paths is not None:
        found.paths = AveragedMatrix(paths.matrix, said, exact=True)
    elif isinstance(sums, NetworkPosteriors):
        found.paths = Missing("under this prior sums of paths take much longer than sums of edges")


def frequencies_of(drawn: BootstrapFrequencies, why: Missing) -> AveragedMatrix:
    """What a bootstrap counted, where all networks cannot be summed."""
    said = f"shares of {len(drawn.draws):,} tables drawn from the rows whose best network has it, since {why.reason}"
    return AveragedMatrix(drawn.matrix, said, exact=False, warning=OF_DRAWS, number="frequency")


def tells_nothing(found: Any) -> bool:
    """Whether it is a list that a limit came too early for: nothing in it is proved, and the best network is shown
    anyway."""
    return isinstance(found, BestList) and found.proof.status is Status.STOPPED and nothing_is_proved(found)


def average_over_list(found: Gathered, why: Missing) -> None:
    """Averages over the list, where all networks cannot be summed."""
    listed = found.listed
    if isinstance(listed, Missing) or not len(listed) or not listed.are_weighed:
        found.edges = found.paths = why
        return
    several = "classes" if isinstance(listed, ClassList) else "networks"
    said = f"averages over the {len(listed):,} best {several} only, since {why.reason}"
    found.edges = AveragedMatrix(edge_matrix(listed), said, exact=False, warning=OF_LISTS)
    try:
        found.paths = AveragedMatrix(path_matrix(listed), said, exact=False, warning=OF_LISTS)
    except TooLarge as error:
        found.paths = Missing(_as_reason(error))


def _joined(reason: str, option: str) -> str:
    """Why something is left out, and the option that brings it."""
    return f"{reason}; {option}" if option else reason


def _as_reason(error: Exception) -> str:
    """The message of an error, to stand after 'because'."""
    text = str(error).strip().rstrip(".")
    is_word = text[:1].isupper() and (text[1:2].islower() or text.startswith("A "))
    return text[0].lower() + text[1:] if is_word else text
