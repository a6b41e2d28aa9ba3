"""The lattice that a list is read from: over all sets, block by block, or on the few sets that matter."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property

from topdag import _core
from topdag._util.options import option
from topdag._util.run import Run, available_memory, shown_bytes
from topdag.answers.lists import grid_epsilon
from topdag.errors import TooLarge
from topdag.questions.decide import decide_lattice, most_sets_of_a_lattice
from topdag.scoring.keep import MOST_IN_A_LIST, Within
from topdag.scoring.score import scored_again
from topdag.scoring.scores import Scores
from topdag.search.best import begin, kept_candidates, listed_network, search_best
from topdag.search.engines import SHARE_OF_MEMORY, Engine, plan_lattice, require_narrow, set_bytes
from topdag.search.lattice import (
    build_block_lattice,
    ideal_lattice_of,
    kept_bytes,
    lattice_of,
    most_held,
    plan_block_lattice,
)
from topdag.search.order_search import cluster_bound
from topdag.search.precedence_lists import PlacedLists, placed_lists
from topdag.search.reach import LARGEST_REACH, further_reach
from topdag.search.relaxation import Known, Relaxation, solve_root
from topdag.search.stores import ListStore

AnyLattice = _core.Lattice | _core.BlockLattice | _core.IdealLattice | _core.SparseLattice

BYTES_PER_SET = 150
BYTES_PER_FAMILY = 60


@dataclass(frozen=True)
class Wanted:
    """What a list should hold: at most so many, none further behind the best than this factor."""

    asked_by: str
    most: int = MOST_IN_A_LIST
    factor: float = math.inf

    @property
    def less(self) -> str:
        """What to ask for where this is too much."""
        if self.factor == math.inf:
            return "fewer networks"
        return "a smaller factor" + " or fewer networks" * (self.most < MOST_IN_A_LIST)

    def lowest(self, best: float, scores: Scores) -> float:
        """None that scores less is asked for, or can be told of."""
        asked = -math.inf if self.factor == math.inf else best - grid_epsilon(self.factor, scores.grid)
        return max(asked, best - scores.cutoff)

    def require_kept(self, scores: Scores) -> None:
        """Scores that were pruned for less will not do, unless they may be made anew."""
        if not scores.automatic:
            scores.require_kept(self.asked_by, most=self.most, factor=self.factor)


@dataclass(frozen=True)
class Prepared:
    """A lattice and the scores it was made from. ``reach``: nothing further behind the best is known of, in nats;
    infinite when all is."""

    scores: Scores
    lattice: AnyLattice
    reach: float
    engine: str


def plan_lists(n: int, form: Engine, run: Run) -> None:
    """Makes sure that memory holds what lists of n variables take, so that what cannot be listed is not scored."""
    if form is Engine.DENSE:
        plan_lattice(max(1, n), run, more=(1 + run.threads) * set_bytes(n))
    if form is Engine.BLOCKS:
        plan_block_lattice(n, run, backward=True)


class ManySets(Exception):
    """More sets lie on the way to near-best networks than partition needs time for."""


class Lattices:
    """The lattices for one list, each reaching further behind the best than the one before.

    ``is_infeasible``: there is no network at all, so no lattice either. Asking for the next raises ManySets where the
    list is to be made by partition instead.
    """

    def __init__(self, scores: Scores, wanted: Wanted, run: Run, less: str | None = None) -> None:
        """``less``: what to ask for where this is too much, if it is a part of a list."""
        require_narrow(len(scores.columns), "a list of networks")
        self.scores, self.wanted, self.run = scores, wanted, run
        self.less = wanted.less if less is None else less
        self.reach = 0.0
        self.is_infeasible = False
        self.standing: Known | None = None
        self.placed: PlacedLists | None = None
        self._best: list[int] | None = None

    def next(self, found: int = 0) -> Prepared | None:
        """The first one, or one that reaches further when the one before gave so many; None when the time is up, or
        when there is no network."""
        if decide_lattice(self.scores).engine is not Engine.SPARSE:
            return lattice_of_all_sets(self.scores, self.run)
        if self._best is None:
            self._best = self._best_network()
        if self._best is None:
            return None
        self.reach = self._next_reach(found)
        if self.reach > LARGEST_REACH and self._spread == math.inf:
            return self._everything()
        try:
            return self._sparse_lattice()
        except TooLarge:
            if not self.scores.automatic or len(self.scores.columns) > most_held():
                raise
        return self._everything()

    def _best_network(self) -> list[int] | None:
        placed = self.placed = _placed(self.scores)
        known = self.standing = begin(self.scores.store.listed if placed is None else placed.store, self.run)
        finished = search_best(known, self.run)
        self.is_infeasible = finished and known.masks is None
        if not finished or known.masks is None:
            return None
        return known.masks if placed is None else placed.without(known.masks)

    def _next_reach(self, found: int) -> float:
        """It need not pass the spread."""
        if self.wanted.factor < math.inf:
            return math.log(self.wanted.factor)
        return min(further_reach(self.reach, found, self.wanted.most), self._spread)

    @cached_property
    def _spread(self) -> float:
        return spread_of(self.scores)

    def _sparse_lattice(self) -> Prepared | None:
        wide = self._wide_enough()
        assert self._best is not None
        if wide is None:
            return None
        most = most_sets_of_a_lattice(self.scores, self.wanted.most)
        prepared = _sparse_lattice(wide, self._best, self.reach, most, self.less, self.run)
        return prepared if prepared is None or self.reach < self._spread else replace(prepared, reach=math.inf)

    def _wide_enough(self) -> Scores | None:
        """Scores with all families that networks within reach can need; None when the time is up."""
        if self._spread < math.inf:
            return self.scores
        factor = self.wanted.factor if self.wanted.factor < math.inf else math.exp(self.reach)
        return wide_enough(self.scores, factor, self.run)

    def _everything(self) -> Prepared | None:
        """Too many sets matter, so all are taken."""
        scores = self.scores
        if len(scores.columns) > most_held():
            raise TooLarge(
                f"Fewer networks than that score within {LARGEST_REACH:g} nats of the best, and tables over all sets "
                f"of {len(scores.columns)} variables are too large. Ask for {self.less}."
            )
        every = scored_again(scores, self.run, "all")
        return None if every is None else lattice_of_all_sets(every, self.run)


def spread_of(scores: Scores) -> float:
    """No network is further behind the best; infinite when not all families that are allowed have been scored."""
    if scores.automatic and scores.max_parents != 0:
        return math.inf
    return scores.store.listed.largest_shortfall


def _placed(scores: Scores) -> PlacedLists | None:
    """Listed families with what comes before, where they do not tell it by themselves."""
    if scores.rest is None:
        return None
    return placed_lists(scores.store.listed, scores.order)


def lattice_of_all_sets(scores: Scores, run: Run) -> Prepared | None:
    """None when the time is up."""
    lattice: AnyLattice | None
    decision = decide_lattice(scores)
    engine = decision.engine.value
    if decision.n_ideals is not None:
        lattice = ideal_lattice_of(scores.store, scores.before, decision.n_ideals, run, backward=True)
        engine = f"{engine} ({decision.n_ideals:,})"
    elif decision.engine is Engine.DENSE:
        lattice = _dense_lattice(scores, run)
    else:
        lattice = _block_lattice(scores, run)
    return None if lattice is None else Prepared(scores, lattice, math.inf, engine)


def _dense_lattice(scores: Scores, run: Run) -> _core.Lattice | None:
    begin = run.seconds
    lattice = lattice_of(scores.store, run, scores.before)
    run.timed("lattice", begin)
    return lattice


def _block_lattice(scores: Scores, run: Run) -> _core.BlockLattice | None:
    held = scores.store.n_bytes
    plan_block_lattice(len(scores.columns), run, backward=True, held=held)
    lattice = build_block_lattice(scores.store.core(scores.before), run, backward=True)
    if lattice is not None:
        spare = available_memory() if run.memory_limit is None else run.memory_limit - run.memory
        room = max(0.0, SHARE_OF_MEMORY * spare) + kept_bytes(len(scores.columns))
        lattice.room_for_families = int(min(room, 1e18) / BYTES_PER_FAMILY)
    return lattice


@contextmanager
def within_memory(less: str) -> Iterator[None]:
    """While families are read from a lattice."""
    try:
        yield
    except MemoryError as error:
        raise TooLarge(
            f"More families occur in networks so near the best than memory holds. Ask for {less}, set "
            f"{option('max_parents')}, or leave out variables."
        ) from error


def wide_enough(scores: Scores, factor: float, run: Run) -> Scores | None:
    """Scores with all families that networks within this factor can need; None when the time is up."""
    if not scores.automatic or scores.is_kept(factor=factor):  # what the former lack, no answer needs
        return scores
    return scored_again(scores, run, Within(factor * (1 + 1e-12)))


def _sparse_lattice(
    scores: Scores, best: list[int], epsilon: float, most: float, less: str, run: Run
) -> Prepared | None:
    """From a best network: the sets that orders of networks within ``epsilon`` of it pass."""
    placed = _placed(scores)
    store = scores.store.listed if placed is None else placed.store
    incumbent = listed_network(store, best if placed is None else placed.within(best))
    assert incumbent is not None
    root = solve_root(store, run, incumbent=incumbent, epsilon=epsilon)
    begin = run.seconds
    threshold = incumbent.cost + epsilon
    lattice = _lattice_within(store, placed, root, threshold, most, less, run)
    run.timed("lattice", begin)
    return None if lattice is None else Prepared(scores, lattice, epsilon, f"sparse lattice of {lattice.n_sets:,} sets")


def _lattice_within(
    store: ListStore,
    placed: PlacedLists | None,
    root: Relaxation,
    threshold: float,
    most_wanted: float,
    less: str,
    run: Run,
) -> _core.SparseLattice | None:
    candidates, shift = kept_candidates(store, root, threshold)
    listed = candidates if placed is None else placed.candidates(root.kept_families(threshold))
    threshold -= shift
    bound = cluster_bound(candidates, root.clusters, root.multipliers)
    memory = run.allowed_memory
    most = int(min(SHARE_OF_MEMORY * memory / BYTES_PER_SET, most_wanted))
    complete, sets, costs = _core.sets_within(candidates, bound, threshold, most, run.limits)
    if not complete:
        if run.is_over:
            return None
        if most_wanted < math.inf:
            raise ManySets
        raise TooLarge(
            f"More than {most:,} sets of variables lie on the way to networks so near the best; "
            f"{shown_bytes(memory)} hold no more. Ask for {less}."
        )
    before = () if placed is None else placed.before
    return _core.build_sparse_lattice(listed, sets, costs, threshold, run.limits, before)
