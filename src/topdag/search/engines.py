"""The engines, how their searches end, the sizes up to which each answers, and the memory it takes."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TypeVar

from topdag import _core
from topdag._util.bitsets import MOST_VARIABLES
from topdag._util.options import option
from topdag._util.run import Run, shown_bytes
from topdag._util.stop import Stop
from topdag.errors import ScoreError, TooLarge

SEARCH_LIMIT = 64
"""Sets of variables are 64 bits."""
SHARE_OF_MEMORY = 0.6
"""Of what may be used, for what a search keeps."""
WIDE_LIMIT = MOST_VARIABLES
"""The best network of listed families is searched for among up to so many."""


@dataclass(frozen=True)
class Outcome:
    """How a search for the best network of listed families ended; costs, so that less is better.

    ``masks``: the best network found, a parent mask for each variable; None, and the cost infinite, when none was. No
    network costs less than ``bound``. ``finished``: it is the best, or there is none and the bound is infinite too;
    else ``limit`` says what stopped it. ``work``: what was done, counted.
    """

    finished: bool
    masks: tuple[int, ...] | None
    cost: float
    bound: float
    limit: Stop | None
    work: dict[str, int]


@dataclass(frozen=True)
class Sizes:
    """The sizes at which engines change.

    ``small``: up to so many variables the dense lattice answers in a fraction of a second, whatever the score; beyond,
    the block lattice is faster and takes less memory, where all sets are needed. ``few``: up to so many all sets are
    counted, in less than half a second, whatever the score; ``few_with_parameters``: up to so many every family is
    scored under parameter constraints, mostly within a second. ``sparse``: lists pay when at most one set in so many
    can matter. ``ideals``, ``ideals_of_many``: where at most one set in so many is an ideal, visiting just those is
    about as fast as the dense lattice, or faster than the block lattice: one set in 16 of parkinsons took as long as
    blocks, one in 1,366 a quarter of that. ``split``: up to so many variables parts of a space are searched on tables
    over all sets; with more they take longer than some seconds each. ``partition``: beyond so many variables lists of
    listed families are made by partition, whose work does not grow with the sets that orders pass; up to so many the
    sparse lattice lists tens of thousands in the time that partition takes for a hundred. ``crowded``: so does it where
    the lists have more families than this for each variable: then orders of the best networks pass few sets, and the
    linear programs of partition are large (wdbc: 471 for each of 31 variables, 596 sets). ``few_sets``,
    ``sets_for_an_item``: where orders of near-best networks pass more sets than that, and than so many for each item
    that is asked for, partition takes over: a set takes 3 us, an item by partition 10 ms (24 variables of which few
    hang together: 0.04 against more than 17 processor seconds for five classes). ``held``: up to so many variables,
    where all sets are needed, a machine whose memory does not hold them says what is lacking; beyond, families are
    searched as lists there. ``long_list``: lists of fewer families are searched in a fraction of a second.
    ``sets_for_a_family``: with at most so many sets for each family of longer ones, the block lattice finds the best
    network sooner than search: 22 variables and 7,658 families took 0.1 against 4.6 processor seconds, 25 and 264,192
    took 1.7 and were not proved in 13; 25 and 2,390 took 1.5 against 1.1.
    """

    small: int = 20
    few: int = 22
    few_with_parameters: int = 8
    sparse: int = 16
    ideals: int = 8
    ideals_of_many: int = 32
    split: int = 23
    partition: int = 30
    crowded: int = 200
    few_sets: int = 200_000
    sets_for_an_item: int = 3_000
    held: int = 30
    long_list: int = 2_000
    sets_for_a_family: int = 4096


_sizes = Sizes()


def sizes() -> Sizes:
    return _sizes


@contextmanager
def sizes_given(**changed: int) -> Iterator[None]:
    """Meanwhile engines change at these sizes: so tests see with few variables what else only many show."""
    global _sizes  # noqa: PLW0603 - the one place
    before, _sizes = _sizes, replace(_sizes, **changed)
    try:
        yield
    finally:
        _sizes = before


Named = TypeVar("Named", bound=enum.Enum)


class Engine(enum.Enum):
    """What answers a question, by the name that answers and plans give.

    DENSE: tables over all sets. BLOCKS: the same, block by block. SEARCH: on listed families the relaxation, then
    order search for a while, then branch and cut; ORDERS and CUTS: just one of the two after the relaxation.
    CYCLES: branch and bound over cycles, as published in 2009; never chosen, since it wins fractions of a second where
    all is quick, and loses elsewhere (docs/guides/large_tables.md). These can be asked for by name, the others cannot.
    """

    DENSE = "dense lattice"
    BLOCKS = "block lattice"
    SEARCH = "search"
    ORDERS = "order search"
    CUTS = "branch and cut"
    CYCLES = "branching"
    IDEALS = "lattice of ideals"
    SPARSE = "sparse lattice"
    PARTITION = "partition"
    CONSTRAINED = "constrained search"
    ORDERS_WEIGHED = "sums over orders"
    PARTIAL = "best-first search over partial networks"
    PARTIAL_BY_ORDERS = "best-first search over partial networks, orders as its oracle"
    NETWORK_SUM = "exact sum over all networks"
    ORDER_SUM = "exact sum over all orders"
    LAYERS = "root layers"


class OrderBound(enum.Enum):
    """What tells order search how much placing the other variables costs at least (docs/explanation/papers.md). SIMPLE,
    STATIC, DYNAMIC: as published in 2013, without the relaxation. CLUSTER: the multipliers of the relaxation."""

    SIMPLE = "simple"
    STATIC = "static"
    DYNAMIC = "dynamic"
    CLUSTER = "cluster"


@dataclass(frozen=True)
class Choice:
    """An engine, and why it was chosen. ``n_ideals``: how many sets can come first, where only these are visited."""

    engine: Engine
    reason: str
    n_ideals: int | None = None


ON_LISTS = (Engine.SEARCH, Engine.ORDERS, Engine.CUTS, Engine.CYCLES)
NAMED = (Engine.DENSE, Engine.BLOCKS, *ON_LISTS)
"""Those that can be asked for."""


def require_takes(engine: Engine, n: int) -> None:
    """Raises TooLarge where an engine that was asked for takes fewer variables."""
    if engine not in (Engine.SEARCH, Engine.CUTS):
        require_narrow(n, option("engine", engine.value))


def named_engine(name: str) -> Engine:
    return _named(name, NAMED, "engine")


def named_bound(name: str, engine: Engine | None) -> OrderBound:
    """The bound of order search that was asked for, with this engine."""
    found = _named(name, OrderBound, "bound")
    if engine is not Engine.ORDERS:
        raise ScoreError(f"The bound {name!r} is for the engine {Engine.ORDERS.value!r}: ask for that, too.")
    return found


def _named(name: str, kinds: Iterable[Named], what: str) -> Named:
    for kind in kinds:
        if name == kind.value:
            return kind
    names = ", ".join(repr(kind.value) for kind in kinds)
    raise ScoreError(f"There is no {what} {name!r}; there are {names}.")


def require_searchable(n: int) -> None:
    if n > WIDE_LIMIT:
        raise TooLarge(
            f"{n:,} variables: at most {WIDE_LIMIT:,} can be searched. Leave out {n - WIDE_LIMIT} columns, for "
            "example those that depend on others by definition."
        )


def require_narrow(n: int, what: str) -> None:
    """Raises TooLarge where sets of variables have to fit a machine word; ``what`` asks for it."""
    if n > SEARCH_LIMIT:
        raise TooLarge(
            f"{n} variables: {what} takes at most {SEARCH_LIMIT}. With more, up to {WIDE_LIMIT:,}, the best networks "
            "and classes can be found, under constraints too, without a prior, with BIC or AIC or a limit on parents."
        )


def all_sets_choice(n: int, reason: str) -> Choice:
    return Choice(Engine.DENSE if n <= sizes().small else Engine.BLOCKS, reason)


def most_that_fit(needed: Callable[[int], float], allowed: float) -> int:
    """How many variables take no more than ``allowed`` bytes; ``needed`` grows with them."""
    most = 0
    while most < SEARCH_LIMIT and needed(most + 1) <= allowed:
        most += 1
    return most


def n_sets_up_to(n: int, size: int) -> int:
    return sum(math.comb(n, s) for s in range(min(n, size) + 1))


def plan_lattice(n: int, run: Run, *, held: int = 0, more: int = 0) -> None:
    """Makes sure the lattice, and ``more`` bytes, fit beside the ``held`` bytes of scores."""
    fits = most_that_fit(best_network_bytes, run.allowed_memory)
    run.require_memory(
        _core.lattice_bytes(n) + more + (held or set_bytes(n)),
        f"The lattice on {n} variables",
        f"{fits} variables would fit ({shown_bytes(best_network_bytes(fits))})."
        if fits
        else f"Raise {option('memory_limit')}.",
        held=held,
    )


def set_bytes(n: int) -> int:
    """One number for each set of variables."""
    return 8 << n


def family_bytes(n: int) -> int:
    """One number for each family."""
    return 8 * n << max(0, n - 1)


def best_network_bytes(n: int) -> float:
    """What the best network of n variables takes in all: set scores and the lattice."""
    return set_bytes(n) + _core.lattice_bytes(n)
