"""One function per question. Each takes Scores, or a table, frame, array or path with what is said about it."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from topdag._util.brief import brief
from topdag._util.options import option
from topdag._util.run import Run
from topdag._util.stop import Stop
from topdag.answers.results import Answer, proof_of
from topdag.errors import FileError, ScoreError
from topdag.knowledge.priors import OrderModular, Prior
from topdag.networks.network import Network
from topdag.questions.decide import Decision, Question, decide, decide_again, plan_scores
from topdag.questions.request import Request, Said, Trail, answer_of, asked_about, scores_of, space_of, upper_bound
from topdag.scoring.kinds.discrete import KindLike
from topdag.scoring.scores import Scores
from topdag.scoring.task import scored_columns
from topdag.search.engines import ON_LISTS, Engine, OrderBound, named_bound, named_engine, plan_lattice, require_takes
from topdag.search.lattice import best_on_all_sets, plan_block_lattice

MANY_FAMILIES = 10_000
"""Lists of so many are searched for long, so it pays to begin with a good network."""


@brief
def best_network(
    source: Any,
    kind: KindLike = None,
    *,
    prior: Prior | None = None,
    start: Network | None = None,
    engine: str | None = None,
    bound: str | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    **options: Unpack[Said],
) -> Answer:
    """The network with the highest score, proved.

    ``source``: scores, or a table, frame, array or path. With these ``kind`` is a score or its name, BDeu(1) without
    one, and everything that ``score``, ``Table`` and ``read_table`` take can be given here, and to every question:
    ``best_network(frame, "bic", missing="drop", discretize="quantile(3)", max_parents=3)``.

    ``answer.proof.status`` is PROVED when no network in ``answer.proof.space`` scores more. When ``time_limit``
    (seconds) comes first, the answer is some network with a bound that no network exceeds. Ctrl-C raises
    Interrupted, which carries the same as ``.answer``. Ties are broken in a fixed way
    (docs/explanation/method.md); where several networks are best, another of them may be the first of a list.

    ``prior``: OrderModular(), EdgePrior(...) or FairPrior(); then ``answer.score`` and the bound are data score plus
    log weight of the prior, and ``answer.network.score`` stays the data's. Without one all networks weigh the same.
    ``start``: a network to begin with; a search never answers with a worse one. ``engine``: one of "dense lattice",
    "block lattice", "search", "order search", "branch and cut" and "branching", in place of the one chosen.
    ``bound``, of "order search": "simple", "static" or "dynamic", as published, or "cluster", as without it.
    ``checkpoint``: a file in which a search leaves how it stands every few seconds, and from which it goes on when
    asked the same again. ``executor``: who counts and searches, if not this process alone: processes or a cluster
    (docs/guides/clusters.md); the answer is the same.
    """
    request, run = asked_about(source, kind, options, prior)
    named = None if engine is None else named_engine(engine)
    request = replace(
        request,
        start=_checked_start(start, request),
        engine=named,
        bound=None if bound is None else named_bound(bound, named),
        checkpoint=checked_path(checkpoint),
    )
    return best_of(Trail(request), run)


def checked_path(checkpoint: object) -> Path | None:
    if checkpoint is not None and not isinstance(checkpoint, str | os.PathLike):
        raise ScoreError(f"checkpoint must be the name of a file, not {checkpoint!r}.")
    if checkpoint is not None and not os.access(Path(checkpoint).absolute().parent, os.W_OK | os.X_OK):
        raise FileError(f"checkpoint: {checkpoint}: nothing can be written to the folder, or there is none.")
    return None if checkpoint is None else Path(checkpoint)


def _checked_start(start: object, request: Request) -> Network | None:
    if start is None:
        return None
    if not isinstance(start, Network):
        raise ScoreError(f"start must be a Network, not {type(start).__name__}.")
    if set(start.names) != set(request.known_names):
        raise ScoreError("start must have the variables of the scores: " + ", ".join(request.known_names) + ".")
    return start


def best_of(trail: Trail, run: Run) -> Answer:
    """Answers within the run's limits; on Ctrl-C raises Interrupted with what is known."""
    return run.answer(lambda: _proved(trail, run) or _stopped(trail, run), lambda answer: str(answer.proof))


def _proved(trail: Trail, run: Run) -> Answer | None:
    """The full search; None when the time is up before it ends."""
    request, prior = trail.request, trail.request.prior
    decision = decide(request, Question.BEST)
    if trail.scores is None:
        trail.scores = _scored(trail, decision, run)
    if trail.scores is not None:
        decision = decide_again(decision, request, Question.BEST, trail.scores, run)
    trail.engine, trail.reason = decision.engine.value, decision.reason
    if trail.scores is None or run.is_over:
        return None
    if isinstance(prior, OrderModular):
        from topdag.questions.order_prior import best_by_orders

        return best_by_orders(trail, run)
    if prior is not None and trail.scores.prior is None:
        from topdag.scoring.with_prior import weighed

        every = weighed(trail.scores, prior, run)
        if every is None:
            return None
        trail.scores = every
        decision = decide_again(decision, request, Question.BEST, trail.scores, run)
    if decision.engine is Engine.CONSTRAINED:
        return _by_splitting(trail, trail.scores, run)
    return _by_families(trail, trail.scores, decision, run)


def _by_families(trail: Trail, scores: Scores, decision: Decision, run: Run) -> Answer | None:
    """The best of all networks of families that have a score; None when the time is up."""
    if not scores.columns:
        return _answer(trail, run, scores.network([]))
    if decision.engine in ON_LISTS:
        return _searched(trail, scores, run, decision.engine)
    found = best_on_all_sets(scores.store, decision, run, scores.before, scores.slack)
    trail.best_alone, trail.counted = found.best_alone, found.counted or None
    if not found.is_finished:
        return None
    return _answer(trail, run, None if found.masks is None else scores.network(found.masks))


def _scored(trail: Trail, decision: Decision, run: Run) -> Scores | None:
    """What cannot be answered is not scored either. Meanwhile a network is looked for, if that was decided."""
    request = trail.request
    assert request.table is not None and decision.form is not None
    n = len(scored_columns(request.table))
    plan_scores(request, decision, run)
    engine = request.engine or decision.form.engine
    if engine is Engine.DENSE and n:
        plan_lattice(n, run)
    if engine is Engine.BLOCKS and n:
        plan_block_lattice(n, run, backward=False)
    return scored_table(trail, decision, run)


def scored_table(trail: Trail, decision: Decision, run: Run) -> Scores | None:
    """Scored as was decided; None when the time is up. Meanwhile a network is looked for, if that was decided too."""
    if not decision.climbs:
        return scores_of(trail.request, run, decision.keep, decision.form)
    from topdag.questions.first_network import scores_meanwhile

    return scores_meanwhile(trail, decision, run)


def _by_splitting(trail: Trail, scores: Scores, run: Run) -> Answer:
    """The best network under constraints on several variables at once."""
    from topdag.constrained.cycle_rules import search_by_cycles
    from topdag.constrained.dispatch import search_constrained
    from topdag.constrained.splitting import PartList
    from topdag.search.best import best_of_store

    wanted = trail.request.engine
    if wanted is not None:
        require_takes(wanted, len(scores.columns))
    for what, is_given in (
        ("engine", wanted is not None and not _takes_constraints(wanted, scores)),
        ("checkpoint", trail.request.checkpoint is not None),
    ):
        if is_given:
            raise ScoreError(f"{what} does not go with constraints on several variables at once.")

    engines: list[str] = []

    def best_of_part(part: Scores, _: int, __: float) -> PartList | None:
        # The whole tells only how far lists must reach: whatever is quickest will do.
        is_part_of_lists = part.store.is_listed and part.store is not scores.store
        engine = wanted if is_part_of_lists else None
        best = best_of_store(part.store, run, before=part.before, slack=part.slack, wanted=engine)
        engines.append(best.engine)
        if best.masks is None:
            return PartList((), (), is_whole=True) if best.is_finished else None
        return PartList((part.store.value_of(best.masks),), (best.masks,), is_whole=False)

    by_cycles = search_by_cycles if wanted is Engine.CYCLES else None
    found = search_constrained(scores, best_of_part, run, most=1, on_lists=by_cycles)
    # Where no part was searched by itself, clauses did it.
    is_by_clauses = found.cuts > 0 or (found.engine is None and not engines)
    method = "branch and cut with clauses" if is_by_clauses else found.engine or f"splitting, {engines[-1]}"
    trail.engine = f"{trail.engine}: {method}"
    trail.counted = {"parts": found.parts} | ({"cuts": found.cuts} if found.cuts else {})
    network = next((scores.network(masks) for _, masks in found.best(1)), None)
    if found.limit is None:
        return _answer(trail, run, network)
    trail.most = found.bound
    return _answer(trail, run, _better(trail, network), found.limit)


def _takes_constraints(engine: Engine, scores: Scores) -> bool:
    """Whether it searches lists, and there are some; branching has them made."""
    from topdag.constrained.rescored_lists import can_be_scored_wider

    return engine in ON_LISTS and (scores.store.is_listed or (engine is Engine.CYCLES and can_be_scored_wider(scores)))


def _searched(trail: Trail, scores: Scores, run: Run, engine: Engine) -> Answer | None:
    """The best network of listed families; None when the time is up."""
    from topdag.search.best import begin, search_best
    from topdag.search.checkpoints import Checkpoint

    if not scores.store.is_listed:
        raise ScoreError(
            f"{option('engine', engine.value)} works on listed families: score with {option('keep', 'best')}."
        )
    request = trail.request
    if request.bound is not None and request.checkpoint is not None:
        raise ScoreError(
            "bound does not go with checkpoint, which is for the search that topdag chooses. Leave out one."
        )
    starts = _starts(trail, scores, run)
    store = scores.store.listed
    if scores.rest is not None and scores.compiled is not None:
        from topdag.search.precedence_lists import placed_lists

        placed = trail.placed = placed_lists(store, scores.order)
        store, starts = placed.store, [placed.within(start) for start in starts if scores.rest.allows(start)]
    standing = trail.standing = begin(store, run, starts, trail.clusters)
    bound = request.bound or OrderBound.CLUSTER
    checkpoint = None if request.checkpoint is None else Checkpoint(request.checkpoint, store)
    finished = search_best(standing, run, checkpoint=checkpoint, engine=engine, bound=bound)
    trail.engine = f"{trail.engine}: {standing.method}"
    if not finished:
        return None
    masks = trail.standing_masks
    return _answer(trail, run, None if masks is None else scores.network(masks))


def _starts(trail: Trail, scores: Scores, run: Run) -> list[Sequence[int]]:
    """Networks to begin with: one that was given, and one from the data where the search may be long."""
    given = trail.request.start
    starts: list[Sequence[int]] = [] if given is None else [scores.masks_of(given)]
    if trail.first is not None and scores.n_families >= MANY_FAMILIES:
        trail.first.complete(run)
        if trail.first.first is not None:
            starts.append(trail.first.first)
    return starts


def _stopped(trail: Trail, run: Run) -> Answer:
    """Some network and a bound, from whatever is known."""
    if trail.standing is not None and trail.standing.score_bound == -math.inf:
        return _answer(trail, run, None)  # seen before the search was stopped
    met = trail.standing_masks
    if met is None:
        from topdag.questions.first_network import look_once_more

        look_once_more(trail)
    found = None if met is None or trail.scores is None else trail.scores.network(met)
    return _answer(trail, run, _better(trail, found), trail.limit(run))


def _better(trail: Trail, found: Network | None) -> Network | None:
    """The best of a network that was found, the one given to begin with and the one from the data."""
    known = [found, _given_network(trail), None if trail.first is None else trail.first.network]
    return max((network for network in known if network is not None), key=trail.score_of, default=None)


def _given_network(trail: Trail) -> Network | None:
    start, scores, table, kind = trail.request.start, trail.scores, trail.request.table, trail.request.kind
    if start is None or (trail.request.constraints is not None and not trail.request.constraints.allows(start)):
        return None
    if scores is not None and scores.store.is_listed:
        from topdag.search.best import listed_network

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
    most = trail.request.max_parents
    if most is not None and any(len(own) > most for own in start.parents.values()):
        return None
    from topdag.questions.first_network import scored_network

    return scored_network(table, kind, start.parents)


def _answer(trail: Trail, run: Run, network: Network | None, limit: Stop | None = None) -> Answer:
    value = -math.inf if network is None else trail.score_of(network)
    if limit is None:
        return answer_of(trail, run, network, value, proof_of(None, value, value, space_of(trail)))
    from topdag.questions.stopped import gain_of, what_helps  # only where a limit came

    gain = None if network is None else gain_of(trail, network)
    proof = proof_of(limit, value, upper_bound(trail), space_of(trail), gain)
    answer = answer_of(trail, run, network, value, proof)
    return replace(answer, notes=(*answer.notes, *what_helps(trail, run, proof)))
