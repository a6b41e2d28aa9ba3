"""topdag's branch and cut beside SCIP on the same families, with the same clusters, rows and first network.

``python -m bench scip`` (needs ``pip install pyscipopt``), or ``python -m bench.scip NAME ...`` for some. Search alone,
not scoring. SCIP twice: on all listed families, and on those that topdag's root relaxation leaves.
"""

from __future__ import annotations

import math
import resource
import sys
import time
from datetime import date
from typing import Any

from bench.ancestral import Sampled, true_constraints
from bench.measure import DATA, in_fresh_process, machine

SECONDS = 120.0
TABLES = [
    "parkinsons",
    "autos",
    "insurance1000",
    "horse",
    "flag",
    "water1000",
    "alarm1000",
    "mushroom1868",
    "lung",
    "hailfinder100",
    "hailfinder500",
    "carpo100",
    "carpo500",
    "wdbc",
]
FILES = ["alarm-5000", "barley-5000", "hailfinder-5000", "insurance-5000", "mildew-5000", "water-5000"]
# network, ancestors, not ancestors, rules across variables
CONSTRAINED = [("insurance", 10, 0, 0), ("insurance", 5, 5, 5), ("insurance", 0, 10, 10), ("alarm", 5, 5, 5)]
ROWS = 1_000
WAYS = ("topdag", "scip", "scip after the root")


def measure(what: str, way: str, seconds: float, **asked: Any) -> dict[str, Any]:
    found = {"free": free, "constrained": constrained}[what](way=way, seconds=seconds, **asked)
    return {**found, "peak": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}


def scores_named(name: str) -> Any:
    import topdag as td

    path = DATA / "scores" / f"{name}.bic.blip.jkl"
    return td.read_scores(path) if path.exists() else td.score(DATA / f"{name}.csv", td.BIC(), keep="best")


def free(name: str, way: str, seconds: float) -> dict[str, Any]:
    import topdag as td
    from topdag.relaxation import Known
    from topdag.runs import Run

    scores = scores_named(name)
    size = {"n": scores.store.n, "families": len(scores.store.rounded)}
    if way == "topdag":
        answer = td.best_network(scores, engine="branch and cut", time_limit=seconds, threads=1)
        own = {"score": answer.score, "gap": answer.proof.gap, "nodes": answer.stats.work.get("parts", 0)}
        return {**size, **own, "seconds": answer.stats.seconds, "asked": 0.0, "status": answer.proof.status.name}
    begin = time.perf_counter()
    known = Known(scores.store, Run(time_limit=seconds))
    known.climb()
    return {**size, **by_scip(scores.store, known, way, seconds, begin)}


def by_scip(store: Any, known: Any, way: str, seconds: float, begin: float, **more: Any) -> dict[str, Any]:
    """Gaps count from the best network that is known at the end."""
    from bench.scip_program import solved_by_scip
    from topdag.family_program import Families
    from topdag.relaxation import solve_root
    from topdag.runs import Run

    families = Families.of_store(store)
    if way == "scip after the root":
        root = solve_root(store, Run(time_limit=seconds), known=known, rows=more.get("rows"))
        families = families.only(root.kept_families(known.cost))
    start = None if known.incumbent is None else known.incumbent.masks
    left = seconds - (time.perf_counter() - begin)
    found = solved_by_scip(families, left, start=start, **more)
    cost = min(found.cost, known.cost if start else math.inf)
    is_done = found.status in ("optimal", "infeasible")
    return {
        "score": known.best_score - cost,
        "gap": 0.0 if is_done else cost - max(found.bound, 0.0),
        "nodes": found.nodes,
        "seconds": time.perf_counter() - begin,
        "asked": found.asked,
        "status": "PROVED" if is_done else "STOPPED",
    }


def constrained(network: str, wanted: int, unwanted: int, rules: int, way: str, seconds: float) -> dict[str, Any]:
    """On lists that reach as far behind the best network as the best that obeys."""
    import numpy as np

    import topdag as td
    from topdag.clauses import Clauses
    from topdag.constrained_search import widened
    from topdag.family_program import Families
    from topdag.obeying import Obeying
    from topdag.row_search import search_by_rows
    from topdag.runs import Run

    truth = Sampled(network)
    names, drawn = list(truth.states), truth.draw(ROWS, 1)
    table = td.Table({x: [row[x] for row in drawn] for x in names})
    constraints = true_constraints(truth, names, wanted, unwanted, 0) & true_rules(truth, names, rules)
    scores = td.score(table, td.BIC(), constraints=constraints)
    reach = td.best_network(scores.relaxed).score - td.best_network(scores, time_limit=seconds).score
    wide = widened(scores, reach + 1e-6, Run())
    assert wide is not None and wide.compiled is not None
    size = {"n": wide.store.n, "families": len(wide.store.rounded)}
    run, rows = Run(time_limit=seconds, threads=1), Clauses(wide.compiled)
    if way == "topdag":
        found = search_by_rows(wide.store, wide.compiled, run)
        score = max(found.networks.values(), default=-math.inf)
        status = "PROVED" if found.limit is None else "STOPPED"
        own = {"score": score, "gap": found.bound - score, "nodes": found.parts, "status": status}
        return {**size, **own, "seconds": run.seconds, "asked": 0.0}
    begin = time.perf_counter()
    known = Obeying(wide.store, run, wide.compiled)
    families = Families.of_store(wide.store)
    known.round(families, np.zeros(families.size))
    return {**size, **by_scip(wide.store, known, way, seconds, begin, constraints=wide.compiled, rows=rows)}


def true_rules(network: Sampled, names: list[str], count: int) -> Any:
    """If one true edge is there then another is."""
    import random

    import topdag as td
    from topdag.rule_making import edge

    draw = random.Random(1)
    pairs = [draw.sample(network.edges, 2) for _ in range(count)]
    return td.Constraints(rules=[td.if_then(edge(*one), edge(*other)) for one, other in pairs])


def shown(way: str, r: dict[str, Any]) -> str:
    separating = f", {r['asked']:.2f} of them in topdag's separation" if r["asked"] else ""
    return (
        f"    {way:19} {r['score']:.6f} {r['status']} gap {r['gap']:.3f} {r['seconds']:7.2f} s{separating}, "
        f"{r['nodes']:,} nodes, {r['peak'] / 1e6:.0f} MB"
    )


def compared(question: str, seconds: float, **asked: Any) -> None:
    print(f"  {question}", flush=True)
    for way in WAYS:
        r = in_fresh_process("bench.scip", way=way, seconds=seconds, **asked)
        if way == WAYS[0]:
            print(f"    {r['n']} variables, {r['families']:,} families")
        print(shown(way, r), flush=True)


def main(names: list[str] | None = None, seconds: float = SECONDS) -> None:
    try:
        import pyscipopt
    except ImportError:
        print("skipped: pyscipopt is not installed")
        return
    version = pyscipopt.Model().version()
    print(f"\nBranch and cut beside SCIP {version}, one thread, {seconds:.0f} s each. {date.today()}. {machine()}")
    for name in [*TABLES, *FILES]:
        is_there = any(path.exists() for path in (DATA / f"{name}.csv", DATA / "scores" / f"{name}.bic.blip.jkl"))
        if is_there and (not names or name in names):
            compared(name, seconds, what="free", name=name)
    for network, wanted, unwanted, rules in CONSTRAINED:
        if not names or f"{network}+" in names:
            question = f"{network}, {wanted} ancestors, {unwanted} not, {rules} rules, {ROWS:,} rows of data"
            asked = {"network": network, "wanted": wanted, "unwanted": unwanted, "rules": rules}
            compared(question, seconds, what="constrained", **asked)


if __name__ == "__main__":
    main(sys.argv[1:])
