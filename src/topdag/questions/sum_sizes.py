"""What a sum over all networks is for, and what is too large for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from topdag import _core
from topdag._util.options import option, question, worded
from topdag._util.run import Run
from topdag.data.table import Table
from topdag.errors import ScoreError, TooLarge
from topdag.knowledge.priors import OrderModular, Prior
from topdag.networks.checks import require_known
from topdag.scoring.kinds.discrete import ScoreKind, SetScore
from topdag.scoring.scores import Scores
from topdag.scoring.task import scored_columns
from topdag.search.engines import most_that_fit

MOST_FOR_ORDER_PATHS = 18
"""Above this many variables the states of an order for one ancestor, 3**(n - 1) numbers, pass a gigabyte."""


@dataclass(frozen=True)
class Purpose:
    """What a sum is for: each takes memory of its own."""

    edges: bool = True
    paths: bool = False
    parent_sets_of: tuple[str, ...] | None = ()

    def parent_sets(self, names: Sequence[str], columns: Sequence[int]) -> int:
        """The scored variables whose parent sets are kept, as bits."""
        if self.parent_sets_of is not None:
            require_known(self.parent_sets_of, names)
        chosen = names if self.parent_sets_of is None else self.parent_sets_of
        return sum(1 << i for i, v in enumerate(columns) if names[v] in chosen)


TOTAL = Purpose(edges=False)


def averages() -> str:
    """What to do where sums are out of reach."""
    average = f"see how often edges come back ({question('bootstrap')}), or average over a list of networks"
    return worded(average, f"{average} (topdag list, topdag effects -k)")


def require_not_too_far_from_zero(table: Table, kind: ScoreKind) -> None:
    """What variables without parents score tells, in a moment, that there are too many rows. Raises ScoreError."""
    if not isinstance(kind, SetScore) or table.incomplete:  # which scoring refuses
        return
    try:
        for v in scored_columns(table):
            _core.require_summable(kind.local(table, v, ()))
    except ValueError as error:
        raise ScoreError(str(error)) from None


def require_room(
    names: Sequence[str],
    columns: Sequence[int],
    prior: Prior | None,
    wanted: Purpose,
    run: Run,
    *,
    held: int = 0,
    scored: float = 0.0,
) -> None:
    """Refuses what is too large. ``held``: bytes of scores there are; ``scored``: that will be, at least."""
    n, kept = len(columns), wanted.parent_sets(names, columns)
    over_orders = isinstance(prior, OrderModular)
    if over_orders and wanted.paths and n > MOST_FOR_ORDER_PATHS:
        raise TooLarge(
            f"{n} variables: paths under an order-modular prior are summed for at most {MOST_FOR_ORDER_PATHS}. Ask for "
            "edges, or take another prior."
        )
    what = f"The sum over all {'orders' if over_orders else 'networks'} of {n} variables"

    def needed(m: int) -> float:
        return _sum_bytes(m, over_orders, wanted, kept & (1 << m) - 1, run) + (held + scored) / 2.0 ** (n - m)

    fits = most_that_fit(needed, run.allowed_memory)
    advice = f"{fits} variables would fit" if fits else f"Raise {option('memory_limit')}"
    run.require_memory(needed(n) if n else 0.0, what, f"{advice}; or {averages()}.", held=held)


def _sum_bytes(n: int, over_orders: bool, wanted: Purpose, kept: int, run: Run) -> float:
    if over_orders:
        return _core.order_sums_bytes(n, wanted.edges, wanted.paths, kept, run.threads)
    return _core.network_sums_bytes(n, wanted.edges or wanted.paths, kept, False, run.threads)


def require_memory(needed: float, scores: Scores, run: Run, what: str) -> None:
    held = scores.store.n_bytes
    advice = f"Use fewer variables, or {averages()}."
    run.require_memory(needed + held, f"The sum over all {what} of {len(scores.columns)} variables", advice, held=held)
