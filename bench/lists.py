"""Lists: the k best networks and classes and all within a factor, whole job from the CSV, BDeu(1), all parent sets."""

from __future__ import annotations

import time
from datetime import date
from typing import Any

from bench.measure import DATA, in_fresh_process, machine

# data, question, goal in seconds, what the papers need (their scoring not counted)
ROWS = [
    ("wine", "networks 1000", 0.1, "0.73 s; KBEST 4,416 s"),
    ("voting", "networks 1000", 0.3, "2.85 s; KBEST > 7,200 s"),
    ("zoo", "networks 1000", 0.3, "7.71 s"),
    ("hepatitis", "networks 1000", 0.8, "66.96 s"),
    ("image", "networks 1000", 1.5, "344.6 s"),
    ("parkinsons", "networks 1000", 8.0, "4,125 s, 64 GB"),
    ("sensors", "networks 1000", 120.0, "out of 64 GB"),
    ("wine", "classes 1000", None, "EC tree .86 s"),
    ("zoo", "classes 1000", None, "EC tree 6.0 s"),
    ("voting", "classes 1000", None, "EC tree 6.7 s"),
    ("letter", "classes 1000", None, "EC tree 81.7 s"),
    ("hepatitis", "classes 1000", None, "EC tree 101 s"),
    ("parkinsons", "classes 1000", None, "EC tree 899 s"),
    ("wine", "networks 100", None, "KBEST 162.69 s published, 7.7 CPU s on this kind of machine"),
    ("zoo", "count 150", 15.0, ""),
    ("wine", "networks 1000000", None, ""),
]


def measure(name: str, question: str, threads: int) -> dict[str, Any]:
    import topdag as td
    from topdag._util.run import peak_memory

    what, amount = question.split()
    assert all([td.read_table, td.score, td.k_best_networks])  # opens their rooms: importing is not counted
    begin = time.perf_counter()
    table = td.read_table(DATA / f"{name}.csv")
    scores = td.score(table, td.BDeu(1.0), threads=threads)
    scored = time.perf_counter() - begin
    if what == "count":
        answer, work, phases = td.count_networks_within(scores, float(amount), threads=threads), {}, {}
        shown = f"{answer:,} networks"
    else:
        ask = td.k_best_networks if what == "networks" else td.k_best_classes
        found = ask(scores, int(amount), threads=threads)
        work, phases = dict(found.stats.work), dict(found.stats.phases)
        shown = f"{len(found):,}, last {found.scores[-1] - found.scores[0]:.6f}"
    seconds = time.perf_counter() - begin
    return {
        "n": table.n_variables,
        "answer": shown,
        "seconds": seconds,
        "scored": scored,
        "lattice": phases.get("lattice", 0.0),
        "listing": phases.get("listing", 0.0),
        "work": work,
        "peak": peak_memory(),
    }


def main(threads: int = 2) -> None:
    print(f"\nLists, BDeu(1), {threads} threads, whole job from the CSV. {date.today()}. {machine()}")
    print(f"{'data':11} {'n':>3} {'question':17} {'answer':28} {'seconds':>8} {'goal':>6} {'scored':>7}", end=" ")
    print(f"{'lattice':>8} {'listing':>8} {'expanded a find':>15} {'peak MB':>8}  papers")
    for name, question, goal, papers in ROWS:
        if not (DATA / f"{name}.csv").exists():
            print(f"{name:11} skipped: no {name}.csv in ../shared/data")
            continue
        runs = [in_fresh_process("bench.lists", name=name, question=question, threads=threads) for _ in range(2)]
        r = min(runs, key=lambda run: run["seconds"])
        ratio = f"{r['work']['expanded'] / r['work']['found']:.1f}" if r["work"] else ""
        shown_goal = "" if goal is None else f"{goal:.2f}"
        print(
            f"{name:11} {r['n']:3} {question:17} {r['answer']:28} {r['seconds']:8.3f} {shown_goal:>6} "
            f"{r['scored']:7.3f} {r['lattice']:8.3f} {r['listing']:8.3f} {ratio:>15} {r['peak'] / 1e6:8.0f}  {papers}",
            flush=True,
        )
