"""How cost grows with the number of variables, on one table that grows column by column."""

from __future__ import annotations

import time
from datetime import date
from typing import Any

from bench.best import lattice_seconds
from bench.measure import in_fresh_process, machine

ROWS, LARGEST, SEED = 1000, 26, 7


def measure(n: int, threads: int) -> dict[str, Any]:
    if n == 0:
        return measure_memory()
    import topdag as td

    whole = td.random_network(LARGEST, arcs=40, max_parents=3, seed=SEED).sample(ROWS, seed=SEED)
    table = td.Table.from_codes(whole.names[:n], whole.codes[:n], weights=whole.weights, states=whole.states[:n])
    answer = td.best_network(table, threads=threads)
    return {
        "phases": dict(answer.stats.phases),
        "seconds": answer.stats.seconds,
        "peak": answer.stats.peak_memory,
    }


def measure_memory() -> dict[str, float]:
    """Bytes a second that two threads move by copying, and that one writes to memory it did not have before."""
    import threading

    import numpy as np

    def copy(into: Any, source: Any) -> None:
        for _ in range(4):
            np.copyto(into, source)

    size = 2**26
    begin = time.perf_counter()
    fresh = np.empty(size)
    fresh[:] = 1.0
    first_touch = 8 * size / (time.perf_counter() - begin)
    pairs = [(np.zeros(size), fresh), (np.zeros(size), np.ones(size))]
    for pair in pairs:
        copy(*pair)
    workers = [threading.Thread(target=copy, args=pair) for pair in pairs]
    begin = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return {"copy": 2 * 4 * 2 * 8 * size / (time.perf_counter() - begin), "first touch": first_touch}


def main(threads: int = 2) -> None:
    memory = in_fresh_process("bench.scaling", n=0, threads=threads)
    print(f"\nGrowth: {ROWS} rows of a random binary network, BDeu(1), {threads} threads. {date.today()}. {machine()}")
    print(f"copying moves {memory['copy'] / 1e9:.1f} GB/s; memory not held before is written", end=" ")
    print(f"at {memory['first touch'] / 1e9:.1f} GB/s, once for each number")
    print(f"{'n':>3} {'seconds':>8} {'ns/set':>7} {'count':>6} {'lattice':>7} {'rest':>6} {'peak MB':>8}")
    for n in range(14, LARGEST + 1):
        r = in_fresh_process("bench.scaling", n=n, threads=threads)
        total = r["seconds"]
        counting, lattice = r["phases"]["counting"] / total, lattice_seconds(r["phases"]) / total
        print(
            f"{n:3} {total:8.3f} {total / 2**n * 1e9:7.0f} {counting:6.0%} {lattice:7.0%} "
            f"{1 - counting - lattice:6.0%} {r['peak'] / 1e6:8.0f}",
            flush=True,
        )
