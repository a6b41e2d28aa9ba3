"""Figures 5, 7 to 9, 11 and 12 of Yuan & Malone 2013 as one table: families kept, and time by engine, BIC and BDeu."""

from __future__ import annotations

import math
import time
from datetime import date
from typing import Any

from bench.measure import DATA, in_fresh_process, machine

NAMES = [
    *("wine", "letter", "voting", "zoo", "statlog", "hepatitis", "image", "imports"),
    *("parkinsons", "mushroom_bin", "mushroom", "autos", "horse", "flag"),
]
SECONDS = 20.0
MOST_DENSE, MOST_BLOCKS = 23, 25


def measure(name: str, score: str) -> dict[str, Any]:
    import topdag as td

    assert all([td.read_table, td.score, td.best_network])  # opens their rooms: importing is not counted
    table = td.read_table(DATA / f"{name}.csv")
    kind = td.BIC() if score == "BIC" else td.BDeu(1.0)
    n = int((table.arities > 1).sum())
    result: dict[str, Any] = {"n": n, "rows": table.n_rows}
    if n <= MOST_BLOCKS:
        begin = time.perf_counter()
        every = td.score(table, kind, keep="all")
        result["all scored"] = time.perf_counter() - begin
        for engine, most in (("dense lattice", MOST_DENSE), ("block lattice", MOST_BLOCKS)):
            if n <= most:
                result[engine] = td.best_network(every, engine=engine).stats.seconds
        del every
    if n > MOST_BLOCKS and score == "BDeu":
        return result  # see bench/block_lattice.py
    begin = time.perf_counter()
    kept = td.score(table, kind, keep="best")
    result["kept scored"] = time.perf_counter() - begin
    result["kept"] = kept.n_families
    for engine in ("order search", "branch and cut"):
        answer = td.best_network(kept, engine=engine, time_limit=SECONDS)
        result[engine] = answer.stats.seconds if answer.proof.gap == 0 else f"gap {answer.proof.gap:.1f}"
        result[f"{engine} work"] = dict(answer.stats.work)
    return result


def shown(value: float | str | None) -> str:
    return "" if value is None else value if isinstance(value, str) else f"{value:.3f}"


def main() -> None:
    print(
        f"Families kept for the best network, and seconds by engine, at most {SECONDS:g} s each. {date.today()}.",
        end=" ",
    )
    print(machine())
    print(
        f"{'data':13} {'n':>3} {'rows':>6} {'score':5} {'all families':>12} {'largest layer':>13} {'kept':>8}", end=" "
    )
    print(f"{'all scored':>10} {'dense':>8} {'blocks':>8} {'kept scored':>11} {'orders':>9} {'cuts':>9}", end=" ")
    print("sets expanded, parts")
    for name in NAMES:
        if not (DATA / f"{name}.csv").exists():
            print(f"{name:13} skipped: no {name}.csv in ../shared/data")
            continue
        for score in ("BIC", "BDeu"):
            r = in_fresh_process("bench.figures", name=name, score=score)
            n = r["n"]
            work = (
                r.get("order search work", {}).get("sets expanded", ""),
                r.get("branch and cut work", {}).get("parts", ""),
            )
            times = [shown(r.get(key)) for key in ("all scored", "dense lattice", "block lattice")]
            later = [shown(r.get(key)) for key in ("kept scored", "order search", "branch and cut")]
            print(
                f"{name:13} {n:3} {r['rows']:6} {score:5} {n << n - 1:12,} {n * math.comb(n - 1, (n - 1) // 2):13,} "
                f"{r.get('kept', ''):>8} {times[0]:>10} {times[1]:>8} {times[2]:>8} {later[0]:>11} {later[1]:>9} "
                f"{later[2]:>9} {work[0]}, {work[1]}",
                flush=True,
            )
