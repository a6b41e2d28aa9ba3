"""The lattice of a store: best parents, forward and backward tables over sets of variables.

Over all sets; over all sets with best parents made block by block, for more variables; or, where some variables always
come before others, over ideals, the sets that can come first.
"""

from __future__ import annotations

from collections.abc import Sequence

from topdag import _core
from topdag._util.run import Run, shown_bytes
from topdag.errors import TooLarge
from topdag.search.engines import SMALL, plan_lattice, set_bytes
from topdag.search.stores import Store

BLOCK_LATTICE_LIMIT = 30
"""The core's sets of slots hold no more; two tables over all sets take 17 GB then."""

LIST_BYTES = 1e9
"""At most so much is set aside for the parent sets that are kept, whose number no one knows beforehand."""

FEW, VERY_FEW = 8, 32
"""Where at most one set in so many is an ideal, visiting just those is about as fast as the dense lattice, or faster
than the block lattice: one set in 16 of parkinsons took as long as blocks, one in 1,366 a quarter of that."""


def lattice_of(store: Store, run: Run, before: Sequence[int] = ()) -> _core.Lattice | None:
    """With room beside it for the bounds of families; None when the time is up. ``before``: the variables that
    always come before each."""
    plan_lattice(store.n, run, held=store.n_bytes, more=set_bytes(store.n) * (1 + run.threads))
    return _core.build_lattice(store.core(before), run.threads, run.seconds_left, run.tick)


def block_lattice_bytes(n: int, *, backward: bool, threads: int) -> float:
    """What the lattice takes beside the scores; ``backward`` as lists need it."""
    return _core.block_lattice_bytes(n, backward, threads) + kept_bytes(n)


def kept_bytes(n: int) -> float:
    """What is set aside for parent sets and families."""
    return min(LIST_BYTES, 2 * set_bytes(n))


def plan_block_lattice(n: int, run: Run, *, backward: bool, held: int = 0) -> str:
    """Makes sure the lattice fits beside the ``held`` bytes of scores; says what will be done."""
    if n > BLOCK_LATTICE_LIMIT:
        over = n - BLOCK_LATTICE_LIMIT
        raise TooLarge(f"{n} variables: the block lattice takes at most {BLOCK_LATTICE_LIMIT}. Leave out {over}.")
    needed = block_lattice_bytes(n, backward=backward, threads=run.threads) + (held or set_bytes(n))
    run.require_memory(
        needed,
        f"The lattice on {n} variables",
        f"Each variable left out halves it: {shown_bytes(needed / 2)}; max_parents, or BIC, leaves few of the sets.",
        held=held,
    )
    return f"lattice over all {2**n:,} sets of {n} variables, block by block"


def build_block_lattice(scores: _core.LocalScores, run: Run, *, backward: bool) -> _core.BlockLattice | None:
    """The filled lattice; None when the time is up first. Lists need it with ``backward``."""
    begin = run.seconds
    lattice = _core.build_block_lattice(scores, backward, run.threads, run.seconds_left, run.tick)
    run.timed("lattice", begin)
    return lattice


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
