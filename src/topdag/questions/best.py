"""One function per question. Each takes Scores, or a table, frame, array or path, which it scores with BDeu(1)."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

from topdag import _core
from topdag._util.run import OnProgress, Run
from topdag.answers.results import Answer, Proof, Status
from topdag.constrained.cycle_rules import search_by_cycles
from topdag.constrained.rescored_lists import can_be_scored_wider
from topdag.constrained.splitting import Listed, search_constrained
from topdag.errors import ScoreError
from topdag.knowledge.priors import OrderModular, Prior
from topdag.networks.network import Network
from topdag.questions.order_prior import require_few
from topdag.questions.order_questions import best_by_orders
from topdag.questions.request import SECONDS_FOR_A_LAST_LOOK, Asked, space_of, stats_of, upper_bound
from topdag.scoring.choice import scores_by_lists
from topdag.scoring.keep import Keep
from topdag.scoring.kinds.base import NotAllowed
from topdag.scoring.score import score_within, scored_columns
from topdag.scoring.scores import Scores
from topdag.scoring.with_prior import scores_with
from topdag.search.best import Standing, listed_network, search_best
from topdag.search.engines import (
    ON_LISTS,
    Engine,
    OrderBound,
    engine_for_best,
    named_bound,
    named_engine,
    plan_lattice,
    require_takes,
)
from topdag.search.greedy import climb
from topdag.search.lattice import build_block_lattice, ideal_lattice_of, n_ideals_if_few, plan_block_lattice
from topdag.search.precedence_lists import placed_lists


def best_network(
    source: Any,
    *,
    prior: Prior | None = None,
    start: Network | None = None,
    engine: str | None = None,
    bound: str | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    time_limit: float | None = None,
    memory_limit: int | str | None = None,
    threads: int | None = None,
    on_progress: OnProgress | None = None,
) -> Answer:
    """The network with the highest score, proved.

    ``answer.proof.status`` is PROVED when no network in ``answer.proof.space`` scores more. When ``time_limit``
    (seconds) comes first, the answer is some network with a bound that no network exceeds. Ctrl-C raises
    Interrupted, which carries the same as ``.answer``. Ties are broken in a fixed way (docs/method.md); where several
    networks are best, another of them may be the first of a list.

    ``prior``: OrderModular(), EdgePrior(...) or FairPrior(); then ``answer.score`` and the bound are data score plus
    log weight of the prior, and ``answer.network.score`` stays the data's. Without one all networks weigh the same.
    ``start``: a network to begin with; a search never answers with a worse one. ``engine``: one of "dense lattice",
    "block lattice", "search", "order search", "branch and cut" and "branching", in place of the one chosen.
    ``bound``, of "order search": "simple", "static" or "dynamic", as published, or "cluster", as without it.
    ``checkpoint``: a file in which a search leaves how it stands every few seconds, and from which it goes on when
    asked the same again.
    """
    run = Run(time_limit=time_limit, memory_limit=memory_limit, threads=threads, on_progress=on_progress)
    asked = Asked.about(source, prior)
    asked.start = _checked_start(start, asked)
    asked.wanted_engine = None if engine is None else named_engine(engine)
    asked.wanted_bound = None if bound is None else named_bound(bound, asked.wanted_engine)
    asked.checkpoint = _checked_path(checkpoint)
    return best_of(asked, run)


def _checked_path(checkpoint: object) -> Path | None:
    if checkpoint is not None and not isinstance(checkpoint, str | os.PathLike):
        raise ScoreError(f"checkpoint must be the name of a file, not {checkpoint!r}.")
    return None if checkpoint is None else Path(checkpoint)


def _checked_start(start: object, asked: Asked) -> Network | None:
    if start is None:
        return None
    if not isinstance(start, Network):
        raise ScoreError(f"start must be a Network, not {type(start).__name__}.")
    known = asked.scores if asked.scores is not None else asked.table
    if known is not None and set(start.names) != set(known.names):
        raise ScoreError("start must have the variables of the scores: " + ", ".join(known.names) + ".")
    return start


def best_of(asked: Asked, run: Run) -> Answer:
    """Answers within the run's limits; on Ctrl-C raises Interrupted with what is known."""
    return run.answer(lambda: _proved(asked, run) or _stopped(asked, run), lambda answer: str(answer.proof))


def _proved(asked: Asked, run: Run) -> Answer | None:
    """The full search; None when the time is up before it ends."""
    if asked.scores is None:
        asked.scores = _scored(asked, run)
    if asked.scores is None or run.is_over:
        return None
    if asked.prior is not None and asked.scores.prior is None and not isinstance(asked.prior, OrderModular):
        asked.scores = scores_with(asked.scores, asked.prior, run)
    if isinstance(asked.prior, OrderModular):
        asked.scores.require_local("An order-modular prior", order=True)
        return best_by_orders(asked, run)
    if _needs_splitting(asked, asked.scores):
        return _by_splitting(asked, asked.scores, run)
    return _by_families(asked, asked.scores, run)


def _needs_splitting(asked: Asked, scores: Scores) -> bool:
    """Whether constraints speak of more than families and an order; branching sees to orders by itself."""
    return scores.beyond_order is not None or (scores.rest is not None and asked.wanted_engine is Engine.CYCLES)


def _by_families(asked: Asked, scores: Scores, run: Run) -> Answer | None:
    """The best of all networks of families that have a score; None when the time is up."""
    n = len(scores.columns)
    if n == 0:
        return _answer(asked, run, scores.network([]), Status.PROVED, None)
    choice = engine_for_best(n, listed=scores.store.is_listed, wanted=asked.wanted_engine)
    asked.engine, asked.reason = choice.engine.value, choice.reason
    if choice.engine in ON_LISTS:
        return _searched(asked, scores, run, choice.engine)
    n_ideals = n_ideals_if_few(scores.store, scores.before) if asked.wanted_engine is None else None
    if n_ideals is not None:
        return _by_ideals(asked, scores, n_ideals, run)
    if choice.engine is Engine.BLOCKS:
        return _by_blocks(asked, scores, run)
    return _by_lattice(asked, scores, run)


def _scored(asked: Asked, run: Run) -> Scores | None:
    table, kind = asked.table, asked.kind
    assert table is not None and kind is not None
    n = len(scored_columns(table))
    everything = asked.prior is not None and not asked.prior.favours_fewer_parents
    choice = scores_by_lists(n, table.n_rows, kind, asked.max_parents, everything=everything)
    # What cannot be answered is not scored either.
    if isinstance(asked.prior, OrderModular):
        require_few(n, asked.prior)
    engine = asked.wanted_engine or choice.engine
    if engine is Engine.DENSE and n:
        plan_lattice(n, run)
    if engine is Engine.BLOCKS and n:
        plan_block_lattice(n, run, backward=False)
    keep: Keep | None = "all" if everything else "best" if asked.wanted_engine in ON_LISTS else None
    return score_within(table, kind, run, max_parents=asked.max_parents, keep=keep, constraints=asked.constraints)


def _by_splitting(asked: Asked, scores: Scores, run: Run) -> Answer:
    """The best network under constraints on several variables at once."""
    wanted = asked.wanted_engine
    if wanted is not None:
        require_takes(wanted, len(scores.columns))
    for what, is_given in (
        ("engine", wanted is not None and not _takes_constraints(wanted, scores)),
        ("checkpoint", asked.checkpoint is not None),
    ):
        if is_given:
            raise ScoreError(f"{what} does not go with constraints on several variables at once.")

    def best_of_part(part: Scores, _: int, __: float) -> Listed | None:
        own = Asked.from_scores(part)
        # The whole tells only how far lists must reach: whatever is quickest will do.
        is_part_of_lists = part.store.is_listed and part.store is not scores.store
        if is_part_of_lists:
            own.wanted_engine, own.wanted_bound = wanted, asked.wanted_bound
        answer = _proved(own, run)
        asked.engine = own.engine
        if answer is None or answer.network is None:
            return None if answer is None else Listed((), (), is_whole=True)
        masks = tuple(part.masks_of(answer.network))
        value = part.store.value_of(masks)
        return Listed((value,), (masks,), is_whole=False)

    by_cycles = search_by_cycles if wanted is Engine.CYCLES else None
    found = search_constrained(scores, best_of_part, run, most=1, on_lists=by_cycles)
    is_by_rows = found.rows > 0 or (found.engine is None and asked.engine == "none")  # no part was searched by itself
    asked.engine = "branch and cut with rows" if is_by_rows else found.engine or f"splitting, {asked.engine}"
    asked.reason = "constraints speak of several variables at once"
    asked.counted = {"parts": found.parts} | ({"rows": found.rows} if found.rows else {})
    network = next((scores.network(masks) for _, masks in found.best(1)), None)
    if found.limit is None:
        return _answer(asked, run, network, Status.INFEASIBLE if network is None else Status.PROVED, None)
    asked.most = found.bound
    return _answer(asked, run, _better(asked, network), Status.STOPPED, found.limit)


def _takes_constraints(engine: Engine, scores: Scores) -> bool:
    """Whether it searches lists, and there are some; branching has them made."""
    return engine in ON_LISTS and (scores.store.is_listed or (engine is Engine.CYCLES and can_be_scored_wider(scores)))


def _searched(asked: Asked, scores: Scores, run: Run, engine: Engine) -> Answer | None:
    """The best network of listed families; None when the time is up."""
    if not scores.store.is_listed:
        raise ScoreError(f'The engine "{engine.value}" works on listed families: score with keep="best".')
    if asked.wanted_bound is not None and asked.checkpoint is not None:
        raise ScoreError(
            "bound does not go with checkpoint, which is for the search that topdag chooses. Leave out one."
        )
    start = None if asked.start is None else scores.masks_of(asked.start)
    store = scores.store.listed
    if scores.rest is not None and scores.compiled is not None:
        asked.placed = placed_lists(store, scores.order)
        obeys = start is not None and scores.rest.allows(start, scores.compiled.names)
        store, start = asked.placed.store, asked.placed.within(start) if start is not None and obeys else None
    standing = asked.standing = Standing.begin(store, run, start)
    bound = asked.wanted_bound or OrderBound.CLUSTER
    finished = search_best(standing, run, checkpoint=asked.checkpoint, engine=engine, bound=bound)
    asked.engine = f"{asked.engine}: {standing.method}"
    if not finished:
        return None
    if asked.standing_masks is None:
        return _answer(asked, run, None, Status.INFEASIBLE, None)
    return _answer(asked, run, scores.network(asked.standing_masks), Status.PROVED, None)


def _by_ideals(asked: Asked, scores: Scores, n_ideals: int, run: Run) -> Answer | None:
    """By the few sets that can come first."""
    asked.engine, asked.reason = (
        "lattice of ideals",
        f"{n_ideals:,} of {2 ** len(scores.columns):,} sets can come first",
    )
    asked.counted = {"sets visited": n_ideals}
    lattice = ideal_lattice_of(scores.store, scores.before, n_ideals, run, backward=False)
    if lattice is None:
        return None
    asked.best_alone = lattice.best_alone
    value, parents = lattice.read_back(scores.slack)
    if value == -math.inf:
        return _answer(asked, run, None, Status.INFEASIBLE, None)
    return _answer(asked, run, scores.network(parents), Status.PROVED, None)


def _by_blocks(asked: Asked, scores: Scores, run: Run) -> Answer | None:
    plan_block_lattice(len(scores.columns), run, backward=False, held=scores.store.n_bytes)
    lattice = build_block_lattice(scores.store.core(scores.before), run, backward=False)
    if lattice is None:
        return None
    value, parents = lattice.read_back(scores.slack)
    if value == -math.inf:
        return _answer(asked, run, None, Status.INFEASIBLE, None)
    return _answer(asked, run, scores.network(parents), Status.PROVED, None)


def _by_lattice(asked: Asked, scores: Scores, run: Run) -> Answer | None:
    n = len(scores.columns)
    plan_lattice(n, run, held=scores.store.n_bytes)
    core = scores.store.core(scores.before)
    found = _core.best_network(core, scores.slack, run.threads, run.seconds_left, run.tick)
    run.phases |= {"sweeping": found.sweep_seconds, "ordering": found.order_seconds}
    asked.best_alone = found.best_alone
    if not found.finished:
        return None
    if found.score == -math.inf:
        return _answer(asked, run, None, Status.INFEASIBLE, None)
    return _answer(asked, run, scores.network(found.parents), Status.PROVED, None)


def _stopped(asked: Asked, run: Run) -> Answer:
    """Some network and a bound, from whatever is known."""
    limit = run.limit if asked.standing is None else asked.standing.limit or run.limit
    met = asked.standing_masks
    if met is not None and asked.scores is not None:
        return _answer(asked, run, asked.scores.network(met), Status.STOPPED, limit)
    return _answer(asked, run, _better(asked, _quick_network(asked)), Status.STOPPED, limit)


def _better(asked: Asked, quick: Network | None) -> Network | None:
    """The better of the network given to begin with and one found quickly."""
    given = _given_network(asked)
    if given is None or quick is None:
        return given or quick
    return given if asked.worth(given) > asked.worth(quick) else quick


def _given_network(asked: Asked) -> Network | None:
    start, scores, table, kind = asked.start, asked.scores, asked.table, asked.kind
    if start is None or (asked.constraints is not None and not asked.constraints.allows(start)):
        return None
    if scores is not None and scores.store.is_listed:
        listed = listed_network(scores.store.listed, scores.masks_of(start))
        if listed is None or scores.compiled is None or scores.compiled.allows(listed.masks):
            return None if listed is None else scores.network(listed.masks)
        # Lists may lack what constraints need; then the network is scored as it is.
    elif scores is not None:
        masks = scores.masks_of(start)
        is_allowed = scores.store.value_of(masks) > -math.inf
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
    value = -math.inf if network is None else asked.worth(network)
    bound = max(upper_bound(asked), value) if status is Status.STOPPED else value
    gap = bound - value if status is Status.STOPPED else 0.0
    known = asked.scores or asked.table
    notes = known.notes if known is not None else ()
    return Answer(
        network,
        value,
        Proof(status, bound, gap, limit, space_of(asked)),
        stats_of(asked, run),
        asked.kind,
        notes,
        asked.prior,
    )


def _quick_network(asked: Asked) -> Network | None:
    last_look = Run(time_limit=SECONDS_FOR_A_LAST_LOOK)
    scores, table, kind = asked.scores, asked.table, asked.kind
    if scores is not None:
        n = len(scores.columns)
        start = [own.must for own in scores.compiled.families] if scores.compiled is not None else None
        most = n if asked.max_parents is None else asked.max_parents
        masks = climb(scores.store.value, n, most, lambda: last_look.is_over, start)
        is_allowed = masks is not None and (scores.compiled is None or scores.compiled.allows(masks))
        return scores.network(masks) if masks is not None and is_allowed else None
    assert table is not None and kind is not None
    if asked.constraints:
        return None  # nothing is known of families yet

    values: dict[tuple[int, int], float] = {}

    def local(x: int, mask: int) -> float:
        if last_look.is_over and mask:
            return -math.inf  # no time for more parents
        try:
            values[x, mask] = kind.local(table, x, [v for v in range(table.n_variables) if mask >> v & 1])
        except NotAllowed:
            return -math.inf
        return values[x, mask]

    limit = table.n_variables if asked.max_parents is None else asked.max_parents
    masks = climb(local, table.n_variables, limit, lambda: last_look.is_over)
    assert masks is not None  # the empty network is always allowed
    scores_by_name = {name: values[x, masks[x]] for x, name in enumerate(table.names)}
    return Network.from_masks(table.names, masks, local_scores=scores_by_name)
