"""The lattice of a store: best parents, forward and backward tables over all sets of variables; and the best network
that a lattice tells: in one piece, in blocks, or over the few sets that can come first."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from topdag import _core
from topdag._util.run import Run
from topdag.search.block_lattice import build_block_lattice, plan_block_lattice
from topdag.search.engines import (
    Choice,
    Engine,
    all_sets_choice,
    plan_lattice,
    require_searchable,
    require_takes,
    set_bytes,
    sizes,
)
from topdag.search.ideal_lattices import ideal_lattice_of, n_ideals_if_few
from topdag.search.stores import Store


def lattice_of(store: Store, run: Run, before: Sequence[int] = ()) -> _core.Lattice | None:
    """With room beside it for the bounds of families; None when the time is up. ``before``: the variables that come
    before each."""
    plan_lattice(store.n, run, held=_bytes_of(store), more=set_bytes(store.n) * (1 + run.threads))
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
        plan_block_lattice(store.n, run, backward=False, held=_bytes_of(store))
        blocks = build_block_lattice(store.core(before), run, backward=False)
        masks = None if blocks is None else _network(blocks.best_score, blocks.best_parents(slack))
        return BestOfStore(blocks is not None, masks, choice.engine.value)
    plan_lattice(store.n, run, held=_bytes_of(store))
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


def _bytes_of(store: Store) -> int:
    return sum(array.nbytes for array in store.arrays)
