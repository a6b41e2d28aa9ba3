"""A table at a glance: what each column is, and what topdag will do with it."""

from __future__ import annotations

from typing import Any, Unpack

from topdag._util.brief import brief
from topdag.answers.look import Look
from topdag.data.convert import Reading, as_table
from topdag.data.table import Table
from topdag.scoring.kinds.for_table import default_score, fitting


@brief
def look(source: Any, **reading: Unpack[Reading]) -> Look:
    """Show the type of each column of a table, its values and gaps, and what topdag will do with it.

    Parameters
    ----------
    source : path, data frame, array, dict of columns, list of rows or Table
        The data.
    **reading
        How it is read, as for :class:`Table` and :func:`read_table`; ``types={"trt": "categorical"}`` says what a
        column is where the guess is wrong.

    Returns
    -------
    Look
        ``types`` maps each column to its type; printed, it is a table.

    See Also
    --------
    best_network : the first question about the same table.

    Examples
    --------
    >>> rows = {"id": range(40), "sex": ["f", "m"] * 20, "height": [160 + i / 7 for i in range(40)]}
    >>> look(rows).types
    {'id': 'identifier', 'sex': 'categorical', 'height': 'continuous'}
    """
    table = as_table(source, reading, fewest=0)
    return look_at(table)


def look_at(table: Table) -> Look:
    """Return the view of a table that was read for it."""
    return Look(table, str(default_score(fitting(table))) if table.n_variables else "none")
