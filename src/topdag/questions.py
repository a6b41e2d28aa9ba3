"""One function per question. Each takes Scores, or a table, frame, array or path, which it scores with BDeu(1)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from topdag import _core
from topdag.engines import plan_lattice
from topdag.errors import Interrupted
from topdag.graphs import Network
from topdag.greedy import climb
from topdag.results import Answer, Proof, Stats, Status
from topdag.runs import OnProgress, Run, peak_memory
from topdag.score_kinds import BDeu, ScoreKind, coded
from topdag.scores import Scores, as_table, score_within
from topdag.stores import ListStore
from topdag.table import Table

SECONDS_FOR_A_LAST_LOOK = 0.5
"""How long a stopped search may still take to find a network to show, and again for a bound."""


def best_network(
    source: Any,
    *,
    time_limit: float | None = None,
    memory_limit: int | str | None = None,
    threads: int | None = None,
    on_progress: OnProgress | None = None,
) -> Answer:
    """The network with the highest score, proved.

    ``answer.proof.status`` is PROVED when no network in ``answer.proof.space`` scores more. When ``time_limit``
    (seconds) comes first, the answer is some network with a bound that no network exceeds. Ctrl-C raises
    Interrupted, which carries the same as ``.answer``. Ties are broken in a fixed way (docs/method.md).
    """
    run = Run(time_limit=time_limit, memory_limit=memory_limit, threads=threads, on_progress=on_progress)
    if isinstance(source, Scores):
        return best_of(Asked.from_scores(source), run)
    return best_of(Asked(as_table(source), BDeu()), run)


@dataclass
class Asked:
    """A question about the best network while it is being answered: what was given and what is known so far."""

    table: Table | None
    kind: ScoreKind | None
    max_parents: int | None = None
    scores: Scores | None = None
    engine: str = "none"
    best_alone: Sequence[float] = ()

    @classmethod
    def from_scores(cls, scores: Scores) -> Asked:
        return cls(scores.table, scores.kind, scores.max_parents, scores)


def best_of(asked: Asked, run: Run) -> Answer:
    """Answers within the run's limits; on Ctrl-C raises Interrupted with what is known."""
    try:
        return _proved(asked, run) or _stopped(asked, run, "time_limit")
    except KeyboardInterrupt:
        answer = _stopped(asked, run, "Ctrl-C")
        raise Interrupted(f"Interrupted after {run.seconds:.1f} s; {answer.proof}", answer) from None


def _proved(asked: Asked, run: Run) -> Answer | None:
    """The full search; None when the time is up before it ends."""
    if asked.scores is None:
        assert asked.table is not None and asked.kind is not None
        plan_lattice(int((asked.table.arities > 1).sum()) or 1, run)  # what cannot be answered is not scored either
        asked.scores = score_within(asked.table, asked.kind, run, max_parents=asked.max_parents)
    if asked.scores is None or run.is_over:
        return None
    scores = asked.scores
    n = len(scores.columns)
    if n == 0:
        return _answer(asked, run, scores.network([]), Status.PROVED, None)
    asked.engine = plan_lattice(n, run, held=sum(array.nbytes for array in scores.store.arrays))
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
    return _answer(asked, run, _quick_network(asked), Status.STOPPED, limit)


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
    n = 0 if asked.scores is None else len(asked.scores.columns)
    phases = dict(run.phases)
    if asked.scores is not None and "counting" not in phases:
        phases["counting"] = asked.scores.seconds
    return Stats(
        seconds=run.seconds,
        phases=phases,
        threads=run.threads,
        memory=run.memory,
        peak_memory=peak_memory(),
        sets=2**n,
        families=0 if asked.scores is None else asked.scores.n_families,
        engine=asked.engine,
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
