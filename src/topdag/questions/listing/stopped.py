"""What a list holds that was stopped before its first network, or when there is none."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from topdag._util.bitsets import network_rows
from topdag._util.run import Run
from topdag._util.stop import Stop
from topdag.answers.lists import BestList
from topdag.answers.results import Proof, Status, limit_text, proof_of
from topdag.knowledge.priors import OrderModular
from topdag.networks.network import Network
from topdag.questions.request import Request, Trail, run_stats, space_of, upper_bound
from topdag.questions.stopped import gain_of, what_helps
from topdag.scoring.score import scores_from_lists
from topdag.scoring.scores import Scores
from topdag.scoring.task import compiled_for, scored_columns
from topdag.search.family_lists import FamilyLists

AnyList = TypeVar("AnyList", bound=BestList[Any])


def no_network(make: Callable[..., AnyList], trail: Trail, run: Run) -> AnyList:
    """Every choice of listed families has a cycle."""
    return _nothing(make, trail, run, proof_of(None, -math.inf, -math.inf, space_of(trail)))


def begun(found: AnyList, trail: Trail, run: Run) -> AnyList:
    """With the best network found, where there is one, though nothing is proved of it, and with what would help."""
    network = best_found(trail)
    found = found if network is None else _with_first(found, trail, network)
    notes = (*found.source.notes, *what_helps(trail, run, found.proof))
    return replace(found, source=replace(found.source, notes=notes))


def _with_first(found: AnyList, trail: Trail, network: Network) -> AnyList:
    masks = found.source.masks_of(network)
    is_on_grid = trail.scores is not None and not isinstance(trail.request.prior, OrderModular)
    value = found.source.store.value_of(masks) if is_on_grid else trail.score_of(network)
    bound = max(found.proof.bound, value)
    proof = replace(found.proof, bound=bound, gap=bound - value, gain=gain_of(trail, network))
    parents = network_rows([masks], len(masks))
    return replace(found, scores=np.array([value]), parents=parents, floor=max(found.floor, value), proof=proof)


def best_found(trail: Trail) -> Network | None:
    if trail.scores is not None and trail.standing_masks is not None:
        return trail.scores.network(trail.standing_masks)
    from topdag.questions.first_network import look_once_more

    look_once_more(trail)
    return None if trail.first is None else trail.first.network


def empty(make: Callable[..., AnyList], trail: Trail, run: Run, limit: Stop | None) -> AnyList:
    """Nothing is known yet but a bound that no network exceeds: complete above that."""
    bound = upper_bound(trail)
    return _nothing(make, trail, run, Proof(Status.STOPPED, bound, math.inf, limit_text(limit), space_of(trail)))


def _nothing(make: Callable[..., AnyList], trail: Trail, run: Run, proof: Proof) -> AnyList:
    scores = trail.scores or _without_scores(trail.request, trail.notes)
    none = network_rows([], len(scores.columns))
    stats = run_stats(scores, run, trail.engine, {}, trail.reason)
    return make(scores, np.empty(0), none, proof.bound, proof, stats)


def _without_scores(request: Request, notes: tuple[str, ...]) -> Scores:
    """What a list looks into when scoring was stopped: no families but those without parents."""
    table, kind = request.table, request.kind
    assert table is not None and kind is not None
    columns = scored_columns(table)
    families = [(x, (), kind.local(table, v, [])) for x, v in enumerate(columns)]
    lists = FamilyLists.build([table.names[v] for v in columns], families)
    compiled = compiled_for(table, columns, request.constraints)
    known = {"constraints": request.constraints, "compiled": compiled} if compiled is not None else {}
    few = scores_from_lists(lists, kind=kind, table=table, max_parents=request.max_parents, **known)
    return replace(few, names=table.names, columns=columns, notes=notes, prior=request.prior)
