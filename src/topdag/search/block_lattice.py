"""The lattice for more variables: forward and backward tables over all sets, best parents made block by block."""

from __future__ import annotations

from topdag import _core
from topdag._util.run import Run, shown_bytes
from topdag.errors import TooLarge
from topdag.search.engines import set_bytes

BLOCK_LATTICE_LIMIT = 30
"""The core's sets of slots hold no more; two tables over all sets take 17 GB then."""

LIST_BYTES = 1e9
"""At most so much is set aside for the parent sets that are kept, whose number no one knows beforehand."""


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
    lattice = _core.build_block_lattice(scores, backward, run.limits)
    run.timed("lattice", begin)
    return lattice
