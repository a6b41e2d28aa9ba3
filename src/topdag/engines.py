"""Which engine answers which question at which size, and why."""

from __future__ import annotations

from topdag import _core
from topdag.errors import TooLarge
from topdag.runs import Run, shown_bytes

LATTICE_LIMIT = 26
"""Above this many variables a table for each variable over all sets of the others passes 24 GB."""


def plan_lattice(n: int, run: Run) -> str:
    """Makes sure the lattice fits; returns what will be done, in words."""
    if n > LATTICE_LIMIT:
        raise TooLarge(f"{n} variables: the lattice takes at most {LATTICE_LIMIT}. Leave out {n - LATTICE_LIMIT}.")
    allowed = run.memory_limit
    fits = max((m for m in range(1, n) if allowed is None or _core.lattice_bytes(m) <= allowed), default=0)
    run.require_memory(
        _core.lattice_bytes(n),
        f"The lattice on {n} variables",
        f"{fits} variables would fit ({shown_bytes(_core.lattice_bytes(fits))})." if fits else "Raise memory_limit.",
    )
    return f"lattice over all {2**n:,} sets of {n} variables"
