"""The best network of listed families: a quick network, the relaxation, order search, branch and cut, while each pays.

Strongly connected parts of the graph of candidate parents are searched one after another: what comes before a part is
there for it as parents, whatever its families are. How far each method goes is counted in work, not in seconds, so the
answer does not depend on how fast the machine is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from topdag import _core
from topdag._util.bitsets import NARROW, masks_in, set_array
from topdag._util.run import Run
from topdag._util.stop import Stop
from topdag.search.branch_and_cut import prove_best
from topdag.search.checkpoints import Checkpoint, State
from topdag.search.components import Part, parts_of
from topdag.search.costs import Families
from topdag.search.cycles import branch_on_cycles
from topdag.search.engines import ON_LISTS, Engine, OrderBound
from topdag.search.lattice import BestOfStore, best_on_all_sets, engine_for_best
from topdag.search.open_nodes import OpenParts
from topdag.search.order_search import OrderOutcome, cluster_bound, pattern_bound, search_orders
from topdag.search.relaxation import Incumbent, Known, Relaxation, known_from, solve_root
from topdag.search.stores import ListStore, Store

FIRST_SETS = 20_000
"""Sets that order search may meet before branch and cut gets its turn: where it wins, it needs few."""
BYTES_PER_SET = 60
SHARE_OF_MEMORY = 0.6


@dataclass
class Standing:
    """How the search for the best network stands; true at any moment.

    ``known``: the best network met and the bound, as costs; ``method``: what was at work last; ``work``: counts;
    ``limit``: what stopped it, if not the run.
    """

    store: ListStore
    known: Known
    method: str = "climbing over orders"
    work: dict[str, int] = field(default_factory=dict)
    root: Relaxation | None = None
    limit: Stop | None = None

    @classmethod
    def begin(cls, store: ListStore, run: Run, start: Sequence[int] | None = None) -> Standing:
        incumbent = None if start is None else listed_network(store, start)
        return cls(store, known_from(store, run, None, incumbent))

    @property
    def bound(self) -> float:
        """No network scores more."""
        return self.known.best_score - self.known.bound

    @property
    def masks(self) -> list[int] | None:
        return None if self.known.incumbent is None else list(self.known.incumbent.masks)

    @property
    def is_proved(self) -> bool:
        return self.known.bound >= self.known.cost

    def counted(self, **numbers: int) -> None:
        for name, number in numbers.items():
            what = name.replace("_", " ")
            self.work[what] = self.work.get(what, 0) + number


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
    standing: Standing,
    run: Run,
    *,
    checkpoint: Path | None = None,
    engine: Engine = Engine.SEARCH,
    bound: OrderBound = OrderBound.CLUSTER,
) -> bool:
    """Whether the best network is proved, or that there is none; False when a limit came first.

    With a checkpoint the variables are searched all together, so that one state is enough. ``bound``: of order search.
    """
    if checkpoint is not None:
        return _search_from(standing, run, Checkpoint(checkpoint, standing.store))
    parts = parts_of(standing.store.any_candidates)
    if len(parts) == 1:
        return _search_whole(standing, run, engine, bound)
    return _search_parts(standing, parts, run, engine, bound)


def best_score_of(store: ListStore) -> float:
    """The score of the best network; minus infinity when there is none."""
    standing = Standing.begin(store, Run())
    search_best(standing, Run())
    return standing.known.best_score - standing.known.cost


def _search_parts(standing: Standing, parts: Sequence[Part], run: Run, engine: Engine, bound: OrderBound) -> bool:
    """One after another; the cost of the best network is the sum of theirs."""
    store, known = standing.store, standing.known
    known.climb()
    allowed = [0] * store.n
    proved = 0.0
    for part in parts:
        own = Standing.begin(part.store(store.lists.names), run)
        own.known.elsewhere = known.best_score - own.known.best_score - proved
        finished = search_best(own, run, engine=engine, bound=bound)
        for what, number in own.work.items():
            standing.work[what] = standing.work.get(what, 0) + number
        standing.method, standing.limit = own.method, own.limit
        known.raise_bound(proved + own.known.bound)
        if not finished:
            return False
        if own.masks is None:
            known.bound = math.inf
            return True
        proved += own.known.cost
        for x, mask in zip(part.variables, own.masks, strict=True):
            allowed[x] = part.allowed_parents(mask)
    whole = listed_network(store, allowed)
    assert whole is not None and whole.cost == proved
    known.offer(whole.cost, list(whole.masks))
    known.raise_bound(whole.cost)
    return True


def _search_whole(standing: Standing, run: Run, engine: Engine, bound: OrderBound) -> bool:
    if engine is Engine.CYCLES:
        return _by_cycles(standing, run)
    if engine is Engine.ORDERS and bound is not OrderBound.CLUSTER:
        return _by_patterns(standing, run, bound)
    standing.root = root = solve_root(standing.store, run, known=standing.known)
    standing.method = "relaxation"
    standing.counted(rounds=root.rounds, cuts=root.cuts)
    standing.known.raise_bound(root.bound)
    if standing.is_proved or run.is_over:
        return standing.is_proved
    if engine is Engine.ORDERS:
        return _by_orders(standing, root, run, None)
    if engine is Engine.SEARCH and standing.store.n <= NARROW and _by_orders(standing, root, run, FIRST_SETS):
        return True
    return not run.is_over and _by_branching(standing, root, run)


def _search_from(standing: Standing, run: Run, checkpoint: Checkpoint) -> bool:
    """As ``_search_whole``, from where the checkpoint left it; the file stays when all is done."""
    known, state = standing.known, checkpoint.read()
    if state is not None:
        standing.root = root = state.root
        known.offer(state.incumbent.cost, list(state.incumbent.masks))
        known.raise_bound(state.bound)
        standing.counted(resumed=1)
    else:
        standing.root = root = solve_root(standing.store, run, known=known)
        standing.counted(rounds=root.rounds, cuts=root.cuts)
    standing.method = "relaxation"
    known.raise_bound(root.bound)
    if known.incumbent is None or run.is_over:
        return standing.is_proved
    if state is None:
        checkpoint.write(State(root, known.incumbent, known.bound, None), run.seconds)
    if not standing.is_proved and (state is None or state.parts is None) and standing.store.n <= NARROW:
        _by_orders(standing, root, run, FIRST_SETS)
    if standing.is_proved:
        return True
    return not run.is_over and _by_branching(standing, root, run, checkpoint, None if state is None else state.parts)


def kept_candidates(store: ListStore, root: Relaxation, threshold: float) -> tuple[_core.Candidates, float]:
    """The families that networks of at most this cost may have, and what even the best of them cost together.

    Candidates count costs from the best of their own, so costs of networks are less by just that.
    """
    kept = root.kept_families(threshold)
    left = Families.of_store(store).only(kept)
    shift = float(np.minimum.reduceat(left.costs, left.offsets[:-1]).sum())
    return _core.Candidates(store.n, left.offsets, left.parents, store.rounded[kept]), shift


def _by_orders(standing: Standing, root: Relaxation, run: Run, most_sets: int | None) -> bool:
    """Until so many sets were met; without a number, as long as it takes, layer by layer when memory is short."""
    known = standing.known
    candidates, shift = kept_candidates(standing.store, root, known.cost)
    bound = cluster_bound(candidates, root.clusters, root.multipliers)
    memory = None if most_sets is None else min(most_sets * BYTES_PER_SET, int(SHARE_OF_MEMORY * run.allowed_memory))
    found = search_orders(candidates, bound, run, upper=known.cost - shift, memory=memory)
    if most_sets is None:
        standing.limit = found.limit or standing.limit
    return _learned(standing, found, shift)


def _by_patterns(standing: Standing, run: Run, kind: OrderBound) -> bool:
    """As published in 2013, with a network found by climbing to prune with."""
    known = standing.known
    known.climb()
    if run.is_over:
        return False
    candidates = standing.store.candidates
    found = search_orders(candidates, pattern_bound(candidates, kind), run, upper=known.cost)
    standing.limit = found.limit or standing.limit
    return _learned(standing, found, 0.0)


def _learned(standing: Standing, found: OrderOutcome, shift: float) -> bool:
    """Whether a search is finished, whose costs are less by so much."""
    known = standing.known
    standing.method = found.method
    standing.counted(sets_expanded=found.work["expanded"], sets_met=found.work["generated"])
    known.raise_bound(found.bound + shift)
    if found.masks is not None:
        known.offer(found.cost + shift, list(found.masks))
    if found.finished:
        known.raise_bound(known.cost)
    return found.finished


def _by_cycles(standing: Standing, run: Run) -> bool:
    standing.method = "branch and bound over cycles"
    known = standing.known
    incumbent = None if known.incumbent is None else (known.incumbent.cost, known.incumbent.masks)
    found = branch_on_cycles(standing.store, run, incumbent)
    standing.counted(**found.work)
    if found.masks is not None:
        known.offer(found.cost, list(found.masks))
    known.raise_bound(found.bound)
    standing.limit = found.limit or standing.limit
    return found.finished


def _by_branching(
    standing: Standing,
    root: Relaxation,
    run: Run,
    checkpoint: Checkpoint | None = None,
    parts: OpenParts | None = None,
) -> bool:
    standing.method = "branch and cut"
    known = standing.known

    def save(where: Callable[[], OpenParts]) -> None:
        if checkpoint is not None and checkpoint.is_due(run.seconds) and known.incumbent is not None:
            checkpoint.write(State(root, known.incumbent, known.bound, where()), run.seconds)

    found = prove_best(standing.store, run, root=root, known=known, resumed=parts, on_split=save)
    work = found.work
    standing.counted(parts=work["parts"], rounds=work["rounds"] - root.rounds, cuts=work["cuts"] - root.cuts)
    if found.finished:
        standing.known.raise_bound(standing.known.cost)
    return found.finished


def best_of_store(
    store: Store, run: Run, *, before: Sequence[int] = (), slack: float = 0.0, wanted: Engine | None = None
) -> BestOfStore:
    """By the engine ``wanted``, or else by the quickest. ``before``: by variable those that may be placed before it,
    () when any may be; ``slack``: how far rounding can move a difference of two local scores."""
    if store.n == 0:
        return BestOfStore(True, (), "none")
    choice = engine_for_best(store.n, listed=isinstance(store, ListStore), before=before, wanted=wanted)
    if not isinstance(store, ListStore) or choice.engine not in ON_LISTS:
        return best_on_all_sets(store, choice, run, before, slack)
    standing = Standing.begin(store, run)
    is_finished = search_best(standing, run, engine=choice.engine)
    masks = tuple(standing.masks) if is_finished and standing.masks is not None else None
    return BestOfStore(is_finished, masks, f"{choice.engine.value}: {standing.method}")
