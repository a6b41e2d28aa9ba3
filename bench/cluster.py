"""The same work by threads of one process, by a pool of processes, by a Dask cluster: seconds, and what a task costs.

Processor seconds are of this process and all its workers: on a machine that others use too, they tell more than the
seconds on the wall.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from contextlib import ExitStack
from datetime import date
from functools import partial
from typing import Any

from bench.measure import DATA, in_fresh_process, machine

WORKERS = 2
JOBS = {
    "scores of alarm, 10,000 rows, 6 parents": "score",
    "160 draws of alarm1000, BIC": "bootstrap",
    "best network, 70 variables, 100 rows, BIC": "parts",
    "best network, 100 variables, 100 rows, BIC": "many_parts",
}


def measure(job: str, who: str) -> dict[str, Any]:
    with ExitStack() as stack:
        executor = stack.enter_context(_cluster()) if who == "Dask" else WORKERS if who == "pool" else None
        asked, tasks = _question(job), _counted_tasks()
        begin, used = time.perf_counter(), _processor_seconds()
        asked(threads=WORKERS, executor=executor)
        here = time.perf_counter() - begin
    return {"seconds": here, "processor": _processor_seconds() - used, "tasks": sum(tasks)}


def _cluster() -> Any:
    from distributed import Client, LocalCluster

    cluster = LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address=None)
    client = Client(cluster, set_as_default=False)
    client.wait_for_workers(WORKERS)
    return _Opened(cluster, client)


class _Opened:
    """A client whose cluster is closed with it."""

    def __init__(self, cluster: Any, client: Any) -> None:
        self.cluster, self.client = cluster, client

    def __enter__(self) -> Any:
        return self.client

    def __exit__(self, *_: object) -> None:
        self.client.close()
        self.cluster.close()


def _question(job: str) -> Callable[..., object]:
    import topdag as td
    from bench.cores import jobs

    if job == "score":
        return partial(td.score, td.read_table(DATA / "gobnilp_alarm_10000.csv"), "bic", keep="best", max_parents=6)
    if job == "bootstrap":
        return partial(td.bootstrap, DATA / "alarm1000.csv", 160, "bic")
    asked = jobs()[job][1]()
    return lambda threads, executor: asked(threads, executor=executor)


def _counted_tasks() -> list[int]:
    """Gets an entry for each task that is given away."""
    from topdag._util import workers

    given, tasks = workers._Afar._given, list[int]()

    def counted(self: Any, *task: Any) -> Any:
        tasks.append(1)
        return given(self, *task)

    workers._Afar._given = counted  # type: ignore[method-assign]
    return tasks


def _processor_seconds() -> float:
    """So far, of this process and of those of its children that have ended."""
    return sum(
        used.ru_utime + used.ru_stime
        for used in (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    )


def main(arguments: list[str] | None = None) -> None:
    chosen = argparse.ArgumentParser(prog="python -m bench.cluster")
    chosen.add_argument("--only", nargs="+", choices=list(JOBS.values()), default=list(JOBS.values()))
    only = chosen.parse_args(arguments or []).only
    print(f"{date.today()}, {machine()}; {WORKERS} threads, or {WORKERS} workers")
    print(f"{'':42}{'by':>9}{'seconds':>9}{'processor':>11}{'tasks':>7}{'ms more a task':>16}")
    for job, name in JOBS.items():
        if name not in only:
            continue
        alone = None
        for who in ("threads", "pool", "Dask"):
            found = in_fresh_process("bench.cluster", job=name, who=who)
            alone = alone or found
            more = (found["processor"] - alone["processor"]) / found["tasks"] if found["tasks"] else 0.0
            told = "" if who == "threads" else f"{1e3 * more:16.1f}"
            print(f"{job:42}{who:>9}{found['seconds']:9.1f}{found['processor']:11.1f}{found['tasks']:7}{told}")


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
