"""Figures 6 and 10 of Yuan & Malone 2013: A* over orders with each bound, and the sets it leaves out by layer.

``python -m bench order_search``. Beside their bounds the cluster bound with the relaxation's multipliers, its time
included. Without and with optimal path extension; the last row has the relaxation's network to prune with.
"""

from __future__ import annotations

import math
import time
from datetime import date
from typing import Any

from bench.measure import DATA, in_fresh_process, machine

MEMORY = 3 * 10**9
SECONDS = 300.0
# by data set: the paper's consecutive blocks
BLOCKS = {"autos": ((9, 9, 8), (13, 13)), "flag": ((10, 10, 9), (15, 14))}
LAYERED = {"mushroom": (12, 11), "parkinsons": (12, 11)}


def ways_for(name: str) -> list[str]:
    blocks = ["static " + "-".join(map(str, sizes)) for sizes in BLOCKS[name]]
    strongest = f"static strongest {BLOCKS[name][-1][0]}"
    return ["simple", "dynamic 2", "dynamic 3", "dynamic 4", *blocks, strongest, "cluster", "cluster, pruned"]


def measure(name: str, way: str, extend: bool, seconds: float = SECONDS) -> dict[str, Any]:
    from topdag._util.run import Run
    from topdag.answers.results import limit_text
    from topdag.search.order_search import search_orders

    store = listed(name)
    begin = time.perf_counter()
    candidates, bound, upper, shift = prepared(store, way)
    made = time.perf_counter() - begin
    run = Run(time_limit=seconds, memory_limit=MEMORY, threads=1)
    begin = time.perf_counter()
    found = search_orders(candidates, bound, run, upper=upper, extend_paths=extend)
    return {
        "n": store.n,
        "families": candidates.size,
        "patterns": bound.size,
        "root": bound.at(0) + shift,
        "made": made,
        "seconds": time.perf_counter() - begin,
        "finished": found.finished,
        "engine": found.method,
        "limit": limit_text(found.limit),
        "cost": found.cost + shift,
        "bound": found.bound + shift,
        "work": found.work,
        "layers": found.layers,
        "memory": run.memory,
    }


def listed(name: str) -> Any:
    import topdag as td
    from topdag._util.run import Run
    from topdag.scoring.pruned import score_pruned
    from topdag.scoring.task import ScoringTask

    table = td.read_table(DATA / f"{name}.csv")
    found = score_pruned(ScoringTask(table, tuple(range(table.n_variables)), td.BIC()), Run())
    if found is None:
        raise TimeoutError(f"{name} was not scored")
    return found.store


def prepared(store: Any, way: str) -> tuple[Any, Any, float, float]:
    """Families, bound, upper limit, and what the families' own best cost more than those of the whole list."""
    import numpy as np

    from topdag import _core
    from topdag._util.run import Run
    from topdag.search.order_search import cluster_bound, consecutive_blocks
    from topdag.search.relaxation import solve_root

    masks = np.ascontiguousarray(store.lists.masks[:, 0])
    candidates = _core.Candidates(store.n, store.lists.offsets, masks, store.rounded)
    kind, _, setting = way.partition(" ")
    if kind == "simple":
        return candidates, _core.simple_bound(candidates), math.inf, 0.0
    if kind == "dynamic":
        return candidates, _core.cycle_bound(candidates, int(setting), False), math.inf, 0.0
    if kind == "static":
        groups = (
            _core.groups_by_strongest_parents(candidates, int(setting.split()[1]))
            if setting.startswith("strongest")
            else consecutive_blocks([int(size) for size in setting.split("-")])
        )
        return candidates, _core.group_bound(candidates, groups), math.inf, 0.0
    found = solve_root(store, Run(time_limit=60, threads=1))
    kept = found.kept_families(found.threshold)
    offsets = np.concatenate([[0], np.cumsum(kept)])[store.lists.offsets]
    fewer = _core.Candidates(store.n, offsets, masks[kept], store.rounded[kept])
    best, own = (
        np.maximum.reduceat(s, o[:-1])
        for s, o in ((store.rounded, store.lists.offsets), (store.rounded[kept], offsets))
    )
    shift = float((best - own).sum())
    upper = found.incumbent.cost - shift if kind == "cluster," and found.incumbent else math.inf
    return fewer, cluster_bound(fewer, found.clusters, found.multipliers), upper, shift


def _bounds_table(name: str) -> None:
    print(
        f"\n{name}: bound, patterns or clusters, at the root, seconds to make it and to search, sets expanded / found"
    )
    for way in ways_for(name):
        for extend in (False, True):
            r = in_fresh_process("bench.order_search", name=name, way=way, extend=extend)
            ended = f"cost {r['cost']:.6f}" if r["finished"] else f"stopped by {r['limit']}, bound {r['bound']:.3f}"
            print(
                f"  {way:20} {'extended' if extend else 'plain':9} {r['patterns']:9,} {r['root']:10.3f} "
                f"{r['made']:7.2f} s {r['seconds']:8.3f} s {r['work']['expanded']:12,} / {r['work']['generated']:12,} "
                f"reopened {r['work']['reopened']:,} {ended} {r['memory'] / 1e6:.0f} MB{_sibling(r)}",
                flush=True,
            )


def _sibling(r: dict[str, Any]) -> str:
    return "" if r["engine"].startswith("best-first") else f" ({r['engine']})"


def _layers_table(name: str) -> None:
    static = "static " + "-".join(map(str, LAYERED[name]))
    print(f"\n{name}: sets expanded + found but not expanded, by number of placed variables, plain")
    for way in ("simple", static, "cluster"):
        r = in_fresh_process("bench.order_search", name=name, way=way, extend=False)
        layers = " ".join(f"{expanded}+{waiting}" for expanded, waiting in r["layers"])
        print(f"  {way}: {r['work']['expanded']:,} expanded, {r['seconds']:.2f} s{_sibling(r)}: {layers}", flush=True)


def main() -> None:
    limits = f"at most {MEMORY / 1e9:.0f} GB and {SECONDS:.0f} s"
    print(f"\nSearch over orders, BIC, one thread, {limits}. {date.today()}. {machine()}")
    for name in BLOCKS:
        _bounds_table(name)
    for name in LAYERED:
        _layers_table(name)
