"""Tables of probabilities as arrays: from the rows of a table, and states drawn from them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from topdag._util.arrays import Floats
from topdag._util.memory import available_memory, shown_bytes
from topdag.errors import NetworkError, TooLarge

if TYPE_CHECKING:
    from topdag.data.table import Table

Codes = npt.NDArray[np.uint16]

MOST_CELLS = 2**26


def family_counts(table: Table, x: int, parents: Sequence[int]) -> Floats:
    """How many rows have each combination of states: an axis for each parent, in order, then one for the variable.
    Rows in which one of these is missing are left out."""
    own = table.of_columns([*parents, x])
    shape = tuple(own.arities.tolist())
    if (cells := math.prod(shape)) > MOST_CELLS:
        raise NetworkError(f"The table of {table.names[x]!r} would have {cells:,} cells; at most {MOST_CELLS:,} fit.")
    codes = own.codes.astype(np.intp)
    is_whole = np.all(codes < np.array(shape)[:, None], axis=0)
    places = np.ravel_multi_index(list(codes[:, is_whole]), shape)
    return np.bincount(places, own.weights[is_whole].astype(np.float64), cells).astype(np.float64).reshape(shape)


def expected_probabilities(counts: Floats, ess: float) -> Floats:
    """The posterior mean when ``ess`` imaginary rows are spread evenly; frequencies for 0. Unseen rows are uniform."""
    raised = counts + ess / counts.size
    totals = raised.sum(axis=-1, keepdims=True)
    return np.where(totals > 0, raised / np.where(totals > 0, totals, 1.0), 1.0 / counts.shape[-1])


def require_rows(rows: object, n_columns: int) -> None:
    if not isinstance(rows, int | np.integer) or rows < 1:
        raise ValueError(f"rows should be a whole number from 1 on, not {rows!r}.")
    free = available_memory()
    if 16 * n_columns * int(rows) > free:  # while columns are drawn, and then held
        raise TooLarge(
            f"So many rows of {n_columns} columns need more than the {shown_bytes(free)} that are free; draw fewer at "
            "a time, each time with another seed."
        )


def seeded(seed: object) -> np.random.Generator:
    """Draws that are the same for the same seed."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ValueError(f"seed should be a whole number from 0 on, not {seed!r}.")
    return np.random.Generator(np.random.PCG64(int(seed)))


def drawn_states(table: Floats, parent_codes: list[Codes], uniforms: Floats) -> Codes:
    """One state per uniform number in [0, 1). States of probability 0 are never drawn, however sums round."""
    heights = table.reshape(-1, table.shape[-1]).cumsum(axis=1)
    heights /= heights[:, -1:]
    case = np.zeros(len(uniforms), dtype=np.intp)
    for codes, arity in zip(parent_codes, table.shape[:-1], strict=True):
        case = case * arity + codes
    drawn = np.zeros(len(uniforms), dtype=np.uint16)
    for height in np.ascontiguousarray(heights.T[:-1]):
        drawn += uniforms >= height[case]
    return drawn
