"""Which engine answers which question at which size, why, and what it will take."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass

from topdag import _core
from topdag.continuous_kinds import GaussianScore
from topdag.errors import ScoreError, TooLarge
from topdag.runs import Run, shown_bytes
from topdag.score_kinds import AIC, BIC, ScoreKind, SetScore

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


FEW = 22
"""Up to this many variables all sets are counted, in less than half a second, whatever the score."""
FEW_CONSTRAINED = 8
"""Up to this many variables every family is scored under parameter constraints, mostly within a second."""
SPARSE = 16
"""Lists pay when at most one set in so many can matter."""


class Engine(enum.Enum):
    """DENSE: tables over all sets. BLOCKS: the same, block by block. SEARCH: on listed families the relaxation, then
    order search for a while, then branch and cut; ORDERS and CUTS: just one of the two after the relaxation.
    CYCLES: branch and bound over cycles, as published in 2009; never chosen, since it wins fractions of a second where
    all is quick, and loses elsewhere (docs/beyond.md)."""

    DENSE = "dense lattice"
    BLOCKS = "block lattice"
    SEARCH = "search"
    ORDERS = "order search"
    CUTS = "branch and cut"
    CYCLES = "branching"


@dataclass(frozen=True)
class Choice:
    """An engine, and why it was chosen."""

    engine: Engine
    reason: str


def scores_by_lists(n: int, n_rows: int, kind: ScoreKind, max_parents: int | None, *, everything: bool) -> Choice:
    """How a table is scored: SEARCH means that only families worth considering are, as lists.

    ``everything``: all families are wanted, so nothing can be left out by rules.
    """
    _require_few_numbers(n, kind)
    _require_searchable(n)
    if everything or not isinstance(kind.unconstrained, SetScore):
        require_narrow(n, 'keep="all"' if everything else f"{kind!r}")
    if kind.unconstrained is not kind and n > FEW_CONSTRAINED and not everything:
        return Choice(Engine.SEARCH, f"{kind} is optimised family by family, so only those worth it")
    if n <= FEW or not isinstance(kind, SetScore | GaussianScore):
        return _all_sets(n, f"{n} variables have few sets" if n <= FEW else f"{kind} is scored set by set")
    counted = n_sets_up_to(n, n if max_parents is None else max_parents + 1)
    if SPARSE * counted < 2**n:
        return Choice(Engine.SEARCH, f"at most {max_parents} parents leave {counted:,} of {2**n:,} sets")
    affordable = affordable_parents(kind, n_rows)
    if not everything and affordable is not None and SPARSE * n_sets_up_to(n, affordable + 1) < 2**n:
        return Choice(Engine.SEARCH, f"the penalty of {kind} rules out most of the {2**n:,} sets")
    if n > BLOCK_LIMIT and not everything:
        return Choice(Engine.SEARCH, f"{2**n:.1e} sets of {n} variables are too many to hold")
    return _all_sets(n, f"{kind} needs all {2**n:,} sets")


ON_LISTS = (Engine.SEARCH, Engine.ORDERS, Engine.CUTS, Engine.CYCLES)


def affordable_parents(kind: ScoreKind, n_rows: int) -> int | None:
    """So many parents of two states can pay for their penalty, if each row is explained by them; None: no penalty."""
    if not isinstance(kind, (BIC, AIC)) or n_rows < 2:
        return None
    weight = kind.least_penalty(n_rows, 2)
    return max(0, math.floor(math.log2(1 + n_rows * math.log(2) / weight)))


def engine_for_best(n: int, *, listed: bool, wanted: Engine | None = None) -> Choice:
    """What finds the best network; ``listed``: the families stand in lists; ``wanted`` overrules."""
    _require_searchable(n)
    if wanted is not None:
        require_takes(wanted, n)
        return Choice(wanted, "asked for")
    if listed and n > SMALL:
        return Choice(Engine.SEARCH, "families are listed, and few of the sets matter")
    return _all_sets(n, f"a table over {2**n:,} sets is small" if n <= SMALL else "every set may matter")


def require_takes(engine: Engine, n: int) -> None:
    """Raises TooLarge where an engine that was asked for takes fewer variables."""
    if engine not in (Engine.SEARCH, Engine.CUTS):
        require_narrow(n, f"engine={engine.value!r}")


def named_engine(name: str) -> Engine:
    for engine in Engine:
        if name == engine.value:
            return engine
    names = ", ".join(repr(engine.value) for engine in Engine)
    raise ScoreError(f"There is no engine {name!r}; there are {names}.")


def _require_searchable(n: int) -> None:
    if n > WIDE_LIMIT:
        raise TooLarge(
            f"{n} variables: at most {WIDE_LIMIT} can be searched. Leave out {n - WIDE_LIMIT} columns, for "
            "example those that depend on others by definition."
        )


def _require_few_numbers(n: int, kind: ScoreKind) -> None:
    if kind.numbers is not None and n > SEARCH_LIMIT:
        most = SEARCH_LIMIT if isinstance(kind, GaussianScore) else LATTICE_LIMIT
        raise TooLarge(
            f"{n} variables: {kind!r} takes at most {most}. Leave out {n - most} columns, or cut the numbers into "
            f"states with discretize=; with BIC or AIC up to {WIDE_LIMIT} variables can be searched."
        )


def require_narrow(n: int, what: str) -> None:
    """Raises TooLarge where sets of variables have to fit a machine word; ``what`` asks for it."""
    if n > SEARCH_LIMIT:
        raise TooLarge(
            f"{n} variables: {what} takes at most {SEARCH_LIMIT}. With more, up to {WIDE_LIMIT}, the best network can "
            "be found, under constraints too, without a prior, with BIC or AIC or a limit on parents."
        )


def _all_sets(n: int, reason: str) -> Choice:
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
