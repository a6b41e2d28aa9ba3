"""The best network under true ancestral constraints: 20 to 27 variables, ten constraints, proved in a minute.

Li & van Beek 2018: exact methods had not passed about 20 variables; their local search takes 30 to 330 s on insurance.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Iterator
from datetime import date
from typing import Any

from bench.measure import DATA, in_fresh_process, machine

Edges = list[tuple[str, str]]
Probabilities = dict[tuple[str, ...], list[float]]

ROWS, SECONDS = 1_000, 60.0
CASES = [  # network, variables left out from the end, score, ancestors, not ancestors
    ("child", 0, "BIC", 10, 0),
    ("child", 0, "BDeu", 10, 0),
    ("insurance", 0, "BIC", 1, 0),
    ("insurance", 0, "BIC", 10, 0),
    ("insurance", 0, "BIC", 5, 5),
    ("insurance", 0, "BIC", 0, 10),
    ("insurance", 3, "BIC", 10, 0),
]
SEEDS = range(3)


class Sampled:
    """A network from a .bif file, of which rows can be drawn."""

    def __init__(self, name: str) -> None:
        text = (DATA / "networks" / f"{name}.bif").read_text()
        self.states = {own: re.split(r"[,\s]+", states.strip()) for own, states in _found_states(text)}
        self.parents: dict[str, list[str]] = {}
        self.probabilities: dict[str, Probabilities] = {}
        for child, parents, body in re.findall(r"probability\s*\(\s*(\S+)\s*(?:\|([^)]*))?\)\s*\{(.*?)\}", text, re.S):
            self.parents[child] = re.findall(r"[^,\s]+", parents)
            self.probabilities[child] = dict(_rows_of(body))

    @property
    def edges(self) -> Edges:
        return [(parent, child) for child, own in self.parents.items() for parent in own]

    def ancestors(self) -> Edges:
        """All true pairs, sorted."""
        above: dict[str, set[str]] = {}
        for name in self._order():
            above[name] = set(self.parents[name]).union(*(above[parent] for parent in self.parents[name]))
        return sorted((a, b) for b, own in above.items() for a in own)

    def _order(self) -> list[str]:
        order: list[str] = []
        while len(order) < len(self.parents):
            order += [x for x, own in self.parents.items() if x not in order and set(own) <= set(order)]
        return order

    def draw(self, rows: int, seed: int) -> list[dict[str, str]]:
        draws, order = random.Random(seed), self._order()
        table = []
        for _ in range(rows):
            row: dict[str, str] = {}
            for x in order:
                weights = self.probabilities[x][tuple(row[parent] for parent in self.parents[x])]
                row[x] = draws.choices(self.states[x], weights)[0]
            table.append(row)
        return table


def _found_states(text: str) -> list[tuple[str, str]]:
    return re.findall(r"variable\s+(\S+)\s*\{\s*type\s+discrete\s*\[\s*\d+\s*\]\s*\{([^}]*)\}", text)


def _rows_of(body: str) -> Iterator[tuple[tuple[str, ...], list[float]]]:
    for states, numbers in re.findall(r"(?:\(([^)]*)\)|table)\s*([^;]*);", body):
        yield tuple(re.findall(r"[^,\s]+", states)), [float(number) for number in numbers.split(",")]


def true_constraints(network: Sampled, names: list[str], wanted: int, unwanted: int, seed: int) -> Any:
    import topdag as td

    draw, true = random.Random(seed), network.ancestors()
    among = [pair for pair in true if set(pair) <= set(names)]
    others = [(a, b) for a in names for b in names if a != b and (a, b) not in set(true)]
    return td.Constraints(ancestors=draw.sample(among, wanted), not_ancestors=draw.sample(others, unwanted))


def measure(name: str, fewer: int, score: str, wanted: int, unwanted: int, seed: int, rows: int, seconds: float) -> Any:
    import topdag as td

    network, kind = Sampled(name), getattr(td, score)()
    names = list(network.states)[: len(network.states) - fewer]
    drawn = network.draw(rows, 1)
    table = td.Table({x: [row[x] for row in drawn] for x in names})
    begin = time.perf_counter()
    free = td.best_network(td.score(table, kind))
    middle = time.perf_counter()
    scores = td.score(table, kind, constraints=true_constraints(network, names, wanted, unwanted, seed))
    best = td.best_network(scores, time_limit=seconds)
    return {
        "n": len(names),
        "free": middle - begin,
        "seconds": time.perf_counter() - middle,
        "status": best.proof.status.name,
        "price": free.score - best.score,
        "gap": best.proof.gap,
        "engine": best.stats.engine,
        "work": dict(best.stats.work),
        "peak": best.stats.peak_memory,
    }


def main() -> None:
    print(f"\nTrue ancestral constraints, {ROWS:,} rows drawn from each network. {date.today()}. {machine()}")
    print("Seconds with scoring; in brackets without constraints. Price: nats behind the best network without them.")
    for name, fewer, score, wanted, unwanted in CASES:
        for seed in SEEDS:
            asked = {"name": name, "fewer": fewer, "score": score, "wanted": wanted, "unwanted": unwanted}
            r = in_fresh_process("bench.ancestral", **asked, seed=seed, rows=ROWS, seconds=SECONDS)
            print(
                f"{name:10} {r['n']} {score:5} {wanted:2} ancestors {unwanted:2} not, seed {seed}: "
                f"{r['seconds']:6.2f} s ({r['free']:.2f}) {r['status']} price {r['price']:.3f} gap {r['gap']:.3f} "
                f"{r['work']} {r['peak'] / 2**20:.0f} MB; {r['engine']}",
                flush=True,
            )
