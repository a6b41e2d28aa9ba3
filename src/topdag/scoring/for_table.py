"""Which score a table takes where none is named, and the table as a score takes it."""

from __future__ import annotations

from topdag.data.adapt import complete_rows, integers_as_numbers, whole_numbers_as_states
from topdag.data.table import Table
from topdag.scoring.kinds.base import ScoreKind
from topdag.scoring.kinds.discrete import BIC, NAL, KindLike, as_kind
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
    kind = default_score(table, weighs=weighs) if given is None else as_kind(given, argument)
    return taken_by(table, kind), kind


def default_score(table: Table, *, weighs: bool = False) -> ScoreKind:
    """Return the score for a table where none is named: BIC for categories, RankBIC where there are numbers, and the
    node-average likelihood for categories in which many rows have missing cells (docs/develop/mixed_scores.md). More
    states with an order than RankBIC takes are categories."""
    if table.continuous or (table.ordered and table.n_variables <= SEARCH_LIMIT):
        from topdag.scoring.kinds.blocks import RankBIC

        return RankBIC()
    if table.incomplete and not weighs:
        return NAL()
    return BIC()


def taken_by(table: Table, kind: ScoreKind) -> Table:
    """Return the table with numbers as states or states as numbers, where the score takes only one of them, and
    without incomplete rows, where nothing was said of these and the score needs every cell."""
    if table.incomplete and "missing" not in table.reading and not isinstance(kind, NAL):
        table = complete_rows(table)
    if kind.numbers is None and table.continuous:
        return whole_numbers_as_states(table)
    if kind.numbers == "all" and len(table.continuous) < table.n_variables:
        return integers_as_numbers(table)
    return table
