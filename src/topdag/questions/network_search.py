"""The search of Chen, Choi & Darwiche 2015 as published: A* over partial networks with a perfect oracle.

It gives the same lists as ``k_best_networks``, which is faster; it is here to check it, and as the ground for what
only makes sense on whole networks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Unpack

from topdag import _core
from topdag._util.arrays import Floats, Masks
from topdag._util.brief import brief
from topdag._util.run import Run
from topdag._util.stop import Stop
from topdag.answers.lists import NetworkList
from topdag.answers.results import proof_of
from topdag.knowledge.priors import EdgePrior, FairPrior, OrderModular
from topdag.questions.decide import Question, decide
from topdag.questions.listing.sources import Wanted, wide_enough
from topdag.questions.lists import checked_k, in_words, only_the_empty_network, out_of_time, scores_for
from topdag.questions.prior_search import PUBLISHED_BLOCK, NetworkPrior, require_prior, search_with_prior
from topdag.questions.request import Request, Said, asked_about, checked_count, run_stats
from topdag.scoring.kinds.discrete import KindLike
from topdag.scoring.scores import Scores
from topdag.search.engines import Engine, require_narrow
from topdag.search.lattice import lattice_of
from topdag.search.order_search import cluster_bound
from topdag.search.reach import LARGEST_REACH, further_reach
from topdag.search.relaxation import solve_root

SHARE_FOR_NODES = 0.5
MOST_BLOCK = 10**9


@brief
def search_networks(
    source: Any,
    k: int,
    kind: KindLike = None,
    *,
    prior: EdgePrior | FairPrior | OrderModular | NetworkPrior | None = None,
    published: bool = False,
    block: int | None = None,
    **options: Unpack[Said],
) -> NetworkList:
    """The k best networks by best-first search over partial networks: the list of ``k_best_networks``.

    ``block``: how many successors of a partial network enter the queue at a time; by default 10 as published, and 1 in
    the searches with a prior that were not. ``stats.work`` counts generated, expanded and re-expanded partial networks
    and calls of the oracle; memory grows with those generated. The oracle is the lattice; on lists of families of more
    than 20 variables it is a search over orders, and networks that tie may stand in another order than in
    ``k_best_networks``, which also decides who of those that tie with the last is in.

    ``prior``: one of topdag's, or any object with ``log_weight`` and ``log_weight_bound``
    (docs/guides/priors.md), which need not factor over families. ``scores`` of the list are then sums of score and log
    weight, and networks that tie stand in the order of their masks. ``published``: for ``OrderModular()``, Algorithm 1
    of Chen, Choi & Darwiche 2015 in place of the search with tighter bounds.
    """
    if block is not None:
        checked_count("block", block, 1, MOST_BLOCK)
    if published or not (prior is None or isinstance(prior, EdgePrior | FairPrior)):
        require_prior(prior, published)
    wanted = Wanted("search_networks", most=checked_k(k))
    if prior is None or isinstance(prior, EdgePrior | FairPrior):
        request, run = asked_about(source, kind, options, prior)
        return run.answer(lambda: _searched(request, wanted, block, run), in_words)
    request, run = asked_about(source, kind, options)

    def find() -> NetworkList:
        return search_with_prior(scores_for(request, wanted, run), wanted, prior, block, published, run)

    return run.answer(find, in_words)


def _searched(request: Request, wanted: Wanted, block: int | None, run: Run) -> NetworkList:
    decide(request, Question.PARTIAL)  # what is refused is not scored
    scores = scores_for(request, wanted, run)
    if not scores.columns:
        return only_the_empty_network(NetworkList, scores, run)
    block = PUBLISHED_BLOCK if block is None else block
    decision = decide(Request.from_scores(scores), Question.PARTIAL)
    search = _with_orders if decision.engine is Engine.PARTIAL_BY_ORDERS else _with_lattice
    return search(scores, wanted, block, run)


def _with_lattice(scores: Scores, wanted: Wanted, block: int, run: Run) -> NetworkList:
    lattice = lattice_of(scores.store, run)
    if lattice is None:
        raise out_of_time(wanted, run)
    drawn = _core.search_networks(lattice, wanted.most, block, run.limits)
    run.phases |= {"bounding": drawn.bound_seconds, "searching": drawn.search_seconds}
    found = _Found(drawn.scores, drawn.parents, drawn.floor, None if drawn.finished else run.limit, drawn.counts)
    return _answer(scores, found, lattice.best_score, Engine.PARTIAL.value, run)


def _with_orders(scores: Scores, wanted: Wanted, block: int, run: Run) -> NetworkList:
    """Each time further behind the best, with as many families as that needs, until the list is whole.

    The nearer the networks asked for, the sooner the oracle sees that a set leads to none.
    """
    reach, found = 0.0, 0
    furthest = scores.store.listed.largest_shortfall if scores.is_kept(most=wanted.most) else LARGEST_REACH
    while True:
        reach = min(furthest, further_reach(reach, found, wanted.most))
        wide = wide_enough(scores, math.exp(min(reach, LARGEST_REACH)), run)
        if wide is None:
            raise out_of_time(wanted, run, found)
        drawn = _search_listed(wide, wanted.most, reach, block, run)
        found = len(drawn.scores)
        if reach == LARGEST_REACH and 0 < found < wanted.most and drawn.limit is None:
            drawn = replace(drawn, limit=Stop.FAR_BEHIND_BEST)
        if found in (0, wanted.most) or drawn.limit is not None or reach == furthest:
            best = float(drawn.scores[0]) if found else drawn.floor
            return _answer(wide, drawn, best, Engine.PARTIAL_BY_ORDERS.value, run)


def _search_listed(scores: Scores, most: int, epsilon: float, block: int, run: Run) -> _Found:
    """The best of the listed families' networks, none further than epsilon behind the first."""
    store = scores.store.listed
    require_narrow(store.n, "a list of networks")
    begin = run.seconds
    root = solve_root(store, run)
    run.timed("bounding", begin)
    candidates = store.candidates
    begin = run.seconds
    drawn = _core.search_listed_networks(
        candidates,
        cluster_bound(candidates, root.clusters, root.multipliers),
        most,
        epsilon,
        block,
        int(SHARE_FOR_NODES * run.allowed_memory),
        run.limits,
    )
    run.timed("searching", begin)
    limit = None if drawn.finished else Stop.MEMORY_LIMIT if drawn.memory_hit else run.limit
    scores_found, floor = drawn.scores, drawn.floor
    if len(scores_found):  # of what scores less, networks with other families may be missing
        floor = max(floor, float(scores_found[-1] if len(scores_found) == most else scores_found[0] - epsilon))
    return _Found(scores_found, drawn.parents, floor, limit, drawn.counts)


@dataclass(frozen=True)
class _Found:
    scores: Floats
    parents: Masks
    floor: float
    limit: Stop | None
    counts: _core.SearchCounts


def _answer(scores: Scores, found: _Found, best: float, engine: str, run: Run) -> NetworkList:
    counts = found.counts
    work = {
        "generated": counts.generated,
        "expanded": counts.expanded,
        "re-expanded": counts.re_expanded,
        "oracle calls": counts.oracle_calls,
    }
    proof = proof_of(found.limit, best, best, scores.describe_space())
    stats = run_stats(scores, run, engine, work)
    return NetworkList(scores, found.scores, found.parents, found.floor, proof, stats)
