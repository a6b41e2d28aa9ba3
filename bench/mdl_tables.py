"""Tables 1 and 2 of Chen, Choi & Darwiche 2016 (BIC): bounds on parents, sizes of lists, calls of the oracle.

Their figures: seconds on a 2.67 GHz Xeon X5650, scoring not counted; lists of all families with up to p parents.
"""

from __future__ import annotations

import math
import time
from datetime import date
from typing import Any

from bench.measure import DATA, in_fresh_process, machine

KS = (10, 100, 1000)
SECONDS = 60.0
"""For one search."""
# by data set: p in the paper for each k; for k = 10 its oracle calls, their seconds and those of A*
PAPER: dict[str, tuple[tuple[int, ...], int, float, float]] = {
    "hepatitis": ((6, 6, 7), 155, 1.71, 0.17),
    "imports": ((6, 6, 7), 111, 63.26, 0.16),
    "parkinsons": ((6, 6, 8), 110, 666.23, 1.23),
    "autos": ((6, 6, 8), 1199, 2098.97, 6.46),
    "horse": ((7, 7, 8), 1095, 2045.58, 8.96),
    "flag": ((6, 6, 7), 1248, 4454.21, 19.79),
}


def measure(name: str, threads: int) -> dict[str, Any]:
    import topdag as td
    from topdag.questions.network_search import search_networks
    from topdag.scoring.parent_bounds import parent_bounds
    from topdag.search.engines import sizes

    table = td.read_table(DATA / f"{name}.csv")
    n = table.n_variables
    bounds = [parent_bounds(table, td.BIC(), td.KBest(k), threads=threads) for k in KS]
    limits = [[bound.limit for bound in own.values()] for own in bounds]
    scores = td.score(table, td.BIC(), threads=threads)
    begin = time.perf_counter()
    found = search_networks(scores, KS[0], threads=threads, time_limit=SECONDS)
    seconds = time.perf_counter() - begin
    if n <= sizes().few:  # all sets are counted there, so what the k best need is known exactly
        kept = [td.score(table, td.BIC(), keep=td.KBest(k), threads=threads).n_families for k in KS]
    else:
        kept = [td.k_best_networks(scores, k, threads=threads).source.n_families for k in KS]
    return {
        "n": n,
        "rows": table.n_rows,
        "p": [max(own) for own in limits],
        "up to p": [sum(math.comb(n - 1, d) for p in own for d in range(p + 1)) for own in limits],
        "best": td.score(table, td.BIC(), keep="best", threads=threads).n_families,
        "kept": kept,
        "seconds": seconds,
        "status": found.proof.status.name,
        "engine": found.stats.engine,
        "work": dict(found.stats.work),
    }


def main(threads: int = 2) -> None:
    print(f"\nBIC, {threads} threads. {date.today()}. {machine()}")
    print("p: most parents that the k = 10, 100, 1,000 best can need; families: all, those up to p, those kept for the")
    print("best, those kept for each k (above 22 variables, within the reach of its list). In brackets the paper's.")
    for name, (p, calls, oracle, search) in PAPER.items():
        if not (DATA / f"{name}.csv").exists():
            print(f"{name:11} skipped: no {name}.csv in ../shared/data")
            continue
        r = in_fresh_process("bench.mdl_tables", name=name, threads=threads)
        n, w = r["n"], r["work"]
        print(
            f"{name:11} n {n} rows {r['rows']} p {r['p']} ({list(p)}) families {n << n - 1:.1e}, "
            f"{', '.join(f'{m:.1e}' for m in r['up to p'])}; best {r['best']:,}; lists {r['kept']}\n"
            f"{'':11} 10 best: {r['seconds']:.2f} s ({oracle + search:.2f}) oracle calls {w['oracle calls']:,} "
            f"({calls:,}) generated {w['generated']:,} expanded {w['expanded']:,}  {r['status']}, {r['engine']}",
            flush=True,
        )
