"""Which engine answers which question at which size, and why."""

from __future__ import annotations

from topdag import _core
from topdag.errors import TooLarge
from topdag.runs import Run, available_memory, shown_bytes

LATTICE_LIMIT = 26
"""Above this many variables a table for each variable over all sets of the others passes 24 GB."""


def plan_lattice(n: int, run: Run, *, held: int = 0, more: int = 0) -> str:
    """Makes sure the lattice, and ``more`` bytes, fit beside the ``held`` bytes of scores; says what will be done."""
    if n > LATTICE_LIMIT:
        raise TooLarge(f"{n} variables: the lattice takes at most {LATTICE_LIMIT}. Leave out {n - LATTICE_LIMIT}.")
    allowed = available_memory() if run.memory_limit is None else run.memory_limit
    fits = max((m for m in range(1, n) if best_network_bytes(m) <= allowed), default=0)
    run.require_memory(
        _core.lattice_bytes(n) + more + (held or set_bytes(n)),
        f"The lattice on {n} variables",
        f"{fits} variables would fit ({shown_bytes(best_network_bytes(fits))})." if fits else "Raise memory_limit.",
        held=held,
    )
    return f"lattice over all {2**n:,} sets of {n} variables"


def set_bytes(n: int) -> int:
    """One number for each set of variables."""
    return 8 << n


def family_bytes(n: int) -> int:
    """One number for each family."""
    return 8 * n << max(0, n - 1)


def best_network_bytes(n: int) -> float:
    """What the best network of n variables takes in all: set scores and the lattice."""
    return set_bytes(n) + _core.lattice_bytes(n)
