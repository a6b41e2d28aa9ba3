"""How a table is scored: all sets counted, or only the families worth considering, as lists; and why."""

from __future__ import annotations

import math

from topdag.errors import TooLarge
from topdag.scoring.kinds.discrete import AIC, BIC, ScoreKind, SetScore
from topdag.scoring.kinds.gaussian import GaussianScore
from topdag.search.engines import (
    BLOCK_LIMIT,
    LATTICE_LIMIT,
    SEARCH_LIMIT,
    WIDE_LIMIT,
    Choice,
    Engine,
    all_sets_choice,
    n_sets_up_to,
    require_narrow,
    require_searchable,
)

FEW = 22
"""Up to this many variables all sets are counted, in less than half a second, whatever the score."""
FEW_CONSTRAINED = 8
"""Up to this many variables every family is scored under parameter constraints, mostly within a second."""
SPARSE = 16
"""Lists pay when at most one set in so many can matter."""


def scores_by_lists(n: int, n_rows: int, kind: ScoreKind, max_parents: int | None, *, everything: bool) -> Choice:
    """How a table is scored: SEARCH means that only families worth considering are, as lists.

    ``everything``: all families are wanted, so nothing can be left out by rules.
    """
    _require_few_numbers(n, kind)
    require_searchable(n)
    if everything or not isinstance(kind.unconstrained, SetScore):
        require_narrow(n, 'keep="all"' if everything else f"{kind!r}")
    if kind.unconstrained is not kind and n > FEW_CONSTRAINED and not everything:
        return Choice(Engine.SEARCH, f"{kind} is optimised family by family, so only those worth it")
    if n <= FEW or not isinstance(kind, SetScore | GaussianScore):
        return all_sets_choice(n, f"{n} variables have few sets" if n <= FEW else f"{kind} is scored set by set")
    counted = n_sets_up_to(n, n if max_parents is None else max_parents + 1)
    if SPARSE * counted < 2**n:
        return Choice(Engine.SEARCH, f"at most {max_parents} parents leave {counted:,} of {2**n:,} sets")
    affordable = affordable_parents(kind, n_rows)
    if not everything and affordable is not None and SPARSE * n_sets_up_to(n, affordable + 1) < 2**n:
        return Choice(Engine.SEARCH, f"the penalty of {kind} rules out most of the {2**n:,} sets")
    if n > BLOCK_LIMIT and not everything:
        return Choice(Engine.SEARCH, f"{2**n:.1e} sets of {n} variables are too many to hold")
    return all_sets_choice(n, f"{kind} needs all {2**n:,} sets")


def affordable_parents(kind: ScoreKind, n_rows: int) -> int | None:
    """So many parents of two states can pay for their penalty, if each row is explained by them; None: no penalty."""
    if not isinstance(kind, (BIC, AIC)) or n_rows < 2:
        return None
    weight = kind.least_penalty(n_rows, 2)
    return max(0, math.floor(math.log2(1 + n_rows * math.log(2) / weight)))


def _require_few_numbers(n: int, kind: ScoreKind) -> None:
    if kind.numbers is not None and n > SEARCH_LIMIT:
        most = SEARCH_LIMIT if isinstance(kind, GaussianScore) else LATTICE_LIMIT
        raise TooLarge(
            f"{n} variables: {kind!r} takes at most {most}. Leave out {n - most} columns, or cut the numbers into "
            f"states with discretize=; with BIC or AIC up to {WIDE_LIMIT} variables can be searched."
        )
