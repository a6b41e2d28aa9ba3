"""The engines, the sizes up to which each answers, and the memory it takes."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass
from typing import TypeVar

from topdag import _core
from topdag._util.run import Run, shown_bytes
from topdag.errors import ScoreError, TooLarge

LATTICE_LIMIT = 26
"""Above this many variables the dense lattice, a table for each variable over all sets of the others, passes 24 GB."""
BLOCK_LIMIT = 30
"""Above this many variables two numbers for each set pass 24 GB."""
SEARCH_LIMIT = 64
"""Sets of variables are 64 bits."""
WIDE_LIMIT = 128
"""The best network of listed families is searched for among up to so many."""
SMALL = 20
"""Up to this many variables the dense lattice answers in a fraction of a second, whatever the score; beyond, the block
lattice is faster and takes less memory, where all sets are needed."""

Named = TypeVar("Named", bound=enum.Enum)


class Engine(enum.Enum):
    """DENSE: tables over all sets. BLOCKS: the same, block by block. SEARCH: on listed families the relaxation, then
    order search for a while, then branch and cut; ORDERS and CUTS: just one of the two after the relaxation.
    CYCLES: branch and bound over cycles, as published in 2009; never chosen, since it wins fractions of a second where
    all is quick, and loses elsewhere (docs/guides/large_tables.md)."""

    DENSE = "dense lattice"
    BLOCKS = "block lattice"
    SEARCH = "search"
    ORDERS = "order search"
    CUTS = "branch and cut"
    CYCLES = "branching"


class OrderBound(enum.Enum):
    """What tells order search how much placing the other variables costs at least (docs/explanation/papers.md). SIMPLE,
    STATIC, DYNAMIC: as published in 2013, without the relaxation. CLUSTER: the multipliers of the relaxation."""

    SIMPLE = "simple"
    STATIC = "static"
    DYNAMIC = "dynamic"
    CLUSTER = "cluster"


@dataclass(frozen=True)
class Choice:
    """An engine, and why it was chosen."""

    engine: Engine
    reason: str


ON_LISTS = (Engine.SEARCH, Engine.ORDERS, Engine.CUTS, Engine.CYCLES)


def engine_for_best(n: int, *, listed: bool, wanted: Engine | None = None) -> Choice:
    """What finds the best network; ``listed``: the families stand in lists; ``wanted`` overrules."""
    require_searchable(n)
    if wanted is not None:
        require_takes(wanted, n)
        return Choice(wanted, "asked for")
    if listed and n > SMALL:
        return Choice(Engine.SEARCH, "families are listed, and few of the sets matter")
    return all_sets_choice(n, f"a table over {2**n:,} sets is small" if n <= SMALL else "every set may matter")


def require_takes(engine: Engine, n: int) -> None:
    """Raises TooLarge where an engine that was asked for takes fewer variables."""
    if engine not in (Engine.SEARCH, Engine.CUTS):
        require_narrow(n, f"engine={engine.value!r}")


def named_engine(name: str) -> Engine:
    return _named(name, Engine, "engine")


def named_bound(name: str, engine: Engine | None) -> OrderBound:
    """The bound of order search that was asked for, with this engine."""
    found = _named(name, OrderBound, "bound")
    if engine is not Engine.ORDERS:
        raise ScoreError(f"The bound {name!r} is for the engine {Engine.ORDERS.value!r}: ask for that, too.")
    return found


def _named(name: str, kinds: type[Named], what: str) -> Named:
    for kind in kinds:
        if name == kind.value:
            return kind
    names = ", ".join(repr(kind.value) for kind in kinds)
    raise ScoreError(f"There is no {what} {name!r}; there are {names}.")


def require_searchable(n: int) -> None:
    if n > WIDE_LIMIT:
        raise TooLarge(
            f"{n} variables: at most {WIDE_LIMIT} can be searched. Leave out {n - WIDE_LIMIT} columns, for "
            "example those that depend on others by definition."
        )


def require_narrow(n: int, what: str) -> None:
    """Raises TooLarge where sets of variables have to fit a machine word; ``what`` asks for it."""
    if n > SEARCH_LIMIT:
        raise TooLarge(
            f"{n} variables: {what} takes at most {SEARCH_LIMIT}. With more, up to {WIDE_LIMIT}, the best network can "
            "be found, under constraints too, without a prior, with BIC or AIC or a limit on parents."
        )


def all_sets_choice(n: int, reason: str) -> Choice:
    return Choice(Engine.DENSE if n <= SMALL else Engine.BLOCKS, reason)


def n_sets_up_to(n: int, size: int) -> int:
    return sum(math.comb(n, s) for s in range(min(n, size) + 1))


def plan_lattice(n: int, run: Run, *, held: int = 0, more: int = 0) -> str:
    """Makes sure the lattice, and ``more`` bytes, fit beside the ``held`` bytes of scores; says what will be done."""
    if n > LATTICE_LIMIT:
        raise TooLarge(f"{n} variables: the lattice takes at most {LATTICE_LIMIT}. Leave out {n - LATTICE_LIMIT}.")
    allowed = run.allowed_memory
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
