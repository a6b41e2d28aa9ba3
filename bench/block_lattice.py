"""The lattice made block by block, BDeu with all parent sets: what it costs, and how many parent sets it keeps."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from datetime import date
from typing import Any, TypeVar

from bench.measure import DATA, in_fresh_process, machine

CASES = [("hepatitis", 20), ("parkinsons", 23), ("sensors", 25), *(("flag", n) for n in range(20, 30))]
SPARE = 1.5e9
"""Bytes left to others: a case that does not fit beside them is passed over."""

Result = TypeVar("Result")


def measure(name: str, n: int, threads: int) -> dict[str, Any]:
    import topdag as td
    from topdag import _core
    from topdag._util.run import peak_memory
    from topdag.scoring.kinds.discrete import coded
    from topdag.search.stores import SetStore

    seconds: list[float] = []

    def timed(work: Callable[[], Result]) -> Result:
        begin = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - begin)
        return result

    table = td.read_table(DATA / f"{name}.csv")
    view = coded(table, tuple(range(n)))
    formula = td.BDeu(1.0).joint(table.n_rows)
    joint = timed(lambda: _core.score_all_sets(view, formula, n, _core.Limits(threads)))
    assert joint is not None
    grid = _core.grid_exponent(n, _core.largest_magnitude(joint, threads))
    timed(lambda: _core.round_together([joint], grid, threads))
    scores = SetStore(n, joint, (None,) * n).core()
    lattice = timed(lambda: _core.build_block_lattice(scores, False, _core.Limits(threads)))
    assert lattice is not None
    best_peak = peak_memory()
    assert timed(lambda: lattice.order_backward(_core.Limits(threads)))
    networks = _core.Listed.NETWORKS
    found = timed(lambda: _core.list_best(lattice, networks, 1000, -math.inf, _core.Limits(threads)))
    assert found[0]
    return {
        "seconds": seconds,
        "kept": lattice.kept_sets,
        "depth": lattice.best_score - found[2],
        "best_peak": best_peak,
        "peak": peak_memory(),
        "score": lattice.best_score,
    }


def main(threads: int = 2) -> None:
    from topdag._util.run import available_memory
    from topdag.search.lattice import block_lattice_bytes

    print(f"\nBlock lattice: BDeu(1), first n columns, {threads} threads. {date.today()}. {machine()}")
    print("seconds for set scores, their grid, F (the best network), H and the 1,000 best networks; parent sets kept,")
    print("in all and for the variable with most; nats from the best score down to the 1,000th")
    print(
        f"{'table':10} {'n':>2} {'scores':>7} {'grid':>6} {'F':>7} {'H':>7} {'list':>7} {'total':>7} {'kept':>9} "
        f"{'most':>8} {'nats':>6} {'GB best':>7} {'GB lists':>8} {'best score':>12}"
    )
    for name, n in CASES:
        if 8 * 2**n + block_lattice_bytes(n, backward=True, threads=threads) + SPARE > available_memory():
            print(f"{name:10} {n:2} does not fit now")
            continue
        r = in_fresh_process("bench.block_lattice", name=name, n=n, threads=threads)
        scoring, grid, forward, backward, listing = r["seconds"]
        print(
            f"{name:10} {n:2} {scoring:7.2f} {grid:6.2f} {forward:7.2f} {backward:7.2f} {listing:7.2f} "
            f"{sum(r['seconds']):7.1f} {sum(r['kept']):9} {max(r['kept']):8} {r['depth']:6.2f} "
            f"{r['best_peak'] / 1e9:7.2f} {r['peak'] / 1e9:8.2f} {r['score']:12.5f}",
            flush=True,
        )
