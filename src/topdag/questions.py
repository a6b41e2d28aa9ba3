"""One function per question. Each takes Scores, or a table, frame, array or path, which it scores with BDeu(1)."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from topdag import _core
from topdag.block_lattice import build_block_lattice, plan_block_lattice
from topdag.engines import ON_LISTS, Engine, engine_for_best, named_engine, plan_lattice, scores_by_lists
from topdag.errors import Interrupted, ScoreError
from topdag.graphs import Network
from topdag.greedy import climb
from topdag.results import Answer, Proof, Stats, Status
from topdag.runs import OnProgress, Run, peak_memory
from topdag.score_kinds import BDeu, ScoreKind, coded
from topdag.scores import Keep, Scores, as_table, score_within, scored_columns
from topdag.searching import Standing, listed_network, search_best
from topdag.stores import ListStore
from topdag.table import Table

SECONDS_FOR_A_LAST_LOOK = 0.5
"""How long a stopped search may still take to find a network to show, and again for a bound."""


def best_network(
    source: Any,
    *,
    start: Network | None = None,
    engine: str | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    time_limit: float | None = None,
    memory_limit: int | str | None = None,
    threads: int | None = None,
    on_progress: OnProgress | None = None,
) -> Answer:
    """The network with the highest score, proved.

    ``answer.proof.status`` is PROVED when no network in ``answer.proof.space`` scores more. When ``time_limit``
    (seconds) comes first, the answer is some network with a bound that no network exceeds. Ctrl-C raises
    Interrupted, which carries the same as ``.answer``. Ties are broken in a fixed way (docs/method.md).

    ``start``: a network to begin with; a search never answers with a worse one. ``engine``: one of "dense lattice",
    "block lattice", "search", "order search" and "branch and cut", in place of the one chosen. ``checkpoint``: a file
    in which a search leaves how it stands every few seconds, and from which it goes on when asked the same again.
    """
    run = Run(time_limit=time_limit, memory_limit=memory_limit, threads=threads, on_progress=on_progress)
    asked = Asked.from_scores(source) if isinstance(source, Scores) else Asked(as_table(source), BDeu())
    asked.start = _checked_start(start, asked)
    asked.wanted_engine = None if engine is None else named_engine(engine)
    asked.checkpoint = None if checkpoint is None else Path(checkpoint)
    return best_of(asked, run)


def _checked_start(start: object, asked: Asked) -> Network | None:
    if start is None:
        return None
    if not isinstance(start, Network):
        raise ScoreError(f"start must be a Network, not {type(start).__name__}.")
    known = asked.scores if asked.scores is not None else asked.table
    if known is not None and set(start.names) != set(known.names):
        raise ScoreError("start must have the variables of the scores: " + ", ".join(known.names) + ".")
    return start


@dataclass
class Asked:
    """A question about the best network while it is being answered: what was given and what is known so far."""

    table: Table | None
    kind: ScoreKind | None
    max_parents: int | None = None
    scores: Scores | None = None
    start: Network | None = None
    wanted_engine: Engine | None = None
    checkpoint: Path | None = None
    engine: str = "none"
    reason: str = ""
    best_alone: Sequence[float] = ()
    standing: Standing | None = None

    @classmethod
    def from_scores(cls, scores: Scores) -> Asked:
        return cls(scores.table, scores.kind, scores.max_parents, scores)


def best_of(asked: Asked, run: Run) -> Answer:
    """Answers within the run's limits; on Ctrl-C raises Interrupted with what is known."""
    try:
        answer = _proved(asked, run)
        if answer is not None:
            return answer
        return _stopped(asked, run, "time_limit" if asked.standing is None else asked.standing.limit)
    except KeyboardInterrupt:
        answer = _stopped(asked, run, "Ctrl-C")
        raise Interrupted(f"Interrupted after {run.seconds:.1f} s; {answer.proof}", answer) from None


def _proved(asked: Asked, run: Run) -> Answer | None:
    """The full search; None when the time is up before it ends."""
    if asked.scores is None:
        asked.scores = _scored(asked, run)
    if asked.scores is None or run.is_over:
        return None
    scores = asked.scores
    n = len(scores.columns)
    if n == 0:
        return _answer(asked, run, scores.network([]), Status.PROVED, None)
    choice = engine_for_best(n, listed=isinstance(scores.store, ListStore), wanted=asked.wanted_engine)
    asked.engine, asked.reason = choice.engine.value, choice.reason
    if choice.engine in ON_LISTS:
        return _searched(asked, scores, run, choice.engine)
    if choice.engine is Engine.BLOCKS:
        return _by_blocks(asked, scores, run)
    return _by_lattice(asked, scores, run)


def _scored(asked: Asked, run: Run) -> Scores | None:
    table, kind = asked.table, asked.kind
    assert table is not None and kind is not None
    n = len(scored_columns(table))
    choice = scores_by_lists(n, table.n_rows, kind, asked.max_parents, everything=False)
    # What cannot be answered is not scored either.
    engine = asked.wanted_engine or choice.engine
    if engine is Engine.DENSE and n:
        plan_lattice(n, run)
    if engine is Engine.BLOCKS and n:
        plan_block_lattice(n, run, backward=False)
    keep: Keep | None = "best" if asked.wanted_engine in ON_LISTS else None
    return score_within(table, kind, run, max_parents=asked.max_parents, keep=keep)


def _searched(asked: Asked, scores: Scores, run: Run, engine: Engine) -> Answer | None:
    """The best network of listed families; None when the time is up."""
    if not isinstance(scores.store, ListStore):
        raise ScoreError(f'The engine "{engine.value}" works on listed families: score with keep="best".')
    start = None if asked.start is None else scores.masks_of(asked.start)
    standing = asked.standing = Standing.begin(scores.store, run, start)
    finished = search_best(standing, run, checkpoint=asked.checkpoint, engine=engine)
    asked.engine = f"{asked.engine}: {standing.method}"
    if not finished:
        return None
    if standing.masks is None:
        return _answer(asked, run, None, Status.INFEASIBLE, None)
    return _answer(asked, run, scores.network(standing.masks), Status.PROVED, None)


def _by_blocks(asked: Asked, scores: Scores, run: Run) -> Answer | None:
    plan_block_lattice(len(scores.columns), run, backward=False, held=sum(a.nbytes for a in scores.store.arrays))
    lattice = build_block_lattice(scores.store.core(), run, backward=False)
    if lattice is None:
        return None
    value, parents = lattice.read_back(scores.slack)
    if value == -math.inf:
        return _answer(asked, run, None, Status.INFEASIBLE, None)
    return _answer(asked, run, scores.network(parents), Status.PROVED, None)


def _by_lattice(asked: Asked, scores: Scores, run: Run) -> Answer | None:
    n = len(scores.columns)
    plan_lattice(n, run, held=sum(array.nbytes for array in scores.store.arrays))
    found = _core.best_network(scores.store.core(), scores.slack, run.threads, run.seconds_left, run.on_tick)
    run.phases |= {"sweeping": found.sweep_seconds, "ordering": found.order_seconds}
    asked.best_alone = found.best_alone
    if not found.finished:
        return None
    if found.score == -math.inf:
        return _answer(asked, run, None, Status.INFEASIBLE, None)
    return _answer(asked, run, scores.network(found.parents), Status.PROVED, None)


def _stopped(asked: Asked, run: Run, limit: str) -> Answer:
    """Some network and a bound, from whatever is known."""
    standing = asked.standing
    if standing is not None and standing.masks is not None and asked.scores is not None:
        return _answer(asked, run, asked.scores.network(standing.masks), Status.STOPPED, limit)
    return _answer(asked, run, _better(asked, _quick_network(asked)), Status.STOPPED, limit)


def _better(asked: Asked, quick: Network | None) -> Network | None:
    """The better of the network given to begin with and one found quickly."""
    given = _given_network(asked)
    if given is None or given.score is None:
        return quick
    return given if quick is None or quick.score is None or given.score > quick.score else quick


def _given_network(asked: Asked) -> Network | None:
    start, scores, table, kind = asked.start, asked.scores, asked.table, asked.kind
    if start is None:
        return None
    if scores is not None and isinstance(scores.store, ListStore):
        listed = listed_network(scores.store, scores.masks_of(start))
        return None if listed is None else scores.network(listed.masks)
    if scores is not None:
        masks = scores.masks_of(start)
        is_allowed = all(scores.store.value(x, mask) > -math.inf for x, mask in enumerate(masks))
        return scores.network(masks) if is_allowed else None
    if table is None or kind is None:
        return None
    if asked.max_parents is not None and any(len(own) > asked.max_parents for own in start.parents.values()):
        return None
    values = {
        name: kind.local(table, table.index(name), sorted(table.index(p) for p in start.parents[name]))
        for name in table.names
    }
    return Network(table.names, start.parents, values)


def _answer(asked: Asked, run: Run, network: Network | None, status: Status, limit: str | None) -> Answer:
    value = -math.inf if network is None or network.score is None else network.score
    bound = max(upper_bound(asked), value) if status is Status.STOPPED else value
    gap = bound - value if status is Status.STOPPED else 0.0
    notes = asked.table.notes if asked.table is not None else ()
    return Answer(
        network, value, Proof(status, bound, gap, limit, space_of(asked)), _stats(asked, run), asked.kind, notes
    )


def space_of(asked: Asked) -> str:
    """The networks a question is about, in words."""
    if asked.scores is not None:
        return asked.scores.describe_space()
    assert asked.table is not None
    limit = "any number of parents" if asked.max_parents is None else f"at most {asked.max_parents} parents each"
    return f"all networks on {asked.table.n_variables} variables with {limit}"


def _stats(asked: Asked, run: Run) -> Stats:
    phases = dict(run.phases)
    if asked.scores is not None and "counting" not in phases:
        phases["counting"] = asked.scores.seconds
    return Stats(
        seconds=run.seconds,
        phases=phases,
        threads=run.threads,
        memory=run.memory,
        peak_memory=peak_memory(),
        sets=0 if asked.scores is None else asked.scores.n_sets,
        families=0 if asked.scores is None else asked.scores.n_families,
        engine=asked.engine,
        reason=asked.reason,
        work={} if asked.standing is None else dict(asked.standing.work),
    )


def _quick_network(asked: Asked) -> Network | None:
    last_look = Run(time_limit=SECONDS_FOR_A_LAST_LOOK)
    scores, table, kind = asked.scores, asked.table, asked.kind
    if scores is not None:
        n = len(scores.columns)
        masks = climb(
            scores.store.value, n, n if asked.max_parents is None else asked.max_parents, lambda: last_look.is_over
        )
        return None if masks is None else scores.network(masks)
    assert table is not None and kind is not None

    values: dict[tuple[int, int], float] = {}

    def local(x: int, mask: int) -> float:
        if last_look.is_over and mask:
            return -math.inf  # no time for more parents
        values[x, mask] = kind.local(table, x, [v for v in range(table.n_variables) if mask >> v & 1])
        return values[x, mask]

    limit = table.n_variables if asked.max_parents is None else asked.max_parents
    masks = climb(local, table.n_variables, limit, lambda: last_look.is_over)
    assert masks is not None  # the empty network is always allowed
    scores_by_name = {name: values[x, masks[x]] for x, name in enumerate(table.names)}
    return Network.from_masks(table.names, masks, local_scores=scores_by_name)


def upper_bound(asked: Asked) -> float:
    """No network scores more. The sum over variables of the best each could reach with any parents at all.

    Values on the grid may lie below the scores in full precision that answers report, by a step each.
    """
    slack = 0.0 if asked.scores is None else len(asked.scores.columns) * math.ldexp(1.0, -asked.scores.grid)
    if asked.standing is not None:
        return asked.standing.bound + slack
    if asked.best_alone:
        return math.fsum((*asked.best_alone, slack))
    if asked.scores is not None and isinstance(asked.scores.store, ListStore):
        lists = asked.scores.store.lists
        return math.fsum((*(float(lists.scores[begin]) for begin in lists.offsets[:-1]), slack))  # best first
    if asked.table is not None and asked.kind is not None:
        return math.fsum(_likelihood_bounds(asked.table, asked.kind))
    return math.inf


def _likelihood_bounds(table: Table, kind: ScoreKind) -> list[float]:
    """Per variable: its log likelihood given all others, which no parents can exceed, less the least penalty.

    Every discrete score here is at most the log likelihood of its family: Dirichlet scores are averages of
    likelihoods, the others likelihoods less a penalty.
    """
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
