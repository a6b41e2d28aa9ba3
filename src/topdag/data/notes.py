"""Sentences on a table: how its columns were understood, with the argument that changes it, and what is doubtful."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from topdag._util.messages import first_ones, listing, plural
from topdag._util.options import option
from topdag.data.columns import MANY_ROWS, Column, holds_numbers
from topdag.data.guess.types import ColumnType, by_appearance
from topdag.errors import TableError

FEWEST_ROWS = 10
"""A column with many states and fewer rows for each than this is remarked on."""
MANY_STATES = 20

States: TypeAlias = tuple[tuple[Any, ...], ...]


def note_on_left_out(types: Mapping[str, ColumnType]) -> tuple[str, ...]:
    """Return a sentence on the columns that are no variables, and how to use one of them."""
    if not types:
        return ()
    said = [f"{name!r} ({of.reason})" if name else "the row names" for name, of in types.items()]
    named = [name for name, of in types.items() if of.values and of.reason != "row names"]
    change = f"; {option('types', {named[0]: 'categorical'})} uses one" if named else ""
    return (f"Left out: {first_ones(said)}{change}.",)


def note_on_weight(name: str) -> tuple[str, ...]:
    change = option("types", {name: "count"})
    return (f"{name!r} says how many rows each row stands for (a table of counts); {change} makes it a variable.",)


def note_on_margins(n_rows: int) -> tuple[str, ...]:
    return (f"{plural(n_rows, 'row')} of totals left out: they add up other rows.",) if n_rows else ()


def note_on_missing_codes(codes: Mapping[str, float]) -> tuple[str, ...]:
    if not codes:
        return ()
    said = first_ones([f"{code:g} in {name!r}" for name, code in codes.items()])
    name = next(iter(codes))
    return (f"Taken for missing cells: {said}; {option('types', {name: 'continuous'})} keeps it as a number.",)


def notes_on_interventions(
    names: Sequence[str], targets: Sequence[int], weights: NDArray[np.uint32]
) -> tuple[str, ...]:
    """Return in how many rows each variable was set; raise TableError where no other row is left."""
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


def notes_on_many_states(columns: Sequence[Column], n_rows: int) -> tuple[str, ...]:
    """Return sentences on columns of categories that have too many states for their rows, and what to do."""
    numbers, words, named = list[str](), list[str](), list[str]()
    for column in columns:
        n_states = len(column.values)
        if n_states > MANY_STATES and n_rows < FEWEST_ROWS * n_states:
            (numbers if holds_numbers(column) else words).append(f"{column.name!r} ({n_states:,} states)")
            named += [column.name] * holds_numbers(column)
    few = f"Fewer than {FEWEST_ROWS} rows a state tell little, and some scores make up edges of them"
    sentences = []
    if numbers:
        sentences.append(
            f"{few}: {', '.join(numbers)}. Leave such columns out; where the numbers are no codes, "
            f"{option('types', {named[0]: 'continuous'})} says so."
        )
    if words:
        sentences.append(f"{few}: {', '.join(words)}. Join states that are alike, or leave such columns out.")
    return tuple(sentences)


def note_on_constant(names: Sequence[str]) -> tuple[str, ...]:
    if not names:
        return ()
    one = len(names) == 1
    are = f"{listing(names)} {'is' if one else 'are'} constant: {'it has' if one else 'they have'} one state."
    return (f"Column{'' if one else 's'} {are}",)


def notes_on_twins(columns: Sequence[Column]) -> tuple[str, ...]:
    """Return sentences on columns of states that say the same: those of two states each, which are no repetition for
    sure, and those that the user named or cut."""
    same: dict[bytes, list[str]] = {}
    for column in columns:
        if may_be_twin(len(column.values), len(column.codes)):
            same.setdefault(by_appearance(column.codes, len(column.values)), []).append(column.name)
    return tuple(twins_in_words(names) for names in same.values() if len(names) > 1)


def twins_in_words(names: Sequence[str]) -> str:
    return (
        f"Columns {listing(names)} say the same: each state of one goes with one state of the others; "
        f"{option('leave_out', names[1:])} keeps the first."
    )


def may_be_twin(n_states: int, n_rows: int) -> bool:
    return 1 < n_states <= n_rows // 2 and n_rows >= MANY_ROWS


def note_on_capitals(name: str, states: Sequence[Any]) -> tuple[str, ...]:
    """Return a sentence if two states, such as yes and Yes, may have been meant as one."""
    by_letters: dict[str, str] = {}
    for state in states:
        if isinstance(state, str) and (other := by_letters.setdefault(state.casefold(), state)) != state:
            return (f"Column {name!r} has the states {other!r} and {state!r}: capitals count, so these are two.",)
    return ()
