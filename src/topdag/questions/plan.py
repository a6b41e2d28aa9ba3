"""What a question will take, said before anything is done."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np

from topdag import _core
from topdag._util.brief import brief
from topdag._util.html import html_table
from topdag._util.options import option, worded
from topdag._util.progress import display_for, shown_meanwhile
from topdag._util.run import available_memory, parse_bytes, shown_bytes, usable_cores
from topdag.answers.bootstrap import N_DRAWS
from topdag.data.resample import require_rows_to_draw
from topdag.data.table import Table
from topdag.errors import ConstraintError, ScoreError, TooLarge
from topdag.knowledge.priors import OrderModular, Prior
from topdag.questions.decide import Decision, Question, decide
from topdag.questions.order_prior import order_prior_bytes
from topdag.questions.request import About, Request
from topdag.questions.sum_sizes import MOST_FOR_ORDER_PATHS, averages, require_not_too_far_from_zero
from topdag.scoring.all_sets import bytes_of_blocks, bytes_to_count, within_columns
from topdag.scoring.choice import affordable_sets
from topdag.scoring.kinds.base import MatrixScore
from topdag.scoring.kinds.blocks import BlockKind
from topdag.scoring.kinds.discrete import AIC, BIC, NAL, BDe, BDs, CustomScore, KindLike, ScoreKind, SetScore, coded
from topdag.scoring.kinds.gaussian import BGe, MixedBIC
from topdag.scoring.kinds.interventions import WhereNotSet, kind_for
from topdag.scoring.pruned import require_rule
from topdag.scoring.task import scored_columns
from topdag.scoring.with_prior import weighed_bytes
from topdag.search.engines import (
    SEARCH_LIMIT,
    Engine,
    all_sets_choice,
    best_network_bytes,
    family_bytes,
    most_that_fit,
    n_sets_up_to,
    set_bytes,
    sizes,
)
from topdag.search.lattice import block_lattice_bytes, most_held

# Seconds on two cores of a machine of 2020, as measured on tables of 14 to 29 variables (docs/guides/large_tables.md).
AT_LEAST = 0.02
PER_ROW = 2.0e-10
"""Counting one distinct row for one set of variables."""
PER_ROW_OF_AVERAGES = 3.2e-9
"""The same for one family, where each has rows of its own."""
PER_SET = 2.0e-8
"""What else scoring does for each set."""
PER_MINOR = 3.0e-8
PER_BLOCKS = 3.0e-7
"""Eliminating a variable: once for each set of continuous variables, and each state of the discrete ones beside it."""
PER_LATTICE_SET = 2.2e-8
"""The best network, for each set of up to 23 variables; the tables then no longer fit the caches."""
MORE_BEYOND, BEYOND = 0.6, 23
PER_LISTED_SET = 1.2e-7
"""A list of a thousand networks, for each set."""
PER_PAIR = {"sums": 3.0e-9, "sample": 5.0e-9}
"""Sums over networks, and samples, go over all pairs of a set and a subset: 3^n."""
PER_SAMPLE = 1e-4

# Bytes on lists of families, for each set that may have to be counted.
BYTES_BY_PENALTY = 40.0
BYTES_BY_LIMIT = 300.0
PER_CELL_READ = 1.5e-8
PER_ROW_COUNTED = 1.3e-9
"""In each table, where rows are read chunk by chunk."""
LITTLE = 1e7
"""Bytes that nobody plans for."""
SEARCH_BYTES = 3e7
"""What a search itself starts with."""

LONG = 60.0
"""From so many seconds on a plan advises, or from as many as are allowed."""
SHARE_OF_ADVISED = 1 / 4
"""What is advised is planned to take no more than this share of the time that is long."""
LEAST_ADVISED = 1.0
"""Seconds that any advice may take, however short the time limit."""
FEW_PARENTS = 3
"""The most parents that are advised."""

DRAWN = "bootstrap"
QUESTIONS = {
    "best": (Question.BEST, "the best network"),
    "list": (Question.LIST, "a list of networks or classes"),
    "within": (Question.LIST, "all networks or classes within a factor"),
    "edges": (Question.SUM, "the probability of each edge"),
    "paths": (Question.SUM, "the probability of each path"),
    "evidence": (Question.SUM, "the evidence of all networks"),
    "sample": (Question.SAMPLE, "1,000 sampled networks"),
    DRAWN: (Question.BEST, f"a bootstrap, {N_DRAWS} tables drawn,"),
}
NONE = "none"
"""The engine of a question that cannot be answered."""
BESTS = ("best", DRAWN)
LISTS = ("list", "within")
SUMS = ("edges", "paths", "evidence")
ON_ALL_SETS = (Engine.DENSE, Engine.BLOCKS, Engine.IDEALS)
A_YEAR = 365 * 86_400.0


@dataclass(frozen=True)
class Plan:
    """What will answer a question, why, and what it takes.

    ``seconds``: a rough guess for two cores, ``scoring`` and ``search`` its parts; None where it depends on the data.
    ``listed``: families that can matter are scored as lists; then ``scoring`` and ``memory`` are what it can take at
    most. ``memory``: bytes; ``fits``: whether so many are there, or ``by_limit`` allowed; ``advice``: what to change
    where they are not, or where it will take long; ``notes``: what was done to the table.
    """

    question: str
    n_variables: int
    n_rows: int
    kind: ScoreKind
    engine: str
    reason: str
    scoring: float | None
    search: float | None
    seconds: float | None
    memory: int
    fits: bool
    advice: str
    listed: bool = False
    by_limit: bool = False
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [
            f"question   {self.question} of {self.n_variables} variables, {self.n_rows:,} rows, {self.kind}",
            f"engine     {self.engine}: {self.reason}",
        ]
        takes = [
            f"time       {self.time_in_words}",
            f"memory     {self.memory_in_words}",
        ]
        advice = [f"advice     {self.advice}"] if self.advice else []
        notes = [f"note       {note}" for note in self.notes]
        return "\n".join([*lines, *(takes if self.engine != NONE else []), *advice, *notes])

    def _repr_html_(self) -> str:
        lines = [line.partition(" ") for line in str(self).splitlines()]
        return html_table((), [(label, text.strip()) for label, _, text in lines])

    @property
    def is_soon(self) -> bool:
        """Whether all that is known beforehand takes no longer than a second or so."""
        return self.scoring is not None and self.scoring + (self.search or 0.0) <= LEAST_ADVISED

    @property
    def _is_open(self) -> bool:
        """Whether nothing limits beforehand what scoring takes."""
        return self.listed and self.scoring is None

    @property
    def _about(self) -> str:
        if self._is_open:
            return "from "
        return "at most " if self.listed else "about "

    @property
    def _remark(self) -> str:
        if not self.fits:
            return ", more than is allowed" if self.by_limit else ", more than there is"
        return " on, as the data make it" if self._is_open else ""

    @property
    def memory_in_words(self) -> str:
        return f"{self._about}{shown_bytes(self.memory)}{self._remark}"

    @property
    def time_in_words(self) -> str:
        if self.seconds is not None:
            parts = f" (scoring {_duration(self.scoring)}, then {_duration(self.search)})" if self.seconds >= 1 else ""
            return f"about {_duration(self.seconds)}{parts}"
        if self.scoring is None:
            return f"depends on the data, and may be long; give a {option('time_limit')}"
        return f"scoring {self._about}{_duration(self.scoring)}; the search depends on the data, mostly seconds"


@dataclass(frozen=True)
class _Cost:
    scoring: float | None
    search: float | None
    memory: float

    @property
    def at_least(self) -> float | None:
        """Seconds of all that is known beforehand; lists may take less."""
        return None if self.scoring is None else self.scoring + (self.search or 0.0)

    def asked(self, times: int) -> _Cost:
        """Of so many tables of this size, one after the other."""
        scoring = None if self.scoring is None else AT_LEAST + times * (self.scoring - AT_LEAST)
        return _Cost(scoring, None if self.search is None else times * self.search, self.memory)


@brief
def plan(
    source: Any,
    kind: KindLike = None,
    *,
    question: str = "best",
    prior: Prior | None = None,
    memory_limit: int | str | None = None,
    **about: Unpack[About],
) -> Plan:
    """What a question about a table would take, without asking it.

    ``question``: "best", or the name of another command: "list", "within", "edges", "paths", "evidence", "sample",
    "bootstrap".

    >>> from topdag.networks.example import example_table
    >>> print(plan(example_table()))
    question   the best network of 8 variables, 500 rows, BIC()
    engine     dense lattice: a table over 256 sets is small
    time       about a moment
    memory     about 12.3 kB
    """
    if question not in QUESTIONS:
        raise ScoreError(f"question must be one of {', '.join(map(repr, QUESTIONS))}, not {question!r}.")
    with shown_meanwhile("reading", display_for(None)):
        request = Request.about(source, kind, about, prior)
    if request.table is None or request.kind is None:
        raise ScoreError("A plan is for a table; these scores do not hold theirs.")
    return plan_of(request, question, None if memory_limit is None else parse_bytes(memory_limit))


def plan_of(
    request: Request,
    question: str,
    memory_limit: int | None = None,
    *,
    time_limit: float | None = None,
    was_stopped: bool = False,
) -> Plan:
    """The plan of a request about a table, as if nothing were scored. Beyond ``time_limit`` all is long;
    ``was_stopped``: it was, so there is advice in any case."""
    table, kind = request.table, request.kind
    request = Request(table, kind, request.max_parents, prior=request.prior, constraints=request.constraints)
    assert table is not None and kind is not None
    n = len(scored_columns(table))
    allowed = available_memory() if memory_limit is None else memory_limit
    asked = QUESTIONS[question][1], n, table.n_rows, kind
    decision = _decided(request, n, question, allowed)
    if isinstance(decision, _Refused):
        why, advice = decision.reason, decision.advice
        return Plan(*asked, NONE, why, None, None, None, 0, fits=False, advice=advice, notes=request.notes)
    cost = _cost(decision, request, n, question)
    seconds = None if cost.scoring is None or cost.search is None else cost.scoring + cost.search
    fits, listed = cost.memory <= allowed, decision.scores_lists
    long = LONG if time_limit is None else min(LONG, time_limit)
    is_open = listed and cost.scoring is None
    is_long = n > 0 and (was_stopped or is_open or (cost.at_least is not None and cost.at_least > long))
    return Plan(
        *asked,
        engine=decision.engine.value,
        reason=decision.reason,
        scoring=cost.scoring,
        search=cost.search,
        seconds=seconds,
        memory=int(cost.memory),
        fits=fits,
        advice=_advice(request, n, question, allowed, cost if fits else None, long) if is_long or not fits else "",
        listed=listed,
        by_limit=memory_limit is not None,
        notes=request.notes,
    )


@dataclass(frozen=True)
class _Refused:
    """Why, and what can be done where that does not say it."""

    reason: str
    advice: str = ""


def _decided(request: Request, n: int, question: str, allowed: int) -> Decision | _Refused:
    table, kind = request.table, request.kind
    assert table is not None and kind is not None
    try:
        if question in SUMS:
            require_not_too_far_from_zero(table, kind)
        if question == DRAWN:
            require_rows_to_draw(table)
    except (TooLarge, ScoreError) as error:
        return _Refused(str(error))
    try:
        decision = decide(request, QUESTIONS[question][0])
        _require_scorable(request, decision, n, allowed)
    except ConstraintError as error:
        return _Refused(str(error))
    except (TooLarge, ScoreError) as error:
        return _Refused(str(error), _advice(request, n, question, allowed, None, LONG))
    return decision


def _require_scorable(request: Request, decision: Decision, n: int, allowed: float) -> None:
    """What scoring refuses, a plan refuses."""
    table, kind = request.table, request.kind
    assert table is not None and kind is not None
    if decision.scores_lists:
        require_rule(kind, n, request.max_parents)
    if table.chunks is not None and n:
        table.chunks.planned(_most_counted(n, decision.limit), allowed, usable_cores())


def _most_counted(n: int, max_parents: int | None) -> int:
    return n if max_parents is None else min(n, max_parents + 1)


def _cost(decision: Decision, request: Request, n: int, question: str) -> _Cost:
    """Of all tables that are asked about: that of the user, and those that are drawn."""
    return _cost_of_one(decision, request, n, question).asked(_tables_of(question))


def _tables_of(question: str) -> int:
    return 1 + N_DRAWS if question == DRAWN else 1


def _slower() -> float:
    """Than on two cores."""
    return max(1.0, 2 / usable_cores())


def _cost_of_one(decision: Decision, request: Request, n: int, question: str) -> _Cost:
    table, kind = request.table, request.kind
    assert table is not None and kind is not None
    if not n:
        return _Cost(AT_LEAST, 0.0, 0.0)
    slower, limit = _slower(), decision.limit
    if isinstance(kind, MixedBIC):
        kind = within_columns(kind, table, scored_columns(table))
    if decision.scores_lists:
        cost = _search_cost(n, table, kind, limit, slower)
        if question in SUMS or question == "sample" or decision.engine in ON_ALL_SETS:  # few families, but all sets
            search = _search_seconds(decision.engine, n, question)
            cost = replace(cost, search=None if search is None else search * slower)
            tables = _bytes(decision, request, n, question)
            is_apart = decision.engine in ON_ALL_SETS  # what scoring takes is given back before
            return replace(cost, memory=max(cost.memory, tables) if is_apart else cost.memory + tables)
        return replace(cost, memory=cost.memory + _order_bytes(request, n, usable_cores()))
    scoring = _scoring_seconds(n, table, kind, limit)
    search = _search_seconds(decision.engine, n, question)
    memory = _bytes(decision, request, n, question)
    if isinstance(kind, SetScore):  # counting gives back what it took before anything is searched
        most = n if limit is None else limit
        counting = sum(bytes_to_count(table, scored_columns(table), kind, most, usable_cores()))
        memory = max(memory, counting if counting > LITTLE else 0)
    if isinstance(kind, BlockKind):
        making = bytes_of_blocks(table, scored_columns(table), kind, usable_cores())
        memory = max(memory, making if making > LITTLE else 0)
    if request.prior is not None and not isinstance(request.prior, OrderModular):
        memory += weighed_bytes(n)
    if not isinstance(kind.unconstrained, SetScore | MatrixScore):
        memory += family_bytes(n) - set_bytes(n)
    return _Cost(
        None if scoring is None else AT_LEAST + scoring * slower, None if search is None else search * slower, memory
    )


def _search_seconds(engine: Engine, n: int, question: str) -> float | None:
    """Once all sets are scored; None where it depends on the data."""
    if engine in (Engine.CONSTRAINED, Engine.ORDERS_WEIGHED, Engine.ORDER_SUM):
        return None
    if engine is Engine.NETWORK_SUM:
        return PER_PAIR["sums"] * 3.0**n
    if engine is Engine.LAYERS:
        return PER_PAIR["sample"] * 3.0**n + 1000 * PER_SAMPLE
    per_set = _lattice_seconds_per_set(n) + (PER_LISTED_SET if question in LISTS else 0.0)
    return per_set * 2.0**n


def _bytes(decision: Decision, request: Request, n: int, question: str) -> float:
    threads = usable_cores()
    if decision.n_ideals is not None:
        return set_bytes(n) + float(_core.ideal_lattice_bytes(n, decision.n_ideals, question in LISTS))
    return bytes_for_all_sets(n, question, threads, request.prior)


def _order_bytes(request: Request, n: int, threads: int) -> float:
    """Of tables over all orders, also where families stand in lists."""
    return order_prior_bytes(n, request.prior, threads) if isinstance(request.prior, OrderModular) else 0.0


def _lattice_seconds_per_set(n: int) -> float:
    return PER_LATTICE_SET * (1 + MORE_BEYOND * max(0, n - BEYOND))


def _scoring_seconds(n: int, table: Table, kind: ScoreKind, max_parents: int | None) -> float | None:
    """All sets; None where it depends on a function that is not ours."""
    per_set: float = PER_ROW * table.n_distinct + PER_SET
    if isinstance(kind, WhereNotSet):
        once = _scoring_seconds(n, table, kind.base, max_parents)
        return None if once is None else (1 + len(table.was_set)) * once
    if isinstance(kind, SetScore):
        arities = {int(arity) for arity in np.unique(table.arities) if arity > 1}
        formulas = 1 + sum(kind.below(table.n_rows, arity) is not None for arity in arities)
        most = _most_counted(n, max_parents)
        together = _seconds_to_count_together(table, most, n_sets_up_to(n, most))
        return formulas * (per_set * 2.0**n if together is None else together + PER_SET * 2.0**n)
    if isinstance(kind, MatrixScore):
        each = PER_BLOCKS if isinstance(kind, BlockKind) else PER_MINOR * (2 if isinstance(kind, BGe) else 1)
        return each * 2.0**n
    if isinstance(kind, MixedBIC):
        discrete = [int(arity) for arity in table.arities if arity > 1]
        states: float = min(math.prod(1 + arity for arity in discrete), table.n_distinct * 2 ** len(discrete))
        by_walks: float = PER_MINOR * states * 2.0 ** len(table.continuous)
        return by_walks + PER_SET * n * 2.0 ** (n - 1)
    if isinstance(kind, NAL):
        sets = affordable_sets(kind, table.n_rows, [int(table.arities[v]) for v in scored_columns(table)])
        return n * _seconds_for_an_average(table) * min(2.0 ** (n - 1), math.inf if sets is None else sets)
    return 2 * n * per_set * 2.0**n if isinstance(kind, BDs | BDe) else None


def _seconds_to_count_together(table: Table, most: int, sets: float) -> float | None:
    """So many sets of at most so many columns, where the rows are counted in tables of several columns; else None."""
    n_tables = _core.margin_tables(coded(table, scored_columns(table)), most, sets)
    return None if n_tables is None else table.n_distinct * PER_ROW_COUNTED * n_tables


def _seconds_for_an_average(table: Table) -> float:
    return PER_ROW_OF_AVERAGES * table.n_distinct + PER_SET


def _search_cost(n: int, table: Table, kind: ScoreKind, max_parents: int | None, slower: float) -> _Cost:
    """On lists: what scoring can take at most, where anything limits the parents."""
    if table.chunks is not None:
        margins = table.chunks.planned(_most_counted(n, max_parents), math.inf, usable_cores())
        each_row = PER_CELL_READ * table.n_variables + PER_ROW_COUNTED * margins.n_tables
        return _Cost(AT_LEAST + table.n_rows * each_row * slower, None, SEARCH_BYTES + margins.bytes)
    affordable = affordable_sets(kind, table.n_rows, [int(table.arities[v]) for v in scored_columns(table)])
    limited = None if max_parents is None else n_sets_up_to(n, max_parents + 1)
    limits = [limit for limit in (affordable, limited) if limit is not None]
    if not limits or kind.unconstrained is not kind:
        return _Cost(None, None, SEARCH_BYTES)
    counted = min(limits)
    per_set = BYTES_BY_PENALTY if affordable is not None else BYTES_BY_LIMIT
    each = n * _seconds_for_an_average(table) if isinstance(kind, NAL) else PER_ROW * table.n_distinct + PER_SET
    seconds = float(counted * each)
    if max_parents is not None and isinstance(kind, SetScore):
        together = _seconds_to_count_together(table, _most_counted(n, max_parents), counted)
        seconds = seconds if together is None else together + counted * PER_SET
    seconds = AT_LEAST + seconds * slower
    return _Cost(seconds, None, SEARCH_BYTES + per_set * counted)


def bytes_for_all_sets(n: int, question: str, threads: int, prior: Prior | None = None) -> float:
    """What tables over all sets take, the list itself not counted."""
    over_orders, edges = isinstance(prior, OrderModular), question != "evidence"
    if question in SUMS and over_orders:
        return set_bytes(n) + float(_core.order_sums_bytes(n, edges, question == "paths", 0, threads))
    if question in SUMS:
        return set_bytes(n) + float(_core.network_sums_bytes(n, edges, 0, False, threads))
    if question == "sample":
        return float(_core.sampling_bytes(n, over_orders)) + (60.0 * threads + 8) * 2.0**n
    if isinstance(prior, OrderModular):
        return set_bytes(n) + order_prior_bytes(n, prior, threads)
    if all_sets_choice(n, "").engine is Engine.BLOCKS:
        return set_bytes(n) + block_lattice_bytes(n, backward=question not in BESTS, threads=threads)
    # A list takes the backward table, and bounds of the families of as many variables as there are threads.
    return best_network_bytes(n) + (0 if question in BESTS else (1 + threads) * set_bytes(n))


def _advice(request: Request, n: int, question: str, allowed: int, cost: _Cost | None, long: float) -> str:
    """What to change: where it takes more than ``long`` seconds; without a cost where memory lacks."""
    kind, prior, threads = request.kind, request.prior, usable_cores()
    assert kind is not None
    fits = most_that_fit(lambda m: bytes_for_all_sets(m, question, threads, prior), allowed)
    if question in SUMS or question == "sample":
        return _advice_on_sums(prior, n, fits, question)
    if isinstance(prior, OrderModular):  # tables over all orders, however few families there are
        return f"{_leaving_out(max(1, n - fits))}, or take another prior"
    soon = max(LEAST_ADVISED, SHARE_OF_ADVISED * long)
    shorter = _ways_to_shorten(request, n, question, allowed, soon)
    too_many = 0 if cost is None else _columns_too_many(request, n, question, max(LEAST_ADVISED, long))
    if not isinstance(kind.unconstrained, SetScore | MatrixScore | NAL):
        fits = most_that_fit(lambda m: family_bytes(m) + bytes_for_all_sets(m, question, threads), allowed)
        return ", or ".join([_leaving_out(max(1, n - fits, too_many)), *shorter])
    if isinstance(kind, MatrixScore) and n > SEARCH_LIMIT:
        return _leaving_out(n - SEARCH_LIMIT)
    if n <= sizes().few:  # tables over all sets, however few parents are allowed
        room = f"{_leaving_out(n - fits) if n > fits else 'allow more memory'}, or "
        limit = "" if request.max_parents is not None else f"{_limiting_parents()}, or "
        limit = "".join(f"{way}, or " for way in shorter) or limit
        return f"{room if cost is None else limit}take fewer rows"
    ways = shorter or [f"{_limiting_parents()}, which leaves few sets"]
    most = min(fits, most_held(), n - too_many)
    return ", or ".join(ways) + (f"; or {_leaving_out(n - most)}" if n / 2 <= most < n else "")


def _ways_to_shorten(request: Request, n: int, question: str, allowed: int, soon: float) -> list[str]:
    """Options with which the question is planned to take no more than so many seconds, and to fit."""
    table, kind = request.table, request.kind
    assert table is not None and kind is not None
    limit, ways = request.max_parents, []
    for most in range(FEW_PARENTS if limit is None else min(FEW_PARENTS, limit - 1), 0, -1):
        if _is_soon(replace(request, max_parents=most), n, question, allowed, soon):
            ways.append(f"{_limiting_parents(most)}, which leaves few sets")
            break
    is_free = kind.unconstrained is kind and not isinstance(kind, CustomScore) and kind.numbers is None
    if is_free and not isinstance(kind, BIC | AIC | NAL | MatrixScore) and not table.incomplete:
        bic = kind_for(table, BIC())
        if kind != bic and _is_soon(replace(request, kind=bic), n, question, allowed, soon):
            said = worded('kind="bic"', option("score", "bic"))
            ways.append(f"use BIC ({said}), whose penalty leaves few sets too")
    return ways


def _is_soon(request: Request, n: int, question: str, allowed: int, soon: float) -> bool:
    try:
        decision = decide(request, QUESTIONS[question][0])
        _require_scorable(request, decision, n, allowed)
    except (ConstraintError, ScoreError, TooLarge):
        return False
    cost = _cost(decision, request, n, question)
    return cost.at_least is not None and cost.at_least <= soon and cost.memory <= allowed


def _limiting_parents(most: int | None = None) -> str:
    return f"limit the parents ({option('max_parents', most)})"


def _columns_too_many(request: Request, n: int, question: str, seconds: float) -> int:
    """For tables over all sets, of which each column doubles what they take; 0 where nothing is known of that."""
    table, kind = request.table, request.kind
    assert table is not None and kind is not None
    if table.chunks is not None or n > SEARCH_LIMIT:
        return 0
    engine = all_sets_choice(min(n, most_held()), "").engine
    scoring, search = _scoring_seconds(n, table, kind, None), _search_seconds(engine, n, question)
    if scoring is None or search is None:
        return 0
    total = (scoring + search) * _slower() * _tables_of(question)
    return min(n - 1, max(0, math.ceil(math.log2(total / seconds))))


def _advice_on_sums(prior: Prior | None, n: int, fits: int, question: str) -> str:
    if n > fits:
        return f"{averages()}, or {_leaving_out(n - fits)}"
    if isinstance(prior, OrderModular) or (question == "paths" and n > MOST_FOR_ORDER_PATHS):
        return averages()
    by_orders = option("prior", OrderModular(), shell="order-modular")
    return f"take {by_orders}, whose sums go over 2^n sets, or {averages()}"


def _leaving_out(columns: int) -> str:
    return f"leave out {columns} column{'s' * (columns > 1)} ({option('leave_out')})"


def _duration(seconds: float | None) -> str:
    if seconds is None:
        return "unknown"
    if seconds < 0.1:
        return "a moment"
    if seconds < 1:
        return "a second"
    if seconds < 120:
        return f"{math.ceil(seconds)} s"
    if seconds < 7200:
        return f"{math.ceil(seconds / 60)} minutes"
    return f"{math.ceil(seconds / 3600):,} hours" if seconds < A_YEAR else "years"
