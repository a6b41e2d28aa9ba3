"""Scoring with pruning: seconds, sets counted, families scored, cut by which rule, kept.

As in Table 1 of de Campos & Ji 2009 and Figure 5 of Yuan & Malone 2013: "full" are all n 2^(n-1) families, "layer"
those with (n-1)/2 parents. ``python -m bench pruned_scoring``.
"""

from __future__ import annotations

import math
import time
from datetime import date
from typing import Any

from bench.measure import DATA, in_fresh_process, machine

# name, goal in seconds
BIC_ROWS = [
    ("letter", 0.5),
    ("child20", 0.3),
    ("insurance20", 0.3),
    ("alarm20", 0.3),
    ("hepatitis", None),
    ("parkinsons", 0.2),
    ("autos", 0.5),
    ("insurance1000", 2.0),
    ("horse", 1.0),
    ("flag", 0.5),
    ("wdbc", 5.0),
    ("water1000", None),
    ("alarm1000", 3.0),
    ("gobnilp_alarm_10000", None),
    ("hailfinder100", None),
    ("hailfinder500", 10.0),
    ("carpo100", None),
    ("carpo500", 10.0),
]
# name, most parents
BDEU_ROWS = [
    ("parkinsons", 5),
    ("autos", 4),
    ("flag", 4),
    ("alarm1000", 3),
    ("alarm1000", 4),
    ("hailfinder100", 3),
    ("hailfinder500", 3),
    ("lung", 2),
    ("lung", 3),
]


def measure(name: str, score: str, max_parents: int | None, factor: float | None, threads: int) -> dict[str, Any]:
    import topdag as td
    from topdag._util.run import Run, peak_memory
    from topdag.scoring.pruned import score_pruned
    from topdag.scoring.task import Pruning, ScoringTask

    table = td.read_table(DATA / f"{name}.csv")
    columns = tuple(v for v in range(table.n_variables) if table.arities[v] > 1)
    keep = Pruning() if factor is None else Pruning(math.log(factor))
    kind = td.BIC() if score == "BIC" else td.BDeu()
    began, cpu = time.perf_counter(), time.process_time()
    found = score_pruned(ScoringTask(table, columns, kind, max_parents, keep), Run(threads=threads))
    assert found is not None
    n = len(columns)
    return {
        "n": n,
        "rows": table.n_rows,
        "seconds": time.perf_counter() - began,
        "cpu": time.process_time() - cpu,
        "peak": peak_memory(),
        "full": n << n - 1,
        "layer": n * math.comb(n - 1, (n - 1) // 2),
        "sets": found.sets,
        "scored": found.scored,
        "cut": dict(found.cut),
        "kept": found.kept,
        "limit": found.limit,
    }


def main(threads: int = 2) -> None:
    print(f"\nScoring with pruning, {threads} threads. {date.today()}. {machine()}")
    print("cut: parent sets cut off together with all their supersets; p: parents of the largest family scored.")
    for factor in (None, 20):
        asked = "for one best network" if factor is None else f"for networks within a factor of {factor}"
        print(f"\nBIC, {asked}, parent limit proven")
        heading()
        for name, goal in BIC_ROWS:
            show(name, "BIC", None, factor, goal if factor is None else None, threads)
    print("\nBDeu(1), for one best network")
    heading()
    for name, max_parents in BDEU_ROWS:
        show(name, "BDeu", max_parents, None, None, threads)


def heading() -> None:
    print(f"{'data':20} {'n':>3} {'rows':>6} {'p':>2} {'s':>7} {'goal':>5} {'CPU s':>7} {'MB':>5} {'full':>8}", end=" ")
    print(f"{'layer':>8} {'sets':>10} {'scored':>11} {'kept':>8}  cut")


def show(
    name: str, score: str, max_parents: int | None, factor: float | None, goal: float | None, threads: int
) -> None:
    if not (DATA / f"{name}.csv").exists():
        print(f"{name:20} skipped: no {name}.csv in ../shared/data")
        return
    r = in_fresh_process(
        "bench.pruned_scoring", name=name, score=score, max_parents=max_parents, factor=factor, threads=threads
    )
    cut = ", ".join(f"{rule} {count:,}" for rule, count in r["cut"].items() if count)
    print(
        f"{name:20} {r['n']:3} {r['rows']:6} {r['limit']:2} {r['seconds']:7.3f} {goal or '':>5} {r['cpu']:7.3f} "
        f"{r['peak'] / 1e6:5.0f} {r['full']:8.1e} {r['layer']:8.1e} {r['sets']:10,} {r['scored']:11,} "
        f"{r['kept']:8,}  {cut}",
        flush=True,
    )


if __name__ == "__main__":
    main()
