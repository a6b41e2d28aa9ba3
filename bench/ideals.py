"""Orders that variables have in any case: sets visited and seconds, without an order, with tiers and with a chain.

Parviainen & Koivisto 2013: with k tiers of n/k variables, k * 2^(n/k) of the 2^n sets are ideals.
"""

from __future__ import annotations

import math
import time
from datetime import date
from itertools import pairwise
from typing import Any

from bench.measure import DATA, in_fresh_process, machine

BEST = ["letter", "image", "hepatitis", "parkinsons", "mushroom1868"]
SUMS = ["letter", "zoo"]
ORDERS = ["none", "a quarter before a quarter", "2 tiers", "3 tiers", "5 tiers", "chain"]


def constraints_of(order: str, names: tuple[str, ...]) -> Any:
    """Variables in the order of their columns, whatever they mean."""
    import topdag as td

    if order == "none":
        return None
    if order == "chain":
        return td.Constraints(precedence=list(pairwise(names)))
    if order == "a quarter before a quarter":
        size = len(names) // 4
        return td.Constraints(precedence=[(a, b) for a in names[:size] for b in names[size : 2 * size]])
    size = math.ceil(len(names) / int(order[0]))
    return td.Constraints(tiers=[names[i : i + size] for i in range(0, len(names), size)])


def measure(name: str, order: str, what: str) -> dict[str, Any]:
    import topdag as td

    table = td.read_table(DATA / f"{name}.csv")
    scores = td.score(table, td.BDeu(), keep="all", constraints=constraints_of(order, table.names))
    begin = time.perf_counter()
    if what == "best":
        best = td.best_network(scores)
        visited, answer, stats = best.stats.work.get("sets visited", 2 ** len(scores.columns)), best.score, best.stats
    else:
        found = td.network_posteriors(scores, paths=False, parent_sets_of=[])
        visited, answer, stats = 0, found.log_evidence, found.stats
    seconds = time.perf_counter() - begin
    return {
        "n": len(scores.columns),
        "visited": visited,
        "answer": answer,
        "seconds": seconds,
        "counting": scores.seconds,
        "peak": stats.peak_memory,
        "engine": stats.engine,
    }


def main() -> None:
    print(f"\nThe best network under an order, BDeu. {date.today()}. {machine()}")
    for name in BEST:
        for order in ORDERS:
            r = in_fresh_process("bench.ideals", name=name, order=order, what="best")
            print(
                f"{name:13} {r['n']} {order:26} {r['visited']:10,} sets {r['seconds']:6.2f} s after "
                f"{r['counting']:5.2f} s of scoring, score {r['answer']:.3f}, {r['peak'] / 2**20:.0f} MB; "
                f"{r['engine']}",
                flush=True,
            )
    print("Evidence and all edges, summed over the networks that agree")
    for name in SUMS:
        for order in ORDERS:
            r = in_fresh_process("bench.ideals", name=name, order=order, what="sums")
            print(
                f"{name:13} {r['n']} {order:26} {r['seconds']:6.2f} s, log evidence {r['answer']:.6f}, "
                f"{r['peak'] / 2**20:.0f} MB",
                flush=True,
            )
