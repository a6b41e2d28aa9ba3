"""What a finished table remarks on: columns that tell nothing, too much, or the same as another; what was set."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from topdag._util.messages import listing, plural
from topdag._util.options import option
from topdag.data.columns import MANY_ROWS, Column, holds_numbers, tells_rows_apart
from topdag.data.discretize import MANY_VALUES
from topdag.errors import TableError

FEWEST_ROWS = 10
"""A column with many states and fewer rows for each than this is remarked on."""
ROWS_LOOKED_AT = 1000
"""In so many rows columns are compared first."""

States: TypeAlias = tuple[tuple[Any, ...], ...]


def notes_on_interventions(
    names: Sequence[str], targets: Sequence[int], weights: NDArray[np.uint32]
) -> tuple[str, ...]:
    """In how many rows each variable was set; an error where no other row is left."""
    marks = np.array([[mask >> v & 1 for mask in targets] for v in range(len(names))], dtype=bool)
    counts = marks @ weights.astype(np.int64)
    total = int(weights.sum(dtype=np.int64))
    if (counts == total).any():
        name = names[int((counts == total).argmax())]
        raise TableError(
            f"{name!r} was set in every row, so that nothing tells of its causes; leave it out with "
            f"{option('leave_out', [name])}, or add rows in which it was not set"
        )
    said = [f"{name!r} ({plural(int(n), 'row')})" for name, n in zip(names, counts, strict=True) if n]
    if not said:
        return (f"{option('interventions')}: nothing was set in any row, so that all rows count alike.",)
    its = "its" if len(said) == 1 else "their"
    return (f"Set by experiment: {', '.join(said)}. Such rows tell nothing of {its} causes.",)


def notes_on_many_states(columns: Sequence[Column], states: States, n_rows: int) -> tuple[str, ...]:
    """Sentences on columns that have too many states for their rows, and what to do."""
    apart, numbers, words = list[str](), list[str](), list[str]()
    for column, of in zip(columns, states, strict=True):
        has_many = len(of) > MANY_VALUES and n_rows < FEWEST_ROWS * len(of)
        if len(column.codes) == n_rows and tells_rows_apart(column):
            apart.append(column.name)
        elif has_many:
            (numbers if holds_numbers(column) else words).append(f"{column.name!r} ({len(of):,} states)")
    sentences = [] if not apart else [apart_in_words(apart)]
    few = f"Fewer than {FEWEST_ROWS} rows a state tell little, and some scores make up edges of them"
    if numbers:
        sentences.append(
            f"{few}: {', '.join(numbers)}. These are numbers: {option('discretize', 'quantile(3)')} cuts them."
        )
    if words:
        sentences.append(f"{few}: {', '.join(words)}. Join states that are alike, or leave such columns out.")
    return tuple(sentences)


def apart_in_words(names: Sequence[str]) -> str:
    have, they, them = ("Column {} has", "it", "it") if len(names) == 1 else ("Columns {} have", "they", "them")
    tell = "tells" if len(names) == 1 else "tell"
    return (
        f"{have.format(listing(names))} a state for each row or nearly so: {they} {tell} rows apart and little else; "
        f"{option('leave_out', names)} leaves {them} out."
    )


def note_on_constant(names: Sequence[str]) -> tuple[str, ...]:
    if not names:
        return ()
    one = len(names) == 1
    are = f"{listing(names)} {'is' if one else 'are'} constant: {'it has' if one else 'they have'} one state."
    return (f"Column{'' if one else 's'} {are}",)


def notes_on_twins(names: Sequence[str], codes: NDArray[np.uint16], states: States, n_rows: int) -> tuple[str, ...]:
    """Sentences on columns that say the same in other words: a code and what it stands for. With few rows, or a state
    for each row, that is an accident."""
    alike: dict[bytes, list[int]] = {}
    for v, of in enumerate(states):
        if may_be_twin(len(of), n_rows):
            alike.setdefault(by_appearance(codes[v, :: 1 + codes.shape[1] // ROWS_LOOKED_AT], len(of)), []).append(v)
    same: dict[bytes, list[str]] = {}
    for v in chain.from_iterable(found for found in alike.values() if len(found) > 1):
        same.setdefault(by_appearance(codes[v], len(states[v])), []).append(names[v])
    return tuple(twins_in_words(found) for found in same.values() if len(found) > 1)


def twins_in_words(names: Sequence[str]) -> str:
    return (
        f"Columns {listing(names)} say the same: each state of one goes with one state of the others; "
        f"{option('leave_out', names[1:])} keeps the first."
    )


def may_be_twin(n_states: int, n_rows: int) -> bool:
    return 1 < n_states <= n_rows // 2 and n_rows >= MANY_ROWS


def by_appearance(codes: NDArray[np.uint16], n_states: int) -> bytes:
    """The codes, states numbered in the order in which rows have them: the same for columns that say the same, missing
    cells in the same rows."""
    first = np.full(n_states + 1, len(codes))
    first[codes[::-1]] = np.arange(len(codes))[::-1]  # of equal places the last one counts
    numbered = np.argsort(np.argsort(first, kind="stable"))[codes]
    return np.where(codes == n_states, -1, numbered).tobytes()


def note_on_capitals(name: str, states: Sequence[Any]) -> tuple[str, ...]:
    """A sentence if two states, such as yes and Yes, may have been meant as one."""
    by_letters: dict[str, str] = {}
    for state in states:
        if isinstance(state, str) and (other := by_letters.setdefault(state.casefold(), state)) != state:
            return (f"Column {name!r} has the states {other!r} and {state!r}: capitals count, so these are two.",)
    return ()
