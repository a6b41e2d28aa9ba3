"""Relaxation, branch and cut on listed families: the gap at the root, then the proof. Search alone, not scoring.

Families are scored here by a slow loop over sets, once, and kept in a file beside the others: this measures search.
"""

from __future__ import annotations

import itertools
import math
import tempfile
import time
from datetime import date
from pathlib import Path
from typing import Any

from bench.measure import DATA, in_fresh_process, machine

# name, most parents, what is known (score; goal in seconds; others)
ROWS = [
    ("parkinsons", 5, -1598.013261, 0.7, "URLearning 12.4 s, GOBNILP 2.8 s"),
    ("autos", 5, -1577.159536, 2.0, "URLearning 65.5 s, GOBNILP 18.9 s"),
    ("insurance1000", 3, -14350.471361, 1.0, "GOBNILP 0.6 s"),
    ("horse", 4, -4524.663095, 1.0, "GOBNILP 1.1 s"),
    ("flag", 4, -2748.105209, 1.0, "GOBNILP 2.5 s"),
    ("water1000", 3, -13290.109118, 1.0, ""),
    ("alarm1000", 3, -11783.052412, 1.2, "9 nodes, 1.2 s in plain Python"),
    ("hailfinder100", 3, -6414.534202, 20.0, ""),
    ("hailfinder500", 3, -27777.554383, 16.0, "665 nodes, 16 s in plain Python"),
    ("carpo100", 3, math.nan, 300.0, ""),
    ("carpo500", 3, math.nan, 300.0, ""),
    ("wdbc", 4, -6602.118072, 600.0, "8.4 nats left after 50 s in plain Python"),
]
FILES = ["alarm-5000", "barley-5000", "hailfinder-5000", "insurance-5000", "mildew-5000", "water-5000"]
FOLDER = Path(tempfile.gettempdir()) / "topdag_bench_lists"


def listed(name: str, max_parents: int) -> Path:
    """A score file of the undominated families with at most so many parents."""
    import topdag as td
    from topdag import _core
    from topdag.io.score_text import write_jkl
    from topdag.scoring.kinds.discrete import coded

    path = FOLDER / f"{name}.{max_parents}.jkl"
    if path.exists():
        return path
    FOLDER.mkdir(exist_ok=True)
    table = td.read_table(DATA / f"{name}.csv")
    columns = tuple(v for v in range(table.n_variables) if table.arities[v] > 1)
    view, formula, n = coded(table, columns), td.BIC().joint(table.n_rows), len(columns)
    joint = {
        sum(1 << v for v in chosen): _core.score_set(view, formula, list(chosen))
        for size in range(max_parents + 2)
        for chosen in itertools.combinations(range(n), size)
    }
    names = [table.names[v] for v in columns]
    blocks = []
    for x in range(n):
        best: dict[int, float] = {}
        kept = []
        for size in range(max_parents + 1):
            for chosen in itertools.combinations([v for v in range(n) if v != x], size):
                mask = sum(1 << v for v in chosen)
                score = joint[mask | 1 << x] - joint[mask]
                within = max((best[mask ^ 1 << v] for v in chosen), default=-math.inf)
                best[mask] = max(score, within)
                if score > within + 1e-9:
                    kept.append((score, tuple(names[v] for v in chosen)))
        blocks.append((len(kept), kept))
    write_jkl(path, names, blocks)
    return path


def measure(path: str, seconds: float) -> dict[str, Any]:
    import topdag as td
    from topdag._util.run import Run
    from topdag.search.branch_and_cut import prove_best
    from topdag.search.relaxation import solve_root
    from topdag.search.stores import ListStore

    store = td.io.read_scores(path).store
    assert isinstance(store, ListStore)
    before = time.process_time()
    run = Run(time_limit=seconds)
    root = solve_root(store, run)
    root_seconds = run.seconds
    found = prove_best(store, run, root=root)
    assert root.incumbent is not None
    return {
        "n": store.n,
        "families": len(store.rounded),
        "root seconds": root_seconds,
        "root gap": root.incumbent.cost - root.bound,
        "kept": int(root.kept_families(root.threshold).sum()),
        "finished": found.finished,
        "seconds": run.seconds,
        "cpu": time.process_time() - before,
        "nodes": found.work["parts"],
        "solved": found.work["rounds"],
        "cuts": found.work["cuts"],
        "gap": found.cost - found.bound,
        "score": float(store.best_scores.sum()) - found.cost,
    }


def main(seconds: float = 300.0) -> None:
    print(f"Branch and cut on listed families, BIC, one thread. {date.today()}. {machine()}")
    heads = f"{'list':18} {'n':>3} {'families':>8} {'root s':>7} {'root gap':>9} {'kept':>5} {'seconds':>8} {'CPU':>7}"
    print(f"{heads} {'goal':>6} {'nodes':>6} {'solved':>6} {'cuts':>6} {'gap':>9} {'score':>16}  known; others")
    for name, max_parents, known, goal, others in ROWS:
        if (DATA / f"{name}.csv").exists():
            _print(name, measured(listed(name, max_parents), seconds), f"{goal:6.1f}", f"{known:.6f}; {others}")
    for name in FILES:
        path = DATA / "scores" / f"{name}.bic.blip.jkl"
        if path.exists():
            _print(name, measured(path, seconds), " " * 6, "")


def measured(path: Path, seconds: float) -> dict[str, Any]:
    return in_fresh_process("bench.relaxation", path=str(path), seconds=seconds)


def _print(name: str, r: dict[str, Any], goal: str, others: str) -> None:
    root = f"{r['root seconds']:7.2f} {r['root gap']:9.3f} {r['kept']:5}"
    work = f"{r['nodes']:6} {r['solved']:6} {r['cuts']:6} {r['gap']:9.2g} {r['score']:16.6f}"
    times = f"{r['seconds']:8.2f} {r['cpu']:7.2f} {goal}"
    end = "" if r["finished"] else "STOPPED "
    print(f"{name:18} {r['n']:3} {r['families']:8} {root} {times} {work}  {end}{others}", flush=True)
