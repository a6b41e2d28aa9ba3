"""Table 1 of Chen, Choi & Darwiche 2015, by their Algorithm 1 and by the tighter search: the prior over orders.

Their figures: seconds on a 2.67 GHz Xeon X5650, scoring not counted; T_h for the oracle, T_A* for the search, t in all.
"""

from __future__ import annotations

import time
from datetime import date
from typing import Any

from bench.measure import DATA, in_fresh_process, machine

# by data set: T_h, T_A*, t, generated, expanded, re-expanded in the paper; None: out of 64 GB
PAPER: dict[str, tuple[float, float, float, int, int, int] | None] = {
    "adult": (1.03, 0.26, 1.29, 106_832, 12_620, 33),
    "wine": (0.74, 6.08, 6.82, 1_559_900, 244_694, 57_259),
    "nltcs": (7.21, 1.17, 8.38, 386_363, 41_125, 1),
    "letter": (29.42, 3.79, 32.20, 360_899, 37_034, 16),
    "voting": (5.28, 56.59, 61.89, 10_540_132, 1_961_602, 396_084),
    "zoo": None,
}
MEMORY, SECONDS = "2500MB", 300.0


def measure(name: str, published: bool, k: int, threads: int) -> dict[str, Any]:
    import topdag as td
    from topdag.knowledge.priors import OrderModular
    from topdag.questions.network_search import search_networks

    scores = td.score(td.read_table(DATA / f"{name}.csv"), td.BDeu(1.0), threads=threads)
    begin = time.perf_counter()
    found = search_networks(
        scores,
        k,
        prior=OrderModular(),
        published=published,
        threads=threads,
        memory_limit=MEMORY,
        time_limit=SECONDS,
    )
    return {
        "seconds": time.perf_counter() - begin,
        "search": found.stats.phases["searching"],
        "work": dict(found.stats.work),
        "proof": found.proof.limit or "proved",
        "bound": found.proof.bound,
        "value": float(found.scores[0]),
        "score": found[0].score,
        "orders": found[0].linear_extensions,
        "peak": found.stats.peak_memory,
    }


def main(threads: int = 2) -> None:
    print(f"\nThe best network under the prior over orders, BDeu(1), {threads} threads. {date.today()}. {machine()}")
    print("Seconds without scoring: oracle and bounds, search, all (T_h, T_A*, t); in brackets what the paper printed.")
    for name, paper in PAPER.items():
        if not (DATA / f"{name}.csv").exists():
            print(f"{name:7} skipped: no {name}.csv in ../shared/data")
            continue
        for published in (True, False):
            _print_row(name, published, 1, paper if published else None, threads)
    print("100 best, by the tighter search:")
    for name in ("adult", "wine", "letter"):
        if (DATA / f"{name}.csv").exists():
            _print_row(name, False, 100, None, threads)


def _print_row(
    name: str, published: bool, k: int, paper: tuple[float, float, float, int, int, int] | None, threads: int
) -> None:
    r = in_fresh_process("bench.prior_search", name=name, published=published, k=k, threads=threads)
    work = r["work"]
    measured = (r["seconds"] - r["search"], r["search"], r["seconds"])
    counts = (work["generated"], work["expanded"], work["re-expanded"])
    none = "out of 64 GB" if published else ""
    seconds = "/".join(f"{s:.2f}" for s in measured) + f" s ({'/'.join(map(str, paper[:3])) if paper else none})"
    nodes = "/".join(f"{c:,}" for c in counts) + (f" ({'/'.join(f'{c:,}' for c in paper[3:])})" if paper else "")
    print(
        f"{name:7} {'Algorithm 1' if published else 'tighter':11} {r['proof']:12} {r['value']:.6f} "
        f"(bound {r['bound']:.6f}, score {r['score']:.6f}, orders {r['orders']:,}) T_h/T_A*/t {seconds} "
        f"generated/expanded/re-expanded {nodes} {r['peak'] / 1e6:.0f} MB",
        flush=True,
    )
