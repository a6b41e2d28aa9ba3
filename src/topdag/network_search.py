"""The search of Chen, Choi & Darwiche 2015 as published: A* over partial networks with a perfect oracle.

It gives the same lists as ``k_best_networks``, which is faster; it is here to check it, and as the ground for what
only makes sense on whole networks.
"""

from __future__ import annotations

import math
from typing import Any

from topdag import _core
from topdag.errors import Interrupted
from topdag.lattices import lattice_of
from topdag.list_lattices import Wanted
from topdag.list_questions import checked_k, list_stats, only_the_empty_network, out_of_time, scores_for
from topdag.lists import NetworkList
from topdag.results import Proof, Status
from topdag.runs import OnProgress, Run


def search_networks(
    source: Any,
    k: int,
    *,
    block: int = 10,
    time_limit: float | None = None,
    memory_limit: int | str | None = None,
    threads: int | None = None,
    on_progress: OnProgress | None = None,
) -> NetworkList:
    """The k best networks by best-first search over partial networks: the list of ``k_best_networks``, ties included.

    ``block``: how many successors of a partial network enter the queue at a time. ``stats.work`` counts generated,
    expanded and re-expanded partial networks and calls of the oracle; memory grows with those generated.
    """
    if isinstance(block, bool) or not isinstance(block, int) or block < 1:
        raise ValueError(f"block must be a whole number from 1 on, not {block!r}.")
    run = Run(time_limit=time_limit, memory_limit=memory_limit, threads=threads, on_progress=on_progress)
    wanted = Wanted("search_networks", most=checked_k(k))
    scores = scores_for(source, wanted, run)
    if not scores.columns:
        return only_the_empty_network(NetworkList, scores, run)
    lattice = lattice_of(scores.store, run)
    if lattice is None:
        raise out_of_time(wanted, run)
    finished, interrupted, floor, values, parents, counts, bounds, search = _core.search_networks(
        lattice, k, block, run.threads, run.seconds_left, run.on_tick
    )
    run.phases |= {"bounding": bounds, "searching": search}
    work = {
        "generated": counts.generated,
        "expanded": counts.expanded,
        "re-expanded": counts.re_expanded,
        "oracle calls": counts.oracle_calls,
    }
    some = lattice.best_score > -math.inf
    status = Status.STOPPED if not finished else Status.PROVED if some else Status.INFEASIBLE
    limit = None if finished else "Ctrl-C" if interrupted else "time_limit"
    proof = Proof(status, lattice.best_score, 0.0, limit, scores.describe_space())
    stats = list_stats(scores, run, "best-first search over partial networks", work)
    found = NetworkList(scores, values, parents, floor, proof, stats)
    if interrupted:
        raise Interrupted(f"Interrupted after {run.seconds:.1f} s; {len(found):,} found", found)
    return found
