"""``score``: every family of a table that a question can need."""

from __future__ import annotations

import math
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from topdag import _core
from topdag._util.brief import brief
from topdag._util.options import option
from topdag._util.progress import shown_meanwhile
from topdag._util.run import OnProgress, Run, is_whole
from topdag.data.convert import Reading, as_table
from topdag.data.table import Table
from topdag.errors import ScoreError
from topdag.scoring.all_sets import fill_store, note_on_degenerate
from topdag.scoring.choice import form_of_scores, kept_by_default
from topdag.scoring.keep import MOST_IN_A_LIST, Behind, KBest, Keep, keep_epsilon, kept_as, pruning_for
from topdag.scoring.kinds.discrete import NAL, KindLike, ScoreKind, as_kind
from topdag.scoring.kinds.for_table import scored_as
from topdag.scoring.kinds.interventions import kind_for
from topdag.scoring.probability_losses import less_losses, losses_of, require_room, together
from topdag.scoring.rounding import HOPELESS_NATS, SumsTooLarge, finest_for, round_store
from topdag.scoring.scores import Scores, cutoff_of
from topdag.scoring.task import Drawn, ScoringTask, compiled_for, scored_columns
from topdag.search.engines import Choice, Engine, set_bytes
from topdag.search.family_lists import FamilyLists
from topdag.search.stores import ListStore, MixedStore, SetStore, Store

if TYPE_CHECKING:
    from topdag.knowledge.compiled import CompiledConstraints
    from topdag.knowledge.constraints import Constraints
    from topdag.scoring.elsewhere import Elsewhere
    from topdag.scoring.pruned import PrunedScores


@brief
def score(
    table: Any,
    kind: KindLike = None,
    *,
    constraints: Constraints | None = None,
    max_parents: int | None = None,
    keep: Keep | None = None,
    memory_limit: int | str | None = None,
    threads: int | None = None,
    on_progress: OnProgress | None = None,
    executor: Any = None,
    **reading: Unpack[Reading],
) -> Scores:
    """Scores every family of a table (or frame, array, path) that a question can need.

    ``kind``: a score or its name; without one BDeu(1). How a frame, array or path is read is said as for ``Table`` and
    ``read_table``.

    ``keep="all"`` serves every question; ``"best"`` drops what one best network cannot need, ``Within(factor)``
    what no network within that Bayes factor of the best can need, ``KBest(k)`` what none of the k best networks (or
    classes, where the score is equivalent) can need, ties with the last of them included. Without ``keep``, all
    families are kept where tables over all sets pay; else those for the best network, and a question that needs
    more scores again by itself. ``constraints``: only networks that satisfy them count in any question about the
    scores; contradictions raise ConstraintError (docs/guides/constraints.md).

    ``executor``: who counts where families are listed, if not this process alone: processes or a cluster
    (docs/guides/clusters.md). The scores are the same.
    """
    run = Run(memory_limit=memory_limit, threads=threads, on_progress=on_progress, executor=executor)

    def find() -> Scores | None:
        check_constraints(constraints)
        if kind is not None:
            as_kind(kind)  # refuses what is no score before anything is read
        with shown_meanwhile("reading", run.line):
            mentioned = () if constraints is None else constraints.named
            read, scored_by = scored_as(as_table(table, reading, run.memory_limit, mentioned=mentioned), kind)
        return score_within(read, scored_by, run, max_parents=max_parents, keep=keep, constraints=constraints)

    scores = run.answer(find, lambda found: "nothing is known yet" if found is None else "all families were scored")
    assert scores is not None  # without a time limit only what is raised stops it
    return scores


def score_within(
    table: Table,
    kind: ScoreKind,
    run: Run,
    *,
    max_parents: int | None = None,
    keep: Keep | None = None,
    constraints: Constraints | None = None,
    relaxed: bool = False,
    listed: bool = False,
    form: Choice | None = None,
    drawn: Drawn | None = None,
) -> Scores | None:
    """``score`` inside a longer run; None when its time is up. ``relaxed``: only what each family tells counts;
    ``listed``: lists are wanted, so where penalties rule out much not all sets are counted; ``form``: how the table is
    scored, where that was decided already; ``drawn``: who may have scored this table together with others."""
    check_constraints(constraints)
    kind, constraints = together(kind, constraints)
    kind = kind_for(table, kind)
    check_max_parents(max_parents)
    kind.require_columns(table)
    if keep is not None:
        keep_epsilon(keep)  # checks it
    begin = run.seconds
    columns = scored_columns(table)
    require_room(table, columns, kind, max_parents)
    known = compiled_for(table, columns, constraints)
    if relaxed and known is not None:
        known = known.relaxed
    keep = keep or kept_by_default(table, columns, max_parents, known)
    require_keepable(keep, known)
    form = form or form_of_scores(table, columns, kind, max_parents, keep, known, listed=listed)
    by_lists = form.engine is Engine.SEARCH
    purpose = keep or ("best" if by_lists else "all")
    losses = losses_of(table, columns, kind)
    task = ScoringTask(table, columns, kind.unconstrained, max_parents, losses=losses, drawn=drawn)
    found = _scored(task, purpose, known, run, by_lists=by_lists)
    if found is None:
        return None
    return Scores(
        table.names,
        kind,
        table,
        max_parents,
        purpose,
        columns,
        found.store,
        found.grid,
        run.seconds - begin,
        (*table.notes, *(() if table.chunks is None else table.chunks.notes), *kind.notes_on(table), *found.notes),
        automatic=by_lists and keep is None,
        report=found.report,
        constraints=constraints if known is not None else None,
        compiled=known,
        left_out=found.left_out,
    )


def _scored(
    task: ScoringTask, purpose: Keep, known: CompiledConstraints | None, run: Run, *, by_lists: bool
) -> _ScoredStore | None:
    """None when the time is up."""
    with _who_counts(task, known, run) as elsewhere:
        if elsewhere is None and task.table.chunks is not None and task.columns:
            return None
        score_them = _score_lists if by_lists else _score_all_sets
        return score_them(replace(task, elsewhere=elsewhere), purpose, known, run)


def _who_counts(
    task: ScoringTask, known: CompiledConstraints | None, run: Run
) -> AbstractContextManager[Elsewhere | None]:
    """None: this process, from the rows of the table; where it has none, the time is up."""
    if task.table.chunks is not None:
        if not task.columns:
            return nullcontext()
        from topdag.scoring.elsewhere import counted_in_chunks

        limit = task.max_parents if known is None else known.limit_on_parents(task.max_parents)
        return nullcontext(counted_in_chunks(task.table, task.columns, limit, run))
    if run.executor is None:
        return nullcontext()
    from topdag.scoring.elsewhere import CountedElsewhere

    return CountedElsewhere(task.table, run)


def require_keepable(keep: Keep | None, known: CompiledConstraints | None) -> None:
    """Families may be dropped for the sake of smaller ones only where those may stand for them."""
    if keep in (None, "all") or known is None or known.is_local:
        return
    if isinstance(keep, KBest) or not known.rest.is_closed_under_removal:
        raise ScoreError(
            f"{kept_as(keep)} drops families that these constraints on several variables at once may need "
            f"({'; '.join(known.rest.lines(known.names))}). Leave {option('keep')} out, or use {option('keep', 'all')}."
        )


@dataclass(frozen=True)
class _ScoredStore:
    store: Store
    grid: int
    report: PrunedScores | None = None
    left_out: bool = False
    notes: tuple[str, ...] = ()


def _score_lists(task: ScoringTask, keep: Keep, known: CompiledConstraints | None, run: Run) -> _ScoredStore | None:
    task = replace(task, keep=pruning_for(keep))
    try:
        return _lists_of(task, known, run)
    except SumsTooLarge as error:
        total = error.total
    return _lists_of(replace(task, total=total, drawn=None), known, run)


def _lists_of(task: ScoringTask, known: CompiledConstraints | None, run: Run) -> _ScoredStore | None:
    if isinstance(task.kind, NAL):
        from topdag.scoring.node_averages import score_node_averages  # small questions open only what they need

        pruned = score_node_averages(_with_rules(task, known), run)
    elif known is None and not task.losses:
        from topdag.scoring.pruned_gaussian import score_worth_keeping

        pruned = score_worth_keeping(task, run)
    else:
        from topdag.scoring.allowed import score_allowed

        pruned = score_allowed(_with_rules(task, known), run)
    return None if pruned is None else _ScoredStore(pruned.store, pruned.grid, pruned)


def _with_rules(task: ScoringTask, known: CompiledConstraints | None) -> ScoringTask:
    if known is not None:
        return task.under(known)
    from topdag.knowledge.compiled import free_rules

    return replace(task, rules=free_rules(task.names))


def _score_all_sets(task: ScoringTask, keep: Keep, known: CompiledConstraints | None, run: Run) -> _ScoredStore | None:
    if not task.n:
        return _ScoredStore(SetStore(0, np.zeros(1), ()), 40)
    task = replace(task, max_parents=min(task.most_parents, task.n))
    if known is not None:
        task = task.under(known)
    limit = task.max_parents or 0
    filled = fill_store(task.table, task.columns, task.kind, limit, run)
    if filled is None:
        return None
    grid = round_store(filled, run.threads, finest=finest_for(task.n, task.table.n_rows))
    left_out = (known is not None or bool(task.losses)) and cutoff_of(filled, limit) < math.inf
    notes: tuple[str, ...] = ()
    if isinstance(filled, MixedStore):
        left_out = filled.hopeless > 0
        notes = (note_on_degenerate(filled),) if filled.degenerate else ()
    allowed: Store = filled
    if known is not None:
        from topdag.scoring.allowed import allowed_only

        found = allowed_only(filled, task, grid, run, is_whole=not left_out)
        if found is None:
            return None
        allowed, grid = found
    if task.losses:
        lessened = less_losses(allowed, task.losses, grid, run)
        if lessened is None:
            return None
        allowed, grid = lessened
    store = allowed if keep == "all" else _pruned(allowed, task, keep, grid, run)
    return None if store is None else _ScoredStore(store, grid, left_out=left_out, notes=notes)


def scored_again(
    scores: Scores, run: Run, keep: Keep, *, relaxed: bool | None = None, listed: bool = False
) -> Scores | None:
    """The same table scored with more families kept; None when the time is up."""
    assert scores.table is not None and scores.kind is not None
    return score_within(
        scores.table,
        scores.kind,
        run,
        max_parents=scores.max_parents,
        keep=keep,
        constraints=scores.constraints,
        relaxed=scores.is_relaxed if relaxed is None else relaxed,
        listed=listed,
    )


def scored_whole(scores: Scores, run: Run, *, relaxed: bool | None = None) -> Scores | None:
    """With all families that are allowed in lists; None when they are too many, their scores too far apart to be told
    on one grid, or the time is up."""
    from topdag.knowledge.compiled import free_rules
    from topdag.scoring.allowed import can_list_all

    rules = free_rules(scores.scored_names) if scores.compiled is None else scores.compiled.families
    if not can_list_all(rules, scores.max_parents):
        return None
    try:
        return scored_again(scores, run, Behind(math.inf), relaxed=relaxed)
    except ScoreError:
        return None


def scores_from_lists(lists: FamilyLists, **known: Any) -> Scores:
    """Scores with just these families allowed, as read from a score file."""
    n = len(lists.names)
    store = ListStore(n, lists, lists.scores.copy())
    options = {"kind": None, "table": None, "max_parents": None, "keep": "best", **known}
    grid = round_store(store, 1, only_best=options["keep"] == "best")
    columns = tuple(range(n))
    return Scores(names=lists.names, columns=columns, store=store, grid=grid, **options)


def check_constraints(constraints: object) -> None:
    if constraints is None:
        return
    from topdag.knowledge.constraints import Constraints

    if not isinstance(constraints, Constraints):
        raise ScoreError(
            "constraints must be Constraints, such as Constraints(required_edges=[...]), "
            f"not {type(constraints).__name__}; io.constraints_from makes them of what pgmpy and causal-learn have."
        )


def check_max_parents(max_parents: int | None) -> None:
    if max_parents is not None and not is_whole(max_parents, 0, MOST_IN_A_LIST):
        raise ScoreError(f"{option('max_parents')} must be a whole number from 0 on, or None, not {max_parents!r}.")


def _pruned(store: Store, task: ScoringTask, keep: Keep, grid: int, run: Run) -> Store | None:
    """What the question needs; None when the time is up."""
    if isinstance(keep, KBest):
        from topdag.scoring.dominance import store_for_k_best  # small questions open only what they need

        slack = math.ldexp(2.0, -grid)  # families that tie but for rounding stay too; best_network looks for them
        of_classes = task.kind.score_equivalent and not task.losses
        return store_for_k_best(
            store, task.names, keep.k, run, of_classes=of_classes, slack=slack, furthest=HOPELESS_NATS
        )
    held = store.n_bytes
    needed = held + set_bytes(store.n)  # two tables over the parent sets of one variable
    run.require_memory(
        needed, f"Pruning the families of {store.n} variables", f"Use {option('keep', 'all')}.", held=held
    )
    core, epsilon = store.core(), keep_epsilon(keep)
    return ListStore.of(task.names, [_core.families_worth_keeping(core, x, epsilon) for x in range(store.n)])
