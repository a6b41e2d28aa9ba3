"""A question while it is being answered: what was given, what is known so far, and what that says of any answer."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from topdag import _core
from topdag._util.run import Run, peak_memory
from topdag.answers.results import Stats
from topdag.data.convert import as_table
from topdag.data.table import Table
from topdag.knowledge.constraints import Constraints
from topdag.knowledge.priors import EdgePrior, OrderModular, Prior, check_prior, log_weight_of
from topdag.networks.network import Network
from topdag.scoring.kinds.discrete import BDeu, ScoreKind, coded
from topdag.scoring.kinds.gaussian import GaussianScore
from topdag.scoring.score import scored_columns
from topdag.scoring.scores import Scores
from topdag.search.best import Standing
from topdag.search.engines import Engine, OrderBound
from topdag.search.precedence_lists import PlacedLists

SECONDS_FOR_A_LAST_LOOK = 0.5
"""How long a stopped search may still take to find a network to show, and again for a bound."""


@dataclass
class Asked:
    """What was given and what is known so far. Under a prior that factors over families, ``scores`` hold both.

    ``most``: no network is worth more, on the grid; ``counted``: what was counted on the way; ``placed``: what
    ``standing`` speaks of, where some variables come before others in any case.
    """

    table: Table | None
    kind: ScoreKind | None
    max_parents: int | None = None
    scores: Scores | None = None
    prior: Prior | None = None
    start: Network | None = None
    wanted_engine: Engine | None = None
    wanted_bound: OrderBound | None = None
    checkpoint: Path | None = None
    engine: str = "none"
    reason: str = ""
    best_alone: Sequence[float] = ()
    standing: Standing | None = None
    constraints: Constraints | None = None
    counted: Mapping[str, int] | None = None
    most: float = math.inf
    placed: PlacedLists | None = None

    @classmethod
    def about(cls, source: Any, prior: Prior | None = None) -> Asked:
        """About scores, or about a table, frame, array or path, to be scored with BDeu(1)."""
        check_prior(prior)
        if isinstance(source, Scores):
            source.require_no_prior()
        asked = cls.from_scores(source) if isinstance(source, Scores) else cls(as_table(source), BDeu())
        if asked.kind is not None and asked.table is not None:
            asked.kind.require_columns(asked.table)
        asked.prior = prior
        if isinstance(prior, EdgePrior):
            prior.require_names(asked.known_names)
        return asked

    @classmethod
    def from_scores(cls, scores: Scores) -> Asked:
        return cls(scores.table, scores.kind, scores.max_parents, scores, constraints=scores.constraints)

    def worth(self, network: Network) -> float:
        """The data's score and the log weight of the prior."""
        assert network.score is not None
        return network.score + self.log_weight(network)

    def log_weight(self, network: Network) -> float:
        if self.prior is None:
            return 0.0
        return log_weight_of(self.prior, network, self.scored_names, self._earlier)

    @property
    def _earlier(self) -> dict[str, list[str]]:
        """By variable those that come before it by what is known, in the orders that the prior counts."""
        if self.scores is None or not self.scores.orders_are_limited:
            return {}
        counts_all = isinstance(self.prior, OrderModular) and self.prior.is_uniform
        known = self.scores.known_of_orders if counts_all else self.scores.compiled
        assert known is not None
        return {
            name: [known.names[v] for v in range(len(known.names)) if early >> v & 1]
            for name, early in zip(known.names, known.before, strict=True)
        }

    @property
    def standing_masks(self) -> list[int] | None:
        """The best network that the search has met, as masks over the scored variables."""
        masks = None if self.standing is None else self.standing.masks
        return masks if masks is None or self.placed is None else self.placed.without(masks)

    @property
    def known_names(self) -> tuple[str, ...]:
        """Of all variables, scored or constant."""
        known = self.table if self.scores is None else self.scores
        assert known is not None
        return known.names

    @property
    def scored_names(self) -> tuple[str, ...]:
        if self.scores is not None:
            return self.scores.scored_names
        assert self.table is not None
        return tuple(self.table.names[v] for v in scored_columns(self.table))


def space_of(asked: Asked) -> str:
    """The networks a question is about, in words."""
    if asked.scores is not None:
        return asked.scores.describe_space()
    assert asked.table is not None
    limit = "any number of parents" if asked.max_parents is None else f"at most {asked.max_parents} parents each"
    known = "" if not asked.constraints else f", that obey: {asked.constraints.summary}"
    return f"all networks on {asked.table.n_variables} variables with {limit}{known}"


def stats_of(asked: Asked, run: Run) -> Stats:
    """What a question about the best network cost so far."""
    work = asked.counted if asked.standing is None else asked.standing.work
    return run_stats(asked.scores, run, asked.engine, work, asked.reason)


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


def upper_bound(asked: Asked) -> float:
    """No network is worth more. The sum over variables of the best each could reach with any parents at all.

    Values on the grid may lie below the scores in full precision that answers report, by a step each.
    """
    slack = 0.0 if asked.scores is None else asked.scores.rounding
    if asked.most < math.inf:
        return asked.most + slack
    if asked.standing is not None:
        return asked.standing.bound + slack
    if asked.best_alone:
        return math.fsum((*asked.best_alone, slack))
    scores = asked.scores
    if scores is not None and scores.store.is_listed:
        prior = 0.0 if scores.prior is asked.prior else _most_by_prior(asked)
        return math.fsum((*scores.store.listed.best_scores, slack, prior))
    if asked.table is not None and asked.kind is not None:
        return math.fsum(_likelihood_bounds(asked.table, asked.kind)) + _most_by_prior(asked)
    return math.inf


def _most_by_prior(asked: Asked) -> float:
    """No network has a larger log weight; constant columns, which are not scored, have orders too."""
    if asked.prior is None:
        return 0.0
    return asked.prior.most_log_weight(asked.known_names)


def _likelihood_bounds(table: Table, kind: ScoreKind) -> list[float]:
    """Per variable: its log likelihood given all others, which no parents can exceed, less the least penalty.

    Every discrete score here is at most the log likelihood of its family: Dirichlet scores are averages of
    likelihoods, the others likelihoods less a penalty. Of mixed tables nothing is known before scoring.
    """
    if isinstance(kind, GaussianScore):
        return kind.bounds_alone(table)
    if table.continuous:
        return [math.inf]
    last_look = Run(time_limit=SECONDS_FOR_A_LAST_LOOK)
    view = coded(table)
    formula = _core.SetFormula(_core.CellKind.N_LOG_N)
    everything = list(range(table.n_variables))
    full = _core.score_set(view, formula, everything)

    def log_likelihood(x: int) -> float:
        if last_look.is_over:
            return 0.0  # no log likelihood is more
        return full - _core.score_set(view, formula, [v for v in everything if v != x])

    return [log_likelihood(x) - kind.least_penalty(table.n_rows, int(table.arities[x])) for x in everything]
