"""Score files of 70 to 413 variables, and random networks of 30 to 100 variables, as in Table 4 of de Campos, Zeng & Ji
2009: scoring, search, proof.

Two arcs a variable, at most three parents, two states, BIC; no limit on parents unless one is shown. Their figures:
seconds with n parallel tasks, gap in per cent of the score. ``python -m bench wide``.
"""

from __future__ import annotations

import time
from datetime import date
from typing import Any

from bench.measure import DATA, in_fresh_process, machine

SECONDS = 120.0
FILE_SECONDS = 300.0
FILES = ["hepar2", "pathfinder", "munin1", "diabetes"]
# variables, rows: limit on parents, paper's seconds and gap; None: not in the paper
CASES: list[tuple[int, int, int | None, tuple[float, float] | None]] = [
    (30, 100, None, (0.06, 0.0)),
    (30, 500, None, (2.7, 0.0)),
    (50, 100, None, (0.26, 0.0)),
    (50, 500, None, (20.66, 0.0)),
    (64, 500, None, None),
    (70, 100, None, (4.58, 0.0)),
    (70, 500, 5, (356.9, 1.1)),
    (100, 100, None, (9.05, 0.5)),
    (100, 500, 4, (1370.4, 1.4)),
]
SEEDS = (1, 2)


def measure(**given: Any) -> dict[str, Any]:
    return of_file(**given) if "name" in given else of_table(**given)


def of_file(name: str) -> dict[str, Any]:
    import topdag as td

    scores = td.io.read_scores(DATA / "scores" / f"{name}-5000.bic.blip.jkl")
    worked = time.process_time()
    answer = td.best_network(scores, time_limit=FILE_SECONDS)
    return {
        "n": len(scores.names),
        "families": scores.n_families,
        "score": answer.score,
        "status": answer.proof.status.name,
        "gap": 100 * answer.proof.gap / abs(answer.score),
        "worked": time.process_time() - worked,
        "rounds": answer.stats.work.get("rounds", 0),
        "parts": answer.stats.work.get("parts", 0),
        "peak": answer.stats.peak_memory,
    }


def of_table(n: int, rows: int, max_parents: int | None, seed: int) -> dict[str, Any]:
    import topdag as td

    table = td.random_network(n, arcs=2 * n, max_parents=3, seed=seed).sample(rows, seed=seed)
    begin = time.perf_counter()
    scores = td.score(table, td.BIC(), keep="best", max_parents=max_parents)
    scored = time.perf_counter()
    answer = td.best_network(scores, time_limit=SECONDS)
    return {
        "scoring": scored - begin,
        "sets": scores.report.sets,
        "limit": scores.report.limit,
        "families": scores.n_families,
        "search": time.perf_counter() - scored,
        "parts": answer.stats.work.get("parts", 0),
        "status": answer.proof.status.name,
        "gap": 100 * answer.proof.gap / abs(answer.score),
        "peak": answer.stats.peak_memory,
    }


def main() -> None:
    print(f"\nScore files, at most {FILE_SECONDS:.0f} s, processor seconds. {date.today()}. {machine()}")
    for name in FILES:
        r = in_fresh_process("bench.wide", name=name)
        print(
            f"  {name}: {r['n']} variables, {r['families']:,} families: {r['score']:.4f}, {r['status']} in "
            f"{r['worked']:.1f} s, gap {r['gap']:.3f} %, {r['rounds']} rounds, {r['parts']} parts, "
            f"{r['peak'] / 1e6:,.0f} MB",
            flush=True,
        )
    print(f"\nRandom networks, BIC, two threads. {date.today()}. {machine()}")
    for n, rows, limit, paper in CASES:
        theirs = "" if paper is None else f" (paper: {paper[0]} s with {n} tasks, gap {paper[1]} %)"
        print(f"  {n} variables, {rows} rows{'' if limit is None else f', at most {limit} parents'}{theirs}")
        for seed in SEEDS:
            r = in_fresh_process("bench.wide", n=n, rows=rows, max_parents=limit, seed=seed)
            print(
                f"    seed {seed}: {r['sets']:,} sets counted, up to {r['limit']} parents, "
                f"{r['families']:,} families in {r['scoring']:.1f} s; {r['status']} in {r['search']:.1f} s, "
                f"gap {r['gap']:.3f} %, {r['parts']} parts, {r['peak'] / 1e6:,.0f} MB",
                flush=True,
            )


if __name__ == "__main__":
    main()
