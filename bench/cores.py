"""Every engine with 1, 2, 4, ... threads, as many as there are cores: seconds, speed-up and peak memory.

``python -m bench cores``: a quarter of an hour, half of it for the many parts. ``python -m bench.cores --sizes 30 31
32`` instead has the best network of so many variables found with all cores; 16*2^n bytes each (32 variables: 70 GB).
``--only edges samples``: just these.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from datetime import date
from typing import Any

from bench.measure import DATA, in_fresh_process, machine

ROWS, SEED = 1000, 7


def sampled(n: int) -> Any:
    """Rows of a random binary network; the same columns for any n."""
    import topdag as td

    whole = td.random_network(max(n, 26), arcs=40, max_parents=3, seed=SEED).sample(ROWS, seed=SEED)
    return td.Table.from_codes(whole.names[:n], whole.codes[:n], weights=whole.weights, states=whole.states[:n])


def read(name: str) -> Any:
    import topdag as td

    return td.read_table(DATA / f"{name}.csv")


def scored(table: Any, **options: Any) -> Any:
    """With all cores, and before anything is timed."""
    import topdag as td

    return td.score(table, td.BDeu(1.0), keep="all", **options)


# By name: what is asked, and what makes the question, which then takes threads and is timed.
Asked = Callable[..., object]


def jobs() -> dict[str, tuple[str, Callable[[], Asked]]]:
    import topdag as td

    def ask(question: Callable[..., object], source: Callable[[], Any], *more: Any, **options: Any) -> Any:
        def begin() -> Asked:
            given = source()
            return lambda threads, **limits: question(given, *more, threads=threads, **limits, **options)

        return begin

    orders = td.OrderModular()
    return {
        "lattice": ("best network, 24 variables, counted and all", ask(td.best_network, lambda: sampled(24))),
        "edges": ("edge posteriors, 20 variables, 3^20", ask(td.edge_posteriors, lambda: scored(sampled(20)))),
        "samples": ("1,000 samples, 19 variables", ask(td.sample_networks, lambda: scored(sampled(19)), 1000)),
        "draws": ("1,000,000 samples, 14 variables", ask(td.sample_networks, lambda: scored(sampled(14)), 10**6)),
        "orders": ("edges over orders, 22", ask(td.edge_posteriors, lambda: scored(sampled(22)), prior=orders)),
        "modular": (
            "order-modular optimum, parkinsons, 23",
            ask(td.best_network, lambda: scored(read("parkinsons")), prior=orders),
        ),
        "lists": ("1,000 best networks, 22", ask(td.k_best_networks, lambda: scored(sampled(22)), 1000)),
        "pruned": (
            "families worth keeping, alarm1000, BDeu, 4 parents",
            ask(td.score, lambda: read("alarm1000"), td.BDeu(), keep="best", max_parents=4),
        ),
        "relaxation": ("best network, wdbc, BIC", ask(td.best_network, lambda: _listed("wdbc"))),
        "cuts": ("best network, autos, BIC", ask(td.best_network, lambda: _listed("autos"))),
        "parts": ("best network, 70 variables, 100 rows, BIC", ask(td.best_network, lambda: _of_few_rows(70, 2))),
        "many_parts": (
            "best network, 100 variables, 100 rows, BIC",
            ask(td.best_network, lambda: _of_few_rows(100, 1)),
        ),
        "classes": ("best network, 36 variables by 19 classes, BDeu", ask(td.best_network, _by_classes)),
    }


def _listed(name: str) -> Any:
    import topdag as td

    return td.score(read(name), td.BIC(), keep="best")


def _of_few_rows(n: int, seed: int) -> Any:
    """Of ``bench wide``: branch and cut with some dozens of parts, of 100 variables with hundreds."""
    import topdag as td

    table = td.random_network(n, arcs=2 * n, max_parents=3, seed=seed).sample(100, seed=seed)
    return td.score(table, td.BIC(), keep="best")


def _by_classes() -> Any:
    """As many rows, variables and classes as soybean has, and about as many families with at most three parents."""
    import numpy as np

    import topdag as td

    rng = np.random.default_rng(1)
    columns = [rng.integers(0, 19, 266)]
    for _ in range(35):
        states = int(rng.choice([2, 2, 2, 3, 3, 4, 7]))
        chances = rng.dirichlet(np.full(states, 0.17), size=19)
        columns.append(np.array([rng.choice(states, p=chances[own]) for own in columns[0]]))
    table = td.Table({f"V{i}": column for i, column in enumerate(columns)})
    return td.score(table, td.BDeu(1.0), keep="best", max_parents=3)


def measure(job: str, threads: int) -> dict[str, Any]:
    from topdag._util.memory import peak_memory

    if job.isdigit():
        return measure_size(int(job))
    asked = jobs()[job][1]()
    begin, processor = time.perf_counter(), time.process_time()
    asked(threads)
    seconds, processor = time.perf_counter() - begin, time.process_time() - processor
    return {"seconds": seconds, "processor": processor, "peak": peak_memory()}


def measure_size(n: int) -> dict[str, Any]:
    import topdag as td

    table = td.random_network(n, arcs=2 * n, max_parents=3, seed=SEED).sample(ROWS, seed=SEED)
    processor = time.process_time()
    answer = td.best_network(table, td.BDeu(1.0))
    return {
        "seconds": answer.stats.seconds,
        "processor": time.process_time() - processor,
        "peak": answer.stats.peak_memory,
        "engine": answer.stats.engine,
        "proved": answer.proof.status.name,
        "phases": dict(answer.stats.phases),
    }


def table_of_cores(names: list[str]) -> None:
    from topdag._util.run import usable_cores

    threads = [2**i for i in range(11) if 2**i <= usable_cores()]
    print(f"\nEvery engine on every core. {date.today()}. {machine()}")
    print("Seconds, and how many times faster than one thread; processor seconds with all; the largest peak, GB.\n")
    print("| what | " + " | ".join(map(str, threads)) + " | processor | GB |")
    print("|---" * (len(threads) + 3) + "|")
    for name in names:
        asked = jobs()[name][0]
        try:
            found = [in_fresh_process("bench.cores", job=name, threads=count) for count in threads]
        except Exception as error:  # a table that is not there, say: the others are still measured
            print(f"| {asked} | left out: {getattr(error, 'stderr', error)!s:.200} |", flush=True)
            continue
        first = found[0]["seconds"]
        cells = [f"{own['seconds']:.2f} ({first / own['seconds']:.1f})" for own in found]
        peak = max(own["peak"] for own in found)
        print(f"| {asked} | {' | '.join(cells)} | {found[-1]['processor']:.1f} | {peak / 1e9:.2f} |", flush=True)


def table_of_sizes(sizes: list[int]) -> None:
    print(f"\nThe best network of all parent sets, {ROWS} rows, BDeu(1), all cores. {date.today()}. {machine()}")
    for n in sizes:
        found = in_fresh_process("bench.cores", job=f"{n}", threads=0)
        phases = ", ".join(f"{what} {seconds:.1f}" for what, seconds in found["phases"].items())
        print(
            f"{n} variables: {found['seconds']:.1f} s ({phases}), {found['processor']:.0f} processor seconds, "
            f"peak {found['peak'] / 1e9:.1f} GB, {found['engine']}, {found['proved']}",
            flush=True,
        )


def main(arguments: list[str] | None = None) -> None:
    options = argparse.ArgumentParser(prog="python -m bench.cores")
    options.add_argument("--sizes", type=int, nargs="+", default=[])
    options.add_argument("--only", nargs="+", choices=list(jobs()), default=list(jobs()))
    chosen = options.parse_args(arguments or [])
    if chosen.sizes:
        table_of_sizes(chosen.sizes)
    else:
        table_of_cores(chosen.only)


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
