"""Exact averaging: evidence, edges and paths over all networks; edges over all orders. ``python -m bench averaging``.

Paths alone on wine took Chen, Meng & Tian (2015) 12,856 s.
"""

from __future__ import annotations

import sys
import time
from datetime import date
from typing import Any

from bench.measure import DATA, in_fresh_process, machine

UNIFORM = {"wine": "paths alone 12,856 s (Chen, Meng & Tian 2015)", "voting": "", "zoo": "", "hepatitis": ""}
ORDERS = {"parkinsons": "", "sensors": "33 variables on 2,048 cores (2014)"}


def measure(name: str, over_orders: bool, threads: int | None = None) -> dict[str, Any]:
    import topdag as td
    from topdag._util.run import peak_memory

    begin = time.perf_counter()
    scores = td.score(td.read_table(DATA / f"{name}.csv"), td.BDeu(), keep="all", threads=threads)
    scored = time.perf_counter() - begin
    if over_orders:
        edges = td.edge_posteriors(scores, prior=td.OrderModular(), threads=threads)
        found: Any = edges
    else:
        found = td.network_posteriors(scores, parent_sets_of=[], threads=threads)
        edges = found.edges
    return {
        "n": len(scores.columns),
        "scored": scored,
        "seconds": time.perf_counter() - begin,
        "memory": peak_memory(),
        "evidence": found.log_evidence,
        "cancellation": found.cancellation,
        "defect": found.averaged.defect,
        "likely": len(edges.above(0.5)),
    }


def main() -> None:
    print(f"## Exact averaging, {date.today()}, {machine()}\n")
    print("| asked | n | log evidence | edges above 1/2 | s (scoring) | GB | cancellation | defect | before |")
    print("|---|---|---|---|---|---|---|---|---|")
    wanted = [(name, False, paper) for name, paper in UNIFORM.items()]
    wanted += [(name, True, paper) for name, paper in ORDERS.items()]
    for name, over_orders, paper in wanted:
        found = in_fresh_process("bench.averaging", name=name, over_orders=over_orders)
        what = "edges, order-modular" if over_orders else "evidence, edges, paths"
        print(
            f"| {name}: {what} | {found['n']} | {found['evidence']:.6f} | {found['likely']} "
            f"| {found['seconds']:.2f} ({found['scored']:.2f}) | {found['memory'] / 1e9:.2f} "
            f"| {found['cancellation']:.0f} | {found['defect']:.1e} | {paper} |"
        )
        sys.stdout.flush()


if __name__ == "__main__":
    main()
