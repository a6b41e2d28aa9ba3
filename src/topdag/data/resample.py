"""Tables drawn from a table, as the bootstrap draws them: as many rows, each any of the table's, with replacement."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from topdag._util.messages import plural
from topdag.data.table import Table, with_rows
from topdag.errors import TableError


def require_rows_to_draw(table: Table) -> None:
    """Raises TooLarge where rows are read chunk by chunk, before anything long is done."""
    if table.chunks is not None:
        raise table.chunks.needed("A bootstrap draws the rows of the table one by one, and")


def drawn_weights(table: Table, seed: int, draw: int) -> NDArray[np.uint32]:
    """How often each distinct row is drawn."""
    n_rows = table.n_rows
    chance = np.random.Generator(np.random.PCG64(np.random.SeedSequence((seed, draw))))
    weights = chance.multinomial(n_rows, table.weights / max(1, n_rows)) if n_rows else table.weights
    if weights.max(initial=0) > np.iinfo(np.uint32).max:
        raise TableError("More than 4,294,967,295 equal rows were drawn, which is more than a table holds.")
    return weights.astype(np.uint32)


def resampled(table: Table, seed: int, draw: int) -> Table:
    """The table of this draw: the same for the same seed, whatever was drawn before. No row is repeated: distinct rows
    get other weights, and those that were not drawn go. States stay, drawn or not."""
    n_rows, weights = table.n_rows, drawn_weights(table, seed, draw)
    kept = weights > 0
    drawn = with_rows(table, kept, weights[kept])
    for name, n in drawn.was_set.items():
        if n == n_rows:
            few = plural(n_rows - table.was_set[name], "row")
            raise TableError(
                f"Draw {draw} has no row in which {name!r} was not set, so that nothing tells of its causes: the table "
                f"has {few} of them, too few to draw from. Add rows in which it was not set, or leave {name!r} out."
            )
    return drawn
