"""Which score a table takes where none is named, and the table as a score takes it."""

from __future__ import annotations

import math

from topdag.data.table import Table
from topdag.scoring.kinds.base import ScoreKind
from topdag.scoring.kinds.discrete import BIC, NAL, KindLike, as_kind
from topdag.scoring.task import scored_columns
from topdag.search.engines import SEARCH_LIMIT


def scored_as(
    table: Table, given: KindLike = None, *, weighs: bool = False, argument: str = "kind"
) -> tuple[Table, ScoreKind]:
    """Return the table as its score takes it, and the score: the one given, or the one for such columns.

    Parameters
    ----------
    given : score, name or None
        The score that the user names; None for the default.
    weighs : bool
        Whether networks are weighed by exp(score), as averages do.
    argument : str
        The argument that holds the score, for messages.
    """
    if given is None:
        table = fitting(table)
    kind = default_score(table, weighs=weighs) if given is None else as_kind(given, argument)
    return taken_by(table, kind), kind


def fitting(table: Table) -> Table:
    """Return the table as the default score takes it: numbers are binned where there are more columns than RankBIC
    scores."""
    n = len(scored_columns(table))
    if n <= SEARCH_LIMIT or not (table.continuous or table.ordered):
        return table
    from topdag.data.adapt import numbers_binned  # few tables are adapted

    return numbers_binned(table, f"{n} variables are more than the {SEARCH_LIMIT} that RankBIC takes")


def default_score(table: Table, *, weighs: bool = False) -> ScoreKind:
    """Return the score for a table where none is named: BIC for categories, RankBIC where there are numbers, and for
    categories with many incomplete rows the node-average likelihood with twice BIC's penalty. Measured:
    docs/develop/mixed_scores.md."""
    if table.continuous or table.ordered:
        from topdag.scoring.kinds.blocks import RankBIC

        return RankBIC()
    if table.incomplete and not weighs:
        return NAL(penalty=math.log(table.n_rows))
    return BIC()


def taken_by(table: Table, kind: ScoreKind) -> Table:
    """Return the table with numbers as states or states as numbers, where the score takes only one of them, and
    without incomplete rows, where nothing was said of these and the score needs every cell."""
    is_short = table.incomplete and "missing" not in table.reading and not isinstance(kind, NAL)
    as_states = kind.numbers is None and bool(table.continuous)
    as_numbers = kind.numbers == "all" and len(table.continuous) < table.n_variables
    if not (is_short or as_states or as_numbers):
        return table
    from topdag.data.adapt import complete_rows, integers_as_numbers, whole_numbers_as_states

    table = complete_rows(table) if is_short else table
    if as_states:
        return whole_numbers_as_states(table)
    return integers_as_numbers(table) if as_numbers else table
