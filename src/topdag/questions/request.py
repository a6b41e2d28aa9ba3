"""What was asked, what is known on the way to the answer, and what that says of any answer."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from topdag import _core
from topdag._util.progress import shown_meanwhile
from topdag._util.run import Limits, Run, is_whole, peak_memory
from topdag._util.stop import Stop
from topdag.answers.results import Answer, Proof, Stats
from topdag.data.convert import Reading, as_table, check_arguments
from topdag.data.table import Table
from topdag.errors import ScoreError, TooLarge
from topdag.knowledge.priors import EdgePrior, OrderModular, Prior, check_prior, log_weight_of
from topdag.networks.network import Network
from topdag.scoring.keep import Keep
from topdag.scoring.kinds.base import MatrixScore
from topdag.scoring.kinds.discrete import NAL, KindLike, ScoreKind, SetScore, as_kind, coded
from topdag.scoring.kinds.for_table import scored_as
from topdag.scoring.kinds.interventions import WhereNotSet, kind_for
from topdag.scoring.probability_losses import together
from topdag.scoring.score import check_constraints, check_max_parents, score_within
from topdag.scoring.scores import Scores
from topdag.scoring.task import Drawn, compiled_for, scored_columns
from topdag.search.engines import Choice, Engine, OrderBound

if TYPE_CHECKING:
    from topdag.knowledge.compiled import CompiledConstraints
    from topdag.knowledge.constraints import Constraints
    from topdag.questions.first_network import FirstNetwork
    from topdag.search.costs import Cluster
    from topdag.search.precedence_lists import PlacedLists
    from topdag.search.relaxation import Known

MOST_SEEDS = 2**64
SECONDS_FOR_A_LAST_LOOK = 0.25
"""How long a stopped search may still take to find a network to show, and again for a bound."""


class About(Reading, total=False):
    """What can be said in every question about a table, frame, array or path, beside the score."""

    constraints: Constraints | None
    max_parents: int | None


class Said(Limits, About, total=False):
    """What every question takes, beside what it is about."""


def checked_count(name: str, value: object, least: int, most: int) -> int:
    """An argument that says how many."""
    if not is_whole(value, least, most):
        is_kind = isinstance(value, str | ScoreKind)
        hint = f" The score comes after it, or goes by its name: kind={value!r}." if is_kind else ""
        raise ScoreError(f"{name} must be a whole number from {least} to {most:,}, not {value!r}.{hint}")
    return int(cast(int, value))


def checked_seed(seed: object) -> int:
    if not is_whole(seed, 0, MOST_SEEDS - 1):
        raise ScoreError(f"seed must be a whole number from 0 on, below 2**64, not {seed!r}.")
    return int(cast(int, seed))


def parted(options: Said) -> tuple[Limits, About]:
    said: dict[str, Any] = dict(options)
    limits = {name: said.pop(name) for name in Limits.__annotations__ if name in said}
    return cast(Limits, limits), cast(About, said)


@dataclass(frozen=True)
class Request:
    """What was asked, and of what: scores, or a table to be scored. It never changes. ``drawn``: who may have scored
    the table together with others."""

    table: Table | None
    kind: ScoreKind | None
    max_parents: int | None = None
    scores: Scores | None = None
    prior: Prior | None = None
    constraints: Constraints | None = None
    start: Network | None = None
    engine: Engine | None = None
    bound: OrderBound | None = None
    checkpoint: Path | None = None
    drawn: Drawn | None = None

    @classmethod
    def about(
        cls,
        source: Any,
        kind: KindLike = None,
        about: About | None = None,
        prior: Prior | None = None,
        memory_limit: int | None = None,
        *,
        weighs: bool = False,
    ) -> Request:
        """Return the question about scores, or about a table, frame, array or path, read as is said and to be scored
        with this kind; ``weighs``: whether networks are weighed by exp(score)."""
        check_prior(prior)
        said: dict[str, Any] = dict(about or {})
        check_arguments(said, About.__annotations__)
        if isinstance(source, Scores):
            given = [*(["kind"] if kind is not None else []), *said]
            if given:
                names = ", ".join(f"{name}=" for name in given)
                raise ScoreError(f"{names} goes with a table; these scores were made already, by score(table, kind).")
            source.require_no_prior()
            request = cls.from_scores(source, prior=prior)
        else:
            constraints, max_parents = said.pop("constraints", None), said.pop("max_parents", None)
            check_constraints(constraints)
            check_max_parents(max_parents)
            if kind is not None:
                as_kind(kind)  # refuses what is no score before anything is read
            mentioned = () if constraints is None else constraints.named
            read = as_table(source, cast(Reading, said), memory_limit, mentioned=mentioned)
            table, scored_by = scored_as(read, kind, weighs=weighs)
            request = cls(table, kind_for(table, scored_by), max_parents, prior=prior, constraints=constraints)
        if request.kind is not None and request.table is not None:
            request.kind.require_columns(request.table)
        if isinstance(prior, EdgePrior):
            prior.require_names(request.known_names)
        return request

    @classmethod
    def from_scores(cls, scores: Scores, **asked: Any) -> Request:
        return cls(scores.table, scores.kind, scores.max_parents, scores, constraints=scores.constraints, **asked)

    @property
    def known_names(self) -> tuple[str, ...]:
        """Of all variables, scored or constant."""
        known = self.table if self.scores is None else self.scores
        assert known is not None
        return known.names

    @property
    def notes(self) -> tuple[str, ...]:
        """What was done to the table, and what the score says of it."""
        if self.scores is not None:
            return self.scores.notes
        assert self.table is not None and self.kind is not None
        return (*self.table.notes, *self.kind.notes_on(self.table))

    @property
    def compiled(self) -> CompiledConstraints | None:
        """What is known, over the scored variables; None when nothing is."""
        if self.scores is not None:
            return self.scores.compiled
        assert self.table is not None and self.kind is not None
        constraints = together(self.kind, self.constraints)[1]
        return compiled_for(self.table, scored_columns(self.table), constraints)

    @property
    def scored_names(self) -> tuple[str, ...]:
        if self.scores is not None:
            return self.scores.scored_names
        assert self.table is not None
        return tuple(self.table.names[v] for v in scored_columns(self.table))


def asked_about(
    source: Any, kind: KindLike, options: Said, prior: Prior | None = None, *, weighs: bool = False
) -> tuple[Request, Run]:
    """What is asked, and the run in which it is answered: its clock starts before anything is read."""
    limits, about = parted(options)
    run = Run(**limits)
    with shown_meanwhile("reading", run.line):
        return Request.about(source, kind, about, prior, run.memory_limit, weighs=weighs), run


def lists_classes(kind: ScoreKind | None, prior: Prior | None, constraints: Constraints | None) -> bool:
    """Whether all networks of a class count and weigh the same, so that a class can stand for them."""
    return prior is None and kind is not None and kind.score_equivalent and not constraints


def scores_of(request: Request, run: Run, keep: Keep | None = None, form: Choice | None = None) -> Scores | None:
    """The table scored, within a longer run; None when its time is up. ``form``: how, where that was decided."""
    table, kind, known = request.table, request.kind, request.constraints
    assert table is not None and kind is not None
    said: dict[str, Any] = dict(max_parents=request.max_parents, constraints=known, drawn=request.drawn)
    return score_within(table, kind, run, keep=keep, form=form, **said)


@dataclass
class Trail:
    """What is known on the way to an answer. Under a prior that factors over families, ``scores`` hold both.

    ``most``: no network scores more, on the grid; ``counted``: what was counted on the way; ``placed``: what
    ``standing`` speaks of, where some variables always come before others; ``first``: a network found from the data,
    where one was looked for; ``too_large``: what scoring says that needed more memory than there is; ``clusters``: cuts
    to begin with, from a search on much the same scores.
    """

    request: Request
    scores: Scores | None = None
    engine: str = "none"
    reason: str = ""
    best_alone: Sequence[float] = ()
    standing: Known | None = None
    counted: Mapping[str, int] | None = None
    most: float = math.inf
    placed: PlacedLists | None = None
    first: FirstNetwork | None = None
    too_large: TooLarge | None = None
    clusters: Sequence[Cluster] = ()

    def __post_init__(self) -> None:
        self.scores = self.scores or self.request.scores

    @property
    def notes(self) -> tuple[str, ...]:
        """What was done to the table, and what to know of it."""
        notes = self.request.notes if self.scores is None else self.scores.notes
        return notes if self.too_large is None else (*notes, str(self.too_large))

    def limit(self, run: Run) -> Stop:
        """What stopped a question before its answer."""
        if self.too_large is not None:
            return Stop.MEMORY_LIMIT
        return run.limit if self.standing is None else self.standing.limit or run.limit

    @property
    def reading(self) -> Mapping[str, Any]:
        """What was said about reading the table."""
        return {} if self.request.table is None else self.request.table.reading

    def score_of(self, network: Network) -> float:
        """The data's score and the log weight of the prior."""
        assert network.score is not None
        request = self.request
        if request.prior is None:
            return network.score
        return network.score + log_weight_of(request.prior, network, request.scored_names, self._earlier)

    @property
    def _earlier(self) -> dict[str, list[str]]:
        """By variable those that come before it by what is known, in the orders that the prior counts."""
        if self.scores is None or not self.scores.orders_are_limited:
            return {}
        prior = self.request.prior
        counts_all = isinstance(prior, OrderModular) and prior.is_uniform
        known = self.scores.known_of_orders if counts_all else self.scores.compiled
        assert known is not None
        return {
            name: [known.names[v] for v in range(len(known.names)) if early >> v & 1]
            for name, early in zip(known.names, known.before, strict=True)
        }

    @property
    def standing_masks(self) -> list[int] | None:
        """The best network that the search has found, as masks over the scored variables."""
        masks = None if self.standing is None else self.standing.masks
        return masks if masks is None or self.placed is None else self.placed.without(masks)


def space_of(trail: Trail) -> str:
    """The networks a question is about, in words."""
    if trail.scores is not None:
        return trail.scores.describe_space()
    asked = trail.request
    assert asked.table is not None
    limit = "any number of parents" if asked.max_parents is None else f"at most {asked.max_parents} parents each"
    known = "" if not asked.constraints else f", that satisfy: {asked.constraints.summary}"
    return f"all networks on {asked.table.n_variables} variables with {limit}{known}"


def answer_of(trail: Trail, run: Run, network: Network | None, value: float, proof: Proof) -> Answer:
    request, stats = trail.request, stats_of(trail, run)
    about = () if request.table is None else (f"{request.table.summary}.", *request.table.decisions)
    return Answer(network, value, proof, stats, request.kind, trail.notes, request.prior, trail.reading, about)


def stats_of(trail: Trail, run: Run) -> Stats:
    """What a question about the best network cost so far."""
    work = trail.counted if trail.standing is None else trail.standing.work
    return run_stats(trail.scores, run, trail.engine, work, trail.reason)


def run_stats(
    scores: Scores | None, run: Run, engine: str, work: Mapping[str, int] | None = None, reason: str = ""
) -> Stats:
    """What a run cost, and what it worked on."""
    counting = {} if scores is None else {"counting": scores.seconds}
    return Stats(
        seconds=run.seconds,
        phases=counting | run.phases,
        threads=run.threads,
        memory=run.memory,
        peak_memory=peak_memory(),
        sets=0 if scores is None else scores.n_sets,
        families=0 if scores is None else scores.n_families,
        engine=engine,
        reason=reason,
        work=dict(work or {}),
    )


def upper_bound(trail: Trail) -> float:
    """No network scores more, on the grid or in full: the sum of the best each variable could reach with any parents.

    Values on the grid and scores in full precision lie apart by a step for each variable.
    """
    request, scores = trail.request, trail.scores
    slack = _largest_rounding(request) if scores is None else scores.rounding
    if trail.most < math.inf:
        return trail.most + slack
    if trail.standing is not None:
        most = trail.standing.score_bound
        return most + slack + 2 * math.ulp(most)  # a sum of scores, rounded when shown
    if trail.best_alone:
        return math.fsum((*trail.best_alone, slack))
    if scores is not None and scores.store.is_listed:
        prior = 0.0 if scores.prior is request.prior else _most_by_prior(request)
        return math.fsum((*scores.store.listed.best_scores, slack, prior))
    if request.table is not None and request.kind is not None:
        return math.fsum((*_likelihood_bounds(request.table, request.kind), slack, _most_by_prior(request)))
    return math.inf


def _largest_rounding(request: Request) -> float:
    """On the coarsest grid that scores may get which are not known yet."""
    n, table, size = len(request.scored_names), request.table, math.inf
    if table is not None and request.prior is None and isinstance(request.kind, SetScore):
        size = 2 * table.n_rows * float(np.log(np.maximum(table.arities, 2)).sum())  # of all without parents, with room
    return math.ldexp(n, -_core.coarsest_exponent(n, size)) if n else 0.0


def _most_by_prior(request: Request) -> float:
    """No network has a larger log weight; constant columns, which are not scored, have orders too."""
    if request.prior is None:
        return 0.0
    return request.prior.most_log_weight(request.known_names)


def _likelihood_bounds(table: Table, kind: ScoreKind) -> list[float]:
    """Per variable: its log likelihood given all others, which no parents can exceed, less the least penalty.

    Every discrete score here is at most the log likelihood of its family: Dirichlet scores are averages of
    likelihoods, the others likelihoods less a penalty. No average exceeds 0. Of mixed tables nothing is known before
    scoring. Under experiments each variable has rows of its own.
    """
    last_look, everything = Run(time_limit=SECONDS_FOR_A_LAST_LOOK), range(table.n_variables)
    if not isinstance(kind, WhereNotSet):
        return _bounds_in(table, kind, everything, last_look)
    try:
        return [_bounds_in(table.rows_telling_of(x), kind.base, [x], last_look)[0] for x in everything]
    except ScoreError:  # a variable that was set in every row, as scoring will say
        return [math.inf]


def _bounds_in(table: Table, kind: ScoreKind, variables: Sequence[int], last_look: Run) -> list[float]:
    if isinstance(kind, MatrixScore):
        bounds = kind.bounds_alone(table)
        return [bounds[x] for x in variables]
    if table.continuous or (table.incomplete and not isinstance(kind, NAL)):
        return [math.inf] * len(variables)
    no_more = [-kind.least_penalty(table.n_rows, int(table.arities[x])) for x in variables]
    if isinstance(kind, NAL) or table.chunks is not None:  # no log likelihood is more than 0, and no average of them
        return no_more
    view = coded(table)
    formula = _core.SetFormula(_core.CellKind.N_LOG_N)
    everything = list(range(table.n_variables))
    full = _core.score_set(view, formula, everything)
    # Equal counts are added as one, and there are at most sqrt(2 N) different ones: so many terms, none negative, and
    # so many roundings, four times that for both sums of a difference here and in what is scored.
    error = 4 * (math.sqrt(2 * table.n_rows) + 4) * math.ldexp(full, -53)

    def log_likelihood(x: int) -> float:
        if last_look.is_over:
            return 0.0  # no log likelihood is more
        return full - _core.score_set(view, formula, [v for v in everything if v != x]) + error

    return [log_likelihood(x) + less for x, less in zip(variables, no_more, strict=True)]
