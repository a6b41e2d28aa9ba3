"""The lattice of a store: best parents, forward and backward tables over sets of variables; and the best network from
one.

Over all sets; over all sets with best parents made block by block, for more variables; or, where some variables always
come before others, over ideals, the few sets that can come first.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from topdag import _core
from topdag._util.memory import whole_memory
from topdag._util.options import option
from topdag._util.run import Run, shown_bytes, usable_cores
from topdag.search.engines import (
    Choice,
    Engine,
    all_sets_choice,
    most_that_fit,
    plan_lattice,
    require_searchable,
    require_takes,
    set_bytes,
    sizes,
)
from topdag.search.stores import ListStore, Store

MOST_IDEALS = 2**32 - 1
"""Their places are 32 bits."""
LIST_BYTES = 1e9
"""At most so much is set aside for the parent sets that are kept, whose number no one knows beforehand."""


def lattice_of(store: Store, run: Run, before: Sequence[int] = ()) -> _core.Lattice | None:
    """With room beside it for the bounds of families; None when the time is up. ``before``: the variables that
    always come before each."""
    plan_lattice(store.n, run, held=store.n_bytes, more=set_bytes(store.n) * (1 + run.threads))
    return _core.build_lattice(store.core(before), run.limits)


def engine_for_best(n: int, *, listed: bool, before: Sequence[int], wanted: Engine | None = None) -> Choice:
    """What finds the best network; ``listed``: the families stand in lists; ``wanted`` overrules."""
    require_searchable(n)
    if wanted is not None:
        require_takes(wanted, n)
        return Choice(wanted, "asked for")
    if listed and n > sizes().small:
        return Choice(Engine.SEARCH, "families are listed, and few of the sets matter")
    return lattice_for(n, before)


def lattice_for(n: int, before: Sequence[int]) -> Choice:
    """The lattice over all sets, in blocks or not, or over those alone that can come first, where these are few."""
    n_ideals = n_ideals_if_few(n, before)
    if n_ideals is not None:
        return Choice(Engine.IDEALS, f"{n_ideals:,} of {2**n:,} sets can come first", n_ideals)
    return all_sets_choice(n, f"a table over {2**n:,} sets is small" if n <= sizes().small else "every set may matter")


@dataclass(frozen=True)
class BestOfStore:
    """``masks``: the best network; None when there is none, or when it is not known because the time was up
    (``is_finished`` is False). ``best_alone``: by variable its best local score, where an engine tells it early."""

    is_finished: bool
    masks: tuple[int, ...] | None
    engine: str
    best_alone: Sequence[float] = ()
    counted: Mapping[str, int] = field(default_factory=dict)


def best_on_all_sets(store: Store, choice: Choice, run: Run, before: Sequence[int], slack: float) -> BestOfStore:
    """From the lattice that was chosen: over all sets, in blocks or not, or over those alone that can come first."""
    if choice.n_ideals is not None:
        return _by_ideals(store, choice.n_ideals, run, before, slack)
    if choice.engine is Engine.BLOCKS:
        plan_block_lattice(store.n, run, backward=False, held=store.n_bytes)
        blocks = build_block_lattice(store.core(before), run, backward=False)
        masks = None if blocks is None else _network(blocks.best_score, blocks.best_parents(slack))
        return BestOfStore(blocks is not None, masks, choice.engine.value)
    plan_lattice(store.n, run, held=store.n_bytes)
    found = _core.best_network(store.core(before), slack, run.limits)
    run.phases |= {"sweeping": found.sweep_seconds, "ordering": found.order_seconds}
    masks = _network(found.score, found.parents) if found.finished else None
    return BestOfStore(found.finished, masks, choice.engine.value, found.best_alone)


def _by_ideals(store: Store, n_ideals: int, run: Run, before: Sequence[int], slack: float) -> BestOfStore:
    name = Engine.IDEALS.value
    counted = {"sets visited": n_ideals}
    lattice = ideal_lattice_of(store, before, n_ideals, run, backward=False)
    if lattice is None:
        return BestOfStore(False, None, name, counted=counted)
    return BestOfStore(
        True, _network(lattice.best_score, lattice.best_parents(slack)), name, lattice.best_alone, counted
    )


def _network(value: float, parents: Sequence[int]) -> tuple[int, ...] | None:
    return None if value == -math.inf else tuple(parents)


def block_lattice_bytes(n: int, *, backward: bool, threads: int) -> float:
    """What the lattice takes beside the scores; ``backward`` as lists need it."""
    return _core.block_lattice_bytes(n, backward, threads) + kept_bytes(n)


def most_held() -> int:
    """So many variables have scores of all sets and a lattice that the memory of this machine holds, if nothing else
    does; or ``sizes().held``, where smaller machines say what is lacking."""
    threads = usable_cores()

    def needed(n: int) -> float:
        return set_bytes(n) + block_lattice_bytes(n, backward=False, threads=threads)

    return max(sizes().held, most_that_fit(needed, whole_memory()))


def kept_bytes(n: int) -> float:
    """What is set aside for parent sets and families."""
    return min(LIST_BYTES, 2 * set_bytes(n))


def plan_block_lattice(n: int, run: Run, *, backward: bool, held: int = 0) -> None:
    """Makes sure the lattice fits beside the ``held`` bytes of scores."""
    needed = block_lattice_bytes(n, backward=backward, threads=run.threads) + (held or set_bytes(n))
    run.require_memory(
        needed,
        f"The lattice on {n} variables",
        f"Each variable left out halves it: {shown_bytes(needed / 2)}; "
        f"{option('max_parents')}, or BIC of states, leaves few.",
        held=held,
    )


def build_block_lattice(scores: _core.LocalScores, run: Run, *, backward: bool) -> _core.BlockLattice | None:
    """The filled lattice; None when the time is up first. Lists need it with ``backward``."""
    begin = run.seconds
    lattice = _core.build_block_lattice(scores, backward, run.limits)
    run.timed("lattice", begin)
    return lattice


def n_ideals_if_few(n: int, before: Sequence[int]) -> int | None:
    """How many sets can come first; None when they are no small part of all sets."""
    if not any(before):
        return None
    most = min(MOST_IDEALS, 2**n // (sizes().ideals if n <= sizes().small else sizes().ideals_of_many) + 1)
    found = _core.count_ideals(_only_order(n).core(before), most)
    return found if found < most else None


def _only_order(n: int) -> Store:
    """Without parents, so that nothing but an order tells what can come first."""
    nothing = np.zeros(1, dtype=np.uint64), np.zeros(1)
    return ListStore.of([str(v) for v in range(n)], [nothing] * n)


def ideal_lattice_of(
    store: Store, before: Sequence[int], n_ideals: int, run: Run, *, backward: bool
) -> _core.IdealLattice | None:
    """None when the time is up. ``backward``: for lists, with room for the bounds of families."""
    n, held = store.n, store.n_bytes
    more = (1 + run.threads) * (8 << n) if backward else 0
    run.require_memory(
        _core.ideal_lattice_bytes(n, n_ideals, backward) + held + more,
        f"The lattice on {n_ideals:,} sets of {n} variables",
        f"Raise {option('memory_limit')}, or leave out variables.",
        held=held,
    )
    begin = run.seconds
    core = store.core(before)
    lattice = _core.build_ideal_lattice(core, backward, run.limits)
    run.timed("lattice", begin)
    return lattice
