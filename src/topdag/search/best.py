"""The best network of listed families: a quick network, the relaxation, order search, branch and cut, while each pays.

Strongly connected parts of the graph of candidate parents are searched one after another: what comes before a part is
there for it as parents, whatever its families are. How far each method goes is counted in work, not in seconds, so the
answer does not depend on how fast the machine is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from topdag import _core
from topdag._util.bitsets import NARROW, masks_in, set_array
from topdag._util.run import Run
from topdag.search.branch_and_cut import prove_best
from topdag.search.checkpoints import Checkpoint, State
from topdag.search.components import Component, parts_of
from topdag.search.costs import Cluster, Families
from topdag.search.cycles import branch_on_cycles
from topdag.search.engines import ON_LISTS, SHARE_OF_MEMORY, Engine, OrderBound
from topdag.search.lattice import BestOfStore, best_on_all_sets, engine_for_best
from topdag.search.open_nodes import OpenParts
from topdag.search.order_search import OrderOutcome, cluster_bound, pattern_bound, search_orders
from topdag.search.relaxation import FEWEST_CLIMBS, Incumbent, Known, Relaxation, known_from, solve_root
from topdag.search.stores import ListStore, Store

FIRST_SETS = 20_000
"""Sets that order search may meet before branch and cut gets its turn. Where it wins it mostly needs 2,300; with a
quarter of this, a draw of alarm1000 takes a fifth less, but 33 variables with 8 rows, all ties, were not proved."""
BYTES_PER_SET_OF_ORDERS = 60


def begin(store: ListStore, run: Run, starts: Sequence[Sequence[int]] = (), clusters: Sequence[Cluster] = ()) -> Known:
    """What is known before the search, with networks and cuts to start from."""
    known = Known(store, run)
    known.clusters = list(clusters)
    for start in starts:
        known_from(store, run, known, listed_network(store, start))
    return known


def listed_network(store: ListStore, masks: Sequence[int]) -> Incumbent | None:
    """A network of listed families no worse than this one: of each variable the best with no other parents.

    None when a variable has none. The list may lack a family that a smaller one beats.
    """
    chosen: list[int] = []
    cost = 0.0
    for x, mask in enumerate(masks):
        begin, end = store.lists.offsets[x : x + 2]
        own, scores = store.lists.masks[begin:end], store.rounded[begin:end]
        others = ~set_array([mask], store.n).reshape(-1)
        fits = np.flatnonzero(~(own & others).any(axis=1))
        if not fits.size:
            return None
        at = int(fits[np.argmax(scores[fits])])
        chosen += masks_in(own[at : at + 1])
        cost += float(scores.max() - scores[at])
    return Incumbent(tuple(chosen), cost)


def search_best(
    known: Known,
    run: Run,
    *,
    checkpoint: Checkpoint | None = None,
    engine: Engine = Engine.SEARCH,
    bound: OrderBound = OrderBound.CLUSTER,
) -> bool:
    """Whether the best network is proved, or that there is none; False when a limit came first.

    With a checkpoint the variables are searched all together, so that one state is enough. ``bound``: of order search.
    """
    if checkpoint is not None:
        return _search_from(known, run, checkpoint)
    parts = parts_of(known.store.candidates)
    if len(parts) == 1:
        return _search_whole(known, run, engine, bound)
    return _search_parts(known, parts, run, engine, bound)


def best_score_of(store: ListStore) -> float:
    """The score of the best network; minus infinity when there is none."""
    known = begin(store, Run())
    search_best(known, Run())
    return known.best_score - known.cost


def _search_parts(known: Known, parts: Sequence[Component], run: Run, engine: Engine, bound: OrderBound) -> bool:
    """One after another; the cost of the best network is the sum of theirs."""
    store = known.store
    known.climb(FEWEST_CLIMBS)  # parts are climbed by themselves
    allowed = [(1 << store.n) - 1 if known.masks is None else known.masks[x] for x in range(store.n)]
    clusters: list[Cluster] = []
    proved = 0.0
    for part in parts:
        first = [] if known.masks is None else [[part.places(known.masks[x]) for x in part.variables]]
        within = [(part.places(members), k) for members, k in known.clusters if members & ~part.mask == 0]
        own = begin(part.store(store.lists.names), run, first, within)
        own.elsewhere = known.best_score - own.best_score - proved
        finished = search_best(own, run, engine=engine, bound=bound)
        known.counted(**own.work)
        known.method, known.limit = own.method, own.limit
        known.raise_bound(proved + own.bound)
        if finished and own.masks is None:
            known.bound = math.inf
            return True
        clusters += [(part.columns_of(members), k) for members, k in own.clusters]
        for x, mask in zip(part.variables, own.masks or [], strict=own.masks is not None):
            allowed[x] = part.allowed_parents(mask)
        if not finished:
            _offer_parts(known, parts, allowed)
            return False
        proved += own.cost
    whole = listed_network(store, allowed)
    assert whole is not None and whole.cost == proved
    known.offer(whole.cost, list(whole.masks))
    known.raise_bound(whole.cost)
    known.clusters = clusters
    return True


def _offer_parts(known: Known, parts: Sequence[Component], allowed: Sequence[int]) -> None:
    """The network of families with parents among those allowed, without those of later parts: it has no cycle when
    there is none inside a part."""
    if known.masks is None:
        return
    kept = list(allowed)
    for part in parts:
        for x in part.variables:
            kept[x] &= part.before | part.mask
    whole = listed_network(known.store, kept)
    if whole is not None:
        known.offer(whole.cost, list(whole.masks))


def _search_whole(known: Known, run: Run, engine: Engine, bound: OrderBound) -> bool:
    if known.is_proved:  # by the best family of each variable, as where there is one
        known.method = "relaxation"
        return True
    if engine is Engine.CYCLES:
        return _by_cycles(known, run)
    if engine is Engine.ORDERS and bound is not OrderBound.CLUSTER:
        return _by_patterns(known, run, bound)
    root = solve_root(known.store, run, known=known)
    known.method = "relaxation"
    known.counted(rounds=root.rounds, cuts=root.cuts)
    known.clusters = root.clusters
    known.raise_bound(root.bound)
    if known.is_proved or run.is_over:
        return known.is_proved
    if engine is Engine.ORDERS:
        return _by_orders(known, root, run, None)
    return search_beyond(root, known, run, by_orders=engine is Engine.SEARCH)


def search_beyond(root: Relaxation, known: Known, run: Run, *, by_orders: bool = True) -> bool:
    """As ``search_best``, where the relaxation of all variables does not tell."""
    if by_orders and known.store.n <= NARROW and _by_orders(known, root, run, FIRST_SETS):
        return True
    return not run.is_over and _by_branching(known, root, run)


def _search_from(known: Known, run: Run, checkpoint: Checkpoint) -> bool:
    """As ``_search_whole``, from where the checkpoint left it; the file stays when all is done."""
    state = checkpoint.read()
    if state is not None:
        root = state.root
        known.offer(state.incumbent.cost, list(state.incumbent.masks))
        known.raise_bound(state.bound)
        known.counted(resumed=1)
    else:
        root = solve_root(known.store, run, known=known)
        known.counted(rounds=root.rounds, cuts=root.cuts)
    known.method, known.clusters = "relaxation", root.clusters
    known.raise_bound(root.bound)
    if known.incumbent is None or run.is_over:
        return known.is_proved
    if state is None:
        checkpoint.write(State(root, known.incumbent, known.bound, None), run.seconds)
    if not known.is_proved and (state is None or state.parts is None) and known.store.n <= NARROW:
        _by_orders(known, root, run, FIRST_SETS)
    if known.is_proved:
        return True
    return not run.is_over and _by_branching(known, root, run, checkpoint, None if state is None else state.parts)


def kept_candidates(store: ListStore, root: Relaxation, threshold: float) -> tuple[_core.Candidates, float]:
    """The families that networks of at most this cost may have, and what even the best of them cost together.

    Candidates count costs from the best of their own, so costs of networks are less by just that.
    """
    kept = root.kept_families(threshold)
    left = Families.of_store(store).only(kept)
    shift = float(np.minimum.reduceat(left.costs, left.offsets[:-1]).sum())
    return _core.Candidates(store.n, left.offsets, left.parents, store.rounded[kept]), shift


def _by_orders(known: Known, root: Relaxation, run: Run, most_sets: int | None) -> bool:
    """Until so many sets were found; without a number, as long as it takes, layer by layer when memory is short."""
    candidates, shift = kept_candidates(known.store, root, known.cost)
    bound = cluster_bound(candidates, root.clusters, root.multipliers)
    memory = (
        None
        if most_sets is None
        else min(most_sets * BYTES_PER_SET_OF_ORDERS, int(SHARE_OF_MEMORY * run.allowed_memory))
    )
    found = search_orders(candidates, bound, run, upper=known.cost - shift, memory=memory)
    if most_sets is None:
        known.limit = found.limit or known.limit
    return _learned(known, found, shift)


def _by_patterns(known: Known, run: Run, kind: OrderBound) -> bool:
    """As published in 2013, with a network found by climbing to prune with."""
    known.climb()
    if run.is_over:
        return False
    candidates = known.store.candidates
    found = search_orders(candidates, pattern_bound(candidates, kind), run, upper=known.cost)
    known.limit = found.limit or known.limit
    return _learned(known, found, 0.0)


def _learned(known: Known, found: OrderOutcome, shift: float) -> bool:
    """Whether a search is finished, whose costs are less by so much."""
    known.method = found.method
    known.counted(sets_expanded=found.work["expanded"], sets_met=found.work["generated"])
    known.raise_bound(found.bound + shift)
    if found.masks is not None:
        known.offer(found.cost + shift, list(found.masks))
    if found.finished:
        known.raise_bound(known.cost)
    return found.finished


def _by_cycles(known: Known, run: Run) -> bool:
    known.method = "branch and bound over cycles"
    incumbent = None if known.incumbent is None else (known.incumbent.cost, known.incumbent.masks)
    found = branch_on_cycles(known.store, run, incumbent)
    known.counted(**found.work)
    if found.masks is not None:
        known.offer(found.cost, list(found.masks))
    known.raise_bound(found.bound)
    known.limit = found.limit or known.limit
    return found.finished


def _by_branching(
    known: Known,
    root: Relaxation,
    run: Run,
    checkpoint: Checkpoint | None = None,
    parts: OpenParts | None = None,
) -> bool:
    known.method = "branch and cut"

    def save(where: Callable[[], OpenParts]) -> None:
        if checkpoint is not None and checkpoint.is_due(run.seconds) and known.incumbent is not None:
            checkpoint.write(State(root, known.incumbent, known.bound, where()), run.seconds)

    found = prove_best(known.store, run, root=root, known=known, resumed=parts, on_split=save)
    work = found.work
    known.counted(parts=work["parts"], rounds=work["rounds"] - root.rounds, cuts=work["cuts"] - root.cuts)
    if found.finished:
        known.raise_bound(known.cost)
    return found.finished


def best_of_store(
    store: Store, run: Run, *, before: Sequence[int] = (), slack: float = 0.0, wanted: Engine | None = None
) -> BestOfStore:
    """By the engine ``wanted``, or else by the quickest. ``before``: by variable those that may be placed before it,
    () when any may be; ``slack``: how far rounding can move a difference of two local scores."""
    if store.n == 0:
        return BestOfStore(True, (), "none")
    choice = engine_for_best(store.n, listed=store.is_listed, before=before, wanted=wanted)
    if not store.is_listed or choice.engine not in ON_LISTS:
        return best_on_all_sets(store, choice, run, before, slack)
    known = begin(store.listed, run)
    is_finished = search_best(known, run, engine=choice.engine)
    masks = tuple(known.masks) if is_finished and known.masks is not None else None
    return BestOfStore(is_finished, masks, f"{choice.engine.value}: {known.method}")
