"""Lists under constraints that no family tells by itself, and lists of classes under any constraints or experiments.

A class counts when some member satisfies them. Members of a class score the same but need not satisfy the same
constraints, so classes are read off lists of networks that do. So are those that experiments tell apart: members of
such a class score the same, as the variables at the ends of an edge that members turn were set in the same rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import islice

import numpy as np

from topdag import _core
from topdag._util.arrays import Floats, Masks
from topdag._util.bitsets import network_rows
from topdag._util.run import Run
from topdag._util.stop import Stop
from topdag.answers.lists import ClassList, NetworkList, grid_epsilon
from topdag.answers.results import Status, proof_of
from topdag.constrained.dispatch import listed_by_clauses, search_constrained
from topdag.constrained.found import Found
from topdag.constrained.splitting import PartList
from topdag.errors import TooLarge
from topdag.questions.decide import Question, decide, needs_splitting
from topdag.questions.listing.partition import PartitionLists
from topdag.questions.listing.sources import Lattices, ManySets, Wanted, within_memory
from topdag.questions.request import Request, run_stats
from topdag.scoring.keep import MOST_IN_A_LIST
from topdag.scoring.scores import Scores
from topdag.search.engines import Engine
from topdag.search.partition.listed import Kind
from topdag.search.reach import LARGEST_REACH

FIRST_NETWORKS = 64
MORE_NETWORKS = 4
"""So many networks for each class are listed at first; so many times more when they have too few classes."""


def list_constrained(scores: Scores, wanted: Wanted, run: Run) -> NetworkList:
    """The best networks that satisfy the constraints; when the run is over, those known by then."""
    epsilon = _epsilon(wanted, scores)
    found = search_constrained(
        scores,
        lambda part, size, lowest: list_part(part, size, lowest, run, wanted.less),
        run,
        most=wanted.most,
        epsilon=epsilon,
    )
    return _network_list(found, scores, wanted.most, epsilon, run)


def _epsilon(wanted: Wanted, scores: Scores) -> float:
    return math.inf if wanted.factor == math.inf else grid_epsilon(wanted.factor, scores.grid)


def list_part(part: Scores, size: int, lowest: float, run: Run, less: str) -> PartList | None:
    """The best networks of scores that need no further look; None when the time is up."""
    if decide(Request.from_scores(part), Question.LIST).engine is Engine.PARTITION:
        return _partitioned(part, size, run, less)
    source = Lattices(part, Wanted("A list", most=size), run, less)
    n_found = 0
    while True:
        try:
            prepared = source.next(n_found)
        except ManySets:
            return _partitioned(part, size, run, less)
        if prepared is None:
            return PartList((), (), is_whole=True) if source.is_infeasible else None
        best = prepared.lattice.best_score
        if best < lowest or best == -math.inf:
            return PartList((), (), is_whole=True)
        with within_memory(less):
            found = _core.list_best(
                prepared.lattice,
                _core.Listed.NETWORKS,
                size,
                max(lowest, best - part.cutoff, best - prepared.reach),
                run.limits,
            )
        if not found.finished:
            return None
        n_found = len(found.scores)
        if n_found == size or best - prepared.reach <= lowest:
            masks = [tuple(own) for own in found.parents.tolist()]
            return PartList(found.scores.tolist(), masks, is_whole=n_found < size)


def _partitioned(part: Scores, size: int, run: Run, less: str) -> PartList | None:
    found = PartitionLists(part, Wanted("A list", most=size), run, Kind.NETWORKS).go()
    if found.limit is Stop.FAR_BEHIND_BEST:
        raise TooLarge(
            f"Fewer than {size:,} networks score within {LARGEST_REACH:g} nats of the best of a part. Ask for {less}."
        )
    if found.limit is not None:
        return None
    rows = list(islice(found.rows(), size))
    return PartList([value for value, _ in rows], [masks for _, masks in rows], is_whole=found.count < size)


def list_classes(scores: Scores, list_networks: Callable[[Wanted], NetworkList], wanted: Wanted, run: Run) -> ClassList:
    """The best classes of which some member satisfies the constraints; each stands with such a member."""
    epsilon = _epsilon(wanted, scores)
    found = None
    if needs_splitting(scores) and not scores.has_experiments:
        found = listed_by_clauses(scores, run, most=wanted.most, epsilon=epsilon, of_classes=True)
    if found is None or found.limit is Stop.WEAK_RELAXATION:
        return _classes_of_lists(list_networks, wanted)
    return _classes_in(_network_list(found, scores, MOST_IN_A_LIST, epsilon, run), wanted.most)


def _classes_of_lists(list_networks: Callable[[Wanted], NetworkList], wanted: Wanted) -> ClassList:
    """From lists of networks, ever longer while they have too few classes."""
    most = min(MOST_IN_A_LIST, max(FIRST_NETWORKS, MORE_NETWORKS * wanted.most))
    while True:
        networks = list_networks(replace(wanted, most=most))
        classes = _classes_in(networks, wanted.most)
        is_all = len(networks) < most or networks.proof.status is not Status.PROVED
        if len(classes) == wanted.most or is_all or most == MOST_IN_A_LIST:
            return classes
        most = min(MOST_IN_A_LIST, MORE_NETWORKS * most)


def _classes_in(networks: NetworkList, most: int) -> ClassList:
    """Each class once, with the first of its members."""
    places: dict[object, int] = {}
    for place, masks in enumerate(networks.parents.tolist()):
        if len(places) == most:
            break
        places.setdefault(networks.class_of(masks), place)
    chosen = np.array(list(places.values()), dtype=np.int64)
    proof, floor = networks.proof, networks.floor
    is_whole = len(chosen) == most and networks.scores[chosen[-1]] >= floor
    if is_whole:
        floor = float(networks.scores[chosen[-1]])
    if is_whole and proof.status is Status.STOPPED:
        proof = replace(proof, status=Status.PROVED, limit=None, gap=0.0)
    return ClassList(networks.source, networks.scores[chosen], networks.parents[chosen], floor, proof, networks.stats)


def _network_list(found: Found, scores: Scores, most: int, epsilon: float, run: Run) -> NetworkList:
    """A search that was stopped tells of the best network it met, be it below the floor."""
    best = found.best(most)
    values, masks = _arrays(best, len(scores.columns))
    floor = found.bound
    if found.limit is None:
        floor = float(values[-1]) if len(best) == most else -math.inf
    if best:
        floor = max(floor, float(values[0]) - epsilon)
    inside = (values >= floor) | (np.arange(len(values)) == 0)
    values, masks = values[inside], masks[inside]
    top = float(values[0]) if len(values) else -math.inf
    proof = proof_of(found.limit, top, found.bound, scores.describe_space())
    work = {"parts": found.parts, "cuts": found.cuts} if found.cuts else {"parts": found.parts}
    made = run_stats(scores, run, f"{Engine.CONSTRAINED.value}: {found.engine or 'splitting and listing'}", work)
    return NetworkList(scores, values, masks, floor, proof, made)


def _arrays(best: list[tuple[float, tuple[int, ...]]], n: int) -> tuple[Floats, Masks]:
    values = np.array([value for value, _ in best], dtype=np.float64)
    return values, network_rows([masks for _, masks in best], n)
