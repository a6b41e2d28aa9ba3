"""The lattice where some variables come before others in any case: over ideals, the sets that can come first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from topdag import _core
from topdag._util.run import Run
from topdag.search.engines import sizes
from topdag.search.family_lists import FamilyLists
from topdag.search.stores import ListStore, Store


def n_ideals_if_few(n: int, before: Sequence[int]) -> int | None:
    """How many sets can come first; None when they are no small part of all sets."""
    if not any(before):
        return None
    most = 2**n // (sizes().ideals if n <= sizes().small else sizes().ideals_of_many) + 1
    found = _core.count_ideals(_only_order(n).core(before), most)
    return found if found < most else None


def _only_order(n: int) -> Store:
    """Without parents, so that nothing but an order tells what can come first."""
    return ListStore(n, FamilyLists.build([str(v) for v in range(n)], [(v, (), 0.0) for v in range(n)]), np.zeros(n))


def ideal_lattice_of(
    store: Store, before: Sequence[int], n_ideals: int, run: Run, *, backward: bool
) -> _core.IdealLattice | None:
    """None when the time is up. ``backward``: for lists, with room for the bounds of families."""
    n, held = store.n, sum(array.nbytes for array in store.arrays)
    more = (1 + run.threads) * (8 << n) if backward else 0
    run.require_memory(
        _core.ideal_lattice_bytes(n, n_ideals, backward) + held + more,
        f"The lattice on {n_ideals:,} sets of {n} variables",
        "Raise memory_limit, or leave out variables.",
        held=held,
    )
    begin = run.seconds
    core = store.core(before)
    lattice = _core.build_ideal_lattice(core, backward, run.limits)
    run.timed("lattice", begin)
    return lattice
