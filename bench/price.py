"""What constraints cost in time: never more than twice the question without them, is the aim.

Each table is asked for its best network without constraints and with them, scoring included, in one process; medians of
three runs. Kinds of constraints: true ones of the network that the table was drawn from, or such as a user would state.
"""

from __future__ import annotations

import random
import statistics
import time
from datetime import date
from typing import Any

from bench.ancestral import Sampled
from bench.measure import DATA, in_fresh_process, machine

RUNS, ROWS, SECONDS = 3, 1_000, 60.0
TABLES = [  # a network that rows are drawn from, or a file; variables left out from the end; score
    ("child", 10, "BDeu"),
    ("child", 5, "BIC"),
    ("child", 0, "BIC"),
    ("child", 0, "BDeu"),
    ("insurance", 3, "BIC"),
    ("insurance", 0, "BIC"),
    ("alarm", 0, "BIC"),
    ("wine.csv", 0, "BDeu"),
    ("voting.csv", 0, "BDeu"),
    ("mushroom1868.csv", 0, "BIC"),
    ("flag.csv", 0, "BIC"),
]
KINDS = ["edges", "required", "parents", "precedence", "ancestor", "ancestors", "not ancestors", "rules"]
FEWEST_SECONDS = 0.1
"""Ratios of less than this, with constraints, say little."""


def table_of(name: str, fewer: int) -> tuple[Any, list[tuple[str, str]]]:
    """A table, and pairs of which the first is an ancestor of the second in truth or in its best network."""
    import topdag as td

    if name.endswith(".csv"):
        table = td.read_table(DATA / name)
        return table, []
    network = Sampled(name)
    names = list(network.states)[: len(network.states) - fewer]
    drawn = network.draw(ROWS, 1)
    pairs = [pair for pair in network.ancestors() if set(pair) <= set(names)]
    return td.Table({x: [row[x] for row in drawn] for x in names}), pairs


def constraints_of(kind: str, names: list[str], pairs: list[tuple[str, str]], seed: int) -> Any:
    """Constraints that can all hold: pairs follow one order of the variables."""
    import topdag as td

    draw = random.Random(seed)
    if not pairs:
        order = draw.sample(names, len(names))
        pairs = [(a, b) for i, a in enumerate(order) for b in order[i + 1 :]]
    some = draw.sample(pairs, min(10, len(pairs)))
    back = [(b, a) for a, b in some]
    (a, b), (c, d), (e, f) = some[:3]
    kinds: dict[str, dict[str, Any]] = {
        "edges": {"forbidden_edges": back},
        "required": {"required_edges": some[:3]},
        "parents": {"min_parents": {child: 1 for _, child in some[:3]}, "max_parents": 4},
        "precedence": {"precedence": some},
        "ancestor": {"ancestors": some[:1]},
        "ancestors": {"ancestors": some},
        "not ancestors": {"not_ancestors": back},
        "rules": {"rules": [f"{a}->{b} or {c}->{d}", f"if {e}->{f} then parents({b}) >= 1"]},
    }
    return td.Constraints(**kinds[kind])


def asked(table: Any, kind: Any, known: Any) -> tuple[float, Any]:
    import topdag as td

    begin = time.perf_counter()
    answer = td.best_network(td.score(table, kind, constraints=known), time_limit=SECONDS)
    return time.perf_counter() - begin, answer


def measure(name: str, fewer: int, score: str, what: str, seed: int) -> Any:
    import topdag as td

    table, pairs = table_of(name, fewer)
    kind, known = getattr(td, score)(), constraints_of(what, list(table.names), pairs, seed)
    asked(table, kind, None)  # loads what is loaded once
    free = [asked(table, kind, None) for _ in range(RUNS)]
    bound = [asked(table, kind, known) for _ in range(RUNS)]
    answer = bound[0][1]
    return {
        "n": table.n_variables,
        "free": statistics.median(seconds for seconds, _ in free),
        "seconds": statistics.median(seconds for seconds, _ in bound),
        "status": answer.proof.status.name,
        "price": free[0][1].score - answer.score,
        "engine": answer.stats.engine,
        "work": dict(answer.stats.work),
        "peak": answer.stats.peak_memory,
    }


def main() -> None:
    print(f"\nThe price of constraints, in time. {date.today()}. {machine()}")
    print(f"Seconds with scoring, medians of {RUNS}; in brackets without constraints. Price: nats behind the best")
    ratios = []
    for name, fewer, score in TABLES:
        for kind in KINDS:
            r = in_fresh_process("bench.price", name=name, fewer=fewer, score=score, what=kind, seed=1)
            ratio = r["seconds"] / r["free"]
            ratios.append((ratio, r["seconds"], f"{name} {r['n']} {score} {kind}"))
            print(
                f"{name:17} {r['n']:2} {score:5} {kind:13} {r['seconds']:7.3f} s ({r['free']:.3f}) {ratio:6.2f} times "
                f"{r['status']} price {r['price']:.2f} {r['work']} {r['peak'] / 2**20:.0f} MB; {r['engine']}",
                flush=True,
            )
    print(f"\nWorst ratios, of those that took {FEWEST_SECONDS:g} s or more:")
    for ratio, seconds, what in sorted(ratios, reverse=True)[:15]:
        if seconds >= FEWEST_SECONDS:
            print(f"{ratio:6.2f} times, {seconds:.2f} s: {what}")
    print(f"at most twice: {sum(ratio <= 2 for ratio, _, _ in ratios)} of {len(ratios)}")
