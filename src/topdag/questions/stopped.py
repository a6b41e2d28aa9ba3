"""How far an answer is that a limit came too early for, and with which options there would be a proof."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from topdag._util.options import option
from topdag._util.stop import Stop
from topdag.answers.results import limit_text
from topdag.errors import NetworkError, ScoreError
from topdag.networks.network import Network
from topdag.scoring.probability_losses import together

if TYPE_CHECKING:
    from topdag._util.run import Run
    from topdag.answers.results import Proof
    from topdag.questions.request import Trail


def gain_of(trail: Trail, network: Network) -> float | None:
    """How much more a network scores than the one without edges, all that counts added; None where that has no
    score."""
    if not network.n_edges:
        return 0.0
    empty = _without_edges(trail)
    return None if empty is None else trail.score_of(network) - trail.score_of(empty)


def _without_edges(trail: Trail) -> Network | None:
    scores, table, kind = trail.scores, trail.request.table, trail.request.kind
    if scores is not None and scores.store.value_of((0,) * len(scores.columns)) > -math.inf:
        return scores.network((0,) * len(scores.columns))
    if table is None or kind is None:
        return None
    from topdag.questions.first_network import scored_network

    try:
        return scored_network(table, together(kind, trail.request.constraints)[0], dict.fromkeys(table.names, ()))
    except (ScoreError, NetworkError):  # of a family, or for one that has no finite score
        return None


def what_helps(trail: Trail, run: Run, proof: Proof) -> tuple[str, ...]:
    """A note with the options that would bring a proof, where the bound tells nothing; none where scoring says so."""
    if not proof.is_vague or trail.too_large is not None:
        return ()
    limit = proof.limit_in_words
    came = f"{limit[0].upper()}{limit[1:]} came before {_missed(trail)}."
    is_memory = proof.limit == limit_text(Stop.MEMORY_LIMIT)
    more = f"more {'memory' if is_memory else 'time'} ({option('memory_limit' if is_memory else 'time_limit')})"
    request = trail.request
    if request.table is None:
        return (f"{came} For a proof take {more}.",)
    from topdag.questions.plan import plan_of

    planned = plan_of(request, "best", run.memory_limit, time_limit=run.time_limit, was_stopped=True)
    takes = "" if planned.scoring is None else f": {planned.time_in_words}"
    others = "" if planned.is_soon and not is_memory else f"{planned.advice}; or "
    return (f"{came} For a proof {others}take {more}{takes}.",)


def _missed(trail: Trail) -> str:
    if trail.scores is None:
        return "all families were scored"
    return "the search began" if trail.standing is None else "the search came far"
