"""Types of columns against the labels of bench/tables, for the rules of topdag and for twenty lines of pandas."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

LABELS = Path(__file__).with_name("tables") / "labels.tsv"
PARTS = ("open", "aside")
LEFT_OUT = ("identifier", "text", "date", "duplicate")
FEWEST_OF_NUMBERS = 5
"""Whole numbers with fewer values are categories, whatever they are called."""

Guesses = Mapping[str, Mapping[str, str]]
"""The type of each column, by table."""


def labels() -> list[dict[str, str]]:
    with LABELS.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def treated(type_: str, n_values: int) -> str:
    """Return what is done with a column of the type."""
    if type_ in LEFT_OUT:
        return "left out"
    if type_ in ("weight", "constant"):
        return type_
    return "number" if type_ in ("continuous", "count", "ordinal") and n_values >= FEWEST_OF_NUMBERS else "category"


def compared(guesses: Guesses, n_values: Mapping[str, Mapping[str, int]]) -> list[dict[str, Any]]:
    """Return for each labelled column what it is, what was guessed, and whether that agrees: exactly, or in what is
    done with the column."""
    found = []
    for label in labels():
        table, column = label["table"], label["column"]
        if column not in guesses.get(table, {}):
            continue
        right = [label["type"], *filter(None, label["also"].split(","))]
        guess, n = guesses[table][column], n_values[table][column]
        is_alike = treated(guess, n) in {treated(type_, n) for type_ in right}
        told = {"table": table, "column": column, "part": label["part"], "label": label["type"], "guess": guess}
        found.append(told | {"exact": guess in right, "alike": is_alike})
    return found


def shares(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return how many columns were compared, and the shares that agree, for all and by the type of the label."""
    count = Counter(row["label"] for row in rows)
    by_type = {
        label: {"columns": n, **{how: sum(r[how] for r in rows if r["label"] == label) for how in ("exact", "alike")}}
        for label, n in count.most_common()
    }
    return {"columns": len(rows), **{how: sum(r[how] for r in rows) for how in ("exact", "alike")}, "by type": by_type}


def pandas_types(frame: Any) -> dict[str, str]:
    """Guess the types of all columns in twenty lines, as one would in a notebook."""
    types: dict[str, str] = {}
    for place, name in enumerate(frame.columns):
        column = frame[name].dropna()
        n, is_number = column.nunique(), column.dtype.kind in "iuf"
        if n <= 1:
            types[name] = "constant"
        elif place == 0 and str(name).startswith("Unnamed"):
            types[name] = "identifier"
        elif not is_number and n > len(column) / 2:
            types[name] = "text" if column.astype(str).str.split().str.len().mean() > 3 else "identifier"
        elif not is_number or n == 2:
            types[name] = "categorical"
        elif name.lower() in ("freq", "count", "n", "weight") and not frame.drop(columns=name).duplicated().any():
            types[name] = "weight"
        elif column.dtype.kind == "f":
            types[name] = "continuous"
        elif n == len(frame) and column.is_monotonic_increasing:
            types[name] = "identifier"
        else:
            types[name] = "ordinal" if n <= 7 else "continuous"
    return types
