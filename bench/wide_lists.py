"""Lists and classes of more than 30 variables, whole job from the table, BIC: beside the best network alone.

Tables: those of the data folder; water, mildew and barley are 1,000 rows drawn from the networks there.
``python -m bench wide_lists``.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import date
from typing import Any

from bench.measure import DATA, in_fresh_process, machine

SECONDS = 300.0
TABLES = ["alarm1000", "hailfinder100", "hailfinder500", "carpo100", "water", "mildew", "barley"]
FEW = ["10 networks", "10 classes"]
ROWS = [
    *((name, question) for name in TABLES for question in (*FEW, "1000 classes")),
    *((name, "count 20") for name in ("water1000", "insurance1000", "alarm1000")),
    *((name, question) for name in ("horse", "flag", "autos", "parkinsons") for question in FEW),
]


def table_of(name: str) -> Any:
    import topdag as td

    if (DATA / f"{name}.csv").exists():
        return td.read_table(DATA / f"{name}.csv")
    path = next(path for end in (".bif", ".bif.gz") if (path := DATA / "networks" / f"{name}{end}").exists())
    return td.io.read_fitted(path).sample(1000, seed=1)


def measure(name: str, question: str) -> dict[str, Any]:
    import topdag as td
    from topdag._util.run import peak_memory

    table = table_of(name)
    assert all([td.score, td.best_network, td.k_best_networks])  # importing is not counted

    def timed(ask: Callable[[], Any]) -> tuple[Any, float, float]:
        begin, worked = time.perf_counter(), time.process_time()
        answer = ask()
        return answer, time.perf_counter() - begin, time.process_time() - worked

    def scores() -> Any:
        return td.score(table, td.BIC())

    _, best_seconds, best_worked = timed(lambda: td.best_network(scores()))
    amount, what = question.split() if question[0].isdigit() else question.split()[::-1]
    if what == "count":
        asked = (td.count_classes_within, td.count_networks_within)
        found, seconds, worked = timed(lambda: [ask(scores(), float(amount)) for ask in asked])
        shown = f"{found[0]:,} classes, {found[1]:,} networks"
    else:
        ask = td.k_best_networks if what == "networks" else td.k_best_classes
        found, seconds, worked = timed(lambda: ask(scores(), int(amount), time_limit=SECONDS))
        behind = found.scores[0] - found.scores[-1] if len(found) else 0.0
        shown = f"{found.proof.status.name}, {len(found):,}, last {behind:.6f} behind"
    return {
        "n": table.n_variables,
        "answer": shown,
        "best": (best_seconds, best_worked),
        "taken": (seconds, worked),
        "peak": peak_memory(),
    }


def main() -> None:
    print(f"\nLists of many variables, BIC, whole job from the table. {date.today()}. {machine()}")
    print(
        f"{'data':14} {'n':>3} {'question':13} {'answer':40} {'seconds':>8} {'cpu':>7} {'best':>7} {'cpu':>7} {'MB':>5}"
    )
    for name, question in ROWS:
        try:
            r = in_fresh_process("bench.wide_lists", name=name, question=question)
        except Exception as error:
            print(f"{name:14} {question}: {error}")
            continue
        print(
            f"{name:14} {r['n']:3} {question:13} {r['answer']:40} {r['taken'][0]:8.2f} {r['taken'][1]:7.2f} "
            f"{r['best'][0]:7.2f} {r['best'][1]:7.2f} {r['peak'] / 1e6:5.0f}",
            flush=True,
        )
