"""The lattice where some variables come before others in any case: over ideals, the sets that can come first."""

from __future__ import annotations

from collections.abc import Sequence

from topdag import _core
from topdag._util.run import Run
from topdag.search.engines import SMALL
from topdag.search.stores import Store

FEW, VERY_FEW = 8, 32
"""Where at most one set in so many is an ideal, visiting just those is about as fast as the dense lattice, or faster
than the block lattice: one set in 16 of parkinsons took as long as blocks, one in 1,366 a quarter of that."""


def n_ideals_if_few(store: Store, before: Sequence[int]) -> int | None:
    """How many sets can come first; None when they are no small part of all sets."""
    if not any(before):
        return None
    n = store.n
    most = 2**n // (FEW if n <= SMALL else VERY_FEW) + 1
    found = _core.count_ideals(store.core(before), most)
    return found if found < most else None


def ideal_lattice_of(
    store: Store, before: Sequence[int], n_ideals: int, run: Run, *, backward: bool
) -> _core.IdealLattice | None:
    """None when the time is up. ``backward``: for lists, with room for the bounds of families."""
    n, held = store.n, store.n_bytes
    more = (1 + run.threads) * (8 << n) if backward else 0
    run.require_memory(
        _core.ideal_lattice_bytes(n, n_ideals, backward) + held + more,
        f"The lattice on {n_ideals:,} sets of {n} variables",
        "Raise memory_limit, or leave out variables.",
        held=held,
    )
    begin = run.seconds
    core = store.core(before)
    lattice = _core.build_ideal_lattice(core, backward, run.threads, run.seconds_left, run.tick)
    run.timed("lattice", begin)
    return lattice
