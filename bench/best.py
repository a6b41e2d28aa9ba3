"""The best network, BDeu with ESS 1, all parent sets allowed: from opening the CSV to the network."""

from __future__ import annotations

import time
from datetime import date
from typing import Any

from bench.measure import DATA, in_fresh_process, machine

# name, goal in seconds, what others need (CPU seconds on this kind of machine, or as published)
ROWS = [
    ("voting", 0.15, "bene 5.3 s"),
    ("letter", 0.6, "bene 20.4 s, URLearning BIC 45 s"),
    ("adult15_cat", 0.5, ""),
    ("hepatitis", 0.3, "bene 20.3 s"),
    ("image", 0.9, "344 s for the 10 best in Chen et al. 2015, scoring not counted"),
    ("parkinsons", 3.5, "URLearning BIC 13 s; 3,729 s in Chen et al. 2015"),
    ("sensors", 60.0, "out of 64 GB in Chen et al. 2015"),
]
REPEATS = 3


def measure(name: str, threads: int) -> dict[str, Any]:
    import topdag as td

    assert all([td.read_table, td.best_network])  # opens their rooms: importing is not counted
    begin = time.perf_counter()
    table = td.read_table(DATA / f"{name}.csv")
    read = time.perf_counter() - begin
    answer = td.best_network(table, threads=threads)
    seconds = time.perf_counter() - begin
    return {
        "n": table.n_variables,
        "rows": table.n_rows,
        "score": answer.score,
        "status": answer.proof.status.name,
        "seconds": seconds,
        "read": read,
        "phases": dict(answer.stats.phases),
        "peak": answer.stats.peak_memory,
    }


def lattice_seconds(phases: dict[str, float]) -> float:
    """Of either lattice."""
    return sum(phases.get(phase, 0.0) for phase in ("lattice", "sweeping", "ordering"))


def main(threads: int = 2) -> None:
    print(f"Best network, BDeu(1), {threads} threads, best of {REPEATS} runs. {date.today()}. {machine()}")
    print(
        f"{'data':12} {'n':>3} {'rows':>6} {'score':>15} {'status':7} {'seconds':>8} {'goal':>6} {'read':>6}",
        end=" ",
    )
    print(f"{'count':>7} {'lattice':>7} {'peak MB':>8}  others")
    for name, goal, others in ROWS:
        if not (DATA / f"{name}.csv").exists():
            print(f"{name:12} skipped: no {name}.csv in ../shared/data")
            continue
        runs = [in_fresh_process("bench.best", name=name, threads=threads) for _ in range(REPEATS)]
        r = min(runs, key=lambda run: run["seconds"])
        phases = r["phases"]
        print(
            f"{name:12} {r['n']:3} {r['rows']:6} {r['score']:15.6f} {r['status']:7} {r['seconds']:8.3f} {goal:6.2f} "
            f"{r['read']:6.3f} {phases['counting']:7.3f} {lattice_seconds(phases):7.3f} "
            f"{r['peak'] / 1e6:8.0f}  {others}",
            flush=True,
        )
