"""Tables 2 to 5 of Chen, Choi & Darwiche 2015, by the search they published on our oracle: the H table.

Their figures: seconds on a 2.67 GHz Xeon X5650, scoring not counted; nodes; oracle calls.
"""

from __future__ import annotations

import time
from datetime import date
from typing import Any

from bench.measure import DATA, in_fresh_process, machine

# by data set, for k = 10, 100, 1,000: seconds, generated, expanded, re-expanded, oracle calls in the paper
PAPER: dict[str, list[tuple[float, int, int, int, int]]] = {
    "wine": [(0.16, 13156, 1948, 0, 896), (0.24, 50754, 8110, 36, 896), (0.73, 254981, 40992, 957, 1067)],
    "nltcs": [(2.84, 1847, 202, 0, 136), (4.01, 19542, 2145, 0, 402), (5.67, 173726, 19784, 0, 683)],
    "letter": [(13.38, 2613, 285, 0, 182), (15.85, 19795, 2174, 0, 472), (19.40, 164794, 18149, 0, 744)],
    "voting": [(0.39, 13646, 1884, 0, 720), (0.58, 89153, 13836, 246, 1867), (2.85, 727944, 118779, 4141, 4779)],
    "zoo": [(4.45, 1848, 205, 0, 289), (4.97, 9994, 1165, 0, 518), (7.71, 89262, 10808, 0, 1679)],
    "statlog": [(58.82, 3603, 410, 0, 230), (76.17, 30517, 3589, 0, 1058), (78.47, 223069, 26941, 68, 1711)],
    "hepatitis": [(14.95, 16854, 2165, 0, 2235), (29.53, 114054, 15897, 2, 9037), (66.96, 757727, 111542, 816, 26499)],
    "image": [(344.54, 318, 43, 0, 124), (344.54, 2546, 397, 0, 130), (344.61, 31974, 4903, 0, 142)],
    "imports": [(3013.97, 2217, 251, 0, 234), (3167.11, 20781, 2416, 0, 654), (3167.88, 130426, 15923, 84, 694)],
    "parkinsons": [(3728.96, 893, 104, 0, 155), (3730.56, 14054, 1679, 494, 494), (4125.30, 134745, 16197, 0, 2065)],
}


def measure(name: str, k: int, threads: int) -> dict[str, Any]:
    import topdag as td
    from topdag.questions.network_search import search_networks

    scores = td.score(td.read_table(DATA / f"{name}.csv"), td.BDeu(1.0), threads=threads)
    begin = time.perf_counter()
    found = search_networks(scores, k, threads=threads)
    seconds = time.perf_counter() - begin
    same = bool((td.k_best_networks(scores, k, threads=threads).scores == found.scores).all())
    return {
        "n": len(scores.columns),
        "seconds": seconds,
        "phases": dict(found.stats.phases),
        "work": dict(found.stats.work),
        "same": same,
        "peak": found.stats.peak_memory,
    }


def main(threads: int = 2) -> None:
    print(f"\nSearch over partial networks, blocks of 10, BDeu(1), {threads} threads. {date.today()}. {machine()}")
    print("Seconds without scoring; in brackets what the paper printed. 'oracle' is the lattice and family bounds.")
    for name, rows in PAPER.items():
        if not (DATA / f"{name}.csv").exists():
            print(f"{name:11} skipped: no {name}.csv in ../shared/data")
            continue
        for k, (t, gen, exp, re_exp, calls) in zip((10, 100, 1000), rows, strict=True):
            r = in_fresh_process("bench.network_search", name=name, k=k, threads=threads)
            w, p = r["work"], r["phases"]
            print(
                f"{name:11} k={k:5} {r['seconds']:8.3f} s ({t}) oracle {p['lattice'] + p['bounding']:.3f} s "
                f"search {p['searching']:.3f} s  generated {w['generated']:,} ({gen:,}) expanded {w['expanded']:,} "
                f"({exp:,}) re-expanded {w['re-expanded']:,} ({re_exp:,}) "
                f"oracle calls {w['oracle calls']:,} ({calls:,}) same list {r['same']} {r['peak'] / 1e6:.0f} MB",
                flush=True,
            )
