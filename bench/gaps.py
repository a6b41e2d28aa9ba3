"""Missing cells: from which share of incomplete rows on do node averages find more than complete rows do?

Categories: rows dropped against NAL by several penalties, and against structural EM. Numbers: rows dropped against
leaving out the column that has the gaps. python -m bench gaps [--quick]
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from bench.drawn_tables import Drawn, draw
from bench.measure import given, keep_results, machine

N, ROWS, NETWORKS = 8, (200, 1000, 5000), 40
SHARES = (0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.95)
"""Of rows with a missing cell."""
CAUSES = ("by chance", "by another column")
WAYS = ("drop, BIC", "NAL", "NAL, bic", "NAL, 2 bic", "NAL, 4 bic")
EM, EM_NETWORKS, EM_ROWS, EM_SHARE = "structural EM", 12, (200, 1000), 0.4
"""Structural EM takes half a second, so it is tried on fewer tables, and from this share on."""
COLUMN_WAYS = ("drop rows", "drop the column", "no gaps")


def where_missing(cause: str, share: float, table: Drawn, rng: np.random.Generator) -> np.ndarray:
    """Marks [column, row] of so many incomplete rows, as expected.

    By another column: the first two columns have no gaps; one of them decides for each other column where gaps are
    nine times as likely, in about half of the rows.
    """
    shape = (len(table.columns), len(table.columns[0]))
    if cause == "by chance":
        return rng.random(shape) < 1 - (1 - share) ** (1 / shape[0])
    often = np.array([table.columns[i] >= np.median(table.columns[i]) for i in (0, 1)])
    decider = rng.integers(0, 2, shape[0] - 2)
    odds = np.where(often[decider], 0.9, 0.1)
    low, high = 0.0, 1 / 0.9
    for _ in range(40):
        middle = (low + high) / 2
        lost = 1 - np.prod(1 - middle * odds, axis=0).mean()
        low, high = (middle, high) if lost < share else (low, middle)
    marks = np.zeros(shape, dtype=bool)
    marks[2:] = rng.random(odds.shape) < low * odds
    return marks


def coded(table: Drawn, codes: np.ndarray) -> Any:
    """A topdag.Table of these codes, -1 for a missing cell."""
    import topdag as td

    states = [[str(s) for s in range(many)] for many in table.states]
    return td.Table.from_codes([f"v{i}" for i in range(len(states))], codes, states=states, keep_constant=True)


def found_by(way: str, table: Drawn, marks: np.ndarray) -> Any:
    import topdag as td

    codes = np.array(table.columns)
    if way == EM:
        return td.structural_em(coded(table, np.where(marks, -1, codes)), max_parents=4).network
    bic = math.log(codes.shape[1]) / 2
    kind: Any = {
        "drop, BIC": td.BIC(),
        "NAL": td.NAL(),
        "NAL, bic": td.NAL(penalty="bic"),
        "NAL, 2 bic": td.NAL(penalty=2 * bic),
        "NAL, 4 bic": td.NAL(penalty=4 * bic),
    }[way]
    made = np.where(marks, -1, codes) if kind != td.BIC() else codes[:, ~marks.any(axis=0)]
    if not made.shape[1]:
        return td.Network([f"v{i}" for i in range(len(codes))], {})
    answer = td.best_network(coded(table, made), kind, threads=1)
    assert answer.proof.gap == 0
    return answer.network


def runs_of(networks: int, rows: tuple[int, ...]) -> Iterator[dict[str, Any]]:
    """Tables of categories: a record for each table, cause, share and way."""
    from bench.class_distance import distance

    for n_rows, seed in itertools.product(rows, range(networks)):
        table = draw("categories", N, 0, n_rows, seed)
        whole = np.zeros((N, n_rows), dtype=bool)
        about = {"rows": n_rows, "seed": seed}
        yield (
            about
            | {"cause": None, "share": 0.0, "way": "no gaps"}
            | distance(table.edges, found_by("drop, BIC", table, whole))
        )
        for at, (cause, share) in enumerate(itertools.product(CAUSES, SHARES)):
            marks = where_missing(cause, share, table, np.random.default_rng([seed, n_rows, at]))
            with_em = seed < EM_NETWORKS and n_rows in EM_ROWS and share >= EM_SHARE
            for way in (*WAYS, EM) if with_em else WAYS:
                found = distance(table.edges, found_by(way, table, marks))
                yield about | {"cause": cause, "share": share, "way": way} | found


def number_runs(networks: int, rows: tuple[int, ...]) -> Iterator[dict[str, Any]]:
    """Tables of numbers in which one column has all gaps, by chance: adjacencies that are false or missed."""
    from bench.class_distance import distance
    from bench.mixed_kinds import best_by, by_rank_bic

    for kind, n_rows, seed in itertools.product(("logistic", "nonlinear"), rows, range(networks)):
        table = draw(kind, 0, N, n_rows, seed)
        for share in SHARES:
            keep = np.random.default_rng([seed, n_rows]).random(n_rows) >= share
            for way in COLUMN_WAYS:
                columns = [c[keep] for c in table.columns] if way == "drop rows" else list(table.columns)
                if way == "drop the column":  # it stays as a constant, which has no edges
                    columns[0] = np.zeros(n_rows)
                found = distance(table.edges, best_by(by_rank_bic, columns, table.states))
                yield {"rows": n_rows, "seed": (kind, seed), "cause": None, "share": share, "way": way} | found


def summary(runs: list[dict[str, Any]], others: tuple[str, ...]) -> list[dict[str, Any]]:
    """Means with standard errors; of ``others`` also the difference from dropping rows on the same tables."""
    keys = list(dict.fromkeys((r["rows"], r["cause"], r["share"], r["way"]) for r in runs))
    values: dict[Any, dict[Any, int]] = {}
    made = []
    for key in keys:
        own = [r for r in runs if (r["rows"], r["cause"], r["share"], r["way"]) == key]
        values[key] = {r["seed"]: r["shd"] for r in own}
        shd = np.array([*values[key].values()], dtype=float)
        wrong = {name: round(float(np.mean([r[name] for r in own])), 2) for name in ("false", "missed")}
        made.append(dict(zip(("rows", "cause", "share", "way"), key, strict=True)) | {"shd": round(shd.mean(), 2)})
        made[-1] |= {"se": round(float(shd.std(ddof=1) / np.sqrt(len(shd))), 2), **wrong}
        dropped = next(
            (values[(*key[:3], way)] for way in ("drop, BIC", "drop rows") if (*key[:3], way) in values), None
        )
        if key[3] in others and dropped is not None:
            more = np.array([found - dropped[seed] for seed, found in values[key].items()], dtype=float)
            made[-1] |= {"more than dropping": round(float(more.mean()), 2)}
            made[-1] |= {"se of that": round(float(more.std(ddof=1) / np.sqrt(len(more))), 2)}
    return made


def shown(made: list[dict[str, Any]], title: str) -> None:
    print(f"\n{title}: SHD (false, missed edges) by share of incomplete rows")
    for n_rows, cause in dict.fromkeys((r["rows"], r["cause"]) for r in made):
        own = [r for r in made if (r["rows"], r["cause"]) == (n_rows, cause)]
        for way in dict.fromkeys(r["way"] for r in own):
            cells = [r for r in own if r["way"] == way]
            texts = (f"{r['share']:.0%} {r['shd']:.1f} ({r['false']:.1f}, {r['missed']:.1f})" for r in cells)
            print(f"{n_rows:6,} {cause or '':18} {way:16}", *(f"{text:>21}" for text in texts))
            if "more than dropping" in cells[0]:
                more = (f"{r['more than dropping']:+.1f} ± {r['se of that']:.1f}" for r in cells)
                print(f"{'':26}{'against dropping':16}", *(f"{text:>21}" for text in more))


def main() -> None:
    quick = given("quick") is not None
    print(f"Missing cells, {N} columns. {machine()}")
    networks, rows = (3, ROWS[:2]) if quick else (NETWORKS, ROWS)
    categories = summary(list(runs_of(networks, rows)), (*WAYS[1:], EM))
    shown(categories, "Categories")
    numbers = summary(list(number_runs(networks, rows)), COLUMN_WAYS[1:])
    shown(numbers, "Numbers, gaps in one column, RankBIC")
    if not quick:
        keep_results("gaps", {"categories": categories, "numbers": numbers})


if __name__ == "__main__":
    main()
