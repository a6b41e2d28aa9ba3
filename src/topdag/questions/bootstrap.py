"""How sure an answer is, by the bootstrap: the same question on tables drawn from the rows of the table.

[Friedman, Goldszmidt & Wyner 1999]. Each draw is answered exactly. What the search on the table itself learned, its
best network and its cuts, is where the search on each draw begins, with the engine that proved it; draws do not depend
on each other, so the answers are the same in whatever order and place they are found.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, Unpack

from topdag._util.brief import brief
from topdag._util.messages import plural
from topdag._util.run import Run
from topdag._util.workers import Crew, crew
from topdag.answers.bootstrap import N_DRAWS, BootstrapFrequencies, Draw, draw_of
from topdag.answers.results import Answer, limit_text
from topdag.data.resample import require_rows_to_draw, resampled
from topdag.errors import ScoreError
from topdag.knowledge.priors import OrderModular, Prior
from topdag.questions.best import best_network, best_of
from topdag.questions.request import (
    Request,
    Said,
    Trail,
    asked_about,
    checked_count,
    checked_seed,
    lists_classes,
    run_stats,
)
from topdag.scoring.drawn import MOST, DrawnTogether
from topdag.scoring.keep import MOST_IN_A_LIST
from topdag.scoring.kinds.discrete import KindLike
from topdag.search.engines import Engine

if TYPE_CHECKING:
    from topdag.search.costs import Cluster

NO_DRAW = "no draw was done yet"
Asking = Callable[..., Any]


@brief
def bootstrap(
    source: Any,
    n: int = N_DRAWS,
    kind: KindLike = None,
    *,
    question: Asking = best_network,
    seed: int = 0,
    prior: Prior | None = None,
    **options: Unpack[Said],
) -> BootstrapFrequencies:
    """How often each edge comes back when the question is asked of n tables drawn from the rows, with replacement.

    Each draw is answered exactly. ``question``: best_network, or another whose answer tells of edges, such as
    edge_posteriors or ``functools.partial(k_best_networks, k=10)``. The same seed gives the same draws, and the same
    answer, with any ``executor`` and ``threads``; the first k are those of ``n=k``.

    ``executor``: who works on the draws, this process without one; a number of processes, "processes" for one for each
    core, a Dask client or the address of its scheduler ("tcp://..."), or any ``concurrent.futures.Executor``, as for
    every question (docs/guides/clusters.md). When ``time_limit`` comes first, the answer has the draws done by then;
    Ctrl-C raises Interrupted, which carries them as ``.answer``. Frequencies are no probabilities given the data: see
    docs/guides/bootstrap.md.
    """
    request, run = asked_about(source, kind, options, prior)
    return bootstrap_of(request, n, seed, run, question=question)


def bootstrap_of(
    request: Request, n: int, seed: int, run: Run, *, question: Asking = best_network
) -> BootstrapFrequencies:
    """Draws within the run's limits; on Ctrl-C raises Interrupted with the draws done."""
    _check(request, n, seed, question)
    _require_takes(question, _said(request, run))
    return run.answer(
        lambda: _frequencies(request, int(n), int(seed), run, question),
        lambda found: f"{plural(len(found.draws), 'draw')} of {found.asked_for:,} done",
    )


def _check(request: Request, n: object, seed: object, question: object) -> None:
    checked_count("n", n, 1, MOST_IN_A_LIST)
    checked_seed(seed)
    if not callable(question):
        raise ScoreError(f"question must be a function such as best_network, not {question!r}.")
    _require_one_argument(question)
    if request.table is None:
        raise ScoreError("A bootstrap draws rows, and these scores come without their table. Give the table.")
    require_rows_to_draw(request.table)


def _parameters(question: Asking) -> Mapping[str, Parameter]:
    """Those it is asked with. Raises ScoreError where Python does not know them, or partial() gave others."""
    try:
        return signature(question).parameters
    except (TypeError, ValueError) as error:
        raise ScoreError(f"question: {error}. Give a function, or functools.partial() of its own arguments.") from None


def _require_one_argument(question: Asking) -> None:
    """Raises ScoreError where a question needs more than a table."""
    needed = [
        name
        for name, own in list(_parameters(question).items())[1:]
        if own.default is own.empty and own.kind not in (own.VAR_POSITIONAL, own.VAR_KEYWORD)
    ]
    if needed:
        given = ", ".join(f"{name}=..." for name in needed)
        name = getattr(question, "__name__", "it")
        raise ScoreError(f"question: {name} needs {', '.join(needed)}: give functools.partial({name}, {given}).")


def _require_takes(question: Asking, said: Iterable[str]) -> None:
    """Raises ScoreError where a question does not take what each draw is asked with."""
    parameters = _parameters(question)
    if any(own.kind is own.VAR_KEYWORD for own in parameters.values()):
        return
    unknown = [name for name in said if name not in parameters]
    if unknown:
        raise ScoreError(
            f"question: draws are asked with {', '.join(f'{name}=' for name in unknown)}, which this function does not "
            "take. Give one with **said and hand that on, as in td.edge_posteriors(table, **said)."
        )


@dataclass(frozen=True)
class _Task:
    """What all draws need. ``request``: about the table itself, with its best network to begin with."""

    request: Request
    seed: int
    question: Asking
    clusters: Sequence[Cluster]

    @property
    def by_class(self) -> bool:
        return lists_classes(self.request.kind, self.request.prior, self.request.constraints)

    @property
    def most_together(self) -> int:
        return MOST if self.question is best_network else 1

    def together(self, draws: Sequence[int]) -> DrawnTogether:
        assert self.request.table is not None
        return DrawnTogether(self.request.table, self.seed, draws)


def _frequencies(request: Request, n: int, seed: int, run: Run, question: Asking) -> BootstrapFrequencies:
    first, task = _begin(request, seed, question, run)
    found: dict[int, Draw] = {}
    if not run.is_over:
        with crew(task, run, run.executor) as workers:
            found = _draws_done(task, n, workers, run)
    # What ends first is not typical: the draws up to the first that is not there are.
    done = tuple(found[place] for place in range(next((i for i in range(n) if i not in found), n)))
    if not done:
        raise run.cut_short("bootstrap", NO_DRAW)
    limit = limit_text(run.limit) if len(done) < n else None
    stats = run_stats(None, run, "bootstrap", {"draws": len(done)})
    name = getattr(getattr(question, "func", question), "__name__", "a question")  # that of a partial stands inside
    return BootstrapFrequencies(
        request.known_names,
        done,
        n,
        seed,
        name,
        first,
        limit,
        stats,
        request.notes,
        request.table,
        request.kind,
        task.by_class,
    )


def _begin(request: Request, seed: int, question: Asking, run: Run) -> tuple[Answer | None, _Task]:
    """The best network of the table itself, where that is the question, and what it teaches."""
    if question is not best_network:
        return None, _Task(replace(request, scores=None), seed, question, ())
    trail = Trail(request)
    try:
        first = best_of(trail, run)
    except BaseException as error:
        if run.stopped_by is None:
            raise
        raise run.cut_short("bootstrap", NO_DRAW) from error
    known = trail.standing
    # Where order search was in vain, it is so for draws too, as a rule.
    by_cuts = known is not None and known.method == Engine.CUTS.value and request.constraints is None
    start = None if isinstance(request.prior, OrderModular) else first.network  # its search takes none
    learned = replace(request, scores=None, start=start, engine=Engine.CUTS if by_cuts else None)
    return first, _Task(learned, seed, question, () if known is None else tuple(known.clusters))


def _draws_done(task: _Task, n: int, workers: Crew, run: Run) -> dict[int, Draw]:
    """Here draws are done one after the other, elsewhere a block of them is a task."""
    found: dict[int, Draw] = {}

    def watch(_: int) -> None:
        run.tick("drawing", len(found), n)

    are_growing = run.seconds_left is not None
    if run.executor is None:
        blocks = _blocks(n, task.most_together, are_growing=are_growing)
        tasks = ((together, draw) for block in blocks for together in [task.together(block)] for draw in block)
        for place, done in workers.work_on(_drawn, tasks, watch):
            if done is not None:
                found[place] = done
        return found
    rounds = math.ceil(n / (workers.n_workers * task.most_together))
    blocks = _blocks(n, math.ceil(n / (workers.n_workers * rounds)), are_growing=are_growing)
    for _, draws in workers.work_on(_block_drawn, blocks, watch):
        found.update(draws)
    return found


def _blocks(n: int, size: int, *, are_growing: bool) -> Iterator[range]:
    """Draws that are scored together. ``are_growing``: the first blocks are small, so that a time limit finds some
    draws done."""
    begin, now = 0, 1 if are_growing else size
    while begin < n:
        yield range(begin, min(n, begin + now))
        begin, now = begin + now, min(size, 2 * now)


def _block_drawn(task: _Task, draws: range, run: Run) -> dict[int, Draw]:
    """In whatever process; fewer when the time is up."""
    together, found = task.together(draws), dict[int, Draw]()
    for draw in draws:
        try:
            done = _drawn(task, (together, draw), run)
        except Exception:
            if run.stopped_by is None:
                raise
            done = None
        if done is None:
            break
        found[draw] = done
    return found


def _drawn(task: _Task, one: tuple[DrawnTogether, int], run: Run) -> Draw | None:
    """None when the time is up."""
    request, (together, draw) = task.request, one
    assert request.table is not None
    table = resampled(request.table, task.seed, draw)
    try:
        if task.question is best_network:
            request = replace(request, table=table, drawn=partial(together.families, draw))
            answer = best_of(Trail(request, clusters=task.clusters), run)
        else:
            answer = task.question(table, **_said(request, run))
        return None if run.is_over else draw_of(answer, by_class=task.by_class)
    except Exception as error:
        if type(error) is ScoreError:
            raise ScoreError(f"In draw {draw}, a table of rows drawn from yours: {error}") from error
        error.add_note(f"This was draw {draw} of a bootstrap.")
        raise


def _said(request: Request, run: Run) -> dict[str, Any]:
    said = {
        "kind": request.kind,
        "prior": request.prior,
        "constraints": request.constraints,
        "max_parents": request.max_parents,
        **run.left,
    }
    return {name: value for name, value in said.items() if value is not None}
