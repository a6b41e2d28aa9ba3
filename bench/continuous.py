"""Continuous and mixed tables: scoring all sets and the best network, and lists of families of wide tables."""

from __future__ import annotations

from datetime import date
from typing import Any

from bench.measure import in_fresh_process, machine

ROWS, SEED = 500, 7
DENSE = ((14, None), (17, None), (20, None), (23, None), (25, None))
WIDE = ((30, 3), (40, 3), (40, 4), (60, 2), (60, 3))


MIXED = ((20, None), (60, 3))


def measure(
    n: int, max_parents: int | None, kind: str, threads: int, search: bool, categories: int = 0
) -> dict[str, Any]:
    """``categories``: so many columns, spread over all, are cut into 3 states."""
    import numpy as np

    import topdag as td

    rng = np.random.default_rng(SEED)
    rows = rng.normal(size=(ROWS, n))
    for v in range(1, n):  # none to two parents each
        parents = rng.choice(v, min(v, int(rng.integers(0, 3))), replace=False)
        rows[:, v] += rows[:, parents] @ rng.choice([-0.9, 0.4, 0.7], len(parents))
    columns = {f"V{v}": rows[:, v] / rows[:, v].std() for v in range(n)}
    for v in np.linspace(0, n - 1, categories).round().astype(int):
        columns[f"V{v}"] = np.searchsorted(np.quantile(rows[:, v], [1 / 3, 2 / 3]), rows[:, v])
    table = td.Table(columns)
    scores = td.score(table, getattr(td, kind)(), max_parents=max_parents, threads=threads)
    result = {"scoring": scores.seconds, "sets": scores.n_sets, "families": scores.n_families}
    if search:
        answer = td.best_network(scores, threads=threads, time_limit=300)
        result |= {"seconds": answer.stats.seconds, "status": answer.proof.status.name, "score": answer.score}
        result |= {"peak": answer.stats.peak_memory, "gap": answer.proof.gap}
    return result


def main(threads: int = 2) -> None:
    print(f"\nContinuous tables: {ROWS} rows, none to two parents each, {threads} threads. {date.today()}. {machine()}")
    print(f"{'score':12} {'n':>3} {'parents':>7} {'sets':>11} {'scoring s':>9} {'ns/set':>7}", end=" ")
    print(f"{'families':>11} {'search s':>8} {'answer':>24} {'peak MB':>8}")
    cases = [(kind, n, most, 0) for kind in ("GaussianBIC", "BGe") for n, most in (*DENSE, *WIDE)]
    cases += [("RankBIC", n, most, cut) for n, most in MIXED for cut in (0, n // 2)]
    for kind, n, most, cut in cases:
        search = n <= 40 or kind == "RankBIC"
        asked_for = {"n": n, "max_parents": most, "kind": kind, "threads": threads, "search": search}
        r = in_fresh_process("bench.continuous", **asked_for, categories=cut)
        name = f"{kind} {cut}" if cut else kind
        asked = f"{name:12} {n:3} {'any' if most is None else most:>7} {r['sets']:11,} {r['scoring']:9.3f}"
        found = f"{r['score']:.4f} {r['status']}" if "score" in r else ""
        print(
            f"{asked} {r['scoring'] / r['sets'] * 1e9:7.0f} {r['families']:11,} {r.get('seconds', 0):8.2f} "
            f"{found:>24} {r.get('peak', 0) / 1e6:8.0f}",
            flush=True,
        )
