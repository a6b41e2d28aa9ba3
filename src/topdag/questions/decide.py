"""Which engine answers a request, and how its table is scored: the only place where that is chosen.

Every question does what ``decide`` says, and ``td.plan`` shows the same.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from topdag.knowledge.priors import OrderModular
from topdag.scoring.choice import form_of_scores, kept_by_default
from topdag.scoring.keep import Keep
from topdag.scoring.kinds.base import MatrixScore
from topdag.scoring.kinds.discrete import SetScore
from topdag.scoring.probability_losses import together
from topdag.scoring.scores import Scores, require_local
from topdag.scoring.task import compiled_for, scored_columns
from topdag.search.engines import ON_LISTS, SEARCH_LIMIT, Choice, Engine, family_bytes, require_narrow, sizes
from topdag.search.lattice import block_lattice_bytes, engine_for_best, lattice_for

if TYPE_CHECKING:
    from topdag._util.run import Run
    from topdag.knowledge.compiled import CompiledConstraints
    from topdag.questions.request import Request


class Question(enum.Enum):
    """PARTIAL: a list by search over partial networks, as published."""

    BEST = "best"
    LIST = "list"
    CLASSES = "classes"
    PARTIAL = "partial networks"
    SUM = "sum"
    SAMPLE = "sample"


SUM_ENGINES = {
    Question.SUM: (Engine.ORDER_SUM, Engine.NETWORK_SUM),
    Question.SAMPLE: (Engine.ORDERS_WEIGHED, Engine.LAYERS),
}
"""Where orders weigh, and else."""
ASKED_BY = {
    Question.SUM: "A sum over all networks",
    Question.SAMPLE: "sample_networks",
    Question.PARTIAL: "search_networks",
}
"""Who understands no constraints on several variables at once, but for an order."""
SECONDS_FOR_A_SET = 3e-7
"""What the block lattice takes, on a slow machine."""
SEVERAL = "constraints speak of several variables at once"


@dataclass(frozen=True)
class Decision(Choice):
    """What answers, and why. ``form``, ``keep``: how the table is scored, and for what; None where there are scores
    already. ``climbs``: whether a network is looked for in the data meanwhile, for answers that cannot wait.
    ``limit``: how many parents a variable may have at most, by all that is known."""

    form: Choice | None = None
    keep: Keep | None = None
    climbs: bool = False
    limit: int | None = None

    @property
    def scores_lists(self) -> bool:
        """Whether the table will be scored as lists of families."""
        return self.form is not None and self.form.engine is Engine.SEARCH


@dataclass(frozen=True)
class _Known:
    """Of the scores that a question will be asked of. ``is_automatic``: their lists were made for the best network, and
    can be made anew. ``n_listed``: how many families stand in them, 0 where that is not known yet."""

    n: int
    is_listed: bool
    is_automatic: bool
    compiled: CompiledConstraints | None
    n_listed: int = 0

    @classmethod
    def of(cls, scores: Scores) -> _Known:
        store = scores.store
        n_listed = len(store.listed.rounded) if store.is_listed else 0
        return cls(len(scores.columns), store.is_listed, scores.automatic, scores.compiled, n_listed)

    @property
    def has_rest(self) -> bool:
        """Whether families do not tell all that is known."""
        return self.compiled is not None and not self.compiled.is_local

    @property
    def is_beyond_order(self) -> bool:
        """Whether families and an order of the variables do not tell all that is known."""
        return self.has_rest and self.compiled is not None and bool(self.compiled.rest.without_order)

    @property
    def is_partitioned(self) -> bool:
        """Whether lists are made by partition."""
        is_crowded = self.n_listed > sizes().crowded * self.n and self.n <= SEARCH_LIMIT
        return self.is_listed and self.n > sizes().partition and not is_crowded

    @property
    def before(self) -> Sequence[int]:
        return () if self.compiled is None else self.compiled.places


def decide(request: Request, question: Question) -> Decision:
    """Raises TooLarge where no engine takes so many variables, ScoreError where scores are no weights."""
    if question in SUM_ENGINES and request.kind is not None:
        request.kind.require_likelihood(ASKED_BY[question])
    if request.scores is not None:
        known = _Known.of(request.scores)
        is_weighted = request.prior is not None and not isinstance(request.prior, OrderModular)
        known = replace(known, is_automatic=known.is_automatic and not is_weighted)
        chosen = _engine(request, question, known)
        return Decision(chosen.engine, chosen.reason, chosen.n_ideals)
    table, keep = request.table, _kept_for(request, question)
    assert table is not None and request.kind is not None
    columns = scored_columns(table)
    _require_few(request, len(columns), question)
    kind, constraints = together(request.kind, request.constraints)
    compiled = compiled_for(table, columns, constraints)
    is_short = False
    if compiled is not None:
        from topdag.scoring.allowed import are_few, require_enough_parents  # only constraints need it

        require_enough_parents(compiled.families, request.max_parents)
        is_short = are_few(compiled.families)
    keep = keep or kept_by_default(table, columns, request.max_parents, compiled)
    form = form_of_scores(table, columns, kind, request.max_parents, keep, compiled)
    by_lists = form.engine is Engine.SEARCH
    is_listed = by_lists or keep not in (None, "all") or is_short
    known = _Known(len(columns), is_listed, by_lists and keep is None, compiled)
    chosen = _engine(request, question, known)
    is_search = chosen.engine is Engine.SEARCH and request.engine is None
    reason = form.reason if is_search else chosen.reason
    is_begun = request.drawn is not None  # with the network of the table that it is a draw of
    climbs = by_lists and not is_begun and question in (Question.BEST, Question.LIST, Question.CLASSES)
    limit = request.max_parents if compiled is None else compiled.limit_on_parents(request.max_parents)
    return Decision(chosen.engine, reason, chosen.n_ideals, form, keep, climbs, limit)


def plan_scores(request: Request, decision: Decision, run: Run) -> None:
    """Makes sure that memory holds the scores of a table, where each family has its own, a prior beside them, and what
    orders that weigh take."""
    assert request.table is not None and request.kind is not None
    kind, n = request.kind.unconstrained, len(scored_columns(request.table))
    if isinstance(request.prior, OrderModular):
        from topdag.questions.order_prior import require_room  # small questions open only what they need

        require_room(n, request.prior, run)
    if not decision.scores_lists and request.constraints is None and not isinstance(kind, SetScore | MatrixScore):
        advice = "Leave out columns, or use BDeu or BIC, which score sets and take fewer with a limit on parents."
        run.require_memory(family_bytes(n), f"{kind!r} of all families of {n} variables", advice)
    plan_prior(request, decision, run)


def plan_prior(request: Request, decision: Decision, run: Run) -> None:
    """Makes sure that memory holds a prior of families beside the scores, so that what cannot be weighed is not scored
    either. What constraints leave is known only then."""
    prior = request.prior
    weighs_families = prior is not None and (not isinstance(prior, OrderModular) or prior.parent_weight is not None)
    if weighs_families and not decision.scores_lists and request.constraints is None and request.table is not None:
        from topdag.scoring.with_prior import require_room_for  # small questions open only what they need

        require_room_for(len(scored_columns(request.table)), prior, run)


def decide_again(decision: Decision, request: Request, question: Question, scores: Scores, run: Run) -> Decision:
    """Once there are scores: where constraints leave few families of those that have one, these stand in lists; where
    lists are so long that a table over all sets is made sooner than they are searched, there is one."""
    chosen = decide(replace(request, scores=scores), question)
    is_free = request.engine is None and request.checkpoint is None
    if chosen.engine is Engine.SEARCH and is_free and _is_table_sooner(scores, run):
        reason = f"{scores.n_families:,} families are many for {len(scores.columns)} variables"
        chosen = replace(chosen, engine=Engine.BLOCKS, reason=reason)
    return decision if chosen.engine is decision.engine else replace(chosen, form=decision.form, keep=decision.keep)


def _is_table_sooner(scores: Scores, run: Run) -> bool:
    """Whether the block lattice of these lists ends before search does, and within the limits."""
    n, n_families = len(scores.columns), scores.n_families
    if n_families < sizes().long_list or n_families * sizes().sets_for_a_family < 2**n:
        return False
    needed = scores.store.n_bytes + block_lattice_bytes(n, backward=False, threads=run.threads)
    left = run.seconds_left
    return needed <= run.allowed_memory and (left is None or left > SECONDS_FOR_A_SET * 2**n)


def decide_lattice(scores: Scores) -> Choice:
    """The lattice that a list of networks is read from, where one sees to all that is known."""
    return _lattice(_Known.of(scores))


def most_sets_of_a_lattice(scores: Scores, most: int) -> float:
    """Of a list of so many: where more sets would be in it, it is made by partition. Infinite where it cannot be."""
    can_be_partitioned = scores.store.is_listed and not _Known.of(scores).has_rest
    return max(sizes().few_sets, sizes().sets_for_an_item * most) if can_be_partitioned else math.inf


def needs_splitting(scores: Scores) -> bool:
    """Whether no lattice sees to all that is known."""
    return _is_split(_Known.of(scores))


def _kept_for(request: Request, question: Question) -> Keep | None:
    prior = request.prior
    if question in (Question.SUM, Question.SAMPLE):
        return "all"
    if question is not Question.BEST:
        return None if prior is None else "all"
    if prior is not None and not prior.favours_fewer_parents:
        return "all"
    return "best" if request.engine in ON_LISTS else None


def _require_few(request: Request, n: int, question: Question) -> None:
    if question is Question.PARTIAL:
        require_narrow(n, "a search over partial networks")
    if question in (Question.SUM, Question.SAMPLE):
        require_narrow(n, "a sum over all networks")
    if request.prior is not None and _kept_for(request, question) == "all":
        require_narrow(n, f"the {request.prior}")


def _engine(request: Request, question: Question, known: _Known) -> Choice:
    over_orders = isinstance(request.prior, OrderModular)
    if over_orders or question in ASKED_BY:
        asked_by = ASKED_BY.get(question, "An order-modular prior")
        require_local(known.compiled, asked_by, order=question is not Question.PARTIAL)
    if question in (Question.SUM, Question.SAMPLE):
        by_orders, by_networks = SUM_ENGINES[question]
        return Choice(by_orders if over_orders else by_networks, "every network counts, so every set does")
    if question is Question.PARTIAL:
        return _partial(known)
    if over_orders:
        return Choice(Engine.ORDERS_WEIGHED, "the prior counts a network once for each of its orders")
    if question is Question.BEST:
        return _best(known, request.engine)
    if question is Question.CLASSES and request.table is not None and request.table.targets:
        return Choice(
            Engine.CONSTRAINED, "experiments tell networks of a class apart, so classes are read off networks"
        )
    return _list(known, question)


def _list(known: _Known, question: Question) -> Choice:
    if _is_split(known):
        return Choice(Engine.CONSTRAINED, SEVERAL)
    if known.is_partitioned:
        return Choice(Engine.PARTITION, "families are listed, and more sets matter than a lattice holds")
    if question is Question.CLASSES and known.compiled is not None:
        return Choice(Engine.CONSTRAINED, SEVERAL)
    return _lattice(known)


def _partial(known: _Known) -> Choice:
    if known.is_listed and (known.n > sizes().small or known.is_automatic):
        return Choice(Engine.PARTIAL_BY_ORDERS, "families are listed, and not all sets are looked at")
    return Choice(Engine.PARTIAL, f"a table over {2**known.n:,} sets is small")


def _best(known: _Known, wanted: Engine | None) -> Choice:
    """Branching sees to orders by itself."""
    if known.is_beyond_order or (known.has_rest and wanted is Engine.CYCLES):
        return Choice(Engine.CONSTRAINED, SEVERAL)
    return engine_for_best(known.n, listed=known.is_listed, before=known.before, wanted=wanted)


def _is_split(known: _Known) -> bool:
    """Lists of few variables that were made for the best network are made anew by splitting; partition takes what an
    order tells as it takes all that several variables tell."""
    is_short = known.is_listed and known.is_automatic and known.n <= sizes().small
    return known.has_rest if is_short or known.is_partitioned else known.is_beyond_order


def _lattice(known: _Known) -> Choice:
    """Lists that were made for the best network may lack families that a lattice over all sets needs."""
    is_small = known.n <= sizes().small and not known.is_automatic
    if is_small or not known.is_listed:
        return lattice_for(known.n, known.before)
    return Choice(Engine.SPARSE, "families are listed, and few of the sets matter")
