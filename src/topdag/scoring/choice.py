"""How a table is scored: all sets counted, or only the families worth considering, as lists; and why."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from topdag._util.options import option
from topdag.data.table import Table
from topdag.errors import TooLarge
from topdag.scoring.keep import FEW_FAMILIES, Keep
from topdag.scoring.kinds.base import MatrixScore
from topdag.scoring.kinds.discrete import AIC, BIC, NAL, ScoreKind, SetScore
from topdag.scoring.task import MOST_WALKED
from topdag.search.engines import (
    SEARCH_LIMIT,
    WIDE_LIMIT,
    Choice,
    Engine,
    all_sets_choice,
    n_sets_up_to,
    require_narrow,
    require_searchable,
    sizes,
)
from topdag.search.lattice import most_held

if TYPE_CHECKING:
    from topdag.knowledge.compiled import CompiledConstraints


PENALISED = (BIC, AIC, NAL)
"""Scores that cost so much for each free parameter, whatever it explains."""


def form_of_scores(
    table: Table,
    columns: Sequence[int],
    kind: ScoreKind,
    max_parents: int | None,
    keep: Keep | None,
    known: CompiledConstraints | None,
    *,
    listed: bool = False,
) -> Choice:
    """How a table is scored in view of what is known: SEARCH means as lists. ``listed``: lists are wanted, so where
    penalties rule out much not all sets are counted."""
    n = len(columns)
    if table.chunks is not None and n:
        return _by_chunks(kind, n)
    limit = max_parents if known is None else known.limit_on_parents(max_parents)
    arities: list[int] = table.arities[list(columns)].tolist()
    choice = scores_by_lists(n, table.n_rows, kind, limit, everything=keep == "all", arities=arities)
    is_free = known is None or all(own.is_free for own in known.families)
    is_narrow = n > sizes().small and keep is None and not is_free
    if choice.engine is not Engine.SEARCH and (listed or is_narrow) and isinstance(kind, PENALISED):
        choice = Choice(Engine.SEARCH, f"constraints and the penalty of {kind} leave few families")
    if choice.engine is not Engine.SEARCH and not is_free and isinstance(kind, NAL):
        # Tables over all sets leave out families that are hopeless beside one without parents, which must be allowed.
        choice = Choice(Engine.SEARCH, f"{kind} is scored family by family, so only those that are allowed")
    if choice.engine is Engine.SEARCH and _needs_all_sets(table, known):
        return all_sets_choice(n, "some continuous variable must have parents, which are looked for among all sets")
    return choice


def kept_by_default(
    table: Table, columns: Sequence[int], max_parents: int | None, known: CompiledConstraints | None
) -> Keep | None:
    """Rows that are read chunk by chunk are counted once for all families: few of these are all kept, so that any
    question can be asked of them, as where all sets are counted."""
    n, limit = len(columns), max_parents if known is None else known.limit_on_parents(max_parents)
    if table.chunks is None or not 0 < n <= sizes().small:
        return None
    n_families = n * n_sets_up_to(n - 1, n if limit is None else limit)
    return "all" if n_families <= FEW_FAMILIES else None


def _by_chunks(kind: ScoreKind, n: int) -> Choice:
    """Rows that are read chunk by chunk tell of small sets only."""
    if kind.unconstrained is not kind or not isinstance(kind, SetScore):
        raise TooLarge(
            f"The memory that is free or allowed does not hold the rows of this table, and {kind!r} needs them: use "
            "BDeu, BIC, AIC, qNML, K2 or fNML, or take a part of the rows."
        )
    if n > MOST_WALKED:
        raise TooLarge(
            f"{n} variables: rows that are read chunk by chunk are counted for at most {MOST_WALKED}. Leave out "
            f"{n - MOST_WALKED} columns, or take as many rows as memory holds."
        )
    return Choice(Engine.SEARCH, "rows are read chunk by chunk, so sets of few variables are counted")


def _needs_all_sets(table: Table, known: CompiledConstraints | None) -> bool:
    """Families of continuous variables that must have parents are found among all, as long as these can be held."""
    if known is None or not table.continuous or len(known.families) > most_held():
        return False
    return not all(own.is_closed_under_removal for own in known.families)


def scores_by_lists(
    n: int,
    n_rows: int,
    kind: ScoreKind,
    max_parents: int | None,
    *,
    everything: bool,
    arities: Sequence[int] | None = None,
) -> Choice:
    """How a table is scored: SEARCH means that only families worth considering are, as lists.

    ``everything``: all families are wanted, so nothing can be left out by rules. ``arities``: None: two states each.
    """
    at = sizes()
    _require_few_numbers(n, kind)
    require_searchable(n)
    if everything or not isinstance(kind.unconstrained, SetScore | NAL):
        require_narrow(n, option("keep", "all") if everything else f"{kind!r}")
    if kind.unconstrained is not kind and n > at.few_with_parameters and not everything:
        return Choice(Engine.SEARCH, f"{kind} is optimised family by family, so only those worth it")
    if n <= at.few or not isinstance(kind, SetScore | MatrixScore | NAL):
        return all_sets_choice(n, f"{n} variables have few sets" if n <= at.few else f"{kind} is scored set by set")
    counted = n_sets_up_to(n, n if max_parents is None else max_parents + 1)
    if at.sparse * counted < 2**n:
        return Choice(Engine.SEARCH, f"at most {max_parents} parents leave {counted:,} of {_number_of_sets(n)} sets")
    affordable = affordable_sets(kind, n_rows, [2] * n if arities is None else arities)
    if not everything and affordable is not None and at.sparse * affordable < 2**n:
        return Choice(Engine.SEARCH, f"the penalty of {kind} rules out most of the {_number_of_sets(n)} sets")
    if not everything and n > most_held():
        return Choice(Engine.SEARCH, f"{_number_of_sets(n)} sets of {n} variables are too many to hold")
    return all_sets_choice(n, f"{kind} needs all {2**n:,} sets")


def _number_of_sets(n: int) -> str:
    return f"{2**n:,}" if n <= SEARCH_LIMIT else f"2^{n}"


def affordable_sets(kind: ScoreKind, n_rows: int, arities: Sequence[int]) -> int | None:
    """How many sets of variables can be families that pay for their penalty, if each row is explained by the parents;
    None: no penalty."""
    if not isinstance(kind, PENALISED) or n_rows < 2 or not kind.least_penalty(n_rows, 2):
        return None
    states = {arity for arity in arities if arity > 1}
    most_cells = max((r * (1 + n_rows * math.log(r) / kind.least_penalty(n_rows, r)) for r in states), default=1.0)
    n_sets = Counter({1: 1})  # by number of cells
    for arity in arities:
        larger = {cells * arity: number for cells, number in n_sets.items() if cells * arity <= most_cells}
        n_sets.update(larger)
    return n_sets.total()


def _require_few_numbers(n: int, kind: ScoreKind) -> None:
    if kind.numbers is not None and n > SEARCH_LIMIT:
        raise TooLarge(
            f"{n} variables: {kind!r} takes at most {SEARCH_LIMIT}, and no more than memory holds. Leave out "
            f"{n - SEARCH_LIMIT} columns, or cut the numbers into states ({option('discretize', 'quantile(3)')}); with "
            f"BIC or AIC up to {WIDE_LIMIT:,} variables can be searched."
        )
